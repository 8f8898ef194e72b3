//! Instances of externs, parsers and controls.

use super::calls::Given;
use super::{Binding, Frame, Lowered, Lowerer};
use crate::front::check::{DefId, Kind, Type};
use crate::front::interpret::Police;
use crate::front::interpret::code::{Ex, Less, Object, ObjectKind, Parameter};
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::Number;
use crate::front::source::Span;
use crate::front::syntax::ast::{self, Annotation, BlockKind, Expr, ExprKind, Instance, given_name};

/// Most cells of a counter, meter or register.
const MOST_CELLS: u128 = 1 << 26;
/// Bits of a word that an atom changes.
const ATOM_BITS: u32 = 32;

impl<'p> Lowerer<'p> {
    /// An instance with a name.
    pub(super) fn instance(&mut self, instance: &'p Instance, annotations: &[Annotation]) -> Lowered<()> {
        let id = self.declared(&instance.name)?;
        let Kind::Instance(ty) = &self.facts.definition(id).kind else { return Ok(()) };
        let ty = self.put(ty);
        let name = given_name(annotations).unwrap_or(&instance.name.text);
        let before = self.code.objects.len();
        if instance.implements.is_some() {
            return self.refuse(instance.name.span, "an extern with methods that the program implements");
        }
        let binding = self.made(&ty, &instance.arguments, name, instance.name.span)?;
        if let (Binding::Object(_), Some(told)) = (&binding, self.code.told.objects.get_mut(before)) {
            told.annotations = annotations.to_vec();
        }
        self.bind(id, binding);
        Ok(())
    }

    /// What a constructor makes.
    pub(super) fn made(
        &mut self,
        ty: &Type,
        arguments: &'p [ast::Argument],
        name: &str,
        span: Span,
    ) -> Lowered<Binding> {
        let Type::Named(id, types) = ty else { return self.refuse(span, "an instance of this type") };
        match &self.facts.definition(*id).kind {
            Kind::Extern { .. } => self.object(*id, types, arguments, name, span),
            Kind::Block { .. } => self.block_instance(*id, types, arguments, name),
            kind => self.refuse(span, format!("an instance of {}", kind.text())),
        }
    }

    fn object(
        &mut self,
        id: DefId,
        types: &[Type],
        arguments: &'p [ast::Argument],
        name: &str,
        span: Span,
    ) -> Lowered<Binding> {
        let given = Given { arguments, defaults: &[] };
        let word = self.facts.definition(id).name.clone();
        let kind = match &*word {
            "counter" => {
                let (packets, bytes) = self.counted(&given, 1);
                ObjectKind::Counter { cells: self.cells(&given, name, span)?, packets, bytes, direct: false }
            }
            "direct_counter" => {
                let (packets, bytes) = self.counted(&given, 0);
                ObjectKind::Counter { cells: 0, packets, bytes, direct: true }
            }
            "meter" => {
                let bytes = self.counts_bytes(&given, 1)?;
                ObjectKind::Meter { cells: self.cells(&given, name, span)?, bytes, direct: false }
            }
            "direct_meter" => ObjectKind::Meter { cells: 0, bytes: self.counts_bytes(&given, 0)?, direct: true },
            "register" => {
                let shape = types.first().map_or(Shape::Nothing, |ty| self.shape(ty));
                ObjectKind::Register { cells: self.cells(&given, name, span)?, shape }
            }
            "atom" => {
                let shape = Shape::Number(Number { width: ATOM_BITS, signed: false });
                ObjectKind::Register { cells: self.cells(&given, name, span)?, shape }
            }
            "police" => {
                ObjectKind::Police { cells: self.cells(&given, name, span)?, police: self.police(&given, span)? }
            }
            "action_profile" => ObjectKind::Profile { selects: false },
            "action_selector" => ObjectKind::Profile { selects: true },
            "Checksum16" => ObjectKind::Plain,
            other => return self.refuse(span, format!("extern `{other}`, which v1model has not")),
        };
        let word_of = [Type::Bit(ATOM_BITS)];
        let types = if &*word == "atom" { &word_of } else { types };
        let name = self.path(name);
        self.tell_object(types, &given, span)?;
        self.code.objects.push(Object { name, kind });
        Ok(Binding::Object(self.code.objects.len() - 1))
    }

    fn cells(&mut self, given: &Given<'p>, name: &str, span: Span) -> Lowered<usize> {
        let Some(size) = given.of(0, "size").or_else(|| given.of(0, "meters")) else { return Ok(0) };
        match self.constant_of(size)? {
            cells if cells <= MOST_CELLS => {
                let path = self.path(name);
                let bound = self.code.allowed.cells(&path).map_or(usize::MAX, |cells| cells as usize);
                let cells = (cells as usize).min(bound);
                self.code.less.insert(Less::Cells(path), cells as u32);
                Ok(cells)
            }
            cells => self.refuse(span, format!("{cells} cells, at most {MOST_CELLS}")),
        }
    }

