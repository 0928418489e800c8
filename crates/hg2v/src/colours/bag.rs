//! Colours counted, and which of their words have a row.

use std::ops::Range;

use crate::graph::wl::histogram;

/// Words with a row, at most.
const WORDS: usize = 1 << 14;

/// The colours of a graph, round by round: ascending, with how often each occurs.
#[derive(Debug, Clone)]
pub(super) struct Bag {
    rounds: Vec<Vec<(u32, u32)>>,
    nodes: usize,
}

impl Bag {
    /// The bag of what a refiner says of a graph.
    pub(super) fn of(rows: &[Vec<u32>]) -> Bag {
        let nodes = rows.first().map_or(0, Vec::len);
        Bag { rounds: rows.iter().map(|row| histogram(row)).collect(), nodes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes == 0
    }

    /// `1 / √(n·(H + 1))`.
    pub(super) fn scale(&self) -> f64 {
        ((self.nodes * self.rounds.len()).max(1) as f64).sqrt().recip()
    }

    pub(super) fn round(&self, round: usize) -> &[(u32, u32)] {
        &self.rounds[round]
    }

    pub(super) fn colours(&self, round: usize) -> impl Iterator<Item = u32> {
        self.rounds[round].iter().map(|(colour, _)| *colour)
    }

    /// Numbers colours as [`Words`] does, and puts those that have none behind all others, each
    /// by itself.
    pub(super) fn renumber(&mut self, kept: &[Option<u32>]) {
        let known = kept.iter().flatten().count() as u32;
        for (colour, _) in self.rounds.iter_mut().flatten() {
            *colour = kept[*colour as usize].unwrap_or(known + *colour);
        }
    }

    /// The words of each of its colours that have a row, with their round.
    pub(super) fn ranges<'a>(
        &'a self,
        words: &'a Words,
    ) -> impl Iterator<Item = (Range<usize>, usize)> + 'a {
        let of_round = move |(round, counts): (usize, &'a Vec<(u32, u32)>)| {
            counts.iter().map(move |&(colour, count)| (words.of_colour(colour, count), round))
        };
        self.rounds.iter().enumerate().flat_map(of_round)
    }

    /// Its words that have a row, ascending, each with its round.
    pub(super) fn words(&self, words: &Words) -> impl Iterator<Item = (u32, usize)> + use<> {
        let one =
            |(range, round): (Range<usize>, usize)| range.map(move |word| (word as u32, round));
        let mut all: Vec<(u32, usize)> = self.ranges(words).flat_map(one).collect();
        all.sort_unstable();
        all.into_iter()
    }
}

/// Which words have a row: of every colour `x` the words `(x, 1)`, `(x, 2)`, … up to some `k`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    /// Where the rows of a colour begin; one more than there are colours.
    starts: Vec<u32>,
}

impl Words {
    /// The words that most graphs have, at least two, and for each colour its number among
    /// those that have any.
    ///
    /// A word is kept before `(x, k + 1)`, which fewer graphs have, and a colour before those
    /// that are made of it, so that what is kept can be refined alone.
    pub(super) fn of(bags: &[Bag], colours: usize) -> (Words, Vec<Option<u32>>) {
        let mut counts: Vec<(u32, u32)> = bags.iter().flat_map(|bag| bag.rounds.concat()).collect();
        counts.sort_unstable();
        // Of each colour: how many graphs have at least k of it.
        let mut candidates: Vec<(u32, u32)> = Vec::new();
        for of_colour in counts.chunk_by(|a, b| a.0 == b.0) {
            let graphs = of_colour.len();
            let mut fewer = 0;
            for k in 1.. {
                fewer += of_colour[fewer..].iter().take_while(|(_, count)| *count < k).count();
                if graphs - fewer < 2 {
                    break;
                }
                candidates.push((of_colour[0].0, (graphs - fewer) as u32));
            }
        }
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(candidates[i].1), i));
        order.truncate(WORDS);
        let mut of_colour = vec![0; colours];
        order.iter().for_each(|&i| of_colour[candidates[i].0 as usize] += 1);
        let mut starts = vec![0];
        let mut kept = vec![None; colours];
        let mut end = 0;
        for (colour, &count) in of_colour.iter().enumerate().filter(|(_, count)| **count > 0) {
            kept[colour] = Some(starts.len() as u32 - 1);
            end += count;
            starts.push(end);
        }
        (Words { starts }, kept)
    }

    /// Those whose rows begin there; `None` where they cannot.
    pub(super) fn of_starts(starts: Vec<u32>) -> Option<Words> {
        (starts.first() == Some(&0) && starts.is_sorted()).then_some(Words { starts })
    }

    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    pub(super) fn len(&self) -> usize {
        self.starts.last().map_or(0, |end| *end as usize)
    }

    /// How many colours have words.
    pub(super) fn colours(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of each colour.
    pub(super) fn by_colour(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let pairs: Vec<[u32; 2]> = self.starts.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        pairs.into_iter().map(|[start, end]| start as usize..end as usize)
    }

    /// The rows of `(colour, 1)` to `(colour, count)`, as far as there are any.
    pub(super) fn of_colour(&self, colour: u32, count: u32) -> Range<usize> {
        let colour = colour as usize;
        let Some(&end) = self.starts.get(colour + 1) else { return 0..0 };
        let start = self.starts[colour];
        start as usize..end.min(start.saturating_add(count)) as usize
    }
}
