//! Curves, with the attributes that Unreal reads.

use std::collections::HashSet;
use std::ops::Range;

use glam::{DMat4, Vec3};
use hairloom::groom::{Attribute, Domain, Groom, Values};

use super::{ObjectId, PropertyId, Result, Writer};
use crate::alembic::header::{DataType, Pod};
use crate::alembic::names;
use crate::cache::layout;
use crate::file::encode_triples;

/// What hair is written with.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct HairSettings<'a> {
    /// The time sampling of what moves.
    pub(in super::super) sampling: u32,
    /// From the unit and axes that the points are in to those of the file; nothing if they are the same.
    pub(in super::super) file_from_points: Option<DMat4>,
    /// Whether diameters are written.
    pub(in super::super) widths: bool,
    /// Whether velocities are written.
    pub(in super::super) velocities: bool,
    /// Widths (`widths`) and attributes, by name, that get a sample in every frame.
    pub(in super::super) changing: &'a [String],
}

impl HairSettings<'_> {
    /// The time sampling of widths or an attribute.
    fn sampling_of(&self, name: &str) -> u32 {
        if self.changing.iter().any(|changing| changing == name) { self.sampling } else { 0 }
    }
}

/// The properties of hair that get samples.
#[derive(Debug)]
pub(in super::super) struct HairSamples {
    groups: Vec<GroupSamples>,
    radius: f32,
}

#[derive(Debug)]
struct GroupSamples {
    /// The vertices of this group.
    vertices: Range<usize>,
    points: PropertyId,
    bounds: PropertyId,
    velocities: Option<PropertyId>,
    /// Widths, twice, that change.
    widths: Option<[PropertyId; 2]>,
    /// Attributes that change: their place in the groom, and which of their values are here.
    attributes: Vec<(usize, Range<usize>, PropertyId)>,
}

pub(super) const TRIPLE: DataType = DataType::new(Pod::F32, 3);
pub(super) const WHOLE: DataType = DataType::new(Pod::I32, 1);
pub(super) const BOX: DataType = DataType::new(Pod::F64, 6);
pub(super) const POINTS: &str = "geoScope=vtx;interpretation=point";
pub(super) const BOUNDS: &str = "interpretation=box";

/// Linear, open, and twice a basis that does not count.
const LINEAR: [u8; 4] = [1, 0, 0, 0];

/// The metadata of a geometry parameter.
fn param_metadata(scope: &str, data_type: DataType, interpretation: &str) -> String {
    let interpretation = match interpretation {
        "" => String::new(),
        text => format!("interpretation={text};"),
    };
    let DataType { pod, extent } = data_type;
    let pod = pod.name();
    format!(
        "arrayExtent=1;geoScope={scope};{interpretation}isGeomParam=true;podExtent={extent};podName={pod}"
    )
}

pub(super) fn triples(points: &[Vec3]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_triples(points, &mut bytes);
    bytes
}

pub(super) fn integers(values: impl Iterator<Item = i32>) -> Vec<u8> {
    words(values.map(i32::to_le_bytes))
}

fn words(values: impl Iterator<Item = [u8; 4]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.size_hint().0 * 4);
    values.for_each(|value| bytes.extend_from_slice(&value));
    bytes
}

/// The box around points, with room for their thickness.
pub(super) fn bounds(points: &[Vec3], radius: f32) -> Vec<u8> {
    let (low, high) = crate::bounds::bounds(points);
    let corners = [low - radius, high + radius].map(|corner| corner.as_dvec3().to_array());
    corners.as_flattened().iter().flat_map(|part| part.to_le_bytes()).collect()
}

/// What the strands of an object have in common: their group, and whether they are guides where that is told apart.
type Common = (Option<i32>, Option<bool>);

