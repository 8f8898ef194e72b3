//! The message of a program.

use super::annotations::{self, ACTION_REF, MATCH_FIELD, METADATA, PACKAGE, PARAMETER, PREAMBLE};
use super::ids::{self, Prefix, Wanted};
use super::message::{Content, Message};
use super::types::{Types, bytes};
use super::{Refused, refused};
use crate::Reservation;
use crate::front::check::{Facts, Type};
use crate::front::interpret::{Code, MatchKind, ObjectKind, ToldParameter};
use crate::front::source::Span;
use crate::front::syntax::ast::{self, Annotation, AnnotationBody, DeclarationKind, ExprKind, Program, given_name};
use num_bigint::BigInt;
use sluice_object::rmt::USUAL_SIZE;
use std::collections::HashMap;

/// What has a number: what it is, and its index among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entity {
    Action(usize),
    Table(usize),
    Object(usize),
    ValueSet(usize),
    Digest(usize),
    Header(usize),
}

/// A header of packets to or from the controller.
struct Header<'p> {
    name: String,
    ty: &'p ast::Name,
    annotations: &'p [Annotation],
    fields: &'p [ast::Field],
}

struct Builder<'p> {
    facts: &'p Facts,
    code: &'p Code,
    types: Types<'p>,
    reserved: &'p [Reservation],
    headers: Vec<Header<'p>>,
    ids: HashMap<Entity, (u32, String, String)>,
}

/// `P4Info` of a program.
pub(super) fn message(
    tree: &Program,
    facts: &Facts,
    code: &Code,
    reserved: &[Reservation],
) -> Result<Message, Refused> {
    let types = Types::new(tree, facts);
    let mut builder = Builder { facts, code, types, reserved, headers: headers(tree), ids: HashMap::new() };
    builder.number()?;
    let mut info = Message::default();
    info.put(1, "pkg_info", Content::Message(package(tree, code)?));
    for at in 0..code.tables.len() {
        builder.table(at, &mut info)?;
    }
    for at in 0..code.actions.len() {
        builder.action(at, &mut info)?;
    }
    for at in 0..code.objects.len() {
        builder.object(at, &mut info)?;
    }
    for at in 0..builder.headers.len() {
        builder.header(at, &mut info)?;
    }
    for at in 0..code.value_sets.len() {
        builder.value_set(at, &mut info)?;
    }
    for at in 0..code.told.digests.len() {
        builder.digest(at, &mut info)?;
    }
    info.put(200, "type_info", Content::Message(builder.types.told()));
    Ok(info)
}

/// `PkgInfo`, from the annotations of `main`.
fn package(tree: &Program, code: &Code) -> Result<Message, Refused> {
    let mut package = Message::default();
    let arch = if code.system.is_some() { "sluice" } else { "v1model" };
    package.put(5, "arch", Content::Text(arch.to_string()));
    let main = tree.declarations.iter().find(|declaration| match &declaration.kind {
        DeclarationKind::Instance(instance) => &*instance.name.text == "main",
        _ => false,
    });
    let Some(main) = main else { return Ok(package) };
    const FIELDS: [(u32, &str); 5] = [(1, "name"), (2, "version"), (6, "organization"), (7, "contact"), (8, "url")];
    let mut put = |key: &str, text: &str| {
        if let Some((number, name)) = FIELDS.iter().find(|(_, name)| *name == key) {
            package.put(*number, name, Content::Text(text.to_string()));
        }
    };
    for annotation in main.annotations.iter().filter(|a| &*a.name.text == "pkginfo") {
        match &annotation.body {
            Some(AnnotationBody::Words(words)) => {
                for pair in words.split(|word| &**word == ",") {
                    if let [key, mark, text] = pair
                        && &**mark == "="
                    {
                        put(key, text.trim_matches('"'));
                    }
                }
            }
            Some(AnnotationBody::Pairs(pairs)) => {
                for (key, value) in pairs {
                    if let ExprKind::Text(text) = &value.kind {
                        put(&key.text, text);
                    }
                }
            }
            _ => {}
        }
    }
    annotations::put(&mut package, &main.annotations, &PACKAGE, &["pkginfo"])?;
    Ok(package)
}

fn headers(tree: &Program) -> Vec<Header<'_>> {
    let mut all = Vec::new();
    for declaration in &tree.declarations {
        if let DeclarationKind::Fields { kind: ast::Fields::Header, name: ty, fields, .. } = &declaration.kind
            && let Some(name) = annotations::text_of(&declaration.annotations, "controller_header")
        {
            all.push(Header { name, ty, annotations: &declaration.annotations, fields });
        }
    }
    all
}

