use glam::Vec3;
use hairloom::body::TriMesh;

use super::tokens::{Statements, Words};
use super::triangulate::triangulate;
use super::{ObjMesh, ObjProblem, ReadOptions, Skipped};
use crate::space::Space;

/// How many bytes of a faulty word an error shows.
const SHOWN_BYTES: usize = 40;

/// How many names of objects an error lists.
const SHOWN_NAMES: usize = 8;

/// Reads a mesh from the bytes of an OBJ file. Time and memory grow in proportion to the bytes.
pub fn parse(bytes: &[u8], options: &ReadOptions) -> Result<ObjMesh, ObjProblem> {
    let space = Space { unit: options.unit, up: options.up };
    if !space.is_valid() {
        return Err(ObjProblem::Unit { unit: options.unit });
    }
    let mut parser = Parser::new(space, options.only.as_deref());
    for (line, words) in Statements::new(bytes) {
        parser.statement(line, words)?;
    }
    parser.finish()
}

pub(super) struct Parser<'a> {
    space: Space,
    only: Option<&'a str>,
    selected: Selection,
    names: Vec<String>,
    pub(super) points: Vec<Vec3>,
    /// The corners of all polygons; indices from 0, not yet known to be in range.
    corners: Vec<u32>,
    /// Where the corners of each polygon end.
    ends: Vec<usize>,
    /// The largest index of any corner, from 1, and its line: the one to blame if it is out of range.
    largest: (u32, usize),
    skipped: Skipped,
}

/// Whether the current object and the current groups have the name that was asked for.
#[derive(Default)]
struct Selection {
    object: bool,
    group: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(space: Space, only: Option<&'a str>) -> Self {
        Self {
            space,
            only,
            selected: Selection::default(),
            names: Vec::new(),
            points: Vec::new(),
            corners: Vec::new(),
            ends: Vec::new(),
            largest: (0, 0),
            skipped: Skipped::default(),
        }
    }

    fn statement(&mut self, line: usize, mut words: Words<'_>) -> Result<(), ObjProblem> {
        let Some(keyword) = words.next() else { return Ok(()) };
        match keyword {
            b"v" => self.vertex(line, words)?,
            b"f" | b"fo" => self.face(line, words)?,
            b"o" => {
                self.selected.object = self.matches(words);
                // A new object starts without groups.
                self.selected.group = false;
            }
            b"g" => self.selected.group = self.matches(words),
            b"l" => self.skipped.polylines += 1,
            b"p" => self.skipped.points += 1,
            b"vn" => self.skipped.normals += 1,
            b"vt" => self.skipped.texture_coordinates += 1,
            _ => self.skipped.statements += 1,
        }
        Ok(())
    }

    pub(super) fn vertex(&mut self, line: usize, mut words: Words<'_>) -> Result<(), ObjProblem> {
        let faulty = |word: &[u8]| ObjProblem::Coordinate { line, token: shown(word) };
        let mut point = [0.0; 3];
        for (found, coordinate) in point.iter_mut().enumerate() {
            let word = words.next().ok_or(ObjProblem::MissingCoordinate { line, found })?;
            *coordinate = number(word).ok_or_else(|| faulty(word))?;
        }
        // A weight or a colour. Anything else means that the line is damaged.
        for word in words {
            number(word).ok_or_else(|| faulty(word))?;
        }
        let point = self.space.scene_from_file(Vec3::from_array(point));
        if !point.is_finite() {
            return Err(ObjProblem::Coordinate { line, token: format!("{point} in metres") });
        }
        // Indices from 1 must fit as well.
        if self.points.len() >= u32::MAX as usize {
            return Err(ObjProblem::TooManyVertices { line });
        }
        self.points.push(point);
        Ok(())
    }

    fn face(&mut self, line: usize, words: Words<'_>) -> Result<(), ObjProblem> {
        let start = self.corners.len();
        for word in words {
            let corner = self.corner(line, word)?;
            if corner > self.largest.0 {
                self.largest = (corner, line);
            }
            self.corners.push(corner - 1);
        }
        if self.only.is_some() && !self.selected.object && !self.selected.group {
            self.skipped.unselected_faces += 1;
            self.corners.truncate(start);
        } else if self.corners.len() - start < 3 {
            self.skipped.short_faces += 1;
            self.corners.truncate(start);
        } else {
            self.ends.push(self.corners.len());
        }
        Ok(())
    }

