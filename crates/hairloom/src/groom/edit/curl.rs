use glam::Vec3;

use super::super::Groom;
use super::super::smooth::{MOST_TURNING, turning};
use super::smooth::averaged;
use super::with_points;

/// A path is not made shorter than this part of itself, however tight curls become.
const SHORTEST_PATH: f32 = 0.1;

/// The groom with its curls `factor` times as wide: every point keeps its place along the strand's path without curls,
/// and its offset from the path is scaled. 0 leaves the path alone, 1 everything.
///
/// With `keep_length` the path is then scaled about the root until the strand is as long as before, as hair is that is
/// straightened or curled; where curls alone are longer than the strand, the path keeps a tenth of its length and the
/// strand gets longer. Without it, tips stay where they are. Strands that do not curl (their path turns less than hair
/// that is combed over a head) stay as they are.
pub fn scale_curl(groom: &Groom, factor: f32, keep_length: bool) -> Groom {
    if factor == 1.0 {
        return groom.clone();
    }
    with_points(groom, |strand, old, new| {
        let Some(path) = path_without_curls(old) else { return };
        let scaled =
            |stretch: f32, k: usize| old[0] + (path[k] - old[0]) * stretch + (old[k] - path[k]) * factor;
        let length = |stretch: f32| -> f32 {
            (1..old.len()).map(|k| scaled(stretch, k).distance(scaled(stretch, k - 1))).sum()
        };
        let stretch = if keep_length { stretch_for(groom.curves.length(strand), length) } else { 1.0 };
        new.iter_mut().enumerate().skip(1).for_each(|(k, point)| *point = scaled(stretch, k));
    })
}

/// The stretch of the path at which the strand has its old length.
fn stretch_for(wanted: f32, length: impl Fn(f32) -> f32) -> f32 {
    let (mut low, mut high) = (SHORTEST_PATH, 1.0);
    if length(low) >= wanted {
        return low;
    }
    // A path of no length at all cannot be stretched.
    for _ in 0..10 {
        if length(high) >= wanted {
            break;
        }
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if length(middle) < wanted { low = middle } else { high = middle }
    }
    high
}

/// The way that a strand takes without its curls; nothing for a strand that has none.
fn path_without_curls(points: &[Vec3]) -> Option<Vec<Vec3>> {
    if turning(points) <= MOST_TURNING {
        return None;
    }
    // Averages over a whole turn leave nothing of a curl, those over a little less or more leave some: the first reach
    // beyond which the path would not become straighter is that of one turn.
    let mut best: Option<(f32, Vec<Vec3>)> = None;
    for reach in 1..=(points.len() - 1) / 2 {
        let path = averaged(points, reach);
        let turn = turning(&path);
        match best {
            Some((least, path)) if least <= MOST_TURNING && turn >= least => return Some(path),
            _ => best = Some((turn, path)),
        }
    }
    best.map(|(_, path)| path)
}
