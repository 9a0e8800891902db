//! Clay: shapes blended into one implicit surface, negative inside.

use glam::{Mat3, Quat, Vec3};

use super::skin::{BoneWeights, strongest};

/// How far the two halves of a mirrored stroke melt into each other at the plane x = 0 [m].
const MIRROR_ROUNDING: f32 = 0.002;

/// A simple solid, given by its (nearly exact) signed distance.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// An ellipsoid; `to_axes` turns world directions into its own axes.
    Ellipsoid { centre: Vec3, radii: Vec3, to_axes: Mat3 },
    /// The hull of two spheres.
    Cone { from: Vec3, to: Vec3, radii: [f32; 2] },
    /// All points with `normal · p < offset`.
    HalfSpace { normal: Vec3, offset: f32 },
}

/// An ellipsoid along the axes.
pub(super) fn ellipsoid(centre: [f32; 3], radii: [f32; 3]) -> Shape {
    Shape::Ellipsoid { centre: centre.into(), radii: radii.into(), to_axes: Mat3::IDENTITY }
}

/// A sphere.
pub(super) fn sphere(centre: [f32; 3], radius: f32) -> Shape {
    ellipsoid(centre, [radius; 3])
}

/// A limb between two points, thick `start` at the first and `end` at the second.
pub(super) fn cone(from: [f32; 3], to: [f32; 3], start: f32, end: f32) -> Shape {
    Shape::Cone { from: from.into(), to: to.into(), radii: [start, end] }
}

/// The side of a plane through `point` that `normal` points away from.
pub(super) fn below(point: [f32; 3], normal: [f32; 3]) -> Shape {
    let normal = Vec3::from(normal).normalize();
    Shape::HalfSpace { normal, offset: normal.dot(point.into()) }
}

impl Shape {
    /// The same ellipsoid, turned about its centre by the rotation vector `degrees`.
    pub(super) fn turned(self, degrees: [f32; 3]) -> Self {
        let Self::Ellipsoid { centre, radii, .. } = self else { return self };
        let turn = Quat::from_scaled_axis(Vec3::from(degrees) * std::f32::consts::PI / 180.0);
        Self::Ellipsoid { centre, radii, to_axes: Mat3::from_quat(turn.inverse()) }
    }

    /// Signed distance of `p` [m]: exact for cones and half spaces, to first order for ellipsoids.
    pub(super) fn distance(&self, p: Vec3) -> f32 {
        match *self {
            Self::Ellipsoid { centre, radii, to_axes } => {
                let q = to_axes * (p - centre);
                let scaled = (q / radii).length();
                let slope = (q / (radii * radii)).length();
                if slope < 1e-9 { -radii.min_element() } else { scaled * (scaled - 1.0) / slope }
            }
            Self::Cone { from, to, radii: [start, end] } => cone_distance(p, from, to, start, end),
            Self::HalfSpace { normal, offset } => normal.dot(p) - offset,
        }
    }

    /// The shape scaled along the axes, then shifted; thickness of cones scales by the mean.
    fn placed(self, origin: Vec3, scale: Vec3) -> Self {
        match self {
            Self::Ellipsoid { centre, radii, to_axes } => {
                Self::Ellipsoid { centre: origin + centre * scale, radii: radii * scale, to_axes }
            }
            Self::Cone { from, to, radii } => Self::Cone {
                from: origin + from * scale,
                to: origin + to * scale,
                radii: radii.map(|r| r * scale.element_sum() / 3.0),
            },
            Self::HalfSpace { normal, offset } => {
                Self::HalfSpace { normal, offset: offset + normal.dot(origin) }
            }
        }
    }

    /// A sphere around the shape, if it is bounded.
    fn bound(&self) -> Option<(Vec3, f32)> {
        match *self {
            Self::Ellipsoid { centre, radii, .. } => Some((centre, radii.max_element())),
            Self::Cone { from, to, radii } => {
                Some(((from + to) * 0.5, from.distance(to) * 0.5 + radii[0].max(radii[1])))
            }
            Self::HalfSpace { .. } => None,
        }
    }
}

