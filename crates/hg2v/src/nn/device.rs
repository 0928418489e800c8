//! Where a network runs: the operators, behind one small trait.
//!
//! A device keeps numbers in its own buffers; the network says which windows of
//! which buffers an operator reads and writes, and never looks inside. A device may
//! be ahead of its caller: only what is read from it is waited for.

use std::convert::Infallible;
use std::marker::PhantomData;

use super::batch::Batch;
use super::dense::{Activation, Gradients};
use super::gemm::{View, ViewMut};
use super::pairs::{LevelLoss, Negatives, Score};
use super::readout::Readout;
use super::{Real, adam, crew, dense, krylov, pairs, pool, readout};
use crate::error::Result;

/// A matrix within a buffer: `rows × columns`, each row `stride` after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Where the first row begins.
    pub offset: usize,
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
    /// From one row to the next.
    pub stride: usize,
}

impl Window {
    /// All columns of a matrix that starts at `offset`.
    pub fn whole(offset: usize, rows: usize, columns: usize) -> Window {
        Window { offset, rows, columns, stride: columns }
    }

    /// Some of its columns.
    pub fn columns(self, start: usize, columns: usize) -> Window {
        assert!(start + columns <= self.columns);
        Window { offset: self.offset + start, columns, ..self }
    }

    /// Numbers in it.
    pub fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A matrix on a device, to read.
#[derive(Debug)]
pub struct Panel<'a, B>(pub &'a B, pub Window);

impl<B> Clone for Panel<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Panel<'_, B> {}

/// A matrix on a device, to write.
#[derive(Debug)]
pub struct PanelMut<'a, B>(pub &'a mut B, pub Window);

/// A dense layer's parameters within the buffer of all parameters (or of all
/// gradients, which has the same layout).
#[derive(Debug, Clone, Copy)]
pub struct DenseSpan {
    /// The matrix.
    pub weight: Window,
    /// The bias, one row; without columns where there is none.
    pub bias: Window,
    /// What follows the product.
    pub activation: Activation,
}

/// The operators, on some machine.
pub trait Device: Send + Sync {
    /// Its numbers.
    type Real: Real;
    /// Its memory.
    type Buffer: Send;
    /// A batch in its memory.
    type Placed: Send;
    /// Losses in its memory.
    type Losses: Send + Default;
    /// A whole collection in its memory.
    type Store: Send;

    /// Whether all work so far went well; where it did not, what was read since is
    /// worth nothing.
    ///
    /// # Errors
    /// The first failure, and what to do about it.
    fn health(&self) -> Result<()> {
        Ok(())
    }

    /// Runs a job of many passes.
    fn during<T: Send>(&self, job: impl FnOnce() -> T + Send) -> T {
        job()
    }

    /// Keeps graphs and their features, so that batches need not be sent; `None` where
    /// that gains nothing or does not fit.
    fn store(&self, _: &[(&Batch, &[Self::Real])]) -> Option<Self::Store> {
        None
    }
    /// As [`place`](Device::place), a batch of some kept graphs; says how many nodes
    /// each level has, the topmost included.
    fn place_stored(
        &self,
        store: &Self::Store,
        chosen: &[u32],
        to: &mut Self::Placed,
    ) -> Vec<usize>;
    /// As [`upload`](Device::upload), the features of a batch of kept graphs.
    fn upload_stored(
        &self,
        store: &Self::Store,
        batch: &Self::Placed,
        to: PanelMut<'_, Self::Buffer>,
    );

