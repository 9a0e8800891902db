//! Contact beside elasticity: finds contacts, projects displacements, and hands what came out back to the strands.
//!
//! Vertices stand strand after strand here, in the order of packs and lanes, so that neighbours in space are neighbours
//! in memory and each pack owns one run of them.

mod crossing;

pub(super) use crossing::Around;

use glam::{DVec3, Vec3, Vec3A, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::params::Params;
use super::projection::Projection;
use super::rods::redirect;
use super::strands::{Pack, Strands, add_force, add_spring, get_vector};
use super::touch::Touch;
use super::touching::{Hair, merge, warm_start};
use crate::body::Obstacles;
use crate::contact::{self, Contact, ContactError, Detector, Impact, Known};
use crate::math::Stored;
use crate::rest::RestContact;
use crate::scene::Model;

/// What contact weighs at the vertices of a strand, W.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    /// At least this beside the mass of the vertex [1/s²].
    pub(super) of_mass: f64,
    /// At least this [N/m].
    pub(super) of_strand: f64,
}

impl Weight {
    /// W of a vertex of a mass [kg].
    fn at(self, mass: f64) -> f64 {
        (self.of_mass * mass).max(self.of_strand)
    }
}

/// The contact stage and its memory.
#[derive(Debug)]
pub(super) struct Contacts {
    detector: Option<Detector>,
    projection: Projection,
    /// Forces of the last step's contacts by key, sorted [N].
    forces: Vec<(u64, Vec3)>,
    /// Contacts between strands of the last step, sorted.
    close: Vec<Contact>,
    /// Where each pack's vertices end.
    ends: Vec<usize>,
    /// The strand of each vertex, counted in the order of this stage.
    strand_of: Vec<u32>,
    /// Pack and lane of each strand, in the order of this stage.
    seats: Vec<(u32, u32)>,
    /// The model in the order of this stage.
    ordered: Model,
    origin: DVec3,
    start: Vec<Vec3>,
    moved: Vec<Vec3A>,
    /// z: displacements that contacts allow.
    feasible: Vec<Vec4>,
    /// λ = W⁻¹ Hᵀ r. Here and in `feasible` the fourth component is 1 / W.
    push: Vec<Vec4>,
    /// 1 / W; 0 where a vertex is held [m/N].
    ease: Vec<f32>,
    /// Vertices that a contact has pushed in this step or in the last one. Others move as if there were none: a spring would only slow
    /// them down.
    pushed: Vec<bool>,
    /// Strands near a body.
    beside_body: Vec<bool>,
}

impl Contacts {
    pub(super) fn new<S: Stored>(model: &Model, strands: &Strands<S>) -> Self {
        let mut ordered = Model {
            offsets: vec![0],
            groomed: Vec::new(),
            rest_lengths: Vec::new(),
            masses: Vec::with_capacity(model.vertices()),
            radii: Vec::with_capacity(model.vertices()),
            materials: model.materials.clone(),
            material_of: Vec::with_capacity(model.strands()),
            frictions: model.frictions.clone(),
            rest: None,
        };
        let (mut ends, mut strand_of, mut seats) = (Vec::new(), Vec::new(), Vec::new());
        for (index, pack) in strands.packs.iter().enumerate() {
            for (lane, strand) in pack.lanes() {
                let range = model.range(strand);
                strand_of.extend(std::iter::repeat_n(ordered.material_of.len() as u32, range.len()));
                seats.push((index as u32, lane as u32));
                ordered.material_of.push(model.material_of[strand]);
                ordered.masses.extend_from_slice(&model.masses[range.clone()]);
                ordered.radii.extend_from_slice(&model.radii[range]);
                ordered.offsets.push(ordered.masses.len() as u32);
            }
            ends.push(ordered.masses.len());
        }
        let vertices = strand_of.len();
        Self {
            detector: Detector::new(&ordered.offsets, &ordered.radii).ok(),
            projection: Projection::new(&ends),
            forces: Vec::new(),
            close: Vec::new(),
            ends,
            strand_of,
            seats,
            ordered,
            origin: DVec3::ZERO,
            start: vec![Vec3::ZERO; vertices],
            moved: vec![Vec3A::ZERO; vertices],
            feasible: vec![Vec4::ZERO; vertices],
            push: vec![Vec4::ZERO; vertices],
            ease: vec![0.0; vertices],
            pushed: vec![false; vertices],
            beside_body: vec![false; model.strands()],
        }
    }

