//! The contact problem of a step: made, solved, and what overlaps undone.

use std::time::Instant;

use glam::DVec3;
use rayon::prelude::*;

use super::Nsgs;
use super::contacts::{Point, Touch};
use super::fibre::{Carried, Fibre, System};
use super::pass::{Velocities, World, lost};
use crate::contact::coulomb::LocalSolver;
use crate::contact::nsgs::{
    Assembly, FullProblem, Global, JacobianBlock, Mass, Settings, Solution, Stop, solve_near,
};
use crate::solve::{ContactProblems, Report, StepError};

/// Hair that turns by this part of the limit in a step, about a radian a second, moves fast. Slower hair is solved better, in proportion, as
/// far as the tolerance of hair at rest.
const FAST: f64 = 0.02;
/// What a step is linearised around anew need not be known better than this, and takes so many sweeps at most.
const GUESS_TOLERANCE: f64 = 1.0e-3;
const GUESS_SWEEPS: usize = 50;
/// Steps of interior points at most: where a problem has no solution, none of them would be the last.
const INTERIOR_STEPS: usize = 120;
/// Of hair that moves fast many a problem comes near its tolerance and no nearer, and the next step is another problem: it gets fewer steps,
/// and none over all contacts that take more than this [multiplications]. Where strands are wedged none of those would help.
const FAST_INTERIOR_STEPS: usize = 40;
const FAST_INTERIOR_WORK: f64 = 1.0e9;
/// Contacts whose gap stays wider than this under the forces of the last step are left out until they turn out to be needed [m].
const NEAR: f64 = 4.0e-6;
/// Overlaps are undone within this part of the largest, or after so many sweeps: what is left is left to the next step.
const UNDOING_TOLERANCE: f64 = 1.0e-2;
const UNDOING_SWEEPS: usize = 50;
/// Overlaps that are left alone [m]: distances are known to a few times 1e-7 m in single precision, a metre or two from the origin. To undo
/// that noise, without friction, would keep hair at rest creeping by micrometres.
const TOUCHING: f64 = 1.0e-6;

/// What a pass came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Solved {
    pub velocities: Velocities,
    /// Contact forces by key [N].
    pub forces: Vec<(u64, DVec3)>,
    /// Changes of the coordinates that undo overlaps; none where nothing overlaps.
    pub changes: Velocities,
}

/// One contact's part of the problem.
struct Row {
    blocks: Vec<JacobianBlock>,
    /// Relative velocity where no fibre moves, and the speed at which its gap may close [m/s].
    offset: DVec3,
    /// The gap before the step, as the linear motion sees it [m].
    gap: f64,
}

impl Nsgs {
    /// The problem of a step: equation 3, with gaps. Returns the gaps before the step, too [m].
    pub(super) fn problem(
        &self,
        systems: Vec<System>,
        touches: &[Touch],
        guess: &Velocities,
        world: &World<'_>,
    ) -> (FullProblem, Vec<f64>) {
        let mut full = FullProblem::default();
        for system in systems {
            full.masses.push(system.mass);
            full.impulses.push(system.impulse);
        }
        let rows =
            touches.par_iter().enumerate().map(|(contact, touch)| self.row(contact, touch, guess, world));
        let mut gaps = Vec::with_capacity(touches.len());
        for (row, touch) in rows.collect::<Vec<_>>().into_iter().zip(touches) {
            full.jacobian.extend(row.blocks);
            full.offset.push(row.offset);
            full.friction.push(touch.friction);
            gaps.push(row.gap);
        }
        (full, gaps)
    }

    /// How velocities move one contact.
    fn row(&self, contact: usize, touch: &Touch, guess: &Velocities, world: &World<'_>) -> Row {
        let axes = touch.axes();
        let mut blocks: Vec<JacobianBlock> = Vec::with_capacity(2);
        let mut carried: [Option<Carried>; 2] = [None; 2];
        let mut moving = DVec3::ZERO;
        for (side, (sign, point)) in [(1.0, Some(touch.first)), (-1.0, touch.second)].into_iter().enumerate()
        {
            let Some(point) = point else { continue };
            let Point { strand: object, vertex, share } = point;
            let Some(fibre) = &self.fibres[object] else {
                carried[side] = Some(self.rigid_motion(&point, world));
                continue;
            };
            let freedom = fibre.freedom();
            let mut rows = vec![0.0; 3 * freedom];
            carried[side] = Some(fibre.touch(vertex, share, &mut rows));
            let mut values = vec![0.0; 3 * freedom];
            for column in 0..freedom {
                let along = DVec3::new(rows[column], rows[freedom + column], rows[2 * freedom + column]);
                moving += sign * guess[object][column] * along;
                let own = axes.transpose() * along * sign;
                (0..3).for_each(|axis| values[axis * freedom + column] = own[axis]);
            }
            match blocks.iter_mut().find(|block| block.object == object) {
                Some(block) => block.values.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
                None => blocks.push(JacobianBlock { contact, object, values }),
            }
        }
        // Both sides are looked at where they touch: hair that goes along with one body rigidly does not slide.
        let carried = match carried {
            [Some(first), Some(second)] => {
                let between = first.point.midpoint(second.point);
                first.at(between) - second.at(between)
            }
            [first, _] => first.map_or(DVec3::ZERO, |first| first.at(touch.body.point)) - touch.body.velocity,
        };
        let gap = touch.gap - world.dt * touch.normal.dot(moving + carried);
        // An overlap closes no more; to ask for more than that, with friction, could ask for what is impossible.
        let offset = axes.transpose() * carried + DVec3::X * (gap / world.dt).max(0.0);
        Row { blocks, offset, gap }
    }

