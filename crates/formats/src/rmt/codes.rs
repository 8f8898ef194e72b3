//! What the numbers in fields of the rmt pipeline's rows stand for: operations, operands, conditions.

use crate::codes::{CodeList, codes};

codes! {
    /// Operation of an ALU.
    AluOp, "rmt_alu_op", "RmtAluOp", 4 {
        /// The container stays as it is.
        None "none" = 0,
        /// A + B.
        Add "add" = 1,
        /// A - B.
        Sub "sub" = 2,
        /// A & B.
        And "and" = 3,
        /// A or B, bit by bit.
        Or "or" = 4,
        /// A ^ B.
        Xor "xor" = 5,
        /// B.
        Move "move" = 6,
        /// A & ~B.
        AndNot "and_not" = 7,
        /// B, written only if A >= B.
        Ge "ge" = 8,
        /// B, written only if A < B.
        Lt "lt" = 9,
    }
}

codes! {
    /// First operand of an ALU.
    AluA, "rmt_alu_a", "RmtAluA", 2 {
        /// The ALU's own container.
        Own "own" = 0,
        /// First pick of the class.
        P0 "p0" = 1,
        /// Second pick of the class.
        P1 "p1" = 2,
        /// Cross value.
        X "x" = 3,
    }
}

codes! {
    /// Second operand of an ALU.
    AluB, "rmt_alu_b", "RmtAluB", 4 {
        /// The container's immediate.
        Immediate "immediate" = 0,
        /// DA of the class.
        DataA "data_a" = 1,
        /// DB of the class.
        DataB "data_b" = 2,
        /// First pick of the class.
        P0 "p0" = 3,
        /// Second pick of the class.
        P1 "p1" = 4,
        /// Rotated and masked third pick of the class.
        R "r" = 5,
        /// Cross value.
        X "x" = 6,
    }
}

codes! {
    /// When something is done, by the stage's conditions.
    When, "rmt_when", "RmtWhen", 3 {
        /// For every packet.
        Always "always" = 0,
        /// Condition 0 holds.
        If0 "if0" = 1,
        /// Condition 0 does not hold.
        Unless0 "unless0" = 2,
        /// Condition 1 holds.
        If1 "if1" = 3,
        /// Condition 1 does not hold.
        Unless1 "unless1" = 4,
    }
}

codes! {
    /// Comparison, unsigned.
    Relation, "rmt_relation", "RmtRelation", 3 {
        /// ==.
        Eq "eq" = 0,
        /// !=.
        Ne "ne" = 1,
        /// <.
        Lt "lt" = 2,
        /// <=.
        Le "le" = 3,
        /// >.
        Gt "gt" = 4,
        /// >=.
        Ge "ge" = 5,
    }
}

codes! {
    /// Operand of a predicate.
    PredicateOperand, "rmt_predicate_operand", "RmtPredicateOperand", 6 {
        /// This and the 23 codes behind it: the containers.
        Containers "containers" = 0,
        /// This and the 15 codes behind it: the metadata words; of the first operand only.
        Words "words" = 24,
        /// The immediate; of the second operand only.
        Immediate "immediate" = 63,
    }
}

codes! {
    /// What a 2-byte container holds that a path does not take from the packet.
    Known, "rmt_known", "RmtKnown", 2 {
        /// Zero.
        Zero "zero" = 0,
        /// The path's constant.
        Constant "constant" = 1,
        /// The port of arrival.
        Port "port" = 2,
        /// Bytes of the packet.
        Length "length" = 3,
    }
}

codes! {
    /// Source of the cross value.
    Cross, "rmt_cross", "RmtCross", 6 {
        /// This and the 23 codes behind it: the containers.
        Containers "containers" = 0,
        /// This and the 15 codes behind it: three metadata words from that one.
        Words "words" = 24,
        /// CRC-32C of the masked key.
        Hash "hash" = 40,
        /// Logical number of the entry.
        Number "number" = 41,
        /// Zero, as every code between.
        Zero "zero" = 63,
    }
}

codes! {
    /// What a metadata word gets.
    WordSource, "rmt_word_source", "RmtWordSource", 2 {
        /// The immediate.
        Immediate "immediate" = 0,
        /// DA of the 2-byte class.
        DataA "data_a" = 1,
        /// P0 of the 2-byte class.
        P0 "p0" = 2,
        /// Low bits of the cross value.
        X "x" = 3,
    }
}

codes! {
    /// State access of an action.
    StateKind, "rmt_state_kind", "RmtStateKind", 2 {
        /// None.
        None "none" = 0,
        /// One of two updates of the word.
        Access "access" = 1,
        /// A meter.
        Meter "meter" = 2,
    }
}

codes! {
    /// Source of a state word's index.
    IndexSource, "rmt_index_source", "RmtIndexSource", 2 {
        /// Zero.
        Zero "zero" = 0,
        /// P2 of the 2-byte class.
        P2 "p2" = 1,
        /// DA of the 2-byte class.
        DataA "data_a" = 2,
        /// Cross value.
        X "x" = 3,
    }
}

codes! {
    /// Operand of a state access.
    StateOperand, "rmt_state_operand", "RmtStateOperand", 2 {
        /// The operand's immediate.
        Immediate "immediate" = 0,
        /// Cross value.
        X "x" = 1,
        /// DB of the 4-byte class.
        DataB "data_b" = 2,
        /// P1 of the 4-byte class.
        P1 "p1" = 3,
    }
}

codes! {
    /// What chooses the first update of a state access: a code of `rmt_when`, or this.
    Taken, "rmt_taken", "RmtTaken", 3 {
        /// The comparison of the old word.
        Old "old" = 5,
    }
}

codes! {
    /// Where a byte of the outgoing header comes from.
    LaneSize, "rmt_lane_size", "RmtLaneSize", 2 {
        /// A 2-byte container.
        Two "two" = 0,
        /// A 4-byte container.
        Four "four" = 1,
        /// A 6-byte container.
        Six "six" = 2,
        /// The packet's own byte.
        Packet "packet" = 3,
    }
}

/// All of them, in the order of the rows that have them.
pub(crate) const CODES: &[CodeList] = &[
    Known::LIST,
    LaneSize::LIST,
    PredicateOperand::LIST,
    Relation::LIST,
    When::LIST,
    AluOp::LIST,
    AluA::LIST,
    AluB::LIST,
    WordSource::LIST,
    Cross::LIST,
    StateKind::LIST,
    IndexSource::LIST,
    Taken::LIST,
    StateOperand::LIST,
];
