//! Strands meet on a grid: what their rods are going to do becomes a force on every vertex (section 3.1.2), the grid adds the stress of
//! hair as a granular material, and moves the vertices (equations 4 to 11).
//!
//! Nodes get the momentum of equation 11. Of the force of its rod a vertex takes a share ([`Params::direct`]) by itself, and so what
//! the grid cannot represent of it, too; the paper takes none. Forces that hold a segment at its length come in opposite pairs, which cancel on
//! nodes that see both ends.

use glam::{Mat3, Vec3};
use rayon::prelude::*;

use super::Params;
use super::pack::{Pack, get_vector, set_vector};
use crate::body::Obstacles;
use crate::grid::{GridError, GridParams, Material, MpmGrid, Particles, Point};
use crate::math::{Stored, Symmetric3};
use crate::scene::Model;
use crate::solve::{Checkpoint, CheckpointError};

/// The vertices as material points.
#[derive(Debug, Clone)]
pub(super) struct Coupling {
    grid: MpmGrid,
    particles: Particles,
    params: GridParams,
    forces: Vec<Vec3>,
    /// Share of the rods' forces that vertices take by themselves.
    direct: f64,
}

impl Coupling {
    /// Hair that rests as its model does.
    pub(super) fn new(model: &Model, held: &[bool], params: &Params) -> Self {
        let mut particles = Particles::default();
        for strand in 0..model.strands() {
            let density = model.material(strand).density as f32;
            for vertex in model.range(strand) {
                let mass = model.masses[vertex];
                particles.push(model.groomed[vertex].as_dvec3(), mass, mass / density);
                particles.point_mut(vertex).pinned = held[vertex];
            }
        }
        let mut coupling = Self {
            grid: MpmGrid::default(),
            particles,
            params: params.grid(model),
            forces: vec![Vec3::ZERO; model.vertices()],
            direct: params.direct_of(model),
        };
        coupling.relax(model);
        coupling
    }

    /// Notes where vertices are and how they move before their rods take a step.
    pub(super) fn begin<S: Stored>(&mut self, packs: &[Pack<S>], offsets: &[u32]) {
        for pack in packs {
            for (lane, strand) in pack.lanes() {
                let start = offsets[strand] as usize;
                for vertex in 0..pack.counts[lane] as usize {
                    self.particles.positions[start + vertex] = pack.position(lane, vertex);
                    self.particles.velocities[start + vertex] =
                        get_vector(&pack.moving[vertex].velocity, lane).as_vec3();
                }
            }
        }
    }

    /// Takes the step that the rods have predicted over the grid, and moves the vertices of the packs.
    pub(super) fn step<S: Stored>(
        &mut self,
        packs: &mut [Pack<S>],
        offsets: &[u32],
        obstacles: &Obstacles<'_>,
        margin: f64,
        dt: f64,
    ) -> Result<(), GridError> {
        for pack in packs.iter() {
            for (lane, strand) in pack.lanes() {
                let start = offsets[strand] as usize;
                for vertex in 0..pack.counts[lane] as usize {
                    let predicted = get_vector(&pack.moving[vertex].velocity, lane);
                    let point = self.particles.point(start + vertex);
                    if point.pinned {
                        self.particles.velocities[start + vertex] = predicted.as_vec3();
                        continue;
                    }
                    let mass = f64::from(point.mass);
                    let old = self.particles.velocities[start + vertex].as_dvec3();
                    let own = old.lerp(predicted, self.direct);
                    self.particles.velocities[start + vertex] = own.as_vec3();
                    self.forces[start + vertex] = ((predicted - own) * (mass / dt)).as_vec3();
                }
            }
        }
        let (particles, params) = (&mut self.particles, &self.params);
        self.grid.step(particles, &self.forces, params, obstacles, margin as f32, dt as f32)?;
        let particles = &self.particles;
        packs.par_iter_mut().for_each(|pack| {
            for (lane, strand) in pack.lanes() {
                let start = offsets[strand] as usize;
                for vertex in 0..pack.counts[lane] as usize {
                    if !particles.point(start + vertex).pinned {
                        pack.set_position(lane, vertex, particles.positions[start + vertex]);
                        let velocity = particles.velocities[start + vertex].as_dvec3();
                        set_vector(&mut pack.moving[vertex].velocity, lane, velocity);
                    }
                }
            }
        });
        Ok(())
    }

    /// Vertices under stress.
    pub(super) fn stressed(&self) -> u64 {
        let points = (0..self.particles.len()).map(|vertex| self.particles.point(vertex));
        points.filter(|point| point.stress != Symmetric3::zero()).count() as u64
    }

    /// Takes all strain and rotation out of the hair as a material, but for what it rests with.
    pub(super) fn relax(&mut self, model: &Model) {
        let Material::Sand(grains) = self.params.material else { return };
        for vertex in 0..self.particles.len() {
            let point = self.particles.point_mut(vertex);
            let unstrained = Point { mass: point.mass, volume: point.volume, ..Point::default() };
            *point = Point { pinned: point.pinned, ..unstrained };
            if let Some(rest) = &model.rest {
                let [xx, xy, xz, yy, yz, zz] =
                    rest.stresses[vertex].map(|work| work / f64::from(point.volume));
                let strain = grains.strain_of(Symmetric3 { xx, xy, yy, xz, yz, zz });
                point.strain = Symmetric3 {
                    xx: strain.xx as f32,
                    xy: strain.xy as f32,
                    yy: strain.yy as f32,
                    xz: strain.xz as f32,
                    yz: strain.yz as f32,
                    zz: strain.zz as f32,
                };
            }
            self.particles.set_affine(vertex, Mat3::ZERO);
        }
        self.particles.refresh_stresses(&self.params.material);
    }

    /// Writes columns.
    pub(super) fn save(&self, out: &mut Checkpoint) {
        let mut values = Vec::with_capacity(22 * self.particles.len());
        for vertex in 0..self.particles.len() {
            let point = self.particles.point(vertex);
            for part in [point.strain, point.stress] {
                values.extend([part.xx, part.xy, part.yy, part.xz, part.yz, part.zz]);
            }
            values.push(point.gain);
            values.extend(self.particles.affine(vertex).to_cols_array());
        }
        out.put("grains", values);
    }

    /// Reads columns.
    pub(super) fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let values = from.take::<f32>("grains", 22 * self.particles.len())?;
        let symmetric = |v: &[f32]| Symmetric3 { xx: v[0], xy: v[1], yy: v[2], xz: v[3], yz: v[4], zz: v[5] };
        for (vertex, values) in values.chunks_exact(22).enumerate() {
            let point = self.particles.point_mut(vertex);
            (point.strain, point.stress) = (symmetric(values), symmetric(&values[6..]));
            point.gain = values[12];
            self.particles.set_affine(vertex, Mat3::from_cols_slice(&values[13..]));
        }
        Ok(())
    }
}
