//! `rtl/gen/sluice_l7_rows_pkg.sv` and `docs/design/l7-rows.md`.

use super::{EVENTS, FOLDER, qnp, target};
use crate::docgen::Page;
use crate::svgen::Package;
use crate::target::Sizes;

fn targets() -> Vec<Sizes> {
    target::ALL.iter().map(|t| Sizes { name: t.name, resources: t.resources().to_vec(), hash: t.hash() }).collect()
}

/// The package as text.
pub(super) fn package() -> String {
    let mut p = Package::new("sluice_l7_rows_pkg", "Rows, tables and targets of the l7 engine (docs/design/l7.md).");
    p.text("  // What both targets have. A simulation may set others: docs/design/l7.md, \"Other sizes\".\n");
    p.setting("L7Alternatives", "SLUICE_L7_ALTERNATIVES", target::ALTERNATIVES as u32);
    p.setting("L7MatchBytes", "SLUICE_L7_COMPARE_BYTES", target::MATCH_BYTES as u32);
    p.setting("L7ViewSegments", "SLUICE_L7_VIEW_SEGMENTS", target::VIEW_SEGMENTS as u32);
    p.text("\n");
    let sizes = [
        ("SegmentBytes", target::SEGMENT_BYTES),
        ("Fields", target::FIELDS),
        ("Slots", target::SLOTS),
        ("MostSteps", target::MOST_STEPS as usize),
        ("HashBytes", target::HASH_BYTES),
        ("HeaderBytes", qnp::HEADER_BYTES),
        ("RawHeaderBytes", qnp::RAW_HEADER_BYTES),
        ("MostPackets", qnp::MOST_PACKETS),
        ("TableHashes", target::TABLE_HASHES),
        ("TableWays", target::TABLE_WAYS),
        ("SharedPackets", target::SHARED_PACKETS),
        ("DescriptorBytes", target::DESCRIPTOR_BYTES),
        ("CompletionBytes", target::COMPLETION_BYTES),
        ("DefaultExpiry", (target::EXPIRY_NS / target::EXPIRY_TICK_NS) as usize),
        ("ExpiryTickCycles", target::EXPIRY_TICK_CYCLES as usize),
        ("AgeBits", target::AGE_BITS as usize),
        ("MostExpiry", target::MOST_EXPIRY as usize),
        ("FirstAge", target::FIRST_AGE as usize),
    ];
    for (name, value) in sizes {
        p.constant(&format!("L7{name}"), value as u32);
    }
    p.text("  localparam int unsigned L7ViewBytes = L7ViewSegments * L7SegmentBytes;\n\n");
    let follow = [
        ("l7_alternative", "bytes", "logic [8*L7MatchBytes-1:0]"),
        ("l7_match_row", "length", "logic [$clog2(L7MatchBytes+1)-1:0]"),
        ("l7_match_row", "alternatives", "l7_alternative_t [L7Alternatives-1:0]"),
    ];
    p.rows_of_settings(FOLDER.rows, &follow);
    let kinds: Vec<_> = EVENTS.all.iter().map(|e| (e.name, e.kind)).collect();
    p.enumeration("Kinds of the drop counters.", "l7_event", 4, "L7Event", &kinds);
    for codes in FOLDER.codes {
        p.text("\n");
        p.codes(codes);
    }
    p.address_map(&[&FOLDER], "");
    p.text("\n");
    p.targets("l7_cfg", &targets());
    p.finish()
}

/// The page as text.
pub(super) fn page() -> String {
    Page::of_engine(&FOLDER, "l7.md", &targets())
}
