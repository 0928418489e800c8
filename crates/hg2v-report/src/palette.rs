//! Colours that stay apart to every eye, on paper and on screens.

/// Kinds: blue, vermilion, green, purple, orange, sky and a neutral (Okabe and Ito 2008),
/// as `0xRRGGBB`, the darker ones first.
pub const KINDS: [u32; 7] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x444444];

/// Amounts, from little to much (viridis: Smith and van der Walt 2015), as even in lightness
/// as they are in number.
pub const AMOUNTS: [u32; 9] =
    [0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725];

/// Elements in the colours that models of molecules have (Corey, Pauling and Koltun), as far as
/// letters in them can be read: each for light and for dark ground.
pub const ELEMENTS: [(&str, u32, u32); 13] = [
    ("C", 0x3d444b, 0xb9c0c7),
    ("H", 0x5f6770, 0xd5d9dd),
    ("N", 0x2350d8, 0x86a8ff),
    ("O", 0xd0102a, 0xff7b72),
    ("F", 0x2f7a12, 0x8fdc5a),
    ("Cl", 0x0a7d3c, 0x4fd67f),
    ("Br", 0x9a3412, 0xe8966b),
    ("I", 0x7e22ce, 0xc79bff),
    ("S", 0x806000, 0xe6c229),
    ("P", 0xb34700, 0xffa04d),
    ("B", 0xb03a5b, 0xffa3b8),
    ("Si", 0x7a5c3e, 0xd9b48f),
    ("Se", 0x8f5a00, 0xf0b14a),
];

/// All other elements.
const OTHER_ELEMENTS: (u32, u32) = (0x0f7173, 0x5cc8cc);

/// The colours of an element on light and on dark ground.
pub fn element(symbol: &str) -> (u32, u32) {
    let known = ELEMENTS.iter().find(|(name, ..)| *name == symbol);
    known.map_or(OTHER_ELEMENTS, |(_, light, dark)| (*light, *dark))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of WCAG 2.
    fn luminance(color: u32) -> f64 {
        let part = |shift: u32| {
            let share = f64::from((color >> shift) & 255) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        (a / b).max(b / a)
    }

    #[test]
    fn letters_of_elements_can_be_read() {
        assert!((contrast(0, 0xffffff) - 21.0).abs() < 1e-9);
        // What drawings lie on, as style.css has it: `--sheet` and `--sunk`.
        let (light, dark) = ([0xffffff, 0xf1efe9], [0x171b21, 0x0c0f12]);
        let style = include_str!("page/style.css");
        for (light, dark) in light.iter().zip(&dark) {
            assert!(style.contains(&format!("light-dark(#{light:06x}, #{dark:06x})")));
        }
        for symbol in ELEMENTS.iter().map(|(symbol, ..)| *symbol).chain(["Fe"]) {
            let (ink, pale) = element(symbol);
            let least = |color, grounds: [u32; 2]| {
                grounds.iter().fold(f64::MAX, |least, &ground| least.min(contrast(color, ground)))
            };
            assert!(least(ink, light) >= 4.5 && least(pale, dark) >= 4.5, "{symbol}");
        }
    }
}
