//! Follow the leader: inextensible hair in one pass.
//!
//! # Theory
//!
//! M. Müller, T. J. Kim, N. Chentanez, *Fast Simulation of Inextensible Hair and Fur*, VRIPHYS 2012. Position
//! based dynamics (equations 1 to 4) with one sweep from the root to the tip as its projection: every vertex
//! moves onto the sphere of the rest length around its predecessor (section 3.1). As such this simulates masses
//! that fall off without bound towards the tip; the velocity correction of equation 9 hides it at the price of
//! damping. Bending is a one-sided distance constraint over two edges (section 3.5), hair–hair friction and
//! repulsion come from a density grid (section 3.6), bodies from their signed distances (section 3.7).
//!
//! # In practice
//!
//! - The state is edges, not positions (`packs`). With `u` the displacement of a vertex during the step, the
//!   predicted follower seen from its moved leader is `e + dt v − u`: no absolute position enters, so lengths
//!   hold to f32's rounding wherever the hair is.
//! - Strands ride eight to a pack (`project`). Before the pass every vertex asks how far the bodies are from
//!   where it is heading; near a body it takes the tangent plane along, and the pass leaves planes in lanes. Only
//!   lanes that stray farther than that distance, or than a plane can be trusted, look at the bodies again.
//! - Detached ropes and ropes held at two or more places take another road (`ropes`).
//!
//! # Departures from the paper
//!
//! - Equation 7 has a wrong sign and equation 12 lacks half a turn; neither enters the code.
//! - Repulsion goes against the gradient of the density, is an acceleration (so that the result does not hang on
//!   the time step), and fades where a vertex is alone in its cell. Friction is per 1/60 s for the same reason.
//! - The distance a vertex was pushed by a body, or by bending, is not handed to its predecessor by equation 9:
//!   only the stretch projection is a force between the two.
//!
//! - Held vertices behind the first edge may leave a body that would swallow them.
//!
//! # Limits
//!
//! Wind is taken at the root and at the tip of a strand and linear between: gusts finer than a strand are lost.
//! No twist, no natural curvature: curls hang out. Damping depends on the time step. Ropes take no part in hair–hair
//! friction and repulsion, nor in the backward pass; bending acts on their free ends alone. Bodies are met where they
//! are at the end of a step, not on the way.

mod density;
mod packs;
mod params;
pub mod plain;
mod project;
mod ropes;
mod sweep;

pub use params::Params;

use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use self::density::{Density, Strength};
use self::packs::{EMPTY, Packs};
use self::project::{Chunk, Constants, LookAhead, PackDrive, Planes, look_again};
use self::ropes::{Rope, Surroundings};
use self::sweep::{Advance, Outcome};
use super::jump::carry;
use super::{Checkpoint, CheckpointError, Report, Solver, Step, StepError, check_drive, check_dt};
use crate::groom::Remap;
use crate::math::Pose;
use crate::math::lanes::{Row, Row3, WIDTH, dispatch};
use crate::scene::{Drive, Model, Seat, State};

/// Name and version of this method's checkpoints.
const CHECKPOINT: (&str, u32) = ("ftl", 1);
/// Pseudo time step of one quasistatic iteration [s].
const QUASISTATIC_DT: f64 = 1.0 / 60.0;

/// Speed beyond which a vertex counts as lost [m/s].
const ABSURD_SPEED: f64 = 1.0e4;
/// A strand without attachment.
const NONE: u32 = u32::MAX;
/// Packs are cut into so many chunks, whatever the number of threads. Of large hair so many are on the way at a time.
const CHUNKS: usize = 32;
/// Most packs of a chunk: what is known of the bodies around a chunk's vertices weighs more than the vertices.
const MOST_PACKS: usize = 128;

/// The solver.
#[derive(Debug)]
pub struct Ftl {
    params: Params,
    model: Arc<Model>,
    /// For each strand how many vertices its only attachment holds at the root; 0 for ropes.
    held: Vec<u32>,
    /// The attachment of each rooted strand, from the last step.
    attachment_of: Vec<u32>,
    packs: Packs,
    chunks: Vec<Range<usize>>,
    drives: Vec<PackDrive>,
    /// How far each vertex of the chunks on the way may stray from its heading without a look at the bodies [m].
    room: Vec<Row>,
    /// Tangent planes of the chunks on the way.
    planes: Vec<Planes>,
    ropes: Vec<Rope>,
    density: Density,
}

