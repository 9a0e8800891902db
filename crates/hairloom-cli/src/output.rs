//! What goes to standard output and standard error. Unlike `println!`, nothing here panics on a closed pipe.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::failure::Failure;

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::run(format!("standard output: {error}")),
    })
}

/// Tells the user something on standard error.
pub(crate) fn tell(text: &str) {
    // Where standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes `value` as JSON to a file, or to standard output for `-`.
pub(crate) fn write_json(to: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(Failure::run)?;
    text.push('\n');
    if to == Path::new("-") {
        return print(&text);
    }
    make_parent(to)?;
    fs::write(to, text).map_err(|error| Failure::run(format!("{}: {error}", to.display())))
}

/// Makes the folder that a file will lie in.
pub(crate) fn make_parent(file: &Path) -> Result<(), Failure> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => make_folder(folder),
        _ => Ok(()),
    }
}

/// Makes a folder and those around it.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::bad_input(format!("{}: {error}", folder.display())))
}
