//! What is to be predicted of graphs: classes or numbers, one or several.

use std::collections::BTreeSet;

use hg2v::graph::{GraphRecord, Scalar};

use crate::error::{Error, Result};
use crate::matrix::LIMIT;
use crate::metrics::{ErrorScores, errors};
use crate::split::Split;

/// What the label is called beside targets.
const ONLY: &str = "y";

/// Whole numbers with more distinct values than this are taken for numbers, if they are also more
/// than [`FEW_SHARE`] of the graphs.
const FEW: usize = 20;

/// See [`FEW`].
const FEW_SHARE: f64 = 0.05;

/// What targets are taken for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Task {
    /// A target is numbers if all its values are, and one of them is not whole, or there are more
    /// than 20 distinct ones and more than one for 20 graphs; else classes. Texts most of which one
    /// graph alone has name graphs, and are no target.
    #[default]
    Auto,
    /// Every value is the name of a class.
    Classes,
    /// Every value is an amount.
    Numbers,
}

hg2v::vocabulary! { Task, "task":
    Auto => "auto", "numbers where a target has many or a fraction, else classes";
    Classes => "classes", "every value names a class";
    Numbers => "numbers", "every value is an amount";
}

/// One target of all graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// What it is called; `None` where graphs have a single one, `y`.
    pub name: Option<String>,
    /// Which graphs have a value.
    pub known: Vec<bool>,
    /// The values; what stands for a graph without one means nothing.
    pub truth: Truth,
}

/// The values of a target, one a graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Truth {
    /// Places in `classes`.
    Classes {
        /// The class of each graph.
        labels: Vec<u32>,
        /// The names, ascending.
        classes: Vec<Scalar>,
    },
    /// Amounts.
    Numbers(Vec<f64>),
}

