//! One time step: what moves fibres, what touches them, and where they go.

use glam::DVec3;
use rayon::prelude::*;

use super::contacts::{BodyMotions, Point, Touch};
use super::fibre::{Carried, FibreStep, Hold, System, chord_spin};
use super::problem::Solved;
use super::{Nsgs, holds};
use crate::body::Obstacles;
use crate::scene::Drive;
use crate::solve::{Energy, Report, StepError};

/// Speed of a vertex beyond which hair counts as lost [m/s].
const ABSURD_SPEED: f64 = 1.0e4;

/// Velocities of all fibres.
pub(super) type Velocities = Vec<Vec<f64>>;

/// What the world does to all strands during a step.
pub(super) struct World<'a> {
    /// Time step [s].
    pub dt: f64,
    pub steps: Vec<FibreStep<'a>>,
    /// How the body of each strand turns, as chords do [rad/s].
    spins: Vec<DVec3>,
    /// How bodies move in this step.
    bodies: BodyMotions,
    pub obstacles: Option<&'a Obstacles<'a>>,
}

impl Nsgs {
    /// Tries one time step. Returns how far hair turned [rad]; where that is beyond the limit, nothing has moved.
    pub(super) fn attempt(
        &mut self,
        drive: &Drive<'_>,
        dt: f64,
        limit: f64,
    ) -> Result<(Report, f64), StepError> {
        let mut report = Report::default();
        let time = drive.time_at(0.5);
        let still = drive.wind.is_none();
        let wind = |at: DVec3| if still { DVec3::ZERO } else { drive.wind.velocity(at, time) };
        let obstacles = drive.obstacles();
        let obstacles = obstacles.any_collides().then_some(&obstacles);
        let world = World { obstacles, ..self.world(drive, dt, &wind) };
        let mut guess: Velocities =
            self.fibres.iter().map(|fibre| fibre.as_ref().map_or(vec![], |f| f.velocities())).collect();
        let mut solved = Solved { forces: self.forces.clone(), ..Solved::default() };
        for pass in 1..=self.params.passes {
            let is_last = pass == self.params.passes;
            solved = self.pass(&world, &guess, &solved.forces, is_last, &mut report)?;
            guess.clone_from(&solved.velocities);
        }
        let turning =
            self.fibres.iter().zip(&guess).map(|(fibre, v)| fibre.as_ref().map_or(0.0, |f| f.turning(v)));
        let turn =
            dt * turning.fold(0.0, |most, turn| if turn.is_nan() || turn > most { turn } else { most });
        if turn > limit {
            return Ok((report, turn));
        }
        report.time("move", || {
            let moving = self.fibres.par_iter_mut().zip(&world.steps).zip(&guess);
            moving.for_each(|((fibre, step), velocities)| {
                if let Some(fibre) = fibre {
                    fibre.advance(step, velocities);
                }
            });
            for (fibre, changes) in self.fibres.iter_mut().zip(&solved.changes) {
                if let Some(fibre) = fibre {
                    fibre.shift(changes);
                }
            }
        });
        self.forces = solved.forces;
        self.keep_rigid(&world);
        report.energy = Some(self.energy(drive.gravity));
        self.check()?;
        Ok((report, turn))
    }

    /// What the world does to each strand, but for obstacles.
    fn world<'a>(&self, drive: &Drive<'_>, dt: f64, wind: &'a (dyn Fn(DVec3) -> DVec3 + Sync)) -> World<'a> {
        let ends = holds(drive, 1.0);
        let spin = |(start, end): (&Hold, &Hold)| {
            let turn = end.turn * start.turn.conjugate();
            chord_spin((if turn.w < 0.0 { -turn } else { turn }).to_scaled_axis() / dt, dt)
        };
        let spins = holds(drive, 0.0).iter().zip(&ends).map(spin).collect();
        let steps = ends.into_iter().enumerate().map(|(strand, hold)| {
            let start = self.model.range(strand).start;
            let own = drive.handles.iter().filter(|handle| handle.strand as usize == strand);
            let pulls = own.map(|handle| {
                let mass = f64::from(self.model.masses[start + handle.vertex as usize]);
                (handle.vertex as usize, handle.target, mass * handle.stiffness)
            });
            let pulls = pulls.collect();
            FibreStep { dt, theta: self.params.theta, gravity: drive.gravity, wind, hold, pulls }
        });
        let bodies = BodyMotions::new(drive, dt);
        World { dt, steps: steps.collect(), spins, bodies, obstacles: None }
    }

