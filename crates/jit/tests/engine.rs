//! The engine of a NIC with compiled programs answers as the one with the interpreter.

use crate::support::{packets, shipped};
use sluice_device::{Engine, Frame, Packet, Route, Stamped};
use sluice_ebpf::tenant::{self, Options};
use sluice_ebpf::{XdpEngine, load};
use sluice_formats::Target;
use sluice_formats::random::{Rng, test_seed};
use sluice_object::{Destination, Destinations, Install, PlacedXdp};

const MODULE: u8 = 3;

fn packet(frame: &[u8]) -> Packet {
    Packet {
        id: 0,
        port: 0,
        module: MODULE,
        tenant: 1,
        tci: 0,
        stamped: Stamped { generation: 1, system_generation: 0 },
        arrival: 5000,
        stamp: 0,
        first_in: 0,
        conform: true,
        frame: Frame::new(frame.to_vec(), false),
        route: Route::default(),
        given: Vec::new(),
    }
}

#[test]
fn an_engine_with_compiled_programs_answers_the_same() {
    let mut rng = Rng::new(test_seed("jit_engine"));
    let (mut installed, mut sent) = (0, 0);
    for path in shipped("o") {
        let image = load::load(&std::fs::read(&path).unwrap()).unwrap();
        // Objects of several programs, or with sizes left open, are not this test's.
        let Ok(object) = tenant::object("red", &image, &Options::default()) else { continue };
        let placed = PlacedXdp {
            xdp: *object.parts.xdp.unwrap(),
            kept: Default::default(),
            pass: Some(Destination::Host(0)),
            granted: Destinations::default(),
            work: Some(1 << 16),
            growth: None,
            starts: Vec::new(),
        };
        let install = Install::Xdp(Box::new(placed));
        let target = Target::by_name("default").unwrap();
        let mut engines = [XdpEngine::new(*target), XdpEngine::new(*target).executed_by(sluice_jit::executor)];
        for engine in &mut engines {
            engine.install(MODULE, 1, &install).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
            engine.commit(MODULE, 1);
        }
        assert_eq!(engines[1].interpreted(MODULE, 1), [] as [String; 0], "{}", path.display());
        installed += 1;
        for _ in 0..100 {
            let frame = packets::frame(&mut rng);
            let [(a, first), (b, second)] = engines.each_mut().map(|engine| {
                let mut packet = packet(&frame);
                (engine.run(&mut packet), packet)
            });
            let shown = |answer, packet: &Packet| format!("{answer:?} {:?} {:?}", packet.frame.bytes(), packet.route);
            assert_eq!(shown(a, &first), shown(b, &second), "{}", path.display());
            sent += 1;
        }
        let counts = engines.each_mut().map(|engine| engine.maps().unwrap().counts(MODULE).unwrap());
        assert_eq!(format!("{:?}", counts[0]), format!("{:?}", counts[1]), "{}", path.display());
        engines[1].remove(MODULE, 1);
    }
    println!("{installed} programs, {sent} packets");
    assert!(installed > 15);
}
