//! Line plots as SVG, with the points beside them as CSV.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Size of the whole picture and of the margins around its field, in SVG units.
const SIZE: (f64, f64) = (860.0, 440.0);
const MARGIN: Margin = Margin { left: 70.0, right: 250.0, top: 40.0, bottom: 56.0 };
/// Colours that the colour-blind tell apart (Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

struct Margin {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// How values lie along an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
}

/// One axis; its first and last tick are its ends.
pub struct Axis {
    pub title: &'static str,
    pub scale: Scale,
    pub ticks: Vec<f64>,
}

impl Axis {
    /// Place of a value between 0 and 1; what lies outside stays at the end.
    fn place(&self, value: f64) -> f64 {
        let of = |v: f64| if self.scale == Scale::Log { v.ln() } else { v };
        let (low, high) = (of(self.ticks[0]), of(self.ticks[self.ticks.len() - 1]));
        ((of(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// How points are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Joined, with dots.
    Line,
    /// Joined without dots.
    Plain,
    /// Joined by dashes.
    Dashed,
    /// Not joined.
    Points,
}

/// Points with a name.
pub struct Series {
    pub name: String,
    pub look: Look,
    pub points: Vec<(f64, f64)>,
}

/// A picture.
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Vertical lines with what happens there.
    pub marks: Vec<(f64, &'static str)>,
}

impl Plot {
    /// Writes docs/plots/NAME.svg and NAME.csv.
    pub fn write(&self, name: &str) {
        let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plots");
        std::fs::create_dir_all(&folder).expect("docs/plots can be made");
        std::fs::write(folder.join(format!("{name}.svg")), self.svg()).expect("docs/plots can be written");
        std::fs::write(folder.join(format!("{name}.csv")), self.csv()).expect("docs/plots can be written");
    }

    fn csv(&self) -> String {
        let mut text = format!("series,{},{}\n", self.x.title, self.y.title);
        for series in &self.series {
            for (x, y) in &series.points {
                let _ = writeln!(text, "{},{x},{y:.3}", series.name);
            }
        }
        text
    }

    fn svg(&self) -> String {
        let (width, height) = (SIZE.0 - MARGIN.left - MARGIN.right, SIZE.1 - MARGIN.top - MARGIN.bottom);
        let (right, bottom) = (MARGIN.left + width, MARGIN.top + height);
        let across = |v: f64| MARGIN.left + width * self.x.place(v);
        let up = |v: f64| bottom - height * self.y.place(v);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{}\" y=\"22\" font-size=\"15\">{}</text>\n",
            SIZE.0,
            SIZE.1,
            MARGIN.left,
            escaped(&self.title)
        );
        let mut put = |line: String| {
            svg.push_str(&line);
            svg.push('\n');
        };
        for &tick in &self.x.ticks {
            let x = across(tick);
            put(format!("<path d=\"M{x:.1} {}V{bottom:.1}\" stroke=\"#ddd\"/>", MARGIN.top));
            put(format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>", bottom + 17.0));
        }
        for &tick in &self.y.ticks {
            let y = up(tick);
            put(format!("<path d=\"M{} {y:.1}H{right:.1}\" stroke=\"#ddd\"/>", MARGIN.left));
            put(format!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>", MARGIN.left - 6.0, y + 4.0));
        }
        put(format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#888\"/>",
            MARGIN.left, MARGIN.top
        ));
        let middle = MARGIN.left + width / 2.0;
        put(format!("<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>", SIZE.1 - 14.0, self.x.title));
        let middle = MARGIN.top + height / 2.0;
        put(format!(
            "<text transform=\"translate(18 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            self.y.title
        ));
        for (i, &(at, what)) in self.marks.iter().enumerate() {
            let x = across(at);
            put(format!("<path d=\"M{x:.1} {}V{bottom:.1}\" stroke=\"#444\" stroke-dasharray=\"3 3\"/>", MARGIN.top));
            put(format!("<text x=\"{:.1}\" y=\"{:.1}\">{what}</text>", x + 4.0, MARGIN.top + 14.0 + 14.0 * i as f64));
        }
        for (i, series) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let points: Vec<(f64, f64)> = series.points.iter().map(|&(x, y)| (across(x), up(y))).collect();
            if series.look != Look::Points && !points.is_empty() {
                let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
                let dashes = if series.look == Look::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
                let path = path.join("L");
                put(format!("<path d=\"M{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>"));
            }
            let dot = |x: f64, y: f64| match series.look {
                Look::Line => Some(format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"/>")),
                Look::Points => Some(format!(
                    "<path d=\"M{:.1} {y:.1}l5 -5l5 5l-5 5z\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
                    x - 5.0
                )),
                Look::Plain | Look::Dashed => None,
            };
            points.iter().filter_map(|&(x, y)| dot(x, y)).for_each(&mut put);
            let (x, y) = (right + 14.0, MARGIN.top + 8.0 + 20.0 * i as f64);
            if series.look != Look::Points {
                let dashes = if series.look == Look::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
                put(format!("<path d=\"M{x} {y}h24\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>"));
            }
            dot(x + 12.0, y).into_iter().for_each(&mut put);
            put(format!("<text x=\"{}\" y=\"{}\">{}</text>", x + 32.0, y + 4.0, escaped(&series.name)));
        }
        svg + "</svg>\n"
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
