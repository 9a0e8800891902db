//! The third and the fourth stage: moments that keep every segment from turning, and the rotations over the joints at rest that make
//! them (sections 3.2.3 and 3.2.4 of Hsu et al. 2023).
//!
//! Segments feel the torque f × e of their forces, and every joint turns the segment behind it by M and the one before by −M. Along the
//! axes of the world the block tridiagonal system of equation 16 is a chain: M = M' − f × e, from a free end on.

use glam::{DMat3, DQuat, DVec3};

use super::law::{Joint, Law, cross, outer};

/// How much stiffer joints are than stability needs.
pub(super) const SAFETY: f64 = 1.1;

/// How many times the factor that all joints would need fewer joints may have.
const MUCH_LARGER: f64 = 1.5;

/// A strand that is held at its start: its first joint hangs on a clamp, its last segment ends free.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// Frame of the clamp.
    pub clamp: DQuat,
    /// Frames of the segments.
    pub frames: Vec<DQuat>,
    /// Edges [m].
    pub edges: Vec<DVec3>,
    /// Forces on the ends towards the tip [N].
    pub forces: Vec<DVec3>,
    /// The joint before each segment.
    pub laws: Vec<Law>,
}

/// Joints that hold a chain.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Joints {
    /// Rotations over the joints at rest.
    pub rests: Vec<DQuat>,
    /// Factors on the stiffnesses.
    pub stiffening: Vec<f64>,
    /// The factor that would keep the chain in its equilibrium if all joints had it; 1 where none is needed.
    pub stability: f64,
}

impl Chain {
    /// The moments of the joints on the segments behind them [N m].
    pub(super) fn moments(&self) -> Vec<DVec3> {
        let mut moments = vec![DVec3::ZERO; self.edges.len()];
        let mut behind = DVec3::ZERO;
        for (segment, moment) in moments.iter_mut().enumerate().rev() {
            behind -= self.forces[segment].cross(self.edges[segment]);
            *moment = behind;
        }
        moments
    }

    fn before(&self, segment: usize) -> DQuat {
        if segment == 0 { self.clamp } else { self.frames[segment - 1] }
    }

    fn joint(&self, segment: usize, moment: DVec3) -> Joint {
        Joint { before: self.before(segment), behind: self.frames[segment], moment }
    }

    /// Joints that make the moments, stiffened where equation 18 or stability asks for it.
    pub(super) fn joints(&self) -> Joints {
        let moments = self.moments();
        let joints: Vec<Joint> =
            moments.iter().enumerate().map(|(segment, &moment)| self.joint(segment, moment)).collect();
        let needed: Vec<f64> = self.laws.iter().zip(&joints).map(|(law, joint)| law.needed(joint)).collect();
        // A tenth less must be stable, too: at the very bound hair has no stiffness left.
        let stable = |factor: f64| {
            let factors: Vec<f64> = needed.iter().map(|needed| needed.max(factor) / SAFETY).collect();
            self.is_stable(&joints, &factors)
        };
        let stability = least_stable(stable);
        let stiffening = if stability > 1.0 { self.stiffened(&joints, &needed, stability) } else { needed };
        let laws = self.laws.iter().zip(&joints).zip(&stiffening);
        let rests = laws.map(|((law, joint), &factor)| law.rest(joint, factor)).collect();
        Joints { rests, stiffening, stability }
    }

    /// Factors that make the chain stable: one for all joints from the root to where what lies behind stays in place by itself, or farther
    /// where that one would have to be much larger than the factor that all joints would need.
    fn stiffened(&self, joints: &[Joint], needed: &[f64], all: f64) -> Vec<f64> {
        let count = needed.len();
        let weakened: Vec<f64> = needed.iter().map(|needed| needed / SAFETY).collect();
        let Some(first) = self.first_unstable(joints, &weakened) else { return needed.to_vec() };
        for quarters in 0..4 {
            let end = first + 1 + (count - 1 - first) * quarters / 4;
            let factors = |factor: f64| -> Vec<f64> {
                let joints = needed.iter().enumerate();
                joints.map(|(joint, &needed)| if joint < end { needed.max(factor) } else { needed }).collect()
            };
            let stable = |factor: f64| {
                let weakened: Vec<f64> = factors(factor).iter().map(|factor| factor / SAFETY).collect();
                self.is_stable(joints, &weakened)
            };
            if stable(MUCH_LARGER * all) {
                return factors(least_stable(stable));
            }
        }
        needed.iter().map(|needed| needed.max(all)).collect()
    }

