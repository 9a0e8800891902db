//! The places that other layers are brought in from: `@hair.usda@</Hair> (offset = 24; scale = 0.5)`.

use std::sync::Arc;

use super::super::error::Parsed;
use super::super::path::Path;
use super::super::value::{LayerOffset, Reference};
use super::scan::Scanner;
use super::values::{list, number};

/// The metadata that holds references.
pub(super) const FIELDS: [&str; 2] = ["references", "payload"];

/// One reference, several in brackets, or `None`.
pub(super) fn references(scanner: &mut Scanner<'_>) -> Parsed<Vec<Reference>> {
    match scanner.peek() {
        Some(b'[') => list(scanner, reference),
        _ if scanner.peek_word() == "None" => {
            scanner.word();
            Ok(Vec::new())
        }
        _ => Ok(vec![reference(scanner)?]),
    }
}

fn reference(scanner: &mut Scanner<'_>) -> Parsed<Reference> {
    let asset = match scanner.peek() {
        Some(b'@') => scanner.asset()?,
        Some(b'<') => "".into(),
        _ => return scanner.expected("the path of a file between @, or of a prim between < and >"),
    };
    let prim = if scanner.peek() == Some(b'<') { scanner.path()? } else { String::new() };
    Ok(Reference { asset, prim: Path::new(prim), offset: layer_offset(scanner)? })
}

/// The files of sublayers, and how their times are placed.
pub(super) fn sublayers(scanner: &mut Scanner<'_>) -> Parsed<(Vec<Arc<str>>, Vec<LayerOffset>)> {
    let layers = list(scanner, |scanner| Ok((scanner.asset()?, layer_offset(scanner)?)))?;
    Ok(layers.into_iter().unzip())
}

/// `(offset = 24; scale = 0.5)` if it comes next; other settings are stepped over.
fn layer_offset(scanner: &mut Scanner<'_>) -> Parsed<LayerOffset> {
    let mut placed = LayerOffset::NONE;
    if !scanner.take(b'(') {
        return Ok(placed);
    }
    while !scanner.take(b')') {
        let name = scanner.required_word("offset, scale or ')'")?;
        scanner.require(b'=')?;
        match name {
            "offset" => placed.offset = number(scanner)?,
            "scale" => placed.scale = number(scanner)?,
            _ => scanner.skip_value()?,
        }
        scanner.take(b',');
    }
    Ok(placed)
}
