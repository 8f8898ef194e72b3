//! A kernel's types, and what CO-RE relocations are against them.

use super::btf::{Btf, kind};
use super::btf_ext::CoreInfo;
use super::core_spec::{Answer, Field, Match, essential, may_stand_for, own_enumerator, relo};
use super::error::LoadError;
use std::collections::HashMap;

/// Types of a kernel (`/sys/kernel/btf/vmlinux`), for objects that ask for them.
pub struct KernelTypes<'a> {
    btf: Btf<'a>,
    /// Types by name without flavour.
    names: HashMap<&'a str, Vec<u32>>,
    hash: u64,
}

/// What a relocation becomes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Relocated {
    /// The object's own number, and what stands there instead.
    Numbers {
        /// In the object's types.
        own: Answer,
        /// In the kernel's.
        there: Answer,
        /// The access changes its width, and may not: it reads a number with a sign, or something else.
        is_unsafe: bool,
    },
    /// The kernel does not have it: who executes the instruction faults.
    Poison,
}

impl<'a> KernelTypes<'a> {
    /// Reads a file of BTF.
    pub fn parse(data: &'a [u8]) -> Result<Self, LoadError> {
        let named = |e| match e {
            LoadError::Btf { offset, found, expected, .. } => {
                LoadError::Btf { section: "the kernel's BTF", offset, found, expected }
            }
            other => other,
        };
        let btf = Btf::parse(data).map_err(named)?;
        let mut names: HashMap<&str, Vec<u32>> = HashMap::new();
        for (id, one) in btf.iter().filter(|(_, one)| !one.name.is_empty()) {
            names.entry(essential(one.name)).or_default().push(id);
        }
        // FNV-1a.
        let hash = data
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        Ok(Self { btf, names, hash })
    }

    /// What tells these types from others: FNV-1a of the file's bytes.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// ID of the function with this name.
    pub(crate) fn function(&self, name: &str) -> Option<u32> {
        let is_function = |id: &u32| self.btf.get(*id).is_some_and(|one| one.kind == kind::FUNC);
        self.names.get(name)?.iter().copied().find(is_function)
    }

    /// What a relocation becomes; an error says why it is none.
    pub(super) fn relocate(&self, local: &Btf<'_>, record: &CoreInfo) -> Result<Relocated, &'static str> {
        let path = local.string(record.access).ok_or("an access that is no text")?;
        let root = local.get(record.root).filter(|_| record.root != 0).ok_or("a type that is not there")?;
        let own = own(local, record, path).ok_or("an access that its type does not have")?;
        let mut found: Option<(Answer, u64)> = None;
        let named = self.names.get(essential(root.name)).map_or(&[][..], |ids| ids);
        for id in named {
            if !self.btf.get(*id).is_some_and(|target| may_stand_for(root, target)) {
                continue;
            }
            let Some(answer) = self.answer(local, record, path, *id)? else { continue };
            match &found {
                Some(before) if (before.0.value, before.1) != (answer.0.value, answer.1) => {
                    return Err("more than one type of the kernel that it could be");
                }
                Some(_) => {}
                None => found = Some(answer),
            }
        }
        let Some((there, _)) = found else {
            return Ok(match record.kind {
                relo::FIELD_EXISTS
                | relo::TYPE_EXISTS
                | relo::TYPE_MATCHES
                | relo::ENUMVAL_EXISTS
                | relo::TYPE_SIZE
                | relo::TYPE_ID_TARGET => Relocated::Numbers { own, there: Answer::of(0), is_unsafe: false },
                _ => Relocated::Poison,
            });
        };
        let is_unsafe = match (own.memory, there.memory) {
            (Some((a, bytes)), Some((b, others))) if bytes != others => !widens(local, a, &self.btf, b),
            _ => false,
        };
        Ok(Relocated::Numbers { own, there, is_unsafe })
    }

    /// What one type of the kernel answers, with the place of a field; `None` if it is not the one.
    fn answer(
        &self,
        local: &Btf<'_>,
        record: &CoreInfo,
        path: &str,
        id: u32,
    ) -> Result<Option<(Answer, u64)>, &'static str> {
        const LONG: &str = "types that nest too deep";
        let mut both = Match::new(local, &self.btf);
        let number = |is_there: bool, value| is_there.then_some((Answer::of(value), 0));
        Ok(match record.kind {
            0..=relo::FIELD_RSHIFT_U64 => {
                let field = Field::parse(local, record.root, path).ok_or("an access that its type does not have")?;
                let Some(found) = field.find(&mut both, id) else { return Ok(None) };
                let answer = match record.kind {
                    relo::FIELD_EXISTS => Answer::of(1),
                    asked => found.answer(&self.btf, asked).ok_or("a field that has no such number")?,
                };
                Some((answer, found.bit))
            }
            relo::ENUMVAL_EXISTS => number(both.enumerator(record.root, path, id).is_some(), 1),
            relo::ENUMVAL_VALUE => both.enumerator(record.root, path, id).map(|value| (Answer::of(value), 0)),
            relo::TYPE_MATCHES => number(both.matches(record.root, id, false, 32).ok_or(LONG)?, 1),
            asked => {
                let is_alike = both.alike(record.root, id, 0).ok_or(LONG)?;
                let value = match asked {
                    relo::TYPE_SIZE if is_alike => self.btf.size(id).ok_or("a type without a size")?,
                    relo::TYPE_ID_TARGET => id.into(),
                    _ => 1,
                };
                number(is_alike, value)
            }
        })
    }
}

/// What the compiler has put there.
fn own(local: &Btf<'_>, record: &CoreInfo, path: &str) -> Option<Answer> {
    let unchecked = |value| Some(Answer { is_checked: false, ..Answer::of(value) });
    match record.kind {
        0..=relo::FIELD_RSHIFT_U64 => {
            let field = Field::parse(local, record.root, path)?;
            if record.kind == relo::FIELD_EXISTS { Some(Answer::of(1)) } else { field.answer(local, record.kind) }
        }
        relo::TYPE_SIZE => local.size(record.root).map(Answer::of),
        relo::TYPE_EXISTS | relo::TYPE_MATCHES => Some(Answer::of(1)),
        relo::TYPE_ID_TARGET => unchecked(record.root.into()),
        relo::ENUMVAL_EXISTS => own_enumerator(local, record.root, path).map(|_| Answer::of(1)),
        relo::ENUMVAL_VALUE => own_enumerator(local, record.root, path).map(Answer::of),
        _ => None,
    }
}

/// Whether a load may become as wide as the kernel's field: of pointers, and of numbers without sign.
fn widens(local: &Btf<'_>, own: u32, kernel: &Btf<'_>, there: u32) -> bool {
    let (Some((_, a)), Some((_, b))) = (local.skip(own), kernel.skip(there)) else { return false };
    let has_sign = |one: &super::btf::Type<'_>| one.encoding() & 1 != 0;
    match (a.kind, b.kind) {
        (kind::PTR, kind::PTR) => true,
        (kind::INT, kind::INT) => !has_sign(a) && !has_sign(b),
        _ => false,
    }
}
