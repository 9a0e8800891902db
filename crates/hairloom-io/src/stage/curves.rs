//! Curves.

use glam::{DMat3, DMat4, Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};

use super::{Budget, Stage, value};
use crate::cache::{CacheError, layout};
use crate::counts::strand_offsets;
use crate::spline::{Basis, Cubic, Unlaid, closed_ends};
use crate::usd::{ComposedAttribute, ComposedPrim, Value};

/// The memory of a strand besides its points [bytes].
const STRAND_BYTES: usize = 32;

/// Normals at the vertices, among the attributes of curves.
pub(crate) const NORMALS: &str = "normals";

/// What is known of a prim while its values are read.
struct Reading<'a> {
    stage: &'a Stage,
    prim: ComposedPrim<'a>,
    /// [time codes]
    time: f64,
    budget: &'a Budget,
    /// The groom so far.
    groom: Groom,
    scene_from_prim: DMat4,
    /// Whether the curves are cubic.
    cubic: bool,
    /// How many ends the segments of cubic curves have, or else vertices.
    ends: usize,
    /// Attributes with a value for each end of a segment of cubic curves.
    varying: Vec<Attribute>,
}

/// The curves of one prim at a time [time codes], cubic ones by their control points.
pub(super) fn read(
    stage: &Stage,
    prim: ComposedPrim<'_>,
    time: f64,
    budget: &Budget,
) -> Result<Unlaid, CacheError> {
    let wrong = |problem: String| stage.problem(prim.path().as_str(), &problem);
    let points = stage.points(prim, time, budget)?;
    let offsets = offsets(prim, time, points.len())?.map_err(wrong)?;
    stage.pay(budget, prim, offsets.len() * STRAND_BYTES)?;
    let mut groom = Groom { curves: Curves { offsets, points }, ..Groom::default() };
    let (cubic, closed) = kind(stage, prim)?;
    groom.roots = vec![Root::Rigid; groom.strands()];
    let matrix = stage.scene_from_prim(prim, time)?;
    let ends = match &cubic {
        cubic if closed => closed_ends(cubic.as_ref(), &groom.curves).map_err(wrong)?,
        Some(cubic) => cubic.varying(&groom.curves).map_err(wrong)?,
        None => groom.vertices(),
    };
    let is_cubic = cubic.is_some();
    let (scene_from_prim, varying) = (matrix, Vec::new());
    let mut reading =
        Reading { stage, prim, time, budget, groom, scene_from_prim, cubic: is_cubic, ends, varying };
    reading.take_widths(matrix.determinant().abs().cbrt() as f32)?;
    for attribute in prim.attributes()? {
        reading.take_primvar(&attribute)?;
    }
    let Reading { groom, varying, .. } = reading;
    let open = |part: Unlaid| match closed {
        true => part.opened(|bytes| budget.pay(bytes)).map_err(wrong),
        false => Ok(part),
    };
    if cubic.is_none() {
        return open(Unlaid { cubic, first: None, groom, varying });
    }
    // The number of vertices is that of the first frame.
    let moves = match prim.attribute("points") {
        Some(points) if points.times()?.len() > 1 => true,
        _ => stage.scene_from_prim(prim, f64::NEG_INFINITY)? != matrix,
    };
    let first = match moves {
        true => Some(stage.points(prim, f64::NEG_INFINITY, budget)?),
        false => None,
    };
    open(Unlaid { cubic, first, groom, varying })
}

fn text(prim: ComposedPrim<'_>, name: &str, otherwise: &str) -> Result<String, CacheError> {
    let value = match prim.attribute(name) {
        Some(attribute) => attribute.default()?,
        None => None,
    };
    Ok(value.as_ref().and_then(Value::as_str).unwrap_or(otherwise).to_owned())
}

/// Whether an attribute of this name gives curves widths or attributes.
pub(super) fn may_change(name: &str) -> bool {
    name == "widths" || name == NORMALS || name.starts_with("primvars:")
}

/// Whether a prim's curves are cubic.
pub(super) fn is_cubic(prim: ComposedPrim<'_>) -> Result<bool, CacheError> {
    Ok(text(prim, "type", "cubic")? == "cubic")
}

