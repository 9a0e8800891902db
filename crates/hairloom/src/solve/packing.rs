//! Which strands ride side by side.

use glam::Vec3;

use crate::scene::Model;

/// A lane without a strand.
pub(super) const EMPTY: u32 = u32::MAX;

/// Groups of up to `lanes` strands that share `held[strand]` and are of nearly equal vertex counts. Neighbours in
/// space become neighbours in memory.
pub(super) fn groups(model: &Model, held: &[u32], lanes: usize) -> Vec<(u32, Vec<u32>)> {
    let mut order: Vec<u32> = (0..model.strands() as u32).collect();
    let along_curve = space_filling_order(model);
    order.sort_by_key(|&s| (held[s as usize], model.range(s as usize).len(), along_curve[s as usize]));
    let mut groups = Vec::with_capacity(order.len() / lanes + 1);
    let mut rest = order.as_slice();
    while let Some(&first) = rest.first() {
        let held_here = held[first as usize];
        let same = rest.iter().take(lanes).take_while(|&&s| held[s as usize] == held_here).count();
        let (group, later) = rest.split_at(same);
        groups.push((held_here, group.to_vec()));
        rest = later;
    }
    groups
}

/// Cuts a column into parts of the given lengths.
pub(super) fn cut<T>(mut column: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut parts = Vec::new();
    for length in lengths {
        let (part, rest) = column.split_at_mut(length);
        parts.push(part);
        column = rest;
    }
    parts
}

/// A number for each strand that rises along a space-filling (Morton) curve through the groomed roots.
pub(super) fn space_filling_order(model: &Model) -> Vec<u32> {
    let root = |strand: usize| model.groomed[model.range(strand).start];
    let roots = (0..model.strands()).map(root);
    let (low, high) =
        roots.clone().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
    let cells = 1023.0 / (high - low).max_element().max(1.0e-9);
    // Two zero bits between any two bits.
    let spread = |value: f32| {
        let mut bits = value as u32 & 0x3ff;
        bits = (bits | bits << 16) & 0x0300_00ff;
        bits = (bits | bits << 8) & 0x0300_f00f;
        bits = (bits | bits << 4) & 0x030c_30c3;
        (bits | bits << 2) & 0x0924_9249
    };
    roots
        .map(|p| {
            let cell = (p - low) * cells;
            spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2
        })
        .collect()
}
