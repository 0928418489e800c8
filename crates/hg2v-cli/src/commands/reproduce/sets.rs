//! The sets of the paper's tables: found in a folder, or made on the spot.

use std::path::{Path, PathBuf};

use hg2v::dataset::catalog::{self, Origin as Catalogued};
use hg2v::dataset::images;
use hg2v::dataset::locate;
use hg2v::dataset::synthetic::dla::Dla;
use hg2v::dataset::synthetic::frankenstein::Frankenstein;
use hg2v::dataset::synthetic::noise::Noise;
use hg2v::dataset::synthetic::{Model, SyntheticSet};
use hg2v::error::{Error, Opt};
use hg2v::graph::{GraphRecord, WeightPolicy};

use crate::context::Context;
use crate::graphs::{self, Asks};

/// Where the graphs of a set come from.
pub(super) enum Origin {
    /// A collection.
    File(PathBuf),
    /// Images and their classes, and which pixels are nodes.
    Images([PathBuf; 2], images::Params),
    /// BURSI, and the images and classes for its atoms.
    Frankenstein(PathBuf, [PathBuf; 2]),
    /// Aggregates as the paper's, grown under `--seed`.
    Dla,
}

/// Where sets are kept.
pub(super) fn folder(context: &Context) -> &Path {
    context.global.data_dir.as_deref().unwrap_or(Path::new("."))
}

/// Those of `known`, the sets of a table or a figure, that `names` ask for; all where none
/// is named.
///
/// # Errors
/// A name that is none of them.
pub(super) fn asked(known: &[&'static str], names: &[String]) -> hg2v::Result<Vec<&'static str>> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    if let Some(unknown) = names.iter().find(|set| !known.iter().any(|name| same(name, set))) {
        return Err(Error::Unknown {
            option: Opt::new("sets"),
            name: unknown.clone(),
            known: known.iter().map(|&name| name.to_owned()).collect(),
        });
    }
    let asked = |name: &&&str| names.is_empty() || names.iter().any(|set| same(name, set));
    Ok(known.iter().filter(asked).copied().collect())
}

/// Where the set comes from, or what is missing in `folder` and how to get it.
pub(super) fn find(set: &str, folder: &Path) -> Result<Origin, String> {
    // The DLA sets that the authors ship have 100 nodes a graph, the paper's 500.
    if set == "DLA" {
        return Ok(Origin::Dla);
    }
    if let Ok(path) = locate(Path::new(set), Some(folder)) {
        return Ok(Origin::File(path));
    }
    let made = match set {
        "MNIST" => mnist(folder).map(|files| Origin::Images(files, images::Params::default())),
        "FASHION-MNIST" => idx(folder, "FASHION-MNIST-t10k-", ["images-idx3-ubyte"])
            .map(|files| Origin::Images(files, images::Params::default())),
        // Its images have no blank background.
        "USPS" => idx(folder, "USPS-", ["images-idx3-short", "images-idx3-ubyte"])
            .map(|files| Origin::Images(files, images::Params::default().threshold(0.3))),
        "FRANKENSTEIN-R" => {
            let bursi = locate(Path::new("BURSI"), Some(folder)).ok();
            bursi.zip(mnist(folder)).map(|(bursi, images)| Origin::Frankenstein(bursi, images))
        }
        _ => None,
    };
    made.ok_or_else(|| {
        let how = match catalog::find(set).map(|known| known.origin) {
            Some(Catalogued::Made(how)) => how.0.to_owned(),
            _ => format!("fetch it with `hg2v datasets get {set}`"),
        };
        format!("not in {}: {how}", folder.display())
    })
}

/// The idx files of MNIST's test images, under the names they usually have.
fn mnist(folder: &Path) -> Option<[PathBuf; 2]> {
    let named = |prefix: &str, ending: &str| {
        ["images-idx3", "labels-idx1"]
            .map(|part| folder.join(format!("{prefix}t10k-{part}-ubyte{ending}")))
    };
    let names = [named("MNIST-", ".gz"), named("MNIST-", ""), named("", ".gz"), named("", "")];
    names.into_iter().find(|pair| pair.iter().all(|path| path.exists()))
}

/// Images under the first of `names` that is there, and their classes.
fn idx<const N: usize>(folder: &Path, prefix: &str, names: [&str; N]) -> Option<[PathBuf; 2]> {
    let find = |name: &str| {
        let endings = [".gz", ""].map(|ending| folder.join(format!("{prefix}{name}{ending}")));
        endings.into_iter().find(|path| path.exists())
    };
    Some([names.into_iter().find_map(find)?, find("labels-idx1-ubyte")?])
}

impl Origin {
    /// All graphs, and the file they came from.
    pub(super) fn records(&self, context: &Context) -> anyhow::Result<(PathBuf, Vec<GraphRecord>)> {
        match self {
            Origin::File(path) => {
                let read = graphs::read(path, Asks::Weights(WeightPolicy::default()), context)?;
                Ok((read.path, read.records))
            }
            Origin::Images([images, labels], params) => {
                let graphs = images::open(images, labels, *params, &context.limits)?;
                Ok((images.clone(), graphs.collect::<hg2v::Result<_>>()?))
            }
            Origin::Frankenstein(bursi, [images, labels]) => {
                let model = Frankenstein::open(bursi, images, labels, &context.limits)?;
                Ok((bursi.clone(), made(&model, model.len(), context)?))
            }
            Origin::Dla => Ok((PathBuf::from("DLA"), made(&Dla::default(), 1000, context)?)),
        }
    }
}

fn made(model: &dyn Model, graphs: u64, context: &Context) -> hg2v::Result<Vec<GraphRecord>> {
    let seed = context.seed();
    SyntheticSet { model, graphs, seed, noise: Noise::default(), label: None }.records()
}
