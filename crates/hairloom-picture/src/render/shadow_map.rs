//! Shadows of bodies: the surface nearest to a light, as a picture seen from it.

use glam::{Vec2, Vec3};

use crate::scene::{Scene, bounds};

/// Texels along the longer side.
const TEXELS: f32 = 1024.0;

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
}

impl ShadowMap {
    pub(crate) fn new(scene: &Scene, direction: Vec3) -> Self {
        let (across, along) = direction.any_orthonormal_pair();
        let turn = |point: Vec3| Vec3::new(point.dot(across), point.dot(along), point.dot(direction));
        let turned: Vec<Vec3> =
            scene.bodies.iter().flat_map(|body| &body.mesh.points).map(|&point| turn(point)).collect();
        let mut map = bounds(turned.iter()).and_then(|(low, high)| Map::empty(low.truncate(), high.truncate()));
        if let Some(map) = &mut map {
            for body in &scene.bodies {
                for triangle in 0..body.mesh.triangles.len() {
                    let corners = body.mesh.corners(triangle).map(turn);
                    if corners.iter().all(|corner| corner.is_finite()) {
                        map.draw(corners);
                    }
                }
            }
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
        Some(Self { origin: low - texel * 2.0, texel, width, height, reach })
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
                    let height: f32 = weights.iter().zip(&corners).map(|(weight, corner)| weight * corner.z).sum();
                    let reach = &mut self.reach[y * self.width + x];
                    *reach = reach.max(height);
                }
            }
        }
    }

    /// Mean over a disc of texels around `place`.
    fn visible(&self, place: Vec2, height: f32) -> f32 {
        const RADIUS: i32 = 3;
        let base = place.floor();
        if !place.is_finite()
            || base.x < -4.0
            || base.y < -4.0
            || base.x > self.width as f32 + 4.0
            || base.y > self.height as f32 + 4.0
        {
            return 1.0;
        }
        let (mut sum, mut total) = (0.0, 0.0);
        for dy in -RADIUS..=RADIUS + 1 {
            for dx in -RADIUS..=RADIUS + 1 {
                let texel = base + Vec2::new(dx as f32, dy as f32);
                let weight = 1.0 - (texel - place).length() / (RADIUS as f32 + 0.7);
                if weight <= 0.0 {
                    continue;
                }
                let (x, y) = (texel.x as i64, texel.y as i64);
                let inside = x >= 0 && y >= 0 && x < self.width as i64 && y < self.height as i64;
                let lit = !inside || height >= self.reach[y as usize * self.width + x as usize];
                total += weight;
                sum += if lit { weight } else { 0.0 };
            }
        }
        sum / total
    }
}
