//! Roots spread evenly over a surface: random candidates, thinned by weighted sample elimination (Yuksel,
//! "Sample elimination for generating Poisson disk sample sets", Eurographics 2015).

use glam::Vec3;
use rayon::prelude::*;

use super::{GrowError, Surface};
use crate::math::Random;

/// Candidates drawn for each root that stays.
const CANDIDATES: usize = 4;

/// Below this density roots no longer push each other farther apart.
const LEAST_DENSITY: f32 = 0.1;

/// A place on the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) point: Vec3,
    pub(super) triangle: u32,
    pub(super) weights: [f32; 3],
    density: f32,
}

/// The area of each triangle times its mean density [m²], summed up from the first on.
pub(super) fn cumulative_area(surface: &Surface) -> Vec<f64> {
    let mut sum = 0.0;
    let areas = surface.mesh.triangles.iter().enumerate().map(|(index, triangle)| {
        let [a, b, c] = surface.mesh.corners(index);
        let density: f32 = triangle.iter().map(|&vertex| surface.density_at(vertex)).sum();
        sum += f64::from((b - a).cross(c - a).length()) * 0.5 * f64::from(density) / 3.0;
        sum
    });
    areas.collect()
}

/// `count` places, spread by area and density.
pub(super) fn scatter(
    surface: &Surface,
    cumulative: &[f64],
    count: usize,
    random: &Random,
) -> Result<Vec<Place>, GrowError> {
    let total = cumulative.last().copied().unwrap_or(0.0);
    if !(total > 0.0 && total.is_finite()) {
        return Err(GrowError::NoArea);
    }
    let candidates: Vec<Place> = (0..count as u64 * CANDIDATES as u64)
        .into_par_iter()
        .map(|index| candidate(surface, cumulative, total, random.fork(index)))
        .collect();
    let points: Vec<Vec3> = candidates.iter().map(|place| place.point).collect();
    // The largest possible radius for `count` disks on the area.
    let radius = (total / (2.0 * 3f64.sqrt() * count as f64)).sqrt() as f32;
    let reaches: Vec<f32> =
        candidates.iter().map(|place| 2.0 * radius / place.density.max(LEAST_DENSITY).sqrt()).collect();
    let mut places: Vec<Place> =
        thin(&points, &reaches, count).into_iter().map(|index| candidates[index]).collect();
    sort_by_space(&mut places);
    Ok(places)
}

/// Sorts places along a Morton curve: strands next to each other in memory are neighbours on the skin, which is
/// what every later pass over the hair gains from.
fn sort_by_space(places: &mut [Place]) {
    let (low, high) = places.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), place| {
        (low.min(place.point), high.max(place.point))
    });
    let scale = 1023.0 / (high - low).max_element().max(1e-9);
    let spaced = |mut bits: u32| {
        bits = (bits | (bits << 16)) & 0x0300_00ff;
        bits = (bits | (bits << 8)) & 0x0300_f00f;
        bits = (bits | (bits << 4)) & 0x030c_30c3;
        (bits | (bits << 2)) & 0x0924_9249
    };
    places.sort_by_key(|place| {
        let [x, y, z] = ((place.point - low) * scale).to_array().map(|value| spaced(value as u32));
        x | (y << 1) | (z << 2)
    });
}

/// Picks `count` of `points` [m] that spread evenly, as indices, rising.
pub(super) fn spread(points: &[Vec3], count: usize) -> Vec<usize> {
    let (low, high) = points
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &point| (low.min(point), high.max(point)));
    let size = (high - low).max(Vec3::splat(1e-6));
    let area = 2.0 * (size.x * size.y + size.y * size.z + size.z * size.x);
    let radius = (area / (2.0 * 3f32.sqrt() * count.max(1) as f32)).sqrt();
    thin(points, &vec![2.0 * radius; points.len()], count)
}

/// A random place; `density` as the chance to stay makes places within a triangle follow the mask too.
fn candidate(surface: &Surface, cumulative: &[f64], total: f64, mut random: Random) -> Place {
    let mut place = draw(surface, cumulative, total, &mut random);
    for _ in 0..32 {
        let corners = surface.mesh.triangles[place.triangle as usize];
        let highest = corners.map(|vertex| surface.density_at(vertex)).into_iter().fold(0.0, f32::max);
        if random.unit() * highest <= place.density {
            break;
        }
        place = draw_on(surface, place.triangle, &mut random);
    }
    place
}

fn draw(surface: &Surface, cumulative: &[f64], total: f64, random: &mut Random) -> Place {
    let target = random.unit_f64() * total;
    let triangle = cumulative.partition_point(|&sum| sum <= target).min(cumulative.len() - 1);
    draw_on(surface, triangle as u32, random)
}

fn draw_on(surface: &Surface, triangle: u32, random: &mut Random) -> Place {
    let (root, split) = (random.unit().sqrt(), random.unit());
    let weights = [1.0 - root, root * (1.0 - split), root * split];
    let [a, b, c] = surface.mesh.corners(triangle as usize);
    let corners = surface.mesh.triangles[triangle as usize];
    let density =
        corners.iter().zip(weights).map(|(&vertex, weight)| surface.density_at(vertex) * weight).sum();
    Place { point: a * weights[0] + b * weights[1] + c * weights[2], triangle, weights, density }
}

