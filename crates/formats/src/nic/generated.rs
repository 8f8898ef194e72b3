//! `rtl/gen/sluice_pkg.sv`, `tb/nic/codes.py` and `docs/design/formats.md`.

use super::{FOLDER, control, info};
use crate::address::{NodeInfo, SNAPSHOT_INDEX_BIT, Table};
use crate::docgen::{Page, column};
use crate::engine::{EngineId, FOLDERS, Folder, folder};
use crate::limits::*;
use crate::message::{Op, Status};
use crate::pygen::Module;
use crate::reason::Reason;
use crate::svgen::Package;
use crate::target::{self, Sizes};

fn targets() -> Vec<Sizes> {
    target::NIC.iter().map(|t| Sizes { name: t.name, resources: t.resources().to_vec(), hash: t.hash() }).collect()
}

/// The NIC's folder, and those whose names stand beside its own.
fn folders() -> Vec<&'static Folder> {
    FOLDERS.iter().copied().filter(|f| f.prefix.is_empty()).collect()
}

/// Numbers of the folders' nodes, with their names or without.
fn node_list(folders: &[&Folder], names: bool) -> String {
    let mut nodes: Vec<_> = folders.iter().flat_map(|f| f.nodes.iter().map(move |n| (*f, n))).collect();
    nodes.sort_by_key(|(_, n)| n.first);
    let text = |(folder, n): &(&Folder, &NodeInfo)| {
        let which = n.count.map_or(String::new(), |_| n.name[..1].to_owned());
        let number = if n.count.is_some() { format!("{} + {which}", n.first) } else { n.first.to_string() };
        let only = if folder.everywhere { "" } else { " (devices with that engine)" };
        if names { format!("{number} {} {which}", n.name).trim().to_owned() + only } else { number }
    };
    let mut all: Vec<String> = nodes.iter().map(text).collect();
    match all.pop() {
        Some(last) if !names && !all.is_empty() => format!("{} and {last}", all.join(", ")),
        Some(last) => all.into_iter().chain([last]).collect::<Vec<_>>().join(", "),
        None => String::new(),
    }
}

/// The package as text.
pub(super) fn package() -> String {
    let mut p = Package::new("sluice_pkg", "Formats, address map and targets of Sluice.");
    for (name, value) in [
        ("FormatVersion", FORMAT_VERSION),
        ("TenantBits", TENANT_BITS),
        ("ModuleBits", MODULE_BITS),
        ("SystemModule", u32::from(SYSTEM_MODULE)),
        ("SystemTenant", u32::from(SYSTEM_TENANT)),
        ("VlanRows", VLAN_ROWS),
        ("DestBits", DESTINATIONS),
        ("MaxFrameBytes", MAX_FRAME_BYTES),
        ("MinFrameBytes", MIN_FRAME_BYTES),
        ("LeastPacketBytes", LEAST_PACKET_BYTES),
        ("KeyBytes", KEY_BYTES as u32),
        ("TagBytes", TAG_BYTES as u32),
        ("MessageDataWords", MESSAGE_DATA_WORDS as u32),
        ("MaintenancePeriod", MAINTENANCE_PERIOD),
        ("MessageTimeoutCycles", MESSAGE_TIMEOUT_CYCLES),
        ("TickBits", TICK_BITS),
        ("CostFractionBits", COST_FRACTION_BITS),
        ("CounterBits", 48),
        ("HighQueue", HIGH_QUEUE.into()),
        ("CopiesAhead", COPIES_AHEAD),
        ("HostSlotPeriod", HOST_SLOT_PERIOD),
    ] {
        p.constant(name, value);
    }
    p.text(&format!("  localparam logic [15:0] ReconfigUdpPort = 16'h{RECONFIG_UDP_PORT:04x};\n"));
    p.text(&format!("  localparam logic [15:0] VlanEthertype = 16'h{VLAN_ETHERTYPE:04x};\n\n"));
    p.rows(FOLDER.rows);
    let reasons: Vec<_> = Reason::ALL.iter().map(|r| (r.name(), r.code())).collect();
    let doc = "Drop reasons; the low three bits are the kind of counter, from 32 on (the rmt pipeline) the low four.";
    p.enumeration(doc, "reason", 6, "Reason", &reasons);
    for folder in FOLDERS.iter().filter(|f| !f.prefix.is_empty()) {
        for events in folder.events {
            p.constant(&format!("First{}Reason", folder.prefix), events.first.into());
        }
    }
    p.text("\n  // Sets of engines: a bit each.\n");
    for (engine, folder) in EngineId::all().zip(&FOLDERS[1..]) {
        p.constant(&format!("Engine{}", folder.prefix), engine.bit());
    }
    p.constant("AllEngines", EngineId::set(EngineId::all()));
    p.address_map(&folders(), "");
    for (name, value) in [
        ("SnapshotIndexBit", SNAPSHOT_INDEX_BIT),
        ("InfoVersion", info::VERSION),
        ("InfoTargetHash", info::TARGET_HASH),
        ("InfoTicks", info::TICKS),
        ("InfoBadMessages", info::BAD_MESSAGES),
        ("InfoTimeouts", info::TIMEOUTS),
        ("InfoWedges", info::WEDGES),
        ("InfoEngines", info::ENGINES),
        ("ControlEpoch", control::EPOCH),
        ("ControlHold", control::HOLD),
        ("ControlWatchdog", control::WATCHDOG),
        ("ControlFlowSecret", control::FLOW_SECRET),
        ("ControlRows", control::ROWS),
        ("FlowSecretWords", control::FLOW_SECRET_WORDS),
        ("FlowSecretBits", control::FLOW_SECRET_BITS),
        ("FlowSecretAtReset0", control::FLOW_SECRET_AT_RESET[0]),
        ("FlowSecretAtReset1", control::FLOW_SECRET_AT_RESET[1]),
        ("FlowSecretAtReset2", control::FLOW_SECRET_AT_RESET[2]),
        ("FlowSecretAtReset3", control::FLOW_SECRET_AT_RESET[3]),
    ] {
        p.constant(name, value);
    }
    for codes in FOLDER.codes {
        p.text("\n");
        p.codes(codes);
    }
    p.text("\n");
    p.targets("nic_cfg", &targets());
    p.finish()
}

