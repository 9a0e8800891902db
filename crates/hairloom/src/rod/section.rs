use std::f64::consts::PI;

use glam::DVec3;

/// Which constant resists twisting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Torsion {
    /// The torsion constant of an ellipse, `π a³ b³ / (a² + b²)`: Saint-Venant's, with warping. The default.
    #[default]
    Ellipse,
    /// The polar moment, as printed by Daviet 2023. Equal for round sections, too stiff for flat ones.
    Polar,
}

/// An elliptic cross-section: half axes `(1 + ℓ) R` along the first director and `(1 − ℓ) R` along the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossSection {
    /// Mean radius R [m].
    pub radius: f64,
    /// Flatness ℓ, from 0 (round) to below 1.
    pub flatness: f64,
}

impl CrossSection {
    /// A round section of radius R [m].
    pub fn round(radius: f64) -> Self {
        Self { radius, flatness: 0.0 }
    }

    /// Area A [m²].
    pub fn area(&self) -> f64 {
        PI * self.radius * self.radius * (1.0 - self.flatness * self.flatness)
    }

    /// Second moments of area for bending about the first and the second director [m⁴].
    pub fn bending_moments(&self) -> [f64; 2] {
        let scale = self.area() * self.radius * self.radius / 4.0;
        [scale * (1.0 - self.flatness).powi(2), scale * (1.0 + self.flatness).powi(2)]
    }

    /// Polar moment of area about the tangent, `A R² (1 + ℓ²) / 2` [m⁴].
    pub fn polar_moment(&self) -> f64 {
        self.area() * self.radius * self.radius * (1.0 + self.flatness * self.flatness) / 2.0
    }

    /// Torsion constant J, so that a rod resists twisting with G J [m⁴].
    pub fn torsion_constant(&self, torsion: Torsion) -> f64 {
        let square = self.flatness * self.flatness;
        match torsion {
            Torsion::Ellipse => self.polar_moment() * ((1.0 - square) / (1.0 + square)).powi(2),
            Torsion::Polar => self.polar_moment(),
        }
    }

    /// Rotational inertia about the tangent per length [kg m].
    pub fn rotational_inertia(&self, density: f64) -> f64 {
        density * self.polar_moment()
    }

    /// Mass per length [kg/m].
    pub fn mass_per_length(&self, density: f64) -> f64 {
        density * self.area()
    }

    /// Stiffness against stretching, E A [N].
    pub fn axial_stiffness(&self, young: f64) -> f64 {
        young * self.area()
    }

    /// Stiffness against bending about the first director, about the second, and twisting: E I₁, E I₂, G J
    /// with G = E / (2 (1 + ν)) [N m²].
    pub fn bending_stiffness(&self, young: f64, poisson: f64, torsion: Torsion) -> DVec3 {
        let [first, second] = self.bending_moments();
        let shear = young / (2.0 * (1.0 + poisson));
        DVec3::new(young * first, young * second, shear * self.torsion_constant(torsion))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integrates `f(y, z) dA` over the ellipse by the midpoint rule in polar coordinates.
    fn integrate(a: f64, b: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
        let (rings, rays) = (400, 64);
        let mut sum = 0.0;
        for ring in 0..rings {
            let r = (f64::from(ring) + 0.5) / f64::from(rings);
            for ray in 0..rays {
                let (sin, cos) = (2.0 * PI * f64::from(ray) / f64::from(rays)).sin_cos();
                sum += f(a * r * cos, b * r * sin) * a * b * r;
            }
        }
        sum * 2.0 * PI / (f64::from(rings) * f64::from(rays))
    }

    #[test]
    fn moments_are_integrals_over_the_ellipse() {
        let section = CrossSection { radius: 1.3, flatness: 0.4 };
        let (a, b) = (1.3 * 1.4, 1.3 * 0.6);
        let close = |found: f64, exact: f64| assert!((found / exact - 1.0).abs() < 1e-5, "{found} {exact}");
        close(section.area(), integrate(a, b, |_, _| 1.0));
        close(section.bending_moments()[0], integrate(a, b, |_, z| z * z));
        close(section.bending_moments()[1], integrate(a, b, |y, _| y * y));
        close(section.polar_moment(), integrate(a, b, |y, z| y * y + z * z));
        let saint_venant = PI * (a * b).powi(3) / (a * a + b * b);
        close(section.torsion_constant(Torsion::Ellipse), saint_venant);
        // The form of the paper's K: A R²/4 (1 − ℓ²)² / ((1 + ℓ²)(1 + ν)).
        let printed = section.area() * 1.69 / 4.0 * (1.0 - 0.16f64).powi(2) / (1.16 * 1.45);
        close(section.bending_stiffness(1.0, 0.45, Torsion::Ellipse).z, printed);
        let polar = section.area() * 1.69 / 4.0 * 1.16 / 1.45;
        close(section.bending_stiffness(1.0, 0.45, Torsion::Polar).z, polar);
    }

    #[test]
    fn round_sections_have_one_torsion_constant() {
        let section = CrossSection::round(50e-6);
        assert_eq!(section.torsion_constant(Torsion::Ellipse), section.torsion_constant(Torsion::Polar));
        let stiffness = section.bending_stiffness(3e9, 0.45, Torsion::default());
        assert!((stiffness.x / (3e9 * PI * 50e-6f64.powi(4) / 4.0) - 1.0).abs() < 1e-12);
        assert!((stiffness.z / (stiffness.x / 1.45) - 1.0).abs() < 1e-12);
        assert!(
            (section.rotational_inertia(1300.0) / (1300.0 * PI * 50e-6f64.powi(4) / 2.0) - 1.0).abs() < 1e-12
        );
    }
}
