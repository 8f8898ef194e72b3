//! The local socket of a running NIC: `sluice map` asks, between two rounds of the packets' loop.

use super::map_connection::{Connection, Patience};
use crate::failure::Failure;
use crate::maps::MapInfo;
use crate::maps::protocol::{PAGE_BYTES, Reply, Request};
use crate::maps::socket::connect;
use sluice_device::{Device, DeviceError, Map, Maps, Resumed};
use sluice_ebpf::MapId;
use sluice_ebpf::state::{from_hex, to_hex};
use sluice_ebpf::tenant::map_spec;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often clients are looked at: packets come first.
const PERIOD: Duration = Duration::from_millis(1);
/// Most clients at one time; the next one waits until one has left or gives way.
const MAX_CLIENTS: usize = 16;
/// How long a client keeps its place while another waits. Below the time that `sluice map` waits for an answer.
const KEPT: Patience = Patience { idle: Duration::from_secs(5), turn: Duration::from_secs(60) };
/// How long it may take to find out whether somebody listens on a socket file.
const FOUND_OUT: Duration = Duration::from_secs(2);

/// Listens on a socket file, which goes away with it.
pub struct MapServer {
    path: PathBuf,
    listener: UnixListener,
    clients: Vec<Connection>,
    /// Who has connected and finds no place.
    waiting: Option<UnixStream>,
    kept: Patience,
    /// Modules and names of the tenants.
    tenants: Vec<(u8, String)>,
    looked: Instant,
}

impl MapServer {
    /// Listens. A socket file that nobody listens on any more is replaced; any other file is not.
    pub fn open(path: &Path, tenants: Vec<(u8, String)>) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::file(path, "listened on", &e);
        let is_socket = fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
        // Who listens and is busy does not refuse.
        let is_left = |e: &io::Error| e.kind() == io::ErrorKind::ConnectionRefused;
        if is_socket && connect(path, FOUND_OUT).as_ref().is_err_and(is_left) {
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let (clients, looked) = (Vec::new(), Instant::now());
        Ok(Self { path: path.to_owned(), listener, clients, waiting: None, kept: KEPT, tenants, looked })
    }

    /// Serves whoever has asked; never waits.
    pub fn serve(&mut self, device: &mut dyn Device) {
        if self.looked.elapsed() < PERIOD {
            return;
        }
        self.looked = Instant::now();
        // What has been asked is answered before anybody has to leave, however long the packets took.
        self.answer_all(device);
        if self.accept() {
            self.answer_all(device);
        }
    }

    fn answer_all(&mut self, device: &mut dyn Device) {
        for client in &mut self.clients {
            client.serve(|line| answer(line, device, &self.tenants));
        }
        self.clients.retain(|client| !client.has_ended());
    }

    /// Gives places to those who wait, as long as there are some or somebody has to give way; whether anybody got one.
    fn accept(&mut self) -> bool {
        let mut accepted = false;
        loop {
            if self.waiting.is_none() {
                self.waiting = self.listener.accept().ok().map(|(stream, _)| stream);
            }
            if self.waiting.is_none() || (self.clients.len() >= MAX_CLIENTS && !self.give_way()) {
                return accepted;
            }
            self.clients.extend(self.waiting.take().and_then(|stream| Connection::new(stream).ok()));
            accepted = true;
        }
    }

    /// Closes the client that has been idle for the longest time among those that had their time; false: there is none.
    fn give_way(&mut self) -> bool {
        let over =
            self.clients.iter().enumerate().filter_map(|(at, c)| Some((c.idle_since(), at, c.gives_way(self.kept)?)));
        let Some((_, at, why)) = over.min() else { return false };
        self.clients.remove(at).close(why);
        true
    }
}

impl Drop for MapServer {
    fn drop(&mut self) {
        // The run is over: a file that cannot be removed is replaced by the next one.
        let _ = fs::remove_file(&self.path);
    }
}

/// Most bytes of a queue's elements in an answer, which is a line.
const MOST_ELEMENT_BYTES: usize = 4 << 20;

fn answer(line: &[u8], device: &mut dyn Device, tenants: &[(u8, String)]) -> Reply {
    match serde_json::from_slice::<Request>(line) {
        Ok(request) => serve(request, device, tenants).unwrap_or_else(|reply| reply),
        Err(e) => Reply::Refused(format!("the request is none: {e}")),
    }
}

