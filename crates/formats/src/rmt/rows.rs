//! Rows of the rmt pipeline: docs/design/rmt.md, "Rows".

use super::target::{KEY_BITS, KEY_BYTES};
use crate::row::{RowInfo, Wide, row, rows};

row! {
    /// One alternative of a selection.
    AlternativePart, "rmt_alternative" {
        /// It takes part.
        valid: bool = 1,
        /// Value of the selector bytes, byte 0 in bits 7:0.
        value: Wide<8> = 64,
        /// Bits of them that count.
        mask: Wide<8> = 64,
        /// Node or path that it leads to.
        to: u8 = 4,
    }
}

row! {
    /// A selection of the parser. First rows: 2 * module + generation; node rows: 4 * that + node.
    SelectRow, "rmt_select_row" {
        /// The module has a program in this generation (first rows); otherwise no_module.
        valid: bool = 1,
        /// Offsets of the selector bytes in the window.
        offsets: [u8; 8] = 7,
        /// Alternatives; the lowest that matches counts.
        alternatives: [AlternativePart; 8] = 0,
        /// Fewest bytes of a packet that each of them takes.
        leasts: [u8; 8] = 8,
    }
}

row! {
    /// Extraction of one container.
    ExtractPart, "rmt_extract" {
        /// The container is taken from the packet.
        taken: bool = 1,
        /// Offset of its first byte in the window. Of a 2-byte container that is not taken: `rmt_known`.
        offset: u8 = 7,
    }
}

row! {
    /// A checksum to verify.
    VerifyPart, "rmt_verify" {
        /// There is one.
        valid: bool = 1,
        /// First byte in the window.
        start: u8 = 7,
        /// Number of 16-bit words.
        words: u8 = 6,
    }
}

row! {
    /// A parse path. Index: 16 * (2 * module + generation) + path.
    PathRow, "rmt_path_row" {
        /// By container number.
        extract: [ExtractPart; 24] = 0,
        /// Valid headers.
        headers: u16 = 16,
        /// Fewest bytes of a packet.
        least: u8 = 8,
        /// Header checksum to verify.
        verify: VerifyPart = 0,
        /// Value of the containers that are `constant`.
        constant: u16 = 16,
        /// Bits 8:0 of scratch1 are the number of a destination; alike in all paths of a program.
        port_numbers: bool = 1,
    }
}

row! {
    /// A deparse pattern.
    PatternPart, "rmt_pattern" {
        /// It takes part.
        valid: bool = 1,
        /// Value: path in bits 3:0, valid headers in bits 19:4.
        value: u32 = 20,
        /// Bits that count.
        mask: u32 = 20,
        /// Deparse row that it picks.
        row: u8 = 4,
    }
}

row! {
    /// Deparse patterns of a module. Index: 2 * module + generation.
    PatternsRow, "rmt_patterns_row" {
        /// The lowest that matches counts.
        patterns: [PatternPart; 16] = 0,
    }
}

row! {
    /// Source of one byte of the outgoing header.
    LanePart, "rmt_lane" {
        /// Place of the container in its class.
        place: u8 = 3,
        /// Size class of the container, or the packet's byte: `rmt_lane_size`.
        size: u8 = 2,
    }
}

row! {
    /// A checksum to update.
    UpdatePart, "rmt_update" {
        /// There is one.
        valid: bool = 1,
        /// First byte of the outgoing header.
        start: u8 = 7,
        /// Number of 16-bit words.
        words: u8 = 6,
        /// First of the two bytes that it is written to.
        at: u8 = 7,
    }
}

row! {
    /// What makes the second update an incremental one.
    AdjustPart, "rmt_adjust" {
        /// It is one: the complements of the span's words in the packet as it came are added to it.
        valid: bool = 1,
        /// A checksum of 0 stays, and one that comes out as 0 is written as ffff.
        udp: bool = 1,
        /// First byte of the incoming header.
        start: u8 = 7,
        /// Number of 16-bit words.
        words: u8 = 6,
    }
}

