//! Elastic rods with Coulomb friction, by the alternating direction method of multipliers.
//!
//! # Theory
//!
//! G. Daviet, *Interactive Hair Simulation on the GPU using ADMM*, SIGGRAPH 2023. Discrete elastic rods (a centreline
//! and one twist per edge) advance by backward Euler: the end of the step minimises the incremental potential of
//! inertia, gravity, drag, bending, twisting and stretching (equation 1), subject to contacts that obey Coulomb's law.
//!
//! # In practice
//!
//! - Usually only contact is split off (as in Daviet 2020): each iteration takes a Newton step of every strand (`newton`).
//! - `elastic = "splitting"` takes the paper's own splitting into pairs of edges instead (`splitting`), with momentum and weights of
//!   our own. It has no long recursion of dense blocks, which is what graphics processors want; on a processor Newton wins.
//! - Strands ride eight to a pack (`strands`), in single precision; positions are relative to the roots.
//! - Held vertices are held exactly: the chain hangs from the last one. Vertices held elsewhere are tied by
//!   springs with multipliers, which begin with those of the last step and end where they should after a few iterations. An attachment there that clamps holds the material
//!   frame, too: the edge before it bends against half an edge, as at the root. The splitting holds places only.
//!
//! # The two elastic steps
//!
//! Iterations until no vertex is farther from the converged implicit step than 1 % of the length in any of 24 steps of a strand that
//! falls from the horizontal (swing, dt = 1/96 s), or than 0.1 % at rest (quasistatic), in double precision. R = 50 µm, E = 3 GPa.
//! "Printed" has w⁰ = 25 and no momentum, and was given up after 800 and 12,800 iterations.
//!
//! | strand, edges | swing: Newton | splitting | w⁰ = 25 | printed | rest: Newton | splitting | w⁰ = 25 | printed |
//! |---|---|---|---|---|---|---|---|---|
//! | 4 cm, 2.5 mm | 1 | 42 | 148 | — | 1 | 72 | 264 | — |
//! | 16 cm, 2.5 mm | 2 | 56 | 224 | — | 3 | 336 | 1280 | — |
//! | 30 cm, 2.5 mm | 2 | 48 | 184 | — | 4 | 400 | 1408 | — |
//! | 128 cm, 2.5 mm | 2 | 8 | 42 | 116 | 4 | 336 | 1184 | — |
//! | 4 cm, 1 cm | 1 | 9 | 32 | 208 | 1 | 16 | 60 | 1056 |
//! | 16 cm, 1 cm | 2 | 17 | 58 | 384 | 3 | 74 | 256 | — |
//! | 30 cm, 1 cm | 2 | 13 | 38 | 272 | 4 | 100 | 272 | — |
//! | 128 cm, 1 cm | 2 | 11 | 7 | 9 | 4 | 88 | 296 | 6656 |
//!
//! An iteration costs about 20 ns of one core per vertex for Newton and 31 ns for the splitting, eight strands side by side: to
//! equal error the splitting takes 6 to 65 times as long in a swing, and 25 to 170 times at rest. `hairloom bench elastic` measures
//! all this in single precision, with edges of mixed lengths and other moduli (section 6.1).
//!
//! With contact it is compared what a frame of 500 strands on a ball that turns comes to in equal time, against many iterations in double precision: the
//! splitting, given a little more time, has three times the error of Newton's steps (also in `bench elastic`). Converged, both are 0.6 of
//! Newton's usual error apart.
//!
//! # Limits
//!
//! Steps at rest weigh contact by the stiffness of one edge, the inverse cube of its length, unless `contact_weight` is set:
//! finely divided strands pressed on bodies converge slowly there. The splitting begins each step with all forces of the last one and has
//! no way back from them; 1,500 curls on a head that turns stay calm with it, and as near to Newton's as 5 % of their energy. With springs
//! in their place it was 17 % off. Contacts beside held vertices, which only a vertex could part that
//! moves more than twenty times as far, are left alone (`touch`). A point of hair meets one body, the nearest: hair between two
//! bodies that close on it leaves one of them at a time.

