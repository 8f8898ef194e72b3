//! Statements that say what there is: device, seed, NIC, tenants.

use super::ast::{Command, Destination, Setting, Target, Tenant};
use super::error::ScriptProblem;
use super::parse::{OPTIONS, Parser, SYSTEM, TOTAL};
use super::words::{Located, MAX_DESTINATION, Word, Words};
use crate::text::{Span, number, quote};

pub(super) fn device(words: &mut Words<'_>) -> Located<Command> {
    let word = words.need("default, tiny or any")?;
    let target = match word.text {
        "default" => Target::Default,
        "tiny" => Target::Tiny,
        "any" => Target::Any,
        _ => return Err(word.bad("the target", "default, tiny or any")),
    };
    Ok(Command::Device(target))
}

pub(super) fn seed(words: &mut Words<'_>) -> Located<Command> {
    let word = words.need("a seed")?;
    let seed = word.number("the seed", 0, u128::from(u64::MAX))?;
    Ok(Command::Seed(seed as u64))
}

pub(super) fn nic(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let mut settings: Vec<Setting> = Vec::new();
    loop {
        let word = words.need("a setting such as untagged=drop")?;
        let (key, value) = word.option();
        let value = value.ok_or_else(|| (word.span, word.unexpected("name=value")))?;
        let name = key.name("the name of a setting")?;
        if settings.iter().any(|s| s.name == name) {
            return Err(twice("nic", key));
        }
        settings.push(Setting {
            name: name.to_string(),
            value: value.text.to_string(),
            position: parser.lines.position(word.span.start),
        });
        if words.at_end() {
            return Ok(Command::Nic(settings));
        }
    }
}

/// Whether frames may leave in VLANs that nobody owns.
fn vids(value: Word<'_>) -> Located<bool> {
    match value.text {
        "own" => Ok(false),
        "any" => Ok(true),
        _ => Err(value.bad("the VLANs to leave in", "`own` or `any`")),
    }
}

/// Whether programs' tables are used.
fn on_off(value: Word<'_>) -> Located<bool> {
    match value.text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(value.bad("whether programs have tables in front of the cores", "`on` or `off`")),
    }
}

/// Bytes of quantum a weight of 1 stands for.
pub const QUANTUM_PER_WEIGHT: u64 = 1500;
/// Heaviest weight: its quantum has 16 bits.
pub const MOST_WEIGHT: u64 = u16::MAX as u64 / QUANTUM_PER_WEIGHT;

pub(super) fn tenant(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let word = words.need("a name for the tenant")?;
    let name = word.name("the name of a tenant")?;
    // `nic untagged=drop` names nobody.
    if [SYSTEM, TOTAL, "replace", "drop"].contains(&name) {
        return Err(word.bad("the name of a tenant", "one that is not reserved"));
    }
    taken(parser, word, format!("the name `{name}`"), |t| t.name == name)?;
    let mut id = None;
    let mut vlans: Option<Vec<u16>> = None;
    let (mut keep_tag, mut any_vids) = (None, None);
    let (mut rate, mut burst, mut weight, mut to) = (None, None, None, None);
    let (mut share, mut share_burst, mut limit, mut reserve) = (None, None, None, None);
    let (mut xdp_work, mut xdp_growth) = (None, None);
    let (mut xdp_weight, mut xdp_rows, mut l7_weight) = (None, None, None);
    let (mut xdp_contexts, mut xdp_memory, mut warp) = (None, None, None);
    while let Some(option) = words.next() {
        let (key, value) = option.option();
        let first = match (key.text, value) {
            ("id", Some(value)) => {
                let n = value.number("the tenant's ID", 1, 4095)? as u16;
                taken(parser, value, format!("ID {n}"), |t| t.id == n)?;
                id.replace(n).is_none()
            }
            ("vlan", Some(value)) => vlans.replace(vlan_ids(parser, value)?).is_none(),
            ("keep_tag", None) => keep_tag.replace(true).is_none(),
            ("vids", Some(value)) => any_vids.replace(vids(value)?).is_none(),
            ("rate", Some(value)) => rate.replace(value.scaled("the rate", u64::MAX)?).is_none(),
            ("burst", Some(value)) => burst.replace(value.scaled("the burst", u64::from(u32::MAX))?).is_none(),
            ("share", Some(value)) => share.replace(value.scaled("the share", u64::MAX)?).is_none(),
            ("share_burst", Some(value)) => {
                share_burst.replace(value.scaled("the share's burst", u64::from(u32::MAX))?).is_none()
            }
            ("weight", Some(value)) => {
                let n = value.number("the weight", 1, u128::from(MOST_WEIGHT))?;
                weight.replace(n as u64).is_none()
            }
            ("limit", Some(value)) => {
                let n = value.number("the limit", 1, u128::from(u16::MAX))?;
                limit.replace(n as u64).is_none()
            }
            ("reserve", Some(value)) => {
                let n = value.number("the reserve", 1, u128::from(u16::MAX))?;
                reserve.replace(n as u64).is_none()
            }
            ("xdp_work", Some(value)) => {
                let n = value.number("the work of a packet", 1, u128::from(u32::MAX))?;
                xdp_work.replace(n as u32).is_none()
            }
            ("xdp_growth", Some(value)) => {
                let n = value.number("the growth of a frame", 0, u128::from(u16::MAX))?;
                xdp_growth.replace(n as u16).is_none()
            }
            ("xdp_weight", Some(value)) => {
                let n = value.number("the weight at the XDP engine", 1, u128::from(u16::MAX))?;
                xdp_weight.replace(n as u16).is_none()
            }
            ("xdp_rows", Some(value)) => {
                let n = value.number("the rows at the XDP engine", 1, u128::from(u16::MAX))?;
                xdp_rows.replace(n as u16).is_none()
            }
            ("xdp_contexts", Some(value)) => {
                let n = value.number("the contexts at the XDP engine", 1, u128::from(u8::MAX))?;
                xdp_contexts.replace(n as u8).is_none()
            }
            ("xdp_memory", Some(value)) => {
                let n = value.number("the packet memory at the XDP engine", 1, u128::from(u8::MAX))?;
                xdp_memory.replace(n as u8).is_none()
            }
            ("warp", Some(value)) => warp.replace(on_off(value)?).is_none(),
            ("l7_weight", Some(value)) => {
                let n = value.number("the weight at the l7 engine", 1, u128::from(u16::MAX))?;
                l7_weight.replace(n as u16).is_none()
            }
            ("to", Some(value)) => to.replace(destinations(value)?).is_none(),
            _ => return Err(unknown_option("tenant", option)),
        };
        if !first {
            return Err(twice("tenant", key));
        }
    }
    let missing = |what: &str| {
        let problem = ScriptProblem::Options {
            statement: "tenant",
            found: format!("no `{what}=`"),
            expected:
                "`tenant NAME id=N vlan=V[,V...]`, `rate=` and `burst=` together, `share=` and `share_burst=` likewise"
                    .to_string(),
        };
        (word.span, problem)
    };
    let both = |of: [Option<u64>; 2], names: [&str; 2]| match of {
        [Some(rate), Some(burst)] => Ok(Some((rate, burst))),
        [None, None] => Ok(None),
        [Some(_), None] => Err(missing(names[1])),
        [None, Some(_)] => Err(missing(names[0])),
    };
    let rate = both([rate, burst], ["rate", "burst"])?;
    let share = both([share, share_burst], ["share", "share_burst"])?;
    let tenant = Tenant {
        name: name.to_string(),
        id: id.ok_or_else(|| missing("id"))?,
        vlans: vlans.ok_or_else(|| missing("vlan"))?,
        keep_tag: keep_tag.unwrap_or(false),
        any_vids: any_vids.unwrap_or(false),
        rate,
        share,
        weight,
        limit,
        reserve,
        xdp_work,
        xdp_growth,
        xdp_weight,
        xdp_rows,
        xdp_contexts,
        xdp_memory,
        warp: warp.unwrap_or(true),
        l7_weight,
        to,
    };
    parser.tenants.push((tenant.clone(), word.span));
    Ok(Command::Tenant(tenant))
}

