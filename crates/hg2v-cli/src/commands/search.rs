//! `hg2v search`: what is like this graph?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hg2v::error::{Error, Place, shown};
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::model::Example;
use hg2v::nn::machine::Machine;
use hg2v::nn::readout::Readout;
use hg2v::prepare::Run;
use hg2v::saved;
use hg2v::vectors;
use hg2v::{Hg2v, Result};
use hg2v_search::catalog::{Catalog, embedded};
use hg2v_search::duplicates::duplicates;
use hg2v_search::explain::{Explanation, explain};
use hg2v_search::outliers::outliers;
use hg2v_search::{APPROXIMATE_FROM, Metric, Neighbor, Way};
use serde_json::{Value, json};

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs, check_vectors};
use crate::near::NearArgs;
use crate::table::{Table, counted, label};

/// Neighbours, unless --top says how many.
const NEIGHBORS: usize = 6;
/// Pairs of duplicates that are told, and the pairs and outliers that are printed unless
/// --top says how many.
const MOST_PAIRS: usize = 1000;
const MOST_PRINTED: usize = 20;

/// The graphs that are most like a graph, too much like another, or like none
///
/// Vectors are those of a file that `embed` wrote, or those of --data by a model. QUERY
/// is the id of one of them, or a file of other graphs, for which a model is needed.
/// Neighbours are exact, and ties go to the earlier graph. Only --outliers, which asks for
/// those of all vectors, finds them through links from 50000 vectors on: nearly always the
/// same. `hg2v serve` links once and then answers for as long as it runs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v search mutag.parquet 17                              the six nearest to graph 17
  hg2v search mutag.parquet new.jsonl --model mutag.model   the nearest to graphs that are new
  hg2v search mutag.model 17 --data MUTAG.zip --explain     which levels and nodes make it so
  hg2v search m 17 --data big.jsonl.gz --device cuda        vectors made on an NVIDIA card
  hg2v search mutag.parquet --duplicates 0.9999             pairs with a cosine of at least that
  hg2v search mutag.parquet --outliers 10                   furthest from their tenth neighbour")]
pub(crate) struct Args {
    /// A file of vectors, or a model's folder (then with --data)
    #[arg(value_name = "MODEL-or-E")]
    vectors: PathBuf,
    /// The id of a graph among them, a file of graphs, or `-`
    query: Option<String>,
    /// How many neighbours [default: 6], pairs or outliers [default: 20] to show
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    near: NearArgs,
    /// Look at all vectors, however many
    #[arg(long, conflicts_with = "approximate")]
    exact: bool,
    /// Find neighbours through links, however few vectors
    #[arg(long)]
    approximate: bool,
    /// Say which levels and nodes make graphs similar; needs a model and --data
    #[arg(long)]
    explain: bool,
    /// Pairs that are alike: of a cosine of at least T [default: 0.9999], or of a Euclidean
    /// distance of at most T [default: 0]
    #[arg(long, value_name = "T", num_args = 0..=1, default_missing_value = None)]
    duplicates: Option<Option<f64>>,
    /// Those that are furthest from their K-th neighbour [default: 5], the furthest first: so
    /// that groups of up to K graphs that are like no other are outliers too
    #[arg(long, value_name = "K", num_args = 0..=1, default_missing_value = "5")]
    outliers: Option<usize>,
    /// The model, where vectors come from a file
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// The graphs that the vectors belong to
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    if args.query.is_none() && args.duplicates.is_none() && args.outliers.is_none() {
        let requirement = "it must be a graph's id or a file of graphs, unless you ask for --duplicates or --outliers";
        return Err(Error::parameter("QUERY", "missing", requirement).into());
    }
    let set = Set::open(&args, context)?;
    let mut result = json!({
        "metric": args.near.metric(),
        "standardised": args.near.standardise,
        "exact": set.catalog.index.is_exact(),
        "vectors": set.catalog.len(),
        "dim": set.catalog.index.space().dim(),
    });
    let mut text = Vec::new();
    if let Some(query) = &args.query {
        let answers = set.answers(query, &args, context)?;
        text.extend(answers.iter().flat_map(|answer| answer.lines(&set)));
        result["queries"] = answers.iter().map(|answer| answer.json(&set)).collect();
    }
    if let Some(threshold) = args.duplicates {
        let (found, lines) = set.duplicates(threshold, args.top)?;
        result["duplicates"] = found;
        text.extend(lines);
    }
    if let Some(k) = args.outliers {
        let (found, lines) = set.outliers(k, args.top)?;
        result["outliers"] = found;
        text.extend(lines);
    }
    match context.global.json {
        true => context.print(result.to_string()),
        false => context.print(text.join("\n")),
    }
}

