//! How the space around each guide moves with it.

use std::f32::consts::{FRAC_1_SQRT_2, SQRT_2};

use glam::{Mat3, Quat, Vec3};
use rayon::prelude::*;

use super::Curves;
use super::lanes::{Maps, NUMBERS, rows};
use super::nearest::PointTree;
use super::plan::coordinate_at;
use super::smooth::{reach_without_curls, smooth};
use crate::math::lanes::{Row, WIDTH};

/// Guides around a guide whose roots tell how the scalp turns.
const NEIGHBOURS: usize = 8;
/// A slot within this part of an edge from a vertex counts as lying on it.
const ON_VERTEX: f32 = 1e-4;

/// Guides at rest, sampled at slots of even arc-length fraction.
#[derive(Debug, Clone)]
pub(super) struct RestGuides {
    pub(super) curves: Curves,
    /// Slots on each guide.
    pub(super) slots: usize,
    /// Fractional vertex index of each slot, guide after guide.
    coordinates: Vec<f32>,
    /// Direction of the edge behind each point of the paths; none where it has no length.
    directions: Vec<Option<Vec3>>,
    /// The path of each guide without its curls, point by point [m], and the reach of the averages that took them
    /// away. Curls of a guide turn the space around it to and fro; a guide that loses them must not frizz the
    /// strands that follow it.
    paths: Vec<Vec3>,
    pub(super) reaches: Vec<usize>,
    neighbours: Vec<[u32; NEIGHBOURS]>,
}

impl RestGuides {
    /// Every guide must have two vertices or more, and there must be two slots or more.
    pub(super) fn new(curves: &Curves, slots: usize) -> Self {
        let mut coordinates = Vec::with_capacity(slots * curves.strands());
        for (index, strand) in curves.iter().enumerate() {
            let length = curves.length(index);
            let (mut edge, mut start) = (0, 0.0);
            for slot in 0..slots {
                let target = length * slot as f32 / (slots - 1) as f32;
                let coordinate;
                (coordinate, edge, start) = coordinate_at(strand, target, edge, start);
                let vertex = coordinate.round();
                coordinates.push(if (coordinate - vertex).abs() < ON_VERTEX { vertex } else { coordinate });
            }
        }
        let reaches: Vec<usize> = curves.iter().map(reach_without_curls).collect();
        let (mut paths, mut sums, mut path) = (Vec::new(), Vec::new(), Vec::new());
        let mut directions = Vec::new();
        for (strand, &reach) in curves.iter().zip(&reaches) {
            smooth(strand, reach, &mut sums, &mut path);
            directions.extend(path.windows(2).map(|edge| (edge[1] - edge[0]).try_normalize()));
            directions.push(None);
            paths.extend_from_slice(&path);
        }
        let roots = curves.root_points();
        let tree = PointTree::new(&roots);
        let neighbours = roots
            .par_iter()
            .zip(0u32..roots.len() as u32)
            .map(|(&root, own)| {
                // The guide itself is among its nearest; it stands for absent neighbours, and adds nothing.
                let mut found = tree.nearest::<NEIGHBOURS>(root);
                found.iter_mut().filter(|entry| entry.1.is_infinite()).for_each(|entry| entry.0 = own);
                found.map(|(index, _)| index)
            })
            .collect();
        Self { curves: curves.clone(), slots, coordinates, directions, paths, reaches, neighbours }
    }

    /// The maps from rest to posed space, guide after guide; slot by slot too if `slots` is set.
    pub(super) fn maps(&self, posed: &[Vec3], slots: bool, maps: &mut Maps) {
        let rows = rows(self.slots);
        maps.rows.resize(rows * self.curves.strands(), [Row::default(); NUMBERS]);
        self.find_maps(posed, &mut maps.rows);
        if slots {
            maps.slots.resize(self.slots * self.curves.strands(), [Row::default(); 2]);
            let guides = maps.slots.par_chunks_mut(self.slots).zip(maps.rows.par_chunks(rows));
            guides.with_min_len(16).for_each(|(slots, rows)| {
                for (slot, map) in slots.iter_mut().enumerate() {
                    let (row, lane) = (&rows[slot / WIDTH], slot % WIDTH);
                    let [x, y, z, w, shift @ ..] = row.each_ref().map(|numbers| numbers.0[lane]);
                    let rotation = Mat3::from_quat(Quat::from_xyzw(x, y, z, w) * FRAC_1_SQRT_2);
                    let Mat3 { x_axis, y_axis, z_axis } = rotation;
                    let vectors = [x_axis, y_axis, z_axis, Vec3::from_array(shift)];
                    for (vector, numbers) in vectors.into_iter().enumerate() {
                        map[vector / 2].0[4 * (vector % 2)..][..3].copy_from_slice(&numbers.to_array());
                    }
                }
            });
        }
    }

