//! The example scenes of the repository.

use std::path::PathBuf;

use super::*;

fn scenes_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn example_scenes() -> Vec<(String, Scene)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(scenes_folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let read = |path: PathBuf| {
        let name = format!("scenes/{}", path.file_name().unwrap().to_string_lossy());
        let scene = Scene::from_toml(&std::fs::read_to_string(path).unwrap(), &name);
        (name, scene.unwrap_or_else(|error| panic!("{error}")))
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_example_survives_being_written_and_read() {
    let scenes = example_scenes();
    assert!(scenes.len() >= 20, "only {} scenes", scenes.len());
    for (name, scene) in scenes {
        let text = scene.to_toml().unwrap();
        let again = Scene::from_toml(&text, &name).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again, scene, "{name}");
    }
}

#[test]
fn the_examples_show_every_kind() {
    let scenes: Vec<Scene> = example_scenes().into_iter().map(|(_, scene)| scene).collect();
    let bodies = || scenes.iter().flat_map(|scene| &scene.bodies);
    for kind in WindKind::ALL {
        assert!(scenes.iter().any(|scene| scene.wind.kind() == *kind), "no wind {kind}");
    }
    for figure in Figure::ALL {
        assert!(bodies().any(|body| body.shape == BodyShape::Figure(*figure)), "no figure {figure}");
    }
    for motion in MotionName::ALL {
        let shown = |body: &BodySettings| match body.motion.path {
            MotionPath::Builtin(path) => path.name() == *motion,
            _ => false,
        };
        assert!(bodies().any(shown), "no motion {motion}");
    }
    for preset in Preset::ALL {
        let shown =
            |scene: &Scene| matches!(&scene.groom.source, GroomSource::Style(own) if own.preset == preset);
        assert!(scenes.iter().any(shown), "no style {}", preset.name());
    }
    for material in MaterialPreset::ALL {
        assert!(scenes.iter().any(|scene| scene.material.preset == *material), "no material {material}");
    }
    for interpolation in Interpolation::ALL {
        let shown = |body: &BodySettings| matches!(&body.motion.path, MotionPath::Keyframes(keys) if keys.interpolation == *interpolation);
        assert!(bodies().any(shown), "no interpolation {interpolation}");
    }
    let primitive = |wanted: fn(&Primitive) -> bool| {
        bodies().any(|body| matches!(&body.shape, BodyShape::Primitive(shape) if wanted(shape)))
    };
    assert!(primitive(|shape| matches!(shape, Primitive::Plane)));
    assert!(primitive(|shape| matches!(shape, Primitive::Sphere { .. })));
    assert!(primitive(|shape| matches!(shape, Primitive::Capsule { .. })));
    assert!(bodies().any(|body| matches!(body.shape, BodyShape::Mesh(_))));
    assert!(bodies().any(|body| matches!(body.animation, Some(Animation::Cycle(_)))));
    assert!(scenes.iter().any(|scene| matches!(scene.gravity, Gravity::Keyframes { .. })));
    assert!(scenes.iter().any(|scene| matches!(scene.groom.source, GroomSource::File(_))));
    assert!(scenes.iter().any(|scene| matches!(scene.groom.source, GroomSource::Builtin(_))));
    assert!(scenes.iter().any(|scene| scene.groom.guides.is_some()));
    for attach in Attach::ALL {
        assert!(scenes.iter().any(|scene| scene.groom.attach == *attach), "no attachment {attach}");
    }
}

#[test]
fn other_parts_understand_the_examples() {
    for (name, scene) in example_scenes() {
        if let GroomSource::Style(style) = &scene.groom.source {
            style.style().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        crate::solve::Method::from_settings(&scene.solver).unwrap_or_else(|error| panic!("{error}"));
        for body in &scene.bodies {
            if let (BodyShape::Figure(figure), Some(Animation::Cycle(cycle))) = (&body.shape, &body.animation)
            {
                let figure = crate::figure::by_name(figure.name()).unwrap();
                assert!(figure.motions().contains(&cycle.as_str()), "{name}: {cycle}");
            }
            if let BodyShape::Mesh(file) = &body.shape {
                assert!(scenes_folder().join(file).exists(), "{name}: {file}");
            }
        }
        if let GroomSource::File(file) = &scene.groom.source {
            assert!(scenes_folder().join(file).exists(), "{name}: {file}");
        }
    }
}

#[test]
fn every_figure_exists() {
    assert_eq!(Figure::ALL.iter().map(|figure| figure.name()).collect::<Vec<_>>(), crate::figure::NAMES);
}

#[test]
fn the_unit_and_the_up_axis_of_a_groom_file_can_be_said() {
    let read = |keys: &str| {
        let scene = Scene::from_toml(&format!("[groom]\nfile = 'a.tfx'\n{keys}"), "a.toml").unwrap();
        // What is written for others to read says the same.
        let again = Scene::from_toml(&scene.to_toml().unwrap(), "b.toml").unwrap();
        assert_eq!(again.groom, scene.groom);
        scene.groom.of_file
    };
    assert_eq!(read(""), GroomFileSettings::default());
    assert_eq!(read("unit = 0.1"), GroomFileSettings { unit: Some(0.1), up: None });
    for (name, unit) in [("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("in", 0.0254)] {
        let said = GroomFileSettings { unit: Some(unit), up: Some(UpAxis::Z) };
        assert_eq!(read(&format!("unit = '{name}'\nup = 'z'")), said);
    }
}
