use glam::{DMat3, DQuat, DVec3};

use super::chain::Place;
use super::*;
use crate::math::Random;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn vector(random: &mut Random, size: f64) -> DVec3 {
    let mut part = || size * (2.0 * random.unit_f64() - 1.0);
    DVec3::new(part(), part(), part())
}

/// A rod of hair, of elements of different lengths, in a random shape.
fn bent(random: &mut Random, elements: usize, bend: f64) -> (Rod, Root, Vec<DVec3>) {
    let lengths = (0..elements).map(|i| 0.03 + 0.01 * (i % 3) as f64).collect();
    let rod = Rod {
        lengths,
        rest: (0..elements).map(|_| vector(random, 0.3 * bend)).collect(),
        stiffness: DVec3::new(1.5e-8, 1.2e-8, 1.1e-8),
        mass_per_length: 1.0e-5,
        spin_inertia: 1.3e-14,
    };
    let frame = DQuat::from_scaled_axis(vector(random, 2.0));
    let root = Root { position: vector(random, 0.1), frame };
    (rod, root, (0..elements).map(|_| vector(random, bend)).collect())
}

fn close(found: DVec3, expected: DVec3, tolerance: f64) {
    assert!((found - expected).length() < tolerance, "{found} against {expected}");
}

#[test]
fn a_helix_is_the_integral_of_its_frame() {
    let mut random = Random::new(1);
    for size in [1.0e-9, 1.0e-3, 1.0, 30.0, 58.0, 59.0, 300.0] {
        let (helix, along) = (Helix { curvature: vector(&mut random, size) }, 0.034);
        let steps = 2000;
        let width = along / f64::from(steps);
        let (mut point, mut turning) = (DVec3::ZERO, DMat3::ZERO);
        for step in 0..steps {
            // Simpson's rule.
            for (at, weight) in [(0.0, 1.0 / 6.0), (0.5, 2.0 / 3.0), (1.0, 1.0 / 6.0)] {
                let frame = DMat3::from_quat(helix.rotation(width * (f64::from(step) + at)));
                point += weight * width * frame.z_axis;
                turning += frame * (weight * width);
            }
        }
        close(helix.point(along), point, 1.0e-14);
        let off = helix.turning(along) - turning;
        assert!(off.to_cols_array().iter().all(|value| value.abs() < 1.0e-14), "{size}: {off}");
    }
}

#[test]
fn derivatives_of_a_helix_are_differences() {
    let mut random = Random::new(2);
    for size in [1.0e-6, 0.1, 5.0, 40.0, 200.0] {
        for _ in 0..10 {
            let (curvature, rate, along) = (vector(&mut random, size), vector(&mut random, 1.0), 0.05);
            let h = 1.0e-3;
            let at = |t: f64| Helix { curvature: curvature + t * rate };
            let slope = (at(h).point(along) - at(-h).point(along)) / (2.0 * h);
            close(at(0.0).moving(along) * rate, slope, 1.0e-9 * h.max(1.0) * along);
            let second = (at(h).moving(along) - at(-h).moving(along)) * rate / (2.0 * h);
            close(at(0.0).point_bias(along, rate), second, 1.0e-10);
            let turned = (at(h).turning(along) - at(-h).turning(along)) * rate / (2.0 * h);
            close(at(0.0).turning_bias(along, rate), turned, 1.0e-9);
        }
    }
}

#[test]
fn jacobians_velocities_and_bias_are_differences() {
    let mut random = Random::new(3);
    for bend in [0.01, 3.0, 40.0, 120.0] {
        let (rod, root, curvatures) = bent(&mut random, 6, bend);
        let rates: Vec<DVec3> = (0..6).map(|_| vector(&mut random, 20.0)).collect();
        let twist = Twist { velocity: vector(&mut random, 1.0), spin: vector(&mut random, 3.0) };
        let at = |t: f64| {
            let turn = DQuat::from_scaled_axis(twist.spin * t);
            let root = Root { position: root.position + twist.velocity * t, frame: turn * root.frame };
            let moved: Vec<DVec3> = curvatures.iter().zip(&rates).map(|(k, r)| *k + t * *r).collect();
            Chain::new(root, &rod.lengths, &moved)
        };
        let (chain, h) = (at(0.0), 1.0e-5);
        let bias = chain.bias(&rates, &twist);
        for arc in [0.0, 0.01, 0.03, 0.055, 0.12, rod.length()] {
            let velocity = (at(h).position(arc) - at(-h).position(arc)) / (2.0 * h);
            close(chain.velocity(arc, &rates, &twist), velocity, 1.0e-7);
            let rows = chain.jacobian(arc);
            let flat: Vec<f64> = rates.iter().flat_map(|rate| rate.to_array()).collect();
            let products = rows.chunks_exact(18).map(|row| row.iter().zip(&flat).map(|(a, b)| a * b).sum());
            let own = DVec3::from_slice(&products.collect::<Vec<f64>>());
            close(own + chain.carried(&twist, chain.position(arc)), velocity, 1.0e-7);
            let place = chain.place(arc);
            let second =
                (at(h).velocity(arc, &rates, &twist) - at(-h).velocity(arc, &rates, &twist)) / (2.0 * h);
            close(chain.bias_at(place, rates[place.element], &bias[place.element]), second, 1.0e-5);
        }
    }
}

