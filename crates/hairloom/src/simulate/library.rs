use glam::Vec3;

use crate::body::TriMesh;
use crate::groom::Groom;
use crate::scene::GroomFileSettings;

/// A mesh whose points are given at certain times.
#[derive(Debug, Clone, PartialEq)]
pub struct AnimatedMesh {
    /// The mesh at the first time.
    pub mesh: TriMesh,
    /// The times, increasing [s].
    pub times: Vec<f64>,
    /// The points at each time [m].
    pub points: Vec<Vec<Vec3>>,
}

impl AnimatedMesh {
    /// The points at a time [s]: linear between given times, and the first or last beyond them.
    pub fn at(&self, time: f64) -> Vec<Vec3> {
        let after = self.times.partition_point(|&t| t <= time);
        if after == 0 || after == self.times.len() {
            let nearest = if after == 0 { self.points.first() } else { self.points.last() };
            return nearest.unwrap_or(&self.mesh.points).clone();
        }
        let (a, b) = (self.times[after - 1], self.times[after]);
        let share = ((time - a) / (b - a)) as f32;
        self.points[after - 1].iter().zip(&self.points[after]).map(|(p, q)| p.lerp(*q, share)).collect()
    }
}

/// Where the files that a scene names come from. Errors are texts for people that name the file.
pub trait Library {
    /// The groom in a file, in metres and y up, read as the settings say.
    fn groom_as(&self, file: &str, settings: &GroomFileSettings) -> Result<Groom, String>;
    /// The groom in a file about which nothing is said.
    fn groom(&self, file: &str) -> Result<Groom, String> {
        self.groom_as(file, &GroomFileSettings::default())
    }
    /// What of the files read so far is left out or changed, in words; each is told once.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// The mesh in a file.
    fn mesh(&self, file: &str) -> Result<TriMesh, String>;
    /// The moving mesh in a file.
    fn animated_mesh(&self, file: &str) -> Result<AnimatedMesh, String>;
}

/// A library without files, for scenes that name none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Library for NoFiles {
    fn groom_as(&self, file: &str, _: &GroomFileSettings) -> Result<Groom, String> {
        Err(format!("'{file}' cannot be read here: no files are at hand"))
    }

    fn mesh(&self, file: &str) -> Result<TriMesh, String> {
        self.groom(file).map(|_| TriMesh::default())
    }

    fn animated_mesh(&self, file: &str) -> Result<AnimatedMesh, String> {
        self.mesh(file).map(|mesh| AnimatedMesh { mesh, times: Vec::new(), points: Vec::new() })
    }
}
