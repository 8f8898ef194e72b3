//! `sluice object shares`: what tenants are assured of, as text and JSON.

use crate::common::Folder;

fn two(port1: u32) -> String {
    format!(
        "[device]\ntarget = \"default\"\n[[port]]\nnumber = 0\nmax_frame = 1518\n\
         [[tenant]]\nname = \"red\"\nid = 1\nvlans = [{{ port = 0, vlan = 10 }}]\nqueues = {{ port1 = {port1} }}\n\
         share = {{ rate = 2_000_000_000, burst = 6_400 }}\nxdp_share = {{ weight = 4, rows = 100, contexts = 4 }}\nxdp_work = 1000\n\
         [[tenant]]\nname = \"blue\"\nid = 2\nvlans = [{{ port = 0, vlan = 20 }}]\nqueues = {{ port1 = 64, host0 = 64 }}\n"
    )
}

#[test]
fn shares_are_shown_for_ports_and_destinations() {
    let f = Folder::new();
    f.write("nic.toml", two(512));
    let called = f.sluice(&["object", "shares", "--config", "nic.toml", "--json"]);
    assert_eq!((called.code, called.err.as_str()), (0, ""));
    let all: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    assert_eq!(all["target"], "default");
    let red = &all["tenants"][0];
    assert_eq!((&red["tenant"], &red["id"]), (&"red".into(), &1.into()));
    assert_eq!(red["ports"][0]["from"], "port0");
    let rate = red["ports"][0]["bits_per_second"].as_u64().unwrap();
    assert!((1_999_900_000..=2_000_000_000).contains(&rate), "{rate}");
    assert_eq!(red["ports"][0]["burst_bytes"], 6_400);
    assert_eq!((&red["queues"][0]["packets"], &red["queues"][0]["cells"]), (&512.into(), &512.into()));
    let frames = red["queues"][0]["frames"].as_array().unwrap();
    let rates: Vec<u64> = frames.iter().map(|frame| frame["bits_per_second"].as_u64().unwrap()).collect();
    assert!(rates[0] > 1_000_000_000 && rates[1] > 1_000_000_000, "{rates:?}");
    // 63 modules less two, 4,096 cells less a longest frame and 640; at port 0 what red has not asked for, blue keeps 31 Mbit/s.
    let free = &all["free"];
    assert_eq!((&free["modules"], &free["cells"]), (&61.into(), &(4096 - 144 - 640).into()));
    let at = |n: usize| free["shares"][n]["bits_per_second"].as_u64().unwrap();
    assert!(at(0) > 100_000_000_000 && at(0) < 127_500_000_000 - 2_000_000_000, "{free}");
    assert_eq!((at(1), at(1)), (at(2), at(3)));
    assert!(at(1) < 64_000_000_000, "two ports share the bus then: {free}");
    assert_eq!(
        red["xdp"],
        serde_json::json!({ "weight": 4, "rows": 100, "contexts": 4, "memory": 5, "work": 1000, "growth": 128 })
    );
    assert_eq!(
        all["tenants"][1]["xdp"],
        serde_json::json!({ "weight": 16, "rows": 0, "contexts": 0, "memory": 0, "work": 65536, "growth": 128 })
    );
    let text = f.sluice(&["object", "shares", "--config", "nic.toml"]);
    let free: Vec<&str> = text.out.lines().filter(|line| line.starts_with("what is free: ")).collect();
    assert!(
        matches!(free[..], [line] if line.contains("modules 61, cells 3,312, shares to ask for port0 1")),
        "{free:?}"
    );
    let line = text.out.lines().find(|line| line.starts_with("red") && line.contains("port0")).unwrap();
    assert!(line.contains("1,999") || line.contains("2,000"), "{line}");
    assert_eq!(text.out.lines().filter(|line| line.starts_with("blue")).count(), 4, "{}", text.out);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert!(
        text.out.lines().any(|line| words(line) == ["red", "4", "100", "6,400", "4", "5", "1,000", "128"]),
        "{}",
        text.out
    );
}

#[test]
fn a_queue_that_does_not_hold_a_share_is_warned_of_and_shown() {
    let f = Folder::new();
    f.write("nic.toml", two(8));
    let called = f.sluice(&["object", "shares", "--config", "nic.toml"]);
    assert_eq!(called.code, 0);
    assert!(called.err.contains("[E0237] tenant `red`"), "{}", called.err);
    f.write("nic.toml", "[device]\ntarget = \"none\"\n");
    let called = f.sluice(&["object", "shares", "--config", "nic.toml"]);
    assert!(called.code == 2 && called.err.contains("target"), "{}", called.err);
}

#[test]
fn where_maps_lie_is_shown_for_a_target_with_external_memory() {
    let f = Folder::new();
    let object = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/xdp/learning_switch/learning_switch.o");
    let nic = |target: &str| {
        format!(
            "[device]\ntarget = \"{target}\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\n\
             queues = {{ host0 = 64 }}\nxdp = \"{object}\"\nmap_places = {{ stations = \"outside\" }}\n"
        )
    };
    f.write("nic.toml", nic("far"));
    let called = f.sluice(&["object", "shares", "--config", "nic.toml", "--json"]);
    assert_eq!((called.code, called.err.as_str()), (0, ""));
    let all: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    let maps = all["tenants"][0]["xdp"]["maps"].as_array().unwrap();
    let of = |name: &str| maps.iter().find(|map| map["map"] == name).unwrap();
    assert_eq!((&of("stations")["values"], &of("stations")["search"]), (&"outside".into(), &"outside".into()));
    assert_eq!((&of("ports")["values"], &of("ports")["search"]), (&"chip".into(), &serde_json::Value::Null));
    let text = f.sluice(&["object", "shares", "--config", "nic.toml"]).out;
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let row = text.lines().map(words).find(|words| words.get(1).is_some_and(|word| word == "stations")).unwrap();
    assert_eq!((&row[2][..], &row[4][..]), ("outside", "outside"), "{text}");
    // Without external memory nothing can lie there.
    f.write("nic.toml", nic("default"));
    let refused = f.sluice(&["object", "shares", "--config", "nic.toml"]);
    assert!(refused.code != 0 && refused.err.contains("nic.toml:9:"), "{}", refused.err);
    assert!(refused.err.contains("E0809") && refused.err.contains("no external memory"), "{}", refused.err);
}