mod contacts;
mod energy;
mod newton;
mod params;
mod projection;
mod rods;
mod saved;
mod splitting;
mod strands;
mod ties;
mod touch;
mod touching;

pub use params::{Clamp, Elastic, Params, Precision};

use std::f64::consts::SQRT_2;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use self::contacts::{Around, Contacts, Weight};
use self::energy::Weigh;
use self::newton::Gain;
use self::rods::{Begin, Finish, Iterate, IterateSplit, Pace, hold, recentre, untwist};
use self::strands::{Pack, Strands, get_vector, set_vector, transported_frames};
use self::ties::Tie;
use super::jump::carry;
use super::{Checkpoint, CheckpointError, Energy, Report, Solver, Step, StepError, check_drive, check_dt};
use crate::body::Obstacles;
use crate::contact::ContactError;
use crate::groom::Remap;
use crate::math::Stored;
use crate::math::lanes::Row;
use crate::scene::{Drive, Material, Model, State};

/// A strand without attachment.
const NONE: u32 = u32::MAX;
/// A splitting that still moves by this much of the tolerance in an iteration has about as far to go as the tolerance.
const SLOWNESS: f64 = 0.01;

/// With contact a step is done once vertices miss where they are tied to, and where contact wants them, by no more than these shares of
/// what an edge moves that turns by the tolerance: friction that slides a little in every step would creep.
const TIED: f64 = 0.1;
const TOUCHING: f64 = 0.01;

/// A solver for `model`, of the precision that `params` asks for.
pub fn build(model: &Arc<Model>, params: Params) -> Box<dyn Solver> {
    match params.precision {
        Precision::F32 => Box::new(Admm::<Row>::new(model, params)),
        Precision::F64 => Box::new(Admm::<f64>::new(model, params)),
    }
}

/// The solver, in the precision of `S`.
#[derive(Debug)]
pub struct Admm<S> {
    params: Params,
    model: Arc<Model>,
    /// For each strand how many vertices are held at the root.
    held: Vec<u32>,
    /// The attachment of each root, from the last step.
    attachment_of: Vec<u32>,
    strands: Strands<S>,
    ties: Vec<Tie>,
    /// Forces of the last step's ties by strand and vertex, sorted [N].
    tie_forces: Vec<(u64, DVec3)>,
    contacts: Contacts,
    /// Whether material frames came with the state; if not they follow from the clamps in the next step.
    frames_known: bool,
}

impl<S: Stored> Admm<S> {
    /// A solver for `model`, with the hair at rest in the model's groomed shape until something is loaded.
    pub fn new(model: &Arc<Model>, params: Params) -> Self {
        let held = vec![1; model.strands()];
        let strands = Strands::new(model, &held, &params);
        let mut solver = Self {
            params,
            model: Arc::clone(model),
            contacts: Contacts::new(model, &strands),
            strands,
            held,
            attachment_of: Vec::new(),
            ties: Vec::new(),
            tie_forces: Vec::new(),
            frames_known: false,
        };
        solver.load(&State::at_rest(model.groomed.iter().map(|point| point.as_dvec3()).collect()));
        solver
    }

    /// Sees to it that strands are laid out for the drive's attachments.
    fn follow_attachments(&mut self, drive: &Drive<'_>) {
        let mut held = vec![0; self.model.strands()];
        self.attachment_of.clear();
        self.attachment_of.resize(self.model.strands(), NONE);
        for (index, attachment) in drive.attachments.items.iter().enumerate() {
            if attachment.first == 0 {
                held[attachment.strand as usize] = attachment.count;
                self.attachment_of[attachment.strand as usize] = index as u32;
            }
        }
        if held != self.held {
            let state = self.state();
            let frames_known = self.frames_known;
            self.lay_out(held);
            self.load(&state);
            self.frames_known = frames_known;
        }
    }

