use serde::{Deserialize, Serialize};

/// Width of the numbers that rods are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Eight strands side by side in single precision.
    F32,
    /// One strand after the other in double precision: the reference.
    F64,
}

/// How the elastic part of a step is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elastic {
    /// Newton steps on whole strands; only contact is split off.
    Newton,
}

/// What the first free edge of a clamped strand bends against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clamp {
    /// A half edge inside the skin: the first free vertex itself is the clamp.
    Ghost,
    /// The last held edge, with both whole end edges counted as bending (section 5.1 of the paper).
    Voronoi,
}

/// Parameters of the ADMM solver.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Iterations of a step, each with a Newton step of every strand and a projection of the contacts.
    pub iterations: u32,
    /// A strand without contacts is done once no edge turns by more than this in an iteration [rad]; 0 takes
    /// all iterations.
    pub tolerance: f64,
    /// How rods are solved.
    pub elastic: Elastic,
    /// Width of numbers.
    pub precision: Precision,
    /// How roots are clamped.
    pub clamp: Clamp,
    /// Typical time in which strains relax by inner friction, τ of section 4.4 [s].
    pub relaxation: f64,
    /// Distance kept from bodies beyond the hair's own radius [m].
    pub margin: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            iterations: 10,
            tolerance: 1.0e-4,
            elastic: Elastic::Newton,
            precision: Precision::F32,
            clamp: Clamp::Ghost,
            relaxation: 0.0,
            margin: 1.0e-4,
        }
    }
}

impl Params {
    /// The key that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if !(1..=1_000_000).contains(&self.iterations) {
            return Err(("iterations", "a whole number from 1 to a million"));
        }
        let not_negative =
            [("tolerance", self.tolerance), ("relaxation", self.relaxation), ("margin", self.margin)];
        for (key, value) in not_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err((key, "a finite number of at least 0"));
            }
        }
        Ok(())
    }
}
