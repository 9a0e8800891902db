//! The words of the text format, and how to step over values without building them.

use std::sync::Arc;

use super::super::error::{Parsed, fault};

/// Brackets nest no deeper than this.
pub(super) const DEEPEST_NESTING: usize = 64;

/// A place in a text.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    pub(super) position: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':') || byte >= 0x80
}

fn is_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], position: usize) -> Self {
        Self { text, position }
    }

    pub(super) fn expected<T>(&self, what: impl Into<String>) -> Parsed<T> {
        fault(self.position as u64, what)
    }

    /// The bytes from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.text.get(start..self.position).unwrap_or_default()
    }

    /// The byte at a place.
    pub(super) fn byte_at(&self, position: u64) -> Option<u8> {
        self.text.get(position as usize).copied()
    }

    fn byte(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    /// Steps over white space, comments and the semicolons that may part statements.
    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' => self.position += 1,
                b'#' => self.skip_line(),
                _ => break,
            }
        }
    }

    /// To the end of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = self.text.get(self.position..).unwrap_or_default();
        self.position += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// The next byte that means something.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.byte()
    }

    /// Takes the byte if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    pub(super) fn require(&mut self, byte: u8) -> Parsed<()> {
        if self.take(byte) { Ok(()) } else { self.expected(format!("'{}'", byte as char)) }
    }

    /// A name such as `primvars:st`; empty if none comes next.
    pub(super) fn word(&mut self) -> &'a str {
        self.skip_space();
        let start = self.position;
        while self.byte().is_some_and(is_word) {
            self.position += 1;
        }
        std::str::from_utf8(self.since(start)).unwrap_or_default()
    }

    /// The next name, without taking it.
    pub(super) fn peek_word(&self) -> &'a str {
        let mut ahead = *self;
        ahead.word()
    }

    pub(super) fn required_word(&mut self, what: &str) -> Parsed<&'a str> {
        self.skip_space();
        let word = self.word();
        if word.is_empty() { self.expected(what) } else { Ok(word) }
    }

    /// A number as it is written, or one of the names for what is none.
    #[inline]
    pub(super) fn number(&mut self) -> &'a str {
        self.skip_space();
        let start = self.position;
        while self.byte().is_some_and(is_number) {
            self.position += 1;
        }
        // `inf`, `-inf`, `nan`, `true`: letters right after what is there so far.
        while self.byte().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            self.position += 1;
        }
        std::str::from_utf8(self.since(start)).unwrap_or_default()
    }

    /// A quoted text, its escapes undone.
    pub(super) fn string(&mut self) -> Parsed<Arc<str>> {
        let start = self.position;
        let (content, _) = self.quoted()?;
        match unescape(content) {
            Some(text) => Ok(text.into()),
            None => fault(start as u64, "a text in UTF-8"),
        }
    }

    /// A name in quotes, plain enough to be found again by its place: where it begins.
    pub(super) fn quoted_name(&mut self) -> Parsed<usize> {
        self.skip_space();
        let start = self.position;
        let (name, triple) = self.quoted()?;
        match !triple && !name.contains(&b'\\') && std::str::from_utf8(name).is_ok() {
            true => Ok(start + 1),
            false => fault(start as u64, "a name in simple quotes, in UTF-8 and without escapes"),
        }
    }

    /// What is between quotes, single, double or triple; and whether triple.
    fn quoted(&mut self) -> Parsed<(&'a [u8], bool)> {
        let Some(quote @ (b'"' | b'\'')) = self.peek() else {
            return self.expected("a text in quotes");
        };
        let start = self.position;
        let triple =
            self.text.get(start..start + 3).is_some_and(|bytes| bytes.iter().all(|&byte| byte == quote));
        let width = if triple { 3 } else { 1 };
        self.position += width;
        let content = self.position;
        while let Some(byte) = self.byte() {
            if byte == b'\\' {
                self.position += 2;
                continue;
            }
            if byte == b'\n' && !triple {
                break;
            }
            let closes = self.text.get(self.position..self.position + width);
            if closes.is_some_and(|bytes| bytes.iter().all(|&byte| byte == quote)) {
                let inside = self.since(content);
                self.position += width;
                return Ok((inside, triple));
            }
            self.position += 1;
        }
        fault(start as u64, "a quote that ends this text")
    }

    /// The path of a file between `@`, or `@@@` if it has an `@` of its own.
    pub(super) fn asset(&mut self) -> Parsed<Arc<str>> {
        self.skip_space();
        let start = self.position;
        let rest = self.text.get(start..).unwrap_or_default();
        let mark: &[u8] = if rest.starts_with(b"@@@") { b"@@@" } else { b"@" };
        if !rest.starts_with(mark) {
            return self.expected("the path of a file between @");
        }
        let inside = &rest[mark.len()..];
        let Some(length) = find(inside, mark) else { return self.expected("an @ that ends this path") };
        self.position = start + 2 * mark.len() + length;
        match std::str::from_utf8(&inside[..length]) {
            Ok(text) => Ok(text.replace("\\@@@", "@@@").into()),
            Err(_) => fault(start as u64, "a path in UTF-8"),
        }
    }

    /// A path between angle brackets.
    pub(super) fn path(&mut self) -> Parsed<String> {
        self.require(b'<')?;
        let start = self.position;
        while let Some(byte) = self.byte() {
            if byte == b'>' {
                let text = String::from_utf8_lossy(self.since(start)).into_owned();
                self.position += 1;
                return Ok(text);
            }
            if byte == b'\n' {
                break;
            }
            self.position += 1;
        }
        self.expected("'>' at the end of a path")
    }

    /// Steps over one value of any kind: a word, number, text or path, or whatever is between brackets.
    pub(super) fn skip_value(&mut self) -> Parsed<()> {
        match self.peek() {
            Some(b'[' | b'(' | b'{') => self.skip_brackets(),
            Some(b'"' | b'\'') => self.quoted().map(|_| ()),
            Some(b'<') => self.path().map(|_| ()),
            Some(b'@') => self.asset().map(|_| ()),
            _ => {
                let start = self.position;
                while self.byte().is_some_and(|byte| is_word(byte) || is_number(byte)) {
                    self.position += 1;
                }
                if self.position == start { self.expected("a value") } else { Ok(()) }
            }
        }
    }

    /// Steps over what may follow the file or path of a reference: the prim in that file, the offset of its times.
    /// True if there was anything.
    pub(super) fn skip_reference(&mut self) -> Parsed<bool> {
        let path = self.peek() == Some(b'<');
        if path {
            self.path()?;
        }
        let offset = self.peek() == Some(b'(');
        if offset {
            self.skip_brackets()?;
        }
        Ok(path || offset)
    }

    /// Steps over balanced brackets.
    pub(super) fn skip_brackets(&mut self) -> Parsed<()> {
        let start = self.position;
        let mut open: Vec<u8> = Vec::new();
        while let Some(byte) = self.byte() {
            match byte {
                b'[' | b'(' | b'{' => {
                    if open.len() >= DEEPEST_NESTING {
                        return self.expected(format!("brackets nested at most {DEEPEST_NESTING} deep"));
                    }
                    open.push(match byte {
                        b'[' => b']',
                        b'(' => b')',
                        _ => b'}',
                    });
                    self.position += 1;
                }
                b']' | b')' | b'}' => {
                    if open.pop() != Some(byte) {
                        return self.expected("brackets that match");
                    }
                    self.position += 1;
                    if open.is_empty() {
                        return Ok(());
                    }
                }
                b'"' | b'\'' => drop(self.quoted()?),
                b'@' => drop(self.asset()?),
                b'#' => self.skip_line(),
                _ => self.position += 1,
            }
        }
        fault(start as u64, "a bracket that closes this one")
    }
}

fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.windows(mark.len()).position(|window| window == mark)?;
        // Only the triple mark can be escaped.
        if mark.len() == 1 || at == 0 || text[at - 1] != b'\\' {
            return Some(at);
        }
        from = at + mark.len();
    }
}

/// Undoes escapes; nothing if the result is not UTF-8.
fn unescape(content: &[u8]) -> Option<String> {
    if !content.contains(&b'\\') {
        return std::str::from_utf8(content).ok().map(str::to_owned);
    }
    let mut text = Vec::with_capacity(content.len());
    let mut bytes = content.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => text.push(b'\n'),
            Some(b't') => text.push(b'\t'),
            Some(b'r') => text.push(b'\r'),
            Some(b'a') => text.push(7),
            Some(b'b') => text.push(8),
            Some(b'f') => text.push(12),
            Some(b'v') => text.push(11),
            Some(b'x') => {
                let mut code = 0;
                for _ in 0..2 {
                    let digit = bytes.peek().and_then(|&byte| (byte as char).to_digit(16));
                    let Some(digit) = digit else { break };
                    code = code * 16 + digit as u8;
                    bytes.next();
                }
                text.push(code);
            }
            Some(other) => text.push(other),
            None => text.push(b'\\'),
        }
    }
    String::from_utf8(text).ok()
}
