//! What holds two programs together, as text: metadata, the six blocks, and `main`. Bodies of the parser and the deparser are not in it.

use super::joint::{Missed, NO_MATCH};
use super::names::{Names, Taken};
use super::part::{COMPUTE, DEPARSER, EGRESS, INGRESS, PARSER, Part, VERIFY};
use crate::error::Notes;
use crate::front::source::{self, Settings, Sources};
use crate::front::syntax::{self, ast};
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

/// Where a packet goes that is dropped.
const DROP_PORT: u32 = 511;

/// Names of what is made, which nothing else has.
struct Words {
    meta: Rc<str>,
    headers: Rc<str>,
    /// Parameters of controls.
    hdr: Rc<str>,
    data: Rc<str>,
    standard: Rc<str>,
    /// Instances of both programs' blocks.
    instances: [Rc<str>; 2],
    /// Where a header is kept that a program does not have.
    kept: Vec<Rc<str>>,
}

struct Glue<'a> {
    parts: [&'a Part; 2],
    names: &'a Names,
    missed: &'a BTreeSet<Missed>,
    words: Words,
}

/// The declarations: metadata first, then the blocks and `main`.
pub(super) fn glue(
    parts: [&Part; 2],
    path: &Path,
    (names, missed): (&Names, &BTreeSet<Missed>),
    taken: &mut Taken,
    sources: &mut Sources,
) -> Vec<ast::Declaration> {
    let mut fresh = |word: &str| taken.fresh(word);
    let kept = missed.iter().map(|missed| fresh(&format!("kept_{}", missed.field))).collect();
    let words = Words {
        meta: fresh("JointMetadata"),
        headers: parts[0].headers_name(),
        hdr: fresh("the_headers"),
        data: fresh("the_metadata"),
        standard: fresh("the_standard"),
        instances: [fresh("the_first"), fresh("the_second")],
        kept,
    };
    let blocks = ["Parser", "VerifyChecksum", "Ingress", "Egress", "ComputeChecksum", "Deparser"];
    let blocks = blocks.map(|word| fresh(&format!("Joint{word}")));
    let text = Glue { parts, names, missed, words }.text(&blocks);
    let mut settings = Settings::default();
    settings.library.texts.insert(path.to_path_buf(), text);
    let mut notes = Notes::default();
    let words = source::preprocess(path, &settings, sources, &mut notes);
    syntax::parse(words, sources, &mut notes).declarations
}

impl Glue<'_> {
    fn text(&self, blocks: &[Rc<str>; 6]) -> String {
        let [first, second] = self.parts;
        let Words { meta, headers, .. } = &self.words;
        let flags: String = self.missed.iter().map(|one| format!("bit<1> {}; ", one.flag(self.parts))).collect();
        let parameter = |block: usize, at: usize| &first.blocks[block].block.parameters[at].name.text;
        // Types of the two fields are put in later.
        let mut text = format!("struct {meta} {{ bit<1> {}; bit<1> {}; {flags}}}\n", first.name, second.name);
        text += &format!(
            "parser {}(packet_in {}, out {headers} {}, inout {meta} {}, inout standard_metadata_t {}) {{\n",
            blocks[PARSER],
            parameter(PARSER, 0),
            parameter(PARSER, 1),
            parameter(PARSER, 2),
            parameter(PARSER, 3)
        );
        text += &format!(
            "state start {{ transition accept; }}\nstate {NO_MATCH} {{ verify(false, error.NoMatch); transition reject; }}\n}}\n"
        );
        for block in [VERIFY, INGRESS, EGRESS, COMPUTE] {
            text += &self.control(&blocks[block], block);
        }
        let (packet, emitted) = (parameter(DEPARSER, 0), parameter(DEPARSER, 1));
        text +=
            &format!("control {}(packet_out {packet}, in {headers} {emitted}) {{ apply {{}} }}\n", blocks[DEPARSER]);
        let all: Vec<String> = blocks.iter().map(|block| format!("{block}()")).collect();
        text + &format!("V1Switch({}) main;\n", all.join(", "))
    }

    /// A control that runs the first program's, and then the second's unless the packet is dropped.
    fn control(&self, name: &str, block: usize) -> String {
        let has_standard = matches!(block, INGRESS | EGRESS);
        let [first, second] = self.parts;
        let Words { meta, headers, hdr, data, standard, instances, kept } = &self.words;
        let standard_given =
            if has_standard { format!(", inout standard_metadata_t {standard}") } else { String::new() };
        let mut text = format!("control {name}(inout {headers} {hdr}, inout {meta} {data}{standard_given}) {{\n");
        for (missed, kept) in self.missed.iter().zip(kept) {
            text += &format!("{} {kept};\n", first.type_of_field(&missed.field));
        }
        for (part, instance) in self.parts.iter().zip(instances) {
            let used = &part.blocks[block];
            let own = if std::ptr::eq(*part, first) { None } else { self.names.renamed.get(&used.name) };
            // A block that is there twice has nothing that needs a name.
            if !part.is_sequence && used.block.body.as_ref().is_some_and(|body| !body.locals.is_empty()) {
                text += &format!("@name(\".{}.{}\") ", part.name, used.path);
            }
            text += &format!("{}() {instance};\n", own.unwrap_or(&used.name));
        }
        text += "apply {\n";
        if !first.is_empty(block) {
            text += &self.run(0, has_standard);
        }
        if !second.is_empty(block) {
            let then = self.run(1, has_standard);
            // What is dropped, and has no copies for a group of ports.
            let copies = if block == INGRESS { format!(" || {standard}.mcast_grp != 0") } else { String::new() };
            text += &match has_standard && !first.is_empty(block) {
                true => format!("if ({standard}.egress_spec != {DROP_PORT}{copies}) {{\n{then}}}\n"),
                false => then,
            };
        }
        text + "}\n}\n"
    }

    /// One program's control; headers that it has not extracted are not there while it runs.
    fn run(&self, by: usize, has_standard: bool) -> String {
        let Words { hdr, data, standard, instances, kept, .. } = &self.words;
        let (name, instance) = (&self.parts[by].name, &instances[by]);
        let third = if has_standard { format!(", {standard}") } else { String::new() };
        let run = format!("@program(\"{name}\") {{ {instance}.apply({hdr}, {data}.{name}{third}); }}\n");
        let missed = self.missed.iter().zip(kept).filter(|(missed, _)| missed.by == by);
        missed.fold(run, |run, (missed, kept)| {
            let (header, is) = (format!("{hdr}.{}", missed.field), format!("{data}.{} == 1", missed.flag(self.parts)));
            format!(
                "if ({is}) {{ {kept} = {header}; {header}.setInvalid(); }}\n{run}if ({is}) {{ {header} = {kept}; }}\n"
            )
        })
    }
}