    /// Contacts at work.
    pub(super) fn count(&self) -> usize {
        self.projection.count()
    }

    /// What the next step starts from: forces by key, and contacts between strands.
    pub(super) fn memory(&self) -> (&[(u64, Vec3)], &[Contact]) {
        (&self.forces, &self.close)
    }

    /// Forces by which the rest shape of a model has strands carry each other, by key and sorted [N].
    pub(super) fn resting_forces<S: Stored>(&self, model: &Model, strands: &Strands<S>) -> Vec<(u64, Vec3)> {
        let Some(rest) = model.rest.as_ref().filter(|rest| !rest.contacts.is_empty()) else {
            return Vec::new();
        };
        let mut place = vec![0; model.vertices()];
        let lanes = strands.packs.iter().flat_map(Pack::lanes);
        for (ours, (_, strand)) in lanes.enumerate() {
            let range = self.ordered.range(ours);
            place[model.range(strand)].iter_mut().zip(range).for_each(|(place, ours)| *place = ours as u32);
        }
        let force = |contact: &RestContact| {
            let [a, b] = contact.edges.map(|edge| place[edge as usize]);
            let force = if a < b { contact.force } else { -contact.force };
            (contact::pair_key(a.min(b), a.max(b)), force.as_vec3())
        };
        let mut forces: Vec<(u64, Vec3)> = rest.contacts.iter().map(force).collect();
        forces.sort_unstable_by_key(|(key, _)| *key);
        forces
    }

    /// Goes on from what was remembered.
    pub(super) fn remember(&mut self, forces: Vec<(u64, Vec3)>, close: Vec<Contact>) {
        (self.forces, self.close) = (forces, close);
    }

    /// Takes the positions of all vertices when the step began, and the weights W of each strand.
    pub(super) fn begin<S: Stored>(&mut self, strands: &Strands<S>, weights: &[Weight]) {
        self.origin = strands.packs.first().map_or(DVec3::ZERO, |pack| pack.roots[0]);
        let origin = self.origin;
        let parts = split(&self.ends, &mut self.start);
        let eases = split(&self.ends, &mut self.ease);
        let packs = strands.packs.par_iter().zip(parts).zip(eases);
        packs.for_each(|((pack, start), ease)| {
            let mut vertices = start.iter_mut().zip(ease);
            for (lane, strand) in pack.lanes() {
                let weight = weights[strand];
                // Roots have moved already.
                let root = pack.roots[lane] - get_vector(&pack.shift, lane) - origin;
                let rows = pack.start.iter().zip(&pack.rest).take(pack.counts[lane] as usize).enumerate();
                for ((row, (place, rest)), (start, ease)) in rows.zip(&mut vertices) {
                    *start = (root + get_vector(place, lane)).as_vec3();
                    let held = pack.base.is_some_and(|base| row <= base);
                    *ease = if held { 0.0 } else { (1.0 / weight.at(rest.mass.get(lane))) as f32 };
                }
            }
        });
        let columns = self.feasible.par_iter_mut().zip(&mut self.push).zip(&self.ease).with_min_len(4096);
        columns.for_each(|((feasible, push), &ease)| {
            (*feasible, *push) = (Vec3::ZERO.extend(ease), Vec3::ZERO.extend(ease));
        });
        self.gather(strands);
    }

    /// Takes where the strands are now.
    pub(super) fn gather<S: Stored>(&mut self, strands: &Strands<S>) {
        let parts = split(&self.ends, &mut self.moved);
        strands.packs.par_iter().zip(parts).for_each(|(pack, moved)| {
            let mut moved = moved.iter_mut();
            for (lane, _) in pack.lanes() {
                let shift = get_vector(&pack.shift, lane);
                let rows = pack.moving.iter().zip(&pack.start).take(pack.counts[lane] as usize);
                for ((moving, start), moved) in rows.zip(&mut moved) {
                    let there = get_vector(&moving.position, lane) + shift;
                    *moved = (there - get_vector(start, lane)).as_vec3a();
                }
            }
        });
    }

