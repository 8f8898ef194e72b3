//! A signal ends a run in order: outputs are whole, the table is printed, the exit code is 128 and the signal's number.

use crate::common::{Folder, root};
use sluice_packet::capture::{CaptureWriter, Format, read_all};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUN: [&str; 7] = ["run", "--config", "programs/nic/nic.toml", "--in", "port0=-", "--out", "port1=out.pcapng"];
const XDP: [&str; 6] = ["xdp", "run", "programs/xdp/swap/swap.o", "--in", "-", "--out=out.pcapng"];
const RMT: [&str; 5] = ["rmt", "run", "programs/rmt/l3_router.rmt", "--in", "-"];

fn sluice(folder: &Folder, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(arguments)
        .env("SLUICE_PLUGIN_DIR", root().join("build/plugins"))
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap().success());
}

/// Output, messages and exit code; fails when the child does not end.
fn end_of(child: Child) -> (String, String, Option<i32>) {
    let (out, err, code) = end_of_bytes(child, false);
    (String::from_utf8(out).unwrap(), err, code)
}

/// The same, of an output that is read to its end first when `is_read`, otherwise only when the child has ended.
fn end_of_bytes(mut child: Child, is_read: bool) -> (Vec<u8>, String, Option<i32>) {
    let (mut out, mut stream) = (Vec::new(), child.stdout.take().unwrap());
    if is_read {
        stream.read_to_end(&mut out).unwrap();
    }
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it did not end within 20 s");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    stream.read_to_end(&mut out).unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (out, err, child.wait().unwrap().code())
}

/// A part of the shipped capture, as pcap.
fn some_packets(count: usize) -> Vec<u8> {
    let mut writer = CaptureWriter::new("pipe", Vec::new(), Format::Pcap, &["port0"]).unwrap();
    for mut packet in read_all(&root().join("programs/nic/mixed.pcapng")).unwrap().into_iter().take(count) {
        packet.interface = 0;
        writer.write(&packet).unwrap();
    }
    writer.into_inner().unwrap()
}

/// Waits until the child has read what was written: until its thread waits in a read again.
fn let_it_read() {
    std::thread::sleep(Duration::from_millis(700));
}

#[test]
fn a_read_that_waits_ends_with_each_signal_and_what_came_is_played_and_written() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // What the table of each says of 300 packets; 289 are of VLANs that no module has.
        for (arguments, shown) in [(&RUN[..], "300"), (&XDP, "300"), (&RMT, "289")] {
            let folder = Folder::new();
            let mut child = sluice(&folder, arguments);
            let mut stdin = child.stdin.take().unwrap();
            // The last packet is cut off in its middle.
            let bytes = some_packets(301);
            stdin.write_all(&bytes[..bytes.len() - 7]).unwrap();
            stdin.flush().unwrap();
            let_it_read();
            assert!(child.try_wait().unwrap().is_none(), "{arguments:?} ended by itself");
            signal(&child, name);
            let (out, err, ended) = end_of(child);
            assert_eq!(ended, Some(code), "{name} {arguments:?}: {out}{err}");
            assert!(err.contains("ending"), "{name} {arguments:?}: {err}");
            assert!(out.contains(shown), "{name} {arguments:?}: 300 packets are in no table:\n{out}");
            if arguments.iter().any(|word| word.contains("out.pcapng")) {
                assert!(!read_all(&folder.path("out.pcapng")).unwrap().is_empty(), "{name} {arguments:?}");
            }
            drop(stdin);
        }
    }
}

#[test]
fn a_second_signal_within_a_second_does_not_lose_the_report() {
    let folder = Folder::new();
    let mut child = sluice(&folder, &RUN);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&some_packets(200)).unwrap();
    stdin.flush().unwrap();
    let_it_read();
    for _ in 0..3 {
        signal(&child, "TERM");
    }
    let (out, err, code) = end_of(child);
    assert_eq!(code, Some(143), "{out}{err}");
    assert!(out.contains("interrupted") && out.contains("accounting: closed"), "{out}{err}");
    drop(stdin);
}

