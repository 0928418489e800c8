//! The table of elements: what of it reading a molecule takes.

/// An element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    /// As chemists write it; `*` is any atom.
    pub(super) symbol: &'static str,
    /// The mean mass of an atom in nature.
    pub(super) mass: f64,
    /// How many bonds it makes, the usual number first; nothing where there is no rule.
    pub(super) valences: &'static [i8],
    /// Whether it may also make any other number of bonds, as metals do.
    pub(super) lax: bool,
    /// Electrons of the outer shell.
    pub(super) outer: i8,
}

const fn e(
    symbol: &'static str,
    mass: f64,
    valences: &'static [i8],
    lax: bool,
    outer: i8,
) -> Element {
    Element { symbol, mass, valences, lax, outer }
}

/// The largest atomic number.
pub(super) const LAST: u8 = 118;

/// The element of an atomic number; 0, and whatever is none, is any atom.
pub(super) fn element(number: u8) -> &'static Element {
    ELEMENTS.get(number as usize).unwrap_or(&ELEMENTS[0])
}

/// The atomic number of a symbol.
pub(super) fn number(symbol: &[u8]) -> Option<u8> {
    let number = match symbol {
        b"C" => 6,
        b"N" => 7,
        b"O" => 8,
        _ => ELEMENTS.iter().position(|e| e.symbol.as_bytes() == symbol)?,
    };
    u8::try_from(number).ok()
}

impl Element {
    /// The usual number of bonds.
    pub(super) fn valence(&self) -> Option<i32> {
        self.valences.first().map(|&v| i32::from(v))
    }

    /// The largest number of bonds, where there is one.
    pub(super) fn most(&self) -> Option<i32> {
        self.valences.last().filter(|_| !self.lax).map(|&v| i32::from(v))
    }
}

/// Elements left of carbon in the table of elements, where a positive charge takes a bond away.
pub(super) fn is_early(number: u8) -> bool {
    matches!(
        number,
        3..=5 | 11..=13 | 19..=22 | 30..=32 | 37..=41 | 48..=51 | 55..=61 | 72..=73 | 80..=83
            | 87..=93 | 104..=118
    )
}

/// Metals, whose bonds to atoms that have no bond left are dative.
pub(super) fn is_metal(number: u8) -> bool {
    !matches!(number, 0..=2 | 5..=10 | 14..=18 | 33..=36 | 52..=54 | 85..=86)
}

/// The mass of an isotope less the mean mass of its element, cut to an integer.
pub(super) fn mass_difference(number: u8, isotope: u16) -> i32 {
    if isotope == 0 {
        return 0;
    }
    let near = (f64::from(isotope) - element(number).mass) as i32;
    let found =
        BINDING.iter().find(|&&(z, from, to, _)| z == number && (from..=to).contains(&isotope));
    near + found.map_or(0, |&(.., by)| i32::from(by))
}

