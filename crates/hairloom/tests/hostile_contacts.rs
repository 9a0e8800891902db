//! Contact problems made to be hard: heaps, chains and towers with masses from 1e-6 to 1e6 kg, friction from 0 to 10, many more contacts
//! than degrees of freedom. Each is solved from nothing with the usual settings, and judged by a measure of this file.

use std::time::Instant;

use glam::DVec3;
use hairloom::contact::nsgs::{Blocks, FullProblem, JacobianBlock, Problem, Settings, solve};
use hairloom::math::Random;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn signed(random: &mut Random) -> f64 {
    2.0 * random.unit_f64() - 1.0
}

fn direction(random: &mut Random) -> DVec3 {
    loop {
        let vector = DVec3::new(signed(random), signed(random), signed(random));
        if (0.01..1.0).contains(&vector.length_squared()) {
            return vector.normalize();
        }
    }
}

/// Coefficients of friction: one of several kinds, or a mixture of all.
fn friction(random: &mut Random, kind: u64) -> f64 {
    match kind % 6 {
        0 => 0.3,
        1 => 0.0,
        2 => 10.0,
        3 => 0.01,
        4 => 1.0,
        _ => [0.0, 1.0e-3, 0.1, 0.5, 2.0, 10.0][random.below(6)],
    }
}

/// Masses: all alike, all light, all heavy, or spread over as many decades [kg].
fn mass(random: &mut Random, kind: u64) -> f64 {
    match kind % 4 {
        0 => 0.5 + random.unit_f64(),
        1 => 1.0e-6 * (0.5 + random.unit_f64()),
        2 => 1.0e6 * (0.5 + random.unit_f64()),
        _ => 10.0_f64.powf(12.0 * random.unit_f64() - 6.0),
    }
}

/// Round bodies in layers, each on those below it and on the ground: as many contacts as `near` allows.
fn heap(random: &mut Random, count: usize, near: usize, kinds: (u64, u64), speed: f64) -> FullProblem {
    let mut blocks = Blocks::default();
    let width = (count as f64).cbrt().ceil();
    let mut centres: Vec<DVec3> = vec![];
    for index in 0..count {
        let index = index as f64;
        let lattice = DVec3::new(
            index % width,
            (index / (width * width)).floor() + 0.5,
            (index / width).floor() % width,
        );
        let centre = lattice + 0.3 * DVec3::new(signed(random), 0.5 * signed(random), signed(random));
        let half = DVec3::new(0.3, 0.4, 0.5) + 0.1 * random.unit_f64();
        let mass = mass(random, kinds.0);
        let velocity = speed * direction(random);
        let body = blocks.add(centre, half, mass, velocity);
        let mut others: Vec<usize> = (0..centres.len()).collect();
        others.sort_by(|&a, &b| {
            centres[a].distance_squared(centre).total_cmp(&centres[b].distance_squared(centre))
        });
        for &other in others.iter().take(near) {
            let normal = (centre - centres[other]).normalize_or(DVec3::Y);
            let point = centre.midpoint(centres[other]) + 0.1 * direction(random);
            blocks.touch(body, Some(other), point, normal, friction(random, kinds.1));
        }
        if lattice.y < 1.0 {
            let foot = centre - DVec3::Y * 0.4;
            blocks.touch_face(body, None, (foot, 0.3, 0.3), 2, friction(random, kinds.1));
        }
        centres.push(centre);
    }
    blocks.problem(0.01, GRAVITY)
}

/// Links that hang in each other, each held by two contacts of opposite normals, the first one in a fixed one.
fn chain(random: &mut Random, count: usize, kinds: (u64, u64)) -> FullProblem {
    let mut blocks = Blocks::default();
    for link in 0..count {
        let centre = DVec3::new(0.0, -(link as f64), 0.0);
        let mass = mass(random, kinds.0);
        let body = blocks.add(centre, DVec3::new(0.2, 0.6, 0.1), mass, 0.3 * direction(random));
        let joint = centre + DVec3::Y * 0.5;
        for side in [-0.05, 0.05] {
            let normal = (DVec3::Y + 0.3 * direction(random)).normalize();
            let point = joint + DVec3::X * side;
            blocks.touch(body, body.checked_sub(1), point, normal, friction(random, kinds.1));
        }
        let sideways = DVec3::Z.cross(direction(random)).normalize_or(DVec3::X);
        blocks.touch(body, body.checked_sub(1), joint, sideways, friction(random, kinds.1));
    }
    blocks.problem(0.005, GRAVITY)
}

