//! Layers that several tests write.

use std::path::Path;

use hairloom_io::usd::{AttributeId, Half, ListOp, Quat, UsdError, Value, Writer};

/// The attributes of [`declare_hair`] that have samples.
pub(crate) struct Hair {
    pub(crate) points: AttributeId,
    pub(crate) velocities: AttributeId,
    pub(crate) transform: AttributeId,
}

/// Declares curves that move, a mesh that is moved, and the metadata that validators want.
pub(crate) fn declare_hair(writer: &mut Writer, strands: usize, vertices: usize) -> Result<Hair, UsdError> {
    writer.set_metadata("upAxis", &Value::token("Y"))?;
    writer.set_metadata("metersPerUnit", &Value::Double(1.0))?;
    writer.set_metadata("defaultPrim", &Value::token("World"))?;
    writer.set_metadata("timeCodesPerSecond", &Value::Double(24.0))?;
    writer.set_metadata("startTimeCode", &Value::Double(1.0))?;
    writer.set_metadata("endTimeCode", &Value::Double(5.0))?;
    let world = writer.define("/World", "Xform")?;
    writer.set_prim_metadata(world, "kind", &Value::token("group"))?;
    let hair = writer.define("/World/Hair", "BasisCurves")?;
    writer.declare_uniform(hair, "type", "token", &Value::token("linear"))?;
    let counts = writer.declare(hair, "curveVertexCounts", "int[]")?;
    writer.set_default(counts, &Value::IntArray(vec![vertices as i32; strands]))?;
    let widths = writer.declare(hair, "widths", "float[]")?;
    writer.set_default(widths, &Value::FloatArray(vec![1e-4; strands * vertices]))?;
    writer.set_attribute_metadata(widths, "interpolation", &Value::token("vertex"))?;
    let ids = writer.declare(hair, "primvars:id", "int[]")?;
    writer.set_default(ids, &Value::IntArray((0..strands as i32).collect()))?;
    writer.set_attribute_metadata(ids, "interpolation", &Value::token("uniform"))?;
    writer.set_attribute_metadata(ids, "elementSize", &Value::Int(1))?;
    let points = writer.declare(hair, "points", "point3f[]")?;
    let velocities = writer.declare(hair, "velocities", "vector3f[]")?;
    let body = writer.define("/World/Body", "Mesh")?;
    let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mesh_points = writer.declare(body, "points", "point3f[]")?;
    writer.set_default(mesh_points, &Value::Vec3fArray(corners))?;
    let face_counts = writer.declare(body, "faceVertexCounts", "int[]")?;
    writer.set_default(face_counts, &Value::IntArray(vec![3]))?;
    let indices = writer.declare(body, "faceVertexIndices", "int[]")?;
    writer.set_default(indices, &Value::IntArray(vec![0, 1, 2]))?;
    let transform = writer.declare(body, "xformOp:transform", "matrix4d")?;
    writer.declare_uniform(body, "xformOpOrder", "token[]", &Value::tokens(["xformOp:transform"]))?;
    writer.relate(hair, "proxyPrim", &["/World/Body".into()])?;
    Ok(Hair { points, velocities, transform })
}

/// Positions of a frame: numbers with long and short decimal forms.
pub(crate) fn positions(frame: usize, count: usize) -> Vec<[f32; 3]> {
    let wave = |index: usize| ((index as f32 * 0.37 + frame as f32 * 0.61).sin() * 0.1, index as f32 * 1e-7);
    (0..count).map(|index| [wave(index).0, -(index as f32), wave(index).1]).collect()
}

/// Writes one frame of [`Hair`].
pub(crate) fn write_frame(
    writer: &mut Writer,
    hair: &Hair,
    frame: usize,
    count: usize,
) -> Result<(), UsdError> {
    let time = 1.0 + frame as f64 * 0.5;
    writer.write_sample(hair.points, time, &Value::Vec3fArray(positions(frame, count)))?;
    writer.write_sample(hair.velocities, time, &Value::Vec3fArray(positions(frame + 100, count)))?;
    let mut matrix = [[0.0; 4]; 4];
    (0..4).for_each(|row| matrix[row][row] = 1.0);
    matrix[3][1] = frame as f64 * 0.1;
    writer.write_sample(hair.transform, time, &Value::Matrix4d(matrix))
}

/// A short groom over `frames` frames.
pub(crate) fn write_hair(path: &Path, frames: usize) -> Result<(), UsdError> {
    let mut writer = Writer::create(path)?;
    let hair = declare_hair(&mut writer, 20, 8)?;
    for frame in 0..frames {
        write_frame(&mut writer, &hair, frame, 160)?;
    }
    writer.finish()
}

