//! Strands on the screen: smooth curves as short shaded segments, sorted into tiles.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::HairColor;
use crate::camera::Projection;
use crate::render::light::{Lighting, Station};
use crate::render::shade::HairSurface;
use crate::render::tile::TileGrid;
use crate::scene::{HairLayer, Scene};

/// Pieces shorter than this are joined [px].
const SHORTEST: f32 = 0.7;
/// Pieces longer than this are cut, for the highlights change along them [px].
const LONGEST: f32 = 16.0;
/// Largest gap between the smooth curve and its pieces [px].
const FLATNESS: f32 = 0.12;
/// Distance between two places where the arriving light is looked up [px].
const STATION: f32 = 24.0;
/// Most pieces for one segment of the groom.
const MOST_PIECES: usize = 64;

/// A point of a strand on the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScreenPoint {
    /// Position [px].
    pub(crate) at: Vec2,
    /// Depth [m].
    pub(crate) depth: f32,
    /// Diameter [px].
    pub(crate) width: f32,
    /// Linear light.
    pub(crate) light: Vec3,
    /// Number of the strand within its batch; two neighbours with the same number are joined.
    pub(crate) strand: u32,
}

/// Some strands on the screen, and which of their segments touch which tile.
pub(crate) struct StrandBatch {
    pub(crate) points: Vec<ScreenPoint>,
    /// For each tile the segments in it, each named by its first point.
    pub(crate) tiles: Vec<Vec<u32>>,
}

