//! Statements about tables: declaration, entries, updates.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use super::ast::{Action, Command, Destination, Forward, Key, KeyMask, Table, Tuple};
use super::error::ScriptProblem;
use super::parse::Parser;
use super::setup::{twice, unknown_option};
use super::updates::TableKind;
use super::words::{Located, MAX_DESTINATION, Word, Words};
use crate::mac::MacAddr;
use crate::text::{Span, number};

pub(super) fn load(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.tenant(words)?;
    let file = words.need("the file of an object")?;
    parser.updates.load(&tenant, span)?;
    Ok(Command::Load { tenant, file: PathBuf::from(file.text) })
}

pub(super) fn begin(parser: &mut Parser<'_>, words: &mut Words<'_>, span: Span) -> Located<Command> {
    let replace = words.take("replace");
    let tenant = parser.tenant(words)?;
    parser.updates.begin(&tenant, replace, span)?;
    Ok(Command::Begin { tenant, replace })
}

pub(super) fn replace_block(parser: &mut Parser<'_>, words: &mut Words<'_>, span: Span) -> Located<Command> {
    let tenant = parser.tenant(words)?;
    let brace = words.need("`{` at the end of the line")?;
    if brace.text != "{" {
        return Err((brace.span, brace.unexpected("`{` at the end of the line")));
    }
    parser.updates.open_block(&tenant, span)?;
    Ok(Command::Begin { tenant, replace: true })
}

pub(super) fn commit(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.tenant(words)?;
    parser.updates.commit(&tenant, span)?;
    Ok(Command::Commit { tenant })
}

pub(super) fn add(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let (tenant, key) = tenant_and_key(parser, words)?;
    let arrow = words.need("`->` and an action")?;
    if arrow.text != "->" {
        return Err((arrow.span, arrow.unexpected("`->` and an action")));
    }
    let first = words.need(ACTIONS)?;
    let action = action(first, words)?;
    Ok(Command::Add { tenant, key, action })
}

pub(super) fn del(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let (tenant, key) = tenant_and_key(parser, words)?;
    Ok(Command::Del { tenant, key })
}

fn tenant_and_key(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<(String, Key)> {
    let tenant_span = words.here();
    let tenant = parser.tenant(words)?;
    parser.updates.check_tenant(&tenant, tenant_span)?;
    let span = words.here();
    let (name, value) = match words.peek() {
        Some(word) => word.option(),
        None => return Err((span, words.expected(KEYS))),
    };
    let (key, kind) = match (name.text, value) {
        ("dst", Some(value)) => {
            words.next();
            (Key::Dmac(value.mac("the key")?), TableKind::Dmac)
        }
        (text, None) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            (Key::FiveTuple(words.tuple()?), TableKind::FiveTuple)
        }
        _ => return Err((span, words.expected(KEYS))),
    };
    parser.updates.check_key(&tenant, kind, span)?;
    Ok((tenant, key))
}

const KEYS: &str = "a key as in dst=02:00:00:00:00:01 or 10.0.0.1:80 > 10.0.0.2:90 udp";

pub(super) fn table(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.tenant(words)?;
    let mut kind = None;
    let mut mask: Option<Word<'_>> = None;
    let mut default = None;
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let first = match (name.text, value) {
            ("key", Some(value)) => kind.replace(table_kind(value)?).is_none(),
            ("mask", Some(value)) => mask.replace(value).is_none(),
            // An action is several words: it takes the rest of the line.
            ("default", Some(value)) => default.replace(action(value, words)?).is_none(),
            _ => return Err(unknown_option("table", option)),
        };
        if !first {
            return Err(twice("table", name));
        }
    }
    let missing = |what: &str| {
        let problem = ScriptProblem::Options {
            statement: "table",
            found: format!("no `{what}=`"),
            expected: "`table NAME key=dmac|five_tuple [mask=...] default=ACTION`".to_string(),
        };
        (span, problem)
    };
    let kind = kind.ok_or_else(|| missing("key"))?;
    let default = default.ok_or_else(|| missing("default"))?;
    let key = match (kind, mask) {
        (TableKind::Dmac, None) => KeyMask::Dmac(MacAddr::BROADCAST),
        (TableKind::Dmac, Some(mask)) => KeyMask::Dmac(mask.mac("the mask")?),
        (_, None) => KeyMask::FiveTuple(EVERY_BIT),
        (_, Some(mask)) => KeyMask::FiveTuple(tuple_mask(mask)?),
    };
    parser.updates.declare(&tenant, kind, span)?;
    Ok(Command::Table(Table { tenant, key, default }))
}

