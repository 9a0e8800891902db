//! The mesh that the hair of a file grows on.

use glam::Vec3;
use hairloom::body::{BodyError, MeshSettings, MeshShape, TriMesh};
use hairloom::groom::{Attribute, Domain, Turned, Values, turn_strands};

use crate::cache::ROOT_NORMAL;
use crate::cache::root_normals::{SmoothNormals, at_roots};
use crate::grooms::FileGroom;
use crate::space::Space;

/// A mesh in metres, y up, as a surface with closest points.
pub struct BodyMesh {
    mesh: TriMesh,
    shape: MeshShape,
}

impl BodyMesh {
    /// The surface of a mesh [m].
    pub fn new(mesh: TriMesh) -> Result<Self, BodyError> {
        let shape = MeshShape::new(&mesh, MeshSettings::default())?;
        Ok(Self { mesh, shape })
    }

    /// The distance [m] from the surface, negative inside, and the normal there.
    pub fn skin(&self, point: Vec3) -> (f32, Vec3) {
        self.shape.closest(point).map_or((f32::INFINITY, Vec3::Y), |hit| (hit.distance, hit.normal))
    }

    /// The groom with strands turned that are given from tip to root; all keep the bits of their positions.
    pub fn turn(&self, groom: FileGroom) -> (FileGroom, Turned) {
        let turned = groom.through_metres(|groom| {
            Ok::<_, std::convert::Infallible>(turn_strands(&groom, &|point| self.skin(point)))
        });
        match turned {
            Ok(turned) => turned,
            Err(never) => match never {},
        }
    }

    /// The groom with the normals of the mesh at its roots, unless it brings its own.
    pub fn with_root_normals(&self, mut groom: FileGroom) -> FileGroom {
        if groom.groom.attributes.iter().any(|attribute| attribute.name == ROOT_NORMAL) {
            return groom;
        }
        let (space, smooth) = (groom.space, SmoothNormals::of(&self.mesh));
        let in_scene = space.conversion(Space::SCENE);
        let normals = at_roots(&groom.groom, |root| {
            let hit = self.shape.closest(in_scene(root));
            hit.map_or(Vec3::ZERO, |hit| Space::SCENE.turn(&space, smooth.at(&hit)))
        });
        let (name, domain, values) = (ROOT_NORMAL.to_owned(), Domain::Strand, Values::Vec3(normals));
        groom.groom.attributes.push(Attribute { name, domain, values });
        groom
    }
}
