//! The network simplex for transport problems whose masses are whole numbers.
//!
//! A basis is a spanning tree of rows and columns, whose arcs alone carry mass. It gives
//! potentials `u(i) + v(j) = c(i,j)` along its arcs; an arc outside it with `c(i,j) <
//! u(i) + v(j)` closes a cycle around which moving mass pays, until an arc of the tree
//! runs dry and leaves it (Dantzig 1951).
//!
//! **No pivot moves nothing.** Masses `p, q` are solved as `K·p + 1` for every row and
//! `K·q` for every column but the last, which takes `K·q + n`. No part of the rows then
//! weighs as much as a part of the columns, because the ones of fewer than `n` rows are
//! never a multiple of `K > 2n` and those of all rows are in the last column. So no arc
//! of a tree is ever empty, every pivot lowers the cost, and no tree comes back. An arc
//! carries `K·f` and a remainder of at most `n < K/2` in either direction: rounding it to
//! a multiple of `K` gives the plan of the masses themselves, exactly.
//!
//! Pivots are looked for row after row, and the cheapest arc of a row is taken. Ties go to
//! the smaller index, so a problem has one answer on every machine.

use pulp::Arch;

/// No node.
const NONE: u32 = u32::MAX;

/// An arc must gain this share of the largest cost to enter; less is rounding.
const ROUNDING: f64 = 1e-13;

/// `K` for a number of rows.
pub(super) fn factor(rows: usize) -> u64 {
    2 * (rows as u64 + 1)
}

/// Solves problem after problem in the same memory.
///
/// For callers with many problems, who know that their costs are finite and their masses
/// whole numbers above 0 of equal sums, of at most `2⁶² / (2n + 2)`.
/// [`transport`](super::transport::transport) is for everyone else.
#[derive(Debug, Clone, Default)]
pub struct Solver {
    rows: usize,
    columns: usize,
    /// `u` of every row, then `v` of every column: nodes are numbered so throughout.
    potentials: Vec<f64>,
    /// The tree, from row 0 down: who is above a node, how far down it is, and the mass
    /// on the arc between.
    parent: Vec<u32>,
    depth: Vec<u32>,
    mass: Vec<u64>,
    /// The children of a node: the first, and of each child those beside it.
    child: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Nodes still to be visited.
    stack: Vec<u32>,
    start: Start,
}

/// What the first tree is built from.
#[derive(Debug, Clone, Default)]
struct Start {
    supply: Vec<u64>,
    room: Vec<u64>,
    /// The cheapest cost of each column.
    least: Vec<f64>,
    /// Columns with room.
    open: Vec<u32>,
    arcs: Vec<(u32, u32, u64)>,
    /// Half-arcs of each node as a list: the first, and after each the next.
    first: Vec<u32>,
    after: Vec<u32>,
}

/// `values`, `count` times `value`.
fn refill<T: Clone>(values: &mut Vec<T>, count: usize, value: T) {
    values.clear();
    values.resize(count, value);
}

impl Start {
    /// Every row in turn sends to the columns that are cheapest for it beside what they
    /// cost others. Each arc uses up a row or a column, never both, so that all arcs
    /// together are a tree.
    #[inline(always)]
    fn fill(&mut self, costs: &[f64], supply: &[u64], demand: &[u64]) {
        let (n, m) = (supply.len(), demand.len());
        let k = factor(n);
        self.supply.clear();
        self.supply.extend(supply.iter().map(|mass| k * mass + 1));
        self.room.clear();
        self.room.extend(demand.iter().map(|mass| k * mass));
        if let Some(last) = self.room.last_mut() {
            *last += n as u64;
        }
        refill(&mut self.least, m, f64::INFINITY);
        for row in costs.chunks_exact(m) {
            for (least, &cost) in self.least.iter_mut().zip(row) {
                *least = if cost < *least { cost } else { *least };
            }
        }
        self.open.clear();
        self.open.extend(0..m as u32);
        self.arcs.clear();
        for (row, costs) in costs.chunks_exact(m).enumerate() {
            while self.supply[row] > 0 {
                let mut best = (f64::INFINITY, 0);
                for (at, &column) in self.open.iter().enumerate() {
                    let regret = costs[column as usize] - self.least[column as usize];
                    if regret < best.0 {
                        best = (regret, at);
                    }
                }
                let column = self.open[best.1] as usize;
                let mass = self.supply[row].min(self.room[column]);
                self.supply[row] -= mass;
                self.room[column] -= mass;
                self.arcs.push((row as u32, column as u32, mass));
                if self.room[column] == 0 {
                    self.open.remove(best.1);
                }
            }
        }
    }