    /// Lays the strands out anew for other attachments. The caller loads the state.
    fn lay_out(&mut self, held: Vec<u32>) {
        self.strands = Strands::new(&self.model, &held, &self.params);
        self.contacts = Contacts::new(&self.model, &self.strands);
        self.held = held;
    }

    fn state(&self) -> State {
        let mut state = State::default();
        self.store(&mut state);
        state
    }

    /// Takes hair along with bodies that jump.
    fn jump(&mut self, drive: &Drive<'_>) {
        if (0..drive.bodies.len()).any(|body| drive.jumps(body)) {
            // Forces and normals do not turn with the hair.
            self.contacts.remember(Vec::new(), Vec::new());
            self.tie_forces.clear();
            let mut state = self.state();
            for strand in carry(&self.model, drive, &mut state) {
                let (pack, lane) = self.strands.find(strand);
                let range = self.model.range(strand);
                let (positions, velocities) =
                    (&state.positions[range.clone()], &state.velocities[range.clone()]);
                let transported;
                let frames = match state.orientations.get(range) {
                    Some(frames) => frames,
                    None => {
                        transported = transported_frames(positions, None);
                        &transported
                    }
                };
                self.strands.packs[pack].set_strand(lane, positions, velocities, frames);
            }
        }
    }

    /// Where the world takes the hair, and what acts on it.
    fn begin(&mut self, drive: &Drive<'_>, pace: Pace) {
        let Self { strands, model, attachment_of, frames_known, params, .. } = self;
        let known = *frames_known;
        strands.packs.par_iter_mut().for_each(|pack| {
            for (start, moving) in pack.start.iter_mut().zip(&pack.moving) {
                *start = moving.position;
            }
            pack.shift = [S::default(); 3];
            pack.couplings = S::splat(1.0);
            for (lane, strand) in pack.lanes() {
                if pack.base.is_some() {
                    let attachment = &drive.attachments.items[attachment_of[strand] as usize];
                    hold(pack, lane, model, drive, attachment);
                    if !known {
                        untwist(pack, lane);
                    }
                }
            }
            let wind = blow(pack, drive);
            S::dispatch(Begin { pack, pace, gravity: drive.gravity, wind: &wind, params });
        });
        *frames_known = true;
        self.pull_handles(drive);
        self.tie(drive);
    }

