//! Graphs that are too much like another, or like none.

use hg2v::error::Error;
use hg2v_search::Metric;
use hg2v_search::duplicates::{alike, duplicates as pairs_within};
use hg2v_search::outliers::outliers as furthest;
use serde_json::{Value, json};

use super::distance;
use super::set::Set;
use crate::table::{Table, counted, label};

/// Pairs and outliers that are shown unless --top says how many, and pairs that are told to
/// programs.
const SHOWN: usize = 20;
const TOLD: usize = 1000;

/// Pairs that are alike, for programs and for people.
pub(super) fn duplicates(
    set: &Set,
    threshold: Option<f64>,
    top: Option<usize>,
    json: bool,
) -> anyhow::Result<(Value, Vec<String>)> {
    let space = set.catalog.index.space();
    let within = match (space.metric(), threshold) {
        (_, None) => alike(space),
        (Metric::Cosine, Some(cosine)) if !(-1.0..=1.0).contains(&cosine) => {
            let requirement = "a cosine is between −1 and 1";
            return Err(Error::parameter("duplicates", cosine, requirement).into());
        }
        (Metric::Cosine, Some(cosine)) => 1.0 - cosine,
        (Metric::Euclidean, Some(distance)) => distance,
    };
    let found = pairs_within(space, within, top.unwrap_or(if json { TOLD } else { SHOWN }))?;
    let ids = &set.catalog.ids;
    let mut table = Table::new(2);
    table.row(["graph", "is like", "distance"]);
    for pair in &found.pairs {
        let [first, second] = [pair.first, pair.second].map(|i| label(&ids[i]));
        table.row([first, second, distance(pair.distance)]);
    }
    let mut lines =
        vec![format!("{} alike, at most {within:.3e} apart", counted(found.count, "pair"))];
    if !found.pairs.is_empty() {
        lines.extend(table.lines());
    }
    lines.extend(more(found.count, found.pairs.len()));
    let pairs = found.pairs.iter().map(|pair| {
        json!({ "ids": [ids[pair.first], ids[pair.second]],
            "positions": [pair.first, pair.second], "distance": pair.distance })
    });
    let pairs: Vec<Value> = pairs.collect();
    Ok((json!({ "within": within, "count": found.count, "pairs": pairs }), lines))
}

/// Those furthest from their `k`-th neighbour, for programs and for people.
pub(super) fn outliers(
    set: &Set,
    k: usize,
    top: Option<usize>,
    json: bool,
) -> anyhow::Result<(Value, Vec<String>)> {
    if k == 0 {
        return Err(Error::parameter("outliers", k, "it must be at least 1").into());
    }
    if k >= set.catalog.len() {
        let others = set.catalog.len() - 1;
        let requirement = format!("it must be at most {others}, the number of other vectors");
        return Err(Error::parameter("outliers", k, requirement).into());
    }
    let mut found = furthest(&set.catalog.index, k)?;
    let count = found.len();
    found.truncate(top.unwrap_or(if json { count } else { SHOWN }));
    let space = set.catalog.index.space();
    let metric = match space.metric() {
        Metric::Cosine => "cosine",
        Metric::Euclidean => "Euclidean",
    };
    let columns = if space.scale().is_some() { ", columns standardised" } else { "" };
    let mut table = Table::new(2);
    table.row(["graph", "class", &format!("distance to neighbour {k} ({metric}{columns})")]);
    for one in &found {
        table.row([set.name(one), set.class(one), distance(one.distance)]);
    }
    let mut lines = table.lines();
    lines.extend(more(count as u64, found.len()));
    let rows: Vec<Value> = found.iter().map(|one| set.neighbor_json(one)).collect();
    Ok((json!({ "k": k, "count": count, "rows": rows }), lines))
}

/// What is not shown.
fn more(count: u64, shown: usize) -> Option<String> {
    let more = count.saturating_sub(shown as u64);
    (more > 0).then(|| format!("… and {more} more; --top {count} shows all"))
}
