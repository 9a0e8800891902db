//! The Python that the tests compare files with.

use std::path::PathBuf;
use std::process::Command;

/// An interpreter with `usd-core`; fails without one, for a test that looks at nothing must not pass.
pub(crate) fn python() -> PathBuf {
    let named = std::env::var_os("HAIRLOOM_PYTHON").map(PathBuf::from);
    let python =
        named.expect("HAIRLOOM_PYTHON names no Python with usd-core: start this with `cargo xtask test`");
    let found = Command::new(&python).args(["-c", "import pxr.Usd"]).status();
    assert!(found.is_ok_and(|status| status.success()), "{} cannot import pxr (usd-core)", python.display());
    python
}
