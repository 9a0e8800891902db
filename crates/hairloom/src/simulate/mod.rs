//! A scene at work: hair and bodies made from their descriptions, stepped frame by frame. No files are touched;
//! what a scene names comes through a [`Library`].

mod between;
mod hair;
mod library;
mod materials;
mod measure;
mod track;

pub use hair::Imported;
pub use library::{AnimatedMesh, Library, NoFiles};
pub use measure::{Measures, Worst, Written, measure, measure_written};

use std::fmt;
use std::sync::Arc;

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use self::between::Between;
use self::hair::Followers;
use self::track::{Track, motions};
use crate::body::{Bodies, Body, BodyError, Motion, Shape, TriMesh};
use crate::contact::nsgs::FullProblem;
use crate::groom::{FARTHEST, Groom};
use crate::math::Pose;
use crate::rest::global_force::{Engine, GlobalForceError};
use crate::rest::{Hair, Outcome};
use crate::scene::{
    Attach, Attachments, Drive, Model, ModelError, RestEngine, RestKind, Scene, SceneError, SolverSettings,
    State, held_vertices,
};
use crate::solve::{Checkpoint, CheckpointError, Method, Report, Solver, Step, StepError};

/// Something the user should know, though the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub String);

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Why a scene cannot be simulated, or stopped.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The scene says something that cannot be.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The groom cannot be used.
    #[error("groom: {0}")]
    Groom(String),
    /// A body cannot be used.
    #[error("body '{body}': {problem}")]
    Body {
        /// Its name.
        body: String,
        /// What is wrong.
        problem: String,
    },
    /// The hair cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A body's motion cannot be followed.
    #[error("frame {frame}: {source}")]
    Motion {
        /// The frame under way.
        frame: u32,
        /// What is wrong.
        source: BodyError,
    },
    /// The solver failed.
    #[error("frame {frame}: {source}")]
    Step {
        /// The frame under way.
        frame: u32,
        /// What happened.
        source: StepError,
    },
    /// The hair has no rest shape that would hold it.
    #[error("rest shape: {0}")]
    Rest(#[from] GlobalForceError),
    /// A checkpoint does not belong to this scene.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// What happened during a frame.
#[derive(Debug, Clone, Serialize)]
pub struct FrameReport {
    /// The frame, 0 being the start.
    pub frame: u32,
    /// Scene time [s].
    pub time: f64,
    /// The solver's own report, over all steps of the frame.
    pub solver: Report,
    /// Measures of the state at the end.
    pub measures: Measures,
    /// Wall time of the frame [s].
    pub seconds: f64,
}

/// All strands at the end of a frame, guides and followers, as caches and pictures want them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Points of all strands [m].
    pub points: Vec<Vec3>,
    /// Their velocities [m/s].
    pub velocities: Vec<Vec3>,
}

/// A body as caches and pictures want it.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyView {
    /// Its name.
    pub name: String,
    /// Its mesh: in its own frame where it moves as a whole, in the world at the start where it deforms.
    pub mesh: TriMesh,
    /// Whether its points move by themselves.
    pub deforms: bool,
    /// Red, green and blue, from 0 to 1, where the scene asks for one colour.
    pub color: Option<[f32; 3]>,
    /// The colours of the mesh's points, where a figure is painted and the scene asks for nothing else.
    pub point_colors: Vec<Vec3>,
}

/// A scene at work.
pub struct Simulation {
    scene: Scene,
    model: Arc<Model>,
    bodies: Bodies,
    tracks: Vec<Track>,
    attachments: Attachments,
    solver: Box<dyn Solver>,
    /// Longest step that the solver takes as one [s].
    longest_step: f64,
    groom: Groom,
    followers: Option<Followers>,
    state: State,
    /// The state before the last step.
    before: State,
    strands: Frame,
    /// Whether a point of the strands is outside of all bodies for sure, where they follow guides among bodies.
    outside: Vec<bool>,
    frame: u32,
    /// Steps that were done.
    steps: u64,
    warnings: Vec<Warning>,
    imported: Imported,
    rest: Option<Outcome>,
    /// Time that finding it took [s].
    rest_seconds: f64,
}

