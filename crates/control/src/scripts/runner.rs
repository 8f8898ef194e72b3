//! One script on one device.

use super::checks::{check_length, check_port, counter_of, no_table};
use super::plan::{self, Need, destination};
use super::programs;
use super::rings::Rings;
use super::tables::{TableState, action, read_object, read_rules, rmt_object};
use super::traffic::Seen;
use super::{FailedStatement, ScriptFailure};
use sluice_device::run_load::run_load;
use sluice_device::{Device, DeviceError, Event, ModuleCounters, Offer, ProgramEvent, stop};
use sluice_formats::limits::SYSTEM_TENANT;
use sluice_formats::xdp::target::GROWTH;
use sluice_formats::{Reason, Target, l7};
use sluice_frontends::{P4Told, Tables};
use sluice_object::{Destination, L7Given, Linker, Load, Object, Secrets, TenantSpec, VlanGrant, Warning, XdpShare};
use sluice_packet::script::{
    Command, MOST_WEIGHT, QUANTUM_PER_WEIGHT, Rmt, SYSTEM, Script, Send, TOTAL, Tenant, Timing,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::path::Path;

/// Most events taken at once.
const POLL: usize = 4096;

pub(super) struct Runner<'a> {
    pub device: &'a mut dyn Device,
    script: &'a Script,
    pub linker: Linker,
    target: &'static Target,
    needs: BTreeMap<String, Need>,
    /// Tenants that may be given more while they run.
    growing: BTreeSet<String>,
    ids: BTreeMap<String, u16>,
    tables: BTreeMap<String, TableState>,
    /// Tables of updates that are not committed yet.
    updates: BTreeMap<String, Option<TableState>>,
    /// Objects that were put beside rules, or could be; of a table or a P4 program what it began with.
    pub programs: BTreeMap<String, Object>,
    /// P4 programs that run, whose entries may change one by one.
    pub p4: BTreeMap<String, Tables>,
    /// Rules for dispatch.
    rules: BTreeMap<String, Object>,
    pub seen: Seen,
    pub messages: Rings,
    /// What programs told and the script has not asked for, by module.
    events: BTreeMap<u8, VecDeque<ProgramEvent>>,
    seed: u64,
    begun_at: u64,
    port_free_at: Vec<u64>,
}

impl<'a> Runner<'a> {
    /// Reads all programs first; what is told of those in P4 comes to `told`.
    pub fn new(
        script: &'a Script,
        device: &'a mut dyn Device,
        told: &RefCell<P4Told>,
    ) -> Result<Self, Box<FailedStatement>> {
        let before = |failure| Box::new(FailedStatement { statement: None, failure });
        let found = device.capabilities().target;
        let target = Target::nics().find(|t| t.hash() == found.hash()).ok_or_else(|| {
            let allowed = Target::nic_names();
            before(ScriptFailure::value("target of the device", found.name, allowed))
        })?;
        let needs = plan::needs(script, target, told)?;
        let mut runner = Self {
            script,
            // Without a seed those that everybody knows: a script gives the same each time.
            linker: crate::linker(target, device.capabilities())
                .with_secrets(script.seed().map_or_else(Secrets::default, Secrets::of_seed)),
            target,
            needs,
            ids: BTreeMap::new(),
            growing: BTreeSet::new(),
            tables: BTreeMap::new(),
            updates: BTreeMap::new(),
            programs: BTreeMap::new(),
            p4: BTreeMap::new(),
            rules: BTreeMap::new(),
            seen: Seen::default(),
            messages: Rings::default(),
            events: BTreeMap::new(),
            seed: script.seed().unwrap_or(0),
            begun_at: device.now(),
            port_free_at: vec![0; target.ports as usize],
            device,
        };
        // Ports take frames of every length before the first `nic` statement.
        let settings = runner.linker.settings().clone();
        let load = runner.linker.nic(settings).map_err(|e| before(e.into()))?;
        runner.run_load(&load).map_err(before)?;
        runner.begun_at = runner.device.now();
        Ok(runner)
    }

