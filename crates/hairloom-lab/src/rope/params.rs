use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::experiment::BadKey;

/// What can be set. The usual values are those of section 4 of the paper, where it gives any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Params {
    /// Particles of the rope.
    pub(crate) particles: usize,
    /// Length of a segment [m].
    pub(crate) segment: f64,
    /// Mass of a particle [kg].
    pub(crate) mass: f64,
    /// Acceleration of gravity, downwards [m/s²].
    pub(crate) gravity: f64,
    /// Time step [s].
    pub(crate) dt: f64,
    /// Simulated time of the falling and the dragged rope [s].
    pub(crate) duration: f64,
    /// Time step of the reference [s].
    pub(crate) reference_dt: f64,
    /// Correction scales to compare.
    pub(crate) corrections: Vec<f64>,
    /// Bending resistances to compare.
    pub(crate) bendings: Vec<f64>,
    /// How far the hand drags the rope to either side [m].
    pub(crate) drag_amplitude: f64,
    /// How often it goes to and fro [1/s].
    pub(crate) drag_frequency: f64,
    /// Radius of the sphere that hits the rope [m].
    pub(crate) sphere_radius: f64,
    /// Its speed [m/s].
    pub(crate) sphere_speed: f64,
    /// Where it hits, as a share of the rope's length from the top.
    pub(crate) sphere_place: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            particles: 30,
            segment: 0.02,
            mass: 0.01,
            gravity: 10.0,
            dt: 0.01,
            duration: 2.0,
            reference_dt: 1.0e-4,
            corrections: vec![1.0, 0.9],
            bendings: vec![0.0, 0.5, 0.7, 0.9],
            drag_amplitude: 0.15,
            drag_frequency: 1.0,
            sphere_radius: 0.03,
            sphere_speed: 1.0,
            sphere_place: 0.8,
        }
    }
}

/// Each parameter with what it is.
pub(super) const HELP: &[(&str, &str)] = &[
    ("particles", "particles of the rope, 5 to 500"),
    ("segment", "length of a segment [m]"),
    ("mass", "mass of a particle [kg]"),
    ("gravity", "acceleration of gravity [m/s²]"),
    ("dt", "time step [s]"),
    ("duration", "simulated time of the falling and the dragged rope [s]"),
    ("reference_dt", "time step of the reference [s]"),
    ("corrections", "correction scales s of equation 9 to compare, 0 to 1"),
    ("bendings", "bending resistances s of equation 11 to compare, 0 to 1"),
    ("drag_amplitude", "how far the hand drags the rope to either side [m]"),
    ("drag_frequency", "how often the hand goes to and fro [1/s]"),
    ("sphere_radius", "radius of the sphere that hits the rope [m]"),
    ("sphere_speed", "speed of that sphere [m/s]"),
    ("sphere_place", "where it hits, as a share of the rope's length from the top"),
];

impl Params {
    /// Refuses values that make no rope, or no end of work.
    pub(super) fn check(&self) -> Result<(), BadKey> {
        if !(5..=500).contains(&self.particles) {
            return Err(("particles", format!("it is {}; it must lie between 5 and 500", self.particles)));
        }
        let ranges = [
            ("segment", self.segment, 1.0e-4, 10.0),
            ("mass", self.mass, 1.0e-9, 1.0e3),
            ("gravity", self.gravity, 1.0e-3, 1.0e3),
            ("dt", self.dt, 1.0e-5, 0.1),
            ("duration", self.duration, 0.05, 60.0),
            ("reference_dt", self.reference_dt, 1.0e-6, 1.0e-2),
            ("drag_amplitude", self.drag_amplitude, 0.0, 100.0),
            ("drag_frequency", self.drag_frequency, 0.0, 100.0),
            ("sphere_radius", self.sphere_radius, 1.0e-4, 10.0),
            ("sphere_speed", self.sphere_speed, 1.0e-3, 100.0),
            ("sphere_place", self.sphere_place, 0.05, 0.95),
        ];
        for (key, value, low, high) in ranges {
            if !(low..=high).contains(&value) {
                return Err((key, format!("it is {value}; it must lie between {low} and {high}")));
            }
        }
        for (key, list) in [("corrections", &self.corrections), ("bendings", &self.bendings)] {
            if list.is_empty() || list.len() > 12 {
                return Err((key, format!("it has {} values; 1 to 12 are expected", list.len())));
            }
            if let Some(value) = list.iter().find(|value| !(0.0..=1.0).contains(*value)) {
                return Err((key, format!("{value} is among them; all must lie between 0 and 1")));
            }
        }
        Ok(())
    }

    /// Length of the whole rope [m].
    pub(super) fn length(&self) -> f64 {
        self.segment * (self.particles - 1) as f64
    }

    /// Gravity as a vector [m/s²].
    pub(super) fn gravity(&self) -> DVec3 {
        DVec3::new(0.0, -self.gravity, 0.0)
    }

    /// Steps in `seconds`.
    pub(super) fn steps(&self, seconds: f64) -> usize {
        ((seconds / self.dt).round() as usize).max(1)
    }

    /// A straight rope from the origin.
    pub(super) fn straight(&self, direction: DVec3) -> Vec<DVec3> {
        (0..self.particles).map(|i| direction * (self.segment * i as f64)).collect()
    }
}
