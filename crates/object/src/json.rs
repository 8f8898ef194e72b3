//! The JSON form of an object, for people.

use crate::action::Action;
use crate::demand::{Demands, Survives};
use crate::destination::Destination;
use crate::error::{ObjectError, bad};
use crate::key::KeyKind;
use crate::key::{KeySpec, Match};
use crate::object::{Entry, Object, Symbol, SymbolOf, TargetNeed};
use crate::part::{Parts, with_parts};
use serde::{Deserialize, Serialize};
use sluice_formats::limits::FORMAT_VERSION;

/// Looked at before the rest, whose fields depend on it.
#[derive(Deserialize)]
struct VersionJson {
    sluice_object: u64,
}

macro_rules! object_json {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $name:ident: $part:ty,)*) => {
        #[derive(Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct ObjectJson {
            sluice_object: u32,
            name: String,
            target: TargetJson,
            key: KeyJson,
            default: Action,
            entries: Vec<EntryJson>,
            demands: Demands,
            #[serde(default)]
            symbols: Vec<SymbolJson>,
            survives: Survives,
            $($(#[cfg($cfg)])? #[serde(default, skip_serializing_if = "Option::is_none")] $name: Option<Box<$part>>,)*
        }

        impl ObjectJson {
            fn of(object: &Object) -> Self {
                let entry = |e: &Entry| EntryJson { key: Match::from_key(&object.key, &e.key), action: e.action };
                Self {
                    sluice_object: FORMAT_VERSION,
                    name: object.name.clone(),
                    target: TargetJson::new(&object.target),
                    key: KeyJson { kind: object.key.kind, fields: object.key.field_names() },
                    default: object.default,
                    entries: object.entries.iter().map(entry).collect(),
                    demands: object.demands.clone(),
                    symbols: object.symbols.iter().map(SymbolJson::new).collect(),
                    survives: object.survives,
                    $($(#[cfg($cfg)])? $name: object.parts.$name.clone(),)*
                }
            }

            fn take_parts(&mut self) -> Parts {
                Parts { $($(#[cfg($cfg)])? $name: self.$name.take(),)* }
            }
        }
    };
}
with_parts!(object_json);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetJson {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyJson {
    kind: KeyKind,
    fields: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryJson {
    #[serde(rename = "match")]
    key: Match,
    action: Action,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SymbolJson {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destination: Option<Destination>,
}

/// The name that stands for every target.
const ANY: &str = "any";

/// serde_json's error with its position in front.
pub(crate) fn json_error(e: &serde_json::Error) -> ObjectError {
    let (line, column) = (e.line(), e.column());
    let text = e.to_string();
    let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text).to_owned();
    ObjectError::Json { line, column, what }
}

impl TargetJson {
    fn new(need: &TargetNeed) -> Self {
        match need {
            TargetNeed::Any => Self { name: ANY.to_owned(), hash: None },
            TargetNeed::Exact { name, hash } => Self { name: name.clone(), hash: Some(format!("{hash:08x}")) },
        }
    }

    fn need(self) -> Result<TargetNeed, ObjectError> {
        match (self.name.as_str(), self.hash) {
            (ANY, None) => Ok(TargetNeed::Any),
            (ANY, Some(hash)) => Err(bad("target.hash", format!("`{hash}`"), "nothing: any target")),
            (_, None) => Err(bad("target.hash", "nothing", "the target's hash, 8 hexadecimal digits")),
            (_, Some(text)) => {
                let digits = text.len() == 8 && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c));
                let hash = u32::from_str_radix(&text, 16).ok().filter(|_| digits);
                let wrong = || bad("target.hash", format!("`{text}`"), "8 hexadecimal digits as in eb5f5ed9");
                Ok(TargetNeed::Exact { hash: hash.ok_or_else(wrong)?, name: self.name })
            }
        }
    }
}

impl SymbolJson {
    fn new(symbol: &Symbol) -> Self {
        let (entry, destination) = match symbol.of {
            SymbolOf::Entry(n) => (Some(n), None),
            SymbolOf::Destination(d) => (None, Some(d)),
        };
        Self { name: symbol.name.clone(), entry, destination }
    }

    fn symbol(self, position: usize) -> Result<Symbol, ObjectError> {
        let of = match (self.entry, self.destination) {
            (Some(n), None) => SymbolOf::Entry(n),
            (None, Some(d)) => SymbolOf::Destination(d),
            (Some(_), Some(_)) => return Err(bad(format!("symbols[{position}]"), "both", "entry or destination")),
            (None, None) => return Err(bad(format!("symbols[{position}]"), "neither", "entry or destination")),
        };
        Ok(Symbol { name: self.name, of })
    }
}

impl Object {
    /// The JSON form: same object, same bytes.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&ObjectJson::of(self)).expect("an object has text keys only");
        text.push('\n');
        text
    }

    /// The JSON form as a value.
    pub fn to_json_value(&self) -> serde_json::Value {
        serde_json::to_value(ObjectJson::of(self)).expect("an object has text keys only")
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Self, ObjectError> {
        let version: VersionJson = serde_json::from_str(text).map_err(|e| json_error(&e))?;
        if version.sluice_object != u64::from(FORMAT_VERSION) {
            let found = version.sluice_object;
            return Err(ObjectError::Version { what: "object", found, allowed: FORMAT_VERSION });
        }
        let mut json: ObjectJson = serde_json::from_str(text).map_err(|e| json_error(&e))?;
        let parts = json.take_parts();
        let key = KeySpec::of_fields(json.key.kind, &json.key.fields)?;
        let entry = |(i, e): (usize, &EntryJson)| {
            let masked = e.key.key(&key).map_err(|err| err.within(&format!("entries[{i}]")))?;
            Ok(Entry { key: masked, action: e.action })
        };
        let symbols = json.symbols.into_iter().enumerate().map(|(i, s)| s.symbol(i));
        let object = Object {
            name: json.name,
            target: json.target.need()?,
            key,
            default: json.default,
            entries: json.entries.iter().enumerate().map(entry).collect::<Result<_, ObjectError>>()?,
            demands: json.demands,
            symbols: symbols.collect::<Result<_, _>>()?,
            survives: json.survives,
            parts,
        };
        object.check()?;
        Ok(object)
    }

    /// Reads either form: binary objects begin with `SLOB`.
    pub fn decode(bytes: &[u8]) -> Result<Self, ObjectError> {
        if bytes.starts_with(&crate::binary::OBJECT_MAGIC) {
            return Self::from_binary(bytes);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) if text.trim_start().starts_with('{') => Self::from_json(text),
            Err(error) if bytes.trim_ascii_start().starts_with(b"{") => {
                let good = &bytes[..error.valid_up_to()];
                let begin = good.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                let line = good.iter().filter(|b| **b == b'\n').count() + 1;
                let column = String::from_utf8_lossy(&good[begin..]).chars().count() + 1;
                let what = format!("found no UTF-8 at byte offset {}, allowed: UTF-8 text", good.len());
                Err(ObjectError::Json { line, column, what })
            }
            _ => Err(ObjectError::Binary {
                offset: 0,
                found: format!("bytes {:02x?}", &bytes[..bytes.len().min(4)]),
                expected: "`SLOB` of a binary object or `{` of a JSON object".to_owned(),
            }),
        }
    }
}
