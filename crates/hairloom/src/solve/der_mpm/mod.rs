//! Hair as elastic rods, solved semi-implicitly: one linear solve per strand and step.
//!
//! # Theory
//!
//! L. Huang, F. Yang, C. Wei, Y. J. Chen, C. Yuan, M. Gao, *Towards Realtime: A Hybrid Physics-based Method for Hair Animation on
//! GPU*, 2023, the stage of discrete elastic rods (section 3.1). A strand of n vertices has their velocities and the spins of its
//! edges as unknowns. Energies of stretching, bending and twisting are sums of squares (equation 1; `element` has them and their
//! derivatives); their first derivatives alone give a positive definite matrix of half-bandwidth 10 (equation 2), which is factored
//! and solved in lanes, one strand per lane (`step`, [`crate::math::band`]).
//!
//! # In practice
//!
//! - [`Rods`] is the stage itself: [`Rods::drive`] holds and loads strands, [`Rods::solve`] finds the velocities at the end of the
//!   step, [`Rods::advance`] or [`Rods::advance_by`] moves. A contact solver between the last two gets the change of momentum, and may
//!   share it out over smaller steps.
//! - The state is edges: unit tangent, length and a director, carried along by parallel transport in time. No absolute position enters.
//! - Pinned vertices are 1e20 times as heavy as hair. Any number of vertices may be pinned, in any place. Where the root alone is held, a
//!   ghost edge before it clamps the strand.
//! - Strands of nearly equal length ride together; rows behind a tip touch nothing.
//!
//! # Departures from the paper
//!
//! - Rods may have any natural shape. The factor of the twisting energy is 1/4, not 1/8.
//! - Taut edges resist being moved sideways by their tension, implicitly. Without that term thirty vertices of 1 cm under their own
//!   weight lie beyond what explicit steps of 1/120 s hold.
//! - The unknowns are changes of velocity, so that rounding goes with the change.
//! - Edges turn without lengthening: the length is the one that the linear solve found along the old tangent. The straight way would
//!   lengthen an edge that turns by φ in a step by φ²/2, and hair thrown about to many times its length.
//! - The bound on curvature (section 4.1) scales the derivatives, too. On κb alone it makes the fold a minimum of energy, where hair is
//!   caught.
//! - Twist is taken from −π to π at each vertex.
//!
//! # Limits
//!
//! - Strands do not meet each other here. Bodies push single vertices out at the end of a step, which shortens edges until the next step
//!   spreads it; edges between two vertices may cut a corner.
//! - A straight rope whose ends are brought together at once cannot give way within one linear solve.
//! - Stiffness against stretching beside mass, Δt² Y / (ρ l²), costs digits: in single precision up to 2e4 is safe (a thousandth of the
//!   change of velocity is lost). In double precision hair's own 3 GPa are.
//! - Sections are round.

mod bodies;
mod drive;
mod element;
mod hold;
mod pack;
mod params;
mod rods;
mod saved;
mod step;
#[cfg(test)]
mod tests;

pub use params::{Params, Precision};
pub use rods::{Driven, Rods};

use std::sync::Arc;

use self::drive::Holds;
use super::jump::carry;
use super::{Checkpoint, CheckpointError, Report, Solver, Step, StepError, check_drive, check_dt};
use crate::groom::Remap;
use crate::math::Stored;
use crate::math::lanes::{DoubleRow, Row};
use crate::scene::{Drive, Model, State};

/// Time step of one quasistatic iteration [s]: long enough that inertia hardly counts.
const QUASISTATIC_DT: f64 = 0.05;
/// Speed beyond which a vertex counts as lost [m/s].
const ABSURD_SPEED: f64 = 1.0e4;

/// A solver for `model`, with the hair at rest as groomed until something is loaded.
pub fn build(model: &Arc<Model>, params: Params) -> Box<dyn Solver> {
    match params.precision {
        Precision::F32 => Box::new(RodSolver::<Row>::new(model, params)),
        Precision::F64 => Box::new(RodSolver::<DoubleRow>::new(model, params)),
    }
}

/// The solver.
#[derive(Debug)]
struct RodSolver<S> {
    params: Params,
    model: Arc<Model>,
    /// Which vertices are held.
    pinned: Vec<bool>,
    rods: Rods<S>,
    /// Whether directors are still to be turned with the bodies that hold the strands.
    unseated: bool,
}

