//! Policies over all tenants of a file: what is reserved is given, inserted, and no more.

use super::*;
use sluice_frontends::{Reading, Tables};
use sluice_object::Linker;
use std::fmt::Write;

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4")
}

/// Tenants with a program each, and what stands in their tables of P4.
fn nic(device: &str, tenants: &[(&str, &str)]) -> Result<NicConfig, ConfigError> {
    let mut text = format!("[device]\ntarget = \"default\"\n{device}\n");
    for (at, (program, p4)) in tenants.iter().enumerate() {
        let id = at + 1;
        write!(
            text,
            "[[tenant]]\nname = \"t{id}\"\nid = {id}\nvlans = [{id}]\nobject = \"{program}\"\nqueues = {{ port0 = 8, port1 = 8, port2 = 8, port3 = 8 }}\n"
        )
        .unwrap();
        if !p4.is_empty() {
            writeln!(text, "p4 = {{ {p4} }}").unwrap();
        }
    }
    NicConfig::parse("nic.toml", &text, &programs())
}

/// Entries reserved for the first table of each tenant.
fn reserved(config: &NicConfig) -> Vec<u32> {
    let of = |tenant: &TenantConfig| {
        let part = tenant.object.as_ref().unwrap().parts.rmt.as_ref().unwrap();
        part.logical.as_ref().unwrap().tables.iter().find_map(|table| table.reserved).unwrap_or(0)
    };
    config.tenants.iter().map(of).collect()
}

fn linked(config: &NicConfig) -> Linker {
    let mut linker = crate::linker_of(config);
    loads(config, &mut linker).unwrap_or_else(|e| panic!("{e}"));
    linker
}

#[test]
fn a_policy_shares_what_there_is_over_all_tenants_of_a_file() {
    let four = [("basic.p4", ""), ("basic.p4", ""), ("basic.p4", ""), ("basic.p4", "")];
    let fixed = reserved(&nic("", &four).unwrap());
    assert_eq!(fixed, reserved(&nic("policy = \"fixed\"", &four).unwrap()));
    assert!(fixed.windows(2).all(|two| two[0] == two[1]), "{fixed:?}");
    for policy in ["drf", "utility"] {
        let config = nic(&format!("policy = \"{policy}\""), &four).unwrap();
        let shared = reserved(&config);
        // Two lie in one stage and share it, the others have one each.
        let mut sorted = shared.clone();
        sorted.sort_unstable();
        assert!(sorted[0] == sorted[1] && sorted[2] == sorted[3] && sorted[0] > fixed[0], "{policy}: {shared:?}");
        assert!(sorted[2] > 2 * sorted[0], "{policy}: {shared:?}");
        let linker = linked(&config);
        let at = |id: u16| linker.placer().stages_of(linker.tenant(id).unwrap().module)[&1];
        let stages: Vec<u8> = (1..=4).map(at).collect();
        assert_eq!(stages.iter().collect::<std::collections::BTreeSet<_>>().len(), 3, "{policy}: {stages:?}");
    }
}

#[test]
fn weights_and_reserves_are_heeded() {
    let config = nic(
        "policy = \"drf\"",
        &[("basic.p4", "weight = 3"), ("basic.p4", "reserve = { routes = 20 }"), ("basic.p4", ""), ("basic.p4", "")],
    )
    .unwrap();
    let given = reserved(&config);
    assert_eq!(given[1], 20);
    linked(&config);
    // Without a policy a reserve is the tenant's, whatever a quarter is.
    let config = nic("", &[("basic.p4", "reserve = { \"Forward.routes\" = 25 }"), ("basic.p4", "")]).unwrap();
    assert_eq!(reserved(&config)[0], 25);
    linked(&config);
}

/// As many entries as were reserved go in, others in each tenant, and not one more.
#[test]
fn what_is_reserved_goes_in() {
    for policy in ["fixed", "drf", "utility"] {
        let four = [("basic.p4", ""), ("basic.p4", ""), ("basic.p4", "weight = 2"), ("basic.p4", "")];
        let config = nic(&format!("policy = \"{policy}\""), &four).unwrap();
        let mut linker = linked(&config);
        for (at, reserved) in reserved(&config).into_iter().enumerate() {
            let id = at as u16 + 1;
            let reading = Reading::new(config.target, "basic");
            let mut tables = Tables::read(&programs().join("basic.p4"), &reading, None).unwrap().unwrap();
            for entry in 0..reserved {
                let prefix = entry << 8 | u32::from(id) << 24;
                let route = format!("add routes hdr.ipv4.dst:{prefix:#010x}/24 forward(next_hop:{entry}, port:1)");
                tables.change(&route).unwrap();
            }
            let object = tables.object().unwrap();
            linker.replace(id, &object).unwrap_or_else(|e| panic!("{policy}, t{id}, {reserved} entries: {e}"));
            // One more is beyond what he was given, or beyond the stage.
            let more = tables.change("add routes hdr.ipv4.dst:0xff000000/8 forward(next_hop:1, port:1)");
            let refused = match more.and_then(|_| tables.object()) {
                Ok(more) => linker.replace(id, &more).unwrap_err().code(),
                Err(error) => error.code,
            };
            assert!(["E0671", "E0770"].contains(&refused), "{policy}, t{id}: {refused}");
        }
    }
}

#[test]
fn mistakes_are_answered_at_their_key() {
    for (device, p4, code, words) in [
        ("policy = \"most\"", "", "E0303", "`most`"),
        ("", "reserve = { nothing = 3 }", "E0799", "`nothing`"),
        ("", "reserve = { routes = 5000 }", "E0799", "ternary rows"),
        ("", "weight = 0", "E0303", "a whole number from 1 to 65535"),
        ("policy = \"drf\"", "reserve = { routes = -1 }", "E0303", "-1"),
    ] {
        let error = nic(device, &[("basic.p4", p4)]).unwrap_err();
        assert!(error.code() == code && error.to_string().contains(words), "{device} {p4}: {error} [{}]", error.code());
    }
    // Who does not fit is named.
    let many = vec![("basic.p4", "reserve = { routes = 20 }"); 7];
    let error = nic("policy = \"drf\"", &many).unwrap_err();
    assert!(error.code() == "E0670" && error.to_string().contains("ternary"), "{error}");
}
