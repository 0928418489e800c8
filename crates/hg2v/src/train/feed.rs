//! The batches of a run, one after the other, each where the device can work on it.

use super::Recipe;
use crate::model::{Example, Network, Workspace};
use crate::nn::device::Device;

/// Puts batches on a workspace: of graphs that the device keeps, where it keeps them.
pub(super) struct Feed<'a, D: Device<Real = f32>> {
    device: &'a D,
    recipe: Recipe,
    examples: &'a [Example],
    /// All graphs in the device's memory, where that gains something.
    store: Option<D::Store>,
    /// The epoch whose order of the graphs this is.
    epoch: Option<u64>,
    order: Vec<u32>,
}

impl<'a, D: Device<Real = f32>> Feed<'a, D> {
    pub(super) fn new(device: &'a D, recipe: Recipe, examples: &'a [Example]) -> Feed<'a, D> {
        let parts: Vec<_> =
            examples.iter().map(|example| (&example.batch, &example.features[..])).collect();
        Feed {
            device,
            recipe,
            examples,
            store: device.store(&parts),
            epoch: None,
            order: Vec::new(),
        }
    }

    /// Puts batch `within` of epoch `epoch` on the workspace, and says how many graphs it has.
    pub(super) fn place(
        &mut self,
        epoch: u64,
        within: u64,
        network: &Network,
        workspace: &mut Workspace<D>,
    ) -> usize {
        let graphs = self.examples.len();
        if self.epoch != Some(epoch) {
            self.epoch = Some(epoch);
            self.order = self.recipe.order(graphs, epoch);
        }
        let start = within as usize * self.recipe.batch;
        let chosen = &self.order[start..(start + self.recipe.batch).min(graphs)];
        if let Some(store) = &self.store {
            network.place_stored(self.device, workspace, store, chosen);
            return chosen.len();
        }
        let examples = chosen.iter().map(|&graph| &self.examples[graph as usize]);
        network.place(self.device, workspace, examples);
        chosen.len()
    }
}
