use std::path::Path;

use glam::Vec3;
use hairloom::body::TriMesh;
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};

use super::header::{Element, Encoding, Header, Number, Property};
use super::rows::{Body, Wanted, decode};
use crate::chains::{Chains, groom_of};
use crate::file::{FilePieces, FileProblem, Pieces, read_bytes, vec3_from_bytes, word};
use crate::obj::triangulate::triangulate;

pub(super) const COLOUR: &str = "displayColor";

const STRANDS: [&str; 8] = ["strand", "strands", "curve", "curves", "hair", "fiber", "polyline", "line"];
const LISTS: [&str; 4] = ["vertex_indices", "vertex_index", "indices", "vertices"];
const COUNTS: [&str; 4] = ["vertex_count", "num_vertices", "count", "size"];
const IDS: [&str; 5] = ["strand", "strand_id", "strand_index", "hair_id", "curve_id"];
const WIDTHS: [&str; 4] = ["width", "thickness", "diameter", "radius"];

/// The vertices of a file, and what is read of them.
#[derive(Default)]
struct Vertices {
    points: Vec<Vec3>,
    widths: Vec<f32>,
    colours: Vec<Vec3>,
    ids: Vec<u32>,
}

impl Vertices {
    /// With room for so many.
    fn with_capacity(columns: &Columns, rows: usize) -> Self {
        let some = |wanted: bool| if wanted { rows } else { 0 };
        Self {
            points: Vec::with_capacity(rows),
            widths: Vec::with_capacity(some(columns.width.is_some())),
            colours: Vec::with_capacity(some(columns.colour.is_some())),
            ids: Vec::with_capacity(some(columns.id.is_some())),
        }
    }
}

/// Which vertices the strands have, one strand after the other; nothing if they have them in the order of the file.
type Order = Option<Vec<u32>>;

/// How the vertices are strands.
enum Strands {
    /// Where each strand's vertices end among `order`.
    Lists {
        order: Order,
        ends: Vec<u32>,
    },
    Counts(Vec<u32>),
    Edges(Chains),
}

/// The strands in the bytes of a file, in the file's own unit and axes.
pub fn parse(bytes: &[u8]) -> Result<Groom, FileProblem> {
    let (header, rest) = Header::parse(bytes)?;
    parse_elements(&header.elements, Body { encoding: header.encoding, rest }, None)
}

/// The strands in a file, in the file's own unit and axes. Where the file begins with a table of vertices, as most do, that is
/// never in memory as a whole.
pub(crate) fn read(path: &Path) -> Result<Groom, FileProblem> {
    const FRONT: u64 = 1 << 16;
    let mut source = FilePieces::open(path)?;
    let length = source.length();
    let mut front = Vec::new();
    source.visit(0, length.min(FRONT), 1, &mut |piece| front.extend_from_slice(piece))?;
    // A header that is longer, or wrong, is one for the way that looks at all of it.
    let table = Header::parse(&front).ok().and_then(|(header, rest)| {
        let start = (front.len() - rest.len()) as u64;
        let element = header.elements.first().filter(|element| element.name == "vertex")?;
        let size = element.row_bytes(header.encoding)? as u64;
        let bytes = element.rows.checked_mul(size).filter(|bytes| bytes.saturating_add(start) <= length)?;
        Some((header, start, size as usize, bytes))
    });
    let Some((header, start, size, bytes)) = table else { return parse(&read_bytes(path)?) };
    let element = &header.elements[0];
    let columns = Columns::of(element)?;
    let mut vertices = Vertices::with_capacity(&columns, element.rows as usize);
    let big = header.encoding == Encoding::Big;
    source.visit(start, bytes, size, &mut |piece| {
        read_table(&mut vertices, element, &columns, (piece, size), big);
    })?;
    let mut rest = Vec::with_capacity((length - start - bytes) as usize);
    source.visit(start + bytes, length - start - bytes, 1, &mut |piece| rest.extend_from_slice(piece))?;
    let body = Body { encoding: header.encoding, rest: &rest };
    parse_elements(&header.elements[1..], body, Some(vertices))
}

