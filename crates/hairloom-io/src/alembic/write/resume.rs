//! Going on with an archive that this library wrote.

use std::fs::OpenOptions;
use std::path::Path;

use super::{Content, Key, ObjectId, PropertyId, Result, Writer};
use crate::alembic::Archive;
use crate::alembic::digest::Digest;
use crate::alembic::error::AlembicError;
use crate::alembic::read::reader::DATA;
use crate::alembic::read::session::{Compound, KEY_BYTES, Property, Session};

/// Our own compounds nest so deep; others may go round in circles.
const DEPTH: u32 = 3;

/// Where the data of a sample is, and its key.
struct Stored {
    key: Key,
    pointer: u64,
}

impl Writer {
    /// Opens an archive to go on with: it is declared anew, and data that it has already is not written again.
    pub(in super::super) fn reopen(path: &Path, old: &Archive) -> Result<Self> {
        let io = |error| AlembicError::io(path, error);
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(io)?;
        let end = file.metadata().map_err(io)?.len();
        let mut writer = Self::new(path, file, end);
        for object in 0..old.object_count() {
            let session = Session::new(old);
            writer.know(&session, &session.properties(object)?, DEPTH)?;
        }
        Ok(writer)
    }

    /// Takes up what data there is below a compound, so many levels down.
    fn know(&mut self, session: &Session<'_>, compound: &Compound, depth: u32) -> Result<()> {
        for index in 0..compound.headers.len() {
            if depth > 0
                && let Some(below) = session.compound_at(compound, index)?
            {
                self.know(session, &below, depth - 1)?;
            }
            let Some(property) = session.property_at(compound, index)? else { continue };
            if property.samples.sampling == 0 {
                let Stored { key, pointer } = stored(session, &property, 0)?;
                self.known.insert(key, pointer);
            }
        }
        Ok(())
    }

    /// Takes the first samples of everything that moves from the old archive; whether it has them all.
    pub(in super::super) fn adopt(&mut self, old: &Archive, count: u32) -> Result<bool> {
        let mut open = vec![(self.top(), 0)];
        while let Some((object, index)) = open.pop() {
            let session = Session::new(old);
            let properties = self.objects[object.0].properties;
            if !self.adopt_properties(&session, &session.properties(index)?, properties, count)? {
                return Ok(false);
            }
            for &child in &self.objects[object.0].children {
                let ObjectId(place) = child;
                match old.child(index, &self.objects[place].name) {
                    Some(index) => open.push((child, index)),
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    fn adopt_properties(
        &mut self,
        session: &Session<'_>,
        old: &Compound,
        compound: PropertyId,
        count: u32,
    ) -> Result<bool> {
        let Content::Compound(children) = &self.properties[compound.0].content else { return Ok(true) };
        if old.headers.len() != children.len() {
            return Ok(false);
        }
        for child in children.clone() {
            let draft = &mut self.properties[child.0];
            let name = draft.name.clone();
            if let Content::Samples(draft) = &mut draft.content {
                let Some(property) = session.property(old, &name)? else { return Ok(false) };
                let new = draft.samples;
                let same =
                    property.samples.data_type == new.data_type && property.samples.sampling == new.sampling;
                if !same || (new.sampling != 0 && property.samples.count < count) {
                    return Ok(false);
                }
                if new.sampling == 0 {
                    continue;
                }
                for sample in 0..count {
                    let Stored { key, pointer } = stored(session, &property, sample)?;
                    draft.push(key, pointer);
                    self.known.insert(key, pointer);
                }
            } else {
                let Some(below) = session.compound(old, &name)? else { return Ok(false) };
                if !self.adopt_properties(session, &below, child, count)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn stored(session: &Session<'_>, property: &Property, sample: u32) -> Result<Stored> {
    let data = session.data(property, sample)?;
    if data.size == 0 {
        return Ok(Stored { key: (crate::alembic::digest::digest(&[]), 0), pointer: DATA });
    }
    let mut key: Digest = [0; 16];
    let start = data.start - KEY_BYTES;
    session.reader.fill(start, &mut key)?;
    Ok(Stored { key: (key, data.size), pointer: (start - 8) | DATA })
}
