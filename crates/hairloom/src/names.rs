//! Names that people type: which were expected, and which one they may have meant.

/// `. Did you mean 'name'?`, or nothing; for the end of an error message.
pub fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or(String::new(), |name| format!(". Did you mean '{name}'?"))
}

/// `none`, `a` or `one of a, b`.
pub fn one_of(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [only] => (*only).to_owned(),
        _ => format!("one of {}", names.join(", ")),
    }
}

/// The name most similar to `written`, when it is similar enough to have been meant.
pub fn suggest(written: &str, names: &[&str]) -> Option<String> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let written = plain(written);
    let tolerance = (written.chars().count() / 3).max(1);
    let nearest = names.iter().map(|name| (edit_distance(&written, &plain(name)), *name)).min()?;
    if nearest.0 <= tolerance {
        return Some(nearest.1.to_owned());
    }
    // A word cut short ("turb") or drawn out ("frames_per_second") is far in edits, yet surely meant.
    let shared = |name: &str| plain(name).starts_with(&written) || written.starts_with(&plain(name));
    let long = |name: &str| written.len().min(name.len()) >= 3;
    names.iter().find(|name| long(name) && shared(name)).map(|name| (*name).to_owned())
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        for (a, b, distance) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("fps", "pfs", 1), ("walk", "walks", 1)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn suggestions_are_near_or_absent() {
        let names = ["start", "end", "frames", "fps", "substeps"];
        assert_eq!(suggest("substep", &names).as_deref(), Some("substeps"));
        assert_eq!(suggest("Frames", &names).as_deref(), Some("frames"));
        assert_eq!(suggest("subs", &names).as_deref(), Some("substeps"));
        assert_eq!(suggest("frames_per_second", &names).as_deref(), Some("frames"));
        assert_eq!(suggest("velocity", &names), None);
        assert_eq!(suggest("anything", &[]), None);
    }
}