#[test]
fn rods_are_inextensible_to_rounding() {
    let mut random = Random::new(4);
    let (rod, root, curvatures) = bent(&mut random, 8, 100.0);
    let chain = Chain::new(root, &rod.lengths, &curvatures);
    // The speed along the arc is one, within each element and through the joints.
    for i in 0..400 {
        let arc = rod.length() * (f64::from(i) + 0.5) / 400.0;
        let h = 1.0e-4;
        let chord = |h: f64| (chain.position(arc + h) - chain.position(arc - h)) / (2.0 * h);
        let tangent = chain.frame(arc) * DVec3::Z;
        assert!((tangent.length() - 1.0).abs() < 1.0e-15 * 8.0);
        let place = chain.place(arc);
        if place.along > h && place.along < rod.lengths[place.element] - h {
            // Without the chord's own error, by Richardson's rule.
            close((4.0 * chord(0.5 * h) - chord(h)) / 3.0, tangent, 1.0e-8);
        }
    }
}

#[test]
fn the_hessian_is_the_difference_of_gradients() {
    let mut random = Random::new(5);
    for bend in [1.0e-3, 5.0, 60.0] {
        let (rod, root, curvatures) = bent(&mut random, 5, bend);
        let (gradient, hessian) = rod.slopes(root, &curvatures, GRAVITY);
        let energy = |curvatures: &[DVec3]| {
            rod.elastic_energy(curvatures)
                + rod.gravity_energy(&Chain::new(root, &rod.lengths, curvatures), GRAVITY)
        };
        let largest = hessian.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for row in 0..15 {
            let h = 1.0e-3;
            let moved = |by: f64| {
                let mut moved = curvatures.clone();
                moved[row / 3][row % 3] += by;
                moved
            };
            let slope = (energy(&moved(h)) - energy(&moved(-h))) / (2.0 * h);
            assert!((gradient[row] - slope).abs() < 1.0e-6 * largest, "{} {slope}", gradient[row]);
            let (ahead, back) =
                (rod.slopes(root, &moved(h), GRAVITY).0, rod.slopes(root, &moved(-h), GRAVITY).0);
            for column in 0..15 {
                let second = (ahead[column] - back[column]) / (2.0 * h);
                let found = hessian[row * 15 + column];
                assert!((found - second).abs() < 1.0e-6 * largest, "{row} {column}: {found} {second}");
            }
        }
    }
}

#[test]
fn kinetic_energy_is_half_the_mass_matrix() {
    let mut random = Random::new(6);
    let (mut rod, root, curvatures) = bent(&mut random, 5, 30.0);
    rod.stiffness = DVec3::ZERO;
    let rates: Vec<DVec3> = (0..5).map(|_| vector(&mut random, 10.0)).collect();
    let middle = Middle {
        root,
        before: Twist::default(),
        during: Twist::default(),
        curvatures: curvatures.clone(),
        rates: rates.clone(),
        field: None,
    };
    let forces = Forces { gravity: DVec3::ZERO, drag: 0.0, wind: &|_| DVec3::ZERO, pulls: &[] };
    let (chain, linear) = rod.linearised((&curvatures, &rates), &middle, &forces, (0.01, 1.0));
    let flat: Vec<f64> = rates.iter().flat_map(|rate| rate.to_array()).collect();
    let product = |row: usize| -> f64 { (0..15).map(|c| linear.mass[row * 15 + c] * flat[c]).sum() };
    let twice: f64 = (0..15).map(|row| flat[row] * product(row)).sum();
    let kinetic = rod.kinetic_energy(&chain, &rates, &Twist::default());
    assert!((0.5 * twice / kinetic - 1.0).abs() < 1.0e-12, "{twice} {kinetic}");
}