    /// Puts a batch into the device's memory, over `to`.
    fn place(&self, batch: &Batch, to: &mut Self::Placed);
    /// A place for a batch.
    fn new_place(&self) -> Self::Placed;
    /// A buffer of `len` zeros.
    fn zeros(&self, len: usize) -> Self::Buffer;
    /// Makes room for `len` numbers; what they are is not said.
    fn reserve(&self, buffer: &mut Self::Buffer, len: usize);
    /// Writes `from`, row by row, into a panel.
    fn upload(&self, from: &[Self::Real], to: PanelMut<'_, Self::Buffer>);
    /// Reads a panel, row by row.
    fn download(&self, from: Panel<'_, Self::Buffer>) -> Vec<Self::Real>;
    /// Zeros a panel.
    fn clear(&self, to: PanelMut<'_, Self::Buffer>);

    /// [`krylov::forward`] on a level whose rows of `k` are `width·(hops + 1)` long.
    fn krylov(&self, at: (&Self::Placed, usize), width: usize, hops: usize, k: &mut Self::Buffer);
    /// [`krylov::vjp`].
    fn krylov_vjp(
        &self,
        at: (&Self::Placed, usize),
        width: usize,
        hops: usize,
        dk: &mut Self::Buffer,
    );

    /// [`dense::forward`] with the parameters that `layer` spans.
    fn dense(
        &self,
        layer: DenseSpan,
        parameters: &Self::Buffer,
        x: Panel<'_, Self::Buffer>,
        y: PanelMut<'_, Self::Buffer>,
    );
    /// [`dense::vjp`]; `dy` is used up.
    fn dense_vjp(
        &self,
        layer: DenseSpan,
        parameters: &Self::Buffer,
        x: Panel<'_, Self::Buffer>,
        y: Panel<'_, Self::Buffer>,
        dy: PanelMut<'_, Self::Buffer>,
        gradients: &mut Self::Buffer,
        dx: Option<PanelMut<'_, Self::Buffer>>,
    );

    /// [`pool::forward`].
    fn pool(
        &self,
        at: (&Self::Placed, usize),
        h: Panel<'_, Self::Buffer>,
        p: PanelMut<'_, Self::Buffer>,
    );
    /// [`pool::vjp`].
    fn pool_vjp(
        &self,
        at: (&Self::Placed, usize),
        dp: Panel<'_, Self::Buffer>,
        dh: PanelMut<'_, Self::Buffer>,
    );

    /// [`pairs::loss_and_vjp`]; the loss is left on the device.
    fn pair_loss(
        &self,
        at: (&Self::Placed, usize),
        pairs: (Score, Negatives),
        x: Panel<'_, Self::Buffer>,
        g: Panel<'_, Self::Buffer>,
        dx: PanelMut<'_, Self::Buffer>,
        dg: PanelMut<'_, Self::Buffer>,
        losses: &mut Self::Losses,
    );
    /// The losses left there, finest level first; none are left after.
    fn take_losses(&self, losses: &mut Self::Losses) -> Vec<LevelLoss>;

    /// [`readout::forward`] on any level, the topmost included.
    fn readout(
        &self,
        at: (&Self::Placed, usize),
        kind: Readout,
        v: Panel<'_, Self::Buffer>,
        out: PanelMut<'_, Self::Buffer>,
    );
    /// [`readout::vjp`].
    fn readout_vjp(
        &self,
        at: (&Self::Placed, usize),
        kind: Readout,
        v: Panel<'_, Self::Buffer>,
        dout: Panel<'_, Self::Buffer>,
        dv: PanelMut<'_, Self::Buffer>,
    );

    /// [`adam::step`].
    fn adam(
        &self,
        rate: f64,
        step: u64,
        theta: &mut Self::Buffer,
        g: &Self::Buffer,
        m: &mut Self::Buffer,
        v: &mut Self::Buffer,
    );
}

/// This machine's processor, on the threads of the surrounding pool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu<R>(PhantomData<R>);

impl<R> Cpu<R> {
    /// The processor.
    pub fn new() -> Cpu<R> {
        Cpu(PhantomData)
    }
}

fn view<'a, R: Real>(Panel(buffer, w): Panel<'a, Vec<R>>) -> View<'a, R> {
    View::new(&buffer[w.offset.min(buffer.len())..], w.rows, w.columns, w.stride)
}

fn view_mut<'a, R: Real>(PanelMut(buffer, w): PanelMut<'a, Vec<R>>) -> ViewMut<'a, R> {
    let start = w.offset.min(buffer.len());
    ViewMut::new(&mut buffer[start..], w.rows, w.columns, w.stride)
}

impl<R: Real> Device for Cpu<R> {
    type Real = R;
    type Buffer = Vec<R>;
    type Placed = Batch;
    type Losses = Vec<LevelLoss>;
    type Store = Infallible;

    fn during<T: Send>(&self, job: impl FnOnce() -> T + Send) -> T {
        crew::together(job)
    }

    fn place_stored(&self, store: &Infallible, _: &[u32], _: &mut Batch) -> Vec<usize> {
        match *store {}
    }

    fn upload_stored(&self, store: &Infallible, _: &Batch, _: PanelMut<'_, Vec<R>>) {
        match *store {}
    }

    fn place(&self, batch: &Batch, to: &mut Batch) {
        to.concat_from([batch]);
    }

    fn new_place(&self) -> Batch {
        Batch::default()
    }

    fn zeros(&self, len: usize) -> Vec<R> {
        vec![R::ZERO; len]
    }

    fn reserve(&self, buffer: &mut Vec<R>, len: usize) {
        if buffer.len() < len {
            *buffer = Vec::new();
            *buffer = vec![R::ZERO; len];
        }
    }

    fn upload(&self, from: &[R], to: PanelMut<'_, Vec<R>>) {
        let columns = to.1.columns.max(1);
        let mut to = view_mut(to);
        to.rows_mut().zip(from.chunks_exact(columns)).for_each(|(to, x)| to.copy_from_slice(x));
    }

