/// A complex number, as far as a polynomial's roots need it.
#[derive(Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn times(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn minus(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }

    fn over(self, other: Self) -> Self {
        let square = other.re * other.re + other.im * other.im;
        Self {
            re: (self.re * other.re + self.im * other.im) / square,
            im: (self.im * other.re - self.re * other.im) / square,
        }
    }
}

/// Real roots of `x⁴ + a x³ + b x² + c x + d`, double ones twice, by simultaneous iteration (Aberth 1973). Roots whose
/// imaginary part is within rounding of a double root count as real. The second value is how many there are.
pub fn real_roots(coefficients: [f64; 4]) -> ([f64; 4], usize) {
    let [a, b, c, d] = coefficients;
    let none = ([0.0; 4], 0);
    if !coefficients.iter().all(|value| value.is_finite()) {
        return none;
    }
    // Roots of x⁴ + … lie within twice this of zero (Fujiwara's bound); in its units coefficients are at most 1.
    let unit = a.abs().max(b.abs().sqrt()).max(c.abs().cbrt()).max(d.abs().powf(0.25));
    if unit == 0.0 {
        return ([0.0; 4], 4);
    }
    let scaled = [a / unit, b / unit / unit, c / unit / unit / unit, d / unit / unit / unit / unit];
    let roots = aberth(scaled);
    let (mut found, mut count) = ([0.0; 4], 0);
    for root in roots {
        if root.im.abs() <= 1.0e-5 * (root.re.abs() + 1.0e-12) + 1.0e-14 {
            found[count] = root.re * unit;
            count += 1;
        }
    }
    (found, count)
}

fn aberth(coefficients: [f64; 4]) -> [Complex; 4] {
    let [a, b, c, d] = coefficients;
    let mut roots = [(0.9, 0.4), (-0.5, 1.1), (-0.7, -0.8), (0.6, -1.2)].map(|(re, im)| Complex { re, im });
    for _ in 0..60 {
        let mut largest = 0.0_f64;
        for index in 0..4 {
            let x = roots[index];
            // Horner's scheme for the value and the slope.
            let (mut value, mut slope) = (Complex { re: 1.0, im: 0.0 }, Complex { re: 0.0, im: 0.0 });
            for coefficient in [a, b, c, d] {
                slope = slope.times(x);
                slope = Complex { re: slope.re + value.re, im: slope.im + value.im };
                value = value.times(x);
                value.re += coefficient;
            }
            if value.re == 0.0 && value.im == 0.0 {
                continue;
            }
            let newton = value.over(slope);
            let mut repulsion = Complex { re: 0.0, im: 0.0 };
            for (other, root) in roots.iter().enumerate() {
                let apart = x.minus(*root);
                if other != index && (apart.re != 0.0 || apart.im != 0.0) {
                    let inverse = Complex { re: 1.0, im: 0.0 }.over(apart);
                    repulsion = Complex { re: repulsion.re + inverse.re, im: repulsion.im + inverse.im };
                }
            }
            let damping = Complex { re: 1.0, im: 0.0 }.minus(newton.times(repulsion));
            let step = newton.over(damping);
            if !(step.re.is_finite() && step.im.is_finite()) {
                continue;
            }
            roots[index] = x.minus(step);
            largest = largest.max(step.re.hypot(step.im) / (x.re.hypot(x.im) + 1.0e-300));
        }
        // The iteration is cubic: the next step would be below rounding.
        if largest < 1.0e-6 {
            break;
        }
    }
    roots
}
