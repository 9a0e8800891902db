use glam::{DVec3, Vec3};

use super::programme::{from_basis, matrix, node_columns, to_basis};
use super::*;
use crate::groom::Curves;
use crate::math::Random;
use crate::rest::{Stiffness, sag_free};
use crate::rod::cosserat::Darboux;
use crate::scene::{Material, MaterialPreset, Model};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

/// Two crossing sheaves of a few strands that stand out from two walls, close together.
fn sheaves(strands: usize, vertices: usize) -> (Model, Vec<DVec3>, Vec<bool>) {
    let mut random = Random::new(3);
    let mut curves = Curves::default();
    for strand in 0..strands {
        let (side, upper) = (0.003 * (strand / 2) as f32, strand % 2 == 1);
        curves.push((0..vertices).map(|vertex| {
            let out = 0.008 * vertex as f32 - 0.03;
            let point = if upper { Vec3::new(side, 0.004, out) } else { Vec3::new(out, 0.0, side) };
            point + 5e-4 * Vec3::new(random.signed(), random.signed(), random.signed())
        }));
    }
    let model = Model::new(&curves, &Material::preset(MaterialPreset::Wavy)).unwrap();
    let positions = curves.points.iter().map(|point| point.as_dvec3()).collect();
    let held = (0..strands * vertices).map(|vertex| vertex % vertices == 0).collect();
    (model, positions, held)
}

fn medium() -> Medium {
    Medium::with_friction(0.012, 0.5)
}

fn programme(hair: &Hair<'_>) -> Programme {
    Programme::new(hair, &own_weight(hair).unwrap(), &medium(), &Weights::default()).unwrap()
}

fn random_unknowns(programme: &Programme) -> Unknowns {
    let mut random = Random::new(7);
    let mut number = || f64::from(random.signed());
    Unknowns {
        forces: programme.segments.iter().map(|_| DVec3::new(number(), number(), number())).collect(),
        stresses: programme.free.iter().map(|_| std::array::from_fn(|_| number())).collect(),
    }
}

#[test]
fn the_basis_of_stresses_is_orthonormal() {
    for part in 0..6 {
        let unit: [f64; 6] = std::array::from_fn(|at| f64::from(u8::from(at == part)));
        let again = to_basis(from_basis(unit));
        assert!(again.iter().zip(&unit).all(|(a, b)| (a - b).abs() < 1e-14), "{again:?}");
        let whole = matrix(unit);
        let size =
            whole.x_axis.length_squared() + whole.y_axis.length_squared() + whole.z_axis.length_squared();
        assert!((size - 1.0).abs() < 1e-14);
        let gradient = DVec3::new(0.3, -1.2, 0.7);
        assert!((node_columns(gradient)[part] + whole * gradient).length() < 1e-14);
    }
}

#[test]
fn strands_that_carry_themselves_leave_every_node_at_rest() {
    let (model, positions, held) = sheaves(8, 8);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let found = balance(&hair, &medium(), &Weights::default(), Engine::OwnWeight).unwrap();
    assert!(found.quality.node_acceleration < 1e-6, "{:?}", found.quality);
    let mut wrong = found.forces.clone();
    wrong.segments[3] *= 1.01;
    let quality = assess(&hair, &medium(), &Weights::default(), &wrong).unwrap();
    assert!(quality.node_acceleration > 1e-3, "{quality:?}");
}

#[test]
fn forces_alone_pull_at_nodes_as_the_whole_programme_does() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let whole = programme(&hair);
    let loose = loose::Loose::new(&whole);
    let small = &loose.programme;
    let forces = random_unknowns(small).forces;
    let stresses = vec![[0.0; 6]; small.free.len()];
    let alone = small.apply_forces(&forces);
    let both = small.residual(&Unknowns { forces: forces.clone(), stresses });
    assert!(!alone.is_empty() && both.iter().zip(&alone).all(|(a, b)| (*a - *b).length() < 1e-9));
    // Rows and columns are transposes of each other.
    let mut random = Random::new(9);
    let mut number = || f64::from(random.signed());
    let nodes: Vec<DVec3> = alone.iter().map(|_| DVec3::new(number(), number(), number())).collect();
    let product = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let [forward, back] = [product(&alone, &nodes), product(&forces, &small.apply_forces_transposed(&nodes))];
    assert!((forward - back).abs() < 1e-9 * forward.abs().max(1.0), "{forward} {back}");
}

