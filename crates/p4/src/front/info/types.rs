//! Types in P4Info: what a key, a parameter or a register holds, and the declared types among them.

use super::annotations::{self, ENUM, FIELDS, NEW_TYPE, SERIALIZABLE};
use super::message::{Content, Message};
use super::{Refused, refused};
use crate::front::check::{DefId, Facts, Kind, Type};
use crate::front::source::Span;
use crate::front::syntax::ast::{self, AliasOf, Annotation, Declaration, DeclarationKind, Program};
use num_bigint::BigInt;
use std::collections::{BTreeMap, HashMap};

/// Annotation by which the controller sees a type as another one.
const TRANSLATION: &str = "p4runtime_translation";

/// Types of a program, and those that were met.
pub(super) struct Types<'p> {
    facts: &'p Facts,
    annotations: HashMap<DefId, &'p [Annotation]>,
    /// By field of `P4TypeInfo` and name.
    met: BTreeMap<(u32, String), Message>,
    errors: bool,
}

impl<'p> Types<'p> {
    pub fn new(tree: &'p Program, facts: &'p Facts) -> Types<'p> {
        let mut annotations = HashMap::new();
        for declaration in &tree.declarations {
            declared(declaration, facts, &mut annotations);
        }
        Types { facts, annotations, met: BTreeMap::new(), errors: false }
    }

    /// The declared new type that a key or parameter has, and how many bits the controller sees; no bits of a text.
    pub fn seen(&mut self, ty: &Type, span: Span) -> Result<(Option<String>, u32), Refused> {
        if let Type::Named(id, _) = ty
            && let Kind::New(of) = &self.facts.definition(*id).kind
        {
            self.spec(ty, span)?;
            let name = self.facts.definition(*id).name.to_string();
            let bits = match self.translated(*id, span)? {
                Some((_, bits)) => bits,
                None => self.seen(&of.clone(), span)?.1,
            };
            return Ok((Some(name), bits));
        }
        let bits = match self.facts.represented(ty).as_ref().unwrap_or(ty) {
            Type::Bool => 1,
            Type::Bit(width) | Type::Signed(width) => *width,
            _ => {
                return refused(
                    span,
                    "its type",
                    "the control plane knows bit<W>, int<W>, bool and what is made of them",
                );
            }
        };
        Ok((None, bits))
    }

    /// URI and bits of `@p4runtime_translation`; no bits of a text.
    fn translated(&self, id: DefId, span: Span) -> Result<Option<(String, u32)>, Refused> {
        let all = self.annotations.get(&id).copied().unwrap_or_default();
        let Some(words) = annotations::words(all, TRANSLATION) else { return Ok(None) };
        let (uri, kind) = match words {
            [uri, comma, kind @ ..] if &**comma == "," => (uri, kind.iter().map(|word| &**word).collect::<Vec<&str>>()),
            _ => return refused(span, "@p4runtime_translation", "it has a URI and a type, as (\"uri\", 32)"),
        };
        let bits = match kind[..] {
            ["string"] => Some(0),
            [width] | ["bit", "<", width, ">"] => width.parse::<u32>().ok().filter(|bits| *bits > 0),
            _ => None,
        };
        match (uri.strip_prefix('"').and_then(|uri| uri.strip_suffix('"')), bits) {
            (Some(uri), Some(bits)) => Ok(Some((uri.to_string(), bits))),
            _ => refused(span, "@p4runtime_translation", "its type is a number of bits, bit<W> or string"),
        }
    }

    /// `P4DataTypeSpec`; what is declared is told by name, and once in the program's types.
    pub fn spec(&mut self, ty: &Type, span: Span) -> Result<Message, Refused> {
        let mut spec = Message::default();
        let (number, name, inner) = match ty {
            Type::Bit(_) | Type::Signed(_) | Type::Varbit(_) => (1, "bitstring", bits(ty)),
            Type::Bool => (2, "bool", Message::default()),
            Type::Tuple(all) | Type::Braces(all) => {
                let mut tuple = Message::default();
                for ty in all.iter() {
                    tuple.add(1, "members", Content::Message(self.spec(ty, span)?));
                }
                (3, "tuple", tuple)
            }
            Type::Stack(element, size) => {
                let Type::Named(id, _) = &**element else { return self.none(span) };
                let is_union = matches!(self.facts.fields(element), Some((ast::Fields::Union, _)));
                self.spec(element, span)?;
                let (number, name, inner) = match is_union {
                    true => (8, "header_union_stack", "header_union"),
                    false => (7, "header_stack", "header"),
                };
                let stack = Message::default().with(1, inner, Content::Message(self.named(*id)));
                (number, name, stack.with(2, "size", Content::Number((*size).into())))
            }
            Type::Error => {
                self.errors = true;
                (10, "error", Message::default())
            }
            Type::Named(id, arguments) if arguments.is_empty() => {
                let (number, name) = match &self.facts.definition(*id).kind {
                    Kind::Fields { kind: ast::Fields::Struct, .. } => (4, "struct"),
                    Kind::Fields { kind: ast::Fields::Header, .. } => (5, "header"),
                    Kind::Fields { kind: ast::Fields::Union, .. } => (6, "header_union"),
                    Kind::Enum { underlying: None, .. } => (9, "enum"),
                    Kind::Enum { underlying: Some(_), .. } => (11, "serializable_enum"),
                    Kind::New(_) => (12, "new_type"),
                    _ => return self.none(span),
                };
                self.meet(*id, ty, span)?;
                (number, name, self.named(*id))
            }
            _ => return self.none(span),
        };
        spec.choose(number, name, Content::Message(inner));
        Ok(spec)
    }

    fn none<T>(&self, span: Span) -> Result<T, Refused> {
        refused(span, "its type", "the control plane has no such type")
    }

    fn named(&self, id: DefId) -> Message {
        Message::default().with(1, "name", Content::Text(self.facts.definition(id).name.to_string()))
    }

    /// Takes a declared type into the program's types.
    fn meet(&mut self, id: DefId, ty: &Type, span: Span) -> Result<(), Refused> {
        let definition = self.facts.definition(id);
        let number = match &definition.kind {
            Kind::Fields { kind: ast::Fields::Struct, .. } => 1,
            Kind::Fields { kind: ast::Fields::Header, .. } => 2,
            Kind::Fields { .. } => 3,
            Kind::Enum { underlying: None, .. } => 4,
            Kind::Enum { .. } => 6,
            _ => 7,
        };
        let key = (number, definition.name.to_string());
        if self.met.contains_key(&key) {
            return Ok(());
        }
        // Types hold no types of their own, so what is inside is met after this.
        self.met.insert(key.clone(), Message::default());
        let annotations = self.annotations.get(&id).copied().unwrap_or_default();
        let mut message = Message::default();
        match &definition.kind {
            Kind::Fields { kind, .. } => {
                for (name, ty) in self.facts.fields(ty).map(|(_, all)| all).unwrap_or_default() {
                    let member = Message::default().with(1, "name", Content::Text(name.to_string()));
                    let member = self.member(member, *kind, &ty, span)?;
                    message.add(1, "members", Content::Message(member));
                }
                annotations::put(&mut message, annotations, &FIELDS, &["controller_header"])?;
            }
            Kind::Enum { underlying: None, members } => {
                for (name, _) in members {
                    let member = Message::default().with(1, "name", Content::Text(name.to_string()));
                    message.add(1, "members", Content::Message(member));
                }
                annotations::put(&mut message, annotations, &ENUM, &[])?;
            }
            Kind::Enum { underlying: Some(of), members } => {
                let width = self.seen(&of.clone(), span)?.1;
                let of = Message::default().with(1, "bitwidth", Content::Number(width.into()));
                message.put(1, "underlying_type", Content::Message(of));
                for (name, value) in members {
                    let member = Message::default().with(1, "name", Content::Text(name.to_string()));
                    let value = value.as_ref().map(|value| bytes(value, width)).unwrap_or_default();
                    message.add(2, "members", Content::Message(member.with(2, "value", Content::Bytes(value))));
                }
                annotations::put(&mut message, annotations, &SERIALIZABLE, &[])?;
            }
            Kind::New(of) => {
                match self.translated(id, span)? {
                    None => message.choose(1, "original_type", Content::Message(self.spec(&of.clone(), span)?)),
                    Some((uri, bits)) => {
                        let mut translated = Message::default().with(1, "uri", Content::Text(uri));
                        match bits {
                            0 => translated.choose(3, "sdn_string", Content::Message(Message::default())),
                            bits => translated.choose(2, "sdn_bitwidth", Content::Number(bits.into())),
                        }
                        message.choose(2, "translated_type", Content::Message(translated));
                    }
                }
                annotations::put(&mut message, annotations, &NEW_TYPE, &[TRANSLATION])?;
            }
            _ => {}
        }
        self.met.insert(key, message);
        Ok(())
    }

    fn member(&mut self, member: Message, kind: ast::Fields, ty: &Type, span: Span) -> Result<Message, Refused> {
        match (kind, ty) {
            (ast::Fields::Struct, _) => Ok(member.with(2, "type_spec", Content::Message(self.spec(ty, span)?))),
            (ast::Fields::Header, _) => {
                // A header's fields are bits, whatever their types are called.
                let mut plain = ty.clone();
                while let Some(of) = self.facts.represented(&plain) {
                    plain = of;
                }
                match plain {
                    Type::Bool => plain = Type::Bit(1),
                    Type::Bit(_) | Type::Signed(_) | Type::Varbit(_) => {}
                    _ => return self.none(span),
                }
                Ok(member.with(2, "type_spec", Content::Message(bits(&plain))))
            }
            (ast::Fields::Union, Type::Named(id, _)) => {
                self.spec(ty, span)?;
                Ok(member.with(2, "header", Content::Message(self.named(*id))))
            }
            _ => self.none(span),
        }
    }

    /// `P4TypeInfo`.
    pub fn told(self) -> Message {
        const NAMES: [&str; 7] =
            ["structs", "headers", "header_unions", "enums", "error", "serializable_enums", "new_types"];
        let mut info = Message::default();
        for ((number, name), message) in self.met {
            info.add(number, NAMES[number as usize - 1], Content::Entry(name, message));
        }
        if self.errors {
            let mut errors = Message::default();
            self.facts.errors.iter().for_each(|e| errors.add(1, "members", Content::Text(e.to_string())));
            info.put(5, "error", Content::Message(errors));
        }
        info
    }
}

