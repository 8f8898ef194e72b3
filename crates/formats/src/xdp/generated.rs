//! `rtl/gen/sluice_xdp_rows_pkg.sv` and `docs/design/xdp-rows.md`.

use super::{EVENTS, FOLDER, target};
use crate::docgen::Page;
use crate::svgen::Package;
use crate::target::Sizes;

fn targets() -> Vec<Sizes> {
    target::ALL.iter().map(|t| Sizes { name: t.name, resources: t.resources().to_vec(), hash: t.hash() }).collect()
}

/// The package as text.
pub(super) fn package() -> String {
    let doc = "Rows, tables and targets of the XDP engine (docs/design/hxdp-core.md).";
    let mut p = Package::new("sluice_xdp_rows_pkg", doc);
    let sizes = [
        ("Lanes", target::LANES),
        ("PageRows", target::PAGE_ROWS),
        ("CoreSteps", target::CORE_STEPS),
        ("Steps", target::STEPS),
        ("KeyBytes", target::KEY_BYTES),
        ("ValueBytes", target::VALUE_BYTES),
        ("EventWords", target::EVENT_WORDS),
        ("RecordUnit", target::RECORD_UNIT),
    ];
    for (name, value) in sizes {
        p.constant(&format!("Xdp{name}"), value as u32);
    }
    p.text("\n");
    p.rows(FOLDER.rows);
    let kinds: Vec<_> = EVENTS.all.iter().map(|e| (e.name, e.kind)).collect();
    p.enumeration("Kinds of the drop counters.", "xdp_event", 3, "XdpEvent", &kinds);
    for codes in FOLDER.codes {
        p.text("\n");
        p.codes(codes);
    }
    p.address_map(&[&FOLDER], "");
    p.text("\n");
    p.targets("xdp_cfg", &targets());
    p.finish()
}

/// The page as text.
pub(super) fn page() -> String {
    Page::of_engine(&FOLDER, "hxdp-core.md", &targets())
}
