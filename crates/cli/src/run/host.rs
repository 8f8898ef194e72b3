//! What the host does beside the packets: takes events, serves the local socket.

use super::events::Events;
use super::map_server::MapServer;
use super::rings::RunRing;
use crate::failure::Failure;
use sluice_device::Device;
use sluice_object::Linker;
use std::path::Path;

/// The host's side of a run.
#[derive(Default)]
pub struct Host {
    events: Option<Events>,
    server: Option<MapServer>,
    /// Rings whose messages it takes.
    pub rings: Vec<RunRing>,
}

impl Host {
    /// With a file for events and a socket for `sluice map`, where they are wanted, and with rings.
    pub fn open(
        linker: &Linker,
        events: Option<&Path>,
        socket: Option<&Path>,
        rings: Vec<RunRing>,
    ) -> Result<Self, Failure> {
        let tenants: Vec<(u8, String)> = linker.tenants().map(|t| (t.module, t.spec.name.clone())).collect();
        Ok(Self {
            events: events.map(|path| Events::create(path, tenants.clone())).transpose()?,
            server: socket.map(|path| MapServer::open(path, tenants)).transpose()?,
            rings,
        })
    }

    /// Does what there is to do; never waits.
    pub fn serve(&mut self, device: &mut dyn Device) -> Result<(), Failure> {
        if let Some(events) = &mut self.events {
            events.take(device)?;
        }
        if let Some(server) = &mut self.server {
            server.serve(device);
        }
        self.rings.iter_mut().try_for_each(|ring| ring.serve(device))
    }

    /// Instead of [`Host::finish`], where the device was left in the middle of its work.
    pub fn leave(&mut self) -> Result<(), Failure> {
        self.events.as_mut().map_or(Ok(()), Events::finish)
    }

    /// After the last packet.
    pub fn finish(&mut self, device: &mut dyn Device) -> Result<(), Failure> {
        self.rings.iter_mut().try_for_each(|ring| ring.serve(device))?;
        match &mut self.events {
            Some(events) => events.take(device).and_then(|()| events.finish()),
            None => Ok(()),
        }
    }
}
