//! One time step: fibres, contacts, and the problem that they make.

use glam::DVec3;
use rayon::prelude::*;

use super::contacts::{Point, Touch};
use super::fibre::{Fibre, FibreStep, System};
use super::{Nsgs, holds};
use crate::body::Obstacles;
use crate::contact::coulomb::LocalSolver;
use crate::contact::nsgs::{FullProblem, JacobianBlock, Settings, Solution, solve};
use crate::math::dense::{cholesky, cholesky_solve};
use crate::scene::Drive;
use crate::solve::{Energy, Report, StepError};

/// Speed of a vertex beyond which hair counts as lost [m/s].
const ABSURD_SPEED: f64 = 1.0e4;
/// Hair that turns by less than this part of the limit is calm.
const CALM: f64 = 0.1;

/// Velocities of all fibres.
type Velocities = Vec<Vec<f64>>;

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
        let steps = self.steps(drive, dt, &wind);
        let obstacles = drive.obstacles();
        let obstacles = obstacles.any_collides().then_some(&obstacles);
        let mut guess: Velocities =
            self.fibres.iter().map(|fibre| fibre.as_ref().map_or(vec![], |f| f.velocities())).collect();
        let mut forces = self.forces.clone();
        for _ in 0..self.params.passes {
            (guess, forces) = self.pass(&steps, &guess, &forces, obstacles, dt, &mut report)?;
        }
        let turning =
            self.fibres.iter().zip(&guess).map(|(fibre, v)| fibre.as_ref().map_or(0.0, |f| f.turning(v)));
        let turn =
            dt * turning.fold(0.0, |most, turn| if turn.is_nan() || turn > most { turn } else { most });
        if turn > limit {
            return Ok((report, turn));
        }
        report.time("move", || {
            let moving = self.fibres.par_iter_mut().zip(&steps).zip(&guess);
            moving.for_each(|((fibre, step), velocities)| {
                if let (Some(fibre), Some(step)) = (fibre, step) {
                    fibre.advance(step, velocities);
                }
            });
        });
        self.forces = forces;
        self.keep_rigid(drive);
        report.energy = Some(self.energy(drive.gravity));
        self.check()?;
        Ok((report, turn))
    }

    /// What the world does to each fibre.
    fn steps<'a>(
        &self,
        drive: &Drive<'_>,
        dt: f64,
        wind: &'a (dyn Fn(DVec3) -> DVec3 + Sync),
    ) -> Vec<Option<FibreStep<'a>>> {
        let steps = holds(drive, 1.0).into_iter().enumerate().map(|(strand, hold)| {
            let start = self.model.range(strand).start;
            let own = drive.handles.iter().filter(|handle| handle.strand as usize == strand);
            let pulls = own.map(|handle| {
                let mass = f64::from(self.model.masses[start + handle.vertex as usize]);
                (handle.vertex as usize, handle.target, mass * handle.stiffness)
            });
            let pulls = pulls.collect();
            FibreStep { dt, theta: self.params.theta, gravity: drive.gravity, wind, hold, pulls }
        });
        steps.zip(&self.fibres).map(|(step, fibre)| fibre.is_some().then_some(step)).collect()
    }

    /// Linearises all fibres around `guess`, and solves for velocities and contact forces [N].
    fn pass(
        &mut self,
        steps: &[Option<FibreStep<'_>>],
        guess: &Velocities,
        before: &[(u64, DVec3)],
        obstacles: Option<&Obstacles<'_>>,
        dt: f64,
        report: &mut Report,
    ) -> Result<(Velocities, Vec<(u64, DVec3)>), StepError> {
        let systems: Vec<System> = report.time("fibres", || {
            let fibres = self.fibres.par_iter_mut().zip(steps).zip(guess);
            let linear = fibres.map(|((fibre, step), guess)| match (fibre, step) {
                (Some(fibre), Some(step)) => fibre.linearise(step, guess),
                _ => System::default(),
            });
            linear.collect()
        });
        let touches = report.time("contacts", || self.touches(steps, guess, obstacles))?;
        report.contacts = report.contacts.max(touches.len() as u64);
        let full = report.time("assembly", || self.problem(systems, &touches, guess, dt));
        self.solved(full, &touches, before, dt, report)
    }

    /// Contacts where hair would be at the end of a step with velocities `guess`.
    fn touches(
        &mut self,
        steps: &[Option<FibreStep<'_>>],
        guess: &Velocities,
        obstacles: Option<&Obstacles<'_>>,
    ) -> Result<Vec<Touch>, StepError> {
        let mut positions = self.rigid.clone();
        let mut parts = Vec::with_capacity(self.fibres.len());
        let mut rest = positions.as_mut_slice();
        for strand in 0..self.model.strands() {
            let (own, others) = rest.split_at_mut(self.model.range(strand).len());
            parts.push(own);
            rest = others;
        }
        let fibres = self.fibres.par_iter().zip(steps).zip(guess).zip(parts);
        fibres.for_each(|(((fibre, step), guess), positions)| {
            if let (Some(fibre), Some(step)) = (fibre, step) {
                fibre.reach(step, guess, positions);
            }
        });
        let (mut detector, mut close) = (self.detector.take(), std::mem::take(&mut self.close));
        let hair = self.hair(&positions);
        let searching = detector.as_mut().filter(|_| self.params.strand_contacts);
        let found = searching.map_or(Ok(Vec::new()), |detector| {
            hair.between_strands(detector, self.params.proximity, &mut close)
        });
        let on_bodies = obstacles.map(|obstacles| hair.with_bodies(obstacles, self.params.proximity as f32));
        (self.detector, self.close) = (detector, close);
        let mut touches = found.map_err(|error| StepError::BadStep(error.to_string()))?;
        touches.extend(on_bodies.into_iter().flatten());
        touches.retain(|touch| self.leverage(touch) > 0.0);
        Ok(touches)
    }

    /// How far the side of a contact that moves more easily can move, beside its free end.
    fn leverage(&self, touch: &Touch) -> f64 {
        let of = |point: Point| {
            let fibre = self.fibres[point.strand].as_ref();
            fibre.map_or(0.0, |fibre| fibre.leverage(point.vertex, point.share))
        };
        of(touch.first).max(touch.second.map_or(0.0, of))
    }

    /// The problem of a step: equation 3, with gaps.
    fn problem(&self, systems: Vec<System>, touches: &[Touch], guess: &Velocities, dt: f64) -> FullProblem {
        let mut full = FullProblem::default();
        for system in systems {
            full.masses.push(system.mass);
            full.impulses.push(system.impulse);
        }
        let rows = touches.par_iter().enumerate().map(|(contact, touch)| self.row(contact, touch, guess, dt));
        for (blocks, offset, friction) in rows.collect::<Vec<_>>() {
            full.jacobian.extend(blocks);
            full.offset.push(offset);
            full.friction.push(friction);
        }
        full
    }

    /// How velocities move one contact: blocks of H, w, and friction.
    fn row(
        &self,
        contact: usize,
        touch: &Touch,
        guess: &Velocities,
        dt: f64,
    ) -> (Vec<JacobianBlock>, DVec3, f64) {
        let axes = touch.axes();
        let mut blocks: Vec<JacobianBlock> = Vec::with_capacity(2);
        let mut carried = -touch.drift;
        let mut moving = DVec3::ZERO;
        for (sign, point) in [(1.0, Some(touch.first)), (-1.0, touch.second)] {
            let Some((point, fibre)) =
                point.and_then(|point| Some((point, self.fibres[point.strand].as_ref()?)))
            else {
                continue;
            };
            let Point { strand: object, vertex, share } = point;
            let freedom = fibre.freedom();
            let mut rows = vec![0.0; 3 * freedom];
            carried += sign * fibre.touch(vertex, share, &mut rows);
            let mut values = vec![0.0; 3 * freedom];
            for column in 0..freedom {
                let world = DVec3::new(rows[column], rows[freedom + column], rows[2 * freedom + column]);
                moving += sign * guess[object][column] * world;
                let own = axes.transpose() * world * sign;
                (0..3).for_each(|axis| values[axis * freedom + column] = own[axis]);
            }
            match blocks.iter_mut().find(|block| block.object == object) {
                Some(block) => block.values.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
                None => blocks.push(JacobianBlock { contact, object, values }),
            }
        }
        // The gap that there was before the step, as the linear motion sees it.
        let gap = touch.gap - dt * touch.normal.dot(moving + carried);
        let closing = match touch.second {
            _ if gap > 0.0 => gap / dt,
            // A body goes where it goes: hair leaves it at once.
            None => (gap / dt).max(-self.leaving_speed * self.leverage(touch)),
            Some(_) => {
                let speed = self.params.correction_speed * self.leverage(touch);
                (self.params.correction * gap / dt).max(-speed)
            }
        };
        let offset = axes.transpose() * carried + DVec3::X * closing;
        (blocks, offset, touch.friction)
    }

    /// Velocities and forces [N] that solve the problem.
    fn solved(
        &mut self,
        full: FullProblem,
        touches: &[Touch],
        before: &[(u64, DVec3)],
        dt: f64,
        report: &mut Report,
    ) -> Result<(Velocities, Vec<(u64, DVec3)>), StepError> {
        let bad = |error: &dyn std::fmt::Display| StepError::BadStep(format!("contact problem: {error}"));
        if touches.is_empty() {
            self.problem = None;
            let free = |(mut mass, mut impulse): (Vec<f64>, Vec<f64>)| {
                cholesky(&mut mass, impulse.len()).then(|| {
                    cholesky_solve(&mass, &mut impulse);
                    impulse
                })
            };
            let all = report.time("solve", || {
                full.masses.into_par_iter().zip(full.impulses).map(free).collect::<Vec<_>>()
            });
            return match all.iter().position(Option::is_none) {
                Some(strand) => Err(lost(strand, 0, "its equations of motion have no solution")),
                None => Ok((all.into_iter().flatten().collect(), Vec::new())),
            };
        }
        let assembly = report.time("assembly", || full.assembly()).map_err(|error| bad(&error))?;
        let problem = report.time("assembly", || assembly.reduced());
        let start = touches.iter().map(|touch| {
            let known = before.binary_search_by_key(&touch.key, |(key, _)| *key).ok();
            known.map_or(DVec3::ZERO, |place| touch.axes().transpose() * before[place].1 * dt)
        });
        let start: Vec<DVec3> = start.collect();
        let solution = report.time("solve", || solve(&problem, &self.settings(dt), Some(&start)));
        let Solution { forces, error, natural, sweeps, interior_steps, .. } =
            solution.map_err(|error| bad(&error))?;
        report.residual = report.residual.max(error.max(natural));
        report.iterations += (sweeps + interior_steps) as u32;
        let velocities = report.time("solve", || assembly.velocities(&forces));
        self.problem = Some(full);
        let forces =
            touches.iter().zip(&forces).map(|(touch, force)| (touch.key, touch.axes() * *force / dt));
        Ok((velocities, forces.filter(|(_, force)| *force != DVec3::ZERO).collect()))
    }

    fn settings(&self, dt: f64) -> Settings {
        let turning = |fibre: &dyn Fibre| dt * fibre.turning(&fibre.velocities());
        let turn = self.fibres.iter().flatten().map(|fibre| turning(fibre.as_ref())).fold(0.0, f64::max);
        let is_calm = turn < CALM * self.params.most_turn;
        Settings {
            tolerance: if is_calm { self.params.tolerance } else { self.params.tolerance_fast },
            most_sweeps: self.params.most_sweeps,
            global: self.params.global.parse().unwrap_or_default(),
            local: self.params.local.parse::<LocalSolver>().unwrap_or_default(),
            ..Settings::default()
        }
    }

    /// Brings vertices of strands that are held altogether where their bodies have them.
    fn keep_rigid(&mut self, drive: &Drive<'_>) {
        for (strand, hold) in holds(drive, 1.0).into_iter().enumerate() {
            if self.fibres[strand].is_none() {
                let range = self.model.range(strand);
                self.rigid[range].copy_from_slice(&hold.positions);
            }
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

fn lost(strand: usize, vertex: usize, problem: &str) -> StepError {
    StepError::Diverged { strand, vertex, problem: problem.to_owned() }
}
