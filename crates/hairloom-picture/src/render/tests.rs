//! Whole pictures against what they must show.

use hairloom::body::TriMesh;
use hairloom::groom::Curves;

use super::*;
use crate::{BodyLayer, HairColor, HairLayer};

/// A camera that sees 1 m as 100 px at a distance of 1 m from it.
fn camera() -> Camera {
    let fov = 2.0 * 0.5f32.atan().to_degrees();
    Camera::look_at(Vec3::Z, Vec3::ZERO, fov)
}

fn options() -> Options {
    Options::new(100, 100)
}

fn vertical(x: f32) -> Curves {
    let mut curves = Curves::default();
    curves.push((0..21).map(|i| Vec3::new(x, 0.4 - 0.04 * i as f32, 0.0)));
    curves
}

/// A square across the view, 0.6 m wide, at depth `z`.
fn square(z: f32) -> TriMesh {
    let points =
        [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)].map(|(x, y)| Vec3::new(x, y, z)).to_vec();
    TriMesh { points, triangles: vec![[0, 1, 2], [0, 2, 3]] }
}

fn hair<'a>(curves: &'a Curves, widths: &'a [f32]) -> Scene<'a> {
    let mut layer = HairLayer::new(curves, widths, HairColor::named("black").unwrap());
    layer.variation = 0.0;
    Scene { hair: vec![layer], ..Scene::default() }
}

#[test]
fn a_strand_thinner_than_a_pixel_covers_its_width() {
    let light = |scene: &Scene| draw_light(scene, &camera(), &options()).unwrap();
    let empty = light(&Scene::default());
    let curves = vertical(0.0037);
    let deficit = |width: f32| -> f32 {
        let image = light(&hair(&curves, &[width]));
        (0..100).map(|x| empty[50 * 100 + x].y - image[50 * 100 + x].y).sum()
    };
    // One strand 0.5 px wide shows what full coverage is worth.
    let whole = deficit(0.005) / 0.5;
    assert!(whole > 0.1);
    for width in [0.02, 0.1, 0.25, 1.0] {
        let covered = deficit(width * 0.01) / whole;
        assert!((covered / width - 1.0).abs() < 0.03, "{width} px covers {covered} px");
    }
}

#[test]
fn vertices_of_a_body_have_colours_of_their_own() {
    let mesh = square(0.0);
    let (red, blue) = ([0.8, 0.05, 0.05], [0.05, 0.05, 0.8]);
    let draw = |color: [f32; 3], point_colors: &[[f32; 3]]| {
        let layer = BodyLayer { mesh: &mesh, color: color.into(), point_colors };
        draw_light(&Scene { bodies: vec![layer], ..Scene::default() }, &camera(), &options()).unwrap()
    };
    let image = draw(red, &[red, blue, blue, red]);
    let [left, middle, right] = [22, 50, 78].map(|x| image[50 * 100 + x]);
    assert!(left.x > 3.0 * left.z && right.z > 3.0 * right.x, "{left} {right}");
    assert!((middle.x / middle.z - 1.0).abs() < 0.1, "{middle}");
    let far = |a: Vec<Vec3>, b: Vec<Vec3>| a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(far(draw(red, &[]), draw(blue, &[red; 4])) < 1e-5);
    assert!(far(draw(red, &[]), draw(blue, &[])) > 0.1);
}

#[test]
fn nearer_things_hide_farther_ones() {
    let (curves, near, far) = (vertical(0.0), square(0.2), square(-0.2));
    let draw = |mesh: &TriMesh, with_hair: bool| {
        let mut scene = hair(&curves, &[0.03]);
        if !with_hair {
            scene.hair.clear();
        }
        scene.bodies.push(BodyLayer::new(mesh));
        render(&scene, &camera(), &options()).unwrap().pixel(50, 50)
    };
    let differ = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).any(|(a, b)| a.abs_diff(b) > 20);
    assert!(!differ(draw(&near, true), draw(&near, false)));
    assert!(differ(draw(&far, true), draw(&far, false)));
}

#[test]
fn edges_of_bodies_are_smooth() {
    let mesh = square(0.0);
    let mut tilted = mesh.clone();
    tilted.points.iter_mut().for_each(|point| point.x += point.y * 0.1);
    let scene = Scene { bodies: vec![BodyLayer::new(&tilted)], ..Scene::default() };
    let image = render(&scene, &camera(), &options()).unwrap();
    let (inside, outside) = (image.pixel(50, 50)[2], image.pixel(5, 50)[2]);
    let between = (0..100).flat_map(|y| (0..100).map(move |x| (x, y))).filter(|&(x, y)| {
        let value = image.pixel(x, y)[2];
        value.abs_diff(inside) > 15 && value.abs_diff(outside) > 25
    });
    assert!(between.count() > 40);
}

