//! Registers and counters of random programs.

use super::Maker;

/// What a control keeps.
#[derive(Clone, Debug)]
pub struct Kept {
    name: String,
    /// Bits of a register's cell; none of a counter.
    width: Option<u32>,
}

impl Maker<'_> {
    /// Declares what the control keeps.
    pub fn kept(&mut self) {
        self.kept.clear();
        if !self.chance(4) {
            return;
        }
        for _ in 0..1 + self.rng.index(2) {
            let cells = [1, 8, 16, 256][self.rng.index(4)];
            let name = self.name("kept");
            let width = if self.chance(3) { None } else { Some([8, 16, 32, 9][self.rng.index(4)]) };
            match width {
                Some(width) => self.declarations.push(format!("    register<bit<{width}>>({cells}) {name};\n")),
                None => {
                    let what = ["packets", "bytes", "packets_and_bytes"][self.rng.index(3)];
                    self.declarations.push(format!("    counter({cells}, CounterType.{what}) {name};\n"));
                }
            }
            self.kept.push(Kept { name, width });
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
        let (name, Some(width)) = (&kept.name, kept.width) else {
            self.mark("counter");
            self.line(depth, format!("{}.count({cell});", kept.name));
            return;
        };
        let value = self.name("v");
        match self.rng.below(4) {
            0 => {
                self.mark("register: written");
                let from = self.value(width, 0);
                self.line(depth, format!("{name}.write({cell}, {from});"));
            }
            1 => {
                self.mark("register: read");
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
