//! Feasible contact projection (section 4.5 of the paper): displacements that obey Coulomb's law.
//!
//! Contacts are split into eight batches. Batches follow one another as in Gauss–Seidel; within a batch all contacts
//! are solved side by side, each as if its vertices had only their share of weight (mass splitting). Every sum is
//! taken in a fixed order, so the result does not hang on the number of threads.
//!
//! The force `r` of a contact is kept as the displacement `r̃ = D̂ r`, with `D̂` the sum of `n h² / W` over its
//! vertices. What contacts add to a vertex in all is `push = W⁻¹ Hᵀ r`: after a projection that *is* the multiplier λ of
//! the splitting, so no second array holds it, and each projection starts from `z = x − λ + W⁻¹ Hᵀ r = x`.

use glam::Vec3;
use rayon::prelude::*;

/// How many batches follow one another.
const BATCHES: usize = 8;

/// A contact as the projection sees it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Touch {
    /// Which contact this is, from step to step.
    pub key: u64,
    /// The vertices it acts on: two of each edge, or two of one edge against a body.
    pub vertices: [u32; 4],
    /// Their shares of the point of contact; negative for the second edge, 0 where there is none.
    pub shares: [f32; 4],
    /// Unit normal, away from the second edge or the body.
    pub normal: Vec3,
    /// Gap that there would be if no vertex moved during the step [m].
    pub gap: f32,
    /// How far the body's surface moves during the step [m].
    pub drift: Vec3,
    /// Coulomb's coefficient.
    pub friction: f32,
    /// r̃: the correction applied so far [m].
    pub correction: Vec3,
    /// 1 / D̂ [N/m].
    pub stiffness: f32,
}

impl Touch {
    /// The force that it exerts on its first side [N].
    pub(super) fn force(&self) -> Vec3 {
        self.correction * self.stiffness
    }

    /// Whether any of its vertices can move.
    pub(super) fn moves(&self, ease: &[f32]) -> bool {
        let mut vertices = self.vertices.iter().zip(&self.shares);
        vertices.any(|(&vertex, &share)| share != 0.0 && ease[vertex as usize] > 0.0)
    }

    /// The relative displacement of its two sides for displacements of the vertices [m].
    #[inline(always)]
    pub(super) fn relative(&self, moved: &[Vec3]) -> Vec3 {
        let [a, b, c, d] = self.vertices.map(|vertex| moved[vertex as usize]);
        a * self.shares[0] + b * self.shares[1] + c * self.shares[2] + d * self.shares[3]
    }

    /// Solves this contact alone: `(u, r)` obeys Coulomb's law with `u = u* + Δ`, `r̃ = r̃* + Δ` (Daviet 2020,
    /// section 5.2). Returns Δ.
    #[inline(always)]
    fn solve(&mut self, moved: &[Vec3]) -> Vec3 {
        let displacement = self.relative(moved);
        let open = self.gap + self.normal.dot(displacement);
        let sliding = displacement - self.drift;
        let sliding = sliding - self.normal * self.normal.dot(sliding);
        let free = self.normal * open + sliding - self.correction;
        let pressure = -self.normal.dot(free);
        let correction = if pressure <= 0.0 {
            Vec3::ZERO
        } else {
            let hold = -(free + self.normal * pressure);
            let (limit, size) = (self.friction * pressure, hold.length());
            let share = if size > limit { limit / size } else { 1.0 };
            self.normal * pressure + hold * share
        };
        let change = correction - self.correction;
        self.correction = correction;
        change
    }
}

/// A contact's part in the motion of one vertex.
#[derive(Debug, Clone, Copy)]
struct Part {
    touch: u32,
    share: f32,
}

/// Which contacts of a batch move which vertices.
#[derive(Debug, Clone, Default)]
struct Batch {
    /// Vertices that the batch touches, and where their parts end.
    vertices: Vec<(u32, u32)>,
    parts: Vec<Part>,
}

/// All contacts of a step, ready for projection.
#[derive(Debug, Default)]
pub(super) struct Projection {
    /// The contacts, batch after batch, sorted by key within each.
    pub touches: Vec<Touch>,
    /// Where each batch ends in `touches`.
    ends: [usize; BATCHES],
    batches: [Batch; BATCHES],
    /// Corrections of the batch under way, times their stiffness [N].
    changes: Vec<Vec3>,
}

