//! Binary and JSON forms of a load; the layout is in docs/design/object.md.

use crate::bytes::{Reader, Writer, wrong};
use crate::error::{ObjectError, bad};
use crate::install::Install;
use crate::load::{Load, Step};
use serde::Deserialize;
use sluice_formats::limits::{FORMAT_VERSION, MOST_ROW_WORDS};
use sluice_formats::{EngineId, Node, Table, Target};

/// First bytes of a binary load.
pub const LOAD_MAGIC: [u8; 4] = *b"SLLD";

const WRITE: u8 = 0;
const BARRIER: u8 = 1;
const WAIT_DRAINED: u8 = 2;
const COMMIT: u8 = 3;
const WAIT_QUEUES_EMPTY: u8 = 4;
/// Bit 0 of its last byte: a program follows; above it the engine.
const INSTALL: u8 = 5;

#[derive(Deserialize)]
struct VersionJson {
    format_version: u64,
}

impl Load {
    /// The binary form: same load, same bytes.
    pub fn to_binary(&self) -> Vec<u8> {
        let mut w = Writer::new(LOAD_MAGIC, self.target_hash);
        w.section(1, |w| {
            w.u16(self.tenant);
            w.name(&self.label[..self.label.floor_char_boundary(255)]);
        });
        w.section(2, |w| {
            w.u32(self.steps.len() as u32);
            self.steps.iter().for_each(|step| write_step(w, step));
        });
        w.finish()
    }

    /// Reads the binary form. Whatever is taken is written back as the same bytes.
    pub fn from_binary(bytes: &[u8]) -> Result<Self, ObjectError> {
        let (mut file, target_hash) = Reader::open(bytes, LOAD_MAGIC, "load")?;
        let target = target_of(target_hash).ok_or_else(|| wrong(12, format!("{target_hash:08x}"), known_targets()))?;
        let mut r = file.section(1, "tenant")?;
        let (tenant, label) = (r.u16("tenant")?, r.name("label")?);
        r.finish("section tenant")?;
        let mut r = file.section(2, "steps")?;
        let n = r.count(1, "steps")?;
        let steps = (0..n).map(|_| read_step(&mut r, target)).collect::<Result<_, _>>()?;
        r.finish("section steps")?;
        file.finish("the sections")?;
        let load = Self { format_version: FORMAT_VERSION, target_hash, tenant, label, steps };
        load.check_shape()?;
        Ok(load)
    }

    /// The JSON form: same load, same bytes.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a load has text keys only");
        text.push('\n');
        text
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Self, ObjectError> {
        let version: VersionJson = serde_json::from_str(text).map_err(|e| crate::json::json_error(&e))?;
        if version.format_version != u64::from(FORMAT_VERSION) {
            let found = version.format_version;
            return Err(ObjectError::Version { what: "load", found, allowed: FORMAT_VERSION });
        }
        let load: Load = serde_json::from_str(text).map_err(|e| crate::json::json_error(&e))?;
        load.check_shape()?;
        Ok(load)
    }

    /// Addresses exist on the load's target and rows have their number of words. Whether the
    /// tenant may write them is the linker's check.
    fn check_shape(&self) -> Result<(), ObjectError> {
        let Some(target) = target_of(self.target_hash) else {
            return Err(bad("target_hash", self.target_hash, known_targets()));
        };
        if self.label.len() > usize::from(u8::MAX) {
            return Err(bad("label", format!("{} bytes", self.label.len()), "at most 255 bytes"));
        }
        for (i, step) in self.steps.iter().enumerate() {
            if let Step::Install { engine, install: Some(install), .. } = step {
                let at = format!("steps[{i}]");
                if install.engine() != *engine {
                    return Err(bad(
                        at,
                        format!("engine {engine}"),
                        format!("{}, whose program it is", install.engine()),
                    ));
                }
                install.check().map_err(|e| e.within(&at))?;
            }
            let Step::Write { node, table, index, words } = step else { continue };
            let (there, name) = (Node::every(target).contains(node) && table.is_of(*node), table.name());
            let (index, rows, row_words) = (*index, table.rows(target), table.words());
            if !there {
                let allowed = format!("a table of a node of target {}", target.name);
                return Err(bad(format!("steps[{i}]"), format!("{node:?}, table {name}"), allowed));
            }
            if index >= rows {
                let allowed = format!("below {rows}, the rows of {name}");
                return Err(bad(format!("steps[{i}].index"), index, allowed));
            }
            if words.len() != row_words {
                let allowed = format!("{row_words}, the words of a row of {name}");
                return Err(bad(format!("steps[{i}].words"), words.len(), allowed));
            }
        }
        Ok(())
    }
}

