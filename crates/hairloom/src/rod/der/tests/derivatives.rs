use super::case::{ANGLES, Case, assert_close, differences};
use crate::math::{Random, Vector3, solve_positive};
use crate::rod::der::{
    Bend, BendMeasure, Edge, EdgePair, HalfSine, HalfTangent, Measure, PairEdge, Stretch, StretchMeasure,
};

const MEASURES: [Measure; 2] = [Measure::HalfSine, Measure::HalfTangent];
/// Of finite differences; lengths are about one, and the sharpest feature measures 0.05.
const STEP: f64 = 2e-4;

/// Runs a check on every measure and angle, on several random cases.
fn for_all(check: impl Fn(Measure, &Case, &str)) {
    for measure in MEASURES {
        let mut random = Random::new(11);
        for angle in ANGLES {
            for round in 0..20 {
                let case = Case::new(&mut random, angle);
                check(measure, &case, &format!("{measure:?} at {angle}, case {round}"));
            }
        }
    }
}

fn flat<const N: usize>(matrix: [[f64; N]; N]) -> Vec<f64> {
    matrix.into_iter().flatten().collect()
}

#[test]
fn gradients_in_edges_and_twists_are_finite_differences_of_the_energy() {
    for_all(|measure, case, what| {
        let expected = differences(STEP, |step: [f64; 8]| [case.stepped(step).energy(measure)]);
        let found = case.gradient_from(measure, case);
        assert_close(&found, &expected.map(|[value]| value), 1e-8, what);
        let (energy, torque) = case.bend.gradient(measure, case.frames[0], case.frames[1]);
        let bending = case.bend.gauss_newton(measure, case.frames[0], case.frames[1]);
        assert_eq!(torque, bending.torque);
        assert_eq!(energy, bending.energy);
        assert!((energy - case.energy(measure)).abs() < 1e-12 * energy.max(1e-3));
    });
}

#[test]
fn gradients_away_from_the_base_point_need_holonomy() {
    let step = [0.3, -0.2, 0.4, 0.5, -0.1, 0.3, 0.2, -0.6];
    for_all(|measure, case, what| {
        let moved = case.stepped(step);
        // The step may end in a sharper fold than any of the angles: leave those out.
        let [a, b] = moved.pair();
        if a.tangent.dot(b.tangent) < -0.99 {
            return;
        }
        let expected = differences(STEP, |delta: [f64; 8]| {
            [case.stepped(std::array::from_fn(|index| step[index] + delta[index])).energy(measure)]
        });
        assert_close(&moved.gradient_from(measure, case), &expected.map(|[value]| value), 1e-8, what);
    });
}

#[test]
fn exact_hessians_are_finite_differences_of_the_gradient() {
    for_all(|measure, case, what| {
        let [a, b] = case.pair();
        let bending = case.bend.exact(measure, case.frames[0], case.frames[1]);
        let found = bending.exact_hessian(a, b).edges_and_twists();
        let expected = differences(STEP, |step: [f64; 8]| case.stepped(step).gradient_from(measure, case));
        assert_close(&flat(found), &flat(expected), 1e-7, what);
    });
}