    /// Lists the arcs of every node.
    fn link(&mut self, n: usize, m: usize) {
        refill(&mut self.first, n + m, NONE);
        refill(&mut self.after, 2 * self.arcs.len(), NONE);
        for (arc, &(row, column, _)) in self.arcs.iter().enumerate() {
            for (half, node) in [(2 * arc, row as usize), (2 * arc + 1, n + column as usize)] {
                self.after[half] = self.first[node];
                self.first[node] = half as u32;
            }
        }
    }
}

impl Solver {
    /// The cost of an optimal plan, for masses scaled to a sum of 1. `costs` are
    /// `supply.len() × demand.len()` finite numbers, row after row.
    pub fn solve(&mut self, costs: &[f64], supply: &[u64], demand: &[u64]) -> f64 {
        (self.rows, self.columns) = (supply.len(), demand.len());
        debug_assert_eq!(costs.len(), self.rows * self.columns);
        debug_assert_eq!(supply.iter().sum::<u64>(), demand.iter().sum::<u64>());
        debug_assert!(supply.iter().chain(demand).all(|&mass| mass > 0));
        // Most of the time goes into looking along rows, which wide vectors do in half of it.
        Arch::new().dispatch(|| {
            self.start.fill(costs, supply, demand);
            self.start.link(self.rows, self.columns);
            self.grow();
            loop {
                self.set_potentials(costs);
                if self.improve(costs) == 0 {
                    break;
                }
            }
        });
        let total: u64 = demand.iter().sum();
        let flows = self.flows();
        flows.map(|(i, j, mass)| mass as f64 * costs[i * demand.len() + j]).sum::<f64>()
            / total as f64
    }

    /// Where the last solution sends how much: `(row, column, mass)`, some of mass 0.
    pub(super) fn flows(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        let (n, k) = (self.rows, factor(self.rows));
        (1..n + self.columns).map(move |node| {
            let above = self.parent[node] as usize;
            let mass = (self.mass[node] + k / 2) / k;
            if node < n { (node, above - n, mass) } else { (above, node - n, mass) }
        })
    }

    /// `u` and `v` of the last solution.
    pub(super) fn potentials(&self) -> (&[f64], &[f64]) {
        self.potentials.split_at(self.rows)
    }

    /// Hangs the first arcs from row 0.
    fn grow(&mut self) {
        let (n, nodes) = (self.rows, self.rows + self.columns);
        for links in [&mut self.parent, &mut self.child, &mut self.next, &mut self.previous] {
            refill(links, nodes, NONE);
        }
        refill(&mut self.depth, nodes, 0);
        refill(&mut self.mass, nodes, 0);
        refill(&mut self.potentials, nodes, 0.0);
        self.stack.clear();
        self.stack.push(0);
        while let Some(node) = self.stack.pop() {
            let node = node as usize;
            let mut half = self.start.first[node];
            while half != NONE {
                let (row, column, mass) = self.start.arcs[half as usize / 2];
                let other = if half.is_multiple_of(2) { n + column as usize } else { row as usize };
                if other as u32 != self.parent[node] {
                    self.mass[other] = mass;
                    self.depth[other] = self.depth[node] + 1;
                    self.attach(other, node);
                    self.stack.push(other as u32);
                }
                half = self.start.after[half as usize];
            }
        }
    }

    /// Computes all potentials anew, from row 0 down; steps on the way leave rounding.
    fn set_potentials(&mut self, costs: &[f64]) {
        let (n, m) = (self.rows, self.columns);
        self.potentials[0] = 0.0;
        self.stack.clear();
        self.stack.push(0);
        while let Some(node) = self.stack.pop() {
            let node = node as usize;
            let mut child = self.child[node];
            while child != NONE {
                let below = child as usize;
                let (row, column) = if below < n { (below, node - n) } else { (node, below - n) };
                self.potentials[below] = costs[row * m + column] - self.potentials[node];
                self.stack.push(child);
                child = self.next[below];
            }
        }
    }

