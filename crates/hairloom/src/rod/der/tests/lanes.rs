use super::case::{ANGLES, Case};
use crate::math::lanes::{Kernel, Lane, Portable, Row, Row3, WIDTH, dispatch};
use crate::math::{Quaternion, Random, Real, Vector3};
use crate::rod::der::{Bend, Edge, EdgePair, Frame, Measure, PairEdge, Stretch, StretchMeasure};

/// Eight pairs of edges in single precision.
#[derive(Default)]
struct Pack {
    edges: [Row3; 2],
    frames: [(Row, Row3); 2],
    rest: Row3,
    stiffness: Row3,
}

/// Everything that one pair answers: energies, gradient, both Hessians, twists, a frame after a step.
const ANSWERS: usize = 2 + 8 + 64 + 64 + 36 + 5 + 4;

fn answers<R: Real>(
    measure: Measure,
    edges: [Vector3<R>; 2],
    frames: [Frame<R>; 2],
    bend: Bend<R>,
) -> [R; ANSWERS] {
    let [a, b] = edges.map(Edge::new);
    let bending = bend.gauss_newton(measure, frames[0], frames[1]);
    let exact = bend.exact(measure, frames[0], frames[1]);
    let member = |edge, frame| PairEdge {
        edge,
        frame,
        stretch: Stretch { rest_length: R::splat(0.9), stiffness: R::splat(2.0) },
        share: R::splat(0.5),
    };
    let (first, second) = (member(a, frames[0]), member(b, frames[1]));
    let pair = EdgePair::gauss_newton(measure, StretchMeasure::Quadratic, &bend, &first, &second);
    let twists = bending.gauss_newton_twists(a, b);
    let moved = a.stepped(Vector3::splat(glam::DVec3::new(0.1, -0.2, 0.15)), R::splat(0.7));
    let carried = frames[0].transported(moved.tangent).turned(R::splat(0.3));

    let mut all = [R::zero(); ANSWERS];
    let values = [bending.energy, pair.energy]
        .into_iter()
        .chain(bending.gradient(a, b).edges_and_twists())
        .chain(bending.gauss_newton_hessian(a, b).edges_and_twists().into_iter().flatten())
        .chain(exact.exact_hessian(a, b).edges_and_twists().into_iter().flatten())
        .chain(pair.hessian.edges().into_iter().flatten())
        .chain(twists.gradient)
        .chain(twists.hessian)
        .chain([carried.0.real])
        .chain(carried.0.imaginary.to_array());
    for (place, value) in all.iter_mut().zip(values) {
        *place = value;
    }
    all
}

struct Probe<'a>(&'a Pack, Measure);

impl Kernel for Probe<'_> {
    type Output = Vec<Row>;

    #[inline(always)]
    fn run<L: Lane>(self) -> Vec<Row> {
        let frame =
            |(real, imaginary): &(Row, Row3)| Frame(Quaternion::new(L::load(real), L::load3(imaginary)));
        let Pack { edges, frames, rest, stiffness } = self.0;
        let bend = Bend { rest: L::load3(rest), stiffness: L::load3(stiffness) };
        let edges = [L::load3(&edges[0]), L::load3(&edges[1])];
        let frames = [frame(&frames[0]), frame(&frames[1])];
        let mut rows = vec![Row::default(); ANSWERS];
        for (row, value) in rows.iter_mut().zip(answers(self.1, edges, frames, bend)) {
            value.store(row);
        }
        rows
    }
}

/// Packs cases and returns what single precision made of them, in double precision.
fn pack(cases: &[Case]) -> (Pack, Vec<Case>) {
    let single = |value: Vector3<f64>| glam::DVec3::from_array(value.to_array()).as_vec3();
    let double = |rows: &Row3, lane: usize| Vector3::splat(rows.get(lane).as_dvec3());
    let mut pack = Pack::default();
    let mut rounded = Vec::new();
    for (lane, case) in cases.iter().enumerate().take(WIDTH) {
        for side in 0..2 {
            pack.edges[side].set(lane, single(case.edges[side]));
            pack.frames[side].0.0[lane] = case.frames[side].0.real as f32;
            pack.frames[side].1.set(lane, single(case.frames[side].0.imaginary));
        }
        pack.rest.set(lane, single(case.bend.rest));
        pack.stiffness.set(lane, single(case.bend.stiffness));
        let frame = |side: usize| {
            let (real, imaginary) = &pack.frames[side];
            Frame(Quaternion::new(f64::from(real.0[lane]), double(imaginary, lane)))
        };
        rounded.push(Case {
            edges: [double(&pack.edges[0], lane), double(&pack.edges[1], lane)],
            frames: [frame(0), frame(1)],
            bend: Bend { rest: double(&pack.rest, lane), stiffness: double(&pack.stiffness, lane) },
        });
    }
    (pack, rounded)
}

#[test]
fn lanes_agree_with_double_precision_to_rounding() {
    let mut random = Random::new(21);
    for measure in [Measure::HalfSine, Measure::HalfTangent] {
        let mut worst = 0.0f64;
        for angle in ANGLES {
            let cases: Vec<_> = (0..WIDTH).map(|_| Case::new(&mut random, angle)).collect();
            let (pack, rounded) = pack(&cases);
            // The half tangent's second derivatives grow like tan⁴, and so do the errors of what they are made of.
            let growth = if measure == Measure::HalfSine { 1.0 } else { (angle / 2.0).tan().max(1.0) };
            for rows in [dispatch(Probe(&pack, measure)), Probe(&pack, measure).run::<Portable>()] {
                for (lane, case) in rounded.iter().enumerate() {
                    let exact = answers(measure, case.edges, case.frames, case.bend);
                    let scale = exact.iter().fold(0.0f64, |scale, value| scale.max(value.abs()));
                    for (index, (row, value)) in rows.iter().zip(exact).enumerate() {
                        let error = (f64::from(row.0[lane]) - value).abs() / (scale * growth);
                        worst = worst.max(error);
                        assert!(
                            error < 2e-6,
                            "{measure:?} at {angle}, answer {index}: {} {value}",
                            row.0[lane]
                        );
                    }
                }
            }
        }
        assert!(worst > 1e-9, "single precision differs from double: {worst}");
    }
}
