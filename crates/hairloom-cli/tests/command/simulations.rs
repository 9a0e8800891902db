//! The demo, scenes, interruptions.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{assert_done, errors, hairloom, png, project, run};

#[test]
fn demo_writes_cache_scene_and_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("new/demo");
    let output = hairloom()
        .args(["demo", "--strands", "200", "--frames", "3", "--size", "64x48", "--out"])
        .arg(&out)
        .output()
        .expect("the command starts");
    assert_done(&output);
    assert_eq!(png(&out.join("preview.apng")), (64, 48, true));
    let (width, height, animated) = png(&out.join("contact-sheet.png"));
    assert!(width >= 4 * 64 && height >= 48 && !animated);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains("contact-sheet.png") && said.contains("demo.usdc"));
    let info = run(&format!("groom info {} --json", out.join("demo.usdc").display()));
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    assert_eq!((&info["strands"], &info["frames"]), (&200.into(), &4.into()));
    assert_eq!(info["bodies"][0], "head");
    assert!(info["problem"].is_null());
}

/// A scene small enough for a test, yet with followers, wind, and several seconds of work.
const SCENE: &str = r#"
[time]
frames = 400
substeps = 2
[groom.style]
preset = "straight"
strands = 300
vertices = 12
[groom.guides]
fraction = 0.3
[[body]]
name = "ball"
figure = "ball"
motion = { builtin = "random", distance = 0.1, amplitude_degrees = 90, period = 0.5, seed = 7 }
[wind]
kind = "turbulent"
velocity = [1.0, 0.0, 0.0]
strength = 1.0
[solver]
method = "ftl"
friction = 0.1
"#;

fn simulate(folder: &Path, out: &str) -> Command {
    let mut command = hairloom();
    command.arg("sim").arg(folder.join("scene.toml")).arg("--out").arg(folder.join(out));
    command
}

#[test]
fn sim_with_settings_writes_cache_and_report() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scene.toml"), SCENE).expect("a scene");
    let report = folder.path().join("report.json");
    let mut command = simulate(folder.path(), "a.usda");
    command.args(["--frames", "5", "--solver", "ftl", "--seed", "4", "--threads", "1"]);
    command
        .args(["--set", "groom.style.strands=40", "--set", "wind.velocity=[0, 0, 2]", "--report"])
        .arg(&report);
    assert_done(&command.output().expect("the command starts"));
    let text = fs::read_to_string(folder.path().join("a.usda")).expect("a cache");
    assert!(text.starts_with("#usda") && text.contains("endTimeCode = 5"));
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(report).expect("a report")).expect("JSON");
    assert!(report.to_string().contains("\"strands\":40"), "{report}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scene.toml"), SCENE).expect("a scene");
    let cache = |threads: &str| {
        let out = format!("{threads}.usdc");
        let output = simulate(folder.path(), &out).args(["--frames", "10", "--threads", threads]).output();
        assert_done(&output.expect("the command starts"));
        fs::read(folder.path().join(out)).expect("a cache")
    };
    assert!(cache("1") == cache("3"));
}

#[cfg(unix)]
#[test]
fn interrupted_and_resumed_equals_unbroken() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scene.toml"), SCENE).expect("a scene");
    assert_done(&simulate(folder.path(), "whole.usdc").output().expect("the command starts"));

    let child =
        simulate(folder.path(), "parts.usdc").stderr(Stdio::piped()).spawn().expect("the command starts");
    let cache = folder.path().join("parts.usdc");
    let (start, limit) = (Instant::now(), Duration::from_secs(60));
    // Well into the run: some frames are there, and most are not.
    while fs::metadata(&cache).map_or(0, |file| file.len()) < 1_000_000 && start.elapsed() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill starts").success());
    let stopped = child.wait_with_output().expect("the command ends");
    assert_eq!(stopped.status.code(), Some(1), "{}", errors(&stopped));
    assert!(errors(&stopped).contains("--resume"), "{}", errors(&stopped));

    let resumed = simulate(folder.path(), "parts.usdc").arg("--resume").output().expect("the command starts");
    assert_done(&resumed);
    assert_same_frames(folder.path());
}

/// Compares all frames. The bytes of the files may differ: an interruption leaves room that is not used.
#[cfg(unix)]
fn assert_same_frames(folder: &Path) {
    use hairloom_io::cache::Cache;
    let [whole, parts] =
        ["whole.usdc", "parts.usdc"].map(|name| Cache::open(folder.join(name)).expect("a cache"));
    assert_eq!((whole.frames(), parts.frames()), (401, 401));
    for frame in 0..whole.frames() {
        let [whole, parts] = [&whole, &parts].map(|cache| cache.frame(frame).expect("a frame"));
        assert!(whole.groom == parts.groom && whole.bodies == parts.bodies, "frame {frame}");
    }
}

#[test]
fn every_scene_of_the_project_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenes = fs::read_dir(project().join("scenes")).expect("the scenes");
    let mut names: Vec<String> = scenes
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() > 20);
    for name in names {
        let path = project().join("scenes").join(&name);
        let text = fs::read_to_string(&path).expect("a scene");
        let mut command = hairloom();
        command.arg("sim").arg(&path).args(["--frames", "2", "--out"]).arg(folder.path().join("out.usdc"));
        for setting in fewer_strands(&text) {
            command.args(["--set", &setting]);
        }
        let output = command.output().expect("the command starts");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", errors(&output));
    }
}

/// Settings that make a scene small, whichever way it names its hair.
fn fewer_strands(scene: &str) -> Vec<String> {
    let table: toml::Table = scene.parse().expect("TOML");
    let groom = &table["groom"];
    let mut settings = match (groom.get("style"), groom.get("builtin")) {
        (Some(toml::Value::String(preset)), _) => {
            vec![format!("groom.style={{ preset = '{preset}', strands = 60 }}")]
        }
        (Some(_), _) => vec!["groom.style.strands=60".to_owned()],
        (None, Some(_)) => vec!["groom.builtin.strands=60".to_owned()],
        (None, None) => Vec::new(),
    };
    if groom.get("guides").is_some() {
        settings.push("groom.guides.fraction=0.2".to_owned());
    }
    settings
}
