//! Plug-ins of the engine's own top: of a target ("tiny"), or of a target with another value of one of the top's parameters
//! ("tiny MessagePackets=255"), or of several, as `tools/plugin.py --set` builds it.

use sluice_formats::l7::target::{ALL, Target};
use sluice_formats::random::test_is_long;
use sluice_rtlsim::{Plugin, Variant, locate, top};

/// What a build is a NIC of.
pub fn sizes(build: &str) -> Target {
    let mut words = build.split(' ');
    let target = words.next().map_or(&ALL[0], Target::by_name);
    let sizes = words.fold(*target, with);
    sizes.check().unwrap_or_else(|error| panic!("{error}"));
    sizes
}

/// A plug-in and what it is a NIC of. None, and a word, where it has not been built; that is a failure where plug-ins are required, of a
/// parameter's other value in a long run.
pub fn open(build: &str) -> Option<(Plugin, &'static Target)> {
    let (name, setting) = build.split_once(' ').map_or((build, None), |(name, setting)| (name, Some(setting)));
    let target = Target::by_name(name);
    let is_required = std::env::var_os("SLUICE_REQUIRE_PLUGINS").is_some();
    let Some(setting) = setting else {
        return match Plugin::find(&top::L7, name, Variant::Test) {
            Ok(plugin) => Some((plugin, target)),
            Err(error) => {
                assert!(!is_required, "{error}");
                println!("skipped: {error}");
                None
            }
        };
    };
    let folder = setting.replace(' ', "+").replace('=', "-");
    let file = locate::file_name(&top::L7.config(name), Variant::Test);
    let found = locate::directories().iter().map(|at| at.join(&folder).join(&file)).find(|path| path.is_file());
    let Some(path) = found else {
        let what = format!("no plug-in: tools/plugin.py --set {} l7_{name}", setting.replace(' ', " --set "));
        assert!(!is_required || !test_is_long(), "{what}");
        println!("skipped: {what}");
        return None;
    };
    let plugin = Plugin::load(&top::L7, &path).unwrap_or_else(|error| panic!("{error}"));
    Some((plugin, Box::leak(Box::new(sizes(build)))))
}

/// The target with a parameter as it is set.
fn with(target: Target, setting: &str) -> Target {
    match setting.split_once('=').map(|(name, value)| (name, value.parse())) {
        Some(("Matchers", Ok(matchers))) => Target { matchers, ..target },
        Some(("MessagePackets", Ok(message_packets))) => Target { message_packets, ..target },
        Some(("SLUICE_L7_COMPARE_BYTES", Ok(compare_bytes))) => Target { compare_bytes, ..target },
        Some(("SLUICE_L7_ALTERNATIVES", Ok(alternatives))) => Target { alternatives, ..target },
        Some(("SLUICE_L7_VIEW_SEGMENTS", Ok(view_segments))) => Target { view_segments, ..target },
        _ => panic!("{setting}: a parameter that the model does not know, or no number"),
    }
}
