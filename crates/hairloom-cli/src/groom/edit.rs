use std::path::PathBuf;

use clap::Args;
use hairloom::groom::Edit;
use hairloom::scene::{Scene, edit_from_table};
use hairloom_io::Space;
use hairloom_io::cache::Cache;
use hairloom_io::grooms::{FileGroom, Said};
use toml::{Table, Value};

use super::{Source, set_up, summary, write_file};
use crate::failure::Failure;
use crate::output::print;
use crate::settings::setting;

/// Edit a groom: cut it, curl it, clump it, mirror it.
///
/// Each --do is one edit, written as its name and `key=value` settings; they are made in the order in which they stand.
/// The same edits, with the same names and keys, can stand in a scene as [[groom.edit]] tables: then the groom's file
/// stays as it is. All that belongs to strands and vertices (widths, identifiers, guides, attributes) goes along, and
/// where hair is cut its values are interpolated.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Arguments {
    /// The groom to read; of an animated file the first frame.
    from: PathBuf,
    #[command(flatten)]
    source: Source,
    /// The groom to write; its name says the format.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// An edit, in quotes: its name, then its settings. Repeat it for more; --help lists them all.
    #[arg(long = "do", value_name = "EDIT", required = true, value_parser = edit)]
    edits: Vec<Edit>,
    /// The mesh that the hair grows on, for edits that need it; strands given from tip to root are turned by it.
    #[arg(long, value_name = "MESH")]
    body: Option<PathBuf>,
    /// Metres per unit of the mesh.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, requires = "body", value_parser = crate::settings::factor)]
    body_scale: f32,
    /// Leave strands that are given from tip to root as they are.
    #[arg(long)]
    no_turn: bool,
}

const HELP: &str = "\
Edits; lengths are in metres, and a value in parentheses is the usual one:
  length          factor: longer or shorter, each strand about its root; curls grow along
  curl            factor: 0 straightens, 2 curls twice as wide; keep_length (true): strands keep their lengths, or their
                  tips stay in place
  trim            length: no strand longer than that; or fraction: what is left of each; or point=[x,y,z]
                  normal=[x,y,z]: cut at a plane, hair on the side of the normal goes
  resample        vertices: on each strand
  smooth          reach: arc length to average over; strength (1): 0 to 1
  clump           count: locks; strength (0.6): how close tips come; shape (1.5): higher closes nearer the tip; seed (0)
  remove-inside   depth (0.001): strands whose roots are deeper inside the body go; needs --body
  seat            reach (0.02): moves strands until their roots are on the body, if no farther from it; needs --body
  guides          count; pick (farthest, or random); only (false): drop all others instead of marking; seed (0)
  mirror          axis: x, y or z; at (0): where the plane is; copy (false): keep the hair and add its mirror image

Examples:
  hairloom groom edit hair.usdc -o bob.usdc --do \"trim length=0.15\"
  hairloom groom edit hair.usdc -o short.usdc --do \"trim point=[0,1.4,0] normal=[0,-1,0]\" --do \"clump count=80\"
  hairloom groom edit curly.hair -o wavy.hair --do \"curl factor=0.4\" --do \"resample vertices=32\"
  hairloom groom edit import.abc -o clean.usdc --body head.obj --do remove-inside --do \"seat reach=0.01\"
  hairloom groom edit half.usdc -o whole.usdc --do \"mirror axis=x copy=true\"";

const SCENE: &str = "[groom]\n[output]\nvelocities = false\nbodies = false\n";
/// The body only tells where the skin is: as a collider it would cost time.
const SCENE_WITH_BODY: &str =
    "[groom]\n[[body]]\nname = 'body'\ncollide = false\n[output]\nvelocities = false\nbodies = false\n";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = |path: &PathBuf| Value::String(path.to_string_lossy().into_owned());
    let mut settings = vec![
        ("groom.file".to_owned(), text(&arguments.from)),
        ("groom.turn".to_owned(), Value::Boolean(!arguments.no_turn)),
    ];
    let body = arguments.body.as_ref();
    settings.extend(body.map(|mesh| ("body.0.mesh".to_owned(), text(mesh))));
    settings.extend(body.map(|_| ("body.0.scale".to_owned(), Value::Float(arguments.body_scale.into()))));
    let base = if body.is_some() { SCENE_WITH_BODY } else { SCENE };
    let mut scene = Scene::from_toml_with(base, "groom edit", &settings).map_err(Failure::bad_input)?;
    scene.groom.edits.clone_from(&arguments.edits);
    scene.groom.of_file = arguments.source.settings();
    let simulation = set_up(scene, arguments.source.allow_outside)?;
    let (_, space) =
        Cache::open_in_own_space(&arguments.from, &arguments.source.said()).map_err(Failure::bad_input)?;
    let edited = FileGroom { groom: simulation.groom().clone(), space: Space::SCENE }.in_space(space);
    write_file(&arguments.out, &edited, &Said::default())?;
    print(&summary(&arguments.out, &simulation))
}

