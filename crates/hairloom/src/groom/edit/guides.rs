use super::super::plan::Plan;
use super::super::{Groom, Pick, pick_guides};

/// The groom with `count` of its strands marked as guides, and no others; with `only`, without all others.
pub fn choose_guides(groom: &Groom, count: usize, pick: Pick, only: bool, seed: u64) -> Groom {
    let picked = pick_guides(groom, count, pick, seed);
    let mut marked = groom.clone();
    marked.guides = vec![false; groom.strands()];
    picked.iter().for_each(|&strand| marked.guides[strand] = true);
    if !only {
        return marked;
    }
    let mut plan = Plan::new();
    picked.iter().for_each(|&strand| plan.keep(strand, &groom.curves));
    plan.apply(&marked)
}
