use glam::{DMat2, DMat3, DQuat, DVec2, DVec3};

use super::*;
use crate::math::Random;

fn vector(random: &mut Random) -> DVec3 {
    let mut part = || 2.0 * random.unit_f64() - 1.0;
    DVec3::new(part(), part(), part())
}

/// 10 to a power between two numbers.
fn decades(random: &mut Random, low: f64, high: f64) -> f64 {
    10.0_f64.powf(low + (high - low) * random.unit_f64())
}

/// A random contact: condition up to 1e8, one in ten singular, friction from 0 to 10, any scale of W and b.
fn contact(random: &mut Random) -> (LocalProblem, bool) {
    let q = DQuat::from_xyzw(
        random.unit_f64() - 0.5,
        random.unit_f64() - 0.5,
        random.unit_f64() - 0.5,
        random.unit_f64() - 0.5,
    );
    let rotation = DMat3::from_quat(q.normalize());
    let scale = decades(random, -4.0, 4.0);
    let spread = decades(random, 0.0, 8.0);
    let singular = random.below(10) == 0;
    let middle = decades(random, -spread.log10(), 0.0);
    let mut values = DVec3::new(1.0, middle, 1.0 / spread);
    if singular {
        values.z = 0.0;
        if random.below(3) == 0 {
            values.y = 0.0;
        }
    }
    let matrix = rotation * DMat3::from_diagonal(scale * values) * rotation.transpose();
    let matrix = 0.5 * (matrix + matrix.transpose());
    let friction = match random.below(8) {
        0 => 0.0,
        1 => decades(random, -6.0, 0.0),
        _ => 10.0 * random.unit_f64(),
    };
    let size = decades(random, -3.0, 3.0);
    let offset = match random.below(4) {
        // Stick: what a force in the cone undoes.
        0 => {
            let angle = std::f64::consts::TAU * random.unit_f64();
            let tangent = friction * random.unit_f64();
            -size * (matrix * DVec3::new(1.0, tangent * angle.cos(), tangent * angle.sin())) / scale
        }
        1 => size * (vector(random) + DVec3::X),
        _ => size * (vector(random) - 0.5 * DVec3::X),
    };
    (LocalProblem { matrix, offset, friction }, singular)
}

/// Whether a singular contact has a solution, by brute force: a sign change of the excess over the cone on a fine grid
/// of α, where u_T = −α r_T and u_N = 0.
fn brute_force_solvable(problem: &LocalProblem) -> bool {
    let (matrix, offset) = (&problem.matrix, problem.offset);
    let normal = matrix.x_axis.x;
    if offset.x >= 0.0 {
        return true;
    }
    if normal * problem.mass() < 1.0e-12 {
        return false;
    }
    let coupling = DVec2::new(matrix.x_axis.y, matrix.x_axis.z) / normal;
    let (y, z) = (matrix.y_axis - matrix.x_axis * coupling.x, matrix.z_axis - matrix.x_axis * coupling.y);
    let pull = DVec2::new(offset.y, offset.z) - coupling * offset.x;
    let scale = 1.0 / problem.mass();
    let mut before: Option<f64> = None;
    // Below 1e-11 rounding in a singular operator decides.
    for step in -2750..=4000 {
        let alpha = scale * 10.0_f64.powf(f64::from(step) / 250.0);
        let shifted = DMat2::from_cols(DVec2::new(y.y + alpha, y.z), DVec2::new(z.y, z.z + alpha));
        let tangent = -(shifted.inverse() * pull);
        let excess = tangent.length() - problem.friction * (-offset.x / normal - coupling.dot(tangent));
        if before.is_some_and(|before| before * excess <= 0.0) {
            return true;
        }
        before = Some(excess);
    }
    false
}

