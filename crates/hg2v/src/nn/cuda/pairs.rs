//! The pair loss on the GPU: logits tile by tile, as in [`crate::nn::pairs`].

use super::Cuda;
use super::driver::{Gpu, Shape, launch};
use super::memory::Room;
use super::placed::Placed;
use super::product::Factor;
use crate::nn::pairs::{LevelLoss, Loss, Negatives};

/// Logits of a tile: 32 MiB, which the newest GPUs keep in their second cache.
const TILE: usize = 1 << 23;

/// Most levels whose losses wait.
const LEVELS: usize = 32;

/// Losses on the GPU, and the memory they are made in.
#[derive(Default)]
pub struct Losses {
    /// How many levels' losses wait, topmost first.
    waiting: usize,
    /// Two parts a level.
    totals: Room<f64>,
    /// Two parts a node.
    rows: Room<f64>,
    blocks_done: Room<u32>,
    tile: Room<f32>,
    units: Room<f32>,
    /// The super-nodes that were drawn, their rows and the gradients of these, and those of the
    /// positive pairs.
    drawn: Room<u32>,
    drawn_rows: Room<f32>,
    positives: Room<f32>,
}

impl Losses {
    /// The losses that wait, finest level first; none wait after.
    pub(super) fn take(&mut self, gpu: &Gpu) -> Vec<LevelLoss> {
        let mut totals = vec![0.0; 2 * self.waiting];
        gpu.fetch(self.totals.at(0), &mut totals);
        self.waiting = 0;
        let loss = |parts: &[f64]| LevelLoss { positive: parts[0], negative: parts[1] };
        totals.chunks_exact(2).rev().map(loss).collect()
    }

    fn begin(&mut self, gpu: &Gpu) {
        if self.totals.len() == 0 {
            self.totals.reserve(gpu, 2 * LEVELS);
            self.blocks_done.reserve(gpu, 1);
            gpu.zero(self.blocks_done.at(0), size_of::<u32>());
        }
    }
}

/// A level's neighbourhoods and super-nodes, and where their gradients go; `shape` is
/// `N`, `M`, `d`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panels {
    pub(super) shape: [usize; 3],
    pub(super) x: (u64, usize),
    pub(super) g: (u64, usize),
    pub(super) dx: (u64, usize),
    pub(super) dg: (u64, usize),
}

/// All super-nodes of a level, where some were drawn.
#[derive(Debug, Clone, Copy)]
struct Whole {
    num_parents: usize,
    g: (u64, usize),
}

impl Cuda {
    /// The loss of a level and its gradients.
    pub(super) fn level_loss(
        &self,
        level: (&Placed, usize),
        (loss, negatives): (Loss, Negatives),
        drawn: Option<&[u32]>,
        panels: Panels,
        losses: &mut Losses,
    ) {
        let gpu = &*self.gpu;
        losses.begin(gpu);
        assert!(losses.waiting < LEVELS, "losses are taken after every pass");
        let Loss::Cosine { .. } = loss else {
            return self.scored(level, (loss, negatives), drawn, panels, losses);
        };
        let Panels { shape: [n, m, d], x, g, dx, dg } = panels;
        let mut units = std::mem::take(&mut losses.units);
        units.reserve(gpu, (n + 2 * m) * d + n + m);
        let x_units = (units.at(0), d);
        let g_units = (units.at(n * d), d);
        let dg_units = (units.at((n + m) * d), d);
        let x_norms = units.at((n + 2 * m) * d);
        let g_norms = units.at((n + 2 * m) * d + n);
        for (rows, from, units, norms) in [(n, x, x_units, x_norms), (m, g, g_units, g_norms)] {
            launch!(
                gpu,
                unit_rows,
                Shape::warps(rows),
                from.0,
                from.1 as u64,
                rows as u32,
                d as u32,
                units.0,
                norms,
            );
        }
        self.copy((0, 0), dg_units, m, d);
        let of_units = Panels { x: x_units, g: g_units, dg: dg_units, ..panels };
        self.scored(level, (loss, negatives), drawn, of_units, losses);
        let both = [(n, x_units, x_norms, dx, dx, 0u32), (m, g_units, g_norms, dg_units, dg, 1u32)];
        for (rows, units, norms, from, to, add) in both {
            launch!(
                gpu,
                unit_rows_vjp,
                Shape::warps(rows),
                units.0,
                norms,
                from.0,
                from.1 as u64,
                rows as u32,
                d as u32,
                add,
                to.0,
                to.1 as u64,
            );
        }
        losses.units = units;
    }

