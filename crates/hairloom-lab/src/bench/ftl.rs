//! The furry monster of Müller et al. 2012: 29,000 strands, 246,500 particles, on a body that walks.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, MeshQuery, MeshSettings, MeshShape, Motion, Obstacles, Shape};
use hairloom::figure;
use hairloom::groom::{Curves, Preset, Root, Style, Surface, grow};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, Wind};
use hairloom::solve::ftl::plain::{Step as PlainStep, Strand};
use hairloom::solve::ftl::{Ftl, Params};
use hairloom::solve::{Report, Solver, Step};
use serde_json::{Map, Value, json};

use super::clock::{forget_peak, on_threads, peak_bytes, shortest};
use super::{Bench, Ratio};

const STRANDS: usize = 29_000;
const DT: f64 = 1.0 / 60.0;
/// Steps before anything is timed, and steps timed.
const WARM_UP: usize = 20;
const TIMED: usize = 40;
/// Strands of the runs that show how cost grows.
const GROWTH: [usize; 5] = [1_000, 5_000, 20_000, 60_000, 200_000];

fn params() -> Params {
    Params { bending: 0.2, friction: 0.05, repulsion: 2.0, cell: 0.02, ..Params::default() }
}

/// Fur on a monster that walks.
struct Monster {
    figure: figure::Figure,
    bodies: Bodies,
    model: Arc<Model>,
    attachments: Attachments,
    wind: Wind,
    time: f64,
}

impl Monster {
    fn new(strands: usize, query: MeshQuery) -> Self {
        let figure = figure::monster();
        let surface = Surface::new(figure.mesh.clone()).with_density(figure.scalp.clone());
        let style = Style { strands: strands as u32, vertices: 9, length: 0.06, ..Preset::ShortFur.style() };
        let groom = grow(&surface, &style, 1).expect("fur grows on the monster");
        // Every other strand loses its last vertex: 8.5 vertices a strand, as in the paper.
        let mut curves = Curves::default();
        for (strand, points) in groom.curves.iter().enumerate() {
            curves.push(points[..points.len() - strand % 2].iter().copied());
        }
        let settings = MeshSettings { cell: None, query };
        let shape = Shape::Mesh(MeshShape::new(&figure.mesh, settings).expect("a sound mesh"));
        let mut bodies = Bodies::new(vec![Body::new("monster", shape, 0.3).expect("a sound body")]);
        let rest = figure.mesh.points.clone();
        bodies.begin_step(&[Motion::Deforming { start: &rest, end: &rest }], DT).expect("a body at rest");
        let mut attachments = Attachments::default();
        for (strand, root) in groom.roots.iter().enumerate() {
            let seat = match *root {
                Root::Triangle { triangle, weights } => Seat::Triangle { triangle, weights },
                Root::Free | Root::Rigid => Seat::Body,
            };
            let held: Vec<DVec3> = curves.strand(strand)[..1].iter().map(|p| p.as_dvec3()).collect();
            attachments.hold(&bodies, 0, seat, strand as u32, 0, &held);
        }
        let model = Model::new(&curves, &Material::preset(MaterialPreset::Fur)).expect("sound fur");
        Self { figure, bodies, model: Arc::new(model), attachments, wind: Wind::still(), time: 0.0 }
    }

    /// Moves the body on; returns the wall time of making its distance field [s].
    fn walk(&mut self) -> f64 {
        let points = |time| self.figure.pose_in("walk", time).expect("the monster walks");
        let (start, end) = (points(self.time), points(self.time + DT));
        self.time += DT;
        let bodies = &mut self.bodies;
        shortest(1, || {
            bodies.begin_step(&[Motion::Deforming { start: &start, end: &end }], DT).expect("a sound motion");
        })
    }

    fn drive(&self) -> Drive<'_> {
        let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
        drive.time = self.time;
        drive.duration = DT;
        drive
    }

    fn step(&self, solver: &mut Ftl) -> Report {
        solver.step(&self.drive(), Step::Dynamic { dt: DT }).expect("fur does not diverge")
    }

    fn strand_step<'a>(&self, obstacles: &'a Obstacles<'a>, strand: usize) -> PlainStep<'a> {
        let attachment = &self.attachments.items[strand];
        let frame = self.drive().seat_frame(attachment, 1.0);
        PlainStep {
            dt: DT as f32,
            root: frame.apply(self.attachments.points_of(attachment)[0]).as_vec3(),
            gravity: Vec3::new(0.0, -9.81, 0.0),
            bodies: Some(obstacles),
        }
    }
}

/// Shortest time of each stage over the timed steps [s].
#[derive(Default)]
struct Stages {
    field: f64,
    distance: f64,
    solve: f64,
    density: f64,
    again: f64,
    drive: f64,
    copy: f64,
    plain: f64,
    contacts: u64,
}

fn phase(report: &Report, name: &str) -> f64 {
    report.phases.iter().find(|phase| phase.name == name).map_or(0.0, |phase| phase.seconds)
}

