//! The grid against conservation laws, closed forms and brute force.

mod blocks;
mod bodies;
mod material;
mod motion;
mod transfer;

use glam::{DVec3, Vec3};

use super::*;
use crate::math::Random;

/// Step of the tests [s].
const DT: f32 = 1.0 / 360.0;

/// Particles at random in a box around `centre`, 4 cm to each side, with random masses and velocities.
fn cloud(count: usize, centre: DVec3) -> Particles {
    let mut random = Random::new(11);
    let mut particles = Particles::default();
    for _ in 0..count {
        let place = DVec3::from(Vec3::new(random.signed(), random.signed(), random.signed()));
        particles.push(centre + place * 0.04, 1e-6 * (1.0 + random.unit()), 2e-8);
    }
    for velocity in &mut particles.velocities {
        *velocity = random.direction() * random.unit();
    }
    particles
}

/// A block of material of `size` [m], eight particles to each cell of 1 cm, at 400 kg/m³, its lowest corner at the origin.
fn pile(size: DVec3) -> Particles {
    let mut particles = Particles::default();
    let count = (size / 0.005).round().as_ivec3();
    for k in 0..count.z {
        for j in 0..count.y {
            for i in 0..count.x {
                let place = (DVec3::new(i as f64, j as f64, k as f64) + 0.5) * 0.005;
                particles.push(place, 5e-5, 1.25e-7);
            }
        }
    }
    particles
}

fn momentum(particles: &Particles) -> DVec3 {
    let pairs = (0..particles.len()).map(|p| (particles.velocities[p], particles.point(p)));
    pairs.map(|(velocity, point)| velocity.as_dvec3() * f64::from(point.mass)).sum()
}

fn mass(particles: &Particles) -> f64 {
    (0..particles.len()).map(|p| f64::from(particles.point(p).mass)).sum()
}

/// Weightless, with stress out of the way.
fn params(transfer: Transfer) -> GridParams {
    GridParams { gravity: Vec3::ZERO, transfer, ..GridParams::default() }
}

const TRANSFERS: [fn() -> Transfer; 5] = [
    Transfer::pic,
    || Transfer::flip(0.97),
    Transfer::apic,
    || Transfer::sflip(0.3, [0.05, 0.2]),
    || Transfer::asflip(0.9, [0.1, 1.0]),
];

/// The plane y = 0.
struct Ground {
    friction: f32,
}

impl Boundary for Ground {
    fn contacts(&self, point: Vec3, visit: &mut dyn FnMut(Contact)) {
        let (normal, velocity) = (Vec3::Y, Vec3::ZERO);
        visit(Contact { distance: point.y, normal, velocity, friction: self.friction });
    }

    fn clearance(&self, point: Vec3) -> f32 {
        point.y
    }
}
