//! Bodies around eight strands at a time: what is known before the pass, what happens in it, and a last look after it.

use super::packs::Pack;
use crate::body::Obstacles;
use crate::math::Vector3;
use crate::math::lanes::{Kernel, Lane, Row, Row3, WIDTH};
use crate::solve::leaving::{Touch, after_touch, resolve};

/// Keeps the direction of a vanishing edge finite [m²].
pub(super) const TINY: f64 = 1.0e-30;

/// What the world does to one pack during a step.
#[derive(Debug, Clone, Default)]
pub(super) struct PackDrive {
    /// Where the roots were, in the world [m].
    pub old_root: Row3,
    /// Where the roots go [m].
    pub root: Row3,
    /// How far they go [m].
    pub shift: Row3,
    /// New edges between held vertices, one less than are held [m].
    pub held_edges: Vec<Row3>,
    /// Share of the velocity that drag and damping leave.
    pub keep: Row,
    /// Velocity gained from gravity and wind at the root [m/s].
    pub push: Row3,
    /// How that changes from vertex to vertex [m/s].
    pub slope: Row3,
}

/// Constants of one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constants<'a> {
    pub dt: f64,
    pub correction: f64,
    pub bending: f64,
    pub backward: bool,
    pub bodies: Option<&'a Obstacles<'a>>,
}

/// Rows of consecutive packs, borrowed for one task.
pub(super) struct Chunk<'a> {
    pub packs: &'a [Pack],
    pub drives: &'a [PackDrive],
    pub edges: &'a mut [Row3],
    pub velocities: &'a mut [Row3],
    pub moves: &'a mut [Row3],
    pub lengths: &'a [Row],
    pub room: &'a mut [Row],
    pub planes: &'a mut Planes,
}

/// Looks how far the bodies are from where the vertices of a chunk are heading.
pub(super) struct LookAhead<'a, 'b> {
    pub chunk: Chunk<'a>,
    pub bodies: &'b Obstacles<'b>,
    pub dt: f64,
}

/// How far a tangent plane is trusted around the point where it was taken [m]. On a body of 1 cm radius it is off by
/// a tenth of a millimetre there.
pub(super) const TRUST: f32 = 1.5e-3;
/// How far a vertex may stray from where its plane was taken before the pack is looked at again after the pass [m].
pub(super) const DOUBT: f64 = 2.0e-4;
/// No tangent planes in a row.
pub(super) const FAR: u32 = u32::MAX;

/// Tangent planes of bodies near the vertices of one row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plane {
    normal: Row3,
    /// Distance from the plane, beyond the one to be kept, where the vertex is heading [m]; infinite without plane.
    gap: Row,
    /// Velocity of the body [m/s].
    velocity: Row3,
    friction: Row,
}

/// The planes of a chunk.
#[derive(Debug, Clone, Default)]
pub(super) struct Planes {
    pub planes: Vec<Plane>,
    /// For each row its plane, or [`FAR`].
    pub of_row: Vec<u32>,
    /// Packs of the chunk whose vertices strayed so far from their planes that they should be looked at again.
    pub suspects: Vec<usize>,
}

impl Kernel for LookAhead<'_, '_> {
    type Output = ();

    /// The heading of a vertex is where its last motion would take it: nearer to where it ends up than the
    /// prediction, which falls into whatever the vertex rests on.
    #[inline(always)]
    fn run<L: Lane>(self) {
        let Chunk { packs, drives, edges, moves, lengths, room, planes, .. } = self.chunk;
        let base = packs.first().map_or(0, |pack| pack.row);
        let dt = L::splat(self.dt);
        planes.planes.clear();
        planes.of_row.clear();
        planes.of_row.resize(room.len(), FAR);
        let mut heading = Row3::default();
        for (pack, drive) in packs.iter().zip(drives) {
            let start = pack.row - base;
            let mut position = L::load3(&drive.old_root);
            for row in start + 1..start + pack.vertices {
                position += L::load3(&edges[row]);
                L::store3(L::load3(&moves[row]).mul_add(dt, position), &mut heading);
                let [xs, ys, zs] = &heading.0;
                self.bodies.clearance_batch(&xs.0, &ys.0, &zs.0, &mut room[row].0);
                let near = L::load(&room[row]).less(L::load(&pack.radius) + L::splat(f64::from(2.0 * TRUST)));
                let near = L::bits(near) & L::bits(L::zero().less(L::load(&lengths[row])));
                if near != 0 {
                    planes.look(self.bodies, near, &heading, row, &mut room[row], &pack.radius);
                }
                let spare = L::load(&room[row]) - L::load(&pack.radius);
                let planar = planes.of_row[row] != FAR;
                spare.max(L::zero()).store(&mut room[row]);
                if planar {
                    planes.trust(row, &mut room[row]);
                }
            }
        }
    }
}

