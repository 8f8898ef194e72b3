//! The pipeline: programs of all modules, and a packet's way through them.

use crate::action::{Context, Operands};
use crate::check::{Problem, Role, check};
use crate::phv::{DISCARD, DROP_PORT, EGRESS_PORT, EXCEPT_INGRESS, PORT_NUMBERS, Phv, Word};
use crate::program::{Program, Stage};
use crate::reason::Reason;
use crate::stage::{Hit, Key};
use crate::target::{NUMBERS, PAGE_WORDS, Target};
use sluice_formats::rmt::rows::GroupNameRow;

/// A packet and what the stamp says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Bytes, without the tag that ingress took off.
    pub packet: &'a [u8],
    /// Module.
    pub module: u8,
    /// Its generation, 0 or 1.
    pub generation: u8,
    /// The system module's generation, 0 or 1.
    pub system_generation: u8,
    /// Tenant.
    pub tenant: u16,
    /// Port of arrival.
    pub port: u8,
    /// Ticks when it arrived.
    pub arrival: u64,
    /// Ticks when it entered the pipeline.
    pub queueing: u64,
}

/// One copy that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Destination: bit number of the mask.
    pub destination: u8,
    /// Queue.
    pub queue: u8,
    /// Tag of the copy, 0 without a group.
    pub tag: u16,
}

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Dropped.
    Dropped(Reason),
    /// Leaves.
    Sent {
        /// Outgoing bytes, the same for all copies.
        packet: Vec<u8>,
        /// Copies, lowest destination first.
        copies: Vec<Copy>,
    },
}

/// A multicast group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Module that may use it; everyone may use the system module's.
    pub owner: u8,
    /// Destination mask.
    pub destinations: u8,
    /// Tag of the copy to each destination.
    pub tags: [u16; 8],
}

/// What a stage did with a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageTrace {
    /// Stage.
    pub stage: usize,
    /// Masked key.
    pub key: Key,
    /// Conditions.
    pub conditions: [bool; 2],
    /// Where the action came from.
    pub hit: Hit,
    /// PHV that came in.
    pub before: Phv,
    /// PHV that went out.
    pub after: Phv,
}

/// What a load does with a module's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The new generation has the pages of the other one.
    Keep,
    /// It begins with zeroed pages.
    Zeroed,
}

/// A program with its pages and counters.
#[derive(Clone, Debug)]
struct Bank {
    program: Program,
    /// Set of words, see `Module::memories`.
    memory: usize,
}

/// Words of one module, by stage.
type Words = Vec<Vec<u32>>;

#[derive(Clone, Debug, Default)]
struct Module {
    banks: [Option<Bank>; 2],
    memories: [Words; 2],
    granted: u8,
    names: GroupNameRow,
    hits: Vec<Vec<u64>>,
    state_range: u64,
    copies: u64,
}

/// Why a program is not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The module number.
    #[error("module {found}, allowed: below {allowed}")]
    Module {
        /// Found.
        found: usize,
        /// Modules of the target.
        allowed: usize,
    },
    /// What the checker found.
    #[error(transparent)]
    Program(#[from] Problem),
    /// State is to be kept where its size changes.
    #[error("stage {stage}: {found} pages, the running program has {allowed}: state cannot be kept")]
    Pages {
        /// Stage.
        stage: usize,
        /// Pages of the new program.
        found: usize,
        /// Pages of the running one.
        allowed: usize,
    },
    /// All modules together want more than there is.
    #[error("stage {stage}: {found} {resource} with this program, the target has {allowed}")]
    Room {
        /// Stage.
        stage: usize,
        /// Resource.
        resource: &'static str,
        /// Wanted by all modules together.
        found: usize,
        /// There are.
        allowed: usize,
    },
}

/// All modules on one target.
#[derive(Clone, Debug)]
pub struct Pipeline {
    target: Target,
    modules: Vec<Module>,
    groups: Vec<Group>,
}

impl Pipeline {
    /// An empty pipeline.
    pub fn new(target: Target) -> Self {
        let module = Module { hits: vec![vec![0; NUMBERS]; target.stages], ..Module::default() };
        Self { target, modules: vec![module; target.modules], groups: vec![Group::default(); target.groups] }
    }

    /// Puts a program into a module's generation. It runs for packets that carry this generation.
    pub fn load(&mut self, module: u8, generation: u8, program: Program, memory: Memory) -> Result<(), LoadError> {
        let number = usize::from(module);
        if number >= self.target.modules {
            return Err(LoadError::Module { found: number, allowed: self.target.modules });
        }
        check(&program, &self.target, if module == 0 { Role::System } else { Role::Tenant })?;
        let bank = usize::from(generation & 1);
        self.check_room(number, bank, &program, memory)?;
        let pages = |stage: usize| {
            program.stages.get(stage).and_then(Option::as_ref).map_or(0, |s| usize::from(s.pages) * PAGE_WORDS)
        };
        let sizes: Vec<usize> = (0..self.target.stages).map(pages).collect();
        let this = &mut self.modules[number];
        let other = this.banks[1 - bank].as_ref().map(|b| b.memory);
        let chosen = match (memory, other) {
            (Memory::Keep, Some(memory)) => {
                for (stage, &size) in sizes.iter().enumerate() {
                    let has = this.memories[memory][stage].len();
                    if has != size {
                        let (found, allowed) = (size / PAGE_WORDS, has / PAGE_WORDS);
                        return Err(LoadError::Pages { stage, found, allowed });
                    }
                }
                memory
            }
            (_, other) => {
                let memory = other.map_or(0, |m| 1 - m);
                this.memories[memory] = sizes.iter().map(|&n| vec![0; n]).collect();
                memory
            }
        };
        this.banks[bank] = Some(Bank { program, memory: chosen });
        Ok(())
    }

