//! What an object does with a packet.

use crate::destination::{Destination, Destinations};
use crate::error::{ObjectError, bad};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An action: copies to every destination of the set; none is drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Action {
    /// Where to.
    pub to: Destinations,
    /// The port the packet came from is left out.
    pub except_ingress: bool,
    /// New destination MAC.
    pub set_dmac: Option<[u8; 6]>,
}

impl Action {
    /// Drop.
    pub const DROP: Action = Action { to: Destinations::NONE, except_ingress: false, set_dmac: None };

    /// Send to these destinations.
    pub fn to(destinations: impl IntoIterator<Item = Destination>) -> Self {
        Self { to: destinations.into_iter().collect(), ..Self::DROP }
    }

    /// The same action with the port of arrival left out.
    pub fn except_ingress(mut self) -> Self {
        self.except_ingress = true;
        self
    }

    /// The same action with a new destination MAC.
    pub fn set_dmac(mut self, mac: [u8; 6]) -> Self {
        self.set_dmac = Some(mac);
        self
    }

    /// A drop has no other part: one meaning, one form.
    pub(crate) fn check(&self) -> Result<(), ObjectError> {
        if self.to.is_empty() && *self != Self::DROP {
            return Err(bad(
                "action",
                "drop with except_ingress or set_dmac",
                "drop alone, or at least one destination",
            ));
        }
        if self.except_ingress && !self.to.iter().any(|d| matches!(d, Destination::Port(_))) {
            let found = format!("`except_ingress` with {}", self.to);
            return Err(bad("action", found, "a port among the destinations, for only a port is left out"));
        }
        Ok(())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.to.is_empty() {
            return f.write_str("drop");
        }
        write!(f, "to {}", self.to)?;
        if self.except_ingress {
            f.write_str(" except ingress")?;
        }
        self.set_dmac.map_or(Ok(()), |mac| write!(f, " dmac {}", crate::text::mac(&mac)))
    }
}

/// The long JSON form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    to: Destinations,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    except_ingress: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::optional_mac")]
    set_dmac: Option<[u8; 6]>,
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if *self == Self::DROP {
            return s.serialize_str("drop");
        }
        Fields { to: self.to, except_ingress: self.except_ingress, set_dmac: self.set_dmac }.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct ActionVisitor;
        impl<'de> Visitor<'de> for ActionVisitor {
            type Value = Action;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"drop\" or {\"to\": [destinations], ...}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Action, E> {
                match text {
                    "drop" => Ok(Action::DROP),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Action, A::Error> {
                let f = Fields::deserialize(de::value::MapAccessDeserializer::new(map))?;
                if f.to.is_empty() {
                    return Err(de::Error::custom("`to` without a destination, allowed: \"drop\", or at least one"));
                }
                let action = Action { to: f.to, except_ingress: f.except_ingress, set_dmac: f.set_dmac };
                action.check().map_err(de::Error::custom)?;
                Ok(action)
            }
        }
        d.deserialize_any(ActionVisitor)
    }
}
