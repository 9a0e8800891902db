use std::collections::BTreeMap;
use std::sync::OnceLock;

use glam::{DQuat, DVec3, Vec3};

use super::*;

fn all() -> &'static [Figure] {
    static FIGURES: OnceLock<Vec<Figure>> = OnceLock::new();
    FIGURES.get_or_init(|| NAMES.iter().map(|name| by_name(name).expect("a listed name is known")).collect())
}

fn volume(mesh: &TriMesh, points: &[Vec3]) -> f32 {
    let corners = |t: &[u32; 3]| t.map(|v| points[v as usize]);
    mesh.triangles.iter().map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

#[test]
fn surfaces_are_closed_manifolds_of_one_piece_without_handles() {
    for figure in all() {
        let mesh = &figure.mesh;
        let mut edges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for &[a, b, c] in &mesh.triangles {
            for edge in [(a, b), (b, c), (c, a)] {
                *edges.entry(edge).or_default() += 1;
            }
        }
        for (&(a, b), &count) in &edges {
            assert_eq!(count, 1, "{}: edge {a} {b} runs one way in two triangles", figure.name);
            assert!(edges.contains_key(&(b, a)), "{}: edge {a} {b} is open", figure.name);
        }
        let euler = mesh.points.len() as i64 - edges.len() as i64 / 2 + mesh.triangles.len() as i64;
        assert_eq!(euler, 2, "{}", figure.name);
        assert!(volume(mesh, &mesh.points) > 0.0, "{} is inside out", figure.name);
    }
}

#[test]
fn triangles_are_well_shaped() {
    for figure in all() {
        for index in 0..figure.mesh.triangles.len() {
            let corners = figure.mesh.corners(index);
            let angle = mesher::smallest_angle(corners).to_degrees();
            assert!(angle > 8.0, "{}: {angle}° at {}", figure.name, corners[0]);
        }
    }
}

#[test]
fn attributes_fit_the_mesh() {
    for figure in all() {
        let count = figure.mesh.points.len();
        assert_eq!(
            [figure.scalp.len(), figure.comb.len(), figure.colour.len(), figure.weights.len()],
            [count; 4]
        );
        assert!(figure.scalp.iter().all(|density| (0.0..=1.0).contains(density)));
        assert!(figure.scalp.contains(&0.0) && figure.scalp.contains(&1.0), "{}", figure.name);
        assert!(figure.colour.iter().all(|c| c.min_element() >= 0.0 && c.max_element() <= 1.0));
        for (comb, normal) in figure.comb.iter().zip(figure.mesh.vertex_normals()) {
            assert!(*comb == Vec3::ZERO || (comb.length() - 1.0).abs() < 1e-4);
            assert!(comb.dot(normal).abs() < 0.02, "{}: hair combed off the skin", figure.name);
        }
        for weights in &figure.weights {
            assert!((weights.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(weights.bones.iter().all(|&bone| usize::from(bone) < figure.bones.len()));
        }
        assert!(figure.bones.iter().enumerate().all(|(i, bone)| bone.parent.is_none_or(|parent| parent < i)));
    }
}

#[test]
fn any_number_of_threads_builds_the_same_figure() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool").install(bust);
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool").install(bust);
    assert_eq!(one, three);
}

#[test]
fn the_bust_has_human_measures() {
    let bust = bust();
    let head = |p: &&Vec3| p.y > 1.50 && p.z > -0.2;
    let top = bust.mesh.points.iter().map(|p| p.y).fold(f32::MIN, f32::max);
    let face = bust.mesh.points.iter().filter(|p| p.z > 0.07);
    let chin = face.filter(|p| p.y > 1.45).map(|p| p.y).fold(f32::MAX, f32::min);
    assert!((0.215..0.245).contains(&(top - chin)), "head {} m tall", top - chin);
    let nose = bust.mesh.points.iter().filter(head).max_by(|a, b| a.z.total_cmp(&b.z)).expect("points");
    assert!(nose.x.abs() < 0.005 && (1.57..1.60).contains(&nose.y), "nose at {nose}");
    let (low, high) = bust.mesh.bounds().expect("points");
    assert!((0.36..0.44).contains(&(high.x - low.x)), "shoulders {} m wide", high.x - low.x);
    let bald = |p: Vec3| {
        let nearest = (0..bust.mesh.points.len())
            .min_by(|&a, &b| bust.mesh.points[a].distance(p).total_cmp(&bust.mesh.points[b].distance(p)));
        bust.scalp[nearest.expect("points")] == 0.0
    };
    assert!(bald(*nose) && bald(Vec3::new(0.0, 1.65, 0.1)) && bald(Vec3::new(0.15, 1.4, 0.0)));
    assert!(!bald(Vec3::new(0.0, top, 0.0)) && !bald(Vec3::new(0.0, 1.56, -0.1)));
}

#[test]
fn a_turned_head_is_rigid_and_the_shoulders_stay() {
    let bust = bust();
    let pose = Pose { rotation: DQuat::from_rotation_y(0.9), translation: DVec3::new(0.0, 0.01, 0.0) };
    let pivot = bust.head_rotation_pivot.as_dvec3();
    for ((rest, now), scalp) in bust.mesh.points.iter().zip(bust.pose_with(&pose)).zip(&bust.scalp) {
        let is_shoulder = rest.y < 1.45 && rest.x.abs() > 0.11;
        if rest.y < 1.36 || is_shoulder {
            assert!(rest.distance(now) < 1e-5, "{rest}");
        } else if rest.y > 1.62 || *scalp > 0.0 {
            let expected = pivot + pose.rotation * (rest.as_dvec3() - pivot) + pose.translation;
            assert!(expected.as_vec3().distance(now) < 1e-5, "{rest}");
        }
    }
    let still = bust.pose_with(&Pose::IDENTITY);
    assert!(bust.mesh.points.iter().zip(still).all(|(rest, now)| rest.distance(now) < 1e-5));
}

#[test]
fn motions_start_at_rest_repeat_and_never_jump() {
    for figure in all() {
        assert_eq!(figure.pose(f64::NAN), figure.pose(0.0));
        for cycle in &figure.cycles {
            let at = |time: f64| figure.pose_in(cycle.name, time).expect("the motion is known");
            let farthest =
                |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(farthest(&figure.mesh.points, &at(0.0)) < 2e-6);
            let later = cycle.ease + 0.3;
            assert!(farthest(&at(later), &at(later + cycle.period)) < 1e-5, "{} {}", figure.name, cycle.name);
            // No point jumps in place or speed, also where the ease-in ends.
            let step = 0.01;
            let frames: Vec<_> =
                (0..((cycle.ease + cycle.period) / step) as i32).map(|i| at(f64::from(i) * step)).collect();
            for three in frames.windows(3) {
                let speed = farthest(&three[0], &three[1]) / step as f32;
                let turn = (0..three[0].len()).map(|i| three[0][i] - 2.0 * three[1][i] + three[2][i]);
                let acceleration = turn.map(Vec3::length).fold(0.0, f32::max) / (step * step) as f32;
                assert!(speed < 6.0, "{} {}: {speed} m/s", figure.name, cycle.name);
                assert!(acceleration < 150.0, "{} {}: {acceleration} m/s²", figure.name, cycle.name);
            }
        }
    }
}

#[test]
fn bodies_keep_their_volume_and_stay_above_the_ground() {
    for figure in all() {
        let rest = volume(&figure.mesh, &figure.mesh.points);
        let floor = figure.mesh.bounds().expect("points").0.y;
        for cycle in &figure.cycles {
            for i in 0..12 {
                let points = figure
                    .pose_in(cycle.name, cycle.ease + cycle.period * f64::from(i) / 12.0)
                    .expect("known");
                let now = volume(&figure.mesh, &points);
                assert!(
                    (now / rest - 1.0).abs() < 0.04,
                    "{} {}: {now} of {rest} m³",
                    figure.name,
                    cycle.name
                );
                let low = points.iter().map(|p| p.y).fold(f32::MAX, f32::min);
                assert!(low > floor - 0.035, "{} {}: sinks to {low} m", figure.name, cycle.name);
            }
        }
    }
}

#[test]
fn unknown_names_are_refused_with_what_is_known() {
    assert!(by_name("teapot").is_none());
    let error = dog().pose_in("fly", 0.0).expect_err("dogs cannot fly");
    assert_eq!(error.to_string(), "figure `dog` has no motion `fly`; it has trot, walk, shake, idle");
    assert!(ball(0.1).pose_in("walk", 0.0).expect_err("balls do not walk").to_string().ends_with("none"));
}
