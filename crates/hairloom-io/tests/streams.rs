//! Large caches are written and read with the memory of about one frame. `HAIRLOOM_STREAM_VERTICES` sets the size: ten
//! million vertices, for instance, instead of the few of an ordinary run.

mod counting;

use std::path::Path;

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};
use hairloom_io::cache::{Cache, CacheWriter, convert_frames};
use hairloom_io::grooms::Said;
use hairloom_io::usd::{Layer, Value, Writer};

/// The most memory that this process held since the last [`forget_peak`], where the system tells [bytes].
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// What `work` adds to the memory that is held already [bytes].
fn added(work: impl FnOnce()) -> Option<u64> {
    forget_peak();
    let before = peak()?;
    work();
    Some(peak()?.saturating_sub(before))
}

const FRAMES: usize = 16;

fn write_layer(path: &Path, vertices: usize) {
    let mut writer = Writer::create(path).unwrap();
    let hair = writer.define("/Hair", "BasisCurves").unwrap();
    let points = writer.declare(hair, "points", "point3f[]").unwrap();
    for frame in 0..FRAMES {
        let shift = frame as f32;
        let moved = (0..vertices).map(|vertex| [vertex as f32, shift, 0.5]).collect();
        writer.write_sample(points, f64::from(shift), &Value::Vec3fArray(moved)).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
}

fn read_layer(path: &Path, vertices: usize) {
    let layer = Layer::open(path).unwrap();
    let points = layer.attribute("/Hair.points").unwrap();
    for frame in 0..FRAMES {
        let now = points.sample(frame).unwrap().into_vec3f_array().unwrap();
        assert_eq!((now.len(), now[0][1]), (vertices, frame as f32));
    }
}

/// All in one test: tests that run side by side would count each other's memory.
#[test]
fn memory_is_bounded_by_frames_and_not_by_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let asked = std::env::var("HAIRLOOM_STREAM_VERTICES").ok().and_then(|text| text.parse().ok());
    let vertices = asked.unwrap_or(400_000);
    let path = folder.path().join("large.usdc");
    let frame = vertices as u64 * 12;
    let write = added(|| write_layer(&path, vertices));
    let read = added(|| read_layer(&path, vertices));
    println!(
        "usdc: {vertices} vertices, a frame of {frame} bytes; writing added {write:?}, reading {read:?}"
    );
    let most = 4 * frame + (4 << 20);
    assert!(most < FRAMES as u64 * frame / 2, "the cache must be much larger than what is allowed");
    assert!(write.is_none_or(|bytes| bytes < most), "writing took {write:?}, allowed {most}");
    assert!(read.is_none_or(|bytes| bytes < most), "reading took {read:?}, allowed {most}");
    drop(folder);

    let text =
        "[time]\nframes = 24\nfps = 240\n[groom]\nbuiltin = { name = \"hairy-ball\", strands = 3000 }\n";
    let scene = Scene::from_toml(text, "scene.toml").unwrap();
    for ending in ["abc", "usdc"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("cache.{ending}"));
        let mut simulation = Simulation::new(scene.clone(), &NoFiles).unwrap();
        simulation.advance().unwrap();
        let mut simulation = Simulation::new(scene.clone(), &NoFiles).unwrap();
        let frame = simulation.groom().vertices() as u64 * 24;
        let write = added(|| {
            let mut writer = CacheWriter::create(&path, &simulation).unwrap();
            writer.write_frame(&simulation).unwrap();
            for _ in 0..24 {
                simulation.advance().unwrap();
                writer.write_frame(&simulation).unwrap();
                writer.flush().unwrap();
            }
            writer.finish().unwrap();
        });
        let read = added(|| {
            let cache = Cache::open(&path).unwrap();
            assert_eq!(cache.frames(), 25);
            for index in 0..cache.frames() {
                assert_eq!(cache.frame(index).unwrap().groom.vertices() as u64 * 24, frame);
            }
        });
        println!("{ending}: a frame of {frame} bytes; writing added {write:?}, reading {read:?}");
        let most = 6 * frame + (4 << 20);
        assert!(write.is_none_or(|bytes| bytes < most), "{ending}: writing took {write:?}, allowed {most}");
        assert!(read.is_none_or(|bytes| bytes < most), "{ending}: reading took {read:?}, allowed {most}");
    }
    one_frame_is_held_at_a_time();
}

/// Frames through the reader of caches and through a conversion: no second frame is ever held. Counted by the allocator, so that
/// nothing of it is the system's doing.
fn one_frame_is_held_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let asked = std::env::var("HAIRLOOM_STREAM_VERTICES").ok().and_then(|text| text.parse().ok());
    let strands: usize = asked.unwrap_or(400_000) / 100;
    let vertices = 100 * strands;
    let at = |name: &str| folder.path().join(name);
    {
        let mut writer = Writer::create(at("a.usdc")).unwrap();
        writer.set_metadata("metersPerUnit", &Value::Double(1.0)).unwrap();
        let hair = writer.define("/Hair", "BasisCurves").unwrap();
        writer.declare_uniform(hair, "type", "token", &Value::token("linear")).unwrap();
        let counts = writer.declare(hair, "curveVertexCounts", "int[]").unwrap();
        writer.set_default(counts, &Value::IntArray(vec![100; strands])).unwrap();
        let points = writer.declare(hair, "points", "point3f[]").unwrap();
        for frame in 0..4 {
            let moved = (0..vertices).map(|vertex| [vertex as f32, frame as f32, 0.5]).collect();
            writer.write_sample(points, f64::from(frame), &Value::Vec3fArray(moved)).unwrap();
        }
        writer.finish().unwrap();
    }
    // Points, and for each strand what it takes besides.
    let frame = 12 * vertices + 64 * strands;
    let measure = |name: &str| {
        let (frames, peak) = counting::measured(|| {
            let cache = Cache::open(at(name)).unwrap();
            for index in 0..cache.frames() {
                assert_eq!(cache.frame(index).unwrap().groom.curves.points[7].y, index as f32);
            }
            cache.frames()
        });
        println!("{name}: a frame of {frame} bytes; reading held {peak}");
        assert_eq!(frames, 4);
        assert!(peak < frame * 11 / 10 + (1 << 20), "{name}: {peak} for a frame of {frame}");
    };
    let convert = |from: &str, to: &str| {
        let (_, peak) = counting::measured(|| {
            let (cache, space) = Cache::open_in_own_space(at(from), &Said::default()).unwrap();
            convert_frames(&cache, space, at(to), &Said::default(), None, Ok).unwrap()
        });
        println!("{from} to {to}: a frame of {frame} bytes; converting held {peak}");
        // Alembic is written from the frame itself; USD takes the points as a value, a copy.
        let most = if to.ends_with("abc") { frame * 11 / 10 } else { frame * 21 / 10 };
        assert!(peak < most + (1 << 20), "{from} to {to}: {peak} for a frame of {frame}");
    };
    measure("a.usdc");
    convert("a.usdc", "b.abc");
    measure("b.abc");
    convert("b.abc", "c.usdc");
}
