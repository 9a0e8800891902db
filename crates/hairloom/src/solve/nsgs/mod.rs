//! Fibres with exact Coulomb friction, all contacts of a step in one problem: the reference, slower than the others.
//!
//! # Theory
//!
//! Daviet, Bertails-Descoubes and Boissieux 2011 ("A hybrid iterative solver for robustly capturing Coulomb friction in hair dynamics"). A
//! step of each fibre is linear in its velocities at the end, `M v = f`; contacts add `Hᵀ r` and ask for Coulomb's law between their
//! impulses r and their relative velocities `u = H v + w` (equation 3). [`crate::contact::nsgs`] solves that for all contacts at once.
//! Fibres are super-helices ([`crate::rod::super_helix`]), or anything else that is a `Fibre`: discrete elastic rods, the same with lengths
//! that are projected (Goldenthal et al. 2007), and Cosserat rods whose frames are tied to their edges by a penalty (CoRdE).
//!
//! # In practice
//!
//! - A step (`pass.rs`): linearise every fibre (`helix.rs`, `polyline.rs`), find what is near where the hair is heading (`contacts.rs`), solve
//!   (`problem.rs`). It is done twice, the second time around what the first came to, so that curved ways and round bodies are met
//!   where they are.
//! - A contact may close its gap within the step but no more. That always has a solution where one body holds the hair: to go along with
//!   it. Overlaps are undone afterwards, a part at a time, without friction and without giving speed: asked for in the same problem they
//!   often left it without any solution, since wedged hair cannot part where friction holds it.
//! - What goes along with a rigid body goes along chords of its turn (`fibre.rs`), hair and surface alike, so that hair which a turning head carries does
//!   not creep on it. Points of meshes that deform move along straight lines anyway.
//! - Contacts that stay apart are left out of the problem until they turn out to be needed.
//! - Contacts are known from step to step by the pair of edges, or by vertex and body, and begin with their last force; loaded hair begins with
//!   those of its rest shape.
//! - Time steps are halved while hair whirls, and grow again when it is calm. Tolerances follow.
//! - What touches a fibre next to its clamp is left alone: to push it there would throw its end.
//! - Vertices that are in a body to begin with, such as roots under the skin, may stay as deep.
//!
//! # Departures from the paper
//!
//! - Contacts close gaps within a step instead of being switched on at touch: nothing has to overlap before it is pushed apart.
//! - Steps are linearised around their middle, twice; the first time contacts are solved roughly.
//! - The paper's discrete rods bend explicitly; ours are implicit, and stretch in the contact problem by what their stiffness allows.
//!
//! # Limits
//!
//! - Fibres are clamped at their roots: strands that are free, or held elsewhere, are refused with an error.
//! - Hair of one knot that skin holds which turns by different angles is drawn through itself at its clamps: such problems have no
//!   solution, and the best forces found are taken.
//! - A super-helix with few elements smooths its groom; [`Report::misfit`] says by how much.
//! - Rods whose lengths are projected creep where friction holds them, by some 20 µm a second: the projection comes after contact.
//! - Bodies are met at vertices: an edge may cut a corner.
//! - A straight fibre pushed exactly along itself does not give way: no change of its curvatures moves it back to first order. Hair that
//!   begins deep in a body may not find its way out for the same reason.

mod contacts;
mod elements;
mod fibre;
mod helix;
mod params;
mod pass;
mod polyline;
mod problem;
mod saved;

pub use params::{FibreKind, Params};

use std::sync::Arc;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use self::contacts::{BodyMotions, Hair};
use self::elements::{Corde, Der, ProjectedDer};
use self::fibre::{Fibre, Hold, Vertices};
use self::helix::HelixFibre;
use self::polyline::PolylineFibre;
use super::{Checkpoint, CheckpointError, Report, Solver, Step, StepError, TimeSteps, check_drive, check_dt};
use crate::contact::nsgs::FullProblem;
use crate::contact::{Contact, Detector};
use crate::groom::Remap;
use crate::scene::{Attachment, Drive, Model, State};

/// Time step of one quasistatic iteration [s].
const QUASISTATIC_DT: f64 = 0.01;
/// How far hair may turn in one quasistatic iteration [rad].
const QUASISTATIC_TURN: f64 = 0.5;
/// Iterations in which hair is laid outside of bodies at most.
const LAYING: usize = 100;
/// Fastest that hair is laid outside of bodies [m/s].
const LAYING_SPEED: f64 = 0.3;
/// Fastest that hair leaves a body that has come over it [m/s].
const LEAVING_SPEED: f64 = 1.0;
/// Overlap with a body that is left to the steps to undo [m].
const OUTSIDE: f64 = 1.0e-5;
/// By how much a calm time step may grow.
const GROWTH: f64 = 1.25;