    /// The loss and its gradients; `dg` is added to.
    fn scored(
        &self,
        level: (&Placed, usize),
        pairs: (Loss, Negatives),
        drawn: Option<&[u32]>,
        panels: Panels,
        losses: &mut Losses,
    ) {
        let gpu = &*self.gpu;
        let Panels { shape: [n, m, d], x, g, dg, .. } = panels;
        let Some(drawn) = drawn.filter(|_| n > 0) else {
            return self.tiles(level, pairs, panels, None, losses);
        };
        let k = drawn.len();
        losses.drawn.reserve(gpu, k);
        losses.drawn_rows.reserve(gpu, 2 * k * d);
        losses.positives.reserve(gpu, n);
        let chosen = losses.drawn.at(0);
        self.transfer().staging.send(gpu, chosen, k, |words| words.copy_from_slice(drawn));
        let rows = (losses.drawn_rows.at(0), d);
        let d_rows = (losses.drawn_rows.at(k * d), d);
        launch!(
            gpu,
            drawn_rows,
            Shape::elements(k, d),
            g.0,
            g.1 as u64,
            chosen,
            k as u32,
            d as u32,
            rows.0,
        );
        self.copy((0, 0), d_rows, k, d);
        let of_drawn = Panels { shape: [n, k, d], g: rows, dg: d_rows, ..panels };
        self.tiles(level, pairs, of_drawn, Some(Whole { num_parents: m, g }), losses);
        let (placed, level) = level;
        let arrays = placed.levels[level].arrays;
        launch!(
            gpu,
            drawn_rows_vjp,
            Shape::elements(m, d),
            placed.at(arrays.starts),
            placed.at(arrays.order),
            m as u32,
            d as u32,
            losses.positives.at(0),
            x.0,
            x.1 as u64,
            chosen,
            k as u32,
            d_rows.0,
            dg.0,
            dg.1 as u64,
        );
    }

    /// The loss and its gradients in tiles of whole rows; `dg` is added to. Where the super-nodes of
    /// `panels` are those that were drawn, `whole` are all.
    fn tiles(
        &self,
        (placed, level): (&Placed, usize),
        (loss, negatives): (Loss, Negatives),
        panels: Panels,
        whole: Option<Whole>,
        losses: &mut Losses,
    ) {
        let gpu = &*self.gpu;
        let Panels { shape: [n, m, d], x, g, dx, dg } = panels;
        let num_parents = whole.map_or(m, |whole| whole.num_parents);
        // How many super-nodes one that was drawn stands for.
        let each = whole.map_or(1.0, |whole| whole.num_parents as f64 / m as f64);
        let drawn = if whole.is_some() { losses.drawn.at(0) } else { 0 };
        let total = losses.totals.at(2 * losses.waiting);
        losses.waiting += 1;
        if n == 0 {
            return gpu.zero(total, 2 * size_of::<f64>());
        }
        let arrays = placed.levels[level].arrays;
        let (above, num_negatives) = match negatives {
            Negatives::All => (0, n * (num_parents - 1)),
            Negatives::Others => {
                (placed.at(placed.levels[level + 1].arrays.graphs), placed.other_pairs[level])
            }
        };
        let (number, scale) = match loss {
            Loss::Jsd => (0u32, 1f32),
            Loss::InfoNce => (1, 1.0),
            Loss::Cosine { temperature } => (1, (1.0 / temperature) as f32),
        };
        let tile_rows = (TILE / m).clamp(1, n);
        // Rows that begin where tensor cores like them to, with a column for the positive pair.
        let stride = whole.map_or(m, |_| (m + 1).next_multiple_of(8));
        losses.tile.reserve(gpu, tile_rows * stride);
        losses.rows.reserve(gpu, 2 * n);
        let tile = (losses.tile.at(0), stride);
        for start in (0..n).step_by(tile_rows) {
            let rows = tile_rows.min(n - start);
            let from = |(at, stride): (u64, usize)| {
                (at + (start * stride * size_of::<f32>()) as u64, stride)
            };
            let (x_rows, dx) = (from(x), from(dx));
            let x = Factor::new(x_rows);
            self.product([rows, m, d], x, Factor::new(g).t(), 0.0, tile);
            let parents = placed.at(arrays.parents);
            if let Some(Whole { g, .. }) = whole {
                launch!(
                    gpu,
                    positive_column,
                    Shape::warps(rows),
                    tile.0,
                    stride as u64,
                    start as u32,
                    rows as u32,
                    m as u32,
                    parents,
                    x_rows.0,
                    x_rows.1 as u64,
                    g.0,
                    g.1 as u64,
                    d as u32,
                );
            }
            launch!(
                gpu,
                pair_rows,
                Shape::warps(rows),
                tile.0,
                stride as u64,
                start as u32,
                rows as u32,
                m as u32,
                parents,
                num_parents as u32,
                drawn,
                placed.at(arrays.graphs),
                above,
                placed.graphs as u32,
                number,
                scale,
                1.0 / n as f64,
                each / num_negatives.max(1) as f64,
                losses.rows.at(0),
                if start + rows == n { n as u32 } else { 0 },
                losses.blocks_done.at(0),
                total,
            );
            let ds = Factor::new(tile);
            self.product([rows, d, m], ds, Factor::new(g), 0.0, dx);
            if let Some(Whole { g, .. }) = whole {
                launch!(
                    gpu,
                    positive_column_vjp,
                    Shape::warps(rows),
                    tile.0,
                    stride as u64,
                    start as u32,
                    rows as u32,
                    m as u32,
                    parents,
                    g.0,
                    g.1 as u64,
                    d as u32,
                    dx.0,
                    dx.1 as u64,
                    losses.positives.at(0),
                );
            }
            self.product([m, d, rows], ds.t(), x, 1.0, dg);
        }
    }
}
