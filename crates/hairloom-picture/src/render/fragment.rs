//! Strands in a rectangle of pixels: how much of each pixel each strand covers.
//!
//! Hairs are mostly far thinner than a pixel. A segment covers each pixel by the exact area of its ribbon under
//! a filter, so that a strand a tenth of a pixel wide leaves a tenth of coverage and no noise.

use glam::{Vec2, Vec3};

use crate::render::strands::ScreenPoint;
use crate::render::tile::Rect;

/// Strands wider than this are drawn as ribbons with round shading [px].
const WIDE: f32 = 1.6;

/// A strand's share of a pixel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fragment {
    /// Number of the pixel in the rectangle.
    pub(crate) pixel: u32,
    /// Depth [m].
    pub(crate) depth: f32,
    /// Covered share of the pixel.
    pub(crate) cover: f32,
    /// Linear light.
    pub(crate) light: Vec3,
}

/// The last fragment of a pixel and where it came from.
#[derive(Debug, Clone, Copy)]
struct Latest {
    batch: u32,
    segment: u32,
    fragment: u32,
}

/// The fragments of a rectangle; kept from tile to tile.
#[derive(Default)]
pub(crate) struct Fragments {
    pub(crate) list: Vec<Fragment>,
    latest: Vec<Latest>,
    rect: Option<Rect>,
}

impl Fragments {
    pub(crate) fn start(&mut self, rect: Rect) {
        self.list.clear();
        self.latest.clear();
        self.latest.resize(rect.pixels(), Latest { batch: u32::MAX, segment: 0, fragment: 0 });
        self.rect = Some(rect);
    }

    /// Adds the segment from `points[segment]` to the next point.
    pub(crate) fn add(&mut self, batch: u32, points: &[ScreenPoint], segment: u32) {
        let Some(rect) = self.rect else { return };
        let index = segment as usize;
        let (a, b) = (&points[index], &points[index + 1]);
        let source = Source { batch, segment, strand_points: points };
        if a.width.max(b.width) > WIDE {
            self.add_ribbon(rect, source, a, b);
        } else if (b.at.y - a.at.y).abs() >= (b.at.x - a.at.x).abs() {
            self.add_line::<false>(rect, source, a, b);
        } else {
            self.add_line::<true>(rect, source, a, b);
        }
    }

    /// A thin segment, row by row (or column by column if it is `FLAT`).
    ///
    /// The ribbon's width across a row is spread by a filter, its length along the row by the exact
    /// overlap: the coverages of a segment add up to its area.
    fn add_line<const FLAT: bool>(&mut self, rect: Rect, source: Source, a: &ScreenPoint, b: &ScreenPoint) {
        let turn = |at: Vec2| if FLAT { Vec2::new(at.y, at.x) } else { at };
        let (a, b) = if turn(a.at).y <= turn(b.at).y { (a, b) } else { (b, a) };
        let (from, to) = (turn(a.at), turn(b.at));
        let rise = to.y - from.y;
        if rise <= 0.0 {
            return;
        }
        let stretch = (to - from).length() / rise;
        let rows = if FLAT { rect.columns(from.y, to.y) } else { rect.rows(from.y, to.y) };
        for row in rows {
            let (low, high) = (from.y.max(row as f32), to.y.min(row as f32 + 1.0));
            if high <= low {
                continue;
            }
            let t = ((low + high) * 0.5 - from.y) / rise;
            let x = from.x + (to.x - from.x) * t;
            let half = (a.width + (b.width - a.width) * t) * stretch * 0.5;
            let point = Blend { depth: a.depth + (b.depth - a.depth) * t, light: a.light.lerp(b.light, t) };
            let (first, last) = (x - half - SOFT * 0.5, x + half + SOFT * 0.5);
            let across = if FLAT { rect.rows(first, last) } else { rect.columns(first, last) };
            for column in across {
                let cover = (high - low) * filtered(x - (column as f32 + 0.5), half);
                let (px, py) = if FLAT { (row, column) } else { (column, row) };
                self.push(rect, source, px, py, cover, point);
            }
        }
    }

    /// A wide segment: distance from its axis, cut at the planes that halve the angles to its neighbours.
    fn add_ribbon(&mut self, rect: Rect, source: Source, a: &ScreenPoint, b: &ScreenPoint) {
        let axis = b.at - a.at;
        let length = axis.length();
        if length < 1e-4 {
            return;
        }
        let axis = axis / length;
        let (start_cut, end_cut) = source.cuts(axis);
        let reach = a.width.max(b.width) * 0.5 + 1.0;
        let (low, high) = (a.at.min(b.at) - reach, a.at.max(b.at) + reach);
        for y in rect.rows(low.y, high.y) {
            for x in rect.columns(low.x, high.x) {
                let offset = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - a.at;
                let begun = (0.5 + offset.dot(start_cut)).clamp(0.0, 1.0);
                let ended = (0.5 + (offset - axis * length).dot(end_cut)).clamp(0.0, 1.0);
                if begun <= ended {
                    continue;
                }
                let t = (offset.dot(axis) / length).clamp(0.0, 1.0);
                let half = (a.width + (b.width - a.width) * t) * 0.5;
                let distance = axis.perp_dot(offset).abs();
                let side = filtered(distance, half);
                let round = (1.0 - (distance / half.max(1e-3)).powi(2)).max(0.0).sqrt();
                // A wide strand is a cylinder: darker toward its edges, as far as its width shows it.
                let shape = ((half * 2.0 - WIDE) / 3.0).clamp(0.0, 1.0);
                let light = a.light.lerp(b.light, t) * (1.0 - shape * 0.65 * (1.0 - round));
                let point = Blend { depth: a.depth + (b.depth - a.depth) * t, light };
                self.push(rect, source, x, y, side * (begun - ended), point);
            }
        }
    }

