//! Declarations of the outermost level, and what is common to all levels.

use super::Parser;
use crate::error::Read;
use crate::front::source::{Mark, Span};
use crate::front::syntax::ast::{
    AliasOf, Annotation, Block, BlockKind, Declaration, DeclarationKind, Direction, Field, Fields, Instance, Name,
    Parameter, Prototype, Statement, TypeExpr,
};

impl Parser<'_> {
    /// A declaration of the outermost level.
    pub(super) fn top(&mut self) -> Read<Declaration> {
        let depth = self.scopes.depth();
        let result = self.top_in_scope();
        while self.scopes.depth() > depth {
            self.scopes.pop();
        }
        result
    }

    fn top_in_scope(&mut self) -> Read<Declaration> {
        let begin = self.span();
        if self.take(Mark::Semicolon) {
            return Ok(Declaration { annotations: Vec::new(), kind: DeclarationKind::Empty, span: begin });
        }
        let annotations = self.annotations()?;
        let text = self.word_ahead(0).map(|(text, _)| text.clone());
        let kind = match text.as_deref() {
            Some("const") => return Ok(Declaration { annotations, ..self.constant()? }),
            Some("extern") => self.external(&annotations)?,
            Some("action") => self.action()?,
            Some("parser") => self.block_declaration(BlockKind::Parser)?,
            Some("control") => self.block_declaration(BlockKind::Control)?,
            Some("package") => self.package()?,
            Some("match_kind") => {
                self.at += 1;
                DeclarationKind::MatchKind(self.names("a match kind")?)
            }
            Some("error") => {
                self.at += 1;
                DeclarationKind::Error(self.names("an error")?)
            }
            Some("typedef" | "header" | "header_union" | "struct" | "enum") => self.type_declaration()?,
            Some("type") if self.ahead(1).is(Mark::Dot) || self.word_ahead(1).is_some() => self.type_declaration()?,
            Some("abstract") => return self.expected("a declaration"),
            Some(_) => self.typed_declaration()?,
            None if self.is(Mark::Dot) => self.typed_declaration()?,
            None => return self.expected("a declaration"),
        };
        Ok(Declaration { annotations, kind, span: begin.to(self.last()) })
    }

    /// What begins with a type: an instance or a function.
    fn typed_declaration(&mut self) -> Read<DeclarationKind> {
        let ty = self.ty()?;
        if self.is(Mark::LeftParen) {
            return Ok(DeclarationKind::Instance(self.instance(ty)?));
        }
        if self.word_ahead(0).is_some() && (self.ahead(1).is(Mark::Semicolon) || self.ahead(1).is(Mark::Equals)) {
            return self.expected("a function or an instance: there are no variables outside of parsers and controls");
        }
        let (prototype, body, end) = self.function(ty)?;
        Ok(DeclarationKind::Function { prototype, body, end })
    }

    pub(super) fn function(&mut self, result: TypeExpr) -> Read<(Prototype, Vec<Statement>, Span)> {
        let name = self.name("a name")?;
        self.scopes.declare(&name.text, false);
        self.scopes.push();
        let types = self.type_parameters()?;
        let parameters = self.parameters()?;
        let body = self.block()?;
        self.scopes.pop();
        let prototype =
            Prototype { annotations: Vec::new(), is_abstract: false, result: Some(result), name, types, parameters };
        Ok((prototype, body, self.last()))
    }

    /// `(arguments) name;`, with what it implements in braces.
    pub(super) fn instance(&mut self, ty: TypeExpr) -> Read<Instance> {
        self.expect(Mark::LeftParen)?;
        let arguments = self.arguments()?;
        let name = self.name("the name of an instance")?;
        self.scopes.declare(&name.text, false);
        let implements = match self.take(Mark::Equals) {
            false => None,
            true => {
                self.scopes.push();
                let all = self.braced(Self::implementation);
                self.scopes.pop();
                Some(all?)
            }
        };
        self.expect(Mark::Semicolon)?;
        Ok(Instance { ty, arguments, name, implements })
    }

    /// A method or an instance inside of an instance.
    fn implementation(&mut self) -> Read<Declaration> {
        let begin = self.span();
        let annotations = self.annotations()?;
        let ty = self.ty()?;
        let kind = if self.is(Mark::LeftParen) {
            DeclarationKind::Instance(self.instance(ty)?)
        } else {
            let (prototype, body, end) = self.function(ty)?;
            DeclarationKind::Function { prototype, body, end }
        };
        Ok(Declaration { annotations, kind, span: begin.to(self.last()) })
    }

    /// Names in braces.
    fn names(&mut self, of: &str) -> Read<Vec<Name>> {
        self.expect(Mark::LeftBrace)?;
        self.list(Mark::RightBrace, |p| {
            p.annotations()?;
            p.name(of)
        })
    }

    fn external(&mut self, annotations: &[Annotation]) -> Read<DeclarationKind> {
        self.expect_word("extern")?;
        let annotations = annotations.to_vec();
        let is_type = self.word_ahead(0).is_some_and(|(_, reserved)| !reserved) && !self.is_function_behind_type();
        if !is_type {
            let result = self.ty()?;
            let name = self.name("the name of a function")?;
            self.scopes.declare(&name.text, false);
            let prototype = self.prototype(annotations, false, Some(result), name)?;
            return Ok(DeclarationKind::ExternFunction(prototype));
        }
        let name = self.name("the name of an extern")?;
        self.scopes.declare(&name.text, true);
        self.scopes.push();
        let types = self.type_parameters()?;
        if self.take(Mark::Semicolon) {
            return Ok(DeclarationKind::Extern { name, types, methods: Vec::new() });
        }
        let owner = name.text.clone();
        let methods = self.braced(|p| {
            let annotations = p.annotations()?;
            let is_abstract = p.take_word("abstract");
            let constructor = matches!(p.word_ahead(0), Some((text, _)) if *text == owner);
            if constructor && p.ahead(1).is(Mark::LeftParen) {
                let name = p.name("a constructor")?;
                return p.prototype(annotations, is_abstract, None, name);
            }
            let result = p.ty()?;
            let name = p.name("the name of a method")?;
            p.prototype(annotations, is_abstract, Some(result), name)
        })?;
        Ok(DeclarationKind::Extern { name, types, methods })
    }

    /// Whether a name here is the type of a function's result, as in `extern T f<T>();`.
    fn is_function_behind_type(&mut self) -> bool {
        let start = self.at;
        let found = self.attempt(|p| p.ty()).is_some() && self.word_ahead(0).is_some_and(|(_, reserved)| !reserved);
        self.at = start;
        found
    }

    /// What comes behind the name of a function that has no body.
    fn prototype(
        &mut self,
        annotations: Vec<Annotation>,
        is_abstract: bool,
        result: Option<TypeExpr>,
        name: Name,
    ) -> Read<Prototype> {
        self.scopes.push();
        let types = self.type_parameters();
        let parameters = types.and_then(|types| Ok((types, self.parameters()?)));
        self.scopes.pop();
        let (types, parameters) = parameters?;
        self.expect(Mark::Semicolon)?;
        Ok(Prototype { annotations, is_abstract, result, name, types, parameters })
    }

    pub(super) fn action(&mut self) -> Read<DeclarationKind> {
        self.expect_word("action")?;
        let name = self.name("the name of an action")?;
        self.scopes.declare(&name.text, false);
        self.scopes.push();
        let parameters = self.parameters()?;
        let body = self.block()?;
        self.scopes.pop();
        Ok(DeclarationKind::Action { name, parameters, body })
    }

    /// Parameters in parentheses; their names are values from here on.
    pub(super) fn parameters(&mut self) -> Read<Vec<Parameter>> {
        self.expect(Mark::LeftParen)?;
        self.list(Mark::RightParen, |p| {
            let annotations = p.annotations()?;
            let direction = match p.word_ahead(0).map(|(text, _)| &**text) {
                Some("in") => Direction::In,
                Some("out") => Direction::Out,
                Some("inout") => Direction::InOut,
                _ => Direction::None,
            };
            p.at += usize::from(direction != Direction::None);
            let ty = p.ty()?;
            let name = p.name("the name of a parameter")?;
            let ty = p.sized(ty)?;
            let default = if p.take(Mark::Equals) { Some(p.expression()?) } else { None };
            p.scopes.declare(&name.text, false);
            Ok(Parameter { annotations, direction, ty, name, default })
        })
    }

    fn block_declaration(&mut self, kind: BlockKind) -> Read<DeclarationKind> {
        self.at += 1;
        let name = self.name("a name")?;
        self.scopes.declare(&name.text, true);
        self.scopes.push();
        let types = self.type_parameters()?;
        let parameters = self.parameters()?;
        if self.take(Mark::Semicolon) {
            let block = Block { kind, name, types, parameters, constructor: None, body: None };
            return Ok(DeclarationKind::Block(block));
        }
        let constructor = if self.is(Mark::LeftParen) { Some(self.parameters()?) } else { None };
        if !self.is(Mark::LeftBrace) {
            return self.expected("`{` or `;`");
        }
        let body = Some(self.body(kind)?);
        Ok(DeclarationKind::Block(Block { kind, name, types, parameters, constructor, body }))
    }

    fn package(&mut self) -> Read<DeclarationKind> {
        self.at += 1;
        let name = self.name("the name of a package")?;
        self.scopes.declare(&name.text, true);
        self.scopes.push();
        let types = self.type_parameters()?;
        let parameters = self.parameters()?;
        self.expect(Mark::Semicolon)?;
        Ok(DeclarationKind::Package { name, types, parameters })
    }

    fn type_declaration(&mut self) -> Read<DeclarationKind> {
        let text = self.word_ahead(0).map(|(text, _)| text.clone());
        self.at += 1;
        match text.as_deref() {
            Some("header") => self.fields(Fields::Header),
            Some("header_union") => self.fields(Fields::Union),
            Some("struct") => self.fields(Fields::Struct),
            Some("enum") => self.enumeration(),
            word => self.alias(word == Some("type")),
        }
    }

    fn fields(&mut self, kind: Fields) -> Read<DeclarationKind> {
        let name = self.name("the name of a type")?;
        self.scopes.push();
        let types = self.type_parameters();
        let fields = types.and_then(|types| {
            let fields = self.braced(|p| {
                let annotations = p.annotations()?;
                let ty = p.ty()?;
                let name = p.name("the name of a field")?;
                let ty = p.sized(ty)?;
                p.expect(Mark::Semicolon)?;
                Ok(Field { annotations, ty, name })
            })?;
            Ok((types, fields))
        });
        self.scopes.pop();
        let (types, fields) = fields?;
        self.scopes.declare(&name.text, true);
        Ok(DeclarationKind::Fields { kind, name, types, fields })
    }

    fn enumeration(&mut self) -> Read<DeclarationKind> {
        let plain = self.ahead(1).is(Mark::LeftBrace);
        let ty = if plain { None } else { Some(self.ty()?) };
        let name = self.name("the name of an enum")?;
        self.scopes.declare(&name.text, true);
        self.expect(Mark::LeftBrace)?;
        let members = self.list(Mark::RightBrace, |p| {
            p.annotations()?;
            let name = p.name("a member of the enum")?;
            let value = if p.take(Mark::Equals) { Some(p.expression()?) } else { None };
            Ok((name, value))
        })?;
        Ok(DeclarationKind::Enum { ty, name, members })
    }

    fn alias(&mut self, new: bool) -> Read<DeclarationKind> {
        let begin = self.span();
        let annotations = self.annotations()?;
        let declares = self
            .word_ahead(0)
            .is_some_and(|(text, _)| matches!(&**text, "header" | "header_union" | "struct" | "enum"));
        let ty = if declares {
            let kind = self.type_declaration()?;
            AliasOf::Declared(Box::new(Declaration { annotations, kind, span: begin.to(self.last()) }))
        } else {
            AliasOf::Type(self.ty()?)
        };
        let name = self.name("the name of a type")?;
        self.expect(Mark::Semicolon)?;
        self.scopes.declare(&name.text, true);
        Ok(DeclarationKind::Alias { new, ty, name })
    }

    /// `value_set<T>(size) name;`
    pub(super) fn value_set(&mut self) -> Read<DeclarationKind> {
        self.expect_word("value_set")?;
        self.expect(Mark::Less)?;
        let ty = self.ty()?;
        self.expect(Mark::Greater)?;
        self.expect(Mark::LeftParen)?;
        let size = self.expression()?;
        self.expect(Mark::RightParen)?;
        let name = self.name("the name of a value set")?;
        self.expect(Mark::Semicolon)?;
        self.scopes.declare(&name.text, false);
        Ok(DeclarationKind::ValueSet { ty, size, name })
    }

    /// A variable or an instance inside of a parser or control.
    pub(super) fn local(&mut self, annotations: Vec<Annotation>) -> Read<Declaration> {
        let begin = self.span();
        let ty = self.ty()?;
        if self.is(Mark::LeftParen) {
            let kind = DeclarationKind::Instance(self.instance(ty)?);
            return Ok(Declaration { annotations, kind, span: begin.to(self.last()) });
        }
        let name = self.name("the name of a variable")?;
        let ty = self.sized(ty)?;
        let value = if self.take(Mark::Equals) { Some(self.expression()?) } else { None };
        self.expect(Mark::Semicolon)?;
        self.scopes.declare(&name.text, false);
        let kind = DeclarationKind::Variable { ty, name, value };
        Ok(Declaration { annotations, kind, span: begin.to(self.last()) })
    }
}
