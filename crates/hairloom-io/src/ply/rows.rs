use super::header::{Element, Encoding, Number, Property};
use crate::file::FileProblem;

/// The numbers after the header, read from front to back.
pub(super) struct Body<'a> {
    pub(super) encoding: Encoding,
    pub(super) rest: &'a [u8],
}

/// One row of an element.
#[derive(Default)]
pub(super) struct Row {
    /// The number of each property; of a list how long it is.
    pub(super) numbers: Vec<f64>,
    /// The list that was asked for.
    pub(super) list: Vec<f64>,
}

/// A list that is wanted.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// The property that has it.
    pub(super) property: usize,
    /// How long it may be: it names vertices, of which there are so many.
    pub(super) most: usize,
}

impl<'a> Body<'a> {
    /// Whether the file can hold all rows of an element; each takes at least a byte.
    pub(super) fn check(&self, element: &Element) -> Result<(), FileProblem> {
        let least: u64 =
            element.properties.iter().map(|property| self.least(property.count, property.number)).sum();
        let available = self.rest.len() as u64 + u64::from(self.encoding == Encoding::Ascii);
        if element.properties.is_empty() || element.rows.saturating_mul(least) <= available {
            return Ok(());
        }
        Err(FileProblem::content(format!(
            "the header claims {} rows of \"{}\", and only {} bytes are left: the file is cut off, or the header is \
             damaged",
            element.rows,
            shown(&element.name),
            self.rest.len()
        )))
    }

    /// The least that a property takes [bytes].
    fn least(&self, count: Option<Number>, number: Number) -> u64 {
        match self.encoding {
            // A digit and a blank.
            Encoding::Ascii => 2,
            _ => count.unwrap_or(number).size() as u64,
        }
    }

