//! Graphs into vectors, and their neighbours, over HTTP.
//!
//! 1. [`options`]: what is served, where, and within which bounds;
//! 2. `embedding`: on which machine graphs become vectors; `state`: the model, the index and the graphs, replaced together when they change;
//! 3. `answer`: what is sent back, `body`: what is sent arrives within bounds, [`request`]: and
//!    becomes graphs and questions, or refusals;
//! 4. `work`: what is asked at the same time is answered by one call, `queue`: in lanes for small
//!    and large;
//! 5. `access`: who may ask, `login`: in a browser, `routes`: what is answered to whom, `ask`: what
//!    the model says, `stream`: line by line, `metrics`: and how often;
//! 6. `listener`, `wire`, `pulse`, `signals`, `connections`: from the first byte of a connection
//!    to the last of a shutdown.
//!
//! A vector that is answered is, to the bit, the one that `hg2v embed` writes on that machine. No part of
//! a request ever names a file.

pub mod options;

mod embedding;

mod state;

mod words;

mod answer;

mod body;

pub mod request;

mod metrics;

mod work;

mod queue;

mod pulse;

mod access;

mod routes;

mod ask;

mod login;

mod stream;

mod listener;

mod wire;

mod signals;

mod connections;

pub use connections::Server;
pub use options::Options;
pub use state::NamedGraphs;