    /// What is left on the diagonal for a segment, once all behind it is eliminated from the second derivative; `own` is the stiffness of the
    /// joint before it.
    fn block(&self, segment: usize, own: &DMat3, behind: Option<&Behind>) -> DMat3 {
        let (edge, force) = (self.edges[segment], self.forces[segment]);
        let mixed = outer(force, edge);
        let weight = (mixed + mixed.transpose()) * 0.5 - DMat3::from_diagonal(DVec3::splat(force.dot(edge)));
        let mut block = *own + weight;
        if let Some(Behind { inverse, stiffness, moment }) = behind {
            let coupling = (*stiffness + cross(*moment * 0.5)) * -1.0;
            block += *stiffness - coupling * *inverse * coupling.transpose();
        }
        block
    }

    /// Whether the energy of gravity, bending and twisting has a minimum here, for segments that neither stretch nor shear: its second
    /// derivative with respect to turns of the segments is positive definite. With the second derivative H of a joint's energy and its
    /// moment M it is ½ (a − b)ᵀ H (a − b) + ½ M · a × b for turns a before and b behind it, and with the force f of a segment
    /// l (f·ψ d·ψ − f·d |ψ|²) / 2.
    fn is_stable(&self, joints: &[Joint], factors: &[f64]) -> bool {
        self.first_unstable(joints, factors).is_none()
    }

    /// The segment nearest to the tip that would not hold what lies behind it.
    fn first_unstable(&self, joints: &[Joint], factors: &[f64]) -> Option<usize> {
        let mut behind = None;
        // From the tip on, where hair hangs most freely.
        for segment in (0..self.frames.len()).rev() {
            let own = self.laws[segment].stiffness(&joints[segment], factors[segment]);
            let block = self.block(segment, &own, behind.as_ref());
            if !is_positive(&block) {
                return Some(segment);
            }
            let moment = joints[segment].moment;
            behind = Some(Behind { inverse: block.inverse(), stiffness: own, moment });
        }
        None
    }
}

/// The segment behind a joint, and all behind that, eliminated.
struct Behind {
    /// The inverse of its block [1 / (N m)].
    inverse: DMat3,
    /// Stiffness of the joint before it [N m].
    stiffness: DMat3,
    /// Moment of that joint [N m].
    moment: DVec3,
}

/// Whether a symmetric matrix is positive definite.
fn is_positive(m: &DMat3) -> bool {
    let minor = m.x_axis.x * m.y_axis.y - m.y_axis.x * m.y_axis.x;
    m.x_axis.x > 0.0 && minor > 0.0 && m.determinant() > 0.0
}

