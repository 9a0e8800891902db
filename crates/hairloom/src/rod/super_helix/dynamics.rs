use glam::{DMat3, DVec3, DVec4};

use super::chain::Place;
use super::{Chain, Root, Twist};
use crate::math::dense::{cholesky, cholesky_solve};

/// Points and weights of Gauss–Legendre on the interval from 0 to 1.
const GAUSS: [(f64, f64); 5] = [
    (0.046_910_077_030_668_0, 0.118_463_442_528_094_5),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_24),
    (0.5, 0.284_444_444_444_444_4),
    (0.769_234_655_052_841_5, 0.239_314_335_249_683_24),
    (0.953_089_922_969_332, 0.118_463_442_528_094_5),
];
/// How far one panel of the integration turns at rest, at most [rad].
const PANEL_TURN: f64 = 1.5;
const MOST_PANELS: f64 = 64.0;

/// What stays constant of a super-helix.
#[derive(Debug, Clone, PartialEq)]
pub struct Rod {
    /// Length of each element [m].
    pub lengths: Vec<f64>,
    /// Natural curvatures of each element [1/m].
    pub rest: Vec<DVec3>,
    /// Stiffness against bending about the two directors, and against twisting [N m²].
    pub stiffness: DVec3,
    /// Mass per length [kg/m].
    pub mass_per_length: f64,
    /// Rotational inertia about the tangent per length [kg m].
    pub spin_inertia: f64,
}

/// What acts on a rod from outside.
pub struct Forces<'a> {
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Rate at which the rod takes on the velocity of the air [1/s].
    pub drag: f64,
    /// Velocity of the air at a point [m/s].
    pub wind: &'a dyn Fn(DVec3) -> DVec3,
    /// Springs that pull at points.
    pub pulls: &'a [Pull],
}

/// A spring that pulls at one point of a rod.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pull {
    /// Where, from the root [m].
    pub arc: f64,
    /// Where to, in the world [m].
    pub target: DVec3,
    /// Stiffness [N/m].
    pub stiffness: f64,
}

/// Around what a step is linearised.
#[derive(Debug, Clone)]
pub struct Middle {
    /// The root in the middle of the step.
    pub root: Root,
    /// How the root moves before the step.
    pub before: Twist,
    /// How the root moves during the step.
    pub during: Twist,
    /// Curvatures in the middle of the step, as far as known [1/m].
    pub curvatures: Vec<DVec3>,
    /// Rates of the curvatures in the middle of the step, as far as known [1/(m s)].
    pub rates: Vec<DVec3>,
    /// How the rod's mass moves before the step, as [`Rod::field`] gave it: then momentum is handed on point by point,
    /// which can only lose energy, at any step. Otherwise the convective terms do that, to second order for short steps.
    pub field: Option<Vec<DVec4>>,
}

/// One step, linear in the rates at its end: `M v = f`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// Symmetric positive definite, row-major.
    pub mass: Vec<f64>,
    /// The impulse.
    pub impulse: Vec<f64>,
}

impl Linear {
    /// The rates without anything else acting; none where the matrix is not positive definite.
    pub fn solved(mut self) -> Option<Vec<f64>> {
        cholesky(&mut self.mass, self.impulse.len()).then(|| {
            cholesky_solve(&self.mass, &mut self.impulse);
            self.impulse
        })
    }
}

impl Rod {
    /// How many elements there are.
    pub fn elements(&self) -> usize {
        self.lengths.len()
    }

    /// The whole length [m].
    pub fn length(&self) -> f64 {
        self.lengths.iter().sum()
    }

    /// Calls `visit` with places along the rod and the lengths that they stand for [m]: the same in every shape.
    pub(super) fn integrate(&self, mut visit: impl FnMut(Place, f64)) {
        for (element, &length) in self.lengths.iter().enumerate() {
            let turn = self.rest[element].length() * length;
            let panels = (1.0 + turn / PANEL_TURN).floor().clamp(1.0, MOST_PANELS);
            let width = length / panels;
            for panel in 0..panels as u32 {
                for (point, weight) in GAUSS {
                    let along = width * (f64::from(panel) + point);
                    visit(Place { element, along }, width * weight);
                }
            }
        }
    }

