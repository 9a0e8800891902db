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

/// The length unit and the orientation of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// Metres per unit of the file [m].
    pub unit: f32,
    /// The axis that points up in the file.
    pub up: Axis,
}

impl Space {
    /// Metres, y up: the space of everything in Hairloom itself.
    pub const SCENE: Self = Self { unit: 1.0, up: Axis::Y };

    /// What makes points of another space of points of this one. Within one space points keep their bits.
    #[inline]
    pub(crate) fn conversion(self, to: Self) -> impl Fn(Vec3) -> Vec3 {
        // Of values, not of references: a loop over points then keeps them in registers.
        let factor = (self.unit != to.unit).then(|| self.factor(&to));
        move |point| {
            let turned = self.turn(&to, point);
            factor.map_or(turned, |factor| (turned.as_dvec3() * factor).as_vec3())
        }
    }

    /// A direction of this space in another.
    #[inline]
    pub(crate) fn turn(&self, to: &Self, direction: Vec3) -> Vec3 {
        match (self.up, to.up) {
            (Axis::Z, Axis::Y) => Vec3::new(direction.x, direction.z, -direction.y),
            (Axis::Y, Axis::Z) => Vec3::new(direction.x, -direction.z, direction.y),
            _ => direction,
        }
    }

    /// What a length of this space is multiplied by in another.
    #[inline]
    pub(crate) fn factor(&self, to: &Self) -> f64 {
        f64::from(self.unit) / f64::from(to.unit)
    }

    /// Whether the unit is a length that can be multiplied and divided by.
    pub(crate) fn is_valid(&self) -> bool {
        self.unit.is_normal() && self.unit > 0.0
    }

    /// A point in metres, y up, from a point of the file.
    #[inline]
    pub(crate) fn scene_from_file(&self, point: Vec3) -> Vec3 {
        let turned = match self.up {
            Axis::Y => point,
            Axis::Z => Vec3::new(point.x, point.z, -point.y),
        };
        turned * self.unit
    }

    /// A point of the file from a point in metres, y up.
    #[inline]
    pub(crate) fn file_from_scene(&self, point: Vec3) -> Vec3 {
        let scaled = point / self.unit;
        match self.up {
            Axis::Y => scaled,
            Axis::Z => Vec3::new(scaled.x, -scaled.z, scaled.y),
        }
    }
}
