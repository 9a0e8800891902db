//! The hairstyles of table 1 of Hsu et al. 2023, made by code at the same sizes.

use std::f32::consts::TAU;

use glam::{DVec3, Vec3};

use super::Medium;
use crate::figure;
use crate::groom::{Clumps, Curl, Curves, Groom, GrowError, Preset, Root, Style, Surface, grow};
use crate::math::Random;

/// Diameter of a strand where no style says it [m].
const WIDTH: f32 = 8e-5;

/// A hairstyle of table 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hairstyle {
    /// A sheaf of strands that lies across another one; 32 × 16.
    Drape,
    /// To the shoulders; 256 × 16.
    Middle,
    /// Short, all over the head; 256 × 16.
    Short,
    /// A round cloud; 256 × 16.
    Afro,
    /// Long waves; 512 × 16.
    Long,
    /// Ringlets of 32 vertices on this many strands; 1,024 in the table.
    CurlyWig {
        /// How many strands.
        strands: u32,
    },
    /// One yarn of 1,024 vertices, knitted to a swatch of 9 × 9 loops.
    Knit,
}

impl Hairstyle {
    /// All of table 1.
    pub const ALL: [Hairstyle; 7] = [
        Self::Drape,
        Self::Middle,
        Self::Short,
        Self::Afro,
        Self::Long,
        Self::CurlyWig { strands: 1024 },
        Self::Knit,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drape => "drape",
            Self::Middle => "middle",
            Self::Short => "short",
            Self::Afro => "afro",
            Self::Long => "long",
            Self::CurlyWig { .. } => "curly-wig",
            Self::Knit => "knit",
        }
    }

    /// Grid and friction: about as many nodes as in the table, and its coefficients of friction.
    pub fn medium(self) -> Medium {
        match self {
            Self::Drape => Medium::with_friction(0.016, 0.7),
            Self::CurlyWig { .. } => Medium::with_friction(0.015, 0.2),
            Self::Knit => Medium::with_friction(0.01, 0.2),
            _ => Medium::with_friction(0.02, 0.2),
        }
    }

    /// The hair. All but the drape and the knit grow on the built-in bust.
    pub fn groom(self) -> Result<Groom, GrowError> {
        let style = match self {
            Self::Drape => return Ok(drape()),
            Self::Knit => return Ok(knit()),
            Self::Middle => Style { length: 0.25, ..sparse(Preset::Bob, 256, 16) },
            Self::Short => Style { length: 0.1, ..sparse(Preset::Bob, 256, 16) },
            Self::Afro => Style {
                length: 0.12,
                curl: Curl { radius: 0.01, pitch: 0.04, ..Preset::Afro.style().curl },
                ..sparse(Preset::Afro, 256, 16)
            },
            Self::Long => Style { length: 0.4, ..sparse(Preset::Wavy, 512, 16) },
            Self::CurlyWig { strands } => sparse(Preset::Curly, strands, 32),
        };
        let figure = figure::bust();
        let surface = Surface { mesh: figure.mesh, density: figure.scalp, comb: figure.comb, front: Vec3::Z };
        grow(&surface, &style, 5)
    }

    /// Which vertices are held: the root of every strand, and the upper edge of the knit.
    pub fn held(self, groom: &Groom) -> Vec<bool> {
        let mut held = vec![false; groom.vertices()];
        for strand in 0..groom.strands() {
            held[groom.curves.range(strand).start] = true;
        }
        if self == Self::Knit {
            let top = groom.curves.points.iter().map(|p| p.y).fold(f32::MIN, f32::max);
            for (held, point) in held.iter_mut().zip(&groom.curves.points) {
                *held |= point.y > top - 0.2 * LOOP;
            }
        }
        held
    }

    /// Positions of a groom in double precision [m].
    pub fn positions(groom: &Groom) -> Vec<DVec3> {
        groom.curves.points.iter().map(|point| point.as_dvec3()).collect()
    }
}

/// A preset with few strands of few vertices; guides clump less than the hair that follows them.
fn sparse(preset: Preset, strands: u32, vertices: u32) -> Style {
    let style = preset.style();
    let clumps = Clumps { count: style.clumps.count.min(strands / 4), ..style.clumps };
    Style { strands, vertices, clumps, ..style }
}

/// Two sheaves of 16 strands of 30 cm, each from a wall of its own; the second lies across the first.
fn drape() -> Groom {
    let (length, vertices) = (0.3, 16);
    let random = Random::new(1);
    let mut curves = Curves::default();
    for strand in 0..32usize {
        let (across, sheaf, index) = (strand >= 16, strand / 16, strand % 16);
        let mut random = random.fork(strand as u64);
        let shift = Vec3::new(random.signed(), random.signed(), random.signed()) * 1e-3;
        let side = ((index % 8) as f32 - 3.5) * 0.006;
        let layer = (index / 8) as f32 * 0.006 + sheaf as f32 * 0.012;
        curves.push((0..vertices).map(|vertex| {
            let arc = length * vertex as f32 / (vertices - 1) as f32;
            let (out, down) = (0.9 * arc - 0.12, -0.9 * arc * arc);
            let point =
                if across { Vec3::new(side, down + layer, out) } else { Vec3::new(out, down + layer, side) };
            point + shift
        }));
    }
    plain(curves)
}

/// Side of a loop of the knit [m].
const LOOP: f32 = 0.02;

/// Nine rows of nine loops from one yarn, hanging in the xy plane: each loop reaches through the one above it, and
/// rows are joined by bends at their ends.
fn knit() -> Groom {
    const ROWS: usize = 9;
    let count = 1024;
    let width = 9.0 * LOOP;
    let mut points = Vec::with_capacity(count);
    for vertex in 0..count {
        let along = vertex as f32 / (count - 1) as f32 * ROWS as f32;
        let row = (along as usize).min(ROWS - 1);
        let part = along - row as f32;
        let turn = TAU * 9.0 * part;
        // Loops lean over themselves: the yarn runs back a little at the top and the bottom of each.
        let x = width * part + 0.22 * LOOP * (2.0 * turn).sin();
        let x = if row % 2 == 0 { x } else { width - x };
        let y = -LOOP * along + 0.8 * LOOP * (0.5 - 0.5 * turn.cos());
        let z = 0.12 * LOOP * (2.0 * turn).cos();
        points.push(Vec3::new(x - 0.5 * width, y, z));
    }
    let mut curves = Curves::default();
    curves.push(points);
    plain(curves)
}

fn plain(curves: Curves) -> Groom {
    Groom {
        roots: vec![Root::Rigid; curves.strands()],
        widths: vec![WIDTH; curves.points.len()],
        curves,
        ..Groom::default()
    }
}
