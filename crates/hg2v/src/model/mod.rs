//! The network: pyramids in, vectors out.

pub mod architecture;
pub mod network;

pub use architecture::{Architecture, Layout};
pub use network::{Keep, Network, Tape};
