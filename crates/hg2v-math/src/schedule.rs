//! Which graphs when, and how far each step goes.

use crate::rng;

/// The rate of step `step` of `total`: from `rate` down to `rate / decay`, by the
/// same factor every step.
pub fn rate(rate: f64, decay: f64, step: u64, total: u64) -> f64 {
    let done = step as f64 / total.saturating_sub(1).max(1) as f64;
    rate * decay.powf(-done)
}

/// The order in which epoch `epoch` takes `n` graphs: every graph once, shuffled.
pub fn order(n: usize, seed: u64, epoch: u64) -> Vec<u32> {
    let mut stream = rng::stream(seed, "order", epoch, 0);
    let mut order: Vec<u32> = (0..n as u32).collect();
    rng::shuffle_by_remainder(&mut order, &mut stream);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_geometrically_from_first_to_last() {
        assert_eq!(rate(1e-3, 1000.0, 0, 101), 1e-3);
        assert!((rate(1e-3, 1000.0, 100, 101) - 1e-6).abs() < 1e-18);
        let ratio = |step| rate(1.0, 1000.0, step + 1, 101) / rate(1.0, 1000.0, step, 101);
        assert!((ratio(3) - ratio(77)).abs() < 1e-12);
        assert_eq!(rate(0.5, 1000.0, 0, 1), 0.5);
    }

    #[test]
    fn every_graph_comes_once_an_epoch_in_another_order() {
        let (first, second) = (order(100, 7, 0), order(100, 7, 1));
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_ne!(first, second);
        assert_eq!(first, order(100, 7, 0));
    }
}
