use serde::Serialize;

use super::super::plan::Plan;
use super::super::{Groom, Root};
use super::EditError;

/// An axis of space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// To the left of someone who looks along z.
    X,
    /// Up.
    Y,
    /// To where figures look.
    Z,
}

/// The groom reflected in the plane across `axis` at coordinate `at` [m]; with `copy` the groom and its mirror image.
///
/// Roots that sit on triangles are held rigidly afterwards: there may be no triangle on the other side (a simulation
/// binds them to the body anew). Copies get identifiers above all others. Attributes are copied as they are.
pub fn mirror(groom: &Groom, axis: Axis, at: f32, copy: bool) -> Result<Groom, EditError> {
    let reflected = |groom: &mut Groom, first_strand: usize, first_vertex: usize| {
        for point in &mut groom.curves.points[first_vertex..] {
            let coordinate = &mut point[axis as usize];
            // A change of sign is exact, of zeros too.
            *coordinate = if at == 0.0 { -*coordinate } else { 2.0 * at - *coordinate };
        }
        for root in groom.roots.iter_mut().skip(first_strand) {
            if let Root::Triangle { .. } = root {
                *root = Root::Rigid;
            }
        }
    };
    if !copy {
        let mut image = groom.clone();
        reflected(&mut image, 0, 0);
        return Ok(image);
    }
    let (strands, vertices) = (groom.strands(), groom.vertices());
    if u32::try_from(2 * vertices).is_err() {
        return Err(EditError::TooLarge { vertices: 2 * vertices });
    }
    let mut plan = Plan::new();
    (0..strands).chain(0..strands).for_each(|strand| plan.keep(strand, &groom.curves));
    let mut both = plan.apply(groom);
    let next = both.ids.iter().max().map_or(0, |&most| u64::from(most) + 1);
    match u32::try_from(next + strands as u64) {
        Ok(_) => (next as u32..).zip(&mut both.ids[strands..]).for_each(|(id, own)| *own = id),
        // There are not enough identifiers left above: all are given anew.
        Err(_) => both.ids = (0..2 * strands as u32).collect(),
    }
    reflected(&mut both, strands, vertices);
    Ok(both)
}