/// Reads an edit: its name, and `key=value` settings after it.
fn edit(text: &str) -> Result<Edit, String> {
    let mut words = words(text).into_iter();
    let name = words.next().ok_or("expected the name of an edit, as in \"trim length=0.2\"")?;
    let mut table = Table::new();
    table.insert("do".to_owned(), Value::String(name.clone()));
    for word in words {
        let (key, value) = setting(&word)?;
        if key == "do" || table.insert(key.clone(), value).is_some() {
            return Err(format!("'{key}' stands twice; give it once"));
        }
    }
    edit_from_table(&table, &name).map_err(|error| error.problem.to_string())
}

/// Cuts a text at blanks, but for those within brackets and quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut depth, mut quote) = (0_usize, None);
    for letter in text.chars() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (letter.is_whitespace() && depth == 0 && quote.is_none(), words.last_mut()) {
            (false, Some(word)) => word.push(letter),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use hairloom::groom::{Cut, Pick};
    use hairloom::scene::KEYS_OF_EDITS;

    use super::*;

    #[test]
    fn edits_are_read_with_their_settings() {
        assert_eq!(edit("trim length=0.2"), Ok(Edit::Trim(Cut::Length { length: 0.2 })));
        let plane = edit(" trim  point=[0, 1.5, 0]\tnormal=[0, -1, 0] ").unwrap();
        let Edit::Trim(Cut::Plane { point, normal }) = plane else { panic!("{plane:?}") };
        assert_eq!((point.y, normal.y), (1.5, -1.0));
        assert_eq!(edit("remove-inside"), Ok(Edit::RemoveInside { depth: 0.001 }));
        let guides = Edit::Guides { count: 9, pick: Pick::Random, only: true, seed: 0 };
        assert_eq!(edit("guides count=9 pick=random only=true"), Ok(guides));
    }

    #[test]
    fn wrong_edits_are_told_what_is_wrong() {
        let cases = [
            ("", "expected the name of an edit"),
            ("trimm length=1", "Did you mean 'trim'?"),
            ("trim lenght=1", "unknown key 'lenght' in [trim]"),
            ("trim lenght=1", "Did you mean 'length'?"),
            ("trim length=-1", "trim.length: expected a number from"),
            ("trim length=1 length=2", "'length' stands twice"),
            ("trim length", "expected key=value"),
            ("curl", "[curl] needs factor"),
            ("trim length=1 fraction=0.5", "cannot stand beside"),
            ("trim normal=[0,1,0]", "needs point"),
            ("trim normal=[0,0,0] point=[0,0,0]", "not zero"),
            ("trim point=[0,0,0] length=1", "belongs to a plane"),
            ("mirror axis=w", "unknown axis 'w'; expected one of x, y, z"),
            ("resample vertices=1", "from 2 to 10000"),
        ];
        for (text, expected) in cases {
            let told = edit(text).unwrap_err();
            assert!(told.contains(expected), "{text}: {told}");
        }
    }

    #[test]
    fn the_help_names_every_edit_and_its_keys() {
        for (name, keys) in Edit::NAMES.iter().zip(KEYS_OF_EDITS) {
            let start = HELP.find(&format!("\n  {name} ")).unwrap_or_else(|| panic!("no {name}"));
            let line = &HELP[start + 3..];
            let end = line.match_indices("\n  ").find(|(at, _)| !line[at + 3..].starts_with(' '));
            let line = &line[..end.map_or(line.len(), |(at, _)| at)];
            for key in keys {
                let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
                assert!(words.contains(key), "the help of {name} does not tell of {key}: {line}");
            }
        }
    }
}
