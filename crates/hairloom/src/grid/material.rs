//! Constitutive models: stress from strain, and the strain that yielding leaves.

use super::hencky::{SERIES_REACH, cayley, compose, eigen, exp_less_one, half_log, norm_squared, trace};
use super::params::within;
use super::{GridError, Material};
use crate::math::lanes::{Lane, Row};
use crate::math::{Matrix3, Real, Symmetric3, Vector3};

/// Largest logarithmic strain along any axis: grains squeezed to a seventh are not squeezed further, which bounds
/// the stress whatever happens.
const STRAIN_LIMIT: f64 = 2.0;
/// Largest entry of Δt ∇v that strain follows in one step.
const STEP_LIMIT: f64 = 0.5;
/// How far shear may exceed friction, relatively, before it yields: rounding alone must not make it creep.
const YIELD_TOLERANCE: f64 = 1e-6;
/// Least volume of a fluid particle, relative to that at rest.
const LEAST_VOLUME: f64 = 0.2;
/// Volume below which the pressure of a fluid grows no faster: it stays as stiff as it is there, which bounds the step.
const STIFFEST_VOLUME: f64 = 0.8;

/// Numbers of a particle in [`Strained`].
const NUMBERS: usize = 6 + 1 + 6;

/// Drucker–Prager sand with Hencky elasticity (Klár et al. 2016): ψ = μ tr(ε²) + λ/2 tr(ε)², ε = ½ ln b. Grains resist
/// compression, slide where shear exceeds friction, and part freely. The volume they gain by parting closes without
/// stress (the volume correction of Tampubolon et al. 2017).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sand {
    /// Young's modulus [Pa].
    pub young: f32,
    /// Poisson's ratio.
    pub poisson: f32,
    /// Friction angle [°].
    pub friction_angle: f32,
    /// Most volume that parting grains may gain before they resist closing again, as a logarithm.
    pub most_gain: f32,
}

impl Default for Sand {
    /// The preset of real-time hair (Huang et al. 2023, table 2).
    fn default() -> Self {
        Self { young: 1.2e3, poisson: 0.3, friction_angle: 20.0, most_gain: f32::INFINITY }
    }
}

/// A weakly compressible fluid (Tampubolon et al. 2017): p = K/γ (J^−γ − 1), never negative, without viscosity; linear in J below 0.8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fluid {
    /// Bulk modulus K at rest [Pa].
    pub bulk: f32,
    /// Exponent γ: how fast it stiffens.
    pub exponent: u32,
    /// Most relative gain of volume J − 1 before it resists closing again.
    pub most_gain: f32,
}

impl Default for Fluid {
    /// The bulk modulus of the default [`Sand`].
    fn default() -> Self {
        Self { bulk: 1.0e3, exponent: 7, most_gain: f32::INFINITY }
    }
}

impl Sand {
    pub(super) fn check(&self) -> Result<(), GridError> {
        within("Young's modulus", self.young.into(), 0.0, 1e12, "between 0 and 1e12 Pa")?;
        within("Poisson's ratio", self.poisson.into(), -0.9, 0.49, "between -0.9 and 0.49")?;
        within("the friction angle", self.friction_angle.into(), 0.0, 89.0, "between 0 and 89°")?;
        within("the largest gain of volume", self.most_gain.into(), 0.0, f64::INFINITY, "not negative")
    }

