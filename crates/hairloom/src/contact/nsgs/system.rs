use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use super::order::Order;
use super::{Problem, Settings};
use crate::contact::coulomb::{FischerBurmeister, Found, LocalProblem, Sliding, natural_map};
use crate::math::lanes::{Kernel, Lane, dispatch};

/// A problem as sweeps want it: without units, each contact's operator of mean eigenvalue one, in the order of sweeps.
///
/// One factor per contact on its force, and its inverse on the velocity, changes neither cone nor law. Gauss–Seidel does
/// not notice; what accelerates it and what measures it does.
#[derive(Debug)]
pub(super) struct System {
    order: Order,
    /// Where each row's couplings begin, and where those within its own domain do.
    rows: Vec<(u32, u32)>,
    columns: Vec<u32>,
    /// Nine numbers per coupling, column by column.
    values: Vec<[f64; 9]>,
    /// Operator of its own, offset and friction of each contact.
    contacts: Vec<LocalProblem>,
    sliding: Vec<Sliding>,
    /// Real force over force here, by contact.
    force_units: Vec<f64>,
    /// Real velocity over velocity here, by contact.
    velocity_units: Vec<f64>,
    /// 1 + ‖b‖ in real units.
    judge: f64,
}

/// Forces beyond this, without units, are no solution: velocities of size one drown in their rounding.
pub(super) const LARGEST: f64 = 1.0e10;

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) solved: u64,
    pub(super) fail_safe: u64,
    pub(super) failed: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.solved += other.solved;
        self.fail_safe += other.fail_safe;
        self.failed += other.failed;
    }
}

/// How far forces are from a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Errors {
    /// Largest Fischer–Burmeister function over contacts, without units.
    pub(super) fischer_burmeister: f64,
    /// Length of the natural map in real units over 1 + ‖b‖.
    pub(super) natural: f64,
    /// The root of the sum of squares of Fischer–Burmeister functions over contacts, without units.
    pub(super) total: f64,
}

impl Errors {
    /// What is held against the tolerance.
    pub(super) fn worse(&self) -> f64 {
        larger(self.natural, self.fischer_burmeister)
    }
}

/// The larger of two numbers, or NaN where one is: `max` would lose it.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// What a problem is measured in.
#[derive(Debug)]
pub(super) struct Units {
    /// One over the square root of each contact's own mean eigenvalue.
    pub(super) scale: Vec<f64>,
    /// The largest b with that.
    pub(super) unit: f64,
    /// 1 + ‖b‖ in real units.
    pub(super) judge: f64,
}

impl Units {
    pub(super) fn of(problem: &Problem) -> Self {
        let weight = |contact: usize| {
            let block = problem.matrix.diagonal(contact);
            (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0
        };
        Self::new(&(0..problem.offset.len()).map(weight).collect::<Vec<_>>(), &problem.offset)
    }

    /// Those of contacts with these mean eigenvalues of their own operators, and these b.
    pub(super) fn new(weights: &[f64], offset: &[DVec3]) -> Self {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let spare = if mean > 0.0 { mean } else { 1.0 };
        let scale: Vec<f64> =
            weights.iter().map(|&weight| 1.0 / (if weight > 0.0 { weight } else { spare }).sqrt()).collect();
        let sizes = offset.iter().zip(&scale).map(|(offset, scale)| scale * offset.length());
        let size = sizes.fold(0.0, f64::max);
        let unit = if size > 0.0 { size } else { 1.0 };
        let judge = 1.0 + offset.iter().map(|offset| offset.length_squared()).sum::<f64>().sqrt();
        Self { scale, unit, judge }
    }

    /// The same for some of the contacts, so that errors of a part are errors of the whole.
    pub(super) fn restricted(&self, contacts: &[usize]) -> Self {
        Self { scale: contacts.iter().map(|&contact| self.scale[contact]).collect(), ..*self }
    }
}

/// One domain's part of a system, to be filled.
struct Part<'a> {
    domain: Range<usize>,
    /// The first coupling of all in `columns` and `values`.
    start: u32,
    rows: &'a mut [(u32, u32)],
    columns: &'a mut [u32],
    values: &'a mut [[f64; 9]],
}

