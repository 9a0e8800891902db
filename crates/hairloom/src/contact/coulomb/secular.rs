use glam::{DMat3, DVec3};

/// Eigenvalues below this part of the trace are taken for zero.
pub(super) const SINGULAR: f64 = 1.0e-13;

/// A contact's operator, taken apart so that the three cases of the law cost a few operations each.
///
/// Where the contact slides with `u_T = −α r_T` and `u_N = 0`, the normal force can be eliminated, and in the
/// eigenvectors of the Schur complement `W̄` (appendix B.1) each tangential part of the force is a constant over
/// `λ + α`. What remains is one equation in α: that the force be on the cone's boundary. `α = 0` is stick.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sliding {
    /// 1 / W_N; zero where W_N vanishes.
    inverse_normal: f64,
    /// W_T / W_N in the eigenvectors of W̄.
    coupling: [f64; 2],
    /// The first eigenvector of W̄.
    axis: [f64; 2],
    /// Eigenvalues of W̄, the larger first; tiny ones are zero.
    values: [f64; 2],
}

/// One point on the curve of sliding forces.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Tangential force along the eigenvectors.
    tangent: [f64; 2],
    /// Normal force.
    normal: f64,
    /// Length of the tangential force.
    length: f64,
    /// Slope of `tangent` over α.
    slope: [f64; 2],
    /// Slope of `normal` over α.
    normal_slope: f64,
}

/// A contact's right-hand side in the same terms.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// Normal force without friction, −b_N / W_N.
    normal: f64,
    /// b̄ in the eigenvectors, times b_N.
    tangent: [f64; 2],
}

impl Sliding {
    /// Takes `matrix` apart: symmetric, positive semi-definite.
    pub fn new(matrix: &DMat3) -> Self {
        let normal = matrix.x_axis.x;
        let trace = normal + matrix.y_axis.y + matrix.z_axis.z;
        if normal.is_nan() || normal <= SINGULAR * trace {
            return Self::default();
        }
        let inverse_normal = 1.0 / normal;
        let (y, z) = (matrix.x_axis.y, matrix.x_axis.z);
        let yy = matrix.y_axis.y - y * y * inverse_normal;
        let zz = matrix.z_axis.z - z * z * inverse_normal;
        let yz = matrix.y_axis.z - y * z * inverse_normal;
        let (middle, half) = (0.5 * (yy + zz), 0.5 * (yy - zz));
        let radius = half.hypot(yz);
        let most = middle + radius;
        // The smaller one by the determinant, where the difference would cancel.
        let least = if most > 0.0 { ((yy * zz - yz * yz) / most).max(0.0) } else { 0.0 };
        let kept = |value: f64| if value > SINGULAR * trace { value } else { 0.0 };
        let [cos, sin] = first_eigenvector(half, yz, radius);
        let (first, second) = (y * inverse_normal, z * inverse_normal);
        Self {
            inverse_normal,
            coupling: [cos * first + sin * second, cos * second - sin * first],
            axis: [cos, sin],
            values: [kept(most), kept(least)],
        }
    }

    /// Whether a normal force moves the contact at all.
    pub fn moves(&self) -> bool {
        self.inverse_normal > 0.0
    }

    #[inline(always)]
    fn load(&self, offset: DVec3) -> Load {
        let [cos, sin] = self.axis;
        let mut tangent = [
            cos * offset.y + sin * offset.z - self.coupling[0] * offset.x,
            cos * offset.z - sin * offset.y - self.coupling[1] * offset.x,
        ];
        if self.values[1] == 0.0 {
            // What a singular operator cannot move must not be there; noise must not count.
            let noise =
                1.0e-11 * (offset.length() + self.coupling[0].hypot(self.coupling[1]) * offset.x.abs());
            for (part, value) in tangent.iter_mut().zip(self.values) {
                if value == 0.0 && part.abs() <= noise {
                    *part = 0.0;
                }
            }
        }
        Load { normal: -offset.x * self.inverse_normal, tangent }
    }

    #[inline(always)]
    fn at(&self, load: &Load, alpha: f64) -> Point {
        let quotient = |part: f64, value: f64| if part == 0.0 { 0.0 } else { -part / (value + alpha) };
        let tangent = [quotient(load.tangent[0], self.values[0]), quotient(load.tangent[1], self.values[1])];
        let slope = [quotient(tangent[0], self.values[0]), quotient(tangent[1], self.values[1])];
        let normal = load.normal - self.coupling[0] * tangent[0] - self.coupling[1] * tangent[1];
        let normal_slope = -self.coupling[0] * slope[0] - self.coupling[1] * slope[1];
        let length = (tangent[0] * tangent[0] + tangent[1] * tangent[1]).sqrt();
        Point { tangent, normal, length, slope, normal_slope }
    }

