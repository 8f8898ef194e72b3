//! `port0=FILE`, `host0=FILE` and `red=FILE@50%` as arguments.

use sluice_frontends::NO_FILE;
use sluice_frontends::p4_files;
use sluice_object::Destination;
use std::path::PathBuf;

/// A capture whose packets arrive on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Port; without one the names of the capture's interfaces say it.
    pub port: Option<u8>,
    /// Capture.
    pub file: PathBuf,
}

/// A capture of what leaves through a port or reaches a host queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Port or host queue.
    pub from: Destination,
    /// Capture.
    pub file: PathBuf,
}

/// Another program for a tenant, after so many packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// Name or ID of the tenant.
    pub tenant: String,
    /// Object.
    pub file: PathBuf,
    /// Entries of a P4 program.
    pub entries: Option<PathBuf>,
    /// Said in their place: those of the running program go.
    pub entries_go: bool,
    /// When.
    pub at: Moment,
}

impl Replacement {
    /// Files that are read for it.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        p4_files(&self.file).into_iter().chain(self.entries.clone())
    }
}

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// Before the packet with this number, from 0.
    Packet(u64),
    /// After this part of the packets, 0 to 1.
    Share(f64),
}

/// Reads `[PORT=]FILE`.
pub fn input(text: &str) -> Result<Input, String> {
    match text.split_once('=') {
        None if text.is_empty() => Err("found nothing, expected PORT=FILE".to_owned()),
        None => Ok(Input { port: None, file: text.into() }),
        Some((name, file)) => match destination(name)? {
            Destination::Port(port) => Ok(Input { port: Some(port), file: file_of(file)? }),
            Destination::Host(_) => Err(format!("packets arrive on ports, found `{name}`; there is no host transmit")),
        },
    }
}

/// Reads `PORT=FILE` or `HOST=FILE`.
pub fn output(text: &str) -> Result<OutputFile, String> {
    let (name, file) = text.split_once('=').ok_or("expected port0=FILE or host0=FILE")?;
    Ok(OutputFile { from: destination(name)?, file: file_of(file)? })
}

/// Reads `TENANT=FILE@MOMENT` or `TENANT=PROGRAM.p4,ENTRIES@MOMENT`.
pub fn replacement(text: &str) -> Result<Replacement, String> {
    let form = "expected TENANT=FILE@MOMENT, as in red=red-2.json@50%";
    let (tenant, rest) = text.split_once('=').ok_or(form)?;
    let (file, moment) = rest.rsplit_once('@').ok_or(form)?;
    if tenant.is_empty() {
        return Err(form.to_owned());
    }
    let (file, entries, entries_go) = program_file(file)?;
    Ok(Replacement { tenant: tenant.to_owned(), file, entries, entries_go, at: self::moment(moment)? })
}

/// Reads `FILE`, `PROGRAM.p4,ENTRIES` or `PROGRAM.p4,none`, by which entries go. Names of other files may have commas.
pub fn program_file(text: &str) -> Result<(PathBuf, Option<PathBuf>, bool), String> {
    match text.split_once(".p4,") {
        Some((program, NO_FILE)) => Ok((format!("{program}.p4").into(), None, true)),
        Some((program, entries)) => Ok((format!("{program}.p4").into(), Some(file_of(entries)?), false)),
        None => Ok((file_of(text)?, None, false)),
    }
}

fn moment(text: &str) -> Result<Moment, String> {
    let wrong = || format!("the moment is `{text}`, expected a packet as in 2000, or 0% to 100%");
    if let Some(percent) = text.strip_suffix('%') {
        let plain = percent.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value: f64 = percent.parse().ok().filter(|_| plain).ok_or_else(wrong)?;
        return if (0.0..=100.0).contains(&value) { Ok(Moment::Share(value / 100.0)) } else { Err(wrong()) };
    }
    let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    number.map(Moment::Packet).ok_or_else(wrong)
}

fn destination(name: &str) -> Result<Destination, String> {
    name.parse().map_err(|_| format!("`{name}` is no port or host queue, expected port0, port1, ... or host0, ..."))
}

fn file_of(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("the name of the file is missing".to_owned()) } else { Ok(text.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_files_and_moments_are_read() {
        assert_eq!(input("port1=a=b.pcap").unwrap(), Input { port: Some(1), file: "a=b.pcap".into() });
        assert_eq!(input("all.pcapng").unwrap().port, None);
        assert_eq!(output("host3=x.pcap").unwrap().from, Destination::Host(3));
        let replaced = replacement("red=a@b.json@12.5%").unwrap();
        assert_eq!((replaced.file, replaced.at), ("a@b.json".into(), Moment::Share(0.125)));
        let replaced = replacement("red=a.p4,b.stf@0").unwrap();
        assert_eq!((replaced.file, replaced.entries), ("a.p4".into(), Some("b.stf".into())));
        assert!(!replaced.entries_go);
        let replaced = replacement("red=a.p4,none@0").unwrap();
        assert_eq!((replaced.entries, replaced.entries_go), (None, true));
        assert_eq!(replacement("red=a,b.json@0").unwrap().file, PathBuf::from("a,b.json"));
        assert!(replacement("red=a.p4,@0").is_err());
        assert_eq!(replacement("7=b.json@9").unwrap().at, Moment::Packet(9));
    }

    #[test]
    fn everything_else_is_refused_in_words() {
        for text in ["", "host0=a.pcap", "port9=a.pcap", "=a.pcap", "port0="] {
            assert!(input(text).is_err(), "{text}");
        }
        for text in ["a.pcap", "port0", "port0=", "queue0=a.pcap"] {
            assert!(output(text).is_err(), "{text}");
        }
        for text in [
            "red",
            "red=a.json",
            "=a.json@5",
            "red=@5",
            "red=a@101%",
            "red=a@-1",
            "red=a@nan%",
            "red=a@x",
            "red=a@+5",
            "red=a@05",
            "red=a@ 5",
            "red=a@1e1%",
            "red=a@-0%",
        ] {
            assert!(replacement(text).is_err(), "{text}");
        }
    }
}
