//! The model, the index and the graphs: what answers are made from.
//!
//! They are read once and then watched. A model that is replaced is taken together with
//! an index that belongs to it, so that no vector is ever searched among those of another
//! model: with a file of vectors, when that is replaced too; with graphs alone, by
//! embedding them again. What cannot be loaded changes nothing, and is tried again when it
//! has changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use axum::body::Bytes;
use hg2v::context::{Context, Machine};
use hg2v::dataset::features::Origin;
use hg2v::dataset::{self, Format, jsonl};
use hg2v::error::Result;
use hg2v::graph::GraphRecord;
use hg2v::input::read_at_most;
use hg2v::prepare::{Run, graph_of};
use hg2v::saved;
use hg2v::{Model, vectors};
use hg2v_baselines::registry;
use hg2v_search::catalog::Catalog;
use sha2::{Digest, Sha256};

use crate::embedding::Embedding;
use crate::options::{Options, Shown};

/// All graphs, by name.
#[derive(Debug)]
pub struct NamedGraphs {
    /// Where they came from.
    pub file: PathBuf,
    /// How they are written there.
    pub format: Format,
    /// What was met there that records do not carry.
    pub ignored: Vec<String>,
    /// The graphs.
    pub records: Arc<Vec<GraphRecord>>,
    by_name: BTreeMap<String, usize>,
}

impl NamedGraphs {
    fn read(path: &Path, options: &Options) -> Result<NamedGraphs> {
        let source = dataset::open(path, &options.limits)?;
        // As `embed` leaves them out, so that an index of the rest belongs to them.
        let mut source = match &options.skipped {
            Some(skipped) => {
                let (model, file) = (registry::load(&options.model)?, source.path.clone());
                source.skipping(skipped, move |record, position| {
                    graph_of(record, model.needs().weights, &file, position)?;
                    model.check(record, Origin { file: &file, position })
                })
            }
            None => source,
        };
        let records = Arc::new(source.by_ref().collect::<Result<Vec<_>>>()?);
        let mut by_name = BTreeMap::new();
        for (position, record) in records.iter().enumerate() {
            by_name.entry(record.id_at(position as u64).to_string()).or_insert(position);
        }
        let (format, ignored) = (source.format, source.ignored());
        Ok(NamedGraphs { file: source.path, format, ignored, records, by_name })
    }

    /// The graph of that name, as a line of JSON.
    pub fn line(&self, name: &str) -> Option<Vec<u8>> {
        let &position = self.by_name.get(name)?;
        let mut record = self.records[position].clone();
        record.id = Some(record.id_at(position as u64));
        jsonl::line_of(&record).ok()
    }
}

/// What answers are made from, all of one moment.
#[derive(Debug)]
pub(crate) struct State {
    /// The model.
    pub(crate) model: Box<dyn Model>,
    /// What can be searched.
    pub(crate) catalog: Option<Catalog>,
    /// What can be looked at.
    pub(crate) graphs: Option<Arc<NamedGraphs>>,
    /// The page that shows them.
    pub(crate) page: Bytes,
    seen: Seen,
}

/// What files looked like when they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    model: Option<[u8; 32]>,
    /// Replaced before the rest of the model, which tells whether they are its own: alone
    /// they are no new model, but what could not be loaded may be mended by them.
    parameters: Option<(u64, SystemTime)>,
    index: Option<(u64, SystemTime)>,
}

/// The longest configuration that is looked at.
const MOST_BYTES: u64 = 1 << 30;

impl Seen {
    /// Looks at the files now; what is missing may be about to be replaced.
    fn now(options: &Options) -> Seen {
        let config = read_at_most(&options.model.join(saved::CONFIG), MOST_BYTES).ok().flatten();
        let about = |path: &Path| {
            let about = fs::metadata(path).ok()?;
            Some((about.len(), about.modified().ok()?))
        };
        Seen {
            model: config.map(|bytes| Sha256::digest(&bytes).into()),
            parameters: about(&options.model.join(saved::PARAMETERS)),
            index: options.index.as_deref().and_then(about),
        }
    }
}