    pub fn run(&mut self, command: &Command) -> Result<(), ScriptFailure> {
        match command {
            Command::Device(_) | Command::Seed(_) => Ok(()),
            Command::Nic(given) => {
                let mut settings = self.linker.settings().clone();
                super::settings::apply(&mut settings, given, |name| self.ids.get(name).copied())?;
                let load = self.linker.nic(settings)?;
                self.run_load(&load)
            }
            Command::Tenant(tenant) => self.admit(tenant),
            Command::Load { tenant, file } => {
                let object = read_object(&self.script.file, file, tenant, self.target, None)?;
                self.p4.remove(tenant);
                match object.parts.is_empty() {
                    true => self.install(tenant, TableState::of_object(&object)),
                    false => self.program(tenant, &object),
                }
            }
            Command::Table(declared) => {
                let table = TableState::declared(declared)?;
                match self.updates.get_mut(&declared.tenant) {
                    Some(update) => {
                        *update = Some(table);
                        Ok(())
                    }
                    None => self.install(&declared.tenant, table),
                }
            }
            Command::Begin { tenant, replace } => {
                let present = self.tables.get(tenant).cloned().map(|mut table| {
                    if *replace {
                        table.entries.clear();
                    }
                    table
                });
                if present.is_none() && !replace {
                    return Err(no_table(tenant));
                }
                self.updates.insert(tenant.clone(), present);
                Ok(())
            }
            Command::Commit { tenant } => match self.updates.remove(tenant) {
                Some(Some(table)) => self.install(tenant, table),
                _ => Err(no_table(tenant)),
            },
            Command::Add { tenant, key, action: given } => self.add(tenant, key, Some(action(given))),
            Command::Del { tenant, key } => self.add(tenant, key, None),
            Command::Xdp(xdp) => {
                let mut object = programs::object(&self.script.file, xdp, self.target)?;
                if !xdp.keep.is_empty() {
                    let module = self.module(&xdp.tenant)?;
                    let first = self.linker.tenant(self.id(&xdp.tenant)?)?.running.is_none();
                    programs::check_kept(self.device.maps()?, module, first, &xdp.keep)?;
                }
                if let Some(module) = &xdp.rmt {
                    let (in_front, _) = self.granted_module(module)?;
                    object = in_front.join(object).map_err(|e| ScriptFailure::object(&module.file, &e))?;
                }
                self.program(&xdp.tenant, &object)
            }
            Command::Rmt(rmt) => {
                if rmt.tenant == SYSTEM && !self.ids.contains_key(SYSTEM) {
                    self.admit_system()?;
                }
                if rmt.keep {
                    self.check_keep(&rmt.tenant)?;
                }
                if rmt.grow {
                    self.check_grow(&rmt.tenant)?;
                    self.growing.insert(rmt.tenant.clone());
                }
                let (object, tables) = self.granted_module(rmt)?;
                let is_system = object.parts.rmt.as_ref().is_some_and(|part| part.system);
                if rmt.tenant == SYSTEM && !is_system {
                    let found = format!("the tenant's module {}", rmt.file.display());
                    return Err(ScriptFailure::value("rmt system", found, "a module with `system`"));
                }
                let sender = |to| tables.as_ref().and_then(|tables| tables.sender(to));
                self.program(&rmt.tenant, &object).map_err(|failure| failure.sent_from(sender))?;
                match tables {
                    Some(tables) => self.p4.insert(rmt.tenant.clone(), tables),
                    None => self.p4.remove(&rmt.tenant),
                };
                Ok(())
            }
            Command::Entry { tenant, entry } => self.entry(tenant, entry),
            Command::Rules { tenant, file } => {
                let rules = read_rules(&self.script.file, file, tenant, self.target)?;
                let beside = match self.tables.get(tenant) {
                    Some(table) => Some(table.object()),
                    None => self.program_of(tenant)?,
                };
                self.rules.insert(tenant.clone(), rules.clone());
                match beside {
                    Some(object) => self.put(tenant, &object),
                    None => self.load(tenant, &rules),
                }
            }
            Command::Map(given) => {
                // What was sent before sees the map as it was.
                self.rest()?;
                let module = self.module(&given.tenant)?;
                programs::map(self.device, module, given)
            }
            Command::Routes { tenant, file } => {
                self.rest()?;
                let routes = programs::routes(&self.script.file, file)?;
                let module = self.module(tenant)?;
                Ok(self.device.maps()?.set_routes(module, &routes)?)
            }
            Command::Event { tenant, map, bytes } => {
                let module = self.module(tenant)?;
                programs::check_tells(self.device.maps()?, module, map)?;
                self.rest()?;
                let waiting = self.events.entry(module).or_default();
                waiting.extend(self.device.maps()?.take_events(module));
                programs::event(waiting, map, bytes)
            }
            Command::Send(send) => self.send(send),
            Command::Expect { destination: to, queue, count, pattern } => {
                let (number, name) = self.destination(destination(*to))?;
                let name = queue.map_or(name.clone(), |queue| format!("{name}, queue {queue}"));
                check_length("packet that is expected", pattern.bytes.len())?;
                self.rest()?;
                let rings = self.rings(number);
                let own = |module: u8, found: u8| match rings.get(&module) {
                    Some(rings) if rings.contains(&found.into()) => found - rings.start as u8,
                    _ => found,
                };
                let is_queue = |module: u8, found: u8| queue.is_none_or(|queue| own(module, found) == queue);
                self.seen.expect(number, &name, *count, is_queue, pattern)
            }
            Command::Ring { tenant, queue, operation } => self.ring(tenant, *queue, *operation),
            Command::ExpectMessage { tenant, queue, count, pattern } => {
                self.expect_messages(tenant, *queue, *count, pattern.as_ref())
            }
            Command::ExpectNone => {
                self.rest()?;
                self.expect_none()
            }
            Command::Drop { count, reason, tenant } => self.expect_drops(*count, reason, tenant.as_deref()),
            Command::Counter { tenant, name, relation, value } => {
                let found = self.counter(tenant, name)?;
                if relation.holds(found, *value) {
                    return Ok(());
                }
                let sign =
                    format!("{relation:?}").replace("AtLeast", ">=").replace("AtMost", "<=").replace("Equal", "=");
                let expected = format!("{name} of {tenant} {sign} {value}");
                Err(ScriptFailure::Expectation { expected, found: found.to_string() })
            }
            Command::Wait { cycles } => {
                self.device.advance(*cycles)?;
                self.poll();
                Ok(())
            }
            Command::Idle => self.rest(),
            Command::Block(to) => self.set_blocked(destination(*to), true),
            Command::Unblock(to) => self.set_blocked(destination(*to), false),
            Command::FaultConfig { drop, corrupt } => {
                Ok(self.device.disturb_configuration(*drop, *corrupt, self.seed)?)
            }
        }
    }