fn cone_distance(p: Vec3, from: Vec3, to: Vec3, start: f32, end: f32) -> f32 {
    let axis = to - from;
    let length = axis.length();
    let along = (p - from).dot(axis) / length;
    let beside = ((p - from).length_squared() - along * along).max(0.0).sqrt();
    // In the half plane through the axis, the surface is a line tangent to two circles.
    let slope = ((start - end) / length).clamp(-1.0, 1.0);
    let rise = (1.0 - slope * slope).sqrt();
    let foot = along * rise - beside * slope;
    if foot < 0.0 {
        (along * along + beside * beside).sqrt() - start
    } else if foot > length * rise {
        ((along - length) * (along - length) + beside * beside).sqrt() - end
    } else {
        beside * rise + along * slope - start
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Add,
    Carve,
    Keep,
}

#[derive(Debug, Clone, Copy)]
struct Stroke {
    shape: Shape,
    mode: Mode,
    /// Width of the seam to what was there before [m].
    blend: f32,
    mirrored: bool,
    /// The bone that moves this stroke, and the one that moves its mirror image.
    bones: [u16; 2],
    colour: Vec3,
    bound: Option<(Vec3, f32)>,
}

impl Stroke {
    /// False where the stroke is certainly farther from `p` than `reach`.
    fn matters(&self, p: Vec3, reach: f32) -> bool {
        let Some((centre, radius)) = self.bound else { return true };
        // The ellipsoids' distance is an estimate: leave room for it being too small.
        let reach = radius + 1.4 * reach.max(0.0);
        p.distance_squared(centre) < reach * reach
    }
}

/// A sequence of strokes. The brush (bone, mirror, colour) stays until it is changed.
#[derive(Debug, Clone)]
pub(super) struct Sculpt {
    strokes: Vec<Stroke>,
    mirrored: bool,
    bones: [u16; 2],
    colour: Vec3,
    origin: Vec3,
    scale: Vec3,
}

impl Sculpt {
    /// Nothing yet; the brush paints `colour`, unmirrored, on bone 0.
    pub(super) fn new(colour: [f32; 3]) -> Self {
        Self {
            strokes: Vec::new(),
            mirrored: false,
            bones: [0; 2],
            colour: colour.into(),
            origin: Vec3::ZERO,
            scale: Vec3::ONE,
        }
    }

    /// From here on strokes are scaled along the axes and moved to `origin` (on the plane x = 0).
    pub(super) fn place(&mut self, origin: Vec3, scale: Vec3) -> &mut Self {
        (self.origin, self.scale) = (origin, scale);
        self
    }

    /// From here on strokes follow `bone` and are made once.
    pub(super) fn single(&mut self, bone: u16) -> &mut Self {
        (self.mirrored, self.bones) = (false, [bone; 2]);
        self
    }

    /// From here on strokes are made on both sides: `left` moves those at x > 0, `right` their images.
    pub(super) fn mirrored(&mut self, left: u16, right: u16) -> &mut Self {
        (self.mirrored, self.bones) = (true, [left, right]);
        self
    }

    /// From here on strokes have this colour (linear RGB).
    pub(super) fn colour(&mut self, colour: [f32; 3]) -> &mut Self {
        self.colour = colour.into();
        self
    }

    /// Add clay.
    pub(super) fn add(&mut self, shape: Shape, blend: f32) -> &mut Self {
        self.stroke(shape, Mode::Add, blend)
    }

    /// Take clay away.
    pub(super) fn carve(&mut self, shape: Shape, blend: f32) -> &mut Self {
        self.stroke(shape, Mode::Carve, blend)
    }

    /// Keep only the clay inside `shape`.
    pub(super) fn keep(&mut self, shape: Shape, blend: f32) -> &mut Self {
        self.stroke(shape, Mode::Keep, blend)
    }

    fn stroke(&mut self, shape: Shape, mode: Mode, blend: f32) -> &mut Self {
        let Self { mirrored, bones, colour, .. } = *self;
        let shape = shape.placed(self.origin, self.scale);
        self.strokes.push(Stroke { shape, mode, blend, mirrored, bones, colour, bound: shape.bound() });
        self
    }

    /// Signed distance to the surface, negative inside [m]; only near the surface is it a distance.
    pub(super) fn distance(&self, p: Vec3) -> f32 {
        let folded = Vec3::new((p.x * p.x + MIRROR_ROUNDING * MIRROR_ROUNDING).sqrt(), p.y, p.z);
        let mut distance = 1e3;
        for stroke in &self.strokes {
            let p = if stroke.mirrored { folded } else { p };
            match stroke.mode {
                Mode::Add if stroke.matters(p, distance + stroke.blend) => {
                    distance = smooth_min(distance, stroke.shape.distance(p), stroke.blend);
                }
                Mode::Carve if stroke.matters(p, stroke.blend - distance) => {
                    distance = -smooth_min(-distance, stroke.shape.distance(p), stroke.blend);
                }
                Mode::Keep => distance = -smooth_min(-distance, -stroke.shape.distance(p), stroke.blend),
                _ => {}
            }
        }
        distance
    }

    /// Only the strokes that can shape the surface within `reach` of `centre` [m].
    pub(super) fn near(&self, centre: Vec3, reach: f32) -> Self {
        let folded = Vec3::new(centre.x.abs(), centre.y, centre.z);
        let kept = |stroke: &&Stroke| {
            let centre = if stroke.mirrored { folded } else { centre };
            stroke.matters(centre, 2.0 * reach + stroke.blend + MIRROR_ROUNDING)
        };
        Self { strokes: self.strokes.iter().filter(kept).copied().collect(), ..*self }
    }

    /// The distance and its gradient, from four samples at the corners of a small tetrahedron.
    pub(super) fn distance_and_gradient(&self, p: Vec3) -> (f32, Vec3) {
        const STEP: f32 = 3e-4;
        let corners =
            [Vec3::new(1.0, -1.0, -1.0), Vec3::new(-1.0, -1.0, 1.0), Vec3::new(-1.0, 1.0, -1.0), Vec3::ONE];
        let (mut sum, mut slope) = (0.0, Vec3::ZERO);
        for corner in corners {
            let value = self.distance(p + corner * STEP);
            sum += value;
            slope += corner * value;
        }
        (sum * 0.25, slope * (0.25 / STEP))
    }

    /// Bone weights at `p`: every added stroke pulls with its bone, the less the farther it lies beneath the
    /// nearest one, on the scale `softness` [m].
    pub(super) fn bone_weights(&self, p: Vec3, softness: f32) -> BoneWeights {
        let mut pulls: Vec<(u16, f32)> = Vec::new();
        let mut pull = |bone: u16, weight: f32| match pulls.iter_mut().find(|(b, _)| *b == bone) {
            Some((_, sum)) => *sum += weight,
            None => pulls.push((bone, weight)),
        };
        let nearest = self.sides().map(|(shape, ..)| p_distance(&shape, p)).fold(f32::MAX, f32::min);
        for (shape, bone, _) in self.sides() {
            pull(bone, (-(p_distance(&shape, p) - nearest) / softness).exp());
        }
        strongest(&pulls)
    }

    /// Colour at `p`, of the strokes nearest to it, mixed over about `softness` [m].
    pub(super) fn colour_at(&self, p: Vec3, softness: f32) -> Vec3 {
        let nearest = self.sides().map(|(shape, ..)| p_distance(&shape, p)).fold(f32::MAX, f32::min);
        let (sum, weight) = self.sides().fold((Vec3::ZERO, 0.0), |(sum, total), (shape, _, colour)| {
            let weight = (-(p_distance(&shape, p) - nearest) / softness).exp();
            (sum + colour * weight, total + weight)
        });
        sum / weight
    }

    /// The added strokes, mirrored ones twice: shape and side, bone, colour.
    fn sides(&self) -> impl Iterator<Item = ((Shape, bool), u16, Vec3)> + '_ {
        self.strokes.iter().filter(|stroke| stroke.mode == Mode::Add).flat_map(|stroke| {
            let left = ((stroke.shape, false), stroke.bones[0], stroke.colour);
            let right = ((stroke.shape, true), stroke.bones[1], stroke.colour);
            std::iter::once(left).chain(stroke.mirrored.then_some(right))
        })
    }
}