/// Projects, smooths and shades all strands.
pub(crate) fn project_strands(
    scene: &Scene,
    projection: &Projection,
    lighting: &Lighting,
    tiles: &TileGrid,
) -> Vec<StrandBatch> {
    scene
        .hair
        .iter()
        .enumerate()
        .flat_map(|(index, layer)| {
            let strands = layer.curves.strands();
            let batch = strands.div_ceil(96).max(64);
            (0..strands.div_ceil(batch))
                .into_par_iter()
                .map(|number| {
                    let range = number * batch..((number + 1) * batch).min(strands);
                    let mut projector = Projector::new(layer, index as u32, projection, lighting);
                    range.for_each(|strand| projector.add(strand));
                    let points = projector.points;
                    StrandBatch { tiles: tiles.sort_segments(&points), points }
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// A point of the smooth curve in the world.
#[derive(Clone, Copy)]
struct Knot {
    point: Vec3,
    width: f32,
}

/// A point of a smooth strand.
struct Sample {
    point: Vec3,
    tangent: Vec3,
    width: f32,
    light: Station,
    /// Whether the strand ends here.
    last: bool,
}

struct Projector<'a> {
    layer: &'a HairLayer<'a>,
    layer_index: u32,
    projection: &'a Projection,
    lighting: &'a Lighting,
    points: Vec<ScreenPoint>,
    knots: Vec<Knot>,
    /// Number of the current piece of strand; a strand that leaves the view and returns has several.
    run: u32,
    joined: bool,
    /// The light at the last station, if the next segment begins there.
    station: Option<Station>,
}

impl<'a> Projector<'a> {
    fn new(
        layer: &'a HairLayer,
        layer_index: u32,
        projection: &'a Projection,
        lighting: &'a Lighting,
    ) -> Self {
        let (points, knots) = (Vec::new(), Vec::new());
        Self { layer, layer_index, projection, lighting, points, knots, run: 0, joined: false, station: None }
    }

    /// Adds one strand of the layer.
    fn add(&mut self, strand: usize) {
        self.knots.clear();
        for index in self.layer.curves.range(strand) {
            let point = self.layer.curves.points[index];
            // Repeated points have no direction, and points that are not finite no place.
            if point.is_finite() && self.knots.last().is_none_or(|last| last.point != point) {
                self.knots.push(Knot { point, width: self.layer.width(index) });
            }
        }
        let surface = self.surface(strand);
        self.joined = false;
        self.station = None;
        for segment in 1..self.knots.len() {
            self.add_segment(segment, &surface);
        }
    }

    fn surface(&self, strand: usize) -> HairSurface {
        let layer = self.layer;
        let color = layer.strand_colors.get(strand).unwrap_or(&layer.color);
        let [a, b, c] = noise(self.layer_index, strand as u32);
        let spread = layer.variation.clamp(0.0, 1.0);
        let roughness = layer.roughness.clamp(0.03, 0.8) * (1.0 + 0.3 * b);
        HairSurface::new(vary(*color, a * spread, b * spread), roughness, 0.035 + 0.03 * c)
    }

    fn add_segment(&mut self, segment: usize, surface: &HairSurface) {
        let (start, end) = (self.knots[segment - 1], self.knots[segment]);
        let ends = [start, end].map(|knot| self.projection.to_view(knot.point));
        if ends.iter().any(|view| view.z < self.projection.near) {
            self.joined = false;
            self.station = None;
            return;
        }
        let chord = end.point - start.point;
        let tangents = [self.tangent(segment - 1), self.tangent(segment)];
        let [from, to] = ends.map(|view| self.projection.to_pixel(view));
        let length = (to - from).length();
        let pieces = piece_count(length, tangents);
        let chords = tangents.map(|tangent| tangent * chord.length());
        let curve = |t: f32| hermite([start.point, end.point], chords, t);
        // Light changes slowly along a strand: a few stations will do.
        let stations = ((length / STATION).ceil() as usize).clamp(1, pieces);
        let mut before = self.station.unwrap_or_else(|| self.lighting.station(start.point));
        let mut first = usize::from(self.joined);
        for station in 1..=stations {
            let (begin, finish) = ((station - 1) * pieces / stations, station * pieces / stations);
            let after = self.lighting.station(curve(finish as f32 / pieces as f32).0);
            for piece in begin + first..=finish {
                let (point, tangent) = curve(piece as f32 / pieces as f32);
                let width = start.width + (end.width - start.width) * (piece as f32 / pieces as f32);
                let light = before.lerp(&after, (piece - begin) as f32 / (finish - begin) as f32);
                let last = piece == pieces && segment + 1 == self.knots.len();
                self.emit(Sample { point, tangent, width, light, last }, surface);
            }
            (before, first) = (after, 1);
        }
        self.station = Some(before);
    }

    fn emit(&mut self, sample: Sample, surface: &HairSurface) {
        let Sample { point, tangent, width, light, last } = sample;
        let view = self.projection.to_view(point);
        if view.z < self.projection.near {
            self.joined = false;
            return;
        }
        let at = self.projection.to_pixel(view);
        if self.joined
            && !last
            && self.points.last().is_some_and(|before| (before.at - at).length() < SHORTEST)
        {
            return;
        }
        if !self.joined {
            self.run += 1;
        }
        self.joined = true;
        let limit = self.projection.center + 200.0;
        let outside = (at - self.projection.center).abs().cmpgt(limit).any();
        let viewer = (self.projection.eye - point).normalize_or(Vec3::Z);
        let light = if outside { Vec3::ZERO } else { surface.shade(tangent, viewer, self.lighting, &light) };
        let width = width * self.projection.focal / view.z;
        self.points.push(ScreenPoint { at, depth: view.z, width, light, strand: self.run });
    }

    /// Direction of the smooth curve at a knot, of unit length.
    fn tangent(&self, knot: usize) -> Vec3 {
        let difference = |index: usize| self.knots[index + 1].point - self.knots[index].point;
        let last = self.knots.len() - 1;
        let direction = if knot == 0 {
            difference(0)
        } else if knot == last {
            difference(last - 1)
        } else {
            // The derivative of the parabola through three knots, with chord lengths as parameter.
            let (before, after) = (difference(knot - 1), difference(knot));
            before.normalize_or_zero() * after.length() + after.normalize_or_zero() * before.length()
        };
        direction.try_normalize().unwrap_or(Vec3::Y)
    }
}

/// How many straight pieces stand in for a curved segment.
fn piece_count(pixels: f32, tangents: [Vec3; 2]) -> usize {
    let bend = tangents[0].dot(tangents[1]).clamp(-1.0, 1.0).acos();
    let for_shape = (pixels * bend / (8.0 * FLATNESS)).sqrt();
    let for_light = (pixels / LONGEST).max((bend / 0.25).min(pixels / 3.5));
    (for_shape.max(for_light).ceil() as usize).clamp(1, MOST_PIECES)
}

/// A point of a cubic curve and its unit direction.
fn hermite(points: [Vec3; 2], tangents: [Vec3; 2], t: f32) -> (Vec3, Vec3) {
    let (t2, t3) = (t * t, t * t * t);
    let point = points[0] * (2.0 * t3 - 3.0 * t2 + 1.0)
        + tangents[0] * (t3 - 2.0 * t2 + t)
        + points[1] * (3.0 * t2 - 2.0 * t3)
        + tangents[1] * (t3 - t2);
    let slope = (points[1] - points[0]) * (6.0 * (t - t2))
        + tangents[0] * (3.0 * t2 - 4.0 * t + 1.0)
        + tangents[1] * (3.0 * t2 - 2.0 * t);
    (point, slope.normalize_or((points[1] - points[0]).normalize_or(Vec3::Y)))
}

/// A lighter or darker, warmer or cooler relative of a colour.
fn vary(color: HairColor, amount: f32, warmth: f32) -> Vec3 {
    let exponent = (amount * 0.55).exp();
    let base = color.reflectance.clamp(Vec3::splat(1e-4), Vec3::splat(0.97));
    base.powf(exponent) * (Vec3::new(0.12, 0.0, -0.16) * warmth).exp()
}

/// Three numbers from -1 to 1 that depend on nothing but the strand.
fn noise(layer: u32, strand: u32) -> [f32; 3] {
    let mut state = (u64::from(layer) << 32 | u64::from(strand)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    std::array::from_fn(|_| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    })
}
