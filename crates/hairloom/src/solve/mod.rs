//! The solvers and what they share.
//!
//! A [`Method`] is plain data, named by a scene; [`Method::build`] makes the [`Solver`] that steps a model.

pub mod admm;
mod checkpoint;
pub mod der_mpm;
pub mod ftl;
mod jump;
pub(crate) mod leaving;
mod lengths;
mod material_points;
pub mod nsgs;
mod packing;
mod report;
pub mod xpbd_mpm;

pub use checkpoint::{Checkpoint, CheckpointError, Column, ColumnValue};
pub use report::{ContactProblems, Energy, Phase, Report, TimeSteps};

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::contact::nsgs::FullProblem;
use crate::groom::Remap;
use crate::rest::global_force::{Engine, GlobalForceError, Medium, Weights, balance, least_stiffened};
use crate::rest::{
    Against, Forces, Hair, Outcome, RestError, on_helices, own_weight, sag_free, sag_free_binormal,
    sag_free_elastic, sag_free_helices, with_contacts,
};
use crate::rod::der::Measure;
use crate::scene::{Drive, Model, SceneError, SolverSettings, State};

/// How to step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Advance in time.
    Dynamic {
        /// Time step [s].
        dt: f64,
    },
    /// Move towards equilibrium, without inertia.
    Quasistatic {
        /// How many iterations to take.
        iterations: u32,
    },
}

/// Why a step failed. The state before the step is still in the caller's hands.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StepError {
    /// A vertex left the world of finite numbers, or moved absurdly.
    #[error("strand {strand}, vertex {vertex}: {problem}; try more substeps, or calmer motion")]
    Diverged {
        /// Index of the strand.
        strand: usize,
        /// Vertex along the strand.
        vertex: usize,
        /// What happened.
        problem: String,
    },
    /// The step itself makes no sense.
    #[error("{0}")]
    BadStep(String),
}

/// A method at work on one model.
pub trait Solver: Send {
    /// Cold start from a state of any method.
    fn load(&mut self, state: &State);
    /// One step.
    fn step(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError>;
    /// Writes positions and velocities as every method understands them.
    fn store(&self, state: &mut State);

    /// Writes where the vertices are [m], and nothing else: enough for strands that follow, and quicker.
    fn store_positions(&self, positions: &mut Vec<glam::DVec3>) {
        let mut state = State::default();
        self.store(&mut state);
        *positions = state.positions;
    }
    /// Writes all that this method needs to go on bit for bit.
    fn save(&self, out: &mut Checkpoint);
    /// Goes on from a checkpoint.
    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError>;
    /// Goes on, warm, with hair that was trimmed, grown or got other parameters.
    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap);
    /// The contact problem that the last step solved, where the method solves one for all contacts at once.
    fn contact_problem(&self) -> Option<FullProblem> {
        None
    }
}

/// A method with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Method {
    /// Follow the leader (Müller et al. 2012).
    Ftl(ftl::Params),
    /// Elastic rods by the alternating direction method of multipliers (Daviet 2023).
    Admm(admm::Params),
    /// Semi-implicit elastic rods that meet as material points (Huang et al. 2023).
    DerMpm(der_mpm::Params),
    /// Cosserat rods by extended position-based dynamics, with contact on a grid (Hsu et al. 2023).
    XpbdMpm(xpbd_mpm::Params),
    /// Fibres with exact Coulomb friction by nonsmooth Gauss–Seidel (Daviet et al. 2011).
    Nsgs(nsgs::Params),
}

impl Method {
    /// Names of all methods, as scenes and the command line spell them.
    pub const NAMES: &[&str] = &["ftl", "admm", "nsgs", "der-mpm", "xpbd-mpm"];

