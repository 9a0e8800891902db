use std::fmt::Display;
use std::process::ExitCode;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was asked for cannot be done: exit code 2.
    BadInput(String),
    /// It could be done, and went wrong on the way: exit code 1.
    Run(String),
    /// Nobody reads what we print any more, as behind `| head`.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn bad_input(problem: impl Display) -> Self {
        Self::BadInput(problem.to_string())
    }

    pub(crate) fn run(problem: impl Display) -> Self {
        Self::Run(problem.to_string())
    }

    /// Tells the user, and chooses the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (text, code) = match self {
            Self::BadInput(text) => (text, 2),
            Self::Run(text) => (text, 1),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        crate::output::tell(&format!("error: {text}"));
        ExitCode::from(code)
    }
}
