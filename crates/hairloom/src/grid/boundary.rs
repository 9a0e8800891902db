use std::ops::Range;

use glam::{DVec3, Mat3, Vec3};
use rayon::prelude::*;

use super::{GridError, Particles};
use crate::body::{Obstacles, Sample};
use crate::math::Pose;
use crate::math::lanes::{Kernel, Lane, Row, dispatch};

/// Particles whose clearances are looked up together.
const LOOKS: usize = 64;
/// How much farther a particle may have come than single precision tells, relatively.
const ROUNDING: f32 = 1e-5;

/// A solid near a point, where it is at the end of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Signed distance to its surface [m], negative inside.
    pub distance: f32,
    /// Outward unit normal; zero deep inside, where it does not matter: what is there goes along with the solid.
    pub normal: Vec3,
    /// Velocity of the solid there [m/s].
    pub velocity: Vec3,
    /// Coulomb coefficient of friction; infinite where nothing slides.
    pub friction: f32,
}

impl Contact {
    /// `velocity` [m/s] of a node, so that within a step [s] it does not go through the surface, or no deeper if it was
    /// inside before. The impulse that stops it brings as much friction as Coulomb's law allows.
    pub fn bounded(&self, velocity: Vec3, dt: f32) -> Vec3 {
        let gap_before = self.distance + self.velocity.dot(self.normal) * dt;
        self.held(velocity, -gap_before.max(0.0) / dt)
    }

    /// `velocity` [m/s] of a point on the surface or inside: what leads farther in is stopped.
    pub fn stopped(&self, velocity: Vec3) -> Vec3 {
        self.held(velocity, 0.0)
    }

    /// Holds the normal velocity, relative to the solid, at `least` [m/s] or more.
    fn held(&self, velocity: Vec3, least: f32) -> Vec3 {
        if self.normal == Vec3::ZERO {
            return self.velocity;
        }
        let relative = velocity - self.velocity;
        let normal = relative.dot(self.normal);
        if normal >= least {
            return velocity;
        }
        let slip = relative - self.normal * normal;
        let speed = slip.length();
        let kept = if speed > 0.0 { (1.0 - self.friction * (least - normal) / speed).max(0.0) } else { 0.0 };
        self.velocity + slip * kept + self.normal * least
    }
}

/// Solids that nodes and particles stay out of, where they are at the end of the step.
pub trait Boundary: Sync {
    /// Visits every solid that may be near a point. Near an edge between two solids both count: a node that lies outside
    /// of one and inside of the other must obey both.
    fn contacts(&self, point: Vec3, visit: &mut dyn FnMut(Contact));

    /// A cheap lower bound of the distance to any solid [m].
    fn clearance(&self, point: Vec3) -> f32;

    /// The clearance of many points, by coordinate.
    fn clearances(&self, [xs, ys, zs]: [&[f32]; 3], out: &mut [f32]) {
        for (((&x, &y), &z), out) in xs.iter().zip(ys).zip(zs).zip(out) {
            *out = self.clearance(Vec3::new(x, y, z));
        }
    }

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        false
    }
}

/// No solids at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Boundary for Nothing {
    fn contacts(&self, _: Vec3, _: &mut dyn FnMut(Contact)) {}

    fn clearance(&self, _: Vec3) -> f32 {
        f32::INFINITY
    }

    fn is_empty(&self) -> bool {
        true
    }
}

impl Obstacles<'_> {
    /// What a point has of one body.
    pub(crate) fn contact(&self, index: usize, point: Vec3) -> Contact {
        let Sample { distance, normal, velocity } = self.sample(index, point);
        Contact { distance, normal, velocity, friction: self.body(index).friction }
    }
}

