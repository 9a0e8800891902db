//! The transform of a prim from its `xformOp` attributes.

use glam::{DMat4, DQuat, DVec3};

use super::value;
use crate::usd::{ComposedPrim, Half, UsdError, Value};

/// Why a transform cannot be made.
pub(super) enum Problem {
    Usd(UsdError),
    Operation(String),
}

impl From<UsdError> for Problem {
    fn from(error: UsdError) -> Self {
        Self::Usd(error)
    }
}

/// The transform of one prim.
pub(super) struct Local {
    /// From the prim to its parent.
    pub(super) matrix: DMat4,
    /// Whether the transforms of the prims above do not count.
    pub(super) resets: bool,
}

/// The transform of a prim at a time [time codes].
pub(super) fn local(prim: ComposedPrim<'_>, time: f64) -> Result<Local, Problem> {
    let mut local = Local { matrix: DMat4::IDENTITY, resets: false };
    let order = match prim.attribute("xformOpOrder") {
        Some(order) => order.default()?,
        None => None,
    };
    let Some(Value::TokenArray(order)) = order else { return Ok(local) };
    for entry in &order {
        if &**entry == "!resetXformStack!" {
            local = Local { matrix: DMat4::IDENTITY, resets: true };
            continue;
        }
        let (name, inverted) = match entry.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (&**entry, false),
        };
        let attribute = prim
            .attribute(name)
            .ok_or_else(|| Problem::Operation(format!("xformOpOrder names {name}, which is not there")))?;
        // An operation without a value does nothing.
        let Some(value) = value::at(&attribute, time)? else { continue };
        let matrix = operation(name, &value)
            .ok_or_else(|| Problem::Operation(format!("{name} holds what no such operation takes")))?;
        local.matrix *= if inverted { matrix.inverse() } else { matrix };
    }
    Ok(local)
}

fn operation(name: &str, value: &Value) -> Option<DMat4> {
    let kind = name.strip_prefix("xformOp:")?.split(':').next()?;
    Some(match kind {
        "translate" => DMat4::from_translation(triple(value)?),
        "translateX" => DMat4::from_translation(DVec3::X * value.as_f64()?),
        "translateY" => DMat4::from_translation(DVec3::Y * value.as_f64()?),
        "translateZ" => DMat4::from_translation(DVec3::Z * value.as_f64()?),
        "scale" => DMat4::from_scale(triple(value)?),
        "scaleX" => DMat4::from_scale(DVec3::ONE.with_x(value.as_f64()?)),
        "scaleY" => DMat4::from_scale(DVec3::ONE.with_y(value.as_f64()?)),
        "scaleZ" => DMat4::from_scale(DVec3::ONE.with_z(value.as_f64()?)),
        "orient" => DMat4::from_quat(quaternion(value)?),
        "transform" => match value {
            // Rows of row vectors are columns of column vectors.
            Value::Matrix4d(rows) => DMat4::from_cols_array_2d(rows),
            _ => return None,
        },
        _ => {
            let axes = kind.strip_prefix("rotate")?;
            let angles = match value.as_f64() {
                Some(angle) => DVec3::splat(angle),
                None => triple(value)?,
            };
            rotation(axes, angles)?
        }
    })
}

/// Rotations by degrees about the named axes, the first first.
fn rotation(axes: &str, angles: DVec3) -> Option<DMat4> {
    let mut matrix = DMat4::IDENTITY;
    if !matches!(axes.len(), 1 | 3) {
        return None;
    }
    for axis in axes.chars() {
        let turn = match axis {
            'X' => DMat4::from_rotation_x(angles.x.to_radians()),
            'Y' => DMat4::from_rotation_y(angles.y.to_radians()),
            'Z' => DMat4::from_rotation_z(angles.z.to_radians()),
            _ => return None,
        };
        matrix = turn * matrix;
    }
    Some(matrix)
}

fn triple(value: &Value) -> Option<DVec3> {
    Some(match value {
        Value::Vec3d(parts) => DVec3::from_array(*parts),
        Value::Vec3f(parts) => DVec3::from_array(parts.map(f64::from)),
        Value::Vec3h(parts) => DVec3::from_array(parts.map(|part: Half| f64::from(part.to_f32()))),
        _ => return None,
    })
}

fn quaternion(value: &Value) -> Option<DQuat> {
    let parts = match value {
        Value::Quatd(quat) => quat.0,
        Value::Quatf(quat) => quat.0.map(f64::from),
        Value::Quath(quat) => quat.0.map(|part: Half| f64::from(part.to_f32())),
        _ => return None,
    };
    let quaternion = DQuat::from_array(parts);
    // A quaternion without length turns nothing.
    Some(if quaternion.length_squared() > 0.0 { quaternion.normalize() } else { DQuat::IDENTITY })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_along_one_axis_leave_the_others() {
        let point = DVec3::new(1.0, 2.0, 3.0);
        for (name, wanted) in [
            ("translateX", DVec3::new(5.0, 2.0, 3.0)),
            ("translateY", DVec3::new(1.0, 6.0, 3.0)),
            ("translateZ:more", DVec3::new(1.0, 2.0, 7.0)),
            ("scaleX", DVec3::new(4.0, 2.0, 3.0)),
            ("scaleY", DVec3::new(1.0, 8.0, 3.0)),
            ("scaleZ", DVec3::new(1.0, 2.0, 12.0)),
        ] {
            for value in [Value::Double(4.0), Value::Float(4.0), Value::Half(Half::from_f32(4.0))] {
                let matrix = operation(&format!("xformOp:{name}"), &value).unwrap();
                assert_eq!(matrix.transform_point3(point), wanted, "{name}");
            }
        }
        assert!(operation("xformOp:translateX", &Value::Vec3d([1.0; 3])).is_none());
    }
}
