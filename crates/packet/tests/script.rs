//! Packet scripts: what they parse to, and how mistakes are answered.

use sluice_packet::mac::MacAddr;
use sluice_packet::notation::packet;
use sluice_packet::script::{
    Command, Destination, Forward, Key, KeyMask, MapOnly, MapOperation, MapStatement, Relation, Runner, Script,
    Statement, Target, Timing,
};

fn parse(text: &str) -> Script {
    Script::parse("test.pkt", text).unwrap_or_else(|e| panic!("{e}"))
}

fn commands(text: &str) -> Vec<Command> {
    parse(text).statements.into_iter().map(|s| s.command).collect()
}

fn error(text: &str) -> (String, String) {
    let error = Script::parse("test.pkt", text).expect_err(text);
    (error.code().to_string(), error.to_string())
}

const TENANT: &str = "tenant red id=3 vlan=7\n";
const TABLE: &str = "tenant red id=3 vlan=7\ntable red key=dmac default=drop\n";

#[test]
fn a_whole_script_parses_statement_by_statement() {
    let script = "\
device tiny # the small one
seed 0x10
nic untagged=drop min_frame=14
tenant red id=3 vlan=7,8 keep_tag rate=10G burst=16k weight=2 limit=100 reserve=20 xdp_work=1000 xdp_growth=200 xdp_weight=4 xdp_rows=60 xdp_contexts=2 xdp_memory=3 warp=off l7_weight=5
tenant blue id=4 vlan=9
table red key=dmac mask=ff:ff:ff:00:00:00 default=host 1 set_dmac=02:00:00:00:00:09
table blue key=five_tuple mask=src/24,dport,proto default=drop
add red dst=02:00:00:00:00:01 -> multicast port 1,2 host 0 except_ingress
add blue 10.0.0.1:80 > 10.0.0.2:90 udp -> port 3
del red dst=02:00:00:00:00:01
send 0 *3 eth/vlan(vid=7)/ipv4(dst=10.1.2.3, \\
    ttl=1) gap=5
send 1 eth / vlan ( ) at=100
"
    .replace("vlan ( )", "vlan()");
    let commands = commands(&script);
    assert_eq!(commands.len(), 12);
    assert_eq!(commands[0], Command::Device(Target::Tiny));
    assert_eq!(commands[1], Command::Seed(16));
    let Command::Nic(settings) = &commands[2] else { panic!() };
    assert_eq!((settings[1].name.as_str(), settings[1].value.as_str()), ("min_frame", "14"));
    assert_eq!(settings[1].position.column, 19);
    let Command::Tenant(red) = &commands[3] else { panic!() };
    assert_eq!((red.id, &red.vlans[..], red.keep_tag), (3, &[7, 8][..], true));
    assert_eq!(red.rate, Some((10_000_000_000, 16_000)));
    assert_eq!((red.weight, red.limit, red.reserve), (Some(2), Some(100), Some(20)));
    assert_eq!((red.xdp_work, red.xdp_growth), (Some(1000), Some(200)));
    assert_eq!((red.xdp_weight, red.xdp_rows), (Some(4), Some(60)));
    assert_eq!((red.xdp_contexts, red.xdp_memory), (Some(2), Some(3)));
    assert_eq!((red.warp, red.l7_weight), (false, Some(5)));
    let Command::Table(table) = &commands[5] else { panic!() };
    assert_eq!(table.key, KeyMask::Dmac("ff:ff:ff:0:0:0".parse().unwrap()));
    assert_eq!(table.default.forward, Forward::To(Destination::Host(1)));
    assert_eq!(table.default.set_dmac, Some(MacAddr::local(9)));
    let Command::Table(table) = &commands[6] else { panic!() };
    let KeyMask::FiveTuple(mask) = table.key else { panic!() };
    assert_eq!(mask.src.to_string(), "255.255.255.0");
    assert_eq!((mask.sport, mask.dport, mask.protocol, u32::from(mask.dst)), (0, 65535, 255, 0));
    let Command::Add { action, .. } = &commands[7] else { panic!() };
    let destinations = vec![Destination::Port(1), Destination::Port(2), Destination::Host(0)];
    let multicast = Forward::Multicast { destinations, except_ingress: true };
    assert_eq!(action.forward, multicast);
    let Command::Add { key: Key::FiveTuple(tuple), .. } = &commands[8] else { panic!() };
    assert_eq!((tuple.sport, tuple.dport, tuple.protocol), (80, 90, 17));
    let Command::Send(send) = &commands[10] else { panic!() };
    assert_eq!((send.port, send.count, send.timing), (0, 3, Timing::Gap(5)));
    assert_eq!(send.bytes, packet("eth/vlan(vid=7)/ipv4(dst=10.1.2.3, ttl=1)").unwrap());
    let Command::Send(send) = &commands[11] else { panic!() };
    assert_eq!((send.timing, send.bytes.len()), (Timing::At(100), 18));
}

