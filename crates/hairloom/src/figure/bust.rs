use glam::Vec3;

use super::head::{ADULT, comb, head_share, scalp, sculpt_head, sculpt_neck};
use super::mesher::{self, Grid, axis, mirrored_axis};
use super::sculpt::{Sculpt, below, cone, ellipsoid};
use super::{Bone, BoneWeights, Figure, Parts, assemble, smoothstep};

/// Middle of the head [m].
const HEAD: Vec3 = Vec3::new(0.0, 1.62, 0.0);
const TORSO: u16 = 0;

/// Head, neck and shoulders of an adult; bones `torso` and `head`.
pub fn bust() -> Figure {
    let mut s = Sculpt::new([0.72, 0.50, 0.40]);
    sculpt_head(&mut s, 1, ADULT);
    sculpt_neck(&mut s, TORSO, ADULT);
    sculpt_shoulders(&mut s);
    let mut mesh = mesher::mesh(&s, &grid(), 10);
    let normals = mesh.vertex_normals();
    let local = mesh.points.clone();
    mesh.points.iter_mut().for_each(|p| *p += HEAD);
    let pivot = HEAD + Vec3::new(0.0, -0.115, -0.025);
    assemble(Parts {
        name: "bust",
        scalp: local.iter().map(|&p| scalp(p)).collect(),
        comb: local.iter().zip(&normals).map(|(&p, &n)| comb(p, n)).collect(),
        colour: local.iter().map(|&p| s.colour_at(p, 0.002)).collect(),
        bones: vec![
            Bone { name: "torso", parent: None, pivot: Vec3::new(0.0, 1.3, 0.0) },
            Bone { name: "head", parent: Some(0), pivot },
        ],
        weights: local.iter().map(|&p| BoneWeights::two(TORSO, 1, head_share(p))).collect(),
        head: 1,
        cycles: Vec::new(),
        mesh,
    })
}

fn sculpt_shoulders(s: &mut Sculpt) {
    s.single(TORSO);
    s.add(ellipsoid([0.0, -0.350, -0.030], [0.150, 0.160, 0.095]), 0.05);
    s.mirrored(TORSO, TORSO);
    s.add(cone([0.015, -0.120, -0.052], [0.125, -0.222, -0.045], 0.026, 0.024), 0.05);
    s.add(ellipsoid([0.152, -0.258, -0.035], [0.046, 0.054, 0.050]), 0.05);
    s.add(cone([0.162, -0.29, -0.035], [0.174, -0.42, -0.035], 0.042, 0.038), 0.03);
    s.add(ellipsoid([0.066, -0.325, 0.026], [0.072, 0.056, 0.040]), 0.05);
    s.add(cone([0.018, -0.212, 0.022], [0.130, -0.207, -0.012], 0.009, 0.008), 0.045);
    s.single(TORSO);
    s.carve(ellipsoid([0.0, -0.205, 0.050], [0.012, 0.012, 0.014]), 0.025);
    s.keep(below([0.0, -0.36, 0.0], [0.0, -1.0, 0.0]), 0.05);
    s.mirrored(TORSO, TORSO);
    s.keep(below([0.184, -0.28, 0.0], [1.0, -0.55, 0.0]), 0.04);
}

/// Fine at the face and ears, coarse at the shoulders.
fn grid() -> Grid {
    let x = mirrored_axis(0.24, |x| {
        0.0050 + 0.005 * smoothstep(0.03, 0.06, x) + 0.006 * smoothstep(0.09, 0.13, x)
    });
    let y = axis(-0.40, 0.15, |y| {
        let chest = smoothstep(-0.12, -0.18, y) * smoothstep(-0.37, -0.34, y);
        let mouth = smoothstep(-0.090, -0.080, y) * smoothstep(-0.046, -0.054, y);
        let eyes = smoothstep(-0.020, -0.014, y) * smoothstep(0.012, 0.006, y);
        0.0055 - 0.0020 * mouth - 0.0010 * eyes + 0.0070 * chest + 0.006 * smoothstep(0.01, 0.06, y)
    });
    let z = axis(-0.17, 0.15, |z| 0.0070 + 0.006 * smoothstep(-0.03, -0.06, z));
    Grid::new(x, y, z)
}
