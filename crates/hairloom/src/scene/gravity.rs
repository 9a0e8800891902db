use glam::DVec3;
use serde::Serialize;

use super::error::SceneError;
use super::parse::Section;

/// Gravity at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GravityKey {
    /// Time [s].
    pub time: f64,
    /// Acceleration [m/s²].
    pub value: DVec3,
}

/// Gravity: `[gravity]`, constant or keyframed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Gravity {
    /// The same at all times.
    Constant {
        /// Acceleration [m/s²].
        value: DVec3,
    },
    /// From key to key with zero slope at each, so that it never goes beyond the keys' values.
    Keyframes {
        /// Keys in order of time; the first and the last hold outside.
        keyframes: Vec<GravityKey>,
    },
}

impl Default for Gravity {
    fn default() -> Self {
        Self::Constant { value: DVec3::new(0.0, -9.81, 0.0) }
    }
}

impl Gravity {
    /// Acceleration at a time [s], [m/s²].
    pub fn at(&self, time: f64) -> DVec3 {
        let keys = match self {
            Self::Constant { value } => return *value,
            Self::Keyframes { keyframes } => keyframes,
        };
        let after = keys.partition_point(|key| key.time <= time);
        match (after.checked_sub(1).and_then(|index| keys.get(index)), keys.get(after)) {
            (Some(a), Some(b)) => {
                let u = (time - a.time) / (b.time - a.time);
                a.value.lerp(b.value, u * u * (3.0 - 2.0 * u))
            }
            (Some(only), None) | (None, Some(only)) => only.value,
            (None, None) => DVec3::ZERO,
        }
    }

    pub(super) fn read(scene: &Section<'_>) -> Result<Self, SceneError> {
        let section = scene.section("gravity", &["value", "keyframes"])?;
        match section.at_most_one(&["value", "keyframes"])? {
            None => Ok(Self::default()),
            Some("value") => {
                Ok(Self::Constant { value: section.require("value", "a value [m/s²]")?.vector()? })
            }
            Some(_) => {
                let read = |key: &Section<'_>| {
                    Ok(GravityKey {
                        time: key.require("time", "a time [s]")?.time()?,
                        value: key.require("value", "a value [m/s²]")?.vector()?,
                    })
                };
                let keyframes = section.keyframes(&["time", "value"], read, |key| key.time)?;
                Ok(Self::Keyframes { keyframes })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyframes_hold_outside_and_stay_between() {
        let (down, side) = (DVec3::new(0.0, -9.81, 0.0), DVec3::new(9.81, 0.0, 0.0));
        let keyframes = vec![GravityKey { time: 1.0, value: down }, GravityKey { time: 3.0, value: side }];
        let gravity = Gravity::Keyframes { keyframes };
        assert_eq!(gravity.at(0.0), down);
        assert_eq!(gravity.at(9.0), side);
        assert!(gravity.at(2.0).distance((down + side) / 2.0) < 1e-12);
        let slope = (gravity.at(1.0 + 1e-5) - gravity.at(1.0)) / 1e-5;
        assert!(slope.length() < 1e-2, "{slope}");
    }
}
