//! A point beside another one where all nodes are at rest.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::cone::{self, Point, Scaling};
use super::normal::{Normal, Roots};
use super::programme::{Programme, Stress, Unknowns};

/// Steps of conjugate gradients where nodes are brought to rest.
const MOST_REFINEMENTS: usize = 200;
/// Acceleration, in units of gravity, that these steps may leave at a node.
const ENOUGH: f64 = 1e-7;

/// How far inside their cones stresses are put, as a part of themselves.
const ROOM: f64 = 1e-5;
/// How often that is done.
const ROUNDS: usize = 3;
/// How much dearer that may make a point.
const DEARER: f64 = 1e-3;

/// Brings nodes to rest: forces change by as little as can be, and stresses in the cone by little of themselves. `cones` are the stresses as
/// points of the cone, with what cohesion adds.
pub(super) fn bring_to_rest(
    programme: &Programme,
    normal: &mut Normal,
    point: &mut Unknowns,
    cones: &[Point],
) {
    let change = Change { stresses: cones.par_iter().map(|s| cone_root(s, programme.slope)).collect() };
    normal.factor(programme, &change);
    for _ in 0..3 {
        let mut left = programme.residual(point);
        if programme.worst(&left) < ENOUGH {
            return;
        }
        left.iter_mut().for_each(|left| *left = -*left);
        let by = |v: &[DVec3]| {
            let mut back = programme.apply_transposed(v);
            change.apply(&mut back);
            back
        };
        let multipliers =
            refined(programme, normal, |v| programme.apply(&by(v)), &left, MOST_REFINEMENTS, ENOUGH);
        let by = by(&multipliers);
        point.forces.iter_mut().zip(&by.forces).for_each(|(to, by)| *to += *by);
        let all = point.stresses.as_flattened_mut().iter_mut().zip(by.stresses.as_flattened());
        all.for_each(|(to, by)| *to += by);
    }
}

/// Puts stresses that left their cones by little back into them, and brings nodes to rest again, a few times over; gives the best of all
/// points that leave the nodes at rest and cost hardly more, which may be the first.
pub(super) fn put_right(programme: &Programme, point: Unknowns) -> Unknowns {
    let mut normal = Normal::new(programme);
    let most = (1.0 + DEARER) * programme.objective(&point);
    let (mut best, mut now) = (point.clone(), point);
    for _ in 0..ROUNDS {
        let cones = put_inside(&mut now, programme.slope);
        bring_to_rest(programme, &mut normal, &mut now, &cones);
        let is_at_rest = programme.worst(&programme.residual(&now)) < 5e-5;
        let is_cheap = programme.objective(&now) < most;
        if is_at_rest && is_cheap && excess(&now, programme.slope) < excess(&best, programme.slope) {
            best = now.clone();
        }
        if excess(&best, programme.slope) < 5e-7 {
            break;
        }
    }
    best
}

/// Puts stresses into their cones; gives them as points of the cone, a little inside.
fn put_inside(point: &mut Unknowns, slope: f64) -> Vec<Point> {
    let least = 1e-9 * largest_stress(point);
    let inside = |s: &mut Stress| {
        let most = (-slope * s[0]).max(0.0);
        s[0] = -most / slope;
        let shear = s[1..].iter().map(|part| part * part).sum::<f64>().sqrt();
        if shear > (1.0 - ROOM) * most {
            s[1..].iter_mut().for_each(|part| *part *= (1.0 - ROOM) * most / shear);
        }
        let mut cone = *s;
        cone[0] = most + least;
        cone
    };
    point.stresses.iter_mut().map(inside).collect()
}

/// The size of the largest stress.
pub(super) fn largest_stress(point: &Unknowns) -> f64 {
    point.stresses.iter().map(|s| cone::dot(s, s).sqrt()).fold(0.0, f64::max)
}

/// How far a stress lies outside of its cone at most, as a part of the largest stress.
pub(super) fn excess(point: &Unknowns, slope: f64) -> f64 {
    let outside = |s: &Stress| s[1..].iter().map(|d| d * d).sum::<f64>().sqrt() + slope * s[0];
    let most = point.stresses.iter().map(outside).fold(0.0, f64::max);
    if most > 0.0 { most / largest_stress(point) } else { 0.0 }
}

/// What may change.
struct Change {
    stresses: Vec<[Point; 6]>,
}

impl Change {
    fn apply(&self, unknowns: &mut Unknowns) {
        for (stress, root) in unknowns.stresses.iter_mut().zip(&self.stresses) {
            let mut out = [0.0; 6];
            for column in root {
                let along = cone::dot(column, stress);
                out.iter_mut().zip(column).for_each(|(out, column)| *out += along * column);
            }
            *stress = out;
        }
    }
}

impl Roots for Change {
    fn stress(&self, particle: usize) -> Option<[[f64; 6]; 6]> {
        Some(self.stresses[particle])
    }

    fn force(&self, _: usize) -> DMat3 {
        DMat3::IDENTITY
    }
}

/// R, by columns, in the basis of stresses, with R Rᵀ the inverse of the second derivative of the cone's barrier.
fn cone_root(s: &Point, slope: f64) -> [Point; 6] {
    let scaling = Scaling::new(s, &cone::inverse(s));
    std::array::from_fn(|at| {
        let mut unit = [0.0; 6];
        unit[at] = 1.0;
        let mut column = scaling.forward(&unit);
        column[0] *= -1.0 / slope;
        column
    })
}

/// At most so many steps of conjugate gradients with the factors as preconditioner, until nodes are at rest.
pub(super) fn refined(
    programme: &Programme,
    normal: &Normal,
    multiply: impl Fn(&[DVec3]) -> Vec<DVec3>,
    right: &[DVec3],
    most: usize,
    enough: f64,
) -> Vec<DVec3> {
    let mut found = vec![DVec3::ZERO; right.len()];
    let mut rest = right.to_vec();
    let mut best = (f64::INFINITY, found.clone());
    let (mut along, mut before) = (Vec::new(), 0.0);
    for iteration in 0..most {
        let mut better = rest.clone();
        normal.solve(&mut better);
        let size: f64 = better.iter().zip(&rest).map(|(a, b)| a.dot(*b)).sum();
        if iteration == 0 {
            along = better;
        } else {
            let factor = size / before;
            along.iter_mut().zip(&better).for_each(|(a, b)| *a = *b + *a * factor);
        }
        before = size;
        let product = multiply(&along);
        let curvature: f64 = along.iter().zip(&product).map(|(a, b)| a.dot(*b)).sum();
        if !(curvature > 0.0 && size > 0.0) {
            break;
        }
        let step = size / curvature;
        for ((f, r), (a, p)) in found.iter_mut().zip(&mut rest).zip(along.iter().zip(&product)) {
            *f += *a * step;
            *r -= *p * step;
        }
        let left = programme.worst(&rest);
        if left < best.0 {
            best = (left, found.clone());
        }
        if left < enough {
            break;
        }
    }
    best.1
}
