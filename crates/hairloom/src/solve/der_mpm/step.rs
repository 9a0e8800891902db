//! One semi-implicit step of a pack of strands: `(M + Δt² H) v = M v₀ + Δt f` (equation 2 of Huang et al. 2023), built column by
//! column from root to tip and handed to the factorisation as each column is complete.
//!
//! The unknowns are the changes of the velocities, `(M + Δt² H) (v − v₀) = Δt (f − Δt H v₀)`, with `H v₀` summed from differences of
//! velocities along the edges: then what all of a strand does together is exact, and rounding in single precision, which is that of
//! stiffness beside mass, is in proportion to the change alone.

use super::element::{
    Block, Corner, Coupling, Curvature, Derivatives, Edge, Gradient, Shift, stretch, transport, twist,
};
use super::pack::{Load, Moving, Pack, Rest};
use crate::math::band::{Factoring, HALF_BANDWIDTH, Scratch};
use crate::math::{Loads, Stored, StoredKernel, Symmetric3, Vector3};

/// What is the same for all strands in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Conditions {
    /// Time step [s].
    pub dt: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: glam::DVec3,
    /// The least that 1 + cos φ counts as.
    pub least: f64,
}

/// Replaces the velocities and spins of a pack by those at the end of the step; returns the smallest pivots.
pub(super) struct Solve<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub conditions: Conditions,
    pub scratch: &'a mut Scratch<S, HALF_BANDWIDTH>,
}

/// Derivatives of the vertices so far that the columns of the next vertex need.
struct Window<R> {
    /// Second derivatives in the edge vector two corners back.
    before: Symmetric3<R>,
    /// Mixed derivatives of the last corner.
    last: Coupling<R>,
    /// First derivative in the edge vector before the last.
    pull: Vector3<R>,
}

#[inline(always)]
pub(super) fn load_edge<S, R: Loads<S>>(moving: &Moving<S>) -> Edge<R> {
    let length = R::load_from(&moving.length);
    Edge {
        tangent: R::load_vector(&moving.tangent),
        length,
        inverse_length: R::one() / length,
        director: R::load_vector(&moving.director),
    }
}

#[inline(always)]
pub(super) fn load_corner<S, R: Loads<S>>(rest: &Rest<S>, scale: R) -> Corner<R> {
    Corner {
        bending: R::load_from(&rest.bending) * scale,
        twisting: R::load_from(&rest.twisting) * scale,
        natural_a: [R::load_from(&rest.natural[0]), R::load_from(&rest.natural[1])],
        natural_b: [R::load_from(&rest.natural[2]), R::load_from(&rest.natural[3])],
    }
}

/// What acts on one vertex: its diagonal [kg], and what changes its momentum, elasticity aside [kg m/s].
#[inline(always)]
fn inertia<S: Stored, R: Loads<S>>(
    rest: &Rest<S>,
    velocity: Vector3<R>,
    load: Option<&Load<S>>,
    drag: R,
    fall: Vector3<R>,
) -> (R, Vector3<R>) {
    let (mass, free) = (R::load_from(&rest.inertia), R::load_from(&rest.free_mass));
    let diagonal = free.mul_add(drag, mass);
    let right = velocity.mul_add(-drag, fall) * free;
    match load {
        None => (diagonal, right),
        Some(load) => {
            let resistance = R::load_from(&load.resistance);
            (diagonal + resistance, velocity.mul_add(-resistance, right + R::load_vector(&load.impulse)))
        }
    }
}

