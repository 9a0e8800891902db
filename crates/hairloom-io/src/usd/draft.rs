//! The structure of a layer while it is written, common to both formats.

use std::collections::HashMap;

use super::error::UsdError;
use super::path::{Path, is_identifier, is_property_name};
use super::type_name;
use super::value::{Given, Kind, Specifier, Token, Value};

/// A prim of a [`super::Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimId(pub(super) usize);

/// An attribute of a [`super::Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeId(pub(super) usize);

/// A relationship of a [`super::Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationshipId(pub(super) usize);

/// Names and their values, in the order they were set.
pub(super) type Fields<V> = Vec<(Token, V)>;

/// One property of a prim.
#[derive(Clone, Copy, Debug)]
pub(super) enum Property {
    Attribute(usize),
    Relationship(usize),
}

#[derive(Debug)]
pub(super) struct PrimDraft<V> {
    pub(super) path: String,
    pub(super) name: Token,
    pub(super) specifier: Specifier,
    pub(super) type_name: Token,
    pub(super) metadata: Fields<V>,
    pub(super) children: Vec<usize>,
    pub(super) properties: Vec<Property>,
}

#[derive(Debug)]
pub(super) struct AttributeDraft<V> {
    pub(super) path: String,
    pub(super) name: Token,
    pub(super) type_name: Token,
    pub(super) kind: Option<(Kind, bool)>,
    pub(super) custom: bool,
    pub(super) uniform: bool,
    pub(super) metadata: Fields<V>,
    pub(super) default: Option<V>,
    pub(super) times: Vec<f64>,
}

#[derive(Debug)]
pub(super) struct RelationshipDraft<V> {
    pub(super) name: Token,
    pub(super) custom: bool,
    pub(super) metadata: Fields<V>,
    pub(super) targets: Option<V>,
}

/// Everything but the samples. The first prim is the root, whose metadata are the layer's.
#[derive(Debug)]
pub(super) struct Draft<V> {
    pub(super) prims: Vec<PrimDraft<V>>,
    pub(super) attributes: Vec<AttributeDraft<V>>,
    pub(super) relationships: Vec<RelationshipDraft<V>>,
    by_path: HashMap<String, Found>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Prim(usize),
    Attribute(usize),
    Relationship,
}

fn usage<T>(message: String) -> Result<T, UsdError> {
    Err(UsdError::Usage(message))
}

/// Sets a field, in place if it is there.
pub(super) fn set_field<V>(fields: &mut Fields<V>, name: &str, value: V) {
    match fields.iter_mut().find(|(key, _)| **key == *name) {
        Some((_, old)) => *old = value,
        None => fields.push((name.into(), value)),
    }
}

impl<V> Draft<V> {
    pub(super) fn new() -> Self {
        let root = PrimDraft {
            path: "/".to_owned(),
            name: "".into(),
            specifier: Specifier::Def,
            type_name: "".into(),
            metadata: Vec::new(),
            children: Vec::new(),
            properties: Vec::new(),
        };
        Self {
            prims: vec![root],
            attributes: Vec::new(),
            relationships: Vec::new(),
            by_path: HashMap::from([("/".to_owned(), Found::Prim(0))]),
        }
    }

    pub(super) fn define(&mut self, path: &str, type_name: &str) -> Result<PrimId, UsdError> {
        if type_name.split_whitespace().count() > 1 || (!type_name.is_empty() && !is_identifier(type_name)) {
            return usage(format!(
                "\"{type_name}\" cannot be the type of a prim: expected a name such as BasisCurves"
            ));
        }
        if let Some(Found::Prim(index)) = self.by_path.get(path) {
            let index = *index;
            self.prims[index].type_name = type_name.into();
            return Ok(PrimId(index));
        }
        let Some((parent, name)) = path.rsplit_once('/').filter(|(_, name)| is_identifier(name)) else {
            return usage(format!("\"{path}\" is not the path of a prim: expected one such as /World/Hair"));
        };
        let parent = if parent.is_empty() { "/" } else { parent };
        let parent = match self.by_path.get(parent) {
            Some(Found::Prim(index)) => *index,
            Some(_) => return usage(format!("{parent} is no prim, so {path} cannot be below it")),
            None => self.define(parent, "")?.0,
        };
        let index = self.prims.len();
        self.claim(path, Found::Prim(index))?;
        self.prims[parent].children.push(index);
        self.prims.push(PrimDraft {
            path: path.to_owned(),
            name: name.into(),
            specifier: Specifier::Def,
            type_name: type_name.into(),
            metadata: Vec::new(),
            children: Vec::new(),
            properties: Vec::new(),
        });
        Ok(PrimId(index))
    }

