//! Sweeps that stop by what they change, as figure 7 of the paper has them for solvers without an error of their own.

use super::Run;
use crate::contact::nsgs::Settings;

impl Run<'_> {
    /// Algorithm 1 as it is, until a sweep changes all forces by at most a share of them: true where one did. The last forces are the answer.
    pub(super) fn plain_sweeps(&mut self, share: f64) -> bool {
        let settings = Settings { freeze: 0, ..self.settings.clone() };
        let mut is_at_rest = false;
        while !is_at_rest && self.sweeps < settings.most_sweeps {
            self.image.copy_from_slice(&self.forces);
            let tally = self.sweeper.sweep(self.system, &mut self.image, &settings);
            self.sweeps += 1;
            self.tally.add(&tally);
            let change = self.mixing.measure(&self.image, &self.forces);
            let size = self.image.iter().map(|force| force.length_squared()).sum::<f64>().sqrt();
            is_at_rest = change <= share * size;
            self.forces.copy_from_slice(&self.image);
        }
        self.errors = self.system.measure(&self.forces);
        self.best.copy_from_slice(&self.forces);
        is_at_rest
    }
}