/// Hands over the four columns of a vertex: `here` and `next` belong to the edge behind it, `diagonal` and `right` to itself.
#[inline(always)]
fn push_vertex<S: Stored, R: Loads<S>>(
    factoring: &mut Factoring<'_, S, R, HALF_BANDWIDTH>,
    window: &Window<R>,
    here: &Block<R>,
    next: &Coupling<R>,
    (diagonal, right): (R, Vector3<R>),
    (spin_diagonal, spin_right): (R, R),
) {
    let (e, p, f, g) = (&here.edge, &window.before, &window.last.edges, &next.edges);
    let zero = R::zero();
    let own = Symmetric3 {
        xx: (e.xx + p.xx) - (f[0][0] + f[0][0]) + diagonal,
        xy: (e.xy + p.xy) - (f[0][1] + f[1][0]),
        yy: (e.yy + p.yy) - (f[1][1] + f[1][1]) + diagonal,
        xz: (e.xz + p.xz) - (f[0][2] + f[2][0]),
        yz: (e.yz + p.yz) - (f[1][2] + f[2][1]),
        zz: (e.zz + p.zz) - (f[2][2] + f[2][2]) + diagonal,
    };
    let spin = window.last.edge_twist - here.mixed;
    // Rows of the next vertex: −E + Fᵀ of either corner; of the one after it: −Fᵀ.
    let below = [
        spin.x,
        f[0][0] + g[0][0] - e.xx,
        f[0][1] + g[0][1] - e.xy,
        f[0][2] + g[0][2] - e.xz,
        -next.edge_twist.x,
        -g[0][0],
        -g[0][1],
        -g[0][2],
    ];
    let first =
        [own.xy, own.xz, below[0], below[1], below[2], below[3], below[4], below[5], below[6], below[7]];
    factoring.push::<4, 0>(own.xx, &first, right.x);
    let second = [
        own.yz,
        spin.y,
        f[1][0] + g[1][0] - e.xy,
        f[1][1] + g[1][1] - e.yy,
        f[1][2] + g[1][2] - e.yz,
        -next.edge_twist.y,
        -g[1][0],
        -g[1][1],
        -g[1][2],
        zero,
    ];
    factoring.push::<4, 1>(own.yy, &second, right.y);
    let third = [
        spin.z,
        f[2][0] + g[2][0] - e.xz,
        f[2][1] + g[2][1] - e.yz,
        f[2][2] + g[2][2] - e.zz,
        -next.edge_twist.z,
        -g[2][0],
        -g[2][1],
        -g[2][2],
        zero,
        zero,
    ];
    factoring.push::<4, 2>(own.zz, &third, right.z);
    let ahead = here.mixed - next.twist_edge;
    let (twists, far) = (next.twists, next.twist_edge);
    let fourth = [ahead.x, ahead.y, ahead.z, twists, far.x, far.y, far.z, zero, zero, zero];
    factoring.push::<4, 3>(spin_diagonal, &fourth, spin_right);
}

/// An edge, and where it goes if nothing changes its velocity.
#[inline(always)]
fn load_shift<S, R: Loads<S>>(start: &Moving<S>, end: &Moving<S>, dt: R) -> Shift<R> {
    let rate = R::load_vector(&end.velocity) - R::load_vector(&start.velocity);
    Shift { edge: rate * dt, twist: R::load_from(&start.spin) * dt }
}

impl<S: Stored> StoredKernel<S> for Solve<'_, S> {
    type Output = S;

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> S {
        let Conditions { dt, gravity, least } = self.conditions;
        let Pack { rest, moving, loads, drag, .. } = &mut *self.pack;
        let rows = rest.len().min(moving.len());
        let drag = R::load_from(drag) * R::splat(dt);
        let fall = Vector3::splat(gravity * dt);
        let (scale, rate, dt) = (R::splat(dt * dt), R::splat(1.0 / dt), R::splat(dt));
        let least = R::splat(least);
        let mut factoring = Factoring::<S, R, HALF_BANDWIDTH>::new(4 * rows, self.scratch);
        let mut window = Window { before: Symmetric3::zero(), last: Coupling::zero(), pull: Vector3::zero() };

        // The edge that all but its last corner is known of; the tip has none behind it.
        let mut edge = load_edge::<S, R>(&moving[0]);
        let mut shift = load_shift::<S, R>(&moving[0], &moving[1.min(rows - 1)], dt);
        let mut block = Block::zero();
        let mut gradient = Gradient::zero();
        for row in 0..rows {
            if row + 1 < rows {
                let stiffness = R::load_from(&rest[row].stretching) * scale;
                let length = R::load_from(&rest[row].length);
                let (force, hessian) = stretch(&edge, shift.edge, length, stiffness);
                block.edge = block.edge + hessian;
                gradient.edge += force;
            }
            let mut corner = Derivatives::zero();
            let (mut next, mut next_shift) = (edge, shift);
            if row + 2 < rows {
                next = load_edge::<S, R>(&moving[row + 1]);
                next_shift = load_shift::<S, R>(&moving[row + 1], &moving[row + 2], dt);
                let curvature = Curvature::new(&edge, &next, least);
                let natural = R::load_from(&rest[row + 1].natural_twist);
                let turn = twist(&edge, &next, &curvature) - natural;
                corner = load_corner::<S, R>(&rest[row + 1], scale).derivatives(
                    (&edge, &shift),
                    (&next, &next_shift),
                    &curvature,
                    turn,
                );
            }
            block.edge = block.edge + corner.a.edge;
            block.mixed += corner.a.mixed;
            block.twist += corner.a.twist;
            gradient.edge += corner.gradient_a.edge;
            gradient.twist += corner.gradient_a.twist;

            let velocity = R::load_vector(&moving[row].velocity);
            let (diagonal, right) = inertia(&rest[row], velocity, loads.get(row), drag, fall);
            // The gradients are Δt² times too large, and a vertex is the end of one edge and the start of the next.
            let right = (gradient.edge - window.pull).mul_add(rate, right);
            let spin_diagonal = block.twist + R::load_from(&rest[row].spin_inertia);
            let spin_right = -(gradient.twist * rate);
            push_vertex(
                &mut factoring,
                &window,
                &block,
                &corner.coupling,
                (diagonal, right),
                (spin_diagonal, spin_right),
            );
            window = Window { before: block.edge, last: corner.coupling, pull: gradient.edge };
            (edge, shift, block, gradient) = (next, next_shift, corner.b, corner.gradient_b);
        }
        let mut smallest = S::default();
        factoring.least_pivot().store_to(&mut smallest);
        for (moving, change) in moving.iter_mut().zip(factoring.finish_stairs().chunks_exact(4)) {
            for (velocity, change) in moving.velocity.iter_mut().zip(change) {
                (R::load_from(velocity) + R::load_from(change)).store_to(velocity);
            }
            (R::load_from(&moving.spin) + R::load_from(&change[3])).store_to(&mut moving.spin);
        }
        smallest
    }
}

