//! What a CO-RE relocation names, in the object's types and in a kernel's: the rules are those of libbpf's `relo_core.c`.

use super::btf::{Btf, Type, kind};
use std::collections::HashSet;

/// Most steps of an access, libbpf's `BPF_CORE_SPEC_MAX_LEN`.
const MAX_STEPS: usize = 64;
/// Most types that one comparison looks at: no kernel's types need as many, and damaged ones must not keep a load.
const MAX_VISITS: u32 = 1 << 20;
/// Deepest nesting of types that are compared, as in libbpf.
const MAX_LEVEL: u32 = 32;
/// Furthest place of a field: no type is as large, and sums stay small.
const MAX_BITS: u64 = 1 << 40;
/// Encoding of a signed integer.
const SIGNED: u32 = 1;

/// `enum bpf_core_relo_kind`.
#[allow(missing_docs)] // The names are the kernel's.
pub(super) mod relo {
    pub const FIELD_BYTE_OFFSET: u32 = 0;
    pub const FIELD_BYTE_SIZE: u32 = 1;
    pub const FIELD_EXISTS: u32 = 2;
    pub const FIELD_SIGNED: u32 = 3;
    pub const FIELD_LSHIFT_U64: u32 = 4;
    pub const FIELD_RSHIFT_U64: u32 = 5;
    pub const TYPE_ID_LOCAL: u32 = 6;
    pub const TYPE_ID_TARGET: u32 = 7;
    pub const TYPE_EXISTS: u32 = 8;
    pub const TYPE_SIZE: u32 = 9;
    pub const ENUMVAL_EXISTS: u32 = 10;
    pub const ENUMVAL_VALUE: u32 = 11;
    pub const TYPE_MATCHES: u32 = 12;
}

/// A name without its flavour: `xdp_md___old` is `xdp_md`.
pub(super) fn essential(name: &str) -> &str {
    let bytes = name.as_bytes();
    let is_mark = |w: &[u8]| w[0] != b'_' && &w[1..4] == b"___" && w[4] != b'_';
    bytes.windows(5).rposition(is_mark).map_or(name, |at| &name[..=at])
}

fn same_kind(a: u8, b: u8) -> bool {
    a == b || is_enum(a) && is_enum(b)
}

fn is_enum(kind: u8) -> bool {
    matches!(kind, kind::ENUM | kind::ENUM64)
}

fn is_composite(kind: u8) -> bool {
    matches!(kind, kind::STRUCT | kind::UNION)
}

/// Whether a type may stand for another one of the same name.
pub(super) fn may_stand_for(local: &Type<'_>, target: &Type<'_>) -> bool {
    same_kind(local.kind, target.kind)
}

/// One step: a named member of a type, or an element.
struct Access<'a> {
    /// The struct or union; of an element its type.
    owner: u32,
    index: u32,
    name: Option<&'a str>,
}

/// An access in one side's types.
pub(super) struct Field<'a> {
    steps: Vec<Access<'a>>,
    /// Bits from the start.
    pub bit: u64,
}

/// A number that stands in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The number.
    pub value: u64,
    /// Type and bytes of what an offset leads to, if that is no bit field.
    pub memory: Option<(u32, u64)>,
    /// Whether the compiler's number has to be the object's answer.
    pub is_checked: bool,
}

impl Answer {
    /// A number without memory that the compiler has put there.
    pub fn of(value: u64) -> Self {
        Self { value, memory: None, is_checked: true }
    }
}

/// Whether an array is the open end of a struct.
fn is_open(btf: &Btf<'_>, last: Option<&Access<'_>>, count: u32) -> bool {
    let owner = last.filter(|l| count == 0 && l.name.is_some()).and_then(|l| Some((l.index, btf.get(l.owner)?)));
    owner.is_some_and(|(index, owner)| index + 1 == owner.count)
}

