//! The programme as conic solvers read it, and clarabel's answer to it.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::GlobalForceError;
use super::programme::{Programme, Segment, Unknowns, node_columns};

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
/// Unknowns, each of all segments: three of the force, tension and two across, over what the segment carries where its strand carries itself; what tension
/// lacks to its least; the excess over the limit of forces, over the largest force of strands that carry themselves; three of the moment before it, in world
/// axes, over its lever. Then six for each particle: V⁰τ along the orthonormal basis I/√3, xy, xz, yz, (xx − yy)/√2, (xx + yy − 2zz)/√6, in weights of a mean
/// free particle times the side of a cell. The rows of a node are divided by the square root of its mass.
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

/// Where unknowns and rows begin.
struct Layout {
    segments: usize,
    particles: usize,
    /// Rows of the nodes.
    nodes: usize,
}

/// Stresses below this are rounding, in weights of a mean particle times the side of a cell.
const NOISE: f64 = 1e-9;

/// Unknowns of each segment before its moment: the force, what tension lacks, and the excess.
const BEFORE_MOMENTS: usize = 5;

impl Layout {
    fn new(programme: &Programme) -> Self {
        Self {
            segments: programme.segments.len(),
            particles: programme.free.len(),
            nodes: 3 * programme.lattice.nodes(),
        }
    }

    /// The first row of what tension lacks to its least.
    fn least(&self) -> usize {
        self.nodes + 3 * self.segments
    }

    /// The first row of what may not be negative: what tension lacks, then the excess.
    fn positive(&self) -> usize {
        self.least() + self.segments
    }

    /// The first row of the limits of forces.
    fn limits(&self) -> usize {
        self.positive() + 2 * self.segments
    }

    /// The first row of the stresses.
    fn stresses(&self) -> usize {
        self.limits() + 4 * self.segments
    }

    fn rows(&self) -> usize {
        self.stresses() + 6 * self.particles
    }
}

/// The programme in standard form.
pub(super) fn problem(programme: &Programme) -> Problem {
    let layout = Layout::new(programme);
    let mut a = Sparse::new(layout.rows());
    for segment in 0..layout.segments {
        (0..3).for_each(|axis| a.push(force_rows(programme, &layout, segment, axis)));
    }
    for segment in 0..layout.segments {
        a.push([(layout.least() + segment, -1.0), (layout.positive() + segment, -1.0)]);
    }
    for segment in 0..layout.segments {
        let row = layout.positive() + layout.segments + segment;
        a.push([(row, -1.0), (layout.limits() + 4 * segment, -1.0)]);
    }
    moment_columns(programme, &layout, &mut a);
    for particle in 0..layout.particles {
        for part in 0..6 {
            let mut column = stress_column(programme, particle, part);
            let entry = if part == 0 { programme.slope } else { -1.0 };
            column.push((layout.stresses() + 6 * particle + part, entry));
            a.push(column);
        }
    }
    let (p, q) = objective(programme);
    let mut cones =
        vec![Cone::Zero(layout.nodes + 3 * layout.segments), Cone::Nonnegative(3 * layout.segments)];
    cones.resize(2 + layout.segments, Cone::SecondOrder(4));
    cones.resize(2 + layout.segments + layout.particles, Cone::SecondOrder(6));
    Problem { p, q, a, b: right_side(programme, &layout), cones }
}

/// b.
fn right_side(programme: &Programme, layout: &Layout) -> Vec<f64> {
    let zero =
        Unknowns { forces: vec![DVec3::ZERO; layout.segments], stresses: vec![[0.0; 6]; layout.particles] };
    let mut b: Vec<f64> = programme.residual(&zero).iter().flat_map(|v| (-*v).to_array()).collect();
    b.resize(layout.rows(), 0.0);
    b[layout.least()..layout.positive()].fill(-programme.price.weights.least);
    for segment in 0..layout.segments {
        b[layout.limits() + 4 * segment] = programme.price.weights.limit;
    }
    b
}

/// The column of a force along an axis of its segment's frame.
fn force_rows(programme: &Programme, layout: &Layout, segment: usize, axis: usize) -> Vec<(usize, f64)> {
    let own = &programme.segments[segment];
    let mut column = force_column(programme, segment, axis);
    column.iter_mut().for_each(|(_, value)| *value *= own.carried);
    // M/lever − M'/lever' lever/lever' + f × e / lever = 0.
    let turn = own.frame.col(axis).cross(own.edge()) * (own.carried / own.lever);
    for (part, value) in turn.to_array().into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
        column.push((layout.nodes + 3 * segment + part, value));
    }
    if axis == 0 {
        column.push((layout.least() + segment, -1.0));
    }
    column.push((layout.limits() + 4 * segment + 1 + axis, -own.carried / programme.price.largest));
    column
}

/// The columns of the moments.
fn moment_columns(programme: &Programme, layout: &Layout, a: &mut Sparse) {
    let segments = &programme.segments;
    for (segment, own) in segments.iter().enumerate() {
        let before = segment.checked_sub(1).filter(|&before| segments[before].vertex + 1 == own.vertex);
        for axis in 0..3 {
            let carried =
                before.map(|before| (layout.nodes + 3 * before + axis, -own.lever / segments[before].lever));
            a.push(carried.into_iter().chain([(layout.nodes + 3 * segment + axis, 1.0)]));
        }
    }
}

/// P and q.
fn objective(programme: &Programme) -> (Sparse, Vec<f64>) {
    let w = &programme.price.weights;
    let (segments, particles) = (programme.segments.len(), programme.free.len());
    let mut diagonal = [w.tension, w.bending, w.bending].repeat(segments);
    diagonal.resize(4 * segments, w.compression);
    diagonal.resize(BEFORE_MOMENTS * segments, 0.0);
    diagonal.resize((BEFORE_MOMENTS + 3) * segments, w.moment);
    for _ in 0..particles {
        diagonal.push(w.hydrostatic);
        diagonal.extend([w.deviatoric; 5]);
    }
    let mut p = Sparse::new(diagonal.len());
    diagonal.iter().enumerate().for_each(|(at, weight)| p.push([(at, 2.0 * weight)]));
    let mut q = vec![0.0; diagonal.len()];
    q[4 * segments..BEFORE_MOMENTS * segments].fill(w.excess);
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
        // Factors of programmes with some thousand nodes are dense for the most part: faer takes them panel by panel, in a tenth of the time.
        let settings = DefaultSettings {
            verbose: false,
            time_limit: seconds,
            direct_solve_method: "faer".to_owned(),
            max_threads: 1,
            ..DefaultSettings::default()
        };
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
    Ok((unknowns(programme, &found.x), found.iterations))
}

/// The programme's unknowns from those of the standard form.
fn unknowns(programme: &Programme, x: &[f64]) -> Unknowns {
    let segments = programme.segments.len();
    let (forces, stresses) = (&x[..3 * segments], &x[(BEFORE_MOMENTS + 3) * segments..]);
    let force = |(force, segment): (&[f64; 3], &Segment)| DVec3::from_array(*force) * segment.carried;
    Unknowns {
        forces: forces.as_chunks::<3>().0.iter().zip(&programme.segments).map(force).collect(),
        stresses: stresses.as_chunks::<6>().0.iter().map(|s| without_noise(*s)).collect(),
    }
}

/// None where a stress is no more than rounding, which knows no cone.
fn without_noise(stress: [f64; 6]) -> [f64; 6] {
    if stress.iter().all(|part| part.abs() < NOISE) { [0.0; 6] } else { stress }
}
