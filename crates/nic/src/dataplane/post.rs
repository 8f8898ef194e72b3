//! What workers give each other: packets whose tenant runs on another worker, and copies for destinations of another worker.
//!
//! Each worker has a box, behind a lock that is taken once a round. How much of one tenant may be under way to a worker is bounded, so
//! no tenant fills a box for the others.

use sluice_device::Packet;
use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Packets of one tenant that may be under way to a worker, of each kind.
pub(super) const MOST_UNDER_WAY: u32 = 1024;
/// Modules have 6 bits.
const MODULES: usize = 64;

/// What is under way to another worker.
#[derive(Debug)]
pub(super) enum Mail {
    /// A packet that goes through the engines there.
    Packet(Box<Packet>),
    /// A packet that has been through them, with those of its destinations that are there.
    Copies(Box<Packet>, u8),
}

impl Mail {
    /// Kind, module, and how many packets or copies it is.
    fn counted(&self) -> (usize, usize, u32) {
        match self {
            Self::Packet(packet) => (0, usize::from(packet.module) % MODULES, 1),
            Self::Copies(packet, to) => (1, usize::from(packet.module) % MODULES, to.count_ones()),
        }
    }
}

/// One worker's box.
#[derive(Debug)]
struct Inbox {
    mail: Mutex<Vec<Mail>>,
    /// Of both kinds by module: given to [`Post::send`] and not taken out by [`Post::collect`].
    under_way: [[AtomicU32; MODULES]; 2],
}

impl Default for Inbox {
    fn default() -> Self {
        let zeros = || std::array::from_fn(|_| AtomicU32::new(0));
        Self { mail: Mutex::default(), under_way: [zeros(), zeros()] }
    }
}

/// The boxes of all workers.
#[derive(Clone, Debug)]
pub(super) struct Boxes(Arc<[Inbox]>);

impl Boxes {
    /// Empty ones.
    pub fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Inbox::default()).collect())
    }

    /// Packets and copies of a module that are under way.
    pub fn of_module(&self, module: u8) -> u64 {
        let kinds = self.0.iter().flat_map(|inbox| &inbox.under_way);
        kinds.map(|kind| u64::from(kind[usize::from(module) % MODULES].load(Ordering::Acquire))).sum()
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        (0..MODULES as u8).all(|module| self.of_module(module) == 0)
    }
}

/// A worker's part of the post.
#[derive(Debug)]
pub(super) struct Post {
    /// Its number.
    worker: usize,
    boxes: Boxes,
    /// By worker: what goes there with the next [`Post::flush`].
    out: Vec<Vec<Mail>>,
    /// Taken out of the own box, and left for later.
    came: VecDeque<Mail>,
    /// By worker: the destinations whose queues are there.
    destinations: Vec<u8>,
    /// Nothing is turned away for want of room, and who takes in looks at the room instead: so it is but for interfaces, which do not wait.
    pub patient: bool,
    /// By module: the worker that runs all of its packets, where they are not run where they arrive.
    homes: [Option<u8>; MODULES],
}

impl Post {
    /// Of this worker.
    pub fn new(worker: usize, boxes: Boxes) -> Self {
        let workers = boxes.0.len();
        let out = (0..workers).map(|_| Vec::new()).collect();
        let of = |worker| (0..8).filter(|d| d % workers == worker).fold(0, |mask, d| mask | 1 << d);
        let destinations = (0..workers).map(of).collect();
        Self { worker, boxes, out, came: VecDeque::new(), destinations, patient: true, homes: [None; MODULES] }
    }

    /// The boxes of all workers.
    pub fn boxes(&self) -> &Boxes {
        &self.boxes
    }

    /// Where packets of a module are run: a worker that is not this one.
    #[inline]
    pub fn elsewhere(&self, module: u8) -> Option<usize> {
        self.homes[usize::from(module) % MODULES].map(usize::from).filter(|home| *home != self.worker)
    }

    /// All of a module's packets are this worker's from now on; none: they are run where they arrive.
    pub fn set_home(&mut self, module: u8, home: Option<u8>) {
        self.homes[usize::from(module) % MODULES] = home;
    }

    /// Of these destinations those of a worker.
    #[inline]
    pub fn at(&self, destinations: u8, worker: usize) -> u8 {
        destinations & self.destinations[worker]
    }

    /// Of these destinations those of this worker.
    pub fn here(&self, destinations: u8) -> u8 {
        self.at(destinations, self.worker)
    }

    /// Workers.
    pub fn workers(&self) -> usize {
        self.boxes.0.len()
    }

    /// Sends something; it comes back where too much of its tenant is under way already.
    pub fn send(&mut self, to: usize, mail: Mail) -> Result<(), Mail> {
        let (kind, module, amount) = mail.counted();
        let under_way = &self.boxes.0[to].under_way[kind][module];
        if under_way.load(Ordering::Relaxed) >= MOST_UNDER_WAY && !self.patient {
            return Err(mail);
        }
        under_way.fetch_add(amount, Ordering::AcqRel);
        self.out[to].push(mail);
        Ok(())
    }

    /// Puts what was sent into its boxes; the workers that have got something, as a mask.
    pub fn flush(&mut self) -> u64 {
        let mut reached = 0;
        for (to, out) in self.out.iter_mut().enumerate().filter(|(_, out)| !out.is_empty()) {
            self.boxes.0[to].mail.lock().unwrap_or_else(PoisonError::into_inner).append(out);
            reached |= 1 << to;
        }
        reached
    }

    /// Whether something has come.
    pub fn has_mail(&self) -> bool {
        !self.came.is_empty()
            || !self.boxes.0[self.worker].mail.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes out what has come, after what was left the last time. What is dealt with is told by [`Post::done`], and the rest is given
    /// back by [`Post::leave`].
    pub fn collect(&mut self) -> VecDeque<Mail> {
        let mut came = mem::take(&mut self.came);
        let mut inbox = self.boxes.0[self.worker].mail.lock().unwrap_or_else(PoisonError::into_inner);
        came.extend(inbox.drain(..));
        came
    }

    /// This is not under way any more.
    pub fn done(&mut self, mail: &Mail) {
        let (kind, module, amount) = mail.counted();
        self.boxes.0[self.worker].under_way[kind][module].fetch_sub(amount, Ordering::AcqRel);
    }

    /// What stays for later.
    pub fn leave(&mut self, left: VecDeque<Mail>) {
        self.came = left;
    }

    /// How many packets should be sent home at most, before they go through the engines.
    pub fn room_for_packets(&self) -> usize {
        self.room(0)
    }

    /// How many packets behind the engines should be given out at most.
    pub fn room_for_copies(&self) -> usize {
        if self.patient { self.room(1) / 8 } else { usize::MAX }
    }

    fn room(&self, kind: usize) -> usize {
        let counts = self.boxes.0.iter().flat_map(|inbox| &inbox.under_way[kind]);
        let most = counts.map(|count| count.load(Ordering::Relaxed)).max().unwrap_or(0);
        MOST_UNDER_WAY.saturating_sub(most) as usize / self.boxes.0.len()
    }
}
