//! Where layers are: which file a path inside of a layer means, and whether it may be opened.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

/// A layer's file, or a file inside of a package.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// Absolute, without `.` and `..`.
    pub(super) file: PathBuf,
    /// The name inside of the package `file`.
    pub(super) inside: Option<String>,
}

/// The files that may be opened.
#[derive(Debug)]
pub(super) struct Reach {
    /// The first file: it may be a link to anywhere, as whoever named it knows.
    first: PathBuf,
    /// The folder of the first file, as it is: without links.
    folder: PathBuf,
    /// Whether files outside the folder may be opened too.
    outside: bool,
}

impl Reach {
    /// The reach of the file that is opened first, and where that is.
    pub(super) fn of(path: &Path, outside: bool) -> std::io::Result<(Self, Place)> {
        // The system, not the text, knows what `..` after a link means.
        let path = std::path::absolute(path)?;
        let folder = std::fs::canonicalize(path.parent().unwrap_or(Path::new("/")))?;
        let file = folder.join(path.file_name().unwrap_or_default());
        Ok((Self { first: file.clone(), folder, outside }, Place { file, inside: None }))
    }

    /// The place that a path in a layer at `from` means, by its text alone; says what is wrong if that is no place of a layer.
    pub(super) fn locate(&self, from: &Place, asset: &str) -> Result<Place, String> {
        let (asset, _) = asset.split_once(":SDF_FORMAT_ARGS:").unwrap_or((asset, ""));
        if asset.contains("://") || asset.starts_with("anon:") {
            return Err(format!("'{asset}' is no file; only files are followed"));
        }
        let (outer, inner) = match asset.strip_suffix(']').and_then(|asset| asset.split_once('[')) {
            Some((outer, inner)) => (outer, Some(inner)),
            None => (asset, None),
        };
        if let Some(name) = &from.inside {
            let nested = inner.is_some() || outer.to_ascii_lowercase().ends_with(".usdz");
            if nested {
                return Err(format!("'{asset}' is a package in a package, which is not followed"));
            }
            return within_package(from, name, outer);
        }
        let anchor = from.file.parent().unwrap_or(&self.folder);
        Ok(Place { file: normalized(&anchor.join(outer)), inside: inner.map(str::to_owned) })
    }

    /// Opens the file at a place; says what is wrong if it may not or cannot be opened.
    pub(super) fn open(&self, place: &Place, asset: &str) -> Result<File, String> {
        let open = self.outside || place.file == self.first;
        let allowed = |file: &Path| open || file.starts_with(&self.folder);
        // Nothing is asked of the system about files that may not be opened.
        if !allowed(&place.file) {
            return Err(self.refused(asset));
        }
        let problem = |error: std::io::Error| format!("'{asset}': {error}");
        let real = std::fs::canonicalize(&place.file).map_err(problem)?;
        if !allowed(&real) {
            return Err(self.refused(asset));
        }
        // Asked first, since opening a pipe would wait for someone to write to it.
        if !real.is_file() {
            return Err(format!("'{asset}' is not a regular file"));
        }
        let file = File::open(&real).map_err(problem)?;
        match opened_path(&file).is_none_or(|opened| allowed(&opened)) {
            true => Ok(file),
            false => Err(self.refused(asset)),
        }
    }

    fn refused(&self, asset: &str) -> String {
        format!(
            "'{asset}' is outside of the folder '{}'; allow that with --allow-outside, if you trust the file",
            self.folder.display()
        )
    }
}

/// Where a file is that is open, whatever its path has come to mean since; nothing where the system does not tell.
fn opened_path(file: &File) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

/// A file of the same package; its name starts from the folder of the one that names it.
fn within_package(from: &Place, name: &str, asset: &str) -> Result<Place, String> {
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    for part in asset.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(format!("'{asset}' is outside of the package"));
                }
            }
            part => parts.push(part),
        }
    }
    if asset.starts_with('/') {
        return Err(format!("'{asset}' is outside of the package"));
    }
    Ok(Place { file: from.file.clone(), inside: Some(parts.join("/")) })
}

/// The path without `.` and `..`, by its text alone.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}