/// A value of every kind that attributes have: type name and value.
pub(crate) fn every_kind() -> Vec<(&'static str, Value)> {
    let half = Half::from_f32;
    let texts = || vec!["a".into(), "b \"q\" \\ ä\n2".into(), "".into()];
    let matrix =
        [[1.0, 2.0, 3.0, 4.0], [5.0, 6.5, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [0.1, 1e-300, 1e300, -16.0]];
    let matrix3 = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.25, 1.0]];
    vec![
        ("bool", Value::Bool(true)),
        ("bool[]", Value::BoolArray(vec![true, false, true])),
        ("uchar", Value::UChar(200)),
        ("uchar[]", Value::UCharArray((0..40).collect())),
        ("int", Value::Int(-7)),
        ("int[]", Value::IntArray((0..100).map(|i| i * i * 977 - 5000).collect())),
        ("uint", Value::UInt(u32::MAX)),
        ("uint[]", Value::UIntArray(vec![0, 1, u32::MAX])),
        ("int64", Value::Int64(i64::MIN)),
        ("int64[]", Value::Int64Array((0..50).map(|i| i << 40).collect())),
        ("uint64", Value::UInt64(u64::MAX)),
        ("uint64[]", Value::UInt64Array((0..20).map(|i| u64::MAX - i).collect())),
        ("half", Value::Half(half(0.1))),
        ("half[]", Value::HalfArray((0..30).map(|i| half(i as f32 * 0.3)).collect())),
        ("float", Value::Float(0.1)),
        ("float[]", Value::FloatArray(vec![0.1, -0.0, 1e-45, f32::MAX, 16_777_217.0, 1.0 / 3.0])),
        ("double", Value::Double(0.1)),
        ("double[]", Value::DoubleArray(vec![0.1, 1e300, -2.5])),
        ("timecode", Value::TimeCode(12.5)),
        ("timecode[]", Value::TimeCodeArray(vec![1.0, 2.25])),
        ("string", Value::string("say \"hi\"\nthere \\ ü")),
        ("string[]", Value::StringArray(texts())),
        ("token", Value::token("linear")),
        ("token[]", Value::tokens(["x", "y", "x"])),
        ("asset", Value::Asset("textures/hair.png".into())),
        ("asset[]", Value::AssetArray(vec!["a.png".into(), "b.png".into()])),
        ("matrix2d", Value::Matrix2d([[1.0, 2.0], [3.0, 4.5]])),
        ("matrix2d[]", Value::Matrix2dArray(vec![[[1.0, 2.0], [3.0, 4.5]]; 2])),
        ("matrix3d", Value::Matrix3d(matrix3)),
        ("matrix3d[]", Value::Matrix3dArray(vec![matrix3; 3])),
        ("matrix4d", Value::Matrix4d(matrix)),
        ("matrix4d[]", Value::Matrix4dArray(vec![matrix; 2])),
        ("quatd", Value::Quatd(Quat([0.1, 0.2, 0.3, 0.9]))),
        ("quatd[]", Value::QuatdArray(vec![Quat([0.1, 0.2, 0.3, 0.9])])),
        ("quatf", Value::Quatf(Quat([0.1, 0.2, 0.3, 0.9]))),
        ("quatf[]", Value::QuatfArray(vec![Quat([0.1, 0.2, 0.3, 0.9]); 4])),
        ("quath", Value::Quath(Quat([0.1, 0.2, 0.3, 0.9].map(half)))),
        ("quath[]", Value::QuathArray(vec![Quat([0.5, 0.25, 0.0, 1.0].map(half)); 4])),
        ("int2", Value::Vec2i([1, -2])),
        ("int3[]", Value::Vec3iArray(vec![[1, 2, 3], [4, 5, i32::MIN]])),
        ("int4", Value::Vec4i([1, 2, 3, 4])),
        ("half2", Value::Vec2h([0.5, 3.0].map(half))),
        ("half3", Value::Vec3h([0.5, 3.0, -1.0].map(half))),
        ("half4[]", Value::Vec4hArray(vec![[0.5, 3.0, -1.0, 7.0].map(half)])),
        ("float2", Value::Vec2f([0.5, 3.3])),
        ("texCoord2f[]", Value::Vec2fArray(vec![[0.5, 3.3]; 5])),
        ("point3f", Value::Vec3f([1.5, 2.0, 3.0])),
        ("normal3f[]", Value::Vec3fArray(positions(3, 300))),
        ("color4f", Value::Vec4f([0.1, 0.2, 0.3, 1.0])),
        ("double2[]", Value::Vec2dArray(vec![[0.1, 0.2]; 2])),
        ("vector3d", Value::Vec3d([0.1, 0.2, 0.3])),
        ("color4d[]", Value::Vec4dArray(vec![[0.1, 0.2, 0.3, 0.4]])),
        ("float3[]", Value::Vec3fArray(vec![])),
    ]
}

/// A layer with a value of every kind, a dictionary and list edits.
pub(crate) fn write_kinds(path: &Path) -> Result<(), UsdError> {
    let mut writer = Writer::create(path)?;
    writer.set_metadata("upAxis", &Value::token("Y"))?;
    writer.set_metadata("metersPerUnit", &Value::Double(0.01))?;
    writer.set_metadata("defaultPrim", &Value::token("A"))?;
    let inner = Value::Dictionary(vec![("deep".into(), Value::DoubleArray(vec![1.5, 2.0]))]);
    let entries =
        vec![("count".into(), Value::Int(3)), ("name".into(), Value::string("x")), ("inner".into(), inner)];
    writer.set_metadata("customLayerData", &Value::Dictionary(entries))?;
    let prim = writer.define("/A/B", "Scope")?;
    writer.set_prim_metadata(
        prim,
        "apiSchemas",
        &Value::TokenListOp(ListOp::prepended(vec!["GeomModelAPI".into()])),
    )?;
    writer.set_prim_metadata(prim, "documentation", &Value::string("what\nit is"))?;
    for (index, (type_name, value)) in every_kind().into_iter().enumerate() {
        let attribute = writer.declare(prim, &format!("user:a{index}"), type_name)?;
        writer.set_custom(attribute);
        writer.set_default(attribute, &value)?;
        writer.write_sample(attribute, -1.5, &value)?;
        writer.write_sample(attribute, 2.0, &Value::Block)?;
        writer.write_sample(attribute, 1e6, &value)?;
    }
    writer.relate(prim, "user:targets", &["/A".into(), "/A/B.user:a0".into()])?;
    writer.finish()
}
