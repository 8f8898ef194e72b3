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
        assert_eq!(decode(Path::new("calc.json"), object.to_json().as_bytes(), &Reading::new(&target, "red")), Ok(object));
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
