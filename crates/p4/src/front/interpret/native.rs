//! What the interpreter knows of core.p4, v1model.p4 and sluice.p4: functions and methods, by their names.

macro_rules! natives {
    ($($name:ident $owner:literal $method:literal $count:literal),* $(,)?) => {
        /// A function, or a method of an extern; those of one name differ in the number of their arguments.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Native { $($name),* }

        impl Native {
            /// The one with this name; the owner of a function is "".
            pub fn find(owner: &str, method: &str, arguments: usize) -> Option<Native> {
                let all = [$((Native::$name, $owner, $method, $count)),*];
                let found = all.iter().find(|(_, o, m, count)| *o == owner && *m == method && *count == arguments);
                found.map(|(native, ..)| *native)
            }
        }
    };
}

natives! {
    Extract "packet_in" "extract" 1, ExtractSized "packet_in" "extract" 2, Lookahead "packet_in" "lookahead" 0,
    Advance "packet_in" "advance" 1, Length "packet_in" "length" 0, Emit "packet_out" "emit" 1,
    Verify "" "verify" 2, StaticAssert "" "static_assert" 2, StaticAssertOnly "" "static_assert" 1,
    SetValid "header" "setValid" 0, SetInvalid "header" "setInvalid" 0,
    PushFront "stack" "push_front" 1, PopFront "stack" "pop_front" 1,
    MarkToDrop "" "mark_to_drop" 1, MarkToDropOld "" "mark_to_drop" 0,
    Hash "" "hash" 5, Random "" "random" 3, Digest "" "digest" 2, Truncate "" "truncate" 1,
    VerifyChecksum "" "verify_checksum" 4, UpdateChecksum "" "update_checksum" 4,
    VerifyChecksumPayload "" "verify_checksum_with_payload" 4,
    UpdateChecksumPayload "" "update_checksum_with_payload" 4,
    Clone "" "clone" 2, CloneData "" "clone3" 3, CloneKeep "" "clone_preserving_field_list" 3,
    ResubmitData "" "resubmit" 1, ResubmitKeep "" "resubmit_preserving_field_list" 1,
    RecirculateData "" "recirculate" 1, RecirculateKeep "" "recirculate_preserving_field_list" 1,
    Assert "" "assert" 1, Assume "" "assume" 1, Log "" "log_msg" 1, LogData "" "log_msg" 2,
    Count "counter" "count" 1, CountDirect "direct_counter" "count" 0,
    MeterExecute "meter" "execute_meter" 2, MeterRead "direct_meter" "read" 1,
    RegisterRead "register" "read" 2, RegisterWrite "register" "write" 2,
    Checksum16Get "Checksum16" "get" 1,
    Crc32c "" "crc32c" 2, AtomRead "atom" "read" 2, AtomWrite "atom" "write" 3, AtomAdd "atom" "add" 4,
    AtomChoose "atom" "choose" 8, PoliceExecute "police" "execute" 2, Multicast "" "multicast" 2,
    LinkStatistics "" "link_statistics" 1,
}

/// What an atom may write (`AtomValue` of sluice.p4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomValue {
    Old,
    OldPlusOperand,
    OldMinusOperand,
    Operand,
    MinusOperand,
}

impl AtomValue {
    /// The one with this number in sluice.p4.
    pub fn from_number(number: u128) -> Option<AtomValue> {
        use AtomValue::{MinusOperand, Old, OldMinusOperand, OldPlusOperand, Operand};
        [Old, OldPlusOperand, OldMinusOperand, Operand, MinusOperand].get(usize::try_from(number).ok()?).copied()
    }

    /// Whether the word as it was is added, and whether the operand is subtracted; nothing of the operand counts in `Old`.
    pub fn terms(self) -> (bool, bool) {
        let old = matches!(self, AtomValue::Old | AtomValue::OldPlusOperand | AtomValue::OldMinusOperand);
        (old, matches!(self, AtomValue::OldMinusOperand | AtomValue::MinusOperand))
    }

    /// The word that it writes.
    pub fn of(self, old: u32, operand: u32) -> u32 {
        match self {
            AtomValue::Old => old,
            AtomValue::OldPlusOperand => old.wrapping_add(operand),
            AtomValue::OldMinusOperand => old.wrapping_sub(operand),
            AtomValue::Operand => operand,
            AtomValue::MinusOperand => operand.wrapping_neg(),
        }
    }
}
