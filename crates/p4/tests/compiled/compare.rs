//! One program on both: the compiler may refuse it, but what it takes gives the packets of the reference, and keeps the same.

use sluice_p4::stf::{Carrier, Script};
use sluice_p4::{Allowed, Compiled, Model, Program, Reader, Traffic, Undefined};
use sluice_rmt::target::{DEFAULT, Target, WIDE};
use std::path::Path;

/// What came of a program.
#[derive(Debug)]
pub enum Came {
    /// Packets that went through, and those that left.
    Agreed(usize),
    Refused(String),
    /// A packet of which reference and model say different things.
    Wrong(String),
    /// It is no program: the generator's mistake.
    NoProgram(String),
}

/// What both wait for behind packets, in seconds.
const WAITS: [&str; 5] = ["0.00000001", "0.0000007", "0.00003", "0.001", "2"];

/// Ports that the pipeline has.
pub const PORTS: u16 = 8;

/// A target, and the first and the last stage that a program has of it.
pub type Place = (&'static Target, usize, usize);

/// All of the pipeline.
pub const ALONE: Place = (&DEFAULT, 0, 4);
/// Beside a system program.
pub const TENANT: Place = (&DEFAULT, 1, 3);
/// All of the long one.
pub const LONG: Place = (&WIDE, 0, 11);

/// A refusal; it stands at a line that has to do with it, and no program here begins with one.
fn refused(why: String) -> Came {
    assert!(!why.contains(".p4:1:1\n"), "a refusal that no line causes: {why}");
    Came::Refused(why)
}

/// Compiles a text for a place, and sends packets through both.
pub fn run(program: &str, entries: &str, place: Place, packets: &[(u16, Vec<u8>)]) -> Came {
    run_with(program, Allowed::default(), entries, place, packets)
}

/// The same where a part is enough.
pub fn run_with(program: &str, allowed: Allowed, entries: &str, place: Place, packets: &[(u16, Vec<u8>)]) -> Came {
    match Reader::new().text("random.p4", program).check(Path::new("random.p4")) {
        Ok(mut checked) => {
            checked.allow(allowed);
            compare(&checked, entries, place, packets)
        }
        Err(errors) => Came::NoProgram(errors.to_string()),
    }
}

/// A program on headers of three bytes: `apply` works on them, `locals` are its control's own.
pub fn framed(locals: &str, apply: &str) -> Program {
    let frame = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4");
    let reader = Reader::new().define("LOCALS", locals).define("APPLY", apply);
    reader.check(&frame).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A program with sluice.p4 on one header `h` of these fields.
pub fn on_header(fields: &str, locals: &str, ingress: &str, egress: &str) -> String {
    format!(
        "#include <core.p4>
        #include <v1model.p4>
        #include <sluice.p4>
        header h_t {{ {fields} }}
        struct headers_t {{ h_t h; }}
        struct meta_t {{ }}
        parser p(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
            state start {{ packet.extract(hdr.h); transition accept; }}
        }}
        control v(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control i(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
            {locals}
            apply {{ {ingress} }}
        }}
        control e(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{ {egress} }} }}
        control c(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control d(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr); }} }}
        V1Switch(p(), v(), i(), e(), c(), d()) main;"
    )
}

/// The same with a program that was read.
pub fn compare(checked: &Program, entries: &str, place: Place, packets: &[(u16, Vec<u8>)]) -> Came {
    compare_and(checked, entries, place, packets, &mut |_| ())
}

/// The same, and looks at what it was compiled to.
pub fn compare_and(
    checked: &Program,
    entries: &str,
    place: Place,
    packets: &[(u16, Vec<u8>)],
    see: &mut dyn FnMut(&Compiled),
) -> Came {
    let (target, first, last) = place;
    let mut reference = match checked.reference(Undefined::Zero, 1) {
        Ok(reference) => reference,
        Err(errors) => return Came::NoProgram(errors.to_string()),
    };
    let script = match Script::parse("random.stf", entries) {
        Ok(script) => script,
        Err(errors) => return Came::NoProgram(errors.to_string()),
    };
    let arrivals: Vec<u16> = packets.iter().map(|(port, _)| *port).collect();
    let traffic = Traffic { entries: &reference, script: Some(&script), arrivals: &arrivals };
    let compiled = match checked.compile_for(target, (first, last), Some(&traffic), &mut |_| ()) {
        Ok(compiled) => compiled,
        // A verifier has found a mistake of the compiler.
        Err(errors) if errors.code() == "E0798" => return Came::Wrong(errors.to_string()),
        Err(errors) => return refused(errors.to_string()),
    };
    see(&compiled);
    compiled.teach(&mut reference);
    let report = script.run(&mut reference);
    if !report.passed() {
        return Came::NoProgram(format!("{:?}", report.failures));
    }
    let mut model = Model::new(compiled);
    if let Err(why) = model.load(&reference) {
        return refused(why);
    }
    let waits = WAITS.map(|seconds| {
        let wait = Script::parse("wait.stf", &format!("wait {seconds}")).expect("a command");
        (wait, (seconds.parse::<f64>().expect("a number") * 1e9) as u64)
    });
    let (mut sent, mut time) = (0, 0);
    for (number, (port, bytes)) in packets.iter().enumerate() {
        if number % 4 == 3 {
            let (wait, nanoseconds) = &waits[number / 4 % waits.len()];
            wait.run(&mut reference);
            time += nanoseconds;
            model.set_time(time);
        }
        let mut expected = match reference.packet(*port, bytes) {
            Ok(expected) => expected,
            Err(why) => return Came::NoProgram(why),
        };
        // Copies are in order for each port.
        expected.sort_by_key(|copy| copy.port);
        let found = model.packet(*port, bytes).map(|mut copies| {
            copies.sort_by_key(|copy| copy.port);
            copies
        });
        if found.as_ref() != Ok(&expected) {
            return Came::Wrong(format!(
                "{bytes:02x?} from port {port}:\n  expected {expected:02x?}\n  found {found:02x?}"
            ));
        }
        sent += expected.len();
    }
    match model.differs(&reference) {
        Some(why) => Came::Wrong(why),
        None => Came::Agreed(sent),
    }
}