    fn find_maps(&self, posed: &[Vec3], maps: &mut [[Row; NUMBERS]]) {
        maps.par_chunks_mut(rows(self.slots))
            .zip(self.coordinates.par_chunks(self.slots))
            .enumerate()
            .with_min_len(16)
            .for_each_init(Default::default, |scratch, (guide, (maps, coordinates))| {
                let (rotations, sums, moved): &mut (Vec<Quat>, Vec<Vec3>, Vec<Vec3>) = scratch;
                let rest = &self.paths[self.curves.range(guide)];
                smooth(&posed[self.curves.range(guide)], self.reaches[guide], sums, moved);
                let directions = &self.directions[self.curves.range(guide)];
                vertex_rotations(directions, moved, self.root_rotation(guide, posed), rotations);
                for (slot, &coordinate) in coordinates.iter().enumerate() {
                    let vertex = (coordinate as usize).min(rest.len() - 1);
                    let t = coordinate - vertex as f32;
                    let (mut turn, mut from, mut to) = (rotations[vertex], rest[vertex], moved[vertex]);
                    if t > 0.0 && vertex + 1 < rest.len() {
                        turn = turn.lerp(rotations[vertex + 1], t);
                        from = from.lerp(rest[vertex + 1], t);
                        to = to.lerp(moved[vertex + 1], t);
                    }
                    let (shift, scaled) = (to - turn * from, turn * SQRT_2);
                    let numbers = [scaled.x, scaled.y, scaled.z, scaled.w, shift.x, shift.y, shift.z];
                    for (row, number) in maps[slot / WIDTH].iter_mut().zip(numbers) {
                        row.0[slot % WIDTH] = number;
                    }
                }
            });
    }

    /// How the scalp turned at the root of `guide`: the rotation that takes the first edge along, and around
    /// it the angle that best fits the neighbouring roots (a guide alone does not show how it turns about
    /// itself).
    fn root_rotation(&self, guide: usize, posed: &[Vec3]) -> Quat {
        let start = |index: usize| self.curves.offsets[index] as usize;
        let (rest, own) = (&self.curves.points, start(guide));
        let edge = |points: &[Vec3]| (points[own + 1] - points[own]).try_normalize();
        let (Some(from), Some(to)) = (edge(rest), edge(posed)) else { return Quat::IDENTITY };
        let along = Quat::from_rotation_arc(from, to);
        let turn = Mat3::from_quat(along);
        let (mut sine, mut cosine) = (0.0, 0.0);
        for &neighbour in &self.neighbours[guide] {
            let other = start(neighbour as usize);
            let before = turn * (rest[other] - rest[own]);
            let after = posed[other] - posed[own];
            let (before, after) = (before.reject_from_normalized(to), after.reject_from_normalized(to));
            sine += to.dot(before.cross(after));
            cosine += before.dot(after);
        }
        let size = (sine * sine + cosine * cosine).sqrt();
        if size < 1e-20 {
            return along;
        }
        // Twice the half angle's sine and cosine, times the cosine, or times the sine where the angle is near half a turn.
        let (across, own) = if cosine > 0.0 { (sine, size + cosine) } else { (size - cosine, sine) };
        (Quat::from_xyzw(across * to.x, across * to.y, across * to.z, own) * along).normalize()
    }
}

/// The rotation from rest to posed at each vertex of a guide: that of the scalp at the root, transported along
/// the guide without twist, edge by edge, and averaged at the vertices. `rest` has the directions of the edges at rest.
fn vertex_rotations(rest: &[Option<Vec3>], moved: &[Vec3], root: Quat, rotations: &mut Vec<Quat>) {
    rotations.clear();
    let (mut rotation, mut before) = (root, root);
    for (edge, ends) in moved.windows(2).enumerate() {
        if let (Some(from), Some(to)) = (rest[edge], (ends[1] - ends[0]).try_normalize()) {
            rotation = turned_towards(rotation, from, to);
        }
        rotations.push(if edge == 0 { rotation } else { before.lerp(rotation, 0.5) });
        before = rotation;
    }
    rotations.push(rotation);
}

/// A rotation followed by the shortest turn that then takes `from` to `to`.
fn turned_towards(rotation: Quat, from: Vec3, to: Vec3) -> Quat {
    let from = rotation * from;
    let (axis, cosine) = (from.cross(to), from.dot(to));
    if cosine < -0.999 {
        return (Quat::from_rotation_arc(from.normalize(), to) * rotation).normalize();
    }
    // Twice the half angle's sine and cosine, times its cosine: one normalisation is enough for all.
    (Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + cosine) * rotation).normalize()
}
