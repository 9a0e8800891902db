use glam::Vec3;
use hairloom::body::TriMesh;
use hairloom::groom::Curves;

use crate::{HairColor, PictureError};

/// Hair to draw. Points that are not finite are left out of their strand.
#[derive(Debug, Clone)]
pub struct HairLayer<'a> {
    /// The strands, root first.
    pub curves: &'a Curves,
    /// Diameters [m]: one for each point, or a single one for all.
    pub widths: &'a [f32],
    /// Multiplies the diameters: above 1 it stands in for the strands that a sparse groom leaves out.
    pub width_scale: f32,
    /// The colour of all strands without one of their own.
    pub color: HairColor,
    /// Colours of the strands, one for each, or empty.
    pub strand_colors: &'a [HairColor],
    /// How much the strands' colours differ from one another, 0 to 1.
    pub variation: f32,
    /// Roughness of the highlights along the strand [rad].
    pub roughness: f32,
}

impl<'a> HairLayer<'a> {
    /// Hair of one colour with natural highlights.
    pub fn new(curves: &'a Curves, widths: &'a [f32], color: HairColor) -> Self {
        Self { curves, widths, width_scale: 1.0, color, strand_colors: &[], variation: 0.35, roughness: 0.13 }
    }

    /// The diameter at a point [m]; never negative or non-finite.
    pub(crate) fn width(&self, point: usize) -> f32 {
        let width = if self.widths.len() == 1 { self.widths[0] } else { self.widths[point] };
        let width = width * self.width_scale;
        if width.is_finite() { width.max(0.0) } else { 0.0 }
    }
}

/// A body to draw: a mesh of one colour, or painted. Triangles with points that are not finite are left out.
#[derive(Debug, Clone)]
pub struct BodyLayer<'a> {
    /// The surface.
    pub mesh: &'a TriMesh,
    /// Linear RGB, each 0 to 1.
    pub color: Vec3,
    /// Linear RGB of each point instead, if there is one for each; a wrong number of them is left alone.
    pub point_colors: &'a [[f32; 3]],
}

impl<'a> BodyLayer<'a> {
    /// A warm neutral skin tone.
    pub const SKIN: Vec3 = Vec3::new(0.52, 0.33, 0.24);
    /// The grey of a mannequin.
    pub const MANNEQUIN: Vec3 = Vec3::new(0.42, 0.40, 0.385);

    /// A body in the colour of skin.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Self { mesh, color: Self::SKIN, point_colors: &[] }
    }
}

/// A floor that fades into the background and catches shadows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Its height above the origin [m].
    pub height: f32,
    /// Linear RGB, each 0 to 1.
    pub color: Vec3,
}

impl Ground {
    /// A light grey floor at this height [m].
    pub fn at(height: f32) -> Self {
        Self { height, color: Vec3::splat(0.5) }
    }
}

/// Everything in one picture.
#[derive(Debug, Clone, Default)]
pub struct Scene<'a> {
    /// The hair.
    pub hair: Vec<HairLayer<'a>>,
    /// The bodies.
    pub bodies: Vec<BodyLayer<'a>>,
    /// The floor, if there is one.
    pub ground: Option<Ground>,
}

impl Scene<'_> {
    /// The box around hair and bodies [m], without the ground and without points that are not finite.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let hair = self.hair.iter().flat_map(|layer| &layer.curves.points);
        let bodies = self.bodies.iter().flat_map(|body| &body.mesh.points);
        bounds(hair.chain(bodies))
    }

    /// The box that a picture is to show [m]: all hair, and of the bodies what is not farther from it than it is large. A
    /// wide floor does not make a speck of the hair on it.
    pub fn subject(&self) -> Option<(Vec3, Vec3)> {
        let (low, high) = self.bounds()?;
        let Some((hair_low, hair_high)) = bounds(self.hair.iter().flat_map(|layer| &layer.curves.points))
        else {
            return Some((low, high));
        };
        let reach = Vec3::splat((hair_high - hair_low).max_element());
        Some((low.max(hair_low - reach), high.min(hair_high + reach)))
    }

    pub(crate) fn check(&self) -> Result<(), PictureError> {
        for (layer, hair) in self.hair.iter().enumerate() {
            check_hair(layer, hair)?;
        }
        for (body, layer) in self.bodies.iter().enumerate() {
            let points = layer.mesh.points.len();
            for (triangle, corners) in layer.mesh.triangles.iter().enumerate() {
                if let Some(&vertex) = corners.iter().find(|&&vertex| vertex as usize >= points) {
                    return Err(PictureError::Triangle { body, triangle, vertex, points });
                }
            }
        }
        Ok(())
    }
}

fn check_hair(layer: usize, hair: &HairLayer) -> Result<(), PictureError> {
    let (offsets, points) = (&hair.curves.offsets, hair.curves.points.len());
    let fits = offsets.first() == Some(&0)
        && offsets.last().is_some_and(|&last| last as usize == points)
        && offsets.is_sorted();
    if !fits {
        return Err(PictureError::Curves { layer, points });
    }
    let length = |what, found, expected| Err(PictureError::Length { layer, what, found, expected });
    if hair.widths.len() != 1 && hair.widths.len() != points {
        return length("widths", hair.widths.len(), format!("1 or {points} (one for each point)"));
    }
    let strands = hair.curves.strands();
    if !hair.strand_colors.is_empty() && hair.strand_colors.len() != strands {
        return length(
            "strand_colors",
            hair.strand_colors.len(),
            format!("0 or {strands} (one for each strand)"),
        );
    }
    Ok(())
}

/// The box around the finite ones of some points.
pub(crate) fn bounds<'p>(points: impl Iterator<Item = &'p Vec3>) -> Option<(Vec3, Vec3)> {
    points.filter(|point| point.is_finite()).fold(None, |bounds, &point| {
        let (low, high) = bounds.unwrap_or((point, point));
        Some((low.min(point), high.max(point)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_floor_does_not_shrink_the_hair() {
        let mut curves = Curves::default();
        curves.push([Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.1, 1.2, 0.0)]);
        let corners = [[-9.0, -9.0], [9.0, -9.0], [0.0, 9.0]].map(|[x, z]| Vec3::new(x, 0.9, z));
        let floor = TriMesh { points: corners.to_vec(), triangles: vec![[0, 2, 1]] };
        let body = BodyLayer { mesh: &floor, color: BodyLayer::SKIN, point_colors: &[] };
        let hair = HairLayer::new(&curves, &[1.0e-4], HairColor::default());
        let scene = Scene { hair: vec![hair], bodies: vec![body], ground: None };
        let (low, high) = scene.subject().unwrap();
        assert!(low.distance(Vec3::new(-0.2, 0.9, -0.2)) < 1e-6, "{low}");
        assert!(high.distance(Vec3::new(0.3, 1.2, 0.2)) < 1e-6, "{high}");
    }
}
