use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Groom;
use super::super::plan::Plan;
use super::Skin;

/// An end counts as being at the skin up to this part of the strand's length.
const AT_SKIN: f32 = 0.25;
/// The other end has to be farther by this part of the strand's length to tell which one is the root.
const FARTHER: f32 = 0.2;
/// The same for a strand that is to be unlike most of its file.
const MUCH_FARTHER: f32 = 0.5;
/// A file is reversed only if this part of its strands tells.
const ENOUGH: f32 = 0.1;

/// How many strands were turned because they were given from tip to root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turned {
    /// Strands that were turned.
    pub strands: usize,
    /// Whether most of the file was given from tip to root.
    pub most: bool,
}

/// By how much the last end of a strand is nearer to the skin than the first, in parts of its length; `None` if neither
/// end is near it, or the strand has no length.
fn lean(groom: &Groom, skin: Skin<'_>, strand: usize) -> Option<f32> {
    let points = groom.curves.strand(strand);
    let length = groom.curves.length(strand);
    let (first, last) = (skin(*points.first()?).0.abs(), skin(*points.last()?).0.abs());
    (length > 0.0 && first.min(last) <= AT_SKIN * length).then(|| (first - last) / length)
}

/// The groom with strands that were given from tip to root turned around, all that belongs to their vertices with them.
///
/// The end at the skin is the root. If more strands have their last point clearly nearer to the skin than their first,
/// the whole file was written that way, and all are turned but for those where it is plainly the other way around. In
/// any other file only strands are turned that plainly end at the skin and begin away from it. Hair that falls along
/// the body has both ends near it, and follows the rest.
pub fn turn_strands(groom: &Groom, skin: Skin<'_>) -> (Groom, Turned) {
    let leans: Vec<Option<f32>> =
        (0..groom.strands()).into_par_iter().map(|strand| lean(groom, skin, strand)).collect();
    let count = |holds: fn(f32) -> bool| leans.iter().flatten().filter(|&&lean| holds(lean)).count();
    let (reversed, proper) = (count(|lean| lean > FARTHER), count(|lean| lean < -FARTHER));
    let most = reversed > proper && reversed as f32 >= ENOUGH * groom.strands() as f32;
    let turn = |lean: Option<f32>| match most {
        true => lean.is_none_or(|lean| lean >= -MUCH_FARTHER),
        false => lean.is_some_and(|lean| lean > MUCH_FARTHER),
    };
    let strands = leans.iter().filter(|&&lean| turn(lean)).count();
    if strands == 0 {
        return (groom.clone(), Turned::default());
    }
    let mut plan = Plan::new();
    for (strand, &lean) in leans.iter().enumerate() {
        let vertices = 0..groom.curves.vertices_of(strand);
        match turn(lean) {
            true => plan.push(strand, vertices.rev().map(|vertex| vertex as f32)),
            false => plan.push(strand, vertices.map(|vertex| vertex as f32)),
        }
    }
    (plan.apply(groom), Turned { strands, most })
}
