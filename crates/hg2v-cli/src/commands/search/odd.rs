//! Graphs that are too much like another, or like none.

use hg2v_search::duplicates::{asked_for, duplicates as pairs_within};
use hg2v_search::outliers::{Outlier, check_k, outliers as furthest, standing_out};
use hg2v_search::surprise::Surprise;
use hg2v_search::{Metric, Neighbor};
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
    let within = asked_for(space, threshold)?;
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

/// Those that stand out by the `surprises` of their graphs and the distance to their `k`-th
/// neighbour, or by that alone, for programs and for people.
pub(super) fn outliers(
    set: &Set,
    k: usize,
    surprises: Option<&[Surprise]>,
    top: Option<usize>,
    json: bool,
) -> anyhow::Result<(Value, Vec<String>)> {
    check_k(k, set.catalog.len())?;
    let count = set.catalog.len();
    let shown = top.unwrap_or(if json { count } else { SHOWN }).min(count);
    let (rows, table) = match surprises {
        Some(surprises) => {
            strangest(set, &standing_out(&set.catalog.index, k, surprises)?[..shown])
        }
        None => furthest_out(set, k, &furthest(&set.catalog.index, k)?[..shown]),
    };
    let mut lines = table.lines();
    lines.extend(more(count as u64, shown));
    Ok((json!({ "k": k, "count": count, "rows": rows }), lines))
}

/// Rows for programs and people, by distance.
fn furthest_out(set: &Set, k: usize, found: &[Neighbor]) -> (Vec<Value>, Table) {
    let space = set.catalog.index.space();
    let metric = match space.metric() {
        Metric::Cosine => "cosine",
        Metric::Euclidean => "Euclidean",
    };
    let columns = if space.scale().is_some() { ", columns standardised" } else { "" };
    let mut table = Table::new(2);
    table.row(["graph", "class", &format!("distance to neighbour {k} ({metric}{columns})")]);
    for one in found {
        table.row([set.name(one), set.class(one), distance(one.distance)]);
    }
    (found.iter().map(|one| set.neighbor_json(one)).collect(), table)
}

/// Rows for programs and people, by how far they stand out, and why.
fn strangest(set: &Set, found: &[Outlier]) -> (Vec<Value>, Table) {
    let (ids, labels) = (&set.catalog.ids, &set.catalog.labels);
    let mut table = Table::new(2);
    table.row(["graph", "class", "stands out by", "neighbours", "unmet", "distance"]);
    for one in found {
        let class = labels[one.position].as_ref().map(label).unwrap_or_default();
        let numbers = [one.score, one.neighbors, one.unmet, one.distance];
        let numbers = numbers.map(|number| format!("{number:.2}"));
        table.row([[label(&ids[one.position]), class].as_slice(), &numbers].concat());
    }
    let row = |one: &Outlier| {
        let Outlier { position, score, neighbors, unmet, distance } = *one;
        json!({ "id": ids[position], "y": labels[position], "position": position,
            "score": score, "parts": { "neighbors": neighbors, "unmet": unmet, "distance": distance } })
    };
    (found.iter().map(row).collect(), table)
}

/// What is not shown.
fn more(count: u64, shown: usize) -> Option<String> {
    let more = count.saturating_sub(shown as u64);
    (more > 0).then(|| format!("… and {more} more; --top {count} shows all"))
}
