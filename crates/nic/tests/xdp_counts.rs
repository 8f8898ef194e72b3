//! What the host reads of XDP programs' verdicts and instructions.

use crate::xdp_support::{Nic, frame, object};
use sluice_device::{DeviceError, Offer};
use sluice_ebpf::Verdict;
use sluice_ebpf::tenant::Options;
use sluice_formats::target::DEFAULT;
use sluice_nic::SoftwareNic;

/// Offers so many packets of a VLAN on port 1 and waits for them.
fn send(nic: &mut Nic, vlan: u16, packets: u32) {
    let offer = |n| Offer { port: 1, bytes: frame(vlan, 60, n), at: 0, bad: false };
    nic.device.offer_owned((0..packets).map(offer).collect()).unwrap();
    nic.rest();
}

#[test]
fn counts_are_the_modules_own_and_go_on_over_replacements() {
    let mut device = SoftwareNic::new(DEFAULT);
    let mut nic = Nic::new(&mut device, &[(1, 10), (2, 20)]);
    let [first, second] = [1, 2].map(|id| nic.module(id));
    assert_eq!(nic.device.maps().unwrap().counts(first), Err(DeviceError::NoProgram { module: first }));
    nic.load(1, &object("version_1.o", &Options::default()));
    nic.load(2, &object("tag.o", &Options::default()));
    send(&mut nic, 10, 5);
    send(&mut nic, 20, 3);
    nic.replace(1, &object("version_2.o", &Options::default()));
    send(&mut nic, 10, 2);
    let counters = nic.device.counters().unwrap();
    for (module, packets) in [(first, 7), (second, 3)] {
        let counts = nic.device.maps().unwrap().counts(module).unwrap();
        let offered = counters.modules[&module].offered;
        assert_eq!((counts.packets, offered), (packets, packets));
        assert_eq!(counts.verdicts.iter().sum::<u64>(), packets);
        let left = counts.verdicts[Verdict::Tx as usize] + counts.verdicts[Verdict::Redirect as usize];
        assert_eq!(left, counters.modules[&module].forwarded);
        assert_eq!(counts.instructions().map(|(_, n)| n).sum::<u64>(), packets);
        assert!(counts.instructions().all(|(instructions, _)| instructions > 1), "{counts:?}");
        assert!(counts.faults.is_empty());
    }
}