    /// The method called `name` with its default parameters.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "ftl" => Some(Self::Ftl(ftl::Params::default())),
            "admm" => Some(Self::Admm(admm::Params::default())),
            "der-mpm" => Some(Self::DerMpm(der_mpm::Params::default())),
            "xpbd-mpm" => Some(Self::XpbdMpm(xpbd_mpm::Params::default())),
            "nsgs" => Some(Self::Nsgs(nsgs::Params::default())),
            _ => None,
        }
    }

    /// The method that a scene asks for, with its parameters.
    pub fn from_settings(settings: &SolverSettings) -> Result<Self, SceneError> {
        let parameters = &settings.parameters;
        let method = match settings.method.as_str() {
            "ftl" => Self::Ftl(parameters.read()?),
            "admm" => Self::Admm(parameters.read()?),
            "der-mpm" => Self::DerMpm(parameters.read()?),
            "xpbd-mpm" => Self::XpbdMpm(parameters.read()?),
            "nsgs" => Self::Nsgs(parameters.read()?),
            _ => return Err(settings.unknown_method(Self::NAMES)),
        };
        method.check().map_err(|(key, expected)| parameters.invalid(key, expected))?;
        Ok(method)
    }

    /// The parameter that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match self {
            Self::Ftl(params) => params.check(),
            Self::Admm(params) => params.check(),
            Self::DerMpm(params) => params.check(),
            Self::XpbdMpm(params) => params.check(),
            Self::Nsgs(params) => params.check(),
        }
    }

    /// Longest step that the method takes as one [s]; longer ones it cuts.
    pub fn longest_step(&self) -> f64 {
        match self {
            Self::Nsgs(params) => params.step,
            _ => f64::INFINITY,
        }
    }

    /// The parameter that does not fit a model, if any, and what was expected there.
    pub fn check_for(&self, model: &Model) -> Result<(), (&'static str, &'static str)> {
        match self {
            Self::XpbdMpm(params) => params.check_for(model),
            _ => Ok(()),
        }
    }

    /// The name of this method.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ftl(_) => "ftl",
            Self::Admm(_) => "admm",
            Self::DerMpm(_) => "der-mpm",
            Self::XpbdMpm(_) => "xpbd-mpm",
            Self::Nsgs(_) => "nsgs",
        }
    }

    /// The grid on which strands of this method meet and may carry each other at rest, and their friction there; none elsewhere. Grains of
    /// [`der_mpm`] must be sand for that. Strands of [`admm`] and [`nsgs`] meet at single contacts ([`with_contacts`]).
    pub fn medium(&self, model: &Model) -> Option<Medium> {
        match self {
            Self::XpbdMpm(params) if params.contact => {
                let friction_angle = f64::from(params.grains(model).friction_angle);
                Some(Medium { cell: params.cell_of(model), friction_angle })
            }
            Self::DerMpm(params) if params.grains == der_mpm::GrainKind::Sand => {
                Some(Medium { cell: params.cell_of(model), friction_angle: params.friction_angle })
            }
            _ => None,
        }
    }

    /// A rest shape by which this method keeps hair where it is under gravity, with forces that `engine` finds.
    pub fn sag_free(&self, hair: &Hair<'_>, engine: Engine) -> Result<Outcome, GlobalForceError> {
        let forces = self.resting_forces(hair, engine)?;
        if !matches!(engine, Engine::Anytime { .. }) {
            return Ok(self.rest_shape(hair, forces)?);
        }
        Ok(least_stiffened(&own_weight(hair)?, &forces, |forces| self.rest_shape(hair, forces))?)
    }

    fn resting_forces(&self, hair: &Hair<'_>, engine: Engine) -> Result<Forces, GlobalForceError> {
        if engine == Engine::OwnWeight {
            return Ok(own_weight(hair)?);
        }
        if let Some(medium) = self.medium(hair.model) {
            return Ok(balance(hair, &medium, &Weights::default(), engine)?.forces);
        }
        let method = self.name();
        let nothing = |why: &'static str| Err(RestError::NothingCarries { method, why }.into());
        match (self, engine) {
            (Self::Nsgs(params), Engine::Anytime { .. }) if params.strand_contacts => {
                let fitted;
                let (positions, helices) = match params.fibre {
                    nsgs::FibreKind::SuperHelix => {
                        fitted = on_helices(hair, params.elements)?;
                        (&fitted[..], Some(params.elements))
                    }
                    _ => (hair.positions, None),
                };
                Ok(with_contacts(&Hair { positions, ..*hair }, params.friction, helices)?)
            }
            (Self::Admm(params), Engine::Anytime { .. }) if params.strand_contacts => {
                Ok(with_contacts(hair, 1.0, None)?)
            }
            (Self::Nsgs(_) | Self::Admm(_), Engine::Anytime { .. }) => {
                nothing("strand_contacts is switched off")
            }
            (Self::DerMpm(params), _) => nothing(match params.grains {
                der_mpm::GrainKind::Fluid => "grains of \"fluid\" bear no shear, those of \"sand\" do",
                _ => "without grains strands do not meet, and with grains of \"sand\" they do",
            }),
            _ => Err(RestError::NoGrid { method }.into()),
        }
    }

    /// A rest shape that makes `forces`.
    fn rest_shape(&self, hair: &Hair<'_>, forces: Forces) -> Result<Outcome, RestError> {
        match self {
            Self::XpbdMpm(params) => sag_free(hair, forces, |material| params.stiffness(material)),
            Self::Admm(params)
                if params.bending == Measure::HalfSine && params.clamp == admm::Clamp::Ghost =>
            {
                sag_free_elastic(hair, forces, Against::Itself)
            }
            Self::Admm(_) => Err(RestError::NoRestShape {
                method: "'admm' with another bending than \"half-sine\" or another clamp than \"ghost\"",
                others: "'admm' with both, 'nsgs', 'der-mpm' and 'xpbd-mpm'",
            }),
            Self::DerMpm(params) => sag_free_binormal(hair, forces, |material| params.round_rod(material)),
            Self::Nsgs(params) => match params.fibre {
                nsgs::FibreKind::SuperHelix => sag_free_helices(hair, forces, params.elements),
                _ => sag_free_elastic(hair, forces, Against::LastHeld),
            },
            Self::Ftl(_) => Err(RestError::NoRestShape {
                method: "ftl",
                others: "'admm', 'nsgs', 'der-mpm' and 'xpbd-mpm'",
            }),
        }
    }

    /// A solver for `model`.
    pub fn build(&self, model: &Arc<Model>) -> Box<dyn Solver> {
        match self {
            Self::Ftl(params) => Box::new(ftl::Ftl::new(model, *params)),
            Self::Admm(params) => admm::build(model, *params),
            Self::DerMpm(params) => der_mpm::build(model, *params),
            Self::XpbdMpm(params) => Box::new(xpbd_mpm::XpbdMpm::new(model, *params)),
            Self::Nsgs(params) => Box::new(nsgs::Nsgs::new(model, params.clone())),
        }
    }
}

