//! What the kernel refused.

use crate::Errno;

/// A refusal of the kernel with its error number and, of its verifier, the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// What was asked.
    pub what: String,
    /// The kernel's number.
    pub errno: Errno,
    /// The verifier's or BTF checker's log; empty where there is none.
    pub log: String,
}

impl KernelError {
    pub(super) fn new(what: impl Into<String>, errno: Errno) -> Self {
        Self { what: what.into(), errno, log: String::new() }
    }

    /// The log's last line that says something: with the verifier the reason.
    pub fn reason(&self) -> &str {
        let counts =
            |l: &&str| l.starts_with("processed ") || l.starts_with("peak_states") || l.starts_with("stack depth");
        self.log.lines().rev().map(str::trim).filter(|l| !l.is_empty()).find(|l| !counts(l)).unwrap_or("")
    }
}

impl std::fmt::Display for KernelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, std::io::Error::from_raw_os_error(self.errno.0))?;
        if !self.log.is_empty() {
            let lines: Vec<&str> = self.log.lines().collect();
            let tail = &lines[lines.len().saturating_sub(30)..];
            write!(f, "\n{}", tail.join("\n"))?;
        }
        Ok(())
    }
}

impl std::error::Error for KernelError {}