impl Simulation {
    /// Sets a scene up at its start time.
    pub fn new(scene: Scene, library: &dyn Library) -> Result<Self, SimulationError> {
        let method = Method::from_settings(&scene.solver)?;
        let start = scene.time.start;
        let mut warnings: Vec<Warning> = materials::warning(&scene, &method).into_iter().collect();
        let (mut tracks, mut list) = (Vec::new(), Vec::new());
        for settings in &scene.bodies {
            let (track, body) = Track::new(settings, start, &scene.material, library)?;
            tracks.push(track);
            list.push(body);
        }
        let holder = scene.bodies.iter().position(|body| scene.groom.body.as_deref() == Some(&body.name));
        // Hair that no body holds is held by the world.
        if holder.is_none() {
            list.push(Body { name: "world".into(), shape: Shape::Plane, friction: 0.0, collides: false });
        }
        let mut bodies = Bodies::new(list);
        move_bodies(&mut bodies, &mut tracks, start, start)
            .map_err(|source| SimulationError::Motion { frame: 0, source })?;
        let holder_track = holder.map(|index| (index, &tracks[index]));
        let (groom, imported) = hair::make_groom(&scene, holder_track, &bodies, library, &mut warnings)?;
        if scene.groom.guides.is_some() && scene.groom.attach != Attach::Root {
            let problem = "guides need hair that is held at its roots; set groom.attach to \"root\", or leave out guides";
            return Err(SimulationError::Groom(problem.into()));
        }
        let holding = holder.unwrap_or(tracks.len());
        let deforms = holder.is_some_and(|index| tracks[index].deforms());
        let all_seats = hair::seats(&groom, &bodies, holding, deforms);
        let (simulated, seats, followers) = match &scene.groom.guides {
            Some(guides) => {
                let (guides, seats, followers) = hair::pick(&groom, &all_seats, guides, &bodies, holding)?;
                (guides, seats, Some(followers))
            }
            None => (groom.clone(), all_seats, None),
        };
        let mut model = materials::model(&scene, &simulated)?;
        let parameters = &scene.solver.parameters;
        method.check_for(&model).map_err(|(key, expected)| parameters.invalid(key, expected))?;
        let pinned = hair::pinned(&simulated, &scene.groom)?;
        let attachments = hair::hold(&simulated, &seats, scene.groom.attach, &pinned, &bodies, holding);
        let mut state = State::at_rest(model.groomed.iter().map(|point| point.as_dvec3()).collect());
        let mut rest = None;
        let mut rest_seconds = 0.0;
        if scene.solver.rest == RestKind::SagFree {
            let held = held_vertices(&model, &attachments);
            let gravity = scene.gravity.at(start);
            let hair = Hair { model: &model, positions: &state.positions, held: &held, gravity };
            let clock = std::time::Instant::now();
            let outcome = method.sag_free(&hair, engine(&scene.solver))?;
            rest_seconds = clock.elapsed().as_secs_f64();
            model.rest = Some(Arc::new(outcome.shape.clone()));
            state.orientations.clone_from(&outcome.shape.orientations);
            rest = Some(outcome);
        }
        let model = Arc::new(model);
        let mut solver = method.build(&model);
        solver.load(&state);
        let velocities = vec![Vec3::ZERO; groom.curves.points.len()];
        let strands = Frame { points: groom.curves.points.clone(), velocities };
        Ok(Self {
            scene,
            model,
            bodies,
            tracks,
            attachments,
            solver,
            longest_step: method.longest_step(),
            groom,
            followers,
            before: state.clone(),
            state,
            strands,
            outside: Vec::new(),
            frame: 0,
            steps: 0,
            warnings,
            imported,
            rest,
            rest_seconds,
        })
    }

