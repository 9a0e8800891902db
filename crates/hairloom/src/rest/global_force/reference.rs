//! The paper's programme as conic solvers read it, and clarabel's answer to it.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::GlobalForceError;
use super::at_rest::put_right;
use super::programme::{Programme, Unknowns, node_columns};

/// A sparse matrix by columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sparse {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Where each column begins in the next two lists; one more entry than columns.
    pub column_starts: Vec<usize>,
    /// Row of each entry, rising within a column.
    pub row_indices: Vec<usize>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

/// A cone, and how many rows it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cone {
    /// Zero alone.
    Zero(usize),
    /// Numbers that are not negative.
    Nonnegative(usize),
    /// First entry at least the length of the others.
    SecondOrder(usize),
}

/// Least ½ xᵀPx + qᵀx with A x + s = b, and s in the cones, one after the other along the rows.
///
/// Unknowns: z⁺ of all segments, −z⁻ of all, zᵗ (two for each), then six for each particle: V⁰τ along the orthonormal basis
/// I/√3, xy, xz, yz, (xx − yy)/√2, (xx + yy − 2zz)/√6. Units: the weight of a mean free particle, and that times the
/// side of a cell; objective in units of the weight of bending; the rows of a node are divided by the square root of
/// its mass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// P, its upper triangle (a diagonal).
    pub p: Sparse,
    /// q.
    pub q: Vec<f64>,
    /// A.
    pub a: Sparse,
    /// b.
    pub b: Vec<f64>,
    /// The cones.
    pub cones: Vec<Cone>,
}

impl Sparse {
    fn new(rows: usize) -> Self {
        Self { rows, columns: 0, column_starts: vec![0], row_indices: Vec::new(), values: Vec::new() }
    }

    fn push(&mut self, column: impl IntoIterator<Item = (usize, f64)>) {
        for (row, value) in column {
            self.row_indices.push(row);
            self.values.push(value);
        }
        self.columns += 1;
        self.column_starts.push(self.values.len());
    }

    fn csc(&self) -> CscMatrix<f64> {
        let (starts, rows) = (self.column_starts.clone(), self.row_indices.clone());
        CscMatrix::new(self.rows, self.columns, starts, rows, self.values.clone())
    }
}

/// The programme in standard form.
pub(super) fn problem(programme: &Programme) -> Problem {
    let (segments, particles) = (programme.segments.len(), programme.free.len());
    let nodes = 3 * programme.lattice.nodes();
    let rows = nodes + 2 * segments + 6 * particles;
    let mut a = Sparse::new(rows);
    for (sign, offset) in [(1.0, 0), (-1.0, segments)] {
        for segment in 0..segments {
            let mut column = force_column(programme, segment, 0);
            column.iter_mut().for_each(|(_, value)| *value *= sign);
            column.push((nodes + offset + segment, -1.0));
            a.push(column);
        }
    }
    for segment in 0..segments {
        a.push(force_column(programme, segment, 1));
        a.push(force_column(programme, segment, 2));
    }
    for particle in 0..particles {
        for part in 0..6 {
            let mut column = stress_column(programme, particle, part);
            let entry = if part == 0 { programme.slope } else { -1.0 };
            column.push((nodes + 2 * segments + 6 * particle + part, entry));
            a.push(column);
        }
    }
    let (p, q) = objective(programme);
    let zero = Unknowns { forces: vec![DVec3::ZERO; segments], stresses: vec![[0.0; 6]; particles] };
    let mut b: Vec<f64> = programme.residual(&zero).iter().flat_map(|v| (-*v).to_array()).collect();
    b.resize(rows, 0.0);
    let mut cones = vec![Cone::Zero(nodes), Cone::Nonnegative(2 * segments)];
    cones.resize(2 + particles, Cone::SecondOrder(6));
    Problem { p, q, a, b, cones }
}

/// P and q.
fn objective(programme: &Programme) -> (Sparse, Vec<f64>) {
    let w = &programme.weights;
    let (segments, particles) = (programme.segments.len(), programme.free.len());
    let mut diagonal = vec![w.tension; segments];
    diagonal.resize(2 * segments, w.compression);
    diagonal.resize(4 * segments, w.bending);
    for _ in 0..particles {
        diagonal.push(w.hydrostatic);
        diagonal.extend([w.deviatoric; 5]);
    }
    let mut p = Sparse::new(diagonal.len());
    diagonal.iter().enumerate().for_each(|(at, weight)| p.push([(at, 2.0 * weight / w.bending)]));
    let mut q = vec![0.0; diagonal.len()];
    for (q, segment) in q[segments..].iter_mut().zip(&programme.segments) {
        *q = 2.0 * w.compression * w.bias * segment.strand_weight / w.bending;
    }
    (p, q)
}

