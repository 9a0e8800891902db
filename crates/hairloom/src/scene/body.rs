use glam::DVec3;
use serde::Serialize;

use super::error::SceneError;
use super::motion::{Motion, MotionPart, read_rotation};
use super::parse::{Section, choice};
use crate::math::Pose;

choice! {
    /// Bodies that come with Hairloom.
    pub Figure, "figure" {
        /// Head, neck and shoulders.
        Bust = "bust",
        /// A ball.
        Ball = "ball",
        /// A furry monster on two legs.
        Monster = "monster",
        /// A dog.
        Dog = "dog",
        /// A girl.
        Girl = "girl",
    }
}

choice! {
    /// How the distance to a body's surface is found.
    pub DistanceMode, "mode" {
        /// From the triangles or the formula, each time.
        Exact = "exact",
        /// From values stored on a grid.
        Grid = "grid",
    }
}

/// Shapes that a formula describes. They are centred at the body's origin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
pub enum Primitive {
    /// The half space below y = 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A cylinder along y with half balls on both ends.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half the length of the cylinder [m].
        half_height: f64,
    },
}

/// What a body looks like.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyShape {
    /// A body that comes with Hairloom.
    Figure(Figure),
    /// A file of triangles, relative to the scene's file.
    Mesh(String),
    /// A shape that a formula describes.
    #[serde(untagged)]
    Primitive(Primitive),
}

/// How a body deforms over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Animation {
    /// The name of one of the figure's own cycles, for instance `walk`.
    Cycle(String),
    /// A file of a mesh's vertices at each frame, relative to the scene's file.
    File(String),
}

/// How the distance to a body's surface is found: `sdf = { mode = "grid", cell = 0.004 }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DistanceSettings {
    /// Exact or on a grid.
    pub mode: DistanceMode,
    /// Edge of the grid's cells [m]; chosen from the body's size when absent.
    pub cell: Option<f64>,
}

/// A body that hair grows on or collides with: `[[body]]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BodySettings {
    /// Its name, unlike every other body's.
    pub name: String,
    /// What it looks like: `figure`, `mesh` or `shape`.
    #[serde(flatten)]
    pub shape: BodyShape,
    /// Factor from the figure's or the mesh's units to metres.
    #[serde(skip_serializing_if = "is_one")]
    pub scale: f64,
    /// How it deforms, in its own frame.
    pub animation: Option<Animation>,
    /// Whether hair collides with it.
    pub collide: bool,
    /// Coulomb friction with hair; the material's `body_friction` when absent.
    pub friction: Option<f64>,
    /// Red, green and blue in pictures, from 0 to 1.
    pub color: Option<[f32; 3]>,
    /// How the distance to its surface is found.
    pub sdf: DistanceSettings,
    /// Where it stands before it moves [m].
    pub position: DVec3,
    /// How it is turned before it moves, a unit quaternion. A scene may give `rotation_degrees` (about x, then y,
    /// then z) or `axis` and `angle_degrees` instead.
    pub rotation: glam::DQuat,
    /// How it moves.
    #[serde(skip_serializing_if = "Motion::is_still")]
    pub motion: Motion,
}

fn is_one(value: &f64) -> bool {
    *value == 1.0
}

impl BodySettings {
    /// Where the body stands before it moves.
    pub fn placement(&self) -> Pose {
        Pose { rotation: self.rotation, translation: self.position }
    }

    /// Pose of the whole body in the world at a time [s]: placed, then moved.
    pub fn pose(&self, time: f64) -> Pose {
        match self.motion.part {
            MotionPart::Whole => self.motion.pose(time).compose(&self.placement()),
            MotionPart::Head => self.placement(),
        }
    }

    /// Turn and shift of a figure's head on its neck at a time [s], in the figure's frame, if it is the head that
    /// moves.
    pub fn head_pose(&self, time: f64) -> Option<Pose> {
        (self.motion.part == MotionPart::Head).then(|| self.motion.pose(time))
    }

    /// Reads every `[[body]]` and checks that their names differ.
    pub(super) fn read_all(scene: &Section<'_>, start: f64) -> Result<Vec<Self>, SceneError> {
        const KEYS: &[&str] = &[
            "name",
            "figure",
            "mesh",
            "shape",
            "radius",
            "half_height",
            "scale",
            "animation",
            "collide",
            "friction",
            "color",
            "sdf",
            "position",
            "rotation",
            "rotation_degrees",
            "axis",
            "angle_degrees",
            "motion",
        ];
        let mut bodies: Vec<Self> = Vec::new();
        for section in scene.sections("body", KEYS)? {
            let name = section.require("name", "a name")?;
            let body = Self::read(&section, start)?;
            if bodies.iter().any(|other| other.name == body.name) {
                return Err(name.conflict(format!("two bodies are named '{}'; rename one", body.name)));
            }
            bodies.push(body);
        }
        Ok(bodies)
    }

