//! Reading the packet notation.

use super::error::{NotationError, Problem};
use super::value;
use crate::headers::HeaderSpec;
use crate::layers::{Content, Layer, LayerKind, MAX_PACKET_BYTES, PacketSpec};
use crate::text::{Cursor, Span, number, quote};

/// Most layers of a packet: a bound on work, far above any real packet.
const MAX_LAYERS: usize = 64;

/// A packet as it stands in a text, where `...` may end it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The layers.
    pub packet: PacketSpec,
    /// Whether `/...` ends it: then what was not given is free.
    pub open: bool,
    /// Where it stands.
    pub span: Span,
}

/// Parses `text`, all of which must be one packet.
pub fn parse(text: &str) -> Result<PacketSpec, NotationError> {
    let written = parse_whole(text)?;
    if written.open {
        let end = written.span.end;
        return Err(NotationError {
            span: Span { start: end - 3, end },
            problem: Problem::Syntax {
                found: "`...`".to_string(),
                expected: "a layer: only a pattern may be left open",
            },
        });
    }
    written.packet.build().map_err(|error| NotationError { span: written.span, problem: Problem::Build(error) })?;
    Ok(written.packet)
}

pub(super) fn parse_whole(text: &str) -> Result<Written, NotationError> {
    let mut cursor = Cursor::new(text, 0);
    cursor.skip_blanks();
    let written = parse_at(&mut cursor)?;
    cursor.skip_blanks();
    if cursor.rest().is_empty() {
        return Ok(written);
    }
    Err(syntax(&cursor, "`/` and a layer, or the end"))
}

/// Parses one packet at the cursor and leaves the cursor behind it.
pub(crate) fn parse_at(cursor: &mut Cursor<'_>) -> Result<Written, NotationError> {
    let start = cursor.at();
    let mut layers: Vec<Layer> = Vec::new();
    loop {
        if layers.len() == MAX_LAYERS {
            return Err(syntax(cursor, "at most 64 layers"));
        }
        if !layers.is_empty() && cursor.take("...") {
            return Ok(Written { packet: PacketSpec { layers }, open: true, span: cursor.span_from(start) });
        }
        let layer = parse_layer(cursor, layers.last())?;
        layers.push(layer);
        let span = cursor.span_from(start);
        // Blanks may stand around the slash, but belong to the packet only if one comes.
        let mut ahead = cursor.clone();
        ahead.skip_blanks();
        if !ahead.take("/") {
            return Ok(Written { packet: PacketSpec { layers }, open: false, span });
        }
        ahead.skip_blanks();
        *cursor = ahead;
    }
}

fn parse_layer(cursor: &mut Cursor<'_>, before: Option<&Layer>) -> Result<Layer, NotationError> {
    let start = cursor.at();
    let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() {
        return Err(syntax(cursor, "a layer such as `eth`"));
    }
    let here = cursor.span_from(start);
    let kind = LayerKind::from_name(name).ok_or_else(|| NotationError {
        span: here,
        problem: Problem::UnknownLayer { found: quote(name), allowed: LayerKind::ALL.map(LayerKind::name).join(", ") },
    })?;
    check_place(kind, before.map(|l| l.kind), here)?;
    let arguments = parse_arguments(cursor)?;
    match kind.header() {
        Some(header) => header_layer(kind, header, arguments),
        None => plain_layer(kind, &arguments, cursor.span_from(start)),
    }
}

fn check_place(kind: LayerKind, before: Option<LayerKind>, span: Span) -> Result<(), NotationError> {
    let expected = match (before, kind) {
        (None, LayerKind::Pad) => "a layer that it pads",
        (Some(LayerKind::Pad), _) => "the end: padding is the last layer",
        (Some(LayerKind::Payload | LayerKind::Raw), LayerKind::Pad) => return Ok(()),
        (Some(LayerKind::Payload | LayerKind::Raw), _) => "`pad` or the end",
        _ => return Ok(()),
    };
    Err(NotationError {
        span,
        problem: Problem::Misplaced {
            layer: kind.name(),
            after: before.map_or("the start", LayerKind::name),
            expected,
        },
    })
}

