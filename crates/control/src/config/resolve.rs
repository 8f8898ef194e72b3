//! From the file's words to what the linker takes.

use super::error::{ConfigError, ConfigProblem};
use super::file::{
    ConfigFile, DoubleTag, HostTable, Only, P4Hash, P4Table, PortTable, RingTable, TableTable, TenantTable, Vids,
};
use super::grants::NOBODY;
use super::quota::l7_given;
use super::{HostBinding, NicConfig, PortBinding, RingConfig, TenantConfig};
use sluice_device::rings::{LEAST_BUFFER, MOST_BUFFER};
use sluice_formats::l7::target::{LEAST_RING_LOG, MOST_RING_LOG};
use sluice_formats::limits::SYSTEM_TENANT;
use sluice_formats::xdp::target::GROWTH;
use sluice_formats::{EngineId, Target};
use sluice_frontends::{self as frontends, Allowed, P4Options, P4Told, Reading};
use sluice_nic::engines::{self, Models};
use sluice_object::{
    Destination, KeyKind, KeySpec, L7Given, LinkError, Linker, NicSettings, Object, ObjectError, Rate, TenantSpec,
    XdpShare,
};
use sluice_packet::capture::Format;
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Longest name of an interface in Linux.
const INTERFACE_NAME: usize = 15;
/// Longest busy polling of one call, in microseconds.
const MOST_BUSY_POLL: u32 = 1000;

pub(super) struct Resolver<'a> {
    pub file: &'a str,
    pub text: &'a str,
    pub folder: &'a Path,
    /// What is told of P4 programs that were read.
    pub p4: RefCell<P4Told>,
}

