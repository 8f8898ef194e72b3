//! AF_XDP: frames in memory that the driver, or the kernel for it, fills and sends from.

mod btf;
pub(crate) mod program;
mod queue;
mod ring;

pub(crate) use program::Steering;
pub(crate) use queue::{Bind, Queue, QueueOptions};