    /// The rows of an element whose properties are all single numbers, if the file is binary: rows of so many bytes.
    pub(super) fn table(&mut self, element: &Element) -> Option<(&'a [u8], usize)> {
        let size = element.row_bytes(self.encoding)?;
        let bytes = usize::try_from(element.rows).ok()?.checked_mul(size)?;
        let (rows, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some((rows, size))
    }

    /// The lists of an element that has nothing but a list of whole numbers of four bytes, counted in as many, if the
    /// file is little-endian: the common case, without a look at every byte.
    pub(super) fn word_lists<'b>(
        &'b mut self,
        element: &Element,
    ) -> Option<impl Iterator<Item = Result<&'a [[u8; 4]], FileProblem>> + use<'a, 'b>> {
        let [Property { count: Some(Number::U32), number: Number::U32 | Number::I32, .. }] =
            element.properties[..]
        else {
            return None;
        };
        if self.encoding != Encoding::Little {
            return None;
        }
        let (rows, name) = (element.rows, shown(&element.name));
        Some((0..rows).map(move |row| {
            let list = self.rest.split_first_chunk().and_then(|(count, rest)| {
                let bytes = (u32::from_le_bytes(*count) as usize).checked_mul(4)?;
                rest.split_at_checked(bytes)
            });
            let problem = || incomplete(row, &name);
            let (list, rest) = list.ok_or_else(problem)?;
            self.rest = rest;
            Ok(list.as_chunks().0)
        }))
    }

    /// Where the lists of an element end, if it has lists as [`Self::word_lists`] reads them that name the vertices one after the
    /// other from the first on; otherwise nothing, and nothing is read.
    pub(super) fn consecutive_lists(&mut self, element: &Element, vertices: usize) -> Option<Vec<u32>> {
        let start = self.rest;
        let mut ends = Vec::new();
        let mut end = 0_u32;
        let mut lists = self.word_lists(element)?;
        let consecutive = lists.all(|list| {
            let Ok(list) = list else { return false };
            let follows = list
                .iter()
                .zip(end..)
                .fold(true, |all, (word, next)| all & (u32::from_le_bytes(*word) == next));
            end = end.saturating_add(list.len() as u32);
            ends.push(end);
            follows && end as usize <= vertices
        });
        drop(lists);
        if !consecutive {
            self.rest = start;
        }
        consecutive.then_some(ends)
    }

    /// Reads all rows of an element; `list` is the list that is wanted.
    pub(super) fn rows(
        &mut self,
        element: &Element,
        list: Option<Wanted>,
        mut take: impl FnMut(&Row) -> Result<(), FileProblem>,
    ) -> Result<(), FileProblem> {
        if element.properties.is_empty() {
            return Ok(());
        }
        self.check(element)?;
        let mut row = Row::default();
        for number in 0..element.rows {
            row.numbers.clear();
            row.list.clear();
            let read = self.row(element, list, &mut row);
            if let Some(wanted) = list.filter(|wanted| row.list.len() > wanted.most) {
                return Err(FileProblem::content(format!(
                    "row {number} of \"{}\" names more vertices than there are before it, {}",
                    shown(&element.name),
                    wanted.most
                )));
            }
            if read.is_none() {
                return Err(incomplete(number, &shown(&element.name)));
            }
            take(&row)?;
        }
        Ok(())
    }

    fn row(&mut self, element: &Element, list: Option<Wanted>, row: &mut Row) -> Option<()> {
        for (index, property) in element.properties.iter().enumerate() {
            let number = self.number(property.count.unwrap_or(property.number))?;
            row.numbers.push(number);
            if property.count.is_some() {
                if number < 0.0 {
                    return None;
                }
                for _ in 0..number as u64 {
                    let number = self.number(property.number)?;
                    if let Some(wanted) = list.filter(|wanted| wanted.property == index) {
                        row.list.push(number);
                        if row.list.len() > wanted.most {
                            return None;
                        }
                    }
                }
            }
        }
        Some(())
    }

    fn number(&mut self, number: Number) -> Option<f64> {
        match self.encoding {
            Encoding::Ascii => {
                let start = self.rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
                let text = &self.rest[start..];
                let length = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
                let (word, rest) = text.split_at(length);
                self.rest = rest;
                let word = str::from_utf8(word).ok()?;
                // A float as the nearest float, not the float nearest to the nearest double.
                match number {
                    Number::F32 => word.parse::<f32>().ok().map(f64::from),
                    _ => word.parse().ok(),
                }
            }
            encoding => {
                let (bytes, rest) = self.rest.split_at_checked(number.size())?;
                self.rest = rest;
                decode(bytes, number, encoding == Encoding::Big)
            }
        }
    }
}

fn incomplete(row: u64, name: &str) -> FileProblem {
    FileProblem::content(format!("row {row} of \"{name}\" is not complete: the file is cut off or damaged"))
}

/// A number from its bytes, of which there may be more.
pub(super) fn decode(bytes: &[u8], number: Number, big: bool) -> Option<f64> {
    fn take<const SIZE: usize>(bytes: &[u8], big: bool) -> Option<[u8; SIZE]> {
        let mut bytes = *bytes.first_chunk::<SIZE>()?;
        if big {
            bytes.reverse();
        }
        Some(bytes)
    }
    Some(match number {
        Number::I8 => f64::from(i8::from_le_bytes(take(bytes, big)?)),
        Number::U8 => f64::from(u8::from_le_bytes(take(bytes, big)?)),
        Number::I16 => f64::from(i16::from_le_bytes(take(bytes, big)?)),
        Number::U16 => f64::from(u16::from_le_bytes(take(bytes, big)?)),
        Number::I32 => f64::from(i32::from_le_bytes(take(bytes, big)?)),
        Number::U32 => f64::from(u32::from_le_bytes(take(bytes, big)?)),
        Number::F32 => f64::from(f32::from_le_bytes(take(bytes, big)?)),
        Number::F64 => f64::from_le_bytes(take(bytes, big)?),
    })
}

/// A name for a message, perhaps shortened.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(40).collect::<String>().escape_debug().to_string()
}
