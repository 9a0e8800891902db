//! The end of a step: pinned vertices are where their bodies have them, and no vertex is inside a body. Edges keep their lengths
//! in both.

use glam::{DQuat, DVec3, Vec3};

use super::pack::{Pack, get_vector, set_vector};
use crate::body::Obstacles;
use crate::grid::{Approach, Contact, LooksOf};
use crate::math::Stored;
use crate::scene::Model;
use crate::solve::leaving::resolve;
use crate::solve::lengths::hang_between;

/// Rounds in which a rope leaves the bodies and gets its lengths back.
const ROPE_ROUNDS: usize = 4;
/// Vertices whose clearances are looked up together.
const LOOKS: usize = 16;
/// How much farther a vertex may have come than single precision tells, relatively.
const ROUNDING: f32 = 1e-5;
/// Gap between a pinned vertex and its place that is rounding [m²].
const NO_GAP: f64 = 1.0e-16;

/// What strands must stay out of.
pub(super) struct Surroundings<'a> {
    /// Bodies that collide, if any, and the hair with its radii.
    pub bodies: Option<(&'a Obstacles<'a>, &'a Model)>,
    /// Distance that vertices keep from bodies, beside their radius [m].
    pub margin: f32,
    /// Where the bodies are for what vertices saw of them.
    pub approach: Approach,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// Vertices that bodies pushed.
    pub contacts: u64,
    /// Ropes whose ends are farther apart than they are long.
    pub out_of_reach: u32,
}

impl Outcome {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            contacts: self.contacts + other.contacts,
            out_of_reach: self.out_of_reach + other.out_of_reach,
        }
    }
}

/// One strand on its way out.
struct Strand<'a> {
    points: &'a mut [DVec3],
    /// What they saw of bodies, where they were then.
    sight: &'a Sight,
    /// Lengths of the edges [m].
    lengths: &'a [f64],
    /// Pinned vertices with the places where they are held [m], in order.
    pins: &'a [(usize, DVec3)],
    /// The first vertex that moved, and the last one before which an edge may have turned: what lies behind went along.
    first_moved: usize,
    last_moved: usize,
    /// Whether bodies pushed any.
    pushed: bool,
}

/// What the vertices of a strand saw of bodies.
#[derive(Default)]
struct Sight {
    /// Where they were [m].
    points: Vec<DVec3>,
    /// Their clearances there [m].
    clearances: Vec<f32>,
}

impl<S: Stored> Pack<S> {
    /// Brings pinned vertices where they must be, and all others out of bodies. `looks` has what each vertex saw of the bodies, lane
    /// after lane, or nothing.
    pub(super) fn settle(&mut self, around: &Surroundings<'_>, looks: LooksOf<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let targets = std::mem::take(&mut self.pin_targets);
        let (mut points, mut lengths, mut pins) = (Vec::new(), Vec::new(), Vec::new());
        let mut sight = Sight::default();
        let mut start = 0;
        for (lane, index) in self.lanes() {
            points.clear();
            points.extend(self.positions(lane));
            let end = start + points.len();
            let near = around.bodies.filter(|(bodies, model)| {
                let thickest = model.radii[model.range(index)].iter().copied().fold(0.0, f32::max);
                let reach = thickest + around.margin;
                let free = usize::from(self.is_pinned(lane, 0));
                !looks.part(start + free..end).all_clear(&around.approach, &points[free..], reach)
                    && sight.look(bodies, &points)[free..].iter().any(|&clearance| clearance < reach)
            });
            start = end;
            pins.clear();
            pins.extend(self.is_pinned(lane, 0).then_some((0, points[0])));
            let own = targets.iter().filter(|&&(of, _, _)| of as usize == lane);
            pins.extend(own.map(|&(_, row, target)| (row as usize - self.first, target)));
            if near.is_none() && pins.iter().all(|pin| pin.0 == 0) {
                continue;
            }
            self.lengths(lane, &pins, &mut lengths);
            let mut strand = Strand {
                points: &mut points,
                sight: &sight,
                lengths: &lengths,
                pins: &pins,
                first_moved: usize::MAX,
                last_moved: 0,
                pushed: false,
            };
            outcome.out_of_reach += u32::from(!strand.pin());
            if let Some((bodies, model)) = near {
                let radii = &model.radii[model.range(index)];
                outcome.contacts += self.leave(lane, &mut strand, bodies, radii, around.margin);
            }
            let Strand { first_moved, last_moved, .. } = strand;
            if first_moved < points.len() {
                self.set_points(lane, &points[..=last_moved], first_moved);
            }
        }
        self.pin_targets = targets;
        self.pin_targets.clear();
        outcome
    }

    fn is_pinned(&self, lane: usize, vertex: usize) -> bool {
        self.rest.get(self.first + vertex).is_none_or(|row| row.free_mass.get(lane) <= 0.0)
    }