fn random_contacts(count: u64) {
    let random = Random::new(11);
    let hybrid = LocalSolver::default();
    let (mut fail_safe, mut unsolved, mut regimes) = (0, 0, [0_u64; 3]);
    let mut worst = 0.0_f64;
    for index in 0..count {
        let mut random = random.fork(index);
        let (problem, singular) = contact(&mut random);
        let mass = problem.mass();
        let guess =
            if index % 2 == 0 { DVec3::ZERO } else { mass * problem.offset.length() * vector(&mut random) };
        let solved = hybrid.solve(&problem, guess, 1.0e-9);
        match solved.found {
            Found::Nothing => {
                unsolved += 1;
                assert!(singular, "contact {index}: {problem:?}");
                assert!(!brute_force_solvable(&problem), "contact {index} has a solution: {problem:?}");
                continue;
            }
            Found::FailSafe => fail_safe += 1,
            Found::Method | Found::Best => {}
        }
        let error = relative_natural_map(&problem, solved.force);
        worst = worst.max(error);
        assert!(error <= 1.0e-9, "contact {index}: {error} {problem:?} {solved:?}");
        let velocity = problem.velocity(solved.force);
        let size = solved.force.length() + mass * problem.offset.length();
        let found = regime(solved.force, velocity, problem.friction, 1.0e-7 * size, 1.0e-7 * size / mass);
        if let Some(found) = found {
            regimes[found as usize] += 1;
        }
    }
    println!(
        "{count} contacts: worst {worst:.1e}, fail-safe {fail_safe}, unsolvable {unsolved}, regimes {regimes:?}"
    );
    assert!(regimes.iter().all(|&count_of| count_of > count / 20), "{regimes:?}");
    assert!(unsolved > 0 && unsolved < count / 50, "{unsolved}");
    assert!(regimes.iter().sum::<u64>() + unsolved > count * 99 / 100, "{regimes:?}");
}

#[test]
fn hybrid_solves_every_solvable_contact() {
    random_contacts(50_000);
}

#[test]
#[ignore = "a million contacts take about a second in release and more elsewhere"]
fn hybrid_solves_a_million_contacts() {
    random_contacts(1_000_000);
}

#[test]
fn projection_is_nearest_point() {
    let mut random = Random::new(1);
    for _ in 0..300 {
        let (x, friction) = (vector(&mut random), decades(&mut random, -2.0, 1.0));
        let nearest = project(x, friction);
        assert!(tangent_length(nearest) <= friction * nearest.x + 1.0e-12);
        for _ in 0..200 {
            let mut other = 2.0 * vector(&mut random);
            let allowed = friction * other.x.abs();
            let scale = (allowed / tangent_length(other)).min(1.0);
            other = DVec3::new(other.x.abs(), scale * other.y, scale * other.z);
            assert!(x.distance(nearest) <= x.distance(other) + 1.0e-12, "{x} {friction}");
        }
    }
}

#[test]
fn fischer_burmeister_vanishes_exactly_at_solutions() {
    let mut random = Random::new(2);
    for _ in 0..2_000 {
        let (angle, push) = (std::f64::consts::TAU * random.unit_f64(), decades(&mut random, -6.0, 6.0));
        let (x, y) = match random.below(3) {
            0 => (DVec3::new(push, 0.5 * push * angle.cos(), 0.5 * push * angle.sin()), DVec3::ZERO),
            1 => (DVec3::ZERO, DVec3::new(push, 0.9 * push * angle.cos(), 0.9 * push * angle.sin())),
            _ => {
                let slide = decades(&mut random, -3.0, 3.0);
                let direction = DVec3::new(0.0, angle.cos(), angle.sin());
                (push * (DVec3::X + direction), slide * (DVec3::X - direction))
            }
        };
        let size = x.length() + y.length();
        assert!(fischer_burmeister(x, y).length() <= 1.0e-14 * size, "{x} {y}");
        // Off a solution it is as large as the distance is, to a factor of ten.
        let off = 1.0e-3 * size * DVec3::new(-1.0, 0.3, 0.2);
        if x == DVec3::ZERO {
            assert!(fischer_burmeister(x + off, y).length() > 1.0e-4 * size, "{x} {y}");
        }
    }
    let square = jordan_product(DVec3::new(2.0, 0.5, -1.0), DVec3::new(2.0, 0.5, -1.0));
    assert_eq!(square, DVec3::new(5.25, 2.0, -4.0));
}

