//! The inner loops of strands that follow guides, over consecutive numbers so that they run in vector lanes.

use std::ops::Range;

use glam::Vec3;

use super::Curves;
use super::carry::ROWS;

/// A vertex within this part of the distance between slots counts as lying on one.
const ON_SLOT: f32 = 1e-3;

/// Strands at rest.
#[derive(Debug, Clone)]
pub(super) struct RestStrands {
    offsets: Vec<u32>,
    /// For each strand all x, then all y, then all z [m].
    points: Vec<f32>,
    /// Squared length of the edge before each vertex [m²].
    edges: Vec<f32>,
    /// Place of each vertex among the slots.
    places: Vec<f32>,
    /// Whether the vertices of a strand are the slots, one by one.
    on_slots: Vec<bool>,
}

/// What a thread needs while it poses strands.
#[derive(Default)]
pub(super) struct Scratch {
    /// The affine map of the strand at the slots, number by number.
    pub(super) map: Vec<f32>,
    /// The same at the vertices.
    spread: Vec<f32>,
    /// All x, all y and all z where the maps take the vertices.
    targets: Vec<f32>,
    /// By how much edges need to grow to have their length.
    growth: Vec<f32>,
}

impl RestStrands {
    pub(super) fn new(curves: &Curves, slots: usize) -> Self {
        let last = (slots - 1) as f32;
        let places: Vec<f32> = curves.fractions().into_iter().map(|fraction| fraction * last).collect();
        let mut points = Vec::with_capacity(3 * curves.points.len());
        let mut edges = Vec::with_capacity(curves.points.len());
        let mut on_slots = Vec::with_capacity(curves.strands());
        for (index, strand) in curves.iter().enumerate() {
            for axis in 0..3 {
                points.extend(strand.iter().map(|point| point[axis]));
            }
            edges.extend(strand.first().map(|_| 0.0));
            edges.extend(strand.windows(2).map(|edge| edge[0].distance_squared(edge[1])));
            let mut places = places[curves.range(index)].iter().enumerate();
            on_slots.push(
                strand.len() == slots && places.all(|(slot, place)| (place - slot as f32).abs() < ON_SLOT),
            );
        }
        Self { offsets: curves.offsets.clone(), points, edges, places, on_slots }
    }

    pub(super) fn vertices(&self) -> usize {
        self.places.len()
    }

    pub(super) fn range(&self, strand: usize) -> Range<usize> {
        self.offsets[strand] as usize..self.offsets[strand + 1] as usize
    }

    /// Moves a strand by the map in `scratch`, shifts it to its root, and restores the lengths of its edges.
    pub(super) fn pose(
        &self,
        strand: usize,
        root: Vec3,
        keep_lengths: bool,
        scratch: &mut Scratch,
        out: &mut [Vec3],
    ) {
        let range = self.range(strand);
        let count = range.len();
        if count == 0 {
            return;
        }
        let Scratch { map, spread, targets, growth } = scratch;
        let rows: &[f32] = if self.on_slots[strand] {
            map
        } else {
            at_places(map, &self.places[range.clone()], spread);
            spread
        };
        let rest = &self.points[3 * range.start..3 * range.end];
        targets.resize(3 * count, 0.0);
        for (rows, target) in rows.chunks_exact(4 * count).zip(targets.chunks_exact_mut(count)) {
            transform(rows, rest, target);
        }
        let (x, others) = targets.split_at(count);
        let (y, z) = others.split_at(count);
        let target = |vertex: usize| Vec3::new(x[vertex], y[vertex], z[vertex]);
        let mut shift = root - target(0);
        if !keep_lengths {
            out.iter_mut().enumerate().for_each(|(vertex, out)| *out = target(vertex) + shift);
            return;
        }
        missing_lengths(x, y, z, &self.edges[range], growth);
        let mut previous = target(0);
        for (vertex, (out, &growth)) in out.iter_mut().zip(growth.iter()).enumerate() {
            let here = target(vertex);
            shift += (here - previous) * growth;
            previous = here;
            *out = here + shift;
        }
    }
}

/// Mixes the maps of three guides: M₀ + β (w₀ M₀ + w₁ M₁ + w₂ M₂ − M₀). Both schemes are linear in the maps,
/// so mixing the maps mixes the results.
pub(super) fn blend(maps: [&[f32]; 3], [w0, w1, w2]: [f32; 3], betas: &[f32], out: &mut Vec<f32>) {
    let [a, b, c] = maps;
    out.clear();
    out.extend(
        a.iter()
            .zip(b)
            .zip(c)
            .zip(betas)
            .map(|(((a, b), c), beta)| a + beta * ((w0 - 1.0) * a + w1 * b + w2 * c)),
    );
}

/// Interpolates a map between slots, to the places of a strand's vertices.
fn at_places(map: &[f32], places: &[f32], out: &mut Vec<f32>) {
    let slots = map.len() / ROWS;
    out.clear();
    for row in map.chunks_exact(slots) {
        out.extend(places.iter().map(|&place| {
            let slot = (place as usize).min(slots - 2);
            row[slot] + (row[slot + 1] - row[slot]) * (place - slot as f32)
        }));
    }
}

/// One coordinate of all vertices: three rows of factors and one of shifts, times x, y and z.
fn transform(rows: &[f32], rest: &[f32], out: &mut [f32]) {
    let count = out.len();
    let (a, b) = (&rows[..count], &rows[count..2 * count]);
    let (c, d) = (&rows[2 * count..3 * count], &rows[3 * count..4 * count]);
    let (x, y, z) = (&rest[..count], &rest[count..2 * count], &rest[2 * count..3 * count]);
    for vertex in 0..count {
        out[vertex] = a[vertex] * x[vertex] + b[vertex] * y[vertex] + c[vertex] * z[vertex] + d[vertex];
    }
}

/// For each vertex by what part of itself the edge before it is too short.
fn missing_lengths(x: &[f32], y: &[f32], z: &[f32], edges: &[f32], out: &mut Vec<f32>) {
    let count = edges.len();
    out.clear();
    out.resize(count, 0.0);
    let (x, y, z, out) = (&x[..count], &y[..count], &z[..count], &mut out[..count]);
    for vertex in 1..count {
        let (dx, dy, dz) = (x[vertex] - x[vertex - 1], y[vertex] - y[vertex - 1], z[vertex] - z[vertex - 1]);
        let squared = dx * dx + dy * dy + dz * dz;
        let factor = (edges[vertex] / squared.max(1e-16)).sqrt() - 1.0;
        // An edge that all but vanished has no direction to grow in.
        out[vertex] = if squared > 1e-16 { factor } else { 0.0 };
    }
}
