//! Where plug-ins lie.

use std::path::{Path, PathBuf};

/// Directory of plug-ins, before all other places.
pub const DIRECTORY_VARIABLE: &str = "SLUICE_PLUGIN_DIR";

/// What a plug-in was built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Assertions on, random initial values.
    #[default]
    Test,
    /// The same with waves.
    Trace,
    /// For speed: no assertions.
    Bench,
}

impl Variant {
    fn suffix(self) -> &'static str {
        match self {
            Self::Test => "",
            Self::Trace => "_trace",
            Self::Bench => "_bench",
        }
    }

    /// How to build it for a configuration.
    pub fn recipe(self, config: &str) -> &'static str {
        match self {
            Self::Test => "make plugins",
            Self::Trace if config == "tiny" => "make plugins (waves need the lz4 and zlib headers)",
            Self::Trace => "make plugins-waves (waves need the lz4 and zlib headers)",
            Self::Bench => "make plugins-bench",
        }
    }
}

/// File name of a plug-in.
pub fn file_name(config: &str, variant: Variant) -> String {
    format!("libsluice_rtl_{config}{}.so", variant.suffix())
}

/// Places that are searched, in order: `SLUICE_PLUGIN_DIR` alone if it is set; else
/// `build/plugins` beside the folders above the executable (target/release/sluice lies two
/// below the repository, a test three) and in the working directory.
pub fn directories() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(DIRECTORY_VARIABLE) {
        return vec![named.into()];
    }
    let plugins = Path::new("build").join("plugins");
    let executable = std::env::current_exe().unwrap_or_default();
    let mut places: Vec<PathBuf> = executable.ancestors().skip(2).take(3).map(|dir| dir.join(&plugins)).collect();
    places.push(plugins);
    places
}

/// The plug-in's path, or the places where it is not.
pub fn find(config: &str, variant: Variant) -> Result<PathBuf, Vec<PathBuf>> {
    let places = directories();
    let name = file_name(config, variant);
    places.iter().map(|dir| dir.join(&name)).find(|path| path.is_file()).ok_or(places)
}
