//! Super-helices as fibres.

use glam::{DQuat, DVec3, DVec4};

use super::fibre::{Carried, Fibre, FibreStep, Hold, System, Vertices, chord_middle, chord_spin};
use crate::math::dense::{cholesky, cholesky_solve};
use crate::rod::super_helix::{
    Chain, Evenly, Forces, Middle, NEARLY_CLAMPED, Pull, Rod, Root, Twist, fit_evenly, refit,
};
use crate::scene::Model;
use crate::solve::Energy;

/// States nearer to the groom than this are the groom [m].
const SAME: f64 = 1.0e-6;
/// At how many places of each element it is looked how fast that turns: few elements are long, and may turn fastest in their middle.
const LOOKS: usize = 4;

/// A strand as a super-helix, from the last vertex that its body holds on.
pub(super) struct HelixFibre {
    rod: Rod,
    /// Rate at which it takes on the velocity of the air [1/s].
    drag: f64,
    /// Vertices that are held.
    held: usize,
    /// Where each vertex from the last held one on lies along the rod [m].
    arcs: Vec<f64>,
    /// The root's frame as groomed.
    groomed: DQuat,
    misfit: f64,
    /// Curvatures as groomed [1/m].
    fitted: Vec<DVec3>,
    curvatures: Vec<DVec3>,
    rates: Vec<DVec3>,
    root: Root,
    twist: Twist,
    /// Positions of the held vertices but the last [m].
    before: Vec<DVec3>,
    /// How its mass moves, as the last step left it.
    field: Vec<DVec4>,
    /// The shape that the step was linearised around, the root's motion, and the time step [s].
    linear: Option<(Chain, Twist, f64)>,
}

fn vectors(values: &[f64]) -> Vec<DVec3> {
    values.chunks_exact(3).map(DVec3::from_slice).collect()
}

fn numbers(vectors: &[DVec3]) -> Vec<f64> {
    vectors.iter().flat_map(|vector| vector.to_array()).collect()
}

impl HelixFibre {
    /// The fibre of a strand whose first `held` vertices are held, as groomed. At least one vertex is held, and one is not.
    pub(super) fn new(model: &Model, strand: usize, held: usize, elements: usize) -> Self {
        let (range, material) = (model.range(strand), model.material(strand));
        let first = range.start + held - 1;
        let points: Vec<DVec3> = (first..range.end).map(|vertex| model.groomed[vertex].as_dvec3()).collect();
        let Evenly { arcs, lengths, fit: fitted } =
            fit_evenly(&points, &model.rest_lengths[first..range.end - 1], elements);
        let elements = lengths.len();
        let shape = model.rest.as_ref().and_then(|rest| Some((rest, rest.curvatures.get(strand)?)));
        let shape = shape.filter(|(_, curvatures)| curvatures.len() == elements);
        let stiffening = shape.map_or(1.0, |(rest, _)| rest.bend[first]);
        let rod = Rod {
            lengths,
            rest: shape.map_or(&fitted.curvatures, |(_, curvatures)| curvatures).clone(),
            stiffness: DVec3::from_array(material.rod_stiffness()) * stiffening,
            mass_per_length: material.mass_per_length(),
            spin_inertia: material.twisting_inertia(),
        };
        let chain = Chain::new(fitted.root, &rod.lengths, &fitted.curvatures);
        let still = vec![DVec3::ZERO; elements];
        let field = rod.field(&chain, &still, &Twist::default());
        Self {
            rod,
            drag: material.drag,
            held,
            arcs,
            groomed: fitted.root.frame,
            misfit: fitted.largest,
            fitted: fitted.curvatures.clone(),
            rates: still,
            curvatures: fitted.curvatures,
            root: fitted.root,
            twist: Twist::default(),
            before: (range.start..first).map(|vertex| model.groomed[vertex].as_dvec3()).collect(),
            field,
            linear: None,
        }
    }

    fn root_of(&self, hold: &Hold) -> Root {
        let position = hold.positions.last().copied().unwrap_or(self.root.position);
        Root { position, frame: (hold.turn * self.groomed).normalize() }
    }

    fn chain(&self) -> Chain {
        Chain::new(self.root, &self.rod.lengths, &self.curvatures)
    }

