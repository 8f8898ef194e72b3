//! Which updates are open, and of which kind each tenant's table is.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::Command;
use super::error::ScriptProblem;
use super::words::{Located, Word};
use crate::text::Span;

/// Kind of a table's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableKind {
    Dmac,
    FiveTuple,
    /// From a file, which is not read here.
    Loaded,
}

impl TableKind {
    pub fn name(self) -> &'static str {
        match self {
            TableKind::Dmac => "dmac",
            TableKind::FiveTuple => "five_tuple",
            TableKind::Loaded => "loaded",
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Open {
    replace: bool,
    table: Option<TableKind>,
    span: Span,
}

/// Updates and tables of all tenants at one point of the script.
#[derive(Debug, Default)]
pub(super) struct Updates {
    tables: BTreeMap<String, TableKind>,
    open: BTreeMap<String, Open>,
    /// Tenants that were given an XDP program.
    programs: BTreeSet<String>,
    /// Tenant of the `replace NAME {` block that reading is in.
    block: Option<(String, Span)>,
}

/// Statements that may stand within braces.
const IN_BLOCK: [&str; 4] = ["table", "add", "del", "}"];

impl Updates {
    /// That the statement may stand here.
    pub fn check_allowed(&self, statement: Word<'_>) -> Located<()> {
        match (&self.block, statement.text) {
            (Some((tenant, _)), text) if !IN_BLOCK.contains(&text) => Err((
                statement.span,
                ScriptProblem::Update {
                    found: format!("`{text}` within `replace {tenant} {{`"),
                    expected: "table, add, del or `}`".to_string(),
                },
            )),
            _ => Ok(()),
        }
    }

    /// That a statement on the tenant's table within a block is about the block's tenant.
    pub fn check_tenant(&self, tenant: &str, span: Span) -> Located<()> {
        match &self.block {
            Some((own, _)) if own != tenant => Err((
                span,
                ScriptProblem::Update {
                    found: format!("tenant `{tenant}` within `replace {own} {{`"),
                    expected: format!("`{own}`"),
                },
            )),
            _ => Ok(()),
        }
    }

    pub fn begin(&mut self, tenant: &str, replace: bool, span: Span) -> Located<()> {
        if self.open.contains_key(tenant) {
            let problem = ScriptProblem::Update {
                found: format!("a second update of `{tenant}`"),
                expected: format!("`commit {tenant}` before"),
            };
            return Err((span, problem));
        }
        let table = self.tables.get(tenant).copied();
        if !replace && table.is_none() {
            return Err((span, no_table(tenant)));
        }
        let open = Open { replace, table, span };
        self.open.insert(tenant.to_string(), open);
        Ok(())
    }

    pub fn open_block(&mut self, tenant: &str, span: Span) -> Located<()> {
        self.begin(tenant, true, span)?;
        self.block = Some((tenant.to_string(), span));
        Ok(())
    }

    pub fn close_block(&mut self, span: Span) -> Located<Command> {
        let Some((tenant, _)) = self.block.take() else {
            let problem =
                ScriptProblem::Update { found: "`}`".to_string(), expected: "`replace NAME {` before it".to_string() };
            return Err((span, problem));
        };
        self.commit(&tenant, span)?;
        Ok(Command::Commit { tenant })
    }

    pub fn commit(&mut self, tenant: &str, span: Span) -> Located<()> {
        let Some(open) = self.open.remove(tenant) else {
            let problem = ScriptProblem::Update {
                found: format!("`commit {tenant}` without an update"),
                expected: format!("`begin {tenant}` or `begin replace {tenant}` before"),
            };
            return Err((span, problem));
        };
        let Some(table) = open.table else {
            return Err((span, no_table(tenant)));
        };
        self.runs_table(tenant, table);
        Ok(())
    }

    /// The table takes the place of whatever ran; what is loaded may be a program.
    fn runs_table(&mut self, tenant: &str, kind: TableKind) {
        self.tables.insert(tenant.to_string(), kind);
        if kind != TableKind::Loaded {
            self.programs.remove(tenant);
        }
    }

    /// A table is declared.
    pub fn declare(&mut self, tenant: &str, kind: TableKind, span: Span) -> Located<()> {
        self.check_tenant(tenant, span)?;
        let problem = match self.open.get_mut(tenant) {
            Some(open) if open.replace => {
                open.table = Some(kind);
                return Ok(());
            }
            Some(_) => ScriptProblem::Update {
                found: format!("a table within `begin {tenant}`"),
                expected: format!("`begin replace {tenant}`, which starts from an empty table"),
            },
            None if self.tables.contains_key(tenant) => ScriptProblem::Update {
                found: format!("a second table of `{tenant}`"),
                expected: format!("`replace {tenant} {{` or `begin replace {tenant}` around it"),
            },
            None => {
                self.runs_table(tenant, kind);
                return Ok(());
            }
        };
        Err((span, problem))
    }

    /// Refuses a statement within the tenant's update.
    pub fn alone(&self, statement: &str, tenant: &str, span: Span, why: &str) -> Located<()> {
        if !self.open.contains_key(tenant) {
            return Ok(());
        }
        let found = format!("`{statement} {tenant}` within an update");
        Err((span, ScriptProblem::Update { found, expected: format!("`commit {tenant}` before: {why}") }))
    }

    /// An object is loaded from a file.
    pub fn load(&mut self, tenant: &str, span: Span) -> Located<()> {
        self.alone("load", tenant, span, "a load is an update of its own")?;
        self.tables.insert(tenant.to_string(), TableKind::Loaded);
        Ok(())
    }

    /// An XDP program takes the place of the table.
    pub fn xdp(&mut self, tenant: &str, span: Span) -> Located<()> {
        self.alone("xdp", tenant, span, "a program is an update of its own")?;
        self.tables.remove(tenant);
        self.programs.insert(tenant.to_string());
        Ok(())
    }

    /// An rmt module takes the place of the table or program.
    pub fn rmt(&mut self, tenant: &str, span: Span) -> Located<()> {
        self.alone("rmt", tenant, span, "a module is an update of its own")?;
        self.tables.remove(tenant);
        self.programs.remove(tenant);
        Ok(())
    }

    /// Rules stand beside whatever runs.
    pub fn rules(&mut self, tenant: &str, span: Span) -> Located<()> {
        self.alone("rules", tenant, span, "rules are an update of their own")
    }

    /// That the tenant has an XDP program.
    pub fn check_program(&self, tenant: &str, span: Span) -> Located<()> {
        if self.programs.contains(tenant) {
            return Ok(());
        }
        let problem = ScriptProblem::Update {
            found: format!("`{tenant}` has no XDP program yet"),
            expected: format!("`xdp {tenant} FILE` before"),
        };
        Err((span, problem))
    }

    /// That the tenant's table takes such a key.
    pub fn check_key(&self, tenant: &str, key: TableKind, span: Span) -> Located<()> {
        self.check_tenant(tenant, span)?;
        let present = self.tables.get(tenant).copied();
        let table = self.open.get(tenant).map_or(present, |open| open.table);
        match table {
            None => Err((span, no_table(tenant))),
            Some(TableKind::Loaded) => Ok(()),
            Some(kind) if kind == key => Ok(()),
            Some(kind) => Err((
                span,
                ScriptProblem::KeyKind {
                    found: key.name(),
                    expected: format!("a {} key, as `table {tenant}` says", kind.name()),
                },
            )),
        }
    }

    /// That nothing is left open at the end of the script.
    pub fn end(&self) -> Located<()> {
        if let Some((tenant, span)) = &self.block {
            let problem = ScriptProblem::Update {
                found: format!("`replace {tenant} {{` that is never closed"),
                expected: "`}` on a line of its own".to_string(),
            };
            return Err((*span, problem));
        }
        match self.open.iter().next() {
            None => Ok(()),
            Some((tenant, open)) => Err((
                open.span,
                ScriptProblem::Update {
                    found: format!("an update of `{tenant}` that is never committed"),
                    expected: format!("`commit {tenant}` before the end"),
                },
            )),
        }
    }
}

fn no_table(tenant: &str) -> ScriptProblem {
    ScriptProblem::Update {
        found: format!("`{tenant}` has no table yet"),
        expected: format!("`table {tenant} ...` or `load {tenant} FILE` before"),
    }
}
