//! Tables and actions of random programs.

use super::entries::{Action, Table};
use super::{Maker, Place, number};

/// Kinds of keys of which several entries may be found, so that priorities decide.
pub const RANKED: [&str; 3] = ["ternary", "range", "optional"];

impl Maker<'_> {
    /// Declares an action that writes something.
    fn action(&mut self) -> Action {
        let name = self.name("act");
        let saved = (std::mem::take(&mut self.lines), self.places.clone(), self.budget);
        let mut data = Vec::new();
        self.budget = 1 + u32::from(self.chance(3));
        for _ in 0..self.rng.below(3) {
            let width = self.variable().width.min(64);
            let parameter = format!("p{}", data.len());
            self.places.push(Place { text: parameter.clone(), width, is_variable: false });
            data.push((parameter, width));
        }
        if !data.is_empty() {
            self.mark("action: data");
        }
        // What an entry gives goes somewhere.
        for (parameter, width) in data.clone() {
            let places: Vec<Place> =
                self.places.iter().filter(|place| place.is_variable && place.width == width).cloned().collect();
            if let Some(place) = self.rng.choose(&places) {
                let place = place.text.clone();
                self.line(2, format!("{place} = {parameter};"));
            }
        }
        let mut named: Vec<String> = data.iter().map(|(name, width)| format!("bit<{width}> {name}")).collect();
        let mut name = name;
        if self.has_port && self.chance(3) {
            self.mark("action: port of an entry");
            named.push("bit<9> port".into());
            name = format!("send{name}");
            data = vec![];
            named.truncate(0);
            named.push("bit<9> port".into());
            self.lines.clear();
            self.line(2, "standard_metadata.egress_spec = port;");
            data.push(("port".into(), 9));
            self.places = saved.1.clone();
        }
        let ending = self.chance(10).then(|| {
            self.mark("action: exit or return");
            let (condition, word) = (self.condition(0), if self.chance(2) { "exit" } else { "return" });
            format!("        if ({condition}) {{\n            {word};\n        }}\n")
        });
        while self.budget > 0 {
            self.simple(2);
        }
        if let Some(ending) = ending {
            // Not within a block.
            let at = self.rng.index(self.lines.len() + 1);
            let is_between = |line: &String| !line.starts_with("         ") && !line.trim_start().starts_with('}');
            let at = if self.lines.get(at).is_none_or(is_between) { at } else { self.lines.len() };
            self.lines.insert(at, ending);
        }
        let body: String = self.lines.concat();
        (self.lines, self.places, self.budget) = saved;
        self.declarations.push(format!("    action {name}({}) {{\n{body}    }}\n", named.join(", ")));
        Action { name: format!("{}.{name}", self.control), data }
    }

    /// Declares a table; its name, and its actions' names.
    pub fn table(&mut self) -> (String, Vec<String>) {
        let name = self.name("t");
        let mut actions: Vec<Action> = (0..1 + self.rng.index(2)).map(|_| self.action()).collect();
        if self.has_port && self.chance(4) {
            self.mark("action: drop");
            self.declarations
                .push(format!("    action drop{name}() {{\n        mark_to_drop(standard_metadata);\n    }}\n"));
            actions.push(Action { name: format!("{}.drop{name}", self.control), data: Vec::new() });
        }
        let local = |action: &Action| action.name.rsplit('.').next().unwrap_or_default().to_string();
        let mut text = format!("    table {name} {{\n        key = {{\n");
        let mut keys: Vec<(String, u32, &'static str)> = Vec::new();
        let count = if self.chance(16) { 0 } else { 1 + self.rng.index(2) };
        for _ in 0..count {
            let place = self.variable();
            let has_prefix = keys.iter().any(|(_, _, kind)| *kind == "lpm");
            let kind = match self.rng.below(8) {
                0 | 1 => "ternary",
                2 if !has_prefix => "lpm",
                3 if place.width <= 16 => "range",
                4 if self.chance(2) => "optional",
                _ => "exact",
            };
            if keys.iter().any(|(text, ..)| *text == place.text) {
                continue;
            }
            if self.chance(8) {
                self.mark("key: expression");
                let (key, value) = (self.name("key"), self.value(place.width, 1));
                text += &format!("            {value}: {kind} @name(\"{key}\");\n");
                keys.push((key, place.width, kind));
                continue;
            }
            if place.width > 2 && self.chance(8) {
                self.mark("key: slice");
                let low = self.rng.below(u64::from(place.width) - 1) as u32;
                let width = 1 + self.rng.below(u64::from(place.width - low)) as u32;
                let key = self.name("key");
                text += &format!("            {}[{}:{low}]: {kind} @name(\"{key}\");\n", place.text, low + width - 1);
                keys.push((key, width, kind));
                continue;
            }
            text += &format!("            {}: {kind};\n", place.text);
            keys.push((place.text, place.width, kind));
        }
        if self.chance(10) {
            let header = self.header();
            self.mark("key: validity");
            text += &format!("            {header}.isValid(): exact;\n");
            keys.push((format!("{header}.$valid$"), 1, "bool"));
        }
        for (_, _, kind) in &keys {
            self.mark(match *kind {
                "exact" => "key: exact",
                "lpm" => "key: lpm",
                "ternary" => "key: ternary",
                "range" => "key: range",
                "optional" => "key: optional",
                _ => "key: bool",
            });
        }
        if keys.is_empty() {
            self.mark("table: no keys");
            text = format!("    table {name} {{\n");
        } else {
            text += "        }\n";
        }
        text += "        actions = {\n";
        for action in &actions {
            text += &format!("            {};\n", local(action));
        }
        text += "            NoAction;\n        }\n";
        let fixed = !keys.is_empty() && self.chance(3);
        let has_ranks = fixed && keys.iter().any(|(_, _, kind)| RANKED.contains(kind)) && self.chance(2);
        if fixed {
            let mut ranks = Vec::new();
            let count = 1 + self.rng.below(4);
            if has_ranks {
                self.mark("table: entries with priorities");
                if self.chance(2) {
                    self.mark("table: the smallest priority wins");
                    text += "        largest_priority_wins = false;\n";
                }
                ranks = (1..=count).map(|rank| rank * 3).collect();
                self.rng.shuffle(&mut ranks);
                text += "        entries = {\n";
            } else {
                self.mark("table: const entries");
                text += "        const entries = {\n";
            }
            let mut seen = Vec::new();
            for number in 0..count as usize {
                let set = self.entry_keys(&keys);
                if seen.contains(&set) {
                    continue;
                }
                let action = self.rng.choose(&actions).cloned().unwrap();
                let call = self.called(&Action { name: local(&action), data: action.data }, "");
                let rank = ranks.get(number).map_or(String::new(), |rank| format!("priority = {rank}: "));
                text += &format!("            {rank}{set}: {call};\n");
                seen.push(set);
            }
            text += "        }\n";
        }
        if self.control != "Sub" && self.chance(12) {
            self.mark("table: direct counter");
            let counter = self.name("direct");
            let what = ["packets", "bytes", "packets_and_bytes"][self.rng.index(3)];
            self.declarations.push(format!("    direct_counter(CounterType.{what}) {counter};\n"));
            text += &format!("        counters = {counter};\n");
        }
        let mut default_is_open = true;
        match self.rng.below(4) {
            0 => {
                self.mark("table: default with data");
                let action = self.rng.choose(&actions).cloned().unwrap();
                let call = self.called(&Action { name: local(&action), data: action.data }, "");
                let constant = if self.chance(2) { "const " } else { "" };
                default_is_open = constant.is_empty();
                text += &format!("        {constant}default_action = {call};\n");
            }
            1 => {
                self.mark("table: constant default");
                default_is_open = false;
                text += "        const default_action = NoAction();\n";
            }
            2 => text += "        default_action = NoAction();\n",
            _ => {}
        }
        text += "    }\n";
        self.declarations.push(text);
        let names = actions.iter().map(local).collect();
        let is_open = !fixed && !keys.is_empty();
        let full = format!("{}.{name}", if self.control == "Sub" { "Enter.sub" } else { self.control });
        // Actions of a control that is applied by another have its instance's name.
        if self.control == "Sub" {
            actions.iter_mut().for_each(|action| action.name = action.name.replace("Sub.", "Enter.sub."));
        }
        self.tables.push(Table { name: full, keys, actions, is_open, default_is_open });
        (name, names)
    }

    /// Keys of an entry that stands in the program.
    fn entry_keys(&mut self, keys: &[(String, u32, &'static str)]) -> String {
        let mut words = Vec::new();
        for (_, width, kind) in keys {
            let value = self.known_value(*width);
            words.push(match *kind {
                "lpm" => {
                    let length = 1 + self.rng.below(u64::from(*width)) as u32;
                    let low = width - length;
                    let mask = ((1u128 << length) - 1) << low;
                    format!("{width}w{} &&& {width}w{mask}", value & mask)
                }
                "ternary" | "optional" if self.chance(4) => "_".into(),
                "ternary" if self.chance(2) => format!("{width}w{value} &&& {width}w{}", number(self.rng, *width)),
                "range" => {
                    let other = self.known_value(*width);
                    format!("{}..{}", value.min(other), value.max(other))
                }
                "bool" => ["true", "false"][self.rng.index(2)].into(),
                _ => value.to_string(),
            });
        }
        if words.len() == 1 { words.remove(0) } else { format!("({})", words.join(", ")) }
    }
}
