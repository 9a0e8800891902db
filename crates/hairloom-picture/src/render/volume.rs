//! Hair as a volume: how much of it lies between a point and a light.
//!
//! Strands are splatted into a grid whose third axis points to the light; a running sum along that axis then
//! gives the optical depth of the hair above every cell, and so soft shadows without noise (the idea of deep
//! opacity maps: Yuksel and Keyser, "Deep Opacity Maps", 2008, here with evenly spaced layers).

use glam::Vec3;

use crate::scene::{HairLayer, Scene, bounds};

/// Cells along the longest side of a light's grid.
const LIGHT_CELLS: f32 = 128.0;
/// Cells along the longest side of the ambient grid.
const AMBIENT_CELLS: f32 = 72.0;
/// Optical depth of a cell that holds a piece of a body.
const SOLID: f32 = 3.0;
/// Mean share of a strand's width seen from a random direction.
const MEAN_SINE: f32 = std::f32::consts::FRAC_PI_4;

/// A grid with its own axes.
struct Grid {
    axes: [Vec3; 3],
    /// Center of the first cell, in the grid's axes [m].
    origin: Vec3,
    /// Edge of a cell [m].
    cell: f32,
    size: [usize; 3],
}

/// Where a point lies between eight cells.
struct Corner {
    index: usize,
    fraction: Vec3,
}

impl Grid {
    /// A grid around some points, with a border of empty cells.
    fn around<'p>(points: impl Iterator<Item = &'p Vec3>, axes: [Vec3; 3], cells: f32) -> Option<Self> {
        let turned: Vec<Vec3> = points
            .filter(|point| point.is_finite())
            .map(|point| Vec3::from_array(axes.map(|axis| axis.dot(*point))))
            .collect();
        let (low, high) = bounds(turned.iter())?;
        let extent = high - low;
        let cell = extent.max_element() / cells;
        if !(cell.is_finite() && cell > 0.0) {
            return None;
        }
        let size = extent.to_array().map(|side| (side / cell).ceil().min(cells + 1.0) as usize + 5);
        Some(Self { axes, origin: low - cell * 2.0, cell, size })
    }

    fn cells(&self) -> usize {
        self.size.iter().product()
    }

    fn strides(&self) -> [usize; 3] {
        [1, self.size[0], self.size[0] * self.size[1]]
    }

    /// The eight cells around a point; outside, those at the border.
    fn corner(&self, point: Vec3) -> Corner {
        let local = Vec3::from_array(self.axes.map(|axis| axis.dot(point)));
        let position = (local - self.origin) / self.cell;
        let last = Vec3::from_array(self.size.map(|side| side as f32 - 1.001));
        let position = position.clamp(Vec3::ZERO, last);
        // Positive numbers: the cast rounds down, and faster than `floor` where the processor has no such step.
        let [x, y, z] = position.to_array().map(|value| value as u32);
        let strides = self.strides();
        let index = x as usize + y as usize * strides[1] + z as usize * strides[2];
        Corner { index, fraction: position - Vec3::new(x as f32, y as f32, z as f32) }
    }

    /// The eight cells and their weights.
    fn weights(&self, corner: &Corner) -> [(usize, f32); 8] {
        let strides = self.strides();
        let Vec3 { x, y, z } = corner.fraction;
        std::array::from_fn(|bits| {
            let side = |bit: usize, fraction: f32| if bits & bit == 0 { 1.0 - fraction } else { fraction };
            let offset = (bits & 1) + (bits >> 1 & 1) * strides[1] + (bits >> 2) * strides[2];
            (corner.index + offset, side(1, x) * side(2, y) * side(4, z))
        })
    }

    /// Adds a layer's strands; `facing` gives the share of the width that counts for a unit tangent.
    fn splat(&self, layer: &HairLayer, density: &mut [f32], facing: impl Fn(Vec3) -> f32) {
        let face = self.cell * self.cell;
        for strand in 0..layer.curves.strands() {
            let range = layer.curves.range(strand);
            let mut previous: Option<Vec3> = None;
            for index in range {
                let end = layer.curves.points[index];
                if !end.is_finite() {
                    continue;
                }
                let Some(start) = previous.replace(end) else { continue };
                let length = (end - start).length();
                let steps = (length / self.cell).ceil().clamp(1.0, 512.0);
                let tangent = (end - start).normalize_or(Vec3::Y);
                let share = layer.width(index) * length * facing(tangent) / (steps * face);
                for step in 0..steps as usize {
                    let point = start.lerp(end, (step as f32 + 0.5) / steps);
                    for (cell, weight) in self.weights(&self.corner(point)) {
                        density[cell] += share * weight;
                    }
                }
            }
        }
    }
}

