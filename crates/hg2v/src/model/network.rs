//! The forward and the backward pass, on any device.

use super::architecture::{Layer, Layout, Part};
use super::example::Example;
use crate::nn::Batch;
use crate::nn::device::{DenseSpan, Device, Panel, PanelMut, Window};
use crate::nn::pairs::{LevelLoss, Loss, Negatives};

/// What the passes remember between them, made once and written over.
pub struct Tape<D: Device> {
    placed: D::Placed,
    /// How many nodes each level has, the topmost included.
    nodes: Vec<usize>,
    graphs: usize,
    /// The features, where an input layer reads them.
    z: D::Buffer,
    dz: D::Buffer,
    /// Of each level, the topmost included: `K`, whose first block is `g`.
    k: Vec<D::Buffer>,
    dk: Vec<D::Buffer>,
    /// `[h | x]`.
    y: Vec<D::Buffer>,
    dy: Vec<D::Buffer>,
    /// `Pool(h)`.
    p: Vec<D::Buffer>,
    dp: Vec<D::Buffer>,
    /// The embeddings, and their logarithms where those are asked for.
    e: D::Buffer,
    log_e: D::Buffer,
    losses: D::Losses,
}

impl<D: Device> Tape<D> {
    /// An empty one.
    pub fn new(device: &D) -> Tape<D> {
        Tape {
            placed: device.new_place(),
            nodes: Vec::new(),
            graphs: 0,
            z: device.zeros(0),
            dz: device.zeros(0),
            k: Vec::new(),
            dk: Vec::new(),
            y: Vec::new(),
            dy: Vec::new(),
            p: Vec::new(),
            dp: Vec::new(),
            e: device.zeros(0),
            log_e: device.zeros(0),
            losses: D::Losses::default(),
        }
    }
}

/// How much of the forward pass is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Everything, for a backward pass.
    Everything,
    /// One level at a time: embedding alone needs no more.
    OneLevel,
}

/// A network on a device: which layers, and how they are run.
#[derive(Debug, Clone)]
pub struct Network {
    /// The layers.
    pub layout: Layout,
}

impl Network {
    /// `K` of `level`, of which the topmost level has only `g`.
    fn k_window(&self, level: usize, nodes: usize) -> Window {
        let top = level == self.layout.architecture.levels;
        let blocks = if top { 1 } else { self.layout.architecture.blocks() };
        Window::whole(0, nodes, self.layout.width(level) * blocks)
    }

    /// `g` of `level`: the first block of `K`.
    fn g_window(&self, level: usize, nodes: usize) -> Window {
        self.k_window(level, nodes).columns(0, self.layout.width(level))
    }

    /// What the dense layer reads of `K`.
    fn dense_window(&self, level: usize, nodes: usize) -> Window {
        let window = self.k_window(level, nodes);
        match self.layout.architecture.layer {
            Layer::Krylov => window,
            Layer::Gcn => window.columns(window.columns / 2, window.columns / 2),
        }
    }

    fn y_window(&self, nodes: usize) -> Window {
        Window::whole(0, nodes, 2 * self.layout.architecture.dim)
    }

    fn p_window(&self, nodes: usize) -> Window {
        Window::whole(0, nodes, self.layout.architecture.dim)
    }

    fn e_window(&self, graphs: usize) -> Window {
        Window::whole(0, graphs, self.layout.embedding_dim())
    }