fn serve(request: Request, device: &mut dyn Device, tenants: &[(u8, String)]) -> Result<Reply, Reply> {
    let module = |tenant: &str| {
        let found = tenants.iter().find(|(_, name)| name == tenant);
        found.map(|(module, _)| *module).ok_or_else(|| Reply::Refused(format!("there is no tenant `{tenant}`")))
    };
    let maps = device.maps().map_err(refused)?;
    let bytes = |hex: &str, what: &str| from_hex(hex, what).map_err(|e| Reply::Refused(e.to_string()));
    Ok(match request {
        Request::List => list(maps, tenants),
        Request::Lookup { tenant, id, key } => {
            let key = bytes(&key, "key")?;
            Reply::Value(to_hex(&maps.lookup(module(&tenant)?, MapId(id), &key).map_err(refused)?))
        }
        Request::Update { tenant, id, key, value, flags } => {
            let (key, value) = (bytes(&key, "key")?, bytes(&value, "value")?);
            maps.update(module(&tenant)?, MapId(id), &key, &value, flags).map_err(refused)?;
            Reply::Done
        }
        Request::Delete { tenant, id, key } => {
            let key = bytes(&key, "key")?;
            maps.delete(module(&tenant)?, MapId(id), &key).map_err(refused)?;
            Reply::Done
        }
        Request::Pop { tenant, id } => Reply::Value(to_hex(&maps.pop(module(&tenant)?, MapId(id)).map_err(refused)?)),
        Request::Dump { tenant, id, after, order } => {
            if is_queue(maps, module(&tenant)?, MapId(id)).map_err(refused)? {
                return elements(maps, module(&tenant)?, MapId(id));
            }
            let after = after.map(|key| bytes(&key, "key")).transpose()?;
            page(maps, module(&tenant)?, MapId(id), after, order).map_err(refused)?
        }
    })
}

/// Whether a map is a queue or stack.
fn is_queue(maps: &mut dyn Maps, module: u8, id: MapId) -> Result<bool, DeviceError> {
    let all = maps.list(module)?;
    let spec = all.iter().find(|map| map.id == id).and_then(|map| map_spec(&map.declared).ok());
    Ok(spec.is_some_and(|spec| spec.kind.is_queue()))
}

/// All elements of a queue or stack: without keys no second answer could go on.
fn elements(maps: &mut dyn Maps, module: u8, id: MapId) -> Result<Reply, Reply> {
    let all = maps.elements(module, id).map_err(refused)?;
    let bytes: usize = all.iter().map(Vec::len).sum();
    if bytes > MOST_ELEMENT_BYTES {
        return Err(Reply::Refused(format!(
            "the elements have {bytes} bytes, a dump has {MOST_ELEMENT_BYTES} at most"
        )));
    }
    let entries = all.iter().map(|value| (String::new(), to_hex(value))).collect();
    Ok(Reply::Page { entries, order: 0, behind: None })
}

/// Entries behind a key. Packets wait meanwhile: there are not more of them than an answer holds.
fn page(
    maps: &mut dyn Maps,
    module: u8,
    id: MapId,
    after: Option<Vec<u8>>,
    order: Option<u64>,
) -> Result<Reply, DeviceError> {
    // Without a number the key is taken to be where it is now.
    let order = match order {
        Some(order) => order,
        None => match maps.order_behind(module, id, after.as_deref())? {
            Some(order) => order,
            None => return Ok(Reply::Gone),
        },
    };
    let after = match maps.resume(module, id, after.as_deref(), order)? {
        Resumed::Behind(key) => key,
        Resumed::Gone => return Ok(Reply::Gone),
        Resumed::Moved => return Ok(Reply::Moved),
    };
    let (mut entries, mut bytes, mut key) = (Vec::new(), 0, after);
    while let Some(next) = maps.next_key(module, id, key.as_deref())? {
        if bytes >= PAGE_BYTES {
            let order = maps.order_behind(module, id, key.as_deref())?.unwrap_or_default();
            return Ok(Reply::Page { entries, order, behind: key.map(|key| to_hex(&key)) });
        }
        // A place of an array that holds nothing is none of the entries, but an answer of places has its end, too.
        bytes += next.len();
        if let Ok(value) = maps.lookup(module, id, &next) {
            bytes += value.len();
            entries.push((to_hex(&next), to_hex(&value)));
        }
        key = Some(next);
    }
    Ok(Reply::Page { entries, order, behind: None })
}

/// Tenants without a program have no maps.
fn list(maps: &mut dyn Maps, tenants: &[(u8, String)]) -> Reply {
    let mut all = Vec::new();
    for (module, tenant) in tenants {
        let of = maps.list(*module).unwrap_or_default().into_iter();
        let info = |map: Map| {
            let spec = map_spec(&map.declared).ok()?;
            Some(MapInfo { tenant: tenant.clone(), id: map.id.0, spec })
        };
        all.extend(of.filter_map(info));
    }
    Reply::Maps { maps: all, cpus: maps.cpus() }
}

fn refused(error: DeviceError) -> Reply {
    match error {
        DeviceError::Map { errno, .. } => Reply::Errno(errno),
        other => Reply::Refused(other.to_string()),
    }
}

#[cfg(test)]
#[path = "map_server_tests.rs"]
mod tests;