#[test]
fn fischer_burmeister_jacobians_match_finite_differences() {
    let mut random = Random::new(3);
    for _ in 0..3_000 {
        let friction = if random.below(5) == 0 { 0.0 } else { decades(&mut random, -2.0, 1.0) };
        let function = FischerBurmeister::new(friction, decades(&mut random, -1.0, 1.0));
        let (force, velocity) = (vector(&mut random), vector(&mut random));
        let parts = function.derivatives(force, velocity);
        assert!(parts.value.abs_diff_eq(function.value(force, velocity), 1.0e-15));
        let step = 1.0e-6;
        for axis in 0..3 {
            let mut along = DVec3::ZERO;
            along[axis] = step;
            let by_force = (function.value(force + along, velocity)
                - function.value(force - along, velocity))
                / (2.0 * step);
            let by_velocity = (function.value(force, velocity + along)
                - function.value(force, velocity - along))
                / (2.0 * step);
            assert!(
                by_force.abs_diff_eq(parts.force.col(axis), 2.0e-6),
                "{by_force} {}",
                parts.force.col(axis)
            );
            let size = 1.0 + parts.velocity.col(axis).length();
            assert!(by_velocity.abs_diff_eq(parts.velocity.col(axis), 5.0e-6 * size), "{by_velocity}");
        }
    }
}

#[test]
fn alart_curnier_jacobians_match_finite_differences() {
    let mut random = Random::new(4);
    let mut checked = 0;
    for _ in 0..1_000 {
        let (friction, mass) = (random.unit_f64(), 0.5 + random.unit_f64());
        let (force, velocity) = (vector(&mut random), vector(&mut random));
        let value = |force, velocity| alart_curnier(force, velocity, friction, mass).0;
        let (_, by_force, by_velocity) = alart_curnier(force, velocity, friction, mass);
        let pushed = force - mass * velocity;
        // Not across a kink.
        if pushed.x.abs() < 1.0e-3 || (tangent_length(pushed) - friction * pushed.x.max(0.0)).abs() < 1.0e-3 {
            continue;
        }
        checked += 1;
        for axis in 0..3 {
            let mut along = DVec3::ZERO;
            along[axis] = 1.0e-6;
            let difference = (value(force + along, velocity) - value(force - along, velocity)) / 2.0e-6;
            assert!(difference.abs_diff_eq(by_force.col(axis), 1.0e-6), "{difference}");
            let difference = (value(force, velocity + along) - value(force, velocity - along)) / 2.0e-6;
            assert!(difference.abs_diff_eq(by_velocity.col(axis), 1.0e-6), "{difference}");
        }
    }
    assert!(checked > 900);
}

#[test]
fn quartics_with_known_roots() {
    let mut random = Random::new(5);
    for _ in 0..2_000 {
        let mut roots = [(); 4].map(|()| (2.0 * random.unit_f64() - 1.0) * decades(&mut random, -2.0, 2.0));
        roots.sort_by(f64::total_cmp);
        let [p, q, r, s] = roots;
        let coefficients = [
            -(p + q + r + s),
            p * q + p * r + p * s + q * r + q * s + r * s,
            -(p * q * r + p * q * s + p * r * s + q * r * s),
            p * q * r * s,
        ];
        let (mut found, count) = real_roots(coefficients);
        let apart = roots.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let size = roots.iter().fold(0.0_f64, |size, root| size.max(root.abs()));
        if apart < 0.02 * size {
            continue;
        }
        assert_eq!(count, 4, "{roots:?}");
        found.sort_by(f64::total_cmp);
        for (a, b) in found.iter().zip(roots) {
            assert!((a - b).abs() <= 1.0e-7 * size, "{found:?} {roots:?}");
        }
    }
    assert_eq!(real_roots([0.0, 0.0, 0.0, 1.0]).1, 0, "x⁴ + 1 has no real root");
    assert_eq!(real_roots([f64::NAN, 0.0, 0.0, 1.0]).1, 0);
}