    #[inline(always)]
    fn force(&self, point: &Point) -> DVec3 {
        let ([cos, sin], [first, second]) = (self.axis, point.tangent);
        DVec3::new(point.normal, cos * first - sin * second, sin * first + cos * second)
    }

    /// The force in the take-off or the stick case, if one of them holds.
    #[inline(always)]
    pub fn take_off_or_stick(&self, offset: DVec3, friction: f64) -> Option<DVec3> {
        if offset.x >= 0.0 {
            return Some(DVec3::ZERO);
        }
        if self.inverse_normal == 0.0 {
            return None;
        }
        let load = self.load(offset);
        if friction == 0.0 {
            return Some(DVec3::new(load.normal, 0.0, 0.0));
        }
        let point = self.at(&load, 0.0);
        // Infinity is within infinity, and no force.
        (point.length <= friction * point.normal && point.length.is_finite()).then(|| self.force(&point))
    }

    /// The force that solves the contact, by a safeguarded Newton iteration on α that starts from the velocity and the
    /// force at hand. None where no solution was bracketed.
    #[inline(always)]
    pub fn solve(&self, offset: DVec3, friction: f64, guess: f64) -> Option<DVec3> {
        if let Some(force) = self.take_off_or_stick(offset, friction) {
            return Some(force);
        }
        if self.inverse_normal == 0.0 {
            return None;
        }
        self.slide(&self.load(offset), friction, guess)
    }

    /// The root nearest to `guess`, without a bracket: to polish what another method found.
    pub(super) fn polish(&self, offset: DVec3, friction: f64, guess: f64) -> Option<DVec3> {
        let load = self.load(offset);
        let mut alpha = guess;
        for _ in 0..8 {
            let (value, slope) = excess(&self.at(&load, alpha), friction);
            let next = alpha - value / slope;
            if !(next.is_finite() && next > 0.0) {
                break;
            }
            alpha = next;
        }
        let point = self.at(&load, alpha);
        (point.normal > 0.0 && point.length.is_finite()).then(|| self.force(&point))
    }

    /// Scans decades of α for two neighbours of different sign, and solves between them: what an operator that pulls
    /// a sliding contact into the surface needs (Painlevé's paradox), where α → 0 is on the wrong side.
    pub(super) fn scan(&self, offset: DVec3, friction: f64) -> Option<DVec3> {
        let load = self.load(offset);
        let unit = self.values[0].max(f64::MIN_POSITIVE);
        let mut before = f64::NAN;
        for step in -160..=160 {
            let alpha = unit * 10.0_f64.powf(0.1 * f64::from(step));
            let (value, _) = excess(&self.at(&load, alpha), friction);
            if before < 0.0 && value >= 0.0 {
                return self.slide(&load, friction, alpha);
            }
            before = value;
        }
        None
    }

    #[inline(always)]
    fn slide(&self, load: &Load, friction: f64, guess: f64) -> Option<DVec3> {
        let unit = self.values[0].max(f64::MIN_POSITIVE);
        let mut alpha = if guess > 0.0 { guess } else { 0.1 * unit };
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        let mut point = self.at(load, alpha);
        for _ in 0..100 {
            let (value, slope) = excess(&point, friction);
            if value.abs() <= 4.0 * f64::EPSILON {
                break;
            }
            if value < 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            let mut next = alpha - value / slope;
            // NaN is not inside either.
            if !(next > low && next < high) {
                next = if high == f64::INFINITY {
                    (16.0 * alpha).max(unit)
                } else if low == 0.0 {
                    0.0625 * alpha
                } else {
                    (low * high).sqrt()
                };
            }
            let step = (next - alpha).abs();
            alpha = next;
            point = self.at(load, alpha);
            if step <= 2.0 * f64::EPSILON * alpha || alpha < f64::MIN_POSITIVE {
                break;
            }
        }
        (point.normal > 0.0 && point.length.is_finite()).then(|| self.force(&point))
    }
}

/// The unit eigenvector of the larger eigenvalue of `[[half, off], [off, −half]]`, exact where `off` is zero.
fn first_eigenvector(half: f64, off: f64, radius: f64) -> [f64; 2] {
    if radius == 0.0 {
        return [1.0, 0.0];
    }
    let larger = (0.5 * (1.0 + half.abs() / radius)).sqrt();
    let smaller = 0.5 * off / (radius * larger);
    if half >= 0.0 { [larger, smaller] } else { [smaller, larger] }
}

/// `μ r_N / ‖r_T‖ − 1` and its slope over α: nearly a straight line, negative outside the cone.
#[inline(always)]
fn excess(point: &Point, friction: f64) -> (f64, f64) {
    let inverse = 1.0 / point.length;
    let ratio = friction * point.normal * inverse;
    let length_slope = (point.tangent[0] * point.slope[0] + point.tangent[1] * point.slope[1]) * inverse;
    (ratio - 1.0, inverse * (friction * point.normal_slope - ratio * length_slope))
}
