use rayon::prelude::*;
use serde::Serialize;

use super::Groom;
use crate::math::Random;

/// How guides are picked among the strands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pick {
    /// Each next guide is the strand whose root is farthest from all guides so far: an even cover.
    #[default]
    Farthest,
    /// At random, each strand with the same chance.
    Random,
}

/// Picks `count` strands (or all, if there are fewer) as guides. Returns their indices, rising.
pub fn pick_guides(groom: &Groom, count: usize, pick: Pick, seed: u64) -> Vec<usize> {
    let strands: Vec<usize> =
        (0..groom.strands()).filter(|&strand| groom.curves.vertices_of(strand) > 0).collect();
    let count = count.min(strands.len());
    let mut random = Random::new(seed);
    let mut picked = match pick {
        Pick::Farthest => farthest(groom, &strands, count, &mut random),
        Pick::Random => {
            let mut pool = strands;
            for place in 0..count {
                let other = place + random.below(pool.len() - place);
                pool.swap(place, other);
            }
            pool.truncate(count);
            pool
        }
    };
    picked.sort_unstable();
    picked
}

fn farthest(groom: &Groom, strands: &[usize], count: usize, random: &mut Random) -> Vec<usize> {
    let roots = groom.curves.root_points();
    let mut squared = vec![f32::INFINITY; roots.len()];
    let mut picked = Vec::with_capacity(count);
    let mut next = random.below(roots.len());
    while picked.len() < count {
        picked.push(strands[next]);
        let root = roots[next];
        squared[next] = f32::NEG_INFINITY;
        // Chunks of a fixed size, and ties by index, keep the pick the same for any number of threads.
        let found = squared
            .par_chunks_mut(4096)
            .zip(roots.par_chunks(4096))
            .enumerate()
            .map(|(chunk, (squared, roots))| {
                let mut best = (f32::NEG_INFINITY, usize::MAX);
                for (place, (squared, point)) in squared.iter_mut().zip(roots).enumerate() {
                    *squared = squared.min(point.distance_squared(root));
                    if *squared > best.0 {
                        best = (*squared, chunk * 4096 + place);
                    }
                }
                best
            })
            .reduce(|| (f32::NEG_INFINITY, usize::MAX), |a, b| if (b.0, a.1) > (a.0, b.1) { b } else { a });
        if found.1 == usize::MAX {
            break;
        }
        next = found.1;
    }
    picked
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::{Curves, Groom};
    use super::{Pick, pick_guides};

    fn row(count: usize) -> Groom {
        let mut curves = Curves::default();
        (0..count).for_each(|k| curves.push([Vec3::X * k as f32, Vec3::X * k as f32 + Vec3::Y]));
        Groom { curves, ..Groom::default() }
    }

    #[test]
    fn farthest_guides_cover_evenly() {
        let picked = pick_guides(&row(10_001), 21, Pick::Farthest, 3);
        assert_eq!(picked.len(), 21);
        let widest = picked.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        // Farthest-point gaps lie within a factor two of the best, 500.
        assert!(widest <= 1000, "{picked:?}");
        assert!(picked.first() == Some(&0) && picked.last() == Some(&10_000));
    }

    #[test]
    fn random_guides_are_distinct() {
        let mut picked = pick_guides(&row(50), 30, Pick::Random, 4);
        assert_ne!(picked, pick_guides(&row(50), 30, Pick::Random, 5));
        picked.dedup();
        assert_eq!(picked.len(), 30);
    }

    #[test]
    fn asking_for_more_than_there_are_gives_all() {
        for pick in [Pick::Farthest, Pick::Random] {
            assert_eq!(pick_guides(&row(5), 9, pick, 1), [0, 1, 2, 3, 4]);
            assert!(pick_guides(&Groom::default(), 3, pick, 1).is_empty());
        }
    }
}
