//! What each level and each node has in a number that is made of what the network reads out.

use crate::context::Context;
use crate::error::Result;
use crate::estimator::Hg2v;
use crate::finish::Term;
use crate::model::{Example, Part, Readout};
use crate::shares::{Shares, VectorPart};

/// `Σ_c slope_c·e_c + constant_c`, where the network reads `e` out of a graph, divided.
///
/// # Errors
/// Those of embedding the nodes.
pub(super) fn shares(model: &Hg2v, example: &Example, e: &[f32], terms: &[Term]) -> Result<Shares> {
    let mut shares = Shares::nothing(example.num_nodes());
    let rows = Rows::of(model, example)?;
    for part in model.network.layout.parts() {
        let Part { level, local, readout, start, columns } = part;
        let mut whole = 0.0;
        for c in 0..columns {
            let Term { slope, constant } = terms[start + c];
            whole += constant;
            shares.rest += constant;
            // What is cut may be no number.
            if slope != 0.0 {
                let adds = slope * f64::from(e[start + c]);
                whole += adds;
                rows.divide(&part, c, adds, &mut shares.nodes);
            }
        }
        shares.part(VectorPart::Network { level, local, readout }, whole);
    }
    Ok(shares)
}

/// What the nodes of a graph say on every level, what their super-nodes say included.
struct Rows {
    /// A row a node.
    rows: Vec<f32>,
    width: usize,
    /// Where the numbers of a level begin in a row: of `g`, and of `x`.
    starts: [Vec<usize>; 2],
    /// Of each level, the super-node of every node, and of how many nodes each super-node is made.
    above: Vec<(Vec<u32>, Vec<f64>)>,
}

impl Rows {
    fn of(model: &Hg2v, example: &Example) -> Result<Rows> {
        let layout = &model.network.layout;
        let levels = layout.architecture.levels;
        let mut own: Vec<u32> = (0..example.num_nodes() as u32).collect();
        let mut above = Vec::with_capacity(levels + 1);
        for level in 0..=levels {
            let mut sizes = vec![0.0; example.nodes_on(level)];
            own.iter().for_each(|&node| sizes[node as usize] += 1.0);
            let next = match level < levels {
                true => own.iter().map(|&node| example.parents(level)[node as usize]).collect(),
                false => Vec::new(),
            };
            above.push((std::mem::replace(&mut own, next), sizes));
        }
        let begin = |level: usize| (0..level).map(|below| layout.width(below)).sum();
        let g: Vec<usize> = (0..=levels).map(begin).collect();
        let x = (0..levels).map(|level| begin(levels + 1) + level * layout.architecture.dim);
        Ok(Rows {
            rows: model.embed_nodes(example, &Context::default())?,
            width: model.node_dim(),
            starts: [g, x.collect()],
            above,
        })
    }

    /// Divides what number `c` of a part adds among the nodes, in proportion to what each gave to it before
    /// any logarithm: where there is none, exactly that.
    fn divide(&self, part: &Part, c: usize, adds: f64, nodes: &mut [f64]) {
        let (own, sizes) = &self.above[part.level];
        let at = self.starts[usize::from(part.local)][part.level] + c;
        let value = |v: usize| f64::from(self.rows[v * self.width + at]);
        let size = |v: usize| sizes[own[v] as usize];
        let n = nodes.len();
        match part.readout {
            Readout::Max => {
                let largest = (0..n).map(value).fold(f64::NEG_INFINITY, f64::max);
                let first = (0..n).filter(|&v| value(v) == largest).map(|v| own[v]).min();
                for v in (0..n).filter(|&v| Some(own[v]) == first) {
                    nodes[v] += adds / size(v);
                }
            }
            // The proportions of a mean are those of a sum.
            Readout::Sum | Readout::Mean => {
                let sum: f64 = (0..n).map(|v| value(v) / size(v)).sum();
                // Numbers that cancel give nothing that could be divided.
                if adds != 0.0 && sum != 0.0 {
                    (0..n).for_each(|v| nodes[v] += adds / sum * value(v) / size(v));
                }
            }
        }
    }
}
