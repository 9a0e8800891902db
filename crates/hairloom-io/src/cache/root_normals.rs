//! The normals of a body at the roots of hair, for grooms that come without them.

use std::borrow::Cow;
use std::collections::HashMap;

use glam::Vec3;
use hairloom::body::{SurfacePoint, TriMesh};
use hairloom::groom::{Attribute, Domain, Groom, Values};
use hairloom::math::Pose;
use hairloom::simulate::Simulation;

use super::layout::ROOT_NORMAL;

/// The groom of a simulation at its start, with normals at its roots: its own, or else those of the body that holds it.
pub(crate) fn with_root_normals(simulation: &Simulation) -> Cow<'_, Groom> {
    let groom = simulation.groom();
    if groom.attributes.iter().any(|attribute| attribute.name == ROOT_NORMAL) {
        return Cow::Borrowed(groom);
    }
    match root_normals(simulation) {
        Some(normals) => Cow::Owned(with_normals(groom, normals)),
        None => Cow::Borrowed(groom),
    }
}

/// The groom with these normals.
pub(crate) fn with_normals(groom: &Groom, normals: Vec<Vec3>) -> Groom {
    let mut groom = groom.clone();
    let (name, domain, values) = (ROOT_NORMAL.to_owned(), Domain::Strand, Values::Vec3(normals));
    groom.attributes.push(Attribute { name, domain, values });
    groom
}

/// The normals of the body at the roots, in the world at the start: on meshes smooth, mixed from those of the corners of the
/// closest triangle; on shapes that a formula describes exact. Nothing for hair that no body holds.
fn root_normals(simulation: &Simulation) -> Option<Vec<Vec3>> {
    let (scene, groom) = (simulation.scene(), simulation.groom());
    let holder = scene.bodies.iter().position(|body| scene.groom.body.as_deref() == Some(&body.name))?;
    let view = simulation.body_views().into_iter().nth(holder)?;
    let smooth = SmoothNormals::of(&view.mesh);
    let pose = simulation.body_pose(holder, 0);
    let start = simulation.bodies().at(0.0);
    let normal = |root: Vec3| match start.closest(holder, root) {
        Some(hit) if view.deforms => smooth.at(&hit),
        Some(hit) => smooth.turned(&hit, &pose),
        None => start.sample(holder, root).normal,
    };
    Some(at_roots(groom, normal))
}

/// What holds at the root of each strand; zero for strands without points.
pub(crate) fn at_roots(groom: &Groom, normal: impl Fn(Vec3) -> Vec3) -> Vec<Vec3> {
    let roots = (0..groom.strands()).map(|strand| groom.curves.strand(strand).first());
    roots.map(|root| root.map_or(Vec3::ZERO, |&root| normal(root))).collect()
}

/// The smooth normals of a mesh.
pub(crate) struct SmoothNormals<'a> {
    mesh: &'a TriMesh,
    at_vertices: Vec<Vec3>,
}

impl<'a> SmoothNormals<'a> {
    pub(crate) fn of(mesh: &'a TriMesh) -> Self {
        Self { mesh, at_vertices: vertex_normals(mesh) }
    }

    /// Mixed from the corners of the triangle; that of the surface where faces meet back to back.
    pub(crate) fn at(&self, hit: &SurfacePoint) -> Vec3 {
        self.mixed(hit).try_normalize().unwrap_or(hit.normal)
    }

    /// The same for a mesh that stands in the world by a pose, as the point does.
    fn turned(&self, hit: &SurfacePoint, pose: &Pose) -> Vec3 {
        (pose.rotation * self.mixed(hit).as_dvec3()).as_vec3().try_normalize().unwrap_or(hit.normal)
    }

    fn mixed(&self, hit: &SurfacePoint) -> Vec3 {
        let corners = self.mesh.triangles.get(hit.triangle).copied().unwrap_or_default();
        let corner =
            |place: usize| self.at_vertices.get(corners[place] as usize).copied().unwrap_or_default();
        (0..3).map(|place| hit.weights[place] * corner(place)).sum()
    }
}

/// Unit normals at the vertices: those of the faces around, by area. Vertices in one place, as at seams, have one normal.
fn vertex_normals(mesh: &TriMesh) -> Vec<Vec3> {
    let place = |vertex: u32| {
        mesh.points.get(vertex as usize).map(|point| (*point + 0.0).to_array().map(f32::to_bits))
    };
    let mut sums: HashMap<[u32; 3], Vec3> = HashMap::new();
    for triangle in &mesh.triangles {
        let [Some(a), Some(b), Some(c)] = triangle.map(|vertex| mesh.points.get(vertex as usize).copied())
        else {
            continue;
        };
        let area = (b - a).cross(c - a);
        for place in triangle.iter().filter_map(|&vertex| place(vertex)) {
            *sums.entry(place).or_default() += area;
        }
    }
    let normal = |vertex: u32| sums.get(&place(vertex)?)?.try_normalize();
    (0..mesh.points.len() as u32).map(|vertex| normal(vertex).unwrap_or_default()).collect()
}
