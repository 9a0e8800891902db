//! Writes crate files: values as they come, the structure whenever it is asked for.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::sync::Arc;

use super::super::draft::{AttributeDraft, Draft, Fields, PrimDraft, Property};
use super::super::error::UsdError;
use super::super::layer::Layer;
use super::super::value::{Given, Value};
use super::super::writer::{Backend, Keep};
use super::compress::compress;
use super::encode::{Encoder, PathEntry, Tables};
use super::integers::pack;
use super::restore::{is_faithful, restore_draft, restore_tables};
use super::{END_OF_SET, HEADER_BYTES, MAGIC, ValueRef, WRITTEN_VERSION, code, spec};

/// Appends to a crate file.
#[derive(Debug)]
pub(in super::super) struct CrateBackend {
    encoder: Encoder,
    /// For every attribute, the values of its samples.
    samples: Vec<Vec<ValueRef>>,
}

/// The structural tables as they are gathered for one table of contents.
#[derive(Default)]
struct Structure {
    fields: Vec<(u32, ValueRef)>,
    field_index: HashMap<(u32, u64), u32>,
    sets: Vec<u32>,
    set_index: HashMap<Vec<u32>, u32>,
    /// Path, set of fields, type.
    specs: [Vec<u32>; 3],
}

impl Structure {
    fn field(&mut self, token: u32, value: ValueRef) -> u32 {
        *self.field_index.entry((token, value.0)).or_insert_with(|| {
            self.fields.push((token, value));
            self.fields.len() as u32 - 1
        })
    }

    fn spec(&mut self, path: u32, kind: u32, fields: Vec<(u32, ValueRef)>) {
        let set: Vec<u32> = fields.into_iter().map(|(token, value)| self.field(token, value)).collect();
        let sets = &mut self.sets;
        let start = *self.set_index.entry(set).or_insert_with_key(|set| {
            let start = sets.len() as u32;
            sets.extend_from_slice(set);
            sets.push(END_OF_SET);
            start
        });
        for (column, entry) in self.specs.iter_mut().zip([path, start, kind]) {
            column.push(entry);
        }
    }
}

impl CrateBackend {
    pub(in super::super) fn create(path: &std::path::Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let mut tables = Tables::default();
        // The empty token first: an element of a property path is a negative index, and zero has no sign.
        let token = tables.token("");
        tables.path_entry(PathEntry { parent: u32::MAX, token, property: false });
        let mut encoder = Encoder::new(file, tables)?;
        let mut header = [0; HEADER_BYTES as usize];
        header[..8].copy_from_slice(MAGIC);
        header[8..11].copy_from_slice(&WRITTEN_VERSION);
        encoder.bytes(&header)?;
        Ok(Self { encoder, samples: Vec::new() })
    }

