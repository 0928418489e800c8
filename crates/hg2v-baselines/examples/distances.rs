//! Distances as JSON, for other programs to check and to race:
//!
//! ```sh
//! distances wwl DATA labels|attributes ROUNDS     # all pairs: {"seconds": …, "distances": [[…], …]}
//! distances fgw DATA ALPHA                        # the 1st and 2nd graph, the 3rd and 4th, …
//! ```
//!
//! DATA is a file, or the name of a set under HG2V_DATA. `fgw` is the square form, from
//! the start that others begin with: all nodes spread over all.

// An example prints, and ends where it fails.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use hg2v::context::Context;
use hg2v::dataset::{self, Limits};
use hg2v::distance::fgw::{Attributed, Params, descend};
use hg2v::graph::{EdgeChoice, Features, GraphRecord};
use hg2v::prepare::{Collection, Needs, Run};
use hg2v_baselines::kernels::wwl::{Nodes, Wwl};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match *arguments {
        ["wwl", data, nodes @ ("labels" | "attributes"), rounds] => {
            let nodes = if nodes == "labels" { Nodes::Labels } else { Nodes::Attributes };
            let kernel = Wwl::default()
                .edges(EdgeChoice::NOTHING)
                .nodes(nodes)
                .rounds(vec![rounds.parse()?]);
            let records = read(data)?;
            let collection = collect(&records)?;
            let started = Instant::now();
            let distances = kernel.distances(&collection, &Context::default())?.swap_remove(0);
            let seconds = started.elapsed().as_secs_f64();
            let rows: Vec<&[f64]> = (0..distances.rows()).map(|i| distances.row(i)).collect();
            json!({ "seconds": seconds, "distances": rows })
        }
        ["fgw", data, alpha] => {
            let params = Params::square(alpha.parse()?);
            let records = read(data)?;
            let collection = collect(&records)?;
            let none = Features::default();
            let graph = |i: usize| Attributed {
                graph: &collection.graphs[i],
                attributes: records[i].features.as_ref().unwrap_or(&none),
            };
            let started = Instant::now();
            let pairs = (0..records.len() / 2).map(|i| (graph(2 * i), graph(2 * i + 1)));
            let found = pairs.map(|(a, b)| descend(a, b, &params, None).map(|f| f.distance));
            let distances = found.collect::<hg2v::Result<Vec<f64>>>()?;
            json!({ "seconds": started.elapsed().as_secs_f64(), "distances": distances })
        }
        _ => return Err("say `wwl DATA labels|attributes ROUNDS` or `fgw DATA ALPHA`".into()),
    };
    println!("{result}");
    Ok(())
}

fn read(data: &str) -> hg2v::Result<Vec<GraphRecord>> {
    let folder = std::env::var_os("HG2V_DATA").map(PathBuf::from);
    let path = dataset::locate(Path::new(data), folder.as_deref())?;
    dataset::open(&path, &Limits::default())?.collect()
}

/// Graphs without pyramids, which no distance here looks at.
fn collect(records: &[GraphRecord]) -> hg2v::Result<Collection<'_>> {
    Collection::new(Run::in_memory(records), &Needs::default(), &Context::default())
}
