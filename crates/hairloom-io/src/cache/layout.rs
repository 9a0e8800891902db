//! The names in our USD caches.

/// The hair.
pub(super) const HAIR: &str = "/World/Hair";

/// The guides among the hair, once more, for programs that show guides.
pub(super) const GUIDE_CURVES: &str = "/World/Guides";

/// The key in a prim's own data that says that its strands are among others.
pub(crate) const COPY: &str = "hairloomCopy";

/// The folder of the bodies.
pub(super) const BODIES: &str = "/World/Bodies";

/// The strands' identifiers, among the primvars.
pub(crate) const IDS: &str = "id";

/// Texture coordinates of the roots, among the primvars.
pub(crate) const ROOT_UV: &str = "st";

/// The normals of the body at the roots: the name of a groom's attribute, one for each strand, and of the primvar.
pub const ROOT_NORMAL: &str = "rootNormal";

/// Which strands are guides, 0 or 1, among the primvars.
pub(crate) const GUIDES: &str = "guide";

/// Colours, among the primvars.
pub(crate) const COLOR: &str = "displayColor";

/// The colour of hair that has none: brown.
pub(super) const HAIR_COLOR: [f32; 3] = [0.13, 0.075, 0.045];

/// The colour of bodies that have none.
pub(crate) const BODY_COLOR: [f32; 3] = [0.6, 0.56, 0.53];

/// The key of the run's fingerprint in the layer's own data.
pub(crate) const FINGERPRINT: &str = "hairloomRun";

/// A valid and unused name for a prim.
pub(crate) fn prim_name(name: &str, used: &mut Vec<String>) -> String {
    let mut base: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if !base.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        base.insert(0, '_');
    }
    let mut name = base.clone();
    let mut count = 1;
    while used.contains(&name) {
        count += 1;
        name = format!("{base}_{count}");
    }
    used.push(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::prim_name;

    #[test]
    fn names_become_valid_and_stay_apart() {
        let mut used = Vec::new();
        let names = ["head", "left arm", "left-arm", "2", "", "Kopf ä", "head", "head_2"];
        let made: Vec<String> = names.iter().map(|name| prim_name(name, &mut used)).collect();
        let wanted = ["head", "left_arm", "left_arm_2", "_2", "_", "Kopf__", "head_2", "head_2_2"];
        assert_eq!(made, wanted);
    }
}