    /// Pivots until no row has an arc that pays, or rounding may have built up; how many.
    #[inline(always)]
    fn improve(&mut self, costs: &[f64]) -> usize {
        let (n, m) = (self.rows, self.columns);
        let largest = costs.iter().fold(0.0f64, |most, cost| most.max(cost.abs()));
        let enough = -ROUNDING * largest;
        let (mut pivots, mut row, mut without) = (0, 0, 0);
        while without < n && pivots < 16 * (n + m) {
            let costs = &costs[row * m..][..m];
            let (u, v) = self.potentials.split_at(n);
            let least = least_difference(costs, v);
            let reduced = least - u[row];
            let gains = reduced < enough;
            let at =
                if gains { costs.iter().zip(v).position(|(c, v)| c - v == least) } else { None };
            match at {
                Some(column) => {
                    self.pivot(row, n + column, reduced);
                    (pivots, without) = (pivots + 1, 0);
                }
                None => without += 1,
            }
            row = if row + 1 == n { 0 } else { row + 1 };
        }
        pivots
    }

    /// Takes the arc between the nodes `row` and `column` into the tree.
    fn pivot(&mut self, row: usize, column: usize, reduced: f64) {
        let n = self.rows;
        // Around the cycle, arcs take turns in losing and gaining: above the row, those
        // of rows lose; above the column, those of columns. The emptiest loser leaves.
        let (mut a, mut b) = (row, column);
        let (mut moved, mut leaving) = (u64::MAX, row);
        let mut above_row = true;
        while a != b {
            if self.depth[a] >= self.depth[b] {
                if a < n && self.mass[a] < moved {
                    (moved, leaving, above_row) = (self.mass[a], a, true);
                }
                a = self.parent[a] as usize;
            } else {
                if b >= n && self.mass[b] < moved {
                    (moved, leaving, above_row) = (self.mass[b], b, false);
                }
                b = self.parent[b] as usize;
            }
        }
        let join = a;
        for (mut node, rows_lose) in [(row, true), (column, false)] {
            while node != join {
                let loses = (node < n) == rows_lose;
                self.mass[node] =
                    if loses { self.mass[node] - moved } else { self.mass[node] + moved };
                node = self.parent[node] as usize;
            }
        }
        // What hung from the leaving arc now hangs from the new one.
        let (top, onto) = if above_row { (row, column) } else { (column, row) };
        let (mut node, mut above, mut mass) = (top, onto, moved);
        loop {
            let (old_above, old_mass) = (self.parent[node] as usize, self.mass[node]);
            self.detach(node);
            self.attach(node, above);
            self.mass[node] = mass;
            if node == leaving {
                break;
            }
            (node, above, mass) = (old_above, node, old_mass);
        }
        self.shift(top, if above_row { reduced } else { -reduced });
    }

    /// Adds `by` to all rows below and at `top`, takes it from all columns, and counts
    /// depths anew.
    fn shift(&mut self, top: usize, by: f64) {
        self.depth[top] = self.depth[self.parent[top] as usize] + 1;
        self.stack.clear();
        self.stack.push(top as u32);
        while let Some(node) = self.stack.pop() {
            let node = node as usize;
            self.potentials[node] += if node < self.rows { by } else { -by };
            let mut child = self.child[node];
            while child != NONE {
                self.depth[child as usize] = self.depth[node] + 1;
                self.stack.push(child);
                child = self.next[child as usize];
            }
        }
    }

    fn attach(&mut self, node: usize, above: usize) {
        let first = self.child[above];
        (self.next[node], self.previous[node]) = (first, NONE);
        if first != NONE {
            self.previous[first as usize] = node as u32;
        }
        self.child[above] = node as u32;
        self.parent[node] = above as u32;
    }

    fn detach(&mut self, node: usize) {
        let (previous, next) = (self.previous[node], self.next[node]);
        match previous {
            NONE => self.child[self.parent[node] as usize] = next,
            _ => self.next[previous as usize] = next,
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }
}

/// The smallest `a − b`, four at a time.
#[inline(always)]
fn least_difference(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 4];
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    for (a, b) in a4.iter().zip(b4) {
        for lane in 0..4 {
            let difference = a[lane] - b[lane];
            lanes[lane] = if difference < lanes[lane] { difference } else { lanes[lane] };
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a - b);
    lanes.into_iter().chain(rest).fold(f64::INFINITY, f64::min)
}
