//! The pass from root to tip, eight strands at a time.

use super::contact::{Touch, after_touch, resolve};
use super::packs::Pack;
use crate::body::Bodies;
use crate::math::Vector3;
use crate::math::lanes::{Kernel, Lane, Row, Row3, WIDTH};

/// Speed beyond which a vertex counts as lost [m/s].
const ABSURD_SPEED: f32 = 1.0e4;
/// Keeps the direction of a vanishing edge finite [m²].
const TINY: f64 = 1.0e-30;

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
    pub bodies: Option<&'a Bodies>,
}

/// Rows of consecutive packs, borrowed for one task.
pub(super) struct Chunk<'a> {
    pub packs: &'a [Pack],
    pub drives: &'a [PackDrive],
    pub edges: &'a mut [Row3],
    pub velocities: &'a mut [Row3],
    pub moves: &'a mut [Row3],
    pub lengths: &'a [Row],
    pub clearance: &'a mut [Row],
}

/// Advances a chunk by one step. Returns the number of contacts, and the first pack and lane (within the
/// chunk) that left the world of finite numbers.
pub(super) struct Advance<'a, 'b> {
    pub chunk: Chunk<'a>,
    pub constants: Constants<'b>,
}

/// Fills in the distance to the bodies at the predicted positions of a chunk.
pub(super) struct Clearance<'a, 'b> {
    pub chunk: Chunk<'a>,
    pub bodies: &'b Bodies,
    pub dt: f64,
}

/// What came of a chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    pub contacts: u64,
    pub lost: Option<(usize, usize)>,
}

impl Kernel for Clearance<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let base = self.chunk.packs.first().map_or(0, |pack| pack.row);
        let dt = L::splat(self.dt);
        let mut rows = Row3::default();
        for (pack, drive) in self.chunk.packs.iter().zip(self.chunk.drives) {
            let start = pack.row - base;
            let mut position = L::load3(&drive.old_root);
            let keep = L::load(&drive.keep);
            let slope = L::load3(&drive.slope);
            let mut push = L::load3(&drive.push);
            for row in start + 1..start + pack.vertices {
                position += L::load3(&self.chunk.edges[row]);
                push += slope;
                let velocity = L::load3(&self.chunk.velocities[row]).mul_add(keep, push);
                L::store3(velocity.mul_add(dt, position), &mut rows);
                let [xs, ys, zs] = &rows.0;
                self.bodies.clearance_batch(&xs.0, &ys.0, &zs.0, &mut self.chunk.clearance[row].0);
            }
        }
    }
}

impl Kernel for Advance<'_, '_> {
    type Output = Outcome;

    #[inline(always)]
    fn run<L: Lane>(self) -> Outcome {
        let Chunk { packs, drives, edges, velocities, moves, lengths, clearance } = self.chunk;
        let base = packs.first().map_or(0, |pack| pack.row);
        let mut outcome = Outcome::default();
        let mut steps = Vec::new();
        for (index, (pack, drive)) in packs.iter().zip(drives).enumerate() {
            let rows = pack.row - base..pack.row - base + pack.vertices;
            let strand = Strands {
                pack,
                drive,
                edges: &mut edges[rows.clone()],
                velocities: &mut velocities[rows.clone()],
                moves: &mut moves[rows.clone()],
                lengths: &lengths[rows.clone()],
                clearance: &clearance[rows],
            };
            if self.constants.backward {
                backward_pass::<L>(&strand, &self.constants, &mut steps);
            }
            let energy = forward_pass::<L>(strand, &self.constants, &steps, &mut outcome.contacts);
            if outcome.lost.is_none() {
                let limit = L::splat(f64::from(ABSURD_SPEED * ABSURD_SPEED));
                let sound = L::bits(energy.less(limit));
                let lost = !sound & ((1 << WIDTH) - 1);
                if lost != 0 {
                    outcome.lost = Some((index, lost.trailing_zeros() as usize));
                }
            }
        }
        outcome
    }
}

