//! Layers that bring in others: what counts, what is refused, and what hostile ones may cost.

mod mutation;

use std::path::Path;

use glam::Vec3;
use hairloom::groom::Groom;
use hairloom::simulate::Library;
use hairloom_io::Folder;
use hairloom_io::cache::Cache;
use hairloom_io::grooms::{self, Said};

fn write(folder: &Path, name: &str, body: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#usda 1.0\n{body}\n")).unwrap();
}

/// Metadata of a layer in metres.
const METRES: &str = "(\n    metersPerUnit = 1\n    defaultPrim = \"Hair\"\n)\n";

/// A strand from the origin up, under a prim of its own.
const HAIR: &str = "def Xform \"Hair\"\n{\n    def BasisCurves \"Strands\"\n    {\n        uniform token type = \"linear\"\n        \
    int[] curveVertexCounts = [2]\n        point3f[] points = [(0, 0, 0), (0, 1, 0)]\n        float[] widths = [0.5] (interpolation \
    = \"constant\")\n    }\n}\n";

fn read(folder: &Path, name: &str) -> Result<Groom, String> {
    grooms::read(folder.join(name), &Said::default())
        .map(|file| file.groom)
        .map_err(|error| error.to_string())
}

/// Where the strands begin.
fn roots(groom: &Groom) -> Vec<Vec3> {
    (0..groom.strands()).map(|strand| groom.curves.points[groom.curves.range(strand)][0]).collect()
}

