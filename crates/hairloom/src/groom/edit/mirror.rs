use std::collections::BTreeMap;

use serde::Serialize;

use super::super::plan::Plan;
use super::super::{Domain, Groom, Root, Values};
use super::EditError;

/// The attribute of directions in which strands leave the skin, as files name it.
const ROOT_NORMAL: &str = "rootNormal";
/// The attribute of the guides that a strand follows, as files name it.
const CLOSEST_GUIDES: &str = "groom_closest_guides";

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
/// binds them to the body anew). Copies get identifiers above all others, and `groom_closest_guides` of the images names the
/// images of guides. `rootNormal` is reflected; all other attributes are copied as they are.
pub fn mirror(groom: &Groom, axis: Axis, at: f32, copy: bool) -> Result<Groom, EditError> {
    let reflected = |groom: &mut Groom, first_strand: usize, first_vertex: usize| {
        for point in &mut groom.curves.points[first_vertex..] {
            let coordinate = &mut point[axis as usize];
            // A change of sign is exact, of zeros too.
            *coordinate = if at == 0.0 { -*coordinate } else { 2.0 * at - *coordinate };
        }
        for attribute in groom.attributes.iter_mut().filter(|attribute| attribute.name == ROOT_NORMAL) {
            let first = match attribute.domain {
                Domain::Strand => first_strand,
                Domain::Vertex => first_vertex,
            };
            if let Values::Vec3(normals) = &mut attribute.values {
                normals.iter_mut().skip(first).for_each(|normal| normal[axis as usize] *= -1.0);
            }
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
    let old = both.ids[..strands].to_vec();
    let next = both.ids.iter().max().map_or(0, |&most| u64::from(most) + 1);
    match u32::try_from(next + strands as u64) {
        Ok(_) => (next as u32..).zip(&mut both.ids[strands..]).for_each(|(id, own)| *own = id),
        // There are not enough identifiers left above: all are given anew.
        Err(_) => both.ids = (0..2 * strands as u32).collect(),
    }
    name_guides_anew(&mut both, &old);
    reflected(&mut both, strands, vertices);
    Ok(both)
}

/// Makes closest guides, which are given by identifiers, those of the same half; `old` are the identifiers before they
/// changed. What is not the identifier of a strand stays.
fn name_guides_anew(both: &mut Groom, old: &[u32]) {
    let strands = both.strands() / 2;
    let table =
        |half: &[u32]| -> BTreeMap<u32, u32> { old.iter().copied().zip(half.iter().copied()).collect() };
    let (own, images) = both.ids.split_at(strands);
    let tables = [table(own), table(images)];
    for attribute in both.attributes.iter_mut().filter(|attribute| attribute.name == CLOSEST_GUIDES) {
        let per_half = attribute.values.len() / 2;
        let renamed = |index: usize, id: Option<u32>| tables[index / per_half.max(1)].get(&id?).copied();
        match &mut attribute.values {
            Values::Int(guides) => {
                for (index, guide) in guides.iter_mut().enumerate() {
                    let new = renamed(index, u32::try_from(*guide).ok()).and_then(|id| id.try_into().ok());
                    *guide = new.unwrap_or(*guide);
                }
            }
            // Three whole numbers are held as a vector.
            Values::Vec3(guides) => {
                for (index, guide) in guides.iter_mut().enumerate() {
                    *guide = guide
                        .to_array()
                        .map(|id| renamed(index, whole(id)).map_or(id, |new| new as f32))
                        .into();
                }
            }
            Values::Float(_) | Values::Vec2(_) => {}
        }
    }
}

fn whole(number: f32) -> Option<u32> {
    (number >= 0.0 && number < u32::MAX as f32 && number.fract() == 0.0).then_some(number as u32)
}
