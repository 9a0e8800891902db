//! The curves and meshes of a USD layer and of those that it brings in, as they are in the world: metres, y up.
//!
//! All `BasisCurves` together are one groom. Prims that are inactive, only templates (`class`) or defined nowhere (`over`) are left
//! out, with all below them. Cubic curves become polylines as [`crate::spline`] says.

mod budget;
mod curves;
mod merge;
mod mesh;
mod transform;
mod unread;
mod value;

pub(crate) use curves::{NORMALS, element_bytes, spread};
pub(crate) use merge::merge;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use budget::Budget;
use glam::{DMat4, DVec3, DVec4, Vec3};
use hairloom::body::TriMesh;
use hairloom::groom::Groom;

use crate::cache::{CacheError, layout};
use crate::grooms::decimal;
use crate::notes::Notes;
use crate::space::{Axis, Space};
use crate::spline;
use crate::usd::{ComposedPrim, Composition, Specifier, Value};

/// A mesh of a layer at a time.
pub(crate) struct StageMesh {
    /// The name that people gave it, or that of the prim.
    pub(crate) name: String,
    /// The mesh in the world.
    pub(crate) mesh: TriMesh,
    /// Its colour, if it has one for all of it.
    pub(crate) color: Option<[f32; 3]>,
    /// The colours of its points, if it has one for each.
    pub(crate) point_colors: Vec<[f32; 3]>,
}

/// A layer, and where its curves and meshes are.
#[derive(Debug)]
pub(crate) struct Stage {
    layer: Composition,
    /// Metres and y up, from the layer's units.
    scene_from_layer: DMat4,
    space: Space,
    per_second: f64,
    curves: Vec<CurvesPrim>,
    /// The prims with meshes, by their numbers.
    meshes: Vec<u32>,
    /// What is left out and may matter, in words.
    notes: Notes,
}

/// A prim with curves.
#[derive(Debug)]
struct CurvesPrim {
    /// The prim's number.
    node: u32,
    /// Whether its curves are there to guide others: its purpose, or that of a prim above.
    guides: bool,
}

impl Stage {
    /// Opens a layer and all that it brings in, from outside its folder only where that is allowed, and looks for curves and
    /// meshes.
    pub(crate) fn open(path: &Path, outside: bool) -> Result<Self, CacheError> {
        let layer = Composition::open(path, outside)?;
        let number = |name: &str, otherwise: f64| -> Result<f64, CacheError> {
            let value = layer.metadata(name)?.and_then(|value| value.as_f64());
            Ok(value.filter(|value| value.is_finite() && *value > 0.0).unwrap_or(otherwise))
        };
        // Without a word about it, USD has centimetres, y up, and 24 time codes a second.
        let unit = number("metersPerUnit", 0.01)?;
        let per_second = number("timeCodesPerSecond", number("framesPerSecond", 24.0)?)?;
        let z_up = layer.metadata("upAxis")?.is_some_and(|axis| axis.as_str() == Some("Z"));
        let up = if z_up { Axis::Z } else { Axis::Y };
        let (space, scene_from_layer) = (Space { unit: unit as f32, up }, scene_from_file(unit, up));
        let (curves, meshes, notes) = geometry(&layer)?;
        Ok(Self { layer, scene_from_layer, space, per_second, curves, meshes, notes })
    }

    /// The unit and axes of the layer.
    pub(crate) fn space(&self) -> Space {
        self.space
    }

    /// What is left out and may matter, in words.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Takes the layer for one in this unit and these axes from now on.
    pub(crate) fn place(&mut self, space: Space) {
        if space != self.space {
            self.scene_from_layer = scene_from_file(decimal(space.unit), space.up);
            self.space = space;
        }
    }

    /// Time codes a second [1/s].
    pub(crate) fn per_second(&self) -> f64 {
        self.per_second
    }

    /// Whether there are curves.
    pub(crate) fn has_curves(&self) -> bool {
        !self.curves.is_empty()
    }

    /// Whether there are meshes.
    pub(crate) fn has_meshes(&self) -> bool {
        !self.meshes.is_empty()
    }

