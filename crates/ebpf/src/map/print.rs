//! Entries as bpftool prints them: plain, and the elements of its JSON.

use super::{MapId, MapSpace};
use crate::{Errno, MapSpec};
use serde_json::{Value, json};
use std::fmt::Write;

/// Bytes as bpftool's plain output has them: 16 a line, a wider gap after 8.
fn hex_lines(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(3 * bytes.len());
    for (i, byte) in bytes.iter().enumerate() {
        text.push_str(match i {
            0 => "",
            _ if i % 16 == 0 => "\n",
            _ if i % 8 == 0 => "  ",
            _ => " ",
        });
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn cpus_of<'a>(spec: &MapSpec, value: &'a [u8]) -> impl Iterator<Item = (usize, &'a [u8])> {
    let size = spec.value_size as usize;
    value.chunks(size.next_multiple_of(8).max(1)).map(move |copy| &copy[..size.min(copy.len())]).enumerate()
}

/// One entry of `bpftool map dump`, with its newline. `value` is as `user_lookup` gives it.
pub fn plain_entry(spec: &MapSpec, key: &[u8], value: &[u8]) -> String {
    let mut text = String::new();
    if spec.kind.is_per_cpu() {
        let _ = writeln!(text, "key:\n{}", hex_lines(key));
        let gap = if spec.value_size > 16 { '\n' } else { ' ' };
        for (cpu, copy) in cpus_of(spec, value) {
            let _ = writeln!(text, "value (CPU {cpu:02}):{gap}{}", hex_lines(copy));
        }
        return text;
    }
    if spec.kind.is_queue() {
        let gap = if value.len() > 16 { '\n' } else { ' ' };
        let _ = writeln!(text, "value:{gap}{}", hex_lines(value));
        return text;
    }
    let long = key.len() > 16 || value.len() > 16;
    let gap = if long { '\n' } else { ' ' };
    let end = if key.len() + value.len() <= 24 && !long { "  " } else { "\n" };
    let _ = writeln!(text, "key:{gap}{}{end}value:{gap}{}", hex_lines(key), hex_lines(value));
    text
}

fn bytes_json(bytes: &[u8]) -> Value {
    bytes.iter().map(|byte| Value::String(format!("0x{byte:02x}"))).collect()
}

/// One entry of `bpftool -j map dump`.
pub fn json_entry(spec: &MapSpec, key: &[u8], value: &[u8]) -> Value {
    if !spec.kind.is_per_cpu() {
        return json!({ "key": bytes_json(key), "value": bytes_json(value) });
    }
    let values: Vec<Value> =
        cpus_of(spec, value).map(|(cpu, copy)| json!({ "cpu": cpu, "value": bytes_json(copy) })).collect();
    json!({ "key": bytes_json(key), "values": values })
}

/// Bytes as numbers where their length is that of one: little-endian, eight bytes each if they are
/// more; in hexadecimal otherwise. For people who have no BTF.
pub fn numbers(bytes: &[u8]) -> String {
    let number = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(eight).to_string()
    };
    match bytes.len() {
        1 | 2 | 4 | 8 => number(bytes),
        len if len > 0 && len % 8 == 0 => bytes.chunks(8).map(number).collect::<Vec<_>>().join(" "),
        _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// What is done with each key and value.
pub(super) type Each<'a, E> = dyn FnMut(&[u8], &[u8]) -> Result<(), E> + 'a;

impl MapSpace {
    /// All entries, each with its value, in the order of [`MapSpace::next_key`]; `each` may stop by an
    /// error. Slots of a map that hold nothing are left out. Elements of a queue or stack have an empty key, and come as they were pushed.
    pub fn for_each<E: From<Errno>>(&self, map: MapId, each: &mut Each<'_, E>) -> Result<(), E> {
        if self.spec(map).is_some_and(|spec| spec.kind.is_queue()) {
            return self.elements(map)?.iter().try_for_each(|value| each(&[], value));
        }
        let mut key = self.next_key(map, None)?;
        while let Some(this) = key {
            match self.user_lookup(map, &this) {
                Ok(value) => each(&this, &value)?,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
            key = self.next_key(map, Some(&this))?;
        }
        Ok(())
    }

    /// `bpftool map dump`.
    pub fn plain_dump(&self, map: MapId) -> Result<String, Errno> {
        let spec = self.spec(map).ok_or(Errno(9))?;
        let (mut text, mut count) = (String::new(), 0);
        self.for_each::<Errno>(map, &mut |key, value| {
            text.push_str(&plain_entry(spec, key, value));
            count += 1;
            Ok(())
        })?;
        let _ = writeln!(text, "Found {count} element{}", if count == 1 { "" } else { "s" });
        Ok(text)
    }

    /// `bpftool -j map dump`.
    pub fn json_dump(&self, map: MapId) -> Result<Value, Errno> {
        let spec = self.spec(map).ok_or(Errno(9))?;
        let mut entries = Vec::new();
        self.for_each::<Errno>(map, &mut |key, value| {
            entries.push(json_entry(spec, key, value));
            Ok(())
        })?;
        Ok(Value::Array(entries))
    }
}

#[cfg(test)]
mod tests {
    use crate::MapType;
    use crate::map::testing::{space, spec};

    // The expected texts are what bpftool 7.1 printed for the same maps.
    #[test]
    fn a_dump_reads_as_bpftools() {
        let (mut maps, map) = space(&spec(MapType::Hash, 4, 4, 10));
        maps.user_update(map, &[1, 0, 0, 0], &[0xff, 0, 1, 2], 0).unwrap();
        assert_eq!(maps.plain_dump(map).unwrap(), "key: 01 00 00 00  value: ff 00 01 02\nFound 1 element\n");
        let json = r#"[{"key":["0x01","0x00","0x00","0x00"],"value":["0xff","0x00","0x01","0x02"]}]"#;
        assert_eq!(maps.json_dump(map).unwrap().to_string(), json);
    }

    #[test]
    fn a_dump_of_cpus_reads_as_bpftools() {
        let (mut maps, map) = space(&spec(MapType::PercpuHash, 20, 12, 10));
        let key: Vec<u8> = [1, 0, 0, 0].into_iter().chain(1..=16).collect();
        let one = [0xff, 0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0];
        maps.user_update(map, &key, &one.repeat(2), 0).unwrap();
        let plain = "key:\n01 00 00 00 01 02 03 04  05 06 07 08 09 0a 0b 0c\n0d 0e 0f 10\n\
                     value (CPU 00): ff 00 01 02 05 06 07 08  09 0a 0b 0c\n\
                     value (CPU 01): ff 00 01 02 05 06 07 08  09 0a 0b 0c\nFound 1 element\n";
        assert_eq!(maps.plain_dump(map).unwrap(), plain);
        let json = maps.json_dump(map).unwrap();
        assert_eq!(json[0]["values"][1]["cpu"], 1);
        assert_eq!(json[0]["values"][1]["value"].as_array().map(Vec::len), Some(12));
    }

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(super::numbers(&[1, 1, 0, 0]), "257");
        assert_eq!(super::numbers(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), "1 2");
        assert_eq!(super::numbers(&[1, 2, 3]), "010203");
    }
}
