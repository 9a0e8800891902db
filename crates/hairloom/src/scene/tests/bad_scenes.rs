//! Scenes that are wrong, and what each is told.

use super::*;

/// A correct body to which a case adds lines.
const BALL: &str = "groom.builtin = 'hairy-ball'\n[[body]]\nname = 'ball'\nfigure = 'ball'\n";

const CASES: &[(&str, &str)] = &[
    ("", "a.toml:1:1: [groom] needs one of file, style, builtin"),
    ("name = 3\ngroom.file = 'a'", "a.toml:1:1: name: expected a string that is not empty, found 3"),
    ("groom = 3", "a.toml:1:1: groom: expected a table, found 3"),
    ("[groom]\nfile = 'a'\nfile = 'b'", "a.toml:3:1: not valid TOML: duplicate key"),
    ("[groom\nfile = 'a'", "a.toml:1:7: not valid TOML: unclosed table, expected `]`"),
    (
        "[groom]\nfile = 99999999999999999999",
        "a.toml:2:1: not valid TOML: the number 99999999999999999999 is too large to represent",
    ),
    (
        "[groom]\nfile = 'a'\nstyle = 'curly'",
        "a.toml:3:1: groom.style: cannot stand beside groom.file; keep one of the two",
    ),
    ("[groom]\nbody = 'head'", "a.toml:1:2: [groom] needs one of file, style, builtin"),
    (
        "[grom]\nfile = 'a'",
        "a.toml:1:2: unknown key 'grom' at the top level; expected one of name, time, groom, material, strands, body, gravity, wind, solver, output. Did you mean 'groom'?",
    ),
    (
        "[groom]\nstyle = 'curley'",
        "a.toml:2:1: groom.style: unknown style 'curley'; expected one of straight, wavy, curly, afro, ponytail, short-fur, bob. Did you mean 'curly'?",
    ),
    ("[groom]\nstyle = { strands = 3 }", "a.toml:2:1: [groom.style] needs the name of a style as preset"),
    (
        "[groom]\nbuiltin = 'hairyball'",
        "a.toml:2:1: groom.builtin: unknown groom 'hairyball'; expected hairy-ball. Did you mean 'hairy-ball'?",
    ),
    ("[groom]\nfile = ''", "a.toml:2:1: groom.file: expected the name of a file, found the string \"\""),
    (
        "[groom]\nfile = 'a'\nattach = 'both'",
        "a.toml:3:1: groom.attach: unknown attachment 'both'; expected one of root, both-ends, none. Did you mean 'both-ends'?",
    ),
    (
        "[groom]\nfile = 'a'\nunit = 'inch'",
        "a.toml:3:1: groom.unit: unknown unit 'inch'; expected one of m, cm, mm, in",
    ),
    (
        "[groom]\nfile = 'a'\nunit = 0",
        "a.toml:3:1: groom.unit: expected a number from 0.000000001 to 1000000000, found 0",
    ),
    ("[groom]\nfile = 'a'\nup = 'up'", "a.toml:3:1: groom.up: unknown axis 'up'; expected one of y, z"),
    (
        "[groom]\nstyle = 'bob'\nup = 'z'",
        "a.toml:3:1: groom.up: it is about a groom's file, and the groom has none",
    ),
    (
        "[groom]\nfile = 'a'\npinned = 0",
        "a.toml:3:1: groom.pinned: expected a whole number of at least 1, found 0",
    ),
    (
        "[groom]\nfile = 'a'\nresample = 1",
        "a.toml:3:1: groom.resample: expected a whole number from 2 to 10000, found 1",
    ),
    (
        "[groom]\nfile = 'a'\nresample = 9.5",
        "a.toml:3:1: groom.resample: expected a whole number from 2 to 10000, found 9.5",
    ),
    ("[groom]\nfile = 'a'\nturn = 1", "a.toml:3:1: groom.turn: expected true or false, found 1"),
    (
        "[groom]\nfile = 'a'\nedit = 3",
        "a.toml:3:1: groom.edit: expected a list of tables, each [[groom.edit]], found 3",
    ),
    (
        "[groom]\nfile = 'a'\n[[groom.edit]]\nlength = 0.2",
        "a.toml:3:1: [groom.edit.0] needs do, the name of an edit",
    ),
    (
        "[groom]\nfile = 'a'\n[[groom.edit]]\ndo = 'trimm'",
        "a.toml:4:1: groom.edit.0.do: unknown edit 'trimm'; expected one of length, curl, trim, resample, smooth, clump, remove-inside, seat, guides, mirror. Did you mean 'trim'?",
    ),
    (
        "[groom]\nfile = 'a'\n[[groom.edit]]\ndo = 'seat'\n[[groom.edit]]\ndo = 'trim'\nlenght = 0.2",
        "a.toml:7:1: unknown key 'lenght' in [groom.edit.1]; expected one of length, fraction, point, normal. Did you mean 'length'?",
    ),
    (
        "[groom]\nfile = 'a'\n[[groom.edit]]\ndo = 'curl'\nfactor = -1",
        "a.toml:5:1: groom.edit.0.factor: expected a number from 0 to 100, found -1",
    ),
    (
        "[groom]\nfile = 'a'\nguides = { fraction = 0.0 }",
        "a.toml:3:12: groom.guides.fraction: expected a number from 0.000001 to 1, found 0.0",
    ),
    (
        "[groom]\nfile = 'a'\nguides = { fraction = 0.1, blend = { tip = 2 } }",
        "a.toml:3:38: groom.guides.blend.tip: expected a number from 0 to 1, found 2",
    ),
    (
        "[groom]\nfile = 'a'\nbody = 'haed'\n[[body]]\nname = 'head'\nfigure = 'bust'",
        "a.toml:3:1: groom.body: unknown body 'haed'; expected head. Did you mean 'head'?",
    ),
    (
        "[groom]\nfile = 'a'\nbody = 'head'",
        "a.toml:3:1: groom.body: the scene has no bodies; add a [[body]] named 'head'",
    ),
    (
        "[groom]\nfile = 'a'\n[[body]]\nname = 'a'\nfigure = 'bust'\n[[body]]\nname = 'b'\nfigure = 'bust'",
        "a.toml:1:2: [groom] needs body, the name of the body that holds the roots: one of a, b",
    ),
    (
        "[groom]\nfile = 'a'\n[[body]]\nname = 'a'\nfigure = 'bust'\n[[body]]\nname = 'a'\nfigure = 'bust'",
        "a.toml:7:1: body.1.name: two bodies are named 'a'; rename one",
    ),
    ("BALL[time]\nfps = 0", "a.toml:6:1: time.fps: expected a number from 0.001 to 1000000, found 0"),
    ("BALL[time]\nfps = nan", "a.toml:6:1: time.fps: expected a finite number, found nan"),
    ("BALL[time]\nfps = 1e400", "a.toml:6:1: time.fps: expected a finite number, found inf"),
    (
        "BALL[time]\nfps = '24'",
        "a.toml:6:1: time.fps: expected a number from 0.001 to 1000000, found the string \"24\"",
    ),
    ("BALL[time]\nframes = 0", "a.toml:6:1: time.frames: expected a whole number of at least 1, found 0"),
    (
        "BALL[time]\nframes = 10\nend = 2",
        "a.toml:7:1: time.end: cannot stand beside time.frames; keep one of the two",
    ),
    (
        "BALL[time]\nend = 0",
        "a.toml:6:1: time.end: expected a time at least one frame after the start (0 s), found 0",
    ),
    (
        "BALL[time]\nsubsteps = 0",
        "a.toml:6:1: time.substeps: expected a whole number from 1 to 10000, found 0",
    ),
    (
        "BALL[time]\n\n  substep = 2",
        "a.toml:7:3: unknown key 'substep' in [time]; expected one of start, end, frames, fps, substeps, steps_per_second. Did you mean 'substeps'?",
    ),
    (
        "BALL[material]\npreset = 'curls'",
        "a.toml:6:1: material.preset: unknown material 'curls'; expected one of straight, wavy, curly, coarse, fur. Did you mean 'curly'?",
    ),
    ("BALL[material]\nyoung = 0", "a.toml:6:1: material.young: expected a number above 0, found 0"),
    (
        "BALL[material]\npoisson = 0.7",
        "a.toml:6:1: material.poisson: expected a number from 0 to 0.5, found 0.7",
    ),
    (
        "BALL[material]\nradius = -35e-6",
        "a.toml:6:1: material.radius: expected a number from 0.0000001 to 0.1, found -3.5e-5",
    ),
    (
        "BALL[material]\nfriction = -0.1",
        "a.toml:6:1: material.friction: expected a number of at least 0, found -0.1",
    ),
    (
        "BALL[[strands]]\nname = 'ball'\nshare = 0.5",
        "a.toml:6:1: strands.0.name: 'ball' is the name of a body or of other strands, or stands for all others",
    ),
    (
        "BALL[[strands]]\nname = 'dyed'\nshare = 0.5\nfriction_with = [{ name = 'hair', friction = 1 }, { name = 'hair', friction = 2 }]",
        "a.toml:8:1: strands.0.friction_with: friction of 'dyed' with 'hair' is given twice",
    ),
    (
        "BALL[[strands]]\nname = 'dyed'\nshare = 0.5\nvalue = 2",
        "a.toml:8:1: strands.0.value: it belongs to an attribute, not to a share",
    ),
    (
        "BALL[[strands]]\nname = 'dyed'\nshare = 0.5\nfriction_with = [{ name = 'bal', friction = 0.1 }]",
        "a.toml:8:20: strands.0.friction_with.0.name: unknown strands or body 'bal'; expected one of ball, hair, dyed. Did you mean 'ball'?",
    ),
    ("BALL[material]\ndrag = inf", "a.toml:6:1: material.drag: expected a finite number, found inf"),
    (
        "BALLfrction = 0.3",
        "a.toml:5:1: unknown key 'frction' in [body.0]; expected one of name, figure, mesh, shape, radius, half_height, scale, animation, collide, friction, color, sdf, position, rotation, rotation_degrees, axis, angle_degrees, motion. Did you mean 'friction'?",
    ),
    ("BALLfriction = -1", "a.toml:5:1: body.0.friction: expected a number of at least 0, found -1"),
    ("BALLcollide = 1", "a.toml:5:1: body.0.collide: expected true or false, found 1"),
    (
        "BALLcolor = [1, 2, 0]",
        "a.toml:5:1: body.0.color: expected three numbers from 0 to 1 [red, green, blue], found [1, 2, 0]",
    ),
    ("BALLposition = [1, 2]", "a.toml:5:1: body.0.position: expected three numbers [x, y, z], found [1, 2]"),
    (
        "BALLposition = [1, 2, 'x']",
        "a.toml:5:19: body.0.position.2: expected a finite number, found the string \"x\"",
    ),
    ("BALLscale = 0", "a.toml:5:1: body.0.scale: expected a number above 0, found 0"),
    ("BALLmesh = 'a.obj'", "a.toml:5:1: body.0.mesh: cannot stand beside body.0.figure; keep one of the two"),
    ("BALLradius = 0.1", "a.toml:5:1: body.0.radius: only a shape = \"sphere\" or \"capsule\" has a radius"),
    (
        "BALLsdf = { mode = 'exact', cell = 0.01 }",
        "a.toml:5:25: body.0.sdf.cell: only mode = \"grid\" has cells",
    ),
    (
        "BALLsdf = { mode = 'fine' }",
        "a.toml:5:9: body.0.sdf.mode: unknown mode 'fine'; expected one of exact, grid",
    ),
    (
        "BALL[[body]]\nname = 'wall'\nshape = 'plane'\nsdf = { mode = 'grid' }",
        "a.toml:8:9: body.1.sdf.mode: expected \"exact\", for a shape's distance has a formula, found the string \"grid\"",
    ),
    ("BALLangle_degrees = 30", "a.toml:5:1: body.0.angle_degrees: needs an axis = [x, y, z] beside it"),
    (
        "BALLaxis = [0, 0, 0]\nangle_degrees = 30",
        "a.toml:5:1: body.0.axis: expected a vector [x, y, z] that is not zero, found [0, 0, 0]",
    ),
    ("BALLaxis = [0, 1, 0]", "a.toml:2:1: [body.0] needs angle_degrees beside the axis"),
    (
        "BALLrotation = [0, 0, 0, 0]",
        "a.toml:5:1: body.0.rotation: expected a rotation as quaternion [x, y, z, w] that is not zero, found [0, 0, 0, 0]",
    ),
    ("BALL[[body]]\nfigure = 'bust'", "a.toml:5:1: [body.1] needs a name"),
    ("BALL[[body]]\nname = 'wall'", "a.toml:5:1: [body.1] needs one of figure, mesh, shape"),
    (
        "BALL[[body]]\nname = 'wall'\nshape = 'cube'",
        "a.toml:7:1: body.1.shape: unknown shape 'cube'; expected one of plane, sphere, capsule",
    ),
    (
        "BALL[[body]]\nname = 'wall'\nfigure = 'mnoster'",
        "a.toml:7:1: body.1.figure: unknown figure 'mnoster'; expected one of bust, ball, monster, dog, girl. Did you mean 'monster'?",
    ),
    ("BALL[[body]]\nname = 'wall'\nshape = 'sphere'", "a.toml:5:1: [body.1] needs a radius [m]"),
    (
        "BALL[[body]]\nname = 'wall'\nshape = 'sphere'\nradius = 0",
        "a.toml:8:1: body.1.radius: expected a number above 0, found 0",
    ),
    (
        "BALL[[body]]\nname = 'wall'\nshape = 'sphere'\nradius = 1\nhalf_height = 1",
        "a.toml:9:1: body.1.half_height: only a shape = \"capsule\" has a half_height",
    ),
    (
        "BALL[[body]]\nname = 'wall'\nshape = 'plane'\nanimation = 'walk'",
        "a.toml:8:1: body.1.animation: only a figure or a mesh is animated; use motion",
    ),
    (
        "BALL[[body]]\nname = 'wall'\nshape = 'plane'\nmotion = { builtin = 'nod', part = 'head' }",
        "a.toml:8:1: body.1.motion: only a figure has a head; leave part out to move the whole",
    ),
    ("groom.file = 'a'\nbody = { name = 'a' }", "a.toml:2:1: body: expected a list of tables, found a table"),
    ("BALLmotion = {}", "a.toml:5:1: [body.0.motion] needs one of keyframes, builtin"),
    (
        "BALLmotion = { builtin = 'headturn' }",
        "a.toml:5:12: body.0.motion.builtin: unknown motion 'headturn'; expected one of head-turn, nod, shake, walk, hairy-ball, random, teleport. Did you mean 'head-turn'?",
    ),
    (
        "BALLmotion = { builtin = 'nod', period = 0 }",
        "a.toml:5:29: body.0.motion.period: expected a number above 0, found 0",
    ),
    (
        "BALLmotion = { builtin = 'nod', seed = 1 }",
        "a.toml:5:29: body.0.motion.seed: has no effect on the motion \"nod\"; remove it",
    ),
    (
        "BALLmotion = { builtin = 'nod', keyframes = [] }",
        "a.toml:5:29: body.0.motion.keyframes: cannot stand beside body.0.motion.builtin; keep one of the two",
    ),
    (
        "BALLmotion = { builtin = 'nod', part = 'head', pivot = [0, 1, 0] }",
        "a.toml:5:44: body.0.motion.pivot: a figure's head turns about its own neck; leave pivot out",
    ),
    ("BALLmotion = { keyframes = [] }", "a.toml:5:1: [body.0.motion] needs at least one key in keyframes"),
    (
        "BALLmotion = { keyframes = [{ time = 0 }], period = 2 }",
        "a.toml:5:40: body.0.motion.period: has no effect on keyframes; remove it",
    ),
    (
        "BALLmotion.keyframes = [\n  { time = 0 },\n  { time = 0 },\n]",
        "a.toml:7:5: body.0.motion.keyframes.1.time: expected a time after the key before (0 s), found 0",
    ),
    (
        "BALLmotion.keyframes = [\n  { position = [0, 0, 0] },\n]",
        "a.toml:6:3: [body.0.motion.keyframes.0] needs a time [s]",
    ),
    (
        "BALLmotion.keyframes = [\n  { time = 0, rotation_degrees = [0, 0, 0] },\n  { time = 1, rotation_degrees = [0, 360, 0] },\n]",
        "a.toml:7:15: body.0.motion.keyframes.1.rotation_degrees: turns by 180° or more since the key before, and the shortest way would be taken; add a key in between",
    ),
    (
        "BALL[gravity]\nvalue = [0, -9.81]",
        "a.toml:6:1: gravity.value: expected three numbers [x, y, z], found [0, -9.81]",
    ),
    (
        "BALL[gravity]\nvalue = [0, 0, 0]\nkeyframes = []",
        "a.toml:7:1: gravity.keyframes: cannot stand beside gravity.value; keep one of the two",
    ),
    ("BALL[gravity]\nkeyframes = [{ time = 0 }]", "a.toml:6:14: [gravity.keyframes.0] needs a value [m/s²]"),
    (
        "BALL[wind]\nkind = 'turbulence'",
        "a.toml:6:1: wind.kind: unknown kind of wind 'turbulence'; expected one of none, uniform, gusty, turbulent. Did you mean 'turbulent'?",
    ),
    ("BALL[wind]\nkind = 'uniform'", "a.toml:5:2: [wind] needs a velocity [m/s] for this kind of wind"),
    (
        "BALL[wind]\nkind = 'turbulent'\nscale = 0",
        "a.toml:7:1: wind.scale: expected a number above 0, found 0",
    ),
    (
        "BALL[wind]\nkind = 'turbulent'\nseed = -1",
        "a.toml:7:1: wind.seed: expected a whole number of at least 0, found -1",
    ),
    ("BALL[solver]\nmethod = 3", "a.toml:6:1: solver.method: expected a string that is not empty, found 3"),
    (
        "BALL[output]\nwidth = true",
        "a.toml:6:1: unknown key 'width' in [output]; expected one of file, widths, velocities, bodies. Did you mean 'widths'?",
    ),
];

