//! The layers of this crate for other programs: cases in, what each layer makes of
//! them and its gradients out.
//!
//! ```sh
//! cargo run --release -p hg2v-baselines --example layers < cases.json > answers.json
//! ```
//!
//! `peers/layers.py` compares the answers with PyTorch Geometric's. All is `f64`. A case:
//!
//! ```json
//! {"layer": "gin", "sparse": true, "adjacency": [[[0, 1], [1, 0]]],
//!  "inputs": {"x": [[1.5], [-2]], "epsilon": [[0.1]], "w1": …, "b1": …, "w2": …, "b2": …},
//!  "weights": {"y": [[1], [1]]}}
//! ```
//!
//! A layer `gine` has the inputs `we` and `be` as well, and `e`: a row for each edge at each of its
//! ends, by node and by neighbour, of numbers that an `f32` holds. `adjacency` has a matrix for each graph, all of one size where the layer is `diffpool`
//! or `mincut`, whose inputs are `x` and the logits `s` of shares. The answer has the
//! `outputs` by name, and the `gradients` of `Σ weights ⊙ outputs` by every input.

// What an example is for.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use hg2v::dataset::features::LinkRows;
use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
use hg2v_baselines::classifiers::gin::Layer;
use hg2v_baselines::classifiers::pooling::Adjacency;
use hg2v_baselines::classifiers::{diffpool, mincut};
use hg2v_baselines::network::{Pass, Store};
use hg2v_baselines::tape::{Array, Graphs, Var, blocks};
use hg2v_math::rng;
use serde::{Deserialize, Serialize};

type Rows = Vec<Vec<f64>>;
type Named<T> = BTreeMap<String, T>;

#[derive(Deserialize)]
struct Case {
    layer: String,
    sparse: bool,
    adjacency: Vec<Rows>,
    inputs: Named<Rows>,
    weights: Named<Rows>,
}

#[derive(Serialize)]
struct Answer {
    outputs: Named<Rows>,
    gradients: Named<Rows>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let cases: Vec<Case> = serde_json::from_reader(io::stdin())?;
    let answers = cases.iter().map(answer).collect::<Result<Vec<Answer>, _>>()?;
    println!("{}", serde_json::to_string(&answers)?);
    Ok(())
}

fn answer(case: &Case) -> Result<Answer, Box<dyn Error>> {
    let input = |name: &str| case.inputs.get(name).ok_or(format!("there is no input {name}"));
    let x = array(input("x")?);
    let mut store = Store::new(0);
    let links = case.inputs.get("we").map_or(0, Vec::len);
    let width = case.inputs.get("w1").map_or(1, |w1| w1[0].len());
    let gin = Layer::new(&mut store, x.columns, links, width, true);
    let epsilon = gin.epsilon.ok_or("ε is learnt")?;
    let mut slots = vec![("epsilon", epsilon)];
    for (layer, names) in [
        (Some(gin.first), ["w1", "b1"]),
        (Some(gin.second), ["w2", "b2"]),
        (gin.links, ["we", "be"]),
    ] {
        slots.extend(layer.into_iter().flat_map(|layer| names.into_iter().zip([layer.w, layer.b])));
    }
    let slots = slots;
    if matches!(&case.layer[..], "gin" | "gine") {
        for &(name, slot) in &slots {
            let range = store.range(slot);
            store.values[range].copy_from_slice(&input(name)?.concat());
        }
    }
    let mut pass = Pass::training(&store, rng::stream(0, "dropout", 0, 0));
    let x = pass.tape.variable(x);
    let mut variables = vec![("x", x)];
    let own = case.adjacency.iter().map(graph).collect::<Result<Vec<_>, _>>()?;
    let mut graphs = Graphs::new(&own);
    if links > 0 {
        graphs = graphs.with_links(links, &rows_of_links(&own, input("e")?));
    }
    let a = if case.sparse {
        Adjacency::Sparse(graphs.clone())
    } else {
        let a = pass.tape.variable(array(&case.adjacency.concat()));
        variables.push(("a", a));
        Adjacency::Dense(a, blocks(case.adjacency.len(), case.adjacency[0].len()))
    };
    let outputs: Vec<(&str, Var)> = match &case.layer[..] {
        "gin" | "gine" => {
            variables.extend(slots.iter().map(|&(name, slot)| (name, pass.parameter(slot))));
            vec![("y", gin.convolve(&mut pass, &graphs, x))]
        }
        pooled => {
            let s = pass.tape.variable(array(input("s")?));
            variables.push(("s", s));
            let (x, a, losses) = if pooled == "diffpool" {
                let pooled = diffpool::dense_pool(&mut pass, &a, x, s);
                (pooled.x, pooled.a, [("link", pooled.link), ("entropy", pooled.entropy)])
            } else {
                let pooled = mincut::dense_pool(&mut pass, &a, x, s);
                (pooled.x, pooled.a, [("cut", pooled.cut), ("ortho", pooled.ortho)])
            };
            let Adjacency::Dense(a, _) = a else { return Err("pooled graphs are dense".into()) };
            [("x", x), ("a", a)].into_iter().chain(losses).collect()
        }
    };
    let mut total = pass.tape.constant(Array::scalar(0.0));
    for (name, output) in &outputs {
        let weights = case.weights.get(*name).ok_or(format!("there is no weight of {name}"))?;
        let weights = pass.tape.constant(array(weights));
        let weighted = pass.tape.times(*output, weights);
        let sum = pass.tape.sum(weighted);
        total = pass.tape.add(total, sum);
    }
    let gradients = pass.tape.gradients(total);
    let gradient = |(name, var): (&str, Var)| {
        let gradient = gradients.of(var).ok_or(format!("{name} has no part in the outputs"))?;
        Ok::<_, Box<dyn Error>>((name.to_owned(), rows(gradient)))
    };
    let value = |(name, var): (&str, Var)| (name.to_owned(), rows(pass.tape.value(var)));
    Ok(Answer {
        gradients: variables.into_iter().map(gradient).collect::<Result<_, _>>()?,
        outputs: outputs.into_iter().map(value).collect(),
    })
}

/// The rows of all edges, at both of their ends, dealt out to the graphs.
fn rows_of_links(graphs: &[Graph], rows: &[Vec<f64>]) -> Vec<LinkRows> {
    let mut rest = rows.iter();
    let links = |graph: &Graph| {
        let (mut starts, mut others) = (vec![0], Vec::new());
        for node in 0..graph.num_nodes() {
            others.extend_from_slice(graph.neighbors(node));
            starts.push(others.len());
        }
        let own = rest.by_ref().take(others.len());
        let values = own.flatten().map(|&x| x as f32).collect();
        LinkRows { starts, others, values }
    };
    graphs.iter().map(links).collect()
}

fn array(rows: &[Vec<f64>]) -> Array<f64> {
    Array::new(rows.len(), rows.first().map_or(0, Vec::len), rows.concat())
}

fn rows(array: &Array<f64>) -> Rows {
    array.each_row().map(<[f64]>::to_vec).collect()
}

/// The graph of a symmetric matrix of ones and zeros.
fn graph(matrix: &Rows) -> Result<Graph, Box<dyn Error>> {
    let n = matrix.len() as u32;
    let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| [u, v]));
    let edges = pairs.filter(|[u, v]| matrix[*u as usize][*v as usize] != 0.0).collect();
    let record = GraphRecord { num_nodes: n, edges, ..GraphRecord::default() };
    let (graph, _) = Graph::from_record(&record, WeightPolicy::Ignore)
        .map_err(|refused| format!("a weight of {}", refused.weight))?;
    Ok(graph)
}
