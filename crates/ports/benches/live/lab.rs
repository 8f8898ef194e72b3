//! The namespace, its interfaces, and what the kernel counts.

use std::process::{Command, ExitCode};
use std::time::Duration;

const INSIDE: &str = "SLUICE_BENCH_IN_NAMESPACE";

/// Runs `ip`.
pub fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().expect("the command `ip` runs");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs this program again in a namespace of its own; none where it is in one.
pub fn enter() -> Option<ExitCode> {
    if std::env::var_os(INSIDE).is_some() {
        // Nobody but the sender says anything.
        for which in ["all", "default"] {
            let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1");
        }
        return None;
    }
    let permitted = Command::new("unshare").args(["--net", "ip", "link"]).output().is_ok_and(|o| o.status.success());
    if !permitted {
        println!("skipped: needs `unshare --net` and `ip`, as root");
        return Some(ExitCode::SUCCESS);
    }
    let exe = std::env::current_exe().expect("the bench has a path");
    let mut command = Command::new("unshare");
    let status = command.arg("--net").arg(exe).args(std::env::args_os().skip(1)).env(INSIDE, "1").status();
    Some(if status.is_ok_and(|s| s.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A veth pair `nicN`, `wireN`, both up, of this MTU; gone when dropped.
pub struct Pair(u8);

impl Pair {
    pub fn new(number: u8, mtu: u32) -> Self {
        ip(&format!("link add nic{number} mtu {mtu} type veth peer name wire{number} mtu {mtu}"));
        ip(&format!("link set nic{number} up"));
        ip(&format!("link set wire{number} up"));
        Self(number)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        ip(&format!("link del nic{}", self.0));
    }
}

/// Frames that an interface has received.
pub fn received(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// The kernel's threads for softirqs that no other thread has time for.
pub struct SoftirqThreads(Vec<String>);

impl SoftirqThreads {
    pub fn find() -> Self {
        let is_one = |process: &std::fs::DirEntry| {
            std::fs::read_to_string(process.path().join("comm")).is_ok_and(|name| name.starts_with("ksoftirqd/"))
        };
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().filter(is_one);
        Self(processes.map(|p| p.path().join("schedstat").to_string_lossy().into_owned()).collect())
    }

    /// CPU time of all of them.
    pub fn cpu_time(&self) -> Duration {
        let ns = |path: &String| std::fs::read_to_string(path).ok()?.split(' ').next()?.parse::<u64>().ok();
        Duration::from_nanos(self.0.iter().filter_map(ns).sum())
    }
}
