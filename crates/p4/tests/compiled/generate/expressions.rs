//! Expressions of random programs.

use super::{Maker, Place, number};

impl Maker<'_> {
    fn placed(&mut self, wanted: impl Fn(&Place) -> bool) -> Option<Place> {
        let all: Vec<&Place> = self.places.iter().filter(|place| wanted(place)).collect();
        let found = self.rng.choose(&all).map(|place| (*place).clone());
        if let Some(place) = &found {
            self.mark(match place.text.as_str() {
                text if text.contains('[') => "read: element of a stack",
                text if text.starts_with("hdr") => "read: field",
                text if text.starts_with("meta") => "read: metadata",
                text if text.starts_with("standard") => "read: standard metadata",
                "given" | "both" | "made" => "read: parameter",
                text if text.starts_with('l') => "read: local variable",
                _ => "read: parameter",
            });
        }
        found
    }

    /// Something that can be written.
    pub fn variable(&mut self) -> Place {
        if self.chance(3) {
            self.recent.retain(|place| self.places.contains(place));
            if let Some(place) = self.rng.choose(&self.recent) {
                return place.clone();
            }
        }
        let found = self.placed(|place| place.is_variable);
        found.unwrap_or(Place { text: "meta.b".into(), width: 8, is_variable: true })
    }

    /// Something to be compared with another value: most often whole bytes.
    fn compared(&mut self) -> Place {
        let mut place = self.variable();
        for _ in 0..4 {
            if !place.width.is_multiple_of(8) || place.width > 48 {
                place = self.variable();
            }
        }
        place
    }

    /// A value without operators.
    fn leaf(&mut self, width: u32) -> String {
        match self.rng.below(12) {
            0..=5 => {
                if let Some(place) = self.placed(|place| place.width == width) {
                    return place.text;
                }
            }
            6 => {
                if let Some(place) = self.placed(|place| place.width < width) {
                    self.mark("cast to more bits");
                    return format!("(bit<{width}>){}", place.text);
                }
            }
            7 => {
                if let Some(place) = self.placed(|place| place.width > width) {
                    self.mark("cast to fewer bits");
                    return format!("(bit<{width}>){}", place.text);
                }
            }
            8 => {
                if let Some(place) = self.placed(|place| place.width > width) {
                    self.mark("slice");
                    let low = self.rng.below(u64::from(place.width - width) + 1);
                    return format!("{}[{}:{low}]", place.text, low + u64::from(width) - 1);
                }
            }
            9 if width > 1 => {
                let low = 1 + self.rng.below(u64::from(width) - 1) as u32;
                let (high, low) = (width - low, low);
                let places = (self.placed(|place| place.width == high), self.placed(|place| place.width == low));
                if let (Some(high), Some(low)) = places {
                    self.mark("concatenation");
                    return format!("({} ++ {})", high.text, low.text);
                }
            }
            10 if self.control != "Plain"
                && width < 9
                && width != 1
                && self.headers.iter().any(|header| header.stack.is_some()) =>
            {
                if let (Some(place), 7 | 8) = (self.placed(|place| place.width == 1), width) {
                    self.mark("index that the packet says");
                    let field = if width == 7 { "f1" } else { "f2" };
                    return format!("hdr.s[{}].{field}", place.text);
                }
            }
            _ => {}
        }
        self.mark("constant");
        format!("{width}w{}", number(self.rng, width))
    }

    /// A value of so many bits.
    pub fn value(&mut self, width: u32, depth: u32) -> String {
        if depth == 0 || !self.chance(2) {
            return self.leaf(width);
        }
        match self.rng.below(24) {
            0..=3 => self.operator("+", "add", width, depth),
            4..=5 => self.operator("-", "subtract", width, depth),
            6..=7 => self.operator("&", "and", width, depth),
            8..=9 => self.operator("|", "or", width, depth),
            10..=12 => self.operator("^", "xor", width, depth),
            13 => {
                self.mark("complement");
                format!("(~{})", self.value(width, depth - 1))
            }
            14 => {
                self.mark("minus");
                format!("(-{})", self.value(width, depth - 1))
            }
            15 => {
                self.mark("shift");
                let by = self.rng.below(u64::from(width) + 1);
                let shift = if self.chance(2) { "<<" } else { ">>" };
                if let Some(place) = self.placed(|place| place.width == 8).filter(|_| width <= 16) {
                    self.mark("shift by what the packet says");
                    return format!("({} {shift} {}[1:0])", self.value(width, depth - 1), place.text);
                }
                format!("({} {shift} {by})", self.leaf(width))
            }
            16..=17 => {
                self.mark("choice");
                let condition = self.condition(0);
                format!("({condition} ? {} : {})", self.leaf(width), self.leaf(width))
            }
            18 if width == 8 => {
                self.mark("function");
                format!("twist({})", self.leaf(8))
            }
            19 if width < 64 => {
                self.mark("product with a power of two");
                format!("({} * {width}w{})", self.leaf(width), 1u64 << self.rng.below(u64::from(width)))
            }
            20 if width > 8 => {
                if let Some(place) = self.placed(|place| place.width == 8) {
                    self.mark("sign extension");
                    return format!("(bit<{width}>)(int<{width}>)(int<8>){}", place.text);
                }
                self.leaf(width)
            }
            21 if width < 64 => {
                self.mark("quotient or rest of a power of two");
                let operator = if self.chance(2) { "/" } else { "%" };
                format!("({} {operator} {width}w{})", self.leaf(width), 1u64 << self.rng.below(u64::from(width)))
            }
            _ => self.leaf(width),
        }
    }

    fn operator(&mut self, operator: &str, mark: &'static str, width: u32, depth: u32) -> String {
        self.mark(mark);
        let one = self.value(width, depth - 1);
        let two = if self.chance(2) { format!("{width}w{}", number(self.rng, width)) } else { self.leaf(width) };
        match self.chance(6) {
            true => format!("({two} {operator} {one})"),
            false => format!("({one} {operator} {two})"),
        }
    }

    /// A condition.
    pub fn condition(&mut self, depth: u32) -> String {
        if depth > 0 && self.chance(4) {
            let (one, two) = (self.condition(depth - 1), self.condition(depth - 1));
            let (operator, mark) = if self.chance(2) { ("&&", "both") } else { ("||", "either") };
            self.mark(mark);
            return format!("({one} {operator} {two})");
        }
        match self.rng.below(14) {
            0..=3 => {
                self.mark("equal to a constant");
                let place = self.variable();
                let operator = if self.chance(2) { "==" } else { "!=" };
                format!("{} {operator} {}", place.text, self.known_value(place.width))
            }
            4 => {
                self.mark("equal values");
                let place = self.compared();
                let operator = if self.chance(2) { "==" } else { "!=" };
                if let Some((one, two)) = self.pair().filter(|_| self.rng.chance(3, 4)) {
                    self.mark("equal headers");
                    return format!("{one} {operator} {two}");
                }
                format!("{} {operator} {}", place.text, self.leaf(place.width))
            }
            6 if self.has_verified && self.control == "Enter" => {
                self.mark("checksum error");
                format!("standard_metadata.checksum_error == {}", self.rng.below(2))
            }
            5 | 6 => {
                self.mark("less than a constant");
                let place = self.variable();
                let operator = ["<", ">", "<=", ">="][self.rng.index(4)];
                format!("{} {operator} {}", place.text, self.known_value(place.width))
            }
            7 => {
                self.mark("less than a value");
                let place = self.compared();
                let operator = ["<", ">", "<=", ">="][self.rng.index(4)];
                format!("{} {operator} {}", place.text, self.leaf(place.width))
            }
            8 | 9 if self.control != "Plain" => {
                self.mark("validity");
                let header = self.header();
                format!("{header}.isValid()")
            }
            10 if self.has_verified && self.control == "Enter" => {
                self.mark("checksum error");
                format!("standard_metadata.checksum_error == {}", self.rng.below(2))
            }
            10 if self.control != "Plain" => {
                self.mark("bool");
                "meta.d".into()
            }
            11 => {
                self.mark("not");
                format!("!({})", self.condition(depth.saturating_sub(1)))
            }
            12 => {
                self.mark("comparison of a computed value");
                let place = self.variable();
                let value = self.value(place.width, 1);
                format!("{value} == {}", self.known_value(place.width))
            }
            _ if self.control == "Enter" => {
                self.mark("parser error");
                let error = ["NoError", "PacketTooShort", "NoMatch", "Odd", "StackOutOfBounds"][self.rng.index(5)];
                format!("standard_metadata.parser_error == error.{error}")
            }
            _ => "true".into(),
        }
    }

    /// Two headers of a type.
    pub fn pair(&mut self) -> Option<(String, String)> {
        let mut all = Vec::new();
        if self.control == "Plain" {
            return None;
        }
        for one in &self.headers {
            for two in self.headers.iter().filter(|two| two.kind == one.kind) {
                for a in one.instances() {
                    all.extend(two.instances().into_iter().filter(|b| *b != a).map(|b| (a.clone(), b)));
                }
            }
        }
        self.rng.choose(&all).cloned()
    }

    /// A header, or an element of a stack.
    pub fn header(&mut self) -> String {
        let header = self.rng.index(self.headers.len());
        let instances = self.headers[header].instances();
        self.rng.choose(&instances).cloned().unwrap_or_default()
    }
}
