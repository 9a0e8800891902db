//! The picture in squares, each drawn on its own.

use std::ops::Range;

use glam::Vec2;

use crate::render::strands::ScreenPoint;

/// Side of a tile [px].
pub(crate) const TILE: u32 = 32;

/// How the picture is cut into tiles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TileGrid {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) columns: u32,
    pub(crate) rows: u32,
}

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Rect {
    pub(crate) fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Four quarters, some of which may be empty.
    pub(crate) fn quarters(&self) -> [Rect; 4] {
        let (left, top) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let (right, bottom) = (self.width - left, self.height - top);
        let (x, y) = (self.x, self.y);
        [
            Rect { x, y, width: left, height: top },
            Rect { x: x + left, y, width: right, height: top },
            Rect { x, y: y + top, width: left, height: bottom },
            Rect { x: x + left, y: y + top, width: right, height: bottom },
        ]
    }

    /// Columns of this rectangle that touch an interval [px].
    pub(crate) fn columns(&self, low: f32, high: f32) -> Range<u32> {
        touched(low, high, self.x, self.width)
    }

    /// Rows of this rectangle that touch an interval [px].
    pub(crate) fn rows(&self, low: f32, high: f32) -> Range<u32> {
        touched(low, high, self.y, self.height)
    }
}

/// The whole numbers in `start..start + count` whose unit cells touch an interval.
fn touched(low: f32, high: f32, start: u32, count: u32) -> Range<u32> {
    let end = start + count;
    // Casts round toward zero and saturate, so that far away values stay outside.
    let first = (low.max(0.0) as u32).clamp(start, end);
    let last = if high < 0.0 { start } else { (high as u32).saturating_add(1).clamp(start, end) };
    first..last.max(first)
}

impl TileGrid {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        Self { width, height, columns: width.div_ceil(TILE), rows: height.div_ceil(TILE) }
    }

    pub(crate) fn count(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    pub(crate) fn rect(&self, tile: usize) -> Rect {
        let (column, row) = (tile as u32 % self.columns, tile as u32 / self.columns);
        let (x, y) = (column * TILE, row * TILE);
        Rect { x, y, width: TILE.min(self.width - x), height: TILE.min(self.height - y) }
    }

    /// The tiles that a box touches [px].
    pub(crate) fn touching(&self, low: Vec2, high: Vec2) -> impl Iterator<Item = usize> + use<> {
        let scale = 1.0 / TILE as f32;
        let columns = touched(low.x * scale, high.x * scale, 0, self.columns);
        let rows = touched(low.y * scale, high.y * scale, 0, self.rows);
        let stride = self.columns as usize;
        rows.flat_map(move |row| columns.clone().map(move |column| row as usize * stride + column as usize))
    }

    /// For each tile, the segments between joined points that may touch it.
    pub(crate) fn sort_segments(&self, points: &[ScreenPoint]) -> Vec<Vec<u32>> {
        let mut tiles = vec![Vec::new(); self.count()];
        for (index, pair) in points.windows(2).enumerate() {
            let (a, b) = (&pair[0], &pair[1]);
            if a.strand != b.strand {
                continue;
            }
            let reach = a.width.max(b.width) * 0.5 + 1.5;
            for tile in self.touching(a.at.min(b.at) - reach, a.at.max(b.at) + reach) {
                tiles[tile].push(index as u32);
            }
        }
        tiles
    }
}
