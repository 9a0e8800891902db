//! Bodies on the screen: sixteen depth samples in each pixel.

use glam::{Vec2, Vec3};

use crate::camera::Projection;
use crate::render::light::Lighting;
use crate::render::shade::shade_body;
use crate::render::tile::{Rect, TileGrid};
use crate::scene::Scene;

/// Depth samples in a pixel.
pub(crate) const SAMPLES: usize = 16;
/// No triangle.
const NONE: u32 = u32::MAX;

/// Where the samples lie in a pixel: one in each row and column of a 16x16 grid.
const PATTERN: [[u8; 2]; SAMPLES] = [
    [0, 5],
    [1, 12],
    [2, 2],
    [3, 9],
    [4, 15],
    [5, 6],
    [6, 0],
    [7, 11],
    [8, 4],
    [9, 14],
    [10, 8],
    [11, 1],
    [12, 13],
    [13, 7],
    [14, 3],
    [15, 10],
];

fn sample_offset(sample: usize) -> Vec2 {
    let [x, y] = PATTERN[sample];
    (Vec2::new(f32::from(x), f32::from(y)) + 0.5) / 16.0
}

/// A triangle on the screen.
struct ScreenTriangle {
    corners: [Vec2; 3],
    /// One over the depth of each corner [1/m].
    closeness: [f32; 3],
    body: u32,
    triangle: u32,
}

/// All triangles, and which tiles they touch.
pub(crate) struct ScreenBodies<'a> {
    scene: &'a Scene<'a>,
    projection: Projection,
    normals: Vec<Vec<Vec3>>,
    triangles: Vec<ScreenTriangle>,
    tiles: Vec<Vec<u32>>,
}

/// A part of a pixel that shows one surface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surface {
    /// Depth [m].
    pub(crate) depth: f32,
    /// Share of the pixel.
    pub(crate) share: f32,
    /// Linear light.
    pub(crate) light: Vec3,
}

impl<'a> ScreenBodies<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>, projection: Projection, tiles: &TileGrid) -> Self {
        let normals = scene.bodies.iter().map(|body| body.mesh.vertex_normals()).collect();
        let mut bodies = Self {
            scene,
            projection,
            normals,
            triangles: Vec::new(),
            tiles: vec![Vec::new(); tiles.count()],
        };
        for (index, body) in scene.bodies.iter().enumerate() {
            for triangle in 0..body.mesh.triangles.len() {
                let corners = body.mesh.corners(triangle);
                if corners.iter().all(|corner| corner.is_finite()) {
                    bodies.add(corners.map(|corner| projection.to_view(corner)), index, triangle, tiles);
                }
            }
        }
        bodies
    }

    /// Adds a triangle in camera coordinates, cut at the near plane.
    fn add(&mut self, view: [Vec3; 3], body: usize, triangle: usize, tiles: &TileGrid) {
        let near = self.projection.near;
        let mut polygon = Vec::with_capacity(4);
        for side in 0..3 {
            let (from, to) = (view[side], view[(side + 1) % 3]);
            if from.z >= near {
                polygon.push(from);
            }
            if (from.z >= near) != (to.z >= near) {
                polygon.push(from.lerp(to, (near - from.z) / (to.z - from.z)));
            }
        }
        for third in 2..polygon.len() {
            let corners = [polygon[0], polygon[third - 1], polygon[third]];
            let pixels = corners.map(|corner| self.projection.to_pixel(corner));
            let low = pixels[0].min(pixels[1]).min(pixels[2]);
            let high = pixels[0].max(pixels[1]).max(pixels[2]);
            let number = self.triangles.len() as u32;
            for tile in tiles.touching(low, high) {
                self.tiles[tile].push(number);
            }
            let (body, triangle) = (body as u32, triangle as u32);
            let closeness = corners.map(|corner| 1.0 / corner.z);
            self.triangles.push(ScreenTriangle { corners: pixels, closeness, body, triangle });
        }
    }

    /// Draws a rectangle inside a tile: closeness and triangle of every sample.
    pub(crate) fn draw(&self, tile: usize, rect: Rect, samples: &mut BodySamples) {
        samples.any = !self.tiles[tile].is_empty();
        if !samples.any {
            return;
        }
        samples.closeness.clear();
        samples.closeness.resize(rect.pixels() * SAMPLES, 0.0);
        samples.triangle.clear();
        samples.triangle.resize(rect.pixels() * SAMPLES, NONE);
        for &number in &self.tiles[tile] {
            if let Some(edges) = Edges::new(&self.triangles[number as usize], rect) {
                edges.draw(number, rect, samples);
            }
        }
    }

    /// The surfaces in one pixel, nearest first; `index` is the pixel's number in the rectangle.
    pub(crate) fn surfaces(
        &self,
        samples: &BodySamples,
        index: usize,
        pixel: Vec2,
        lighting: &Lighting,
        found: &mut Vec<Surface>,
    ) {
        found.clear();
        if !samples.any {
            return;
        }
        let range = index * SAMPLES..(index + 1) * SAMPLES;
        let mut triangles: [u32; SAMPLES] = [NONE; SAMPLES];
        triangles.copy_from_slice(&samples.triangle[range.clone()]);
        let closeness = &samples.closeness[range];
        for first in 0..SAMPLES {
            let number = triangles[first];
            if number == NONE {
                continue;
            }
            let (mut count, mut close, mut place) = (0.0, 0.0, Vec2::ZERO);
            for sample in first..SAMPLES {
                if triangles[sample] == number {
                    triangles[sample] = NONE;
                    count += 1.0;
                    close += closeness[sample];
                    place += sample_offset(sample);
                }
            }
            let depth = count / close;
            let point = self.projection.eye + self.projection.ray(pixel + place / count) * depth;
            let light = self.shade(number, point, lighting);
            found.push(Surface { depth, share: count / SAMPLES as f32, light });
        }
        found.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    }

    fn shade(&self, number: u32, point: Vec3, lighting: &Lighting) -> Vec3 {
        let ScreenTriangle { body, triangle, .. } = self.triangles[number as usize];
        let layer = &self.scene.bodies[body as usize];
        let corners = layer.mesh.corners(triangle as usize);
        let vertices = layer.mesh.triangles[triangle as usize];
        let weights = barycentric(corners, point);
        let normals = &self.normals[body as usize];
        let normal: Vec3 =
            vertices.iter().zip(weights).map(|(&vertex, weight)| normals[vertex as usize] * weight).sum();
        let viewer = (self.projection.eye - point).normalize_or(Vec3::Z);
        let normal = normal.normalize_or(viewer);
        let normal = if normal.dot(viewer) < -0.2 { -normal } else { normal };
        let color = if layer.point_colors.len() == layer.mesh.points.len() {
            let paint = |vertex: u32| Vec3::from_array(layer.point_colors[vertex as usize]);
            vertices.iter().zip(weights).map(|(&vertex, weight)| paint(vertex) * weight).sum()
        } else {
            layer.color
        };
        shade_body(color, point, normal, viewer, lighting)
    }
}

