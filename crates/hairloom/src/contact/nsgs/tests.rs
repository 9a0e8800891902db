use glam::{DMat3, DVec3};

use super::*;
use crate::contact::coulomb::{LocalSolver, Method, de_saxce, project};
use crate::math::Random;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn reduced(blocks: &Blocks, gravity: DVec3) -> Problem {
    let full = blocks.problem(0.01, gravity);
    full.assembly().unwrap().reduced().checked().unwrap().0
}

/// A judge of its own: the natural map with ρ = 1 over 1 + ‖b‖, from W and b alone.
fn judge(problem: &Problem, forces: &[DVec3]) -> f64 {
    let mut sum = 0.0;
    for (row, velocity) in problem.velocities(forces).into_iter().enumerate() {
        let friction = problem.friction[row];
        let target = project(forces[row] - de_saxce(velocity, friction), friction);
        sum += forces[row].distance_squared(target);
    }
    let size: f64 = problem.offset.iter().map(|offset| offset.length_squared()).sum();
    sum.sqrt() / (1.0 + size.sqrt())
}

fn assert_solved(name: &str, problem: &Problem, settings: &Settings) -> Solution {
    let solution = solve(problem, settings, None).unwrap();
    assert!(solution.converged, "{name}: {:e} {:e}", solution.error, solution.natural);
    let judged = judge(problem, &solution.forces);
    assert!(judged <= 1.01 * settings.tolerance, "{name}: {judged:e}");
    solution
}

#[test]
fn towers_stand_however_heavy_the_top() {
    for growth in [0.5, 1.0, 2.0, 10.0] {
        for friction in [0.01, 0.5, 10.0] {
            let blocks = Blocks::tower(8, growth, 2, friction);
            let problem = reduced(&blocks, GRAVITY);
            // Masses from 1 to 1e7 leave half of double precision's digits.
            let tolerance = if growth < 10.0 { 1.0e-8 } else { 1.0e-6 };
            let settings = Settings { tolerance, ..Settings::default() };
            let solution = assert_solved(&format!("{growth} {friction}"), &problem, &settings);
            // Nothing moves, and the ground carries all.
            let weight: f64 = (0..8).map(|level| growth.powi(level)).sum::<f64>() * 9.81 * 0.01;
            let carried: f64 = solution.forces[..4].iter().map(|force| force.x).sum();
            assert!((carried - weight).abs() < 1.0e-6 * weight, "{carried} {weight}");
            assert!(solution.velocities.iter().all(|velocity| velocity.length() < 1.0e-5));
        }
    }
}

#[test]
fn tall_towers_and_walls() {
    let tilt = DVec3::new(4.0, -9.0, 1.0);
    let push = DVec3::new(3.0, -20.0, 1.0);
    let cases = [
        ("tall", Blocks::tower(30, 1.0, 2, 0.5), GRAVITY),
        ("tall and redundant", Blocks::tower(12, 1.0, 4, 0.5), GRAVITY),
        ("tilted", Blocks::tower(30, 1.0, 2, 0.5), tilt),
        ("tilted and slippery", Blocks::tower(20, 1.0, 3, 0.2), tilt),
        ("wall", Blocks::wall(5, 6, 2, 0.5, DVec3::ZERO), GRAVITY),
        ("wall without friction", Blocks::wall(5, 6, 2, 0.0, DVec3::ZERO), GRAVITY),
        ("pushed wall", Blocks::wall(5, 6, 2, 0.3, push), GRAVITY),
        ("rough wall", Blocks::wall(5, 6, 2, 2.0, DVec3::ZERO), GRAVITY),
    ];
    for (name, blocks, gravity) in cases {
        assert_solved(name, &reduced(&blocks, gravity), &Settings::default());
    }
}

