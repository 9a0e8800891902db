//! From solutions with lesser friction to one with all of it.
//!
//! With little friction the problem is nearly convex, and solved from anywhere. Coefficients are limited, and the limit is raised in steps:
//! what solves one problem is near what solves the next. Where it is not, steps are halved; where that does not help either, the best
//! that was found is where the next step begins.

use std::rc::Rc;

use glam::DVec3;

use super::{CURVE_STEPS, FINISHING_SWEEPS, From, Run};
use crate::contact::nsgs::Problem;
use crate::contact::nsgs::interior::{STIFFER, Shift};
use crate::contact::nsgs::pattern::Pattern;
use crate::contact::nsgs::system::{System, Units};

/// The first limit at most, and in parts of the largest coefficient.
const FIRST: f64 = 0.3;
const FIRST_PART: f64 = 0.25;
/// By how much limits are raised at first and at most, and less than that is not worth a step.
const FACTOR: f64 = 1.5;
const LEAST_FACTOR: f64 = 1.15;
/// Limits at most.
const LIMITS: usize = 40;

impl Run<'_> {
    /// Raises the limit of friction until it holds none back, with so many factors of interior points at most, about. Returns how many are
    /// left.
    pub(super) fn lesser_friction(
        &mut self,
        problem: &Problem,
        units: &Units,
        pattern: &Rc<Pattern>,
        factors: usize,
    ) -> usize {
        let begin = self.interior_steps;
        let most = (begin + factors).min(self.settings.most_interior_steps);
        let largest = problem.friction.iter().fold(0.0_f64, |most, friction| most.max(*friction));
        let (mut limit, mut factor) = (FIRST.min(FIRST_PART * largest), FACTOR);
        // Units and order are those of W, which all problems share.
        let mut known = vec![DVec3::ZERO; self.system.len()];
        let (mut before, mut is_leap) = (limit, true);
        for _ in 0..LIMITS {
            if self.is_solved() || self.interior_steps + CURVE_STEPS > most {
                break;
            }
            let friction = problem.friction.iter().map(|friction| friction.min(limit)).collect();
            let limited = Problem { friction, ..problem.clone() };
            let system = System::new(&limited, units);
            let settings = self.left();
            let mut run = Run::new(&system, &settings, known.clone());
            run.either_way(pattern);
            self.interior_steps += run.interior_steps;
            self.sweeps += run.sweeps;
            self.tally.add(&run.tally);
            let is_last = limit >= largest;
            if is_last {
                self.offer(&run.best);
                self.go_on_from(run.best.clone());
            }
            if run.is_solved() || is_leap {
                if is_last {
                    break;
                }
                (known, before, factor, is_leap) = (run.best, limit, FACTOR, false);
            } else if factor > LEAST_FACTOR {
                factor = factor.sqrt();
            } else {
                (factor, is_leap) = (FACTOR, true);
            }
            limit = (before * factor).min(largest);
        }
        factors.saturating_sub(self.interior_steps - begin)
    }

    /// Sweeps and interior points by turns, a few of each.
    fn either_way(&mut self, pattern: &Rc<Pattern>) {
        let most = self.settings.most_sweeps;
        for from in [From::Best, From::Nothing(STIFFER)] {
            self.gauss_seidel((self.sweeps + FINISHING_SWEEPS).min(most));
            self.interior_point(pattern, Shift::Exact, from);
        }
        self.gauss_seidel((self.sweeps + FINISHING_SWEEPS).min(most));
    }
}
