//! Which warnings are shown, and which count as errors: the words of `-W`.

use super::Warned;
use std::collections::BTreeSet;

/// What is done with a kind of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing is said.
    Off,
    /// It is shown.
    Warning,
    /// It is shown, and the program is refused.
    Error,
}

/// Levels of all kinds. At first all are shown, and none is an error.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    off: BTreeSet<&'static str>,
    /// All are errors, but for those that are excepted.
    all: bool,
    excepted: BTreeSet<&'static str>,
    errors: BTreeSet<&'static str>,
}

impl Levels {
    /// Takes a word behind `-W`: `NAME`, `no-NAME`, `error`, `error=NAME`, `no-error`, `no-error=NAME`, `all`, `no-all`.
    /// Of two that contradict each other the later one holds.
    pub fn word(&mut self, word: &str) -> Result<(), String> {
        let names = || Warned::ALL.iter().map(|(name, _)| *name);
        match word {
            "all" => self.off.clear(),
            "no-all" => self.off = names().collect(),
            "error" => (self.all, self.excepted) = (true, BTreeSet::new()),
            "no-error" => (self.all, self.errors) = (false, BTreeSet::new()),
            _ => {
                if let Some(name) = word.strip_prefix("error=") {
                    let name = known(name)?;
                    self.errors.insert(name);
                    self.off.remove(name);
                    self.excepted.remove(name);
                } else if let Some(name) = word.strip_prefix("no-error=") {
                    let name = known(name)?;
                    self.errors.remove(name);
                    self.excepted.insert(name);
                } else if let Ok(name) = known(word) {
                    self.off.remove(name);
                } else if let Some(name) = word.strip_prefix("no-") {
                    self.off.insert(known(name)?);
                } else {
                    known(word)?;
                }
            }
        }
        Ok(())
    }

    /// The level of a kind, by its name.
    pub fn of(&self, name: &str) -> Level {
        if self.off.contains(name) {
            return Level::Off;
        }
        let is_error = self.errors.contains(name) || (self.all && !self.excepted.contains(name));
        if is_error { Level::Error } else { Level::Warning }
    }
}

fn known(name: &str) -> Result<&'static str, String> {
    let found = Warned::ALL.iter().find(|(known, _)| *known == name);
    found.map(|(known, _)| *known).ok_or_else(|| {
        let all: Vec<&str> = Warned::ALL.iter().map(|(name, _)| *name).collect();
        let words = "NAME, no-NAME, error, error=NAME, no-error, no-error=NAME, all or no-all";
        format!("`{name}` is no warning; -W takes {words}, and names are {}", all.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::{Level, Levels};

    fn of(words: &[&str], name: &str) -> Level {
        let mut levels = Levels::default();
        words.iter().for_each(|word| levels.word(word).unwrap());
        levels.of(name)
    }

    #[test]
    fn the_later_word_holds() {
        assert_eq!(of(&[], "overflow"), Level::Warning);
        assert_eq!(of(&["no-overflow"], "overflow"), Level::Off);
        assert_eq!(of(&["no-overflow", "overflow"], "overflow"), Level::Warning);
        assert_eq!(of(&["no-all", "overflow"], "overflow"), Level::Warning);
        assert_eq!(of(&["no-all", "overflow"], "no-main"), Level::Off);
        assert_eq!(of(&["error"], "no-main"), Level::Error);
        assert_eq!(of(&["error", "no-error=no-main"], "no-main"), Level::Warning);
        assert_eq!(of(&["no-error=no-main", "error"], "no-main"), Level::Error);
        assert_eq!(of(&["no-overflow", "error=overflow"], "overflow"), Level::Error);
        assert_eq!(of(&["no-no-main"], "no-main"), Level::Off);
        assert_eq!(of(&["error", "no-overflow"], "overflow"), Level::Off);
    }

    #[test]
    fn what_is_no_warning_is_told_with_those_that_are() {
        let why = Levels::default().word("unused").unwrap_err();
        assert!(why.contains("`unused` is no warning") && why.contains("unused-table"), "{why}");
    }
}
