//! The paper's equations on dense matrices, one graph and one node at a time.

use hg2v::coarsen::Pyramid;
use hg2v::graph::Graph;
use hg2v::internals::{Draw, Layout};
use hg2v::model::{Activation, LayerKind, Readout};
use hg2v::train::{Loss, Negatives};

use super::{Sample, read};

type Matrix = Vec<Vec<f64>>;

pub(crate) struct Twin {
    pub(crate) losses: Vec<f64>,
    pub(crate) embeddings: Vec<f64>,
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let column = |row: &[f64], j: usize| row.iter().zip(b).map(|(x, b)| x * b[j]).sum();
    let columns = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..columns).map(|j| column(row, j)).collect()).collect()
}

/// `Ã = D^(−1/2)·(A + I)·D^(−1/2)`.
fn normalized_adjacency(graph: &Graph) -> Matrix {
    let n = graph.num_nodes();
    let mut a = vec![vec![0.0; n]; n];
    for u in 0..n {
        a[u][u] = 1.0;
        for (&v, &w) in graph.neighbors(u).iter().zip(graph.weights(u)) {
            a[u][v as usize] = f64::from(w);
        }
    }
    let degree: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
    for u in 0..n {
        for v in 0..n {
            a[u][v] /= (degree[u] * degree[v]).sqrt();
        }
    }
    a
}

/// `R_r(u, v) = W(u, v) / √(D(u)·D(v))` where `v` is a neighbour of `u` by relation `r`.
fn relation(sample: &Sample, r: usize) -> Matrix {
    let whole = normalized_adjacency(&sample.graph);
    let n = whole.len();
    let mut part = vec![vec![0.0; n]; n];
    for &(u, v, _) in sample.related.iter().filter(|link| link.2 as usize == r) {
        part[u as usize][v as usize] = whole[u as usize][v as usize];
    }
    part
}

/// `Σ_r c_r ⊙ (R_r·g)`.
fn relational(sample: &Sample, c: &Matrix, g: &Matrix) -> Matrix {
    let mut sum = vec![vec![0.0; c[0].len()]; g.len()];
    for (r, c) in c.iter().enumerate() {
        let heard = product(&relation(sample, r), g);
        for (sum, heard) in sum.iter_mut().zip(&heard) {
            for ((sum, c), heard) in sum.iter_mut().zip(c).zip(heard) {
                *sum += c * heard;
            }
        }
    }
    sum
}

/// The graph of each level and its assignment; completed with identities.
fn level<'a>(graph: &'a Graph, pyramid: &'a Pyramid, l: usize) -> (&'a Graph, Vec<usize>, usize) {
    let graph_at = |l: usize| match l {
        0 => graph,
        l => &pyramid.levels[l.min(pyramid.levels.len()) - 1].graph,
    };
    let here = if pyramid.levels.is_empty() { graph } else { graph_at(l) };
    match pyramid.levels.get(l) {
        Some(next) => {
            let parents = next.assignment.iter().map(|&p| p as usize).collect();
            (here, parents, next.graph.num_nodes())
        }
        None => (here, (0..here.num_nodes()).collect(), here.num_nodes()),
    }
}

fn activate(kind: Activation, y: f64) -> f64 {
    match kind {
        Activation::Linear => y,
        Activation::Relu => y.max(0.0),
        Activation::Tanh => y.tanh(),
        other => panic!("{other:?} has no twin"),
    }
}