    /// Rates that move vertices as nearly as possible with these velocities, beside the root's.
    fn rates_of(&self, velocities: &[DVec3]) -> Vec<DVec3> {
        let (chain, freedom) = (self.chain(), self.freedom());
        let none = vec![DVec3::ZERO; self.rod.elements()];
        if velocities.iter().all(|velocity| *velocity == self.twist.velocity) {
            return none;
        }
        let (mut matrix, mut rates) = (vec![0.0; freedom * freedom], vec![0.0; freedom]);
        for (velocity, &arc) in velocities.iter().zip(&self.arcs) {
            let rows = chain.jacobian(arc);
            for axis in 0..3 {
                let row = &rows[axis * freedom..(axis + 1) * freedom];
                for a in 0..freedom {
                    rates[a] += row[a] * (velocity[axis] - self.twist.velocity[axis]);
                    (0..freedom).for_each(|b| matrix[a * freedom + b] += row[a] * row[b]);
                }
            }
        }
        let trace: f64 = (0..freedom).map(|row| matrix[row * (freedom + 1)]).sum();
        // What moves no vertex does not move.
        (0..freedom).for_each(|row| matrix[row * (freedom + 1)] += 1.0e-8 * trace);
        if !cholesky(&mut matrix, freedom) {
            return none;
        }
        cholesky_solve(&matrix, &mut rates);
        vectors(&rates)
    }

    /// How far along the rod a point of the edge behind a vertex is [m].
    fn arc(&self, vertex: usize, share: f64) -> f64 {
        let place = |vertex: usize| {
            let last = self.arcs.len() - 1;
            if vertex < self.held { 0.0 } else { self.arcs[(vertex + 1 - self.held).min(last)] }
        };
        place(vertex) * (1.0 - share) + place(vertex + 1) * share
    }

    /// How the root moves in a step that ends with it at `end`.
    fn twist_to(&self, end: &Root, dt: f64) -> Twist {
        let mut turn = end.frame * self.root.frame.conjugate();
        if turn.w < 0.0 {
            turn = -turn;
        }
        Twist { velocity: (end.position - self.root.position) / dt, spin: turn.to_scaled_axis() / dt }
    }

    /// The curvatures after a step with these rates.
    fn moved(&self, step: &FibreStep<'_>, rates: &[f64]) -> Vec<DVec3> {
        let (dt, theta) = (step.dt, step.theta);
        let moved = self.curvatures.iter().zip(&self.rates).zip(rates.chunks_exact(3));
        moved
            .map(|((now, old), new)| *now + dt * ((1.0 - theta) * *old + theta * DVec3::from_slice(new)))
            .collect()
    }
}

impl Fibre for HelixFibre {
    fn seat(&mut self, positions: &[DVec3], velocities: &[DVec3], hold: &Hold) {
        self.root = self.root_of(hold);
        self.before = hold.positions[..hold.positions.len().saturating_sub(1)].to_vec();
        self.curvatures.clone_from(&self.fitted);
        let free = &positions[self.held - 1..];
        let chain = self.chain();
        let off = |(point, &arc): (&DVec3, &f64)| (*point - chain.position(arc)).length();
        let farthest = free.iter().zip(&self.arcs).map(off).fold(0.0, f64::max);
        if farthest > self.misfit + SAME {
            let found = refit(self.root, &self.fitted, free, &self.arcs, &self.rod.lengths);
            self.curvatures = found.curvatures;
        }
        let velocity = velocities[self.held - 1];
        self.twist = Twist { velocity, spin: DVec3::ZERO };
        self.rates = self.rates_of(&velocities[self.held - 1..]);
        self.field = self.rod.field(&self.chain(), &self.rates, &self.twist);
    }

    fn freedom(&self) -> usize {
        3 * self.rod.elements()
    }

    fn velocities(&self) -> Vec<f64> {
        numbers(&self.rates)
    }

    fn linearise(&mut self, step: &FibreStep<'_>, guess: &[f64]) -> System {
        let end = self.root_of(&step.hold);
        let during = self.twist_to(&end, step.dt);
        let half = DQuat::from_scaled_axis(during.spin * (0.5 * step.dt));
        let root = Root {
            position: self.root.position.midpoint(end.position),
            frame: (half * self.root.frame).normalize(),
        };
        let reached = self.moved(step, guess);
        let mean = |a: &DVec3, b: &DVec3| 0.5 * (*a + *b);
        let curvatures = self.curvatures.iter().zip(&reached).map(|(a, b)| mean(a, b)).collect();
        let rates = self.rates.iter().zip(&vectors(guess)).map(|(a, b)| mean(a, b)).collect();
        // Below θ = 1 accuracy is asked for, and steps short enough for it.
        let field = (step.theta == 1.0).then(|| self.field.clone());
        let middle = Middle { root, before: self.twist, during, curvatures, rates, field };
        let pull = |&(vertex, target, stiffness): &(usize, DVec3, f64)| {
            let arc = self.arcs[vertex.saturating_sub(self.held - 1).min(self.arcs.len() - 1)];
            Pull { arc, target, stiffness }
        };
        let pulls: Vec<Pull> = step.pulls.iter().map(pull).collect();
        let forces = Forces { gravity: step.gravity, drag: self.drag, wind: &step.wind, pulls: &pulls };
        let now = (self.curvatures.as_slice(), self.rates.as_slice());
        let (chain, linear) = self.rod.linearised(now, &middle, &forces, (step.dt, step.theta));
        self.linear = Some((chain, during, step.dt));
        System { mass: linear.mass, impulse: linear.impulse }
    }