/// The solver.
pub(crate) struct Nsgs {
    params: Params,
    model: Arc<Model>,
    detector: Option<Detector>,
    strand_of: Vec<u32>,
    /// How many vertices of each strand are held, from the root on.
    held: Vec<u32>,
    /// One for each strand that is not held altogether.
    fibres: Vec<Option<Box<dyn Fibre>>>,
    /// Positions of vertices of strands that are held altogether [m].
    rigid: Vec<DVec3>,
    /// What was loaded and is not yet known to be held somewhere.
    pending: Option<State>,
    /// Forces of the last step by contact, sorted [N].
    forces: Vec<(u64, DVec3)>,
    /// Contacts between strands of the last step, sorted.
    close: Vec<Contact>,
    /// How deep vertices may be in bodies, as a distance that is not positive [m].
    allowed: Vec<f32>,
    /// The body that holds each strand.
    owners: Vec<u32>,
    /// What the last step solved.
    problem: Option<FullProblem>,
    /// Fastest that hair leaves bodies now [m/s].
    leaving_speed: f64,
    /// The time step under way [s].
    step: f64,
}

impl Nsgs {
    /// A solver for `model`, with the hair at rest as groomed until something is loaded.
    pub(crate) fn new(model: &Arc<Model>, params: Params) -> Self {
        let of = |strand: usize| std::iter::repeat_n(strand as u32, model.range(strand).len());
        let groomed: Vec<DVec3> = model.groomed.iter().map(|point| point.as_dvec3()).collect();
        Self {
            step: params.step,
            params,
            detector: Detector::new(&model.offsets, &model.radii).ok(),
            strand_of: (0..model.strands()).flat_map(of).collect(),
            held: vec![0; model.strands()],
            fibres: Vec::new(),
            rigid: groomed.clone(),
            pending: Some(State::at_rest(groomed)),
            forces: resting_forces(model),
            close: Vec::new(),
            allowed: vec![0.0; model.vertices()],
            owners: vec![u32::MAX; model.strands()],
            problem: None,
            leaving_speed: LEAVING_SPEED,
            model: Arc::clone(model),
        }
    }

    fn state(&self) -> State {
        if let Some(state) = &self.pending {
            return state.clone();
        }
        let count = self.model.vertices();
        let mut state = State::at_rest(self.rigid.clone());
        state.orientations = vec![DQuat::IDENTITY; count];
        for (strand, fibre) in self.fibres.iter().enumerate() {
            let range = self.model.range(strand);
            if let Some(fibre) = fibre {
                fibre.store(Vertices {
                    positions: &mut state.positions[range.clone()],
                    velocities: &mut state.velocities[range.clone()],
                    orientations: &mut state.orientations[range],
                });
            }
        }
        state
    }

    fn hair<'a>(&'a self, positions: &'a [DVec3]) -> Hair<'a> {
        Hair {
            model: &self.model,
            positions,
            held: &self.held,
            strand_of: &self.strand_of,
            allowed: &self.allowed,
            owners: &self.owners,
            friction: self.params.friction,
        }
    }

    /// The fibres of all strands whose first `held` vertices are held, as groomed.
    fn build_fibres(&self, held: &[u32]) -> Vec<Option<Box<dyn Fibre>>> {
        let build = |(strand, &held): (usize, &u32)| {
            let held = held as usize;
            let is_free = held >= 1 && held < self.model.range(strand).len();
            is_free.then(|| self.fibre(strand, held))
        };
        held.par_iter().enumerate().map(build).collect()
    }

    /// The fibre of a strand whose first `held` vertices are held, as groomed.
    fn fibre(&self, strand: usize, held: usize) -> Box<dyn Fibre> {
        let model = &self.model;
        match self.params.fibre {
            FibreKind::SuperHelix => Box::new(HelixFibre::new(model, strand, held, self.params.elements)),
            FibreKind::Der => Box::new(PolylineFibre::<Der>::new(model, strand, held)),
            FibreKind::DerProjected => Box::new(PolylineFibre::<ProjectedDer>::new(model, strand, held)),
            FibreKind::Corde => Box::new(PolylineFibre::<Corde>::new(model, strand, held)),
        }
    }