impl Boundary for Obstacles<'_> {
    fn contacts(&self, point: Vec3, visit: &mut dyn FnMut(Contact)) {
        for index in self.collider_indices() {
            visit(self.contact(index, point));
        }
    }

    fn clearance(&self, point: Vec3) -> f32 {
        Obstacles::clearance(self, point)
    }

    fn clearances(&self, [xs, ys, zs]: [&[f32]; 3], out: &mut [f32]) {
        self.clearance_batch(xs, ys, zs, out);
    }

    fn is_empty(&self) -> bool {
        !self.any_collides()
    }
}

/// How solids have come since particles last looked at them.
#[derive(Debug, Clone, Copy)]
pub struct Approach {
    /// Where a frame is now that goes along with them: the body's, where there is one.
    pub frame: Pose,
    /// The farthest that any point of the solids' surfaces has moved within the frame since the last look [m]; infinite where
    /// that is not known.
    pub shift: f32,
}

impl Approach {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { frame: Pose::IDENTITY, shift: f32::INFINITY };

    /// The coordinates of a point within the frame [m].
    #[inline(always)]
    pub fn local(&self, inverse: &Mat3, point: DVec3) -> Vec3 {
        *inverse * (point - self.frame.translation).as_vec3()
    }

    /// The inverse of the frame's turn.
    pub fn inverse(&self) -> Mat3 {
        Mat3::from_quat(self.frame.rotation.as_quat()).transpose()
    }
}

/// What particles saw of the solids when they last looked, by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looks {
    /// Where they were within the frame of an [`Approach`] [m].
    places: [Vec<f32>; 3],
    /// Their clearances then, less what the solids may have come nearer since [m].
    clearances: Vec<f32>,
}

/// A part of [`Looks`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LooksOf<'a> {
    places: [&'a [f32]; 3],
    clearances: &'a [f32],
}

/// A part of [`Looks`] to be written.
struct LooksMut<'a> {
    places: [&'a mut [f32]; 3],
    clearances: &'a mut [f32],
}

impl Looks {
    /// What particles saw that are looked up together.
    fn chunks(&mut self) -> impl IndexedParallelIterator<Item = LooksMut<'_>> {
        let Self { places: [x, y, z], clearances } = self;
        let places = x.par_chunks_mut(LOOKS).zip(y.par_chunks_mut(LOOKS)).zip(z.par_chunks_mut(LOOKS));
        let looks = places.zip(clearances.par_chunks_mut(LOOKS));
        looks.map(|(((x, y), z), clearances)| LooksMut { places: [x, y, z], clearances })
    }

    fn resize(&mut self, particles: usize) {
        self.places.iter_mut().for_each(|axis| axis.resize(particles, 0.0));
        self.clearances.resize(particles, f32::NEG_INFINITY);
    }

    /// What all particles saw; nothing where none has looked.
    pub(crate) fn all(&self) -> LooksOf<'_> {
        let [x, y, z] = &self.places;
        LooksOf { places: [x, y, z], clearances: &self.clearances }
    }
}

impl<'a> LooksOf<'a> {
    /// Whether all particles, which are at these positions [m] now, are farther from the solids than `reach` [m] for sure.
    pub(crate) fn all_clear(&self, approach: &Approach, positions: &[DVec3], reach: f32) -> bool {
        let inverse = approach.inverse();
        let [x, y, z] = self.places;
        !self.clearances.is_empty()
            && positions.iter().enumerate().all(|(at, &position)| {
                let way = approach.local(&inverse, position) - Vec3::new(x[at], y[at], z[at]);
                self.clearances[at] - way.length() * (1.0 + ROUNDING) >= reach
            })
    }

    /// What some of them saw, one after the other; nothing where none has looked.
    pub(crate) fn part(&self, range: Range<usize>) -> LooksOf<'a> {
        match self.clearances.get(range.clone()) {
            Some(clearances) => Self { places: self.places.map(|axis| &axis[range.clone()]), clearances },
            None => Self::default(),
        }
    }
}

/// Solids that particles leave.
#[derive(Clone, Copy)]
pub(crate) struct Solids<'a> {
    pub boundary: &'a dyn Boundary,
    /// Distance that particles keep from them [m].
    pub margin: f32,
    pub approach: &'a Approach,
}