/// Towers among boxes that stand alone: sweeps solve the boxes, and the tower is the one place where they are slow. How many a single one takes is
/// chance, within a factor of four.
#[test]
fn the_few_contacts_that_sweeps_leave_are_solved_by_themselves() {
    let (mut own, mut all) = (0, 0);
    for levels in [22, 24, 26, 28, 30, 32] {
        let mut blocks = Blocks::tower(levels, 1.0, 2, 0.5);
        for place in 1..=4 * levels {
            let centre = DVec3::new(10.0 * place as f64, 0.5, 0.0);
            let body = blocks.add(centre, DVec3::splat(0.5), 1.0, DVec3::ZERO);
            blocks.touch_face(body, None, (centre - 0.5 * DVec3::Y, 0.5, 0.5), 2, 0.5);
        }
        let settings = Settings { tolerance: 1.0e-8, ..Settings::default() };
        let problem = reduced(&blocks, GRAVITY);
        let solution = assert_solved("boxes and a tower", &problem, &settings);
        let sweeps = Settings { global: Global::GaussSeidel, ..settings };
        let swept = solve(&problem, &sweeps, None).unwrap();
        println!("{levels}: {} local solves, {} by sweeps alone", solution.local_solves, swept.local_solves);
        own += solution.local_solves;
        all += swept.local_solves;
    }
    assert!(20 * own < all, "{own} local solves, {all} by sweeps alone");
}

/// Random sparse problems `W = A Aᵀ` of low rank, scales from 1e-6 to 1e6, friction from 0 to 10.
#[test]
fn random_problems_of_low_rank() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (contacts, objects) = (3 + random.below(40), 2 + random.below(8));
        let scale = 10.0_f64.powf(12.0 * random.unit_f64() - 6.0);
        let mut full = FullProblem::default();
        for _ in 0..objects {
            let mass = scale * (0.1 + random.unit_f64());
            let mut block = vec![0.0; 36];
            (0..6).for_each(|axis| block[7 * axis] = mass);
            full.masses.push(block);
            full.impulses.push((0..6).map(|_| mass * (2.0 * random.unit_f64() - 1.0)).collect());
        }
        for contact in 0..contacts {
            let first = random.below(objects);
            // The other side is the ground or another object.
            let second = Some(random.below(objects)).filter(|&second| second != first);
            for object in [Some(first), second].into_iter().flatten() {
                let values = (0..18).map(|_| 2.0 * random.unit_f64() - 1.0).collect();
                full.jacobian.push(JacobianBlock { contact, object, values });
            }
            full.offset.push(DVec3::ZERO);
            full.friction.push(if contact % 7 == 0 { 0.0 } else { random.unit_f64() });
        }
        let problem = full.assembly().unwrap().reduced().checked().unwrap().0;
        assert_solved(
            &format!("seed {seed}, {contacts} contacts, {objects} objects"),
            &problem,
            &Settings::default(),
        );
    }
}

#[test]
fn exact_ways_agree_on_velocities() {
    // Three contacts under one block: the forces are unique, and so are the velocities.
    let mut blocks = Blocks::default();
    let body = blocks.add(DVec3::Y, DVec3::new(1.0, 1.0, 1.0), 2.0, DVec3::new(0.3, -1.0, 0.1));
    for point in [DVec3::new(-1.0, 0.0, -1.0), DVec3::new(1.0, 0.0, -0.8), DVec3::new(0.1, 0.0, 1.0)] {
        blocks.touch(body, None, point, DVec3::Y, 0.2);
    }
    let problem = reduced(&blocks, GRAVITY);
    let settings = |global, local: &str| Settings {
        global,
        tolerance: 1.0e-10,
        local: local.parse().unwrap(),
        ..Settings::default()
    };
    let reference = assert_solved("reference", &problem, &settings(Global::GaussSeidel, "mfb+enum"));
    let mut ways: Vec<Settings> =
        ["mfb", "enum", "pac+enum", "dac", "duriez08+enum", "4sides+enum", "secular"]
            .map(|local| settings(Global::GaussSeidel, local))
            .into();
    ways.extend(
        [Global::Hybrid, Global::InteriorPoint, Global::Mfb, Global::Dac]
            .map(|way| settings(way, "mfb+enum")),
    );
    for way in &ways {
        let solution = solve(&problem, way, None).unwrap();
        let pairs = solution.velocities.iter().zip(&reference.velocities);
        let apart = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(solution.converged && apart < 1.0e-7, "{:?} {}: {apart}", way.global, way.local);
    }
    let pyramid = solve(&problem, &settings(Global::GaussSeidel, "4sides"), None).unwrap();
    assert!(!pyramid.converged, "a pyramid is not the law");
}

