//! `sluice`: runs captures and packet scripts through the NIC, on every device.

mod apart;
mod captures;
mod commands;
mod failure;
mod files;
mod l7;
mod maps;
mod output;
mod p4;
mod printable;
mod ring_text;
mod rmt;
mod run;
mod table;
mod view;
mod xdp;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use commands::{
    completions, explain, generate, l7 as l7_command, map, object, p4 as p4_command, rmt as rmt_command,
    run as run_command, script, xdp as xdp_command,
};
use failure::Failure;
use output::Output;
use run::interrupt;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::LazyLock;

/// A multi-tenant SmartNIC data plane: captures in, captures out
#[derive(Debug, Parser)]
#[command(name = "sluice", version = VERSION.as_str(), propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  sluice run --config programs/nic/nic.toml --in programs/nic/mixed.pcapng
  sluice script programs/nic/red.pkt
  sluice explain --list")]
struct Sluice {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run_command::Run),
    Script(script::ScriptArgs),
    Xdp(xdp_command::XdpArgs),
    Map(map::MapArgs),
    Object(object::ObjectArgs),
    Rmt(rmt_command::RmtArgs),
    L7(l7_command::L7Args),
    P4(p4_command::P4Args),
    Generate(generate::Generate),
    Explain(explain::Explain),
    Completions(completions::Completions),
}

/// Objects, loads and plug-ins of another format version are refused.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{} (format version {})", env!("CARGO_PKG_VERSION"), sluice_formats::limits::FORMAT_VERSION)
});

/// Reads a command line, and whether a failure is told as JSON, too. A negative number is an option's value, which that refuses with what it allows.
fn parse<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<(Sluice, bool), clap::Error> {
    fn with_negative_numbers(command: clap::Command) -> clap::Command {
        let takes = |argument: clap::Arg| match argument.get_action().takes_values() && !argument.is_positional() {
            true => argument.allow_negative_numbers(true),
            false => argument,
        };
        command.mut_args(takes).mut_subcommands(with_negative_numbers)
    }
    let mut command = with_negative_numbers(Sluice::command());
    let matches = command.try_get_matches_from_mut(words)?;
    let is_json = wants_json(&matches);
    let read = Sluice::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((read, is_json))
}

/// Whether a program reads the answer on standard output: there is `--json`, and nothing else is written there.
fn wants_json(matches: &ArgMatches) -> bool {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    let is_standard = |option: &str| {
        let words = innermost.try_get_raw(option).ok().flatten();
        words.into_iter().flatten().any(|word| word == "-" || word.as_encoded_bytes().ends_with(b"=-"))
    };
    let written = ["output", "outputs", "out", "state", "packets", "events"];
    matches!(innermost.try_get_one::<bool>("json"), Ok(Some(true))) && !written.into_iter().any(is_standard)
}

fn main() -> ExitCode {
    interrupt::watch();
    let (arguments, is_json) = match parse(std::env::args_os()) {
        Ok(read) => read,
        Err(error) => return refused(&error),
    };
    let mut out = Output::stdout();
    let result = dispatch(arguments.command, &mut out);
    let flushed = out.flush();
    let code = result.and_then(|code| flushed.map(|()| code)).unwrap_or_else(|failure| {
        printable::tell(&failure);
        failure.exit()
    });
    if is_json {
        tell_json(&mut out);
    }
    code
}

/// The errors that were told, as the document of a command that has written none.
fn tell_json(out: &mut Output) {
    let errors = printable::errors();
    if !errors.is_empty()
        && let Err(unwritten) = out.refusal(&failure::mistakes(&errors))
    {
        printable::tell(unwritten);
    }
}

/// Code of a command line that is none.
const NO_COMMAND: &str = "E0504";

/// What clap says of a command line, with a code: unless it would show what a terminal obeys, or a very long line.
fn refused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return shown(error);
    }
    let given: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_json = given.iter().take_while(|word| *word != "--").any(|word| word == "--json" || word == "-j");
    let text = match given.iter().all(|word| printable::message(word) == *word) {
        true if io::stderr().is_terminal() => error.render().ansi().to_string(),
        true => error.render().to_string(),
        false => escaped(error, &given),
    };
    printable::tell(coded(error, text));
    if is_json {
        tell_json(&mut Output::stdout());
    }
    ExitCode::from(2)
}

/// The same mistake in escaped words; clap itself would leave out a part of what a terminal obeys.
fn escaped(error: &clap::Error, given: &[String]) -> String {
    let again = parse(given.iter().map(|word| printable::text(word).into_owned())).err();
    let shown = again.filter(|again| again.kind() == error.kind());
    printable::message(&shown.as_ref().unwrap_or(error).render().to_string())
}

/// A mistake's text in the form of all others; help that nobody asked for stays as it is.
fn coded(error: &clap::Error, text: String) -> String {
    let text = text.trim_end();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return text.to_owned();
    }
    format!("{}\n  more: sluice explain {NO_COMMAND}", text.replacen("error:", &format!("error[{NO_COMMAND}]:"), 1))
}

/// Help and version go to standard output, which may not take them.
fn shown(error: &clap::Error) -> ExitCode {
    let text = error.render();
    let text = if io::stdout().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    let mut stdout = io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            let failure = Failure::input("E0501", format!("standard output cannot be written: {e}"));
            printable::tell(&failure);
            failure.exit()
        }
        _ => ExitCode::SUCCESS,
    }
}

fn dispatch(command: Command, out: &mut Output) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(command) => return command.run(out),
        Command::Script(command) => return command.run(out),
        Command::Xdp(command) => return command.run(out),
        Command::Rmt(command) => return command.run(out),
        Command::L7(command) => return command.run(out),
        Command::P4(command) => return command.run(out),
        Command::Map(command) => return command.run(out),
        Command::Object(command) => return command.run(out),
        Command::Generate(command) => return command.run(out),
        Command::Explain(command) => command.run(out)?,
        Command::Completions(command) => command.run(Sluice::command(), out)?,
    }
    Ok(ExitCode::SUCCESS)
}
