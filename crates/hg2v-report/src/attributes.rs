//! What points of the map can be coloured by.

use std::collections::BTreeMap;

use hg2v::graph::{Components, Graph, GraphRecord, Scalar};

/// Classes that have a colour and a shape of their own; the rest are "others".
pub const MOST_CLASSES: usize = 28;

/// Distinct numbers as labels of graphs beyond which they are amounts, not classes.
const MOST_NUMBERS: usize = 28;

/// Attributes of nodes whose means are offered.
const MOST_MEANS: usize = 8;

/// Something that every graph has.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// What it is called.
    pub name: String,
    /// What each graph has of it.
    pub values: Values,
}

/// What each graph has of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// One of some kinds; none is one beyond them all.
    Kinds {
        /// The names of the kinds.
        names: Vec<String>,
        /// A place in `names` for each graph.
        of: Vec<u32>,
    },
    /// An amount; `None` where there is none.
    Amounts(Vec<Option<f64>>),
}

/// All attributes of the graphs `which`, the label of graphs first.
pub fn attributes(records: &[GraphRecord], graphs: &[Graph], which: &[usize]) -> Vec<Attribute> {
    let mut all = Vec::new();
    let label = |i: &usize| records[*i].label.as_ref();
    if which.iter().any(|i| label(i).is_some()) {
        let values = labels(which.iter().map(label).collect());
        all.push(Attribute { name: "class".to_owned(), values });
    }
    let mut amounts = |name: &str, of: &dyn Fn(usize) -> Option<f64>| {
        let values = Values::Amounts(which.iter().map(|&i| of(i)).collect());
        all.push(Attribute { name: name.to_owned(), values });
    };
    amounts("nodes", &|i| Some(graphs[i].num_nodes() as f64));
    amounts("edges", &|i| Some(graphs[i].num_edges() as f64));
    amounts("density", &|i| density(&graphs[i]));
    amounts("mean degree", &|i| {
        let n = graphs[i].num_nodes();
        (n > 0).then(|| 2.0 * graphs[i].num_edges() as f64 / n as f64)
    });
    amounts("components", &|i| Some(Components::of(&graphs[i]).count() as f64));
    let dims = which.iter().map(|&i| records[i].features.as_ref().map_or(0, |f| f.dim));
    let dim = dims.max().unwrap_or(0);
    for column in (0..dim).take(if dim <= MOST_MEANS { dim } else { 0 }) {
        amounts(&format!("mean of attribute {column}"), &|i| {
            let features = records[i].features.as_ref().filter(|f| f.dim > column)?;
            let n = f64::from(records[i].num_nodes);
            let values = features.values.iter().skip(column).step_by(features.dim);
            (n > 0.0).then(|| values.map(|x| x / n).sum())
        });
    }
    if which.iter().any(|&i| records[i].node_labels.is_some()) {
        let commonest: Vec<Option<&Scalar>> =
            which.iter().map(|&i| commonest(&records[i])).collect();
        all.push(Attribute { name: "commonest node label".to_owned(), values: kinds(commonest) });
    }
    all
}

/// `2m / (n (n − 1))`, of graphs of two nodes or more.
fn density(graph: &Graph) -> Option<f64> {
    let n = graph.num_nodes() as f64;
    (n >= 2.0).then(|| 2.0 * graph.num_edges() as f64 / (n * (n - 1.0)))
}

/// The label that most nodes of a graph have.
fn commonest(record: &GraphRecord) -> Option<&Scalar> {
    let mut counts: BTreeMap<&Scalar, usize> = BTreeMap::new();
    for label in record.node_labels.iter().flatten() {
        *counts.entry(label).or_default() += 1;
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(label, _)| label)
}

/// Classes, or amounts where they are many different numbers.
fn labels(of: Vec<Option<&Scalar>>) -> Values {
    let number = |label: &&Scalar| match label {
        Scalar::Int(int) => Some(*int as f64),
        Scalar::Float(float) => Some(*float),
        _ => None,
    };
    let mut distinct: Vec<&Scalar> = of.iter().copied().flatten().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let numbers = distinct.iter().all(|label| number(label).is_some());
    match numbers && distinct.len() > MOST_NUMBERS {
        true => Values::Amounts(of.iter().map(|label| label.as_ref().and_then(number)).collect()),
        false => kinds(of),
    }
}

