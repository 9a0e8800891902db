//! Which particles have any freedom at all: a smaller programme that has an interior.
//!
//! # Theory
//!
//! Without stress, rods pull at particles beyond their weight by u, and nodes are at rest where Σ w u = 0. Where nodes are more than the particles
//! around them, u = 0 is all there is; and a stress there would have to be balanced by others, which cones rarely allow: all of the programme's degeneracy
//! lies there. Which particles these are is a matter of counting (A. Dulmage and N. Mendelsohn, *Coverings of bipartite graphs*, 1958): nodes are matched
//! with particles as far as can be; what alternating paths reach from nodes without a partner is determined. These particles are *tied*: they carry
//! themselves and have no stress. Every other node has a particle of its own that can balance whatever stress does to it, so any small pressure is a point in
//! the interior.
//!
//! The pull of a rod then differs from that of a strand which carries itself by the same vector between one loose particle and the next.

use std::collections::{HashMap, VecDeque};

use glam::{DMat3, DVec3};

use super::lattice::{Lattice, Place, grouped};
use super::moments::Moments;
use super::programme::{NONE, Programme, Segment, Unknowns};

/// The programme of what is loose.
pub(super) struct Loose {
    /// Its particles and rows; its segments reach from one loose particle to the next, with forces in world axes, beyond those of strands
    /// that carry themselves.
    pub programme: Programme,
    /// The segments of the whole programme in each of its segments.
    pub members: Vec<Vec<u32>>,
    /// The particle of the whole programme that each of its particles is.
    pub particles: Vec<u32>,
}

impl Loose {
    pub(super) fn new(whole: &Programme) -> Self {
        let kept = kept_nodes(whole);
        let lattice = &whole.lattice;
        let is_inside =
            |p: usize| lattice.cells[lattice.places[p].cell as usize].iter().all(|&node| kept[node as usize]);
        let inside: Vec<bool> = (0..whole.free.len()).map(is_inside).collect();
        let loose: Vec<bool> =
            inside.iter().zip(&whole.free).map(|(inside, free)| *inside && *free).collect();
        let mut builder = Builder {
            whole,
            inside: &inside,
            loose: &loose,
            particles: vec![],
            beside: vec![],
            segments: vec![],
            members: vec![],
        };
        builder.strands();
        let Builder { particles, beside, segments, members, .. } = builder;
        let lattice = restricted(&whole.lattice, &kept, &particles, &inside);
        let programme = Programme {
            row_scales: lattice.masses.iter().map(|mass| mass.max(1e-30).powf(-0.5)).collect(),
            gravity: vec![DVec3::ZERO; particles.len()],
            free: particles.iter().map(|&p| loose[p as usize]).collect(),
            lattice,
            segments,
            beside,
            slope: whole.slope,
            price: whole.price,
            moments: Moments::new(&[], 0.0),
            unit: whole.unit,
            cell: whole.cell,
        };
        Self { programme, members, particles }
    }

    /// The point of the whole programme where the groups have forces `more` beyond those of the start, and particles have pressures.
    pub(super) fn whole(
        &self,
        start: &Unknowns,
        more: &[DVec3],
        pressures: &[f64],
        whole: &Programme,
    ) -> Unknowns {
        let mut out = start.clone();
        for (members, more) in self.members.iter().zip(more) {
            for &s in members {
                out.forces[s as usize] += whole.segments[s as usize].frame.transpose() * *more;
            }
        }
        for (&particle, pressure) in self.particles.iter().zip(pressures).filter(|(_, p)| **p > 0.0) {
            out.stresses[particle as usize] = [-pressure, 0.0, 0.0, 0.0, 0.0, 0.0];
        }
        out
    }
}

struct Builder<'a> {
    whole: &'a Programme,
    inside: &'a [bool],
    loose: &'a [bool],
    particles: Vec<u32>,
    beside: Vec<[u32; 2]>,
    segments: Vec<Segment>,
    members: Vec<Vec<u32>>,
}

impl Builder<'_> {
    /// Walks along all segments: a run of them that tied particles join is one.
    fn strands(&mut self) {
        let count = self.whole.free.len();
        let mut vertex = 0;
        while vertex < count {
            let mut end = vertex;
            while self.whole.beside[end][1] != NONE {
                end += 1;
            }
            self.strand(vertex, end);
            vertex = end + 1;
        }
    }

    /// The vertices `first..=last`, joined by segments. What joins them anew ends at loose or held vertices; tied ends of strands carry nothing more.
    fn strand(&mut self, first: usize, last: usize) {
        let ends: Vec<usize> = (first..=last).filter(|&v| self.loose[v] || !self.whole.free[v]).collect();
        let joins = |at: usize| at + 1 < ends.len() && (self.loose[ends[at]] || self.loose[ends[at + 1]]);
        let joined: Vec<bool> = (0..ends.len()).map(joins).collect();
        for (at, &vertex) in ends.iter().enumerate() {
            let follows = at > 0 && joined[at - 1];
            if !(joined[at] || follows || self.inside[vertex]) {
                continue;
            }
            self.particles.push(vertex as u32);
            self.beside.push([if follows { self.segments.len() as u32 - 1 } else { NONE }, NONE]);
            if joined[at] {
                let index = self.particles.len() as u32 - 1;
                self.beside[index as usize][1] = self.segments.len() as u32;
                self.segments.push(Segment {
                    vertex: index,
                    frame: DMat3::IDENTITY,
                    length: 0.0,
                    carried: 1.0,
                    lever: 1.0,
                });
                let members = (vertex..ends[at + 1]).map(|v| self.whole.beside[v][1]);
                self.members.push(members.filter(|&s| s != NONE).collect());
            }
        }
    }
}

