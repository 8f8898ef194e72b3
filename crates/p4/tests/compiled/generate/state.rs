//! Registers and counters of random programs.

use super::Maker;

/// What a control keeps.
#[derive(Clone, Debug)]
pub struct Kept {
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// With the bits of a cell.
    Register(u32),
    Counter,
    /// Without rates: all is green.
    Meter,
}

/// Widths of a register's cell; one of more than a word is looked at word by word.
const WIDTHS: [u32; 7] = [8, 16, 32, 9, 48, 64, 128];

impl Maker<'_> {
    /// Declares what the control keeps.
    pub fn kept(&mut self) {
        self.kept.clear();
        if !self.chance(2) {
            return;
        }
        for _ in 0..1 + self.rng.index(2) {
            let cells = [1, 8, 16, 256][self.rng.index(4)];
            let name = self.name("kept");
            let kind = match self.rng.below(8) {
                0 => Kind::Counter,
                1..=2 => Kind::Meter,
                3..=4 => Kind::Register(WIDTHS[self.rng.index(4)]),
                _ => Kind::Register(WIDTHS[self.rng.index(WIDTHS.len())]),
            };
            let what = ["packets", "bytes", "packets_and_bytes"][self.rng.index(3)];
            self.declarations.push(match kind {
                Kind::Register(width) => format!("    register<bit<{width}>>({cells}) {name};\n"),
                Kind::Counter => format!("    counter({cells}, CounterType.{what}) {name};\n"),
                Kind::Meter => {
                    format!("    meter({cells}, MeterType.{}) {name};\n", what.split('_').next().unwrap_or(what))
                }
            });
            self.kept.push(Kept { name, kind });
        }
    }

    fn cell(&mut self) -> String {
        if self.chance(2) {
            return self.rng.below(10).to_string();
        }
        let places: Vec<String> =
            self.places.iter().filter(|place| place.width <= 16).map(|place| place.text.clone()).collect();
        let place = self.rng.choose(&places).cloned();
        self.mark("cell that the packet says");
        place.map_or("0".into(), |place| format!("(bit<32>){place}"))
    }

    /// Looks at what is kept, or changes it.
    pub fn keep(&mut self, depth: usize) {
        let Some(kept) = self.rng.choose(&self.kept).cloned() else { return };
        // A packet looks at one only once, most often.
        if !self.chance(8) {
            self.kept.retain(|other| other.name != kept.name);
        }
        let cell = self.cell();
        let name = &kept.name;
        let width = match kept.kind {
            Kind::Register(width) => width,
            Kind::Counter => {
                self.mark("counter");
                self.line(depth, format!("{name}.count({cell});"));
                return;
            }
            Kind::Meter => {
                self.mark("meter");
                let place = self.variable();
                self.line(depth, format!("{name}.execute_meter<bit<{}>>({cell}, {});", place.width, place.text));
                return;
            }
        };
        let is_wide = width > 32;
        let value = self.name("v");
        match self.rng.below(if is_wide { 2 } else { 4 }) {
            0 => {
                self.mark(if is_wide { "register of several words" } else { "register: written" });
                let from = self.value(width, 0);
                self.line(depth, format!("{name}.write({cell}, {from});"));
            }
            1 => {
                self.mark(if is_wide { "register of several words" } else { "register: read" });
                self.line(depth, "{");
                self.line(depth + 1, format!("bit<{width}> {value};"));
                self.line(depth + 1, format!("{name}.read({value}, {cell});"));
                let place = self.variable();
                self.line(depth + 1, format!("{} = (bit<{}>){value};", place.text, place.width));
                self.line(depth, "}");
            }
            _ => {
                self.mark("register: added to");
                let by = self.value(width, 0);
                self.line(depth, "{");
                self.line(depth + 1, format!("bit<{width}> {value};"));
                self.line(depth + 1, format!("{name}.read({value}, {cell});"));
                self.line(depth + 1, format!("{value} = {value} + {by};"));
                self.line(depth + 1, format!("{name}.write({cell}, {value});"));
                if self.chance(2) {
                    let place = self.variable();
                    self.line(depth + 1, format!("{} = (bit<{}>){value};", place.text, place.width));
                }
                self.line(depth, "}");
            }
        }
    }
}

impl Maker<'_> {
    /// The target's hash of some values: of the sums that a program has one, as is usual.
    pub fn hash(&mut self, depth: usize) {
        self.mark("hash");
        let place = self.variable();
        let values: Vec<String> = (0..1 + self.rng.index(3)).map(|_| self.variable().text).collect();
        let algorithm = ["crc16", "crc32"][self.rng.index(2)];
        let max = 1u32 << (1 + self.rng.index(12));
        let width = place.width;
        let base = self.rng.below(if width < 8 { 2 } else { 100 });
        let values = values.join(", ");
        self.line(
            depth,
            format!("hash({}, HashAlgorithm.{algorithm}, {width}w{base}, {{ {values} }}, 16w{max});", place.text),
        );
    }
}
