//! Parameters from `key = value` pairs: the experiment's own, and behind `solver.` those of its solver.

use hairloom::solve::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::LabError;

/// The tag of [`Method`] among its parameters.
const TAG: &str = "method";
/// Before the keys of the solver.
const PREFIX: &str = "solver.";

/// What to run with.
pub(crate) struct Settings<P> {
    pub(crate) params: P,
    pub(crate) method: Method,
}

impl<P: Default + Serialize + DeserializeOwned> Settings<P> {
    /// The usual values of the experiment's own parameters.
    pub(crate) fn defaults() -> Table {
        table_of(&P::default())
    }

    pub(crate) fn read(
        experiment: &'static str,
        solvers: &'static [&'static str],
        adapt: fn(&mut Method),
        solver: Option<&str>,
        sets: &[(String, Value)],
    ) -> Result<Self, LabError> {
        let name = solver.or(solvers.first().copied()).unwrap_or_default();
        let method = solvers.contains(&name).then(|| Method::by_name(name)).flatten();
        let mut usual = method.ok_or_else(|| LabError::unknown_solver(experiment, name, solvers))?;
        adapt(&mut usual);
        let (mut own, mut inner) = (Vec::new(), Vec::new());
        for (key, value) in sets {
            match (key.strip_prefix(PREFIX), value) {
                (Some(key), _) => inner.push((key.to_owned(), value.clone())),
                (None, Value::Table(table)) if key == PREFIX.trim_end_matches('.') => {
                    inner.extend(table.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                (None, _) => own.push((key.clone(), value.clone())),
            }
        }
        let params = overlay(&P::default(), &own, "", || format!("experiment '{experiment}'"))?;
        let method = overlay(&usual, &inner, PREFIX, || format!("solver '{name}'"))?;
        check_method(&method)?;
        Ok(Self { params, method })
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        let mut params = serde_json::to_value(&self.params).unwrap_or_default();
        let mut inner = serde_json::to_value(&self.method).unwrap_or_default();
        if let (Some(params), Some(table)) = (params.as_object_mut(), inner.as_object_mut()) {
            table.remove(TAG);
            params.insert("solver".to_owned(), inner);
        }
        params
    }
}

/// The parameters of an experiment without a solver of hair.
pub(crate) fn own_parameters<P: Default + Serialize + DeserializeOwned>(
    experiment: &'static str,
    sets: &[(String, Value)],
) -> Result<P, LabError> {
    overlay(&P::default(), sets, "", || format!("experiment '{experiment}'"))
}

/// The names of a solver's parameters.
pub(crate) fn solver_parameters(method: &Method) -> Vec<String> {
    table_of(method).keys().filter(|key| *key != TAG).cloned().collect()
}

fn table_of(value: &impl Serialize) -> Table {
    Table::try_from(value).unwrap_or_default()
}

/// `base` with some of its keys set anew.
fn overlay<T: Serialize + DeserializeOwned>(
    base: &T,
    sets: &[(String, Value)],
    prefix: &str,
    owner: impl Fn() -> String,
) -> Result<T, LabError> {
    let usual = table_of(base);
    let known: Vec<&str> = usual.keys().map(String::as_str).filter(|key| *key != TAG).collect();
    let bad = |key: &str, error: toml::de::Error| {
        // The message alone: the place is the key, and there is no text to point into.
        let problem = error.message().replace("expected usize", "expected a whole number");
        let problem = problem.replace("expected f64", "expected a number");
        LabError::BadParameter { key: format!("{prefix}{key}"), problem }
    };
    let mut merged = usual.clone();
    for (key, value) in sets {
        if !known.contains(&key.as_str()) {
            return Err(LabError::unknown_parameter(key, prefix, owner(), &known));
        }
        // Each value alone first, so that the error names the right key.
        let mut single = usual.clone();
        single.insert(key.clone(), value.clone());
        single.try_into::<T>().map_err(|error| bad(key, error))?;
        merged.insert(key.clone(), value.clone());
    }
    merged.try_into().map_err(|error| bad("", error))
}

fn check_method(method: &Method) -> Result<(), LabError> {
    method.check().map_err(|(key, expected)| {
        let problem = format!("expected {expected}");
        LabError::BadParameter { key: format!("{PREFIX}{key}"), problem }
    })
}
