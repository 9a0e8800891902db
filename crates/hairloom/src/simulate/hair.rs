//! The hair of a scene: where it comes from, how it is held, which strands are simulated.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::library::Library;
use super::track::Track;
use super::{SimulationError, Warning};
use crate::body::{Bodies, Lookout, Obstacles, TriMesh};
use crate::groom::{
    Domain, Follow, FollowBlend, Groom, GroomError, Pick, Root, Seating, Skin, Surface, Turned, Values, grow,
    hairy_ball, pick_guides, resample, resample_in_all, turn_strands,
};
use crate::scene::{
    Attach, Attachments, BangsPlace, BuiltinGroom, GroomSettings, GroomSource, GuidePick, GuideSettings,
    Scene, Seat,
};
use crate::solve::leaving::resolve;

/// Distance that followers keep from bodies [m]: edges dip between vertices where a body is round.
const CLEARANCE: f32 = 5.0e-4;

/// The groom of a scene at its start time, in the world, checked and repaired, turned and edited.
pub(super) fn make_groom(
    scene: &Scene,
    holder: Option<(usize, &Track)>,
    bodies: &Bodies,
    library: &dyn Library,
    warnings: &mut Vec<Warning>,
) -> Result<(Groom, Imported), SimulationError> {
    let groom = source_groom(scene, holder.map(|(_, track)| track), library, warnings)?;
    let start = bodies.at(0.0);
    let skin = |point: Vec3| match holder.and_then(|(index, _)| start.closest(index, point)) {
        Some(hit) => (hit.distance, hit.normal),
        None => {
            // A shape that a formula describes.
            let sample = start.sample(holder.map_or(0, |(index, _)| index), point);
            (sample.distance, sample.normal)
        }
    };
    let skin: Option<Skin<'_>> = holder.map(|_| &skin as Skin<'_>);
    let from_file = matches!(scene.groom.source, GroomSource::File(_));
    let rooted = skin.filter(|_| from_file && scene.groom.attach == Attach::Root);
    let mut imported = Imported::default();
    let groom = match rooted.filter(|_| scene.groom.turn).map(|skin| turn_strands(&groom, skin)) {
        Some((groom, turned)) => {
            imported.turned = turned;
            groom
        }
        None => groom,
    };
    let groom = edited(scene, groom, skin, warnings)?;
    imported.seating = rooted.map(|skin| Seating::measure(&groom, skin));
    imported.tell(scene, warnings);
    Ok((groom, imported))
}

/// What was found out about the groom of a file when it was put on its body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// Strands that were given from tip to root.
    pub turned: Turned,
    /// Where the roots are; nothing for hair that is grown here, or that no body holds at its roots.
    pub seating: Option<Seating>,
}

impl Imported {
    fn tell(&self, scene: &Scene, warnings: &mut Vec<Warning>) {
        let Turned { strands, most } = self.turned;
        if strands > 0 {
            let whose = if most { "most of the groom is" } else { "a part of the groom is" };
            let text = format!(
                "{whose} given from tip to root: {strands} strands were turned around, because they end at the body \
                 and begin away from it (groom.turn = false leaves them as they are)"
            );
            warnings.push(Warning(text));
        }
        if let Some(problem) = self.seating.and_then(|seating| seating.problem()) {
            let body = scene.groom.body.as_deref().unwrap_or("body");
            warnings.push(Warning(format!("roots on body '{body}': {problem}")));
        }
    }
}

/// The groom after the scene's edits and its resampling.
fn edited(
    scene: &Scene,
    mut groom: Groom,
    skin: Option<Skin<'_>>,
    warnings: &mut Vec<Warning>,
) -> Result<Groom, SimulationError> {
    for (place, edit) in scene.groom.edits.iter().enumerate() {
        let wrong = |reason: String| scene.error(&format!("groom.edit.{place}"), reason);
        let (checked, repairs) = edit
            .apply(&groom, skin)
            .map_err(|error| wrong(error.to_string()))?
            .checked()
            .map_err(|error| wrong(format!("what is left cannot be used: {error}")))?;
        if !repairs.is_empty() {
            warnings.push(Warning(format!("after edit {} the groom was repaired: {repairs}", place + 1)));
        }
        groom = checked;
    }
    Ok(match scene.groom.resample {
        Some(vertices) => resample(&groom, vertices as usize),
        None => groom,
    })
}

