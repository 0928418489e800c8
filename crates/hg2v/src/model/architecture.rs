//! What a network is like, and where its parameters lie.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::nn::dense::Activation;
use crate::nn::device::{DenseSpan, Rows, Window};
use crate::nn::readout::Readout;
use crate::nn::relations;
use crate::vocabulary::Named;

/// How a node looks around.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LayerKind {
    /// Truncated Krylov: `[g, Ãg, …, Ãᵃg]` (Luan et al. 2019). The paper's.
    #[default]
    Krylov,
    /// A graph convolution: `Ãg` (Kipf & Welling 2017).
    Gcn,
}

crate::vocabulary! { LayerKind, "layer":
    Krylov => "krylov", "truncated Krylov: [g, Ãg, …, Ãᵃg]";
    Gcn => "gcn", "a graph convolution: Ãg";
}

/// Whether nodes hear each kind and direction of edge apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relational {
    /// Edges are alike to the network; what they are is said by the features alone.
    #[default]
    Never,
    /// On level 0, where graphs have kinds of edges or directions.
    Always,
}

crate::vocabulary! { Relational, "relations":
    Never => "never", "all edges are alike to the network";
    Always => "always", "a hop a kind and direction on level 0, Σ c ⊙ (R·g), where edges have any";
}

/// The choices that make a network.
///
/// ```text
/// g⁰ = Z, or act(Z·W + b)
/// h, x = tanh(K(gˡ)·[θ₁ | θ₄] + b)      K(g) = [g, Ãg, …, Ãᵃg]
/// gˡ⁺¹ = Pool(h)·θ₂ + θ₃
/// ```
///
/// With [relations](Relational::Always), `K(g⁰) = [g, Ãg, …, Ãᵃg, Σ_r c_r ⊙ (R_r·g)]`, where `R_r`
/// are the entries of `Ã` that belong to edges of one kind, and of one direction in directed graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Architecture {
    /// `d`: numbers a node on every level but the finest.
    pub dim: usize,
    /// `a`: how far a node looks.
    pub hops: usize,
    /// `L`: how often the graph is coarsened.
    pub levels: usize,
    /// How a node looks around.
    pub layer: LayerKind,
    /// Whether each kind and direction of edge has a hop of its own, on level 0.
    pub relations: Relational,
    /// An input layer of `dim` numbers before everything; none takes `g⁰ = Z`.
    pub input: Option<Activation>,
    /// Whether `θ₁` and `θ₄` have biases; the paper's have not.
    pub bias: bool,
    /// How nodes become one vector, on each level.
    pub readout: Vec<Readout>,
    /// Whether level 0 is read out too.
    pub finest: bool,
    /// Whether the neighbourhoods `x` are read out too.
    pub local: bool,
    /// Whether each number `e` of the embedding becomes `sign(e)·ln(1 + |e|)`.
    pub log: bool,
}

hg2v_math::setters!(Architecture {
    dim: usize,
    hops: usize,
    levels: usize,
    layer: LayerKind,
    relations: Relational,
    input: Option<Activation>,
    bias: bool,
    readout: Vec<Readout>,
    finest: bool,
    local: bool,
    log: bool,
});

impl Default for Architecture {
    /// The paper's reading.
    fn default() -> Architecture {
        Architecture {
            dim: 128,
            hops: 4,
            levels: 3,
            layer: LayerKind::Krylov,
            relations: Relational::Never,
            input: None,
            bias: false,
            readout: vec![Readout::Sum, Readout::Max],
            finest: false,
            local: false,
            log: false,
        }
    }
}

/// Most numbers a node.
pub(crate) const MAX_DIM: usize = 1 << 14;

impl Architecture {
    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        let within = |name, value: usize, most: usize| {
            if value == 0 || value > most {
                let requirement = format!("it must be between 1 and {most}");
                return Err(Error::parameter(name, value, requirement));
            }
            Ok(())
        };
        within("dim", self.dim, MAX_DIM)?;
        within("hops", self.hops, 64)?;
        within("levels", self.levels, 32)?;
        let mut kinds = self.readout.clone();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.is_empty() || kinds.len() != self.readout.len() {
            let names: Vec<&str> = self.readout.iter().map(Named::word).collect();
            let known: Vec<&str> = Readout::words().collect();
            let requirement =
                format!("it must name some of {}, each at most once", known.join(", "));
            return Err(Error::parameter("readout", names.join(","), requirement));
        }
        Ok(())
    }

    /// Hops that fill `K`.
    pub(crate) fn krylov_hops(&self) -> usize {
        match self.layer {
            LayerKind::Krylov => self.hops,
            LayerKind::Gcn => 1,
        }
    }
}

/// The layers of a network and the windows of their parameters in one buffer.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The choices.
    pub architecture: Architecture,
    /// `F`: numbers a node comes with.
    pub features: usize,
    /// The input layer.
    pub(crate) input: Option<DenseSpan>,
    /// The layers of each level.
    pub(crate) levels: Vec<LevelSpans>,
    /// `c`: a row of coefficients for each relation of level 0, where there are any.
    pub(crate) relations: Option<Window>,
    /// Numbers in all.
    pub len: usize,
}

/// The layers of one level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelSpans {
    /// `[θ₁ | θ₄]` side by side, so that one product makes both `h` and `x`.
    pub(crate) both: DenseSpan,
    /// `θ₂` and `θ₃`.
    pub(crate) affine: DenseSpan,
}

impl Layout {
    /// The layout for nodes of `features` numbers whose edges have no relations.
    ///
    /// # Errors
    /// As [`Architecture::check`].
    pub fn new(architecture: &Architecture, features: usize) -> Result<Layout> {
        Layout::related(architecture, features, 0)
    }

