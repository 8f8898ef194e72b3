//! BMv2's `simple_switch` on CALC, where it is on the PATH.
//!
//! It takes packets from a capture and writes another (`--use-files`), so that neither root nor interfaces are
//! needed. Counted is the time from its first packet out to its last, without its start. Its program is the
//! JSON of `fast/calc.p4`: that of `SLUICE_BMV2_CALC` (a full path), else `p4c` makes it where that is on the PATH.

use sluice_packet::capture::{Packet, write_all};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Variable that names the JSON of the program.
const JSON: &str = "SLUICE_BMV2_CALC";
/// Packets of one run.
const PACKETS: usize = 200_000;
/// Bytes of a capture's header, and of each packet's record.
const HEADERS: (u64, u64) = (24, 16);
/// It is done when nothing came for so long.
const QUIET: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(120);

fn on_the_path(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

fn json(folder: &Path) -> Result<PathBuf, String> {
    if let Some(file) = std::env::var_os(JSON) {
        // The bench runs in the crate's folder and the switch in one of its own.
        let file = PathBuf::from(file);
        return if file.is_absolute() { Ok(file) } else { Err(format!("{JSON} is not a full path")) };
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/fast/calc.p4");
    if !on_the_path("p4c") {
        return Err(format!(
            "p4c is not on the PATH; {JSON} may name the JSON of {}, made by `p4c --target bmv2 --arch v1model`",
            source.display()
        ));
    }
    let made =
        Command::new("p4c").args(["--target", "bmv2", "--arch", "v1model", "-o"]).arg(folder).arg(source).output();
    match made {
        Ok(output) if output.status.success() => Ok(folder.join("calc.json")),
        Ok(output) => Err(format!("p4c failed: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("p4c: {error}")),
    }
}

/// Ends the switch however the measurement ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How fast it was.
pub struct Speed {
    /// Seconds for each packet that came out.
    pub seconds: f64,
    /// Share of packets that came out; its queues drop some if its ingress is faster than its egress.
    pub share: f64,
}

/// Its speed with packets like these, all of one length; or why that is not known.
pub fn speed(packets: &[Vec<u8>]) -> Result<Speed, String> {
    if !on_the_path("simple_switch") {
        return Err("not on the PATH".to_owned());
    }
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let program = json(folder.path())?;
    let traffic: Vec<Packet> =
        (0..PACKETS).map(|i| Packet::new(i as u64, packets[i % packets.len()].clone())).collect();
    write_all(&folder.path().join("port0_in.pcap"), &traffic).map_err(|e| e.to_string())?;
    let mut command = Command::new("simple_switch");
    command.args(["--use-files", "0", "--log-level", "off", "-i", "0@port0"]).arg(program);
    let child = command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut switch = Running(child.map_err(|e| format!("simple_switch: {e}"))?);
    watch(&folder.path().join("port0_out.pcap"), packets[0].len() as u64 + HEADERS.1, &mut switch)
}

/// Follows the capture that it writes until nothing more comes.
fn watch(file: &Path, record: u64, switch: &mut Running) -> Result<Speed, String> {
    let start = Instant::now();
    let (mut first, mut last) = (None, (start, 0));
    loop {
        std::thread::sleep(Duration::from_millis(2));
        let now = Instant::now();
        let bytes = file.metadata().map_or(0, |m| m.len());
        let count = bytes.saturating_sub(HEADERS.0) / record;
        if count > last.1 {
            first.get_or_insert((now, count));
            last = (now, count);
        }
        let ended = switch.0.try_wait().map_err(|e| e.to_string())?.is_some();
        let quiet = first.is_some() && now - last.0 > QUIET;
        if ended || quiet || last.1 as usize >= PACKETS || now - start > PATIENCE {
            break;
        }
    }
    match first {
        Some((at, count)) if last.1 > count => Ok(Speed {
            seconds: (last.0 - at).as_secs_f64() / (last.1 - count) as f64,
            share: last.1 as f64 / PACKETS as f64,
        }),
        _ => Err("it sent no packets, or all of them at once".to_owned()),
    }
}
