use glam::Vec3;

/// The axis that points up in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Axis {
    /// The y axis, as in Hairloom itself.
    #[default]
    Y,
    /// The z axis. A point (x, y, z) of the file is (x, z, −y) in Hairloom: a quarter turn about x.
    Z,
}

/// The length unit and the orientation of a file that does not state them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Space {
    /// Metres per unit of the file.
    pub(crate) unit: f32,
    /// The axis that points up in the file.
    pub(crate) up: Axis,
}

impl Space {
    /// Whether the unit is a length that can be multiplied and divided by.
    pub(crate) fn is_valid(&self) -> bool {
        self.unit.is_normal() && self.unit > 0.0
    }

    /// A point in metres, y up, from a point of the file.
    pub(crate) fn scene_from_file(&self, point: Vec3) -> Vec3 {
        let turned = match self.up {
            Axis::Y => point,
            Axis::Z => Vec3::new(point.x, point.z, -point.y),
        };
        turned * self.unit
    }

    /// A point of the file from a point in metres, y up.
    pub(crate) fn file_from_scene(&self, point: Vec3) -> Vec3 {
        let scaled = point / self.unit;
        match self.up {
            Axis::Y => scaled,
            Axis::Z => Vec3::new(scaled.x, -scaled.z, scaled.y),
        }
    }
}