/// Removes the most crowded point again and again until `count` are left; a point crowds others within its
/// reach [m].
fn thin(points: &[Vec3], reaches: &[f32], count: usize) -> Vec<usize> {
    if points.len() <= count {
        return (0..points.len()).collect();
    }
    let grid = Grid::new(points, reaches.iter().copied().fold(f32::INFINITY, f32::min));
    let crowding = |from: usize, to: usize| {
        let distance = points[from].distance(points[to]);
        (1.0 - (distance / reaches[from]).min(1.0)).powi(8)
    };
    let mut weights = vec![0.0f32; points.len()];
    for from in 0..points.len() {
        grid.around(points[from], reaches[from], |to| {
            if to != from {
                weights[to] += crowding(from, to);
            }
        });
    }
    let mut heap = Heap::new(weights);
    for _ in count..points.len() {
        let gone = heap.pop();
        grid.around(points[gone], reaches[gone], |to| {
            if to != gone {
                heap.lower(to, crowding(gone, to));
            }
        });
    }
    let mut left = heap.order[..heap.left].iter().map(|&index| index as usize).collect::<Vec<_>>();
    left.sort_unstable();
    left
}

/// Points sorted into cubic cells.
struct Grid {
    low: Vec3,
    cell: f32,
    size: [i32; 3],
    starts: Vec<u32>,
    indices: Vec<u32>,
}

impl Grid {
    fn new(points: &[Vec3], cell: f32) -> Self {
        let (low, high) = points.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &point| {
            (low.min(point), high.max(point))
        });
        // Coarser cells where the box is so large that most of them would be empty.
        let cell = cell.max((high - low).max_element() / 200.0).max(1e-9);
        let size = ((high - low) / cell).to_array().map(|extent| extent as i32 + 1);
        let mut grid = Self { low, cell, size, starts: Vec::new(), indices: Vec::new() };
        let cells: Vec<usize> = points.iter().map(|&point| grid.index(grid.cell_of(point))).collect();
        let mut starts = vec![0u32; (size[0] * size[1] * size[2]) as usize + 1];
        cells.iter().for_each(|&cell| starts[cell + 1] += 1);
        (1..starts.len()).for_each(|cell| starts[cell] += starts[cell - 1]);
        let mut next = starts.clone();
        grid.indices = vec![0; points.len()];
        for (point, &cell) in cells.iter().enumerate() {
            grid.indices[next[cell] as usize] = point as u32;
            next[cell] += 1;
        }
        grid.starts = starts;
        grid
    }

    fn cell_of(&self, point: Vec3) -> [i32; 3] {
        let place = ((point - self.low) / self.cell).to_array();
        [0, 1, 2].map(|axis| (place[axis] as i32).clamp(0, self.size[axis] - 1))
    }

    fn index(&self, [x, y, z]: [i32; 3]) -> usize {
        ((z * self.size[1] + y) * self.size[0] + x) as usize
    }

    /// Visits every point in the cells within `reach` of `point`.
    fn around(&self, point: Vec3, reach: f32, mut visit: impl FnMut(usize)) {
        let (low, high) = (self.cell_of(point - reach), self.cell_of(point + reach));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let row = self.index([0, y, z]);
                let (first, last) = (row + low[0] as usize, row + high[0] as usize);
                let range = self.starts[first] as usize..self.starts[last + 1] as usize;
                self.indices[range].iter().for_each(|&index| visit(index as usize));
            }
        }
    }
}

/// A heap of points with the most crowded on top, whose weights may fall.
struct Heap {
    weights: Vec<f32>,
    order: Vec<u32>,
    places: Vec<u32>,
    left: usize,
}

impl Heap {
    fn new(weights: Vec<f32>) -> Self {
        let left = weights.len();
        let order: Vec<u32> = (0..left as u32).collect();
        let mut heap = Self { weights, places: order.clone(), order, left };
        (0..left / 2).rev().for_each(|place| heap.sink(place));
        heap
    }

    fn above(&self, a: u32, b: u32) -> bool {
        // Ties by index make the result one and the same everywhere.
        (self.weights[a as usize], b) > (self.weights[b as usize], a)
    }

    fn pop(&mut self) -> usize {
        let top = self.order[0];
        self.left -= 1;
        self.swap(0, self.left);
        self.sink(0);
        top as usize
    }

    fn lower(&mut self, index: usize, amount: f32) {
        let place = self.places[index] as usize;
        if place < self.left && amount > 0.0 {
            self.weights[index] -= amount;
            self.sink(place);
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let mut highest = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.left && self.above(self.order[child], self.order[highest]) {
                    highest = child;
                }
            }
            if highest == place {
                return;
            }
            self.swap(place, highest);
            place = highest;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.order.swap(a, b);
        self.places[self.order[a] as usize] = a as u32;
        self.places[self.order[b] as usize] = b as u32;
    }
}