    /// Goes on with a file that this library wrote.
    pub(in super::super) fn resume(layer: &Layer, keep: Keep) -> Result<(Self, Draft<ValueRef>), UsdError> {
        let path = layer.file();
        let restored = layer
            .crate_file()
            .filter(|file| file.version == WRITTEN_VERSION)
            .map(|file| (file, restore_tables(file)))
            .filter(|(file, tables)| is_faithful(tables, file));
        let Some((crate_file, tables)) = restored else {
            return Err(UsdError::Usage(format!(
                "{}: cannot go on with a file that another program wrote: expected crate version {}.{}.{}",
                path.display(),
                WRITTEN_VERSION[0],
                WRITTEN_VERSION[1],
                WRITTEN_VERSION[2]
            )));
        };
        let (draft, samples) = restore_draft(layer, crate_file, keep)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| UsdError::io(path, error))?;
        // Behind the table of contents there is only what was never published.
        file.set_len(crate_file.contents_end).map_err(|error| UsdError::io(path, error))?;
        let encoder = Encoder::new(file, tables).map_err(|error| UsdError::io(path, error))?;
        Ok((Self { encoder, samples }, draft))
    }

    fn samples_value(
        &mut self,
        attribute: usize,
        times: &[f64],
        written: &mut Vec<(Vec<u64>, ValueRef)>,
    ) -> io::Result<ValueRef> {
        let bits: Vec<u64> = times.iter().map(|time| time.to_bits()).collect();
        let shared = written.iter().find(|(other, _)| *other == bits).map(|(_, value)| *value);
        let times_ref = match shared {
            Some(value) => value,
            None => {
                let value = ValueRef::stored(code::DOUBLE_VECTOR, self.encoder.position());
                self.encoder.u64(times.len() as u64)?;
                self.encoder.elements(times)?;
                written.push((bits, value));
                value
            }
        };
        let position = self.encoder.position();
        self.encoder.u64(8)?;
        self.encoder.u64(times_ref.0)?;
        self.encoder.u64(8)?;
        self.encoder.u64(times.len() as u64)?;
        let values: Vec<u64> = self.samples[attribute].iter().map(|value| value.0).collect();
        self.encoder.elements(&values)?;
        Ok(ValueRef::stored(code::TIME_SAMPLES, position))
    }

    fn named(&mut self, fields: &Fields<ValueRef>) -> Vec<(u32, ValueRef)> {
        fields.iter().map(|(name, value)| (self.encoder.tables.token(name), *value)).collect()
    }

    fn field(&mut self, name: &str, value: &Value) -> io::Result<(u32, ValueRef)> {
        let value = self.encoder.value(value)?;
        Ok((self.encoder.tables.token(name), value))
    }

    fn names(
        &mut self,
        name: &str,
        items: impl Iterator<Item = Arc<str>>,
    ) -> io::Result<Option<(u32, ValueRef)>> {
        let tokens: Vec<u32> = items.map(|item| self.encoder.tables.token(&item)).collect();
        if tokens.is_empty() {
            return Ok(None);
        }
        let value = self.encoder.token_vector(&tokens)?;
        Ok(Some((self.encoder.tables.token(name), value)))
    }

    fn prim_fields(
        &mut self,
        draft: &Draft<ValueRef>,
        index: usize,
        prim: &PrimDraft<ValueRef>,
    ) -> io::Result<Vec<(u32, ValueRef)>> {
        let mut fields = Vec::new();
        if index > 0 {
            fields.push(self.field("specifier", &Value::Specifier(prim.specifier))?);
            if !prim.type_name.is_empty() {
                fields.push(self.field("typeName", &Value::Token(prim.type_name.clone()))?);
            }
        }
        fields.extend(self.named(&prim.metadata));
        let properties = prim.properties.iter().map(|property| match *property {
            Property::Attribute(index) => draft.attributes[index].name.clone(),
            Property::Relationship(index) => draft.relationships[index].name.clone(),
        });
        fields.extend(self.names("properties", properties)?);
        let children = prim.children.iter().map(|&child| draft.prims[child].name.clone());
        fields.extend(self.names("primChildren", children)?);
        Ok(fields)
    }

    fn attribute_fields(
        &mut self,
        index: usize,
        attribute: &AttributeDraft<ValueRef>,
        times: &mut Vec<(Vec<u64>, ValueRef)>,
    ) -> io::Result<Vec<(u32, ValueRef)>> {
        let mut fields = vec![self.field("typeName", &Value::Token(attribute.type_name.clone()))?];
        if attribute.custom {
            fields.push(self.field("custom", &Value::Bool(true))?);
        }
        if attribute.uniform {
            fields.push(self.field("variability", &Value::Uniform(true))?);
        }
        fields.extend(self.named(&attribute.metadata));
        if let Some(value) = attribute.default {
            fields.push((self.encoder.tables.token("default"), value));
        }
        if !attribute.times.is_empty() {
            let value = self.samples_value(index, &attribute.times, times)?;
            fields.push((self.encoder.tables.token("timeSamples"), value));
        }
        Ok(fields)
    }

    fn gather(&mut self, draft: &Draft<ValueRef>) -> io::Result<Structure> {
        let mut structure = Structure::default();
        let mut times = Vec::new();
        for (index, prim) in draft.prims.iter().enumerate() {
            let fields = self.prim_fields(draft, index, prim)?;
            let path = self.encoder.tables.path(&prim.path);
            structure.spec(path, if index == 0 { spec::ROOT } else { spec::PRIM }, fields);
            for property in &prim.properties {
                let (name, kind, fields) = match *property {
                    Property::Attribute(index) => {
                        let attribute = &draft.attributes[index];
                        let fields = self.attribute_fields(index, attribute, &mut times)?;
                        (&attribute.name, spec::ATTRIBUTE, fields)
                    }
                    Property::Relationship(index) => {
                        let relationship = &draft.relationships[index];
                        let mut fields = vec![self.field("variability", &Value::Uniform(true))?];
                        if relationship.custom {
                            fields.push(self.field("custom", &Value::Bool(true))?);
                        }
                        fields.extend(self.named(&relationship.metadata));
                        if let Some(targets) = relationship.targets {
                            fields.push((self.encoder.tables.token("targetPaths"), targets));
                        }
                        (&relationship.name, spec::RELATIONSHIP, fields)
                    }
                };
                let token = self.encoder.tables.token(name);
                let path = self.encoder.tables.path_entry(PathEntry { parent: path, token, property: true });
                structure.spec(path, kind, fields);
            }
        }
        Ok(structure)
    }

    fn packed(&mut self, values: &[u32]) -> io::Result<()> {
        let packed = pack(values);
        self.encoder.u64(packed.len() as u64)?;
        self.encoder.bytes(&packed)
    }

    fn write_tokens(&mut self) -> io::Result<()> {
        let mut text = Vec::new();
        for token in &self.encoder.tables.tokens {
            text.extend_from_slice(token.as_bytes());
            text.push(0);
        }
        let compressed = compress(&text);
        self.encoder.u64(self.encoder.tables.tokens.len() as u64)?;
        self.encoder.u64(text.len() as u64)?;
        self.encoder.u64(compressed.len() as u64)?;
        self.encoder.bytes(&compressed)
    }

    fn write_strings(&mut self) -> io::Result<()> {
        let strings = self.encoder.tables.strings.clone();
        self.encoder.u64(strings.len() as u64)?;
        self.encoder.elements(&strings)
    }

    fn write_fields(&mut self, structure: &Structure) -> io::Result<()> {
        self.encoder.u64(structure.fields.len() as u64)?;
        let names: Vec<u32> = structure.fields.iter().map(|(token, _)| *token).collect();
        self.packed(&names)?;
        let values: Vec<u8> = structure.fields.iter().flat_map(|(_, value)| value.0.to_le_bytes()).collect();
        let compressed = compress(&values);
        self.encoder.u64(compressed.len() as u64)?;
        self.encoder.bytes(&compressed)
    }

    fn write_paths(&mut self, tree: &[Vec<u32>; 3]) -> io::Result<()> {
        self.encoder.u64(self.encoder.tables.paths.len() as u64)?;
        self.encoder.u64(tree[0].len() as u64)?;
        tree.iter().try_for_each(|column| self.packed(column))
    }

    fn write_specs(&mut self, structure: &Structure) -> io::Result<()> {
        self.encoder.u64(structure.specs[0].len() as u64)?;
        structure.specs.iter().try_for_each(|column| self.packed(column))
    }

    fn section(
        &mut self,
        contents: &mut Vec<u8>,
        name: &str,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = self.encoder.position();
        write(self)?;
        let mut padded = [0; 16];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        contents.extend_from_slice(&padded);
        contents.extend_from_slice(&start.to_le_bytes());
        contents.extend_from_slice(&(self.encoder.position() - start).to_le_bytes());
        Ok(())
    }

    /// Appends the sections and their table of contents, and makes it the one that counts.
    fn write_structure(
        &mut self,
        structure: &Structure,
        tree: &[Vec<u32>; 3],
        durable: bool,
    ) -> io::Result<()> {
        let mut contents = 6_u64.to_le_bytes().to_vec();
        self.section(&mut contents, "TOKENS", Self::write_tokens)?;
        self.section(&mut contents, "STRINGS", Self::write_strings)?;
        self.section(&mut contents, "FIELDS", |this| this.write_fields(structure))?;
        self.section(&mut contents, "FIELDSETS", |this| {
            this.encoder.u64(structure.sets.len() as u64)?;
            this.packed(&structure.sets)
        })?;
        self.section(&mut contents, "PATHS", |this| this.write_paths(tree))?;
        self.section(&mut contents, "SPECS", |this| this.write_specs(structure))?;
        let position = self.encoder.position();
        self.encoder.bytes(&contents)?;
        self.encoder.publish(position, durable)
    }
}

