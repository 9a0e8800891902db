use super::super::hencky::{cayley, compose, eigen, exp_less_one, half_log};
use super::super::material::{Model, Strained, stepped};
use super::*;
use crate::math::lanes::{Kernel, Lane, Row, dispatch};
use crate::math::{Matrix3, Symmetric3, Vector3};

fn entries(m: Symmetric3<f64>) -> [f64; 6] {
    [m.xx, m.xy, m.yy, m.xz, m.yz, m.zz]
}

fn distance(a: Symmetric3<f64>, b: Symmetric3<f64>) -> f64 {
    entries(a - b).iter().fold(0.0, |most, entry| most.max(entry.abs()))
}

/// A symmetric matrix with entries of up to `size`.
fn any(random: &mut Random, size: f64) -> Symmetric3<f64> {
    let [xx, xy, yy, xz, yz, zz] = std::array::from_fn(|_| (2.0 * random.unit_f64() - 1.0) * size);
    Symmetric3 { xx, xy, yy, xz, yz, zz }
}

fn matrix(random: &mut Random, size: f64) -> Matrix3<f64> {
    let mut column = || {
        let [x, y, z] = std::array::from_fn(|_| (2.0 * random.unit_f64() - 1.0) * size);
        Vector3::new(x, y, z)
    };
    Matrix3([column(), column(), column()])
}

#[test]
fn eigenvalues_make_up_their_matrix() {
    let mut random = Random::new(5);
    for size in [1e-8, 1.0, 1e6] {
        for _ in 0..200 {
            let matrix = any(&mut random, size);
            let (values, vectors) = eigen(matrix);
            assert!(distance(compose(values, vectors), matrix) < 1e-14 * size);
            assert!(distance(compose([1.0; 3], vectors), Symmetric3::diagonal(1.0)) < 1e-14);
        }
    }
    assert_eq!(eigen(Symmetric3::diagonal(2.0)).0, [2.0; 3]);
}

#[test]
fn series_are_logarithm_and_exponential() {
    let mut random = Random::new(6);
    for size in [1e-6, 1e-3, 0.1, 0.4] {
        for _ in 0..200 {
            let log = any(&mut random, 0.5 * size);
            let (values, vectors) = eigen(log);
            let strain = compose(values.map(|value| (2.0 * value).exp_m1()), vectors);
            assert!(distance(exp_less_one(log.scaled(2.0)), strain) < 2e-7 * size, "exp at {size}");
            assert!(distance(half_log(cayley(strain)), log) < 1e-7 * size, "log at {size}");
        }
    }
}

#[test]
fn strain_follows_the_deformation() {
    let mut random = Random::new(9);
    for _ in 0..100 {
        let (step, strain) = (matrix(&mut random, 0.3), any(&mut random, 0.3));
        let left = step.add_diagonal(1.0);
        let full = left * strain.add_diagonal(1.0).full() * left.transpose();
        let expected = Symmetric3 {
            xx: full.0[0].x - 1.0,
            xy: full.0[0].y,
            yy: full.0[1].y - 1.0,
            xz: full.0[0].z,
            yz: full.0[1].z,
            zz: full.0[2].z - 1.0,
        };
        assert!(distance(stepped(step, strain), expected) < 1e-14);
    }
}

/// τ : A is the derivative of the energy along F ← (I + s A) F.
#[test]
fn stress_is_the_derivative_of_the_energy() {
    let sand = Sand::default();
    let mut random = Random::new(8);
    let mut checked = 0;
    for size in [1e-3, 0.02, 0.1, 0.3, 0.6] {
        for _ in 0..100 {
            let compressed = any(&mut random, 0.15 * size).add_diagonal(-size);
            let (strain, stress, gain) = sand.settle(compressed, 0.0);
            let direction = matrix(&mut random, 1.0);
            let h = 1e-5;
            let along = |s: f64| {
                let [a, b, c] = direction.0;
                sand.energy(stepped(Matrix3([a * s, b * s, c * s]), strain))
            };
            let slope = (along(h) - along(-h)) / (2.0 * h);
            let full = stress.full();
            let work: f64 = (0..3).map(|k| full.0[k].dot(direction.0[k])).sum();
            assert!((slope - work).abs() < 1e-6 * (work.abs() + 1.2e3 * size), "{slope} {work} at {size}");
            // And the strain belongs to the stress.
            assert!(distance(sand.strain_of(stress), strain) < 1e-12, "at {size}");
            assert_eq!(gain, 0.0);
            checked += 1;
        }
    }
    assert_eq!(checked, 500);
}

/// Eight particles in rows.
#[derive(Default)]
struct Batch {
    gradient: [[Row; 3]; 3],
    strain: [Row; 6],
    gain: Row,
    stress: [Row; 6],
}

struct Advance<'a>(&'a Model, &'a mut Batch);

impl Kernel for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Batch { gradient, strain: [xx, xy, yy, xz, yz, zz], gain, stress } = self.1;
        let gradient = Matrix3(gradient.map(|[x, y, z]| Vector3::new(L::load(&x), L::load(&y), L::load(&z))));
        let strain = Symmetric3 {
            xx: L::load(xx),
            xy: L::load(xy),
            yy: L::load(yy),
            xz: L::load(xz),
            yz: L::load(yz),
            zz: L::load(zz),
        };
        let Strained { strain: b, gain: new_gain, stress: s } =
            self.0.advance::<L>(gradient, L::one(), strain, L::load(gain));
        new_gain.store(gain);
        let rows = [xx, xy, yy, xz, yz, zz].into_iter().chain(stress);
        let numbers = [b.xx, b.xy, b.yy, b.xz, b.yz, b.zz, s.xx, s.xy, s.yy, s.xz, s.yz, s.zz];
        rows.zip(numbers).for_each(|(row, number)| number.store(row));
    }
}

