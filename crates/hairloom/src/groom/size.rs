use super::Curves;

/// Lengths between which the median strand of any hair or fur is expected [m].
const EXPECTED: [f32; 2] = [5e-4, 4.0];

impl Curves {
    /// What is told of hair of a size that no hair has: its file is in another unit than it says, or says nothing.
    pub fn unlikely_size(&self) -> Option<String> {
        let mut lengths = self.lengths();
        lengths.retain(|length| length.is_finite());
        let middle = lengths.len() / 2;
        if lengths.is_empty() {
            return None;
        }
        let median = *lengths.select_nth_unstable_by(middle, f32::total_cmp).1;
        let how = match EXPECTED {
            [least, _] if median < least => "short",
            [_, most] if median > most => "long",
            _ => return None,
        };
        Some(format!(
            "its strands are {median:.3} m {how} (the median): is that the unit of the file? say it where it is not \
             (`unit = \"cm\"` in [groom] of a scene, `--unit cm` for `hairloom groom`)"
        ))
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    #[test]
    fn hair_in_a_wrong_unit_is_told_and_other_hair_is_not() {
        let hair = |unit: f32| {
            let mut curves = Curves::default();
            for strand in 1..=9 {
                curves.push([Vec3::ZERO, Vec3::Y * unit * 5.0 * strand as f32]);
            }
            curves.unlikely_size()
        };
        assert!(hair(1.0).unwrap().contains("25.000 m long"));
        assert_eq!([hair(0.01), hair(0.1), hair(1e-3)], [None, None, None]);
        assert!(hair(1e-5).unwrap().contains("short"));
        assert_eq!(Curves::default().unlikely_size(), None);
    }
}