/// What each way of naming another layer brings in: where strands begin, and the width of the first.
#[test]
fn layers_are_put_together_by_strength() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "assets/hair.usda", &format!("{METRES}{HAIR}"));
    write(at, "assets/wide.usda", "over \"Hair\" { over \"Strands\" { float[] widths = [2] } }");
    let moved = |x: f32, inner: &str| {
        format!(
            "    double3 xformOp:translate = ({x}, 0, 0)\n    uniform token[] xformOpOrder = [\"xformOp:translate\"]\n{inner}"
        )
    };
    let prim = |name: &str, arc: &str, x: f32, inner: &str| {
        format!("def Xform \"{name}\" ({arc})\n{{\n{}}}\n", moved(x, inner))
    };
    let over = "    over \"Strands\" { float[] widths = [3] }\n";
    let cases: [(&str, String, &[f32], f32); 11] = [
        ("reference", prim("A", "references = @assets/hair.usda@", 1.0, ""), &[1.0], 0.5),
        ("payload", prim("A", "payload = @./assets/hair.usda@</Hair>", 1.0, ""), &[1.0], 0.5),
        ("override", prim("A", "prepend references = @assets/hair.usda@", 1.0, over), &[1.0], 3.0),
        (
            "two",
            prim("A", "references = @assets/hair.usda@", 1.0, "")
                + &prim("B", "append references = @assets/hair.usda@", 2.0, ""),
            &[1.0, 2.0],
            0.5,
        ),
        (
            "strongest first",
            prim("A", "prepend references = [@assets/wide.usda@</Hair>, @assets/hair.usda@]", 1.0, ""),
            &[1.0],
            2.0,
        ),
        (
            "weakest last",
            prim(
                "A",
                "prepend references = @assets/hair.usda@\n append references = @assets/wide.usda@</Hair>",
                1.0,
                "",
            ),
            &[1.0],
            0.5,
        ),
        (
            "references before payloads",
            prim("A", "payload = @assets/hair.usda@\n references = @assets/wide.usda@</Hair>", 1.0, ""),
            &[1.0],
            2.0,
        ),
        (
            "of a part",
            prim("A", "references = @assets/hair.usda@</Hair/Strands>", 4.0, "")
                .replace("Xform", "BasisCurves"),
            &[4.0],
            0.5,
        ),
        ("internal", prim("A", "references = </Hair>", 1.0, "") + HAIR, &[1.0, 0.0], 0.5),
        (
            "a chain, moved twice",
            prim("A", "references = </B>", 1.0, "")
                + &format!(
                    "def \"B\" {{ def Xform \"C\" (references = @assets/hair.usda@) {{\n{}}} }}",
                    moved(2.0, "")
                ),
            &[3.0, 2.0],
            0.5,
        ),
        (
            "inactive and never defined",
            prim("A", "references = @assets/hair.usda@\n active = false", 1.0, "")
                + &prim("B", "references = @assets/wide.usda@</Hair>", 1.0, "").replace("def Xform", "over")
                + &prim("C", "references = @assets/hair.usda@", 5.0, ""),
            &[5.0],
            0.5,
        ),
    ];
    for (what, body, expected, width) in cases {
        write(at, "shot.usda", &format!("(\n    metersPerUnit = 1\n)\n{body}"));
        let groom = read(at, "shot.usda").unwrap_or_else(|error| panic!("{what}: {error}"));
        let expected: Vec<Vec3> = expected.iter().map(|&x| Vec3::X * x).collect();
        assert_eq!(roots(&groom), expected, "{what}");
        assert_eq!(groom.widths[0], width, "{what}");
    }
    // What a sublayer says counts less, and of lists that several layers edit all edits count.
    write(
        at,
        "base.usda",
        &format!(
            "def Xform \"Hair\" (references = @assets/hair.usda@) {{}}\n{}",
            prim("Z", "references = @assets/hair.usda@", 9.0, "")
        ),
    );
    let edits = "(\n    metersPerUnit = 1\n    subLayers = [@top.usda@, @base.usda@]\n)\nover \"Hair\" (prepend references = @assets/wide.usda@</Hair>) {}\nover \"Z\" (active = false) {}";
    write(
        at,
        "top.usda",
        "over \"Hair\" { double3 xformOp:translate = (7, 0, 0)\n uniform token[] xformOpOrder = [\"xformOp:translate\"] }",
    );
    write(at, "shot.usda", edits);
    let groom = read(at, "shot.usda").unwrap();
    assert_eq!((roots(&groom), groom.widths[0]), (vec![Vec3::X * 7.0], 2.0));
    write(
        at,
        "shot.usda",
        &edits.replace(
            "prepend references = @assets/wide.usda@</Hair>",
            "delete references = @assets/hair.usda@",
        ),
    );
    assert!(read(at, "shot.usda").unwrap_err().contains("no curves"));
    // Meshes and scenes read by the same rules.
    write(
        at,
        "assets/body.usda",
        "(defaultPrim = \"Body\")\ndef Mesh \"Body\" { int[] faceVertexCounts = [3]\n int[] faceVertexIndices = [0, 1, 2]\n point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)] }",
    );
    write(at, "shot.usda", "(metersPerUnit = 1)\ndef \"Body\" (payload = @assets/body.usda@) {}");
    assert_eq!(Folder::new(at).mesh("shot.usda").unwrap().points[1], Vec3::X);
}

#[test]
fn times_of_layers_are_placed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let moving = HAIR.replace(
        "points = [(0, 0, 0), (0, 1, 0)]",
        "points.timeSamples = { 0: [(0, 0, 0), (0, 1, 0)], 12: [(3, 0, 0), (3, 1, 0)] }",
    );
    write(at, "hair.usda", &format!("{METRES}{moving}"));
    let times = |body: &str| {
        write(at, "shot.usda", body);
        let cache = Cache::open(at.join("shot.usda")).unwrap();
        let last = cache.frame(cache.frames() - 1).unwrap();
        assert_eq!(last.groom.curves.points[0].x, 3.0);
        cache.times().iter().map(|time| time * 24.0).collect::<Vec<_>>()
    };
    let metres = "metersPerUnit = 1";
    assert_eq!(
        times(&format!("({metres})\ndef \"A\" (references = @hair.usda@ (offset = 10; scale = 2)) {{}}")),
        [10.0, 34.0]
    );
    assert_eq!(times(&format!("({metres}\nsubLayers = [@hair.usda@ (offset = 5)])")), [5.0, 17.0]);
    // Layers of other rates are brought to that of the first: 12 time codes are half a second.
    let fast = format!(
        "({metres}\ntimeCodesPerSecond = 48)\ndef \"A\" (references = @hair.usda@ (offset = 4)) {{}}"
    );
    assert_eq!(times(&fast).iter().map(|time| time * 2.0).collect::<Vec<_>>(), [4.0, 28.0]);
    write(at, "shot.usda", "def \"A\" (references = @hair.usda@ (scale = -1)) {}");
    assert!(read(at, "shot.usda").unwrap_err().contains("expected a scale from"));
    // Scales that are fine each, but not their product.
    write(at, "slow.usda", &format!("{METRES}def \"Hair\" (references = @hair.usda@ (scale = 10000)) {{}}"));
    write(at, "shot.usda", "def \"A\" (references = @slow.usda@ (scale = 10000)) {}");
    assert!(read(at, "shot.usda").unwrap_err().contains("expected a scale from"));
}

