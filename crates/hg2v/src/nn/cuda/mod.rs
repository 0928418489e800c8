//! An NVIDIA GPU as a [`Device`].
//!
//! Everything happens on one stream, in the order it is asked for: products by
//! cuBLAS, all else by our own kernels, which NVRTC compiles when the GPU is opened
//! (their source is in the `.cu` files here, one a group of operators). No sum is
//! made by atomics, so the same work gives the same bits every time.
//!
//! The operators return nothing, and a GPU can fail at any of them. It remembers
//! its first failure and does nothing after; [`Device::health`] says what it was.
//! Whoever waits for results asks: the trainer after every step, whose losses it
//! waits for anyway.

#![allow(unsafe_code)]

mod driver;
mod memory;
mod pairs;
mod placed;
mod product;
mod relations;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use hg2v_math::adam::{BETA_1, BETA_2, EPSILON};

use self::driver::{Gpu, Shape, launch};
use self::memory::{Room, Staging};
pub(crate) use self::pairs::Losses;
pub(crate) use self::placed::{Placed, Store};
use self::product::{Factor, Scratch};
use super::batch::Batch;
use super::dense::Activation;
use super::device::{DenseSpan, Device, Panel, PanelMut, Rows, Window};
use super::machine::Precision;
use super::pairs::{LevelLoss, Loss, Negatives};
use super::readout::Readout;
use crate::error::Result;

/// Columns that a block of `krylov_graphs` has.
const KRYLOV_COLUMNS: usize = 8;

/// An NVIDIA GPU.
#[derive(Clone)]
pub struct Cuda {
    gpu: Arc<Gpu>,
    precision: Precision,
    /// Whether a row of a product must not depend on how many there are.
    steady: bool,
    transfer: Arc<Mutex<Transfer>>,
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}", self.describe(), self.precision)
    }
}

/// What is used on the way to the GPU and back.
#[derive(Default)]
struct Transfer {
    staging: Staging,
    /// Numbers that have arrived, or are to leave.
    parcel: Room<f32>,
    scratch: Scratch,
    /// Graphs side by side, before they leave.
    together: Batch,
}

/// Numbers on the GPU.
#[derive(Default)]
pub struct Buffer(Room<f32>);

impl Cuda {
    /// Opens GPU number `ordinal`.
    ///
    /// # Errors
    /// No driver, NVRTC or cuBLAS on this machine; no such GPU; one that is too old,
    /// or whose memory is full.
    pub fn open(ordinal: usize, precision: Precision) -> Result<Cuda> {
        let gpu = Arc::new(Gpu::open(ordinal)?);
        Ok(Cuda { gpu, precision, steady: false, transfer: Arc::default() })
    }

    /// The same GPU, with products in which a row does not depend on how many others
    /// there are: a graph then has the same vector alone and among others.
    pub fn steady(&self) -> Cuda {
        Cuda { steady: true, ..self.clone() }
    }

    /// A buffer with these numbers.
    pub fn uploaded(&self, numbers: &[f32]) -> Buffer {
        let mut buffer = self.zeros(numbers.len());
        self.upload(&[numbers], PanelMut(&mut buffer, Window::whole(0, 1, numbers.len())));
        buffer
    }

    /// Its number and what its maker calls it.
    pub fn describe(&self) -> String {
        self.gpu.describe()
    }

    /// Bytes of its memory that are in use, by anyone.
    pub fn memory_in_use(&self) -> usize {
        let (free, all) = self.gpu.memory();
        all - free
    }

    /// Waits until all work given is done.
    pub fn wait(&self) {
        self.gpu.wait();
    }

    fn transfer(&self) -> MutexGuard<'_, Transfer> {
        // What is in there is written before it is read: a panic elsewhere spoils nothing.
        self.transfer.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn copy(&self, from: (u64, usize), to: (u64, usize), rows: usize, columns: usize) {
        launch!(
            self.gpu,
            copy,
            Shape::elements(rows, columns),
            from.0,
            from.1 as u64,
            to.0,
            to.1 as u64,
            rows as u32,
            columns as u32,
        );
    }