pub(crate) fn run(
    layout: &Layout,
    parameters: &[f64],
    samples: &[Sample],
    (kind, negatives): (Loss, Negatives),
    draw: Draw,
) -> Twin {
    let a = &layout.architecture;
    let tensors = layout.tensors();
    let tensor = |name: &str| -> Option<Matrix> {
        let (_, window) = tensors.iter().find(|(other, _)| other == name)?;
        let values = read(parameters, *window);
        Some(values.chunks(window.columns).map(<[f64]>::to_vec).collect())
    };
    let dense = |x: &Matrix, weight: &str, bias: &str, kind: Activation| {
        let bias = tensor(bias);
        let mut y = product(x, &tensor(weight).unwrap());
        for row in &mut y {
            for (j, y) in row.iter_mut().enumerate() {
                *y = activate(kind, *y + bias.as_ref().map_or(0.0, |b| b[0][j]));
            }
        }
        y
    };
    // g[level][graph][node], x[level][graph][node]
    let mut g: Vec<Vec<Matrix>> = vec![Vec::new(); a.levels + 1];
    let mut x: Vec<Vec<Matrix>> = vec![Vec::new(); a.levels];
    for sample in samples {
        let z: Matrix = sample.features.chunks(layout.features).map(<[f64]>::to_vec).collect();
        g[0].push(match a.input {
            Some(kind) => dense(&z, "input.weight", "input.bias", kind),
            None => z,
        });
        for l in 0..a.levels {
            let (graph, parent, count) = level(&sample.graph, &sample.pyramid, l);
            let adjacency = normalized_adjacency(graph);
            let mut powers = vec![g[l].last().unwrap().clone()];
            for _ in 0..a.hops {
                powers.push(product(&adjacency, powers.last().unwrap()));
            }
            let mut used = match a.layer {
                LayerKind::Krylov => powers.clone(),
                LayerKind::Gcn => powers[1..2].to_vec(),
                other => panic!("{other:?} has no twin"),
            };
            if let Some(c) = tensor("level.0.relations.weight").filter(|_| l == 0) {
                used.push(relational(sample, &c, &powers[0]));
            }
            let k: Matrix = (0..graph.num_nodes())
                .map(|u| used.iter().flat_map(|power| power[u].clone()).collect())
                .collect();
            let name = |theta: &str| format!("level.{l}.{theta}");
            let through = |theta: &str| {
                let (weight, bias) =
                    (name(&format!("{theta}.weight")), name(&format!("{theta}.bias")));
                dense(&k, &weight, &bias, Activation::Tanh)
            };
            let h = through("theta1");
            x[l].push(through("theta4"));
            let mut pooled = vec![vec![0.0; a.dim]; count];
            for (u, &p) in parent.iter().enumerate() {
                for j in 0..a.dim {
                    pooled[p][j] += h[u][j];
                }
            }
            let (weight, bias) = (name("theta2.weight"), name("theta3.bias"));
            g[l + 1].push(dense(&pooled, &weight, &bias, Activation::Linear));
        }
    }
    let losses = (0..a.levels)
        .map(|l| loss(samples, l, &x[l], &g[l + 1], (kind, negatives), draw))
        .collect();
    let embeddings = (0..samples.len()).flat_map(|b| embedding(layout, b, &g, &x)).collect();
    Twin { losses, embeddings }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Every pair of the batch, one by one; or those with the super-nodes that were drawn, each of which
/// stands for several.
fn loss(
    samples: &[Sample],
    l: usize,
    x: &[Matrix],
    g: &[Matrix],
    (kind, negatives): (Loss, Negatives),
    draw: Draw,
) -> f64 {
    let softplus = |s: f64| (1.0 + s.exp()).ln();
    let (mut positive, mut negative, mut entropy) = (Vec::new(), Vec::new(), Vec::new());
    let total: usize = g.iter().map(Vec::len).sum();
    let drawn = draw.of_level(l, total).unwrap_or_else(|| (0..total as u32).collect());
    let mut negative_pairs = 0;
    for (b, sample) in samples.iter().enumerate() {
        let (_, parent, _) = level(&sample.graph, &sample.pyramid, l);
        for (u, xu) in x[b].iter().enumerate() {
            let s = |gv: &[f64]| match kind {
                Loss::Cosine { temperature } => {
                    dot(xu, gv) / (dot(xu, xu) * dot(gv, gv)).sqrt() / temperature
                }
                _ => dot(xu, gv),
            };
            let found = s(&g[b][parent[u]]);
            let (mut others_of_u, mut counted, mut sum, mut place) = (0, 0, 0.0, 0);
            positive.push(softplus(-found));
            for (c, others) in g.iter().enumerate() {
                for (v, gv) in others.iter().enumerate() {
                    let own = match negatives {
                        Negatives::All => c == b && v == parent[u],
                        Negatives::Others => c == b,
                        other => panic!("{other:?} has no twin"),
                    };
                    if !own {
                        others_of_u += 1;
                        if drawn.contains(&place) {
                            counted += 1;
                            negative.push(softplus(s(gv)));
                            sum += s(gv).exp();
                        }
                    }
                    place += 1;
                }
            }
            negative_pairs += others_of_u;
            if counted > 0 {
                sum *= f64::from(others_of_u) / f64::from(counted);
            }
            entropy.push((found.exp() + sum).ln() - found);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    match kind {
        Loss::Jsd => {
            let stands_for = total as f64 / drawn.len() as f64;
            let sum = stands_for * negative.iter().sum::<f64>();
            mean(&positive) + sum / f64::from(negative_pairs.max(1))
        }
        _ => mean(&entropy),
    }
}

fn embedding(layout: &Layout, b: usize, g: &[Vec<Matrix>], x: &[Vec<Matrix>]) -> Vec<f64> {
    let a = &layout.architecture;
    let read_out = |rows: &Matrix| -> Vec<f64> {
        let column = |j: usize| rows.iter().map(move |row| row[j]);
        let one = |kind: Readout, j: usize| match kind {
            Readout::Sum => column(j).sum(),
            Readout::Mean => column(j).sum::<f64>() / rows.len() as f64,
            Readout::Max => column(j).fold(f64::NEG_INFINITY, f64::max),
        };
        let all = |&kind: &Readout| (0..rows[0].len()).map(move |j| one(kind, j));
        a.readout.iter().flat_map(all).collect()
    };
    let first = if a.finest { 0 } else { 1 };
    let mut e: Vec<f64> = g[first..].iter().flat_map(|level| read_out(&level[b])).collect();
    if a.local {
        e.extend(x.iter().flat_map(|level| read_out(&level[b])));
    }
    if a.log {
        e.iter_mut().for_each(|e| *e = e.signum() * (1.0 + e.abs()).ln());
    }
    e
}
