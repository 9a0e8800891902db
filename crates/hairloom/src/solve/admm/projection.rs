//! Feasible contact projection (section 4.5 of the paper): displacements that obey Coulomb's law.
//!
//! Contacts between strands are split into eight batches; two more hold the contacts of every other edge with bodies.
//! Batches follow one another as in Gauss–Seidel; within a batch all contacts are solved side by side, each as if its
//! vertices had only their share of weight (mass splitting). Every sum is taken in a fixed order, so the result does
//! not hang on the number of threads.
//!
//! The force `r` of a contact is kept as the displacement `r̃ = D̂ r`, with `D̂` the sum of `n h² / W` over its
//! vertices. What contacts add to a vertex in all is `push = W⁻¹ Hᵀ r`: after a projection that *is* the multiplier λ of
//! the splitting, so no second array holds it, and each projection starts from `z = x − λ + W⁻¹ Hᵀ r = x`.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::touch::Touch;

/// How many batches of contacts between strands follow one another.
const BATCHES: usize = 8;
/// Vertices that one task moves.
const BLOCK: usize = 4096;
/// Contacts that one task solves, at least.
const TOUCHES_PER_TASK: usize = 2048;

/// A contact's part in the motion of one vertex.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// The contact, counted within its batch.
    touch: u32,
    /// Its share of the vertex over the vertex's weight, h / W [m/N].
    weight: f32,
}

/// Contacts that are solved side by side.
#[derive(Debug, Default)]
struct Batch {
    /// The contacts, sorted by key.
    touches: Vec<Touch>,
    /// By how much their forces change in the sweep under way [N].
    changes: Vec<Vec3A>,
    /// Vertices that the batch moves, and where their parts end.
    vertices: Vec<(u32, u32)>,
    parts: Vec<Part>,
    /// Where the vertices of each block begin in `vertices`, and the end.
    blocks: Vec<u32>,
    /// How many parts each vertex has, then where they begin.
    counts: Vec<u32>,
}

/// All contacts of a step, ready for projection.
#[derive(Debug, Default)]
pub(super) struct Projection {
    batches: [Batch; BATCHES],
    /// Contacts of even and of odd edges with bodies: edges of a batch share no vertex.
    bodies: [Batch; 2],
    /// The batch of each contact between strands, in the order of keys.
    batch_of: Vec<u8>,
    /// For each vertex how many contacts it has in each batch.
    load: Vec<[u8; BATCHES]>,
}

impl Projection {
    /// Takes new contacts between strands, sorted by key, with the forces that they bring along as `touch.correction`
    /// [N]. `ease` is 1 / W of each vertex [m/N], 0 where it is held.
    pub(super) fn set_pairs(&mut self, touches: &[Touch], ease: &[f32]) {
        self.split(touches, ease.len());
        let batch_of = &self.batch_of;
        self.batches.par_iter_mut().enumerate().for_each(|(index, batch)| {
            let own = batch_of.iter().zip(touches).filter(|(batch, _)| **batch as usize == index);
            batch.touches.clear();
            batch.touches.extend(own.map(|(_, touch)| *touch));
            batch.assemble(ease);
        });
    }

    /// The same for contacts with bodies.
    pub(super) fn set_bodies(&mut self, touches: &[Touch], ease: &[f32]) {
        for (parity, batch) in self.bodies.iter_mut().enumerate() {
            let own = touches.iter().filter(|touch| touch.vertices()[0] as usize % 2 == parity);
            batch.touches.clear();
            batch.touches.extend(own);
            batch.assemble(ease);
        }
    }

    /// Writes W⁻¹ Hᵀ r, what all contacts add to the vertices, into `push` [m].
    pub(super) fn sum_up(&mut self, push: &mut [Vec3A]) {
        push.par_iter_mut().with_min_len(BLOCK).for_each(|push| *push = Vec3A::ZERO);
        for batch in self.batches_mut() {
            let touches = batch.touches.par_iter().zip(&mut batch.changes).with_min_len(TOUCHES_PER_TASK);
            touches.for_each(|(touch, change)| *change = touch.force().into());
            batch.apply(push);
        }
    }

    /// One sweep over all contacts: moves vertices to where their contacts allow them to be, one batch after the other.
    pub(super) fn sweep(&mut self, moved: &mut [Vec3A]) {
        for batch in self.batches_mut() {
            let before = &*moved;
            let touches = batch.touches.par_iter_mut().zip(&mut batch.changes).with_min_len(TOUCHES_PER_TASK);
            touches.for_each(|(touch, change)| *change = touch.solve(before));
            batch.apply(moved);
        }
    }

    /// Forgets the forces, not the contacts.
    pub(super) fn let_go(&mut self) {
        for batch in self.batches_mut() {
            batch.touches.par_iter_mut().for_each(|touch| touch.correction = Vec3::ZERO);
        }
    }

