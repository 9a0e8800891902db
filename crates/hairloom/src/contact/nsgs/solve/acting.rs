//! Problems of which few contacts act.

use glam::DVec3;

use super::{FINISHING_SWEEPS, NEARLY_ACTING, Run, within};
use crate::contact::nsgs::system::Units;
use crate::contact::nsgs::{Problem, Settings};

/// How often the contacts that act are gathered, at most.
const ROUNDS: usize = 8;

impl Run<'_> {
    /// Solves the problem of the contacts that act, or nearly do, where those are few: of hair that lies near other hair most is about
    /// to touch, and does not. What the others then do is looked at, and those that would have to act join in.
    /// False where most contacts act, and nothing was done.
    pub(super) fn acting(&mut self, problem: &Problem, units: &Units) -> bool {
        let mut acts = vec![false; self.system.len()];
        for _ in 0..ROUNDS {
            if self.is_solved() || self.interior_steps >= self.settings.most_interior_steps {
                return true;
            }
            let velocities = self.system.velocities(&self.best);
            let before = acts.iter().filter(|acts| **acts).count();
            for ((acts, force), velocity) in acts.iter_mut().zip(&self.best).zip(&velocities) {
                *acts |= *force != DVec3::ZERO || velocity.x < NEARLY_ACTING;
            }
            let places: Vec<usize> = (0..acts.len()).filter(|&place| acts[place]).collect();
            if 2 * places.len() > acts.len() {
                return false;
            }
            if places.len() == before {
                return true;
            }
            let contacts: Vec<usize> = places.iter().map(|&place| self.system.contact(place)).collect();
            let start = self.system.leave(&self.best);
            let start: Vec<DVec3> = contacts.iter().map(|&contact| start[contact]).collect();
            let left = self.left();
            // A few are for all contacts together.
            let finishing = FINISHING_SWEEPS.min(left.most_sweeps / 2);
            let settings = Settings { most_sweeps: left.most_sweeps - finishing, ..left };
            let (part, units) = (problem.restricted(&contacts), units.restricted(&contacts));
            let Ok(part) = within(&part, &units, &settings, Some(&start), false) else { return true };
            let mut forces = vec![DVec3::ZERO; acts.len()];
            contacts.iter().zip(&part.forces).for_each(|(&contact, force)| forces[contact] = *force);
            let forces = self.system.enter(&forces);
            self.go_on_from(forces.clone());
            self.charge(&part, contacts.len());
            // Where others overlap now, that is worse than before, but nearer.
            if !self.offer(&forces) && part.converged {
                self.errors = self.system.measure(&forces);
                self.best = forces;
            }
        }
        true
    }
}
