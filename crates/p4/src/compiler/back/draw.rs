//! A program's place on the pipeline as a picture: the parser's paths, what visits each stage has and where they lead, rows of the
//! deparser; below, which fields lie in which container, and what state each stage keeps.

use super::{NOWHERE, Plan, ends_at, leaves, leaves_of, names};
use crate::compiler::ir::{Next, Tree};
use crate::front::interpret::code::Code;
use sluice_rmt::phv::Container;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Width of a column, of a box in it, and height of a line of text, in units of the picture.
const COLUMN: usize = 230;
const BOX: usize = 180;
const LINE: usize = 16;
/// Space around boxes.
const GAP: usize = 14;
/// Where boxes begin below their column's heading.
const TOP: usize = 50;

/// A box: lines of text, in a column.
struct Shown {
    column: usize,
    lines: Vec<String>,
    fill: &'static str,
    top: usize,
}

struct Picture {
    boxes: Vec<Shown>,
    /// From a box to a box.
    leads: Vec<(usize, usize)>,
}

impl Picture {
    fn show(&mut self, column: usize, lines: Vec<String>, fill: &'static str) -> usize {
        self.boxes.push(Shown { column, lines, fill, top: 0 });
        self.boxes.len() - 1
    }

    fn lead(&mut self, from: usize, to: usize) {
        if !self.leads.contains(&(from, to)) {
            self.leads.push((from, to));
        }
    }
}

impl Plan {
    /// The picture, in SVG.
    pub fn draw(&self, code: &Code) -> String {
        let mut picture = Picture { boxes: Vec::new(), leads: Vec::new() };
        let stages: Vec<usize> = (0..self.target.stages).filter(|stage| self.stages.contains(stage)).collect();
        let column = |stage: usize| 1 + stages.iter().position(|other| *other == stage).unwrap_or(0);
        let nodes: Vec<usize> = (0..self.graph.nodes.len())
            .map(|at| picture.show(column(self.stages[at]), self.visit(at, code), "#cfe8f7"))
            .collect();
        let ends: Vec<usize> =
            (0..self.rows.len()).map(|row| picture.show(stages.len() + 1, vec![self.row(row)], "#f7e3c6")).collect();
        let to = |next: &Next| match next {
            Next::Node(at) => Some(nodes[*at]),
            Next::End(end) => Some(ends[ends_at(&self.ends, &end.deparse)]),
            Next::Drop | Next::Onward => None,
        };
        for (at, leaves) in leaves(&self.graph).iter().enumerate() {
            for next in leaves.iter().filter_map(|leaf| to(&leaf.next)) {
                picture.lead(nodes[at], next);
            }
        }
        for (at, path) in self.parser.paths.iter().enumerate() {
            let takes = path.extract.iter().filter(|offset| offset.is_some()).count();
            let lines = vec![format!("path {at}: {} bytes or more", path.least), format!("{takes} containers taken")];
            let shown = picture.show(0, lines, "#d9efd9");
            let behind = match path.headers {
                0 => {
                    usize::from(path.constant & self.homes.number_mask() as u16).checked_sub(1).map(|node| nodes[node])
                }
                NOWHERE => None,
                row => Some(ends[usize::from(row) - 1]),
            };
            behind.into_iter().for_each(|behind| picture.lead(shown, behind));
        }
        let mut heads = vec!["parser".to_string()];
        heads.extend(stages.iter().map(|stage| format!("stage {stage}")));
        heads.push("deparser".to_string());
        picture.svg(&heads, &self.below(code))
    }

    /// What a visit decides by and does.
    fn visit(&self, at: usize, code: &Code) -> Vec<String> {
        fn walk(tree: &Tree, code: &Code, tests: &mut usize, tables: &mut Vec<String>) {
            match tree {
                Tree::Test(_, yes, no) => {
                    *tests += 1;
                    walk(yes, code, tests, tables);
                    walk(no, code, tests, tables);
                }
                Tree::Table(table, _, all) => {
                    let name = format!("table {}", code.tables[*table].name);
                    if !tables.contains(&name) {
                        tables.push(name);
                    }
                    all.iter().for_each(|(_, tree)| walk(tree, code, tests, tables));
                }
                Tree::Leaf(_) => {}
            }
        }
        let (mut tests, mut lines) = (0, Vec::new());
        walk(&self.graph.nodes[at].tree, code, &mut tests, &mut lines);
        if tests > 0 {
            lines.push(format!("{tests} condition{}", if tests == 1 { "" } else { "s" }));
        }
        let mut arrays: Vec<String> = Vec::new();
        for leaf in leaves_of(&self.graph.nodes[at].tree) {
            if let Some(access) = &leaf.access {
                let name = format!("state {}", code.objects[access.array.object].name);
                if !arrays.contains(&name) {
                    arrays.push(name);
                }
            }
        }
        lines.extend(arrays);
        if lines.is_empty() {
            lines.push("computes".to_string());
        }
        lines
    }

