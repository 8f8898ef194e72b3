//! How a protocol header is described: once, as a table of fields.
//!
//! The [`header!`] macro turns one description into the typed view (accessors that cannot
//! panic) and into the [`HeaderSpec`] by which packets are built, taken apart, printed and
//! documented.

/// How a field is written in the packet notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Decimal; 0x is read as well.
    Dec,
    /// Hexadecimal with 0x; decimal is read as well.
    Hex,
    /// Six bytes with colons.
    Mac,
    /// Dotted IPv4 address.
    Ipv4,
    /// IPv6 address.
    Ipv6,
    /// Letters of the TCP flags, `-` for none.
    TcpFlags,
}

/// What a field holds when it is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// A constant.
    Fixed(u128),
    /// The number of the layer that follows.
    Next,
    /// The UDP port that the layer that follows is known by, else the constant.
    NextPort(u16),
    /// The header's length divided by the first number, less the second.
    HeaderLength(usize, usize),
    /// Bytes from the start of this header to the end of the packet, padding left out.
    TotalLength,
    /// Bytes after this header to the end of the packet, padding left out.
    PayloadLength,
    /// The Internet checksum over this header alone.
    HeaderSum,
    /// The Internet checksum from this header to the end, padding left out.
    BodySum,
    /// As [`Fill::BodySum`] with the pseudo-header of the IP header before; 0 without one.
    PseudoSum,
    /// As [`Fill::PseudoSum`], with 0 written as 0xffff (RFC 768).
    UdpSum,
}

/// One field of a header.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpec {
    /// Name in the packet notation.
    pub name: &'static str,
    /// First bit, counted from the start of the header.
    pub at: usize,
    /// Width in bits.
    pub bits: usize,
    /// How it is written.
    pub form: Form,
    /// What it holds when not given.
    pub fill: Fill,
    /// What it is, in a few words.
    pub about: &'static str,
}

impl FieldSpec {
    /// The largest value the field can hold.
    pub fn max(&self) -> u128 {
        u128::MAX >> (128 - self.bits)
    }
}

/// One protocol header.
#[derive(Debug)]
pub struct HeaderSpec {
    /// Name in the packet notation.
    pub name: &'static str,
    /// What it is and where it is defined.
    pub about: &'static str,
    /// Length without options, in bytes.
    pub base: usize,
    /// Options after the fixed part: they are padded with zeros to this many bytes; 0 where
    /// the header has none.
    pub options_unit: usize,
    /// Most bytes of options.
    pub options_max: usize,
    /// Options when none are given.
    pub options_default: &'static [u8],
    /// Checks `bytes`, which hold at least `base`, and returns the header's length.
    pub check: fn(&[u8]) -> Result<usize, Malformed>,
    /// The fields in the order of the wire.
    pub fields: &'static [FieldSpec],
    /// Fields that are printed even when they hold their default.
    pub always: &'static [&'static str],
}

impl HeaderSpec {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// The length of the header at the start of `bytes`, once it is known to be whole.
    pub fn length_of(&self, bytes: &[u8]) -> Result<usize, Malformed> {
        let short = |needed| Malformed::Short { header: self.name, needed, found: bytes.len() };
        if bytes.len() < self.base {
            return Err(short(self.base));
        }
        let length = (self.check)(bytes)?;
        if bytes.len() < length {
            return Err(short(length));
        }
        Ok(length)
    }
}

/// Why bytes are no header of the protocol asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes end within the header.
    #[error("{header}: {found} bytes are left, the header has {needed}")]
    Short {
        /// The header.
        header: &'static str,
        /// Bytes of the header.
        needed: usize,
        /// Bytes there are.
        found: usize,
    },
    /// A field that decides how the header is read holds a wrong value.
    #[error("{header}: {field} is {found}, expected {expected}")]
    Field {
        /// The header.
        header: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        found: u32,
        /// What it may be.
        expected: &'static str,
    },
}

/// The check of a header that has only its fixed part.
pub(crate) fn fixed<const LENGTH: usize>(_: &[u8]) -> Result<usize, Malformed> {
    Ok(LENGTH)
}

/// Describes one header: the view type and its [`HeaderSpec`] come from it.
///
/// A field: `/// about`, accessor, setter, type, (name in the notation, first bit, bits,
/// form, fill).
macro_rules! header {
    (
        #[doc = $header_about:literal]
        $View:ident, $spec:ident {
            name: $name:literal, base: $base:literal, check: $check:expr,
            options: ($unit:literal, $max:literal, $default:expr), always: $always:expr,
        }
        $(
            #[doc = $about:literal]
            $get:ident, $set:ident: $ty:ty = ($field:literal, $at:literal, $bits:literal, $form:expr, $fill:expr);
        )*
    ) => {
        #[doc = concat!("Description of `", $name, "`:", $header_about)]
        pub static $spec: $crate::headers::HeaderSpec = $crate::headers::HeaderSpec {
            name: $name,
            about: $header_about,
            base: $base,
            options_unit: $unit,
            options_max: $max,
            options_default: $default,
            check: $check,
            always: $always,
            fields: &[$($crate::headers::FieldSpec {
                name: $field,
                at: $at,
                bits: $bits,
                form: $form,
                fill: $fill,
                about: $about,
            }),*],
        };

        #[doc = $header_about]
        ///
        /// A checked view: after `new_checked` no accessor panics.
        #[derive(Clone, Copy, Debug)]
        pub struct $View<T>(T);

        impl<T: AsRef<[u8]>> $View<T> {
            /// A view of the header at the start of `bytes`, which must be whole.
            pub fn new_checked(bytes: T) -> Result<Self, $crate::headers::Malformed> {
                $spec.length_of(bytes.as_ref())?;
                Ok($View(bytes))
            }

            /// Length of the header with its options, in bytes.
            pub fn header_len(&self) -> usize {
                // A setter may have spoilt the length field since the check.
                $spec.length_of(self.0.as_ref()).unwrap_or($base)
            }

            /// Everything after the header, to the end of the bytes given.
            pub fn rest(&self) -> &[u8] {
                self.0.as_ref().get(self.header_len()..).unwrap_or_default()
            }

            $(
                #[doc = $about]
                #[inline]
                pub fn $get(&self) -> $ty {
                    let bits = $crate::headers::bits::get(self.0.as_ref(), $at, $bits);
                    $crate::headers::bits::FieldValue::from_bits(bits)
                }
            )*
        }

        impl<T: AsRef<[u8]> + AsMut<[u8]>> $View<T> {
            $(
                #[doc = concat!("Sets:", $about)]
                #[inline]
                pub fn $set(&mut self, value: $ty) {
                    let bits = $crate::headers::bits::FieldValue::into_bits(value);
                    $crate::headers::bits::put(self.0.as_mut(), $at, $bits, bits);
                }
            )*

            /// Everything after the header, to be changed.
            pub fn rest_mut(&mut self) -> &mut [u8] {
                let start = self.header_len();
                self.0.as_mut().get_mut(start..).unwrap_or_default()
            }
        }
    };
}
pub(crate) use header;
