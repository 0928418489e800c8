//! What is like this graph? Neighbours, duplicates, outliers, drift and maps of vectors.
//!
//! 1. [`Space`]: vectors, and how far apart two of them are;
//! 2. [`exact`]: the nearest of all of them, by blocked matrix products;
//! 3. [`hnsw`]: nearly always the nearest, of so many that all would take too long;
//! 4. [`Index`]: either, with the same answers;
//! 5. [`NeighborGraph`]: the nearest of every row, found once for all that need them;
//! 6. [`catalog`]: an index with the graphs' names;
//! 7. [`surprise`]: how far graphs surprise those who know the others;
//! 8. [`outliers`] and [`duplicates`]: which are like no other, and which too much like one;
//! 9. [`drift`]: whether two sets come from the same place;
//! 10. [`explain`]: which parts of vectors and which nodes make two graphs similar;
//! 11. [`project`]: two coordinates for each, to look at.
//!
//! Everything is the same bits at any number of threads, and ties go to the earlier row.
//!
//! ```
//! use hg2v_search::{Metric, Space};
//! let space = Space::new(2, vec![0.0, 0.0, 3.0, 4.0, 0.0, 1.0], Metric::Euclidean)?;
//! let near = hg2v_search::exact::nearest(&space, &[0.0f32, 0.2], 2)?;
//! assert_eq!((near[0][0].position, near[0][1].position), (0, 2));
//! # Ok::<(), hg2v::Error>(())
//! ```

pub mod scale;

mod space;

pub mod exact;

pub mod hnsw;

mod neighbor_graph;

mod index;

pub mod catalog;

pub mod surprise;

pub mod outliers;

pub mod duplicates;

pub mod drift;

pub mod explain;

pub mod project;

pub use index::{APPROXIMATE_FROM, Index, IndexKind};
pub use neighbor_graph::NeighborGraph;
pub use space::{Metric, Neighbor, Space};
