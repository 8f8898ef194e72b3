//! The table of layers and fields, for the guide.

use super::value;
use crate::headers::{FieldSpec, Fill};
use crate::layers::LayerKind;

/// The reference of all layers in Markdown, from the descriptions that packets are built by.
pub fn reference() -> String {
    let mut text = String::new();
    for kind in LayerKind::ALL {
        let Some(header) = kind.header() else { continue };
        text += &format!("\n`{}`:{}\n\n", header.name, header.about);
        text += "| field | bits | when not given | what |\n| --- | --- | --- | --- |\n";
        for field in header.fields {
            text += &format!("| `{}` | {} | {} | {} |\n", field.name, field.bits, default(field), field.about.trim());
        }
        if header.options_unit != 0 {
            text += &format!(
                "| `opts` | up to {} bytes | {} | options in hexadecimal, filled with zeros to {} bytes |\n",
                header.options_max,
                match header.options_default {
                    [] => "none".to_string(),
                    bytes => format!("`{}`", value::write_hex(bytes)),
                },
                header.options_unit,
            );
        }
        if header.options_unit == 1 {
            text += "| `text` | | | the same as text in quotes |\n";
        }
    }
    text
}

fn default(field: &FieldSpec) -> String {
    match field.fill {
        Fill::Fixed(value) => format!("`{}`", value::write(field, value)),
        Fill::Next => "the next layer's number".to_string(),
        Fill::NextPort(port) => format!("`{port}`, before `vxlan` its port"),
        Fill::HeaderLength(..) => "the header's length".to_string(),
        Fill::TotalLength => "bytes to the end, this header included".to_string(),
        Fill::PayloadLength => "bytes to the end, after this header".to_string(),
        Fill::HeaderSum => "computed over the header".to_string(),
        Fill::BodySum => "computed to the end".to_string(),
        Fill::PseudoSum | Fill::UdpSum => "computed with the pseudo-header".to_string(),
    }
}
