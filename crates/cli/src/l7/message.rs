//! A message as words of a command line: `type=review student=/CA/2024`.

use crate::failure::Failure;
use sluice_l7::message::{Field, encode};
use sluice_l7::rules::{Application, Kind, MessageType, Rules, unescape};

/// Longest value of a dispatch field.
const MOST_VALUE: usize = 255;

/// A message as it was written.
#[derive(Debug)]
pub struct Written<'r> {
    /// Who takes it.
    pub application: &'r Application,
    /// Its type.
    pub msg_type: u8,
    /// Its ID.
    pub msg_id: u32,
    /// Session of its sender.
    pub session: u32,
    /// What lies behind its headers.
    pub payload: Vec<u8>,
}

/// What is wrong with a message's words.
fn wrong(word: &str, expected: impl std::fmt::Display) -> Failure {
    Failure::input("E0860", format!("message: `{word}`: expected {expected}"))
}

/// Words of the message with their values.
struct Words<'w>(Vec<(&'w str, &'w str)>);

impl<'w> Words<'w> {
    fn of(words: &'w [String]) -> Result<Self, Failure> {
        let mut all: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let Some((name, value)) = word.split_once('=') else {
                return Err(wrong(word, "NAME=VALUE, as in type=1 or key=user:7"));
            };
            if all.iter().any(|(other, _)| *other == name) {
                return Err(wrong(word, format!("`{name}=` once")));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    fn take(&mut self, name: &str) -> Option<&'w str> {
        let at = self.0.iter().position(|(other, _)| *other == name)?;
        Some(self.0.remove(at).1)
    }

    fn number(&mut self, name: &str, most: u64) -> Result<Option<u64>, Failure> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let found = sluice_packet::text::number(value).and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= most);
        found.map(Some).ok_or_else(|| wrong(&format!("{name}={value}"), format!("a number up to {most}")))
    }
}

/// Reads the words of a message for these rules.
pub fn read<'r>(rules: &'r Rules, words: &[String]) -> Result<Written<'r>, Failure> {
    let mut words = Words::of(words)?;
    let application = application(rules, &mut words)?;
    let [msg_id, session] = ["msg_id", "session"].map(|name| words.number(name, u32::MAX.into()));
    let [msg_id, session] = [msg_id?, session?].map(|n| n.unwrap_or_default() as u32);
    let mut written = Written { application, msg_type: 0, msg_id, session, payload: Vec::new() };
    match application.kind {
        Kind::Raw => {
            let payload = words.take("payload").unwrap_or_default();
            written.payload = bytes("payload", payload)?;
        }
        Kind::Application(_) => {
            let (number, message) = message_type(application, &mut words)?;
            written.msg_type = number;
            let mut fields = Vec::new();
            for (name, value) in std::mem::take(&mut words.0) {
                fields.push(Field { index: index(message, name, value)?, value: field_bytes(name, value)? });
            }
            fields.sort_by_key(|field| field.index);
            if let Some(pair) = fields.windows(2).find(|pair| pair[0].index == pair[1].index) {
                return Err(Failure::input(
                    "E0860",
                    format!("message: field {} is given twice, expected once", pair[0].index),
                ));
            }
            written.payload = encode(&fields);
        }
        Kind::Endpoint => {}
    }
    match words.0.first() {
        Some((name, value)) => Err(wrong(&format!("{name}={value}"), known_words(application))),
        None => Ok(written),
    }
}

fn known_words(application: &Application) -> &'static str {
    match application.kind {
        Kind::Raw => "payload, application, port, msg_id or session",
        Kind::Endpoint => "application, port, msg_id or session: an endpoint looks at no fields",
        Kind::Application(_) => "a field, application, port, id, type, msg_id or session",
    }
}

/// By name, by port and ID, or the only one with rules.
fn application<'r>(rules: &'r Rules, words: &mut Words<'_>) -> Result<&'r Application, Failure> {
    let name = words.take("application");
    let port = words.number("port", u16::MAX.into())?;
    let id = words.number("id", u8::MAX.into())?;
    let asked = name.is_some() || port.is_some() || id.is_some();
    let fits = |a: &&Application| {
        let same_id = match (id, a.kind) {
            (None, _) => true,
            (Some(id), Kind::Application(own)) => id == u64::from(own),
            (Some(_), _) => false,
        };
        let endpoint = a.kind == Kind::Endpoint;
        name.is_none_or(|name| name == a.name)
            && port.is_none_or(|port| port == u64::from(a.port))
            && same_id
            && (asked || !endpoint)
    };
    let found: Vec<_> = rules.applications.iter().filter(fits).collect();
    if let [one] = found[..] {
        return Ok(one);
    }
    let all: Vec<_> = rules.applications.iter().map(|a| format!("`{}` (port {})", a.name, a.port)).collect();
    let found = if found.is_empty() { "no application" } else { "more than one application" };
    let what = format!("message: it is for {found}; expected one of {}", all.join(", "));
    Err(Failure::input("E0860", what).help("say which with application=NAME, or port=N and id=N"))
}

/// Number of the type, and the type where it is listed.
fn message_type<'r>(
    application: &'r Application,
    words: &mut Words<'_>,
) -> Result<(u8, Option<&'r MessageType>), Failure> {
    let all = &application.types;
    let names = || all.iter().map(|t| format!("{} ({})", t.name, t.number)).collect::<Vec<_>>().join(", ");
    let Some(value) = words.take("type") else {
        return match &all[..] {
            [one] => Ok((one.number, Some(one))),
            _ => Err(Failure::input("E0860", format!("message: no type, expected type= one of {}", names()))),
        };
    };
    if let Some(named) = all.iter().find(|t| t.name == value) {
        return Ok((named.number, Some(named)));
    }
    let number = sluice_packet::text::number(value).and_then(|n| u8::try_from(n).ok());
    let number = number.ok_or_else(|| wrong(&format!("type={value}"), format!("0 to 255, or one of {}", names())))?;
    Ok((number, all.iter().find(|t| t.number == number)))
}

/// Index of a field by its name or its number.
fn index(message: Option<&MessageType>, name: &str, value: &str) -> Result<u8, Failure> {
    let fields = message.map_or(&[][..], |m| &m.fields);
    if let Some((_, index)) = fields.iter().find(|(field, _)| field == name) {
        return Ok(*index);
    }
    let names = fields.iter().map(|(name, index)| format!("{name} ({index})")).collect::<Vec<_>>().join(", ");
    let number = name.parse::<u8>().ok().filter(|n| (1..=15).contains(n));
    number
        .ok_or_else(|| wrong(&format!("{name}={value}"), format!("a field by its number, 1 to 15, or one of {names}")))
}

fn bytes(name: &str, value: &str) -> Result<Vec<u8>, Failure> {
    let expected = r#"escapes \\ \" \* \. \$ \xHH \n \r \t or \0"#;
    unescape(value).ok_or_else(|| wrong(&format!("{name}={value}"), expected))
}

fn field_bytes(name: &str, value: &str) -> Result<Vec<u8>, Failure> {
    let bytes = bytes(name, value)?;
    if bytes.len() > MOST_VALUE {
        let what = format!("message: field `{name}` has {} bytes, expected at most {MOST_VALUE}", bytes.len());
        return Err(Failure::input("E0860", what));
    }
    Ok(bytes)
}