    /// How many vertices of each strand the drive holds; an error where that is not the root.
    fn held_by(&self, drive: &Drive<'_>) -> Result<Vec<u32>, StepError> {
        let mut held = vec![0; self.model.strands()];
        let bad = |strand: usize, what: &str| {
            StepError::BadStep(format!(
                "strand {strand} is {what}; fibres of this solver are clamped at their roots and nowhere else: take another solver for such hair"
            ))
        };
        for one in &drive.attachments.items {
            let strand = one.strand as usize;
            if one.first != 0 || held[strand] != 0 {
                return Err(bad(strand, "held beyond its root"));
            }
            held[strand] = one.count;
        }
        match held.iter().position(|&held| held == 0) {
            Some(strand) => Err(bad(strand, "not held at its root")),
            None => Ok(held),
        }
    }

    /// Sees to it that fibres are made for what the drive holds, and that loaded hair has become fibres.
    fn follow_attachments(&mut self, drive: &Drive<'_>) -> Result<(), StepError> {
        let held = self.held_by(drive)?;
        if self.pending.is_none() && held == self.held {
            return Ok(());
        }
        let state = self.state();
        let holds = holds(drive, 0.0);
        let seat = |(strand, &held): (usize, &u32)| {
            let range = self.model.range(strand);
            let is_free = (held as usize) < range.len();
            is_free.then(|| {
                let mut fibre = self.fibre(strand, held as usize);
                fibre.seat(&state.positions[range.clone()], &state.velocities[range], &holds[strand]);
                fibre
            })
        };
        let fibres = held.par_iter().enumerate().map(seat).collect();
        let positions = state.positions.clone();
        (self.fibres, self.held, self.pending, self.rigid) = (fibres, held, None, state.positions);
        drive.attachments.items.iter().for_each(|one| self.owners[one.strand as usize] = one.body);
        let start = drive.sub(0.0, 0.0);
        self.allowed = self.hair(&positions).depths(&start.obstacles());
        self.lay_outside(&start)
    }

    /// Lays hair outside of bodies that it is in to begin with. What must be moved begins at rest; all else stays as it was loaded.
    fn lay_outside(&mut self, drive: &Drive<'_>) -> Result<(), StepError> {
        let obstacles = drive.obstacles();
        let still = BodyMotions::default();
        let mut weightless = *drive;
        weightless.gravity = DVec3::ZERO;
        let loaded: Vec<Vec<f64>> = self.fibres.iter().map(|fibre| saved(fibre.as_deref())).collect();
        let mut is_inside = vec![false; self.fibres.len()];
        let mut result = Ok(());
        self.leaving_speed = LAYING_SPEED;
        for _ in 0..LAYING {
            let positions = self.state().positions;
            let touches = self.hair(&positions).with_bodies(&obstacles, &still, 0.0);
            let inside = touches.iter().filter(|touch| touch.gap <= -OUTSIDE);
            let count = inside.map(|touch| is_inside[touch.first.strand] = true).count();
            if result.is_err() || count == 0 {
                break;
            }
            result = self.settle(&weightless).map(|_| ());
        }
        self.leaving_speed = LEAVING_SPEED;
        let kept = self.fibres.iter_mut().zip(&loaded).zip(&is_inside).filter(|(_, is_inside)| !**is_inside);
        for ((fibre, loaded), _) in kept {
            if let Some(fibre) = fibre {
                fibre.restore(loaded);
            }
        }
        result
    }

    /// One step towards equilibrium, without inertia: as far as hair may turn.
    fn settle(&mut self, drive: &Drive<'_>) -> Result<Report, StepError> {
        let mut dt = QUASISTATIC_DT;
        loop {
            self.fibres.iter_mut().flatten().for_each(|fibre| fibre.stop());
            let (report, turn) = self.attempt(drive, dt, QUASISTATIC_TURN)?;
            if turn <= QUASISTATIC_TURN || dt < 1.0e-3 * QUASISTATIC_DT {
                self.fibres.iter_mut().flatten().for_each(|fibre| fibre.stop());
                return Ok(report);
            }
            dt *= 0.5;
        }
    }

    /// Takes hair along with bodies that jump.
    fn jump(&mut self, drive: &Drive<'_>) {
        let jumps = |one: &&Attachment| drive.jumps(one.body as usize);
        if drive.attachments.items.iter().any(|one| jumps(&one)) {
            let holds = holds(drive, 1.0);
            for one in drive.attachments.items.iter().filter(jumps) {
                let strand = one.strand as usize;
                if let Some(fibre) = &mut self.fibres[strand] {
                    fibre.jump(&holds[strand]);
                }
            }
        }
    }

