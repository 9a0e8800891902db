//! Caches of one `.hair` file a frame.

use std::fs;
use std::path::{Path, PathBuf};

use hairloom::groom::{Curves, Groom};
use hairloom::simulate::Simulation;

use super::CacheError;
use crate::hair;

/// The files of a cache: `NAME.0000.hair` and so on.
#[derive(Debug)]
pub(super) struct FrameFiles {
    path: PathBuf,
}

/// `NAME.0012.hair` for `NAME.hair`.
pub(super) fn frame_path(path: &Path, frame: u32) -> PathBuf {
    path.with_extension(format!("{frame:04}.hair"))
}

/// The frames that have files, in order.
pub(super) fn frames_of(path: &Path) -> Result<Vec<u32>, CacheError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let io = |error| CacheError::io(folder, error);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let mut frames = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix(stem)?.strip_prefix('.')?.strip_suffix(".hair"));
        let frame = number.filter(|number| number.len() >= 4).and_then(|number| number.parse::<u32>().ok());
        // Only names that we would give: a sign or more zeros would parse, too.
        frames.extend(frame.filter(|&frame| frame_path(path, frame).file_name() == Some(&name)));
    }
    frames.sort_unstable();
    Ok(frames)
}

impl FrameFiles {
    pub(super) fn create(path: &Path) -> Result<Self, CacheError> {
        let files = Self { path: path.to_owned() };
        files.drop_frames(0)?;
        Ok(files)
    }

    pub(super) fn resume(path: &Path, last_frame: u32) -> Result<Self, CacheError> {
        let present = frames_of(path)?.into_iter().take_while(|&frame| frame <= last_frame).count();
        if present != last_frame as usize + 1 {
            let problem = format!("some of the files of frames 0 to {last_frame} are missing");
            return Err(CacheError::Resume { path: path.to_owned(), problem });
        }
        let files = Self { path: path.to_owned() };
        files.drop_frames(last_frame + 1)?;
        Ok(files)
    }

    /// Removes the files from a frame on: those of an older run would look like ours.
    fn drop_frames(&self, first: u32) -> Result<(), CacheError> {
        for frame in frames_of(&self.path)?.into_iter().filter(|&frame| frame >= first) {
            let path = frame_path(&self.path, frame);
            fs::remove_file(&path).map_err(|error| CacheError::io(&path, error))?;
        }
        Ok(())
    }

    pub(super) fn write_frame(&self, simulation: &Simulation) -> Result<(), CacheError> {
        let start = simulation.groom();
        let curves =
            Curves { offsets: start.curves.offsets.clone(), points: simulation.strands().points.clone() };
        let groom = Groom {
            curves,
            roots: start.roots.clone(),
            widths: start.widths.clone(),
            attributes: start.attributes.clone(),
            ..Groom::default()
        };
        let frame = simulation.frame();
        let path = frame_path(&self.path, frame);
        let options = hair::WriteOptions {
            info: format!("Hairloom: {}, frame {frame}", simulation.scene().name),
            ..hair::WriteOptions::default()
        };
        // Renamed when complete: a file that is there is whole.
        let temporary = path.with_extension("hair.tmp");
        hair::write(&temporary, &groom, &options)?;
        fs::rename(&temporary, &path).map_err(|error| CacheError::io(&path, error))
    }
}
