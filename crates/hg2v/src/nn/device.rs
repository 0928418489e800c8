//! Where a network runs: the operators, behind one small trait.
//!
//! A device keeps numbers in its own buffers; the network says which windows of
//! which buffers an operator reads and writes, and never looks inside. A device may
//! be ahead of its caller: only what is read from it is waited for.

use hg2v_math::Real;

use super::batch::Batch;
use super::dense::Activation;
use super::pairs::{LevelLoss, Loss, Negatives};
use super::readout::Readout;
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

/// The rows of `K` on one level: `hops + 1` blocks of `width` numbers, and one more where the
/// level has relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// `w`: numbers a block.
    pub width: usize,
    /// `a`: how many times `Ã` is multiplied.
    pub hops: usize,
    /// From one row to the next.
    pub stride: usize,
}

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

    /// Puts graphs into the device's memory, side by side, over `to`.
    fn place(&self, graphs: &[&Batch], to: &mut Self::Placed);
    /// A place for a batch.
    fn new_place(&self) -> Self::Placed;
    /// A buffer of `len` zeros.
    fn zeros(&self, len: usize) -> Self::Buffer;
    /// Makes room for `len` numbers; what they are is not said.
    fn reserve(&self, buffer: &mut Self::Buffer, len: usize);
    /// Writes `from`, one piece of whole rows after the other, into a panel.
    fn upload(&self, from: &[&[Self::Real]], to: PanelMut<'_, Self::Buffer>);
    /// Reads a panel, row by row.
    fn download(&self, from: Panel<'_, Self::Buffer>) -> Vec<Self::Real>;
    /// Zeros a panel.
    fn clear(&self, to: PanelMut<'_, Self::Buffer>);

    /// `krylov::forward`.
    fn krylov(&self, at: (&Self::Placed, usize), rows: Rows, k: &mut Self::Buffer);
    /// `krylov::vjp`.
    fn krylov_vjp(&self, at: (&Self::Placed, usize), rows: Rows, dk: &mut Self::Buffer);

    /// `relations::forward` on level 0.
    fn relations(
        &self,
        placed: &Self::Placed,
        rows: Rows,
        c: Panel<'_, Self::Buffer>,
        k: &mut Self::Buffer,
    );
    /// `relations::vjp_c`.
    fn relations_vjp_c(
        &self,
        placed: &Self::Placed,
        rows: Rows,
        k: &Self::Buffer,
        dk: &Self::Buffer,
        dc: PanelMut<'_, Self::Buffer>,
    );
    /// `relations::vjp_g`.
    fn relations_vjp_g(
        &self,
        placed: &Self::Placed,
        rows: Rows,
        c: Panel<'_, Self::Buffer>,
        dk: &mut Self::Buffer,
    );

    /// `dense::forward` with the parameters that `layer` spans.
    fn dense(
        &self,
        layer: DenseSpan,
        parameters: &Self::Buffer,
        x: Panel<'_, Self::Buffer>,
        y: PanelMut<'_, Self::Buffer>,
    );
    /// `dense::vjp`; `dy` is used up.
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

    /// `pool::forward`.
    fn pool(
        &self,
        at: (&Self::Placed, usize),
        h: Panel<'_, Self::Buffer>,
        p: PanelMut<'_, Self::Buffer>,
    );
    /// `pool::vjp`.
    fn pool_vjp(
        &self,
        at: (&Self::Placed, usize),
        dp: Panel<'_, Self::Buffer>,
        dh: PanelMut<'_, Self::Buffer>,
    );

    /// `pairs::loss_and_vjp`; the loss is left on the device.
    fn pair_loss(
        &self,
        at: (&Self::Placed, usize),
        pairs: (Loss, Negatives),
        drawn: Option<&[u32]>,
        x: Panel<'_, Self::Buffer>,
        g: Panel<'_, Self::Buffer>,
        dx: PanelMut<'_, Self::Buffer>,
        dg: PanelMut<'_, Self::Buffer>,
        losses: &mut Self::Losses,
    );
    /// The losses left there, finest level first; none are left after.
    fn take_losses(&self, losses: &mut Self::Losses) -> Vec<LevelLoss>;

    /// `readout::forward` on any level, the topmost included.
    fn readout(
        &self,
        at: (&Self::Placed, usize),
        kind: Readout,
        v: Panel<'_, Self::Buffer>,
        out: PanelMut<'_, Self::Buffer>,
    );
    /// `readout::vjp`.
    fn readout_vjp(
        &self,
        at: (&Self::Placed, usize),
        kind: Readout,
        v: Panel<'_, Self::Buffer>,
        dout: Panel<'_, Self::Buffer>,
        dv: PanelMut<'_, Self::Buffer>,
    );

    /// `signed_log::forward`.
    fn signed_log(&self, e: Panel<'_, Self::Buffer>, y: PanelMut<'_, Self::Buffer>);
    /// `signed_log::vjp`.
    fn signed_log_vjp(&self, e: Panel<'_, Self::Buffer>, d: PanelMut<'_, Self::Buffer>);

    /// [`adam::step`](hg2v_math::adam::step).
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