    /// The rest shape that was found for the hair, where the scene asks for one.
    pub fn rest(&self) -> Option<&Outcome> {
        self.rest.as_ref()
    }

    /// Time that finding the rest shape took [s].
    pub fn rest_seconds(&self) -> f64 {
        self.rest_seconds
    }

    /// Which vertices are held.
    pub fn held(&self) -> Vec<bool> {
        held_vertices(&self.model, &self.attachments)
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The whole groom as it starts, followers included.
    pub fn groom(&self) -> &Groom {
        &self.groom
    }

    /// The model of the simulated strands.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The state of the simulated strands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where the bodies are at the end of the last step.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// All strands at the end of the last frame.
    pub fn strands(&self) -> &Frame {
        &self.strands
    }

    /// The contact problem that the last step solved, where the method solves one for all contacts at once.
    pub fn contact_problem(&self) -> Option<FullProblem> {
        self.solver.contact_problem()
    }

    /// The last frame that was finished; 0 before the first step.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What was found out about the groom of a file when it was put on its body.
    pub fn imported(&self) -> &Imported {
        &self.imported
    }

    /// The bodies to show, in the scene's order.
    pub fn body_views(&self) -> Vec<BodyView> {
        let view = |track: &Track| {
            let mut mesh = track.mesh.clone();
            if track.deforms() {
                mesh.points = track.points(self.scene.time.start);
            }
            let (deforms, color, point_colors) = (track.deforms(), track.color(), track.paint.clone());
            BodyView { name: track.name().into(), mesh, deforms, color, point_colors }
        };
        self.tracks.iter().map(view).collect()
    }

    /// The samples that a body moves through, if they come from a file.
    pub fn body_animation(&self, body: usize) -> Option<&AnimatedMesh> {
        self.tracks[body].animation()
    }

    /// Where a body's frame is at a frame of the scene.
    pub fn body_pose(&self, body: usize, frame: u32) -> Pose {
        self.tracks[body].pose(self.scene.time.frame_time(frame))
    }

    /// The points of a body in the world at a frame of the scene [m].
    pub fn body_points(&self, body: usize, frame: u32) -> Vec<Vec3> {
        self.tracks[body].points(self.scene.time.frame_time(frame))
    }

    /// Simulates the next frame. After an error [`Self::strands`] still holds the last finished one.
    pub fn advance(&mut self) -> Result<FrameReport, SimulationError> {
        let clock = std::time::Instant::now();
        let frame = self.frame + 1;
        let time = self.scene.time;
        let (end, last) = (time.frame_time(frame), time.steps_until(frame));
        let mut report = Report::default();
        let mut jumped = false;
        while self.steps < last {
            let (from, to) = (time.step_time(self.steps), time.step_time(self.steps + 1));
            if self.steps + 1 == last && to > end {
                self.solver.store(&mut self.before);
            }
            jumped |= self.step(from, to, &mut report)?;
            self.steps += 1;
        }
        let gravity = self.scene.gravity.at(end);
        self.solver.store(&mut self.state);
        self.show_state_at(end)?;
        let mut measures = report
            .time("measure", || measure(&self.model, &self.state, &self.bodies, &self.attachments, gravity));
        self.check(frame, &measures)?;
        let shown = std::time::Instant::now();
        self.show_strands(jumped)?;
        if self.followers.is_some() {
            report.add_seconds("followers", shown.elapsed().as_secs_f64());
            measures.written = report.time("measure", || {
                measure_written(&self.groom.curves, &self.strands.points, &self.bodies, &self.outside)
            });
        }
        self.frame = frame;
        Ok(FrameReport { frame, time: end, solver: report, measures, seconds: clock.elapsed().as_secs_f64() })
    }

    /// One step of the scene, from one time to another [s]. A solver that would cut it anyway is asked for the parts: bodies go evenly through
    /// what it is asked for, and their speed would jump from one frame to the next. Returns whether the body that holds the hair jumped.
    fn step(&mut self, from: f64, to: f64, report: &mut Report) -> Result<bool, SimulationError> {
        let frame = self.frame + 1;
        // What is a whole number of parts but for rounding takes no part more.
        let parts = ((to - from) / self.longest_step - 1.0e-6).ceil().max(1.0);
        let time = |part: f64| if part == parts { to } else { from + (to - from) * part / parts };
        let mut jumped = false;
        for part in 0..parts as u64 {
            let (from, to) = (time(part as f64), time(part as f64 + 1.0));
            let moved = std::time::Instant::now();
            self.move_bodies(from, to)?;
            report.add_seconds("bodies", moved.elapsed().as_secs_f64());
            let mut drive = Drive::new(&self.bodies, &self.attachments, &self.scene.wind);
            drive.gravity = self.scene.gravity.at(from);
            drive.time = from;
            drive.duration = to - from;
            // One body holds all hair.
            let holder = self.attachments.items.first();
            jumped |= holder.is_some_and(|held| self.bodies.jumps(held.body as usize));
            let step = self.solver.step(&drive, Step::Dynamic { dt: to - from });
            report.add(&step.map_err(|source| SimulationError::Step { frame, source })?);
        }
        Ok(jumped)
    }

    /// Brings the state, which is that after the last step, back to a time during it.
    fn show_state_at(&mut self, time: f64) -> Result<(), SimulationError> {
        let (from, to) = match self.steps.checked_sub(1) {
            Some(before) => (self.scene.time.step_time(before), self.scene.time.step_time(self.steps)),
            None => return Ok(()),
        };
        let left = (to - time) / (to - from);
        if left < 1.0e-6 {
            return Ok(());
        }
        let holder = self.attachments.items.first().and_then(|held| self.tracks.get(held.body as usize));
        let jumps = holder.is_some_and(|track| track.teleports(from, to));
        let pose = |time: f64| holder.map_or(Pose::IDENTITY, |track| track.pose(time));
        let poses = [pose(from), pose(time), pose(to)];
        let between = Between { poses, part: if jumps { 1.0 } else { 1.0 - left } };
        let lengths = between.bring_back(&self.before, &mut self.state);
        self.move_bodies(time, time)?;
        between::put_held(&self.model, &self.attachments, &self.bodies, &mut self.state);
        between::keep_lengths(&self.model, &self.held(), &lengths, &mut self.state.positions);
        Ok(())
    }

    /// No cache gets a state that is not finite, or out of this world.
    fn check(&self, frame: u32, measures: &Measures) -> Result<(), SimulationError> {
        let far = |p: &DVec3| p.is_nan() || p.abs().max_element() >= f64::from(FARTHEST);
        let State { positions, velocities, .. } = &self.state;
        let lost = positions.par_iter().position_first(far).map(|v| (v, "its position is out of this world"));
        let lost = lost.or_else(|| {
            let fast = velocities.par_iter().position_first(far);
            fast.map(|v| (v, "its velocity is out of this world"))
        });
        let sums = measures.kinetic_energy + measures.potential_energy + measures.stretch.value;
        let lost = lost.or((!sums.is_finite()).then_some((0, "its energy is not a finite number")));
        let Some((vertex, problem)) = lost else { return Ok(()) };
        let strand = self.model.offsets.partition_point(|&offset| offset as usize <= vertex) - 1;
        let vertex = vertex - self.model.range(strand).start;
        let problem = problem.to_owned();
        Err(SimulationError::Step { frame, source: StepError::Diverged { strand, vertex, problem } })
    }

    fn move_bodies(&mut self, begin: f64, end: f64) -> Result<(), SimulationError> {
        let moved = move_bodies(&mut self.bodies, &mut self.tracks, begin, end);
        moved.map_err(|source| SimulationError::Motion { frame: self.frame + 1, source })
    }

    /// Brings all strands to where the simulated ones are. A jump is no motion: after one, followers move as their
    /// guides do.
    fn show_strands(&mut self, jumped: bool) -> Result<(), SimulationError> {
        let Some(followers) = &mut self.followers else {
            self.strands.points.clear();
            self.strands.points.extend(self.state.positions.iter().map(|p| p.as_vec3()));
            self.strands.velocities.clear();
            self.strands.velocities.extend(self.state.velocities.iter().map(|v| v.as_vec3()));
            return Ok(());
        };
        let guides: Vec<Vec3> = self.state.positions.iter().map(|p: &DVec3| p.as_vec3()).collect();
        let mut before = self.strands.points.clone();
        followers.pose(&guides, &self.bodies, &mut self.strands.points, &mut self.outside)?;
        let per_frame = self.scene.time.fps as f32;
        if jumped {
            let velocities = self.state.velocities.iter().map(|v| v.as_vec3());
            let guides: Vec<Vec3> = guides
                .iter()
                .zip(velocities)
                .map(|(&point, velocity)| point - velocity / per_frame)
                .collect();
            followers.pose(&guides, &self.bodies, &mut before, &mut Vec::new())?;
        }
        for ((velocity, now), before) in
            self.strands.velocities.iter_mut().zip(&self.strands.points).zip(&before)
        {
            *velocity = (*now - *before) * per_frame;
        }
        Ok(())
    }

    /// All that is needed to go on from the last finished frame, bit for bit.
    pub fn save(&self, out: &mut Checkpoint) {
        self.solver.save(out);
        out.put("simulation frame", vec![self.frame]);
        if self.scene.time.step_time(self.steps) > self.scene.time.frame_time(self.frame) {
            between::save(&self.before, out);
        }
        if self.followers.is_some() {
            out.put(
                "simulation points",
                self.strands.points.iter().flat_map(|p| p.to_array()).collect::<Vec<f32>>(),
            );
        }
    }

    /// Goes on from a checkpoint of the same scene.
    pub fn restore(&mut self, from: &Checkpoint) -> Result<(), SimulationError> {
        let frame = from.take::<u32>("simulation frame", 1)?[0];
        self.solver.restore(from)?;
        self.solver.store(&mut self.state);
        self.frame = frame;
        self.steps = self.scene.time.steps_until(frame);
        let time = self.scene.time.frame_time(frame);
        self.move_bodies(time, time)?;
        if self.scene.time.step_time(self.steps) > time {
            between::restore(&mut self.before, from)?;
            self.show_state_at(time)?;
        }
        if self.followers.is_some() {
            let values = from.take::<f32>("simulation points", 3 * self.strands.points.len())?;
            for (point, value) in self.strands.points.iter_mut().zip(values.chunks_exact(3)) {
                *point = Vec3::from_slice(value);
            }
        } else {
            self.show_strands(false)?;
        }
        Ok(())
    }
}

/// What finds the forces of a sag-free rest shape.
fn engine(settings: &SolverSettings) -> Engine {
    let seconds = settings.rest_seconds;
    match settings.rest_engine {
        RestEngine::OwnWeight => Engine::OwnWeight,
        RestEngine::Cone => Engine::Reference { seconds },
        RestEngine::Anytime => Engine::Anytime { seconds },
    }
}

fn move_bodies(bodies: &mut Bodies, tracks: &mut [Track], begin: f64, end: f64) -> Result<(), BodyError> {
    let points: Vec<Option<(Vec<Vec3>, Vec<Vec3>)>> =
        tracks.iter_mut().map(|track| track.deforms().then(|| track.step_points(begin, end))).collect();
    let mut motions = motions(tracks, &points, begin, end);
    // The world, where it holds the hair, comes last and stays.
    motions.resize(bodies.len(), Motion::still(Pose::IDENTITY));
    let jumps = |body: usize| tracks.get(body).is_some_and(|track| track.teleports(begin, end));
    bodies.begin_step_with_jumps(&motions, jumps, end - begin)
}
