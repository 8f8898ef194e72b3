//! Annotations as P4Info carries them: words as text, lists and pairs as what they are.

use super::message::{Content, Message};
use super::{Refused, refused};
use crate::front::source::Span;
use crate::front::syntax::ast::{Annotation, AnnotationBody, Expr, ExprKind, Unary};

/// What has fields of its own in P4Info.
const OWN: [&str; 4] = ["name", "id", "brief", "description"];

/// Numbers of the fields that hold annotations and words about what is annotated.
pub(super) struct Places {
    pub annotations: u32,
    pub structured: u32,
    pub doc: Option<u32>,
}

pub(super) const PREAMBLE: Places = Places { annotations: 4, structured: 6, doc: Some(5) };
pub(super) const MATCH_FIELD: Places = Places { annotations: 3, structured: 9, doc: Some(6) };
pub(super) const ACTION_REF: Places = Places { annotations: 2, structured: 4, doc: None };
pub(super) const PARAMETER: Places = Places { annotations: 3, structured: 7, doc: Some(5) };
pub(super) const METADATA: Places = Places { annotations: 3, structured: 6, doc: None };
pub(super) const PACKAGE: Places = Places { annotations: 4, structured: 9, doc: Some(3) };
pub(super) const NEW_TYPE: Places = Places { annotations: 3, structured: 4, doc: None };
pub(super) const FIELDS: Places = Places { annotations: 2, structured: 4, doc: None };
pub(super) const ENUM: Places = Places { annotations: 2, structured: 3, doc: None };
pub(super) const SERIALIZABLE: Places = Places { annotations: 3, structured: 4, doc: None };

/// Puts annotations where they go, but those that `skip` names.
pub(super) fn put(into: &mut Message, all: &[Annotation], places: &Places, skip: &[&str]) -> Result<(), Refused> {
    if let Some(number) = places.doc {
        let (brief, description) = (text_of(all, "brief"), text_of(all, "description"));
        if brief.is_some() || description.is_some() {
            let text = |text: Option<String>| Content::Text(text.unwrap_or_default());
            let doc = Message::default().with(1, "brief", text(brief)).with(2, "description", text(description));
            into.put(number, "doc", Content::Message(doc));
        }
    }
    for annotation in all {
        let name = &*annotation.name.text;
        if OWN.contains(&name) || skip.contains(&name) {
            continue;
        }
        match &annotation.body {
            None => into.add(places.annotations, "annotations", Content::Text(format!("@{name}"))),
            Some(AnnotationBody::Words(words)) => {
                let words: Vec<String> = words.iter().map(|word| plain(word)).collect();
                into.add(places.annotations, "annotations", Content::Text(format!("@{name}({})", words.join(" "))));
            }
            Some(body) => {
                into.add(places.structured, "structured_annotations", Content::Message(structured(name, body)?));
            }
        }
    }
    Ok(())
}

/// A word with what its escapes stand for.
fn plain(word: &str) -> String {
    match quoted(word) {
        Some(text) => format!("\"{text}\""),
        None => word.to_string(),
    }
}

/// What stands in quotes.
fn quoted(word: &str) -> Option<String> {
    let inner = word.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

fn structured(name: &str, body: &AnnotationBody) -> Result<Message, Refused> {
    let mut message = Message::default().with(1, "name", Content::Text(name.to_string()));
    let mut inner = Message::default();
    match body {
        AnnotationBody::Words(_) => {}
        AnnotationBody::List(all) => {
            for value in all {
                inner.add(1, "expressions", Content::Message(expression(value)?));
            }
            message.choose(2, "expression_list", Content::Message(inner));
        }
        AnnotationBody::Pairs(all) => {
            for (key, value) in all {
                let pair = Message::default().with(1, "key", Content::Text(key.text.to_string()));
                let pair = pair.with(2, "value", Content::Message(expression(value)?));
                inner.add(1, "kv_pairs", Content::Message(pair));
            }
            message.choose(3, "kv_pair_list", Content::Message(inner));
        }
    }
    Ok(message)
}

/// A value: a text, a number or a bool.
fn expression(value: &Expr) -> Result<Message, Refused> {
    let number = |value: &num_bigint::BigInt| i64::try_from(value).ok();
    let found = match &value.kind {
        ExprKind::Text(text) => Some((1, "string_value", Content::Text(text.to_string()))),
        ExprKind::Number(of) => number(&of.value).map(|n| (2, "int64_value", Content::Wide(n))),
        ExprKind::Unary(Unary::Minus, inner) => match &inner.kind {
            ExprKind::Number(of) => number(&-&of.value).map(|n| (2, "int64_value", Content::Wide(n))),
            _ => None,
        },
        ExprKind::Bool(bit) => Some((3, "bool_value", Content::Bool(*bit))),
        _ => None,
    };
    let Some((at, name, content)) = found else {
        return refused(value.at.span, "this value of an annotation", "it is a text, a bool or a number of 64 bits");
    };
    let mut message = Message::default();
    message.choose(at, name, content);
    Ok(message)
}

/// The words of an annotation in parentheses.
pub(super) fn words<'a>(all: &'a [Annotation], name: &str) -> Option<&'a [std::rc::Rc<str>]> {
    let found = all.iter().find(|annotation| &*annotation.name.text == name)?;
    match &found.body {
        Some(AnnotationBody::Words(words)) => Some(words),
        _ => None,
    }
}

/// The text of an annotation that has one: `@brief("...")`.
pub(super) fn text_of(all: &[Annotation], name: &str) -> Option<String> {
    let texts: Option<Vec<String>> = words(all, name)?.iter().map(|word| quoted(word)).collect();
    texts.map(|texts| texts.concat())
}

/// The number of an annotation that has one: `@id(1)`.
pub(super) fn number_of(all: &[Annotation], name: &str) -> Option<i64> {
    match words(all, name)? {
        [word] => i64::try_from(&crate::front::syntax::number(word).ok()?.value).ok(),
        _ => None,
    }
}

/// `@id`, which is a number of 32 bits.
pub(super) fn id(all: &[Annotation], span: Span) -> Result<Option<u32>, Refused> {
    if all.iter().all(|annotation| &*annotation.name.text != "id") {
        return Ok(None);
    }
    match number_of(all, "id").and_then(|number| u32::try_from(number).ok()).filter(|id| *id != 0) {
        Some(id) => Ok(Some(id)),
        None => refused(span, "@id", "it is one number of 32 bits above 0, as @id(1)"),
    }
}

pub(super) fn has(all: &[Annotation], name: &str) -> bool {
    all.iter().any(|annotation| &*annotation.name.text == name)
}
