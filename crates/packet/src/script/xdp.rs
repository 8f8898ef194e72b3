//! Statements about XDP programs: programs, maps, routes, events.

use std::path::PathBuf;

use super::ast::{Command, Destination, MapOnly, MapOperation, MapStatement, Parts, Rmt, Xdp};
use super::error::ScriptProblem;
use super::parse::Parser;
use super::setup::{twice, unknown_option};
use super::words::{Located, MAX_DESTINATION, Word, Words};
use crate::text::number;

pub(super) fn load(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.tenant(words)?;
    let file = words.need("the file of an XDP object")?;
    parser.updates.xdp(&tenant, span)?;
    let (mut section, mut program, mut pass, mut keep) = (None, None, None, None);
    let (mut max_entries, mut interfaces, mut rmt) = (None, None, None);
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let first = match (name.text, value) {
            ("section", Some(value)) => section.replace(symbol(value, "the section")?).is_none(),
            ("program", Some(value)) => program.replace(symbol(value, "the program")?).is_none(),
            ("pass", Some(value)) => pass.replace(pass_to(value, words)?).is_none(),
            ("rmt", Some(value)) => rmt.replace(PathBuf::from(symbol(value, "the file of the module")?)).is_none(),
            ("keep", Some(value)) => keep.replace(names(value)?).is_none(),
            ("max_entries", Some(value)) => max_entries.replace(sizes("max_entries", "MAP", value)?).is_none(),
            ("interfaces", Some(value)) => interfaces.replace(ports(value)?).is_none(),
            _ => return Err(unknown_option("xdp", option)),
        };
        if !first {
            return Err(twice("xdp", name));
        }
        if pass.is_some() && rmt.is_some() {
            let problem = ScriptProblem::Options {
                statement: "xdp",
                found: "`pass=` beside `rmt=`".to_string(),
                expected: "pass= or rmt=: behind a module, what the program passes goes where that sends".to_string(),
            };
            return Err((name.span, problem));
        }
    }
    let module =
        |file| Rmt { tenant: tenant.clone(), file, entries: None, parts: Parts::default(), keep: false, grow: false };
    let rmt = rmt.map(module);
    Ok(Command::Xdp(Xdp {
        tenant,
        file: PathBuf::from(file.text),
        section,
        program,
        pass,
        keep: keep.unwrap_or_default(),
        max_entries: max_entries.unwrap_or_default(),
        interfaces: interfaces.unwrap_or_default(),
        rmt,
    }))
}

/// Items of no bytes: the key of a map that has none.
const NO_BYTES: &str = "zero:0";

pub(super) fn map(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let (tenant, map) = tenant_and_map(parser, words)?;
    const ALLOWED: &str = "set, delete or expect; of a queue or stack push, pop or peek";
    let operation = words.need(ALLOWED)?;
    let key = match operation.text {
        "set" | "delete" | "expect" => words.need("a key as in u32:1 or ip:10.0.0.1,be16:80")?.text.to_string(),
        // Elements have no key.
        "push" | "pop" | "peek" => NO_BYTES.to_owned(),
        _ => return Err((operation.span, operation.unexpected(ALLOWED))),
    };
    let mut value = || words.need("a value as in u64:7 or hex:00ff").map(|value| value.text.to_string());
    let operation = match operation.text {
        "delete" => MapOperation::Delete,
        "pop" => MapOperation::Pop(Some(value()?).filter(|value| value != "none")),
        "set" | "push" => {
            let value = value()?;
            let only = match words.next() {
                None => MapOnly::Any,
                Some(word) if word.text == "noexist" => MapOnly::NoExist,
                Some(word) if word.text == "exist" => MapOnly::Exist,
                Some(word) => return Err((word.span, word.unexpected("noexist, exist or the end of the line"))),
            };
            MapOperation::Set { value, only }
        }
        _ => MapOperation::Expect(Some(value()?).filter(|value| value != "none")),
    };
    Ok(Command::Map(MapStatement { tenant, map, key, operation }))
}

pub(super) fn routes(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.tenant(words)?;
    parser.updates.check_program(&tenant, span)?;
    let file = words.need("the file of routes")?;
    Ok(Command::Routes { tenant, file: PathBuf::from(file.text) })
}

pub(super) fn event(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let (tenant, map) = tenant_and_map(parser, words)?;
    let bytes = words.need("the bytes of an event as in u32:1,hex:00ff")?.text.to_string();
    Ok(Command::Event { tenant, map, bytes })
}

fn tenant_and_map(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<(String, String)> {
    let span = words.here();
    let tenant = parser.tenant(words)?;
    parser.updates.check_program(&tenant, span)?;
    let map = symbol(words.need("the name of a map")?, "the map")?;
    Ok((tenant, map))
}

/// A name as C and ELF have it.
fn symbol(word: Word<'_>, what: &str) -> Located<String> {
    if word.text.is_empty() || !word.text.bytes().all(|c| c.is_ascii_graphic()) {
        return Err(word.bad(what, "a name of printable characters"));
    }
    Ok(word.text.to_string())
}

/// `host N` or `port N`, of which the first word stands behind `pass=`.
fn pass_to(kind: Word<'_>, words: &mut Words<'_>) -> Located<Destination> {
    let make = match kind.text {
        "host" => Destination::Host,
        "port" => Destination::Port,
        _ => return Err((kind.span, kind.unexpected("host N or port N"))),
    };
    let number = words.need("its number")?.number("the destination", 0, MAX_DESTINATION)?;
    Ok(make(number as u8))
}

fn names(list: Word<'_>) -> Located<Vec<String>> {
    let mut all = Vec::new();
    for piece in list.pieces() {
        let name = symbol(piece, "the map")?;
        if all.contains(&name) {
            return Err(piece.bad("the map", "each only once"));
        }
        all.push(name);
    }
    Ok(all)
}

/// `MAP:N,MAP:N`, or of things of another kind.
pub(super) fn sizes(option: &'static str, kind: &str, list: Word<'_>) -> Located<Vec<(String, u32)>> {
    let mut all: Vec<(String, u32)> = Vec::new();
    for piece in list.pieces() {
        let parsed = piece.text.rsplit_once(':').and_then(|(map, n)| {
            let n = number(n).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0)?;
            (!map.is_empty()).then(|| (map.to_string(), n))
        });
        let one = parsed.filter(|(map, _)| all.iter().all(|(other, _)| other != map));
        let what = kind.to_lowercase();
        let allowed = format!("{kind}:N with commas between them, N from 1 to 4294967295, each {what} once");
        all.push(one.ok_or_else(|| piece.bad(option, &allowed))?);
    }
    Ok(all)
}

/// `IFINDEX:PORT,IFINDEX:PORT`
fn ports(list: Word<'_>) -> Located<Vec<(u32, u8)>> {
    let mut all: Vec<(u32, u8)> = Vec::new();
    for piece in list.pieces() {
        let parsed = piece.text.split_once(':').and_then(|(interface, port)| {
            let interface = number(interface).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0)?;
            let port = number(port).filter(|n| *n <= MAX_DESTINATION)?;
            Some((interface, u8::try_from(port).ok()?))
        });
        let one = parsed.filter(|(interface, port)| all.iter().all(|(i, p)| i != interface && p != port));
        let allowed =
            "INTERFACE:PORT with commas between them, as in 7:0,9:3; interfaces from 1, each interface and port once";
        all.push(one.ok_or_else(|| piece.bad("interfaces", allowed))?);
    }
    Ok(all)
}