/// The strands in elements of a file, of which the vertices may be known already.
fn parse_elements(
    elements: &[Element],
    mut body: Body<'_>,
    mut vertices: Option<Vertices>,
) -> Result<Groom, FileProblem> {
    let mut strands = None;
    for element in elements {
        body.check(element)?;
        let is_strands = STRANDS.iter().any(|name| element.name.eq_ignore_ascii_case(name));
        let known = vertices.as_ref().map_or(0, |vertices: &Vertices| vertices.points.len());
        match element.name.as_str() {
            "vertex" if vertices.is_none() => vertices = Some(read_vertices(&mut body, element)?),
            "edge" if strands.is_none() && element.find(&["vertex1"], false).is_some() => {
                strands = Some(read_edges(&mut body, element, known)?);
            }
            _ if is_strands && element.find(&LISTS, true).is_some() => {
                strands = Some(read_lists(&mut body, element, known)?);
            }
            _ if is_strands && element.find(&COUNTS, false).is_some() => {
                strands = Some(read_counts(&mut body, element, known)?);
            }
            _ => skip(&mut body, element)?,
        }
    }
    let mut vertices: Vertices =
        vertices.ok_or_else(|| FileProblem::content("the file has no element \"vertex\""))?;
    let (groom, order) = match strands {
        Some(Strands::Edges(chains)) => {
            let (groom, order) = groom_of(&vertices.points, &chains)?;
            (groom, Some(order))
        }
        Some(Strands::Lists { order, ends }) => ordered(&mut vertices, order, ends),
        Some(Strands::Counts(ends)) => ordered(&mut vertices, None, ends),
        None if !vertices.ids.is_empty() => by_ids(&mut vertices),
        None => {
            return Err(FileProblem::content(
                "nothing in the file says which vertices form strands: expected an element \"strand\" with lists of \
                 vertices, an element \"edge\", or a property \"strand_id\" at the vertices",
            ));
        }
    };
    Ok(with_columns(groom, order, vertices))
}

/// The mesh in the bytes of a file, in the file's own unit and axes.
pub fn parse_mesh(bytes: &[u8]) -> Result<TriMesh, FileProblem> {
    let (header, rest) = Header::parse(bytes)?;
    let mut body = Body { encoding: header.encoding, rest };
    let mut mesh = TriMesh::default();
    let mut faces = None;
    for element in &header.elements {
        body.check(element)?;
        let list = element.find(&LISTS, true);
        match (element.name.as_str(), list) {
            ("vertex", _) if mesh.points.is_empty() => {
                mesh.points = read_vertices(&mut body, element)?.points
            }
            ("face", Some(property)) if faces.is_none() => {
                let list = Wanted { property, most: mesh.points.len() };
                let (mut triangles, mut polygon) = (Vec::new(), Vec::new());
                body.rows(element, Some(list), |row| {
                    polygon.clear();
                    for &vertex in &row.list {
                        polygon.push(index(vertex, mesh.points.len())?);
                    }
                    triangulate(&mesh.points, &polygon, |[a, b, c]| {
                        if a != b && b != c && c != a {
                            triangles.push([a, b, c]);
                        }
                    });
                    Ok(())
                })?;
                faces = Some(triangles);
            }
            _ => skip(&mut body, element)?,
        }
    }
    mesh.triangles = faces.ok_or_else(|| {
        FileProblem::content(
            "the file has no faces: expected an element \"face\" with a list \"vertex_indices\"",
        )
    })?;
    Ok(mesh)
}

fn skip(body: &mut Body<'_>, element: &Element) -> Result<(), FileProblem> {
    match body.table(element) {
        Some(_) => Ok(()),
        None => body.rows(element, None, |_| Ok(())),
    }
}

fn index(number: f64, vertices: usize) -> Result<u32, FileProblem> {
    if number >= 0.0 && number < vertices as f64 && number.fract() == 0.0 {
        return Ok(number as u32);
    }
    Err(FileProblem::content(format!(
        "vertex {number} is named, and the file has {vertices} before that, counted from 0"
    )))
}

/// Where the columns of a vertex are among its properties.
struct Columns {
    position: [usize; 3],
    width: Option<(usize, f64)>,
    colour: Option<([usize; 3], f64)>,
    id: Option<usize>,
}

impl Columns {
    fn of(element: &Element) -> Result<Self, FileProblem> {
        let number = |name: &str| element.find(&[name], false);
        let three = |names: [&str; 3]| Some([number(names[0])?, number(names[1])?, number(names[2])?]);
        let kind = |index: usize| element.properties[index].number;
        let position = three(["x", "y", "z"]).filter(|axes| axes.iter().all(|&axis| !kind(axis).is_whole()));
        let width = element.find(&WIDTHS, false).filter(|&width| !kind(width).is_whole());
        let factor = |width: usize| match element.properties[width].name.eq_ignore_ascii_case("radius") {
            true => 2.0,
            false => 1.0,
        };
        // Colours of whole numbers go up to the largest.
        let scale = |colour: [usize; 3]| match kind(colour[0]) {
            Number::U8 => 1.0 / 255.0,
            Number::U16 => 1.0 / 65535.0,
            _ => 1.0,
        };
        Ok(Self {
            position: position.ok_or_else(|| {
                FileProblem::content("the vertices have no x, y and z of type float or double")
            })?,
            width: width.map(|width| (width, factor(width))),
            colour: three(["red", "green", "blue"]).map(|colour| (colour, scale(colour))),
            id: element.find(&IDS, false).filter(|&id| kind(id).is_whole()),
        })
    }
}

