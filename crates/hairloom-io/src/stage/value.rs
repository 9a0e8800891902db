//! Values between samples.

use glam::{Vec2, Vec3};
use hairloom::groom::Values;

use crate::usd::{ComposedAttribute, Half, Quat, UsdError, Value};

/// The value at a time [time codes]: linear between samples where the kind allows it; nothing where none is given.
pub(super) fn at(attribute: &ComposedAttribute<'_>, time: f64) -> Result<Option<Value>, UsdError> {
    let times = attribute.times()?;
    let after = times.partition_point(|&sample| sample <= time);
    let value = match (times.get(after.wrapping_sub(1)), times.get(after)) {
        (None, None) => attribute.default()?,
        (None, Some(_)) => Some(attribute.sample(0)?),
        (Some(&before), Some(&next)) if before < time => {
            let share = (time - before) / (next - before);
            Some(between(attribute.sample(after - 1)?, attribute.sample(after)?, share))
        }
        (Some(_), _) => Some(attribute.sample(after - 1)?),
    };
    Ok(value.filter(|value| *value != Value::Block))
}

/// A value as a groom can hold it, in the nearest kind: 32-bit numbers, whole numbers, pairs or triples; one alone is an array
/// of one. Nothing for texts, fours and matrices.
pub(super) fn for_groom(value: Value) -> Option<Values> {
    fn pairs(values: impl IntoIterator<Item = [f32; 2]>) -> Values {
        Values::Vec2(values.into_iter().map(Vec2::from_array).collect())
    }
    fn triples(values: impl IntoIterator<Item = [f32; 3]>) -> Values {
        Values::Vec3(values.into_iter().map(Vec3::from_array).collect())
    }
    // Whole numbers, unless some are too large.
    fn whole(values: impl Iterator<Item = i128> + Clone) -> Values {
        match values.clone().map(i32::try_from).collect() {
            Ok(values) => Values::Int(values),
            Err(_) => Values::Float(values.map(|value| value as f32).collect()),
        }
    }
    Some(match single(value) {
        Value::FloatArray(values) => Values::Float(values),
        Value::Float(value) => Values::Float(vec![value]),
        Value::DoubleArray(values) | Value::TimeCodeArray(values) => {
            Values::Float(values.into_iter().map(|value| value as f32).collect())
        }
        Value::Double(value) | Value::TimeCode(value) => Values::Float(vec![value as f32]),
        Value::IntArray(values) => Values::Int(values),
        Value::Int(value) => Values::Int(vec![value]),
        // Identifiers keep their bits.
        Value::UIntArray(values) => Values::Int(values.into_iter().map(|value| value as i32).collect()),
        Value::UInt(value) => Values::Int(vec![value as i32]),
        Value::Int64Array(values) => whole(values.iter().map(|&value| value.into())),
        Value::Int64(value) => whole(std::iter::once(value.into())),
        Value::UInt64Array(values) => whole(values.iter().map(|&value| value.into())),
        Value::UInt64(value) => whole(std::iter::once(value.into())),
        Value::UCharArray(values) => Values::Int(values.into_iter().map(i32::from).collect()),
        Value::UChar(value) => Values::Int(vec![i32::from(value)]),
        Value::BoolArray(values) => Values::Int(values.into_iter().map(i32::from).collect()),
        Value::Bool(value) => Values::Int(vec![i32::from(value)]),
        Value::Vec2fArray(values) => pairs(values),
        Value::Vec2f(value) => pairs([value]),
        Value::Vec2dArray(values) => pairs(values.into_iter().map(|value| value.map(|part| part as f32))),
        Value::Vec2d(value) => pairs([value.map(|part| part as f32)]),
        Value::Vec2iArray(values) => pairs(values.into_iter().map(|value| value.map(|part| part as f32))),
        Value::Vec2i(value) => pairs([value.map(|part| part as f32)]),
        Value::Vec3fArray(values) => triples(values),
        Value::Vec3f(value) => triples([value]),
        Value::Vec3dArray(values) => triples(values.into_iter().map(|value| value.map(|part| part as f32))),
        Value::Vec3d(value) => triples([value.map(|part| part as f32)]),
        Value::Vec3iArray(values) => triples(values.into_iter().map(|value| value.map(|part| part as f32))),
        Value::Vec3i(value) => triples([value.map(|part| part as f32)]),
        _ => return None,
    })
}

fn mix(a: f64, b: f64, share: f64) -> f64 {
    a + (b - a) * share
}

fn mix32(a: f32, b: f32, share: f64) -> f32 {
    mix(f64::from(a), f64::from(b), share) as f32
}

/// A quaternion between two, at an even pace along the shorter way round.
fn slerp(a: [f64; 4], b: [f64; 4], share: f64) -> [f64; 4] {
    let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    let (cosine, sign) = (dot.abs(), dot.signum());
    if cosine >= 1.0 - 1e-9 {
        return [0, 1, 2, 3].map(|i| mix(a[i], sign * b[i], share));
    }
    let angle = cosine.acos();
    let (of_a, of_b) = (((1.0 - share) * angle).sin() / angle.sin(), (share * angle).sin() / angle.sin());
    [0, 1, 2, 3].map(|i| of_a * a[i] + of_b * sign * b[i])
}

