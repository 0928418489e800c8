//! Options about distances between vectors that several commands share.

use hg2v_search::catalog::SearchOptions;
use hg2v_search::{IndexKind, Metric};

use crate::vocabulary::word;

/// How far apart two vectors are.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct DistanceArgs {
    #[arg(long, value_name = "METRIC", value_parser = word::<Metric>(), help = format!(
        "How far apart two vectors are [default: {}]",
        SearchOptions::default().metric
    ))]
    metric: Option<Metric>,
    /// Bring every column to mean 0 and variance 1 first
    #[arg(long, alias = "standardize")]
    pub(crate) standardise: bool,
}

impl DistanceArgs {
    pub(crate) fn metric(&self) -> Metric {
        self.metric.unwrap_or(SearchOptions::default().metric)
    }

    /// Whether somebody said how far apart vectors are.
    pub(crate) fn is_given(&self) -> bool {
        self.metric.is_some()
    }

    /// Whether somebody said anything of it.
    pub(crate) fn is_any_given(&self) -> bool {
        self.is_given() || self.standardise
    }

    /// The same for [outliers](SearchOptions::for_outliers), unless somebody said.
    pub(crate) fn for_outliers(self) -> DistanceArgs {
        let SearchOptions { metric, standardise, .. } = SearchOptions::default().for_outliers();
        match self.metric {
            Some(_) => self,
            None => DistanceArgs { metric: Some(metric), standardise },
        }
    }

    pub(crate) fn options(&self, index: IndexKind, seed: u64) -> SearchOptions {
        SearchOptions::default()
            .metric(self.metric())
            .standardise(self.standardise)
            .index(index)
            .seed(seed)
    }
}
