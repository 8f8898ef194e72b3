//! Programs on the pipeline: compiled once, with entries as they come and go.

use crate::compiler::back::{Plan, logical, plan, plan_system};
use crate::compiler::middle::{MOST_WAYS, Refusal, RefusalKind, explore_system, explore_within};
use crate::compiler::ports::{PIPELINE_PORTS, PortMap, Ports};
use crate::compiler::reserve::Reservation;
use crate::compiler::room::Choice;
use crate::compiler::traffic::{Traffic, numbered};
use crate::compiler::verify::{self, Effort};
use crate::error::{Note, Notes, P4Errors, Problem, place};
use crate::front::interpret::tables::Rows;
use crate::front::interpret::{Cells, Code, Node as Copies, Sent, System, TICK, lower};
use crate::front::source::{Sources, Span};
use crate::front::stf::{Carrier, CarrierError, GIVEN_UP};
use crate::{Program, Reference, front::check};
use sluice_formats::{Node, Status, Table};
use sluice_object::RmtGroup;
use sluice_object::linker::rmt::{Placer, Quota};
use sluice_object::rmt::{Logical, LogicalTable};
use sluice_object::{Demands, Destination, Object};
use sluice_rmt::fast::{Buffers, Fast};
use sluice_rmt::pipeline::Memory;
use sluice_rmt::reason::Reason;
use sluice_rmt::text::{Room, Unit};
use sluice_rmt::{Arrival, Group, Pipeline, Role, Target};
use std::collections::{BTreeMap, BTreeSet};

/// A program that fits the pipeline.
#[derive(Debug)]
pub struct Compiled {
    pub(super) plan: Plan,
    pub(super) sources: Sources,
    pub(super) role: Role,
    pub(super) target: Target,
    pub(super) ports: Ports,
    /// Tables of which it is said how many entries rows are reserved for.
    pub(super) said: BTreeMap<String, u32>,
    /// How it was compiled.
    pub(super) choice: Choice,
}

pub(crate) fn errors(refusal: Refusal, sources: &Sources) -> P4Errors {
    let mut notes = Notes::default();
    let what = refusal.what;
    let noted = |(at, text): (Option<Span>, String)| Note { place: at.map(|at| place(at, sources)), text };
    let belongs: Vec<Note> = refusal.notes.into_iter().map(noted).collect();
    notes.push(
        refusal.span,
        match refusal.kind {
            RefusalKind::NotThere => Problem::NotThere { what },
            RefusalKind::TooMuch => Problem::TooMuch { what },
            RefusalKind::Mistaken => Problem::Mistaken { what },
            RefusalKind::Reserve => Problem::Reserve { what },
        },
    );
    let mut errors = notes.into_errors(sources);
    if let Some(first) = errors.0.first_mut() {
        first.notes = belongs;
    }
    errors
}

impl Program {
    /// Compiles a program for stages of a target; those of the system module only where it is alone.
    pub fn compile(&self, target: &Target, first: usize, last: usize) -> Result<Compiled, P4Errors> {
        self.compile_for(target, (first, last), None, &mut |_| ())
    }

