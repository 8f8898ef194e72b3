//! `sluice xdp disasm`: the program in the kernel's notation, with its source lines.

use super::object;
use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use sluice_ebpf::{analysis, validate};
use std::path::PathBuf;
use std::process::ExitCode;

/// Prints programs as the kernel writes instructions, with their source lines
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice xdp disasm programs/xdp/firewall/firewall.o --section xdp")]
pub struct Disasm {
    /// Object file that clang wrote for the target bpf
    object: PathBuf,
    #[command(flatten)]
    kernel: object::KernelFile,
    /// Only the program of this section
    #[arg(long)]
    section: Option<String>,
    /// Only the program with this name
    #[arg(long)]
    program: Option<String>,
    /// Behind each instruction what its operands point into, as far as it is known
    #[arg(long)]
    regions: bool,
}

impl Disasm {
    /// Prints them.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let image = self.kernel.read(&self.object)?;
        let all = self.section.is_none() && self.program.is_none();
        let chosen = match all {
            true => (0..image.programs.len()).collect(),
            false => object::choose(&image, &self.object, self.section.as_deref(), self.program.as_deref())?,
        };
        for (i, program) in chosen.into_iter().map(|p| &image.programs[p]).enumerate() {
            if i > 0 {
                out.line("")?;
            }
            out.line(format!("section {}:", program.section))?;
            if !self.regions {
                out.text(&sluice_ebpf::insn::listing(program, &image.maps))?;
                continue;
            }
            // The analysis takes programs that are valid.
            validate::validate_program(program, &image.maps, validate::Options::default())
                .map_err(|e| Failure::input(e.code(), format!("{}: {e}", self.object.display())))?;
            let regions = analysis::analyze(&image, program);
            out.text(&analysis::Listing { image: &image, program, regions: &regions }.to_string())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
