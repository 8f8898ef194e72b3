//! Protobuf's JSON form: names in camel case, numbers of 64 bits as text, bytes in base 64.

use super::message::{Content, Field, Message};

pub(super) fn written(message: &Message) -> String {
    let mut out = String::new();
    fields(message, 0, &mut out);
    out.push('\n');
    out
}

fn fields(message: &Message, depth: usize, out: &mut String) {
    let all = message.fields();
    if all.is_empty() {
        return out.push_str("{}");
    }
    let indent = "  ".repeat(depth + 1);
    out.push_str("{\n");
    let mut at = 0;
    while let Some(first) = all.get(at) {
        let same = all[at..].iter().take_while(|field| field.number == first.number).count();
        if at > 0 {
            out.push_str(",\n");
        }
        out.push_str(&format!("{indent}\"{}\": ", camel(first.name)));
        together(&all[at..at + same], depth + 1, out);
        at += same;
    }
    out.push_str(&format!("\n{}}}", "  ".repeat(depth)));
}

/// All of one field.
fn together(all: &[&Field], depth: usize, out: &mut String) {
    let is_map = matches!(all[0].content, Content::Entry(..));
    if !all[0].repeated {
        return content(&all[0].content, depth, out);
    }
    let (open, close) = if is_map { ('{', '}') } else { ('[', ']') };
    let indent = "  ".repeat(depth + 1);
    out.push(open);
    for (i, field) in all.iter().enumerate() {
        out.push_str(&format!("{}{indent}", if i > 0 { ",\n" } else { "\n" }));
        content(&field.content, depth + 1, out);
    }
    out.push_str(&format!("\n{}{close}", "  ".repeat(depth)));
}

fn content(content: &Content, depth: usize, out: &mut String) {
    match content {
        Content::Number(value) => out.push_str(&value.to_string()),
        Content::Wide(value) => out.push_str(&format!("\"{value}\"")),
        Content::Bool(value) => out.push_str(&value.to_string()),
        Content::Text(text) => out.push_str(&quoted(text)),
        Content::Bytes(bytes) => out.push_str(&format!("\"{}\"", base64(bytes))),
        Content::Word(name, _) => out.push_str(&format!("\"{name}\"")),
        Content::Message(inner) => fields(inner, depth, out),
        Content::Entry(key, inner) => {
            out.push_str(&format!("{}: ", quoted(key)));
            fields(inner, depth, out);
        }
    }
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let mut letters = part.chars();
        out.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

fn quoted(text: &str) -> String {
    let mut out = "\"".to_string();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0u32, |word, byte| (word << 8) | u32::from(*byte)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i)) as usize & 0x3f];
            out.push(if i <= three.len() { letter.into() } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_in_base_64_and_names_in_camel_case() {
        assert_eq!([&b""[..], b"f", b"fo", b"foo", b"foob"].map(base64), ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
        assert_eq!(camel("controller_packet_metadata"), "controllerPacketMetadata");
        assert_eq!(quoted("a\"\u{1}\n"), "\"a\\\"\\u0001\\n\"");
    }
}
