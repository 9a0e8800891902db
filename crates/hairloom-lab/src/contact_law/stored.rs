use std::fs;
use std::path::{Path, PathBuf};

use hairloom::contact::nsgs::Problem;
use hairloom_io::contact_problem::{Form, read};

use crate::LabError;

/// The problems in a folder, as `sim --contact-problems` leaves them, by name.
pub(crate) fn stored(folder: &Path) -> Result<Vec<(String, Problem)>, LabError> {
    let bad = |problem: String| LabError::Bench { problem };
    let entries = fs::read_dir(folder).map_err(|error| bad(format!("{}: {error}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut problems = vec![];
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let problem = match read(&path).map_err(|error| bad(error.to_string()))?.form {
            Form::Reduced(problem) => problem,
            Form::Full(full) => full.assembly()?.reduced(),
        };
        problems.push((name, problem.checked()?.0));
    }
    Ok(problems)
}
