//! Edits of hair that is being simulated: each comes with a map by which a solver carries its state over.

use super::super::plan::{Plan, coordinate_at};
use super::super::{Groom, Remap};
use super::EditError;

/// A cut that would leave a last edge shorter than this part of the old one moves the vertex before it instead.
pub(super) const SHORTEST_REMNANT: f32 = 0.25;

/// No strand is lengthened by more edges than this.
const MOST_NEW_EDGES: f32 = 1000.0;

/// One number for all strands, or one for each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount<'a> {
    /// The same for all strands.
    All(f32),
    /// One for each strand.
    Each(&'a [f32]),
}

impl Amount<'_> {
    fn check(
        &self,
        groom: &Groom,
        expected: &'static str,
        ok: impl Fn(f32) -> bool,
    ) -> Result<(), EditError> {
        let strands = groom.strands();
        match self {
            Self::Each(amounts) if amounts.len() != strands => {
                return Err(EditError::Count { strands, found: amounts.len() });
            }
            _ => {}
        }
        for strand in 0..strands {
            if !ok(self.of(strand)) {
                return Err(EditError::Range { strand, amount: self.of(strand), expected });
            }
            if groom.curves.vertices_of(strand) < 2 {
                return Err(EditError::TooFewVertices { strand });
            }
        }
        Ok(())
    }

    fn of(&self, strand: usize) -> f32 {
        match self {
            Self::All(amount) => *amount,
            Self::Each(amounts) => amounts[strand],
        }
    }
}

/// Cuts strands to the given fraction of their length, in (0, 1]. Vertices before the cut stay where they are
/// (so that a solver's state stays valid); the new tip lies exactly at the cut.
pub fn trim(groom: &Groom, fraction: Amount) -> Result<(Groom, Remap), EditError> {
    fraction.check(groom, "a fraction above 0 and up to 1 of the length to keep", |kept| {
        kept > 0.0 && kept <= 1.0
    })?;
    let mut plan = Plan::new();
    for (index, strand) in groom.curves.iter().enumerate() {
        let kept = fraction.of(index);
        if kept == 1.0 {
            plan.keep(index, &groom.curves);
            continue;
        }
        let (tip, edge, _) = coordinate_at(strand, kept * groom.curves.length(index), 0, 0.0);
        let short = tip - (edge as f32) < SHORTEST_REMNANT && edge > 0;
        let whole = if short { edge } else { edge + 1 };
        plan.push(index, (0..whole).map(|vertex| vertex as f32).chain([tip]));
    }
    Ok((plan.apply(groom), plan.into_remap()))
}

/// Lengthens strands straight on by the given extra length [m], 0 or more, with edges no longer than the
/// strand's last one. Widths and other values at the new vertices are those of the old tip.
pub fn grow_length(groom: &Groom, extra: Amount) -> Result<(Groom, Remap), EditError> {
    extra
        .check(groom, "a finite extra length of 0 m or more", |amount| amount.is_finite() && amount >= 0.0)?;
    let mut plan = Plan::new();
    for (index, strand) in groom.curves.iter().enumerate() {
        let (old, amount) = (strand.len(), extra.of(index));
        let edges = amount / strand[old - 2].distance(strand[old - 1]);
        // A bound on growth keeps a mistaken unit from filling the memory. A NaN fails this comparison too.
        if !(amount == 0.0 || edges <= MOST_NEW_EDGES) {
            let expected = "at most a thousand times the length of the strand's last edge";
            return Err(EditError::Range { strand: index, amount, expected });
        }
        let added = (edges - 1e-3).ceil().max(0.0) as usize;
        let vertices = (0..old).map(|vertex| vertex as f32);
        let beyond = (1..=added).map(|k| (old - 1) as f32 + edges * k as f32 / added as f32);
        plan.push(index, vertices.chain(beyond));
    }
    Ok((plan.apply(groom), plan.into_remap()))
}