    /// The vertex of a corner, from 1. Positive indices may name vertices that are yet to come.
    pub(super) fn corner(&self, line: usize, word: &[u8]) -> Result<u32, ObjProblem> {
        let faulty = || ObjProblem::Corner { line, token: shown(word) };
        let mut parts = word.split(|&byte| byte == b'/');
        let index = parts.next().and_then(integer).ok_or_else(faulty)?;
        let mut others = 0;
        for part in parts {
            others += 1;
            if others > 2 || (!part.is_empty() && integer(part).is_none()) {
                return Err(faulty());
            }
        }
        let vertices = self.points.len();
        let absolute = if index < 0 { index.saturating_add(vertices as i64 + 1) } else { index };
        match u32::try_from(absolute) {
            Ok(vertex) if vertex > 0 => Ok(vertex),
            _ => Err(ObjProblem::NoSuchVertex { line, index, vertices }),
        }
    }

    /// Whether one of the names is the one that was asked for. Names with blanks are compared as a whole too.
    fn matches(&mut self, words: Words<'_>) -> bool {
        let Some(only) = self.only else { return false };
        if self.names.len() < SHOWN_NAMES {
            for name in words.clone().map(shown) {
                if self.names.len() < SHOWN_NAMES && !self.names.contains(&name) {
                    self.names.push(name);
                }
            }
        }
        words.clone().any(|name| name == only.as_bytes())
            || words.eq(only.split_whitespace().map(str::as_bytes))
    }

    fn finish(mut self) -> Result<ObjMesh, ObjProblem> {
        let (largest, line) = self.largest;
        if largest as usize > self.points.len() {
            let vertices = self.points.len();
            return Err(ObjProblem::NoSuchVertex { line, index: i64::from(largest), vertices });
        }
        if let Some(name) = self.only
            && self.ends.is_empty()
        {
            return Err(ObjProblem::NoSuchObject { name: name.to_owned(), found: self.names });
        }
        let mut triangles = Vec::new();
        let mut start = 0;
        for &end in &self.ends {
            triangulate(&self.points, &self.corners[start..end], |[a, b, c]| {
                if a == b || b == c || c == a {
                    self.skipped.collapsed_triangles += 1;
                } else {
                    triangles.push([a, b, c]);
                }
            });
            start = end;
        }
        let mut mesh = TriMesh { points: self.points, triangles };
        if self.only.is_some() {
            drop_unused_points(&mut mesh);
        }
        Ok(ObjMesh { mesh, skipped: self.skipped })
    }
}

/// Leaves the points that a triangle uses, in their order.
fn drop_unused_points(mesh: &mut TriMesh) {
    let mut used = vec![false; mesh.points.len()];
    for &vertex in mesh.triangles.iter().flatten() {
        used[vertex as usize] = true;
    }
    let mut kept = 0;
    let new_index: Vec<u32> = (used.iter())
        .map(|&used| {
            let index = kept;
            kept += u32::from(used);
            index
        })
        .collect();
    for vertex in mesh.triangles.iter_mut().flatten() {
        *vertex = new_index[*vertex as usize];
    }
    let mut used = used.into_iter();
    mesh.points.retain(|_| used.next().unwrap_or(false));
}

fn number(word: &[u8]) -> Option<f32> {
    let number: f32 = str::from_utf8(word).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

fn integer(word: &[u8]) -> Option<i64> {
    str::from_utf8(word).ok()?.parse().ok()
}

/// A word for a message: its start, with what cannot be printed escaped.
fn shown(word: &[u8]) -> String {
    let end = word.len().min(SHOWN_BYTES);
    let dots = if end < word.len() { "…" } else { "" };
    let start = &word[..end];
    match str::from_utf8(start) {
        Ok(text) if !text.contains(char::is_control) => format!("{text}{dots}"),
        _ => format!("{}{dots}", start.escape_ascii()),
    }
}