/// Checks a time step before use.
pub fn check_dt(dt: f64) -> Result<(), StepError> {
    if dt.is_finite() && dt > 0.0 {
        return Ok(());
    }
    Err(StepError::BadStep(format!("the time step is {dt} s; it must be a positive number")))
}

/// Speed beyond which a vertex counts as lost [m/s].
const ABSURD_SPEED: f64 = 1.0e4;

/// The error of a strand one of whose vertices is lost, by their speeds [m/s].
fn lost_vertex(strand: usize, speeds: impl Iterator<Item = f64>) -> Option<StepError> {
    let is_lost = |speed: &f64| speed.is_nan() || *speed >= ABSURD_SPEED;
    let (vertex, speed) = speeds.enumerate().find(|(_, speed)| is_lost(speed))?;
    Some(StepError::Diverged { strand, vertex, problem: format!("its speed became {speed} m/s") })
}

/// Handles must pull at vertices, and attachments hold vertices, that there are.
fn check_drive(model: &Model, drive: &Drive<'_>) -> Result<(), StepError> {
    let vertices = |strand: u32| {
        let strand = strand as usize;
        if strand < model.strands() { model.range(strand).len() } else { 0 }
    };
    let handles = drive.handles.iter();
    let pulled = handles.map(|handle| ("a handle pulls at", handle.strand, handle.vertex as usize));
    let attachments = drive.attachments.items.iter();
    let held = attachments.map(|one| {
        let last = (one.first as usize + one.count as usize).saturating_sub(1);
        ("an attachment holds", one.strand, last)
    });
    match pulled.chain(held).find(|&(_, strand, vertex)| vertex >= vertices(strand)) {
        None => Ok(()),
        Some((what, strand, vertex)) => Err(StepError::BadStep(format!(
            "{what} strand {strand}, vertex {vertex}, which the hair does not have"
        ))),
    }
}