/// Weights of a triangle's corners at a point, never outside the triangle.
fn barycentric([a, b, c]: [Vec3; 3], point: Vec3) -> [f32; 3] {
    let normal = (b - a).cross(c - a);
    let area = normal.length_squared();
    if area <= 0.0 {
        return [1.0 / 3.0; 3];
    }
    let u = ((c - b).cross(point - b).dot(normal) / area).clamp(0.0, 1.0);
    let v = ((a - c).cross(point - c).dot(normal) / area).clamp(0.0, 1.0);
    // At least 1; more only where rounding led outside.
    let sum = (u + v).max(1.0);
    [u / sum, v / sum, (1.0 - u - v).max(0.0)]
}

/// The samples of a rectangle; kept from tile to tile.
#[derive(Default)]
pub(crate) struct BodySamples {
    any: bool,
    closeness: Vec<f32>,
    triangle: Vec<u32>,
}

/// A triangle as planes over the rectangle: three edges and the closeness.
struct Edges {
    /// Value at the rectangle's corner, and change for one pixel right and down.
    edges: [[f64; 3]; 3],
    closeness: [f64; 3],
    low: Vec2,
    high: Vec2,
}

impl Edges {
    fn new(triangle: &ScreenTriangle, rect: Rect) -> Option<Self> {
        let [a, b, c] = triangle
            .corners
            .map(|corner| [f64::from(corner.x) - f64::from(rect.x), f64::from(corner.y) - f64::from(rect.y)]);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if !area.is_finite() || area == 0.0 {
            return None;
        }
        let edge = |from: [f64; 2], to: [f64; 2]| {
            let (dx, dy) = ((from[1] - to[1]) / area, (to[0] - from[0]) / area);
            [-(dx * from[0] + dy * from[1]), dx, dy]
        };
        let edges = [edge(b, c), edge(c, a), edge(a, b)];
        let closeness = std::array::from_fn(|part| {
            (0..3).map(|corner| edges[corner][part] * f64::from(triangle.closeness[corner])).sum()
        });
        let [p, q, r] = triangle.corners;
        Some(Self { edges, closeness, low: p.min(q).min(r), high: p.max(q).max(r) })
    }

    fn draw(&self, number: u32, rect: Rect, samples: &mut BodySamples) {
        for y in rect.rows(self.low.y, self.high.y) {
            for x in rect.columns(self.low.x, self.high.x) {
                let (column, row) = (f64::from(x - rect.x), f64::from(y - rect.y));
                let first = ((y - rect.y) * rect.width + (x - rect.x)) as usize * SAMPLES;
                for (sample, [u, v]) in PATTERN.iter().enumerate() {
                    let place = [column + (f64::from(*u) + 0.5) / 16.0, row + (f64::from(*v) + 0.5) / 16.0];
                    let value = |plane: &[f64; 3]| plane[0] + plane[1] * place[0] + plane[2] * place[1];
                    if self.edges.iter().all(|edge| value(edge) >= 0.0) {
                        let closeness = value(&self.closeness) as f32;
                        if closeness > samples.closeness[first + sample] {
                            samples.closeness[first + sample] = closeness;
                            samples.triangle[first + sample] = number;
                        }
                    }
                }
            }
        }
    }
}