/// Fibres with more freedom than contacts have directions: W is positive definite, and with little friction the solution unique.
fn fibres(seed: u64) -> Problem {
    const FREEDOM: usize = 12;
    let mut random = Random::new(seed);
    let mut signed = move || 2.0 * random.unit_f64() - 1.0;
    let (objects, contacts) = (16, 40);
    let mut full = FullProblem::default();
    for _ in 0..objects {
        let mut mass = vec![0.0; FREEDOM * FREEDOM];
        (0..FREEDOM).for_each(|i| mass[i * (FREEDOM + 1)] = 1.0 + 0.5 * signed());
        full.masses.push(mass);
        full.impulses.push((0..FREEDOM).map(|_| signed()).collect());
    }
    for contact in 0..contacts {
        for object in [contact * objects / contacts, (contact * objects / contacts + 1) % objects] {
            let values = (0..3 * FREEDOM).map(|_| signed()).collect();
            full.jacobian.push(JacobianBlock { contact, object, values });
        }
        full.offset.push(DVec3::new(signed() - 1.0, signed(), signed()));
        full.friction.push(0.1);
    }
    full.assembly().unwrap().reduced().checked().unwrap().0
}

#[test]
fn exact_ways_agree_on_velocities_of_grown_problems() {
    for seed in 0..4 {
        let problem = fibres(seed);
        let settings = |global, local: &str| Settings {
            global,
            tolerance: 1.0e-9,
            local: local.parse().unwrap(),
            ..Settings::default()
        };
        let reference = assert_solved(
            "reference",
            &problem,
            &Settings { tolerance: 1.0e-11, ..settings(Global::GaussSeidel, "enum") },
        );
        let locals = ["mfb", "mfb+enum", "enum", "pac+enum", "dac", "dac+enum", "duriez08", "secular+enum"];
        let sweeps = locals.map(|local| (Global::GaussSeidel, local));
        let others = [Global::Hybrid, Global::InteriorPoint, Global::Mfb, Global::Dac];
        for (global, local) in sweeps.into_iter().chain(others.map(|global| (global, "mfb+enum"))) {
            let name = format!("{seed}: {global:?} {local}");
            let solution = assert_solved(&name, &problem, &settings(global, local));
            let pairs = solution.velocities.iter().zip(&reference.velocities);
            let apart = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(apart < 1.0e-6, "{name}: {apart:e} m/s apart");
        }
    }
}

/// Contacts that are far from touching make a problem larger, not harder.
#[test]
fn contacts_that_do_not_act_change_nothing() {
    let blocks = Blocks::tower(20, 1.3, 2, 0.5);
    let tower = blocks.problem(0.01, GRAVITY);
    let mut crowded = tower.clone();
    let count = tower.offset.len();
    for copy in 1..4 {
        let blocks = tower
            .jacobian
            .iter()
            .map(|block| JacobianBlock { contact: block.contact + copy * count, ..block.clone() });
        crowded.jacobian.extend(blocks);
        crowded.offset.extend(tower.offset.iter().map(|offset| *offset + DVec3::X * copy as f64));
        crowded.friction.extend(&tower.friction);
    }
    let alone = assert_solved("tower", &tower.assembly().unwrap().reduced(), &Settings::default());
    let crowd = assert_solved("crowd", &crowded.assembly().unwrap().reduced(), &Settings::default());
    assert!(crowd.forces[count..].iter().all(|force| *force == DVec3::ZERO));
    for (alone, crowd) in alone.velocities.iter().zip(&crowd.velocities) {
        assert!(alone.abs_diff_eq(*crowd, 1.0e-4), "{alone} {crowd}");
    }
    // What is left out counts: errors are those of the whole problem.
    let assembly = crowded.assembly().unwrap();
    let (offset, none) = (assembly.offsets(), vec![DVec3::ZERO; crowded.offset.len()]);
    let settings = Settings { tolerance: 1.0e-4, ..Settings::default() };
    let near = solve_near(&assembly, (&offset, &crowded.friction), &offset, &settings, &none, 0.0);
    let (near, _) = near.unwrap();
    assert!(near.converged && near.forces[count..].iter().all(|force| *force == DVec3::ZERO));
    let looked_at = Settings { most_sweeps: 0, ..settings };
    let whole = solve(&assembly.reduced(), &looked_at, Some(&near.forces)).unwrap();
    for (near, whole) in [(near.error, whole.error), (near.natural, whole.natural)] {
        assert!((near - whole).abs() < 1.0e-9, "{near} {whole}");
    }
}

