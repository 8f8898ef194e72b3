//! Writing the packet notation.

use std::fmt;

use super::value;
use crate::layers::{Content, Layer, PacketSpec};

impl fmt::Display for PacketSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, layer) in self.layers.iter().enumerate() {
            if index > 0 {
                f.write_str("/")?;
            }
            write!(f, "{layer}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        let mut arguments: Vec<String> = Vec::new();
        for (name, number) in &self.fields {
            if let Some(field) = self.field(name) {
                arguments.push(format!("{name}={}", value::write(field, *number)));
            }
        }
        if let Some(options) = &self.options {
            let plain = |b: &u8| b.is_ascii_graphic() || *b == b' ';
            let is_text = self.kind.header().is_some_and(|h| h.options_unit == 1) && options.iter().all(plain);
            arguments.push(match is_text {
                true => format!("text=\"{}\"", escape(&String::from_utf8_lossy(options))),
                false => format!("opts={}", quoted_hex(options)),
            });
        }
        match &self.content {
            None => {}
            Some(Content::Bytes(bytes)) if bytes.is_empty() => arguments.push("hex=\"\"".into()),
            Some(Content::Bytes(bytes)) => arguments.push(format!("hex={}", quoted_hex(bytes))),
            Some(Content::Text(text)) => arguments.push(format!("text=\"{}\"", escape(text))),
            Some(Content::Random { len, seed }) => arguments.push(format!("len={len}, seed={seed}")),
            Some(Content::Fill { len, byte: 0 }) => arguments.push(format!("len={len}")),
            Some(Content::Fill { len, byte }) => arguments.push(format!("len={len}, fill={byte:#04x}")),
            Some(Content::UpTo(to)) => arguments.push(format!("to={to}")),
        }
        if arguments.is_empty() {
            return Ok(());
        }
        write!(f, "({})", arguments.join(", "))
    }
}

fn quoted_hex(bytes: &[u8]) -> String {
    match bytes {
        [] => "\"\"".to_string(),
        bytes => value::write_hex(bytes),
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\0' => escaped.push_str("\\0"),
            '"' | '\\' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
