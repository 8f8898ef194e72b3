//! What the loader makes of an object is what libbpf makes of it, and the kernel takes it.
//!
//! Prints `skipped` where bpf(2), bpftool or a mount namespace is missing.

use serde_json::Value;
use sluice_ebpf::image::map_flags;
use sluice_ebpf::insn::pseudo;
use sluice_ebpf::kernel::{Differential, Kernel, KernelMap, Pinned, TestInput, available};
use sluice_ebpf::load::load;
use sluice_ebpf::{Image, MapType};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn objects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects")
}

/// The objects that are shipped and those of the tests, by name.
fn all() -> Vec<PathBuf> {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let folders = std::fs::read_dir(programs).into_iter().flatten().flatten().map(|e| e.path());
    let files = folders.chain([objects()]).filter_map(|f| std::fs::read_dir(f).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> = files.map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "o")).collect();
    found.sort();
    found
}

fn image(path: &Path) -> Image {
    let mut image = load(&std::fs::read(path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let open = image.maps.iter().filter(|m| m.max_entries == 0 && m.kind != MapType::PerfEventArray);
    for name in open.map(|m| m.name.clone()).collect::<Vec<_>>() {
        image.set_max_entries(&name, 16).unwrap();
    }
    image
}

#[test]
fn the_kernel_takes_types_maps_and_programs_of_every_object() {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return;
    }
    let (mut programs, mut types) = (0, 0);
    for path in all() {
        let mut image = image(&path);
        // For callbacks the kernel wants to know the functions' types.
        let typed = image.btf.is_some();
        image.programs.retain(|p| typed || !p.insns.iter().any(|i| i.is_wide() && i.src == pseudo::FUNCTION));
        let kernel = Kernel::load(&image).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        programs += kernel.programs.len();
        types += usize::from(kernel.btf.is_some());
    }
    println!("{programs} programs, {types} objects with types");
    assert!(programs > 40 && types > 10, "{programs} programs, {types} objects with types");
}

#[test]
fn loaded_programs_run_as_in_the_kernel() {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return;
    }
    let _pinned = Pinned::to(0).unwrap();
    let frame: Vec<u8> = (0..64).collect();
    let mut runs = 0;
    for name in ["functions.v2", "functions.v3", "data.v2", "data.v3", "data.v2.nog", "beside.v2", "features.v3"] {
        let image = image(&objects().join(format!("{name}.o")));
        let mut both = Differential::new(&image).unwrap_or_else(|e| panic!("{name}: {}", e.0));
        // Static data carries over from run to run.
        for _ in 0..4 {
            for program in 0..image.programs.len() {
                let input = TestInput::frame(&frame);
                let named = &image.programs[program].name;
                both.run(program, &input).unwrap_or_else(|e| panic!("{name} {named}: {}", e.0));
                runs += 1;
            }
        }
        both.compare_maps().unwrap_or_else(|e| panic!("{name}: {}", e.0));
    }
    println!("{runs} runs compared");
}

/// The kernel's instructions of a program, as bpftool prints them, without names and lines; maps
/// are numbered as they come.
fn listing(text: &str) -> Vec<String> {
    let mut maps: Vec<String> = Vec::new();
    let is_insn = |l: &&str| l.trim_start().split_once(':').is_some_and(|(n, _)| n.parse::<u32>().is_ok());
    let one = |line: &str| {
        let line = line.split('#').next().unwrap_or("").trim();
        let Some((before, rest)) = line.split_once("map[id:") else { return line.to_string() };
        let (id, after) = rest.split_once(']').unwrap();
        let at = maps.iter().position(|m| m == id).unwrap_or_else(|| {
            maps.push(id.to_string());
            maps.len() - 1
        });
        format!("{before}map[{at}]{after}")
    };
    text.lines().filter(is_insn).map(one).collect()
}

/// Sizes of maps, sorted.
fn shapes(maps: impl Iterator<Item = [u64; 5]>) -> Vec<[u64; 5]> {
    let mut maps: Vec<[u64; 5]> = maps.collect();
    maps.sort();
    maps
}

