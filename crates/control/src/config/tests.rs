use super::*;
use sluice_device::{Device, Offer};
use sluice_nic::SoftwareNic;
use sluice_object::{Destination, Linker, XdpMemory};
use std::collections::BTreeMap;

/// The example of the guide: the first `toml` block.
fn example() -> String {
    let guide = include_str!("../../../../docs/guide/nic-toml.md");
    let block = guide.split("```toml\n").nth(1).expect("the guide has an example");
    block.split("```").next().unwrap().to_owned()
}

fn parse(text: &str) -> Result<NicConfig, ConfigError> {
    NicConfig::parse("nic.toml", text, Path::new("/nowhere"))
}

#[test]
fn the_example_of_the_guide_is_read_as_it_says() {
    let config = parse(&example()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(config.target.name, "default");
    assert_eq!(config.settings.ports[0].max_frame, 1522);
    assert!(config.settings.ports[0].drop_double_tag);
    assert_eq!(config.settings.ports[1].untagged, Some(2));
    assert_eq!(config.ports[0].input, Some(PathBuf::from("/nowhere/in0.pcap")));
    assert_eq!(config.ports[2].iface.as_deref(), Some("eth1"));
    assert_eq!(config.hosts[0].tap.as_deref(), Some("sluice0"));
    let red = &config.tenants[0];
    assert_eq!((red.spec.id, red.spec.vlans.len(), red.spec.quantum), (1, 2, 3000));
    assert_eq!(red.spec.queues, BTreeMap::from([(Destination::Port(1), 128), (Destination::Host(0), 64)]));
    assert_eq!(red.spec.reserves, BTreeMap::from([(Destination::Port(1), 16)]));
    assert_eq!(red.object.as_ref().unwrap().entries.len(), 2);
    assert!(config.tenants[1].spec.keep_tag);
}

#[test]
fn a_brought_up_device_forwards_by_the_file() {
    let config = parse(&example()).unwrap_or_else(|e| panic!("{e}"));
    let mut nic = SoftwareNic::new(*config.target);
    let mut linker = Linker::new(config.target);
    bring_up(&config, &mut nic, &mut linker).unwrap_or_else(|e| panic!("{e}"));
    let bytes = sluice_packet::notation::packet("eth/vlan(vid=10)/ipv4/udp/pad(to=64)").unwrap();
    nic.offer(&[Offer { port: 0, bytes, at: 0, bad: false }]).unwrap();
    nic.quiesce().unwrap();
    let counters = nic.counters().unwrap();
    let module = linker.tenant(1).unwrap().module;
    assert_eq!(counters.modules[&module].forwarded, 1, "{counters:?}");
    let other = Linker::new(&sluice_formats::target::TINY);
    let error = bring_up(&config, &mut nic, &mut { other }).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("E0306", "nic.toml is for target default, the linker is tiny")
    );
}