impl Projection {
    /// Takes a new set of contacts, with the forces they bring along as `touch.correction` [N]. `ease` is 1 / W of
    /// each vertex [m/N], 0 where it is held. Writes W⁻¹ Hᵀ r into `push`.
    pub(super) fn set(&mut self, mut touches: Vec<Touch>, ease: &[f32], push: &mut [Vec3]) {
        touches.par_sort_unstable_by_key(|touch| touch.key);
        let batch_of = split(&touches, ease.len());
        self.ends = [0; BATCHES];
        batch_of.iter().for_each(|&batch| self.ends[batch as usize] += 1);
        let mut start = 0;
        for end in &mut self.ends {
            start += *end;
            *end = start;
        }
        let order = |wanted: usize| {
            let batch_of = &batch_of;
            let touches = &touches;
            (0..touches.len()).filter(move |&i| batch_of[i] as usize == wanted).map(move |i| touches[i])
        };
        self.touches = (0..BATCHES).flat_map(order).collect();
        let mut rest = self.touches.as_mut_slice();
        let mut lists = Vec::with_capacity(BATCHES);
        let mut begin = 0;
        for end in self.ends {
            lists.push(rest.split_off_mut(..end - begin).unwrap_or_default());
            begin = end;
        }
        self.batches.par_iter_mut().zip(lists).for_each(|(batch, touches)| batch.gather(touches, ease));
        self.changes.resize(self.touches.len(), Vec3::ZERO);
        // Forces become corrections, and move their vertices.
        push.par_iter_mut().with_min_len(4096).for_each(|push| *push = Vec3::ZERO);
        let mut begin = 0;
        for (batch, &end) in self.batches.iter().zip(&self.ends) {
            let (touches, changes) = (&mut self.touches[begin..end], &mut self.changes[begin..end]);
            touches.par_iter_mut().zip(&mut *changes).with_min_len(1024).for_each(|(touch, change)| {
                *change = touch.correction;
                touch.correction /= touch.stiffness;
            });
            batch.apply(changes, ease, &mut [push]);
            begin = end;
        }
    }

    /// One sweep over all contacts: moves `moved` and what contacts add to it, `push`.
    pub(super) fn sweep(&mut self, ease: &[f32], moved: &mut [Vec3], push: &mut [Vec3]) {
        let mut begin = 0;
        for (batch, &end) in self.batches.iter().zip(&self.ends) {
            let (touches, changes) = (&mut self.touches[begin..end], &mut self.changes[begin..end]);
            let solved = touches.par_iter_mut().zip(&mut *changes).with_min_len(1024);
            solved.for_each(|(touch, change)| *change = touch.solve(moved) * touch.stiffness);
            batch.apply(changes, ease, &mut [moved, push]);
            begin = end;
        }
    }
}

/// The batch of each contact: where its vertices have the fewest yet.
fn split(touches: &[Touch], vertices: usize) -> Vec<u8> {
    let mut load = vec![[0_u8; BATCHES]; vertices];
    let choose = |touch: &Touch| {
        let mut most = [0_u8; BATCHES];
        for (&vertex, &share) in touch.vertices.iter().zip(&touch.shares) {
            if share != 0.0 {
                most.iter_mut().zip(&load[vertex as usize]).for_each(|(most, &load)| *most = load.max(*most));
            }
        }
        let least = most.iter().min().copied().unwrap_or(0);
        let batch = most.iter().position(|&count| count == least).unwrap_or(0);
        for (&vertex, &share) in touch.vertices.iter().zip(&touch.shares) {
            if share != 0.0 {
                let load = &mut load[vertex as usize][batch];
                *load = load.saturating_add(1);
            }
        }
        batch as u8
    };
    touches.iter().map(choose).collect()
}

impl Batch {
    /// Lists the parts of all contacts by vertex, and finds the contacts' stiffness.
    fn gather(&mut self, touches: &mut [Touch], ease: &[f32]) {
        let mut list: Vec<(u32, Part)> = Vec::with_capacity(4 * touches.len());
        for (index, touch) in touches.iter().enumerate() {
            for (&vertex, &share) in touch.vertices.iter().zip(&touch.shares) {
                if share != 0.0 && ease[vertex as usize] > 0.0 {
                    list.push((vertex, Part { touch: index as u32, share }));
                }
            }
        }
        // Stable: parts of a vertex stay in the order of their contacts.
        list.sort_by_key(|(vertex, _)| *vertex);
        self.vertices.clear();
        self.parts.clear();
        for (vertex, part) in list {
            match self.vertices.last_mut() {
                Some(last) if last.0 == vertex => last.1 += 1,
                _ => self.vertices.push((vertex, self.parts.len() as u32 + 1)),
            }
            self.parts.push(part);
        }
        let mut compliance = vec![0.0_f32; touches.len()];
        let mut begin = 0;
        for &(vertex, end) in &self.vertices {
            let count = (end - begin) as f32;
            for part in &self.parts[begin as usize..end as usize] {
                compliance[part.touch as usize] += count * part.share * part.share * ease[vertex as usize];
            }
            begin = end;
        }
        for (touch, compliance) in touches.iter_mut().zip(compliance) {
            touch.stiffness = 1.0 / compliance;
        }
    }

    /// Adds to each vertex of each field what its contacts' changes [N] move it by.
    fn apply(&self, changes: &[Vec3], ease: &[f32], fields: &mut [&mut [Vec3]]) {
        let moves: Vec<Vec3> = (0..self.vertices.len())
            .into_par_iter()
            .with_min_len(1024)
            .map(|k| {
                let begin = if k == 0 { 0 } else { self.vertices[k - 1].1 };
                let (vertex, end) = self.vertices[k];
                let parts = &self.parts[begin as usize..end as usize];
                let force: Vec3 = parts.iter().map(|part| changes[part.touch as usize] * part.share).sum();
                force * ease[vertex as usize]
            })
            .collect();
        for (&(vertex, _), change) in self.vertices.iter().zip(moves) {
            for field in fields.iter_mut() {
                field[vertex as usize] += change;
            }
        }
    }
}
