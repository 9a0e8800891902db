//! Frictional contact problems in JSON: one step's contacts, for `hairloom contact` and for other codes.
//!
//! Contacts are counted from 0; a contact's numbers are (normal, tangent, tangent), or (normal, tangent) in two dimensions.
//! The reduced form is `u = W r + b`, with blocks of W in any order, row-major:
//!
//! ```json
//! { "form": "reduced", "dimension": 3, "contacts": 1, "mu": [0.5], "b": [-1, 0.2, 0],
//!   "W": { "rows": [0], "cols": [0], "blocks": [[1, 0, 0, 0, 1, 0, 0, 0, 1]] } }
//! ```
//!
//! The full form is `M v − f = Hᵀ r`, `u = H v + w`, with one block of M per object, and blocks of H by contact (rows) and
//! object (columns), each with `dimension` rows of the object's degrees of freedom:
//!
//! ```json
//! { "form": "full", "dimension": 3, "contacts": 1, "mu": [0.5], "w": [0, 0, 0],
//!   "M": { "blocks": [[2, 0, 0, 0, 2, 0, 0, 0, 2]] }, "f": [0, -0.2, 0],
//!   "H": { "rows": [0], "cols": [0], "blocks": [[0, 1, 0, 0, 0, 1, 1, 0, 0]] } }
//! ```

use std::fs;
use std::io::Write;
use std::path::Path;

use glam::{DMat3, DVec3};
use hairloom::contact::nsgs::{BlockMatrix, FullProblem, JacobianBlock, Problem};
use serde::{Deserialize, Serialize};

use crate::file::write_file;
use crate::{FileError, FileProblem};

/// A contact problem as a file holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactProblem {
    /// 2 or 3. Planar contacts have a third direction in memory that nothing couples to.
    pub dimension: usize,
    /// What is known of it.
    pub form: Form,
}

/// Whether the objects' velocities are still there.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// `u = W r + b`.
    Reduced(Problem),
    /// `M v − f = Hᵀ r`, `u = H v + w`.
    Full(FullProblem),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Blocks {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cols: Vec<usize>,
    blocks: Vec<Vec<f64>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    form: Option<String>,
    dimension: Option<usize>,
    #[serde(alias = "n")]
    contacts: Option<usize>,
    mu: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<Vec<f64>>,
    #[serde(rename = "W", skip_serializing_if = "Option::is_none")]
    delassus: Option<Blocks>,
    #[serde(rename = "M", skip_serializing_if = "Option::is_none")]
    masses: Option<Blocks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<Vec<f64>>,
    #[serde(rename = "H", skip_serializing_if = "Option::is_none")]
    jacobian: Option<Blocks>,
    #[serde(rename = "w", skip_serializing_if = "Option::is_none")]
    offset: Option<Vec<f64>>,
}

/// Reads a problem. Numbers are checked by [`Problem::checked`] and [`FullProblem::assembly`]; sizes are here.
pub fn read(path: &Path) -> Result<ContactProblem, FileError> {
    let fail = |problem: FileProblem| FileError { path: path.to_owned(), problem };
    let text = fs::read(path).map_err(|error| fail(error.into()))?;
    let document: Document = serde_json::from_slice(&text).map_err(|error| {
        let hint = if error.is_syntax() { " (JSON has no NaN and no Infinity)" } else { "" };
        fail(FileProblem::Content(format!("not a contact problem: {error}{hint}")))
    })?;
    problem(document).map_err(|text| fail(FileProblem::Content(text)))
}

/// Writes a problem, in the place of an old one when it is complete. JSON has no infinity: numbers must be finite.
pub fn write(path: &Path, problem: &ContactProblem) -> Result<(), FileError> {
    let document = document(problem);
    if let Some(name) = document.not_finite() {
        let problem =
            FileProblem::Content(format!("{name} holds a number that is not finite, which JSON cannot say"));
        return Err(FileError { path: path.to_owned(), problem });
    }
    write_file(path, |out| {
        serde_json::to_writer(&mut *out, &document)
            .map_err(|error| FileProblem::Content(error.to_string()))?;
        Ok(out.write_all(b"\n")?)
    })
}

