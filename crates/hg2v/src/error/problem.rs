//! What can be wrong with input.

use std::path::PathBuf;

use crate::dataset::molecules::ATTRIBUTES;

use super::{Advice, Error, Fix, GraphName, Job, Limit, Opt, Wording, Words, counted, shown};

/// What is wrong with input. What a program may want to act on has a kind of its own.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A part of a file that does not say what it should, in words about the file alone.
    Malformed {
        /// What is wrong, with the offending value in it.
        what: String,
        /// What to do.
        fix: Fix,
    },

    /// Nothing is there.
    NotFound {
        /// The folder in which a known set of that name was looked for, too.
        searched: Option<PathBuf>,
        /// What to do.
        fix: Fix,
    },

    /// Something else than what is expected: a format that is not known, or not here.
    Format {
        /// What is there, and what was expected.
        what: String,
        /// What to do.
        fix: Fix,
    },

    /// A collection without graphs.
    NoGraphs {
        /// What to do.
        fix: Fix,
    },

    /// A collection of which every graph was left out.
    NoneUsable {
        /// Its graphs.
        count: u64,
        /// Why the first was.
        first: std::sync::Arc<Error>,
    },

    /// More than a limit allows.
    Beyond {
        /// The limit.
        limit: Limit,
        /// How much it is, where that is known.
        found: Option<u64>,
        /// How much is allowed.
        allowed: u64,
        /// What is so large: "the graph has 5 nodes" where that is known, or as far as "than":
        /// "the line is longer".
        what: Words,
        /// What to do, if not to raise the limit.
        fix: Option<&'static str>,
    },

    /// A table without a column that it needs.
    Column {
        /// The column.
        name: &'static str,
        /// What to do.
        fix: Fix,
    },

    /// A graph that does not hold together.
    Incoherent {
        /// The rest of the sentence: "has 3 weights for 4 edges".
        what: String,
    },

    /// A weight that no Laplacian can have.
    NegativeWeight {
        /// The nodes that the edge joins.
        edge: [u32; 2],
        /// Its weight.
        weight: f64,
    },

    /// A graph whose nodes have other features than those of the first graph.
    Unlike {
        /// What its nodes have.
        found: Brings,
        /// What the nodes of the first graph have.
        expected: Brings,
        /// The first graph.
        first: GraphName,
    },

    /// A graph whose nodes have another number of attributes than the model was fitted to.
    Attributes {
        /// The model's.
        expected: usize,
        /// The graph's; 0 where its nodes have none.
        found: usize,
    },

    /// A graph without the node labels that the model was fitted to.
    Labels,

    /// A graph whose edges have another number of attributes than the model was fitted to.
    EdgeAttributes {
        /// The model's.
        expected: usize,
        /// The graph's; 0 where its edges have none.
        found: usize,
    },

    /// A graph without the edge labels that the model was fitted to.
    EdgeLabels,

    /// Features that memory cannot hold.
    Memory {
        /// Nodes of the graph.
        rows: usize,
        /// Numbers a node.
        columns: usize,
    },

    /// A model whose training is not finished.
    Unfinished,

    /// A model of another version of the format.
    Version {
        /// Its format.
        found: u32,
        /// The version of hg2v that wrote it.
        writer: String,
        /// The format of this version.
        known: u32,
    },

    /// A file that is not what was written: its digest is another one.
    Changed {
        /// What that shows in.
        what: &'static str,
        /// What to do.
        fix: &'static str,
    },

    /// Vectors that another model made.
    OtherModel {
        /// Numbers of a vector: theirs, and the model's.
        dim: [usize; 2],
        /// Digests: that of the model that made them, where they say it, and that of this one.
        digest: [Option<String>; 2],
    },
}

/// What the nodes and edges of a graph bring with them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Brings {
    /// Numbers a node.
    pub attributes: usize,
    /// Whether nodes have labels.
    pub labels: bool,
    /// Numbers an edge.
    pub edge_attributes: usize,
    /// Whether edges have labels.
    pub edge_labels: bool,
}

