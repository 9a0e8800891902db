use hairloom_picture::plot::Figure;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// What an experiment found: the same shape of JSON for all.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// Name of the solver.
    pub solver: &'static str,
    /// All parameters as run, those of the solver under `solver`.
    pub params: serde_json::Value,
    /// Wall time [s].
    pub seconds: f64,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What was checked.
    pub checks: Vec<Check>,
}

impl Outcome {
    /// Whether all checks hold.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

/// One line of measurements; keys keep their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row(pub Vec<(&'static str, serde_json::Value)>);

impl Row {
    /// An empty row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value. Numbers that are not finite become null.
    pub fn with(mut self, key: &'static str, value: impl Into<serde_json::Value>) -> Self {
        self.0.push((key, value.into()));
        self
    }

    /// The value of `key`, if the row has it.
    pub fn get(&self, key: &str) -> Option<&serde_json::Value> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// On which side of its limit a value must lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Bound {
    /// At most the limit.
    #[serde(rename = "at most")]
    AtMost,
    /// At least the limit.
    #[serde(rename = "at least")]
    AtLeast,
}

/// A value held against its limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What is checked.
    pub name: String,
    /// The value found.
    pub value: f64,
    /// Its limit.
    pub limit: f64,
    /// The side on which the value must lie.
    pub bound: Bound,
    /// Whether it does. A value that is no number never does.
    pub ok: bool,
}

impl Check {
    /// A value that must be `limit` or less.
    pub fn at_most(name: impl Into<String>, value: f64, limit: f64) -> Self {
        Self { name: name.into(), value, limit, bound: Bound::AtMost, ok: value <= limit }
    }

    /// A value that must be `limit` or more.
    pub fn at_least(name: impl Into<String>, value: f64, limit: f64) -> Self {
        Self { name: name.into(), value, limit, bound: Bound::AtLeast, ok: value >= limit }
    }
}

/// What an experiment hands back to the lab.
#[derive(Debug, Clone)]
pub(crate) struct Findings {
    pub(crate) rows: Vec<Row>,
    pub(crate) checks: Vec<Check>,
    pub(crate) figure: Figure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_know_their_side() {
        assert!(Check::at_most("a", 1.0, 1.0).ok && !Check::at_most("a", 1.1, 1.0).ok);
        assert!(Check::at_least("a", 1.0, 1.0).ok && !Check::at_least("a", 0.9, 1.0).ok);
        assert!(!Check::at_most("a", f64::NAN, 1.0).ok && !Check::at_least("a", f64::NAN, 1.0).ok);
    }

    #[test]
    fn rows_keep_the_order_of_their_keys() {
        let row = Row::new().with("zeta", 1.5).with("alpha", "text").with("lost", f64::NAN);
        let text = serde_json::to_string(&row).unwrap_or_default();
        assert_eq!(text, r#"{"zeta":1.5,"alpha":"text","lost":null}"#);
    }
}
