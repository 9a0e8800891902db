//! Curves.

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};

use super::{Stage, value};
use crate::cache::{CacheError, layout};
use crate::spline::{self, Basis, Cubic};
use crate::usd::{self, Prim, Value};

/// The curves of one prim at a time [time codes].
pub(super) fn read(stage: &Stage, prim: Prim<'_>, time: f64) -> Result<Groom, CacheError> {
    let path = prim.path();
    let wrong = |problem: String| stage.problem(path.as_str(), &problem);
    let points = stage.points(prim, time)?;
    let offsets = offsets(prim, time, points.len())?.map_err(wrong)?;
    let mut groom = Groom { curves: Curves { offsets, points }, ..Groom::default() };
    let text = |name: &str, otherwise: &str| -> Result<String, CacheError> {
        let value = match prim.attribute(name) {
            Some(attribute) => attribute.default()?,
            None => None,
        };
        Ok(value.as_ref().and_then(Value::as_str).unwrap_or(otherwise).to_owned())
    };
    let wrap = text("wrap", "nonperiodic")?;
    if wrap == "periodic" {
        return Err(wrong(
            "its curves are closed (wrap = \"periodic\"); expected strands with two ends".into(),
        ));
    }
    let cubic = match text("type", "cubic")?.as_str() {
        "cubic" => Some(Cubic {
            basis: match text("basis", "bezier")?.as_str() {
                "bezier" => Basis::Bezier,
                "bspline" => Basis::Bspline,
                "catmullRom" => Basis::CatmullRom,
                other => {
                    let known = "bezier, bspline or catmullRom";
                    return Err(wrong(format!("its basis is \"{other}\"; expected {known}")));
                }
            },
            pinned: wrap == "pinned",
        }),
        _ => None,
    };
    groom.roots = vec![Root::Rigid; groom.strands()];
    let scale = stage.scene_from_prim(path.as_str(), time)?.determinant().abs().cbrt() as f32;
    let ends = match &cubic {
        Some(cubic) => cubic.varying(&groom.curves).map_err(wrong)?,
        None => groom.vertices(),
    };
    let mut varying = Vec::new();
    groom.widths = match widths(prim, time, &groom.curves, ends, scale)? {
        Widths::Vertices(widths) => widths,
        Widths::Ends(widths) => {
            let (name, domain) = ("widths".to_owned(), Domain::Vertex);
            varying.push(Attribute { name, domain, values: Values::Float(widths) });
            Vec::new()
        }
    };
    for attribute in prim.attributes()? {
        read_primvar(prim, &attribute, ends, &mut groom, &mut varying)?;
    }
    let Some(cubic) = cubic else { return Ok(groom) };
    // The number of vertices is that of the first frame.
    let first = match prim.attribute("points") {
        Some(points) if points.times()?.len() > 1 => Some(stage.points(prim, f64::NEG_INFINITY)?),
        _ => None,
    };
    spline::lay_along(&cubic, first.as_deref(), groom, varying).map_err(wrong)
}

/// Where each strand begins, if the counts describe the points.
fn offsets(prim: Prim<'_>, time: f64, points: usize) -> Result<Result<Vec<u32>, String>, CacheError> {
    let counts = match prim.attribute("curveVertexCounts") {
        Some(attribute) => value::at(&attribute, time)?,
        None => None,
    };
    let Some(Value::IntArray(counts)) = counts else { return Ok(Err("it has no curveVertexCounts".into())) };
    let mut offsets = Vec::with_capacity(counts.len() + 1);
    let mut end = 0_u32;
    offsets.push(0);
    for (strand, &count) in counts.iter().enumerate() {
        let next = u32::try_from(count).ok().and_then(|count| end.checked_add(count));
        match next {
            Some(next) if next as usize <= points => end = next,
            _ => {
                return Ok(Err(format!(
                    "curveVertexCounts[{strand}] is {count}, and {} of the {points} points are left",
                    points.saturating_sub(end as usize)
                )));
            }
        }
        offsets.push(end);
    }
    if end as usize != points {
        return Ok(Err(format!("curveVertexCounts add up to {end}, and there are {points} points")));
    }
    Ok(Ok(offsets))
}

/// Diameters, and what they belong to.
enum Widths {
    /// Vertices or control points; perhaps none.
    Vertices(Vec<f32>),
    /// The ends of the segments of cubic curves.
    Ends(Vec<f32>),
}

