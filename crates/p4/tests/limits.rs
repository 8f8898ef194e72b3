//! What is nested, repeated or huge without end is refused in words, and soon.

use sluice_p4::{P4Errors, Reader};
use std::path::Path;
use std::time::{Duration, Instant};

/// Checks a text; a second a kilobyte is the most that it may take.
fn check(text: &str) -> Result<(), P4Errors> {
    let begin = Instant::now();
    let result = Reader::new().text("limit.p4", text).check(Path::new("limit.p4")).map(|_| ());
    let allowed = Duration::from_secs(1).mul_f64((text.len() as f64 / 1024.0).max(1.0));
    assert!(begin.elapsed() < allowed, "{:?} for {} bytes", begin.elapsed(), text.len());
    result
}

fn code(text: &str) -> &'static str {
    check(text).expect_err("it is refused").code()
}

#[test]
fn deep_nesting_is_refused_in_words() {
    let nested = |open: &str, inner: &str, close: &str| {
        format!("const int x = {}{inner}{};", open.repeat(100_000), close.repeat(100_000))
    };
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("-", "1", ""),
        ("{", "", "}"),
        ("f(", "1", ")"),
        ("(bit<8>)", "1", ""),
        ("", "1", " + 1"),
        ("", "x", ".a"),
        ("true ? 1 : ", "1", ""),
        ("1 + (", "1", ")"),
        ("x[", "1", "]"),
        ("f<", "bit", ">(1)"),
    ] {
        assert_eq!(code(&nested(open, inner, close)), "E0708", "{open}{inner}{close}");
    }
    assert_eq!(code(&format!("typedef {}bit<8>{} t;", "tuple<".repeat(1000), ">".repeat(1000))), "E0708");
    assert_eq!(code(&format!("typedef bit<8>{} t;", "[2]".repeat(1000))), "E0708");
    assert_eq!(code(&format!("control c() {{ apply {} {} }}", "{".repeat(1000), "}".repeat(1000))), "E0708");
    assert_eq!(code(&format!("control c() {{ apply {{ {} }} }}", "if (true) ".repeat(1000))), "E0708");
}

#[test]
fn trying_whether_types_follow_does_not_double_with_each_level() {
    for piece in ["f<bit<(f<bit<(", "f<t<(f<t<", "a < (a < ("] {
        let text = format!("struct t {{ }} const int x = {};", piece.repeat(40));
        check(&text).expect_err("it is no program");
    }
}

#[test]
fn types_that_double_with_each_name_are_refused() {
    let mut text = "typedef bit<8> t0;\n".to_string();
    for i in 0..60 {
        text += &format!("typedef tuple<t{i}, t{i}> t{};\n", i + 1);
    }
    assert_eq!(code(&text), "E0708");
    let mut text = "T two<T>(in T x) { return x; }\nstruct s0 { bit<8> a; }\n".to_string();
    for i in 0..60 {
        text += &format!("struct s{} {{ s{i} a; s{i} b; }}\n", i + 1);
    }
    check(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(code(&(text + "control c(in s60 x, in s60 y, out bool b) { apply { b = x == y; } }\n")), "E0708");
}

#[test]
fn macros_that_double_are_refused() {
    let mut text = "#define m0 1 + 1\n".to_string();
    for i in 0..60 {
        text += &format!("#define m{} m{i} + m{i}\n", i + 1);
    }
    assert_eq!(code(&(text + "const int x = m60;\n")), "E0704");
    let mut text = "#define f0(x) x x\n".to_string();
    for i in 0..60 {
        text += &format!("#define f{}(x) f{i}(f{i}(x))\n", i + 1);
    }
    assert_eq!(code(&(text + "f60(1)\n")), "E0704");
    let deep = format!("#define f(x) x\nconst int x = {}1{};", "f(".repeat(5000), ")".repeat(5000));
    assert_eq!(code(&deep), "E0704");
    // A macro that names itself is a name.
    check("#define again again\nconst bit<8> again = 1;\n").unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn files_that_include_each_other_are_refused() {
    let reader = Reader::new().text("a.p4", "#include \"b.p4\"\n").text("b.p4", "#include \"a.p4\"\n");
    let errors = reader.check(Path::new("a.p4")).expect_err("it has no end");
    assert_eq!(errors.code(), "E0701");
    assert!(errors.to_string().contains("included at"), "{errors}");
    let mut reader = Reader::new().text("f0.p4", "");
    for i in 0..40 {
        let twice = format!("#include \"f{i}.p4\"\n").repeat(2);
        reader = reader.text(format!("f{}.p4", i + 1), twice);
    }
    let errors = reader.check(Path::new("f40.p4")).expect_err("it is read 2^40 times");
    assert_eq!(errors.code(), "E0701");
}

#[test]
fn huge_constants_are_refused() {
    let mut text = "const int c0 = 12345;\n".to_string();
    for i in 0..60 {
        text += &format!("const int c{} = c{i} * c{i};\n", i + 1);
    }
    assert_eq!(code(&text), "E0742");
    assert_eq!(code("const int x = 1 << (1 << 60);"), "E0742");
    assert_eq!(code(&format!("const int x = {};", "9".repeat(100_000))), "E0706");
    assert_eq!(code("const bit<99999999999999999999> x = 1;"), "E0741");
}

#[test]
fn many_mistakes_end_the_reading() {
    let text = "const bit<8> x = true;\n".repeat(5000);
    let errors = check(&text).expect_err("all of them are wrong");
    assert_eq!(errors.0.len(), sluice_p4::MOST_ERRORS);
}

#[test]
fn long_programs_take_no_longer_by_the_line() {
    let mut text = String::new();
    for i in 0..5000 {
        text += &format!("header h{i} {{ bit<8> a; }} action a{i}(inout h{i} h) {{ h.a = h.a + 1; }}\n");
    }
    let begin = Instant::now();
    check(&text).unwrap_or_else(|e| panic!("{e}"));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn chains_of_declarations_do_not_go_down_without_end() {
    let chain = |first: &str, next: &dyn Fn(usize) -> String| {
        let mut text = first.to_string();
        for i in 0..5000 {
            text += &next(i);
        }
        text
    };
    let tuples = chain("typedef bit<8> t0;\n", &|i| format!("typedef tuple<t{i}> t{};\n", i + 1));
    assert_eq!(code(&tuples), "E0708");
    let structs = chain("struct s0 { bit<8> a; }\n", &|i| format!("struct s{} {{ s{i} a; }}\n", i + 1));
    let compared = structs + "control c(in s5000 x, in s5000 y, out bool b) { apply { b = x == y; } }\n";
    assert_eq!(code(&compared), "E0708");
    let types = chain("type bit<8> n0;\n", &|i| format!("type n{i} n{};\n", i + 1));
    let keyed = types + "parser p(in n5000 x) { state start { transition select(x) { _: accept; } } }\n";
    assert_eq!(code(&keyed), "E0708");
    let constants = chain("const int c0 = 1;\n", &|i| format!("const int c{} = c{i} + 1;\n", i + 1));
    check(&constants).unwrap_or_else(|e| panic!("{e}"));
    let calls = chain("bit<8> f0(in bit<8> x) { return x; }\n", &|i| {
        format!("bit<8> f{}(in bit<8> x) {{ return f{i}(x); }}\n", i + 1)
    });
    check(&calls).unwrap_or_else(|e| panic!("{e}"));
}