/// Removes the strands with the given indices; the others keep their order and identifiers.
pub fn remove(groom: &Groom, strands: &[usize]) -> Result<(Groom, Remap), EditError> {
    let mut gone = vec![false; groom.strands()];
    for &strand in strands {
        *gone.get_mut(strand).ok_or(EditError::NoSuchStrand { strand, strands: groom.strands() })? = true;
    }
    let mut plan = Plan::new();
    for strand in (0..groom.strands()).filter(|&strand| !gone[strand]) {
        plan.keep(strand, &groom.curves);
    }
    Ok((plan.apply(groom), plan.into_remap()))
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::super::{Curves, Groom, Root};
    use super::{Amount, EditError, grow_length, remove, trim};

    fn ruler() -> Groom {
        let mut curves = Curves::default();
        curves.push((0..5).map(|k| Vec3::X * k as f32));
        curves.push((0..3).map(|k| Vec3::Y * k as f32 * 0.5));
        Groom {
            roots: vec![Root::Rigid; 2],
            widths: (0..8).map(|k| 1.0 + k as f32).collect(),
            curves,
            ..Groom::default()
        }
    }

    #[test]
    fn trimming_keeps_vertices_and_cuts_at_the_length() {
        let (cut, remap) = trim(&ruler(), Amount::Each(&[0.6, 1.0])).unwrap();
        assert_eq!(cut.curves.strand(0).len(), 4);
        assert!((cut.curves.length(0) - 2.4).abs() < 1e-6);
        assert!((remap.coordinates[3] - 2.4).abs() < 1e-6);
        assert!((cut.widths[3] - 3.4).abs() < 1e-6);
        assert_eq!(cut.curves.strand(1), ruler().curves.strand(1));
        assert_eq!(remap.strands, [Some(0), Some(1)]);
    }

    #[test]
    fn a_cut_just_past_a_vertex_leaves_no_tiny_edge() {
        let (cut, remap) = trim(&ruler(), Amount::All(0.51)).unwrap();
        assert_eq!(cut.curves.strand(0).len(), 3);
        assert!((cut.curves.length(0) - 2.04).abs() < 1e-6);
        assert_eq!(remap.coordinates[..2], [0.0, 1.0]);
        let (stub, _) = trim(&ruler(), Amount::All(0.01)).unwrap();
        assert_eq!(stub.curves.strand(0).len(), 2);
        stub.validate().unwrap();
    }

    #[test]
    fn growing_goes_on_along_the_last_edge() {
        let (grown, remap) = grow_length(&ruler(), Amount::Each(&[1.5, 0.0])).unwrap();
        assert_eq!(grown.curves.strand(0)[5..], [Vec3::X * 4.75, Vec3::X * 5.5]);
        assert_eq!(remap.coordinates[5..7], [4.75, 5.5]);
        assert_eq!(grown.widths[4..7], [5.0, 5.0, 5.0]);
        assert_eq!(grown.curves.strand(1).len(), 3);
        grown.validate().unwrap();
    }

    #[test]
    fn removing_remaps_the_rest() {
        let (left, remap) = remove(&ruler(), &[0, 0]).unwrap();
        assert_eq!(remap.strands, [Some(1)]);
        assert_eq!(remap.coordinates, [0.0, 1.0, 2.0]);
        assert_eq!(left.widths, [6.0, 7.0, 8.0]);
        assert_eq!(remove(&ruler(), &[2]), Err(EditError::NoSuchStrand { strand: 2, strands: 2 }));
    }

    #[test]
    fn bad_amounts_are_refused() {
        for amount in [0.0, -1.0, 1.1, f32::NAN] {
            assert!(matches!(trim(&ruler(), Amount::All(amount)), Err(EditError::Range { .. })));
        }
        for amount in [-0.1, 1e9, f32::INFINITY, f32::NAN] {
            assert!(matches!(grow_length(&ruler(), Amount::All(amount)), Err(EditError::Range { .. })));
        }
        assert!(matches!(trim(&ruler(), Amount::Each(&[0.5])), Err(EditError::Count { .. })));
    }
}
