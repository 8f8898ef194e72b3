//! Packets: headers, the one-line notation, captures, generators and packet scripts.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`headers`] | checked views of protocol headers and their descriptions |
//! | [`layers`] | packets as stacks of layers, built and taken apart |
//! | [`notation`] | the same as one line of text, patterns and diffs |
//! | [`checksum`] | Internet checksums, whole and incremental |
//! | [`flow`] | which flow a packet belongs to |
//! | [`bounded`] | whole files, up to a size |
//! | [`capture`] | pcap and pcapng files |
//! | [`generate`] | packets made from a seed |
//! | [`script`] | packet scripts |

pub mod bounded;
pub mod capture;
pub mod checksum;
pub mod flow;
pub mod generate;
pub mod headers;
pub mod layers;
pub mod mac;
pub mod mistake;
pub mod notation;
pub mod script;
pub mod text;