/// Strands that are written as one object each, if they follow one another: those of every group, and guides apart from the
/// others where both have the same identifiers.
fn groups(groom: &Groom) -> Vec<(Common, Range<usize>)> {
    let strands = groom.strands();
    let found = groom.attributes.iter().find_map(|attribute| match &attribute.values {
        Values::Int(ids) if attribute.name == names::GROUP_ID && attribute.domain == Domain::Strand => {
            Some(ids)
        }
        _ => None,
    });
    let group_ids = found.filter(|ids| ids.len() == strands);
    let apart = guides_share_ids(groom);
    let common =
        |strand: usize| -> Common { (group_ids.map(|ids| ids[strand]), apart.then(|| groom.guides[strand])) };
    let all = vec![((None, None), 0..strands)];
    let (mut groups, mut seen): (Vec<(Common, Range<usize>)>, _) = (Vec::new(), HashSet::new());
    for strand in 0..strands {
        let own = common(strand);
        match groups.last_mut() {
            Some((last, range)) if *last == own => range.end += 1,
            _ if seen.insert(own) => groups.push((own, strand..strand + 1)),
            _ => return all,
        }
    }
    if groups.len() > 1 { groups } else { all }
}

/// Whether a guide and another strand have the same identifier.
fn guides_share_ids(groom: &Groom) -> bool {
    let strands = groom.strands();
    if groom.ids.len() != strands || groom.guides.len() != strands {
        return false;
    }
    let numbered = || groom.ids.iter().zip(&groom.guides);
    let guides: HashSet<u32> = numbered().filter(|(_, guide)| **guide).map(|(&id, _)| id).collect();
    numbered().any(|(id, guide)| !guide && guides.contains(id))
}

impl Writer {
    /// Adds hair under a transform of its own, with all of it that never changes.
    pub(in super::super) fn add_hair(
        &mut self,
        groom: &Groom,
        settings: &HairSettings<'_>,
    ) -> Result<HairSamples> {
        let (hair, xform) = self.add_object(self.top(), names::HAIR, "AbcGeom_Xform_v3");
        // Points keep their bits; the transform makes other units and axes of them.
        self.add_transform(xform, settings.file_from_points)?;
        let user = self.add_compound(xform, ".userProperties", "");
        for (name, value) in [names::VERSION_MAJOR, names::VERSION_MINOR] {
            let version = self.add_scalar(user, name, "", DataType::new(Pod::I16, 1), 0);
            self.write_sample(version, &value.to_le_bytes())?;
        }
        let tool = self.add_scalar(user, names::TOOL, "", DataType::new(Pod::String, 1), 0);
        self.write_sample(tool, concat!("Hairloom ", env!("CARGO_PKG_VERSION"), "\0").as_bytes())?;
        let groups = groups(groom);
        let groups = groups.into_iter().map(|((id, guides), strands)| {
            let kind = if guides == Some(true) { names::GUIDES } else { names::HAIR };
            let name = match id {
                Some(id) => format!("{kind}Shape_{id}"),
                None => format!("{kind}Shape"),
            };
            self.add_curves(hair, &name, groom, strands, settings)
        });
        let radius = 0.5 * groom.widths.iter().copied().fold(0.0, f32::max);
        Ok(HairSamples { groups: groups.collect::<Result<_>>()?, radius })
    }

