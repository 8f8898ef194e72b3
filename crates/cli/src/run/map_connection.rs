//! One connection to the local socket: requests in, answers out, never waited for.

use crate::maps::protocol::{MAX_LINE, Reply};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Most requests of one connection before the packets have their turn again.
const MAX_REQUESTS: usize = 64;
/// Most bytes taken from one connection before the packets have their turn again.
const MAX_BYTES: usize = 64 << 10;

/// How long a connection keeps its place while somebody else waits for one.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Without a request that was sent whole and whose answer was taken whole.
    pub idle: Duration,
    /// In all, however often it asks.
    pub turn: Duration,
}

/// A connection.
pub struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
    /// Bytes of `received` that hold no end of a line.
    searched: usize,
    answers: Vec<u8>,
    /// When it came to its place.
    begun: Instant,
    /// When its last answer was taken whole; at first, when it came.
    served: Instant,
    ended: bool,
}

impl Connection {
    /// Takes a connection up.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let now = Instant::now();
        let (received, answers) = (Vec::new(), Vec::new());
        Ok(Self { stream, received, searched: 0, answers, begun: now, served: now, ended: false })
    }

    /// Whether it is over.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Since when it has been without a whole request and answer. Single bytes do not count.
    pub fn idle_since(&self) -> Instant {
        self.served
    }

    /// Why it has to leave its place to somebody who waits, if it has.
    pub fn gives_way(&self, patience: Patience) -> Option<String> {
        if self.served.elapsed() >= patience.idle {
            let seconds = patience.idle.as_secs_f64();
            return Some(format!("closed: {seconds} s without a whole request and answer, and others wait"));
        }
        let seconds = patience.turn.as_secs_f64();
        // Not between a request and its answer: what was asked is known to be done, or not.
        let is_over = self.begun.elapsed() >= patience.turn && self.answers.is_empty();
        is_over.then(|| format!("closed: connected for {seconds} s, and others wait; connect again"))
    }

    /// Closes it, and says why where the other side can still be told.
    pub fn close(&mut self, why: String) {
        if self.answers.is_empty() {
            self.answer(&Reply::Refused(why));
        }
        self.ended = true;
    }

    /// Answers what has come whole.
    pub fn serve(&mut self, mut answer: impl FnMut(&[u8]) -> Reply) {
        self.send();
        let (mut requests, mut bytes) = (0, 0);
        // A client that does not take its answers gets no new ones.
        while self.answers.is_empty() && requests < MAX_REQUESTS && !self.ended {
            match self.received[self.searched..].iter().position(|b| *b == b'\n') {
                Some(end) => {
                    let line: Vec<u8> = self.received.drain(..=self.searched + end).collect();
                    self.searched = 0;
                    self.answer(&answer(&line));
                    requests += 1;
                }
                None => {
                    self.searched = self.received.len();
                    match self.receive() {
                        0 => return,
                        count => bytes += count,
                    }
                    if bytes >= MAX_BYTES {
                        return;
                    }
                }
            }
        }
    }

    fn answer(&mut self, reply: &Reply) {
        self.answers.extend_from_slice(serde_json::to_string(reply).unwrap_or_default().as_bytes());
        self.answers.push(b'\n');
        self.send();
    }

    /// How many bytes came.
    fn receive(&mut self) -> usize {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                self.ended = self.received.len() as u64 > MAX_LINE;
                return count;
            }
            Err(e) => self.ended = e.kind() != io::ErrorKind::WouldBlock,
        }
        0
    }

    fn send(&mut self) {
        if self.answers.is_empty() {
            return;
        }
        let mut sent = 0;
        while sent < self.answers.len() {
            match self.stream.write(&self.answers[sent..]) {
                Ok(count) => sent += count,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.ended = true;
                    return;
                }
            }
        }
        self.answers.drain(..sent);
        if self.answers.is_empty() {
            self.served = Instant::now();
        }
    }
}
