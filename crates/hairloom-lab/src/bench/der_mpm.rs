//! The scenes of table 1 of Huang et al. 2023: a dance and long hair, with all strands following their guides, and how cost grows.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3, Vec3};
use hairloom::body::{Bodies, Body, MeshQuery, MeshSettings, MeshShape, Motion, Shape};
use hairloom::figure;
use hairloom::groom::{Curves, Follow, Groom, Preset, Style, Surface, grow};
use hairloom::math::{Pose, Random};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, Wind};
use hairloom::solve::der_mpm::{Params, build};
use hairloom::solve::{Report, Solver, Step};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::clock::{forget_peak, on_threads, peak_bytes, shortest};
use super::{Bench, Ratio};

const THREADS: usize = 2;
/// Frames a second.
const RATE: f64 = 60.0;
/// Frames before anything is timed, and frames timed.
const WARM_UP: usize = 10;
const TIMED: usize = 60;
/// Step of the grid [s].
const SMALL: f64 = 1.0 / 360.0;
/// Vertices that the head holds of every strand.
const HELD: usize = 2;

/// What the head turns about [m].
const NECK: DVec3 = DVec3::new(0.0, 1.5, 0.0);

/// How the head moves.
#[derive(Clone, Copy, PartialEq)]
enum Path {
    /// It dances.
    Dance,
    /// It is somewhere else at every step.
    Random,
}

/// One scene of the table.
#[derive(Clone, Copy)]
struct Scene {
    name: &'static str,
    /// Strands that are simulated, their vertices, and how many have one vertex more.
    strands: usize,
    vertices: usize,
    longer: usize,
    /// Mean length of a strand [m].
    length: f32,
    /// Strands that are drawn.
    followers: usize,
    path: Path,
    /// Steps of the grid in each step of the rods.
    substeps: u32,
}

const DANCE: Scene = Scene {
    name: "dance",
    strands: 2_076,
    vertices: 13,
    longer: 126,
    length: 0.12,
    followers: 69_000,
    path: Path::Dance,
    substeps: 3,
};
const LONG: Scene = Scene {
    name: "long hair",
    strands: 1_053,
    vertices: 41,
    longer: 89,
    length: 0.4,
    followers: 35_100,
    path: Path::Dance,
    substeps: 3,
};

/// Where a dancing head is.
fn dancing(time: f64) -> Pose {
    let swing = |rate: f64| (std::f64::consts::TAU * rate * time).sin();
    let begin = (2.0 * time).min(1.0);
    let rotation = DQuat::from_rotation_y(0.9 * begin * swing(0.8))
        * DQuat::from_rotation_x(0.25 * begin * swing(1.6))
        * DQuat::from_rotation_z(0.2 * begin * swing(0.4));
    let way = DVec3::new(0.12 * swing(0.4), 0.05 * swing(1.6), 0.08 * swing(0.8)) * begin;
    Pose { rotation, translation: NECK - rotation * NECK + way }
}

/// Hair on a bust.
struct Head {
    scene: Scene,
    bodies: Bodies,
    model: Arc<Model>,
    attachments: Attachments,
    wind: Wind,
    solver: Box<dyn Solver>,
    follow: Option<Follow>,
    /// Where the strands that follow begin, on the resting head [m].
    roots: Vec<Vec3>,
    /// What the strands that follow are posed by, and where they are [m].
    positions: Vec<DVec3>,
    guides: Vec<Vec3>,
    roots_now: Vec<Vec3>,
    points: Vec<Vec3>,
    random: Random,
    pose: Pose,
    time: f64,
}