    /// What the linker warns of as things are.
    pub fn warnings(&self) -> Vec<Warning> {
        self.linker.warnings()
    }

    /// What is left after the last statement.
    pub fn finish(&mut self) -> Vec<ScriptFailure> {
        let rest = self.rest();
        if let Err(stopped @ ScriptFailure::Device(DeviceError::Stopped)) = rest {
            return vec![stopped];
        }
        let none = rest.and_then(|()| self.expect_none()).err();
        let accounting = self.device.counters().map_err(ScriptFailure::from).and_then(|counters| {
            let open = counters.modules.iter().find(|(_, c)| !c.closes());
            open.map_or(Ok(()), |(m, c)| Err(ScriptFailure::Accounting { module: *m, counters: format!("{c:?}") }))
        });
        none.into_iter().chain(accounting.err()).collect()
    }

    /// That everything was asked for.
    fn expect_none(&mut self) -> Result<(), ScriptFailure> {
        let messages = self.messages_left();
        self.seen.expect_none(messages)
    }

    fn admit(&mut self, tenant: &Tenant) -> Result<(), ScriptFailure> {
        let need = self.needs.get(&tenant.name).cloned().unwrap_or_default();
        let mut spec = TenantSpec::new(tenant.id, tenant.name.clone());
        spec.vlans = tenant.vlans.iter().map(|vlan| VlanGrant { port: None, vlan: *vlan }).collect();
        spec.keep_tag = tenant.keep_tag;
        spec.any_vids = tenant.any_vids;
        let rate = |of: Option<(u64, u64)>| {
            let Some((bits_per_second, burst)) = of else { return Ok(None) };
            let burst_bytes = u32::try_from(burst).map_err(|_| {
                ScriptFailure::value(format!("burst of `{}`", tenant.name), burst, "up to 4294967295 bytes")
            })?;
            Ok::<_, ScriptFailure>(Some(sluice_object::Rate { bits_per_second, burst_bytes }))
        };
        (spec.rate, spec.share) = (rate(tenant.rate)?, rate(tenant.share)?);
        if let Some(weight) = tenant.weight {
            let quantum = weight.saturating_mul(QUANTUM_PER_WEIGHT);
            spec.quantum = u16::try_from(quantum).map_err(|_| {
                ScriptFailure::value(format!("weight of `{}`", tenant.name), weight, format!("1 to {MOST_WEIGHT}"))
            })?;
        }
        spec.queues = need.destinations.iter().filter(|_| need.cells > 0).map(|d| (*d, need.cells)).collect();
        // It was read as 16 bits.
        let reserve = tenant.reserve.map_or(0, |cells| cells as u16);
        spec.reserves = spec.queues.keys().filter(|_| reserve > 0).map(|d| (*d, reserve)).collect();
        spec.xdp_work = tenant.xdp_work;
        spec.xdp_growth = Some(tenant.xdp_growth.unwrap_or(GROWTH));
        spec.xdp_warp = tenant.warp;
        let (weight, rows) = (tenant.xdp_weight, tenant.xdp_rows);
        let (contexts, memory) = (tenant.xdp_contexts, tenant.xdp_memory);
        if (weight, rows, contexts, memory) != (None, None, None, None) {
            spec.xdp_share = Some(XdpShare::given(weight, rows, contexts, memory));
        }
        spec.max_entries = need.entries();
        spec.rmt = need.rmt;
        spec.table = need.has_no_module;
        spec.l7 = need.l7.map(|given| L7Given { weight: tenant.l7_weight, ..given });
        self.ids.insert(tenant.name.clone(), tenant.id);
        let load = self.linker.admit(spec)?;
        self.run_load(&load)
    }