/// The groom as its source has it, checked and repaired.
fn source_groom(
    scene: &Scene,
    holder: Option<&Track>,
    library: &dyn Library,
    warnings: &mut Vec<Warning>,
) -> Result<Groom, SimulationError> {
    let start = scene.time.start;
    let groom = match &scene.groom.source {
        GroomSource::File(file) => {
            let groom = library.groom_as(file, &scene.groom.of_file).map_err(SimulationError::Groom)?;
            warnings.extend(library.notes().into_iter().map(Warning));
            warnings
                .extend(groom.curves.unlikely_size().map(|text| Warning(format!("groom '{file}': {text}"))));
            groom
        }
        GroomSource::Style(style) => {
            let track = holder.ok_or_else(|| {
                SimulationError::Groom(
                    "a style grows on a body: add a [[body]] and name it in [groom] body".into(),
                )
            })?;
            let style_of_scene = style.style()?;
            let pose = track.pose(start);
            let surface = Surface {
                mesh: TriMesh { points: track.points(start), triangles: track.mesh.triangles.clone() },
                density: track.scalp.0.clone(),
                comb: track.scalp.1.iter().map(|&comb| pose.rotation.as_quat() * comb).collect(),
                front: pose.rotation.as_quat() * Vec3::Z,
            };
            let grown = grow(&surface, &style_of_scene, u64::from(style.seed));
            grown.map_err(|error| SimulationError::Groom(error.to_string()))?
        }
        GroomSource::Builtin(settings) => {
            let BuiltinGroom::HairyBall = settings.name;
            let mut groom = hairy_ball(settings.strands as usize, u64::from(settings.seed));
            if let Some(track) = holder {
                let pose = track.pose(start);
                groom.curves.points.iter_mut().for_each(|p| *p = pose.apply(p.as_dvec3()).as_vec3());
            }
            groom
        }
    };
    let (groom, repairs) = groom.checked().map_err(|error| {
        SimulationError::Groom(match &scene.groom.source {
            GroomSource::File(file) => format!("'{file}': {error}"),
            _ if matches!(error, GroomError::TooFar { .. }) => {
                "the hair grows more than 1000 km from the origin; place its body nearer to the origin"
                    .to_owned()
            }
            _ => error.to_string(),
        })
    })?;
    if !repairs.is_empty() {
        warnings.push(Warning(format!("the groom was repaired: {repairs}")));
    }
    Ok(groom)
}

/// Where the strands of `groom` sit on the body that holds them.
pub(super) fn seats(groom: &Groom, bodies: &Bodies, holder: usize, deforms: bool) -> Vec<Seat> {
    let start = bodies.at(0.0);
    let sit = |strand: usize| match groom.roots[strand] {
        // A body that moves as a whole carries all seats alike.
        _ if !deforms => Seat::Body,
        Root::Triangle { triangle, weights } => Seat::Triangle { triangle, weights },
        Root::Free | Root::Rigid => {
            let root = groom.curves.strand(strand)[0];
            match start.closest(holder, root) {
                Some(hit) => Seat::Triangle { triangle: hit.triangle as u32, weights: hit.weights },
                None => Seat::Body,
            }
        }
    };
    (0..groom.strands()).map(sit).collect()
}

