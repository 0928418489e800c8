//! Look around in a collection: who is like whom and why, who is like none, has anything
//! changed, and what does it look like from above?
//!
//! `cargo run --release -p hg2v-search --example look_around`

// An example prints.
#![allow(clippy::print_stdout)]

use hg2v::context::Context;
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::prepare::{Collection, Run};
use hg2v::{Hg2v, Model};
use hg2v_search::Metric;
use hg2v_search::catalog::{Catalog, SearchOptions};
use hg2v_search::drift::drift;
use hg2v_search::explain::explain;
use hg2v_search::outliers::outliers;
use hg2v_search::project::pca;

/// A cycle of `n` nodes with a tail of `tail` more.
fn tadpole(n: u32, tail: u32) -> GraphRecord {
    let mut edges: Vec<[u32; 2]> = (1..n + tail).map(|v| [v - 1, v]).collect();
    edges.push([0, n - 1]);
    let id = Some(Scalar::from_text(&format!("{n}+{tail}")));
    GraphRecord { id, num_nodes: n + tail, edges, ..GraphRecord::default() }
}

pub(crate) fn main() -> hg2v::Result<()> {
    // 1. Graphs: cycles with tails, and a star that is none of them.
    let mut graphs: Vec<GraphRecord> =
        (5..12).flat_map(|n| (0..6).map(move |tail| tadpole(n, tail))).collect();
    graphs.push(GraphRecord {
        id: Some("star".into()),
        num_nodes: 30,
        edges: (1..30).map(|v| [0, v]).collect(),
        ..GraphRecord::default()
    });

    // 2. Vectors, and an index of them by name.
    let model = Hg2v::params().dim(16).levels(2).epochs(2).seed(1).fit(&graphs)?;
    let vectors = model.embed(&graphs)?;
    let options = SearchOptions::default().metric(Metric::Euclidean).standardise(true);
    let catalog = Catalog::new(vectors.clone(), "graphs".as_ref(), options, &Context::default())?;

    // 3. Who is like the cycle of eight with a tail of three?
    let here = catalog.positions("8+3")[0];
    let near = catalog.index.nearest_to(here, 3)?;
    for neighbor in &near {
        println!("{} is {:.2} from 8+3", catalog.ids[neighbor.position], neighbor.distance);
    }

    // 4. Why the first of them? Shares of parts, and of nodes, add up to −d².
    let context = Context::default();
    let collection = Collection::new(Run::in_memory(&graphs), &model.needs(), &context)?;
    let graphs = model.anatomies(&collection, &context)?;
    let why = explain(catalog.index.space(), &graphs[here], &graphs[near[0].position])?;
    for part in &why.parts {
        println!("{:?}: {:+.3}", part.part, part.share);
    }

    // 5. Who is like none?
    let odd = outliers(&catalog.index, 3)?[0];
    println!("{} is {:.2} from its third neighbour", catalog.ids[odd.position], odd.distance);
    assert_eq!(catalog.ids[odd.position], "star".into());

    // 6. Are the graphs with long cycles like those with short ones?
    let half = 21 * vectors.dim;
    let (short, long) = vectors.values.split_at(half);
    let found = drift(vectors.dim, short, long, Metric::Euclidean, 199, 1)?;
    println!("energy distance {:.3}, p = {:.3}", found.energy, found.p_value);
    assert!(found.p_value < 0.05);

    // 7. From above.
    let map = pca(vectors.dim, &vectors.values, 2)?.points();
    println!("8+3 lies at ({:.2}, {:.2})", map[here][0], map[here][1]);
    Ok(())
}
