//! How a run tells of itself: a bar with the time left on a terminal, plain lines otherwise.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::tell;

/// Plain lines come at most this often.
const QUIET: Duration = Duration::from_secs(2);

/// Progress of a run, on standard error.
pub(crate) struct Progress {
    what: &'static str,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    started: Instant,
    first: u64,
}

impl Progress {
    /// Progress of `what`, as in "frame".
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, bar: None, last_line: None, started: Instant::now(), first: 0 }
    }

    /// Begins at step `first` of `total`.
    pub(crate) fn begin(&mut self, first: u64, total: u64) {
        (self.started, self.first) = (Instant::now(), first);
        if !std::io::stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let template = format!("{{bar:32}} {} {{pos}}/{{len}}  {{msg}}  {{eta}} left", self.what);
        bar.set_style(
            ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_position(first);
        // The time left comes from this run's own steps.
        bar.reset_eta();
        self.bar = Some(bar);
    }

    /// Step `done` of `total` is finished.
    pub(crate) fn step(&mut self, done: u64, total: u64, message: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(message.to_owned());
            bar.set_position(done);
            return;
        }
        let due = self.last_line.is_none_or(|last| last.elapsed() >= QUIET);
        if !due && done != total {
            return;
        }
        self.last_line = Some(Instant::now());
        let steps = done.saturating_sub(self.first).max(1);
        let left = self.started.elapsed().as_secs_f64() / steps as f64 * total.saturating_sub(done) as f64;
        tell(&format!("{} {done}/{total}  {message}  {left:.0} s left", self.what));
    }

    /// Tells something without tearing the bar.
    pub(crate) fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell(text)),
            None => tell(text),
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
