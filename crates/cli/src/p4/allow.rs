//! Flags of `sluice p4` that accept a part of what a program asks for.

use super::{ReadArgs, failure};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use sluice_p4::{Allowed, Program};
use std::path::Path;

/// What may be had in part
#[derive(Args, Debug)]
pub struct AllowArgs {
    /// Most headers of a stack that a packet may have: those with more are dropped in the parser; may be given again
    #[arg(long, value_name = "STACK=N", value_parser = number_of)]
    bound: Vec<(String, u32)>,
    /// Most cells of a register or counter: what lies behind them is not there; may be given again
    #[arg(long, value_name = "NAME=N", value_parser = number_of)]
    cells: Vec<(String, u32)>,
    /// What `hash` computes in place of crc16 and crc32: the target's own, CRC-32C over the key of a stage
    #[arg(long, value_name = "ALGORITHM")]
    hash: Option<Hash>,
    /// The last argument of `hash` may be an entry's, which then has to be a power of two
    #[arg(long)]
    power_of_two: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Hash {
    Target,
}

impl AllowArgs {
    /// Whether `hash` is the target's, which only a compiled program knows.
    pub fn asks_target(&self) -> bool {
        self.hash.is_some()
    }

    /// What they allow.
    pub fn allowed(&self) -> Result<Allowed, Failure> {
        let bound = each_once("--bound", &self.bound)?.iter().map(|(stack, elements)| (stack, *elements));
        let cells = each_once("--cells", &self.cells)?.iter().map(|(name, cells)| (name, *cells));
        Ok(Allowed::of(bound, cells, self.hash.is_some(), self.power_of_two))
    }

    /// Reads a program with these flags.
    pub fn check(&self, read: &ReadArgs, path: &Path) -> Result<Program, Failure> {
        let allowed = self.allowed()?;
        let mut program = read.reader().check(path).map_err(|errors| failure(&errors))?;
        program.allow(allowed);
        read.warn.tell(&program)?;
        Ok(program)
    }
}

/// What is given, if no name is given twice.
pub fn each_once<'a, N>(flag: &str, given: &'a [(String, N)]) -> Result<&'a [(String, N)], Failure> {
    let twice = given.iter().enumerate().find(|(at, (name, _))| given[..*at].iter().any(|(other, _)| other == name));
    let what = |name: &String| format!("{flag}: `{name}` is given twice, expected each name once");
    twice.map_or(Ok(given), |(_, (name, _))| Err(Failure::input("E0502", what(name))))
}

pub(super) fn number_of(text: &str) -> Result<(String, u32), String> {
    let found = text.split_once('=').and_then(|(name, number)| Some((name, number.parse().ok()?)));
    match found {
        Some((name, number)) if !name.is_empty() && number > 0 => Ok((name.to_string(), number)),
        _ => Err("NAME=N with a number from 1 on".to_string()),
    }
}
