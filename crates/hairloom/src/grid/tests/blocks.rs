use std::collections::BTreeSet;

use glam::{DVec3, IVec3};

use super::*;

#[test]
fn blocks_follow_particles_across_the_origin() {
    let params = params(Transfer::pic());
    let mut grid = MpmGrid::default();
    for centre in [DVec3::ZERO, DVec3::new(-3.137, -0.004, 2.5), DVec3::splat(-1234.567)] {
        let mut particles = cloud(700, centre);
        grid.bin(&mut particles, &params).unwrap();
        grid.scatter(&particles, &[], &params, DT).unwrap();
        let mut expected = BTreeSet::new();
        for &position in &particles.positions {
            let nodes = Stencil::new(position, params.cell);
            expected.extend(nodes.nodes().filter(|node| node.1 > 1e-12).map(|node| node.0.to_array()));
        }
        let found: BTreeSet<[i32; 3]> = grid.nodes().map(|(place, _)| place.to_array()).collect();
        assert!(expected.is_subset(&found));
        for place in &found {
            let index = grid.node_index(IVec3::from_array(*place)).unwrap();
            assert!(grid.node(index).unwrap().mass() > 0.0);
        }
        // A cloud of 8 cm touches at most four blocks along an axis.
        assert!(grid.node_count() <= 64 * 64, "{}", grid.node_count());
    }
    assert_eq!(grid.node_index(IVec3::splat(5_000_000)), None);
    assert_eq!(grid.node_index(IVec3::splat(i32::MIN)), None);
}

#[test]
fn the_order_of_particles_does_not_change_their_blocks() {
    let params = params(Transfer::pic());
    let mut particles = cloud(500, DVec3::ZERO);
    let mut reversed = particles.clone();
    reversed.positions.reverse();
    let (mut one, mut other) = (MpmGrid::default(), MpmGrid::default());
    one.bin(&mut particles, &params).unwrap();
    other.bin(&mut reversed, &params).unwrap();
    assert_eq!(one.blocks.starts, other.blocks.starts);
    assert_eq!(one.blocks.above, other.blocks.above);
}

#[test]
fn places_that_are_none_are_errors() {
    let params = params(Transfer::pic());
    let mut grid = MpmGrid::default();
    for (place, far) in [(f64::NAN, false), (f64::INFINITY, false), (1e300, true), (-5e4, true), (1e7, true)]
    {
        let mut particles = cloud(5, DVec3::ZERO);
        particles.positions[3].z = place;
        let error = grid.step(&mut particles, &[], &params, &Nothing, 0.0, DT).unwrap_err();
        let expected = if far {
            matches!(error, GridError::TooFar { particle: 3, .. })
        } else {
            error == GridError::NotFinite { particle: 3, quantity: "position" }
        };
        assert!(expected, "{place}: {error}");
        assert_eq!(grid.node_count(), 0);
    }
    let mut edge = cloud(5, DVec3::splat(f64::from(REACH) * 0.00999));
    grid.step(&mut edge, &[], &params, &Nothing, 0.0, DT).unwrap();
}

#[test]
fn scattered_particles_are_refused_before_they_fill_the_memory() {
    let params = GridParams { most_blocks: 100, ..params(Transfer::pic()) };
    let mut particles = Particles::default();
    for p in 0..101 {
        particles.push(DVec3::new(f64::from(p) * 7.3, 0.0, f64::from(p) * -3.1), 1e-6, 1e-8);
    }
    let mut grid = MpmGrid::default();
    let error = grid.bin(&mut particles, &params).unwrap_err();
    assert_eq!(error, GridError::TooManyBlocks { most: 100 });
    particles.positions[7] = particles.positions[6];
    grid.bin(&mut particles, &params).unwrap();
}

#[test]
fn bad_input_is_an_error_that_says_what_is_wrong() {
    let mut grid = MpmGrid::default();
    let good = params(Transfer::pic());
    let mut particles = cloud(9, DVec3::ZERO);
    let error = grid.scatter(&particles, &[], &good, DT).unwrap_err();
    assert_eq!(error, GridError::NotBinned { binned: 0, particles: 9 });
    grid.bin(&mut particles, &good).unwrap();
    let error = grid.gather(&mut particles, &good, DT).unwrap_err();
    assert!(matches!(error, GridError::NotUpdated), "nothing was scattered: {error}");
    let error = grid.scatter(&particles, &[Vec3::ZERO; 4], &good, DT).unwrap_err();
    assert_eq!(error, GridError::WrongCount { column: "forces", given: 4, particles: 9 });
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let bad = GridParams { cell, ..good };
        assert!(matches!(grid.bin(&mut particles, &bad), Err(GridError::BadParameter { .. })), "{cell}");
    }
    for dt in [0.0, -0.1, f32::NAN, f32::INFINITY] {
        let error = grid.step(&mut particles, &[], &good, &Nothing, 0.0, dt).unwrap_err();
        assert!(matches!(error, GridError::BadParameter { parameter: "the step", .. }), "{dt}: {error}");
    }
    particles.velocities[4].x = f32::NAN;
    let error = grid.step(&mut particles, &[], &good, &Nothing, 0.0, DT).unwrap_err();
    assert!(matches!(error, GridError::NotFinite { quantity: "velocity", .. }), "{error}");
    particles.change_point(2, |point| point.mass = 0.0);
    assert!(matches!(particles.check(), Err(GridError::BadParticle { particle: 2, .. })));
    particles.velocities.pop();
    let error = grid.scatter(&particles, &[], &good, DT).unwrap_err();
    assert_eq!(error, GridError::WrongCount { column: "velocities", given: 8, particles: 9 });
    let mut none = Particles::default();
    grid.step(&mut none, &[], &good, &Nothing, 0.0, DT).unwrap();
}
