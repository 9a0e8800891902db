use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Groom;
use super::super::nearest::PointTree;
use super::super::plan::Plan;
use super::Skin;

/// A groom counts as growing on the skin if its roots lie within this part of a strand's length.
const AT_SKIN: f32 = 0.25;
/// Roots are held no closer to the skin than this part of a strand's length: less is rounding.
const ROUNDING: f32 = 1.0e-3;
/// A strand tells its direction if one end is farther from the skin than the other by this factor.
const FARTHER: f32 = 3.0;
/// The direction of a file is known only if this part of its strands tells.
const ENOUGH: f32 = 0.1;
/// Single strands are turned only on a body that fits the hair: where tips are farther from it than roots by this factor.
const FITTING: f32 = 10.0;
/// A file is mixed if this part of the strands that tell is unlike the others.
const MIXED: f32 = 0.02;
/// So much, in parts of its length, the roots and tips around a strand have to speak for turning one that tells in a file of
/// one kind; in a mixed one its own word is enough …
const CONFIRMED: f32 = 0.2;
/// … and so much for turning one that does not tell: in a mixed file, and in one of one kind.
const ALONE: [f32; 2] = [0.05, 0.3];

/// How many strands were turned because they were given from tip to root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turned {
    /// Strands that were turned.
    pub strands: usize,
    /// Whether most of the file was given from tip to root.
    pub most: bool,
}

/// Distances of a strand's ends from the skin, and its length [m].
#[derive(Clone, Copy)]
struct Ends {
    first: f32,
    last: f32,
    length: f32,
}

impl Ends {
    fn near(self) -> f32 {
        self.first.min(self.last)
    }

    fn far(self) -> f32 {
        self.first.max(self.last)
    }

    /// Whether the last end is the nearer one.
    fn reversed(self) -> bool {
        self.last < self.first
    }
}

/// How far the roots and tips of a groom usually are from the skin [m].
#[derive(Clone, Copy)]
struct Usual {
    root: f32,
    tip: f32,
}

impl Usual {
    /// `None` if the groom does not grow on this skin.
    fn of(ends: &[Ends]) -> Option<Self> {
        let length = median(ends.iter().map(|ends| ends.length))?;
        let root = median(ends.iter().map(|ends| ends.near()))?.max(ROUNDING * length);
        let tip = median(ends.iter().map(|ends| ends.far()))?;
        (length > 0.0 && root <= AT_SKIN * length).then_some(Self { root, tip })
    }

    /// Whether one end of a strand alone is at the skin.
    fn tells(self, ends: Ends) -> bool {
        let reach = (self.root * self.tip).sqrt();
        ends.near() <= reach && ends.far() > reach && ends.far() > FARTHER * ends.near()
    }

    /// Whether one end of a strand is where roots are, and the other where tips are.
    fn tells_surely(self, ends: Ends) -> bool {
        self.tells(ends) && ends.near() <= 2.0 * self.root && ends.far() >= 0.5 * self.tip
    }
}

fn median(values: impl Iterator<Item = f32>) -> Option<f32> {
    let mut values: Vec<f32> = values.filter(|value| value.is_finite()).collect();
    let middle = values.len() / 2;
    (middle < values.len()).then(|| *values.select_nth_unstable_by(middle, f32::total_cmp).1)
}

/// The groom with strands that were given from tip to root turned around, all that belongs to their vertices with them.
///
/// The end at the skin is the root. How far roots and tips of this groom usually are from the skin tells what "at the
/// skin" means; strands with both ends there, or neither, do not tell. Most of those that tell decide for the file, and
/// a strand is taken for the other way around if its own ends or the roots and tips around them say so: the more of its
/// kind there are, the less it takes.
pub fn turn_strands(groom: &Groom, skin: Skin<'_>) -> (Groom, Turned) {
    let (turn, most) = reversed_strands(groom, skin);
    let strands = turn.iter().filter(|&&turn| turn).count();
    if strands == 0 {
        return (groom.clone(), Turned::default());
    }
    let mut plan = Plan::new();
    for (strand, &turn) in turn.iter().enumerate() {
        let vertices = 0..groom.curves.vertices_of(strand);
        match turn {
            true => plan.push(strand, vertices.rev().map(|vertex| vertex as f32)),
            false => plan.push(strand, vertices.map(|vertex| vertex as f32)),
        }
    }
    (plan.apply(groom), Turned { strands, most })
}

