//! The twisting experiment (figure 6): a straight rod between two clamps, one of which turns on and on.

use glam::DQuat;
use hairloom::math::Pose;

use super::*;
use crate::strands::straight;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Angle that every joint but that at the root is twisted by in the end, if all have the same moment [°].
    twist: f64,
    /// How long the clamp turns, and as long again it stands [s].
    duration: f64,
}

impl Default for Params {
    fn default() -> Self {
        // Six edges: less twist in all, 8.52 rad, than makes a straight rod between clamps coil up, 8.98 rad.
        Self { rod: Rod::of(0.12, 0.02), twist: 110.0, duration: 5.0 }
    }
}

/// The experiment.
pub(crate) struct TwistingRod;

impl Experiment for TwistingRod {
    type Params = Params;
    const NAME: &'static str = "twisting-rod";
    const SUMMARY: &'static str = "a rod between clamps, one of which turns: twist stays even with the augmented Darboux vector, and gathers in a few joints with the plain one";
    const REFERENCE: &'static str = "twist with equal moments 2 K sin(θ/2) in all joints of a straight rod, twice as stiff at its root; figure 6 of Hsu et al. 2023";
    const SOLVERS: &'static [&'static str] = &["xpbd-mpm"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        (
            "twist",
            "angle that every joint but that at the root is twisted by in the end, if all have the same moment [°]",
        ),
        ("duration", "how long the clamp turns, and as long again it stands [s]"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        if params.rod.edges(params.rod.length, 2) < 4 {
            return Err(("edge", "at least 4 edges are needed".to_owned()));
        }
        check_range(("twist", params.twist, 0.0, 170.0))?;
        check_range(("duration", params.duration, 0.1, 100.0))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let edges = params.rod.edges(params.rod.length, 2);
        let curve = straight(DVec3::X, params.rod.length, edges);
        // The joint at the root is half as long, and twice as stiff.
        let at_clamp = 2.0 * (0.5 * (0.5 * params.twist.to_radians()).sin()).asin().to_degrees();
        let expected = |joint: usize| if joint == 0 { at_clamp } else { params.twist };
        let total = (0..edges - 1).map(expected).sum::<f64>().to_radians();
        let steps = (params.duration * RATE).round() as usize;
        let (mut rows, mut checks) = (Vec::new(), Vec::new());
        let mut panel = Panel::new(Axis::new("joint"), Axis::new("twist [°]")).titled("Twist along the rod");
        for (darboux, name) in VECTORS {
            let method = with_vector(method, darboux);
            let material = params.rod.material();
            let mut rig = Rig::new(std::slice::from_ref(&curve), &material, Hold::Clamps, &method)?
                .with_gravity(DVec3::ZERO)
                .with_held_ends();
            // Turned about its own end.
            let turned = |step: usize| Pose {
                rotation: DQuat::from_rotation_x(total * (step.min(steps) as f64 / steps as f64)),
                translation: DVec3::ZERO,
            };
            for step in 0..2 * steps {
                rig.move_tips(&[(turned(step), turned(step + 1))], 1.0 / RATE)?;
                rig.step(1.0 / RATE)?;
            }
            let state = rig.state();
            let between = state.orientations.windows(2).take(edges - 1);
            let twists: Vec<f64> = between
                .map(|pair| {
                    let turn = pair[0].conjugate() * pair[1];
                    2.0 * turn.z.atan2(turn.w).to_degrees().rem_euclid(180.0)
                })
                .map(|twist| if twist > 180.0 { twist - 360.0 } else { twist })
                .collect();
            let off = |(joint, twist): (usize, &f64)| (twist - expected(joint)).abs();
            let uneven = twists.iter().enumerate().map(off).fold(0.0, f64::max);
            let aside =
                rig.shapes()[0].iter().map(|p| p.y.hypot(p.z)).fold(0.0, f64::max) / params.rod.length;
            rows.push(
                Row::new()
                    .with("vector", name)
                    .with("even_twist", params.twist)
                    .with("worst_deviation", uneven)
                    .with("aside", aside),
            );
            if name == "augmented" {
                checks.push(Check::at_most("augmented: twist away from even [°]", uneven, 1.0));
                checks.push(Check::at_most("augmented: away from straight [lengths]", aside, 1.0e-3));
            } else {
                checks.push(Check::at_least("plain: twist away from even [°]", uneven, 20.0));
            }
            let points = twists.iter().enumerate().map(|(joint, &twist)| (joint as f64, twist)).collect();
            panel = panel.with(Series::line(name, points).marked());
        }
        Ok(Findings { rows, checks, figure: Figure::new("Twisting rod").with(panel) })
    }
}
