use glam::Vec3;

/// A balanced k-d tree over points, held in one array: the middle of each slice is the node, left and right of
/// it lie its children.
pub(super) struct PointTree {
    nodes: Vec<(Vec3, u32)>,
}

impl PointTree {
    pub(super) fn new(points: &[Vec3]) -> Self {
        let mut nodes: Vec<(Vec3, u32)> = points.iter().copied().zip(0..).collect();
        arrange(&mut nodes, 0);
        Self { nodes }
    }

    /// Indices and distances [m] of the `K` points nearest to `point`, nearest first, ties by index. Places that
    /// cannot be filled have an infinite distance and index 0.
    pub(super) fn nearest<const K: usize>(&self, point: Vec3) -> [(u32, f32); K] {
        let mut best = [(u32::MAX, f32::INFINITY); K];
        search(&self.nodes, point, 0, &mut best);
        best.map(
            |(index, squared)| if index == u32::MAX { (0, f32::INFINITY) } else { (index, squared.sqrt()) },
        )
    }
}

fn arrange(nodes: &mut [(Vec3, u32)], axis: usize) {
    if nodes.len() < 2 {
        return;
    }
    let middle = nodes.len() / 2;
    nodes.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    let (left, right) = nodes.split_at_mut(middle);
    arrange(left, (axis + 1) % 3);
    arrange(&mut right[1..], (axis + 1) % 3);
}

fn search<const K: usize>(nodes: &[(Vec3, u32)], point: Vec3, axis: usize, best: &mut [(u32, f32); K]) {
    if nodes.is_empty() {
        return;
    }
    let middle = nodes.len() / 2;
    let (position, index) = nodes[middle];
    insert(best, index, position.distance_squared(point));
    let (left, right) = (&nodes[..middle], &nodes[middle + 1..]);
    let offset = point[axis] - position[axis];
    let (near, far) = if offset < 0.0 { (left, right) } else { (right, left) };
    search(near, point, (axis + 1) % 3, best);
    if best.last().is_some_and(|worst| offset * offset <= worst.1) {
        search(far, point, (axis + 1) % 3, best);
    }
}

fn insert<const K: usize>(best: &mut [(u32, f32); K], index: u32, squared: f32) {
    let comes_before = |entry: &(u32, f32)| (squared, index) < (entry.1, entry.0);
    let Some(place) = best.iter().position(comes_before) else { return };
    best[place..].rotate_right(1);
    best[place] = (index, squared);
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::PointTree;
    use crate::math::Random;

    #[test]
    fn finds_what_brute_force_finds() {
        let mut random = Random::new(11);
        // A coarse lattice makes plenty of ties.
        let mut point = || Vec3::from_array([0; 3].map(|_| random.below(8) as f32));
        let points: Vec<Vec3> = (0..300).map(|_| point()).collect();
        let tree = PointTree::new(&points);
        for _ in 0..200 {
            let query = point() + Vec3::splat(0.25);
            let mut all: Vec<(f32, u32)> =
                points.iter().zip(0..).map(|(p, index)| (p.distance_squared(query), index)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (found, expected) in tree.nearest::<4>(query).iter().zip(&all) {
                assert_eq!(found.0, expected.1);
            }
        }
    }

    #[test]
    fn places_without_a_point_are_infinitely_far() {
        let found = PointTree::new(&[Vec3::X]).nearest::<3>(Vec3::ZERO);
        assert_eq!(found, [(0, 1.0), (0, f32::INFINITY), (0, f32::INFINITY)]);
    }
}