impl<'a> Field<'a> {
    /// The access `0:1:2` of a type.
    pub fn parse(btf: &Btf<'a>, root: u32, path: &str) -> Option<Self> {
        let numbers = path.split(':').take(MAX_STEPS + 1).map(|n| n.parse().ok()).collect::<Option<Vec<u32>>>()?;
        let (first, rest) = numbers.split_first().filter(|(_, rest)| rest.len() < MAX_STEPS)?;
        let mut id = btf.skip(root)?.0;
        let mut field = Self { steps: Vec::new(), bit: 0 };
        field.element(btf, id, *first)?;
        for step in rest {
            let (owner, one) = btf.skip(id)?;
            if let Some((element, count)) = one.array() {
                if *step >= count && !is_open(btf, field.steps.last(), count) {
                    return None;
                }
                id = btf.skip(element)?.0;
                field.element(btf, id, *step)?;
                continue;
            }
            let member = btf.member(one, *step as usize)?;
            field.bit = field.bit.checked_add(member.bit.into())?;
            if !member.name.is_empty() {
                field.steps.push(Access { owner, index: *step, name: Some(member.name) });
            }
            id = member.kind;
        }
        Some(field)
    }

    fn element(&mut self, btf: &Btf<'_>, id: u32, index: u32) -> Option<()> {
        let bits = btf.size(id)?.checked_mul(8)?.checked_mul(index.into())?;
        self.bit = self.bit.checked_add(bits)?;
        self.steps.push(Access { owner: id, index, name: None });
        Some(())
    }

    /// The same access in a type of a kernel.
    pub fn find<'k>(&self, match_: &mut Match<'_, 'a, 'k>, target: u32) -> Option<Field<'k>> {
        let kernel = match_.kernel;
        let (mut id, mut found) = (target, Field { steps: Vec::new(), bit: 0 });
        for (n, step) in self.steps.iter().enumerate() {
            id = kernel.skip(id)?.0;
            if let Some(name) = step.name {
                let member = match_.local.member(match_.local.get(step.owner)?, step.index as usize)?;
                id = match_.member((name, member.kind), id, &mut found, 0)?;
                continue;
            }
            if n > 0 {
                let (element, count) = kernel.get(id)?.array()?;
                if step.index >= count && !is_open(kernel, found.steps.last(), count) {
                    return None;
                }
                id = kernel.skip(element)?.0;
            }
            found.element(kernel, id, step.index)?;
        }
        Some(found)
    }

    /// What a relocation asks of it.
    pub fn answer(&self, btf: &Btf<'_>, asked: u32) -> Option<Answer> {
        let last = self.steps.last().filter(|_| self.bit <= MAX_BITS)?;
        if last.name.is_none() {
            let bytes = btf.size(last.owner)?;
            return match asked {
                relo::FIELD_BYTE_OFFSET => {
                    Some(Answer { memory: Some((last.owner, bytes)), ..Answer::of(self.bit / 8) })
                }
                relo::FIELD_BYTE_SIZE => Some(Answer::of(bytes)),
                _ => None,
            };
        }
        let member = btf.member(btf.get(last.owner)?, last.index as usize)?;
        let (id, one) = btf.skip(member.kind)?;
        let mut bits = u64::from(member.width);
        let is_bits = bits > 0;
        let mut bytes = if is_bits { u64::from(one.size_or_type).max(1) } else { btf.size(id)? };
        let place = |bytes: u64| if is_bits { self.bit / 8 / bytes * bytes } else { self.bit / 8 };
        if is_bits {
            // As many bytes as hold all of it in one load.
            while self.bit + bits - place(bytes) * 8 > bytes * 8 {
                if bytes >= 8 {
                    return None;
                }
                bytes *= 2;
            }
        } else {
            bits = bytes.checked_mul(8)?;
        }
        let answer = |value| Some(Answer { value, memory: None, is_checked: !is_bits });
        match asked {
            relo::FIELD_BYTE_OFFSET => {
                Some(Answer { value: place(bytes), memory: (!is_bits).then_some((id, bytes)), is_checked: !is_bits })
            }
            relo::FIELD_BYTE_SIZE => answer(bytes),
            relo::FIELD_SIGNED => {
                Some(Answer::of((is_enum(one.kind) && one.flag || one.encoding() & SIGNED != 0).into()))
            }
            relo::FIELD_LSHIFT_U64 => answer(64u64.wrapping_sub(self.bit + bits - place(bytes) * 8)),
            relo::FIELD_RSHIFT_U64 => Some(Answer::of(64u64.wrapping_sub(bits))),
            _ => None,
        }
    }
}

