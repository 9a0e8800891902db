//! A small world for the suite: strands on a ball that moves as told.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Report, Solver, Step, StepError};

pub(crate) const DT: f64 = 1.0 / 60.0;

/// How strands are held.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Hold {
    Root(usize),
    BothEnds,
    Nothing,
}

pub(crate) struct World {
    pub(crate) model: Arc<Model>,
    pub(crate) bodies: Bodies,
    pub(crate) attachments: Attachments,
    pub(crate) wind: Wind,
    pub(crate) gravity: DVec3,
    pub(crate) path: fn(f64) -> Pose,
    pub(crate) time: f64,
    pub(crate) jumps: bool,
}

/// A body that stands still.
pub(crate) fn still(_: f64) -> Pose {
    Pose::IDENTITY
}

/// A body shaken hard about two axes, up to about 10 m/s.
pub(crate) fn shaken(time: f64) -> Pose {
    let swing = DVec3::new((11.0 * time).sin(), 0.4 * (17.0 * time).sin(), 0.6 * (7.0 * time).sin());
    Pose {
        rotation: DQuat::from_rotation_y(2.0 * (9.0 * time).sin())
            * DQuat::from_rotation_x((13.0 * time).sin()),
        translation: swing * 0.8,
    }
}

/// Strands of `lengths.len()` different lengths hanging from a ball of 5 cm, far from it in x.
pub(crate) fn hanging(strands: usize) -> Curves {
    let mut curves = Curves::default();
    for strand in 0..strands {
        let count = 5 + strand % 7;
        let root = Vec3::new(0.06 + 0.001 * strand as f32, 0.0, 0.0007 * (strand % 13) as f32);
        let edge = 0.008 + 0.0003 * (strand % 5) as f32;
        curves.push((0..count).map(|i| root + Vec3::NEG_Y * (i as f32 * edge)));
    }
    curves
}

/// Strands that stick out sideways, so that they fall.
pub(crate) fn sideways(strands: usize) -> Curves {
    let mut curves = hanging(strands);
    for strand in 0..strands {
        let range = curves.range(strand);
        let root = curves.points[range.start];
        for point in &mut curves.points[range] {
            let drop = root.y - point.y;
            *point = root + Vec3::new(drop, 0.1 * drop, 0.05 * drop);
        }
    }
    curves
}

impl World {
    pub(crate) fn new(curves: &Curves, hold: Hold, obstacles: Vec<(Shape, Pose)>) -> Self {
        let model = Arc::new(Model::new(curves, &Material::preset(MaterialPreset::Straight)).unwrap());
        let mut list = vec![Body::new("mount", Shape::Sphere { radius: 0.05 }, 0.2).unwrap()];
        list.extend(obstacles.iter().map(|(shape, _)| Body::new("obstacle", shape.clone(), 0.2).unwrap()));
        let mut bodies = Bodies::new(list);
        let mut motions = vec![Motion::still(Pose::IDENTITY)];
        motions.extend(obstacles.iter().map(|(_, pose)| Motion::still(*pose)));
        bodies.begin_step(&motions, DT).unwrap();
        let mut attachments = Attachments::default();
        for strand in 0..curves.strands() {
            let points: Vec<DVec3> = curves.strand(strand).iter().map(|p| p.as_dvec3()).collect();
            let last = points.len() - 1;
            match hold {
                Hold::Root(count) => {
                    attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &points[..count])
                }
                Hold::BothEnds => {
                    attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &points[..1]);
                    attachments.hold(&bodies, 0, Seat::Body, strand as u32, last as u32, &points[last..]);
                }
                Hold::Nothing => {}
            }
        }
        let gravity = DVec3::new(0.0, -9.81, 0.0);
        Self {
            model,
            bodies,
            attachments,
            wind: Wind::still(),
            gravity,
            path: still,
            time: 0.0,
            jumps: false,
        }
    }

    pub(crate) fn drive(&self) -> Drive<'_> {
        let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
        drive.gravity = self.gravity;
        drive.time = self.time;
        drive.duration = DT;
        drive
    }

    /// Moves the mount on by one step, and leaves the others where they are.
    pub(crate) fn begin(&mut self, obstacles: &[(Shape, Pose)]) {
        let (start, end) = ((self.path)(self.time), (self.path)(self.time + DT));
        let mut motions = vec![Motion::Rigid { start, end }];
        motions.extend(obstacles.iter().map(|(_, pose)| Motion::still(*pose)));
        let jumps = self.jumps;
        self.bodies.begin_step_with_jumps(&motions, |body| jumps && body == 0, DT).unwrap();
    }

    /// Steps of 1/60 s.
    pub(crate) fn run(&mut self, solver: &mut dyn Solver, steps: usize) -> Result<Report, StepError> {
        let mut report = Report::default();
        for _ in 0..steps {
            self.begin(&[]);
            report.add(&solver.step(&self.drive(), Step::Dynamic { dt: DT })?);
            self.time += DT;
        }
        Ok(report)
    }

    pub(crate) fn state(&self, solver: &dyn Solver) -> State {
        let mut state = State::default();
        solver.store(&mut state);
        state
    }

    pub(crate) fn groomed(&self) -> State {
        State::at_rest(self.model.groomed.iter().map(|point| point.as_dvec3()).collect())
    }

    /// Largest relative stretch of any edge.
    pub(crate) fn stretch(&self, state: &State) -> f64 {
        let edges = (0..self.model.strands()).flat_map(|s| {
            let range = self.model.range(s);
            range.start..range.end - 1
        });
        edges
            .map(|v| {
                (state.positions[v + 1] - state.positions[v]).length() / self.model.rest_lengths[v] - 1.0
            })
            .fold(0.0, |worst: f64, stretch| worst.max(stretch.abs()))
    }
}