#[test]
fn moments_are_those_of_all_that_lies_behind_and_their_slopes_agree_with_differences() {
    let (model, positions, held) = sheaves(3, 6);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = programme(&hair);
    let forces = programme.in_world(&random_unknowns(&programme).forces);
    let found = programme.moments.of(&forces);
    // The third segment of the second strand, by hand.
    let behind = |s: usize| -forces[s].cross(programme.segments[s].edge());
    assert!((found[7] - behind(7) - behind(8) - behind(9)).length() < 1e-12);
    let mut slope = vec![DVec3::ZERO; forces.len()];
    programme.moments.add_gradient(&found, &mut slope);
    let price = |forces: &[DVec3]| {
        let moments = programme.moments.of(forces);
        programme.moments.product(&moments, &moments)
    };
    for (segment, axis) in [(0, 0), (4, 1), (7, 2), (14, 0)] {
        let moved = |by: f64| {
            let mut moved = forces.clone();
            moved[segment][axis] += by;
            price(&moved)
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((difference - slope[segment][axis]).abs() < 1e-6 * (1.0 + difference.abs()), "{difference}");
    }
}

/// The unknowns of the standard form for a point of the programme.
fn standard(programme: &Programme, point: &Unknowns) -> Vec<f64> {
    let segments = || programme.segments.iter().zip(&point.forces);
    let price = &programme.price;
    let mut x: Vec<f64> = segments().flat_map(|(s, force)| (*force / s.carried).to_array()).collect();
    x.extend(segments().map(|(s, force)| (price.weights.least - force.x / s.carried).max(0.0)));
    x.extend(point.forces.iter().map(|force| price.excess(*force).max(0.0)));
    let moments = programme.moments.of(&programme.in_world(&point.forces));
    x.extend(programme.segments.iter().zip(&moments).flat_map(|(s, moment)| (*moment / s.lever).to_array()));
    x.extend(point.stresses.iter().flatten());
    x
}

#[test]
fn rows_of_the_dumped_problem_are_those_of_the_programme() {
    let (model, positions, held) = sheaves(6, 6);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = programme(&hair);
    let point = random_unknowns(&programme);
    let problem = problem(&hair, &medium(), &Weights::default()).unwrap();
    let mut left: Vec<f64> = problem.b.iter().map(|b| -b).collect();
    for (column, value) in standard(&programme, &point).iter().enumerate() {
        for at in problem.a.column_starts[column]..problem.a.column_starts[column + 1] {
            left[problem.a.row_indices[at]] += problem.a.values[at] * value;
        }
    }
    let nodes = programme.residual(&point);
    let moments = 3 * (nodes.len() + programme.segments.len());
    for (left, wanted) in left.iter().zip(nodes.iter().flat_map(|node| node.to_array())) {
        assert!((left - wanted).abs() < 1e-9 * (1.0 + wanted.abs()), "{left} {wanted}");
    }
    assert!(left[3 * nodes.len()..moments].iter().all(|moment| moment.abs() < 1e-9));
}

#[test]
fn the_dumped_problem_holds_for_strands_that_carry_themselves() {
    let (model, positions, held) = sheaves(6, 6);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = programme(&hair);
    let own = programme.unknowns(&own_weight(&hair).unwrap());
    let problem = problem(&hair, &medium(), &Weights::default()).unwrap();
    let x = standard(&programme, &own);
    assert_eq!(x.len(), problem.a.columns);
    let mut slack = problem.b.clone();
    for (column, value) in x.iter().enumerate() {
        for at in problem.a.column_starts[column]..problem.a.column_starts[column + 1] {
            slack[problem.a.row_indices[at]] -= problem.a.values[at] * value;
        }
    }
    let mut rows = slack.as_slice();
    for cone in &problem.cones {
        let (Cone::Zero(count) | Cone::Nonnegative(count) | Cone::SecondOrder(count)) = *cone;
        let (own, rest) = rows.split_at(count);
        let is_inside = match cone {
            Cone::Zero(_) => own.iter().all(|s| s.abs() < 1e-6),
            Cone::Nonnegative(_) => own.iter().all(|s| *s > -1e-12),
            Cone::SecondOrder(_) => own[0] >= own[1..].iter().map(|s| s * s).sum::<f64>().sqrt() - 1e-12,
        };
        assert!(is_inside, "{cone:?}: {own:?}");
        rows = rest;
    }
    assert!(rows.is_empty());
    let half: f64 =
        x.iter().enumerate().map(|(at, x)| (0.5 * problem.p.values[at] * x + problem.q[at]) * x).sum();
    let objective = programme.objective(&own);
    assert!((half - objective).abs() < 1e-9 * objective, "{half} {objective}");
}

#[test]
fn stresses_of_the_reference_lie_in_their_cones_and_lower_the_objective() {
    let (model, positions, held) = sheaves(24, 8);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let solve = |engine| balance(&hair, &medium(), &Weights::default(), engine).unwrap();
    let own = solve(Engine::OwnWeight).quality;
    let found = solve(Engine::Reference { seconds: 60.0 });
    let quality = found.quality;
    assert!(quality.node_acceleration < 1e-4 && quality.cone_excess < 1e-6, "{quality:?}");
    assert!(quality.objective < own.objective, "{quality:?} {own:?}");
    assert!(found.forces.stresses.iter().flatten().any(|stress| *stress != 0.0));
}

/// Strands that stand out from a wall so densely that particles are more than nodes.
fn brush() -> (Model, Vec<DVec3>, Vec<bool>) {
    let mut random = Random::new(8);
    let mut curves = Curves::default();
    for strand in 0..100 {
        let root = 0.003 * Vec3::new((strand % 10) as f32, (strand / 10) as f32, 0.0);
        let lean = 0.3 * Vec3::new(random.signed(), random.signed(), 0.0);
        curves.push((0..8).map(|vertex| root + 0.005 * vertex as f32 * (Vec3::Z + lean)));
    }
    let model = Model::new(&curves, &Material::preset(MaterialPreset::Wavy)).unwrap();
    let positions = curves.points.iter().map(|point| point.as_dvec3()).collect();
    (model, positions, (0..800).map(|vertex| vertex % 8 == 0).collect())
}

#[test]
fn strands_that_carry_each_other_agree_with_clarabel_where_stress_is_too_dear() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let weights = Weights { hydrostatic: 1e6, deviatoric: 1e6, ..Weights::default() };
    let solve = |engine| balance(&hair, &medium(), &weights, engine).unwrap();
    let before = solve(Engine::OwnWeight).quality;
    let found = solve(Engine::Anytime { seconds: 60.0 });
    let after = found.quality;
    assert!(found.iterations < 100, "{}", found.iterations);
    assert!(after.node_acceleration < 1e-4 && after.cone_excess == 0.0, "{after:?}");
    let reference = solve(Engine::Reference { seconds: 60.0 }).quality;
    assert!(after.objective < 1.01 * reference.objective, "{after:?} {reference:?}");
    assert!(reference.objective < 0.98 * before.objective, "contact matters here: {before:?} {reference:?}");
    assert!(after.largest_force < before.largest_force, "{before:?} {after:?}");
}

