use serde::{Deserialize, Serialize};

/// Parameters of follow-the-leader.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// How much of the uneven masses the velocity correction hides, `s` of equation 9, 0 to 1. At 1 it hides
    /// all and damps most.
    pub correction: f64,
    /// Bending resistance, `s` of equation 11, 0 (none) to 1 (straight).
    pub bending: f64,
    /// Share of the grid's mean velocity that a vertex takes on in 1/60 s, `s_friction` of equation 13.
    pub friction: f64,
    /// Acceleration out of dense hair [m/s²]; equation 14 with `s_repulsion = repulsion · dt²`.
    pub repulsion: f64,
    /// Edge of a density cell [m]; 0 chooses one from the hair's extent.
    pub cell: f64,
    /// Run the backward pass, so that waves travel towards the root too (section 3.4).
    pub backward: bool,
    /// Rate at which velocities decay [1/s], beside the drag of the material.
    pub damping: f64,
    /// Distance kept from bodies beyond the hair's own radius [m].
    pub margin: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            correction: 0.9,
            bending: 0.0,
            friction: 0.0,
            repulsion: 0.0,
            cell: 0.0,
            backward: false,
            damping: 0.0,
            // Between vertices 14 mm apart, on a shoulder of 5 cm radius, an edge dips half a millimetre.
            margin: 5.0e-4,
        }
    }
}

impl Params {
    /// The key that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let share = [("correction", self.correction), ("bending", self.bending), ("friction", self.friction)];
        for (key, value) in share {
            if !(0.0..=1.0).contains(&value) {
                return Err((key, "a number from 0 to 1"));
            }
        }
        let positive = [
            ("repulsion", self.repulsion),
            ("cell", self.cell),
            ("damping", self.damping),
            ("margin", self.margin),
        ];
        for (key, value) in positive {
            if !(value.is_finite() && value >= 0.0) {
                return Err((key, "a finite number of at least 0"));
            }
        }
        Ok(())
    }
}