    fn hair(&self) -> Hair<'_> {
        Hair {
            model: &self.ordered,
            origin: self.origin,
            start: &self.start,
            moved: &self.moved,
            strand_of: &self.strand_of,
        }
    }

    /// Finds what is close when the step begins, with the forces of the last step.
    pub(super) fn find(
        &mut self,
        params: &Params,
        obstacles: Option<&Obstacles<'_>>,
        dt: f64,
    ) -> Result<(), ContactError> {
        if params.strand_contacts
            && let Some(detector) = &mut self.detector
        {
            let settings = contact::Settings::proximity(params.proximity as f32);
            let mut close = Vec::new();
            detector.proximity(&self.start, &settings, &self.close, &mut close)?;
            self.close = close;
        }
        let mut touches = self.hair().close(&self.close);
        touches.retain(|touch| touch.moves(&self.ease));
        let mut bodies = self.bodies(params, obstacles, dt);
        let forces = std::mem::take(&mut self.forces);
        warm_start(&mut touches, &forces);
        warm_start(&mut bodies, &forces);
        self.projection.set_pairs(&touches, &self.ease);
        self.set_bodies(&bodies);
        for (pushed, push) in self.pushed.iter_mut().zip(&self.push) {
            *pushed = push.xyz() != Vec3::ZERO;
        }
        Ok(())
    }

    fn bodies(&self, params: &Params, obstacles: Option<&Obstacles<'_>>, dt: f64) -> Vec<Touch> {
        let Some(obstacles) = obstacles else { return Vec::new() };
        let (margin, reach) = (params.margin as f32, params.proximity as f32);
        let mut touches = self.hair().with_bodies(obstacles, margin, reach, dt as f32);
        touches.retain(|touch| touch.moves(&self.ease));
        touches
    }

    /// Adds what meets on the way from the start to where vertices are now.
    pub(super) fn find_impacts(&mut self) -> Result<(), ContactError> {
        let Some(detector) = &mut self.detector else { return Ok(()) };
        let to: Vec<Vec3> = self
            .start
            .par_iter()
            .zip(&self.moved)
            .map(|(start, moved)| *start + Vec3::from(*moved))
            .collect();
        let mut impacts: Vec<Impact> = Vec::new();
        let known = Known::new(to.len(), self.projection.pairs().map(Touch::key));
        detector.continuous(&self.start, &to, &contact::Settings::continuous(0.0), &known, &mut impacts)?;
        let mut new = self.hair().impacts(&impacts);
        new.retain(|touch| touch.moves(&self.ease));
        let known = self.projection.pairs().map(|touch| touch.carrying_force());
        let touches = merge(known, &new);
        self.projection.set_pairs(&touches, &self.ease);
        self.projection.sum_up(&mut self.push);
        Ok(())
    }

    /// Looks at bodies again, where vertices are now.
    pub(super) fn find_bodies(&mut self, params: &Params, obstacles: Option<&Obstacles<'_>>, dt: f64) {
        let mut bodies = self.bodies(params, obstacles, dt);
        warm_start(&mut bodies, &self.body_forces());
        self.set_bodies(&bodies);
    }

    fn body_forces(&self) -> Vec<(u64, Vec3)> {
        self.projection.bodies().map(|touch| (touch.key(), touch.force())).collect()
    }

    /// Takes new contacts with bodies, and sums up what all contacts do.
    fn set_bodies(&mut self, touches: &[Touch]) {
        self.projection.set_bodies(touches, &self.ease);
        self.projection.sum_up(&mut self.push);
        self.beside_body.fill(false);
        for touch in touches {
            self.beside_body[self.strand_of[touch.vertices()[0] as usize] as usize] = true;
        }
    }

    /// The feasible projection of where vertices are now. Returns the largest distance that it moved a vertex, or that
    /// elasticity has moved one since the last projection [m]: nothing is done while friction still slides.
    pub(super) fn project(&mut self, sweeps: u32) -> f64 {
        let columns = self.feasible.par_iter_mut().zip(&self.moved).with_min_len(4096);
        let slid = columns.map(|(feasible, moved)| {
            let before = std::mem::replace(feasible, moved.extend(feasible.w));
            Vec3A::from_vec4(before).distance_squared(*moved)
        });
        let slid = slid.reduce(|| 0.0, f32::max);
        for _ in 0..sweeps {
            self.projection.sweep(&mut self.feasible);
        }
        let results = self.push.par_iter_mut().zip(&mut self.pushed);
        let columns = results.zip(&self.feasible).zip(&self.moved).with_min_len(4096);
        let step = |(((push, pushed), feasible), moved): (((&mut Vec4, &mut bool), &Vec4), &Vec3A)| {
            let change = Vec3A::from_vec4(*feasible) - *moved;
            *pushed |= push.xyz() != Vec3::ZERO || change != Vec3A::ZERO;
            *push += change.extend(0.0);
            change.length_squared()
        };
        f64::from(columns.map(step).reduce(|| slid, f32::max)).sqrt()
    }

    /// Adds contact to the loads of the strands: springs to where contacts allow vertices to be, or its forces alone.
    pub(super) fn load<S: Stored>(&self, strands: &mut Strands<S>, springs: bool) {
        strands.packs.par_iter_mut().zip(self.ranges()).for_each(|(pack, range)| {
            let mut vertices = range;
            for (lane, _) in pack.lanes() {
                let shift = get_vector(&pack.shift, lane);
                let mut touched = false;
                let rows = (0..pack.counts[lane] as usize).zip(&mut vertices);
                for (row, vertex) in rows.filter(|(_, vertex)| self.pushed[*vertex]) {
                    touched = true;
                    let (weight, push) =
                        (1.0 / f64::from(self.ease[vertex]), self.push[vertex].xyz().as_dvec3());
                    if springs {
                        let start = get_vector(&pack.start[row], lane) - shift;
                        let target = start + self.feasible[vertex].xyz().as_dvec3() + push;
                        add_spring(&mut pack.loads[row], lane, weight, target);
                    } else {
                        add_force(&mut pack.loads[row], lane, push * weight);
                    }
                }
                pack.couplings.set(lane, if touched { 0.0 } else { 1.0 });
            }
        });
    }

    /// Takes vertices out of each other and out of bodies, where the iterations have left them inside (the geometric
    /// correction of Algorithm 1). Edges turn and keep their lengths; velocities do not change.
    pub(super) fn correct<S: Stored>(
        &mut self,
        strands: &mut Strands<S>,
        params: &Params,
        obstacles: Option<&Obstacles<'_>>,
        dt: f64,
    ) {
        self.gather(strands);
        self.find_bodies(params, obstacles, dt);
        let pairs = self.projection.pairs().map(|touch| (touch.key(), touch.force()));
        self.forces = pairs.chain(self.body_forces()).filter(|(_, force)| *force != Vec3::ZERO).collect();
        self.projection.let_go();
        self.project(params.correction_sweeps);
        strands.packs.par_iter_mut().zip(self.ranges()).for_each(|(pack, range)| {
            let mut vertex = range.start;
            for (lane, _) in pack.lanes() {
                let strand = vertex..vertex + pack.counts[lane] as usize;
                vertex = strand.end;
                let apart = |v: usize| Vec3A::from_vec4(self.feasible[v]) - self.moved[v];
                let beside_body = self.beside_body[self.strand_of[strand.start] as usize];
                if beside_body || strand.clone().any(|v| apart(v) != Vec3A::ZERO) {
                    let distance = self.ordered.radii[strand.start] + params.margin as f32;
                    let corrections: Vec<DVec3> = strand.map(|v| apart(v).as_dvec3()).collect();
                    redirect(pack, lane, &corrections, obstacles, distance);
                }
            }
        });
    }

    fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| begin..end).collect()
    }
}

/// Cuts a column into the runs of each pack.
pub(super) fn split<'a, T>(ends: &[usize], mut column: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut begin = 0;
    let cut = |&end: &usize| {
        let part = column.split_off_mut(..end - begin).unwrap_or_default();
        begin = end;
        part
    };
    ends.iter().map(cut).collect()
}