    /// Lamé's parameters λ and μ [Pa].
    pub fn lame(&self) -> (f64, f64) {
        let (young, poisson) = (f64::from(self.young), f64::from(self.poisson));
        (young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson)))
    }

    /// λ + 2μ [Pa].
    pub(crate) fn wave_modulus(&self) -> f64 {
        let (lambda, mu) = self.lame();
        lambda + 2.0 * mu
    }

    /// The slope c_F of the yield surface: ‖dev τ‖ + c_F tr τ ≤ 0.
    pub fn yield_slope(&self) -> f64 {
        let sine = f64::from(self.friction_angle).to_radians().sin();
        (2.0f64 / 3.0).sqrt() * 2.0 * sine / (3.0 - sine)
    }

    /// ‖dev τ‖ + c_F tr τ [Pa]: not positive where a Kirchhoff stress lies within the yield surface.
    pub fn yield_excess(&self, stress: Symmetric3<f64>) -> f64 {
        let pressure = trace(stress);
        norm_squared(stress.add_diagonal(-pressure / 3.0)).sqrt() + self.yield_slope() * pressure
    }

    /// The strain b − I whose Kirchhoff stress is τ [Pa]: the inverse of elasticity, through τ's eigenvalues.
    pub fn strain_of(&self, stress: Symmetric3<f64>) -> Symmetric3<f64> {
        let (lambda, mu) = self.lame();
        let (values, vectors) = eigen(stress);
        let all = values.iter().sum::<f64>() / (3.0 * lambda + 2.0 * mu);
        compose(values.map(|value| (2.0 * (value - lambda * all) / (2.0 * mu)).exp_m1()), vectors)
    }

    /// Density of elastic energy ψ [J/m³] at a strain b − I.
    pub fn energy(&self, strain: Symmetric3<f64>) -> f64 {
        let (lambda, mu) = self.lame();
        let logs = eigen(strain).0.map(|value| 0.5 * value.ln_1p());
        let all: f64 = logs.iter().sum();
        mu * logs.iter().map(|log| log * log).sum::<f64>() + 0.5 * lambda * all * all
    }

    /// The strain after yielding, its Kirchhoff stress [Pa] and the gain of volume, through eigenvalues.
    pub fn settle(&self, strain: Symmetric3<f64>, gain: f64) -> (Symmetric3<f64>, Symmetric3<f64>, f64) {
        let (lambda, mu) = self.lame();
        let (values, vectors) = eigen(strain);
        let limit = STRAIN_LIMIT;
        let mut logs = values.map(|v| (0.5 * v.max(-0.999_999).ln_1p()).clamp(-limit, limit) + gain / 3.0);
        let all: f64 = logs.iter().sum();
        if all >= 0.0 {
            return (Symmetric3::zero(), Symmetric3::zero(), all.min(self.most_gain.into()));
        }
        let shear = logs.iter().map(|log| (log - all / 3.0).powi(2)).sum::<f64>().sqrt();
        let allowed = -self.yield_slope() * (3.0 * lambda + 2.0 * mu) / (2.0 * mu) * all;
        if shear > allowed {
            logs = logs.map(|log| all / 3.0 + (log - all / 3.0) * (allowed / shear));
        }
        let stress = logs.map(|log| 2.0 * mu * log + lambda * all);
        (compose(logs.map(|log| (2.0 * log).exp_m1()), vectors), compose(stress, vectors), 0.0)
    }
}

impl Fluid {
    pub(super) fn check(&self) -> Result<(), GridError> {
        within("the bulk modulus", self.bulk.into(), 0.0, 1e12, "between 0 and 1e12 Pa")?;
        within("the exponent of the fluid", self.exponent.into(), 1.0, 16.0, "between 1 and 16")?;
        within("the largest gain of volume", self.most_gain.into(), 0.0, f64::INFINITY, "not negative")
    }

    /// −p J [Pa], the Kirchhoff stress along every axis, at a relative change of volume J − 1.
    #[inline(always)]
    fn stress<R: Real>(&self, gain: R) -> R {
        let volume = R::one() + gain;
        let held = volume.max(R::splat(STIFFEST_VOLUME));
        let inverse = R::one() / held;
        let mut power = R::one();
        for _ in 0..self.exponent {
            power = power * inverse;
        }
        let scale = R::splat(f64::from(self.bulk) / f64::from(self.exponent));
        let beyond = (held - volume) * power * inverse * R::splat(f64::from(self.bulk));
        -((power - R::one()).max(R::zero()).mul_add(scale, beyond) * volume)
    }

    /// Bulk modulus where it is stiffest [Pa].
    pub(super) fn stiffest(&self) -> f64 {
        f64::from(self.bulk) * STIFFEST_VOLUME.powi(-(self.exponent as i32) - 1)
    }
}

impl Material {
    /// The strain after yielding, its Kirchhoff stress [Pa] and the gain of volume.
    pub fn settle(&self, strain: Symmetric3<f32>, gain: f32) -> (Symmetric3<f32>, Symmetric3<f32>, f32) {
        match self {
            Self::Sand(sand) => {
                let (strain, stress, gain) = sand.settle(widened(strain), gain.into());
                (narrowed(strain), narrowed(stress), gain as f32)
            }
            Self::Fluid(fluid) => (strain, Symmetric3::diagonal(fluid.stress(gain)), gain),
        }
    }
}

