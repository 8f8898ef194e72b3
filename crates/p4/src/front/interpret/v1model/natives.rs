//! Functions and methods of v1model.

use super::hash;
use super::{Cells, DROP, HashLayouts, Keep, TICK};
use crate::front::interpret::bits::Bits;
use crate::front::interpret::code::NativeCall;
use crate::front::interpret::native::{AtomValue, Native};
use crate::front::interpret::run::Machine;
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::{Value, ones};
use num_bigint::BigUint;

impl Machine {
    /// Does what it is, on values in the order of the parameters; those that are written are changed in place.
    pub fn v1model(&mut self, native: &NativeCall, values: &mut [Value], shapes: &[&Shape]) -> Value {
        match native.what {
            Native::MarkToDrop => {
                set(&mut values[0], shapes[0], "egress_spec", DROP);
                set(&mut values[0], shapes[0], "mcast_grp", 0);
                self.requests.multicast = None;
            }
            Native::MarkToDropOld => self.requests.drop = true,
            Native::Multicast => self.requests.multicast = Some((values[0].bits() as u16, values[1].is_true())),
            // Nobody measures a link here.
            Native::LinkStatistics => values[0] = shapes[0].zero(),
            Native::Hash => {
                let hash = match self.hashes_as_target {
                    true => target_hash(&self.hashes, (&values[1], shapes[1]), (&values[3], shapes[3])),
                    false => self.hash(&values[1], shapes[1], &values[3], shapes[3], false),
                };
                let (base, max) = (values[2].big(), values[4].big());
                let within = if max == BigUint::default() { max } else { hash % max };
                values[0] = Value::of_big(base + within, shapes[0].number().width);
            }
            Native::Random => {
                let (low, high) = (values[1].bits(), values[2].bits());
                let count = high.wrapping_sub(low).wrapping_add(1);
                let drawn = self.random.bits(128);
                let within = if count == 0 { drawn } else { drawn % count };
                values[0] = Value::Bits(low.wrapping_add(within) & ones(shapes[0].number().width));
            }
            Native::Truncate => self.requests.truncate = Some(values[0].bits()),
            Native::VerifyChecksum | Native::VerifyChecksumPayload => {
                let payload = native.what == Native::VerifyChecksumPayload;
                if values[0].is_true() {
                    let hash = self.hash(&values[3], shapes[3], &values[1], shapes[1], payload);
                    let found = Value::of_big(hash, shapes[2].number().width);
                    self.requests.checksum_error |= found.big() != values[2].big();
                }
            }
            Native::UpdateChecksum | Native::UpdateChecksumPayload => {
                let payload = native.what == Native::UpdateChecksumPayload;
                if values[0].is_true() {
                    let hash = self.hash(&values[3], shapes[3], &values[1], shapes[1], payload);
                    values[2] = Value::of_big(hash, shapes[2].number().width);
                }
            }
            Native::Checksum16Get => {
                let mut bits = Bits::default();
                shapes[0].pack(&values[0], &mut bits);
                return Value::Bits(u128::from(sluice_packet::checksum::checksum(bits.bytes())));
            }
            Native::Clone | Native::CloneData | Native::CloneKeep => {
                let keep = match native.what {
                    Native::CloneKeep => Keep::List(values[2].bits() as u8),
                    _ => self.kept(native),
                };
                let session = values[1].bits() as u32;
                self.requests.clone = Some((session, keep));
            }
            Native::ResubmitData => self.requests.resubmit = Some(self.kept(native)),
            Native::ResubmitKeep => self.requests.resubmit = Some(Keep::List(values[0].bits() as u8)),
            Native::RecirculateData => self.requests.recirculate = Some(self.kept(native)),
            Native::RecirculateKeep => self.requests.recirculate = Some(Keep::List(values[0].bits() as u8)),
            Native::Count => self.counted(native, &values[0]),
            Native::MeterExecute => values[1] = Value::Bits(self.color(native, index(&values[0]))),
            Native::MeterRead => {
                // Without an entry there is no meter.
                let row = self.requests.row;
                values[0] = Value::Bits(row.map_or(0, |row| self.color(native, row as usize)));
            }
            Native::RegisterRead => {
                let cell = match self.object_of(native).map(|at| &self.objects[at]) {
                    Some(Cells::Register(cells)) => cells.get(index(&values[1])).cloned(),
                    _ => None,
                };
                values[0] = cell.unwrap_or_else(|| shapes[0].fresh(&mut self.noise));
            }
            Native::RegisterWrite => {
                if let Some(Cells::Register(cells)) = self.object_of(native).map(|at| &mut self.objects[at])
                    && let Some(cell) = cells.get_mut(index(&values[0]))
                {
                    *cell = std::mem::replace(&mut values[1], Value::None);
                }
            }
            Native::Crc32c => {
                let mut bits = Bits::default();
                shapes[1].pack(&values[1], &mut bits);
                let hash = match self.hashes.contains_key(&bits.len()) {
                    true => hash::target(&self.hashes, &lowest_first(&bits)),
                    false => sluice_formats::hash::crc32c(bits.bytes()),
                };
                values[0] = Value::Bits(hash.into());
            }
            Native::AtomRead | Native::AtomWrite | Native::AtomAdd | Native::AtomChoose => self.atom(native, values),
            Native::PoliceExecute => values[1] = Value::Bits(self.police(native, index(&values[0]))),
            // Digests and messages go to nobody, direct counters count by themselves, and what is assumed is.
            _ => {}
        }
        Value::None
    }

