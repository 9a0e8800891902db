use super::super::Groom;
use super::with_points;

/// The groom with every strand `factor` times as long, scaled about its root: its shape stays, curls grow along.
pub fn scale_length(groom: &Groom, factor: f32) -> Groom {
    with_points(groom, |_, old, new| {
        let root = old[0];
        new.iter_mut().skip(1).for_each(|point| *point = root + (*point - root) * factor);
    })
}
