//! How hair, skin and floor answer light.

use std::f32::consts::{PI, TAU};

use glam::Vec3;

use crate::render::light::{Lighting, SKY, Station};
use crate::scene::Ground;

/// What a strand is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HairSurface {
    /// Linear RGB of a thick tress.
    color: Vec3,
    /// Its logarithm: what the light loses on a way through the hair.
    absorption: Vec3,
    /// Of the light that meets a hair, this much is lost for the hair below.
    loss: Vec3,
    /// Roughness of the first highlight along the strand [rad].
    roughness: f32,
    /// Tilt of the cuticle's scales [rad]: it parts the two highlights.
    tilt: f32,
}

impl HairSurface {
    /// Hair of a colour (linear RGB of a thick tress), with the roughness and tilt of its cuticle [rad].
    pub(crate) fn new(color: Vec3, roughness: f32, tilt: f32) -> Self {
        let absorption = color.max(Vec3::splat(1e-4)).ln();
        // The darker the hair, the less goes on forward.
        let loss = Vec3::ONE - (absorption * 0.35).exp() * 0.80;
        Self { color, absorption, loss, roughness, tilt }
    }

    /// The light that a strand sends to `viewer`; `tangent` goes from root to tip, both unit.
    pub(crate) fn shade(&self, tangent: Vec3, viewer: Vec3, lighting: &Lighting, station: &Station) -> Vec3 {
        let mut light = self.ambient(tangent, &station.ambient);
        for (source, arrival) in lighting.lights.iter().zip(&station.arrivals) {
            if arrival.visible <= 0.0 {
                continue;
            }
            let reach = (self.loss * -arrival.depth).exp() * arrival.visible;
            // Highlights come from light that no hair has scattered yet.
            let direct = (-arrival.depth * 0.55).exp() * arrival.visible;
            let direction = source.light.direction;
            let answer = self.scatter(tangent, viewer, direction) * direct
                + self.multiple(tangent, viewer, direction) * reach;
            light += answer * source.light.color;
        }
        light
    }

    /// Light from all around, darker inside the hair.
    fn ambient(&self, tangent: Vec3, depths: &[f32; 6]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for (index, (depth, sky)) in depths.iter().zip(SKY).enumerate() {
            let along = tangent[index / 2];
            let facing = (1.0 - along * along).max(0.0).sqrt();
            sum += sky * ((-depth * 0.45).exp() * facing);
        }
        self.color * sum * (1.7 / 6.0)
    }

    /// Light that many hairs have scattered: soft, and coloured by every hair on its way.
    fn multiple(&self, tangent: Vec3, viewer: Vec3, light: Vec3) -> Vec3 {
        let facing = (viewer - tangent * tangent.dot(viewer)).normalize_or(viewer);
        let wrapped = ((facing.dot(light) + 1.0) / 2.0).max(0.0);
        let sine = (1.0 - tangent.dot(light).powi(2)).max(0.0).sqrt();
        self.color * (wrapped * wrapped * sine / PI)
    }

    /// The three paths through one hair: reflected (R), transmitted (TT), and reflected inside (TRT).
    ///
    /// Marschner et al., "Light Scattering from Human Hair Fibers" (2003), with the azimuthal fits of
    /// Karis, "Physically Based Hair Shading in Unreal" (2016).
    fn scatter(&self, tangent: Vec3, viewer: Vec3, light: Vec3) -> Vec3 {
        let (sine_light, sine_view) =
            (tangent.dot(light).clamp(-1.0, 1.0), tangent.dot(viewer).clamp(-1.0, 1.0));
        let (theta_light, theta_view) = (sine_light.asin(), sine_view.asin());
        let theta_half = (theta_light + theta_view) * 0.5;
        let cos_difference = ((theta_view - theta_light) * 0.5).cos().max(0.05);
        let across_light = (light - tangent * sine_light).normalize_or_zero();
        let across_view = (viewer - tangent * sine_view).normalize_or_zero();
        let cos_phi = across_light.dot(across_view).clamp(-1.0, 1.0);
        let cos_half_phi = (0.5 + 0.5 * cos_phi).max(0.0).sqrt();

        let half = (0.5 + 0.5 * viewer.dot(light)).max(0.0).sqrt();
        let reflected =
            gaussian(theta_half + 2.0 * self.tilt, self.roughness) * 0.25 * cos_half_phi * fresnel(half);

        let mut sum = Vec3::splat(reflected);
        let across = (-3.65 * cos_phi - 3.98).exp();
        let along = gaussian(theta_half - self.tilt, self.roughness * 0.5);
        if across * along > NEGLIGIBLE {
            // h: where the transmitted ray enters, across the hair.
            let inverse_index = 1.0 / (1.19 / cos_difference + 0.36 * cos_difference);
            let h = (cos_half_phi * (1.0 + inverse_index * (0.6 - 0.8 * cos_phi))).clamp(-1.0, 1.0);
            let entering = 1.0 - fresnel(cos_difference * (1.0 - h * h).max(0.0).sqrt());
            let path = (1.0 - (h * inverse_index).powi(2)).max(0.0).sqrt() / (2.0 * cos_difference);
            sum += (self.absorption * path).exp() * (along * entering * entering * across);
        }
        let across = (17.0 * cos_phi - 16.78).exp();
        if across > NEGLIGIBLE {
            let inside = fresnel(cos_difference * 0.5);
            let along = gaussian(theta_half - 4.0 * self.tilt, self.roughness * 2.0);
            let strength = along * (1.0 - inside) * (1.0 - inside) * inside * across;
            sum += (self.absorption * (0.8 / cos_difference)).exp() * strength;
        }
        let cos_light = (1.0 - sine_light * sine_light).max(0.0).sqrt();
        sum * cos_light
    }
}

