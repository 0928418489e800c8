//! Embedders: what they learn, that they repeat, and that new graphs change nothing.

use hg2v::coarsen;
use hg2v::context::Context;
use hg2v::graph::GraphRecord;
use hg2v::prepare::{Collection, Needs, Run};
use hg2v::{Hg2vParams, Method};
use hg2v_baselines::embedders::graph2vec::Graph2Vec;
use hg2v_baselines::embedders::graph2vec_gnn::Graph2VecGnn;
use hg2v_baselines::embedders::graph2vec_loukas::Graph2VecLoukas;
use hg2v_baselines::embedders::skip_gram::{Document, SkipGram};
use hg2v_eval::Matrix;

use crate::common::{at_any_thread_count, flat, labelled, vectors};

/// Paths and cycles of six to twenty-five nodes, labelled in turn.
fn graphs() -> Vec<GraphRecord> {
    (0..40u32)
        .map(|i| {
            let n = 6 + i / 2;
            let close = (i % 2 == 1).then_some([n - 1, 0]);
            let edges: Vec<[u32; 2]> = (1..n).map(|v| [v - 1, v]).chain(close).collect();
            labelled(&(0..i64::from(n)).map(|v| v % 3).collect::<Vec<_>>(), &edges)
        })
        .collect()
}

fn pyramids(records: &[GraphRecord]) -> Collection<'_> {
    let needs = Needs::default().coarsening(Some(coarsen::Params::default()));
    Collection::new(Run::in_memory(records), &needs, &Context::default()).unwrap()
}

fn small() -> SkipGram {
    SkipGram::default().dim(16)
}

fn squared_distance(x: &Matrix, i: usize, j: usize) -> f64 {
    x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum()
}

#[test]
fn documents_of_one_topic_come_together() {
    // Two topics of ten words each, and five words that everybody uses.
    let document = |i: usize| -> Document {
        let topic = (i % 2) as u32 * 10;
        let own = (0..4).map(|k| (topic + ((i / 2 + 3 * k) % 10) as u32, 1 + k as u32));
        let mut words: Document = own.chain((20..25).map(|word| (word, 2))).collect();
        words.sort_unstable();
        words.dedup_by_key(|(word, _)| *word);
        words
    };
    let documents: Vec<Document> = (0..60).map(document).collect();
    let skip_gram = small().epochs(50);
    let words = skip_gram.fit(&documents[..40], 25, &Context::default()).unwrap();
    assert_eq!(words.len(), 25);
    let rows = words.infer(&documents);
    let x = Matrix::from_f32(60, 16, &rows).unwrap();
    for new in 40..60 {
        let nearest = (0..40)
            .min_by(|&i, &j| squared_distance(&x, new, i).total_cmp(&squared_distance(&x, new, j)));
        assert_eq!(nearest.unwrap() % 2, new % 2, "graph {new}");
    }
}

#[test]
fn vectors_are_the_same_bits_at_any_number_of_threads() {
    let records = graphs();
    let collection = pyramids(&records);
    let train: Vec<usize> = (0..30).collect();
    let mut graph2vec = Graph2Vec::default();
    graph2vec.skip_gram.dim = 32;
    let params = Hg2vParams::default().dim(8).levels(2).epochs(1);
    let (gnn, loukas) = (Graph2VecGnn(params), Graph2VecLoukas::default().graph2vec(graph2vec));
    let methods: [&dyn Method; 3] = [&graph2vec, &loukas, &gnn];
    let made =
        methods.map(|method| at_any_thread_count(|| vectors(method, &collection, &train).unwrap()));
    assert!(made.iter().all(|x| x.rows() == 40 && x.values().iter().any(|&v| v != 0.0)));
    assert_ne!(made[0], made[1], "pyramids have words of their own");
    // Another seed, other vectors.
    graph2vec.skip_gram.seed = 1;
    assert_ne!(vectors(&graph2vec, &collection, &train).unwrap(), made[0]);
}

#[test]
fn a_graph_has_its_vector_whoever_else_is_embedded() {
    let records = graphs();
    let train: Vec<usize> = (0..30).collect();
    let method = Graph2Vec::default().rounds(2).skip_gram(small());
    let whole = vectors(&method, &flat(&records), &train).unwrap();
    let few = vectors(&method, &flat(&records[..31]), &train).unwrap();
    assert_eq!(few, whole.take(&(0..31).collect::<Vec<_>>()).unwrap());
    // A graph of words that nobody knows, and one of no nodes: known to nobody, not refused.
    let mut odd = records.clone();
    odd[38] = labelled(&[77, 78], &[[0, 1]]);
    odd[39] = GraphRecord::default();
    let x = vectors(&method, &flat(&odd), &train).unwrap();
    assert_eq!(x.row(37), whole.row(37));
    assert_eq!(x.row(38), [0.0; 16]);
    assert_eq!(x.row(39), [0.0; 16]);
}

#[test]
fn a_new_document_is_at_its_maximum() {
    let documents: Vec<Document> =
        (0..30u32).map(|i| (0..8).map(|k| (i % 5 + k, 1 + i % 3)).collect()).collect();
    let context = Context::default();
    let enough = small().steps(2000).ridge(0.05).fit(&documents, 20, &context).unwrap();
    let more = small().steps(4000).ridge(0.05).fit(&documents, 20, &context).unwrap();
    let (a, b) = (enough.infer(&documents), more.infer(&documents));
    let far = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far < 1e-3, "still moving by {far}");
}

#[test]
fn nonsense_is_refused_and_nothing_to_learn_from_is_not() {
    let one: Document = vec![(0, 3)];
    let wrong = [
        (small().dim(0), "dim is 0"),
        (small().lr(f32::NAN), "lr is NaN"),
        (small().ridge(-1.0), "ridge is -1"),
    ];
    for (params, word) in wrong {
        let error =
            params.fit(std::slice::from_ref(&one), 1, &Context::default()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    // A word of one document only is left out: no word is left.
    let words = small().fit(std::slice::from_ref(&one), 1, &Context::default()).unwrap();
    assert!(words.is_empty());
    assert_eq!(words.infer(&[one]), [0.0; 16]);
}
