use std::str::FromStr;

use glam::{Vec2, Vec3};

use crate::PictureError;

/// Default vertical field of view [degrees]: a portrait lens, which distorts little.
const DEFAULT_FOV: f32 = 28.0;

/// A perspective camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it stands [m].
    pub eye: Vec3,
    /// What it looks at [m].
    pub target: Vec3,
    /// Which way is up in the picture.
    pub up: Vec3,
    /// Vertical field of view [degrees].
    pub fov: f32,
}

impl Camera {
    /// A camera at `eye` that looks at `target` with a vertical field of view `fov` [degrees], y up.
    pub fn look_at(eye: Vec3, target: Vec3, fov: f32) -> Self {
        Self { eye, target, up: Vec3::Y, fov }
    }

    /// A camera that sees the whole box `bounds` [m] from the side that `direction` points to.
    ///
    /// `direction` goes from the box to the camera, and `aspect` is the picture's width over its height.
    pub fn framing(bounds: (Vec3, Vec3), direction: Vec3, aspect: f32) -> Self {
        Self::framing_with(bounds, direction, aspect, DEFAULT_FOV, 1.0)
    }

    fn framing_with(bounds: (Vec3, Vec3), direction: Vec3, aspect: f32, fov: f32, zoom: f32) -> Self {
        let (low, high) = if bounds.0.is_finite() && bounds.1.is_finite() {
            bounds
        } else {
            (Vec3::splat(-0.1), Vec3::splat(0.1))
        };
        let center = (low + high) * 0.5;
        let half = ((high - low) * 0.5).abs().max(Vec3::splat(1e-4));
        let direction = direction.try_normalize().unwrap_or(Vec3::Z);
        let mut camera = Self::look_at(center + direction, center, fov);
        let basis = camera.basis();
        camera.up = basis.up;
        let tangent = (fov.to_radians() * 0.5).tan();
        let aspect = if aspect.is_finite() && aspect > 0.0 { aspect } else { 1.0 };
        let mut distance = 0.0f32;
        for corner in 0..8 {
            let sign = |bit: i32| if corner & bit == 0 { -1.0 } else { 1.0 };
            let offset = half * Vec3::new(sign(1), sign(2), sign(4));
            let toward_camera = offset.dot(direction);
            let across = offset.dot(basis.right).abs() / (tangent * aspect);
            let along = offset.dot(basis.up).abs() / tangent;
            distance = distance.max(toward_camera + across.max(along));
        }
        // A little air around the box.
        camera.eye = center + direction * (distance * 1.04 / zoom);
        camera
    }

    pub(crate) fn check(&self) -> Result<(), PictureError> {
        let fail = |reason: &str| Err(PictureError::Camera(reason.to_string()));
        if !(self.eye.is_finite() && self.target.is_finite() && self.up.is_finite()) {
            return fail("eye, target and up must be finite numbers");
        }
        if !(self.fov > 0.1 && self.fov < 170.0) {
            return fail("the field of view must lie between 0.1 and 170 degrees");
        }
        if (self.target - self.eye).try_normalize().is_none() {
            return fail("eye and target must be different points");
        }
        Ok(())
    }

    pub(crate) fn basis(&self) -> Basis {
        let forward = (self.target - self.eye).try_normalize().unwrap_or(Vec3::NEG_Z);
        // Looking straight up or down, the head's face (+z) goes to the lower edge of the picture.
        let right = forward
            .cross(self.up)
            .try_normalize()
            .filter(|_| forward.cross(self.up.normalize_or(Vec3::Y)).length() > 1e-3)
            .unwrap_or_else(|| forward.cross(Vec3::NEG_Z).normalize_or(Vec3::X));
        Basis { right, up: right.cross(forward), forward }
    }

    pub(crate) fn projection(&self, width: u32, height: u32) -> Projection {
        let focal = height as f32 * 0.5 / (self.fov.to_radians() * 0.5).tan();
        let near = (self.target - self.eye).length() * 1e-3;
        Projection {
            eye: self.eye,
            basis: self.basis(),
            focal,
            center: Vec2::new(width as f32, height as f32) * 0.5,
            near,
        }
    }
}

