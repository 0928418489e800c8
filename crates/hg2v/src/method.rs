//! One way to make a model, whatever the method.
//!
//! A [`Method`] is settings: it learns from graphs, without labels. What it learns is a
//! [`Model`]: it gives any graph a vector, saves itself as a folder, and never changes.
//!
//! ```
//! use hg2v::graph::GraphRecord;
//! use hg2v::{Hg2v, Method, Model};
//! # let ring = |n: u32| GraphRecord { num_nodes: n, edges: (0..n).map(|v| [v, (v + 1) % n]).collect(), ..GraphRecord::default() };
//! # let graphs: Vec<GraphRecord> = (4..12).map(ring).collect();
//! let method: Box<dyn Method> = Box::new(Hg2v::params().dim(4).levels(2).epochs(1));
//! let model: Box<dyn Model> = method.fit(&graphs)?;
//! assert_eq!(model.embed(&graphs[..2])?.len(), 2);
//! # Ok::<(), hg2v::Error>(())
//! ```

use std::any::Any;
use std::fmt;
use std::path::Path;

use serde_json::Value;

use crate::context::Context;
use crate::dataset::features::{Applied, Origin};
use crate::error::Result;
use crate::estimator::Fit;
use crate::graph::{Aspects, GraphRecord};
use crate::output::OutputFolder;
use crate::prepare::{Collection, Needs, Notes, Run};
use crate::progress::{Report, Stage};
use crate::saved::{self, Parts};
use crate::vectors::Vectors;

/// A way to learn vectors of graphs without labels.
pub trait Method: fmt::Debug + Send + Sync {
    /// Its name, as users type it and saved models say it.
    fn name(&self) -> &'static str;

    /// All its settings, by their names: what results are told apart by.
    fn settings(&self) -> Value;

    /// Checks each setting.
    ///
    /// # Errors
    /// One for the first setting outside its domain.
    fn check(&self) -> Result<()>;

    /// What is done to graphs before it sees them.
    fn needs(&self) -> Needs;

    /// Learns from the graphs `train` of a collection that was made for its
    /// [needs](Method::needs).
    ///
    /// # Errors
    /// Settings outside their domain; no graphs, or graphs that the method does not accept;
    /// training that diverges; a device that fails; [`Stopped`](crate::Error::Stopped).
    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>>;

    /// The same method, where its training can be kept in a folder and go on there after a stop.
    fn resumable(&self) -> Option<&dyn Resumable> {
        None
    }

    /// Learns from `graphs`.
    ///
    /// # Errors
    /// As [`fit_collection`](Method::fit_collection).
    fn fit(&self, graphs: &[GraphRecord]) -> Result<Box<dyn Model>> {
        let context = Context::default();
        self.check()?;
        let collection = Collection::new(Run::in_memory(graphs), &self.needs(), &context)?;
        self.fit_collection(&collection, &collection.all(), &context)
    }
}

/// A method that learns the network of HG2V step by step: in a
/// [`TrainingFolder`](crate::TrainingFolder) it goes on after a stop.
pub trait Resumable: Method {
    /// Makes everything ready that comes before training on the graphs `train` of a collection.
    ///
    /// # Errors
    /// As [`fit_collection`](Method::fit_collection), training apart.
    fn prepare(&self, collection: &Collection<'_>, train: &[usize]) -> Result<Fit>;
}

/// The vectors of some graphs, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// A row of [`dim`](Model::dim) numbers for each graph.
    pub values: Vec<f32>,
    /// What each graph's features had to have resolved.
    pub applied: Vec<Applied>,
}

/// What a method learnt: graphs in, vectors out.
///
/// A graph's vector is the same bits at any number of threads, alone or among others.
pub trait Model: Any + fmt::Debug + Send + Sync {
    /// The name of the [method](Method::name) that learnt it.
    fn method(&self) -> &str;

    /// The [settings](Method::settings) with which it learnt.
    fn settings(&self) -> Value;