impl Document {
    /// The list that holds a number that is not finite, if any.
    fn not_finite(&self) -> Option<&'static str> {
        let vectors = [("mu", &self.mu), ("b", &self.b), ("f", &self.f), ("w", &self.offset)];
        let blocks = [("W", &self.delassus), ("M", &self.masses), ("H", &self.jacobian)];
        let is_bad = |numbers: &Vec<f64>| numbers.iter().any(|number| !number.is_finite());
        let bad_vector = vectors.into_iter().find(|(_, list)| list.as_ref().is_some_and(is_bad));
        let bad_blocks = blocks
            .into_iter()
            .find(|(_, list)| list.as_ref().is_some_and(|list| list.blocks.iter().any(is_bad)));
        bad_vector.map(|(name, _)| name).or(bad_blocks.map(|(name, _)| name))
    }
}

fn problem(document: Document) -> Result<ContactProblem, String> {
    let dimension = document.dimension.unwrap_or(3);
    if dimension != 2 && dimension != 3 {
        return Err(format!("dimension is {dimension}: expected 2 or 3"));
    }
    let friction = document.mu.ok_or("mu is missing: expected one coefficient of friction per contact")?;
    let contacts = document.contacts.unwrap_or(friction.len());
    expect("mu", friction.len(), contacts)?;
    if contacts == 0 {
        return Err("the problem has no contacts: expected at least one".to_owned());
    }
    let is_full = match document.form.as_deref() {
        Some("reduced") => false,
        Some("full") => true,
        None => document.masses.is_some(),
        Some(other) => return Err(format!("form is {other:?}: expected \"reduced\" or \"full\"")),
    };
    let vectors = |name: &str, numbers: Option<Vec<f64>>| -> Result<Vec<DVec3>, String> {
        let numbers = numbers.ok_or_else(|| format!("{name} is missing"))?;
        expect(name, numbers.len(), dimension * contacts)?;
        Ok(numbers.chunks_exact(dimension).map(vector).collect())
    };
    let form = if is_full {
        let offset = vectors("w", document.offset)?;
        let (masses, impulses) = objects(document.masses, document.f)?;
        let jacobian = jacobian(document.jacobian, dimension, contacts, &impulses)?;
        Form::Full(FullProblem { masses, impulses, jacobian, offset, friction })
    } else {
        let offset = vectors("b", document.b)?;
        let matrix = delassus(document.delassus, dimension, contacts)?;
        Form::Reduced(Problem { matrix, offset, friction })
    };
    Ok(ContactProblem { dimension, form })
}

fn expect(name: &str, given: usize, expected: usize) -> Result<(), String> {
    if given == expected { Ok(()) } else { Err(format!("{name}: {given} given, {expected} expected")) }
}

fn vector(numbers: &[f64]) -> DVec3 {
    DVec3::new(numbers[0], numbers[1], numbers.get(2).copied().unwrap_or(0.0))
}

fn triplets(name: &str, blocks: &Blocks) -> Result<(), String> {
    expect(&format!("{name}.cols"), blocks.cols.len(), blocks.rows.len())?;
    expect(&format!("{name}.blocks"), blocks.blocks.len(), blocks.rows.len())
}

fn delassus(blocks: Option<Blocks>, dimension: usize, contacts: usize) -> Result<BlockMatrix, String> {
    let blocks = blocks.ok_or("W is missing: expected { rows, cols, blocks }")?;
    triplets("W", &blocks)?;
    let mut entries = Vec::with_capacity(blocks.blocks.len());
    for (entry, numbers) in blocks.blocks.iter().enumerate() {
        expect(&format!("W.blocks[{entry}]"), numbers.len(), dimension * dimension)?;
        let mut rows = numbers.chunks_exact(dimension).map(vector);
        let mut next = || rows.next().unwrap_or(DVec3::ZERO);
        let block = DMat3::from_cols(next(), next(), next()).transpose();
        entries.push((blocks.rows[entry], blocks.cols[entry], block));
    }
    if dimension == 2 {
        lift(&mut entries);
    }
    BlockMatrix::from_triplets(contacts, entries).map_err(|error| error.to_string())
}

/// Gives planar contacts a third direction, as stiff as the others are on average.
fn lift(entries: &mut [(usize, usize, DMat3)]) {
    for (_, _, block) in entries.iter_mut().filter(|(row, column, _)| row == column) {
        let mean = 0.5 * (block.x_axis.x + block.y_axis.y);
        block.z_axis.z = if mean > 0.0 { mean } else { 1.0 };
    }
}

/// Masses and impulses, object by object.
type Objects = (Vec<Vec<f64>>, Vec<Vec<f64>>);

