//! How much of a hostile file is believed before it is refused, and what of it is asked for.

/// Bounds that every reader keeps, so that no file can make it allocate without
/// end. All can be raised by the caller; the error that names a bound says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Nodes of one graph. A claim beyond it is refused before memory is taken.
    pub max_nodes: u64,
    /// Bytes of one line, record or XML file.
    pub max_record_bytes: u64,
    /// Bytes a collection may have, unfolded, where its format must be held whole
    /// (TU, CSV, GraphML). Streams are bounded by `max_record_bytes` instead.
    pub max_unpacked_bytes: u64,
    /// Whether what says how a graph is drawn, as Gephi writes it into GraphML (places, colours,
    /// sizes), is read as node attributes.
    pub drawing: bool,
    /// Whether the atoms of molecules have attributes beside their labels.
    pub atom_attributes: bool,
}

hg2v_math::setters!(Limits {
    max_nodes: u64,
    max_record_bytes: u64,
    max_unpacked_bytes: u64,
    drawing: bool,
    atom_attributes: bool,
});

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_nodes: 1 << 24,
            max_record_bytes: 1 << 30,
            max_unpacked_bytes: 2 << 30,
            drawing: false,
            atom_attributes: false,
        }
    }
}