/// The axes of a camera, of unit length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basis {
    pub(crate) right: Vec3,
    pub(crate) up: Vec3,
    pub(crate) forward: Vec3,
}

/// From the world to pixels and back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projection {
    pub(crate) eye: Vec3,
    pub(crate) basis: Basis,
    /// Pixels for one unit of slope.
    pub(crate) focal: f32,
    pub(crate) center: Vec2,
    /// Nearest visible depth [m].
    pub(crate) near: f32,
}

impl Projection {
    /// Camera coordinates: right, up, depth [m].
    pub(crate) fn to_view(self, point: Vec3) -> Vec3 {
        let offset = point - self.eye;
        Vec3::new(offset.dot(self.basis.right), offset.dot(self.basis.up), offset.dot(self.basis.forward))
    }

    /// Pixel coordinates of a point in camera coordinates; its depth must be positive.
    pub(crate) fn to_pixel(self, view: Vec3) -> Vec2 {
        let scale = self.focal / view.z;
        self.center + Vec2::new(view.x * scale, -view.y * scale)
    }

    /// The ray through a pixel, scaled so that it advances one metre of depth.
    pub(crate) fn ray(self, pixel: Vec2) -> Vec3 {
        let slope = (pixel - self.center) / self.focal;
        self.basis.forward + self.basis.right * slope.x - self.basis.up * slope.y
    }
}

/// From where to look at a scene; the face of a head looks along +z.
///
/// Reads from text: `front`, `side`, `back`, `three-quarter`, `top`, or `key=value` pairs separated by
/// semicolons: `eye=x,y,z;target=x,y,z;fov=degrees`, or `dir=x,y,z` with `fov` and `zoom` to frame the scene
/// from a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum View {
    /// The scene's box, seen from a direction.
    Framing {
        /// From the scene to the camera.
        direction: Vec3,
        /// Vertical field of view [degrees].
        fov: f32,
        /// 1 fits the whole box, 2 shows it twice as large.
        zoom: f32,
    },
    /// A camera of one's own.
    Camera(Camera),
}

impl View {
    /// The names of the views.
    pub const NAMES: [&'static str; 5] = ["front", "side", "back", "three-quarter", "top"];

    fn named(name: &str) -> Option<Self> {
        let direction = match name {
            "front" => Vec3::new(0.0, 0.06, 1.0),
            "side" => Vec3::new(1.0, 0.06, 0.0),
            "back" => Vec3::new(0.0, 0.06, -1.0),
            "three-quarter" => Vec3::new(0.8, 0.2, 1.0),
            "top" => Vec3::Y,
            _ => return None,
        };
        Some(Self::Framing { direction, fov: DEFAULT_FOV, zoom: 1.0 })
    }

    /// The camera for a scene with this box [m]; `aspect` is width over height.
    pub fn camera(&self, bounds: (Vec3, Vec3), aspect: f32) -> Camera {
        match *self {
            Self::Framing { direction, fov, zoom } => {
                Camera::framing_with(bounds, direction, aspect, fov, zoom)
            }
            Self::Camera(camera) => camera,
        }
    }
}

impl FromStr for View {
    type Err = PictureError;

