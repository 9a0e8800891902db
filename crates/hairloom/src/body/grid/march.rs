//! Fast marching: distances and velocities spread from the nodes next to the surface through the band.

use glam::Vec3;

use super::{BAND, Layout};

/// Buckets of the queue in one cell of distance.
const BUCKETS: f32 = 16.0;

/// Fills a grid from the nodes whose signed distance and velocity are known: signed distances [m], and velocities
/// [m/s] if the surface is `moving`. The two sides march at the same time; they never meet at a closed surface.
pub(super) fn march(layout: Layout, known: &[Option<(f32, Vec3)>], moving: bool) -> (Vec<f32>, Vec<Vec3>) {
    let side = |sign: f32| {
        let mut front = Front::new(layout, known, moving);
        front.run(|node| known[node].is_some_and(|(distance, _)| distance * sign >= 0.0));
        front
    };
    let (outside, inside) = rayon::join(|| side(1.0), || side(-1.0));
    let mut distances = vec![0.0; known.len()];
    let mut velocities = outside.velocities;
    let row = layout.nodes[0];
    for start in (0..known.len()).step_by(row) {
        // A row begins outside; a node that no front has reached lies at the side of the one before it.
        let mut sign = 1.0;
        for node in start..start + row {
            distances[node] = match known[node] {
                Some((distance, _)) => distance,
                None => {
                    let (out, into) = (outside.distances[node], inside.distances[node]);
                    if into < out && moving {
                        velocities[node] = inside.velocities[node];
                    }
                    let cells = out.min(into).min(BAND);
                    layout.cell
                        * if cells < BAND { if into < out { -cells } else { cells } } else { sign * BAND }
                }
            };
            sign = if distances[node] < 0.0 { -1.0 } else { 1.0 };
        }
    }
    (distances, velocities)
}

/// The front that marches at one side of the surface.
struct Front {
    strides: [usize; 3],
    /// Distances in cells, infinite where unknown.
    distances: Vec<f32>,
    /// Nodes that do not change: those next to the surface, and the wall around the grid.
    fixed: Vec<bool>,
    velocities: Vec<Vec3>,
    /// Nodes whose velocity is known.
    passed: Vec<bool>,
    /// Nodes to go on from, with their distances when they were queued.
    buckets: Vec<Vec<(u32, f32)>>,
}

impl Front {
    fn new(layout: Layout, known: &[Option<(f32, Vec3)>], moving: bool) -> Self {
        let distances =
            known.iter().map(|k| k.map_or(f32::INFINITY, |(d, _)| d.abs() / layout.cell)).collect();
        let velocities = if moving {
            known.iter().map(|k| k.map_or(Vec3::ZERO, |(_, v)| v)).collect()
        } else {
            Vec::new()
        };
        let [nx, ny, nz] = layout.nodes;
        let mut fixed: Vec<bool> = known.iter().map(Option::is_some).collect();
        for (line, row) in fixed.chunks_exact_mut(nx).enumerate() {
            let (y, z) = (line % ny, line / ny);
            if y == 0 || y == ny - 1 || z == 0 || z == nz - 1 {
                row.fill(true);
            }
            row[0] = true;
            row[nx - 1] = true;
        }
        let passed = if moving { known.iter().map(Option::is_some).collect() } else { Vec::new() };
        let buckets = vec![Vec::new(); (BAND * BUCKETS) as usize + 1];
        Self { strides: layout.strides(), distances, fixed, velocities, passed, buckets }
    }

    fn neighbours(&self, node: usize) -> [usize; 6] {
        let [x, y, z] = self.strides;
        [node - x, node + x, node - y, node + y, node - z, node + z]
    }

    /// Marches from the fixed nodes that `starts` names. Nodes come from the queue by distance, as exactly as its
    /// buckets are narrow; where that order is wrong, a node is corrected and queued again, so that the result is the
    /// solution of the upwind scheme whatever the order.
    fn run(&mut self, starts: impl Fn(usize) -> bool) {
        let reach = *self.strides.last().unwrap_or(&0);
        for node in reach..self.distances.len().saturating_sub(reach) {
            if self.fixed[node] && starts(node) {
                self.update_around(node, 0);
            }
        }
        for bucket in 0..self.buckets.len() {
            let mut next = 0;
            while let Some(&(node, queued)) = self.buckets[bucket].get(next) {
                next += 1;
                let node = node as usize;
                if self.distances[node] == queued {
                    self.take_velocity(node);
                    self.update_around(node, bucket);
                }
            }
            self.buckets[bucket] = Vec::new();
        }
    }

    fn update_around(&mut self, node: usize, bucket: usize) {
        for neighbour in self.neighbours(node) {
            if self.fixed[neighbour] || self.distances[neighbour] <= self.distances[node] {
                continue;
            }
            let distance = self.upwind(neighbour);
            if distance < self.distances[neighbour] && distance < BAND {
                self.distances[neighbour] = distance;
                self.buckets[bucket.max((distance * BUCKETS) as usize)].push((neighbour as u32, distance));
            }
        }
    }

    /// The distance of a node by the upwind scheme: Σ max(d - dₖ, 0)² = 1 over the nearer neighbours dₖ of each axis.
    fn upwind(&self, node: usize) -> f32 {
        let [x, y, z] = self.strides;
        let d = &self.distances;
        let nearer = |stride: usize| d[node - stride].min(d[node + stride]);
        let (a, b, c) = (nearer(x), nearer(y), nearer(z));
        let (low, high) = (a.min(b), a.max(b));
        let (first, rest) = (low.min(c), low.max(c));
        let (second, third) = (high.min(rest), high.max(rest));
        let mut distance = first + 1.0;
        if distance > second {
            let difference = second - first;
            distance = 0.5 * (first + second + (2.0 - difference * difference).max(0.0).sqrt());
        }
        if distance > third {
            let sum = first + second + third;
            let squares = first * first + second * second + third * third;
            distance = (sum + (sum * sum - 3.0 * (squares - 1.0)).max(0.0).sqrt()) / 3.0;
        }
        distance
    }

    /// The average velocity of the neighbours that the front has passed.
    fn take_velocity(&mut self, node: usize) {
        if self.velocities.is_empty() {
            return;
        }
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for neighbour in self.neighbours(node) {
            if self.passed[neighbour] {
                sum += self.velocities[neighbour];
                count += 1.0;
            }
        }
        self.velocities[node] = sum / f32::max(count, 1.0);
        self.passed[node] = true;
    }
}