    /// That the tenant has something that can become more.
    fn check_grow(&self, tenant: &str) -> Result<(), ScriptFailure> {
        if self.linker.tenant(self.id(tenant)?)?.running.is_some() {
            return Ok(());
        }
        let allowed = "a program in place of another: a first one has what it needs";
        Err(ScriptFailure::value("rmt", "grow of the tenant's first program", allowed))
    }

    /// That the tenant runs a program of which something can be kept.
    fn check_keep(&self, tenant: &str) -> Result<(), ScriptFailure> {
        let found = if self.linker.tenant(self.id(tenant)?)?.running.is_none() {
            "keep of the tenant's first program"
        } else if self.tables.contains_key(tenant) {
            "keep, although what runs is a table"
        } else {
            return Ok(());
        };
        Err(ScriptFailure::value("rmt", found, "keep with a program in place of another"))
    }

    /// A module without the destinations that `to=` of its tenant leaves out, whatever it demands.
    fn granted_module(&self, rmt: &Rmt) -> Result<(Object, Option<Tables>), ScriptFailure> {
        let (mut object, tables) = rmt_object(&self.script.file, rmt, self.target, self.p4.get(&rmt.tenant), None)?;
        let granted = &self.linker.tenant(self.id(&rmt.tenant)?)?.spec.queues;
        // What a P4 program demands is what its entries send to.
        if object.parts.rmt.as_ref().is_none_or(|part| part.logical.is_none()) {
            object.demands.queues.retain(|destination, _| granted.contains_key(destination));
        }
        Ok((object, tables))
    }

    pub fn id(&self, tenant: &str) -> Result<u16, ScriptFailure> {
        self.ids.get(tenant).copied().ok_or_else(|| {
            let declared: Vec<&str> = self.ids.keys().map(String::as_str).collect();
            ScriptFailure::value("tenant with a table", format!("`{tenant}`"), declared.join(", "))
        })
    }