impl Part<'_> {
    /// Couplings of each row: those with other domains first.
    fn fill(self, problem: &Problem, order: &[u32], place: &[u32], scale: &[f64]) {
        let mut next = 0;
        for (row, bounds) in self.domain.clone().zip(self.rows) {
            let contact = order[row] as usize;
            let is_inside = |column: usize| self.domain.contains(&(place[column] as usize));
            let begin = self.start + next as u32;
            for inside in [false, true] {
                *bounds = (begin, self.start + next as u32);
                let couplings = problem.matrix.row(contact).filter(|&(column, _)| column != contact);
                for (column, block) in couplings.filter(|&(column, _)| is_inside(column) == inside) {
                    self.columns[next] = place[column];
                    self.values[next] = (*block * (scale[contact] * scale[column])).to_cols_array();
                    next += 1;
                }
            }
        }
    }
}

impl System {
    pub(super) fn new(problem: &Problem, units: &Units) -> Self {
        let order = Order::new(&problem.matrix);
        let Units { scale, unit, judge } = units;
        let of = |&contact: &u32| {
            let contact = contact as usize;
            let matrix = problem.matrix.diagonal(contact) * (scale[contact] * scale[contact]);
            let offset = problem.offset[contact] * (scale[contact] / unit);
            (LocalProblem { matrix, offset, friction: problem.friction[contact] }, Sliding::new(&matrix))
        };
        let (contacts, sliding) = order.contacts.par_iter().with_min_len(1024).map(of).unzip();
        let mut system = Self {
            rows: vec![],
            columns: vec![],
            values: vec![],
            contacts,
            sliding,
            force_units: order.contacts.iter().map(|&contact| unit * scale[contact as usize]).collect(),
            velocity_units: order.contacts.iter().map(|&contact| unit / scale[contact as usize]).collect(),
            judge: *judge,
            order,
        };
        system.couple(problem, scale);
        system
    }

    /// Takes the couplings over from the problem, domain by domain.
    fn couple(&mut self, problem: &Problem, scale: &[f64]) {
        let order = &self.order.contacts;
        let mut place = vec![0_u32; order.len()];
        order.iter().enumerate().for_each(|(index, &contact)| place[contact as usize] = index as u32);
        let count = |&contact: &u32| {
            problem.matrix.row(contact as usize).filter(|&(column, _)| column != contact as usize).count()
        };
        let domains = self.order.colours.concat();
        let counts: Vec<usize> =
            domains.par_iter().map(|domain| order[domain.clone()].iter().map(count).sum()).collect();
        let total: usize = counts.iter().sum();
        self.rows = vec![(total as u32, total as u32); order.len() + 1];
        (self.columns, self.values) = (vec![0; total], vec![[0.0; 9]; total]);
        let (mut rows, mut columns, mut values) =
            (&mut self.rows[..], &mut self.columns[..], &mut self.values[..]);
        let (mut parts, mut start) = (Vec::with_capacity(domains.len()), 0);
        for (domain, &count) in domains.into_iter().zip(&counts) {
            let (own_rows, other_rows) = rows.split_at_mut(domain.len());
            let (own_columns, other_columns) = columns.split_at_mut(count);
            let (own_values, other_values) = values.split_at_mut(count);
            parts.push(Part { domain, start, rows: own_rows, columns: own_columns, values: own_values });
            (rows, columns, values) = (other_rows, other_columns, other_values);
            start += count as u32;
        }
        parts.into_par_iter().for_each(|part| part.fill(problem, order, &place, scale));
    }

    pub(super) fn len(&self) -> usize {
        self.contacts.len()
    }

    /// The contact at a place.
    pub(super) fn contact(&self, place: usize) -> usize {
        self.order.contacts[place] as usize
    }

