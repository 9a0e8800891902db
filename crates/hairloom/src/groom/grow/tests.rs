use glam::Vec3;

use super::super::nearest::PointTree;
use super::super::{Groom, Root};
use super::skin::Skin;
use super::{Clumps, GrowError, Preset, Style, Surface, Tie, grow, hairy_ball};
use crate::body::TriMesh;

/// An ellipsoid of the size of a head, with hair on top and at the back.
fn head() -> Surface {
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

fn scalp_distance(groom: &Groom, surface: &Surface, after: f32) -> f32 {
    let skin = Skin::new(surface).unwrap();
    let mut least = f32::INFINITY;
    for strand in groom.curves.iter() {
        let mut arc = 0.0;
        for edge in strand.windows(2) {
            arc += edge[0].distance(edge[1]);
            if arc > after {
                least = least.min(skin.distance(edge[1], 0.03).unwrap_or(f32::INFINITY));
            }
        }
    }
    least
}

#[test]
fn every_preset_is_sound_and_keeps_off_the_skin() {
    let surface = head();
    for preset in Preset::ALL {
        let style = Style { strands: 400, ..preset.style() };
        let groom = grow(&surface, &style, 3).unwrap();
        groom.validate().unwrap();
        assert_eq!((groom.strands(), groom.root_uv.len()), (400, 400));
        let clearance = scalp_distance(&groom, &surface, 3.5e-3);
        assert!(clearance > 1e-3, "{}: {clearance}", preset.name());
    }
}

#[test]
fn strands_have_the_length_asked_for() {
    for preset in [Preset::Straight, Preset::Curly, Preset::Ponytail] {
        let style = Style { strands: 300, length_variation: 0.0, ..preset.style() };
        let groom = grow(&head(), &style, 3).unwrap();
        let wrong = groom
            .curves
            .lengths()
            .iter()
            .filter(|&&length| (length / style.length - 1.0).abs() > 0.01)
            .count();
        assert!(wrong <= 3, "{}: {wrong} of 300", preset.name());
    }
}

#[test]
fn long_hair_hangs_down() {
    let groom = grow(&head(), &Style { strands: 500, ..Preset::Straight.style() }, 5).unwrap();
    for strand in groom.curves.iter() {
        let (before, tip) = (strand[strand.len() - 2], strand[strand.len() - 1]);
        assert!((tip - before).normalize().y < -0.95);
        assert!(tip.y < 1.6, "{tip}");
    }
}

#[test]
fn a_ponytail_goes_through_its_knot() {
    let groom = grow(&head(), &Style { strands: 300, ..Preset::Ponytail.style() }, 5).unwrap();
    // Behind the head all strands are near the middle plane.
    for strand in groom.curves.iter() {
        let tip = strand[strand.len() - 1];
        assert!(tip.z < -0.1 && tip.x.abs() < 0.04 && tip.y < 1.6, "{tip}");
    }
}

#[test]
fn roots_lie_where_their_weights_say_and_only_on_the_scalp() {
    let surface = head();
    let groom = grow(&surface, &Style { strands: 1000, ..Preset::ShortFur.style() }, 1).unwrap();
    for (strand, root) in groom.roots.iter().enumerate() {
        let Root::Triangle { triangle, weights } = *root else { panic!("{root:?}") };
        let corners = surface.mesh.corners(triangle as usize);
        let point: Vec3 = corners.iter().zip(weights).map(|(&corner, weight)| corner * weight).sum();
        assert!(point.distance(groom.curves.strand(strand)[0]) < 1e-6);
        let densities =
            surface.mesh.triangles[triangle as usize].map(|vertex| surface.density[vertex as usize]);
        assert!(densities.iter().any(|&density| density > 0.0));
        let uv = groom.root_uv[strand];
        assert!(uv.min_element() >= 0.0 && uv.max_element() <= 1.0);
    }
}

/// A square of side 1 m, of two triangles, whose density rises along x from `low` to 1.
fn square(low: f32) -> Surface {
    let points = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 0.0, -1.0), Vec3::NEG_Z];
    let density = points.iter().map(|point| low + (1.0 - low) * point.x).collect();
    Surface::new(TriMesh { points, triangles: vec![[0, 1, 2], [0, 2, 3]] }).with_density(density)
}

#[test]
fn roots_are_farther_apart_than_at_random() {
    let groom = grow(&square(1.0), &Style { strands: 2000, ..Preset::ShortFur.style() }, 2).unwrap();
    let roots = groom.curves.root_points();
    let tree = PointTree::new(&roots);
    let gap = roots.iter().map(|&root| tree.nearest::<2>(root)[1].1).fold(f32::INFINITY, f32::min);
    // The densest packing of disks has gaps of sqrt(2 / (sqrt(3) n)); at random the least is near zero.
    let packed = (2.0 / (3f32.sqrt() * 2000.0)).sqrt();
    assert!(gap > 0.55 * packed, "{gap} of {packed}");
}

