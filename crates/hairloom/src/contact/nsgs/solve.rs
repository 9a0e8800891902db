mod acting;
mod lesser_friction;
mod plain;
mod stubborn;

use std::rc::Rc;

use glam::DVec3;

use super::curve::{Curve, Rounding};
use super::interior::{Interior, MUCH_STIFFER, STIFFER, Shift};
use super::mixing::Mixing;
use super::newton::{self, Function};
use super::pattern::Pattern;
use super::system::{Errors, Sweeper, System, Tally, Units, larger};
use super::{Global, Problem, ProblemError, Settings, Solution, Stop};

/// Solves a problem from the forces `start`, or from none. The problem must have passed [`Problem::checked`].
pub fn solve(
    problem: &Problem,
    settings: &Settings,
    start: Option<&[DVec3]>,
) -> Result<Solution, ProblemError> {
    let contacts = problem.offset.len();
    if contacts == 0 {
        return Err(ProblemError::Empty);
    }
    let sizes = [("mu", problem.friction.len()), ("rows of W", problem.matrix.rows())];
    let start_size = start.map(|start| ("forces to start from", start.len()));
    if let Some((what, given)) = sizes.into_iter().chain(start_size).find(|(_, given)| *given != contacts) {
        return Err(ProblemError::WrongSize { what, given, expected: contacts });
    }
    within(problem, &Units::of(problem), settings, start, start.is_some())
}

/// A total error after some sweeps that is not far from that of no forces at all, in parts of it.
const ASTRAY: f64 = 0.3;

/// Solves a problem of known sizes, measured in these units. Where the start is of another problem, it may lead nowhere.
pub(super) fn within(
    problem: &Problem,
    units: &Units,
    settings: &Settings,
    start: Option<&[DVec3]>,
    is_foreign: bool,
) -> Result<Solution, ProblemError> {
    let contacts = problem.offset.len();
    let system = System::new(problem, units);
    let forces = start.map_or_else(|| vec![DVec3::ZERO; contacts], |start| system.enter(start));
    let mut run = Run::new(&system, settings, forces);
    let mut came_to_rest = None;
    match (settings.global, settings.stop) {
        (Global::GaussSeidel, Stop::Step(share)) => came_to_rest = Some(run.plain_sweeps(share)),
        (global, _) => run.by(global, problem, units, is_foreign)?,
    }
    let forces = system.leave(&run.best);
    Ok(Solution {
        velocities: problem.velocities(&forces),
        forces,
        error: run.errors.fischer_burmeister,
        natural: run.errors.natural,
        converged: came_to_rest.unwrap_or_else(|| run.is_solved()),
        sweeps: run.sweeps,
        interior_steps: run.interior_steps,
        local_solves: run.tally.solved,
        fail_safe: run.tally.fail_safe,
        failed: run.tally.failed,
    })
}

impl Solution {
    /// The larger of both error measures, or NaN where one is.
    pub fn worse(&self) -> f64 {
        larger(self.error, self.natural)
    }

    fn tally(&self) -> Tally {
        Tally { solved: self.local_solves, fail_safe: self.fail_safe, failed: self.failed }
    }
}

/// Steps of the interior point at most.
const INTERIOR_STEPS: usize = 60;
/// An interior point that has come this near, in tolerances, has left errors in a few places: sweeps and those places alone are cheaper.
const NEAR_ENOUGH: f64 = 10.0;

/// Steps along a curve to a solution at most, the largest step of an interior point that they are worth [multiplications], and the curves
/// that are tried one after the other.
const CURVE_STEPS: usize = 200;
const CURVE_WORK: f64 = 2.0e9;
/// What all curves together may take [multiplications]: a minute or so, for there may be no solution.
const CURVES_WORK: f64 = 2.0e11;
/// Sweeps that cost less than a curve, and may do without.
const SWEEPS_BEFORE_CURVES: usize = 5_000;
const ROUNDINGS: [Rounding; 5] = [
    Rounding { size: 100.0, exponent: 1.0 },
    Rounding { size: 1000.0, exponent: 1.0 },
    Rounding { size: 10.0, exponent: 1.0 },
    Rounding { size: 1.0, exponent: 0.75 },
    Rounding { size: 1.0, exponent: 1.0 },
];

/// Convex programmes at most with a held shift, and the largest step that they are worth [multiplications].
const HELD_PROGRAMMES: usize = 60;
const HELD_WORK: f64 = 2.0e7;

/// The part of the known error that interior points must come below.
const CLEAR_GAIN: f64 = 0.1;

/// Sweeps before anything else is tried.
const LEAST_PATIENCE: usize = 100;

/// Contacts that part more slowly than this, without units, may come to act.
const NEARLY_ACTING: f64 = 1.0e-3;

