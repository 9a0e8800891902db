//! Contacts that sweeps do not get right, solved together.
//!
//! After some sweeps most contacts are solved, and what is left is in a few places: a strand wedged between others, a lock that is about to
//! slip. The worst of those contacts, and the ones that they hang on to directly, are a small problem of their own while the forces of all
//! others are held. A few sweeps then tell the others. Where that gains little, the next ones around join in.

use glam::DVec3;

use super::{Run, within};
use crate::contact::coulomb::FischerBurmeister;
use crate::contact::nsgs::system::Units;
use crate::contact::nsgs::{Problem, Settings};

/// Rounds at most.
const ROUNDS: usize = 12;
/// Contacts with an error above this part of the tolerance are stubborn, if it is above this part of the largest, too.
const STUBBORN: f64 = 0.5;
const WORST: f64 = 0.1;
/// How far around them contacts join in, in couplings: at first, and at most.
const HOPS: usize = 1;
const MOST_HOPS: usize = 3;
/// Stubborn contacts and those around them are at most one in so many.
const FEW: usize = 4;
/// Sweeps over all contacts between two rounds.
const SWEEPS: usize = 20;
/// Steps of an interior point, and sweeps over stubborn contacts alone, for one round at most.
const STEPS: usize = 60;
const OWN_SWEEPS: usize = 1_000;
/// What a round must gain, or the next one goes farther.
const GAIN: f64 = 0.9;

impl Run<'_> {
    /// Solves stubborn contacts by themselves, as long as they are few and that helps.
    pub(super) fn stubborn(&mut self, problem: &Problem, units: &Units) {
        let mut hops = HOPS;
        for _ in 0..ROUNDS {
            let before = self.errors.total;
            if self.is_solved() || self.sweeps >= self.settings.most_sweeps {
                return;
            }
            let places = self.around_stubborn(hops);
            if places.is_empty() || FEW * places.len() > self.system.len() {
                return;
            }
            let contacts: Vec<usize> = places.iter().map(|&place| self.system.contact(place)).collect();
            let mut forces = self.system.leave(&self.best);
            let start: Vec<DVec3> = contacts.iter().map(|&contact| forces[contact]).collect();
            let mut part = problem.restricted(&contacts);
            let alone = part.velocities(&start);
            let together = problem.velocities(&forces);
            for ((offset, alone), &contact) in part.offset.iter_mut().zip(&alone).zip(&contacts) {
                *offset += together[contact] - *alone;
            }
            let left = self.left();
            let worth = |count: usize| count.saturating_mul(self.system.len()) / contacts.len();
            let settings = Settings {
                most_interior_steps: STEPS.min(worth(left.most_interior_steps)),
                most_sweeps: OWN_SWEEPS.min(worth(left.most_sweeps)),
                ..left
            };
            let Ok(found) = within(&part, &units.restricted(&contacts), &settings, Some(&start), false)
            else {
                return;
            };
            contacts.iter().zip(&found.forces).for_each(|(&contact, force)| forces[contact] = *force);
            self.charge(&found, contacts.len());
            let forces = self.system.enter(&forces);
            self.offer(&forces);
            self.go_on_from(forces);
            self.gauss_seidel((self.sweeps + SWEEPS).min(self.settings.most_sweeps));
            let after = self.errors.total;
            if after.is_nan() || after > GAIN * before {
                // Whatever follows begins with the best that is known.
                self.go_on_from(self.best.clone());
                if hops == MOST_HOPS {
                    return;
                }
                hops += 1;
            }
        }
    }

    /// Places of contacts whose error is too large, and of those around them that act or nearly do.
    fn around_stubborn(&self, hops: usize) -> Vec<usize> {
        let velocities = self.system.velocities(&self.best);
        let limit = (STUBBORN * self.settings.tolerance).max(WORST * self.errors.worse());
        let is_stubborn = |place: usize| {
            let law = FischerBurmeister::new(self.system.contacts()[place].friction, 1.0);
            let error = law.value(self.best[place], velocities[place]).length();
            error.is_nan() || error > limit
        };
        let mut joins: Vec<bool> = (0..self.system.len()).map(is_stubborn).collect();
        for _ in 0..hops {
            let reached: Vec<usize> = (0..joins.len()).filter(|&place| joins[place]).collect();
            for place in reached {
                for (other, _) in self.system.row(place) {
                    joins[other] |=
                        self.best[other] != DVec3::ZERO || velocities[other].x < super::NEARLY_ACTING;
                }
            }
        }
        (0..joins.len()).filter(|&place| joins[place]).collect()
    }
}