#[test]
fn expectations_and_disturbances_parse() {
    let text = format!(
        "{TENANT}\
expect port 2 eth/vlan(vid=7)/...
expect host 1 *4 eth/payload(len=50)
expect none
drop reason=runt
drop *2 reason=queue_full tenant=red
drop reason=unmapped tenant=system
counter red forwarded = 12
counter total offered >= 1
wait 100
idle
block port 1
unblock host 0
fault config drop=20% corrupt=5%
"
    );
    let commands = commands(&text);
    let Command::Expect { destination, count, pattern, .. } = &commands[1] else { panic!() };
    assert_eq!((*destination, *count), (Destination::Port(2), 1));
    assert!(pattern.matches(&packet("eth/vlan(vid=7)/ipv4").unwrap()));
    assert!(!pattern.matches(&packet("eth/vlan(vid=8)/ipv4").unwrap()));
    let Command::Expect { count: 4, pattern, .. } = &commands[2] else { panic!() };
    assert!(pattern.mask.is_none());
    assert_eq!(commands[3], Command::ExpectNone);
    let drop = |count, reason: &str, tenant: Option<&str>| Command::Drop {
        count,
        reason: reason.into(),
        tenant: tenant.map(str::to_string),
    };
    assert_eq!(commands[4], drop(1, "runt", None));
    assert_eq!(commands[5], drop(2, "queue_full", Some("red")));
    assert_eq!(commands[6], drop(1, "unmapped", Some("system")));
    let Command::Counter { relation, value, .. } = &commands[8] else { panic!() };
    assert!(relation.holds(5, *value) && !relation.holds(0, *value));
    assert_eq!(*relation, Relation::AtLeast);
    assert_eq!(commands[9], Command::Wait { cycles: 100 });
    assert_eq!(commands[11], Command::Block(Destination::Port(1)));
    assert_eq!(commands[12], Command::Unblock(Destination::Host(0)));
    assert_eq!(commands[13], Command::FaultConfig { drop: 20, corrupt: 5 });
}

#[test]
fn programs_maps_routes_and_events_parse() {
    let text = "\
tenant red id=3 vlan=7 to=port0,host3
xdp red fw.o
xdp red fw.o section=xdp/a program=fw pass=host 2 keep=flows,count max_entries=a:5,b:0x10 interfaces=7:0,9:3
map red flows set ip:10.0.0.1,be16:80 u64:7
map red flows set u32:1 u64:7 noexist
map red flows set u32:1 u64:7 exist
map red flows delete u32:1
map red flows expect u32:1 sum:8
map red flows expect u32:1 none
routes red routes.txt
event red log u32:1,hex:00
";
    let commands = commands(text);
    let Command::Tenant(red) = &commands[0] else { panic!() };
    assert_eq!(red.to, Some(vec![Destination::Port(0), Destination::Host(3)]));
    let Command::Xdp(plain) = &commands[1] else { panic!() };
    assert_eq!((plain.pass, plain.section.as_deref(), plain.keep.len()), (None, None, 0));
    let Command::Xdp(xdp) = &commands[2] else { panic!() };
    assert_eq!((xdp.section.as_deref(), xdp.program.as_deref()), (Some("xdp/a"), Some("fw")));
    assert_eq!(
        (xdp.pass, &xdp.keep[..]),
        (Some(Destination::Host(2)), &["flows".to_string(), "count".to_string()][..])
    );
    assert_eq!(xdp.max_entries, [("a".to_string(), 5), ("b".to_string(), 16)]);
    assert_eq!(xdp.interfaces, [(7, 0), (9, 3)]);
    let operation = |at: usize| match &commands[at] {
        Command::Map(MapStatement { tenant, map, key, operation }) => {
            assert_eq!((tenant.as_str(), map.as_str()), ("red", "flows"));
            (key.as_str(), operation.clone())
        }
        other => panic!("{other:?}"),
    };
    let set = |only| MapOperation::Set { value: "u64:7".to_string(), only };
    assert_eq!(operation(3), ("ip:10.0.0.1,be16:80", set(MapOnly::Any)));
    assert_eq!(operation(4), ("u32:1", set(MapOnly::NoExist)));
    assert_eq!(operation(5), ("u32:1", set(MapOnly::Exist)));
    assert_eq!(operation(6), ("u32:1", MapOperation::Delete));
    assert_eq!(operation(7), ("u32:1", MapOperation::Expect(Some("sum:8".to_string()))));
    assert_eq!(operation(8), ("u32:1", MapOperation::Expect(None)));
    assert!(matches!(&commands[9], Command::Routes { file, .. } if file.to_str() == Some("routes.txt")));
    assert!(matches!(&commands[10], Command::Event { map, bytes, .. } if map == "log" && bytes == "u32:1,hex:00"));
}