    fn row(&self, at: usize) -> String {
        let row = &self.rows[at];
        let brought = row.lanes.iter().filter(|lane| lane.is_some()).count();
        match row.delta {
            0 => format!("row {at}: {brought} bytes put"),
            delta => format!("row {at}: {delta:+} bytes at {}, {brought} put", row.split),
        }
    }

    /// Containers with what lies in them, and state by stage.
    fn below(&self, code: &Code) -> Vec<String> {
        let mut held: BTreeMap<Container, Vec<String>> = BTreeMap::new();
        for (loc, pieces) in &self.homes.pieces {
            for piece in pieces {
                let (low, high) = (piece.at, piece.at + piece.width - 1);
                let shown = format!("{} [{high}:{low}]", names::name(&self.graph, *loc, code));
                let all = held.entry(piece.container).or_default();
                if !all.contains(&shown) {
                    all.push(shown);
                }
            }
        }
        let container = |container: &Container| format!("c{}[{}]", container.bytes(), container.0 % 8);
        let mut lines: Vec<String> =
            held.iter().map(|(place, fields)| format!("{}  {}", container(place), fields.join(", "))).collect();
        if !self.graph.is_system {
            lines.push(format!("{}  which visit is next", container(&Container(self.homes.node))));
        }
        lines.extend(self.cells.iter().map(|(array, place)| {
            let name = names::cells(*array, code).replace('`', "");
            format!("stage {}  {name}: {} words from {}", place.stage, place.cells, place.base)
        }));
        lines
    }
}

impl Picture {
    fn svg(mut self, heads: &[String], below: &[String]) -> String {
        let mut tops = vec![TOP; heads.len()];
        for shown in &mut self.boxes {
            shown.top = tops[shown.column];
            tops[shown.column] += shown.lines.len() * LINE + 2 * GAP;
        }
        let under = tops.iter().copied().max().unwrap_or(TOP) + GAP;
        let (width, height) = (heads.len() * COLUMN, under + below.len() * LINE + GAP);
        let mut out = String::new();
        let text = |out: &mut String, x: usize, y: usize, words: &str| {
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(words));
        };
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
        );
        for (column, head) in heads.iter().enumerate() {
            text(&mut out, column * COLUMN + GAP, TOP - 2 * GAP, head);
        }
        let middle = |shown: &Shown| shown.top + (shown.lines.len() * LINE + GAP) / 2;
        for (from, to) in &self.leads {
            let (from, to) = (&self.boxes[*from], &self.boxes[*to]);
            let (x, y) = (from.column * COLUMN + GAP + BOX, middle(from));
            let (to_x, to_y) = (to.column * COLUMN + GAP, middle(to));
            let _ = writeln!(out, "<line x1=\"{x}\" y1=\"{y}\" x2=\"{to_x}\" y2=\"{to_y}\" stroke=\"#555555\"/>");
        }
        for shown in &self.boxes {
            let (x, height) = (shown.column * COLUMN + GAP, shown.lines.len() * LINE + GAP);
            let (top, fill) = (shown.top, shown.fill);
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{BOX}\" height=\"{height}\" rx=\"4\" fill=\"{fill}\" stroke=\"#333333\"/>"
            );
            for (at, line) in shown.lines.iter().enumerate() {
                text(&mut out, x + GAP / 2, shown.top + GAP / 2 + (at + 1) * LINE - 4, line);
            }
        }
        for (at, line) in below.iter().enumerate() {
            text(&mut out, GAP, under + at * LINE, line);
        }
        out.push_str("</svg>\n");
        out
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
