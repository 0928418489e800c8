//! Images into graphs: known pictures, damaged files, and the real sets.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use hg2v::dataset::Limits;
use hg2v::dataset::images::{Params, open};
use hg2v::error::{Action, Error, Place};
use hg2v::graph::GraphRecord;

/// An idx file: header and values.
fn idx(kind: u8, dims: &[u32], values: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, kind, dims.len() as u8];
    file.extend(dims.iter().flat_map(|dim| dim.to_be_bytes()));
    file.extend(values);
    file
}

struct Files {
    _folder: tempfile::TempDir,
    images: PathBuf,
    labels: PathBuf,
}

fn files(images: &[u8], labels: &[u8]) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("images"), folder.path().join("labels"));
    fs::write(&a, images).unwrap();
    fs::write(&b, labels).unwrap();
    Files { _folder: folder, images: a, labels: b }
}

fn read(files: &Files, params: Params) -> hg2v::Result<Vec<GraphRecord>> {
    open(&files.images, &files.labels, params, &Limits::default())?.collect()
}

fn threshold(threshold: f64) -> Params {
    Params::default().threshold(threshold).scale(None)
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Two pictures of 2 × 3: the first with four pixels, the second blank.
///
/// ```text
/// 51  .  255        0 . 1
/// 102 51 .          2 3 .
/// ```
fn two_pictures() -> Vec<u8> {
    idx(8, &[2, 2, 3], &[51, 0, 255, 102, 51, 0, 0, 0, 0, 0, 0, 0])
}

#[test]
fn a_picture_becomes_the_graph_of_its_pixels() {
    let labels = idx(8, &[2], &[7, 3]);
    for packed in [false, true] {
        let (a, b) = (two_pictures(), labels.clone());
        let files = if packed { files(&gz(&a), &gz(&b)) } else { files(&a, &b) };
        let graphs = read(&files, threshold(0.0)).unwrap();
        assert_eq!(graphs.len(), 2);
        assert_eq!(graphs[0].num_nodes, 4);
        assert_eq!(graphs[0].edges, [[0, 2], [2, 3]]);
        assert_eq!(
            (graphs[0].id.clone(), graphs[0].label.clone()),
            (Some(0.into()), Some(7.into()))
        );
        let x = graphs[0].features.as_ref().unwrap();
        let rows: Vec<_> = (0..4).map(|node| x.row(node).to_vec()).collect();
        let expected = [[0.0, 0.0, 0.2], [0.0, 2.0, 1.0], [1.0, 0.0, 0.4], [1.0, 1.0, 0.2]];
        assert_eq!(rows, expected);
        // A blank picture is a graph without nodes, not a missing graph.
        assert_eq!((graphs[1].num_nodes, graphs[1].edges.len()), (0, 0));
        assert_eq!(graphs[1].label, Some(3.into()));
    }
}

#[test]
fn the_threshold_keeps_what_equals_it_unless_it_is_zero() {
    let files = files(&two_pictures(), &idx(8, &[2], &[7, 3]));
    let nodes = |t| read(&files, threshold(t)).unwrap()[0].num_nodes;
    assert_eq!([0.0, 0.2, 0.4, 0.41, 1.0, 1.1].map(nodes), [4, 4, 2, 1, 1, 0]);
    assert_eq!(nodes(-1.0), 6);
    for bad in [
        threshold(f64::NAN),
        Params::default().threshold(0.0).scale(Some(0.0)),
        Params::default().threshold(0.0).scale(Some(f64::NAN)),
    ] {
        assert!(matches!(read(&files, bad), Err(Error::Parameter { .. })));
    }
}

#[test]
fn every_type_of_value_is_read_and_scaled() {
    let luminosities = |kind: u8, values: &[u8], scale| {
        let files = files(&idx(kind, &[1, 1, 3], values), &idx(8, &[1], &[0]));
        let graphs = read(&files, Params::default().threshold(-1e9).scale(scale)).unwrap();
        let x = graphs[0].features.clone().unwrap();
        (0..3).map(|node| x.row(node)[2]).collect::<Vec<_>>()
    };
    assert_eq!(luminosities(0x08, &[0, 51, 255], None), [0.0, 0.2, 1.0]);
    // Other integers: the largest value in the file is 1.
    assert_eq!(luminosities(0x09, &[0xff, 50, 100], None), [-0.01, 0.5, 1.0]);
    let shorts: Vec<u8> = [-500i16, 600, 2000].iter().flat_map(|v| v.to_be_bytes()).collect();
    assert_eq!(luminosities(0x0B, &shorts, None), [-0.25, 0.3, 1.0]);
    assert_eq!(luminosities(0x0B, &shorts, Some(1000.0)), [-0.5, 0.6, 2.0]);
    let ints: Vec<u8> = [1i32, 2, 4].iter().flat_map(|v| v.to_be_bytes()).collect();
    assert_eq!(luminosities(0x0C, &ints, None), [0.25, 0.5, 1.0]);
    let floats: Vec<u8> = [0.5f32, 0.25, 3.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    assert_eq!(luminosities(0x0D, &floats, None), [0.5, 0.25, 3.0]);
    let doubles: Vec<u8> = [0.1f64, 0.25, 3.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    assert_eq!(luminosities(0x0E, &doubles, None), [0.1, 0.25, 3.0]);
    // A file without a positive value has no scale to take from it.
    assert_eq!(luminosities(0x09, &[0, 0, 0xff], None), [0.0, 0.0, -1.0]);
}

#[test]
fn damaged_files_are_refused_where_they_are_damaged() {
    let good = idx(8, &[2, 2, 3], &[9; 12]);
    let labels = idx(8, &[2], &[0, 1]);
    let mut trailing = good.clone();
    trailing.push(0);
    let mut cut_gz = gz(&good);
    cut_gz.truncate(cut_gz.len() - 9);
    let nan = idx(0x0D, &[2, 1, 1], &[[0; 4], f32::NAN.to_be_bytes()].concat());
    /// A name, the two files, the byte where it shows, what is said.
    type Case = (&'static str, Vec<u8>, Vec<u8>, u64, &'static str);
    let cases: [Case; 16] = [
        ("empty", vec![], labels.clone(), 0, "ends in the middle of the header"),
        ("not idx", b"P5 28 28".to_vec(), labels.clone(), 0, "50, 35"),
        ("unknown type", idx(0x0A, &[2, 2, 3], &[9; 12]), labels.clone(), 2, "0x0a"),
        ("no dimension", vec![0, 0, 8, 0], labels.clone(), 3, "0 dimensions"),
        ("labels first", labels.clone(), good.clone(), 3, "1 dimensions are not"),
        ("images twice", good.clone(), good.clone(), 2, "3 dimensions of u8"),
        ("cut header", good[..10].to_vec(), labels.clone(), 10, "dimensions"),
        ("cut", good[..20].to_vec(), labels.clone(), 20, "announces 28 bytes"),
        ("cut gzip", cut_gz, labels.clone(), 16, "gzip"),
        ("short gzip", gz(&good[..20]), labels.clone(), 20, "item 0 of the 2 announced"),
        ("trailing", trailing.clone(), labels.clone(), 28, "more bytes follow"),
        ("trailing gzip", gz(&trailing), labels.clone(), 28, "more bytes follow"),
        ("4 billion images", idx(8, &[u32::MAX, 2, 3], &[9; 12]), labels.clone(), 28, "announces"),
        ("too large", idx(14, &[u32::MAX; 3], &[]), labels.clone(), 4, "2^64"),
        ("no pixels", idx(8, &[2, 0, 3], &[]), labels.clone(), 8, "nothing in them"),
        ("counts differ", good.clone(), idx(8, &[3], &[0; 3]), 4, "3 labels for the 2 images"),
    ];
    let refuse =
        |name: &str, files: &Files, byte: u64, says: &str| match read(files, threshold(0.0)) {
            Err(Error::Input(error)) => {
                if name != "cut gzip" {
                    assert_eq!(error.place, Place::Byte(byte), "{name}: {error}");
                }
                assert!(error.to_string().contains(says), "{name}: {error}");
            }
            other => panic!("{name}: {other:?}"),
        };
    for (name, images, labels, byte, says) in cases {
        refuse(name, &files(&images, &labels), byte, says);
    }
    refuse("NaN", &files(&nan, &labels), 20, "pixel 0 of image 1 is NaN");
    let bomb = idx(8, &[1, 1 << 16, 1 << 16], &[]);
    refuse("huge image", &files(&gz(&bomb), &idx(8, &[1], &[0])), 8, "max_nodes");
    let missing =
        open(Path::new("nowhere"), Path::new("nowhere"), threshold(0.0), &Limits::default());
    assert!(matches!(missing, Err(Error::Io { action: Action::Read, .. })));
}

#[test]
fn the_real_sets_have_their_sizes() {
    let Some(data) = env::var_os("HG2V_DATA") else {
        eprintln!("skipped: set HG2V_DATA to run the_real_sets_have_their_sizes");
        return;
    };
    // Counted from the files by a separate program.
    let sets = [
        ("MNIST-t10k-images-idx3-ubyte.gz", "MNIST-t10k-labels", 0.0, 10_000, 1_511_219, 2_521_961),
        (
            "FASHION-MNIST-t10k-images-idx3-ubyte.gz",
            "FASHION-MNIST-t10k-labels",
            0.0,
            10_000,
            3_920_817,
            7_027_007,
        ),
        ("USPS-images-idx3-ubyte.gz", "USPS-labels", 0.3, 9298, 721_700, 1_077_088),
        ("USPS-images-idx3-short.gz", "USPS-labels", 0.3, 9298, 721_926, 1_077_548),
    ];
    for (images, labels, t, graphs, nodes, edges) in sets {
        let folder = Path::new(&data);
        let labels = folder.join(format!("{labels}-idx1-ubyte.gz"));
        let found = open(&folder.join(images), &labels, threshold(t), &Limits::default()).unwrap();
        let (mut g, mut n, mut e, mut classes) = (0, 0, 0, [0; 10]);
        for record in found {
            let record = record.unwrap();
            g += 1;
            n += record.num_nodes;
            e += record.edges.len();
            let class: usize = record.label.unwrap().to_string().parse().unwrap();
            classes[class] += 1;
        }
        assert_eq!((g, n, e), (graphs, nodes, edges), "{images}");
        if images.starts_with("MNIST") {
            assert_eq!(classes, [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
        }
    }
}

#[test]
fn images_given_as_graphs_are_told_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let plain = idx(0x08, &[1, 2, 2], &[0, 1, 2, 3]);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plain).unwrap();
    for (name, bytes) in [("images", plain), ("images.gz", packed.finish().unwrap())] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let Err(error) = hg2v::dataset::open(&path, &Limits::default()) else {
            panic!("{name} was taken for graphs")
        };
        assert!(error.to_string().contains("turn the images into graphs"), "{error}");
    }
}
