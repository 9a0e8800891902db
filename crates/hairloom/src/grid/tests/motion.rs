use glam::{DVec3, Vec3};

use super::*;

#[test]
fn free_fall_is_that_of_the_integrator() {
    for transfer in TRANSFERS {
        let params = GridParams { transfer: transfer(), ..GridParams::default() };
        let mut particles = cloud(1000, DVec3::new(0.0, 5.0, 0.0));
        particles.velocities.fill(Vec3::new(0.5, 1.0, -0.25));
        let starts = particles.positions.clone();
        let mut grid = MpmGrid::default();
        let steps = 180;
        for _ in 0..steps {
            grid.step(&mut particles, &[], &params, &Nothing, 0.0, DT).unwrap();
        }
        // Symplectic Euler: x = x0 + n h v0 + g h² n (n + 1) / 2.
        let (n, h) = (f64::from(steps), f64::from(DT));
        let gravity = params.gravity.as_dvec3();
        let moved = DVec3::new(0.5, 1.0, -0.25) * (n * h) + gravity * (h * h * n * (n + 1.0) / 2.0);
        let fast = DVec3::new(0.5, 1.0, -0.25) + gravity * (n * h);
        for (p, start) in starts.iter().enumerate() {
            assert!(particles.positions[p].distance(*start + moved) < 5e-6, "{}", particles.positions[p]);
            assert!(particles.velocities[p].as_dvec3().distance(fast) < 2e-5);
        }
    }
}

#[test]
fn pinned_particles_go_where_they_are_told() {
    let params = GridParams::default();
    let mut particles = cloud(500, DVec3::ZERO);
    particles.velocities.fill(Vec3::ZERO);
    let told = Vec3::new(0.0, 0.0, 0.7);
    particles.change_point(10, |point| point.pinned = true);
    particles.velocities[10] = told;
    let start = particles.positions[10];
    let mut grid = MpmGrid::default();
    for _ in 0..36 {
        grid.step(&mut particles, &[], &params, &Nothing, 0.0, DT).unwrap();
    }
    assert!(particles.positions[10].distance(start + told.as_dvec3() * 0.1) < 1e-7);
    assert_eq!(particles.velocities[10], told);
    assert!(particles.velocities[11].y < -0.5, "the others fall");
}

/// Runs a pile on the ground until it rests, and gives back its particles.
fn settled(material: Material, size: DVec3, friction: f32, seconds: f32) -> Particles {
    let params = GridParams { material, ..GridParams::default() };
    let ground = Ground { friction };
    let mut particles = pile(size);
    let mut grid = MpmGrid::default();
    let dt = params.stable_step(400.0) as f32;
    for _ in 0..(seconds / dt) as usize {
        grid.step(&mut particles, &[], &params, &ground, 1e-4, dt).unwrap();
    }
    particles
}

fn speed(particles: &Particles) -> f32 {
    let sum: f32 = particles.velocities.iter().map(|v| v.length_squared()).sum();
    (sum / particles.len() as f32).sqrt()
}

fn spread(particles: &Particles) -> f64 {
    let centre = particles.positions.iter().sum::<DVec3>() / particles.len() as f64;
    let sum: f64 =
        particles.positions.iter().map(|x| (x.x - centre.x).powi(2) + (x.z - centre.z).powi(2)).sum();
    (sum / particles.len() as f64).sqrt()
}

#[test]
fn sand_comes_to_rest_as_a_heap_that_friction_narrows() {
    let mut last = f64::INFINITY;
    for friction_angle in [5.0, 20.0, 40.0] {
        let sand = Sand { young: 2e4, friction_angle, ..Sand::default() };
        let particles = settled(Material::Sand(sand), DVec3::new(0.06, 0.08, 0.06), 0.8, 1.2);
        assert!(particles.positions.iter().all(|x| x.y > 0.99e-4), "no particle is below the ground");
        assert!((0..particles.len()).all(|particle| {
            let s = particles.point(particle).stress;
            let wide = crate::math::Symmetric3 {
                xx: s.xx.into(),
                xy: s.xy.into(),
                yy: s.yy.into(),
                xz: s.xz.into(),
                yz: s.yz.into(),
                zz: s.zz.into(),
            };
            sand.yield_excess(wide) < 1e-3
        }));
        let wide = spread(&particles);
        assert!(wide < last, "{friction_angle}°: {wide} after {last}");
        if friction_angle == 40.0 {
            assert!(speed(&particles) < 0.01, "{}", speed(&particles));
        }
        last = wide;
    }
}

