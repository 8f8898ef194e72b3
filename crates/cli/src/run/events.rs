//! What XDP programs tell the host: a JSON object a line, in each tenant's order.

use crate::captures;
use crate::failure::Failure;
use crate::files;
use crate::output;
use crate::run::interrupt;
use serde_json::{Value, json};
use sluice_device::Device;
use sluice_device::ProgramEvent;
use sluice_ebpf::state::to_hex;
use sluice_packet::capture::output::OutputFile;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The file that events go to.
pub struct Events {
    path: PathBuf,
    file: BufWriter<Box<dyn Write>>,
    tenants: Vec<(u8, String)>,
}

impl Events {
    /// Opens it; `-` is standard output. What was in it goes when the run begins.
    pub fn create(path: &Path, tenants: Vec<(u8, String)>) -> Result<Self, Failure> {
        let file: Box<dyn Write> = if captures::is_standard(path) {
            output::standard()
        } else {
            files::make_folder(path)?;
            Box::new(OutputFile::open_until(path, interrupt::asked).map_err(|e| Failure::file(path, "written", &e))?)
        };
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), tenants })
    }

    /// Writes what was told since the last time.
    pub fn take(&mut self, device: &mut dyn Device) -> Result<(), Failure> {
        let tick = device.now();
        for (module, tenant) in &self.tenants {
            for event in device.maps().map_or_else(|_| Vec::new(), |maps| maps.take_events(*module)) {
                let mut line = line(&event);
                line["tenant"] = json!(tenant);
                line["tick"] = json!(tick);
                writeln!(self.file, "{line}").map_err(|e| Failure::file(&self.path, "written", &e))?;
            }
        }
        Ok(())
    }

    /// Writes what is still buffered.
    pub fn finish(&mut self) -> Result<(), Failure> {
        self.file.flush().map_err(|e| Failure::file(&self.path, "written", &e))
    }
}

/// One event as JSON.
pub fn line(event: &ProgramEvent) -> Value {
    match event {
        ProgramEvent::Trace { line } => json!({ "trace": line }),
        ProgramEvent::Perf { map, cpu, data } => json!({ "map": map, "cpu": cpu, "data": to_hex(data) }),
        ProgramEvent::Ring { map, data } => json!({ "map": map, "data": to_hex(data) }),
        ProgramEvent::Lost { events } => json!({ "lost": events }),
    }
}
