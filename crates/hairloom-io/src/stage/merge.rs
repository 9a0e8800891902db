//! Many grooms as one.

use std::collections::HashMap;
use std::mem::Discriminant;

use hairloom::groom::{Attribute, Domain, Groom, Values};

/// What a groom can hold at most.
const TOO_MANY: &str = "more points than a groom can hold";

/// All curves in one groom. It has what any part has; a part without it gets zeros: a width of 0 is one that is not known, and no
/// strand of it is a guide. Identifiers stay what they are: guides and other strands have numbers of their own in many files,
/// and groups too. Strands without one get the first numbers that are free among the guides, or among the others. `pay` is
/// asked before memory is taken for what was in no part [bytes].
pub(crate) fn merge(mut parts: Vec<Groom>, pay: impl Fn(u64) -> Result<(), String>) -> Result<Groom, String> {
    let vertices: usize = parts.iter().map(Groom::vertices).sum();
    u32::try_from(vertices).map_err(|_| TOO_MANY.to_owned())?;
    if parts.len() < 2 {
        return Ok(parts.pop().unwrap_or_default());
    }
    let mut whole = Groom::default();
    whole.curves.offsets = vec![0];
    whole.curves.points.reserve_exact(vertices);
    let mut columns = Columns { found: HashMap::new(), attributes: Vec::new(), pay: &pay };
    // For each strand whether it has an identifier, if any has.
    let mut named: Vec<bool> = Vec::new();
    for mut part in parts {
        let (first_strand, first_vertex) = (whole.strands(), whole.vertices());
        let (strands, shift) = (part.strands(), first_vertex as u32);
        whole.curves.offsets.extend(part.curves.offsets.iter().skip(1).map(|offset| offset + shift));
        columns.append(&mut whole.widths, first_vertex, part.widths, part.curves.points.len())?;
        columns.append(&mut whole.root_uv, first_strand, part.root_uv, strands)?;
        columns.append(&mut whole.guides, first_strand, part.guides, strands)?;
        if part.ids.len() == strands {
            columns.append(&mut named, first_strand, vec![true; strands], strands)?;
        }
        columns.append(&mut whole.ids, first_strand, part.ids, strands)?;
        for attribute in part.attributes.drain(..) {
            columns.take(attribute, [first_strand, first_vertex], [strands, part.curves.points.len()])?;
        }
        whole.curves.points.append(&mut part.curves.points);
        whole.roots.append(&mut part.roots);
    }
    let counts = [whole.strands(), whole.vertices()];
    columns.fill(&mut whole.widths, counts[1])?;
    columns.fill(&mut whole.root_uv, counts[0])?;
    columns.fill(&mut whole.guides, counts[0])?;
    if named.contains(&true) {
        columns.fill(&mut whole.ids, counts[0])?;
        columns.fill(&mut named, counts[0])?;
        pay(counts[0] as u64 * 4)?;
        name_rest(&mut whole.ids, &named, &whole.guides);
    }
    whole.attributes = columns.finish(counts)?;
    Ok(whole)
}

/// Gives identifiers to the strands without one: numbers that are free among the guides, or among the others.
fn name_rest(ids: &mut [u32], named: &[bool], guides: &[bool]) {
    for guide in [false, true] {
        let is_kin = |strand: usize| guides.get(strand).copied().unwrap_or(false) == guide;
        let mut used: Vec<u32> = (0..ids.len())
            .filter(|&strand| named[strand] && is_kin(strand))
            .map(|strand| ids[strand])
            .collect();
        used.sort_unstable();
        let (mut next, mut used) = (0_u32, used.into_iter().peekable());
        for strand in (0..ids.len()).filter(|&strand| !named[strand] && is_kin(strand)) {
            while let Some(taken) = used.next_if(|&taken| taken <= next) {
                next = next.max(taken.saturating_add(1));
            }
            ids[strand] = next;
            next = next.saturating_add(1);
        }
    }
}

/// What makes attributes the same: the name, whether strands have it, and the kind of values.
type Key = (String, bool, Discriminant<Values>);

/// The attributes of the whole as they come up.
struct Columns<'a, Pay> {
    found: HashMap<Key, usize>,
    attributes: Vec<Attribute>,
    pay: &'a Pay,
}