    /// The sums over all modules, with the new program in place of what is in its bank.
    fn check_room(&self, module: usize, bank: usize, program: &Program, memory: Memory) -> Result<(), LoadError> {
        for stage in 0..self.target.stages {
            let mut used = [0; 4];
            let mut add = |program: &Program, with_pages: bool| {
                let Some(Some(s)) = program.stages.get(stage) else { return };
                let pages = if with_pages { usize::from(s.pages) } else { 0 };
                let these = [s.tables.exact.len(), s.tables.ternary.len(), s.actions.len(), pages];
                (0..4).for_each(|i| used[i] += these[i]);
            };
            add(program, true);
            for (m, other) in self.modules.iter().enumerate() {
                for b in (0..2).filter(|&b| (m, b) != (module, bank)) {
                    let Some(held) = &other.banks[b] else { continue };
                    // Pages that two generations share count once, those of the second generation's program.
                    let shared = if m == module {
                        memory == Memory::Keep
                    } else {
                        b == 0 && other.banks[1].as_ref().is_some_and(|o| o.memory == held.memory)
                    };
                    add(&held.program, !shared);
                }
            }
            let names = ["exact entries", "ternary entries", "actions", "pages"];
            let t = &self.target;
            let limits = [t.exact, t.ternary, t.actions, t.words / PAGE_WORDS];
            for i in 0..4 {
                if used[i] > limits[i] {
                    let (found, allowed) = (used[i], limits[i]);
                    return Err(LoadError::Room { stage, resource: names[i], found, allowed });
                }
            }
        }
        Ok(())
    }

    /// Takes a generation's program away.
    pub fn unload(&mut self, module: u8, generation: u8) {
        if let Some(m) = self.modules.get_mut(usize::from(module)) {
            m.banks[usize::from(generation & 1)] = None;
        }
    }

    /// Destinations that a module may send to.
    pub fn grant(&mut self, module: u8, destinations: u8) {
        if let Some(m) = self.modules.get_mut(usize::from(module)) {
            m.granted = destinations;
        }
    }

    /// Writes a multicast group; group 0 means none and is never looked at.
    pub fn set_group(&mut self, number: u16, group: Group) {
        if let Some(g) = self.groups.get_mut(usize::from(number)) {
            *g = group;
        }
    }

    /// Names of a module's own groups.
    pub fn name_groups(&mut self, module: u8, names: GroupNameRow) {
        if let Some(m) = self.modules.get_mut(usize::from(module)) {
            m.names = names;
        }
    }

    /// Packets that met the entry of this number in a stage.
    pub fn hits(&self, module: u8, stage: usize, number: u16) -> u64 {
        self.modules[usize::from(module)].hits[stage][usize::from(number)]
    }

    /// State accesses of a module that were not done because the index was behind its pages.
    pub fn state_range(&self, module: u8) -> u64 {
        self.modules[usize::from(module)].state_range
    }

    /// Copies beyond the first that multicast made of a module's packets.
    pub fn copies(&self, module: u8) -> u64 {
        self.modules[usize::from(module)].copies
    }

    /// A generation's words in a stage; empty without a program.
    pub fn words(&self, module: u8, generation: u8, stage: usize) -> &[u32] {
        let m = &self.modules[usize::from(module)];
        m.banks[usize::from(generation & 1)].as_ref().map_or(&[], |b| &m.memories[b.memory][stage])
    }

    /// Sets a word of a generation in a stage; false if there is none.
    pub fn set_word(&mut self, module: u8, generation: u8, stage: usize, word: usize, value: u32) -> bool {
        let m = &mut self.modules[usize::from(module)];
        let memory = m.banks[usize::from(generation & 1)].as_ref().map(|b| b.memory);
        let found = memory.and_then(|memory| m.memories[memory].get_mut(stage)?.get_mut(word));
        found.map(|word| *word = value).is_some()
    }

    /// A packet's way through the pipeline.
    pub fn run(&mut self, arrival: &Arrival) -> Outcome {
        self.run_traced(arrival, &mut |_| {})
    }

    /// The same, with what every stage did.
    pub fn run_traced(&mut self, arrival: &Arrival, see: &mut dyn FnMut(StageTrace)) -> Outcome {
        match self.process(arrival, see) {
            Ok((packet, copies)) => Outcome::Sent { packet, copies },
            Err(reason) => Outcome::Dropped(reason),
        }
    }