impl Goal {
    /// What the records have to predict: their label, and their targets by name, in the order in
    /// which they first occur. Targets that [name](Goal::names) graphs are left out beside others.
    ///
    /// # Errors
    /// Nothing to predict; a target without values, or with one value only; text and numbers in
    /// one target, or text where numbers were asked for; nothing but names.
    pub fn all(records: &[GraphRecord], task: Task) -> Result<Vec<Goal>> {
        let columns = columns(records)?;
        // The label alone needs no name.
        let unnamed = columns.len() == 1 && records.iter().any(|record| record.label.is_some());
        let (names, others): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|(_, values)| task != Task::Classes && are_names(values));
        if let (true, Some((name, values))) = (others.is_empty(), names.first()) {
            let (target, graphs) = ((*name).to_owned(), values.iter().flatten().count());
            return Err(Error::Names { target, graphs });
        }
        let of = |(name, values): (&str, Vec<_>)| {
            Goal::of((!unnamed).then(|| name.to_owned()), &values, task)
        };
        others.into_iter().map(of).collect()
    }

    /// The targets that name graphs rather than say something of them: texts, most of which one
    /// graph alone has. [`Goal::all`] leaves them out, unless classes were asked for.
    ///
    /// # Errors
    /// Nothing to predict.
    pub fn names(records: &[GraphRecord], task: Task) -> Result<Vec<String>> {
        let mut columns = columns(records)?;
        columns.retain(|(_, values)| task != Task::Classes && are_names(values));
        Ok(columns.into_iter().map(|(name, _)| name.to_owned()).collect())
    }

    /// A target by its values, `None` where a graph has none.
    ///
    /// # Errors
    /// As [`Goal::all`].
    pub fn of(name: Option<String>, values: &[Option<&Scalar>], task: Task) -> Result<Goal> {
        let known: Vec<bool> = values.iter().map(Option::is_some).collect();
        let truth = match numbers_of(name.as_deref(), values, task)? {
            Some(numbers) => Truth::Numbers(numbers),
            None => classes_of(values),
        };
        let goal = Goal { name, known, truth };
        goal.check(values)?;
        Ok(goal)
    }

    /// There are at least two values to tell apart.
    fn check(&self, values: &[Option<&Scalar>]) -> Result<()> {
        let (target, graphs) = (self.called(), self.graphs());
        let mut given = values.iter().flatten();
        let Some(&first) = given.next() else {
            return Err(Error::NoValues { target, graphs: values.len() });
        };
        if given.any(|&value| value != first) {
            return Ok(());
        }
        let label = first.clone();
        Err(match self.truth {
            Truth::Classes { .. } => Error::OneLabel { label, graphs },
            Truth::Numbers(_) => Error::OneNumber { target, value: label, graphs },
        })
    }

    /// Its name, or `y`.
    pub fn called(&self) -> String {
        self.name.clone().unwrap_or_else(|| ONLY.to_owned())
    }

    /// How many graphs have a value.
    pub fn graphs(&self) -> usize {
        self.known.iter().filter(|&&known| known).count()
    }

    /// What it was taken for.
    pub fn task(&self) -> Task {
        match self.truth {
            Truth::Classes { .. } => Task::Classes,
            Truth::Numbers(_) => Task::Numbers,
        }
    }

    /// The classes, ascending; none of numbers.
    pub fn classes(&self) -> &[Scalar] {
        match &self.truth {
            Truth::Classes { classes, .. } => classes,
            Truth::Numbers(_) => &[],
        }
    }

    /// The share of the largest class.
    pub fn majority(&self) -> Option<f64> {
        let Truth::Classes { labels, classes } = &self.truth else { return None };
        let mut counts = vec![0usize; classes.len()];
        let known = labels.iter().zip(&self.known).filter(|(_, known)| **known);
        known.for_each(|(&label, _)| counts[label as usize] += 1);
        let largest = counts.into_iter().max().unwrap_or(0);
        Some(largest as f64 / self.graphs().max(1) as f64)
    }

    /// How far off the mean of each training part is; `None` of classes.
    ///
    /// # Errors
    /// As [`Goal::part`].
    pub fn mean(&self, splits: &[Split]) -> Result<Option<ErrorScores>> {
        let Truth::Numbers(numbers) = &self.truth else { return Ok(None) };
        let of_split = |split: &Split| {
            let split = self.part(split)?;
            let truth: Vec<f64> = split.test.iter().map(|&graph| numbers[graph]).collect();
            errors(&truth, &vec![mean_of(numbers, &split.train); truth.len()])
        };
        let all: Vec<_> = splits.iter().map(of_split).collect::<Result<_>>()?;
        ErrorScores::of(&all).map(Some)
    }

    /// The graphs of a split that have a value.
    ///
    /// # Errors
    /// A split that leaves nobody to learn from or to test on.
    pub fn part(&self, split: &Split) -> Result<Split> {
        let of = |rows: &[usize]| -> Vec<usize> {
            rows.iter().copied().filter(|&row| self.known[row]).collect()
        };
        let part = Split { train: of(&split.train), test: of(&split.test) };
        match part.train.len() < 2 || part.test.is_empty() {
            true => Err(Error::TooFew { target: self.called(), graphs: self.graphs() }),
            false => Ok(part),
        }
    }
}

/// A name, and the value of each record.
type Column<'a> = (&'a str, Vec<Option<&'a Scalar>>);

/// What the records may have to predict, by name: their label, `y`, then their targets; the value
/// of each record.
fn columns(records: &[GraphRecord]) -> Result<Vec<Column<'_>>> {
    let (mut names, mut seen): (Vec<&str>, BTreeSet<&str>) = Default::default();
    for target in records.iter().flat_map(|record| &record.targets) {
        if seen.insert(&target.name) {
            names.push(&target.name);
        }
    }
    let labels: Vec<_> = records.iter().map(|record| record.label.as_ref()).collect();
    let label = labels.iter().any(Option::is_some).then_some((ONLY, labels));
    let targets = names.into_iter().enumerate().map(|(place, name)| {
        (name, records.iter().map(|record| value(record, place, name)).collect())
    });
    let columns: Vec<_> = label.into_iter().chain(targets).collect();
    match columns.is_empty() {
        true => Err(Error::Unlabelled { unlabelled: records.len(), graphs: records.len() }),
        false => Ok(columns),
    }
}