/// Optical depth of hair toward one light.
pub(crate) struct LightVolume {
    grid: Option<(Grid, Vec<f32>)>,
}

impl LightVolume {
    pub(crate) fn new(scene: &Scene, direction: Vec3) -> Self {
        let (across, along) = direction.any_orthonormal_pair();
        let points = scene.hair.iter().flat_map(|layer| &layer.curves.points);
        let Some(grid) = Grid::around(points, [across, along, direction], LIGHT_CELLS) else {
            return Self { grid: None };
        };
        let mut depth = vec![0.0; grid.cells()];
        for layer in &scene.hair {
            grid.splat(layer, &mut depth, |tangent| {
                let cosine = tangent.dot(direction);
                (1.0 - cosine * cosine).max(0.0).sqrt()
            });
        }
        accumulate(&mut depth, &grid, 2, true, |value| value);
        Self { grid: Some((grid, depth)) }
    }

    /// The mean number of hairs between `point` and the light.
    pub(crate) fn depth(&self, point: Vec3) -> f32 {
        let Some((grid, depth)) = &self.grid else { return 0.0 };
        grid.weights(&grid.corner(point)).iter().map(|&(cell, weight)| depth[cell] * weight).sum()
    }
}

/// Replaces each cell by the sum of all cells further along an axis, and half of its own.
fn accumulate(values: &mut [f32], grid: &Grid, axis: usize, from_far_end: bool, finish: impl Fn(f32) -> f32) {
    let strides = grid.strides();
    let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
    let count = grid.size[axis];
    for j in 0..grid.size[b] {
        for i in 0..grid.size[a] {
            let start = i * strides[a] + j * strides[b];
            let mut sum = 0.0;
            for step in 0..count {
                let k = if from_far_end { count - 1 - step } else { step };
                let value = &mut values[start + k * strides[axis]];
                let own = *value;
                *value = finish(sum + own * 0.5);
                sum += own;
            }
        }
    }
}

/// Optical depth of hair and bodies toward six directions, for the light from all around.
pub(crate) struct AmbientVolume {
    grid: Option<(Grid, Vec<[f32; 6]>)>,
}

impl AmbientVolume {
    pub(crate) fn new(scene: &Scene) -> Self {
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let hair = scene.hair.iter().flat_map(|layer| &layer.curves.points);
        let bodies = scene.bodies.iter().flat_map(|body| &body.mesh.points);
        let grid =
            Grid::around(hair, axes, AMBIENT_CELLS).or_else(|| Grid::around(bodies, axes, AMBIENT_CELLS));
        let Some(grid) = grid else { return Self { grid: None } };
        let mut density = vec![0.0; grid.cells()];
        for layer in &scene.hair {
            grid.splat(layer, &mut density, |_| MEAN_SINE);
        }
        let solid = solid_cells(scene, &grid);
        for (value, &solid) in density.iter_mut().zip(&solid) {
            *value = if solid { SOLID } else { *value };
        }
        let mut depths = vec![[0.0; 6]; grid.cells()];
        for direction in 0..6 {
            let mut depth = density.clone();
            accumulate(&mut depth, &grid, direction / 2, direction % 2 == 0, |sum| sum.min(12.0));
            for (all, &one) in depths.iter_mut().zip(&depth) {
                all[direction] = one;
            }
        }
        Self { grid: Some((grid, depths)) }
    }