impl Ftl {
    /// A solver for `model`, with the hair at rest in the model's groomed shape until something is loaded.
    pub fn new(model: &Arc<Model>, params: Params) -> Self {
        let mut solver = Self {
            params,
            model: Arc::clone(model),
            held: Vec::new(),
            attachment_of: Vec::new(),
            packs: Packs::default(),
            chunks: Vec::new(),
            drives: Vec::new(),
            room: Vec::new(),
            planes: Vec::new(),
            ropes: Vec::new(),
            density: Density::default(),
        };
        solver.lay_out(vec![1; model.strands()]);
        let (mut points, mut still) = (Vec::new(), Vec::new());
        for strand in 0..model.strands() {
            points.clear();
            points.extend(model.groomed[model.range(strand)].iter().map(|point| point.as_dvec3()));
            still.resize(points.len(), DVec3::ZERO);
            solver.packs.set_strand(strand, &points, &still);
        }
        solver
    }

    /// Lays the strands out anew for other attachments. The caller loads the state.
    fn lay_out(&mut self, held: Vec<u32>) {
        let model = &self.model;
        self.packs = Packs::new(model, &held, self.params.margin);
        let count = self.packs.packs.len();
        let size = count.div_ceil(CHUNKS).clamp(1, MOST_PACKS);
        self.chunks = (0..count).step_by(size).map(|start| start..(start + size).min(count)).collect();
        self.room = Vec::new();
        self.planes = vec![Planes::default(); self.chunks.len().min(CHUNKS)];
        self.ropes = (0..model.strands())
            .filter(|&strand| held[strand] == 0)
            .map(|strand| {
                let range = model.range(strand);
                Rope {
                    strand: strand as u32,
                    positions: vec![DVec3::ZERO; range.len()],
                    velocities: vec![DVec3::ZERO; range.len()],
                    moves: vec![DVec3::ZERO; range.len()],
                    lengths: model.rest_lengths[range.clone()].to_vec(),
                    masses: model.masses[range.clone()].iter().map(|&m| f64::from(m)).collect(),
                    radius: model.radii[range.start] + self.params.margin as f32,
                    drag: model.material(strand).drag,
                }
            })
            .collect();
        self.held = held;
    }

    /// Sees to it that strands are laid out for the drive's attachments.
    fn follow_attachments(&mut self, drive: &Drive<'_>) {
        let mut held = vec![0; self.model.strands()];
        self.attachment_of.clear();
        self.attachment_of.resize(self.model.strands(), NONE);
        for (index, attachment) in drive.attachments.items.iter().enumerate() {
            let strand = attachment.strand as usize;
            let simple = attachment.first == 0 && self.attachment_of[strand] == NONE;
            held[strand] = if simple { attachment.count } else { 0 };
            self.attachment_of[strand] = index as u32;
        }
        if held != self.held {
            let state = self.inner_state();
            self.lay_out(held);
            self.load(&state);
        }
    }

    /// Takes hair along with bodies that jump.
    fn jump(&mut self, drive: &Drive<'_>) {
        if (0..drive.bodies.len()).any(|body| drive.jumps(body)) {
            let mut state = self.inner_state();
            for strand in carry(&self.model, drive, &mut state) {
                let range = self.model.range(strand);
                self.set(strand, &state.positions[range.clone()], &state.velocities[range]);
            }
        }
    }

    /// Takes all speed from the hair.
    fn stop(&mut self) {
        self.packs.velocities.fill(Row3::default());
        self.packs.moves.fill(Row3::default());
        for rope in &mut self.ropes {
            rope.velocities.fill(DVec3::ZERO);
            rope.moves.fill(DVec3::ZERO);
        }
    }

    /// Pulls at vertices by spring handles, semi-implicitly.
    fn pull_handles(&mut self, drive: &Drive<'_>, dt: f64) {
        for handle in drive.handles {
            let range = self.model.range(handle.strand as usize);
            let vertex = handle.vertex as usize;
            let mut positions = vec![DVec3::ZERO; range.len()];
            let mut velocities = positions.clone();
            self.get(handle.strand as usize, &mut positions, &mut velocities);
            let gain = handle.stiffness * dt / (1.0 + handle.stiffness * dt * dt);
            let velocity = &mut velocities[vertex];
            *velocity += (handle.target - positions[vertex] - *velocity * dt) * gain;
            self.set(handle.strand as usize, &positions, &velocities);
        }
    }