#[test]
fn the_chosen_variant_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let variants = "def Xform \"Hair\" (\n    variants = { string style = \"long\" }\n    prepend variantSets = \"style\"\n    references = @base.usda@</Hair>\n)\n{\n    variantSet \"style\" = {\n        \
        \"long\" { over \"Strands\" { point3f[] points = [(0, 0, 0), (0, 9, 0)] } }\n        \"far\" (references = @far.usda@</Far>) { }\n    }\n}\n";
    write(at, "hair.usda", &format!("{METRES}{variants}"));
    write(at, "far.usda", &HAIR.replace("\"Hair\"", "\"Far\"").replace("(0, 1, 0)", "(0, 50, 0)"));
    write(at, "base.usda", HAIR);
    let tip = |body: &str| {
        write(at, "shot.usda", body);
        let cache = Cache::open(at.join("shot.usda")).unwrap();
        (cache.frame(0).unwrap().groom.curves.points[1].y, cache.unfollowed())
    };
    let base = "metersPerUnit = 1\nsubLayers = [@hair.usda@]";
    assert_eq!(tip(&format!("({base})")), (9.0, None));
    let local = "metersPerUnit = 1\nsubLayers = [@hair.usda@, @base.usda@]";
    assert_eq!(tip(&format!("({local})")).0, 1.0, "what is local is stronger");
    let far = "(metersPerUnit = 1)\ndef \"A\" (references = @hair.usda@\n variants = { string style = \"far\" }) {}";
    assert_eq!(tip(far), (50.0, None));
    let none = tip(&format!("({base})\nover \"Hair\" (variants = {{ string style = \"\" }}) {{}}"));
    assert!(none.0 == 1.0 && none.1.is_some_and(|told| told.contains("no variant of \"style\"")));
    let missing = tip(&format!("({base})\nover \"Hair\" (variants = {{ string style = \"bald\" }}) {{}}"));
    assert!(missing.0 == 1.0 && missing.1.is_some_and(|told| told.contains("\"bald\"")));
}

