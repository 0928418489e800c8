//! A drawing as PNG. Letters come from a font that is compiled in, so that a figure is
//! the same on every machine.

use std::fmt;

use tiny_skia::{FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Stroke, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::{Anchor, Color, Drawing, Mark, Text};
use crate::error::{Error, Result};

/// Pixels a unit.
const SCALE: f32 = 2.0;

/// How wide the edge of a circle is.
pub(super) const EDGE: f64 = 0.75;

const REGULAR: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("../../assets/DejaVuSans-Bold.ttf");

pub(super) fn of(drawing: &Drawing) -> Result<Vec<u8>> {
    let failed = |e: &dyn fmt::Display| Error::Drawing(e.to_string());
    let [width, height] = drawing.size.map(|length| (length as f32 * SCALE).ceil() as u32);
    let pixels = Pixmap::new(width, height);
    let mut pixels = pixels.ok_or_else(|| failed(&"it has no size"))?;
    pixels.fill(tiny_skia::Color::WHITE);
    let face = |font| Face::parse(font, 0).map_err(|e| failed(&e));
    let faces = [face(REGULAR)?, face(BOLD)?];
    for mark in &drawing.marks {
        draw(&mut pixels, mark, &faces);
    }
    pixels.encode_png().map_err(|e| failed(&e))
}

fn draw(pixels: &mut Pixmap, mark: &Mark, faces: &[Face<'_>; 2]) {
    let mut path = PathBuilder::new();
    match mark {
        Mark::Line { points, width, color } => {
            for (i, &[x, y]) in points.iter().enumerate() {
                match i {
                    0 => path.move_to(x as f32, y as f32),
                    _ => path.line_to(x as f32, y as f32),
                }
            }
            stroke(pixels, path, *width, *color);
        }
        Mark::Circle { at: [x, y], radius, fill: color, edge } => {
            path.push_circle(*x as f32, *y as f32, *radius as f32);
            fill(pixels, path.clone(), *color);
            if let Some(edge) = edge {
                stroke(pixels, path, EDGE, *edge);
            }
        }
        Mark::Text(text) => fill(pixels, outline(text, faces), text.color),
    }
}

fn paint(color: Color) -> Paint<'static> {
    let [r, g, b] = color.rgb;
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, (255.0 * color.opacity).round() as u8);
    paint
}

fn fill(pixels: &mut Pixmap, path: PathBuilder, color: Color) {
    if let Some(path) = path.finish() {
        let scale = Transform::from_scale(SCALE, SCALE);
        pixels.fill_path(&path, &paint(color), FillRule::Winding, scale, None);
    }
}

fn stroke(pixels: &mut Pixmap, path: PathBuilder, width: f64, color: Color) {
    if let Some(path) = path.finish() {
        let stroke = Stroke {
            width: width as f32,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        let scale = Transform::from_scale(SCALE, SCALE);
        pixels.stroke_path(&path, &paint(color), &stroke, scale, None);
    }
}

/// The letters of a text as one path.
fn outline(text: &Text, faces: &[Face<'_>; 2]) -> PathBuilder {
    let face = &faces[usize::from(text.bold)];
    let scale = text.size as f32 / f32::from(face.units_per_em());
    let glyphs: Vec<GlyphId> =
        text.text.chars().map(|letter| face.glyph_index(letter).unwrap_or_default()).collect();
    let advance = |glyph: GlyphId| scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    let width: f32 = glyphs.iter().map(|&glyph| advance(glyph)).sum();
    let mut along = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * width,
        Anchor::End => -width,
    };
    let mut pen = Pen {
        path: PathBuilder::new(),
        at: text.at.map(|x| x as f32),
        along,
        scale,
        upwards: text.upwards,
    };
    for glyph in glyphs {
        face.outline_glyph(glyph, &mut pen);
        along += advance(glyph);
        pen.along = along;
    }
    pen.path
}

/// Writes outlines in a font's units at a place of the drawing.
struct Pen {
    path: PathBuilder,
    at: [f32; 2],
    along: f32,
    scale: f32,
    upwards: bool,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        let (x, y) = (self.along + self.scale * x, self.scale * y);
        match self.upwards {
            true => (self.at[0] - y, self.at[1] - x),
            false => (self.at[0] + x, self.at[1] - y),
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Anchor, Drawing, KINDS};
    use super::*;

    /// The fonts have every letter that figures use; another is a box.
    #[test]
    fn letters_are_there() {
        for bytes in [REGULAR, BOLD] {
            let face = Face::parse(bytes, 0).unwrap();
            for letter in "Az09 %+-–−±×→≤≥²⁰¹λρε…’é₀".chars() {
                assert!(face.glyph_index(letter).is_some(), "{letter}");
            }
        }
    }

    #[test]
    fn a_disc_is_where_it_was_put() {
        let mut drawing = Drawing::new([20.0, 10.0], "a disc");
        drawing.circle([5.0, 5.0], 3.0, KINDS[0], None);
        drawing.text([12.0, 8.0], 8.0, Anchor::Start, "x");
        let png = drawing.png().unwrap();
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (40, 20));
        let at = |x, y| pixels.pixel(x, y).map(|p| [p.red(), p.green(), p.blue()]).unwrap();
        assert_eq!(at(10, 10), KINDS[0].rgb);
        assert_eq!(at(1, 1), [255; 3]);
        // The letter left ink.
        let dark = (24..40).flat_map(|x| (4..18).map(move |y| (x, y)));
        assert!(dark.filter(|&(x, y)| at(x, y)[0] < 128).count() > 5);
    }
}