    /// Loads a table, or replaces the running one without a gap.
    fn install(&mut self, tenant: &str, table: TableState) -> Result<(), ScriptFailure> {
        let object = table.object();
        self.tables.insert(tenant.to_owned(), table);
        self.p4.remove(tenant);
        self.put(tenant, &object)
    }

    /// Loads a program that has no table for `add` and `del`, or puts it in the place of what runs.
    fn program(&mut self, tenant: &str, object: &Object) -> Result<(), ScriptFailure> {
        self.tables.remove(tenant);
        self.p4.remove(tenant);
        self.put(tenant, object)
    }

    /// The system module needs no statement: it has no VLAN and no queue of its own.
    fn admit_system(&mut self) -> Result<(), ScriptFailure> {
        let mut spec = TenantSpec::new(SYSTEM_TENANT, SYSTEM);
        let need = self.needs.get(SYSTEM).cloned().unwrap_or_default();
        spec.queues = need.destinations.iter().map(|d| (*d, need.cells)).collect();
        spec.rmt = need.rmt;
        self.ids.insert(SYSTEM.to_owned(), SYSTEM_TENANT);
        let load = self.linker.admit(spec)?;
        self.run_load(&load)
    }

    /// Loads an object, or replaces the running one without a gap. The tenant's rules stay beside it.
    pub fn put(&mut self, tenant: &str, object: &Object) -> Result<(), ScriptFailure> {
        self.programs.insert(tenant.to_owned(), object.clone());
        let rules = self.rules.get(tenant).filter(|_| object.parts.l7.is_none());
        match rules.cloned() {
            Some(rules) => {
                let object = object.clone().join(rules).map_err(|e| ScriptFailure::object(Path::new(tenant), &e))?;
                self.load(tenant, &object)
            }
            None => self.load(tenant, object),
        }
    }

    /// Rings of modules, where the destination leads through dispatch.
    fn rings(&self, destination: u8) -> BTreeMap<u8, Range<u32>> {
        let behind = Destination::Host(l7::target::host(self.target)).number(self.target);
        let tenants = self.linker.tenants().filter(|_| behind == Some(destination));
        tenants.filter_map(|tenant| Some((tenant.module, self.linker.rings(tenant.spec.id).ok()?))).collect()
    }

    fn load(&mut self, tenant: &str, object: &Object) -> Result<(), ScriptFailure> {
        let id = self.id(tenant)?;
        let running = self.linker.tenant(id)?.running.is_some();
        let load = match running {
            true if self.growing.contains(tenant) => self.linker.grow(id, object)?,
            true => self.linker.replace(id, object)?,
            false => self.linker.load(id, object)?,
        };
        self.run_load(&load)
    }

    /// Adds or changes an entry, or takes it out; in an open update, or at once.
    fn add(
        &mut self,
        tenant: &str,
        key: &sluice_packet::script::Key,
        action: Option<sluice_object::Action>,
    ) -> Result<(), ScriptFailure> {
        let no_table = || no_table(tenant);
        let id = self.id(tenant)?;
        let (table, in_update) = match self.updates.get_mut(tenant) {
            Some(update) => (update.as_mut().ok_or_else(no_table)?, true),
            None => (self.tables.get_mut(tenant).ok_or_else(no_table)?, false),
        };
        let key = table.masked(key)?;
        let present = match action {
            Some(action) => table.entries.insert(key, action).is_some(),
            None => table.entries.remove(&key).is_some(),
        };
        if in_update {
            let found =
                || ScriptFailure::value("entry to delete", "a key that the update does not hold", "one that it holds");
            return if action.is_none() && !present { Err(found()) } else { Ok(()) };
        }
        let load = match (action, present) {
            (Some(action), false) => self.linker.insert(id, &key, &action)?,
            (Some(action), true) => self.linker.modify(id, &key, &action)?,
            (None, _) => self.linker.delete(id, &key)?,
        };
        self.run_load(&load)
    }

