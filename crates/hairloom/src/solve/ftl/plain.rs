//! The method as one would first write it: one strand after the other, one vertex after the other, in `f32`.
//!
//! It holds the lane version to account: tests compare the two, and `hairloom bench ftl` their speed.

use glam::Vec3;

use super::Params;
use super::project::TRUST;
use crate::body::Obstacles;
use crate::solve::leaving::{Touch, after_touch, resolve};

/// One strand, held at its first vertex.
#[derive(Debug, Clone, Default)]
pub struct Strand {
    /// Positions of the vertices [m].
    pub positions: Vec<Vec3>,
    /// Velocities that the next prediction starts from [m/s].
    pub velocities: Vec<Vec3>,
    /// Velocities that the last step really moved with [m/s].
    pub moves: Vec<Vec3>,
    /// Rest length of the edge behind each vertex [m]; the tip's is not used.
    pub lengths: Vec<f32>,
    /// Distance kept from bodies [m].
    pub radius: f32,
    ahead: Vec<Ahead>,
    scratch: Scratch,
}

/// Arrays of one step, kept for their memory.
#[derive(Debug, Clone, Default)]
struct Scratch {
    wanted: Vec<Vec3>,
    new: Vec<Vec3>,
    corrections: Vec<Vec3>,
    touches: Vec<Option<Touch>>,
}

/// What lies where a vertex is heading.
#[derive(Debug, Clone, Copy)]
struct Ahead {
    heading: Vec3,
    /// How far the vertex may stray from its heading without a look at the bodies [m].
    room: f32,
    /// A tangent plane close by: gap beyond the distance to be kept, normal, velocity and friction of the body.
    plane: Option<(f32, Vec3, Vec3, f32)>,
}

/// What acts on the strand during a step.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Duration [s].
    pub dt: f32,
    /// Where the root goes [m].
    pub root: Vec3,
    /// Acceleration of gravity [m/s²].
    pub gravity: Vec3,
    /// Bodies to stay out of.
    pub bodies: Option<&'a Obstacles<'a>>,
}

impl Strand {
    /// A strand at rest.
    pub fn new(positions: Vec<Vec3>, lengths: Vec<f32>, radius: f32) -> Self {
        let still = vec![Vec3::ZERO; positions.len()];
        Self {
            velocities: still.clone(),
            moves: still,
            positions,
            lengths,
            radius,
            ahead: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Looks how far the bodies are from where the vertices are heading: a stage of its own, before the step.
    pub fn look_ahead(&mut self, step: &Step<'_>) {
        self.ahead.clear();
        let Some(bodies) = step.bodies else { return };
        for (&position, &velocity) in self.positions.iter().zip(&self.moves) {
            let heading = position + velocity * step.dt;
            let mut ahead = Ahead { heading, room: bodies.clearance(heading) - self.radius, plane: None };
            if ahead.room < 2.0 * TRUST
                && let Some((body, sample)) = bodies.nearest(heading)
            {
                ahead.room = sample.distance - self.radius;
                if ahead.room < 2.0 * TRUST {
                    let friction = bodies.body(body).friction;
                    ahead.plane = Some((ahead.room, sample.normal, sample.velocity, friction));
                    ahead.room = TRUST;
                }
            }
            self.ahead.push(ahead);
        }
    }

    /// One step of dynamic follow-the-leader.
    pub fn step(&mut self, step: &Step<'_>, params: &Params) {
        let dt = step.dt;
        let count = self.positions.len();
        let keep = 1.0 / (1.0 + params.damping as f32 * dt);
        // Equation 1.
        let Scratch { mut wanted, new: mut p, mut corrections, mut touches } =
            std::mem::take(&mut self.scratch);
        wanted.clear();
        wanted.extend(self.velocities.iter().map(|&v| (v + step.gravity * dt) * keep));
        p.clear();
        p.extend(self.positions.iter().zip(&wanted).map(|(&x, &v)| x + v * dt));
        p[0] = step.root;
        if params.backward {
            for i in (2..count).rev() {
                p[i - 1] = p[i] + (p[i - 1] - p[i]).normalize() * self.lengths[i - 1];
            }
        }
        corrections.clear();
        corrections.resize(count + 1, Vec3::ZERO);
        touches.clear();
        touches.resize(count, None);
        for i in 1..count {
            // Equation 11.
            let least =
                if i > 1 { params.bending as f32 * (self.lengths[i - 2] + self.lengths[i - 1]) } else { 0.0 };
            if i > 1 && (p[i] - p[i - 2]).length_squared() < least * least {
                p[i] = p[i - 2] + (p[i] - p[i - 2]).normalize() * least;
            }
            // Equation 6.
            let edge = p[i] - p[i - 1];
            let exact = edge * (self.lengths[i - 1] / edge.length());
            corrections[i] = exact - edge;
            p[i] = p[i - 1] + exact;
            touches[i] = self.collide(step, i, p[i - 1], exact);
            if let Some(touch) = &touches[i] {
                p[i] = p[i - 1] + touch.edge;
            }
        }
        for i in 0..count {
            // Equation 9.
            let reaction = if i == 0 { Vec3::ZERO } else { corrections[i + 1] * params.correction as f32 };
            self.moves[i] = (p[i] - self.positions[i]) / dt;
            let velocity = self.moves[i] - reaction / dt;
            self.velocities[i] = match &touches[i] {
                Some(touch) => after_touch(velocity, wanted[i], touch, dt),
                None => velocity,
            };
        }
        let new = std::mem::replace(&mut self.positions, p);
        self.scratch = Scratch { wanted, new, corrections, touches };
    }

    /// Leaves the bodies: by the plane ahead where it is trusted, by a look at them elsewhere.
    fn collide(&self, step: &Step<'_>, i: usize, leader: Vec3, mut edge: Vec3) -> Option<Touch> {
        let ahead = self.ahead.get(i)?;
        let mut touch = None;
        if let Some((gap, normal, velocity, friction)) = ahead.plane {
            let depth = -(gap + normal.dot(leader + edge - ahead.heading));
            if depth > 0.0 {
                let (length, along) = (self.lengths[i - 1], edge.dot(normal));
                let height = (along + depth).min(length);
                let flat = (edge - normal * along)
                    .try_normalize()
                    .unwrap_or_else(|| normal.any_orthonormal_vector());
                edge = normal * height + flat * (length * length - height * height).max(0.0).sqrt();
                touch = Some(Touch { edge, normal, velocity, friction, depth });
            }
        }
        if (leader + edge - ahead.heading).length() < ahead.room {
            return touch;
        }
        step.bodies.and_then(|bodies| resolve(bodies, leader, edge, self.radius)).or(touch)
    }
}