    fn add_curves(
        &mut self,
        hair: ObjectId,
        name: &str,
        groom: &Groom,
        strands: Range<usize>,
        settings: &HairSettings<'_>,
    ) -> Result<GroupSamples> {
        let offsets = &groom.curves.offsets[strands.start..=strands.end];
        let vertices = offsets[0] as usize..offsets[offsets.len() - 1] as usize;
        let (_, curves) = self.add_object(hair, name, "AbcGeom_Curve_v2");
        let sampling = settings.sampling;
        let bounds = self.add_scalar(curves, ".selfBnds", BOUNDS, BOX, sampling);
        let points = self.add_array(curves, "P", POINTS, TRIPLE, sampling);
        let counts = self.add_array(curves, "nVertices", "", WHOLE, 0);
        self.write_sample(counts, &integers(offsets.windows(2).map(|pair| (pair[1] - pair[0]) as i32)))?;
        let basis = self.add_scalar(curves, "curveBasisAndType", "", DataType::new(Pod::U8, 4), 0);
        self.write_sample(basis, &LINEAR)?;
        let has_widths = settings.widths && groom.widths.len() == groom.vertices();
        let widths = has_widths.then(|| {
            let widths = Values::Float(groom.widths[vertices.clone()].to_vec());
            self.add_param(curves, "width", Domain::Vertex, &widths, settings.sampling_of("widths"))
        });
        let widths = widths.transpose()?;
        let velocities = settings.velocities.then(|| {
            self.add_array(curves, ".velocities", "geoScope=vtx;interpretation=vector", TRIPLE, sampling)
        });
        let params = self.add_compound(curves, ".arbGeomParams", "");
        let mut changing_widths = None;
        if let Some(widths) = widths {
            // The same once more, under the name that engines look for.
            let data_type = DataType::new(Pod::F32, 1);
            let metadata = param_metadata("vtx", data_type, "");
            let sampling = settings.sampling_of("widths");
            let again = self.add_array(params, names::WIDTH, &metadata, data_type, sampling);
            self.repeat_sample(again, widths);
            changing_widths = (sampling != 0).then_some([widths, again]);
        }
        self.add_own_params(params, groom, &strands)?;
        let mut used = [names::WIDTH, names::ID, names::ROOT_UV, names::GUIDE].map(str::to_owned).to_vec();
        let mut attributes = Vec::new();
        for (index, attribute) in groom.attributes.iter().enumerate() {
            let range = match attribute.domain {
                Domain::Strand => strands.clone(),
                Domain::Vertex => vertices.clone(),
            };
            let sampling = settings.sampling_of(&attribute.name);
            let added = self.add_attribute(params, attribute, &range, sampling, &mut used)?;
            attributes.extend(added.filter(|_| sampling != 0).map(|property| (index, range, property)));
        }
        Ok(GroupSamples { vertices, points, bounds, velocities, widths: changing_widths, attributes })
    }

    /// Adds what a groom always has a place for.
    fn add_own_params(&mut self, params: PropertyId, groom: &Groom, strands: &Range<usize>) -> Result<()> {
        if let Some(ids) = groom.ids.get(strands.clone()).filter(|ids| !ids.is_empty()) {
            let ids = Values::Int(ids.iter().map(|&id| id as i32).collect());
            self.add_param(params, names::ID, Domain::Strand, &ids, 0)?;
        }
        if let Some(root_uv) = groom.root_uv.get(strands.clone()).filter(|uv| !uv.is_empty()) {
            self.add_param(params, names::ROOT_UV, Domain::Strand, &Values::Vec2(root_uv.to_vec()), 0)?;
        }
        let guides = groom.guides.get(strands.clone()).filter(|_| groom.guides.contains(&true));
        if let Some(guides) = guides {
            let guides = Values::Int(guides.iter().map(|&guide| i32::from(guide)).collect());
            self.add_param(params, names::GUIDE, Domain::Strand, &guides, 0)?;
        }
        Ok(())
    }

    fn add_attribute(
        &mut self,
        params: PropertyId,
        attribute: &Attribute,
        range: &Range<usize>,
        sampling: u32,
        used: &mut Vec<String>,
    ) -> Result<Option<PropertyId>> {
        let Some(values) = part(&attribute.values, range.clone()) else { return Ok(None) };
        let name = if attribute.name == layout::COLOR { names::COLOR } else { &attribute.name };
        let name = layout::prim_name(name, used);
        Ok(Some(self.add_param(params, &name, attribute.domain, &values, sampling)?))
    }