    /// What the world does to each pack: where roots and held vertices go, and what gravity and wind add.
    fn drive_packs(&mut self, drive: &Drive<'_>, dt: f64) {
        let Self { packs, drives, attachment_of, params, .. } = self;
        let frames: Vec<Pose> = (0..drive.bodies.len()).map(|body| drive.pose(body, 1.0)).collect();
        drives.resize_with(packs.packs.len(), PackDrive::default);
        let all = packs.packs.par_iter().zip(drives.par_iter_mut()).zip(&mut packs.roots).with_min_len(64);
        all.for_each(|((pack, pack_drive), roots)| {
            pack_drive.held_edges.resize(pack.held - 1, Row3::default());
            for lane in 0..WIDTH {
                let drag = f64::from(pack.drag.0[lane]);
                let keep = 1.0 / (1.0 + (drag + params.damping) * dt);
                pack_drive.keep.0[lane] = keep as f32;
                pack_drive.push.set(lane, (drive.gravity * (dt * keep)).as_vec3());
                pack_drive.slope.set(lane, glam::Vec3::ZERO);
                if pack.strands[lane] != EMPTY {
                    let attachment =
                        &drive.attachments.items[attachment_of[pack.strands[lane] as usize] as usize];
                    let frame = match attachment.seat {
                        Seat::Body => frames[attachment.body as usize],
                        Seat::Triangle { .. } => drive.seat_frame(attachment, 1.0),
                    };
                    let points = drive.attachments.points_of(attachment);
                    pull_root(&frame, points, pack_drive, lane, &mut roots[lane]);
                }
            }
        });
        if !drive.wind.is_none() {
            self.blow(drive, dt);
        }
    }

    /// Wind, taken at the root and at the tip of each strand and linear between.
    fn blow(&mut self, drive: &Drive<'_>, dt: f64) {
        let (packs, time) = (&self.packs, drive.time_at(0.5));
        packs.packs.par_iter().zip(&mut self.drives).for_each(|(pack, pack_drive)| {
            for lane in (0..WIDTH).filter(|&lane| pack.strands[lane] != EMPTY) {
                let rows = pack.row + 1..pack.row + pack.vertices;
                let root = pack_drive.old_root.get(lane);
                let tip = root + packs.edges[rows].iter().map(|edge| edge.get(lane)).sum::<glam::Vec3>();
                let gain = f64::from(pack.drag.0[lane]) * dt * f64::from(pack_drive.keep.0[lane]);
                let at_root = drive.wind.velocity(root.as_dvec3(), time) * gain;
                let at_tip = drive.wind.velocity(tip.as_dvec3(), time) * gain;
                let vertices = packs.lengths[pack.row + 1..pack.row + pack.vertices]
                    .iter()
                    .filter(|length| length.0[lane] > 0.0)
                    .count();
                let push = pack_drive.push.get(lane) + at_root.as_vec3();
                pack_drive.push.set(lane, push);
                pack_drive.slope.set(lane, ((at_tip - at_root) / vertices.max(1) as f64).as_vec3());
            }
        });
    }

    /// The chunks that are on the way together, one group after the other.
    fn waves(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let count = self.chunks.len();
        (0..count).step_by(CHUNKS).map(move |start| start..(start + CHUNKS).min(count))
    }

    /// Makes room for what the largest wave knows of bodies.
    fn make_room(&mut self) {
        let rows = |wave: Range<usize>| -> usize {
            let packs = self.chunks[wave.start].start..self.chunks[wave.end - 1].end;
            self.packs.packs[packs].iter().map(|pack| pack.vertices).sum()
        };
        let most = self.waves().map(rows).max().unwrap_or(0);
        self.room.resize(most, Row::default());
    }

