//! Rings of a run: messages are taken as they come, and each buffer is posted again.

use super::bring_up::Nic;
use super::play::failed;
use crate::failure::Failure;
use crate::table::group;
use serde_json::{Value, json};
use sluice_device::Device;
use sluice_formats::l7::codes::L7Status;
use sluice_object::Linker;

/// The ring of a tenant's queue, and what came of it.
#[derive(Clone, Debug)]
pub struct RunRing {
    tenant: String,
    queue: u8,
    module: u8,
    number: u8,
    buffer: u32,
    buffers: usize,
    messages: u64,
    bytes: u64,
    expired: u64,
}

/// The rings that a description opens.
pub fn of(nic: &Nic, linker: &Linker) -> Result<Vec<RunRing>, Failure> {
    let mut all = Vec::new();
    for tenant in &nic.config.tenants {
        let (id, name) = (tenant.spec.id, &tenant.spec.name);
        let (module, first) = (linker.tenant(id)?.module, linker.rings(id)?.start as u8);
        all.extend(tenant.rings.iter().map(|ring| RunRing {
            tenant: name.clone(),
            queue: ring.queue,
            module,
            number: first + ring.queue,
            buffer: ring.bytes,
            buffers: 1 << ring.log_size,
            messages: 0,
            bytes: 0,
            expired: 0,
        }));
    }
    Ok(all)
}

impl RunRing {
    /// Packets after which the host has to look at it, so that it does not run dry: those before may still be on their way.
    pub fn most_packets(&self) -> usize {
        self.buffers / 2
    }

    /// Takes what has ended, and posts as many buffers again.
    pub fn serve(&mut self, device: &mut dyn Device) -> Result<(), Failure> {
        let rings = device.rings().map_err(failed)?;
        let taken = rings.take(self.module, self.number, usize::MAX).map_err(failed)?;
        if taken.is_empty() {
            return Ok(());
        }
        for message in &taken {
            match message.status {
                L7Status::Whole => {
                    self.messages += 1;
                    self.bytes += message.bytes.len() as u64;
                }
                L7Status::Expired => self.expired += 1,
            }
        }
        rings.post(self.module, self.number, &vec![self.buffer; taken.len()]).map_err(failed)
    }

    /// What came of it, in a line.
    pub fn text(&self) -> String {
        let (messages, bytes) = (group(self.messages), group(self.bytes));
        let expired = if self.expired == 0 { String::new() } else { format!(", {} given up", group(self.expired)) };
        format!("ring {} of {}: {messages} messages, {bytes} bytes{expired}", self.queue, self.tenant)
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        json!({
            "tenant": self.tenant, "queue": self.queue, "ring": self.number,
            "messages": self.messages, "bytes": self.bytes, "expired": self.expired,
        })
    }
}