#[test]
fn pressures_agree_with_clarabel_where_shear_is_too_dear() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let weights = Weights { deviatoric: 1e6, ..Weights::default() };
    let solve = |weights, engine| balance(&hair, &medium(), &weights, engine).unwrap();
    let found = solve(weights, Engine::Anytime { seconds: 60.0 });
    let reference = solve(weights, Engine::Reference { seconds: 60.0 }).quality;
    let alone = solve(Weights { hydrostatic: 1e6, ..weights }, Engine::Anytime { seconds: 60.0 }).quality;
    let after = found.quality;
    assert!(found.forces.stresses.iter().flatten().any(|stress| *stress < 0.0));
    assert!(after.node_acceleration < 1e-4 && after.cone_excess == 0.0, "{after:?}");
    assert!(after.objective < 1.01 * reference.objective, "{after:?} {reference:?}");
    assert!(after.objective < 0.995 * alone.objective, "pressures matter here: {after:?} {alone:?}");
}

#[test]
fn what_nodes_do_to_pressures_is_the_transpose_of_what_pressures_do_to_nodes() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let loose = loose::Loose::new(&programme(&hair));
    let small = &loose.programme;
    let pressures = pressure::Pressures::new(small);
    let random = random_unknowns(small);
    let given: Vec<f64> = random.stresses.iter().map(|stress| stress[0].abs()).collect();
    let pushed = pressures.pushed(&given);
    let stresses = given.iter().map(|pressure| [-pressure, 0.0, 0.0, 0.0, 0.0, 0.0]).collect();
    let none = vec![DVec3::ZERO; small.segments.len()];
    let wanted = small.residual(&Unknowns { forces: none, stresses });
    assert!(pushed.iter().zip(&wanted).all(|(a, b)| (*a - *b).length() < 1e-9 * (1.0 + b.length())));
    let mut numbers = Random::new(4);
    let mut number = || f64::from(numbers.signed());
    let nodes: Vec<DVec3> = pushed.iter().map(|_| DVec3::new(number(), number(), number())).collect();
    let forward: f64 = pushed.iter().zip(&nodes).map(|(a, b)| a.dot(*b)).sum();
    let back: f64 = given.iter().zip(pressures.felt(&nodes)).map(|(a, b)| a * b).sum();
    assert!((forward - back).abs() < 1e-9 * forward.abs().max(1.0), "{forward} {back}");
}