    /// Newton steps of every strand, or iterations of the splitting in their place.
    fn iterate(&mut self, iterations: u32, tolerance: f64, pace: Pace) -> (f64, u32) {
        let damping = match pace {
            Pace::Dynamic(dt) => self.params.relaxation / dt,
            Pace::Still(_) => 0.0,
        };
        let params = &self.params;
        let step = |gains: &mut Vec<Gain<S>>, pack: &mut Pack<S>| match params.elastic {
            Elastic::Newton => S::dispatch(Iterate { pack, iterations, tolerance, damping, gains }),
            Elastic::Splitting => {
                let iterations = iterations.saturating_mul(params.inner);
                let tolerance = tolerance * SLOWNESS;
                S::dispatch(IterateSplit { pack, params, iterations, tolerance, damping })
            }
        };
        let packs = self.strands.packs.par_iter_mut();
        packs.map_init(Vec::new, step).reduce(|| (0.0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
    }

    fn finish(&mut self, pace: Pace) -> Result<(), StepError> {
        let fine: Vec<bool> =
            self.strands.packs.par_iter_mut().map(|pack| S::dispatch(Finish { pack, pace })).collect();
        match fine.iter().position(|fine| !fine) {
            None => Ok(()),
            Some(pack) => Err(self.lost(&self.strands.packs[pack])),
        }
    }

    /// The error for a strand that left the world of finite numbers.
    fn lost(&self, pack: &Pack<S>) -> StepError {
        let speed = |lane: usize, row: usize| get_vector(&pack.velocities[row], lane).length();
        let vertices = pack.lanes().flat_map(|(lane, strand)| {
            (0..self.model.range(strand).len()).map(move |row| (lane, strand, row))
        });
        // NaN, of either sign, counts as the fastest of all.
        let fastest = vertices.max_by(|a, b| speed(a.0, a.2).abs().total_cmp(&speed(b.0, b.2).abs()));
        let (lane, strand, vertex) = fastest.unwrap_or((0, 0, 0));
        let problem = format!("its speed became {} m/s", speed(lane, vertex));
        StepError::Diverged { strand, vertex, problem }
    }

    /// One step of Algorithm 1.
    fn pass(&mut self, drive: &Drive<'_>, pace: Pace, iterations: u32) -> Result<Report, StepError> {
        let mut report = Report::default();
        let obstacles = drive.obstacles();
        let obstacles = obstacles.any_collides().then_some(&obstacles);
        report.time("drive", || self.begin(drive, pace));
        if obstacles.is_none() && !self.params.strand_contacts && self.ties.is_empty() {
            // Nothing couples strands to anything: each goes on until it is done.
            let start = std::time::Instant::now();
            self.load_up();
            (report.residual, report.iterations) = self.iterate(iterations, self.params.tolerance, pace);
            report.add_seconds("elasticity", start.elapsed().as_secs_f64());
        } else {
            self.alternate(drive, pace, iterations, obstacles, &mut report)?;
        }
        report.time("finish", || self.finish(pace))?;
        report.out_of_reach = self.remember_ties();
        if self.contacts.count() > 0 {
            let (contacts, strands, params) = (&mut self.contacts, &mut self.strands, &self.params);
            let moved = drive.time_at(1.0) - drive.time_at(0.0);
            report.time("correction", || contacts.correct(strands, params, obstacles, moved));
        }
        if self.params.strand_contacts && self.params.continuous > 0 {
            let dt = if let Pace::Dynamic(dt) = pace { Some(dt) } else { None };
            let mut tied: Vec<(u32, u32)> = self.ties.iter().map(|tie| (tie.pack, tie.lane)).collect();
            tied.sort_unstable();
            let (contacts, strands) = (&mut self.contacts, &mut self.strands);
            let around = Around { obstacles, margin: self.params.margin as f32, tied: &tied, dt };
            report.crossings =
                report.time("crossing", || contacts.hold_back(strands, &around)).map_err(bad_contact)?;
        }
        self.strands.packs.par_iter_mut().for_each(recentre);
        report.energy = Some(self.energy(drive.gravity));
        Ok(report)
    }

    /// The energy of all strands, summed up in the order of packs.
    fn energy(&self, gravity: DVec3) -> Energy {
        let params = &self.params;
        let packs = self.strands.packs.par_iter().map(|pack| S::dispatch(Weigh { pack, params, gravity }));
        let packs: Vec<Energy> = packs.collect();
        packs.into_iter().fold(Energy::default(), |mut sum, pack| {
            sum += pack;
            sum
        })
    }

    /// Elasticity and contact in turn.
    fn alternate(
        &mut self,
        drive: &Drive<'_>,
        pace: Pace,
        iterations: u32,
        obstacles: Option<&Obstacles<'_>>,
        report: &mut Report,
    ) -> Result<(), StepError> {
        let params = self.params;
        let edge = self.mean_edge();
        let moved = drive.time_at(1.0) - drive.time_at(0.0);
        report
            .time("detection", || {
                let weights = self.contact_weights(drive.gravity, pace);
                self.contacts.begin(&self.strands, &weights);
                self.contacts.find(&params, obstacles, moved)
            })
            .map_err(bad_contact)?;
        for iteration in 0..iterations {
            report.time("loads", || {
                self.load_up();
                // Forces of the last step to begin with, then springs to where contacts allow vertices to be.
                self.contacts.load(&mut self.strands, iteration > 0);
            });
            // The first iteration finds where hair goes without contact, or with that of the last step.
            let newton = if iteration == 0 { 2 } else { 1 };
            let start = std::time::Instant::now();
            let (turn, _) = self.iterate(newton, 0.0, pace);
            report.add_seconds("elasticity", start.elapsed().as_secs_f64());
            report.iterations += 1;
            report.time("loads", || self.contacts.gather(&self.strands));
            let missing = self.tighten();
            let part = |iteration: u32| {
                u64::from(params.continuous.max(1)) * u64::from(iteration) / u64::from(iterations)
            };
            let begins = iteration == 0 || part(iteration) != part(iteration - 1);
            if begins && params.continuous > 0 && params.strand_contacts {
                report.time("detection", || self.contacts.find_impacts()).map_err(bad_contact)?;
            }
            if iteration == 0 || part(iteration) != part(iteration + 1) {
                report.time("detection", || self.contacts.find_bodies(&params, obstacles, moved));
            }
            let apart = report.time("projection", || self.contacts.project(params.sweeps));
            report.residual = turn.max(apart / edge);
            // Forces of the last step alone hold nothing.
            let still = params.tolerance * edge;
            if iteration > 0
                && turn <= params.tolerance
                && missing <= TIED * still
                && apart <= TOUCHING * still
            {
                break;
            }
        }
        report.contacts = self.contacts.count() as u64;
        Ok(())
    }

    /// The mean length of an edge [m].
    fn mean_edge(&self) -> f64 {
        let edges = (self.model.vertices() - self.model.strands()) as f64;
        self.model.rest_lengths.iter().sum::<f64>() / edges
    }

    /// The typical time of section 4.5 [s]: that of falling through, or of bending waves along, a typical edge of hair of a material.
    fn typical_time(&self, gravity: DVec3, material: &Material) -> f64 {
        let edge = self.mean_edge();
        let falling = (edge / gravity.length().max(1.0e-9)).sqrt();
        let bending = 2.0 * edge * edge / material.radius * (material.density / material.young).sqrt();
        falling.min(bending)
    }

    /// What contact weighs at the vertices of each strand, W. Section 4.5 has the mass over the square of the typical time, which is how stiff one
    /// edge is by itself; where time stands still it is the paper's.
    ///
    /// In a step of backward Euler a long strand answers to a push at one point like a beam on a bed of inertia, ρ A / dt² for each metre:
    /// with 2√2 (E I)^¼ (ρ A / dt²)^¾. A strand that is shorter than the wave that goes out from there in a step answers like one
    /// that is clamped at its root: with 24 E I / L³ at its middle. Contact that weighs as much is found fastest. With ten times that
    /// weight forces of dense curls were still wrong after ten iterations, and shook hair at rest; without the root fur was bent by
    /// the correction at the end of steps, and not by forces.
    fn contact_weights(&self, gravity: DVec3, pace: Pace) -> Vec<Weight> {
        let asked = self.params.contact_weight;
        let dt = match pace {
            Pace::Dynamic(dt) if asked == 0.0 => dt,
            _ => {
                let least = if let Pace::Dynamic(dt) = pace { dt } else { f64::INFINITY };
                let factor = if asked > 0.0 { asked } else { 1.0 };
                let of_edge = |material| factor / self.typical_time(gravity, material).min(least).powi(2);
                let of_edge: Vec<f64> = self.model.materials.iter().map(of_edge).collect();
                let strands = self.model.material_of.iter();
                let weigh = |&material| Weight { of_mass: of_edge[usize::from(material)], of_strand: 0.0 };
                return strands.map(weigh).collect();
            }
        };
        let weigh = |strand| {
            let material = self.model.material(strand);
            let [one, other, _] = material.rod_stiffness();
            let bending = one.max(other);
            let long =
                2.0 * SQRT_2 * bending.powf(0.25) * (material.mass_per_length() / (dt * dt)).powf(0.75);
            let held = self.held[strand] as usize;
            let clamped = if held > 0 {
                let free: f64 = self.model.rest_lengths[self.model.range(strand)][held - 1..].iter().sum();
                24.0 * bending / free.powi(3)
            } else {
                0.0
            };
            Weight { of_mass: 1.0 / (dt * dt), of_strand: long.max(clamped) }
        };
        (0..self.model.strands()).into_par_iter().with_min_len(256).map(weigh).collect()
    }
}

/// Positions that no contact can be found for have left the world of finite numbers.
fn bad_contact(error: ContactError) -> StepError {
    StepError::BadStep(error.to_string())
}

/// The velocity of the air at every vertex; nothing where there is no wind.
fn blow<S: Stored>(pack: &Pack<S>, drive: &Drive<'_>) -> Vec<[S; 3]> {
    if drive.wind.is_none() {
        return Vec::new();
    }
    let time = drive.time_at(0.5);
    let mut wind = vec![[S::default(); 3]; pack.moving.len()];
    for (lane, _) in pack.lanes() {
        for (row, place) in pack.positions(lane).into_iter().enumerate() {
            set_vector(&mut wind[row], lane, drive.wind.velocity(place, time));
        }
    }
    wind
}

impl<S: Stored> Solver for Admm<S> {
    fn load(&mut self, state: &State) {
        self.tie_forces.clear();
        self.contacts.remember(self.contacts.resting_forces(&self.model, &self.strands), Vec::new());
        self.frames_known = state.orientations.len() == state.positions.len();
        let (model, known, strands) = (&self.model, self.frames_known, &mut self.strands);
        strands.packs.par_iter_mut().for_each(|pack| {
            for (lane, strand) in pack.lanes() {
                let range = model.range(strand);
                let (positions, velocities) =
                    (&state.positions[range.clone()], &state.velocities[range.clone()]);
                let transported;
                let frames = if known {
                    &state.orientations[range]
                } else {
                    transported = transported_frames(positions, None);
                    &transported
                };
                pack.set_strand(lane, positions, velocities, frames);
            }
        });
    }

    fn step(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError> {
        check_drive(&self.model, drive)?;
        self.follow_attachments(drive);
        self.jump(drive);
        match step {
            Step::Dynamic { dt } => {
                check_dt(dt)?;
                self.pass(drive, Pace::Dynamic(dt), self.params.iterations)
            }
            Step::Quasistatic { iterations } => {
                let typical = self.typical_time(drive.gravity, &self.model.materials[0]);
                self.pass(drive, Pace::Still(typical), iterations)
            }
        }
    }

    fn store(&self, state: &mut State) {
        let vertices = self.model.vertices();
        state.positions.resize(vertices, DVec3::ZERO);
        state.velocities.resize(vertices, DVec3::ZERO);
        state.orientations.resize(vertices, DQuat::IDENTITY);
        let mut rows = Vec::with_capacity(self.model.strands());
        let (mut positions, mut velocities) =
            (state.positions.as_mut_slice(), state.velocities.as_mut_slice());
        let mut frames = state.orientations.as_mut_slice();
        for strand in 0..self.model.strands() {
            let count = self.model.range(strand).len();
            rows.push((
                positions.split_off_mut(..count).unwrap_or_default(),
                velocities.split_off_mut(..count).unwrap_or_default(),
                frames.split_off_mut(..count).unwrap_or_default(),
            ));
        }
        let strands = rows.into_par_iter().enumerate().with_min_len(64);
        strands.for_each(|(strand, (positions, velocities, frames))| {
            let (pack, lane) = self.strands.find(strand);
            self.strands.packs[pack].get_strand(lane, positions, velocities, frames);
        });
        if !self.frames_known {
            state.orientations.clear();
        }
    }

    fn save(&self, out: &mut Checkpoint) {
        self.write(out);
    }

    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        self.read(from)
    }

    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap) {
        let state = self.state().remapped(&self.model, model, remap);
        self.model = Arc::clone(model);
        let held = remap.strands.iter().map(|from| from.map_or(1, |from| self.held[from as usize])).collect();
        self.lay_out(held);
        self.load(&state);
    }
}