/// Objects of any freedom with random gradients: more contacts than they can follow.
fn abstract_objects(random: &mut Random, objects: usize, contacts: usize, kinds: (u64, u64)) -> FullProblem {
    let mut full = FullProblem::default();
    let freedom: Vec<usize> = (0..objects).map(|_| 2 + random.below(14)).collect();
    for &size in &freedom {
        let scale = mass(random, kinds.0);
        // L Lᵀ with a diagonal over three decades.
        let mut lower = vec![0.0; size * size];
        for i in 0..size {
            lower[i * size + i] = 10.0_f64.powf(1.5 * signed(random));
            (0..i).for_each(|j| lower[i * size + j] = 0.3 * signed(random));
        }
        let entry = |i: usize, j: usize| -> f64 {
            scale * (0..size).map(|k| lower[i * size + k] * lower[j * size + k]).sum::<f64>()
        };
        full.masses.push((0..size * size).map(|index| entry(index / size, index % size)).collect());
        full.impulses.push((0..size).map(|_| scale * signed(random)).collect());
    }
    for contact in 0..contacts {
        let first = random.below(objects);
        let second = Some((first + 1 + random.below(3)) % objects).filter(|&other| other != first);
        for object in [Some(first), second].into_iter().flatten() {
            let values = (0..3 * freedom[object]).map(|_| signed(random)).collect();
            full.jacobian.push(JacobianBlock { contact, object, values });
        }
        // Gaps that may close, and ground that goes along: there is always the solution that nothing moves.
        full.offset.push(DVec3::X * (0.1 * signed(random)).max(0.0));
        full.friction.push(friction(random, kinds.1));
    }
    full
}

/// The natural map with ρ = 1 over 1 + ‖b‖, from W and b alone.
fn judge(problem: &Problem, forces: &[DVec3]) -> f64 {
    let mut sum = 0.0;
    for (row, offset) in problem.offset.iter().enumerate() {
        let velocity =
            problem.matrix.row(row).fold(*offset, |sum, (column, block)| sum + *block * forces[column]);
        let friction = problem.friction[row];
        let pushed = forces[row] - velocity - DVec3::X * friction * velocity.y.hypot(velocity.z);
        let tangent = pushed.y.hypot(pushed.z);
        let nearest = if tangent <= friction * pushed.x {
            pushed
        } else if friction * tangent <= -pushed.x {
            DVec3::ZERO
        } else {
            let normal = (pushed.x + friction * tangent) / (1.0 + friction * friction);
            let share = friction * normal / tangent;
            DVec3::new(normal, share * pushed.y, share * pushed.z)
        };
        sum += forces[row].distance_squared(nearest);
    }
    let size: f64 = problem.offset.iter().map(|offset| offset.length_squared()).sum();
    sum.sqrt() / (1.0 + size.sqrt())
}

fn failures(problems: impl Iterator<Item = (String, FullProblem)>) -> Vec<String> {
    let mut failed = vec![];
    for (name, full) in problems {
        let problem = full.assembly().unwrap().reduced().checked().unwrap().0;
        let started = Instant::now();
        let solution = solve(&problem, &Settings::default(), None).unwrap();
        let judged = judge(&problem, &solution.forces);
        let line = format!(
            "{name}: {} contacts, error {:.1e}, natural {judged:.1e}, {} sweeps, {} steps, {:.3} s",
            problem.offset.len(),
            solution.error,
            solution.sweeps,
            solution.interior_steps,
            started.elapsed().as_secs_f64()
        );
        println!("{line}");
        if !solution.converged || judged.is_nan() || judged > 1.01e-6 {
            failed.push(line);
        }
    }
    failed
}

/// The first kinds of masses with kinds of friction, numbered. Masses over twelve decades are of the fourth kind: chains, towers and
/// objects with those are not all solved, because velocities drown in the rounding of forces. What is known of coefficients of 10, alone or
/// among others, stands at [`friction_of_ten`].
fn kinds(masses: u64, frictions: &[u64]) -> impl Iterator<Item = (usize, (u64, u64))> {
    let all = (0..masses).flat_map(|mass| (0..6).map(move |friction| (mass, friction)));
    all.enumerate().filter(|(_, (_, friction))| frictions.contains(friction))
}