impl Planes {
    /// Takes exact distances in the given lanes, and tangent planes where a body is close.
    #[inline(never)]
    fn look(
        &mut self,
        bodies: &Obstacles<'_>,
        lanes: u32,
        at: &Row3,
        row: usize,
        room: &mut Row,
        radius: &Row,
    ) {
        let mut plane = Plane { gap: Row([f32::INFINITY; WIDTH]), ..Plane::default() };
        let mut any = false;
        for lane in (0..WIDTH).filter(|lane| lanes & (1 << lane) != 0) {
            let Some((body, sample)) = bodies.nearest(at.get(lane)) else { continue };
            // Off the surface the distance may be the grid's, which can read too high; the bound it improves does not.
            room.0[lane] = room.0[lane].max(0.4 * sample.distance);
            let gap = sample.distance - radius.0[lane];
            if gap < 2.0 * TRUST {
                plane.normal.set(lane, sample.normal);
                plane.velocity.set(lane, sample.velocity);
                plane.gap.0[lane] = gap;
                plane.friction.0[lane] = bodies.body(body).friction;
                any = true;
            }
        }
        if any {
            self.of_row[row] = self.planes.len() as u32;
            // Planes are the largest array of hair that lies on a body: grow it by little, not twofold.
            if self.planes.len() == self.planes.capacity() {
                self.planes.reserve_exact(self.planes.len() / 8 + 16);
            }
            self.planes.push(plane);
        }
    }

    /// Where there is a plane, a vertex may move as far as the plane is trusted.
    fn trust(&self, row: usize, room: &mut Row) {
        let plane = &self.planes[self.of_row[row] as usize];
        for lane in (0..WIDTH).filter(|&lane| plane.gap.0[lane].is_finite()) {
            room.0[lane] = TRUST;
        }
    }
}

/// Walks the suspects of a chunk once more from root to tip, exactly: a plane tells nothing of a second wall, nor of
/// how soon the first one bends. Returns how many vertices were still inside.
pub(super) fn look_again(chunk: Chunk<'_>, bodies: &Obstacles<'_>, dt: f64) -> u64 {
    let base = chunk.packs.first().map_or(0, |pack| pack.row);
    let mut count = 0;
    for &index in &chunk.planes.suspects {
        let (pack, drive) = (&chunk.packs[index], &chunk.drives[index]);
        for lane in 0..WIDTH {
            let mut leader = drive.root.get(lane);
            let mut carried = glam::Vec3::ZERO;
            for row in pack.row - base + 1..pack.row - base + pack.vertices {
                if chunk.lengths[row].0[lane] == 0.0 {
                    break;
                }
                let mut edge = chunk.edges[row].get(lane);
                let free = row >= pack.row - base + pack.held.min(2);
                let near = free && bodies.clearance(leader + edge) < pack.radius.0[lane];
                let inside = near.then(|| resolve(bodies, leader, edge, pack.radius.0[lane])).flatten();
                if let Some(touch) = inside {
                    carried += touch.edge - edge;
                    edge = touch.edge;
                    chunk.edges[row].set(lane, edge);
                    let velocity = chunk.velocities[row].get(lane);
                    chunk.velocities[row].set(lane, after_touch(velocity, velocity, &touch, dt as f32));
                    count += 1;
                }
                let moves = &mut chunk.moves[row];
                moves.set(lane, moves.get(lane) + carried / dt as f32);
                leader += edge;
            }
        }
    }
    count
}

/// Contact of the vertex under way with bodies, until its velocity is known.
#[derive(Clone, Copy)]
pub(super) struct Contact<L: Lane> {
    /// 1 in lanes that touch, 0 elsewhere.
    touching: L,
    normal: Vector3<L>,
    /// Velocity of the body [m/s].
    velocity: Vector3<L>,
    /// How fast the vertex wanted to leave [m/s].
    leaving: L,
    /// Speed that friction can take away [m/s].
    grip: L,
}

impl<L: Lane> Contact<L> {
    #[inline(always)]
    pub(super) fn lanes(&self) -> u32 {
        L::bits(L::zero().less(self.touching))
    }

    /// Lane version of [`after_touch`].
    #[inline(always)]
    pub(super) fn settle(&self, velocity: Vector3<L>) -> Vector3<L> {
        let relative = velocity - self.velocity;
        let along = relative.dot(self.normal);
        let across = relative - self.normal * along;
        let speed = across.length_squared().max(L::splat(TINY)).sqrt();
        let kept = (L::splat(1.0) - self.grip / speed).max(L::zero());
        let along = along.max(L::zero()).min(self.leaving);
        let settled = self.velocity + self.normal * along + across * kept;
        Vector3::select(L::zero().less(self.touching), settled, velocity)
    }
}

