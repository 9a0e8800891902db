use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::mass::{Factor, Mass};
use super::matrix::gather;
use super::{BlockMatrix, Problem, ProblemError};

/// Mirror images in a mass matrix may differ by this part of its largest entry.
const SAME: f64 = 1.0e-6;
/// Contacts that one object may be in: W has a block for any two of them, 72 bytes each.
const MOST_COUPLED: usize = 5_000;

/// How one object's velocities enter the relative velocity of one contact.
#[derive(Debug, Clone, PartialEq)]
pub struct JacobianBlock {
    /// The contact.
    pub contact: usize,
    /// The object.
    pub object: usize,
    /// Three rows (normal, tangent, tangent) of the object's degrees of freedom, one after the other.
    pub values: Vec<f64>,
}

/// A one-step problem in full form (equation 3): `M v − f = Hᵀ r`, `u = H v + w`, and Coulomb's law at each contact.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FullProblem {
    /// The mass matrix M, object by object: symmetric positive definite, row-major.
    pub masses: Vec<Vec<f64>>,
    /// The impulses f without contacts, object by object.
    pub impulses: Vec<Vec<f64>>,
    /// The blocks of H that are not zero.
    pub jacobian: Vec<JacobianBlock>,
    /// The relative velocities w where no object moves [m/s].
    pub offset: Vec<DVec3>,
    /// The coefficients of friction μ.
    pub friction: Vec<f64>,
}

/// A problem in full form with its masses factored: what turns it into the reduced form, and forces into velocities.
#[derive(Debug)]
pub struct Assembly<'a> {
    full: &'a FullProblem,
    /// Lower triangles of the masses.
    factors: Vec<Factor>,
    /// Velocities without contacts, M⁻¹ f.
    free: Vec<Vec<f64>>,
    /// `L⁻¹ Hᵀ` of each block of H, column by column.
    whitened: Vec<Vec<[f64; 3]>>,
}

impl FullProblem {
    /// Checks sizes and factors the masses, each object on its own.
    pub fn assembly(&self) -> Result<Assembly<'_>, ProblemError> {
        self.check()?;
        let masses = self.masses.par_iter().zip(&self.impulses);
        let factors: Vec<Option<Factor>> =
            masses.map(|(mass, impulses)| Mass::from_rows(mass, impulses.len()).factored()).collect();
        if let Some(object) = factors.iter().position(Option::is_none) {
            return Err(ProblemError::BadMass { object });
        }
        let factors: Vec<Factor> = factors.into_iter().flatten().collect();
        let mut free = self.impulses.clone();
        free.par_iter_mut().zip(&factors).for_each(|(free, factor)| factor.solve(free));
        let whitened = self.jacobian.par_iter().map(|block| whitened(block, &factors[block.object]));
        let whitened = whitened.collect();
        Ok(Assembly { full: self, factors, free, whitened })
    }

    /// The same problem without objects that are in no contact.
    pub fn without_idle(&self) -> Self {
        let mut place = vec![usize::MAX; self.masses.len()];
        let mut kept =
            Self { offset: self.offset.clone(), friction: self.friction.clone(), ..Self::default() };
        for block in &self.jacobian {
            let own = &mut place[block.object];
            if *own == usize::MAX {
                *own = kept.masses.len();
                kept.masses.push(self.masses[block.object].clone());
                kept.impulses.push(self.impulses[block.object].clone());
            }
            kept.jacobian.push(JacobianBlock { object: *own, ..block.clone() });
        }
        kept
    }

    fn check(&self) -> Result<(), ProblemError> {
        let (contacts, objects) = (self.offset.len(), self.masses.len());
        if contacts == 0 {
            return Err(ProblemError::Empty);
        }
        let wrong = |what, given, expected| Err(ProblemError::WrongSize { what, given, expected });
        if self.friction.len() != contacts {
            return wrong("mu", self.friction.len(), contacts);
        }
        if self.impulses.len() != objects {
            return wrong("objects in f", self.impulses.len(), objects);
        }
        for (object, (mass, impulses)) in self.masses.iter().zip(&self.impulses).enumerate() {
            if mass.len() != impulses.len() * impulses.len() {
                return wrong("numbers in a block of M", mass.len(), impulses.len() * impulses.len());
            }
            if !mass.iter().chain(impulses).all(|value| value.is_finite()) {
                return Err(ProblemError::BadMass { object });
            }
            let size = impulses.len();
            let largest = mass.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            let differs = |row: usize, column: usize| {
                (mass[row * size + column] - mass[column * size + row]).abs() > SAME * largest
            };
            if (0..size).any(|row| (0..row).any(|column| differs(row, column))) {
                return Err(ProblemError::AsymmetricMass { object });
            }
        }
        for (entry, block) in self.jacobian.iter().enumerate() {
            let JacobianBlock { contact, object, .. } = *block;
            if contact >= contacts || object >= objects {
                return Err(ProblemError::JacobianOutside { entry, contact, object, contacts, objects });
            }
            let (given, expected) = (block.values.len(), 3 * self.impulses[object].len());
            if given != expected {
                return Err(ProblemError::JacobianSize { entry, given, expected });
            }
            if !block.values.iter().all(|value| value.is_finite()) {
                return Err(ProblemError::NotFinite { what: "H", contact });
            }
        }
        let mut contacts_of = vec![0; objects];
        self.jacobian.iter().for_each(|block| contacts_of[block.object] += 1);
        match contacts_of.iter().position(|&contacts| contacts > MOST_COUPLED) {
            Some(object) => {
                let contacts = contacts_of[object];
                Err(ProblemError::TooCoupled { object, contacts, most: MOST_COUPLED })
            }
            None => Ok(()),
        }
    }
}

