//! The energy of a pack: of motion, of strains, and of height.

use glam::DVec3;

use super::params::Params;
use super::strands::Pack;
use crate::math::{Loads, Stored, StoredKernel, Vector3};
use crate::rod::der::{Bend, Frame, StretchMeasure};
use crate::solve::Energy;

/// Sums up the energy of a pack.
pub(super) struct Weigh<'a, S> {
    pub pack: &'a Pack<S>,
    pub params: &'a Params,
    /// [m/s²]
    pub gravity: DVec3,
}

impl<S: Stored> StoredKernel<S> for Weigh<'_, S> {
    type Output = Energy;

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> Energy {
        let Self { pack, params, gravity } = self;
        let (half, down) = (R::splat(0.5), Vector3::<R>::splat(gravity));
        let (mut kinetic, mut mass, mut moment) = (R::zero(), R::zero(), R::zero());
        for (i, rest) in pack.rest.iter().enumerate() {
            let here = R::load_from(&rest.mass);
            let (velocity, spin) = (R::load_vector(&pack.velocities[i]), R::load_from(&pack.spins[i]));
            kinetic += velocity.length_squared() * here + spin * spin * R::load_from(&rest.inertia);
            mass += here;
            moment += R::load_vector(&pack.moving[i].position).dot(down) * here;
        }
        let elastic = strain_energy::<S, R>(pack, params);
        let mut rows = [S::default(); 4];
        (kinetic * half).store_to(&mut rows[0]);
        elastic.store_to(&mut rows[1]);
        moment.store_to(&mut rows[2]);
        mass.store_to(&mut rows[3]);
        let mut sum = Energy::default();
        for (lane, _) in pack.lanes() {
            sum.kinetic += rows[0].get(lane);
            sum.elastic += rows[1].get(lane);
            // Roots are far from the origin beside the strands' own extent: in double precision.
            sum.gravity -= rows[2].get(lane) + rows[3].get(lane) * gravity.dot(pack.roots[lane]);
        }
        sum
    }
}

/// Bending, twisting and stretching of all that is free, and against frames that are held.
#[inline(always)]
fn strain_energy<S: Stored, R: Loads<S>>(pack: &Pack<S>, params: &Params) -> R {
    let first = pack.first();
    let mut sum = R::zero();
    let mut before = pack.base.map(|_| R::load_quaternion(&pack.clamp));
    for i in first..pack.moving.len().saturating_sub(1) {
        let (rest, moving) = (&pack.rest[i], &pack.moving[i]);
        let frame = R::load_quaternion(&moving.frame);
        let (length, natural) = (R::load_from(&moving.length), R::load_from(&rest.length));
        if let Some(before) = before {
            let bend =
                Bend { rest: R::load_vector(&rest.curvature), stiffness: R::load_vector(&rest.bending) };
            // Spare rows have no length, and their stiffness is no energy.
            let energy = bend.energy(params.bending, Frame(before), Frame(frame));
            sum += R::select(R::zero().less(natural), energy, R::zero());
        }
        before = Some(frame);
        if let Some(hold) = pack.holds.get(i) {
            let bend = Bend { rest: Vector3::zero(), stiffness: R::load_vector(&hold.stiffness) };
            sum += bend.energy(params.bending, Frame(frame), Frame(R::load_quaternion(&hold.frame)));
        }
        let longer = match params.stretching {
            StretchMeasure::Linear => length - natural,
            // Spare rows have no length.
            StretchMeasure::Quadratic => {
                let ratio = (length + natural) / natural.max(R::splat(1.0e-12));
                (length - natural) * ratio * R::splat(0.5)
            }
        };
        sum += longer * longer * R::load_from(&rest.stretching) * R::splat(0.5);
    }
    sum
}