    /// What is done to graphs before it sees them.
    fn needs(&self) -> Needs;

    /// What it sees of graphs that bring it; nothing else changes their vectors.
    fn sees(&self) -> Aspects;

    /// A name for every number of a vector.
    fn columns(&self) -> Vec<String>;

    /// Numbers of a vector.
    fn dim(&self) -> usize {
        self.columns().len()
    }

    /// Whether all numbers of a vector count in one unit, as those of fingerprints do: what is rare
    /// is small in them, and would be loud if columns were standardised.
    fn counts(&self) -> bool {
        false
    }

    /// Whether a record has what the model looks at; `origin` is for messages.
    ///
    /// # Errors
    /// A record that lacks it.
    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()>;

    /// The vectors of all graphs of a collection that was made for its [needs](Model::needs).
    ///
    /// # Errors
    /// Graphs that [lack](Model::check) what the model looks at; a device that fails.
    fn embed_collection(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Rows>;

    /// What its folder holds.
    ///
    /// # Errors
    /// None that depend on what was learnt.
    fn parts(&self) -> Result<Parts>;

    /// The vectors of the graphs of `run`, row after row, [a part](Run::parts) at a time, so
    /// that pyramids do not pile up.
    ///
    /// # Errors
    /// As [`embed_collection`](Model::embed_collection); a graph that cannot be used;
    /// [`Stopped`](crate::Error::Stopped).
    fn embed_run(&self, run: Run<'_>, context: &Context<'_>) -> Result<(Vec<f32>, Notes)> {
        let (mut values, mut notes) = (Vec::new(), Notes::default());
        let (needs, total) = (self.needs(), run.records.len() as u64);
        let quiet = context.unwatched();
        for part in run.parts() {
            let collection = Collection::new(part, &needs, &quiet)?;
            let rows = self.embed_collection(&collection, &quiet)?;
            values.extend(rows.values);
            notes.add(&collection.notes);
            rows.applied.iter().for_each(|applied| notes.applied.add(applied));
            context.tell(&Report::of(Stage::Embedding, notes.graphs, total))?;
        }
        Ok((values, notes))
    }

    /// The vectors of the graphs of `run` with their ids and labels, as files of vectors have
    /// them.
    ///
    /// # Errors
    /// As [`embed_run`](Model::embed_run).
    fn vectors(&self, run: Run<'_>, context: &Context<'_>) -> Result<Vectors> {
        let (values, _) = self.embed_run(run, context)?;
        let records = run.records.iter();
        Ok(Vectors {
            dim: self.dim(),
            values,
            ids: (0..)
                .zip(records.clone())
                .map(|(i, record)| record.id_at(run.position_of(i)))
                .collect(),
            labels: records.map(|record| record.label.clone()).collect(),
            model: Some(self.digest()?),
        })
    }

    /// The vectors of `graphs`.
    ///
    /// # Errors
    /// As [`embed_run`](Model::embed_run).
    fn embed(&self, graphs: &[GraphRecord]) -> Result<Vectors> {
        self.vectors(Run::in_memory(graphs), &Context::default())
    }

    /// Which model this is: 16 hexadecimal digits of the SHA-256 of everything that determines
    /// its vectors. Files of vectors keep it, so that those of another model are told apart.
    ///
    /// # Errors
    /// As [`parts`](Model::parts).
    fn digest(&self) -> Result<String> {
        Ok(self.parts()?.digest()[..16].to_owned())
    }

    /// Writes the model as a new folder.
    ///
    /// # Errors
    /// When something that is not an empty folder stands there, or the disk refuses.
    fn save(&self, path: &Path) -> Result<()> {
        let folder = OutputFolder::create(path)?;
        self.save_into(folder.working_path()).map_err(|error| folder.named(error))?;
        folder.commit()
    }

    /// Writes the model into a folder that is there.
    ///
    /// # Errors
    /// When the disk refuses.
    fn save_into(&self, path: &Path) -> Result<()> {
        saved::write_parts(path, &self.parts()?)
    }
}
