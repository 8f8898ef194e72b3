//! Entries that a script adds to the tables of a program.

use super::{Maker, number};

/// A table, as entries are made for it.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// Name, width, kind.
    pub keys: Vec<(String, u32, &'static str)>,
    pub actions: Vec<Action>,
    /// Whether a script adds entries.
    pub is_open: bool,
    pub default_is_open: bool,
}

/// An action with the widths of its data.
#[derive(Clone, Debug)]
pub struct Action {
    pub name: String,
    pub data: Vec<(String, u32)>,
}

impl Maker<'_> {
    /// An action with values, as a script or a program calls it.
    pub fn called(&mut self, action: &Action, mark: &str) -> String {
        let data: Vec<String> = action
            .data
            .iter()
            .map(|(name, width)| {
                let name = if mark.is_empty() { String::new() } else { format!("{name}{mark}") };
                let value = if name.starts_with("port") || action.name.starts_with("send") {
                    u128::from(self.any_port())
                } else {
                    number(self.rng, *width)
                };
                format!("{name}{value}")
            })
            .collect();
        format!("{}({})", action.name, data.join(", "))
    }

    /// The script.
    pub fn entries(&mut self) -> String {
        let mut text = String::new();
        if self.reached.contains("port: group") {
            for group in 1..=2 {
                let ports = self.ports.iter().filter(|_| self.rng.chance(1, 3));
                let ports: Vec<String> = ports.map(u16::to_string).collect();
                let node = group - 1;
                text += &format!("mc_mgrp_create {group}\nmc_node_create 0 {}\n", ports.join(" "));
                text += &format!("mc_node_associate {group} {node}\n");
            }
        }
        text += &self.sessions();
        for table in self.tables.clone() {
            if table.is_open {
                self.mark("table: entries of a script");
                let mut seen = Vec::new();
                for priority in 0..self.rng.below(5) {
                    let mut keys = String::new();
                    for (name, width, kind) in &table.keys {
                        let value = self.known_value(*width);
                        keys += &match *kind {
                            "exact" => format!(" {name}:{value:#x}"),
                            "lpm" => {
                                let length = 1 + self.rng.below(u64::from(*width)) as u32;
                                let value = value >> (width - length) << (width - length);
                                format!(" {name}:{value:#x}/{length}")
                            }
                            "optional" if self.chance(3) => String::new(),
                            "optional" => format!(" {name}:{value:#x}"),
                            "ternary" => match self.rng.below(4) {
                                0 => String::new(),
                                1 => format!(" {name}:{value}&&&{}", number(self.rng, *width)),
                                _ => format!(" {name}:{value}"),
                            },
                            "range" => {
                                let other = self.known_value(*width);
                                format!(" {name}:{}->{}", value.min(other), value.max(other))
                            }
                            _ => format!(" {name}:{}", value & 1),
                        };
                    }
                    if keys.is_empty() || seen.contains(&keys) {
                        continue;
                    }
                    seen.push(keys.clone());
                    let action = self.rng.choose(&table.actions).cloned().unwrap();
                    let call = self.called(&action, ":");
                    let ranked = table.keys.iter().any(|(_, _, kind)| super::tables::RANKED.contains(kind));
                    let rank = if ranked { format!(" {}", priority + 1) } else { String::new() };
                    text += &format!("add {}{rank}{keys} {call}\n", table.name);
                }
            }
            if table.default_is_open && self.chance(3) {
                self.mark("table: default of a script");
                let action = self.rng.choose(&table.actions).cloned().unwrap();
                let call = self.called(&action, ":");
                text += &format!("setdefault {} {call}\n", table.name);
            }
        }
        text
    }
}
