//! Scenes as a whole: what they mean, what they answer when they are wrong, and that they survive being written.

mod bad_scenes;
mod examples;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::*;
use crate::groom::Preset;

const HEAD: &str = "groom.style = 'curly'\n[[body]]\nname = 'head'\nfigure = 'bust'\n";

fn parse(text: &str) -> Result<Scene, SceneError> {
    Scene::from_toml(text, "a.toml")
}

fn parse_with(text: &str, overrides: &[(&str, &str)]) -> Result<Scene, SceneError> {
    let value =
        |text: &str| toml::from_str::<toml::Table>(&format!("value = {text}")).unwrap()["value"].clone();
    let overrides: Vec<_> = overrides.iter().map(|(key, text)| ((*key).to_owned(), value(text))).collect();
    Scene::from_toml_with(text, "a.toml", &overrides)
}

#[test]
fn a_minimal_scene_has_sensible_values() {
    let scene = parse(HEAD).unwrap();
    assert_eq!(scene.time, TimeRange { start: 0.0, frames: 96, fps: 24.0, steps: Steps::PerFrame(1) });
    assert_eq!(scene.material, Material::preset(MaterialPreset::Curly));
    assert_eq!(scene.groom.body.as_deref(), Some("head"));
    assert_eq!(scene.groom_body().unwrap().shape, BodyShape::Figure(Figure::Bust));
    assert_eq!(scene.solver.method, "ftl");
    assert!(scene.wind.is_none());
    assert_eq!(scene.gravity.at(1.0).y, -9.81);
}

#[test]
fn times_follow_from_the_end() {
    let scene =
        parse("groom.file = 'a.hair'\ntime = { start = 1.0, end = 3.0, fps = 30, substeps = 4 }").unwrap();
    assert_eq!(scene.time.frames, 60);
    assert_eq!(scene.time.end(), 3.0);
    assert!((scene.time.step() - 1.0 / 120.0).abs() < 1e-15);
    assert_eq!((scene.time.steps_until(2), scene.time.step_time(8)), (8, scene.time.frame_time(2)));
    assert!((scene.time.step_time(3) - (1.0 + 3.0 / 120.0)).abs() < 1e-15);
}

#[test]
fn steps_fall_where_frames_do_not() {
    let scene = parse("groom.file = 'a.hair'\ntime = { fps = 50, steps_per_second = 120 }").unwrap();
    assert_eq!(scene.time.steps, Steps::PerSecond(120.0));
    assert_eq!([0, 1, 2, 3, 4, 5].map(|frame| scene.time.steps_until(frame)), [0, 3, 5, 8, 10, 12]);
    // No step more for a frame that is on a step but for rounding.
    for fps in [24.0, 25.0, 29.97, 30.0, 60.0, 90.0, 144.0] {
        let time = TimeRange { fps, steps: Steps::PerSecond(5.0 * fps), ..scene.time };
        for frame in [1, 3, 7, 1001, 86_399] {
            assert_eq!(time.steps_until(frame), 5 * u64::from(frame), "{fps}");
        }
    }
    // What a scene holds can be read again, as `--frames` does.
    for steps in [Steps::PerSecond(90.0), Steps::PerFrame(3)] {
        let time = TimeRange { frames: 7, steps, ..scene.time };
        let written = ("time".to_owned(), toml::Value::try_from(time).unwrap());
        assert_eq!(Scene::from_toml_with("groom.file = 'a.hair'", "a.toml", &[written]).unwrap().time, time);
    }
    let told = parse("groom.file = 'a.hair'\ntime = { substeps = 2, steps_per_second = 120 }").unwrap_err();
    assert!(told.to_string().contains("steps_per_second"), "{told}");
}