/// How many vertices each strand holds at its root, and at its tip where that is held too.
pub(super) fn pinned(groom: &Groom, settings: &GroomSettings) -> Result<Vec<usize>, SimulationError> {
    let usual = settings.pinned as usize;
    let mut counts = vec![usual; groom.strands()];
    let Some(bangs) = &settings.bangs else { return Ok(counts) };
    match &bangs.place {
        BangsPlace::Ball { center, radius } => {
            for (strand, count) in counts.iter_mut().enumerate() {
                let root = groom.curves.strand(strand).first().map(|point| point.as_dvec3());
                if root.is_some_and(|root| root.distance(*center) <= *radius) {
                    *count = bangs.pinned as usize;
                }
            }
        }
        BangsPlace::Painted { attribute } => {
            let named = groom.attributes.iter().find(|one| {
                one.name == *attribute && one.domain == Domain::Strand && one.values.len() == groom.strands()
            });
            let Some(Values::Float(painted)) = named.map(|one| &one.values) else {
                let problem = format!(
                    "groom.bangs.attribute: the groom has no attribute '{attribute}' with one number for each strand"
                );
                return Err(SimulationError::Groom(problem));
            };
            for (count, &share) in counts.iter_mut().zip(painted) {
                let more = f64::from(bangs.pinned) - usual as f64;
                *count = (usual as f64 + more * f64::from(share.clamp(0.0, 1.0))).round().max(1.0) as usize;
            }
        }
    }
    Ok(counts)
}

/// Holds the strands of `groom` as the scene asks, with so many vertices of each at each held end.
pub(super) fn hold(
    groom: &Groom,
    seats: &[Seat],
    attach: Attach,
    pinned: &[usize],
    bodies: &Bodies,
    holder: usize,
) -> Attachments {
    let mut attachments = Attachments::default();
    for (strand, (&seat, &pinned)) in seats.iter().zip(pinned).enumerate() {
        let points: Vec<DVec3> = groom.curves.strand(strand).iter().map(|p| p.as_dvec3()).collect();
        // At least one vertex is left to move.
        let count = points.len();
        let strand = strand as u32;
        match attach {
            Attach::None => {}
            Attach::Root => {
                attachments.hold(bodies, holder, seat, strand, 0, &points[..pinned.min(count - 1)]);
            }
            Attach::BothEnds => {
                let pinned = pinned.min((count - 1) / 2).max(1);
                attachments.hold(bodies, holder, seat, strand, 0, &points[..pinned]);
                let first = count - pinned;
                attachments.hold(bodies, holder, seat, strand, first as u32, &points[first..]);
            }
        }
    }
    attachments
}

/// Strands that follow simulated guides.
#[derive(Debug)]
pub(super) struct Followers {
    follow: Follow,
    /// The roots of all strands, held as they sit on the body.
    roots: Attachments,
    /// Vertices of each strand.
    counts: Vec<usize>,
}

/// Picks the guides of a scene: the guides' groom and the strands that follow.
pub(super) fn pick(
    groom: &Groom,
    seats: &[Seat],
    settings: &GuideSettings,
    bodies: &Bodies,
    holder: usize,
) -> Result<(Groom, Vec<Seat>, Followers), SimulationError> {
    let wrong = |problem: String| SimulationError::Groom(problem);
    let wanted = (settings.fraction * groom.strands() as f64).ceil().max(1.0) as usize;
    let seed = u64::from(settings.seed);
    let picked = match settings.pick {
        GuidePick::Farthest => pick_guides(groom, wanted, Pick::Farthest, seed),
        GuidePick::Random => pick_guides(groom, wanted, Pick::Random, seed),
        GuidePick::Marked => (0..groom.guides.len()).filter(|&strand| groom.guides[strand]).collect(),
    };
    if picked.is_empty() {
        return Err(wrong(
            "the groom marks no strands as guides; set groom.guides.pick to \"farthest\"".into(),
        ));
    }
    let mut guides = groom.subset(&picked).map_err(|error| wrong(error.to_string()))?;
    if let Some(vertices) = settings.vertices {
        let vertices = (vertices * guides.strands() as f64).round() as usize;
        guides = resample_in_all(&guides, vertices);
    }
    let mut follow = Follow::bind(&guides, groom).map_err(|error| wrong(error.to_string()))?;
    let (root, tip) = (settings.blend.root as f32, settings.blend.tip as f32);
    follow.blend = FollowBlend { root, tip, keep_lengths: settings.keep_lengths };
    let guide_seats = picked.iter().map(|&strand| seats[strand]).collect();
    let roots = hold(groom, seats, Attach::Root, &vec![1; groom.strands()], bodies, holder);
    let counts = groom.curves.iter().map(<[Vec3]>::len).collect();
    Ok((guides, guide_seats, Followers { follow, roots, counts }))
}