/// What a step makes of the strain of eight particles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strained<R> {
    /// b − I.
    pub strain: Symmetric3<R>,
    pub gain: R,
    /// τ [Pa].
    pub stress: Symmetric3<R>,
}

/// Numbers of a material that all lanes share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    material: Material,
    lambda: f64,
    mu: f64,
    /// Ratio of the largest ‖dev ε‖ to −tr ε.
    slope: f64,
}

impl Model {
    pub(super) fn new(material: &Material) -> Self {
        let (mut lambda, mut mu, mut slope) = (0.0, 0.0, 0.0);
        if let Material::Sand(sand) = material {
            (lambda, mu) = sand.lame();
            slope = sand.yield_slope() * (3.0 * lambda + 2.0 * mu) / (2.0 * mu).max(f64::MIN_POSITIVE);
        }
        Self { material: *material, lambda, mu, slope }
    }

    /// Advances strain by `scale` times the gradient, lets it yield, and finds the stress.
    #[inline(always)]
    pub(super) fn advance<L: Lane>(
        &self,
        gradient: Matrix3<L>,
        scale: L,
        strain: Symmetric3<L>,
        gain: L,
    ) -> Strained<L> {
        let [x, y, z] = gradient.0;
        let step = limited(Matrix3([x * scale, y * scale, z * scale]));
        match &self.material {
            Material::Sand(sand) => self.advance_sand::<L>(sand, stepped(step, strain), gain),
            Material::Fluid(fluid) => {
                let change = step.0[0].x + step.0[1].y + step.0[2].z;
                let gain = (gain + L::one()).mul_add(change, gain);
                let gain = gain.max(L::splat(LEAST_VOLUME - 1.0)).min(L::splat(fluid.most_gain.into()));
                Strained { strain, gain, stress: Symmetric3::diagonal(fluid.stress(gain)) }
            }
        }
    }

    #[inline(always)]
    fn advance_sand<L: Lane>(&self, sand: &Sand, strain: Symmetric3<L>, gain: L) -> Strained<L> {
        let x = cayley(strain);
        let tame = norm_squared(x).less(L::splat(SERIES_REACH * SERIES_REACH));
        let logs = half_log(x).add_diagonal(gain * L::splat(1.0 / 3.0));
        let all = trace(logs);
        let mean = all * L::splat(1.0 / 3.0);
        let shear = logs.add_diagonal(-mean);
        let size = norm_squared(shear).sqrt();
        let allowed = all * L::splat(-self.slope);
        let excess = allowed.mul_add(L::splat(-1.0 - YIELD_TOLERANCE), size);
        let ratio = L::select(L::zero().less(excess), allowed / size, L::one());
        let open = L::zero().less(all);
        let kept = shear.scaled(ratio).add_diagonal(mean);
        // What neither yields nor has a gap to close keeps its strain to the bit: material at rest must not drift.
        let changed = L::zero().less(excess.max(gain));
        let mut settled = strain;
        // What is open has no strain.
        if L::bits(changed) & !L::bits(open) != 0 {
            settled = select(changed, exp_less_one(kept.scaled(L::splat(2.0))), strain);
        }
        let zero = Symmetric3::zero();
        let stress = kept.scaled(L::splat(2.0 * self.mu)).add_diagonal(all * L::splat(self.lambda));
        let mut strained = Strained {
            strain: select(open, zero, settled),
            gain: L::select(open, all.min(L::splat(sand.most_gain.into())), L::zero()),
            stress: select(open, zero, stress),
        };
        let wild = !L::bits(tame) & 0xff;
        if wild != 0 {
            let mut rows = [Row::default(); NUMBERS];
            save(&strained, &mut rows);
            let mut before = [Row::default(); NUMBERS];
            save(&Strained { strain, gain, stress: zero }, &mut before);
            settle_wild(sand, wild, &before, &mut rows);
            strained = load(&rows);
        }
        strained
    }
}