#[test]
fn roots_follow_the_density() {
    let groom = grow(&square(0.0), &Style { strands: 4000, ..Preset::ShortFur.style() }, 2).unwrap();
    let mut counts = [0f32; 4];
    for root in groom.curves.root_points() {
        counts[((root.x * 4.0) as usize).min(3)] += 1.0;
    }
    // Density proportional to x: 1/16, 3/16, 5/16, 7/16 of the roots.
    for (count, expected) in counts.iter().zip([250.0, 750.0, 1250.0, 1750.0]) {
        assert!((count - expected).abs() < 0.12 * expected + 20.0, "{counts:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_hair_on_any_number_of_threads() {
    let style = Style { strands: 500, ..Preset::Curly.style() };
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| grow(&head(), &style, seed).unwrap())
    };
    let one = run(1, 9);
    assert_eq!(one, run(3, 9));
    assert_ne!(one.curves, run(1, 10).curves);
}

#[test]
fn density_sets_the_number_of_strands() {
    let style = Style { density: Some(0.1), ..Preset::ShortFur.style() };
    assert_eq!(grow(&square(1.0), &style, 1).unwrap().strands(), 1000);
    let style = Style { density: Some(5e4), ..style };
    assert!(matches!(grow(&square(1.0), &style, 1), Err(GrowError::Density { .. })));
}

#[test]
fn styles_read_from_toml_and_refuse_unknown_fields() {
    let style: Style = toml::from_str("length = 0.2\ncurl = { radius = 0.004 }\ntie = {}").unwrap();
    assert_eq!((style.length, style.curl.radius, style.tie), (0.2, 0.004, Some(Tie::default())));
    assert_eq!(style.curl.pitch, Style::default().curl.pitch);
    assert!(toml::from_str::<Style>("lenght = 0.2").is_err());
    for preset in Preset::ALL {
        let text = toml::to_string(&preset.style()).unwrap();
        assert_eq!(toml::from_str::<Style>(&text).unwrap(), preset.style());
        assert_eq!(preset.name().parse(), Ok(preset));
    }
    let error = "mohawk".parse::<Preset>().unwrap_err().to_string();
    assert!(error.contains("mohawk") && error.contains("ponytail"), "{error}");
}

#[test]
fn bad_input_is_refused() {
    let style = Style { strands: 10, ..Style::default() };
    let surface = head();
    let bald = surface.clone().with_density(vec![0.0; surface.mesh.points.len()]);
    assert_eq!(grow(&bald, &style, 1), Err(GrowError::NoArea));
    let short = surface.clone().with_density(vec![1.0; 3]);
    assert!(matches!(grow(&short, &style, 1), Err(GrowError::Column { .. })));
    assert!(matches!(grow(&Surface::new(TriMesh::default()), &style, 1), Err(GrowError::Mesh { .. })));
    let mut torn = surface.clone();
    torn.mesh.triangles[5][1] = 1_000_000;
    assert!(matches!(grow(&torn, &style, 1), Err(GrowError::Mesh { .. })));
    for bad in [
        Style { length: f32::NAN, ..style.clone() },
        Style { strands: 0, ..style.clone() },
        Style { vertices: 1, ..style.clone() },
    ] {
        assert!(matches!(grow(&surface, &bad, 1), Err(GrowError::Parameter { .. })));
    }
}

#[test]
fn the_hairy_ball_is_that_of_the_paper() {
    let groom = hairy_ball(500, 1);
    groom.validate().unwrap();
    assert!(groom.roots.iter().all(|root| *root == Root::Rigid));
    for strand in groom.curves.iter() {
        assert_eq!(strand.len(), 30);
        let root = strand[0];
        assert!((root.length() - 0.09).abs() < 1e-6 && root.y > 0.0);
        // Chords are a little shorter than arcs.
        let length: f32 = strand.windows(2).map(|edge| edge[0].distance(edge[1])).sum();
        assert!((length / 0.3 - 1.0).abs() < 0.02, "{length}");
        assert!((strand[1] - strand[0]).normalize().dot(root / 0.09) > 0.85);
        assert!(strand[1..].iter().all(|point| point.length() > 0.09));
        // Chords of a helix with radius R and advance c per radian, Δ radians each, meet at the angle
        // cos θ = (4 R² sin²(Δ/2) cos Δ + c² Δ²) / (4 R² sin²(Δ/2) + c² Δ²).
        let (radius, advance) = (0.005f32, 0.05 / std::f32::consts::TAU);
        let step = 0.3 / 29.0 / radius.hypot(advance);
        let (around, along) = ((2.0 * radius * (step / 2.0).sin()).powi(2), (advance * step).powi(2));
        let expected = ((around * step.cos() + along) / (around + along)).acos();
        for corner in strand.windows(3) {
            let turn = (corner[2] - corner[1]).angle_between(corner[1] - corner[0]);
            assert!((turn - expected).abs() < 1e-3, "{turn} {expected}");
        }
    }
    assert!(hairy_ball(0, 1).curves.points.is_empty());
}

#[test]
fn hair_that_grows_thinly_is_shorter() {
    let style = Style {
        strands: 400,
        length: 0.1,
        length_variation: 0.0,
        taper: 1.0,
        clumps: Clumps { count: 0, ..Clumps::default() },
        ..Preset::ShortFur.style()
    };
    let groom = grow(&square(0.2), &style, 2).unwrap();
    for strand in groom.curves.iter() {
        let length: f32 = strand.windows(2).map(|edge| edge[0].distance(edge[1])).sum();
        let density = 0.2 + 0.8 * strand[0].x;
        assert!((length / style.length - density).abs() < 0.01, "{length} where the density is {density}");
    }
}
