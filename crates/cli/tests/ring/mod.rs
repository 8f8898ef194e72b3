//! The driver as a program of its own, and the NIC with its packets at the other end of its lines.

use super::common::{Folder, root};
use sluice_formats::{Message, Node, Op, Status, Table};
use sluice_rtlsim::plugin::boundary::{Instance, Until};
use sluice_rtlsim::plugin::event::{What, decode};
use sluice_rtlsim::{Plugin, Variant, top};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

const NIC: &str = r#"
[device]
target = "tiny"

[[tenant]]
name = "red"
id = 1
vlans = [10]
max_entries = 4
queues = { port2 = 100, port3 = 100 }

[[tenant]]
name = "blue"
id = 2
vlans = [20]
max_entries = 4
object = "blue.json"
queues = { host0 = 100 }
"#;

/// Cycles that pass at each pause of the driver.
const PIECE: u64 = 64;
const RED: u8 = 0;
const BLUE: u8 = 1;

fn table(name: &str, to: &str) -> String {
    format!(
        r#"{{"sluice_object": 7, "name": "{name}", "target": {{"name": "any"}}, "key": {{"kind": "dmac", "fields": ["dmac"]}},
        "default": {{"to": ["{to}"]}}, "entries": [{{"match": {{"dmac": "02:00:00:00:00:01"}}, "action": {{"to": ["{to}"]}}}}],
        "demands": {{"entries": 1, "queues": {{"{to}": 50}}}}, "symbols": [], "survives": {{"table": false, "counters": true}}}}"#
    )
}

/// What goes wrong between driver and NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Every fifth answer says `bad_address`, and its checksum does not fit.
    WrongAnswers,
    /// Every seventh request does not arrive.
    LostRequests,
    /// The first three times that a generation is committed the NIC is busy and does nothing.
    BusyCommits,
    /// The first three looks at a generation see packets in flight, and until then no row is written.
    InFlight,
    /// It says that it is of another target.
    OtherNic,
}

/// The compiled driver in a folder of its own.
pub struct Driver(Folder);

/// What came of it.
pub struct Run {
    pub exit: Option<i32>,
    pub said: String,
    /// Faults that were planted.
    pub faults: u32,
    /// Write requests that reached the NIC.
    pub writes: u32,
    /// Packets that arrived while a module was loaded and replaced.
    pub during_changes: u64,
    /// A rule that the driver broke.
    broken: Option<String>,
    counted: Option<u64>,
    /// Packets offered by port, and those that left by destination, as their numbers.
    offered: [u64; 2],
    left: BTreeMap<u8, Vec<u64>>,
}

impl Driver {
    /// The driver, changed where asked, with the words that `sluice object ring` prints.
    pub fn compiled(changes: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        folder.write("nic.toml", NIC);
        folder.write("blue.json", table("blue", "host0"));
        folder.write("first.json", table("first", "port2"));
        folder.write("second.json", table("second", "port3"));
        let replace = ["--replace", "red=first.json", "--replace", "red=second.json", "--c"];
        let words = folder.sluice(&[&["object", "ring", "--config", "nic.toml"], &replace[..]].concat()).ok();
        folder.write("ring_words.h", words);
        let source = root().join("integration/driver");
        let mut driver = std::fs::read_to_string(source.join("sluice_ring.c")).unwrap();
        for (part, instead) in changes {
            assert_eq!(driver.matches(part).count(), 1, "`{part}` is in the driver once");
            driver = driver.replace(part, instead);
        }
        folder.write("sluice_ring.c", driver);
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let output = Command::new(compiler)
            .args(["-std=c99", "-pedantic", "-O1", "-Wall", "-Wextra", "-Wconversion"])
            .args(if changes.is_empty() { &["-Werror"][..] } else { &[] })
            .arg("-I")
            .arg(&source)
            .args(["-I", ".", "-o", "driver", "sluice_ring.c"])
            .arg(source.join("example.c"))
            .current_dir(folder.path("."))
            .output()
            .expect("a C compiler (CC, or cc)");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self(folder)
    }

