//! A summary of an image for people and programs (`sluice xdp check`).

use super::{LoadError, Variable, names};
use crate::image::{Image, Initial, MapSpec, Note, Program};
use crate::insn::{CALL, LD_IMM64, pseudo};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What an object holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// License.
    pub license: String,
    /// Whether it has type information.
    pub btf: bool,
    /// Programs that can be run.
    pub programs: Vec<ProgramReport>,
    /// Maps.
    pub maps: Vec<MapReport>,
    /// Variables that user space may set, with their first values.
    pub variables: Vec<Variable>,
    /// Programs and maps that were refused.
    pub refused: Vec<RefusedReport>,
    /// What was taken otherwise than the object says, or left out.
    pub notes: Vec<Note>,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramReport {
    /// Symbol.
    pub name: String,
    /// Section.
    pub section: String,
    /// Instructions, functions included; a 64-bit immediate counts once.
    pub instructions: usize,
    /// Slots, functions included; a 64-bit immediate has two.
    pub slots: usize,
    /// Functions: the program itself first.
    pub functions: Vec<FunctionReport>,
    /// Maps that it names.
    pub maps: Vec<String>,
    /// Helpers that it calls, by the kernel's names, and how often they stand there.
    pub helpers: BTreeMap<&'static str, u32>,
    /// What it makes use of.
    pub features: BTreeSet<Feature>,
    /// Whether source lines are known.
    pub lines: bool,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionReport {
    /// Symbol.
    pub name: String,
    /// First slot in the program.
    pub start: u32,
    /// Slots.
    pub slots: u32,
}

/// One map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MapReport {
    /// Symbol.
    pub name: String,
    /// Type, as bpftool names it.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Most entries; 0: user space must set it.
    pub max_entries: u32,
    /// Flags.
    pub flags: u32,
    /// Pinned by name: it outlives a replacement.
    pub pinned: bool,
    /// Nobody may write it.
    pub frozen: bool,
    /// What a map of maps holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner: Option<Box<MapReport>>,
    /// Entries that the object gives: key, and name of the map or program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub initial: Vec<(u32, String)>,
    /// Offset of its spin lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin_lock: Option<u32>,
}

/// What was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedReport {
    /// "program" or "map".
    pub what: &'static str,
    /// Symbol.
    pub name: String,
    /// Section of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Code for `sluice explain`.
    pub code: &'static str,
    /// Why, with its place.
    pub reason: String,
    /// Slot in the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<u32>,
    /// File and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What programs make use of beyond version 1 of the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Read-modify-write in memory.
    Atomics,
    /// Atomics that give back the value before, exchange, compare and exchange.
    AtomicFetch,
    /// Jumps back.
    Loops,
    /// Calls between functions.
    LocalCalls,
    /// `tail_call`.
    TailCalls,
    /// Functions given to helpers.
    Callbacks,
    /// 32-bit arithmetic.
    Alu32,
    /// 32-bit jumps.
    Jmp32,
    /// Version 4: signed division, sign-extending moves and loads, `bswap`, long jumps.
    V4,
    /// `spin_lock`.
    SpinLocks,
    /// `.rodata`, `.data`, `.bss`.
    GlobalData,
    /// Maps of maps.
    MapInMap,
}

/// Summarises an image.
pub fn report(image: &Image) -> Report {
    let mut refused = Vec::new();
    for map in &image.refused_maps {
        refused.push(refusal("map", &map.name, None, &map.error));
    }
    for program in &image.refused {
        refused.push(refusal("program", &program.name, Some(program.section.clone()), &program.error));
    }
    Report {
        license: image.license.clone(),
        btf: image.btf.is_some(),
        programs: image.programs.iter().map(|p| self::program(image, p)).collect(),
        maps: image.maps.iter().map(|m| map(image, m)).collect(),
        variables: image.variables(),
        refused,
        notes: image.notes.clone(),
    }
}

fn refusal(what: &'static str, name: &str, section: Option<String>, error: &LoadError) -> RefusedReport {
    let place = error.place();
    RefusedReport {
        what,
        name: name.to_string(),
        section,
        code: error.code(),
        reason: error.to_string(),
        instruction: place.and_then(|p| p.instruction),
        source: place.and_then(|p| p.source.as_ref()).map(|(file, line)| format!("{file}:{line}")),
    }
}

