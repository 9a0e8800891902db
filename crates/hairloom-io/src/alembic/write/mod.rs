//! Writing: data as it comes, the structure whenever it is asked for.
//!
//! Data is only appended. Publishing appends all groups and headers, too, and then makes the front of the file point to
//! them: a process killed at any moment leaves what was published last readable, by any program, for the front says
//! "finished" from the first time on.

mod body;
mod hair;
mod resume;
mod structure;

pub(super) use body::BodySamples;
pub(super) use hair::{HairSamples, HairSettings};

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;

use super::digest::{Digest, Hasher, digest};
use super::error::AlembicError;
use super::header::{DataType, Samples};
use super::read::reader::DATA;
use super::time::TimeSampling;
use crate::file::encode_triples;

pub(super) type Result<T> = std::result::Result<T, AlembicError>;

/// The front of a file: its mark, whether it is finished, and the version; the position of the root follows.
const FRONT: [u8; 8] = *b"Ogawa\xff\x00\x01";
const FRONT_BYTES: u64 = 16;
/// Before data stand its size and its key.
const DATA_FRONT: u64 = 24;
/// Triples that are encoded before they go out: a multiple of 16 bytes.
const TRIPLES: usize = 1 << 14;

/// An object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ObjectId(usize);

/// A property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PropertyId(usize);

#[derive(Debug)]
struct ObjectDraft {
    name: String,
    metadata: String,
    properties: PropertyId,
    children: Vec<ObjectId>,
}

#[derive(Debug)]
struct PropertyDraft {
    name: String,
    metadata: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Compound(Vec<PropertyId>),
    Samples(SamplesDraft),
}

/// The key and the size of data: equal data is stored once.
type Key = (Digest, u64);

#[derive(Debug)]
struct SamplesDraft {
    samples: Samples,
    /// What the group of the property points to.
    pointers: Vec<u64>,
    last: Option<Key>,
    /// Grows with every sample, for the hashes of objects.
    history: Digest,
}

/// Writes an archive.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    /// Where the next data goes.
    end: u64,
    known: HashMap<Key, u64>,
    objects: Vec<ObjectDraft>,
    properties: Vec<PropertyDraft>,
    samplings: Vec<TimeSampling>,
    metadata: String,
}