const SCRIPT: &str = r#"
set -e
mount -t bpf bpf "$2"
# Maps that pin themselves do so there; in this mount namespace it is a file system of our own, whatever the machine has.
[ -d /sys/fs/bpf ] || { echo "/sys/fs/bpf not found" >&2; exit 1; }
mount -t bpf bpf /sys/fs/bpf
bpftool prog loadall "$1" "$2/p" type xdp
for p in "$2"/p/*; do
    echo "=== $(basename "$p")"
    bpftool prog dump xlated pinned "$p"
done
echo "=== maps"
for p in "$2"/p/*; do bpftool -j prog show pinned "$p"; done | grep -o '"map_ids":\[[0-9,]*\]' | grep -o '[0-9]*' | sort -un |
while read -r id; do bpftool -j map show id "$id"; echo; done
"#;

#[test]
fn libbpf_gives_the_kernel_the_same_instructions_and_maps() {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // libbpf has no legacy maps any more, wants sizes of perf event arrays, calls functions in `.text` only, and refuses an object
    // for one program; the kernel takes no callbacks without types.
    let usual = |p: &&PathBuf| {
        let name = p.file_name().unwrap().to_str().unwrap();
        let ours = ["maps_legacy", "beside", "open", "core", "refused", "notype", "limits"];
        let untyped = name.starts_with("functions") && name.ends_with("nog.o");
        // They differ from the others by what one map gives.
        let fed = name.ends_with(".fed.o");
        !untyped && !fed && !ours.iter().any(|n| name.starts_with(n))
    };
    let mut compared = 0;
    for path in all().iter().filter(usual) {
        let mut command = Command::new("unshare");
        command.args(["-m", "bash", "-c", SCRIPT, "loader_kernel"]).arg(path).arg(folder.path());
        let output = match command.output() {
            Ok(output) => output,
            Err(e) => return println!("skipped: unshare: {e}"),
        };
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let missing = ["not found", "Operation not permitted", "permission denied"];
        if !output.status.success() && compared == 0 && missing.iter().any(|m| errors.contains(m)) {
            return println!("skipped: {}", errors.trim());
        }
        assert!(output.status.success(), "{}: {errors}", path.display());
        let parts: BTreeMap<&str, &str> = text.split("=== ").skip(1).filter_map(|part| part.split_once('\n')).collect();

        let image = image(path);
        let kernel = Kernel::load(&image).unwrap();
        assert_eq!(parts.len(), image.programs.len() + 1, "{}", path.display());
        for program in &kernel.programs {
            let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", program.fd())).unwrap();
            let id = info.lines().find_map(|l| l.strip_prefix("prog_id:")).unwrap().trim();
            let ours = Command::new("bpftool").args(["prog", "dump", "xlated", "id", id]).output().unwrap();
            let ours = listing(&String::from_utf8_lossy(&ours.stdout));
            let theirs = listing(parts[program.name()]);
            assert!(!ours.is_empty());
            assert_eq!(ours, theirs, "{} {}", path.display(), program.name());
            compared += 1;
        }
        let used: std::collections::BTreeSet<usize> = image.programs.iter().flat_map(|p| p.maps()).collect();
        let number = |v: &Value, name: &str| v[name].as_u64().unwrap();
        let theirs = parts["maps"].lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
        let theirs: Vec<[u64; 5]> = shapes(theirs.map(|m| {
            let frozen = m["frozen"].as_u64().unwrap_or(0);
            // The kernel itself adds this flag to devmaps.
            let added = if m["type"].as_str().unwrap().starts_with("devmap") { map_flags::RDONLY_PROG } else { 0 };
            let flags = number(&m, "flags") & !u64::from(added);
            [number(&m, "bytes_key"), number(&m, "bytes_value"), number(&m, "max_entries"), flags, frozen]
        }));
        let shape = |m: &KernelMap| {
            let s = m.spec();
            [s.key_size, s.value_size, s.max_entries, s.flags, u32::from(s.frozen)].map(u64::from)
        };
        let ours = shapes(used.iter().map(|m| shape(&kernel.maps[*m])));
        assert_eq!(ours, theirs, "{}", path.display());
    }
    println!("{compared} programs compared");
}