#[test]
fn a_fifo_that_nobody_writes_to_is_left() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    for arguments in [
        &["run", "--config", "programs/nic/nic.toml", "--in", "port0=pipe"][..],
        &["xdp", "run", "programs/xdp/swap/swap.o", "--in", "pipe"],
        &["rmt", "run", "programs/rmt/l3_router.rmt", "--in", "pipe"],
    ] {
        let child = sluice(&folder, arguments);
        let_it_read();
        signal(&child, "INT");
        let (out, err, code) = end_of(child);
        assert_eq!(code, Some(130), "{arguments:?}: {out}{err}");
    }
}

#[test]
fn a_signal_ends_each_wait_for_a_pipe_in_the_place_of_a_file() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    let capture = "programs/nic/mixed.pcapng";
    let xdp = ["xdp", "run", "programs/xdp/drop/drop.o", "--in", capture];
    folder.write(
        "nic.toml",
        "[device]\ntarget = \"default\"\n\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\nobject = \"pipe\"\n",
    );
    let calls: [Vec<&str>; 13] = [
        vec!["run", "--config", "pipe", "--in", capture],
        vec!["run", "--config", "nic.toml", "--in", capture],
        vec!["run", "--config", "programs/nic/nic.toml", "--in", capture, "--replace", "red=pipe@5"],
        vec!["xdp", "run", "pipe", "--in", capture],
        [&xdp[..], &["--map", "protocols=pipe"]].concat(),
        [&xdp[..], &["--routes", "pipe"]].concat(),
        vec!["xdp", "check", "pipe"],
        vec!["rmt", "check", "pipe"],
        vec!["rmt", "run", "pipe", "--in", capture],
        vec!["object", "show", "pipe"],
        vec!["map", "--state", "pipe", "list"],
        vec!["script", "pipe"],
        vec!["object", "ring", "--config", "pipe"],
    ];
    for arguments in calls {
        for (name, code) in [("INT", 130), ("TERM", 143)] {
            let mut child = sluice(&folder, &arguments);
            std::thread::sleep(Duration::from_millis(300));
            assert!(child.try_wait().unwrap().is_none(), "{arguments:?} ended by itself");
            let asked = Instant::now();
            signal(&child, name);
            let (out, err, ended) = end_of(child);
            assert_eq!(ended, Some(code), "{name} {arguments:?}: {out}{err}");
            assert!(asked.elapsed() < Duration::from_secs(2), "{name} {arguments:?}: {:?}", asked.elapsed());
        }
    }
}

#[test]
fn a_capture_that_goes_on_and_on_is_ended_at_a_packet() {
    let folder = Folder::new();
    let mut child = sluice(&folder, &RUN);
    let stdin = child.stdin.take().unwrap();
    let mut packets = read_all(&root().join("programs/nic/mixed.pcapng")).unwrap();
    let feeder = std::thread::spawn(move || {
        let mut writer = CaptureWriter::new("pipe", stdin, Format::Pcap, &["port0"]).unwrap();
        loop {
            for packet in &mut packets {
                packet.interface = 0;
                if writer.write(packet).is_err() {
                    return writer.packets();
                }
            }
        }
    });
    let_it_read();
    signal(&child, "INT");
    let (table, err, code) = end_of(child);
    assert_eq!(code, Some(130), "{err}");
    let fed = feeder.join().unwrap();
    assert!(table.contains("interrupted") && table.contains("accounting: closed"), "{table}");
    let total = table.lines().find(|l| l.starts_with("total")).unwrap();
    let offered: u64 = total.split_whitespace().nth(1).unwrap().replace(',', "").parse().unwrap();
    assert!(offered > 0 && offered <= fed + 1, "{offered} of {fed}");
    assert!(!read_all(&folder.path("out.pcapng")).unwrap().is_empty());
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let folder = Folder::new();
    let line = format!("trap '' HUP; exec {} {}", env!("CARGO_BIN_EXE_sluice"), RUN.join(" "));
    let mut child = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let_it_read();
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    stdin.write_all(&some_packets(50)).unwrap();
    drop(stdin);
    let (out, err, code) = end_of(child);
    assert_eq!(code, Some(0), "{out}{err}");
}

