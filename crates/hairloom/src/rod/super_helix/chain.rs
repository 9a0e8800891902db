use glam::{DMat3, DQuat, DVec3};

use super::Helix;

/// Where the root is clamped. The third axis of its frame is the tangent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// Position [m].
    pub position: DVec3,
    /// Material frame.
    pub frame: DQuat,
}

/// How a frame moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Velocity [m/s].
    pub velocity: DVec3,
    /// Angular velocity, in the world [rad/s].
    pub spin: DVec3,
}

/// A super-helix in one shape: where its elements begin, and how their changes move what lies behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// Where each element begins along the rod, and where the last ends [m].
    starts: Vec<f64>,
    links: Vec<Link>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    helix: Helix,
    length: f64,
    origin: DVec3,
    frame: DQuat,
    rotation: DMat3,
    /// Where the element ends.
    end: DVec3,
    /// `A_j`: how a change of the curvatures turns what lies behind.
    turning: DMat3,
    /// How it moves the element's end.
    moving: DMat3,
}

/// A place on the rod: an element, and how far along it [m].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) element: usize,
    pub(super) along: f64,
}

/// Motion of the start of each element, with all rates constant.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moving {
    spin: DVec3,
    acceleration: DVec3,
    spin_rate: DVec3,
}

impl Chain {
    /// The shape that `curvatures` give to elements of these `lengths` [m].
    pub fn new(root: Root, lengths: &[f64], curvatures: &[DVec3]) -> Self {
        let (mut origin, mut frame, mut start) = (root.position, root.frame, 0.0);
        let mut starts = vec![0.0];
        let mut links = Vec::with_capacity(lengths.len());
        for (&length, &curvature) in lengths.iter().zip(curvatures) {
            let helix = Helix { curvature };
            let rotation = DMat3::from_quat(frame);
            let end = origin + rotation * helix.point(length);
            let turning = rotation * helix.turning(length);
            let moving = rotation * helix.moving(length);
            links.push(Link { helix, length, origin, frame, rotation, end, turning, moving });
            origin = end;
            frame = (frame * helix.rotation(length)).normalize();
            start += length;
            starts.push(start);
        }
        Self { starts, links }
    }

    /// How many numbers describe the shape: three for each element.
    pub fn freedom(&self) -> usize {
        3 * self.links.len()
    }

    pub(super) fn length_of(&self, element: usize) -> f64 {
        self.links[element].length
    }

    pub(super) fn helix(&self, element: usize) -> &Helix {
        &self.links[element].helix
    }

    pub(super) fn rotation(&self, element: usize) -> DMat3 {
        self.links[element].rotation
    }

    /// How fast a rate of the curvatures of `element` turns what lies behind it [rad/s].
    pub fn turned(&self, element: usize, rate: DVec3) -> DVec3 {
        self.links[element].turning * rate
    }

    /// The same for its own frame, so far along it [m]; and the tangent there.
    pub fn turned_within(&self, element: usize, along: f64, rate: DVec3) -> (DVec3, DVec3) {
        let link = &self.links[element];
        let tangent = link.frame * (link.helix.rotation(along) * DVec3::Z);
        (link.rotation * (link.helix.turning(along) * rate), tangent)
    }

    pub(super) fn turning(&self, element: usize) -> DMat3 {
        self.links[element].turning
    }

    /// Where an element ends [m].
    pub(super) fn end(&self, element: usize) -> DVec3 {
        self.links[element].end
    }

    pub(super) fn place(&self, arc: f64) -> Place {
        let last = self.links.len() - 1;
        let element = self.starts.partition_point(|&start| start <= arc).saturating_sub(1).min(last);
        Place { element, along: (arc - self.starts[element]).clamp(0.0, self.links[element].length) }
    }

    pub(super) fn position_at(&self, place: Place) -> DVec3 {
        let link = &self.links[place.element];
        link.origin + link.rotation * link.helix.point(place.along)
    }

