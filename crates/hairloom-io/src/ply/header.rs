use crate::file::FileProblem;

/// How the numbers after the header are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Little,
    Big,
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Number {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    /// The size of one number in a binary file [bytes].
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Whether it is a whole number.
    pub(super) fn is_whole(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

/// A property of an element: one number, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    /// The type of a list's count.
    pub(super) count: Option<Number>,
    pub(super) number: Number,
}

/// A table of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// The first property that has one of these names and is a list, or is none.
    pub(super) fn find(&self, names: &[&str], list: bool) -> Option<usize> {
        let wanted = |property: &Property| {
            property.count.is_some() == list
                && names.iter().any(|name| property.name.eq_ignore_ascii_case(name))
        };
        self.properties.iter().position(wanted)
    }

    /// The size of a row in a binary file, if all rows have the same [bytes].
    pub(super) fn row_bytes(&self, encoding: Encoding) -> Option<usize> {
        let fixed =
            encoding != Encoding::Ascii && self.properties.iter().all(|property| property.count.is_none());
        fixed.then(|| self.properties.iter().map(|property| property.number.size()).sum())
    }
}

/// What the file says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
}

/// More elements or properties than any real file has.
const MOST: usize = 256;

impl Header {
    /// The header, and the bytes after it.
    pub(super) fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), FileProblem> {
        let mut lines = Lines { rest: bytes };
        if lines.next()?.trim_end() != "ply" {
            return Err(FileProblem::content("not a PLY file: its first line should be \"ply\""));
        }
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        loop {
            let line = lines.next()?;
            let words: Vec<&str> = line.split_ascii_whitespace().take(6).collect();
            let wrong = || {
                let start: String = line.chars().take(60).collect();
                FileProblem::content(format!(
                    "the header's line \"{}\" is none that PLY knows",
                    start.escape_debug()
                ))
            };
            match words[..] {
                ["format", name, "1.0"] => {
                    encoding = Some(match name {
                        "ascii" => Encoding::Ascii,
                        "binary_little_endian" => Encoding::Little,
                        "binary_big_endian" => Encoding::Big,
                        _ => return Err(wrong()),
                    });
                }
                ["element", name, rows] if elements.len() < MOST => {
                    let rows = rows.parse().map_err(|_| wrong())?;
                    elements.push(Element { name: name.to_owned(), rows, properties: Vec::new() });
                }
                ["property", ref words @ ..] => {
                    let element = elements.last_mut().ok_or_else(wrong)?;
                    let property = property(words).filter(|_| element.properties.len() < MOST);
                    element.properties.push(property.ok_or_else(wrong)?);
                }
                ["end_header"] => break,
                ["comment" | "obj_info", ..] | [] => {}
                _ => return Err(wrong()),
            }
        }
        let encoding =
            encoding.ok_or_else(|| FileProblem::content("the header has no line \"format … 1.0\""))?;
        Ok((Self { encoding, elements }, lines.rest))
    }
}

fn property(words: &[&str]) -> Option<Property> {
    let (count, number, name) = match *words {
        ["list", count, number, name] => (Some(Number::named(count)?), number, name),
        [number, name] => (None, number, name),
        _ => return None,
    };
    if count.is_some_and(|count| !count.is_whole()) {
        return None;
    }
    Some(Property { name: name.to_owned(), count, number: Number::named(number)? })
}

struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// The next line of the header, as text.
    fn next(&mut self) -> Result<std::borrow::Cow<'a, str>, FileProblem> {
        // Damaged files may have no line end at all.
        let window = &self.rest[..self.rest.len().min(1 << 16)];
        let end = window.iter().position(|&byte| byte == b'\n').ok_or_else(|| {
            FileProblem::content("the PLY header is not finished: there is no line \"end_header\"")
        })?;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(String::from_utf8_lossy(line))
    }
}
