//! A message of protobuf: fields with their names and numbers. A field that has its default is not there.

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// A number of 32 bits or less.
    Number(i64),
    /// One of 64 bits: JSON writes it as text.
    Wide(i64),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
    /// A member of an enum: name and number.
    Word(&'static str, i64),
    Message(Message),
    /// An entry of a map.
    Entry(String, Message),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub number: u32,
    pub name: &'static str,
    pub content: Content,
    /// There may be several.
    pub repeated: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Message {
    fields: Vec<Field>,
}

impl Message {
    /// Its fields in the order of their numbers.
    pub fn fields(&self) -> Vec<&Field> {
        let mut all: Vec<&Field> = self.fields.iter().collect();
        all.sort_by_key(|field| field.number);
        all
    }

    pub fn put(&mut self, number: u32, name: &'static str, content: Content) {
        let is_default = match &content {
            Content::Number(value) | Content::Wide(value) | Content::Word(_, value) => *value == 0,
            Content::Bool(value) => !value,
            Content::Text(text) => text.is_empty(),
            Content::Bytes(bytes) => bytes.is_empty(),
            Content::Message(_) | Content::Entry(..) => false,
        };
        if !is_default {
            self.fields.push(Field { number, name, content, repeated: false });
        }
    }

    /// A field that stands there whatever it holds: one of a choice.
    pub fn choose(&mut self, number: u32, name: &'static str, content: Content) {
        self.fields.push(Field { number, name, content, repeated: false });
    }

    /// One of several.
    pub fn add(&mut self, number: u32, name: &'static str, content: Content) {
        self.fields.push(Field { number, name, content, repeated: true });
    }

    /// With one more field.
    pub fn with(mut self, number: u32, name: &'static str, content: Content) -> Message {
        self.put(number, name, content);
        self
    }
}
