//! What goes with a packet that is cloned, resubmitted or recirculated.

use super::Switch;
use crate::front::interpret::run::part;
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::Value;

/// Which metadata are kept; all others begin as zero again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Keep {
    /// Those with `@field_list` of this number.
    List(u8),
    /// Those that the call names: a slot, and the steps from there.
    Places(Vec<(usize, Box<[u32]>)>),
}

impl Switch {
    /// User's and standard metadata of a copy, by what they are at the end of a control.
    pub(super) fn kept(&self, keep: &Keep, control: usize, meta: &Value, standard: &Value) -> (Value, Value) {
        let (mut kept, mut fresh) = (self.meta().zero(), self.standard().zero());
        match keep {
            Keep::List(number) => copy_list(*number, self.meta(), meta, &mut kept),
            Keep::Places(places) => {
                let parameters = &self.code.controls[control].parameters;
                for (slot, path) in places {
                    let (from, into) = match parameters.iter().position(|p| p.slot == *slot) {
                        Some(1) => (meta, &mut kept),
                        Some(2) => (standard, &mut fresh),
                        _ => continue,
                    };
                    if let (Some(from), Some(into)) =
                        (part(from, path), crate::front::interpret::run::part_mut(into, path))
                    {
                        *into = from.clone();
                    }
                }
            }
        }
        (kept, fresh)
    }
}

/// Copies the fields of a list, in structs of structs too.
fn copy_list(number: u8, shape: &Shape, from: &Value, into: &mut Value) {
    let Some(fields) = shape.fields() else { return };
    let parts = from.parts().iter().zip(into.parts_mut());
    for ((lists, shape), (from, into)) in fields.lists.iter().zip(&fields.shapes).zip(parts) {
        match lists.contains(&number) {
            true => *into = from.clone(),
            false => copy_list(number, shape, from, into),
        }
    }
}
