//! Figures for a paper: one drawing, written as SVG and as PNG.

pub(crate) mod chart;
pub(crate) mod placed_graph;
mod png;
mod svg;

use hg2v_report::palette;

use crate::error::Result;

/// A point, in units of which a screen has 96 an inch; y grows downwards.
pub(crate) type Point = [f64; 2];

/// A colour with its opacity, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Color {
    pub(crate) rgb: [u8; 3],
    pub(crate) opacity: f32,
}

impl Color {
    /// `0xRRGGBB`, opaque.
    pub(crate) const fn of(rgb: u32) -> Color {
        let [_, r, g, b] = rgb.to_be_bytes();
        Color { rgb: [r, g, b], opacity: 1.0 }
    }

    pub(crate) const fn with_opacity(self, opacity: f32) -> Color {
        Color { opacity, ..self }
    }
}

pub(crate) const WHITE: Color = Color::of(0xffffff);
pub(crate) const BLACK: Color = Color::of(0x1a1a1a);
pub(crate) const GREY: Color = Color::of(0x6b6b6b);
pub(crate) const PALE: Color = Color::of(0xe3e3e3);

/// Colours that stay apart to every eye, the page's.
pub(crate) const KINDS: [Color; palette::KINDS.len()] = {
    let mut all = [BLACK; palette::KINDS.len()];
    let mut kind = 0;
    while kind < all.len() {
        all[kind] = Color::of(palette::KINDS[kind]);
        kind += 1;
    }
    all
};

/// Colours in an order, from light to dark.
pub(crate) const STEPS: [Color; 5] = [
    Color::of(0xf2a33a),
    Color::of(0xe16462),
    Color::of(0xb12a90),
    Color::of(0x6a00a8),
    Color::of(0x0d0887),
];

/// Which part of a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text and how it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: Point,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) bold: bool,
    /// Read from below upwards.
    pub(crate) upwards: bool,
    pub(crate) color: Color,
    pub(crate) text: String,
}

/// Something drawn.
#[derive(Debug, Clone, PartialEq)]
enum Mark {
    Line { points: Vec<Point>, width: f64, color: Color },
    Circle { at: Point, radius: f64, fill: Color, edge: Option<Color> },
    Text(Text),
}

/// Marks on white, the later ones above.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    size: Point,
    /// What it shows, for those who cannot see it.
    description: String,
    marks: Vec<Mark>,
}

impl Drawing {
    pub(crate) fn new(size: Point, description: impl Into<String>) -> Drawing {
        Drawing { size, description: description.into(), marks: Vec::new() }
    }

    pub(crate) fn line(&mut self, points: impl Into<Vec<Point>>, width: f64, color: Color) {
        self.marks.push(Mark::Line { points: points.into(), width, color });
    }

    /// A disc, with a thin edge of another colour where there is one.
    pub(crate) fn circle(&mut self, at: Point, radius: f64, fill: Color, edge: Option<Color>) {
        self.marks.push(Mark::Circle { at, radius, fill, edge });
    }

    pub(crate) fn write(&mut self, text: Text) {
        self.marks.push(Mark::Text(text));
    }

    /// Plain text of a size.
    pub(crate) fn text(&mut self, at: Point, size: f64, anchor: Anchor, text: impl Into<String>) {
        self.write(Text {
            at,
            size,
            anchor,
            bold: false,
            upwards: false,
            color: BLACK,
            text: text.into(),
        });
    }

    /// The same in bold.
    pub(crate) fn title(&mut self, at: Point, size: f64, anchor: Anchor, text: impl Into<String>) {
        self.text(at, size, anchor, text);
        if let Some(Mark::Text(text)) = self.marks.last_mut() {
            text.bold = true;
        }
    }

    /// The drawing as a file for browsers and papers.
    pub(crate) fn svg(&self) -> String {
        svg::of(self)
    }

    /// The drawing as pixels, two a unit.
    ///
    /// # Errors
    /// A drawing of no size.
    pub(crate) fn png(&self) -> Result<Vec<u8>> {
        png::of(self)
    }
}