    /// Lengths of the edges of a strand: as they are, and at rest where a rope is held at both ends [m].
    fn lengths(&self, lane: usize, pins: &[(usize, DVec3)], lengths: &mut Vec<f64>) {
        let last_pin = pins.last().map_or(0, |pin| pin.0);
        let first_pin = pins.first().map_or(usize::MAX, |pin| pin.0);
        let edge = |edge: usize| {
            let row = self.first + edge;
            let between = edge >= first_pin && edge < last_pin;
            if between { self.rest[row].length.get(lane) } else { self.moving[row].length.get(lane) }
        };
        lengths.clear();
        lengths.extend((0..self.counts[lane] as usize - 1).map(edge));
    }

    /// Takes a strand out of the bodies. Returns how many vertices were pushed.
    fn leave(
        &mut self,
        lane: usize,
        strand: &mut Strand<'_>,
        bodies: &Obstacles<'_>,
        radii: &[f32],
        margin: f32,
    ) -> u64 {
        let mut contacts = 0;
        match (strand.pins.first(), strand.pins.last()) {
            (Some(&(first, _)), Some(&(last, _))) => {
                // What hangs free before the first pin follows it, as what is behind the last one does.
                for vertex in (0..first).rev() {
                    let reach = radii[vertex] + margin;
                    contacts += u64::from(self.leave_along(lane, strand, bodies, vertex, vertex + 1, reach));
                }
                contacts += leave_between_pins(strand, bodies, radii, margin);
                contacts += self.leave_from(lane, strand, bodies, radii, margin, last);
            }
            _ => {
                contacts += self.push_root(lane, strand, bodies, radii[0] + margin);
                contacts += self.leave_from(lane, strand, bodies, radii, margin, 0);
            }
        }
        contacts
    }

    /// Takes all vertices behind one out of the bodies. Returns how many were pushed.
    fn leave_from(
        &mut self,
        lane: usize,
        strand: &mut Strand<'_>,
        bodies: &Obstacles<'_>,
        radii: &[f32],
        margin: f32,
        behind: usize,
    ) -> u64 {
        let mut contacts = 0;
        for (vertex, radius) in radii.iter().enumerate().skip(behind + 1) {
            let reach = radius + margin;
            contacts += u64::from(self.leave_along(lane, strand, bodies, vertex, vertex - 1, reach));
        }
        contacts
    }

    /// Takes a vertex out of the bodies, its distance from its neighbour kept. Tells whether it was pushed.
    fn leave_along(
        &mut self,
        lane: usize,
        strand: &mut Strand<'_>,
        bodies: &Obstacles<'_>,
        vertex: usize,
        neighbour: usize,
        reach: f32,
    ) -> bool {
        if self.is_pinned(lane, vertex) {
            return false;
        }
        let leader = strand.points[neighbour];
        let length = strand.lengths[vertex.min(neighbour)];
        if strand.pushed {
            let edge = strand.points[vertex] - leader;
            strand.points[vertex] = leader + edge.normalize_or(DVec3::NEG_Y) * length;
            strand.note(vertex);
        }
        if strand.is_clear(vertex, bodies, reach) {
            return false;
        }
        let edge = strand.points[vertex] - leader;
        let Some(touch) = resolve(bodies, leader.as_vec3(), edge.as_vec3(), reach) else { return false };
        let edge = touch.edge.as_dvec3().normalize_or(edge / length) * length;
        strand.points[vertex] = leader + edge;
        strand.note(vertex);
        strand.pushed = true;
        let contact = Contact {
            distance: 0.0,
            normal: touch.normal,
            velocity: touch.velocity,
            friction: touch.friction,
        };
        self.stop(lane, vertex, &contact);
        true
    }

    /// Takes from the velocity of a vertex what leads into a body.
    fn stop(&mut self, lane: usize, vertex: usize, contact: &Contact) {
        let moving = &mut self.moving[self.first + vertex];
        let velocity = contact.stopped(get_vector(&moving.velocity, lane).as_vec3());
        set_vector(&mut moving.velocity, lane, velocity.as_dvec3());
    }

    /// Takes the first vertex of a strand that is free there out of the bodies, and the strand along.
    fn push_root(&mut self, lane: usize, strand: &mut Strand<'_>, bodies: &Obstacles<'_>, reach: f32) -> u64 {
        let Some((body, sample)) = bodies.nearest(strand.points[0].as_vec3()) else { return 0 };
        if sample.distance >= reach {
            return 0;
        }
        let shift = (sample.normal * (reach - sample.distance)).as_dvec3();
        strand.points[0] += shift;
        strand.note(0);
        strand.pushed = true;
        let friction = bodies.body(body).friction;
        let contact = Contact { distance: 0.0, normal: sample.normal, velocity: sample.velocity, friction };
        self.stop(lane, 0, &contact);
        1
    }

