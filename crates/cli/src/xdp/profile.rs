//! `sluice xdp compile --profile`: what the packets of a capture do in programs, and what it brings.

use super::object;
use crate::captures;
use crate::failure::Failure;
use sluice_ebpf::map::as_libbpf_creates;
use sluice_ebpf::vm::{Ingress, Installed};
use sluice_ebpf::{Image, Packet, Runtime};
use sluice_hxdp::{Bundles, Cores, Profile};
use std::path::{Path, PathBuf};

/// Frames of a capture, and what the maps begin with.
pub struct Replay<'a> {
    image: Image,
    frames: Vec<(u64, Vec<u8>)>,
    maps: &'a [(String, PathBuf)],
}

/// Bundles that the capture's packets execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Brought {
    /// Packets.
    packets: usize,
    /// By the fixed rule.
    bundles_fixed: u64,
    /// By the profile.
    bundles: u64,
}

impl Brought {
    /// A line.
    pub fn text(&self) -> String {
        let Self { packets, bundles_fixed, bundles } = *self;
        let of = |bundles: u64| bundles as f64 / packets as f64;
        let percent = 100.0 * (bundles as f64 - bundles_fixed as f64) / (bundles_fixed as f64).max(1.0);
        format!(
            "{packets} packets of the profile: {:.1} bundles a packet, {:.1} by the fixed rule ({percent:+.1} %)",
            of(bundles),
            of(bundles_fixed)
        )
    }
}

impl<'a> Replay<'a> {
    /// Reads the whole capture.
    pub fn read(image: &Image, path: &Path, maps: &'a [(String, PathBuf)]) -> Result<Self, Failure> {
        let frames = captures::frames(path)?;
        if frames.is_empty() {
            let what = format!("--profile {}: the capture has no packets, expected at least one", path.display());
            return Err(Failure::input("E0820", what));
        }
        let mut image = image.clone();
        for spec in &mut image.maps {
            *spec = as_libbpf_creates(spec, 1);
        }
        Ok(Self { image, frames, maps })
    }

    /// What the packets do in a program, one after the other, from the first entries of its maps on.
    pub fn profile(&self, program: usize, path: &Path) -> Result<Profile, Failure> {
        let (mut runtime, installed) = self.installed(path)?;
        let number = runtime.program_number(installed, program).unwrap_or(u32::MAX);
        let profile = Profile::new(number, self.image.programs[program].insns.len());
        let mut packet = Packet::new(&[]);
        for (stamp, bytes) in &self.frames {
            runtime.world.now_ns = *stamp;
            packet.set(bytes);
            runtime.run_traced(installed, program, &mut packet, INGRESS, &profile);
        }
        Ok(profile)
    }

    /// What a profile brings to the packets of a program: its bundles by the fixed rule, and by the profile.
    pub fn brought(
        &self,
        program: usize,
        fixed: &Bundles,
        profiled: &Bundles,
        path: &Path,
    ) -> Result<Brought, Failure> {
        let packets = self.frames.len();
        let bundles_fixed = self.executed(program, fixed, path)?;
        Ok(Brought { packets, bundles_fixed, bundles: self.executed(program, profiled, path)? })
    }

    /// Bundles of the program that all packets together execute. Programs that it tail-calls end it with a fault.
    fn executed(&self, program: usize, bundles: &Bundles, path: &Path) -> Result<u64, Failure> {
        let (mut runtime, installed) = self.installed(path)?;
        let mut cores = Cores::new();
        let number = runtime.program_number(installed, program).unwrap_or(u32::MAX);
        cores.bind(bundles.clone(), number, &runtime, installed);
        let (mut packet, mut executed) = (Packet::new(&[]), 0);
        for (stamp, bytes) in &self.frames {
            runtime.world.now_ns = *stamp;
            packet.set(bytes);
            runtime.run_on(&cores, installed, program, &mut packet, INGRESS);
            executed += cores.take_executed().bundles;
        }
        Ok(executed)
    }

    fn installed(&self, path: &Path) -> Result<(Runtime, Installed), Failure> {
        let mut runtime = Runtime::new(1, 1);
        let failure = |e: sluice_ebpf::load::LoadError| Failure::input(e.code(), format!("{}: {e}", path.display()));
        let installed = runtime.install(&self.image, &|_| None).map_err(failure)?;
        for (name, file) in self.maps {
            object::fill_map(&mut runtime, installed, &self.image, name, file)?;
        }
        Ok((runtime, installed))
    }
}

const INGRESS: Ingress = Ingress { ifindex: 1, queue: 0 };