/// The rows of one pack.
struct Strands<'a> {
    pack: &'a Pack,
    drive: &'a PackDrive,
    edges: &'a mut [Row3],
    velocities: &'a mut [Row3],
    moves: &'a mut [Row3],
    lengths: &'a [Row],
    clearance: &'a [Row],
}

/// Section 3.4: follow the leader from the tip to the root on the predicted positions. Leaves the updated
/// predicted displacements in `steps`.
#[inline(always)]
fn backward_pass<L: Lane>(strand: &Strands<'_>, constants: &Constants<'_>, steps: &mut Vec<Row3>) {
    let (held, count) = (strand.pack.held, strand.pack.vertices);
    let dt = L::splat(constants.dt);
    let keep = L::load(&strand.drive.keep);
    let slope = L::load3(&strand.drive.slope);
    let mut push = L::load3(&strand.drive.push);
    steps.clear();
    steps.resize(count, Row3::default());
    for i in 1..count {
        push += slope;
        let velocity = L::load3(&strand.velocities[i]).mul_add(keep, push);
        L::store3(velocity * dt, &mut steps[i]);
    }
    for i in (held + 1..count).rev() {
        let follower = L::load3(&steps[i - 1]);
        let edge = L::load3(&strand.edges[i]) + L::load3(&steps[i]) - follower;
        let length = L::load(&strand.lengths[i]);
        let scale = length / edge.length_squared().max(L::splat(TINY)).sqrt();
        let real = L::zero().less(length);
        let moved = follower + edge - edge * scale;
        L::store3(Vector3::select(real, moved, L::load3(&steps[i])), &mut steps[i - 1]);
    }
}

/// Sections 3.1 to 3.3, 3.5 and 3.7 in one sweep. Returns the sum of squared speeds of each lane,
/// which is not finite where any of them is not.
#[inline(always)]
fn forward_pass<L: Lane>(
    strand: Strands<'_>,
    constants: &Constants<'_>,
    steps: &[Row3],
    contacts: &mut u64,
) -> L {
    let Strands { pack, drive, edges, velocities, moves, lengths, clearance } = strand;
    let dt = L::splat(constants.dt);
    let per_dt = L::splat(1.0 / constants.dt);
    let reaction = L::splat(constants.correction / constants.dt);
    let bending = L::splat(constants.bending);
    let bends = constants.bending > 0.0;
    let keep = L::load(&drive.keep);
    let slope = L::load3(&drive.slope);
    let radius = L::load(&pack.radius);

    let mut push = L::load3(&drive.push);
    let mut shift = L::load3(&drive.shift);
    let mut position = L::load3(&drive.root);
    let mut previous = Vector3::<L>::zero();
    let mut previous_length = L::zero();
    let mut velocity = shift * per_dt;
    let mut energy = velocity.length_squared();
    L::store3(velocity, &mut moves[0]);
    for i in 1..pack.held {
        L::store3(velocity, &mut velocities[i - 1]);
        let edge = L::load3(&drive.held_edges[i - 1]);
        shift += edge - L::load3(&edges[i]);
        position += edge;
        L::store3(edge, &mut edges[i]);
        velocity = shift * per_dt;
        L::store3(velocity, &mut moves[i]);
        previous = edge;
        previous_length = L::load(&lengths[i]);
        push += slope;
    }

    let mut touches = Touches::default();
    for i in pack.held..pack.vertices {
        push += slope;
        let edge = L::load3(&edges[i]);
        let length = L::load(&lengths[i]);
        // Equation 1, seen from the moved leader.
        let wanted = L::load3(&velocities[i]).mul_add(keep, push);
        let step = if constants.backward { L::load3(&steps[i]) } else { wanted * dt };
        let predicted = edge + step - shift;
        let mut follower = predicted;
        if bends {
            follower =
                resist_bending(follower, previous, bending * (length + previous_length), previous_length);
        }
        // Equation 6; its correction is the part that acts between leader and follower.
        let scale = length / follower.length_squared().max(L::splat(TINY)).sqrt();
        let mut new_edge = follower * scale;
        let real = L::zero().less(length);
        let correction = Vector3::select(real, new_edge - follower, Vector3::zero());
        // Equation 9 for the leader; held vertices keep the velocity they are given.
        if i > pack.held {
            velocity -= correction * reaction;
        }
        L::store3(velocity, &mut velocities[i - 1]);
        energy += velocity.length_squared();
        if touches.lanes != 0 {
            touches.settle(&mut velocities[i - 1], constants.dt);
        }
        if let Some(bodies) = constants.bodies {
            // The distance changes at most as fast as the position: what the projection moved is used up.
            let moved = (new_edge - predicted).length_squared();
            let spare = (L::load(&clearance[i]) - radius).max(L::zero());
            let close = L::bits(real) & !L::bits(moved.less(spare * spare));
            if close != 0 {
                let mut row = Row3::default();
                L::store3(new_edge, &mut row);
                let mut leader = Row3::default();
                L::store3(position, &mut leader);
                let mut wish = Row3::default();
                L::store3(wanted, &mut wish);
                touches.look(bodies, close, &leader, &mut row, &wish, &pack.radius);
                new_edge = L::load3(&row);
                *contacts += u64::from(touches.lanes.count_ones());
            }
        }
        shift += new_edge - edge;
        position += new_edge;
        L::store3(new_edge, &mut edges[i]);
        velocity = shift * per_dt;
        L::store3(velocity, &mut moves[i]);
        previous = new_edge;
        previous_length = length;
    }
    let last = pack.vertices - 1;
    L::store3(velocity, &mut velocities[last]);
    if touches.lanes != 0 {
        touches.settle(&mut velocities[last], constants.dt);
    }
    energy + velocity.length_squared()
}

