//! The stirred experiment: hairstyles in a gust, on a head that turns, and on one that dances, after they have come to rest.
//!
//! How alike two motions are: with d the way of a vertex from where it was before the stir, seen from the head, in all frames of the stir
//! and half as long after it, `likeness` is Σ d · d′ / √(Σ d² Σ d′²), 1 for the same motion and 0 for another one, and `amplitude` is
//! √(Σ d² / Σ d′²), where d′ is the way of hair with its groom for a rest shape.
//!
//! What comes back: strands that touch nothing at the end must be back at the groom. Those that the body has caught, or other strands, must
//! go back there as soon as nothing touches them any more, or else it is not contact that keeps them away. On middle hair that has danced, friction
//! with the bust keeps one strand of 256, by 0.4 of its length; without friction there all are back within a thousandth. Another one, which is hardly stiff
//! enough to stand, takes more than five seconds.

use glam::DQuat;
use hairloom::math::Pose;
use hairloom::scene::Wind;

use super::*;

/// How far from the groom strands that came back may be, over their lengths.
const RETURNED: f64 = 0.02;

/// What stirs the hair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Cause {
    /// A gust along x.
    Gust,
    /// The head turns left and right.
    Turn,
    /// The head sways, nods and turns.
    Dance,
}

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Names of the styles.
    styles: Vec<String>,
    /// What stirs them.
    cause: Cause,
    /// Speed of a gust [m/s].
    wind: f64,
    /// Rate at which hair takes on the velocity of the air [1/s].
    drag: f64,
    /// Time to come to rest before the stir, of the stir, and after it [s].
    times: [f64; 3],
    /// How far the head turns [°].
    angle: f64,
    /// Coefficient of friction of hair on hair, where it meets.
    friction: f64,
    /// Coefficient of friction of hair on the body.
    body_friction: f64,
}

impl Default for Params {
    fn default() -> Self {
        let styles = [Hairstyle::Middle, Hairstyle::Long].into_iter().map(label).collect();
        Self {
            styles,
            cause: Cause::Gust,
            wind: 3.0,
            drag: 5.0,
            times: [3.0, 1.0, 8.0],
            angle: 45.0,
            friction: 0.25,
            body_friction: BODY_FRICTION,
        }
    }
}

impl Params {
    /// Where a head that turns about `pivot` [m] is at a time from 0 to that of the stir [s]; it begins and ends where it stands.
    fn pose(&self, pivot: DVec3, time: f64) -> Pose {
        let part = time / self.times[1];
        let swell = (std::f64::consts::PI * part).sin().powi(2);
        let wave = |rate: f64| (std::f64::consts::TAU * rate * time).sin();
        let angle = self.angle.to_radians() * swell;
        let (turn, shift) = match self.cause {
            Cause::Gust => (DQuat::IDENTITY, DVec3::ZERO),
            Cause::Turn => (DQuat::from_rotation_y(angle * wave(1.0)), DVec3::ZERO),
            Cause::Dance => (
                DQuat::from_rotation_y(angle * wave(1.3))
                    * DQuat::from_rotation_x(0.5 * angle * wave(2.0))
                    * DQuat::from_rotation_z(0.4 * angle * wave(1.1)),
                DVec3::new(0.08 * wave(1.1), 0.04 * wave(2.0), 0.03 * wave(1.6)) * swell,
            ),
        };
        Pose { rotation: turn, translation: pivot - turn * pivot + shift }
    }
}

/// What a stir did.
struct Motion {
    /// The way of every vertex in every frame, seen from the head [m].
    ways: Vec<Vec<DVec3>>,
    /// The farthest of all during it, over lengths.
    most: f64,
    /// From where each strand was groomed, at the end, over its length.
    after: Vec<f64>,
    /// Which strands touch the body then.
    touches: Vec<bool>,
    /// Before the stir, likewise.
    before: Vec<f64>,
}

impl Motion {
    /// How many strands are not back, and touch the body.
    fn caught(&self) -> usize {
        let strands = self.after.iter().zip(&self.touches);
        strands.filter(|(after, touches)| **touches && **after > RETURNED).count()
    }
}

fn watch(head: &mut Head, pivot: DVec3, params: &Params) -> Result<Motion, LabError> {
    let frames = |time: f64| (time * RATE).round() as usize;
    for _ in 0..frames(params.times[0]) {
        head.rig.step(1.0 / RATE)?;
    }
    let before = head.away();
    let start = head.rig.state().positions;
    let (mut ways, mut most): (Vec<Vec<DVec3>>, f64) = (Vec::new(), 0.0);
    let stirred = frames(params.times[1]);
    for frame in 0..stirred + frames(params.times[2]) {
        let stirs = frame < stirred;
        let is_gust = stirs && params.cause == Cause::Gust;
        head.rig.wind = if is_gust { Wind::uniform(DVec3::X * params.wind) } else { Wind::still() };
        let [from, to] = [frame, frame + 1].map(|frame| match stirs {
            true => params.pose(pivot, frame as f64 / RATE),
            false => Pose::IDENTITY,
        });
        head.rig.move_body(from, to, 1.0 / RATE)?;
        head.rig.step(1.0 / RATE)?;
        if frame < stirred + stirred / 2 {
            let now = head.rig.state().positions;
            ways.push(now.iter().zip(&start).map(|(now, start)| to.apply_inverse(*now) - *start).collect());
        }
        if let (true, Some(ways)) = (stirs, ways.last()) {
            most = most.max(farthest(head, ways));
        }
    }
    Ok(Motion { ways, most, after: head.away(), touches: head.rig.touches_body(), before })
}

