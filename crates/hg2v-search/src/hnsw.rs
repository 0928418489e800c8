//! Nearly always the nearest, of very many: a hierarchical navigable small world.
//!
//! Every row is linked to rows near it; a few rows are linked on higher levels too,
//! each level a sixteenth of the one below. A search walks downhill on the highest
//! level, goes on from there on the next, and on the lowest keeps the best rows it
//! has met until none of their links leads to a better one.
//!
//! Rows are added in batches: each row of a batch looks for its links in what was
//! there before the batch, and among the rows before it in the batch; then all links
//! are put in place. So threads change nothing, and the same seed gives the same links.
//!
//! Y. Malkov and D. Yashunin, *Efficient and robust approximate nearest neighbor search
//! using hierarchical navigable small world graphs*, 2018.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use hg2v::context::Context;
use hg2v::error::{Error, Result};
use hg2v::progress::{Report, Stage};
use hg2v_math::simd::dot;
use hg2v_math::{Real, rng};
use rayon::prelude::*;

use crate::exact::check_k;
use crate::space::{Metric, Neighbor, Space, square};

/// How a graph of links is made and searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Params {
    /// Links of a row on a level, now and then half as many more; twice as many on the lowest.
    pub links: usize,
    /// Rows that a row keeps in mind while it looks for its links.
    pub breadth: usize,
    /// Rows that a search keeps in mind; at least twice as many as are asked for.
    pub search: usize,
    /// Seeds the levels and the order in which rows are added.
    pub seed: u64,
}

hg2v_math::setters!(Params { links: usize, breadth: usize, search: usize, seed: u64 });

impl Default for Params {
    fn default() -> Params {
        Params { links: 16, breadth: 100, search: 64, seed: 0 }
    }
}

impl Params {
    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        for (name, value, least) in
            [("links", self.links, 2), ("breadth", self.breadth, 1), ("search", self.search, 1)]
        {
            if value < least || value > 1 << 16 {
                let requirement = format!("it must be between {least} and 65536");
                return Err(Error::argument(name, value, requirement));
            }
        }
        Ok(())
    }
}

/// The largest batch, and which part of what is there already it may be.
const BATCH: usize = 512;
const BATCH_SHARE: usize = 16;

/// No row is linked above this level.
const HIGHEST: usize = 24;

/// A row and how far it is from what is looked for, as shadows tell.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate(f32, u32);

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// The links between the rows of a space.
#[derive(Debug, Clone)]
pub struct Hnsw {
    params: Params,
    /// Of each row, its links on each of its levels.
    links: Vec<Vec<Vec<u32>>>,
    /// Where searches begin, if there is any row.
    entry: Option<u32>,
}

/// Which rows a search has seen: those that bear the number of the search.
struct Seen {
    marks: Vec<u32>,
    search: u32,
}

impl Seen {
    fn new(rows: usize) -> Seen {
        Seen { marks: vec![0; rows], search: 0 }
    }

    fn begin(&mut self) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.marks.fill(0);
            self.search = 1;
        }
    }

    fn first_time(&mut self, row: u32) -> bool {
        std::mem::replace(&mut self.marks[row as usize], self.search) != self.search
    }
}

impl Hnsw {
    /// Links the rows of `space`.
    ///
    /// # Errors
    /// Parameters outside their domain; [`Stopped`](Error::Stopped).
    ///
    /// # Complexity
    /// About `O(n · log n · breadth · links · dim)` time, `O(n · links)` space.
    ///
    /// # Examples
    /// ```
    /// use hg2v::context::Context;
    /// use hg2v_search::hnsw::{Hnsw, Params};
    /// use hg2v_search::{Metric, Space};
    /// let rows = (0..1000).map(|i| i as f32).collect();
    /// let space = Space::new(1, rows, Metric::Euclidean)?;
    /// let links = Hnsw::new(&space, Params::default().links(8), &Context::default())?;
    /// assert_eq!(links.nearest(&space, &[41.7], 1)?[0][0].position, 42);
    /// # Ok::<(), hg2v::Error>(())
    /// ```
    pub fn new<R: Real>(space: &Space<R>, params: Params, context: &Context<'_>) -> Result<Hnsw> {
        params.check()?;
        let n = space.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        rng::shuffle(&mut order, &mut rng::stream(params.seed, "hnsw order", 0, 0));
        let shrink = 1.0 / (params.links as f64).ln();
        let level = |row: u32| {
            let uniform = rng::unit(&mut rng::stream(params.seed, "hnsw level", 0, row.into()));
            ((-(1.0 - uniform).ln() * shrink) as usize).min(HIGHEST)
        };
        let mut hnsw = Hnsw { params, links: vec![Vec::new(); n], entry: None };
        let mut done = 0;
        while done < n {
            let size = (done / BATCH_SHARE).clamp(1, BATCH).min(n - done);
            let batch = &order[done..done + size];
            let levels: Vec<usize> = batch.iter().map(|&row| level(row)).collect();
            hnsw.add(space, batch, &levels);
            done += size;
            context.tell(&Report::of(Stage::Linking, done as u64, n as u64))?;
        }
        Ok(hnsw)
    }

