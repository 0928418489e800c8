//! What is searched, and what it was made of as far as that is known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hg2v::context::{Machine, MachineName};
use hg2v::error::{Error, Place, shown};
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::prepare::{Collection, Run};
use hg2v::vectors;
use hg2v::{Anatomy, Hg2v, Model, Result};
use hg2v_baselines::registry;
use hg2v_search::catalog::Catalog;
use hg2v_search::explain::explain;
use hg2v_search::surprise::{Surprise, surprises_to};
use hg2v_search::{APPROXIMATE_FROM, IndexKind, Neighbor};
use serde_json::{Value, json};

use super::Args;
use super::answer::Answer;
use crate::context::Context;
use crate::distances::DistanceArgs;
use crate::graphs::{self, Asks, check_vectors};
use crate::table::{counted, label};
use crate::watch::Watch;

/// Neighbours, unless --top says how many.
const NEIGHBORS: usize = 6;

/// What is searched.
pub(super) struct Set {
    pub(super) catalog: Catalog,
    model: Option<Arc<dyn Model>>,
    graphs: Option<SearchedGraphs>,
    /// Where new graphs are embedded.
    machine: Machine,
}

/// All graphs of DATA.
struct SearchedGraphs {
    file: PathBuf,
    records: Vec<GraphRecord>,
    /// Where those of a name stand.
    by_name: BTreeMap<String, Vec<usize>>,
    /// Whether the vectors are theirs, one after the other.
    aligned: bool,
}

impl SearchedGraphs {
    fn read(data: &Path, asks: Asks, context: &Context) -> anyhow::Result<SearchedGraphs> {
        let graphs::Read { path: file, records, .. } = graphs::read(data, asks, context)?;
        let mut by_name = BTreeMap::<String, Vec<usize>>::new();
        for (i, record) in records.iter().enumerate() {
            by_name.entry(record.id_at(i as u64).to_string()).or_default().push(i);
        }
        Ok(SearchedGraphs { file, records, by_name, aligned: false })
    }

    /// Where the graph of the vector of this name and position stands.
    fn place(&self, id: &Scalar, position: usize) -> Result<usize> {
        let refused = |problem, fix| Err(Error::input(&self.file, Place::Whole, problem, fix));
        let name = id.to_string();
        match self.by_name.get(&name).map(Vec::as_slice) {
            _ if self.aligned => Ok(position),
            Some([one]) => Ok(*one),
            None | Some([]) => refused(
                format!("there is no graph {} among these", shown(&name)),
                "name the graphs that were embedded",
            ),
            Some(several) => refused(
                format!("{} graphs are called {}", several.len(), shown(&name)),
                "give graphs names of their own, or all of them in the order of their vectors",
            ),
        }
    }
}

impl Set {
    pub(super) fn open(
        args: &Args,
        distances: DistanceArgs,
        context: &Context,
    ) -> anyhow::Result<Set> {
        let is_model = graphs::is_model(&args.vectors);
        check(args, is_model)?;
        let model = if is_model { Some(&args.vectors) } else { args.model.as_ref() };
        let model = model.map(|path| registry::load(path).map(Arc::from)).transpose()?;
        let asks = model.as_ref().map_or(Asks::Nothing, Asks::of);
        let graphs = args.data.as_ref().map(|data| SearchedGraphs::read(data, asks, context));
        let mut graphs = graphs.transpose()?;
        let machine = match &model {
            Some(_) => args.device.open()?,
            None => Machine::Cpu,
        };
        let vectors = match (is_model, &model, &graphs) {
            (true, Some(model), Some(graphs)) => {
                let run = Run::of(&graphs.records, &graphs.file);
                graphs::vectors_by(&**model, run, &machine, args.cache.open(), context)?
            }
            (true, ..) => return Err(graphs::no_graphs_named(&args.vectors).into()),
            _ => vectors::read(&args.vectors, &context.limits)?,
        };
        if let Some(model) = &model {
            vectors.check_made_by(&model.digest()?, model.dim(), &args.vectors)?;
        }
        if let Some(graphs) = &mut graphs {
            graphs.aligned = check_vectors(&args.vectors, &vectors, &graphs.records).is_ok();
        }
        let kind = match (args.exact, args.approximate) {
            (true, _) => IndexKind::Exact,
            (_, true) => IndexKind::Approximate,
            _ if args.outliers.is_some() => IndexKind::BySize,
            // A look at all of them takes less than linking them first.
            _ => IndexKind::Exact,
        };
        let options = distances.options(kind, context.seed());
        let watch = Watch::new(context);
        let work = hg2v::context::Context::default().watched_by(&watch);
        let catalog = Catalog::new(vectors, &args.vectors, options, &work)?;
        drop(watch);
        if !catalog.index.is_exact() && kind == IndexKind::BySize {
            context.say(format!(
                "{} vectors: neighbours are found through links from {APPROXIMATE_FROM} on; --exact looks at all",
                catalog.len()
            ));
        }
        Ok(Set { catalog, model, graphs, machine })
    }