fn table_kind(word: Word<'_>) -> Located<TableKind> {
    match word.text {
        "dmac" => Ok(TableKind::Dmac),
        "five_tuple" => Ok(TableKind::FiveTuple),
        _ => Err(word.bad("the key", "dmac or five_tuple")),
    }
}

const EVERY_BIT: Tuple =
    Tuple { src: Ipv4Addr::BROADCAST, sport: u16::MAX, dst: Ipv4Addr::BROADCAST, dport: u16::MAX, protocol: u8::MAX };

/// `src/24,dst,dport,proto`: the fields that count, addresses with a prefix length.
fn tuple_mask(list: Word<'_>) -> Located<Tuple> {
    const ALLOWED: &str = "fields of src, sport, dst, dport, proto, each once; src/24 for a prefix";
    let mut mask = Tuple { src: Ipv4Addr::UNSPECIFIED, sport: 0, dst: Ipv4Addr::UNSPECIFIED, dport: 0, protocol: 0 };
    let mut seen = Vec::new();
    for piece in list.pieces() {
        let (field, prefix) = match piece.text.split_once('/') {
            None => (piece.text, None),
            Some((field @ ("src" | "dst"), bits)) => {
                let bits = number(bits).filter(|bits| (1..=32).contains(bits));
                let bits = bits.ok_or_else(|| piece.bad("the mask", "a prefix of 1 to 32 bits"))?;
                (field, Some(bits as u32))
            }
            Some(_) => return Err(piece.bad("the mask", ALLOWED)),
        };
        let address = Ipv4Addr::from(u32::MAX << (32 - prefix.unwrap_or(32)));
        match field {
            _ if seen.contains(&field) => return Err(piece.bad("the mask", ALLOWED)),
            "src" => mask.src = address,
            "dst" => mask.dst = address,
            "sport" => mask.sport = u16::MAX,
            "dport" => mask.dport = u16::MAX,
            "proto" => mask.protocol = u8::MAX,
            _ => return Err(piece.bad("the mask", ALLOWED)),
        }
        seen.push(field);
    }
    Ok(mask)
}

const ACTIONS: &str = "an action: port N, host N, drop or multicast";

/// An action of which `first` is the first word; the others are taken from `words`.
fn action(first: Word<'_>, words: &mut Words<'_>) -> Located<Action> {
    let forward = match first.text {
        "drop" => Forward::Drop,
        "port" | "host" => Forward::To(one_destination(first, words)?),
        "multicast" => multicast(words)?,
        _ => return Err((first.span, first.unexpected(ACTIONS))),
    };
    let mut set_dmac = None;
    if let Some(word) = words.peek() {
        let (name, value) = word.option();
        if let ("set_dmac", Some(value)) = (name.text, value) {
            words.next();
            if forward == Forward::Drop {
                let problem = ScriptProblem::Options {
                    statement: "drop",
                    found: "`set_dmac=`".to_string(),
                    expected: "nothing: a dropped packet has no new address".to_string(),
                };
                return Err((word.span, problem));
            }
            set_dmac = Some(value.mac("set_dmac")?);
        }
    }
    Ok(Action { forward, set_dmac })
}

fn one_destination(kind: Word<'_>, words: &mut Words<'_>) -> Located<Destination> {
    let word = words.need("its number")?;
    destination(kind, word)
}

fn destination(kind: Word<'_>, word: Word<'_>) -> Located<Destination> {
    match kind.text {
        "port" => {
            let n = word.number("the port", 0, MAX_DESTINATION)?;
            Ok(Destination::Port(n as u8))
        }
        _ => {
            let n = word.number("the host queue", 0, MAX_DESTINATION)?;
            Ok(Destination::Host(n as u8))
        }
    }
}

/// `port 1,2 host 0 except_ingress`
fn multicast(words: &mut Words<'_>) -> Located<Forward> {
    let mut destinations = Vec::new();
    let here = words.here();
    while let Some(kind) = words.peek().filter(|w| matches!(w.text, "port" | "host")) {
        words.next();
        let list = words.need("numbers with commas between them")?;
        for piece in list.pieces() {
            let destination = destination(kind, piece)?;
            if destinations.contains(&destination) {
                return Err(piece.bad("a destination", "each only once"));
            }
            destinations.push(destination);
        }
    }
    if destinations.is_empty() {
        return Err((here, words.expected("`port` or `host` and numbers")));
    }
    let last = words.here();
    let except_ingress = words.take("except_ingress");
    if except_ingress && !destinations.iter().any(|d| matches!(d, Destination::Port(_))) {
        let problem = ScriptProblem::Options {
            statement: "multicast",
            found: "`except_ingress` without a port".to_string(),
            expected: "a port that may be the one a packet came from".to_string(),
        };
        return Err((last, problem));
    }
    Ok(Forward::Multicast { destinations, except_ingress })
}
