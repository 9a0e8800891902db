//! Where a scene's bodies are over time.

use glam::Vec3;

use super::SimulationError;
use super::library::{AnimatedMesh, Library};
use crate::body::{Body, MeshQuery, MeshSettings, MeshShape, Motion, Shape, TriMesh};
use crate::figure::{self, Figure};
use crate::math::Pose;
use crate::scene::{Animation, BodySettings, BodyShape, DistanceMode, Material, MotionPart, Primitive};

/// How a body's points come about.
#[derive(Debug, Clone)]
enum Source {
    /// A shape that moves as a whole; with its mesh, if it has one.
    Rigid,
    /// A figure that bends.
    Figure(Box<Figure>),
    /// A mesh with points of its own at each time.
    Animated(AnimatedMesh),
}

/// One body of the scene over time.
#[derive(Debug, Clone)]
pub(super) struct Track {
    settings: BodySettings,
    /// Scene time at which cycles begin [s].
    start: f64,
    source: Source,
    /// The mesh in the body's frame, scaled; for shapes without one, a mesh to look at.
    pub(super) mesh: TriMesh,
    /// Where hair may grow on the mesh, and how it is combed; empty where unknown.
    pub(super) scalp: (Vec<f32>, Vec<Vec3>),
    /// The colours of the mesh's points, unless the scene gives it one for all; empty where there are none.
    pub(super) paint: Vec<Vec3>,
    /// The points at the end of the last step, where the body deforms.
    last: Option<(f64, Vec<Vec3>)>,
}

impl Track {
    /// The track and the collider of a scene's body.
    pub(super) fn new(
        settings: &BodySettings,
        start: f64,
        material: &Material,
        library: &dyn Library,
    ) -> Result<(Self, Body), SimulationError> {
        let in_body = |problem: String| SimulationError::Body { body: settings.name.clone(), problem };
        let scale = settings.scale as f32;
        let (mut scalp, mut paint) = ((Vec::new(), Vec::new()), Vec::new());
        let (mut mesh, source) = match (&settings.shape, &settings.animation) {
            (BodyShape::Figure(name), animation) => {
                let figure = figure::by_name(name.name())
                    .ok_or_else(|| in_body(format!("there is no figure '{}'", name.name())))?;
                if let Some(Animation::Cycle(cycle)) = animation {
                    figure.pose_in(cycle, 0.0).map_err(|error| in_body(error.to_string()))?;
                }
                scalp = (figure.scalp.clone(), figure.comb.clone());
                if settings.color.is_none() {
                    paint = figure.colour.clone();
                }
                let bends = animation.is_some() || settings.motion.part == MotionPart::Head;
                let mesh = figure.mesh.clone();
                (mesh, if bends { Source::Figure(Box::new(figure)) } else { Source::Rigid })
            }
            (BodyShape::Mesh(_), Some(Animation::File(file))) => {
                let animated = library.animated_mesh(file).map_err(in_body)?;
                (animated.mesh.clone(), Source::Animated(animated))
            }
            (BodyShape::Mesh(file), _) => (library.mesh(file).map_err(in_body)?, Source::Rigid),
            (BodyShape::Primitive(primitive), _) => (mesh_of(primitive), Source::Rigid),
        };
        mesh.points.iter_mut().for_each(|point| *point *= scale);
        let shape = match &settings.shape {
            BodyShape::Primitive(Primitive::Plane) => Shape::Plane,
            BodyShape::Primitive(Primitive::Sphere { radius }) => Shape::Sphere { radius: *radius as f32 },
            BodyShape::Primitive(Primitive::Capsule { radius, half_height }) => {
                Shape::Capsule { radius: *radius as f32, half_height: *half_height as f32 }
            }
            BodyShape::Figure(_) | BodyShape::Mesh(_) => {
                let query = match settings.sdf.mode {
                    DistanceMode::Exact => MeshQuery::Exact,
                    DistanceMode::Grid => MeshQuery::Grid,
                };
                let cell = settings.sdf.cell.map(|cell| cell as f32);
                let shape = MeshShape::new(&mesh, MeshSettings { cell, query });
                Shape::Mesh(shape.map_err(|error| in_body(error.to_string()))?)
            }
        };
        let friction = settings.friction.unwrap_or(material.body_friction) as f32;
        let mut body =
            Body::new(&settings.name, shape, friction).map_err(|error| in_body(error.to_string()))?;
        body.collides = settings.collide;
        Ok((Self { settings: settings.clone(), start, source, mesh, scalp, paint, last: None }, body))
    }

