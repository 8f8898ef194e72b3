//! Parts of an object: at most one for each engine. This file is the registry of those that there are.

use crate::action::Action;
use crate::bytes::{Reader, Writer};
use crate::error::{ObjectError, bad};
use crate::key::KeyKind;
use crate::object::{Object, TargetNeed};
use sluice_formats::EngineId;
use std::fmt;

/// What an engine's folder says of its part of an object. The JSON form is the part's serde form.
pub(crate) trait Part: Sized {
    /// The engine.
    const ENGINE: EngineId;
    /// Number of its section in the binary form.
    const SECTION: u32;
    /// Refuses what no part may be, or none in this object.
    fn check_in(&self, object: &Object) -> Result<(), ObjectError>;
    /// Writes the section.
    fn write(&self, w: &mut Writer);
    /// Reads it.
    fn read(r: &mut Reader) -> Result<Self, ObjectError>;
    /// Lines of `sluice object show`.
    fn show(&self, out: &mut String) -> fmt::Result;
}

/// Hands the engines' parts to a macro: name in JSON and in [`Parts`], type; in the order of the sections.
macro_rules! with_parts {
    ($then:ident) => {
        $then! {
            /// Programs and maps of the XDP engine.
            xdp: crate::xdp::Xdp,
            /// Rows of a program of the rmt pipeline.
            rmt: crate::rmt::RmtPart,
            /// Rows of a program of the l7 engine.
            l7: crate::l7::L7Part,
            /// Limit of the probe, which tests of the seam have.
            #[cfg(feature = "probe")]
            probe: crate::probe::ProbePart,
        }
    };
}
pub(crate) use with_parts;

macro_rules! parts {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $name:ident: $part:ty,)*) => {
        /// The engines' parts of an object.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Parts { $($(#[doc = $doc])+ $(#[cfg($cfg)])? pub $name: Option<Box<$part>>,)* }

        impl Parts {
            /// Engines that have a part, in the order of the binary form.
            pub fn engines(&self) -> Vec<EngineId> {
                let mut all = Vec::new();
                $($(#[cfg($cfg)])? all.extend(self.$name.as_ref().map(|_| <$part as Part>::ENGINE));)*
                all
            }

            /// Takes an engine's part away.
            pub fn remove(&mut self, engine: EngineId) {
                $($(#[cfg($cfg)])? if engine == <$part as Part>::ENGINE { self.$name = None; })*
            }

            /// Takes over the parts of another object; an engine that both have a part for is told.
            pub fn join(&mut self, other: Parts) -> Result<(), EngineId> {
                $($(#[cfg($cfg)])? {
                    if self.$name.is_some() && other.$name.is_some() { return Err(<$part as Part>::ENGINE); }
                })*
                $($(#[cfg($cfg)])? { self.$name = self.$name.take().or(other.$name); })*
                Ok(())
            }

            pub(crate) fn check(&self, object: &Object) -> Result<(), ObjectError> {
                $($(#[cfg($cfg)])? self.$name.as_deref().map_or(Ok(()), |part| part.check_in(object))?;)*
                Ok(())
            }

            pub(crate) fn write(&self, w: &mut Writer) {
                $($(#[cfg($cfg)])? {
                    if let Some(part) = &self.$name { w.section(<$part as Part>::SECTION, |w| part.write(w)); }
                })*
            }

            pub(crate) fn read(file: &mut Reader) -> Result<Self, ObjectError> {
                let mut parts = Self::default();
                $($(#[cfg($cfg)])? {
                    if file.next_is(<$part as Part>::SECTION) {
                        let name = stringify!($name);
                        let mut r = file.section(<$part as Part>::SECTION, name)?;
                        parts.$name = Some(Box::new(<$part as Part>::read(&mut r)?));
                        r.finish(&format!("section {name}"))?;
                    }
                })*
                Ok(parts)
            }

            pub(crate) fn show(&self, out: &mut String) -> fmt::Result {
                $($(#[cfg($cfg)])? self.$name.as_deref().map_or(Ok(()), |part| part.show(out))?;)*
                Ok(())
            }
        }
    };
}
with_parts!(parts);

impl Parts {
    /// Whether no engine has a part: the object is a table.
    pub fn is_empty(&self) -> bool {
        self.engines().is_empty()
    }

    /// Whether this engine has one.
    pub fn has(&self, engine: EngineId) -> bool {
        self.engines().contains(&engine)
    }
}

impl Object {
    /// Whether it is rules for dispatch and nothing else, so that it may stand beside a table.
    pub fn is_rules(&self) -> bool {
        self.parts.engines() == [EngineId::L7] && self.key.kind == KeyKind::None
    }

    /// One object with the parts of both: a tenant runs them together. It has this one's name; what both demand
    /// is added up where it can be shared, and the larger of the two otherwise. Rules for dispatch leave the default,
    /// and the table, to the other one.
    pub fn join(mut self, mut other: Object) -> Result<Object, ObjectError> {
        if self.is_rules() && !other.is_rules() {
            let name = std::mem::replace(&mut self.name, other.name.clone());
            std::mem::swap(&mut self, &mut other);
            (other.name, self.name) = (self.name, name);
        }
        let rmt = self.parts.rmt.is_some() || other.parts.rmt.is_some();
        let beside_table = other.is_rules();
        for object in [&mut self, &mut other] {
            if object.parts.is_empty() && !beside_table {
                let allowed = "programs for different engines: a table is a program of the rmt pipeline";
                return Err(bad("parts", format!("`{}`, a table", object.name), allowed));
            }
            // With an rmt part there is no destination to pass to, and so no demand for it.
            if rmt {
                let passed = std::mem::replace(&mut object.default, Action::DROP).to;
                object.demands.queues.retain(|destination, cells| *cells > 0 || !passed.contains(*destination));
            }
        }
        let (own, others) = (self.name.clone(), other.name.clone());
        self.target = match (self.target, other.target) {
            (TargetNeed::Any, target) | (target, TargetNeed::Any) => target,
            (one, another) if one == another => one,
            _ => return Err(bad("target", format!("`{own}` and `{others}` for different targets"), "one target")),
        };
        self.parts.join(other.parts).map_err(|engine| {
            bad("parts", format!("`{own}` and `{others}`, both for the engine {engine}"), "one program an engine")
        })?;
        let (ours, theirs) = (&mut self.demands, other.demands);
        for (destination, cells) in theirs.queues {
            let demanded = ours.queues.entry(destination).or_default();
            *demanded = (*demanded).max(cells);
        }
        ours.quantum = ours.quantum.max(theirs.quantum);
        ours.rate = match (ours.rate, theirs.rate) {
            (Some(a), Some(b)) if a.bits_per_second < b.bits_per_second => Some(b),
            (a, b) => a.or(b),
        };
        self.symbols.extend(other.symbols);
        self.check()?;
        Ok(self)
    }
}
