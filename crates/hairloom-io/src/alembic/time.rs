//! When the samples of a property are.

/// Stands for "no cycle" in files: a 32nd of the largest number.
const ACYCLIC: f64 = f64::MAX / 32.0;

/// Samples this close are taken at the same time [s].
const SAME: f64 = 1e-6;

/// The times of samples: those of one cycle, and how long a cycle lasts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeSampling {
    cycle: f64,
    times: Vec<f64>,
}

/// The samples around a time, and how far it is from the first to the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bracket {
    pub(super) before: u32,
    pub(super) after: u32,
    pub(super) share: f64,
}

impl TimeSampling {
    /// One sample every `step`, from `start` on [s].
    pub(super) fn uniform(start: f64, step: f64) -> Self {
        Self { cycle: step, times: vec![start] }
    }

    /// The times of all samples [s]; even ones at a rate [1/s] are told by their start.
    pub(super) fn of_times(times: &[f64], rate: f64) -> Self {
        let start = times.first().copied().unwrap_or(0.0);
        let even = |(index, time): (usize, &f64)| (time - start - index as f64 / rate).abs() < SAME;
        match times.iter().enumerate().all(even) {
            true => Self::uniform(start, 1.0 / rate),
            false => Self { cycle: ACYCLIC, times: times.to_vec() },
        }
    }

    /// The times of a file, if they can be: finite, and in order.
    pub(super) fn new(cycle: f64, times: Vec<f64>) -> Option<Self> {
        let ordered = times.windows(2).all(|pair| pair[0] <= pair[1]);
        let fine = ordered && times.iter().all(|time| time.is_finite()) && cycle > 0.0 && cycle <= ACYCLIC;
        (fine && !times.is_empty()).then_some(Self { cycle, times })
    }

    /// The time of a sample [s].
    pub(super) fn time(&self, sample: u32) -> f64 {
        let count = self.times.len();
        if self.cycle >= ACYCLIC {
            return self.times[(sample as usize).min(count - 1)];
        }
        let (cycles, rest) = (sample as usize / count, sample as usize % count);
        self.times[rest] + cycles as f64 * self.cycle
    }

    /// Samples a second [1/s]; nothing where the times do not tell.
    pub(super) fn per_second(&self) -> Option<f64> {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        let rate = if self.cycle >= ACYCLIC {
            (self.times.len() - 1) as f64 / (last - first)
        } else {
            self.times.len() as f64 / self.cycle
        };
        (rate.is_normal() && rate > 0.0).then_some(rate)
    }

    /// The samples around a time [s] among the first `count`; the ends hold beyond them.
    pub(super) fn bracket(&self, time: f64, count: u32) -> Bracket {
        let last = count.saturating_sub(1);
        // The first sample later than the time.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.time(middle) <= time + SAME { low = middle + 1 } else { high = middle }
        }
        let before = low.saturating_sub(1);
        let (start, end) = (self.time(before), self.time(low.min(last)));
        if low == 0 || low > last || time - start <= SAME {
            return Bracket { before, after: before, share: 0.0 };
        }
        Bracket { before, after: low, share: (time - start) / (end - start) }
    }

    /// As it stands in a file; `samples` is the most that any property has.
    pub(super) fn encode(&self, samples: u32, bytes: &mut Vec<u8>) {
        bytes.extend(samples.to_le_bytes());
        bytes.extend(self.cycle.to_le_bytes());
        bytes.extend((self.times.len() as u32).to_le_bytes());
        bytes.extend(self.times.iter().flat_map(|time| time.to_le_bytes()));
    }

    /// All samplings of a file; nothing if the bytes are not such.
    pub(super) fn decode_all(mut bytes: &[u8]) -> Option<Vec<Self>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at_checked(16)?;
            let cycle = f64::from_le_bytes(head[4..12].try_into().ok()?);
            let count = u32::from_le_bytes(head[12..].try_into().ok()?) as usize;
            let (times, rest) = rest.split_at_checked(count.checked_mul(8)?)?;
            let times = times.as_chunks::<8>().0.iter().map(|time| f64::from_le_bytes(*time)).collect();
            all.push(Self::new(cycle, times)?);
            bytes = rest;
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_hold_at_the_ends_and_snap_to_samples() {
        let film = TimeSampling::uniform(1.0, 1.0 / 24.0);
        let at = |time: f64| film.bracket(time, 3);
        assert_eq!(at(0.0), Bracket { before: 0, after: 0, share: 0.0 });
        assert_eq!(at(9.0), Bracket { before: 2, after: 2, share: 0.0 });
        assert_eq!(at(1.0 + 1.0 / 24.0), Bracket { before: 1, after: 1, share: 0.0 });
        assert_eq!(at(1.0 + 1.0 / 24.0 - 1e-9), Bracket { before: 1, after: 1, share: 0.0 });
        let between = at(1.0 + 1.25 / 24.0);
        assert_eq!((between.before, between.after), (1, 2));
        assert!((between.share - 0.25).abs() < 1e-12);
        assert_eq!(at(f64::NEG_INFINITY).before, 0);
    }

    #[test]
    fn cycles_and_lists_have_their_times() {
        let shutter = TimeSampling::new(1.0, vec![0.1, 0.4]).unwrap();
        assert_eq!([0, 1, 2, 3].map(|sample| shutter.time(sample)), [0.1, 0.4, 1.1, 1.4]);
        let list = TimeSampling::new(ACYCLIC, vec![0.0, 0.5, 3.0]).unwrap();
        assert_eq!([0, 1, 2, 7].map(|sample| list.time(sample)), [0.0, 0.5, 3.0, 3.0]);
        assert_eq!(list.bracket(1.75, 3), Bracket { before: 1, after: 2, share: 0.5 });
        assert_eq!(TimeSampling::new(1.0, vec![f64::NAN]), None);
        assert_eq!(TimeSampling::new(0.0, vec![1.0]), None);
    }

    #[test]
    fn samplings_come_back() {
        let all = [TimeSampling::uniform(0.0, 1.0), TimeSampling::new(ACYCLIC, vec![0.0, 0.5]).unwrap()];
        let mut bytes = Vec::new();
        all.iter().for_each(|sampling| sampling.encode(7, &mut bytes));
        assert_eq!(TimeSampling::decode_all(&bytes).unwrap(), all);
        assert!(
            (1..bytes.len()).filter(|&cut| TimeSampling::decode_all(&bytes[..cut]).is_some()).count() == 1
        );
    }
}
