//! Protobuf's text form.

use super::message::{Content, Message};

pub(super) fn written(message: &Message) -> String {
    let mut out = "# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n".to_string();
    fields(message, 0, &mut out);
    out
}

fn fields(message: &Message, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for field in message.fields() {
        out.push_str(&indent);
        out.push_str(field.name);
        match &field.content {
            Content::Number(value) | Content::Wide(value) => out.push_str(&format!(": {value}\n")),
            Content::Bool(value) => out.push_str(&format!(": {value}\n")),
            Content::Text(text) => out.push_str(&format!(": {}\n", quoted(text.as_bytes(), true))),
            Content::Bytes(bytes) => out.push_str(&format!(": {}\n", quoted(bytes, false))),
            Content::Word(name, _) => out.push_str(&format!(": {name}\n")),
            Content::Message(inner) => {
                out.push_str(" {\n");
                fields(inner, depth + 1, out);
                out.push_str(&format!("{indent}}}\n"));
            }
            Content::Entry(key, inner) => {
                out.push_str(&format!(" {{\n{indent}  key: {}\n{indent}  value {{\n", quoted(key.as_bytes(), true)));
                fields(inner, depth + 2, out);
                out.push_str(&format!("{indent}  }}\n{indent}}}\n"));
            }
        }
    }
}

/// In quotes, with C's escapes; what is not ASCII stays in text, and is octal in bytes.
fn quoted(bytes: &[u8], text: bool) -> String {
    let mut out = vec![b'"'];
    for byte in bytes {
        match byte {
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            b'"' | b'\'' | b'\\' => out.extend([b'\\', *byte]),
            0x20..=0x7e => out.push(*byte),
            0x80.. if text => out.push(*byte),
            _ => out.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    out.push(b'"');
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_lines_and_what_is_no_character_are_escaped() {
        assert_eq!(quoted("a\n\"b'\\\té".as_bytes(), true), "\"a\\n\\\"b\\'\\\\\\té\"");
        assert_eq!(quoted(&[0, 0x1c, b'*', 0xff], false), "\"\\000\\034*\\377\"");
    }
}
