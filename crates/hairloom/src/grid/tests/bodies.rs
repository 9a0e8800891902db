use glam::{DVec3, Vec3};

use super::*;
use crate::body::{Bodies, Body, Motion, Shape};
use crate::math::Pose;

fn at(x: f64, y: f64) -> Pose {
    Pose { translation: DVec3::new(x, y, 0.0), ..Pose::IDENTITY }
}

/// Sand falls on a ball above the ground: it flows around the ball, and nothing ends up inside of either.
#[test]
fn sand_stays_outside_of_bodies() {
    let ball = Body::new("ball", Shape::Sphere { radius: 0.03 }, 0.2).unwrap();
    let ground = Body::new("ground", Shape::Plane, 0.5).unwrap();
    let mut bodies = Bodies::new(vec![ball, ground]);
    let poses = [Motion::still(at(0.03, 0.03)), Motion::still(at(0.0, 0.0))];
    let mut particles = pile(DVec3::new(0.06, 0.04, 0.06));
    for position in &mut particles.positions {
        *position += DVec3::new(0.0, 0.08, -0.03);
    }
    let params = GridParams {
        material: Material::Sand(Sand { young: 5e3, ..Sand::default() }),
        ..GridParams::default()
    };
    let mut grid = MpmGrid::default();
    let margin = 5e-4;
    for _ in 0..300 {
        bodies.begin_step(&poses, f64::from(DT)).unwrap();
        let obstacles = bodies.at(1.0);
        grid.step(&mut particles, &[], &params, &obstacles, margin, DT).unwrap();
        // Where ball and ground meet, leaving one may lead into the other by less than the margin.
        for &position in &particles.positions {
            let (_, sample) = obstacles.nearest(position.as_vec3()).unwrap();
            assert!(sample.distance > 0.0, "{position}: {}", sample.distance);
        }
    }
    let low = particles.positions.iter().filter(|x| x.y < 0.03).count();
    assert!(low > particles.len() / 4, "{low} of {} came down", particles.len());
}

/// A plate that moves sideways under sand takes it along by friction, and one that rises lifts it.
#[test]
fn moving_bodies_move_sand() {
    for (velocity, friction) in [(DVec3::X * 0.2, 2.0), (DVec3::Y * 0.2, 0.0)] {
        let mut bodies = Bodies::new(vec![Body::new("plate", Shape::Plane, friction).unwrap()]);
        let sand = Sand { young: 1e4, friction_angle: 40.0, ..Sand::default() };
        let params = GridParams { material: Material::Sand(sand), ..GridParams::default() };
        let mut particles = pile(DVec3::new(0.06, 0.03, 0.06));
        let mut grid = MpmGrid::default();
        let dt = 1.0 / 720.0;
        for step in 0..360 {
            let pose = |step: i32| Pose {
                translation: velocity * (f64::from(step) * f64::from(dt)),
                ..Pose::IDENTITY
            };
            let motion = Motion::Rigid { start: pose(step), end: pose(step + 1) };
            bodies.begin_step(&[motion], f64::from(dt)).unwrap();
            grid.step(&mut particles, &[], &params, &bodies.at(1.0), 1e-4, dt).unwrap();
        }
        let mean = particles.velocities.iter().sum::<Vec3>() / particles.len() as f32;
        assert!(mean.distance(velocity.as_vec3()) < 0.03, "{mean} under a plate with {velocity}");
    }
}