/// The benches' module as text.
pub(super) fn module() -> String {
    let mut m = Module::new("Codes of configuration messages, and drop reasons.");
    FOLDER.codes.iter().for_each(|codes| m.codes(codes));
    m.enumeration("Reason", "Drop reasons.", &Reason::ALL.map(|r| (r.name(), r.code())));
    m.finish()
}

/// The page as text.
pub(super) fn page() -> String {
    let mut p = Page::new(format!(
        "# Formats\n\nGenerated by `sluice-gen` from `crates/formats`; `make gen` writes it, `make lint` checks it.\n\
         Format version {FORMAT_VERSION}. Rows are packed from bit 0 of word 0 upwards; a MAC address or key\n\
         has its first byte on the wire in bits 7:0.\n\n"
    ));
    p.targets(&targets());
    p.rows("Rows", FOLDER.rows, false);
    p.text("## Drop reasons\n\n");
    let reason = |r: Reason| vec![r.code().to_string(), format!("`{}`", r.name()), r.doc().to_owned()];
    p.table(&["code", "name", "meaning"], Reason::ALL.map(reason));
    let statuses: Vec<_> = Status::ALL.iter().map(|s| format!("{} {}", s.code(), s.name().replace('_', " "))).collect();
    p.text(&format!(
        "\n## Configuration messages\n\nWord 0: op 31:28, status 27:24, node 23:16, sequence 15:0. Word 1: table 31:24,\n\
         index 23:0. Then the data words. Last: CRC-32C over all words before it, each least significant byte\n\
         first. A write has the whole row; a reply to a read has at most 8 words of it. Ops: {} read, {} write, {} and {}\n\
         their replies. Status: {}.\n\n## Address map\n\n",
        Op::Read.code(),
        Op::Write.code(),
        Op::ReadReply.code(),
        Op::WriteReply.code(),
        statuses.join(", "),
    ));
    p.text(&format!("Nodes: {}.", node_list(&folders(), true)));
    for folder in FOLDERS.iter().filter(|f| !f.prefix.is_empty()) {
        let files = (folder.generated)();
        let page = files.iter().find_map(|(path, _)| path.strip_prefix("docs/design/")).unwrap_or("formats.md");
        let nodes = node_list(&[folder], false);
        p.text(&format!(" Those of the\n{}, {nodes}, are in [{page}]({page}#tables).", folder.title));
    }
    p.text("\nIndex bit 23 of a counter reads its value at the last snapshot.\n\n");
    let columns = vec![
        column("node", |t| t.node().kind().to_owned()),
        column("table", |t| t.number().to_string()),
        column("name", |t| format!("`{}`", t.name())),
        column("row", |t| t.row_doc().to_owned()),
    ];
    p.tables(columns, Table::ALL.into_iter().filter(|t| folder(t.engine()).prefix.is_empty()));
    p.finish()
}
