//! What the linker takes and whoever asked for it should know. Pages: docs/errors/E0235.md and on.
//!
//! Nothing here is refused. A frame that would leave as another tenant's is dropped by the hardware, whatever was said
//! before. And which VLANs are another's depends on who comes later: a refusal would depend on the order.

use super::Linker;
use super::tenants::Tenant;
use crate::demand::Rate;
use crate::destination::Destination;
use crate::rmt::logical::{LogicalRoom, LogicalTable};
use crate::rmt::{Outer, OuterTag, RmtPart};
use std::collections::BTreeMap;
use std::fmt;

/// VLANs that a warning names; of more it says how many.
const MOST_VLANS: usize = 8;

/// Something that will not do what it looks like.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Warning {
    /// A program writes a VLAN that is not its tenant's, or takes the tag off where untagged frames are not.
    #[error(
        "tenant `{tenant}`, object `{object}`, path {path}, deparse row {row}: frames leave {foreign}; such a frame is \
         dropped there (foreign_vlan){rest}"
    )]
    ForeignVlan {
        /// Tenant.
        tenant: String,
        /// What it runs.
        object: String,
        /// Parse path.
        path: usize,
        /// Deparse row.
        row: usize,
        /// Which VLANs are whose, and where.
        foreign: String,
        /// Whether it leaves anywhere.
        rest: &'static str,
    },
    /// A burst that TCP cannot fill its rate with.
    #[error(
        "tenant `{tenant}`: burst {burst} bytes at {rate} bit/s; TCP stays far below that rate, {least} bytes and more \
         let it come near"
    )]
    Burst {
        /// Tenant.
        tenant: String,
        /// Burst in bytes.
        burst: u32,
        /// Rate in bits a second.
        rate: u64,
        /// Burst that does.
        least: u64,
    },
    /// A share of a port that his queue at a destination does not hold.
    #[error(
        "tenant `{tenant}`: share of {share} bit/s; his queue at {to} is sure to take {taken} bit/s, of frames of {length} \
         bytes one at a time: what is beyond may be dropped there (tail_packets, tail_limit)"
    )]
    Delivery {
        /// Tenant.
        tenant: String,
        /// Bits a second that he asked for at each port.
        share: u64,
        /// Destination.
        to: Destination,
        /// Bits a second that are sure to find room.
        taken: u64,
        /// Bytes of the longest frames that he sends.
        length: u32,
    },
    /// A table whose `size` is more than what there is room for.
    #[error("tenant `{tenant}`: table `{table}`: entries reserved: {reserved}, asked for: {size}; {why}")]
    Reserved {
        /// Tenant.
        tenant: String,
        /// Table, as its source names it.
        table: String,
        /// Entries that it asks for.
        size: u32,
        /// Entries that there is room for in what the tenant was given.
        reserved: u32,
        /// What an entry takes, and of what there is no more.
        why: String,
    },
}

impl Warning {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ForeignVlan { .. } => "E0235",
            Self::Burst { .. } => "E0236",
            Self::Delivery { .. } => "E0237",
            Self::Reserved { .. } => "E0239",
        }
    }
}

/// `with VLAN 20 (tenant `blue`'s on port0, port1)`
struct Foreign<'a>(&'a Owners<'a>);

/// By what the frame has for an outer tag and by who owns that there, which may be nobody: where it may go.
type Owners<'a> = BTreeMap<Outer, BTreeMap<Option<&'a str>, Vec<Destination>>>;

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (outer, owners)) in self.0.iter().take(MOST_VLANS).enumerate() {
            f.write_str(if i > 0 { ", or " } else { "" })?;
            match outer {
                Outer::Vlan(vlan) => write!(f, "with VLAN {vlan}")?,
                Outer::Untagged | Outer::Any => f.write_str("without a tag")?,
            }
            let whose = owners.iter().map(|(owner, ports)| {
                let ports: Vec<String> = ports.iter().map(Destination::to_string).collect();
                match owner {
                    Some(owner) => format!("tenant `{owner}`'s on {}", ports.join(", ")),
                    None => format!("nobody's on {}", ports.join(", ")),
                }
            });
            write!(f, " ({})", whose.collect::<Vec<_>>().join("; "))?;
        }
        match self.0.len().saturating_sub(MOST_VLANS) {
            0 => Ok(()),
            more => write!(f, ", or with {more} more VLANs that are not its own"),
        }
    }
}

impl Linker {
    /// All that there is to warn of, in the order of the tenants.
    pub fn warnings(&self) -> Vec<Warning> {
        self.tenants
            .values()
            .flat_map(|t| self.bursts(t).chain(self.deliveries(t)).chain(self.foreign_vlans(t)).chain(self.reserved(t)))
            .collect()
    }

    /// The rows that a tenant's packets meet.
    pub(super) fn rows_of(&self, tenant: &Tenant) -> Option<&RmtPart> {
        let generation = usize::from(self.generations[usize::from(tenant.module)]);
        let holding = self.engines.rmt.holders.get(&tenant.module)?;
        Some(&holding.banks.get(generation)?.as_ref()?.part)
    }

