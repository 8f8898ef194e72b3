//! The ownership and order check: each write within its tenant's space, no write that
//! packets in flight would notice.

use super::spaces::{Region, Slot};
use super::tenants::Tenant;
use super::{LinkError, Linker};
use crate::destination::Destinations;
use crate::load::{Load, PlacedXdp, Step};
use sluice_formats::address::{Access, control};
use sluice_formats::limits::{FORMAT_VERSION, SYSTEM_TENANT};
use sluice_formats::rows::{ActionRow, EntryRow, KeyKind, LimitRow, OverlayRow, PortPolicyRow, QuantumRow, VlanRow};
use sluice_formats::{Node, Row, Table};
use std::collections::{HashMap, HashSet};

impl Linker {
    /// Refuses a load that its tenant may not run, or that packets in flight would notice.
    ///
    /// Every load that the linker returns has passed it; loads from elsewhere pass it before
    /// a device sees them. It looks at the tenant as it is before the load.
    pub fn check(&self, load: &Load) -> Result<(), LinkError> {
        let foreign = |what, found, allowed| Err(LinkError::Foreign { load: load.label.clone(), what, found, allowed });
        if load.format_version != FORMAT_VERSION {
            return foreign("format version", load.format_version.to_string(), FORMAT_VERSION.to_string());
        }
        if load.target_hash != self.target.hash() {
            let allowed = format!("{:08x} ({})", self.target.hash(), self.target.name);
            return foreign("target", format!("{:08x}", load.target_hash), allowed);
        }
        let tenant = match load.tenant {
            SYSTEM_TENANT => self.tenants.get(&SYSTEM_TENANT),
            id => Some(self.tenant(id)?),
        };
        let mut checker = Checker {
            linker: self,
            tenant,
            current: tenant.map_or(0, |t| self.generations[usize::from(t.module)]),
            live: tenant.is_some_and(|t| t.running.is_some()),
            drained: [false; 2],
            batch: HashSet::new(),
            rows: HashMap::new(),
        };
        for (step, s) in load.steps.iter().enumerate() {
            let label = load.label.clone();
            checker.step(s).map_err(|refusal| match refusal {
                Refusal::Space(what) => LinkError::Space { load: label, step, what },
                Refusal::Order(what) => LinkError::Order { load: label, step, what },
            })?;
        }
        Ok(())
    }
}

enum Refusal {
    Space(String),
    Order(String),
}

use Refusal::{Order, Space};

/// Follows a load step by step.
struct Checker<'a> {
    linker: &'a Linker,
    /// None: the system, without a module.
    tenant: Option<&'a Tenant>,
    current: u8,
    /// Packets may be using the current generation.
    live: bool,
    /// No packet of this generation is in flight, and none can come.
    drained: [bool; 2],
    /// Rows written since the last other step.
    batch: HashSet<(Node, Table, u32)>,
    /// Rows of the match table as the load has left them.
    rows: HashMap<Slot, Option<EntryRow>>,
}

