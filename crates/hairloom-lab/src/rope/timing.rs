//! What a step of each method costs on one rope, plain code against plain code in single precision.

use std::hint::black_box;
use std::time::Instant;

use glam::{DVec3, Vec3};
use hairloom::solve::ftl;

use super::euler::Euler;
use super::params::Params;
use super::pbd::Pbd;
use super::track::Path;

/// Rounds, of which the best counts: others are disturbed.
const ROUNDS: usize = 7;
/// Steps of one round.
const STEPS: usize = 300;

/// A method to time.
pub(super) enum Contender {
    Leader(ftl::plain::Strand, ftl::Params, Vec3),
    Pbd(Pbd),
    Euler(Euler),
}

impl Contender {
    /// Follow the leader as one would first write it.
    pub(super) fn leader(params: &Params, base: ftl::Params) -> Self {
        let positions: Vec<Vec3> = params.straight(DVec3::NEG_Y).iter().map(|p| p.as_vec3()).collect();
        let lengths = vec![params.segment as f32; positions.len()];
        let strand = ftl::plain::Strand::new(positions, lengths, 0.0);
        Self::Leader(strand, base, params.gravity().as_vec3())
    }

    fn step(&mut self, path: Path<'_>, time: f64, dt: f64) {
        match self {
            Self::Leader(strand, base, gravity) => {
                let (root, dt) = (path(time).as_vec3(), dt as f32);
                strand.step(&ftl::plain::Step { dt, root, gravity: *gravity, bodies: None }, base);
            }
            Self::Pbd(pbd) => pbd.advance(path(time).as_vec3()),
            Self::Euler(euler) => euler.advance(path, time),
        }
    }
}

/// Wall time per step of each, measured by turns [s].
pub(super) fn time_per_step(mut contenders: Vec<Contender>, params: &Params, path: Path<'_>) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; contenders.len()];
    for round in 0..ROUNDS {
        for (contender, best) in contenders.iter_mut().zip(&mut best) {
            let start = Instant::now();
            for step in 1..=STEPS {
                let time = (round * STEPS + step) as f64 * params.dt;
                black_box(&mut *contender).step(path, time, params.dt);
            }
            *best = best.min(start.elapsed().as_secs_f64() / STEPS as f64);
        }
    }
    best
}
