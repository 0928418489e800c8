//! The network: pyramids in, vectors out.

pub mod architecture;
mod example;
pub mod network;
mod parameters;

pub use architecture::{Architecture, Layout};
pub use example::Example;
pub use network::{Keep, Network, Seeds, Workspace};
pub use parameters::initial;
