//! Sets of synthetic graphs, whole.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use hg2v::context::Context;
use hg2v::dataset::synthetic::calls::Calls;
use hg2v::dataset::synthetic::dla::Dla;
use hg2v::dataset::synthetic::families::Family;
use hg2v::dataset::synthetic::frankenstein::{ATTRIBUTES, Frankenstein};
use hg2v::dataset::synthetic::noise::Noise;
use hg2v::dataset::synthetic::random::{
    BarabasiAlbert, ErdosRenyi, RandomGeometric, StochasticBlock, WattsStrogatz,
};
use hg2v::dataset::synthetic::{Model, SyntheticSet, Totals};
use hg2v::dataset::{Limits, Sink, images, open};
use hg2v::graph::GraphRecord;
use hg2v::progress::{Flow, Report};
use hg2v::{Error, Result};

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
    SyntheticSet::new(model, graphs, seed).noise(Noise::default().remove(1).add(2))
}

fn written(set: &SyntheticSet<'_>, threads: usize) -> (Vec<GraphRecord>, Totals) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (mut sink, heard) = (Keep::default(), AtomicU64::new(0));
        let watch = |report: &Report<'_>| {
            heard.store(report.done, Ordering::Relaxed);
            Flow::Continue
        };
        let totals = set.write(&mut sink, &Context::default().watched_by(&watch)).unwrap();
        assert_eq!(heard.into_inner(), set.graphs);
        (sink.0, totals)
    })
}

#[test]
fn whoever_waits_for_graphs_can_stop_them() {
    let stop = |_: &Report<'_>| Flow::Stop;
    let family = Family::Cycle { nodes: 1 << 16 };
    let mut sink = Keep::default();
    let stopped = set(&family, 100, 0).write(&mut sink, &Context::default().watched_by(&stop));
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert!((1..100).contains(&sink.0.len()), "{}", sink.0.len());
}

