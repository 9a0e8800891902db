use glam::{DQuat, DVec3};

use crate::solve::Energy;

/// A fibre as the contact solver sees it: anything whose step is linear in its velocities, `M v = f`, and whose points move with
/// them, `u = H v + w` (equation 3 of the paper).
pub(crate) trait Fibre: Send + Sync {
    /// Takes positions and velocities of all vertices of the strand, held as `hold` says.
    fn seat(&mut self, positions: &[DVec3], velocities: &[DVec3], hold: &Hold);
    /// How many velocities there are.
    fn freedom(&self) -> usize;
    /// The velocities now.
    fn velocities(&self) -> Vec<f64>;
    /// Linearises a step around velocities that it is thought to end with.
    fn linearise(&mut self, step: &FibreStep<'_>, guess: &[f64]) -> System;
    /// How velocities move the point at `share` of the edge behind `vertex`, as linearised last: three rows of [`Self::freedom`]
    /// numbers into `rows`. Returns how the point moves where they are zero.
    fn touch(&self, vertex: usize, share: f64, rows: &mut [f64]) -> Carried;
    /// How far a point can move beside the free end, from 0 at the clamp to 1: what pushes it moves the end by the inverse. Zero where it
    /// is as good as clamped.
    fn leverage(&self, vertex: usize, share: f64) -> f64;
    /// Where the vertices are at the end of a step with these velocities [m].
    fn reach(&self, step: &FibreStep<'_>, velocities: &[f64], positions: &mut [DVec3]);
    /// Ends a step with these velocities.
    fn advance(&mut self, step: &FibreStep<'_>, velocities: &[f64]);
    /// Moves by changes of its coordinates, without getting speed from it.
    fn shift(&mut self, changes: &[f64]);
    /// Goes along with a body that jumps to `hold`, without getting speed from it.
    fn jump(&mut self, hold: &Hold);
    /// Takes all speed away.
    fn stop(&mut self);
    /// The fastest that any piece turns with these velocities [rad/s].
    fn turning(&self, velocities: &[f64]) -> f64;
    /// Writes positions, velocities and material frames of the vertices.
    fn store(&self, vertices: Vertices<'_>);
    /// Energy now.
    fn energy(&self, gravity: DVec3) -> Energy;
    /// Appends all that moves.
    fn save(&self, out: &mut Vec<f64>);
    /// How many numbers [`Self::save`] appends.
    fn saved(&self) -> usize;
    /// Takes back what [`Self::save`] appended.
    fn restore(&mut self, from: &[f64]);
    /// How far vertices of the groom are from the fibre made of them, at most [m].
    fn misfit(&self) -> f64;
}

/// How a point moves in a step that goes along with a body: along a chord, as all that is rigid and turns with it does.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Carried {
    /// The middle of its chord [m].
    pub point: DVec3,
    /// The chord over the time step [m/s].
    pub velocity: DVec3,
    /// How what is around it turns with it, as chords do: see [`chord_spin`] [rad/s].
    pub spin: DVec3,
}

/// The spin that makes chords of their middles: a point at `arm` from the axis in the middle of its chord, not of its arc, goes
/// `spin × arm` a second on average. So hair and body agree to rounding on what goes along, at any length of step.
pub(crate) fn chord_spin(spin: DVec3, dt: f64) -> DVec3 {
    let half = half_turn(spin, dt);
    if half > 0.0 { spin * (half.tan() / half) } else { spin }
}

/// The middle of the chord of what is at `arm` from the axis in the middle of its arc [m].
pub(crate) fn chord_middle(spin: DVec3, dt: f64, arm: DVec3) -> DVec3 {
    let along = arm.project_onto_normalized(spin.normalize_or_zero());
    along + half_turn(spin, dt).cos() * (arm - along)
}

/// Half of the angle of a step [rad]; no more than half a right angle, beyond which chords say little.
fn half_turn(spin: DVec3, dt: f64) -> f64 {
    (0.5 * dt * spin.length()).min(std::f64::consts::FRAC_PI_4)
}

impl Carried {
    /// The velocity of another point that goes along [m/s].
    pub(crate) fn at(&self, point: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(point - self.point)
    }
}

/// A step without contacts, linear in the velocities at its end: `M v = f`.
#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    /// Symmetric positive definite, row-major.
    pub mass: Vec<f64>,
    pub impulse: Vec<f64>,
}

/// What the world does to one fibre during a step.
pub(crate) struct FibreStep<'a> {
    /// Time step [s].
    pub dt: f64,
    pub theta: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Velocity of the air [m/s].
    pub wind: &'a (dyn Fn(DVec3) -> DVec3 + Sync),
    /// Where the body that holds it has it at the end.
    pub hold: Hold,
    /// Springs that pull at its vertices: vertex, target [m], stiffness [N/m].
    pub pulls: Vec<(usize, DVec3, f64)>,
}

/// Where a body holds the first vertices of a fibre.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hold {
    /// Positions of the held vertices [m].
    pub positions: Vec<DVec3>,
    /// How far the groom is turned.
    pub turn: DQuat,
}

/// The vertices of one strand, to be written.
pub(crate) struct Vertices<'a> {
    pub positions: &'a mut [DVec3],
    pub velocities: &'a mut [DVec3],
    pub orientations: &'a mut [DQuat],
}