#[test]
fn mistakes_are_answered_with_place_and_what_is_allowed() {
    let device = "[device]\ntarget = \"tiny\"\n";
    let tenant = format!("{device}[[tenant]]\nname = \"red\"\nid = 1\nvlans = [7]\n");
    for (text, code, line, words) in [
        ("[device\n".to_owned(), "E0302", 1, "not TOML"),
        (
            "[device]\ntarget = \"huge\"\n".to_owned(),
            "E0304",
            2,
            "found `huge`, allowed: default, tiny, far, tiny_far, soft",
        ),
        (
            format!("{device}speed = 9\n"),
            "E0303",
            3,
            "unknown field `speed`, expected one of `target`, `engines`, `watchdog`",
        ),
        ("[[tenant]]\n".to_owned(), "E0303", 1, "missing field"),
        (format!("{device}[[port]]\nnumber = 4\n"), "E0304", 4, "found 4, allowed: 0 to 3"),
        (format!("{device}[[port]]\nnumber = 1\n[[port]]\nnumber = 1\n"), "E0304", 6, "1 twice"),
        (format!("{device}[[port]]\nnumber = 0\nmax_frame = 9217\n"), "E0304", 5, "14 to 9216 bytes"),
        (format!("{device}[[port]]\nnumber = 0\nmin_frame = 90\nmax_frame = 80\n"), "E0304", 4, "90 to 80"),
        (format!("{device}[[port]]\nnumber = 0\ndouble_tag = \"keep\"\n"), "E0303", 5, "`pass` or `drop`"),
        (format!("{device}[[port]]\nnumber = 0\nuntagged = \"red\"\n"), "E0304", 5, "found `red`"),
        (format!("{device}[[port]]\nnumber = 0\niface = \"a/b\"\n"), "E0304", 5, "printable"),
        (format!("{device}[[port]]\nnumber = 0\niface = \"a\"\ntap = \"b\"\n"), "E0304", 4, "several bindings"),
        (format!("{device}[[port]]\nnumber = 0\niface = \"a\"\ninput = \"b.pcap\"\n"), "E0304", 4, "several bindings"),
        (format!("{device}[[port]]\nnumber = 0\niface = \"a\"\nsocket = \"raw\"\n"), "E0303", 6, "`xdp_generic`"),
        (format!("{device}[[port]]\nnumber = 0\nsocket = \"xdp\"\n"), "E0304", 5, "an interface of this machine"),
        (format!("{device}[[port]]\nnumber = 0\ntap = \"a\"\nbusy_poll = 20\n"), "E0304", 6, "without `iface`"),
        (format!("{device}[[port]]\nnumber = 0\niface = \"a\"\nbusy_poll = 0\n"), "E0304", 6, "1 to 1000"),
        (
            format!("{device}[[port]]\nnumber = 0\niface = \"a\"\n[[host]]\nnumber = 0\ntap = \"a\"\n"),
            "E0304",
            8,
            "`a` twice",
        ),
        (
            format!("{device}[[port]]\nnumber = 0\noutput = \"\"\n"),
            "E0304",
            5,
            "found ``, allowed: a name that ends in",
        ),
        (format!("{device}[[port]]\nnumber = 0\noutput = \"a.cap\"\n"), "E0304", 5, "`.pcap` or `.pcapng`"),
        (format!("{device}[[host]]\nnumber = 0\noutput = \"a/\"\n"), "E0304", 5, "found `a/`"),
        (
            format!("{device}[[port]]\nnumber = 0\ninput = \"\"\n"),
            "E0304",
            5,
            "found ``, allowed: the name of a capture",
        ),
        (format!("{tenant}object = \"\"\n"), "E0304", 7, "object: found ``, allowed: the name of a file"),
        (format!("{tenant}xdp = \"\"\n"), "E0304", 7, "xdp: found ``"),
        (format!("{tenant}xdp = \"a.o\"\nroutes = \"\"\n"), "E0304", 8, "routes: found ``"),
        (format!("{tenant}xdp = \"a.o\"\nmaps = {{ flows = \"\" }}\n"), "E0304", 8, "maps.flows: found ``"),
        (format!("{device}[[tenant]]\nname = \"drop\"\nid = 1\nvlans = [7]\n"), "E0304", 4, "found `drop`"),
        (
            format!(
                "{tenant}[tenant.table]\nkey = \"dmac\"\ndefault = {{ to = [\"host0\"], except_ingress = true }}\n"
            ),
            "E0303",
            9,
            "a port among the destinations",
        ),
        (format!("{device}[[host]]\nnumber = 9\n"), "E0304", 4, "0 to 3"),
        (format!("{tenant}rate = 9\n"), "E0304", 7, "rate without burst"),
        (format!("{tenant}rate = 9\nburst = 9\n"), "E0226", 7, "bits_per_second"),
        (format!("{tenant}queues = {{ port7 = 9 }}\n"), "E0221", 7, "port7"),
        (format!("{tenant}xdp_work = 0\n"), "E0226", 7, "xdp_work: found 0, allowed: 1 to 16777216"),
        (format!("{tenant}xdp_growth = 2047\n"), "E0226", 7, "xdp_growth: found 2047, allowed: 0 to 2046"),
        (format!("{tenant}xdp_share = {{ weight = 0 }}\n"), "E0226", 7, "xdp_share.weight: found 0"),
        (
            format!("{tenant}xdp_share = {{ contexts = 1 }}\n"),
            "E0226",
            7,
            "xdp_share.contexts: found 1, allowed: a multiple of 2",
        ),
        (
            format!("{tenant}xdp_share = {{ contexts = 2 }}\n"),
            "E0226",
            7,
            "xdp_share.memory: found 5 KiB for each of 1 contexts",
        ),
        (format!("{tenant}xdp_share = {{ contexts = 256 }}\n"), "E0303", 7, "256"),
        (format!("{tenant}xdp_share = [1, 2]\n"), "E0303", 7, "found a list, allowed: a table"),
        (format!("{tenant}share = [1000000, 4096]\n"), "E0303", 7, "found a list, allowed: a table"),
        (format!("{tenant}[tenant.rmt]\ngrowth = 4096\n"), "E0304", 8, "rmt.growth: found 4096, allowed: 0 to 4095"),
        (
            format!("{tenant}xdp_share = {{ rows = 505 }}\n"),
            "E0226",
            7,
            "xdp_share.rows: found 505, allowed: at most 504",
        ),
        (format!("{tenant}[tenant.l7]\nweight = 0\n"), "E0226", 8, "l7.weight: found 0, allowed: 1 to 65535"),
        (format!("{tenant}xdp_share = {{ room = 5 }}\n"), "E0303", 7, "unknown field `room`"),
        (
            format!(
                "{tenant}xdp_share = {{ rows = 300 }}\n[[tenant]]\nname = \"blue\"\nid = 2\nvlans = [8]\nxdp_share = {{ rows = 205 }}\n"
            ),
            "E0227",
            12,
            "205 rows of the XDP queues asked for, 204 left; held by red 300",
        ),
        (format!("{tenant}queues = {{ lan = 9 }}\n"), "E0304", 7, "found `lan`"),
        (format!("{tenant}reserve = {{ lan = 9 }}\n"), "E0304", 7, "reserve: found `lan`"),
        (
            format!("{tenant}reserve = {{ port1 = 9 }}\n"),
            "E0226",
            7,
            "9 cells at port1, allowed: a destination of `queues`",
        ),
        (
            format!("{tenant}queues = {{ port1 = 9 }}\nreserve = {{ port1 = 9 }}\n"),
            "E0226",
            8,
            "found 9 cells at port1, allowed: 0 to 8, less than the 9 cells",
        ),
        (format!("{tenant}object = \"none.json\"\n"), "E0305", 7, "/nowhere/none.json"),
        (
            format!("{tenant}object = \"a\"\n[tenant.table]\nkey = \"none\"\ndefault = \"drop\"\n"),
            "E0304",
            7,
            "one of them",
        ),
        (format!("{tenant}[tenant.table]\nkey = \"dmac\"\ndefault = {{ to = [\"port2\"] }}\n"), "E0222", 4, "port2"),
        (format!("{tenant}[tenant.table]\nkey = \"mac\"\ndefault = \"drop\"\n"), "E0303", 8, "found `mac`, allowed: "),
        (format!("{tenant}[[tenant]]\nname = \"blue\"\nid = 1\nvlans = [8]\n"), "E0224", 9, "taken by tenant `red`"),
        (format!("{tenant}[[tenant]]\nname = \"blue\"\nid = 2\nvlans = [7]\n"), "E0224", 10, "VLAN 7"),
        (format!("{tenant}[[tenant]]\nname = \"blue\"\nid = 2\nvlans = [\"8\"]\n"), "E0303", 10, "a VLAN ID, or"),
        (format!("{tenant}max_entries = 9999\n"), "E0226", 7, "max_entries"),
        (
            format!("{tenant}quantum = \"9\"\n"),
            "E0303",
            7,
            "found text, \"9\", allowed: a whole number from 0 to 65535",
        ),
        (format!("{tenant}queues = {{ port1 = 0 }}\n"), "E0226", 7, "cells at port1: found 0"),
        (format!("{tenant}[tenant.l7]\nweight = 2\nrows = 33\n"), "E0226", 9, "found 33 match rows of l7"),
        (format!("{tenant}\n[[tenant.rmt.stage]]\nnumber = 1\nexact = 99999\n"), "E0670", 10, "99999 exact entries"),
        (format!("{tenant}\n[[tenant.rmt.stage]]\nnumber = 0\nexact = 1\n"), "E0678", 9, "the system module's"),
        (format!("{tenant}max_entries = 9\nxdp = \"a.o\"\n"), "E0304", 7, "max_entries with xdp"),
        (format!("{tenant}xdp = \"a.o\"\ninterfaces = {{ port0 = 0 }}\n"), "E0304", 8, "port0 = 0"),
    ] {
        let error = parse(&text).expect_err(&text);
        let shown = error.to_string();
        assert_eq!(error.code(), code, "{text}\n{shown}");
        assert!(shown.contains(words), "{text}\n{shown}");
        assert_eq!(error.place.map(|(line, ..)| line), Some(line), "{text}\n{shown}");
    }
}

