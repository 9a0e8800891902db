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

/// The inverse of a point inside the cone.
pub(super) fn inverse(x: &Point) -> Point {
    let size = determinant(x).max(1e-300);
    let mut out = x.map(|value| -value / size);
    out[0] = x[0] / size;
    out
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
        for (out, (x, w)) in out.iter_mut().zip(x.iter().zip(w)).skip(1) {
            *out = factor * (x + w * common);
        }
        out
    }

    /// What the dual changes by where the primal point stays, towards complementarity `target`, with the second-order terms of a guess of both
    /// changes.
    pub(super) fn towards(&self, guess: Option<(&Point, &Point)>, target: f64) -> Point {
        let mut d = product(&self.scaled, &self.scaled).map(|value| -value);
        if let Some((s, z)) = guess {
            let second = product(&self.backward(s), &self.forward(z));
            d.iter_mut().zip(&second).for_each(|(d, second)| *d -= second);
        }
        d[0] += target;
        self.backward(&quotient(&self.scaled, &d))
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
fn product(x: &Point, y: &Point) -> Point {
    let mut out = [0.0; 6];
    out[0] = dot(x, y);
    for (out, (a, b)) in out.iter_mut().zip(x.iter().zip(y)).skip(1) {
        *out = x[0] * b + y[0] * a;
    }
    out
}

/// The u with x ∘ u = y.
fn quotient(x: &Point, y: &Point) -> Point {
    let along: f64 = x[1..].iter().zip(&y[1..]).map(|(a, b)| a * b).sum();
    let first = (x[0] * y[0] - along) / determinant(x).max(1e-300);
    let mut out = [first; 6];
    for (out, (a, b)) in out.iter_mut().zip(x.iter().zip(y)).skip(1) {
        *out = (b - first * a) / x[0].max(1e-300);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    fn inside(random: &mut Random) -> Point {
        let mut x: Point = std::array::from_fn(|_| f64::from(random.signed()));
        x[0] = tail_norm(&x) + 1e-3 + f64::from(random.unit());
        x
    }

    fn near(a: &Point, b: &Point) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-8 * (1.0 + b.abs()))
    }

    #[test]
    fn scalings_take_both_points_to_the_same_one() {
        let mut random = Random::new(4);
        for _ in 0..100 {
            let (s, z, x) = (inside(&mut random), inside(&mut random), inside(&mut random));
            let scaling = Scaling::new(&s, &z);
            assert!(near(&scaling.forward(&z), &scaling.backward(&s)));
            assert!(near(&scaling.forward(&scaling.backward(&x)), &x));
            let squared = scaling.inverse_square().map(|row| dot(&row, &x));
            assert!(near(&squared, &scaling.backward(&scaling.backward(&x))));
            assert!(near(&product(&s, &quotient(&s, &x)), &x));
        }
    }

    #[test]
    fn the_longest_step_ends_on_the_boundary() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let x = inside(&mut random);
            let d: Point = std::array::from_fn(|_| 4.0 * f64::from(random.signed()));
            let at = |step: f64| margin(&std::array::from_fn(|i| x[i] + step * d[i]));
            let step = longest_step(&x, &d, 1.0);
            assert!(at(0.999_999 * step) > 0.0, "{step}");
            assert!(step == 1.0 || at(1.000_001 * step) < 0.0, "{step}");
        }
    }
}
