//! Maps of a running NIC, over its local socket.

use super::access::Entry;
use super::protocol::{MAX_LINE, Reply, Request};
use super::{MapAccess, MapInfo};
use crate::failure::Failure;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect as connect_to, socket};
use sluice_ebpf::Errno;
use sluice_ebpf::map::file::explain;
use sluice_ebpf::state::{from_hex, has_entries, to_hex};
use std::collections::HashSet;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a NIC may take for an answer, unless a call says it.
pub const PATIENCE_SECONDS: u64 = 10;

/// How often a dump begins again because the map has changed its order: it does when it grows to twice its size.
const MOST_BEGINNINGS: usize = 32;

/// Connects. Who listens may have more waiting than it takes; then this waits too, but not for longer than `patience`.
pub fn connect(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(patience))?;
    connect_to(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}

/// What is left of the time; an error when it is over.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn late(path: &Path, what: &str, patience: Duration) -> Failure {
    let what = format!("{}: {what} within {} s", path.display(), patience.as_secs());
    Failure::input("E0492", what).help(
        "the NIC is stopped or busy, or another program listens there; `--timeout SECONDS` of `sluice map` waits longer",
    )
}

/// A connection.
pub struct Socket {
    path: PathBuf,
    stream: UnixStream,
    /// How long a connection, and each answer, may take.
    patience: Duration,
}

impl Socket {
    /// Connects. `patience` bounds this, and each request until its answer is whole.
    pub fn open(path: &Path, patience: Duration) -> Result<Self, Failure> {
        let stream = connect(path, patience).map_err(|e| match is_late(&e) {
            true => late(path, "no connection", patience),
            false => {
                Failure::file(path, "reached", &e).help("sluice run --socket FILE lets a running NIC listen there")
            }
        })?;
        Ok(Self { path: path.to_owned(), stream, patience })
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, Failure> {
        let mut line = serde_json::to_string(request).unwrap_or_default();
        line.push('\n');
        let until = Instant::now() + self.patience;
        let answer =
            self.send(line.as_bytes(), until).and_then(|()| self.receive(until)).map_err(|e| match e.kind() {
                _ if is_late(&e) => late(&self.path, "no answer", self.patience),
                ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                    let what = format!("{}: it closed the connection before it had answered", self.path.display());
                    Failure::input("E0492", what).help("the run has ended, or the other side is no NIC of Sluice")
                }
                _ => Failure::file(&self.path, "used", &e),
            })?;
        match serde_json::from_slice(&answer) {
            Ok(Reply::Refused(why)) => Err(Failure::input("E0492", format!("{}: {why}", self.path.display()))),
            Ok(reply) => Ok(reply),
            Err(e) => Err(Failure::input("E0492", format!("{}: the answer is none: {e}", self.path.display()))),
        }
    }