/// What a unit force along an axis of a segment's frame does to the nodes.
fn force_column(programme: &Programme, segment: usize, axis: usize) -> Vec<(usize, f64)> {
    let segment = &programme.segments[segment];
    let direction = segment.frame.col(axis);
    let mut entries: Vec<(u32, DVec3)> = Vec::with_capacity(54);
    for (vertex, sign) in [(segment.vertex as usize + 1, 1.0), (segment.vertex as usize, -1.0)] {
        if programme.free[vertex] {
            let place = &programme.lattice.places[vertex];
            let nodes = &programme.lattice.cells[place.cell as usize];
            entries.extend(
                nodes.iter().zip(place.nodes()).map(|(&n, (weight, _))| (n, direction * (sign * weight))),
            );
        }
    }
    entries.sort_by_key(|(node, _)| *node);
    let merged = entries.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.iter().map(|e| e.1).sum()));
    rows(programme, merged)
}

/// What a unit of one part of a particle's stress does to the nodes.
fn stress_column(programme: &Programme, particle: usize, part: usize) -> Vec<(usize, f64)> {
    let place = &programme.lattice.places[particle];
    let nodes = &programme.lattice.cells[place.cell as usize];
    let mut entries: Vec<(u32, DVec3)> = nodes
        .iter()
        .zip(place.nodes())
        .map(|(&node, (_, gradient))| (node, node_columns(gradient)[part]))
        .collect();
    entries.sort_by_key(|(node, _)| *node);
    rows(programme, entries.into_iter())
}

fn rows(programme: &Programme, entries: impl Iterator<Item = (u32, DVec3)>) -> Vec<(usize, f64)> {
    let scaled = |(node, force): (u32, DVec3)| {
        let force = (force * programme.row_scales[node as usize]).to_array();
        (0..3).map(move |axis| (3 * node as usize + axis, force[axis]))
    };
    entries.flat_map(scaled).filter(|(_, value)| *value != 0.0).collect()
}

/// What clarabel found for a [`Problem`].
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// x.
    pub x: Vec<f64>,
    /// ½ xᵀPx + qᵀx.
    pub objective: f64,
    /// Iterations that it took.
    pub iterations: usize,
}

impl Problem {
    /// clarabel's answer, after at most `seconds` [s].
    pub fn solve(&self, seconds: f64) -> Result<Solution, GlobalForceError> {
        let cones: Vec<SupportedConeT<f64>> = self
            .cones
            .iter()
            .map(|cone| match *cone {
                Cone::Zero(rows) => SupportedConeT::ZeroConeT(rows),
                Cone::Nonnegative(rows) => SupportedConeT::NonnegativeConeT(rows),
                Cone::SecondOrder(rows) => SupportedConeT::SecondOrderConeT(rows),
            })
            .collect();
        let settings = DefaultSettings { verbose: false, time_limit: seconds, ..DefaultSettings::default() };
        let failed = |status: String| GlobalForceError::Reference { status };
        let (p, a) = (self.p.csc(), self.a.csc());
        let mut solver = DefaultSolver::new(&p, &self.q, &a, &self.b, &cones, settings)
            .map_err(|error| failed(error.to_string()))?;
        solver.solve();
        let solution = &solver.solution;
        if !matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
            return Err(failed(format!("{:?} after {} iterations", solution.status, solution.iterations)));
        }
        let (objective, iterations) = (solution.obj_val, solution.iterations as usize);
        Ok(Solution { x: solution.x.clone(), objective, iterations })
    }
}

/// clarabel's answer, and its iterations.
pub(super) fn solve(programme: &Programme, seconds: f64) -> Result<(Unknowns, usize), GlobalForceError> {
    let found = problem(programme).solve(seconds)?;
    // clarabel ends with stresses outside of their cones by some 1e-6 of the largest, whatever tolerance it is given. Where there is a point
    // inside beside its own that costs as much, that is taken.
    Ok((put_right(programme, unknowns(programme, &found.x)), found.iterations))
}

/// The programme's unknowns from those of the standard form.
fn unknowns(programme: &Programme, x: &[f64]) -> Unknowns {
    let segments = programme.segments.len();
    let (along, rest) = x.split_at(2 * segments);
    let (across, stresses) = rest.split_at(2 * segments);
    let force = |s: usize| DVec3::new(along[s] - along[segments + s], across[2 * s], across[2 * s + 1]);
    Unknowns { forces: (0..segments).map(force).collect(), stresses: stresses.as_chunks::<6>().0.to_vec() }
}