    /// All hops, forwards or backwards.
    fn hops(
        &self,
        (placed, level): (&Placed, usize),
        Rows { width, hops, stride }: Rows,
        k: &mut Buffer,
        backward: bool,
    ) {
        let level = placed.levels[level];
        let at = level.arrays;
        let (offsets, targets) = (placed.at(at.offsets), placed.at(at.targets));
        let (values, k) = (placed.at(at.values), k.0.at(0));
        // Two blocks of a graph's columns at a time.
        let shared = 2 * KRYLOV_COLUMNS * level.largest * size_of::<f32>();
        if shared <= self.gpu.shared {
            let rows = level.largest.next_power_of_two().clamp(4, 128);
            let shape = Shape {
                grid: (placed.graphs as u32, width.div_ceil(KRYLOV_COLUMNS) as u32),
                block: (KRYLOV_COLUMNS as u32, rows as u32),
                shared: shared as u32,
            };
            launch!(
                self.gpu,
                krylov_graphs,
                shape,
                placed.at(at.graphs),
                offsets,
                targets,
                values,
                width as u32,
                hops as u32,
                stride as u64,
                u32::from(backward),
                k,
            );
            return;
        }
        for hop in 1..=hops {
            let (from, to) = if backward { (hops - hop + 1, hops - hop) } else { (hop - 1, hop) };
            launch!(
                self.gpu,
                krylov_hop,
                Shape::elements(level.nodes, width),
                offsets,
                targets,
                values,
                level.nodes as u32,
                width as u32,
                stride as u64,
                from as u32,
                to as u32,
                u32::from(backward),
                k,
            );
        }
    }
}

/// The address of a panel, and the way from row to row.
fn at(buffer: &Buffer, window: Window) -> (u64, usize) {
    (buffer.0.at(window.offset), window.stride)
}

fn number(activation: Activation) -> u32 {
    match activation {
        Activation::Linear => 0,
        Activation::Relu => 1,
        Activation::Tanh => 2,
    }
}

fn readout_number(kind: Readout) -> u32 {
    match kind {
        Readout::Sum => 0,
        Readout::Max => 1,
        Readout::Mean => 2,
    }
}

impl Device for Cuda {
    type Real = f32;
    type Buffer = Buffer;
    type Placed = Placed;
    type Losses = Losses;
    type Store = Store;

    fn health(&self) -> Result<()> {
        self.gpu.health()
    }

    fn store(&self, parts: &[(&Batch, &[f32])]) -> Option<Store> {
        let batch = Batch::concat(parts.iter().map(|part| part.0));
        let features: Vec<f32> = parts.iter().flat_map(|part| part.1.iter().copied()).collect();
        Store::new(&self.gpu, &mut self.transfer().staging, &batch, &features)
    }

    fn place_stored(&self, store: &Store, chosen: &[u32], to: &mut Placed) -> Vec<usize> {
        store.gather(&self.gpu, &mut self.transfer().staging, chosen, to);
        to.levels.iter().map(|level| level.nodes).collect()
    }

    fn upload_stored(
        &self,
        store: &Store,
        batch: &Placed,
        PanelMut(to, window): PanelMut<'_, Buffer>,
    ) {
        let (to, stride) = at(to, window);
        store.gather_features(&self.gpu, batch, to, stride);
    }

    fn place(&self, graphs: &[&Batch], to: &mut Placed) {
        let Transfer { staging, together, .. } = &mut *self.transfer();
        together.concat_from(graphs.iter().copied());
        to.fill(&self.gpu, staging, together);
    }

    fn new_place(&self) -> Placed {
        Placed::default()
    }

    fn zeros(&self, len: usize) -> Buffer {
        let mut buffer = Buffer::default();
        self.reserve(&mut buffer, len);
        self.gpu.zero(buffer.0.at(0), len * size_of::<f32>());
        buffer
    }

    fn reserve(&self, buffer: &mut Buffer, len: usize) {
        buffer.0.reserve(&self.gpu, len);
    }

    fn upload(&self, from: &[&[f32]], PanelMut(to, window): PanelMut<'_, Buffer>) {
        let (to, stride) = at(to, window);
        let whole = window.rows == 1 || stride == window.columns;
        let Transfer { staging, parcel, .. } = &mut *self.transfer();
        let len = from.iter().map(|piece| piece.len()).sum();
        parcel.reserve(&self.gpu, if whole { 0 } else { len });
        staging.send(&self.gpu, if whole { to } else { parcel.at(0) }, len, |mut words| {
            for piece in from {
                let (here, rest) = words.split_at_mut(piece.len());
                here.iter_mut().zip(*piece).for_each(|(word, value)| *word = value.to_bits());
                words = rest;
            }
        });
        if !whole {
            self.copy((parcel.at(0), window.columns), (to, stride), window.rows, window.columns);
        }
    }

    fn download(&self, Panel(from, window): Panel<'_, Buffer>) -> Vec<f32> {
        let mut numbers = vec![0.0; window.len()];
        let (from, stride) = at(from, window);
        if window.rows == 1 || stride == window.columns {
            self.gpu.fetch(from, &mut numbers);
        } else {
            let parcel = &mut self.transfer().parcel;
            parcel.reserve(&self.gpu, numbers.len());
            let to = (parcel.at(0), window.columns);
            self.copy((from, stride), to, window.rows, window.columns);
            self.gpu.fetch(to.0, &mut numbers);
        }
        numbers
    }

