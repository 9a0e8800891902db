use glam::{Vec2, Vec3};

use super::roots::Place;
use super::skin::Skin;
use super::{Style, Surface, spherical_uv};
use crate::math::Random;

/// Distance that strands keep from the skin [m], a little more than the millimetre promised.
pub(super) const CLEARANCE: f32 = 1.3e-3;

/// Vertices of the way that a strand takes, before curls.
const MOST_STEPS: usize = 48;

/// The least part of their length that strands have where hair grows thinly.
const SHORTEST: f32 = 0.1;

/// How the clearance grows from nothing at the root, per metre of arc length.
const RISE: f32 = 0.7;

/// The frame of the scalp, and what the style does in it.
pub(super) struct Head<'a> {
    surface: &'a Surface,
    skin: &'a Skin<'a>,
    style: &'a Style,
    middle: Vec3,
    half: Vec3,
    front: Vec3,
    side: Vec3,
    tie: Option<Knot>,
}

/// Where a ponytail is tied.
struct Knot {
    point: Vec3,
    axis: Vec3,
    radius: f32,
}

/// The way that a strand takes, before locks and curls.
pub(super) struct Path {
    pub(super) points: Vec<Vec3>,
    /// Arc length that the strand shall have, curls included [m].
    pub(super) length: f32,
    /// Strands with different groups share no lock: the side of the parting, and whether it is of the bangs.
    pub(super) group: (f32, bool),
    pub(super) random: Random,
}