/// `P4BitstringLikeTypeSpec`.
fn bits(ty: &Type) -> Message {
    let (number, name, inner, width) = match ty {
        Type::Signed(width) => (2, "int", "bitwidth", *width),
        Type::Varbit(width) => (3, "varbit", "max_bitwidth", *width),
        Type::Bit(width) => (1, "bit", "bitwidth", *width),
        _ => (1, "bit", "bitwidth", 0),
    };
    let mut message = Message::default();
    message.choose(number, name, Content::Message(Message::default().with(1, inner, Content::Number(width.into()))));
    message
}

/// A value without zeros in front, as P4Runtime has them; zero is one byte.
pub(super) fn bytes(value: &BigInt, width: u32) -> Vec<u8> {
    let modulus = BigInt::from(1) << width;
    let value = ((value % &modulus) + &modulus) % &modulus;
    value.to_bytes_be().1
}

/// Annotations of declared types, by what they declare.
fn declared<'p>(declaration: &'p Declaration, facts: &Facts, into: &mut HashMap<DefId, &'p [Annotation]>) {
    let name = match &declaration.kind {
        DeclarationKind::Fields { name, .. } | DeclarationKind::Enum { name, .. } => name,
        DeclarationKind::Alias { name, ty, .. } => {
            if let AliasOf::Declared(inner) = ty {
                declared(inner, facts, into);
            }
            name
        }
        _ => return,
    };
    if let Some(id) = facts.declared(name) {
        into.insert(id, &declaration.annotations);
    }
}
