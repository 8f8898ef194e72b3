//! Random programs that packets may meet one after the other: each knows a part of one tree of headers, by names of its own, and changes no byte that a
//! parser looks at.

use sluice_formats::random::Rng;

/// A program with the entries of its table, which stand behind a word for its place.
pub struct Chained {
    pub program: String,
    pub entries: Vec<String>,
}

/// One of `count` in a sequence, which is known by its number.
pub fn chained(rng: &mut Rng, number: usize) -> Chained {
    let mut made = Maker { rng, number, with: [true; 5] };
    for at in 1..made.with.len() {
        made.with[at] = made.rng.below(3) != 0;
    }
    made.with[3] &= made.with[1];
    made.with[4] &= made.with[1];
    made.program()
}

/// A packet of that tree, sometimes cut off.
pub fn chained_packet(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = vec![rng.below(4) as u8, rng.below(5) as u8];
    (0..6).for_each(|_| bytes.push(rng.below(4) as u8));
    let next = rng.below(4) as u8;
    let kind = bytes[0];
    // A mask may leave these bits out.
    if rng.below(4) == 0 {
        bytes[0] |= 0x10 << rng.below(4);
    }
    match kind {
        1 => {
            bytes.extend([rng.below(3) as u8, rng.below(256) as u8, next, rng.below(256) as u8]);
            if next == 2 {
                let labels = rng.below(4);
                (0..labels).for_each(|at| bytes.extend([u8::from(at + 1 == labels), rng.below(256) as u8]));
            }
        }
        2 => (0..4).for_each(|_| bytes.push(rng.below(256) as u8)),
        _ => {}
    }
    let rest = rng.below(24);
    (0..rest).for_each(|_| bytes.push(rng.below(256) as u8));
    if rng.below(10) == 0 {
        bytes.truncate(1 + rng.index(bytes.len()));
    }
    bytes
}

/// Headers of the tree: a letter, its fields, and how many there may be.
const HEADERS: [(&str, &str, usize); 5] = [
    ("e", "kind:8 n:8 v:16 w:16 u:16", 1),
    ("x", "a:16 next:8 b:8", 1),
    ("y", "c:16 d:16", 1),
    ("z", "p:8 q:24", 1),
    ("s", "last:8 l:8", 3),
];

struct Maker<'r> {
    rng: &'r mut Rng,
    number: usize,
    /// Which headers the program knows.
    with: [bool; 5],
}