    /// Puts graphs on the tape, side by side as one batch.
    pub fn place<'a, D: Device<Real = f32>>(
        &self,
        device: &D,
        tape: &mut Tape<D>,
        examples: impl IntoIterator<Item = &'a Example>,
    ) {
        let (graphs, features): (Vec<&Batch>, Vec<&[f32]>) =
            examples.into_iter().map(|example| (&example.batch, &example.features[..])).unzip();
        self.place_pieces(device, tape, &graphs, &features);
    }

    /// As [`place`](Network::place), graphs whose nodes' rows on level 0, `features`, come in any
    /// pieces.
    pub fn place_pieces<D: Device>(
        &self,
        device: &D,
        tape: &mut Tape<D>,
        graphs: &[&Batch],
        features: &[&[D::Real]],
    ) {
        let levels = self.layout.architecture.levels;
        assert!(graphs.iter().all(|graph| graph.levels.len() == levels));
        let nodes = |level| graphs.iter().map(|graph| graph.num_nodes(level)).sum();
        tape.nodes = (0..=levels).map(nodes).collect();
        tape.graphs = graphs.iter().map(|graph| graph.num_graphs()).sum();
        let numbers: usize = features.iter().map(|piece| piece.len()).sum();
        assert_eq!(numbers, tape.nodes[0] * self.layout.features);
        device.place(graphs, &mut tape.placed);
        let (z, _) = self.feature_panel(device, tape);
        device.upload(features, z);
    }

    /// Puts a batch of graphs that the device keeps on the tape.
    pub fn place_stored<D: Device>(
        &self,
        device: &D,
        tape: &mut Tape<D>,
        store: &D::Store,
        chosen: &[u32],
    ) {
        tape.nodes = device.place_stored(store, chosen, &mut tape.placed);
        tape.graphs = chosen.len();
        let (z, placed) = self.feature_panel(device, tape);
        device.upload_stored(store, placed, z);
    }

    /// Where the features of the batch on the tape belong, and the batch.
    fn feature_panel<'a, D: Device>(
        &self,
        device: &D,
        tape: &'a mut Tape<D>,
    ) -> (PanelMut<'a, D::Buffer>, &'a D::Placed) {
        let nodes = tape.nodes[0];
        let panel = if self.layout.input.is_some() {
            let window = Window::whole(0, nodes, self.layout.features);
            device.reserve(&mut tape.z, window.len());
            PanelMut(&mut tape.z, window)
        } else {
            let k = slot(device, &mut tape.k, 0, self.k_window(0, nodes).len());
            PanelMut(k, self.g_window(0, nodes))
        };
        (panel, &tape.placed)
    }

    /// The forward pass over what was [placed](Network::place), and the
    /// embeddings on the way if they are asked for.
    pub fn forward<D: Device>(
        &self,
        device: &D,
        parameters: &D::Buffer,
        tape: &mut Tape<D>,
        keep: Keep,
        embed: bool,
    ) {
        let a = &self.layout.architecture;
        let parts = if embed { self.layout.parts() } else { Vec::new() };
        let e = self.e_window(tape.graphs);
        if embed {
            device.reserve(&mut tape.e, e.len());
        }
        if let Some(input) = self.layout.input {
            let nodes = tape.nodes[0];
            let z = Window::whole(0, nodes, self.layout.features);
            let k = slot(device, &mut tape.k, 0, self.k_window(0, nodes).len());
            let g = self.g_window(0, nodes);
            device.dense(input, parameters, Panel(&tape.z, z), PanelMut(k, g));
        }
        // Without a backward pass nobody reads `x` unless it is read out.
        let with_x = keep == Keep::Everything || (embed && a.local);
        for level in 0..a.levels {
            let here = if keep == Keep::Everything { level } else { 0 };
            let above = if keep == Keep::Everything { level + 1 } else { 0 };
            let (n, m) = (tape.nodes[level], tape.nodes[level + 1]);
            let at = (&tape.placed, level);
            device.krylov(at, self.layout.width(level), a.krylov_hops(), &mut tape.k[here]);
            read_out(
                device,
                &parts,
                at,
                false,
                (&tape.k[here], self.g_window(level, n)),
                e,
                &mut tape.e,
            );

            let spans = &self.layout.levels[level];
            let y_window = self.y_window(n);
            let y = slot(device, &mut tape.y, here, y_window.len());
            let (layer, window) =
                if with_x { (spans.both, y_window) } else { self.h_alone(spans.both, y_window) };
            let k = Panel(&tape.k[here], self.dense_window(level, n));
            device.dense(layer, parameters, k, PanelMut(y, window));
            if with_x {
                let x = y_window.columns(a.dim, a.dim);
                read_out(device, &parts, at, true, (&tape.y[here], x), e, &mut tape.e);
            }

            let p = slot(device, &mut tape.p, here, self.p_window(m).len());
            let h = Panel(&tape.y[here], y_window.columns(0, a.dim));
            device.pool(at, h, PanelMut(p, self.p_window(m)));

            let k = slot(device, &mut tape.k, above, self.k_window(level + 1, m).len());
            let p = Panel(&tape.p[here], self.p_window(m));
            device.dense(spans.affine, parameters, p, PanelMut(k, self.g_window(level + 1, m)));
        }
        let here = if keep == Keep::Everything { a.levels } else { 0 };
        let g = self.g_window(a.levels, tape.nodes[a.levels]);
        let at = (&tape.placed, a.levels);
        read_out(device, &parts, at, false, (&tape.k[here], g), e, &mut tape.e);
        if embed && a.log {
            device.reserve(&mut tape.log_e, e.len());
            device.signed_log(Panel(&tape.e, e), PanelMut(&mut tape.log_e, e));
        }
    }

    /// The half of the dense layer that makes `h`.
    fn h_alone(&self, both: DenseSpan, y: Window) -> (DenseSpan, Window) {
        let dim = self.layout.architecture.dim;
        let weight = both.weight.columns(0, dim);
        let bias = both.bias.columns(0, dim.min(both.bias.columns));
        (DenseSpan { weight, bias, ..both }, y.columns(0, dim))
    }

    /// The embeddings of the last forward pass, a row for each graph.
    pub fn embeddings<D: Device>(&self, device: &D, tape: &Tape<D>) -> Vec<D::Real> {
        let e = if self.layout.architecture.log { &tape.log_e } else { &tape.e };
        device.download(Panel(e, self.e_window(tape.graphs)))
    }

    /// The nodes' rows `g` of `level` after a forward pass that kept everything.
    pub fn nodes<D: Device>(&self, device: &D, tape: &Tape<D>, level: usize) -> Vec<D::Real> {
        device.download(Panel(&tape.k[level], self.g_window(level, tape.nodes[level])))
    }

    /// The neighbourhoods `x` of `level` after a forward pass that kept everything.
    pub fn neighborhoods<D: Device>(
        &self,
        device: &D,
        tape: &Tape<D>,
        level: usize,
    ) -> Vec<D::Real> {
        let dim = self.layout.architecture.dim;
        let window = self.y_window(tape.nodes[level]).columns(dim, dim);
        device.download(Panel(&tape.y[level], window))
    }

    /// The backward pass after a forward pass that kept everything, from the top level down.
    ///
    /// `gradients` of the parameters are overwritten; those of the features can be
    /// [asked for](Network::feature_gradients) after if they were wanted.
    pub fn backward<D: Device>(
        &self,
        device: &D,
        parameters: &D::Buffer,
        tape: &mut Tape<D>,
        seeds: Seeds<'_, D::Real>,
        gradients: &mut D::Buffer,
    ) {
        let pass = Backward::new(self, device, parameters, tape, seeds);
        let levels = self.layout.architecture.levels;
        let top = self.g_window(levels, tape.nodes[levels]);
        let dk = slot(device, &mut tape.dk, levels, top.len());
        device.clear(PanelMut(dk, top));
        for level in (0..levels).rev() {
            pass.level(tape, level, gradients);
        }
        pass.input(tape, gradients);
    }

    /// The losses of the last backward pass, finest level first.
    pub fn take_losses<D: Device>(&self, device: &D, tape: &mut Tape<D>) -> Vec<LevelLoss> {
        device.take_losses(&mut tape.losses)
    }

    /// The gradient of the features, after a backward pass that wanted it.
    pub fn feature_gradients<D: Device>(&self, device: &D, tape: &Tape<D>) -> Vec<D::Real> {
        let n = tape.nodes[0];
        if self.layout.input.is_some() {
            device.download(Panel(&tape.dz, Window::whole(0, n, self.layout.features)))
        } else {
            device.download(Panel(&tape.dk[0], self.g_window(0, n)))
        }
    }
}

