//! Meshes.

use super::{Budget, Stage, StageMesh, value};
use crate::cache::CacheError;
use crate::counts::Polygons;
use crate::usd::{ComposedPrim, Value};

/// A mesh at a time [time codes], in triangles that wind counter-clockwise.
pub(super) fn read(
    stage: &Stage,
    prim: ComposedPrim<'_>,
    time: f64,
    budget: &Budget,
) -> Result<StageMesh, CacheError> {
    let path = prim.path();
    let wrong = |problem: String| stage.problem(path.as_str(), &problem);
    let points = stage.points(prim, time, budget)?;
    let integers = |name: &str| -> Result<Vec<i32>, CacheError> {
        let value = match prim.attribute(name) {
            Some(attribute) => value::at(&attribute, time)?,
            None => None,
        };
        match value {
            Some(Value::IntArray(values)) => Ok(values),
            _ => Err(wrong(format!("it has no {name}"))),
        }
    };
    let (counts, indices) = (integers("faceVertexCounts")?, integers("faceVertexIndices")?);
    // Three of the corners are a triangle, or less.
    stage.pay(budget, prim, indices.len() * size_of::<[u32; 3]>())?;
    let mirrored = stage.scene_from_prim(prim, time)?.determinant() < 0.0;
    let left_handed = token(prim, "orientation")?.as_deref() == Some("leftHanded");
    let polygons = Polygons {
        counts: (&counts, "faceVertexCounts"),
        corners: (&indices, "faceVertexIndices"),
        clockwise: mirrored != left_handed,
    };
    let mesh = polygons.mesh(points).map_err(wrong)?;
    let name = match prim.metadata("displayName")? {
        Some(Value::String(name)) if !name.is_empty() => name.to_string(),
        _ => prim.name().to_owned(),
    };
    let colors = colors(prim)?;
    stage.pay(budget, prim, colors.len() * size_of::<[f32; 3]>())?;
    let color = colors.first().copied().filter(|_| colors.len() == 1);
    let point_colors =
        if colors.len() == mesh.points.len() && colors.len() > 1 { colors } else { Vec::new() };
    Ok(StageMesh { name, mesh, color, point_colors })
}

fn token(prim: ComposedPrim<'_>, name: &str) -> Result<Option<String>, CacheError> {
    let Some(attribute) = prim.attribute(name) else { return Ok(None) };
    Ok(attribute.default()?.and_then(|value| value.as_str().map(str::to_owned)))
}

fn colors(prim: ComposedPrim<'_>) -> Result<Vec<[f32; 3]>, CacheError> {
    let Some(attribute) = prim.attribute("primvars:displayColor") else { return Ok(Vec::new()) };
    Ok(attribute.default()?.and_then(|value| value.to_vec3f_array()).unwrap_or_default())
}