impl<'a> Head<'a> {
    pub(super) fn new(surface: &'a Surface, skin: &'a Skin<'a>, style: &'a Style, places: &[Place]) -> Self {
        let (low, high) = places.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), place| {
            (low.min(place.point), high.max(place.point))
        });
        let front = (surface.front * Vec3::new(1.0, 0.0, 1.0)).normalize_or(Vec3::Z);
        let side = Vec3::Y.cross(front);
        let middle = (low + high) / 2.0;
        let size = (high - low) / 2.0;
        let along = |axis: Vec3| size.dot(axis.abs()).max(1e-6);
        let half = Vec3::new(along(side), along(Vec3::Y), along(front));
        let mut head = Self { surface, skin, style, middle, half, front, side, tie: None };
        head.tie = style.tie.map(|tie| head.knot(tie.elevation.to_radians(), tie.radius));
        head
    }

    fn knot(&self, elevation: f32, radius: f32) -> Knot {
        let (sin, cos) = elevation.sin_cos();
        let axis = Vec3::Y * sin - self.front * cos;
        let far = 4.0 * self.half.max_element() + 0.1;
        let on_skin = self.skin.hit(self.middle + axis * far, -axis, 2.0 * far).unwrap_or(self.middle);
        Knot { point: on_skin + axis * (radius + 0.004), axis, radius }
    }

    /// A place on the scalp: sideways, up and forwards, each from -1 to 1.
    fn relative(&self, point: Vec3) -> Vec3 {
        let offset = point - self.middle;
        Vec3::new(offset.dot(self.side), offset.y, offset.dot(self.front)) / self.half
    }

    pub(super) fn spherical(&self, point: Vec3) -> Vec2 {
        spherical_uv(point - self.middle, self.front)
    }

    /// An offset that keeps strands of different groups from being taken for neighbours [m].
    pub(super) fn apart(&self, (sign, bangs): (f32, bool)) -> Vec3 {
        self.side * (0.05 * sign) + self.front * if bangs { 0.2 } else { 0.0 }
    }

    /// Grows one strand from its place on the skin.
    pub(super) fn path(&self, place: &Place, mut random: Random) -> Path {
        let style = self.style;
        let relative = self.relative(place.point);
        let bangs = style.bangs.filter(|bangs| {
            // A little noise hides the border.
            let noise = 0.06 * random.signed();
            relative.z > 1.0 - 2.0 * bangs.depth + noise && relative.x.abs() < bangs.width + noise
        });
        let sign = (relative.x - style.comb.parting + 0.02 * random.signed()).signum();
        // The parting ends at the crown; behind it hair falls backwards.
        let sign = sign * (1.2 + 2.0 * relative.z).clamp(0.0, 1.0);
        let whole = bangs.map_or(style.length, |bangs| bangs.length);
        // Hair thins out to nothing at the border of a mask, but a strand needs a length.
        let thin = (1.0 - style.taper * (1.0 - self.surface.density_of(place))).max(SHORTEST);
        let length = whole * thin * (1.0 - style.length_variation * random.unit());
        let (comb, reach) = match bangs {
            Some(_) => (self.front + 0.25 * relative.x * self.side, 0.4 * style.comb.reach),
            None => (self.comb(place, sign), style.comb.reach),
        };
        // Strands from above lie on those from below.
        let layer = 0.65 * (0.5 + 0.5 * relative.y).clamp(0.0, 1.0) + 0.35 * random.unit();
        // No step at the parting.
        let inner = 0.35 + 0.65 * ((relative.x - style.comb.parting).abs() / 0.3).min(1.0);
        let clearance = CLEARANCE + style.volume * layer * inner;
        let steps = (style.vertices as usize - 1).clamp(8, MOST_STEPS);
        let step = axis_length(style, length) / steps as f32;
        let points = match &self.tie {
            Some(knot) => self.tied(place, knot, clearance, step, steps, &mut random),
            None => self.fallen(place, (comb, reach), clearance, step, steps, &mut random),
        };
        Path { points, length, group: (sign, bangs.is_some()), random }
    }

    fn comb(&self, place: &Place, sign: f32) -> Vec3 {
        let hint = self.surface.comb_at(place);
        if hint.length_squared() > 1e-12 {
            return hint;
        }
        self.side * (sign * self.style.comb.side) - self.front * self.style.comb.back
    }

    /// The first direction: between flat along `heading` and straight along the normal.
    fn start(&self, place: &Place, heading: Vec3, random: &mut Random) -> Vec3 {
        let normal = self.skin.normal(place.triangle, place.weights);
        let flat = heading.reject_from_normalized(normal).normalize_or_zero();
        let lift = self.style.lift;
        let direction =
            flat * (1.0 - lift) + normal * lift.max(0.05) + self.style.scatter * random.direction();
        direction.normalize_or(normal)
    }

    /// Combed first, then falling.
    fn fallen(
        &self,
        place: &Place,
        (comb, reach): (Vec3, f32),
        clearance: f32,
        step: f32,
        steps: usize,
        random: &mut Random,
    ) -> Vec<Vec3> {
        let style = self.style;
        let aim = |arc: f32| {
            let combed = (-arc / reach).exp();
            (comb * combed + Vec3::NEG_Y * (1.15 - combed)).normalize_or(Vec3::NEG_Y)
        };
        let turn = 1.0 - (-step * style.droop).exp();
        let mut direction = self.start(place, comb + 0.35 * Vec3::NEG_Y, random);
        let mut points = vec![place.point];
        for k in 1..=steps {
            let (start, arc) = (points[k - 1], k as f32 * step);
            let wander = style.scatter * turn * random.direction();
            direction = (direction.lerp(aim(arc), turn) + wander).normalize_or(direction);
            let end = self.skin.advance(start, direction * step, clearance.min(RISE * arc));
            direction = (end - start).normalize_or(direction);
            points.push(end);
        }
        points
    }

    /// Drawn tight over the skin to the knot, through it, then falling.
    fn tied(
        &self,
        place: &Place,
        knot: &Knot,
        clearance: f32,
        step: f32,
        steps: usize,
        random: &mut Random,
    ) -> Vec<Vec3> {
        // Strands keep their side of the bundle, so that they do not cross in the knot.
        let spoke = (place.point - knot.point).reject_from_normalized(knot.axis).normalize_or(self.side);
        let spoke = (spoke + 0.5 * random.direction()).reject_from_normalized(knot.axis);
        let spoke = spoke.normalize_or(self.side) * (knot.radius * random.unit().sqrt());
        let entry = knot.point + spoke;
        let turn = 1.0 - (-step * self.style.droop).exp();
        let tight = (2.0 * turn).clamp(0.3, 1.0);
        let mut direction = self.start(place, entry - place.point, random);
        let mut points = vec![place.point];
        let mut tail: Option<Tail> = None;
        for k in 1..=steps {
            let start = points[k - 1];
            let way = entry - start;
            if tail.is_none() && (way.length() < step || (way.length() < 0.03 && way.dot(direction) < 0.0)) {
                tail = Some(Tail { middle: knot.point, direction: knot.axis, arc: 0.0 });
            }
            direction = match &mut tail {
                Some(tail) => {
                    tail.advance(step, 0.6 * turn);
                    let target = tail.place(knot, spoke) + self.style.scatter * step * random.direction();
                    (target - start).normalize_or(direction)
                }
                None => direction.lerp(way.normalize_or(direction), tight).normalize_or(direction),
            };
            let arc = k as f32 * step;
            let end = self.skin.advance(start, direction * step, clearance.min(RISE * arc));
            direction = (end - start).normalize_or(direction);
            points.push(end);
        }
        points
    }
}

/// How far along the middle of a ponytail a strand has come.
struct Tail {
    middle: Vec3,
    direction: Vec3,
    arc: f32,
}

impl Tail {
    fn advance(&mut self, step: f32, turn: f32) {
        self.direction = self.direction.lerp(Vec3::NEG_Y, turn).normalize_or(Vec3::NEG_Y);
        self.middle += self.direction * step;
        self.arc += step;
    }

    /// The place of a strand in the bundle: its offset in the knot, turned along with the tail, and swelling
    /// where the knot lets go.
    fn place(&self, knot: &Knot, spoke: Vec3) -> Vec3 {
        let swell = 1.0 + 0.8 * (self.arc / 0.1).min(1.0);
        self.middle + glam::Quat::from_rotation_arc(knot.axis, self.direction) * spoke * swell
    }
}

/// Arc length of the axis that a strand of `length` winds around [m], with a little to spare for what locks
/// and pushing out take away.
fn axis_length(style: &Style, length: f32) -> f32 {
    let curl = &style.curl;
    if curl.radius == 0.0 {
        return length;
    }
    let slope = std::f32::consts::TAU * curl.radius / curl.pitch;
    let stretch = (1.0 + slope * slope).sqrt();
    let spare = 1.1 + 0.7 * curl.jitter;
    (spare * (length + curl.onset * (stretch - 1.0)) / stretch).min(length * 1.05)
}