    fn download(&self, from: Panel<'_, Vec<R>>) -> Vec<R> {
        let from = view(from);
        (0..from.rows()).flat_map(|row| from.row(row).iter().copied()).collect()
    }

    fn clear(&self, to: PanelMut<'_, Vec<R>>) {
        view_mut(to).rows_mut().for_each(|row| row.fill(R::ZERO));
    }

    fn krylov(&self, (batch, level): (&Batch, usize), width: usize, hops: usize, k: &mut Vec<R>) {
        let level = &batch.levels[level];
        let len = level.num_nodes() * width * (hops + 1);
        krylov::forward(level, width, hops, &mut k[..len]);
    }

    fn krylov_vjp(
        &self,
        (batch, level): (&Batch, usize),
        width: usize,
        hops: usize,
        dk: &mut Vec<R>,
    ) {
        let level = &batch.levels[level];
        let len = level.num_nodes() * width * (hops + 1);
        krylov::vjp(level, width, hops, &mut dk[..len]);
    }

    fn dense(
        &self,
        layer: DenseSpan,
        parameters: &Vec<R>,
        x: Panel<'_, Vec<R>>,
        y: PanelMut<'_, Vec<R>>,
    ) {
        let bias = &parameters[layer.bias.offset..][..layer.bias.columns];
        let weight = view(Panel(parameters, layer.weight));
        dense::forward(layer.activation, view(x), weight, bias, view_mut(y));
    }

    fn dense_vjp(
        &self,
        layer: DenseSpan,
        parameters: &Vec<R>,
        x: Panel<'_, Vec<R>>,
        y: Panel<'_, Vec<R>>,
        dy: PanelMut<'_, Vec<R>>,
        gradients: &mut Vec<R>,
        dx: Option<PanelMut<'_, Vec<R>>>,
    ) {
        let weight = view(Panel(parameters, layer.weight));
        // A layer's bias comes after its matrix.
        let (head, tail) = gradients.split_at_mut(layer.bias.offset);
        let w = layer.weight;
        let out = Gradients {
            dw: ViewMut::new(&mut head[w.offset..], w.rows, w.columns, w.stride),
            db: &mut tail[..layer.bias.columns],
            dx: dx.map(view_mut),
        };
        dense::vjp(layer.activation, view(x), weight, view(y), view_mut(dy), out);
    }

    fn pool(&self, (batch, level): (&Batch, usize), h: Panel<'_, Vec<R>>, p: PanelMut<'_, Vec<R>>) {
        pool::forward(&batch.levels[level], view(h), view_mut(p));
    }

    fn pool_vjp(
        &self,
        (batch, level): (&Batch, usize),
        dp: Panel<'_, Vec<R>>,
        dh: PanelMut<'_, Vec<R>>,
    ) {
        pool::vjp(&batch.levels[level], view(dp), view_mut(dh));
    }

    fn pair_loss(
        &self,
        (batch, level): (&Batch, usize),
        (score, negatives): (Score, Negatives),
        x: Panel<'_, Vec<R>>,
        g: Panel<'_, Vec<R>>,
        dx: PanelMut<'_, Vec<R>>,
        dg: PanelMut<'_, Vec<R>>,
        losses: &mut Vec<LevelLoss>,
    ) {
        let above = batch.graphs(level + 1);
        let level = &batch.levels[level];
        let (dx, dg) = (view_mut(dx), view_mut(dg));
        losses.push(pairs::loss_and_vjp(score, negatives, level, above, view(x), view(g), dx, dg));
    }

    fn take_losses(&self, losses: &mut Vec<LevelLoss>) -> Vec<LevelLoss> {
        // The backward pass goes from the top down.
        let mut losses = std::mem::take(losses);
        losses.reverse();
        losses
    }

    fn readout(
        &self,
        (batch, level): (&Batch, usize),
        kind: Readout,
        v: Panel<'_, Vec<R>>,
        out: PanelMut<'_, Vec<R>>,
    ) {
        readout::forward(kind, batch.graphs(level), view(v), view_mut(out));
    }

    fn readout_vjp(
        &self,
        (batch, level): (&Batch, usize),
        kind: Readout,
        v: Panel<'_, Vec<R>>,
        dout: Panel<'_, Vec<R>>,
        dv: PanelMut<'_, Vec<R>>,
    ) {
        readout::vjp(kind, batch.graphs(level), view(v), view(dout), view_mut(dv));
    }

    fn adam(
        &self,
        rate: f64,
        step: u64,
        theta: &mut Vec<R>,
        g: &Vec<R>,
        m: &mut Vec<R>,
        v: &mut Vec<R>,
    ) {
        adam::step(rate, step, theta, g, m, v);
    }
}