    /// How many contacts there are.
    pub(super) fn count(&self) -> usize {
        self.batch_of.len() + self.bodies().count()
    }

    /// Contacts between strands, sorted by key.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &Touch> {
        let mut rest = self.batches.each_ref().map(|batch| batch.touches.iter());
        self.batch_of.iter().filter_map(move |&batch| rest[batch as usize].next())
    }

    /// Contacts with bodies, those of even edges first.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &Touch> {
        self.bodies.iter().flat_map(|batch| &batch.touches)
    }

    fn batches_mut(&mut self) -> impl Iterator<Item = &mut Batch> {
        let batches = self.batches.iter_mut().chain(&mut self.bodies);
        batches.filter(|batch| !batch.touches.is_empty())
    }

    /// Chooses the batch of each contact: where its vertices have the fewest yet.
    fn split(&mut self, touches: &[Touch], vertices: usize) {
        self.load.clear();
        self.load.resize(vertices, [0; BATCHES]);
        self.batch_of.clear();
        let load = &mut self.load;
        let choose = |touch: &Touch| {
            let vertices = touch.vertices();
            let mut most = load[vertices[0] as usize];
            for &vertex in &vertices[1..] {
                most.iter_mut().zip(&load[vertex as usize]).for_each(|(most, &load)| *most = load.max(*most));
            }
            // The least in the high bits, its place in the low ones.
            let places = most.iter().enumerate().map(|(batch, &count)| u16::from(count) << 3 | batch as u16);
            let batch = places.min().unwrap_or(0) & 7;
            for vertex in vertices {
                let load = &mut load[vertex as usize][batch as usize];
                *load = load.saturating_add(1);
            }
            batch as u8
        };
        self.batch_of.extend(touches.iter().map(choose));
    }
}

impl Batch {
    /// Lists the parts of all contacts by vertex, and finds the contacts' stiffness; forces become corrections.
    fn assemble(&mut self, ease: &[f32]) {
        let Self { touches, changes, vertices, parts, blocks, counts } = self;
        changes.resize(touches.len(), Vec3A::ZERO);
        counts.clear();
        counts.resize(ease.len(), 0);
        let moves = |vertex: u32, share: f32| share != 0.0 && ease[vertex as usize] > 0.0;
        for touch in &*touches {
            for (vertex, share) in touch.vertices().into_iter().zip(touch.shares()) {
                counts[vertex as usize] += u32::from(moves(vertex, share));
            }
        }
        for touch in &mut *touches {
            let mut compliance = 0.0;
            for (vertex, share) in touch.vertices().into_iter().zip(touch.shares()) {
                compliance += counts[vertex as usize] as f32 * share * share * ease[vertex as usize];
            }
            touch.stiffness = 1.0 / compliance;
            touch.correction *= compliance;
        }
        vertices.clear();
        blocks.clear();
        let mut sum = 0;
        for (vertex, count) in counts.iter_mut().enumerate() {
            if vertex % BLOCK == 0 {
                blocks.push(vertices.len() as u32);
            }
            if *count > 0 {
                vertices.push((vertex as u32, sum + *count));
            }
            (*count, sum) = (sum, sum + *count);
        }
        blocks.push(vertices.len() as u32);
        parts.resize(sum as usize, Part::default());
        for (index, touch) in touches.iter().enumerate() {
            for (vertex, share) in touch.vertices().into_iter().zip(touch.shares()) {
                if moves(vertex, share) {
                    let place = &mut counts[vertex as usize];
                    let weight = share * ease[vertex as usize];
                    parts[*place as usize] = Part { touch: index as u32, weight };
                    *place += 1;
                }
            }
        }
    }

    /// Where the parts of a block's vertices begin, and its vertices.
    #[inline(always)]
    fn block(&self, block: usize) -> (u32, &[(u32, u32)]) {
        let (Some(&begin), Some(&end)) = (self.blocks.get(block), self.blocks.get(block + 1)) else {
            return (0, &[]);
        };
        let first = if begin == 0 { 0 } else { self.vertices[begin as usize - 1].1 };
        (first, &self.vertices[begin as usize..end as usize])
    }

    /// Moves each vertex as the changes of its contacts' forces want it.
    fn apply(&self, moved: &mut [Vec3A]) {
        moved.par_chunks_mut(BLOCK).enumerate().for_each(|(block, moved)| {
            let (mut begin, vertices) = self.block(block);
            for &(vertex, end) in vertices {
                let mut sum = Vec3A::ZERO;
                for part in &self.parts[begin as usize..end as usize] {
                    sum += self.changes[part.touch as usize] * part.weight;
                }
                moved[vertex as usize - block * BLOCK] += sum;
                begin = end;
            }
        });
    }
}