/// Particles whose strain is too large for the series: numbers of [`Strained`] before yielding, and after it.
#[inline(never)]
fn settle_wild(sand: &Sand, wild: u32, before: &[Row; NUMBERS], after: &mut [Row; NUMBERS]) {
    for lane in (0..8).filter(|lane| wild >> lane & 1 == 1) {
        let number = |row: usize| f64::from(before[row].0[lane]);
        let strain = Symmetric3 {
            xx: number(0),
            xy: number(1),
            yy: number(2),
            xz: number(3),
            yz: number(4),
            zz: number(5),
        };
        let (b, s, gain) = sand.settle(strain, number(6));
        let numbers = [b.xx, b.xy, b.yy, b.xz, b.yz, b.zz, gain, s.xx, s.xy, s.yy, s.xz, s.yz, s.zz];
        for (row, value) in after.iter_mut().zip(numbers) {
            row.0[lane] = value as f32;
        }
    }
}

/// A gradient times the step, shrunk where it is beyond what an explicit step can follow.
#[inline(always)]
fn limited<R: Real>(step: Matrix3<R>) -> Matrix3<R> {
    let [a, b, c] = step.0;
    let largest = largest(a).max(largest(b)).max(largest(c));
    let factor = R::splat(STEP_LIMIT) / largest.max(R::splat(STEP_LIMIT));
    Matrix3([a * factor, b * factor, c * factor])
}

#[inline(always)]
fn largest<R: Real>(v: Vector3<R>) -> R {
    v.x.abs().max(v.y.abs()).max(v.z.abs())
}

/// (I + A) (I + h) (I + A)ᵀ − I, without ever adding the identity.
#[inline(always)]
pub(super) fn stepped<R: Real>(step: Matrix3<R>, strain: Symmetric3<R>) -> Symmetric3<R> {
    let full = strain.full();
    let left = step + full + step * full;
    let rows = step.transpose();
    // Column j of `left` (I + A)ᵀ is the sum over k of left's column k times (I + A)[j][k].
    let x = left.0[0] + rows.0[0] + left * rows.0[0];
    let y = left.0[1] + rows.0[1] + left * rows.0[1];
    let z = left.0[2] + rows.0[2] + left * rows.0[2];
    Symmetric3 { xx: x.x, xy: x.y, yy: y.y, xz: x.z, yz: y.z, zz: z.z }
}

/// Strain, gain and stress from rows.
#[inline(always)]
fn load<L: Lane>(rows: &[Row; NUMBERS]) -> Strained<L> {
    Strained {
        strain: load_symmetric(&rows[0..6]),
        gain: L::load(&rows[6]),
        stress: load_symmetric(&rows[7..13]),
    }
}

#[inline(always)]
fn load_symmetric<L: Lane>(rows: &[Row]) -> Symmetric3<L> {
    Symmetric3 {
        xx: L::load(&rows[0]),
        xy: L::load(&rows[1]),
        yy: L::load(&rows[2]),
        xz: L::load(&rows[3]),
        yz: L::load(&rows[4]),
        zz: L::load(&rows[5]),
    }
}

/// Strain, gain and stress into rows.
#[inline(always)]
fn save<L: Lane>(strained: &Strained<L>, rows: &mut [Row; NUMBERS]) {
    let (b, s) = (&strained.strain, &strained.stress);
    let numbers = [b.xx, b.xy, b.yy, b.xz, b.yz, b.zz, strained.gain, s.xx, s.xy, s.yy, s.xz, s.yz, s.zz];
    for (row, number) in rows.iter_mut().zip(numbers) {
        number.store(row);
    }
}

#[inline(always)]
fn select<L: Lane>(mask: L::Mask, yes: Symmetric3<L>, no: Symmetric3<L>) -> Symmetric3<L> {
    Symmetric3 {
        xx: L::select(mask, yes.xx, no.xx),
        xy: L::select(mask, yes.xy, no.xy),
        yy: L::select(mask, yes.yy, no.yy),
        xz: L::select(mask, yes.xz, no.xz),
        yz: L::select(mask, yes.yz, no.yz),
        zz: L::select(mask, yes.zz, no.zz),
    }
}

fn widened(m: Symmetric3<f32>) -> Symmetric3<f64> {
    let [xx, xy, yy, xz, yz, zz] = [m.xx, m.xy, m.yy, m.xz, m.yz, m.zz].map(f64::from);
    Symmetric3 { xx, xy, yy, xz, yz, zz }
}

fn narrowed(m: Symmetric3<f64>) -> Symmetric3<f32> {
    let [xx, xy, yy, xz, yz, zz] = [m.xx, m.xy, m.yy, m.xz, m.yz, m.zz].map(|value| value as f32);
    Symmetric3 { xx, xy, yy, xz, yz, zz }
}