/// `port0,host1`
fn destinations(list: Word<'_>) -> Located<Vec<Destination>> {
    let mut all = Vec::new();
    for piece in list.pieces() {
        let numbered = |kind, make: fn(u8) -> Destination| {
            let digits = piece.text.strip_prefix(kind)?;
            number(digits).and_then(|n| u8::try_from(n).ok()).map(make)
        };
        let one = numbered("port", Destination::Port).or_else(|| numbered("host", Destination::Host));
        let one = one.filter(|d| !all.contains(d));
        let allowed = format!("port0 to port{MAX_DESTINATION} and host0 to host{MAX_DESTINATION}, each once");
        all.push(one.ok_or_else(|| piece.bad("a destination", &allowed))?);
    }
    Ok(all)
}

fn vlan_ids(parser: &Parser<'_>, list: Word<'_>) -> Located<Vec<u16>> {
    let mut vlans = Vec::new();
    for piece in list.pieces() {
        let vid = piece.number("a VLAN ID", 1, 4094)? as u16;
        if vlans.contains(&vid) {
            return Err(piece.bad("a VLAN ID", "each only once"));
        }
        taken(parser, piece, format!("VLAN {vid}"), |t| t.vlans.contains(&vid))?;
        vlans.push(vid);
    }
    Ok(vlans)
}

/// That no tenant has this already.
fn taken(parser: &Parser<'_>, word: Word<'_>, what: String, has: impl Fn(&Tenant) -> bool) -> Located<()> {
    match parser.tenants.iter().find(|(tenant, _)| has(tenant)) {
        None => Ok(()),
        Some((owner, Span { start, .. })) => Err((
            word.span,
            ScriptProblem::Taken { what, owner: owner.name.clone(), line: parser.lines.position(*start).line },
        )),
    }
}

pub(super) fn unknown_option(statement: &'static str, option: Word<'_>) -> (Span, ScriptProblem) {
    let options = OPTIONS.iter().find(|(name, _)| *name == statement).map_or(&[][..], |(_, options)| options);
    let problem = ScriptProblem::UnknownOption { statement, found: quote(option.text), allowed: options.join(", ") };
    (option.span, problem)
}

pub(super) fn twice(statement: &'static str, option: Word<'_>) -> (Span, ScriptProblem) {
    let problem = ScriptProblem::Options {
        statement,
        found: format!("{} twice", quote(option.text)),
        expected: "each option once".to_string(),
    };
    (option.span, problem)
}
