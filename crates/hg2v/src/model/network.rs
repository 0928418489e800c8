//! The forward and the backward pass, on any device.

use super::architecture::{LayerKind, Layout, Part};
use super::example::Example;
use crate::nn::Batch;
use crate::nn::device::{DenseSpan, Device, Panel, PanelMut, Window};
use crate::nn::draw::Draw;
use crate::nn::pairs::{LevelLoss, Loss, Negatives};

/// What the passes remember between them, made once and written over.
pub struct Workspace<D: Device> {
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

impl<D: Device> Workspace<D> {
    /// An empty one.
    pub fn new(device: &D) -> Workspace<D> {
        Workspace {
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
        let columns = if top { self.layout.width(level) } else { self.layout.rows(level).stride };
        Window::whole(0, nodes, columns)
    }

    /// `g` of `level`: the first block of `K`.
    fn g_window(&self, level: usize, nodes: usize) -> Window {
        self.k_window(level, nodes).columns(0, self.layout.width(level))
    }

    /// What the dense layer reads of `K`.
    fn dense_window(&self, level: usize, nodes: usize) -> Window {
        let (window, width) = (self.k_window(level, nodes), self.layout.width(level));
        match self.layout.architecture.layer {
            LayerKind::Krylov => window,
            LayerKind::Gcn => window.columns(width, window.columns - width),
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

    /// Puts graphs on the workspace, side by side as one batch.
    pub fn place<'a, D: Device<Real = f32>>(
        &self,
        device: &D,
        workspace: &mut Workspace<D>,
        examples: impl IntoIterator<Item = &'a Example>,
    ) {
        let (graphs, features): (Vec<&Batch>, Vec<&[f32]>) =
            examples.into_iter().map(|example| (&example.batch, &example.features[..])).unzip();
        self.place_pieces(device, workspace, &graphs, &features);
    }

    /// As [`place`](Network::place), graphs whose nodes' rows on level 0, `features`, come in any
    /// pieces.
    pub fn place_pieces<D: Device>(
        &self,
        device: &D,
        workspace: &mut Workspace<D>,
        graphs: &[&Batch],
        features: &[&[D::Real]],
    ) {
        let levels = self.layout.architecture.levels;
        assert!(graphs.iter().all(|graph| graph.levels.len() == levels));
        let relations = self.layout.num_relations();
        assert!(graphs.iter().all(|graph| graph.relations.count == relations));
        let nodes = |level| graphs.iter().map(|graph| graph.num_nodes(level)).sum();
        workspace.nodes = (0..=levels).map(nodes).collect();
        workspace.graphs = graphs.iter().map(|graph| graph.num_graphs()).sum();
        let numbers: usize = features.iter().map(|piece| piece.len()).sum();
        assert_eq!(numbers, workspace.nodes[0] * self.layout.features);
        device.place(graphs, &mut workspace.placed);
        let (z, _) = self.feature_panel(device, workspace);
        device.upload(features, z);
    }

    /// Puts a batch of graphs that the device keeps on the workspace.
    pub fn place_stored<D: Device>(
        &self,
        device: &D,
        workspace: &mut Workspace<D>,
        store: &D::Store,
        chosen: &[u32],
    ) {
        workspace.nodes = device.place_stored(store, chosen, &mut workspace.placed);
        workspace.graphs = chosen.len();
        let (z, placed) = self.feature_panel(device, workspace);
        device.upload_stored(store, placed, z);
    }

    /// Where the features of the batch on the workspace belong, and the batch.
    fn feature_panel<'a, D: Device>(
        &self,
        device: &D,
        workspace: &'a mut Workspace<D>,
    ) -> (PanelMut<'a, D::Buffer>, &'a D::Placed) {
        let nodes = workspace.nodes[0];
        let panel = if self.layout.input.is_some() {
            let window = Window::whole(0, nodes, self.layout.features);
            device.reserve(&mut workspace.z, window.len());
            PanelMut(&mut workspace.z, window)
        } else {
            let k = slot(device, &mut workspace.k, 0, self.k_window(0, nodes).len());
            PanelMut(k, self.g_window(0, nodes))
        };
        (panel, &workspace.placed)
    }

    /// The forward pass over what was [placed](Network::place), and the
    /// embeddings on the way if they are asked for.
    pub fn forward<D: Device>(
        &self,
        device: &D,
        parameters: &D::Buffer,
        workspace: &mut Workspace<D>,
        keep: Keep,
        embed: bool,
    ) {
        let a = &self.layout.architecture;
        let parts = if embed { self.layout.parts() } else { Vec::new() };
        let e = self.e_window(workspace.graphs);
        if embed {
            device.reserve(&mut workspace.e, e.len());
        }
        if let Some(input) = self.layout.input {
            let nodes = workspace.nodes[0];
            let z = Window::whole(0, nodes, self.layout.features);
            let k = slot(device, &mut workspace.k, 0, self.k_window(0, nodes).len());
            let g = self.g_window(0, nodes);
            device.dense(input, parameters, Panel(&workspace.z, z), PanelMut(k, g));
        }
        // Without a backward pass nobody reads `x` unless it is read out.
        let with_x = keep == Keep::Everything || (embed && a.local);
        for level in 0..a.levels {
            let here = if keep == Keep::Everything { level } else { 0 };
            let above = if keep == Keep::Everything { level + 1 } else { 0 };
            let (n, m) = (workspace.nodes[level], workspace.nodes[level + 1]);
            let at = (&workspace.placed, level);
            let rows = self.layout.rows(level);
            device.krylov(at, rows, &mut workspace.k[here]);
            if let Some(c) = self.layout.relations.filter(|_| level == 0) {
                let c = Panel(parameters, c);
                device.relations(&workspace.placed, rows, c, &mut workspace.k[here]);
            }
            read_out(
                device,
                &parts,
                at,
                false,
                (&workspace.k[here], self.g_window(level, n)),
                e,
                &mut workspace.e,
            );

            let spans = &self.layout.levels[level];
            let y_window = self.y_window(n);
            let y = slot(device, &mut workspace.y, here, y_window.len());
            let (layer, window) =
                if with_x { (spans.both, y_window) } else { self.h_alone(spans.both, y_window) };
            let k = Panel(&workspace.k[here], self.dense_window(level, n));
            device.dense(layer, parameters, k, PanelMut(y, window));
            if with_x {
                let x = y_window.columns(a.dim, a.dim);
                read_out(device, &parts, at, true, (&workspace.y[here], x), e, &mut workspace.e);
            }

            let p = slot(device, &mut workspace.p, here, self.p_window(m).len());
            let h = Panel(&workspace.y[here], y_window.columns(0, a.dim));
            device.pool(at, h, PanelMut(p, self.p_window(m)));

            let k = slot(device, &mut workspace.k, above, self.k_window(level + 1, m).len());
            let p = Panel(&workspace.p[here], self.p_window(m));
            device.dense(spans.affine, parameters, p, PanelMut(k, self.g_window(level + 1, m)));
        }
        let here = if keep == Keep::Everything { a.levels } else { 0 };
        let g = self.g_window(a.levels, workspace.nodes[a.levels]);
        let at = (&workspace.placed, a.levels);
        read_out(device, &parts, at, false, (&workspace.k[here], g), e, &mut workspace.e);
        if embed && a.log {
            device.reserve(&mut workspace.log_e, e.len());
            device.signed_log(Panel(&workspace.e, e), PanelMut(&mut workspace.log_e, e));
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
    pub fn embeddings<D: Device>(&self, device: &D, workspace: &Workspace<D>) -> Vec<D::Real> {
        let e = if self.layout.architecture.log { &workspace.log_e } else { &workspace.e };
        device.download(Panel(e, self.e_window(workspace.graphs)))
    }

    /// The nodes' rows `g` of `level` after a forward pass that kept everything.
    pub fn nodes<D: Device>(
        &self,
        device: &D,
        workspace: &Workspace<D>,
        level: usize,
    ) -> Vec<D::Real> {
        device.download(Panel(&workspace.k[level], self.g_window(level, workspace.nodes[level])))
    }

    /// The neighbourhoods `x` of `level` after a forward pass that kept everything.
    pub fn neighborhoods<D: Device>(
        &self,
        device: &D,
        workspace: &Workspace<D>,
        level: usize,
    ) -> Vec<D::Real> {
        let dim = self.layout.architecture.dim;
        let window = self.y_window(workspace.nodes[level]).columns(dim, dim);
        device.download(Panel(&workspace.y[level], window))
    }

    /// The backward pass after a forward pass that kept everything, from the top level down.
    ///
    /// `gradients` of the parameters are overwritten; those of the features can be
    /// [asked for](Network::feature_gradients) after if they were wanted.
    pub fn backward<D: Device>(
        &self,
        device: &D,
        parameters: &D::Buffer,
        workspace: &mut Workspace<D>,
        seeds: Seeds<'_, D::Real>,
        gradients: &mut D::Buffer,
    ) {
        let pass = Backward::new(self, device, parameters, workspace, seeds);
        let levels = self.layout.architecture.levels;
        let top = self.g_window(levels, workspace.nodes[levels]);
        let dk = slot(device, &mut workspace.dk, levels, top.len());
        device.clear(PanelMut(dk, top));
        for level in (0..levels).rev() {
            pass.level(workspace, level, gradients);
        }
        pass.input(workspace, gradients);
    }

    /// The losses of the last backward pass, finest level first.
    pub fn take_losses<D: Device>(
        &self,
        device: &D,
        workspace: &mut Workspace<D>,
    ) -> Vec<LevelLoss> {
        device.take_losses(&mut workspace.losses)
    }

    /// The gradient of the features, after a backward pass that wanted it.
    pub fn feature_gradients<D: Device>(
        &self,
        device: &D,
        workspace: &Workspace<D>,
    ) -> Vec<D::Real> {
        let n = workspace.nodes[0];
        if self.layout.input.is_some() {
            device.download(Panel(&workspace.dz, Window::whole(0, n, self.layout.features)))
        } else {
            device.download(Panel(&workspace.dk[0], self.g_window(0, n)))
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
    /// Which super-nodes of a large level stand for all.
    pub draw: Draw,
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
        workspace: &Workspace<D>,
        seeds: Seeds<'a, D::Real>,
    ) -> Backward<'a, D> {
        let (layout, e) = (&network.layout, network.e_window(workspace.graphs));
        let (mut parts, mut de) = (Vec::new(), device.zeros(0));
        if let Some(gradient) = seeds.embeddings {
            parts = layout.parts();
            device.reserve(&mut de, e.len());
            device.upload(&[gradient], PanelMut(&mut de, e));
            if layout.architecture.log {
                device.signed_log_vjp(Panel(&workspace.e, e), PanelMut(&mut de, e));
            }
        }
        Backward { network, device, parameters, seeds, parts, de, e }
    }

    /// From `g′` and `x` of a level to its `g`, whose gradient is needed unless nothing is below it.
    fn level(&self, workspace: &mut Workspace<D>, level: usize, gradients: &mut D::Buffer) {
        let Backward { network, device, parameters, .. } = *self;
        let a = &network.layout.architecture;
        let (n, m) = (workspace.nodes[level], workspace.nodes[level + 1]);
        let at = (&workspace.placed, level);
        let spans = &network.layout.levels[level];
        let (y, p) = (network.y_window(n), network.p_window(m));
        let (h, x) = (y.columns(0, a.dim), y.columns(a.dim, a.dim));
        let g_above = network.g_window(level + 1, m);
        let dy = slot(device, &mut workspace.dy, level, y.len());

        // x and g' from their loss and their readouts.
        let (dk_here, dk_above) = split_slot(device, &mut workspace.dk, level);
        let (x_here, k_above) =
            (Panel(&workspace.y[level], x), Panel(&workspace.k[level + 1], g_above));
        match self.seeds.pairs {
            Some(pairs) => device.pair_loss(
                at,
                pairs,
                self.seeds.draw.of_level(level, m).as_deref(),
                x_here,
                k_above,
                PanelMut(dy, x),
                PanelMut(dk_above, g_above),
                &mut workspace.losses,
            ),
            None => device.clear(PanelMut(dy, x)),
        }
        self.read_out((&workspace.placed, level + 1), false, k_above, PanelMut(dk_above, g_above));
        self.read_out(at, true, x_here, PanelMut(dy, x));

        // g' = Pool(h)·θ₂ + θ₃
        let dp = slot(device, &mut workspace.dp, level, p.len());
        device.dense_vjp(
            spans.affine,
            parameters,
            Panel(&workspace.p[level], p),
            k_above,
            PanelMut(dk_above, g_above),
            gradients,
            Some(PanelMut(dp, p)),
        );
        device.pool_vjp(at, Panel(dp, p), PanelMut(dy, h));

        // [h | x] = tanh(K·[θ₁ | θ₄] + b)
        let wanted = level > 0 || self.needs_input();
        let relations = network.layout.relations.filter(|_| level == 0);
        let k = network.k_window(level, n);
        let read = network.dense_window(level, n);
        let dx = if wanted || relations.is_some() {
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
            Panel(&workspace.k[level], read),
            Panel(&workspace.y[level], y),
            PanelMut(dy, y),
            gradients,
            dx,
        );
        let rows = network.layout.rows(level);
        if let Some(c) = relations {
            let dc = PanelMut(gradients, c);
            device.relations_vjp_c(&workspace.placed, rows, &workspace.k[level], dk_here, dc);
        }
        if wanted {
            device.krylov_vjp(at, rows, dk_here);
        }
        if let Some(c) = relations.filter(|_| wanted) {
            device.relations_vjp_g(&workspace.placed, rows, Panel(parameters, c), dk_here);
        }
    }

    /// From `g` of level 0 to the features.
    fn input(&self, workspace: &mut Workspace<D>, gradients: &mut D::Buffer) {
        let Backward { network, device, parameters, .. } = *self;
        let n = workspace.nodes[0];
        let g = network.g_window(0, n);
        if self.needs_input() {
            let at = (&workspace.placed, 0);
            self.read_out(at, false, Panel(&workspace.k[0], g), PanelMut(&mut workspace.dk[0], g));
        }
        if let Some(input) = network.layout.input {
            let z = Window::whole(0, n, network.layout.features);
            let dz = self.seeds.features.then(|| {
                device.reserve(&mut workspace.dz, z.len());
                PanelMut(&mut workspace.dz, z)
            });
            let (z, k) = (Panel(&workspace.z, z), Panel(&workspace.k[0], g));
            let dk = PanelMut(&mut workspace.dk[0], g);
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
