//! Real grooms by others, which are not part of the project. Names of tests that need them begin with `real_groom`:
//! `cargo xtask test` leaves these out where there are none.

use std::path::{Path, PathBuf};

/// The path of a real groom or mesh: in the folder that `HAIRLOOM_GROOMS` names, or else in `shared/grooms`
/// beside the project.
pub(crate) fn real_groom(name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/grooms");
    let path = std::env::var_os("HAIRLOOM_GROOMS").map_or_else(beside, PathBuf::from).join(name);
    assert!(
        path.is_file(),
        "{} is not there; HAIRLOOM_GROOMS names the folder of real grooms",
        path.display()
    );
    path
}
