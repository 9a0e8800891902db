//! A contact as the projection sees it.

use glam::{Vec3, Vec3A};

/// Marks the second side of a contact with a body; the other bits are the body's number and the part of the edge.
const BODY: u32 = 1 << 31;

/// Contacts that a vertex would have to move more than so many times as far as they part do not count.
const LARGEST_LEVER: f32 = 20.0;

/// A contact between two edges, or of an edge with a body. One line of a cache: there are millions of them.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Touch {
    /// The edge of the first side: it runs from this vertex to the next.
    first: u32,
    /// The edge of the second side, or a body.
    second: u32,
    /// Place of the contact along the first edge, from 0 to 1.
    s: f32,
    /// Place of the contact along the second edge, from 0 to 1.
    t: f32,
    /// Unit normal, away from the second side.
    normal: Vec3,
    /// Coulomb's coefficient.
    friction: f32,
    /// What the relative displacement of the vertices lacks to be that of the surfaces: `n gap − drift`, tangentially and
    /// along the normal [m].
    offset: Vec3,
    /// 1 / D̂ [N/m].
    pub stiffness: f32,
    /// r̃: the correction applied so far [m].
    pub correction: Vec3,
}

impl Touch {
    /// A contact of edges `first` and `second` at places `s` and `t`.
    pub(super) fn between(edges: [u32; 2], places: [f32; 2], normal: Vec3, friction: f32) -> Self {
        let ([first, second], [s, t]) = (edges, places);
        Self { first, second, s, t, normal, friction: friction.max(0.0), ..Self::default() }
    }

    /// A contact of an edge, at place `s`, with body number `body`. Its start, its end and what lies between are three
    /// contacts, each with a force of its own.
    pub(super) fn on_body(edge: u32, s: f32, body: usize, normal: Vec3, friction: f32) -> Self {
        let part = if s <= 0.0 { 0 } else { 1 + u32::from(s >= 1.0) };
        let (second, friction) = (BODY | (body as u32) << 2 | part, friction.max(0.0));
        Self { first: edge, second, s, normal, friction, ..Self::default() }
    }

    /// The same with the gap that there would be if no vertex moved during the step, while the second side moves by `drift` [m].
    pub(super) fn with_gap(self, gap: f32, drift: Vec3) -> Self {
        Self { offset: self.normal * (gap + self.normal.dot(drift)) - drift, ..self }
    }

    /// Which contact this is, from step to step. Contacts with bodies come after all others.
    #[inline(always)]
    pub(super) fn key(&self) -> u64 {
        let body = u64::from(self.with_body()) << 63;
        body | u64::from(self.first) << 32 | u64::from(self.second & !BODY)
    }

    /// Whether this is a contact with a body.
    #[inline(always)]
    pub(super) fn with_body(&self) -> bool {
        self.second & BODY != 0
    }

    /// The vertices it acts on: two of each edge, or twice those of the first.
    #[inline(always)]
    pub(super) fn vertices(&self) -> [u32; 4] {
        let second = if self.with_body() { self.first } else { self.second };
        [self.first, self.first + 1, second, second + 1]
    }

    /// Their shares of the point of contact; negative for the second edge, 0 where there is none.
    #[inline(always)]
    pub(super) fn shares(&self) -> [f32; 4] {
        let side = if self.with_body() { 0.0 } else { -1.0 };
        [1.0 - self.s, self.s, (1.0 - self.t) * side, self.t * side]
    }

    /// The force that it exerts on its first side [N].
    pub(super) fn force(&self) -> Vec3 {
        self.correction * self.stiffness
    }

    /// The same with its force [N] as `correction`: what a projection takes.
    pub(super) fn carrying_force(self) -> Self {
        Self { correction: self.force(), ..self }
    }

    /// The same, back again, for vertices with `ease` = 1 / W [m/N].
    pub(super) fn taking_force(&self, ease: &[f32]) -> Self {
        let compliance = self.compliance(ease);
        Self { stiffness: 1.0 / compliance, correction: self.correction * compliance, ..*self }
    }

    /// D̂, how far its sides part for each newton that pushes them [m/N].
    fn compliance(&self, ease: &[f32]) -> f32 {
        let mut compliance = 0.0;
        for (vertex, share) in self.vertices().into_iter().zip(self.shares()) {
            compliance += share * share * ease[vertex as usize];
        }
        compliance
    }

    /// Whether its vertices can do anything about it. Beside what is held a contact has hardly a lever: they would have to fly off
    /// to part it.
    pub(super) fn moves(&self, ease: &[f32]) -> bool {
        let compliance = self.compliance(ease);
        let mut moves = compliance > 0.0;
        for (vertex, share) in self.vertices().into_iter().zip(self.shares()) {
            moves &= share.abs() * ease[vertex as usize] <= LARGEST_LEVER * compliance;
        }
        moves
    }

    /// The relative displacement of its two sides for displacements of the vertices [m].
    #[inline(always)]
    pub(super) fn relative(&self, moved: &[Vec3A]) -> Vec3A {
        let [a, b, c, d] = self.vertices();
        let [p, q, r, s] = self.shares();
        moved[a as usize] * p + moved[b as usize] * q + moved[c as usize] * r + moved[d as usize] * s
    }

    /// Solves this contact alone, with its two sides displaced by `relative` [m]: `(u, r)` obeys Coulomb's law with `u = u* + Δ`,
    /// `r̃ = r̃* + Δ` (Daviet 2020, section 5.2). Returns the change of its force, Δ / D̂ [N].
    #[inline(always)]
    pub(super) fn solve(&mut self, relative: Vec3A) -> Vec3A {
        let (normal, before) = (Vec3A::from(self.normal), Vec3A::from(self.correction));
        let free = relative + Vec3A::from(self.offset) - before;
        // Which contacts push changes all the time: nothing here waits for a guess.
        let pressure = (-normal.dot(free)).max(0.0);
        let hold = free - normal * normal.dot(free);
        let share = (self.friction * pressure / hold.length().max(f32::MIN_POSITIVE)).min(1.0);
        let correction = normal * pressure - hold * share;
        self.correction = correction.into();
        (correction - before) * self.stiffness
    }
}