impl Brings {
    /// In what the two differ, in their words, and the option that leaves it out.
    fn difference(&self, other: &Brings) -> ([String; 2], Advice) {
        let both = |words: &dyn Fn(&Brings) -> String| [words(self), words(other)];
        let some = |has: bool, what: &str| if has { what.to_owned() } else { format!("no {what}") };
        if self.attributes != other.attributes {
            let words = both(&|which| attributes(which.attributes, "node"));
            (words, Advice::Set(Opt::ATTRIBUTES, &["false"]))
        } else if self.labels != other.labels {
            let words = both(&|which| some(which.labels, "node labels"));
            (words, Advice::Set(Opt::LABELS, &["false"]))
        } else if self.edge_attributes != other.edge_attributes {
            let words = both(&|which| attributes(which.edge_attributes, "edge"));
            (words, Advice::Set(Opt::EDGE_ATTRIBUTES, &["ignore"]))
        } else {
            let words = both(&|which| some(which.edge_labels, "edge labels"));
            (words, Advice::Set(Opt::EDGE_LABELS, &["ignore"]))
        }
    }
}

impl Problem {
    /// What kind it is, in a word that programs of other languages compare.
    pub fn kind(&self) -> &'static str {
        match self {
            Problem::Malformed { .. } => "malformed",
            Problem::NotFound { .. } => "not-found",
            Problem::Format { .. } => "format",
            Problem::NoGraphs { .. } => "no-graphs",
            Problem::NoneUsable { .. } => "none-usable",
            Problem::Beyond { .. } => "limit",
            Problem::Column { .. } => "column",
            Problem::Incoherent { .. } => "incoherent",
            Problem::NegativeWeight { .. } => "negative-weight",
            Problem::Unlike { .. } => "unlike",
            Problem::Attributes { .. } => "attributes",
            Problem::Labels => "labels",
            Problem::EdgeAttributes { .. } => "edge-attributes",
            Problem::EdgeLabels => "edge-labels",
            Problem::Memory { .. } => "memory",
            Problem::Unfinished => "unfinished",
            Problem::Version { .. } => "version",
            Problem::Changed { .. } => "changed",
            Problem::OtherModel { .. } => "other-model",
        }
    }

    /// What is wrong, as a sentence about `graph`, where it is one that is at fault.
    pub(super) fn worded(&self, graph: Option<&GraphName>, words: &dyn Wording) -> String {
        let subject = graph.map_or_else(|| "the graph".to_owned(), |name| words.graph(name));
        match self {
            Problem::Malformed { what, .. } => match graph {
                Some(_) => format!("{subject}: {what}"),
                None => what.clone(),
            },
            Problem::NotFound { searched: None, .. } => "no such file or folder".to_owned(),
            Problem::NotFound { searched: Some(folder), .. } => {
                let folder = folder.display();
                format!("no such file or folder, and no set of that name in {folder}")
            }
            Problem::Format { what, .. } => what.clone(),
            Problem::NoGraphs { .. } => "it holds no graphs".to_owned(),
            Problem::NoneUsable { count, first } => {
                let none = match count {
                    1 => "its only graph cannot be used".to_owned(),
                    count => format!("none of its {count} graphs can be used"),
                };
                format!("{none}; mend them; the first: {}", first.worded(words))
            }
            Problem::Beyond { limit, found, allowed, what, .. } => {
                let beyond = match found {
                    Some(_) => format!("{what}, more than the {allowed} allowed"),
                    None => format!("{what} than the {allowed} {} allowed", limit.unit()),
                };
                match graph {
                    Some(_) => format!("{subject}: {beyond}"),
                    None => beyond,
                }
            }
            Problem::Column { name, .. } => format!("it has no column `{name}`"),
            Problem::Incoherent { what } => format!("{subject} {what}"),
            Problem::NegativeWeight { edge: [u, v], weight } => format!(
                "the edge between nodes {u} and {v} of {subject} weighs {weight}, but a Laplacian \
                 needs weights of at least 0"
            ),
            Problem::Unlike { found, expected, first } => {
                let ([has, others], _) = found.difference(expected);
                let first = words.graph(first);
                format!("{subject} has {has}, but {first} has {others}")
            }
            Problem::Attributes { expected, found } => {
                let found = attributes(*found, "node");
                format!("{subject} has {found}, but the model expects {expected}")
            }
            Problem::EdgeAttributes { expected, found } => {
                let found = attributes(*found, "edge");
                format!("{subject} has {found}, but the model expects {expected}")
            }
            Problem::EdgeLabels => {
                format!("{subject} has no edge labels, but the model expects them")
            }
            Problem::Labels => format!("{subject} has no node labels, but the model expects them"),
            Problem::Memory { rows, columns } => format!(
                "{subject} needs a matrix of {rows} × {columns} numbers, more than there is memory \
                 for"
            ),
            Problem::Unfinished => "the training of this model is not finished".to_owned(),
            Problem::Version { found, writer, known } => format!(
                "the model's format is {found} (hg2v {}), this version knows {known}",
                shown(writer)
            ),
            Problem::Changed { what, .. } => (*what).to_owned(),
            Problem::OtherModel { dim: [theirs, ours], .. } if theirs != ours => {
                format!("its vectors have {theirs} numbers, the model's {ours}")
            }
            Problem::OtherModel { digest, .. } => {
                let [theirs, ours] = digest
                    .each_ref()
                    .map(|digest| digest.as_deref().map_or_else(|| "unknown".to_owned(), shown));
                format!("model {theirs} made its vectors, not this one, {ours}")
            }
        }
    }

    /// What to do about it.
    pub fn fix(&self) -> Fix {
        match self {
            Problem::Malformed { fix, .. }
            | Problem::NotFound { fix, .. }
            | Problem::Format { fix, .. }
            | Problem::NoGraphs { fix }
            | Problem::Column { fix, .. } => fix.clone(),
            Problem::NoneUsable { .. } => Fix::default(),
            Problem::Beyond { limit, fix, .. } => {
                let fix = fix.map_or_else(Fix::default, Fix::from);
                fix.or(Advice::Raise(*limit))
            }
            Problem::Incoherent { .. } => "make it hold together; see GraphRecord::check".into(),
            Problem::NegativeWeight { .. } => Advice::Set(Opt::WEIGHTS, &["abs", "ignore"]).into(),
            Problem::Unlike { found, expected, .. } => {
                Fix::from("make all graphs alike").or(found.difference(expected).1)
            }
            // As many as those of atoms, and none here.
            Problem::Attributes { expected, found: 0 } if *expected == ATTRIBUTES.len() => {
                Fix::from("give the graph the attributes that the model was fitted to")
                    .or(Advice::Give(Opt::ATOM_ATTRIBUTES))
            }
            Problem::Attributes { .. } => {
                Fix::from("give the graph the attributes that the model was fitted to")
                    .or(Advice::Do("fit a model without attributes".into()))
            }
            Problem::Labels => Fix::from("give the graph node labels")
                .or(Advice::Do("fit a model without labels".into())),
            Problem::EdgeAttributes { .. } => {
                Fix::from("give its edges the attributes that the model was fitted to")
                    .or(Advice::Do("fit a model without edge attributes".into()))
            }
            Problem::EdgeLabels => Fix::from("give the graph edge labels")
                .or(Advice::Do("fit a model without edge labels".into())),
            Problem::Memory { .. } => "use fewer features".into(),
            Problem::Unfinished => Advice::Run(Job::Resume).into(),
            Problem::Version { .. } => Fix::from("use the version of hg2v that wrote it")
                .or(Advice::Do("fit the model again".into())),
            Problem::Changed { fix, .. } => (*fix).into(),
            Problem::OtherModel { .. } => Fix::from("name the model that made them")
                .or(Advice::Do("embed the graphs again with this one".into())),
        }
    }
}

fn attributes(count: usize, of: &str) -> String {
    match count {
        0 => format!("no {of} attributes"),
        n if of == "edge" => format!("{} an edge", counted(n, "attribute")),
        n => format!("{} a {of}", counted(n, "attribute")),
    }
}
