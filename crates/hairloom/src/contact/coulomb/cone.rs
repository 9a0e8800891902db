use glam::DVec3;

/// The length of the tangential part.
#[inline(always)]
pub fn tangent_length(x: DVec3) -> f64 {
    (x.y * x.y + x.z * x.z).sqrt()
}

/// The point of the friction cone nearest to `x`.
#[inline(always)]
pub fn project(x: DVec3, friction: f64) -> DVec3 {
    let tangent = tangent_length(x);
    // Without friction `friction * x.x` is −0 where x points inwards, which is no less than 0.
    if x.x >= 0.0 && tangent <= friction * x.x {
        return x;
    }
    let along = x.x + friction * tangent;
    if along <= 0.0 {
        return DVec3::ZERO;
    }
    let normal = along / (1.0 + friction * friction);
    let scale = friction * normal / tangent;
    DVec3::new(normal, scale * x.y, scale * x.z)
}

/// De Saxcé's change of variables (equation 5): the velocity with `μ ‖u_T‖` added to its normal part, which is in the dual
/// of the friction cone where the contact does not close.
#[inline(always)]
pub fn de_saxce(velocity: DVec3, friction: f64) -> DVec3 {
    DVec3::new(velocity.x + friction * tangent_length(velocity), velocity.y, velocity.z)
}

/// The change of variables to the self-dual cone (equation 7), for μ > 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfDual {
    /// The coefficient of friction μ.
    pub friction: f64,
    /// The mass ρ that turns velocities into forces [kg].
    pub mass: f64,
}

impl SelfDual {
    /// The force r̂ = (μ r_N, r_T).
    #[inline(always)]
    pub fn force(&self, force: DVec3) -> DVec3 {
        DVec3::new(self.friction * force.x, force.y, force.z)
    }

    /// The velocity û = ρ (ũ_N, μ u_T), from u itself.
    #[inline(always)]
    pub fn velocity(&self, velocity: DVec3) -> DVec3 {
        let tilde = de_saxce(velocity, self.friction);
        let tangential = self.mass * self.friction;
        DVec3::new(self.mass * tilde.x, tangential * tilde.y, tangential * tilde.z)
    }
}