/// Forces that solve a problem are kept, though others had less error altogether.
#[test]
fn sweeps_end_with_a_solution_or_with_the_last_of_them() {
    for levels in [10, 20, 30] {
        let mut tower = Blocks::tower(levels, 1.0, 2, 0.5).problem(0.01, DVec3::new(4.0, -9.0, 1.0));
        let (count, blocks) = (tower.offset.len(), tower.jacobian.clone());
        for copy in 1..3 {
            tower.jacobian.extend(
                blocks
                    .iter()
                    .map(|block| JacobianBlock { contact: block.contact + copy * count, ..block.clone() }),
            );
            tower.offset.extend_from_within(..count);
            tower.offset[copy * count..].iter_mut().for_each(|offset| *offset += DVec3::X * copy as f64);
            tower.friction.extend_from_within(..count);
        }
        let problem = tower.assembly().unwrap().reduced();
        let mut tolerance = 1.0e-3;
        while tolerance > 1.0e-5 {
            let settings = Settings { tolerance, most_sweeps: 3_000, ..Settings::default() };
            assert_solved(&format!("{levels} {tolerance:e}"), &problem, &settings);
            tolerance *= 0.97;
        }
    }
}

/// Blocks that fall together do not press on each other until the lowest is stopped: contacts join in from below, one after the other,
/// or all of them where that takes too long.
#[test]
fn contacts_join_in_as_they_are_needed() {
    for (levels, reach) in [(8, 0.0), (8, 0.05), (30, 0.0)] {
        let full = Blocks::tower(levels, 1.0, 2, 0.5).problem(0.01, GRAVITY);
        let (assembly, none) = (full.assembly().unwrap(), vec![DVec3::ZERO; full.offset.len()]);
        let (offset, settings) = (assembly.offsets(), Settings::default());
        let approaching = offset.iter().filter(|offset| offset.x < 0.0).count();
        assert_eq!(approaching, 4, "the ground alone is met");
        let near = solve_near(&assembly, (&offset, &full.friction), &offset, &settings, &none, reach);
        let (solution, _) = near.unwrap();
        let problem = assembly.reduced();
        let judged = judge(&problem, &solution.forces);
        assert!(solution.converged && judged <= 1.01 * settings.tolerance, "{levels}: {judged:e}");
        assert!(solution.forces.iter().all(|force| force.x > 0.0), "all of them press");
        for (told, velocity) in solution.velocities.iter().zip(problem.velocities(&solution.forces)) {
            assert!(told.abs_diff_eq(velocity, 1.0e-9), "{told} {velocity}");
        }
    }
}

#[test]
fn assembly_is_the_product_of_dense_matrices() {
    let mut random = Random::new(3);
    let full = Blocks::wall(3, 3, 2, 0.5, DVec3::X).problem(0.01, GRAVITY);
    let mut full = full;
    // Masses that are not diagonal.
    for mass in &mut full.masses {
        for axis in 0..5 {
            let value = 0.05 * random.unit_f64();
            mass[6 * axis + axis + 1] += value;
            mass[6 * (axis + 1) + axis] += value;
        }
    }
    let assembly = full.assembly().unwrap();
    let problem = assembly.reduced();
    let forces: Vec<DVec3> = full.offset.iter().map(|_| DVec3::splat(random.unit_f64())).collect();
    // u = H v + w with v from the objects themselves.
    let velocities = assembly.velocities(&forces);
    let mut expected = full.offset.clone();
    for block in &full.jacobian {
        for (axis, row) in block.values.chunks_exact(6).enumerate() {
            expected[block.contact][axis] +=
                row.iter().zip(&velocities[block.object]).map(|(a, b)| a * b).sum::<f64>();
        }
    }
    for (a, b) in problem.velocities(&forces).iter().zip(&expected) {
        assert!(a.abs_diff_eq(*b, 1.0e-11), "{a} {b}");
    }
    assert!(problem.matrix.asymmetry() < 1.0e-14);
    // M v = f + Hᵀ r.
    let object = 4;
    let mut impulse = full.impulses[object].clone();
    for block in full.jacobian.iter().filter(|block| block.object == object) {
        for (index, value) in block.values.iter().enumerate() {
            impulse[index % 6] += value * forces[block.contact][index / 6];
        }
    }
    for (row, impulse) in full.masses[object].chunks_exact(6).zip(impulse) {
        let product: f64 = row.iter().zip(&velocities[object]).map(|(a, b)| a * b).sum();
        assert!((product - impulse).abs() < 1.0e-11);
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let problem = reduced(&Blocks::wall(20, 14, 2, 0.4, DVec3::ZERO), GRAVITY);
    assert!(problem.offset.len() > 2500, "more than a few domains");
    let sweeps = Settings { most_sweeps: 60, global: Global::GaussSeidel, ..Settings::default() };
    let interior = Settings { global: Global::InteriorPoint, most_interior_steps: 8, ..sweeps.clone() };
    for settings in [sweeps, interior] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve(&problem, &settings, None).unwrap())
        };
        let one = run(1);
        assert!(one.error < 0.1, "{}", one.error);
        assert_eq!(one.interior_steps > 0, settings.global == Global::InteriorPoint);
        for threads in [2, 3, 5] {
            assert_eq!(one, run(threads), "{:?}, {threads} threads", settings.global);
        }
    }
}