row! {
    /// One beat of a deparse row. Index: beats * (16 * (2 * module + generation) + row) + beat, beats being
    /// those of the window. All beats of a row agree but for lanes and rotations.
    DeparseRow, "rmt_deparse_row" {
        /// Half of the bytes that the packet grows by, rounded down, two's complement.
        half_delta: u8 = 7,
        /// Bytes of the packet from here on move by the delta.
        split: u8 = 8,
        /// Fewest bytes of an outgoing packet.
        least: u8 = 8,
        /// Checksums; both sums are taken before either is written.
        updates: [UpdatePart; 2] = 0,
        /// Rotations of the 2-byte containers: lane i of the beat carries byte (i - rotation) mod 2.
        rotate2: [u8; 8] = 1,
        /// Rotations of the 4-byte containers.
        rotate4: [u8; 8] = 2,
        /// Rotations of the 6-byte containers.
        rotate6: [u8; 8] = 3,
        /// Bytes of the beat; a bus of 32 bytes has the first 32.
        lanes: [LanePart; 64] = 0,
        /// The second update is incremental.
        adjust: AdjustPart = 0,
        /// The packet grows by a byte more, or shrinks by one less.
        odd: bool = 1,
    }
}

impl DeparseRow {
    /// Bytes that the packet grows by.
    pub fn delta(&self) -> i8 {
        // Seven bits, two's complement.
        (self.half_delta << 1) as i8 | i8::from(self.odd)
    }
}

row! {
    /// Who owns a stage. Index: 0.
    StageOwnerRow, "rmt_stage_owner_row" {
        /// The stage is the system module's.
        system: bool = 1,
    }
}

row! {
    /// A predicate: `(a & mask) op (b & mask)`, 48 bits, unsigned.
    PredicatePart, "rmt_predicate" {
        /// A container or a metadata word: `rmt_predicate_operand`.
        a: u8 = 6,
        /// A container or the immediate: `rmt_predicate_operand`.
        b: u8 = 6,
        /// Comparison: `rmt_relation`.
        op: u8 = 3,
        /// Bits that count.
        mask: u64 = 48,
        /// Immediate.
        immediate: u64 = 48,
    }
}

row! {
    /// Key, conditions and default of a module in a stage. Index: 2 * module + generation.
    KeyRow, "rmt_key_row" {
        /// Places of the key's containers in their classes: two of 2, of 4, of 6 bytes.
        pieces: [u8; 6] = 3,
        /// Bits of the key that count.
        mask: Wide<KEY_BYTES> = KEY_BITS,
        /// Predicates; one that is not there has mask 0 and op !=, and is false.
        predicates: [PredicatePart; 2] = 0,
        /// Condition i is bit `p0 + 2 * p1` of truth[i].
        truth: [u8; 2] = 4,
        /// First set of the module, a multiple of its number of sets.
        set_base: u8 = 8,
        /// The module has 2^set_bits sets.
        set_bits: u8 = 4,
        /// First hit counter of the module.
        hits_base: u16 = 11,
        /// There is a default action.
        default_valid: bool = 1,
        /// Its action row.
        default_action: u16 = 9,
        /// Its logical number.
        default_number: u16 = 11,
    }
}

row! {
    /// An exact entry. Table: way. Index: set.
    ExactRow, "rmt_exact_row" {
        /// Bit g: the entry exists for packets of generation g.
        generations: u8 = 2,
        /// Owner.
        module_id: u8 = 6,
        /// Masked key.
        key: Wide<KEY_BYTES> = KEY_BITS,
        /// Action row.
        action: u16 = 9,
        /// Logical number.
        number: u16 = 11,
    }
}

row! {
    /// A ternary entry. Index: entry; the lowest that matches wins.
    TernaryRow, "rmt_ternary_row" {
        /// Bit g: the entry exists for packets of generation g; 0: it is not valid.
        generations: u8 = 2,
        /// Owner.
        module_id: u8 = 6,
        /// Value.
        value: Wide<KEY_BYTES> = KEY_BITS,
        /// Bits that count.
        mask: Wide<KEY_BYTES> = KEY_BITS,
        /// Action row.
        action: u16 = 9,
        /// Logical number.
        number: u16 = 11,
    }
}

