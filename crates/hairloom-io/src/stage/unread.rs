//! What curves have and a groom has no place for.

use crate::cache::CacheError;
use crate::notes::Notes;
use crate::usd::{ComposedPrim, Value};

impl Notes {
    /// Tells of a prim whose kind is not read, or not all of it.
    pub(super) fn prim_left_out(&self, prim: ComposedPrim<'_>, kind: &str) {
        let path = prim.path();
        match kind {
            "PointInstancer" => self.tell(|| {
                format!(
                    "{path}: copies by a PointInstancer are left out; what they are copies of is read once"
                )
            }),
            "NurbsCurves" | "HermiteCurves" => {
                self.tell(|| format!("{path}: {kind} are left out; expected BasisCurves"));
            }
            _ => {}
        }
    }

    /// Tells of a prim without points.
    pub(super) fn empty_left_out(&self, prim: ComposedPrim<'_>) {
        self.tell(|| format!("{} is left out: it has no points", prim.path()));
    }

    /// Tells of the primvars of curves that a groom has no place for.
    pub(super) fn primvars_left_out(&self, prim: ComposedPrim<'_>) -> Result<(), CacheError> {
        for attribute in prim.attributes()? {
            let Some(name) = attribute.name().strip_prefix("primvars:") else { continue };
            if name.ends_with(":indices") {
                continue;
            }
            let type_name = attribute.metadata("typeName")?;
            let type_name = type_name.as_ref().and_then(Value::as_str).unwrap_or_default();
            if !has_place(type_name) {
                self.tell(|| format!("{}: primvar {name} is left out: it is {type_name}", prim.path()));
                continue;
            }
            let interpolation = attribute.metadata("interpolation")?;
            let constant = matches!(interpolation.as_ref().and_then(Value::as_str), None | Some("constant"));
            let several = constant
                && name != "widths"
                && type_name.ends_with("[]")
                && attribute.default()?.is_some_and(|value| value.element_count() > 1);
            if several {
                self.tell(|| {
                    format!(
                        "{}: primvar {name} is left out: it is constant, with several values",
                        prim.path()
                    )
                });
            }
        }
        Ok(())
    }
}

/// Whether a groom can hold values of a type: numbers, pairs and triples.
fn has_place(type_name: &str) -> bool {
    let base = type_name.trim_end_matches("[]");
    let other = ["string", "token", "asset", "opaque", "matrix", "frame", "quat"];
    let four = base.trim_end_matches(char::is_alphabetic).ends_with('4') && !base.ends_with("64");
    !four && !other.iter().any(|start| base.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::has_place;

    #[test]
    fn numbers_pairs_and_triples_have_a_place() {
        for name in
            ["int64[]", "uint64", "half", "texCoord2d[]", "color3h[]", "vector3d", "bool[]", "uchar[]"]
        {
            assert!(has_place(name), "{name}");
        }
        for name in ["string[]", "token", "color4f[]", "float4", "quath[]", "matrix4d[]", "int4[]", "asset"] {
            assert!(!has_place(name), "{name}");
        }
    }
}
