//! Real grooms by others, which are not part of the project.

use std::path::{Path, PathBuf};

/// The path of a real groom or mesh: in the folder that `HAIRLOOM_GROOMS` names, or else in `shared/grooms`
/// beside the project. Without that folder, `None` and a line that says so.
pub(crate) fn real_groom(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/grooms");
    let folder = std::env::var_os("HAIRLOOM_GROOMS").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: no real grooms at {}", folder.display());
        return None;
    }
    Some(folder.join(name))
}
