//! The first values of a network's parameters.

use hg2v_math::rng;

use super::architecture::Layout;

/// Glorot's uniform start (Glorot & Bengio 2010): matrices within
/// `±√(6 / (rows + columns))`, biases 0. Every tensor draws from its own stream,
/// so that it does not depend on the others.
pub fn initial(layout: &Layout, seed: u64) -> Vec<f32> {
    let mut parameters = vec![0.0; layout.len];
    for (name, window) in layout.tensors() {
        if name.ends_with(".bias") {
            continue;
        }
        // A coefficient of a relation is a matrix of one row and one column.
        let ends = if layout.relations == Some(window) { 2 } else { window.rows + window.columns };
        let bound = (6.0 / ends as f64).sqrt();
        let mut stream = rng::stream(seed, &name, 0, 0);
        for row in 0..window.rows {
            for value in &mut parameters[window.offset + row * window.stride..][..window.columns] {
                *value = (bound * (2.0 * rng::unit(&mut stream) - 1.0)) as f32;
            }
        }
    }
    parameters
}