    /// The fingerprint of the run that wrote the layer, if it is known.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        let Ok(Some(Value::Dictionary(entries))) = self.layer.metadata("customLayerData") else {
            return None;
        };
        let (_, value) = entries.iter().find(|(key, _)| &**key == layout::FINGERPRINT)?;
        u64::from_str_radix(value.as_str()?, 16).ok()
    }

    /// The times at which the curves have samples [time codes].
    pub(crate) fn curve_times(&self) -> Result<Vec<f64>, CacheError> {
        self.times(self.curves.iter().map(|prim| prim.node), curves::may_change)
    }

    /// The times at which the meshes have samples [time codes].
    pub(crate) fn mesh_times(&self) -> Result<Vec<f64>, CacheError> {
        self.times(self.meshes.iter().copied(), |_| false)
    }

    /// The widths and attributes of curves that have several samples, by their names in a groom.
    pub(crate) fn changing(&self) -> Result<Vec<String>, CacheError> {
        let mut names = BTreeSet::new();
        for prim in self.curves.iter().map(|curves| self.layer.prim_at(curves.node)) {
            for attribute in prim.attributes()? {
                let name = attribute.name();
                if curves::may_change(name) && attribute.times()?.len() > 1 {
                    let name = name.strip_prefix("primvars:").unwrap_or(name);
                    names.insert(name.strip_suffix(":indices").unwrap_or(name).to_owned());
                }
            }
        }
        Ok(names.into_iter().collect())
    }

    /// The times of what moves prims, and of their attributes that are `more`.
    fn times(
        &self,
        nodes: impl Iterator<Item = u32>,
        more: impl Fn(&str) -> bool,
    ) -> Result<Vec<f64>, CacheError> {
        let (mut times, mut seen, mut sorted) = (Vec::new(), HashSet::new(), 0);
        let sort = |times: &mut Vec<f64>| {
            times.retain(|time| time.is_finite());
            times.sort_by(f64::total_cmp);
            times.dedup();
            times.len()
        };
        for node in nodes {
            let mut next = Some(self.layer.prim_at(node));
            while let Some(prim) = next.filter(|prim| seen.insert(prim.node())) {
                for attribute in prim.attributes()? {
                    let name = attribute.name();
                    if name == "points" || name.starts_with("xformOp:") || more(name) {
                        times.extend_from_slice(attribute.times()?);
                    }
                    // Most have the same times: now and then, so that they do not add up.
                    if times.len() > 2 * sorted + 4096 {
                        sorted = sort(&mut times);
                    }
                }
                next = prim.parent();
            }
        }
        sort(&mut times);
        Ok(times)
    }

    /// All curves at a time [time codes] as one groom.
    pub(crate) fn groom(&self, time: f64) -> Result<Groom, CacheError> {
        let budget = Budget::new(self.layer.length());
        let mut parts = Vec::new();
        let guided = self.curves.iter().any(|curves| curves.guides);
        for CurvesPrim { node, guides } in &self.curves {
            let mut part = curves::read(self, self.layer.prim_at(*node), time, &budget)?;
            let groom = &mut part.groom;
            if guided && (*guides || groom.guides.is_empty()) {
                groom.guides = vec![*guides; groom.strands()];
            }
            parts.push(part);
        }
        let pay = |bytes| budget.pay(bytes);
        let laid = spline::lay_all(parts, budget.worth(), pay, &self.notes);
        laid.and_then(|parts| merge(parts, pay)).map_err(|problem| self.problem("/", &problem))
    }

    /// The velocities of all curves' points at a time [time codes], one after the other [m/s]; nothing if not all have them.
    pub(crate) fn velocities(&self, time: f64) -> Result<Vec<Vec3>, CacheError> {
        let mut all = Vec::new();
        let budget = Budget::new(self.layer.length());
        for prim in self.curves.iter().map(|curves| self.layer.prim_at(curves.node)) {
            // Those of control points are not those of the vertices.
            if curves::is_cubic(prim)? {
                return Ok(Vec::new());
            }
            let value = match prim.attribute("velocities") {
                Some(attribute) => value::at(&attribute, time)?,
                None => None,
            };
            let Some(velocities) = value.and_then(Value::into_vec3f_array) else {
                return Ok(Vec::new());
            };
            self.pay(&budget, prim, velocities.len() * size_of::<Vec3>())?;
            let matrix = self.scene_from_prim(prim, time)?;
            let turn = |velocity: [f32; 3]| match matrix == DMat4::IDENTITY {
                true => Vec3::from_array(velocity),
                false => matrix.transform_vector3(Vec3::from_array(velocity).as_dvec3()).as_vec3(),
            };
            let velocities = velocities.into_iter().map(turn);
            match all.is_empty() {
                true => all = velocities.collect(),
                false => all.extend(velocities),
            }
        }
        Ok(all)
    }

    /// All meshes at a time [time codes].
    pub(crate) fn meshes(&self, time: f64) -> Result<Vec<StageMesh>, CacheError> {
        let budget = Budget::new(self.layer.length());
        let prims = self.meshes.iter().map(|&node| self.layer.prim_at(node));
        prims.map(|prim| mesh::read(self, prim, time, &budget)).collect()
    }

    /// The points of all meshes at a time, one after the other [m].
    pub(crate) fn mesh_points(&self, time: f64) -> Result<Vec<Vec3>, CacheError> {
        let budget = Budget::new(self.layer.length());
        let mut points = Vec::new();
        for &node in &self.meshes {
            points.extend(self.points(self.layer.prim_at(node), time, &budget)?);
        }
        Ok(points)
    }

    /// Pays for memory [bytes] that a prim needs.
    fn pay(&self, budget: &Budget, prim: ComposedPrim<'_>, bytes: usize) -> Result<(), CacheError> {
        budget.pay(bytes as u64).map_err(|problem| self.problem(prim.path().as_str(), &problem))
    }

    /// The points of a prim in the world [m].
    fn points(&self, prim: ComposedPrim<'_>, time: f64, budget: &Budget) -> Result<Vec<Vec3>, CacheError> {
        let value = match prim.attribute("points") {
            Some(attribute) => value::at(&attribute, time)?,
            None => None,
        };
        let Some(points) = value.and_then(Value::into_vec3f_array) else {
            return Err(self.problem(prim.path().as_str(), "it has no points"));
        };
        self.pay(budget, prim, points.len() * size_of::<Vec3>())?;
        let matrix = self.scene_from_prim(prim, time)?;
        if matrix == DMat4::IDENTITY {
            return Ok(points.into_iter().map(Vec3::from_array).collect());
        }
        let place = |point: [f32; 3]| matrix.transform_point3(Vec3::from_array(point).as_dvec3()).as_vec3();
        Ok(points.into_iter().map(place).collect())
    }

    /// The transform from a prim to the scene, at a time [time codes].
    fn scene_from_prim(&self, prim: ComposedPrim<'_>, time: f64) -> Result<DMat4, CacheError> {
        let mut matrix = self.scene_from_layer;
        let mut down: Vec<ComposedPrim<'_>> =
            std::iter::successors(Some(prim), ComposedPrim::parent).collect();
        down.reverse();
        for prim in down {
            let local = transform::local(prim, time).map_err(|problem| match problem {
                transform::Problem::Usd(error) => error.into(),
                transform::Problem::Operation(text) => self.problem(prim.path().as_str(), &text),
            })?;
            matrix = if local.resets { self.scene_from_layer * local.matrix } else { matrix * local.matrix };
        }
        Ok(matrix)
    }

    fn problem(&self, prim: &str, problem: &str) -> CacheError {
        CacheError::Content {
            path: self.layer.file().to_owned(),
            prim: prim.to_owned(),
            problem: problem.to_owned(),
        }
    }
}