    /// Whether a counter counts packets, and bytes.
    fn counted(&mut self, given: &Given<'p>, at: usize) -> (bool, bool) {
        match given.of(at, "type") {
            Some(Expr { kind: ExprKind::Member(_, member), .. }) => {
                (&*member.text != "bytes", &*member.text != "packets")
            }
            _ => (true, true),
        }
    }

    /// Whether a meter counts bytes.
    fn counts_bytes(&mut self, given: &Given<'p>, at: usize) -> Lowered<bool> {
        let Some(Expr { kind: ExprKind::Member(_, member), .. }) = given.of(at, "type") else { return Ok(false) };
        Ok(&*member.text == "bytes")
    }

    /// The rate of meters of two colours.
    fn police(&mut self, given: &Given<'p>, span: Span) -> Lowered<Police> {
        let bytes = self.counts_bytes(given, 1)?;
        let mut number = |at: usize, name: &str| match given.of(at, name) {
            Some(value) => Ok((self.constant_of(value)?, value.at.span)),
            None => self.refuse(span, format!("meters without `{name}`")),
        };
        let ((rate, at), (burst, _)) = (number(2, "rate")?, number(3, "burst")?);
        match Police::of(rate as u64, burst as u32, bytes) {
            Ok(police) => Ok(police),
            Err((found, allowed)) => self.refuse(at, format!("meters of {found}; allowed is {allowed}")),
        }
    }

    /// A parser or control with its own variables.
    pub(super) fn block_instance(
        &mut self,
        id: DefId,
        types: &[Type],
        arguments: &'p [ast::Argument],
        name: &str,
    ) -> Lowered<Binding> {
        let Some(block) = self.blocks.get(&id).copied() else {
            return self.refuse(Span::default(), "a parser or control without a body");
        };
        let Kind::Block { types: generic, constructor, .. } = &self.facts.definition(id).kind else {
            return self.refuse(block.name.span, "this instance");
        };
        let written = block.constructor.as_deref().unwrap_or_default();
        let given = Given { arguments, defaults: written };
        let mut bindings = Vec::new();
        for (at, (parameter, declared)) in constructor.iter().zip(written).enumerate() {
            let Some(value) = given.of(at, &parameter.name) else { continue };
            let ty = crate::front::check::substitute(&parameter.ty, generic, types);
            bindings.push((self.declared(&declared.name)?, self.constructor_argument(value, &ty, &parameter.name)?));
        }
        let path = self.path(name);
        let frame = Frame { parameters: generic.clone(), types: types.to_vec(), path, ..Frame::default() };
        self.frames.push(frame);
        bindings.into_iter().for_each(|(id, binding)| self.bind(id, binding));
        let made = match block.kind {
            BlockKind::Control => Binding::Control(self.control(block)?),
            BlockKind::Parser => Binding::Parser(self.parser(block)?),
        };
        self.frames.pop();
        Ok(made)
    }

    fn constructor_argument(&mut self, value: &'p Expr, ty: &Type, name: &str) -> Lowered<Binding> {
        let span = value.at.span;
        match &value.kind {
            ExprKind::Call(_, _, arguments) if self.shape(&self.type_of(value)) == Shape::Nothing => {
                let made = self.type_of(value);
                self.made(&made, arguments, name, span)
            }
            ExprKind::Name { .. } if self.shape(ty) == Shape::Nothing => {
                match self.facts.name(value).and_then(|id| self.binding(id)) {
                    Some(binding) => Ok(binding.clone()),
                    None => self.refuse(span, "this argument of a constructor"),
                }
            }
            _ => match self.value(value, Some(ty))? {
                Ex::Constant(value) => Ok(Binding::Value(value)),
                _ => self.refuse(span, "an argument of a constructor that is computed"),
            },
        }
    }

    /// Parameters of a function, action or block, each with a slot.
    pub(super) fn parameters(&mut self, written: &'p [ast::Parameter]) -> Lowered<Vec<Parameter>> {
        let mut all = Vec::with_capacity(written.len());
        for parameter in written {
            let id = self.declared(&parameter.name)?;
            let Kind::Variable { ty, .. } = &self.facts.definition(id).kind else { continue };
            let ty = self.put(ty);
            let shape = self.shape(&ty);
            let slot = self.slot();
            let is_packet = matches!(&ty, Type::Named(id, _)
                if matches!(&*self.facts.definition(*id).name, "packet_in" | "packet_out"));
            let binding = match is_packet {
                true => Binding::Packet,
                false if shape == Shape::Nothing => Binding::ObjectSlot(slot),
                false => Binding::Slot(slot, shape.clone()),
            };
            self.bind(id, binding);
            let name = parameter.name.text.clone();
            let default = match &parameter.default {
                Some(value) => match self.value(value, Some(&ty))? {
                    Ex::Constant(value) => Some(value),
                    _ => None,
                },
                None => None,
            };
            all.push(Parameter { name, slot, direction: parameter.direction, shape, default });
        }
        Ok(all)
    }
}
