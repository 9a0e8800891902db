//! Experiments on Coulomb friction between hair and a floor.

mod incline;
mod reference;
mod stick_slip;

pub(crate) use incline::Incline;
pub(crate) use stick_slip::StickSlip;

use std::sync::Arc;

use glam::DVec3;
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Drive, Frictions, Material, Model, Seat, State, Wind};
use hairloom::solve::{Checkpoint, Method, Solver, Step};

use crate::LabError;

/// Strands over a floor, which is the plane y = 0, and a clamp that may move.
struct Floor {
    model: Arc<Model>,
    bodies: Bodies,
    attachments: Attachments,
    wind: Wind,
    gravity: DVec3,
    time: f64,
    clamp: DVec3,
    solver: Box<dyn Solver>,
    state: State,
}

impl Floor {
    /// Strands of one material, naturally shaped like `curves`, over a floor of `friction`; `clamped` holds their roots.
    fn new(
        curves: &[Vec<DVec3>],
        material: &Material,
        friction: f64,
        clamped: bool,
        method: &Method,
    ) -> Result<Self, LabError> {
        let mut groomed = Curves::default();
        curves.iter().for_each(|curve| groomed.push(curve.iter().map(|point| point.as_vec3())));
        let model = Arc::new(Model::new(&groomed, material)?);
        let bodies = bodies(friction)?;
        let mut attachments = Attachments::default();
        for (strand, curve) in curves.iter().enumerate().filter(|_| clamped) {
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &curve[..1]);
        }
        let solver = method.build(&model);
        let (clamp, gravity, wind) = (DVec3::ZERO, DVec3::ZERO, Wind::still());
        let (time, state) = (0.0, State::default());
        Ok(Self { model, bodies, attachments, wind, gravity, time, clamp, solver, state })
    }

    /// Gives each strand a coefficient of friction with the floor of its own; everything goes on as it was, forces too.
    fn set_frictions(&mut self, coefficients: &[f64], method: &Method) -> Result<(), LabError> {
        let materials = vec![self.model.materials[0]; coefficients.len()];
        let mut frictions = Frictions::new(&materials);
        for (strand, &friction) in coefficients.iter().enumerate() {
            frictions.set_with_body(strand as u16, FLOOR, friction as f32);
        }
        let material_of = (0..coefficients.len() as u16).collect();
        self.model = Arc::new(Model { materials, material_of, frictions, ..(*self.model).clone() });
        let mut all = Checkpoint::default();
        self.solver.save(&mut all);
        self.solver = method.build(&self.model);
        Ok(self.solver.restore(&all)?)
    }

    /// Goes on by `dt` [s] while the clamp moves to `clamp`, counted from where it began [m].
    fn step(&mut self, clamp: DVec3, dt: f64) -> Result<(), LabError> {
        let pose = |translation: DVec3| Pose { translation, ..Pose::IDENTITY };
        let motion = Motion::Rigid { start: pose(self.clamp), end: pose(clamp) };
        self.bodies.begin_step(&[motion, Motion::still(Pose::IDENTITY)], dt)?;
        let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
        (drive.gravity, drive.time, drive.duration) = (self.gravity, self.time, dt);
        let step = self.solver.step(&drive, Step::Dynamic { dt });
        step.map_err(|source| LabError::Step { time: self.time, source })?;
        self.clamp = clamp;
        self.time += dt;
        self.solver.store(&mut self.state);
        Ok(())
    }
}

/// Which of the [`bodies`] is the floor.
const FLOOR: usize = 1;

/// A clamp and a floor, at rest.
fn bodies(friction: f64) -> Result<Bodies, LabError> {
    let clamp = Body { name: "clamp".into(), shape: Shape::Plane, friction: 0.0, collides: false };
    let floor = Body::new("floor", Shape::Plane, friction as f32)?;
    let mut bodies = Bodies::new(vec![clamp, floor]);
    bodies.begin_step(&[Motion::still(Pose::IDENTITY), Motion::still(Pose::IDENTITY)], 0.0)?;
    Ok(bodies)
}