fn read_vertices(body: &mut Body<'_>, element: &Element) -> Result<Vertices, FileProblem> {
    body.check(element)?;
    let columns = Columns::of(element)?;
    let rows = usize::try_from(element.rows).unwrap_or(usize::MAX);
    if u32::try_from(rows).is_err() {
        return Err(FileProblem::content("there are more vertices than a groom can hold"));
    }
    let mut vertices = Vertices::default();
    if let Some((table, size)) = body.table(element) {
        read_table(&mut vertices, element, &columns, (table, size), body.encoding == Encoding::Big);
        return Ok(vertices);
    }
    vertices.points.reserve_exact(rows);
    body.rows(element, None, |row| {
        vertices.take(&columns, |property| row.numbers[property]);
        Ok(())
    })?;
    Ok(vertices)
}

impl Vertices {
    fn take(&mut self, columns: &Columns, number: impl Fn(usize) -> f64) {
        self.points.push(Vec3::from_array(columns.position.map(|axis| number(axis) as f32)));
        if let Some((width, factor)) = columns.width {
            self.widths.push((number(width) * factor) as f32);
        }
        if let Some((colour, scale)) = columns.colour {
            self.colours.push(Vec3::from_array(colour.map(|part| (number(part) * scale) as f32)));
        }
        if let Some(id) = columns.id {
            self.ids.push(number(id) as i64 as u32);
        }
    }
}

fn read_table(
    vertices: &mut Vertices,
    element: &Element,
    columns: &Columns,
    (table, size): (&[u8], usize),
    big: bool,
) {
    let mut ends = Vec::new();
    let mut end = 0;
    for Property { number, .. } in &element.properties {
        ends.push((end, *number));
        end += number.size();
    }
    let rows = || table.chunks_exact(size.max(1));
    let floats = |to: &mut Vec<f32>, property: usize, scale: f64| {
        let (start, number) = ends[property];
        if number == Number::F32 && !big && scale == 1.0 {
            to.extend(rows().map(|row| word(row, start).map_or(0.0, f32::from_le_bytes)));
            return;
        }
        to.extend(rows().map(|row| (decode(&row[start..], number, big).unwrap_or_default() * scale) as f32));
    };
    let triples = |to: &mut Vec<Vec3>, parts: [usize; 3], scale: f64| {
        let [x, y, z] = parts.map(|part| ends[part]);
        let together = [y, z] == [(x.0 + 4, Number::F32), (x.0 + 8, Number::F32)] && x.1 == Number::F32;
        if together && !big && scale == 1.0 {
            let triple =
                |row: &[u8]| row[x.0..].first_chunk().map_or(Vec3::ZERO, |&bytes| vec3_from_bytes(bytes));
            to.extend(rows().map(triple));
            return;
        }
        let triple = |row: &[u8]| {
            let part = |(start, number): (usize, Number)| {
                (decode(&row[start..], number, big).unwrap_or_default() * scale) as f32
            };
            Vec3::new(part(x), part(y), part(z))
        };
        to.extend(rows().map(triple));
    };
    triples(&mut vertices.points, columns.position, 1.0);
    if let Some((width, factor)) = columns.width {
        floats(&mut vertices.widths, width, factor);
    }
    if let Some((colour, scale)) = columns.colour {
        triples(&mut vertices.colours, colour, scale);
    }
    if let Some((start, number)) = columns.id.map(|id| ends[id]) {
        let id = |row: &[u8]| decode(&row[start..], number, big).unwrap_or_default() as i64 as u32;
        vertices.ids.extend(rows().map(id));
    }
}

fn read_edges(body: &mut Body<'_>, element: &Element, vertices: usize) -> Result<Strands, FileProblem> {
    let find = |name: &str| {
        let missing = || FileProblem::content(format!("the edges have no {name}"));
        element.find(&[name], false).ok_or_else(missing)
    };
    let (first, second) = (find("vertex1")?, find("vertex2")?);
    let mut chains = Chains::new(vertices);
    body.rows(element, None, |row| {
        chains.join(index(row.numbers[first], vertices)?, index(row.numbers[second], vertices)?)
    })?;
    Ok(Strands::Edges(chains))
}