#[test]
fn warm_start_needs_fewer_sweeps() {
    let problem = reduced(&Blocks::wall(5, 5, 2, 0.5, DVec3::ZERO), GRAVITY);
    let settings = Settings::default();
    let cold = solve(&problem, &settings, None).unwrap();
    let warm = solve(&problem, &settings, Some(&cold.forces)).unwrap();
    assert!(warm.sweeps <= 1 && cold.sweeps > 20, "{} {}", warm.sweeps, cold.sweeps);
    let wrong = solve(&problem, &settings, Some(&cold.forces[1..]));
    assert!(matches!(wrong, Err(ProblemError::WrongSize { .. })), "{wrong:?}");
}

/// Over parts of the contacts as well as over all of them.
#[test]
fn sweeps_keep_to_their_limit() {
    let wall = reduced(&Blocks::wall(6, 7, 2, 0.4, DVec3::ZERO), GRAVITY);
    for (name, problem) in [("wall", wall), ("fibres", fibres(1)), ("more fibres", fibres(2))] {
        for most_sweeps in [1, 7, 60, 150, 400, 1_500] {
            let limits = Settings { most_sweeps, most_interior_steps: 40, ..Settings::default() };
            let settings = Settings { tolerance: 1.0e-10, ..limits };
            let solution = solve(&problem, &settings, None).unwrap();
            let solved = solution.local_solves as f64 / problem.offset.len() as f64;
            assert!(solution.sweeps <= most_sweeps, "{name}: {} of {most_sweeps}", solution.sweeps);
            // Whatever is counted, this is what was done.
            assert!(
                solved <= most_sweeps as f64,
                "{name}: each contact {solved} times in {most_sweeps} sweeps"
            );
        }
    }
}

#[test]
fn freezing_saves_local_solves() {
    let problem = reduced(&Blocks::wall(6, 6, 2, 0.3, DVec3::new(0.0, 30.0, 0.0)), GRAVITY);
    let with = assert_solved("with", &problem, &Settings { freeze: 10, ..Settings::default() });
    let without = assert_solved("without", &problem, &Settings { freeze: 0, ..Settings::default() });
    let per_sweep = |solution: &Solution| solution.local_solves as f64 / solution.sweeps as f64;
    assert!(per_sweep(&with) < 0.95 * per_sweep(&without), "{} {}", per_sweep(&with), per_sweep(&without));
}

