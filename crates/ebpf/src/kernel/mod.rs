//! The Linux kernel as an oracle: maps, programs and test runs through bpf(2).
