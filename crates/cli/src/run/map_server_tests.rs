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

/// A NIC whose tenant `red` runs the shipped program that counts and drops.
fn nic() -> (SoftwareNic, Vec<(u8, String)>) {
    let target: &'static Target = &target::DEFAULT;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp/drop/drop.o");
    let object = tenant::read("drop", &fs::read(path).unwrap(), &tenant::Options::default()).unwrap();
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nic.sock");
    let (mut nic, tenants) = nic();
    let mut server = MapServer::open(&path, tenants).unwrap();
    server.kept = Patience { idle: SHORT, turn: TURN };
    let there = path.clone();
    let client = thread::spawn(move || client(&there));
    while !client.is_finished() {
        server.serve(&mut nic);
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
