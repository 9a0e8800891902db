//! The text format (`.usda`).

pub(super) mod writer;

use super::error::{Fault, Parsed, fault};
use super::layer::Node;
use super::value::Value;

#[derive(Debug)]
pub(super) struct TextFile {
    text: Vec<u8>,
}

impl TextFile {
    pub(super) fn parse(text: Vec<u8>) -> Result<(Self, Vec<Node>), (Fault, Vec<u8>)> {
        Err((Fault::Format { offset: 0, expected: String::new() }, text))
    }
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }
    pub(super) fn field(&self, _: u32, _: &str) -> Parsed<Option<Value>> {
        fault(0, "")
    }
    pub(super) fn sample(&self, _: u32, _: usize) -> Parsed<Value> {
        fault(0, "")
    }
    pub(super) fn times(&self, _: u32) -> Vec<f64> {
        Vec::new()
    }
}
