use glam::DVec3;
use serde::Serialize;

use super::error::SceneError;
use super::noise::{Random, spline};
use super::parse::{Section, choice};

choice! {
    /// How the wind varies.
    pub WindKind, "kind of wind" {
        /// Still air.
        None = "none",
        /// The same velocity everywhere and always.
        Uniform = "uniform",
        /// One direction, with gusts that come and go.
        Gusty = "gusty",
        /// Eddies that drift along.
        Turbulent = "turbulent",
    }
}

/// The air's movement: `[wind]`.
///
/// - `uniform`: `velocity`, everywhere and always.
/// - `gusty`: blows along `velocity`; its speed varies smoothly and at random about `velocity`'s by at most
///   `strength`, with a new gust about every `period`.
/// - `turbulent`: eddies of size `scale` and root-mean-square speed `strength`, carried along with `velocity`,
///   that change their form in about `period`. The field is a sum of 16 transverse waves over one and a half
///   octaves either side of `scale`, so it is free of divergence exactly: it stirs hair and never pumps it
///   together.
///
/// How strongly hair follows the air is the material's [`drag`](super::Material::drag).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wind {
    kind: WindKind,
    velocity: DVec3,
    strength: f64,
    period: f64,
    scale: f64,
    seed: u32,
    #[serde(skip)]
    waves: Vec<Wave>,
}

/// One transverse wave of the turbulent field.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wave {
    /// Direction and speed of the air at the crest [m/s]; perpendicular to `number`.
    amplitude: DVec3,
    /// Direction of the wave over its length [1/m].
    number: DVec3,
    /// Frequency in the drifting frame [1/s].
    frequency: f64,
    /// Phase [turns].
    phase: f64,
}

const WAVES: u32 = 16;

impl Default for Wind {
    fn default() -> Self {
        Self::still()
    }
}

impl Wind {
    /// Still air.
    pub fn still() -> Self {
        Self::new(WindKind::None, DVec3::ZERO, 0.0, 1.0, 0.3, 0)
    }

    /// The same `velocity` [m/s] everywhere and always.
    pub fn uniform(velocity: DVec3) -> Self {
        Self::new(WindKind::Uniform, velocity, 0.0, 1.0, 0.3, 0)
    }

    /// Gusts about the mean `velocity` [m/s]: the speed varies by at most `strength` [m/s], with a new gust
    /// about every `period` [s].
    pub fn gusty(velocity: DVec3, strength: f64, period: f64, seed: u32) -> Self {
        Self::new(WindKind::Gusty, velocity, strength, period, 0.3, seed)
    }

    /// Eddies of size `scale` [m] and root-mean-square speed `strength` [m/s], carried along with the mean
    /// `velocity` [m/s], that change in about `period` [s].
    pub fn turbulent(velocity: DVec3, strength: f64, period: f64, scale: f64, seed: u32) -> Self {
        Self::new(WindKind::Turbulent, velocity, strength, period, scale, seed)
    }

    fn new(kind: WindKind, velocity: DVec3, strength: f64, period: f64, scale: f64, seed: u32) -> Self {
        let turbulent = kind == WindKind::Turbulent;
        let waves = if turbulent { waves(strength, period, scale, seed) } else { Vec::new() };
        Self { kind, velocity, strength, period, scale, seed, waves }
    }

    /// How the wind varies.
    pub fn kind(&self) -> WindKind {
        self.kind
    }

    /// Velocity averaged over time [m/s].
    pub fn mean_velocity(&self) -> DVec3 {
        self.velocity
    }

    /// Whether the air stands still everywhere and always.
    pub fn is_none(&self) -> bool {
        match self.kind {
            WindKind::None => true,
            WindKind::Uniform | WindKind::Gusty => self.velocity == DVec3::ZERO,
            WindKind::Turbulent => self.velocity == DVec3::ZERO && self.strength == 0.0,
        }
    }

