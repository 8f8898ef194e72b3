//! Variables as the program names them, and the statements that they come from.

use crate::compiler::ir::{Array, Bits, CELL, Graph, Leaf, Loc, LocInfo, Next, Tree};
use crate::front::interpret::Shape;
use crate::front::interpret::code::{Code, ObjectKind};
use crate::front::source::Span;

/// Most names that a message has in a row.
const MOST_NAMES: usize = 4;

/// A variable as the program has it.
pub(super) fn name(graph: &Graph, loc: Loc, code: &Code) -> String {
    match graph.locs.info(loc) {
        LocInfo::Leaf(slot, path) | LocInfo::Element(slot, path, ..) => {
            place(*slot, path, code).unwrap_or_else(|| "local".to_string())
        }
        LocInfo::Look(at, _) => format!("packet bit {at}"),
        LocInfo::Temp(..) => "value on its way".to_string(),
        LocInfo::Way(_) => "way to here".to_string(),
        LocInfo::Port => "port of arrival".to_string(),
        LocInfo::Length => "length".to_string(),
        LocInfo::Bad | LocInfo::Word(..) | LocInfo::Time | LocInfo::CopyPort => "word".to_string(),
        LocInfo::Opaque(name) => (*name).to_string(),
    }
}

/// A part of what packets go by, by its name.
fn place(slot: usize, path: &[u32], code: &Code) -> Option<String> {
    let parameter = code.of_packets().find(|parameter| parameter.slot == slot)?;
    let (mut name, mut shape) = (parameter.name.to_string(), &parameter.shape);
    for at in path {
        match shape.fields().and_then(|fields| fields.names.get(*at as usize)) {
            Some(field) => name = format!("{name}.{field}"),
            None => name = format!("{name}[{at}]"),
        }
        shape = shape.part(*at);
    }
    Some(name)
}

/// How many of the steps to a place lead to the innermost header.
fn header(slot: usize, path: &[u32], code: &Code) -> Option<usize> {
    let parameter = code.of_parser(1)?;
    let mut shape = &parameter.shape;
    for (depth, at) in path.iter().enumerate() {
        if parameter.slot == slot && matches!(shape, Shape::Header(_)) {
            return Some(depth);
        }
        shape = shape.part(*at);
    }
    None
}

/// The header that a variable is in, as `hdr.ipv4`, a stack as a whole; or what holds it besides.
pub(super) fn owner(graph: &Graph, loc: Loc, code: &Code) -> String {
    let found = match graph.locs.info(loc) {
        LocInfo::Leaf(slot, path) => header(*slot, path, code).and_then(|depth| place(*slot, &path[..depth], code)),
        LocInfo::Element(slot, path, ..) => place(*slot, path, code),
        _ => None,
    };
    match found {
        Some(name) => match name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
            Some((stack, _)) => stack.to_string(),
            None => name,
        },
        None => name(graph, loc, code),
    }
}

/// Where the header of a variable is emitted.
pub(super) fn emitted(graph: &Graph, loc: Loc) -> Span {
    match graph.locs.info(loc) {
        LocInfo::Leaf(slot, path) | LocInfo::Element(slot, path, ..) => graph.locs.lines.emitted(*slot, path),
        _ => None,
    }
    .or_else(|| graph.locs.line(loc, None))
    .unwrap_or_default()
}

/// Names in a row, each once, as far as a message has room for them.
pub(super) fn listed(names: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let name = format!("`{name}`");
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let more = all.len().saturating_sub(MOST_NAMES);
    all.truncate(MOST_NAMES);
    if more > 0 {
        all.push(format!("{more} more"));
    }
    all.join(", ")
}

/// Cells as the program has them.
pub(super) fn cells(array: Array, code: &Code) -> String {
    let bytes = match (&code.objects[array.object].kind, array.part) {
        (_, 0) => String::new(),
        (ObjectKind::Register { .. }, part) => format!("bits {} and up of ", CELL * part),
        _ => "bytes of ".to_string(),
    };
    format!("{bytes}`{}`", code.objects[array.object].name)
}