    /// The same, and tells each pass that has ended. With traffic, ports that the pipeline does not have get numbers of those that it has.
    pub fn compile_for(
        &self,
        target: &Target,
        (first, last): (usize, usize),
        traffic: Option<&Traffic>,
        ended: &mut dyn FnMut(&'static str),
    ) -> Result<Compiled, P4Errors> {
        let nothing = check::Facts::default();
        let facts = self.facts.as_ref().unwrap_or(&nothing);
        let refused = |span, what: String| errors(Refusal::new(span, RefusalKind::NotThere, what), &self.sources);
        let code =
            lower(&self.tree, facts, &self.allowed, true).map_err(|refusal| refused(refusal.span, refusal.what))?;
        ended("lower");
        if let Some(system) = &code.system {
            return self.compile_system(&code, system, target, ended);
        }
        let mut effort = Effort::of_this_build();
        let best = self.best(&code, target, (first, last), traffic);
        ended("choose");
        let choice = match (best, &effort) {
            (Ok(compiled), Some(_)) => compiled.choice,
            // What was made is made once more, and checked, or found to be wrong before it is refused.
            (Err(_), Some(_)) => Choice::default(),
            (best, None) => {
                let compiled = best?;
                self.check_rows(&compiled, &None, None)?;
                return Ok(compiled);
            }
        };
        let mut graph = explore_within(&code, None, &choice.ends, &mut { MOST_WAYS })
            .map_err(|refusal| errors(refusal, &self.sources))?;
        ended("follow to a graph");
        // Entries of which each is met, beside the program's own.
        let mut met = None;
        let mistaken = |pass, what: String| errors(verify::mistaken(pass, Span::default(), &what), &self.sources);
        if let Some(effort) = &mut effort {
            let (mut rng, packets) = (effort.fork(), effort.packets);
            let entries = met.insert(self.reference(crate::Undefined::Zero, 1)?);
            verify::symbolic::check(&graph, entries, &mut rng, packets)
                .map_err(|what| mistaken("symbolic execution", what))?;
        }
        let unnumbered = (effort.is_some() && traffic.is_some()).then(|| graph.clone());
        let ports = numbered(&mut graph, &code, traffic).map_err(|refusal| errors(refusal, &self.sources))?;
        ended("number ports");
        if let (Some(before), Some(effort), false) = (unnumbered, &mut effort, ports.map.is_plain()) {
            let (mut rng, times) = (effort.fork(), effort.times);
            verify::ports::check(&before, &graph, &ports, &mut rng, times).map_err(|what| mistaken("ports", what))?;
        }
        let plan = plan(&code, graph, target, (first, last), &choice.wishes, effort.as_mut())
            .map_err(|refusal| errors(refusal, &self.sources))?;
        ended("place");
        let compiled = Compiled::new(plan, &code, self.sources.clone(), target, (first, last), ports).chosen(choice);
        self.check_rows(&compiled, &met, effort)?;
        ended("rows, checked");
        Ok(compiled)
    }

    /// The entries of the program itself have to fit; rows are checked with these and with those that were met.
    fn check_rows(&self, compiled: &Compiled, met: &Option<Reference>, effort: Option<Effort>) -> Result<(), P4Errors> {
        let own = self.reference(crate::Undefined::Zero, 1)?;
        compiled.unit(&own)?;
        let Some(mut effort) = effort else { return Ok(()) };
        for tables in [&own].into_iter().chain(met).filter_map(|with| compiled.tables(with).ok()) {
            compiled.plan.check_rows(&tables, &mut effort).map_err(|refusal| errors(refusal, &self.sources))?;
        }
        Ok(())
    }

    /// A system program, for the stages that a target has for it.
    fn compile_system(
        &self,
        code: &Code,
        system: &System,
        target: &Target,
        ended: &mut dyn FnMut(&'static str),
    ) -> Result<Compiled, P4Errors> {
        let refused = |refusal| errors(refusal, &self.sources);
        let (graph, which) = explore_system(code, system).map_err(refused)?;
        ended("follow to a graph");
        let mut effort = Effort::of_this_build();
        let mut met = None;
        if let Some(effort) = &mut effort {
            let (mut rng, times) = (effort.fork(), effort.packets);
            let entries = met.insert(self.reference(crate::Undefined::Zero, 1)?);
            verify::system::check(&graph, &which, entries, &mut rng, times)
                .map_err(|what| refused(verify::mistaken("symbolic execution", Span::default(), &what)))?;
        }
        let (first, last) = (0, target.stages - 1);
        let stages = which.iter().map(|which| [first, last][*which]).collect();
        let plan = plan_system(code, system, graph, stages, target, effort.as_mut()).map_err(refused)?;
        ended("place");
        let compiled = Compiled::new(plan, code, self.sources.clone(), target, (first, last), Ports::default());
        self.check_rows(&compiled, &met, effort)?;
        ended("rows, checked");
        Ok(compiled)
    }
}

impl Compiled {
    pub(crate) fn new(
        plan: Plan,
        code: &Code,
        sources: Sources,
        target: &Target,
        (first, last): (usize, usize),
        ports: Ports,
    ) -> Compiled {
        let system = (first..=last).any(|stage| target.is_system(stage));
        let mut compiled = Compiled {
            plan,
            sources,
            role: if system { Role::System } else { Role::Tenant },
            target: *target,
            ports,
            said: BTreeMap::new(),
            choice: Choice::default(),
        };
        // Entries that do not fit are refused where they are put in.
        if let Ok(own) = compiled.tables_with(code, &code.tables.iter().map(Rows::new).collect::<Vec<_>>()) {
            compiled.plan.lessen(&own);
        }
        compiled
    }

    pub(super) fn chosen(self, choice: Choice) -> Self {
        Compiled { choice, ..self }
    }

    /// How many stages it needs, one behind the other.
    pub fn stages(&self) -> usize {
        let mut all = self.plan.stages.clone();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// Has a reference compute the target's hash as this program does, and have the ports that there are.
    pub fn teach(&self, reference: &mut Reference) {
        reference.switch.machine.hashes = self.plan.hashes.clone();
        reference.switch.ports = Some((0..PIPELINE_PORTS).map(|port| self.ports.map.to_program(port)).collect());
    }

    /// The pipeline that it is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The numbers that ports of the program have on the pipeline.
    pub fn ports(&self) -> &PortMap {
        &self.ports.map
    }

    /// The multicast groups that a reference has, where the program uses groups.
    fn groups(&self, entries: &Reference) -> Result<BTreeMap<u16, RmtGroup>, P4Errors> {
        let replication = &entries.switch.replication;
        let mut groups = BTreeMap::new();
        if !self.plan.has_groups() {
            return Ok(groups);
        }
        let span = self.plan.line_of_group(&entries.switch.code);
        // A group that nobody made has no copies.
        let numbers: BTreeSet<u16> = replication.groups.keys().copied().chain(self.plan.groups_named()).collect();
        for number in &numbers {
            let mut group = RmtGroup { destinations: 0, tags: [0; 8] };
            for (port, rid) in replication.copies(*number) {
                let place = self.ports.map.to_pipeline(port);
                let bit = (place < PIPELINE_PORTS).then(|| 1u8 << place);
                let Some(bit) = bit.filter(|bit| group.destinations & bit == 0) else {
                    let what =
                        format!("port {port} in group {number}; a copy goes to each of ports 0 to 7 once at most");
                    return Err(self.refused(span, RefusalKind::NotThere, what));
                };
                group.destinations |= bit;
                group.tags[usize::from(place)] = rid;
            }
            if usize::from(*number) >= self.target.groups {
                let what = format!("group {number}; there are groups 1 to {}", self.target.groups - 1);
                return Err(self.refused(span, RefusalKind::TooMuch, what));
            }
            groups.insert(*number, group);
        }
        Ok(groups)
    }

    /// Where clones go, by session, as bits of destinations; of those whose originals leave, too, to no port that these may go to.
    fn clones(&self, entries: &Reference) -> Result<BTreeMap<u16, u8>, P4Errors> {
        let mut all = BTreeMap::new();
        for (session, clones) in self.plan.clones() {
            let refuse = |what: String| Err(self.refused(clones.span, RefusalKind::NotThere, what));
            let mut mask = 0;
            for (port, _) in entries.switch.replication.clones((*session).into()) {
                let place = self.ports.map.to_pipeline(port);
                let bit = if place < PIPELINE_PORTS { 1u8 << place } else { 0 };
                if bit == 0 || mask & bit != 0 {
                    let what = "clones go to each of ports 0 to 7 once at most";
                    return refuse(format!("port {port} of session {session}; {what}"));
                }
                if clones.are_beside && self.ports.may_be(port, &entries.switch.machine.tables) {
                    return Err(self.beside(*session, port, clones.span));
                }
                mask |= bit;
            }
            all.insert(*session, mask);
        }
        Ok(all)
    }

    pub(super) fn beside(&self, session: u16, port: u16, span: Span) -> P4Errors {
        let what = "to which packets go themselves; one copy goes to a port";
        self.refused(span, RefusalKind::NotThere, format!("clones of session {session} to port {port}, {what}"))
    }

    /// A picture in SVG: paths of the parser, what each stage has, rows of the deparser; containers with their fields, and state.
    pub fn draw(&self, of: &Reference) -> String {
        self.plan.draw(&of.switch.code)
    }

    /// The module with the entries that a reference has.
    pub fn unit(&self, entries: &Reference) -> Result<Unit, P4Errors> {
        self.unit_of(&self.reserved(entries)?, entries)
    }

    /// The object with the entries that a reference has: rows, and the tables that they are made of.
    pub fn object(&self, name: &str, entries: &Reference) -> Result<Object, P4Errors> {
        self.object_of(name, self.reserved(entries)?, entries)
    }

    /// The same with what was reserved before: what a tenant was given does not change with his entries.
    pub fn object_within(&self, name: &str, entries: &Reference, reserved: &[Reservation]) -> Result<Object, P4Errors> {
        let mut tables = self.tables(entries)?;
        for table in &mut tables.tables {
            let before = reserved.iter().find(|reserved| reserved.table == table.name);
            table.reserved = before.map(|before| before.reserved.max(table.entries.len() as u32));
        }
        self.object_of(name, tables, entries)
    }

    fn object_of(&self, name: &str, tables: Logical, entries: &Reference) -> Result<Object, P4Errors> {
        let part = self.unit_of(&tables, entries)?.part(&self.target);
        let part = part.map_err(|problem| self.unfit(&problem.to_string()))?;
        let part = part.with_tables(tables).map_err(|error| self.unfit(&error.to_string()))?;
        let object = sluice_rmt::encode::object::object(name, part, self.demands(entries), &self.target);
        object.check().map_err(|error| self.unfit(&error.to_string()))?;
        Ok(object)
    }

    /// Destinations that packets go to by a number of the program, its entries or default actions, which need a queue there. Port 0 is also
    /// where packets go of which nobody says it, so only entries name it.
    fn demands(&self, entries: &Reference) -> Demands {
        let mut ports = self.ports.goals(&entries.switch.machine.tables);
        ports.extend(self.ports.named.iter().filter(|port| **port != 0));
        let queues = ports.into_iter().filter_map(|port| self.destination(port)).map(|to| (to, 0)).collect();
        Demands { queues, ..Demands::default() }
    }

    /// The destination that a port of the program is.
    pub(super) fn destination(&self, port: u16) -> Option<Destination> {
        let port = self.ports.map.to_pipeline(port);
        (port < PIPELINE_PORTS).then(|| Destination::from_number(port as u8, self.target.nic()))?
    }

    /// Gives a reference the multicast groups that a running program has.
    pub fn keep_groups(&self, into: &mut Reference, running: &BTreeMap<u16, RmtGroup>) {
        let replication = &mut into.switch.replication;
        for (number, group) in running {
            let ports = (0..PIPELINE_PORTS).filter(|port| group.destinations >> port & 1 == 1);
            let nodes: Vec<usize> = ports
                .map(|port| {
                    let ports = vec![self.ports.map.to_program(port)];
                    replication.nodes.push(Copies { rid: group.tags[usize::from(port)], ports });
                    replication.nodes.len() - 1
                })
                .collect();
            replication.groups.entry(*number).or_insert(nodes);
        }
    }

    /// Gives a reference of this program the entries that a running one has, as its tables' rows say them; those of a table that is not the
    /// same here, or has no room for them, would go: their names, how many each has, and why.
    pub fn keep_entries(
        &self,
        into: &mut Reference,
        running: &Logical,
    ) -> Result<Vec<(String, usize, &'static str)>, P4Errors> {
        let here = self.tables(into)?;
        let mut gone = Vec::new();
        // Whether a default action was set or is that of the source, nobody knows any more.
        for before in running.tables.iter().filter(|table| !table.default_constant) {
            let same = |now: &&LogicalTable| {
                (&now.name, &now.keys, &now.actions) == (&before.name, &before.keys, &before.actions)
            };
            if here.tables.iter().find(same).is_some_and(|now| now.default != before.default) {
                gone.push((before.name.clone(), 0, "it is another one in the new program"));
            }
        }
        for before in running.tables.iter().filter(|table| !table.constant && !table.entries.is_empty()) {
            let found = here.tables.iter().position(|table| table.name == before.name);
            let why = match found.map(|at| (at, &here.tables[at])) {
                None => "it is not in the new program",
                Some((_, now)) if now.constant => "its entries are const in the new program",
                Some((_, now)) if now.keys != before.keys => "it has other keys in the new program",
                Some((_, now)) if now.actions != before.actions => "it has other actions in the new program",
                Some((at, _)) => {
                    let (code, machine) = (&into.switch.code, &mut into.switch.machine);
                    let (described, rows) = (&code.tables[at], &mut machine.tables[at]);
                    rows.clear();
                    let mut entries = before.entries.iter().enumerate();
                    let all = entries.all(|(rank, entry)| {
                        rows.add(described, logical::entry(entry, described, code, rank as i64)).is_ok()
                    });
                    if all {
                        continue;
                    }
                    "it has not so many in the new program"
                }
            };
            gone.push((before.name.clone(), before.entries.len(), why));
        }
        Ok(gone)
    }

    pub(super) fn tables(&self, entries: &Reference) -> Result<Logical, P4Errors> {
        let (machine, told) = (&entries.switch.machine, &entries.switch.code.told);
        let members = machine.value_sets.iter().zip(&told.value_sets).find(|(members, _)| !members.is_empty());
        let has_rates = |cells: &Cells| matches!(cells, Cells::Meter(meters) if meters.has_rates());
        let rates = machine.objects.iter().zip(&told.objects).find(|(cells, _)| has_rates(cells));
        for (at, what) in [
            (
                members.map(|(_, set)| set.span),
                "members of a value set: the parser's rows stand when the program is compiled",
            ),
            (rates.map(|(_, meter)| meter.span), "rates of a meter, whose packets are all green here"),
        ] {
            if let Some(span) = at {
                return Err(self.refused(span, RefusalKind::NotThere, what.to_string()));
            }
        }
        self.tables_with(&entries.switch.code, &machine.tables)
    }

    fn tables_with(&self, code: &Code, rows: &[Rows]) -> Result<Logical, P4Errors> {
        let mut tables = self.plan.tables(code, rows).map_err(|refusal| errors(refusal, &self.sources))?;
        let translated = self.ports.translate(&mut tables);
        translated.map_err(|what| self.refused(Span::default(), RefusalKind::NotThere, what))?;
        Ok(tables)
    }

    /// Words of state, by stage, as a reference has them.
    pub fn words<'a>(&'a self, of: &'a Reference) -> impl Iterator<Item = (usize, usize, u32)> + 'a {
        let cells =
            self.plan.cells.iter().flat_map(|(array, place)| (0..place.cells).map(move |at| (array, place, at)));
        cells.map(|(array, place, at)| (place.stage, place.base + at, of.switch.cell(*array, at)))
    }

    /// Whether the program looks at the time at which packets arrive.
    pub fn reads_time(&self) -> bool {
        self.plan.reads_time()
    }

    /// Stages and logical numbers of the entries of a reference that are counted.
    pub fn counted(&self, entries: &Reference) -> Result<Vec<(usize, u16)>, P4Errors> {
        let tables = self.tables(entries)?;
        let of_stage = |stage: usize| tables.numbers(stage as u8).into_values().map(move |number| (stage, number));
        Ok((0..self.target.stages).flat_map(of_stage).collect())
    }

    /// Brings what a pipeline keeps and counts to a reference, whose entries it has; `word` reads a word of state by its stage,
    /// `hits` how many packets met the entries with a logical number.
    pub fn fetch<E>(
        &self,
        into: &mut Reference,
        word: &mut dyn FnMut(usize, usize) -> Result<u32, E>,
        hits: &mut dyn FnMut(usize, u16) -> Result<u64, E>,
    ) -> Result<(), E> {
        for (array, place) in &self.plan.cells {
            for at in 0..place.cells {
                into.switch.set_cell(*array, at, word(place.stage, place.base + at)?);
            }
        }
        let Ok(tables) = self.tables(into) else { return Ok(()) };
        for stage in 0..self.target.stages {
            for ((table, row), number) in tables.numbers(stage as u8) {
                into.switch.machine.tables[table].row_mut(row).packets += hits(stage, number)?;
            }
        }
        Ok(())
    }

    /// What a pipeline keeps otherwise than a reference, if there is something.
    pub fn differs<E>(
        &self,
        from: &Reference,
        word: &mut dyn FnMut(usize, usize) -> Result<u32, E>,
    ) -> Result<Option<String>, E> {
        let switch = &from.switch;
        for (array, place) in &self.plan.cells {
            for at in 0..place.cells {
                let mask = switch.cell_mask(*array);
                let found = word(place.stage, place.base + at)? & mask;
                let wanted = switch.cell(*array, at) & mask;
                if found != wanted {
                    let name = &switch.code.objects[array.object].name;
                    return Ok(Some(format!("{name}[{at}]: 0x{found:x}, the reference has 0x{wanted:x}")));
                }
            }
        }
        Ok(None)
    }

    /// What the pipeline's checker refuses, where it says it: at a stage, a path or a row.
    pub(super) fn unfit(&self, problem: &str) -> P4Errors {
        let what = match self.plan.turned(problem) {
            Some(byte) => format!(
                "a value that goes out at byte {byte} and at another place within the same {} bytes, where its bytes stand otherwise in \
                 their container: a copy of it in a field of its own has its own container",
                self.target.bus_bytes
            ),
            None => format!("what the pipeline's checker refuses: {problem}"),
        };
        self.refused(self.plan.line_of(problem), RefusalKind::TooMuch, what)
    }

    pub(super) fn refused(&self, span: Span, kind: RefusalKind, what: String) -> P4Errors {
        errors(Refusal::new(span, kind, what), &self.sources)
    }

    pub(super) fn unit_of(&self, tables: &Logical, entries: &Reference) -> Result<Unit, P4Errors> {
        let program = self.plan.program(tables);
        let mut program = program.map_err(|refusal| errors(refusal, &self.sources))?;
        self.plan.send_clones(&mut program, &self.clones(entries)?);
        if let Err(problem) = sluice_rmt::check::check(&program, &self.target, self.role) {
            return Err(self.unfit(&problem.to_string()));
        }
        let mut unit = Unit::of(program, self.role);
        unit.names.module = "program".into();
        if self.plan.fills_state() {
            // There is no room for a replacement's own cells beside these.
            unit.memory = Memory::Keep;
        }
        unit.groups = self.groups(entries)?;
        if let Some(system) = &entries.switch.code.system {
            unit.shared = system.shared.iter().map(|shared| (shared.name.clone(), shared.container)).collect();
        }
        for (stage, room) in tables.rooms().map_err(|error| self.unfit(&error.to_string()))? {
            let room = Room { exact: room.exact, ternary: room.ternary };
            let there = unit.program.stages.get(usize::from(stage)).and_then(Option::as_ref).map(|stage| &stage.tables);
            if there.is_some_and(|there| room != Room { exact: there.exact.len(), ternary: there.ternary.len() }) {
                unit.rooms.insert(stage.into(), room);
            }
        }
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
    /// In ticks.
    time: u64,
    /// Packets to no destination since somebody asked.
    nowhere: u64,
}

impl Model {
    /// A model without entries yet.
    pub fn new(compiled: Compiled) -> Model {
        let target = compiled.target;
        Model {
            compiled,
            fast: Fast::new(target),
            spec: Pipeline::new(target),
            buffers: Buffers::default(),
            time: 0,
            nowhere: 0,
        }
    }

    fn module(&self) -> u8 {
        u8::from(self.compiled.role == Role::Tenant)
    }

    /// Has the pipeline run with the entries of a reference.
    pub fn load(&mut self, entries: &Reference) -> Result<(), String> {
        let unit = self.compiled.unit(entries).map_err(|errors| errors.to_string())?;
        self.load_unit(unit, entries)
    }

    fn load_unit(&mut self, unit: Unit, entries: &Reference) -> Result<(), String> {
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
        for (stage, word, value) in self.compiled.words(entries) {
            // Alone, a module has the pages of a stage in their order.
            let node = Node::Stage(stage as u8);
            let status = self.fast.write(node, Table::StateWord, word as u32, &[value]);
            if status != Status::Ok || !self.spec.set_word(module, 0, stage, word, value) {
                return Err(format!("word {word} of stage {stage} is not written"));
            }
        }
        Ok(())
    }

    /// Brings what the pipeline counted and kept to a reference, whose entries it has.
    pub fn fetch(&mut self, into: &mut Reference) -> Result<(), String> {
        let (module, spec, fast) = (self.module(), &self.spec, &self.fast);
        let mut word = |stage: usize, at: usize| {
            let word = spec.words(module, 0, stage).get(at).copied().unwrap_or(0);
            match word == fast.state_word(stage, at) {
                true => Ok(word),
                false => Err("the fast model and the pipeline's specification keep different state".to_string()),
            }
        };
        self.compiled.fetch(into, &mut word, &mut |stage, number| Ok(spec.hits(module, stage, number)))
    }

    /// What the pipeline keeps otherwise than a reference that saw the same packets since both had the same, if there is something.
    pub fn differs(&self, from: &Reference) -> Option<String> {
        let mut word = |stage: usize, at: usize| Ok(self.spec.words(self.module(), 0, stage)[at]);
        self.compiled.differs::<std::convert::Infallible>(from, &mut word).unwrap_or_default()
    }

    /// Carries a packet through; the fast model and the specification have to agree.
    pub fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, String> {
        let ports = self.compiled.ports();
        let Some(port) = u8::try_from(ports.to_pipeline(port)).ok().filter(|port| *port < 8) else {
            return Err(format!("port {port}; the pipeline has ports 0 to 7"));
        };
        let arrival = Arrival {
            packet: bytes,
            module: self.module(),
            generation: 0,
            system_generation: 0,
            tenant: 1,
            port,
            arrival: self.time,
            queueing: self.time,
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
            sluice_rmt::Outcome::Dropped(reason) => {
                self.nowhere += u64::from(reason == Reason::NoDestination);
                Vec::new()
            }
            sluice_rmt::Outcome::Sent { packet, copies } => {
                copies.iter().map(|copy| Sent { port: copy.destination.into(), bytes: packet.clone() }).collect()
            }
        };
        if same != sent {
            return Err("the fast model and the pipeline's specification differ".to_string());
        }
        Ok(ports.sent(sent))
    }
}

impl Carrier for Model {
    fn load(&mut self, entries: &Reference) -> Result<(), CarrierError> {
        let unit = self.compiled.unit(entries);
        let unit = unit.map_err(|errors| CarrierError { code: errors.code(), what: errors.to_string() })?;
        self.load_unit(unit, entries).map_err(given_up)
    }

    fn set_time(&mut self, nanoseconds: u64) {
        self.time = nanoseconds / TICK;
    }

    fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, CarrierError> {
        Model::packet(self, port, bytes).map_err(given_up)
    }

    fn nowhere(&mut self) -> u64 {
        std::mem::take(&mut self.nowhere)
    }

    fn fetch(&mut self, into: &mut Reference) -> Result<(), CarrierError> {
        Model::fetch(self, into).map_err(given_up)
    }

    fn differs(&mut self, from: &Reference) -> Result<Option<String>, CarrierError> {
        Ok(Model::differs(self, from))
    }
}

fn given_up(what: String) -> CarrierError {
    CarrierError { code: GIVEN_UP, what }
}