    fn clear(&self, PanelMut(to, window): PanelMut<'_, Buffer>) {
        self.copy((0, 0), at(to, window), window.rows, window.columns);
    }

    fn krylov(&self, level: (&Placed, usize), rows: Rows, k: &mut Buffer) {
        self.hops(level, rows, k, false);
    }

    fn krylov_vjp(&self, level: (&Placed, usize), rows: Rows, dk: &mut Buffer) {
        self.hops(level, rows, dk, true);
    }

    fn relations(&self, placed: &Placed, rows: Rows, c: Panel<'_, Buffer>, k: &mut Buffer) {
        self.relations_hop(placed, rows, c, k, false);
    }

    fn relations_vjp_c(
        &self,
        placed: &Placed,
        rows: Rows,
        k: &Buffer,
        dk: &Buffer,
        dc: PanelMut<'_, Buffer>,
    ) {
        self.relations_sums(placed, rows, (k, dk), dc);
    }

    fn relations_vjp_g(&self, placed: &Placed, rows: Rows, c: Panel<'_, Buffer>, dk: &mut Buffer) {
        self.relations_hop(placed, rows, c, dk, true);
    }

    fn dense(
        &self,
        layer: DenseSpan,
        parameters: &Buffer,
        Panel(x, x_window): Panel<'_, Buffer>,
        PanelMut(y, window): PanelMut<'_, Buffer>,
    ) {
        let (w, y) = (Factor::new(at(parameters, layer.weight)), at(y, window));
        let shape = [window.rows, window.columns, x_window.columns];
        if self.steady {
            self.steady_product(shape, at(x, x_window), w, y);
        } else {
            self.product(shape, Factor::new(at(x, x_window)), w, 0.0, y);
        }
        let bias = match layer.bias.columns {
            0 => 0,
            _ => at(parameters, layer.bias).0,
        };
        if bias != 0 || layer.activation != Activation::Linear {
            launch!(
                self.gpu,
                activate,
                Shape::elements(window.rows, window.columns),
                y.0,
                y.1 as u64,
                window.rows as u32,
                window.columns as u32,
                bias,
                number(layer.activation),
            );
        }
    }

    fn dense_vjp(
        &self,
        layer: DenseSpan,
        parameters: &Buffer,
        Panel(x, x_window): Panel<'_, Buffer>,
        Panel(y, y_window): Panel<'_, Buffer>,
        PanelMut(dy, window): PanelMut<'_, Buffer>,
        gradients: &mut Buffer,
        dx: Option<PanelMut<'_, Buffer>>,
    ) {
        let (rows, columns, inner) = (window.rows, window.columns, x_window.columns);
        let (y, dy) = (at(y, y_window), at(dy, window));
        if layer.activation != Activation::Linear {
            launch!(
                self.gpu,
                activate_vjp,
                Shape::elements(rows, columns),
                dy.0,
                dy.1 as u64,
                y.0,
                y.1 as u64,
                rows as u32,
                columns as u32,
                number(layer.activation),
            );
        }
        let dw = at(gradients, layer.weight);
        let da = Factor::new(dy);
        self.product([inner, columns, rows], Factor::new(at(x, x_window)).t(), da, 0.0, dw);
        if layer.bias.columns > 0 {
            launch!(
                self.gpu,
                column_sums,
                Shape { grid: (columns.div_ceil(8) as u32, 1), block: (8, 128), shared: 0 },
                dy.0,
                dy.1 as u64,
                rows as u32,
                columns as u32,
                at(gradients, layer.bias).0,
            );
        }
        if let Some(PanelMut(dx, dx_window)) = dx {
            let w = Factor::new(at(parameters, layer.weight)).t();
            self.product([rows, inner, columns], da, w, 0.0, at(dx, dx_window));
        }
    }

    fn pool(
        &self,
        (placed, level): (&Placed, usize),
        Panel(h, h_window): Panel<'_, Buffer>,
        PanelMut(p, p_window): PanelMut<'_, Buffer>,
    ) {
        let arrays = placed.levels[level].arrays;
        let (h, p) = (at(h, h_window), at(p, p_window));
        launch!(
            self.gpu,
            pool,
            Shape::elements(p_window.rows, p_window.columns),
            placed.at(arrays.starts),
            placed.at(arrays.order),
            p_window.rows as u32,
            p_window.columns as u32,
            h.0,
            h.1 as u64,
            p.0,
            p.1 as u64,
        );
    }

