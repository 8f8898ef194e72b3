//! Maps of a running NIC over its socket.

use super::*;
use crate::maps::MapAccess;
use crate::maps::socket::Socket;
use sluice_device::run_load::run_load;
use sluice_ebpf::map::update_flags;
use sluice_ebpf::{Errno, tenant};
use sluice_formats::{Target, target};
use sluice_nic::SoftwareNic;
use sluice_object::{Destination, Linker, TenantSpec, VlanGrant};
use std::io::{Read, Write};
use std::thread;

/// Times of the server in these tests.
const SHORT: Duration = Duration::from_millis(200);
const TURN: Duration = Duration::from_secs(1);
/// What nothing here takes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A NIC, with the modules and names of its tenants.
type Served = (SoftwareNic, Vec<(u8, String)>);

/// A NIC whose tenant `red` runs the shipped program that counts and drops.
fn nic() -> Served {
    nic_with("programs/xdp/drop/drop.o", &tenant::Options::default())
}

/// A NIC whose tenant `red` runs a program.
fn nic_with(program: &str, options: &tenant::Options) -> Served {
    let target: &'static Target = &target::DEFAULT;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(program);
    let object = tenant::read("red", &fs::read(path).unwrap(), options).unwrap();
    let (mut nic, mut linker) = (SoftwareNic::new(*target), Linker::new(target));
    let spec = TenantSpec {
        vlans: vec![VlanGrant { port: None, vlan: 7 }],
        queues: [(Destination::Port(0), 160), (Destination::Host(0), 160)].into(),
        ..TenantSpec::new(3, "red".to_owned())
    };
    for load in [linker.admit(spec).unwrap(), linker.load(3, &object).unwrap()] {
        run_load(&mut nic, &load, &mut Vec::new()).unwrap();
    }
    let tenants = linker.tenants().map(|t| (t.module, t.spec.name.clone())).collect();
    (nic, tenants)
}

/// Serves while `client` runs; what it returned.
fn served<T: Send + 'static>(client: impl FnOnce(&Path) -> T + Send + 'static) -> T {
    served_by(nic(), |_| {}, client)
}

/// The same by a NIC to which something happens in each round.
fn served_by<T: Send + 'static>(
    (mut nic, tenants): Served,
    mut round: impl FnMut(&mut SoftwareNic),
    client: impl FnOnce(&Path) -> T + Send + 'static,
) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nic.sock");
    let mut server = MapServer::open(&path, tenants).unwrap();
    server.kept = Patience { idle: SHORT, turn: TURN };
    let there = path.clone();
    let client = thread::spawn(move || client(&there));
    while !client.is_finished() {
        server.serve(&mut nic);
        round(&mut nic);
        thread::sleep(Duration::from_micros(200));
    }
    drop(server);
    assert!(!path.exists(), "the socket file goes with the server");
    client.join().unwrap()
}

#[test]
fn maps_are_listed_read_and_changed_while_the_nic_runs() {
    served(|path| {
        let mut socket = Socket::open(path, PATIENCE).unwrap();
        let maps = socket.list().unwrap();
        assert_eq!(
            maps.iter().map(|m| (m.tenant.as_str(), m.spec.name.as_str())).collect::<Vec<_>>(),
            [("red", "protocols")]
        );
        let cpus = socket.cpus().unwrap() as usize;
        let (map, key, value) = (&maps[0], 6u32.to_le_bytes(), vec![5; 16 * cpus]);
        assert_eq!(socket.update(map, &key, &value, update_flags::ANY).unwrap(), Ok(()));
        assert_eq!(socket.lookup(map, &key).unwrap(), Ok(value.clone()));
        assert_eq!(socket.delete(map, &key).unwrap(), Err(Errno::INVAL));
        assert_eq!(socket.update(map, &key, &value, update_flags::NOEXIST).unwrap(), Err(Errno::EXIST));
        assert_eq!(socket.lookup(map, &999u32.to_le_bytes()).unwrap(), Err(Errno::NOENT));
        let entries = socket.dump(map).unwrap();
        assert_eq!((entries.len(), &entries[6]), (259, &(key.to_vec(), value)));
    });
}

#[test]
fn requests_that_are_none_are_refused_and_the_next_one_is_served() {
    let answers = served(|path| {
        use std::io::{BufRead, BufReader};
        let mut stream = UnixStream::connect(path).unwrap();
        let requests = [
            "nonsense",
            r#"{"op":"lookup","tenant":"blue","id":0,"key":"00"}"#,
            r#"{"op":"lookup","tenant":"red","id":0,"key":"0g"}"#,
            r#"{"op":"lookup","tenant":"red","id":77,"key":"00000000"}"#,
            r#"{"op":"explode"}"#,
            r#"{"op":"list"}"#,
        ];
        stream.write_all((requests.join("\n") + "\n").as_bytes()).unwrap();
        let lines = BufReader::new(stream).lines().take(requests.len()).map(Result::unwrap);
        lines.collect::<Vec<String>>()
    });
    for (answer, part) in answers.iter().zip(["the request is none", "no tenant `blue`", "pairs of hex digits"]) {
        assert!(answer.starts_with("{\"refused\"") && answer.contains(part), "{answer}");
    }
    assert!(answers[3].starts_with("{\"errno\"") || answers[3].starts_with("{\"refused\""), "{}", answers[3]);
    assert!(answers[4].contains("unknown variant"), "{}", answers[4]);
    assert!(answers[5].starts_with("{\"maps\""), "{}", answers[5]);
}