#[test]
fn a_capture_is_generated_into_a_pipe_and_played_from_it() {
    let folder = Folder::new();
    let line = "sluice generate --vlan 10,20 --packets 500 -o - \
                | sluice run --config programs/nic/nic.toml --in - --out port1=- > left.pcapng";
    let called = folder.shell(line);
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(called.err.contains("500 packets") && called.err.contains("accounting: closed"), "{}", called.err);
    assert!(!read_all(&folder.path("left.pcapng")).unwrap().is_empty());
    let twice = folder.sluice(&["run", "--config", "programs/nic/nic.toml", "--in", "port0=-", "--in", "port1=-"]);
    assert_eq!(twice.code, 2);
    assert!(twice.err.contains("- stands 2 times"), "{}", twice.err);
    let both = ["run", "--config", "programs/nic/nic.toml", "--in", "programs/nic/mixed.pcapng"];
    let called = folder.sluice(&[&both[..], &["--out", "port0=-", "--out", "port1=-"]].concat());
    assert!(called.code == 2 && called.err.contains("- stands 2 times"), "{}", called.err);
}

#[test]
fn several_captures_are_played_one_after_the_other() {
    let folder = Folder::new();
    let module = "programs/rmt/l3_router.rmt";
    let capture = "programs/nic/mixed.pcapng";
    let once = folder.sluice(&["rmt", "run", module, "--in", capture, "--json"]).ok();
    let twice = folder.sluice(&["rmt", "run", module, "--in", capture, "--in", capture, "--json"]).ok();
    let packets = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value["packets"].as_u64().unwrap()
    };
    assert_eq!(packets(&twice), 2 * packets(&once));
}

#[test]
fn a_file_that_cannot_be_opened_is_told_as_before() {
    let folder = Folder::new();
    let called = folder.sluice(&["rmt", "run", "programs/rmt/l3_router.rmt", "--in", "nowhere.pcap"]);
    assert!(called.code == 2 && called.err.contains("nowhere.pcap"), "{}", called.err);
    // A folder is no capture either.
    assert!(OpenOptions::new().read(true).open(Path::new(".")).is_ok());
    let called = folder.sluice(&["rmt", "run", "programs/rmt/l3_router.rmt", "--in", "programs"]);
    assert!(called.code == 2 && called.err.contains("programs"), "{}", called.err);
}

/// As when its window is closed: SIGHUP comes, and whatever is written to the terminal fails.
#[test]
fn a_terminal_that_hangs_up_takes_no_report_and_the_captures_are_whole() {
    if !Command::new("script").arg("--version").output().is_ok_and(|o| o.status.success()) {
        println!("skipped: needs the command `script`");
        return;
    }
    for arguments in [
        &["run", "--config", "programs/nic/nic.toml", "--in", "port0=pipe", "--out", "port1=out.pcapng"][..],
        &["xdp", "run", "programs/xdp/swap/swap.o", "--in", "pipe", "--out=out.pcapng"],
        &["rmt", "run", "programs/rmt/l3_router.rmt", "--in", "pipe"],
    ] {
        let folder = Folder::new();
        assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
        // As shells do, this one hands the signal on; it stays, to keep the code. The first `wait` ends with the trap.
        let call = format!("{} {}", env!("CARGO_BIN_EXE_sluice"), arguments.join(" "));
        let line = format!("trap 'kill -HUP $!' HUP; {call} & wait $!; wait $!; echo $? > code.new; mv code.new code");
        let mut terminal = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(folder.path(""))
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Open both ways and with less than a pipe holds, so that the test waits for nobody.
        let mut pipe = OpenOptions::new().read(true).write(true).open(folder.path("pipe")).unwrap();
        let packets = some_packets(100);
        assert!(packets.len() < 60_000, "{} bytes", packets.len());
        pipe.write_all(&packets).unwrap();
        let_it_read();
        terminal.kill().unwrap();
        terminal.wait().unwrap();
        let since = Instant::now();
        while !folder.path("code").exists() {
            assert!(since.elapsed() < Duration::from_secs(20), "{arguments:?} did not end within 20 s");
            std::thread::sleep(Duration::from_millis(10));
        }
        let code = std::fs::read_to_string(folder.path("code")).unwrap();
        assert_eq!(code.trim(), "129", "{arguments:?}");
        if arguments.iter().any(|word| word.contains("out.pcapng")) {
            assert!(!read_all(&folder.path("out.pcapng")).unwrap().is_empty(), "{arguments:?}");
        }
    }
}

