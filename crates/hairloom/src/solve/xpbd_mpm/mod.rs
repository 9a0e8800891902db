//! Hair as Cosserat rods, integrated by extended position-based dynamics, with contact on a grid.
//!
//! # Theory
//!
//! J. Hsu, T. Wang, Z. Pan, X. Gao, C. Yuksel, K. Wu, *Sag-Free Initialization for Strand-Based Hybrid Hair Simulation*, 2023,
//! sections 2.2 and 3.1. Strands are Cosserat rods ([`crate::rod::cosserat`]); a step of theirs predicts the force on every vertex,
//! which goes to a grid together with gravity and the stress of the hair as a granular material ([`crate::grid`]); the grid moves the
//! vertices (figure 2 of the paper).
//!
//! # In practice
//!
//! - One strand per lane; strands of nearly equal length ride together (`pack`).
//! - An iteration solves all joints of a strand at once, then all its segments (`advance`): lengths are kept by one iteration,
//!   whatever the number of vertices, where sweeps from constraint to constraint need as many as there are vertices, squared.
//! - Multipliers begin as they ended in the last step. Hair in equilibrium is then left alone by any number of iterations.
//! - What has been applied to a segment's turning is kept beside it, so that an iteration adds what is missing of the moments at the end of
//!   the step. Moments of forces as they were on the way there would turn taut hair on and on, and whips would gain speed.
//! - After the grid the rods iterate once more, with what it did as a force on the vertices: segments keep their lengths in contact.
//! - Segments turn with an inertia larger than their own ([`Params::rotary_inertia`]): the smaller it is, the less a joint that turns a
//!   segment moves its vertices, and the more iterations bending takes.
//! - Without contact strands move as their rods say, and bodies push single vertices out.
//!
//! # Departures from the paper
//!
//! - Joints and segments are solved strand by strand, not one by one; see above.
//! - Bending and twisting have one stiffness, as in the paper; it is that of bending.
//! - Stiffnesses are those of the material, in SI units: EA l₀ for a segment, so that its force does not hang on l₀, and EI over the
//!   length of a joint.
//! - A root that alone is held is clamped by half a segment that bends.
//! - Vertices take the forces of their rods themselves ([`Params::direct`]); the grid adds contact, and rods answer to it within the step.
//!
//! # Limits
//!
//! - Sections count as round.
//! - The grid sees nothing smaller than its cell.
//! - A rope whose ends are brought together within a step by more than it can give way to, a fifth of its length, is shortened until it has
//!   folded in later ones.
//! - Bodies push single vertices; segments between two vertices may cut a corner.

mod advance;
mod bodies;
mod coupling;
mod drive;
mod pack;
mod params;
mod rods;
mod saved;

pub use params::Params;

use std::sync::Arc;

use self::advance::Conditions;
use self::coupling::Coupling;
use self::drive::{Holds, Part};
use self::rods::Rods;
use super::jump::jumping;
use super::{Checkpoint, CheckpointError, Report, Solver, Step, StepError, check_drive, check_dt};
use crate::groom::Remap;
use crate::math::Pose;
use crate::math::lanes::Row;
use crate::scene::{Attachments, Drive, Model, State, held_vertices};

/// Time step of one quasistatic iteration [s].
const QUASISTATIC_DT: f64 = 0.02;

/// The solver.
#[derive(Debug)]
pub struct XpbdMpm {
    params: Params,
    model: Arc<Model>,
    /// Which vertices are held.
    held: Vec<bool>,
    rods: Rods<Row>,
    /// Contact between strands, where it is on.
    coupling: Option<Coupling>,
    /// Whether frames are still to be turned with the bodies that hold the strands.
    unseated: bool,
    /// What the rods were last told of bodies that hold them, where nothing else was there to be told.
    told: Option<(Attachments, Vec<Pose>)>,
}

impl XpbdMpm {
    /// A solver for `model`, with the hair at rest as groomed until something is loaded.
    pub fn new(model: &Arc<Model>, params: Params) -> Self {
        let held = vec![false; model.vertices()];
        let rods = Rods::new(model, &held, &params);
        let coupling = params.contact.then(|| Coupling::new(model, &rods, &held, &params));
        Self { params, model: Arc::clone(model), held, rods, coupling, unseated: true, told: None }
    }

    /// Lays everything out anew, for other held vertices.
    fn lay_out(&mut self, held: Vec<bool>) {
        self.told = None;
        self.rods = Rods::new(&self.model, &held, &self.params);
        self.coupling =
            self.params.contact.then(|| Coupling::new(&self.model, &self.rods, &held, &self.params));
        self.held = held;
    }

    fn state(&self) -> State {
        let mut state = State::default();
        self.rods.store(&mut state);
        state
    }

    /// Sees to it that strands are laid out for the drive's attachments, and that frames know of their bodies.
    fn follow_attachments(&mut self, drive: &Drive<'_>) {
        if self.told.as_ref().is_some_and(|(attachments, _)| attachments == drive.attachments) {
            return;
        }
        self.told = None;
        let held = held_vertices(&self.model, drive.attachments);
        let changed = held != self.held;
        if !changed && !self.unseated {
            return;
        }
        let mut state = self.state();
        if changed {
            self.lay_out(held);
        }
        if self.unseated {
            state.orientations.clear();
        }
        let holds = Holds::new(&self.model, drive);
        self.rods.load(&self.model, &state, |strand| holds.turn_at_start(strand));
        self.unseated = false;
    }

