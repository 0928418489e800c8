//! Options about distances between vectors that several commands share.

use clap::ValueEnum;
use hg2v_search::catalog::Choice;
use hg2v_search::{Metric, Way};

/// How far apart two vectors are.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct NearArgs {
    /// How far apart two vectors are
    #[arg(long, value_enum, default_value = "cosine", value_name = "METRIC")]
    metric: MetricArg,
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

impl NearArgs {
    pub(crate) fn metric(&self) -> Metric {
        match self.metric {
            MetricArg::Cosine => Metric::Cosine,
            MetricArg::Euclidean => Metric::Euclidean,
        }
    }

    pub(crate) fn choice(&self, way: Way, seed: u64) -> Choice {
        Choice { metric: self.metric(), standardise: self.standardise, way, seed }
    }
}