/// The `level`-th buffer, with room for `len` numbers.
fn slot<'a, D: Device>(
    device: &D,
    buffers: &'a mut Vec<D::Buffer>,
    level: usize,
    len: usize,
) -> &'a mut D::Buffer {
    while buffers.len() <= level {
        buffers.push(device.zeros(0));
    }
    device.reserve(&mut buffers[level], len);
    &mut buffers[level]
}

/// The buffers of a level and of the one above it.
fn split_slot<'a, D: Device>(
    device: &D,
    buffers: &'a mut Vec<D::Buffer>,
    level: usize,
) -> (&'a mut D::Buffer, &'a mut D::Buffer) {
    slot(device, buffers, level + 1, 0);
    let (here, above) = buffers.split_at_mut(level + 1);
    (&mut here[level], &mut above[0])
}

/// Reads out the parts made of `window`.
fn read_out<D: Device>(
    device: &D,
    parts: &[Part],
    at: (&D::Placed, usize),
    local: bool,
    (v, window): (&D::Buffer, Window),
    e_window: Window,
    e: &mut D::Buffer,
) {
    for part in parts.iter().filter(|part| part.level == at.1 && part.local == local) {
        let out = PanelMut(e, e_window.columns(part.start, part.columns));
        device.readout(at, part.readout, Panel(v, window), out);
    }
}

