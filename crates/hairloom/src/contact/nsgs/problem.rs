use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::{BlockMatrix, ProblemError};

/// A one-step problem in reduced form (equation 4): `u = W r + b`, and Coulomb's law at each contact. Vectors are (normal,
/// tangent, tangent).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Problem {
    /// The Delassus operator W [1/kg].
    pub matrix: BlockMatrix,
    /// The relative velocities without forces, b [m/s].
    pub offset: Vec<DVec3>,
    /// The coefficients of friction μ.
    pub friction: Vec<f64>,
}

/// A block of W may differ from its mirror image by this part of it.
const MENDED_ASYMMETRY: f64 = 0.01;
/// Beyond this friction, what friction asks of normal velocities drowns in the rounding of tangential ones, even of contacts that are about as
/// heavy all around.
const MOST_FRICTION: f64 = 1.0e6;
/// Numbers beyond this would overflow when squared.
const LARGEST: f64 = 1.0e100;
/// Rounding of what wrote the problem is no asymmetry.
const ROUNDING: f64 = 1.0e-12;

impl Problem {
    /// Checks sizes and numbers, and makes W symmetric where it is nearly so. Returns how far its worst block was from
    /// that, in parts of the block, where it was more than rounding.
    pub fn checked(mut self) -> Result<(Self, Option<f64>), ProblemError> {
        let contacts = self.offset.len();
        if contacts == 0 {
            return Err(ProblemError::Empty);
        }
        let sizes = [("mu", self.friction.len()), ("rows of W", self.matrix.rows())];
        if let Some(&(what, given)) = sizes.iter().find(|(_, given)| *given != contacts) {
            return Err(ProblemError::WrongSize { what, given, expected: contacts });
        }
        for contact in 0..contacts {
            self.check_contact(contact)?;
        }
        let asymmetry = self.matrix.asymmetry();
        if asymmetry > MENDED_ASYMMETRY {
            return Err(ProblemError::Asymmetric { asymmetry });
        }
        if asymmetry > 0.0 {
            self.matrix = self.matrix.symmetrised();
        }
        Ok((self, (asymmetry > ROUNDING).then_some(asymmetry)))
    }

    fn check_contact(&self, contact: usize) -> Result<(), ProblemError> {
        let value = self.friction[contact];
        if !(0.0..=MOST_FRICTION).contains(&value) {
            return Err(ProblemError::BadFriction { contact, value });
        }
        let ordinary = |values: &[f64]| values.iter().all(|value| value.abs() <= LARGEST);
        if !ordinary(&self.offset[contact].to_array()) {
            return Err(ProblemError::NotFinite { what: "b", contact });
        }
        if !self.matrix.row(contact).all(|(_, block)| ordinary(&block.to_cols_array())) {
            return Err(ProblemError::NotFinite { what: "W", contact });
        }
        let diagonal = self.matrix.diagonal(contact);
        let least = diagonal.x_axis.x.min(diagonal.y_axis.y).min(diagonal.z_axis.z);
        if least < 0.0 {
            return Err(ProblemError::NegativeDiagonal { contact, value: least });
        }
        Ok(())
    }

    /// The problem of some contacts alone, in rising order or not, as if the others had no forces.
    pub(super) fn restricted(&self, contacts: &[usize]) -> Self {
        let mut place = vec![u32::MAX; self.offset.len()];
        for (index, &contact) in contacts.iter().enumerate() {
            place[contact] = index as u32;
        }
        let row = |&contact: &usize| {
            let blocks = self.matrix.row(contact).filter(|&(column, _)| place[column] != u32::MAX);
            let mut blocks: Vec<(u32, DMat3)> =
                blocks.map(|(column, block)| (place[column], *block)).collect();
            blocks.sort_by_key(|&(column, _)| column);
            blocks
        };
        Self {
            matrix: BlockMatrix::from_rows(contacts.iter().map(row).collect()),
            offset: contacts.iter().map(|&contact| self.offset[contact]).collect(),
            friction: contacts.iter().map(|&contact| self.friction[contact]).collect(),
        }
    }

    /// The relative velocities under forces [m/s].
    pub fn velocities(&self, forces: &[DVec3]) -> Vec<DVec3> {
        let rows = (0..self.offset.len()).into_par_iter().with_min_len(1024);
        rows.map(|row| self.offset[row] + self.matrix.row_product(row, forces)).collect()
    }
}
