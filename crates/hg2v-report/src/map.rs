//! Vectors as maps, and who is near whom.

use std::borrow::Cow;

use hg2v::context::Context;
use hg2v::error::Result;
use hg2v::vocabulary::Named;
use hg2v_search::catalog::SearchOptions;
use hg2v_search::project::{Point, ProjectionMethod, Tsne, Umap, pca, tsne, umap};
use hg2v_search::{Index, Metric, Neighbor, NeighborGraph, Space};

/// How many neighbours of each of `rows` vectors a map looks at.
fn neighbors_needed(method: ProjectionMethod, rows: usize) -> Result<usize> {
    match method {
        ProjectionMethod::Pca => Ok(0),
        ProjectionMethod::Tsne => Tsne::default().neighbors_needed(rows),
        ProjectionMethod::Umap => Umap::default().neighbors_needed(rows),
    }
}

/// A place for each row of `graph`; `components` are those of PCA.
fn points(
    method: ProjectionMethod,
    graph: &NeighborGraph,
    components: &[Point],
    seed: u64,
    context: &Context<'_>,
) -> Result<Vec<Point>> {
    match method {
        ProjectionMethod::Pca => Ok(components.to_vec()),
        ProjectionMethod::Tsne => tsne(graph, components, &Tsne::default(), context),
        ProjectionMethod::Umap => umap(graph, components, &Umap::default().seed(seed), context),
    }
}

/// A place for each graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// How it was found.
    pub name: String,
    /// The places, in any unit; y grows upwards.
    pub points: Vec<Point>,
}

/// Neighbours of a graph that a page shows.
pub const NEIGHBORS: usize = 6;

/// What vectors say about their graphs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Map {
    /// Numbers a vector.
    pub dim: usize,
    /// Maps of the graphs, the first of which is shown first.
    pub projections: Vec<Projection>,
    /// The graphs nearest to each, nearest first: one list for each graph, or none at all.
    pub neighbors: Vec<Vec<Neighbor>>,
    /// How distances are measured, in words.
    pub metric: String,
}

impl Map {
    /// Maps of vectors of `dim` numbers each, and the [six](NEIGHBORS) nearest to each, exact or
    /// through links as `options` say. Of standardised vectors, maps are standardised, too.
    ///
    /// One neighbour graph serves all of it. Maps keep Euclidean distances: where neighbours are
    /// told by another metric, and a map needs some, those of the maps are a second one.
    ///
    /// # Errors
    /// Vectors without numbers, or of which no map can be made; [`Stopped`](hg2v::Error::Stopped).
    pub fn new(
        dim: usize,
        vectors: Vec<f32>,
        options: SearchOptions,
        methods: &[ProjectionMethod],
        context: &Context<'_>,
    ) -> Result<Map> {
        let SearchOptions { metric, standardise, index, seed, .. } = options;
        let space = match standardise {
            true => Space::standardised(dim, vectors, metric)?,
            false => Space::new(dim, vectors, metric)?,
        };
        let mut needed = 0;
        for method in methods {
            needed = needed.max(neighbors_needed(*method, space.len())?);
        }
        let same = metric == Metric::Euclidean;
        let k = if same { needed.max(NEIGHBORS) } else { NEIGHBORS };
        let listed = Index::new(space, index, seed, context)?;
        let graph = listed.neighbor_graph(k)?;
        let rows = listed.into_space().into_rows();
        let components = match methods.is_empty() {
            true => Vec::new(),
            false => pca(dim, &rows, 2)?.points(),
        };
        let of_maps = match same || needed == 0 {
            true => Cow::Borrowed(&graph),
            false => {
                let space = Space::new(dim, rows, Metric::Euclidean)?;
                Cow::Owned(Index::new(space, index, seed, context)?.neighbor_graph(needed)?)
            }
        };
        let mut projections = Vec::new();
        for method in methods {
            let points = self::points(*method, &of_maps, &components, seed, context)?;
            projections.push(Projection { name: method.word().to_owned(), points });
        }
        let words = match metric {
            Metric::Euclidean => "Euclidean",
            Metric::Cosine => "1 less the cosine",
        };
        let after = if standardise { ", columns standardised" } else { "" };
        let neighbors = graph.into_lists(NEIGHBORS);
        Ok(Map { dim, projections, neighbors, metric: format!("{words}{after}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::Error;
    use hg2v::progress::{Flow, Report};
    use hg2v_math::linalg::vector::start_value;
    use hg2v_search::IndexKind;
    use hg2v_search::scale::StandardScaler;

    /// Lists and maps are what each would be with a neighbour graph of its own.
    #[test]
    fn what_is_shared_changes_nothing() {
        const DIM: usize = 5;
        let vectors: Vec<f32> = (0..60 * DIM as u64).map(|i| start_value(i) as f32).collect();
        for (metric, standardise) in
            [(Metric::Euclidean, false), (Metric::Euclidean, true), (Metric::Cosine, true)]
        {
            let options = SearchOptions::default().metric(metric).standardise(standardise).seed(3);
            let methods = [ProjectionMethod::Umap, ProjectionMethod::Tsne, ProjectionMethod::Pca];
            let map =
                Map::new(DIM, vectors.clone(), options, &methods, &Context::default()).unwrap();
            let mut rows = vectors.clone();
            if standardise {
                StandardScaler::of(&rows, DIM).apply(&mut rows);
            }
            let own = |metric, k| {
                let space = Space::new(DIM, rows.clone(), metric).unwrap();
                let index = Index::new(space, IndexKind::Exact, 0, &Context::default()).unwrap();
                index.neighbor_graph(k).unwrap()
            };
            assert_eq!(map.neighbors, own(metric, NEIGHBORS).into_lists(NEIGHBORS));
            let components = pca(DIM, &rows, 2).unwrap().points();
            for (method, projection) in methods.into_iter().zip(map.projections) {
                let k = neighbors_needed(method, 60).unwrap().max(1);
                let graph = own(Metric::Euclidean, k);
                let points =
                    super::points(method, &graph, &components, 3, &Context::default()).unwrap();
                assert_eq!(projection, Projection { name: method.word().to_owned(), points });
            }
        }
    }

    #[test]
    fn whoever_waits_for_a_map_can_stop_it() {
        let vectors: Vec<f32> = (0..200).map(|i| start_value(i) as f32).collect();
        let stop = |_: &Report<'_>| Flow::Stop;
        let context = Context::default().watched_by(&stop);
        for method in [ProjectionMethod::Umap, ProjectionMethod::Tsne] {
            let options = SearchOptions::default();
            let stopped = Map::new(4, vectors.clone(), options, &[method], &context);
            assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        }
    }
}