    /// Takes hair along with bodies that jump.
    fn jump(&mut self, drive: &Drive<'_>) {
        if (0..drive.bodies.len()).any(|body| drive.jumps(body)) {
            let jumping = jumping(drive);
            self.rods.carry(&jumping);
            if let Some(coupling) = &mut self.coupling {
                coupling.carry(&self.model, &jumping);
            }
        }
    }

    /// Parts of a step, each as figure 2 of the paper has it; all at once where strands meet nothing.
    fn pass(&mut self, holds: &Holds<'_>, parts: &[Part<'_>]) -> Result<Report, StepError> {
        let mut report = Report::default();
        let meets = |part: &Part<'_>| part.drive.obstacles().any_collides();
        let at_once = self.coupling.is_none() && !parts.first().is_some_and(meets);
        for parts in parts.chunks(if at_once { parts.len().max(1) } else { 1 }) {
            if let Some(coupling) = &mut self.coupling {
                let conditions = Conditions::new(&parts[0], &self.params);
                report.time("exchange", || coupling.begin(&mut self.rods, &conditions));
            }
            report.iterations += report.time("rods", || self.rods.advance(holds, parts, &self.params))?;
            if at_once {
                break;
            }
            report.add(&self.meet(&parts[0])?);
        }
        Ok(report)
    }

    /// Steps without inertia. Bodies move in the first iteration, and stand in the others.
    fn relax(&mut self, drive: &Drive<'_>, holds: &Holds<'_>, iterations: u32) -> Result<Report, StepError> {
        let mut report = Report::default();
        let still = drive.sub(1.0, 1.0);
        for iteration in 0..iterations {
            let drive = if iteration == 0 { drive } else { &still };
            let part = holds.part(drive, QUASISTATIC_DT, None);
            report.add(&self.pass(holds, &[part])?);
            self.rods.stop();
        }
        Ok(report)
    }

    /// Other strands, through the grid, and bodies at the end of a part.
    fn meet(&mut self, part: &Part<'_>) -> Result<Report, StepError> {
        let mut report = Report::default();
        let obstacles = part.drive.obstacles();
        if let Some(coupling) = &mut self.coupling {
            coupling.step(&self.model, &self.rods, &obstacles, part.dt, &mut report)?;
            let conditions = Conditions::new(part, &self.params);
            report.iterations = report.time("rods", || coupling.take_back(&mut self.rods, conditions));
            self.rods.check()?;
        }
        if obstacles.any_collides() {
            report.contacts =
                report.time("bodies", || self.rods.leave_bodies(&self.model, &obstacles, self.params.margin));
        }
        Ok(report)
    }
}

impl Solver for XpbdMpm {
    fn load(&mut self, state: &State) {
        self.told = None;
        self.rods.load(&self.model, state, |_| glam::DQuat::IDENTITY);
        if let Some(coupling) = &mut self.coupling {
            coupling.relax(&self.model);
        }
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
        let model = Arc::clone(&self.model);
        let holds = Holds::new(&model, drive);
        match step {
            Step::Dynamic { dt } => {
                // A step that is a whole number of parts but for rounding takes no part more.
                let count = (dt / self.params.step - 1.0e-6).ceil().max(1.0);
                let mut parts: Vec<Part<'_>> = Vec::new();
                let told = self.told.take();
                for part in 0..count as u32 {
                    let part = f64::from(part);
                    let drive = drive.sub(part / count, (part + 1.0) / count);
                    let told = told.as_ref().map(|(_, poses)| poses);
                    let told = parts.last().map(|part| &part.poses).or(told);
                    parts.push(holds.part(&drive, dt / count, told.map(Vec::as_slice)));
                }
                report.add(&self.pass(&holds, &parts)?);
                if let Some(part) = parts.pop().filter(|_| holds.says_the_same()) {
                    let attachments = told.map_or_else(|| drive.attachments.clone(), |(same, _)| same);
                    self.told = Some((attachments, part.poses));
                }
            }
            Step::Quasistatic { iterations } => {
                self.told = None;
                // Steps are too long for the grid: other strands are left out, and strain between them begins anew.
                let coupling = self.coupling.take();
                let relaxed = self.relax(drive, &holds, iterations);
                self.coupling = coupling;
                if let Some(coupling) = &mut self.coupling {
                    coupling.relax(&self.model);
                }
                report.add(&relaxed?);
            }
        }
        Ok(report)
    }

    fn store(&self, state: &mut State) {
        self.rods.store(state);
    }

    fn save(&self, out: &mut Checkpoint) {
        out.begin(saved::NAME, saved::VERSION);
        out.put("held", self.held.iter().map(|&held| u32::from(held)).collect());
        out.put("unseated", vec![u32::from(self.unseated)]);
        self.rods.save(out);
        if let Some(coupling) = &self.coupling {
            coupling.save(out);
        }
    }

    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        from.expect(saved::NAME, saved::VERSION)?;
        let held: Vec<bool> =
            from.take::<u32>("held", self.model.vertices())?.iter().map(|&held| held != 0).collect();
        let unseated = from.take::<u32>("unseated", 1)?[0] != 0;
        let mut rods = Rods::new(&self.model, &held, &self.params);
        rods.restore(from)?;
        let mut coupling =
            self.params.contact.then(|| Coupling::new(&self.model, &rods, &held, &self.params));
        if let Some(coupling) = &mut coupling {
            coupling.restore(from)?;
        }
        (self.rods, self.coupling, self.held, self.unseated) = (rods, coupling, held, unseated);
        self.told = None;
        Ok(())
    }

    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap) {
        let state = self.state().remapped(&self.model, model, remap);
        self.model = Arc::clone(model);
        // The next step finds out what is held.
        self.lay_out(vec![false; model.vertices()]);
        self.load(&state);
    }
}
