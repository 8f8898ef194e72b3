use super::*;
use sluice_formats::target::{DEFAULT, TINY};
use std::path::PathBuf;

fn calc() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt/calc.rmt")
}

#[test]
fn a_module_becomes_an_object_for_the_target_and_an_object_stays_one() {
    for target in [DEFAULT, TINY] {
        let object = read(&calc(), &Reading::new(&target, "red")).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((object.name.as_str(), object.parts.rmt.is_some()), ("calc", true));
        let again = decode(Path::new("calc.slob"), &object.to_binary(), &Reading::new(&target, "red"));
        assert_eq!(again, Ok(object.clone()));
        assert_eq!(
            decode(Path::new("calc.json"), object.to_json().as_bytes(), &Reading::new(&target, "red")),
            Ok(object)
        );
    }
}

#[test]
fn mistakes_have_file_and_code() {
    let error = read(Path::new("/nowhere/x.rmt"), &Reading::new(&TINY, "red")).unwrap_err();
    assert_eq!(error.code, "E0305");
    assert!(error.what.starts_with("/nowhere/x.rmt: "), "{error}");
    let error = decode(Path::new("x.rmt"), b"module x\nfoo\n", &Reading::new(&TINY, "red")).unwrap_err();
    assert!(error.code.starts_with("E06") && error.what.contains("x.rmt:"), "{error}");
    let error = decode(Path::new("x.json"), b"{}", &Reading::new(&TINY, "red")).unwrap_err();
    assert!(error.code.starts_with("E02") && error.what.starts_with("x.json: "), "{error}");
}

fn swap() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp/swap/swap.o")
}

#[test]
fn an_object_file_of_clangs_is_known_by_its_bytes_whatever_its_name() {
    let elf = std::fs::read(swap()).unwrap_or_else(|e| panic!("{e}"));
    for name in ["swap.o", "swap.rmt", "swap.json", "swap"] {
        assert_eq!(Kind::of(Path::new(name), &elf), Kind::Elf);
        let object = decode(Path::new(name), &elf, &Reading::new(&TINY, "red")).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((object.name.as_str(), object.parts.xdp.is_some()), ("red", true));
    }
}

#[test]
fn options_of_a_program_for_another_file_are_refused() {
    let xdp = tenant::Options { section: Some("xdp".to_owned()), ..tenant::Options::default() };
    let reading = Reading { xdp, ..Reading::new(&TINY, "red") };
    let error = read(&calc(), &reading).unwrap_err();
    assert_eq!(error.code, "E0471");
    assert!(error.what.contains("calc.rmt: options of an XDP program"), "{error}");
    assert!(read(&swap(), &reading).is_ok());
}

fn object_of(path: PathBuf) -> Object {
    read(&path, &Reading::new(&TINY, "red")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_file_replaces_its_own_engines_program_of_a_tenant_with_two() {
    let (module, program) = (object_of(calc()), object_of(swap()));
    let both = module.clone().join(program.clone()).unwrap();
    let after = |path: PathBuf, running: &Object| successor(&path, Some(running), &[], &[], &TINY).unwrap();
    let qos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt/qos.rmt");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp/drop/drop.o");

    let replaced = after(qos.clone(), &both);
    assert_eq!(replaced.parts.rmt, object_of(qos.clone()).parts.rmt);
    assert_eq!(replaced.parts.xdp, both.parts.xdp);
    let replaced = after(other.clone(), &both);
    assert_eq!(replaced.parts.rmt, both.parts.rmt);
    assert_eq!(replaced.parts.xdp.unwrap().programs, object_of(other.clone()).parts.xdp.unwrap().programs);

    // A tenant with one program has the new one alone, whichever engine it is for.
    assert_eq!(after(other, &module).parts.rmt, None);
    assert_eq!(after(qos, &program).parts.xdp, None);
}

#[test]
fn what_does_not_go_together_is_refused_in_words() {
    let (module, program) = (object_of(calc()), object_of(swap()));
    let mut table = Object::new("table", sluice_object::KeySpec::NONE, sluice_object::Action::DROP);
    table.demands.entries = 0;
    let refused = |a: &Object, b: &Object| a.clone().join(b.clone()).unwrap_err().to_string();
    assert!(refused(&module, &module).contains("both for the engine rmt"), "{}", refused(&module, &module));
    assert!(refused(&module, &table).contains("`table`, a table"), "{}", refused(&module, &table));
    let elsewhere = read(&calc(), &Reading::new(&DEFAULT, "red")).unwrap();
    let mut here = program.clone();
    here.target = module.target.clone();
    assert!(refused(&elsewhere, &here).contains("different targets"));
    // In either order it is the same program, under the first one's name.
    let (one, another) = (module.clone().join(program.clone()).unwrap(), program.join(module).unwrap());
    assert_eq!((one.parts, one.demands, one.default), (another.parts, another.demands, another.default));
}
