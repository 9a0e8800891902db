/// How bending is integrated where a strand is clamped at its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clamp {
    /// A ghost edge ends at the root, fixed in the clamp's frame; every edge of the strand is free. The root vertex
    /// has half the first edge as its length. Most accurate, and the default.
    #[default]
    Ghost,
    /// The first edge is clamped, and the vertex after it has the whole first edge in its length: section 5.1 of
    /// Daviet 2023. There is no element at the root.
    FirstEdge,
    /// The root is free: no element at the root, plain Voronoi lengths.
    Free,
}

/// How bending is integrated at the tip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tip {
    /// The plain Voronoi length: the last half edge does not bend. The default; a free tip bends little.
    #[default]
    Plain,
    /// The last inner vertex has the whole last edge in its length: section 5.1 of Daviet 2023.
    WholeEdge,
}

/// Writes the length [m] over which each vertex bends, for vertices 0 to n − 1 of a strand of n edges with these
/// rest lengths [m]; vertex i lies between edges i − 1 and i. Zero where there is no element, at the root of a strand
/// without a ghost edge. These lengths are for bending alone: masses keep [`voronoi_lengths`].
pub fn bending_lengths(rest_lengths: &[f64], clamp: Clamp, tip: Tip, lengths: &mut Vec<f64>) {
    lengths.clear();
    let Some(&first) = rest_lengths.first() else { return };
    lengths.push(if clamp == Clamp::Ghost { first / 2.0 } else { 0.0 });
    lengths.extend(rest_lengths.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0));
    let last = rest_lengths.len() - 1;
    if last > 0 && clamp == Clamp::FirstEdge {
        lengths[1] += first / 2.0;
    }
    if last > 0 && tip == Tip::WholeEdge {
        lengths[last] += rest_lengths[last] / 2.0;
    }
}

/// Writes the length [m] of rod that each of the n + 1 vertices of a strand carries: half of every edge at it.
pub fn voronoi_lengths(rest_lengths: &[f64], lengths: &mut Vec<f64>) {
    lengths.clear();
    lengths.resize(rest_lengths.len() + 1, 0.0);
    for (edge, &length) in rest_lengths.iter().enumerate() {
        lengths[edge] += length / 2.0;
        lengths[edge + 1] += length / 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_their_definitions() {
        let rest = [1.0, 2.0, 4.0];
        let bending = |clamp, tip| {
            let mut lengths = Vec::new();
            bending_lengths(&rest, clamp, tip, &mut lengths);
            lengths
        };
        assert_eq!(bending(Clamp::Ghost, Tip::Plain), [0.5, 1.5, 3.0]);
        assert_eq!(bending(Clamp::FirstEdge, Tip::Plain), [0.0, 2.0, 3.0]);
        assert_eq!(bending(Clamp::FirstEdge, Tip::WholeEdge), [0.0, 2.0, 5.0]);
        assert_eq!(bending(Clamp::Free, Tip::Plain), [0.0, 1.5, 3.0]);
        let mut masses = Vec::new();
        voronoi_lengths(&rest, &mut masses);
        assert_eq!(masses, [0.5, 1.5, 3.0, 2.0]);
    }

    #[test]
    fn the_fixes_of_a_strand_of_equal_edges_are_one_and_a_half_edges() {
        let mut lengths = vec![7.0];
        bending_lengths(&[1.0; 8], Clamp::FirstEdge, Tip::WholeEdge, &mut lengths);
        assert_eq!(lengths, [0.0, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.5]);
        bending_lengths(&[], Clamp::Ghost, Tip::Plain, &mut lengths);
        assert!(lengths.is_empty());
        bending_lengths(&[1.0], Clamp::FirstEdge, Tip::WholeEdge, &mut lengths);
        assert_eq!(lengths, [0.0]);
    }
}
