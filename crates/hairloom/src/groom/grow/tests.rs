use glam::Vec3;

use super::super::Root;
use super::skin::Skin;
use super::{GrowError, Preset, Style, Surface, grow, hairy_ball};
use crate::body::TriMesh;

/// An ellipsoid of the size of a head, with hair on top and at the back.
pub(super) fn head() -> Surface {
    let (rings, sectors) = (48u32, 64u32);
    let mut mesh = TriMesh::default();
    for ring in 0..=rings {
        let polar = std::f32::consts::PI * ring as f32 / rings as f32;
        for sector in 0..sectors {
            let angle = std::f32::consts::TAU * sector as f32 / sectors as f32;
            let unit = Vec3::new(polar.sin() * angle.sin(), polar.cos(), polar.sin() * angle.cos());
            mesh.points.push(Vec3::new(0.0, 1.6, 0.0) + unit * Vec3::new(0.075, 0.11, 0.095));
        }
    }
    for ring in 0..rings {
        for sector in 0..sectors {
            let next = (sector + 1) % sectors;
            let [a, b] = [sector, next].map(|sector| ring * sectors + sector);
            let [c, d] = [sector, next].map(|sector| (ring + 1) * sectors + sector);
            mesh.triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    let scalp = |point: &Vec3| {
        let hairline = 1.6 + 0.06 * (point.z / 0.095) - 0.01;
        ((point.y - hairline) / 0.01).clamp(0.0, 1.0)
    };
    let density = mesh.points.iter().map(scalp).collect();
    Surface::new(mesh).with_density(density)
}

/// Dumps all presets for a look at them: `HAIRLOOM_LOOK=/tmp/look cargo test ... look -- --ignored`.
#[test]
#[ignore = "a look"]
fn look() {
    use std::fmt::Write;
    for preset in Preset::ALL {
        let clock = std::time::Instant::now();
        let groom = grow(&head(), &preset.style(), 1).unwrap();
        println!("{}: {:?}", preset.name(), clock.elapsed());
        let mut text = String::new();
        for strand in groom.curves.iter() {
            for p in strand {
                write!(text, "{} {} {} ", p.x, p.y, p.z).unwrap();
            }
            text.push('\n');
        }
        std::fs::write(format!("/tmp/look/{}.txt", preset.name()), text).unwrap();
    }
}