struct Argument {
    name: String,
    name_span: Span,
    value: String,
    value_span: Span,
}

fn parse_arguments(cursor: &mut Cursor<'_>) -> Result<Vec<Argument>, NotationError> {
    let mut arguments = Vec::new();
    if !cursor.take("(") {
        return Ok(arguments);
    }
    cursor.skip_blanks();
    if cursor.take(")") {
        return Ok(arguments);
    }
    loop {
        cursor.skip_blanks();
        let start = cursor.at();
        let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let name_span = cursor.span_from(start);
        if name.is_empty() {
            return Err(syntax(cursor, "the name of a field"));
        }
        cursor.skip_blanks();
        if !cursor.take("=") {
            return Err(syntax(cursor, "`=` and a value"));
        }
        cursor.skip_blanks();
        let start = cursor.at();
        let value = parse_value(cursor)?;
        arguments.push(Argument { name: name.to_string(), name_span, value, value_span: cursor.span_from(start) });
        cursor.skip_blanks();
        if cursor.take(")") {
            return Ok(arguments);
        }
        if !cursor.take(",") {
            return Err(syntax(cursor, "`,` or `)`"));
        }
    }
}

/// A value: in quotes with escapes, or up to the next blank, comma or parenthesis.
fn parse_value(cursor: &mut Cursor<'_>) -> Result<String, NotationError> {
    if !cursor.take("\"") {
        let stop = |c: char| c.is_whitespace() || matches!(c, ',' | ')' | '(' | '"' | '#' | '\\');
        let value = cursor.take_while(|c| !stop(c));
        if value.is_empty() {
            return Err(syntax(cursor, "a value"));
        }
        return Ok(value.to_string());
    }
    let mut value = String::new();
    loop {
        let before = cursor.clone();
        match cursor.bump() {
            Some('"') => return Ok(value),
            Some('\\') => value.push(match cursor.bump() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('0') => '\0',
                Some(c @ ('"' | '\\')) => c,
                _ => return Err(syntax(&before, "one of \\n \\r \\t \\0 \\\" \\\\")),
            }),
            Some('\n') | None => return Err(syntax(&before, "a closing quote on the same line")),
            Some(c) => value.push(c),
        }
    }
}

fn header_layer(
    kind: LayerKind,
    header: &'static HeaderSpec,
    arguments: Vec<Argument>,
) -> Result<Layer, NotationError> {
    let mut layer = Layer::new(kind);
    for argument in arguments {
        let path = format!("`{}.{}`", header.name, argument.name);
        let bad = |allowed: String| NotationError {
            span: argument.value_span,
            problem: Problem::BadValue { field: path.clone(), found: quote(&argument.value), allowed },
        };
        let twice = NotationError { span: argument.name_span, problem: Problem::Twice { field: path.clone() } };
        let text = argument.name == "text" && header.options_unit == 1;
        if text || argument.name == "opts" && header.options_unit != 0 {
            let max = header.options_max;
            let form = if text { "text" } else { "pairs of hexadecimal digits" };
            let allowed = || format!("{form}, at most {max} bytes");
            let options =
                if text { Some(argument.value.clone().into_bytes()) } else { value::read_hex(&argument.value) };
            let options = options.filter(|o| o.len() <= max);
            let options = options.ok_or_else(|| bad(allowed()))?;
            if layer.options.replace(options).is_some() {
                return Err(twice);
            }
            continue;
        }
        let field = header.field(&argument.name).ok_or_else(|| NotationError {
            span: argument.name_span,
            problem: Problem::UnknownField {
                layer: header.name,
                found: quote(&argument.name),
                allowed: field_names(header),
            },
        })?;
        if layer.given(field.name).is_some() {
            return Err(twice);
        }
        let value = value::read(field, &argument.value).ok_or_else(|| bad(value::allowed(field)))?;
        layer.fields.push((field.name, value));
    }
    Ok(layer)
}