    fn push(&mut self, rect: Rect, source: Source, x: u32, y: u32, cover: f32, point: Blend) {
        if cover <= 1e-5 {
            return;
        }
        let pixel = (y - rect.y) * rect.width + (x - rect.x);
        let latest = &mut self.latest[pixel as usize];
        // Neighbouring pieces of one strand share a pixel side by side: their areas add.
        if latest.batch == source.batch && source.follows(latest.segment) {
            let fragment = &mut self.list[latest.fragment as usize];
            let sum = fragment.cover + cover;
            let part = cover / sum;
            fragment.depth += (point.depth - fragment.depth) * part;
            fragment.light = fragment.light.lerp(point.light, part);
            fragment.cover = sum.min(1.0);
            latest.segment = source.segment;
            return;
        }
        *latest = Latest { batch: source.batch, segment: source.segment, fragment: self.list.len() as u32 };
        self.list.push(Fragment { pixel, depth: point.depth, cover: cover.min(1.0), light: point.light });
    }
}

#[derive(Clone, Copy)]
struct Blend {
    depth: f32,
    light: Vec3,
}

/// Which segment is being drawn.
#[derive(Clone, Copy)]
struct Source<'a> {
    batch: u32,
    segment: u32,
    strand_points: &'a [ScreenPoint],
}

impl Source<'_> {
    /// Whether this segment comes right after `earlier` on the same strand.
    fn follows(&self, earlier: u32) -> bool {
        let points = self.strand_points;
        self.segment - earlier <= 3 && points[earlier as usize].strand == points[self.segment as usize].strand
    }

    /// Normals of the planes that end the segment.
    fn cuts(&self, axis: Vec2) -> (Vec2, Vec2) {
        let index = self.segment as usize;
        let points = self.strand_points;
        let strand = points[index].strand;
        let neighbour = |from: Option<usize>, to: usize| {
            let (from, to) = (points.get(from?)?, points.get(to)?);
            let direction = (to.at - from.at).try_normalize()?;
            // At a sharp turn the halving plane would run along the strand.
            (from.strand == strand && to.strand == strand && direction.dot(axis) > -0.5)
                .then(|| (direction + axis).normalize_or(axis))
        };
        let start = neighbour(index.checked_sub(1), index).unwrap_or(axis);
        let end = neighbour(Some(index + 1), index + 2).unwrap_or(axis);
        (start, end)
    }
}

/// Width over which the edges of a pixel are softened [px].
const SOFT: f32 = 0.6;

/// Share of a pixel that a band covers whose middle lies `distance` away and that reaches `half` to each side.
///
/// The filter is as wide as a pixel with softened edges. Filters around neighbouring pixels add up to one everywhere,
/// so that no coverage is lost.
fn filtered(distance: f32, half: f32) -> f32 {
    if half < 0.1 {
        // A thin band: the filter hardly changes across it.
        return 2.0 * half * ((0.5 + SOFT * 0.5 - distance.abs()) / SOFT).clamp(0.0, 1.0);
    }
    filter_integral(half - distance) - filter_integral(-half - distance)
}

/// Integral of the pixel filter up to `x`.
fn filter_integral(x: f32) -> f32 {
    /// The integral of a ramp from 0 at -1/2 to 1 at 1/2.
    fn ramp_integral(x: f32) -> f32 {
        let inside = (x + 0.5).clamp(0.0, 1.0);
        0.5 * inside * inside + (x - 0.5).max(0.0)
    }
    (ramp_integral(x + SOFT * 0.5) - ramp_integral(x - SOFT * 0.5)) / SOFT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(from: Vec2, to: Vec2, pieces: usize, width: f32) -> Vec<ScreenPoint> {
        (0..=pieces)
            .map(|i| ScreenPoint {
                at: from.lerp(to, i as f32 / pieces as f32),
                depth: 1.0,
                width,
                light: Vec3::ONE,
                strand: 1,
            })
            .collect()
    }

    fn covered(points: &[ScreenPoint]) -> f32 {
        let mut fragments = Fragments::default();
        fragments.start(Rect { x: 0, y: 0, width: 64, height: 64 });
        (0..points.len() as u32 - 1).for_each(|segment| fragments.add(0, points, segment));
        fragments.list.iter().map(|fragment| fragment.cover).sum()
    }

    #[test]
    fn coverage_is_the_area_for_any_width_and_angle() {
        for width in [0.02, 0.1, 0.7, 1.0, 3.0, 8.0] {
            for step in 0..24 {
                let direction = Vec2::from_angle(step as f32 * 0.27);
                let center = Vec2::new(31.3, 32.8);
                let points = line(center - direction * 18.0, center + direction * 18.0, 9, width);
                let expected = 36.0 * width;
                let error = (covered(&points) - expected).abs() / expected;
                assert!(error < 0.03, "width {width}, step {step}: {error}");
            }
        }
    }

    #[test]
    fn joints_neither_gap_nor_overlap() {
        for width in [1.0, 4.0] {
            let whole = covered(&line(Vec2::new(10.2, 9.7), Vec2::new(40.1, 33.3), 1, width));
            let many = covered(&line(Vec2::new(10.2, 9.7), Vec2::new(40.1, 33.3), 23, width));
            assert!((whole - many).abs() / whole < 0.01, "{whole} {many}");
        }
    }
}
