use glam::{DMat3, DQuat, DVec3};

/// One helix with constant material curvatures, from the identity frame at the origin: the frame is `E(σ) = exp(σ [κ]×)`, and
/// the centreline follows its third axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Helix {
    /// Curvatures about the two directors, and the twist [1/m].
    pub curvature: DVec3,
}

/// The functions `c_n(y) = Σ (−y)^m / (2m + n)!` for n from 0 to 7 (Stumpff's): `c₁(x²) = sin x / x` and so on, smooth at zero.
fn stumpff(y: f64) -> [f64; 8] {
    const INVERSE_FACTORIALS: [f64; 6] = [1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0];
    const SERIES_BELOW: f64 = 4.0;
    const TERMS: usize = 13;
    let mut c = [0.0; 8];
    if y < SERIES_BELOW {
        for (n, first) in [(6, 1.0 / 720.0), (7, 1.0 / 5040.0)] {
            let mut term: f64 = first;
            for m in 0..TERMS {
                c[n] += term;
                let next = (2 * m + n + 1) as f64;
                term *= -y / (next * (next + 1.0));
            }
        }
        for n in (0..6).rev() {
            c[n] = INVERSE_FACTORIALS[n] - y * c[n + 2];
        }
    } else {
        let x = y.sqrt();
        c[0] = x.cos();
        c[1] = x.sin() / x;
        for n in 2..8 {
            c[n] = (INVERSE_FACTORIALS[n - 2] - c[n - 2]) / y;
        }
    }
    c
}

/// `dc_n/dy`, from the recurrence.
fn slope(c: &[f64; 8], n: usize) -> f64 {
    0.5 * (n as f64 * c[n + 2] - c[n + 1])
}

/// `d²c_n/dy²`.
fn second_slope(c: &[f64; 8], n: usize) -> f64 {
    0.5 * (n as f64 * slope(c, n + 2) - slope(c, n + 1))
}

/// `S = σ I + a [κ]× + b [κ]×²` and its derivatives by |κ|².
struct Coefficients {
    a: f64,
    b: f64,
    a_slope: f64,
    b_slope: f64,
    a_second: f64,
    b_second: f64,
}

fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Helix {
    fn coefficients(&self, along: f64) -> Coefficients {
        let square = along * along;
        let c = stumpff(self.curvature.length_squared() * square);
        let (cube, fourth) = (square * along, square * square);
        Coefficients {
            a: square * c[2],
            b: cube * c[3],
            a_slope: fourth * slope(&c, 2),
            b_slope: fourth * along * slope(&c, 3),
            a_second: fourth * square * second_slope(&c, 2),
            b_second: fourth * cube * second_slope(&c, 3),
        }
    }

    /// The frame at `along` [m].
    pub fn rotation(&self, along: f64) -> DQuat {
        DQuat::from_scaled_axis(self.curvature * along)
    }

    /// `S(σ) = ∫ E du`: how a change of the curvatures turns the end [m]. Its third column is the centreline.
    pub fn turning(&self, along: f64) -> DMat3 {
        let Coefficients { a, b, .. } = self.coefficients(along);
        let matrix = cross_matrix(self.curvature);
        DMat3::from_diagonal(DVec3::splat(along)) + matrix * a + matrix * matrix * b
    }

    /// The point of the centreline at `along` [m].
    pub fn point(&self, along: f64) -> DVec3 {
        let (k, Coefficients { a, b, .. }) = (self.curvature, self.coefficients(along));
        DVec3::Z * along + a * k.cross(DVec3::Z) + b * (k * k.z - DVec3::Z * k.length_squared())
    }

    /// The derivative of [`Self::point`] by the curvatures [m²].
    pub fn moving(&self, along: f64) -> DMat3 {
        let (k, Coefficients { a, b, a_slope, b_slope, .. }) = (self.curvature, self.coefficients(along));
        let (first, second) = (k.cross(DVec3::Z), k * k.z - DVec3::Z * k.length_squared());
        let bent = DMat3::from_diagonal(DVec3::splat(k.z)) + outer(k, DVec3::Z) - outer(DVec3::Z, k) * 2.0;
        cross_matrix(DVec3::Z) * -a + bent * b + outer(first * a_slope + second * b_slope, k * 2.0)
    }

    /// The second derivative of [`Self::point`] along a change `rate` of the curvatures.
    pub fn point_bias(&self, along: f64, rate: DVec3) -> DVec3 {
        let (k, c) = (self.curvature, self.coefficients(along));
        let (growth, bend) = (2.0 * k.dot(rate), 2.0 * rate.length_squared());
        let (first, second) = (k.cross(DVec3::Z), k * k.z - DVec3::Z * k.length_squared());
        let second_rate = rate * k.z + k * rate.z - DVec3::Z * growth;
        (c.a_second * growth * growth + c.a_slope * bend) * first
            + 2.0 * c.a_slope * growth * rate.cross(DVec3::Z)
            + (c.b_second * growth * growth + c.b_slope * bend) * second
            + 2.0 * c.b_slope * growth * second_rate
            + c.b * (2.0 * rate.z * rate - DVec3::Z * bend)
    }

    /// The derivative of `S(σ) rate` along `rate`: what turns the end beside the turns themselves.
    pub fn turning_bias(&self, along: f64, rate: DVec3) -> DVec3 {
        let (k, c) = (self.curvature, self.coefficients(along));
        let growth = 2.0 * k.dot(rate);
        let turned = k.cross(rate);
        c.a_slope * growth * turned + c.b_slope * growth * k.cross(turned) + c.b * rate.cross(turned)
    }
}
