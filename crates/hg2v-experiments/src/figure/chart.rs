//! Axes, and points between them.

use super::{Anchor, BLACK, Drawing, GREY, PALE, Point, Text};

/// Sizes of the letters on axes.
const LABEL: f64 = 12.0;
const TICK: f64 = 10.5;

/// A frame with a scale along each side.
#[derive(Debug, Clone)]
pub(crate) struct Axes {
    /// Upper left corner and size, of the frame alone.
    pub(crate) corner: Point,
    pub(crate) size: Point,
    /// From which number to which.
    pub(crate) x: [f64; 2],
    pub(crate) y: [f64; 2],
}

impl Axes {
    /// Where the point of these numbers lies.
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        let along = |value: f64, [from, to]: [f64; 2]| (value - from) / (to - from);
        [
            self.corner[0] + self.size[0] * along(x, self.x),
            self.corner[1] + self.size[1] * (1.0 - along(y, self.y)),
        ]
    }

    /// Draws frame, grid and numbers, and says what they are.
    pub(crate) fn draw(&self, drawing: &mut Drawing, title: &str, x_label: &str, y_label: &str) {
        let ([left, top], [width, height]) = (self.corner, self.size);
        let (right, bottom) = (left + width, top + height);
        for value in ticks(self.y) {
            let [_, y] = self.at(self.x[0], value);
            drawing.line([[left, y], [right, y]], 0.75, PALE);
            drawing.text([left - 6.0, y + 0.36 * TICK], TICK, Anchor::End, shown(value));
        }
        for value in ticks(self.x) {
            let [x, _] = self.at(value, self.y[0]);
            drawing.line([[x, bottom], [x, bottom + 4.0]], 0.75, GREY);
            drawing.text([x, bottom + 6.0 + TICK], TICK, Anchor::Middle, shown(value));
        }
        drawing.line([[left, top], [left, bottom], [right, bottom]], 1.0, GREY);
        drawing.title([left, top - 9.0], 13.0, Anchor::Start, title);
        let middle = left + 0.5 * width;
        drawing.text([middle, bottom + 36.0], LABEL, Anchor::Middle, x_label);
        drawing.write(Text {
            at: [left - 40.0, top + 0.5 * height],
            size: LABEL,
            anchor: Anchor::Middle,
            bold: false,
            upwards: true,
            color: BLACK,
            text: y_label.to_owned(),
        });
    }
}

/// Round numbers within a range, about five of them.
pub(crate) fn ticks([from, to]: [f64; 2]) -> Vec<f64> {
    let rough = (to - from) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(power);
    let (first, last) = ((from / step - 1e-9).ceil() as i64, (to / step + 1e-9).floor() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
}

/// A round number without noughts that say nothing.
fn shown(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks([0.0, 100.0]), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks([1.0, 10.0]), [2.0, 4.0, 6.0, 8.0, 10.0]);
        let small: Vec<String> = ticks([0.0, 0.7]).into_iter().map(shown).collect();
        assert_eq!(small, ["0", "0.2", "0.4", "0.6"]);
    }

    #[test]
    fn numbers_have_their_place() {
        let axes =
            Axes { corner: [10.0, 20.0], size: [100.0, 50.0], x: [0.0, 10.0], y: [0.0, 1.0] };
        assert_eq!(axes.at(0.0, 0.0), [10.0, 70.0]);
        assert_eq!(axes.at(5.0, 1.0), [60.0, 20.0]);
    }
}