    fn send(&mut self, mut bytes: &[u8], until: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.set_write_timeout(Some(left(until)?))?;
            match self.stream.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // It may have said why before it closed the connection.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// A line. Bytes that come one by one do not prolong the time.
    fn receive(&mut self, until: Instant) -> io::Result<Vec<u8>> {
        let (mut line, mut bytes) = (Vec::new(), [0; 64 << 10]);
        while line.last() != Some(&b'\n') && line.len() < MAX_LINE as usize {
            self.stream.set_read_timeout(Some(left(until)?))?;
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => line.extend_from_slice(&bytes[..count]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(line)
    }

    /// All entries, answer by answer; none when the map changed its order meanwhile. Those that come or go may be in it
    /// or not, all others are, once.
    fn dump_in_order(&mut self, map: &MapInfo) -> Result<Option<Vec<Entry>>, Failure> {
        let mut all: Vec<Entry> = Vec::new();
        let (mut after, mut order, mut back) = (None, None, 0);
        loop {
            let asked = Request::Dump { tenant: map.tenant.clone(), id: map.id, after: after.clone(), order };
            match self.ask(&asked)? {
                Reply::Page { entries, order: found, behind } => {
                    for (key, value) in &entries {
                        all.push((self.bytes(key)?, self.bytes(value)?));
                    }
                    if behind.is_none() {
                        return Ok(Some(last_of_each(all)));
                    }
                    (after, order, back) = (behind, Some(found), 1);
                }
                // Behind an entry before it, one that is still there; what came after that one comes again.
                Reply::Gone if back < all.len() => {
                    all.truncate(all.len() - back);
                    (after, order) = (all.last().map(|(key, _)| to_hex(key)), None);
                    back *= 2;
                }
                Reply::Gone | Reply::Moved => return Ok(None),
                Reply::Errno(number) => {
                    let what = format!("map `{}`, dump: {}", map.spec.name, explain(Errno(number)));
                    return Err(Failure::difference("E0493", what));
                }
                other => return Err(self.unexpected(&other)),
            }
        }
    }

    fn unexpected(&self, reply: &Reply) -> Failure {
        Failure::input("E0492", format!("{}: {reply:?} is no answer to this request", self.path.display()))
    }

    fn bytes(&self, hex: &str) -> Result<Vec<u8>, Failure> {
        from_hex(hex, "answer").map_err(|e| Failure::input("E0492", format!("{}: {e}", self.path.display())))
    }
}

/// Entries with each key once: one that went and came again behind where the walk stood was met twice, and the last of them is there.
fn last_of_each(all: Vec<Entry>) -> Vec<Entry> {
    let mut met = HashSet::new();
    let mut kept: Vec<Entry> = all.into_iter().rev().filter(|(key, _)| met.insert(key.clone())).collect();
    kept.reverse();
    kept
}

impl MapAccess for Socket {
    fn list(&mut self) -> Result<Vec<MapInfo>, Failure> {
        match self.ask(&Request::List)? {
            Reply::Maps { maps, .. } => Ok(maps),
            other => Err(self.unexpected(&other)),
        }
    }

    fn lookup(&mut self, map: &MapInfo, key: &[u8]) -> Result<Result<Vec<u8>, Errno>, Failure> {
        match self.ask(&Request::Lookup { tenant: map.tenant.clone(), id: map.id, key: to_hex(key) })? {
            Reply::Value(value) => self.bytes(&value).map(Ok),
            Reply::Errno(number) => Ok(Err(Errno(number))),
            other => Err(self.unexpected(&other)),
        }
    }

    fn update(&mut self, map: &MapInfo, key: &[u8], value: &[u8], flags: u64) -> Result<Result<(), Errno>, Failure> {
        let (key, value) = (to_hex(key), to_hex(value));
        match self.ask(&Request::Update { tenant: map.tenant.clone(), id: map.id, key, value, flags })? {
            Reply::Done => Ok(Ok(())),
            Reply::Errno(number) => Ok(Err(Errno(number))),
            other => Err(self.unexpected(&other)),
        }
    }

    fn pop(&mut self, map: &MapInfo) -> Result<Result<Vec<u8>, Errno>, Failure> {
        match self.ask(&Request::Pop { tenant: map.tenant.clone(), id: map.id })? {
            Reply::Value(value) => self.bytes(&value).map(Ok),
            Reply::Errno(number) => Ok(Err(Errno(number))),
            other => Err(self.unexpected(&other)),
        }
    }

    fn delete(&mut self, map: &MapInfo, key: &[u8]) -> Result<Result<(), Errno>, Failure> {
        match self.ask(&Request::Delete { tenant: map.tenant.clone(), id: map.id, key: to_hex(key) })? {
            Reply::Done => Ok(Ok(())),
            Reply::Errno(number) => Ok(Err(Errno(number))),
            other => Err(self.unexpected(&other)),
        }
    }

    fn dump(&mut self, map: &MapInfo) -> Result<Vec<Entry>, Failure> {
        // Ring buffers have none, as in a state.
        if !has_entries(map.spec.kind) {
            return Ok(Vec::new());
        }
        for _ in 0..MOST_BEGINNINGS {
            if let Some(entries) = self.dump_in_order(map)? {
                return Ok(entries);
            }
        }
        let what = format!("map `{}` has changed its order {MOST_BEGINNINGS} times while it was read", map.spec.name);
        Err(Failure::input("E0492", format!("{}: {what}", self.path.display()))
            .help("read it when fewer packets change it, or from a state: sluice xdp run --state FILE"))
    }

    fn cpus(&mut self) -> Result<u32, Failure> {
        match self.ask(&Request::List)? {
            Reply::Maps { cpus, .. } => Ok(cpus),
            other => Err(self.unexpected(&other)),
        }
    }
}