    /// The step of `dt` from `curvatures` and `rates`, around `middle`, by the θ-scheme: elasticity counts at θ of the step.
    pub fn linearised(
        &self,
        (curvatures, rates): (&[DVec3], &[DVec3]),
        middle: &Middle,
        forces: &Forces<'_>,
        (dt, theta): (f64, f64),
    ) -> (Chain, Linear) {
        let chain = Chain::new(middle.root, &self.lengths, &middle.curvatures);
        let bias = chain.bias(&middle.rates, &middle.during);
        let mut field = middle.field.iter().flatten();
        let freedom = chain.freedom();
        let mut mass = vec![0.0; freedom * freedom];
        let mut impulse = vec![0.0; freedom];
        let mut blocks: Vec<DMat3> = Vec::with_capacity(self.elements());
        self.integrate(|place, length| {
            let weight = self.mass_per_length * length;
            let point = chain.position_at(place);
            blocks.clear();
            blocks.extend((0..=place.element).map(|by| chain.moving(by, place, point)));
            let new = chain.carried(&middle.during, point);
            let mut push = dt * forces.gravity - new;
            let handed = field.next().copied();
            push += handed.map(DVec4::truncate).unwrap_or_else(|| {
                let own: DVec3 = blocks.iter().zip(rates).map(|(block, rate)| *block * *rate).sum();
                let convective = chain.bias_at(place, middle.rates[place.element], &bias[place.element]);
                own + chain.carried(&middle.before, point) - dt * convective
            });
            if forces.drag > 0.0 {
                push += dt * forces.drag * ((forces.wind)(point) - new);
            }
            add_products(&mut mass, freedom, &blocks, weight * (1.0 + dt * forces.drag));
            add_push(&mut impulse, &blocks, weight * push);
            let rows = spin_rows(&chain, place);
            let spin = |twist: &Twist| rows.1.dot(twist.spin);
            let own = || spin(&middle.before) + dot(&rows.0, rates);
            let push = handed.map_or_else(own, |handed| handed.w) - spin(&middle.during);
            add_spin(&mut mass, &mut impulse, &rows.0, self.spin_inertia * length, push);
        });
        for pull in forces.pulls {
            let place = chain.place(pull.arc);
            let point = chain.position_at(place);
            blocks.clear();
            blocks.extend((0..=place.element).map(|by| chain.moving(by, place, point)));
            let mut gap = pull.target - point - 0.5 * dt * chain.carried(&middle.during, point);
            // The middle is on its way already: what it has come is counted again by the new rates.
            for (element, block) in blocks.iter().enumerate() {
                let come = middle.curvatures[element] - curvatures[element];
                gap += *block * (come - (1.0 - theta) * dt * rates[element]);
            }
            add_products(&mut mass, freedom, &blocks, theta * dt * dt * pull.stiffness);
            add_push(&mut impulse, &blocks, dt * pull.stiffness * gap);
        }
        for (element, &length) in self.lengths.iter().enumerate() {
            let bent = curvatures[element] - self.rest[element] + theta * (1.0 - theta) * dt * rates[element];
            for axis in 0..3 {
                let (row, stiffness) = (3 * element + axis, length * self.stiffness[axis]);
                mass[row * freedom + row] += theta * theta * dt * dt * stiffness;
                impulse[row] -= dt * stiffness * bent[axis];
            }
        }
        mirror(&mut mass, freedom);
        (chain, Linear { mass, impulse })
    }

    /// How the rod's mass moves in a shape, with rates of the curvatures and a moving root: velocities [m/s], and spins about the
    /// tangent [rad/s].
    pub fn field(&self, chain: &Chain, rates: &[DVec3], root: &Twist) -> Vec<DVec4> {
        let mut field = Vec::new();
        self.integrate(|place, _| field.push(motion_at(chain, place, rates, root)));
        field
    }