impl Followers {
    /// The points of all strands for posed guides, at the end of the step under way. `outside` gets, for each of them, whether it is outside of
    /// all bodies for sure; nothing where there are none.
    pub(super) fn pose(
        &mut self,
        guides: &[Vec3],
        bodies: &Bodies,
        points: &mut [Vec3],
        outside: &mut Vec<bool>,
    ) -> Result<(), SimulationError> {
        let roots: Vec<Vec3> = self
            .roots
            .items
            .par_iter()
            .with_min_len(1024)
            .map(|attachment| {
                let frame = attachment.seat.frame(bodies, attachment.body as usize, 1.0);
                frame.apply(self.roots.points_of(attachment)[0]).as_vec3()
            })
            .collect();
        self.follow
            .apply(guides, &roots, points)
            .map_err(|error| SimulationError::Groom(error.to_string()))?;
        let obstacles = bodies.at(1.0);
        outside.clear();
        if obstacles.any_collides() {
            outside.resize(points.len(), false);
            self.leave_bodies(&obstacles, points, outside);
        }
        Ok(())
    }

    /// Followers do not feel bodies: each strand leaves them from root to tip, keeping its lengths.
    fn leave_bodies(&self, obstacles: &Obstacles<'_>, mut points: &mut [Vec3], mut outside: &mut [bool]) {
        let mut strands = Vec::with_capacity(self.counts.len());
        for &count in &self.counts {
            let strand = points.split_off_mut(..count).unwrap_or_default();
            strands.push((strand, outside.split_off_mut(..count).unwrap_or_default()));
        }
        strands.into_par_iter().with_min_len(64).for_each(|(strand, outside)| {
            let (mut carried, mut lookout) = (Vec3::ZERO, Lookout::new(obstacles));
            for i in 1..strand.len() {
                strand[i] += carried;
                let (leader, edge) = (strand[i - 1], strand[i] - strand[i - 1]);
                let near = lookout.nearer(strand[i], CLEARANCE).is_some();
                outside[i] = !near;
                if let Some(touch) = near.then(|| resolve(obstacles, leader, edge, CLEARANCE)).flatten() {
                    carried += touch.edge - edge;
                    strand[i] = leader + touch.edge;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groom::{Attribute, Curves};

    /// Five strands along x, a decimetre apart.
    fn row() -> Groom {
        let mut curves = Curves::default();
        for strand in 0..5 {
            curves.push((0..8).map(|i| Vec3::new(0.1 * strand as f32, -0.01 * i as f32, 0.0)));
        }
        let values = Values::Float(vec![0.0, 0.25, 0.5, 1.0, 7.0]);
        let attributes = vec![Attribute { name: "fringe".into(), domain: Domain::Strand, values }];
        Groom { curves, attributes, ..Groom::default() }
    }

    fn counts(bangs: &str) -> Result<Vec<usize>, String> {
        let text = format!("[groom]\nbuiltin = 'hairy-ball'\npinned = 2\nbangs = {bangs}\n");
        let scene = Scene::from_toml(&text, "a.toml").map_err(|error| error.to_string())?;
        pinned(&row(), &scene.groom).map_err(|error| error.to_string())
    }

    #[test]
    fn bangs_hold_more_vertices_where_they_are_or_are_painted() {
        let ball = counts("{ pinned = 6, center = [0.1, 0.0, 0.0], radius = 0.11 }");
        assert_eq!(ball, Ok(vec![6, 6, 6, 2, 2]));
        assert_eq!(counts("{ pinned = 6, attribute = 'fringe' }"), Ok(vec![2, 3, 4, 6, 6]));
        let unknown = counts("{ attribute = 'fring' }").unwrap_err();
        assert!(unknown.contains("no attribute 'fring'"), "{unknown}");
        let both = counts("{ center = [0, 0, 0], radius = 1, attribute = 'fringe' }").unwrap_err();
        assert!(both.contains("bangs"), "{both}");
    }
}
