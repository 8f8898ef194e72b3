//! The binary form of an object; the layout is in docs/design/object.md.

use crate::action::Action;
use crate::bytes::{Reader, Writer, wrong};
use crate::demand::{Demands, Queues, Rate, Survives};
use crate::destination::{Destination, Destinations};
use crate::error::ObjectError;
use crate::key::KeyKind;
use crate::key::KeySpec;
use crate::object::{Entry, Object, Symbol, SymbolOf, TargetNeed};
use crate::part::Parts;
use sluice_formats::limits::KEY_BYTES;

/// First bytes of a binary object.
pub const OBJECT_MAGIC: [u8; 4] = *b"SLOB";

const EXCEPT_INGRESS: u8 = 1;
const SET_DMAC: u8 = 2;
const ACTION_BYTES: usize = 9;

impl Object {
    /// The binary form: same object, same bytes.
    pub fn to_binary(&self) -> Vec<u8> {
        let (target_name, hash) = match &self.target {
            TargetNeed::Any => ("", 0),
            TargetNeed::Exact { name, hash } => (name.as_str(), *hash),
        };
        let mut w = Writer::new(OBJECT_MAGIC, hash);
        w.section(1, |w| {
            w.name(&self.name);
            w.name(target_name);
        });
        w.section(2, |w| {
            w.u8(self.key.kind as u8);
            w.u16(self.key.mask);
        });
        w.section(3, |w| write_action(w, &self.default));
        w.section(4, |w| {
            w.u32(self.entries.len() as u32);
            for entry in &self.entries {
                w.put(&entry.key);
                write_action(w, &entry.action);
            }
        });
        w.section(5, |w| write_demands(w, &self.demands));
        w.section(6, |w| {
            w.u32(self.symbols.len() as u32);
            for symbol in &self.symbols {
                let (kind, value) = match symbol.of {
                    SymbolOf::Entry(n) => (0, n),
                    SymbolOf::Destination(d) => (1, d.code().into()),
                };
                w.name(&symbol.name);
                w.u8(kind);
                w.u32(value);
            }
        });
        w.section(7, |w| w.u8(u8::from(self.survives.table) | u8::from(self.survives.counters) << 1));
        self.parts.write(&mut w);
        w.finish()
    }

    /// Reads the binary form. Whatever is taken is written back as the same bytes.
    pub fn from_binary(bytes: &[u8]) -> Result<Self, ObjectError> {
        let (mut file, hash) = Reader::open(bytes, OBJECT_MAGIC, "object")?;
        let mut r = file.section(1, "names")?;
        let name = r.name("name")?;
        let at = r.at();
        let target = match (r.name("target name")?, hash) {
            (n, 0) if n.is_empty() => TargetNeed::Any,
            (n, 0) => return Err(wrong(at, format!("target `{}`", n.escape_default()), "no name for hash 0 (any)")),
            (name, hash) => TargetNeed::Exact { name, hash },
        };
        r.finish("section names")?;

        let mut r = file.section(2, "key")?;
        let at = r.at();
        let code = r.u8("key kind")?;
        let kind = KeyKind::from_code(code)
            .ok_or_else(|| wrong(at, format!("key kind {code}"), "0 (none), 1 (dmac) or 2 (five_tuple)"))?;
        let key = KeySpec { kind, mask: r.u16("key mask")? };
        r.finish("section key")?;

        let mut r = file.section(3, "default action")?;
        let default = read_action(&mut r)?;
        r.finish("section default action")?;

        let mut r = file.section(4, "entries")?;
        let n = r.count(KEY_BYTES + ACTION_BYTES, "entries")?;
        let entry = |r: &mut Reader| Ok(Entry { key: r.array("key")?, action: read_action(r)? });
        let entries = (0..n).map(|_| entry(&mut r)).collect::<Result<_, ObjectError>>()?;
        r.finish("section entries")?;

        let mut r = file.section(5, "demands")?;
        let demands = read_demands(&mut r)?;
        r.finish("section demands")?;

        let mut r = file.section(6, "symbols")?;
        let n = r.count(6, "symbols")?;
        let symbols = (0..n).map(|_| read_symbol(&mut r)).collect::<Result<_, _>>()?;
        r.finish("section symbols")?;

        let mut r = file.section(7, "survival")?;
        let flags = read_flags(&mut r, 0b11, "survival flags")?;
        let survives = Survives { table: flags & 1 != 0, counters: flags & 2 != 0 };
        r.finish("section survival")?;

        let parts = Parts::read(&mut file)?;
        file.finish("the sections")?;

        let object = Object { name, target, key, default, entries, demands, symbols, survives, parts };
        object.check()?;
        Ok(object)
    }
}