#[test]
fn every_preset_parses() {
    for preset in MaterialPreset::ALL {
        let scene = parse(&format!("{HEAD}[material]\npreset = '{preset}'\nfriction = 0.7")).unwrap();
        assert_eq!(scene.material, Material { friction: 0.7, ..Material::preset(*preset) });
    }
    for preset in Preset::ALL {
        let scene = parse(&format!("groom.style = '{}'", preset.name())).unwrap();
        assert_eq!(scene.material.preset, scene.groom.source.usual_material());
        let GroomSource::Style(style) = scene.groom.source else { panic!("not a style") };
        assert_eq!(style.style().unwrap(), preset.style());
    }
    for figure in Figure::ALL {
        parse(&format!("groom.style = 'wavy'\n[[body]]\nname = 'it'\nfigure = '{figure}'")).unwrap();
    }
    for motion in MotionName::ALL {
        let scene =
            parse(&format!("{HEAD}motion = {{ builtin = '{motion}' }}\n[time]\nstart = 2.0")).unwrap();
        assert_eq!(scene.bodies[0].motion.start, 2.0);
        assert_eq!(scene.bodies[0].motion.path, MotionPath::Builtin(BuiltinMotion::usual(*motion)));
    }
}

#[test]
fn bodies_are_placed_then_moved() {
    let text = format!(
        "{HEAD}position = [0, 1, 0]\naxis = [0, 2, 0]\nangle_degrees = 90\nmotion = {{ pivot = [1, 0, 0], keyframes = [{{ time = 0, rotation_degrees = [0, 0, 90] }}] }}"
    );
    let scene = parse(&text).unwrap();
    // The quarter turn about y takes x to −z; the one about z around (1, 0, 0) takes (0, 1, −1) to (0, −1, −1).
    let point = scene.bodies[0].pose(0.0).apply(DVec3::X);
    assert!(point.distance(DVec3::new(0.0, -1.0, -1.0)) < 1e-12, "{point}");
}

#[test]
fn a_moving_head_leaves_the_body_in_place() {
    let scene = parse(&format!("{HEAD}motion = {{ builtin = 'nod', part = 'head' }}")).unwrap();
    let body = &scene.bodies[0];
    assert_eq!(body.pose(0.5), crate::math::Pose::IDENTITY);
    assert!(body.head_pose(0.9).unwrap().rotation.to_scaled_axis().x.abs() > 0.1);
}

#[test]
fn overrides_replace_and_add() {
    let text = format!("{HEAD}[solver]\nmethod = 'ftl'\nbending = 0.3");
    let scene = parse_with(
        &text,
        &[
            ("time.fps", "30"),
            ("body.head.friction", "0.9"),
            ("body.0.motion.builtin", "'nod'"),
            ("solver.friction", "0.1"),
        ],
    )
    .unwrap();
    assert_eq!(scene.time.fps, 30.0);
    assert_eq!(scene.bodies[0].friction, Some(0.9));
    assert!(!scene.bodies[0].motion.is_still());
    assert_eq!(scene.solver.parameters.to_table().len(), 2);
}

#[test]
fn another_method_drops_the_parameters_of_the_first() {
    let text = format!("{HEAD}[solver]\nmethod = 'ftl'\nbending = 0.3");
    let scene = parse_with(&text, &[("solver.iterations", "5"), ("solver.method", "'admm'")]).unwrap();
    assert_eq!(scene.solver.parameters.to_table(), toml::from_str("iterations = 5").unwrap());
    let scene = parse_with(&text, &[("solver.method", "'ftl'")]).unwrap();
    assert_eq!(scene.solver.parameters.to_table(), toml::from_str("bending = 0.3").unwrap());
}

/// Stands for the parameters of some solver or style.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Growth {
    strands: u32,
    length: f32,
    curl: Curl,
    tie: Option<f32>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Curl {
    radius: f32,
    pitch: f32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Loose,
    Tied,
}

impl Default for Curl {
    fn default() -> Self {
        Self { radius: 0.001, pitch: 0.01 }
    }
}

impl Default for Growth {
    fn default() -> Self {
        Self { strands: 100, length: 0.3, curl: Curl::default(), tie: None, kind: Kind::Loose }
    }
}

fn style(text: &str) -> Parameters {
    let scene = parse(&format!("[groom.style]\npreset = 'curly'\n{text}")).unwrap();
    let GroomSource::Style(style) = scene.groom.source else { panic!("not a style") };
    style.parameters
}

