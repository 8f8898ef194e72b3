//! The local socket of a running NIC: `sluice map` asks, between two rounds of the packets' loop.

use crate::failure::Failure;
use crate::maps::MapInfo;
use crate::maps::protocol::{MAX_LINE, Reply, Request};
use sluice_device::{Device, DeviceError, Map, Maps};
use sluice_ebpf::MapId;
use sluice_ebpf::state::{from_hex, to_hex};
use sluice_ebpf::tenant::{CPUS, map_spec};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often clients are looked at: packets come first.
const PERIOD: Duration = Duration::from_millis(1);
/// Most clients at one time. The next one takes the place of the one that has asked nothing for longest, if that is
/// [`IDLE`], and waits until then.
const MAX_CLIENTS: usize = 16;
/// A client may take so long for a request, and say nothing for so long, while others wait.
const IDLE: Duration = Duration::from_secs(5);
/// Most requests of one client before the packets have their turn again.
const MAX_REQUESTS: usize = 64;

/// Listens on a socket file, which goes away with it.
pub struct MapServer {
    path: PathBuf,
    listener: UnixListener,
    clients: Vec<Client>,
    /// Modules and names of the tenants.
    tenants: Vec<(u8, String)>,
    looked: Instant,
}

struct Client {
    stream: UnixStream,
    received: Vec<u8>,
    answers: Vec<u8>,
    ended: bool,
    /// When it last had a request answered, or came.
    answered: Instant,
}

impl MapServer {
    /// Listens. A socket file that nobody listens on any more is replaced; any other file is not.
    pub fn open(path: &Path, tenants: Vec<(u8, String)>) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::file(path, "listened on", &e);
        let is_socket = fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
        if is_socket && UnixStream::connect(path).is_err() {
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { path: path.to_owned(), listener, clients: Vec::new(), tenants, looked: Instant::now() })
    }

    /// Serves whoever has asked; never waits.
    pub fn serve(&mut self, device: &mut dyn Device) {
        if self.looked.elapsed() < PERIOD {
            return;
        }
        self.looked = Instant::now();
        while self.clients.len() < MAX_CLIENTS || self.idle().is_some() {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if self.clients.len() == MAX_CLIENTS
                && let Some(idle) = self.idle()
            {
                self.clients.swap_remove(idle);
            }
            if stream.set_nonblocking(true).is_ok() {
                let (received, answers, answered) = (Vec::new(), Vec::new(), Instant::now());
                self.clients.push(Client { stream, received, answers, ended: false, answered });
            }
        }
        for client in &mut self.clients {
            client.serve(device, &self.tenants);
        }
        self.clients.retain(|client| !client.ended);
    }

    /// The client that has asked nothing for longest, if it is long enough to give way.
    fn idle(&self) -> Option<usize> {
        let (index, client) = self.clients.iter().enumerate().min_by_key(|(_, client)| client.answered)?;
        (client.answered.elapsed() >= IDLE).then_some(index)
    }
}

impl Drop for MapServer {
    fn drop(&mut self) {
        // The run is over: a file that cannot be removed is replaced by the next one.
        let _ = fs::remove_file(&self.path);
    }
}

impl Client {
    fn serve(&mut self, device: &mut dyn Device, tenants: &[(u8, String)]) {
        self.send();
        let mut served = 0;
        // A client that does not take its answers gets no new ones.
        while self.answers.is_empty() && served < MAX_REQUESTS && !self.ended {
            match self.received.iter().position(|b| *b == b'\n') {
                Some(end) => {
                    let line: Vec<u8> = self.received.drain(..=end).collect();
                    let mut text = serde_json::to_string(&answer(&line, device, tenants)).unwrap_or_default();
                    text.push('\n');
                    self.answers.extend_from_slice(text.as_bytes());
                    self.answered = Instant::now();
                    self.send();
                    served += 1;
                }
                None if !self.receive() => return,
                None => {}
            }
        }
    }

    /// Whether anything came.
    fn receive(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                self.ended = self.received.len() as u64 > MAX_LINE;
                return !self.ended;
            }
            Err(e) => self.ended = e.kind() != io::ErrorKind::WouldBlock,
        }
        false
    }

    fn send(&mut self) {
        while !self.answers.is_empty() {
            match self.stream.write(&self.answers) {
                Ok(count) => drop(self.answers.drain(..count)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.ended = true;
                    return;
                }
            }
        }
    }
}

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
        Request::Dump { tenant, id } => {
            let module = module(&tenant)?;
            let mut entries = Vec::new();
            let mut key = None;
            while let Some(next) = maps.next_key(module, MapId(id), key.as_deref()).map_err(refused)? {
                if let Ok(value) = maps.lookup(module, MapId(id), &next) {
                    entries.push((to_hex(&next), to_hex(&value)));
                }
                key = Some(next);
            }
            Reply::Entries(entries)
        }
    })
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
    Reply::Maps { maps: all, cpus: CPUS }
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
