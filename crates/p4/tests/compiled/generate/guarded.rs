//! Random programs of one kind: tables, most of them exact, with what multiplies rows in front of them, beside and behind them. Guards, constants of
//! two ways, counters, registers and hashes; ways of the parser that the key does not tell apart; what is decided with the entry that is found; headers
//! that only some packets have; conditions of egress.

use super::Size;
use sluice_formats::random::Rng;

/// A program with what is sent through it.
pub struct Guarded {
    pub program: String,
    /// Entries, as a script adds them.
    pub entries: String,
}

/// Values of small fields, which programs, entries and packets have in common.
const SMALL: u64 = 4;

const FRAME: &str = "#include <core.p4>
#include <v1model.p4>

header e_t {
    bit<16> to;
    bit<16> from;
    bit<8> kind;
    bit<8> n;
}
header x_t {
    bit<16> a;
    bit<8> b;
    bit<8> next;
}
header y_t {
    bit<16> a;
    bit<16> b;
}
struct headers_t {
    e_t e;
    x_t x;
    y_t y;
}
struct meta_t {
    bit<16> m;
    bit<8> k;
    bit<8> v;
}
parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.e);
        transition select(hdr.e.kind) {
            1: x;
            2: y;
            default: accept;
        }
    }
    state x {
        packet.extract(hdr.x);
        transition select(hdr.x.next) {
            1: y;
            default: accept;
        }
    }
    state y {
        packet.extract(hdr.y);
        transition accept;
    }
}
control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}
control Enter(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
ENTER_LOCALS
    apply {
ENTER
    }
}
control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
LEAVE_LOCALS
    apply {
LEAVE
    }
}
control Update(inout headers_t hdr, inout meta_t meta) {
    apply {}
}
control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}
V1Switch(Parse(), Verify(), Enter(), Leave(), Update(), Deparse()) main;
";

/// A program while it is made.
struct Maker<'r> {
    rng: &'r mut Rng,
    size: Size,
    /// Declarations and statements of the control that is made.
    locals: String,
    lines: String,
    entries: String,
    tables: usize,
    names: usize,
    /// Whether state may be kept: not once for each copy.
    has_state: bool,
}

/// Makes a program.
pub fn guarded(rng: &mut Rng, size: Size) -> Guarded {
    let has_groups = size != Size::Tiny && rng.chance(1, 3);
    let mut maker = Maker {
        rng,
        size,
        locals: String::new(),
        lines: String::new(),
        entries: String::new(),
        tables: 0,
        names: 0,
        has_state: true,
    };
    if has_groups {
        maker.entries += "mc_mgrp_create 1\nmc_node_create 0 1 2 3\nmc_node_associate 1 0\n";
    }
    maker.ingress(has_groups);
    let enter = (std::mem::take(&mut maker.locals), std::mem::take(&mut maker.lines));
    maker.has_state = !has_groups;
    maker.egress(has_groups);
    let program = FRAME
        .replace("ENTER_LOCALS", &enter.0)
        .replace("LEAVE_LOCALS", &maker.locals)
        .replace("ENTER", &enter.1)
        .replace("LEAVE", &maker.lines);
    Guarded { program, entries: maker.entries }
}

/// A packet for any of them.
pub fn guarded_packet(rng: &mut Rng) -> Vec<u8> {
    let small = |rng: &mut Rng| if rng.chance(1, 6) { rng.next_u32() as u16 } else { rng.below(SMALL) as u16 };
    let mut bytes = Vec::new();
    for _ in 0..2 {
        bytes.extend(small(rng).to_be_bytes());
    }
    let kind = rng.below(4) as u8;
    bytes.extend([kind, small(rng) as u8]);
    let mut has_y = kind == 2;
    if kind == 1 {
        bytes.extend(small(rng).to_be_bytes());
        let next = rng.below(3) as u8;
        bytes.extend([small(rng) as u8, next]);
        has_y = next == 1;
    }
    if has_y {
        bytes.extend(small(rng).to_be_bytes());
        bytes.extend(small(rng).to_be_bytes());
    }
    let payload = rng.below(12) as usize;
    bytes.extend(rng.bytes(payload));
    if rng.chance(1, 10) {
        bytes.truncate(1 + rng.index(bytes.len()));
    }
    bytes
}

