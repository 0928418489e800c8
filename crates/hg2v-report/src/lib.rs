//! Run records in, one self-contained page out.
//!
//! 1. [`run`]: what a folder says about how its model was made;
//! 2. [`places`]: where the nodes of a graph are drawn;
//! 3. [`molecule`]: graphs that are molecules, drawn [as chemists know them](depiction), with
//!    [double bonds](kekule) as [two lines](bond_lines);
//! 4. [`sketch`]: a graph and its pyramid in a few bytes, large ones coarsened;
//! 5. [`attributes`]: what points can be coloured by;
//! 6. [`map`]: vectors as maps, and who is near whom;
//! 7. [`pack`]: JSON and arrays as one text that a browser unpacks;
//! 8. [`page()`]: all of it as HTML;
//! 9. [`portrait`]: a page of a model and graphs.
//!
//! The page is one file that asks for nothing: it opens from a disk as from a server,
//! and a policy in it forbids every request. What a file says, ids and labels
//! above all, goes through the pack and reaches the page as text, never as HTML.
//!
//! ```
//! use hg2v::context::Context;
//! use hg2v::graph::GraphRecord;
//! use hg2v::prepare::Run;
//! use hg2v::{Hg2v, Model};
//! use hg2v_report::{Contents, Map, PageMode, page};
//! use hg2v_search::catalog::SearchOptions;
//! use hg2v_search::project::ProjectionMethod;
//!
//! let path = |n: u32| (1..n).map(|v| [v - 1, v]).collect();
//! let graphs: Vec<_> = (4..12)
//!     .map(|n| GraphRecord { num_nodes: n, edges: path(n), ..GraphRecord::default() })
//!     .collect();
//! let params = Hg2v::params().dim(4).levels(1).epochs(1);
//! let collection = params.collect(Run::in_memory(&graphs), &Context::default())?;
//! let vectors = params.fit(&graphs)?.embed(&graphs)?;
//! let (options, methods) = (SearchOptions::default(), [ProjectionMethod::Pca]);
//! let map = Map::new(vectors.dim, vectors.values, options, &methods, &Context::default())?;
//! let contents = Contents { title: "Paths".to_owned(), map, ..Contents::of(&collection) };
//! let made = page(&contents, PageMode::Still)?;
//! assert!(made.html.starts_with("<!doctype html>"));
//! # Ok::<(), hg2v::Error>(())
//! ```

pub mod run;

pub mod places;

pub mod molecule;

pub mod kekule;

pub mod bond_lines;

pub mod depiction;

pub mod sketch;

pub mod attributes;

pub mod map;

pub mod pack;
mod settings;

pub mod palette;

pub mod page;

pub mod portrait;

#[doc(hidden)]
pub mod words;

#[cfg(test)]
#[path = "../build/link.rs"]
mod link;

pub use map::{Map, Projection};
pub use page::{Contents, Page, PageMode, page};
pub use portrait::Portrait;
