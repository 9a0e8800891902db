//! Problems of which most contacts stay apart.
//!
//! Hair that lies near other hair is about to touch it, and mostly does not. Couplings grow with the square of the contacts of an
//! object: a problem of the few that act has a tenth of them or less. So contacts join in as they turn out to be needed, until no
//! contact that is left out would have to act. Then the forces solve the whole problem, in whose units errors are measured from the beginning.

use std::time::{Duration, Instant};

use glam::DVec3;

use super::solve::within;
use super::system::{Units, larger};
use super::{Assembly, Global, Problem, ProblemError, Settings, Solution, Stop};
use crate::contact::coulomb::{FischerBurmeister, natural_map};

/// How often contacts may join in before all of them do.
const ROUNDS: usize = 20;
/// Sweeps of the first round, and the tolerance and sweeps of the next: they show which contacts are needed, and need not solve anything.
const FIRST_SWEEPS: usize = 50;
/// Steps of interior points that each round has, whatever those before it have taken.
const FEW_STEPS: usize = 12;
const ROUGH: f64 = 1.0e-3;
const ROUGH_SWEEPS: usize = 150;
const LAST_ROUGH: usize = 2;
/// Contacts left out may use this part of the tolerance.
const SHARE: f64 = 0.5;

/// Solves `u = W r + offset` for all contacts of an assembly, with these coefficients of friction, from the forces `start`. Errors are measured by
/// the velocities `sizes`: by `offset`, as [`super::solve`] does, or what of it matters. Contacts that part more slowly than `reach` [m/s] under the
/// forces known are looked at from the beginning. Returns the time that W took, too.
pub fn solve_near(
    assembly: &Assembly<'_>,
    (offset, friction): (&[DVec3], &[f64]),
    sizes: &[DVec3],
    settings: &Settings,
    start: &[DVec3],
    reach: f64,
) -> Result<(Solution, Duration), ProblemError> {
    let count = offset.len();
    let velocities = |forces: &[DVec3]| -> Vec<DVec3> {
        let motion = assembly.motion(&assembly.responses(forces));
        motion.into_iter().zip(offset).map(|(motion, offset)| motion + *offset).collect()
    };
    // Who asks for another way, or another end, gets that and no rough sweeps before it.
    let has_rough_rounds =
        matches!(settings.global, Global::Hybrid | Global::GaussSeidel) && settings.stop == Stop::Error;
    let first_round = if has_rough_rounds { 0 } else { LAST_ROUGH };
    // Rounds share a budget; a few sweeps and steps are left to each.
    let settings_of = |round: usize, spent: &Solution| {
        let left = Settings {
            most_sweeps: settings
                .most_sweeps
                .saturating_sub(spent.sweeps)
                .max(settings.most_sweeps.min(FIRST_SWEEPS)),
            most_interior_steps: settings
                .most_interior_steps
                .saturating_sub(spent.interior_steps)
                .max(settings.most_interior_steps.min(FEW_STEPS)),
            ..settings.clone()
        };
        let rough = |most_sweeps: usize| Settings {
            global: Global::GaussSeidel,
            most_sweeps: most_sweeps.min(left.most_sweeps),
            ..left.clone()
        };
        match round {
            0 => rough(FIRST_SWEEPS),
            1..LAST_ROUGH => Settings { tolerance: ROUGH.max(settings.tolerance), ..rough(ROUGH_SWEEPS) },
            _ => left,
        }
    };
    let started = Instant::now();
    let units = Units::new(&assembly.weights(), sizes);
    let mut assembling = started.elapsed();
    let mut solution = Solution::of(start.to_vec(), velocities(start));
    let mut joins: Vec<bool> = (0..count)
        .map(|contact| start[contact] != DVec3::ZERO || solution.velocities[contact].x < reach)
        .collect();
    for round in first_round..=ROUNDS {
        if round == ROUNDS {
            joins.fill(true);
        }
        let contacts: Vec<usize> = (0..count).filter(|&contact| joins[contact]).collect();
        if contacts.is_empty() {
            break;
        }
        let started = Instant::now();
        let matrix = assembly.operator(&contacts);
        assembling += started.elapsed();
        let part = Problem {
            matrix,
            offset: contacts.iter().map(|&contact| offset[contact]).collect(),
            friction: contacts.iter().map(|&contact| friction[contact]).collect(),
        };
        let start: Vec<DVec3> = contacts.iter().map(|&contact| solution.forces[contact]).collect();
        let found =
            within(&part, &units.restricted(&contacts), &settings_of(round, &solution), Some(&start), true)?;
        solution.take(&contacts, found);
        solution.velocities = velocities(&solution.forces);
        let joined = look_around(friction, settings, (&units, reach), &mut joins, &mut solution);
        if settings.stop == Stop::Error {
            solution.converged = solution.worse() <= settings.tolerance;
        }
        if !joined && (solution.converged || round >= LAST_ROUGH) {
            break;
        }
    }
    Ok((solution, assembling))
}

/// Looks at contacts that are left out: those that would have to act join in, and those that nearly would with them. Where none
/// has to, their errors are added to those of the solution. True where any joins.
fn look_around(
    friction: &[f64],
    settings: &Settings,
    (units, reach): (&Units, f64),
    joins: &mut [bool],
    solution: &mut Solution,
) -> bool {
    let (mut error, mut square) = (0.0_f64, 0.0);
    for contact in (0..joins.len()).filter(|&contact| !joins[contact]) {
        let velocity = solution.velocities[contact];
        if velocity.x >= 0.0 {
            continue;
        }
        let scaled = velocity * units.scale[contact] / units.unit;
        let own = FischerBurmeister::new(friction[contact], 1.0).value(DVec3::ZERO, scaled).length();
        error = larger(own, error);
        square += natural_map(DVec3::ZERO, velocity, friction[contact], 1.0).length_squared();
    }
    let natural = square.sqrt() / units.judge;
    if larger(error, natural) > SHARE * settings.tolerance {
        for (joins, velocity) in joins.iter_mut().zip(&solution.velocities) {
            *joins |= velocity.x < reach;
        }
        return true;
    }
    solution.error = larger(solution.error, error);
    solution.natural = solution.natural.hypot(natural);
    false
}

impl Solution {
    /// Forces that nothing was done for.
    fn of(forces: Vec<DVec3>, velocities: Vec<DVec3>) -> Self {
        Self {
            forces,
            velocities,
            error: 0.0,
            natural: 0.0,
            converged: true,
            sweeps: 0,
            interior_steps: 0,
            local_solves: 0,
            fail_safe: 0,
            failed: 0,
        }
    }

    /// Takes over what was found for some contacts.
    fn take(&mut self, contacts: &[usize], part: Self) {
        contacts.iter().zip(part.forces).for_each(|(&contact, force)| self.forces[contact] = force);
        (self.error, self.natural, self.converged) = (part.error, part.natural, part.converged);
        self.sweeps += part.sweeps;
        self.interior_steps += part.interior_steps;
        self.local_solves += part.local_solves;
        self.fail_safe += part.fail_safe;
        self.failed += part.failed;
    }
}
