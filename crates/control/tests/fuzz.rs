//! Fuzzers, each for `SLUICE_FUZZ_SECONDS` (1 when not set): no input panics.

use arbtest::arbitrary::{Result, Unstructured};
use sluice_control::config::NicConfig;
use std::path::Path;

fn fuzz(name: &str, property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("{name}: {seconds} s; arbtest prints the seed of a failure");
    arbtest::arbtest(property).budget_ms(1000 * seconds).run();
}

#[test]
fn fuzz_nic_toml() {
    let words = [
        "[device]\n",
        "target = \"tiny\"\n",
        "[[port]]\n",
        "number = ",
        "1\n",
        "[[tenant]]\n",
        "name = \"a\"\n",
        "id = ",
        "vlans = [",
        "]\n",
        "\"",
        "{",
        "}",
        "=",
        "9999999999\n",
        "[tenant.table]\n",
        "key = \"dmac\"\n",
        "default = \"drop\"\n",
        "entries = [",
        "match",
        "queues = { port0 = 9 }\n",
        "é",
        "\u{0}",
        "\n",
        ",",
        "'''",
        "untagged = \"a\"\n",
        "rate = 1\nburst = 1\n",
        "max_frame = 70000\n",
        "object = \"/\"\n",
    ];
    fuzz("fuzz_nic_toml", |u| {
        let mut text = if u.ratio(1, 2)? { "[device]\ntarget = \"default\"\n".to_owned() } else { String::new() };
        for _ in 0..u.int_in_range(0..=30)? {
            if u.ratio(1, 8)? {
                text.push(u.arbitrary()?);
            } else {
                text.push_str(u.choose(&words)?);
            }
        }
        if let Err(error) = NicConfig::parse("fuzz.toml", &text, Path::new("/nowhere")) {
            assert!(error.to_string().starts_with("fuzz.toml"));
        }
        Ok(())
    });
}