    /// Runs it against a NIC after its reset; none where there is no plug-in.
    pub fn play(&self, fault: Fault) -> Option<Run> {
        let mut bench = Bench::open(fault)?;
        let mut child = Command::new(self.0.path("driver"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        for line in output.lines() {
            let answer = bench.hear(&line.unwrap());
            // A driver that has ended reads no more.
            if answer.is_some_and(|a| input.write_all(a.as_bytes()).is_err()) {
                break;
            }
        }
        bench.finish();
        let mut run = bench.run;
        child.stderr.take().unwrap().read_to_string(&mut run.said).unwrap();
        run.exit = child.wait().unwrap().code();
        Some(run)
    }
}

/// The NIC, its packets, and the ring in between.
struct Bench {
    nic: Instance,
    fault: Fault,
    run: Run,
    request: Vec<u32>,
    requests: u32,
    answers: u32,
    /// Faults left for the commit or the wait that is under way.
    left: u32,
    traffic: bool,
    to_driver: String,
}

impl Bench {
    fn open(fault: Fault) -> Option<Self> {
        let plugin = match Plugin::find(&top::NIC, "tiny", Variant::Test) {
            Ok(plugin) => plugin,
            Err(error) => {
                assert!(std::env::var_os("SLUICE_REQUIRE_PLUGINS").is_none(), "SLUICE_REQUIRE_PLUGINS is set: {error}");
                println!("skipped: {error}");
                return None;
            }
        };
        let run = Run {
            exit: None,
            said: String::new(),
            faults: 0,
            writes: 0,
            during_changes: 0,
            broken: None,
            counted: None,
            offered: [0; 2],
            left: BTreeMap::new(),
        };
        let nic = plugin.open(7).unwrap();
        let (request, to_driver) = (Vec::new(), String::new());
        Some(Self { nic, fault, run, request, requests: 0, answers: 0, left: 3, traffic: false, to_driver })
    }

    /// A line of the driver, and the line that it waits for.
    fn hear(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["w", word, last] => {
                self.request.push(u32::from_str_radix(word, 16).unwrap());
                if last == "1" {
                    self.request_ends();
                }
            }
            ["p"] => {
                self.advance();
                return Some(std::mem::take(&mut self.to_driver) + "\n");
            }
            ["done", "bring_up"] => self.traffic = true,
            ["done", "change_2"] => {
                self.run.during_changes = self.run.offered.iter().sum();
                (0..20).for_each(|_| self.advance());
                self.traffic = false;
                // The counter is read when all of them have arrived.
                (0..20).for_each(|_| self.advance());
            }
            ["done", _] => {}
            ["packets", n] => self.run.counted = n.parse().ok(),
            _ => panic!("the driver says `{line}`"),
        }
        None
    }

    fn request_ends(&mut self) {
        let words = std::mem::take(&mut self.request);
        self.requests += 1;
        let message = Message::decode(&words).expect("a driver sends whole messages");
        let generation = message.node == Node::Stamp.number() && message.table == Table::Generation.number();
        let fault = self.fault;
        match fault {
            Fault::LostRequests if self.requests.is_multiple_of(7) => return self.run.faults += 1,
            Fault::BusyCommits if generation && message.op == Op::Write && message.index == 1 && self.planted() => {
                return self.answer(&message, Op::WriteReply, Status::Busy, vec![]);
            }
            Fault::InFlight if generation && message.op == Op::Read && self.planted() => {
                return self.answer(&message, Op::ReadReply, Status::Ok, vec![0x1fffe]);
            }
            Fault::InFlight if self.left < 3 => self.run.broken = Some("it did not wait".to_owned()),
            Fault::OtherNic if message.op == Op::Read && message.index == 1 => {
                return self.answer(&message, Op::ReadReply, Status::Ok, vec![0x1234_5678, 0]);
            }
            _ => {}
        }
        self.run.writes += u32::from(message.op == Op::Write);
        self.nic.send(&words, true);
    }

    /// Three times yes, then no, and from the start again.
    fn planted(&mut self) -> bool {
        let more = self.left > 0;
        (self.left, self.run.faults) = if more { (self.left - 1, self.run.faults + 1) } else { (3, self.run.faults) };
        more
    }

    fn answer(&mut self, request: &Message, op: Op, status: Status, data: Vec<u32>) {
        let words = Message { op, status, data, ..request.clone() }.encode();
        self.tell(&words);
    }

    fn tell(&mut self, words: &[u32]) {
        for (i, word) in words.iter().enumerate() {
            self.to_driver += &format!("{word:08x}:{} ", u8::from(i + 1 == words.len()));
        }
    }

    fn advance(&mut self) {
        if self.traffic {
            let frames: Vec<_> = (0..8).map(|i| self.frame(if i % 2 == 0 { RED } else { BLUE })).collect();
            self.nic.offer(&frames).unwrap();
        }
        self.nic.run(&Until { max_cycles: PIECE, ..Until::default() }).unwrap();
        let mut events = Vec::new();
        decode(&top::NIC, self.nic.take_events(), |event| events.push(event.what)).unwrap();
        for what in events {
            match what {
                What::Reply(mut words) => {
                    self.answers += 1;
                    if self.fault == Fault::WrongAnswers && self.answers.is_multiple_of(5) {
                        self.run.faults += 1;
                        words[0] |= (Status::BadAddress as u32) << 24;
                    }
                    self.tell(&words);
                }
                What::Left { destination, bytes, .. } => {
                    // A port's frame has its tag again, a host's has none.
                    let at = if destination == 4 { 14 } else { 18 };
                    let number = u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
                    self.run.left.entry(destination).or_default().push(number);
                }
                _ => {}
            }
        }
    }

    /// A frame of 64 bytes with its number, red's on port 0, blue's on port 1.
    fn frame(&mut self, tenant: u8) -> sluice_device::Offer {
        let number = &mut self.run.offered[usize::from(tenant)];
        let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 10 * (tenant + 1), 0x88, 0xb5];
        bytes.extend(number.to_be_bytes());
        bytes.resize(64, 0);
        *number += 1;
        sluice_device::Offer { port: tenant, bytes, at: 0, bad: false }
    }