    /// Velocities and forces [N] that solve the problem. With `gaps`, overlaps are undone as well.
    pub(super) fn solved(
        &mut self,
        full: FullProblem,
        touches: &[Touch],
        before: &[(u64, DVec3)],
        gaps: Option<&[f64]>,
        dt: f64,
        report: &mut Report,
    ) -> Result<Solved, StepError> {
        let bad = |error: &dyn std::fmt::Display| StepError::BadStep(format!("contact problem: {error}"));
        if touches.is_empty() {
            self.problem = None;
            let velocities = report.time("solve", || free_velocities(full))?;
            return Ok(Solved { velocities, ..Solved::default() });
        }
        let assembly = report.time("assembly", || full.assembly()).map_err(|error| bad(&error))?;
        let start = touches.iter().map(|touch| {
            let known = before.binary_search_by_key(&touch.key, |(key, _)| *key).ok();
            known.map_or(DVec3::ZERO, |place| touch.axes().transpose() * before[place].1 * dt)
        });
        let start: Vec<DVec3> = start.collect();
        let (offset, settings) = (assembly.offsets(), self.settings(dt, gaps.is_some()));
        let started = Instant::now();
        let solution =
            solve_near(&assembly, (&offset, &full.friction), &offset, &settings, &start, NEAR / dt);
        let (solution, assembling) = solution.map_err(|error| bad(&error))?;
        report.add_seconds("assembly", assembling.as_secs_f64());
        report.add_seconds("solve", (started.elapsed() - assembling).as_secs_f64());
        if gaps.is_some() {
            note(&solution, touches, report);
        }
        let velocities = report.time("solve", || assembly.velocities(&solution.forces));
        let changes = match gaps {
            Some(gaps) => report.time("overlaps", || {
                let after: Vec<f64> = gaps
                    .iter()
                    .zip(&solution.velocities)
                    .map(|(gap, u)| gap + dt * u.x - gap.max(0.0))
                    .collect();
                self.undone(&assembly, touches, &after, dt)
            }),
            None => Velocities::new(),
        };
        let forces = touches.iter().zip(&solution.forces);
        let forces = forces.map(|(touch, force)| (touch.key, touch.axes() * *force / dt));
        let forces = forces.filter(|(_, force)| *force != DVec3::ZERO).collect();
        self.problem = Some(full);
        Ok(Solved { velocities, forces, changes })
    }

    /// Changes of the coordinates that undo a part of overlaps, without friction and without speed. `gaps` are those after the step
    /// [m].
    fn undone(&self, assembly: &Assembly<'_>, touches: &[Touch], gaps: &[f64], dt: f64) -> Velocities {
        if gaps.iter().all(|gap| *gap > -TOUCHING) {
            return Velocities::new();
        }
        let closing = |(touch, gap): (&Touch, &f64)| {
            let closing = match touch.second {
                _ if *gap > -TOUCHING => gap.max(0.0) / dt,
                // A body goes where it goes: hair leaves it at once.
                None => (gap / dt).max(-self.leaving_speed * self.leverage(touch)),
                Some(_) => {
                    let speed = self.params.correction_speed * self.leverage(touch);
                    (self.params.correction * gap / dt).max(-speed)
                }
            };
            DVec3::X * closing
        };
        let offset: Vec<DVec3> = touches.iter().zip(gaps).map(closing).collect();
        // Gaps are wider than overlaps deep, and say nothing about how well those are undone.
        let overlaps: Vec<DVec3> = offset.iter().map(|offset| offset.min(DVec3::ZERO)).collect();
        let (none, friction) = (vec![DVec3::ZERO; touches.len()], vec![0.0; touches.len()]);
        let settings = Settings {
            global: Global::GaussSeidel,
            tolerance: UNDOING_TOLERANCE,
            most_sweeps: UNDOING_SWEEPS,
            ..Settings::default()
        };
        match solve_near(assembly, (&offset, &friction), &overlaps, &settings, &none, 0.0) {
            Ok((solution, _)) => {
                let mut changes = assembly.responses(&solution.forces);
                changes.iter_mut().flatten().for_each(|change| *change *= dt);
                changes
            }
            Err(_) => Velocities::new(),
        }
    }