    /// Turns the edges of a strand so that its vertices are at `points`, from the vertex `first` on; directors go along.
    fn set_points(&mut self, lane: usize, points: &[DVec3], first: usize) {
        if first == 0 {
            self.roots[lane] = points[0];
        }
        for vertex in first.max(1)..points.len() {
            let moving = &mut self.moving[self.first + vertex - 1];
            let old = get_vector(&moving.tangent, lane).normalize();
            let edge = points[vertex] - points[vertex - 1];
            let new = edge.normalize_or(old);
            let director = DQuat::from_rotation_arc(old, new) * get_vector(&moving.director, lane);
            set_vector(&mut moving.tangent, lane, new);
            let across = director.reject_from_normalized(new).normalize_or(new.any_orthonormal_vector());
            set_vector(&mut moving.director, lane, across);
            moving.length.set(lane, edge.length());
        }
    }
}

impl Sight {
    /// Looks at the bodies from all points of a strand; gives the clearances.
    fn look(&mut self, bodies: &Obstacles<'_>, points: &[DVec3]) -> &[f32] {
        self.points.clear();
        self.points.extend_from_slice(points);
        self.clearances.resize(points.len(), 0.0);
        for (points, clearances) in points.chunks(LOOKS).zip(self.clearances.chunks_mut(LOOKS)) {
            let mut look = [[0.0f32; LOOKS]; 3];
            let [xs, ys, zs] = &mut look;
            for (at, point) in points.iter().enumerate() {
                (xs[at], ys[at], zs[at]) = point.as_vec3().into();
            }
            let count = points.len();
            bodies.clearance_batch(&xs[..count], &ys[..count], &zs[..count], clearances);
        }
        &self.clearances
    }
}

/// Takes ropes between pins out of the bodies: pushes and lengths take turns, and lengths have the last word. Returns how often a
/// vertex was pushed.
fn leave_between_pins(strand: &mut Strand<'_>, bodies: &Obstacles<'_>, radii: &[f32], margin: f32) -> u64 {
    let mut contacts = 0;
    let ropes: Vec<(usize, usize)> =
        strand.pins.windows(2).map(|pair| (pair[0].0, pair[1].0)).filter(|(a, b)| b - a > 1).collect();
    for (a, b) in ropes {
        for _ in 0..ROPE_ROUNDS {
            let pushed = (a + 1..b).filter(|&i| push(strand, i, bodies, radii[i] + margin)).count();
            if pushed == 0 {
                break;
            }
            contacts += pushed as u64;
            hang_between(&mut strand.points[a..=b], &strand.lengths[a..b]);
        }
    }
    contacts
}

/// Pushes a vertex of a rope to the nearest surface where it is inside; tells whether it was.
fn push(strand: &mut Strand<'_>, vertex: usize, bodies: &Obstacles<'_>, reach: f32) -> bool {
    if strand.is_clear(vertex, bodies, reach) {
        return false;
    }
    let Some((_, sample)) = bodies.nearest(strand.points[vertex].as_vec3()) else { return false };
    let out: Vec3 = sample.normal * (reach - sample.distance).max(0.0);
    strand.points[vertex] += out.as_dvec3();
    strand.note(vertex);
    sample.distance < reach
}

impl Strand<'_> {
    /// Notes that a vertex moved, and not with the one before it.
    fn note(&mut self, vertex: usize) {
        self.first_moved = self.first_moved.min(vertex);
        // The edge behind it turned as well.
        self.last_moved = self.last_moved.max((vertex + 1).min(self.points.len() - 1));
    }

    /// Whether a vertex is farther from all bodies than `reach` [m]: by what it saw, where that is enough, since no distance changes faster
    /// than the place.
    fn is_clear(&self, vertex: usize, bodies: &Obstacles<'_>, reach: f32) -> bool {
        let way = self.points[vertex].distance(self.sight.points[vertex]) as f32;
        self.sight.clearances[vertex] - way * (1.0 + ROUNDING) >= reach
            || bodies.clearance(self.points[vertex].as_vec3()) >= reach
    }

    /// Brings pinned vertices where they must be: what lies between two gets its lengths back, what hangs free goes along. Tells
    /// whether all ends are within reach of each other.
    fn pin(&mut self) -> bool {
        let (mut last, mut within) = (None, true);
        for index in 0..self.pins.len() {
            let (vertex, target) = self.pins[index];
            let gap = target - self.points[vertex];
            if gap.length_squared() > NO_GAP {
                self.first_moved = self.first_moved.min(last.map_or(0, |last| last + 1));
                self.last_moved = vertex;
                let along = if last.is_none() { 0..vertex } else { vertex..vertex };
                self.points[along].iter_mut().for_each(|point| *point += gap);
                self.points[vertex..].iter_mut().for_each(|point| *point += gap);
            }
            if let Some(last) = last.filter(|&last| vertex > last + 1) {
                within &= hang_between(&mut self.points[last..=vertex], &self.lengths[last..vertex]);
                self.first_moved = self.first_moved.min(last + 1);
                self.last_moved = vertex;
            }
            last = Some(vertex);
        }
        within
    }
}