impl Builder<'_> {
    /// Gives everything its number and alias.
    fn number(&mut self) -> Result<(), Refused> {
        let (code, told) = (self.code, &self.code.told);
        let mut all: Vec<(Entity, Wanted)> = Vec::new();
        let mut want = |entity: Entity,
                        prefix: Prefix,
                        name: &str,
                        hashed: &str,
                        annotations: &[Annotation],
                        span: Span|
         -> Result<(), Refused> {
            if annotations::has(annotations, "hidden") {
                return Ok(());
            }
            let given = annotations::id(annotations, span)?;
            let (name, hashed) = (name.to_string(), hashed.to_string());
            all.push((entity, Wanted { prefix, name, hashed, given, span }));
            Ok(())
        };
        for (at, (action, told)) in code.actions.iter().zip(&told.actions).enumerate() {
            // One of the whole program is told where a table has it.
            let listed = |at| code.tables.iter().any(|table| table.actions.iter().any(|a| a.action == at));
            // So is one that shares its name with another: the checker lets it if nothing runs it, or both do the same.
            let mut others = code.actions.iter().enumerate().filter(|(other, _)| *other != at);
            let mut again = || others.any(|(other, one)| one.name == action.name && (other < at || listed(other)));
            if (!told.global && !again()) || listed(at) {
                let name = &action.name;
                want(Entity::Action(at), Prefix::Action, name, name, &told.annotations, told.span)?;
            }
        }
        for (at, (table, told)) in code.tables.iter().zip(&told.tables).enumerate() {
            want(Entity::Table(at), Prefix::Table, &table.name, &table.name, &told.annotations, told.span)?;
        }
        for (at, (object, told)) in code.objects.iter().zip(&told.objects).enumerate() {
            let prefix = match object.kind {
                ObjectKind::Counter { direct: false, .. } => Prefix::Counter,
                ObjectKind::Counter { .. } => Prefix::DirectCounter,
                ObjectKind::Meter { direct: false, .. } => Prefix::Meter,
                ObjectKind::Meter { .. } => Prefix::DirectMeter,
                ObjectKind::Register { .. } => Prefix::Register,
                ObjectKind::Profile { .. } => Prefix::ActionProfile,
                // Their rate is the program's, so that nobody may set it.
                ObjectKind::Police { .. } | ObjectKind::Plain => continue,
            };
            let direct = matches!(prefix, Prefix::DirectCounter | Prefix::DirectMeter);
            if direct && self.table_of(at).is_none() {
                continue;
            }
            want(Entity::Object(at), prefix, &object.name, &object.name, &told.annotations, told.span)?;
        }
        for (at, (name, told)) in code.value_sets.iter().zip(&told.value_sets).enumerate() {
            want(Entity::ValueSet(at), Prefix::ValueSet, name, name, &told.annotations, told.span)?;
        }
        for (at, (ty, span)) in told.digests.iter().enumerate() {
            let name = match ty {
                Type::Named(id, _) => self.facts.definition(*id).name.to_string(),
                _ => format!("digest_{at}"),
            };
            want(Entity::Digest(at), Prefix::Digest, &name, &name, &[], *span)?;
        }
        for (at, header) in self.headers.iter().enumerate() {
            let (name, ty) = (&header.name, &header.ty.text);
            want(Entity::Header(at), Prefix::ControllerHeader, name, ty, header.annotations, header.ty.span)?;
        }
        let (entities, wanted): (Vec<Entity>, Vec<Wanted>) = all.into_iter().unzip();
        let numbers = ids::numbers(&wanted)?;
        let named = ids::aliases(&wanted).into_iter().zip(wanted);
        let told = numbers.into_iter().zip(named).map(|(id, (alias, wanted))| (id, wanted.name, alias));
        self.ids = entities.into_iter().zip(told).collect();
        Ok(())
    }

    fn id(&self, entity: Entity) -> Option<i64> {
        self.ids.get(&entity).map(|(id, ..)| i64::from(*id))
    }

    /// A message that begins with its preamble; nothing of what is hidden.
    fn begin(&self, entity: Entity, annotations: &[Annotation], skip: &[&str]) -> Result<Option<Message>, Refused> {
        let Some((id, name, alias)) = self.ids.get(&entity) else { return Ok(None) };
        let mut preamble = Message::default();
        preamble.put(1, "id", Content::Number((*id).into()));
        preamble.put(2, "name", Content::Text(name.clone()));
        preamble.put(3, "alias", Content::Text(alias.clone()));
        annotations::put(&mut preamble, annotations, &PREAMBLE, skip)?;
        Ok(Some(Message::default().with(1, "preamble", Content::Message(preamble))))
    }

    /// The table that a direct counter or meter belongs to.
    fn table_of(&self, object: usize) -> Option<usize> {
        self.code.tables.iter().position(|table| table.direct.contains(&object))
    }

    fn table(&mut self, at: usize, info: &mut Message) -> Result<(), Refused> {
        let (table, told) = (&self.code.tables[at], &self.code.told.tables[at]);
        let Some(mut message) = self.begin(Entity::Table(at), &told.annotations, &[])? else { return Ok(()) };
        let mut given = Ids::default();
        for (key, (annotations, ty, span)) in table.keys.iter().zip(&told.keys) {
            let (number, name) = match key.kind {
                MatchKind::Exact => (2, "EXACT"),
                MatchKind::Lpm => (3, "LPM"),
                MatchKind::Ternary => (4, "TERNARY"),
                MatchKind::Range => (5, "RANGE"),
                MatchKind::Optional => (6, "OPTIONAL"),
                MatchKind::Selector => continue,
            };
            let mut field = Message::default();
            field.put(1, "id", Content::Number(given.next(annotations, *span)?));
            field.put(2, "name", Content::Text(key.name.clone()));
            field.put(5, "match_type", Content::Word(name, number));
            self.typed(&mut field, 4, 8, ty, *span)?;
            annotations::put(&mut field, annotations, &MATCH_FIELD, &[])?;
            message.add(2, "match_fields", Content::Message(field));
        }
        for (listed, annotations) in table.actions.iter().zip(&told.actions) {
            let Some(id) = self.id(Entity::Action(listed.action)) else { continue };
            let mut action = Message::default().with(1, "id", Content::Number(id));
            annotations::put(&mut action, annotations, &ACTION_REF, &[])?;
            if listed.default_only && annotations.is_empty() {
                action.add(2, "annotations", Content::Text("@defaultonly".to_string()));
            }
            let scope = match (listed.table_only, listed.default_only) {
                (true, _) => Content::Word("TABLE_ONLY", 1),
                (_, true) => Content::Word("DEFAULT_ONLY", 2),
                _ => Content::Word("TABLE_AND_DEFAULT", 0),
            };
            action.put(3, "scope", scope);
            message.add(3, "action_refs", Content::Message(action));
        }
        self.default(at, &mut message)?;
        if let Some(id) = table.implementation.and_then(|object| self.id(Entity::Object(object))) {
            message.put(6, "implementation_id", Content::Number(id));
        }
        for id in table.direct.iter().filter_map(|object| self.id(Entity::Object(*object))) {
            message.add(7, "direct_resource_ids", Content::Number(id));
        }
        let reserved = self.reserved.iter().find(|reserved| reserved.table == table.name);
        let size = reserved.map_or(table.size.unwrap_or(USUAL_SIZE.into()), |reserved| reserved.reserved.into());
        message.put(8, "size", wide(size));
        if told.times_out {
            message.put(9, "idle_timeout_behavior", Content::Word("NOTIFY_CONTROL", 1));
        }
        message.put(10, "is_const_table", Content::Bool(table.constant));
        message.put(11, "has_initial_entries", Content::Bool(!table.entries.is_empty()));
        info.add(2, "tables", Content::Message(message));
        Ok(())
    }

    /// The default action; one that an action profile gives has none here.
    fn default(&mut self, at: usize, message: &mut Message) -> Result<(), Refused> {
        let table = &self.code.tables[at];
        let (listed, data) = &table.default;
        let action = table.actions[*listed].action;
        let Some(id) = self.id(Entity::Action(action)) else { return Ok(()) };
        if table.default_constant {
            message.put(4, "const_default_action_id", Content::Number(id));
        }
        if table.implementation.is_some() {
            return Ok(());
        }
        let mut call = Message::default().with(1, "action_id", Content::Number(id));
        let parameters = &self.code.told.actions[action].data;
        let mut given = Ids::default();
        for (parameter, value) in parameters.iter().zip(data) {
            let number = given.next(&parameter.annotations, parameter.span)?;
            let (_, width) = self.types.seen(&parameter.ty, parameter.span)?;
            let value = bytes(&BigInt::from(value.big()), width.max(value.big().bits() as u32).max(1));
            let argument = Message::default().with(2, "param_id", Content::Number(number));
            call.add(4, "arguments", Content::Message(argument.with(3, "value", Content::Bytes(value))));
        }
        message.put(5, "initial_default_action", Content::Message(call));
        Ok(())
    }

    /// Bits and new type of a field.
    fn typed(&mut self, into: &mut Message, bits: u32, name: u32, ty: &Type, span: Span) -> Result<(), Refused> {
        let (new, width) = self.types.seen(ty, span)?;
        into.put(bits, "bitwidth", Content::Number(width.into()));
        if let Some(new) = new {
            let named = Message::default().with(1, "name", Content::Text(new));
            into.put(name, "type_name", Content::Message(named));
        }
        Ok(())
    }

    fn action(&mut self, at: usize, info: &mut Message) -> Result<(), Refused> {
        let told = &self.code.told.actions[at];
        let Some(mut message) = self.begin(Entity::Action(at), &told.annotations, &[])? else { return Ok(()) };
        let mut given = Ids::default();
        for parameter in &told.data {
            let ToldParameter { name, span, annotations, ty } = parameter;
            let mut field = Message::default();
            field.put(1, "id", Content::Number(given.next(annotations, *span)?));
            let name = given_name(annotations).unwrap_or(name);
            field.put(2, "name", Content::Text(name.to_string()));
            self.typed(&mut field, 4, 6, ty, *span)?;
            annotations::put(&mut field, annotations, &PARAMETER, &[])?;
            message.add(2, "params", Content::Message(field));
        }
        info.add(3, "actions", Content::Message(message));
        Ok(())
    }

    fn object(&mut self, at: usize, info: &mut Message) -> Result<(), Refused> {
        const OF_PROFILES: [&str; 3] = ["max_group_size", "selector_size_semantics", "max_member_weight"];
        let (object, told) = (&self.code.objects[at], &self.code.told.objects[at]);
        let Some(mut message) = self.begin(Entity::Object(at), &told.annotations, &OF_PROFILES)? else {
            return Ok(());
        };
        let unit = match &*told.unit {
            "bytes" => Content::Word("BYTES", 1),
            "packets" => Content::Word("PACKETS", 2),
            _ => Content::Word("BOTH", 3),
        };
        let spec = |unit| Content::Message(Message::default().with(1, "unit", unit));
        let table = self.table_of(at).and_then(|table| self.id(Entity::Table(table)));
        let (number, name) = match &object.kind {
            ObjectKind::Counter { cells, direct: false, .. } => {
                message.put(2, "spec", spec(unit));
                message.put(3, "size", wide(*cells as u64));
                (5, "counters")
            }
            ObjectKind::Counter { .. } => {
                message.put(2, "spec", spec(unit));
                message.put(3, "direct_table_id", Content::Number(table.unwrap_or_default()));
                (6, "direct_counters")
            }
            ObjectKind::Meter { cells, direct: false, .. } => {
                message.put(2, "spec", spec(unit));
                message.put(3, "size", wide(*cells as u64));
                (7, "meters")
            }
            ObjectKind::Meter { .. } => {
                message.put(2, "spec", spec(unit));
                message.put(3, "direct_table_id", Content::Number(table.unwrap_or_default()));
                (8, "direct_meters")
            }
            ObjectKind::Register { cells, .. } => {
                let Some(ty) = told.types.first() else { return Ok(()) };
                message.put(2, "type_spec", Content::Message(self.types.spec(ty, told.span)?));
                message.put(3, "size", Content::Number(*cells as i64));
                (11, "registers")
            }
            ObjectKind::Profile { selects } => {
                for (table, of) in self.code.tables.iter().enumerate() {
                    if let Some(id) = self.id(Entity::Table(table)).filter(|_| of.implementation == Some(at)) {
                        message.add(2, "table_ids", Content::Number(id));
                    }
                }
                message.put(3, "with_selector", Content::Bool(*selects));
                message.put(4, "size", wide(told.size.unwrap_or_default()));
                let most = annotations::number_of(&told.annotations, "max_group_size").unwrap_or_default();
                message.put(5, "max_group_size", Content::Number(most));
                let members = annotations::words(&told.annotations, "selector_size_semantics");
                if members.is_some_and(|words| words.iter().any(|word| &**word == "sum_of_members")) {
                    let weight = annotations::number_of(&told.annotations, "max_member_weight").unwrap_or_default();
                    let sum = Message::default().with(1, "max_member_weight", Content::Number(weight));
                    message.choose(7, "sum_of_members", Content::Message(sum));
                }
                (4, "action_profiles")
            }
            ObjectKind::Police { .. } | ObjectKind::Plain => return Ok(()),
        };
        info.add(number, name, Content::Message(message));
        Ok(())
    }

    fn header(&mut self, at: usize, info: &mut Message) -> Result<(), Refused> {
        let header = &self.headers[at];
        let (annotations, fields, span) = (header.annotations, header.fields, header.ty.span);
        let Some(mut message) = self.begin(Entity::Header(at), annotations, &[])? else { return Ok(()) };
        let Some(id) = self.facts.declared(header.ty) else { return Ok(()) };
        let ty = Type::Named(id, std::rc::Rc::from([]));
        let types = self.facts.fields(&ty).map(|(_, all)| all).unwrap_or_default();
        let mut given = Ids::default();
        for (field, (name, ty)) in fields.iter().zip(types) {
            let mut told = Message::default();
            told.put(1, "id", Content::Number(given.next(&field.annotations, span)?));
            let name = given_name(&field.annotations).unwrap_or(&name);
            told.put(2, "name", Content::Text(name.to_string()));
            self.typed(&mut told, 4, 5, &ty, field.name.span)?;
            annotations::put(&mut told, &field.annotations, &METADATA, &[])?;
            message.add(2, "metadata", Content::Message(told));
        }
        info.add(9, "controller_packet_metadata", Content::Message(message));
        Ok(())
    }

    fn value_set(&mut self, at: usize, info: &mut Message) -> Result<(), Refused> {
        let told = &self.code.told.value_sets[at];
        let Some(mut message) = self.begin(Entity::ValueSet(at), &told.annotations, &[])? else { return Ok(()) };
        let none = Vec::new();
        let fields: Vec<(String, Type, &Vec<Annotation>)> = match &told.fields {
            Some(annotations) => {
                let all = self.facts.fields(&told.element).map(|(_, all)| all).unwrap_or_default();
                all.into_iter().zip(annotations).map(|((name, ty), a)| (name.to_string(), ty, a)).collect()
            }
            None => vec![(String::new(), told.element.clone(), &none)],
        };
        let mut given = Ids::default();
        for (name, ty, annotations) in fields {
            let mut field = Message::default();
            field.put(1, "id", Content::Number(given.next(annotations, told.span)?));
            field.put(2, "name", Content::Text(name));
            let kind = annotations::words(annotations, "match").and_then(<[_]>::first);
            let (word, number) = match kind.map(|word| &**word) {
                None | Some("exact") => ("EXACT", 2),
                Some("lpm") => ("LPM", 3),
                Some("ternary") => ("TERNARY", 4),
                Some("range") => ("RANGE", 5),
                Some("optional") => ("OPTIONAL", 6),
                Some(other) => {
                    return refused(
                        told.span,
                        format!("@match({other})"),
                        "it is exact, lpm, ternary, range or optional",
                    );
                }
            };
            field.put(5, "match_type", Content::Word(word, number));
            self.typed(&mut field, 4, 8, &ty, told.span)?;
            annotations::put(&mut field, annotations, &MATCH_FIELD, &["match"])?;
            message.add(2, "match", Content::Message(field));
        }
        message.put(3, "size", Content::Number(i64::try_from(told.size).unwrap_or(i64::MAX).min(i32::MAX.into())));
        info.add(10, "value_sets", Content::Message(message));
        Ok(())
    }

    fn digest(&mut self, at: usize, info: &mut Message) -> Result<(), Refused> {
        let (ty, span) = &self.code.told.digests[at];
        let Some(mut message) = self.begin(Entity::Digest(at), &[], &[])? else { return Ok(()) };
        message.put(2, "type_spec", Content::Message(self.types.spec(ty, *span)?));
        info.add(12, "digests", Content::Message(message));
        Ok(())
    }
}

fn wide(value: u64) -> Content {
    Content::Wide(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Numbers of keys, parameters and fields: what `@id` says, or the place among the others, from 1.
#[derive(Default)]
struct Ids {
    count: u32,
    taken: Vec<u32>,
}

impl Ids {
    fn next(&mut self, annotations: &[Annotation], span: Span) -> Result<i64, Refused> {
        self.count += 1;
        let id = annotations::id(annotations, span)?.unwrap_or(self.count);
        if self.taken.contains(&id) {
            return refused(span, format!("@id({id})"), "another one beside it has this number");
        }
        self.taken.push(id);
        Ok(id.into())
    }
}
