//! What is to be done, and how all of it is done together.

use std::path::Path;
use std::slice;
use std::sync::Arc;

use hg2v::Model;
use hg2v::context::Context;
use hg2v::dataset::features::Origin;
use hg2v::graph::GraphRecord;
use hg2v::method::Rows;
use hg2v::prepare::{Collection, Notes, Ready, Run};
use hg2v_search::Neighbor;
use rayon::prelude::*;

use crate::embedding::Embedding;
use crate::metrics::Metrics;
use crate::request::NAME;
use crate::state::State;
use crate::words::Client;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Work {
    /// Vectors of graphs, and the lines (from 0) that they stand on.
    Embed(Vec<GraphRecord>, Vec<u64>),
    /// The nearest to a graph, this many.
    Search(Box<GraphRecord>, usize),
    /// The nearest to a row of the index of a name, this many.
    Near(String, usize),
}

/// A vector, and what preparing its graph met.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) vector: Vec<f32>,
    pub(crate) notes: Notes,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Done {
    /// A vector for each graph, or why there is none.
    Vectors(Vec<Result<Row, String>>),
    /// Neighbours, the state whose rows they are, and what preparing the graph met.
    Neighbors(Arc<State>, Vec<Neighbor>, Notes),
    /// What was asked cannot be answered: not found (or no index), or not usable.
    Missing(String),
    /// Likewise: a graph that cannot be embedded.
    Refused(String),
    /// Our own fault.
    Broken,
}

/// What is left of a work once its graphs are with the others.
enum Rest {
    Embed,
    Search(usize),
    Near(String, usize),
}

/// An answer for each work.
pub(crate) fn answers(
    embedding: &Embedding,
    state: &Arc<State>,
    metrics: &Metrics,
    works: Vec<Work>,
) -> Vec<Done> {
    let (mut records, mut lines) = (Vec::new(), Vec::new());
    let mut starts = Vec::with_capacity(works.len());
    let mut rest = Vec::with_capacity(works.len());
    for work in works {
        starts.push(records.len());
        rest.push(match work {
            Work::Embed(own, places) => {
                records.extend(own);
                lines.extend(places);
                Rest::Embed
            }
            Work::Search(record, top) => {
                records.push(*record);
                lines.push(0);
                Rest::Search(top)
            }
            Work::Near(name, top) => Rest::Near(name, top),
        });
    }
    starts.push(records.len());
    let rows = embed(embedding, &*state.model, records, &lines);
    if starts[starts.len() - 1] > 0 {
        Metrics::add(&metrics.graphs, starts[starts.len() - 1] as u64);
        Metrics::add(&metrics.batches, 1);
    }
    let mut rows = rows.into_iter();
    let mut done = Vec::with_capacity(rest.len());
    let (mut queries, mut met) = (Vec::new(), Vec::new());
    for (i, rest) in rest.iter().enumerate() {
        let mut own = rows.by_ref().take(starts[i + 1] - starts[i]);
        done.push(match rest {
            Rest::Embed => Done::Vectors(own.collect()),
            Rest::Search(_) => match own.next() {
                Some(Ok(Row { vector, notes })) => {
                    queries.extend(vector);
                    met.push(notes);
                    Done::Broken
                }
                Some(Err(refused)) => Done::Refused(refused),
                None => Done::Broken,
            },
            Rest::Near(name, top) => nearest_to(state, name, *top),
        });
    }
    search(state, &rest, &queries, &met, &mut done);
    done
}

/// A vector for each record, or why there is none; each stands on its line (from 0). All that
/// can be are embedded together.
fn embed(
    embedding: &Embedding,
    model: &dyn Model,
    records: Vec<GraphRecord>,
    lines: &[u64],
) -> Vec<Result<Row, String>> {
    let (needs, file, context) = (model.needs(), Path::new(NAME), Context::default());
    let prepared = records.par_iter().zip(lines).map(|(record, &position)| {
        let run = Run { position, ..Run::of(slice::from_ref(record), file) };
        let ready = Ready::new(Collection::new(run, &needs, &context)?);
        model.check(record, Origin { file, position })?;
        Ok(ready)
    });
    let prepared: Vec<hg2v::Result<Ready>> = prepared.collect();
    let (mut all, mut good) = (Vec::new(), Vec::new());
    let mut met = Vec::with_capacity(records.len());
    for (record, one) in records.into_iter().zip(prepared) {
        met.push(one.map(|ready| {
            let notes = *ready.notes();
            all.push(ready);
            good.push(record);
            notes
        }));
    }
    let together = Ready::concat(all).of(Run::of(&good, file));
    let rows = match together.is_empty() {
        true => Ok(Rows::default()),
        false => embedding.rows(model, &together),
    };
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => return met.iter().map(|_| Err(error.to_string())).collect(),
    };
    let (dim, mut applied) = (model.dim(), rows.applied.iter());
    let mut vectors = rows.values.chunks_exact(dim.max(1));
    let mut row = |mut notes: Notes| {
        applied.next().inspect(|applied| notes.applied.add(applied));
        Row { vector: vectors.next().unwrap_or_default().to_vec(), notes }
    };
    met.into_iter().map(|met| met.map(&mut row).map_err(|error| error.worded(&Client))).collect()
}

fn nearest_to(state: &Arc<State>, name: &str, top: usize) -> Done {
    let Some(catalog) = &state.catalog else { return Done::Missing(NO_INDEX.to_owned()) };
    let position = match catalog.positions(name)[..] {
        [position] => position,
        [] => {
            let name = hg2v::error::shown(name);
            return Done::Missing(format!(
                "there is no graph {name} in the index; send it instead"
            ));
        }
        ref several => {
            let (count, name) = (several.len(), hg2v::error::shown(name));
            let problem = format!("{count} graphs of the index are called {name}");
            return Done::Refused(format!("{problem}; send the one that you mean instead"));
        }
    };
    match catalog.index.nearest_to(position, top) {
        Ok(near) => Done::Neighbors(Arc::clone(state), near, Notes::default()),
        Err(error) => Done::Refused(error.worded(&Client)),
    }
}

const NO_INDEX: &str = "there is no index; start the server with --index or --data";

/// Fills in the neighbours of all `queries`, which belong to the searches in order, as does
/// what was `met` on the way.
fn search(state: &Arc<State>, rest: &[Rest], queries: &[f32], met: &[Notes], done: &mut [Done]) {
    let top = |rest: &Rest| if let Rest::Search(top) = rest { Some(*top) } else { None };
    let waiting: Vec<(usize, usize)> = (rest.iter().enumerate())
        .filter(|(i, _)| !matches!(done[*i], Done::Refused(_)))
        .filter_map(|(i, rest)| Some((i, top(rest)?)))
        .collect();
    let most = waiting.iter().map(|(_, top)| *top).max().unwrap_or(0);
    if waiting.is_empty() {
        return;
    }
    let Some(catalog) = &state.catalog else {
        waiting.iter().for_each(|(i, _)| done[*i] = Done::Missing(NO_INDEX.to_owned()));
        return;
    };
    match catalog.index.nearest(queries, most) {
        Ok(found) => {
            for (((i, top), mut near), notes) in waiting.into_iter().zip(found).zip(met) {
                near.truncate(top);
                done[i] = Done::Neighbors(Arc::clone(state), near, *notes);
            }
        }
        Err(error) => {
            waiting.iter().for_each(|(i, _)| done[*i] = Done::Refused(error.worded(&Client)));
        }
    }
}
