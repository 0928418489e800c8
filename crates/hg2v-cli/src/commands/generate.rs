//! `hg2v generate`: synthetic sets.

use std::path::PathBuf;

use clap::Subcommand;
use hg2v::dataset::locate;
use hg2v::dataset::synthetic::calls::Calls;
use hg2v::dataset::synthetic::dla::Dla;
use hg2v::dataset::synthetic::families::Family;
use hg2v::dataset::synthetic::frankenstein::Frankenstein;
use hg2v::dataset::synthetic::noise::Noise;
use hg2v::dataset::synthetic::random::{
    BarabasiAlbert, ErdosRenyi, RandomGeometric, StochasticBlock, WattsStrogatz,
};
use hg2v::dataset::synthetic::{Model, SyntheticSet};
use hg2v::graph::Scalar;
use serde_json::json;

use crate::context::Context;
use crate::out::{Out, refuse_same};
use crate::table::counted;
use crate::watch::Watch;

/// Make synthetic graphs
///
/// Every graph is a pure function of --seed, its kind and its index: the same at
/// any number of threads, and a longer set begins with the shorter one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hg2v generate dla --out DLA.jsonl                       the paper's set: 1000 trees, two classes
  hg2v generate calls --graphs 1000 --out calls.jsonl     call graphs of six versions of a program
  hg2v generate cycle --remove-edges 5 --add-edges 5 --label 1 --graphs 100 --out cycles.parquet
  hg2v generate barabasi-albert --nodes 1000000 --attach 2 --graphs 1 --out ba.jsonl.gz")]
pub(crate) struct Args {
    #[command(subcommand)]
    kind: Kind,
}

