//! The result for people (annotated disassembly) and for other tools (JSON).

use super::num::Num;
use super::regions::{Access, At, Call, Regions, operands};
use super::value::{Base, Generation, MapRef, Value};
use crate::address::{CONTEXT, CONTEXT_BYTES, FUNCTIONS, Region};
use crate::insn::Kind;
use crate::{Image, Program, helper};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
use std::fmt;

/// A value in words: `packet+14`, `value(flows)+8..16`, `or 0`, `0..255`, `unknown`.
struct Words<'a>(&'a Value, &'a Image);

fn bounds(n: Num, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(x) = n.as_constant() {
        return if x > 0xffff_ffff_0000_0000 { write!(f, "{}", x as i64) } else { write!(f, "{x}") };
    }
    let (w, h) = (n.whole, n.half);
    let bits = n.bits.mask | n.bits.value;
    if w.umin == 0 && w.umax == u64::MAX && w.smin == i64::MIN && w.smax == i64::MAX {
        if h.umin != 0 || h.umax != u64::from(u32::MAX) {
            return write!(f, "unknown, low half {}..{}", h.umin, h.umax);
        }
        return if n.bits.mask == u64::MAX { write!(f, "unknown") } else { write!(f, "bits {bits:#x}") };
    }
    if w.smin < 0 {
        write!(f, "{}..{}", w.smin, w.smax)?
    } else {
        write!(f, "{}..{}", w.umin, w.umax)?
    }
    let step = bits.trailing_zeros();
    if (1..16).contains(&step) { write!(f, " by {}", 1u32 << step) } else { Ok(()) }
}

fn generation(g: Generation) -> String {
    match g {
        Generation::Entry => String::new(),
        Generation::Call(pc) => format!("@{pc}"),
        Generation::Merge(pc) => format!("@join{pc}"),
    }
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(v, image) = self;
        match v.base {
            Base::Number => match v.as_constant().map(|x| (x, Region::of(x))) {
                Some((x, Region::Context)) if x < u64::from(CONTEXT + CONTEXT_BYTES) => {
                    return write!(f, "ctx+{}", x - u64::from(CONTEXT));
                }
                Some((x, Region::Function)) => return write!(f, "function {}", x - u64::from(FUNCTIONS)),
                _ => return bounds(v.offset, f),
            },
            Base::Packet(g) => write!(f, "packet{}", generation(g))?,
            Base::End(g) => write!(f, "packet_end{}", generation(g))?,
            Base::Meta(g) => write!(f, "metadata{}", generation(g))?,
            Base::Stack(frame) => write!(f, "frame{frame}")?,
            Base::Map(map) => write!(f, "value({})", map.name(image))?,
            Base::Handle(map) => write!(f, "map({})", map.name(image))?,
            Base::Record(bytes) => write!(f, "record({bytes})")?,
            Base::Key(bytes) => write!(f, "key({bytes})")?,
        }
        match v.offset.as_constant() {
            Some(0) => {}
            Some(x) => write!(f, "{:+}", x as i64)?,
            None => {
                write!(f, "+(")?;
                bounds(v.offset, f)?;
                write!(f, ")")?;
            }
        }
        if v.nullable { write!(f, " or 0") } else { Ok(()) }
    }
}

/// A program's listing with what is known of each instruction behind it.
pub struct Listing<'a> {
    /// The image.
    pub image: &'a Image,
    /// The program.
    pub program: &'a Program,
    /// What is known.
    pub regions: &'a Regions,
}