/// What came of some particles: how many solids moved, and the first whose velocity is no number.
type Went = (u64, usize);

impl Particles {
    /// Every particle takes what its slot has for it, and moves on for `dt` [s]. Then every one that is not pinned to at least `margin` [m] outside of all solids, and takes from its
    /// velocity what would lead back in. Nodes alone leave particles about half a cell inside. Particles that cannot have
    /// come near since they last looked do not look again. Returns how many were moved.
    pub(super) fn move_on(
        &mut self,
        motions: &[Row],
        solids: &Solids<'_>,
        dt: f32,
    ) -> Result<u64, GridError> {
        let boundary = solids.boundary;
        let columns = self.positions.par_chunks_mut(LOOKS).zip(self.velocities.par_chunks_mut(LOOKS));
        let columns = columns.zip(self.slots.par_chunks(LOOKS)).enumerate().with_min_len(4);
        let go = |chunk: usize, positions: &mut [DVec3], velocities: &mut [Vec3], slots: &[u32]| {
            let lost = hand_out(positions, velocities, slots, motions, dt);
            lost.map_or(usize::MAX, |lost| chunk * LOOKS + lost)
        };
        let (moved, lost) = if boundary.is_empty() {
            let went = columns.map(|(chunk, ((positions, velocities), slots))| {
                (0, go(chunk, positions, velocities, slots))
            });
            went.reduce(|| (0, usize::MAX), both)
        } else {
            self.looks.resize(self.slots.len());
            let (points, looks) = (&self.points, &mut self.looks);
            let went = columns.zip(looks.chunks()).map(|((chunk, columns), looks)| {
                let ((positions, velocities), slots) = columns;
                let lost = go(chunk, positions, velocities, slots);
                let pinned = |at: usize| points[slots[at] as usize].is_pinned();
                (leave(solids, positions, velocities, looks, pinned), lost)
            });
            went.reduce(|| (0, usize::MAX), both)
        };
        if lost == usize::MAX {
            Ok(moved)
        } else {
            Err(GridError::NotFinite { particle: lost, quantity: "velocity" })
        }
    }
    /// What particles saw when they last looked.
    pub(crate) fn looks(&self) -> &Looks {
        &self.looks
    }
}

fn both(one: Went, other: Went) -> Went {
    (one.0 + other.0, one.1.min(other.1))
}

/// Some particles take what their slots have for them; gives the first whose velocity is no number.
fn hand_out(
    positions: &mut [DVec3],
    velocities: &mut [Vec3],
    slots: &[u32],
    motions: &[Row],
    dt: f32,
) -> Option<usize> {
    let (step, mut lost) = (f64::from(dt), None);
    for (at, ((position, velocity), &slot)) in positions.iter_mut().zip(velocities).zip(slots).enumerate() {
        let Row([x, y, z, _, dx, dy, dz, _]) = motions[slot as usize];
        let pace = Vec3::new(dx, dy, dz);
        *position += pace.as_dvec3() * step;
        *velocity = Vec3::new(x, y, z);
        if !(pace.length_squared() + velocity.length_squared()).is_finite() && lost.is_none() {
            lost = Some(at);
        }
    }
    lost
}

/// Some particles leave the solids; gives how many were moved.
fn leave(
    solids: &Solids<'_>,
    positions: &mut [DVec3],
    velocities: &mut [Vec3],
    looks: LooksMut<'_>,
    pinned: impl Fn(usize) -> bool,
) -> u64 {
    let &Solids { boundary, margin, approach } = solids;
    let LooksMut { places, clearances } = looks;
    let (mut near, mut moved) = ([0u32; LOOKS], 0);
    let scan = Scan { positions, places, clearances: &mut *clearances, margin, approach, near: &mut near };
    let count = dispatch(scan);
    look_again(boundary, positions, &near[..count], clearances);
    for at in near[..count].iter().map(|&at| at as usize) {
        if clearances[at] < margin && !pinned(at) {
            let distance = push_out(boundary, &mut positions[at], &mut velocities[at], margin);
            moved += u64::from(distance < margin);
            // The clearance of a mesh is far too low near its surface; not all of the distance, since a
            // field of distances has its errors.
            clearances[at] = clearances[at].max(0.8 * distance);
        }
    }
    moved
}

