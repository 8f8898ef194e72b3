//! Parsers: states that each extract a header and choose by its fields, or by what comes behind it.

use super::Maker;

/// What a key looks at.
#[derive(Clone, Debug)]
pub enum Key {
    /// A field of the header that the state extracts.
    Field(usize),
    /// The next bits.
    Ahead(u32),
}

/// A value, and the bits of it that count.
pub type Pattern = Option<(u128, u128)>;

/// A state, as packets are made for it. The next one is none where the parser ends.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub extracts: Option<usize>,
    /// Bits that are left out.
    pub skips: u32,
    pub keys: Vec<Key>,
    pub cases: Vec<(Vec<Pattern>, Option<usize>)>,
    pub otherwise: Option<usize>,
}

fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

impl Maker<'_> {
    /// The parser's text, and its states.
    pub fn parser(&mut self) -> (String, Vec<State>) {
        let plain = self.headers.iter().filter(|header| header.stack.is_none()).count();
        let stack = self.headers.iter().position(|header| header.stack.is_some());
        let mut states = Vec::new();
        let mut text = String::new();
        let head = "parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, \
             inout standard_metadata_t standard) {\n"
            .to_string();
        for at in 0..plain {
            let later: Vec<usize> = (at + 1..plain).chain(stack).collect();
            let (body, state) = self.state(at, &later);
            text += &body;
            states.push(state);
        }
        if let Some(at) = stack {
            text += &format!(
                "    state x{at} {{\n        packet.extract(hdr.s.next);\n        \
                 transition select(hdr.s.last.f0) {{\n            0: x{at};\n            1: accept;\n        }}\n    }}\n"
            );
            let cases = vec![(vec![Some((0, 1))], Some(at)), (vec![Some((1, 1))], None)];
            let state = State { extracts: Some(at), keys: vec![Key::Field(0)], cases, ..State::default() };
            states.push(state);
        }
        let (parsers, instances) = std::mem::take(&mut self.parsers);
        (format!("{parsers}{head}{instances}{text}}}\n"), states)
    }

    fn state(&mut self, at: usize, later: &[usize]) -> (String, State) {
        let mut state = State { extracts: Some(at), ..State::default() };
        let name = if at == 0 { "start".to_string() } else { format!("x{at}") };
        let mut body = format!("    state {name} {{\n");
        body += &match self.chance(12) {
            true => self.sub_parser(at),
            false => format!("        packet.extract(hdr.{});\n", self.headers[at].name),
        };
        if self.chance(8) {
            self.mark("parser: constants for metadata");
            body += &format!("        meta.b = {};\n", self.rng.below(256));
        }
        if self.chance(12) {
            self.mark("parser: lookahead that is kept");
            let (field, width) = [("meta.a", 16), ("meta.b", 8), ("meta.e", 32)][self.rng.index(3)];
            body += &format!("        {field} = packet.lookahead<bit<{width}>>();\n");
        }
        if self.chance(24) {
            self.mark("parser: advance");
            state.skips = 16;
            body += "        packet.advance(16);\n";
        }
        if self.chance(16) {
            self.mark("parser: verify");
            let field = self.rng.index(self.headers[at].widths.len());
            let value = self.known_value(self.headers[at].widths[field]);
            let relation = if self.chance(2) { "==" } else { "!=" };
            let error = if self.chance(2) { "Odd" } else { "NoMatch" };
            body +=
                &format!("        verify(hdr.{}.f{field} {relation} {value}, error.{error});\n", self.headers[at].name);
        }
        if later.is_empty() || self.chance(8) {
            body += "        transition accept;\n    }\n";
            return (body, state);
        }
        self.select(at, later, &mut state, &mut body);
        (body, state)
    }

    fn select(&mut self, at: usize, later: &[usize], state: &mut State, body: &mut String) {
        let widths = self.headers[at].widths.clone();
        let mut keys = Vec::new();
        let mut key_widths = Vec::new();
        for _ in 0..1 + u64::from(self.chance(4)) {
            if self.chance(10) {
                let width = [8, 16, 4][self.rng.index(3)];
                self.mark("parser: lookahead");
                keys.push(format!("packet.lookahead<bit<{width}>>()"));
                state.keys.push(Key::Ahead(width));
                key_widths.push(width);
            } else {
                let field = self.rng.index(widths.len());
                keys.push(format!("hdr.{}.f{field}", self.headers[at].name));
                state.keys.push(Key::Field(field));
                key_widths.push(widths[field]);
            }
        }
        if keys.len() > 1 {
            self.mark("parser: two keys");
        }
        *body += &format!("        transition select({}) {{\n", keys.join(", "));
        for _ in 0..1 + self.rng.index(2) {
            let mut patterns = Vec::new();
            let mut words = Vec::new();
            for width in &key_widths {
                let value = self.known_value(*width);
                match self.rng.below(8) {
                    0 => {
                        self.mark("parser: mask");
                        let mask = super::number(self.rng, *width);
                        patterns.push(Some((value & mask, mask)));
                        words.push(format!("{value} &&& {mask}"));
                    }
                    1 if key_widths.len() > 1 => {
                        patterns.push(None);
                        words.push("_".into());
                    }
                    _ => {
                        patterns.push(Some((value, ones(*width))));
                        words.push(value.to_string());
                    }
                }
            }
            let next = self.next(later);
            let set = if words.len() == 1 { words[0].clone() } else { format!("({})", words.join(", ")) };
            *body += &format!("            {set}: {};\n", word(next));
            state.cases.push((patterns, next.ok()));
        }
        if key_widths.len() == 1 && self.chance(16) {
            // The rows of its members would stand when the program is compiled: so it has none.
            self.mark("parser: value set");
            let name = self.name("some");
            self.parsers.1 += &format!("    value_set<bit<{}>>(4) {name};\n", key_widths[0]);
            let next = self.next(later);
            *body += &format!("            {name}: {};\n", word(next));
        }
        if self.chance(5) {
            self.mark("parser: no case");
        } else {
            let next = self.next(later);
            *body += &format!("            default: {};\n", word(next));
            state.otherwise = next.ok();
        }
        *body += "        }\n    }\n";
    }

    fn next(&mut self, later: &[usize]) -> Result<usize, &'static str> {
        match self.rng.below(8) {
            0 => {
                self.mark("parser: reject");
                Err("reject")
            }
            1 | 2 => Err("accept"),
            _ => Ok(*self.rng.choose(later).unwrap()),
        }
    }
}

fn word(next: Result<usize, &'static str>) -> String {
    match next {
        Ok(at) => format!("x{at}"),
        Err(word) => word.to_string(),
    }
}