/// The tip of a rod held out horizontally, over its length, by the elastica `θ″ = Γ (1 − s) cos θ` (θ upwards), by
/// shooting from the clamp.
fn elastica(gamma: f64) -> DVec3 {
    let shoot = |bend: f64| {
        let steps = 4000;
        let h = 1.0 / f64::from(steps);
        let rate = |s: f64, y: [f64; 4]| [y[1], gamma * (1.0 - s) * y[0].cos(), y[0].cos(), y[0].sin()];
        let mut y = [0.0, bend, 0.0, 0.0];
        for i in 0..steps {
            let s = h * f64::from(i);
            let moved = |k: [f64; 4], by: f64| std::array::from_fn(|j| y[j] + by * k[j]);
            let a = rate(s, y);
            let b = rate(s + 0.5 * h, moved(a, 0.5 * h));
            let c = rate(s + 0.5 * h, moved(b, 0.5 * h));
            let d = rate(s + h, moved(c, h));
            y = std::array::from_fn(|j| y[j] + h / 6.0 * (a[j] + 2.0 * (b[j] + c[j]) + d[j]));
        }
        y
    };
    // The clamp's bend that leaves the tip without moment lies between that of a horizontal rod twice over, and none.
    let (mut low, mut high) = (-gamma, 0.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] > 0.0 { high = middle } else { low = middle }
    }
    let y = shoot(0.5 * (low + high));
    DVec3::new(y[2], y[3], 0.0)
}

fn hanging_tip(gamma: f64, elements: usize) -> DVec3 {
    let (length, mass_per_length, stiffness) = (0.2, 1.0e-5, 1.0);
    let bending = mass_per_length * 9.81 * length * length * length / gamma * stiffness;
    let rod = Rod {
        lengths: vec![length / elements as f64; elements],
        rest: vec![DVec3::ZERO; elements],
        stiffness: DVec3::new(bending, bending, 0.8 * bending),
        mass_per_length,
        spin_inertia: 1.0e-14,
    };
    let frame = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    let root = Root { position: DVec3::ZERO, frame };
    let (curvatures, _) = rod.equilibrium(root, &rod.rest, GRAVITY).unwrap();
    Chain::new(root, &rod.lengths, &curvatures).position(length) / length
}

#[test]
fn tips_hang_where_the_elastica_says_with_second_order() {
    for gamma in [1.0, 5.0, 20.0] {
        let exact = elastica(gamma);
        let errors = [5, 10, 20, 40].map(|elements| (hanging_tip(gamma, elements) - exact).length());
        assert!(errors[2] < 2.0e-3, "Γ = {gamma}: {errors:?}");
        for pair in errors.windows(2).skip(1) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 2.0).abs() < 0.1, "Γ = {gamma}: order {order}, {errors:?}");
        }
    }
}

/// A rod swung from rest for 0.2 s: how far its energy strays, over the work of gravity, and where its tip arrives.
fn swung(steps: usize, theta: f64) -> (f64, DVec3) {
    let mut random = Random::new(7);
    let (rod, root, _) = bent(&mut random, 4, 4.0);
    let mut curvatures = rod.rest.clone();
    let dt = 0.2 / steps as f64;
    let mut rates = vec![DVec3::ZERO; 4];
    let still = Twist::default();
    let total = |curvatures: &[DVec3], rates: &[DVec3]| {
        let chain = Chain::new(root, &rod.lengths, curvatures);
        let kinetic = rod.kinetic_energy(&chain, rates, &still);
        kinetic + rod.elastic_energy(curvatures) + rod.gravity_energy(&chain, GRAVITY)
    };
    let (start, scale) = (total(&curvatures, &rates), rod.mass_per_length * 9.81 * rod.length().powi(2));
    let mut strayed = 0.0_f64;
    for _ in 0..steps {
        let mut next = rates.clone();
        for _ in 0..4 {
            let mean: Vec<DVec3> = rates.iter().zip(&next).map(|(a, b)| 0.5 * (*a + *b)).collect();
            let middle = curvatures.iter().zip(&mean).map(|(k, r)| *k + 0.5 * dt * *r).collect();
            let middle =
                Middle { root, before: still, during: still, curvatures: middle, rates: mean, field: None };
            let forces = Forces { gravity: GRAVITY, drag: 0.0, wind: &|_| DVec3::ZERO, pulls: &[] };
            let (_, linear) = rod.linearised((&curvatures, &rates), &middle, &forces, (dt, theta));
            next = linear.solved().unwrap().chunks_exact(3).map(DVec3::from_slice).collect();
        }
        for (k, (a, b)) in curvatures.iter_mut().zip(rates.iter().zip(&next)) {
            *k += dt * ((1.0 - theta) * *a + theta * *b);
        }
        rates = next;
        strayed = strayed.max((total(&curvatures, &rates) - start).abs() / scale);
    }
    (strayed, Chain::new(root, &rod.lengths, &curvatures).position(rod.length()))
}