    /// The `k` rows that are nearest to each of `queries`, or nearly so, with their exact
    /// distances; in the order of [`exact::nearest`](crate::exact::nearest).
    ///
    /// # Errors
    /// As there.
    ///
    /// # Complexity
    /// About `O(log n · search · links · dim)` time a query.
    ///
    /// # Examples
    /// ```
    /// use hg2v::context::Context;
    /// use hg2v_search::hnsw::{Hnsw, Params};
    /// use hg2v_search::{Metric, Space};
    /// let space = Space::new(1, (0..1000).map(|i| i as f32).collect(), Metric::Euclidean)?;
    /// let links = Hnsw::new(&space, Params::default(), &Context::default())?;
    /// let near = links.nearest(&space, &[7.2, 990.9], 2)?;
    /// let positions: Vec<_> = near.iter().map(|near| [near[0].position, near[1].position]).collect();
    /// assert_eq!(positions, [[7, 8], [991, 990]]);
    /// # Ok::<(), hg2v::Error>(())
    /// ```
    pub fn nearest<R: Real>(
        &self,
        space: &Space<R>,
        queries: &[R],
        k: usize,
    ) -> Result<Vec<Vec<Neighbor>>> {
        check_k(k)?;
        let queries = space.placed(queries)?;
        Ok(self.search(space, &queries, &space.cast(&queries).rows, k))
    }

    /// As [`nearest`](Hnsw::nearest), of vectors that lie in the space, with their shadows.
    pub(crate) fn search<R: Real>(
        &self,
        space: &Space<R>,
        queries: &[R],
        shadows: &[f32],
        k: usize,
    ) -> Vec<Vec<Neighbor>> {
        let breadth = self.params.search.max(k.saturating_mul(2));
        let one = |seen: &mut Seen, (query, shadow): (&[R], &[f32])| {
            let Some(entry) = self.entry else { return Vec::new() };
            let far = |row: u32| apart(space, shadow, 0.0, row);
            let start = self.descend(entry, 0, &far);
            let found = self.walk(vec![start], 0, breadth, seen, &far);
            let square = square(query);
            let measured = found.iter().map(|&Candidate(_, row)| Neighbor {
                position: row as usize,
                distance: space.distance_to(query, square, row as usize),
            });
            let mut near: Vec<Neighbor> = measured.collect();
            near.sort_unstable_by(Neighbor::order);
            near.truncate(k);
            near
        };
        let queries = queries.par_chunks_exact(space.dim).zip(shadows.par_chunks_exact(space.dim));
        queries.map_init(|| Seen::new(space.len()), one).collect()
    }

    /// The row nearest to what is looked for that greedy steps reach, from the entry
    /// down to just above `level`.
    fn descend(&self, entry: u32, level: usize, far: &impl Fn(u32) -> f32) -> Candidate {
        let mut here = Candidate(far(entry), entry);
        for level in (level + 1..self.links[entry as usize].len()).rev() {
            loop {
                let links = self.links[here.1 as usize][level].iter();
                let nearest = links.map(|&row| Candidate(far(row), row)).min();
                match nearest {
                    Some(candidate) if candidate < here => here = candidate,
                    _ => break,
                }
            }
        }
        here
    }

    /// The `breadth` nearest rows that links lead to from `starts`, nearest first.
    fn walk(
        &self,
        starts: Vec<Candidate>,
        level: usize,
        breadth: usize,
        seen: &mut Seen,
        far: &impl Fn(u32) -> f32,
    ) -> Vec<Candidate> {
        seen.begin();
        starts.iter().for_each(|start| {
            seen.first_time(start.1);
        });
        let mut open: BinaryHeap<Reverse<Candidate>> =
            starts.iter().copied().map(Reverse).collect();
        let mut best: BinaryHeap<Candidate> = starts.into();
        while let Some(Reverse(here)) = open.pop() {
            if best.len() >= breadth && best.peek().is_some_and(|worst| here > *worst) {
                break;
            }
            for &row in &self.links[here.1 as usize][level] {
                if !seen.first_time(row) {
                    continue;
                }
                let candidate = Candidate(far(row), row);
                if best.len() < breadth || best.peek().is_some_and(|worst| candidate < *worst) {
                    open.push(Reverse(candidate));
                    best.push(candidate);
                    if best.len() > breadth {
                        best.pop();
                    }
                }
            }
        }
        best.into_sorted_vec()
    }

