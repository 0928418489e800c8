//! A page of a model and graphs.

use hg2v::Model;
use hg2v::context::Context;
use hg2v::dataset::fingerprint::Fingerprint;
use hg2v::dataset::summary::Summary;
use hg2v::error::Result;
use hg2v::prepare::{Collection, Needs};
use hg2v::saved::{Config, LogLine, RunNote};
use hg2v_eval::evaluation::Evaluation;
use hg2v_search::catalog::SearchOptions;
use hg2v_search::project::ProjectionMethod;

use crate::map::Map;
use crate::page::{Contents, Page, PageMode, page};
use crate::words::counted;

/// What a page of a model and graphs is made of.
#[derive(Debug, Clone)]
pub struct Portrait<'a> {
    /// What the model says of itself.
    pub config: &'a Config,
    /// Numbers of a vector of the model.
    pub dim: usize,
    /// How the model came about.
    pub run: Option<&'a RunNote>,
    /// What training said.
    pub log: &'a [LogLine],
    /// How good the vectors are.
    pub evaluation: Option<&'a Evaluation>,
    /// What is in the graphs.
    pub summary: &'a Summary,
    /// What stands above it; the name of the graphs, where nothing else is said.
    pub title: Option<&'a str>,
    /// Maps of the graphs, the first of which is shown first.
    pub methods: &'a [ProjectionMethod],
    /// How vectors are searched.
    pub search: SearchOptions,
    /// The most graphs that are shown.
    pub sample: usize,
}

impl Portrait<'_> {
    /// What is to be done to the graphs: the page shows pyramids, whether the model looks at them or
    /// not.
    pub fn needs(model: &dyn Model) -> Needs {
        let needs = model.needs();
        let coarsening = Some(needs.coarsening.unwrap_or_default());
        needs.coarsening(coarsening)
    }

    /// The page of the graphs of `collection`, whose `vectors` have `dim` numbers each.
    ///
    /// # Errors
    /// As [`Map::new`] and [`page()`](crate::page()).
    pub fn page(
        &self,
        collection: &Collection<'_>,
        (dim, vectors): (usize, Vec<f32>),
        mode: PageMode,
        context: &Context<'_>,
    ) -> Result<Page> {
        let map = Map::new(dim, vectors, self.search, self.methods, context)?;
        let mut notes = Vec::new();
        if dim != self.dim {
            let own = self.dim;
            notes.push(format!(
                "The vectors have {dim} numbers, the model's {own}: they are not its own."
            ));
        }
        let data = &self.config.data;
        if Fingerprint::of(collection.run.records.iter()) != data.fingerprint {
            let others = counted(data.graphs, "graph");
            notes.push(format!("The model was not trained on these graphs, but on {others}."));
        }
        let contents = Contents {
            title: self.title.unwrap_or(&self.summary.name).to_owned(),
            config: Some(self.config),
            run: self.run,
            log: self.log,
            summary: Some(self.summary),
            evaluation: self.evaluation,
            map,
            notes,
            sample: self.sample,
            seed: self.search.seed,
            ..Contents::of(collection)
        };
        page(&contents, mode)
    }
}