/// What kind of cubic curves a prim has, if they are cubic, and whether they are closed.
fn kind(stage: &Stage, prim: ComposedPrim<'_>) -> Result<(Option<Cubic>, bool), CacheError> {
    let wrap = text(prim, "wrap", "nonperiodic")?;
    let closed = wrap == "periodic";
    if !is_cubic(prim)? {
        return Ok((None, closed));
    }
    let basis = match text(prim, "basis", "bezier")?.as_str() {
        "bezier" => Basis::Bezier,
        "bspline" => Basis::Bspline,
        "catmullRom" => Basis::CatmullRom,
        other => {
            let known = "bezier, bspline or catmullRom";
            let problem = format!("its basis is \"{other}\"; expected {known}");
            return Err(stage.problem(prim.path().as_str(), &problem));
        }
    };
    Ok((Some(Cubic { basis, pinned: wrap == "pinned" }), closed))
}

/// Where each strand begins, if the counts describe the points.
fn offsets(prim: ComposedPrim<'_>, time: f64, points: usize) -> Result<Result<Vec<u32>, String>, CacheError> {
    let counts = match prim.attribute("curveVertexCounts") {
        Some(attribute) => value::at(&attribute, time)?,
        None => None,
    };
    let Some(Value::IntArray(counts)) = counts else { return Ok(Err("it has no curveVertexCounts".into())) };
    Ok(strand_offsets(&counts, points, "curveVertexCounts"))
}

impl Reading<'_> {
    fn pay(&self, bytes: usize) -> Result<(), CacheError> {
        self.stage.pay(self.budget, self.prim, bytes)
    }

    /// Takes diameters up, where the file has some that fit: one for each vertex, or each end of a segment of cubic curves.
    fn take_widths(&mut self, scale: f32) -> Result<(), CacheError> {
        let named = |name| self.prim.attribute(name);
        let Some(attribute) = named("primvars:widths").or_else(|| named("widths")) else { return Ok(()) };
        let given = value::at(&attribute, self.time)?.and_then(value::for_groom);
        let given = match (given, self.indices(&attribute)?) {
            (Some(given), Some(indices)) => {
                self.pay(indices.len() * element_bytes(&given))?;
                spread(given, &indices)
            }
            (given, _) => given,
        };
        let mut widths = match given {
            Some(Values::Float(widths)) => widths,
            Some(Values::Int(widths)) => widths.into_iter().map(|width| width as f32).collect(),
            _ => return Ok(()),
        };
        if scale != 1.0 {
            widths.iter_mut().for_each(|width| *width *= scale);
        }
        let curves = &self.groom.curves;
        let (strands, vertices) = (curves.strands(), curves.points.len());
        self.pay(vertices.max(widths.len()) * size_of::<f32>())?;
        let interpolation = attribute.metadata("interpolation")?;
        let varying = interpolation.as_ref().and_then(Value::as_str) == Some("varying");
        let at_ends = self.cubic && widths.len() == self.ends && self.ends != strands;
        if at_ends && (varying || widths.len() != vertices) {
            let (name, domain) = ("widths".to_owned(), Domain::Vertex);
            self.varying.push(Attribute { name, domain, values: Values::Float(widths) });
            return Ok(());
        }
        self.groom.widths = match widths.len() {
            count if count == vertices => widths,
            1 => vec![widths[0]; vertices],
            count if count == strands => {
                let spread = (0..strands).zip(&widths);
                let each =
                    |(strand, &width): (usize, &f32)| std::iter::repeat_n(width, curves.vertices_of(strand));
                spread.flat_map(each).collect()
            }
            _ => return Ok(()),
        };
        Ok(())
    }

    /// Turns normals into the scene.
    fn turn(&self, normals: &mut [Vec3]) {
        if self.scene_from_prim == DMat4::IDENTITY {
            return;
        }
        // Upright on surfaces that are stretched, too.
        let turn = DMat3::from_mat4(self.scene_from_prim).inverse().transpose();
        let turned = |normal: &Vec3| (turn * normal.as_dvec3()).normalize_or_zero().as_vec3();
        normals.iter_mut().for_each(|normal| *normal = turned(normal));
    }

    /// The indices of a primvar at the time, if it has some.
    fn indices(&self, primvar: &ComposedAttribute<'_>) -> Result<Option<Vec<i32>>, CacheError> {
        let Some(indices) = self.prim.attribute(&format!("{}:indices", primvar.name())) else {
            return Ok(None);
        };
        Ok(match value::at(&indices, self.time)? {
            Some(Value::IntArray(indices)) => Some(indices),
            _ => None,
        })
    }

    /// Takes up a primvar that has a value for each strand, each vertex or each end of a segment of cubic curves.
    fn take_primvar(&mut self, primvar: &ComposedAttribute<'_>) -> Result<(), CacheError> {
        // The schema has normals of its own, which a primvar of that name replaces.
        let own_normals =
            primvar.name() == NORMALS && self.prim.attribute(&format!("primvars:{NORMALS}")).is_none();
        let own = own_normals.then_some(NORMALS);
        let Some(name) = primvar.name().strip_prefix("primvars:").or(own) else { return Ok(()) };
        if name == "widths" || name.ends_with(":indices") {
            return Ok(());
        }
        let Some(values) = value::at(primvar, self.time)?.and_then(value::for_groom) else { return Ok(()) };
        let indices = self.indices(primvar)?;
        let interpolation = primvar.metadata("interpolation")?.or(own.map(|_| Value::token("vertex")));
        let (strands, vertices) = (self.groom.strands(), self.groom.vertices());
        let (domain, count) = match interpolation.as_ref().and_then(Value::as_str) {
            Some("uniform") => (Domain::Strand, strands),
            // Curves have no corners of faces.
            Some("varying" | "faceVarying") => (Domain::Vertex, self.ends),
            Some("vertex") => (Domain::Vertex, vertices),
            _ if indices.is_none() && values.len() == 1 => (Domain::Strand, strands),
            _ => return Ok(()),
        };
        self.pay(count * element_bytes(&values))?;
        let one_for_all = interpolation.is_none() || interpolation == Some(Value::token("constant"));
        let indices = if one_for_all { Some(vec![0; count]) } else { indices };
        let values = match indices {
            Some(indices) => spread(values, &indices),
            None => Some(values),
        };
        let Some(mut values) = values.filter(|values| values.len() == count) else { return Ok(()) };
        if let (NORMALS | layout::ROOT_NORMAL, Values::Vec3(normals)) = (name, &mut values) {
            self.turn(normals);
        }
        let at_ends = [Some(Value::token("varying")), Some(Value::token("faceVarying"))];
        if self.cubic && at_ends.contains(&interpolation) {
            self.varying.push(Attribute { name: name.to_owned(), domain, values });
        } else {
            take_up(&mut self.groom, name, domain, values);
        }
        Ok(())
    }
}