#[test]
fn gauss_newton_hessians_are_squares_of_the_strain_jacobian() {
    for_all(|measure, case, what| {
        let [a, b] = case.pair();
        let jacobian = differences(STEP, |step: [f64; 8]| {
            let moved = case.stepped(step);
            measure.strain(moved.frames[0].to(moved.frames[1])).to_array()
        });
        let stiffness = case.bend.stiffness.to_array();
        let expected: [[f64; 8]; 8] = std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                (0..3).map(|k| jacobian[row][k] * stiffness[k] * jacobian[column][k]).sum()
            })
        });
        let bending = case.bend.gauss_newton(measure, case.frames[0], case.frames[1]);
        let found = bending.gauss_newton_hessian(a, b).edges_and_twists();
        assert_close(&flat(found), &flat(expected), 1e-8, what);

        // Positive semi-definite: with a little on the diagonal every system is solved downhill.
        let largest = (0..8).map(|row| found[row][row]).fold(0.0, f64::max);
        let mut lifted = found;
        (0..8).for_each(|row| lifted[row][row] += 1e-9 * largest);
        let right = case.gradient_from(measure, case);
        let step = solve_positive(lifted, right);
        let downhill: f64 = (0..8).map(|row| step[row] * right[row]).sum();
        assert!(downhill >= 0.0, "{what}");
        for direction in 0..8u32 {
            let vector: [f64; 8] =
                std::array::from_fn(|row| (f64::from(direction) * 1.7 + row as f64 * 2.3).sin());
            let image: f64 = (0..8)
                .flat_map(|i| (0..8).map(move |j| (i, j)))
                .map(|(i, j)| vector[i] * found[i][j] * vector[j])
                .sum();
            assert!(image >= -1e-13 * largest, "{what}: {image}");
        }
    });
}

#[test]
fn expansions_to_vertices_are_finite_differences_too() {
    // Vertices x₀ x₁ x₂ and twists, in the order x₀ θ₀ x₁ θ₁ x₂.
    let edges = |v: [f64; 11]| {
        [v[4] - v[0], v[5] - v[1], v[6] - v[2], v[3], v[8] - v[4], v[9] - v[5], v[10] - v[6], v[7]]
    };
    for_all(|measure, case, what| {
        let [a, b] = case.pair();
        let bending = case.bend.exact(measure, case.frames[0], case.frames[1]);
        let gradient = bending.gradient(a, b).vertices_and_twists();
        let expected = differences(STEP, |step: [f64; 11]| [case.stepped(edges(step)).energy(measure)]);
        assert_close(&gradient, &expected.map(|[value]| value), 1e-8, what);

        let found = bending.exact_hessian(a, b).vertices_and_twists();
        let columns = differences(STEP, |step: [f64; 11]| {
            let [a, b, c, d, e, f, g, h] = case.stepped(edges(step)).gradient_from(measure, case);
            [-a, -b, -c, d, a - e, b - f, c - g, h, e, f, g]
        });
        assert_close(&flat(found), &flat(columns), 1e-7, what);
    });
}

#[test]
fn twist_derivatives_are_those_of_the_whole() {
    for_all(|measure, case, what| {
        let [a, b] = case.pair();
        for exact in [false, true] {
            let [frame_a, frame_b] = case.frames;
            let (bending, whole, twists) = if exact {
                let bending = case.bend.exact(measure, frame_a, frame_b);
                (bending, bending.exact_hessian(a, b), bending.exact_twists(a, b))
            } else {
                let bending = case.bend.gauss_newton(measure, frame_a, frame_b);
                (bending, bending.gauss_newton_hessian(a, b), bending.gauss_newton_twists(a, b))
            };
            let gradient = bending.gradient(a, b);
            assert_close(&twists.gradient, &[gradient.a[3], gradient.b[3]], 1e-12, what);
            assert_close(&twists.hessian, &[whole.aa[3][3], whole.ab[3][3], whole.bb[3][3]], 1e-10, what);
        }
    });
}