fn field_names(header: &HeaderSpec) -> String {
    let mut names: Vec<&str> = header.fields.iter().map(|f| f.name).collect();
    if header.options_unit != 0 {
        names.push("opts");
    }
    if header.options_unit == 1 {
        names.push("text");
    }
    names.join(", ")
}

const PAYLOAD_FORMS: &str = "`hex=`, `text=`, `len=` with `seed=` or `fill=`, or nothing";
const PAD_FORMS: &str = "`to=`, `hex=`, `text=`, or `len=` with `seed=` or `fill=`";

fn plain_layer(kind: LayerKind, args: &[Argument], span: Span) -> Result<Layer, NotationError> {
    let pads = kind == LayerKind::Pad;
    let forms = if pads { PAD_FORMS } else { PAYLOAD_FORMS };
    let mut names: Vec<&str> = Vec::new();
    for argument in args {
        let known = ["hex", "text", "len", "seed", "fill"];
        let name = argument.name.as_str();
        if !(known.contains(&name) || pads && name == "to") {
            return Err(NotationError {
                span: argument.name_span,
                problem: Problem::UnknownField {
                    layer: kind.name(),
                    found: quote(name),
                    allowed: known.join(", ") + if pads { ", to" } else { "" },
                },
            });
        }
        if names.contains(&name) {
            let field = format!("`{}.{name}`", kind.name());
            return Err(NotationError { span: argument.name_span, problem: Problem::Twice { field } });
        }
        names.push(name);
    }
    names.sort_unstable();
    let number_of = |name: &str, max: u128| argument_number(kind, args, name, max);
    let longest = MAX_PACKET_BYTES as u128;
    let text_of = |name: &str| args.iter().find(|a| a.name == name);
    let content = match names.as_slice() {
        [] if !pads => Content::Bytes(Vec::new()),
        ["hex"] => {
            let bytes = text_of("hex").map(|a| (value::read_hex(&a.value), a));
            match bytes {
                Some((Some(bytes), _)) => Content::Bytes(bytes),
                Some((None, a)) => {
                    let allowed = "pairs of hexadecimal digits".to_string();
                    return Err(bad_argument(kind, a, allowed));
                }
                None => Content::Bytes(Vec::new()),
            }
        }
        ["text"] => Content::Text(text_of("text").map_or(String::new(), |a| a.value.clone())),
        ["to"] => Content::UpTo(number_of("to", longest)? as usize),
        ["len"] => Content::Fill { len: number_of("len", longest)? as usize, byte: 0 },
        ["len", "seed"] => Content::Random {
            len: number_of("len", longest)? as usize,
            seed: number_of("seed", u128::from(u64::MAX))? as u64,
        },
        ["fill", "len"] => {
            Content::Fill { len: number_of("len", longest)? as usize, byte: number_of("fill", 255)? as u8 }
        }
        other => {
            let found = match other {
                [] => "nothing".to_string(),
                names => names.iter().map(|n| format!("`{n}=`")).collect::<Vec<_>>().join(", "),
            };
            return Err(NotationError {
                span,
                problem: Problem::Content { layer: kind.name(), found, expected: forms },
            });
        }
    };
    Ok(Layer::plain(kind, content))
}

fn argument_number(kind: LayerKind, args: &[Argument], name: &str, max: u128) -> Result<u128, NotationError> {
    let Some(argument) = args.iter().find(|a| a.name == name) else {
        return Ok(0);
    };
    number(&argument.value)
        .filter(|value| *value <= max)
        .ok_or_else(|| bad_argument(kind, argument, format!("a number up to {max}")))
}

fn bad_argument(kind: LayerKind, argument: &Argument, allowed: String) -> NotationError {
    NotationError {
        span: argument.value_span,
        problem: Problem::BadValue {
            field: format!("`{}.{}`", kind.name(), argument.name),
            found: quote(&argument.value),
            allowed,
        },
    }
}

fn syntax(cursor: &Cursor<'_>, expected: &'static str) -> NotationError {
    let len = cursor.peek().map_or(0, char::len_utf8);
    NotationError {
        span: Span { start: cursor.at(), end: cursor.at() + len },
        problem: Problem::Syntax { found: cursor.describe_next(), expected },
    }
}
