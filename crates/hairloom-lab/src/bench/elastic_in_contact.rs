//! The two elastic steps of the `admm` solver with contact: how near each is to the converged implicit step after the same time.
//!
//! Hair on a ball that turns is taken from a few frames of one run, and goes on from there for one frame without forces of a step before:
//! with many iterations, as both steps must then agree; with the usual ones of Newton's step; and with as many of the splitting as take at
//! least as long. Errors are root mean squares over all vertices, beside how far those move.

use glam::DVec3;
use hairloom::scene::State;
use hairloom::solve::admm::{Elastic, Params, Precision, build};
use hairloom::solve::{Report, Solver};
use serde_json::json;

use super::admm::{Ball, STEPS, row};
use super::clock::shortest;
use super::{Bench, Listener, Ratio};

const STRANDS: usize = 500;
/// Frames after which hair is taken: it falls and the ball turns, hair is flung, and lies.
const STARTS: [usize; 3] = [4, 9, 15];
/// Iterations that count as converged, and those of the splitting that may be needed to take as long as the usual ones of Newton's step.
const CONVERGED: u32 = 300;
const SPLITTING: [u32; 7] = [1, 2, 3, 5, 7, 10, 15];
/// How often a frame is timed.
const TRIES: usize = 3;

fn usual() -> Params {
    Params { tolerance: 0.0, continuous: 0, ..Params::default() }
}

/// Where a frame takes the hair, and its shortest time [s].
fn frame(ball: &mut Ball, start: usize, state: &State, params: Params, tries: usize) -> (Vec<DVec3>, f64) {
    let mut after = State::default();
    let seconds = shortest(tries, || {
        ball.step = STEPS * start;
        let mut solver = build(&ball.model, params);
        solver.load(state);
        ball.frame(solver.as_mut(), &mut Report::default());
        solver.store(&mut after);
    });
    (after.positions, seconds)
}

fn mean_square(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance_squared(*b)).sum::<f64>() / a.len() as f64
}

pub(super) fn run(tell: Listener<'_>) -> Bench {
    let mut bench = Bench { bench: "elastic", rows: Vec::new(), ratios: Vec::new() };
    let mut ball = Ball::new(STRANDS);
    let mut solver: Box<dyn Solver> = build(&ball.model, usual());
    let mut done = 0;
    // Sums of squared errors and of times: converged splitting, Newton, splitting.
    let (mut errors, mut seconds, mut moved) = ([0.0; 3], [0.0; 3], 0.0);
    for start in STARTS {
        tell(&format!("rods in contact: frame {start}"));
        ball.step = STEPS * done;
        for _ in done..start {
            ball.frame(solver.as_mut(), &mut Report::default());
        }
        done = start;
        let mut state = State::default();
        solver.store(&mut state);
        let splitting = Params { elastic: Elastic::Splitting, ..usual() };
        let exact = |params| Params { iterations: CONVERGED, precision: Precision::F64, ..params };
        let (reference, _) = frame(&mut ball, start, &state, exact(usual()), 1);
        let converged = frame(&mut ball, start, &state, exact(splitting), 1);
        let newton = frame(&mut ball, start, &state, usual(), TRIES);
        let mut other =
            frame(&mut ball, start, &state, Params { iterations: SPLITTING[0], ..splitting }, TRIES);
        let mut iterations = SPLITTING[0];
        for more in &SPLITTING[1..] {
            if other.1 >= newton.1 {
                break;
            }
            iterations = *more;
            other = frame(&mut ball, start, &state, Params { iterations, ..splitting }, TRIES);
        }
        let way = mean_square(&reference, &state.positions);
        moved += way;
        let found = [
            ("splitting, converged", CONVERGED, converged),
            ("newton", usual().iterations, newton),
            ("splitting", iterations, other),
        ];
        for (place, (name, iterations, (positions, time))) in found.into_iter().enumerate() {
            let error = mean_square(&positions, &reference);
            errors[place] += error;
            seconds[place] += time;
            bench.rows.push(row([
                ("scene", json!(format!("hairy ball, {STRANDS} strands, after frame {start}"))),
                ("solver", json!(name)),
                ("iterations", json!(iterations)),
                ("seconds_per_frame", json!(time)),
                ("error", json!((error / way).sqrt())),
            ]));
        }
    }
    let [apart, newton, splitting] = errors.map(|error| (error / moved).sqrt());
    let times = seconds[2] / seconds[1];
    let title = format!("in contact: error of the splitting against newton's, in {times:.2} of its time");
    bench.ratios.push(Ratio::at_least(title, splitting / newton, 1.0));
    let title = "in contact: both steps converged, apart against newton's usual error";
    bench.ratios.push(Ratio::at_most(title, apart / newton, 0.5));
    bench
}