#[test]
fn a_socket_that_somebody_listens_on_is_not_taken_and_a_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nic.sock");
    let first = MapServer::open(&path, Vec::new()).unwrap();
    assert!(MapServer::open(&path, Vec::new()).is_err());
    drop(first);
    // What a run that was killed leaves behind.
    drop(UnixListener::bind(&path).unwrap());
    drop(MapServer::open(&path, Vec::new()).unwrap());
    fs::write(&path, "a file").unwrap();
    assert!(MapServer::open(&path, Vec::new()).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"a file");
}

/// Connections that only stand there, as many as the server serves at once.
fn idle(path: &Path) -> Vec<UnixStream> {
    (0..MAX_CLIENTS).map(|_| UnixStream::connect(path).unwrap()).collect()
}

/// Asks for the maps; what came, if anything did within `patience`.
fn asked(stream: &UnixStream, patience: Duration) -> io::Result<String> {
    stream.set_read_timeout(Some(patience))?;
    (&mut &*stream).write_all(b"{\"op\":\"list\"}\n")?;
    let mut line = String::new();
    io::BufRead::read_line(&mut io::BufReader::new(stream), &mut line)?;
    Ok(line)
}

#[test]
fn idle_connections_give_way_the_oldest_first_and_only_when_somebody_waits() {
    served(|path| {
        let old = idle(path);
        // Nobody waits: no place is taken away.
        thread::sleep(3 * SHORT);
        assert!(asked(&old[15], PATIENCE).unwrap().starts_with("{\"maps\""));
        let new = UnixStream::connect(path).unwrap();
        assert!(asked(&new, PATIENCE).unwrap().starts_with("{\"maps\""));
        let mut told = String::new();
        (&old[0]).read_to_string(&mut told).unwrap();
        assert!(told.starts_with("{\"refused\"") && told.contains("others wait"), "{told}");
        assert!(asked(&old[1], PATIENCE).unwrap().starts_with("{\"maps\""), "the others keep theirs");
    });
}

#[test]
fn requests_that_never_end_hold_no_place_however_many_bytes_come() {
    served(|path| {
        let slow = idle(path);
        let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (ended, begun) = (over.clone(), Instant::now());
        let feed = thread::spawn(move || {
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                // A connection that was closed takes none.
                slow.iter().for_each(|stream| drop((&mut &*stream).write(b" ")));
                thread::sleep(SHORT / 10);
            }
        });
        thread::sleep(SHORT / 2);
        let answers: Vec<_> =
            (0..3).map(|_| UnixStream::connect(path).and_then(|stream| asked(&stream, PATIENCE))).collect();
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        feed.join().unwrap();
        for answer in answers {
            assert!(answer.unwrap().starts_with("{\"maps\""));
        }
        assert!(begun.elapsed() < PATIENCE);
    });
}

#[test]
fn clients_that_ask_again_and_again_hold_no_place_for_ever() {
    served(|path| {
        let busy = idle(path);
        let new = UnixStream::connect(path).unwrap();
        new.set_nonblocking(true).unwrap();
        (&new).write_all(b"{\"op\":\"list\"}\n").unwrap();
        let (begun, mut byte) = (Instant::now(), [0]);
        while (&new).read(&mut byte).is_err() {
            assert!(begun.elapsed() < PATIENCE, "nobody gave way");
            let served =
                busy.iter().filter(|stream| asked(stream, PATIENCE).is_ok_and(|line| line.starts_with("{\"maps")));
            assert!(served.count() >= MAX_CLIENTS - 1, "one gives way to one");
        }
    });
}

#[test]
fn a_client_that_takes_no_answers_holds_no_place() {
    served(|path| {
        let mut greedy = idle(path);
        for stream in &mut greedy {
            stream.set_nonblocking(true).unwrap();
            let requests = "{\"op\":\"dump\",\"tenant\":\"red\",\"id\":0}\n".repeat(1000);
            // As many as fit: answers of many times their length fill the way back.
            let _ = stream.write(requests.as_bytes());
        }
        let new = UnixStream::connect(path).unwrap();
        assert!(asked(&new, PATIENCE).unwrap().starts_with("{\"maps\""));
    });
}

#[test]
fn a_client_that_says_nothing_gives_its_place_to_one_that_asks() {
    // One place is taken by a client in the middle of a request, one byte now and then: it holds it no longer.
    let maps = served(|path| {
        let silent: Vec<UnixStream> = (0..MAX_CLIENTS).map(|_| UnixStream::connect(path).unwrap()).collect();
        let mut slow = &silent[3];
        let _ = slow.write_all(b"{");
        let maps = Socket::open(path, PATIENCE).and_then(|mut socket| socket.list());
        drop(silent);
        maps
    });
    assert!(maps.is_ok_and(|maps| !maps.is_empty()));
}

