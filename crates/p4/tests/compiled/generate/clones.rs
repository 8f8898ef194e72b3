//! Clones. One that is another packet than its original is refused, so that a program has them where they are the same, or where the
//! original is dropped.

use super::Maker;

/// How a program clones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clones {
    /// Of ingress, which writes no header.
    Quiet,
    /// Of ingress, and the original is dropped.
    Dropped,
    /// Of egress, which works on originals alone.
    Egress,
}

/// Sessions that a program clones to; the last is one that nobody makes.
const SESSIONS: [u16; 3] = [5, 7, 9];
/// Ports that packets themselves leave by; clones have the others.
pub const ORIGINALS: usize = 5;

impl Maker<'_> {
    pub fn clones(&mut self) {
        if self.chance(7) {
            self.clones = Some([Clones::Quiet, Clones::Dropped, Clones::Egress][self.rng.index(3)]);
        }
    }

    /// Whether no statement may write a header.
    pub fn is_quiet(&self) -> bool {
        self.clones == Some(Clones::Quiet) && matches!(self.control, "Enter" | "Sub" | "Plain")
    }

    fn session(&mut self) -> u16 {
        let count = if self.chance(4) { 3 } else { 2 };
        SESSIONS[self.rng.index(count)]
    }

    fn call(&mut self, kind: &str) -> String {
        let session = self.session();
        match self.rng.below(4) {
            0 => {
                self.mark("clone: of a field list");
                format!("clone_preserving_field_list(CloneType.{kind}, {session}, 1);")
            }
            1 => {
                self.mark("clone: clone3");
                format!("clone3(CloneType.{kind}, {session}, {{ meta.a, meta.two }});")
            }
            _ => format!("clone(CloneType.{kind}, {session});"),
        }
    }

    /// A statement of ingress that clones, and what goes with it.
    pub fn clone_of_ingress(&mut self, depth: usize) {
        let (mark, is_dropped) = match self.clones {
            Some(Clones::Quiet) => ("clone: of ingress", false),
            Some(Clones::Dropped) => ("clone: its original is dropped", true),
            _ => return,
        };
        self.mark(mark);
        let call = self.call("I2E");
        let is_inner = self.chance(2);
        if is_inner {
            let condition = self.condition(0);
            self.line(depth, format!("if ({condition}) {{"));
        }
        let at = depth + usize::from(is_inner);
        self.line(at, call);
        if is_dropped {
            self.line(at, "mark_to_drop(standard_metadata);");
            self.line(at, "exit;");
        }
        if is_inner {
            if self.chance(2) && !is_dropped {
                let other = self.call("I2E");
                self.line(depth, "} else {");
                self.line(at, other);
            }
            self.line(depth, "}");
        }
    }

    /// What egress does in a program that clones; whether that is all.
    pub fn egress_with_clones(&mut self, depth: usize) -> bool {
        let is_more = self.chance(2);
        match self.clones {
            Some(Clones::Egress) => {
                self.mark("clone: of egress");
                self.line(depth, "if (standard_metadata.instance_type == 0) {");
                self.budget = 1 + u32::from(self.chance(2));
                while self.budget > 0 {
                    self.statement(depth + 1, 1);
                }
                let call = self.call("E2E");
                if self.chance(2) {
                    let condition = self.condition(0);
                    self.line(depth + 1, format!("if ({condition}) {{"));
                    self.line(depth + 2, call);
                    if self.chance(4) {
                        self.line(depth + 2, "mark_to_drop(standard_metadata);");
                    }
                    self.line(depth + 1, "}");
                } else {
                    self.line(depth + 1, call);
                }
                self.line(depth, "}");
                true
            }
            Some(Clones::Dropped) if is_more => {
                self.mark("clone: egress works on it");
                self.line(depth, "if (standard_metadata.instance_type == 1) {");
                self.budget = 1;
                self.statement(depth + 1, 1);
                self.line(depth, "}");
                true
            }
            Some(Clones::Quiet) if is_more => {
                self.mark("clone: egress works on both");
                self.budget = 1;
                self.statement(depth, 1);
                true
            }
            _ => false,
        }
    }

    /// Sessions, as a script makes them.
    pub fn sessions(&mut self) -> String {
        if self.clones.is_none() {
            return String::new();
        }
        let [one, two, three] = [self.ports[5], self.ports[6], self.ports[7]];
        match self.chance(4) {
            true => {
                self.mark("clone: to a group");
                let node = if self.reached.contains("port: group") { 2 } else { 0 };
                format!(
                    "mc_mgrp_create 3\nmc_node_create 7 {one} {two}\nmc_node_associate 3 {node}\nmirroring_add_mc 5 3\nmirroring_add 7 {three}\n"
                )
            }
            false => format!("mirroring_add 5 {one}\nmirroring_add 7 {two}\n"),
        }
    }
}
