//! Graphs into vectors, and their neighbours, over HTTP.
//!
//! 1. [`options`]: what is served, where, and within which bounds;
//! 2. `embedding`: on which machine graphs become vectors; `state`: the model, the index and the graphs, replaced together when they change;
//! 3. `body`: what is sent arrives within bounds, [`request`]: and becomes graphs and questions,
//!    or refusals;
//! 4. `queue`: what is asked at the same time is answered by one call;
//! 5. `routes`: what is answered to whom, `stream`: line by line, `metrics`: and how often;
//! 6. `connections`: from the first byte of a connection to the last of a shutdown.
//!
//! A vector that is answered is, to the bit, the one that `hg2v embed` writes on that machine. No part of
//! a request ever names a file.

pub mod options;

mod embedding;

mod state;

mod body;

pub mod request;

mod metrics;

mod queue;

mod routes;

mod stream;

mod connections;

pub use connections::Server;
pub use options::Options;
pub use state::Graphs;
