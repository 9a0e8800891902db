use serde::{Deserialize, Serialize};

use crate::rod::der::{Measure, StretchMeasure};

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
    /// The paper's splitting into pairs of edges (section 4.2 to 4.4), with momentum.
    Splitting,
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
    /// A step is done once no edge turns by more than this in an iteration [rad], and contacts and ties hold as well; 0 takes all
    /// iterations.
    pub tolerance: f64,
    /// How rods are solved.
    pub elastic: Elastic,
    /// How many iterations of the splitting take the place of each Newton step. Ten in each of ten iterations are enough for
    /// edges of 1 cm; short edges need more.
    pub inner: u32,
    /// w⁰ of section 4.4, the weight of the splitting beside the stiffness of bending; 0 takes it from our rule.
    pub weight: f64,
    /// Whether the splitting takes momentum along. Without, it is as printed.
    pub momentum: bool,
    /// Measure of bending; Newton steps know `half-sine` alone.
    pub bending: Measure,
    /// Measure of stretching; Newton steps know `linear` alone.
    pub stretching: StretchMeasure,
    /// Width of the rods' numbers; contact is found in single precision.
    pub precision: Precision,
    /// How roots are clamped.
    pub clamp: Clamp,
    /// Typical time in which strains relax by inner friction, τ of section 4.4 [s].
    pub relaxation: f64,
    /// Distance kept from bodies beyond the hair's own radius [m].
    pub margin: f64,
    /// Whether strands touch each other.
    pub strand_contacts: bool,
    /// Hair that is not farther than this from other hair, or from a body, is a contact [m].
    pub proximity: f64,
    /// Weight of contact beside the one of section 4.5, m / t², which goes with the stiffness of one edge, h⁻³; 0 takes ours, the stiffness of
    /// a strand at one point in a step, and the paper's where time stands still. It changes how fast contact is found, not what is found: heavy contact sticks at
    /// once but slides slowly, and in few iterations leaves hair trembling; light contact the other way round. Where whole strands are pressed, their stiffness is better.
    pub contact_weight: f64,
    /// Sweeps over all contacts in each iteration.
    pub sweeps: u32,
    /// Sweeps at the end of a step that take hair out of other hair and out of bodies.
    pub correction_sweeps: u32,
    /// How often in a step hair that meets on its way is looked for; 0 never.
    pub continuous: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            iterations: 10,
            tolerance: 1.0e-4,
            elastic: Elastic::Newton,
            inner: 10,
            weight: 0.0,
            momentum: true,
            bending: Measure::HalfSine,
            stretching: StretchMeasure::Linear,
            precision: Precision::F32,
            clamp: Clamp::Ghost,
            relaxation: 0.0,
            margin: 1.0e-4,
            strand_contacts: true,
            proximity: 5.0e-4,
            contact_weight: 0.0,
            sweeps: 2,
            correction_sweeps: 10,
            continuous: 3,
        }
    }
}

impl Params {
    /// The key that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if !(1..=1_000_000).contains(&self.iterations) {
            return Err(("iterations", "a whole number from 1 to a million"));
        }
        if !(1..=10_000).contains(&self.inner) {
            return Err(("inner", "a whole number from 1 to 10,000"));
        }
        if self.elastic == Elastic::Newton && self.bending != Measure::HalfSine {
            return Err(("bending", "`half-sine`, or elastic = \"splitting\""));
        }
        if self.elastic == Elastic::Newton && self.stretching != StretchMeasure::Linear {
            return Err(("stretching", "`linear`, or elastic = \"splitting\""));
        }
        let not_negative = [
            ("weight", self.weight),
            ("tolerance", self.tolerance),
            ("relaxation", self.relaxation),
            ("margin", self.margin),
            ("proximity", self.proximity),
        ];
        for (key, value) in not_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err((key, "a finite number of at least 0"));
            }
        }
        if self.contact_weight != 0.0 && !(1.0e-9..=1.0e9).contains(&self.contact_weight) {
            return Err(("contact_weight", "0, or a number from 1e-9 to 1e9"));
        }
        for (key, value) in [("sweeps", self.sweeps), ("correction_sweeps", self.correction_sweeps)] {
            if value > 10_000 {
                return Err((key, "a whole number from 0 to 10,000"));
            }
        }
        Ok(())
    }
}