/// Metres and y up, from a unit [m] and an axis that points up.
pub(crate) fn scene_from_file(unit: f64, up: Axis) -> DMat4 {
    // An exact quarter turn: (x, y, z) becomes (x, z, −y).
    let quarter = DMat4::from_cols(DVec4::X, DVec4::NEG_Z, DVec4::Y, DVec4::W);
    let upright = if up == Axis::Z { quarter } else { DMat4::IDENTITY };
    upright * DMat4::from_scale(DVec3::splat(unit))
}

/// The curves, the numbers of the prims with meshes, and what is left out.
fn geometry(layer: &Composition) -> Result<(Vec<CurvesPrim>, Vec<u32>, Notes), CacheError> {
    let (mut curves, mut meshes, notes) = (Vec::new(), Vec::new(), Notes::default());
    layer.warnings().iter().for_each(|warning| notes.tell(|| warning.clone()));
    let mut open: Vec<(ComposedPrim<'_>, bool)> =
        layer.root().first_child().into_iter().map(|prim| (prim, false)).collect();
    while let Some((prim, above)) = open.pop() {
        open.extend(prim.next_sibling().map(|next| (next, above)));
        let inactive = prim.metadata("active")? == Some(Value::Bool(false));
        if inactive || prim.specifier()? != Specifier::Def {
            continue;
        }
        let purpose = match prim.attribute("purpose") {
            Some(purpose) => purpose.default()?,
            None => None,
        };
        let guides = match purpose.as_ref().and_then(Value::as_str) {
            Some("guide") => true,
            // What a prim has by default it takes from those above.
            Some("default") | None => above,
            Some(_) => false,
        };
        match &*prim.type_name()? {
            "BasisCurves" if is_copy(prim)? => {}
            "BasisCurves" | "Mesh" if prim.attribute("points").is_none() => notes.empty_left_out(prim),
            "BasisCurves" => {
                curves.push(CurvesPrim { node: prim.node(), guides });
                notes.primvars_left_out(prim)?;
            }
            "Mesh" => meshes.push(prim.node()),
            kind => notes.prim_left_out(prim, kind),
        }
        open.extend(prim.first_child().map(|child| (child, guides)));
    }
    Ok((curves, meshes, notes))
}

/// Whether a prim's strands are among others that Hairloom wrote.
fn is_copy(prim: ComposedPrim<'_>) -> Result<bool, CacheError> {
    let Some(Value::Dictionary(entries)) = prim.metadata("customData")? else { return Ok(false) };
    Ok(entries.iter().any(|(key, value)| &**key == layout::COPY && *value == Value::Bool(true)))
}
