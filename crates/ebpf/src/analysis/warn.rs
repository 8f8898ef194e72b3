//! Helper calls with an address that may be 0: what the kernel's verifier refuses, and what faults here.

use super::regions::Regions;
use super::value::Base;
use crate::helper::{self, Arg};
use crate::{Image, Program};

/// An argument of a helper that may be 0 where an address is expected.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MayBeNull {
    /// The program.
    pub program: String,
    /// Slot of the call.
    pub instruction: u32,
    /// File and line, where BTF has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The helper's name.
    pub helper: &'static str,
    /// Which of r1 to r5.
    pub register: u8,
    /// What the address is of, if it is not 0.
    pub of: String,
}

impl std::fmt::Display for MayBeNull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "program `{}`, instruction {}", self.program, self.instruction)?;
        if let Some(source) = &self.source {
            write!(f, " at {source}")?;
        }
        let Self { helper, register, of, .. } = self;
        write!(
            f,
            ": r{register} of {helper} may be 0: {of} is used without a check; the kernel's verifier refuses that, here \
             the packet is aborted when it is 0"
        )
    }
}

/// Calls whose argument is the result of a lookup or reservation that was not checked.
pub fn may_be_null(image: &Image, program: &Program, regions: &Regions) -> Vec<MayBeNull> {
    let mut found = Vec::new();
    if !regions.complete {
        return found;
    }
    for (slot, at) in regions.slots.iter().enumerate() {
        let Some(call) = &at.call else { continue };
        for (index, (arg, value)) in call.args.iter().enumerate() {
            if !value.nullable || !takes_address(*arg) {
                continue;
            }
            // Some helpers take 0 for no memory, when the length is 0 too.
            let length = call.args.get(index + 1).filter(|(next, _)| *next == Arg::Size);
            if length.is_some_and(|(_, length)| length.as_number().contains(0)) {
                continue;
            }
            let of = match value.base {
                Base::Map(map) => format!("the value of map `{}`", map.name(image)),
                Base::Handle(map) => format!("the inner map of `{}`", map.name(image).trim_end_matches("[]")),
                Base::Record(_) => "the reserved record".to_owned(),
                _ => continue,
            };
            let instruction = slot as u32;
            let line = program.line_of(instruction);
            found.push(MayBeNull {
                program: program.name.clone(),
                instruction,
                source: line.map(|line| format!("{}:{}", line.file, line.line)),
                helper: helper::find(call.helper).map_or("helper", |helper| helper.name),
                register: index as u8 + 1,
                of,
            });
        }
    }
    found
}

fn takes_address(arg: Arg) -> bool {
    matches!(
        arg,
        Arg::Map
            | Arg::Key
            | Arg::Value
            | Arg::WriteValue
            | Arg::Read
            | Arg::Write
            | Arg::WriteExact(_)
            | Arg::Text
            | Arg::Record
            | Arg::Lock
            | Arg::Iterator
    )
}