/// What is refused, and what is said about it.
#[test]
fn what_cannot_be_brought_in_is_told() {
    let outer = tempfile::tempdir().unwrap();
    let at = &outer.path().join("asset");
    write(at, "hair.usda", &format!("{METRES}{HAIR}"));
    write(outer.path(), "secret.usda", &format!("{METRES}{HAIR}"));
    let secret = outer.path().join("secret.usda");
    let mut cases = vec![
        ("(references = @../secret.usda@)".to_owned(), "--allow-outside"),
        ("(payload = @sub/../../secret.usda@)".to_owned(), "--allow-outside"),
        (format!("(references = @{}@)", secret.display()), "--allow-outside"),
        // What is not even there says no more than what is.
        ("(references = @../nowhere.usda@)".to_owned(), "--allow-outside"),
        ("(references = @nowhere.usda@)".to_owned(), "/A: 'nowhere.usda'"),
        ("(references = @https://example.com/a.usda@)".to_owned(), "is no file"),
        ("(references = @.@)".to_owned(), "not a regular file"),
        ("(references = @hair.usda@</Nobody>)".to_owned(), "has no prim </Nobody>"),
        ("(references = @bare.usda@)".to_owned(), "no defaultPrim"),
        ("(references = </A>)".to_owned(), "brings in itself"),
        ("(references = </A/B>)".to_owned(), "brings in itself"),
        ("(references = @shot.usda@</A>)".to_owned(), "brings in itself"),
        ("(references = @circle.usda@</A>)".to_owned(), "brings in itself"),
        ("(references = @stack.usda@</A>)".to_owned(), "among its own sublayers"),
        ("(inherits = </Class>)".to_owned(), "inherits from </Class>"),
        ("(specializes = </Class>)".to_owned(), "specializes </Class>"),
    ];
    write(at, "bare.usda", HAIR);
    write(at, "circle.usda", "def \"A\" (references = @shot.usda@</A>) {}");
    write(at, "stack.usda", "(subLayers = [@stack2.usda@])");
    write(at, "stack2.usda", "(subLayers = [@stack.usda@])");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&secret, at.join("link.usda")).unwrap();
        cases.push(("(references = @link.usda@)".to_owned(), "--allow-outside"));
        std::os::unix::fs::symlink(outer.path(), at.join("folder")).unwrap();
        cases.push(("(references = @folder/secret.usda@)".to_owned(), "--allow-outside"));
    }
    for (arc, expected) in &cases {
        write(
            at,
            "shot.usda",
            &format!("(metersPerUnit = 1)\ndef \"A\" {arc} {{ def \"B\" {{}} }}\nclass \"Class\" {{}}"),
        );
        let told = read(at, "shot.usda").unwrap_err();
        assert!(told.contains(expected) && !told.contains("strands"), "{arc}: {told}");
        let allowed = Said { allow_outside: true, ..Said::default() };
        let outside = *expected == "--allow-outside" && !arc.contains("nowhere");
        assert_eq!(grooms::read(at.join("shot.usda"), &allowed).is_ok(), outside, "{arc}");
        let library = Folder::new(at).allowing_outside(true);
        assert_eq!(library.groom("shot.usda").is_ok(), outside, "{arc}");
    }
    // A class that is nowhere brings nothing in.
    write(
        at,
        "shot.usda",
        "(metersPerUnit = 1)\ndef \"A\" (inherits = </Nowhere>\n references = @hair.usda@) {}",
    );
    assert_eq!(read(at, "shot.usda").unwrap().strands(), 1);
    // A file named from another folder still may not reach out of its own.
    write(at, "shot.usda", "def \"A\" (references = @../secret.usda@) {}");
    let named = outer.path().join("asset/../asset/shot.usda");
    assert!(grooms::read(named, &Said::default()).unwrap_err().to_string().contains("--allow-outside"));
}

/// What a stronger layer takes out of a list need not be there, nor be a place that may be looked at.
#[test]
fn what_a_stronger_layer_deletes_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "hair.usda", &format!("{METRES}{HAIR}"));
    let gone =
        ["@nowhere.usda@", "@../secret.usda@</A> (offset = 3)", "@https://example.com/a.usda@", "@bad.usda@"];
    std::fs::write(at.join("bad.usda"), "no layer").unwrap();
    let weaker = format!("def \"A\" (prepend references = [{}, @hair.usda@]) {{}}", gone.join(", "));
    write(at, "weaker.usda", &weaker);
    let shot = |edits: &str| {
        write(
            at,
            "shot.usda",
            &format!("(metersPerUnit = 1\nsubLayers = [@weaker.usda@])\nover \"A\" ({edits}) {{}}"),
        );
        read(at, "shot.usda")
    };
    assert!(shot("").unwrap_err().contains("nowhere.usda"));
    assert_eq!(shot(&format!("delete references = [{}]", gone.join(", "))).unwrap().strands(), 1);
    assert_eq!(shot("references = [@./hair.usda@]").unwrap().strands(), 1);
    // Another time is another reference.
    let kept = gone.join(", ").replace("offset = 3", "offset = 4");
    assert!(shot(&format!("delete references = [{kept}]")).unwrap_err().contains("--allow-outside"));
}

