//! The pass from root to tip, eight strands at a time; far from bodies two packs abreast.

use super::packs::Pack;
use super::project::{
    Chunk, Constants, Contact, DOUBT, FAR, Look, PackDrive, Plane, Planes, TINY, leave_plane,
};
use crate::math::Vector3;
use crate::math::lanes::{Kernel, Lane, Row, Row3, WIDTH};

/// Speed beyond which a vertex counts as lost [m/s].
const ABSURD_SPEED: f32 = 1.0e4;

/// Advances a chunk by one step.
pub(super) struct Advance<'a, 'b> {
    pub chunk: Chunk<'a>,
    pub constants: Constants<'b>,
}

/// What came of a chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    pub contacts: u64,
    /// The first pack and lane (within the chunk) that left the world of finite numbers.
    pub lost: Option<(usize, usize)>,
}

/// The rows of one pack.
struct Strands<'a> {
    pack: &'a Pack,
    drive: &'a PackDrive,
    edges: &'a mut [Row3],
    velocities: &'a mut [Row3],
    moves: &'a mut [Row3],
    lengths: &'a [Row],
    room: &'a [Row],
    /// The plane of each row, if bodies were looked for.
    planes: &'a [u32],
    all_planes: &'a [Plane],
}

impl Kernel for Advance<'_, '_> {
    type Output = Outcome;

    #[inline(always)]
    fn run<L: Lane>(self) -> Outcome {
        // Two versions, so that hair far from all bodies does not carry along what contact needs.
        if self.constants.bodies.is_some() { self.sweep::<L, true>() } else { self.sweep::<L, false>() }
    }
}

impl Advance<'_, '_> {
    #[inline(always)]
    fn sweep<L: Lane, const BODIES: bool>(self) -> Outcome {
        let Chunk { packs, drives, mut edges, mut velocities, mut moves, mut lengths, room, planes } =
            self.chunk;
        let Planes { planes: all_planes, of_row, suspects } = planes;
        let (mut room, mut of_row, all_planes) = (&*room, of_row.as_slice(), all_planes.as_slice());
        let mut rows_of_next = packs.iter().zip(drives).map(|(pack, drive)| {
            let rows = pack.vertices;
            Strands {
                pack,
                drive,
                edges: edges.split_off_mut(..rows).unwrap_or_default(),
                velocities: velocities.split_off_mut(..rows).unwrap_or_default(),
                moves: moves.split_off_mut(..rows).unwrap_or_default(),
                lengths: lengths.split_off(..rows).unwrap_or_default(),
                room: room.split_off(..rows).unwrap_or_default(),
                planes: of_row.split_off(..rows).unwrap_or_default(),
                all_planes,
            }
        });
        let (constants, pace) = (&self.constants, &Pace::new(&self.constants));
        let (mut first_steps, mut second_steps) = (Vec::new(), Vec::new());
        let mut outcome = Outcome::default();
        suspects.clear();
        let mut index = 0;
        while let Some(strands) = rows_of_next.next() {
            let mut first = Sweep::<L, BODIES>::begin(strands, constants, pace, &mut first_steps);
            // Each row waits long for the square root of the one before: two packs fill each other's gaps. With contact
            // they would fill the registers instead.
            if !BODIES && let Some(strands) = rows_of_next.next() {
                let mut second = Sweep::<L, BODIES>::begin(strands, constants, pace, &mut second_steps);
                while first.is_under_way() && second.is_under_way() {
                    first.advance();
                    second.advance();
                }
                first.finish(index, suspects, &mut outcome);
                index += 1;
                second.finish(index, suspects, &mut outcome);
            } else {
                first.finish(index, suspects, &mut outcome);
            }
            index += 1;
        }
        outcome
    }
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
    for (step, velocity) in steps.iter_mut().zip(strand.velocities.iter()).skip(1) {
        push += slope;
        L::store3(L::load3(velocity).mul_add(keep, push) * dt, step);
    }
    for i in (held + 1..count).rev() {
        let follower = L::load3(&steps[i - 1]);
        let edge = L::load3(&strand.edges[i]) + L::load3(&steps[i]) - follower;
        let length = L::load(&strand.lengths[i]);
        let scale = length / edge.length_squared().max(L::splat(TINY)).sqrt();
        let real = L::zero().less(length);
        let moved = follower + edge - edge * scale;
        L::store3(Vector3::select(real, moved, follower), &mut steps[i - 1]);
    }
}