    /// How the contact problem of the last pass is solved, or of one before it.
    fn settings(&self, dt: f64, is_last: bool) -> Settings {
        let local = self.params.local.parse::<LocalSolver>().unwrap_or_default();
        let global = self.params.global.parse().unwrap_or_default();
        // Who asks for another way gets it in every pass.
        if !is_last && global == Global::Hybrid {
            let (global, tolerance) = (Global::GaussSeidel, GUESS_TOLERANCE.max(self.params.tolerance_fast));
            return Settings { global, tolerance, most_sweeps: GUESS_SWEEPS, local, ..Settings::default() };
        }
        let turning = |fibre: &dyn Fibre| dt * fibre.turning(&fibre.velocities());
        let turn = self.fibres.iter().flatten().map(|fibre| turning(fibre.as_ref())).fold(0.0, f64::max);
        let pace = (turn / (FAST * self.params.most_turn)).min(1.0);
        let (most_interior_steps, most_interior_work) = interior(global, pace);
        Settings {
            tolerance: (pace * self.params.tolerance_fast).max(self.params.tolerance),
            most_sweeps: self.params.most_sweeps,
            most_interior_steps,
            most_interior_work,
            global,
            stop: if self.params.stop_step > 0.0 { Stop::Step(self.params.stop_step) } else { Stop::Error },
            local,
            ..Settings::default()
        }
    }
}

/// Steps of interior points at most, and the largest over all contacts, for hair that moves at a part of what is fast. Who asks for interior
/// points gets them at any pace.
fn interior(global: Global, pace: f64) -> (usize, f64) {
    if pace < 1.0 || global != Global::Hybrid {
        (INTERIOR_STEPS, Settings::default().most_interior_work)
    } else {
        (FAST_INTERIOR_STEPS, FAST_INTERIOR_WORK)
    }
}

/// Velocities of fibres that nothing touches.
fn free_velocities(full: FullProblem) -> Result<Velocities, StepError> {
    let free = |(mass, mut impulse): (Vec<f64>, Vec<f64>)| {
        let factor = Mass::from_rows(&mass, impulse.len()).factored()?;
        factor.solve(&mut impulse);
        Some(impulse)
    };
    let all: Vec<_> = full.masses.into_par_iter().zip(full.impulses).map(free).collect();
    match all.iter().position(Option::is_none) {
        Some(strand) => Err(lost(strand, 0, "its equations of motion have no solution")),
        None => Ok(all.into_iter().flatten().collect()),
    }
}

fn note(solution: &Solution, touches: &[Touch], report: &mut Report) {
    let worst = solution.worse();
    report.residual = report.residual.max(worst);
    report.iterations += (solution.sweeps + solution.interior_steps) as u32;
    let contacts = solution.forces.len() as u64;
    report.contact_problems += ContactProblems {
        count: 1,
        unsolved: u32::from(!solution.converged),
        contacts,
        most_contacts: contacts,
        acting: solution.forces.iter().filter(|force| **force != DVec3::ZERO).count() as u64,
        worst,
        sweeps: solution.sweeps as u64,
        interior_steps: solution.interior_steps as u64,
        local_solves: solution.local_solves,
        fail_safe: solution.fail_safe,
        failed: solution.failed,
        hair_friction: largest_friction(touches.iter().filter(|touch| touch.second.is_some())),
        body_friction: largest_friction(touches.iter().filter(|touch| touch.second.is_none())),
    };
}

fn largest_friction<'a>(touches: impl Iterator<Item = &'a Touch>) -> f64 {
    touches.fold(0.0, |most, touch| most.max(touch.friction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interior_points_that_are_asked_for_are_not_cut_short_in_fast_hair() {
        let calm = interior(Global::Hybrid, 0.5);
        assert_eq!(interior(Global::InteriorPoint, 1.0), calm);
        let (steps, work) = interior(Global::Hybrid, 1.0);
        assert!(steps < calm.0 && work < calm.1, "{steps} {work}");
    }
}