    /// Cuts the rows of a wave into one task per chunk.
    fn tasks(&mut self, wave: Range<usize>) -> Vec<Chunk<'_>> {
        let Packs { packs, edges, velocities, moves, lengths, .. } = &mut self.packs;
        let chunks = &self.chunks[wave];
        let start = chunks.first().map_or(0, |chunk| packs[chunk.start].row);
        let (mut edges, mut velocities) = (&mut edges[start..], &mut velocities[start..]);
        let mut moves = &mut moves[start..];
        let (mut lengths, mut room) = (&lengths[start..], self.room.as_mut_slice());
        let mut tasks = Vec::with_capacity(chunks.len());
        for (chunk, planes) in chunks.iter().zip(&mut self.planes) {
            let packs = &packs[chunk.clone()];
            let rows = packs.iter().map(|pack| pack.vertices).sum();
            tasks.push(Chunk {
                packs,
                drives: &self.drives[chunk.clone()],
                edges: edges.split_off_mut(..rows).unwrap_or_default(),
                velocities: velocities.split_off_mut(..rows).unwrap_or_default(),
                moves: moves.split_off_mut(..rows).unwrap_or_default(),
                lengths: lengths.split_off(..rows).unwrap_or_default(),
                room: room.split_off_mut(..rows).unwrap_or_default(),
                planes,
            });
        }
        tasks
    }

    /// The pass over all packs (equations 1 to 9), wave by wave: bodies before it, and where in doubt after it.
    fn project(&mut self, constants: Constants<'_>, report: &mut Report) -> Result<(), StepError> {
        let dt = constants.dt;
        if constants.bodies.is_some() {
            self.make_room();
        }
        for wave in self.waves() {
            if let Some(bodies) = constants.bodies {
                report.time("distance", || {
                    let tasks = self.tasks(wave.clone()).into_par_iter();
                    tasks.for_each(|chunk| dispatch(LookAhead { chunk, bodies, dt }));
                });
            }
            let outcomes: Vec<Outcome> = report.time("solve", || {
                let tasks = self.tasks(wave.clone()).into_par_iter();
                tasks.map(|chunk| dispatch(Advance { chunk, constants })).collect()
            });
            for (chunk, outcome) in self.chunks[wave.clone()].iter().zip(&outcomes) {
                if let Some((pack, lane)) = outcome.lost {
                    return Err(self.lost(chunk.start + pack, lane));
                }
                report.contacts += outcome.contacts;
            }
            if let Some(bodies) = constants.bodies {
                report.contacts += report.time("look again", || -> u64 {
                    self.tasks(wave).into_par_iter().map(|chunk| look_again(chunk, bodies, dt)).sum()
                });
            }
        }
        Ok(())
    }

    /// The error for a strand that left the world of finite numbers.
    fn lost(&self, pack: usize, lane: usize) -> StepError {
        let pack = &self.packs.packs[pack];
        let rows = &self.packs.velocities[pack.row..pack.row + pack.vertices];
        let speeds = rows.iter().map(|row| row.get(lane).length()).enumerate();
        // NaN counts as the fastest of all.
        let (vertex, speed) = speeds.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f32::NAN));
        let problem = format!("its speed became {speed} m/s");
        StepError::Diverged { strand: pack.strands[lane] as usize, vertex, problem }
    }

    /// Ropes: strands that are not simply rooted.
    fn step_ropes(
        &mut self,
        drive: &Drive<'_>,
        around: Surroundings<'_>,
        report: &mut Report,
    ) -> Result<(), StepError> {
        let targets = |strand: u32| -> Vec<(usize, DVec3)> {
            let items = &drive.attachments.items;
            let first = items.partition_point(|attachment| attachment.strand < strand);
            let mine = items[first..].iter().take_while(|attachment| attachment.strand == strand);
            mine.flat_map(|attachment| {
                let frame = drive.seat_frame(attachment, 1.0);
                let points = drive.attachments.points_of(attachment);
                points.iter().enumerate().map(move |(k, &p)| (attachment.first as usize + k, frame.apply(p)))
            })
            .collect()
        };
        let outcomes: Vec<ropes::Outcome> =
            self.ropes.par_iter_mut().map(|rope| rope.step(&targets(rope.strand), &around)).collect();
        for (outcome, rope) in outcomes.iter().zip(&self.ropes) {
            if let Some((vertex, speed)) = outcome.lost {
                let problem = format!("its speed became {speed} m/s");
                return Err(StepError::Diverged { strand: rope.strand as usize, vertex, problem });
            }
            report.contacts += outcome.contacts;
            report.out_of_reach += u32::from(outcome.out_of_reach);
        }
        Ok(())
    }

    /// One pass of the whole method over `dt` seconds.
    fn pass(&mut self, drive: &Drive<'_>, dt: f64) -> Result<Report, StepError> {
        let mut report = Report::default();
        let obstacles = drive.obstacles();
        let bodies = obstacles.any_collides().then_some(&obstacles);
        let Params { correction, bending, backward, friction, repulsion, cell, damping, .. } = self.params;
        report.time("drive", || {
            self.pull_handles(drive, dt);
            self.drive_packs(drive, dt);
        });
        let constants = Constants { dt, correction, bending, backward, bodies };
        self.project(constants, &mut report)?;
        if !self.ropes.is_empty() {
            let (gravity, wind, time) = (drive.gravity, drive.wind, drive.time_at(0.5));
            let around = Surroundings { dt, gravity, wind, time, damping, correction, bending, bodies };
            let start = std::time::Instant::now();
            self.step_ropes(drive, around, &mut report)?;
            report.add_seconds("ropes", start.elapsed().as_secs_f64());
        }
        if friction > 0.0 || repulsion > 0.0 {
            // Both are rates in disguise: the same hair for any time step.
            let friction = 1.0 - (1.0 - friction).powf(dt * 60.0);
            let strength =
                Strength { friction: friction as f32, repulsion: (repulsion * dt) as f32, cell: cell as f32 };
            let Self { density, packs, drives, chunks, .. } = self;
            report.time("density", || density.interact(packs, drives, chunks, strength));
        }
        report.iterations = 1;
        Ok(report)
    }

    fn get(&self, strand: usize, positions: &mut [DVec3], velocities: &mut [DVec3]) {
        if self.held[strand] > 0 {
            let (pack, lane) = self.packs.place[strand];
            self.packs.get_lane(pack as usize, lane as usize, &self.packs.velocities, positions, velocities);
        } else if let Some(rope) = self.ropes.iter().find(|rope| rope.strand as usize == strand) {
            positions.copy_from_slice(&rope.positions);
            velocities.copy_from_slice(&rope.velocities);
        }
    }

    fn set(&mut self, strand: usize, positions: &[DVec3], velocities: &[DVec3]) {
        if self.held[strand] > 0 {
            self.packs.set_strand(strand, positions, velocities);
        } else if let Some(rope) = self.ropes.iter_mut().find(|rope| rope.strand as usize == strand) {
            rope.set(positions, velocities);
        }
    }

    /// The state with the velocities that the next prediction starts from: what a warm change must keep.
    fn inner_state(&self) -> State {
        let mut state = State::default();
        self.write(&mut state, &self.packs.velocities, |rope| &rope.velocities);
        state
    }

    fn write(&self, state: &mut State, rows: &[Row3], of_rope: impl Fn(&Rope) -> &[DVec3]) {
        state.positions.resize(self.model.vertices(), DVec3::ZERO);
        state.velocities.resize(self.model.vertices(), DVec3::ZERO);
        state.orientations.clear();
        // Pack by pack, so that rows are read once; strands of a pack lie anywhere in the state.
        let mut lanes = Vec::new();
        lanes.resize_with(self.packs.packs.len() * WIDTH, <(&mut [DVec3], &mut [DVec3])>::default);
        let mut of_ropes = Vec::with_capacity(self.ropes.len());
        let (mut positions, mut velocities) =
            (state.positions.as_mut_slice(), state.velocities.as_mut_slice());
        for (strand, &(pack, lane)) in self.packs.place.iter().enumerate() {
            let count = self.model.range(strand).len();
            let mine = positions.split_off_mut(..count).unwrap_or_default();
            let both = (mine, velocities.split_off_mut(..count).unwrap_or_default());
            if pack == EMPTY {
                of_ropes.push(both);
            } else {
                lanes[pack as usize * WIDTH + lane as usize] = both;
            }
        }
        for (rope, (positions, velocities)) in self.ropes.iter().zip(of_ropes) {
            positions.copy_from_slice(&rope.positions);
            velocities.copy_from_slice(of_rope(rope));
        }
        lanes.par_chunks_mut(WIDTH).enumerate().with_min_len(32).for_each(|(pack, lanes)| {
            for (lane, (positions, velocities)) in lanes.iter_mut().enumerate() {
                self.packs.get_lane(pack, lane, rows, positions, velocities);
            }
        });
    }
}

