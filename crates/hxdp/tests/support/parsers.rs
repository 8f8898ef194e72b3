//! Random parsers, shaped as public ones are: a map of counters for each processor, and one of flows.

use sluice_ebpf::{Image, MapType};
use sluice_formats::random::Rng;
use std::fmt::Write;

/// Writes a parser: lengths are tested, fields compared, a key is put together, an entry looked up.
struct Parser<'r> {
    /// Bytes of the key of its lookup.
    key: u32,
    rng: &'r mut Rng,
    text: String,
    labels: u32,
    /// Bytes that the path has proved.
    proved: u32,
}

impl Parser<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.text, "    {}", text.as_ref());
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.rng.index(of.len())]
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels)
    }

    /// Goes out where a condition does not hold: by one branch, or by its opposite around a jump.
    fn unless(&mut self, a: &str, cond: &str, b: &str) {
        let opposite = match cond {
            "==" => "!=",
            "!=" => "==",
            ">" => "<=",
            ">=" => "<",
            "<" => ">=",
            "<=" => ">",
            _ => "",
        };
        let out = format!("out{}", self.rng.index(3));
        if opposite.is_empty() || self.rng.chance(1, 3) {
            let on = self.label();
            self.line(format!("if {a} {cond} {b} goto {on}"));
            self.line(format!("goto {out}"));
            let _ = writeln!(self.text, "{on}:");
        } else {
            self.line(format!("if {a} {opposite} {b} goto {out}"));
        }
    }

    /// At least so many bytes; r2 is the frame's start, r3 its end.
    fn length(&mut self, bytes: u32) {
        match self.rng.index(3) {
            0 => {
                self.line("r4 = r2");
                self.line(format!("r4 += {bytes}"));
                self.unless("r4", "<=", "r3");
            }
            1 => {
                self.line("r4 = r2");
                self.line(format!("r4 += {bytes}"));
                self.unless("r3", ">=", "r4");
            }
            _ => {
                self.line("r4 = r3");
                self.line("r4 -= r2");
                let cond = self.pick(&[">=", "s>="]).to_owned();
                match cond.as_str() {
                    ">=" => self.unless("r4", ">=", &bytes.to_string()),
                    _ => self.unless("r4", "s>=", &bytes.to_string()),
                }
            }
        }
        self.proved = self.proved.max(bytes);
    }

    /// A field in r5; gives its bytes.
    fn field(&mut self) -> u32 {
        let bytes = [1, 2, 4, 8][self.rng.index(4)].min(self.proved.next_power_of_two() / 2).max(1);
        let at = self.rng.index((self.proved - bytes + 1) as usize);
        self.line(format!("r5 = *(u{} *)(r2 +{at})", 8 * bytes));
        if bytes > 1 && self.rng.chance(1, 2) {
            self.line(format!("r5 = be{} r5", 8 * bytes));
        }
        match self.rng.index(6) {
            0 => {
                let number = 1 + self.rng.next_u32() as i32 % 0x7fff;
                self.line(format!("w5 &= {number}"));
            }
            1 => {
                let number = self.rng.index(12);
                self.line(format!("r5 >>= {number}"));
            }
            2 => {
                let number = self.rng.index(4);
                self.line(format!("w5 <<= {number}"));
            }
            3 => {
                let number = self.rng.index(256);
                self.line(format!("w5 ^= {number}"));
            }
            _ => {}
        }
        bytes
    }

    fn compare(&mut self) {
        self.field();
        if self.rng.chance(1, 5) {
            let at = self.rng.index(self.proved as usize);
            self.line(format!("r4 = *(u8 *)(r2 +{at})"));
            self.line("w5 |= w4");
            let number = 1 << self.rng.index(8);
            self.line(format!("w5 &= {number}"));
            self.unless("w5", "==", "0");
            return;
        }
        let register = self.pick(&["r5", "w5"]).to_owned();
        let number = match self.rng.index(4) {
            0 => 8,
            1 => self.rng.index(0x10000),
            2 => self.rng.index(256),
            _ => self.rng.index(4),
        };
        let cond = self.pick(&["==", "==", "!=", "&", ">", ">=", "<", "<=", "s>", "s<="]).to_owned();
        // A comparison that few packets pass is mostly the other way round.
        let cond = if cond == "==" && self.rng.chance(1, 2) { "!=" } else { &cond };
        self.unless(&register, cond, &number.to_string());
    }

    /// A header whose length is in it.
    fn header(&mut self) {
        let at = self.rng.index(self.proved as usize);
        self.line(format!("r5 = *(u8 *)(r2 +{at})"));
        self.line("w5 <<= 2");
        self.line("w5 &= 60");
        self.unless("w5", ">=", "20");
        self.line("r4 = r2");
        self.line("r4 += 14");
        self.line("r4 += r5");
        self.line("r5 = r4");
        self.line("r5 += 4");
        self.unless("r5", "<=", "r3");
        self.line("r5 = *(u16 *)(r4 +2)");
        self.line("*(u16 *)(r10 -14) = r5");
    }

    /// Tags that are left out, one after the other.
    fn tags(&mut self) {
        self.line("r8 = 0");
        let (again, on) = (self.label(), self.label());
        let most = 1 + self.rng.index(3);
        let _ = writeln!(self.text, "{again}:");
        self.line("r4 = r2");
        self.line("r4 += 40");
        self.unless("r4", "<=", "r3");
        self.proved = self.proved.max(40);
        self.line("r5 = *(u16 *)(r2 +12)");
        self.line(format!("if w5 != 129 goto {on}"));
        self.line("r8 += 1");
        self.line(format!("if r8 < {most} goto {again}"));
        let _ = writeln!(self.text, "{on}:");
    }

    fn count(&mut self, index: u32, verdict: u32) {
        self.line(format!("w1 = {index}"));
        self.line("*(u32 *)(r10 -4) = r1");
        self.line("r2 = r10");
        self.line("r2 += -4");
        self.line("r1 = map[counters]");
        self.line("call bpf_map_lookup_elem");
        let on = self.label();
        self.line(format!("if r0 == 0 goto {on}"));
        self.line("r1 = *(u64 *)(r0 +0)");
        self.line("r1 += 1");
        self.line("*(u64 *)(r0 +0) = r1");
        let _ = writeln!(self.text, "{on}:");
        self.line(format!("r0 = {verdict}"));
        self.line("exit");
    }

    fn program(mut self) -> String {
        self.line("r6 = r1");
        self.line("r3 = *(u32 *)(r1 +4)");
        self.line("r2 = *(u32 *)(r1 +0)");
        self.line("r7 = *(u32 *)(r1 +12)");
        self.line("r1 = 0");
        self.line("*(u64 *)(r10 -16) = r1");
        let first = -16 - self.key as i32;
        for at in (first..-16).step_by(8) {
            self.line(format!("*(u64 *)(r10 {at}) = r1"));
        }
        self.length(14);
        for _ in 0..1 + self.rng.index(6) {
            match self.rng.index(8) {
                0 | 1 => {
                    let bytes = 14 + self.rng.index(51) as u32;
                    self.length(bytes);
                }
                2 if self.proved >= 20 => self.header(),
                3 => self.tags(),
                4 => {
                    let ifindex = 1 + self.rng.index(3);
                    self.unless("w7", "==", &ifindex.to_string());
                }
                _ => self.compare(),
            }
        }
        // A word of one field or of two.
        for at in (first..-16).step_by(8) {
            let most = if self.rng.chance(1, 2) { 8 } else { 4 };
            for at in (at..at + 8).step_by(most as usize) {
                let bytes = self.field().min(most);
                self.line(format!("*(u{} *)(r10 {at}) = r5", 8 * bytes));
            }
        }
        self.line("r9 = r2");
        self.line("r2 = r10");
        self.line(format!("r2 += {first}"));
        self.line("r1 = map[flows]");
        self.line("call bpf_map_lookup_elem");
        if self.rng.chance(1, 2) {
            self.line("if r0 == 0 goto miss");
        } else {
            self.line("r8 = r0");
            self.line("if r8 != 0 goto hit");
            self.line("goto miss");
            self.text.push_str("hit:\n");
        }
        self.line("r1 = *(u32 *)(r0 +0)");
        self.line("r1 += 1");
        self.line("*(u32 *)(r0 +0) = r1");
        self.line("r5 = *(u16 *)(r9 +6)");
        self.line("*(u16 *)(r9 +0) = r5");
        self.line("r0 = 3");
        self.line("exit");
        self.text.push_str("miss:\n");
        self.line("r5 = *(u32 *)(r10 -24)");
        self.line("r4 = *(u32 *)(r10 -20)");
        self.line("r5 ^= r4");
        self.line("w5 &= 1");
        self.line("if w5 != 0 goto out1");
        self.count(3, 2);
        for (out, verdict) in [1, 2, 1].into_iter().enumerate() {
            let _ = writeln!(self.text, "out{out}:");
            if self.rng.chance(1, 2) {
                self.count(out as u32, verdict);
            } else {
                self.line(format!("r0 = {verdict}"));
                self.line("exit");
            }
        }
        self.text
    }
}

/// A parser, and its text.
pub fn parser(rng: &mut Rng) -> (Image, String) {
    let key = 8 * (1 + rng.index(4)) as u32;
    let text = Parser { key, rng: &mut *rng, text: String::new(), labels: 0, proved: 0 }.program();
    let program = sluice_ebpf::insn::assemble("parser", &text, &["counters", "flows"]);
    let program = program.unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    let counters = sluice_ebpf::MapSpec::new("counters", MapType::PercpuArray, 4, 8, 4);
    let kinds = [MapType::Hash, MapType::LruHash, MapType::PercpuHash, MapType::LruPercpuHash];
    let flows = sluice_ebpf::MapSpec::new("flows", kinds[rng.index(kinds.len())], key, 8, 64);
    (Image { programs: vec![program], maps: vec![counters, flows], ..Image::default() }, text)
}
