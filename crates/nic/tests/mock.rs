//! The slow mock around the software NIC: shuffled by its seed, each queue in its order.

use sluice_device::mock::MockDevice;
use sluice_formats::target::TINY;
use sluice_nic::SoftwareNic;
use sluice_nic::conformance::{Bench, tagged_frame};

/// Polled order of 20 packets to two queues.
fn order(seed: u64) -> Vec<u32> {
    let mut device = MockDevice::new(SoftwareNic::new(TINY), seed);
    let mut bench = Bench::with_tenants(&mut device);
    for i in 0..10 {
        bench.offer(0, [tagged_frame(10, 60, i)]);
        bench.offer(1, [tagged_frame(20, 60, i)]);
    }
    bench.rest();
    bench.outcomes.iter().map(|o| o.id).collect()
}

#[test]
fn queues_are_shuffled_by_the_seed_and_each_keeps_its_order() {
    let orders: Vec<Vec<u32>> = (0..4).map(order).collect();
    assert_eq!(orders[1], order(1));
    assert!(orders.windows(2).any(|w| w[0] != w[1]));
    for order in orders {
        let of_port = |port| order.iter().filter(|id| *id >> 28 == port).copied().collect::<Vec<_>>();
        assert!(of_port(0).is_sorted() && of_port(1).is_sorted());
        assert!(!order.is_sorted());
    }
}