fn map(image: &Image, spec: &MapSpec) -> MapReport {
    let named = |initial: &Initial| match initial {
        Initial::Map(at) => image.maps.get(*at).map_or_else(String::new, |m| m.name.clone()),
        Initial::Program(name) => name.clone(),
    };
    MapReport {
        name: spec.name.clone(),
        kind: spec.kind.name(),
        key_size: spec.key_size,
        value_size: spec.value_size,
        max_entries: spec.max_entries,
        flags: spec.flags,
        pinned: spec.pinned,
        frozen: spec.frozen,
        inner: spec.inner.as_ref().map(|inner| Box::new(map(image, inner))),
        initial: spec.initial.iter().map(|(key, initial)| (*key, named(initial))).collect(),
        spin_lock: spec.spin_lock,
    }
}

fn program(image: &Image, program: &Program) -> ProgramReport {
    let ends = program.functions.iter().skip(1).map(|f| f.start).chain([program.insns.len() as u32]);
    let functions = program.functions.iter().zip(ends);
    let functions = functions.map(|(f, end)| FunctionReport {
        name: f.name.clone(),
        start: f.start,
        slots: end.saturating_sub(f.start),
    });
    let mut helpers = BTreeMap::new();
    for call in program.instructions().filter(|i| i.op == CALL && i.src == pseudo::HELPER) {
        *helpers.entry(names::helper(call.imm)).or_insert(0) += 1;
    }
    let maps = program.maps();
    let mut features = features(program);
    let specs = || maps.iter().filter_map(|m| image.maps.get(*m));
    if specs().any(|m| m.inner.is_some()) {
        features.insert(Feature::MapInMap);
    }
    for (helper, feature) in [("tail_call", Feature::TailCalls), ("spin_lock", Feature::SpinLocks)] {
        if helpers.contains_key(helper) {
            features.insert(feature);
        }
    }
    ProgramReport {
        name: program.name.clone(),
        section: program.section.clone(),
        instructions: program.instructions().count(),
        slots: program.insns.len(),
        functions: functions.collect(),
        maps: specs().map(|m| m.name.clone()).collect(),
        helpers,
        features,
        lines: !program.lines.is_empty(),
    }
}

/// Features that instructions show.
fn features(program: &Program) -> BTreeSet<Feature> {
    const ATOMIC_FETCH: i32 = 1;
    let mut found = BTreeSet::new();
    for insn in program.instructions() {
        let (class, code) = (insn.class(), insn.op & 0xf0);
        match class {
            0 if insn.op == LD_IMM64 && insn.src == pseudo::FUNCTION => drop(found.insert(Feature::Callbacks)),
            0 if insn.op == LD_IMM64 && insn.src == pseudo::MAP_VALUE => drop(found.insert(Feature::GlobalData)),
            // Sign-extending loads.
            1 if insn.op & 0xe0 == 0x80 => drop(found.insert(Feature::V4)),
            3 if insn.op & 0xe0 == 0xc0 => {
                found.insert(Feature::Atomics);
                if insn.imm & ATOMIC_FETCH != 0 {
                    found.insert(Feature::AtomicFetch);
                }
            }
            4 | 7 => {
                // Byte swaps are of both widths, those of version 4 of class 7.
                let swap = code == 0xd0;
                if class == 4 && !swap {
                    found.insert(Feature::Alu32);
                }
                let signed = matches!(code, 0x30 | 0x90 | 0xb0) && insn.off != 0;
                if signed || swap && class == 7 {
                    found.insert(Feature::V4);
                }
            }
            5 | 6 => {
                if insn.op == CALL && insn.src == pseudo::LOCAL {
                    found.insert(Feature::LocalCalls);
                }
                // 0x06 is the long jump of version 4.
                if class == 6 {
                    found.insert(if code == 0 { Feature::V4 } else { Feature::Jmp32 });
                }
                let leaves = matches!(code, 0x80 | 0x90);
                let by = if class == 6 && code == 0 { insn.imm } else { i32::from(insn.off) };
                if !leaves && by < 0 {
                    found.insert(Feature::Loops);
                }
            }
            _ => {}
        }
    }
    found
}
