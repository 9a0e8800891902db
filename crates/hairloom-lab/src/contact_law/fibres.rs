use glam::DVec3;
use hairloom::contact::nsgs::{FullProblem, JacobianBlock};
use hairloom::math::Random;

/// Degrees of freedom of a fibre.
const FREEDOM: usize = 16;

/// A problem like those of hair: fibres of 16 degrees of freedom in a row, soft and stiff ones, each in contact with those
/// near it, pressed together and dragged along.
pub(crate) fn fibres(seed: u64, count: usize, contacts: usize, friction: f64) -> FullProblem {
    let mut random = Random::new(seed);
    let mut signed = move || 2.0 * random.unit_f64() - 1.0;
    let mut full = FullProblem::default();
    for _ in 0..count {
        // A diagonal over two decades, and a coupling along the fibre.
        let mut mass = vec![0.0; FREEDOM * FREEDOM];
        for i in 0..FREEDOM {
            mass[i * FREEDOM + i] = 10.0_f64.powf(-1.0 + 2.0 * i as f64 / FREEDOM as f64);
            if i > 0 {
                let coupling =
                    0.3 * signed() * (mass[i * FREEDOM + i] * mass[(i - 1) * (FREEDOM + 1)]).sqrt();
                mass[i * FREEDOM + i - 1] = coupling;
                mass[(i - 1) * FREEDOM + i] = coupling;
            }
        }
        full.masses.push(mass);
        full.impulses.push((0..FREEDOM).map(|_| signed()).collect());
    }
    for contact in 0..contacts {
        let first = contact * count / contacts;
        let second = (first + 1 + contact % 3) % count;
        for object in [Some(first), Some(second).filter(|&second| second != first)].into_iter().flatten() {
            let values = (0..3 * FREEDOM).map(|_| signed()).collect();
            full.jacobian.push(JacobianBlock { contact, object, values });
        }
        full.offset.push(DVec3::new(-1.0 + signed(), signed(), signed()));
        full.friction.push(friction);
    }
    full
}
