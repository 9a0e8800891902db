//! Strands for experiments: curves, a material and a hold become a rig that can be relaxed and stepped.
//!
//! All configurations of an experiment share one rig, strand beside strand, so that they are solved at once. Strands
//! do not meet each other: see [`alone`].

use std::sync::Arc;

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::rest::global_force::{Engine, GlobalForceError, Medium, Weights, balance};
use hairloom::rest::{Hair, Outcome, force_only, own_weight, sag_free};
use hairloom::scene::{
    Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind, held_vertices,
};
use hairloom::solve::{Method, Report, Solver, Step, der_mpm};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::BadKey;

/// Acceleration of gravity on earth [m/s²].
pub(crate) const GRAVITY: f64 = 9.81;

/// What holds every strand of a rig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Nothing.
    Free,
    /// The root is clamped: its place and its direction as groomed.
    Root,
    /// The root is clamped, and the tip stays where it is but turns freely.
    Both,
    /// Root and tip are clamped; each tip by a body of its own.
    Clamps,
}

/// A round elastic hair in still air without drag: radius [m], Young's modulus [Pa], density [kg/m³], Poisson's ratio.
pub(crate) fn hair(radius: f64, young: f64, density: f64, poisson: f64) -> Material {
    let preset = Material::preset(MaterialPreset::Coarse);
    Material { radius, young, density, poisson, flatness: 0.0, drag: 0.0, ..preset }
}

/// What every experiment with rods takes, flattened into its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rod {
    /// Radius of the hair [m].
    pub(crate) radius: f64,
    /// Young's modulus [Pa].
    pub(crate) young: f64,
    /// Density [kg/m³].
    pub(crate) density: f64,
    /// Poisson's ratio.
    pub(crate) poisson: f64,
    /// Length of the hair [m]; 0 where the experiment has lengths of its own.
    pub(crate) length: f64,
    /// Length of an edge [m]; 0 where the experiment has edges of its own.
    pub(crate) edge: f64,
}

/// The parameters of [`Rod`].
pub(crate) const ROD_HELP: &[(&str, &str)] = &[
    ("radius", "radius of the hair [m]"),
    ("young", "Young's modulus [Pa]"),
    ("density", "density [kg/m³]"),
    ("poisson", "Poisson's ratio"),
    ("length", "length of the hair [m]; 0 takes the experiment's own"),
    ("edge", "length of an edge [m]; 0 takes the experiment's own"),
];

impl Rod {
    /// Usual hair of this length and edges of that [m].
    pub(crate) fn of(length: f64, edge: f64) -> Self {
        Self { radius: 5.0e-5, young: 3.0e9, density: 1300.0, poisson: 0.45, length, edge }
    }

    /// Its material, without drag.
    pub(crate) fn material(&self) -> Material {
        hair(self.radius, self.young, self.density, self.poisson)
    }

    /// Edges of a strand of `length` [m]: those asked for, and without such `usual`.
    pub(crate) fn edges(&self, length: f64, usual: usize) -> usize {
        if self.edge > 0.0 { (length / self.edge).round().max(2.0) as usize } else { usual }
    }

    /// The length asked for, and without such the experiment's own [m].
    pub(crate) fn lengths(&self, own: &[f64]) -> Vec<f64> {
        if self.length > 0.0 { vec![self.length; own.len()] } else { own.to_vec() }
    }

    /// Refuses what no rod is like. Only what is `usual`ly 0 may be.
    pub(crate) fn check(&self, usual: &Self) -> Result<(), BadKey> {
        let ranges = [
            ("radius", self.radius, 1.0e-6, 1.0e-2),
            ("young", self.young, 1.0e3, 1.0e13),
            ("density", self.density, 1.0, 1.0e5),
            ("poisson", self.poisson, -0.9, 0.5),
        ];
        ranges.into_iter().try_for_each(check_range)?;
        if self.length != 0.0 || usual.length != 0.0 {
            check_range(("length", self.length, 1.0e-3, 100.0))?;
        }
        if self.edge == 0.0 && usual.edge == 0.0 {
            return Ok(());
        }
        let range =
            if self.length == 0.0 { [1.0e-6, 1.0] } else { [self.length / 2000.0, self.length / 2.0] };
        check_range(("edge", self.edge, range[0], range[1]))
    }
}

/// How much a rod of `length` [m] weighs beside its stiffness, `Γ = ρ g A L³ / E I`.
pub(crate) fn heaviness(material: &Material, length: f64) -> f64 {
    material.mass_per_length() * GRAVITY * length.powi(3) / material.rod_stiffness()[0]
}

