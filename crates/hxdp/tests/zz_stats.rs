//! Stats (not committed).
mod support;
use support::{LANES, Replay, scripts, steps, target};
#[test]
fn stats() {
    for path in scripts() {
        let mut t = [(0u64, 0u64); 3];
        for st in steps::steps(&path) {
            for (i, l) in LANES.into_iter().enumerate() {
                for (_, _, e, _) in Replay::play(&st, &target(l)).done {
                    t[i].0 += e.bundles;
                    t[i].1 += e.instructions;
                }
            }
        }
        println!(
            "STAT {} {:?}",
            path.file_stem().unwrap().to_string_lossy(),
            t.map(|(b, i)| (b, (i as f64 / b as f64 * 100.0).round() / 100.0))
        );
    }
}