    fn step_in_pool(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError> {
        check_drive(&self.model, drive)?;
        if let Step::Dynamic { dt } = step {
            check_dt(dt)?;
        }
        self.follow_attachments(drive)?;
        self.jump(drive);
        let mut report = match step {
            Step::Dynamic { dt } => self.advance(drive, dt)?,
            Step::Quasistatic { iterations } => {
                let mut report = Report::default();
                let still = drive.sub(1.0, 1.0);
                for iteration in 0..iterations {
                    report.add(&self.settle(if iteration == 0 { drive } else { &still })?);
                }
                report
            }
        };
        report.misfit = self.fibres.iter().flatten().map(|fibre| fibre.misfit()).fold(0.0, f64::max);
        Ok(report)
    }

    /// Steps over the whole drive, in as many time steps as it takes.
    fn advance(&mut self, drive: &Drive<'_>, dt: f64) -> Result<Report, StepError> {
        let mut report = Report::default();
        let mut done = 0.0;
        while done < 1.0 {
            // What is a whole number of parts but for rounding takes no part more.
            let parts = ((1.0 - done) * dt / self.step - 1.0e-6).ceil().max(1.0);
            let end = if parts == 1.0 { 1.0 } else { done + (1.0 - done) / parts };
            let sub = drive.sub(done, end);
            let is_shortest = self.step <= self.params.least_step;
            let limit = if is_shortest { f64::INFINITY } else { 2.0 * self.params.most_turn };
            let (one, turn) = self.attempt(&sub, (end - done) * dt, limit)?;
            report.add(&one);
            if turn > limit {
                report.time_steps.refused += 1;
                self.step = (0.5 * self.step).max(self.params.least_step);
                continue;
            }
            report.time_steps += TimeSteps { count: 1, refused: 0, shortest: (end - done) * dt };
            done = end;
            if turn > self.params.most_turn {
                self.step = (self.step / GROWTH).max(self.params.least_step);
            } else if turn < 0.5 * self.params.most_turn {
                self.step = (self.step * GROWTH).min(self.params.step);
            }
        }
        Ok(report)
    }
}

/// Forces by which the rest shape has strands carry each other, by contact and sorted [N].
fn resting_forces(model: &Model) -> Vec<(u64, DVec3)> {
    let contacts = model.rest.iter().flat_map(|rest| &rest.contacts);
    contacts.map(|contact| (contact.key(), contact.force)).collect()
}

/// All that moves of a fibre.
fn saved(fibre: Option<&dyn Fibre>) -> Vec<f64> {
    let mut numbers = Vec::new();
    if let Some(fibre) = fibre {
        fibre.save(&mut numbers);
    }
    numbers
}

/// Where bodies hold the first vertices of each strand, at fraction `t` of the drive.
fn holds(drive: &Drive<'_>, t: f64) -> Vec<Hold> {
    let hold = |one: &Attachment| {
        let frame = drive.seat_frame(one, t);
        let points = drive.attachments.points_of(one).iter().map(|&point| frame.apply(point));
        let turn = (frame.rotation * one.bind.as_dquat().conjugate()).normalize();
        (one.strand, Hold { positions: points.collect(), turn })
    };
    let mut holds: Vec<(u32, Hold)> = drive.attachments.items.iter().map(hold).collect();
    holds.sort_by_key(|(strand, _)| *strand);
    holds.into_iter().map(|(_, hold)| hold).collect()
}

impl Solver for Nsgs {
    fn load(&mut self, state: &State) {
        self.pending = Some(state.clone());
        self.forces = resting_forces(&self.model);
        self.close.clear();
        self.step = self.params.step;
    }

    fn step(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError> {
        // On a thread of the pool: from outside, each of the many short parallel parts would have to wake it.
        rayon::scope(|_| self.step_in_pool(drive, step))
    }

    fn store(&self, state: &mut State) {
        *state = self.state();
    }

    fn save(&self, out: &mut Checkpoint) {
        self.write(out);
    }

    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        self.read(from)
    }

    fn contact_problem(&self) -> Option<FullProblem> {
        self.problem.as_ref().map(FullProblem::without_idle)
    }

    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap) {
        let old = self.state();
        let mut state = old.remapped(&self.model, model, remap);
        // Chords of a curve are shorter than its arc: what is kept stays where it is instead of getting the arc's length.
        for (strand, source) in remap.strands.iter().enumerate().filter_map(|(s, from)| Some((s, (*from)?))) {
            let source = self.model.range(source as usize);
            for vertex in model.range(strand) {
                let place = f64::from(remap.coordinates[vertex]).max(0.0);
                let first = place.floor().min(source.len() as f64 - 2.0);
                let (a, share) = (source.start + first as usize, place - first);
                state.positions[vertex] = old.positions[a].lerp(old.positions[a + 1], share);
            }
        }
        *self = Self::new(model, self.params.clone());
        self.load(&state);
    }
}
