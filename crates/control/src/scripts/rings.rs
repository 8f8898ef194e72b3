//! Rings in scripts: opened and closed through the linker, messages taken when nothing is in flight.

use super::ScriptFailure;
use super::runner::Runner;
use sluice_device::Message;
use sluice_formats::l7::codes::L7Status;
use sluice_packet::notation::{Pattern, diff, print_packet};
use sluice_packet::script::RingOperation;
use std::collections::{BTreeMap, VecDeque};

/// Rings that were opened, by module and number, with the messages that nobody has asked for.
#[derive(Debug, Default)]
pub(super) struct Rings {
    open: BTreeMap<(u8, u8), VecDeque<Message>>,
    /// Messages taken.
    pub taken: u64,
}

impl Runner<'_> {
    /// Carries out a `ring` statement.
    pub(super) fn ring(&mut self, tenant: &str, queue: u8, operation: RingOperation) -> Result<(), ScriptFailure> {
        let id = self.id(tenant)?;
        let (module, ring) = (self.module(tenant)?, self.ring_number(tenant, queue)?);
        match operation {
            RingOperation::Open { size } => {
                let memory = self.device.rings()?.give_memory(module, ring, size.ilog2() as u8)?;
                let load = self.linker.open_ring(id, queue, memory)?;
                self.run_load(&load)?;
                self.messages.open.entry((module, ring)).or_default();
                Ok(())
            }
            RingOperation::Post { count, bytes } => {
                // What was sent before finds the buffers as they were.
                self.rest()?;
                Ok(self.device.rings()?.post(module, ring, &vec![bytes; count as usize])?)
            }
            RingOperation::Close => {
                self.rest()?;
                let load = self.linker.close_ring(id, queue)?;
                self.run_load(&load)
            }
        }
    }

    /// The device's number of the ring of a tenant's queue.
    fn ring_number(&self, tenant: &str, queue: u8) -> Result<u8, ScriptFailure> {
        let rings = self.linker.rings(self.id(tenant)?)?;
        rings.clone().nth(queue.into()).map(|ring| ring as u8).ok_or_else(|| {
            let allowed = match rings.len() {
                0 => "no queue: it has no rules".to_owned(),
                n => format!("0 to {}, as its rules have them", n - 1),
            };
            ScriptFailure::value(format!("queue of a ring of `{tenant}`"), queue, allowed)
        })
    }

    /// Takes what is in rings.
    pub(super) fn take_messages(&mut self) -> Result<(), ScriptFailure> {
        for ((module, ring), waiting) in &mut self.messages.open {
            let messages = self.device.rings()?.take(*module, *ring, usize::MAX)?;
            self.messages.taken += messages.len() as u64;
            waiting.extend(messages);
        }
        Ok(())
    }

    /// Takes the next messages of a ring, which are such, or were given up.
    pub(super) fn expect_messages(
        &mut self,
        tenant: &str,
        queue: u8,
        count: u64,
        pattern: Option<&Pattern>,
    ) -> Result<(), ScriptFailure> {
        let key = (self.module(tenant)?, self.ring_number(tenant, queue)?);
        self.rest()?;
        let Some(waiting) = self.messages.open.get_mut(&key) else {
            let found = format!("queue {queue} of `{tenant}`, whose ring was never opened");
            return Err(ScriptFailure::value("expect ring", found, format!("`ring {tenant} {queue} open` before")));
        };
        for i in 0..count {
            let is_it = waiting.front().is_some_and(|message| match (pattern, message.status) {
                (Some(pattern), L7Status::Whole) => pattern.matches(&message.bytes),
                (pattern, status) => pattern.is_none() && status == L7Status::Expired,
            });
            if !is_it {
                let what = pattern.map_or("expired".to_owned(), ToString::to_string);
                let expected = format!("message {} of {count} in ring {queue} of {tenant}: {what}", i + 1);
                let found = match (waiting.front(), pattern) {
                    (None, _) => "nothing".to_owned(),
                    (Some(message), Some(pattern)) if message.status == L7Status::Whole => {
                        format!("{}\n{}", shown(message), diff(&pattern.bytes, &message.bytes))
                    }
                    (Some(message), _) => shown(message),
                };
                return Err(ScriptFailure::Expectation { expected, found });
            }
            waiting.pop_front();
        }
        Ok(())
    }

    /// Messages that nobody asked for, and forgets them.
    pub(super) fn messages_left(&mut self) -> Vec<String> {
        let left = self.messages.open.iter_mut().filter_map(|((module, ring), waiting)| {
            let first = shown(waiting.front()?);
            Some(format!("{} messages in ring {ring} (module {module}), first {first}", std::mem::take(waiting).len()))
        });
        left.collect()
    }
}

fn shown(message: &Message) -> String {
    match message.status {
        L7Status::Whole => print_packet(&message.bytes),
        L7Status::Expired => format!("message {} expired", message.completion.message),
    }
}