impl<Pay: Fn(u64) -> Result<(), String>> Columns<'_, Pay> {
    /// Appends the values of a part that begins at `first` and has `count` elements; only complete ones.
    fn append<T: Default + Clone>(
        &self,
        column: &mut Vec<T>,
        first: usize,
        mut values: Vec<T>,
        count: usize,
    ) -> Result<(), String> {
        if values.len() != count || count == 0 || column.len() > first {
            return Ok(());
        }
        if column.is_empty() && first == 0 {
            *column = values;
            return Ok(());
        }
        self.lengthen(column, first)?;
        column.append(&mut values);
        Ok(())
    }

    /// Makes a column complete, if any part has it.
    fn fill<T: Default + Clone>(&self, column: &mut Vec<T>, count: usize) -> Result<(), String> {
        if column.is_empty() { Ok(()) } else { self.lengthen(column, count) }
    }

    fn lengthen<T: Default + Clone>(&self, column: &mut Vec<T>, count: usize) -> Result<(), String> {
        (self.pay)((count.saturating_sub(column.len()) * size_of::<T>()) as u64)?;
        column.resize(count.max(column.len()), T::default());
        Ok(())
    }

    /// Takes up an attribute of a part, whose first strand and first vertex are `first`, and which has `counts` of them.
    fn take(&mut self, attribute: Attribute, first: [usize; 2], counts: [usize; 2]) -> Result<(), String> {
        let Attribute { name, domain, values } = attribute;
        let of_strands = domain == Domain::Strand;
        let side = usize::from(!of_strands);
        let key = (name, of_strands, std::mem::discriminant(&values));
        let index = match self.found.get(&key) {
            Some(&index) => index,
            None => {
                let values = match &values {
                    Values::Float(_) => Values::Float(Vec::new()),
                    Values::Int(_) => Values::Int(Vec::new()),
                    Values::Vec2(_) => Values::Vec2(Vec::new()),
                    Values::Vec3(_) => Values::Vec3(Vec::new()),
                };
                self.attributes.push(Attribute { name: key.0.clone(), domain, values });
                self.found.insert(key, self.attributes.len() - 1);
                self.attributes.len() - 1
            }
        };
        let empty = Values::Float(Vec::new());
        let mut column = std::mem::replace(&mut self.attributes[index].values, empty);
        let (first, count) = (first[side], counts[side]);
        let appended = match (&mut column, values) {
            (Values::Float(column), Values::Float(values)) => self.append(column, first, values, count),
            (Values::Int(column), Values::Int(values)) => self.append(column, first, values, count),
            (Values::Vec2(column), Values::Vec2(values)) => self.append(column, first, values, count),
            (Values::Vec3(column), Values::Vec3(values)) => self.append(column, first, values, count),
            _ => Ok(()),
        };
        self.attributes[index].values = column;
        appended
    }

    /// The attributes for so many strands and vertices.
    fn finish(mut self, counts: [usize; 2]) -> Result<Vec<Attribute>, String> {
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.retain(|attribute| !attribute.values.is_empty());
        for Attribute { domain, values, .. } in &mut attributes {
            let count = counts[usize::from(*domain == Domain::Vertex)];
            match values {
                Values::Float(values) => self.fill(values, count)?,
                Values::Int(values) => self.fill(values, count)?,
                Values::Vec2(values) => self.fill(values, count)?,
                Values::Vec3(values) => self.fill(values, count)?,
            }
        }
        Ok(attributes)
    }
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec3};
    use hairloom::groom::{Curves, Root};

    use super::*;

    /// So many strands of two vertices.
    fn part(strands: u32) -> Groom {
        let offsets = (0..=strands).map(|strand| 2 * strand).collect();
        let points = vec![Vec3::X; 2 * strands as usize];
        Groom {
            curves: Curves { offsets, points },
            roots: vec![Root::Rigid; strands as usize],
            ..Groom::default()
        }
    }

    #[test]
    fn a_whole_has_what_any_part_has() {
        let (mut strands, mut guides) = (part(2), part(1));
        let attribute = |name: &str, domain, values| Attribute { name: name.to_owned(), domain, values };
        strands.widths = vec![1.0, 2.0, 3.0, 4.0];
        strands.root_uv = vec![Vec2::X, Vec2::Y];
        strands.ids = vec![0, 1];
        let closest = Values::Vec3(vec![Vec3::ZERO, Vec3::ONE]);
        strands.attributes = vec![
            attribute("closest", Domain::Strand, closest),
            attribute("both", Domain::Strand, Values::Int(vec![4, 5])),
        ];
        guides.guides = vec![true];
        guides.ids = vec![0];
        guides.attributes = vec![
            attribute("both", Domain::Strand, Values::Int(vec![6])),
            attribute("late", Domain::Vertex, Values::Float(vec![7.0, 8.0])),
            attribute("both", Domain::Strand, Values::Float(vec![0.5])),
        ];
        let whole = merge(vec![strands, guides], |_| Ok(())).unwrap();
        assert_eq!(whole.curves.offsets, [0, 2, 4, 6]);
        assert_eq!(whole.widths, [1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
        assert_eq!(whole.root_uv, [Vec2::X, Vec2::Y, Vec2::ZERO]);
        assert_eq!((whole.ids, whole.guides), (vec![0, 1, 0], vec![false, false, true]));
        let values: Vec<_> = whole.attributes.iter().map(|one| (one.name.as_str(), &one.values)).collect();
        let wanted = [
            ("closest", &Values::Vec3(vec![Vec3::ZERO, Vec3::ONE, Vec3::ZERO])),
            ("both", &Values::Int(vec![4, 5, 6])),
            ("late", &Values::Float(vec![0.0, 0.0, 0.0, 0.0, 7.0, 8.0])),
            ("both", &Values::Float(vec![0.0, 0.0, 0.5])),
        ];
        assert_eq!(values, wanted);
    }

    #[test]
    fn strands_without_identifiers_get_free_ones_of_their_kind() {
        let (mut named, mut guides) = (part(2), part(3));
        named.ids = vec![1, 0];
        guides.guides = vec![true; 3];
        let whole = merge(vec![part(2), named, guides], |_| Ok(())).unwrap();
        // Guides count for themselves: without numbers, they are meant by their order.
        assert_eq!(whole.ids, [2, 3, 1, 0, 0, 1, 2]);
        assert!(merge(vec![part(2), part(1)], |_| Ok(())).unwrap().ids.is_empty());
    }

    #[test]
    fn what_no_part_has_is_paid_for() {
        let mut named = part(1);
        named.attributes =
            vec![Attribute { name: "a".into(), domain: Domain::Vertex, values: Values::Int(vec![1, 2]) }];
        let refuse = |bytes: u64| if bytes < 8000 { Ok(()) } else { Err("too much".to_owned()) };
        assert!(merge(vec![named.clone(), part(999)], refuse).is_ok());
        assert!(merge(vec![named, part(1000)], refuse).is_err());
    }
}