pub(crate) fn read_flags(r: &mut Reader, allowed: u8, what: &str) -> Result<u8, ObjectError> {
    let at = r.at();
    match r.u8(what)? {
        flags if flags & !allowed == 0 => Ok(flags),
        flags => Err(wrong(at, format!("{what} {flags:#04x}"), format!("bits of {allowed:#04x}"))),
    }
}

fn write_action(w: &mut Writer, action: &Action) {
    w.u8(action.to.ports);
    w.u8(action.to.hosts);
    let set_dmac = if action.set_dmac.is_some() { SET_DMAC } else { 0 };
    w.u8(set_dmac | if action.except_ingress { EXCEPT_INGRESS } else { 0 });
    w.put(&action.set_dmac.unwrap_or_default());
}

fn read_action(r: &mut Reader) -> Result<Action, ObjectError> {
    let to = Destinations { ports: r.u8("ports")?, hosts: r.u8("host queues")? };
    let flags = read_flags(r, EXCEPT_INGRESS | SET_DMAC, "action flags")?;
    let at = r.at();
    let mac: [u8; 6] = r.array("destination MAC")?;
    let set_dmac = (flags & SET_DMAC != 0).then_some(mac);
    if set_dmac.is_none() && mac != [0; 6] {
        return Err(wrong(at, crate::text::mac(&mac), "zeros where the action sets no MAC"));
    }
    Ok(Action { to, except_ingress: flags & EXCEPT_INGRESS != 0, set_dmac })
}

fn write_demands(w: &mut Writer, demands: &Demands) {
    w.u32(demands.entries);
    w.u16(demands.quantum);
    // A rate of 0 bits per second cannot be asked for, so it stands for none.
    let none = Rate { bits_per_second: 0, burst_bytes: 0 };
    let rate = demands.rate.unwrap_or(none);
    w.u64(rate.bits_per_second);
    w.u32(rate.burst_bytes);
    w.u32(demands.queues.len() as u32);
    for (d, cells) in &demands.queues {
        w.u8(d.code());
        w.u16(*cells);
    }
}

fn read_demands(r: &mut Reader) -> Result<Demands, ObjectError> {
    let entries = r.u32("entries demanded")?;
    let quantum = r.u16("quantum")?;
    let bits_per_second = r.u64("bits per second")?;
    let at = r.at();
    let burst_bytes = r.u32("burst")?;
    let rate = match (bits_per_second, burst_bytes) {
        (0, 0) => None,
        (0, burst) => return Err(wrong(at, format!("burst {burst}"), "0 where no rate is demanded")),
        _ => Some(Rate { bits_per_second, burst_bytes }),
    };
    let n = r.count(3, "queues")?;
    let mut queues = Queues::new();
    for _ in 0..n {
        let at = r.at();
        let code = r.u8("destination")?;
        let d = Destination::from_code(code).ok_or_else(|| wrong(at, format!("destination {code}"), "0 to 15"))?;
        if queues.last_key_value().is_some_and(|(last, _)| *last >= d) {
            return Err(wrong(at, d, "destinations in rising order, each once"));
        }
        queues.insert(d, r.u16("cells")?);
    }
    Ok(Demands { entries, queues, quantum, rate })
}

fn read_symbol(r: &mut Reader) -> Result<Symbol, ObjectError> {
    let name = r.name("symbol name")?;
    let at = r.at();
    let kind = r.u8("symbol kind")?;
    let value = r.u32("symbol value")?;
    let destination = || u8::try_from(value).ok().and_then(Destination::from_code);
    let of = match kind {
        0 => SymbolOf::Entry(value),
        1 => SymbolOf::Destination(destination().ok_or_else(|| wrong(at + 1, value, "destination 0 to 15"))?),
        _ => return Err(wrong(at, format!("symbol kind {kind}"), "0 (entry) or 1 (destination)")),
    };
    Ok(Symbol { name, of })
}