/// What a backward pass begins with: the pair losses of all levels, a gradient of the embeddings,
/// or both.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seeds<'a, R> {
    /// How pairs are scored, and which are negative.
    pub pairs: Option<(Loss, Negatives)>,
    /// The gradient of the embeddings, a row for each graph.
    pub embeddings: Option<&'a [R]>,
    /// Whether the gradient of the features is wanted.
    pub features: bool,
}

/// A backward pass, from the top level down.
struct Backward<'a, D: Device> {
    network: &'a Network,
    device: &'a D,
    parameters: &'a D::Buffer,
    seeds: Seeds<'a, D::Real>,
    /// The readouts that the gradient of the embeddings goes back through.
    parts: Vec<Part>,
    /// That gradient, before the logarithm.
    de: D::Buffer,
    e: Window,
}

impl<'a, D: Device> Backward<'a, D> {
    fn new(
        network: &'a Network,
        device: &'a D,
        parameters: &'a D::Buffer,
        tape: &Tape<D>,
        seeds: Seeds<'a, D::Real>,
    ) -> Backward<'a, D> {
        let (layout, e) = (&network.layout, network.e_window(tape.graphs));
        let (mut parts, mut de) = (Vec::new(), device.zeros(0));
        if let Some(gradient) = seeds.embeddings {
            parts = layout.parts();
            device.reserve(&mut de, e.len());
            device.upload(&[gradient], PanelMut(&mut de, e));
            if layout.architecture.log {
                device.signed_log_vjp(Panel(&tape.e, e), PanelMut(&mut de, e));
            }
        }
        Backward { network, device, parameters, seeds, parts, de, e }
    }

    /// From `g′` and `x` of a level to its `g`, whose gradient is needed unless nothing is below it.
    fn level(&self, tape: &mut Tape<D>, level: usize, gradients: &mut D::Buffer) {
        let Backward { network, device, parameters, .. } = *self;
        let a = &network.layout.architecture;
        let (n, m) = (tape.nodes[level], tape.nodes[level + 1]);
        let at = (&tape.placed, level);
        let spans = &network.layout.levels[level];
        let (y, p) = (network.y_window(n), network.p_window(m));
        let (h, x) = (y.columns(0, a.dim), y.columns(a.dim, a.dim));
        let g_above = network.g_window(level + 1, m);
        let dy = slot(device, &mut tape.dy, level, y.len());

        // x and g' from their loss and their readouts.
        let (dk_here, dk_above) = split_slot(device, &mut tape.dk, level);
        let (x_here, k_above) = (Panel(&tape.y[level], x), Panel(&tape.k[level + 1], g_above));
        match self.seeds.pairs {
            Some(pairs) => device.pair_loss(
                at,
                pairs,
                x_here,
                k_above,
                PanelMut(dy, x),
                PanelMut(dk_above, g_above),
                &mut tape.losses,
            ),
            None => device.clear(PanelMut(dy, x)),
        }
        self.read_out((&tape.placed, level + 1), false, k_above, PanelMut(dk_above, g_above));
        self.read_out(at, true, x_here, PanelMut(dy, x));

        // g' = Pool(h)·θ₂ + θ₃
        let dp = slot(device, &mut tape.dp, level, p.len());
        device.dense_vjp(
            spans.affine,
            parameters,
            Panel(&tape.p[level], p),
            k_above,
            PanelMut(dk_above, g_above),
            gradients,
            Some(PanelMut(dp, p)),
        );
        device.pool_vjp(at, Panel(dp, p), PanelMut(dy, h));

        // [h | x] = tanh(K·[θ₁ | θ₄] + b)
        let wanted = level > 0 || self.needs_input();
        let k = network.k_window(level, n);
        let read = network.dense_window(level, n);
        let dx = if wanted {
            device.reserve(dk_here, k.len());
            if read.columns < k.columns {
                device.clear(PanelMut(dk_here, network.g_window(level, n)));
            }
            Some(PanelMut(dk_here, read))
        } else {
            None
        };
        device.dense_vjp(
            spans.both,
            parameters,
            Panel(&tape.k[level], read),
            Panel(&tape.y[level], y),
            PanelMut(dy, y),
            gradients,
            dx,
        );
        if wanted {
            device.krylov_vjp(at, network.layout.width(level), a.krylov_hops(), dk_here);
        }
    }

    /// From `g` of level 0 to the features.
    fn input(&self, tape: &mut Tape<D>, gradients: &mut D::Buffer) {
        let Backward { network, device, parameters, .. } = *self;
        let n = tape.nodes[0];
        let g = network.g_window(0, n);
        if self.needs_input() {
            let at = (&tape.placed, 0);
            self.read_out(at, false, Panel(&tape.k[0], g), PanelMut(&mut tape.dk[0], g));
        }
        if let Some(input) = network.layout.input {
            let z = Window::whole(0, n, network.layout.features);
            let dz = self.seeds.features.then(|| {
                device.reserve(&mut tape.dz, z.len());
                PanelMut(&mut tape.dz, z)
            });
            let (z, k) = (Panel(&tape.z, z), Panel(&tape.k[0], g));
            let dk = PanelMut(&mut tape.dk[0], g);
            device.dense_vjp(input, parameters, z, k, dk, gradients, dz);
        }
    }

    /// Whether somebody needs the gradient of `g` on level 0.
    fn needs_input(&self) -> bool {
        self.seeds.features || self.network.layout.input.is_some()
    }

    /// Adds the gradients of the parts made of `v` to `dv`.
    fn read_out(
        &self,
        at: (&D::Placed, usize),
        local: bool,
        v: Panel<'_, D::Buffer>,
        PanelMut(dv, window): PanelMut<'_, D::Buffer>,
    ) {
        for part in self.parts.iter().filter(|part| part.level == at.1 && part.local == local) {
            let dout = Panel(&self.de, self.e.columns(part.start, part.columns));
            self.device.readout_vjp(at, part.readout, v, dout, PanelMut(dv, window));
        }
    }
}
