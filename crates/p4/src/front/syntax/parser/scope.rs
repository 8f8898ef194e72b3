//! Which names are types, from the innermost scope outwards.

use std::collections::HashMap;
use std::rc::Rc;

/// Scopes that are open.
pub(super) struct Scopes {
    /// For each name its declarations: depth of the scope, and whether it is a type.
    names: HashMap<Rc<str>, Vec<(usize, bool)>>,
    /// Names of each open scope.
    open: Vec<Vec<Rc<str>>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { names: HashMap::new(), open: vec![Vec::new()] }
    }
}

impl Scopes {
    pub fn push(&mut self) {
        self.open.push(Vec::new());
    }

    pub fn pop(&mut self) {
        for name in self.open.pop().unwrap_or_default() {
            if let Some(all) = self.names.get_mut(&name) {
                all.pop();
            }
        }
    }

    /// Scopes that are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    pub fn declare(&mut self, name: &Rc<str>, is_type: bool) {
        let depth = self.open.len();
        self.names.entry(name.clone()).or_default().push((depth, is_type));
        self.open.last_mut().expect("the outermost stays").push(name.clone());
    }

    /// Whether a name is a type; what is not known is none.
    pub fn is_type(&self, name: &str) -> bool {
        self.names.get(name).and_then(|all| all.last()).is_some_and(|(_, is_type)| *is_type)
    }
}
