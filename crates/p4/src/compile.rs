//! Programs on the pipeline: compiled once, with entries as they come and go.

use crate::back::{Plan, plan};
use crate::error::{Notes, P4Errors, Problem};
use crate::interpret::{Sent, lower};
use crate::middle::{Refusal, RefusalKind, explore};
use crate::source::Sources;
use crate::{Program, Reference, check};
use sluice_formats::{Node, Status, Table};
use sluice_object::RmtGroup;
use sluice_object::linker::rmt::{Placer, Quota};
use sluice_rmt::fast::{Buffers, Fast};
use sluice_rmt::text::Unit;
use sluice_rmt::{Arrival, Group, Pipeline, Role, Target};
use std::collections::{BTreeMap, BTreeSet};

/// A program that fits the pipeline.
#[derive(Debug)]
pub struct Compiled {
    plan: Plan,
    sources: Sources,
    role: Role,
    target: Target,
}

fn errors(refusal: Refusal, sources: &Sources) -> P4Errors {
    let mut notes = Notes::default();
    let what = refusal.what;
    notes.push(
        refusal.span,
        match refusal.kind {
            RefusalKind::NotThere => Problem::NotThere { what },
            RefusalKind::TooMuch => Problem::TooMuch { what },
        },
    );
    notes.into_errors(sources)
}

impl Program {
    /// Compiles a program for stages of a target; those of the system module only where it is alone.
    pub fn compile(&self, target: &Target, first: usize, last: usize) -> Result<Compiled, P4Errors> {
        let nothing = check::Facts::default();
        let facts = self.facts.as_ref().unwrap_or(&nothing);
        let refused = |span, what: String| errors(Refusal { span, kind: RefusalKind::NotThere, what }, &self.sources);
        let code = lower(&self.tree, facts, true).map_err(|refusal| refused(refusal.span, refusal.what))?;
        let all = explore(&code).and_then(|graph| plan(&code, graph, target, (first, last)));
        let plan = all.map_err(|refusal| errors(refusal, &self.sources))?;
        let system = (first..=last).any(|stage| target.is_system(stage));
        let role = if system { Role::System } else { Role::Tenant };
        let compiled = Compiled { plan, sources: self.sources.clone(), role, target: *target };
        // The entries of the program itself have to fit.
        compiled.unit(&self.reference(crate::Undefined::Zero, 1)?)?;
        Ok(compiled)
    }
}

impl Compiled {
    /// How many stages it needs, one behind the other.
    pub fn stages(&self) -> usize {
        let mut all = self.plan.stages.clone();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// The multicast groups that a reference has, where the program uses groups.
    fn groups(&self, entries: &Reference) -> Result<BTreeMap<u16, RmtGroup>, P4Errors> {
        let replication = &entries.switch.replication;
        let mut groups = BTreeMap::new();
        if !self.plan.has_groups() {
            return Ok(groups);
        }
        // A group that nobody made has no copies.
        let numbers: BTreeSet<u16> = replication.groups.keys().copied().chain(self.plan.groups_named()).collect();
        for number in &numbers {
            let mut group = RmtGroup { destinations: 0, tags: [0; 8] };
            for (port, rid) in replication.copies(*number) {
                let bit = u8::try_from(port).ok().filter(|port| *port < 8).map(|port| 1u8 << port);
                let Some(bit) = bit.filter(|bit| group.destinations & bit == 0) else {
                    let (span, kind) = (crate::source::Span::default(), RefusalKind::NotThere);
                    let what = format!("port {port} in group {number}; a copy goes to each of ports 0 to 7 once at most");
                    return Err(errors(Refusal { span, kind, what }, &self.sources));
                };
                group.destinations |= bit;
                group.tags[usize::from(port)] = rid;
            }
            if usize::from(*number) >= self.target.groups {
                let (span, kind) = (crate::source::Span::default(), RefusalKind::TooMuch);
                let what = format!("group {number}; there are groups 1 to {}", self.target.groups - 1);
                return Err(errors(Refusal { span, kind, what }, &self.sources));
            }
            groups.insert(*number, group);
        }
        Ok(groups)
    }

    /// The module with the entries that a reference has.
    pub fn unit(&self, entries: &Reference) -> Result<Unit, P4Errors> {
        let switch = &entries.switch;
        if switch.machine.value_sets.iter().any(|members| !members.is_empty()) {
            let (span, kind) = (crate::source::Span::default(), RefusalKind::NotThere);
            let what = "members of a value set: the parser's rows stand when the program is compiled".to_string();
            return Err(errors(Refusal { span, kind, what }, &self.sources));
        }
        let program = self.plan.program(&switch.code, &switch.machine.tables);
        let program = program.map_err(|refusal| errors(refusal, &self.sources))?;
        if let Err(problem) = sluice_rmt::check::check(&program, &self.target, self.role) {
            let refusal = Refusal {
                span: crate::source::Span::default(),
                kind: RefusalKind::TooMuch,
                what: format!("what the pipeline's checker refuses: {problem}"),
            };
            return Err(errors(refusal, &self.sources));
        }
        let mut unit = Unit::of(program, self.role);
        unit.names.module = "program".into();
        unit.groups = self.groups(entries)?;
        Ok(unit)
    }
}

/// A compiled program on the fast model of the pipeline, and beside it on the pipeline's own specification.
#[derive(Debug)]
pub struct Model {
    compiled: Compiled,
    fast: Fast,
    spec: Pipeline,
    buffers: Buffers,
}

impl Model {
    /// A model without entries yet.
    pub fn new(compiled: Compiled) -> Model {
        let target = compiled.target;
        Model { compiled, fast: Fast::new(target), spec: Pipeline::new(target), buffers: Buffers::default() }
    }