    /// The neighbours of one of the set, or of every graph of a file.
    pub(super) fn answers(&self, args: &Args, context: &Context) -> anyhow::Result<Vec<Answer>> {
        let top = args.top.unwrap_or(NEIGHBORS);
        let query = args.query.as_deref().unwrap_or_default();
        if let Some(position) = self.position(args)? {
            let near = self.catalog.index.nearest_to(position, top)?;
            let mut answer = Answer::new(self.catalog.ids[position].clone(), near);
            answer.label = self.catalog.labels[position].clone();
            if self.catalog.index.space().row(position).iter().all(|number| *number == 0.0) {
                let name = label(&answer.id);
                context.say(format!("graph {name} has a vector of zeros, which is near to none"));
            }
            if args.explain {
                let graph = self.anatomy(position)?;
                self.explain(&mut answer, &graph)?;
            }
            return Ok(vec![answer]);
        }
        if query != "-" && !Path::new(query).exists() {
            let problem = format!(
                "there is no graph {} among {}, and no such file",
                shown(query),
                counted(self.catalog.len() as u64, "vector")
            );
            let some: Vec<String> = self.catalog.ids.iter().take(3).map(label).collect();
            let fix = format!("name an id such as {}, or a file of graphs", some.join(", "));
            return Err(Error::input(&args.vectors, Place::Whole, problem, fix).into());
        }
        let Some(model) = &self.model else {
            let problem = "graphs that are new need the model that made the vectors";
            let fix =
                "name its folder with --model MODEL (vectors are no query: name their graphs)";
            return Err(Error::input(query, Place::Whole, problem, fix).into());
        };
        let asks = Asks::of(model);
        let graphs::Read { path: file, records, .. } =
            graphs::read(Path::new(query), asks, context)?;
        let work = graphs::on(&self.machine).cached_in(args.cache.open());
        let collection = Collection::new(Run::of(&records, &file), &model.needs(), &work)?;
        let queries = model.embed_collection(&collection, &work)?.values;
        let anatomies = match args.explain {
            true => self.hg2v()?.anatomies(&collection, &work)?,
            false => Vec::new(),
        };
        let near = self.catalog.index.nearest(&queries, top)?;
        let mut answers = Vec::with_capacity(records.len());
        for (i, near) in near.into_iter().enumerate() {
            let mut answer = Answer::new(records[i].id_at(i as u64), near);
            answer.label = records[i].label.clone();
            if let Some(graph) = anatomies.get(i) {
                self.explain(&mut answer, graph)?;
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    /// How far the graph of each row surprises those who know the other graphs of --data, and see of
    /// them what the model does.
    pub(super) fn surprises(&self, context: &Context) -> anyhow::Result<Option<Vec<Surprise>>> {
        let Some(graphs) = &self.graphs else { return Ok(None) };
        let watch = Watch::new(context);
        let work = hg2v::context::Context::default().watched_by(&watch);
        let run = Run::of(&graphs.records, &graphs.file);
        let all = surprises_to(self.model.as_deref(), run, &work)?;
        let ids = self.catalog.ids.iter().enumerate();
        let places = ids.map(|(position, id)| graphs.place(id, position).map(|at| all[at]));
        Ok(Some(places.collect::<Result<_>>()?))
    }

    /// The one row that is asked about, unless it is a file.
    fn position(&self, args: &Args) -> Result<Option<usize>> {
        if let Some(position) = args.position {
            let count = self.catalog.len();
            if position >= count {
                let requirement = format!("there are {count} vectors, counted from 0");
                return Err(Error::parameter("position", position, requirement));
            }
            return Ok(Some(position));
        }
        let query = args.query.as_deref().unwrap_or_default();
        match self.catalog.positions(query)[..] {
            [] => Ok(None),
            [position] => Ok(Some(position)),
            ref several => {
                let problem = format!(
                    "{} graphs are called {}, at the positions {}",
                    several.len(),
                    shown(query),
                    listed(several)
                );
                let fix = format!("name one by its position: --position {}", several[0]);
                Err(Error::input(&args.vectors, Place::Whole, problem, fix))
            }
        }
    }

    /// The model whose vectors can be explained.
    fn hg2v(&self) -> Result<&Hg2v> {
        let missing = |requirement: &str| Error::parameter("explain", "given", requirement);
        let model = self.model.as_ref().ok_or_else(|| {
            missing("it needs the model that made the vectors: name it with --model MODEL")
        })?;
        Hg2v::of(&**model).ok_or_else(|| {
            missing(&format!(
                "vectors of {} cannot be explained, only those of hg2v",
                model.method()
            ))
        })
    }

    /// The graph of a vector, taken apart.
    fn anatomy(&self, position: usize) -> anyhow::Result<Anatomy<'_>> {
        let missing = |requirement: &str| Error::parameter("explain", "given", requirement);
        let model = self.hg2v()?;
        let graphs = self.graphs.as_ref().ok_or_else(|| {
            missing("it needs the graphs that the vectors belong to: name them with --data DATA")
        })?;
        let at = graphs.place(&self.catalog.ids[position], position)?;
        let run = Run { position: at as u64, ..Run::of(&graphs.records[at..=at], &graphs.file) };
        let work = hg2v::context::Context::default();
        let collection = Collection::new(run, &model.needs(), &work)?;
        Ok(model.anatomies(&collection, &work)?.remove(0))
    }

    fn explain(&self, answer: &mut Answer, query: &Anatomy<'_>) -> anyhow::Result<()> {
        for neighbor in &answer.near {
            let other = self.anatomy(neighbor.position)?;
            answer.why.push(explain(self.catalog.index.space(), query, &other)?);
        }
        Ok(())
    }

    pub(super) fn name(&self, neighbor: &Neighbor) -> String {
        label(&self.catalog.ids[neighbor.position])
    }

    pub(super) fn class(&self, neighbor: &Neighbor) -> String {
        self.catalog.labels[neighbor.position].as_ref().map(label).unwrap_or_default()
    }

    pub(super) fn neighbor_json(&self, neighbor: &Neighbor) -> Value {
        let Neighbor { position, distance } = *neighbor;
        json!({ "id": self.catalog.ids[position], "y": self.catalog.labels[position],
            "position": position, "distance": distance })
    }
}

/// Refuses options that would mean nothing for a model, or for a file of vectors.
fn check(args: &Args, is_model: bool) -> Result<()> {
    let refused = |name, requirement: &str| Err(Error::parameter(name, "given", requirement));
    if is_model && args.model.is_some() {
        return refused("model", "it is for a file of vectors, and MODEL-or-E is a model itself");
    }
    if !is_model && args.data.is_some() && !args.explain && args.outliers.is_none() {
        let requirement =
            "it is for --explain, for --outliers, or for a model, which has no vectors";
        return refused("data", requirement);
    }
    if !is_model && args.data.is_some() && !args.explain && !args.asks_for_surprises() {
        let requirement =
            "outliers are told by distances alone where --metric or --standardise is given";
        return refused("data", requirement);
    }
    if !is_model && args.model.is_none() && args.device.device != MachineName::Cpu {
        return refused("device", "a file of vectors is searched on the processor");
    }
    Ok(())
}

/// Numbers in a row, as far as a person reads them.
fn listed(numbers: &[usize]) -> String {
    const MOST: usize = 10;
    let some: Vec<String> = numbers.iter().take(MOST).map(ToString::to_string).collect();
    let more = if numbers.len() > MOST { ", …" } else { "" };
    some.join(", ") + more
}
