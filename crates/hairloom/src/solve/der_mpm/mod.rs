//! Hair as elastic rods that meet on a grid: one linear solve per strand, then material points.
//!
//! # Theory
//!
//! L. Huang, F. Yang, C. Wei, Y. J. Chen, C. Yuan, M. Gao, *Towards Realtime: A Hybrid Physics-based Method for Hair Animation on
//! GPU*, 2023. Two stages, the first predicting and the second correcting (figure 2):
//!
//! Discrete elastic rods (section 3.1). A strand of n vertices has their velocities and the spins of its
//! edges as unknowns. Energies of stretching, bending and twisting are sums of squares (equation 1; `element` has them and their
//! derivatives); their first derivatives alone give a positive definite matrix of half-bandwidth 10 (equation 2), which is factored
//! and solved in lanes, one strand per lane (`step`, [`crate::math::band`]).
//!
//! Material points (section 3.2). The vertices are particles of sand or fluid on a background grid ([`crate::grid`]), by which
//! strands resist being pressed together. Each step of the grid gives them an equal part of what the rods changed of their
//! momentum, gravity included (section 3.3); bodies bound the nodes deep inside them, and particles leave them.
//!
//! # In practice
//!
//! - `Rods` is the first stage: `drive` holds and loads strands, `solve` finds the velocities at the end of the step. `Grains` is the second;
//!   `exchange` is the way between them, `settle` the end of a step; `carried` is for hair that rests with stresses on the grid.
//! - The state is edges: unit tangent, length and a director, carried along by parallel transport in time. No absolute position enters.
//! - Pinned vertices are 1e20 times as heavy as hair. Any number of vertices may be pinned, in any place. Where the root alone is held, a
//!   ghost edge before it clamps the strand.
//! - Strands of nearly equal length ride together; rows behind a tip touch nothing.
//! - A step is cut into equal parts no longer than [`Params::step`], whatever the frame rate.
//!
//! # Departures from the paper
//!
//! - Rods may have any natural shape. The factor of the twisting energy is 1/4, not 1/8.
//! - Taut edges resist being moved sideways by their tension, implicitly. Without that term thirty vertices of 1 cm under their own
//!   weight lie beyond what explicit steps of 1/120 s hold.
//! - The unknowns are changes of velocity, so that rounding goes with the change.
//! - Edges turn without lengthening: the length is the one that the linear solve found along the old tangent. The straight way would
//!   lengthen an edge that turns by φ in a step by φ²/2, and hair thrown about to many times its length.
//! - The grid moves vertices, but turns edges only. Its velocities are smooth over a cell, which is as long as an edge: what they
//!   do to lengths is no physics, and the paper's rods drift by it. Lengths stay within [`Params::most_stretch`] of rest.
//! - Any collider bounds the nodes, not capsules alone, but only those too deep inside it for hair outside to reach ([`Params::inset`]): others
//!   let hair sink towards the skin as through honey. Nodes far inside a rigid mesh simply go along with it. Vertices are kept out at their
//!   own places, and at the end of a step leave bodies without changing an edge's length.
//! - The volume that parting hair gains is bounded ([`Params::most_gain`]).
//! - The bound on curvature (section 4.1) scales the derivatives, too. On κb alone it makes the fold a minimum of energy, where hair is
//!   caught.
//! - Twist is taken from −π to π at each vertex.
//!
//! # Limits
//!
//! - Strands resist each other as a continuum over cells of the grid; single strands may cross. The grid damps what is finer than its cells.
//! - Quasistatic steps know bodies, but no other strands.
//! - Hair that lies on a body bears no hair above it unless [`Params::inset`] is 0: the grid does not see where the body begins.
//! - Edges between two vertices may cut a corner of a body.
//! - Stiffness against stretching beside mass, Δt² Y / (ρ l²), costs digits: in single precision up to 2e4 is safe (a thousandth of the
//!   change of velocity is lost). In double precision hair's own 3 GPa are.
//! - Sections are round.
//! - Sag-free rest shapes that contact carries a part of are for sand: the programme of `rest::global_force` is, and a fluid bears no shear.

mod carried;
mod drive;
mod element;
mod exchange;
mod grains;
mod hold;
mod pack;
mod params;
mod rods;
mod saved;
mod settle;
mod step;
#[cfg(test)]
mod tests;

pub use params::{GrainKind, Params, Precision};

use std::sync::Arc;

use glam::DVec3;

use self::drive::{Holds, approach};
use self::grains::Grains;
use self::rods::Rods;
use self::settle::Surroundings;
use super::{Checkpoint, CheckpointError, Report, Solver, Step, StepError, check_drive, check_dt};
use crate::grid::Approach;
use crate::groom::Remap;
use crate::math::Stored;
use crate::math::lanes::{DoubleRow, Row};
use crate::scene::{Drive, Model, State};

/// Time step of one quasistatic iteration [s]: long enough that inertia hardly counts.
const QUASISTATIC_DT: f64 = 0.05;