#[rustfmt::skip]
static ELEMENTS: [Element; LAST as usize + 1] = [
    e("*", 0.0, &[], true, 0),
    e("H", 1.008, &[1], false, 1),
    e("He", 4.003, &[0], false, 2),
    e("Li", 6.941, &[1], true, 1),
    e("Be", 9.012, &[2], false, 2),
    e("B", 10.812, &[3], false, 3),
    e("C", 12.011, &[4], false, 4),
    e("N", 14.007, &[3], false, 5),
    e("O", 15.999, &[2], false, 6),
    e("F", 18.998, &[1], false, 7),
    e("Ne", 20.18, &[0], false, 8),
    e("Na", 22.99, &[1], true, 1),
    e("Mg", 24.305, &[2], true, 2),
    e("Al", 26.982, &[3], false, 3),
    e("Si", 28.086, &[4], false, 4),
    e("P", 30.974, &[3, 5], false, 5),
    e("S", 32.067, &[2, 4, 6], false, 6),
    e("Cl", 35.453, &[1], false, 7),
    e("Ar", 39.948, &[0], false, 8),
    e("K", 39.098, &[1], true, 1),
    e("Ca", 40.078, &[2], true, 2),
    e("Sc", 44.956, &[], true, 3),
    e("Ti", 47.867, &[], true, 4),
    e("V", 50.944, &[], true, 5),
    e("Cr", 51.996, &[], true, 6),
    e("Mn", 54.938, &[], true, 7),
    e("Fe", 55.845, &[], true, 8),
    e("Co", 58.933, &[], true, 9),
    e("Ni", 58.693, &[], true, 10),
    e("Cu", 63.546, &[], true, 11),
    e("Zn", 65.39, &[], true, 2),
    e("Ga", 69.723, &[3], false, 3),
    e("Ge", 72.61, &[4], false, 4),
    e("As", 74.922, &[3, 5], false, 5),
    e("Se", 78.96, &[2, 4, 6], false, 6),
    e("Br", 79.904, &[1], false, 7),
    e("Kr", 83.8, &[0], false, 8),
    e("Rb", 85.468, &[1], true, 1),
    e("Sr", 87.62, &[2], true, 2),
    e("Y", 88.906, &[], true, 3),
    e("Zr", 91.224, &[], true, 4),
    e("Nb", 92.906, &[], true, 5),
    e("Mo", 95.94, &[], true, 6),
    e("Tc", 98.0, &[], true, 7),
    e("Ru", 101.07, &[], true, 8),
    e("Rh", 102.906, &[], true, 9),
    e("Pd", 106.42, &[], true, 10),
    e("Ag", 107.868, &[], true, 11),
    e("Cd", 112.412, &[], true, 2),
    e("In", 114.818, &[3], false, 3),
    e("Sn", 118.711, &[2, 4], false, 4),
    e("Sb", 121.76, &[3, 5], false, 5),
    e("Te", 127.6, &[2, 4, 6], false, 6),
    e("I", 126.904, &[1, 3, 5], false, 7),
    e("Xe", 131.29, &[0, 2, 4, 6], false, 8),
    e("Cs", 132.905, &[1], false, 1),
    e("Ba", 137.328, &[2], true, 2),
    e("La", 138.906, &[], true, 3),
    e("Ce", 140.116, &[], true, 4),
    e("Pr", 140.908, &[], true, 3),
    e("Nd", 144.24, &[], true, 4),
    e("Pm", 145.0, &[], true, 5),
    e("Sm", 150.36, &[], true, 6),
    e("Eu", 151.964, &[], true, 7),
    e("Gd", 157.25, &[], true, 8),
    e("Tb", 158.925, &[], true, 9),
    e("Dy", 162.5, &[], true, 10),
    e("Ho", 164.93, &[], true, 11),
    e("Er", 167.26, &[], true, 12),
    e("Tm", 168.934, &[], true, 13),
    e("Yb", 173.04, &[], true, 14),
    e("Lu", 174.967, &[], true, 15),
    e("Hf", 178.49, &[], true, 4),
    e("Ta", 180.948, &[], true, 5),
    e("W", 183.84, &[], true, 6),
    e("Re", 186.207, &[], true, 7),
    e("Os", 190.23, &[], true, 8),
    e("Ir", 192.217, &[], true, 9),
    e("Pt", 195.078, &[], true, 10),
    e("Au", 196.967, &[], true, 11),
    e("Hg", 200.59, &[], true, 2),
    e("Tl", 204.383, &[], true, 3),
    e("Pb", 207.2, &[2, 4], false, 4),
    e("Bi", 208.98, &[3, 5], false, 5),
    e("Po", 209.0, &[2, 4, 6], false, 6),
    e("At", 210.0, &[1, 3, 5], false, 7),
    e("Rn", 222.0, &[0], false, 8),
    e("Fr", 223.0, &[1], false, 1),
    e("Ra", 226.0, &[2], true, 2),
    e("Ac", 227.0, &[], true, 3),
    e("Th", 232.038, &[], true, 4),
    e("Pa", 231.036, &[], true, 3),
    e("U", 238.029, &[], true, 4),
    e("Np", 237.0, &[], true, 5),
    e("Pu", 244.0, &[], true, 6),
    e("Am", 243.0, &[], true, 7),
    e("Cm", 247.0, &[], true, 8),
    e("Bk", 247.0, &[], true, 9),
    e("Cf", 251.0, &[], true, 10),
    e("Es", 252.0, &[], true, 11),
    e("Fm", 257.0, &[], true, 12),
    e("Md", 258.0, &[], true, 13),
    e("No", 259.0, &[], true, 14),
    e("Lr", 262.0, &[], true, 15),
    e("Rf", 267.0, &[], true, 2),
    e("Db", 268.0, &[], true, 2),
    e("Sg", 269.0, &[], true, 2),
    e("Bh", 270.0, &[], true, 2),
    e("Hs", 269.0, &[], true, 2),
    e("Mt", 278.0, &[], true, 2),
    e("Ds", 281.0, &[], true, 2),
    e("Rg", 281.0, &[], true, 2),
    e("Cn", 285.0, &[], true, 2),
    e("Nh", 284.0, &[], true, 2),
    e("Fl", 289.0, &[], true, 2),
    e("Mc", 288.0, &[], true, 2),
    e("Lv", 293.0, &[], true, 2),
    e("Ts", 292.0, &[], true, 2),
    e("Og", 294.0, &[], true, 2),
];

