//! What is run, and what the paper found: the files of `experiments/configs`, compiled in.

use std::collections::BTreeMap;

use hg2v::dataset::synthetic::families::Family;
use hg2v_eval::classifiers::Classifier;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// A mean and a standard deviation in percent.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperScore {
    /// The mean.
    pub(crate) mean: f64,
    /// The standard deviation.
    pub(crate) std: f64,
}

/// Table 2: accuracies of HG2V, and of the methods that the paper compares with. Most of the
/// latter are copied by the paper from other papers and their protocols.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table2 {
    /// 80/20 splits of a run.
    pub(crate) splits: usize,
    /// What a quick run does instead.
    pub(crate) quick: Table2Quick,
    /// The columns of all methods, by their names in the registry.
    pub(crate) methods: Vec<String>,
    /// The datasets, in the paper's order.
    pub(crate) rows: Vec<Table2Row>,
}

/// A quick run of table 2.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table2Quick {
    /// 80/20 splits.
    pub(crate) splits: usize,
    /// Datasets of more nodes in all are left out.
    pub(crate) most_nodes: f64,
    /// The same where all methods are run.
    pub(crate) most_nodes_all_methods: f64,
}

/// What the paper reports of a dataset: test accuracies in percent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table2Row {
    /// The dataset. The paper's FRANKENSTEIN had attributes that nobody has any more; ours are
    /// [made anew](hg2v::dataset::synthetic::frankenstein), and bear another name.
    pub(crate) dataset: String,
    /// HG2V's.
    pub(crate) hg2v: PaperScore,
    /// Those of other methods, by name.
    pub(crate) others: BTreeMap<String, f64>,
}

/// Table 3: trained on one dataset, judged on another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table3 {
    /// 80/20 splits of a run.
    pub(crate) splits: usize,
    /// What a quick run does instead.
    pub(crate) quick: Table3Quick,
    /// The transfers, in the paper's order.
    pub(crate) rows: Vec<Table3Row>,
}

/// A quick run of table 3.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table3Quick {
    /// 80/20 splits.
    pub(crate) splits: usize,
    /// Graphs of each dataset, evenly spaced.
    pub(crate) graphs: usize,
}

/// A transfer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table3Row {
    /// The dataset that is trained on.
    pub(crate) from: String,
    /// The dataset that is judged on.
    pub(crate) to: String,
    /// The paper's test accuracy in percent.
    pub(crate) paper: f64,
}

/// Table 4: the ablations.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table4 {
    /// 80/20 splits of a run.
    pub(crate) splits: usize,
    /// What a quick run does instead.
    pub(crate) quick: Table4Quick,
    /// The columns, by their names in the registry.
    pub(crate) methods: Vec<String>,
    /// The datasets, in the paper's order.
    pub(crate) rows: Vec<Table4Row>,
}

/// A quick run of table 4.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table4Quick {
    /// 80/20 splits.
    pub(crate) splits: usize,
    /// Datasets of more nodes in all are left out.
    pub(crate) most_nodes: f64,
}

/// What the paper reports of a dataset.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table4Row {
    /// The dataset.
    pub(crate) dataset: String,
    /// Test accuracies in percent by method; `null` where one ran out of memory.
    pub(crate) paper: BTreeMap<String, Option<f64>>,
}

/// The laboratory: every method on every dataset, by every judge.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lab {
    /// 80/20 splits of a run, where a dataset does not say otherwise.
    pub(crate) splits: usize,
    /// What a quick run does instead.
    pub(crate) quick: LabQuick,
    /// Judges beside the first.
    pub(crate) also: Vec<Classifier>,
    /// The columns, by their names in the registry.
    pub(crate) methods: Vec<String>,
    /// The method that is set against others.
    pub(crate) ours: String,
    /// The same method without training; all others are rivals.
    pub(crate) control: String,
    /// The datasets.
    pub(crate) rows: Vec<LabRow>,
}

/// A quick run of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabQuick {
    /// 80/20 splits.
    pub(crate) splits: usize,
    /// Datasets of more nodes in all are left out.
    pub(crate) most_nodes: f64,
}

/// A dataset of the laboratory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabRow {
    /// Its name.
    pub(crate) dataset: String,
    /// Its splits, where they are not the usual: more of small sets, whose test parts are small.
    #[serde(default)]
    pub(crate) splits: Option<usize>,
    /// Whether it is of molecules, on which there are methods that know no other graphs.
    #[serde(default)]
    pub(crate) molecules: bool,
}

/// Weisfeiler–Lehman labels of graphs that lose edges.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigWl {
    /// Nodes a graph.
    pub(crate) nodes: u32,
    /// Rounds of refinement that are compared.
    pub(crate) stages: usize,
    /// The most edges that are removed.
    pub(crate) most_removed: u64,
    /// Damaged copies of a graph, for each number of edges.
    pub(crate) graphs: u64,
    /// What a quick run does instead.
    pub(crate) quick: FigWlQuick,
    /// The paper's families, as its captions describe them.
    pub(crate) families: Vec<TitledFamily>,
}