/// Constants of the pass, in lanes.
struct Pace<L> {
    dt: L,
    per_dt: L,
    /// Share of a correction that its leader's velocity takes on, over the time step [1/s].
    reaction: L,
    bending: L,
}

impl<L: Lane> Pace<L> {
    #[inline(always)]
    fn new(constants: &Constants<'_>) -> Self {
        Self {
            dt: L::splat(constants.dt),
            per_dt: L::splat(1.0 / constants.dt),
            reaction: L::splat(constants.correction / constants.dt),
            bending: L::splat(constants.bending),
        }
    }
}

/// One pack under way from root to tip: sections 3.1 to 3.3, 3.5 and 3.7 in one sweep.
struct Sweep<'a, L: Lane, const BODIES: bool> {
    strands: Strands<'a>,
    constants: &'a Constants<'a>,
    pace: &'a Pace<L>,
    /// Displacements predicted by the backward pass, where there is one [m].
    steps: &'a [Row3],
    /// The next row.
    at: usize,
    push: Vector3<L>,
    /// How far the leader went [m].
    shift: Vector3<L>,
    /// Where the leader is now [m].
    position: Vector3<L>,
    /// The edge before the leader [m].
    previous: Vector3<L>,
    previous_length: L,
    /// The leader's velocity until equation 9 and contact correct it [m/s].
    velocity: Vector3<L>,
    /// Sum of squared speeds, which is not finite where any of them is not.
    energy: L,
    /// The leader's contact with bodies.
    touch: Option<Contact<L>>,
    contacts: u64,
    suspect: bool,
}

impl<'a, L: Lane, const BODIES: bool> Sweep<'a, L, BODIES> {
    /// Brings the held vertices to where they go.
    #[inline(always)]
    fn begin(
        strands: Strands<'a>,
        constants: &'a Constants<'a>,
        pace: &'a Pace<L>,
        steps: &'a mut Vec<Row3>,
    ) -> Self {
        if constants.backward {
            backward_pass::<L>(&strands, constants, steps);
        }
        let drive = strands.drive;
        let per_dt = pace.per_dt;
        let shift = L::load3(&drive.shift);
        let velocity = shift * per_dt;
        let mut sweep = Self {
            at: strands.pack.held,
            push: L::load3(&drive.push),
            shift,
            position: L::load3(&drive.root),
            previous: Vector3::zero(),
            previous_length: L::zero(),
            velocity,
            energy: velocity.length_squared(),
            touch: None,
            contacts: 0,
            suspect: false,
            strands,
            constants,
            pace,
            steps,
        };
        let Strands { pack, edges, velocities, moves, lengths, planes, all_planes, .. } = &mut sweep.strands;
        L::store3(velocity, &mut moves[0]);
        for i in 1..pack.held {
            L::store3(sweep.velocity, &mut velocities[i - 1]);
            let mut edge = L::load3(&drive.held_edges[i - 1]);
            // Skin that bends must not swallow what is held over it; the first edge gives the direction and stays.
            if BODIES && i > 1 && planes[i] != FAR {
                let plane = &all_planes[planes[i] as usize];
                let rest = sweep.shift - L::load3(&edges[i]) - L::load3(&moves[i]) * pace.dt;
                leave_plane(plane, &mut edge, L::load(&lengths[i]), rest, sweep.velocity, constants.dt);
                let moved = (rest + edge).length_squared();
                sweep.suspect |= L::any(L::splat(DOUBT * DOUBT).less(moved));
            }
            sweep.shift += edge - L::load3(&edges[i]);
            sweep.position += edge;
            L::store3(edge, &mut edges[i]);
            sweep.velocity = sweep.shift * per_dt;
            L::store3(sweep.velocity, &mut moves[i]);
            sweep.previous = edge;
            sweep.previous_length = L::load(&lengths[i]);
            sweep.push += L::load3(&drive.slope);
        }
        sweep
    }

    #[inline(always)]
    fn is_under_way(&self) -> bool {
        self.at < self.strands.pack.vertices
    }

