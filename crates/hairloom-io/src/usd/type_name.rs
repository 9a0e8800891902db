//! The names that attribute types have in layers, and the metadata fields whose type the text does not tell.

use super::value::Kind;

/// The kind behind a type name such as `point3f[]`, and whether it is an array.
pub(super) fn parse(type_name: &str) -> Option<(Kind, bool)> {
    let (base, array) = match type_name.strip_suffix("[]") {
        Some(base) => (base, true),
        None => (type_name, false),
    };
    let kind = match base {
        "bool" => Kind::Bool,
        "uchar" => Kind::UChar,
        "int" => Kind::Int,
        "uint" => Kind::UInt,
        "int64" => Kind::Int64,
        "uint64" => Kind::UInt64,
        "half" => Kind::Half,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "timecode" => Kind::TimeCode,
        "string" => Kind::String,
        "token" => Kind::Token,
        "asset" => Kind::Asset,
        "matrix2d" => Kind::Matrix2d,
        "matrix3d" => Kind::Matrix3d,
        "matrix4d" | "frame4d" => Kind::Matrix4d,
        "quatd" => Kind::Quatd,
        "quatf" => Kind::Quatf,
        "quath" => Kind::Quath,
        "int2" => Kind::Vec2i,
        "int3" => Kind::Vec3i,
        "int4" => Kind::Vec4i,
        "half2" | "texCoord2h" => Kind::Vec2h,
        "float2" | "texCoord2f" => Kind::Vec2f,
        "double2" | "texCoord2d" => Kind::Vec2d,
        "half3" | "point3h" | "vector3h" | "normal3h" | "color3h" | "texCoord3h" => Kind::Vec3h,
        "float3" | "point3f" | "vector3f" | "normal3f" | "color3f" | "texCoord3f" => Kind::Vec3f,
        "double3" | "point3d" | "vector3d" | "normal3d" | "color3d" | "texCoord3d" => Kind::Vec3d,
        "half4" | "color4h" => Kind::Vec4h,
        "float4" | "color4f" => Kind::Vec4f,
        "double4" | "color4d" => Kind::Vec4d,
        _ => return None,
    };
    Some((kind, array))
}

/// The plain type name of a kind of values, or of arrays of them, as the entries of dictionaries have it.
pub(super) fn of_kind((kind, array): (Kind, bool)) -> String {
    let base = match kind {
        Kind::Bool => "bool",
        Kind::UChar => "uchar",
        Kind::Int => "int",
        Kind::UInt => "uint",
        Kind::Int64 => "int64",
        Kind::UInt64 => "uint64",
        Kind::Half => "half",
        Kind::Float => "float",
        Kind::Double => "double",
        Kind::TimeCode => "timecode",
        Kind::String => "string",
        Kind::Token => "token",
        Kind::Asset => "asset",
        Kind::Matrix2d => "matrix2d",
        Kind::Matrix3d => "matrix3d",
        Kind::Matrix4d => "matrix4d",
        Kind::Quatd => "quatd",
        Kind::Quatf => "quatf",
        Kind::Quath => "quath",
        Kind::Vec2i => "int2",
        Kind::Vec3i => "int3",
        Kind::Vec4i => "int4",
        Kind::Vec2h => "half2",
        Kind::Vec2f => "float2",
        Kind::Vec2d => "double2",
        Kind::Vec3h => "half3",
        Kind::Vec3f => "float3",
        Kind::Vec3d => "double3",
        Kind::Vec4h => "half4",
        Kind::Vec4f => "float4",
        Kind::Vec4d => "double4",
    };
    if array { format!("{base}[]") } else { base.to_owned() }
}

/// Metadata that the text calls by another name than the data model.
const TEXT_NAMES: [(&str, &str); 4] = [
    ("doc", "documentation"),
    ("inherits", "inheritPaths"),
    ("variantSets", "variantSetNames"),
    ("variants", "variantSelection"),
];

/// The name of metadata in the data model, from that in the text.
pub(super) fn of_text(name: &str) -> &str {
    TEXT_NAMES.iter().find(|(text, _)| *text == name).map_or(name, |(_, field)| field)
}

/// The name of metadata in the text.
pub(super) fn in_text(name: &str) -> &str {
    TEXT_NAMES.iter().find(|(_, field)| *field == name).map_or(name, |(text, _)| text)
}

/// The kind of a metadata field that the schemas of USD fix, so that text and binary files read alike.
pub(super) fn of_metadata(name: &str) -> Option<(Kind, bool)> {
    Some(match name {
        "upAxis" | "defaultPrim" | "interpolation" | "kind" | "typeName" | "colorSpace" | "sdrMetadata" => {
            (Kind::Token, false)
        }
        "metersPerUnit" | "kilogramsPerUnit" | "timeCodesPerSecond" | "framesPerSecond" | "startTimeCode"
        | "endTimeCode" => (Kind::Double, false),
        "elementSize" | "unauthoredValuesIndex" | "framePrecision" => (Kind::Int, false),
        "active" | "hidden" | "instanceable" | "custom" => (Kind::Bool, false),
        "comment" | "documentation" | "displayName" | "displayGroup" => (Kind::String, false),
        "allowedTokens" => (Kind::Token, true),
        _ => return None,
    })
}