/// The statement of a visit in which a variable is read, if it is; that of the visit if it decides by it.
pub(super) fn read(graph: &Graph, wanted: impl Fn(Loc) -> bool) -> Option<Span> {
    let within = |bits: &Bits| {
        let mut is = false;
        bits.locs(&mut |loc| is |= wanted(loc));
        is
    };
    for (at, node) in graph.nodes.iter().enumerate() {
        let mut is = false;
        node.tree.decides_by(&mut |loc| is |= wanted(loc));
        if is {
            return Some(graph.spans[at]);
        }
        let mut found = None;
        node.tree.each_leaf(&mut |leaf| {
            if let Some((loc, bits)) = leaf.assigns.iter().find(|(_, bits)| within(bits)) {
                found = found.or(Some(graph.locs.line(*loc, Some(bits)).unwrap_or(graph.spans[at])));
            }
            if let Next::End(end) = &leaf.next
                && (within(&end.port) || within(&end.group))
            {
                found = found.or(Some(graph.spans[at]));
            }
            let looks = leaf.access.iter().find(|access| access.bits().any(within));
            if let Some(access) = looks {
                found = found.or(graph.locs.lines.cells(access.array));
            }
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// What a leaf is for, where something of it cannot be made: the statement of that, or else its first.
pub(super) fn statement(graph: &Graph, leaf: &Leaf, part: Option<(Loc, &Bits)>) -> Option<Span> {
    let of = |(loc, bits): (Loc, &Bits)| graph.locs.line(loc, Some(bits));
    let of_part = part.and_then(of);
    let looks = || leaf.access.as_ref().and_then(|access| graph.locs.lines.cells(access.array));
    of_part.or_else(|| leaf.assigns.iter().find_map(|(loc, bits)| of((*loc, bits)))).or_else(looks)
}

/// What a visit does, in words: its tables, or else its cells, or what it computes; and where.
pub(super) fn visit(graph: &Graph, at: usize, code: &Code) -> String {
    let tables = tables(graph, at);
    if !tables.is_empty() {
        return format!("table {}", listed(tables.iter().map(|table| code.tables[*table].name.clone())));
    }
    let (mut arrays, mut written) = (Vec::new(), Vec::new());
    let (mut ends, mut tests) = (false, false);
    graph.nodes[at].tree.each_leaf(&mut |leaf| {
        arrays.extend(leaf.access.iter().map(|access| cells(access.array, code)));
        written.extend(leaf.assigns.keys().map(|loc| name(graph, *loc, code)));
        ends |= matches!(leaf.next, Next::End(_));
    });
    tests |= matches!(graph.nodes[at].tree, Tree::Test(..));
    arrays.dedup();
    match (arrays.first(), written.is_empty()) {
        (Some(array), _) => format!("a look at {array}"),
        (None, false) => format!("{} written", listed(written)),
        _ if tests => "a condition".to_string(),
        _ if ends => "the port that the packet leaves by".to_string(),
        _ => "a step".to_string(),
    }
}

/// Where a visit is: where its first table is applied, or where it has to decide or write something.
pub(super) fn line(graph: &Graph, at: usize) -> Span {
    let applied = tables(graph, at).first().and_then(|table| graph.locs.lines.applied(*table));
    applied.unwrap_or(graph.spans[at])
}

/// The tables of a visit.
pub(super) fn tables(graph: &Graph, at: usize) -> Vec<usize> {
    let mut tables = Vec::new();
    tables_of(&graph.nodes[at].tree, &mut tables);
    tables
}

fn tables_of(tree: &Tree, all: &mut Vec<usize>) {
    match tree {
        Tree::Test(_, yes, no) => {
            tables_of(yes, all);
            tables_of(no, all);
        }
        Tree::Table(table, _, trees) => {
            all.push(*table);
            trees.iter().for_each(|(_, tree)| tables_of(tree, all));
        }
        Tree::Leaf(_) => {}
    }
}