    fn finish(&mut self) {
        self.traffic = false;
        (0..100).for_each(|_| self.advance());
    }
}

impl Run {
    pub fn ended_well(&self) -> Result<(), String> {
        if let Some(what) = &self.broken {
            return Err(what.clone());
        }
        if self.exit != Some(0) {
            return Err(format!("the driver ended with {:?}", self.exit));
        }
        let (found, allowed) = (self.counted, Some(self.offered[usize::from(RED)]));
        if found == allowed { Ok(()) } else { Err(format!("it counted {found:?} packets, {allowed:?} came")) }
    }

    fn at(&self, destination: u8) -> &[u64] {
        self.left.get(&destination).map_or(&[], Vec::as_slice)
    }

    pub fn blue_lost_nothing(&self) -> Result<(), String> {
        let all: Vec<u64> = (0..self.offered[usize::from(BLUE)]).collect();
        if self.at(4) == all { Ok(()) } else { Err(format!("blue: {} of {} came out", self.at(4).len(), all.len())) }
    }

    /// Red's packets before its first program are dropped; after that each leaves, first by port 2, then by port 3.
    pub fn red_is_of_one_program_then_of_the_other(&self) -> Result<(), String> {
        let (first, second) = (self.at(2), self.at(3));
        let (Some(from), false) = (first.first(), second.is_empty()) else {
            return Err(format!("red: {} by port 2, {} by port 3", first.len(), second.len()));
        };
        let all: Vec<u64> = (*from..self.offered[usize::from(RED)]).collect();
        if *from > 0 && [first, second].concat() == all { Ok(()) } else { Err("red: packets are missing".to_owned()) }
    }
}
