//! Where something lies in a layer: `/World/Hair`, `/World/Hair.points`.

use std::fmt;

/// The path of a prim or of a property, as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(String);

impl Path {
    /// Takes the text as it is; [`super::Writer`] checks what it is given.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<&str> for Path {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Path {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// Whether `name` may name a prim: a letter or underscore, then letters, digits and underscores.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || next == '_')
}

/// Whether `name` may name a property: identifiers joined by colons, such as `primvars:st`.
pub(super) fn is_property_name(name: &str) -> bool {
    name.split(':').all(is_identifier)
}
