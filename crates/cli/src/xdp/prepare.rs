//! What user space says about an object before it loads it: sizes, templates, variables.

use super::object;
use crate::failure::Failure;
use clap::Args;
use sluice_ebpf::Image;
use sluice_object::XdpMemory;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Options that change an object before it is loaded.
#[derive(Args, Debug)]
pub struct Prepare {
    /// Entries of a map, more or fewer than the object declares; may be given several times
    #[arg(long, value_name = "NAME=N", value_parser = named_number)]
    pub max_entries: Vec<(String, u32)>,
    /// Map that stands for what a map of maps holds, where the object leaves it to user space
    #[arg(long, value_name = "OUTER=TEMPLATE", value_parser = named_map)]
    pub inner_map: Vec<(String, String)>,
    /// Value of a variable of .rodata, .data or .bss (limit=9, policy.rate=1000, `key=hex:00ff`)
    #[arg(long, value_name = "NAME=VALUE", value_parser = named_value)]
    pub set: Vec<(String, String)>,
}

impl Prepare {
    /// Refuses what is said twice of one map or variable.
    pub fn check(&self) -> Result<(), Failure> {
        let sizes: Vec<(&str, String)> =
            self.max_entries.iter().map(|(map, n)| (map.as_str(), n.to_string())).collect();
        let text = |all: &[(String, String)]| -> Vec<(String, String)> { all.to_vec() };
        let sizes: Vec<(String, String)> = sizes.into_iter().map(|(map, n)| (map.to_owned(), n)).collect();
        for (option, all) in
            [("--max-entries", sizes), ("--inner-map", text(&self.inner_map)), ("--set", text(&self.set))]
        {
            let mut seen: BTreeMap<String, String> = BTreeMap::new();
            for (name, value) in all {
                if let Some(first) = seen.insert(name.clone(), value.clone()) {
                    let what = format!("{option}: `{name}` is given {first} and {value}, expected one value");
                    return Err(Failure::input("E0502", what));
                }
            }
        }
        let sized = |outer: &str| self.max_entries.iter().find(|(map, _)| map.strip_suffix(".inner") == Some(outer));
        if let Some((outer, (map, entries))) = self.inner_map.iter().find_map(|(outer, _)| Some((outer, sized(outer)?)))
        {
            let what = format!("--max-entries: {entries} for `{map}`, and --inner-map says what `{outer}` holds");
            return Err(Failure::input("E0502", format!("{what}; expected one of them")));
        }
        Ok(())
    }

    /// Changes the object that `path` holds.
    pub fn apply(&self, image: &mut Image, path: &Path) -> Result<(), Failure> {
        self.check()?;
        for (name, entries) in &self.max_entries {
            object::set_max_entries(image, path, name, *entries)?;
        }
        let failure = |e: sluice_ebpf::load::LoadError| Failure::input(e.code(), format!("{}: {e}", path.display()));
        for (outer, template) in &self.inner_map {
            image.set_inner_map(outer, template).map_err(failure)?;
        }
        for (name, value) in &self.set {
            image.set_variable(name, value).map_err(failure)?;
        }
        Ok(())
    }
}

pub(super) fn named<'a>(text: &'a str, expected: &str) -> Result<(&'a str, &'a str), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name, value)),
        _ => Err(format!("expected {expected}")),
    }
}

/// `MAP=N`, entries of a map.
pub fn named_number(text: &str) -> Result<(String, u32), String> {
    let (name, number) = named(text, "MAP=N, as in flows=1024")?;
    Ok((name.to_owned(), number.parse().map_err(|_| format!("expected a number of entries, found `{number}`"))?))
}

/// `MAP=MEMORY`, where a map lies.
pub(super) fn placed(text: &str) -> Result<(String, XdpMemory), String> {
    let (name, memory) = named(text, "MAP=chip or MAP=outside, as in flows=outside")?;
    Ok((name.to_owned(), memory.parse()?))
}

/// `MAP=FILE`, entries of a map.
pub(super) fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    named(text, "MAP=FILE, as in routes=routes.txt").map(|(name, file)| (name.to_owned(), file.into()))
}

fn named_map(text: &str) -> Result<(String, String), String> {
    named(text, "OUTER=TEMPLATE, as in tables=table").map(|(outer, template)| (outer.to_owned(), template.to_owned()))
}

fn named_value(text: &str) -> Result<(String, String), String> {
    named(text, "NAME=VALUE, as in limit=9").map(|(name, value)| (name.to_owned(), value.to_owned()))
}
