//! The archive: its objects, its time samplings, its metadata.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::super::error::AlembicError;
use super::super::header::{MetadataTable, decode_objects, metadata_value};
use super::super::source::Source;
use super::super::time::TimeSampling;
use super::reader::{Child, Reader, Result};
use crate::notes::Notes;
use glam::DMat4;

/// At the end of the headers of an object's children stand so many bytes of hashes.
const HASHES: usize = 32;

/// The memory that an object takes here, generously [bytes].
const OBJECT_BYTES: u64 = 96;

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Schema {
    Xform,
    Curves,
    Mesh,
    Other,
}

impl Schema {
    fn of(metadata: &str) -> Self {
        // The versions at the end never changed what is read here.
        let schema = metadata_value(metadata, "schema").unwrap_or_default();
        let family = schema.rsplit_once("_v").map_or(schema, |(family, _)| family);
        match family {
            "AbcGeom_Xform" => Self::Xform,
            "AbcGeom_Curve" => Self::Curves,
            "AbcGeom_PolyMesh" | "AbcGeom_SubD" => Self::Mesh,
            _ => Self::Other,
        }
    }
}

/// An object of an archive, without its properties.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Object {
    /// Where its name is among the names.
    name: (u32, u32),
    /// Index of the object above; the first object is its own.
    pub(in super::super) parent: u32,
    pub(in super::super) schema: Schema,
    /// Position of its group.
    pub(in super::super) group: u64,
}

/// An Alembic archive, open for reading.
#[derive(Debug)]
pub struct Archive {
    pub(super) path: PathBuf,
    pub(super) source: Source,
    pub(super) table: MetadataTable,
    pub(super) samplings: Vec<TimeSampling>,
    metadata: String,
    /// Places everything, if not by the unit that the file states.
    pub(in super::super) placement: Option<DMat4>,
    /// Each after the object above it, the top first.
    pub(super) objects: Vec<Object>,
    names: String,
    /// What is left out, as far as it was read.
    pub(crate) notes: Notes,
}

impl Archive {
    /// Opens an archive and reads what objects it has.
    pub fn open(path: impl AsRef<Path>) -> std::result::Result<Self, AlembicError> {
        let path = path.as_ref();
        let io = |error| AlembicError::io(path, error);
        Self::from_source(path, Source::file(File::open(path).map_err(io)?).map_err(io)?)
    }