/// Lobes weaker than this are left out.
const NEGLIGIBLE: f32 = 1e-4;

fn gaussian(x: f32, width: f32) -> f32 {
    (-0.5 * (x / width).powi(2)).exp() / (width * TAU.sqrt())
}

/// Reflectance of hair (refractive index 1.55) at an angle with this cosine, after Schlick.
fn fresnel(cosine: f32) -> f32 {
    const NORMAL: f32 = 0.0465;
    NORMAL + (1.0 - NORMAL) * (1.0 - cosine.clamp(0.0, 1.0)).powi(5)
}

/// The light that a body's surface sends to `viewer`; all directions are of unit length.
pub(crate) fn shade_body(color: Vec3, point: Vec3, normal: Vec3, viewer: Vec3, lighting: &Lighting) -> Vec3 {
    let facing = normal.dot(viewer).clamp(0.0, 1.0);
    let (ambient, open) = ambient_on(point, normal, lighting);
    let mut light = color * ambient;
    for source in &lighting.lights {
        let direction = source.light.direction;
        let cosine = normal.dot(direction);
        let arrival = source.arrival(point, normal);
        let reach = arrival.visible * (-arrival.depth * 0.8).exp();
        // Light that enters skin leaves it nearby, red furthest: the edge of the shade is soft and warm.
        let wrap = Vec3::new(0.22, 0.16, 0.14);
        let diffuse = ((wrap + cosine) / (wrap + 1.0)).max(Vec3::ZERO);
        let half = (direction + viewer).normalize_or(normal);
        let gloss = normal.dot(half).max(0.0).powf(26.0) * 0.12 * fresnel_gloss(half.dot(viewer));
        light +=
            source.light.color * (color * diffuse / PI + Vec3::splat(gloss * cosine.max(0.0) * 8.0)) * reach;
    }
    // A faint rim, as of down on skin.
    light + color.lerp(Vec3::ONE, 0.3) * ((1.0 - facing).powi(4) * 0.10 * open)
}

fn fresnel_gloss(cosine: f32) -> f32 {
    0.06 + 0.94 * (1.0 - cosine.clamp(0.0, 1.0)).powi(5)
}

/// Light from all around on a surface, and how open its surroundings are (0 to 1).
fn ambient_on(point: Vec3, normal: Vec3, lighting: &Lighting) -> (Vec3, f32) {
    let depths = lighting.ambient.depths(point + normal * (lighting.ambient.cell() * 1.8));
    let (mut sum, mut open, mut total) = (Vec3::ZERO, 0.0, 0.0);
    for (index, (depth, sky)) in depths.iter().zip(SKY).enumerate() {
        let sign = if index % 2 == 0 { 1.0 } else { -1.0 };
        let weight = (normal[index / 2] * sign).max(0.0).powi(2);
        let pass = (-depth * 0.7).exp();
        sum += sky * (weight * pass);
        open += weight * pass;
        total += weight;
    }
    (sum * 0.42, if total > 0.0 { open / total } else { 1.0 })
}

/// The light of the floor relative to an unshaded one: linear RGB around 1.
pub(crate) fn shade_ground(ground: &Ground, point: Vec3, lighting: &Lighting) -> Vec3 {
    let (ambient, _) = ambient_on(point, Vec3::Y, lighting);
    let (mut light, mut open) = (ambient, SKY[2] * 0.42);
    for source in &lighting.lights {
        let cosine = source.light.direction.y.max(0.0) / PI;
        let arrival = source.arrival(point, Vec3::Y);
        light += source.light.color * (cosine * arrival.visible * (-arrival.depth * 0.8).exp());
        open += source.light.color * cosine;
    }
    light / open * (ground.color * 2.0)
}
