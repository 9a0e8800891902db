//! The order in which nodes are eliminated: nested dissection by their places on the lattice.

use super::lattice::Lattice;

/// Nodes that are eliminated together, as one dense front.
#[derive(Debug, Clone, Default)]
pub(super) struct Front {
    /// The nodes that are eliminated here.
    pub own: Vec<u32>,
    /// The nodes, eliminated later, that these then connect; in the order of their elimination.
    pub border: Vec<u32>,
    /// The fronts that must come before.
    pub children: Vec<usize>,
    /// Fronts of the same level do not need each other.
    pub level: usize,
}

impl Front {
    /// Which of its rows of blocks belongs to a node of this front.
    pub(super) fn local(&self, node: u32, place: &[u32]) -> usize {
        let at = place[node as usize];
        let first = self.own.first().map_or(u32::MAX, |&node| place[node as usize]);
        if at >= first && at - first < self.own.len() as u32 {
            return (at - first) as usize;
        }
        self.own.len() + self.border.partition_point(|&other| place[other as usize] < at)
    }
}

/// Sets of at most so many nodes are not cut any more.
const LEAF: usize = 40;

/// The fronts of all nodes, each after its children, and the place of every node in the order; `neighbours` gives the nodes
/// that a node meets.
pub(super) fn dissect<'a>(
    lattice: &Lattice,
    neighbours: &dyn Fn(u32) -> &'a [u32],
) -> (Vec<Front>, Vec<u32>) {
    let mut cutter = Cutter { lattice, neighbours, right: vec![false; lattice.nodes()], fronts: Vec::new() };
    cutter.cut((0..lattice.nodes() as u32).collect());
    let mut fronts = cutter.fronts;
    let mut place = vec![0u32; lattice.nodes()];
    for (at, &node) in fronts.iter().flat_map(|front| &front.own).enumerate() {
        place[node as usize] = at as u32;
    }
    for index in 0..fronts.len() {
        let (before, after) = fronts.split_at_mut(index);
        let front = &mut after[0];
        let last = front.own.iter().map(|&node| place[node as usize]).max();
        let own = front.own.iter().flat_map(|&node| neighbours(node).iter());
        let inherited = front.children.iter().flat_map(|&child| before[child].border.iter());
        let later = |node: &&u32| last.is_none_or(|last| place[**node as usize] > last);
        front.border = own.chain(inherited).filter(later).copied().collect();
        front.border.sort_unstable_by_key(|&node| place[node as usize]);
        front.border.dedup();
        front.level = front.children.iter().map(|&child| before[child].level + 1).max().unwrap_or(0);
    }
    (fronts, place)
}

struct Cutter<'a, 'b> {
    lattice: &'a Lattice,
    neighbours: &'a dyn Fn(u32) -> &'b [u32],
    /// Whether a node lies behind the cut at hand.
    right: Vec<bool>,
    fronts: Vec<Front>,
}

impl Cutter<'_, '_> {
    /// Adds the fronts of a set of nodes; gives the last of them.
    fn cut(&mut self, set: Vec<u32>) -> usize {
        let halves = if set.len() > LEAF { self.halves(&set) } else { None };
        let (own, children) = match halves {
            Some([left, between, right]) => {
                let children = [left, right].map(|half| self.cut(half));
                (between, children.to_vec())
            }
            None => (set, Vec::new()),
        };
        self.fronts.push(Front { own, children, ..Front::default() });
        self.fronts.len() - 1
    }

    /// Two halves that do not meet, and the nodes between them.
    fn halves(&mut self, set: &[u32]) -> Option<[Vec<u32>; 3]> {
        let place = |node: u32, axis: usize| self.lattice.coordinates[node as usize][axis];
        let extent = |axis: usize| {
            let all = || set.iter().map(|&node| place(node, axis));
            all().max().unwrap_or(0) - all().min().unwrap_or(0)
        };
        let axis = (0..3).max_by_key(|&axis| extent(axis))?;
        let mut along: Vec<i32> = set.iter().map(|&node| place(node, axis)).collect();
        let middle = set.len() / 2;
        let cut = *along.select_nth_unstable(middle).1;
        let (left, right): (Vec<u32>, Vec<u32>) = set.iter().partition(|&&node| place(node, axis) < cut);
        right.iter().for_each(|&node| self.right[node as usize] = true);
        let meets = |node: &u32| (self.neighbours)(*node).iter().any(|&other| self.right[other as usize]);
        let (between, left): (Vec<u32>, Vec<u32>) = left.iter().partition(|node| meets(node));
        right.iter().for_each(|&node| self.right[node as usize] = false);
        (!left.is_empty() && !right.is_empty()).then_some([left, between, right])
    }
}
