use glam::{DMat2, DVec2, DVec3};

use super::secular::SINGULAR;
use super::{LocalProblem, Sliding, real_roots, relative_natural_map};

/// The enumerative solver (appendix B): take-off, then stick, then the roots of a quartic for sliding. `None` where the
/// contact has no solution.
pub(super) fn solve(problem: &LocalProblem, sliding: &Sliding) -> Option<DVec3> {
    if let Some(force) = sliding.take_off_or_stick(problem.offset, problem.friction) {
        return Some(force);
    }
    if !sliding.moves() {
        return None;
    }
    let (roots, count) = real_roots(quartic(problem));
    // Where no eigenvalue counts as smaller, no solution is larger: what is, is rounding.
    let largest = 10.0 * problem.mass() * problem.offset.length() / SINGULAR;
    let mut best: Option<(f64, DVec3)> = None;
    let mut offer = |force: Option<DVec3>| {
        if let Some(force) = force.filter(|force| force.length() <= largest) {
            let error = relative_natural_map(problem, force);
            if error.is_finite() && best.is_none_or(|(least, _)| error < least) {
                best = Some((error, force));
            }
        }
        best.is_some_and(|(error, _)| error <= ROUNDING)
    };
    for &root in roots[..count].iter().filter(|&&root| root > 0.0) {
        let solved = offer(sliding.polish(problem.offset, problem.friction, root));
        if solved {
            break;
        }
    }
    let guess = roots[..count].iter().copied().fold(0.0, f64::max);
    // The quartic loses roots where it is badly conditioned; a sign change of what it came from is always found.
    if !offer(None) && !offer(sliding.solve(problem.offset, problem.friction, guess)) {
        offer(sliding.scan(problem.offset, problem.friction));
    }
    best.filter(|(error, _)| *error <= ACCEPTABLE).map(|(_, force)| force)
}

/// What a solution may be off by in the relative natural map.
const ACCEPTABLE: f64 = 1.0e-9;
/// What it is off by where a root was found as well as double precision can.
const ROUNDING: f64 = 1.0e-14;

/// Coefficients of the quartic in α (equation 16), in the problem's own units.
fn quartic(problem: &LocalProblem) -> [f64; 4] {
    let matrix = &problem.matrix;
    let normal = matrix.x_axis.x;
    let coupling = DVec2::new(matrix.x_axis.y, matrix.x_axis.z);
    let tangential = DMat2::from_cols(
        DVec2::new(matrix.y_axis.y, matrix.y_axis.z),
        DVec2::new(matrix.z_axis.y, matrix.z_axis.z),
    );
    let outer = DMat2::from_cols(coupling * coupling.x, coupling * coupling.y);
    let schur = tangential - outer * (1.0 / normal);
    let (yy, yz, zz) = (schur.x_axis.x, schur.x_axis.y, schur.y_axis.y);
    let slope = DVec2::new(problem.offset.y, problem.offset.z) / problem.offset.x - coupling / normal;
    let a = yy + zz - coupling.dot(slope);
    let b = DVec2::new(zz * slope.x - yz * slope.y, yy * slope.y - yz * slope.x);
    let c = (yy * zz - yz * yz) - coupling.dot(b);
    let d = (normal / problem.friction).powi(2);
    [
        2.0 * a,
        2.0 * c + a * a - d * slope.length_squared(),
        2.0 * (c * a - d * slope.dot(b)),
        c * c - d * b.length_squared(),
    ]
}
