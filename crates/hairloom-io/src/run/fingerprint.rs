//! What a run hangs on, in one number.

use hairloom::body::TriMesh;
use hairloom::groom::{Attribute, Domain, Groom, Root, Values};
use hairloom::scene::OutputSettings;
use hairloom::simulate::Simulation;
use hairloom::solve::Method;

use crate::fingerprint::Fingerprint;

/// A fingerprint of all that the frames of a simulation hang on, but not of how many there are: this program's
/// version, every value of the scene, the groom with its roots and marks, and the bodies at every time they are
/// given for. A run goes on only from a checkpoint with the same one.
pub(crate) fn fingerprint(simulation: &Simulation) -> u64 {
    let mut scene = simulation.scene().clone();
    scene.name.clear();
    scene.time.frames = 1;
    scene.output = OutputSettings::default();
    let mut sum = Fingerprint::new();
    sum.add_text(env!("CARGO_PKG_VERSION"));
    // What cannot be written as TOML still has a form for debugging.
    sum.add_text(&scene.to_toml().unwrap_or_else(|_| format!("{scene:?}")));
    // The scene has only those parameters of the solver that it sets.
    sum.add_text(&format!("{:?}", Method::from_settings(&scene.solver).ok()));
    add_groom(&mut sum, simulation.groom());
    for (body, view) in simulation.body_views().iter().enumerate() {
        add_mesh(&mut sum, &view.mesh);
        if let Some(animated) = simulation.body_animation(body) {
            add_mesh(&mut sum, &animated.mesh);
            sum.add_column(&animated.times, |time| time.to_bits().to_le_bytes());
            animated.points.iter().for_each(|points| sum.add_points(points));
        }
    }
    sum.value()
}

fn add_mesh(sum: &mut Fingerprint, mesh: &TriMesh) {
    sum.add_points(&mesh.points);
    sum.add_column(mesh.triangles.as_flattened(), |vertex| vertex.to_le_bytes());
}

fn add_groom(sum: &mut Fingerprint, groom: &Groom) {
    sum.add_column(&groom.curves.offsets, |offset| offset.to_le_bytes());
    sum.add_points(&groom.curves.points);
    for root in &groom.roots {
        match root {
            Root::Free => sum.add(&[0]),
            Root::Rigid => sum.add(&[1]),
            Root::Triangle { triangle, weights } => {
                sum.add(&[2]);
                sum.add(&triangle.to_le_bytes());
                sum.add_numbers(weights);
            }
        }
    }
    sum.add_numbers(&groom.widths);
    sum.add_column(&groom.root_uv, |uv| uv.x.to_bits().to_le_bytes());
    sum.add_column(&groom.root_uv, |uv| uv.y.to_bits().to_le_bytes());
    sum.add_column(&groom.ids, |id| id.to_le_bytes());
    sum.add_column(&groom.guides, |&guide| [u8::from(guide)]);
    groom.attributes.iter().for_each(|attribute| add_attribute(sum, attribute));
}

fn add_attribute(sum: &mut Fingerprint, attribute: &Attribute) {
    sum.add_text(&attribute.name);
    sum.add(&[u8::from(attribute.domain == Domain::Vertex)]);
    match &attribute.values {
        Values::Float(values) => sum.add_numbers(values),
        Values::Int(values) => sum.add_column(values, |value| value.to_le_bytes()),
        Values::Vec2(values) => values.iter().for_each(|value| sum.add_numbers(&value.to_array())),
        Values::Vec3(values) => sum.add_points(values),
    }
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec3};
    use hairloom::groom::Curves;
    use hairloom::scene::{GroomFileSettings, Scene};
    use hairloom::simulate::{AnimatedMesh, Library};

    use super::*;

    const SCENE: &str = r#"
