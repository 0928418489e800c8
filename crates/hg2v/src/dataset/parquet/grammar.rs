//! Whether what a file says about itself is written as Parquet's grammar has it.
//!
//! Footers and page headers are Thrift structures (compact protocol). The decoder reads the
//! fields it knows by what they should be, whatever they say they are, and passes over others
//! by what they say: there a boolean in a list takes no byte, so that six bytes can claim two
//! billion of them, and lists of such lists keep it busy for years. So a structure is walked
//! before it is decoded: known fields must be what they should be, and nothing is a list of
//! booleans. Every step then takes a byte, and both read the same.

use std::io::{BufReader, Read, Seek};

/// A kind of value.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List(&'static Kind),
    Struct(&'static Fields),
}

/// The fields of a structure that are known, by number.
type Fields = [(i64, Kind)];

use Kind::{Binary, Bool, Byte, Double, I16, I32, I64, List, Struct};

const NONE: &Fields = &[];
const KEY_VALUE: &Fields = &[(1, Binary), (2, Binary)];
const DECIMAL: &Fields = &[(1, I32), (2, I32)];
const UNIT: &Fields = &[(1, Struct(NONE)), (2, Struct(NONE)), (3, Struct(NONE))];
const TIME: &Fields = &[(1, Bool), (2, Struct(UNIT))];
const INT: &Fields = &[(1, Byte), (2, Bool)];
const LOGICAL_TYPE: &Fields = &[
    (1, Struct(NONE)),
    (2, Struct(NONE)),
    (3, Struct(NONE)),
    (4, Struct(NONE)),
    (5, Struct(DECIMAL)),
    (6, Struct(NONE)),
    (7, Struct(TIME)),
    (8, Struct(TIME)),
    (10, Struct(INT)),
    (11, Struct(NONE)),
    (12, Struct(NONE)),
    (13, Struct(NONE)),
    (14, Struct(NONE)),
    (15, Struct(NONE)),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, I32)])),
];
const SCHEMA_ELEMENT: &Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, Binary),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, Struct(LOGICAL_TYPE)),
];
const STATISTICS: &Fields =
    &[(1, Binary), (2, Binary), (3, I64), (4, I64), (5, Binary), (6, Binary), (7, Bool), (8, Bool)];
const SIZES: &Fields = &[(1, I64), (2, List(&I64)), (3, List(&I64))];
const ENCODINGS: &Fields = &[(1, I32), (2, I32), (3, I32)];
const BOX: &Fields = &[
    (1, Double),
    (2, Double),
    (3, Double),
    (4, Double),
    (5, Double),
    (6, Double),
    (7, Double),
    (8, Double),
];
const PLACES: &Fields = &[(1, Struct(BOX)), (2, List(&I32))];
const COLUMN: &Fields = &[
    (1, I32),
    (2, List(&I32)),
    (3, List(&Binary)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, List(&Struct(KEY_VALUE))),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(ENCODINGS))),
    (14, I64),
    (15, I32),
    (16, Struct(SIZES)),
    (17, Struct(PLACES)),
];
const CHUNK: &Fields = &[
    (1, Binary),
    (2, I64),
    (3, Struct(COLUMN)),
    (4, I64),
    (5, I32),
    (6, I64),
    (7, I32),
    (9, Binary),
];
const SORTING: &Fields = &[(1, I32), (2, Bool), (3, Bool)];
const ROW_GROUP: &Fields = &[
    (1, List(&Struct(CHUNK))),
    (2, I64),
    (3, I64),
    (4, List(&Struct(SORTING))),
    (5, I64),
    (6, I64),
    (7, I16),
];
const FOOTER: &Fields = &[
    (1, I32),
    (2, List(&Struct(SCHEMA_ELEMENT))),
    (3, I64),
    (4, List(&Struct(ROW_GROUP))),
    (5, List(&Struct(KEY_VALUE))),
    (6, Binary),
    (7, List(&Struct(&[(1, Struct(NONE))]))),
    (9, Binary),
];
const DATA_PAGE: &Fields = &[(1, I32), (2, I32), (3, I32), (4, I32), (5, Struct(STATISTICS))];
const DATA_PAGE_2: &Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, I32),
    (6, I32),
    (7, Bool),
    (8, Struct(STATISTICS)),
];
const PAGE: &Fields = &[
    (1, I32),
    (2, I32),
    (PACKED_SIZE, I32),
    (4, I32),
    (5, Struct(DATA_PAGE)),
    (6, Struct(NONE)),
    (7, Struct(&[(1, I32), (2, I32), (3, Bool)])),
    (8, Struct(DATA_PAGE_2)),
];