impl State {
    /// Loads what was `seen` just before; graphs are embedded on `machine`.
    fn load(
        options: &Options,
        machine: &Machine,
        graphs: Option<Arc<NamedGraphs>>,
        seen: Seen,
    ) -> Result<State> {
        let model = registry::load(&options.model)?;
        let found = match (&options.index, &graphs) {
            (Some(path), _) => {
                let found = vectors::read(path, &options.limits)?;
                // Where they do not say whose they are, their width alone tells.
                found.check_made_by(&model.digest()?, model.dim(), path)?;
                Some((found, path))
            }
            (None, Some(graphs)) => {
                let context = Context::default().on(machine.clone());
                let context = context.cached_in(options.cache.clone());
                let found = model.vectors(Run::of(&graphs.records, &graphs.file), &context)?;
                Some((found, &graphs.file))
            }
            (None, None) => None,
        };
        let shown = graphs.as_deref().zip(found.as_ref());
        let page = options.page.make(shown.map(|(graphs, (vectors, _))| Shown { graphs, vectors }));
        let catalog = found
            .map(|(vectors, path)| Catalog::new(vectors, path, options.search, &Context::default()))
            .transpose()?;
        Ok(State { model, catalog, graphs, page, seen })
    }
}

/// What a look at the files led to.
#[derive(Debug)]
pub(crate) enum Look {
    /// Nothing is new.
    Same,
    /// The model is new and the index is not: the old ones are kept until it is.
    Waiting,
    /// New ones were loaded.
    Loaded,
}

/// The state of now, which anyone may take and keep while it is replaced.
#[derive(Debug)]
pub(crate) struct Current {
    options: Options,
    /// Where graphs become vectors.
    pub(crate) embedding: Embedding,
    state: RwLock<Arc<State>>,
    /// What could not be loaded.
    failed: Mutex<Option<Seen>>,
}

impl Current {
    /// Loads everything.
    ///
    /// # Errors
    /// A file that is missing or damaged, or does not belong to the model.
    pub(crate) fn load(options: &Options) -> Result<Current> {
        let graphs =
            options.data.as_ref().map(|path| NamedGraphs::read(path, options)).transpose()?;
        let machine = &options.machine;
        let state = State::load(options, machine, graphs.map(Arc::new), Seen::now(options))?;
        Ok(Current {
            options: options.clone(),
            embedding: Embedding::on(machine.clone()),
            state: RwLock::new(Arc::new(state)),
            failed: Mutex::new(None),
        })
    }

    /// The state of now.
    pub(crate) fn get(&self) -> Arc<State> {
        match self.state.read() {
            Ok(state) => Arc::clone(&state),
            // Nobody panics while holding it; what is there is whole in any case.
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }

    /// Loads what was replaced since the last time. What failed then is tried again when it
    /// has changed, or when somebody `asked` for it: loading takes as long for nothing.
    ///
    /// # Errors
    /// As [`load`](Current::load); the old state stays.
    pub(crate) fn look(&self, asked: bool) -> Result<Look> {
        let old = self.get();
        let seen = Seen::now(&self.options);
        let new = seen.model != old.seen.model || seen.index != old.seen.index;
        if !new || seen.model.is_none() {
            return Ok(Look::Same);
        }
        // Whoever panics while holding it has not loaded anything: that stands there already.
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked && failed.as_ref() == Some(&seen) {
            return Ok(Look::Same);
        }
        if self.options.index.is_some()
            && seen.model != old.seen.model
            && seen.index == old.seen.index
        {
            return Ok(Look::Waiting);
        }
        *failed = Some(seen.clone());
        let machine = self.embedding.machine();
        let new = State::load(&self.options, &machine, old.graphs.clone(), seen)?;
        *failed = None;
        match self.state.write() {
            Ok(mut state) => *state = Arc::new(new),
            Err(poisoned) => *poisoned.into_inner() = Arc::new(new),
        }
        Ok(Look::Loaded)
    }
}

/// A line for whoever watches the log.
pub(crate) fn say(text: impl std::fmt::Display) {
    // A closed standard error must not end the server.
    let _ = writeln!(std::io::stderr(), "{text}");
}
