use glam::{DMat3, DVec3};

use super::{LocalProblem, SelfDual};

/// The product of the cone's Jordan algebra: `(⟨x, y⟩, x_N y_T + y_N x_T)`.
#[inline(always)]
pub fn jordan_product(x: DVec3, y: DVec3) -> DVec3 {
    DVec3::new(x.dot(y), x.x * y.y + y.x * x.y, x.x * y.z + y.x * x.z)
}

/// The matrix of the product with `x`: symmetric.
#[inline(always)]
fn product_matrix(x: DVec3) -> DMat3 {
    DMat3::from_cols(x, DVec3::new(x.y, x.x, 0.0), DVec3::new(x.z, 0.0, x.x))
}

/// Value and derivatives of the modified Fischer–Burmeister function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jacobians {
    /// The function's value.
    pub value: DVec3,
    /// Its derivative with respect to r̂.
    pub force: DMat3,
    /// Its derivative with respect to û.
    pub velocity: DMat3,
}

/// The square root of `x∘x + y∘y` by its spectral values: roots of the two eigenvalues, and the direction β that the
/// eigenvectors (1, ∓β)/2 share.
#[inline(always)]
fn spectral_root(x: DVec3, y: DVec3) -> (f64, f64, f64, f64) {
    let (alpha_y, alpha_z) = (x.x * x.y + y.x * y.y, x.x * x.z + y.x * y.z);
    let length = (alpha_y * alpha_y + alpha_z * alpha_z).sqrt();
    let (beta_y, beta_z) =
        if length > f64::MIN_POSITIVE { (alpha_y / length, alpha_z / length) } else { (1.0, 0.0) };
    // ‖x‖² − 2 x_N β·x_T = ‖x_T − x_N β‖² for a unit β: the eigenvalues are sums of squares, without cancellation.
    let square = |y_part: f64, z_part: f64| y_part * y_part + z_part * z_part;
    let least =
        square(x.y - x.x * beta_y, x.z - x.x * beta_z) + square(y.y - y.x * beta_y, y.z - y.x * beta_z);
    let most =
        square(x.y + x.x * beta_y, x.z + x.x * beta_z) + square(y.y + y.x * beta_y, y.z + y.x * beta_z);
    (least.sqrt(), most.sqrt(), beta_y, beta_z)
}

/// The modified Fischer–Burmeister function `x + y − (x∘x + y∘y)^½` (equation 12): zero exactly where x and y are
/// orthogonal and both in the self-dual cone.
#[inline(always)]
pub fn fischer_burmeister(x: DVec3, y: DVec3) -> DVec3 {
    let (least, most, beta_y, beta_z) = spectral_root(x, y);
    let (mean, spread) = (0.5 * (most + least), 0.5 * (most - least));
    x + y - DVec3::new(mean, spread * beta_y, spread * beta_z)
}

/// The function with one element of its generalised Jacobian (appendix A.1): `I − L_w⁻¹ L_x` and `I − L_w⁻¹ L_y` with
/// `w = (x∘x + y∘y)^½`.
#[inline(always)]
pub fn fischer_burmeister_with_jacobians(x: DVec3, y: DVec3) -> Jacobians {
    let (least, most, beta_y, beta_z) = spectral_root(x, y);
    let (mean, spread) = (0.5 * (most + least), 0.5 * (most - least));
    let root = DVec3::new(mean, spread * beta_y, spread * beta_z);
    let value = x + y - root;
    if most <= f64::MIN_POSITIVE {
        return Jacobians { value, force: DMat3::ZERO, velocity: DMat3::ZERO };
    }
    if least <= 1.0e-15 * most {
        let length = (x.x * x.x + y.x * y.x).sqrt();
        let scaled = |normal: f64| DMat3::from_diagonal(DVec3::splat(1.0 - normal / length));
        return Jacobians { value, force: scaled(x.x), velocity: scaled(y.x) };
    }
    // The inverse of L_w; det w = √λ₁ √λ₂.
    let determinant = least * most;
    let (inverse_n, factor) = (1.0 / root.x, 1.0 / determinant);
    let (first, second) = (-root.y * factor, -root.z * factor);
    let outer = factor * inverse_n;
    let cross = root.y * root.z * outer;
    let inverse = DMat3::from_cols(
        DVec3::new(root.x * factor, first, second),
        DVec3::new(first, inverse_n + root.y * root.y * outer, cross),
        DVec3::new(second, cross, inverse_n + root.z * root.z * outer),
    );
    Jacobians {
        value,
        force: DMat3::IDENTITY - inverse * product_matrix(x),
        velocity: DMat3::IDENTITY - inverse * product_matrix(y),
    }
}

/// The function of a contact's force alone: what a Newton method drives to zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FischerBurmeister {
    dual: SelfDual,
}

impl FischerBurmeister {
    /// For a coefficient of friction, and a mass that turns velocities into forces [kg].
    #[inline(always)]
    pub fn new(friction: f64, mass: f64) -> Self {
        Self { dual: SelfDual { friction, mass } }
    }

    /// The value for a force and the velocity that goes with it. Without friction it is the scalar function of the
    /// normal parts, and the tangential force itself (equation 8a).
    #[inline(always)]
    pub fn value(&self, force: DVec3, velocity: DVec3) -> DVec3 {
        let SelfDual { friction, mass } = self.dual;
        if friction > 0.0 {
            return fischer_burmeister(self.dual.force(force), self.dual.velocity(velocity));
        }
        let closing = mass * velocity.x;
        DVec3::new(force.x + closing - force.x.hypot(closing), force.y, force.z)
    }

    /// Value and the two partial derivatives, with respect to the force and to the velocity u.
    #[inline(always)]
    pub fn derivatives(&self, force: DVec3, velocity: DVec3) -> Jacobians {
        let SelfDual { friction, mass } = self.dual;
        if friction > 0.0 {
            let hat = fischer_burmeister_with_jacobians(self.dual.force(force), self.dual.velocity(velocity));
            let Jacobians { value, force: by_force, velocity: by_velocity } = hat;
            let length = super::tangent_length(velocity);
            // ‖u_T‖ has no derivative at zero; zero is in its generalised one.
            let slope = if length > 0.0 { mass * friction / length } else { 0.0 };
            let tangential = mass * friction;
            let x = by_velocity.x_axis;
            return Jacobians {
                value,
                force: DMat3::from_cols(friction * by_force.x_axis, by_force.y_axis, by_force.z_axis),
                velocity: DMat3::from_cols(
                    mass * x,
                    tangential * by_velocity.y_axis + slope * velocity.y * x,
                    tangential * by_velocity.z_axis + slope * velocity.z * x,
                ),
            };
        }
        let closing = mass * velocity.x;
        let length = force.x.hypot(closing);
        let (by_force, by_velocity) =
            if length > 0.0 { (1.0 - force.x / length, 1.0 - closing / length) } else { (1.0, 1.0) };
        Jacobians {
            value: DVec3::new(force.x + closing - length, force.y, force.z),
            force: DMat3::from_diagonal(DVec3::new(by_force, 1.0, 1.0)),
            velocity: DMat3::from_diagonal(DVec3::new(mass * by_velocity, 0.0, 0.0)),
        }
    }

    /// The value and its derivative with respect to the force of one contact, `u = W r + b`.
    #[inline(always)]
    pub fn of_force(&self, problem: &LocalProblem, force: DVec3) -> (DVec3, DMat3) {
        let parts = self.derivatives(force, problem.velocity(force));
        (parts.value, parts.force + parts.velocity * problem.matrix)
    }
}
