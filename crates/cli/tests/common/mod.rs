//! Running the program in a folder of its own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Makes a missing plug-in a failure; `make test` sets it.
const REQUIRED_VARIABLE: &str = "SLUICE_REQUIRE_PLUGINS";

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A folder that has the repository's `programs` in it, for paths as help and guides have them.
pub struct Folder(tempfile::TempDir);

/// What a call gave.
pub struct Called {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Folder {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root().join("programs"), folder.path().join("programs")).unwrap();
        Self(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Calls `sluice`.
    pub fn sluice(&self, arguments: &[&str]) -> Called {
        self.call(Command::new(env!("CARGO_BIN_EXE_sluice")).args(arguments))
    }

    /// Runs a line of a shell in which `sluice` is this build's.
    pub fn shell(&self, line: &str) -> Called {
        let binaries = Path::new(env!("CARGO_BIN_EXE_sluice")).parent().unwrap().to_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        self.call(Command::new("sh").args(["-c", line]).env("PATH", format!("{}:{path}", binaries.display())))
    }

    fn call(&self, command: &mut Command) -> Called {
        let plugins = root().join("build/plugins");
        if std::env::var_os("SLUICE_PLUGIN_DIR").is_none() {
            command.env("SLUICE_PLUGIN_DIR", plugins);
        }
        let Output { status, stdout, stderr } = command.current_dir(self.0.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let called = Called { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) };
        assert!(!called.err.contains("panicked"), "{}", called.err);
        called
    }
}

impl Called {
    /// Standard output of a call that must succeed.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }
}

/// A document.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Whether there is a plug-in for `target`. Says so when there is none.
pub fn has_plugin(target: &str) -> bool {
    let folder = std::env::var_os("SLUICE_PLUGIN_DIR").map_or_else(|| root().join("build/plugins"), PathBuf::from);
    let file = folder.join(format!("libsluice_rtl_{target}.so"));
    let there = file.is_file();
    let required = std::env::var_os(REQUIRED_VARIABLE).is_some();
    assert!(there || !required, "{REQUIRED_VARIABLE} is set and {} is not there", file.display());
    if !there {
        println!("skipped: {} is not there (make plugins)", file.display());
    }
    there
}