    /// Name of the body.
    pub(super) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Its colour in pictures.
    pub(super) fn color(&self) -> Option<[f32; 3]> {
        self.settings.color
    }

    /// The samples that it moves through, if they come from a file.
    pub(super) fn animation(&self) -> Option<&AnimatedMesh> {
        match &self.source {
            Source::Animated(animated) => Some(animated),
            _ => None,
        }
    }

    /// Whether its points move by themselves.
    pub(super) fn deforms(&self) -> bool {
        !matches!(self.source, Source::Rigid)
    }

    /// Where its frame is at a time [s], if it moves as a whole.
    pub(super) fn pose(&self, time: f64) -> Pose {
        self.settings.pose(time)
    }

    /// Whether it jumps between two times [s].
    pub(super) fn teleports(&self, begin: f64, end: f64) -> bool {
        self.settings.motion.teleports(begin, end)
    }

    /// Its points in the world at a time [s].
    pub(super) fn points(&self, time: f64) -> Vec<Vec3> {
        let scale = self.settings.scale as f32;
        let (mut points, pose) = match &self.source {
            Source::Rigid => (self.mesh.points.clone(), self.settings.pose(time)),
            Source::Animated(animated) => {
                let points = animated.at(time).into_iter().map(|point| point * scale).collect();
                (points, self.settings.pose(time))
            }
            Source::Figure(figure) => {
                let head_only = self.settings.motion.part == MotionPart::Head;
                let points = match &self.settings.animation {
                    // Checked when the track was made.
                    Some(Animation::Cycle(cycle)) => {
                        figure.pose_in(cycle, time - self.start).unwrap_or_default()
                    }
                    _ => figure.pose_with(&self.settings.motion.pose(time)),
                };
                let pose = if head_only { self.settings.placement() } else { self.settings.pose(time) };
                (points.into_iter().map(|point| point * scale).collect(), pose)
            }
        };
        for point in &mut points {
            *point = pose.apply(point.as_dvec3()).as_vec3();
        }
        points
    }

    /// Its points at the start and the end of a step; those of the start are kept from the step before.
    pub(super) fn step_points(&mut self, begin: f64, end: f64) -> (Vec<Vec3>, Vec<Vec3>) {
        let start = match self.last.take() {
            Some((time, points)) if time == begin => points,
            _ => self.points(begin),
        };
        let after = self.points(end);
        self.last = Some((end, after.clone()));
        (start, after)
    }
}

/// Motions of all tracks during a step, in the form that bodies take.
pub(super) fn motions<'a>(
    tracks: &[Track],
    points: &'a [Option<(Vec<Vec3>, Vec<Vec3>)>],
    begin: f64,
    end: f64,
) -> Vec<Motion<'a>> {
    tracks
        .iter()
        .zip(points)
        .map(|(track, points)| match points {
            Some((start, after)) => Motion::Deforming { start, end: after },
            None => Motion::Rigid { start: track.pose(begin), end: track.pose(end) },
        })
        .collect()
}

/// A mesh to look at for a shape that a formula describes.
fn mesh_of(primitive: &Primitive) -> TriMesh {
    match *primitive {
        Primitive::Plane => TriMesh {
            points: [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]]
                .map(|[x, z]| Vec3::new(x, 0.0, z))
                .to_vec(),
            triangles: vec![[0, 2, 1], [0, 3, 2]],
        },
        Primitive::Sphere { radius } => TriMesh::capsule(radius as f32, 0.0),
        Primitive::Capsule { radius, half_height } => TriMesh::capsule(radius as f32, half_height as f32),
    }
}