row! {
    /// Action data. Index: way * sets + set of an exact entry; behind these, entry of a ternary one; behind
    /// these, 2 * module + generation of a default.
    DataRow, "rmt_data_row" {
        /// Bytes, the first in bits 7:0.
        data: Wide<16> = 128,
    }
}

macro_rules! class_part {
    ($(#[doc = $doc:literal])+ $name:ident, $sv:literal, $ty:ty, $bits:literal) => {
        row! {
            $(#[doc = $doc])+
            $name, $sv {
                /// P0, P1, P2: places of containers of the class.
                pick: [u8; 3] = 3,
                /// DA, DB: first 2-byte positions in the action data.
                data: [u8; 2] = 3,
                /// R is P2 rotated left by this.
                amount: u8 = 6,
                /// And masked by this.
                rotate_mask: $ty = $bits,
            }
        }
    };
}
class_part! {
    /// What the ALUs of the 2-byte class share.
    Class2Part, "rmt_class2", u16, 16
}
class_part! {
    /// What the ALUs of the 4-byte class share.
    Class4Part, "rmt_class4", u32, 32
}
class_part! {
    /// What the ALUs of the 6-byte class share.
    Class6Part, "rmt_class6", u64, 48
}

row! {
    /// What the ALU of one container does.
    AluPart, "rmt_alu" {
        /// Operation: `rmt_alu_op`.
        op: u8 = 4,
        /// First operand: `rmt_alu_a`.
        a: u8 = 2,
        /// Second operand: `rmt_alu_b`.
        b: u8 = 4,
        /// When it is written: `rmt_when`.
        when: u8 = 3,
    }
}

row! {
    /// Write of one metadata word.
    WordPart, "rmt_word_write" {
        /// What is written: `rmt_word_source`.
        source: u8 = 2,
        /// Bits written; 0: none.
        mask: u16 = 16,
        /// Immediate.
        immediate: u16 = 16,
        /// When it is done: `rmt_when`.
        when: u8 = 3,
    }
}

row! {
    /// State access of an action.
    StatePart, "rmt_state_access" {
        /// What it is: `rmt_state_kind`.
        kind: u8 = 2,
        /// When it is done: `rmt_when`.
        when: u8 = 3,
        /// Index source: `rmt_index_source`.
        source: u8 = 2,
        /// Bits of the source that count.
        index_mask: u16 = 12,
        /// Added to them.
        base: u16 = 12,
        /// Comparison of the old word with O: `rmt_relation`.
        relation: u8 = 3,
        /// What `taken` is: `rmt_when`, or the comparison (`rmt_taken`).
        condition: u8 = 3,
        /// O: `rmt_state_operand`.
        o_source: u8 = 2,
        /// Immediate of O; limit of a meter.
        o_immediate: u32 = 32,
        /// T, likewise.
        t_source: u8 = 2,
        /// Immediate of T; cost of a meter.
        t_immediate: u32 = 32,
        /// F, likewise.
        f_source: u8 = 2,
        /// Immediate of F; top of a meter.
        f_immediate: u32 = 32,
        /// The old word is added to T.
        t_old: bool = 1,
        /// T is subtracted.
        t_negate: bool = 1,
        /// The old word is added to F.
        f_old: bool = 1,
        /// F is subtracted.
        f_negate: bool = 1,
        /// Bit 3: the old word goes to the 4-byte container of bits 2:0.
        old_to: u8 = 4,
        /// Bit 3: the new word, or a meter's colour, goes to the 4-byte container of bits 2:0.
        new_to: u8 = 4,
        /// A meter costs per packet and not per byte.
        per_packet: bool = 1,
        /// A meter's clock: the stamp shifted left by 8, then right by this.
        shift: u8 = 6,
    }
}

row! {
    /// An action. Index: action row.
    ActionRow, "rmt_action_row" {
        /// Module that it belongs to.
        owner: u8 = 6,
        /// Shared operands of the 2-byte class.
        class2: Class2Part = 0,
        /// Shared operands of the 4-byte class.
        class4: Class4Part = 0,
        /// Shared operands of the 6-byte class.
        class6: Class6Part = 0,
        /// X: `rmt_cross`.
        cross_source: u8 = 6,
        /// X is shifted right by 16 times this, 0 to 2.
        cross_shift: u8 = 2,
        /// State access.
        state: StatePart = 0,
        /// By container number.
        alus: [AluPart; 24] = 0,
        /// Immediates of the 2-byte containers.
        immediate2: [u16; 8] = 16,
        /// Immediates of the 4-byte containers.
        immediate4: [u32; 8] = 32,
        /// Immediates of the 6-byte containers.
        immediate6: [u64; 8] = 48,
        /// Masks of the 2-byte containers.
        mask2: [u16; 8] = 16,
        /// Masks of the 4-byte containers.
        mask4: [u32; 8] = 32,
        /// Masks of the 6-byte containers.
        mask6: [u64; 8] = 48,
        /// Writes of metadata words 9 to 15; the first two only in system stages.
        words: [WordPart; 7] = 0,
        /// Words of X that are cleared, the highest first and before the shift: 0 to 2.
        cross_cut: u8 = 2,
    }
}

row! {
    /// A page of state. Index: 64 * (2 * module + generation) + page of the module.
    PageRow, "rmt_page_row" {
        /// The module has this page.
        valid: bool = 1,
        /// Page of the stage.
        page: u8 = 6,
    }
}

row! {
    /// A state word. Index: word.
    StateWordRow, "rmt_state_word_row" {
        /// Its value.
        value: u32 = 32,
    }
}

row! {
    /// Zeroing of a page of state: written with its index, any value; reads as 0. Index: page of the stage.
    ZeroPageRow, "rmt_zero_page_row" {
        /// Nothing.
        unused: bool = 1,
    }
}

row! {
    /// A multicast group. Index: group; 0 is never looked at.
    GroupRow, "rmt_group_row" {
        /// Module that may use it; everyone may use module 0's.
        owner: u8 = 6,
        /// Destinations.
        destinations: u8 = 8,
        /// Tag of the copy to each destination.
        tags: [u16; 8] = 16,
    }
}

row! {
    /// Destinations that a module may send to. Index: module.
    GrantedRow, "rmt_granted_row" {
        /// Destination mask.
        destinations: u8 = 8,
    }
}

row! {
    /// Names of a module's own multicast groups: group `n` of its packets, where `n & mask` is `name`, is row `first | n & !mask`;
    /// another `n` is row `n`, and so is each where all is 0. Index: module.
    GroupNameRow, "rmt_group_name_row" {
        /// Bits of a number that say that a group is its own.
        mask: u16 = 16,
        /// What they are then.
        name: u16 = 16,
        /// The row of the first of them.
        first: u16 = 16,
    }
}

impl GroupNameRow {
    /// The row of a group.
    pub fn row_of(&self, number: u16) -> u16 {
        if number & self.mask == self.name { self.first | number & !self.mask } else { number }
    }
}

/// All of them, parts before those that have them.
pub(crate) static ROWS: &[RowInfo] = rows![
    AlternativePart,
    SelectRow,
    ExtractPart,
    VerifyPart,
    PathRow,
    PatternPart,
    PatternsRow,
    LanePart,
    UpdatePart,
    AdjustPart,
    DeparseRow,
    StageOwnerRow,
    PredicatePart,
    KeyRow,
    ExactRow,
    TernaryRow,
    DataRow,
    Class2Part,
    Class4Part,
    Class6Part,
    AluPart,
    WordPart,
    StatePart,
    ActionRow,
    PageRow,
    StateWordRow,
    ZeroPageRow,
    GroupRow,
    GrantedRow,
    GroupNameRow,
];
