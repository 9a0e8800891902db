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
fn rows_and_columns_are_transposes_of_each_other() {
    let (model, positions, held) = sheaves(6, 6);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = Programme::new(&hair, &medium(), &Weights::default()).unwrap();
    let x = random_unknowns(&programme);
    let mut random = Random::new(9);
    let nodes: Vec<DVec3> = (0..programme.lattice.nodes())
        .map(|_| DVec3::new(random.signed().into(), random.signed().into(), random.signed().into()))
        .collect();
    let forward: f64 = programme.apply(&x).iter().zip(&nodes).map(|(a, b)| a.dot(*b)).sum();
    let back = programme.apply_transposed(&nodes);
    let forces: f64 = back.forces.iter().zip(&x.forces).map(|(a, b)| a.dot(*b)).sum();
    let stresses: f64 =
        back.stresses.iter().flatten().zip(x.stresses.iter().flatten()).map(|(a, b)| a * b).sum();
    assert!(
        (forward - forces - stresses).abs() < 1e-9 * forward.abs().max(1.0),
        "{forward} {forces} {stresses}"
    );
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
fn the_dumped_problem_holds_for_strands_that_carry_themselves() {
    let (model, positions, held) = sheaves(6, 6);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let weights = Weights::default();
    let programme = Programme::new(&hair, &medium(), &weights).unwrap();
    let own = programme.unknowns(&own_weight(&hair).unwrap());
    let problem = problem(&hair, &medium(), &weights).unwrap();
    let mut x: Vec<f64> = own.forces.iter().map(|f| f.x.max(0.0)).collect();
    x.extend(own.forces.iter().map(|f| (-f.x).max(0.0)));
    x.extend(own.forces.iter().flat_map(|f| [f.y, f.z]));
    x.extend(own.stresses.iter().flatten());
    let mut slack = problem.b.clone();
    for (column, value) in x.iter().enumerate() {
        for at in problem.a.column_starts[column]..problem.a.column_starts[column + 1] {
            slack[problem.a.row_indices[at]] -= problem.a.values[at] * value;
        }
    }
    let rows: usize = problem
        .cones
        .iter()
        .map(|cone| match *cone {
            Cone::Zero(rows) | Cone::Nonnegative(rows) | Cone::SecondOrder(rows) => rows,
        })
        .sum();
    assert_eq!(rows, problem.b.len());
    let nodes = 3 * programme.lattice.nodes();
    assert!(slack[..nodes].iter().all(|s| s.abs() < 1e-6), "nodes are not at rest");
    assert!(slack[nodes..].iter().all(|s| *s >= 0.0));
    let half: f64 =
        x.iter().enumerate().map(|(at, x)| (0.5 * problem.p.values[at] * x + problem.q[at]) * x).sum();
    let objective = programme.objective(&own) / weights.bending;
    assert!((half - objective).abs() < 1e-9 * objective, "{half} {objective}");
}

#[test]
fn the_interior_method_agrees_with_clarabel_and_stays_feasible() {
    let (model, positions, held) = sheaves(24, 8);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let weights = Weights::default();
    let own = balance(&hair, &medium(), &weights, Engine::OwnWeight).unwrap().quality;
    let ours = balance(&hair, &medium(), &weights, Engine::Interior { seconds: 60.0 }).unwrap();
    let reference = balance(&hair, &medium(), &weights, Engine::Reference { seconds: 60.0 }).unwrap().quality;
    let quality = ours.quality;
    assert!(quality.node_acceleration < 1e-4 && quality.cone_excess < 1e-6, "{quality:?}");
    // Here clarabel stops at 5e-6, whatever tolerance it is given, and putting that right raises the objective by a hundredth, so it is left.
    // The goal is 1e-6.
    assert!(reference.node_acceleration < 1e-4 && reference.cone_excess < 1e-5, "{reference:?}");
    assert!(reference.compressed < 0.5 * own.compressed, "contact matters here: {reference:?} {own:?}");
    assert!(quality.objective < 1.01 * reference.objective, "{quality:?} {reference:?}");
    let stopped = balance(&hair, &medium(), &weights, Engine::Interior { seconds: 0.0 }).unwrap().quality;
    let beside = (stopped.objective / own.objective - 1.0).abs();
    assert!(beside < 1e-9, "stopped at once, strands carry themselves: {stopped:?} {own:?}");
}

#[test]
fn a_mix_of_two_balances_is_one_and_stiffens_no_more_than_strands_alone() {
    let (model, positions, held) = sheaves(24, 8);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let weights = Weights::default();
    let own = own_weight(&hair).unwrap();
    let found = balance(&hair, &medium(), &weights, Engine::Interior { seconds: 60.0 }).unwrap().forces;
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
fn dense_hair_gains_by_forces_alone_and_keeps_nodes_at_rest() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = Programme::new(&hair, &medium(), &Weights::default()).unwrap();
    let own = programme.unknowns(&own_weight(&hair).unwrap());
    let (found, iterations) = forces::solve(&programme, &own, Limits::None, Instant::now(), 60.0);
    let (before, after) = (quality(&programme, &own), quality(&programme, &found));
    assert!(iterations <= 12, "{iterations}");
    // Less than strands that carry themselves, and no less than the programme which may have stresses besides.
    let reference =
        balance(&hair, &medium(), &Weights::default(), Engine::Reference { seconds: 60.0 }).unwrap();
    assert!(
        after.objective < before.objective && after.compressed < before.compressed,
        "{before:?} {after:?}"
    );
    assert!(after.objective > 0.999 * reference.quality.objective, "{after:?} {:?}", reference.quality);
    assert!(after.node_acceleration < 1e-4, "{after:?}");
    assert!(found.stresses.as_flattened().iter().all(|&part| part == 0.0));
    let both = balance(&hair, &medium(), &Weights::default(), Engine::Interior { seconds: 60.0 }).unwrap();
    assert!(both.quality.objective <= after.objective, "{after:?} {:?}", both.quality);
}

#[test]
fn within_limits_no_segment_is_worse_off_at_any_stop() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let weights = Weights::default();
    let programme = Programme::new(&hair, &medium(), &weights).unwrap();
    let own = balance(&hair, &medium(), &weights, Engine::OwnWeight).unwrap();
    let ours = balance(&hair, &medium(), &weights, Engine::Limited { seconds: 60.0 }).unwrap();
    let (alone, within) = (programme.unknowns(&own.forces), programme.unknowns(&ours.forces));
    let least = alone.forces.iter().map(|f| f.length()).fold(0.0, f64::max) * 1e-3;
    for (alone, within) in alone.forces.iter().zip(&within.forces) {
        assert!(alone.x < 0.0 || within.x > alone.x - least, "{alone} {within}");
        let [before, after] = [alone, within].map(|f| f.y.hypot(f.z));
        assert!(after < before + 0.12 * alone.length() + least, "{alone} {within}");
    }
    let (before, after) = (own.quality, ours.quality);
    assert!(after.objective < before.objective, "{before:?} {after:?}");
    assert!(after.largest_force < before.largest_force, "{before:?} {after:?}");
    assert!(after.compressed <= before.compressed, "{before:?} {after:?}");
    assert!(after.node_acceleration < 1e-4 && after.cone_excess == 0.0, "{after:?}");
    let stopped = balance(&hair, &medium(), &weights, Engine::Limited { seconds: 0.0 }).unwrap().quality;
    assert!((stopped.objective / before.objective - 1.0).abs() < 1e-9, "{stopped:?} {before:?}");
}