/// What is searched, and what it was made of as far as that is known.
struct Set {
    catalog: Catalog,
    model: Option<Hg2v>,
    graphs: Option<Graphs>,
    /// Where new graphs are embedded.
    machine: Machine,
}

/// All graphs of DATA.
struct Graphs {
    file: PathBuf,
    records: Vec<GraphRecord>,
    /// Where those of a name stand.
    by_name: BTreeMap<String, Vec<usize>>,
    /// Whether the vectors are theirs, one after the other.
    aligned: bool,
}

impl Graphs {
    fn read(data: &Path, asks: Asks, context: &Context) -> anyhow::Result<Graphs> {
        let graphs::Read { path: file, records, .. } = graphs::read(data, asks, context)?;
        let mut by_name = BTreeMap::<String, Vec<usize>>::new();
        for (i, record) in records.iter().enumerate() {
            by_name.entry(record.id_at(i as u64).to_string()).or_default().push(i);
        }
        Ok(Graphs { file, records, by_name, aligned: false })
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
    fn open(args: &Args, context: &Context) -> anyhow::Result<Set> {
        let is_model = args.vectors.join(saved::CONFIG).exists();
        let model = if is_model { Some(&args.vectors) } else { args.model.as_ref() };
        let model = model.map(|path| Hg2v::load(path)).transpose()?;
        let asks = model.as_ref().map_or(Asks::Nothing, Asks::of);
        let graphs = args.data.as_ref().map(|data| Graphs::read(data, asks, context));
        let mut graphs = graphs.transpose()?;
        let machine = match &model {
            Some(_) => args.device.open()?,
            None => Machine::Cpu,
        };
        let vectors = match (is_model, &model, &graphs) {
            (true, Some(model), Some(graphs)) => {
                let bar = context.progress("embedding", Some(graphs.records.len() as u64));
                let cache = args.cache.open();
                let watch = |done| bar.set_position(done as u64);
                let Graphs { file, records, .. } = graphs;
                let vectors = embedded(&machine, model, records, file, cache.as_ref(), watch)?;
                bar.finish_and_clear();
                vectors
            }
            (true, ..) => {
                let problem = "a model has no vectors of its own";
                let fix = "say which graphs to search with --data DATA, or name a file of vectors";
                return Err(Error::input(&args.vectors, Place::Whole, problem, fix).into());
            }
            _ => vectors::read(&args.vectors, &context.limits)?,
        };
        if let Some(model) = &model {
            let dim = model.network().layout.embedding_dim();
            vectors.check_made_by(&model.digest()?, dim, &args.vectors)?;
        }
        if let Some(graphs) = &mut graphs {
            graphs.aligned = check_vectors(&args.vectors, &vectors, &graphs.records).is_ok();
        }
        let way = match (args.exact, args.approximate) {
            (true, _) => Way::Exact,
            (_, true) => Way::Approximate,
            _ if args.outliers.is_some() => Way::BySize,
            // A look at all of them takes less than linking them first.
            _ => Way::Exact,
        };
        let bar = context.progress("linking", Some(vectors.len() as u64));
        let choice = args.near.choice(way, context.seed());
        let watch = |done| bar.set_position(done as u64);
        let catalog = Catalog::new(vectors, &args.vectors, choice, watch)?;
        bar.finish_and_clear();
        if !catalog.index.is_exact() && way == Way::BySize {
            context.say(format!(
                "{} vectors: neighbours are found through links from {APPROXIMATE_FROM} on; --exact looks at all",
                catalog.len()
            ));
        }
        Ok(Set { catalog, model, graphs, machine })
    }

    /// The neighbours of one of the set, or of every graph of a file.
    fn answers(&self, query: &str, args: &Args, context: &Context) -> anyhow::Result<Vec<Answer>> {
        let top = args.top.unwrap_or(NEIGHBORS);
        if let Some(position) = self.catalog.position(query) {
            let near = self.catalog.index.nearest_to(position, top)?;
            let mut answer = Answer::new(self.catalog.ids[position].clone(), near);
            answer.label = self.catalog.labels[position].clone();
            if self.catalog.index.space().row(position).iter().all(|number| *number == 0.0) {
                context.say(format!("graph {query} has a vector of zeros, which is near to none"));
            }
            if args.explain {
                let graph = self.example(position)?;
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
        let cache = args.cache.open();
        let run = Run::of(&records, &file);
        let (examples, _) = model.examples(run, cache.as_ref())?;
        let queries = model.embed_examples_on(&self.machine, &examples)?;
        let near = self.catalog.index.nearest(&queries, top)?;
        let mut answers = Vec::with_capacity(records.len());
        for (i, near) in near.into_iter().enumerate() {
            let mut answer = Answer::new(records[i].id_at(i as u64), near);
            answer.label = records[i].label.clone();
            if args.explain {
                self.explain(&mut answer, &examples[i])?;
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    /// The graph of a vector, ready for the network.
    fn example(&self, position: usize) -> anyhow::Result<Example> {
        let missing =
            |problem: &str, fix: &str| Error::input("--explain", Place::Whole, problem, fix);
        let model = self.model.as_ref().ok_or_else(|| {
            missing("it needs the model that made the vectors", "name it with --model MODEL")
        })?;
        let graphs = self.graphs.as_ref().ok_or_else(|| {
            missing("it needs the graphs that the vectors belong to", "name them with --data DATA")
        })?;
        let at = graphs.place(&self.catalog.ids[position], position)?;
        let run = Run { position: at as u64, ..Run::of(&graphs.records[at..=at], &graphs.file) };
        let (mut examples, _) = model.examples(run, None)?;
        Ok(examples.remove(0))
    }

    fn explain(&self, answer: &mut Answer, query: &Example) -> anyhow::Result<()> {
        for neighbor in &answer.near {
            let other = self.example(neighbor.position)?;
            if let Some(model) = &self.model {
                let space = self.catalog.index.space();
                answer.why.push(explain(model, space, query, &other)?);
            }
        }
        Ok(())
    }

    fn duplicates(
        &self,
        threshold: Option<f64>,
        top: Option<usize>,
    ) -> anyhow::Result<(Value, Vec<String>)> {
        let most = top.unwrap_or(MOST_PRINTED);
        let space = self.catalog.index.space();
        let within = match (space.metric(), threshold) {
            (Metric::Cosine, Some(cosine)) if !(-1.0..=1.0).contains(&cosine) => {
                let requirement = "a cosine is between −1 and 1";
                return Err(Error::parameter("--duplicates", cosine, requirement).into());
            }
            (Metric::Cosine, cosine) => 1.0 - cosine.unwrap_or(0.9999),
            (Metric::Euclidean, distance) => distance.unwrap_or(0.0),
        };
        let found = duplicates(space, within, MOST_PAIRS.max(most))?;
        let ids = &self.catalog.ids;
        let mut table = Table::new(2);
        table.row(["graph", "is like", "distance"]);
        for pair in found.pairs.iter().take(most) {
            let [first, second] = [pair.first, pair.second].map(|i| label(&ids[i]));
            table.row([first, second, distance(pair.distance)]);
        }
        let mut lines = vec![format!("{} alike", counted(found.count, "pair"))];
        if found.count > 0 {
            lines.extend(table.lines());
        }
        let listed = found.pairs.len();
        lines.extend(more(found.count, most, (found.count > listed as u64).then_some(listed)));
        let pairs = found.pairs.iter().map(|pair| {
            json!({ "ids": [ids[pair.first], ids[pair.second]],
                "positions": [pair.first, pair.second], "distance": pair.distance })
        });
        let pairs: Vec<Value> = pairs.collect();
        Ok((json!({ "within": within, "count": found.count, "pairs": pairs }), lines))
    }

    fn outliers(&self, k: usize, top: Option<usize>) -> anyhow::Result<(Value, Vec<String>)> {
        if k == 0 {
            return Err(Error::parameter("--outliers", k, "it must be at least 1").into());
        }
        if k >= self.catalog.len() {
            let others = self.catalog.len() - 1;
            let requirement = format!("it must be at most {others}, the number of other vectors");
            return Err(Error::parameter("--outliers", k, requirement).into());
        }
        let most = top.unwrap_or(MOST_PRINTED);
        let found = outliers(&self.catalog.index, k)?;
        let mut table = Table::new(2);
        table.row(["graph", "class", &format!("distance to neighbour {k}")]);
        for one in found.iter().take(most) {
            table.row([self.name(one), self.class(one), distance(one.distance)]);
        }
        let mut lines = table.lines();
        lines.extend(more(found.len() as u64, most, None));
        let all: Vec<Value> = found.iter().map(|one| self.neighbor_json(one)).collect();
        Ok((json!({ "k": k, "graphs": all }), lines))
    }

    fn name(&self, neighbor: &Neighbor) -> String {
        label(&self.catalog.ids[neighbor.position])
    }

    fn class(&self, neighbor: &Neighbor) -> String {
        self.catalog.labels[neighbor.position].as_ref().map(label).unwrap_or_default()
    }

    fn neighbor_json(&self, neighbor: &Neighbor) -> Value {
        let Neighbor { position, distance } = *neighbor;
        json!({ "id": self.catalog.ids[position], "y": self.catalog.labels[position],
            "position": position, "distance": distance })
    }
}

/// A graph and those nearest to it.
struct Answer {
    id: Scalar,
    label: Option<Scalar>,
    near: Vec<Neighbor>,
    /// Of each neighbour, where that was asked for.
    why: Vec<Explanation>,
}

impl Answer {
    fn new(id: Scalar, near: Vec<Neighbor>) -> Answer {
        Answer { id, label: None, near, why: Vec::new() }
    }

    fn lines(&self, set: &Set) -> Vec<String> {
        let class = self.label.as_ref().map(|class| format!(", class {}", label(class)));
        let mut table = Table::new(3);
        table.row(["", "graph", "class", "distance"]);
        for (rank, neighbor) in self.near.iter().enumerate() {
            let cells = [set.name(neighbor), set.class(neighbor), distance(neighbor.distance)];
            table.row([vec![(rank + 1).to_string()], cells.to_vec()].concat());
        }
        let mut lines = vec![format!("{}{}", label(&self.id), class.unwrap_or_default())];
        lines.extend(table.lines());
        for (neighbor, why) in self.near.iter().zip(&self.why) {
            lines.extend(explained(&set.name(neighbor), why));
        }
        lines
    }

    fn json(&self, set: &Set) -> Value {
        let neighbor = |(i, neighbor): (usize, &Neighbor)| {
            let mut value = set.neighbor_json(neighbor);
            if let Some(why) = self.why.get(i) {
                value["explanation"] = json!(why);
            }
            value
        };
        let neighbors: Vec<Value> = self.near.iter().enumerate().map(neighbor).collect();
        json!({ "id": self.id, "y": self.label, "neighbors": neighbors })
    }
}

/// Nodes that are named in an explanation.
const NODES: usize = 5;

fn explained(name: &str, why: &Explanation) -> Vec<String> {
    let mut lines = vec![String::new(), format!("why {name}: {:.6} in all", why.similarity)];
    let mut table = Table::new(2);
    table.row(["level", "of", "adds"]);
    for part in &why.parts {
        let of = if part.local { "neighbourhoods" } else { "nodes" };
        let how = match part.readout {
            Readout::Sum => "sum",
            Readout::Max => "max",
            Readout::Mean => "mean",
        };
        table.row([part.level.to_string(), format!("{how} of {of}"), format!("{:.6}", part.share)]);
    }
    lines.extend(table.lines());
    for (side, nodes, rest) in [("it", &why.first, why.rest[0]), (name, &why.second, why.rest[1])] {
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by(|&a, &b| nodes[b].abs().total_cmp(&nodes[a].abs()).then(a.cmp(&b)));
        let most = order.iter().take(NODES).map(|&node| format!("{node} ({:+.6})", nodes[node]));
        let most: Vec<String> = most.collect();
        lines.push(format!(
            "nodes of {side} that count most: {}; no node: {rest:+.6}",
            most.join(", ")
        ));
    }
    lines
}

fn distance(distance: f64) -> String {
    format!("{distance:.6}")
}

/// What is not printed; --json has all, or the first so many.
fn more(count: u64, printed: usize, first: Option<usize>) -> Option<String> {
    let more = count.saturating_sub(printed as u64);
    let has = first.map_or_else(|| "them".to_owned(), |first| format!("the first {first}"));
    (more > 0).then(|| format!("… and {more} more; --json has {has}"))
}
