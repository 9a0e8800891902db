//! Problems of rigid blocks, to try solvers on: more contacts than a body has degrees of freedom, long chains of load,
//! heavy on light.

use glam::{DMat3, DVec3};

use super::{FullProblem, JacobianBlock};

/// Rigid blocks and the contacts between them, about to make one step under gravity. The y axis points up.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    bodies: Vec<Body>,
    contacts: Vec<Touch>,
}

#[derive(Debug, Clone)]
struct Body {
    centre: DVec3,
    mass: f64,
    /// Inertia about the axes.
    inertia: DVec3,
    velocity: DVec3,
}

#[derive(Debug, Clone)]
struct Touch {
    /// The body that is pushed along the normal.
    upper: usize,
    /// The other one; none for the ground.
    lower: Option<usize>,
    point: DVec3,
    normal: DVec3,
    friction: f64,
}

impl Blocks {
    /// Adds a box with its centre, half extents [m], mass [kg] and velocity before the step [m/s]; returns its number.
    pub fn add(&mut self, centre: DVec3, half: DVec3, mass: f64, velocity: DVec3) -> usize {
        let square = half * half;
        let inertia = mass / 3.0 * DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y);
        self.bodies.push(Body { centre, mass, inertia, velocity });
        self.bodies.len() - 1
    }

    /// Adds a contact at a point; the normal points from `lower` (the ground where there is none) to `upper`.
    pub fn touch(&mut self, upper: usize, lower: Option<usize>, point: DVec3, normal: DVec3, friction: f64) {
        self.contacts.push(Touch { upper, lower, point, normal, friction });
    }

    /// Adds contacts at a lattice of `count` × `count` points of a horizontal rectangle.
    pub fn touch_face(
        &mut self,
        upper: usize,
        lower: Option<usize>,
        face: (DVec3, f64, f64),
        count: usize,
        friction: f64,
    ) {
        let (centre, half_x, half_z) = face;
        let place = |index: usize| 2.0 * index as f64 / (count.max(2) - 1) as f64 - 1.0;
        for i in 0..count {
            for j in 0..count {
                let point = centre + DVec3::new(half_x * place(i), 0.0, half_z * place(j));
                self.touch(upper, lower, point, DVec3::Y, friction);
            }
        }
    }

    /// A tower of `count` unit cubes; masses grow by `growth` from one to the next above it. Each face has `lattice`²
    /// contacts.
    pub fn tower(count: usize, growth: f64, lattice: usize, friction: f64) -> Self {
        let mut blocks = Self::default();
        for level in 0..count {
            let height = 0.5 + level as f64;
            let mass = growth.powi(level as i32);
            let body = blocks.add(DVec3::Y * height, DVec3::splat(0.5), mass, DVec3::ZERO);
            let face = (DVec3::Y * (height - 0.5), 0.5, 0.5);
            blocks.touch_face(body, body.checked_sub(1), face, lattice, friction);
        }
        blocks
    }

    /// A brick wall of `courses` with `width` bricks each, every other course shifted by half a brick; each pair of bricks
    /// has `lattice`² contacts. `push` is a velocity that the topmost brick has before the step [m/s].
    pub fn wall(width: usize, courses: usize, lattice: usize, friction: f64, push: DVec3) -> Self {
        let mut blocks = Self::default();
        let half = DVec3::new(1.0, 0.5, 0.5);
        for course in 0..courses {
            for place in 0..width {
                let shift = 2.0 * place as f64 + (course % 2) as f64;
                let centre = DVec3::new(shift, 0.5 + course as f64, 0.0);
                let velocity = if course + 1 == courses && place == 0 { push } else { DVec3::ZERO };
                let body = blocks.add(centre, half, 1.0, velocity);
                let foot = centre - DVec3::Y * 0.5;
                if course == 0 {
                    blocks.touch_face(body, None, (foot, 1.0, 0.5), lattice, friction);
                    continue;
                }
                // The two bricks below: in an even course those at the same place and one before.
                let below = (course - 1) * width;
                let left = if course % 2 == 1 { Some(place) } else { place.checked_sub(1) };
                let right = if course % 2 == 1 { place + 1 } else { place };
                for (other, side) in [(left, -0.5), (Some(right).filter(|&right| right < width), 0.5)] {
                    if let Some(other) = other {
                        let face = (foot + DVec3::X * side, 0.5, 0.5);
                        blocks.touch_face(body, Some(below + other), face, lattice, friction);
                    }
                }
                if place > 0 {
                    let side = centre - DVec3::X;
                    for (y, z) in [(-0.4, -0.4), (-0.4, 0.4), (0.4, -0.4), (0.4, 0.4)] {
                        blocks.touch(body, Some(body - 1), side + DVec3::new(0.0, y, z), DVec3::X, friction);
                    }
                }
            }
        }
        blocks
    }

    /// How many contacts there are.
    pub fn contacts(&self) -> usize {
        self.contacts.len()
    }

    /// The problem of one step of `dt` under `gravity`.
    pub fn problem(&self, dt: f64, gravity: DVec3) -> FullProblem {
        let mut full = FullProblem::default();
        for body in &self.bodies {
            let mut mass = vec![0.0; 36];
            let mut impulses = vec![0.0; 6];
            let impulse = body.mass * (body.velocity + dt * gravity);
            for axis in 0..3 {
                mass[7 * axis] = body.mass;
                mass[7 * (axis + 3)] = body.inertia[axis];
                impulses[axis] = impulse[axis];
            }
            full.masses.push(mass);
            full.impulses.push(impulses);
        }
        for (contact, touch) in self.contacts.iter().enumerate() {
            let tangent = touch.normal.any_orthonormal_vector();
            let frame = DMat3::from_cols(touch.normal, tangent, touch.normal.cross(tangent));
            for (body, sign) in [(Some(touch.upper), 1.0), (touch.lower, -1.0)] {
                let Some(object) = body else { continue };
                let arm = touch.point - self.bodies[object].centre;
                let mut values = Vec::with_capacity(18);
                for axis in [frame.x_axis, frame.y_axis, frame.z_axis] {
                    let turn = arm.cross(axis);
                    values.extend([axis.x, axis.y, axis.z, turn.x, turn.y, turn.z].map(|value| sign * value));
                }
                full.jacobian.push(JacobianBlock { contact, object, values });
            }
            full.offset.push(DVec3::ZERO);
            full.friction.push(touch.friction);
        }
        full
    }
}