    fn pool_vjp(
        &self,
        (placed, level): (&Placed, usize),
        Panel(dp, dp_window): Panel<'_, Buffer>,
        PanelMut(dh, dh_window): PanelMut<'_, Buffer>,
    ) {
        let (dp, dh) = (at(dp, dp_window), at(dh, dh_window));
        launch!(
            self.gpu,
            pool_vjp,
            Shape::elements(dh_window.rows, dh_window.columns),
            placed.at(placed.levels[level].arrays.parents),
            dh_window.rows as u32,
            dh_window.columns as u32,
            dp.0,
            dp.1 as u64,
            dh.0,
            dh.1 as u64,
        );
    }

    fn pair_loss(
        &self,
        level: (&Placed, usize),
        pairs: (Loss, Negatives),
        drawn: Option<&[u32]>,
        Panel(x, x_window): Panel<'_, Buffer>,
        Panel(g, g_window): Panel<'_, Buffer>,
        PanelMut(dx, dx_window): PanelMut<'_, Buffer>,
        PanelMut(dg, dg_window): PanelMut<'_, Buffer>,
        losses: &mut Losses,
    ) {
        let panels = pairs::Panels {
            shape: [x_window.rows, g_window.rows, x_window.columns],
            x: at(x, x_window),
            g: at(g, g_window),
            dx: at(dx, dx_window),
            dg: at(dg, dg_window),
        };
        self.level_loss(level, pairs, drawn, panels, losses);
    }

    fn take_losses(&self, losses: &mut Losses) -> Vec<LevelLoss> {
        losses.take(&self.gpu)
    }

    fn readout(
        &self,
        (placed, level): (&Placed, usize),
        kind: Readout,
        Panel(v, v_window): Panel<'_, Buffer>,
        PanelMut(out, out_window): PanelMut<'_, Buffer>,
    ) {
        let (v, out) = (at(v, v_window), at(out, out_window));
        let columns = out_window.columns;
        launch!(
            self.gpu,
            readout,
            Shape::graphs(placed.graphs, columns),
            placed.at(placed.levels[level].arrays.graphs),
            columns as u32,
            readout_number(kind),
            v.0,
            v.1 as u64,
            out.0,
            out.1 as u64,
        );
    }

    fn readout_vjp(
        &self,
        (placed, level): (&Placed, usize),
        kind: Readout,
        Panel(v, v_window): Panel<'_, Buffer>,
        Panel(dout, dout_window): Panel<'_, Buffer>,
        PanelMut(dv, dv_window): PanelMut<'_, Buffer>,
    ) {
        let (v, dout, dv) = (at(v, v_window), at(dout, dout_window), at(dv, dv_window));
        let columns = dout_window.columns;
        launch!(
            self.gpu,
            readout_vjp,
            Shape::graphs(placed.graphs, columns),
            placed.at(placed.levels[level].arrays.graphs),
            columns as u32,
            readout_number(kind),
            v.0,
            v.1 as u64,
            dout.0,
            dout.1 as u64,
            dv.0,
            dv.1 as u64,
        );
    }

    fn signed_log(
        &self,
        Panel(e, e_window): Panel<'_, Buffer>,
        PanelMut(y, window): PanelMut<'_, Buffer>,
    ) {
        let (e, y) = (at(e, e_window), at(y, window));
        launch!(
            self.gpu,
            signed_log,
            Shape::elements(window.rows, window.columns),
            e.0,
            e.1 as u64,
            y.0,
            y.1 as u64,
            window.rows as u32,
            window.columns as u32,
        );
    }

    fn signed_log_vjp(
        &self,
        Panel(e, e_window): Panel<'_, Buffer>,
        PanelMut(d, window): PanelMut<'_, Buffer>,
    ) {
        let (e, d) = (at(e, e_window), at(d, window));
        launch!(
            self.gpu,
            signed_log_vjp,
            Shape::elements(window.rows, window.columns),
            e.0,
            e.1 as u64,
            d.0,
            d.1 as u64,
            window.rows as u32,
            window.columns as u32,
        );
    }

    fn adam(
        &self,
        rate: f64,
        step: u64,
        theta: &mut Buffer,
        g: &Buffer,
        m: &mut Buffer,
        v: &mut Buffer,
    ) {
        let n = theta.0.len();
        let t = step as f64;
        let correction = (1.0 - BETA_2.powf(t)).sqrt();
        launch!(
            self.gpu,
            adam,
            Shape { grid: (n.div_ceil(256) as u32, 1), block: (256, 1), shared: 0 },
            n as u64,
            (rate * correction / (1.0 - BETA_1.powf(t))) as f32,
            (EPSILON * correction) as f32,
            BETA_1 as f32,
            (1.0 - BETA_1) as f32,
            BETA_2 as f32,
            (1.0 - BETA_2) as f32,
            theta.0.at(0),
            g.0.at(0),
            m.0.at(0),
            v.0.at(0),
        );
    }
}