/// Sweeps that finish what the interior point has left; and those after which it shows what is stubborn.
const FINISHING_SWEEPS: usize = 200;
const SETTLING_SWEEPS: usize = 20;

/// Sweeps are mixed for so many, then plain for as many, and so on: mixtures gain much or nothing, and plain sweeps always a little.
const PHASE: usize = 1_000;

/// After how many sweeps it is asked what they have gained, and from what part on of those that cost as much as the interior point.
const LOOK: usize = 50;
const PATIENCE: f64 = 0.03;

/// How many sweeps cost as much as the interior point would.
fn alternative(system: &System, step: f64) -> f64 {
    // Usual steps; multiplications of a factorisation go several at a time, those of a sweep wait for each other. Measured on walls,
    // towers and stored problems of 50 to 5,000 contacts.
    const STEPS: f64 = 15.0;
    const AT_A_TIME: f64 = 3.5;
    // Multiplications of one contact, about.
    const LOCAL_SOLVE: f64 = 150.0;
    let sweep = 9.0 * system.couplings() as f64 + LOCAL_SOLVE * system.len() as f64;
    STEPS / AT_A_TIME * step / sweep
}

/// Where an interior point begins.
#[derive(Debug, Clone, Copy)]
enum From {
    /// Near the best forces known.
    Best,
    /// From forces of its own; see [`Interior::start`].
    Nothing(f64),
}

/// A problem under way.
struct Run<'a> {
    system: &'a System,
    settings: &'a Settings,
    sweeper: Sweeper,
    mixing: Mixing,
    /// Forces before a sweep, and after it.
    forces: Vec<DVec3>,
    image: Vec<DVec3>,
    /// The sweep after which errors are measured again.
    next_check: usize,
    /// The best forces measured, and their errors.
    best: Vec<DVec3>,
    errors: Errors,
    sweeps: usize,
    interior_steps: usize,
    tally: Tally,
}

impl<'a> Run<'a> {
    fn new(system: &'a System, settings: &'a Settings, forces: Vec<DVec3>) -> Self {
        let errors = system.measure(&forces);
        let (image, best) = (forces.clone(), forces.clone());
        Self {
            system,
            settings,
            sweeper: Sweeper::new(system),
            mixing: Mixing::new(settings.acceleration, forces.len()),
            forces,
            image,
            next_check: 0,
            best,
            errors,
            sweeps: 0,
            interior_steps: 0,
            tally: Tally::default(),
        }
    }

    /// Measures `forces` and keeps them if they are the best so far. True where they solve the problem. The best are those with the least
    /// total error: by the largest, one contact that has no solution would keep all others from theirs.
    fn offer(&mut self, forces: &[DVec3]) -> bool {
        self.offer_below(forces, f64::INFINITY)
    }

    /// The same for forces whose total error must be below this, too, or solve the problem.
    fn offer_below(&mut self, forces: &[DVec3], limit: f64) -> bool {
        if self.is_solved() {
            return true;
        }
        let errors = self.system.measure(forces);
        let best = self.errors.total;
        // The best may be NaN, from a start that is.
        if errors.total < best.min(limit) || errors.worse() <= self.settings.tolerance || best.is_nan() {
            self.errors = errors;
            self.best.copy_from_slice(forces);
        }
        self.is_solved()
    }

    /// Settings with what is left of sweeps and steps.
    fn left(&self) -> Settings {
        Settings {
            most_sweeps: self.settings.most_sweeps.saturating_sub(self.sweeps),
            most_interior_steps: self.settings.most_interior_steps.saturating_sub(self.interior_steps),
            ..self.settings.clone()
        }
    }

    /// Counts what was done for some contacts as the part of all that they are, rounded up.
    fn charge(&mut self, found: &Solution, contacts: usize) {
        let part = |count: usize| (count * contacts).div_ceil(self.system.len());
        self.sweeps += part(found.sweeps);
        self.interior_steps += part(found.interior_steps);
        self.tally.add(&found.tally());
    }

    fn is_solved(&self) -> bool {
        self.errors.worse() <= self.settings.tolerance
    }

    /// Until the errors are within tolerance, by any way.
    fn by(
        &mut self,
        global: Global,
        problem: &Problem,
        units: &Units,
        is_foreign: bool,
    ) -> Result<(), ProblemError> {
        let (contacts, most) = (self.system.len(), self.settings.most_sweeps);
        match global {
            Global::Hybrid => self.hybrid(problem, units, is_foreign),
            Global::GaussSeidel => self.gauss_seidel(most),
            Global::InteriorPoint => {
                let pattern = Interior::pattern(self.system).ok_or(ProblemError::TooLarge { contacts })?;
                for shift in [Shift::Exact, Shift::Lagged] {
                    self.interior_point(&pattern, shift, From::Nothing(STIFFER));
                    self.gauss_seidel((self.sweeps + FINISHING_SWEEPS).min(most));
                }
            }
            Global::Mfb => self.newton(Function::FischerBurmeister)?,
            Global::Dac => self.newton(Function::AlartCurnier)?,
        }
        Ok(())
    }

