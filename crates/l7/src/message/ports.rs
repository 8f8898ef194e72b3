//! What UDP ports are known to be.

use crate::rules::{Kind, Rules};

/// Who takes what comes to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// UDP destination port.
    pub port: u16,
    /// What it is.
    pub kind: Kind,
    /// Place in [`Rules::applications`].
    pub application: usize,
    /// Its rules change, and packets are dropped until then.
    pub updating: bool,
}

/// The ports of one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// By rising port.
    all: Vec<Known>,
}

impl Ports {
    /// Those that rules name.
    pub fn of(rules: &Rules) -> Self {
        let known = |(application, a): (usize, &crate::rules::Application)| Known {
            port: a.port,
            kind: a.kind,
            application,
            updating: false,
        };
        Self::new(rules.applications.iter().enumerate().map(known).collect())
    }

    /// These.
    pub fn new(mut all: Vec<Known>) -> Self {
        all.sort_by_key(|known| known.port);
        Self { all }
    }

    /// Says whether an application's rules are being changed.
    pub fn set_updating(&mut self, application: usize, updating: bool) {
        self.all
            .iter_mut()
            .filter(|known| known.application == application)
            .for_each(|known| known.updating = updating);
    }

    /// All that have a port: one, or applications with different IDs.
    pub fn at(&self, port: u16) -> &[Known] {
        let begin = self.all.partition_point(|known| known.port < port);
        let count = self.all[begin..].iter().take_while(|known| known.port == port).count();
        &self.all[begin..begin + count]
    }
}