fn p_distance(&(shape, image): &(Shape, bool), p: Vec3) -> f32 {
    shape.distance(if image { Vec3::new(-p.x, p.y, p.z) } else { p })
}

/// The smaller of two distances, rounded where they differ by less than `blend`.
fn smooth_min(a: f32, b: f32, blend: f32) -> f32 {
    if blend <= 0.0 {
        return a.min(b);
    }
    let near = (1.0 - (a - b).abs() / blend).max(0.0);
    a.min(b) - near * near * blend * 0.25
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cones_measure_the_distance_to_the_spheres_they_wrap() {
        let (from, to) = (Vec3::new(0.1, -0.2, 0.05), Vec3::new(0.3, 0.1, -0.1));
        for (start, end) in [(0.05, 0.02), (0.02, 0.09), (0.04, 0.04)] {
            let shape = Shape::Cone { from, to, radii: [start, end] };
            for i in 0..200 {
                let turn = i as f32;
                let p = Vec3::new(0.2 + 0.3 * turn.sin(), 0.4 * (1.7 * turn).cos(), 0.3 * (2.3 * turn).sin());
                let sphere = |t: f32| p.distance(from.lerp(to, t)) - (start + t * (end - start));
                let brute = (0..=20_000).map(|k| sphere(k as f32 / 20_000.0)).fold(f32::MAX, f32::min);
                if brute > 0.0 {
                    assert!(
                        (shape.distance(p) - brute).abs() < 1e-5,
                        "{} against {brute}",
                        shape.distance(p)
                    );
                }
            }
        }
    }

    #[test]
    fn strokes_left_out_far_away_do_not_change_the_surface() {
        let mut s = Sculpt::new([1.0; 3]);
        s.add(sphere([0.0, 0.0, 0.0], 0.1), 0.0);
        s.mirrored(0, 0).add(cone([0.08, 0.0, 0.0], [0.3, 0.1, 0.0], 0.04, 0.02), 0.03);
        s.carve(ellipsoid([0.05, 0.1, 0.0], [0.03, 0.02, 0.05]).turned([0.0, 0.0, 30.0]), 0.02);
        let centre = Vec3::new(-0.09, 0.02, 0.0);
        let local = s.near(centre, 0.05);
        for i in 0..1000 {
            let turn = i as f32;
            let offset = Vec3::new(turn.sin(), (1.3 * turn).sin(), (2.1 * turn).sin()) * 0.028;
            let (full, part) = (s.distance(centre + offset), local.distance(centre + offset));
            assert!((full - part).abs() < 1e-6, "{full} against {part}");
        }
        assert!(s.near(Vec3::new(0.0, 0.0, 0.5), 0.05).strokes.is_empty());
    }
}