/// The least factor, up to a twentieth, that is stable; 1 where nothing need be stiffened.
pub(super) fn least_stable(stable: impl Fn(f64) -> bool) -> f64 {
    if stable(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (1.0, 2.0);
    while !stable(high) && high < 1.0e9 {
        (low, high) = (high, high * 2.0);
    }
    while high > 1.05 * low {
        let middle = (low * high).sqrt();
        if stable(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::super::binormal::{Binormal, tests::energy as binormal_energy};
    use super::*;
    use crate::math::{Quaternion, Random, Vector3};
    use crate::rod::cosserat::{BendTwist, Darboux, frames_along};
    use crate::rod::der::{Bend, BendMeasure, Frame, HalfSine};

    const GRAVITY: f64 = 9.81;

    /// A strand of unit mass per length and unit EI through these points, carrying its own weight.
    fn chain(points: &[DVec3]) -> Chain {
        let edges: Vec<DVec3> = points.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let lengths: Vec<f64> = edges.iter().map(|edge| edge.length()).collect();
        let mut forces = vec![DVec3::ZERO; edges.len()];
        let mut carried = DVec3::ZERO;
        for segment in (0..edges.len()).rev() {
            let behind = lengths.get(segment + 1).copied().unwrap_or(0.0);
            carried += DVec3::Y * (GRAVITY * 0.5 * (lengths[segment] + behind));
            forces[segment] = carried;
        }
        let frames = frames_along(points, DQuat::IDENTITY);
        let laws = (0..edges.len())
            .map(|s| Law::Cosserat(2.0 / (lengths[s] + if s == 0 { 0.0 } else { lengths[s - 1] })))
            .collect();
        Chain { clamp: frames[0], frames, edges, forces, laws }
    }

    #[test]
    fn a_pole_that_buckles_under_its_weight_is_stiffened_as_much_as_greenhill_says() {
        // A. G. Greenhill 1881: upright poles buckle where ρ g A L³ / EI exceeds 7.8373.
        for heaviness in [4.0, 6.5, 10.0, 40.0, 200.0f64] {
            let length = (heaviness / GRAVITY).cbrt();
            let points: Vec<DVec3> =
                (0..=60).map(|i| DVec3::new(0.0, length * f64::from(i) / 60.0, 0.0)).collect();
            let Joints { stability, .. } = chain(&points).joints();
            let expected = (SAFETY * heaviness / 7.8373).max(1.0);
            assert!((stability / expected - 1.0).abs() < 0.06, "{heaviness}: {stability} for {expected}");
            let mut elastic = chain(&points);
            for law in &mut elastic.laws {
                let Law::Cosserat(stiffness) = *law else { continue };
                *law = Law::Elastic(DVec3::new(1.0, 1.0, 0.7) * stiffness);
            }
            let Joints { stability, .. } = elastic.joints();
            assert!((stability / expected - 1.0).abs() < 0.06, "{heaviness}: {stability} for {expected}");
        }
    }

    /// The second derivative of a chain's energy with respect to turns of its segments, as one dense matrix.
    fn second_derivative(chain: &Chain, factors: &[f64]) -> Vec<Vec<f64>> {
        let moments = chain.moments();
        let size = 3 * chain.frames.len();
        let mut all = vec![vec![0.0; size]; size];
        let mut add = |row: usize, column: usize, m: DMat3| {
            for i in 0..3 {
                for j in 0..3 {
                    all[3 * row + i][3 * column + j] += m.col(j)[i];
                }
            }
        };
        for s in 0..chain.frames.len() {
            let own = chain.laws[s].stiffness(&chain.joint(s, moments[s]), factors[s]);
            add(s, s, chain.block(s, &own, None));
            if s > 0 {
                add(s - 1, s - 1, own);
                let coupling = (own + cross(moments[s] * 0.5)) * -1.0;
                add(s - 1, s, coupling);
                add(s, s - 1, coupling.transpose());
            }
        }
        all
    }

    /// Whether it has Cholesky factors.
    fn is_convex(chain: &Chain, factors: &[f64]) -> bool {
        let mut all = second_derivative(chain, factors);
        let size = all.len();
        for j in 0..size {
            let known: f64 = (0..j).map(|k| all[j][k] * all[j][k]).sum();
            if all[j][j] <= known {
                return false;
            }
            all[j][j] = (all[j][j] - known).sqrt();
            for i in j + 1..size {
                let known: f64 = (0..j).map(|k| all[i][k] * all[j][k]).sum();
                all[i][j] = (all[i][j] - known) / all[j][j];
            }
        }
        true
    }

    /// Energy of a chain's joints and of the height of what its segments carry, with its segments turned from where they are.
    fn energy(chain: &Chain, joints: &Joints, turns: &[DVec3]) -> f64 {
        let turned = |s: usize| DQuat::from_scaled_axis(turns[s]);
        let frame = |s: usize| turned(s) * chain.frames[s];
        let mut sum = 0.0;
        for s in 0..turns.len() {
            sum += chain.forces[s].dot(turned(s) * chain.edges[s]);
            let (before, behind) = (if s == 0 { chain.clamp } else { frame(s - 1) }, frame(s));
            let (rest, factor) = (joints.rests[s], joints.stiffening[s]);
            let cosserat = |darboux, stiffness: f64| {
                let [before, behind, rest] = [before, behind, rest].map(Quaternion::<f64>::splat);
                BendTwist { before, behind, rest }.energy(darboux, stiffness * factor)
            };
            sum += match chain.laws[s] {
                Law::Cosserat(stiffness) => cosserat(Darboux::Augmented, stiffness),
                Law::Plain(stiffness) => cosserat(Darboux::Plain, stiffness),
                Law::Elastic(stiffness) => {
                    let rest = HalfSine.strain(Quaternion::<f64>::splat(rest));
                    let bend = Bend { rest, stiffness: Vector3::splat(stiffness * factor) };
                    let [before, behind] = [before, behind].map(|q| Frame(Quaternion::splat(q)));
                    bend.energy(HalfSine, before, behind)
                }
                Law::Binormal(law) => {
                    let law = Binormal { bend: law.bend * factor, twist: law.twist * factor };
                    binormal_energy(&law, before, behind, rest)
                }
            };
        }
        sum
    }

    #[test]
    fn the_test_for_stability_is_the_second_derivative_of_the_energy_for_every_law() {
        let mut random = Random::new(17);
        let mut points = vec![DVec3::ZERO];
        let mut direction = DVec3::X;
        for i in 0..5 {
            direction = (direction + random.direction().as_dvec3() * 0.5).normalize();
            points.push(points[i] + direction * 0.12);
        }
        let mut bent = chain(&points);
        // Bent at the clamp, too: straight joints with the plain vector have a kink there, and hold no moment.
        bent.clamp *= DQuat::from_rotation_x(0.4);
        let laws: [fn(f64) -> Law; 4] = [
            Law::Cosserat,
            Law::Plain,
            |stiffness| Law::Elastic(DVec3::new(1.0, 1.4, 0.7) * stiffness),
            |stiffness| Law::Binormal(Binormal { bend: 0.5 * stiffness, twist: 0.7 * stiffness }),
        ];
        for (index, law) in laws.into_iter().enumerate() {
            let mut chain = bent.clone();
            for own in &mut chain.laws {
                let Law::Cosserat(stiffness) = *own else { panic!("made so above") };
                *own = law(stiffness);
            }
            let joints = chain.joints();
            let known = second_derivative(&chain, &joints.stiffening);
            let scale = known.iter().flatten().copied().fold(0.0, f64::max);
            let at = |moves: &[(usize, f64)]| {
                let mut turns = vec![DVec3::ZERO; 5];
                moves.iter().for_each(|&(row, by)| turns[row / 3][row % 3] += by);
                energy(&chain, &joints, &turns)
            };
            let (step, small) = (1e-3, 1e-6);
            for (i, row) in known.iter().enumerate() {
                let slope = (at(&[(i, small)]) - at(&[(i, -small)])) / (2.0 * small);
                assert!(slope.abs() < 1e-7 * scale, "law {index}: slope {slope} along {i}");
                for (j, known) in row.iter().enumerate() {
                    let four = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
                    let sum: f64 =
                        four.iter().map(|&(a, b)| a * b * at(&[(i, a * step), (j, b * step)])).sum();
                    let found = sum / (4.0 * step * step);
                    let error = (found - known).abs() / scale;
                    assert!(error < 1e-4, "law {index}, {i} {j}: {found} for {known}");
                }
            }
        }
    }

    #[test]
    fn poles_are_stiffened_where_they_are_too_weak_and_stand_then() {
        for heaviness in [10.0, 40.0, 200.0f64] {
            let length = (heaviness / GRAVITY).cbrt();
            let points: Vec<DVec3> =
                (0..=40).map(|i| DVec3::new(0.0, length * f64::from(i) / 40.0, 0.0)).collect();
            let pole = chain(&points);
            let factors = pole.joints().stiffening;
            assert!(!is_convex(&pole, &vec![1.0; 40]), "{heaviness}: it falls as it is");
            assert!(is_convex(&pole, &factors), "{heaviness}: it stands");
            // Some of what is short enough to stand by itself, by Greenhill's bound, is left as it is.
            let short = 40.0 * (7.8373 / (SAFETY * heaviness)).cbrt();
            let left = factors.iter().rev().take_while(|&&factor| factor == 1.0).count() as f64;
            assert!(left > 0.2 * short && left < 1.05 * short, "{heaviness}: {left} of {short}");
        }
    }

    #[test]
    fn joints_make_the_moments_that_carry_the_strand() {
        let mut random = Random::new(4);
        let mut points = vec![DVec3::ZERO];
        let mut direction = DVec3::X;
        for i in 0..20 {
            direction = (direction + random.direction().as_dvec3() * 0.4).normalize();
            points.push(points[i] + direction * 0.04);
        }
        let chain = chain(&points);
        let (moments, joints) = (chain.moments(), chain.joints());
        for segment in 0..20 {
            let joint = BendTwist {
                before: Quaternion::<f64>::splat(chain.before(segment)),
                behind: Quaternion::splat(chain.frames[segment]),
                rest: Quaternion::splat(joints.rests[segment]),
            };
            let Law::Cosserat(stiffness) = chain.laws[segment] else { panic!("made so above") };
            let stiffness = stiffness * joints.stiffening[segment];
            let made = joint.pull(Darboux::Augmented) * (2.0 * stiffness);
            let error = (DVec3::from_array(made.to_array()) - moments[segment]).length();
            assert!(error < 1e-12, "{segment}: {error}");
            // The moment carries everything behind it, about the vertex that the segment begins at.
            let weight: DVec3 = (segment..20)
                .map(|s| {
                    let own = chain.forces[s] - chain.forces.get(s + 1).copied().unwrap_or_default();
                    (points[s + 1] - points[segment]).cross(own)
                })
                .sum();
            assert!((moments[segment] - weight).length() < 1e-12, "{segment}");
        }
    }

    #[test]
    fn a_hanging_strand_is_left_as_it_is() {
        let points: Vec<DVec3> = (0..16).map(|i| DVec3::NEG_Y * (0.2 * f64::from(i))).collect();
        let joints = chain(&points).joints();
        assert_eq!((joints.stability, joints.stiffening), (1.0, vec![1.0; 15]));
        assert!(joints.rests.iter().all(|rest| rest.w.abs() > 1.0 - 1e-12));
    }
}
