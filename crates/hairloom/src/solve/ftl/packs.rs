//! Strands in packs of eight, one per lane.

use glam::DVec3;

use crate::math::lanes::{Row, Row3, WIDTH};
use crate::scene::Model;
pub(super) use crate::solve::packing::EMPTY;
use crate::solve::packing::space_filling_order;

/// Eight strands of nearly equal vertex counts.
#[derive(Debug, Clone)]
pub(super) struct Pack {
    /// The strand of each lane, or [`EMPTY`].
    pub strands: [u32; WIDTH],
    /// Where the rows of this pack begin.
    pub row: usize,
    /// Vertices of its longest strand: so many rows.
    pub vertices: usize,
    /// Vertices held at the root, the same in each lane.
    pub held: usize,
    /// Collision distance of each strand [m].
    pub radius: Row,
    /// Drag rate of each strand [1/s].
    pub drag: Row,
}

/// All rooted strands. An edge is stored at its second vertex: row `i` holds the edge from vertex `i - 1` to
/// vertex `i`. Edges, not positions, are the state: lengths then keep f32's full relative precision however
/// far from the origin, or from the root, a vertex is.
#[derive(Debug, Clone, Default)]
pub(super) struct Packs {
    pub packs: Vec<Pack>,
    /// Edge vectors [m]; row 0 of a pack is not used.
    pub edges: Vec<Row3>,
    /// Velocities that the next prediction starts from, with the correction of equation 9 [m/s].
    pub velocities: Vec<Row3>,
    /// Velocities that the last step really moved with [m/s].
    pub moves: Vec<Row3>,
    /// Rest lengths [m]; 0 beyond a strand's tip, so that spare rows stay on the tip.
    pub lengths: Vec<Row>,
    /// For each strand its pack and lane, or [`EMPTY`] where it is not here.
    pub place: Vec<(u32, u32)>,
    /// World positions of the roots of each pack [m].
    pub roots: Vec<[DVec3; WIDTH]>,
}

impl Packs {
    /// Lays out all strands with at least one vertex held at the root, `held[strand] > 0`.
    pub(super) fn new(model: &Model, held: &[u32], margin: f64) -> Self {
        let mut order: Vec<u32> = (0..model.strands() as u32).filter(|&s| held[s as usize] > 0).collect();
        // Neighbours in space become neighbours in memory: density patches stay small, distance grids in the cache.
        let along_curve = space_filling_order(model);
        order.sort_by_key(|&s| (held[s as usize], model.range(s as usize).len(), along_curve[s as usize]));
        let mut packs = Self { place: vec![(EMPTY, 0); model.strands()], ..Self::default() };
        let alike = order.chunk_by(|&a, &b| held[a as usize] == held[b as usize]);
        let groups: Vec<&[u32]> = alike.flat_map(|strands| strands.chunks(WIDTH)).collect();
        packs.reserve(groups.len(), groups.iter().map(|group| most_vertices(model, group)).sum());
        for group in groups {
            packs.add(model, group, held[group[0] as usize] as usize, margin);
        }
        packs
    }

    /// Makes room for all packs at once: arrays that grow little by little end up larger than they need to be.
    fn reserve(&mut self, packs: usize, rows: usize) {
        self.packs.reserve_exact(packs);
        self.roots.reserve_exact(packs);
        self.lengths.reserve_exact(rows);
        self.edges.reserve_exact(rows);
        self.velocities.reserve_exact(rows);
        self.moves.reserve_exact(rows);
    }

    fn add(&mut self, model: &Model, group: &[u32], held: usize, margin: f64) {
        let vertices = most_vertices(model, group);
        let row = self.lengths.len();
        let mut pack = Pack {
            strands: [EMPTY; WIDTH],
            row,
            vertices,
            held,
            radius: Row::default(),
            drag: Row::default(),
        };
        self.lengths.resize(row + vertices, Row::default());
        self.edges.resize(row + vertices, Row3::default());
        self.velocities.resize(row + vertices, Row3::default());
        self.moves.resize(row + vertices, Row3::default());
        for (lane, &strand) in group.iter().enumerate() {
            pack.strands[lane] = strand;
            self.place[strand as usize] = (self.packs.len() as u32, lane as u32);
            let range = model.range(strand as usize);
            pack.radius.0[lane] = (model.radii[range.start] as f64 + margin) as f32;
            pack.drag.0[lane] = model.material(strand as usize).drag as f32;
            for (i, vertex) in range.clone().enumerate().skip(1) {
                self.lengths[row + i].0[lane] = model.rest_lengths[vertex - 1] as f32;
            }
        }
        self.packs.push(pack);
        self.roots.push([DVec3::ZERO; WIDTH]);
    }

    /// Sets a strand from world positions and velocities.
    pub(super) fn set_strand(&mut self, strand: usize, positions: &[DVec3], velocities: &[DVec3]) {
        let (pack, lane) = self.place[strand];
        let (row, lane) = (self.packs[pack as usize].row, lane as usize);
        self.roots[pack as usize][lane] = positions[0];
        for (i, velocity) in velocities.iter().enumerate() {
            self.velocities[row + i].set(lane, velocity.as_vec3());
            self.moves[row + i].set(lane, velocity.as_vec3());
            if i > 0 {
                self.edges[row + i].set(lane, (positions[i] - positions[i - 1]).as_vec3());
            }
        }
    }

    /// Writes the world positions of the strand in a lane of a pack, and its velocities of either kind.
    pub(super) fn get_lane(
        &self,
        pack: usize,
        lane: usize,
        rows: &[Row3],
        positions: &mut [DVec3],
        velocities: &mut [DVec3],
    ) {
        let row = self.packs[pack].row;
        let mut position = self.roots[pack][lane];
        let (edges, rows) = (&self.edges[row..], &rows[row..]);
        let vertices = positions.iter_mut().zip(velocities.iter_mut()).zip(edges).zip(rows);
        for (i, (((new_position, new_velocity), edge), velocity)) in vertices.enumerate() {
            if i > 0 {
                position += edge.get(lane).as_dvec3();
            }
            *new_position = position;
            *new_velocity = velocity.get(lane).as_dvec3();
        }
    }
}

/// Vertices of the longest strand of a group.
fn most_vertices(model: &Model, group: &[u32]) -> usize {
    group.iter().map(|&strand| model.range(strand as usize).len()).max().unwrap_or(0)
}