impl Checker<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Refusal> {
        if let Step::Write { node, table, index, words } = step {
            if !self.batch.insert((*node, *table, *index)) {
                let what = format!("row {index} of {} is written twice without a barrier between", table.name());
                return Err(Order(what));
            }
            return self.write(*node, *table, *index, words);
        }
        self.batch.clear();
        let (module, generation) = match step {
            Step::WaitDrained { module, generation }
            | Step::Commit { module, generation }
            | Step::Program { module, generation, .. } => (*module, *generation),
            Step::WaitQueuesEmpty { module } => (*module, 0),
            Step::Row { table, .. } => {
                return Err(Space(format!(
                    "a row of table {} of the rmt pipeline, which this NIC has not",
                    table.name()
                )));
            }
            Step::Write { .. } | Step::Barrier => return Ok(()),
        };
        self.own_module(module)?;
        if generation > 1 {
            return Err(Space(format!("generation {generation}, there are 0 and 1")));
        }
        match step {
            Step::WaitDrained { .. } if generation != self.current => self.drained[usize::from(generation)] = true,
            Step::Commit { .. } if generation != self.current => {
                self.current = generation;
                self.live = true;
                self.drained = [false; 2];
            }
            Step::Program { program, .. } => self.program(generation, program.as_deref())?,
            _ => {}
        }
        Ok(())
    }

    /// A program comes into, and goes from, a generation that no packet uses; it sends only
    /// where its tenant may, and keeps only maps that are there and alike.
    fn program(&self, generation: u8, program: Option<&PlacedXdp>) -> Result<(), Refusal> {
        let tenant = self.module()?;
        if (self.live || program.is_some()) && (generation == self.current || !self.drained[usize::from(generation)]) {
            return Err(Order(self.not_drained("program", generation)));
        }
        let Some(program) = program else { return Ok(()) };
        program.check().map_err(|e| Space(e.to_string()))?;
        let allowed = tenant.spec.destinations();
        let given = program.granted.iter().chain([program.pass]);
        if let Some(found) = given.into_iter().find(|d| !allowed.contains(*d)) {
            let name = &tenant.spec.name;
            return Err(Space(format!("a program that may send to {found}, tenant `{name}` may use: {allowed}")));
        }
        let running = tenant.running.as_ref().and_then(|r| r.xdp.as_deref());
        for (new, old) in &program.kept {
            let map = program.xdp.maps.get(*new as usize);
            let old = running.and_then(|xdp| xdp.maps.get(*old as usize));
            if !map.zip(old).is_some_and(|(map, old)| map.name == old.name && map.differs(old).is_none()) {
                return Err(Space(format!("map {new} of the program is kept, but no map like it is running")));
            }
        }
        Ok(())
    }

    fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Result<(), Refusal> {
        let target = self.linker.target;
        if !table.is_of(node) || matches!(node, Node::Port(p) if u32::from(p) >= target.ports) {
            return Err(Space(format!("node {node:?} has no table {}", table.name())));
        }
        if table.access() != Access::ReadWrite || table == Table::Generation {
            return Err(Space(format!("table {} is not written; generations change by commit", table.name())));
        }
        if index >= table.rows(target) {
            let rows = table.rows(target);
            return Err(Space(format!("row {index} of {}, the table has {rows} rows", table.name())));
        }
        match (table, node) {
            (Table::Control, _) => self.control(index, words),
            (Table::PortPolicy, Node::Port(port)) => self.policy(port, unpack(words)?),
            (Table::Vlan, Node::Port(port)) => self.vlan(port, index, unpack(words)?),
            (Table::Rate, _) => {
                let tenant = self.own_row(table, index)?;
                let granted = tenant.spec.rate_row().map_err(|e| Space(e.to_string()))?;
                equal(table, &unpack(words)?, &granted)
            }
            (Table::Quantum, _) => {
                let granted = self.own_row(table, index)?.spec.quantum;
                at_most("quantum", unpack::<QuantumRow>(words)?.bytes, granted)
            }
            (Table::Limit, _) => self.limit(index, unpack(words)?),
            (Table::Overlay, _) => self.overlay(index, unpack(words)?),
            (Table::Way0, _) => self.entry(0, index, unpack(words)?),
            (Table::Way1, _) => self.entry(1, index, unpack(words)?),
            (Table::Way2, _) => self.entry(2, index, unpack(words)?),
            (Table::Way3, _) => self.entry(3, index, unpack(words)?),
            _ => Err(Space(format!("table {} is not written", table.name()))),
        }
    }

    fn module(&self) -> Result<&Tenant, Refusal> {
        self.tenant.ok_or_else(|| Space("the system tenant has no module: it is not admitted".to_owned()))
    }

    fn own_module(&self, module: u8) -> Result<&Tenant, Refusal> {
        let tenant = self.module()?;
        if module != tenant.module {
            let (name, own) = (&tenant.spec.name, tenant.module);
            return Err(Space(format!("module {module}{}, tenant `{name}` has module {own}", self.owner(module))));
        }
        Ok(tenant)
    }

    /// A row whose index is the module.
    fn own_row(&self, table: Table, index: u32) -> Result<&Tenant, Refusal> {
        let module = u8::try_from(index).map_err(|_| Space(format!("row {index} of {}", table.name())))?;
        self.own_module(module)
    }

    fn owner(&self, module: u8) -> String {
        let owner = self.linker.tenants.values().find(|t| t.module == module);
        owner.map_or(String::new(), |t| format!(" of tenant `{}`", t.spec.name))
    }

    /// Only the system writes registers and policies.
    fn system_only(&self, what: &str) -> Result<(), Refusal> {
        match self.tenant {
            Some(t) if t.spec.id != SYSTEM_TENANT => {
                Err(Space(format!("{what} belongs to the system, the load is tenant `{}`'s", t.spec.name)))
            }
            _ => Ok(()),
        }
    }

    fn control(&self, index: u32, words: &[u32]) -> Result<(), Refusal> {
        self.system_only("the control table")?;
        if index != control::WATCHDOG || words.len() != 1 {
            let (n, watchdog) = (words.len(), control::WATCHDOG);
            return Err(Space(format!("{n} words to control register {index}, loads write one to {watchdog}")));
        }
        Ok(())
    }

    fn policy(&self, port: u8, row: PortPolicyRow) -> Result<(), Refusal> {
        if let Some(t) = self.tenant.filter(|t| t.spec.id != SYSTEM_TENANT) {
            // A tenant that leaves takes itself, and nothing else, out of the policy.
            let settings = self.linker.settings.ports.get(usize::from(port)).copied().unwrap_or_default();
            if settings.untagged != Some(t.spec.id) {
                return self.system_only(&format!("the policy of port {port}"));
            }
            let settings = super::PortSettings { untagged: None, ..settings };
            let allowed = self.linker.policy_row(&settings).map_err(|e| Space(e.to_string()))?;
            return equal(Table::PortPolicy, &row, &allowed);
        }
        let owner = self.linker.tenants.get(&row.untagged_tenant).map(|t| t.module);
        match (row.untagged_valid, owner) {
            (true, Some(module)) if module == row.untagged_module => Ok(()),
            (true, _) => {
                let (tenant, module) = (row.untagged_tenant, row.untagged_module);
                Err(Space(format!("untagged frames to tenant {tenant} in module {module}, which is not its module")))
            }
            (false, _) if row.untagged_module == 0 && row.untagged_tenant == 0 => Ok(()),
            (false, _) => Err(Space("untagged module or tenant without untagged_valid".to_owned())),
        }
    }

    fn vlan(&self, port: u8, index: u32, row: VlanRow) -> Result<(), Refusal> {
        let tenant = self.module()?;
        let owns = u16::try_from(index).is_ok_and(|vlan| tenant.vlans.contains(&(port, vlan)));
        if !owns {
            return Err(Space(format!("VLAN {index} on port {port} is not tenant `{}`'s", tenant.spec.name)));
        }
        if row == VlanRow::default() { Ok(()) } else { equal(Table::Vlan, &row, &tenant.vlan_row()) }
    }

    fn limit(&self, index: u32, row: LimitRow) -> Result<(), Refusal> {
        let target = self.linker.target;
        let tenant = self.own_module((index % target.modules) as u8)?;
        let d = crate::Destination::from_number((index / target.modules) as u8, target);
        let granted = d.and_then(|d| tenant.spec.queues.get(&d)).copied().unwrap_or(0);
        at_most(&format!("limit of queue {index} in cells"), row.cells, granted)
    }

    fn overlay(&self, index: u32, row: OverlayRow) -> Result<(), Refusal> {
        let tenant = self.own_module((index / 2) as u8)?;
        let bank = (index % 2) as u8;
        if row.valid {
            let own = tenant.bank(bank);
            let region = own.unwrap_or(Region { base: 0, bits: 0 });
            let (base, bits) = (u32::from(row.set_base), u32::from(row.set_bits));
            let looks_up = row.key_kind != KeyKind::None as u8;
            if (base, bits) != (region.base, region.bits) || looks_up && own.is_none() {
                let own = own.map_or("none".to_owned(), |r| format!("{} from {}", r.sets(), r.base));
                let name = &tenant.spec.name;
                let what =
                    format!("overlay with 2^{bits} sets from {base}, tenant `{name}` has {own} in generation {bank}");
                return Err(Space(what));
            }
            if KeyKind::from_code(row.key_kind).is_none() {
                return Err(Space(format!("overlay with key kind {}, there are 0 to 2", row.key_kind)));
            }
            self.action(tenant, &row.action())?;
        } else if row != OverlayRow::default() {
            return Err(Space("an overlay that is not valid and not zero".to_owned()));
        }
        if (self.live || row.valid) && (bank == self.current || !self.drained[usize::from(bank)]) {
            return Err(Order(self.not_drained("overlay", bank)));
        }
        Ok(())
    }

    fn not_drained(&self, what: &str, bank: u8) -> String {
        if bank == self.current {
            format!("{what} of generation {bank}, which new packets are stamped with")
        } else {
            format!("{what} of generation {bank}, without a wait until its packets have left")
        }
    }

    fn action(&self, tenant: &Tenant, row: &ActionRow) -> Result<(), Refusal> {
        let target = self.linker.target;
        let granted = tenant.spec.destinations();
        let all = (1u16 << target.destinations()) - 1;
        let to = Destinations::from_mask(row.destinations, target);
        if u16::from(row.destinations) & !all != 0 || to.iter().any(|d| !granted.contains(d)) {
            let (mask, name) = (row.destinations, &tenant.spec.name);
            return Err(Space(format!("destination mask {mask:#04x}, tenant `{name}` may use: {granted}")));
        }
        Ok(())
    }

    fn entry(&mut self, way: u8, set: u32, row: EntryRow) -> Result<(), Refusal> {
        let tenant = self.module()?;
        let slot = Slot { way, set };
        let name = &tenant.spec.name;
        let Some(region) = tenant.region.filter(|r| r.contains(set)) else {
            let holder = self.linker.tenants.values().find(|t| t.region.is_some_and(|r| r.contains(set)));
            let of = holder.map_or("nobody".to_owned(), |t| format!("tenant `{}`", t.spec.name));
            return Err(Space(format!("match set {set} belongs to {of}, the load is tenant `{name}`'s")));
        };
        let empty = row.generations == 0;
        if empty && row != EntryRow::default() {
            return Err(Space("an entry of no generation that is not zero".to_owned()));
        }
        if !empty {
            if row.module_id != tenant.module {
                let (found, own) = (row.module_id, tenant.module);
                let owner = self.owner(found);
                return Err(Space(format!("an entry of module {found}{owner}, tenant `{name}` has module {own}")));
            }
            let generation = u8::from(!region.half(0).contains(set));
            let bank = region.half(generation);
            if row.generations != 1 << generation || !bank.slots(&row.key_bytes()).contains(&slot) {
                let bits = row.generations;
                let what = format!("way {way}, set {set} is no place of the entry's key in generations {bits:#04b}");
                return Err(Space(what));
            }
            self.action(tenant, &row.action())?;
        }
        let row = (!empty).then_some(row);
        let before = self.rows.get(&slot).copied().unwrap_or_else(|| self.linker.table.get(slot).copied());
        self.entry_order(before, row)?;
        self.rows.insert(slot, row);
        Ok(())
    }

    /// Rows of the generation that is not current change only when no packet of it is in
    /// flight; a row of the current one gives way to no other key.
    fn entry_order(&self, before: Option<EntryRow>, after: Option<EntryRow>) -> Result<(), Refusal> {
        let other = 1 - self.current;
        let sees = |row: &Option<EntryRow>, g: u8| row.filter(|r| r.generations >> g & 1 == 1);
        let changes =
            sees(&before, other).map(|r| (r.key, r.action())) != sees(&after, other).map(|r| (r.key, r.action()));
        if changes && !self.drained[usize::from(other)] {
            return Err(Order(self.not_drained("entry", other)));
        }
        match (sees(&before, self.current), after) {
            (Some(old), Some(new)) if old.key != new.key => {
                Err(Order("an entry over another one that packets are looking up".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

fn unpack<R: Row>(words: &[u32]) -> Result<R, Refusal> {
    R::unpack(words).map_err(|e| Space(e.to_string()))
}

fn equal<R: Row>(table: Table, found: &R, allowed: &R) -> Result<(), Refusal> {
    if found == allowed {
        return Ok(());
    }
    Err(Space(format!("row of {}: found {found:?}, granted is {allowed:?}", table.name())))
}

fn at_most(what: &str, found: u16, granted: u16) -> Result<(), Refusal> {
    if found <= granted { Ok(()) } else { Err(Space(format!("{what}: found {found}, granted are {granted}"))) }
}
