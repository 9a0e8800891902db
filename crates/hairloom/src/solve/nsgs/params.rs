use serde::{Deserialize, Serialize};

use crate::contact::coulomb::LocalSolver;
use crate::contact::nsgs::Global;

/// What a strand is made into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FibreKind {
    /// Pieces of helices in reduced coordinates ([`crate::rod::super_helix`]): inextensible, clamped at the root.
    #[default]
    SuperHelix,
    /// Discrete elastic rods ([`crate::rod::der`]), implicit.
    Der,
    /// Discrete elastic rods whose edges get their lengths back after each step by fast projection.
    DerProjected,
    /// Cosserat rods ([`crate::rod::cosserat`]), implicit: frames tied to their edges by a penalty.
    Corde,
}

/// Parameters of the method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// What a strand is made into.
    pub fibre: FibreKind,
    /// Elements of a super-helix, at most as many as the strand has free edges.
    pub elements: usize,
    /// θ of the scheme, from 0.5 (second order, no damping) to 1 (first order).
    pub theta: f64,
    /// Longest time step [s].
    pub step: f64,
    /// Shortest time step [s].
    pub least_step: f64,
    /// How far a piece of hair may turn in one time step [rad]; where it would turn more than twice as far the step is halved.
    pub most_turn: f64,
    /// How often a step is linearised anew, around what it came to.
    pub passes: u32,
    /// Whether strands touch each other.
    pub strand_contacts: bool,
    /// Strands whose surfaces are this near are looked at [m].
    pub proximity: f64,
    /// Share of an overlap of strands that is undone in one step.
    pub correction: f64,
    /// Fastest that free ends move where overlaps of strands are undone [m/s].
    pub correction_speed: f64,
    /// Tolerance of the contact problem where hair moves fast; slower hair has a smaller one, in proportion.
    pub tolerance_fast: f64,
    /// Tolerance of the contact problem where hair is at rest.
    pub tolerance: f64,
    /// Sweeps over all contacts at most.
    pub most_sweeps: usize,
    /// The way over all contacts, as `hairloom contact` takes it: hybrid, gauss-seidel, interior-point, mfb or dac. What falls short goes
    /// on in the next step, from where it was.
    pub global: String,
    /// Where this is not zero, and `global` is gauss-seidel: sweeps are plain and stop where one changes all forces together by at most this
    /// part of them, whatever their error is.
    pub stop_step: f64,
    /// What solves each contact: a local solver's name, as `hairloom contact` takes them.
    pub local: String,
    /// Factor on all coefficients of friction; 0 switches friction off.
    pub friction: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            fibre: FibreKind::SuperHelix,
            elements: 5,
            theta: 1.0,
            step: 1.0 / 240.0,
            least_step: 1.0 / 1920.0,
            most_turn: 0.2,
            passes: 2,
            strand_contacts: true,
            proximity: 5.0e-4,
            correction: 0.2,
            correction_speed: 0.05,
            tolerance_fast: 1.0e-4,
            tolerance: 1.0e-6,
            most_sweeps: 1000,
            global: "hybrid".to_owned(),
            stop_step: 0.0,
            local: "secular+enum".to_owned(),
            friction: 1.0,
        }
    }
}

impl Params {
    /// The parameter that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let small = |value: f64| value > 0.0 && value <= 1.0e-2;
        let checks = [
            ("elements", (1..=100).contains(&self.elements), "a number from 1 to 100"),
            ("theta", (0.5..=1.0).contains(&self.theta), "a number from 0.5 to 1"),
            ("step", (1e-6..=0.1).contains(&self.step), "a number of seconds from 1e-6 to 0.1"),
            (
                "least_step",
                self.least_step >= 1.0e-6 && self.least_step <= self.step,
                "a number of seconds, at least 1e-6 and at most step",
            ),
            ("most_turn", (1e-3..=1.0).contains(&self.most_turn), "a number of radians from 0.001 to 1"),
            ("passes", (1..=10).contains(&self.passes), "a number from 1 to 10"),
            ("proximity", (0.0..=0.1).contains(&self.proximity), "a number of metres from 0 to 0.1"),
            ("correction", (0.0..=1.0).contains(&self.correction), "a number from 0 to 1"),
            (
                "correction_speed",
                (0.0..=10.0).contains(&self.correction_speed),
                "a number of metres per second from 0 to 10",
            ),
            ("tolerance_fast", small(self.tolerance_fast), "a number above 0, at most 0.01"),
            ("tolerance", small(self.tolerance), "a number above 0, at most 0.01"),
            ("most_sweeps", (1..=1_000_000).contains(&self.most_sweeps), "a number from 1 to 1000000"),
            (
                "global",
                self.global.parse::<Global>().is_ok(),
                "hybrid, gauss-seidel, interior-point, mfb or dac",
            ),
            ("stop_step", (0.0..=1.0).contains(&self.stop_step), "a number from 0 to 1"),
            (
                "local",
                self.local.parse::<LocalSolver>().is_ok(),
                "mfb, enum, pac, dac, duriez06, duriez08, 4sides or secular, each with or without +enum",
            ),
            ("friction", (0.0..=100.0).contains(&self.friction), "a number from 0 to 100"),
        ];
        match checks.into_iter().find(|(_, ok, _)| !ok) {
            None => Ok(()),
            Some((key, _, expected)) => Err((key, expected)),
        }
    }
}
