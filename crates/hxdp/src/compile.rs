//! From a validated program to bundles.

use crate::events::Events;
use crate::pass::elements::Array;
use crate::pass::liveness::Liveness;
use crate::pass::set::{Pass, Passes};
use crate::pass::{self, Code, Maps};
use crate::sections::Sections;
use crate::warp::path::Path;
use crate::warp::peel::Entry;
use crate::{Bundles, CompileError, Profile, Stored, Target, verify, warp};
use sluice_ebpf::analysis::{self, At, Regions, Summary};
use sluice_ebpf::insn::{CALL, pseudo};
use sluice_ebpf::validate::{Options, validate_program};
use sluice_ebpf::{Image, Insn, MapSpec, MapType, Program, helper};
use std::collections::{BTreeMap, BTreeSet};

/// A compiled program, and what it was made of.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Rows.
    pub bundles: Bundles,
    /// eBPF instructions of the program; a 64-bit load is one.
    pub instructions: usize,
    /// Whether packets of one flow must wait for each other: a plain read-modify-write of a map's value is left.
    pub flow_serial: bool,
    /// Where a flow-serial program is not serial as a whole: the rows that packets of a flow pass one after the other.
    pub sections: Option<Sections>,
    /// Slots of these reads and writes, where they are known.
    pub serial: Vec<(u32, u32)>,
    /// Its events, as the engine in hardware tells them.
    pub events: Events,
    /// Maps that it stores to other than by atomic operations.
    pub stored: Stored,
}

/// Refuses what can never run, and calls whose numbers are not those of helpers: a lane has 16 bits for one.
fn check(image: &Image, program: &Program) -> Result<(), CompileError> {
    validate_program(program, &image.maps, Options { unreachable: true })?;
    let other = |i: &Insn| i.op == CALL && i.src == pseudo::HELPER && u16::try_from(i.imm).is_err();
    let Some(slot) = program.insns.iter().position(other) else { return Ok(()) };
    let what = match helper::find(program.insns[slot].imm) {
        Some(function) => format!("kernel function `bpf_{}`", function.name),
        None => "what was not found when the object was loaded".to_owned(),
    };
    Err(CompileError::Call { program: program.name.clone(), slot: slot as u32, what })
}

/// Compiles one program of an image for a core.
pub fn compile(image: &Image, program: &Program, target: &Target) -> Result<Compiled, CompileError> {
    compile_with(image, program, target, Passes::ALL)
}

/// The same with some of the passes only.
pub fn compile_with(
    image: &Image,
    program: &Program,
    target: &Target,
    passes: Passes,
) -> Result<Compiled, CompileError> {
    check(image, program)?;
    finish(stages(image, program, passes), image, program, target)
}

/// The same where likely is what the profile's packets did.
pub fn compile_profiled(
    image: &Image,
    program: &Program,
    target: &Target,
    passes: Passes,
    profile: &Profile,
) -> Result<Compiled, CompileError> {
    check(image, program)?;
    finish(staged(image, program, (passes, Some(profile), None)), image, program, target)
}

/// The same for a program that begins with other registers than r1 = context: nothing is known of any.
pub fn compile_unanalysed(image: &Image, program: &Program, target: &Target) -> Result<Compiled, CompileError> {
    unanalysed(image, program, target, Passes::ALL)
}

/// The same where rows are dear: no instruction is copied.
pub fn compile_short(image: &Image, program: &Program, target: &Target) -> Result<Compiled, CompileError> {
    unanalysed(image, program, target, Passes::ALL.without(Pass::Superblocks).without(Pass::Short))
}

fn unanalysed(image: &Image, program: &Program, target: &Target, passes: Passes) -> Result<Compiled, CompileError> {
    check(image, program)?;
    let nothing = Regions {
        program: program.name.clone(),
        slots: Vec::new(),
        complete: false,
        joined_calls: false,
        steps: 0,
        summary: Summary::default(),
    };
    finish(run(program, nothing, Maps::default(), (passes, None, None)), image, program, target)
}

/// The code of a leaf: a program that begins with a path of another, and what it begins with, which is at least what is given, in no more than so many steps.
pub fn compile_leaf(
    image: &Image,
    path: &Path,
    target: &Target,
    given: (&Entry, usize),
) -> Result<CompiledLeaf, CompileError> {
    let stages = staged(image, &path.program, (Passes::ALL, None, Some((path, image, given))));
    let entry = stages.last().map(|stage| stage.code.entry.clone()).unwrap_or_default();
    let peeled = peeled(&stages);
    Ok(CompiledLeaf { compiled: finish(stages, image, &path.program, target)?, entry, peeled })
}

/// A leaf's code, and what it was.
#[derive(Clone, Debug)]
pub struct CompiledLeaf {
    /// Its rows.
    pub compiled: Compiled,
    /// What it begins with.
    pub entry: Entry,
    /// Before `peel`, behind it, and in registers of a core.
    pub peeled: Box<[Code; 3]>,
}

