//! Caches in one USD file.

use std::path::Path;

use glam::Vec3;
use hairloom::groom::{Attribute, Curves, Domain, Groom, Values};
use hairloom::math::Pose;
use hairloom::simulate::{BodyView, Simulation};

use super::root_normals::with_root_normals;
use super::{CacheError, layout};
use crate::bounds::bounds;
use crate::run;
use crate::usd::{AttributeId, Format, Given, Keep, PrimId, UsdError, Value, Writer};

/// The attributes of a body that change.
#[derive(Debug, Clone, Copy)]
pub(super) enum BodySamples {
    Rigid { transform: AttributeId },
    Deforming { points: AttributeId, extent: AttributeId },
}

/// The guides among the hair.
#[derive(Debug)]
pub(super) struct GuideSamples {
    pub(super) points: AttributeId,
    pub(super) extent: AttributeId,
    /// Their vertices in the hair.
    pub(super) vertices: Vec<u32>,
}

/// The attributes that get samples.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) points: AttributeId,
    pub(super) extent: AttributeId,
    pub(super) velocities: Option<AttributeId>,
    pub(super) guides: Option<GuideSamples>,
    pub(super) bodies: Vec<BodySamples>,
}

/// Writes a USD cache.
#[derive(Debug)]
pub(super) struct UsdCache {
    writer: Writer,
    samples: Samples,
    /// The largest radius of the hair, for its extent [m].
    radius: f32,
}

impl UsdCache {
    pub(super) fn create(path: &Path, simulation: &Simulation) -> Result<Self, CacheError> {
        let mut writer = Writer::create(path)?;
        let samples = declare(&mut writer, simulation)?;
        Ok(Self { writer, samples, radius: largest_radius(simulation) })
    }

    pub(super) fn resume(path: &Path, simulation: &Simulation, last: u32) -> Result<Self, CacheError> {
        let writer = Writer::resume(path, Keep::Until(f64::from(last)))?;
        let wrong = |problem: String| CacheError::Resume { path: path.to_owned(), problem };
        let samples = find(&writer, simulation)
            .ok_or_else(|| wrong("its hair or its bodies are not those of the scene".into()))?;
        let frames = writer.times(samples.points);
        if frames.len() != last as usize + 1 {
            return Err(wrong(format!("it does not hold all frames from 0 to {last}")));
        }
        Ok(Self { writer, samples, radius: largest_radius(simulation) })
    }

    pub(super) fn write_frame(&mut self, simulation: &Simulation) -> Result<(), CacheError> {
        let time = f64::from(simulation.frame());
        self.writer.set_metadata("endTimeCode", &Value::Double(time))?;
        self.write(simulation, Some(time))
    }

    /// Writes what does not move: values that hold at any time.
    pub(super) fn write_still(&mut self, simulation: &Simulation) -> Result<(), CacheError> {
        self.write(simulation, None)
    }