/// Whether each node has a particle of its own, with all nodes around that particle so too.
fn kept_nodes(whole: &Programme) -> Vec<bool> {
    let lattice = &whole.lattice;
    let nodes = lattice.nodes();
    let mut near: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (particle, place) in lattice.places.iter().enumerate().filter(|(particle, _)| whole.free[*particle]) {
        for &node in &lattice.cells[place.cell as usize] {
            near[node as usize].push(particle as u32);
        }
    }
    let mut owner = vec![NONE; whole.free.len()];
    let mut seen = vec![NONE; whole.free.len()];
    let has: Vec<bool> = (0..nodes as u32).map(|node| augment(&near, node, &mut owner, &mut seen)).collect();
    let mut kept = vec![true; nodes];
    let mut queue: Vec<u32> = (0..nodes as u32).filter(|&n| !has[n as usize]).collect();
    queue.iter().for_each(|&n| kept[n as usize] = false);
    let mut tied = vec![false; whole.free.len()];
    while let Some(node) = queue.pop() {
        for &particle in &near[node as usize] {
            if std::mem::replace(&mut tied[particle as usize], true) {
                continue;
            }
            let mate = owner[particle as usize];
            if mate != NONE && kept[mate as usize] {
                kept[mate as usize] = false;
                queue.push(mate);
            }
        }
    }
    kept
}

/// Finds a particle for a node, along a shortest alternating path. `owner` is the node of each particle.
fn augment(near: &[Vec<u32>], from: u32, owner: &mut [u32], seen: &mut [u32]) -> bool {
    let mut queue = VecDeque::from([from]);
    let mut parent: HashMap<u32, u32> = HashMap::new();
    while let Some(node) = queue.pop_front() {
        for &particle in &near[node as usize] {
            if std::mem::replace(&mut seen[particle as usize], from) == from {
                continue;
            }
            parent.insert(particle, node);
            if owner[particle as usize] == NONE {
                hand_over(near, &parent, particle, from, owner);
                return true;
            }
            queue.push_back(owner[particle as usize]);
        }
    }
    false
}

/// Every node on the path from `from` to a particle without a node takes the particle that it was left by.
fn hand_over(near: &[Vec<u32>], parent: &HashMap<u32, u32>, last: u32, from: u32, owner: &mut [u32]) {
    let mut particle = last;
    loop {
        let node = parent[&particle];
        let before = near[node as usize].iter().copied().find(|&other| owner[other as usize] == node);
        owner[particle as usize] = node;
        match before {
            Some(before) if node != from => particle = before,
            _ => return,
        }
    }
}

/// The lattice of some particles over the nodes that are kept. Held ends outside of it take no part in it and stay at any place.
fn restricted(whole: &Lattice, kept: &[bool], particles: &[u32], inside: &[bool]) -> Lattice {
    let mut number = vec![NONE; kept.len()];
    for (place, (number, _)) in (0..).zip(number.iter_mut().zip(kept).filter(|(_, kept)| **kept)) {
        *number = place;
    }
    let mut used: Vec<u32> =
        particles.iter().filter(|&&p| inside[p as usize]).map(|&p| whole.places[p as usize].cell).collect();
    used.sort_unstable();
    used.dedup();
    let place = |&p: &u32| {
        let mut place: Place = whole.places[p as usize];
        place.cell = used.binary_search(&place.cell).unwrap_or(0) as u32;
        place
    };
    let cells: Vec<[u32; 27]> =
        used.iter().map(|&c| whole.cells[c as usize].map(|n| number[n as usize])).collect();
    let nodes: Vec<usize> = (0..kept.len()).filter(|&n| kept[n]).collect();
    let places: Vec<Place> = particles.iter().map(place).collect();
    // Held ends outside belong to no cell.
    let groups = places
        .iter()
        .zip(particles)
        .map(|(place, &p)| if inside[p as usize] { place.cell as usize } else { used.len() });
    let (order, mut starts) = grouped(groups, used.len() + 1);
    starts.pop();
    let owned = cells.iter().flatten().map(|&node| node as usize);
    let (owners, owner_starts) = grouped(owned, nodes.len());
    Lattice {
        places,
        cells,
        order,
        starts,
        owners,
        owner_starts,
        coordinates: nodes.iter().map(|&n| whole.coordinates[n]).collect(),
        masses: nodes.iter().map(|&n| whole.masses[n]).collect(),
    }
}