    fn claim(&mut self, path: &str, found: Found) -> Result<(), UsdError> {
        if self.by_path.contains_key(path) {
            return usage(format!("{path} is there already"));
        }
        self.by_path.insert(path.to_owned(), found);
        Ok(())
    }

    fn property_path(&self, prim: PrimId, name: &str) -> Result<String, UsdError> {
        if !is_property_name(name) {
            return usage(format!("\"{name}\" cannot name a property: expected a name such as primvars:st"));
        }
        if prim.0 == 0 {
            return usage(format!("the root of a layer has no properties such as {name}"));
        }
        Ok(format!("{}.{name}", self.prims[prim.0].path))
    }

    pub(super) fn attribute(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
    ) -> Result<AttributeId, UsdError> {
        let path = self.property_path(prim, name)?;
        let Some(kind) = type_name::parse(type_name) else {
            return usage(format!("{path}: \"{type_name}\" is not a type of USD, such as point3f[]"));
        };
        self.push_attribute(prim, path, name, type_name, Some(kind))
    }

    /// As [`Self::attribute`], but for what is in a file already and may have a type that is not known here.
    pub(super) fn restore_attribute(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
    ) -> Result<AttributeId, UsdError> {
        let path = format!("{}.{name}", self.prims[prim.0].path);
        self.push_attribute(prim, path, name, type_name, type_name::parse(type_name))
    }

    fn push_attribute(
        &mut self,
        prim: PrimId,
        path: String,
        name: &str,
        type_name: &str,
        kind: Option<(Kind, bool)>,
    ) -> Result<AttributeId, UsdError> {
        let index = self.attributes.len();
        self.claim(&path, Found::Attribute(index))?;
        self.prims[prim.0].properties.push(Property::Attribute(index));
        self.attributes.push(AttributeDraft {
            path,
            name: name.into(),
            type_name: type_name.into(),
            kind,
            custom: false,
            uniform: false,
            metadata: Vec::new(),
            default: None,
            times: Vec::new(),
        });
        Ok(AttributeId(index))
    }

    pub(super) fn relationship(&mut self, prim: PrimId, name: &str) -> Result<RelationshipId, UsdError> {
        let path = self.property_path(prim, name)?;
        let index = self.relationships.len();
        self.claim(&path, Found::Relationship)?;
        self.prims[prim.0].properties.push(Property::Relationship(index));
        self.relationships.push(RelationshipDraft {
            name: name.into(),
            custom: false,
            metadata: Vec::new(),
            targets: None,
        });
        Ok(RelationshipId(index))
    }

    pub(super) fn find_prim(&self, path: &Path) -> Option<PrimId> {
        match self.by_path.get(path.as_str())? {
            Found::Prim(index) => Some(PrimId(*index)),
            _ => None,
        }
    }

    pub(super) fn find_attribute(&self, path: &Path) -> Option<AttributeId> {
        match self.by_path.get(path.as_str())? {
            Found::Attribute(index) => Some(AttributeId(*index)),
            _ => None,
        }
    }

    /// Fails unless the attribute can hold `value`.
    pub(super) fn check_type(&self, attribute: AttributeId, value: &Given) -> Result<(), UsdError> {
        let draft = &self.attributes[attribute.0];
        let kind = value.kind();
        if matches!(value, Given::Value(Value::Block)) || (kind.is_some() && kind == draft.kind) {
            return Ok(());
        }
        let got = kind.map(type_name::of_kind).unwrap_or_else(|| "no attribute's type".to_owned());
        usage(format!("{} has the type {}, but the value has {got}", draft.path, draft.type_name))
    }

    /// Fails unless a sample at `time` may follow.
    pub(super) fn check_time(&self, attribute: AttributeId, time: f64) -> Result<(), UsdError> {
        let draft = &self.attributes[attribute.0];
        if draft.uniform {
            return usage(format!("{} is uniform and cannot have time samples", draft.path));
        }
        if !time.is_finite() || draft.times.last().is_some_and(|&last| last >= time) {
            return usage(format!(
                "{}: samples must come in order of time, and {time} does not follow {:?}",
                draft.path,
                draft.times.last()
            ));
        }
        Ok(())
    }
}
