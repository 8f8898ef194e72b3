//! What options and files of a run cannot be.

use super::Run;
use crate::apart;
use crate::captures;
use crate::failure::Failure;
use crate::run::assign::{Input, OutputFile, Replacement};
use crate::run::bring_up::Nic;
use crate::run::device::{Choice, TopChoice};
use sluice_formats::EngineId;
use sluice_rtlsim::Top;
use std::io::Read;
use std::path::{Path, PathBuf};

impl Run {
    /// Options that the device does not have.
    pub(super) fn check_options(&self) -> Result<(), Failure> {
        if self.waves.is_some() && !self.device().has_rtl() {
            return Err(Failure::input("E0502", "--waves: the model has no waves, expected --device rtl or both"));
        }
        if self.gbps.is_some() && self.device() == Choice::Dataplane {
            let what = "--gbps: ports of the data plane have no FIFOs that a line rate fills, expected another device";
            return Err(Failure::input("E0502", what));
        }
        if self.top != TopChoice::Nic && !self.device().has_rtl() {
            let what = "--top: the software NIC is a whole one, expected --device rtl or both";
            return Err(Failure::input("E0502", what));
        }
        self.top.check(self.engines)?;
        if let Some(device) = self.device.filter(|device| self.jit.is_some() && *device != Choice::Dataplane) {
            let what = format!("--jit: {} has no programs as machine code, expected --device dataplane", device.name());
            return Err(Failure::input("E0502", what));
        }
        Ok(())
    }

    /// Events and waves must not go where something else is read or written, events not over what is no list of them.
    pub(super) fn check_apart(&self, nic: &Nic, inputs: &[Input], outputs: &[OutputFile]) -> Result<(), Failure> {
        let inputs = inputs.iter().map(|input| &input.file);
        let others = inputs.chain(outputs.iter().map(|output| &output.file));
        let replaced: Vec<PathBuf> = self.replace.iter().flat_map(Replacement::files).collect();
        let others = others.chain(&replaced).chain(&nic.config.files).chain([&self.config]);
        let others: Vec<&Path> = others.map(PathBuf::as_path).collect();
        apart::check_named("--socket", self.socket.as_deref())?;
        apart::check_waves(self.waves.as_deref(), others.iter().copied().chain(self.events.as_deref()))?;
        let Some(events) = &self.events else { return Ok(()) };
        apart::check_own("--events", events, others)?;
        let mut begin = [0; 2];
        let is_file = std::fs::metadata(events).is_ok_and(|found| found.is_file() && found.len() > 0);
        let read = is_file.then(|| std::fs::File::open(events).and_then(|mut file| file.read_exact(&mut begin)));
        if read.is_some() && !captures::is_standard(events) && &begin != b"{\"" {
            let what = format!("--events: {} holds something else than events, expected a new file", events.display());
            return Err(Failure::input("E0502", what));
        }
        Ok(())
    }

    /// Events and maps are those of XDP programs.
    pub(super) fn check_maps(&self, top: &Top) -> Result<(), Failure> {
        let has_maps = top.engine_ids().contains(&EngineId::XDP);
        let no_maps = self.device() == Choice::Rtl && !has_maps;
        if self.events.is_some() && no_maps {
            let what = "--events: XDP programs tell them, and this top has no XDP engine; expected --top nic or xdp, or --device model";
            return Err(Failure::input("E0502", what));
        }
        if self.socket.is_some() && no_maps {
            let what = "--socket: this top has no XDP engine, whose maps it serves; expected --top nic or xdp, or --device model";
            return Err(Failure::input("E0502", what));
        }
        Ok(())
    }

    /// Events are an XDP program's.
    pub(super) fn check_tells(&self, nic: &Nic) -> Result<(), Failure> {
        let runs_xdp = nic.config.tenants.iter().any(|t| t.object.as_ref().is_some_and(|o| o.parts.xdp.is_some()));
        if self.events.is_none() || runs_xdp || !self.replace.is_empty() {
            return Ok(());
        }
        Err(Failure::input("E0502", "--events: no tenant runs an XDP program, expected one that tells events"))
    }
}
