//! What `sluice p4` is made of.

pub mod check;
pub mod info;
pub mod print;
pub mod test;

use crate::failure::Failure;
use clap::Args;
use sluice_p4::{P4Errors, Reader};
use std::path::PathBuf;

/// How a program is read
#[derive(Args, Debug)]
pub struct ReadArgs {
    /// Folder in which `#include` looks, too; may be given again
    #[arg(short = 'I', value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Macro, with value 1 if none is given; may be given again
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = macro_of)]
    defines: Vec<(String, String)>,
}

impl ReadArgs {
    /// What reads with these folders and macros.
    pub fn reader(&self) -> Reader {
        let reader = self.folders.iter().fold(Reader::new(), |reader, folder| reader.folder(folder));
        self.defines.iter().fold(reader, |reader, (name, value)| reader.define(name, value))
    }
}

fn macro_of(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    match first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        true => Ok((name.to_string(), value.to_string())),
        false => Err("a macro's name has letters, digits and `_`, as in -D WIDTH=8".to_string()),
    }
}

/// All that is wrong with a program.
pub fn failure(errors: &P4Errors) -> Failure {
    Failure::input(errors.code(), errors)
}
