//! A drawing as SVG.

use std::fmt::Write;

use super::{Anchor, Color, Drawing, Mark, Text};

/// The font of the PNG first, then what most machines have.
const FONTS: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

pub(super) fn of(drawing: &Drawing) -> String {
    let [w, h] = drawing.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\" role=\"img\" font-family=\"{FONTS}\">\n\
         <title>{}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
        escaped(&drawing.description)
    );
    for mark in &drawing.marks {
        add(&mut out, mark);
    }
    out.push_str("</svg>\n");
    out
}

fn add(out: &mut String, mark: &Mark) {
    // Writing to a string does not fail.
    let _ = match mark {
        Mark::Line { points, width, color } => {
            let points: Vec<String> =
                points.iter().map(|[x, y]| format!("{},{}", number(*x), number(*y))).collect();
            writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"{}\" \
                 stroke-linecap=\"round\" stroke-linejoin=\"round\"/>",
                points.join(" "),
                paint("stroke", *color),
                number(*width)
            )
        }
        Mark::Circle { at: [x, y], radius, fill, edge } => {
            let edge = edge.map_or_else(String::new, |edge| {
                format!(" {} stroke-width=\"{}\"", paint("stroke", edge), super::png::EDGE)
            });
            writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}{edge}/>",
                number(*x),
                number(*y),
                number(*radius),
                paint("fill", *fill)
            )
        }
        Mark::Text(Text { at: [x, y], size, anchor, bold, upwards, color, text }) => {
            let (x, y) = (number(*x), number(*y));
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let bold = if *bold { " font-weight=\"bold\"" } else { "" };
            let turn = match upwards {
                true => format!(" transform=\"rotate(-90 {x} {y})\""),
                false => String::new(),
            };
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\"{bold}{turn} \
                 {}>{}</text>",
                number(*size),
                paint("fill", *color),
                escaped(text)
            )
        }
    };
}

fn paint(what: &str, color: Color) -> String {
    let [r, g, b] = color.rgb;
    match color.opacity {
        1.0 => format!("{what}=\"#{r:02x}{g:02x}{b:02x}\""),
        opacity => format!("{what}=\"#{r:02x}{g:02x}{b:02x}\" {what}-opacity=\"{opacity}\""),
    }
}

/// A hundredth of a unit is not seen.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
