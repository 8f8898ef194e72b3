//! What a parser says of a value, in words of TOML.

/// `invalid type: string "1", expected u16` as what was found and what is allowed; what is no such message stays.
pub(super) fn plain(message: &str) -> String {
    if message.contains("as i128") || message == "u64 value was too large" {
        return format!("the number is too large, allowed: at most {}", i64::MAX);
    }
    let split = |front: &str| message.strip_prefix(front).and_then(|rest| rest.rsplit_once(", expected "));
    if let Some((found, allowed)) = split("invalid type: ").or_else(|| split("invalid value: ")) {
        return format!("found {}, allowed: {}", value(found), kind(allowed));
    }
    if let Some((length, allowed)) = split("invalid length ") {
        return format!("found a list of {length}, allowed: {}", kind(allowed));
    }
    if let Some((found, allowed)) = split("unknown variant ") {
        return format!("found {found}, allowed: {}", allowed.strip_prefix("one of ").unwrap_or(allowed));
    }
    match message {
        "wanted string or table" => "allowed: text in quotes, or a table".to_owned(),
        other => other.to_owned(),
    }
}

/// A value as it was found.
fn value(found: &str) -> String {
    let number = |front: &str| found.strip_prefix(front).map(|text| text.trim_matches('`').to_owned());
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        _ => number("integer ")
            .or_else(|| number("floating point "))
            .or_else(|| number("boolean "))
            .or_else(|| Some(format!("text, {}", found.strip_prefix("string ")?)))
            .unwrap_or_else(|| found.to_owned()),
    }
}

/// What a key takes.
fn kind(allowed: &str) -> String {
    let whole = |least: u8, most: u64| format!("a whole number from {least} to {most}");
    match allowed {
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        // TOML has no number above this one.
        "u64" => whole(0, i64::MAX as u64),
        "a nonzero u32" => whole(1, u32::MAX.into()),
        "a nonzero u16" => whole(1, u16::MAX.into()),
        "a sequence" => "a list, [ ... ]".to_owned(),
        "a string" => "text in quotes".to_owned(),
        "path string" => "the name of a file in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a map" => "a table, { key = value, ... }".to_owned(),
        of if of.starts_with("struct ") => "a table, { key = value, ... }".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn values_and_kinds_are_said_in_words_of_toml() {
        for (message, words) in [
            ("invalid type: string \"1\", expected u16", "found text, \"1\", allowed: a whole number from 0 to 65535"),
            (
                "invalid value: integer `-1`, expected a nonzero u32",
                "found -1, allowed: a whole number from 1 to 4294967295",
            ),
            ("invalid type: boolean `true`, expected a string", "found true, allowed: text in quotes"),
            ("invalid type: map, expected a sequence", "found a table, allowed: a list, [ ... ]"),
            (
                "invalid length 1, expected struct Share with 2 elements",
                "found a list of 1, allowed: a table, { key = value, ... }",
            ),
            ("unknown variant `x`, expected `pass` or `drop`", "found `x`, allowed: `pass` or `drop`"),
            ("missing field `id`", "missing field `id`"),
        ] {
            assert_eq!(plain(message), words);
        }
    }
}