/// The code before `peel`, behind it, and in registers of a core.
fn peeled(stages: &[Stage]) -> Box<[Code; 3]> {
    let at = stages.iter().position(|stage| stage.name == PEEL);
    match at.and_then(|at| Some([stages.get(at.checked_sub(1)?)?, &stages[at], stages.last()?])) {
        Some(stages) => Box::new(stages.map(|stage| stage.code.clone())),
        None => unreachable!("leaves are peeled"),
    }
}

/// Stages of a leaf's code up to `peel`, for tests of its checker.
#[cfg(test)]
pub(crate) fn peeled_leaf(image: &Image, path: &Path, given: (&Entry, usize)) -> [Code; 3] {
    *peeled(&staged(image, &path.program, (Passes::ALL, None, Some((path, image, given)))))
}

fn finish(stages: Vec<Stage>, image: &Image, program: &Program, target: &Target) -> Result<Compiled, CompileError> {
    for stage in &stages {
        verify::traces(&stage.code).map_err(|what| CompileError::Broken {
            program: program.name.clone(),
            what: format!("after `{}`: {what}", stage.name),
        })?;
    }
    let code = last(stages);
    let bundles = schedule(&code, target)?;
    let serial = if code.flow_serial { pass::adds::serial(&code) } else { Vec::new() };
    let (instructions, flow_serial) = (program.instructions().count(), code.flow_serial);
    let sections = if flow_serial { Sections::of(&code, image, &bundles) } else { None };
    let (events, stored) = (Events::of(image, program, &code), Stored::of(&code));
    Ok(Compiled { bundles, instructions, flow_serial, sections, serial, events, stored })
}

/// The traces that are scheduled, after all passes before that.
pub fn optimized(image: &Image, program: &Program) -> Code {
    last(stages(image, program, Passes::ALL))
}

fn last(mut stages: Vec<Stage>) -> Code {
    match stages.pop() {
        Some(stage) => stage.code,
        None => unreachable!("`traces` is a stage of every program"),
    }
}

/// A program as a pass leaves it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Name of the pass.
    pub name: &'static str,
    /// The program behind it.
    pub code: Code,
}

impl Stage {
    /// The same program in registers that a core has; none where its values have no room there yet.
    pub fn in_core(&self) -> Option<Code> {
        let mut code = self.code.clone();
        pass::rename::rename(&mut code).is_empty().then_some(code)
    }
}

/// What leaves have besides the passes.
const PEEL: &str = "peel";

/// A pass on traces.
type Change<'a> = &'a dyn Fn(&mut Code);

/// A program behind each of these passes, `traces` first.
pub fn stages(image: &Image, program: &Program, passes: Passes) -> Vec<Stage> {
    staged(image, program, (passes, None, None))
}

