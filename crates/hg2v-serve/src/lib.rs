//! Graphs into vectors, and their neighbours, over HTTP.
//!
//! 1. [`options`]: what is served, where, and within which bounds;
//! 2. [`state`]: the model, the index and the graphs, replaced together when they change;
//! 3. [`request`]: bodies become graphs and questions, or refusals;
//! 4. [`queue`]: what is asked at the same time is answered by one call;
//! 5. [`routes`]: what is answered to whom, [`metrics`]: and how often;
//! 6. [`connections`]: from the first byte of a connection to the last of a shutdown.
//!
//! A vector that is answered is, to the bit, the one that `hg2v embed` writes. No part of
//! a request ever names a file.

pub mod options;

pub mod state;

pub mod request;

pub mod metrics;

pub mod queue;

pub mod routes;

mod stream;

pub mod connections;

pub use connections::Server;
pub use options::Options;