#[test]
fn rmt_modules_of_tenants_and_of_the_system_parse() {
    let commands =
        commands("tenant red id=3 vlan=7\nrmt red calc.rmt\nrmt red calc2.rmt keep\nrmt system system.rmt\n");
    let rmt = |i: usize| match &commands[i] {
        Command::Rmt(rmt) => (rmt.tenant.clone(), rmt.file.display().to_string(), rmt.keep),
        other => panic!("{other:?}"),
    };
    assert_eq!(rmt(1), ("red".into(), "calc.rmt".into(), false));
    assert_eq!(rmt(2), ("red".into(), "calc2.rmt".into(), true));
    assert_eq!(rmt(3), ("system".into(), "system.rmt".into(), false));
    for (line, want, says) in [
        ("rmt red", "E0113", "expected the file of an rmt module"),
        ("rmt blue a.rmt", "E0117", "blue"),
        ("rmt red a.rmt hold", "E0115", "keep"),
        ("rmt red a.rmt keep keep", "E0116", "twice"),
        ("table red key=dmac default=drop\nbegin red\nrmt red a.rmt\ncommit red", "E0120", "an update of its own"),
    ] {
        let (code, text) = error(&format!("{TENANT}{line}"));
        assert_eq!(code, want, "{text}");
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn mistakes_in_statements_of_programs_are_answered() {
    for (line, want, says) in [
        ("xdp red", "E0113", "expected the file of an XDP object"),
        ("xdp red a.o pass=host 1 rmt=b.rmt", "E0116", "pass= or rmt="),
        ("xdp red a.o rmt=b.rmt rmt=c.rmt", "E0116", "twice"),
        ("xdp red a.o speed=9", "E0115", "section=, program=, pass=, rmt=, keep="),
        ("xdp red a.o pass=queue 1", "E0113", "host N or port N"),
        ("xdp red a.o keep=a,a", "E0114", "each only once"),
        ("xdp red a.o max_entries=5", "E0114", "MAP:N"),
        ("xdp red a.o max_entries=a:5,a:6", "E0114", "each map once"),
        ("xdp red a.o max_entries=a:0", "E0114", "N from 1"),
        ("xdp red a.o interfaces=7:0,7:1", "E0114", "each interface and port once"),
        ("xdp red a.o interfaces=7:0,8:0", "E0114", "each interface and port once"),
        ("xdp red a.o interfaces=0:1", "E0114", "interfaces from 1"),
        ("xdp red a.o section=a section=b", "E0116", "twice"),
        ("map red flows set u32:1 u64:1", "E0120", "`red` has no XDP program yet, expected `xdp red FILE` before"),
        ("xdp red a.o\nmap red flows take u32:1", "E0113", "set, delete or expect"),
        ("xdp red a.o\nmap red flows set u32:1 u64:1 maybe", "E0113", "noexist, exist"),
        ("xdp red a.o\nmap red flows expect u32:1", "E0113", "a value as in"),
        ("xdp red a.o\nadd red dst=2:0:0:0:0:1 -> drop", "E0120", "no table yet"),
        ("table red key=dmac default=drop\nbegin red\nxdp red a.o\ncommit red", "E0120", "an update of its own"),
    ] {
        let (code, text) = error(&format!("{TENANT}{line}"));
        assert_eq!(code, want, "{text}");
        assert!(text.contains(says), "{text}");
    }
    let (code, text) = error("tenant red id=3 vlan=7 to=port0,port0");
    assert_eq!(code, "E0114");
    assert!(text.contains("each once"), "{text}");
}

#[test]
fn a_block_is_the_same_as_begin_replace_and_commit() {
    let inside = "table red key=five_tuple default=port 1\nadd red 1.1.1.1:1 > 2.2.2.2:2 6 -> drop\n";
    let block = commands(&format!("{TABLE}replace red {{\n{inside}}}\n"));
    let long = commands(&format!("{TABLE}begin replace red\n{inside}commit red\n"));
    assert_eq!(block, long);
    assert!(matches!(&block[2], Command::Begin { tenant, replace: true } if tenant == "red"));
    assert!(matches!(&block[5], Command::Commit { tenant } if tenant == "red"));
}

#[test]
fn packets_may_be_sent_while_an_update_is_open_but_not_within_a_block() {
    commands(&format!("{TABLE}begin red\nsend 0 eth\nadd red dst=2:0:0:0:0:1 -> drop\ncommit red\n"));
    let (code, text) = error(&format!("{TABLE}replace red {{\nsend 0 eth\n}}"));
    assert_eq!(code, "E0120");
    assert!(text.contains("`send` within `replace red {`, expected table, add, del or `}`"), "{text}");
}

#[test]
fn a_replaced_table_may_change_its_kind_of_key_from_its_table_line_on() {
    let text = format!(
        "{TABLE}begin replace red\ntable red key=five_tuple default=drop\n\
         add red 1.1.1.1:1 > 2.2.2.2:2 tcp -> drop\ncommit red\ndel red 1.1.1.1:1 > 2.2.2.2:2 tcp\n"
    );
    commands(&text);
    let (code, text) = error(&format!("{text}add red dst=2:0:0:0:0:1 -> drop"));
    assert_eq!(code, "E0119");
    assert!(text.contains("a dmac key, expected a five_tuple key, as `table red` says"), "{text}");
}

#[test]
fn of_a_loaded_table_any_key_is_taken() {
    let text = "tenant red id=3 vlan=7\nload red red.json\nadd red dst=2:0:0:0:0:1 -> port 0\n";
    let parsed = commands(text);
    assert!(matches!(&parsed[1], Command::Load { file, .. } if file.to_str() == Some("red.json")));
}

#[test]
fn an_error_shows_the_place_in_its_line() {
    let (code, text) = error("# first\n\tsend 0 eth/ipv4(tll=1)\n");
    assert_eq!(code, "E0102");
    let want = "error[E0102]: `ipv4` has no field `tll`, expected one of ver, ihl, dscp, ecn, len, \
id, rf, df, mf, frag, ttl, proto, csum, src, dst, opts
 --> test.pkt:2:18
  |
2 | \tsend 0 eth/ipv4(tll=1)
  | \t                ^^^";
    assert_eq!(text, want);
}

#[test]
fn an_error_on_a_continued_line_shows_that_line() {
    let (_, text) = error("send 0 \\\n  eth/ipv4( \\\n ttl=256)");
    assert!(text.contains("test.pkt:3:6"), "{text}");
    assert!(text.contains("\n3 |  ttl=256)\n  |      ^^^"), "{text}");
}

#[test]
fn mistakes_are_answered_with_what_was_found_and_what_is_allowed() {
    for (text, want, says) in [
        ("sned 0 eth", "E0112", "unknown statement `sned`, expected one of device, seed"),
        ("device big", "E0114", "the target is `big`, expected default, tiny or any"),
        ("device", "E0113", "found the end, expected default, tiny or any"),
        ("idle 3", "E0113", "found `3`, expected the end of the line"),
        ("seed -1", "E0114", "the seed is `-1`"),
        ("nic", "E0113", "a setting such as untagged=drop"),
        ("nic a=1 a=2", "E0116", "`nic` has `a` twice"),
        ("nic a", "E0113", "found `a`, expected name=value"),
        ("send 0", "E0113", "found the end, expected a packet"),
        ("send 256 eth", "E0114", "a number from 0 to 255"),
        ("send 0 *0 eth", "E0114", "the repetition is `0`"),
        ("send 0 eth/...", "E0113", "a whole packet"),
        ("send 0 raw", "E0114", "the packet is empty"),
        ("send 0 eth gap=x", "E0114", "the gap is `x`"),
        ("send 0 eth gap=1 at=2", "E0116", "`send` has `gap=` beside `at=`, expected one of them"),
        ("send 0 eth at=1 at=2", "E0116", "`send` has `at` twice"),
        ("send 0 eth later", "E0115", "`send` has no option `later`, expected one of gap=, at="),
        ("send 0 eth/ipv5", "E0101", "unknown layer `ipv5`"),
        ("expect port 1", "E0113", "a packet such as"),
        ("expect", "E0113", "`port`, `host`, `ring` or `none`"),
        ("drop", "E0116", "no `reason=`"),
        ("drop reason=Runt", "E0114", "a lower-case letter"),
        ("counter total offered == 1", "E0113", "=, >= or <="),
        ("fault config", "E0116", "neither `drop=` nor `corrupt=`"),
        ("fault config drop=100%", "E0114", "a number from 0 to 90"),
        ("fault ring", "E0113", "expected `config`"),
        ("tenant Red id=1 vlan=1", "E0114", "the name of a tenant is `Red`"),
        ("tenant total id=1 vlan=1", "E0114", "one that is not reserved"),
        ("tenant red id=4096 vlan=1", "E0114", "a number from 1 to 4095"),
        ("tenant red id=1 vlan=4095", "E0114", "a number from 1 to 4094"),
        ("tenant red vlan=1", "E0116", "no `id=`"),
        ("tenant red id=1 vlan=1 limit=0", "E0114", "the limit is `0`, expected a number from 1 to 65535"),
        ("tenant red id=1 vlan=1 xdp_growth=x", "E0114", "the growth of a frame is `x`, expected a number from 0"),
        ("tenant red id=1 vlan=1 xdp_work=0", "E0114", "the work of a packet is `0`, expected a number from 1"),
        ("tenant red id=1 vlan=1 xdp_weight=65536", "E0114", "a number from 1 to 65535"),
        ("tenant red id=1 vlan=1 xdp_rows=0", "E0114", "the rows at the XDP engine is `0`"),
        ("tenant red id=1 vlan=1 l7_weight=0", "E0114", "the weight at the l7 engine is `0`"),
        ("tenant red id=1 vlan=1 limit=65536", "E0114", "a number from 1 to 65535"),
        (
            "device tiny\ndevice any",
            "E0116",
            "a second statement after that of line 1, expected one `device` in a script",
        ),
        ("seed 1\nidle\nseed 1", "E0116", "after that of line 1, expected one `seed`"),
        ("", "E0113", "found no statement that checks anything"),
        ("# only a comment\ndevice any\nseed 3\n", "E0113", "found no statement that checks anything"),
        ("tenant red id=1 vlan=1 rate=1G", "E0116", "no `burst=`"),
        ("tenant red id=1 vlan=1 rate=1T burst=1", "E0114", "with k, M or G"),
        ("tenant red id=1 vlan=1 colour=2", "E0115", "expected one of id=, vlan=, keep_tag"),
        ("tenant red id=1 vlan=1\ntenant blue id=2 vlan=2,1", "E0118", "VLAN 1 belongs to tenant `red` (line 1)"),
        ("tenant red id=1 vlan=1\ntenant blue id=1 vlan=2", "E0118", "ID 1 belongs to tenant `red`"),
        ("tenant red id=1 vlan=1\ntenant red id=2 vlan=2", "E0118", "the name `red` belongs"),
        ("commit green", "E0117", "unknown tenant `green`, declared above are system"),
        ("commit system", "E0120", "`commit system` without an update"),
        ("}", "E0120", "`}`, expected `replace NAME {` before it"),
        ("add system dst=2:0:0:0:0:1 -> drop", "E0120", "`system` has no table yet"),
        ("begin system", "E0120", "has no table yet"),
        ("table system key=dmac default=drop\nbegin system", "E0120", "never committed"),
        ("table system key=dmac default=drop\nreplace system {", "E0120", "never closed"),
        ("table system key=dmac default=drop\ntable system key=dmac default=drop", "E0120", "a second table"),
        ("table system default=drop", "E0116", "no `key=`"),
        ("table system key=mac default=drop", "E0114", "dmac or five_tuple"),
        ("table system key=dmac default=fly", "E0113", "an action"),
        ("table system key=five_tuple mask=src/33 default=drop", "E0114", "a prefix of 1 to 32"),
        ("table system key=five_tuple mask=src,src default=drop", "E0114", "each once"),
        ("table system key=dmac default=drop set_dmac=2:0:0:0:0:1", "E0116", "a dropped packet"),
        ("table system key=dmac default=multicast", "E0113", "`port` or `host` and numbers"),
        ("table system key=dmac default=multicast port 1,1", "E0114", "each only once"),
        (
            "table system key=dmac default=drop\nadd system 10.0.0.1:1 > 1.1.1.1:1 udp -> drop",
            "E0119",
            "a five_tuple key",
        ),
        ("table system key=dmac default=drop\nadd system x -> drop", "E0113", "a key as in"),
        ("table system key=dmac default=drop\nadd system dst=2:0:0:0:0:1 drop", "E0113", "`->` and an action"),
    ] {
        let (code, message) = error(text);
        assert_eq!(code, want, "{text}\n{message}");
        assert!(message.contains(says), "{text}\n{message}");
    }
}

#[test]
fn files_that_are_missing_or_no_text_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Script::read(&folder.path().join("no.pkt")).unwrap_err();
    assert_eq!(error.code(), "E0110");
    let path = folder.path().join("a.pkt");
    std::fs::write(&path, b"idle\n\xff").unwrap();
    let error = Script::read(&path).unwrap_err();
    assert!(error.to_string().contains("error[E0111]: byte 5 of the file is no UTF-8"), "{error}");
}

#[test]
fn the_text_of_a_statement_ends_with_its_last_word() {
    let script = parse("idle \\\n \\\r\n # end\n  wait 3 \\\n\n");
    let texts: Vec<&str> = script.statements.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts, ["idle", "wait 3"]);
}

