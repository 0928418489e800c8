//! Colours that stay apart to every eye, on paper and on screens.

/// Kinds: blue, vermilion, green, purple, orange, sky and a neutral (Okabe and Ito 2008),
/// as `0xRRGGBB`, the darker ones first.
pub const KINDS: [u32; 7] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x444444];

/// Amounts, from little to much (viridis: Smith and van der Walt 2015), as even in lightness
/// as they are in number.
pub const AMOUNTS: [u32; 9] =
    [0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725];