#[test]
fn closing_vice_has_no_solution_and_says_so() {
    let mut blocks = Blocks::default();
    let body = blocks.add(DVec3::ZERO, DVec3::ONE, 1.0, DVec3::ZERO);
    blocks.touch(body, None, DVec3::X, -DVec3::X, 0.5);
    blocks.touch(body, None, -DVec3::X, DVec3::X, 0.5);
    let mut full = blocks.problem(0.01, GRAVITY);
    full.offset.iter_mut().for_each(|offset| offset.x = -1.0);
    let problem = full.assembly().unwrap().reduced();
    let settings = Settings { most_sweeps: 500, ..Settings::default() };
    let solution = solve(&problem, &settings, None).unwrap();
    assert!(!solution.converged && solution.error > 0.1, "{solution:?}");
    assert!(solution.forces.iter().all(|force| force.is_finite()));
    // A contact that no force moves: its local problem has no solution, which is counted.
    let lone = Problem {
        matrix: BlockMatrix::from_triplets(1, [(0, 0, DMat3::ZERO)]).unwrap(),
        offset: vec![-DVec3::X],
        friction: vec![0.5],
    };
    let solution = solve(&lone, &settings, None).unwrap();
    assert!(!solution.converged && solution.failed > 0 && solution.forces == [DVec3::ZERO], "{solution:?}");
}

#[test]
fn bad_problems_are_named() {
    let good = reduced(&Blocks::tower(2, 1.0, 2, 0.5), GRAVITY);
    let error = |change: &dyn Fn(&mut Problem)| {
        let mut problem = good.clone();
        change(&mut problem);
        problem.checked().unwrap_err().to_string()
    };
    assert!(error(&|problem| problem.friction[3] = -0.1).contains("mu of contact 3 is -0.1"));
    assert!(error(&|problem| problem.friction[2] = f64::NAN).contains("mu of contact 2"));
    assert!(error(&|problem| problem.friction[1] = 1.0e7).contains("expected a number from 0 to 1e6"));
    assert!(error(&|problem| problem.offset[5].z = f64::NAN).contains("b of contact 5"));
    assert!(error(&|problem| problem.friction.truncate(7)).contains("7 given, 8 expected"));
    assert!(error(&|problem| *problem = Problem::default()).contains("no contacts"));
    let skewed = |part: f64| {
        let mut triplets: Vec<(usize, usize, DMat3)> = vec![];
        for row in 0..8 {
            triplets.extend(good.matrix.row(row).map(|(column, block)| (row, column, *block)));
        }
        triplets[1].2.x_axis.x += part * 6.0;
        Problem { matrix: BlockMatrix::from_triplets(8, triplets).unwrap(), ..good.clone() }.checked()
    };
    assert!(matches!(skewed(0.1), Err(ProblemError::Asymmetric { .. })));
    let (mended, asymmetry) = skewed(0.001).unwrap();
    assert!(asymmetry.is_some_and(|value| value > 1.0e-4) && mended.matrix.asymmetry() == 0.0);
    // A block is judged by itself: half of a small one is not lost beside large ones.
    let (large, small) = (1.0e3 * DMat3::IDENTITY, DMat3::IDENTITY);
    let lame = [(0, 0, large), (1, 1, large), (0, 1, small), (1, 0, 0.5 * small)];
    let matrix = BlockMatrix::from_triplets(2, lame).unwrap();
    let lame = Problem { matrix, offset: vec![DVec3::X; 2], friction: vec![0.5; 2] };
    assert!(matches!(lame.checked(), Err(ProblemError::Asymmetric { asymmetry }) if asymmetry == 0.5));
    let outside = BlockMatrix::from_triplets(2, [(0, 2, DMat3::IDENTITY)]).unwrap_err();
    assert!(outside.to_string().contains("(0, 2)"), "{outside}");
    let many = Problem {
        matrix: BlockMatrix::from_triplets(2001, (0..2001).map(|row| (row, row, DMat3::IDENTITY))).unwrap(),
        offset: vec![DVec3::X; 2001],
        friction: vec![0.5; 2001],
    };
    let newton = Settings { global: Global::Mfb, ..Settings::default() };
    assert!(matches!(solve(&many, &newton, None), Err(ProblemError::TooLarge { .. })));
}

/// Blocks at one place are added, and rows without blocks are empty.
#[test]
fn triplets_in_any_order() {
    let block = DMat3::from_cols_array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let triplets = [(3, 0, block), (0, 3, block), (3, 0, block), (3, 3, DMat3::IDENTITY)];
    let matrix = BlockMatrix::from_triplets(5, triplets).unwrap();
    assert_eq!((matrix.rows(), matrix.len()), (5, 3));
    assert_eq!(matrix.get(3, 0), Some(&(2.0 * block)));
    assert_eq!((matrix.get(0, 3), matrix.get(1, 1)), (Some(&block), None));
    assert_eq!(matrix.row_product(0, &[DVec3::ZERO, DVec3::X, DVec3::X, DVec3::X, DVec3::X]), block.x_axis);
}

