//! How problems are solved, and what is found.

use std::str::FromStr;

use glam::DVec3;

use crate::contact::coulomb::{LocalSolver, Method};

/// The way over all contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Global {
    /// Sweeps, and the interior point where those take too long.
    #[default]
    Hybrid,
    /// Sweeps alone (Algorithm 1).
    GaussSeidel,
    /// The interior point, and a few sweeps to finish.
    InteriorPoint,
    /// Newton's method on the modified Fischer–Burmeister function of all contacts. Dense: small problems only.
    Mfb,
    /// Newton's method on the Alart–Curnier function of all contacts, damped. Dense: small problems only.
    Dac,
}

impl Global {
    /// All ways, with their names on the command line.
    pub const ALL: [(&'static str, Self); 5] = [
        ("hybrid", Self::Hybrid),
        ("gauss-seidel", Self::GaussSeidel),
        ("interior-point", Self::InteriorPoint),
        ("mfb", Self::Mfb),
        ("dac", Self::Dac),
    ];
}

/// A solver's name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no solver {name:?}; there are {}", Global::ALL.map(|(name, _)| name).join(", "))]
pub struct UnknownGlobal {
    name: String,
}

impl FromStr for Global {
    type Err = UnknownGlobal;

    fn from_str(name: &str) -> Result<Self, UnknownGlobal> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, global)| *global).ok_or_else(|| UnknownGlobal { name: name.to_owned() })
    }
}

/// When a problem counts as solved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Stop {
    /// Both error measures of [`Solution`] are within tolerance. Where none comes there, the forces with the least error altogether are returned:
    /// the root of the sum of squares of Fischer–Burmeister functions. Others may have had a smaller largest one.
    #[default]
    Error,
    /// A sweep changes all forces together by at most this part of them. Sweeps are plain, no contact is frozen, and the last sweep's
    /// forces are returned, whatever their error: that is where an approximate local solver comes to rest. Of ways over all contacts only
    /// [`Global::GaussSeidel`] has sweeps to stop like this.
    Step(f64),
}

/// How a problem is solved.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The way over all contacts.
    pub global: Global,
    /// When to stop.
    pub stop: Stop,
    /// What both error measures of [`Solution`] are to be at most. From 1e-4 in fast motion to 1e-6 at rest.
    pub tolerance: f64,
    /// The same for each contact on its own, relative to its forces.
    pub local_tolerance: f64,
    /// Sweeps over all contacts at most; for Newton's methods, steps. Those over stubborn contacts count as the part of all contacts that
    /// they are.
    pub most_sweeps: usize,
    /// Steps of interior points at most, over all tries; those over stubborn contacts count as the part of all contacts that they are.
    pub most_interior_steps: usize,
    /// The largest step of an interior point over all contacts that is worth more than the sweeps that it costs [multiplications].
    pub most_interior_work: f64,
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
            global: Global::Hybrid,
            stop: Stop::Error,
            tolerance: 1.0e-6,
            local_tolerance: 1.0e-12,
            most_sweeps: 100_000,
            most_interior_steps: 10_000,
            most_interior_work: 1.0e10,
            local: LocalSolver { method: Method::Secular, fail_safe: true, direct: true },
            freeze: 10,
            acceleration: 6,
        }
    }
}

impl Settings {
    /// The paper's solver: MFB with the enumerative fail-safe in plain sweeps, contacts frozen.
    pub fn paper() -> Self {
        Self {
            global: Global::GaussSeidel,
            local_tolerance: 1.0e-7,
            local: LocalSolver::default(),
            acceleration: 0,
            ..Self::default()
        }
    }

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
    /// The largest modified Fischer–Burmeister function over all contacts, in units of the problem: each contact's operator
    /// has mean eigenvalue one, and the largest b is one.
    pub error: f64,
    /// The length of the natural map with ρ = 1 kg over 1 + ‖b‖.
    pub natural: f64,
    /// Whether it counts as solved by what was to stop it: usually, that both measures are within tolerance.
    pub converged: bool,
    /// Sweeps done; for Newton's methods, steps.
    pub sweeps: usize,
    /// Steps of the interior point.
    pub interior_steps: usize,
    /// Contacts solved, over all sweeps.
    pub local_solves: u64,
    /// How often the fail-safe was asked and found a force.
    pub fail_safe: u64,
    /// How often a contact was left unsolved: by the fail-safe as well, and the force was set to zero; or by an exact method without
    /// fail-safe, and its best force was taken.
    pub failed: u64,
}