    /// Sweeps; then, where few contacts act, those alone; otherwise those few that are farthest from solved; then sweeps as long as they are
    /// likely to be done before the interior point would, and then that: from near what sweeps have found, then from its own start with each way of carrying the shift along,
    /// until the problem is solved; sweeps and those few to finish in between. What is left then falls to solutions with lesser friction that lead to one
    /// with all of it, and to curves around their bends.
    fn hybrid(&mut self, problem: &Problem, units: &Units, is_foreign: bool) {
        let most = self.settings.most_sweeps;
        self.gauss_seidel(LEAST_PATIENCE.min(most / 2));
        if self.is_solved() {
            return;
        }
        if is_foreign && self.errors.total > ASTRAY * self.without_forces().total {
            self.forget();
        }
        let before = (self.best.clone(), self.errors);
        if self.acting(problem, units) {
            self.gauss_seidel(most);
            // What was nearer on the way may have led nowhere.
            let (after, known) = (self.errors.total, before.1.total);
            if !self.is_solved() && (after.is_nan() || after > known) {
                (self.best, self.errors) = before;
            }
            return;
        }
        self.stubborn(problem, units);
        if self.is_solved() {
            return;
        }
        if let Some(pattern) = Interior::pattern(self.system)
            && Interior::work(&pattern) <= self.settings.most_interior_work
        {
            let step = Interior::work(&pattern);
            self.promising_sweeps(alternative(self.system, step), most / 2);
            let tries = [
                (Shift::Exact, From::Best),
                (Shift::Exact, From::Nothing(STIFFER)),
                (Shift::Exact, From::Nothing(MUCH_STIFFER)),
                (Shift::Lagged, From::Nothing(STIFFER)),
            ];
            for (shift, from) in tries {
                self.interior_point(&pattern, shift, from);
                self.gauss_seidel((self.sweeps + SETTLING_SWEEPS).min(most));
                self.stubborn(problem, units);
                self.gauss_seidel((self.sweeps + FINISHING_SWEEPS).min(most));
            }
            let mut factors = (CURVES_WORK / step.max(1.0)) as usize;
            if step <= CURVE_WORK {
                factors = self.lesser_friction(problem, units, &pattern, factors);
                self.gauss_seidel((self.sweeps + FINISHING_SWEEPS).min(most));
            }
            if step <= HELD_WORK {
                self.interior_point(&pattern, Shift::Held, From::Nothing(STIFFER));
            }
            self.gauss_seidel((self.sweeps + SWEEPS_BEFORE_CURVES).min(most));
            for rounding in ROUNDINGS.into_iter().filter(|_| step <= CURVE_WORK) {
                factors = self.curve(&pattern, rounding, factors);
                self.gauss_seidel((self.sweeps + FINISHING_SWEEPS).min(most));
            }
        }
        self.gauss_seidel(most);
    }

    fn without_forces(&self) -> Errors {
        self.system.measure(&vec![DVec3::ZERO; self.system.len()])
    }

    /// Sweeps from no forces at all, and on from what they come to if that is better than what was known.
    fn forget(&mut self) {
        let before = (self.best.clone(), self.errors);
        self.best.fill(DVec3::ZERO);
        self.errors = self.without_forces();
        self.go_on_from(self.best.clone());
        self.gauss_seidel((self.sweeps + LEAST_PATIENCE).min(self.settings.most_sweeps));
        if !self.is_solved() && self.errors.total >= before.1.total {
            (self.best, self.errors) = before;
            self.go_on_from(self.best.clone());
        }
    }

    /// Sweeps as long as what they have gained in the later half of them promises a solution in fewer than `enough` more; up to `most`.
    fn promising_sweeps(&mut self, enough: f64, most: usize) {
        let begin = self.sweeps;
        // The largest error of the best forces may grow; all together only shrink.
        let mut history = vec![self.errors.total];
        while !self.is_solved() && self.sweeps < most {
            self.gauss_seidel((self.sweeps + LOOK).min(most));
            history.push(self.errors.total);
            let looks = history.len() - 1;
            let since = looks / 2;
            let gain = (history[since] / history[looks]).ln() / (LOOK * (looks - since)) as f64;
            let needed = (self.errors.worse() / self.settings.tolerance).ln() / gain;
            let is_patient = ((self.sweeps - begin) as f64) < PATIENCE * enough;
            if !is_patient && (needed.is_nan() || needed > enough) {
                break;
            }
        }
    }

