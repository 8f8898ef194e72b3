//! Steps of the configuration ring as lines, as JSON and as a C header.

use serde_json::{Value, json};
use sluice_formats::Target;
use sluice_formats::limits::FORMAT_VERSION;
use sluice_object::ring::RingStep;
use std::fmt::Write;

/// What is played as a whole.
pub struct Section {
    /// `bring_up`, `change_1`.
    pub name: String,
    /// This is the right NIC.
    pub checks: Vec<RingStep>,
    /// Loads with their labels.
    pub loads: Vec<(String, Vec<RingStep>)>,
}

impl Section {
    fn parts(&self) -> impl Iterator<Item = (&str, &[RingStep])> {
        let checks = ("check format version and target", self.checks.as_slice());
        std::iter::once(checks).chain(self.loads.iter().map(|(label, steps)| (label.as_str(), steps.as_slice())))
    }

    fn messages(&self) -> usize {
        self.parts().flat_map(|(_, steps)| steps).filter(|step| step.message().is_some()).count()
    }
}

/// A label within a comment: one from a file may hold anything.
fn plain(label: &str) -> String {
    label.replace(|c: char| c.is_control() || c == '*', " ")
}

fn hex(words: &[u32]) -> String {
    words.iter().map(|w| format!("{w:08x}")).collect::<Vec<_>>().join(" ")
}

/// The address and what the answer has to be.
fn comment(step: &RingStep) -> String {
    let Some(message) = step.message() else { return "all writes above are answered".to_owned() };
    let place = format!("{} {}[{}]", message.node.name(), message.table.name(), message.index);
    match step {
        RingStep::Wait(..) => format!("{place}: again until word & mask == value, nothing of it in flight"),
        RingStep::Commit(_) => format!("{place}: again while busy"),
        RingStep::Check(..) => format!("{place}: word & mask == value, or it is another NIC"),
        _ => format!("{place}: {}", message.table.row_doc()),
    }
}

/// One step a line.
pub fn text(target: &Target, sections: &[Section]) -> String {
    let mut o = format!("# format version {FORMAT_VERSION}, target {} ({:08x})\n", target.name, target.hash());
    for section in sections {
        let _ = writeln!(o, "\n# section {}: {} messages", section.name, section.messages());
        for (label, steps) in section.parts() {
            let _ = writeln!(o, "# {}", plain(label));
            for step in steps {
                let mut line = step.name().to_owned();
                if let Some(message) = step.message() {
                    let _ = write!(line, " {}", hex(&message.words));
                }
                if let Some(expected) = step.expected() {
                    let _ = write!(line, " mask {:08x} value {:08x}", expected.mask, expected.value);
                }
                let _ = writeln!(o, "{line}  # {}", comment(step));
            }
        }
    }
    o
}

/// The whole as one document.
pub fn json(target: &Target, sections: &[Section]) -> Value {
    let step = |step: &RingStep| {
        let mut value = json!({ "step": step.name() });
        if let Some(message) = step.message() {
            value["node"] = message.node.name().into();
            value["table"] = message.table.name().into();
            value["index"] = message.index.into();
            value["words"] = message.words.clone().into();
        }
        if let Some(expected) = step.expected() {
            value["mask"] = expected.mask.into();
            value["value"] = expected.value.into();
        }
        value
    };
    let part = |(label, steps): (&str, &[RingStep])| json!({ "label": label, "steps": steps.iter().map(step).collect::<Vec<_>>() });
    let section = |s: &Section| json!({ "name": s.name, "loads": s.parts().map(part).collect::<Vec<_>>() });
    json!({
        "format_version": FORMAT_VERSION,
        "target": target.name,
        "target_hash": target.hash(),
        "sections": sections.iter().map(section).collect::<Vec<_>>(),
    })
}

/// An array of records for `sluice_ring_play` a section.
pub fn header(target: &Target, sections: &[Section]) -> String {
    let mut o =
        String::from("/* Written by `sluice object ring --c`; for sluice_ring_play of integration/driver. */\n");
    let _ = writeln!(o, "/* Format version {FORMAT_VERSION}, target {} ({:08x}). */", target.name, target.hash());
    o.push_str("#include <stdint.h>\n");
    for section in sections {
        let _ = writeln!(o, "\n/* {} messages. */", section.messages());
        let _ = writeln!(o, "static const uint32_t sluice_{}[] = {{", section.name);
        for (label, steps) in section.parts() {
            let _ = writeln!(o, "    /* {} */", plain(label));
            for step in steps {
                let words: Vec<String> = step.record().iter().map(|w| format!("0x{w:08x}u,")).collect();
                let _ = writeln!(o, "    {} /* {} */", words.join(" "), comment(step));
            }
        }
        o.push_str("};\n");
    }
    o
}