impl Writer {
    /// Begins an archive; an old file is replaced.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|error| AlembicError::io(path, error))?;
        let mut writer = Self::new(path, file, FRONT_BYTES);
        // Not finished, and nowhere to go.
        let front = [&FRONT[..5], &[0], &FRONT[6..], &[0; 8]].concat();
        writer.write_at(0, &front)?;
        Ok(writer)
    }

    fn new(path: &Path, file: File, end: u64) -> Self {
        let mut writer = Self {
            path: path.to_owned(),
            file,
            end,
            known: HashMap::new(),
            objects: Vec::new(),
            properties: Vec::new(),
            // The first means nothing, and is in every archive.
            samplings: vec![TimeSampling::uniform(0.0, 1.0)],
            metadata: String::new(),
        };
        let properties = writer.add(String::new(), String::new(), Content::Compound(Vec::new()));
        writer.objects.push(ObjectDraft {
            name: String::new(),
            metadata: String::new(),
            properties,
            children: Vec::new(),
        });
        writer
    }

    fn write_at(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        let write = |file: &mut File| -> io::Result<()> {
            file.seek(SeekFrom::Start(position))?;
            file.write_all(bytes)
        };
        write(&mut self.file).map_err(|error| AlembicError::io(&self.path, error))
    }

    /// Sets the archive's own metadata.
    pub(super) fn set_metadata(&mut self, pairs: &[(&str, &str)]) {
        let clean = |text: &str| text.replace([';', '=', '\n'], " ");
        let mut pairs: Vec<String> =
            pairs.iter().map(|(key, value)| format!("{key}={}", clean(value))).collect();
        pairs.sort();
        self.metadata = pairs.join(";");
    }

    /// Adds a time sampling; answers its index.
    pub(super) fn add_sampling(&mut self, sampling: TimeSampling) -> u32 {
        self.samplings.push(sampling);
        self.samplings.len() as u32 - 1
    }

    /// The object at the top.
    pub(super) fn top(&self) -> ObjectId {
        ObjectId(0)
    }

    /// Adds an object of a schema, and the compound for it. A name that is taken gets a number.
    pub(super) fn add_object(
        &mut self,
        parent: ObjectId,
        name: &str,
        schema: &str,
    ) -> (ObjectId, PropertyId) {
        let (compound, base) = match schema {
            "AbcGeom_Xform_v3" => (".xform", ""),
            _ => (".geom", ";schemaBaseType=AbcGeom_GeomBase_v1"),
        };
        let of_schema = format!("schema={schema}{base}");
        let name = self.free_name(parent, name);
        let properties = self.add(String::new(), String::new(), Content::Compound(Vec::new()));
        let object = ObjectId(self.objects.len());
        let metadata = format!("{of_schema};schemaObjTitle={schema}:{compound}");
        self.objects.push(ObjectDraft { name, metadata, properties, children: Vec::new() });
        self.objects[parent.0].children.push(object);
        (object, self.add_compound(properties, compound, &of_schema))
    }

    /// A name for a child that no other has; objects' names cannot hold slashes.
    fn free_name(&self, parent: ObjectId, name: &str) -> String {
        let base = if name.is_empty() { "_".to_owned() } else { name.replace('/', "_") };
        let taken = |name: &str| {
            self.objects[parent.0].children.iter().any(|&child| self.objects[child.0].name == name)
        };
        let numbered = (2..).map(|count| format!("{base}_{count}"));
        std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base)
    }

    /// The name that an object got.
    pub(super) fn object_name(&self, object: ObjectId) -> &str {
        &self.objects[object.0].name
    }

    fn add(&mut self, name: String, metadata: String, content: Content) -> PropertyId {
        self.properties.push(PropertyDraft { name, metadata, content });
        PropertyId(self.properties.len() - 1)
    }

    fn add_to(&mut self, parent: PropertyId, name: &str, metadata: &str, content: Content) -> PropertyId {
        let property = self.add(name.to_owned(), metadata.to_owned(), content);
        if let Content::Compound(children) = &mut self.properties[parent.0].content {
            children.push(property);
        }
        property
    }

    /// Adds a compound to a compound.
    pub(super) fn add_compound(&mut self, parent: PropertyId, name: &str, metadata: &str) -> PropertyId {
        self.add_to(parent, name, metadata, Content::Compound(Vec::new()))
    }

    /// Adds a property of single elements to a compound; 0 is the sampling of what never changes.
    pub(super) fn add_scalar(
        &mut self,
        parent: PropertyId,
        name: &str,
        metadata: &str,
        data_type: DataType,
        sampling: u32,
    ) -> PropertyId {
        self.add_samples(parent, name, metadata, data_type, sampling, false)
    }

    /// Adds a property of arrays to a compound; 0 is the sampling of what never changes.
    pub(super) fn add_array(
        &mut self,
        parent: PropertyId,
        name: &str,
        metadata: &str,
        data_type: DataType,
        sampling: u32,
    ) -> PropertyId {
        self.add_samples(parent, name, metadata, data_type, sampling, true)
    }

    fn add_samples(
        &mut self,
        parent: PropertyId,
        name: &str,
        metadata: &str,
        data_type: DataType,
        sampling: u32,
        array: bool,
    ) -> PropertyId {
        let samples = Samples {
            array,
            scalar_like: true,
            homogeneous: true,
            data_type,
            count: 0,
            first_changed: 0,
            last_changed: 0,
            sampling,
        };
        let draft = SamplesDraft { samples, pointers: Vec::new(), last: None, history: [0; 16] };
        self.add_to(parent, name, metadata, Content::Samples(draft))
    }

    /// Writes the next sample of a property.
    pub(super) fn write_sample(&mut self, property: PropertyId, bytes: &[u8]) -> Result<()> {
        let key = (digest(bytes), bytes.len() as u64);
        let pointer = match self.known.get(&key) {
            Some(&pointer) => pointer,
            None => self.append(&key, bytes)?,
        };
        if let Content::Samples(draft) = &mut self.properties[property.0].content {
            draft.push(key, pointer);
        }
        Ok(())
    }

    /// Makes the last sample of a property the next one of another, too.
    pub(super) fn repeat_sample(&mut self, property: PropertyId, of: PropertyId) {
        let last = match &self.properties[of.0].content {
            Content::Samples(draft) => draft.last,
            Content::Compound(_) => None,
        };
        if let Some(key) = last
            && let Some(&pointer) = self.known.get(&key)
            && let Content::Samples(draft) = &mut self.properties[property.0].content
        {
            draft.push(key, pointer);
        }
    }

    /// Writes triples as the next sample of a property, without a copy of them all. They are written while their key is found; where it
    /// is known already, what comes next is written over them.
    pub(super) fn write_triples(&mut self, property: PropertyId, triples: &[Vec3]) -> Result<()> {
        let size = triples.len() as u64 * 12;
        let start = self.end + DATA_FRONT;
        let (digest, written) =
            rayon::join(|| digest_of(triples), || write_triples_at(&mut self.file, start, triples));
        written.map_err(|error| AlembicError::io(&self.path, error))?;
        let key = (digest, size);
        let pointer = match self.known.get(&key) {
            Some(&pointer) => pointer,
            None => self.begin(&key)?,
        };
        if let Content::Samples(draft) = &mut self.properties[property.0].content {
            draft.push(key, pointer);
        }
        Ok(())
    }

    /// Writes data that is not in the file yet; answers the pointer to it.
    fn append(&mut self, key: &Key, bytes: &[u8]) -> Result<u64> {
        let pointer = self.begin(key)?;
        self.file.write_all(bytes).map_err(|error| AlembicError::io(&self.path, error))?;
        Ok(pointer)
    }

    /// Begins data that is not in the file yet, as much as its key says; answers the pointer to it.
    fn begin(&mut self, key: &Key) -> Result<u64> {
        let (digest, size) = *key;
        if size == 0 {
            return Ok(DATA);
        }
        let position = self.end;
        let mut front = [0; DATA_FRONT as usize];
        front[..8].copy_from_slice(&(size + 16).to_le_bytes());
        front[8..].copy_from_slice(&digest);
        self.write_at(position, &front)?;
        self.end = position + DATA_FRONT + size;
        self.known.insert(*key, position | DATA);
        Ok(position | DATA)
    }

    /// Makes all so far what readers see; `durable` even if the machine stops.
    pub(super) fn publish(&mut self, durable: bool) -> Result<()> {
        let (bytes, root) = self.structure();
        self.write_at(self.end, &bytes)?;
        // The old structure stays until the new one is there.
        self.end += bytes.len() as u64;
        self.file.set_len(self.end).map_err(|error| AlembicError::io(&self.path, error))?;
        let sync = |this: &Self| match durable {
            true => this.file.sync_data().map_err(|error| AlembicError::io(&this.path, error)),
            false => Ok(()),
        };
        sync(self)?;
        self.write_at(0, &[FRONT, root.to_le_bytes()].concat())?;
        sync(self)
    }
}

