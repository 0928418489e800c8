//! Options about distances between vectors that several commands share.

use clap::ValueEnum;
use hg2v_search::catalog::SearchOptions;
use hg2v_search::{IndexKind, Metric};

/// How far apart two vectors are.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct DistanceArgs {
    /// How far apart two vectors are [default: cosine]
    #[arg(long, value_enum, value_name = "METRIC")]
    metric: Option<MetricArg>,
    /// Bring every column to mean 0 and variance 1 first
    #[arg(long, alias = "standardize")]
    pub(crate) standardise: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MetricArg {
    /// 1 less the cosine of their angle
    Cosine,
    /// the length of their difference
    Euclidean,
}

impl DistanceArgs {
    pub(crate) fn metric(&self) -> Metric {
        match self.metric {
            None | Some(MetricArg::Cosine) => Metric::Cosine,
            Some(MetricArg::Euclidean) => Metric::Euclidean,
        }
    }

    /// Whether somebody said how far apart vectors are.
    pub(crate) fn is_given(&self) -> bool {
        self.metric.is_some()
    }

    /// The same where distances to a neighbour are compared with each other, and not neighbours:
    /// an angle does not tell how far out a graph is, nor do the columns of the largest numbers.
    pub(crate) fn for_outliers(self) -> DistanceArgs {
        match self.metric {
            Some(_) => self,
            None => DistanceArgs { metric: Some(MetricArg::Euclidean), standardise: true },
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
