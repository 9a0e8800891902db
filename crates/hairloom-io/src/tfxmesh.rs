//! TressFX collision meshes (`.tfxmesh`): the skin beside a `.tfx` file, as text.
//!
//! Lines of words; `#` begins a comment. `numOfBones` with a line for each bone (index, name), `numOfVertices` with a line for
//! each vertex (index, position, normal, four bones and their weights), `numOfTriangles` with a line for each triangle (index,
//! three vertices). The mesh is taken as it stands: bones are left out, as what moves them is in no file of TressFX's.
//! Neither unit nor axes are stated: the numbers are taken as metres, y up.

use std::str::FromStr;

use glam::Vec3;
use hairloom::body::TriMesh;

use crate::file::FileProblem;

/// The lines that say something, with their numbers from 1.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        while !self.rest.is_empty() {
            self.number += 1;
            let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
            let (line, after) = self.rest.split_at(end);
            self.rest = after.get(1..).unwrap_or_default();
            // What is not text is no number either.
            let line = str::from_utf8(line).unwrap_or("?").trim();
            if !line.is_empty() && !line.starts_with('#') {
                return Some(line);
            }
        }
        None
    }

    /// The number after the name of a part, which comes next.
    fn count(&mut self, name: &str) -> Result<usize, FileProblem> {
        let line = self.next().unwrap_or("the end");
        let count = line.strip_prefix(name).and_then(|rest| rest.trim().parse().ok());
        count.ok_or_else(|| self.problem(&format!("'{name}' and a number"), line))
    }

    /// The numbers after the index of a line.
    fn row<T: FromStr>(&mut self, what: &str) -> Result<[T; 3], FileProblem> {
        let line = self.next().unwrap_or("the end");
        let mut words = line.split_ascii_whitespace().skip(1).map(|word| word.parse().ok());
        let mut word = || words.next().flatten();
        let row = (|| Some([word()?, word()?, word()?]))();
        row.ok_or_else(|| self.problem(&format!("an index and {what}"), line))
    }

    fn problem(&self, expected: &str, found: &str) -> FileProblem {
        let found: String = found.chars().take(60).collect();
        FileProblem::content(format!("line {}: expected {expected}, found '{found}'", self.number))
    }
}

/// The mesh in the bytes of a file, in the file's own unit and axes.
pub fn parse(bytes: &[u8]) -> Result<TriMesh, FileProblem> {
    let mut lines = Lines { rest: bytes, number: 0 };
    for _ in 0..lines.count("numOfBones")? {
        lines.next().ok_or_else(|| lines.problem("the name of a bone", "the end"))?;
    }
    let mut mesh = TriMesh::default();
    for _ in 0..lines.count("numOfVertices")? {
        mesh.points.push(Vec3::from_array(lines.row::<f32>("a position of three numbers")?));
    }
    for _ in 0..lines.count("numOfTriangles")? {
        let corners = lines.row::<u32>("three vertices")?;
        if let Some(corner) = corners.iter().find(|&&corner| corner as usize >= mesh.points.len()) {
            let count = mesh.points.len();
            let problem = format!("line {}: vertex {corner} of {count}, counted from 0", lines.number);
            return Err(FileProblem::Content(problem));
        }
        mesh.triangles.push(corners);
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::parse;

    const GOOD: &str = "# a comment\nnumOfBones 1\n0 root\nnumOfVertices 3\n# index, position, normal, bones, weights\n\
        0 0 0 0 0 0 1 0 0 0 0 1 0 0 0\r\n1 1 0 0 0 0 1\n2 0 2.5e-1 0\nnumOfTriangles 1\n0 0 1 2\n";

    #[test]
    fn a_mesh_is_read() {
        let mesh = parse(GOOD.as_bytes()).unwrap();
        assert_eq!(mesh.points, [Vec3::ZERO, Vec3::X, Vec3::new(0.0, 0.25, 0.0)]);
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (from, to, expected) in [
            ("numOfBones 1", "numOfBones x", "line 2: expected 'numOfBones' and a number"),
            ("numOfVertices 3", "numOfVertices 4", "line 9: expected an index and a position"),
            ("0 0 1 2\n", "0 0 1 3\n", "line 10: vertex 3 of 3"),
            ("0 0 1 2\n", "0 0 -1 2\n", "line 10: expected an index and three vertices"),
            ("numOfTriangles 1", "numOfTriangles 99999999999", "found 'the end'"),
            ("numOfBones 1", "numOfBones 99999999999", "name of a bone"),
        ] {
            let told = parse(GOOD.replace(from, to).as_bytes()).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        }
        for length in 0..GOOD.len() - 3 {
            assert!(parse(&GOOD.as_bytes()[..length]).is_err(), "{length} bytes");
        }
    }
}
