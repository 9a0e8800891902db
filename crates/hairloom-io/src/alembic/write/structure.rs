//! The groups and headers of an archive.

use super::{Content, ObjectDraft, ObjectId, PropertyDraft, PropertyId, SamplesDraft, Writer};
use crate::alembic::digest::{Digest, digest};
use crate::alembic::header::{Kind, MetadataTable, PropertyHeader, encode_object};
use crate::alembic::read::reader::DATA;

/// The version of Alembic whose archives these are: 1.8.0.
const LIBRARY_VERSION: i32 = 10_800;

/// Groups and headers in the making.
struct Structure {
    bytes: Vec<u8>,
    /// The position in the file where the bytes go.
    start: u64,
    table: MetadataTable,
}

/// A group that was written, and a hash of all below it.
type Written = (u64, Digest);

impl Structure {
    fn position(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Adds data; answers the pointer to it.
    fn data(&mut self, bytes: &[u8]) -> u64 {
        if bytes.is_empty() {
            return DATA;
        }
        let position = self.position();
        self.bytes.extend((bytes.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        position | DATA
    }

    /// Adds a group; answers the pointer to it.
    fn group(&mut self, pointers: &[u64]) -> u64 {
        if pointers.is_empty() {
            return 0;
        }
        let position = self.position();
        self.bytes.extend((pointers.len() as u64).to_le_bytes());
        self.bytes.extend(pointers.iter().flat_map(|pointer| pointer.to_le_bytes()));
        position
    }

    fn property(&mut self, writer: &Writer, property: PropertyId) -> Written {
        match &writer.properties[property.0].content {
            Content::Samples(SamplesDraft { pointers, history, .. }) => (self.group(pointers), *history),
            Content::Compound(children) => {
                let (mut pointers, mut headers, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
                for &child in children {
                    let (pointer, hash) = self.property(writer, child);
                    pointers.push(pointer);
                    hashes.extend(hash);
                    header(&writer.properties[child.0]).encode(&mut self.table, &mut headers);
                }
                if !pointers.is_empty() {
                    pointers.push(self.data(&headers));
                }
                hashes.extend(headers);
                (self.group(&pointers), digest(&hashes))
            }
        }
    }

    /// Objects nest no deeper than whoever writes them lets them: two levels.
    fn object(&mut self, writer: &Writer, object: ObjectId) -> Written {
        let ObjectDraft { properties, children, .. } = &writer.objects[object.0];
        let (pointer, own) = self.property(writer, *properties);
        let (mut pointers, mut headers, mut hashes) = (vec![pointer], Vec::new(), Vec::new());
        for &child in children {
            let (pointer, hash) = self.object(writer, child);
            pointers.push(pointer);
            hashes.extend(hash);
            let ObjectDraft { name, metadata, .. } = &writer.objects[child.0];
            encode_object(name, metadata, &mut self.table, &mut headers);
        }
        // Readers compare these to find out whether anything changed; how they are made is up to the writer.
        let below = if children.is_empty() { [0; 16] } else { digest(&hashes) };
        headers.extend([own, below].concat());
        pointers.push(self.data(&headers));
        (self.group(&pointers), digest(&[own, below].concat()))
    }
}

fn header(property: &PropertyDraft) -> PropertyHeader {
    PropertyHeader {
        name: property.name.clone(),
        metadata: property.metadata.as_str().into(),
        kind: match &property.content {
            Content::Compound(_) => Kind::Compound,
            Content::Samples(draft) => Kind::Samples(draft.samples),
        },
    }
}

impl Writer {
    /// All groups and headers, to be written at the end of the file, and the position of the root.
    pub(super) fn structure(&self) -> (Vec<u8>, u64) {
        let mut structure = Structure { bytes: Vec::new(), start: self.end, table: MetadataTable::default() };
        let version = structure.data(&0_i32.to_le_bytes());
        let library = structure.data(&LIBRARY_VERSION.to_le_bytes());
        let (top, _) = structure.object(self, self.top());
        let metadata = structure.data(self.metadata.as_bytes());
        let mut samplings = Vec::new();
        for (index, sampling) in self.samplings.iter().enumerate() {
            sampling.encode(self.most_samples(index as u32), &mut samplings);
        }
        let samplings = structure.data(&samplings);
        let table = structure.table.encode();
        let table = structure.data(&table);
        let root = structure.group(&[version, library, top, metadata, samplings, table]);
        (structure.bytes, root)
    }

    fn most_samples(&self, sampling: u32) -> u32 {
        let counts = self.properties.iter().filter_map(|property| match &property.content {
            Content::Samples(draft) if draft.samples.sampling == sampling => {
                let constant = draft.samples.last_changed == 0;
                Some(if constant { draft.samples.count.min(1) } else { draft.samples.count })
            }
            _ => None,
        });
        counts.max().unwrap_or(0)
    }
}