/// The same number in 32 bits, for there are no steps between 16-bit ones that are worth keeping.
fn widened<const N: usize>(parts: [Half; N]) -> [f32; N] {
    parts.map(Half::to_f32)
}

/// A value of 16-bit numbers in 32 bits; others as they are.
fn single(value: Value) -> Value {
    match value {
        Value::Half(value) => Value::Float(value.to_f32()),
        Value::Vec2h(value) => Value::Vec2f(widened(value)),
        Value::Vec3h(value) => Value::Vec3f(widened(value)),
        Value::Quath(value) => Value::Quatf(Quat(widened(value.0))),
        Value::HalfArray(values) => Value::FloatArray(values.into_iter().map(Half::to_f32).collect()),
        Value::Vec2hArray(values) => Value::Vec2fArray(values.into_iter().map(widened).collect()),
        Value::Vec3hArray(values) => Value::Vec3fArray(values.into_iter().map(widened).collect()),
        other => other,
    }
}

fn between(first: Value, second: Value, share: f64) -> Value {
    match (single(first), single(second)) {
        (Value::Float(a), Value::Float(b)) => Value::Float(mix32(a, b, share)),
        (Value::Double(a), Value::Double(b)) => Value::Double(mix(a, b, share)),
        (Value::Vec2f(a), Value::Vec2f(b)) => Value::Vec2f([0, 1].map(|i| mix32(a[i], b[i], share))),
        (Value::Vec3f(a), Value::Vec3f(b)) => Value::Vec3f([0, 1, 2].map(|i| mix32(a[i], b[i], share))),
        (Value::Vec3d(a), Value::Vec3d(b)) => Value::Vec3d([0, 1, 2].map(|i| mix(a[i], b[i], share))),
        (Value::Quatf(a), Value::Quatf(b)) => {
            let between = slerp(a.0.map(f64::from), b.0.map(f64::from), share);
            Value::Quatf(Quat(between.map(|part| part as f32)))
        }
        (Value::Quatd(a), Value::Quatd(b)) => Value::Quatd(Quat(slerp(a.0, b.0, share))),
        (Value::Matrix4d(mut a), Value::Matrix4d(b)) => {
            mix_all(a.as_flattened_mut(), b.as_flattened(), |a, b| mix(a, b, share));
            Value::Matrix4d(a)
        }
        (Value::Vec3fArray(mut a), Value::Vec3fArray(b)) if a.len() == b.len() => {
            mix_all(a.as_flattened_mut(), b.as_flattened(), |a, b| mix32(a, b, share));
            Value::Vec3fArray(a)
        }
        (Value::Vec3dArray(mut a), Value::Vec3dArray(b)) if a.len() == b.len() => {
            mix_all(a.as_flattened_mut(), b.as_flattened(), |a, b| mix(a, b, share));
            Value::Vec3dArray(a)
        }
        (Value::Vec2fArray(mut a), Value::Vec2fArray(b)) if a.len() == b.len() => {
            mix_all(a.as_flattened_mut(), b.as_flattened(), |a, b| mix32(a, b, share));
            Value::Vec2fArray(a)
        }
        (Value::FloatArray(mut a), Value::FloatArray(b)) if a.len() == b.len() => {
            mix_all(&mut a, &b, |a, b| mix32(a, b, share));
            Value::FloatArray(a)
        }
        (Value::DoubleArray(mut a), Value::DoubleArray(b)) if a.len() == b.len() => {
            mix_all(&mut a, &b, |a, b| mix(a, b, share));
            Value::DoubleArray(a)
        }
        (held, _) => held,
    }
}

fn mix_all<T: Copy>(first: &mut [T], second: &[T], mix: impl Fn(T, T) -> T) {
    first.iter_mut().zip(second).for_each(|(a, &b)| *a = mix(*a, b));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quaternions_turn_at_an_even_pace() {
        // 160° about y, a quarter and three quarters of the way.
        let turned = |degrees: f64| {
            let (sine, cosine) = (0.5 * degrees.to_radians()).sin_cos();
            [0.0, sine, 0.0, cosine]
        };
        for (share, degrees) in [(0.0, 0.0), (0.25, 40.0), (0.75, 120.0), (1.0, 160.0)] {
            for sign in [1.0, -1.0] {
                let end = turned(160.0).map(|part| sign * part);
                let found = slerp(turned(0.0), end, share);
                let wanted = turned(degrees);
                assert!((0..4).all(|i| (found[i] - wanted[i]).abs() < 1e-12), "{share}: {found:?}");
            }
        }
        assert_eq!(slerp(turned(9.0), turned(9.0), 0.3), turned(9.0));
    }

    #[test]
    fn sixteen_bit_values_are_mixed() {
        let half = Half::from_f32;
        let found = between(Value::Half(half(1.0)), Value::Half(half(2.0)), 0.25);
        assert_eq!(found, Value::Float(1.25));
        let (a, b) = (Value::Vec3h([0.0; 3].map(half)), Value::Vec3h([4.0, 8.0, -4.0].map(half)));
        assert_eq!(between(a, b, 0.5), Value::Vec3f([2.0, 4.0, -2.0]));
        let array = |value: f32| Value::HalfArray(vec![half(value); 2]);
        assert_eq!(between(array(0.0), array(1.0), 0.5), Value::FloatArray(vec![0.5; 2]));
    }
}