    fn write(&mut self, simulation: &Simulation, time: Option<f64>) -> Result<(), CacheError> {
        let (frame, strands) = (simulation.frame(), simulation.strands());
        let Self { writer, samples, radius, .. } = self;
        put(writer, samples.points, time, &strands.points[..])?;
        put(writer, samples.extent, time, &extent(&strands.points, *radius))?;
        if let Some(velocities) = samples.velocities {
            put(writer, velocities, time, &strands.velocities[..])?;
        }
        if let Some(guides) = &samples.guides {
            let points = picked(&strands.points, &guides.vertices);
            put(writer, guides.points, time, &points[..])?;
            put(writer, guides.extent, time, &extent(&points, *radius))?;
        }
        for (body, samples) in samples.bodies.iter().enumerate() {
            match *samples {
                BodySamples::Rigid { transform } => {
                    let matrix = matrix(&simulation.body_pose(body, frame));
                    put(writer, transform, time, &matrix)?;
                }
                BodySamples::Deforming { points, extent: bounds } => {
                    let moved = simulation.body_points(body, frame);
                    put(writer, points, time, &moved[..])?;
                    put(writer, bounds, time, &extent(&moved, 0.0))?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn flushes_cheaply(&self) -> bool {
        self.writer.format() == Format::Binary
    }

    pub(super) fn flush(&mut self) -> Result<(), CacheError> {
        Ok(self.writer.flush()?)
    }

    pub(super) fn finish(self) -> Result<(), CacheError> {
        Ok(self.writer.finish()?)
    }
}

/// Sets the value of an attribute at a time, or at any time.
pub(super) fn put<'a>(
    writer: &mut Writer,
    attribute: AttributeId,
    time: Option<f64>,
    value: impl Into<Given<'a>>,
) -> Result<(), UsdError> {
    match time {
        Some(time) => writer.write_sample(attribute, time, value),
        None => writer.set_default(attribute, value),
    }
}

fn largest_radius(simulation: &Simulation) -> f32 {
    0.5 * simulation.groom().widths.iter().copied().fold(0.0, f32::max)
}

/// The box around points, with room for their thickness.
pub(super) fn extent(points: &[Vec3], radius: f32) -> Value {
    let (low, high) = bounds(points);
    Value::Vec3fArray(vec![(low - radius).to_array(), (high + radius).to_array()])
}

/// The matrix of a pose; USD's points are rows.
fn matrix(pose: &Pose) -> Value {
    let matrix = glam::DMat4::from_rotation_translation(pose.rotation, pose.translation);
    Value::Matrix4d(matrix.to_cols_array_2d())
}

/// The names of the bodies' prims, in the scene's order.
pub(super) fn body_paths(views: &[BodyView]) -> Vec<String> {
    let mut used = Vec::new();
    views
        .iter()
        .map(|view| format!("{}/{}", layout::BODIES, layout::prim_name(&view.name, &mut used)))
        .collect()
}

/// The bodies that are written.
fn shown_bodies(simulation: &Simulation) -> Vec<BodyView> {
    if simulation.scene().output.bodies { simulation.body_views() } else { Vec::new() }
}

/// Finds the attributes in a file that was written for the same scene.
fn find(writer: &Writer, simulation: &Simulation) -> Option<Samples> {
    let hair = |name: &str| writer.attribute(format!("{}.{name}", layout::HAIR));
    let views = shown_bodies(simulation);
    let body = |(view, path): (&BodyView, &String)| {
        let of = |name: &str| writer.attribute(format!("{path}.{name}"));
        Some(if view.deforms {
            BodySamples::Deforming { points: of("points")?, extent: of("extent")? }
        } else {
            BodySamples::Rigid { transform: of("xformOp:transform")? }
        })
    };
    let velocities = match simulation.scene().output.velocities {
        true => Some(hair("velocities")?),
        false => None,
    };
    // Velocities that the rest of the frames would lack cannot stay.
    if velocities.is_none() && hair("velocities").is_some() {
        return None;
    }
    let bodies = views.iter().zip(&body_paths(&views)).map(body).collect::<Option<_>>()?;
    let vertices = guide_vertices(simulation.groom());
    let guide = |name: &str| writer.attribute(format!("{}.{name}", layout::GUIDE_CURVES));
    let guides = match vertices.is_empty() {
        true => None,
        false => Some(GuideSamples { points: guide("points")?, extent: guide("extent")?, vertices }),
    };
    Some(Samples { points: hair("points")?, extent: hair("extent")?, velocities, guides, bodies })
}

fn declare(writer: &mut Writer, simulation: &Simulation) -> Result<Samples, UsdError> {
    let scene = simulation.scene();
    writer.set_metadata("defaultPrim", &Value::token("World"))?;
    writer.set_metadata("metersPerUnit", &Value::Double(1.0))?;
    writer.set_metadata("upAxis", &Value::token("Y"))?;
    writer.set_metadata("timeCodesPerSecond", &Value::Double(scene.time.fps))?;
    writer.set_metadata("framesPerSecond", &Value::Double(scene.time.fps))?;
    writer.set_metadata("startTimeCode", &Value::Double(0.0))?;
    writer.set_metadata("endTimeCode", &Value::Double(0.0))?;
    writer.set_metadata("documentation", &Value::string(&format!("Hairloom: {}", scene.name)))?;
    let run = format!("{:016x}", run::fingerprint(simulation));
    let data = Value::Dictionary(vec![(layout::FINGERPRINT.into(), Value::string(&run))]);
    writer.set_metadata("customLayerData", &data)?;
    let world = writer.define("/World", "Xform")?;
    writer.set_prim_metadata(world, "kind", &Value::token("component"))?;
    let output = &scene.output;
    let groom = with_root_normals(simulation);
    let mut samples = declare_samples(writer, &groom, output.widths, output.velocities)?;
    let colored = groom.attributes.iter().any(|attribute| attribute.name == layout::COLOR);
    if let Some(hair) = writer.prim(layout::HAIR).filter(|_| !colored) {
        let color = [Vec3::from_array(layout::HAIR_COLOR)];
        primvar(writer, hair, layout::COLOR, "color3f[]", "constant", &color[..])?;
    }
    let views = shown_bodies(simulation);
    if !views.is_empty() {
        writer.define(layout::BODIES, "Scope")?;
    }
    for (view, path) in views.iter().zip(body_paths(&views)) {
        samples.bodies.push(declare_body(writer, view, &path)?);
    }
    Ok(samples)
}

/// Declares the hair and its guides with everything but what moves.
pub(super) fn declare_samples(
    writer: &mut Writer,
    groom: &Groom,
    with_widths: bool,
    with_velocities: bool,
) -> Result<Samples, UsdError> {
    let hair = declare_curves(writer, layout::HAIR, groom, with_widths)?;
    let guides = match declare_guides(writer, groom, with_widths)? {
        Some((prim, vertices)) => Some(GuideSamples {
            points: writer.declare(prim, "points", "point3f[]")?,
            extent: writer.declare(prim, "extent", "float3[]")?,
            vertices,
        }),
        None => None,
    };
    Ok(Samples {
        guides,
        points: writer.declare(hair, "points", "point3f[]")?,
        extent: writer.declare(hair, "extent", "float3[]")?,
        velocities: match with_velocities {
            true => Some(writer.declare(hair, "velocities", "vector3f[]")?),
            false => None,
        },
        bodies: Vec::new(),
    })
}

/// Declares the guides among the hair with everything but what moves, if there are any; answers their vertices, too.
pub(super) fn declare_guides(
    writer: &mut Writer,
    groom: &Groom,
    with_widths: bool,
) -> Result<Option<(PrimId, Vec<u32>)>, UsdError> {
    let vertices = guide_vertices(groom);
    if vertices.is_empty() {
        return Ok(None);
    }
    let mut guides = Groom { curves: Curves { offsets: vec![0], points: Vec::new() }, ..Groom::default() };
    for (strand, _) in groom.guides.iter().enumerate().filter(|(_, guide)| **guide) {
        let end =
            guides.curves.offsets.last().copied().unwrap_or(0) + groom.curves.vertices_of(strand) as u32;
        guides.curves.offsets.push(end);
        guides.ids.push(groom.ids.get(strand).copied().unwrap_or(strand as u32));
    }
    if groom.widths.len() == groom.vertices() {
        guides.widths = vertices.iter().map(|&vertex| groom.widths[vertex as usize]).collect();
    }
    let prim = declare_curves(writer, layout::GUIDE_CURVES, &guides, with_widths)?;
    writer.declare_uniform(prim, "purpose", "token", &Value::token("guide"))?;
    let copy = Value::Dictionary(vec![(layout::COPY.into(), Value::Bool(true))]);
    writer.set_prim_metadata(prim, "customData", &copy)?;
    Ok(Some((prim, vertices)))
}

/// The vertices of the guides.
fn guide_vertices(groom: &Groom) -> Vec<u32> {
    let guides =
        groom.guides.iter().enumerate().filter(|(strand, guide)| **guide && *strand < groom.strands());
    guides.flat_map(|(strand, _)| groom.curves.range(strand)).map(|vertex| vertex as u32).collect()
}

pub(super) fn picked(points: &[Vec3], vertices: &[u32]) -> Vec<Vec3> {
    vertices.iter().filter_map(|&vertex| points.get(vertex as usize)).copied().collect()
}

/// Declares strands with everything but what moves.
pub(super) fn declare_curves(
    writer: &mut Writer,
    path: &str,
    groom: &Groom,
    with_widths: bool,
) -> Result<PrimId, UsdError> {
    let hair = writer.define(path, "BasisCurves")?;
    writer.declare_uniform(hair, "type", "token", &Value::token("linear"))?;
    writer.declare_uniform(hair, "wrap", "token", &Value::token("nonperiodic"))?;
    let counts = (0..groom.strands()).map(|strand| groom.curves.vertices_of(strand) as i32).collect();
    constant(writer, hair, "curveVertexCounts", "int[]", &Value::IntArray(counts))?;
    if with_widths && !groom.widths.is_empty() {
        let widths = constant(writer, hair, "widths", "float[]", &groom.widths[..])?;
        writer.set_attribute_metadata(widths, "interpolation", &Value::token("vertex"))?;
    }
    if !groom.ids.is_empty() {
        let ids = Value::IntArray(groom.ids.iter().map(|&id| id as i32).collect());
        primvar(writer, hair, layout::IDS, "int[]", "uniform", &ids)?;
    }
    if !groom.root_uv.is_empty() {
        let root_uv = Value::Vec2fArray(groom.root_uv.iter().map(|uv| uv.to_array()).collect());
        primvar(writer, hair, layout::ROOT_UV, "texCoord2f[]", "uniform", &root_uv)?;
    }
    if groom.guides.contains(&true) {
        let guides = Value::IntArray(groom.guides.iter().map(|&guide| i32::from(guide)).collect());
        primvar(writer, hair, layout::GUIDES, "int[]", "uniform", &guides)?;
    }
    let mut used: Vec<String> = [layout::IDS, layout::ROOT_UV, layout::GUIDES].map(str::to_owned).to_vec();
    used.push("widths".to_owned());
    for attribute in &groom.attributes {
        declare_attribute(writer, hair, attribute, &mut used)?;
    }
    Ok(hair)
}

fn declare_attribute(
    writer: &mut Writer,
    hair: PrimId,
    attribute: &Attribute,
    used: &mut Vec<String>,
) -> Result<(), UsdError> {
    let name = layout::prim_name(&attribute.name, used);
    let interpolation = match attribute.domain {
        Domain::Strand => "uniform",
        Domain::Vertex => "vertex",
    };
    let owned;
    let (type_name, value): (_, Given) = match &attribute.values {
        Values::Float(values) => ("float[]", values[..].into()),
        Values::Int(values) => {
            owned = Value::IntArray(values.clone());
            ("int[]", (&owned).into())
        }
        Values::Vec2(values) => {
            owned = Value::Vec2fArray(values.iter().map(|v| v.to_array()).collect());
            ("float2[]", (&owned).into())
        }
        Values::Vec3(values) if name == layout::COLOR => ("color3f[]", values[..].into()),
        Values::Vec3(values) if name == layout::ROOT_NORMAL => ("normal3f[]", values[..].into()),
        Values::Vec3(values) => ("float3[]", values[..].into()),
    };
    primvar(writer, hair, &name, type_name, interpolation, value)
}

pub(super) fn declare_body(
    writer: &mut Writer,
    view: &BodyView,
    path: &str,
) -> Result<BodySamples, UsdError> {
    let body = writer.define(path, "Mesh")?;
    if !path.ends_with(&format!("/{}", view.name)) {
        writer.set_prim_metadata(body, "displayName", &Value::string(&view.name))?;
    }
    writer.declare_uniform(body, "subdivisionScheme", "token", &Value::token("none"))?;
    let counts = Value::IntArray(vec![3; view.mesh.triangles.len()]);
    constant(writer, body, "faceVertexCounts", "int[]", &counts)?;
    let indices = view.mesh.triangles.as_flattened().iter().map(|&vertex| vertex as i32).collect();
    constant(writer, body, "faceVertexIndices", "int[]", &Value::IntArray(indices))?;
    let painted = !view.point_colors.is_empty() && view.point_colors.len() == view.mesh.points.len();
    let (colors, interpolation) = match view.color {
        None if painted => (&view.point_colors[..], "vertex"),
        color => (&[Vec3::from_array(color.unwrap_or(layout::BODY_COLOR))][..], "constant"),
    };
    primvar(writer, body, layout::COLOR, "color3f[]", interpolation, colors)?;
    let points = writer.declare(body, "points", "point3f[]")?;
    let bounds = writer.declare(body, "extent", "float3[]")?;
    if view.deforms {
        return Ok(BodySamples::Deforming { points, extent: bounds });
    }
    writer.set_default(points, &view.mesh.points[..])?;
    writer.set_default(bounds, &extent(&view.mesh.points, 0.0))?;
    let transform = writer.declare(body, "xformOp:transform", "matrix4d")?;
    writer.declare_uniform(body, "xformOpOrder", "token[]", &Value::tokens(["xformOp:transform"]))?;
    Ok(BodySamples::Rigid { transform })
}

pub(super) fn constant<'a>(
    writer: &mut Writer,
    prim: PrimId,
    name: &str,
    type_name: &str,
    value: impl Into<Given<'a>>,
) -> Result<AttributeId, UsdError> {
    let attribute = writer.declare(prim, name, type_name)?;
    writer.set_default(attribute, value)?;
    Ok(attribute)
}

fn primvar<'a>(
    writer: &mut Writer,
    prim: PrimId,
    name: &str,
    type_name: &str,
    interpolation: &str,
    value: impl Into<Given<'a>>,
) -> Result<(), UsdError> {
    let attribute = constant(writer, prim, &format!("primvars:{name}"), type_name, value)?;
    writer.set_attribute_metadata(attribute, "interpolation", &Value::token(interpolation))
}