fn read_lists(body: &mut Body<'_>, element: &Element, vertices: usize) -> Result<Strands, FileProblem> {
    if let Some(ends) = body.consecutive_lists(element, vertices) {
        return Ok(Strands::Lists { order: None, ends });
    }
    let mut used = vec![false; vertices];
    let (mut order, mut ends) = (Vec::new(), Vec::new());
    let mut take = |vertex: u32| {
        if std::mem::replace(&mut used[vertex as usize], true) {
            return Err(FileProblem::content(format!(
                "vertex {vertex} (counted from 0) belongs to two strands; expected it in one"
            )));
        }
        order.push(vertex);
        Ok(order.len() as u32)
    };
    if let Some(lists) = body.word_lists(element) {
        for list in lists {
            let mut end = ends.last().copied().unwrap_or(0);
            for &vertex in list? {
                let vertex = u32::from_le_bytes(vertex);
                end = take(index(f64::from(vertex), vertices)?)?;
            }
            ends.push(end);
        }
        return Ok(Strands::Lists { order: Some(order), ends });
    }
    let list = element.find(&LISTS, true).map(|property| Wanted { property, most: vertices });
    body.rows(element, list, |row| {
        let mut end = ends.last().copied().unwrap_or(0);
        for &vertex in &row.list {
            end = take(index(vertex, vertices)?)?;
        }
        ends.push(end);
        Ok(())
    })?;
    Ok(Strands::Lists { order: Some(order), ends })
}

fn read_counts(body: &mut Body<'_>, element: &Element, vertices: usize) -> Result<Strands, FileProblem> {
    let count = element.find(&COUNTS, false).unwrap_or_default();
    let (mut ends, mut end) = (Vec::new(), 0.0);
    body.rows(element, None, |row| {
        let added = row.numbers[count];
        end += added;
        if !(added >= 0.0 && added.fract() == 0.0 && end <= vertices as f64) {
            return Err(FileProblem::content(format!(
                "strand {} claims {added} vertices, and the file has {vertices} for all strands",
                ends.len()
            )));
        }
        ends.push(end as u32);
        Ok(())
    })?;
    Ok(Strands::Counts(ends))
}

/// Strands of vertices in an order.
fn ordered(vertices: &mut Vertices, mut order: Order, mut ends: Vec<u32>) -> (Groom, Order) {
    let end = ends.last().map_or(0, |&end| end as usize);
    if let Some(order) = &mut order {
        order.truncate(end);
    }
    let points = in_order(std::mem::take(&mut vertices.points), &order, end);
    let roots = vec![Root::Rigid; ends.len()];
    ends.insert(0, 0);
    (Groom { curves: Curves { offsets: ends, points }, roots, ..Groom::default() }, order)
}

/// The values of the vertices of strands, `end` of them.
fn in_order<T: Copy>(mut all: Vec<T>, order: &Order, end: usize) -> Vec<T> {
    match order {
        Some(order) => order.iter().map(|&vertex| all[vertex as usize]).collect(),
        None => {
            all.truncate(end);
            all
        }
    }
}

/// Strands of vertices with the same identifier, in the order in which the identifiers first come.
fn by_ids(vertices: &mut Vertices) -> (Groom, Order) {
    let ids = std::mem::take(&mut vertices.ids);
    let id = |vertex: u32| ids[vertex as usize];
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    order.sort_unstable_by_key(|&vertex| (id(vertex), vertex));
    let mut first = vec![0; ids.len()];
    for strand in order.chunk_by(|&a, &b| id(a) == id(b)) {
        strand.iter().for_each(|&vertex| first[vertex as usize] = strand[0]);
    }
    order.sort_unstable_by_key(|&vertex| (first[vertex as usize], vertex));
    let (mut ends, mut strand_ids) = (Vec::new(), Vec::new());
    for strand in order.chunk_by(|&a, &b| id(a) == id(b)) {
        ends.push(ends.last().map_or(0, |&end| end) + strand.len() as u32);
        strand_ids.push(id(strand[0]));
    }
    drop((first, ids));
    let (groom, order) = ordered(vertices, Some(order), ends);
    (Groom { ids: strand_ids, ..groom }, order)
}

/// The groom with what else is known of its vertices.
fn with_columns(mut groom: Groom, order: Order, vertices: Vertices) -> Groom {
    let end = groom.vertices();
    if !vertices.widths.is_empty() {
        groom.widths = in_order(vertices.widths, &order, end);
    }
    if !vertices.colours.is_empty() {
        let colours = in_order(vertices.colours, &order, end);
        let (name, domain) = (COLOUR.to_owned(), Domain::Vertex);
        groom.attributes.push(Attribute { name, domain, values: Values::Vec3(colours) });
    }
    groom
}
