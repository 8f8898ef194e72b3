//! Sessions of clones, groups and nodes of multicast.

use std::collections::BTreeMap;

/// A node of multicast: its number goes with each copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub rid: u16,
    pub ports: Vec<u16>,
}

/// Where copies of a session go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    Port(u16),
    Group(u16),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Replication {
    pub sessions: BTreeMap<u32, Session>,
    pub groups: BTreeMap<u16, Vec<usize>>,
    pub nodes: Vec<Node>,
}

impl Replication {
    /// Ports of a group with the numbers of their nodes.
    pub fn copies(&self, group: u16) -> Vec<(u16, u16)> {
        let nodes = self.groups.get(&group).into_iter().flatten();
        nodes.filter_map(|at| self.nodes.get(*at)).flat_map(|n| n.ports.iter().map(|p| (*p, n.rid))).collect()
    }

    /// Ports of a session, with the numbers of nodes if it leads to a group.
    pub fn clones(&self, session: u32) -> Vec<(u16, u16)> {
        match self.sessions.get(&session) {
            Some(Session::Port(port)) => vec![(*port, 0)],
            Some(Session::Group(group)) => self.copies(*group),
            None => Vec::new(),
        }
    }
}
