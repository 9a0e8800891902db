use std::fmt;
use std::str::FromStr;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{LocalProblem, Sliding, alart_curnier, enumerate, natural_map, newton, projected};

/// How the force of one contact is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Newton's method on the modified Fischer–Burmeister function.
    #[default]
    Mfb,
    /// The enumerative solver: take-off, stick, then a quartic.
    Enum,
    /// Newton's method on the Alart–Curnier function, pure.
    Pac,
    /// The same, damped by a line search.
    Dac,
    /// One pass of projected corrections from no force (Duriez et al. 2006). Approximate.
    Duriez06,
    /// Such passes to a fixed point (Duriez 2008).
    Duriez08,
    /// A pyramid of four sides (Otaduy et al. 2009). Approximate.
    FourSides,
    /// Newton's method on the one equation of sliding, within a bracket.
    Secular,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 8] = [
        Self::Mfb,
        Self::Enum,
        Self::Pac,
        Self::Dac,
        Self::Duriez06,
        Self::Duriez08,
        Self::FourSides,
        Self::Secular,
    ];

    /// The method's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mfb => "mfb",
            Self::Enum => "enum",
            Self::Pac => "pac",
            Self::Dac => "dac",
            Self::Duriez06 => "duriez06",
            Self::Duriez08 => "duriez08",
            Self::FourSides => "4sides",
            Self::Secular => "secular",
        }
    }

    /// Whether what the method converges to is Coulomb's law itself.
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Duriez06 | Self::FourSides)
    }
}

/// A local solver: a method, and what stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalSolver {
    /// The method.
    pub method: Method,
    /// Whether the enumerative solver is asked where the method fails.
    pub fail_safe: bool,
    /// Whether take-off and stick are looked at before the method is.
    pub direct: bool,
}

impl Default for LocalSolver {
    /// The hybrid: MFB with the enumerative solver behind it.
    fn default() -> Self {
        Self { method: Method::Mfb, fail_safe: true, direct: true }
    }
}

impl fmt::Display for LocalSolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.method.name())?;
        formatter.write_str(if self.fail_safe { "+enum" } else { "" })
    }
}

/// A local solver's name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no local solver {name:?}; there are {} (each with or without +enum)", names())]
pub struct UnknownLocalSolver {
    name: String,
}

fn names() -> String {
    Method::ALL.map(Method::name).join(", ")
}

impl FromStr for LocalSolver {
    type Err = UnknownLocalSolver;

    fn from_str(name: &str) -> Result<Self, UnknownLocalSolver> {
        let (method, fail_safe) = match name.strip_suffix("+enum") {
            Some(method) => (method, true),
            None => (name, false),
        };
        let method = Method::ALL.into_iter().find(|known| known.name() == method);
        let method = method.ok_or_else(|| UnknownLocalSolver { name: name.to_owned() })?;
        Ok(Self { method, fail_safe, direct: fail_safe && method.is_exact() })
    }
}

/// Forces of a method beyond so many times what would stop the contact if it were equally heavy all around are looked at by the fail-safe.
const PLAUSIBLE: f64 = 1.0e9;

/// How a force was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// By the method itself.
    Method,
    /// By the fail-safe.
    FailSafe,
    /// Not to tolerance, but the method has no fail-safe: its best.
    Best,
    /// Not at all: the force is zero.
    Nothing,
}

/// The answer of a local solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// The force [N s].
    pub force: DVec3,
    /// How it was found.
    pub found: Found,
}

impl LocalSolver {
    /// Solves one contact from the force `guess` to `tolerance`, relative to the forces that the contact's velocity
    /// stands for (the natural map over `‖r‖ + ρ ‖b‖`).
    pub fn solve(&self, problem: &LocalProblem, guess: DVec3, tolerance: f64) -> Solved {
        self.solve_prepared(problem, &Sliding::new(&problem.matrix), guess, tolerance)
    }

    /// The same with the operator taken apart beforehand.
    #[inline(always)]
    pub fn solve_prepared(
        &self,
        problem: &LocalProblem,
        sliding: &Sliding,
        guess: DVec3,
        tolerance: f64,
    ) -> Solved {
        if self.direct
            && let Some(force) = sliding.take_off_or_stick(problem.offset, problem.friction)
        {
            return Solved { force, found: Found::Method };
        }
        let mass = problem.mass();
        let load = mass * problem.offset.length();
        let force = self.attempt(problem, sliding, guess, 0.25 * tolerance * load);
        let error = natural_map(force, problem.velocity(force), problem.friction, mass).length();
        let size = force.length();
        // NaN is no success. Where there is no solution forces grow without limit, and the error beside them vanishes.
        if error <= tolerance * (load + size) && size <= PLAUSIBLE * load {
            return Solved { force, found: Found::Method };
        }
        if !self.fail_safe {
            let force = if force.is_finite() { force } else { DVec3::ZERO };
            return Solved { force, found: Found::Best };
        }
        match enumerate::solve(problem, sliding) {
            Some(force) => Solved { force, found: Found::FailSafe },
            None => Solved { force: DVec3::ZERO, found: Found::Nothing },
        }
    }

    #[inline(always)]
    fn attempt(&self, problem: &LocalProblem, sliding: &Sliding, guess: DVec3, tolerance: f64) -> DVec3 {
        const NEWTON: usize = 25;
        const FIXED_POINT: usize = 200;
        match self.method {
            Method::Mfb => newton::solve(problem, guess, tolerance, NEWTON),
            Method::Secular => {
                let velocity = problem.velocity(guess);
                let square = guess.y * guess.y + guess.z * guess.z;
                let alpha = -(velocity.y * guess.y + velocity.z * guess.z) / square;
                sliding.solve(problem.offset, problem.friction, alpha).unwrap_or(DVec3::NAN)
            }
            Method::Enum => enumerate::solve(problem, sliding).unwrap_or(DVec3::NAN),
            Method::Pac => alart_curnier::solve(problem, guess, tolerance, NEWTON, false),
            Method::Dac => alart_curnier::solve(problem, guess, tolerance, 2 * NEWTON, true),
            Method::Duriez06 => projected::duriez06(problem),
            Method::Duriez08 => projected::duriez08(problem, guess, tolerance, FIXED_POINT),
            Method::FourSides => projected::four_sides(problem, guess, tolerance, FIXED_POINT),
        }
    }
}
