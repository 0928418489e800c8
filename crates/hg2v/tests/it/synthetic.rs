//! Sets of synthetic graphs, whole.

use std::env;
use std::path::Path;

use hg2v::Result;
use hg2v::dataset::synthetic::dla::Dla;
use hg2v::dataset::synthetic::families::Family;
use hg2v::dataset::synthetic::noise::Noise;
use hg2v::dataset::synthetic::random::{
    BarabasiAlbert, ErdosRenyi, RandomGeometric, StochasticBlock, WattsStrogatz,
};
use hg2v::dataset::synthetic::{Model, SyntheticSet, Totals};
use hg2v::dataset::{Limits, Sink, open};
use hg2v::graph::GraphRecord;

#[derive(Default)]
struct Keep(Vec<GraphRecord>);

impl Sink for Keep {
    fn write(&mut self, record: &GraphRecord) -> Result<()> {
        self.0.push(record.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn set(model: &dyn Model, graphs: u64, seed: u64) -> SyntheticSet<'_> {
    SyntheticSet { model, graphs, seed, noise: Noise { remove: 1, add: 2 }, label: None }
}

fn written(set: &SyntheticSet<'_>, threads: usize) -> (Vec<GraphRecord>, Totals) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut sink = Keep::default();
        let mut heard = 0;
        let totals = set.write(&mut sink, |done| heard = done).unwrap();
        assert_eq!(heard, set.graphs);
        (sink.0, totals)
    })
}

fn models() -> Vec<Box<dyn Model>> {
    vec![
        Box::new(Dla { nodes: 60, ..Dla::default() }),
        Box::new(Dla { nodes: 60, hard: true, ..Dla::default() }),
        Box::new(Family::Wheel { nodes: 50 }),
        Box::new(ErdosRenyi { nodes: 100, probability: 0.1 }),
        Box::new(BarabasiAlbert { nodes: 100, attach: 3 }),
        Box::new(WattsStrogatz { nodes: 100, neighbors: 4, probability: 0.2 }),
        Box::new(RandomGeometric { nodes: 100, radius: 0.2 }),
        Box::new(StochasticBlock { sizes: vec![30, 40], p_in: 0.3, p_out: 0.05 }),
    ]
}

#[test]
fn a_set_is_a_function_of_its_seed_alone() {
    for model in models() {
        let model = model.as_ref();
        let (one, totals) = written(&set(model, 20, 5), 1);
        for threads in [2, 4] {
            assert_eq!(written(&set(model, 20, 5), threads).0, one, "{}", model.name());
        }
        assert_eq!(totals.graphs, 20);
        assert_eq!(totals.edges, one.iter().map(|g| g.edges.len() as u64).sum::<u64>());
        // A shorter set is the beginning of a longer one; ids are positions.
        assert_eq!(written(&set(model, 7, 5), 2).0, one[..7], "{}", model.name());
        assert_eq!(one[6].id, Some(6.into()));
        // Another seed, and the next graph, are others.
        assert_ne!(written(&set(model, 1, 6), 1).0[0].edges, one[0].edges);
        assert_ne!(one[2].edges, one[4].edges, "{}", model.name());
    }
}

#[test]
fn more_noise_than_room_is_refused() {
    let family = Family::Cycle { nodes: 5 };
    for noise in [Noise { remove: 6, add: 0 }, Noise { remove: 0, add: 6 }] {
        let refused = SyntheticSet { noise, ..set(&family, 3, 0) };
        let said = refused.write(&mut Keep::default(), |_| ()).unwrap_err().to_string();
        assert!(said.contains("-edges is 6, but the graph"), "{said}");
    }
}

#[test]
fn large_graphs_are_made_too() {
    let n = 1_000_000;
    let models: [(Box<dyn Model>, usize); 4] = [
        (Box::new(BarabasiAlbert { nodes: n, attach: 2 }), 1_999_996),
        (Box::new(WattsStrogatz { nodes: n, neighbors: 4, probability: 0.1 }), 2_000_000),
        (Box::new(Family::Grid { rows: 1000, columns: 1000 }), 1_998_000),
        (Box::new(ErdosRenyi { nodes: n, probability: 0.0 }), 0),
    ];
    for (model, edges) in models {
        let mut one = set(model.as_ref(), 1, 0);
        one.noise = Noise::default();
        let record = one.graph(0).unwrap();
        assert_eq!((record.num_nodes, record.edges.len()), (n, edges), "{}", model.name());
    }
}

/// The mean radius of gyration and the share of leaves of the graphs of a class.
fn geometry(graphs: &[GraphRecord], class: i64) -> [f64; 2] {
    let of_class = graphs.iter().filter(|g| g.label == Some(class.into()));
    let (mut radii, mut leaves, mut nodes, mut count) = (0.0, 0.0, 0.0, 0.0);
    for graph in of_class {
        let x = graph.features.as_ref().unwrap();
        let n = f64::from(graph.num_nodes);
        let axes = [0, 1].map(|axis| x.values.iter().skip(axis).step_by(2));
        let variance = axes.map(|axis| {
            let (sum, squares) = axis.fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
            squares / n - (sum / n).powi(2)
        });
        radii += (variance[0] + variance[1]).sqrt();
        let mut degrees = vec![0; graph.num_nodes as usize];
        graph.edges.iter().flatten().for_each(|&node| degrees[node as usize] += 1);
        leaves += degrees.iter().filter(|&&degree| degree == 1).count() as f64;
        nodes += n;
        count += 1.0;
    }
    [radii / count, leaves / nodes]
}

#[test]
fn clusters_are_like_those_the_authors_ship() {
    let Some(data) = env::var_os("HG2V_DATA") else {
        eprintln!("skipped: set HG2V_DATA to run clusters_are_like_those_the_authors_ship");
        return;
    };
    // DLA2's open clusters were grown between walls, which ours are not.
    for (name, radius, tolerance) in [("DLA", 1.0, [0.03, 0.03]), ("DLA2", 2.0, [0.08, 0.03])] {
        let path = Path::new(&data).join(format!("{name}.zip"));
        let shipped: Vec<_> =
            open(&path, &Limits::default()).unwrap().map(Result::unwrap).collect();
        let model = Dla { nodes: 100, radius, ..Dla::default() };
        let mut ours = Keep::default();
        let unchanged = SyntheticSet { noise: Noise::default(), ..set(&model, 1000, 0) };
        unchanged.write(&mut ours, |_| ()).unwrap();
        for class in [1, 2] {
            let (theirs, ours) = (geometry(&shipped, class), geometry(&ours.0, class));
            for which in 0..2 {
                let off = (ours[which] / theirs[which] - 1.0).abs();
                assert!(off < tolerance[which], "{name} {class}: {ours:?} against {theirs:?}");
            }
        }
    }
}
