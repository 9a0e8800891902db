//! What a rest shape really makes where the hair is to stay: forces and moments of the rods' own elements, from nothing but the shape. The
//! stages are judged by it, as each of them could go wrong without the others noticing.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::rods::{Against, Rod};
use super::{Hair, RestShape};
use crate::math::{Quaternion, Vector3};
use crate::rod::cosserat::{StretchShear, bending_length, frames_along};
use crate::scene::Material;

/// What a rest shape makes.
pub(super) struct Made {
    /// Forces of the segments on their vertices nearer to the tip [N]; 0 at tips.
    pub forces: Vec<DVec3>,
    /// Largest moment that is left on a segment, over the largest of a joint; 1 where it is larger than that.
    pub moment_left: f64,
}

/// What a shape makes in the positions of `hair`; `rod` tells how a material's rods are made.
pub(super) fn made(hair: &Hair<'_>, shape: &RestShape, rod: impl Fn(&Material) -> Rod + Sync) -> Made {
    let strands: Vec<(Vec<DVec3>, f64, f64)> = (0..hair.model.strands())
        .into_par_iter()
        .map(|strand| one_strand(hair, shape, strand, &rod(hair.model.material(strand))))
        .collect();
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let left = largest(&mut strands.iter().map(|strand| strand.1));
    let moment = largest(&mut strands.iter().map(|strand| strand.2));
    Made {
        forces: strands.into_iter().flat_map(|strand| strand.0).collect(),
        moment_left: left / moment.max(left).max(f64::MIN_POSITIVE),
    }
}

