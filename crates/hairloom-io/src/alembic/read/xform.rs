//! Where objects are: transforms as stacks of operations.

use glam::{DMat4, DVec3};

use super::archive::Schema;
use super::reader::Result;
use super::session::{Property, Session};

/// The memory that the place of an object takes [bytes].
const PLACE_BYTES: u64 = 192;

/// The transform of one object to the one above.
struct Local {
    matrix: DMat4,
    /// Whether the transforms of the objects above count.
    inherits: bool,
}

impl Session<'_> {
    /// The transform from an object to the world, at a time [s].
    pub(super) fn world_from(&self, object: u32, time: f64) -> Result<DMat4> {
        let objects = &self.archive.objects;
        let mut places = self.places.borrow_mut();
        let mut above = object;
        let mut unknown = Vec::new();
        let key = |object: u32| (object, time.to_bits());
        while above != 0 && !places.contains_key(&key(above)) {
            unknown.push(above);
            above = objects[above as usize].parent;
        }
        let mut matrix = places.get(&key(above)).copied().unwrap_or(DMat4::IDENTITY);
        for &object in unknown.iter().rev() {
            self.reader.pay(PLACE_BYTES, objects[object as usize].group)?;
            if objects[object as usize].schema == Schema::Xform {
                let local = self.local(object, time)?;
                matrix = if local.inherits { matrix * local.matrix } else { local.matrix };
            }
            places.insert(key(object), matrix);
        }
        Ok(matrix)
    }

    fn local(&self, object: u32, time: f64) -> Result<Local> {
        let mut local = Local { matrix: DMat4::IDENTITY, inherits: true };
        let Some(xform) = self.compound(&self.properties(object)?, ".xform")? else { return Ok(local) };
        if let Some(inherits) = self.property(&xform, ".inherits")? {
            let sample = self.bracket(&inherits, time)?.before;
            local.inherits = self.integers(&inherits, sample)?.first() != Some(&0);
        }
        let (Some(operations), Some(values)) =
            (self.property(&xform, ".ops")?, self.property(&xform, ".vals")?)
        else {
            return Ok(local);
        };
        let channels = self.channels(&values, time)?;
        let mut rest = channels.as_slice();
        for code in self.integers(&operations, 0)? {
            let Some(matrix) = operation(code, &mut rest) else {
                let problem = format!("operation {code} of its transform is unknown or lacks values");
                return Err(self.archive.problem(object, problem));
            };
            local.matrix *= matrix;
        }
        Ok(local)
    }

    /// The values of all operations, linear between samples.
    fn channels(&self, values: &Property, time: f64) -> Result<Vec<f64>> {
        let bracket = self.bracket(values, time)?;
        let mut channels = self.doubles(values, bracket.before)?;
        if bracket.share > 0.0 {
            let next = self.doubles(values, bracket.after)?;
            if next.len() == channels.len() {
                let pairs = channels.iter_mut().zip(next);
                pairs.for_each(|(now, next)| *now += (next - *now) * bracket.share);
            }
        }
        Ok(channels)
    }

    /// The properties of an object that make its transform change.
    pub(super) fn xform_samples(&self, object: u32) -> Result<Vec<Property>> {
        let Some(xform) = self.compound(&self.properties(object)?, ".xform")? else { return Ok(Vec::new()) };
        let found = [self.property(&xform, ".vals")?, self.property(&xform, ".inherits")?];
        Ok(found.into_iter().flatten().collect())
    }
}

/// The matrix of an operation, whose values are taken from the front of `values`.
fn operation(code: i32, values: &mut &[f64]) -> Option<DMat4> {
    // The lower four bits only hint at what an operation is meant for.
    let kind = code >> 4;
    let count = match kind {
        0 | 1 => 3,
        2 => 4,
        3 => 16,
        4..=6 => 1,
        _ => return None,
    };
    let (taken, rest) = values.split_at_checked(count)?;
    *values = rest;
    Some(match kind {
        0 => DMat4::from_scale(DVec3::from_slice(taken)),
        1 => DMat4::from_translation(DVec3::from_slice(taken)),
        2 => match DVec3::from_slice(taken).try_normalize() {
            Some(axis) => DMat4::from_axis_angle(axis, taken[3].to_radians()),
            None => DMat4::IDENTITY,
        },
        // Rows of row vectors are columns of column vectors.
        3 => DMat4::from_cols_slice(taken),
        4 => DMat4::from_rotation_x(taken[0].to_radians()),
        5 => DMat4::from_rotation_y(taken[0].to_radians()),
        _ => DMat4::from_rotation_z(taken[0].to_radians()),
    })
}