fn objects(masses: Option<Blocks>, impulses: Option<Vec<f64>>) -> Result<Objects, String> {
    let masses = masses.ok_or("M is missing: expected { blocks }, one for each object")?.blocks;
    let impulses = impulses.ok_or("f is missing: expected one number per degree of freedom")?;
    let mut split = vec![];
    let mut rest = &impulses[..];
    for (object, mass) in masses.iter().enumerate() {
        let freedom = mass.len().isqrt();
        if freedom == 0 || freedom * freedom != mass.len() {
            return Err(format!("M.blocks[{object}]: {} numbers, a square number expected", mass.len()));
        }
        let (own, others) = rest.split_at_checked(freedom).ok_or_else(|| {
            let total: usize = masses.iter().map(|mass| mass.len().isqrt()).sum();
            format!("f: {} given, {total} expected (the degrees of freedom of M)", impulses.len())
        })?;
        split.push(own.to_vec());
        rest = others;
    }
    expect("f", impulses.len(), impulses.len() - rest.len())?;
    Ok((masses, split))
}

fn jacobian(
    blocks: Option<Blocks>,
    dimension: usize,
    contacts: usize,
    impulses: &[Vec<f64>],
) -> Result<Vec<JacobianBlock>, String> {
    let blocks = blocks.ok_or("H is missing: expected { rows, cols, blocks }")?;
    triplets("H", &blocks)?;
    let places = blocks.rows.into_iter().zip(blocks.cols);
    let mut jacobian = Vec::with_capacity(blocks.blocks.len());
    for (entry, ((contact, object), mut values)) in places.zip(blocks.blocks).enumerate() {
        let Some(own) = impulses.get(object).filter(|_| contact < contacts) else {
            let objects = impulses.len();
            return Err(format!(
                "H: block {entry} is for contact {contact} and object {object}, but there are {contacts} contacts and {objects} objects, counted from 0"
            ));
        };
        expect(&format!("H.blocks[{entry}]"), values.len(), dimension * own.len())?;
        values.resize(3 * own.len(), 0.0);
        jacobian.push(JacobianBlock { contact, object, values });
    }
    Ok(jacobian)
}

/// Gives planar contacts of an assembled problem their third direction.
pub fn lift_planar(problem: &mut Problem) -> Result<(), hairloom::contact::nsgs::ProblemError> {
    let rows = problem.matrix.rows();
    let mut entries = Vec::with_capacity(problem.matrix.len());
    for row in 0..rows {
        entries.extend(problem.matrix.row(row).map(|(column, block)| (row, column, *block)));
    }
    lift(&mut entries);
    problem.matrix = BlockMatrix::from_triplets(rows, entries)?;
    Ok(())
}

fn document(problem: &ContactProblem) -> Document {
    let dimension = problem.dimension;
    let flat = |vectors: &[DVec3]| -> Vec<f64> {
        vectors.iter().flat_map(|vector| vector.to_array().into_iter().take(dimension)).collect()
    };
    let common = |form: &str, friction: &[f64]| Document {
        form: Some(form.to_owned()),
        dimension: Some(dimension),
        contacts: Some(friction.len()),
        mu: Some(friction.to_vec()),
        ..Document::default()
    };
    match &problem.form {
        Form::Reduced(reduced) => {
            let mut blocks = Blocks::default();
            for row in 0..reduced.matrix.rows() {
                for (column, block) in reduced.matrix.row(row) {
                    let lines = block.transpose();
                    let lines = [lines.x_axis, lines.y_axis, lines.z_axis];
                    blocks.rows.push(row);
                    blocks.cols.push(column);
                    blocks.blocks.push(flat(&lines[..dimension]));
                }
            }
            let b = Some(flat(&reduced.offset));
            Document { b, delassus: Some(blocks), ..common("reduced", &reduced.friction) }
        }
        Form::Full(full) => {
            let mut blocks = Blocks::default();
            for block in &full.jacobian {
                blocks.rows.push(block.contact);
                blocks.cols.push(block.object);
                blocks.blocks.push(block.values[..block.values.len() / 3 * dimension].to_vec());
            }
            Document {
                offset: Some(flat(&full.offset)),
                masses: Some(Blocks { blocks: full.masses.clone(), ..Blocks::default() }),
                f: Some(full.impulses.concat()),
                jacobian: Some(blocks),
                ..common("full", &full.friction)
            }
        }
    }
}