#[test]
fn names_and_vlans_that_nothing_can_use_are_refused_at_their_line() {
    let tenant = |name: &str, id: u16, vlans: &str| {
        parse(&format!("[device]\ntarget = \"tiny\"\n[[tenant]]\nname = {name:?}\nid = {id}\nvlans = [{vlans}]\n"))
    };
    let long = "a".repeat(64);
    for name in ["", "a b", "a=b", "a,b", "a\tb", "7a", "-a", "\u{e9}", "total", "system", &long] {
        let error = tenant(name, 1, "7").expect_err(name);
        assert_eq!((error.code(), error.place.as_ref().map(|p| p.0)), ("E0304", Some(4)), "{error}");
        assert!(error.to_string().contains("name of a tenant: found"), "{error}");
    }
    for name in ["_a", "a.b-c_9", &long[1..]] {
        tenant(name, 1, "1, 4094").unwrap_or_else(|e| panic!("{e}"));
    }
    tenant("system", 0, "").unwrap_or_else(|e| panic!("{e}"));
    for (vlans, words) in [
        ("0", "found 0, allowed: 1 to 4094"),
        ("4095", "found 4095, allowed: 1 to 4094"),
        ("{ vlan = 0, port = 1 }", "found 0"),
        ("7, 7", "VLAN 7 twice"),
        ("7, { vlan = 7, port = 1 }", "VLAN 7 twice"),
        ("{ vlan = 7, port = 1 }, { vlan = 7, port = 1 }", "VLAN 7 twice"),
    ] {
        let error = tenant("red", 1, vlans).expect_err(vlans);
        assert_eq!((error.code(), error.place.as_ref().map(|p| p.0)), ("E0304", Some(6)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    tenant("red", 1, "{ vlan = 7, port = 0 }, { vlan = 7, port = 1 }").unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn what_a_tenant_is_given_and_no_packet_can_meet_is_refused_at_its_line() {
    let head = "[device]\ntarget = \"tiny\"\n";
    let tenant = |id: u16, keys: &str| format!("{head}[[tenant]]\nname = \"red\"\nid = {id}\n{keys}");
    let system = |keys: &str| tenant(0, keys).replace("red", "system");
    let untagged = "[[port]]\nnumber = 1\nuntagged = \"red\"\n";
    let table =
        |default: &str| tenant(1, &format!("vlans = [7]\n[tenant.table]\nkey = \"dmac\"\ndefault = {default}\n"));
    for (text, code, line, words) in [
        (tenant(1, "vlans = []\n"), "E0304", 6, "found none, allowed: at least one, or `untagged = \"red\"` of a port"),
        (tenant(1, "vlans = [7]\nrate = 64_000_000_001\nburst = 99\n"), "E0226", 7, "7812501 to 64000000000, all that"),
        (
            tenant(1, "vlans = []\nkeep_tag = true\n") + untagged,
            "E0304",
            7,
            "keep_tag: found true, allowed: with a VLAN",
        ),
        (
            system("vlans = []\n") + &untagged.replace("red", "system"),
            "E0304",
            9,
            "untagged: found `system`, allowed: drop, or a tenant that is not the system",
        ),
        (system("vlans = []\nkeep_tag = true\n"), "E0304", 7, "keep_tag: found true, allowed: with a VLAN"),
        (table("{ to = [] }"), "E0303", 9, "`to` without a destination, allowed: \"drop\""),
        (table("{ to = [], except_ingress = true }"), "E0303", 9, "\"drop\""),
    ] {
        let error = parse(&text).expect_err(&text);
        let shown = error.to_string();
        assert_eq!((error.code(), error.place.map(|(line, ..)| line)), (code, Some(line)), "{text}\n{shown}");
        assert!(shown.contains(words), "{text}\n{shown}");
    }
    for text in [
        tenant(1, "vlans = []\n") + untagged,
        tenant(1, "vlans = []\nkeep_tag = false\n") + untagged,
        tenant(1, "vlans = [7]\nrate = 64_000_000_000\nburst = 99\n"),
        system("vlans = []\n"),
        table("\"drop\""),
    ] {
        parse(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    }
}

#[test]
fn a_file_that_is_not_there_or_no_text_is_told_in_words() {
    let error = NicConfig::read(Path::new("/nowhere/nic.toml")).unwrap_err();
    assert_eq!(error.code(), "E0301");
    assert!(error.to_string().starts_with("/nowhere/nic.toml: [E0301] cannot be read"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), [b'a', 0xff]).unwrap();
    assert!(NicConfig::read(file.path()).unwrap_err().to_string().contains("byte 1 is no UTF-8"));
}

#[test]
fn variables_and_templates_of_a_tenant_reach_its_object() {
    let object = concat!(env!("CARGO_MANIFEST_DIR"), "/../ebpf/tests/objects/prepare/settings.o");
    let text = |more: &str| {
        format!(
            "[device]\ntarget = \"default\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\n\
             queues = {{ host0 = 160 }}\nxdp = \"{object}\"\ninner_maps = {{ tenants = \"tenant\" }}\n{more}\n"
        )
    };
    let set = "variables = { limit = 3, strict = false, mode = \"MODE_OFF\", policy.rate = 9, \"table[1]\" = 7 }";
    let config = parse(&text(set)).unwrap_or_else(|e| panic!("{e}"));
    let xdp = config.tenants[0].object.as_ref().unwrap().parts.xdp.clone().unwrap();
    let contents = |name: &str| xdp.maps.iter().find(|m| m.name == name).unwrap().contents.clone().unwrap();
    assert_eq!(contents(".rodata")[..4], [3, 0, 0, 0]);
    assert!(contents(".data").windows(4).any(|w| w == [9, 0, 0, 0]) && contents(".data").contains(&7));
    assert!(xdp.maps.iter().find(|m| m.name == "tenants").unwrap().inner.is_some());
    for (more, part) in [
        ("variables = { limits = 3 }", "E0425"),
        ("variables = { offset = 200 }", "E0426"),
        ("variables = { limit = [1] }", "`limit`, array"),
    ] {
        let error = parse(&text(more)).unwrap_err();
        let message = format!("{} {error}", error.code());
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn what_is_said_of_where_a_map_lies_reaches_the_object_and_mistakes_are_answered_at_their_line() {
    let object = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/xdp/learning_switch/learning_switch.o");
    let text = |target: &str, places: &str| {
        format!(
            "[device]\ntarget = \"{target}\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\n\
             queues = {{ host0 = 100 }}\nxdp = \"{object}\"\nmap_places = {{ {places} }}\n"
        )
    };
    let config = parse(&text("far", "stations = \"outside\", ports = \"chip\"")).unwrap_or_else(|e| panic!("{e}"));
    let xdp = config.tenants[0].object.as_ref().unwrap().parts.xdp.clone().unwrap();
    let place = |name: &str| xdp.maps.iter().find(|map| map.name == name).unwrap().place;
    assert_eq!((place("stations"), place("ports")), (Some(XdpMemory::Outside), Some(XdpMemory::Chip)));
    let mut linker = crate::hardware_linker_of(&config);
    loads(&config, &mut linker).unwrap();
    let places: BTreeMap<_, _> = linker.map_places(1).unwrap().into_iter().collect();
    let lies = |name: &str| (places[name].values, places[name].search.map(|search| search.0));
    assert_eq!(lies("stations"), (XdpMemory::Outside, Some(XdpMemory::Outside)));
    assert_eq!(lies("ports"), (XdpMemory::Chip, None));
    for (target, places, code, words) in [
        ("tiny_far", "stations = \"there\"", "E0304", "map_places.stations: found `there`, allowed: chip or outside"),
        ("tiny_far", "station = \"chip\"", "E0471", "`map_places` in nic.toml): found `station`, allowed: "),
        ("tiny_far", "ports = \"outside\"", "E0809", "found a map of this kind, which stays on the chip"),
        ("default", "stations = \"outside\"", "E0809", "found target default, which has no external memory"),
    ] {
        let error = parse(&text(target, places)).unwrap_err();
        let shown = error.to_string();
        assert_eq!((error.code(), error.place.map(|(line, ..)| line)), (code, Some(9)), "{shown}");
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn rules_stand_alone_or_beside_a_table_with_what_the_tenant_is_given() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7/nic.toml");
    let config = NicConfig::read(&path).unwrap_or_else(|e| panic!("{e}"));
    let [reviews, store, lines] = &config.tenants[..] else { panic!("three tenants") };
    let given = |tenant: &super::TenantConfig| tenant.spec.l7.unwrap();
    assert_eq!((given(reviews).rows, given(reviews).rings, given(reviews).messages), (32, 8, Some(128)));
    assert_eq!((given(reviews).ports, given(store).rings, given(store).messages), (2, 4, None));
    assert!(lines.object.as_ref().unwrap().is_rules());
    let object = store.object.as_ref().unwrap();
    assert!(object.parts.l7.is_some() && object.entries.len() == 1 && object.name == "store");
    let mut device = SoftwareNic::new(*config.target);
    let mut linker = crate::linker(config.target, device.capabilities());
    bring_up(&config, &mut device, &mut linker).unwrap();
    assert_eq!(linker.rings(1), Ok(0..8));
    let mut without = Linker::new(config.target);
    let error = bring_up(&config, &mut SoftwareNic::new(*config.target), &mut without).unwrap_err();
    assert_eq!(error.code(), "E0238");
}

#[test]
fn mistakes_about_rules_are_answered_at_their_place() {
    let text = |more: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7").display().to_string();
        format!(
            "[device]\ntarget = \"tiny\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\nqueues = {{ host3 = 8 }}\n{}",
            more.replace("L7", &folder)
        )
    };
    let refused = |more: &str, code: &str, words: &str| {
        let error = parse(&text(more)).unwrap_err();
        let found = error.to_string();
        assert!(error.code() == code && found.contains(words), "{more}\n{found}");
    };
    refused("rules = \"\"\n", "E0304", "the name of a file");
    refused("rules = \"L7/none.l7\"\n", "E0305", "none.l7");
    refused("rules = \"L7/../rmt/calc.rmt\"\n", "E0304", "a file of rules");
    refused("rules = \"L7/ping_pong_48.l7\"\n", "E0871", "rows");
    refused("rules = \"L7/lines.l7\"\nobject = \"L7/lines.l7\"\n", "E0205", "both for the engine l7");
    refused("rules = \"L7/lines.l7\"\n[tenant.l7]\nrows = 3\n", "E0223", "match rows of l7, tenant `red` was given 3");
    refused("rules = \"L7/lines.l7\"\n[tenant.l7]\nrows = 33\n", "E0226", "at most 32");
    refused("rules = \"L7/lines.l7\"\n[tenant.l7]\nmessages = 33\n", "E0226", "at most 32");
    refused("[tenant.l7]\nqueues = 3\n", "E0303", "unknown field `queues`");
    let bare = text("rules = \"L7/lines.l7\"\n").replace("\"tiny\"", "\"tiny\"\nengines = [\"rmt\"]");
    let error = parse(&bare).unwrap_err();
    assert_eq!((error.code(), error.place.as_ref().map(|place| place.0)), ("E0238", Some(9)), "{error}");
    // Behind an XDP program, what that passes is dispatched if nothing else is said.
    let xdp = "rules = \"L7/lines.l7\"\nxdp = \"L7/../xdp/swap/swap.o\"\n";
    let config = parse(&text(&xdp.replace("xdp = ", "keep_tag = true\nxdp = "))).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(config.tenants[0].object.as_ref().unwrap().default.to_string(), "to host3");
}