/// A solver for `model`, with the hair at rest as groomed until something is loaded.
pub fn build(model: &Arc<Model>, params: Params) -> Box<dyn Solver> {
    match params.precision {
        Precision::F32 => Box::new(DerMpm::<Row>::new(model, params)),
        Precision::F64 => Box::new(DerMpm::<DoubleRow>::new(model, params)),
    }
}

/// The solver.
#[derive(Debug)]
struct DerMpm<S> {
    params: Params,
    model: Arc<Model>,
    /// Which vertices are held.
    pinned: Vec<bool>,
    rods: Rods<S>,
    /// None where strands pass through each other.
    grains: Option<Grains>,
    /// Whether directors are still to be turned with the bodies that hold the strands.
    unseated: bool,
    /// Whether bodies may have been moved since vertices last looked at them.
    unseen: bool,
}

impl<S: Stored> DerMpm<S> {
    fn new(model: &Arc<Model>, params: Params) -> Self {
        let pinned = vec![false; model.vertices()];
        let rods = Rods::new(model, &pinned, params);
        let mut solver = Self {
            params,
            model: Arc::clone(model),
            pinned,
            rods,
            grains: None,
            unseated: true,
            unseen: true,
        };
        solver.lay_out_grains(&[]);
        solver
    }

    /// Grains in the order of the rods, with what they remembered by vertex.
    fn lay_out_grains(&mut self, memory: &[grains::Grain]) {
        self.grains = (self.params.grains != GrainKind::None).then(|| {
            let mut grains = Grains::new(&self.model, &self.rods, &self.pinned, &self.params);
            grains.remember(memory);
            grains
        });
    }

    fn memory(&self) -> Vec<grains::Grain> {
        self.grains.as_ref().map_or(Vec::new(), Grains::memory)
    }

    fn state(&self) -> State {
        let mut state = State::default();
        self.rods.store(&mut state);
        state
    }

    /// Sees to it that strands are laid out for the drive's attachments, and that directors know of their bodies.
    fn follow_attachments(&mut self, drive: &Drive<'_>) {
        let mut pinned = vec![false; self.model.vertices()];
        for attachment in &drive.attachments.items {
            let start = self.model.range(attachment.strand as usize).start + attachment.first as usize;
            pinned[start..start + attachment.count as usize].fill(true);
        }
        if pinned != self.pinned || self.unseated {
            let mut state = self.state();
            if pinned != self.pinned {
                let memory = self.memory();
                let carried = self.grains.as_mut().and_then(Grains::take_carried);
                self.rods = Rods::new(&self.model, &pinned, self.params);
                self.pinned = pinned;
                self.lay_out_grains(&memory);
                if let Some(grains) = &mut self.grains {
                    grains.carry_on(carried);
                }
            }
            let turns = Holds::new(&self.model, drive).turns_at_start();
            if self.unseated {
                state.orientations.clear();
            }
            self.rods.load(&state, Some(&turns));
            self.unseated = false;
        }
    }

    /// One step of the rods over `dt` [s], figure 2 of the paper: rigid motion, pins, solve; then the grid's steps.
    fn pass(&mut self, drive: &Drive<'_>, dt: f64) -> Result<Report, StepError> {
        let mut report = Report { iterations: 1, ..Report::default() };
        let (steps, margin) = (self.params.substeps, self.params.margin as f32);
        self.hold(drive, dt, &mut report);
        let Some(grains) = &mut self.grains else { return self.pass_alone(drive, dt, report) };
        let gravity = drive.gravity;
        report.time("exchange", || grains.begin(&self.model, &mut self.rods, &self.pinned, gravity, dt));
        report.time("rods", || self.rods.solve(dt, drive.gravity))?;
        report.time("exchange", || grains.take_changes(&self.rods, steps, dt as f32));
        let mut seen = Approach::UNKNOWN;
        for step in 0..steps {
            let [start, end] = [step, step + 1].map(|step| f64::from(step) / f64::from(steps));
            let part = drive.sub(start, end);
            let bodies = report.time("bodies", || part.obstacles());
            seen = report.time("bodies", || approach(&part));
            if std::mem::take(&mut self.unseen) {
                seen.shift = f32::INFINITY;
            }
            let step = (dt / f64::from(steps)) as f32;
            let pushed = grains.step(&self.model, &bodies, &seen, margin, step, &mut report)?;
            report.contacts = report.contacts.max(pushed);
        }
        report.time("exchange", || grains.end(dt as f32));
        let obstacles = drive.obstacles();
        let bodies = obstacles.any_collides().then_some((&obstacles, &*self.model));
        let around = Surroundings { bodies, margin, approach: seen };
        let outcome = report.time("settle", || self.rods.take_back(&grains.moved(), dt, &around));
        self.finish(outcome, report)
    }

