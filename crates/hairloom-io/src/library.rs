//! The files that a scene names.

use std::path::{Path, PathBuf};

use hairloom::body::TriMesh;
use hairloom::groom::Groom;
use hairloom::scene::GroomFileSettings;
use hairloom::simulate::{AnimatedMesh, Library};

use crate::cache::CacheError;
use crate::file::{FileProblem, read_bytes};
use crate::geometry::Geometry;
use crate::grooms::{GroomFormat, Said};
use crate::notes::Notes;
use crate::stage::StageMesh;
use crate::{grooms, obj, ply, tfxmesh};

/// The folder that the files of a scene are looked for in: that of the scene's own file.
///
/// Grooms come from every format of [`crate::grooms`], meshes from USD (`.usd`, `.usda`, `.usdc`, `.usdz`), Alembic (`.abc`), `.obj`, `.ply` and `.tfxmesh`, moving meshes from USD and Alembic. All curves of a USD or Alembic file together are the groom, and all its
/// meshes are one mesh, placed as the file places them; of things that move, the first sample counts unless a moving mesh is asked for.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    allow_outside: bool,
    notes: Notes,
}

impl Folder {
    /// Looks for files in `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), allow_outside: false, notes: Notes::default() }
    }

    /// Whether files that a scene names may bring in others from outside their folders; otherwise they may not.
    pub fn allowing_outside(self, allow_outside: bool) -> Self {
        Self { allow_outside, ..self }
    }

    /// Looks for files beside a scene's file.
    pub fn of_scene(scene: &Path) -> Self {
        let folder = scene.parent().filter(|folder| *folder != Path::new(""));
        Self::new(folder.unwrap_or(Path::new(".")))
    }

    /// Where a file that a scene names is.
    pub fn locate(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// The path of a file that is there, and its extension.
    fn find(&self, file: &str) -> Result<(PathBuf, String), String> {
        let path = self.locate(file);
        if !path.is_file() {
            let problem = if path.exists() { "is not a regular file" } else { "is not there" };
            let folder = match self.path.to_str() {
                Some("" | ".") => "the current folder".to_owned(),
                _ => format!("the folder '{}'", self.path.display()),
            };
            return Err(format!("'{file}' {problem}; looked in {folder}"));
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        Ok((path, extension))
    }

    fn stage_with_meshes(&self, path: &Path) -> Result<Geometry, String> {
        let stage = Geometry::open(path, self.allow_outside).map_err(|error| error.to_string())?;
        if !stage.has_meshes() {
            let missing = || format!("{}: there are no meshes (Mesh, PolyMesh) in it", path.display());
            return Err(match stage.unfollowed() {
                Some(unfollowed) => CacheError::Composed { path: path.to_owned(), unfollowed }.to_string(),
                None => missing(),
            });
        }
        Ok(stage)
    }

    fn unknown(file: &str, what: &str, extensions: &str) -> String {
        format!("'{file}': {what} are read from files that end with {extensions}")
    }
}

impl Library for Folder {
    fn groom_as(&self, file: &str, settings: &GroomFileSettings) -> Result<Groom, String> {
        let (path, _) = self.find(file)?;
        match GroomFormat::of_file(&path) {
            Some(_) => {
                let said = Said { allow_outside: self.allow_outside, ..Said::from(settings) };
                let read = grooms::read_with_notes(&path, &said).map_err(|error| error.to_string())?;
                if let Some(note) = read.1 {
                    self.notes.tell(|| format!("{}: {note}", path.display()));
                }
                Ok(read.0.into_metres())
            }
            None => Err(Self::unknown(file, "grooms", GroomFormat::READ)),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.take()
    }

    fn mesh(&self, file: &str) -> Result<TriMesh, String> {
        let (path, extension) = self.find(file)?;
        match extension.as_str() {
            "usd" | "usda" | "usdc" | "usdz" | "abc" => {
                let stage = self.stage_with_meshes(&path)?;
                let meshes = stage.meshes(f64::NEG_INFINITY).map_err(|error| error.to_string())?;
                joined(meshes).ok_or_else(|| format!("{}: more points than a mesh can hold", path.display()))
            }
            "obj" => {
                let read =
                    obj::read(&path, &obj::ReadOptions::default()).map_err(|error| error.to_string())?;
                Ok(read.mesh)
            }
            "ply" | "tfxmesh" => {
                let parse = if extension == "ply" { ply::parse_mesh } else { tfxmesh::parse };
                let bytes = read_bytes(&path).map_err(FileProblem::Io);
                let mesh = bytes.and_then(|bytes| parse(&bytes));
                mesh.map_err(|problem| problem.at(&path).to_string())
            }
            _ => {
                let endings = ".obj, .ply, .tfxmesh, .usd, .usda, .usdc, .usdz or .abc";
                Err(Self::unknown(file, "meshes", endings))
            }
        }
    }

    fn animated_mesh(&self, file: &str) -> Result<AnimatedMesh, String> {
        let (path, extension) = self.find(file)?;
        if !matches!(extension.as_str(), "usd" | "usda" | "usdc" | "usdz" | "abc") {
            return Err(Self::unknown(file, "moving meshes", ".usd, .usda, .usdc, .usdz or .abc"));
        }
        let mesh = self.mesh(file)?;
        let stage = self.stage_with_meshes(&path)?;
        let codes = stage.mesh_times().map_err(|error| error.to_string())?;
        let mut points = Vec::with_capacity(codes.len());
        for &code in &codes {
            let moved = stage.mesh_points(code).map_err(|error| error.to_string())?;
            if moved.len() != mesh.points.len() {
                return Err(format!(
                    "{}: {} points at time code {code} and {} at the first; expected the same number throughout",
                    path.display(),
                    moved.len(),
                    mesh.points.len()
                ));
            }
            points.push(moved);
        }
        let times = codes.iter().map(|&code| stage.seconds(code)).collect();
        Ok(AnimatedMesh { mesh, times, points })
    }
}

/// All meshes as one; nothing if it has more points than indices can name.
fn joined(meshes: Vec<StageMesh>) -> Option<TriMesh> {
    let mut whole = TriMesh::default();
    for StageMesh { mesh, .. } in meshes {
        let first = u32::try_from(whole.points.len()).ok()?;
        u32::try_from(whole.points.len() + mesh.points.len()).ok()?;
        whole.points.extend(mesh.points);
        whole.triangles.extend(mesh.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    }
    Some(whole)
}