/// Diameters at the vertices, or none where the file has none that fit. `ends` is how many varying values there would be.
fn widths(prim: Prim<'_>, time: f64, curves: &Curves, ends: usize, scale: f32) -> Result<Widths, CacheError> {
    let none = Ok(Widths::Vertices(Vec::new()));
    let Some(attribute) = prim.attribute("primvars:widths").or_else(|| prim.attribute("widths")) else {
        return none;
    };
    let Some(Value::FloatArray(mut widths)) = value::at(&attribute, time)? else { return none };
    widths.iter_mut().for_each(|width| *width *= scale);
    let (strands, vertices) = (curves.strands(), curves.points.len());
    let interpolation = attribute.metadata("interpolation")?;
    let varying = interpolation.as_ref().and_then(Value::as_str) == Some("varying");
    Ok(match widths.len() {
        count if count == ends && (varying || count != vertices) && ends != strands => Widths::Ends(widths),
        count if count == vertices => Widths::Vertices(widths),
        1 => Widths::Vertices(vec![widths[0]; vertices]),
        count if count == strands => {
            let spread = (0..strands).zip(&widths);
            let each =
                |(strand, &width): (usize, &f32)| std::iter::repeat_n(width, curves.vertices_of(strand));
            Widths::Vertices(spread.flat_map(each).collect())
        }
        _ => return none,
    })
}

/// Takes up a primvar that has a value for each strand or each vertex; `varying` gets those that have one for each end of
/// the segments of cubic curves, of which there are `ends`.
fn read_primvar(
    prim: Prim<'_>,
    primvar: &usd::Attribute<'_>,
    ends: usize,
    groom: &mut Groom,
    varying: &mut Vec<Attribute>,
) -> Result<(), CacheError> {
    let Some(name) = primvar.name().strip_prefix("primvars:") else { return Ok(()) };
    if name == "widths" || name.ends_with(":indices") || !primvar.times()?.is_empty() {
        return Ok(());
    }
    let values = match primvar.default()? {
        Some(Value::FloatArray(values)) => Values::Float(values),
        Some(Value::IntArray(values)) => Values::Int(values),
        Some(Value::Vec2fArray(values)) => Values::Vec2(values.into_iter().map(Vec2::from_array).collect()),
        Some(Value::Vec3fArray(values)) => Values::Vec3(values.into_iter().map(Vec3::from_array).collect()),
        _ => return Ok(()),
    };
    let indices = match prim.attribute(&format!("{}:indices", primvar.name())) {
        Some(attribute) => match attribute.default()? {
            Some(Value::IntArray(indices)) => Some(indices),
            _ => None,
        },
        None => None,
    };
    let interpolation = primvar.metadata("interpolation")?;
    let (strands, vertices) = (groom.strands(), groom.vertices());
    let (domain, count) = match interpolation.as_ref().and_then(Value::as_str) {
        Some("uniform") => (Domain::Strand, strands),
        Some("varying") => (Domain::Vertex, ends),
        Some("vertex") => (Domain::Vertex, vertices),
        _ if indices.is_none() && values.len() == 1 => (Domain::Strand, strands),
        _ => return Ok(()),
    };
    let one_for_all = interpolation.is_none() || interpolation == Some(Value::token("constant"));
    let indices = if one_for_all { Some(vec![0; count]) } else { indices };
    let values = match indices {
        Some(indices) => spread(values, &indices),
        None => Some(values),
    };
    if let Some(values) = values.filter(|values| values.len() == count) {
        if interpolation == Some(Value::token("varying")) && ends != vertices {
            varying.push(Attribute { name: name.to_owned(), domain, values });
        } else {
            take_up(groom, name, domain, values);
        }
    }
    Ok(())
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

/// All curves in one groom; nothing if there are more points than it can hold. What not all parts have is left out.
pub(crate) fn merge(parts: Vec<Groom>) -> Option<Groom> {
    let mut parts = parts.into_iter();
    let Some(mut whole) = parts.next() else { return Some(Groom::default()) };
    for part in parts {
        let (strands, vertices) = (whole.strands(), whole.vertices());
        let shift = u32::try_from(vertices).ok()?;
        for &offset in part.curves.offsets.iter().skip(1) {
            whole.curves.offsets.push(offset.checked_add(shift)?);
        }
        extend(&mut whole.widths, vertices, part.widths, part.curves.points.len());
        extend(&mut whole.root_uv, strands, part.root_uv, part.roots.len());
        extend(&mut whole.guides, strands, part.guides, part.roots.len());
        // Identifiers of several prims would clash.
        whole.ids.clear();
        whole.attributes.retain_mut(|attribute| {
            let same = |other: &&Attribute| other.name == attribute.name && other.domain == attribute.domain;
            part.attributes
                .iter()
                .find(same)
                .is_some_and(|other| append(&mut attribute.values, &other.values))
        });
        whole.curves.points.extend(part.curves.points);
        whole.roots.extend(part.roots);
    }
    Some(whole)
}

/// Appends a column of `added` elements to one of `present`; it stays only if both are complete.
fn extend<T>(column: &mut Vec<T>, present: usize, other: Vec<T>, added: usize) {
    if column.len() == present && other.len() == added {
        column.extend(other);
    } else {
        column.clear();
    }
}

fn append(values: &mut Values, other: &Values) -> bool {
    match (values, other) {
        (Values::Float(values), Values::Float(other)) => values.extend(other),
        (Values::Int(values), Values::Int(other)) => values.extend(other),
        (Values::Vec2(values), Values::Vec2(other)) => values.extend(other),
        (Values::Vec3(values), Values::Vec3(other)) => values.extend(other),
        _ => return false,
    }
    true
}
