//! Options by the library's names for them.

use std::fmt;

/// An option of some face, by the library's name for it: `max_nodes`, `lr`.
///
/// The command writes it `--max-nodes`, the server `--max-request-nodes`; see
/// [`Wording::option`](super::Wording::option).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Opt(&'static str);

impl Opt {
    /// Whether atoms of molecules are read with numbers.
    pub const ATOM_ATTRIBUTES: Opt = Opt("atom_attributes");
    /// Whether and how attributes of nodes are used.
    pub const ATTRIBUTES: Opt = Opt("attributes");
    /// The address that sets are downloaded from.
    pub const BASE: Opt = Opt("base");
    /// Graphs a step of training.
    pub const BATCH: Opt = Opt("batch");
    /// The folder of known sets.
    pub const DATA_DIR: Opt = Opt("data_dir");
    /// The machine that computes.
    pub const DEVICE: Opt = Opt("device");
    /// Numbers a node.
    pub const DIM: Opt = Opt("dim");
    /// Whether numbers of edges are used.
    pub const EDGE_ATTRIBUTES: Opt = Opt("edge_attributes");
    /// Whether labels of edges are used.
    pub const EDGE_LABELS: Opt = Opt("edge_labels");
    /// The format that is written.
    pub const FORMAT: Opt = Opt("format");
    /// Whether labels of nodes are used.
    pub const LABELS: Opt = Opt("labels");
    /// The learning rate.
    pub const LR: Opt = Opt("lr");
    /// See [`Limit::Nodes`].
    pub const MAX_NODES: Opt = Opt("max_nodes");
    /// See [`Limit::RecordBytes`].
    pub const MAX_RECORD_BYTES: Opt = Opt("max_record_bytes");
    /// See [`Limit::UnpackedBytes`].
    pub const MAX_UNPACKED_BYTES: Opt = Opt("max_unpacked_bytes");
    /// What is to be predicted, by name.
    pub const TARGET: Opt = Opt("target");
    /// Whether that is classes or numbers.
    pub const TASK: Opt = Opt("task");
    /// What is done with weights of edges.
    pub const WEIGHTS: Opt = Opt("weights");

    /// The options that [advice](super::Advice) names: every face has words for each.
    pub const ADVISED: [Opt; 17] = [
        Opt::ATOM_ATTRIBUTES,
        Opt::ATTRIBUTES,
        Opt::BASE,
        Opt::BATCH,
        Opt::DATA_DIR,
        Opt::DEVICE,
        Opt::DIM,
        Opt::EDGE_ATTRIBUTES,
        Opt::EDGE_LABELS,
        Opt::FORMAT,
        Opt::LABELS,
        Opt::MAX_NODES,
        Opt::MAX_RECORD_BYTES,
        Opt::MAX_UNPACKED_BYTES,
        Opt::TARGET,
        Opt::TASK,
        Opt::WEIGHTS,
    ];

    /// The option of that name.
    pub const fn new(name: &'static str) -> Opt {
        Opt(name)
    }

    /// The library's name for it.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl From<&'static str> for Opt {
    fn from(name: &'static str) -> Opt {
        Opt(name)
    }
}

impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What is held within bounds, whatever a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Nodes of a graph.
    Nodes,
    /// Bytes of a line or record.
    RecordBytes,
    /// Bytes that a collection takes when it is held in memory.
    UnpackedBytes,
}

impl Limit {
    /// The option that raises it.
    pub const fn option(self) -> Opt {
        match self {
            Limit::Nodes => Opt::MAX_NODES,
            Limit::RecordBytes => Opt::MAX_RECORD_BYTES,
            Limit::UnpackedBytes => Opt::MAX_UNPACKED_BYTES,
        }
    }

    /// What it counts.
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Limit::Nodes => "nodes",
            Limit::RecordBytes | Limit::UnpackedBytes => "bytes",
        }
    }
}