/// Equation 11: moves the follower away from the vertex two edges back until it is far enough.
#[inline(always)]
fn resist_bending<L: Lane>(
    follower: Vector3<L>,
    previous: Vector3<L>,
    least: L,
    previous_length: L,
) -> Vector3<L> {
    let across = follower + previous;
    let squared = across.length_squared();
    let tight = squared.less(least * least);
    if !L::any(tight) {
        return follower;
    }
    let stretched = across * (least / squared.max(L::splat(TINY)).sqrt()) - previous;
    // The edge after a root that is held alone has no edge before it.
    let hinged = L::zero().less(previous_length);
    Vector3::select(hinged, Vector3::select(tight, stretched, follower), follower)
}

/// Contacts of the vertex under way, one for each lane that has one.
#[derive(Default)]
struct Touches {
    lanes: u32,
    touch: [Option<(Touch, glam::Vec3)>; WIDTH],
}

impl Touches {
    /// Resolves contact in the given lanes: turns edges out of the bodies and remembers what pushed.
    #[inline(never)]
    fn look(
        &mut self,
        bodies: &Bodies,
        lanes: u32,
        leader: &Row3,
        edge: &mut Row3,
        wanted: &Row3,
        radius: &Row,
    ) {
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(touch) = resolve(bodies, leader.get(lane), edge.get(lane), radius.0[lane]) {
                edge.set(lane, touch.edge);
                self.touch[lane] = Some((touch, wanted.get(lane)));
                self.lanes |= 1 << lane;
            }
        }
    }

    /// Applies restitution and friction to the velocities of the touched vertices, and forgets them.
    #[inline(never)]
    fn settle(&mut self, velocities: &mut Row3, dt: f64) {
        while self.lanes != 0 {
            let lane = self.lanes.trailing_zeros() as usize;
            self.lanes &= self.lanes - 1;
            if let Some((touch, wanted)) = self.touch[lane].take() {
                velocities.set(lane, after_touch(velocities.get(lane), wanted, &touch, dt as f32));
            }
        }
    }
}