impl Backend for CrateBackend {
    type Stored = ValueRef;

    fn store(&mut self, value: &Given) -> io::Result<ValueRef> {
        self.encoder.given(value)
    }

    fn append(&mut self, attribute: usize, _time: f64, value: &Given) -> io::Result<()> {
        let value = self.encoder.given(value)?;
        if self.samples.len() <= attribute {
            self.samples.resize_with(attribute + 1, Vec::new);
        }
        self.samples[attribute].push(value);
        Ok(())
    }

    fn write(&mut self, draft: &Draft<ValueRef>, last: bool) -> io::Result<()> {
        let structure = self.gather(draft)?;
        let tree = path_tree(&self.encoder.tables.paths);
        self.write_structure(&structure, &tree, last)
    }
}

/// Depth first: index, element (negative for properties) and jump of every path. A jump is the distance to the
/// sibling if there are children in between, 0 if the sibling comes next, −1 if only a child does, −2 for a leaf.
fn path_tree(paths: &[PathEntry]) -> [Vec<u32>; 3] {
    let mut children = vec![Vec::new(); paths.len()];
    for (index, path) in paths.iter().enumerate().skip(1) {
        children[path.parent as usize].push(index);
    }
    let mut columns = [const { Vec::new() }; 3];
    // What to visit next, and the row of the sibling before it, if that one has children.
    let mut open: Vec<(usize, bool, Option<usize>)> = vec![(0, false, None)];
    while let Some((index, has_sibling, before)) = open.pop() {
        let row = columns[0].len();
        if let Some(before) = before {
            columns[2][before] = (row - before) as u32;
        }
        let path = &paths[index];
        let element = if path.property { -(path.token as i32) } else { path.token as i32 };
        let jump: i32 = match (children[index].is_empty(), has_sibling) {
            (true, true) | (false, true) => 0,
            (false, false) => -1,
            (true, false) => -2,
        };
        for (column, entry) in columns.iter_mut().zip([index as u32, element as u32, jump as u32]) {
            column.push(entry);
        }
        if let (false, true, Some(sibling)) = (children[index].is_empty(), has_sibling, open.last_mut()) {
            sibling.2 = Some(row);
        }
        let count = children[index].len();
        for (position, &child) in children[index].iter().enumerate().rev() {
            open.push((child, position + 1 < count, None));
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::super::super::draft::PrimId;
    use super::super::super::layer::Layer;
    use super::*;

    /// Compression hides the structure from whoever flips bytes of a file: here it is broken before.
    #[test]
    fn broken_structure_is_survived() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("layer.usdc");
        let (mut errors, mut state) = (0, 1_u64);
        let mut random = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        for _ in 0..1500 {
            let mut backend = CrateBackend::create(&path).unwrap();
            let draft = small_draft(&mut backend);
            let mut structure = backend.gather(&draft).unwrap();
            let mut tree = path_tree(&backend.encoder.tables.paths);
            for _ in 0..1 + random(3) {
                let number = [0, 1, 2, 5, u32::MAX, u32::MAX - 1, random(40) as u32][random(7)];
                let column = random(3);
                match random(5) {
                    0 => replace(&mut tree[column], random(100), number),
                    1 => replace(&mut structure.specs[column], random(100), number),
                    2 => replace(&mut structure.sets, random(100), number),
                    3 => {
                        let count = structure.fields.len();
                        structure.fields[random(count)].1.0 ^= 1 << random(64);
                    }
                    _ => backend.encoder.tables.strings.push(number),
                }
            }
            backend.write_structure(&structure, &tree, false).unwrap();
            errors += usize::from(visit(&path).is_err());
        }
        assert!(errors > 300, "{errors}");
    }

    fn replace(column: &mut [u32], at: usize, number: u32) {
        let length = column.len();
        column[at % length] = number;
    }

    fn small_draft(backend: &mut CrateBackend) -> Draft<ValueRef> {
        let mut draft = Draft::new();
        for name in ["/A/B/C", "/A/D", "/E"] {
            let prim: PrimId = draft.define(name, "Mesh").unwrap();
            for name in ["points", "x"] {
                let attribute = draft.attribute(prim, name, "float[]").unwrap().0;
                let value = Value::FloatArray(vec![1.0, 2.0]);
                backend.append(attribute, 1.0, &Given::Value(&value)).unwrap();
                draft.attributes[attribute].times.push(1.0);
                draft.attributes[attribute].default = Some(backend.store(&Given::Value(&value)).unwrap());
                let data =
                    Value::Dictionary(vec![("a".into(), Value::Dictionary(vec![("b".into(), value)]))]);
                draft.attributes[attribute]
                    .metadata
                    .push(("customData".into(), backend.store(&Given::Value(&data)).unwrap()));
            }
        }
        draft
    }

    fn visit(path: &std::path::Path) -> Result<(), UsdError> {
        let layer = Layer::from_bytes(path, std::fs::read(path).unwrap())?;
        for prim in layer.prims()? {
            prim.specifier()?;
            for attribute in prim.attributes()? {
                attribute.default()?;
                attribute.metadata("customData")?;
                for index in 0..attribute.times()?.len() {
                    attribute.sample(index)?;
                }
            }
        }
        Ok(())
    }
}
