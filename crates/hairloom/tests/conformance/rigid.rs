//! A trivial second method: hair as stiff as its roots. It proves that the seams serve more than one solver.

use std::sync::Arc;

use glam::DVec3;
use hairloom::groom::Remap;
use hairloom::scene::{Drive, Model, State};
use hairloom::solve::{Checkpoint, CheckpointError, Report, Solver, Step, StepError, check_dt};

pub(crate) struct Rigid {
    model: Arc<Model>,
    state: State,
}

impl Rigid {
    pub(crate) fn new(model: &Arc<Model>) -> Self {
        let state = State::at_rest(model.groomed.iter().map(|point| point.as_dvec3()).collect());
        Self { model: Arc::clone(model), state }
    }
}

impl Solver for Rigid {
    fn load(&mut self, state: &State) {
        self.state = state.clone();
    }

    fn step(&mut self, drive: &Drive<'_>, step: Step) -> Result<Report, StepError> {
        if let Step::Dynamic { dt } = step {
            check_dt(dt)?;
        }
        for attachment in drive.attachments.items.iter().filter(|attachment| attachment.first == 0) {
            let (before, after) = (drive.seat_frame(attachment, 0.0), drive.seat_frame(attachment, 1.0));
            for vertex in self.model.range(attachment.strand as usize) {
                let old = self.state.positions[vertex];
                let new = after.apply(before.apply_inverse(old));
                self.state.positions[vertex] = new;
                self.state.velocities[vertex] = match step {
                    Step::Dynamic { dt } if !drive.jumps(attachment.body as usize) => (new - old) / dt,
                    _ => DVec3::ZERO,
                };
            }
        }
        Ok(Report { iterations: 1, ..Report::default() })
    }

    fn store(&self, state: &mut State) {
        *state = self.state.clone();
    }

    fn save(&self, out: &mut Checkpoint) {
        out.begin("rigid", 1);
        let flat = |points: &[DVec3]| points.iter().flat_map(|p| p.to_array()).collect::<Vec<f64>>();
        out.put("positions", flat(&self.state.positions));
        out.put("velocities", flat(&self.state.velocities));
    }

    fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        from.expect("rigid", 1)?;
        let count = self.model.vertices();
        let points = |values: &[f64]| values.chunks_exact(3).map(DVec3::from_slice).collect();
        self.state.positions = points(from.take("positions", 3 * count)?);
        self.state.velocities = points(from.take("velocities", 3 * count)?);
        Ok(())
    }

    fn rebind(&mut self, model: &Arc<Model>, remap: &Remap) {
        self.state = self.state.remapped(&self.model, model, remap);
        self.model = Arc::clone(model);
    }
}
