use thiserror::Error;

use super::plan::Plan;
use super::{Domain, Groom, Root};

/// The diameter that a vertex without a usable one gets [m].
pub const DEFAULT_WIDTH: f32 = 7e-5;

/// Edges shorter than this count as having no length [m].
pub const SHORTEST_EDGE: f32 = 1e-6;

/// A position farther than this from the origin, along any axis, is taken for a mistake [m]: single precision has
/// no more than decimetres left there.
pub const FARTHEST: f32 = 1e6;

/// What is wrong with a groom.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GroomError {
    /// There are no strands.
    #[error("the groom has no strands with at least two distinct vertices; expected one or more")]
    Empty,
    /// The offsets do not describe the points.
    #[error(
        "the strand offsets are broken at entry {entry}: they must begin with 0, never fall, and end with the \
         number of points ({points})"
    )]
    Offsets {
        /// The first bad entry.
        entry: usize,
        /// The number of points.
        points: usize,
    },
    /// A column has the wrong size.
    #[error("`{column}` has {found} values where {expected} are expected (one for each {element})")]
    Column {
        /// Name of the column.
        column: String,
        /// What each value belongs to.
        element: &'static str,
        /// How many values there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A coordinate is not a finite number.
    #[error(
        "strand {strand}, vertex {vertex}: the position is not finite; export the groom again without it"
    )]
    NotFinite {
        /// Index of the strand.
        strand: usize,
        /// Index of the vertex on the strand.
        vertex: usize,
    },
    /// A coordinate is far out of this world.
    #[error(
        "strand {strand}, vertex {vertex}: the position ({:e}, {:e}, {:e}) m is more than 1000 km from the origin; \
         check the units of the file, and export the groom again near the origin",
        position[0], position[1], position[2]
    )]
    TooFar {
        /// Index of the strand.
        strand: usize,
        /// Index of the vertex on the strand.
        vertex: usize,
        /// Where it is [m].
        position: [f32; 3],
    },
    /// A strand is too short.
    #[error("strand {strand} has {vertices} vertices; at least two are needed (repairing drops it)")]
    TooFewVertices {
        /// Index of the strand.
        strand: usize,
        /// How many vertices it has.
        vertices: usize,
    },
    /// Two consecutive points coincide.
    #[error(
        "strand {strand}: vertices {vertex} and {} coincide; points must be distinct (repairing merges them)",
        vertex + 1
    )]
    Coincident {
        /// Index of the strand.
        strand: usize,
        /// Index of the first of the two on the strand.
        vertex: usize,
    },
    /// A diameter is not positive.
    #[error("strand {strand}, vertex {vertex}: width {width} is not a positive number of metres")]
    Width {
        /// Index of the strand.
        strand: usize,
        /// Index of the vertex on the strand.
        vertex: usize,
        /// The diameter [m].
        width: f32,
    },
    /// Barycentric weights are unusable.
    #[error("strand {strand}: the root's barycentric weights {weights:?} must be finite and sum to one")]
    Weights {
        /// Index of the strand.
        strand: usize,
        /// The weights.
        weights: [f32; 3],
    },
    /// A strand was asked for that does not exist.
    #[error("strand {strand} was asked for, but the groom has {strands} strands, counted from 0")]
    NoSuchStrand {
        /// The index asked for.
        strand: usize,
        /// How many strands there are.
        strands: usize,
    },
}

/// How often each repair was made, so that a caller can warn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Strands dropped because fewer than two distinct vertices were left.
    pub dropped_strands: usize,
    /// Vertices merged into the one before them.
    pub merged_vertices: usize,
    /// Widths missing, non-positive or not finite, set to [`DEFAULT_WIDTH`].
    pub defaulted_widths: usize,
    /// Strands that came without any root binding and are now held rigidly.
    pub defaulted_roots: usize,
}

