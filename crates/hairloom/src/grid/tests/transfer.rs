use glam::{DMat3, DVec3, Mat3, Vec3};

use super::*;
use crate::math::Symmetric3;

#[test]
fn mass_and_momentum_reach_the_grid_and_come_back() {
    for transfer in TRANSFERS {
        let params = params(transfer());
        let mut particles = cloud(3000, DVec3::new(-0.2, 1.5, 0.07));
        let (before, total) = (momentum(&particles), mass(&particles));
        let scale = particles.velocities.iter().map(|v| v.length()).sum::<f32>() as f64 * 1.5e-6;
        let mut grid = MpmGrid::default();
        for step in 0..20 {
            grid.bin(&mut particles, &params).unwrap();
            grid.scatter(&particles, &[], &params, DT).unwrap();
            let on_grid: f64 = grid.nodes().map(|(_, node)| f64::from(node.mass())).sum();
            assert!((on_grid - total).abs() < 1e-5 * total, "mass {on_grid} of {total}");
            let moving: DVec3 = grid.nodes().map(|(_, node)| node.first().as_dvec3()).sum();
            assert!(moving.distance(momentum(&particles)) < 1e-5 * scale, "to the grid, step {step}");
            grid.update(&params, &Nothing, DT);
            grid.gather(&mut particles, &params, DT).unwrap();
            let after = momentum(&particles);
            assert!(after.distance(before) < 1e-5 * scale, "{transfer:?}, step {step}: {before} {after}");
        }
        assert!(before.length() > 1e-3 * scale, "the test would not notice a lost momentum");
    }
}

/// Angular momentum of particles with an affine velocity field: that of each of them, and what the field has about it.
fn angular(particles: &Particles, cell: f64) -> DVec3 {
    let about = DVec3::new(-0.2, 1.5, 0.07);
    (0..particles.len())
        .map(|p| {
            let mass = f64::from(particles.point(p).mass);
            let c = particles.affine(p).as_dmat3();
            let spin = DVec3::new(c.y_axis.z - c.z_axis.y, c.z_axis.x - c.x_axis.z, c.x_axis.y - c.y_axis.x);
            let orbit = (particles.positions[p] - about).cross(particles.velocities[p].as_dvec3());
            (orbit + spin * (cell * cell / 4.0)) * mass
        })
        .sum()
}

#[test]
fn affine_transfers_keep_angular_momentum_under_stress() {
    let params = params(Transfer::apic());
    let mut particles = cloud(3000, DVec3::new(-0.2, 1.5, 0.07));
    for (p, velocity) in particles.velocities.iter_mut().enumerate() {
        let arm = particles.positions[p] - DVec3::new(-0.2, 1.5, 0.07);
        // Turning, and closing in so that there is pressure.
        *velocity += (DVec3::new(2.0, -3.0, 1.0).cross(arm) - arm * 6.0).as_vec3();
    }
    let before = angular(&particles, params.cell);
    let mut grid = MpmGrid::default();
    let mut stressed = false;
    for _ in 0..20 {
        grid.step(&mut particles, &[], &params, &Nothing, 0.0, DT).unwrap();
        stressed |= (0..particles.len()).any(|p| particles.point(p).stress.xx < -1.0);
    }
    let after = angular(&particles, params.cell);
    assert!(stressed, "there was no stress");
    assert!(after.distance(before) < 1e-5 * before.length(), "{before} {after}");

    // Without the affine field most of it is lost: what is measured is no matter of course.
    let mut plain = cloud(3000, DVec3::new(-0.2, 1.5, 0.07));
    for _ in 0..20 {
        let pic = super::params(Transfer::pic());
        grid.step(&mut plain, &[], &pic, &Nothing, 0.0, DT).unwrap();
    }
    let start = angular(&cloud(3000, DVec3::new(-0.2, 1.5, 0.07)), params.cell);
    assert!(angular(&plain, params.cell).distance(start) > 0.1 * start.length());
}