impl Maker<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines += &format!("        {}\n", text.as_ref());
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.rng.index(all.len())]
    }

    fn ingress(&mut self, has_groups: bool) {
        if self.rng.chance(1, 2) {
            self.line("standard.egress_spec = 1;");
        }
        for _ in 0..self.rng.below(3) / 2 + self.rng.below(2) {
            self.in_front();
        }
        let most = if self.size == Size::Tiny { 1 } else { 2 };
        let tables = 1 + self.rng.below(most);
        for at in 0..tables {
            self.table(has_groups && at == 0);
            if self.rng.chance(1, 6) {
                self.in_front();
            }
        }
        if self.rng.chance(1, 2) {
            self.of_a_header();
        }
    }

    fn egress(&mut self, has_groups: bool) {
        if has_groups || self.rng.chance(1, 3) {
            self.line("if (standard.egress_port == standard.ingress_port) { mark_to_drop(standard); }");
        }
        match self.rng.below(if has_groups { 3 } else { 7 }) / if has_groups { 2 } else { 1 } {
            0 | 5 | 6 => {}
            1 => self.of_a_header(),
            2 => {
                let port = self.rng.below(4);
                self.line(format!("if (standard.egress_port == {port}) {{ hdr.e.n = 9; }}"));
            }
            3 if self.size != Size::Tiny => self.table(false),
            _ => self.in_front(),
        }
    }

    fn condition(&mut self) -> String {
        let small = self.rng.below(SMALL);
        match self.rng.below(7) {
            0 => "hdr.x.isValid()".to_string(),
            1 => "hdr.y.isValid()".to_string(),
            2 => format!("hdr.e.n == {small}"),
            3 => format!("hdr.e.to < {}", 1 + small),
            4 => "hdr.e.to < hdr.e.from".to_string(),
            5 => "hdr.e.to == hdr.e.from".to_string(),
            _ => format!("hdr.x.isValid() && hdr.x.b == {small}"),
        }
    }

    /// What stands in front of a table, or behind it.
    fn in_front(&mut self) {
        let (condition, k) = (self.condition(), self.rng.below(SMALL));
        match self.rng.below(if self.has_state { 6 } else { 2 }) {
            0 => self.line(format!("if ({condition}) {{ meta.k = {k}; }} else {{ meta.k = {}; }}", k + 1)),
            1 => self.line(format!("if ({condition}) {{ meta.m = hdr.e.from; }}")),
            2 => {
                let (name, cells) = (self.name("count"), 1 + self.rng.below(8));
                self.locals += &format!("    counter({cells}, CounterType.packets) {name};\n");
                let index = self.one_of(&["hdr.e.n", "hdr.e.to", "hdr.e.kind"]);
                let text = format!("{name}.count((bit<32>)({index} & 7));");
                let text = if self.rng.chance(1, 2) { text.replace(" & 7", "") } else { text };
                let is_guarded = self.rng.chance(1, 3);
                self.line(if is_guarded { format!("if ({condition}) {{ {text} }}") } else { text });
            }
            3 => {
                let name = self.name("seen");
                self.locals += &format!("    register<bit<32>>(4) {name};\n");
                self.line(format!("bit<32> {name}_now;"));
                self.line(format!("{name}.read({name}_now, (bit<32>)hdr.e.n[1:0]);"));
                self.line(format!("{name}.write((bit<32>)hdr.e.n[1:0], {name}_now + 1);"));
                self.line(format!("meta.v = {name}_now[7:0];"));
            }
            4 if self.size != Size::Tiny => {
                self.line("hash(meta.m, HashAlgorithm.crc16, (bit<16>)0, { hdr.e.from, hdr.e.to }, 16w4);");
            }
            _ => {
                let name = self.name("direct");
                self.locals += &format!("    counter(4, CounterType.packets) {name};\n");
                self.line(format!("{name}.count((bit<32>)meta.k);"));
            }
        }
    }

    /// What is done to a header that some packets have.
    fn of_a_header(&mut self) {
        let text = match self.rng.below(7) {
            0 => "if (hdr.x.isValid()) { hdr.x.b = hdr.x.b + 1; }",
            1 => "if (hdr.y.isValid()) { hdr.y.a = hdr.e.to; } else if (hdr.x.isValid()) { hdr.x.a = 6; }",
            2 => "hdr.x.setInvalid();",
            3 => "if (!hdr.y.isValid()) { hdr.y.setValid(); hdr.y.a = 1; hdr.y.b = hdr.e.from; }",
            4 => "hdr.e.n = meta.v;",
            5 => "hdr.e.n = meta.k;",
            _ => "if (hdr.e.n == 3) { hdr.e.from = meta.m; }",
        };
        self.line(text);
    }

    /// A table with its entries, applied behind a guard or not.
    fn table(&mut self, has_groups: bool) {
        self.tables += 1;
        let at = self.tables;
        let name = format!("t{at}");
        let mut keys: Vec<(&str, u32)> = vec![("hdr.e.to", 16)];
        if self.rng.chance(1, 3) {
            keys.push(self.keys_beside());
        }
        if self.rng.chance(1, 4) {
            keys.remove(0);
            keys.push(("hdr.x.a", 16));
        }
        keys.dedup();
        let kind = match self.rng.below(8) {
            0 => "lpm",
            1 => "ternary",
            _ => "exact",
        };
        let actions = self.actions(at, has_groups);
        let kinds: Vec<&str> = (0..keys.len()).map(|key| if key == 0 { kind } else { "exact" }).collect();
        let shown: Vec<String> = keys.iter().zip(&kinds).map(|((key, _), kind)| format!("{key}: {kind};")).collect();
        let counted = self.has_state && self.rng.chance(1, 4);
        if counted {
            let kind = self.one_of(&["packets", "packets_and_bytes"]);
            self.locals += &format!("    direct_counter(CounterType.{kind}) hits{at};\n");
        }
        let names: Vec<String> = actions.iter().map(|(name, _)| name.clone()).collect();
        let (default, data) = actions[self.rng.index(actions.len())].clone();
        let value = if data { self.rng.below(8).to_string() } else { String::new() };
        // Few tables have all that they ask for.
        let size = if self.rng.chance(1, 4) { 8 } else { 1024 };
        let counters = if counted { format!("counters = hits{at}; ") } else { String::new() };
        self.locals += &format!(
            "    table {name} {{\n        key = {{ {} }}\n        actions = {{ {}; }}\n        size = {size}; {counters}\n        default_action = {default}({value});\n    }}\n",
            shown.join(" "),
            names.join("; ")
        );
        self.entries_of(&name, &keys, &kinds, &actions);
        self.applied(&name, &names);
    }

    fn keys_beside(&mut self) -> (&'static str, u32) {
        [("meta.k", 8), ("hdr.e.n", 8), ("hdr.e.from", 16), ("meta.m", 16), ("meta.v", 8)][self.rng.index(5)]
    }

    /// Actions, and whether they have data.
    fn actions(&mut self, at: usize, has_groups: bool) -> Vec<(String, bool)> {
        let mut all: Vec<(&str, &str)> = vec![
            ("to", "(bit<9> port) { standard.egress_spec = port; }"),
            ("drop", "() { mark_to_drop(standard); }"),
            ("set", "(bit<8> v) { meta.v = v; }"),
            ("mark", "(bit<8> v) { hdr.e.n = v; standard.egress_spec = 2; }"),
            ("less", "(bit<8> v) { if (hdr.e.to < hdr.e.from) { hdr.e.n = v; } standard.egress_spec = 3; }"),
            ("of_x", "(bit<8> v) { if (hdr.x.isValid()) { hdr.x.b = v; } else { hdr.e.n = v; } }"),
        ];
        // In egress the port was found.
        if self.lines.contains("egress_port") {
            all.retain(|(_, body)| !body.contains("egress_spec"));
        }
        if has_groups {
            all.push(("flood", "() { standard.mcast_grp = 1; }"));
        }
        while all.len() > 3 || all.len() == 3 && self.rng.chance(1, 2) {
            let at = self.rng.index(all.len());
            all.remove(at);
        }
        for (name, body) in &all {
            self.locals += &format!("    action {name}{at}{body}\n");
        }
        let mut all: Vec<(String, bool)> =
            all.into_iter().map(|(name, body)| (format!("{name}{at}"), !body.starts_with("()"))).collect();
        all.push(("NoAction".to_string(), false));
        all
    }

    fn entries_of(&mut self, name: &str, keys: &[(&str, u32)], kinds: &[&str], actions: &[(String, bool)]) {
        let mut seen = std::collections::BTreeSet::new();
        for priority in 0..self.rng.below(if self.size == Size::Tiny { 3 } else { 6 }) {
            let mut asked = Vec::new();
            for ((key, width), kind) in keys.iter().zip(kinds) {
                let value = self.rng.below(SMALL);
                asked.push(match *kind {
                    "lpm" => format!("{key}:{value}/{width}"),
                    "ternary" => {
                        let mask = 1 + self.rng.below(SMALL);
                        format!("{key}:{}&&&{mask}", value & mask)
                    }
                    _ => format!("{key}:{value}"),
                });
            }
            let asked = asked.join(" ");
            if !seen.insert(asked.clone()) {
                continue;
            }
            let first = if kinds.contains(&"ternary") { format!("{} ", priority + 1) } else { String::new() };
            let (action, data) = &actions[self.rng.index(actions.len())];
            let parameter = if action.starts_with("to") { "port" } else { "v" };
            let data = if *data { format!("{parameter}:{}", self.rng.below(8)) } else { String::new() };
            self.entries += &format!("add {name} {first}{asked} {action}({data})\n");
        }
    }

    fn applied(&mut self, name: &str, actions: &[String]) {
        let apply = match self.rng.below(5) {
            0 => format!("if ({name}.apply().hit) {{ hdr.e.from = 7; }}"),
            1 => {
                let action = &actions[self.rng.index(actions.len())];
                format!(
                    "switch ({name}.apply().action_run) {{ {action}: {{ meta.k = 3; }} default: {{ hdr.e.n = 4; }} }}"
                )
            }
            _ => format!("{name}.apply();"),
        };
        let condition = self.condition();
        let line = match self.rng.below(4) {
            0 => format!("if ({condition}) {{ {apply} }}"),
            1 => format!("if ({condition}) {{ {apply} }} else {{ meta.m = 5; }}"),
            _ => apply,
        };
        self.line(line);
    }
}