/// Moves the edges of a pack by the displacements of their ends, and carries the directors along: transported, then turned by
/// the spin over `dt`. Displacements are straight, and would lengthen an edge that turns; the grid's are smooth over its cells, and know
/// nothing of edges: edges take the length that the linear solve gave them instead, by their velocities along the old tangent.
pub(super) struct Advance<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub dt: f64,
    /// Most that an edge may be longer or shorter than at rest, relatively.
    pub limit: f64,
    /// Displacements of the vertices [m]; by their velocities where there are none.
    pub displacements: Option<&'a [[S; 3]]>,
}

impl<S: Stored> StoredKernel<S> for Advance<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<R: Loads<S>>(self) {
        let Pack { rest, moving, .. } = &mut *self.pack;
        let dt = R::splat(self.dt);
        let (least, most) = (R::splat(1.0 - self.limit), R::splat(1.0 + self.limit));
        for row in 0..moving.len().saturating_sub(1) {
            let (start, end) = (&moving[row].velocity, &moving[row + 1].velocity);
            let solved = (R::load_vector(end) - R::load_vector(start)) * dt;
            let shift = match self.displacements {
                Some(by) => R::load_vector(&by[row + 1]) - R::load_vector(&by[row]),
                None => solved,
            };
            let own = &mut moving[row];
            let (old, length) = (R::load_vector(&own.tangent), R::load_from(&own.length));
            let vector = old.mul_add(length, shift);
            // An edge that all but vanishes keeps its direction.
            let rest_length = R::load_from(&rest[row].length);
            let floor = rest_length * R::splat(1.0e-3);
            let distance = vector.length();
            let vanished = distance.less(floor);
            let distance = R::select(vanished, floor, distance);
            let tangent = Vector3::select(vanished, old, vector * (R::one() / distance));
            // Turning does not lengthen: the solve has found the length along the old tangent.
            let length = (length + old.dot(solved)).max(distance.min(rest_length));
            let length = length.max(rest_length * least).min(rest_length * most);

            let scale = R::one() / (R::one() + old.dot(tangent)).max(R::splat(1.0e-6));
            let director = transport(R::load_vector(&own.director), old, tangent, scale);
            let (sine, cosine) = (R::load_from(&own.spin) * dt).sin_cos();
            let director = tangent.cross(director).mul_add(sine, director * cosine);
            // Rounding must not add up: across the tangent, and of unit length.
            let director = tangent.mul_add(-tangent.dot(director), director);
            let director = director * (R::one() / director.length());
            R::store_vector(tangent, &mut own.tangent);
            length.store_to(&mut own.length);
            R::store_vector(director, &mut own.director);
        }
    }
}