/// A tuft over a square: some of everything.
fn tuft() -> (Curves, TriMesh) {
    let mut curves = Curves::default();
    for strand in 0..3000 {
        let turn = strand as f32 * 2.399_963;
        let radius = (strand as f32 / 3000.0).sqrt() * 0.3;
        let root = Vec3::new(turn.cos() * radius, -0.2, turn.sin() * radius);
        curves.push((0..12).map(|k| {
            let t = k as f32 / 11.0;
            root + Vec3::new((t * 9.0 + turn).sin() * 0.02, t * 0.5, (t * 9.0 + turn).cos() * 0.02)
        }));
    }
    (curves, square(-0.1))
}

#[test]
fn pictures_do_not_depend_on_threads() {
    let (curves, mesh) = tuft();
    let mut scene = hair(&curves, &[0.001]);
    scene.bodies.push(BodyLayer::new(&mesh));
    scene.ground = Some(crate::Ground::at(-0.25));
    let draw = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&scene, &camera(), &Options::new(160, 120))).unwrap()
    };
    let one = draw(1);
    assert_eq!(one, draw(2));
    assert_eq!(one, draw(8));
}

#[test]
fn crowded_tiles_are_cut_without_a_trace() {
    let (curves, mesh) = tuft();
    let mut scene = hair(&curves, &[0.001]);
    scene.bodies.push(BodyLayer::new(&mesh));
    let (camera, options) = (camera(), options());
    let projection = camera.projection(100, 100);
    let lighting = Lighting::new(&scene, &Light::studio(&camera));
    let tiles = TileGrid::new(100, 100);
    let strands = project_strands(&scene, &projection, &lighting, &tiles);
    let bodies = ScreenBodies::new(&scene, projection, &tiles);
    let backdrop = Backdrop::new(&scene, &options, projection);
    let draw = |most_fragments: usize| {
        let (strands, bodies, lighting, backdrop) = (&strands[..], &bodies, &lighting, &backdrop);
        let frame = FrameParts { strands, bodies, lighting, backdrop, most_fragments };
        let rect = tiles.rect(5);
        let mut light = vec![Vec3::ZERO; rect.pixels()];
        frame.draw(5, rect, rect, &mut Workspace::default(), &mut light);
        light
    };
    assert_eq!(draw(usize::MAX), draw(100));
}

#[test]
fn hair_inside_a_tuft_is_darker_than_outside() {
    let (curves, _) = tuft();
    let scene = hair(&curves, &[0.003]);
    let lighting = Lighting::new(&scene, &Light::studio(&camera()));
    let depth = |point: Vec3| lighting.station(point).arrivals[0].depth;
    assert!(depth(Vec3::new(0.0, -0.15, 0.0)) > depth(Vec3::new(0.0, 0.25, 0.28)) + 0.3);
}

#[test]
fn bad_input_is_an_error_or_left_out_but_never_a_panic() {
    let (mut curves, mut mesh) = tuft();
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    curves.points[5] = Vec3::new(nan, 0.0, 0.0);
    curves.points[30] = Vec3::splat(inf);
    curves.points[31] = Vec3::splat(1e30);
    curves.points[77] = Vec3::new(0.0, 0.0, 1.0);
    curves.points[100] = Vec3::new(0.0, 0.0, 5.0);
    curves.push([]);
    curves.push([Vec3::ZERO]);
    mesh.points[0] = Vec3::splat(nan);
    mesh.points[1] = Vec3::new(1e20, 0.0, 3.0);
    for width in [0.001, -1.0, nan, inf, 1e20] {
        let widths = [width];
        let mut scene = hair(&curves, &widths);
        scene.bodies.push(BodyLayer::new(&mesh));
        scene.ground = Some(crate::Ground::at(nan));
        render(&scene, &camera(), &Options::new(64, 48)).unwrap();
    }
    render(&Scene::default(), &camera(), &Options::new(1, 1)).unwrap();

    let scene = hair(&curves, &[0.001, 0.002]);
    assert!(render(&scene, &camera(), &options()).unwrap_err().to_string().contains("widths has 2 entries"));
    let mut broken = curves.clone();
    broken.offsets.clear();
    assert!(render(&hair(&broken, &[0.001]), &camera(), &options()).is_err());
    broken.offsets = vec![0, 9, 4, curves.points.len() as u32];
    assert!(render(&hair(&broken, &[0.001]), &camera(), &options()).is_err());
    mesh.triangles.push([0, 1, 99]);
    let scene = Scene { bodies: vec![BodyLayer::new(&mesh)], ..Scene::default() };
    assert!(render(&scene, &camera(), &options()).unwrap_err().to_string().contains("vertex 99"));
    for (width, height) in [(0, 10), (10, 0), (100_000, 10), (16_000, 16_000)] {
        assert!(render(&Scene::default(), &camera(), &Options::new(width, height)).is_err());
    }
    let blind = Camera::look_at(Vec3::ONE, Vec3::ONE, 30.0);
    assert!(render(&Scene::default(), &blind, &options()).is_err());
}