/// Finds those particles that may have come near, and where they are now within the frame; gives how many there are, and which in
/// `near`.
struct Scan<'a> {
    positions: &'a [DVec3],
    places: [&'a mut [f32]; 3],
    clearances: &'a mut [f32],
    margin: f32,
    approach: &'a Approach,
    near: &'a mut [u32; LOOKS],
}

impl Kernel for Scan<'_> {
    type Output = usize;

    #[allow(clippy::needless_range_loop, reason = "eight columns side by side")]
    #[inline(always)]
    fn run<L: Lane>(self) -> usize {
        let count = self.positions.len().min(LOOKS);
        let origin = self.approach.frame.translation;
        let (mut here, mut sure) = ([[0.0f32; LOOKS]; 3], [0.0f32; LOOKS]);
        let [x, y, z] = &mut here;
        for (at, position) in self.positions[..count].iter().enumerate() {
            x[at] = (position.x - origin.x) as f32;
            y[at] = (position.y - origin.y) as f32;
            z[at] = (position.z - origin.z) as f32;
        }
        let Mat3 { x_axis: a, y_axis: b, z_axis: c } = self.approach.inverse();
        let [px, py, pz] = self.places;
        let (px, py, pz) = (&mut px[..count], &mut py[..count], &mut pz[..count]);
        let clearances = &mut self.clearances[..count];
        for at in 0..count {
            let (u, v, w) = (x[at], y[at], z[at]);
            x[at] = a.x * u + b.x * v + c.x * w;
            y[at] = a.y * u + b.y * v + c.y * w;
            z[at] = a.z * u + b.z * v + c.z * w;
            let (dx, dy, dz) = (x[at] - px[at], y[at] - py[at], z[at] - pz[at]);
            clearances[at] -= self.approach.shift;
            sure[at] = clearances[at] - (dx * dx + dy * dy + dz * dz).sqrt() * (1.0 + ROUNDING);
        }
        let mut found = 0;
        for (at, &sure) in sure[..count].iter().enumerate() {
            // What is no number looks again.
            if sure >= self.margin {
                continue;
            }
            (px[at], py[at], pz[at]) = (x[at], y[at], z[at]);
            self.near[found] = at as u32;
            found += 1;
        }
        found
    }
}

/// Finds the clearances of some of the particles.
fn look_again(boundary: &dyn Boundary, positions: &[DVec3], near: &[u32], clearances: &mut [f32]) {
    let (count, mut sight) = (near.len(), [[0.0f32; LOOKS]; 4]);
    let [xs, ys, zs, found] = &mut sight;
    for (at, &particle) in near.iter().enumerate() {
        (xs[at], ys[at], zs[at]) = positions[particle as usize].as_vec3().into();
    }
    boundary.clearances([&xs[..count], &ys[..count], &zs[..count]], &mut found[..count]);
    for (&particle, &clearance) in near.iter().zip(&*found) {
        clearances[particle as usize] = clearance;
    }
}

/// Moves one particle out of all solids; gives the distance to the nearest that it had [m].
fn push_out(boundary: &dyn Boundary, position: &mut DVec3, velocity: &mut Vec3, margin: f32) -> f32 {
    let mut nearest = f32::INFINITY;
    boundary.contacts(position.as_vec3(), &mut |contact| {
        if contact.distance < margin {
            *position += (contact.normal * (margin - contact.distance)).as_dvec3();
            *velocity = contact.stopped(*velocity);
        }
        nearest = nearest.min(contact.distance);
    });
    nearest
}
