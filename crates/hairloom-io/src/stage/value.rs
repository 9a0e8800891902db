//! Values between samples.

use crate::usd::{ComposedAttribute, Quat, UsdError, Value};

/// The value at a time [time codes]: linear between samples where the kind allows it; nothing where none is given.
pub(super) fn at(attribute: &ComposedAttribute<'_>, time: f64) -> Result<Option<Value>, UsdError> {
    let times = attribute.times()?;
    let after = times.partition_point(|&sample| sample <= time);
    let value = match (times.get(after.wrapping_sub(1)), times.get(after)) {
        (None, None) => attribute.default()?,
        (None, Some(_)) => Some(attribute.sample(0)?),
        (Some(&before), Some(&next)) if before < time => {
            let share = (time - before) / (next - before);
            Some(between(attribute.sample(after - 1)?, &attribute.sample(after)?, share))
        }
        (Some(_), _) => Some(attribute.sample(after - 1)?),
    };
    Ok(value.filter(|value| *value != Value::Block))
}

fn mix(a: f64, b: f64, share: f64) -> f64 {
    a + (b - a) * share
}

fn mix32(a: f32, b: f32, share: f64) -> f32 {
    mix(f64::from(a), f64::from(b), share) as f32
}

fn between(first: Value, second: &Value, share: f64) -> Value {
    match (first, second) {
        (Value::Float(a), Value::Float(b)) => Value::Float(mix32(a, *b, share)),
        (Value::Double(a), Value::Double(b)) => Value::Double(mix(a, *b, share)),
        (Value::Vec3f(a), Value::Vec3f(b)) => Value::Vec3f([0, 1, 2].map(|i| mix32(a[i], b[i], share))),
        (Value::Vec3d(a), Value::Vec3d(b)) => Value::Vec3d([0, 1, 2].map(|i| mix(a[i], b[i], share))),
        (Value::Quatf(a), Value::Quatf(b)) => Value::Quatf(Quat([0, 1, 2, 3].map(|i| {
            // The shorter way round; whoever uses it makes it of unit length.
            let dot: f32 = a.0.iter().zip(&b.0).map(|(a, b)| a * b).sum();
            mix32(a.0[i], if dot < 0.0 { -b.0[i] } else { b.0[i] }, share)
        }))),
        (Value::Quatd(a), Value::Quatd(b)) => Value::Quatd(Quat([0, 1, 2, 3].map(|i| {
            let dot: f64 = a.0.iter().zip(&b.0).map(|(a, b)| a * b).sum();
            mix(a.0[i], if dot < 0.0 { -b.0[i] } else { b.0[i] }, share)
        }))),
        (Value::Matrix4d(mut a), Value::Matrix4d(b)) => {
            let parts = a.as_flattened_mut().iter_mut().zip(b.as_flattened());
            parts.for_each(|(a, b)| *a = mix(*a, *b, share));
            Value::Matrix4d(a)
        }
        (Value::Vec3fArray(mut a), Value::Vec3fArray(b)) if a.len() == b.len() => {
            let parts = a.as_flattened_mut().iter_mut().zip(b.as_flattened());
            parts.for_each(|(a, b)| *a = mix32(*a, *b, share));
            Value::Vec3fArray(a)
        }
        (Value::Vec2fArray(mut a), Value::Vec2fArray(b)) if a.len() == b.len() => {
            let parts = a.as_flattened_mut().iter_mut().zip(b.as_flattened());
            parts.for_each(|(a, b)| *a = mix32(*a, *b, share));
            Value::Vec2fArray(a)
        }
        (Value::FloatArray(mut a), Value::FloatArray(b)) if a.len() == b.len() => {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = mix32(*a, *b, share));
            Value::FloatArray(a)
        }
        (held, _) => held,
    }
}
