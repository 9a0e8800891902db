//! Where an axis begins and ends, and where its ticks stand.

use crate::plot::{Axis, Scale};

/// An axis with a definite range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) scale: Scale,
    pub(crate) first: f64,
    pub(crate) last: f64,
}

/// A mark on an axis; those without text are minor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) text: String,
}

impl Span {
    /// The range of an axis around its data.
    pub(crate) fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let scale = axis.scale;
        let usable = |value: &f64| value.is_finite() && (scale == Scale::Linear || *value > 0.0);
        let fixed = axis.range.filter(|(first, last)| usable(first) && usable(last) && first != last);
        if let Some((first, last)) = fixed {
            return Self { scale, first, last };
        }
        let (low, high) = values
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        match scale {
            Scale::Linear => Self::padded_linear(low, high),
            Scale::Log => Self::padded_log(low, high),
        }
    }

    fn padded_linear(low: f64, high: f64) -> Self {
        // Data of one value still needs a range, wider than the rounding of that value.
        let extent = (high - low).max(low.abs().max(high.abs()) * 1e-9);
        let extent = if extent > 0.0 { extent } else { 1.0 };
        Self { scale: Scale::Linear, first: low - extent * 0.05, last: high + extent * 0.05 }
    }

    fn padded_log(low: f64, high: f64) -> Self {
        let (low, high) = if low > 0.0 { (low, high) } else { (0.1, 10.0) };
        let ratio = (high / low).powf(0.05).clamp(1.05, 1e6);
        Self { scale: Scale::Log, first: (low / ratio).max(f64::MIN_POSITIVE), last: high * ratio }
    }

    /// 0 at the first value, 1 at the last; `None` for values that have no place.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Linear => (value - self.first) / (self.last - self.first),
            Scale::Log if value > 0.0 => (value / self.first).ln() / (self.last / self.first).ln(),
            Scale::Log => return None,
        };
        place.is_finite().then_some(place)
    }

    /// Ticks at round values, about `count` of them with text.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        let (low, high) = (self.first.min(self.last), self.first.max(self.last));
        match self.scale {
            Scale::Log if high / low > 8.0 => log_ticks(low, high, count),
            _ => linear_ticks(low, high, count),
        }
    }
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let raw = (high - low) / count.max(1) as f64;
    let power = raw.log10().floor();
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * 10f64.powf(power))
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(raw);
    if !(step.is_finite() && step > 0.0) {
        return Vec::new();
    }
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // Values far from zero with a tiny range may not be told apart; then there are no ticks.
    (0..=((last - first) as usize).min(50))
        .map(|index| (first + index as f64) * step)
        .filter(|value| *value >= low - step * 1e-6 && *value <= high + step * 1e-6)
        .map(|value| Tick { value, text: number(value, step, low.abs().max(high.abs())) })
        .collect()
}

fn log_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let stride = ((last - first) as usize / count.max(1) + 1) as i32;
    let few = (high / low).log10() < 2.8;
    let mut ticks = Vec::new();
    for power in first..=last {
        for factor in 1..10 {
            let value = f64::from(factor) * 10f64.powi(power);
            if value < low * 0.999_999 || value > high * 1.000_001 {
                continue;
            }
            let named =
                (factor == 1 && (power - first) % stride == 0) || (few && (factor == 2 || factor == 5));
            let text = if named { number(value, value, value) } else { String::new() };
            ticks.push(Tick { value, text });
        }
    }
    ticks
}

/// A value as text, with as many digits as `step` calls for; `largest` is the largest value beside it.
fn number(value: f64, step: f64, largest: f64) -> String {
    // Rounding may leave a zero that is not quite one.
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    let digits_of = |size: f64| (size.abs() * 1.000_001).log10().floor();
    if (1e-3..1e5).contains(&largest) {
        let digits = (-digits_of(step)).clamp(0.0, 9.0) as usize;
        return format!("{value:.digits$}");
    }
    if value == 0.0 {
        return "0".to_string();
    }
    let digits = (digits_of(value) - digits_of(step)).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(span: Span) -> Vec<String> {
        span.ticks(6).into_iter().map(|tick| tick.text).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let linear = |first, last| texts(Span { scale: Scale::Linear, first, last });
        assert_eq!(linear(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(linear(10.0, -20.0), ["-20", "-15", "-10", "-5", "0", "5", "10"]);
        assert_eq!(linear(0.0, 6e7), ["0", "1e7", "2e7", "3e7", "4e7", "5e7", "6e7"]);
        let log = |first, last| texts(Span { scale: Scale::Log, first, last });
        assert_eq!(log(0.5, 200.0), ["0.5", "1", "2", "5", "10", "20", "50", "100", "200"]);
        assert_eq!(log(1e-9, 1e3), ["1e-9", "1e-6", "0.001", "1", "1000"]);
    }

    #[test]
    fn any_data_gives_a_usable_range() {
        let nan = f64::NAN;
        for values in
            [vec![], vec![nan], vec![3.0], vec![0.0, 0.0], vec![-5.0, f64::INFINITY], vec![1e300, 1e-300]]
        {
            for axis in [
                Axis::new(""),
                Axis::log(""),
                Axis::log("").from_to(-1.0, 5.0),
                Axis::new("").from_to(2.0, 2.0),
            ] {
                let span = Span::new(&axis, values.iter().copied());
                assert!(
                    span.first < span.last && span.first.is_finite() && span.last.is_finite(),
                    "{values:?} {span:?}"
                );
                assert!(span.ticks(6).len() < 6000);
            }
        }
    }
}