fn models() -> Vec<Box<dyn Model>> {
    vec![
        Box::new(Dla::default().nodes(60)),
        Box::new(Dla::default().nodes(60).hard(true)),
        Box::new(Family::Wheel { nodes: 50 }),
        Box::new(ErdosRenyi::default().nodes(100).probability(0.1)),
        Box::new(BarabasiAlbert::default().nodes(100).attach(3)),
        Box::new(WattsStrogatz::default().nodes(100).neighbors(4).probability(0.2)),
        Box::new(RandomGeometric::default().nodes(100).radius(0.2)),
        Box::new(StochasticBlock::default().sizes(vec![30, 40]).p_in(0.3).p_out(0.05)),
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
    for noise in [Noise::default().remove(6).add(0), Noise::default().remove(0).add(6)] {
        let refused = set(&family, 3, 0).noise(noise);
        let said =
            refused.write(&mut Keep::default(), &Context::default()).unwrap_err().to_string();
        assert!(said.contains("_edges is 6, but the graph"), "{said}");
    }
}

#[test]
fn noise_is_refused_where_edges_carry_more_than_their_ends() {
    let record = GraphRecord {
        num_nodes: 3,
        edges: vec![[0, 1]],
        weights: Some(vec![2.0]),
        ..GraphRecord::default()
    };
    let mut stream = hg2v_math::rng::stream(0, "test", 0, 0);
    let mut same = record.clone();
    Noise::default().apply(&mut same, &mut stream).unwrap();
    assert_eq!(same, record);
    let said =
        Noise::default().remove(0).add(1).apply(&mut same, &mut stream).unwrap_err().to_string();
    assert!(said.contains("weights, labels or attributes"), "{said}");
}

#[test]
fn large_graphs_are_made_too() {
    let n = 1_000_000;
    let models: [(Box<dyn Model>, usize); 4] = [
        (Box::new(BarabasiAlbert::default().nodes(n).attach(2)), 1_999_996),
        (Box::new(WattsStrogatz::default().nodes(n).neighbors(4).probability(0.1)), 2_000_000),
        (Box::new(Family::Grid { rows: 1000, columns: 1000 }), 1_998_000),
        (Box::new(ErdosRenyi::default().nodes(n).probability(0.0)), 0),
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
        let model = Dla::default().nodes(100).radius(radius);
        let mut ours = Keep::default();
        let unchanged = set(&model, 1000, 0).noise(Noise::default());
        unchanged.write(&mut ours, &Context::default()).unwrap();
        for class in [1, 2] {
            let (theirs, ours) = (geometry(&shipped, class), geometry(&ours.0, class));
            for which in 0..2 {
                let off = (ours[which] / theirs[which] - 1.0).abs();
                assert!(off < tolerance[which], "{name} {class}: {ours:?} against {theirs:?}");
            }
        }
    }
}

/// Pictures of `SIDE × SIDE` pixels: the `v`-th of digit `d` is of the grey `20·d + v`.
fn write_pictures(folder: &Path, side: u8, classes: &[u8]) -> [std::path::PathBuf; 2] {
    let paths = ["images", "labels"].map(|name| folder.join(name));
    let count = classes.len() as u8;
    let mut images = vec![0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side];
    for (at, class) in classes.iter().enumerate() {
        let variant = classes[..at].iter().filter(|&other| other == class).count() as u8;
        images.resize(images.len() + usize::from(side).pow(2), 20 * class + variant);
    }
    fs::write(&paths[0], images).unwrap();
    let labels = [&[0, 0, 8, 1, 0, 0, 0, count][..], classes].concat();
    fs::write(&paths[1], labels).unwrap();
    paths
}

/// Atom `a` occurs 30 times, `b` 29 times, … `l` 19 times; `k` as often as `j`.
fn write_molecules(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("bursi.jsonl");
    let mut text = String::new();
    for turn in 0..30 {
        let atoms: Vec<String> = ('a'..='l')
            .enumerate()
            .filter(|&(at, _)| turn < 30 - if at == 10 { 9 } else { at })
            .map(|(_, atom)| format!("\"{atom}\""))
            .collect();
        text += &format!("{{\"node_labels\":[{}],\"edges\":[],\"y\":{turn}}}\n", atoms.join(","));
    }
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn an_atom_is_always_the_same_digit_and_pictures_differ() {
    let folder = tempfile::tempdir().unwrap();
    let classes: Vec<u8> = (0..40).map(|at| at % 10).collect();
    let [images, labels] = write_pictures(folder.path(), 28, &classes);
    let bursi = write_molecules(folder.path());
    let model = Frankenstein::open(&bursi, &images, &labels, &Limits::default()).unwrap();
    assert_eq!(model.len(), 30);
    let make = |seed| {
        let noise = Noise::default();
        set(&model, 30, seed).noise(noise).records().unwrap()
    };
    let made = make(3);
    // Of the equally frequent `j` and `k` the smaller is the tenth; `k` and `l` are no digits.
    let digits: Vec<_> = ["a", "b", "i", "j", "k", "l"].map(|a| model.digit(&a.into())).to_vec();
    assert_eq!(digits, [Some(0), Some(1), Some(8), Some(9), None, None]);
    let mut seen: Vec<BTreeSet<u8>> = vec![BTreeSet::new(); 12];
    let molecules: Vec<_> = open(&bursi, &Limits::default()).unwrap().map(Result::unwrap).collect();
    for (molecule, record) in molecules.iter().zip(&made) {
        assert_eq!((record.num_nodes, &record.label), (molecule.num_nodes, &molecule.label));
        assert_eq!((&record.node_labels, &record.edge_labels), (&None, &None));
        let x = record.features.as_ref().unwrap();
        assert_eq!(x.dim, ATTRIBUTES);
        for (node, atom) in molecule.node_labels.as_ref().unwrap().iter().enumerate() {
            let row = x.row(node);
            assert!(row.iter().all(|value| value == &row[0]), "two pictures in one");
            let grey = (row[0] * 255.0).round() as u8;
            let place = atom.to_string().as_bytes()[0] - b'a';
            let expected = if place < 10 { place } else { 0 };
            assert_eq!(grey / 20, expected, "{atom}");
            seen[usize::from(place)].insert(grey % 20);
        }
    }
    // All four pictures of each digit are used, and one blank for the others.
    assert_eq!(
        seen.iter().map(BTreeSet::len).collect::<Vec<_>>(),
        [[4; 10].as_slice(), &[1; 2]].concat()
    );
    assert_eq!(make(3), made);
    assert_ne!(make(4), made);
}

#[test]
fn pictures_that_are_no_digits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bursi = write_molecules(folder.path());
    let refusal = |side, classes: &[u8]| {
        let [images, labels] = write_pictures(folder.path(), side, classes);
        let opened = Frankenstein::open(&bursi, &images, &labels, &Limits::default());
        opened.unwrap_err().to_string()
    };
    let said = refusal(16, &[0, 1]);
    assert!(said.contains("16 × 16 pixels; give pictures of 28 × 28"), "{said}");
    let said = refusal(28, &[0, 1, 12]);
    assert!(said.contains("record 3: the class 12 is no digit"), "{said}");
    let said = refusal(28, &[0, 1, 3]);
    assert!(said.contains("there is no picture of a 2"), "{said}");
}

#[test]
fn frankenstein_has_the_graphs_of_the_original() {
    let Some(data) = env::var_os("HG2V_DATA") else {
        eprintln!("skipped: set HG2V_DATA to run frankenstein_has_the_graphs_of_the_original");
        return;
    };
    let at = |name: &str| Path::new(&data).join(name);
    let pictures = at("MNIST-t10k-images-idx3-ubyte.gz");
    let labels = at("MNIST-t10k-labels-idx1-ubyte.gz");
    let limits = Limits::default();
    let model = Frankenstein::open(&at("BURSI.zip"), &pictures, &labels, &limits).unwrap();
    let original = open(&at("FRANKENSTEIN.zip"), &limits).unwrap().map(Result::unwrap);
    let ours = set(&model, model.len(), 0).noise(Noise::default());
    let (mut nodes, mut blank, mut graphs) = (0, 0, 0);
    for (index, original) in original.enumerate() {
        let record = ours.graph(index as u64).unwrap();
        assert_eq!(record.edges, original.edges, "graph {index}");
        assert_eq!((record.num_nodes, &record.label), (original.num_nodes, &original.label));
        let x = record.features.unwrap();
        assert!(x.values.iter().all(|value| (0.0..=1.0).contains(value)));
        nodes += record.num_nodes;
        let is_blank = |node: &u32| x.row(*node as usize).iter().all(|&value| value == 0.0);
        blank += (0..record.num_nodes).filter(is_blank).count();
        graphs += 1;
    }
    // The pixels that are left out, the last four of the last row, are blank.
    let pictures = images::open(&pictures, &labels, images::Params::default(), &limits).unwrap();
    for picture in pictures {
        let pixels = picture.unwrap().features.unwrap();
        assert!(pixels.values.chunks(3).all(|pixel| pixel[0] < 27.0 || pixel[1] < 24.0));
    }
    // Potassium, calcium and lithium have no picture: 14, 2 and 1 of them.
    assert_eq!((graphs, nodes, blank), (4337, 73_283, 17));
}

#[test]
fn runs_are_of_versions_that_differ_in_calls_alone() {
    let model = Calls::default();
    let runs = |model: &Calls, graphs, seed| {
        let set = SyntheticSet::new(model, graphs, seed);
        let [one, four] = [1, 4].map(|threads| written(&set, threads).0);
        assert_eq!(one, four);
        one
    };
    // A call made for certain is made in every run, so that all functions are reached.
    let whole = runs(&model.made(1.0), 12, 0);
    let calls = |run: &GraphRecord| run.edges.iter().copied().collect::<BTreeSet<_>>();
    for (index, run) in whole.iter().enumerate() {
        run.check().unwrap();
        assert_eq!(run.label, Some(format!("v{}", index % 6 + 1).as_str().into()));
        assert!(run.directed);
        // Who calls comes first, so no run is a cycle.
        assert!(run.edges.iter().all(|[caller, callee]| caller < callee));
        assert_eq!(calls(run), calls(&whole[index % 6]));
    }
    let [first, second] = [&whole[0], &whole[1]];
    assert_eq!(first.node_labels, second.node_labels);
    let kept = calls(first).intersection(&calls(second)).count();
    assert!((20..first.edges.len()).contains(&kept), "{kept} of {}", first.edges.len());
    // Unchanged versions are one.
    let same = runs(&model.changed(0.0).made(1.0), 2, 0);
    assert_eq!(same[0].edges, same[1].edges);
    // A run is a part of its version; another seed gives other runs of the same versions.
    let (some, others) = (runs(&model, 6, 0), runs(&model, 6, 1));
    let named = |run: &GraphRecord| -> BTreeSet<(String, String)> {
        let labels = run.node_labels.as_ref().unwrap();
        let name = |node: u32| labels[node as usize].to_string();
        run.edges.iter().map(|&[a, b]| (name(a), name(b))).collect()
    };
    for ((run, other), whole) in some.iter().zip(&others).zip(&whole) {
        assert_ne!(named(run), named(other));
        assert!(named(run).is_subset(&named(whole)) && named(other).is_subset(&named(whole)));
        assert_eq!(run.node_labels.as_ref().unwrap()[0], "main".into());
        assert!(run.weights.as_ref().unwrap().iter().all(|&times| times >= 1.0));
    }
    // Another program has the same functions.
    let other = &runs(&model.program(1).made(1.0), 1, 0)[0];
    assert_eq!(other.node_labels, whole[0].node_labels);
    assert_ne!(other.edges, whole[0].edges);
    // Nothing called but main, and functions beyond the names.
    assert_eq!(runs(&model.made(0.0), 1, 0)[0].num_nodes, 1);
    let many = &runs(&model.nodes(100).made(1.0), 1, 0)[0];
    let names = many.node_labels.as_ref().unwrap();
    assert_eq!(names[40], "main_2".into());
    assert_eq!(names.iter().map(ToString::to_string).collect::<BTreeSet<_>>().len(), 100);
    for wrong in [model.nodes(1), model.versions(0), model.changed(1.5), model.made(f64::NAN)] {
        assert!(matches!(SyntheticSet::new(&wrong, 1, 0).records(), Err(Error::Parameter { .. })));
    }
}
