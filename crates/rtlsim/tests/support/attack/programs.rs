//! Programs: the measured tenant's, and what takes most of the pipeline, the state and the buffer.

use crate::xdp::device::all_maps;
use sluice_ebpf::{Image, MapSpec, MapType, Program, tenant};
use sluice_formats::Target;
use sluice_formats::l7::qnp::Header;
use sluice_frontends::Reading;
use sluice_l7::message::Addresses;
use sluice_l7::testing::{ping_pong, ping_pong_payload};
use sluice_object::{Destination, Object};
use std::fmt::Write;
use std::path::Path;

/// Bytes of a frame, without its tag, that say which flow it is of.
pub const FLOW_AT: usize = 14;
/// Flows of the measured tenant: to his first destination and longer, to his second one, to both, to nobody; others are
/// dropped, too.
pub const FLOWS: u16 = 4;
/// Bytes that his program adds to the first flow.
pub const GROWTH: u32 = 4;
/// His multicast group.
pub const GROUP: u16 = 1;
/// Stage that is a tenant's on every target.
pub const STAGE: u8 = 1;

/// A module's text as an object.
pub fn module(name: &str, text: &str, target: &Target) -> Object {
    let read = sluice_frontends::decode(Path::new("attack.rmt"), text.as_bytes(), &Reading::new(target, name));
    read.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Words of `demands` for these destinations.
fn demands(destinations: &[Destination]) -> String {
    destinations.iter().fold(String::new(), |mut text, d| {
        let _ = writeln!(text, " queue {d} 1");
        text
    })
}

fn listed(destinations: &[Destination]) -> String {
    destinations.iter().map(Destination::to_string).collect::<Vec<_>>().join(", ")
}

/// Counts the packets of each flow in a state word of its own, writes the count and a mark into the packet, and sends as
/// [`FLOWS`] says.
pub fn measured([first, second]: [Destination; 2], target: &Target) -> Object {
    let count = "seen[flow] += 1 -> new count; mark = 0x5a5a";
    let text = format!(
        "module measured\nheader ethernet = 0, extra = 1\n\
         container kind = c2[0], flow = c2[1], mark = c2[2], count = c4[0]\n\
         group both = {GROUP} {{ {first} tag 21; {second} tag 22 }}\nstate keep\n\
         demands {{\n queue {first} 1\n queue {second} 1\n}}\n\
         parser {{\n select 12:2 {{\n 0x1234 -> all\n }}\n path all {{\n headers ethernet\n \
         take kind @12, flow @14, mark @16, count @18\n }}\n}}\n\
         stage {STAGE} {{\n memory seen words 64\n key flow\n \
         exact {{\n 0 -> longer\n 1 -> other\n 2 -> copied\n 3 -> nobody\n }}\n default drop\n \
         action longer {{ {count}; send {first}; valid extra }}\n \
         action other {{ {count}; send {second}; queue 2 }}\n \
         action copied {{ {count}; group both }}\n \
         action nobody {{ seen[flow] += 1; discard }}\n \
         action drop {{ discard }}\n}}\n\
         deparser {{\n when headers ethernet, extra -> longer\n * -> same\n \
         row longer {{\n grow {GROWTH} at 22\n put mark @16, count @18, kind @22, mark @24\n }}\n \
         row same {{\n put mark @16, count @18\n }}\n}}\n"
    );
    module("measured", &text, target)
}

/// An XDP program: counts the packets of each flow in an array, marks the packet, and passes flows 0 to 2.
pub fn counting(to: Destination) -> Object {
    let text = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 24\nr0 = 1\nif r3 > r2 goto out\n\
        r7 = *(u8 *)(r6 +15)\n*(u8 *)(r6 +20) = r7\n*(u32 *)(r10 -4) = r7\nr2 = r10\nr2 += -4\nr1 = map[counts]\n\
        call bpf_map_lookup_elem\nif r0 == 0 goto drop\nr1 = 1\nlock *(u64 *)(r0 +0) += r1\nr0 = 2\nif r7 > 2 goto drop\n\
        exit\ndrop:\nr0 = 1\nout:\nexit\n";
    xdp("counting", text, vec![MapSpec::new("counts", MapType::Array, 4, 8, u32::from(FLOWS) + 1)], to)
}

/// An XDP program in text with these maps, which passes to a destination.
pub fn xdp(name: &str, text: &str, maps: Vec<MapSpec>, to: Destination) -> Object {
    let names: Vec<&str> = maps.iter().map(|map| map.name.as_str()).collect();
    let program = sluice_ebpf::insn::assemble(name, text, &names).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program { section: "xdp".to_owned(), ..program };
    let image = Image { programs: vec![program], maps, ..Image::default() };
    let (files, program) = (all_maps(&image.maps), Some(name.to_owned()));
    let options = tenant::Options { pass: to, files, program, ..tenant::Options::default() };
    tenant::object(name, &image, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Compares of his rules.
const COMPARES: usize = 4;

/// Rules of message dispatch: three kinds of messages to queues of their own, others are dropped.
pub fn rules(target: &Target) -> Object {
    sluice_l7::object::object("rules", &ping_pong(COMPARES, 3), target).unwrap_or_else(|e| panic!("{e}"))
}

/// A message of one packet for these.
pub fn message(number: u32, flow: u16) -> Vec<u8> {
    let header = Header { app_id: 1, msg_id: number, msg_len_in_pkts: 1, ..Header::default() };
    sluice_l7::message::frame(&Addresses::to_port(9000), header, &ping_pong_payload(COMPARES, flow as u8))
}

/// Adds up to 64 bytes, an even number, to each packet and sends it to all of the destinations.
pub fn grower(bytes: u32, to: &[Destination], target: &Target) -> Object {
    let puts: Vec<String> = (0..bytes / 2).map(|i| format!("word @{}", 14 + 2 * i)).collect();
    let row =
        if bytes == 0 { "put word @12".to_owned() } else { format!("grow {bytes} at 14\n put {}", puts.join(", ")) };
    let text = format!(
        "module grower\ncontainer word = c2[0]\ndemands {{\n{} }}\n\
         parser {{\n select 0:1 {{\n * -> all\n }}\n path all {{\n take word @12\n }}\n}}\n\
         stage {STAGE} {{\n default out\n action out {{ send {} }}\n}}\ndeparser {{\n row r {{\n {row}\n }}\n}}\n",
        demands(to),
        listed(to)
    );
    module("grower", &text, target)
}

/// Copies each packet to all of the destinations by a group.
pub fn copier(group: u16, to: &[Destination], target: &Target) -> Object {
    let members: Vec<String> = to.iter().map(|d| format!("{d} tag 7")).collect();
    let text = format!(
        "module copier\ngroup all = {group} {{ {} }}\ndemands {{\n{} }}\n\
         parser {{\n select 0:1 {{\n * -> all\n }}\n path all {{\n least 14\n }}\n}}\n\
         stage {STAGE} {{\n default out\n action out {{ group all }}\n}}\ndeparser {{\n row r {{\n }}\n}}\n",
        members.join("; "),
        demands(to)
    );
    module("copier", &text, target)
}

/// Writes all his words with bytes of the packet, and meters what he sends.
pub fn writer(meters: bool, to: &[Destination], target: &Target) -> Object {
    let (memory, action) = if meters {
        ("meter police words 64 rate 1M packets burst 32", "police[hash] -> new value")
    } else {
        ("memory words64 words 64", "words64[hash] += value -> old value")
    };
    let text = format!(
        "module writer\ncontainer value = c4[0]\ndemands {{\n{} }}\n\
         parser {{\n select 0:1 {{\n * -> all\n }}\n path all {{\n take value @0\n least 18\n }}\n}}\n\
         stage {STAGE} {{\n {memory}\n key value\n default out\n action out {{ {action}; send {} }}\n}}\n\
         deparser {{\n row r {{\n put value @14\n }}\n}}\n",
        demands(to),
        listed(to)
    );
    module("writer", &text, target)
}

/// Writes another tenant's VLAN into its frames, or adds a tag with it where its own was taken off.
pub fn forger(vlan: u16, add: bool, to: &[Destination], target: &Target) -> Object {
    let row = if add { "grow 4 at 12\n put tag @12" } else { "put tag @12" };
    let text = format!(
        "module forger\ncontainer tag = c4[0]\ndemands {{\n{} }}\n\
         parser {{\n select 0:1 {{\n * -> all\n }}\n path all {{\n take tag @12\n least 34\n }}\n}}\n\
         stage {STAGE} {{\n default out\n action out {{ tag = {}; send {} }}\n}}\ndeparser {{\n row r {{\n {row}\n }}\n}}\n",
        demands(to),
        0x8100_0000u32 | u32::from(vlan),
        listed(to)
    );
    module("forger", &text, target)
}