    fn read(section: &Section<'_>, start: f64) -> Result<Self, SceneError> {
        let name = section.require("name", "a name")?.text()?;
        let shape = Self::read_shape(section)?;
        if !matches!(shape, BodyShape::Primitive(Primitive::Sphere { .. } | Primitive::Capsule { .. })) {
            section.reject(&["radius"], "only a shape = \"sphere\" or \"capsule\" has a radius")?;
        }
        if !matches!(shape, BodyShape::Primitive(Primitive::Capsule { .. })) {
            section.reject(&["half_height"], "only a shape = \"capsule\" has a half_height")?;
        }
        let primitive = matches!(shape, BodyShape::Primitive(_));
        if primitive {
            section.reject(&["scale"], "only a figure or a mesh is scaled; change the shape's own sizes")?;
        }
        Ok(Self {
            animation: Self::read_animation(section, &shape)?,
            scale: section.or("scale", 1.0, |field| field.positive())?,
            collide: section.or("collide", true, |field| field.boolean())?,
            friction: section.maybe("friction", |field| field.not_negative())?,
            color: section.maybe("color", |field| field.color())?,
            sdf: Self::read_distance(section, primitive)?,
            position: section.or("position", DVec3::ZERO, |field| field.vector())?,
            rotation: read_rotation(section)?,
            motion: Self::read_motion(section, &shape, start)?,
            name,
            shape,
        })
    }

    fn read_shape(section: &Section<'_>) -> Result<BodyShape, SceneError> {
        choice! {
            /// Names of the primitives.
            ShapeName, "shape" {
                /// A half space.
                Plane = "plane",
                /// A ball.
                Sphere = "sphere",
                /// A rounded cylinder.
                Capsule = "capsule",
            }
        }
        let radius = || section.require("radius", "a radius [m]")?.positive();
        Ok(match section.exactly_one(&["figure", "mesh", "shape"])? {
            "figure" => BodyShape::Figure(section.require("figure", "a figure")?.choice()?),
            "mesh" => BodyShape::Mesh(section.require("mesh", "a mesh")?.file()?),
            _ => BodyShape::Primitive(match section.require("shape", "a shape")?.choice()? {
                ShapeName::Plane => Primitive::Plane,
                ShapeName::Sphere => Primitive::Sphere { radius: radius()? },
                ShapeName::Capsule => Primitive::Capsule {
                    radius: radius()?,
                    half_height: section.require("half_height", "a half_height [m]")?.not_negative()?,
                },
            }),
        })
    }

    fn read_animation(section: &Section<'_>, shape: &BodyShape) -> Result<Option<Animation>, SceneError> {
        match shape {
            BodyShape::Figure(_) => section.maybe("animation", |field| field.text().map(Animation::Cycle)),
            BodyShape::Mesh(_) => section.maybe("animation", |field| field.file().map(Animation::File)),
            BodyShape::Primitive(_) => {
                section.reject(&["animation"], "only a figure or a mesh is animated; use motion")?;
                Ok(None)
            }
        }
    }

    fn read_motion(section: &Section<'_>, shape: &BodyShape, start: f64) -> Result<Motion, SceneError> {
        let motion = Motion::read(section, start)?;
        if motion.part == MotionPart::Head && !matches!(shape, BodyShape::Figure(_)) {
            let field = section.require("motion", "a motion")?;
            return Err(
                field.conflict("only a figure has a head; leave part out to move the whole".to_owned())
            );
        }
        Ok(motion)
    }

    fn read_distance(section: &Section<'_>, primitive: bool) -> Result<DistanceSettings, SceneError> {
        let section = section.section("sdf", &["mode", "cell"])?;
        // A grid is off by a tenth of its cell where a body curves: only who asks for one gets one.
        let asks = !primitive && section.get("cell").is_some();
        let usual = if asks { DistanceMode::Grid } else { DistanceMode::Exact };
        let mode = section.or("mode", usual, |field| field.choice())?;
        if primitive {
            section.reject(&["cell"], "a shape's distance has a formula and needs no grid")?;
            if let Some(field) = section.get("mode").filter(|_| mode == DistanceMode::Grid) {
                return Err(field.unexpected("\"exact\", for a shape's distance has a formula"));
            }
        }
        if mode == DistanceMode::Exact {
            section.reject(&["cell"], "only mode = \"grid\" has cells")?;
        }
        Ok(DistanceSettings { mode, cell: section.maybe("cell", |field| field.positive())? })
    }
}
