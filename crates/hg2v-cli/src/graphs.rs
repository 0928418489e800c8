//! Options about graphs that several commands share, and what is said about them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hg2v::Hg2vParams;
use hg2v::coarsen::Method;
use hg2v::coarsen::cache::Cache;
use hg2v::dataset::summary::SummaryOptions;
use hg2v::graph::{Findings, WeightPolicy};

use crate::context::Context;

/// Where pyramids are kept between runs.
#[derive(Args, Clone)]
pub(crate) struct CacheArgs {
    /// Compute every pyramid, and keep none for the next time
    #[arg(long)]
    no_cache: bool,
    /// Where pyramids are kept [default: the user's cache folder]
    #[arg(long, env = "HG2V_CACHE", value_name = "DIR")]
    cache_dir: Option<PathBuf>,
}

impl CacheArgs {
    pub(crate) fn open(&self) -> Option<Cache> {
        match self.no_cache {
            true => None,
            false => self.cache_dir.clone().or_else(Cache::default_folder).map(Cache::new),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MethodArg {
    /// closed neighbourhoods of least local variation
    VariationNeighborhoods,
    /// edges of least local variation
    VariationEdges,
    /// maximal cliques of least local variation
    VariationCliques,
    /// edges heavy for their ends
    HeavyEdge,
    /// edges of least algebraic distance (Jacobi)
    AlgebraicJc,
    /// edges of largest affinity (Gauss–Seidel)
    AffinityGs,
    /// Kron reduction: eliminate every second node
    Kron,
}

impl From<MethodArg> for Method {
    fn from(method: MethodArg) -> Method {
        match method {
            MethodArg::VariationNeighborhoods => Method::VariationNeighborhoods,
            MethodArg::VariationEdges => Method::VariationEdges,
            MethodArg::VariationCliques => Method::VariationCliques,
            MethodArg::HeavyEdge => Method::HeavyEdge,
            MethodArg::AlgebraicJc => Method::AlgebraicJc,
            MethodArg::AffinityGs => Method::AffinityGs,
            MethodArg::Kron => Method::Kron,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum WeightArg {
    /// as they are
    Use,
    /// their absolute values
    Abs,
    /// every edge weighs 1
    Ignore,
}

impl From<WeightArg> for WeightPolicy {
    fn from(weights: WeightArg) -> WeightPolicy {
        match weights {
            WeightArg::Use => WeightPolicy::Use,
            WeightArg::Abs => WeightPolicy::Abs,
            WeightArg::Ignore => WeightPolicy::Ignore,
        }
    }
}

/// A look at everything, with the features that `fit` takes unless told otherwise.
pub(crate) fn summary_options() -> SummaryOptions {
    SummaryOptions { features: Hg2vParams::default().features, ..SummaryOptions::default() }
}

/// Says what files hold and graphs do not carry.
pub(crate) fn say_ignored(ignored: &[String], context: &Context) {
    for what in ignored {
        context.say(format!("not used: {what}"));
    }
}

/// Says what graphs' records had to have resolved.
pub(crate) fn say_findings(found: &Findings, context: &Context) {
    for (count, what) in [
        (found.self_loops, "self-loops left out"),
        (found.repeated_edges, "repeated edges merged"),
        (found.conflicting_weights, "of those with another weight (the larger was kept)"),
        (found.zero_weights, "edges of weight zero left out"),
        (found.negative_weights, "negative weights made positive"),
        (found.directed_graphs, "directed graphs read as undirected"),
    ] {
        if count > 0 {
            context.say(format!("{count} {what}"));
        }
    }
}