#[test]
fn every_wrong_scene_is_told_what_is_wrong_and_where() {
    let mut wrong = String::new();
    for (text, message) in CASES {
        let text = text.replace("BALL", BALL);
        let found = match parse(&text) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        if found != *message {
            wrong += &format!("{text:?}\n  expected {message}\n  found    {found}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn wrong_overrides_are_told_by_their_key() {
    let cases = [
        (
            ("time.fpss", "30"),
            "--set time.fpss=30: unknown key 'fpss' in [time]; expected one of start, end, frames, fps, substeps, steps_per_second. Did you mean 'fps'?",
        ),
        (("time.fps", "0"), "--set time.fps=0: time.fps: expected a number from 0.001 to 1000000, found 0"),
        (
            ("tmie.fps", "30"),
            "--set tmie.fps=30: unknown key 'tmie' at the top level; expected one of name, time, groom, material, strands, body, gravity, wind, solver, output. Did you mean 'time'?",
        ),
        (
            ("body.bal.friction", "1"),
            "--set body.bal.friction=1: body.bal.friction: unknown item 'bal'; expected ball or the position 0. Did you mean 'ball'?",
        ),
        (
            ("body.7.friction", "1"),
            "--set body.7.friction=1: body.7.friction: unknown item '7'; expected ball or the position 0",
        ),
        (
            ("body.ball.figure", "'dgo'"),
            "--set body.ball.figure=\"dgo\": body.0.figure: unknown figure 'dgo'; expected one of bust, ball, monster, dog, girl. Did you mean 'dog'?",
        ),
        (
            ("groom.builtin.x", "1"),
            "--set groom.builtin.x=1: groom.builtin.x: expected a table before '.x', found the string \"hairy-ball\"",
        ),
        (
            ("time..fps", "1"),
            "--set time..fps=1: time..fps: expected a dotted key such as time.fps, found an empty part",
        ),
        (("", "1"), "--set =1: : expected a dotted key such as time.fps, found an empty part"),
    ];
    let mut wrong = String::new();
    for (set, message) in cases {
        let found = match parse_with(BALL, &[set]) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        if found != *message {
            wrong += &format!("{set:?}\n  expected {message}\n  found    {found}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn no_damage_to_a_scene_makes_it_panic() {
    let text = include_str!("../../../../../scenes/every-key.toml");
    let pieces = [
        "",
        "=",
        "[",
        "]]",
        "'",
        "nan",
        "-1",
        "1e308",
        "9223372036854775807",
        "{}",
        "[[body]]\n",
        "\u{e9}",
        "\n",
    ];
    let mut random = super::super::noise::Random::new(5, 0);
    let mut pick = |count: usize| (random.fraction() * count as f64) as usize;
    for _ in 0..4000 {
        let mut damaged: Vec<char> = text.chars().collect();
        for _ in 0..=pick(3) {
            let start = pick(damaged.len());
            let end = (start + pick(12)).min(damaged.len());
            damaged.splice(start..end, pieces[pick(pieces.len())].chars());
        }
        let damaged: String = damaged.into_iter().collect();
        match parse(&damaged) {
            Ok(scene) => {
                let time = scene.time.end();
                scene
                    .bodies
                    .iter()
                    .for_each(|body| assert!(body.pose(time).rotation.is_finite(), "{damaged}"));
                scene.wind.velocity(scene.gravity.at(time), time);
            }
            Err(error) => assert!(error.to_string().starts_with("a.toml:"), "{error}"),
        }
    }
}
