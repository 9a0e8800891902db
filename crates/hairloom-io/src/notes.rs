//! What a reader leaves out of a file, or changes, to be told to whoever asked for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many are told word for word.
const MOST_TOLD: usize = 16;

/// Sentences, each kept once.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    texts: Vec<String>,
    more: usize,
}

impl Notes {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a sentence.
    pub(crate) fn tell(&self, text: impl FnOnce() -> String) {
        let mut told = self.told();
        if told.texts.len() == MOST_TOLD {
            told.more += 1;
            return;
        }
        let text = text();
        if !told.texts.contains(&text) {
            told.texts.push(text);
        }
    }

    /// All of them in one line, if there are any.
    pub(crate) fn line(&self) -> Option<String> {
        let told = self.told();
        let more = (told.more > 0).then(|| format!("more is left out ({} times)", told.more));
        let all: Vec<&str> = told.texts.iter().map(String::as_str).chain(more.as_deref()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// All of them, which are forgotten.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.told().texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_kept_once_and_not_without_end() {
        let notes = Notes::default();
        assert_eq!(notes.line(), None);
        for number in [0, 0, 1] {
            notes.tell(|| format!("note {number}"));
        }
        assert_eq!(notes.line().unwrap(), "note 0; note 1");
        for number in 0..100 {
            notes.tell(|| format!("note {number}"));
        }
        let line = notes.line().unwrap();
        assert!(line.ends_with("note 15; more is left out (84 times)"), "{line}");
    }
}