    /// Places whose values go with a copy.
    fn kept(&mut self, native: &NativeCall) -> Keep {
        let place = |place: &crate::front::interpret::code::Place| Some((place.slot, place.fixed.clone()?));
        Keep::Places(native.kept.iter().filter_map(place).collect())
    }

    fn hash(&mut self, algorithm: &Value, names: &Shape, data: &Value, shape: &Shape, payload: bool) -> BigUint {
        let mut bits = Bits::default();
        shape.pack(data, &mut bits);
        if payload {
            bits.push_bytes(self.packet.payload());
        }
        let name = name_of(algorithm, names);
        // A number of bits that is no whole number of bytes is a number all the same.
        let unused = (8 - bits.len() % 8) % 8;
        match name {
            "identity" => BigUint::from_bytes_be(bits.bytes()) >> unused,
            "random" => self.random.next().into(),
            _ => hash::by_name(name, bits.bytes()),
        }
    }

    fn counted(&mut self, native: &NativeCall, at: &Value) {
        let bytes = self.packet.length() as u64;
        if let Some(Cells::Counter(cells)) = self.object_of(native).map(|at| &mut self.objects[at])
            && let Some((packets, all)) = cells.get_mut(index(at))
        {
            *packets += 1;
            *all += bytes;
        }
    }

    /// One access to a word: what it was, and what it becomes.
    fn atom(&mut self, native: &NativeCall, values: &mut [Value]) {
        let cell = match self.object_of(native).map(|at| &mut self.objects[at]) {
            Some(Cells::Register(cells)) => cells.get_mut(index(&values[0])),
            _ => None,
        };
        let word = |value: &Value| value.bits() as u32;
        let old = cell.as_deref().map_or(0, word);
        let changed = |what: &Value, operand: &Value| {
            AtomValue::from_number(what.bits()).map_or(old, |what| what.of(old, word(operand)))
        };
        let now = match native.what {
            Native::AtomWrite => word(&values[1]),
            Native::AtomAdd => old.wrapping_add(word(&values[1])),
            Native::AtomChoose if old >= word(&values[1]) => changed(&values[2], &values[3]),
            Native::AtomChoose => changed(&values[4], &values[5]),
            _ => old,
        };
        let now = if cell.is_some() { now } else { 0 };
        if let Some(cell) = cell {
            *cell = Value::Bits(now.into());
        }
        let last = values.len() - 1;
        if matches!(native.what, Native::AtomAdd | Native::AtomChoose) {
            values[last - 1] = Value::Bits(old.into());
            values[last] = Value::Bits(now.into());
        } else {
            values[last] = Value::Bits(old.into());
        }
    }

    /// Whether a packet is beyond the rate of a meter, which it uses if it is not.
    fn police(&mut self, native: &NativeCall, at: usize) -> u128 {
        let (ticks, bytes) = (self.time / TICK, self.packet.length());
        let Some(Cells::Police(police, cells)) = self.object_of(native).map(|object| &mut self.objects[object]) else {
            return 0;
        };
        let Some(cell) = cells.get_mut(at) else { return 0 };
        let (now, is_red) = police.packet(*cell, ticks, bytes as u16);
        *cell = now;
        is_red.into()
    }

    fn color(&mut self, native: &NativeCall, at: usize) -> u128 {
        let (bytes, time) = (self.packet.length(), self.time);
        match self.object_of(native).map(|at| &mut self.objects[at]) {
            Some(Cells::Meter(meters)) => meters.color(at, bytes, time),
            _ => 0,
        }
    }
}

fn name_of<'s>(algorithm: &Value, names: &'s Shape) -> &'s str {
    match names {
        Shape::Enum(names) => names.get(algorithm.bits() as usize).map_or("", |name| name),
        _ => "",
    }
}

/// The target's hash in place of an algorithm; of others programs are refused.
fn target_hash(
    layouts: &HashLayouts,
    (algorithm, names): (&Value, &Shape),
    (data, shape): (&Value, &Shape),
) -> BigUint {
    let mut bits = Bits::default();
    shape.pack(data, &mut bits);
    let from = hash::target_from(name_of(algorithm, names)).unwrap_or(0);
    (hash::target(layouts, &lowest_first(&bits)) >> from).into()
}

fn lowest_first(bits: &Bits) -> Vec<bool> {
    let bytes = bits.bytes();
    (0..bits.len()).rev().map(|at| bytes[at / 8] >> (7 - at % 8) & 1 == 1).collect()
}

fn index(value: &Value) -> usize {
    usize::try_from(value.bits()).unwrap_or(usize::MAX)
}

/// Sets a field of a struct by its name.
pub(super) fn set(value: &mut Value, shape: &Shape, name: &str, number: u128) {
    let at = shape.fields().and_then(|fields| fields.names.iter().position(|field| &**field == name));
    if let Some(field) = at.and_then(|at| value.parts_mut().get_mut(at)) {
        *field = Value::Bits(number);
    }
}
