use std::f64::consts::PI;
use std::time::{Duration, Instant};

use super::geometry::{angle, apart, sub};
use super::*;
use crate::graph::{GraphRecord, WeightPolicy};

/// A name, then bonds: `0-1`, `1=2`, `2#3`, and `3:4` where they are aromatic.
const DRUGS: &str = include_str!("drugs.txt");

/// A molecule that is written so.
fn read(text: &str) -> (Graph, Vec<Bond>) {
    let mut bonds: Vec<([u32; 2], Bond)> = text.split_whitespace().map(bond).collect();
    bonds.sort_by_key(|(ends, _)| *ends);
    let edges: Vec<[u32; 2]> = bonds.iter().map(|(ends, _)| *ends).collect();
    (graph(edges), bonds.iter().map(|(_, kind)| *kind).collect())
}

fn bond(text: &str) -> ([u32; 2], Bond) {
    let sign = text.find(['-', '=', '#', ':']).unwrap();
    let ends = [&text[..sign], &text[sign + 1..]].map(|end| end.parse::<u32>().unwrap());
    let kind = match &text[sign..=sign] {
        "=" => Bond::Double,
        "#" => Bond::Triple,
        ":" => Bond::Aromatic,
        _ => Bond::Single,
    };
    ([ends[0].min(ends[1]), ends[0].max(ends[1])], kind)
}

fn graph(edges: Vec<[u32; 2]>) -> Graph {
    let num_nodes = edges.iter().flatten().max().map_or(0, |most| most + 1);
    let record = GraphRecord { num_nodes, edges, ..GraphRecord::default() };
    Graph::from_record(&record, WeightPolicy::Use).unwrap().0
}

fn draw(text: &str) -> (Graph, Vec<Point>) {
    let (graph, bonds) = read(text);
    let points = molecule_layout(&graph, &bonds);
    (graph, points)
}

fn lengths(graph: &Graph, points: &[Point]) -> Vec<f64> {
    graph.edges().map(|(u, v, _)| apart(points[u as usize], points[v as usize])).collect()
}

/// Whether all bonds are 1 long.
fn even(graph: &Graph, points: &[Point]) -> bool {
    lengths(graph, points).iter().all(|length| (length - 1.0).abs() < 1e-6)
}

