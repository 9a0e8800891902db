use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Groom, Skin};

/// Roots up to this far from the surface are on it [m].
const ON_SKIN: f32 = 1.0e-3;

/// Roots on one side of the skin, farther from it than a millimetre.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OffSkin {
    /// How many.
    pub strands: usize,
    /// The largest distance [m].
    pub worst: f64,
    /// Index of the strand that it belongs to.
    pub strand: usize,
}

/// Where the roots of a groom are, seen from the surface of the body that holds them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Seating {
    /// Roots in all.
    pub roots: usize,
    /// Roots above the surface.
    pub floating: OffSkin,
    /// Roots below the surface.
    pub buried: OffSkin,
}

impl OffSkin {
    fn of(heights: &[Option<f32>], sign: f32) -> Self {
        let mut off = Self::default();
        for (strand, height) in heights.iter().enumerate() {
            let Some(height) = height.map(|height| sign * height).filter(|height| *height > ON_SKIN) else {
                continue;
            };
            off.strands += 1;
            if f64::from(height) > off.worst {
                (off.worst, off.strand) = (height.into(), strand);
            }
        }
        off
    }

    fn told(&self, what: &str) -> Option<String> {
        let Self { strands, worst, strand } = *self;
        (strands > 0).then(|| format!("{strands} {what} (strand {strand} by {:.1} mm)", worst * 1000.0))
    }
}

impl Seating {
    /// Measures the roots of a groom.
    pub fn measure(groom: &Groom, skin: Skin<'_>) -> Self {
        let heights: Vec<Option<f32>> = (0..groom.strands())
            .into_par_iter()
            .with_min_len(64)
            .map(|strand| groom.curves.strand(strand).first().map(|&root| skin(root).0))
            .collect();
        Self {
            roots: heights.iter().flatten().count(),
            floating: OffSkin::of(&heights, 1.0),
            buried: OffSkin::of(&heights, -1.0),
        }
    }

    /// What is wrong and what to do about it; nothing if all roots are on the skin.
    pub fn problem(&self) -> Option<String> {
        let off = self.floating.strands + self.buried.strands;
        let sides = [self.floating.told("float above it"), self.buried.told("are buried in it")];
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        let remedy = match (2 * off > self.roots, self.buried.strands > 0) {
            (true, _) => {
                "most are off: check that groom and body have the same unit and place (`scale`, `position`), or move the \
                 strands onto it with the edit `seat`"
            }
            (false, true) => "the edit `seat` moves strands onto it, `remove-inside` removes the buried ones",
            (false, false) => "the edit `seat` moves strands onto it",
        };
        (off > 0).then(|| {
            let roots = self.roots;
            format!("of {roots} roots {} by more than 1 mm; they stay so ({remedy})", sides.join(" and "))
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::Curves;
    use super::*;

    #[test]
    fn roots_off_the_skin_are_counted_on_both_sides() {
        let mut curves = Curves::default();
        for height in [0.0, 0.0005, -0.0005, 0.002, 0.05, -0.004, -0.003] {
            curves.push([Vec3::Y * height, Vec3::Y]);
        }
        curves.push([]);
        let groom = Groom { curves, ..Groom::default() };
        let seating = Seating::measure(&groom, &|point| (point.y, Vec3::Y));
        assert_eq!((seating.roots, seating.floating.strands, seating.buried.strands), (7, 2, 2));
        assert_eq!((seating.floating.strand, seating.buried.strand), (4, 5));
        assert!((seating.floating.worst - 0.05).abs() < 1e-8 && (seating.buried.worst - 0.004).abs() < 1e-8);
        let told = seating.problem().unwrap();
        assert!(told.contains("2 float above it (strand 4 by 50.0 mm)") && told.contains("seat"), "{told}");
        assert_eq!(Seating::measure(&groom, &|_| (0.0, Vec3::Y)).problem(), None);
        assert!(Seating::measure(&groom, &|_| (3.0, Vec3::Y)).problem().unwrap().contains("unit"));
    }
}