impl Resolver<'_> {
    pub(super) fn wrong(
        &self,
        span: Range<usize>,
        what: impl Into<String>,
        found: impl ToString,
        allowed: &str,
    ) -> ConfigError {
        let (what, found, allowed) = (what.into(), found.to_string(), allowed.to_owned());
        ConfigError::at(self.file, self.text, span, ConfigProblem::Value { what, found, allowed })
    }

    pub fn config(&self, file: ConfigFile) -> Result<NicConfig, ConfigError> {
        let name = &file.device.target;
        let target = Target::nics().find(|t| t.name == name.get_ref()).ok_or_else(|| {
            let allowed = Target::nic_names();
            self.wrong(name.span(), "device.target", format!("`{}`", name.get_ref()), &allowed)
        })?;
        let engines = self.engines(file.device.engines.as_ref())?;
        let mut settings = NicSettings::new(target);
        settings.watchdog = file.device.watchdog;
        let mut ports = vec![PortBinding::default(); target.ports as usize];
        let mut seen = Vec::new();
        for port in &file.port {
            let number = self.number(&port.number, "port", target.ports, &mut seen)?;
            self.port(port, &file, &mut settings, number)?;
            ports[number] = self.port_binding(port)?;
        }
        let mut hosts = vec![HostBinding::default(); target.hosts as usize];
        let mut seen = Vec::new();
        for host in &file.host {
            let number = self.number(&host.number, "host queue", target.hosts, &mut seen)?;
            hosts[number] = self.host_binding(host)?;
        }
        let bound = file.port.iter().flat_map(|p| [&p.iface, &p.tap]).chain(file.host.iter().map(|h| &h.tap));
        let mut names: Vec<&Spanned<String>> = Vec::new();
        for name in bound.flatten() {
            if names.iter().any(|n| n.get_ref() == name.get_ref()) {
                let found = format!("`{}` twice", name.get_ref());
                return Err(self.wrong(name.span(), "interfaces", found, "each interface once"));
            }
            names.push(name);
        }
        let tenants = self.tenants(&file, target, engines, &settings)?;
        let inputs = file.port.iter().filter_map(|port| Some(port.input.as_ref()?.get_ref().as_path()));
        let named = file.tenant.iter().flat_map(TenantTable::files).chain(inputs);
        let files = named.flat_map(|named| frontends::p4_files(&self.folder.join(named))).collect();
        let seed = file.device.seed;
        let (file, p4) = (self.file.to_owned(), self.p4.borrow().clone());
        Ok(NicConfig { file, target, seed, engines, settings, tenants, ports, hosts, files, p4 })
    }

    /// The engines that the NIC has; without a word all.
    fn engines(&self, given: Option<&Spanned<Vec<String>>>) -> Result<Models, ConfigError> {
        let Some(given) = given else { return Ok(engines::ALL) };
        engines::named(given.get_ref().iter().map(String::as_str)).ok_or_else(|| {
            let found = given.get_ref().iter().map(|name| format!("`{}`", name.escape_default())).collect::<Vec<_>>();
            self.wrong(
                given.span(),
                "device.engines",
                found.join(", "),
                "`rmt`, and with it `xdp`, `l7` or both, each once",
            )
        })
    }

    /// Refuses a tenant's share of an engine that the NIC does not have.
    fn check_engines(&self, table: &TenantTable, models: Models) -> Result<(), ConfigError> {
        let given = [
            (EngineId::XDP, "xdp_work", table.xdp_work.is_some()),
            (EngineId::XDP, "xdp_share", table.xdp_share.is_some()),
            (EngineId::XDP, "warp", table.warp.is_some()),
            (EngineId::L7, "l7", table.l7.is_some()),
        ];
        for (engine, key, given) in given {
            if given && !engines::ids(models).any(|id| id == engine) {
                let has = engines::ids(models).map(EngineId::name).collect::<Vec<_>>().join(", ");
                let what =
                    format!("is given a share of the engine {engine}, which this device does not have; it has {has}");
                let tenant = table.name.get_ref().clone();
                let problem = ConfigProblem::Object { tenant, what, code: Some("E0238") };
                return Err(ConfigError::at(self.file, self.text, self.key(table, &[key]), problem));
            }
        }
        Ok(())
    }

    fn number(&self, number: &Spanned<u8>, what: &str, count: u32, seen: &mut Vec<u8>) -> Result<usize, ConfigError> {
        let n = *number.get_ref();
        if u32::from(n) >= count {
            return Err(self.wrong(number.span(), what, n, &format!("0 to {}", count - 1)));
        }
        if seen.contains(&n) {
            return Err(self.wrong(number.span(), what, format!("{n} twice"), "each number once"));
        }
        seen.push(n);
        Ok(usize::from(n))
    }

    fn port(
        &self,
        port: &PortTable,
        file: &ConfigFile,
        settings: &mut NicSettings,
        number: usize,
    ) -> Result<(), ConfigError> {
        let policy = &mut settings.ports[number];
        if let Some(untagged) = port.untagged.as_ref().filter(|u| u.get_ref() != NOBODY) {
            let tenant = file.tenant.iter().find(|t| t.name.get_ref() == untagged.get_ref());
            let tenant = tenant.ok_or_else(|| {
                let names: Vec<&str> = file.tenant.iter().map(|t| t.name.get_ref().as_str()).collect();
                let allowed = format!("drop, or a tenant: {}", names.join(", "));
                self.wrong(untagged.span(), "untagged", format!("`{}`", untagged.get_ref()), &allowed)
            })?;
            if tenant.id == SYSTEM_TENANT {
                let allowed = "drop, or a tenant that is not the system: its module has no packets of its own";
                return Err(self.wrong(untagged.span(), "untagged", format!("`{}`", untagged.get_ref()), allowed));
            }
            policy.untagged = Some(tenant.id);
        }
        policy.drop_double_tag = port.double_tag == Some(DoubleTag::Drop);
        let bounds = [(&port.min_frame, &mut policy.min_frame), (&port.max_frame, &mut policy.max_frame)];
        for (given, to) in bounds {
            if let Some(bytes) = given {
                if !(14..=9216).contains(bytes.get_ref()) {
                    return Err(self.wrong(bytes.span(), "frame length", bytes.get_ref(), "14 to 9216 bytes"));
                }
                *to = *bytes.get_ref();
            }
        }
        if policy.min_frame > policy.max_frame {
            let found = format!("{} to {}", policy.min_frame, policy.max_frame);
            return Err(self.wrong(port.number.span(), "frame lengths", found, "min_frame <= max_frame"));
        }
        Ok(())
    }

    fn port_binding(&self, port: &PortTable) -> Result<PortBinding, ConfigError> {
        let live = [&port.iface, &port.tap].into_iter().flatten().count();
        if live > 1 || (live == 1 && port.input.is_some()) {
            let allowed = "input, or iface, or tap; output with any of them";
            return Err(self.wrong(port.number.span(), "port", "several bindings", allowed));
        }
        let socket = port.socket.as_ref().map(|s| (s.span(), "socket"));
        let busy_poll = port.busy_poll.as_ref().map(|b| (b.span(), "busy_poll"));
        if let (None, Some((span, key))) = (&port.iface, socket.or(busy_poll)) {
            return Err(self.wrong(span, key, "a port without `iface`", "an interface of this machine"));
        }
        if let Some(busy_poll) = port.busy_poll.as_ref().filter(|b| !(1..=MOST_BUSY_POLL).contains(b.get_ref())) {
            let allowed = format!("1 to {MOST_BUSY_POLL} microseconds");
            return Err(self.wrong(busy_poll.span(), "busy_poll", busy_poll.get_ref().to_string(), &allowed));
        }
        Ok(PortBinding {
            socket: port.socket.as_ref().map(|s| *s.get_ref()).unwrap_or_default(),
            busy_poll: port.busy_poll.as_ref().map(|b| *b.get_ref()),
            input: port.input.as_ref().map(|p| self.capture(p)).transpose()?,
            output: port.output.as_ref().map(|p| self.output(p)).transpose()?,
            iface: self.interface(&port.iface)?,
            tap: self.interface(&port.tap)?,
        })
    }

    fn host_binding(&self, host: &HostTable) -> Result<HostBinding, ConfigError> {
        let output = host.output.as_ref().map(|p| self.output(p)).transpose()?;
        Ok(HostBinding { output, tap: self.interface(&host.tap)? })
    }

    /// Where a capture lies; `-` is no file of the folder but standard input or output.
    fn capture(&self, spanned: &Spanned<PathBuf>) -> Result<PathBuf, ConfigError> {
        let path = spanned.get_ref();
        match path.as_os_str().to_str() {
            Some("") => Err(self.wrong(spanned.span(), "input", "``", "the name of a capture, or `-`")),
            Some("-") => Ok(path.clone()),
            _ => Ok(self.folder.join(path)),
        }
    }

    /// The same for one that is written: its ending says in which format.
    fn output(&self, spanned: &Spanned<PathBuf>) -> Result<PathBuf, ConfigError> {
        let path = spanned.get_ref();
        if path.as_os_str() != "-" && Format::from_path(path).is_err() {
            let found = format!("`{}`", path.display().to_string().escape_default());
            let allowed = "a name that ends in `.pcap` or `.pcapng`, or `-`";
            return Err(self.wrong(spanned.span(), "output", found, allowed));
        }
        self.capture(spanned)
    }

    fn interface(&self, name: &Option<Spanned<String>>) -> Result<Option<String>, ConfigError> {
        let Some(spanned) = name else { return Ok(None) };
        let name = spanned.get_ref();
        let good = |c: char| c.is_ascii_graphic() && c != '/' && c != ':';
        if name.is_empty() || name.len() > INTERFACE_NAME || !name.chars().all(good) {
            let found = format!("`{}`", name.escape_default());
            let allowed = "1 to 15 printable characters but `/` and `:`";
            return Err(self.wrong(spanned.span(), "interface", found, allowed));
        }
        Ok(Some(name.clone()))
    }

    /// Tenants in order. A linker of the same target tries them, so that what does not fit is
    /// told with its place before any device is there.
    fn tenants(
        &self,
        file: &ConfigFile,
        target: &'static Target,
        models: Models,
        settings: &NicSettings,
    ) -> Result<Vec<TenantConfig>, ConfigError> {
        let engines: Vec<EngineId> = engines::ids(models).collect();
        let mut linker = Linker::of(target, &engines, None);
        let mut tenants = Vec::new();
        for table in &file.tenant {
            tenants.push(self.tenant(table, &file.port, target)?);
            self.check_engines(table, models)?;
        }
        self.share_rows(file, target, &mut tenants)?;
        for (table, tenant) in file.tenant.iter().zip(&tenants) {
            let name = tenant.spec.name.clone();
            let refused = |error| self.not_linked(table, &error);
            linker.admit(tenant.spec.clone()).map_err(&refused)?;
            if let Some(object) = &tenant.object {
                let sender = |to| self.p4.borrow().sender(&name, to);
                linker.load(tenant.spec.id, object).map_err(|error| refused(error.sent_from(sender)))?;
            }
        }
        if let Err(error) = linker.nic(settings.clone()) {
            let (what, code) = (error.to_string(), Some(error.code()));
            let problem = ConfigProblem::Object { tenant: "system".to_owned(), what, code };
            return Err(ConfigError::whole(self.file, problem));
        }
        Ok(tenants)
    }

    /// What the linker refuses of a tenant.
    pub(super) fn not_linked(&self, table: &TenantTable, error: &LinkError) -> ConfigError {
        let (name, what) = (table.name.get_ref(), error.to_string());
        // The linker may say whose it is, too.
        let what = what.strip_prefix(&format!("tenant `{name}`: ")).unwrap_or(&what).to_owned();
        let problem = ConfigProblem::Object { tenant: name.clone(), what, code: Some(error.code()) };
        ConfigError::at(self.file, self.text, self.refused(table, error), problem)
    }

    fn tenant(
        &self,
        table: &TenantTable,
        ports: &[PortTable],
        target: &'static Target,
    ) -> Result<TenantConfig, ConfigError> {
        let name = self.tenant_name(table)?;
        self.named_files(table)?;
        if let (Some(entries), Some(_)) = (&table.max_entries, &table.xdp) {
            let (found, allowed) = ("max_entries with xdp", "map_sizes for the maps of a program");
            return Err(self.wrong(entries.span(), format!("tenant `{name}`"), found, allowed));
        }
        let object = self.object(table, &name, target)?;
        let routes = self.routes(table, &name)?;
        let mut spec = TenantSpec::new(table.id, name);
        spec.vlans = self.vlans(table, ports)?;
        spec.keep_tag = self.keep_tag(table)?;
        spec.any_vids = table.vids == Some(Vids::Any);
        spec.rate = match (table.rate, table.burst) {
            (None, None) => None,
            (Some(bits_per_second), Some(burst_bytes)) => Some(Rate { bits_per_second, burst_bytes }),
            (rate, _) => {
                let found = if rate.is_some() { "rate without burst" } else { "burst without rate" };
                let key = if rate.is_some() { "rate" } else { "burst" };
                let span = self.key(table, &[key]);
                return Err(self.wrong(span, "rate limit", found, "both, or neither"));
            }
        };
        spec.share =
            table.share.as_ref().map(|Only(share)| Rate { bits_per_second: share.rate, burst_bytes: share.burst });
        spec.xdp_work = table.xdp_work;
        spec.xdp_growth = Some(table.xdp_growth.unwrap_or(GROWTH));
        let share = table.xdp_share.as_ref();
        spec.xdp_share = share.map(|Only(s)| XdpShare::given(s.weight, s.rows, s.contexts, s.memory));
        spec.xdp_warp = table.warp.unwrap_or(true);
        spec.quantum = table.quantum.unwrap_or(spec.quantum);
        let lists = [("queues", &table.queues, &mut spec.queues), ("reserve", &table.reserve, &mut spec.reserves)];
        for (key, list, to) in lists {
            for (text, cells) in list {
                let destination: Destination = text.parse().map_err(|_| {
                    let allowed = format!("port0 to port{}, host0 to host{}", target.ports - 1, target.hosts - 1);
                    let span = self.key(table, &[key, text]);
                    self.wrong(span, key, format!("`{}`", text.escape_default()), &allowed)
                })?;
                to.insert(destination, *cells);
            }
        }
        spec.rmt =
            table.rmt.as_ref().map(|rmt| self.quota(table, rmt.get_ref(), object.as_ref(), target)).transpose()?;
        if let Some(object) = &object {
            if let Some(part) = &object.parts.l7 {
                spec.l7 = Some(L7Given::default().or(part));
            }
            // What is not said is what the first program needs; a table may get its first entry later.
            if spec.rmt.is_none() || object.parts.rmt.is_none() {
                spec.make_room(object);
            }
            // What is no module runs as a table, also where `[tenant.rmt]` gives room for a module beside it.
            let is_table = object.key.kind != KeyKind::None || (spec.rmt.is_some() && object.parts.rmt.is_none());
            spec.max_entries = spec.max_entries.max(u32::from(is_table));
        }
        if let Some(given) = &table.l7 {
            let part = object.as_ref().and_then(|object| object.parts.l7.as_deref());
            spec.l7 = Some(l7_given(given.get_ref(), part));
        }
        let rings = self.rings(table, &spec)?;
        spec.max_entries = table.max_entries.as_ref().map_or(spec.max_entries, |n| *n.get_ref());
        Ok(TenantConfig { spec, object, routes, rings })
    }

    /// Rings of `[[tenant.l7.ring]]`.
    fn rings(&self, table: &TenantTable, spec: &TenantSpec) -> Result<Vec<RingConfig>, ConfigError> {
        let given = table.l7.iter().flat_map(|l7| l7.get_ref().ring.iter().flatten());
        let has = spec.l7.map_or(0, |given| given.rings);
        let mut rings: Vec<RingConfig> = Vec::new();
        for ring in given {
            let RingTable { queue, buffers, bytes } = *ring.get_ref();
            let wrong = |what: &str, found: u32, allowed: String| {
                Err(self.wrong(ring.span(), format!("l7.ring of queue {queue}: {what}"), found, &allowed))
            };
            if u32::from(queue) >= has {
                let allowed =
                    if has == 0 { "none: there are no rules".to_owned() } else { format!("0 to {}", has - 1) };
                return wrong("queue", queue.into(), allowed);
            }
            if rings.iter().any(|ring| ring.queue == queue) {
                return wrong("queue", queue.into(), "each queue once".to_owned());
            }
            let (least, most) = (1u32 << LEAST_RING_LOG, 1u32 << MOST_RING_LOG);
            if !buffers.is_power_of_two() || !(least..=most).contains(&buffers) {
                return wrong("buffers", buffers, format!("a power of two from {least} to {most}"));
            }
            if !(LEAST_BUFFER..=MOST_BUFFER).contains(&bytes) {
                return wrong("bytes", bytes, format!("{LEAST_BUFFER} to {MOST_BUFFER}"));
            }
            rings.push(RingConfig { queue, log_size: buffers.ilog2() as u8, bytes });
        }
        Ok(rings)
    }

    fn object(&self, table: &TenantTable, name: &str, target: &Target) -> Result<Option<Object>, ConfigError> {
        let problem = |what: String, code| ConfigProblem::Object { tenant: name.to_owned(), what, code };
        let bad = |span: Range<usize>, error: &ObjectError| {
            ConfigError::at(self.file, self.text, span, problem(error.to_string(), Some(error.code())))
        };
        if let Some(entries) = table.entries.as_ref().filter(|_| table.object.is_none()) {
            let found = format!("`{}`", entries.get_ref().display());
            return Err(self.wrong(entries.span(), "entries", found, "with `object`, a P4 program"));
        }
        if let Some(p4) = table.p4.as_ref().filter(|_| table.object.is_none()) {
            return Err(self.wrong(p4.span(), "p4", "a table", "with `object`, a P4 program"));
        }
        if let Some(inline) = &table.table {
            let beside = [("object", table.object.as_ref()), ("xdp", table.xdp.as_ref())];
            if let Some((key, path)) = beside.into_iter().find_map(|(key, path)| Some((key, path?))) {
                let found = format!("{key} and table");
                return Err(self.wrong(path.span(), format!("tenant `{name}`"), found, "one of them"));
            }
            self.no_program_keys(table, name)?;
            let object = inline_object(name, inline.get_ref()).map_err(|e| bad(inline.span(), &e))?;
            return self.with_rules(table, name, target, Some(object));
        }
        let object = match &table.object {
            None => None,
            Some(path) => {
                let file = self.folder.join(path.get_ref());
                let entries = table.entries.as_ref().map(|entries| self.folder.join(entries.get_ref()));
                let allowed = table.p4.as_ref().map(|p4| allowed(p4.get_ref())).unwrap_or_default();
                let told = Some(&self.p4);
                let reserve = table.p4.as_ref().map(|p4| p4.get_ref().reserve.clone()).unwrap_or_default();
                let p4 = P4Options { entries: entries.as_deref(), allowed, reserve, told, ..P4Options::default() };
                let reading = Reading { p4, ..Reading::new(target, name) };
                Some(frontends::read(&file, &reading).map_err(|e| {
                    let problem = problem(format!("object {}", e.what), Some(e.code));
                    ConfigError::at(self.file, self.text, path.span(), problem)
                })?)
            }
        };
        let program = self.program(table, name, target)?;
        match (object, program, &table.xdp, &table.pass) {
            (Some(_), Some(_), _, Some(pass)) => {
                let allowed = "nothing beside `object`: what the program passes goes where the rmt program sends";
                Err(self.wrong(pass.span(), "pass", format!("`{}`", pass.get_ref().escape_default()), allowed))
            }
            (Some(object), Some(program), Some(path), None) => {
                let object = object.join(program).map_err(|e| bad(path.span(), &e))?;
                self.with_rules(table, name, target, Some(object))
            }
            (object, program, ..) => self.with_rules(table, name, target, object.or(program)),
        }
    }

    /// The same with the tenant's rules for dispatch beside it.
    fn with_rules(
        &self,
        table: &TenantTable,
        name: &str,
        target: &Target,
        object: Option<Object>,
    ) -> Result<Option<Object>, ConfigError> {
        let Some(path) = &table.rules else { return Ok(object) };
        let wrong = |what: String, code| {
            let problem = ConfigProblem::Object { tenant: name.to_owned(), what, code: Some(code) };
            ConfigError::at(self.file, self.text, path.span(), problem)
        };
        let file = self.folder.join(path.get_ref());
        let rules = frontends::read(&file, &Reading::new(target, name)).map_err(|e| wrong(e.what, e.code))?;
        if !rules.is_rules() {
            let found = format!("`{}`", path.get_ref().display());
            return Err(self.wrong(
                path.span(),
                "rules",
                found,
                "a file of rules (*.l7); other programs stand at `object`",
            ));
        }
        match object {
            None => Ok(Some(rules)),
            Some(object) => object.join(rules).map(Some).map_err(|e| wrong(e.to_string(), e.code())),
        }
    }
}

fn allowed(table: &P4Table) -> Allowed {
    let bound = table.bound.iter().map(|(stack, elements)| (stack, elements.get()));
    let cells = table.cells.iter().map(|(name, cells)| (name, cells.get()));
    Allowed::of(bound, cells, table.hash == Some(P4Hash::Target), table.power_of_two)
}

fn inline_object(name: &str, table: &TableTable) -> Result<Object, ObjectError> {
    let key = match &table.fields {
        Some(fields) => KeySpec::of_fields(table.key, fields)?,
        None => KeySpec::whole(table.key),
    };
    let mut object = Object::new(name, key, table.default);
    for entry in &table.entries {
        object.push(entry.key.key(&key)?, entry.action);
    }
    object.check()?;
    Ok(object)
}