#[test]
fn a_reader_that_the_same_signal_ends_does_not_make_an_ended_run_a_success() {
    let folder = Folder::new();
    let mut child = sluice(&folder, &RUN);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&some_packets(100)).unwrap();
    stdin.flush().unwrap();
    let_it_read();
    // As the other side of `sluice ... | tee`.
    drop(child.stdout.take());
    signal(&child, "INT");
    let since = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        assert!(since.elapsed() < Duration::from_secs(20), "it did not end within 20 s");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(code, Some(130));
    assert!(!read_all(&folder.path("out.pcapng")).unwrap().is_empty());
    drop(stdin);
}

#[test]
fn generating_is_a_stream_a_signal_ends_it_and_the_capture_is_valid() {
    let folder = Folder::new();
    let out = folder.path("long.pcapng");
    // Five gigabytes of packets: they fit neither into the memory allowed nor into the time of the test.
    let line = format!(
        "ulimit -v 400000; exec {} generate --vlan 10,20 --packets 10000000 -o long.pcapng",
        env!("CARGO_BIN_EXE_sluice")
    );
    let child = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while std::fs::metadata(&out).map_or(0, |m| m.len()) < 1_000_000 {
        assert!(since.elapsed() < Duration::from_secs(20), "nothing is written while it generates");
        std::thread::sleep(Duration::from_millis(10));
    }
    signal(&child, "TERM");
    let asked = Instant::now();
    let (text, errors, code) = end_of(child);
    assert_eq!(code, Some(143), "{errors}");
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    let packets = read_all(&out).unwrap().len();
    assert!(packets > 1_000 && text.contains(&format!("{packets} packets")), "{packets}: {text}");
}

/// With a shipped capture over and over: more than a pipe holds.
fn writers_to(output: &str) -> [Vec<String>; 3] {
    let many = |line: &str, often: usize| {
        let inputs = ["--in", "programs/nic/mixed.pcapng"].repeat(often);
        line.split(' ').chain(inputs).map(|word| word.replace("OUT", output)).collect()
    };
    [
        many("generate --vlan 10,20 --packets 10000000 -o OUT", 0),
        many("xdp run programs/xdp/swap/swap.o --out=OUT", 8),
        many("xdp run programs/xdp/swap/swap.o --packets=OUT", 8),
    ]
}