    fn module(&self) -> u8 {
        u8::from(self.compiled.role == Role::Tenant)
    }

    /// Has the pipeline run with the entries of a reference.
    pub fn load(&mut self, entries: &Reference) -> Result<(), String> {
        let unit = self.compiled.unit(entries).map_err(|errors| errors.to_string())?;
        let (target, module) = (self.compiled.target, self.module());
        let groups = unit.groups.clone();
        let part = unit.part(&target).map_err(|problem| problem.to_string())?;
        let mut placer = Placer::new(target);
        let mut writes = placer.stage_owners();
        let name = "program";
        writes.extend(placer.admit(module, name, Quota::of(&part, 0xff)).map_err(|error| error.to_string())?);
        self.fast = Fast::new(target);
        let placed = placer.place(module, 0, &std::sync::Arc::new(part)).map_err(|error| error.to_string())?;
        writes.extend(placed.zero);
        writes.extend(placed.rows);
        for write in &writes {
            if self.fast.write(write.node, write.table, write.index, &write.words) != Status::Ok {
                return Err(format!("row {:?} {:?} {} is not written", write.node, write.table, write.index));
            }
        }
        self.spec = Pipeline::new(target);
        let loaded = self.spec.load(module, 0, unit.program, unit.memory);
        loaded.map_err(|error| error.to_string())?;
        self.spec.grant(module, 0xff);
        for (number, group) in groups {
            let RmtGroup { destinations, tags } = group;
            self.spec.set_group(number, Group { owner: module, destinations, tags });
        }
        for (array, place) in &self.compiled.plan.cells {
            for at in 0..place.cells {
                let (stage, word) = (place.stage, place.base + at);
                let value = entries.switch.cell(*array, at);
                // Alone, a module has the pages of a stage in their order.
                let rows = [value];
                let node = Node::Stage(stage as u8);
                let status = self.fast.write(node, Table::StateWord, word as u32, &rows);
                if status != Status::Ok || !self.spec.set_word(module, 0, stage, word, value) {
                    return Err(format!("word {word} of stage {stage} is not written"));
                }
            }
        }
        Ok(())
    }

    /// Brings what the pipeline counted and kept to a reference, whose entries it has.
    pub fn fetch(&mut self, into: &mut Reference) -> Result<(), String> {
        let module = self.module();
        let Compiled { plan, target, .. } = &self.compiled;
        let switch = &mut into.switch;
        for (array, place) in &plan.cells {
            for at in 0..place.cells {
                let word = self.spec.words(module, 0, place.stage).get(place.base + at).copied();
                if word != Some(self.fast.state_word(place.stage, place.base + at)) {
                    return Err("the fast model and the pipeline's specification keep different state".to_string());
                }
                switch.set_cell(*array, at, word.unwrap_or(0));
            }
        }
        for stage in 0..target.stages {
            for ((table, row), number) in plan.numbers(stage, &switch.code, &switch.machine.tables) {
                let hits = self.spec.hits(module, stage, number);
                switch.machine.tables[table].row_mut(row).packets += hits;
            }
        }
        Ok(())
    }

    /// What the pipeline keeps otherwise than a reference that saw the same packets since both had the same, if there is something.
    pub fn differs(&self, from: &Reference) -> Option<String> {
        let switch = &from.switch;
        for (array, place) in &self.compiled.plan.cells {
            for at in 0..place.cells {
                let words = self.spec.words(self.module(), 0, place.stage);
                let mask = switch.cell_mask(*array);
                let (found, wanted) = (words[place.base + at] & mask, switch.cell(*array, at) & mask);
                if found != wanted {
                    let name = &switch.code.objects[array.object].name;
                    return Some(format!("{name}[{at}]: 0x{found:x}, the reference has 0x{wanted:x}"));
                }
            }
        }
        None
    }

    /// Carries a packet through; the fast model and the specification have to agree.
    pub fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, String> {
        let Some(port) = u8::try_from(port).ok().filter(|port| *port < 8) else {
            return Err(format!("port {port}; the pipeline has ports 0 to 7"));
        };
        let arrival = Arrival {
            packet: bytes,
            module: self.module(),
            generation: 0,
            system_generation: 0,
            tenant: 1,
            port,
            arrival: 0,
            queueing: 0,
        };
        let sent = match self.fast.run_into(&arrival, &mut self.buffers) {
            Err(_) => Vec::new(),
            Ok(()) => {
                let bytes = &self.buffers.packet;
                let copies = self.buffers.copies.iter();
                copies.map(|copy| Sent { port: copy.destination.into(), bytes: bytes.clone() }).collect()
            }
        };
        let same: Vec<Sent> = match self.spec.run(&arrival) {
            sluice_rmt::Outcome::Dropped(_) => Vec::new(),
            sluice_rmt::Outcome::Sent { packet, copies } => {
                copies.iter().map(|copy| Sent { port: copy.destination.into(), bytes: packet.clone() }).collect()
            }
        };
        if same != sent {
            return Err("the fast model and the pipeline's specification differ".to_string());
        }
        Ok(sent)
    }
}
