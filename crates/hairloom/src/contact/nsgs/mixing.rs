use glam::DVec3;

use super::anderson::{Anderson, residual};

/// A mixture may have a residual this much larger than the least one.
const GUARD: f64 = 10.0;

/// Where sweeps go on: from mixtures of what they came to, as long as those do not stray.
#[derive(Debug)]
pub(super) struct Mixing {
    anderson: Anderson,
    /// What the last sweep changed, and how much that is.
    change: Vec<DVec3>,
    size: f64,
    /// The last image that did not stray, and the least change since the memory is empty.
    safe: Vec<DVec3>,
    least: f64,
}

impl Mixing {
    pub(super) fn new(depth: usize, length: usize) -> Self {
        let none = vec![DVec3::ZERO; length];
        let anderson = Anderson::new(depth, length);
        Self { anderson, change: none.clone(), size: 0.0, safe: none, least: f64::INFINITY }
    }

    /// Forgets all sweeps.
    pub(super) fn restart(&mut self) {
        self.anderson.restart();
        self.least = f64::INFINITY;
    }

    /// How much a sweep changed.
    pub(super) fn measure(&mut self, image: &[DVec3], before: &[DVec3]) -> f64 {
        self.size = residual(image, before, &mut self.change).sqrt();
        self.size
    }

    /// The forces for the next sweep, after one that has been measured and came to `image`.
    pub(super) fn mix(&mut self, image: &[DVec3], next: &mut [DVec3]) {
        if self.size <= GUARD * self.least {
            self.least = self.least.min(self.size);
            self.anderson.mix(image, &self.change, next);
            self.safe.copy_from_slice(image);
        } else {
            // The mixture went astray: on from the last image that was none, without memory.
            self.restart();
            next.copy_from_slice(&self.safe);
        }
    }
}
