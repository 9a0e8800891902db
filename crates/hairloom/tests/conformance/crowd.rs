//! Hair with something that moves about in it.

use glam::{DQuat, DVec3, Vec3};
use hairloom::body::{Bodies, MeshQuery, MeshSettings, MeshShape, Motion, Shape, TriMesh};
use hairloom::math::Pose;
use hairloom::scene::Wind;
use hairloom::solve::{Report, Solver, Step, StepError};

use crate::world::{DT, Hold, World, hanging};

/// The obstacle, after the mount.
const OBSTACLE: usize = 1;

/// What moves about in the hair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Obstacle {
    Ball,
    TurningCapsule,
    TurningMesh,
    DeformingMesh,
}

impl Obstacle {
    pub(crate) const ALL: [Self; 4] =
        [Self::Ball, Self::TurningCapsule, Self::TurningMesh, Self::DeformingMesh];

    pub(crate) fn shape(self, query: MeshQuery) -> Shape {
        match self {
            Self::Ball => Shape::Sphere { radius: 0.03 },
            Self::TurningCapsule => Shape::Capsule { radius: 0.015, half_height: 0.05 },
            Self::TurningMesh | Self::DeformingMesh => {
                Shape::Mesh(MeshShape::new(&mesh(), MeshSettings { query, ..Default::default() }).unwrap())
            }
        }
    }

    /// Where it is: below the roots, among the free vertices, at up to 1.5 m/s.
    pub(crate) fn pose(self, time: f64) -> Pose {
        let sway = DVec3::new(0.03 * (19.0 * time).sin(), 0.01 * (12.0 * time).sin(), 0.0);
        let turns = matches!(self, Self::TurningCapsule | Self::TurningMesh);
        let turn = if turns { DQuat::from_rotation_z(17.0 * time) } else { DQuat::IDENTITY };
        Pose {
            rotation: turn * DQuat::from_rotation_x(0.3),
            translation: DVec3::new(0.08, -0.085, 0.02 * (23.0 * time).cos()) + sway,
        }
    }

    /// The points of its mesh in the world, where it deforms: it breathes and twists.
    pub(crate) fn points(self, time: f64) -> Option<Vec<Vec3>> {
        let pose = self.pose(time);
        let wide = 1.0 + 0.3 * (15.0 * time).sin() as f32;
        let deformed = |p: Vec3| {
            let twisted = Vec3::new(p.x, p.y, p.z + 0.5 * p.x * (11.0 * time).sin() as f32);
            pose.apply((twisted * Vec3::new(wide, 1.0 / wide, 1.0)).as_dvec3()).as_vec3()
        };
        (self == Self::DeformingMesh).then(|| mesh().points.iter().map(|&p| deformed(p)).collect())
    }
}

/// An egg, so that it matters how it is turned.
fn mesh() -> TriMesh {
    let mut mesh = TriMesh::capsule(0.025, 0.0);
    mesh.points.iter_mut().for_each(|p| *p *= Vec3::new(1.0, 1.6, 0.8));
    mesh
}

/// Hanging hair with one obstacle in it.
pub(crate) struct Crowd {
    pub(crate) world: World,
    pub(crate) obstacle: Obstacle,
}

impl Crowd {
    pub(crate) fn new(obstacle: Obstacle, strands: usize) -> Self {
        let shape = obstacle.shape(MeshQuery::Exact);
        let mut world = World::new(&hanging(strands), Hold::Root(1), vec![(shape, obstacle.pose(0.0))]);
        world.wind = Wind::gusty(DVec3::new(-0.6, 0.0, 0.3), 0.5, 0.2, 3);
        Self { world, obstacle }
    }

    /// Moves the obstacle on by one step.
    pub(crate) fn begin(&mut self) {
        let Self { world, obstacle } = self;
        let (from, to) = (world.time, world.time + DT);
        let points = obstacle.points(from).zip(obstacle.points(to));
        let motion = match &points {
            Some((start, end)) => Motion::Deforming { start, end },
            None => Motion::Rigid { start: obstacle.pose(from), end: obstacle.pose(to) },
        };
        world.bodies.begin_step(&[Motion::still(Pose::IDENTITY), motion], DT).unwrap();
    }

    /// The bodies of a step that is the part of the one under way from fraction `a` to fraction `b`.
    pub(crate) fn part(&self, a: f64, b: f64) -> Bodies {
        let mut bodies = self.world.bodies.clone();
        let (start, end) = (bodies.points(OBSTACLE, a), bodies.points(OBSTACLE, b));
        let motion = match self.obstacle {
            Obstacle::DeformingMesh => Motion::Deforming { start: &start, end: &end },
            _ => Motion::Rigid { start: bodies.pose(OBSTACLE, a), end: bodies.pose(OBSTACLE, b) },
        };
        bodies.begin_step(&[Motion::still(Pose::IDENTITY), motion], (b - a) * DT).unwrap();
        bodies
    }

    /// Steps of 1/60 s, each in a number of parts.
    pub(crate) fn run(
        &mut self,
        solver: &mut dyn Solver,
        steps: usize,
        parts: usize,
    ) -> Result<Report, StepError> {
        let mut report = Report::default();
        for _ in 0..steps {
            self.begin();
            let drive = self.world.drive();
            for part in 0..parts {
                let (a, b) = fractions(part, parts);
                report.add(&solver.step(&drive.sub(a, b), Step::Dynamic { dt: DT / parts as f64 })?);
            }
            self.world.time += DT;
        }
        Ok(report)
    }
}

/// The start and the end of one of `parts` equal parts.
pub(crate) fn fractions(part: usize, parts: usize) -> (f64, f64) {
    (part as f64 / parts as f64, (part + 1) as f64 / parts as f64)
}