#[test]
fn stopped_at_any_moment_strands_are_carried_and_no_force_is_larger() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = programme(&hair);
    let own = programme.unknowns(&own_weight(&hair).unwrap());
    let before = quality(&programme, &own);
    let mut last = before.objective;
    for most in [0, 1, 3, 10, 200] {
        let (point, iterations) = descent::solve(&programme, &own, descent::Until::Iterations(most));
        let after = quality(&programme, &point);
        assert!(iterations == most || (most == 200 && iterations > 40), "{iterations}");
        assert!(after.node_acceleration < 1e-4, "{most}: {after:?}");
        assert!(after.largest_force <= before.largest_force * (1.0 + 1e-9), "{most}: {after:?}");
        assert!(if most == 0 { point == own } else { after.objective < last }, "{most}: {after:?} {last}");
        last = after.objective;
    }
}

#[test]
fn a_mix_of_two_balances_is_one_and_stiffens_no_more_than_strands_alone() {
    let (model, positions, held) = sheaves(24, 8);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let weights = Weights::default();
    let own = own_weight(&hair).unwrap();
    let found = balance(&hair, &medium(), &weights, Engine::Reference { seconds: 60.0 }).unwrap().forces;
    let quality = |forces: &Forces| assess(&hair, &medium(), &weights, forces).unwrap();
    let [first, middle, last] = [0.0, 0.5, 1.0].map(|part| quality(&own.towards(&found, part)));
    assert!(middle.node_acceleration < 1e-4 && middle.cone_excess < 1e-6, "{middle:?}");
    assert!(middle.objective < 0.5 * (first.objective + last.objective), "{first:?} {middle:?} {last:?}");
    let stiffness = |material: &Material| Stiffness {
        stretch: material.area() * material.young,
        bend: material.rod_stiffness()[0],
        darboux: Darboux::Augmented,
    };
    let shape = |forces: Forces| sag_free(&hair, forces, stiffness);
    let alone = shape(own.clone()).unwrap();
    assert!(least_stiffened(&own, &found, shape).unwrap().stiffened <= alone.stiffened);
}

#[test]
fn hair_with_fewer_particles_than_nodes_is_tied() {
    let (model, positions, held) = sheaves(2, 8);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = programme(&hair);
    assert!(loose::Loose::new(&programme).members.is_empty());
    let own = programme.unknowns(&own_weight(&hair).unwrap());
    let until = descent::Until::Iterations(100);
    assert_eq!(descent::solve(&programme, &own, until), (own, 0));
}

#[test]
fn answers_are_the_same_on_any_number_of_threads() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let engine = Engine::Anytime { seconds: 60.0 };
    let solve = || balance(&hair, &medium(), &Weights::default(), engine).unwrap().forces;
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(solve);
    assert_eq!(on(1), on(3));
}

#[test]
fn strands_in_the_same_place_are_carried() {
    let (one, positions, held) = sheaves(1, 8);
    let twice = Curves { offsets: vec![0, 8, 16], points: [one.groomed.clone(), one.groomed].concat() };
    let model = Model::new(&twice, &Material::preset(MaterialPreset::Wavy)).unwrap();
    let (positions, held) = ([&positions[..]; 2].concat(), [&held[..]; 2].concat());
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    for engine in [Engine::Anytime { seconds: 10.0 }, Engine::Reference { seconds: 10.0 }] {
        let found = balance(&hair, &medium(), &Weights::default(), engine).unwrap();
        assert!(found.quality.node_acceleration < 1e-4, "{:?}", found.quality);
    }
}

#[test]
fn what_cannot_be_balanced_gets_a_clear_answer() {
    let (model, positions, held) = sheaves(4, 5);
    let weights = Weights::default();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let answer = |hair: &Hair<'_>, medium: &Medium, weights: &Weights| {
        balance(hair, medium, weights, Engine::OwnWeight).map(|_| ()).unwrap_err()
    };
    let floating = vec![false; held.len()];
    let loose = Hair { held: &floating, ..hair };
    assert_eq!(answer(&loose, &medium(), &weights), RestError::Unsupported { strand: 0 }.into());
    let weightless = Hair { gravity: DVec3::ZERO, ..hair };
    assert_eq!(answer(&weightless, &medium(), &weights), GlobalForceError::Weightless);
    let mut far = positions.clone();
    far[7].x = 1e9;
    let lost = Hair { positions: &far, ..hair };
    assert!(matches!(answer(&lost, &medium(), &weights), GlobalForceError::OutOfReach { vertex: 7, .. }));
    far[7].x = f64::NAN;
    let lost = Hair { positions: &far, ..hair };
    assert_eq!(answer(&lost, &medium(), &weights), GlobalForceError::NotFinite { vertex: 7 });
    let flat = Medium { cell: 0.0, ..medium() };
    assert!(matches!(answer(&hair, &flat, &weights), GlobalForceError::Parameter { .. }));
    let free = Weights { tension: 0.0, ..weights };
    assert!(matches!(answer(&hair, &medium(), &free), GlobalForceError::Parameter { .. }));
}