/// Adapts the usual parameters of a solver to strands that are computed side by side but never meet.
pub(crate) fn alone(method: &mut Method) {
    match method {
        Method::Admm(params) => params.strand_contacts = false,
        Method::DerMpm(params) => params.grains = der_mpm::GrainKind::None,
        Method::XpbdMpm(params) => params.contact = false,
        Method::Nsgs(params) => params.strand_contacts = false,
        Method::Ftl(_) => {}
    }
}

/// As [`alone`], for equilibria: iterations go on until nothing moves.
pub(crate) fn still(method: &mut Method) {
    alone(method);
    if let Method::Admm(params) = method {
        params.tolerance = 0.0;
    }
}

/// Refuses a value outside its range: key, value, lowest, highest.
pub(crate) fn check_range((key, value, low, high): (&'static str, f64, f64, f64)) -> Result<(), BadKey> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((key, format!("it is {value}; it must lie between {low} and {high}")))
}

/// Refuses lists that are empty, too long, or hold a value outside the range.
pub(crate) fn check_list(
    key: &'static str,
    list: &[f64],
    most: usize,
    low: f64,
    high: f64,
) -> Result<(), BadKey> {
    if list.is_empty() || list.len() > most {
        return Err((key, format!("it has {} values; 1 to {most} are expected", list.len())));
    }
    match list.iter().find(|value| !(low..=high).contains(*value)) {
        Some(value) => Err((key, format!("{value} is among them; all must lie between {low} and {high}"))),
        None => Ok(()),
    }
}

/// A straight curve of equal edges.
pub(crate) fn straight(direction: DVec3, length: f64, edges: usize) -> Vec<DVec3> {
    (0..=edges).map(|i| direction * (length * i as f64 / edges as f64)).collect()
}

/// Strands, what holds them, and a solver.
pub(crate) struct Rig {
    pub(crate) model: Arc<Model>,
    /// Acceleration of gravity [m/s²].
    pub(crate) gravity: DVec3,
    /// Simulated time [s].
    pub(crate) time: f64,
    /// How the air moves.
    pub(crate) wind: Wind,
    bodies: Bodies,
    attachments: Attachments,
    solver: Box<dyn Solver>,
}

impl Rig {
    /// Strands of one material, naturally shaped like `curves` and at rest there, under gravity along −y.
    pub(crate) fn new(
        curves: &[Vec<DVec3>],
        material: &Material,
        hold: Hold,
        method: &Method,
    ) -> Result<Self, LabError> {
        let mut groomed = Curves::default();
        for curve in curves {
            groomed.push(curve.iter().map(|point| point.as_vec3()));
        }
        let model = Arc::new(Model::new(&groomed, material)?);
        let holder = Body { name: "clamp".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        let count = if hold == Hold::Clamps { 1 + groomed.strands() } else { 1 };
        let mut bodies = Bodies::new(vec![holder; count]);
        bodies.begin_step(&vec![Motion::still(Pose::IDENTITY); count], 0.0)?;
        let mut attachments = Attachments::default();
        for strand in 0..groomed.strands() {
            let points = groomed.strand(strand);
            let mut pin = |vertex: usize, point: Vec3| {
                let (strand, first) = (strand as u32, vertex as u32);
                attachments.hold(&bodies, 0, Seat::Body, strand, first, &[point.as_dvec3()]);
            };
            if let (Hold::Root | Hold::Both | Hold::Clamps, [first, ..]) = (hold, points) {
                pin(0, *first);
            }
            if let (Hold::Both, [_, .., last]) = (hold, points) {
                pin(points.len() - 1, *last);
            }
            if let (Hold::Clamps, [_, .., last]) = (hold, points) {
                let (body, index, first) = (strand + 1, strand as u32, points.len() as u32 - 1);
                attachments.clamp(&bodies, body, Seat::Body, index, first, &[last.as_dvec3()]);
            }
        }
        let solver = method.build(&model);
        let gravity = DVec3::NEG_Y * GRAVITY;
        Ok(Self { model, gravity, time: 0.0, bodies, attachments, wind: Wind::still(), solver })
    }

    /// Strands of one material, naturally shaped like `curves` and at rest there, held by a body wherever `held` says so, under gravity
    /// along −y.
    pub(crate) fn on_body(
        curves: &Curves,
        material: &Material,
        held: &[bool],
        body: Body,
        method: &Method,
    ) -> Result<Self, LabError> {
        let model = Arc::new(Model::new(curves, material)?);
        let mut bodies = Bodies::new(vec![body]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], 0.0)?;
        let mut attachments = Attachments::default();
        for strand in 0..curves.strands() {
            let range = curves.range(strand);
            let vertices: Vec<usize> = range.clone().filter(|&vertex| held[vertex]).collect();
            for run in vertices.chunk_by(|a, b| a + 1 == *b) {
                let points: Vec<DVec3> = run.iter().map(|&vertex| curves.points[vertex].as_dvec3()).collect();
                let first = (run[0] - range.start) as u32;
                attachments.hold(&bodies, 0, Seat::Body, strand as u32, first, &points);
            }
        }
        let solver = method.build(&model);
        let gravity = DVec3::NEG_Y * GRAVITY;
        Ok(Self { model, gravity, time: 0.0, bodies, attachments, wind: Wind::still(), solver })
    }

    /// Moves the body that holds the strands, from one pose to another, during the next step.
    pub(crate) fn move_body(&mut self, start: Pose, end: Pose, dt: f64) -> Result<(), LabError> {
        Ok(self.bodies.begin_step(&[Motion::Rigid { start, end }], dt)?)
    }

    /// The same in another field of gravity [m/s²].
    pub(crate) fn with_gravity(mut self, gravity: DVec3) -> Self {
        self.gravity = gravity;
        self
    }

    /// The same with a rest shape by which gravity leaves the hair where it is, and what it took.
    pub(crate) fn sag_free(self, method: &Method) -> Result<(Self, Outcome), LabError> {
        self.sag_free_by(method, Engine::OwnWeight)
    }

    /// The same with forces that an engine finds.
    pub(crate) fn sag_free_by(self, method: &Method, engine: Engine) -> Result<(Self, Outcome), LabError> {
        self.shaped(method, |hair| method.sag_free(hair, engine))
    }

    /// The same hair, where it is and as fast as it is, when nothing touches it any more but what holds it, which stands still in the world.
    pub(crate) fn let_go(mut self, method: &Method) -> Result<Self, LabError> {
        let state = self.state();
        let mut method = method.clone();
        alone(&mut method);
        let clamp = Body { name: "clamp".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        self.bodies = Bodies::new(vec![clamp]);
        self.bodies.begin_step(&[Motion::still(Pose::IDENTITY)], 0.0)?;
        self.solver = method.build(&self.model);
        self.solver.load(&state);
        Ok(self)
    }

    /// Which strands touch a body, or nearly.
    pub(crate) fn touches_body(&self) -> Vec<bool> {
        let (state, obstacles) = (self.state(), self.bodies.at(1.0));
        let near = |vertex: usize| {
            let room = 2.0 * self.model.radii[vertex];
            obstacles.exact_distance(state.positions[vertex].as_vec3()) < room
        };
        (0..self.model.strands()).map(|strand| self.model.range(strand).skip(1).any(near)).collect()
    }

    /// The same with a rest shape by which forces balance, and moments do not; for Cosserat rods.
    pub(crate) fn force_only(self, method: &Method) -> Result<Self, LabError> {
        let Method::XpbdMpm(params) = method else { return Ok(self) };
        let (rig, _) = self.shaped(method, |hair| {
            Ok(force_only(hair, own_weight(hair)?, |material| params.stiffness(material))?)
        })?;
        Ok(rig)
    }

    /// The same with a rest shape by which contact in a medium carries a part, and what it took; for Cosserat rods.
    pub(crate) fn balanced(
        self,
        method: &Method,
        medium: &Medium,
        weights: &Weights,
        engine: Engine,
    ) -> Result<(Self, Outcome), LabError> {
        self.shaped(method, |hair| match method {
            Method::XpbdMpm(params) => {
                let forces = balance(hair, medium, weights, engine)?.forces;
                Ok(sag_free(hair, forces, |material| params.stiffness(material))?)
            }
            other => other.sag_free(hair, engine),
        })
    }

    /// The same with a rest shape.
    fn shaped(
        mut self,
        method: &Method,
        find: impl Fn(&Hair<'_>) -> Result<Outcome, GlobalForceError>,
    ) -> Result<(Self, Outcome), LabError> {
        let positions: Vec<DVec3> = self.model.groomed.iter().map(|point| point.as_dvec3()).collect();
        let held = held_vertices(&self.model, &self.attachments);
        let hair = Hair { model: &self.model, positions: &positions, held: &held, gravity: self.gravity };
        let outcome = find(&hair)?;
        let shape = outcome.shape.clone();
        let orientations = shape.orientations.clone();
        self.model = Arc::new(Model { rest: Some(Arc::new(shape)), ..(*self.model).clone() });
        self.solver = method.build(&self.model);
        self.solver.load(&State { orientations, ..State::at_rest(positions) });
        Ok((self, outcome))
    }

    /// The same with the first and the last two vertices of every strand held, the last two by a body of their own.
    pub(crate) fn with_held_ends(mut self) -> Self {
        self.attachments = Attachments::default();
        for strand in 0..self.model.strands() {
            let points: Vec<DVec3> =
                self.model.groomed[self.model.range(strand)].iter().map(|point| point.as_dvec3()).collect();
            let (index, last) = (strand as u32, points.len() - 2);
            self.attachments.hold(&self.bodies, 0, Seat::Body, index, 0, &points[..2]);
            let tip = strand + 1;
            self.attachments.hold(&self.bodies, tip, Seat::Body, index, last as u32, &points[last..]);
        }
        self
    }

    /// Moves the body of each tip, from one pose to another, during the next step.
    pub(crate) fn move_tips(&mut self, tips: &[(Pose, Pose)], dt: f64) -> Result<(), LabError> {
        let moved = tips.iter().map(|&(start, end)| Motion::Rigid { start, end });
        let motions: Vec<Motion> = std::iter::once(Motion::still(Pose::IDENTITY)).chain(moved).collect();
        Ok(self.bodies.begin_step(&motions, dt)?)
    }

    /// The same with the tips held elsewhere than groomed [m].
    pub(crate) fn with_tips(mut self, tips: &[DVec3]) -> Self {
        let Attachments { items, points } = &mut self.attachments;
        for (item, &tip) in items.iter().filter(|item| item.first > 0).zip(tips) {
            // The clamp does not move: its frame is the world's.
            points[item.points as usize] = tip;
        }
        self
    }

    /// The same with each tip's clamp moved from where it was groomed.
    pub(crate) fn with_clamps(mut self, clamps: &[Pose]) -> Result<Self, LabError> {
        let tips = clamps.iter().map(|&pose| Motion::still(pose));
        let motions: Vec<Motion> = std::iter::once(Motion::still(Pose::IDENTITY)).chain(tips).collect();
        self.bodies.begin_step(&motions, 0.0)?;
        Ok(self)
    }

    /// Goes on by `dt` [s].
    pub(crate) fn step(&mut self, dt: f64) -> Result<Report, LabError> {
        let report = self.advance(Step::Dynamic { dt }, dt)?;
        self.time += dt;
        Ok(report)
    }

    /// Iterates towards equilibrium.
    pub(crate) fn settle(&mut self, iterations: u32) -> Result<Report, LabError> {
        self.advance(Step::Quasistatic { iterations }, 0.0)
    }

    /// Iterates until no vertex moves by more than `tolerance` times the length of its strand in `batch` iterations, at
    /// most `limit` iterations. Returns how many it took.
    pub(crate) fn relax(&mut self, batch: u32, tolerance: f64, limit: u32) -> Result<u32, LabError> {
        let mut before = self.state();
        let mut taken = 0;
        while taken < limit {
            self.settle(batch)?;
            taken += batch;
            let now = self.state();
            let moved = (0..self.model.strands()).map(|strand| {
                let range = self.model.range(strand);
                let length: f64 = self.model.rest_lengths[range.clone()].iter().sum();
                range.map(|v| now.positions[v].distance(before.positions[v])).fold(0.0, f64::max) / length
            });
            if moved.fold(0.0, f64::max) <= tolerance {
                break;
            }
            before = now;
        }
        Ok(taken)
    }

    /// Where everything is.
    pub(crate) fn state(&self) -> State {
        let mut state = State::default();
        self.solver.store(&mut state);
        state
    }

    /// Takes everything elsewhere.
    pub(crate) fn load(&mut self, state: &State) {
        self.solver.load(state);
    }

    /// The positions of each strand [m].
    pub(crate) fn shapes(&self) -> Vec<Vec<DVec3>> {
        let state = self.state();
        (0..self.model.strands()).map(|strand| state.positions[self.model.range(strand)].to_vec()).collect()
    }

    /// How far each strand is at most from a curve, over its length.
    pub(crate) fn away(&self, curves: &[Vec<DVec3>]) -> Vec<f64> {
        let length = |curve: &[DVec3]| curve.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f64>();
        let far = |(shape, curve): (&Vec<DVec3>, &Vec<DVec3>)| {
            let farthest = shape.iter().zip(curve).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            farthest / length(curve)
        };
        self.shapes().iter().zip(curves).map(far).collect()
    }

    fn advance(&mut self, step: Step, duration: f64) -> Result<Report, LabError> {
        let Self { bodies, attachments, wind, gravity, time, solver, .. } = self;
        let mut drive = Drive::new(bodies, attachments, wind);
        (drive.gravity, drive.time, drive.duration) = (*gravity, *time, duration);
        solver.step(&drive, step).map_err(|source| LabError::Step { time: *time, source })
    }
}