    /// Moves one row of followers, and settles the velocity of their leaders.
    #[inline(always)]
    fn advance(&mut self) {
        let (i, constants) = (self.at, self.constants);
        let Strands { pack, drive, edges, velocities, moves, lengths, .. } = &mut self.strands;
        let dt = self.pace.dt;
        self.push += L::load3(&drive.slope);
        let edge = L::load3(&edges[i]);
        let length = L::load(&lengths[i]);
        // Equation 1, seen from the moved leader.
        let wanted = L::load3(&velocities[i]).mul_add(L::load(&drive.keep), self.push);
        let step = if constants.backward { L::load3(&self.steps[i]) } else { wanted * dt };
        let predicted = edge + step - self.shift;
        let mut follower = predicted;
        if constants.bending > 0.0 {
            let least = self.pace.bending * (length + self.previous_length);
            follower = resist_bending(follower, self.previous, least, self.previous_length);
        }
        // Equation 6; its correction is the part that acts between leader and follower.
        let scale = length / follower.length_squared().max(L::splat(TINY)).sqrt();
        let mut new_edge = follower * scale;
        let real = L::zero().less(length);
        let correction = Vector3::select(real, new_edge - follower, Vector3::zero());
        // Equation 9 for the leader; held vertices keep the velocity they are given.
        if i > pack.held {
            self.velocity -= correction * self.pace.reaction;
        }
        if BODIES && let Some(touch) = self.touch.take() {
            self.velocity = touch.settle(self.velocity);
        }
        L::store3(self.velocity, &mut velocities[i - 1]);
        self.energy += self.velocity.length_squared();
        if BODIES {
            let heading = L::load3(&moves[i]) * dt;
            self.meet_bodies(&mut new_edge, edge, heading, wanted, length);
        }
        self.shift += new_edge - edge;
        if BODIES {
            self.position += new_edge;
        }
        self.velocity = self.shift * self.pace.per_dt;
        L::store3(new_edge, &mut self.strands.edges[i]);
        L::store3(self.velocity, &mut self.strands.moves[i]);
        self.previous = new_edge;
        self.previous_length = length;
        self.at = i + 1;
    }

    /// Turns new edges out of bodies: by tangent planes in lanes, and exactly where these cannot be trusted.
    #[inline(always)]
    fn meet_bodies(
        &mut self,
        new_edge: &mut Vector3<L>,
        edge: Vector3<L>,
        heading: Vector3<L>,
        wanted: Vector3<L>,
        length: L,
    ) {
        let (i, dt) = (self.at, self.constants.dt);
        let Some(bodies) = self.constants.bodies else { return };
        let planar = self.strands.planes[i] != FAR;
        if planar {
            let plane = &self.strands.all_planes[self.strands.planes[i] as usize];
            self.touch = leave_plane(plane, new_edge, length, self.shift - edge - heading, wanted, dt);
            self.contacts += self.touch.as_ref().map_or(0, |touch| u64::from(touch.lanes().count_ones()));
        }
        // The distance to bodies changes at most as fast as the position.
        let moved = (self.shift + *new_edge - edge - heading).length_squared();
        let room = L::load(&self.strands.room[i]);
        let lanes = L::bits(L::zero().less(length)) & !L::bits(moved.less(room * room));
        self.suspect |= lanes != 0 || (planar && L::any(L::splat(DOUBT * DOUBT).less(moved)));
        if lanes != 0 {
            let mut look = Look::new(self.position, *new_edge, wanted, self.touch);
            self.contacts += look.resolve(bodies, lanes, &self.strands.pack.radius, dt);
            (*new_edge, self.touch) = look.lanes();
        }
    }

    /// Sweeps the rows that are left, and tells what came of pack `index` of the chunk.
    #[inline(always)]
    fn finish(mut self, index: usize, suspects: &mut Vec<usize>, outcome: &mut Outcome) {
        while self.is_under_way() {
            self.advance();
        }
        if let Some(touch) = self.touch {
            self.velocity = touch.settle(self.velocity);
        }
        L::store3(self.velocity, &mut self.strands.velocities[self.at - 1]);
        let energy = self.energy + self.velocity.length_squared();
        outcome.contacts += self.contacts;
        if self.suspect {
            suspects.push(index);
        }
        let limit = L::splat(f64::from(ABSURD_SPEED * ABSURD_SPEED));
        let lost = !L::bits(energy.less(limit)) & ((1 << WIDTH) - 1);
        if lost != 0 && outcome.lost.is_none() {
            outcome.lost = Some((index, lost.trailing_zeros() as usize));
        }
    }
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