impl std::fmt::Display for Repairs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = [
            (self.dropped_strands, "strands without two distinct vertices were dropped"),
            (self.merged_vertices, "duplicate vertices were merged"),
            (self.defaulted_widths, "missing or impossible widths were set to 0.07 mm"),
            (self.defaulted_roots, "strands without a root binding are held rigidly"),
        ];
        let done = counts.iter().filter(|(count, _)| *count > 0);
        let texts: Vec<String> = done.map(|(count, what)| format!("{count} {what}")).collect();
        formatter.write_str(&texts.join(", "))
    }
}

impl Repairs {
    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Groom {
    /// Checks everything that the rest of Hairloom relies on: the sizes of all columns, rising offsets, finite
    /// coordinates, two or more vertices on each strand, edges longer than [`SHORTEST_EDGE`], positive widths.
    pub fn validate(&self) -> Result<(), GroomError> {
        self.check_structure()?;
        self.check_column("roots", self.roots.len(), Domain::Strand)?;
        self.check_column("widths", self.widths.len(), Domain::Vertex)?;
        if self.strands() == 0 {
            return Err(GroomError::Empty);
        }
        self.check_positions()?;
        for (strand, points) in self.curves.iter().enumerate() {
            if points.len() < 2 {
                return Err(GroomError::TooFewVertices { strand, vertices: points.len() });
            }
            if let Some(vertex) = points.windows(2).position(|edge| edge[0].distance(edge[1]) < SHORTEST_EDGE)
            {
                return Err(GroomError::Coincident { strand, vertex });
            }
            let widths = &self.widths[self.curves.range(strand)];
            if let Some(vertex) = widths.iter().position(|&width| !is_width(width)) {
                return Err(GroomError::Width { strand, vertex, width: widths[vertex] });
            }
            if let Root::Triangle { weights, .. } = self.roots[strand] {
                let sum: f32 = weights.iter().sum();
                if sum.is_nan() || (sum - 1.0).abs() > 1e-3 {
                    return Err(GroomError::Weights { strand, weights });
                }
            }
        }
        Ok(())
    }

    /// Mends what has one obvious remedy, and counts it:
    /// - consecutive points closer than [`SHORTEST_EDGE`] are merged; the first stays, with its values,
    /// - strands with fewer than two vertices left are dropped,
    /// - widths that are missing, non-positive or not finite become [`DEFAULT_WIDTH`],
    /// - where no roots are given at all, every strand is held rigidly.
    ///
    /// Anything else (broken offsets, columns of the wrong size, coordinates that are not finite) stays as it
    /// is, for [`Groom::validate`] to report.
    pub fn repair(mut self) -> (Groom, Repairs) {
        let mut repairs = Repairs::default();
        if self.check_structure().is_err() {
            return (self, repairs);
        }
        if self.roots.is_empty() && self.strands() > 0 {
            repairs.defaulted_roots = self.strands();
            self.roots = vec![Root::Rigid; self.strands()];
        }
        if self.widths.is_empty() {
            self.widths = vec![0.0; self.vertices()];
        }
        self.merge_and_drop(&mut repairs);
        for width in self.widths.iter_mut().filter(|width| !is_width(**width)) {
            *width = DEFAULT_WIDTH;
            repairs.defaulted_widths += 1;
        }
        (self, repairs)
    }

    /// Checks the least that can be drawn: columns that fit, and positions that are finite and of this world.
    pub fn check_shape(&self) -> Result<(), GroomError> {
        self.check_structure()?;
        self.check_positions()
    }

    /// [`Groom::repair`], then [`Groom::validate`]. Unusable positions are looked for first, so that the error
    /// names the strand by its index in the groom as given.
    pub fn checked(self) -> Result<(Groom, Repairs), GroomError> {
        self.check_shape()?;
        let (groom, repairs) = self.repair();
        groom.validate()?;
        Ok((groom, repairs))
    }

    fn merge_and_drop(&mut self, repairs: &mut Repairs) {
        let mut plan = Plan::new();
        let mut kept = Vec::new();
        for (index, strand) in self.curves.iter().enumerate() {
            kept.clear();
            for (vertex, point) in strand.iter().enumerate() {
                let merged =
                    kept.last().is_some_and(|&last: &usize| point.distance(strand[last]) < SHORTEST_EDGE);
                if !merged {
                    kept.push(vertex);
                }
            }
            if kept.len() < 2 {
                repairs.dropped_strands += 1;
                continue;
            }
            repairs.merged_vertices += strand.len() - kept.len();
            plan.push(index, kept.iter().map(|&vertex| vertex as f32));
        }
        if repairs.dropped_strands + repairs.merged_vertices > 0 {
            *self = plan.apply(self);
        }
    }

    /// Offsets and sizes; `roots` and `widths` may be missing altogether.
    fn check_structure(&self) -> Result<(), GroomError> {
        let (offsets, points) = (&self.curves.offsets, self.curves.points.len());
        let broken = |entry| Err(GroomError::Offsets { entry, points });
        if offsets.first() != Some(&0) {
            return broken(0);
        }
        if let Some(entry) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return broken(entry + 1);
        }
        if offsets.last().map(|&last| last as usize) != Some(points) {
            return broken(offsets.len() - 1);
        }
        let optional = [
            ("roots", self.roots.len(), Domain::Strand),
            ("widths", self.widths.len(), Domain::Vertex),
            ("root_uv", self.root_uv.len(), Domain::Strand),
            ("ids", self.ids.len(), Domain::Strand),
            ("guides", self.guides.len(), Domain::Strand),
        ];
        for (column, found, domain) in optional.into_iter().filter(|&(_, found, _)| found > 0) {
            self.check_column(column, found, domain)?;
        }
        for attribute in &self.attributes {
            self.check_column(&attribute.name, attribute.values.len(), attribute.domain)?;
        }
        Ok(())
    }

