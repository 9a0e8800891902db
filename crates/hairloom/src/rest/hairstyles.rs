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

    /// Elements that are stiffened in table 1 of the paper [%].
    pub fn stiffened_in_the_paper(self) -> f64 {
        match self {
            Self::Drape => 1.2,
            Self::Middle => 18.9,
            Self::Short => 20.3,
            Self::Afro => 7.3,
            Self::Long => 15.3,
            Self::CurlyWig { .. } => 56.1,
            Self::Knit => 63.2,
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

    /// Which vertices are held: the root of every strand, and the head of every loop of the knit's first row.
    pub fn held(self, groom: &Groom) -> Vec<bool> {
        let mut held = vec![false; groom.vertices()];
        for strand in 0..groom.strands() {
            held[groom.curves.range(strand).start] = true;
        }
        if self == Self::Knit {
            // The highest vertex of every loop of the first row.
            let place = |part: f32| (part / ROWS as f32 * (groom.vertices() - 1) as f32).round() as usize;
            (0..ROWS).for_each(|index| held[place((index as f32 + 0.5) / ROWS as f32)] = true);
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

/// Rows of the knit, and loops of a row.
const ROWS: usize = 9;
/// Width of a loop of the knit [m].
const LOOP: f32 = 0.02;
/// From a row of the knit to the next [m].
const COURSE: f32 = 0.8 * LOOP;
/// Height of a loop [m]: it reaches through the one of the row above.
const HEIGHT: f32 = 1.45 * LOOP;

/// Nine rows of nine loops from one yarn, hanging in the xy plane. Heads and feet of loops lie in front, their legs behind: the head of a
/// loop passes over the legs of the one above it, and its legs under that one's feet. Rows are joined by bends at their ends.
fn knit() -> Groom {
    let (count, loops) = (1024, ROWS as f32);
    let width = loops * LOOP;
    let mut points = Vec::with_capacity(count);
    for vertex in 0..count {
        let along = vertex as f32 / (count - 1) as f32 * loops;
        let row = (along as usize).min(ROWS - 1);
        let part = along - row as f32;
        let turn = TAU * loops * part;
        // Yarn goes from a row to the next within half a loop on either side of the bend.
        let [from_start, to_end] = [part, 1.0 - part].map(|part| (1.0 - 2.0 * loops * part).max(0.0));
        let begins = if row > 0 { 0.5 * from_start * from_start } else { 0.0 };
        let ends = if row + 1 < ROWS { 0.5 * to_end * to_end } else { 0.0 };
        // Legs run back, so that loops are wider at their heads and feet than between.
        let x = width * part + 0.24 * LOOP * (2.0 * turn).sin();
        let x = if row.is_multiple_of(2) { x } else { width - x };
        let y = -COURSE * (row as f32 - begins + ends) + HEIGHT * (0.5 - 0.5 * turn.cos());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Where two rows of the knit cross in the xy plane: the vertices before, and how far the second lies in front [m].
    fn crossings(points: &[Vec3], first: usize, second: usize) -> Vec<(usize, usize, f32)> {
        let row =
            |row: usize| row * points.len() / ROWS..((row + 1) * points.len() / ROWS).min(points.len() - 1);
        let mut found = Vec::new();
        for j in row(second) {
            for i in row(first).filter(|&i| i + 8 < j) {
                let (a, b) = (points[i + 1] - points[i], points[j + 1] - points[j]);
                let (between, area) = (points[j] - points[i], a.truncate().perp_dot(b.truncate()));
                let s = between.truncate().perp_dot(b.truncate()) / area;
                let t = between.truncate().perp_dot(a.truncate()) / area;
                if (0.0..1.0).contains(&s) && (0.0..1.0).contains(&t) {
                    found.push((i, j, between.z + b.z * t - a.z * s));
                }
            }
        }
        found
    }

    #[test]
    fn loops_of_the_knit_reach_over_and_under_those_above() {
        let points = knit().curves.points;
        assert_eq!(points.len(), 1024);
        for row in 1..ROWS {
            let found = crossings(&points, row - 1, row);
            // Four for each loop, but for the last ones at the edges.
            assert!((32..=36).contains(&found.len()), "row {row}: {}", found.len());
            for (_, _, front) in &found {
                assert!(front.abs() > 0.05 * LOOP, "row {row}: yarns cut each other ({front} m)");
            }
            // Along the yarn: twice over legs with the head, twice under feet with the legs.
            let over: Vec<bool> = found.iter().map(|(_, _, front)| *front > 0.0).collect();
            let (_, runs) = (over[0], over.chunk_by(|a, b| a == b).collect::<Vec<_>>());
            assert!(runs.len() >= 2 * ROWS - 2, "row {row}: {} changes", runs.len());
            assert!(runs.iter().all(|run| run.len() <= 2), "row {row}: {over:?}");
        }
    }

    #[test]
    fn rows_of_the_knit_are_level_and_all_loops_of_the_first_are_held() {
        let groom = Hairstyle::Knit.groom().unwrap();
        let points = &groom.curves.points;
        let held = Hairstyle::Knit.held(&groom);
        for row in 0..ROWS {
            let heads: Vec<f32> = (0..ROWS)
                .map(|index| {
                    let at = |part: f32| ((row as f32 + part / ROWS as f32) / ROWS as f32 * 1023.0) as usize;
                    points[at(index as f32 + 0.3)..at(index as f32 + 0.7)]
                        .iter()
                        .map(|p| p.y)
                        .fold(f32::MIN, f32::max)
                })
                .collect();
            let top = HEIGHT - COURSE * row as f32;
            assert!(heads.iter().all(|head| (head - top).abs() < 0.03 * LOOP), "row {row}: {heads:?}");
        }
        assert!(held[0]);
        let heads: Vec<Vec3> = (1..1024).filter(|&v| held[v]).map(|v| points[v]).collect();
        assert_eq!(heads.len(), ROWS);
        for (index, head) in heads.iter().enumerate() {
            let middle = (index as f32 + 0.5 - 0.5 * ROWS as f32) * LOOP;
            assert!(
                (head.x - middle).abs() < 0.25 * LOOP && head.y > HEIGHT - 0.03 * LOOP,
                "{index}: {head}"
            );
        }
    }
}