    fn touch(&self, vertex: usize, share: f64, rows: &mut [f64]) -> Carried {
        rows.fill(0.0);
        let Some((chain, during, dt)) = &self.linear else {
            return Carried { point: self.root.position, ..Carried::default() };
        };
        let arc = self.arc(vertex, share);
        if vertex + 1 >= self.held {
            rows.copy_from_slice(&chain.jacobian(arc));
        }
        let origin = chain.position(0.0);
        let arm = chord_middle(during.spin, *dt, chain.position(arc) - origin);
        let spin = chord_spin(during.spin, *dt);
        Carried { point: origin + arm, velocity: during.velocity + spin.cross(arm), spin }
    }

    fn leverage(&self, vertex: usize, share: f64) -> f64 {
        let arc = self.arc(vertex, share);
        if arc < NEARLY_CLAMPED * self.rod.lengths[0] {
            return 0.0;
        }
        (arc / self.rod.length()).powi(2)
    }

    fn reach(&self, step: &FibreStep<'_>, velocities: &[f64], positions: &mut [DVec3]) {
        let root = self.root_of(&step.hold);
        let chain = Chain::new(root, &self.rod.lengths, &self.moved(step, velocities));
        let (held, free) = positions.split_at_mut(self.held - 1);
        held.copy_from_slice(&step.hold.positions[..held.len()]);
        free.iter_mut().zip(&self.arcs).for_each(|(point, &arc)| *point = chain.position(arc));
    }

    fn advance(&mut self, step: &FibreStep<'_>, velocities: &[f64]) {
        let end = self.root_of(&step.hold);
        self.twist = self.twist_to(&end, step.dt);
        self.curvatures = self.moved(step, velocities);
        self.rates = vectors(velocities);
        self.root = end;
        if let Some((chain, during, _)) = &self.linear {
            self.field = self.rod.field(chain, &self.rates, during);
        }
        let before = self.before.len();
        self.before.copy_from_slice(&step.hold.positions[..before]);
    }

    fn shift(&mut self, changes: &[f64]) {
        self.curvatures.iter_mut().zip(vectors(changes)).for_each(|(now, change)| *now += change);
    }

    fn jump(&mut self, hold: &Hold) {
        let end = self.root_of(hold);
        let turn = end.frame * self.root.frame.conjugate();
        self.twist = Twist { velocity: turn * self.twist.velocity, spin: turn * self.twist.spin };
        self.field.iter_mut().for_each(|motion| *motion = (turn * motion.truncate()).extend(motion.w));
        self.root = end;
        let before = self.before.len();
        self.before.copy_from_slice(&hold.positions[..before]);
    }

    fn stop(&mut self) {
        self.rates.fill(DVec3::ZERO);
        self.field.fill(DVec4::ZERO);
        self.twist = Twist::default();
    }

    fn turning(&self, velocities: &[f64]) -> f64 {
        let Some((chain, during, _)) = &self.linear else { return 0.0 };
        let mut spin = during.spin;
        let mut most = spin.length();
        for (element, rate) in velocities.chunks_exact(3).enumerate() {
            let (rate, length) = (DVec3::from_slice(rate), self.rod.lengths[element]);
            for look in 1..=LOOKS {
                let along = length * look as f64 / LOOKS as f64;
                let (own, tangent) = chain.turned_within(element, along, rate);
                // What spins about its own axis goes nowhere, and hair has next to no inertia against that.
                let turn = (spin + own).cross(tangent).length();
                // `max` would lose a NaN.
                if turn.is_nan() || turn > most {
                    most = turn;
                }
            }
            spin += chain.turned(element, rate);
        }
        most
    }

    fn store(&self, vertices: Vertices<'_>) {
        let chain = self.chain();
        let first = self.held - 1;
        for (k, position) in self.before.iter().enumerate() {
            vertices.positions[k] = *position;
            vertices.velocities[k] = chain.carried(&self.twist, *position);
            vertices.orientations[k] = self.root.frame;
        }
        for (k, &arc) in self.arcs.iter().enumerate() {
            let last = self.arcs.len() - 1;
            let next = self.arcs[(k + 1).min(last)];
            let arc_of_edge = if k == last { 0.5 * (self.arcs[last - 1] + arc) } else { 0.5 * (arc + next) };
            vertices.positions[first + k] = chain.position(arc);
            vertices.velocities[first + k] = chain.velocity(arc, &self.rates, &self.twist);
            vertices.orientations[first + k] = chain.frame(arc_of_edge);
        }
    }