    fn send(&mut self, send: &Send) -> Result<(), ScriptFailure> {
        let port = usize::from(send.port);
        check_port(send.port, self.target)?;
        check_length("packet", send.bytes.len())?;
        let beats = u64::from(self.target.beats(send.bytes.len() as u32));
        let mut offers = Vec::with_capacity(send.count.min(POLL as u64) as usize);
        for i in 0..send.count {
            let free_at = self.port_free_at.get(port).copied().unwrap_or(0).max(self.device.now());
            let at = match send.timing {
                Timing::Gap(gap) => free_at + gap,
                Timing::At(cycle) if i == 0 => self.begun_at + cycle,
                Timing::At(_) => free_at,
            };
            if let Some(free) = self.port_free_at.get_mut(port) {
                *free = at.max(free_at) + beats;
            }
            offers.push(Offer { port: send.port, bytes: send.bytes.clone(), at, bad: false });
            if offers.len() == POLL {
                stop::check()?;
                self.device.offer_owned(std::mem::take(&mut offers))?;
            }
        }
        self.device.offer_owned(offers)?;
        self.seen.sent += send.count;
        Ok(())
    }

    fn expect_drops(&mut self, count: u64, reason: &str, tenant: Option<&str>) -> Result<(), ScriptFailure> {
        let reason = Reason::by_name(reason).ok_or_else(|| {
            let names: Vec<&str> = Reason::ALL.iter().map(|r| r.name()).collect();
            ScriptFailure::value("reason", format!("`{reason}`"), names.join(", "))
        })?;
        let module = tenant.map(|tenant| self.module(tenant)).transpose()?;
        self.rest()?;
        self.seen.expect_drops(count, reason, |of| module.is_none_or(|m| m == of))
    }

    /// The module of a tenant; that of `system` is 0 whether it was admitted or not.
    pub fn module(&self, tenant: &str) -> Result<u8, ScriptFailure> {
        match self.ids.get(tenant) {
            Some(id) => Ok(self.linker.tenant(*id)?.module),
            None => Ok(sluice_formats::limits::SYSTEM_MODULE),
        }
    }

    fn counter(&mut self, tenant: &str, name: &str) -> Result<u64, ScriptFailure> {
        // Also a name that no tenant's counters would be asked for.
        counter_of(&ModuleCounters::default(), name)?;
        self.rest()?;
        let counters = self.device.counters()?;
        if tenant == TOTAL {
            return counters.modules.values().map(|c| counter_of(c, name)).sum();
        }
        counter_of(&counters.modules.get(&self.module(tenant)?).cloned().unwrap_or_default(), name)
    }

    fn destination(&self, destination: Destination) -> Result<(u8, String), ScriptFailure> {
        let number = destination.number(self.target).ok_or_else(|| {
            let (ports, hosts) = (self.target.ports - 1, self.target.hosts - 1);
            ScriptFailure::value("destination", destination, format!("port 0 to {ports}, host 0 to {hosts}"))
        })?;
        Ok((number, destination.to_string()))
    }

    fn set_blocked(&mut self, to: Destination, blocked: bool) -> Result<(), ScriptFailure> {
        let (number, _) = self.destination(to)?;
        Ok(self.device.set_blocked(number, blocked)?)
    }

    pub fn run_load(&mut self, load: &Load) -> Result<(), ScriptFailure> {
        let mut outcomes = Vec::new();
        let result = run_load(self.device, load, &mut outcomes);
        self.seen.take(outcomes, self.target);
        Ok(result?)
    }

    /// Everything offered has come out, been dropped, or stands behind a blocked destination.
    pub fn rest(&mut self) -> Result<(), ScriptFailure> {
        self.device.quiesce()?;
        self.poll();
        self.take_messages()
    }

    fn poll(&mut self) {
        loop {
            let events = self.device.poll(POLL);
            if events.is_empty() {
                return;
            }
            let outcome = |event| if let Event::Outcome(outcome) = event { Some(outcome) } else { None };
            self.seen.take(events.into_iter().filter_map(outcome).collect(), self.target);
        }
    }
}