    /// Reads an archive in memory; errors call it `path`.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> std::result::Result<Self, AlembicError> {
        Self::from_source(path.as_ref(), Source::memory(bytes))
    }

    fn from_source(path: &Path, source: Source) -> Result<Self> {
        let mut archive = Self {
            path: path.to_owned(),
            source,
            table: MetadataTable::default(),
            samplings: Vec::new(),
            metadata: String::new(),
            placement: None,
            objects: Vec::new(),
            names: String::new(),
            notes: Notes::default(),
        };
        let root = archive.read_front()?;
        let (samplings, table, metadata, top) = archive.read_root(root)?;
        (archive.samplings, archive.table, archive.metadata) = (samplings, table, metadata);
        let (objects, names) = archive.read_objects(top)?;
        (archive.objects, archive.names) = (objects, names);
        Ok(archive)
    }

    /// Checks the first 16 bytes and answers the position of the root group.
    fn read_front(&self) -> Result<u64> {
        let reader = self.reader();
        let mut front = [0; 16];
        let known = self.source.length().min(16) as usize;
        reader.fill(0, &mut front[..known])?;
        if front.starts_with(b"\x89HDF") {
            return Err(AlembicError::Hdf5 { path: self.path.clone() });
        }
        if !front.starts_with(b"Ogawa") {
            return Err(AlembicError::UnknownFormat { path: self.path.clone() });
        }
        if known < 16 || front[5] != 0xff {
            return Err(AlembicError::Unfinished { path: self.path.clone() });
        }
        if front[6..8] != [0, 1] {
            let version = u16::from_be_bytes([front[6], front[7]]);
            return Err(reader.fault(6, format!("version 1 of the container, not {version}")));
        }
        let (_, root) = front.split_at(8);
        Ok(root.iter().rev().fold(0, |root, &byte| root << 8 | u64::from(byte)))
    }

    fn read_root(&self, root: u64) -> Result<(Vec<TimeSampling>, MetadataTable, String, u64)> {
        let reader = self.reader();
        let group = reader.group(root)?;
        let mut parts = [Child::Group(0); 6];
        for (index, part) in parts.iter_mut().enumerate() {
            *part = reader.child(&group, index as u64)?;
        }
        use Child::{Data, Group};
        let [Data(version), Data(_), Group(top), Data(metadata), Data(samplings), Data(table)] = parts else {
            return Err(reader.fault(root, "the parts of an Alembic archive"));
        };
        let bytes = |position| reader.bytes(reader.data(position)?);
        if bytes(version)? != [0; 4] {
            return Err(reader.fault(version, "version 0 of Alembic in Ogawa"));
        }
        let samplings = TimeSampling::decode_all(&bytes(samplings)?)
            .ok_or_else(|| reader.fault(samplings, "time samplings with finite times in order"))?;
        let table = MetadataTable::decode(&bytes(table)?)
            .ok_or_else(|| reader.fault(table, "a table of metadata"))?;
        let metadata = String::from_utf8_lossy(&bytes(metadata)?).into_owned();
        Ok((samplings, table, metadata, top))
    }

    /// All objects, depth first. No group may belong to two objects: that would be a circle, or a bomb.
    fn read_objects(&self, top: u64) -> Result<(Vec<Object>, String)> {
        let reader = self.reader();
        let mut names = String::new();
        let mut objects = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![Object { name: (0, 0), parent: 0, schema: Schema::Other, group: top }];
        while let Some(object) = open.pop() {
            let index = objects.len() as u32;
            objects.push(object);
            if object.group == 0 {
                continue;
            }
            if !seen.insert(object.group) {
                return Err(reader.fault(object.group, "an object that is in one place only"));
            }
            let children = reader.children(&reader.group(object.group)?)?;
            let Some((Child::Data(position), groups)) = children.split_last() else { continue };
            let mut headers = reader.bytes(reader.data(*position)?)?;
            headers.truncate(headers.len().saturating_sub(HASHES));
            let first = open.len();
            let mut groups = groups.iter().skip(1);
            let mut whole = true;
            let decoded = decode_objects(&headers, &self.table, |name, metadata| {
                let group = match groups.next() {
                    Some(Child::Group(group)) => *group,
                    _ => {
                        whole = false;
                        return;
                    }
                };
                let start = names.len() as u32;
                names.push_str(name);
                open.push(Object {
                    name: (start, name.len() as u32),
                    parent: index,
                    schema: Schema::of(metadata),
                    group,
                });
            });
            if !(decoded && whole) || u32::try_from(names.len()).is_err() {
                return Err(reader.fault(*position, "a header and a group for every object"));
            }
            reader.pay((open.len() - first) as u64 * OBJECT_BYTES, *position)?;
            open[first..].reverse();
        }
        Ok((objects, names))
    }

    /// A reader for one request.
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader::new(&self.source, &self.path)
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// A value of the archive's own metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        metadata_value(&self.metadata, key)
    }

    /// The name of an object.
    pub(in super::super) fn name(&self, object: u32) -> &str {
        let (start, length) = self.objects[object as usize].name;
        &self.names[start as usize..(start + length) as usize]
    }

    /// The path of an object, such as `/Hair/HairShape`.
    pub(in super::super) fn object_path(&self, mut object: u32) -> String {
        let mut names = Vec::new();
        while object != 0 {
            names.push(self.name(object));
            object = self.objects[object as usize].parent;
        }
        match names.is_empty() {
            true => "/".to_owned(),
            false => names.iter().rev().fold(String::new(), |path, name| path + "/" + name),
        }
    }

    /// The error that an object cannot be used.
    pub(in super::super) fn problem(&self, object: u32, problem: impl Into<String>) -> AlembicError {
        AlembicError::Content {
            path: self.path.clone(),
            object: self.object_path(object),
            problem: problem.into(),
        }
    }

    /// The number of objects, with the one at the top.
    pub(in super::super) fn object_count(&self) -> u32 {
        self.objects.len() as u32
    }

    /// The child of a name.
    pub(in super::super) fn child(&self, parent: u32, name: &str) -> Option<u32> {
        let objects = self.objects.iter().enumerate().skip(1);
        let mut children =
            objects.filter(|(_, object)| object.parent == parent).map(|(index, _)| index as u32);
        children.find(|&child| self.name(child) == name)
    }

    /// The objects of a schema.
    pub(in super::super) fn of_schema(&self, schema: Schema) -> impl Iterator<Item = u32> {
        let objects = self.objects.iter().enumerate();
        objects.filter(move |(_, object)| object.schema == schema).map(|(index, _)| index as u32)
    }
}
