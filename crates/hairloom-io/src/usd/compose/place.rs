//! Where layers are: which file a path inside of a layer means, and whether it may be opened.

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
    /// The folder of the first file, as it is named and as it is.
    folder: PathBuf,
    real_folder: PathBuf,
    /// Whether files outside the folder may be opened too.
    outside: bool,
}

impl Reach {
    /// The reach of the file that is opened first, and where that is.
    pub(super) fn of(path: &Path, outside: bool) -> std::io::Result<(Self, Place)> {
        let file = normalized(&std::path::absolute(path)?);
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        let real_folder = std::fs::canonicalize(&folder)?;
        Ok((Self { folder, real_folder, outside }, Place { file, inside: None }))
    }

    /// The place that a path in a layer at `from` means; says what is wrong if it may not be opened.
    pub(super) fn resolve(&self, from: &Place, asset: &str) -> Result<Place, String> {
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
        let file = normalized(&anchor.join(outer));
        let allowed = |file: &Path, folder: &Path| self.outside || file.starts_with(folder);
        // Nothing is asked of the system about files that may not be opened.
        if !allowed(&file, &self.folder) {
            return Err(self.refused(asset));
        }
        let real = std::fs::canonicalize(&file).map_err(|error| format!("'{asset}': {error}"))?;
        if !allowed(&real, &self.real_folder) {
            return Err(self.refused(asset));
        }
        if !real.is_file() {
            return Err(format!("'{asset}' is not a regular file"));
        }
        Ok(Place { file, inside: inner.map(str::to_owned) })
    }

    fn refused(&self, asset: &str) -> String {
        format!(
            "'{asset}' is outside of the folder '{}'; allow that with --allow-outside, if you trust the file",
            self.folder.display()
        )
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
