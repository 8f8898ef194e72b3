//! Things with arguments of their own: controls, functions and actions with `in`, `out` and `inout`, and parsers within the parser.

use super::{Maker, Place};

/// A function that a program calls, with the widths of what it takes: `in`, `inout`, `out`, and what it returns.
#[derive(Clone, Debug)]
pub struct Callee {
    name: String,
    widths: [u32; 3],
    returns: u32,
}

const WIDTHS: [u32; 4] = [8, 16, 4, 32];

impl Maker<'_> {
    fn widths(&mut self) -> [u32; 3] {
        if self.chance(2) {
            return [WIDTHS[self.rng.index(4)]; 3];
        }
        std::array::from_fn(|_| WIDTHS[self.rng.index(4)])
    }

    /// Makes statements that know nothing but the parameters `given`, `both` and `made`, and a variable without a value.
    fn body(&mut self, widths: [u32; 3], inside: impl FnOnce(&mut Self)) -> String {
        let saved = (std::mem::take(&mut self.lines), std::mem::take(&mut self.places), self.budget, self.control);
        let has_port = std::mem::replace(&mut self.has_port, false);
        self.control = "Plain";
        for (text, width, is_variable) in
            [("given", widths[0], false), ("both", widths[1], true), ("made", widths[2], true)]
        {
            self.places.push(Place { text: text.into(), width, is_variable });
        }
        inside(self);
        let body = self.lines.concat();
        (self.lines, self.places, self.budget, self.control) = saved;
        self.has_port = has_port;
        body
    }

    /// An assignment, perhaps under a condition.
    fn plain(&mut self, depth: usize) {
        let is_inner = self.chance(3);
        if is_inner {
            let condition = self.condition(1);
            self.line(depth, format!("if ({condition}) {{"));
        }
        let at = depth + usize::from(is_inner);
        let place = self.variable();
        if self.chance(4) {
            let low = self.rng.below(u64::from(place.width)) as u32;
            let width = 1 + self.rng.below(u64::from(place.width - low)) as u32;
            let value = self.value(width, 0);
            self.line(at, format!("{}[{}:{low}] = {value};", place.text, low + width - 1));
        } else {
            let value = self.value(place.width, 1);
            self.line(at, format!("{} = {value};", place.text));
        }
        if is_inner {
            self.line(depth, "}");
        }
    }

    /// A variable that has no value before it is written.
    fn without_value(&mut self, depth: usize) {
        self.mark("local variable without a value");
        let (name, width) = (self.name("l"), WIDTHS[self.rng.index(4)]);
        self.line(depth, format!("bit<{width}> {name};"));
        self.places.push(Place { text: name, width, is_variable: true });
    }

    fn parameters([given, both, made]: [u32; 3]) -> String {
        format!("in bit<{given}> given, inout bit<{both}> both, out bit<{made}> made")
    }

    /// Functions of the program.
    pub fn functions(&mut self) -> String {
        if !self.chance(4) {
            return String::new();
        }
        let (name, widths, returns) = (self.name("fun"), self.widths(), WIDTHS[self.rng.index(4)]);
        let body = self.body(widths, |this| {
            if this.chance(2) {
                this.without_value(1);
            }
            this.plain(1);
            if this.chance(2) {
                let (condition, value) = (this.condition(0), this.value(returns, 1));
                this.line(1, format!("if ({condition}) {{"));
                this.line(2, format!("return {value};"));
                this.line(1, "}");
            }
            this.plain(1);
            let value = this.value(returns, 1);
            this.line(1, format!("return {value};"));
        });
        let text = format!("bit<{returns}> {name}({}) {{\n{body}}}\n", Self::parameters(widths));
        self.functions.push(Callee { name, widths, returns });
        text
    }

    /// A control with arguments of its own; ingress applies it, some of the time twice.
    pub fn plain_control(&mut self) -> String {
        if !self.chance(4) {
            return String::new();
        }
        let widths = self.widths();
        let body = self.body(widths, |this| {
            if this.chance(2) {
                this.without_value(2);
            }
            this.plain(2);
            match this.chance(4) {
                true => {
                    let condition = this.condition(0);
                    let word = if this.chance(3) { "exit" } else { "return" };
                    this.line(2, format!("if ({condition}) {{"));
                    this.line(3, format!("{word};"));
                    this.line(2, "}");
                }
                false => this.plain(2),
            }
            this.plain(2);
        });
        self.plain_widths = Some(widths);
        format!("control Plain({}) {{\n    apply {{\n{body}    }}\n}}\n", Self::parameters(widths))
    }

    /// Arguments for `in`, `inout` and `out`: some of the time one variable is two of them.
    fn arguments(&mut self, [given, both, made]: [u32; 3], is_block: bool) -> Option<String> {
        let one = self.target(both, is_block, None)?;
        let two = self.target(made, is_block, is_block.then_some(one.as_str()))?;
        let first = match self.rng.below(3) {
            0 if given == made => {
                self.mark("argument: one variable given and made");
                two.clone()
            }
            1 if given == both => {
                self.mark("argument: one variable given and changed");
                one.clone()
            }
            _ => self.value(given, 0),
        };
        if one == two {
            self.mark("argument: one variable changed and made");
        }
        Some(format!("{first}, {one}, {two}"))
    }

    /// Something of so many bits that can be written, a part of something wider, too.
    fn target(&mut self, width: u32, is_whole: bool, other: Option<&str>) -> Option<String> {
        let fits = |place: &&Place| {
            place.is_variable
                && Some(place.text.as_str()) != other
                && (place.width == width || !is_whole && place.width > width)
        };
        let all: Vec<Place> = self.places.iter().filter(fits).cloned().collect();
        let place = self.rng.choose(&all)?.clone();
        self.recent.push(place.clone());
        if place.width == width {
            return Some(place.text);
        }
        self.mark("argument: a slice that is written");
        let low = self.rng.below(u64::from(place.width - width) + 1) as u32;
        Some(format!("{}[{}:{low}]", place.text, low + width - 1))
    }

    /// Calls a function or an action with arguments.
    pub fn with_arguments(&mut self, depth: usize) {
        // No action applies a control.
        let kind = if self.chance(2) { 0 } else { 2 };
        self.call_of(depth, kind);
    }

    /// Calls what was declared for it.
    pub fn declared_calls(&mut self, depth: usize) {
        if !self.functions.is_empty() && self.chance(2) {
            self.call_of(depth, 0);
        }
        if self.plain_widths.is_some() {
            self.call_of(depth, 1);
        }
    }

    fn call_of(&mut self, depth: usize, kind: u64) {
        match kind {
            0 => {
                let Some(callee) = self.functions.first().cloned() else { return };
                let Some(arguments) = self.arguments(callee.widths, false) else { return };
                let Some(place) = self.target(callee.returns, false, None) else { return };
                self.mark("function: with inout");
                self.line(depth, format!("{place} = {}({arguments});", callee.name));
            }
            1 => {
                let Some(widths) = self.plain_widths else { return };
                for at in 0..1 + self.rng.index(2) {
                    let Some(arguments) = self.arguments(widths, true) else { return };
                    self.mark(if at == 0 { "control: with arguments" } else { "control: applied twice" });
                    self.line(depth, format!("plain.apply({arguments});"));
                }
            }
            _ => {
                let widths = self.widths();
                let Some(arguments) = self.arguments(widths, false) else { return };
                let name = self.name("direct");
                let body = self.body(widths, |this| {
                    this.plain(2);
                    this.plain(2);
                });
                let mut inside = body;
                if self.chance(3) {
                    // Arguments are copies: what is passed may be another one meanwhile.
                    let place = ["meta.a", "meta.b", "meta.e"][self.rng.index(3)];
                    self.mark("action: writes beside its arguments");
                    inside += &format!("        {place} = {place} + 1;\n");
                }
                self.mark("action: called with arguments");
                self.declarations.push(format!("    action {name}({}) {{\n{inside}    }}\n", Self::parameters(widths)));
                self.line(depth, format!("{name}({arguments});"));
            }
        }
    }

    /// Variables without a value.
    pub fn declared(&mut self, depth: usize) {
        let count = self.places.len();
        self.without_value(depth);
        let place = self.places[count].clone();
        let condition = self.condition(0);
        let value = self.value(place.width, 1);
        self.line(depth, format!("if ({condition}) {{"));
        self.line(depth + 1, format!("{} = {value};", place.text));
        self.line(depth, "}");
        self.recent.push(place);
    }

    /// A parser that takes a header in the place of a state; what stands for its extraction in the state.
    pub fn sub_parser(&mut self, at: usize) -> String {
        self.mark("sub-parser");
        let (name, kind, field) =
            (self.name("Inner"), self.headers[at].kind.clone(), self.rng.index(self.headers[at].widths.len()));
        let width = self.headers[at].widths[field];
        let instance = name.to_lowercase();
        self.parsers.1 += &format!("    {name}() {instance};\n");
        let (parameters, header, arguments) = match self.rng.below(3) {
            0 => (
                "inout headers_t hdr, inout bit<8> both, out bit<16> made".into(),
                format!("hdr.{}", self.headers[at].name),
                "hdr",
            ),
            1 => (format!("out {kind} one, inout bit<8> both, out bit<16> made"), "one".into(), "one"),
            _ => (format!("inout {kind} one, inout bit<8> both, out bit<16> made"), "one".into(), "one"),
        };
        let mut text = format!("parser {name}(packet_in packet, {parameters}) {{\n    state start {{\n");
        if self.chance(2) {
            text += "        made = 9;\n";
        }
        text += &format!("        both = both + {};\n        packet.extract({header});\n", self.rng.below(3));
        if self.chance(3) {
            text += "        made = 7;\n";
        }
        match self.rng.below(4) {
            0 => {
                self.mark("sub-parser: verify");
                let value = self.known_value(width);
                text += &format!(
                    "        verify({header}.f{field} != {value}, error.Odd);\n        both = 3;\n        transition accept;\n    }}\n"
                );
            }
            1 => {
                self.mark("sub-parser: select");
                let (one, two) = (self.known_value(width), self.known_value(width));
                text += &format!("        transition select({header}.f{field}) {{\n            {one}: more;\n");
                if one != two {
                    text += &format!("            {two}: reject;\n");
                }
                if !self.chance(3) {
                    text += "            default: accept;\n";
                }
                text += &format!(
                    "        }}\n    }}\n    state more {{\n        {header}.f{field} = {};\n",
                    self.known_value(width)
                );
                text += "        both = 5;\n        made = 6;\n        transition accept;\n    }\n";
            }
            _ => text += "        transition accept;\n    }\n",
        }
        self.parsers.0 += &(text + "}\n");
        let first = if arguments == "hdr" { "hdr".into() } else { format!("hdr.{}", self.headers[at].name) };
        format!("        {instance}.apply(packet, {first}, meta.b, meta.a);\n")
    }
}
