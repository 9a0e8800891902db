//! Scenes as a whole: what they mean, what they answer when they are wrong, and that they survive being written.

use super::*;

fn parse(text: &str) -> Result<Scene, SceneError> {
    Scene::from_toml(text, "a.toml")
}

#[test]
fn a_minimal_scene_has_sensible_values() {
    let scene = parse("groom.style = 'curly'\n[[body]]\nname = 'head'\nfigure = 'bust'").unwrap();
    assert_eq!(scene.time, TimeRange { start: 0.0, frames: 96, fps: 24.0, substeps: 1 });
    assert_eq!(scene.material, Material::preset(MaterialPreset::Curly));
    assert_eq!(scene.groom.body.as_deref(), Some("head"));
    assert_eq!(scene.solver.method(), "ftl");
    assert!(scene.wind.is_none());
    assert_eq!(scene.gravity.at(1.0).y, -9.81);
}
