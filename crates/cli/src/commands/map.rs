//! `sluice map`: the maps of XDP programs, in bpftool's words.

use crate::failure::Failure;
use crate::maps::saved::Saved;
use crate::maps::socket::{PATIENCE_SECONDS, Socket};
use crate::maps::{MapAccess, MapInfo};
use crate::output::Output;
use crate::table::Table;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use sluice_ebpf::Errno;
use sluice_ebpf::map::file::explain_entry;
use sluice_ebpf::map::notation::{self, Words};
use sluice_ebpf::map::print;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Lists, reads and changes maps: saved by a run, or of a running NIC
///
/// Keys and values are bytes in bpftool's words (`key 10 0 0 1 value hex 00 ff`), or one word of
/// items (`ip:10.0.0.1,u16:80`, docs/guide/scripts.md). `name X` is the map X, as bpftool has it. Values of per-CPU maps: `set` gives every
/// processor the same. Exits with 1 when the map refuses, 2 when the request is none. One of --state
/// and --socket says where the maps are.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice xdp run programs/xdp/swap/swap.o --in programs/xdp/mixed.pcap --state out/maps.json
  sluice map --state out/maps.json dump counters
  sluice map --state out/maps.json set counters key 0 0 0 0 value hex 01 00 00 00 00 00 00 00
  sluice map --state out/maps.json get counters u32:0 --json
  sluice map --state out/maps.json dump name counters
  sluice map --socket /run/sluice.sock --tenant red get vips ip:10.0.0.1")]
pub struct MapArgs {
    /// Maps that `sluice xdp run --state` has saved; changes are written back
    #[arg(long, value_name = "FILE", global = true)]
    state: Option<PathBuf>,
    /// Socket of a running NIC (`sluice run --socket`)
    #[arg(long, value_name = "FILE", global = true)]
    socket: Option<PathBuf>,
    /// Seconds that a running NIC may take for a connection, and for each answer [default: 10]
    #[arg(long, value_name = "SECONDS", global = true, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// Only this tenant's maps, of a running NIC
    #[arg(long, global = true)]
    tenant: Option<String>,
    /// One JSON document, as bpftool -j prints it
    #[arg(short = 'j', long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// How bpftool says that a name follows; a map that is called so is `name name`.
const NAME: &str = "name";

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// The maps
    #[command(visible_alias = "show")]
    List,
    /// All entries of a map, or of every map
    Dump {
        /// Names; without, every map
        map: Vec<String>,
    },
    /// One entry
    #[command(visible_alias = "lookup")]
    Get {
        /// Name
        map: String,
        /// `key BYTES`, or items
        #[arg(required = true, allow_negative_numbers = true)]
        words: Vec<String>,
    },
    /// Makes or changes an entry
    #[command(visible_alias = "update")]
    Set {
        /// Name
        map: String,
        /// `key BYTES value BYTES [any|noexist|exist]`, or items for key and value
        #[arg(required = true, allow_negative_numbers = true)]
        words: Vec<String>,
    },
    /// Puts an element into a queue or stack
    #[command(visible_alias = "enqueue")]
    Push {
        /// Name
        map: String,
        /// `value BYTES [any|exist]`, or items; with `exist` the oldest element of a full map goes
        #[arg(required = true, allow_negative_numbers = true)]
        words: Vec<String>,
    },
    /// Takes an element out of a queue or stack
    #[command(visible_alias = "dequeue")]
    Pop {
        /// Name
        map: Vec<String>,
    },
    /// The element of a queue or stack that a pop would take
    Peek {
        /// Name
        map: Vec<String>,
    },
    /// Removes an entry
    Delete {
        /// Name
        map: String,
        /// `key BYTES`, or items
        #[arg(required = true, allow_negative_numbers = true)]
        words: Vec<String>,
    },
}

impl Command {
    /// The same without bpftool's word `name` in front of a map's name.
    fn without_name(&self) -> Command {
        let mut command = self.clone();
        match &mut command {
            Command::List => {}
            Command::Dump { map } | Command::Pop { map } | Command::Peek { map }
                if map.len() == 2 && map[0] == NAME =>
            {
                drop(map.remove(0))
            }
            Command::Dump { .. } | Command::Pop { .. } | Command::Peek { .. } => {}
            Command::Push { map, words }
            | Command::Get { map, words }
            | Command::Set { map, words }
            | Command::Delete { map, words } => {
                if map == NAME && words.len() > 1 {
                    *map = words.remove(0);
                }
            }
        }
        command
    }
}