/// Steps the fur and times its stages; with them a copy of positions and velocities, and the plain version.
fn time_stages(monster: &mut Monster, copies: bool, plain: bool) -> Stages {
    let mut solver = Ftl::new(&monster.model, params());
    // The copy is for the paper's scene alone: it would weigh on the memory of the larger ones.
    let numbers = if copies { 6 * monster.model.vertices() } else { 0 };
    let (source, mut target) = (vec![1.0_f32; numbers], vec![0.0_f32; numbers]);
    let mut strands = if plain { plain_strands(monster) } else { Vec::new() };
    let least =
        |shortest: &mut f64, new: f64| *shortest = if *shortest == 0.0 { new } else { shortest.min(new) };
    let mut stages = Stages::default();
    for step in 0..WARM_UP + TIMED {
        let field = monster.walk();
        let report = monster.step(&mut solver);
        if step < WARM_UP {
            continue;
        }
        least(&mut stages.field, field);
        least(&mut stages.distance, phase(&report, "distance"));
        least(&mut stages.solve, phase(&report, "solve"));
        least(&mut stages.density, phase(&report, "density"));
        least(&mut stages.again, phase(&report, "look again"));
        least(&mut stages.drive, phase(&report, "drive"));
        stages.contacts = stages.contacts.max(report.contacts);
        least(&mut stages.copy, shortest(1, || copy(&source, &mut target)));
        if plain {
            let obstacles = monster.bodies.at(1.0);
            let steps: Vec<PlainStep<'_>> =
                (0..strands.len()).map(|strand| monster.strand_step(&obstacles, strand)).collect();
            strands.iter_mut().zip(&steps).for_each(|(strand, step)| strand.look_ahead(step));
            least(
                &mut stages.plain,
                shortest(1, || {
                    strands.iter_mut().zip(&steps).for_each(|(strand, step)| strand.step(step, &params()))
                }),
            );
        }
    }
    std::hint::black_box(target);
    stages
}

/// Copies on as many threads as the solver has.
fn copy(source: &[f32], target: &mut [f32]) {
    use rayon::prelude::*;
    let part = source.len().div_ceil(rayon::current_num_threads()).max(1);
    target.par_chunks_mut(part).zip(source.par_chunks(part)).for_each(|(to, from)| to.copy_from_slice(from));
}

fn plain_strands(monster: &Monster) -> Vec<Strand> {
    let model = &monster.model;
    (0..model.strands())
        .map(|strand| {
            let range = model.range(strand);
            let positions = model.groomed[range.clone()].to_vec();
            let lengths = model.rest_lengths[range.clone()].iter().map(|&l| l as f32).collect();
            Strand::new(positions, lengths, model.radii[range.start] + params().margin as f32)
        })
        .collect()
}

pub(super) fn run() -> Bench {
    let mut rows = Vec::new();
    let mut ratios = Vec::new();
    for (threads, query) in [(1, MeshQuery::Grid), (2, MeshQuery::Grid), (2, MeshQuery::Exact)] {
        let mut monster = Monster::new(STRANDS, query);
        let stages = on_threads(threads, || time_stages(&mut monster, true, threads == 1));
        let scene = if query == MeshQuery::Grid { "monster" } else { "monster, exact distances" };
        rows.push(stage_row(scene, &monster, threads, &stages));
        if query == MeshQuery::Exact {
            continue;
        }
        let name = format!("solve against one copy of positions and velocities, {threads} thread(s)");
        ratios.push(Ratio::at_most(name, stages.solve / stages.copy, 5.0));
        if threads == 1 {
            let name = "plain scalar code against the solve stage, one thread";
            ratios.push(Ratio::at_least(name, stages.plain / stages.solve, 4.0));
        }
    }
    let mut per_particle = Vec::new();
    for strands in GROWTH {
        let mut monster = Monster::new(strands, MeshQuery::Grid);
        forget_peak();
        let stages = on_threads(2, || time_stages(&mut monster, false, false));
        let particles = monster.model.vertices() as f64;
        let all = stages.solve + stages.distance + stages.again + stages.density + stages.drive;
        per_particle.push(all / particles);
        rows.push(stage_row("growth", &monster, 2, &stages));
    }
    if let Some(peak) = peak_bytes() {
        let particles = GROWTH[GROWTH.len() - 1] as f64 * 8.5;
        let name = "bytes a particle while 200,000 strands are simulated, whole process";
        ratios.push(Ratio::at_most(name, peak as f64 / particles, 200.0));
    }
    // From 20,000 strands on: smaller grooms fit into the caches, or leave threads idle.
    let (first, last) = (per_particle[2], per_particle[per_particle.len() - 1]);
    ratios.push(Ratio::at_most("cost a particle at 200,000 strands against 20,000", last / first, 1.5));
    let smallest = per_particle[0];
    ratios.push(Ratio::at_most("cost a particle at 200,000 strands against 1,000", last / smallest, 1.5));
    Bench { bench: "ftl", rows, ratios }
}

fn row<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn stage_row(scene: &str, monster: &Monster, threads: usize, stages: &Stages) -> Map<String, Value> {
    let milliseconds = |seconds: f64| json!(seconds * 1.0e3);
    row([
        ("scene", json!(scene)),
        ("strands", json!(monster.model.strands())),
        ("particles", json!(monster.model.vertices())),
        ("threads", json!(threads)),
        ("contacts", json!(stages.contacts)),
        ("distance_field_ms", milliseconds(stages.field)),
        ("distance_ms", milliseconds(stages.distance)),
        ("look_again_ms", milliseconds(stages.again)),
        ("density_ms", milliseconds(stages.density)),
        ("solve_ms", milliseconds(stages.solve)),
        ("drive_ms", milliseconds(stages.drive)),
        ("copy_ms", milliseconds(stages.copy)),
        ("plain_solve_ms", milliseconds(stages.plain)),
        ("solve_ns_per_particle", json!(stages.solve * 1.0e9 / monster.model.vertices() as f64)),
    ])
}
