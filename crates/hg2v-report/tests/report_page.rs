//! Pages as files: their bytes, their size, and what they refuse.

use hg2v::coarsen::{Params, Pyramid};
use hg2v::context::Context;
use hg2v::graph::{Features, Graph, GraphRecord, WeightPolicy};
use hg2v::prepare::{Collection, Needs, Notes, Run};
use hg2v_math::rng;
use hg2v_report::page::MOST_BYTES;
use hg2v_report::{Contents, Map, PageMode, Projection, page};
use hg2v_search::Neighbor;
use rand::RngExt;

/// Walks of unit steps in any direction: places that hardly compress.
fn walks(count: usize, nodes: u32) -> Vec<GraphRecord> {
    let walk = |i: usize| {
        let mut rng = rng::stream(3, "walk", 0, i as u64);
        let (mut x, mut y) = (0.0, 0.0);
        let mut values = Vec::new();
        for _ in 0..nodes {
            values.extend([x, y]);
            let angle: f64 = rng.random_range(0.0..std::f64::consts::TAU);
            (x, y) = (x + angle.cos(), y + angle.sin());
        }
        GraphRecord {
            num_nodes: nodes,
            edges: (1..nodes).map(|v| [v - 1, v]).collect(),
            features: Some(Features { dim: 2, values }),
            label: Some((i as i64 % 3).into()),
            ..GraphRecord::default()
        }
    };
    (0..count).map(walk).collect()
}

/// Graphs that are not coarsened, which would take a while.
fn flat(records: &[GraphRecord]) -> Collection<'_> {
    let graph = |record| Graph::from_record(record, WeightPolicy::Use).unwrap().0;
    let graphs: Vec<Graph> = records.iter().map(graph).collect();
    let pyramids = vec![Pyramid::default(); graphs.len()];
    let (run, structures) = (Run::in_memory(records), vec![None; graphs.len()]);
    Collection { run, graphs, pyramids, structures, notes: Notes::default() }
}

fn line(count: usize) -> Projection {
    let points = (0..count).map(|i| [i as f64, 0.0]).collect();
    Projection { name: "line".to_owned(), points }
}

fn drawn(projection: Projection) -> Map {
    Map { projections: vec![projection], ..Map::default() }
}

fn near(neighbors: Vec<Vec<Neighbor>>) -> Map {
    Map { neighbors, ..Map::default() }
}

#[test]
fn what_does_not_fit_is_sampled() {
    let records = walks(9000, 600);
    let collection = flat(&records);
    let contents = Contents {
        map: Map {
            projections: vec![line(9000)],
            neighbors: (0..9000usize)
                .map(|i| vec![Neighbor { position: (i + 1) % 9000, distance: 1.0 }])
                .collect(),
            ..Map::default()
        },
        ..Contents::of(&collection)
    };
    let made = page(&contents, PageMode::Still).unwrap();
    assert!(made.html.len() <= MOST_BYTES, "{}", made.html.len());
    assert!((5000..9000).contains(&made.shown), "{}", made.shown);
    // As much as fits, or nearly so.
    assert!(made.html.len() > MOST_BYTES * 4 / 5, "{}", made.html.len());
    let few = page(&Contents { sample: 50, ..contents }, PageMode::Still).unwrap();
    assert_eq!(few.shown, 50);
}

#[test]
fn the_same_page_at_any_number_of_threads() {
    let records = walks(40, 30);
    let made = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let run = Run::in_memory(&records);
            let needs = Needs::default().coarsening(Some(Params::default()));
            let collection = Collection::new(run, &needs, &Context::default()).unwrap();
            let contents =
                Contents { map: drawn(line(40)), sample: 30, seed: 5, ..Contents::of(&collection) };
            page(&contents, PageMode::Still).unwrap()
        })
    };
    let one = made(1);
    assert_eq!(one.shown, 30);
    assert_eq!(one, made(2));
}

#[test]
fn only_a_live_page_may_ask() {
    let records = walks(3, 5);
    let collection = flat(&records);
    let contents = Contents::of(&collection);
    let html = |mode| page(&contents, mode).unwrap().html;
    assert!(html(PageMode::Still).contains("connect-src 'none'"));
    assert!(html(PageMode::Live).contains("connect-src 'self'"));
    // Nothing comes from elsewhere, and nothing is left to be filled in.
    let still = html(PageMode::Still);
    assert!(!still.contains(" src=") && !still.contains("@import url"));
    let left = ["{{script", "{{connect", "{{style", "{{data", "{{title"];
    assert!(left.iter().all(|name| !still.contains(name)));
}

#[test]
fn titles_are_text() {
    let records = walks(1, 2);
    let collection = flat(&records);
    let title = "</title><script>\"'&{{data}}".to_owned();
    let made = page(&Contents { title, ..Contents::of(&collection) }, PageMode::Still).unwrap();
    let told = "&lt;/title&gt;&lt;script&gt;&quot;&#39;&amp;{{data}}";
    assert_eq!(made.html.matches(told).count(), 2);
    assert!(!made.html.contains("</title><script>"));
}

#[test]
fn what_does_not_belong_is_refused() {
    let records = walks(3, 5);
    let collection = flat(&records);
    let plain = Contents::of(&collection);
    let bad = Projection { name: "bad".to_owned(), points: vec![[0.0, f64::NAN]; 3] };
    let stray = vec![vec![Neighbor { position: 3, distance: 0.0 }], Vec::new(), Vec::new()];
    for (contents, word) in [
        (Contents { map: drawn(line(2)), ..plain.clone() }, "3 graphs, each needs one place"),
        (Contents { map: drawn(bad), ..plain.clone() }, "must be finite"),
        (Contents { map: near(vec![Vec::new()]), ..plain.clone() }, "each needs one list"),
        (Contents { map: near(stray), ..plain.clone() }, "neighbour is 3"),
        (Contents { sample: 0, ..plain.clone() }, "at least one graph"),
    ] {
        let error = page(&contents, PageMode::Still).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    // Places of any size are.
    let points = vec![[-1e308, 1e308], [1e308, -1e308], [0.0, 0.0]];
    let far = Projection { name: "far".to_owned(), points };
    assert!(page(&Contents { map: drawn(far), ..plain }, PageMode::Still).is_ok());
}
