//! The paper's datasets: found in a folder, or made on the spot.

use std::path::{Path, PathBuf};

use hg2v::dataset::synthetic::dla::Dla;
use hg2v::dataset::synthetic::frankenstein::Frankenstein;
use hg2v::dataset::synthetic::{Model, SyntheticSet};
use hg2v::dataset::{catalog, images, locate};
use hg2v::error::Opt;
use hg2v::graph::GraphRecord;

use crate::config::{DatasetRecipe, MadeDataset, made_datasets};
use crate::environment::Environment;
use crate::error::{Error, Result};

/// Where the graphs of a dataset come from.
pub(crate) enum Provenance {
    /// A collection.
    File(PathBuf),
    /// Images and their classes, and which pixels are nodes.
    Images([PathBuf; 2], images::Params),
    /// Molecules, and the images and classes for their atoms.
    Frankenstein(PathBuf, [PathBuf; 2]),
    /// So many aggregates, grown under the seed.
    Dla(u64),
}

/// Those of `known`, the datasets of a table or a figure, that `names` ask for; all where none
/// is named.
///
/// # Errors
/// A name that is none of them.
pub(crate) fn asked(known: &[String], names: &[String]) -> Result<Vec<String>> {
    let is_known = |set: &&String| !known.iter().any(|name| name.eq_ignore_ascii_case(set));
    if let Some(unknown) = names.iter().find(is_known) {
        let (name, known) = (unknown.clone(), known.to_vec());
        return Err(hg2v::Error::Unknown { option: Opt::new("sets"), name, known }.into());
    }
    let asked =
        |name: &&String| names.is_empty() || names.iter().any(|set| name.eq_ignore_ascii_case(set));
    Ok(known.iter().filter(asked).cloned().collect())
}

/// Whether a dataset has so few nodes in all, as far as the catalogue knows.
pub(crate) fn has_at_most(most_nodes: f64, name: &str) -> bool {
    let nodes = catalog::find(name).map(|set| set.graphs as f64 * set.mean_nodes);
    nodes.is_some_and(|nodes| nodes <= most_nodes)
}

/// Whether these are datasets enough for a run that named none: DLA is always there, but alone
/// it is not what was meant.
pub(crate) fn are_some(found: &[&str]) -> bool {
    found.iter().any(|&name| name != "DLA")
}

/// Where the graphs of a dataset come from.
///
/// # Errors
/// [`Error::MissingDataset`], where `folder` has nothing that they could come from.
pub(crate) fn find(name: &str, folder: &Path) -> Result<Provenance> {
    let made = made_datasets()?;
    let recipe = recipe_of(&made, name);
    if let Some(DatasetRecipe::Dla { graphs }) = recipe {
        return Ok(Provenance::Dla(*graphs));
    }
    if let Ok(path) = locate(Path::new(name), Some(folder)) {
        return Ok(Provenance::File(path));
    }
    let found = match recipe {
        Some(images @ DatasetRecipe::Images { threshold, .. }) => {
            let usual = images::Params::default();
            let params = usual.threshold(threshold.unwrap_or(usual.threshold));
            idx_files(images, folder).map(|files| Provenance::Images(files, params))
        }
        Some(DatasetRecipe::Frankenstein { molecules, digits }) => {
            let molecules = locate(Path::new(molecules), Some(folder)).ok();
            let digits = recipe_of(&made, digits).and_then(|images| idx_files(images, folder));
            molecules.zip(digits).map(|(file, images)| Provenance::Frankenstein(file, images))
        }
        Some(DatasetRecipe::Dla { .. }) | None => None,
    };
    found.ok_or_else(|| Error::MissingDataset {
        dataset: name.to_owned(),
        folder: folder.to_path_buf(),
    })
}

fn recipe_of<'a>(made: &'a [MadeDataset], name: &str) -> Option<&'a DatasetRecipe> {
    made.iter().find(|made| made.name == name).map(|made| &made.recipe)
}

/// The images and their classes, under the first names that are there.
fn idx_files(recipe: &DatasetRecipe, folder: &Path) -> Option<[PathBuf; 2]> {
    let DatasetRecipe::Images { prefixes, images, labels, .. } = recipe else { return None };
    let find = |prefix: &str, name: &str| {
        let endings = [".gz", ""].map(|ending| folder.join(format!("{prefix}{name}{ending}")));
        endings.into_iter().find(|path| path.exists())
    };
    prefixes.iter().find_map(|prefix| {
        let images = images.iter().find_map(|name| find(prefix, name))?;
        Some([images, find(prefix, labels)?])
    })
}

impl Provenance {
    /// All graphs, and the file they came from.
    pub(crate) fn records(
        &self,
        environment: &Environment<'_>,
    ) -> Result<(PathBuf, Vec<GraphRecord>)> {
        let Environment { limits, seed, read, .. } = *environment;
        Ok(match self {
            Provenance::File(path) => (path.clone(), read(path)?),
            Provenance::Images([images, labels], params) => {
                let graphs = images::open(images, labels, *params, limits)?;
                (images.clone(), graphs.collect::<hg2v::Result<_>>()?)
            }
            Provenance::Frankenstein(molecules, [images, labels]) => {
                let model = Frankenstein::open(molecules, images, labels, limits)?;
                (molecules.clone(), made(&model, model.len(), seed)?)
            }
            Provenance::Dla(graphs) => {
                (PathBuf::from("DLA"), made(&Dla::default(), *graphs, seed)?)
            }
        })
    }
}

fn made(model: &dyn Model, graphs: u64, seed: u64) -> hg2v::Result<Vec<GraphRecord>> {
    SyntheticSet::new(model, graphs, seed).records()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn images_are_found_under_the_names_they_have() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let missing = |name: &str| matches!(find(name, at), Err(Error::MissingDataset { .. }));
        assert!(missing("MNIST") && missing("FRANKENSTEIN-R") && missing("MUTAG"));
        assert!(matches!(find("DLA", at), Ok(Provenance::Dla(1000))));
        for name in ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte.gz"] {
            fs::write(at.join(name), "").unwrap();
        }
        let Ok(Provenance::Images([images, labels], params)) = find("MNIST", at) else {
            panic!("no images")
        };
        assert_eq!(images, at.join("t10k-images-idx3-ubyte"));
        assert_eq!(labels, at.join("t10k-labels-idx1-ubyte.gz"));
        assert_eq!(params.threshold, images::Params::default().threshold);
        fs::write(at.join("BURSI.jsonl"), "").unwrap();
        assert!(matches!(find("FRANKENSTEIN-R", at), Ok(Provenance::Frankenstein(..))));
        // Whole images rather than bytes, and no blank background.
        for name in ["images-idx3-short.gz", "images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"] {
            fs::write(at.join(format!("USPS-{name}")), "").unwrap();
        }
        let Ok(Provenance::Images([images, _], params)) = find("USPS", at) else {
            panic!("no images")
        };
        assert_eq!((images, params.threshold), (at.join("USPS-images-idx3-short.gz"), 0.3));
        // A collection of the name goes first.
        fs::write(at.join("MNIST.jsonl"), "").unwrap();
        assert!(matches!(find("MNIST", at), Ok(Provenance::File(_))));
    }
}
