/// The statements of an OBJ file, each as the rest of its tokens, without a copy of any byte.
pub(super) struct Statements<'a> {
    bytes: &'a [u8],
    line: usize,
}

/// The words of one statement.
#[derive(Clone)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
}

impl<'a> Statements<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        // Some editors put a byte order mark at the start.
        Self { bytes: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), line: 0 }
    }
}

impl<'a> Iterator for Statements<'a> {
    /// The number of the statement's last line, from 1, and its words, without any comment.
    type Item = (usize, Words<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let mut end = 0;
        let mut comment = None;
        loop {
            match self.bytes.get(end) {
                None => {
                    self.line += 1;
                    break;
                }
                Some(b'\n') => {
                    self.line += 1;
                    if comment.is_some() || !continues(&self.bytes[..end]) {
                        break;
                    }
                }
                Some(b'#') => comment = comment.or(Some(end)),
                Some(_) => {}
            }
            end += 1;
        }
        let words = Words { bytes: &self.bytes[..comment.unwrap_or(end)] };
        self.bytes = self.bytes.get(end + 1..).unwrap_or_default();
        Some((self.line, words))
    }
}

/// Whether a line ends in a backslash, before a carriage return perhaps.
fn continues(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let start = self.bytes.iter().position(|&byte| !is_blank(byte))?;
            let rest = &self.bytes[start..];
            // Backslashes separate words only at the end of a line; within a name they are part of it.
            if continuation(rest) {
                self.bytes = &rest[1..];
                continue;
            }
            let length = (0..rest.len()).find(|&at| is_blank(rest[at]) || continuation(&rest[at..]));
            let (word, rest) = rest.split_at(length.unwrap_or(rest.len()));
            self.bytes = rest;
            return Some(word);
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

fn continuation(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\\\n") || bytes.starts_with(b"\\\r\n")
}