    fn check_column(&self, column: &str, found: usize, domain: Domain) -> Result<(), GroomError> {
        let (element, expected) = match domain {
            Domain::Strand => ("strand", self.strands()),
            Domain::Vertex => ("vertex", self.vertices()),
        };
        if found == expected {
            return Ok(());
        }
        Err(GroomError::Column { column: column.to_owned(), element, expected, found })
    }

    /// Checks that all positions are finite and within [`FARTHEST`]; the offsets must fit the points.
    fn check_positions(&self) -> Result<(), GroomError> {
        for (strand, points) in self.curves.iter().enumerate() {
            let unusable = |point: &glam::Vec3| !(point.abs().max_element() <= FARTHEST && point.is_finite());
            if let Some(vertex) = points.iter().position(unusable) {
                let position = points[vertex];
                return Err(match position.is_finite() {
                    true => GroomError::TooFar { strand, vertex, position: position.to_array() },
                    false => GroomError::NotFinite { strand, vertex },
                });
            }
        }
        Ok(())
    }
}

fn is_width(width: f32) -> bool {
    width.is_finite() && width > 0.0
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use proptest::prelude::*;

    use super::super::{Attribute, Curves, Domain, Groom, Root, Values};
    use super::{DEFAULT_WIDTH, FARTHEST, GroomError, Repairs};

    fn groom(strands: &[&[f32]]) -> Groom {
        let mut curves = Curves::default();
        for heights in strands {
            curves.push(heights.iter().map(|&y| Vec3::Y * y));
        }
        let (count, vertices) = (curves.strands(), curves.points.len());
        Groom { curves, roots: vec![Root::Rigid; count], widths: vec![1e-4; vertices], ..Groom::default() }
    }

    #[test]
    fn a_sound_groom_is_left_alone() {
        let sound = groom(&[&[0.0, 0.1], &[0.0, 0.1, 0.3]]);
        sound.validate().unwrap();
        let (same, repairs) = sound.clone().repair();
        assert_eq!(same, sound);
        assert!(repairs.is_empty());
    }

    #[test]
    fn short_strands_go_and_duplicates_merge_with_their_values() {
        let mut broken = groom(&[&[0.5], &[0.0, 0.1, 0.1, 0.2, 0.2], &[], &[0.0, 0.1], &[0.3, 0.3]]);
        broken.widths[1] = -1.0;
        broken.widths[4] = f32::NAN;
        broken.attributes.push(Attribute {
            name: "shade".into(),
            domain: Domain::Vertex,
            values: Values::Float((0..10).map(|k| k as f32).collect()),
        });
        assert_eq!(broken.validate(), Err(GroomError::TooFewVertices { strand: 0, vertices: 1 }));
        let (mended, repairs) = broken.repair();
        mended.validate().unwrap();
        assert_eq!(
            repairs,
            Repairs { dropped_strands: 3, merged_vertices: 2, defaulted_widths: 2, defaulted_roots: 0 }
        );
        assert_eq!(mended.ids, [1, 3]);
        assert_eq!(mended.curves.strand(0).len(), 3);
        assert_eq!(mended.attributes[0].values, Values::Float(vec![1.0, 2.0, 4.0, 6.0, 7.0]));
        assert_eq!(mended.widths, [DEFAULT_WIDTH, 1e-4, DEFAULT_WIDTH, 1e-4, 1e-4]);
    }

    #[test]
    fn missing_columns_are_filled() {
        let mut bare = groom(&[&[0.0, 0.1]]);
        bare.roots.clear();
        bare.widths.clear();
        assert!(matches!(bare.validate(), Err(GroomError::Column { .. })));
        let (mended, repairs) = bare.checked().unwrap();
        assert_eq!((repairs.defaulted_roots, repairs.defaulted_widths), (1, 2));
        assert_eq!(mended.roots, [Root::Rigid]);
    }

    #[test]
    fn positions_that_are_not_finite_are_named() {
        let mut bad = groom(&[&[0.0], &[0.0, 0.1, 0.2]]);
        bad.curves.points[3].z = f32::INFINITY;
        assert_eq!(bad.check_shape(), Err(GroomError::NotFinite { strand: 1, vertex: 2 }));
        assert_eq!(bad.checked(), Err(GroomError::NotFinite { strand: 1, vertex: 2 }));
    }

    #[test]
    fn positions_out_of_this_world_are_named_with_a_remedy() {
        for far in [-1e30, 1.1e6] {
            let mut bad = groom(&[&[0.0], &[0.0, 0.1, 0.2]]);
            bad.curves.points[2].x = far;
            let error = bad.checked().unwrap_err();
            assert_eq!(error, GroomError::TooFar { strand: 1, vertex: 1, position: [far, 0.1, 0.0] });
            let told = error.to_string();
            assert!(told.contains("strand 1, vertex 1") && told.contains("units"), "{told}");
        }
        let mut far = groom(&[&[0.0, 1.0]]);
        far.curves.points.iter_mut().for_each(|point| point.z = FARTHEST);
        assert!(far.checked().is_ok());
    }

    #[test]
    fn an_empty_groom_is_an_error() {
        assert_eq!(Groom::default().validate(), Err(GroomError::Empty));
        assert_eq!(groom(&[&[0.0]]).checked(), Err(GroomError::Empty));
    }

    #[test]
    fn broken_structure_is_reported_and_survives_repair() {
        for offsets in [vec![], vec![1, 2], vec![0, 2, 1, 2], vec![0, 3], vec![0]] {
            let mut bad = groom(&[&[0.0, 0.1]]);
            bad.curves.offsets = offsets;
            assert!(matches!(bad.validate(), Err(GroomError::Offsets { .. })));
            assert!(matches!(bad.clone().repair().0.validate(), Err(GroomError::Offsets { .. })));
        }
        let mut bad = groom(&[&[0.0, 0.1]]);
        bad.guides = vec![true, false];
        assert!(matches!(bad.checked(), Err(GroomError::Column { .. })));
    }

    proptest! {
        #[test]
        fn repair_of_anything_finite_validates_or_is_empty(
            strands in prop::collection::vec(prop::collection::vec(0u8..4, 0..6), 0..6),
        ) {
            let heights: Vec<Vec<f32>> =
                strands.iter().map(|strand| strand.iter().map(|&y| f32::from(y)).collect()).collect();
            let slices: Vec<&[f32]> = heights.iter().map(Vec::as_slice).collect();
            match groom(&slices).checked() {
                Ok((mended, _)) => prop_assert!(mended.strands() > 0),
                Err(error) => prop_assert_eq!(error, GroomError::Empty),
            }
        }
    }
}
