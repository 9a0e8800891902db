//! Shadows of bodies: the surface nearest to a light, as a picture seen from it.

use glam::{Vec2, Vec3};

use crate::scene::{Scene, bounds};

/// Texels along the longer side.
const TEXELS: f32 = 640.0;
/// Half the width of a shadow's soft edge, in texels.
const SOFTNESS: i32 = 2;
/// Side of a block, in texels.
const BLOCK: usize = 8;

/// How far toward the light the bodies reach, over a plane across the light.
pub(crate) struct ShadowMap {
    map: Option<Map>,
    across: Vec3,
    along: Vec3,
    direction: Vec3,
}

struct Map {
    origin: Vec2,
    /// Edge of a texel [m].
    texel: f32,
    width: usize,
    height: usize,
    /// Coordinate along the light of the nearest surface [m].
    reach: Vec<f32>,
    /// Least and greatest reach around each block of texels, as far as the soft edge looks.
    blocks: Vec<[f32; 2]>,
}

impl ShadowMap {
    pub(crate) fn new(scene: &Scene, direction: Vec3) -> Self {
        let (across, along) = direction.any_orthonormal_pair();
        let turn = |point: Vec3| Vec3::new(point.dot(across), point.dot(along), point.dot(direction));
        let turned: Vec<Vec3> =
            scene.bodies.iter().flat_map(|body| &body.mesh.points).map(|&point| turn(point)).collect();
        let mut map =
            bounds(turned.iter()).and_then(|(low, high)| Map::empty(low.truncate(), high.truncate()));
        if let Some(map) = &mut map {
            for body in &scene.bodies {
                for triangle in 0..body.mesh.triangles.len() {
                    let corners = body.mesh.corners(triangle).map(turn);
                    if corners.iter().all(|corner| corner.is_finite()) {
                        map.draw(corners);
                    }
                }
            }
            map.find_blocks();
        }
        Self { map, across, along, direction }
    }

    /// Share of the light that passes the bodies, with a soft edge.
    pub(crate) fn visible(&self, point: Vec3, normal: Vec3) -> f32 {
        let Some(map) = &self.map else { return 1.0 };
        // Away from the surface, so that it does not shade itself.
        let point = point + normal * (map.texel * 2.5);
        let place = (Vec2::new(point.dot(self.across), point.dot(self.along)) - map.origin) / map.texel;
        let height = point.dot(self.direction) + map.texel * 2.0;
        map.visible(place, height)
    }
}

impl Map {
    fn empty(low: Vec2, high: Vec2) -> Option<Self> {
        let texel = (high - low).max_element() / TEXELS;
        if !(texel.is_finite() && texel > 0.0) {
            return None;
        }
        let size = (high - low) / texel;
        let (width, height) = (size.x.min(TEXELS + 1.0) as usize + 5, size.y.min(TEXELS + 1.0) as usize + 5);
        let reach = vec![f32::NEG_INFINITY; width * height];
        Some(Self { origin: low - texel * 2.0, texel, width, height, reach, blocks: Vec::new() })
    }

    fn draw(&mut self, corners: [Vec3; 3]) {
        let [a, b, c] = corners.map(|corner| (corner.truncate() - self.origin) / self.texel);
        let area = (b - a).perp_dot(c - a);
        if area.abs() < 1e-9 {
            return;
        }
        let (low, high) = (a.min(b).min(c).floor(), a.max(b).max(c).ceil());
        let columns = low.x.max(0.0) as usize..(high.x.max(0.0) as usize + 1).min(self.width);
        for y in low.y.max(0.0) as usize..(high.y.max(0.0) as usize + 1).min(self.height) {
            for x in columns.clone() {
                let p = Vec2::new(x as f32, y as f32);
                let weights = [(c - b).perp_dot(p - b), (a - c).perp_dot(p - c), (b - a).perp_dot(p - a)]
                    .map(|weight| weight / area);
                if weights.iter().all(|&weight| weight >= -1e-4) {
                    let height: f32 =
                        weights.iter().zip(&corners).map(|(weight, corner)| weight * corner.z).sum();
                    let reach = &mut self.reach[y * self.width + x];
                    *reach = reach.max(height);
                }
            }
        }
    }