fn lane(rows: &[Row; 6], lane: usize) -> Symmetric3<f64> {
    let [xx, xy, yy, xz, yz, zz] = rows.map(|row| f64::from(row.0[lane]));
    Symmetric3 { xx, xy, yy, xz, yz, zz }
}

#[test]
fn lanes_settle_sand_as_eigenvalues_do() {
    let mut random = Random::new(4);
    let sand = Sand::default();
    let model = Model::new(&Material::Sand(sand));
    let (mut open, mut yielding, mut elastic, mut wild) = (0, 0, 0, 0);
    for round in 0..400 {
        let size: f64 = [1e-4, 0.01, 0.1, 0.45][round % 4];
        let mut batch = Batch::default();
        let mut expected = Vec::new();
        for k in 0..8 {
            let pressed = [0.0f64, -size, 0.3 * size, -3.0 * size][random.below(4)].max(-0.8f64);
            let portion = [0.1, 0.5][random.below(2)];
            let shear = any(&mut random, size * portion);
            let strain = narrow(shear.add_diagonal(pressed));
            let step = matrix(&mut random, 0.05 * size);
            let gain = f64::from([0.0, 0.02 * random.unit()][random.below(2)]);
            for (row, value) in batch.strain.iter_mut().zip(entries(strain)) {
                row.0[k] = value as f32;
            }
            let mut rounded = step;
            for (column, rounded) in step.0.iter().zip(&mut rounded.0) {
                let [x, y, z] = column.to_array().map(|value| f64::from(value as f32));
                *rounded = Vector3::new(x, y, z);
            }
            for (rows, column) in batch.gradient.iter_mut().zip(rounded.0) {
                for (row, value) in rows.iter_mut().zip(column.to_array()) {
                    row.0[k] = value as f32;
                }
            }
            batch.gain.0[k] = gain as f32;
            let trial = stepped(rounded, strain);
            wild += usize::from(eigen(trial).0.iter().any(|value| !(-0.7..2.5).contains(value)));
            expected.push((sand.settle(trial, gain), trial));
        }
        dispatch(Advance(&model, &mut batch));
        for (k, ((strain, stress, gain), trial)) in expected.into_iter().enumerate() {
            let found = lane(&batch.stress, k);
            assert!(distance(lane(&batch.strain, k), strain) < 2e-6 * (size + 0.05), "round {round}");
            let scale = 1.2e3 * (size + 0.05);
            assert!(distance(found, stress) < 5e-6 * scale, "round {round}: {found:?} {stress:?}");
            assert!((f64::from(batch.gain.0[k]) - gain).abs() < 1e-6);
            assert!(sand.yield_excess(found) < 3e-6 * scale, "{}", sand.yield_excess(found));
            open += usize::from(gain > 0.0);
            let same = distance(trial, strain) < 1e-9;
            elastic += usize::from(same);
            yielding += usize::from(!same && gain == 0.0);
        }
    }
    assert!(open > 100 && yielding > 100 && elastic > 100 && wild > 20, "{open} {yielding} {elastic} {wild}");
}

fn narrow(m: Symmetric3<f64>) -> Symmetric3<f64> {
    let [xx, xy, yy, xz, yz, zz] = entries(m).map(|value| f64::from(value as f32));
    Symmetric3 { xx, xy, yy, xz, yz, zz }
}

#[test]
fn sand_that_parts_closes_again_without_stress() {
    let sand = Sand::default();
    let (strain, stress, gain) = sand.settle(Symmetric3::diagonal((2.0f64 * 0.1).exp_m1()), 0.0);
    assert_eq!((entries(strain), entries(stress)), ([0.0; 6], [0.0; 6]));
    assert!((gain - 0.3).abs() < 1e-12, "{gain}");
    // Half of the way back there is no stress yet; beyond, as much as if it had never parted.
    let (_, stress, gain) = sand.settle(Symmetric3::diagonal((-2.0f64 * 0.05).exp_m1()), gain);
    assert_eq!(entries(stress), [0.0; 6]);
    let (_, stress, gain) = sand.settle(Symmetric3::diagonal((-2.0f64 * 0.07).exp_m1()), gain);
    let (_, fresh, _) = sand.settle(Symmetric3::diagonal((-2.0f64 * 0.02).exp_m1()), 0.0);
    assert!(distance(stress, fresh) < 1e-9 && fresh.xx < -1.0 && gain == 0.0);
}

#[test]
fn fluid_has_pressure_alone_and_no_tension() {
    let fluid = Fluid { bulk: 1e3, exponent: 7, most_gain: f32::INFINITY };
    let material = Material::Fluid(fluid);
    let h = 1e-3f32;
    let (_, pressed, _) = material.settle(Symmetric3::zero(), -h);
    assert!((pressed.xx + 1e3 * h).abs() < 0.005 * 1e3 * h, "K at rest: {}", pressed.xx);
    assert_eq!((pressed.xx, pressed.xy, pressed.yy), (pressed.zz, 0.0, pressed.xx));
    assert_eq!(material.settle(Symmetric3::zero(), 0.2).1.xx, 0.0);
    let closed = -(0.8f64) * 1e3 / 7.0 * (0.8f64.powi(-7) - 1.0);
    assert!((f64::from(material.settle(Symmetric3::zero(), -0.2).1.yy) - closed).abs() < 1e-5 * closed.abs());
    // Below, pressure goes on along its tangent.
    let beyond = -0.5 * (-closed / 0.8 + 1e3 * 0.8f64.powi(-8) * 0.3);
    assert!((f64::from(material.settle(Symmetric3::zero(), -0.5).1.yy) - beyond).abs() < 1e-5 * beyond.abs());
}
