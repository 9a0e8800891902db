//! Grooms by others that tests read where they are at hand. They are not ours to distribute.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

/// The variable that names the folder of real grooms.
pub(crate) const VARIABLE: &str = "HAIRLOOM_GROOMS";

/// How the names of the tests begin that read them.
pub(crate) const TESTS: &str = "real_groom";

/// The folder where real grooms were looked for, if there are none.
pub(crate) fn missing(root: &Path) -> Result<Option<PathBuf>> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    if let Some(folder) = &named {
        ensure!(folder.is_dir(), "{VARIABLE} is {}: there is no such folder", folder.display());
    }
    let folder = named.unwrap_or_else(|| root.join("../shared/grooms"));
    Ok((!folder.is_dir()).then_some(folder))
}
