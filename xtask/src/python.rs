//! The Python environment in which tests compare Hairloom's files with what other software makes of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::stages::run;

/// The variable that tells tests which interpreter to use. If it is set already, that one is taken as it is.
pub(crate) const VARIABLE: &str = "HAIRLOOM_PYTHON";

/// How the names of the tests begin that need Blender.
pub(crate) const BLENDER_TESTS: &str = "blender_";

const HOW_TO_INSTALL: &str = "\
The tests compare files with those of other software and need Python 3 with venv and pip:
  Debian, Ubuntu   sudo apt-get install python3 python3-venv
  Fedora           sudo dnf install python3 python3-pip
  Arch             sudo pacman -S python
  macOS            brew install python
  Windows          winget install Python.Python.3.11
Or set HAIRLOOM_PYTHON to an interpreter that has the packages of tests/python/requirements.txt.";

/// The interpreter of an environment under `target/python` with all that the tests need, made if it is not
/// there or not up to date.
pub(crate) fn prepare(root: &Path) -> Result<PathBuf> {
    if let Some(interpreter) = std::env::var_os(VARIABLE) {
        let interpreter = PathBuf::from(interpreter);
        ensure!(
            works(&interpreter, &["--version"]),
            "{VARIABLE} is {}: it does not start",
            interpreter.display()
        );
        return Ok(interpreter);
    }
    let requirements = root.join("tests/python/requirements.txt");
    let wanted = fs::read_to_string(&requirements).with_context(|| requirements.display().to_string())?;
    let environment = root.join("target/python");
    let interpreter = interpreter_of(&environment);
    let stamp = environment.join("installed-requirements.txt");
    if is_current(&stamp, &wanted) && works(&interpreter, &["--version"]) {
        return Ok(interpreter);
    }
    println!("making a Python environment at {}", environment.display());
    make_environment(&environment)?;
    let mut install = Command::new(&interpreter);
    install.args(["-m", "pip", "install", "--disable-pip-version-check", "--requirement"]).arg(&requirements);
    ensure!(
        run(&mut install)?,
        "pip could not install the packages of {} (it needs a network, or a folder of wheels in PIP_FIND_LINKS)",
        requirements.display()
    );
    // Written last: an installation that was cut off is made again.
    fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())?;
    Ok(interpreter)
}

fn interpreter_of(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python3" })
}

fn is_current(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|installed| installed == wanted)
}

/// Makes an environment with pip in it, with the help of the system's packages if that is ours to do.
fn make_environment(environment: &Path) -> Result<()> {
    if try_environment(environment) {
        return Ok(());
    }
    if is_root_on_debian() {
        println!("python3 with venv is missing: installing the system's packages python3 and python3-venv");
        // Without fresh lists of packages a new machine finds none; where that fails, the next line may still work.
        apt(&["update"])?;
        if apt(&["install", "-y", "python3", "python3-venv"])? && try_environment(environment) {
            return Ok(());
        }
    }
    bail!("could not make a Python environment.\n{HOW_TO_INSTALL}");
}

fn try_environment(environment: &Path) -> bool {
    let usual = if cfg!(windows) { "python" } else { "python3" };
    // Blender is there for 3.11 alone; with another version its tests are left out.
    ["python3.11", usual].into_iter().any(|python| {
        let mut make = Command::new(python);
        // What an earlier, failed attempt left must not stay.
        make.args(["-m", "venv", "--clear"]).arg(environment);
        works(Path::new(python), &["--version"])
            && run(&mut make).unwrap_or(false)
            && works(&interpreter_of(environment), &["-m", "pip", "--version"])
    })
}

/// Whether the interpreter has a package.
pub(crate) fn has(interpreter: &Path, package: &str) -> bool {
    let find = format!("import importlib.util, sys; sys.exit(importlib.util.find_spec('{package}') is None)");
    works(interpreter, &["-c", &find])
}

fn apt(arguments: &[&str]) -> Result<bool> {
    run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_root_on_debian() -> bool {
    let user = Command::new("id").arg("-u").output();
    Path::new("/etc/debian_version").exists()
        && works(Path::new("apt-get"), &["--version"])
        && user.is_ok_and(|user| user.stdout.trim_ascii() == b"0")
}

/// Whether a program starts and succeeds; it stays silent.
fn works(program: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