    /// Linearises all fibres around `guess`, and solves for velocities and contact forces [N].
    fn pass(
        &mut self,
        world: &World<'_>,
        guess: &Velocities,
        before: &[(u64, DVec3)],
        is_last: bool,
        report: &mut Report,
    ) -> Result<Solved, StepError> {
        let systems: Vec<System> = report.time("fibres", || {
            let fibres = self.fibres.par_iter_mut().zip(&world.steps).zip(guess);
            let linear = fibres.map(|((fibre, step), guess)| match fibre {
                Some(fibre) => fibre.linearise(step, guess),
                None => System::default(),
            });
            linear.collect()
        });
        let touches = report.time("contacts", || self.touches(world, guess))?;
        report.contacts = report.contacts.max(touches.len() as u64);
        let (full, gaps) = report.time("assembly", || self.problem(systems, &touches, guess, world));
        self.solved(full, &touches, before, is_last.then_some(&gaps[..]), world.dt, report)
    }

    /// Contacts where hair would be at the end of a step with velocities `guess`.
    fn touches(&mut self, world: &World<'_>, guess: &Velocities) -> Result<Vec<Touch>, StepError> {
        let mut positions = vec![DVec3::ZERO; self.model.vertices()];
        let mut parts = Vec::with_capacity(self.fibres.len());
        let mut rest = positions.as_mut_slice();
        for strand in 0..self.model.strands() {
            let (own, others) = rest.split_at_mut(self.model.range(strand).len());
            parts.push(own);
            rest = others;
        }
        let fibres = self.fibres.par_iter().zip(&world.steps).zip(guess).zip(parts);
        fibres.for_each(|(((fibre, step), guess), positions)| match fibre {
            Some(fibre) => fibre.reach(step, guess, positions),
            None => positions.copy_from_slice(&step.hold.positions),
        });
        let (mut detector, mut close) = (self.detector.take(), std::mem::take(&mut self.close));
        let hair = self.hair(&positions);
        let searching = detector.as_mut().filter(|_| self.params.strand_contacts);
        let found = searching.map_or(Ok(Vec::new()), |detector| {
            hair.between_strands(detector, self.params.proximity, &mut close)
        });
        let reach = self.params.proximity as f32;
        let on_bodies = world.obstacles.map(|obstacles| hair.with_bodies(obstacles, &world.bodies, reach));
        (self.detector, self.close) = (detector, close);
        let mut touches = found.map_err(|error| StepError::BadStep(error.to_string()))?;
        touches.extend(on_bodies.into_iter().flatten());
        touches.retain(|touch| self.leverage(touch) > 0.0);
        Ok(touches)
    }

    /// How a point of a strand moves that is held altogether.
    pub(super) fn rigid_motion(&self, point: &Point, world: &World<'_>) -> Carried {
        let start = &self.rigid[self.model.range(point.strand)];
        let end = &world.steps[point.strand].hold.positions;
        let next = (point.vertex + 1).min(end.len() - 1);
        let at = |positions: &[DVec3]| positions[point.vertex].lerp(positions[next], point.share);
        let (start, end) = (at(start), at(end));
        let velocity = (end - start) / world.dt;
        Carried { point: start.midpoint(end), velocity, spin: world.spins[point.strand] }
    }

    /// How far the side of a contact that moves more easily can move, beside its free end.
    pub(super) fn leverage(&self, touch: &Touch) -> f64 {
        let of = |point: Point| {
            let fibre = self.fibres[point.strand].as_ref();
            fibre.map_or(0.0, |fibre| fibre.leverage(point.vertex, point.share))
        };
        of(touch.first).max(touch.second.map_or(0.0, of))
    }

    /// Brings vertices of strands that are held altogether where their bodies have them.
    fn keep_rigid(&mut self, world: &World<'_>) {
        for (strand, step) in
            world.steps.iter().enumerate().filter(|(strand, _)| self.fibres[*strand].is_none())
        {
            self.rigid[self.model.range(strand)].copy_from_slice(&step.hold.positions);
        }
    }

    fn energy(&self, gravity: DVec3) -> Energy {
        let parts: Vec<Energy> =
            self.fibres.par_iter().flatten().map(|fibre| fibre.energy(gravity)).collect();
        parts.into_iter().fold(Energy::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }

    /// Hair must be somewhere, and not absurdly fast.
    fn check(&self) -> Result<(), StepError> {
        let state = self.state();
        let is_lost = |vertex: &usize| {
            let (position, velocity) = (state.positions[*vertex], state.velocities[*vertex]);
            // NaN is lost, too.
            !(position.is_finite() && velocity.length() < ABSURD_SPEED)
        };
        match (0..state.positions.len()).find(is_lost) {
            None => Ok(()),
            Some(vertex) => {
                let strand = self.strand_of[vertex] as usize;
                let vertex = vertex - self.model.range(strand).start;
                Err(lost(strand, vertex, "it moves absurdly fast"))
            }
        }
    }
}

pub(super) fn lost(strand: usize, vertex: usize, problem: &str) -> StepError {
    StepError::Diverged { strand, vertex, problem: problem.to_owned() }
}