/// Forces, the largest moment that is left on a segment, and the largest of a joint.
fn one_strand(hair: &Hair<'_>, shape: &RestShape, strand: usize, rod: &Rod) -> (Vec<DVec3>, f64, f64) {
    let range = hair.model.range(strand);
    let positions = &hair.positions[range.clone()];
    let edges: Vec<DVec3> = positions.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let held = |vertex: usize| hair.held[range.start + vertex];
    let segment_held = |segment: usize| held(segment) && held(segment + 1);
    let groomed = frames_along(positions, DQuat::IDENTITY);
    let frames = &shape.orientations[range.clone()];
    let lengths = &hair.model.rest_lengths[range.start..range.end - 1];
    let mut moments = vec![DVec3::ZERO; edges.len() + 1];
    for segment in 0..edges.len() {
        let Some(length) = bending_length(lengths, segment, held) else { continue };
        let element = shape.of(range.start + segment);
        let before = if segment == 0 { groomed[0] } else { frames[segment - 1] };
        let begins = !segment_held(segment) && (segment == 0 || segment_held(segment - 1));
        let clamp = if begins && rod.against() == Against::Itself { groomed[segment] } else { before };
        let rest = clamp.conjugate() * before * element.joint;
        moments[segment] = rod.law(length).moment(clamp, frames[segment], rest, element.bend);
    }
    let (mut forces, mut left) = (vec![DVec3::ZERO; positions.len()], 0.0f64);
    for (segment, &edge) in edges.iter().enumerate() {
        let element = shape.of(range.start + segment);
        let turning = moments[segment] - moments[segment + 1];
        let stretched = edge.length() / element.length - 1.0;
        let (force, moment) = match rod {
            Rod::Cosserat(stiffness) => {
                let frame = Quaternion::<f64>::splat(frames[segment]);
                let strain = StretchShear::new(Vector3::splat(edge), 1.0 / element.length, frame);
                let stiffness = stiffness.stretch * element.stretch * element.length;
                let force = DVec3::from_array(strain.force(stiffness, 1.0 / element.length).to_array());
                (force, turning + DVec3::from_array(strain.torque(stiffness).to_array()))
            }
            Rod::Elastic(..) | Rod::Binormal(_) => {
                let along = edge.normalize();
                let tension = rod.stretch() * element.stretch * stretched;
                // Edges turn with their frames: moments push their ends across.
                let across = turning.cross(edge) / edge.length_squared();
                let across = if segment_held(segment) { DVec3::ZERO } else { across };
                (across - along * tension, along * turning.dot(along))
            }
        };
        forces[segment] = force;
        if !segment_held(segment) {
            left = left.max(moment.length());
        }
    }
    (forces, left, moments.iter().map(|moment| moment.length()).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::groom::Curves;
    use crate::math::Random;
    use crate::rest::{
        Outcome, RoundRod, Stiffness, force_only, own_weight, sag_free, sag_free_binormal, sag_free_elastic,
    };
    use crate::rod::cosserat::Darboux;
    use crate::scene::{MaterialPreset, Model};

    const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

    /// Two strands that wind about, held at their roots, one by two vertices.
    fn model() -> (Model, Vec<bool>) {
        let mut random = Random::new(8);
        let mut curves = Curves::default();
        for _ in 0..2 {
            let (mut point, mut direction) = (Vec3::ZERO, Vec3::X);
            curves.push((0..12).map(|_| {
                direction = (direction + random.direction() * 0.5).normalize();
                point += direction * 0.01;
                point
            }));
        }
        let mut held = vec![false; 24];
        [0, 12, 13].into_iter().for_each(|vertex| held[vertex] = true);
        (Model::new(&curves, &Material::preset(MaterialPreset::Wavy)).unwrap(), held)
    }

    fn cosserat(material: &Material) -> Stiffness {
        let stretch = material.young * material.area();
        Stiffness { stretch, bend: material.rod_stiffness()[0], darboux: Darboux::Augmented }
    }

    fn round(material: &Material) -> RoundRod {
        let [bend, _, twist] = material.rod_stiffness();
        RoundRod { stretch: material.young * material.area(), bend, twist, most_stretch: 0.1 }
    }

    /// How much is wrong with a shape: acceleration over gravity's, and moments.
    fn wrong(hair: &Hair<'_>, shape: &RestShape, rod: impl Fn(&Material) -> Rod + Sync) -> [f64; 2] {
        let Made { forces, moment_left } = made(hair, shape, rod);
        let mut worst = 0.0f64;
        for vertex in (0..forces.len()).filter(|&vertex| !hair.held[vertex]) {
            let mass = f64::from(hair.model.masses[vertex]);
            worst = worst.max((forces[vertex - 1] - forces[vertex] + GRAVITY * mass).length() / mass);
        }
        [worst / GRAVITY.length(), moment_left]
    }

    #[test]
    fn a_stage_that_goes_wrong_shows_in_what_the_shape_makes() {
        let (model, held) = model();
        let positions: Vec<DVec3> = model.groomed.iter().map(|point| point.as_dvec3()).collect();
        let hair = Hair { model: &model, positions: &positions, held: &held, gravity: GRAVITY };
        let forces = own_weight(&hair).unwrap();
        let elastic = |material: &Material| {
            let bend = DVec3::from_array(material.rod_stiffness());
            Rod::Elastic(material.young * material.area(), bend, Against::Itself)
        };
        type Found<'a> = (&'a str, Outcome, Box<dyn Fn(&Material) -> Rod + Sync>);
        let all: [Found<'_>; 3] = [
            (
                "cosserat",
                sag_free(&hair, forces.clone(), cosserat).unwrap(),
                Box::new(|m| Rod::Cosserat(cosserat(m))),
            ),
            ("elastic", sag_free_elastic(&hair, forces.clone(), Against::Itself).unwrap(), Box::new(elastic)),
            (
                "binormal",
                sag_free_binormal(&hair, forces.clone(), round).unwrap(),
                Box::new(|m| Rod::Binormal(round(m))),
            ),
        ];
        for (name, outcome, rod) in &all {
            let [force, moment] = wrong(&hair, &outcome.shape, rod);
            assert!(force < 1e-4 && moment < 1e-7, "{name}: {force} {moment}");
            assert!(outcome.worst_acceleration < 1e-4 && outcome.moment_left < 1e-7, "{name}");
            type Break = fn(&mut RestShape);
            let breaks: [(&str, Break); 5] = [
                ("length", |shape| shape.lengths[5] *= 1.0 + 1e-4),
                ("stretch", |shape| shape.stretch[1] *= 1.5),
                ("joint", |shape| shape.joints[4] *= DQuat::from_rotation_x(1e-2)),
                ("root", |shape| shape.joints[0] *= DQuat::from_rotation_y(1e-2)),
                ("bend", |shape| shape.bend[14] *= 1.5),
            ];
            for (what, broken) in breaks {
                let mut shape = outcome.shape.clone();
                broken(&mut shape);
                let [force, moment] = wrong(&hair, &shape, rod);
                assert!(force > 1e-3 || moment > 1e-3, "{name}: {what} is wrong, but {force} {moment}");
            }
        }
        // Moments that nobody balances are told, too.
        let unturned = force_only(&hair, forces, cosserat).unwrap();
        assert!(unturned.worst_acceleration < 1e-4 && unturned.moment_left > 0.5, "{}", unturned.moment_left);
    }
}
