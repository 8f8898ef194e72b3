//! `sluice completions`.

use crate::failure::Failure;
use crate::output::Output;
use clap::{Args, Command, ValueEnum};
use clap_complete::aot;

/// Prints the completions of a shell
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice completions bash > sluice.bash")]
pub struct Completions {
    /// Which shell
    shell: Shell,
}

/// Shells with completions.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Completions {
    /// Prints them.
    pub fn run(&self, mut command: Command, out: &mut Output) -> Result<(), Failure> {
        let mut text = Vec::new();
        let shell = match self.shell {
            Shell::Bash => aot::Shell::Bash,
            Shell::Zsh => aot::Shell::Zsh,
            Shell::Fish => aot::Shell::Fish,
        };
        aot::generate(shell, &mut command, "sluice", &mut text);
        out.text(&String::from_utf8_lossy(&text))
    }
}
