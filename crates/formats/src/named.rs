//! Names of a registry: in Rust and in JSON they look like the variants of an enum, although folders add to them.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, VariantAccess, Visitor};
use serde::ser::Serializer;
use std::fmt;
use std::marker::PhantomData;

/// A value that has a name, and where there are several of that name a number.
pub(crate) trait Named: Copy + 'static {
    /// Name of the type.
    const TYPE: &'static str;

    /// One value of each name.
    fn all() -> Vec<Self>;
    /// The name in JSON.
    fn name(&self) -> &'static str;
    /// The number, where there are several.
    fn index(&self) -> Option<u8> {
        None
    }
    /// The value of the same name with another number.
    fn with_index(self, _: u8) -> Self {
        self
    }
}

/// `snake_case` to `CamelCase`.
pub(crate) fn camel(snake: &str) -> String {
    snake
        .split('_')
        .map(|part| {
            let mut chars = part.chars();
            chars.next().map_or(String::new(), |c| c.to_ascii_uppercase().to_string() + chars.as_str())
        })
        .collect()
}

/// `Vlan`, `Port(3)`.
pub(crate) fn debug(value: &impl Named, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = camel(value.name());
    match value.index() {
        None => f.write_str(&name),
        Some(index) => f.debug_tuple(&name).field(&index).finish(),
    }
}

/// `"vlan"`, `{"port": 3}`.
pub(crate) fn serialize<T: Named, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    match value.index() {
        None => to.serialize_unit_variant(T::TYPE, 0, value.name()),
        Some(index) => to.serialize_newtype_variant(T::TYPE, 0, value.name(), &index),
    }
}

/// Reads it; `names` are all that are allowed.
pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(
    names: &'static [&'static str],
    from: D,
) -> Result<T, D::Error> {
    from.deserialize_enum(T::TYPE, names, Value { names, of: PhantomData })
}

struct Value<T> {
    names: &'static [&'static str],
    of: PhantomData<T>,
}

impl<'de, T: Named> Visitor<'de> for Value<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "enum {}", T::TYPE)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<T, A::Error> {
        let (found, variant) = data.variant_seed(self)?;
        match found.index() {
            None => variant.unit_variant().map(|()| found),
            Some(_) => variant.newtype_variant().map(|index| found.with_index(index)),
        }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        T::all().into_iter().find(|v| v.name() == name).ok_or_else(|| E::unknown_variant(name, self.names))
    }
}

impl<'de, T: Named> DeserializeSeed<'de> for Value<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        from.deserialize_identifier(self)
    }
}

/// `Debug`, `Serialize` and `Deserialize` of a type that is `Named`.
macro_rules! serde {
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::named::debug(self, f)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::named::serialize(self, to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                use $crate::named::Named;
                static NAMES: std::sync::LazyLock<Vec<&str>> =
                    std::sync::LazyLock::new(|| <$type as Named>::all().iter().map(Named::name).collect());
                $crate::named::deserialize(NAMES.as_slice(), from)
            }
        }
    };
}
pub(crate) use serde;

/// A name for one value, or for each number of several, as a constant or function of the type.
macro_rules! name {
    ($type:ident, $engine:expr, $at:expr, $name:ident; $($doc:literal)+) => {
        #[allow(non_upper_case_globals, reason = "reads as a variant of an enum to which folders add")]
        impl $crate::address::$type {
            $(#[doc = $doc])+
            pub const $name: Self = Self::place($engine, $at, 0);
        }
    };
    ($type:ident, $engine:expr, $at:expr, $name:ident, $get:ident; $($doc:literal)+) => {
        #[allow(non_snake_case, reason = "reads as a variant of an enum to which folders add")]
        impl $crate::address::$type {
            $(#[doc = $doc])+
            pub const fn $name(index: u8) -> Self {
                Self::place($engine, $at, index)
            }

            #[doc = concat!("The number of a `", stringify!($name), "`; none for others.")]
            pub fn $get(self) -> Option<u8> {
                let Self { index, .. } = self;
                (self == Self::$name(index)).then_some(index)
            }
        }
    };
}
pub(crate) use name;

#[cfg(test)]
mod tests {
    use crate::{Node, Reason, Table};

    #[test]
    fn names_are_written_and_read_like_variants() {
        for (value, text) in [(Node::System, "\"system\""), (Node::Port(3), "{\"port\":3}")] {
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
            assert_eq!(serde_json::from_str::<Node>(text).unwrap(), value);
        }
        for (value, text) in [(Table::PortPolicy, "\"port_policy\""), (Table::Exact(9), "{\"exact\":9}")] {
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
            assert_eq!(serde_json::from_str::<Table>(text).unwrap(), value);
        }
        assert_eq!(serde_json::from_str::<Reason>("\"bad_length\"").unwrap(), Reason::BadLength);
        assert_eq!(
            (format!("{:?}", Node::Port(3)), format!("{:?}", Table::PortPolicy)),
            ("Port(3)".into(), "PortPolicy".into())
        );
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_there_are() {
        let error = serde_json::from_str::<Node>("\"prot\"").unwrap_err().to_string();
        assert!(error.starts_with("unknown variant `prot`, expected one of `system`, `port`, `stamp`"), "{error}");
        assert!(serde_json::from_str::<Node>("\"port\"").is_err());
        assert!(serde_json::from_str::<Node>("{\"system\":1}").is_err());
        assert!(serde_json::from_str::<Table>("{\"exact\":256}").is_err());
    }
}
