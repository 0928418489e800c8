//! Hierarchical Graph2Vec behind one `fit` and one `embed`.

mod params;

mod fit;

mod model;

pub use fit::{Failure, Fit};
pub use model::{Embeddings, Gradients, Hg2v};
pub use params::Hg2vParams;
