//! `--btf`: objects whose CO-RE relocations are against a kernel's types.

use crate::common::{Folder, json};

const OBJECT: &str = "asks.o";
const THERE: &str = "there.btf";
const KINDS: &str = "core_kinds.o";
const CAPTURE: &str = "programs/nic/mixed.pcapng";

/// A folder with the objects, and the types of a kernel.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(OBJECT, include_bytes!("../../ebpf/tests/objects/core/asks.o"));
    folder.write(THERE, include_bytes!("../../ebpf/tests/objects/core/there.btf"));
    folder.write(KINDS, include_bytes!("../../ebpf/tests/objects/core_kinds.o"));
    folder
}

#[test]
fn an_object_that_asks_a_kernel_needs_its_types() {
    let folder = folder();
    let refused = folder.sluice(&["xdp", "compile", OBJECT]);
    assert!(refused.code == 2 && refused.err.contains("--btf FILE"), "{}", refused.err);
    assert!(refused.err.contains("E0405") && refused.err.contains("`moved.b`"), "{}", refused.err);
    // Of an object with others the programs that are left out are told with their place.
    let some = folder.sluice(&["xdp", "compile", KINDS]);
    assert!(some.err.contains("program `enum_value` is refused") && some.err.contains("core_kinds.c:"), "{}", some.err);
    let with = folder.sluice(&["xdp", "compile", OBJECT, "--btf", THERE, "--program", "offset", "--json"]);
    assert!(with.err.contains("whose BTF has the FNV-1a hash"), "{}", with.err);
    assert!(json(&with.ok())["programs"][0]["refused"].is_null());
    let poisoned = folder.sluice(&["xdp", "compile", OBJECT, "--btf", THERE, "--program", "poison_load", "--json"]);
    assert!(poisoned.code == 1 && poisoned.out.contains("E0805"), "{}", poisoned.out);
}

#[test]
fn a_run_answers_with_the_types_that_are_given() {
    let folder = folder();
    let run = |program: &str| {
        let line =
            ["xdp", "run", OBJECT, "--btf", THERE, "--program", program, "--in", CAPTURE, "--limit", "9", "--json"];
        json(&folder.sluice(&line).ok())["programs"][0]["verdicts"].clone()
    };
    // XDP_DROP is what `exists` answers with 1; a missing field ends in a fault.
    assert_eq!(run("exists")["drop"], 9);
    assert_eq!(run("poison_enum")["aborted"], 9);
}

#[test]
fn a_run_asks_the_running_kernel_where_it_has_types() {
    if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        return println!("skipped: no BTF of a kernel");
    }
    let line = ["xdp", "run", KINDS, "--program", "enum_value", "--in", CAPTURE, "--limit", "9", "--json"];
    let run = json(&folder().sluice(&line).ok());
    // XDP_TX, which the object declares as 9.
    assert_eq!(run["programs"][0]["verdicts"]["tx"], 9);
}

#[test]
fn types_that_cannot_be_read_are_refused() {
    let refused = folder().sluice(&["xdp", "check", OBJECT, "--btf", OBJECT]);
    assert!(refused.code == 2 && refused.err.contains("E0413"), "{}", refused.err);
    assert!(refused.err.contains("the kernel's BTF"), "{}", refused.err);
}
