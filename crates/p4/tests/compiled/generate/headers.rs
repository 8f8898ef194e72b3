//! Headers of a random program, and its metadata.

use super::{Maker, Place};

/// Metadata of each program.
pub const METADATA: &str = "struct two_t {
    bit<16> x;
    bit<8> y;
}
struct meta_t {
    @field_list(1)
    bit<16> a;
    @field_list(1)
    bit<8> b;
    bit<5> c;
    bool d;
    bit<32> e;
    bit<48> f;
    int<8> g;
    @field_list(1)
    two_t two;
}
";

const METADATA_FIELDS: [(&str, u32); 7] = [
    ("meta.a", 16),
    ("meta.b", 8),
    ("meta.c", 5),
    ("meta.e", 32),
    ("meta.f", 48),
    ("meta.two.x", 16),
    ("meta.two.y", 8),
];

/// Fields of a header: names are `f0`, `f1` and so on.
#[derive(Clone, Debug)]
pub struct Header {
    /// Behind `hdr.`: with its union's name if it is a member of one.
    pub name: String,
    /// Name of its type, which another may have, too.
    pub kind: String,
    pub widths: Vec<u32>,
    /// Elements, if it is a stack.
    pub stack: Option<usize>,
    /// Field of 16 bits that is the checksum of the header.
    pub sum: Option<usize>,
}

impl Header {
    /// Its elements, or itself.
    pub fn instances(&self) -> Vec<String> {
        match self.stack {
            None => vec![format!("hdr.{}", self.name)],
            Some(size) => (0..size).map(|at| format!("hdr.{}[{at}]", self.name)).collect(),
        }
    }
}

/// Groups of widths that are whole bytes.
const GROUPS: [&[u32]; 18] = [
    &[8],
    &[16],
    &[16],
    &[32],
    &[48],
    &[4, 4],
    &[1, 7],
    &[3, 13],
    &[12, 4],
    &[6, 2, 8],
    &[8, 8],
    &[16, 16],
    &[9, 7],
    &[20, 12],
    &[1, 1, 6],
    &[40],
    &[24],
    &[64],
];

pub fn headers(maker: &mut Maker) -> Vec<Header> {
    let has_union = maker.chance(8);
    let count = if has_union { 3 } else { 1 + maker.rng.index(3) };
    let is_short = maker.chance(3);
    if is_short {
        maker.mark("short headers");
    }
    let mut all: Vec<Header> = Vec::new();
    for number in 0..count {
        let mut widths: Vec<u32> = Vec::new();
        for _ in 0..1 + maker.rng.index(3) {
            widths.extend(*maker.rng.choose(&GROUPS).unwrap());
        }
        // Most often the first header alone is an Ethernet frame's.
        while number == 0 && !is_short && widths.iter().sum::<u32>() < 96 {
            widths.extend(*maker.rng.choose(&GROUPS).unwrap());
        }
        if widths.iter().sum::<u32>() % 16 != 0 {
            if maker.chance(2) {
                widths.push(8);
            } else {
                maker.mark("a header of an odd number of bytes");
            }
        }
        let sums = all.iter().filter(|header| header.sum.is_some()).count();
        let (mut sum, mut kind) = (None, format!("h{number}_t"));
        if number > 1 && sums < 2 && maker.chance(2) {
            let Header { widths: same, sum: same_sum, .. } = &all[number - 1];
            (widths, sum, kind) = (same.clone(), *same_sum, "h1_t".to_string());
            maker.mark("two headers of a type");
        } else if widths.iter().sum::<u32>() % 16 == 0 && sums < 2 && maker.chance(4) {
            // It stands at a whole number of words.
            let mut before = 0;
            let places: Vec<usize> = (0..=widths.len())
                .filter(|at| {
                    before = widths[..*at].iter().sum::<u32>();
                    before % 16 == 0
                })
                .collect();
            let at = *maker.rng.choose(&places).unwrap();
            widths.insert(at, 16);
            sum = Some(at);
        }
        let union = if has_union && number > 0 { "u." } else { "" };
        all.push(Header { name: format!("{union}h{number}"), kind, widths, stack: None, sum });
    }
    if has_union {
        maker.mark("union");
    }
    if maker.chance(5) {
        let size = 2 + maker.rng.index(2);
        all.push(Header { name: "s".into(), kind: "s_t".into(), widths: vec![1, 7, 8], stack: Some(size), sum: None });
        maker.mark("stack");
    }
    all
}

pub fn text(headers: &[Header]) -> String {
    let mut text = String::new();
    let firsts = headers.iter().enumerate().filter(|(at, header)| headers[..*at].iter().all(|h| h.kind != header.kind));
    for (_, header) in firsts {
        text += &format!("header {} {{\n", header.kind);
        for (at, width) in header.widths.iter().enumerate() {
            text += &format!("    bit<{width}> f{at};\n");
        }
        text += "}\n";
    }
    let members: Vec<&Header> = headers.iter().filter(|header| header.name.starts_with("u.")).collect();
    let members_are_none = members.is_empty();
    if !members_are_none {
        let members = members.iter().map(|header| format!("    {} {};\n", header.kind, &header.name[2..]));
        text += &format!("header_union u_t {{\n{}}}\n", members.collect::<String>());
    }
    text += "struct headers_t {\n";
    for header in headers.iter().filter(|header| !header.name.starts_with("u.")) {
        let size = header.stack.map_or(String::new(), |size| format!("[{size}]"));
        text += &format!("    {}{size} {};\n", header.kind, header.name);
    }
    if !members_are_none {
        text += "    u_t u;\n";
    }
    text + "}\n"
}

impl Maker<'_> {
    /// Begins a control: what can be read in it.
    pub fn metadata(&mut self) {
        self.places.clear();
        for header in &self.headers {
            for instance in header.instances() {
                for (at, width) in header.widths.iter().enumerate() {
                    let text = format!("{instance}.f{at}");
                    self.places.push(Place { text, width: *width, is_variable: true });
                }
            }
        }
        let count = self.places.len();
        // Fields of metadata are fewer than those of headers.
        for (name, width) in METADATA_FIELDS.iter().take(1 + count / 2) {
            self.places.push(Place { text: (*name).to_string(), width: *width, is_variable: true });
        }
    }
}
