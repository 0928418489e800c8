//! The network: the choices that make it, and graphs made ready for it.
//!
//! [`Hg2v`](crate::Hg2v) is a network that has learnt, [`layer`](crate::layer) one inside a larger
//! model.

pub(crate) mod architecture;
mod example;
pub(crate) mod network;
pub(crate) mod parameters;

pub use crate::nn::dense::Activation;
pub use crate::nn::readout::Readout;
pub use architecture::{Architecture, LayerKind, Part, Relational};
pub use example::Example;

pub(crate) use architecture::Layout;
pub(crate) use network::{Keep, Network, Seeds, Workspace};
pub(crate) use parameters::initial;