/// The kinds of graphs, each with its own parameters.
#[derive(Subcommand)]
enum Kind {
    /// Diffusion-limited aggregation: trees with x, y attributes, one class a stickiness
    Dla {
        /// Particles of a cluster
        #[arg(long, default_value_t = Dla::default().nodes, value_name = "N")]
        nodes: u32,
        /// Probability of sticking on contact, one a class; graph i is of class i mod classes and
        /// its label counts from 1
        #[arg(long, value_delimiter = ',', default_values_t = Dla::default().stickiness, value_name = "P,…")]
        stick: Vec<f64>,
        /// Radius of a particle; two touch within twice of it
        #[arg(long, default_value_t = Dla::default().radius, value_name = "R")]
        radius: f64,
        /// Standard deviation of a step along each axis
        #[arg(long, default_value_t = Dla::default().step, value_name = "S")]
        step: f64,
        /// Hard discs: a bond is exactly two radii long and nothing overlaps (by default a
        /// particle may overlap the one it sticks to, as in the sets the paper's authors ship)
        #[arg(long)]
        hard: bool,
        #[command(flatten)]
        set: SetArgs<1000>,
    },
    /// Runs of versions of a program: directed calls between named functions, weighted by how often
    ///
    /// All versions have the same functions and differ in who calls whom. --seed gives other runs of
    /// the same versions.
    Calls {
        /// Functions of the program; a run has those that it reaches
        #[arg(long, default_value_t = Calls::default().nodes, value_name = "N")]
        nodes: u32,
        /// Which program: every number is another
        #[arg(long, default_value_t = Calls::default().program, value_name = "N")]
        program: u64,
        /// Versions of the program: graph i is a run of version i mod V, its label v1, v2, …
        #[arg(long, default_value_t = Calls::default().versions, value_name = "V")]
        versions: u32,
        /// Probability that a version has another function make a call
        #[arg(long, default_value_t = Calls::default().changed, value_name = "P")]
        changed: f64,
        /// Probability that a run makes a call
        #[arg(long, default_value_t = Calls::default().made, value_name = "P")]
        made: f64,
        #[command(flatten)]
        set: SetArgs<300>,
    },
    /// FRANKENSTEIN-R: the molecules of BURSI with a picture of a digit for each atom
    ///
    /// The ten most frequent atoms are the digits 0 to 9, the most frequent 0; every atom gets
    /// a picture of its own of its digit, as 780 attributes from 0 to 1 (28 × 28 pixels without
    /// the last four, which are blank in MNIST's test images); rarer atoms get a blank one.
    #[command(after_help = "Example:
  hg2v generate frankenstein --bursi BURSI.zip --images t10k-images-idx3-ubyte.gz \\
    --labels t10k-labels-idx1-ubyte.gz --out FRANKENSTEIN-R.parquet")]
    Frankenstein {
        /// The molecules: any collection whose node labels are atoms
        #[arg(long, value_name = "DATA")]
        bursi: PathBuf,
        /// idx file of 28 × 28 pictures
        #[arg(long, value_name = "IDX")]
        images: PathBuf,
        /// idx file of the digits they show
        #[arg(long, value_name = "IDX")]
        labels: PathBuf,
        #[command(flatten)]
        out: Out,
    },
    /// A path whose ends meet
    Cycle {
        /// How many nodes
        #[arg(long, default_value_t = 500, value_name = "N")]
        nodes: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// A balanced tree, filled level by level
    Tree {
        /// How many nodes
        #[arg(long, default_value_t = 500, value_name = "N")]
        nodes: u32,
        /// Children a node
        #[arg(long, default_value_t = 3, value_name = "B")]
        branching: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// A cycle and a hub (node 0) joined to all of it
    Wheel {
        /// How many nodes, the hub included
        #[arg(long, default_value_t = 500, value_name = "N")]
        nodes: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// Two paths joined rung by rung
    Ladder {
        /// How many nodes, two a rung
        #[arg(long, default_value_t = 500, value_name = "N")]
        nodes: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// Nodes in a row
    Path {
        /// How many nodes
        #[arg(long, default_value_t = 500, value_name = "N")]
        nodes: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// A centre (node 0) joined to every other node
    Star {
        /// How many nodes, the centre included
        #[arg(long, default_value_t = 500, value_name = "N")]
        nodes: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// Every pair joined
    Complete {
        /// How many nodes
        #[arg(long, default_value_t = 50, value_name = "N")]
        nodes: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// Rows and columns, right and lower neighbours joined
    Grid {
        /// How many rows
        #[arg(long, default_value_t = 20, value_name = "N")]
        rows: u32,
        /// How many columns
        #[arg(long, default_value_t = 25, value_name = "N")]
        columns: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// G(n, p): each pair joined with the same probability
    ErdosRenyi {
        /// How many nodes
        #[arg(long, default_value_t = ErdosRenyi::default().nodes, value_name = "N")]
        nodes: u32,
        /// Probability of an edge
        #[arg(long, short, default_value_t = ErdosRenyi::default().probability, value_name = "P")]
        probability: f64,
        #[command(flatten)]
        set: SetArgs,
    },
    /// Preferential attachment: each new node joins nodes in proportion to their degree
    BarabasiAlbert {
        /// How many nodes
        #[arg(long, default_value_t = BarabasiAlbert::default().nodes, value_name = "N")]
        nodes: u32,
        /// Edges that each new node brings
        #[arg(long, short = 'm', default_value_t = BarabasiAlbert::default().attach, value_name = "M")]
        attach: u32,
        #[command(flatten)]
        set: SetArgs,
    },
    /// A small world: a ring of neighbours with some edges moved
    WattsStrogatz {
        /// How many nodes
        #[arg(long, default_value_t = WattsStrogatz::default().nodes, value_name = "N")]
        nodes: u32,
        /// Nearest neighbours a node starts with; even
        #[arg(long, short = 'k', default_value_t = WattsStrogatz::default().neighbors, value_name = "K")]
        neighbors: u32,
        /// Probability that an edge is moved
        #[arg(long, short, default_value_t = WattsStrogatz::default().probability, value_name = "P")]
        probability: f64,
        #[command(flatten)]
        set: SetArgs,
    },
    /// Points of the unit square joined where they are close; attributes are the coordinates
    RandomGeometric {
        /// How many nodes
        #[arg(long, default_value_t = RandomGeometric::default().nodes, value_name = "N")]
        nodes: u32,
        /// Largest distance of joined points
        #[arg(long, default_value_t = RandomGeometric::default().radius, value_name = "R")]
        radius: f64,
        #[command(flatten)]
        set: SetArgs,
    },
    /// Blocks of nodes, dense within and sparse between; node labels are the blocks
    StochasticBlock {
        /// Nodes of each block
        #[arg(long, value_delimiter = ',', default_values_t = StochasticBlock::default().sizes, value_name = "N,…")]
        sizes: Vec<u32>,
        /// Probability of an edge within a block
        #[arg(long, default_value_t = StochasticBlock::default().p_in, value_name = "P")]
        p_in: f64,
        /// Probability of an edge between two blocks
        #[arg(long, default_value_t = StochasticBlock::default().p_out, value_name = "P")]
        p_out: f64,
        #[command(flatten)]
        set: SetArgs,
    },
}

/// Options of every kind; `GRAPHS` is how many are made by default.
#[derive(clap::Args)]
struct SetArgs<const GRAPHS: u64 = 100> {
    /// How many graphs
    #[arg(long, default_value_t = GRAPHS, value_name = "N")]
    graphs: u64,
    /// Take away K edges of each graph, chosen uniformly
    #[arg(long, default_value_t = 0, value_name = "K")]
    remove_edges: u64,
    /// Add K edges to each graph, chosen uniformly among the pairs it does not join
    #[arg(long, default_value_t = 0, value_name = "K")]
    add_edges: u64,
    /// Label of every graph
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    #[command(flatten)]
    out: Out,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    match args.kind {
        Kind::Dla { nodes, stick, radius, step, hard, set } => {
            let model = Dla::default().nodes(nodes).stickiness(stick);
            let model = model.radius(radius).step(step).hard(hard);
            make(&model, set, context)
        }
        Kind::Calls { nodes, program, versions, changed, made, set } => {
            let model = Calls::default().nodes(nodes).program(program).versions(versions);
            make(&model.changed(changed).made(made), set, context)
        }
        Kind::Frankenstein { bursi, images, labels, out } => {
            let bursi = locate(&bursi, context.global.data_dir.as_deref())?;
            for input in [&bursi, &images, &labels] {
                refuse_same(input, &out.out)?;
            }
            // Before the files are read: what cannot be written is said at once.
            drop(out.create(context)?);
            let model = Frankenstein::open(&bursi, &images, &labels, &context.limits)?;
            let graphs = model.len();
            let set = SetArgs::<0> { graphs, remove_edges: 0, add_edges: 0, label: None, out };
            make(&model, set, context)
        }
        Kind::Cycle { nodes, set } => make(&Family::Cycle { nodes }, set, context),
        Kind::Tree { nodes, branching, set } => {
            make(&Family::Tree { nodes, branching }, set, context)
        }
        Kind::Wheel { nodes, set } => make(&Family::Wheel { nodes }, set, context),
        Kind::Ladder { nodes, set } => make(&Family::Ladder { nodes }, set, context),
        Kind::Path { nodes, set } => make(&Family::Path { nodes }, set, context),
        Kind::Star { nodes, set } => make(&Family::Star { nodes }, set, context),
        Kind::Complete { nodes, set } => make(&Family::Complete { nodes }, set, context),
        Kind::Grid { rows, columns, set } => make(&Family::Grid { rows, columns }, set, context),
        Kind::ErdosRenyi { nodes, probability, set } => {
            make(&ErdosRenyi::default().nodes(nodes).probability(probability), set, context)
        }
        Kind::BarabasiAlbert { nodes, attach, set } => {
            make(&BarabasiAlbert::default().nodes(nodes).attach(attach), set, context)
        }
        Kind::WattsStrogatz { nodes, neighbors, probability, set } => {
            let model = WattsStrogatz::default().nodes(nodes).neighbors(neighbors);
            let model = model.probability(probability);
            make(&model, set, context)
        }
        Kind::RandomGeometric { nodes, radius, set } => {
            make(&RandomGeometric::default().nodes(nodes).radius(radius), set, context)
        }
        Kind::StochasticBlock { sizes, p_in, p_out, set } => {
            let model = StochasticBlock::default().sizes(sizes).p_in(p_in).p_out(p_out);
            make(&model, set, context)
        }
    }
}

fn make<const GRAPHS: u64>(
    model: &dyn Model,
    set: SetArgs<GRAPHS>,
    context: &Context,
) -> anyhow::Result<()> {
    model.check()?;
    let mut sink = set.out.create(context)?;
    let noise = Noise::default().remove(set.remove_edges).add(set.add_edges);
    let label = set.label.as_deref().map(Scalar::from_text);
    let made = SyntheticSet::new(model, set.graphs, context.seed()).noise(noise).label(label);
    let watch = Watch::new(context);
    let work = hg2v::context::Context::default().watched_by(&watch);
    let totals = made.write(sink.as_mut(), &work)?;
    sink.finish()?;
    drop(watch);
    context.say(format!(
        "{}: {}, {}, {}",
        set.out.out.display(),
        counted(totals.graphs, &format!("{} graph", model.name())),
        counted(totals.nodes, "node"),
        counted(totals.edges, "edge"),
    ));
    context.tell(json!({
        "out": set.out.out, "graphs": totals.graphs, "nodes": totals.nodes, "edges": totals.edges,
    }))?;
    Ok(())
}
