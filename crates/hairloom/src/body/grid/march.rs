//! Fast marching: distances and velocities spread from the nodes next to the surface through the band.

use glam::Vec3;

use super::{BAND, Layout};

/// Buckets of the queue in one cell of distance.
const BUCKETS: f32 = 16.0;

/// A node next to the surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) node: usize,
    /// Signed distance [m].
    pub(super) distance: f32,
    /// Velocity of the closest point [m/s].
    pub(super) velocity: Vec3,
}

/// Fills a grid from the nodes next to the surface: signed distances [m], and velocities [m/s] if the surface is
/// `moving`. The two sides march at the same time; they never meet at a closed surface. Through a hole in an open one
/// each side leaks to the other, and both have the same distance from the rim: there `is_inside` tells.
pub(super) fn march(
    layout: Layout,
    known: &[Known],
    moving: bool,
    is_inside: impl Fn(usize) -> bool,
) -> (Vec<f32>, Vec<Vec3>) {
    let side = |sign: f32| {
        let mut front = Front::new(layout, known, moving);
        front.run(known.iter().filter(|k| k.distance * sign >= 0.0).map(|k| k.node));
        front
    };
    let (mut outside, mut inside) = rayon::join(|| side(1.0), || side(-1.0));
    for k in known {
        let other = if k.distance < 0.0 { &mut outside } else { &mut inside };
        other.distances[k.node] = f32::INFINITY;
    }
    let mut velocities = outside.velocities;
    let mut distances = outside.distances;
    let rows =
        distances.chunks_exact_mut(layout.nodes[0]).zip(inside.distances.chunks_exact(layout.nodes[0]));
    for (line, (row, inside_row)) in rows.enumerate() {
        // A row begins outside; a node that no front has reached lies at the side of the one before it.
        let mut sign = 1.0;
        for (x, (distance, &into)) in row.iter_mut().zip(inside_row).enumerate() {
            let out = *distance;
            if out.min(into) < BAND {
                let node = line * layout.nodes[0] + x;
                let inside_wins = if out.max(into) < BAND { is_inside(node) } else { into < out };
                sign = if inside_wins { -1.0 } else { 1.0 };
                if into < out && moving {
                    velocities[node] = inside.velocities[node];
                }
            }
            *distance = sign * layout.cell * out.min(into).min(BAND);
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
    fn new(layout: Layout, known: &[Known], moving: bool) -> Self {
        let moving_nodes = if moving { layout.len() } else { 0 };
        let mut front = Self {
            strides: layout.strides(),
            distances: vec![f32::INFINITY; layout.len()],
            fixed: vec![false; layout.len()],
            velocities: vec![Vec3::ZERO; moving_nodes],
            passed: vec![false; moving_nodes],
            buckets: vec![Vec::new(); (BAND * BUCKETS) as usize + 1],
        };
        let [nx, ny, nz] = layout.nodes;
        for (line, row) in front.fixed.chunks_exact_mut(nx).enumerate() {
            let (y, z) = (line % ny, line / ny);
            if y == 0 || y == ny - 1 || z == 0 || z == nz - 1 {
                row.fill(true);
            }
            row[0] = true;
            row[nx - 1] = true;
        }
        for k in known {
            front.distances[k.node] = k.distance.abs() / layout.cell;
            front.fixed[k.node] = true;
            if moving {
                front.velocities[k.node] = k.velocity;
                front.passed[k.node] = true;
            }
        }
        front
    }

    fn neighbours(&self, node: usize) -> [usize; 6] {
        let [x, y, z] = self.strides;
        [node - x, node + x, node - y, node + y, node - z, node + z]
    }

    /// Marches from the nodes next to the surface. Nodes come from the queue by distance, as exactly as its buckets are
    /// narrow; where that order is wrong, a node is corrected and queued again, so that the result is the solution of
    /// the upwind scheme whatever the order.
    fn run(&mut self, starts: impl Iterator<Item = usize>) {
        for node in starts {
            self.update_around(node, 0);
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