#[test]
fn hair_with_fewer_particles_than_nodes_is_tied() {
    let (model, positions, held) = sheaves(2, 8);
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    let programme = Programme::new(&hair, &medium(), &Weights::default()).unwrap();
    assert!(loose::Loose::new(&programme).members.is_empty());
    let own = programme.unknowns(&own_weight(&hair).unwrap());
    assert_eq!(forces::solve(&programme, &own, Limits::None, Instant::now(), 60.0), (own, 0));
}

#[test]
fn answers_are_the_same_on_any_number_of_threads() {
    let (model, positions, held) = brush();
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    for engine in [Engine::Interior { seconds: 60.0 }, Engine::Limited { seconds: 60.0 }] {
        let solve = || balance(&hair, &medium(), &Weights::default(), engine).unwrap().forces;
        let on =
            |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(solve);
        assert_eq!(on(1), on(3));
    }
}

#[test]
fn strands_in_the_same_place_are_carried() {
    let (one, positions, held) = sheaves(1, 8);
    let twice = Curves { offsets: vec![0, 8, 16], points: [one.groomed.clone(), one.groomed].concat() };
    let model = Model::new(&twice, &Material::preset(MaterialPreset::Wavy)).unwrap();
    let (positions, held) = ([&positions[..]; 2].concat(), [&held[..]; 2].concat());
    let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
    for engine in [
        Engine::Interior { seconds: 10.0 },
        Engine::Limited { seconds: 10.0 },
        Engine::Reference { seconds: 10.0 },
    ] {
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
