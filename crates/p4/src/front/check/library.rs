//! What core.p4 says of its functions and methods in words, and the language of `static_assert`.

use super::calls::Call;
use super::types::Type;
use super::value::Value;
use super::{Checker, DefId, Place, Problem};
use crate::front::syntax::ast::{Expr, Fields, Name};

impl Checker<'_> {
    /// What arguments of an extern function have to be beside their types.
    pub(super) fn library_function(&mut self, name: &str, call: &Call<'_>) {
        match name {
            "static_assert" => {
                let Some(argument) = call.arguments.first() else { return };
                let text = match call.arguments.get(1).map(|text| self.constant(&text.value)) {
                    Some(Some(Value::Text(text))) => format!(": {text}"),
                    _ => String::new(),
                };
                if self.constant(&argument.value) == Some(Value::Bool(false)) {
                    self.note(call.span, Problem::Assertion { text });
                }
            }
            "verify" if matches!(self.place, Place::Apply | Place::Action) => {
                self.misplaced("`verify`", "called", call.span);
            }
            _ => {}
        }
    }

    /// What arguments of a method have to be beside their types.
    pub(super) fn library_method(&mut self, object: DefId, member: &Name, call: &Call<'_>, result: &Type) {
        let first = call.arguments.first().map(|argument| &argument.value);
        let parses = &*self.definition(object).name == "packet_in" && &*member.text != "length";
        if parses && matches!(self.place, Place::Apply | Place::Action | Place::Key | Place::Argument) {
            self.misplaced(&format!("`{}` of a packet", member.text), "called", call.span);
        }
        match (&*self.definition(object).name, &*member.text, first) {
            ("packet_in", "extract", Some(header)) => self.extracted(header, call.arguments.len() == 2),
            ("packet_in", "lookahead", _) => {
                let varying = self.bits(result, true).is_some() && self.bits(result, true) != self.bits(result, false);
                if varying || matches!(result, Type::Void | Type::Int | Type::Text) {
                    self.mismatch(call.span, "what is looked ahead", result, "a type of fixed size");
                }
            }
            ("packet_out", "emit", Some(value)) => {
                let ty = self.type_of(value);
                if !self.is_emitted(&ty) {
                    let allowed = "a header, a header union, or a stack or struct of them";
                    self.mismatch(value.at.span, "what is emitted", &ty, allowed);
                }
            }
            _ => {}
        }
    }

    fn extracted(&mut self, header: &Expr, sized: bool) {
        let ty = self.type_of(header);
        if matches!(ty, Type::Unknown | Type::Any | Type::Parameter(_)) {
            return;
        }
        let Some((Fields::Header, fields)) = self.fields(&ty) else {
            return self.mismatch(header.at.span, "what is extracted", &ty, "a header");
        };
        let varying = fields.iter().filter(|(_, ty)| matches!(ty, Type::Varbit(_))).count();
        if sized && varying != 1 {
            let found = format!("{} with {varying} fields of varbit", self.show(&ty));
            let (what, expected) =
                ("what is extracted with a size".to_string(), "a header with one of them".to_string());
            self.note(header.at.span, Problem::Mismatch { what, found, expected });
        } else if !sized && varying > 0 && !matches!(&ty, Type::Named(id, _) if self.measured.contains(id)) {
            let found = format!("{} with a field of varbit", self.show(&ty));
            let what = "what is extracted without a size".to_string();
            let expected = "a header of fixed size; give the field's size in bits as a second argument".to_string();
            self.note(header.at.span, Problem::Mismatch { what, found, expected });
        }
    }

    fn is_emitted(&self, ty: &Type) -> bool {
        self.look_into(true, || self.is_emitted_in(ty))
    }

    fn is_emitted_in(&self, ty: &Type) -> bool {
        match ty {
            Type::Unknown | Type::Parameter(_) | Type::Any | Type::Invalid => true,
            Type::Stack(element, _) => self.is_emitted(element),
            Type::Tuple(all) | Type::Braces(all) => all.iter().all(|ty| self.is_emitted(ty)),
            _ => match self.fields(ty) {
                Some((Fields::Header | Fields::Union, _)) => true,
                Some((Fields::Struct, fields)) => fields.iter().all(|(_, ty)| self.is_emitted(ty)),
                None => false,
            },
        }
    }
}