/// A quick run of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigWlQuick {
    /// Damaged copies.
    pub(crate) graphs: u64,
}

/// A family of graphs and its title.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct TitledFamily {
    /// What stands above its chart.
    pub(crate) title: String,
    /// Which it is.
    #[serde(flatten)]
    pub(crate) family: FamilyName,
}

/// A family that is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum FamilyName {
    /// A path whose ends meet.
    Cycle,
    /// A tree.
    Tree {
        /// Children a node.
        branching: u32,
    },
    /// A star whose leaves form a cycle.
    Wheel,
    /// Two paths, joined rung by rung.
    Ladder,
}

impl FamilyName {
    /// The family of so many nodes.
    pub(crate) fn of(self, nodes: u32) -> Family {
        match self {
            FamilyName::Cycle => Family::Cycle { nodes },
            FamilyName::Tree { branching } => Family::Tree { nodes, branching },
            FamilyName::Wheel => Family::Wheel { nodes },
            FamilyName::Ladder => Family::Ladder { nodes },
        }
    }
}

/// Distances between spectra, before and after coarsening.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigSpectra {
    /// Four datasets of the paper's table, one a kind: proteins, films, digits, molecules. The
    /// paper does not say which four its figure shows.
    pub(crate) datasets: Vec<String>,
    /// How often pairs are drawn.
    pub(crate) runs: u64,
    /// How many pairs of graphs each time.
    pub(crate) pairs: usize,
    /// What a quick run does instead.
    pub(crate) quick: FigSpectraQuick,
}

/// A quick run of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigSpectraQuick {
    /// How often pairs are drawn.
    pub(crate) runs: u64,
    /// How many pairs each time.
    pub(crate) pairs: usize,
}

/// Four digits, coarsened.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigCoarsening {
    /// The dataset.
    pub(crate) dataset: String,
    /// Levels that are drawn above the digit itself.
    pub(crate) levels: usize,
}

/// Graphs and those nearest to them in latent space.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigNeighbors {
    /// The paper's datasets.
    pub(crate) datasets: Vec<FigNeighborsDataset>,
    /// How many neighbours are drawn.
    pub(crate) neighbors: usize,
    /// What a quick run does instead.
    pub(crate) quick: FigNeighborsQuick,
}

/// A dataset of the figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigNeighborsDataset {
    /// Its name.
    pub(crate) name: String,
    /// How many graphs are drawn with their neighbours.
    pub(crate) graphs: usize,
}

/// A quick run of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigNeighborsQuick {
    /// The most graphs of a dataset.
    pub(crate) most_graphs: usize,
    /// How often they are seen.
    pub(crate) epochs: u64,
}

/// A dataset that is not simply a file of its name.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct MadeDataset {
    /// Its name.
    pub(crate) name: String,
    /// How it is made.
    #[serde(flatten)]
    pub(crate) recipe: DatasetRecipe,
}

/// How a dataset is made.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum DatasetRecipe {
    /// Aggregates as the paper's, grown; never read from a file, for the files that the authors
    /// ship have 100 nodes a graph, the paper's 500.
    Dla {
        /// How many.
        graphs: u64,
    },
    /// Images and their classes, in idx files that may be compressed.
    Images {
        /// How their names begin; the first that is there counts.
        prefixes: Vec<String>,
        /// How the names of images go on; the first that is there counts.
        images: Vec<String>,
        /// How the names of classes go on.
        labels: String,
        /// The least luminosity of a node, where it is not the usual one.
        #[serde(default)]
        threshold: Option<f64>,
    },
    /// Molecules whose atoms have images for attributes.
    Frankenstein {
        /// The dataset of molecules.
        molecules: String,
        /// The dataset of images, made of images itself.
        digits: String,
    },
}

macro_rules! configs {
    ($($(#[$about:meta])* $name:ident: $kind:ty = $file:literal;)*) => {
        $(
            $(#[$about])*
            ///
            /// # Errors
            /// A file that does not make sense, which a test rules out.
            pub(crate) fn $name() -> Result<$kind> {
                parsed($file, include_str!(concat!("../../configs/", $file)))
            }
        )*
    };
}

configs! {
    /// Table 2.
    table2: Table2 = "table2.json";
    /// Table 3.
    table3: Table3 = "table3.json";
    /// Table 4.
    table4: Table4 = "table4.json";
    /// The laboratory.
    lab: Lab = "lab.json";
    /// The figure of Weisfeiler–Lehman labels.
    fig_wl: FigWl = "fig-wl.json";
    /// The figure of spectra.
    fig_spectra: FigSpectra = "fig-spectra.json";
    /// The figure of coarsened digits.
    fig_coarsening: FigCoarsening = "fig-coarsening.json";
    /// The figure of neighbours.
    fig_neighbors: FigNeighbors = "fig-neighbors.json";
    /// The datasets that are made.
    made_datasets: Vec<MadeDataset> = "datasets.json";
}

fn parsed<T: DeserializeOwned>(file: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| Error::Config { file, problem: e.to_string() })
}

#[cfg(test)]
mod tests;