/// The longest of the vertices' ways, over the lengths of their strands.
fn farthest(head: &Head, ways: &[DVec3]) -> f64 {
    let model = &head.rig.model;
    let strand = |strand: usize| {
        let length: f64 = model.rest_lengths[model.range(strand)].iter().sum();
        ways[model.range(strand)].iter().map(|way| way.length()).fold(0.0, f64::max) / length
    };
    (0..model.strands()).map(strand).fold(0.0, f64::max)
}

/// Likeness and amplitude of a motion beside another.
fn compare(one: &Motion, other: &Motion) -> (f64, f64) {
    let (mut mixed, mut own, mut its) = (0.0, 0.0, 0.0);
    for (a, b) in one.ways.iter().flatten().zip(other.ways.iter().flatten()) {
        mixed += a.dot(*b);
        own += a.length_squared();
        its += b.length_squared();
    }
    (mixed / (own * its).sqrt(), (own / its).sqrt())
}

/// The experiment.
pub(crate) struct Stirred;

impl Experiment for Stirred {
    type Params = Params;
    const NAME: &'static str = "stirred";
    const SUMMARY: &'static str =
        "sag-free hairstyles move like naive ones in wind and on a moving head, and come back to the groom";
    const REFERENCE: &'static str =
        "the groomed shapes; the motion of naive hair, figures 9 to 14 of Hsu et al. 2023";
    const SOLVERS: &'static [&'static str] = &["xpbd-mpm"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("styles", "names of the styles, of table 1 and curly-wig-128, -256 and -512"),
        ("cause", "what stirs them: gust, turn or dance"),
        ("wind", "speed of a gust [m/s]"),
        ("drag", "rate at which hair takes on the velocity of the air [1/s]"),
        ("times", "time to come to rest before the stir, of the stir, and after it [s]"),
        ("angle", "how far the head turns [°]"),
        ("friction", "coefficient of friction of hair on hair, where it meets"),
        ("body_friction", "coefficient of friction of hair on the body"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("wind", params.wind, 0.0, 1.0e3))?;
        check_range(("drag", params.drag, 0.0, 1.0e3))?;
        check_range(("angle", params.angle, 0.0, 180.0))?;
        check_range(("friction", params.friction, 0.0, 10.0))?;
        check_range(("body_friction", params.body_friction, 0.0, 10.0))?;
        params.times.iter().try_for_each(|&time| check_range(("times", time, 0.0, 100.0)))?;
        styles(&params.styles).map(|_| ())
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let hair = Material { friction: params.friction, ..wavy(params.drag) };
        let pivot = figure::bust().head_rotation_pivot.as_dvec3();
        let meets = matches!(method, Method::XpbdMpm(params) if params.contact);
        let (mut rows, mut checks, mut figure) = (Vec::new(), Vec::new(), Figure::new("Stirred"));
        for style in styles(&params.styles).unwrap_or_default() {
            let name = label(style);
            let (mut motions, mut kinds, mut freed) = (Vec::new(), Vec::new(), 0.0);
            for (start, kind) in Start::ALL {
                let body = body(style, params.body_friction)?;
                let mut head = Head::on(body, style, (start, Engine::OwnWeight), &hair, method)?;
                motions.push(watch(&mut head, pivot, params)?);
                kinds.push((kind, head.lines()));
                if start == Start::SagFree {
                    let mut head = Head { rig: head.rig.let_go(method)?, ..head };
                    head.pass(params.times[2])?;
                    freed = largest(&head.away());
                }
            }
            for (motion, (_, kind)) in motions.iter().zip(Start::ALL) {
                let (likeness, amplitude) = compare(motion, &motions[0]);
                rows.push(
                    Row::new()
                        .with("style", name.clone())
                        .with("start", kind)
                        .with("sagged_before", largest(&motion.before))
                        .with("stirred", motion.most)
                        .with("likeness", likeness)
                        .with("amplitude", amplitude)
                        .with("away_after", largest(&motion.after))
                        .with("not_back", motion.after.iter().filter(|&&after| after > RETURNED).count())
                        .with("not_back_on_body", motion.caught())
                        .with(
                            "mean_away_after",
                            motion.after.iter().sum::<f64>() / motion.after.len() as f64,
                        ),
                );
            }
            let sag_free = &motions[2];
            checks.push(Check::at_least(format!("{name}: stirred [lengths]"), sag_free.most, 0.1));
            let likeness = compare(sag_free, &motions[0]).0;
            checks.push(Check::at_least(format!("{name}: likeness to naive motion"), likeness, 0.5));
            if !meets {
                let strands = sag_free.after.iter().zip(&sag_free.touches);
                let after =
                    strands.filter(|(_, touches)| !**touches).map(|(after, _)| *after).fold(0.0, f64::max);
                let what = format!("{name}: away after the stir, of strands that touch nothing [lengths]");
                checks.push(Check::at_most(what, after, RETURNED));
            }
            let what = format!("{name}: away after that, when nothing touches them any more [lengths]");
            checks.push(Check::at_most(what, freed, RETURNED));
            kinds.remove(1);
            figure = figure.with(picture(&name, &kinds));
        }
        Ok(Findings { rows, checks, figure })
    }
}
