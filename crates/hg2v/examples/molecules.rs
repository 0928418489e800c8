//! Search among molecules without a single label.
//!
//! ```sh
//! cargo run --release -p hg2v --example molecules
//! ```
//!
//! A collection of small molecules is made on the spot, a model is fitted to it, and
//! the model answers: which molecules are most like this one? It is then saved, loaded
//! as another program would, and asked about a molecule that it has never seen.

// An example is there to be read, and its output too.
#![allow(clippy::print_stdout)]

use std::error::Error;

use hg2v::graph::{GraphRecord, Scalar};
use hg2v::vectors::Vectors;
use hg2v::{Hg2v, Model};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // 1. A collection. A graph is a list of edges between nodes 0..n; here each node has
    //    a label, its element. Hydrogen is left out, as chemists do.
    let molecules: Vec<GraphRecord> = (3..12)
        .flat_map(|carbons| [alkane(carbons), ring(carbons), alcohol(carbons), amine(carbons)])
        .collect();
    println!("{} molecules of 4 families: alkanes, rings, alcohols, amines\n", molecules.len());

    // 2. A model, from the graphs alone: nothing below knows that there are families.
    //    A node's neighbourhood is to recognise its own super-node among all others; the
    //    elements become one-hot features by themselves.
    let model =
        Hg2v::params().dim(16).hops(3).levels(2).epochs(20).lr(1e-3).seed(1).fit(&molecules)?;
    println!("features of an atom: {}", model.preparation().features);

    // 3. A vector for every graph, and the nearest by Euclidean distance.
    let vectors = model.embed(&molecules)?;
    println!("vectors of {} numbers; most alike are:\n", vectors.dim);
    for name in ["alkane-7", "ring-6", "alcohol-5", "amine-9"] {
        let row = position(&vectors, name).ok_or("a molecule of that name")?;
        println!("  {name:<11} {}", nearest(&vectors, vectors.row(row), 1..4).join(", "));
    }

    // 4. The model is a folder; another program loads it and gets the same bits.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("molecules.model");
    model.save(&path)?;
    let loaded = Hg2v::load(&path)?;
    assert_eq!(loaded.embed(&molecules)?, vectors);
    println!("\nsaved and loaded: the same vectors, to the last bit");

    // 5. A later graph needs no further training: this alcohol is longer than any above.
    let stranger = loaded.embed(&[alcohol(13)])?;
    let like = nearest(&vectors, stranger.row(0), 0..3);
    println!("\nnever seen before:\n  alcohol-13  {}", like.join(", "));
    assert_eq!(like[0], "alcohol-11", "most like the longest alcohol of the collection");
    Ok(())
}

/// A chain of carbons.
fn alkane(carbons: u32) -> GraphRecord {
    molecule(format!("alkane-{carbons}"), vec!["C"; carbons as usize], chain(carbons))
}

/// A chain that closes.
fn ring(carbons: u32) -> GraphRecord {
    let edges = [chain(carbons), vec![[carbons - 1, 0]]].concat();
    molecule(format!("ring-{carbons}"), vec!["C"; carbons as usize], edges)
}

/// A chain with an oxygen at its end.
fn alcohol(carbons: u32) -> GraphRecord {
    let atoms = [vec!["C"; carbons as usize], vec!["O"]].concat();
    molecule(format!("alcohol-{carbons}"), atoms, chain(carbons + 1))
}

/// A chain with a nitrogen at its end.
fn amine(carbons: u32) -> GraphRecord {
    let atoms = [vec!["C"; carbons as usize], vec!["N"]].concat();
    molecule(format!("amine-{carbons}"), atoms, chain(carbons + 1))
}

fn chain(atoms: u32) -> Vec<[u32; 2]> {
    (1..atoms).map(|atom| [atom - 1, atom]).collect()
}

fn molecule(name: String, atoms: Vec<&str>, edges: Vec<[u32; 2]>) -> GraphRecord {
    GraphRecord {
        id: Some(Scalar::Text(name.into())),
        num_nodes: atoms.len() as u32,
        node_labels: Some(atoms.into_iter().map(|atom| Scalar::Text(atom.into())).collect()),
        edges,
        ..GraphRecord::default()
    }
}

fn name(vectors: &Vectors, row: usize) -> String {
    vectors.ids[row].to_string()
}

fn position(vectors: &Vectors, wanted: &str) -> Option<usize> {
    (0..vectors.len()).find(|&row| name(vectors, row) == wanted)
}

/// The names at places `ranks` of the list of all, the nearest to `query` first.
fn nearest(vectors: &Vectors, query: &[f32], ranks: std::ops::Range<usize>) -> Vec<String> {
    let distance = |row: usize| -> f32 {
        vectors.row(row).iter().zip(query).map(|(a, b)| (a - b).powi(2)).sum()
    };
    let mut rows: Vec<usize> = (0..vectors.len()).collect();
    rows.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    rows[ranks].iter().map(|&row| name(vectors, row)).collect()
}