impl MapArgs {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        check_once(std::env::args_os())?;
        let mut maps: Box<dyn MapAccess> = match (&self.state, &self.socket) {
            (Some(_), None) if self.tenant.is_some() => {
                return Err(Failure::input("E0490", "--tenant: a state file has no tenants, expected --socket"));
            }
            (Some(_), None) if self.timeout.is_some() => {
                return Err(Failure::input("E0490", "--timeout: a state file answers at once, expected --socket"));
            }
            (Some(path), None) => Box::new(Saved::open(path)?),
            (None, Some(path)) => {
                let patience = Duration::from_secs(self.timeout.unwrap_or(PATIENCE_SECONDS));
                Box::new(Socket::open(path, patience)?)
            }
            (found, _) => {
                let found = if found.is_some() { "both" } else { "neither" };
                return Err(Failure::input("E0490", format!("found {found}, expected --state or --socket")));
            }
        };
        match &self.command.without_name() {
            Command::List => self.list(&mut *maps, out)?,
            Command::Dump { map } => self.dump(&mut *maps, map, out)?,
            Command::Get { map, words } => {
                let map = self.find(&mut *maps, map)?;
                let key = self.key(&mut *maps, &map, words)?;
                let value = maps.lookup(&map, &key)?.map_err(|e| refused(&map, "get", &key, e))?;
                match self.json {
                    true => out.json(&print::json_entry(&map.spec, &key, &value))?,
                    false => out.text(&print::plain_entry(&map.spec, &key, &value))?,
                }
            }
            Command::Set { map, words } => {
                let map = self.find(&mut *maps, map)?;
                let (key, value, flags) = self.entry(&mut *maps, &map, words)?;
                maps.update(&map, &key, &value, flags)?.map_err(|e| refused(&map, "set", &key, e))?;
                self.done(out)?;
            }
            Command::Push { map, words } => {
                let map = self.find_queue(&mut *maps, map)?;
                let (value, flags) = self.element(&mut *maps, &map, words)?;
                maps.update(&map, &[], &value, flags)?.map_err(|e| refused(&map, "push", &[], e))?;
                self.done(out)?;
            }
            Command::Pop { map } | Command::Peek { map } => {
                let [name] = map.as_slice() else {
                    return Err(Failure::input("E0436", "expected the name of one map"));
                };
                let map = self.find_queue(&mut *maps, name)?;
                let pops = matches!(self.command, Command::Pop { .. });
                let (what, found) = match pops {
                    true => ("pop", maps.pop(&map)?),
                    false => ("peek", maps.lookup(&map, &[])?),
                };
                let value = found.map_err(|e| refused(&map, what, &[], e))?;
                match self.json {
                    true => out.json(&print::json_entry(&map.spec, &[], &value))?,
                    false => out.text(&print::plain_entry(&map.spec, &[], &value))?,
                }
            }
            Command::Delete { map, words } => {
                let map = self.find(&mut *maps, map)?;
                let key = self.key(&mut *maps, &map, words)?;
                maps.delete(&map, &key)?.map_err(|e| refused(&map, "delete", &key, e))?;
                self.done(out)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// A change that was made; one without --json says nothing.
    fn done(&self, out: &mut Output) -> Result<(), Failure> {
        if self.json { out.json(&Value::Null) } else { Ok(()) }
    }

    fn all(&self, maps: &mut dyn MapAccess) -> Result<Vec<MapInfo>, Failure> {
        let wanted = |info: &MapInfo| self.tenant.as_ref().is_none_or(|tenant| *tenant == info.tenant);
        let all = maps.list()?;
        if let Some(tenant) = self.tenant.as_ref().filter(|_| !all.iter().any(wanted)) {
            let mut there: Vec<String> = all.iter().map(|m| format!("`{}`", m.tenant)).collect();
            there.dedup();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            return Err(Failure::input("E0490", format!("tenant `{tenant}` has no maps, tenants with maps: {there}")));
        }
        Ok(all.into_iter().filter(wanted).collect())
    }

    fn find(&self, maps: &mut dyn MapAccess, name: &str) -> Result<MapInfo, Failure> {
        let all = self.all(maps)?;
        let mut found = all.iter().filter(|m| m.spec.name == name);
        match (found.next(), found.next()) {
            (Some(map), None) => Ok(map.clone()),
            (Some(first), Some(second)) => {
                let tenants = format!("`{}` and `{}`", first.tenant, second.tenant);
                Err(Failure::input("E0490", format!("map `{name}`: tenants {tenants} have one, say --tenant")))
            }
            (None, _) => {
                let there: Vec<String> = all.iter().map(|m| format!("`{}`", m.spec.name)).collect();
                Err(Failure::input("E0490", format!("there is no map `{name}`, there are {}", there.join(", "))))
            }
        }
    }

    /// The same, if it is a queue or stack.
    fn find_queue(&self, maps: &mut dyn MapAccess, name: &str) -> Result<MapInfo, Failure> {
        let map = self.find(maps, name)?;
        if map.spec.kind.is_queue() {
            return Ok(map);
        }
        let kind = map.spec.kind.name();
        Err(Failure::input("E0490", format!("map `{name}` is a {kind}, expected a queue or stack")))
    }

    /// An element that is pushed, and its flags.
    fn element(&self, maps: &mut dyn MapAccess, map: &MapInfo, words: &[String]) -> Result<(Vec<u8>, u64), Failure> {
        let bad = |e: notation::NotationError| Failure::input(e.code(), e);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let cpus = maps.cpus()?;
        if let [items, rest @ ..] = words.as_slice()
            && items.contains(':')
        {
            let value = sized("value", notation::items(items).map_err(bad)?, map.spec.value_size)?;
            return Ok((value, Words::parse(rest, &map.spec, cpus).map_err(bad)?.flags));
        }
        let read = Words::parse(&words, &map.spec, cpus).map_err(bad)?;
        match (read.key, read.value, read.inner) {
            (None, Some(value), None) => Ok((value, read.flags)),
            _ => Err(Failure::input("E0436", "expected `value BYTES [any|exist]`")),
        }
    }

    fn list(&self, maps: &mut dyn MapAccess, out: &mut Output) -> Result<(), Failure> {
        let all = self.all(maps)?;
        if self.json {
            let list: Vec<Value> = all.iter().map(describe).collect();
            return out.json(&json!(list));
        }
        let mut table = Table::new(["map", "tenant", "type", "key", "value", "entries", "flags"]).left(1).left(2);
        for MapInfo { tenant, spec, .. } in &all {
            let sizes = [spec.key_size, spec.value_size, spec.max_entries].map(|n| n.to_string());
            let [key, value, entries] = sizes;
            let kind = spec.kind.name().to_owned();
            table.row([spec.name.clone(), tenant.clone(), kind, key, value, entries, format!("{:#x}", spec.flags)]);
        }
        out.text(&table.to_string())
    }

    fn dump(&self, maps: &mut dyn MapAccess, names: &[String], out: &mut Output) -> Result<(), Failure> {
        let chosen = match names {
            [] => self.all(maps)?,
            names => names.iter().map(|name| self.find(maps, name)).collect::<Result<_, _>>()?,
        };
        let mut documents = Vec::new();
        for map in &chosen {
            let entries = maps.dump(map)?;
            if self.json {
                let list = entries.iter().map(|(key, value)| print::json_entry(&map.spec, key, value));
                documents.push((map, Value::Array(list.collect())));
                continue;
            }
            if chosen.len() > 1 {
                out.line(format!("{} ({}):", label(map, &chosen), map.spec.kind.name()))?;
            }
            for (key, value) in &entries {
                out.text(&print::plain_entry(&map.spec, key, value))?;
            }
            out.line(format!("Found {} element{}", entries.len(), if entries.len() == 1 { "" } else { "s" }))?;
        }
        match documents.as_slice() {
            [] => Ok(()),
            [(_, one)] if names.len() == 1 => out.json(one),
            all => {
                let named = all.iter().map(|(map, list)| (label(map, &chosen), list.clone()));
                out.json(&Value::Object(named.collect()))
            }
        }
    }

    fn key(&self, maps: &mut dyn MapAccess, map: &MapInfo, words: &[String]) -> Result<Vec<u8>, Failure> {
        if let [items] = words {
            let key = notation::items(items).map_err(|e| Failure::input(e.code(), e))?;
            return sized("key", key, map.spec.key_size);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let read = Words::parse(&words, &map.spec, maps.cpus()?).map_err(|e| Failure::input(e.code(), e))?;
        match (read.key, read.value) {
            (Some(key), None) => Ok(key),
            _ => Err(Failure::input("E0436", "expected `key BYTES` and nothing else")),
        }
    }

    fn entry(
        &self,
        maps: &mut dyn MapAccess,
        map: &MapInfo,
        words: &[String],
    ) -> Result<(Vec<u8>, Vec<u8>, u64), Failure> {
        let cpus = maps.cpus()?;
        let bad = |e: notation::NotationError| Failure::input(e.code(), e);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // Items have a colon, bpftool's words never.
        let split = match words.as_slice() {
            [key, value, rest @ ..] if key.contains(':') => Some((*key, *value, rest)),
            _ => None,
        };
        if let Some((key, value, rest)) = split {
            let key = sized("key", notation::items(key).map_err(bad)?, map.spec.key_size)?;
            let flags = Words::parse(rest, &map.spec, cpus).map_err(bad)?.flags;
            let value = match value.strip_prefix("map:") {
                Some(name) => self.inner(maps, map, name)?,
                None => {
                    let value = sized("value", notation::items(value).map_err(bad)?, map.spec.value_size)?;
                    notation::per_cpu(&map.spec, cpus, value)
                }
            };
            return Ok((key, value, flags));
        }
        let read = Words::parse(&words, &map.spec, cpus).map_err(bad)?;
        match (read.key, read.value, read.inner) {
            (Some(key), Some(value), None) => Ok((key, value, read.flags)),
            (Some(key), None, Some(inner)) => Ok((key, self.inner(maps, map, &inner)?, read.flags)),
            _ => Err(Failure::input("E0436", "expected `key BYTES value BYTES [any|noexist|exist]`")),
        }
    }

    fn inner(&self, maps: &mut dyn MapAccess, map: &MapInfo, name: &str) -> Result<Vec<u8>, Failure> {
        if !map.spec.kind.holds_maps() {
            let kind = map.spec.kind.name();
            return Err(Failure::input("E0436", format!("map `{}` is a {kind}: expected bytes", map.spec.name)));
        }
        Ok(self.find(maps, name)?.id.to_le_bytes().to_vec())
    }
}

/// Refuses an option that is said both before and behind the command: of these the parser keeps the second only.
fn check_once(words: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let options = words.iter().take_while(|word| *word != "--");
    for option in ["--state", "--socket", "--timeout", "--tenant"] {
        let is_it =
            |word: &&String| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        let found = options.clone().filter(is_it).count();
        if found > 1 {
            return Err(Failure::input("E0490", format!("{option} stands {found} times, allowed: once")));
        }
    }
    Ok(())
}

/// A map's name; with its tenant's where two of `all` have the same.
fn label(map: &MapInfo, all: &[MapInfo]) -> String {
    let same = all.iter().filter(|other| other.spec.name == map.spec.name).count();
    if same > 1 { format!("{}/{}", map.tenant, map.spec.name) } else { map.spec.name.clone() }
}

/// Bytes written as items, if they are as many as the map's keys or values have.
fn sized(what: &str, bytes: Vec<u8>, size: u32) -> Result<Vec<u8>, Failure> {
    match bytes.len() {
        found if found == size as usize => Ok(bytes),
        found => Err(Failure::input("E0435", format!("the {what} has {found} bytes, allowed: {size}"))),
    }
}

fn refused(map: &MapInfo, what: &str, key: &[u8], errno: Errno) -> Failure {
    Failure::difference("E0493", format!("map `{}`, {what}: {}", map.spec.name, explain_entry(&map.spec, key, errno)))
}

fn describe(map: &MapInfo) -> Value {
    let spec = &map.spec;
    json!({
        "id": map.id,
        "name": spec.name,
        "tenant": (!map.tenant.is_empty()).then_some(&map.tenant),
        "type": spec.kind.name(),
        "bytes_key": spec.key_size,
        "bytes_value": spec.value_size,
        "max_entries": spec.max_entries,
        "flags": spec.flags,
        "frozen": spec.frozen,
        "pinned": spec.pinned,
    })
}