    /// How many blocks of W couple two contacts.
    pub(super) fn couplings(&self) -> usize {
        self.columns.len()
    }

    /// Forces in the units and the order of sweeps.
    pub(super) fn enter(&self, forces: &[DVec3]) -> Vec<DVec3> {
        let of = |(&contact, unit): (&u32, &f64)| forces[contact as usize] / *unit;
        self.order.contacts.iter().zip(&self.force_units).map(of).collect()
    }

    /// Forces in real units and the problem's order.
    pub(super) fn leave(&self, forces: &[DVec3]) -> Vec<DVec3> {
        let mut real = vec![DVec3::ZERO; forces.len()];
        for ((&contact, unit), force) in self.order.contacts.iter().zip(&self.force_units).zip(forces) {
            real[contact as usize] = *unit * *force;
        }
        real
    }

    /// The part of the velocity at `row` that couplings within `range` bring.
    #[inline(always)]
    fn coupled(&self, range: Range<u32>, forces: &[DVec3], first: usize) -> DVec3 {
        let range = range.start as usize..range.end as usize;
        let (mut x, mut y, mut z) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        for (&column, block) in self.columns[range.clone()].iter().zip(&self.values[range]) {
            let force = forces[column as usize - first];
            for axis in 0..3 {
                x[axis] += block[axis] * force.x;
                y[axis] += block[3 + axis] * force.y;
                z[axis] += block[6 + axis] * force.z;
            }
        }
        DVec3::new(x[0] + y[0] + z[0], x[1] + y[1] + z[1], x[2] + y[2] + z[2])
    }

    /// The velocity at `row` [here without units].
    #[inline(always)]
    fn velocity(&self, row: usize, forces: &[DVec3]) -> DVec3 {
        let contact = &self.contacts[row];
        let coupled = self.coupled(self.rows[row].0..self.rows[row + 1].0, forces, 0);
        contact.offset + coupled + contact.matrix * forces[row]
    }

    /// Velocities of all contacts, here without units.
    pub(super) fn velocities(&self, forces: &[DVec3]) -> Vec<DVec3> {
        (0..self.len()).map(|row| self.velocity(row, forces)).collect()
    }

    /// The contacts' own operators.
    pub(super) fn contacts(&self) -> &[LocalProblem] {
        &self.contacts
    }

    /// Couplings of a row: columns and blocks.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (usize, &[f64; 9])> {
        let range = self.rows[row].0 as usize..self.rows[row + 1].0 as usize;
        self.columns[range.clone()].iter().map(|&column| column as usize).zip(&self.values[range])
    }

    /// How far `forces` are from a solution.
    pub(super) fn measure(&self, forces: &[DVec3]) -> Errors {
        let chunks = self.order.colours.concat();
        let part = |range: Range<usize>| dispatch(Measure { system: self, forces, range });
        // Waking other threads costs more than one chunk does.
        let parts: Vec<[f64; 3]> = if chunks.len() > 1 {
            chunks.into_par_iter().map(part).collect()
        } else {
            chunks.into_iter().map(part).collect()
        };
        Errors {
            fischer_burmeister: parts.iter().fold(0.0, |most, part| larger(part[0], most)),
            natural: parts.iter().map(|part| part[1]).sum::<f64>().sqrt() / self.judge,
            total: parts.iter().map(|part| part[2]).sum::<f64>().sqrt(),
        }
    }
}

/// Errors over a range of contacts: the largest Fischer–Burmeister function, the square of the natural map, and that of all
/// Fischer–Burmeister functions.
struct Measure<'a> {
    system: &'a System,
    forces: &'a [DVec3],
    range: Range<usize>,
}

