//! Which of the classics compile for the share of a tenant, for the whole of `default`, and for a tenant of `wide`; the others are refused
//! at a line, with a code.

use sluice_p4::{Allowed, Reader};
use sluice_rmt::target::{DEFAULT, WIDE};
use std::path::Path;

/// What each program comes to for stages 1 to 3, 0 to 4, and 1 to 10 of `wide`: the stages that it takes, or code and line.
const EXPECTED: &[(&str, [&str; 3])] = &[
    ("access", ["3", "3", "5"]),
    ("atoms", ["3", "3", "3"]),
    ("basic", ["1", "1", "1"]),
    ("calc", ["1", "1", "1"]),
    ("label", ["2", "2", "2"]),
    ("ecn", ["3", "3", "3"]),
    ("firewall", ["E0750 line 69", "E0750 line 69", "E0750 line 69"]),
    ("flow_cache", ["E0750 line 91", "E0750 line 91", "E0750 line 91"]),
    ("link_monitor", ["E0750 line 145", "E0750 line 145", "E0750 line 145"]),
    ("load_balance", ["E0750 line 60", "E0750 line 60", "E0750 line 60"]),
    ("mirror", ["2", "2", "2"]),
    ("mri", ["E0770 line 71", "E0770 line 71", "E0770 line 71"]),
    ("multicast", ["2", "2", "2"]),
    ("options", ["1", "1", "1"]),
    ("qos", ["2", "2", "2"]),
    ("source_routing", ["1", "1", "1"]),
    ("tunnel", ["3", "4", "4"]),
];

/// The same with the flags that accept a part.
const IN_PART: &[(&str, &str, [&str; 3])] = &[
    ("firewall", "--hash target", ["E0770 line 114", "E0770 line 115", "9"]),
    ("link_monitor", "--bound data=2 --bound way=2", ["E0770 line 127", "4", "4"]),
    ("load_balance", "--hash target --power-of-two", ["E0770 line 82", "5", "5"]),
    ("mri", "--bound traces=8", ["2", "2", "2"]),
    ("tunnel", "--cells passed=512", ["3", "4", "4"]),
];

fn allowed(flags: &str) -> Allowed {
    let mut allowed = Allowed::default();
    let words: Vec<&str> = flags.split(' ').filter(|word| !word.is_empty()).collect();
    for (at, word) in words.iter().enumerate() {
        let pair = || words[at + 1].split_once('=').map(|(name, number)| (name, number.parse().unwrap())).unwrap();
        allowed = match *word {
            "--hash" => allowed.with_target_hash(),
            "--power-of-two" => allowed.with_power_of_two(),
            "--cells" => allowed.with_cells(pair().0, pair().1),
            "--bound" => allowed.with_bound(pair().0, pair().1),
            _ => allowed,
        };
    }
    allowed
}

fn came(name: &str, flags: &str, target: &sluice_rmt::Target, stages: (usize, usize)) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4").join(name).with_extension("p4");
    let mut program = Reader::new().check(&path).unwrap();
    program.allow(allowed(flags));
    match program.compile(target, stages.0, stages.1) {
        Ok(compiled) => compiled.stages().to_string(),
        Err(errors) => {
            let text = errors.to_string();
            let place = text.lines().find_map(|line| line.trim().strip_prefix("--> ")).unwrap_or_default();
            let line = place.rsplit(':').nth(1).unwrap_or_default();
            format!("{} line {line}", errors.code())
        }
    }
}

#[test]
fn the_classics_compile_or_are_refused_as_the_guide_says() {
    let mut wrong = Vec::new();
    let whole = EXPECTED.iter().map(|(name, expected)| (name, &"", expected));
    for (name, flags, expected) in whole.chain(IN_PART.iter().map(|(name, flags, expected)| (name, flags, expected))) {
        let found = [(&DEFAULT, (1, 3)), (&DEFAULT, (0, 4)), (&WIDE, (1, 10))].map(|(t, s)| came(name, flags, t, s));
        if found != *expected {
            wrong.push(format!("(\"{name}\", \"{flags}\", {found:?}),"));
        }
    }
    assert!(wrong.is_empty(), "now\n{}", wrong.join("\n"));
}

/// The picture has each table, state and field, in the column of its stage, and is well-formed.
#[test]
fn a_program_is_drawn() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/tunnel.p4");
    let program = Reader::new().check(&path).unwrap();
    let compiled = program.compile(&DEFAULT, 1, 3).unwrap();
    let drawn = compiled.draw(&program.reference(sluice_p4::Undefined::Zero, 1).unwrap());
    for words in ["parser", "stage 1", "stage 2", "deparser", "table Forward.routes", "table Forward.tunnels"] {
        assert!(drawn.contains(&format!(">{words}<")), "{words}: {drawn}");
    }
    for words in
        ["hdr.tunnel.number", "hdr.ipv4.dst [31:0]", "Forward.passed: 1024 words from 0", "state Forward.passed"]
    {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
    assert!(!drawn.contains("stage 0") && !drawn.contains("stage 4"));
    assert!(drawn.starts_with("<svg") && drawn.ends_with("</svg>\n"));
    assert_eq!(drawn.matches("<text").count(), drawn.matches("</text>").count());
    // Two tables one behind the other: a line from the one's column to the other's.
    assert!(drawn.contains("<line"));
}