[time]
frames = 3
[groom]
file = "hair"
body = "skin"
[groom.guides]
pick = "marked"
[[body]]
name = "skin"
mesh = "skin"
animation = "skin"
[[body]]
name = "ball"
shape = "sphere"
radius = 0.1
motion = { builtin = "random", period = 0.5 }
[wind]
kind = "gusty"
velocity = [0.0, 0.0, 1.0]
"#;

    /// Files in memory.
    #[derive(Clone)]
    struct Files {
        groom: Groom,
        skin: AnimatedMesh,
    }

    impl Library for Files {
        fn groom_as(&self, _: &str, _: &GroomFileSettings) -> Result<Groom, String> {
            Ok(self.groom.clone())
        }

        fn mesh(&self, _: &str) -> Result<TriMesh, String> {
            Ok(self.skin.mesh.clone())
        }

        fn animated_mesh(&self, _: &str) -> Result<AnimatedMesh, String> {
            Ok(self.skin.clone())
        }
    }

    fn files() -> Files {
        let mut curves = Curves::default();
        for strand in 0..3 {
            curves.push((0..3).map(|vertex| Vec3::new(0.1 * strand as f32, 0.5 + 0.1 * vertex as f32, 0.0)));
        }
        let root = Root::Triangle { triangle: 0, weights: [0.5, 0.25, 0.25] };
        let shade = Values::Vec2(vec![Vec2::ONE; 3]);
        let groom = Groom {
            curves,
            roots: vec![root; 3],
            widths: vec![1e-4; 9],
            root_uv: vec![Vec2::ZERO; 3],
            ids: vec![7, 8, 9],
            guides: vec![true, true, false],
            attributes: vec![Attribute { name: "shade".into(), domain: Domain::Strand, values: shade }],
        };
        let mesh = TriMesh::capsule(0.4, 0.0);
        let points =
            (0..3).map(|time| mesh.points.iter().map(|p| *p + Vec3::X * time as f32).collect()).collect();
        Files { groom, skin: AnimatedMesh { mesh, times: vec![0.0, 0.05, 0.1], points } }
    }

    fn of(files: &Files, settings: &[(&str, toml::Value)]) -> u64 {
        let settings: Vec<_> =
            settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let scene = Scene::from_toml_with(SCENE, "scene.toml", &settings).unwrap();
        fingerprint(&Simulation::new(scene, files).unwrap())
    }

    #[test]
    fn every_file_that_a_run_reads_counts_to_the_last_bit() {
        type Change = fn(&mut Files);
        let changes: [(&str, Change); 14] = [
            ("a point", |files| files.groom.curves.points[8].z = 1e-7),
            ("where strands end", |files| files.groom.curves.offsets[1] = 4),
            ("a root's triangle", |files| {
                files.groom.roots[2] = Root::Triangle { triangle: 1, weights: [0.5, 0.25, 0.25] };
            }),
            ("a root's weights", |files| {
                files.groom.roots[2] = Root::Triangle { triangle: 0, weights: [0.25, 0.5, 0.25] };
            }),
            ("a free root", |files| files.groom.roots[2] = Root::Free),
            ("a guide's mark", |files| files.groom.guides[1] = false),
            ("a width", |files| files.groom.widths[0] = 2e-4),
            ("a texture coordinate", |files| files.groom.root_uv[0].y = 0.5),
            ("an identifier", |files| files.groom.ids[0] = 1),
            ("an attribute", |files| files.groom.attributes[0].values = Values::Vec2(vec![Vec2::X; 3])),
            ("an attribute's name", |files| files.groom.attributes[0].name = "other".into()),
            ("a mesh's last sample", |files| files.skin.points[2][5].y += 1e-6),
            ("a mesh's times", |files| files.skin.times[2] = 0.11),
            ("a triangle", |files| files.skin.mesh.triangles[0].rotate_left(1)),
        ];
        let good = of(&files(), &[]);
        assert_eq!(good, of(&files(), &[]), "the same gives the same");
        let mut seen = vec![good];
        for (what, change) in changes {
            let mut files = files();
            change(&mut files);
            let changed = of(&files, &[]);
            assert!(!seen.contains(&changed), "{what} does not count");
            seen.push(changed);
        }
    }

    #[test]
    fn every_value_of_the_scene_counts_but_names_and_lengths() {
        let files = files();
        let good = of(&files, &[]);
        let values = [
            ("time.fps", 30.into()),
            ("time.substeps", 2.into()),
            ("time.start", 0.5.into()),
            ("groom.pinned", 1.into()),
            ("groom.resample", 4.into()),
            ("groom.guides.keep_lengths", false.into()),
            ("groom.guides.vertices", 7.5.into()),
            ("groom.guides.blend.tip", 0.5.into()),
            ("material.radius", 1e-4.into()),
            ("body.skin.friction", 0.7.into()),
            ("body.skin.collide", false.into()),
            ("body.skin.position", vec![0.0, 0.0, 1e-6].into()),
            ("body.ball.radius", 0.11.into()),
            ("body.ball.motion.period", 0.6.into()),
            ("gravity.value", vec![0.0, -1.6, 0.0].into()),
            ("wind.velocity", vec![0.0, 0.0, 2.0].into()),
            ("solver.damping", 0.123.into()),
        ];
        let mut seen = vec![good];
        for (key, value) in values {
            let changed = of(&files, &[(key, value)]);
            assert!(!seen.contains(&changed), "{key} does not count");
            seen.push(changed);
        }
        let alike = [("name", "other".into()), ("time.frames", 9.into()), ("output.velocities", true.into())];
        for (key, value) in alike {
            assert_eq!(of(&files, &[(key, value)]), good, "{key} counts");
        }
    }
}
