//! From lines of `A` to edges: which lines of each graph are edges of their own.
//!
//! Linear in lines and nodes: lines are counted into buckets by graph, then by
//! their lower end, and a mark on the higher end finds repeats.

use super::Listing;
use crate::group::Groups;

/// The lines that stay, graph by graph.
pub(super) struct Folded {
    /// Graph `g` keeps `lines[starts[g]..starts[g + 1]]`.
    pub(super) starts: Vec<usize>,
    /// Positions in `A`, ascending within a graph.
    pub(super) lines: Vec<u32>,
    /// Per graph: lines beyond one for each direction.
    pub(super) repeats: Vec<u64>,
    /// The first line of each graph listed in pairs that its reverse does not follow, as positions
    /// in `A`. Nothing of such a graph is of use.
    pub(super) unpaired: Vec<u32>,
}

/// Folds the lines `edges` (ends as positions among all nodes), where nodes
/// `node_starts[g]..node_starts[g + 1]` are graph `g` and `graph_of` tells the
/// graph of a line. `repeated(first, again)` hears of every line folded into an
/// earlier one.
pub(super) fn fold(
    edges: &[[u32; 2]],
    graph_of: &[u32],
    node_starts: &[usize],
    listing: impl Fn(usize) -> Listing,
    mut repeated: impl FnMut(u32, u32),
) -> Folded {
    let num_graphs = node_starts.len() - 1;
    let by_graph = Groups::new(num_graphs, graph_of);
    let mut folded = Folded {
        starts: vec![0],
        lines: Vec::new(),
        repeats: vec![0; num_graphs],
        unpaired: Vec::new(),
    };
    let mut finder = Repeats::default();
    for graph in 0..num_graphs {
        let lines = by_graph.of(graph);
        match listing(graph) {
            Listing::Directed => folded.lines.extend_from_slice(lines),
            Listing::Pairs => folded.unpaired.extend(pairs(edges, lines, &mut folded.lines)),
            Listing::Both => {
                let nodes = node_starts[graph] as u32..node_starts[graph + 1] as u32;
                folded.repeats[graph] = finder.fold(edges, lines, nodes, &mut repeated);
                let kept = lines.iter().zip(&finder.repeats);
                folded.lines.extend(kept.filter(|&(_, &again)| !again).map(|(&line, _)| line));
            }
        }
        folded.starts.push(folded.lines.len());
    }
    folded
}

/// Keeps the first line of each pair, and self-loops, up to a line that its reverse does not follow.
fn pairs(edges: &[[u32; 2]], lines: &[u32], kept: &mut Vec<u32>) -> Option<u32> {
    let mut lines = lines.iter();
    while let Some(&line) = lines.next() {
        let [u, v] = edges[line as usize];
        kept.push(line);
        if u != v && lines.next().map(|&next| edges[next as usize]) != Some([v, u]) {
            return Some(line);
        }
    }
    None
}

/// Scratch space for finding the repeats among one graph's lines.
#[derive(Default)]
struct Repeats {
    /// Whether each line of the graph repeats an earlier one.
    repeats: Vec<bool>,
    /// Lines by their lower end.
    bucket_starts: Vec<u32>,
    by_low: Vec<u32>,
    /// For the current lower end: the edge to each higher end.
    to: Vec<Mark>,
}

#[derive(Clone, Copy)]
struct Mark {
    /// The lower end this mark was made for, plus 1.
    low: u32,
    /// The edge's first line, as a position among the graph's lines.
    first: u32,
    /// The opposite direction was seen as well.
    reversed: bool,
}

impl Repeats {
    /// Fills `repeats`; returns how many go beyond one line for each direction.
    fn fold(
        &mut self,
        edges: &[[u32; 2]],
        lines: &[u32],
        nodes: std::ops::Range<u32>,
        repeated: &mut impl FnMut(u32, u32),
    ) -> u64 {
        let num_nodes = nodes.len();
        let low = |line: u32| {
            let [u, v] = edges[line as usize];
            (u.min(v) - nodes.start) as usize
        };
        self.repeats.clear();
        self.repeats.resize(lines.len(), false);
        self.bucket_starts.clear();
        self.bucket_starts.resize(num_nodes + 1, 0);
        self.by_low.clear();
        self.by_low.resize(lines.len(), 0);
        let unmarked = Mark { low: 0, first: 0, reversed: false };
        self.to.clear();
        self.to.resize(num_nodes, unmarked);

        // Counting sort by lower end: count, add up, place from the back.
        for &line in lines {
            self.bucket_starts[low(line)] += 1;
        }
        let mut total = 0;
        for start in &mut self.bucket_starts {
            total += *start;
            *start = total;
        }
        for (position, &line) in lines.iter().enumerate().rev() {
            let start = &mut self.bucket_starts[low(line)];
            *start -= 1;
            self.by_low[*start as usize] = position as u32;
        }

        let mut beyond = 0;
        for &position in &self.by_low {
            let line = lines[position as usize];
            let [u, v] = edges[line as usize];
            let mark = &mut self.to[(u.max(v) - nodes.start) as usize];
            let stamp = low(line) as u32 + 1;
            if mark.low != stamp {
                *mark = Mark { low: stamp, first: position, reversed: false };
                continue;
            }
            let first = lines[mark.first as usize];
            self.repeats[position as usize] = true;
            repeated(first, line);
            if edges[first as usize] == [u, v] || mark.reversed {
                beyond += 1;
            } else {
                mark.reversed = true;
            }
        }
        beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(listing: Listing, edges: &[[u32; 2]]) -> (Vec<u32>, u64) {
        let folded = fold(edges, &vec![0; edges.len()], &[0, 4], |_| listing, |_, _| {});
        (folded.lines, folded.repeats[0])
    }

    #[test]
    fn first_occurrence_stays_and_extra_lines_are_counted() {
        // Edge 1-0 on three lines (one beyond), loop 2 twice (one beyond), 2-3 once.
        let edges = [[1, 0], [2, 2], [0, 1], [3, 2], [2, 2], [0, 1]];
        assert_eq!(kept(Listing::Both, &edges), (vec![0, 1, 3], 2));
        assert_eq!(kept(Listing::Directed, &edges).0.len(), 6);
    }

    #[test]
    fn pairs_are_edges_of_their_own() {
        let edges = [[1, 0], [0, 1], [2, 2], [2, 2], [1, 0], [0, 1]];
        assert_eq!(kept(Listing::Pairs, &edges), (vec![0, 2, 3, 4], 0));
        let lone = fold(&[[1, 0]], &[0], &[0, 2], |_| Listing::Pairs, |_, _| {});
        assert_eq!(lone.unpaired, [0]);
    }

    #[test]
    fn lines_of_interleaved_graphs_are_sorted_out() {
        let edges = [[2, 3], [0, 1], [3, 2], [1, 0]];
        let folded = fold(&edges, &[1, 0, 1, 0], &[0, 2, 4], |_| Listing::Both, |_, _| {});
        assert_eq!(folded.starts, [0, 1, 2]);
        assert_eq!(folded.lines, [1, 0]);
    }
}