    /// Adds the rows of `batch`, each on the levels up to its own.
    fn add<R: Real>(&mut self, space: &Space<R>, batch: &[u32], levels: &[usize]) {
        let find = |seen: &mut Seen, i: usize| self.find_links(space, batch, levels, i, seen);
        let found: Vec<Vec<Vec<u32>>> =
            (0..batch.len()).into_par_iter().map_init(|| Seen::new(space.len()), find).collect();
        // Who is linked to is to link back: (level, row, new row), sorted.
        let mut back: Vec<(usize, u32, u32)> = Vec::new();
        for (&row, links) in batch.iter().zip(found) {
            for (level, links) in links.iter().enumerate() {
                back.extend(links.iter().map(|&to| (level, to, row)));
            }
            self.links[row as usize] = links;
        }
        back.sort_unstable();
        let groups: Vec<&[(usize, u32, u32)]> =
            back.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
        let joined = |group: &&[(usize, u32, u32)]| {
            let (level, row, _) = group[0];
            let old = &self.links[row as usize][level];
            let mut all: Vec<u32> = old.clone();
            all.extend(group.iter().map(|(_, _, new)| *new).filter(|new| !old.contains(new)));
            // A few too many now and then are cheaper than choosing anew every time.
            if all.len() <= self.most(level) + self.params.links / 2 {
                return all;
            }
            self.chosen(space, row, &all, level)
        };
        let joined: Vec<Vec<u32>> = groups.par_iter().map(joined).collect();
        for (group, links) in groups.iter().zip(joined) {
            let (level, row, _) = group[0];
            self.links[row as usize][level] = links;
        }
        // The first of the rows on the highest level.
        let height = |row: u32| self.links[row as usize].len();
        for &row in batch {
            if self.entry.is_none_or(|entry| height(row) > height(entry)) {
                self.entry = Some(row);
            }
        }
    }

    /// The links of row `i` of a batch on each of its levels.
    fn find_links<R: Real>(
        &self,
        space: &Space<R>,
        batch: &[u32],
        levels: &[usize],
        i: usize,
        seen: &mut Seen,
    ) -> Vec<Vec<u32>> {
        let (row, top) = (batch[i], levels[i]);
        let far = |other: u32| between(space, row, other);
        let mut links = vec![Vec::new(); top + 1];
        let before: Vec<(usize, Candidate)> =
            (0..i).map(|j| (levels[j], Candidate(far(batch[j]), batch[j]))).collect();
        let entry_top = self.entry.map_or(0, |entry| self.links[entry as usize].len() - 1);
        let mut starts = match self.entry {
            Some(entry) => vec![self.descend(entry, top, &far)],
            None => Vec::new(),
        };
        for level in (0..=top).rev() {
            let mut found = Vec::new();
            if level <= entry_top && !starts.is_empty() {
                starts = self.walk(starts, level, self.params.breadth, seen, &far);
                found.clone_from(&starts);
            }
            found.extend(
                before.iter().filter(|(own, _)| *own >= level).map(|(_, candidate)| *candidate),
            );
            found.sort_unstable();
            found.truncate(self.params.breadth);
            links[level] = select(space, &found, self.params.links);
        }
        links
    }

    /// Most links of a row on `level`.
    fn most(&self, level: usize) -> usize {
        if level == 0 { 2 * self.params.links } else { self.params.links }
    }

    /// The best links of `row` among `all`.
    fn chosen<R: Real>(&self, space: &Space<R>, row: u32, all: &[u32], level: usize) -> Vec<u32> {
        let mut near: Vec<Candidate> =
            all.iter().map(|&other| Candidate(between(space, row, other), other)).collect();
        near.sort_unstable();
        select(space, &near, self.most(level))
    }
}

/// At most `most` of the rows `near`, nearest first: those that are nearer to the row
/// in question than to any chosen before, so that links lead in all directions, and
/// then the nearest of the others.
fn select<R: Real>(space: &Space<R>, near: &[Candidate], most: usize) -> Vec<u32> {
    let mut chosen: Vec<u32> = Vec::with_capacity(most);
    let mut others = Vec::new();
    for &Candidate(distance, row) in near {
        if chosen.len() == most {
            break;
        }
        match chosen.iter().all(|&other| between(space, row, other) > distance) {
            true => chosen.push(row),
            false => others.push(row),
        }
    }
    let missing = most - chosen.len();
    chosen.extend(others.into_iter().take(missing));
    chosen
}

/// Half the squared distance of two shadows, or 1 less their cosine.
fn between<R: Real>(space: &Space<R>, a: u32, b: u32) -> f32 {
    let shadow = &space.shadows.rows[a as usize * space.dim..][..space.dim];
    apart(space, shadow, space.shadows.halves[a as usize], b)
}

/// As [`between`], for any shadow, of which half the square may be left out where
/// only the order matters.
fn apart<R: Real>(space: &Space<R>, shadow: &[f32], half: f32, row: u32) -> f32 {
    let other = &space.shadows.rows[row as usize * space.dim..][..space.dim];
    let base = match space.metric {
        Metric::Euclidean => half + space.shadows.halves[row as usize],
        Metric::Cosine => 1.0,
    };
    base - dot(shadow, other)
}
