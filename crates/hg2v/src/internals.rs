//! What tests and benches of this crate hold on to, and nobody else should: the passes on a device,
//! and the state of a training. No version promises any of it.

pub use crate::coarsen::contract::contract;
pub use crate::model::architecture::Layout;
pub use crate::model::network::{Keep, Network, Seeds, Workspace};
pub use crate::model::parameters::initial;
#[cfg(feature = "cuda")]
pub use crate::nn::cuda::Cuda;
pub use crate::nn::device::{Device, Panel, PanelMut, Window};
pub use crate::nn::draw::Draw;
pub use crate::nn::{Batch, Cpu, Relations};
pub use crate::saved::{read_checkpoint, write_checkpoint};
pub use crate::train::{End, State, Trainer};

/// The most graphs of a part of a collection.
pub const PART: usize = crate::prepare::PART;
