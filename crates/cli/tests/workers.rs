//! `--workers`: the data plane in several threads.

use crate::common::Folder;

#[test]
fn several_workers_count_what_one_counts_and_every_script_passes() {
    let folder = Folder::new();
    let counted = |workers: &str| {
        let line = "sluice run --config programs/nic/nic.toml --device dataplane --in port0=programs/nic/mixed.pcapng --in port1=programs/nic/mixed.pcapng --json --workers ";
        let report = folder.shell(&format!("{line}{workers} --out port1=out{workers}.pcap")).ok();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["accounting_closed"], true, "{report}");
        let of = |tenant: &serde_json::Value| {
            ["name", "offered", "copies", "forwarded", "delivered", "dropped"].map(|key| tenant[key].to_string())
        };
        report["tenants"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let one = counted("1");
    assert!(one.iter().any(|tenant| tenant[3] != "0"), "{one:?}");
    for workers in ["2", "3", "64"] {
        assert_eq!(counted(workers), one, "{workers} workers");
    }
    let scripts = "programs/nic/*.pkt programs/rmt/*.pkt programs/xdp/*/*.pkt programs/l7/*.pkt";
    let called = folder.shell(&format!("sluice script --device dataplane --workers 3 {scripts}")).ok();
    assert!(called.contains(" 0 failed"), "{called}");
}

#[test]
fn workers_are_refused_where_there_are_none() {
    let folder = Folder::new();
    let run = "sluice run --config programs/nic/nic.toml --in port0=programs/nic/mixed.pcapng";
    for (line, words) in [
        (format!("{run} --workers 2"), "model has no workers, expected --device dataplane"),
        (format!("{run} --workers 2 --device rtl"), "rtl has no workers"),
        (format!("{run} --workers 0 --device dataplane"), "expected 1 to 64"),
        (format!("{run} --workers 65 --device dataplane"), "expected 1 to 64"),
        (format!("{run} --workers 2 --device dataplane --stamps"), "--stamps needs one"),
        (
            format!("{run} --workers 2 --device dataplane --replace red=programs/nic/red-2.json@50%"),
            "--replace needs one",
        ),
        ("sluice script programs/nic/red.pkt --workers 2".to_owned(), "model has no workers"),
    ] {
        let called = folder.shell(&line);
        assert_eq!(called.code, 2, "{line}: {}", called.out);
        assert!(called.err.contains(words), "{line}: {}", called.err);
    }
}
