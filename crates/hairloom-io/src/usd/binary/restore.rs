//! The state of a writer, from the file that it wrote.

use super::super::draft::{Draft, Fields, PrimId, set_field};
use super::super::error::UsdError;
use super::super::layer::Layer;
use super::super::nodes::NodeKind;
use super::super::prim::Prim;
use super::super::writer::Keep;
use super::encode::{PathEntry, Tables};
use super::sections::CrateFile;
use super::{ValueRef, code};

/// Fields that are not metadata: the draft has a place of its own for each.
const STRUCTURAL: [&str; 10] = [
    "specifier",
    "typeName",
    "properties",
    "primChildren",
    "custom",
    "variability",
    "default",
    "timeSamples",
    "targetPaths",
    "connectionPaths",
];

/// The tables with the indices they have in the file.
pub(super) fn restore_tables(file: &CrateFile) -> Tables {
    let mut tables = Tables::default();
    for token in &file.tokens {
        tables.push_token(token.clone());
    }
    for &token in &file.strings {
        tables.push_string(token);
    }
    for index in 0..file.paths.len() as u32 {
        if let Some((token, property)) = file.paths.element(index) {
            let parent = file.paths.parent(index).unwrap_or(u32::MAX);
            tables.path_entry(PathEntry { parent, token, property });
        }
    }
    tables
}

/// Whether every index of the restored tables is the one in the file, so that old references stay right.
pub(super) fn is_faithful(tables: &Tables, file: &CrateFile) -> bool {
    tables.tokens.len() == file.tokens.len()
        && tables.strings.len() == file.strings.len()
        && tables.paths.len() == file.paths.len()
        && file.paths.parent(0).is_none()
}

pub(super) type Restored = (Draft<ValueRef>, Vec<Vec<ValueRef>>);

pub(super) fn restore_draft(layer: &Layer, file: &CrateFile, keep: Keep) -> Result<Restored, UsdError> {
    let mut restorer = Restorer { file, keep, draft: Draft::new(), samples: Vec::new() };
    restorer.draft.prims[0].metadata = restorer.metadata(layer.root_fields());
    for prim in layer.prims()? {
        restorer.prim(layer, prim)?;
    }
    Ok((restorer.draft, restorer.samples))
}

struct Restorer<'a> {
    file: &'a CrateFile,
    keep: Keep,
    draft: Draft<ValueRef>,
    samples: Vec<Vec<ValueRef>>,
}

impl Restorer<'_> {
    fn metadata(&self, fields: u32) -> Fields<ValueRef> {
        let mut metadata = Vec::new();
        for (token, value) in self.file.set(fields) {
            let name = self.file.tokens.get(token as usize).map_or("", |name| name);
            if !STRUCTURAL.contains(&name) {
                set_field(&mut metadata, name, value);
            }
        }
        metadata
    }

    fn prim(&mut self, layer: &Layer, prim: Prim<'_>) -> Result<(), UsdError> {
        let id = self.draft.define(prim.path().as_str(), &prim.type_name()?)?;
        self.draft.prims[id.0].specifier = prim.specifier()?;
        self.draft.prims[id.0].metadata = self.metadata(prim.fields());
        for (name, kind) in prim.property_order()? {
            match kind {
                NodeKind::Attribute => self.attribute(layer, prim, id, &name)?,
                _ => self.relationship(prim, id, &name)?,
            }
        }
        Ok(())
    }

    fn attribute(&mut self, layer: &Layer, prim: Prim<'_>, id: PrimId, name: &str) -> Result<(), UsdError> {
        let Some(attribute) = prim.attribute(name) else { return Ok(()) };
        let fields = attribute.fields();
        let index = self.draft.restore_attribute(id, name, &attribute.type_name()?)?.0;
        let metadata = self.metadata(fields);
        let draft = &mut self.draft.attributes[index];
        draft.metadata = metadata;
        draft.custom = is_set(self.file.field(fields, "custom"));
        draft.uniform = is_set(self.file.field(fields, "variability"));
        draft.default = self.file.field(fields, "default");
        self.samples.resize_with(index + 1, Vec::new);
        if let Some(samples) = attribute.stored_samples()? {
            let count = self.keep.count(&samples.times);
            draft.times = samples.times[..count].to_vec();
            let mut values = layer.check(self.file.sample_refs(samples))?;
            values.truncate(count);
            self.samples[index] = values;
        }
        Ok(())
    }

    fn relationship(&mut self, prim: Prim<'_>, id: PrimId, name: &str) -> Result<(), UsdError> {
        let Some(relationship) = prim.relationship(name) else { return Ok(()) };
        let fields = relationship.fields();
        let index = self.draft.relationship(id, name)?.0;
        let metadata = self.metadata(fields);
        let draft = &mut self.draft.relationships[index];
        draft.metadata = metadata;
        draft.custom = is_set(self.file.field(fields, "custom"));
        draft.targets =
            self.file.field(fields, "targetPaths").filter(|value| value.code() == code::PATH_LIST_OP);
        Ok(())
    }
}

/// Whether an inline flag is there and not zero.
fn is_set(value: Option<ValueRef>) -> bool {
    value.is_some_and(|value| value.is_inline() && value.payload() != 0)
}