/// A path through a link means what the system makes of it, and so does the folder that may be looked into.
#[cfg(unix)]
#[test]
fn a_file_named_through_a_link_is_confined_to_its_real_folder() {
    let outer = tempfile::tempdir().unwrap();
    let at = |name: &str| outer.path().join(name);
    for place in ["real/shot", "named"] {
        std::fs::create_dir_all(at(place)).unwrap();
    }
    std::os::unix::fs::symlink(at("real/shot"), at("named/link")).unwrap();
    write(&at("real"), "top.usda", "(metersPerUnit = 1)\ndef \"A\" (references = @hair.usda@) {}");
    write(&at("real"), "hair.usda", &format!("{METRES}{HAIR}"));
    // Beside the link, where `..` leads by the text, there is another file of that name.
    write(&at("named"), "hair.usda", "not this one");
    assert_eq!(read(&at("named"), "link/../top.usda").unwrap().strands(), 1);
    write(&at("real"), "top.usda", "(metersPerUnit = 1)\ndef \"A\" (references = @../named/hair.usda@) {}");
    assert!(read(&at("named"), "link/../top.usda").unwrap_err().contains("--allow-outside"));
}

/// Doubling references, chains and stacks: an error soon, without a flood of memory.
#[test]
fn references_that_multiply_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut wide = String::new();
    for level in 0..40 {
        let next = level + 1;
        wide += &format!(
            "def \"P{level}\" {{ def \"A\" (references = </P{next}>) {{}}\n def \"B\" (references = </P{next}>) {{}} }}\n"
        );
    }
    wide += "def \"P40\" {}\n";
    let chain: String =
        (0..200).map(|level| format!("def \"P{level}\" (references = </P{}>) {{}}\n", level + 1)).collect();
    let deep =
        "def \"A\" { def \"B\" (references = </C>) {} }\ndef \"C\" { def \"D\" (references = </A>) {} }";
    let many: String = (0..3000).map(|prim| format!("def \"Q{prim}\" {{}}\n")).collect();
    let list: Vec<String> = (0..3000).map(|prim| format!("</Q{prim}>")).collect();
    let many =
        format!("{many}def \"A\" (references = [{}]) {{ def \"B\" {{ def \"C\" {{}} }} }}", list.join(", "));
    for (body, expected) in [
        (wide, "unfold"),
        (chain + "def \"P200\" {}", "more than 64 times"),
        (deep.to_owned(), "brings in itself"),
        (many, "more than 1024 references"),
    ] {
        write(at, "shot.usda", &body);
        let start = mutation::busy();
        let told = mutation::in_proportion(body.len(), || read(at, "shot.usda")).unwrap_err();
        assert!(told.contains(expected), "{told}");
        assert!(mutation::busy() - start < std::time::Duration::from_secs(1), "{expected}");
    }
}

#[test]
fn mutated_compositions_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "hair.usda", &format!("{METRES}{HAIR}"));
    write(at, "base.usda", "over \"A\" { double3 xformOp:translate = (1, 0, 0) }");
    let good = "#usda 1.0\n(\n    metersPerUnit = 1\n    subLayers = [@base.usda@ (offset = 2; scale = 3)]\n)\ndef Xform \"A\" (\n    variants = { string look = \"red\" }\n    \
        prepend references = [@hair.usda@</Hair> (offset = 1), </Other>]\n    append payload = @hair.usda@\n    add variantSets = [\"look\"]\n)\n{\n    \
        uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    variantSet \"look\" = {\n        \"red\" (\n            payload = </Other>\n        ) {\n            over \"Strands\" { float[] widths = [1] }\n        }\n        \"blue\" { }\n    }\n}\ndef \"Other\"\n{\n    def \"Deep\" (references = @./hair.usda@</Hair/Strands>) {}\n}\n";
    let path = at.join("shot.usda");
    let read = |broken: &[u8]| {
        std::fs::write(&path, broken).unwrap();
        let groom = Folder::new(at).groom("shot.usda");
        groom.is_ok()
    };
    let words: [&[u8]; 12] = [
        b"[",
        b"]",
        b"{",
        b"(",
        b"\"",
        b"@",
        b"<",
        b"</A>",
        b"../",
        b"</Other>",
        b"@hair.usda@",
        b"references = ",
    ];
    let accepted = mutation::survive(good.as_bytes(), 3000, 11, &words, read);
    assert!((100..2900).contains(&accepted), "{accepted} of 3000 accepted");
}
