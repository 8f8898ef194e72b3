//! Controls of random programs.

use super::{Maker, Place, number};

/// A function that expressions call.
pub const FUNCTION: &str = "bit<8> twist(in bit<8> x) {
    if (x == 7) {
        return 9;
    }
    return x ^ 0x15;
}
";

impl Maker<'_> {
    fn begin(&mut self, control: &'static str, budget: u32) {
        self.metadata();
        self.control = control;
        self.budget = budget;
        self.declarations.clear();
        self.lines.clear();
        self.has_port = control == "Enter";
        self.kept.clear();
        self.recent.clear();
        if self.is_quiet() {
            self.places
                .iter_mut()
                .filter(|place| place.text.starts_with("hdr"))
                .for_each(|place| place.is_variable = false);
        }
    }

    fn end(&mut self, parameters: &str) -> String {
        let text = format!(
            "control {}({parameters}) {{\n{}    apply {{\n{}    }}\n}}\n",
            self.control,
            self.declarations.concat(),
            self.lines.concat()
        );
        self.has_port = false;
        text
    }

    /// A control that ingress applies, if there is one.
    pub fn sub_control(&mut self) -> Option<String> {
        if !self.chance(5) {
            return None;
        }
        self.mark("control in a control");
        self.begin("Sub", 2);
        if self.chance(3) {
            // It works on what it is given twice.
            self.mark("control: all headers as argument twice");
            self.sub_has_old = true;
            let old = self.places.iter().filter(|place| place.text.starts_with("hdr."));
            let old: Vec<Place> = old
                .map(|place| Place { text: place.text.replacen("hdr.", "old.", 1), is_variable: false, ..*place })
                .collect();
            self.places.extend(old);
        }
        while self.budget > 0 {
            self.statement(2, 1);
        }
        let old = if self.sub_has_old { "in headers_t old, " } else { "" };
        Some(self.end(&format!("{old}inout headers_t hdr, inout meta_t meta")))
    }

    pub fn ingress(&mut self, has_sub: bool, size: u64) -> String {
        let budget = 2 + self.rng.below(size) as u32;
        self.begin("Enter", budget);
        self.places.push(Place { text: "standard_metadata.ingress_port".into(), width: 9, is_variable: false });
        if self.chance(3) {
            let place = Place { text: "standard_metadata.packet_length".into(), width: 32, is_variable: false };
            self.places.push(place);
        }
        if self.has_time && self.chance(10) {
            self.mark("time of arrival");
            let text = "standard_metadata.ingress_global_timestamp".into();
            self.places.push(Place { text, width: 48, is_variable: false });
        }
        self.kept();
        if self.plain_widths.is_some() {
            self.declarations.push("    Plain() plain;\n".into());
        }
        if !self.is_quiet() {
            self.whole_instances();
        }
        if has_sub {
            self.declarations.push("    Sub() sub;\n".into());
        }
        let (at, clone_at) = (self.rng.below(3), self.rng.below(2));
        let mut round = 0;
        while self.budget > 0 {
            if round == at {
                self.port(2);
            }
            if round == 1 {
                self.declared_calls(2);
                if !self.is_quiet() {
                    self.whole_calls(2);
                }
            }
            if round == clone_at {
                self.clone_of_ingress(2);
            }
            if has_sub && round == 1 {
                let old = if self.sub_has_old { "hdr, " } else { "" };
                self.line(2, format!("sub.apply({old}hdr, meta);"));
            }
            self.statement(2, 2);
            round += 1;
        }
        self.end("inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata")
    }

    pub fn egress(&mut self) -> String {
        self.begin("Leave", 0);
        self.places.push(Place { text: "standard_metadata.egress_port".into(), width: 9, is_variable: false });
        if self.egress_with_clones(2) {
            return self.end("inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata");
        }
        match self.rng.below(8) {
            0 => {
                self.mark("egress: statement");
                self.budget = 1;
                self.statement(2, 1);
            }
            1 => {
                self.mark("egress: drop");
                let condition = self.condition(0);
                self.line(2, format!("if ({condition}) {{"));
                self.line(3, "mark_to_drop(standard_metadata);");
                self.line(2, "}");
            }
            2 => {
                self.mark("egress: by port");
                let port = self.ports[self.rng.index(8)];
                self.line(2, format!("if (standard_metadata.egress_port == {port}) {{"));
                self.budget = 1;
                self.simple(3);
                self.line(2, "}");
            }
            _ => {}
        }
        self.end("inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata")
    }

    /// The port of the packet.
    fn port(&mut self, depth: usize) {
        let kind = if self.clones.is_some() { 4 - 2 * self.rng.below(2) } else { self.rng.below(8) };
        match kind {
            0 => {
                self.mark("port: back");
                self.line(depth, "standard_metadata.egress_spec = standard_metadata.ingress_port;");
            }
            1 => {
                let places: Vec<Place> = self.places.iter().filter(|place| place.width == 9).cloned().collect();
                if let Some(place) = self.rng.choose(&places) {
                    let text = place.text.clone();
                    self.mark("port: a value");
                    self.line(depth, format!("standard_metadata.egress_spec = {text};"));
                }
            }
            3 if self.chance(2) => {
                self.mark("port: group");
                let group = 1 + self.rng.below(2);
                self.line(depth, format!("standard_metadata.mcast_grp = {group};"));
            }
            2 => {
                self.mark("port: dropped");
                self.line(depth, "mark_to_drop(standard_metadata);");
            }
            _ => {
                self.mark("port: constant");
                let port = self.any_port();
                self.line(depth, format!("standard_metadata.egress_spec = {port};"));
            }
        }
    }

    /// A statement without others in it.
    pub fn simple(&mut self, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        let kind = match self.rng.below(20) {
            // What writes a header.
            1 | 2 | 7 | 8 if self.is_quiet() => 20,
            kind => kind,
        };
        match kind {
            0 if self.has_port => self.port(depth),
            1 => {
                self.mark("header made valid");
                let header = self.header();
                self.line(depth, format!("{header}.setValid();"));
            }
            2 => {
                self.mark("header made invalid");
                let mut header = self.header();
                while header == "hdr.h0" && self.headers.len() > 1 {
                    header = self.header();
                }
                if header == "hdr.h0" {
                    return;
                }
                self.line(depth, format!("{header}.setInvalid();"));
            }
            3 => {
                self.mark("assignment to a slice");
                let place = self.variable();
                let low = self.rng.below(u64::from(place.width)) as u32;
                let width = 1 + self.rng.below(u64::from(place.width - low)) as u32;
                let value = self.value(width, 0);
                self.line(depth, format!("{}[{}:{low}] = {value};", place.text, low + width - 1));
            }
            4 => {
                self.mark("assignment to a bool");
                let value = self.condition(1);
                self.line(depth, format!("meta.d = {value};"));
            }
            5 | 11 => self.swap(depth),
            12 => self.copy(depth),
            6 => {
                self.mark("operator and assignment");
                let place = self.variable();
                let operator = ["+=", "-=", "^=", "|=", "&="][self.rng.index(5)];
                let value = self.value(place.width, 0);
                self.line(depth, format!("{} {operator} {value};", place.text));
            }
            7 if self.headers.iter().any(|header| header.stack.is_some()) => {
                self.mark("stack moved");
                let call = if self.chance(2) { "push_front" } else { "pop_front" };
                let count = 1 + u32::from(self.chance(3));
                self.line(depth, format!("hdr.s.{call}({count});"));
            }
            8 => {
                self.mark("header as a whole");
                if let Some((one, two)) = self.pair().filter(|_| self.rng.chance(3, 4)) {
                    self.mark("header from another one");
                    self.line(depth, format!("{one} = {two};"));
                    return;
                }
                let header = self.rng.index(self.headers.len());
                if self.headers[header].stack.is_none() {
                    let name = format!("hdr.{}", self.headers[header].name);
                    let widths = self.headers[header].widths.clone();
                    let values: Vec<String> = widths.iter().map(|width| number(self.rng, *width).to_string()).collect();
                    self.line(depth, format!("{name} = {{ {} }};", values.join(", ")));
                }
            }
            9 | 10 | 14 | 15 if !self.kept.is_empty() => self.keep(depth),
            13 if self.chance(6) => self.hash(depth),
            16 | 17 if self.control != "Sub" => self.with_arguments(depth),
            18 if self.chance(2) => self.declared(depth),
            _ => {
                self.mark("assignment");
                let place = self.variable();
                let value = self.value(place.width, 2);
                self.line(depth, format!("{} = {value};", place.text));
                self.recent.push(place);
            }
        }
    }

    /// Two values change places.
    fn swap(&mut self, depth: usize) {
        let one = self.variable();
        let others: Vec<Place> =
            self.places.iter().filter(|p| p.is_variable && p.width == one.width).cloned().collect();
        let Some(two) = self.rng.choose(&others).cloned() else { return };
        self.mark("two values change places");
        let name = self.name("swap");
        self.line(depth, "{");
        self.line(depth + 1, format!("bit<{}> {name} = {};", one.width, one.text));
        self.line(depth + 1, format!("{} = {};", one.text, two.text));
        self.line(depth + 1, format!("{} = {name};", two.text));
        self.line(depth, "}");
        self.recent.extend([one, two]);
    }

    /// A value is kept, and its place gets another one.
    fn copy(&mut self, depth: usize) {
        let one = self.variable();
        let others: Vec<Place> =
            self.places.iter().filter(|p| p.is_variable && p.width == one.width && **p != one).cloned().collect();
        let Some(two) = self.rng.choose(&others).cloned() else { return };
        self.mark("copy of a value that changes");
        self.line(depth, format!("{} = {};", two.text, one.text));
        let value = self.value(one.width, 1);
        self.line(depth, format!("{} = {value};", one.text));
        self.recent.extend([one, two]);
    }

    pub fn statement(&mut self, depth: usize, nesting: u32) {
        match self.rng.below(16) {
            0..=2 if nesting > 0 => {
                self.budget = self.budget.saturating_sub(1);
                self.mark("if");
                let condition = self.condition(1);
                self.line(depth, format!("if ({condition}) {{"));
                self.inner(depth, nesting);
                if self.chance(2) {
                    self.mark("else");
                    self.line(depth, "} else {");
                    self.inner(depth, nesting);
                }
                self.line(depth, "}");
            }
            3..=6 => self.applied(depth, nesting),
            7 => {
                self.budget = self.budget.saturating_sub(1);
                self.mark("local variable");
                let width = self.variable().width;
                let value = self.value(width, 1);
                let name = self.name("l");
                self.line(depth, format!("bit<{width}> {name} = {value};"));
                self.places.push(Place { text: name, width, is_variable: true });
            }
            8 if nesting < 2 => {
                self.mark("exit or return");
                let word = if self.chance(2) { "exit" } else { "return" };
                let condition = self.condition(0);
                self.line(depth, format!("if ({condition}) {{"));
                self.line(depth + 1, format!("{word};"));
                self.line(depth, "}");
                self.budget = self.budget.saturating_sub(1);
            }
            9 => {
                self.budget = self.budget.saturating_sub(1);
                self.mark("loop");
                let place = self.variable();
                let name = self.name("i");
                let last = self.rng.below(3);
                self.line(depth, format!("for (bit<{}> {name} in 0..{}) {{", place.width, last.min(1)));
                self.line(depth + 1, format!("{} = {} + {name};", place.text, place.text));
                self.line(depth, "}");
            }
            10 if nesting > 0 => {
                self.budget = self.budget.saturating_sub(1);
                self.mark("switch over a value");
                let place = self.variable();
                let value = match self.chance(4) {
                    true => {
                        self.mark("switch over an expression");
                        self.value(place.width, 1)
                    }
                    false => place.text.clone(),
                };
                self.line(depth, format!("switch ({value}) {{"));
                let (one, two) = (self.known_value(place.width), self.known_value(place.width));
                for value in if one == two { vec![one] } else { vec![one, two] } {
                    if value == one && one != two && self.chance(4) {
                        self.mark("switch: a label without a body");
                        self.line(depth + 1, format!("{value}:"));
                        continue;
                    }
                    self.line(depth + 1, format!("{value}: {{"));
                    self.inner(depth + 1, 0);
                    self.line(depth + 1, "}");
                }
                if self.chance(4) {
                    self.mark("switch: no default");
                } else {
                    self.line(depth + 1, "default: {");
                    self.inner(depth + 1, 0);
                    self.line(depth + 1, "}");
                }
                self.line(depth, "}");
            }
            11 if nesting == 2 && !self.is_quiet() => {
                self.budget = self.budget.saturating_sub(1);
                self.kept_whole(depth);
            }
            _ => self.simple(depth),
        }
    }

    /// A statement in a block: what is declared in it ends with it.
    fn inner(&mut self, depth: usize, nesting: u32) {
        let count = self.places.len();
        match nesting {
            0 => self.simple(depth + 1),
            _ => self.statement(depth + 1, nesting - 1),
        }
        if self.chance(10) {
            self.mark("exit or return at the end of a block");
            let word = if self.chance(2) { "exit" } else { "return" };
            self.line(depth + 1, format!("{word};"));
        }
        self.places.truncate(count);
    }

    /// A table is applied, and perhaps what it found is looked at.
    fn applied(&mut self, depth: usize, nesting: u32) {
        self.budget = self.budget.saturating_sub(1);
        // What stands in a block cannot be read by a table.
        let places = self.places.clone();
        self.places.retain(|place| !place.text.starts_with('l'));
        let (name, actions) = self.table();
        self.places = places;
        self.mark("table");
        match self.rng.below(8) {
            0 if nesting > 0 => {
                self.mark("table: hit");
                let word = if self.chance(2) { "hit" } else { "miss" };
                self.line(depth, format!("if ({name}.apply().{word}) {{"));
                self.inner(depth, 0);
                self.line(depth, "}");
            }
            1 if nesting > 0 => {
                self.mark("table: action_run");
                self.line(depth, format!("switch ({name}.apply().action_run) {{"));
                self.line(depth + 1, format!("{}: {{", actions[0]));
                self.inner(depth + 1, 0);
                self.line(depth + 1, "}");
                if let Some(other) = actions.get(1).filter(|_| self.rng.chance(1, 2)) {
                    self.mark("table: action_run without a default");
                    self.line(depth + 1, format!("{other}: {{"));
                } else {
                    self.line(depth + 1, "default: {");
                }
                self.inner(depth + 1, 0);
                self.line(depth + 1, "}");
                self.line(depth, "}");
            }
            _ => self.line(depth, format!("{name}.apply();")),
        }
    }

    /// The control that computes checksums.
    pub fn sums(&mut self) -> String {
        let mut lines = String::new();
        for header in self.headers.clone() {
            let Some(sum) = header.sum else { continue };
            self.mark("checksum");
            let name = format!("hdr.{}", header.name);
            let fields: Vec<String> =
                (0..header.widths.len()).filter(|at| *at != sum).map(|at| format!("{name}.f{at}")).collect();
            lines += &format!(
                "        update_checksum({name}.isValid(), {{ {} }}, {name}.f{sum}, HashAlgorithm.csum16);\n",
                fields.join(", ")
            );
        }
        format!("control Update(inout headers_t hdr, inout meta_t meta) {{\n    apply {{\n{lines}    }}\n}}\n")
    }

    /// The control that verifies checksums.
    pub fn verified(&mut self) -> String {
        let mut lines = String::new();
        let headers: Vec<_> = self.headers.iter().filter(|header| header.sum.is_some()).cloned().collect();
        if let Some(header) = self.rng.choose(&headers).cloned().filter(|_| self.rng.chance(1, 3)) {
            self.mark("checksum that is verified");
            self.has_verified = true;
            let (name, sum) = (format!("hdr.{}", header.name), header.sum.unwrap_or(0));
            let fields: Vec<String> =
                (0..header.widths.len()).filter(|at| *at != sum).map(|at| format!("{name}.f{at}")).collect();
            lines = format!(
                "        verify_checksum({name}.isValid(), {{ {} }}, {name}.f{sum}, HashAlgorithm.csum16);\n",
                fields.join(", ")
            );
        }
        format!("control Verify(inout headers_t hdr, inout meta_t meta) {{\n    apply {{\n{lines}    }}\n}}\n")
    }

    pub fn deparser(&mut self) -> String {
        let mut emitted: Vec<String> =
            self.headers.iter().map(|header| format!("        packet.emit(hdr.{});\n", header.name)).collect();
        match self.rng.below(8) {
            0 => {
                self.mark("deparser: another order");
                self.rng.shuffle(&mut emitted);
            }
            1 => {
                self.mark("deparser: a header left out");
                let at = self.rng.index(emitted.len());
                if at > 0 {
                    emitted.remove(at);
                }
            }
            2 | 3 => {
                self.mark("deparser: all at once");
                emitted = vec!["        packet.emit(hdr);\n".into()];
            }
            _ => self.mark("deparser: one by one"),
        }
        format!(
            "control Deparse(packet_out packet, in headers_t hdr) {{\n    apply {{\n{}    }}\n}}\n",
            emitted.concat()
        )
    }
}
