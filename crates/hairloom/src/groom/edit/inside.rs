use rayon::prelude::*;

use super::super::Groom;
use super::super::plan::Plan;
use super::{Skin, with_points};

/// The groom without the strands whose roots are deeper than `depth` [m] inside the body.
pub fn remove_inside(groom: &Groom, skin: Skin<'_>, depth: f32) -> Groom {
    let inside: Vec<bool> = (0..groom.strands())
        .into_par_iter()
        .map(|strand| groom.curves.strand(strand).first().is_some_and(|&root| skin(root).0 < -depth))
        .collect();
    let mut plan = Plan::new();
    for strand in (0..groom.strands()).filter(|&strand| !inside[strand]) {
        plan.keep(strand, &groom.curves);
    }
    plan.apply(groom)
}

/// The groom with every strand moved, as it is, such that its root is on the surface of the body; those whose roots are
/// farther than `reach` [m] from it stay.
pub fn seat(groom: &Groom, skin: Skin<'_>, reach: f32) -> Groom {
    with_points(groom, |_, old, new| {
        let (distance, normal) = skin(old[0]);
        if distance.abs() <= reach {
            let shift = normal * -distance;
            new.iter_mut().for_each(|point| *point += shift);
        }
    })
}