    /// Velocity of the air at a position [m] and a time [s], [m/s].
    pub fn velocity(&self, position: DVec3, time: f64) -> DVec3 {
        match self.kind {
            WindKind::None => DVec3::ZERO,
            WindKind::Uniform => self.velocity,
            WindKind::Gusty => {
                let control = |index: i64| Random::new(self.seed, index as u64).signed();
                let gust = spline(time / self.period, control);
                self.velocity + self.velocity.normalize_or_zero() * (self.strength * gust)
            }
            WindKind::Turbulent => {
                let drifting = position - self.velocity * time;
                self.waves.iter().fold(self.velocity, |sum, wave| {
                    let phase = wave.number.dot(drifting) + wave.frequency * time + wave.phase;
                    sum + wave.amplitude * swell(phase)
                })
            }
        }
    }

    pub(super) fn read(scene: &Section<'_>) -> Result<Self, SceneError> {
        let section = scene.section("wind", &["kind", "velocity", "strength", "period", "scale", "seed"])?;
        let moving = section.get("velocity").is_some();
        let usual = if moving { WindKind::Uniform } else { WindKind::None };
        let kind = section.or("kind", usual, |field| field.choice())?;
        let velocity = match kind {
            WindKind::Uniform | WindKind::Gusty => {
                section.require("velocity", "a velocity [m/s] for this kind of wind")?.vector()?
            }
            WindKind::None | WindKind::Turbulent => {
                section.or("velocity", DVec3::ZERO, |field| field.vector())?
            }
        };
        // A third of the mean is a usual intensity of turbulence near the ground.
        let usual_strength = if velocity == DVec3::ZERO { 1.0 } else { velocity.length() / 3.0 };
        let strength = section.or("strength", usual_strength, |field| field.not_negative())?;
        let period = section.or("period", 1.0, |field| field.positive())?;
        let scale = section.or("scale", 0.3, |field| field.positive())?;
        let seed = section.or("seed", 0, |field| field.whole(0))?;
        Ok(Self::new(kind, velocity, strength, period, scale, seed))
    }
}

/// A wave of period 1 and height ±1 that is twice continuously differentiable. Any profile of a transverse wave is
/// free of divergence; this one takes a few multiplications where a cosine takes fifty.
fn swell(phase: f64) -> f64 {
    // Adding this leaves no bits for the fraction, so the sum is rounded to a whole number.
    const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;
    let x = 2.0 * (phase - ((phase + WHOLE) - WHOLE)).abs();
    1.0 - 2.0 * x * x * x * (10.0 + x * (6.0 * x - 15.0))
}

/// The mean of the square of `swell` over a period.
const SWELL_SQUARE: f64 = 1.0 - 2.0 + 4.0 * (100.0 / 7.0 - 300.0 / 8.0 + 345.0 / 9.0 - 18.0 + 36.0 / 11.0);