/// Which strands are given from tip to root, and whether most are.
fn reversed_strands(groom: &Groom, skin: Skin<'_>) -> (Vec<bool>, bool) {
    let ends = |strand: usize| {
        let points = groom.curves.strand(strand);
        let distance = |point: Option<&glam::Vec3>| point.map_or(f32::INFINITY, |&point| skin(point).0.abs());
        Ends {
            first: distance(points.first()),
            last: distance(points.last()),
            length: groom.curves.length(strand),
        }
    };
    let ends: Vec<Ends> = (0..groom.strands()).into_par_iter().map(ends).collect();
    let unknown = (vec![false; ends.len()], false);
    let Some(usual) = Usual::of(&ends) else { return unknown };
    let told: Vec<Ends> = ends.iter().copied().filter(|&ends| usual.tells(ends)).collect();
    if (told.len() as f32) < ENOUGH * ends.len() as f32 {
        return unknown;
    }
    let reversed = told.iter().filter(|ends| ends.reversed()).count();
    let most = 2 * reversed > told.len();
    let unlike = if most { told.len() - reversed } else { reversed };
    if unlike == 0 || usual.tip < FITTING * usual.root {
        return (vec![most; ends.len()], most);
    }

    let mixed = unlike as f32 >= MIXED * told.len() as f32;
    let around = Neighbourhood::new(groom, &ends, usual);
    let is_unlike = |(strand, &ends): (usize, &Ends)| {
        let toward = if most { -1.0 } else { 1.0 };
        let confirmed =
            |least: f32| toward * around.lean(groom, strand) > least * ends.length.max(f32::MIN_POSITIVE);
        match usual.tells(ends) {
            true if ends.reversed() == most => false,
            true => mixed || usual.tells_surely(ends) || confirmed(CONFIRMED),
            false => confirmed(ALONE[usize::from(!mixed)]),
        }
    };
    (ends.par_iter().enumerate().map(|strand| is_unlike(strand) != most).collect(), most)
}

/// Roots and tips of the strands that tell which is which.
struct Neighbourhood {
    roots: PointTree,
    tips: PointTree,
    /// The place of each strand's own ends among them.
    own: Vec<Option<u32>>,
}

impl Neighbourhood {
    fn new(groom: &Groom, ends: &[Ends], usual: Usual) -> Self {
        let (mut roots, mut tips, mut own) = (Vec::new(), Vec::new(), vec![None; ends.len()]);
        for (strand, ends) in ends.iter().enumerate().filter(|(_, ends)| usual.tells(**ends)) {
            let [first, .., last] = groom.curves.strand(strand) else { continue };
            own[strand] = Some(roots.len() as u32);
            let (root, tip) = if ends.reversed() { (last, first) } else { (first, last) };
            roots.push(*root);
            tips.push(*tip);
        }
        Self { roots: PointTree::new(&roots), tips: PointTree::new(&tips), own }
    }

    /// By how much the last end of a strand lies more among roots than among tips, compared with its first [m].
    fn lean(&self, groom: &Groom, strand: usize) -> f32 {
        let [first, .., last] = groom.curves.strand(strand) else { return 0.0 };
        let distance = |tree: &PointTree, point: glam::Vec3| {
            let others =
                tree.nearest::<4>(point).into_iter().filter(|found| Some(found.0) != self.own[strand]);
            others.take(3).map(|(_, distance)| distance).sum::<f32>() / 3.0
        };
        let among_tips = |point| distance(&self.roots, point) - distance(&self.tips, point);
        let lean = among_tips(*first) - among_tips(*last);
        if lean.is_finite() { lean } else { 0.0 }
    }
}