#[test]
fn line_ends_of_both_kinds_and_comments_make_no_difference() {
    let unix = "idle # comment\n\n# another\nwait 3\n";
    let dos = unix.replace('\n', "\r\n");
    assert_eq!(commands(unix), commands(&dos));
    assert_eq!(commands("idle"), [Command::Idle]);
}

#[test]
fn a_failing_statement_is_named_with_its_place() {
    struct Clock(u64);
    impl Runner for Clock {
        type Error = String;
        fn run(&mut self, command: &Command, _: &Statement) -> Result<(), String> {
            match command {
                Command::Wait { cycles } => self.0 += cycles,
                other => return Err(format!("cannot do {other:?}")),
            }
            Ok(())
        }
        fn finish(&mut self) -> Result<(), String> {
            if self.0 > 10 { Err("too long".to_string()) } else { Ok(()) }
        }
    }
    assert!(parse("wait 3\nwait 4").run(&mut Clock(0)).is_ok());
    let failure = parse("wait 3\n  idle # now").run(&mut Clock(0)).unwrap_err();
    assert_eq!(failure.to_string(), "test.pkt:2:3: cannot do Idle\n2 | idle");
    let failure = parse("wait 30").run(&mut Clock(0)).unwrap_err();
    assert_eq!(failure.to_string(), "test.pkt: after the last statement: too long");
}

#[test]
fn a_long_script_is_parsed_in_time_proportional_to_its_length() {
    let text = "send 0 eth/vlan(vid=7)/ipv4/udp\nexpect none\n".repeat(20_000);
    let start = std::time::Instant::now();
    assert_eq!(commands(&text).len(), 40_000);
    // Far above what it takes, far below what counting lines from the start would take.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
