//! `sluice map --socket` against whatever may listen there: it ends in time, and says which socket and what to do.

use crate::common::{Called, Folder};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Calls `sluice map` with a time of one second; it is to end soon after.
fn called(folder: &Folder) -> Called {
    let begun = Instant::now();
    let called = folder.sluice(&["map", "--socket", "nic.sock", "--timeout", "1", "list"]);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(called.code, 2, "{}", called.err);
    for word in ["error[E0492]", "nic.sock"] {
        assert!(called.err.contains(word), "{word}: {}", called.err);
    }
    called
}

/// Takes one connection and does this with it.
fn listens(path: &Path, then: impl FnOnce(UnixStream) + Send + 'static) {
    let listener = UnixListener::bind(path).unwrap();
    thread::spawn(move || then(listener.accept().unwrap().0));
}

#[test]
fn a_nic_that_does_not_answer_is_given_up() {
    let folder = Folder::new();
    listens(&folder.path("nic.sock"), |_stream| thread::sleep(Duration::from_secs(30)));
    let err = called(&folder).err;
    assert!(err.contains("no answer within 1 s") && err.contains("--timeout SECONDS"), "{err}");
}

#[test]
fn bytes_that_come_one_by_one_do_not_prolong_the_time() {
    let folder = Folder::new();
    listens(&folder.path("nic.sock"), |mut stream| {
        while stream.write_all(b"{").is_ok() {
            thread::sleep(Duration::from_millis(30));
        }
    });
    assert!(called(&folder).err.contains("no answer within 1 s"));
}

#[test]
fn a_listener_that_takes_no_connection_is_given_up() {
    let folder = Folder::new();
    let path = folder.path("nic.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    // Fills its queue: the one that finds no room waits, the others stay.
    let (sender, connections) = std::sync::mpsc::channel();
    thread::spawn(move || while UnixStream::connect(&path).is_ok_and(|stream| sender.send(stream).is_ok()) {});
    let mut held = Vec::new();
    while let Ok(stream) = connections.recv_timeout(Duration::from_millis(500)) {
        held.push(stream);
    }
    let err = called(&folder).err;
    assert!(err.contains("no connection within 1 s") && err.contains("--timeout SECONDS"), "{err}");
}

#[test]
fn a_connection_that_is_closed_before_its_answer_is_called_so() {
    let folder = Folder::new();
    listens(&folder.path("nic.sock"), |mut stream| drop(stream.read(&mut [0; 4096])));
    assert!(called(&folder).err.contains("closed the connection"));
}

#[test]
fn a_time_is_of_a_socket_and_at_least_a_second() {
    let folder = Folder::new();
    let saved = ["xdp", "run", "programs/xdp/drop/drop.o", "--in", "programs/xdp/mixed.pcap", "--state", "maps.json"];
    folder.sluice(&saved).ok();
    let called = folder.sluice(&["map", "--state", "maps.json", "--timeout", "3", "list"]);
    assert!(called.code == 2 && called.err.contains("E0490") && called.err.contains("--timeout"), "{}", called.err);
    for time in ["0", "-1", "soon", "3601"] {
        let called = folder.sluice(&["map", "--socket", "nic.sock", &format!("--timeout={time}"), "list"]);
        assert!(called.code == 2 && called.err.contains("--timeout"), "{}", called.err);
    }
}