#[test]
fn parameters_are_read_over_a_base() {
    let base = Growth { length: 0.5, curl: Curl { radius: 0.02, pitch: 0.2 }, ..Growth::default() };
    let parameters = style("strands = 7\ncurl.pitch = 1\nkind = 'tied'\ntie = 2");
    let expected = Growth {
        strands: 7,
        curl: Curl { radius: 0.02, pitch: 1.0 },
        tie: Some(2.0),
        kind: Kind::Tied,
        ..base.clone()
    };
    assert_eq!(parameters.read_over(&base).unwrap(), expected);
    let plain: Growth = parameters.read().unwrap();
    assert_eq!(plain.length, 0.3);
    assert_eq!(plain.curl, Curl { radius: 0.001, pitch: 1.0 });
}

#[test]
fn wrong_parameters_are_reported_where_they_stand() {
    let cases = [
        (
            "strand = 7",
            "a.toml:3:1: unknown key 'strand' in [groom.style]; expected one of strands, length, curl, tie, kind. Did you mean 'strands'?",
        ),
        ("strands = -7", "a.toml:3:1: groom.style.strands: expected a whole number of at least 0, found -7"),
        (
            "strands = 1\nlength = 'long'",
            "a.toml:4:1: groom.style.length: expected a number, found the string \"long\"",
        ),
        (
            "  curl = { radious = 1 }",
            "a.toml:3:12: unknown key 'radious' in [groom.style.curl]; expected one of radius, pitch. Did you mean 'radius'?",
        ),
        (
            "kind = 'lose'",
            "a.toml:3:1: groom.style.kind: unknown name 'lose'; expected one of loose, tied. Did you mean 'loose'?",
        ),
        ("kind = 3", "a.toml:3:1: groom.style.kind: expected a name, found 3"),
    ];
    for (text, message) in cases {
        let parameters = style(text);
        assert_eq!(parameters.read::<Growth>().unwrap_err().to_string(), message);
        assert_eq!(parameters.read_over(&Growth::default()).unwrap_err().to_string(), message);
    }
    let parameters = style("strands = 7\ncurl.pitch = 0");
    assert_eq!(
        parameters.invalid("curl.pitch", "a number above 0").to_string(),
        "a.toml:4:6: groom.style.curl.pitch: expected a number above 0, found 0"
    );
}

#[test]
fn styles_are_checked_when_they_are_made() {
    let make = |text: &str| {
        let scene = parse(&format!("[groom.style]\npreset = 'curly'\n{text}")).unwrap();
        let GroomSource::Style(style) = scene.groom.source else { panic!("not a style") };
        style.style().map_err(|error| error.to_string())
    };
    let style = make("length = 0.2\ncurl.radius = 0.01").unwrap();
    assert_eq!((style.length, style.curl.radius), (0.2, 0.01));
    assert_eq!(style.curl.pitch, Preset::Curly.style().curl.pitch);
    assert_eq!(
        make("curl.raduis = 0.01").unwrap_err(),
        "a.toml:3:6: unknown key 'raduis' in [groom.style.curl]; expected one of radius, pitch, jitter, flatness, onset. Did you mean 'radius'?"
    );
    assert_eq!(
        make("lift = 3").unwrap_err(),
        "a.toml:3:1: groom.style.lift: expected a number from 0 to 1, found 3"
    );
    assert_eq!(
        make("curl.pitch = nan").unwrap_err(),
        "a.toml:3:6: groom.style.curl.pitch: expected a number from 0.001 to 10, found nan"
    );
}

#[test]
fn later_errors_know_their_place() {
    let scene = parse(&format!("{HEAD}animation = 'dnace'\n[solver]\nmethod = 'flt'")).unwrap();
    assert_eq!(
        scene.unknown_name("solver.method", "solver", "flt", &["ftl", "admm"]).to_string(),
        "a.toml:7:1: solver.method: unknown solver 'flt'; expected one of ftl, admm. Did you mean 'ftl'?"
    );
    assert_eq!(
        scene.error("body.0.animation", "the bust has no animation").to_string(),
        "a.toml:5:1: body.0.animation: the bust has no animation"
    );
    assert_eq!(scene.error("time.fps", "too slow").to_string(), "a.toml:1:1: time.fps: too slow");
}