/// A comparison of the object's types with a kernel's.
pub(super) struct Match<'b, 'a, 'k> {
    /// The object's.
    pub local: &'b Btf<'a>,
    /// The kernel's.
    pub kernel: &'b Btf<'k>,
    visits: u32,
}

impl<'b, 'a, 'k> Match<'b, 'a, 'k> {
    /// Of these types.
    pub fn new(local: &'b Btf<'a>, kernel: &'b Btf<'k>) -> Self {
        Self { local, kernel, visits: 0 }
    }

    /// Counts a look at a type; `None` when there were too many.
    fn visit(&mut self) -> Option<()> {
        self.visits += 1;
        (self.visits <= MAX_VISITS).then_some(())
    }

    /// The member of this name and a type like the object's, also in members without names; its type.
    fn member(&mut self, asked: (&str, u32), target: u32, found: &mut Field<'k>, level: u32) -> Option<u32> {
        let (owner, one) = self.kernel.skip(target)?;
        if !is_composite(one.kind) || level > MAX_LEVEL {
            return None;
        }
        for (index, member) in self.kernel.members(one).enumerate() {
            self.visit()?;
            let before = (found.bit, found.steps.len());
            found.bit = found.bit.checked_add(member.bit.into())?;
            if member.name.is_empty() {
                if let Some(kind) = self.member(asked, member.kind, found, level + 1) {
                    return Some(kind);
                }
            } else if member.name == asked.0 {
                found.steps.push(Access { owner, index: index as u32, name: Some(member.name) });
                return self.fields_alike(asked.1, member.kind)?.then_some(member.kind);
            }
            found.bit = before.0;
            found.steps.truncate(before.1);
        }
        None
    }

    fn fields_alike(&mut self, mut local: u32, mut target: u32) -> Option<bool> {
        for _ in 0..MAX_LEVEL {
            self.visit()?;
            let ((_, l), (_, t)) = (self.local.skip(local)?, self.kernel.skip(target)?);
            if is_composite(l.kind) && is_composite(t.kind) {
                return Some(true);
            }
            if !same_kind(l.kind, t.kind) {
                return Some(false);
            }
            match l.kind {
                kind::PTR | kind::FLOAT => return Some(true),
                kind::FWD | kind::ENUM | kind::ENUM64 => {
                    let (a, b) = (essential(l.name), essential(t.name));
                    return Some(a.is_empty() || b.is_empty() || a == b);
                }
                kind::INT => return Some(l.int_offset() == 0 && t.int_offset() == 0),
                kind::ARRAY => (local, target) = (l.array()?.0, t.array()?.0),
                _ => return Some(false),
            }
        }
        None
    }

    /// Whether two types are alike as far as `type_exists` and the like ask.
    pub fn alike(&mut self, mut local: u32, mut target: u32, level: u32) -> Option<bool> {
        for _ in level..MAX_LEVEL {
            self.visit()?;
            let ((_, l), (_, t)) = (self.local.skip(local)?, self.kernel.skip(target)?);
            if !same_kind(l.kind, t.kind) {
                return Some(false);
            }
            match l.kind {
                0 | kind::STRUCT | kind::UNION | kind::ENUM | kind::ENUM64 | kind::FWD | kind::FLOAT => {
                    return Some(true);
                }
                kind::INT => return Some(l.int_offset() == 0 && t.int_offset() == 0),
                kind::PTR => (local, target) = (l.size_or_type, t.size_or_type),
                kind::ARRAY => (local, target) = (l.array()?.0, t.array()?.0),
                kind::FUNC_PROTO => {
                    if l.count != t.count {
                        return Some(false);
                    }
                    for (a, b) in l.parameters().zip(t.parameters()) {
                        if !self.alike(a, b, level + 1)? {
                            return Some(false);
                        }
                    }
                    (local, target) = (l.size_or_type, t.size_or_type);
                }
                _ => return Some(false),
            }
        }
        None
    }