    /// Adds a parameter with its first sample.
    fn add_param(
        &mut self,
        params: PropertyId,
        name: &str,
        domain: Domain,
        values: &Values,
        sampling: u32,
    ) -> Result<PropertyId> {
        let scope = match domain {
            Domain::Strand => "uni",
            Domain::Vertex => "vtx",
        };
        let (data_type, interpretation, bytes) = encoded(values, name == names::CLOSEST_GUIDES);
        let metadata = param_metadata(scope, data_type, interpretation);
        let param = self.add_array(params, name, &metadata, data_type, sampling);
        self.write_sample(param, &bytes)?;
        Ok(param)
    }

    /// Adds a colour for the whole of a mesh.
    pub(super) fn add_color(&mut self, geometry: PropertyId, color: [f32; 3]) -> Result<()> {
        let params = self.add_compound(geometry, ".arbGeomParams", "");
        let metadata = param_metadata("con", TRIPLE, "rgb");
        let param = self.add_array(params, layout::COLOR, &metadata, TRIPLE, 0);
        self.write_sample(param, &triples(&[Vec3::from_array(color)]))
    }

    /// Writes where the hair is at the next sample [m, m/s].
    pub(in super::super) fn write_hair(
        &mut self,
        hair: &HairSamples,
        points: &[Vec3],
        velocities: &[Vec3],
    ) -> Result<()> {
        for group in &hair.groups {
            let now = points.get(group.vertices.clone()).unwrap_or_default();
            self.write_triples(group.points, now)?;
            self.write_sample(group.bounds, &bounds(now, hair.radius))?;
            if let Some(property) = group.velocities {
                let now = velocities.get(group.vertices.clone()).unwrap_or_default();
                self.write_triples(property, now)?;
            }
        }
        Ok(())
    }

    /// Writes the widths and attributes that change at the next sample.
    pub(in super::super) fn write_changing(&mut self, hair: &HairSamples, groom: &Groom) -> Result<()> {
        for group in &hair.groups {
            if let Some([widths, again]) = group.widths {
                let now = groom.widths.get(group.vertices.clone()).unwrap_or_default();
                self.write_sample(widths, &encoded(&Values::Float(now.to_vec()), false).2)?;
                self.repeat_sample(again, widths);
            }
            for (index, range, property) in &group.attributes {
                let now = groom.attributes.get(*index);
                if let Some((now, name)) =
                    now.and_then(|now| Some((part(&now.values, range.clone())?, &now.name)))
                {
                    self.write_sample(*property, &encoded(&now, name == names::CLOSEST_GUIDES).2)?;
                }
            }
        }
        Ok(())
    }
}

/// The type of values, what they mean, and their bytes; triples are written as `whole` numbers if so asked.
fn encoded(values: &Values, whole: bool) -> (DataType, &'static str, Vec<u8>) {
    match values {
        Values::Float(values) => {
            let mut bytes = vec![[0; 4]; values.len()];
            bytes.iter_mut().zip(values).for_each(|(bytes, value)| *bytes = value.to_le_bytes());
            (DataType::new(Pod::F32, 1), "", bytes.into_flattened())
        }
        Values::Int(values) => (WHOLE, "", integers(values.iter().copied())),
        Values::Vec2(values) => {
            let bytes = values.iter().flat_map(|pair| pair.to_array()).flat_map(f32::to_le_bytes);
            (DataType::new(Pod::F32, 2), "vector", bytes.collect())
        }
        Values::Vec3(values) if whole => {
            let bytes = values.iter().flat_map(|triple| triple.to_array()).map(|part| part as i32);
            (DataType::new(Pod::I32, 3), "vector", integers(bytes))
        }
        Values::Vec3(values) => (TRIPLE, "vector", triples(values)),
    }
}

/// A part of some values, if they are complete.
fn part(values: &Values, range: Range<usize>) -> Option<Values> {
    Some(match values {
        Values::Float(values) => Values::Float(values.get(range)?.to_vec()),
        Values::Int(values) => Values::Int(values.get(range)?.to_vec()),
        Values::Vec2(values) => Values::Vec2(values.get(range)?.to_vec()),
        Values::Vec3(values) => Values::Vec3(values.get(range)?.to_vec()),
    })
}
