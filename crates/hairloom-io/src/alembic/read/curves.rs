//! Curves.

use glam::{DMat4, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};

use super::super::names;
use super::reader::Result;
use super::session::{Compound, Property, Session};
use crate::cache::layout;
use crate::counts::strand_offsets;
use crate::spline::{Basis, Cubic, Unlaid, closed_ends};
use crate::stage::spread;

/// The memory of a strand besides its points [bytes].
const STRAND_BYTES: u64 = 32;

/// What is known of varying values while a groom is read.
struct Taken {
    /// How many there are: one for each end of a segment.
    ends: usize,
    varying: Vec<Attribute>,
}

impl Session<'_> {
    /// The schema of an object: the compound that holds its geometry.
    pub(super) fn geometry(&self, object: u32) -> Result<Compound> {
        let found = self.compound(&self.properties(object)?, ".geom")?;
        found.ok_or_else(|| self.archive.problem(object, "it has no geometry (.geom)"))
    }

    /// The property with an object's points; nothing if no sample of them was ever written.
    pub(super) fn points_of(&self, object: u32, geometry: &Compound) -> Result<Option<Property>> {
        if geometry.find("P").is_none() {
            return Err(self.archive.problem(object, "it has no points (P)"));
        }
        self.property(geometry, "P")
    }

    /// The points of an object in the world at a time [s], linear between samples, placed
    /// by `scene_from_file`.
    pub(super) fn points(
        &self,
        object: u32,
        geometry: &Compound,
        time: f64,
        scene_from_file: DMat4,
    ) -> Result<Vec<Vec3>> {
        let Some(property) = self.points_of(object, geometry)? else { return Ok(Vec::new()) };
        let bracket = self.bracket(&property, time)?;
        let mut points = self.triples(&property, bracket.before)?;
        if bracket.share > 0.0 {
            let next = self.triples(&property, bracket.after)?;
            if next.len() == points.len() {
                let pairs = points.iter_mut().zip(next);
                pairs.for_each(|(now, next)| {
                    *now = now.as_dvec3().lerp(next.as_dvec3(), bracket.share).as_vec3()
                });
            }
        }
        let matrix = scene_from_file * self.world_from(object, time)?;
        if moves(&matrix) {
            points.iter_mut().for_each(|point| *point = matrix.transform_point3(point.as_dvec3()).as_vec3());
        }
        Ok(points)
    }

    /// The velocities of an object's points in the world at the sample before a time [s], placed by `scene_from_file`.
    pub(super) fn velocities(
        &self,
        object: u32,
        time: f64,
        scene_from_file: DMat4,
    ) -> Result<Option<Vec<Vec3>>> {
        let geometry = self.geometry(object)?;
        let Some(property) = self.property(&geometry, ".velocities")? else { return Ok(None) };
        // Those of control points are not those of the vertices.
        if self.kind(object, &geometry, time)?.0.is_some() {
            return Ok(None);
        }
        let mut velocities = self.triples(&property, self.bracket(&property, time)?.before)?;
        let matrix = scene_from_file * self.world_from(object, time)?;
        if moves(&matrix) {
            let turn =
                |velocity: &mut Vec3| *velocity = matrix.transform_vector3(velocity.as_dvec3()).as_vec3();
            velocities.iter_mut().for_each(turn);
        }
        Ok(Some(velocities))
    }

    /// The curves of an object at a time [s], cubic ones by their control points.
    pub(super) fn curves(&self, object: u32, time: f64, scene_from_file: DMat4) -> Result<Unlaid> {
        let geometry = self.geometry(object)?;
        let points = self.points(object, &geometry, time, scene_from_file)?;
        let Some(counts) = self.property(&geometry, "nVertices")? else {
            if points.is_empty() {
                let groom = Groom::default();
                return Ok(Unlaid { cubic: None, first: None, groom, varying: Vec::new() });
            }
            return Err(self.archive.problem(object, "it has no counts of vertices (nVertices)"));
        };
        let counts_now = self.integers(&counts, self.bracket(&counts, time)?.before)?;
        self.reader.pay(counts_now.len() as u64 * STRAND_BYTES, counts.group)?;
        let offsets = strand_offsets(&counts_now, points.len(), "nVertices")
            .map_err(|problem| self.archive.problem(object, problem))?;
        let mut groom = Groom { curves: Curves { offsets, points }, ..Groom::default() };
        let (cubic, closed) = self.kind(object, &geometry, time)?;
        let mut taken = Taken { ends: groom.vertices(), varying: Vec::new() };
        if closed || cubic.is_some() {
            let varying = match &cubic {
                Some(cubic) if !closed => cubic.varying(&groom.curves),
                cubic => closed_ends(cubic.as_ref(), &groom.curves),
            };
            taken.ends = varying.map_err(|problem| self.archive.problem(object, problem))?;
        }
        groom.roots = vec![Root::Rigid; groom.strands()];
        let scene_from_object = scene_from_file * self.world_from(object, time)?;
        let scale = scene_from_object.determinant().abs().cbrt();
        if let Some(param) = self.param(&geometry, "width", time)? {
            self.take_widths(param.values, scale as f32, &mut groom, &mut taken)?;
        }
        if let Some(param) = self.param(&geometry, "uv", time)?
            && let Values::Vec2(root_uv) = param.values
            && root_uv.len() == groom.strands()
        {
            groom.root_uv = root_uv;
        }
        if let Some(params) = self.compound(&geometry, ".arbGeomParams")? {
            for index in 0..params.headers.len() {
                self.take_param(&params, index, time, scale as f32, &mut groom, &mut taken)?;
            }
        }
        let varying = taken.varying;
        let open = |part: Unlaid| match closed {
            true => part
                .opened(|bytes| self.reader.pay(bytes, 0).map_err(|error| error.to_string()))
                .map_err(|problem| self.archive.problem(object, problem)),
            false => Ok(part),
        };
        if cubic.is_none() {
            return open(Unlaid { cubic, first: None, groom, varying });
        }
        // The number of vertices is that of the first frame.
        let moves = match self.points_of(object, &geometry)? {
            Some(property) if property.samples.count > 1 => true,
            _ => self.world_from(object, f64::NEG_INFINITY)? != self.world_from(object, time)?,
        };
        let first = match moves {
            true => Some(self.points(object, &geometry, f64::NEG_INFINITY, scene_from_file)?),
            false => None,
        };
        open(Unlaid { cubic, first, groom, varying })
    }

    /// What kind of cubic curves an object has, if they are cubic, and whether they are closed.
    fn kind(&self, object: u32, geometry: &Compound, time: f64) -> Result<(Option<Cubic>, bool)> {
        let Some(property) = self.property(geometry, "curveBasisAndType")? else { return Ok((None, false)) };
        let codes = self.integers(&property, self.bracket(&property, time)?.before)?;
        let [kind, wrap, basis, ..] = codes[..] else {
            return Err(self.archive.problem(object, "its curveBasisAndType is not four numbers"));
        };
        let closed = wrap == 1;
        let basis = match (kind, basis) {
            (0, 1) => Basis::Bezier,
            (0, 2) => Basis::Bspline,
            (0, 3) => Basis::CatmullRom,
            (0, 4 | 5) => {
                let problem = "its curves are Hermite or power curves; expected linear, Bézier, B-spline or Catmull–Rom";
                return Err(self.archive.problem(object, problem));
            }
            // Linear, of varying order, or cubic without a basis: through the points.
            _ => return Ok((None, closed)),
        };
        Ok((Some(Cubic { basis, pinned: false }), closed))
    }

    /// Takes diameters of whatever scope up, one for each vertex.
    fn take_widths(&self, values: Values, scale: f32, groom: &mut Groom, taken: &mut Taken) -> Result<()> {
        let Values::Float(mut widths) = values else { return Ok(()) };
        if scale != 1.0 {
            widths.iter_mut().for_each(|width| *width *= scale);
        }
        let curves = &groom.curves;
        self.reader.pay(curves.points.len() as u64 * 4, 0)?;
        taken.varying.retain(|attribute| attribute.name != "widths");
        groom.widths = match widths.len() {
            count if count == curves.points.len() => widths,
            count if count == taken.ends && count != curves.strands() => {
                let (name, domain) = ("widths".to_owned(), Domain::Vertex);
                taken.varying.push(Attribute { name, domain, values: Values::Float(widths) });
                Vec::new()
            }
            1 => vec![widths[0]; curves.points.len()],
            count if count == curves.strands() => {
                let strands = widths.iter().enumerate();
                strands
                    .flat_map(|(strand, &width)| std::iter::repeat_n(width, curves.vertices_of(strand)))
                    .collect()
            }
            _ => return Ok(()),
        };
        Ok(())
    }

    /// Takes a parameter up that has a value for each strand or each vertex.
    fn take_param(
        &self,
        params: &Compound,
        index: usize,
        time: f64,
        scale: f32,
        groom: &mut Groom,
        taken: &mut Taken,
    ) -> Result<()> {
        let name = params.headers[index].name.as_str();
        let left_out = |why: &str| self.archive.notes.tell(|| format!("parameter {name} is left out: {why}"));
        let Some(param) = self.param_at(params, index, time)? else {
            left_out("it has no numbers, pairs or triples");
            return Ok(());
        };
        // Twice, for a list that grows.
        self.reader.pay((2 * size_of::<Attribute>() + name.len()) as u64, 0)?;
        if name == names::WIDTH {
            return self.take_widths(param.values, scale, groom, taken);
        }
        let (strands, vertices) = (groom.strands(), groom.vertices());
        let count = param.values.len();
        if count == taken.ends && count != vertices && count != strands {
            let name = if name == names::COLOR { layout::COLOR } else { name }.to_owned();
            taken.varying.push(Attribute { name, domain: Domain::Vertex, values: param.values });
            return Ok(());
        }
        let Some((domain, one_for_all)) = param.scope.domain(count, strands, vertices) else {
            left_out(&format!("{count} values, for {strands} strands with {vertices} vertices"));
            return Ok(());
        };
        let mut values = Some(param.values);
        if one_for_all {
            self.reader.pay(strands as u64 * 16, 0)?;
            values = values.and_then(|values| spread(values, &vec![0; strands]));
        }
        match (name, domain, values) {
            (_, _, None) => {}
            (names::ID, Domain::Strand, Some(Values::Int(ids))) => {
                groom.ids = ids.iter().map(|&id| id as u32).collect();
            }
            (names::ROOT_UV, Domain::Strand, Some(Values::Vec2(root_uv))) => groom.root_uv = root_uv,
            (names::GUIDE, Domain::Strand, Some(Values::Int(guides))) => {
                groom.guides = guides.iter().map(|&guide| guide != 0).collect();
            }
            (name, domain, Some(values)) => {
                let name = if name == names::COLOR { layout::COLOR } else { name }.to_owned();
                groom.attributes.push(Attribute { name, domain, values });
            }
        }
        Ok(())
    }
}

/// Whether a transform does anything. Units that go there and back leave rounding, far less than a float can hold.
fn moves(matrix: &DMat4) -> bool {
    !matrix.abs_diff_eq(DMat4::IDENTITY, 1e-12)
}
