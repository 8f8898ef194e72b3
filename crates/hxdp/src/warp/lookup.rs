//! The lookup that the engine makes for a leaf, and the leaf's code without it.

use super::bits::Seen;
use super::extract::Extract;
use super::known::Known;
use super::path::{Answer, Path};
use super::peel::{Entry, STEPS};
use super::value::Value;
use crate::effect::Effect;
use crate::op::{CORE, LOOKUP, NAMES};
use crate::pass::{Code, dead, stores};
use crate::{Op, Step};
use sluice_ebpf::insn::{AluOp, Operand};
use sluice_ebpf::{Image, MapType};

/// A lookup that is under way when a leaf's code begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Lookup {
    /// Index of the map in the image.
    pub map: u32,
    /// The key in words of 8 bytes, little endian; the last one is filled with zeros.
    pub key: Vec<Extract>,
    /// Bytes of the key.
    pub bytes: u32,
}

impl Lookup {
    /// A packet's key.
    pub fn key_of(&self, seen: &Seen) -> Vec<u8> {
        let mut key: Vec<u8> = self.key.iter().flat_map(|word| word.of(seen).to_le_bytes()).collect();
        key.truncate(self.bytes as usize);
        key
    }
}

/// Whether the map engine searches a key in maps of this kind.
pub fn is_searched(kind: MapType) -> bool {
    matches!(kind, MapType::Hash | MapType::LruHash | MapType::LpmTrie | MapType::PercpuHash | MapType::LruPercpuHash)
}

/// The lookup that the program comes to first, the program without it, and what was there before it. Of a per-CPU map the engine gives the first copy of a value:
/// a packet has no processor yet. So code for what is found goes on to its own, and code for either has no such lookup.
pub fn lookup(code: &Code, image: &Image, path: &Path) -> Option<(Lookup, Code, Vec<Step>)> {
    let trace = code.traces.get(&0)?;
    let mut known = Known::new(&Entry::default());
    let mut found = None;
    for (index, step) in trace.steps.iter().enumerate() {
        let effect = Effect::of(step, &code.regions);
        if let Op::Helper { id: LOOKUP, handle: Some(map), second, .. } = step.op {
            let address = match second {
                Some((base, more)) => known.reg(base).alu(AluOp::Add, true, Value::constant(i64::from(more) as u64)),
                None => known.reg(2),
            };
            let spec = image.maps.get(map as usize)?;
            if !is_searched(spec.kind) || spec.kind.is_per_cpu() && path.answer == Answer::Either {
                return None;
            }
            found = Some((
                index,
                Lookup { map, key: known.words(address, spec.key_size, path.least)?, bytes: spec.key_size },
            ));
            break;
        }
        if effect.shared || effect.may_fault || step.op.is_barrier() || step.op.branch().is_some() || step.op.ends() {
            return None;
        }
        known.pass(step, &effect);
    }
    let (index, lookup) = found?;
    if lookup.key.iter().map(Extract::steps).sum::<usize>() > STEPS {
        return None;
    }
    let mut without = code.clone();
    let trace = without.traces.get_mut(&0)?;
    let before = trace.steps[..index].to_vec();
    let call = trace.steps.remove(index);
    if path.answer == Answer::Found && image.maps.get(lookup.map as usize)?.kind.is_per_cpu() {
        let used = trace.steps.iter().fold(0, |used, step| used | step.op.reads() | step.op.writes());
        let own = (CORE as u8..NAMES as u8).find(|name| used >> name & 1 == 0)?;
        let add = Op::Alu { op: AluOp::Add, wide: true, dst: 0, a: 0, b: Operand::Reg(own) };
        let steps = [Op::Copy { dst: own, map: lookup.map }, add].map(|op| Step { op, ..call });
        trace.steps.splice(index..index, steps);
    }
    stores::stores(&mut without);
    dead::dead(&mut without);
    // The answer is in r0 from the beginning on.
    let kept = &without.traces.get(&0)?.steps;
    let uses = |step: &&Step| (step.op.reads() | step.op.writes()) & 1 != 0;
    let free = !kept.iter().filter(|step| before.contains(step)).any(|step| uses(&step));
    free.then_some((lookup, without, before))
}