/// The angle at `v` between its bonds to `u` and `w`, in degrees.
fn degrees(points: &[Point], u: usize, v: usize, w: usize) -> f64 {
    let turn = angle(sub(points[u], points[v])) - angle(sub(points[w], points[v]));
    let turn = turn.rem_euclid(2.0 * PI);
    turn.min(2.0 * PI - turn).to_degrees()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

#[test]
fn benzene_is_a_regular_hexagon_on_its_tip() {
    let (graph, points) = draw("0:1 1:2 2:3 3:4 4:5 0:5");
    assert!(even(&graph, &points));
    let middle = geometry::middle(&points);
    points.iter().for_each(|&point| assert_near(apart(point, middle), 1.0));
    // Two of its bonds stand upright.
    let upright = graph
        .edges()
        .filter(|&(u, v, _)| (points[u as usize][0] - points[v as usize][0]).abs() < 1e-6);
    assert_eq!(upright.count(), 2);
}

#[test]
fn naphthalene_is_two_hexagons_that_share_a_bond() {
    let (graph, points) = draw("0:1 1:2 2:3 3:4 4:5 5:6 6:7 7:8 8:9 0:9 4:9");
    assert!(even(&graph, &points));
    for ring in [[0, 1, 2, 3, 4, 9], [4, 5, 6, 7, 8, 9]] {
        let corners = ring.map(|v: usize| points[v]);
        let middle = geometry::middle(&corners);
        corners.iter().for_each(|&point| assert_near(apart(point, middle), 1.0));
    }
    assert!(relief::closest(&points) > 1.0 - 1e-6);
}

#[test]
fn many_rings_are_one_honeycomb() {
    // Pyrene: four rings around a bond.
    let (graph, points) = draw(
        "0:1 1:2 2:3 3:4 4:5 5:6 6:7 7:8 8:9 9:10 10:11 11:12 12:13 12:14 14:15 13:0 14:2 15:5 15:9",
    );
    assert!(even(&graph, &points), "{:?}", lengths(&graph, &points));
    let near = relief::closest(&points);
    assert!(near > 0.99, "{near}");
}

#[test]
fn chains_zigzag_and_lie() {
    let (graph, points) = draw("0-1 1-2 2-3 3-4 4-5");
    assert!(even(&graph, &points));
    (1..5).for_each(|v| assert_near(degrees(&points, v - 1, v, v + 1), 120.0));
    // Two lines of atoms, from end to end five half bonds of √3.
    let heights = points.iter().filter(|point| point[1] < 1e-6).count();
    assert_eq!(heights, 3);
    assert_near((points[5][0] - points[0][0]).abs(), 2.5 * 3f64.sqrt());
}

#[test]
fn branches_share_the_room_that_is_free() {
    // Isobutane, neopentane, toluene, and two methyls on one atom of cyclohexane.
    let (_, points) = draw("0-1 0-2 0-3");
    assert_near(degrees(&points, 1, 0, 2), 120.0);
    let (_, points) = draw("0-1 0-2 0-3 0-4");
    let widest = (2..5).map(|v| degrees(&points, 1, 0, v)).fold(0.0, f64::max);
    assert_near(widest, 180.0);
    let (_, points) = draw("0:1 1:2 2:3 3:4 4:5 0:5 0-6");
    assert_near(degrees(&points, 6, 0, 1), 120.0);
    let (_, points) = draw("0-1 1-2 2-3 3-4 4-5 0-5 0-6 0-7");
    assert_near(degrees(&points, 6, 0, 7), 80.0);
}

#[test]
fn triple_and_cumulated_bonds_are_straight() {
    let (_, points) = draw("0-1 1#2 2-3");
    assert_near(degrees(&points, 0, 1, 2), 180.0);
    assert_near(degrees(&points, 1, 2, 3), 180.0);
    let (_, points) = draw("0-1 1=2 2=3 3-4");
    assert_near(degrees(&points, 1, 2, 3), 180.0);
    assert_near(degrees(&points, 0, 1, 2), 120.0);
}

#[test]
fn spiro_rings_stand_across_each_other() {
    let (graph, points) = draw("0-1 1-2 2-3 3-4 0-4 0-5 5-6 6-7 7-8 8-9 0-9");
    assert!(even(&graph, &points));
    let near = relief::closest(&points);
    assert!(near > 0.99, "{near}");
}

#[test]
fn bridges_lie_inside_their_rings() {
    // Norbornane: a hexagon and an atom within.
    let (graph, points) = draw("0-1 1-2 2-3 3-4 4-5 0-5 0-6 3-6");
    assert!(lengths(&graph, &points).iter().all(|length| (0.8..1.2).contains(length)));
    let near = relief::closest(&points);
    assert!(near > 0.8, "{near}");
}

#[test]
fn atoms_of_drugs_keep_apart() {
    for line in DRUGS.lines() {
        let (name, text) = line.split_once(' ').unwrap();
        let (graph, points) = draw(text);
        let near = relief::closest(&points);
        assert!(near >= 0.5, "{name}: {near}");
        let off =
            lengths(&graph, &points).iter().fold(0.0, |most, l| f64::max(most, (l - 1.0).abs()));
        assert!(off < 0.3, "{name}: a bond is off by {off}");
        assert_eq!(draw(text).1, points, "{name}");
    }
    assert!(DRUGS.lines().count() >= 30);
}

#[test]
fn parts_stand_side_by_side() {
    // Benzene, and an ion pair that is not bound.
    let (_, points) = draw("0:1 1:2 2:3 3:4 4:5 0:5 6-7 8-9");
    let near = relief::closest(&points);
    assert!(near > 0.99 && points.iter().flatten().all(|x| *x >= 0.0), "{near}");
}

#[test]
fn what_is_no_molecule_is_laid_out_like_any_graph() {
    let ladder = |n: u32| {
        let rungs = (0..n).map(|v| [2 * v, 2 * v + 1]);
        let sides = (1..n).flat_map(|v| [[2 * v - 2, 2 * v], [2 * v - 1, 2 * v + 1]]);
        graph(rungs.chain(sides).collect())
    };
    let star = |n: u32| graph((1..n).map(|v| [0, v]).collect());
    for other in [ladder(300), star(12)] {
        assert_eq!(molecule_layout(&other, &[]), layout(&other));
    }
    assert!(molecule_layout(&graph(Vec::new()), &[]).is_empty());
    // The longest that are drawn as molecules, and one far beyond.
    let complete = graph((0..9).flat_map(|u| (0..u).map(move |v| [u, v])).collect());
    let tree = graph((1..200).map(|v| [(v - 1) / 3, v]).collect());
    let started = Instant::now();
    for other in [ladder(100), complete, tree, ladder(5000)] {
        let points = molecule_layout(&other, &[]);
        assert!(points.iter().flatten().all(|x| x.is_finite()));
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}
