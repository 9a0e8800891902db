//! Fingerprints, to tell whether two things are the same: FNV-1a over 64 bits. They guard against mistakes, not
//! against attackers.

/// A fingerprint in the making.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes in bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Takes in a count.
    fn add_count(&mut self, count: usize) {
        self.add(&(count as u64).to_le_bytes());
    }

    /// Takes in a text.
    pub(crate) fn add_text(&mut self, text: &str) {
        self.add_count(text.len());
        self.add(text.as_bytes());
    }

    /// Takes in a column of values, each as `bytes`.
    pub(crate) fn add_column<T, const N: usize>(&mut self, values: &[T], bytes: impl Fn(&T) -> [u8; N]) {
        self.add_count(values.len());
        values.iter().for_each(|value| self.add(&bytes(value)));
    }

    /// Takes in numbers.
    pub(crate) fn add_numbers(&mut self, numbers: &[f32]) {
        self.add_column(numbers, |number| number.to_bits().to_le_bytes());
    }

    /// Takes in points.
    pub(crate) fn add_points(&mut self, points: &[glam::Vec3]) {
        self.add_count(points.len());
        points.iter().for_each(|point| self.add_numbers(&point.to_array()));
    }

    /// The fingerprint of all that was taken in.
    pub(crate) fn value(self) -> u64 {
        self.0
    }
}