impl Head {
    fn new(scene: Scene) -> Self {
        let figure = figure::bust();
        let surface = Surface::new(figure.mesh.clone()).with_density(figure.scalp.clone());
        let hair = |strands: usize, vertices: usize| {
            let (strands, vertices) = (strands as u32, vertices as u32);
            let style = Style { strands, vertices, length: scene.length, ..Preset::Straight.style() };
            grow(&surface, &style, 1).expect("hair grows on the bust")
        };
        let grown = hair(scene.strands, scene.vertices + 1);
        let mut curves = Curves::default();
        for (strand, points) in grown.curves.iter().enumerate() {
            let shorter = usize::from(strand >= scene.longer);
            curves.push(points[..points.len() - shorter].iter().copied());
        }
        let settings = MeshSettings { cell: None, query: MeshQuery::Grid };
        let shape = Shape::Mesh(MeshShape::new(&figure.mesh, settings).expect("a sound mesh"));
        let mut bodies = Bodies::new(vec![Body::new("head", shape, 0.2).expect("a sound body")]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], SMALL).expect("a body at rest");
        let mut attachments = Attachments::default();
        for strand in 0..curves.strands() {
            let held: Vec<DVec3> = curves.strand(strand)[..HELD].iter().map(|p| p.as_dvec3()).collect();
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &held);
        }
        let material = Material::preset(MaterialPreset::Straight);
        let model = Arc::new(Model::new(&curves, &material).expect("sound hair"));
        let substeps = scene.substeps;
        let params = Params { substeps, step: SMALL * f64::from(substeps), ..Params::table_2() };
        let solver = build(&model, params);
        let (mut follow, mut roots, mut points) = (None, Vec::new(), Vec::new());
        if scene.followers > 0 {
            let strands = hair(scene.followers, scene.vertices);
            let guides = Groom { curves, ..Groom::default() };
            let strands = Groom { curves: strands.curves, ..Groom::default() };
            follow = Some(Follow::bind(&guides, &strands).expect("there are guides"));
            (roots, points) = (strands.curves.root_points(), strands.curves.points);
        }
        let (random, wind, pose) = (Random::new(4), Wind::still(), Pose::IDENTITY);
        Self {
            scene,
            bodies,
            model,
            attachments,
            wind,
            solver,
            follow,
            roots_now: roots.clone(),
            roots,
            positions: Vec::new(),
            guides: Vec::new(),
            points,
            random,
            pose,
            time: 0.0,
        }
    }

    /// Where the head is next, `dt` [s] from now.
    fn next_pose(&mut self, dt: f64) -> Pose {
        match self.scene.path {
            Path::Dance => dancing(self.time + dt),
            Path::Random => {
                let place = self.random.direction().as_dvec3() * 0.5;
                let axis = self.random.direction().as_dvec3();
                let angle = std::f64::consts::PI * f64::from(self.random.unit());
                Pose { rotation: DQuat::from_axis_angle(axis, angle), translation: place }
            }
        }
    }

    /// One frame: a step of the dance, or as many steps as the rods take where each has a pose of its own.
    fn frame(&mut self, phases: &mut Report) {
        let steps = match self.scene.path {
            Path::Dance => 1,
            Path::Random => (1.0 / (RATE * SMALL * f64::from(self.scene.substeps))).round() as usize,
        };
        let dt = 1.0 / (RATE * steps as f64);
        for _ in 0..steps {
            let end = self.next_pose(dt);
            self.bodies.begin_step(&[Motion::Rigid { start: self.pose, end }], dt).expect("a sound motion");
            let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
            (drive.time, drive.duration) = (self.time, dt);
            let report = self.solver.step(&drive, Step::Dynamic { dt }).expect("hair does not diverge");
            phases.contacts = phases.contacts.max(report.contacts);
            report.phases.iter().for_each(|phase| phases.add_seconds(phase.name, phase.seconds));
            (self.pose, self.time) = (end, self.time + dt);
        }
        if let Some(follow) = &mut self.follow {
            phases.time("interpolation", || {
                self.solver.store_positions(&mut self.positions);
                self.guides.clear();
                self.guides.extend(self.positions.iter().map(|p| p.as_vec3()));
                let (turn, shift) = (DMat3::from_quat(self.pose.rotation), self.pose.translation);
                let roots = self.roots_now.par_iter_mut().zip(&self.roots).with_min_len(4096);
                roots.for_each(|(now, root)| *now = (turn * root.as_dvec3() + shift).as_vec3());
                follow
                    .apply(&self.guides, &self.roots_now, &mut self.points)
                    .expect("as many points as were bound");
            });
        }
    }
}

/// Time of a frame [s], and the row.
fn run_scene(scene: Scene, warm_up: usize, timed: usize) -> (f64, Map<String, Value>) {
    forget_peak();
    let mut head = Head::new(scene);
    for _ in 0..warm_up {
        head.frame(&mut Report::default());
    }
    let mut phases = Report::default();
    let mut least = f64::INFINITY;
    let total = shortest(1, || {
        for _ in 0..timed {
            least = least.min(shortest(1, || head.frame(&mut phases)));
        }
    });
    let seconds = total / timed as f64;
    let table: Map<String, Value> = phases
        .phases
        .iter()
        .map(|phase| (phase.name.to_owned(), json!(phase.seconds / timed as f64)))
        .collect();
    let entries = [
        ("scene", json!(scene.name)),
        ("substeps", json!(scene.substeps)),
        ("strands", json!(head.model.strands())),
        ("vertices", json!(head.model.vertices())),
        ("followers", json!(scene.followers)),
        ("contacts", json!(phases.contacts)),
        ("seconds_per_frame", json!(seconds)),
        ("least_seconds_per_frame", json!(least)),
        ("peak_bytes", json!(peak_bytes())),
        ("phases", Value::Object(table)),
    ];
    (seconds, entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub(super) fn run() -> Bench {
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    let mut timed = |scene: Scene, warm_up, timed| {
        let (seconds, row) = on_threads(THREADS, || run_scene(scene, warm_up, timed));
        rows.push(row);
        seconds
    };
    let dance = timed(DANCE, WARM_UP, TIMED);
    timed(Scene { substeps: 1, ..DANCE }, WARM_UP, TIMED);
    let random = Scene { name: "random trajectory", path: Path::Random, substeps: 2, ..DANCE };
    timed(random, WARM_UP, TIMED);
    let long = timed(LONG, WARM_UP, TIMED);
    ratios.push(Ratio::at_least("dance: frames a second", 1.0 / dance, 60.0));
    ratios.push(Ratio::at_least("long hair: frames a second", 1.0 / long, 30.0));
    let grown = |strands: usize| Scene { name: "growth", strands, followers: 0, longer: 0, ..DANCE };
    let costs: Vec<(usize, f64)> =
        [500, 5_000, 50_000].map(|strands| (strands, timed(grown(strands), 2, 4))).to_vec();
    let per_strand = |(strands, seconds): (usize, f64)| seconds / strands as f64;
    let growth = per_strand(costs[2]) / per_strand(costs[0]);
    ratios.push(Ratio::at_most("50,000 strands against 500: cost of a strand", growth, 1.5));
    Bench { bench: "der-mpm", rows, ratios }
}
