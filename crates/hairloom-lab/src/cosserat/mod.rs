//! Experiments with Cosserat rods and their rest shapes: figures 5 to 7 of Hsu et al. 2023.

mod gust;
mod saddle;
mod twisting_rod;
mod zig_zag;

pub(crate) use gust::Gust;
pub(crate) use saddle::Saddle;
pub(crate) use twisting_rod::TwistingRod;
pub(crate) use zig_zag::ZigZag;

use glam::DVec3;
use hairloom::rod::cosserat::Darboux;
use hairloom::scene::Wind;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{Hold, Rig, Rod, alone, check_range};

/// Steps a second.
const RATE: f64 = 60.0;

/// Both Darboux vectors, with names for rows and plots.
const VECTORS: [(Darboux, &str); 2] = [(Darboux::Augmented, "augmented"), (Darboux::Plain, "plain")];

/// The method with another Darboux vector.
fn with_vector(method: &Method, darboux: Darboux) -> Method {
    match method {
        Method::XpbdMpm(params) => Method::XpbdMpm(hairloom::solve::xpbd_mpm::Params { darboux, ..*params }),
        other => other.clone(),
    }
}

/// What a gust did to strands: distances from their groomed curves, over their lengths.
#[derive(Debug, Clone, Default)]
struct Blown {
    /// The farthest of each before the gust.
    still: Vec<f64>,
    /// The farthest of each during it.
    most: Vec<f64>,
    /// Of each at the end.
    after: Vec<f64>,
    /// The farthest of all over time [s].
    line: Vec<(f64, f64)>,
}

/// Lets strands be, blows at them, and lets them be again: for so long each [s], with a wind along x [m/s].
fn blow(rig: &mut Rig, curves: &[Vec<DVec3>], times: [f64; 3], wind: f64) -> Result<Blown, LabError> {
    let mut blown =
        Blown { still: vec![0.0; curves.len()], most: vec![0.0; curves.len()], ..Blown::default() };
    for (phase, duration) in times.into_iter().enumerate() {
        rig.wind = if phase == 1 { Wind::uniform(DVec3::X * wind) } else { Wind::still() };
        for _ in 0..(duration * RATE).round() as usize {
            rig.step(1.0 / RATE)?;
            let now = rig.away(curves);
            blown.line.push((rig.time, now.iter().copied().fold(0.0, f64::max)));
            let farthest = match phase {
                0 => &mut blown.still,
                1 => &mut blown.most,
                _ => continue,
            };
            farthest.iter_mut().zip(now).for_each(|(most, now)| *most = most.max(now));
        }
    }
    blown.after = rig.away(curves);
    Ok(blown)
}

fn check_times(times: &[f64; 3]) -> Result<(), BadKey> {
    times.iter().try_for_each(|&time| check_range(("times", time, 0.0, 100.0)))
}
