//! A packet as a stack of layers, of which only what matters is given.

mod build;
mod dissect;
mod kind;

pub use build::{BuildError, MAX_PACKET_BYTES};
pub use dissect::dissect;
pub use kind::LayerKind;

use crate::headers::FieldSpec;
use crate::headers::bits::FieldValue;
use sluice_formats::random::Rng;

/// Plain bytes of a layer, in the form they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes one by one.
    Bytes(Vec<u8>),
    /// Printable text.
    Text(String),
    /// `len` bytes of the random generator from `seed`.
    Random {
        /// Bytes.
        len: usize,
        /// Seed of [`Rng`].
        seed: u64,
    },
    /// `len` times the same byte.
    Fill {
        /// Bytes.
        len: usize,
        /// The byte.
        byte: u8,
    },
    /// Zeros until the whole packet has so many bytes. Only for padding.
    UpTo(usize),
}

impl Content {
    /// The bytes, in a packet that already has `before` bytes.
    fn bytes(&self, before: usize) -> Vec<u8> {
        match self {
            Content::Bytes(bytes) => bytes.clone(),
            Content::Text(text) => text.as_bytes().to_vec(),
            Content::Random { len, seed } => Rng::new(*seed).bytes(*len),
            Content::Fill { len, byte } => vec![*byte; *len],
            Content::UpTo(to) => vec![0; to.saturating_sub(before)],
        }
    }

    /// How many bytes, in a packet that already has `before`.
    fn len(&self, before: usize) -> usize {
        match self {
            Content::Bytes(bytes) => bytes.len(),
            Content::Text(text) => text.len(),
            Content::Random { len, .. } | Content::Fill { len, .. } => *len,
            Content::UpTo(to) => to.saturating_sub(before),
        }
    }
}

/// One layer: its kind and what was given for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// What it is.
    pub kind: LayerKind,
    /// The fields given, by name, in the order given.
    pub fields: Vec<(&'static str, u128)>,
    /// Options of the header, where given.
    pub options: Option<Vec<u8>>,
    /// Content of a layer of plain bytes.
    pub content: Option<Content>,
}

impl Layer {
    /// A layer with nothing given.
    pub fn new(kind: LayerKind) -> Layer {
        Layer { kind, fields: Vec::new(), options: None, content: None }
    }

    /// A layer of plain bytes.
    pub fn plain(kind: LayerKind, content: Content) -> Layer {
        Layer { content: Some(content), ..Layer::new(kind) }
    }

    /// The description of a field of this layer.
    pub fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        self.kind.header().and_then(|h| h.field(name))
    }

    /// What was given for a field.
    pub fn given(&self, name: &str) -> Option<u128> {
        let found = self.fields.iter().find(|(field, _)| *field == name);
        found.map(|(_, value)| *value)
    }

    /// Gives a field; a value given before is replaced.
    fn give(&mut self, field: &'static FieldSpec, value: u128) {
        match self.fields.iter_mut().find(|(name, _)| *name == field.name) {
            Some(entry) => entry.1 = value,
            None => self.fields.push((field.name, value)),
        }
    }
}

/// A packet as a stack of layers. [`PacketSpec::build`] fills in what was not given.
///
/// ```
/// use sluice_packet::layers::{LayerKind, PacketSpec};
/// let packet = PacketSpec::new()
///     .layer(LayerKind::Eth)
///     .layer(LayerKind::Vlan).with("vid", 7u16)
///     .layer(LayerKind::Ipv4).with("ttl", 1u8)
///     .layer(LayerKind::Udp)
///     .payload(vec![1, 2, 3]);
/// assert_eq!(packet.build().unwrap().len(), 14 + 4 + 20 + 8 + 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketSpec {
    /// The layers, outermost first.
    pub layers: Vec<Layer>,
}

impl PacketSpec {
    /// No layers yet.
    pub fn new() -> PacketSpec {
        PacketSpec::default()
    }

    /// Adds a layer with nothing given.
    #[must_use]
    pub fn layer(mut self, kind: LayerKind) -> PacketSpec {
        self.layers.push(Layer::new(kind));
        self
    }

    /// Gives a field of the layer added last. A value too wide for the field is cut.
    ///
    /// # Panics
    /// When the layer has no such field: the names are written in the program, not read.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl FieldValue) -> PacketSpec {
        let layer = self.layers.last_mut().expect("a layer comes before its fields");
        let field = layer.field(name).unwrap_or_else(|| panic!("`{}` has no field `{name}`", layer.kind.name()));
        layer.give(field, value.into_bits() & field.max());
        self
    }

    /// Gives the options of the layer added last.
    #[must_use]
    pub fn options(mut self, bytes: &[u8]) -> PacketSpec {
        if let Some(layer) = self.layers.last_mut() {
            layer.options = Some(bytes.to_vec());
        }
        self
    }

    /// Adds payload.
    #[must_use]
    pub fn payload(mut self, bytes: Vec<u8>) -> PacketSpec {
        let content = Content::Bytes(bytes);
        self.layers.push(Layer::plain(LayerKind::Payload, content));
        self
    }

    /// Adds zeros behind the packet, up to a whole length of `to` bytes.
    #[must_use]
    pub fn pad_to(mut self, to: usize) -> PacketSpec {
        let content = Content::UpTo(to);
        self.layers.push(Layer::plain(LayerKind::Pad, content));
        self
    }
}