#[test]
fn affine_transfers_reproduce_a_linear_field() {
    let params = params(Transfer::apic());
    let mut particles = cloud(2000, DVec3::new(0.3, -0.4, 0.1));
    let field =
        DMat3::from_cols(DVec3::new(0.3, -0.7, 0.2), DVec3::new(0.5, 0.1, -0.4), DVec3::new(-0.6, 0.9, 0.25));
    let at = |x: DVec3| (field * (x - DVec3::new(0.3, -0.4, 0.1))).as_vec3() + Vec3::new(0.1, 0.2, -0.3);
    for p in 0..particles.len() {
        particles.velocities[p] = at(particles.positions[p]);
        particles.set_affine(p, field.as_mat3());
    }
    let starts = particles.positions.clone();
    MpmGrid::default().step(&mut particles, &[], &params, &Nothing, 0.0, DT).unwrap();
    for (p, &start) in starts.iter().enumerate() {
        assert!(particles.velocities[p].distance(at(start)) < 2e-6, "{}", particles.velocities[p]);
        let error = particles.affine(p) - field.as_mat3();
        let worst = error.to_cols_array().into_iter().fold(0.0f32, |most, e| most.max(e.abs()));
        assert!(worst < 3e-4, "{worst}: {}", particles.affine(p));
        let moved = start + at(start).as_dvec3() * f64::from(DT);
        assert!(particles.positions[p].distance(moved) < 1e-8);
    }
}

/// The whole of equation 11 of Hsu et al. 2023 in double precision, node by node.
#[test]
fn nodes_hold_what_summing_over_stencils_gives() {
    let params = GridParams { transfer: Transfer::apic(), ..GridParams::default() };
    let mut particles = cloud(400, DVec3::new(-0.02, 0.01, 0.0));
    let mut random = Random::new(3);
    let mut forces = Vec::new();
    for p in 0..particles.len() {
        let mut any = || random.signed() * 50.0;
        let stress = Symmetric3 { xx: any(), xy: any(), yy: any(), xz: any(), yz: any(), zz: any() };
        particles.change_point(p, |point| (point.stress, point.pinned) = (stress, p % 3 == 0));
        particles.set_affine(p, Mat3::from_cols_array(&std::array::from_fn(|_| any())));
        forces.push(Vec3::new(any(), any(), any()) * 1e-7);
    }
    let mut grid = MpmGrid::default();
    grid.bin(&mut particles, &params).unwrap();
    grid.scatter(&particles, &forces, &params, DT).unwrap();
    let mut sums = vec![(0.0f64, DVec3::ZERO, DVec3::ZERO); grid.node_count()];
    for (p, force) in forces.iter().enumerate() {
        let (m, v) = (f64::from(particles.point(p).mass), particles.velocities[p].as_dvec3());
        let s = particles.point(p).stress;
        let tau = Mat3::from_cols_array(&[s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz]).as_dmat3();
        let stencil = Stencil::new(particles.positions[p], params.cell);
        for (node, weight, gradient) in stencil.nodes() {
            let offset = node.as_dvec3() * params.cell - particles.positions[p];
            let sum = &mut sums[grid.node_index(node).unwrap()];
            sum.0 += weight * m;
            sum.1 += (v + particles.affine(p).as_dmat3() * offset) * (weight * m);
            let weigh = if particles.point(p).pinned { 0.0 } else { m };
            let all = (force.as_dvec3() + params.gravity.as_dvec3() * weigh) * weight
                - tau * gradient * f64::from(particles.point(p).volume);
            sum.2 += all * f64::from(DT);
        }
    }
    let scale = sums.iter().fold((0.0f64, 0.0f64, 0.0f64), |most, sum| {
        (most.0.max(sum.0), most.1.max(sum.1.length()), most.2.max(sum.2.length()))
    });
    let mut seen = 0.0;
    for (index, sum) in sums.iter().enumerate() {
        let node = grid.node(index).unwrap();
        assert!((f64::from(node.mass()) - sum.0).abs() < 1e-6 * scale.0);
        assert!(node.first().as_dvec3().distance(sum.1) < 2e-6 * scale.1);
        assert!(node.second().as_dvec3().distance(sum.2) < 2e-6 * scale.2);
        seen += sum.0;
    }
    assert!((seen - mass(&particles)).abs() < 1e-9 * seen);
}

#[test]
fn phases_out_of_order_are_errors() {
    let params = params(Transfer::apic());
    let (mut particles, mut grid) = (cloud(50, DVec3::ZERO), MpmGrid::default());
    grid.bin(&mut particles, &params).unwrap();
    assert_eq!(grid.gather(&mut particles, &params, DT), Err(GridError::NotUpdated));
    grid.update(&params, &Nothing, DT);
    assert_eq!(grid.gather(&mut particles, &params, DT), Err(GridError::NotUpdated));
    grid.scatter(&particles, &[], &params, DT).unwrap();
    assert_eq!(grid.gather(&mut particles, &params, DT), Err(GridError::NotUpdated));
    grid.scatter(&particles, &[], &params, DT).unwrap();
    grid.update(&params, &Nothing, DT);
    grid.gather(&mut particles, &params, DT).unwrap();
    // Particles have moved: what the nodes hold is of the last step.
    assert_eq!(grid.gather(&mut particles, &params, DT), Err(GridError::NotUpdated));
}
