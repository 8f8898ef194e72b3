//! What another thread reads, for somebody who has more to do than to wait for it.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Most items that are read ahead.
const AHEAD: usize = 1024;

/// Items that a thread of their own reads, in their order.
#[derive(Debug)]
pub struct Fed<T, E> {
    items: Receiver<Result<T, E>>,
}

/// What there is now.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// The next item.
    Item(T),
    /// Nothing yet; ask again.
    Later,
    /// Nothing ever again.
    End,
}

/// Where the thread puts what it reads.
#[derive(Debug)]
pub struct Feeder<T, E> {
    items: SyncSender<Result<T, E>>,
}

impl<T, E> Feeder<T, E> {
    /// Waits until there is room; false when nobody wants any more.
    pub fn put(&self, item: T) -> bool {
        self.items.send(Ok(item)).is_ok()
    }
}

impl<T: Send + 'static, E: Send + 'static> Fed<T, E> {
    /// Begins to read. What `read` returns with, if it is an error, comes after the items.
    pub fn start(read: impl FnOnce(&Feeder<T, E>) -> Result<(), E> + Send + 'static) -> io::Result<Self> {
        let (sender, items) = sync_channel(AHEAD);
        thread::Builder::new().name("capture".to_owned()).spawn(move || {
            let feeder = Feeder { items: sender };
            if let Err(error) = read(&feeder) {
                // Nobody may be left who asks.
                let _ = feeder.items.send(Err(error));
            }
        })?;
        Ok(Self { items })
    }

    /// The next item, for which this waits for as long as `patience`.
    pub fn next(&mut self, patience: Duration) -> Result<Next<T>, E> {
        match self.items.recv_timeout(patience) {
            Ok(Ok(item)) => Ok(Next::Item(item)),
            Ok(Err(error)) => Err(error),
            Err(RecvTimeoutError::Timeout) => Ok(Next::Later),
            Err(RecvTimeoutError::Disconnected) => Ok(Next::End),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn items_come_in_their_order_then_the_error_then_the_end() {
        let (gate, opened) = channel::<()>();
        let mut fed = Fed::start(move |feeder| {
            (0..3000).all(|n| feeder.put(n));
            opened.recv().unwrap();
            Err("broken")
        })
        .unwrap();
        for n in 0..3000 {
            assert_eq!(fed.next(Duration::from_secs(5)), Ok(Next::Item(n)));
        }
        assert_eq!(fed.next(Duration::ZERO), Ok(Next::Later));
        gate.send(()).unwrap();
        assert_eq!(fed.next(Duration::from_secs(5)), Err("broken"));
        assert_eq!(fed.next(Duration::from_secs(5)), Ok(Next::End));
    }

    #[test]
    fn a_thread_whose_items_nobody_takes_ends() {
        let (ended, end) = channel();
        let fed: Fed<u32, ()> = Fed::start(move |feeder| {
            while feeder.put(1) {}
            ended.send(()).unwrap();
            Ok(())
        })
        .unwrap();
        drop(fed);
        end.recv_timeout(Duration::from_secs(5)).unwrap();
    }
}