    fn block_columns(&self) -> usize {
        self.width.div_ceil(BLOCK)
    }

    fn find_blocks(&mut self) {
        let margin = SOFTNESS as usize + 1;
        for row in 0..self.height.div_ceil(BLOCK) {
            for column in 0..self.block_columns() {
                let (x, y) = (column * BLOCK, row * BLOCK);
                let mut range = [f32::INFINITY, f32::NEG_INFINITY];
                for y in y.saturating_sub(margin)..(y + BLOCK + margin).min(self.height) {
                    let line = &self.reach[y * self.width..(y + 1) * self.width];
                    for &reach in &line[x.saturating_sub(margin)..(x + BLOCK + margin).min(self.width)] {
                        range = [range[0].min(reach), range[1].max(reach)];
                    }
                }
                self.blocks.push(range);
            }
        }
    }

    /// Mean over a disc of texels around `place`.
    fn visible(&self, place: Vec2, height: f32) -> f32 {
        // Beyond the map nothing is in the way; its border is free as well.
        if !(place.x >= 0.0 && place.y >= 0.0 && place.x < self.width as f32 && place.y < self.height as f32)
        {
            return 1.0;
        }
        let (column, row) = (place.x as i32, place.y as i32);
        let [least, greatest] =
            self.blocks[row as usize / BLOCK * self.block_columns() + column as usize / BLOCK];
        if height >= greatest {
            return 1.0;
        } else if height < least {
            return 0.0;
        }
        let fraction = place - Vec2::new(column as f32, row as f32);
        let (across, down) = (soft_weights(fraction.x), soft_weights(fraction.y));
        let mut sum = 0.0;
        for (y, down) in (row - SOFTNESS..).zip(down) {
            for (x, across) in (column - SOFTNESS..).zip(across) {
                let inside = x >= 0 && y >= 0 && (x as usize) < self.width && (y as usize) < self.height;
                if !inside || height >= self.reach[y as usize * self.width + x as usize] {
                    sum += across * down;
                }
            }
        }
        sum
    }
}

/// Weights of the texels around a place `fraction` beyond one of them; they sum to one.
fn soft_weights(fraction: f32) -> [f32; 2 * SOFTNESS as usize + 2] {
    let radius = SOFTNESS as f32 + 1.0;
    // A tent of a whole number of texels adds up to its radius wherever it stands.
    std::array::from_fn(|tap| {
        let distance = (tap as f32 - SOFTNESS as f32 - fraction).abs();
        (1.0 - distance / radius).max(0.0) / radius
    })
}

#[cfg(test)]
mod tests {
    use hairloom::body::TriMesh;

    use super::*;
    use crate::BodyLayer;

    #[test]
    fn a_square_shades_what_lies_behind_it() {
        let points =
            [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, z)| Vec3::new(x, 0.0, z)).to_vec();
        let mesh = TriMesh { points, triangles: vec![[0, 2, 1], [0, 3, 2]] };
        let scene = Scene { bodies: vec![BodyLayer::new(&mesh)], ..Scene::default() };
        let map = ShadowMap::new(&scene, Vec3::Y);
        let visible = |x: f32, y: f32, z: f32| map.visible(Vec3::new(x, y, z), Vec3::ZERO);
        assert_eq!(visible(0.3, -0.5, 0.2), 0.0);
        assert_eq!(visible(0.3, 0.5, 0.2), 1.0);
        assert_eq!(visible(1.3, -0.5, 0.2), 1.0);
        assert_eq!(visible(0.3, -0.5, f32::NAN), 1.0);
        let edge = visible(1.0, -0.5, 0.2);
        assert!(edge > 0.1 && edge < 0.9, "{edge}");
        // The square itself is lit.
        assert_eq!(map.visible(Vec3::new(0.3, 0.0, 0.2), Vec3::Y), 1.0);
    }
}
