//! Headers and structs as a whole: as arguments of controls, functions and actions, kept in variables and given back.

use super::headers::Header;
use super::{Maker, Place};

/// Something with headers or structs as arguments: the type of its headers.
#[derive(Clone, Debug)]
pub struct Whole {
    name: String,
    kind: String,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A control with headers `given`, `both` and `made`.
    Control,
    /// A function with headers `given` and `both`, which returns a number.
    Function,
    /// A control with a struct of a header and a number.
    Pack,
    /// A function with a header `given` and a struct of numbers, which returns a header.
    Maker,
}

impl Maker<'_> {
    /// Fields of a header by another name.
    fn fields_of(&mut self, header: &Header, name: &str, is_variable: bool) {
        for (at, width) in header.widths.iter().enumerate() {
            self.places.push(Place { text: format!("{name}.f{at}"), width: *width, is_variable });
        }
    }

    /// A statement on headers that are parameters.
    fn on_wholes(&mut self, depth: usize, given: Option<&str>, written: &[&str]) {
        let one = *self.rng.choose(written).unwrap();
        let is_inner = self.chance(2);
        if is_inner {
            let condition = match self.chance(2) {
                true => format!("{}.isValid()", if self.chance(2) { given.unwrap_or(one) } else { one }),
                false => self.condition(1),
            };
            self.line(depth, format!("if ({condition}) {{"));
        }
        let at = depth + usize::from(is_inner);
        match self.rng.below(8) {
            0 => {
                self.mark("whole: parameter made invalid");
                self.line(at, format!("{one}.setInvalid();"));
            }
            1 => {
                self.mark("whole: parameter made valid");
                self.line(at, format!("{one}.setValid();"));
            }
            2 | 3 => {
                let others: Vec<&str> = written.iter().copied().chain(given).filter(|other| *other != one).collect();
                if let Some(other) = self.rng.choose(&others) {
                    self.mark("whole: parameter from another one");
                    self.line(at, format!("{one} = {other};"));
                } else {
                    self.line(at, format!("{one}.setValid();"));
                }
            }
            _ => {
                let place = self.variable();
                let value = self.value(place.width, 1);
                self.line(at, format!("{} = {value};", place.text));
            }
        }
        if is_inner {
            self.line(depth, "}");
        }
    }

    /// What is declared beside the parser.
    pub fn wholes(&mut self) -> String {
        if !self.chance(4) {
            return String::new();
        }
        let header = self.headers[self.rng.index(self.headers.len())].clone();
        let name = self.name("whole");
        let kind = header.kind.clone();
        let form = [Form::Control, Form::Control, Form::Function, Form::Pack, Form::Maker][self.rng.index(5)];
        let saved = (std::mem::take(&mut self.lines), std::mem::take(&mut self.places), self.budget, self.control);
        let has_port = std::mem::replace(&mut self.has_port, false);
        self.control = "Plain";
        let count = 2 + self.rng.index(3);
        let text = match form {
            Form::Control => {
                self.fields_of(&header, "given", false);
                self.fields_of(&header, "both", true);
                self.fields_of(&header, "made", true);
                let exit = self.rng.index(3 * count);
                for at in 0..count {
                    self.on_wholes(2, Some("given"), &["both", "made"]);
                    if at == exit {
                        self.mark("whole: exit or return");
                        let (condition, word) = (self.condition(0), if self.chance(2) { "exit" } else { "return" });
                        self.line(2, format!("if ({condition}) {{"));
                        self.line(3, format!("{word};"));
                        self.line(2, "}");
                    }
                }
                format!(
                    "control {name}(in {kind} given, inout {kind} both, out {kind} made) {{\n    apply {{\n{}    }}\n}}\n",
                    self.lines.concat()
                )
            }
            Form::Function => {
                self.fields_of(&header, "given", false);
                self.fields_of(&header, "both", true);
                for _ in 0..count {
                    self.on_wholes(1, Some("given"), &["both"]);
                }
                let value = self.value(8, 1);
                self.line(1, format!("return {value};"));
                format!("bit<8> {name}(in {kind} given, inout {kind} both) {{\n{}}}\n", self.lines.concat())
            }
            Form::Pack => {
                self.fields_of(&header, "pack.one", true);
                self.places.push(Place { text: "pack.two".into(), width: 8, is_variable: true });
                for _ in 0..count {
                    self.on_wholes(2, None, &["pack.one"]);
                }
                let word = if self.chance(2) { "inout" } else { "out" };
                let first = if word == "out" { "        pack.two = 3;\n" } else { "" };
                format!(
                    "struct pack_t {{\n    {kind} one;\n    bit<8> two;\n}}\ncontrol {name}({word} pack_t pack) {{\n    apply {{\n{first}{}    }}\n}}\n",
                    self.lines.concat()
                )
            }
            Form::Maker => {
                self.fields_of(&header, "given", false);
                self.places.push(Place { text: "both.x".into(), width: 16, is_variable: true });
                self.places.push(Place { text: "both.y".into(), width: 8, is_variable: true });
                let first = self.lines.len();
                self.line(1, format!("{kind} made = given;"));
                self.fields_of(&header, "made", true);
                for _ in 0..count {
                    self.on_wholes(1, Some("given"), &["made"]);
                }
                self.line(1, "return made;");
                format!("{kind} {name}(in {kind} given, inout two_t both) {{\n{}}}\n", self.lines[first..].concat())
            }
        };
        (self.lines, self.places, self.budget, self.control) = saved;
        self.has_port = has_port;
        self.whole = Some(Whole { name, kind, form });
        text
    }

    /// Headers of a type that stand in the packet.
    fn instances_of(&self, kind: &str) -> Vec<String> {
        let headers = self.headers.iter().filter(|header| header.kind == kind);
        headers.flat_map(Header::instances).collect()
    }

    /// Instances of controls that take headers.
    pub fn whole_instances(&mut self) {
        if let Some(Whole { name, form: Form::Control | Form::Pack, .. }) = &self.whole {
            let line = format!("    {name}() inner{name};\n");
            self.declarations.push(line);
        }
    }

    /// Uses what takes headers.
    pub fn whole_calls(&mut self, depth: usize) {
        let Some(Whole { name, kind, form }) = self.whole.clone() else { return };
        let all = self.instances_of(&kind);
        let header = self.headers.iter().find(|header| header.kind == kind).cloned().unwrap();
        let pick = |this: &mut Self| this.rng.choose(&all).cloned().unwrap();
        let (given, mut both) = (pick(self), pick(self));
        let is_member = |text: &str| text.starts_with("hdr.u.");
        if matches!(form, Form::Control | Form::Function) && is_member(&both) {
            // No block gets one; some of the time that is shown.
            if !self.chance(8) {
                return;
            }
            both.clone_from(&given);
        }
        match form {
            Form::Control => {
                self.mark("whole: header arguments of a control");
                let mut is_local = self.chance(2);
                let mut made = if is_local { String::new() } else { pick(self) };
                // Two that are written are two variables, most often.
                is_local |= (made == both || is_member(&made)) && !self.chance(8);
                if is_local {
                    made = self.name("l");
                }
                if is_local {
                    self.line(depth, format!("{kind} {made};"));
                    self.fields_of(&header, &made, true);
                }
                self.line(depth, format!("inner{name}.apply({given}, {both}, {made});"));
                if is_local {
                    let condition = self.condition(0);
                    self.line(depth, format!("if ({condition}) {{"));
                    self.line(depth + 1, format!("{both} = {made};"));
                    self.line(depth, "}");
                }
            }
            Form::Function => {
                self.mark("whole: header arguments of a function");
                let place = self.target_of(8);
                self.line(depth, format!("{place} = {name}({given}, {both});"));
            }
            Form::Pack => {
                self.mark("whole: struct with a header as argument");
                let pack = self.name("l");
                self.line(depth, format!("pack_t {pack};"));
                self.line(depth, format!("{pack}.one = {given};"));
                let value = self.value(8, 0);
                self.line(depth, format!("{pack}.two = {value};"));
                self.line(depth, format!("inner{name}.apply({pack});"));
                self.fields_of(&header, &format!("{pack}.one"), true);
                self.places.push(Place { text: format!("{pack}.two"), width: 8, is_variable: true });
                if self.chance(2) {
                    self.line(depth, format!("{both} = {pack}.one;"));
                }
            }
            Form::Maker => {
                self.mark("whole: a function that returns a header");
                self.line(depth, format!("{both} = {name}({given}, meta.two);"));
            }
        }
    }

    fn target_of(&mut self, width: u32) -> String {
        let all: Vec<Place> =
            self.places.iter().filter(|place| place.is_variable && place.width == width).cloned().collect();
        self.rng.choose(&all).map_or("meta.b".into(), |place| place.text.clone())
    }

    /// A header, all headers or a struct is kept in a variable, and perhaps given back behind what comes next.
    pub fn kept_whole(&mut self, depth: usize) {
        let name = self.name("l");
        let place = self.variable();
        let value = self.value(place.width, 1);
        let write = format!("{} = {value};", place.text);
        let (kind, from, mark) = match self.rng.below(5) {
            0 => ("headers_t".to_string(), "hdr".to_string(), "whole: all headers kept"),
            1 => ("two_t".to_string(), "meta.two".to_string(), "whole: struct kept"),
            2 if self.headers.iter().any(|header| header.name.starts_with("u.")) => {
                ("u_t".to_string(), "hdr.u".to_string(), "whole: header kept")
            }
            3 if self.headers.iter().any(|header| header.stack.is_some()) => {
                let size = self.headers.iter().find_map(|header| header.stack).unwrap_or(2);
                (format!("s_t[{size}]"), "hdr.s".to_string(), "whole: header kept")
            }
            _ => {
                let from = self.header();
                let Some(header) = self.headers.iter().find(|header| header.instances().contains(&from)) else {
                    return;
                };
                (header.kind.clone(), from.clone(), "whole: header kept")
            }
        };
        self.mark(mark);
        self.line(depth, format!("{kind} {name} = {from};"));
        self.line(depth, write);
        let is_back = self.chance(2);
        if is_back {
            self.mark("whole: given back");
        }
        // What is read of it: fields of the header alone.
        if let Some(header) = self.headers.iter().find(|header| header.kind == kind).cloned() {
            self.fields_of(&header, &name, true);
        }
        let condition = self.condition(0);
        self.line(depth, format!("if ({condition}) {{"));
        // What is declared in the block ends with it.
        let count = self.places.len();
        self.simple(depth + 1);
        self.places.truncate(count);
        if is_back {
            self.line(depth + 1, format!("{from} = {name};"));
        }
        self.line(depth, "}");
    }
}
