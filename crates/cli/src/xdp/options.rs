//! What options of `sluice xdp run` say together, before anything is read or written.

use super::run::{Executor, XdpRun};
use super::warp::Warps;
use crate::apart;
use crate::captures;
use crate::failure::Failure;
use crate::files;
use std::path::PathBuf;

/// Number of a packet.
pub fn packet_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected the number of a packet, as in 0 for the first".to_owned())
}

impl XdpRun {
    /// Whether packets pass tables before a core has them. Who looks at bundles sees all of them, unless tables are asked for.
    pub(super) fn has_tables(&self) -> bool {
        self.warp.map_or(self.trace.is_none() && !self.by_path, |warp| warp == Warps::On)
    }

    /// Refuses options that contradict each other or would overwrite what is read.
    pub(super) fn check_options(&self) -> Result<(), Failure> {
        if self.inputs.is_empty() && self.iface.is_empty() {
            let what = "no packets: expected --in CAPTURE, or --iface IFACE for live interfaces";
            return Err(Failure::input("E0490", what).help("sluice xdp run FILE.o --in capture.pcapng"));
        }
        for (at, (map, _)) in self.maps.iter().enumerate() {
            if self.maps[..at].iter().any(|(before, _)| before == map) {
                return Err(Failure::input("E0502", format!("--map: `{map}` is given twice, expected one file")));
            }
        }
        for (at, (map, _)) in self.place.iter().enumerate() {
            if self.place[..at].iter().any(|(before, _)| before == map) {
                let what = format!("--place: `{map}` is given twice, expected one memory");
                return Err(Failure::input("E0502", what));
            }
        }
        if !self.place.is_empty() && !matches!(self.device, Executor::Rtl | Executor::Both) {
            let what = "--place: the engine in hardware alone has two memories, expected --device rtl or both with it";
            return Err(Failure::input("E0490", what));
        }
        if self.lanes.is_some() && self.device != Executor::Bundles {
            let has =
                if self.device == Executor::Interpreter { "the interpreter has none" } else { "the engine has 2" };
            return Err(Failure::input("E0490", format!("--lanes: {has}, expected --device bundles with it")));
        }
        if self.warp.is_some() && self.device == Executor::Interpreter {
            let what = "--warp: the interpreter has no tables, expected --device bundles, rtl or both with it";
            return Err(Failure::input("E0490", what));
        }
        if self.trace == Some(None) && self.json {
            let what = "--trace: with --json it is of one packet, expected --trace PACKET".to_owned();
            return Err(Failure::input("E0490", what));
        }
        if self.trace.is_some() && matches!(self.device, Executor::Rtl | Executor::Both) {
            let what = "--trace: the engine in hardware does not tell its bundles, expected --device bundles or model";
            return Err(Failure::input("E0821", what));
        }
        let by_model = [("--out", &self.output), ("--packets", &self.packets), ("--state", &self.state)];
        if let Some((option, _)) = by_model.iter().find(|(_, file)| self.device == Executor::Rtl && file.is_some()) {
            let what = format!("{option}: the interpreter writes it, expected --device both or model with it");
            return Err(Failure::input("E0490", what));
        }
        self.check_apart()?;
        apart::check_named("--socket", self.socket.as_deref())?;
        self.state.as_deref().map(files::check_write).transpose()?;
        if !self.iface.is_empty() {
            return Ok(());
        }
        if self.cpu >= self.cpus {
            let what = format!("--cpu {}: there are {} (--cpus), allowed: 0 to {}", self.cpu, self.cpus, self.cpus - 1);
            return Err(Failure::input("E0490", what));
        }
        if let Some(option) = self.on_standard_output().filter(|_| self.trace.is_some()) {
            let what = format!("{option} -: --trace writes to standard output too, expected a file or no --trace");
            return Err(Failure::input("E0490", what));
        }
        Ok(())
    }

    /// The option that takes standard output, so that the report goes to standard error.
    pub(super) fn on_standard_output(&self) -> Option<&'static str> {
        let written = [("--out", &self.output), ("--packets", &self.packets), ("--state", &self.state)];
        let standard = written.into_iter().find(|(_, file)| file.as_deref().is_some_and(captures::is_standard));
        standard.map(|(option, _)| option)
    }

    /// Refuses what is of one program, where several run.
    pub(super) fn check_programs(&self, programs: usize) -> Result<(), Failure> {
        let single = [("--out", self.output.is_some()), ("--state", self.state.is_some())];
        if let Some((option, _)) = single.iter().find(|(_, given)| *given && programs > 1) {
            let what = format!("{option}: {} has {} programs, expected one", self.object.display(), programs);
            return Err(Failure::input("E0490", what).help("say which with --section or --program"));
        }
        if let Some(pipe) = self.inputs.iter().find(|path| captures::is_pipe(path) && programs > 1) {
            let what = format!("{}: a pipe is read once, {} programs read it", pipe.display(), programs);
            return Err(Failure::input("E0502", what).help("say which with --section or --program"));
        }
        Ok(())
    }

    fn check_apart(&self) -> Result<(), Failure> {
        captures::check_standard(self.inputs.iter().map(|file| ("--in", file.as_path())))?;
        let written = [("--out", &self.output), ("--packets", &self.packets), ("--state", &self.state)];
        captures::check_standard(written.iter().filter_map(|(option, file)| Some((*option, file.as_deref()?))))?;
        let inputs = self.inputs.iter().filter(|file| !captures::is_standard(file));
        let read = inputs.chain([&self.object]).chain(self.maps.iter().map(|(_, file)| file));
        let mut taken: Vec<(files::Identity, &str)> =
            read.chain(&self.routes).chain(&self.kernel.btf).map(|file| (files::identity(file), "is read")).collect();
        let file = |file: &Option<PathBuf>| file.clone().filter(|file| !captures::is_standard(file));
        let (output, packets, state) = (file(&self.output), file(&self.packets), file(&self.state));
        for (option, file) in [("--out", &output), ("--state", &state), ("--packets", &packets)] {
            let Some(file) = file else { continue };
            let identity = files::identity(file);
            if let Some((_, why)) = taken.iter().find(|(other, _)| *other == identity) {
                let what = format!("{option}: {} {why}, expected a file of its own", file.display());
                return Err(Failure::input("E0502", what));
            }
            let why = if option == "--out" { "is written by --out" } else { "is written by --state" };
            taken.push((identity, why));
        }
        Ok(())
    }
}