/// The plain settings of the paper work too, on what they were made for.
#[test]
fn plain_sweeps_of_the_paper() {
    let problem = reduced(&Blocks::wall(3, 3, 2, 0.3, DVec3::ZERO), GRAVITY);
    let settings = Settings { tolerance: 1.0e-4, ..Settings::paper() };
    assert_eq!(settings.local, LocalSolver { method: Method::Mfb, fail_safe: true, direct: true });
    let plain = assert_solved("plain", &problem, &settings);
    let mixed = assert_solved("mixed", &problem, &Settings { tolerance: 1.0e-4, ..Settings::default() });
    assert!(mixed.sweeps < plain.sweeps, "{} {}", mixed.sweeps, plain.sweeps);
}

#[test]
fn a_contact_that_parts_without_friction_is_solved() {
    let matrix = BlockMatrix::from_triplets(1, [(0, 0, DMat3::IDENTITY)]).unwrap();
    let problem = Problem { matrix, offset: vec![DVec3::X], friction: vec![0.0] };
    for (_, global) in Global::ALL {
        let solution = assert_solved("parting", &problem, &Settings { global, ..Settings::default() });
        assert_eq!((solution.forces[0], solution.natural), (DVec3::ZERO, 0.0), "{global:?}");
    }
}

/// Stopped by its steps, a pyramid's forces are those where its sweeps come to rest, not the least wrong on the way.
#[test]
fn sweeps_stopped_by_their_step_end_at_their_own_fixed_point() {
    let problem = reduced(&Blocks::wall(3, 3, 2, 0.3, DVec3::new(3.0, -20.0, 2.0)), GRAVITY);
    let settings = |local: &str, share| Settings {
        global: Global::GaussSeidel,
        stop: Stop::Step(share),
        local: local.parse().unwrap(),
        ..Settings::default()
    };
    for local in ["4sides", "duriez06"] {
        let found = solve(&problem, &settings(local, 1.0e-10), None).unwrap();
        assert!(found.converged && found.error > 1.0e-3, "{local}: {} {:e}", found.converged, found.error);
        let again = solve(&problem, &settings(local, 1.0e-10), Some(&found.forces)).unwrap();
        let apart = |a: &Solution| {
            let pairs = a.velocities.iter().zip(&found.velocities);
            pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
        };
        assert!(again.sweeps <= 2 && apart(&again) < 1.0e-6, "{local}: {} {:e}", again.sweeps, apart(&again));
    }
    let exact = solve(&problem, &settings("enum", 1.0e-10), None).unwrap();
    assert!(exact.converged && exact.error < 1.0e-6, "{:e}", exact.error);
    let capped = solve(&problem, &Settings { most_sweeps: 1, ..settings("enum", 1.0e-10) }, None).unwrap();
    assert!(!capped.converged && capped.sweeps == 1);
}

/// Without a fail-safe a contact that is not solved is counted, unless its method is not meant to solve it.
#[test]
fn contacts_left_by_methods_without_fail_safe_are_counted() {
    // Pushed along itself so steeply that friction holds it in place: jammed, without a solution.
    let direction = DVec3::new(1.0, -2.0, 0.0);
    let block = DMat3::from_cols(direction * direction.x, direction * direction.y, direction * direction.z);
    let matrix = BlockMatrix::from_triplets(1, [(0, 0, block)]).unwrap();
    let problem = Problem { matrix, offset: vec![DVec3::new(-1.0, -5.0, 0.0)], friction: vec![1.0] };
    for (local, is_counted) in [("mfb", true), ("enum", true), ("dac", true), ("4sides", false)] {
        let settings = Settings {
            global: Global::GaussSeidel,
            most_sweeps: 3,
            local: local.parse().unwrap(),
            ..Settings::default()
        };
        let solution = solve(&problem, &settings, None).unwrap();
        assert_eq!(solution.failed > 0, is_counted, "{local}: {}", solution.failed);
    }
}