    fn process(&mut self, arrival: &Arrival, see: &mut dyn FnMut(StageTrace)) -> Result<(Vec<u8>, Vec<Copy>), Reason> {
        let bank = usize::from(arrival.generation & 1);
        let program = |m: &'_ Self| {
            m.modules.get(usize::from(arrival.module)).and_then(|m| m.banks[bank].as_ref()).map(|b| b.program.clone())
        };
        let program = program(self).ok_or(Reason::NoModule)?;
        let mut phv = Phv::default();
        let path = program.parser.parse(arrival.packet, arrival.port, &mut phv)?;
        set_hardware_words(&mut phv, arrival);
        for stage in 0..self.target.stages {
            let system = self.target.is_system(stage);
            let (module, generation) =
                if system { (0, arrival.system_generation) } else { (arrival.module, arrival.generation) };
            self.stage(stage, (module, generation), arrival, &mut phv, see);
        }
        let copies = self.destinations(&phv, arrival)?;
        let packet = program.deparser.deparse(arrival.packet, path, &phv)?;
        self.modules[usize::from(arrival.module)].copies += copies.len() as u64 - 1;
        Ok((packet, copies))
    }

    fn stage(
        &mut self,
        number: usize,
        (owner, generation): (u8, u8),
        arrival: &Arrival,
        phv: &mut Phv,
        see: &mut dyn FnMut(StageTrace),
    ) {
        let module = &mut self.modules[usize::from(owner)];
        let Some(bank) = &module.banks[usize::from(generation & 1)] else { return };
        let Some(Some(stage)) = bank.program.stages.get(number) else { return };
        let before = phv.clone();
        let conditions = stage.key.conditions(&before);
        let key = stage.key.key(&before, conditions);
        let (hit, leads) = stage.tables.find(&key);
        if let Some(leads) = leads {
            module.hits[number][usize::from(leads.number)] += 1;
            let context = Context {
                conditions,
                hash: key.hash(),
                number: leads.number,
                data: &leads.data,
                system_stage: self.target.is_system(number),
            };
            let words = &mut module.memories[bank.memory][number];
            let stamp = (arrival.queueing, arrival.packet.len() as u16);
            let done = act(stage, usize::from(leads.action), &context, words, stamp, phv);
            module.state_range += u64::from(!done);
        }
        see(StageTrace { stage: number, key, conditions, hit, before, after: phv.clone() });
    }

    fn destinations(&self, phv: &Phv, arrival: &Arrival) -> Result<Vec<Copy>, Reason> {
        let egress = phv.word(Word::Egress);
        if egress & DISCARD != 0 {
            return Err(Reason::Discard);
        }
        let (mut mask, mut tags) = (egress as u8, [0; 8]);
        let number = phv.word(Word::Group);
        if number == 0 && phv.word(Word::Status) & PORT_NUMBERS != 0 {
            match phv.word(Word::Scratch1) & EGRESS_PORT {
                port @ ..8 => mask |= 1 << port,
                DROP_PORT if mask == 0 => return Err(Reason::Discard),
                _ => {}
            }
        }
        if number != 0 {
            let names = &self.modules[usize::from(arrival.module)].names;
            let group = self.groups.get(usize::from(names.row_of(number))).ok_or(Reason::RmtFault)?;
            // Another's group leads nowhere, as one that nobody has: a packet learns no difference.
            let is_foreign = group.owner != 0 && group.owner != arrival.module;
            (mask, tags) = (if is_foreign { 0 } else { group.destinations }, group.tags);
        }
        mask &= self.modules[usize::from(arrival.module)].granted;
        if egress & EXCEPT_INGRESS != 0 {
            mask &= !1u8.checked_shl(u32::from(arrival.port)).unwrap_or(0);
        }
        if mask == 0 {
            return Err(Reason::NoDestination);
        }
        let queue = (egress >> 8 & 7) as u8;
        let copy = |d: u8| Copy { destination: d, queue, tag: tags[usize::from(d)] };
        Ok((0..8).filter(|d| mask >> d & 1 == 1).map(copy).collect())
    }
}

/// Words 0 to 7; the parser has written the status.
fn set_hardware_words(phv: &mut Phv, arrival: &Arrival) {
    phv.set_word(Word::IngressPort, u16::from(arrival.port));
    phv.set_word(Word::Length, arrival.packet.len() as u16);
    for i in 0..3 {
        phv.words[Word::Arrival as usize + i] = (arrival.arrival >> (16 * i)) as u16;
    }
    for i in 0..2 {
        phv.words[Word::Queueing as usize + i] = (arrival.queueing >> (16 * i)) as u16;
    }
    phv.set_word(Word::Tenant, arrival.tenant);
}

/// Carries out an action; false if its state access was out of range.
fn act(stage: &Stage, number: usize, context: &Context, words: &mut [u32], stamp: (u64, u16), phv: &mut Phv) -> bool {
    let action = &stage.actions[number];
    let operands = Operands::read(action, phv, context);
    let mut after = action.execute(phv, &operands, context);
    let done = action.state.is_none_or(|s| s.execute(words, &operands, context, stamp, &mut after));
    *phv = after;
    done
}
