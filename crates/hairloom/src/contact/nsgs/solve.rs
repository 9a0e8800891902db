use glam::DVec3;

use super::anderson::{Anderson, residual};
use super::system::{Errors, Sweeper, System, Tally};
use super::{Problem, ProblemError};
use crate::contact::coulomb::{LocalSolver, Method};

/// How a problem is solved.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// When to stop: both error measures of [`Solution`] are at most this.
    pub tolerance: f64,
    /// The same for each contact on its own, relative to its forces.
    pub local_tolerance: f64,
    /// Sweeps at most.
    pub most_sweeps: usize,
    /// What solves each contact.
    pub local: LocalSolver,
    /// For how many sweeps a contact is left alone whose force is zero, or, without acceleration, stays nearly the same.
    pub freeze: u16,
    /// How many iterates are mixed (Anderson acceleration); 0 is plain Gauss–Seidel.
    pub acceleration: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1.0e-6,
            local_tolerance: 1.0e-12,
            most_sweeps: 10_000,
            local: LocalSolver { method: Method::Secular, fail_safe: true, direct: true },
            freeze: 10,
            acceleration: 6,
        }
    }
}

impl Settings {
    #[inline(always)]
    pub(super) fn freeze(&self, before: DVec3, after: DVec3) -> u16 {
        let rests = if self.acceleration > 0 {
            // Mixtures of zeros are zero: such a contact stays where it is.
            before == DVec3::ZERO && after == DVec3::ZERO
        } else {
            let small = 0.01 * self.tolerance;
            before.distance_squared(after) <= small * small || after.length_squared() <= small * small
        };
        if rests { self.freeze } else { 0 }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The forces r [N s].
    pub forces: Vec<DVec3>,
    /// The relative velocities u [m/s].
    pub velocities: Vec<DVec3>,
    /// The largest modified Fischer–Burmeister function over all contacts, in units of the problem.
    pub error: f64,
    /// The length of the natural map with ρ = 1 kg over 1 + ‖b‖.
    pub natural: f64,
    /// Whether both measures are within tolerance.
    pub converged: bool,
    /// Sweeps done.
    pub sweeps: usize,
    /// Contacts solved, over all sweeps.
    pub local_solves: u64,
    /// How often the fail-safe was asked and found a force.
    pub fail_safe: u64,
    /// How often it did not: the force was set to zero.
    pub failed: u64,
}

/// Solves a problem from the forces `start`, or from none.
pub fn solve(
    problem: &Problem,
    settings: &Settings,
    start: Option<&[DVec3]>,
) -> Result<Solution, ProblemError> {
    let system = System::new(problem);
    let forces = match start {
        Some(start) if start.len() == system.len() => system.enter(start),
        Some(start) => {
            return Err(ProblemError::WrongSize {
                what: "forces to start from",
                given: start.len(),
                expected: system.len(),
            });
        }
        None => vec![DVec3::ZERO; system.len()],
    };
    let mut run = Run::new(&system, settings, forces);
    run.gauss_seidel();
    let forces = system.leave(&run.best);
    Ok(Solution {
        velocities: problem.velocities(&forces),
        forces,
        error: run.errors.fischer_burmeister,
        natural: run.errors.natural,
        converged: run.errors.worse() <= settings.tolerance,
        sweeps: run.sweeps,
        local_solves: run.tally.solved,
        fail_safe: run.tally.fail_safe,
        failed: run.tally.failed,
    })
}

/// A problem under way.
struct Run<'a> {
    system: &'a System,
    settings: &'a Settings,
    sweeper: Sweeper,
    forces: Vec<DVec3>,
    /// The best forces measured, and their errors.
    best: Vec<DVec3>,
    errors: Errors,
    sweeps: usize,
    tally: Tally,
}

impl<'a> Run<'a> {
    fn new(system: &'a System, settings: &'a Settings, forces: Vec<DVec3>) -> Self {
        let errors = system.measure(&forces);
        let sweeper = Sweeper::new(system);
        let best = forces.clone();
        Self { system, settings, sweeper, forces, best, errors, sweeps: 0, tally: Tally::default() }
    }

    /// Measures `forces` and keeps them if they are the best so far. True where they solve the problem.
    fn offer(&mut self, forces: &[DVec3]) -> bool {
        let errors = self.system.measure(forces);
        // The best may be NaN, from a start that is.
        if errors.worse() < self.errors.worse() || self.errors.worse().is_nan() {
            self.errors = errors;
            self.best.copy_from_slice(forces);
        }
        self.is_solved()
    }

    fn is_solved(&self) -> bool {
        self.errors.worse() <= self.settings.tolerance
    }

    /// Algorithm 1, its iterates mixed.
    fn gauss_seidel(&mut self) {
        let length = self.system.len();
        let mut anderson = Anderson::new(self.settings.acceleration, length);
        let (mut image, mut change) = (self.forces.clone(), vec![DVec3::ZERO; length]);
        let mut safe = self.forces.clone();
        let mut least = f64::INFINITY;
        let mut next_check = 0;
        while !self.is_solved() && self.sweeps < self.settings.most_sweeps {
            image.copy_from_slice(&self.forces);
            let tally = self.sweeper.sweep(self.system, &mut image, self.settings);
            self.sweeps += 1;
            self.tally.solved += tally.solved;
            self.tally.fail_safe += tally.fail_safe;
            self.tally.failed += tally.failed;
            let size = residual(&image, &self.forces, &mut change).sqrt();
            if self.sweeps >= next_check || size <= self.settings.tolerance {
                if self.offer(&image) {
                    break;
                }
                next_check = self.sweeps + if size <= 30.0 * self.settings.tolerance { 3 } else { 12 };
                if size <= 0.1 * self.settings.tolerance {
                    self.sweeper.thaw();
                }
            }
            if self.settings.acceleration == 0 {
                self.forces.copy_from_slice(&image);
            } else if size <= GUARD * least {
                least = least.min(size);
                safe.copy_from_slice(&image);
                anderson.mix(&image, &change, &mut self.forces);
            } else {
                // The mixture went astray: on from the last image that was none, without memory.
                anderson.restart();
                self.forces.copy_from_slice(&safe);
                least = f64::INFINITY;
            }
        }
    }
}

/// A mixture may have a residual this much larger than the least one.
const GUARD: f64 = 10.0;
