//! The solver under test on a rope: a hand that holds it, and at times a ball that hits it.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Method, Report, Solver, Step};

use super::params::Params;
use super::track::{Frame, Path, Rig};
use crate::LabError;

/// Where the hand is, as seen from what it holds: too far off to be touched [m].
const HAND_OFFSET: DVec3 = DVec3::new(0.0, 1.0e3, 0.0);

/// How the rope is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Nothing,
    FirstEnd,
    BothEnds,
}

/// A sphere that moves evenly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ball {
    pub(super) radius: f64,
    pub(super) start: DVec3,
    pub(super) velocity: DVec3,
}

impl Ball {
    /// Its centre at a time [m].
    pub(super) fn centre(&self, time: f64) -> DVec3 {
        self.start + self.velocity * time
    }
}

/// The solver on one rope.
pub(super) struct Leader {
    solver: Box<dyn Solver>,
    bodies: Bodies,
    attachments: Attachments,
    wind: Wind,
    gravity: DVec3,
    dt: f64,
    /// How far the hand has moved [m].
    moved: DVec3,
    first: DVec3,
    ball: Option<Ball>,
    state: State,
}

impl Leader {
    /// A rope with segments of the rest length, at rest at `positions` whatever their distances are.
    pub(super) fn new(
        params: &Params,
        method: &Method,
        hold: Hold,
        positions: Vec<DVec3>,
        ball: Option<Ball>,
    ) -> Result<Self, LabError> {
        let model = Arc::new(model(params, positions.len())?);
        let still = |centre: DVec3| Pose { rotation: DQuat::IDENTITY, translation: centre };
        let mut list = vec![Body::new("hand", Shape::Sphere { radius: 0.01 }, 0.0)?];
        let mut motions = vec![Motion::still(still(HAND_OFFSET))];
        if let Some(ball) = &ball {
            list.push(Body::new("ball", Shape::Sphere { radius: ball.radius as f32 }, 0.0)?);
            motions.push(Motion::still(still(ball.start)));
        }
        let mut bodies = Bodies::new(list);
        bodies.begin_step(&motions, params.dt)?;
        let mut attachments = Attachments::default();
        let last = positions.len() - 1;
        if hold != Hold::Nothing {
            attachments.hold(&bodies, 0, Seat::Body, 0, 0, &positions[..1]);
        }
        if hold == Hold::BothEnds {
            attachments.hold(&bodies, 0, Seat::Body, 0, last as u32, &positions[last..]);
        }
        let mut solver = method.build(&model);
        let first = positions[0];
        let state = State::at_rest(positions);
        solver.load(&state);
        Ok(Self {
            solver,
            bodies,
            attachments,
            wind: Wind::still(),
            gravity: params.gravity(),
            dt: params.dt,
            moved: DVec3::ZERO,
            first,
            ball,
            state,
        })
    }

    /// The same world without weight.
    pub(super) fn weightless(mut self) -> Self {
        self.gravity = DVec3::ZERO;
        self
    }

    fn begin(&mut self, root: DVec3, time: f64) -> Result<(), LabError> {
        let pose = |translation: DVec3| Pose { rotation: DQuat::IDENTITY, translation };
        let moved = root - self.first;
        let mut motions =
            vec![Motion::Rigid { start: pose(HAND_OFFSET + self.moved), end: pose(HAND_OFFSET + moved) }];
        if let Some(ball) = &self.ball {
            let (start, end) = (ball.centre(time - self.dt), ball.centre(time));
            motions.push(Motion::Rigid { start: pose(start), end: pose(end) });
        }
        self.bodies.begin_step(&motions, self.dt)?;
        self.moved = moved;
        Ok(())
    }

    fn advance(&mut self, time: f64) -> Result<Report, LabError> {
        let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
        drive.gravity = self.gravity;
        drive.time = time - self.dt;
        drive.duration = self.dt;
        self.solver
            .step(&drive, Step::Dynamic { dt: self.dt })
            .map_err(|source| LabError::Step { time, source })
    }
}

impl Rig for Leader {
    fn step(&mut self, path: Path<'_>, time: f64) -> Result<(), LabError> {
        self.begin(path(time), time)?;
        self.advance(time)?;
        self.solver.store(&mut self.state);
        Ok(())
    }

    fn frame(&self) -> Frame {
        Frame { positions: self.state.positions.clone(), velocities: self.state.velocities.clone() }
    }
}

/// A rope of the rest lengths and masses asked for, in still air.
fn model(params: &Params, particles: usize) -> Result<Model, LabError> {
    let mut curves = Curves::default();
    curves.push((0..particles).map(|i| glam::Vec3::NEG_Y * (params.segment * i as f64) as f32));
    let material = Material { drag: 0.0, ..Material::preset(MaterialPreset::Straight) };
    let mut model = Model::new(&curves, &material)?;
    // Not as the coordinates of the groom round them.
    let last = particles - 1;
    model.rest_lengths[..last].fill(params.segment);
    model.masses.fill(params.mass as f32);
    Ok(model)
}
