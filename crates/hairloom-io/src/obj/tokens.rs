/// The statements of an OBJ file, found without a copy of any byte.
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
        let bytes = self.bytes;
        let mut comment = None;
        let mut at = 0;
        let (end, next) = loop {
            let marks = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'#');
            let Some(skipped) = bytes[at..].iter().position(marks) else {
                self.line += 1;
                break (bytes.len(), bytes.len());
            };
            at += skipped;
            let line_end = line_end_length(&bytes[at..]);
            if line_end == 0 {
                comment = comment.or(Some(at));
            } else {
                self.line += 1;
                if comment.is_some() || !bytes[..at].ends_with(b"\\") {
                    break (at, at + line_end);
                }
            }
            at += line_end.max(1);
        };
        self.bytes = &bytes[next..];
        Some((self.line, Words { bytes: &bytes[..comment.unwrap_or(end)] }))
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = (0..self.bytes.len()).find(|&at| !separates(&self.bytes[at..]))?;
        let rest = &self.bytes[start..];
        let length = (0..rest.len()).find(|&at| separates(&rest[at..])).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(length);
        self.bytes = rest;
        Some(word)
    }
}

/// The length of the line end that `bytes` start with: `\n`, `\r\n` or `\r`; 0 if there is none.
fn line_end_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Whether `bytes` start with a blank, or with a backslash that continues a line. Other backslashes are part of names.
fn separates(bytes: &[u8]) -> bool {
    match bytes {
        [b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c', ..] => true,
        [b'\\', rest @ ..] => line_end_length(rest) > 0,
        _ => false,
    }
}
