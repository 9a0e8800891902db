//! Newton's method on all contacts at once: for small problems, and for comparison.

use glam::{DMat3, DVec3};

use super::system::System;
use crate::contact::coulomb::{FischerBurmeister, alart_curnier};
use crate::math::dense::eliminate;

/// Which function is driven to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// The modified Fischer–Burmeister function (appendix A.2).
    FischerBurmeister,
    /// The Alart–Curnier function, damped by a line search.
    AlartCurnier,
}

/// What the dense matrix may weigh: contacts at most.
pub(super) const LARGEST: usize = 2_000;

/// Newton steps from `forces`; `accept` sees each iterate and says when to stop. Returns the number of steps.
pub(super) fn solve(
    system: &System,
    function: Function,
    mut forces: Vec<DVec3>,
    steps: usize,
    mut accept: impl FnMut(&[DVec3]) -> bool,
) -> usize {
    let size = 3 * system.len();
    let (mut matrix, mut step) = (vec![0.0; size * size], vec![0.0; size]);
    for done in 0..steps {
        if accept(&forces) {
            return done;
        }
        let velocities = system.velocities(&forces);
        let parts: Vec<(DVec3, DMat3, DMat3)> = (0..system.len())
            .map(|row| evaluate(system, function, row, forces[row], velocities[row]))
            .collect();
        fill(system, &parts, &mut matrix);
        let error: f64 = parts.iter().map(|part| part.0.length_squared()).sum();
        let gradient = transposed_product(&matrix, &parts);
        parts
            .iter()
            .enumerate()
            .for_each(|(row, part)| step[3 * row..3 * row + 3].copy_from_slice(&(-part.0).to_array()));
        let solved = eliminate(&mut matrix, &mut step);
        let along: f64 = step.iter().zip(&gradient).map(|(a, b)| a * b).sum();
        let lengths = length(&step) * length(&gradient);
        // NaN is no descent.
        let descends = along <= -1.0e-3 * lengths;
        if !solved || !descends && function == Function::FischerBurmeister {
            step.iter_mut().zip(&gradient).for_each(|(step, gradient)| *step = -gradient);
        }
        if !step.iter().all(|value| value.is_finite()) {
            return done;
        }
        let mut share = 1.0;
        let moved = |share: f64| -> Vec<DVec3> {
            let steps = step.chunks_exact(3).map(DVec3::from_slice);
            forces.iter().zip(steps).map(|(force, step)| *force + share * step).collect()
        };
        let mut next = moved(share);
        while function == Function::AlartCurnier
            && share > 1.0e-3
            && total(system, function, &next) > (1.0 - 0.1 * share) * error
        {
            share *= 0.5;
            next = moved(share);
        }
        forces = next;
    }
    accept(&forces);
    steps
}

fn evaluate(
    system: &System,
    function: Function,
    row: usize,
    force: DVec3,
    velocity: DVec3,
) -> (DVec3, DMat3, DMat3) {
    let friction = system.contacts()[row].friction;
    match function {
        Function::FischerBurmeister => {
            let parts = FischerBurmeister::new(friction, 1.0).derivatives(force, velocity);
            (parts.value, parts.force, parts.velocity)
        }
        Function::AlartCurnier => alart_curnier(force, velocity, friction, 1.0),
    }
}

fn total(system: &System, function: Function, forces: &[DVec3]) -> f64 {
    let velocities = system.velocities(forces);
    (0..system.len())
        .map(|row| evaluate(system, function, row, forces[row], velocities[row]).0.length_squared())
        .sum()
}

/// The Jacobian: derivative over the own force on the diagonal, and that over the velocity times W.
fn fill(system: &System, parts: &[(DVec3, DMat3, DMat3)], matrix: &mut [f64]) {
    let size = 3 * system.len();
    matrix.fill(0.0);
    for (row, (_, by_force, by_velocity)) in parts.iter().enumerate() {
        let own = system.contacts()[row].matrix.to_cols_array();
        for (column, block) in system.row(row).chain([(row, &own)]) {
            let mut product = *by_velocity * DMat3::from_cols_array(block);
            if column == row {
                product += *by_force;
            }
            for i in 0..3 {
                for j in 0..3 {
                    matrix[(3 * row + i) * size + 3 * column + j] = product.col(j)[i];
                }
            }
        }
    }
}

fn transposed_product(matrix: &[f64], parts: &[(DVec3, DMat3, DMat3)]) -> Vec<f64> {
    let size = 3 * parts.len();
    let mut product = vec![0.0; size];
    for (row, (value, _, _)) in parts.iter().enumerate() {
        for axis in 0..3 {
            let line = &matrix[(3 * row + axis) * size..(3 * row + axis + 1) * size];
            product.iter_mut().zip(line).for_each(|(sum, entry)| *sum += entry * value[axis]);
        }
    }
    product
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}