/// The field of a page's header that says how many bytes follow it.
const PACKED_SIZE: i64 = 3;

/// Why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The bytes ended, which the decoder will see, too.
    Ended,
    /// It is not what it should be.
    Wrong,
}

/// Whether the next `length` bytes are a footer, as far as they go.
pub(super) fn is_footer(from: impl Read + Seek, length: u64) -> bool {
    Walk::new(from, length).fields(FOOTER, MOST_DEEP) != Err(Fault::Wrong)
}

/// Whether the next `length` bytes are pages, as far as they go; what is in them is passed over.
///
/// A header must end within them: the decoder would read on to the end of the file, and there
/// pass over any number of values that take no bytes because none are left.
pub(super) fn are_pages(from: impl Read + Seek, length: u64) -> bool {
    let mut walk = Walk::new(from, length);
    while walk.left > 0 {
        walk.packed = 0;
        let header = walk.fields(PAGE, MOST_DEEP);
        let (Ok(()), Ok(size)) = (header, u64::try_from(walk.packed)) else { return false };
        if walk.pass(size).is_err() {
            // The decoder looks how long a page is before it reads it.
            break;
        }
    }
    true
}

/// Structures in structures; the decoder follows as many.
const MOST_DEEP: u32 = 64;

/// What is left of a structure.
struct Walk<R> {
    from: BufReader<R>,
    left: u64,
    /// The whole number that was met last.
    number: i64,
    /// The last [`PACKED_SIZE`] of an outermost structure.
    packed: i64,
}

impl<R: Read + Seek> Walk<R> {
    fn new(from: R, left: u64) -> Walk<R> {
        Walk { from: BufReader::new(from), left, number: 0, packed: 0 }
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let mut byte = [0];
        self.left = self.left.checked_sub(1).ok_or(Fault::Ended)?;
        self.from.read_exact(&mut byte).map_err(|_| Fault::Ended)?;
        Ok(byte[0])
    }

    fn pass(&mut self, count: u64) -> Result<(), Fault> {
        self.left = self.left.checked_sub(count).ok_or(Fault::Ended)?;
        let count = i64::try_from(count).map_err(|_| Fault::Ended)?;
        self.from.seek_relative(count).map_err(|_| Fault::Ended)
    }

    fn unsigned(&mut self) -> Result<u64, Fault> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Fault::Wrong)
    }

    /// A number whose sign is its lowest bit.
    fn signed(&mut self) -> Result<i64, Fault> {
        let number = self.unsigned()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn fields(&mut self, known: &Fields, deep: u32) -> Result<(), Fault> {
        let mut last = 0;
        loop {
            let head = self.byte()?;
            let (step, wire) = (i64::from(head >> 4), head & 0xf);
            if wire == wire::STOP {
                return Ok(());
            }
            // The decoder's are of sixteen bits.
            last = if step == 0 { i64::from(self.signed()? as i16) } else { last + step };
            let kind = known.iter().find(|(id, _)| *id == last).map(|(_, kind)| kind);
            self.value(wire, kind, deep)?;
            if deep == MOST_DEEP && last == PACKED_SIZE {
                self.packed = self.number;
            }
        }
    }

    /// Passes over a value that says it is a `wire`.
    fn value(&mut self, wire: u8, kind: Option<&Kind>, deep: u32) -> Result<(), Fault> {
        if deep == 0 || kind.is_some_and(|kind| !kind.is(wire)) {
            return Err(Fault::Wrong);
        }
        match wire {
            // A field that is a boolean says so in its head.
            wire::TRUE | wire::FALSE => Ok(()),
            wire::BYTE => self.pass(1),
            wire::I16 | wire::I32 | wire::I64 => self.signed().map(|number| self.number = number),
            wire::DOUBLE => self.pass(8),
            wire::BINARY => {
                let length = self.unsigned()?;
                self.pass(length)
            }
            wire::LIST | wire::SET => {
                let head = self.byte()?;
                let (count, element) = (u64::from(head >> 4), head & 0xf);
                let count = if count == 15 { self.unsigned()? } else { count };
                let of = if let Some(List(of)) = kind { Some(*of) } else { None };
                if count > 0 && matches!(element, wire::TRUE | wire::FALSE) {
                    return Err(Fault::Wrong);
                }
                (0..count).try_for_each(|_| self.value(element, of, deep - 1))
            }
            wire::STRUCT => {
                let known = if let Some(Struct(fields)) = kind { fields } else { NONE };
                self.fields(known, deep - 1)
            }
            wire::UUID => self.pass(16),
            // Nothing in Parquet is a map.
            _ => Err(Fault::Wrong),
        }
    }
}

