use std::ops::Range;

use glam::DVec3;

use super::{Forces, Hair, RestError};

/// Least force that counts as compression, in weights of a mean free vertex.
pub(super) const PRESSED: f64 = 1e-3;

impl Hair<'_> {
    /// Whether there is one position and one flag for each vertex.
    pub(super) fn check(&self) -> Result<(), RestError> {
        let vertices = self.model.vertices();
        for (column, given) in [("positions", self.positions.len()), ("held", self.held.len())] {
            if given != vertices {
                return Err(RestError::WrongCount { column, given, vertices });
            }
        }
        Ok(())
    }

    /// Weight of a vertex [N].
    pub(super) fn weight(&self, vertex: usize) -> DVec3 {
        self.gravity * f64::from(self.model.masses[vertex])
    }

    /// Weights of all vertices [N].
    pub(super) fn weights(&self) -> Vec<DVec3> {
        (0..self.model.vertices()).map(|vertex| self.weight(vertex)).collect()
    }

    /// Weight of a mean free vertex [N].
    pub(super) fn mean_weight(&self) -> f64 {
        let free = self.held.iter().zip(&self.model.masses).filter(|(held, _)| !**held);
        let (mass, count) =
            free.fold((0.0, 0usize), |(sum, count), (_, &mass)| (sum + f64::from(mass), count + 1));
        self.gravity.length() * mass / count.max(1) as f64
    }

    /// Segments that such forces press [%].
    pub(super) fn compressed(&self, forces: &[DVec3]) -> f64 {
        let least = PRESSED * self.mean_weight();
        let (mut count, mut pressed) = (0usize, 0usize);
        for strand in 0..self.model.strands() {
            for vertex in self.model.range(strand).skip(1) {
                let along = (self.positions[vertex] - self.positions[vertex - 1]).normalize_or_zero();
                count += 1;
                pressed += usize::from(forces[vertex - 1].dot(along) > least);
            }
        }
        100.0 * pressed as f64 / count.max(1) as f64
    }
}

/// Every strand carries itself, without contact: exact, and as fast as hair can be read. Vertices between two that are held hang from
/// both, with the smallest sum of squared forces.
pub fn own_weight(hair: &Hair<'_>) -> Result<Forces, RestError> {
    let segments = carry(hair, &hair.weights())?;
    let stresses = vec![[0.0; 6]; segments.len()];
    Ok(Forces { segments, stresses, cell: None, contacts: Vec::new() })
}

/// Forces of segments by which every strand carries `loads` of its vertices, weight included [N].
pub(super) fn carry(hair: &Hair<'_>, loads: &[DVec3]) -> Result<Vec<DVec3>, RestError> {
    hair.check()?;
    let mut segments = vec![DVec3::ZERO; loads.len()];
    for strand in 0..hair.model.strands() {
        let range = hair.model.range(strand);
        let holds: Vec<usize> = range.clone().filter(|&vertex| hair.held[vertex]).collect();
        let (Some(&first), Some(&last)) = (holds.first(), holds.last()) else {
            if hair.gravity == DVec3::ZERO {
                continue;
            }
            return Err(RestError::Unsupported { strand });
        };
        hang_towards_tip(last..range.end, loads, &mut segments);
        hang_towards_root(range.start..first + 1, loads, &mut segments);
        for pair in holds.windows(2) {
            hang_between(pair[0]..pair[1] + 1, loads, &mut segments);
        }
    }
    Ok(segments)
}

/// All vertices behind the first of `range`, which alone is held, hang from it.
fn hang_towards_tip(range: Range<usize>, loads: &[DVec3], segments: &mut [DVec3]) {
    let mut carried = DVec3::ZERO;
    for vertex in range.skip(1).rev() {
        carried -= loads[vertex];
        segments[vertex - 1] = carried;
    }
}

/// All vertices before the last of `range`, which alone is held, hang from it.
fn hang_towards_root(range: Range<usize>, loads: &[DVec3], segments: &mut [DVec3]) {
    let mut carried = DVec3::ZERO;
    for vertex in range.start..range.end - 1 {
        carried += loads[vertex];
        segments[vertex] = carried;
    }
}

/// The vertices between the first and the last of `range`, which are held, hang from both.
fn hang_between(range: Range<usize>, loads: &[DVec3], segments: &mut [DVec3]) {
    let (first, last) = (range.start, range.end - 1);
    let (mut carried, mut sum) = (DVec3::ZERO, DVec3::ZERO);
    for (vertex, segment) in (first..last).zip(&mut segments[first..last]) {
        if vertex > first {
            carried += loads[vertex];
        }
        *segment = carried;
        sum += carried;
    }
    let mean = sum / (last - first) as f64;
    for force in &mut segments[first..last] {
        *force -= mean;
    }
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};

    use super::*;
    use crate::groom::Curves;
    use crate::scene::{Material, MaterialPreset, Model};

    fn model() -> Model {
        let points =
            (0..14).map(|i| Vec3::new(0.01 * (i % 7) as f32, 0.003 * (i * i % 5) as f32, 0.1)).collect();
        let curves = Curves { offsets: vec![0, 7, 14], points };
        Model::new(&curves, &Material::preset(MaterialPreset::Wavy)).unwrap()
    }

    fn balance(holds: &[usize]) {
        let model = model();
        let positions: Vec<DVec3> = model.groomed.iter().map(|p| p.as_dvec3()).collect();
        let mut held = vec![false; 14];
        holds.iter().for_each(|&vertex| held[vertex] = true);
        let gravity = DVec3::new(0.4, -9.81, 0.0);
        let hair = Hair { model: &model, positions: &positions, held: &held, gravity };
        let forces = own_weight(&hair).unwrap().segments;
        for vertex in (0..14).filter(|&vertex| !held[vertex]) {
            let before = if vertex % 7 == 0 { DVec3::ZERO } else { forces[vertex - 1] };
            let left = before - forces[vertex] + hair.weight(vertex);
            assert!(left.length() < 1e-14 * hair.weight(vertex).length().max(1.0), "{vertex}: {left}");
        }
        assert_eq!((forces[6], forces[13]), (DVec3::ZERO, DVec3::ZERO));
    }

    #[test]
    fn every_free_vertex_is_carried() {
        balance(&[0, 7]);
        balance(&[0, 1, 13]);
        balance(&[3, 7, 13]);
        balance(&[0, 4, 6, 9]);
    }

    #[test]
    fn strands_that_nothing_holds_fall() {
        let model = model();
        let positions: Vec<DVec3> = model.groomed.iter().map(|p| p.as_dvec3()).collect();
        let mut held = [false; 14];
        held[0] = true;
        let hair = Hair { model: &model, positions: &positions, held: &held, gravity: DVec3::NEG_Y };
        assert_eq!(own_weight(&hair), Err(RestError::Unsupported { strand: 1 }));
        assert!(own_weight(&Hair { gravity: DVec3::ZERO, ..hair }).is_ok());
        assert!(own_weight(&Hair { held: &held[1..], ..hair }).is_err());
    }
}
