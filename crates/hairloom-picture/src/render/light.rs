//! Lights, and how much of them arrives at a point.

use glam::Vec3;
use rayon::prelude::*;

use crate::Camera;
use crate::render::shadow_map::ShadowMap;
use crate::render::volume::{AmbientVolume, LightVolume};
use crate::scene::Scene;

/// A distant light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Light {
    /// From the scene to the light.
    pub direction: Vec3,
    /// Linear RGB of its light.
    pub color: Vec3,
}

impl Light {
    /// Three lights of a photo studio that stand around the camera: key, fill and rim.
    pub fn studio(camera: &Camera) -> Vec<Self> {
        let basis = camera.basis();
        let place = |right: f32, up: f32, toward: f32| {
            (basis.right * right + basis.up * up - basis.forward * toward).normalize_or(Vec3::Y)
        };
        vec![
            Self { direction: place(-0.55, 0.75, 0.7), color: Vec3::new(1.0, 0.965, 0.91) * 2.7 },
            Self { direction: place(0.9, 0.15, 0.55), color: Vec3::new(0.80, 0.90, 1.0) * 0.55 },
            Self { direction: place(0.55, 0.75, -0.9), color: Vec3::new(0.92, 0.96, 1.0) * 2.6 },
        ]
    }
}

/// Light from all around: linear RGB from +x, -x, +y, -y, +z, -z.
pub(crate) const SKY: [Vec3; 6] = [
    Vec3::new(0.50, 0.52, 0.56),
    Vec3::new(0.50, 0.52, 0.56),
    Vec3::new(0.86, 0.88, 0.92),
    Vec3::new(0.20, 0.185, 0.17),
    Vec3::new(0.50, 0.52, 0.56),
    Vec3::new(0.50, 0.52, 0.56),
];

/// One light with what stands in its way.
pub(crate) struct ShadowedLight {
    pub(crate) light: Light,
    hair: LightVolume,
    bodies: ShadowMap,
}

/// What arrives from one light at a point.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// Share of the light that the bodies let pass.
    pub(crate) visible: f32,
    /// Optical depth of the hair on the way: the mean number of hairs that the light meets.
    pub(crate) depth: f32,
}

impl ShadowedLight {
    /// What arrives at `point`; a unit `normal` keeps the surface that it lies on from shading itself.
    pub(crate) fn arrival(&self, point: Vec3, normal: Vec3) -> Arrival {
        Arrival { visible: self.bodies.visible(point, normal), depth: self.hair.depth(point) }
    }
}

/// All light of a scene.
pub(crate) struct Lighting {
    pub(crate) lights: Vec<ShadowedLight>,
    pub(crate) ambient: AmbientVolume,
}

/// Most lights that a scene may have.
pub(crate) const MOST_LIGHTS: usize = 8;

/// All light that arrives at a place in the hair.
#[derive(Clone, Copy)]
pub(crate) struct Station {
    pub(crate) arrivals: [Arrival; MOST_LIGHTS],
    /// Optical depths toward +x, -x, +y, -y, +z, -z.
    pub(crate) ambient: [f32; 6],
}

impl Station {
    /// Between two places.
    pub(crate) fn lerp(&self, other: &Self, t: f32) -> Self {
        let mix = |a: f32, b: f32| a + (b - a) * t;
        Self {
            arrivals: std::array::from_fn(|light| {
                let (a, b) = (&self.arrivals[light], &other.arrivals[light]);
                Arrival { visible: mix(a.visible, b.visible), depth: mix(a.depth, b.depth) }
            }),
            ambient: std::array::from_fn(|side| mix(self.ambient[side], other.ambient[side])),
        }
    }
}

impl Lighting {
    /// All light that arrives at a point in the hair.
    pub(crate) fn station(&self, point: Vec3) -> Station {
        let mut arrivals = [Arrival { visible: 0.0, depth: 0.0 }; MOST_LIGHTS];
        for (arrival, light) in arrivals.iter_mut().zip(&self.lights) {
            *arrival = light.arrival(point, Vec3::ZERO);
        }
        Station { arrivals, ambient: self.ambient.depths(point) }
    }

    pub(crate) fn new(scene: &Scene, lights: &[Light]) -> Self {
        let build = |light: &Light| {
            let direction = light.direction.try_normalize().unwrap_or(Vec3::Y);
            let light = Light { direction, color: light.color };
            let (hair, bodies) =
                rayon::join(|| LightVolume::new(scene, direction), || ShadowMap::new(scene, direction));
            ShadowedLight { light, hair, bodies }
        };
        let (ambient, lights) = rayon::join(
            || AmbientVolume::new(scene),
            || lights.par_iter().take(MOST_LIGHTS).map(build).collect(),
        );
        Self { lights, ambient }
    }
}