/// The key of triples.
fn digest_of(triples: &[Vec3]) -> Digest {
    let (mut piece, mut hasher) = (Vec::new(), Hasher::default());
    for triples in triples.chunks(TRIPLES) {
        encode_triples(triples, &mut piece);
        hasher.take(&piece);
    }
    hasher.key()
}

fn write_triples_at(file: &mut File, position: u64, triples: &[Vec3]) -> io::Result<()> {
    let mut piece = Vec::new();
    file.seek(SeekFrom::Start(position))?;
    for triples in triples.chunks(TRIPLES) {
        encode_triples(triples, &mut piece);
        file.write_all(&piece)?;
    }
    Ok(())
}

impl SamplesDraft {
    /// Takes a sample up whose data is in the file.
    fn push(&mut self, key: Key, pointer: u64) {
        let samples = &mut self.samples;
        let step = samples.data_type.bytes();
        if self.last.is_some_and(|(_, size)| size != key.1) {
            samples.homogeneous = false;
        }
        samples.scalar_like &= key.1 == step;
        if self.last != Some(key) {
            // Samples that were the same as the one before them are stored once others follow.
            let repeated =
                if samples.first_changed > 0 { samples.count - 1 - samples.last_changed } else { 0 };
            let width = if samples.array { 2 } else { 1 };
            let last = self.pointers.len().saturating_sub(width);
            for _ in 0..repeated {
                self.pointers.extend_from_within(last..last + width);
            }
            // Arrays of one dimension have no word of it.
            self.pointers.extend(&[pointer, DATA][..width]);
            if samples.count > 0 {
                samples.first_changed =
                    if samples.first_changed > 0 { samples.first_changed } else { samples.count };
                samples.last_changed = samples.count;
            }
            self.last = Some(key);
        }
        self.history = digest(&[self.history, key.0].concat());
        samples.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alembic::header::Pod;

    #[test]
    fn repeated_samples_point_to_the_same_data() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(&folder.path().join("a.abc")).unwrap();
        let (_, geometry) = writer.add_object(writer.top(), "a", "AbcGeom_Xform_v3");
        let property = writer.add_array(geometry, "P", "", DataType::new(Pod::U8, 1), 0);
        for text in ["a", "a", "bb", "bb", "a", "a"] {
            writer.write_sample(property, text.as_bytes()).unwrap();
        }
        let Content::Samples(draft) = &writer.properties[property.0].content else { panic!("samples") };
        let stored = |sample: u32| draft.pointers[draft.samples.stored(sample) as usize * 2];
        let pointers: Vec<u64> = (0..6).map(stored).collect();
        let (a, b) = (pointers[0], pointers[2]);
        assert_ne!(a, b);
        assert_eq!(pointers, [a, a, b, b, a, a]);
        assert_eq!(draft.pointers.len(), 2 * 4);
        assert!(!draft.samples.homogeneous && !draft.samples.scalar_like);
    }
}
