//! Running the built command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The built command, with the folder of the project as its own.
pub(crate) fn hairloom() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hairloom"));
    command.current_dir(project()).stdin(Stdio::null());
    command
}

/// The folder of the project.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the command with arguments separated by blanks.
pub(crate) fn run(arguments: &str) -> Output {
    hairloom().args(arguments.split_whitespace()).output().expect("the command starts")
}

/// Standard error as text.
pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that a command did its work.
#[track_caller]
pub(crate) fn assert_done(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", errors(output));
}

/// Width and height of a PNG file, and whether it is animated.
pub(crate) fn png(path: &Path) -> (u32, u32, bool) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n", "{}", path.display());
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let animated = bytes.windows(4).any(|name| name == b"acTL");
    (number(16), number(20), animated)
}
