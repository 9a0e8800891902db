//! Curves.

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};

use super::{Budget, Stage, value};
use crate::cache::{CacheError, layout};
use crate::counts::strand_offsets;
use crate::spline::{self, Basis, Cubic};
use crate::usd::{ComposedAttribute, ComposedPrim, Value};

/// The memory of a strand besides its points [bytes].
const STRAND_BYTES: usize = 32;

/// What is known of a prim while its values are read.
struct Reading<'a> {
    stage: &'a Stage,
    prim: ComposedPrim<'a>,
    /// [time codes]
    time: f64,
    budget: &'a Budget,
    /// The groom so far.
    groom: Groom,
    /// Whether the curves are cubic.
    cubic: bool,
    /// How many ends the segments of cubic curves have, or else vertices.
    ends: usize,
    /// Attributes with a value for each end of a segment of cubic curves.
    varying: Vec<Attribute>,
}

/// The curves of one prim at a time [time codes].
pub(super) fn read(
    stage: &Stage,
    prim: ComposedPrim<'_>,
    time: f64,
    budget: &Budget,
) -> Result<Groom, CacheError> {
    let wrong = |problem: String| stage.problem(prim.path().as_str(), &problem);
    let points = stage.points(prim, time, budget)?;
    let offsets = offsets(prim, time, points.len())?.map_err(wrong)?;
    stage.pay(budget, prim, offsets.len() * STRAND_BYTES)?;
    let mut groom = Groom { curves: Curves { offsets, points }, ..Groom::default() };
    let cubic = cubic(stage, prim)?;
    groom.roots = vec![Root::Rigid; groom.strands()];
    let matrix = stage.scene_from_prim(prim, time)?;
    let ends = match &cubic {
        Some(cubic) => cubic.varying(&groom.curves).map_err(wrong)?,
        None => groom.vertices(),
    };
    let is_cubic = cubic.is_some();
    let mut reading =
        Reading { stage, prim, time, budget, groom, cubic: is_cubic, ends, varying: Vec::new() };
    reading.take_widths(matrix.determinant().abs().cbrt() as f32)?;
    for attribute in prim.attributes()? {
        reading.take_primvar(&attribute)?;
    }
    let Reading { groom, varying, .. } = reading;
    let Some(cubic) = cubic else { return Ok(groom) };
    // The number of vertices is that of the first frame.
    let moves = match prim.attribute("points") {
        Some(points) if points.times()?.len() > 1 => true,
        _ => stage.scene_from_prim(prim, f64::NEG_INFINITY)? != matrix,
    };
    let first = match moves {
        true => Some(stage.points(prim, f64::NEG_INFINITY, budget)?),
        false => None,
    };
    spline::lay_along(&cubic, first.as_deref(), groom, varying, |bytes| budget.pay(bytes)).map_err(wrong)
}

fn text(prim: ComposedPrim<'_>, name: &str, otherwise: &str) -> Result<String, CacheError> {
    let value = match prim.attribute(name) {
        Some(attribute) => attribute.default()?,
        None => None,
    };
    Ok(value.as_ref().and_then(Value::as_str).unwrap_or(otherwise).to_owned())
}

/// Whether a prim's curves are cubic.
pub(super) fn is_cubic(prim: ComposedPrim<'_>) -> Result<bool, CacheError> {
    Ok(text(prim, "type", "cubic")? == "cubic")
}

/// What kind of cubic curves a prim has, if they are cubic; curves without ends are refused.
fn cubic(stage: &Stage, prim: ComposedPrim<'_>) -> Result<Option<Cubic>, CacheError> {
    let wrong = |problem: &str| stage.problem(prim.path().as_str(), problem);
    let wrap = text(prim, "wrap", "nonperiodic")?;
    if wrap == "periodic" {
        return Err(wrong("its curves are closed (wrap = \"periodic\"); expected strands with two ends"));
    }
    if !is_cubic(prim)? {
        return Ok(None);
    }
    let basis = match text(prim, "basis", "bezier")?.as_str() {
        "bezier" => Basis::Bezier,
        "bspline" => Basis::Bspline,
        "catmullRom" => Basis::CatmullRom,
        other => {
            let known = "bezier, bspline or catmullRom";
            return Err(wrong(&format!("its basis is \"{other}\"; expected {known}")));
        }
    };
    Ok(Some(Cubic { basis, pinned: wrap == "pinned" }))
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
        let Some(Value::FloatArray(mut widths)) = value::at(&attribute, self.time)? else { return Ok(()) };
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

    /// Takes up a primvar that has a value for each strand, each vertex or each end of a segment of cubic curves.
    fn take_primvar(&mut self, primvar: &ComposedAttribute<'_>) -> Result<(), CacheError> {
        let Some(name) = primvar.name().strip_prefix("primvars:") else { return Ok(()) };
        if name == "widths" || name.ends_with(":indices") {
            return Ok(());
        }
        let values = match value::at(primvar, self.time)? {
            Some(Value::FloatArray(values)) => Values::Float(values),
            Some(Value::IntArray(values)) => Values::Int(values),
            Some(Value::Vec2fArray(values)) => {
                Values::Vec2(values.into_iter().map(Vec2::from_array).collect())
            }
            Some(Value::Vec3fArray(values)) => {
                Values::Vec3(values.into_iter().map(Vec3::from_array).collect())
            }
            _ => return Ok(()),
        };
        let indices = match self.prim.attribute(&format!("{}:indices", primvar.name())) {
            Some(attribute) => match value::at(&attribute, self.time)? {
                Some(Value::IntArray(indices)) => Some(indices),
                _ => None,
            },
            None => None,
        };
        let interpolation = primvar.metadata("interpolation")?;
        let (strands, vertices) = (self.groom.strands(), self.groom.vertices());
        let (domain, count) = match interpolation.as_ref().and_then(Value::as_str) {
            Some("uniform") => (Domain::Strand, strands),
            Some("varying") => (Domain::Vertex, self.ends),
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
        let Some(values) = values.filter(|values| values.len() == count) else { return Ok(()) };
        if self.cubic && interpolation == Some(Value::token("varying")) {
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