    /// The layout for nodes of `features` numbers, which edges join by so many relations.
    ///
    /// # Errors
    /// As [`Architecture::check`]; more relations than a network can have.
    pub fn related(
        architecture: &Architecture,
        features: usize,
        relations: usize,
    ) -> Result<Layout> {
        architecture.check()?;
        if relations > relations::MAX {
            let requirement = format!(
                "at most {} kinds and directions of edges can each have a hop: let edges be alike",
                relations::MAX
            );
            return Err(Error::argument("relations", relations, requirement));
        }
        if features == 0 {
            return Err(Error::argument("features", features, "a node needs at least one number"));
        }
        let mut len = 0;
        let mut dense = |rows: usize, columns: usize, bias: bool, activation: Activation| {
            let weight = Window::whole(len, rows, columns);
            let bias = Window::whole(len + weight.len(), 1, if bias { columns } else { 0 });
            len = bias.offset + bias.len();
            DenseSpan { weight, bias, activation }
        };
        let dim = architecture.dim;
        let input = architecture.input.map(|activation| dense(features, dim, true, activation));
        let levels = (0..architecture.levels)
            .map(|level| {
                let width = if level == 0 && input.is_none() { features } else { dim };
                let inner = match architecture.layer {
                    LayerKind::Krylov => (architecture.hops + 1) * width,
                    LayerKind::Gcn => width,
                };
                let inner = inner + if level == 0 && relations > 0 { width } else { 0 };
                LevelSpans {
                    both: dense(inner, 2 * dim, architecture.bias, Activation::Tanh),
                    affine: dense(dim, dim, true, Activation::Linear),
                }
            })
            .collect();
        let width = if input.is_none() { features } else { dim };
        let relations = (relations > 0).then(|| Window::whole(len, relations, width));
        len += relations.map_or(0, |c| c.len());
        let architecture = architecture.clone();
        Ok(Layout { architecture, features, input, levels, relations, len })
    }

    /// How many relations join nodes of level 0.
    pub fn num_relations(&self) -> usize {
        self.relations.map_or(0, |c| c.rows)
    }

    /// The rows of `K` on `level`.
    pub(crate) fn rows(&self, level: usize) -> Rows {
        let (width, hops) = (self.width(level), self.architecture.krylov_hops());
        let blocks = hops + 1 + usize::from(level == 0 && self.relations.is_some());
        Rows { width, hops, stride: blocks * width }
    }

    /// `w`: numbers a node on `level`.
    pub fn width(&self, level: usize) -> usize {
        if level == 0 && self.input.is_none() { self.features } else { self.architecture.dim }
    }

    /// Every parameter's name and window, in the order they lie.
    pub fn tensors(&self) -> Vec<(String, Window)> {
        let mut tensors = Vec::new();
        let dim = self.architecture.dim;
        if let Some(input) = &self.input {
            tensors.push(("input.weight".to_owned(), input.weight));
            tensors.push(("input.bias".to_owned(), input.bias));
        }
        for (level, LevelSpans { both, affine }) in self.levels.iter().enumerate() {
            for (name, column) in [("theta1", 0), ("theta4", dim)] {
                let weight = both.weight.columns(column, dim);
                tensors.push((format!("level.{level}.{name}.weight"), weight));
                if both.bias.columns > 0 {
                    let bias = both.bias.columns(column, dim);
                    tensors.push((format!("level.{level}.{name}.bias"), bias));
                }
            }
            tensors.push((format!("level.{level}.theta2.weight"), affine.weight));
            tensors.push((format!("level.{level}.theta3.bias"), affine.bias));
        }
        tensors.extend(self.relations.map(|c| ("level.0.relations.weight".to_owned(), c)));
        tensors
    }

    /// What the embedding is made of, in order: for each part its level, whether
    /// it is made of neighbourhoods `x` rather than of nodes `g`, how, and how many numbers.
    pub fn parts(&self) -> Vec<Part> {
        let a = &self.architecture;
        let nodes = (if a.finest { 0 } else { 1 }..=a.levels).map(|level| (level, false));
        let local = (0..a.levels).filter(|_| a.local).map(|level| (level, true));
        let mut start = 0;
        let mut parts = Vec::new();
        for (level, local) in nodes.chain(local) {
            for &readout in &a.readout {
                let columns = if local { a.dim } else { self.width(level) };
                parts.push(Part { level, local, readout, start, columns });
                start += columns;
            }
        }
        parts
    }

    /// Numbers in an embedding.
    pub fn embedding_dim(&self) -> usize {
        self.parts().last().map_or(0, |part| part.start + part.columns)
    }

    /// A name for every number of the embedding: `g1.sum.0`, `x0.max.5`.
    pub fn embedding_names(&self) -> Vec<String> {
        let name = |part: &Part, column: usize| {
            let kind = match part.readout {
                Readout::Sum => "sum",
                Readout::Max => "max",
                Readout::Mean => "mean",
            };
            format!("{}{}.{kind}.{column}", if part.local { 'x' } else { 'g' }, part.level)
        };
        let parts = self.parts();
        parts.iter().flat_map(|part| (0..part.columns).map(|c| name(part, c))).collect()
    }
}

/// One part of an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The level it is made of.
    pub level: usize,
    /// Whether of neighbourhoods `x` rather than of nodes `g`.
    pub local: bool,
    /// How.
    pub readout: Readout,
    /// Its first number.
    pub start: usize,
    /// How many numbers.
    pub columns: usize,
}
