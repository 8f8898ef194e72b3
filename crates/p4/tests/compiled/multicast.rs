//! `multicast` of sluice.p4: copies to a group without one to the port of arrival, and `link_statistics`.

use crate::compare::{ALONE, Came, LONG, Place, TENANT, on_header, run};
use sluice_formats::random::{Rng, test_seed};

const PACKETS: usize = 1_000;

fn program(locals: &str, ingress: &str, egress: &str) -> String {
    on_header("bit<8> a; bit<8> b; bit<16> c; bit<16> d;", locals, ingress, egress)
}

const GROUPS: &str = "mc_mgrp_create 1\nmc_node_create 0 0 1 2\nmc_node_associate 1 0\n\
                      mc_mgrp_create 7\nmc_node_create 5 3 1\nmc_node_associate 7 1\n";

fn packets() -> Vec<(u16, Vec<u8>)> {
    let mut rng = Rng::new(test_seed("multicast"));
    let packet = |_| {
        let mut packet: Vec<u8> = (0..6 + rng.below(6)).map(|_| rng.next_u32() as u8).collect();
        packet[0] = rng.below(6) as u8;
        packet[2..4].copy_from_slice(&[0, [0, 1, 7, 9][rng.index(4)]]);
        (rng.below(4) as u16, packet)
    };
    (0..PACKETS).map(packet).collect()
}

fn agrees(text: &str, entries: &str, places: &[Place], sent: std::ops::Range<usize>) {
    for place in places {
        match run(text, &format!("{GROUPS}{entries}"), *place, &packets()) {
            Came::Agreed(left) => assert!(sent.contains(&left), "{left}\n{text}"),
            other => panic!("{other:?}\n{text}"),
        }
    }
}

fn refused(locals: &str, ingress: &str, egress: &str, words: &str) {
    match run(&program(locals, ingress, egress), GROUPS, ALONE, &packets()) {
        Came::Refused(why) => assert!(why.contains(words) && why.contains("multicast"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn copies_go_to_the_group_and_not_back_if_that_is_asked_for() {
    let all = [ALONE, TENANT, LONG];
    // Three ports of four are in the group.
    let (each, others) = (3 * PACKETS..3 * PACKETS + 1, 2 * PACKETS..5 * PACKETS / 2);
    for (ingress, egress, sent) in [
        ("multicast(1, false);", "", each.clone()),
        ("multicast(1, true);", "", others.clone()),
        // In place of the port and the group of the metadata, wherever they are written.
        ("multicast(1, true); standard.egress_spec = 3; standard.mcast_grp = 7;", "", others.clone()),
        ("standard.egress_spec = 3; standard.mcast_grp = 7; multicast(1, false);", "", each.clone()),
        // The last call counts; a drop takes it back.
        ("multicast(1, false); multicast(1, true);", "", others.clone()),
        ("multicast(1, false); mark_to_drop(standard);", "", 0..1),
        ("mark_to_drop(standard); multicast(1, false);", "", each),
        // Egress may drop it, too, or the same copy.
        ("multicast(1, true);", "if (hdr.h.a == 1) { mark_to_drop(standard); }", PACKETS..2 * PACKETS),
        (
            "multicast(1, false);",
            "if (standard.egress_port == standard.ingress_port) { mark_to_drop(standard); }",
            others.clone(),
        ),
        (
            "multicast(1, true);",
            "if (standard.egress_port == standard.ingress_port) { mark_to_drop(standard); }",
            others.clone(),
        ),
        (
            "if (hdr.h.a == 2) { multicast(1, true); } else { standard.egress_spec = 2; }",
            "hdr.h.b = 3;",
            PACKETS..2 * PACKETS,
        ),
    ] {
        agrees(&program("", ingress, egress), "", &all, sent);
    }
}

#[test]
fn a_group_comes_from_the_packet_or_an_entry() {
    let some = PACKETS / 2..3 * PACKETS;
    // Groups 0 and 9 have nobody: 0 is none, and then the port counts.
    agrees(&program("", "standard.egress_spec = 3; multicast(hdr.h.c, true);", ""), "", &[ALONE, LONG], some.clone());
    let locals = "action to(bit<16> group) { multicast(group, true); hdr.h.b = 1; }
        action all(bit<16> group, bit<1> except) { if (except == 1) { multicast(group, true); } else { multicast(group, false); } }
        table t { key = { hdr.h.a: exact; } actions = { to; NoAction; } }
        table u { key = { hdr.h.a: exact; } actions = { all; NoAction; } }";
    let entries = "add t hdr.h.a:1 to(group:1)\nadd t hdr.h.a:2 to(group:7)\n";
    agrees(&program(locals, "t.apply();", ""), entries, &[ALONE, TENANT, LONG], some.clone());
    let entries = "add u hdr.h.a:1 all(group:1, except:1)\nadd u hdr.h.a:2 all(group:7, except:0)\n";
    agrees(&program(locals, "u.apply();", ""), entries, &[ALONE, LONG], some);
}

#[test]
fn multicast_outside_of_ingress_is_refused() {
    refused("", "standard.egress_spec = 1;", "multicast(1, true);", "outside of ingress");
    refused(
        "",
        "multicast(1, true); clone(CloneType.I2E, 5);",
        "",
        "a clone of a packet that goes to a multicast group",
    );
}

#[test]
fn statistics_of_the_link_are_zero_where_no_system_program_writes_them() {
    let apply =
        "link_statistics_t s; link_statistics(s); standard.egress_spec = 1; hdr.h.c = s.queue_depth; hdr.h.d = s.use;";
    agrees(&program("", apply, ""), "", &[ALONE, TENANT, LONG], PACKETS..PACKETS + 1);
    agrees(
        &program("", "standard.egress_spec = 1;", &apply.replace("standard.egress_spec = 1;", "")),
        "",
        &[ALONE],
        PACKETS..PACKETS + 1,
    );
    let apply = "link_statistics_t s; link_statistics(s); if (s.queue_depth > 100) { mark_to_drop(standard); } hdr.h.d = s.use;";
    agrees(&program("", apply, ""), "", &[ALONE, LONG], PACKETS..PACKETS + 1);
}