/// A block on a plane: the closed forms of all three cases.
#[test]
fn block_on_a_plane() {
    for solver in ["mfb+enum", "enum", "dac", "pac", "duriez08", "mfb", "secular", "4sides", "duriez06"] {
        let solver: LocalSolver = solver.parse().unwrap();
        let block = |x: f64, y: f64, friction| LocalProblem {
            matrix: DMat3::from_diagonal(DVec3::splat(0.5)),
            offset: DVec3::new(x, y, 0.0),
            friction,
        };
        let force = |problem: LocalProblem| solver.solve(&problem, DVec3::X, 1.0e-12).force;
        assert!(force(block(1.0, 3.0, 0.5)).length() < 1.0e-12, "{solver}: take-off");
        assert!(
            force(block(-1.0, 0.4, 0.5)).abs_diff_eq(DVec3::new(2.0, -0.8, 0.0), 1.0e-11),
            "{solver}: stick"
        );
        assert!(
            force(block(-1.0, 3.0, 0.5)).abs_diff_eq(DVec3::new(2.0, -1.0, 0.0), 1.0e-11),
            "{solver}: slide"
        );
        assert!(
            force(block(-1.0, 3.0, 0.0)).abs_diff_eq(DVec3::new(2.0, 0.0, 0.0), 1.0e-11),
            "{solver}: μ = 0"
        );
    }
}

#[test]
fn exact_methods_agree_on_the_velocity() {
    let random = Random::new(6);
    let mut agreed = [0; 3];
    for index in 0..2_000 {
        let mut random = random.fork(index);
        // A mild operator with little coupling: the solution is unique.
        let off = |random: &mut Random| 0.2 * (2.0 * random.unit_f64() - 1.0);
        let (a, b, c) = (off(&mut random), off(&mut random), off(&mut random));
        let matrix = DMat3::from_cols(DVec3::new(1.0, a, b), DVec3::new(a, 1.2, c), DVec3::new(b, c, 0.8));
        let problem = LocalProblem { matrix, offset: vector(&mut random), friction: random.unit_f64() };
        let reference = LocalSolver::default().solve(&problem, DVec3::ZERO, 1.0e-13).force;
        for (solver, agreed) in ["dac", "pac", "duriez08"].into_iter().zip(&mut agreed) {
            let solver: LocalSolver = solver.parse().unwrap();
            let solved = solver.solve(&problem, DVec3::ZERO, 1.0e-12);
            if solved.found == Found::Method {
                *agreed += 1;
                let apart = problem.velocity(solved.force).distance(problem.velocity(reference));
                assert!(apart < 1.0e-9, "{solver} {index}: {apart}");
            }
        }
    }
    assert!(agreed.iter().all(|&count| count > 1_800), "{agreed:?}");
}

/// The law in the plane, case by case: take-off, stick, and sliding to one side or the other.
fn planar_force(matrix: &DMat2, offset: DVec2, friction: f64) -> DVec2 {
    if offset.x >= 0.0 {
        return DVec2::ZERO;
    }
    let stick = -(matrix.inverse() * offset);
    if stick.y.abs() <= friction * stick.x {
        return stick;
    }
    let slide = |side: f64| {
        let normal = -offset.x / (matrix.x_axis.x + side * friction * matrix.y_axis.x);
        DVec2::new(normal, side * friction * normal)
    };
    [1.0, -1.0].map(slide).into_iter().find(|force| (*matrix * *force + offset).y * force.y <= 0.0).unwrap()
}