/// The memory of a value [bytes].
pub(crate) fn element_bytes(values: &Values) -> usize {
    match values {
        Values::Float(_) => size_of::<f32>(),
        Values::Int(_) => size_of::<i32>(),
        Values::Vec2(_) => size_of::<Vec2>(),
        Values::Vec3(_) => size_of::<Vec3>(),
    }
}

/// The values at some indices, if all are there.
pub(crate) fn spread(values: Values, indices: &[i32]) -> Option<Values> {
    fn pick<T: Copy>(values: &[T], indices: &[i32]) -> Option<Vec<T>> {
        indices.iter().map(|&index| values.get(usize::try_from(index).ok()?).copied()).collect()
    }
    Some(match values {
        Values::Float(values) => Values::Float(pick(&values, indices)?),
        Values::Int(values) => Values::Int(pick(&values, indices)?),
        Values::Vec2(values) => Values::Vec2(pick(&values, indices)?),
        Values::Vec3(values) => Values::Vec3(pick(&values, indices)?),
    })
}

fn take_up(groom: &mut Groom, name: &str, domain: Domain, values: Values) {
    match (name, domain, values) {
        (layout::IDS, Domain::Strand, Values::Int(ids)) => {
            groom.ids = ids.iter().map(|&id| id as u32).collect()
        }
        (layout::ROOT_UV, Domain::Strand, Values::Vec2(root_uv)) => groom.root_uv = root_uv,
        (layout::GUIDES, Domain::Strand, Values::Int(guides)) => {
            groom.guides = guides.iter().map(|&guide| guide != 0).collect();
        }
        (_, domain, values) => groom.attributes.push(Attribute { name: name.to_owned(), domain, values }),
    }
}