/// Kinds in their order; of too many the commonest, and all others as one.
fn kinds(of: Vec<Option<&Scalar>>) -> Values {
    let mut counts: BTreeMap<&Scalar, usize> = BTreeMap::new();
    of.iter().flatten().for_each(|label| *counts.entry(label).or_default() += 1);
    let mut known: Vec<(&Scalar, usize)> = counts.into_iter().collect();
    let many = known.len() > MOST_CLASSES;
    if many {
        known.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        known.truncate(MOST_CLASSES - 1);
        known.sort_unstable();
    }
    let known: Vec<&Scalar> = known.into_iter().map(|(label, _)| label).collect();
    let mut names: Vec<String> = known.iter().map(ToString::to_string).collect();
    if many {
        names.push("others".to_owned());
    }
    let none = names.len() as u32;
    let place = |label: &Option<&Scalar>| match label {
        Some(label) => known.binary_search(label).map_or(none - 1, |at| at as u32),
        None => none,
    };
    let of: Vec<u32> = of.iter().map(place).collect();
    if of.contains(&none) {
        names.push("none".to_owned());
    }
    Values::Kinds { names, of }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::graph::{Features, WeightPolicy};

    #[test]
    fn few_labels_are_classes_and_many_numbers_amounts() {
        let scalars: Vec<Scalar> = (0..40).map(Scalar::Int).collect();
        let few: Vec<Option<&Scalar>> = vec![Some(&scalars[7]), None, Some(&scalars[3])];
        let names = ["3", "7", "none"].map(str::to_owned).to_vec();
        assert_eq!(labels(few), Values::Kinds { names, of: vec![1, 2, 0] });
        let many = labels(scalars.iter().map(Some).collect());
        assert_eq!(many, Values::Amounts((0..40).map(|x| Some(f64::from(x))).collect()));
        let words: Vec<Scalar> = (0..40).map(|i| format!("w{i:02}").as_str().into()).collect();
        let twice = words.iter().chain(&words[20..]).map(Some).collect();
        let Values::Kinds { names, of } = labels(twice) else { panic!("words are kinds") };
        assert_eq!((names.len(), names[MOST_CLASSES - 1].as_str()), (MOST_CLASSES, "others"));
        // The commonest have names: the last twenty, and the first seven.
        assert_eq!((of[6], of[7], of[39]), (6, 27, 26));
    }

    #[test]
    fn every_graph_has_every_attribute() {
        let records = [
            GraphRecord::default(),
            GraphRecord { num_nodes: 1, ..GraphRecord::default() },
            GraphRecord {
                num_nodes: 3,
                edges: vec![[0, 1], [1, 2]],
                features: Some(Features { dim: 1, values: vec![1.0, 2.0, 6.0] }),
                node_labels: Some(["b", "a", "b"].map(Scalar::from).to_vec()),
                ..GraphRecord::default()
            },
        ];
        let graphs: Vec<Graph> = records
            .iter()
            .map(|record| Graph::from_record(record, WeightPolicy::Use).unwrap().0)
            .collect();
        let all = attributes(&records, &graphs, &[0, 1, 2]);
        let of = |name: &str| &all.iter().find(|a| a.name == name).unwrap().values;
        let amounts = |values: [Option<f64>; 3]| Values::Amounts(values.to_vec());
        assert_eq!(of("nodes"), &amounts([Some(0.0), Some(1.0), Some(3.0)]));
        assert_eq!(of("density"), &amounts([None, None, Some(2.0 / 3.0)]));
        assert_eq!(of("mean of attribute 0"), &amounts([None, None, Some(3.0)]));
        let names = ["b", "none"].map(str::to_owned).to_vec();
        assert_eq!(of("commonest node label"), &Values::Kinds { names, of: vec![1, 1, 0] });
        assert!(all.iter().all(|attribute| attribute.name != "class"));
    }
}