#[test]
fn stretching_is_its_finite_differences_and_both_measures_agree() {
    let stretch = Stretch { rest_length: 0.8, stiffness: 3.0 };
    let direction = Vector3::new(0.6, -0.48, 0.64);
    for measure in [StretchMeasure::Linear, StretchMeasure::Quadratic] {
        for ratio in [0.5, 0.9, 1.0, 1.0001, 1.7] {
            let vector = direction * (0.8 * ratio);
            let at = |step: [f64; 3]| Edge::new(vector + Vector3::new(step[0], step[1], step[2]));
            let exact = stretch.exact(measure, at([0.0; 3]));
            let gradient = differences(1e-4, |step: [f64; 3]| [stretch.exact(measure, at(step)).energy]);
            for (found, [expected]) in exact.gradient(at([0.0; 3])).to_array().into_iter().zip(gradient) {
                assert!((found - expected).abs() < 1e-10, "{measure:?} {ratio}: {found} {expected}");
            }
            let hessian = differences(1e-4, |step: [f64; 3]| {
                stretch.exact(measure, at(step)).gradient(at(step)).to_array()
            });
            let mut block = [[0.0; 4]; 4];
            exact.add_hessian(at([0.0; 3]), &mut block);
            for row in 0..3 {
                assert_close(&block[row][..3], &hessian[row], 1e-8, "stretch");
            }
            let positive = exact.positive();
            assert!(positive.along >= 0.0 && positive.across >= 0.0 && positive.tension == exact.tension);
            let gauss_newton = stretch.gauss_newton(measure, at([0.0; 3]));
            assert_eq!(gauss_newton.across, 0.0);
            let slope = differences(1e-4, |[step]: [f64; 1]| {
                let energy = stretch.exact(measure, Edge::new(direction * (0.8 * ratio + step))).energy;
                [(2.0 * energy / (3.0 * 0.8)).sqrt()]
            });
            if (ratio - 1.0f64).abs() > 1e-2 {
                assert!((gauss_newton.along - 3.0 * 0.8 * slope[0][0] * slope[0][0]).abs() < 1e-8);
            }
        }
    }
    let edge = Edge::new(direction * (0.8 * 1.000_01));
    let [linear, quadratic] =
        [StretchMeasure::Linear, StretchMeasure::Quadratic].map(|m| stretch.exact(m, edge));
    assert!((linear.tension / quadratic.tension - 1.0).abs() < 2e-5);
    assert!((linear.energy / (0.5 * 3.0 * 0.8 * 1e-10) - 1.0).abs() < 1e-9);
}

#[test]
fn edge_pairs_are_bending_and_shares_of_stretching() {
    for_all(|measure, case, what| {
        let stretch =
            [Stretch { rest_length: 0.9, stiffness: 2.0 }, Stretch { rest_length: 1.3, stiffness: 2.0 }];
        let shares = [0.5, 1.0];
        let pair_at = |case: &Case| {
            let [a, b]: [PairEdge<f64>; 2] = std::array::from_fn(|index| PairEdge {
                edge: Edge::new(case.edges[index]),
                frame: case.frames[index],
                stretch: stretch[index],
                share: shares[index],
            });
            EdgePair::gauss_newton(measure, StretchMeasure::Quadratic, &case.bend, &a, &b)
        };
        let place = |v: [f64; 6]| [v[0], v[1], v[2], 0.0, v[3], v[4], v[5], 0.0];
        let expected = differences(STEP, |step: [f64; 6]| [pair_at(&case.stepped(place(step))).energy]);
        let pair = pair_at(case);
        assert_close(&pair.gradient.edges(), &expected.map(|[value]| value), 1e-8, what);

        // The local solve finds a direction that lowers the energy.
        let mut hessian = pair.hessian.edges();
        let largest = (0..6).map(|row| hessian[row][row]).fold(0.0, f64::max);
        (0..6).for_each(|row| hessian[row][row] += 1e-3 * largest);
        let step = solve_positive(hessian, pair.gradient.edges());
        let size = 1e-3 / step.iter().fold(1e-12f64, |most, value| most.max(value.abs())).max(1e-3);
        let lower = pair_at(&case.stepped(place(step.map(|value| -size * value)))).energy;
        assert!(lower < pair.energy, "{what}: {lower} is not below {}", pair.energy);
    });
}

#[test]
fn one_measure_chosen_at_run_time_is_that_measure() {
    let case = Case::new(&mut Random::new(3), 1.2);
    let [a, b] = case.frames;
    let same = |bend: &Bend<f64>| {
        assert_eq!(bend.exact(Measure::HalfSine, a, b), bend.exact(HalfSine, a, b));
        assert_eq!(bend.exact(Measure::HalfTangent, a, b), bend.exact(HalfTangent, a, b));
        assert_ne!(bend.exact(HalfTangent, a, b), bend.exact(HalfSine, a, b));
    };
    same(&case.bend);
}
