//! Hierarchical Graph2Vec behind one `fit` and one `embed`.

mod beside;

mod params;

mod fit;

mod model;

mod folder;

mod anatomy;

pub use anatomy::Anatomy;
pub use fit::{Failure, Fit};
pub use folder::{CHECKPOINT_EVERY, Trained, TrainingFolder, is_unfinished};
pub use model::{Hg2v, Hg2vConfig};
pub use params::{Hg2vParams, Preset, Untrained};