#[test]
fn a_socket_that_never_answers_is_told_after_the_time_that_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deaf.sock");
    let _deaf = UnixListener::bind(&path).unwrap();
    let start = Instant::now();
    let error = Socket::open(&path, Duration::from_secs(1)).and_then(|mut socket| socket.list()).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(error.to_string().contains("no answer within 1 s"), "{error}");
}

const FLOWS: &str = "crates/nic/scripts/xdp/verdicts.o";

/// A NIC with so many entries in the map `flows`, whose keys are their numbers.
fn with_flows(count: u32) -> (Served, u8, MapId) {
    let options = tenant::Options { max_entries: vec![("flows".to_owned(), 1 << 20)], ..tenant::Options::default() };
    let (mut nic, tenants) = nic_with(FLOWS, &options);
    let module = tenants[0].0;
    let maps = nic.maps().unwrap();
    let id = maps.list(module).unwrap().iter().find(|m| m.declared.name == "flows").unwrap().id;
    for key in 0..count {
        maps.update(module, id, &key.to_le_bytes(), &u64::from(key).to_le_bytes(), 0).unwrap();
    }
    ((nic, tenants), module, id)
}

fn flows(socket: &mut Socket) -> MapInfo {
    socket.list().unwrap().into_iter().find(|m| m.spec.name == "flows").unwrap()
}

#[test]
fn a_map_of_any_size_is_dumped_in_answers_of_bounded_length() {
    use std::io::{BufRead, BufReader};
    // In one answer these would be more than the longest line that a client takes.
    const COUNT: u32 = 600_000;
    let (nic, _, id) = with_flows(COUNT);
    let (entries, line) = served_by(
        nic,
        |_| {},
        move |path| {
            let mut socket = Socket::open(path, PATIENCE).unwrap();
            let map = flows(&mut socket);
            let entries = socket.dump(&map).unwrap_or_else(|e| panic!("{e}"));
            let mut stream = UnixStream::connect(path).unwrap();
            writeln!(stream, r#"{{"op":"dump","tenant":"red","id":{}}}"#, id.0).unwrap();
            (entries, BufReader::new(stream).lines().next().unwrap().unwrap())
        },
    );
    assert!(line.len() < 1 << 20, "{} bytes", line.len());
    let mut keys: Vec<u32> = Vec::new();
    for (key, value) in entries {
        let key = u32::from_le_bytes(key.try_into().unwrap());
        assert_eq!(value, u64::from(key).to_le_bytes());
        keys.push(key);
    }
    keys.sort_unstable();
    assert!(keys.into_iter().eq(0..COUNT));
}

#[test]
fn what_stays_in_a_map_is_dumped_once_while_other_entries_come_and_go() {
    const COUNT: u32 = 30_000;
    let (nic, module, id) = with_flows(COUNT);
    // Even keys go and come again, so that an answer's last key may have gone; the table grows meanwhile.
    let mut round = 0;
    let churn = move |nic: &mut SoftwareNic| {
        let maps = nic.maps().unwrap();
        for key in (0..COUNT).step_by(2) {
            let done = match round % 2 {
                0 => maps.delete(module, id, &key.to_le_bytes()),
                _ => maps.update(module, id, &key.to_le_bytes(), &[0; 8], 0),
            };
            done.unwrap();
        }
        let new = (0..1000).map(|key| COUNT + round * 1000 + key).filter(|key| *key < 1 << 20);
        new.for_each(|key| maps.update(module, id, &key.to_le_bytes(), &[0; 8], 0).unwrap());
        round += 1;
    };
    let dumps = served_by(nic, churn, |path| {
        let mut socket = Socket::open(path, PATIENCE).unwrap();
        let map = flows(&mut socket);
        (0..4).map(|_| socket.dump(&map).unwrap_or_else(|e| panic!("{e}"))).collect::<Vec<_>>()
    });
    for entries in dumps {
        let mut keys: Vec<u32> =
            entries.iter().map(|(key, _)| u32::from_le_bytes(key[..].try_into().unwrap())).collect();
        keys.sort_unstable();
        assert!(keys.windows(2).all(|two| two[0] < two[1]), "an entry came twice");
        assert_eq!(keys.iter().filter(|key| **key < COUNT && *key % 2 == 1).count() as u32, COUNT / 2);
    }
}

#[test]
fn every_map_of_a_program_is_dumped_a_ring_buffer_too() {
    let (nic, ..) = with_flows(3);
    let found = served_by(
        nic,
        |_| {},
        |path| {
            let mut socket = Socket::open(path, PATIENCE).unwrap();
            let maps = socket.list().unwrap();
            let mut count =
                |map: &MapInfo| (map.spec.name.clone(), socket.dump(map).unwrap_or_else(|e| panic!("{e}")).len());
            maps.iter().map(&mut count).collect::<Vec<_>>()
        },
    );
    for expected in [("flows", 3), ("records", 0), ("perf", 0)] {
        assert!(found.contains(&(expected.0.to_owned(), expected.1)), "{expected:?} in {found:?}");
    }
}