/// Where the held vertices of one lane go.
fn pull_root(frame: &Pose, points: &[DVec3], pack_drive: &mut PackDrive, lane: usize, root: &mut DVec3) {
    let mut targets = points.iter().map(|&point| frame.apply(point));
    let Some(target) = targets.next() else { return };
    pack_drive.old_root.set(lane, root.as_vec3());
    pack_drive.root.set(lane, target.as_vec3());
    pack_drive.shift.set(lane, (target - *root).as_vec3());
    *root = target;
    let mut last = target;
    for (edge, target) in pack_drive.held_edges.iter_mut().zip(targets) {
        edge.set(lane, (target - last).as_vec3());
        last = target;
    }
}

impl Solver for Ftl {
    fn load(&mut self, state: &State) {
        let model = Arc::clone(&self.model);
        for strand in 0..model.strands() {
            let range = model.range(strand);
            if self.held[strand] > 0 {
                self.packs.set_strand(strand, &state.positions[range.clone()], &state.velocities[range]);
            }
        }
        for rope in &mut self.ropes {
            let range = model.range(rope.strand as usize);
            rope.set(&state.positions[range.clone()], &state.velocities[range]);
        }
    }

    fn step(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError> {
        check_drive(&self.model, drive)?;
        self.follow_attachments(drive);
        self.jump(drive);
        match step {
            Step::Dynamic { dt } => {
                check_dt(dt)?;
                self.pass(drive, dt)
            }
            Step::Quasistatic { iterations } => {
                let mut report = Report::default();
                for _ in 0..iterations {
                    self.stop();
                    report.add(&self.pass(drive, QUASISTATIC_DT)?);
                }
                self.stop();
                Ok(report)
            }
        }
    }

    fn store(&self, state: &mut State) {
        self.write(state, &self.packs.moves, |rope| &rope.moves);
    }

    fn save(&self, out: &mut Checkpoint) {
        let (method, version) = CHECKPOINT;
        out.begin(method, version);
        let flat =
            |rows: &[Row3]| rows.iter().flat_map(|row| row.0).flat_map(|row| row.0).collect::<Vec<f32>>();
        let triples = |points: &[DVec3]| points.iter().flat_map(|p| p.to_array()).collect::<Vec<f64>>();
        out.put("held", self.held.clone());
        out.put("edges", flat(&self.packs.edges));
        out.put("velocities", flat(&self.packs.velocities));
        out.put("moves", flat(&self.packs.moves));
        out.put("roots", self.packs.roots.iter().flat_map(|roots| triples(roots)).collect());
        out.put("rope positions", self.ropes.iter().flat_map(|rope| triples(&rope.positions)).collect());
        out.put("rope velocities", self.ropes.iter().flat_map(|rope| triples(&rope.velocities)).collect());
        out.put("rope moves", self.ropes.iter().flat_map(|rope| triples(&rope.moves)).collect());
    }

    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let (method, version) = CHECKPOINT;
        from.expect(method, version)?;
        self.lay_out(from.take("held", self.model.strands())?.to_vec());
        let rows = self.packs.edges.len();
        let unflatten = |rows: &mut [Row3], values: &[f32]| {
            let lanes = rows.iter_mut().flat_map(|row| &mut row.0).flat_map(|row| &mut row.0);
            lanes.zip(values).for_each(|(lane, &value)| *lane = value);
        };
        unflatten(&mut self.packs.edges, from.take("edges", rows * 3 * WIDTH)?);
        unflatten(&mut self.packs.velocities, from.take("velocities", rows * 3 * WIDTH)?);
        unflatten(&mut self.packs.moves, from.take("moves", rows * 3 * WIDTH)?);
        let fill = |points: &mut dyn Iterator<Item = &mut DVec3>, values: &[f64]| {
            points.zip(values.chunks_exact(3)).for_each(|(point, value)| *point = DVec3::from_slice(value));
        };
        let roots = from.take("roots", 3 * WIDTH * self.packs.packs.len())?;
        fill(&mut self.packs.roots.iter_mut().flatten(), roots);
        let vertices: usize = self.ropes.iter().map(|rope| rope.positions.len()).sum();
        let positions = from.take("rope positions", 3 * vertices)?;
        fill(&mut self.ropes.iter_mut().flat_map(|rope| &mut rope.positions), positions);
        let velocities = from.take("rope velocities", 3 * vertices)?;
        fill(&mut self.ropes.iter_mut().flat_map(|rope| &mut rope.velocities), velocities);
        let moves = from.take("rope moves", 3 * vertices)?;
        fill(&mut self.ropes.iter_mut().flat_map(|rope| &mut rope.moves), moves);
        Ok(())
    }

    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap) {
        let state = self.inner_state().remapped(&self.model, model, remap);
        let mut moved = State::default();
        self.store(&mut moved);
        let moved = moved.remapped(&self.model, model, remap);
        self.model = Arc::clone(model);
        let held = remap.strands.iter().map(|from| from.map_or(1, |from| self.held[from as usize])).collect();
        self.lay_out(held);
        self.load(&moved);
        let moves = self.packs.moves.clone();
        let of_ropes: Vec<Vec<DVec3>> = self.ropes.iter().map(|rope| rope.moves.clone()).collect();
        self.load(&state);
        self.packs.moves = moves;
        self.ropes.iter_mut().zip(of_ropes).for_each(|(rope, moves)| rope.moves = moves);
    }
}
