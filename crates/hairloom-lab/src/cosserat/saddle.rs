//! The saddle experiment (figure 5): a rod that carries itself by bending alone may stand on a saddle of its energy, which the least
//! draught takes it off.

use super::*;
use crate::strands::{GRAVITY, check_list, straight};

/// Greenhill's constant: poles heavier than this, ρ g A L³ / EI, buckle.
const GREENHILL: f64 = 7.8373;
/// How much stiffer than need be rest shapes are made.
const SAFETY: f64 = 1.1;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair; its length follows from the heaviness.
    #[serde(flatten)]
    rod: Rod,
    /// ρ g A L³ / EI of each pole.
    heavinesses: Vec<f64>,
    /// Speed of the draught, over the first half second [m/s].
    wind: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { rod: Rod::of(0.0, 0.0), heavinesses: vec![4.0, 7.0, 9.0, 12.0, 20.0, 40.0], wind: 0.02 }
    }
}

/// The experiment.
pub(crate) struct Saddle;

impl Experiment for Saddle {
    type Params = Params;
    const NAME: &'static str = "saddle";
    const SUMMARY: &'static str = "upright hair that would buckle under its own weight is stiffened as much as needed, and stands in a draught";
    const REFERENCE: &'static str =
        "Greenhill 1881: poles buckle where ρ g A L³ / EI exceeds 7.8373; figure 5 of Hsu et al. 2023";
    const SOLVERS: &'static [&'static str] = &["xpbd-mpm"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("heavinesses", "ρ g A L³ / EI of each pole"),
        ("wind", "speed of the draught, over the first half second [m/s]"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("heavinesses", &params.heavinesses, 100, 0.1, 1.0e4)?;
        check_range(("wind", params.wind, 0.0, 100.0))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let material = params.rod.material();
        let material = hairloom::scene::Material { drag: 2.0, ..material };
        let weight = material.mass_per_length() * GRAVITY;
        let length = |heaviness: &f64| (heaviness * material.rod_stiffness()[0] / weight).cbrt();
        let lengths: Vec<f64> = params.heavinesses.iter().map(length).collect();
        let curves: Vec<Vec<DVec3>> =
            lengths.iter().map(|&length| straight(DVec3::Y, length, params.rod.edges(length, 32))).collect();
        let blown = |mut rig: Rig| -> Result<(Rig, Vec<f64>), LabError> {
            let moved = blow(&mut rig, &curves, [0.0, 0.5, 4.5], params.wind)?.after;
            Ok((rig, moved))
        };
        let naive = Rig::new(&curves, &material, Hold::Root, method)?;
        let (rig, outcome) = Rig::new(&curves, &material, Hold::Root, method)?.sag_free(method)?;
        let bend = |strand: usize| &outcome.shape.bend[rig.model.range(strand)];
        let factors: Vec<f64> =
            (0..curves.len()).map(|strand| bend(strand).iter().copied().fold(1.0, f64::max)).collect();
        let margins: Vec<f64> = (params.heavinesses.iter().enumerate())
            .map(|(strand, &heaviness)| buckling_margin(bend(strand), heaviness))
            .collect();
        let (naive, fallen) = blown(naive)?;
        let (rig, moved) = blown(rig)?;

        let (mut rows, mut wrong, mut worst) = (Vec::new(), 0.0f64, 0.0f64);
        for (i, &heaviness) in params.heavinesses.iter().enumerate() {
            let expected = SAFETY.max(GREENHILL / heaviness);
            wrong = wrong.max((margins[i] / expected - 1.0).abs());
            worst = worst.max(moved[i]);
            rows.push(
                Row::new()
                    .with("heaviness", heaviness)
                    .with("length", lengths[i])
                    .with("stiffening", factors[i])
                    .with("margin", margins[i])
                    .with("reference", expected)
                    .with("moved", moved[i])
                    .with("moved_naively", fallen[i]),
            );
        }
        let heaviest = fallen.iter().copied().fold(0.0, f64::max);
        let checks = vec![
            Check::at_most("weight that it bears away from the safety asked for", wrong, 0.06),
            Check::at_most("moved in 5 s after a draught [lengths]", worst, 0.005),
            Check::at_least("moved without stiffening [lengths]", heaviest, 0.1),
        ];
        let mut panel =
            Panel::new(Axis::new("x [m]"), Axis::new("y [m]")).titled("After a draught").with_equal_aspect();
        for (name, rig) in [("sag-free", &rig), ("as groomed", &naive)] {
            if let Some(shape) = rig.shapes().last() {
                panel = panel.with(Series::line(name, shape.iter().map(|p| (p.x, p.y)).collect()));
            }
        }
        Ok(Findings { rows, checks, figure: Figure::new("Saddle").with(panel) })
    }
}

/// How many times its own weight an upright pole bears before it buckles: the least λ for which (b θ′)′ + λ h (1 − s) θ = 0 has a solution
/// that is clamped at the root and free at the tip, where b is how much stiffer joints are than those of a pole of heaviness h. For b = 1
/// it is Greenhill's 7.8373 / h.
fn buckling_margin(bend: &[f64], heaviness: f64) -> f64 {
    const STEPS: usize = 4000;
    let edges = bend.len().saturating_sub(1).max(1) as f64;
    let stands = |load: f64| {
        let (mut angle, mut moment) = (0.0, 1.0);
        for step in 0..STEPS {
            let s = (step as f64 + 0.5) / STEPS as f64;
            // A joint stands for half an edge at each side of it.
            let joint = ((s * edges).round() as usize).min(bend.len() - 1);
            let half = 0.5 / STEPS as f64;
            angle += half * moment / bend[joint];
            moment -= 2.0 * half * load * heaviness * (1.0 - s) * angle;
            angle += half * moment / bend[joint];
            if moment <= 0.0 {
                return false;
            }
        }
        true
    };
    let (mut low, mut high) = (0.0, 1.0);
    while stands(high) && high < 1e6 {
        high *= 2.0;
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if stands(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_pole_bears_what_greenhill_says() {
        for heaviness in [2.0, 20.0] {
            let margin = buckling_margin(&[1.0; 33], heaviness);
            assert!((margin * heaviness / GREENHILL - 1.0).abs() < 1e-3, "{margin}");
            let twice = buckling_margin(&[2.0; 33], heaviness);
            assert!((twice / margin - 2.0).abs() < 1e-6, "{twice} {margin}");
        }
    }
}
