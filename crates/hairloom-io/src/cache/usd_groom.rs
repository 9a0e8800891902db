//! Grooms at rest in a USD layer.

use std::path::Path;

use hairloom::groom::Groom;

use super::usd_writer::{constant, declare_curves, declare_guides, extent, picked};
use super::{CacheError, layout};
use crate::file::{FileProblem, check_offsets};
use crate::grooms::decimal;
use crate::space::{Axis, Space};
use crate::usd::{Format, UsdError, Value, Writer};

/// Writes a groom that does not move, in a unit and axes that the layer states.
pub(crate) fn write_usd_groom(path: &Path, groom: &Groom, space: &Space) -> Result<(), CacheError> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("usdz")) {
        let problem = ".usdz packages are read but not written: write a .usdc file, and let usdzip pack it";
        return Err(FileProblem::Groom(problem.into()).at(path).into());
    }
    check_offsets(groom).map_err(|problem| problem.at(path))?;
    let mut writer = Writer::create(path)?;
    declare_stage(&mut writer, space, "A groom, written by Hairloom")?;
    let hair = declare_curves(&mut writer, layout::HAIR, groom, true)?;
    let points = &groom.curves.points;
    constant(&mut writer, hair, "points", "point3f[]", &points[..])?;
    let radius = 0.5 * groom.widths.iter().copied().fold(0.0, f32::max);
    constant(&mut writer, hair, "extent", "float3[]", &extent(points, radius))?;
    if let Some((guides, vertices)) = declare_guides(&mut writer, groom, true)? {
        let points = picked(points, &vertices);
        constant(&mut writer, guides, "points", "point3f[]", &points[..])?;
        constant(&mut writer, guides, "extent", "float3[]", &extent(&points, radius))?;
    }
    // What can be made again need not be on the disk before the next thing is done.
    match writer.format() {
        Format::Binary => writer.flush()?,
        Format::Text => writer.finish()?,
    }
    Ok(())
}

/// States the unit, the axes and what this is, and makes the prim above all.
pub(super) fn declare_stage(writer: &mut Writer, space: &Space, documentation: &str) -> Result<(), UsdError> {
    writer.set_metadata("defaultPrim", &Value::token("World"))?;
    writer.set_metadata("metersPerUnit", &Value::Double(decimal(space.unit)))?;
    writer.set_metadata("upAxis", &Value::token(if space.up == Axis::Z { "Z" } else { "Y" }))?;
    writer.set_metadata("documentation", &Value::string(documentation))?;
    let world = writer.define("/World", "Xform")?;
    writer.set_prim_metadata(world, "kind", &Value::token("component"))
}
