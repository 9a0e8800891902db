//! A tuft of hair that meets itself: on a ball that moves, or loose above the ground.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::{Pose, Random};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Method, Report, Solver, Step};

use crate::LabError;

/// Radius of the ball [m].
pub(super) const BALL: f64 = 0.09;

/// Hair, the one body that it meets, and a solver.
pub(super) struct Tuft {
    pub(super) model: Arc<Model>,
    bodies: Bodies,
    attachments: Attachments,
    wind: Wind,
    solver: Box<dyn Solver>,
    time: f64,
}

/// A random turn, every one as likely as any other.
pub(super) fn any_turn(random: &mut Random) -> DQuat {
    let [u, v, w] = [random.unit(), random.unit(), random.unit()].map(f64::from);
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    let ((sin, cos), (other_sin, other_cos)) = ((TAU * v).sin_cos(), (TAU * w).sin_cos());
    DQuat::from_xyzw(a * sin, a * cos, b * other_sin, b * other_cos).normalize()
}

impl Tuft {
    /// Straight strands that stand on the upper three quarters of a ball, two vertices of each held.
    pub(super) fn on_ball(
        strands: usize,
        vertices: usize,
        length: f64,
        method: &Method,
    ) -> Result<Self, LabError> {
        let mut curves = Curves::default();
        for strand in 0..strands {
            // A golden spiral, from the top down.
            let height = 1.0 - 1.5 * (strand as f64 + 0.5) / strands as f64;
            let (angle, flat) = (PI * (3.0 - 5.0f64.sqrt()) * strand as f64, (1.0 - height * height).sqrt());
            let out = DVec3::new(flat * angle.cos(), height, flat * angle.sin());
            let edge = length / (vertices - 1) as f64;
            curves.push((0..vertices).map(|i| (out * (BALL + edge * i as f64)).as_vec3()));
        }
        Self::new(&curves, Shape::Sphere { radius: BALL as f32 }, 2, method)
    }

    /// Loose strands above the ground.
    pub(super) fn loose(curves: &Curves, method: &Method) -> Result<Self, LabError> {
        Self::new(curves, Shape::Plane, 0, method)
    }

    fn new(curves: &Curves, shape: Shape, held: usize, method: &Method) -> Result<Self, LabError> {
        let model = Arc::new(Model::new(curves, &Material::preset(MaterialPreset::Straight))?);
        let body = Body { name: "body".into(), shape, friction: 0.2, collides: true };
        let mut bodies = Bodies::new(vec![body]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], 0.0)?;
        let mut attachments = Attachments::default();
        for strand in 0..if held > 0 { curves.strands() } else { 0 } {
            let points: Vec<DVec3> = curves.strand(strand)[..held].iter().map(|p| p.as_dvec3()).collect();
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &points);
        }
        let solver = method.build(&model);
        Ok(Self { model, bodies, attachments, wind: Wind::still(), solver, time: 0.0 })
    }

    /// Goes on by `dt` [s], while the body goes from one pose to another.
    pub(super) fn step(&mut self, start: Pose, end: Pose, dt: f64) -> Result<Report, LabError> {
        self.bodies.begin_step(&[Motion::Rigid { start, end }], dt)?;
        let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
        (drive.time, drive.duration) = (self.time, dt);
        let report = self.solver.step(&drive, Step::Dynamic { dt });
        let report = report.map_err(|source| LabError::Step { time: self.time, source })?;
        self.time += dt;
        Ok(report)
    }

    /// Where everything is.
    pub(super) fn state(&self) -> State {
        let mut state = State::default();
        self.solver.store(&mut state);
        state
    }

    /// Largest relative change of an edge's length.
    pub(super) fn stretch(&self, state: &State) -> f64 {
        let edges = (0..self.model.vertices()).filter(|&v| self.model.rest_lengths[v] > 0.0);
        let stretch = edges
            .map(|v| state.positions[v + 1].distance(state.positions[v]) / self.model.rest_lengths[v] - 1.0);
        // What is no number must not get lost among the others.
        stretch.fold(0.0, |worst: f64, s| if s.is_nan() { s } else { worst.max(s.abs()) })
    }

    /// Farthest that a vertex is from its root, beside the length of its strand.
    pub(super) fn reach(&self, state: &State) -> f64 {
        let of_strand = |strand: usize| {
            let range = self.model.range(strand);
            let (root, length) =
                (state.positions[range.start], self.model.rest_lengths[range.clone()].iter().sum::<f64>());
            range.map(|v| state.positions[v].distance(root)).fold(0.0, f64::max) / length
        };
        (0..self.model.strands()).map(of_strand).fold(0.0, f64::max)
    }
}