/// How a program is compiled: its passes, with a profile of its packets, as a leaf of another.
type How<'a> = (Passes, Option<&'a Profile>, Option<(&'a Path, &'a Image, (&'a Entry, usize))>);

fn staged(image: &Image, program: &Program, how: How<'_>) -> Vec<Stage> {
    let regions = analysis::analyze(image, program);
    let maps = Maps {
        sizes: sizes(image, &regions),
        arrays: arrays(image),
        elements: pass::queues::elements(image, &regions),
    };
    run(program, regions, maps, how)
}

/// The arrays whose values programs have addresses of.
fn arrays(image: &Image) -> BTreeMap<u32, Array> {
    let is_array = |map: &MapSpec| matches!(map.kind, MapType::Array | MapType::PercpuArray);
    let array = |map: &MapSpec| Array { entries: map.max_entries, shift: map.value_shift() };
    (0..).zip(&image.maps).filter(|(_, map)| is_array(map)).map(|(index, map)| (index, array(map))).collect()
}

/// Bytes of the keys and values that helpers are called with, where their map is known.
fn sizes(image: &Image, regions: &Regions) -> BTreeMap<u32, (u32, u32)> {
    let of_call = |(slot, at): (u32, &At)| {
        let maps = at.call.as_ref()?.map?.each();
        let specs: Vec<&MapSpec> = maps.into_iter().map(|map| map.spec(image)).collect::<Option<_>>()?;
        let greatest = |size: fn(&MapSpec) -> u32| specs.iter().map(|spec| size(spec)).max();
        Some((slot, (greatest(|spec| spec.key_size)?, greatest(|spec| spec.value_size)?)))
    };
    (0..).zip(&regions.slots).filter_map(of_call).collect()
}

fn run(program: &Program, regions: Regions, maps: Maps, how: How<'_>) -> Vec<Stage> {
    let mut crowded: BTreeMap<u32, u8> = BTreeMap::new();
    loop {
        match attempt(program, regions.clone(), maps.clone(), how, &crowded) {
            Ok(stages) => return stages,
            // Each round leaves a trace with less that `packs` makes, then its values in their registers; without `values` all have room.
            Err(more) => more.into_iter().for_each(|label| *crowded.entry(label).or_default() += 1),
        }
    }
}

/// How much `packs` may do in a trace whose values had no room, from round to round.
const PACKS: [usize; 4] = [6, 3, 1, 0];

/// All passes, with less of `packs` and without `values` in some traces, by how often they had no room; or the traces whose values have no room in the core's registers.
fn attempt(
    program: &Program,
    regions: Regions,
    maps: Maps,
    (passes, profile, leaf): How<'_>,
    crowded: &BTreeMap<u32, u8>,
) -> Result<Vec<Stage>, BTreeSet<u32>> {
    let mut steps = pass::decode::decode(program);
    if let Some((path, ..)) = leaf {
        path.decide(&mut steps);
    }
    if passes.has(Pass::Decided) {
        pass::decided::decided(&mut steps, &regions);
    }
    if passes.has(Pass::Plain) {
        pass::plain::plain(&mut steps, &regions);
    }
    if passes.has(Pass::Lengths) {
        pass::lengths::lengths(&mut steps, &regions);
    }
    if passes.has(Pass::Starts) {
        pass::starts::starts(&mut steps, &regions);
    }
    pass::queues::queues(&mut steps, &maps.elements);
    let mut code = pass::traces::traces(program, &steps, regions, passes.has(Pass::Predict).then_some(profile));
    code.maps = maps;
    let mut stages = vec![Stage { name: "traces", code: code.clone() }];
    let changed = |name, code: &mut Code| {
        // A pass may leave a trace without instructions.
        pass::traces::shorten(code);
        code.prune();
        Stage { name, code: code.clone() }
    };
    if passes.has(Pass::Superblocks) {
        pass::superblocks::superblocks(&mut code, profile);
        stages.push(changed(Pass::Superblocks.name(), &mut code));
    }
    if passes.has(Pass::Short) {
        pass::traces::copy_short(&mut code);
        stages.push(changed(Pass::Short.name(), &mut code));
    }
    let without: BTreeSet<u32> =
        crowded.iter().filter(|(_, rounds)| usize::from(**rounds) > PACKS.len()).map(|(label, _)| *label).collect();
    let values = |code: &mut Code| pass::values::values(code, &without);
    let most = |label: u32| crowded.get(&label).map(|rounds| PACKS.get(usize::from(*rounds - 1)).copied().unwrap_or(0));
    let packs = |code: &mut Code| pass::packs::packs(code, &most);
    // Behind `forward` values share registers of the core, which `join` could not tell from uses of its own.
    let on_values: [(Pass, Change<'_>); 23] = [
        (Pass::Values, &values),
        (Pass::Copies, &pass::copies::copies),
        (Pass::Elements, &pass::elements::elements),
        // What a call gave was in r0.
        (Pass::Values, &values),
        (Pass::Copies, &pass::copies::copies),
        (Pass::Sums, &pass::sums::sums),
        (Pass::Known, &pass::known::known),
        (Pass::Exits, &pass::exits::exits),
        (Pass::Zeroing, &pass::zeroing::zeroing),
        (Pass::Adds, &pass::adds::adds),
        (Pass::Pairs, &pass::pairs::pairs),
        (Pass::Masks, &pass::masks::masks),
        (Pass::Nulls, &pass::nulls::nulls),
        (Pass::Rotates, &pass::rotates::rotates),
        (Pass::Bytes, &pass::bytes::bytes),
        (Pass::Dead, &pass::dead::dead),
        (Pass::Forward, &pass::forward::forward),
        (Pass::Stores, &pass::stores::stores),
        (Pass::Values, &values),
        (Pass::Join, &pass::join::join),
        (Pass::Coalesce, &pass::coalesce::coalesce),
        (Pass::Packs, &packs),
        (Pass::Quiet, &pass::quiet::quiet),
    ];
    // What `values` and `packs` have named needs registers of the core.
    let renames = passes.has(Pass::Rename) || passes.has(Pass::Values);
    let runs = |pass: Pass| passes.has(pass) && (renames || pass != Pass::Packs);
    for (pass, change) in on_values.into_iter().filter(|(pass, _)| runs(*pass)) {
        change(&mut code);
        stages.push(changed(pass.name(), &mut code));
    }
    if let Some((path, image, given)) = leaf {
        code.entry = warp::peel::peel(&mut code, (image, path), given);
        stages.push(changed(PEEL, &mut code));
    }
    if renames {
        let more = pass::rename::rename(&mut code);
        if !more.is_empty() {
            return Err(more);
        }
        if passes.has(Pass::Exits) {
            pass::exits::plain(&mut code);
        }
        stages.push(changed(Pass::Rename.name(), &mut code));
    }
    Ok(stages)
}

/// Bundles of traces, verified.
pub fn schedule(code: &Code, target: &Target) -> Result<Bundles, CompileError> {
    let live = Liveness::of(code);
    let schedules: BTreeMap<_, _> = code
        .traces
        .iter()
        .map(|(label, trace)| {
            let edges = pass::dependence::dependences(trace, &code.regions, &live);
            (*label, pass::schedule::schedule(&trace.steps, &edges, target, &code.leaving))
        })
        .collect();
    let (bundles, starts) = pass::layout::layout(code, &schedules, *target)?;
    verify::verify(code, &bundles, &starts)
        .map_err(|broken| CompileError::Broken { program: code.program.clone(), what: broken.to_string() })?;
    Ok(bundles)
}