    /// Energy of motion in a shape, with rates of the curvatures and a moving root [J].
    pub fn kinetic_energy(&self, chain: &Chain, rates: &[DVec3], root: &Twist) -> f64 {
        let mut sum = 0.0;
        self.integrate(|place, length| {
            let motion = motion_at(chain, place, rates, root);
            let speed = motion.truncate().length_squared();
            sum += 0.5 * length * (self.mass_per_length * speed + self.spin_inertia * motion.w * motion.w);
        });
        sum
    }

    /// Energy of height over the origin, along gravity [J].
    pub fn gravity_energy(&self, chain: &Chain, gravity: DVec3) -> f64 {
        let mut sum = 0.0;
        self.integrate(|place, length| {
            sum -= self.mass_per_length * length * gravity.dot(chain.position_at(place));
        });
        sum
    }

    /// Energy of bending and twisting [J].
    pub fn elastic_energy(&self, curvatures: &[DVec3]) -> f64 {
        let bent = curvatures.iter().zip(&self.rest).map(|(now, rest)| *now - *rest);
        let squares = bent.map(|bent| (self.stiffness * bent).dot(bent));
        squares.zip(&self.lengths).map(|(square, length)| 0.5 * length * square).sum()
    }
}

/// Velocity [m/s] and spin about the tangent [rad/s] at a place.
fn motion_at(chain: &Chain, place: Place, rates: &[DVec3], root: &Twist) -> DVec4 {
    let point = chain.position_at(place);
    let velocity = chain.carried(root, point) + chain.velocity_at(place, point, rates);
    let (rows, tangent) = spin_rows(chain, place);
    velocity.extend(tangent.dot(root.spin) + dot(&rows, rates))
}

fn dot(rows: &[DVec3], rates: &[DVec3]) -> f64 {
    rows.iter().zip(rates).map(|(row, rate)| row.dot(*rate)).sum()
}

/// How rates of the curvatures spin the rod about its tangent at a place, and the tangent.
fn spin_rows(chain: &Chain, place: Place) -> (Vec<DVec3>, DVec3) {
    let helix = chain.helix(place.element);
    let tangent = chain.rotation(place.element) * (helix.rotation(place.along) * DVec3::Z);
    let turning = |by: usize| {
        if by < place.element { chain.turning(by) } else { chain.rotation(by) * helix.turning(place.along) }
    };
    ((0..=place.element).map(|by| turning(by).transpose() * tangent).collect(), tangent)
}

/// Adds the inertia of spinning about the tangent to the lower triangle, and what the spin was to the impulse.
fn add_spin(mass: &mut [f64], impulse: &mut [f64], rows: &[DVec3], weight: f64, spin: f64) {
    let freedom = impulse.len();
    for (a, first) in rows.iter().enumerate() {
        for axis in 0..3 {
            impulse[3 * a + axis] += weight * spin * first[axis];
            let start = (3 * a + axis) * freedom;
            let sums = mass[start..start + 3 * (a + 1)].chunks_exact_mut(3);
            for (sums, second) in sums.zip(rows) {
                let added = weight * first[axis] * *second;
                sums.iter_mut().zip(added.to_array()).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

/// Adds `weight JᵀJ` to the lower triangle.
fn add_products(mass: &mut [f64], freedom: usize, blocks: &[DMat3], weight: f64) {
    for (a, first) in blocks.iter().enumerate() {
        let first = first.transpose() * weight;
        for (b, second) in blocks[..=a].iter().enumerate() {
            let product = first * *second;
            for column in 0..3 {
                let values = product.col(column);
                for axis in 0..3 {
                    mass[(3 * a + axis) * freedom + 3 * b + column] += values[axis];
                }
            }
        }
    }
}

/// Adds `Jᵀ push`.
fn add_push(impulse: &mut [f64], blocks: &[DMat3], push: DVec3) {
    for (by, block) in blocks.iter().enumerate() {
        let value = block.transpose() * push;
        impulse[3 * by..3 * by + 3].iter_mut().zip(value.to_array()).for_each(|(sum, value)| *sum += value);
    }
}

/// Copies the lower triangle to the upper one.
fn mirror(matrix: &mut [f64], size: usize) {
    for row in 0..size {
        for column in 0..row {
            matrix[column * size + row] = matrix[row * size + column];
        }
    }
}
