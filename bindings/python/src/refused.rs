//! Graphs that cannot be used, while others can.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hg2v::graph::GraphRecord;
use rayon::prelude::*;

use crate::errors::told;

/// The positions of graphs, ascending, and what is wrong with each.
pub(crate) type Refused = Vec<(usize, String)>;

/// The graphs that `check` refuses; it hears their positions, too.
pub(crate) fn each(
    records: &[GraphRecord],
    check: impl Fn(&GraphRecord, u64) -> hg2v::Result<()> + Sync,
) -> Refused {
    let refusal = |(i, record)| check(record, i as u64).err().map(|error| (i, told(&error)));
    records.par_iter().enumerate().filter_map(refusal).collect()
}

/// The graphs whose nodes have other features than those of most graphs; of equally many, the
/// first decide. Those that are `refused` have no say.
pub(crate) fn unlike_most(records: &[GraphRecord], refused: &Refused) -> Refused {
    let brings = |record: &GraphRecord| {
        (record.features.as_ref().map_or(0, |x| x.dim), record.node_labels.is_some())
    };
    let has_say = |(i, record): &(usize, &GraphRecord)| {
        record.num_nodes > 0 && refused.binary_search_by_key(i, |(at, _)| *at).is_err()
    };
    let voters: Vec<_> = records.iter().enumerate().filter(has_say).collect();
    // How many graphs bring it, and where the first stands.
    let mut votes = BTreeMap::new();
    for &(i, record) in &voters {
        let (count, _) = votes.entry(brings(record)).or_insert((0u64, Reverse(i)));
        *count += 1;
    }
    let Some((&most, _)) = votes.iter().max_by_key(|(_, vote)| **vote) else {
        return Refused::new();
    };
    let said = |(attributes, labels): (usize, bool)| {
        let attributes = match attributes {
            0 => "no attributes".to_owned(),
            1 => "1 attribute".to_owned(),
            n => format!("{n} attributes"),
        };
        format!("{attributes} and {}", if labels { "labels" } else { "no labels" })
    };
    let refusal = |(i, record): (usize, &GraphRecord)| {
        let own = brings(record);
        let text =
            format!("its nodes have {}, but those of most graphs have {}", said(own), said(most));
        (own != most).then_some((i, text))
    };
    voters.into_iter().filter_map(refusal).collect()
}
