use std::ops::{Add, Mul, Range, Sub};

use glam::Vec3;

use super::{Attribute, Curves, Domain, Groom, Remap, Values};

/// A recipe that makes a new groom out of the strands of an old one. Subsets, resampling, merging of points,
/// trimming and lengthening are all of this form, so every column is carried over in one place.
pub(super) struct Plan {
    /// For each new strand, the old one.
    pub(super) sources: Vec<u32>,
    /// Where each new strand's vertices begin, as in [`Curves`].
    offsets: Vec<u32>,
    /// For each new vertex its fractional vertex index along the old strand.
    coordinates: Vec<f32>,
}

impl Plan {
    pub(super) fn new() -> Self {
        Self { sources: Vec::new(), offsets: vec![0], coordinates: Vec::new() }
    }

    /// Adds a strand made from `source`, one vertex for each coordinate.
    pub(super) fn push(&mut self, source: usize, coordinates: impl IntoIterator<Item = f32>) {
        self.sources.push(source as u32);
        self.coordinates.extend(coordinates);
        self.offsets.push(self.coordinates.len() as u32);
    }

    /// Adds `source` as it is.
    pub(super) fn keep(&mut self, source: usize, curves: &Curves) {
        self.push(source, (0..curves.vertices_of(source)).map(|vertex| vertex as f32));
    }

    /// The new groom. Columns that `groom` lacks stay empty; the sources must be strands of `groom` that have
    /// vertices, and its columns of the right size or empty.
    pub(super) fn apply(&self, groom: &Groom) -> Groom {
        let points = self.blend_vertices(groom, &groom.curves.points, |strand, coordinate| {
            let (edge, t) = locate(strand.len(), coordinate);
            if strand.len() < 2 || t == 0.0 {
                return strand[edge];
            }
            let (a, b) = (strand[edge], strand[edge + 1]);
            if t == 1.0 { b } else { a + (b - a) * t }
        });
        Groom {
            curves: Curves { offsets: self.offsets.clone(), points },
            roots: self.take_strands(&groom.roots),
            widths: self.blend_vertices(groom, &groom.widths, blend),
            root_uv: self.take_strands(&groom.root_uv),
            ids: self.identifiers(groom),
            guides: self.take_strands(&groom.guides),
            attributes: groom.attributes.iter().map(|attribute| self.attribute(groom, attribute)).collect(),
        }
    }

    pub(super) fn into_remap(self) -> Remap {
        Remap { strands: self.sources.into_iter().map(Some).collect(), coordinates: self.coordinates }
    }

    /// Strands keep their identifier even where it was only their index.
    fn identifiers(&self, groom: &Groom) -> Vec<u32> {
        let unmoved = self.sources.len() == groom.strands()
            && self.sources.iter().enumerate().all(|(new, &old)| new == old as usize);
        match (groom.ids.is_empty(), unmoved) {
            (true, true) => Vec::new(),
            (true, false) => self.sources.clone(),
            (false, _) => self.take_strands(&groom.ids),
        }
    }

    fn attribute(&self, groom: &Groom, attribute: &Attribute) -> Attribute {
        let values = match (&attribute.values, attribute.domain) {
            (Values::Float(values), Domain::Strand) => Values::Float(self.take_strands(values)),
            (Values::Vec2(values), Domain::Strand) => Values::Vec2(self.take_strands(values)),
            (Values::Vec3(values), Domain::Strand) => Values::Vec3(self.take_strands(values)),
            (Values::Int(values), Domain::Strand) => Values::Int(self.take_strands(values)),
            (Values::Float(values), Domain::Vertex) => {
                Values::Float(self.blend_vertices(groom, values, blend))
            }
            (Values::Vec2(values), Domain::Vertex) => Values::Vec2(self.blend_vertices(groom, values, blend)),
            (Values::Vec3(values), Domain::Vertex) => Values::Vec3(self.blend_vertices(groom, values, blend)),
            (Values::Int(values), Domain::Vertex) => {
                Values::Int(self.blend_vertices(groom, values, |strand, coordinate| {
                    let (edge, t) = locate(strand.len(), coordinate);
                    strand[if t < 0.5 { edge } else { (edge + 1).min(strand.len() - 1) }]
                }))
            }
        };
        Attribute { name: attribute.name.clone(), domain: attribute.domain, values }
    }

    fn take_strands<T: Copy>(&self, values: &[T]) -> Vec<T> {
        if values.is_empty() {
            return Vec::new();
        }
        self.sources.iter().map(|&source| values[source as usize]).collect()
    }

    fn range(&self, strand: usize) -> Range<usize> {
        self.offsets[strand] as usize..self.offsets[strand + 1] as usize
    }

    fn blend_vertices<T: Copy>(
        &self,
        groom: &Groom,
        values: &[T],
        sample: impl Fn(&[T], f32) -> T,
    ) -> Vec<T> {
        if values.is_empty() {
            return Vec::new();
        }
        let mut out = Vec::with_capacity(self.coordinates.len());
        for (strand, &source) in self.sources.iter().enumerate() {
            let old = &values[groom.curves.range(source as usize)];
            out.extend(
                self.coordinates[self.range(strand)].iter().map(|&coordinate| sample(old, coordinate)),
            );
        }
        out
    }
}

/// The edge that a fractional vertex index lies on, and where on it. Beyond the last vertex the place on the
/// last edge exceeds one.
fn locate(vertices: usize, coordinate: f32) -> (usize, f32) {
    let edge = (coordinate.max(0.0) as usize).min(vertices.saturating_sub(2));
    (edge, coordinate.max(0.0) - edge as f32)
}

/// Linear between vertices, constant beyond the last one: only points go on past the tip.
fn blend<T>(strand: &[T], coordinate: f32) -> T
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f32, Output = T>,
{
    let (edge, t) = locate(strand.len(), coordinate);
    if strand.len() < 2 || t == 0.0 {
        strand[edge]
    } else if t >= 1.0 {
        strand[edge + 1]
    } else {
        strand[edge] + (strand[edge + 1] - strand[edge]) * t
    }
}

/// The fractional vertex index at arc length `target` [m], searching from edge `from`, whose start lies at
/// arc length `start`. Returns the edge and its start too, so that rising targets are found in one sweep.
pub(super) fn coordinate_at(strand: &[Vec3], target: f32, from: usize, start: f32) -> (f32, usize, f32) {
    let (mut edge, mut start) = (from, start);
    loop {
        let length = strand[edge].distance(strand[edge + 1]);
        let last = edge + 2 >= strand.len();
        if start + length >= target || last {
            let t = if length > 0.0 { ((target - start) / length).clamp(0.0, 1.0) } else { 0.0 };
            return (edge as f32 + t, edge, start);
        }
        start += length;
        edge += 1;
    }
}
