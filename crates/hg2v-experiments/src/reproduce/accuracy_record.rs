//! What a run of table 2 found about a dataset, [kept](crate::store) as `SET.MODEL.json`.

use std::fmt;

use hg2v::saved::DataNote;
use hg2v_eval::model_grid::ModelShape;
use hg2v_eval::study::{Mode, StudyResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::host::Host;
use crate::store::ResultFile;

/// Everything that results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AccuracyIdentity {
    /// [`FORMAT`](crate::store::FORMAT).
    pub(super) format: u32,
    /// The version of hg2v.
    pub(super) hg2v: String,
    /// The dataset's name.
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
pub(super) enum RowKind {
    Hg2v,
    Untrained,
    Statistics,
}

/// Which row of a file a result belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowKey {
    pub(super) kind: RowKind,
    /// Where it is a network.
    pub(super) shape: Option<ModelShape>,
}

impl fmt::Display for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            RowKind::Hg2v => "HG2V",
            RowKind::Untrained => "untrained",
            RowKind::Statistics => "statistics",
        })?;
        self.shape.map_or(Ok(()), |shape| write!(f, " {shape}"))
    }
}

/// A row, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AccuracyRow {
    #[serde(flatten)]
    pub(super) key: RowKey,
    pub(super) result: StudyResult,
}

/// A finished file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AccuracyRecord {
    #[serde(flatten)]
    pub(super) identity: AccuracyIdentity,
    /// How many classes, and the share of the largest.
    pub(super) classes: usize,
    pub(super) majority: f64,
    pub(super) splits: usize,
    pub(super) machine: Host,
    /// The model that the grid chose, or the only one.
    pub(super) chosen: ModelShape,
    /// Every model of the grid, the chosen one untrained, and statistics.
    pub(super) rows: Vec<AccuracyRow>,
}

impl AccuracyRecord {
    /// The row of a kind; of HG2V the one that was chosen.
    pub(super) fn row(&self, kind: RowKind) -> Option<&StudyResult> {
        let shape = (kind != RowKind::Statistics).then_some(self.chosen);
        let own = |row: &&AccuracyRow| row.key == RowKey { kind, shape };
        self.rows.iter().find(own).map(|row| &row.result)
    }
}

impl ResultFile for AccuracyRecord {
    type Identity = AccuracyIdentity;
    type Row = RowKey;

    fn stem(identity: &AccuracyIdentity) -> String {
        let AccuracyIdentity { set, preset, grid, .. } = identity;
        match grid {
            None => format!("{set}.{preset}"),
            Some(grid) => format!("{set}.{preset}.grid-{grid}"),
        }
    }

    fn results(&self) -> Vec<(RowKey, &StudyResult)> {
        self.rows.iter().map(|row| (row.key, &row.result)).collect()
    }
}