#[test]
fn free_motion_conserves_energy_to_the_order_of_the_scheme() {
    let [coarse, fine, finer] = [800, 1600, 3200].map(|steps| swung(steps, 0.5));
    let order = (coarse.0 / fine.0).log2();
    assert!(fine.0 < 1.0e-3, "{coarse:?} {fine:?}");
    assert!((order - 2.0).abs() < 0.3, "θ = ½: order {order}, {coarse:?} {fine:?} {finer:?}");
    let tips = ((coarse.1 - finer.1).length() / (fine.1 - finer.1).length()).log2();
    assert!(tips > 1.9, "the tip's order is {tips}");
}

#[test]
fn momentum_handed_on_only_loses_energy_at_any_step() {
    let mut random = Random::new(10);
    for dt in [1.0e-5, 1.0e-4, 1.0e-3] {
        let (mut rod, root, mut curvatures) = bent(&mut random, 5, 20.0);
        rod.stiffness = DVec3::splat(1.0e-30);
        let mut rates: Vec<DVec3> = (0..5).map(|_| vector(&mut random, 1.0e3)).collect();
        let still = Twist::default();
        let mut field = rod.field(&Chain::new(root, &rod.lengths, &curvatures), &rates, &still);
        let mut before = f64::INFINITY;
        for _ in 0..50 {
            let middle = Middle {
                root,
                before: still,
                during: still,
                curvatures: curvatures.iter().zip(&rates).map(|(k, rate)| *k + 0.5 * dt * *rate).collect(),
                rates: rates.clone(),
                field: Some(field),
            };
            let forces = Forces { gravity: DVec3::ZERO, drag: 0.0, wind: &|_| DVec3::ZERO, pulls: &[] };
            let (chain, linear) = rod.linearised((&curvatures, &rates), &middle, &forces, (dt, 1.0));
            rates = linear.solved().unwrap().chunks_exact(3).map(DVec3::from_slice).collect();
            curvatures.iter_mut().zip(&rates).for_each(|(k, rate)| *k += dt * *rate);
            field = rod.field(&chain, &rates, &still);
            let kinetic = rod.kinetic_energy(&chain, &rates, &still);
            assert!(kinetic <= before * (1.0 + 1.0e-9), "{kinetic} after {before}");
            before = kinetic;
        }
    }
}

#[test]
fn helices_are_fitted_exactly_and_others_closely() {
    let mut random = Random::new(8);
    for (bend, elements) in [(0.0, 5), (3.0, 5), (25.0, 5), (60.0, 8)] {
        let (rod, root, curvatures) = bent(&mut random, elements, bend);
        let chain = Chain::new(root, &rod.lengths, &curvatures);
        let arcs: Vec<f64> = (0..=60).map(|i| rod.length() * f64::from(i) / 60.0).collect();
        let points: Vec<DVec3> = arcs.iter().map(|&arc| chain.position(arc)).collect();
        let found = fit(&points, &arcs, &rod.lengths);
        assert!(found.largest < 1.0e-6, "bend {bend}: {} m off", found.largest);
        let again = refit(root, &vec![DVec3::ZERO; elements], &points, &arcs, &rod.lengths);
        if bend < 10.0 {
            assert!(again.largest < 1.0e-6, "bend {bend}: {} m off", again.largest);
        }
    }
    // A wave that no helix follows: the fit says how far off it is, and that falls with the elements.
    let wave = |elements: usize| {
        let points: Vec<DVec3> = (0..=80)
            .map(|i| f64::from(i) / 80.0)
            .map(|t| DVec3::new(0.01 * (9.0 * t).sin(), -0.2 * t, 0.0))
            .collect();
        let mut arcs = vec![0.0];
        arcs.extend(points.windows(2).scan(0.0, |sum, pair| {
            *sum += pair[0].distance(pair[1]);
            Some(*sum)
        }));
        let length = arcs[80] / elements as f64;
        fit(&points, &arcs, &vec![length; elements])
    };
    let (coarse, fine) = (wave(5), wave(20));
    assert!(
        coarse.largest < 2.0e-3 && fine.largest < 0.2 * coarse.largest,
        "{} {}",
        coarse.largest,
        fine.largest
    );
}

#[test]
fn a_place_beyond_the_tip_is_the_tip() {
    let mut random = Random::new(9);
    let (rod, root, curvatures) = bent(&mut random, 3, 5.0);
    let chain = Chain::new(root, &rod.lengths, &curvatures);
    assert_eq!(chain.position(1.0), chain.position_at(Place { element: 2, along: rod.lengths[2] }));
}