    /// Whether the kernel's type has all that the object's has: `type_matches`.
    pub fn matches(&mut self, mut local: u32, mut target: u32, mut behind: bool, level: u32) -> Option<bool> {
        if level == 0 {
            return None;
        }
        for _ in 0..MAX_LEVEL {
            self.visit()?;
            let ((_, l), (_, t)) = (self.local.skip(local)?, self.kernel.skip(target)?);
            if essential(l.name) != essential(t.name) {
                return Some(false);
            }
            let is_same = l.kind == t.kind;
            match l.kind {
                0 => return Some(is_same),
                kind::FWD if is_same => return Some(l.flag == t.flag),
                kind::FWD => {
                    return Some(behind && t.kind == if l.flag { kind::UNION } else { kind::STRUCT });
                }
                kind::ENUM | kind::ENUM64 => return Some(is_enum(t.kind) && self.enumerators(l, t)),
                kind::STRUCT | kind::UNION if behind => {
                    return Some(is_same || t.kind == kind::FWD && (l.kind == kind::UNION) == t.flag);
                }
                kind::STRUCT | kind::UNION => {
                    return if is_same { self.members_match(l, t, level) } else { Some(false) };
                }
                _ if !is_same => return Some(false),
                kind::INT => {
                    let sign = |one: &Type<'_>| one.encoding() & SIGNED;
                    return Some(l.size_or_type == t.size_or_type && sign(l) == sign(t));
                }
                kind::PTR => {
                    behind = true;
                    (local, target) = (l.size_or_type, t.size_or_type);
                }
                kind::ARRAY => {
                    let ((a, many), (b, there)) = (l.array()?, t.array()?);
                    if many != there {
                        return Some(false);
                    }
                    (local, target) = (a, b);
                }
                kind::FUNC_PROTO => {
                    if l.count != t.count {
                        return Some(false);
                    }
                    for (a, b) in l.parameters().zip(t.parameters()) {
                        if !self.matches(a, b, behind, level - 1)? {
                            return Some(false);
                        }
                    }
                    (local, target) = (l.size_or_type, t.size_or_type);
                }
                _ => return Some(false),
            }
        }
        None
    }

    fn enumerators(&self, local: &Type<'_>, target: &Type<'_>) -> bool {
        let there = target.values().map(|(name, _)| self.kernel.string(name).map(essential));
        let there: HashSet<Option<&str>> = there.collect();
        local.count <= target.count
            && local.values().all(|(name, _)| there.contains(&self.local.string(name).map(essential)))
    }

    fn members_match(&mut self, local: &Type<'a>, target: &Type<'k>, level: u32) -> Option<bool> {
        if local.count > target.count {
            return Some(false);
        }
        let (mine, theirs) = (self.local, self.kernel);
        for member in mine.members(local) {
            let mut is_there = false;
            for other in theirs.members(target) {
                self.visit()?;
                if essential(member.name) == essential(other.name)
                    && self.matches(member.kind, other.kind, false, level - 1)?
                {
                    is_there = true;
                    break;
                }
            }
            if !is_there {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The value of the enumerator with the name that the object's has at this index.
    pub fn enumerator(&self, local: u32, index: &str, target: u32) -> Option<u64> {
        let (_, one) = self.local.skip(local).filter(|(_, one)| is_enum(one.kind))?;
        let (name, _) = one.values().nth(index.parse().ok()?)?;
        let name = essential(self.local.string(name)?);
        let (_, there) = self.kernel.skip(target).filter(|(_, one)| is_enum(one.kind))?;
        let same = |(n, _): &(u32, i128)| self.kernel.string(*n).is_some_and(|n| essential(n) == name);
        there.values().find(same).map(|(_, value)| value as u64)
    }
}

/// The value of the object's enumerator at this index.
pub(super) fn own_enumerator(btf: &Btf<'_>, root: u32, index: &str) -> Option<u64> {
    let (_, one) = btf.skip(root).filter(|(_, one)| is_enum(one.kind))?;
    one.values().nth(index.parse().ok()?).map(|(_, value)| value as u64)
}

#[cfg(test)]
mod tests {
    use super::essential;

    #[test]
    fn a_flavour_is_what_stands_behind_three_underscores() {
        for (name, expected) in [
            ("xdp_md___old", "xdp_md"),
            ("a___b___c", "a___b"),
            ("a____b", "a____b"),
            ("___a", "___a"),
            ("a___", "a___"),
            ("", ""),
            ("ä___b", "ä"),
        ] {
            assert_eq!(essential(name), expected, "{name}");
        }
    }
}