impl Assembly<'_> {
    /// The reduced form: `W = H M⁻¹ Hᵀ`, `b = w + H M⁻¹ f`.
    pub fn reduced(&self) -> Problem {
        let all: Vec<usize> = (0..self.full.offset.len()).collect();
        let friction = self.full.friction.clone();
        Problem { matrix: self.operator(&all), offset: self.offsets(), friction }
    }

    /// The operator W between some contacts, in rising order. With `Y = L⁻¹ Hᵀ` for each block of H, every block of W is a
    /// sum of products of two of them, for the objects that its contacts share: O(N m³ + η m), and half of it by symmetry.
    pub(super) fn operator(&self, contacts: &[usize]) -> BlockMatrix {
        let full = self.full;
        let mut place = vec![usize::MAX; full.offset.len()];
        contacts.iter().enumerate().for_each(|(index, &contact)| place[contact] = index);
        let (blocks, whitened): (Vec<&JacobianBlock>, Vec<&Vec<[f64; 3]>>) = full
            .jacobian
            .iter()
            .zip(&self.whitened)
            .filter(|(block, _)| place[block.contact] != usize::MAX)
            .unzip();
        let mut of_contact: Vec<Vec<usize>> = vec![vec![]; contacts.len()];
        let mut of_object: Vec<Vec<usize>> = vec![vec![]; full.masses.len()];
        for (entry, block) in blocks.iter().enumerate() {
            of_contact[place[block.contact]].push(entry);
            of_object[block.object].push(entry);
        }
        let upper: Vec<Vec<(u32, DMat3)>> = of_contact
            .par_iter()
            .enumerate()
            .map(|(contact, entries)| {
                let most: usize = entries.iter().map(|&entry| of_object[blocks[entry].object].len()).sum();
                let mut row = Vec::with_capacity(1 + most);
                row.push((contact as u32, DMat3::ZERO));
                for &entry in entries {
                    let others = &of_object[blocks[entry].object];
                    let later = others.iter().filter(|&&other| place[blocks[other].contact] >= contact);
                    row.extend(later.map(|&other| {
                        (place[blocks[other].contact] as u32, product(whitened[entry], whitened[other]))
                    }));
                }
                gather(row)
            })
            .collect();
        BlockMatrix::from_upper(&upper)
    }

    /// Mean eigenvalues of the own operators of all contacts.
    pub(super) fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.full.offset.len()];
        for (block, whitened) in self.full.jacobian.iter().zip(&self.whitened) {
            let square: f64 = whitened.iter().flatten().map(|entry| entry * entry).sum();
            weights[block.contact] += square / 3.0;
        }
        weights
    }

    /// How contacts move where objects do: `H v`.
    pub(super) fn motion(&self, velocities: &[Vec<f64>]) -> Vec<DVec3> {
        let part = |block: &JacobianBlock| {
            let own = &velocities[block.object];
            let mut rows = block.values.chunks_exact(own.len().max(1));
            let mut next = || rows.next().map_or(0.0, |row| row.iter().zip(own).map(|(a, b)| a * b).sum());
            DVec3::new(next(), next(), next())
        };
        let parts: Vec<DVec3> = self.full.jacobian.par_iter().with_min_len(1_000).map(part).collect();
        let mut motion = vec![DVec3::ZERO; self.full.offset.len()];
        self.full.jacobian.iter().zip(parts).for_each(|(block, part)| motion[block.contact] += part);
        motion
    }

    /// Relative velocities without contact forces, `w + H M⁻¹ f` [m/s].
    pub fn offsets(&self) -> Vec<DVec3> {
        self.motion(&self.free)
            .into_iter()
            .zip(&self.full.offset)
            .map(|(motion, offset)| motion + *offset)
            .collect()
    }

    /// The velocities of all objects under contact forces, `v = M⁻¹ (f + Hᵀ r)`.
    pub fn velocities(&self, forces: &[DVec3]) -> Vec<Vec<f64>> {
        self.driven(self.full.impulses.clone(), forces)
    }

    /// What contact forces alone add to the velocities of all objects, `M⁻¹ Hᵀ r`.
    pub fn responses(&self, forces: &[DVec3]) -> Vec<Vec<f64>> {
        self.driven(self.full.impulses.iter().map(|impulses| vec![0.0; impulses.len()]).collect(), forces)
    }

    fn driven(&self, mut velocities: Vec<Vec<f64>>, forces: &[DVec3]) -> Vec<Vec<f64>> {
        for block in &self.full.jacobian {
            let velocity = &mut velocities[block.object];
            let force = forces.get(block.contact).copied().unwrap_or_default();
            if force == DVec3::ZERO {
                continue;
            }
            for (axis, row) in block.values.chunks_exact(velocity.len().max(1)).enumerate() {
                let force = force[axis];
                velocity.iter_mut().zip(row).for_each(|(velocity, entry)| *velocity += entry * force);
            }
        }
        velocities.par_iter_mut().zip(&self.factors).for_each(|(velocity, factor)| factor.solve(velocity));
        velocities
    }
}

/// `L⁻¹ Hᵀ` of a block of H, column by column.
fn whitened(block: &JacobianBlock, factor: &Factor) -> Vec<[f64; 3]> {
    let freedom = block.values.len() / 3;
    let mut rows = block.values.clone();
    rows.chunks_exact_mut(freedom.max(1)).for_each(|row| factor.forward(row));
    (0..freedom).map(|i| [rows[i], rows[freedom + i], rows[2 * freedom + i]]).collect()
}

/// `a bᵀ` for two blocks, given as their columns.
fn product(a: &[[f64; 3]], b: &[[f64; 3]]) -> DMat3 {
    let mut sums = [[0.0; 3]; 3];
    for (a, b) in a.iter().zip(b) {
        for j in 0..3 {
            for i in 0..3 {
                sums[j][i] += a[i] * b[j];
            }
        }
    }
    DMat3::from_cols_array_2d(&sums)
}
