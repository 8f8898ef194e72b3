//! Variables of `.rodata`, `.data` and `.bss` by name, set before the object is loaded as a libbpf skeleton does.

mod types;

use super::LoadError;
use super::btf::{Btf, kind};
use crate::Image;
use types::{Found, encode, path, show, type_name};

/// Most variables and fields that are looked at.
const MOST: usize = 65_536;
/// Most names that a message lists.
const MOST_NAMES: usize = 40;

/// A variable, or a field of one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Variable {
    /// Name: `limit`, `policy.rate`.
    pub name: String,
    /// Its section.
    pub section: String,
    /// Its type as C writes it.
    #[serde(rename = "type")]
    pub kind: String,
    /// Bytes.
    pub size: u32,
    /// Value in the object: a number, text, or `hex:00ff`.
    pub value: String,
}

/// A variable itself.
struct Root<'a> {
    name: &'a str,
    /// Its section's map.
    map: usize,
    offset: u32,
    kind: u32,
}

fn roots<'a>(image: &Image, btf: &Btf<'a>) -> Vec<Root<'a>> {
    let mut roots = Vec::new();
    for (map, spec) in image.maps.iter().enumerate().filter(|(_, spec)| spec.name.starts_with('.')) {
        let Some(section) = btf.get(spec.btf.1).filter(|t| t.kind == kind::DATASEC) else { continue };
        for variable in section.variables() {
            if let Some(var) = btf.get(variable.kind).filter(|t| t.kind == kind::VAR && !t.name.is_empty()) {
                roots.push(Root { name: var.name, map, offset: variable.offset, kind: var.size_or_type });
            }
        }
    }
    roots
}

impl Image {
    /// Variables and fields that user space may set, in the order of their sections. Without BTF there are none.
    pub fn variables(&self) -> Vec<Variable> {
        let Some(btf) = self.btf.as_deref().and_then(|bytes| Btf::parse(bytes).ok()) else { return Vec::new() };
        let (mut list, mut left) = (Vec::new(), MOST);
        for root in roots(self, &btf) {
            let mut places = Vec::new();
            types::leaves(&btf, root.name, root.kind, root.offset, &mut places, &mut left);
            for (name, kind, offset) in places {
                let size = btf.size(kind).and_then(|size| u32::try_from(size).ok()).unwrap_or(0);
                let spec = &self.maps[root.map];
                let range = offset as usize..(offset as usize).saturating_add(size as usize);
                if range.end > spec.value_size as usize {
                    continue;
                }
                let zeros = vec![0; size as usize];
                let bytes = spec.contents.as_ref().map_or(Some(&zeros[..]), |contents| contents.get(range));
                let Some(bytes) = bytes else { continue };
                let (section, value) = (spec.name.clone(), show(&btf, kind, bytes));
                list.push(Variable { name, section, kind: type_name(&btf, kind), size, value });
            }
        }
        list
    }

    /// Gives a variable another value before the object is loaded. `name` may lead into it, as in `policy.to[1].vlan`.
    ///
    /// A number, `true` or `false`, a name of an enumeration, text of a `char` array, or bytes in items (`hex:00ff`,
    /// `ip:10.0.0.1`).
    pub fn set_variable(&mut self, name: &str, value: &str) -> Result<(), LoadError> {
        let missing = |found: String, allowed: String| LoadError::NoVariable { name: name.to_owned(), found, allowed };
        let Some(bytes) = &self.btf else {
            return Err(missing("the object has no BTF".to_owned(), "objects with BTF (`clang -g`)".to_owned()));
        };
        let btf = Btf::parse(bytes)?;
        let all = roots(self, &btf);
        // A static variable of a function has a dot in its own name.
        let leads = |root: &&Root<'_>| {
            name.strip_prefix(root.name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let longest = all.iter().filter(leads).map(|root| root.name.len()).max();
        let chosen: Vec<&Root<'_>> = all.iter().filter(leads).filter(|r| Some(r.name.len()) == longest).collect();
        let root = match chosen[..] {
            [one] => one,
            [] => return Err(missing("no such variable".to_owned(), listed(all.iter().map(|root| root.name)))),
            _ => return Err(missing(format!("{} of that name", chosen.len()), "a name that is there once".to_owned())),
        };
        let Found { kind, offset } = path(&btf, root.kind, &name[root.name.len()..]).map_err(|(f, a)| missing(f, a))?;
        let size = btf.size(kind).and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        let refused = |(found, allowed)| LoadError::VariableValue {
            name: name.to_owned(),
            kind: type_name(&btf, kind),
            found,
            allowed,
        };
        let value = encode(&btf, kind, size, value).map_err(refused)?;
        let spec = &mut self.maps[root.map];
        let at = (root.offset as usize).saturating_add(offset as usize);
        if at + value.len() > spec.value_size as usize {
            let found = format!("bytes {at} to {}", at + value.len());
            return Err(missing(found, format!("bytes inside of the {} of `{}`", spec.value_size, spec.name)));
        }
        let contents = spec.contents.get_or_insert_with(|| vec![0; spec.value_size as usize]);
        contents[at..at + value.len()].copy_from_slice(&value);
        Ok(())
    }
}

/// Names for a message.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.collect();
    let shown: Vec<String> = all.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    match (all.len(), all.len().saturating_sub(MOST_NAMES)) {
        (0, _) => "none: the object has no variables".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}
