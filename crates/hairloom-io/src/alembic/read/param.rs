//! Geometry parameters: values for the whole, for each curve, or for each vertex, sometimes through indices.

use hairloom::groom::{Domain, Values};

use super::super::header::{Kind, Pod, metadata_value};
use super::reader::Result;
use super::session::{Compound, Property, Session};
use crate::stage::spread;

/// What a parameter's values belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Constant,
    Uniform,
    Vertex,
    Unknown,
}

impl Scope {
    fn of(metadata: &str) -> Self {
        match metadata_value(metadata, "geoScope") {
            Some("con") => Self::Constant,
            Some("uni") => Self::Uniform,
            Some("vtx" | "var") => Self::Vertex,
            _ => Self::Unknown,
        }
    }

    /// The domain among `strands` and `vertices` that so many values are for; the values are one for all if it is
    /// constant. Programs that name a wrong scope exist, so the count decides where the scope cannot be meant.
    pub(super) fn domain(self, count: usize, strands: usize, vertices: usize) -> Option<(Domain, bool)> {
        match self {
            Self::Uniform if count == strands => Some((Domain::Strand, false)),
            Self::Vertex if count == vertices => Some((Domain::Vertex, false)),
            _ if count == strands => Some((Domain::Strand, false)),
            _ if count == vertices => Some((Domain::Vertex, false)),
            _ if count == 1 => Some((Domain::Strand, true)),
            _ => None,
        }
    }
}

/// The values of a parameter at a time.
pub(super) struct Param {
    pub(super) scope: Scope,
    pub(super) values: Values,
}

impl Session<'_> {
    /// The parameter of a name at a time [s], its indices followed; nothing where it has no numbers.
    pub(super) fn param(&self, within: &Compound, name: &str, time: f64) -> Result<Option<Param>> {
        within.find(name).map_or(Ok(None), |index| self.param_at(within, index, time))
    }

    /// The parameter at an index of a compound at a time [s].
    pub(super) fn param_at(&self, within: &Compound, index: usize, time: f64) -> Result<Option<Param>> {
        let header = &within.headers[index];
        if header.kind != Kind::Compound {
            let Some(property) = self.property_at(within, index)? else { return Ok(None) };
            return self.values(&property, time);
        }
        let Some(indexed) = self.compound_at(within, index)? else { return Ok(None) };
        let (Some(values), Some(indices)) =
            (self.property(&indexed, ".vals")?, self.property(&indexed, ".indices")?)
        else {
            return Ok(None);
        };
        let Some(param) = self.values(&values, time)? else { return Ok(None) };
        let indices_now = self.integers(&indices, self.bracket(&indices, time)?.before)?;
        // What an index stands for may be larger than the index.
        self.reader.pay(indices_now.len() as u64 * 12, indices.group)?;
        let scope = match param.scope {
            Scope::Unknown => Scope::of(&header.metadata),
            known => known,
        };
        Ok(spread(param.values, &indices_now).map(|values| Param { scope, values }))
    }

    fn values(&self, property: &Property, time: f64) -> Result<Option<Param>> {
        let samples = &property.samples;
        if !samples.array {
            return Ok(None);
        }
        let sample = self.bracket(property, time)?.before;
        // Houdini writes three numbers as an array of single ones with this extent.
        let array_extent = metadata_value(&property.header.metadata, "arrayExtent");
        let array_extent = array_extent.and_then(|text| text.parse::<u16>().ok()).unwrap_or(1);
        let extent = u16::from(samples.data_type.extent).saturating_mul(array_extent.max(1));
        let whole = !matches!(samples.data_type.pod, Pod::F16 | Pod::F32 | Pod::F64);
        let values = match (extent, samples.data_type.pod) {
            (_, Pod::String | Pod::WideString) => return Ok(None),
            (1, _) if whole => Values::Int(self.integers(property, sample)?),
            (1, _) => Values::Float(self.floats(property, sample)?),
            (2, _) => Values::Vec2(self.pairs(property, sample)?),
            (3, _) => Values::Vec3(self.triples(property, sample)?),
            _ => return Ok(None),
        };
        Ok(Some(Param { scope: Scope::of(&property.header.metadata), values }))
    }
}