#[test]
fn fluid_in_a_basin_comes_to_rest_under_its_weight() {
    // A column in a square well: it can only be compressed, and pressure must carry its weight.
    struct Well;
    impl Boundary for Well {
        fn contacts(&self, p: Vec3, visit: &mut dyn FnMut(Contact)) {
            let walls = [
                (p.y, Vec3::Y),
                (p.x, Vec3::X),
                (0.06 - p.x, Vec3::NEG_X),
                (p.z, Vec3::Z),
                (0.06 - p.z, Vec3::NEG_Z),
            ];
            for (distance, normal) in walls {
                visit(Contact { distance, normal, velocity: Vec3::ZERO, friction: 0.0 });
            }
        }
        fn clearance(&self, p: Vec3) -> f32 {
            p.y.min(p.x).min(0.06 - p.x).min(p.z).min(0.06 - p.z)
        }
    }
    let fluid = Fluid { bulk: 2e4, ..Fluid::default() };
    let params = GridParams { material: Material::Fluid(fluid), ..GridParams::default() };
    let mut particles = pile(DVec3::new(0.06, 0.08, 0.06));
    let mut grid = MpmGrid::default();
    let dt = params.stable_step(400.0) as f32;
    for _ in 0..(2.0 / dt) as usize {
        grid.step(&mut particles, &[], &params, &Well, 0.0, dt).unwrap();
    }
    assert!(speed(&particles) < 0.02, "{}", speed(&particles));
    // The mean over the column of p(y) = ρ g (h - y) is ρ g h / 2 = 157 Pa.
    let mean = -(0..particles.len()).map(|p| f64::from(particles.point(p).stress.yy)).sum::<f64>()
        / particles.len() as f64;
    assert!((mean - 157.0).abs() < 20.0, "{mean}");
    let height = particles.positions.iter().map(|x| x.y).sum::<f64>() / particles.len() as f64;
    assert!((height - 0.04).abs() < 0.004, "{height}");
}

#[test]
fn moving_bodies_carry_nodes_along_by_friction() {
    let contact = Contact { distance: -0.001, normal: Vec3::Y, velocity: Vec3::X, friction: 0.5 };
    // Stopped by 2 m/s, friction takes 1 m/s of slip.
    let slow = contact.bounded(Vec3::new(4.0, -2.0, 0.0), 0.01);
    assert!(slow.distance(Vec3::new(3.0, 0.0, 0.0)) < 1e-6, "{slow}");
    // All of a small slip.
    let stuck = contact.bounded(Vec3::new(1.4, -2.0, 0.0), 0.01);
    assert!(stuck.distance(Vec3::X) < 1e-6, "{stuck}");
    // Outside it may approach as far as the surface, and leave.
    let near = Contact { distance: 0.01, ..contact };
    assert!(near.bounded(Vec3::new(1.0, -3.0, 0.0), 0.01).distance(Vec3::new(1.0, -1.0, 0.0)) < 1e-6);
    assert_eq!(near.bounded(Vec3::new(4.0, -0.9, 0.0), 0.01), Vec3::new(4.0, -0.9, 0.0));
    // A solid that arrives within the step takes along what it meets, but only as far as it goes.
    let arriving = Contact { distance: -0.004, velocity: Vec3::Y, friction: 0.0, ..contact };
    assert!(arriving.bounded(Vec3::ZERO, 0.01).distance(Vec3::Y * 0.4) < 1e-6);
    let inside_before = Contact { distance: -0.02, ..arriving };
    assert!(inside_before.bounded(Vec3::ZERO, 0.01).distance(Vec3::Y) < 1e-6);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let params = GridParams { transfer: Transfer::asflip(0.6, [0.1, 0.8]), ..GridParams::default() };
            let mut particles = cloud(4000, DVec3::new(0.0, 0.03, 0.0));
            let mut grid = MpmGrid::default();
            for _ in 0..30 {
                grid.step(&mut particles, &[], &params, &Ground { friction: 0.3 }, 1e-3, DT).unwrap();
            }
            particles
        })
    };
    let alone = run(1);
    assert!((0..alone.len()).any(|p| alone.point(p).stress.xx < -1.0));
    assert_eq!(alone, run(2));
    assert_eq!(alone, run(3));
}