impl Listing<'_> {
    fn notes(&self, pc: u32, kind: Kind, at: &At) -> Vec<String> {
        let Some(before) = &at.before else { return vec!["never executed".into()] };
        let mut notes = Vec::new();
        if let Some(access) = &at.access {
            notes.push(self.access(access));
        }
        if let Some(call) = &at.call {
            notes.push(self.call(call));
        } else {
            let address = |r: &u8| at.access.is_none() || !self.is_address(kind, *r);
            for r in operands(kind).into_iter().filter(address) {
                notes.push(format!("r{r}={}", Words(&before[usize::from(r)], self.image)));
            }
        }
        if self.regions.summary.loops.iter().any(|(_, head)| *head == pc) {
            notes.push("loop".into());
        }
        notes
    }

    fn is_address(&self, kind: Kind, r: u8) -> bool {
        match kind {
            Kind::Load { src, .. } => src == r,
            Kind::Store { dst, .. } | Kind::Atomic { dst, .. } => dst == r,
            _ => false,
        }
    }

    fn access(&self, a: &Access) -> String {
        let region = a.region.map_or("region unknown", Region::name);
        let bounds = if a.in_bounds { "" } else { ", may fault" };
        format!("[{region}] {} {} bytes{bounds}", Words(&a.address, self.image), a.width)
    }

    fn call(&self, call: &Call) -> String {
        let args: Vec<String> = call.args.iter().map(|(_, v)| Words(v, self.image).to_string()).collect();
        let name = helper::find(call.helper).map_or("unknown helper", |h| h.name);
        format!("{name}({})", args.join(", "))
    }
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pc = 0;
        while let Some(insn) = self.program.insns.get(pc as usize) {
            let kind = insn.kind(self.program.insns.get(pc as usize + 1).copied()).ok();
            let notes = match (kind, self.regions.slots.get(pc as usize)) {
                (Some(kind), Some(at)) => self.notes(pc, kind, at).join("; "),
                _ => String::new(),
            };
            let text = match kind {
                Some(kind) => crate::insn::text(kind, &|map| MapRef::Map(map).name(self.image)),
                None => "?".into(),
            };
            for function in self.program.functions.iter().filter(|function| function.start == pc) {
                writeln!(f, "{}:", function.name)?;
            }
            if let Some(line) = self.program.lines.get(&pc) {
                writeln!(f, "; {} @ {}:{}", line.text.trim(), line.file, line.line)?;
            }
            let text = format!("{pc:5}: {text}");
            if notes.is_empty() {
                writeln!(f, "{text}")?
            } else {
                writeln!(f, "{text:<48} ; {notes}")?
            }
            pc += kind.map_or(1, |k| k.slots());
        }
        let s = &self.regions.summary;
        let share = |list: &[u32]| s.accesses as usize - list.len();
        writeln!(
            f,
            "{} instructions reached, {} dead; {} accesses: {} in a known region, {} proven in bounds{}",
            s.reached,
            s.dead.len(),
            s.accesses,
            share(&s.unknown),
            share(&s.unproven),
            if s.flow_serial { "; flow-serial" } else { "" },
        )
    }
}

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if let Some(x) = self.as_constant() {
            return s.serialize_u64(x);
        }
        let mut out = s.serialize_struct("Num", 6)?;
        out.serialize_field("known_ones", &self.bits.value)?;
        out.serialize_field("unknown_bits", &self.bits.mask)?;
        out.serialize_field("unsigned", &[self.whole.umin, self.whole.umax])?;
        out.serialize_field("signed", &[self.whole.smin, self.whole.smax])?;
        out.serialize_field("low_unsigned", &[self.half.umin, self.half.umax])?;
        out.serialize_field("low_signed", &[self.half.smin, self.half.smax])?;
        out.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.base == Base::Number && self.offset.is_unknown() {
            return s.serialize_str("unknown");
        }
        let mut out = s.serialize_struct("Value", 3)?;
        out.serialize_field("base", &self.base)?;
        out.serialize_field("offset", &self.offset)?;
        out.serialize_field("nullable", &self.nullable)?;
        out.end()
    }
}

impl Serialize for Access {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut out = s.serialize_struct("Access", 7)?;
        out.serialize_field("kind", &self.kind)?;
        out.serialize_field("width", &self.width)?;
        out.serialize_field("region", &self.region.map_or("unknown", Region::name))?;
        out.serialize_field("map", &self.map)?;
        out.serialize_field("address", &self.address)?;
        out.serialize_field("alignment", &self.alignment)?;
        out.serialize_field("in_bounds", &self.in_bounds)?;
        out.end()
    }
}

impl Serialize for Call {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut out = s.serialize_struct("Call", 4)?;
        out.serialize_field("helper", &helper::find(self.helper).map_or("unknown", |h| h.name))?;
        out.serialize_field("map", &self.map)?;
        let args: Vec<&Value> = self.args.iter().map(|(_, v)| v).collect();
        out.serialize_field("args", &args)?;
        out.serialize_field("key", &self.key)?;
        out.end()
    }
}

/// Registers of which something is known, by name.
struct Known<'a>(&'a [Value; 11]);

impl Serialize for Known<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut out = s.serialize_map(None)?;
        for (r, v) in self.0.iter().enumerate().filter(|(_, v)| **v != Value::unknown()) {
            out.serialize_entry(&format!("r{r}"), v)?;
        }
        out.end()
    }
}

#[derive(Serialize)]
struct Slot<'a> {
    slot: usize,
    generation: Option<Generation>,
    before: Known<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: &'a Option<Box<Access>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: &'a Option<Call>,
}

struct Slots<'a>(&'a [At]);

impl Serialize for Slots<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut out = s.serialize_seq(None)?;
        for (slot, at) in self.0.iter().enumerate() {
            if let Some(before) = &at.before {
                let (generation, before) = (at.generation, Known(before));
                out.serialize_element(&Slot { slot, generation, before, access: &at.access, call: &at.call })?;
            }
        }
        out.end()
    }
}

impl Serialize for Regions {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut out = s.serialize_struct("Regions", 5)?;
        out.serialize_field("program", &self.program)?;
        out.serialize_field("complete", &self.complete)?;
        out.serialize_field("joined_calls", &self.joined_calls)?;
        out.serialize_field("summary", &self.summary)?;
        out.serialize_field("slots", &Slots(&self.slots))?;
        out.end()
    }
}
