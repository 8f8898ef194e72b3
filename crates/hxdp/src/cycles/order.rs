//! The order in which packets leave.

use super::Order;
use std::collections::{HashMap, VecDeque};

/// Packets that have a ticket, by what keeps them in order.
#[derive(Debug)]
pub struct Tickets {
    order: Order,
    queues: HashMap<u32, VecDeque<usize>>,
}

impl Tickets {
    /// Without packets.
    pub fn new(order: Order) -> Self {
        Self { order, queues: HashMap::new() }
    }

    fn bucket(&self, flow: u32) -> Option<u32> {
        match self.order {
            Order::None => None,
            Order::Tickets(buckets) => Some(flow % buckets.max(1)),
            Order::Arrival => Some(0),
        }
    }

    /// A packet is dispatched.
    pub fn take(&mut self, flow: u32, packet: usize) {
        if let Some(bucket) = self.bucket(flow) {
            self.queues.entry(bucket).or_default().push_back(packet);
        }
    }

    /// Whether none is before it.
    pub fn is_first(&self, flow: u32, packet: usize) -> bool {
        let Some(bucket) = self.bucket(flow) else { return true };
        self.queues.get(&bucket).and_then(VecDeque::front) == Some(&packet)
    }

    /// A packet leaves, or is dropped out of the midst.
    pub fn give_back(&mut self, flow: u32, packet: usize) {
        let Some(bucket) = self.bucket(flow) else { return };
        let queue = self.queues.entry(bucket).or_default();
        queue.retain(|other| *other != packet);
        if queue.is_empty() {
            self.queues.remove(&bucket);
        }
    }
}