fn waves(strength: f64, period: f64, scale: f64, seed: u32) -> Vec<Wave> {
    let mut random = Random::new(seed, 0);
    // Mean squares of different waves add up, for they do not correlate. Amplitudes fall with the wavelength to the
    // power 1/3 as in Kolmogorov's cascade.
    let sizes: Vec<f64> = (0..WAVES)
        .map(|index| 2.0_f64.powf(3.0 * (f64::from(index) + 0.5) / f64::from(WAVES) - 1.5))
        .collect();
    let energy: f64 = sizes.iter().map(|size| size.powf(2.0 / 3.0)).sum();
    let unit = strength / (SWELL_SQUARE * energy).sqrt();
    let wave = |size: &f64| {
        let direction = random.direction();
        // Any vector that is not parallel leads to a random perpendicular one.
        let across = loop {
            if let Some(across) = direction.cross(random.direction()).try_normalize() {
                break across;
            }
        };
        let turnover = 1.0 / (period * size.powf(2.0 / 3.0));
        Wave {
            amplitude: across * (unit * size.cbrt()),
            number: direction / (scale * size),
            frequency: turnover * random.signed(),
            phase: random.fraction(),
        }
    };
    sizes.iter().map(wave).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN: DVec3 = DVec3::new(2.0, 0.0, 1.0);

    #[test]
    fn turbulence_has_no_divergence_and_some_curl() {
        let wind = Wind::turbulent(MEAN, 1.5, 0.8, 0.25, 3);
        let mut random = Random::new(1, 9);
        let h = 1e-5;
        let slope = |at: DVec3, axis: DVec3, time| {
            (wind.velocity(at + axis * h, time) - wind.velocity(at - axis * h, time)) / (2.0 * h)
        };
        for _ in 0..100 {
            let (at, time) = (random.in_ball(), random.fraction() * 10.0);
            let [x, y, z] = DVec3::AXES.map(|axis| slope(at, axis, time));
            let gradient = x.length() + y.length() + z.length();
            assert!(gradient > 1e-2);
            // What is left is the differences' own error, h² times third derivatives.
            assert!((x.x + y.y + z.z).abs() < 1e-5 * gradient.max(1.0));
        }
    }

    #[test]
    fn turbulence_has_the_strength_asked_for() {
        let wind = Wind::turbulent(MEAN, 1.5, 0.8, 0.25, 3);
        let mut random = Random::new(2, 9);
        let samples = 40_000;
        let (mut mean, mut square) = (DVec3::ZERO, 0.0);
        for _ in 0..samples {
            let deviation = wind.velocity(random.in_ball() * 50.0, random.fraction() * 100.0) - MEAN;
            mean += deviation / f64::from(samples);
            square += deviation.length_squared() / f64::from(samples);
        }
        assert!(mean.length() < 0.05, "{mean}");
        assert!((square.sqrt() / 1.5 - 1.0).abs() < 0.02, "{}", square.sqrt());
    }

    #[test]
    fn swells_are_smooth_and_periodic() {
        let h = 1e-4;
        for sample in -50..50 {
            let at = f64::from(sample) / 10.0;
            assert!((swell(at) - swell(at + 7.0)).abs() < 1e-12);
            let slope = |x: f64| (swell(x + h) - swell(x - h)) / (2.0 * h);
            let curvature = |x: f64| (slope(x + h) - slope(x - h)) / (2.0 * h);
            assert!((slope(at + h) - slope(at - h)).abs() < 0.02, "{at}");
            assert!((curvature(at + h) - curvature(at - h)).abs() < 0.2, "{at}");
        }
        assert_eq!((swell(0.0), swell(0.5), swell(-3.0)), (1.0, -1.0, 1.0));
        let square = (0..1000).map(|i| swell((f64::from(i) + 0.5) / 1000.0).powi(2)).sum::<f64>() / 1000.0;
        assert!((square - SWELL_SQUARE).abs() < 1e-6, "{square}");
    }

    #[test]
    fn gusts_keep_direction_and_bounds_and_are_smooth() {
        let wind = Wind::gusty(MEAN, 1.0, 0.5, 4);
        let speeds: Vec<f64> = (0..10_000)
            .map(|index| {
                let velocity = wind.velocity(DVec3::splat(f64::from(index)), f64::from(index) * 1e-3);
                assert!(velocity.cross(MEAN).length() < 1e-12);
                velocity.length()
            })
            .collect();
        let (least, most) =
            (speeds.iter().fold(9.0, |a: f64, b| a.min(*b)), speeds.iter().fold(0.0, |a: f64, b| a.max(*b)));
        assert!(least >= MEAN.length() - 1.0 && most <= MEAN.length() + 1.0);
        assert!(most - least > 0.5, "{least} {most}");
        // The spline's slope is at most the largest difference of neighbours: 2 · strength / period.
        assert!(speeds.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= 4.0 * 1e-3 + 1e-12));
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let at = |seed| Wind::turbulent(MEAN, 1.0, 1.0, 0.3, seed).velocity(DVec3::ONE, 0.7);
        assert_eq!(at(1), at(1));
        assert_ne!(at(1), at(2));
    }

    #[test]
    fn still_air_is_none() {
        assert!(Wind::still().is_none());
        assert!(Wind::uniform(DVec3::ZERO).is_none());
        assert!(!Wind::uniform(MEAN).is_none());
        assert!(!Wind::turbulent(DVec3::ZERO, 1.0, 1.0, 0.3, 0).is_none());
        assert_eq!(Wind::uniform(MEAN).velocity(DVec3::ONE, 3.0), MEAN);
    }
}
