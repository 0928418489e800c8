//! `hg2v images`: pixels to graphs.

use std::path::PathBuf;

use hg2v::dataset::images::{self, Params};
use serde::Serialize;

use crate::context::Context;
use crate::out::{Out, refuse_same};

/// Turn images into graphs, as the paper does for MNIST, USPS and Fashion-MNIST
///
/// Pixels that pass the threshold are nodes, numbered row by row; right and lower
/// neighbours are joined; features are row, column and luminosity; the graph's
/// label is the image's class, its id the image's position.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hg2v images t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz --threshold 0 --out MNIST.parquet
  hg2v images USPS-images-idx3-short.gz USPS-labels-idx1-ubyte.gz --threshold 0.3 --out USPS.jsonl")]
pub(crate) struct Args {
    /// idx file of images (u8, i8, i16, i32, f32 or f64), gzip-compressed or not
    idx_images: PathBuf,
    /// idx file of their classes (u8)
    idx_labels: PathBuf,
    /// Luminosity a pixel needs: T = 0 keeps luminosity > 0, any other T keeps luminosity >= T
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    threshold: f64,
    /// The value that is luminosity 1 [default: 255 for u8, 1 for floating point, otherwise the
    /// largest value in the file]
    #[arg(long, value_name = "VALUE")]
    scale: Option<f64>,
    #[command(flatten)]
    out: Out,
}

/// What was made.
#[derive(Default, Serialize)]
struct Made {
    out: PathBuf,
    graphs: u64,
    nodes: u64,
    edges: u64,
    /// Images without a pixel that passes the threshold.
    empty_graphs: u64,
    scale: f64,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    for input in [&args.idx_images, &args.idx_labels] {
        refuse_same(input, &args.out.out)?;
    }
    // Before the images are read: what cannot be written is said at once.
    let mut sink = args.out.create(context)?;
    let params = Params::default().threshold(args.threshold).scale(args.scale);
    let graphs = images::open(&args.idx_images, &args.idx_labels, params, &context.limits)?;
    let mut made = Made { out: args.out.out, scale: graphs.scale(), ..Made::default() };
    let progress = context.progress("images", Some(graphs.num_images()));
    for graph in graphs {
        let graph = graph?;
        made.graphs += 1;
        made.nodes += u64::from(graph.num_nodes);
        made.edges += graph.edges.len() as u64;
        made.empty_graphs += u64::from(graph.num_nodes == 0);
        sink.write(&graph)?;
        progress.inc(1);
    }
    sink.finish()?;
    progress.finish_and_clear();
    let mean = |count: u64| count as f64 / made.graphs.max(1) as f64;
    context.say(format!(
        "{}: {} graphs, {:.2} nodes and {:.2} edges on average (luminosity 1 is {})",
        made.out.display(),
        made.graphs,
        mean(made.nodes),
        mean(made.edges),
        made.scale,
    ));
    if made.empty_graphs > 0 {
        context.say(format!(
            "{} images have no pixel that passes {}: their graphs have no nodes",
            made.empty_graphs, args.threshold
        ));
    }
    context.tell(&made)?;
    Ok(())
}
