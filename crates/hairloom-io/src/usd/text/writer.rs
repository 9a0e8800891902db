//! Writes text.
use super::super::draft::Draft;
use super::super::error::UsdError;
use super::super::layer::Layer;
use super::super::value::Value;
use super::super::writer::{Backend, Keep};
use std::io;

#[derive(Debug)]
pub(in super::super) struct TextBackend;
impl TextBackend {
    pub(in super::super) fn create(_: &std::path::Path) -> io::Result<Self> {
        Ok(Self)
    }
    pub(in super::super) fn resume(_: &Layer, _: Keep) -> Result<(Self, Draft<Value>), UsdError> {
        Ok((Self, Draft::new()))
    }
}
impl Backend for TextBackend {
    type Stored = Value;
    fn store(&mut self, value: &Value) -> io::Result<Value> {
        Ok(value.clone())
    }
    fn append(&mut self, _: usize, _: f64, _: &Value) -> io::Result<()> {
        Ok(())
    }
    fn write(&mut self, _: &Draft<Value>, _: bool) -> io::Result<()> {
        Ok(())
    }
}
