//! The second-order cone of a particle's stress: Nesterov–Todd scaling, products, and steps to its boundary.

/// A point of the cone x₀ ≥ ‖x₁…x₅‖, or a direction.
pub(super) type Point = [f64; 6];

/// x₀ − ‖x₁…x₅‖, without losing digits near the boundary; positive inside.
fn margin(x: &Point) -> f64 {
    x[0] - tail_norm(x)
}

fn tail_norm(x: &Point) -> f64 {
    x[1..].iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// (x₀ − ‖x̂‖)(x₀ + ‖x̂‖).
fn determinant(x: &Point) -> f64 {
    margin(x) * (x[0] + tail_norm(x))
}

/// x · y.
pub(super) fn dot(x: &Point, y: &Point) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// The scaling W with W z = W⁻¹ s for a pair inside the cone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaling {
    /// η.
    size: f64,
    /// w̄, with w̄₀² − ‖ŵ‖² = 1.
    point: Point,
    /// W z = W⁻¹ s.
    pub scaled: Point,
}

impl Scaling {
    /// The scaling of a primal point and a dual point.
    pub(super) fn new(s: &Point, z: &Point) -> Self {
        let (ds, dz) = (determinant(s).max(1e-300).sqrt(), determinant(z).max(1e-300).sqrt());
        let gamma = (0.5 * (1.0 + dot(s, z) / (ds * dz))).max(0.5).sqrt();
        let mut point = [0.0; 6];
        for (at, value) in point.iter_mut().enumerate() {
            let sign = if at == 0 { 1.0 } else { -1.0 };
            *value = (s[at] / ds + sign * z[at] / dz) / (2.0 * gamma);
        }
        // What rounding took from the hyperboloid.
        point[0] = (1.0 + point[1..].iter().map(|v| v * v).sum::<f64>()).sqrt();
        let mut scaling = Self { size: (ds / dz).sqrt(), point, scaled: [0.0; 6] };
        scaling.scaled = scaling.forward(z);
        scaling
    }

    /// W x.
    pub(super) fn forward(&self, x: &Point) -> Point {
        self.turned(x, 1.0, self.size)
    }

    /// W⁻¹ x.
    pub(super) fn backward(&self, x: &Point) -> Point {
        self.turned(x, -1.0, 1.0 / self.size)
    }

    fn turned(&self, x: &Point, sign: f64, factor: f64) -> Point {
        let w = &self.point;
        let along: f64 = w[1..].iter().zip(&x[1..]).map(|(a, b)| a * b).sum();
        let mut out = [0.0; 6];
        out[0] = factor * (w[0] * x[0] + sign * along);
        let common = sign * x[0] + along / (1.0 + w[0]);
        for at in 1..6 {
            out[at] = factor * (x[at] + w[at] * common);
        }
        out
    }

    /// W⁻², by rows.
    pub(super) fn inverse_square(&self) -> [Point; 6] {
        let factor = 1.0 / (self.size * self.size);
        let mut v = self.point;
        v[1..].iter_mut().for_each(|value| *value = -*value);
        let mut out = [[0.0; 6]; 6];
        for (i, row) in out.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = 2.0 * factor * v[i] * v[j];
            }
            row[i] += if i == 0 { -factor } else { factor };
        }
        out
    }
}

/// The Jordan product x ∘ y.
pub(super) fn product(x: &Point, y: &Point) -> Point {
    let mut out = [0.0; 6];
    out[0] = dot(x, y);
    for at in 1..6 {
        out[at] = x[0] * y[at] + y[0] * x[at];
    }
    out
}

/// The u with x ∘ u = y.
pub(super) fn quotient(x: &Point, y: &Point) -> Point {
    let along: f64 = x[1..].iter().zip(&y[1..]).map(|(a, b)| a * b).sum();
    let mut out = [0.0; 6];
    out[0] = (x[0] * y[0] - along) / determinant(x).max(1e-300);
    for at in 1..6 {
        out[at] = (y[at] - out[0] * x[at]) / x[0].max(1e-300);
    }
    out
}

/// The largest step, at most `most`, for which x + step d stays in the cone.
pub(super) fn longest_step(x: &Point, d: &Point, most: f64) -> f64 {
    let tails = |a: &Point, b: &Point| a[1..].iter().zip(&b[1..]).map(|(p, q)| p * q).sum::<f64>();
    let a = d[0] * d[0] - tails(d, d);
    let b = x[0] * d[0] - tails(x, d);
    let c = determinant(x).max(0.0);
    // Roots of a t² + 2 b t + c, the smallest positive one.
    let root = b * b - a * c;
    let mut step = most;
    if d[0] < 0.0 {
        step = step.min(-x[0] / d[0]);
    }
    if root < 0.0 {
        return step;
    }
    let q = -(b + root.sqrt().copysign(b));
    for t in [q / a, c / q] {
        if t > 0.0 && t < step {
            step = t;
        }
    }
    step
}