    /// Tables of a P4 program that asks for more than there is room for in what its tenant was given.
    fn reserved<'a>(&'a self, tenant: &'a Tenant) -> impl Iterator<Item = Warning> + 'a {
        let logical = self.rows_of(tenant).and_then(|part| part.logical.as_deref());
        let stages = self.engines.rmt.holders.get(&tenant.module).map(|holding| &holding.quota.stages);
        let room = move |stage: u8| {
            let given = stages.and_then(|stages| stages.get(&stage)).copied().unwrap_or_default();
            LogicalRoom {
                exact: given.exact as usize,
                ternary: given.ternary as usize,
                numbers: given.numbers as usize,
            }
        };
        let asks = |table: &LogicalTable| table.reserved.is_some_and(|reserved| reserved < table.size);
        let within = logical.filter(|logical| logical.tables.iter().any(asks)).map(|logical| {
            let mut within = logical.clone();
            within.tables.iter_mut().for_each(|table| table.reserved = None);
            // Rows that are there fit: the program was admitted with them.
            let _ = within.reserve_in(&room, &room);
            within
        });
        within.into_iter().flat_map(move |within| {
            let tables = within.tables.iter().enumerate();
            let short = tables.filter_map(|(at, table)| {
                let reserved = table.reserved.filter(|reserved| *reserved < table.size)?;
                let why = within.short(at, &room).unwrap_or_default();
                let (tenant, table, size) = (tenant.spec.name.clone(), table.name.clone(), table.size);
                Some(Warning::Reserved { tenant, table, size, reserved, why })
            });
            short.collect::<Vec<_>>()
        })
    }

    /// Shares that even longest frames, one at a time, cannot use at a destination.
    fn deliveries<'a>(&'a self, tenant: &'a Tenant) -> impl Iterator<Item = Warning> + 'a {
        let frames = self.ports_of(tenant.spec.id).map(|(port, _)| self.settings.ports[usize::from(port)].max_frame);
        let length = frames.max().map(u32::from);
        let share = tenant.spec.share.map(|share| share.bits_per_second);
        share.zip(length).into_iter().flat_map(move |(share, length)| {
            tenant.spec.queues.keys().filter_map(move |to| {
                let taken = self.delivery_of(tenant, *to)?.bits_per_second(length, 1);
                let tenant = tenant.spec.name.clone();
                (taken < share).then_some(Warning::Delivery { tenant, share, to: *to, taken, length })
            })
        })
    }

    fn bursts<'a>(&'a self, tenant: &'a Tenant) -> impl Iterator<Item = Warning> + 'a {
        let small = |rate: &Rate| u64::from(rate.burst_bytes) < rate.burst_of_tcp();
        tenant.spec.rate.filter(small).into_iter().map(|rate| Warning::Burst {
            tenant: tenant.spec.name.clone(),
            burst: rate.burst_bytes,
            rate: rate.bits_per_second,
            least: rate.burst_of_tcp(),
        })
    }

    fn foreign_vlans<'a>(&'a self, tenant: &'a Tenant) -> impl Iterator<Item = Warning> + 'a {
        let untagged = self.settings.ports.iter().any(|p| p.untagged == Some(tenant.spec.id));
        // A tag that ingress took off is put on again and counts, whatever the program made of the bytes behind it.
        let judged = move |tag: &OuterTag| tenant.spec.keep_tag || untagged && tag.adds;
        let tags = self.rows_of(tenant).map(RmtPart::outer_tags).unwrap_or_default();
        tags.into_iter().filter(judged).filter_map(move |tag| self.foreign_vlan(tenant, &tag, untagged))
    }

    fn foreign_vlan(&self, tenant: &Tenant, tag: &OuterTag, untagged: bool) -> Option<Warning> {
        let sends = || tenant.spec.queues.keys();
        let ports: Vec<u8> =
            sends().filter_map(|d| if let Destination::Port(p) = d { Some(*p) } else { None }).collect();
        let mut foreign = Owners::new();
        for &outer in &tag.outer {
            for &port in &ports {
                let owner = match self.owner(port, outer) {
                    Some(owner) if owner.spec.id == tenant.spec.id => continue,
                    Some(owner) => Some(owner.spec.name.as_str()),
                    None if tenant.may_leave_unowned(outer) => continue,
                    None => None,
                };
                foreign.entry(outer).or_default().entry(owner).or_default().push(Destination::Port(port));
            }
        }
        if foreign.is_empty() {
            return None;
        }
        // Whatever comes on this path is dropped: all that it may be is another's wherever it may go. A tenant that has
        // both kinds of frames has some whose tag ingress took off.
        let one_kind = tenant.spec.keep_tag || tenant.vlans.is_empty() && untagged;
        let everywhere =
            |outer: &Outer| foreign.get(outer).is_some_and(|o| o.values().map(Vec::len).sum::<usize>() == ports.len());
        let lost = one_kind && tag.certain && sends().count() == ports.len() && tag.outer.iter().all(everywhere);
        Some(Warning::ForeignVlan {
            tenant: tenant.spec.name.clone(),
            object: tenant.running.as_ref().map(|r| r.object.clone()).unwrap_or_default(),
            path: tag.path,
            row: tag.row,
            foreign: Foreign(&foreign).to_string(),
            rest: if lost { ", and no frame of this row leaves anywhere" } else { "" },
        })
    }

    /// Whose frames with this outer tag are on a port; of an unknown one nobody's.
    fn owner(&self, port: u8, outer: Outer) -> Option<&Tenant> {
        match outer {
            Outer::Vlan(vlan) => self.tenants.values().find(|t| t.vlans.contains(&(port, vlan))),
            Outer::Untagged => self.tenants.get(&self.settings.ports.get(usize::from(port))?.untagged?),
            Outer::Any => None,
        }
    }
}