/// Whether values are names: texts, more than [`FEW`], most of which occur once.
fn are_names(values: &[Option<&Scalar>]) -> bool {
    let mut given: Vec<&Scalar> = values.iter().flatten().copied().collect();
    let graphs = given.len();
    if graphs <= FEW || !given.iter().all(|value| matches!(value, Scalar::Text(_))) {
        return false;
    }
    given.sort_unstable();
    let alone = given.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).count();
    2 * alone > graphs
}

/// The value of a target, which most graphs have at this place.
fn value<'a>(record: &'a GraphRecord, place: usize, name: &str) -> Option<&'a Scalar> {
    let there = record.targets.get(place).filter(|target| target.name == name);
    let target = there.or_else(|| record.targets.iter().find(|target| target.name == name))?;
    target.value.as_ref()
}

/// The mean of the numbers of these graphs.
pub(crate) fn mean_of(numbers: &[f64], graphs: &[usize]) -> f64 {
    graphs.iter().map(|&graph| numbers[graph]).sum::<f64>() / graphs.len().max(1) as f64
}

/// The amount that a scalar is.
fn number(value: &Scalar) -> Option<f64> {
    match value {
        Scalar::Int(int) => Some(*int as f64),
        Scalar::Float(float) => Some(*float),
        Scalar::Bool(_) | Scalar::Text(_) => None,
    }
}

/// The values as numbers, where that is what they are taken for.
fn numbers_of(
    name: Option<&str>,
    values: &[Option<&Scalar>],
    task: Task,
) -> Result<Option<Vec<f64>>> {
    if task == Task::Classes {
        return Ok(None);
    }
    let place = |wanted: bool| {
        let is = |value: &Option<&Scalar>| value.is_some_and(|v| number(v).is_some() == wanted);
        values.iter().position(is)
    };
    let target = || name.unwrap_or("y").to_owned();
    let said = |graph: usize| values[graph].map(Scalar::to_string).unwrap_or_default();
    match (place(true), place(false)) {
        (_, Some(graph)) if task == Task::Numbers => {
            return Err(Error::NoNumber { target: target(), graph, value: said(graph) });
        }
        (Some(graph), Some(other)) => {
            return Err(Error::Mixed {
                target: target(),
                number: said(graph),
                graph,
                other_value: said(other),
                other,
            });
        }
        (None, _) => return Ok(None),
        (Some(_), None) => {}
    }
    let numbers: Vec<f64> =
        values.iter().map(|value| value.and_then(number).unwrap_or(0.0)).collect();
    // Their squares, and sums of those, must be finite.
    if let Some(graph) = numbers.iter().position(|value| value.is_nan() || value.abs() > LIMIT) {
        return Err(Error::NoNumber { target: target(), graph, value: said(graph) });
    }
    Ok((task == Task::Numbers || are_amounts(values)).then_some(numbers))
}

/// Whether numbers are amounts rather than names of classes: see [`Task::Auto`].
fn are_amounts(values: &[Option<&Scalar>]) -> bool {
    let mut given: Vec<f64> = values.iter().flatten().filter_map(|value| number(value)).collect();
    let graphs = given.len();
    if given.iter().any(|value| value.fract() != 0.0) {
        return true;
    }
    given.sort_unstable_by(f64::total_cmp);
    given.dedup();
    given.len() > FEW && given.len() as f64 > FEW_SHARE * graphs as f64
}

fn classes_of(values: &[Option<&Scalar>]) -> Truth {
    let mut classes: Vec<Scalar> = values.iter().flatten().map(|&value| value.clone()).collect();
    classes.sort_unstable();
    classes.dedup();
    let place = |label: &Scalar| classes.partition_point(|class| class < label) as u32;
    let labels = values.iter().map(|value| value.map_or(0, place)).collect();
    Truth::Classes { labels, classes }
}
