//! Losses: from matrices to the one number that training lowers.

use hg2v_math::Real;

use super::norms::softmax_row;
use super::{Array, Segments, Tape, Var};

/// Keeps a logarithm finite (PyTorch Geometric's).
const LOGARITHM: f64 = 1e-15;

impl<R: Real> Tape<R> {
    /// `ℓ = −mean_u ln softmax(X(u))(class(u))`. `dX(u) = (softmax(X(u)) − e_class(u)) / N`.
    pub fn cross_entropy(&mut self, x: Var, classes: &[u32]) -> Var {
        let mut shares = self.value(x).clone();
        assert_eq!(shares.rows, classes.len(), "a class for each row");
        let mut loss = 0.0;
        for (u, &class) in classes.iter().enumerate() {
            let row = self.value(x).row(u);
            let largest = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(b.to_f64()));
            let sum: f64 = row.iter().map(|x| (x.to_f64() - largest).exp()).sum();
            loss += sum.ln() + largest - row[class as usize].to_f64();
            softmax_row(shares.row_mut(u));
            shares.row_mut(u)[class as usize] -= R::ONE;
        }
        let share = 1.0 / classes.len().max(1) as f64;
        let y = Array::scalar(R::from_f64(loss * share));
        self.push(y, &[x], move |_, dy, to| {
            to.add_scaled(x, R::from_f64(share) * dy.values[0], &shares);
        })
    }

    /// `ℓ = mean_u Σ_j −S(u, j)·ln(S(u, j) + 10⁻¹⁵)`: how undecided rows of shares
    /// are. `dS = −(ln(S + 10⁻¹⁵) + S / (S + 10⁻¹⁵)) / N`.
    pub fn entropy(&mut self, s: Var) -> Var {
        let from = self.value(s);
        let share = R::from_f64(1.0 / from.rows.max(1) as f64);
        let tiny = R::from_f64(LOGARITHM);
        let logs = from.map(|s| R::from_f64((s + tiny).to_f64().ln()));
        let sum: R = from.values.iter().zip(&logs.values).map(|(&s, &log)| -s * log).sum();
        self.push(Array::scalar(sum * share), &[s], move |back, dy, to| {
            let dy = dy.values[0] * share;
            to.add(s, |ds| {
                let terms = back[s].values.iter().zip(&logs.values);
                for (ds, (&s, &log)) in ds.values.iter_mut().zip(terms) {
                    *ds -= dy * (log + s / (s + tiny));
                }
            });
        })
    }

    /// The Jensen–Shannon bound on mutual information between nodes and graphs
    /// (Nowozin et al. 2016; Hjelm et al. 2019), turned into a loss. With `T(u, g)`
    /// the score of node `u` beside graph `g`, and `sp(t) = ln(1 + eᵗ)`,
    ///
    /// ```text
    /// ℓ = mean_{u ∈ g} sp(−T(u, g)) + mean_{u ∉ g} sp(T(u, g)) − 2·ln 2
    /// ```
    ///
    /// `dT = −σ(−T)/N` where the node is of the graph, `σ(T)/(N·(B − 1))` elsewhere.
    pub fn jensen_shannon(&mut self, scores: Var, segments: &Segments) -> Var {
        // softplus_vjp turns scores into their gradient on the way.
        let mut d = self.value(scores).clone();
        let (n, graphs) = (d.rows, d.columns);
        assert_eq!(segments.len(), graphs + 1, "a column for each graph");
        let own = 1.0 / n.max(1) as f64;
        let others = 1.0 / (n * graphs.saturating_sub(1)).max(1) as f64;
        let mut loss = -2.0 * std::f64::consts::LN_2;
        for (g, range) in segments.windows(2).enumerate() {
            for u in range[0]..range[1] {
                let row = d.row_mut(u);
                let (before, rest) = row.split_at_mut(g);
                let (here, after) = rest.split_at_mut(1);
                for part in [before, after] {
                    loss += others * R::softplus_vjp(part, R::from_f64(others));
                }
                here[0] = -here[0];
                loss += own * R::softplus_vjp(here, R::from_f64(own));
                here[0] = -here[0];
            }
        }
        self.push(Array::scalar(R::from_f64(loss)), &[scores], move |_, dy, to| {
            to.add_scaled(scores, dy.values[0], &d);
        })
    }
}