#[test]
fn a_signal_ends_a_write_that_nobody_reads_and_the_cut_is_told() {
    for arguments in writers_to("-") {
        let folder = Folder::new();
        let child = sluice(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let_it_read();
        signal(&child, "TERM");
        let asked = Instant::now();
        let text = arguments.join(" ");
        let (out, err, code) = end_of_bytes(child, false);
        assert!(asked.elapsed() < Duration::from_secs(10), "{text}: {:?}", asked.elapsed());
        assert!(out.len() > 4096, "{text}: {} bytes", out.len());
        // Lines are as a report, of which the exit code says that it was ended.
        let is_capture = !text.contains("--packets=-");
        assert_eq!(code, Some(if is_capture { 2 } else { 143 }), "{text}: {err}");
        assert_eq!(err.contains("E0150") && err.contains("for 3 s after the signal"), is_capture, "{text}: {err}");
    }
}

#[test]
fn a_signal_ends_the_wait_for_a_reader_of_a_pipe() {
    for arguments in writers_to("pipe.pcapng") {
        let folder = Folder::new();
        assert!(Command::new("mkfifo").arg(folder.path("pipe.pcapng")).status().unwrap().success());
        let child = sluice(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let_it_read();
        signal(&child, "TERM");
        let (_, err, code) = end_of(child);
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(err.contains("pipe.pcapng") && err.contains("nobody read it"), "{arguments:?}: {err}");
    }
}

#[test]
fn a_reader_that_is_slow_after_a_signal_gets_a_whole_capture() {
    let folder = Folder::new();
    let child = sluice(&folder, &["generate", "--vlan", "10", "--packets", "10000000", "-o", "-"]);
    let_it_read();
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(1_000));
    let (out, err, code) = end_of_bytes(child, true);
    assert_eq!(code, Some(130), "{err}");
    std::fs::write(folder.path("left.pcapng"), out).unwrap();
    let packets = read_all(&folder.path("left.pcapng")).unwrap().len();
    assert!(packets > 100 && err.contains(&format!("{packets} packets")), "{packets}: {err}");
}

/// Whether the simulation of the tiny NIC is there.
fn has_tiny() -> bool {
    let there = root().join("build/plugins/libsluice_rtl_tiny.so").exists();
    if !there {
        println!("skipped: the plug-in of the tiny NIC is not built");
    }
    there || std::env::var_os("SLUICE_REQUIRE_PLUGINS").is_some()
}

/// What a command says that a signal ends while it works; fails when that takes more than 3 s.
fn ended_at_work(folder: &Folder, arguments: &[&str]) -> (String, String) {
    let mut child = sluice(folder, arguments);
    drop(child.stdin.take());
    std::thread::sleep(Duration::from_millis(2_500));
    assert!(child.try_wait().unwrap().is_none(), "{arguments:?} ended by itself");
    let asked = Instant::now();
    signal(&child, "TERM");
    let (out, err, code) = end_of(child);
    assert!(asked.elapsed() < Duration::from_secs(3), "{arguments:?}: {:?}\n{out}{err}", asked.elapsed());
    assert_eq!(code, Some(143), "{arguments:?}: {out}{err}");
    (out, err)
}

#[test]
fn a_signal_ends_a_script_while_it_waits_and_says_in_which_line() {
    if !has_tiny() {
        return;
    }
    let folder = Folder::new();
    // A NIC with a packet that waits is not idle: all cycles are run.
    let wait = "block port 2\nsend 0 eth/vlan(vid=7)/arp\nwait 1000000000\nunblock port 2\n";
    folder.write("wait.pkt", format!("tenant red id=1 vlan=7\ntable red key=dmac default=port 2\n{wait}"));
    let run = ["script", "wait.pkt", "--target", "tiny", "--device"];
    let (out, _) = ended_at_work(&folder, &[&run[..], &["both"]].concat());
    assert!(out.contains("wait.pkt: ended by a signal in line 5 on compare (tiny): 5 statements"), "{out}");
    let (out, _) = ended_at_work(&folder, &[&run[..], &["rtl", "wait.pkt", "--json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&value["passed"], &value["failed"], &value["not_run_to_the_end"]), (&0.into(), &0.into(), &2.into()));
    assert_eq!(value["scripts"][0]["ended_by_a_signal"], true);
}

#[test]
fn a_signal_ends_a_simulated_run_with_what_was_played() {
    if !has_tiny() {
        return;
    }
    let folder = Folder::new();
    // One of the three tenants: the tiny NIC has not the cells for all.
    let queues = "queues = { port0 = 64, port1 = 64, port2 = 64 }";
    let red = format!("name = \"red\"\nid = 1\nvlans = [10]\nobject = \"programs/nic/red.json\"\n{queues}\n");
    folder.write("nic.toml", format!("[device]\ntarget = \"tiny\"\n[[tenant]]\n{red}"));
    let capture = ["--in", "port0=programs/nic/mixed.pcapng"];
    let run = ["run", "--config", "nic.toml", "--device", "rtl", "--gbps", "0.5"];
    let out = ["--out", "port1=out.pcapng"];
    let (out, _) = ended_at_work(&folder, &[&run[..], &capture, &out].concat());
    assert!(out.contains("interrupted: left are") && out.contains("accounting: closed"), "{out}");
    let total = out.lines().find(|line| line.starts_with("total")).unwrap();
    let offered: u64 = total.split_whitespace().nth(1).unwrap().replace(',', "").parse().unwrap();
    assert!((1..3_000).contains(&offered), "{out}");
    assert!(!read_all(&folder.path("out.pcapng")).unwrap().is_empty());
}