    fn energy(&self, gravity: DVec3) -> Energy {
        let chain = self.chain();
        Energy {
            kinetic: self.rod.kinetic_energy(&chain, &self.rates, &self.twist),
            elastic: self.rod.elastic_energy(&self.curvatures),
            gravity: self.rod.gravity_energy(&chain, gravity),
        }
    }

    fn save(&self, out: &mut Vec<f64>) {
        out.extend(numbers(&self.curvatures));
        out.extend(numbers(&self.rates));
        out.extend(numbers(&[self.root.position, self.twist.velocity, self.twist.spin]));
        out.extend(self.root.frame.to_array());
        out.extend(self.field.iter().flat_map(|motion| motion.to_array()));
        out.extend(numbers(&self.before));
    }

    fn saved(&self) -> usize {
        6 * self.rod.elements() + 13 + 4 * self.field.len() + 3 * self.before.len()
    }

    fn restore(&mut self, from: &[f64]) {
        let (shape, rest) = from.split_at(6 * self.rod.elements());
        let (now, rates) = shape.split_at(3 * self.rod.elements());
        (self.curvatures, self.rates) = (vectors(now), vectors(rates));
        let at = |first: usize| DVec3::from_slice(&rest[first..first + 3]);
        self.root = Root { position: at(0), frame: DQuat::from_slice(&rest[9..13]) };
        self.twist = Twist { velocity: at(3), spin: at(6) };
        let (field, before) = rest[13..].split_at(4 * self.field.len());
        self.field = field.chunks_exact(4).map(DVec4::from_slice).collect();
        self.before = vectors(before);
        self.linear = None;
    }

    fn misfit(&self) -> f64 {
        self.misfit
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::groom::Curves;
    use crate::math::Random;
    use crate::scene::{Material, MaterialPreset};

    /// A curl with so many elements, linearised about its groom on a body that is still.
    fn curl(elements: usize, velocities: &[f64]) -> HelixFibre {
        let mut curves = Curves::default();
        curves.push((0..21).map(|i| {
            let angle = 0.15 * i as f32;
            Vec3::new(0.01 * angle.cos(), 0.01 * angle.sin(), 2.0e-4 * i as f32)
        }));
        let model = Model::new(&curves, &Material::preset(MaterialPreset::Wavy)).unwrap();
        let mut fibre = HelixFibre::new(&model, 0, 1, elements);
        let hold = Hold { positions: vec![model.groomed[0].as_dvec3()], turn: DQuat::IDENTITY };
        let wind = |_: DVec3| DVec3::ZERO;
        let step =
            FibreStep { dt: 1.0e-3, theta: 1.0, gravity: DVec3::ZERO, wind: &wind, hold, pulls: vec![] };
        fibre.linearise(&step, &vec![0.0; velocities.len()]);
        fibre
    }

    /// The fastest that a tangent turns, by differences, at many places.
    fn brute(fibre: &HelixFibre, velocities: &[f64]) -> f64 {
        const STEP: f64 = 1.0e-7;
        let tangent = |sign: f64, arc: f64| {
            let rates = vectors(velocities);
            let curvatures: Vec<DVec3> =
                fibre.curvatures.iter().zip(rates).map(|(now, rate)| *now + sign * STEP * rate).collect();
            Chain::new(fibre.root, &fibre.rod.lengths, &curvatures).frame(arc) * DVec3::Z
        };
        let turn = |k: usize| {
            let arc = fibre.rod.length() * f64::from(k as u32) / 200.0;
            (tangent(1.0, arc) - tangent(-1.0, arc)).length() / (2.0 * STEP)
        };
        (0..=200).map(turn).fold(0.0, f64::max)
    }

    #[test]
    fn turning_is_what_tangents_do_with_few_elements_as_well() {
        let mut random = Random::new(5);
        for elements in [1, 2, 5] {
            for _ in 0..50 {
                let velocities: Vec<f64> =
                    (0..3 * elements).map(|_| 100.0 * (random.unit_f64() - 0.5)).collect();
                let fibre = curl(elements, &velocities);
                let (found, expected) = (fibre.turning(&velocities), brute(&fibre, &velocities));
                let part = found / expected;
                assert!(part > 0.8 && part < 1.001, "{elements} elements: {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn turning_by_what_is_not_a_number_is_not_a_number() {
        let mut velocities = vec![1.0; 6];
        velocities[1] = f64::NAN;
        assert!(curl(2, &velocities).turning(&velocities).is_nan());
    }
}