    /// Optical depths toward +x, -x, +y, -y, +z, -z.
    pub(crate) fn depths(&self, point: Vec3) -> [f32; 6] {
        let mut sum = [0.0; 6];
        if let Some((grid, depths)) = &self.grid {
            for (cell, weight) in grid.weights(&grid.corner(point)) {
                for (sum, depth) in sum.iter_mut().zip(&depths[cell]) {
                    *sum += depth * weight;
                }
            }
        }
        sum
    }

    /// Edge of a cell [m]; zero without a grid.
    pub(crate) fn cell(&self) -> f32 {
        self.grid.as_ref().map_or(0.0, |(grid, _)| grid.cell)
    }
}

/// Which inner cells a body's surface passes through.
fn solid_cells(scene: &Scene, grid: &Grid) -> Vec<bool> {
    let mut solid = vec![false; grid.cells()];
    let last = Vec3::from_array(grid.size.map(|side| side as f32 - 2.0));
    let strides = grid.strides();
    for body in &scene.bodies {
        for triangle in 0..body.mesh.triangles.len() {
            let corners = body.mesh.corners(triangle).map(|point| (point - grid.origin) / grid.cell);
            let [a, b, c] = corners;
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            if !(low.is_finite() && high.is_finite()) || low.cmpgt(last).any() || high.cmplt(Vec3::ONE).any()
            {
                continue;
            }
            let steps = ((b - a).length().max((c - a).length()) * 1.5).ceil().clamp(1.0, 400.0) as usize;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let (u, v) = (i as f32 / steps as f32, j as f32 / steps as f32);
                    let cell = (a + (b - a) * u + (c - a) * v).round();
                    if cell.cmpge(Vec3::ONE).all() && cell.cmple(last).all() {
                        let [x, y, z] = cell.to_array().map(|value| value as usize);
                        solid[x + y * strides[1] + z * strides[2]] = true;
                    }
                }
            }
        }
    }
    solid
}

#[cfg(test)]
mod tests {
    use hairloom::groom::Curves;

    use super::*;
    use crate::HairColor;

    /// A flat mat of parallel strands: `count` of them over a square metre, at height 0.
    fn mat(count: usize) -> Curves {
        let mut curves = Curves::default();
        for strand in 0..count {
            let z = (strand as f32 + 0.5) / count as f32 - 0.5;
            curves.push((0..11).map(|i| Vec3::new(i as f32 * 0.1 - 0.5, 0.0, z)));
        }
        curves
    }

    #[test]
    fn depth_below_a_mat_is_its_coverage() {
        let curves = mat(2000);
        let scene =
            Scene { hair: vec![HairLayer::new(&curves, &[0.001], HairColor::default())], ..Scene::default() };
        let volume = LightVolume::new(&scene, Vec3::Y);
        // 2000 strands of 1 mm on one metre: two layers deep.
        let below = volume.depth(Vec3::new(0.05, -1.0, 0.1));
        assert!((below - 2.0).abs() < 0.02, "{below}");
        assert_eq!(volume.depth(Vec3::new(0.05, 1.0, 0.1)), 0.0);
        assert_eq!(volume.depth(Vec3::new(5.0, -1.0, 0.1)), 0.0);
        // Light along the strands sees hardly any of their width.
        let along = LightVolume::new(&scene, Vec3::X).depth(Vec3::new(-3.0, 0.0, 0.0));
        assert!(along < 1e-3, "{along}");
    }

    #[test]
    fn ambient_depth_grows_away_from_the_open_side() {
        let curves = mat(2000);
        let scene =
            Scene { hair: vec![HairLayer::new(&curves, &[0.001], HairColor::default())], ..Scene::default() };
        let volume = AmbientVolume::new(&scene);
        let below = volume.depths(Vec3::new(0.0, -0.2, 0.0));
        assert!(below[2] > 1.4 && below[3] == 0.0, "{below:?}");
    }
}