    /// The point at `arc` from the root [m].
    pub fn position(&self, arc: f64) -> DVec3 {
        self.position_at(self.place(arc))
    }

    /// The material frame at `arc` from the root [m].
    pub fn frame(&self, arc: f64) -> DQuat {
        let place = self.place(arc);
        let link = &self.links[place.element];
        link.frame * link.helix.rotation(place.along)
    }

    /// How the curvatures of element `by` move the point at `place`, which has the position `point`.
    pub(super) fn moving(&self, by: usize, place: Place, point: DVec3) -> DMat3 {
        let link = &self.links[by];
        if by == place.element {
            return link.rotation * link.helix.moving(place.along);
        }
        let (arm, turn) = (point - link.end, link.turning);
        let carried =
            DMat3::from_cols(turn.x_axis.cross(arm), turn.y_axis.cross(arm), turn.z_axis.cross(arm));
        link.moving + carried
    }

    /// How the curvatures move the point at `arc`: three rows of [`Self::freedom`] numbers [m²].
    pub fn jacobian(&self, arc: f64) -> Vec<f64> {
        let (place, freedom) = (self.place(arc), self.freedom());
        let point = self.position_at(place);
        let mut rows = vec![0.0; 3 * freedom];
        for by in 0..=place.element {
            let block = self.moving(by, place, point);
            for axis in 0..3 {
                for column in 0..3 {
                    rows[axis * freedom + 3 * by + column] = block.col(column)[axis];
                }
            }
        }
        rows
    }

    /// The velocity at `place` that the rates of the curvatures bring, without the root's [m/s].
    pub(super) fn velocity_at(&self, place: Place, point: DVec3, rates: &[DVec3]) -> DVec3 {
        let of = |by: usize| self.moving(by, place, point) * rates[by];
        (0..=place.element).map(of).sum()
    }

    /// The velocity that a moving root brings to `point` [m/s].
    pub fn carried(&self, root: &Twist, point: DVec3) -> DVec3 {
        let origin = self.links.first().map_or(point, |link| link.origin);
        root.velocity + root.spin.cross(point - origin)
    }

    /// The velocity at `arc` for rates of the curvatures [1/(m s)] and a moving root [m/s].
    pub fn velocity(&self, arc: f64, rates: &[DVec3], root: &Twist) -> DVec3 {
        let place = self.place(arc);
        let point = self.position_at(place);
        self.carried(root, point) + self.velocity_at(place, point, rates)
    }

    /// Spin and acceleration of each element's start where rates and the root's twist stay as they are.
    pub(super) fn bias(&self, rates: &[DVec3], root: &Twist) -> Vec<Moving> {
        let mut now = Moving { spin: root.spin, ..Moving::default() };
        let mut all = Vec::with_capacity(self.links.len());
        for (element, link) in self.links.iter().enumerate() {
            all.push(now);
            let end = Place { element, along: link.length };
            let turned = link.turning * rates[element];
            let bias = link.rotation * link.helix.turning_bias(link.length, rates[element]);
            now = Moving {
                acceleration: self.bias_at(end, rates[element], &now),
                spin_rate: now.spin_rate + now.spin.cross(turned) + bias,
                spin: now.spin + turned,
            };
        }
        all
    }

    /// The acceleration at `place` where rates stay as they are: its element's own `rate` and its start's motion [m/s²].
    pub(super) fn bias_at(&self, place: Place, rate: DVec3, start: &Moving) -> DVec3 {
        let link = &self.links[place.element];
        let arm = link.rotation * link.helix.point(place.along);
        let drift = link.rotation * (link.helix.moving(place.along) * rate);
        let own = link.rotation * link.helix.point_bias(place.along, rate);
        start.acceleration
            + start.spin_rate.cross(arm)
            + start.spin.cross(start.spin.cross(arm) + 2.0 * drift)
            + own
    }
}
