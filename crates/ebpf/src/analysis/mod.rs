//! Region analysis: which region, offsets and map each instruction's operands point into.