    /// Carries strands along with bodies that move too far, and pins what is held.
    fn hold(&mut self, drive: &Drive<'_>, dt: f64, report: &mut Report) {
        report.time("drive", || {
            Holds::new(&self.model, drive).act(&mut self.rods, &self.params, drive, dt);
        });
    }

    /// What is left of a step without the grid.
    fn pass_alone(&mut self, drive: &Drive<'_>, dt: f64, mut report: Report) -> Result<Report, StepError> {
        report.time("rods", || self.rods.solve(dt, drive.gravity))?;
        let obstacles = drive.obstacles();
        let bodies = obstacles.any_collides().then_some((&obstacles, &*self.model));
        let margin = self.params.margin as f32;
        let around = Surroundings { bodies, margin, approach: Approach::UNKNOWN };
        let outcome = report.time("settle", || self.rods.advance(dt, &around));
        self.finish(outcome, report)
    }

    /// A dynamic step over `dt` [s], in parts that are no longer than the rods' step.
    fn go(&mut self, drive: &Drive<'_>, dt: f64) -> Result<Report, StepError> {
        let mut report = Report::default();
        // Only within a step it is known how bodies move.
        self.unseen = true;
        // A step that is a whole number of parts but for rounding takes no part more.
        let parts = (dt / self.params.step - 1.0e-6).ceil().max(1.0);
        for part in 0..parts as u32 {
            let part = f64::from(part);
            report.add(&self.pass(&drive.sub(part / parts, (part + 1.0) / parts), dt / parts)?);
        }
        Ok(report)
    }

    /// Steps without inertia. Bodies move in the first iteration, and stand in the others.
    fn relax(&mut self, drive: &Drive<'_>, iterations: u32) -> Result<Report, StepError> {
        let mut report = Report::default();
        let still = drive.sub(1.0, 1.0);
        for iteration in 0..iterations {
            self.rods.stop();
            let drive = if iteration == 0 { drive } else { &still };
            let mut pass = Report { iterations: 1, ..Report::default() };
            self.hold(drive, QUASISTATIC_DT, &mut pass);
            report.add(&self.pass_alone(drive, QUASISTATIC_DT, pass)?);
        }
        self.rods.stop();
        Ok(report)
    }

    fn finish(&self, outcome: settle::Outcome, mut report: Report) -> Result<Report, StepError> {
        report.contacts = report.contacts.max(outcome.contacts);
        report.out_of_reach = outcome.out_of_reach;
        self.rods.check()?;
        Ok(report)
    }
}

impl<S: Stored> Solver for DerMpm<S> {
    fn load(&mut self, state: &State) {
        *self = Self::new(&self.model, self.params);
        self.rods.load(state, None);
        self.unseated = state.orientations.is_empty();
        self.lay_out_grains(&[]);
    }

    fn step(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError> {
        check_drive(&self.model, drive)?;
        if let Step::Dynamic { dt } = step {
            check_dt(dt)?;
        }
        // One way to the pool and back, not one for each of the many short phases.
        rayon::scope(|_| {
            self.follow_attachments(drive);
            if (0..drive.bodies.len()).any(|body| drive.jumps(body)) {
                Holds::new(&self.model, drive).jump(&mut self.rods);
            }
            match step {
                Step::Dynamic { dt } => self.go(drive, dt),
                Step::Quasistatic { iterations } => self.relax(drive, iterations),
            }
        })
    }

    fn store(&self, state: &mut State) {
        self.rods.store(state);
    }

    fn store_positions(&self, positions: &mut Vec<DVec3>) {
        self.rods.store_positions(positions);
    }

    fn save(&self, out: &mut Checkpoint) {
        out.begin(saved::NAME, saved::VERSION);
        out.put("pinned", self.pinned.iter().map(|&pinned| u32::from(pinned)).collect());
        out.put("unseated", vec![u32::from(self.unseated)]);
        self.rods.save(out);
        if let Some(grains) = &self.grains {
            grains.save(out);
        }
    }

    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        from.expect(saved::NAME, saved::VERSION)?;
        let pinned: Vec<bool> =
            from.take::<u32>("pinned", self.model.vertices())?.iter().map(|&pinned| pinned != 0).collect();
        let unseated = from.take::<u32>("unseated", 1)?[0] != 0;
        let mut restored = Self::new(&self.model, self.params);
        restored.rods = Rods::new(&self.model, &pinned, self.params);
        restored.rods.restore(from)?;
        (restored.pinned, restored.unseated) = (pinned, unseated);
        restored.lay_out_grains(&[]);
        if let Some(grains) = &mut restored.grains {
            grains.restore(from)?;
        }
        *self = restored;
        Ok(())
    }

    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap) {
        let state = self.state().remapped(&self.model, model, remap);
        let memory = grains::remapped(&self.memory(), &self.model, model, remap);
        self.model = Arc::clone(model);
        // The next step finds out what is held.
        self.load(&state);
        self.lay_out_grains(&memory);
    }
}
