//! What comes from files and names goes to a terminal without what a terminal would obey.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Mutex;

/// Longest line of a message; an excerpt of a user's file may be a line of a megabyte.
const LONGEST_LINE: usize = 1_000;

/// Text with control characters as escapes, `\u{1b}`; ends of lines and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|c| if is_obeyed(c) { c.escape_unicode().to_string() } else { c.to_string() });
    Cow::Owned(escaped.collect())
}

/// A JSON document with what it does not escape itself as `\\u009b`.
pub fn json(document: &str) -> Cow<'_, str> {
    if !document.chars().any(is_obeyed) {
        return Cow::Borrowed(document);
    }
    let escaped = |c: char| if is_obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(document.chars().map(escaped).collect())
}

/// The same for a message, whose lines are cut when they are long.
pub fn message(message: &str) -> String {
    let lines = text(message);
    let cut = lines.split('\n').map(|line| match line.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => format!("{}... ({} characters)", &line[..at], line.chars().count()),
        None => line.to_owned(),
    });
    cut.collect::<Vec<_>>().join("\n")
}

/// Errors that were told.
static ERRORS: Mutex<String> = Mutex::new(String::new());

/// Writes a line to standard error. Where that is full or gone nobody can be told, and the exit code says enough.
pub fn tell(line: impl std::fmt::Display) {
    let line = line.to_string();
    let _ = writeln!(std::io::stderr(), "{line}");
    if line.starts_with("error[")
        && let Ok(mut errors) = ERRORS.lock()
    {
        errors.push_str(&line);
        errors.push('\n');
    }
}

/// The errors that were told until now, for whoever reads no text.
pub fn errors() -> String {
    ERRORS.lock().map(|errors| errors.clone()).unwrap_or_default()
}

/// Control characters, and those that turn the direction of what follows.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_the_rest_is_as_it_was() {
        assert_eq!(text("a\tb\nc \u{e9} \u{20ac}"), "a\tb\nc \u{e9} \u{20ac}");
        assert_eq!(text("\u{1b}[31mred\r\u{7f}\u{9b}0m\u{202e}x"), "\\u{1b}[31mred\\u{d}\\u{7f}\\u{9b}0m\\u{202e}x");
    }

    #[test]
    fn a_json_document_stays_one_with_the_same_strings() {
        let value = serde_json::json!({ "name": "a\u{1b}\u{7f}\u{9b}\u{202e}\u{e9}" });
        let shown = format!("{value:#}");
        let shown = json(&shown);
        assert!(shown.is_ascii() || !shown.chars().any(is_obeyed));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn a_long_line_is_cut_and_its_length_said_and_others_stay_whole() {
        let long = "x".repeat(5_000);
        let shown = message(&format!("first\n{long}\nlast"));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!((lines[0], lines[2]), ("first", "last"));
        assert!(lines[1].ends_with("x... (5000 characters)") && lines[1].len() < 1_050, "{}", lines[1]);
        assert_eq!(message(&"\u{20ac}".repeat(1_000)).chars().count(), 1_000);
    }
}