impl<S: Stored> RodSolver<S> {
    fn new(model: &Arc<Model>, params: Params) -> Self {
        let pinned = vec![false; model.vertices()];
        let rods = Rods::new(model, &pinned, params);
        Self { params, model: Arc::clone(model), pinned, rods, unseated: true }
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
                self.rods = Rods::new(&self.model, &pinned, self.params);
                self.pinned = pinned;
            }
            let turns = Holds::new(&self.model, drive).turns_at_start();
            if self.unseated {
                state.orientations.clear();
            }
            self.rods.load(&state, Some(&turns));
            self.unseated = false;
        }
    }

    /// Takes hair along with bodies that jump.
    fn jump(&mut self, drive: &Drive<'_>) {
        if (0..drive.bodies.len()).any(|body| drive.jumps(body)) {
            let mut state = self.state();
            carry(&self.model, drive, &mut state);
            self.rods.load(&state, None);
        }
    }

    /// One step of the stage, figure 2 of the paper: rigid motion, pins, solve, move, bodies.
    fn pass(&mut self, drive: &Drive<'_>, dt: f64) -> Result<Report, StepError> {
        let mut report = Report { iterations: 1, ..Report::default() };
        report.time("drive", || {
            let holds = Holds::new(&self.model, drive);
            holds.act(&mut self.rods, &self.params, drive, dt);
        });
        report.time("solve", || self.rods.solve(dt, drive.gravity))?;
        report.time("move", || self.rods.advance(dt));
        let obstacles = drive.obstacles();
        if obstacles.any_collides() {
            report.contacts = report.time("bodies", || {
                bodies::leave(&mut self.rods, &self.model, &obstacles, self.params.margin)
            });
        }
        self.rods.check(ABSURD_SPEED)?;
        Ok(report)
    }
}

impl<S: Stored> Solver for RodSolver<S> {
    fn load(&mut self, state: &State) {
        self.rods.load(state, None);
        self.unseated = state.orientations.is_empty();
    }

    fn step(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError> {
        check_drive(&self.model, drive)?;
        if let Step::Dynamic { dt } = step {
            check_dt(dt)?;
        }
        self.follow_attachments(drive);
        self.jump(drive);
        let mut report = Report::default();
        match step {
            Step::Dynamic { dt } => {
                // A step that is a whole number of parts but for rounding takes no part more.
                let parts = (dt / self.params.step - 1.0e-6).ceil().max(1.0);
                for part in 0..parts as u32 {
                    let part = f64::from(part);
                    let drive = drive.sub(part / parts, (part + 1.0) / parts);
                    report.add(&self.pass(&drive, dt / parts)?);
                }
            }
            Step::Quasistatic { iterations } => {
                // Bodies move in the first iteration, and stand in the others.
                let still = drive.sub(1.0, 1.0);
                for iteration in 0..iterations {
                    self.rods.stop();
                    report.add(&self.pass(if iteration == 0 { drive } else { &still }, QUASISTATIC_DT)?);
                }
                self.rods.stop();
            }
        }
        Ok(report)
    }

    fn store(&self, state: &mut State) {
        self.rods.store(state);
    }

    fn save(&self, out: &mut Checkpoint) {
        out.begin(saved::NAME, saved::VERSION);
        out.put("pinned", self.pinned.iter().map(|&pinned| u32::from(pinned)).collect());
        out.put("unseated", vec![u32::from(self.unseated)]);
        self.rods.save(out);
    }

    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        from.expect(saved::NAME, saved::VERSION)?;
        let pinned: Vec<bool> =
            from.take::<u32>("pinned", self.model.vertices())?.iter().map(|&pinned| pinned != 0).collect();
        let unseated = from.take::<u32>("unseated", 1)?[0] != 0;
        let mut rods = Rods::new(&self.model, &pinned, self.params);
        rods.restore(from)?;
        (self.rods, self.pinned, self.unseated) = (rods, pinned, unseated);
        Ok(())
    }

    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap) {
        let state = self.state().remapped(&self.model, model, remap);
        self.model = Arc::clone(model);
        // The next step finds out what is held.
        self.pinned = vec![false; model.vertices()];
        self.rods = Rods::new(model, &self.pinned, self.params);
        self.load(&state);
    }
}