    fn from_str(text: &str) -> Result<Self, PictureError> {
        let trimmed = text.trim();
        if let Some(view) = Self::named(trimmed) {
            return Ok(view);
        }
        parse_pairs(trimmed).map_err(|reason| PictureError::View { text: text.to_string(), reason })
    }
}

fn parse_pairs(text: &str) -> Result<View, String> {
    if !text.contains('=') {
        return Err("no view has this name".to_string());
    }
    let (mut eye, mut target, mut direction) = (None, None, None);
    let (mut fov, mut zoom) = (DEFAULT_FOV, 1.0);
    for pair in text.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}` has no `=`"))?;
        match key.trim() {
            "eye" => eye = Some(parse_point(value)?),
            "target" => target = Some(parse_point(value)?),
            "dir" => direction = Some(parse_point(value)?),
            "fov" => fov = parse_number(value)?,
            "zoom" => zoom = parse_number(value)?,
            other => return Err(format!("`{other}` is not one of eye, target, dir, fov, zoom")),
        }
    }
    if !(fov > 0.1 && fov < 170.0) {
        return Err(format!("fov is {fov}, expected 0.1 to 170 degrees"));
    }
    if zoom <= 0.0 {
        return Err(format!("zoom is {zoom}, expected a positive number"));
    }
    match (eye, target, direction) {
        (Some(eye), Some(target), None) if eye == target => {
            Err("eye and target are the same point".to_string())
        }
        (Some(eye), Some(target), None) => Ok(View::Camera(Camera::look_at(eye, target, fov))),
        (None, None, Some(direction)) if direction == Vec3::ZERO => Err("dir is zero".to_string()),
        (None, None, Some(direction)) => Ok(View::Framing { direction, fov, zoom }),
        _ => Err("give both eye and target, or dir alone".to_string()),
    }
}

fn parse_number(text: &str) -> Result<f32, String> {
    let number = text.trim().parse::<f32>().map_err(|_| format!("`{}` is not a number", text.trim()))?;
    if number.is_finite() { Ok(number) } else { Err(format!("`{}` is not finite", text.trim())) }
}

fn parse_point(text: &str) -> Result<Vec3, String> {
    let numbers = text.split(',').map(parse_number).collect::<Result<Vec<_>, _>>()?;
    match numbers[..] {
        [x, y, z] => Ok(Vec3::new(x, y, z)),
        _ => Err(format!("`{}` is not three numbers x,y,z", text.trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_keeps_every_corner_inside_and_fills_the_picture() {
        let bounds = (Vec3::new(-0.2, 1.0, -0.1), Vec3::new(0.3, 1.5, 0.2));
        for name in View::NAMES {
            let camera = name.parse::<View>().unwrap().camera(bounds, 16.0 / 9.0);
            let projection = camera.projection(1600, 900);
            let mut reach = 0.0f32;
            for corner in 0..8 {
                let pick = |bit: usize, axis: usize| {
                    if corner & bit == 0 { bounds.0[axis] } else { bounds.1[axis] }
                };
                let view = projection.to_view(Vec3::new(pick(1, 0), pick(2, 1), pick(4, 2)));
                let pixel = projection.to_pixel(view);
                reach = reach.max((pixel.x - 800.0).abs() / 800.0).max((pixel.y - 450.0).abs() / 450.0);
            }
            assert!(reach <= 1.0 && reach > 0.85, "{name}: corners reach {reach} of the half picture");
        }
    }

    #[test]
    fn pixel_and_ray_are_inverse() {
        let projection =
            Camera::look_at(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.2, 1.0, -1.0), 40.0).projection(640, 480);
        let point = Vec3::new(0.3, 0.9, -0.5);
        let view = projection.to_view(point);
        let back = projection.eye + projection.ray(projection.to_pixel(view)) * view.z;
        assert!((back - point).length() < 1e-5);
    }

    #[test]
    fn texts() {
        let view = "eye=0,1.6,1; target=0,1.6,0; fov=35".parse::<View>().unwrap();
        assert_eq!(
            view,
            View::Camera(Camera::look_at(Vec3::new(0.0, 1.6, 1.0), Vec3::new(0.0, 1.6, 0.0), 35.0))
        );
        for (text, part) in [
            ("sideways", "no view has this name"),
            ("eye=0,1;target=0,0,0", "three numbers"),
            ("eye=0,1,x;target=0,0,0", "`x` is not a number"),
            ("eye=0,1,2", "both eye and target"),
            ("eye=1,1,1;target=1,1,1", "same point"),
            ("dir=1,0,0;fov=900", "fov is 900"),
            ("dir=1,0,0;roll=3", "`roll` is not one of"),
            ("dir=1,nan,0", "not finite"),
        ] {
            let message = text.parse::<View>().unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("three-quarter"), "{message}");
        }
    }
}
