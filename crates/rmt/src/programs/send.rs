//! Sends every packet to the same destinations, with another destination MAC if asked.

use crate::action::{Action, Alu, B, Op, When, WordOp, WordSource};
use crate::deparser::{DeparseRow, Deparser};
use crate::parser::{Alternative, Parser, Path, Select};
use crate::phv::{Container, DISCARD, EXCEPT_INGRESS, Word, c6};
use crate::program::{Program, Stage};
use crate::stage::{Leads, Tables};
use crate::target::{DATA, Target};

const MAC: Container = c6(0);
/// Bytes of an Ethernet header.
const HEADER_BYTES: u8 = 14;

/// Where packets go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Send {
    /// Destination mask; none: packets are dropped (`discard`).
    pub destinations: u8,
    /// The port of arrival is taken out of the mask.
    pub except_ingress: bool,
    /// New destination MAC.
    pub dmac: Option<[u8; 6]>,
}

impl Send {
    /// To these destinations, otherwise as they came.
    pub fn to(destinations: u8) -> Self {
        Self { destinations, ..Self::default() }
    }

    /// The program, on the target's first stage that is a tenant's.
    pub fn program(&self, target: &Target) -> Program {
        let every = || Select { alternatives: vec![Alternative::default()], ..Select::default() };
        let mut path = Path { least: HEADER_BYTES, ..Path::default() };
        path.extract[usize::from(MAC.0)] = Some(0);
        let mut row = DeparseRow { least: HEADER_BYTES, ..DeparseRow::default() };
        row.put(MAC, 0);
        let stage = (0..target.stages).find(|s| !target.is_system(*s)).unwrap_or(0);
        let mut stages = vec![None; stage];
        let default = Some(Leads { action: 0, data: [0; DATA], number: 0 });
        let tables = Tables { default, ..Tables::default() };
        stages.push(Some(Stage { tables, actions: vec![self.action()], ..Stage::default() }));
        Program {
            parser: Parser { first: every(), nodes: vec![every()], paths: vec![path], port_numbers: false },
            stages,
            deparser: Deparser::single(row),
        }
    }

    fn action(&self) -> Action {
        let except = if self.except_ingress { EXCEPT_INGRESS } else { 0 };
        let egress = if self.destinations == 0 { DISCARD } else { except | u16::from(self.destinations) };
        let word = WordOp {
            word: Word::Egress as u8,
            source: WordSource::Imm(egress),
            mask: DISCARD | EXCEPT_INGRESS | 0xff,
            when: When::Always,
        };
        let mac = |mac: [u8; 6]| mac.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let alus = self.dmac.map(|bytes| Alu::whole(MAC, Op::Move, B::Imm(mac(bytes)))).into_iter().collect();
        Action { alus, words: vec![word], ..Action::default() }
    }
}