    /// Algorithm 1, its iterates mixed, until there have been `most` sweeps.
    fn gauss_seidel(&mut self, most: usize) {
        let tolerance = self.settings.tolerance;
        while !self.is_solved() && self.sweeps < most {
            self.image.copy_from_slice(&self.forces);
            let tally = self.sweeper.sweep(self.system, &mut self.image, self.settings);
            self.sweeps += 1;
            self.tally.add(&tally);
            let size = self.mixing.measure(&self.image, &self.forces);
            if self.sweeps >= self.next_check || size <= tolerance || self.sweeps == most {
                let image = std::mem::take(&mut self.image);
                let solved = self.offer(&image);
                self.image = image;
                if solved {
                    break;
                }
                self.next_check = self.sweeps + if size <= 30.0 * tolerance { 3 } else { 12 };
                if size <= 0.1 * tolerance {
                    self.sweeper.thaw();
                }
            }
            if self.settings.acceleration == 0 || self.sweeps / PHASE % 2 == 1 {
                self.forces.copy_from_slice(&self.image);
                self.mixing.restart();
            } else {
                self.mixing.mix(&self.image, &mut self.forces);
            }
        }
    }

    /// On from other forces: all contacts are awake, and nothing is known of earlier sweeps.
    fn go_on_from(&mut self, forces: Vec<DVec3>) {
        self.forces = forces;
        self.sweeper.thaw();
        self.mixing.restart();
        self.next_check = 0;
    }

    /// The interior point, from near the best forces known or from its own start; sweeps go on from the best that is known.
    fn interior_point(&mut self, pattern: &Rc<Pattern>, shift: Shift, from: From) {
        let most_steps = self.settings.most_interior_steps;
        if self.is_solved() || self.interior_steps >= most_steps {
            return;
        }
        let system = self.system;
        let mut interior = Interior::new(system, pattern, shift);
        let start = match from {
            // Farther than forces are off, or the path would begin beside its cones' surfaces.
            From::Best => interior.near(&self.best, (10.0 * self.errors.worse()).clamp(1.0e-4, 0.1)),
            From::Nothing(stiffer) => interior.start(stiffer),
        };
        // Where there is no solution, its forces grow without limit: only a clear gain counts.
        let gained = CLEAR_GAIN * self.errors.total;
        let enough = (CLEAR_GAIN * self.errors.worse()).min(NEAR_ENOUGH * self.settings.tolerance);
        let accept = |forces: &[DVec3]| {
            self.interior_steps += 1;
            let is_solved = self.offer_below(forces, gained);
            is_solved || self.interior_steps >= most_steps || self.errors.worse() <= enough
        };
        match shift {
            Shift::Exact | Shift::Lagged => interior.solve(start, INTERIOR_STEPS, accept),
            Shift::Held => interior.solve_outer(HELD_PROGRAMMES, accept),
        }
        self.tidy();
        self.go_on_from(self.best.clone());
    }

    /// Forces from inside their cones are never zero. Those that the tolerance does not know from zero are made so, if that is a solution
    /// still: what does not act need not be thought of again.
    fn tidy(&mut self) {
        const SHARE: f64 = 0.1;
        let is_none = |force: DVec3| force.length() < SHARE * self.settings.tolerance;
        let tidied: Vec<DVec3> =
            self.best.iter().map(|&force| if is_none(force) { DVec3::ZERO } else { force }).collect();
        let errors = self.system.measure(&tidied);
        if errors.worse() <= self.settings.tolerance {
            (self.best, self.errors) = (tidied, errors);
        }
    }

    /// The curve to a solution, around its bends, with so many factors at most. Returns how many are left.
    fn curve(&mut self, pattern: &Rc<Pattern>, rounding: Rounding, factors: usize) -> usize {
        let most_steps = self.settings.most_interior_steps;
        // Forces on the way are far larger than needed: what is cut off early may pass the measures, and yet throw light bodies about.
        if self.is_solved() || self.interior_steps + CURVE_STEPS > most_steps {
            return factors;
        }
        let system = self.system;
        let mut interior = Interior::new(system, pattern, Shift::Exact);
        let gained = CLEAR_GAIN * self.errors.total;
        let accept = |forces: &[DVec3]| {
            self.interior_steps += 1;
            self.offer_below(forces, gained)
        };
        let left = Curve::follow(&mut interior, rounding, CURVE_STEPS, factors, accept);
        self.go_on_from(self.best.clone());
        left
    }

    fn newton(&mut self, function: Function) -> Result<(), ProblemError> {
        let contacts = self.system.len();
        if contacts > newton::LARGEST {
            return Err(ProblemError::TooLarge { contacts });
        }
        let (system, start, steps) = (self.system, self.forces.clone(), self.settings.most_sweeps);
        self.sweeps = newton::solve(system, function, start, steps, |forces| self.offer(forces));
        Ok(())
    }
}