/// Isotopes (element, from, to) whose mass differs so much from the count of their nucleons that the
/// difference to the mean mass is cut to another integer, and by how much.
#[rustfmt::skip]
static BINDING: &[(u8, u16, u16, i8)] = &[
    (1, 2, 7, 1), (2, 3, 3, 1), (2, 5, 10, 1), (4, 5, 7, 1), (4, 10, 16, 1), (6, 8, 11, 1), (6, 16,
    22, 1), (7, 10, 12, 1), (7, 17, 25, 1), (11, 25, 25, -1), (13, 28, 29, -1), (15, 32, 35, -1),
    (21, 46, 51, -1), (24, 44, 51, -1), (24, 53, 67, -1), (27, 61, 61, -1), (33, 77, 79, -1), (34,
    66, 78, -1), (34, 80, 93, -1), (42, 85, 95, -1), (42, 97, 112, -1), (43, 99, 118, -1), (45,
    105, 105, -1), (61, 146, 163, -1), (63, 130, 151, -1), (63, 153, 167, -1), (65, 147, 157, -1),
    (67, 155, 163, -1), (69, 161, 167, -1), (71, 152, 174, -1), (71, 176, 184, -1), (73, 169, 180,
    -1), (79, 185, 196, -1), (83, 197, 208, -1), (84, 210, 215, -1), (85, 211, 215, -1), (86, 195,
    197, 1), (86, 216, 221, 1), (87, 199, 204, 1), (87, 215, 222, 1), (88, 202, 211, 1), (88, 213,
    225, 1), (89, 206, 226, 1), (90, 233, 238, 1), (91, 232, 240, 1), (92, 225, 237, 1), (92, 239,
    242, 1), (93, 225, 236, 1), (94, 228, 243, 1), (95, 231, 242, 1), (96, 233, 246, 1), (97, 235,
    246, 1), (98, 237, 250, 1), (99, 240, 251, 1), (100, 242, 256, 1), (101, 245, 257, 1), (102,
    248, 258, 1), (103, 251, 261, 1), (104, 253, 266, 1), (110, 267, 280, 1), (111, 272, 280, 1),
    (112, 276, 284, 1), (113, 278, 283, 1), (114, 285, 288, 1), (115, 287, 287, 1), (116, 289, 292,
    1), (117, 291, 291, 1), (118, 293, 293, 1),
];