/// Lane version of the tangent-plane step in [`resolve`]: turns edges whose ends are behind their planes. `rest` and
/// the edge make up how far a vertex goes from where its plane was taken.
#[inline(always)]
pub(super) fn leave_plane<L: Lane>(
    plane: &Plane,
    edge: &mut Vector3<L>,
    length: L,
    rest: Vector3<L>,
    wanted: Vector3<L>,
    dt: f64,
) -> Option<Contact<L>> {
    let normal = L::load3(&plane.normal);
    let depth = -(L::load(&plane.gap) + normal.dot(rest + *edge));
    let behind = L::zero().less(depth);
    if !L::any(behind) {
        return None;
    }
    let along = edge.dot(normal);
    let height = (along + depth).min(length).max(-length);
    // Twice: what an edge along the normal leaves is rounding, which is not across the normal yet.
    let leaning = *edge - normal * along;
    let leaning = leaning - normal * leaning.dot(normal);
    // An edge along the normal leans to any side.
    let across = Vector3::new(L::splat(1.0), L::zero(), L::zero());
    let upwards = Vector3::new(L::zero(), L::splat(1.0), L::zero());
    let side = Vector3::select((normal.x * normal.x).less(L::splat(0.36)), across, upwards);
    let upright = leaning.length_squared().less(length * length * L::splat(1.0e-10));
    let flat = Vector3::select(upright, side - normal * side.dot(normal), leaning);
    let flat_length = (length * length - height * height).max(L::zero()).sqrt();
    let scale = flat_length / flat.length_squared().max(L::splat(TINY)).sqrt();
    *edge = Vector3::select(behind, normal * height + flat * scale, *edge);
    let velocity = L::load3(&plane.velocity);
    let leaving = (wanted - velocity).dot(normal).max(L::zero());
    let grip = L::load(&plane.friction) * depth * L::splat(1.0 / dt);
    let touching = L::select(behind, L::splat(1.0), L::zero());
    Some(Contact { touching, normal, velocity, leaving, grip })
}

/// Lanes spread out in memory, for the exact look at the few that need it.
pub(super) struct Look {
    leader: Row3,
    edge: Row3,
    wanted: Row3,
    touching: Row,
    normal: Row3,
    velocity: Row3,
    leaving: Row,
    grip: Row,
}

impl Look {
    #[inline(always)]
    pub(super) fn new<L: Lane>(
        leader: Vector3<L>,
        edge: Vector3<L>,
        wanted: Vector3<L>,
        contact: Option<Contact<L>>,
    ) -> Self {
        let mut look = Self {
            leader: Row3::default(),
            edge: Row3::default(),
            wanted: Row3::default(),
            touching: Row::default(),
            normal: Row3::default(),
            velocity: Row3::default(),
            leaving: Row::default(),
            grip: Row::default(),
        };
        L::store3(leader, &mut look.leader);
        L::store3(edge, &mut look.edge);
        L::store3(wanted, &mut look.wanted);
        if let Some(contact) = contact {
            contact.touching.store(&mut look.touching);
            L::store3(contact.normal, &mut look.normal);
            L::store3(contact.velocity, &mut look.velocity);
            contact.leaving.store(&mut look.leaving);
            contact.grip.store(&mut look.grip);
        }
        look
    }

    /// Turns the edges of the given lanes out of the bodies; counts those that were inside.
    #[inline(never)]
    pub(super) fn resolve(&mut self, bodies: &Obstacles<'_>, lanes: u32, radius: &Row, dt: f64) -> u64 {
        let mut count = 0;
        for lane in (0..WIDTH).filter(|lane| lanes & (1 << lane) != 0) {
            let found = resolve(bodies, self.leader.get(lane), self.edge.get(lane), radius.0[lane]);
            let Some(Touch { edge, normal, velocity, friction, depth }) = found else { continue };
            count += 1;
            self.edge.set(lane, edge);
            self.touching.0[lane] = 1.0;
            self.normal.set(lane, normal);
            self.velocity.set(lane, velocity);
            self.leaving.0[lane] = (self.wanted.get(lane) - velocity).dot(normal).max(0.0);
            self.grip.0[lane] = friction * depth / dt as f32;
        }
        count
    }

    /// Back in lanes: the edges, and the contact if there is any.
    #[inline(always)]
    pub(super) fn lanes<L: Lane>(&self) -> (Vector3<L>, Option<Contact<L>>) {
        let contact = Contact {
            touching: L::load(&self.touching),
            normal: L::load3(&self.normal),
            velocity: L::load3(&self.velocity),
            leaving: L::load(&self.leaving),
            grip: L::load(&self.grip),
        };
        (L::load3(&self.edge), (contact.lanes() != 0).then_some(contact))
    }
}