/// In the plane the pyramid of four sides is the cone. One pass from no force is right where normal and tangent are on their own.
#[test]
fn planar_contacts_have_their_closed_form_with_every_method() {
    for method in Method::ALL {
        for fail_safe in [false, true] {
            let solver = LocalSolver { method, fail_safe, direct: false };
            let (mut random, mut found) = (Random::new(7), 0);
            for _ in 0..1_000 {
                let signed = 2.0 * random.unit_f64() - 1.0;
                let off = if method == Method::Duriez06 { 0.0 } else { 0.3 * signed };
                let matrix = DMat2::from_cols(DVec2::new(1.0, off), DVec2::new(off, 0.7));
                let (offset, friction) = (vector(&mut random).truncate(), random.unit_f64());
                let mut problem = LocalProblem::planar(matrix, offset, friction);
                // The direction out of the plane is on its own, so its entry is of no account.
                problem.matrix.z_axis.z = 0.7;
                let solved = solver.solve(&problem, DVec3::ZERO, 1.0e-12);
                assert_eq!(solved.force.z, 0.0, "{solver}");
                if solved.found == Found::Best {
                    continue;
                }
                found += 1;
                let exact = planar_force(&matrix, offset, friction).extend(0.0);
                let apart = solved.force.distance(exact);
                assert!(apart < 1.0e-9, "{solver}: {apart} {problem:?} {solved:?} {exact}");
            }
            assert!(found >= if fail_safe { 1_000 } else { 900 }, "{solver}: only {found} of 1000");
        }
    }
}

#[test]
fn without_friction_a_contact_that_parts_has_no_error() {
    for x in [DVec3::NEG_X, DVec3::new(-2.0, 1.0, 0.5), DVec3::ZERO] {
        assert_eq!(project(x, 0.0), DVec3::ZERO);
    }
    assert_eq!(project(DVec3::new(2.0, 1.0, 0.5), 0.0), 2.0 * DVec3::X);
    assert_eq!(natural_map(DVec3::ZERO, DVec3::X, 0.0, 1.0), DVec3::ZERO);
    let problem = LocalProblem { matrix: DMat3::IDENTITY, offset: DVec3::X, friction: 0.0 };
    assert_eq!(relative_natural_map(&problem, DVec3::ZERO), 0.0);
}

#[test]
fn names_of_local_solvers_go_both_ways() {
    for method in Method::ALL {
        for fail_safe in [false, true] {
            let name = format!("{}{}", method.name(), if fail_safe { "+enum" } else { "" });
            let solver: LocalSolver = name.parse().unwrap();
            assert_eq!((solver.method, solver.fail_safe), (method, fail_safe));
            assert_eq!(solver.to_string(), name);
        }
    }
    let error = "newton".parse::<LocalSolver>().unwrap_err().to_string();
    assert!(error.contains("newton") && error.contains("mfb"), "{error}");
}

/// A singular operator that drives a sliding contact into the surface, as a rod does that is pushed along a table too
/// steeply and too rough.
#[test]
fn jammed_contact_has_no_solution() {
    let direction = DVec3::new(1.0, -2.0, 0.0);
    let matrix = DMat3::from_cols(direction * direction.x, direction * direction.y, direction * direction.z);
    let problem = LocalProblem { matrix, offset: DVec3::new(-1.0, -5.0, 0.0), friction: 1.0 };
    assert!(!brute_force_solvable(&problem));
    for method in ["mfb+enum", "pac+enum", "dac+enum", "secular+enum"] {
        // However loose: the larger a force, the less its error is beside it.
        for tolerance in [1.0e-9, 1.0e-4] {
            let solved = method.parse::<LocalSolver>().unwrap().solve(&problem, DVec3::ZERO, tolerance);
            assert_eq!(solved.found, Found::Nothing, "{method}, {tolerance}: {solved:?}");
        }
    }
    let easier = LocalProblem { friction: 0.2, ..problem };
    let solved = LocalSolver::default().solve(&easier, DVec3::ZERO, 1.0e-9);
    assert!(relative_natural_map(&easier, solved.force) < 1.0e-9, "{solved:?}");
}
