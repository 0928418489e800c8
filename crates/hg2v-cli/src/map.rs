//! Vectors as a map with neighbours.

use hg2v_report::{Contents, Neighbor, Projection};
use rayon::prelude::*;

const NEIGHBORS: usize = 6;

/// Puts what vectors say into a page.
pub(crate) fn put(contents: &mut Contents<'_>, dim: usize, values: &[f32]) -> hg2v::Result<()> {
    let rows: Vec<&[f32]> = values.chunks_exact(dim.max(1)).collect();
    contents.dim = dim;
    contents.neighbors = (0..rows.len())
        .into_par_iter()
        .map(|i| {
            let mut all: Vec<Neighbor> = (0..rows.len())
                .filter(|&j| j != i)
                .map(|j| {
                    let pairs = rows[i].iter().zip(rows[j]);
                    let square: f64 = pairs.map(|(x, y)| f64::from(x - y).powi(2)).sum();
                    Neighbor { graph: j, distance: square.sqrt() }
                })
                .collect();
            all.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.graph.cmp(&b.graph)));
            all.truncate(NEIGHBORS);
            all
        })
        .collect();
    let n = rows.len() as f64;
    let mean: Vec<f64> =
        (0..dim).map(|c| rows.iter().map(|row| f64::from(row[c])).sum::<f64>() / n).collect();
    let std: Vec<f64> = (0..dim)
        .map(|c| {
            let v = rows.iter().map(|r| (f64::from(r[c]) - mean[c]).powi(2)).sum::<f64>() / n;
            if v > 0.0 { v.sqrt() } else { 1.0 }
        })
        .collect();
    let x: Vec<Vec<f64>> = rows
        .iter()
        .map(|r| (0..dim).map(|c| (f64::from(r[c]) - mean[c]) / std[c]).collect())
        .collect();
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for a in 0..2 {
        let mut v: Vec<f64> = (0..dim).map(|c| ((c * 7 + a * 3 + 1) as f64).sin()).collect();
        for _ in 0..60 {
            let s: Vec<f64> =
                x.par_iter().map(|r| r.iter().zip(&v).map(|(p, q)| p * q).sum()).collect();
            let mut w = vec![0.0; dim];
            for (r, s) in x.iter().zip(&s) {
                r.iter().zip(&mut w).for_each(|(p, w)| *w += p * s);
            }
            for b in &axes {
                let d: f64 = b.iter().zip(&w).map(|(p, q)| p * q).sum();
                b.iter().zip(&mut w).for_each(|(p, w)| *w -= d * p);
            }
            let l = w.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-30);
            v = w.into_iter().map(|x| x / l).collect();
        }
        axes.push(v);
    }
    let at = |r: &Vec<f64>| {
        [0, 1].map(|a: usize| r.iter().zip(&axes[a]).map(|(p, q)| p * q).sum::<f64>())
    };
    contents.projections =
        vec![Projection { name: "pca".to_owned(), points: x.iter().map(at).collect() }];
    Ok(())
}
