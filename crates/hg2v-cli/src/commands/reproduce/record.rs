//! What a run found about a set, [kept](crate::store) as `SET.CONFIGURATION.json`.

use std::fmt;

use hg2v::Hg2vParams;
use hg2v::saved::DataNote;
use hg2v_eval::study::{Mode, StudyResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::host::Host;
use crate::store::Kept;

/// Everything that results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    /// [`FORMAT`](crate::store::FORMAT).
    pub(super) format: u32,
    /// The version of hg2v.
    pub(super) hg2v: String,
    /// The set's name.
    pub(super) set: String,
    /// Its content.
    pub(super) data: DataNote,
    /// Where the model started from, and which grid chose d, a and L.
    pub(super) preset: String,
    pub(super) grid: Option<String>,
    /// Everything about the model, before the grid.
    pub(super) configuration: Value,
    /// Who sees what.
    pub(super) mode: Mode,
    /// The classifier and how its settings are chosen.
    pub(super) protocol: Value,
    pub(super) seed: u64,
}

/// What is judged: HG2V, the same untrained, or statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Hg2v,
    Untrained,
    Statistics,
}

/// What the grid chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) dim: usize,
    pub(super) hops: usize,
    pub(super) levels: usize,
}

impl Shape {
    pub(super) fn of(params: &Hg2vParams) -> Shape {
        let a = &params.architecture;
        Shape { dim: a.dim, hops: a.hops, levels: a.levels }
    }
}

/// In the paper's letters.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d={} a={} L={}", self.dim, self.hops, self.levels)
    }
}

/// A row of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Method {
    pub(super) kind: Kind,
    /// Where it is a network.
    pub(super) shape: Option<Shape>,
}

/// A row, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) method: Method,
    pub(super) result: StudyResult,
}

/// A finished file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(flatten)]
    pub(super) identity: Identity,
    /// How many classes, and the share of the largest.
    pub(super) classes: usize,
    pub(super) majority: f64,
    pub(super) splits: usize,
    pub(super) machine: Host,
    /// The model that the grid chose, or the only one.
    pub(super) chosen: Shape,
    /// Every model of the grid, the chosen one untrained, and statistics.
    pub(super) rows: Vec<Row>,
}

impl Record {
    /// The row of a kind; of HG2V the one that was chosen.
    pub(super) fn row(&self, kind: Kind) -> Option<&StudyResult> {
        let shape = (kind != Kind::Statistics).then_some(self.chosen);
        let own = |row: &&Row| row.method == Method { kind, shape };
        self.rows.iter().find(own).map(|row| &row.result)
    }
}

impl Kept for Record {
    type Identity = Identity;
    type Row = Method;

    fn stem(identity: &Identity) -> String {
        let Identity { set, preset, grid, .. } = identity;
        match grid {
            None => format!("{set}.{preset}"),
            Some(grid) => format!("{set}.{preset}.grid-{grid}"),
        }
    }

    fn results(&self) -> Vec<(Method, &StudyResult)> {
        self.rows.iter().map(|row| (row.method, &row.result)).collect()
    }
}