impl Kernel for Measure<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn run<L: Lane>(self) -> [f64; 3] {
        let Self { system, forces, range } = self;
        let (mut largest, mut sum, mut total) = (0.0_f64, 0.0_f64, 0.0_f64);
        for row in range {
            let friction = system.contacts[row].friction;
            let (force, velocity) = (forces[row], system.velocity(row, forces));
            let error = FischerBurmeister::new(friction, 1.0).value(force, velocity).length_squared();
            largest = larger(error, largest);
            total += error;
            if force.length_squared() > LARGEST * LARGEST {
                (largest, total) = (f64::INFINITY, f64::INFINITY);
            }
            let (force, velocity) = (system.force_units[row] * force, system.velocity_units[row] * velocity);
            sum += natural_map(force, velocity, friction, 1.0).length_squared();
        }
        [largest.sqrt(), sum, total]
    }
}

/// One domain's place in a sweep: forces of its own, and which of its contacts rest.
#[derive(Debug)]
struct Domain {
    range: Range<usize>,
    forces: Vec<DVec3>,
    /// For how many sweeps more each contact is left alone.
    frozen: Vec<u16>,
    tally: Tally,
}

/// Sweeps of Gauss–Seidel over a system. Domains of one colour are swept at the same time.
#[derive(Debug)]
pub(super) struct Sweeper {
    colours: Vec<Vec<Domain>>,
}

impl Sweeper {
    pub(super) fn new(system: &System) -> Self {
        let domain = |range: &Range<usize>| Domain {
            range: range.clone(),
            forces: vec![DVec3::ZERO; range.len()],
            frozen: vec![0; range.len()],
            tally: Tally::default(),
        };
        let colours = system.order.colours.iter().map(|ranges| ranges.iter().map(domain).collect()).collect();
        Self { colours }
    }

    /// Wakes all contacts.
    pub(super) fn thaw(&mut self) {
        for domain in self.colours.iter_mut().flatten() {
            domain.frozen.fill(0);
        }
    }

    /// Solves every contact once that is not frozen, each with the newest forces of the others (Algorithm 1).
    pub(super) fn sweep(&mut self, system: &System, forces: &mut [DVec3], settings: &Settings) -> Tally {
        let mut tally = Tally::default();
        for colour in &mut self.colours {
            if let [domain] = &mut colour[..] {
                dispatch(Sweep { system, outside: forces, domain, settings });
            } else {
                let outside = &*forces;
                colour
                    .par_iter_mut()
                    .for_each(|domain| dispatch(Sweep { system, outside, domain, settings }));
            }
            for domain in colour {
                forces[domain.range.clone()].copy_from_slice(&domain.forces);
                tally.add(&domain.tally);
            }
        }
        tally
    }
}

struct Sweep<'a> {
    system: &'a System,
    outside: &'a [DVec3],
    domain: &'a mut Domain,
    settings: &'a Settings,
}

impl Kernel for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { system, outside, domain, settings } = self;
        let Domain { range, forces, frozen, tally } = domain;
        let first = range.start;
        forces.copy_from_slice(&outside[range.clone()]);
        *tally = Tally::default();
        for place in 0..forces.len() {
            if frozen[place] > 0 {
                frozen[place] -= 1;
                continue;
            }
            let row = first + place;
            let ((start, split), (end, _)) = (system.rows[row], system.rows[row + 1]);
            let contact = &system.contacts[row];
            let coupled =
                system.coupled(start..split, outside, 0) + system.coupled(split..end, forces, first);
            let local = LocalProblem { offset: contact.offset + coupled, ..*contact };
            let before = forces[place];
            let solved =
                settings.local.solve_prepared(&local, &system.sliding[row], before, settings.local_tolerance);
            tally.solved += 1;
            match solved.found {
                Found::FailSafe => tally.fail_safe += 1,
                Found::Nothing => tally.failed += 1,
                // What an approximate method comes to is not meant to obey the law.
                Found::Best if settings.local.method.is_exact() => tally.failed += 1,
                Found::Method | Found::Best => {}
            }
            forces[place] = solved.force;
            frozen[place] = settings.freeze(before, solved.force);
        }
    }
}