#[test]
fn heaps() {
    let problems = kinds(4, &[0, 1, 3]).map(|(seed, kinds)| {
        let random = &mut Random::new(seed as u64);
        let speed = [0.0, 0.1, 10.0][seed % 3];
        let count = [20, 40, 80][seed / 2 % 3];
        (format!("heap {kinds:?} of {count}, speed {speed}"), heap(random, count, 4, kinds, speed))
    });
    let failed = failures(problems);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Friction of 1 is far from convex, and mixtures of all coefficients are: what sweeps and interior points do not solve falls to solutions
/// with lesser friction, and to curves that are followed around their bends.
#[test]
fn heaps_with_much_friction() {
    let large = kinds(3, &[4, 5]).map(|(seed, kinds)| (seed, kinds, [20, 40, 80][seed / 2 % 3]));
    let small = kinds(3, &[4]).map(|(seed, kinds)| (seed, kinds, [10, 20, 30][seed / 2 % 3]));
    let problems = large.chain(small).map(|(seed, kinds, count)| {
        let speed = [0.0, 0.1, 10.0][seed % 3];
        let problem = heap(&mut Random::new(seed as u64), count, 4, kinds, speed);
        (format!("heap {kinds:?} of {count}, speed {speed}"), problem)
    });
    let failed = failures(problems);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Coefficients of 10 at all contacts, and in chains among others. Not all is solved that is larger or more mixed: of 126 chains of 10 and 20,
/// heaps of 10 to 40 and objects from the same seeds 14 were left between 1e-1 and 1e-6, namely the three heaps of 40 that fly and
/// have only such coefficients, one chain of 20, and ten of eighteen problems of objects with mixed ones.
#[test]
fn friction_of_ten() {
    let seeds = (0..3_u64).flat_map(|masses| (0..3_u64).map(move |seed| (masses, seed)));
    let problems = seeds.flat_map(|(masses, seed)| {
        let random = |friction: u64| Random::new(100 * masses + 10 * friction + seed);
        let speed = [0.0, 0.1, 10.0][seed as usize];
        let chains = [2, 5].map(|friction| {
            let kinds = (masses, friction);
            (format!("chain {kinds:?} of 10, {seed}"), chain(&mut random(friction), 10, kinds))
        });
        let kinds = (masses, 2);
        let heaps = [10, 20].map(|count| {
            let problem = heap(&mut random(2), count, 4, kinds, speed);
            (format!("heap {kinds:?} of {count}, speed {speed}"), problem)
        });
        let objects = [(5, 80), (10, 160)].map(|(objects, contacts)| {
            let problem = abstract_objects(&mut random(2), objects, contacts, kinds);
            (format!("{objects} objects {kinds:?}, {seed}"), problem)
        });
        chains.into_iter().chain(heaps).chain(objects)
    });
    let failed = failures(problems);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn chains() {
    let problems = kinds(3, &[0, 1, 3, 4]).map(|(seed, kinds)| {
        let count = [10, 20, 40][seed % 3];
        (format!("chain {kinds:?} of {count}"), chain(&mut Random::new(seed as u64), count, kinds))
    });
    let failed = failures(problems);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn towers() {
    let problems = kinds(3, &[0, 1, 2, 3, 4, 5]).map(|(seed, kinds)| {
        let random = &mut Random::new(seed as u64);
        let (mut blocks, count, lattice) =
            (Blocks::default(), [5, 12, 20][seed % 3], [2, 3, 4][seed / 3 % 3]);
        for level in 0..count {
            let (height, mass) = (0.5 + level as f64, mass(random, kinds.0));
            let shift = 0.05 * DVec3::new(signed(random), 0.0, signed(random));
            let body = blocks.add(shift + DVec3::Y * height, DVec3::splat(0.5), mass, DVec3::ZERO);
            let face = (shift + DVec3::Y * (height - 0.5), 0.4, 0.4);
            blocks.touch_face(body, body.checked_sub(1), face, lattice, friction(random, kinds.1));
        }
        let tilt = if seed % 2 == 0 { GRAVITY } else { DVec3::new(2.0, -9.0, 1.0) };
        (format!("tower {kinds:?} of {count} × {lattice}²"), blocks.problem(0.01, tilt))
    });
    let failed = failures(problems);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn objects_of_any_freedom() {
    let problems = kinds(3, &[0, 1, 3, 4]).map(|(seed, kinds)| {
        let random = &mut Random::new(seed as u64);
        let (objects, contacts) = [(5, 60), (20, 150), (60, 400)][seed % 3];
        let full = abstract_objects(random, objects, contacts, kinds);
        (format!("{objects} objects {kinds:?}"), full)
    });
    let failed = failures(problems);
    assert!(failed.is_empty(), "{failed:#?}");
}