fn target_of(hash: u32) -> Option<&'static Target> {
    Target::nics().find(|t| t.hash() == hash)
}

fn known_targets() -> String {
    let all: Vec<String> = Target::nics().map(|t| format!("{:08x} ({})", t.hash(), t.name)).collect();
    all.join(" or ")
}

fn known_engines() -> String {
    let all: Vec<String> = EngineId::all().map(|e| format!("{} ({e})", e.number())).collect();
    all.join(" or ")
}

fn write_step(w: &mut Writer, step: &Step) {
    match step {
        Step::Write { node, table, index, words } => {
            w.put(&[WRITE, node.number(), table.number(), words.len() as u8]);
            w.u32(*index);
            words.iter().for_each(|word| w.u32(*word));
        }
        Step::Barrier => w.u8(BARRIER),
        Step::WaitDrained { module, generation } => w.put(&[WAIT_DRAINED, *module, *generation]),
        Step::Commit { module, generation } => w.put(&[COMMIT, *module, *generation]),
        Step::WaitQueuesEmpty { module } => w.put(&[WAIT_QUEUES_EMPTY, *module]),
        Step::Install { engine, module, generation, install } => {
            w.put(&[INSTALL, *module, *generation, engine.number() << 1 | u8::from(install.is_some())]);
            install.iter().for_each(|install| install.write(w));
        }
    }
}

fn read_step(r: &mut Reader, target: &Target) -> Result<Step, ObjectError> {
    let at = r.at();
    match r.u8("step")? {
        WRITE => {
            let [node, table, n] = r.array("address")?;
            let index = r.u32("index")?;
            let unknown =
                || wrong(at + 1, format!("node {node}, table {table}"), format!("a table of {}", target.name));
            let address = |n| Table::from_number(n, table).map(|t| (n, t));
            let (node, table) = Node::from_number(node, target).and_then(address).ok_or_else(unknown)?;
            if usize::from(n) > MOST_ROW_WORDS {
                return Err(wrong(at + 3, format!("{n} words"), format!("at most {MOST_ROW_WORDS}")));
            }
            let words = (0..n).map(|_| r.u32("word of the row")).collect::<Result<_, _>>()?;
            Ok(Step::Write { node, table, index, words })
        }
        BARRIER => Ok(Step::Barrier),
        WAIT_DRAINED => {
            r.array("module, generation").map(|[module, generation]| Step::WaitDrained { module, generation })
        }
        COMMIT => r.array("module, generation").map(|[module, generation]| Step::Commit { module, generation }),
        WAIT_QUEUES_EMPTY => Ok(Step::WaitQueuesEmpty { module: r.u8("module")? }),
        INSTALL => {
            let [module, generation, what] = r.array("module, generation, engine")?;
            let unknown = || wrong(at + 3, format!("engine {}", what >> 1), known_engines());
            let engine = EngineId::from_number(what >> 1).ok_or_else(unknown)?;
            let there = what & 1 == 1;
            let install = if there { Some(Install::read(engine, r)?.ok_or_else(unknown)?) } else { None };
            Ok(Step::Install { engine, module, generation, install })
        }
        code => Err(wrong(at, format!("step {code}"), "0 to 5")),
    }
}