impl Kind {
    /// Whether a value that says it is a `wire` is one of this kind.
    fn is(&self, wire: u8) -> bool {
        match self {
            Bool => matches!(wire, wire::TRUE | wire::FALSE),
            Byte => wire == wire::BYTE,
            I16 => wire == wire::I16,
            I32 => wire == wire::I32,
            I64 => wire == wire::I64,
            Double => wire == wire::DOUBLE,
            Binary => wire == wire::BINARY,
            List(_) => wire == wire::LIST,
            Struct(_) => wire == wire::STRUCT,
        }
    }
}

/// What values say they are.
mod wire {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const STRUCT: u8 = 12;
    pub(super) const UUID: u8 = 13;
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn footer(bytes: &[u8]) -> bool {
        is_footer(Cursor::new(bytes), bytes.len() as u64)
    }

    #[test]
    fn known_fields_are_what_they_should_be_and_others_anything_but_booleans_in_lists() {
        // Version 2, no rows; field 20 a list of two bytes; the end.
        assert!(footer(&[0x15, 4, 0x26, 0, 0x09, 40, 0x23, 7, 8, 0]));
        // The version as a text, as long as what hides in it.
        assert!(!footer(&[0x18, 2, 1, 1, 0]));
        // Field 20: two billion booleans; lists of such lists; a map of them.
        assert!(!footer(&[0x09, 40, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]));
        assert!(!footer(&[0x09, 40, 0x19, 0xf2, 0xff, 0xff, 0xff, 0xff, 7, 0]));
        assert!(!footer(&[0x0b, 40, 0xff, 0xff, 0xff, 0xff, 7, 0x11, 0]));
        // Cut short: the decoder's to refuse.
        assert!(footer(&[0x15]) && footer(&[0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 7]));
        // Structures without end.
        assert!(!footer(&[0xfc; 100]));
    }

    #[test]
    fn pages_are_passed_over_by_what_their_headers_say() {
        let page = |size: u8, more: &[u8]| {
            // A page of kind 0, of `size` bytes before and after packing.
            let head = [0x15, 0, 0x15, 2 * size, 0x15, 2 * size];
            [&head[..], more, &[0], &vec![0xf1; usize::from(size)]].concat()
        };
        let are = |bytes: &[u8]| are_pages(Cursor::new(bytes), bytes.len() as u64);
        assert!(are(&[page(5, &[]), page(0, &[]), page(60, &[])].concat()));
        let booleans = [0x09, 80, 0xf1, 0xff, 0xff, 0xff, 0xff, 7];
        assert!(!are(&[page(5, &[]), page(3, &booleans)].concat()));
        assert!(!are(&[0x15, 0, 0x15, 0, 0x15, 1, 0]), "less than no bytes");
        // Two billion numbers that would take sixteen billion bytes; a text of as many.
        let numbers = [0x09, 80, 0xf7, 0xff, 0xff, 0xff, 0xff, 7];
        assert!(!are(&[page(5, &[]), page(3, &numbers)].concat()));
        assert!(!are(&[page(5, &[]), page(3, &[0x08, 80, 0xff, 0xff, 0xff, 0xff, 7])].concat()));
        // A page that is cut short: the decoder's to refuse.
        assert!(are(&page(60, &[])[..20]));
    }
}