impl Maker<'_> {
    /// A header's name in this program.
    fn header(&self, letter: &str) -> String {
        if self.number == 0 { letter.to_string() } else { format!("{letter}{}", self.number % 2) }
    }

    /// A field as a statement has it.
    fn field(&self, letter: &str, field: &str) -> String {
        format!("hdr.{}.{}", self.header(letter), self.bare(field))
    }

    fn bare(&self, field: &str) -> String {
        if self.number == 1 { format!("{field}_of") } else { field.to_string() }
    }

    fn program(mut self) -> Chained {
        let mut types = String::new();
        let mut fields = String::new();
        for (known, (letter, all, count)) in self.with.iter().zip(HEADERS) {
            if !known {
                continue;
            }
            let typed: String = all
                .split(' ')
                .map(|field| {
                    let (name, bits) = field.split_once(':').expect("a width");
                    format!("bit<{bits}> {}; ", self.bare(name))
                })
                .collect();
            types += &format!("header {letter}{}_t {{ {typed}}}\n", self.number % 2);
            let stack = if count > 1 { format!("[{count}]") } else { String::new() };
            fields += &format!("{letter}{}_t{stack} {}; ", self.number % 2, self.header(letter));
        }
        let parser = self.parser();
        let (ingress, entries) = self.ingress();
        let egress = self.egress();
        let mut known: Vec<&str> =
            HEADERS.iter().zip(self.with).filter(|(_, known)| *known).map(|(h, _)| h.0).collect();
        if let Some(at) = known.iter().position(|letter| *letter == "y").filter(|_| self.rng.below(2) == 0) {
            known[1..=at].rotate_right(1);
        }
        let emits: String = known.iter().map(|letter| format!("packet.emit(hdr.{}); ", self.header(letter))).collect();
        let emits = if self.rng.below(4) == 0 { "packet.emit(hdr);".to_string() } else { emits };
        let program = format!(
            "#include <core.p4>
#include <v1model.p4>
{types}struct headers_t {{ {fields}}}
struct meta_t {{ bit<16> m; bit<8> k; }}
parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
{parser}}}
control Verify(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control Enter(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
{ingress}}}
control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{
{egress}}} }}
control Update(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control Deparse(packet_out packet, in headers_t hdr) {{ apply {{ {emits} }} }}
V1Switch(Parse(), Verify(), Enter(), Leave(), Update(), Deparse()) main;
"
        );
        Chained { program, entries }
    }

    /// Cases of a select for those headers that are known, in some order, with and without masks.
    fn cases(&mut self, all: &[(usize, u32, &str)], keys: usize) -> String {
        let mut cases: Vec<String> = Vec::new();
        for (header, value, state) in all {
            if !self.with[*header] {
                continue;
            }
            let value = match self.rng.below(4) {
                0 => format!("{value} &&& 0xff"),
                // Of those of the tree only this one has these bits.
                3 if *header < 3 => format!("{value} &&& 0x0f"),
                1 => format!("0x{value:02x}"),
                _ => value.to_string(),
            };
            cases.push(if keys == 2 { format!("({value}, _): {state};") } else { format!("{value}: {state};") });
        }
        if self.rng.below(2) == 0 {
            cases.reverse();
        }
        format!("{} default: accept;", cases.join(" "))
    }

    fn parser(&mut self) -> String {
        let (kind, n) = (self.field("e", "kind"), self.field("e", "n"));
        let two = self.rng.below(4) == 0;
        let after = self.cases(&[(1, 1, "px"), (2, 2, "py")], if two { 2 } else { 1 });
        let select = match two {
            true => format!("transition select({kind}, {n}) {{ {after} }}"),
            false => format!("transition select({kind}) {{ {after} }}"),
        };
        let extract = format!("packet.extract(hdr.{});", self.header("e"));
        let mut text = match self.rng.below(4) {
            0 => format!(
                "state start {{ transition first; }}\nstate first {{ {extract} meta.k = {n}; transition rest; }}\nstate rest {{ meta.m = 7; {select} }}\n"
            ),
            1 => format!("state start {{ {extract} bit<8> seen = {n}; meta.k = seen; {select} }}\n"),
            _ => format!("state start {{ {extract} {select} }}\n"),
        };
        if self.with[1] {
            let (next, x) = (self.field("x", "next"), self.header("x"));
            let after = self.cases(&[(3, 1, "pz"), (4, 2, "ps")], 1);
            text += &format!("state px {{ packet.extract(hdr.{x}); transition select({next}) {{ {after} }} }}\n");
        }
        if self.with[2] {
            text += &format!("state py {{ packet.extract(hdr.{}); transition accept; }}\n", self.header("y"));
        }
        if self.with[3] {
            text += &format!("state pz {{ packet.extract(hdr.{}); transition accept; }}\n", self.header("z"));
        }
        if self.with[4] {
            let (s, last) = (self.header("s"), self.bare("last"));
            text += &format!(
                "state ps {{ packet.extract(hdr.{s}.next); transition select(hdr.{s}.last.{last}) {{ 1: accept; default: ps; }} }}\n"
            );
        }
        text
    }

    fn ingress(&mut self) -> (String, Vec<String>) {
        let (n, v, w) = (self.field("e", "n"), self.field("e", "v"), self.field("e", "w"));
        let e = format!("hdr.{}", self.header("e"));
        let mut apply = format!(
            "standard.egress_spec = {};\nif (!{e}.isValid()) {{ mark_to_drop(standard); return; }}\n",
            1 + self.number
        );
        let mut entries = Vec::new();
        let mut locals = String::new();
        for _ in 0..1 + self.rng.below(3) {
            let value = self.rng.below(4);
            apply += &match self.rng.below(11) {
                0 => format!("{v} = {v} + {};\n", value + 1),
                1 => format!("meta.m = {w}; {w} = {w} ^ {value};\n"),
                2 if self.with[1] => {
                    format!("if (hdr.{}.isValid()) {{ {} = {v}; }}\n", self.header("x"), self.field("x", "a"))
                }
                9 if self.with[1] => format!("if (hdr.{}.isValid()) {{ {v} = {v} + 5; }}\n", self.header("x")),
                10 if self.with[2] => format!("if (hdr.{}.isValid()) {{ {v} = {v} + 7; }}\n", self.header("y")),
                8 => format!("if (meta.k == {value}) {{ {v} = {v} + 3; }}\n"),
                3 => format!("if ({n} == {value}) {{ mark_to_drop(standard); }}\n"),
                4 => format!("if ({n} == {value}) {{ exit; }}\n"),
                5 if self.with[2] => format!("{} = {w};\n", self.field("y", "c")),
                _ if locals.is_empty() => {
                    locals = format!(
                        "action set(bit<16> d) {{ {v} = d; meta.m = 1; }}
action gone() {{ mark_to_drop(standard); }}
action over() {{ exit; }}
table t {{ key = {{ {w}: exact; }} actions = {{ set; gone; over; NoAction; }} default_action = NoAction(); size = 16; }}
"
                    );
                    for key in 0..self.rng.below(5) {
                        let action = match self.rng.below(4) {
                            0 => "gone()".to_string(),
                            1 => "over()".to_string(),
                            _ => format!("set(d:{})", self.rng.below(1000)),
                        };
                        entries.push(format!("Enter.t {w}:{key} {action}"));
                    }
                    "t.apply();\n".to_string()
                }
                _ => format!("if (meta.m == 1) {{ {v} = {v} + {value}; }}\n"),
            };
        }
        (format!("{locals}apply {{\n{apply}}}\n"), entries)
    }

    /// Egress has a field of its own: between the ingress of two programs in sequence is no egress.
    fn egress(&mut self) -> String {
        let (u, n) = (self.field("e", "u"), self.field("e", "n"));
        match self.rng.below(5) {
            0 => format!("{u} = {u} + {};\n", 1 + self.rng.below(9)),
            1 => format!("if ({n} == 1) {{ exit; }}\n{u} = {u} << 1;\n"),
            2 => format!("if ({n} == 2) {{ mark_to_drop(standard); }}\n"),
            _ => String::new(),
        }
    }
}
