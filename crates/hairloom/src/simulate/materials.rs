//! What each strand is made of, and how materials and bodies rub against each other.

use super::{SimulationError, Warning};
use crate::groom::{Domain, Groom, Values};
use crate::math::Random;
use crate::scene::{ALL_OTHERS, Material, Model, Scene, Which};
use crate::solve::Method;

/// The model of the strands that are simulated.
pub(super) fn model(scene: &Scene, groom: &Groom) -> Result<Model, SimulationError> {
    let mut materials = vec![scene.material];
    let mut material_of = vec![0; groom.strands()];
    for (place, strands) in scene.strands.iter().enumerate() {
        materials.push(strands.material);
        let number = materials.len() as u16 - 1;
        for strand in members(scene, place, groom)? {
            material_of[strand] = number;
        }
    }
    let mut model = Model::of_materials(&groom.curves, materials, material_of)?;
    set_frictions(scene, &mut model);
    Ok(model)
}

/// The strands that `[[strands]]` number `place` names.
fn members(scene: &Scene, place: usize, groom: &Groom) -> Result<Vec<usize>, SimulationError> {
    let all = 0..groom.strands();
    match &scene.strands[place].which {
        Which::Share { share } => {
            let random = Random::new(place as u64);
            Ok(all.filter(|&strand| random.fork(strand as u64).unit_f64() < *share).collect())
        }
        Which::Painted { attribute, value } => {
            let named = groom.attributes.iter().find(|one| {
                one.name == *attribute && one.domain == Domain::Strand && one.values.len() == groom.strands()
            });
            match named.map(|one| &one.values) {
                Some(Values::Int(values)) => {
                    Ok(all.filter(|&strand| i64::from(values[strand]) == i64::from(*value)).collect())
                }
                Some(Values::Float(values)) => {
                    Ok(all.filter(|&strand| f64::from(values[strand]).round() == f64::from(*value)).collect())
                }
                _ => {
                    let problem =
                        format!("the groom has no attribute '{attribute}' with one number for each strand");
                    Err(scene.error(&format!("strands.{place}.attribute"), problem).into())
                }
            }
        }
    }
}

/// What frictions that the scene gives mean to its method, where they mean nothing.
pub(super) fn warning(scene: &Scene, method: &Method) -> Option<Warning> {
    let given = scene.strands.iter().any(|strands| !strands.friction_with.is_empty());
    let known = matches!(method, Method::Admm(_) | Method::Nsgs(_));
    (given && !known).then(|| {
        let name = method.name();
        Warning(format!("strands.friction_with: {name} knows no friction of pairs; admm and nsgs do"))
    })
}

/// Friction of each material with bodies that have none of their own, and what pairs have been given.
fn set_frictions(scene: &Scene, model: &mut Model) {
    for (index, strands) in scene.strands.iter().enumerate() {
        let own = index as u16 + 1;
        let Material { body_friction, .. } = strands.material;
        for (body, settings) in scene.bodies.iter().enumerate() {
            if settings.friction.is_none() {
                model.frictions.set_with_body(own, body, body_friction as f32);
            }
        }
    }
    for (index, strands) in scene.strands.iter().enumerate() {
        let own = index as u16 + 1;
        for pair in &strands.friction_with {
            let friction = pair.friction as f32;
            if let Some(body) = scene.bodies.iter().position(|body| body.name == pair.name) {
                model.frictions.set_with_body(own, body, friction);
            } else if pair.name == ALL_OTHERS {
                model.frictions.set_between(own, 0, friction);
            } else if let Some(other) = scene.strands.iter().position(|other| other.name == pair.name) {
                model.frictions.set_between(own, other as u16 + 1, friction);
            }
        }
    }
}
