//! The processor as a [`Device`]: the operators of the modules beside it.

use std::convert::Infallible;
use std::marker::PhantomData;

use hg2v_math::gemm::{View, ViewMut};
use hg2v_math::parallel::crew;
use hg2v_math::{Real, adam};

use super::batch::Batch;
use super::dense::DenseGradients;
use super::device::{DenseSpan, Device, Panel, PanelMut, Rows};
use super::pairs::{LevelLoss, Loss, Negatives};
use super::readout::Readout;
use super::{dense, krylov, pairs, pool, readout, relations, signed_log};

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

    fn place(&self, graphs: &[&Batch], to: &mut Batch) {
        to.concat_from(graphs.iter().copied());
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

    fn upload(&self, from: &[&[R]], to: PanelMut<'_, Vec<R>>) {
        let columns = to.1.columns.max(1);
        let mut to = view_mut(to);
        let rows = from.iter().flat_map(|piece| piece.chunks_exact(columns));
        to.rows_mut().zip(rows).for_each(|(to, x)| to.copy_from_slice(x));
    }

    fn download(&self, from: Panel<'_, Vec<R>>) -> Vec<R> {
        let from = view(from);
        let mut to = Vec::with_capacity(from.rows() * from.columns());
        (0..from.rows()).for_each(|row| to.extend_from_slice(from.row(row)));
        to
    }

    fn clear(&self, to: PanelMut<'_, Vec<R>>) {
        view_mut(to).rows_mut().for_each(|row| row.fill(R::ZERO));
    }

    fn krylov(&self, (batch, level): (&Batch, usize), rows: Rows, k: &mut Vec<R>) {
        let level = &batch.levels[level];
        krylov::forward(level, rows, &mut k[..level.num_nodes() * rows.stride]);
    }

    fn krylov_vjp(&self, (batch, level): (&Batch, usize), rows: Rows, dk: &mut Vec<R>) {
        let level = &batch.levels[level];
        krylov::vjp(level, rows, &mut dk[..level.num_nodes() * rows.stride]);
    }

    fn relations(
        &self,
        batch: &Batch,
        rows: Rows,
        Panel(c, window): Panel<'_, Vec<R>>,
        k: &mut Vec<R>,
    ) {
        let (c, len) = (&c[window.offset..][..window.len()], batch.num_nodes(0) * rows.stride);
        relations::forward((&batch.relations, batch.graphs(0)), rows, c, &mut k[..len]);
    }

    fn relations_vjp_c(
        &self,
        batch: &Batch,
        rows: Rows,
        k: &Vec<R>,
        dk: &Vec<R>,
        PanelMut(dc, window): PanelMut<'_, Vec<R>>,
    ) {
        let dc = &mut dc[window.offset..][..window.len()];
        relations::vjp_c(&batch.relations, rows, k, dk, dc);
    }

    fn relations_vjp_g(
        &self,
        batch: &Batch,
        rows: Rows,
        Panel(c, window): Panel<'_, Vec<R>>,
        dk: &mut Vec<R>,
    ) {
        let (c, len) = (&c[window.offset..][..window.len()], batch.num_nodes(0) * rows.stride);
        relations::vjp_g((&batch.relations, batch.graphs(0)), rows, c, &mut dk[..len]);
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
        let out = DenseGradients {
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
        pairs: (Loss, Negatives),
        drawn: Option<&[u32]>,
        x: Panel<'_, Vec<R>>,
        g: Panel<'_, Vec<R>>,
        dx: PanelMut<'_, Vec<R>>,
        dg: PanelMut<'_, Vec<R>>,
        losses: &mut Vec<LevelLoss>,
    ) {
        let above = batch.graphs(level + 1);
        let level = &batch.levels[level];
        let (x, g, dx, dg) = (view(x), view(g), view_mut(dx), view_mut(dg));
        losses.push(pairs::loss_and_vjp(pairs, drawn, level, above, x, g, dx, dg));
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

    fn signed_log(&self, e: Panel<'_, Vec<R>>, y: PanelMut<'_, Vec<R>>) {
        signed_log::forward(view(e), view_mut(y));
    }

    fn signed_log_vjp(&self, e: Panel<'_, Vec<R>>, d: PanelMut<'_, Vec<R>>) {
        signed_log::vjp(view(e), view_mut(d));
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
