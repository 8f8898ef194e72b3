//! Maps of a running NIC, over its local socket.

use super::access::Entry;
use super::protocol::{MAX_LINE, Reply, Request};
use super::{MapAccess, MapInfo};
use crate::failure::Failure;
use sluice_ebpf::Errno;
use sluice_ebpf::state::{from_hex, to_hex};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a NIC may take for an answer, unless a call says it.
pub const PATIENCE_SECONDS: u64 = 10;

/// How often a wait looks at the time.
const PIECE: Duration = Duration::from_millis(100);

/// Whether nothing came in time.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// A connection.
pub struct Socket {
    path: PathBuf,
    stream: BufReader<UnixStream>,
    patience: Duration,
}

impl Socket {
    /// Connects.
    pub fn open(path: &Path, patience: Duration) -> Result<Self, Failure> {
        let stream = UnixStream::connect(path).map_err(|e| {
            Failure::file(path, "reached", &e).help("sluice run --socket FILE lets a running NIC listen there")
        })?;
        let timed = stream.set_read_timeout(Some(PIECE)).and_then(|()| stream.set_write_timeout(Some(patience)));
        timed.map_err(|e| Failure::file(path, "used", &e))?;
        Ok(Self { path: path.to_owned(), stream: BufReader::new(stream), patience })
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, Failure> {
        let mut line = serde_json::to_string(request).unwrap_or_default();
        line.push('\n');
        let end = Instant::now() + self.patience;
        let sent = self.stream.get_mut().write_all(line.as_bytes());
        sent.map_err(|e| self.failed("written", &e))?;
        let mut answer = Vec::new();
        while answer.last() != Some(&b'\n') && (answer.len() as u64) < MAX_LINE {
            let left = MAX_LINE - answer.len() as u64;
            match (&mut self.stream).take(left).read_until(b'\n', &mut answer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(e) if is_late(&e) && Instant::now() < end => {}
                Err(e) => return Err(self.failed("read", &e)),
            }
        }
        match serde_json::from_slice(&answer) {
            Ok(Reply::Refused(why)) => Err(Failure::input("E0492", format!("{}: {why}", self.path.display()))),
            Ok(reply) => Ok(reply),
            Err(e) => Err(Failure::input("E0492", format!("{}: the answer is none: {e}", self.path.display()))),
        }
    }

    fn failed(&self, verb: &str, error: &io::Error) -> Failure {
        if !is_late(error) {
            return Failure::file(&self.path, verb, error);
        }
        let (path, seconds) = (self.path.display(), self.patience.as_secs());
        Failure::input("E0492", format!("{path}: no answer within {seconds} s"))
            .help("--timeout SECONDS waits longer; a NIC that waits for an input pipe answers when packets come")
    }

    fn unexpected(&self, reply: &Reply) -> Failure {
        Failure::input("E0492", format!("{}: {reply:?} is no answer to this request", self.path.display()))
    }

    fn bytes(&self, hex: &str) -> Result<Vec<u8>, Failure> {
        from_hex(hex, "answer").map_err(|e| Failure::input("E0492", format!("{}: {e}", self.path.display())))
    }
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

    fn delete(&mut self, map: &MapInfo, key: &[u8]) -> Result<Result<(), Errno>, Failure> {
        match self.ask(&Request::Delete { tenant: map.tenant.clone(), id: map.id, key: to_hex(key) })? {
            Reply::Done => Ok(Ok(())),
            Reply::Errno(number) => Ok(Err(Errno(number))),
            other => Err(self.unexpected(&other)),
        }
    }

    fn dump(&mut self, map: &MapInfo) -> Result<Vec<Entry>, Failure> {
        match self.ask(&Request::Dump { tenant: map.tenant.clone(), id: map.id })? {
            Reply::Entries(entries) => {
                entries.iter().map(|(key, value)| Ok((self.bytes(key)?, self.bytes(value)?))).collect()
            }
            other => Err(self.unexpected(&other)),
        }
    }

    fn cpus(&mut self) -> Result<u32, Failure> {
        match self.ask(&Request::List)? {
            Reply::Maps { cpus, .. } => Ok(cpus),
            other => Err(self.unexpected(&other)),
        }
    }
}
