//! Runs of versions of a program, as call graphs: directed, with names for labels and counts for
//! weights.
//!
//! **A program** has functions 0 to n − 1, the first of which is `main`. Every other has one to three
//! callers among the twelve before it. A version of the program has moved some calls: each is, with
//! probability `changed`, made by another of the twelve. So versions have the same functions and
//! differ in who calls whom, which no count of functions or calls shows.
//!
//! **A run** starts at `main`. A function that was reached makes each of its calls with probability
//! `made`, once or more often: the number is geometric with mean 3. Functions that no call reached
//! are no nodes of the run.
//!
//! The program and its versions depend on the parameters alone, among them the program's number. A
//! seed gives other runs of them, so that a model of one set can be tried on another.

use hg2v_math::rng::{self, ChaCha8Rng};
use rand::RngExt;

use super::{Model, at_least, probability, room_for_edges};
use crate::error::Result;
use crate::graph::{GraphRecord, Scalar};

/// A program, its versions, and how they run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Calls {
    /// Functions of the program, n: a run has at most so many nodes.
    pub nodes: u32,
    /// Which program: every number is another.
    pub program: u64,
    /// Versions of it: graph i is a run of version `i mod versions`, and its label is `v1`, `v2`, ….
    pub versions: u32,
    /// The probability that a version has moved a call.
    pub changed: f64,
    /// The probability that a run makes a call.
    pub made: f64,
}

hg2v_math::setters!(Calls { nodes: u32, program: u64, versions: u32, changed: f64, made: f64 });

impl Default for Calls {
    /// Six versions of a program of 40 functions.
    fn default() -> Calls {
        Calls { nodes: 40, program: 0, versions: 6, changed: 0.1, made: 0.7 }
    }
}

/// A call: who makes it, and whom it reaches.
type Call = (u32, u32);

/// How many functions before it may call a function, and how many do at most.
const REACH: u32 = 12;
const CALLERS: u32 = 3;

impl Model for Calls {
    fn name(&self) -> &'static str {
        "calls"
    }

    fn check(&self) -> Result<()> {
        at_least("nodes", self.nodes, 2)?;
        at_least("versions", self.versions, 1)?;
        probability("changed", self.changed)?;
        probability("made", self.made)?;
        room_for_edges("nodes", self.nodes, f64::from(self.nodes) * f64::from(CALLERS))
    }

    fn num_nodes(&self) -> u64 {
        u64::from(self.nodes)
    }

    fn graph(&self, index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let version = index % u64::from(self.versions);
        let calls = self.run(&self.version(version), rng);
        let mut reached = vec![false; self.nodes as usize];
        reached[0] = true;
        for &((_, callee), _) in &calls {
            reached[callee as usize] = true;
        }
        let functions: Vec<u32> = (0..self.nodes).filter(|&f| reached[f as usize]).collect();
        let node = |function: u32| functions.partition_point(|&f| f < function) as u32;
        GraphRecord {
            label: Some(Scalar::Text(format!("v{}", version + 1).into())),
            num_nodes: functions.len() as u32,
            edges: calls.iter().map(|&((a, b), _)| [node(a), node(b)]).collect(),
            weights: Some(calls.iter().map(|&(_, times)| f64::from(times)).collect()),
            node_labels: Some(
                functions.into_iter().map(|f| Scalar::Text(name_of(f).into())).collect(),
            ),
            directed: true,
            ..GraphRecord::default()
        }
    }
}

impl Calls {
    /// The calls of a version, by caller.
    fn version(&self, version: u64) -> Vec<Call> {
        let mut rng = rng::stream(self.program, "calls: program", 0, 0);
        let mut calls = Vec::new();
        for callee in 1..self.nodes {
            for _ in 0..rng.random_range(1..=CALLERS) {
                calls.push((caller_of(callee, &mut rng), callee));
            }
        }
        let mut rng = rng::stream(self.program, "calls: version", 0, version);
        for (caller, callee) in &mut calls {
            if rng.random::<f64>() < self.changed {
                *caller = caller_of(*callee, &mut rng);
            }
        }
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    /// The calls that a run makes, and how often each. Callers come before those they call, so one
    /// pass reaches all.
    fn run(&self, program: &[Call], rng: &mut ChaCha8Rng) -> Vec<(Call, u32)> {
        let mut reached = vec![false; self.nodes as usize];
        reached[0] = true;
        let mut made = Vec::new();
        for &(caller, callee) in program {
            if reached[caller as usize] && rng.random::<f64>() < self.made {
                reached[callee as usize] = true;
                made.push(((caller, callee), times(rng)));
            }
        }
        made
    }
}

/// One of those that may call a function.
fn caller_of(callee: u32, rng: &mut ChaCha8Rng) -> u32 {
    rng.random_range(callee.saturating_sub(REACH)..callee)
}

/// How often a call is made: geometric with mean 3.
fn times(rng: &mut ChaCha8Rng) -> u32 {
    let mut times = 1;
    while times < 1000 && rng.random::<f64>() < 2.0 / 3.0 {
        times += 1;
    }
    times
}

/// What functions are called; those beyond are numbered: `main_2`.
const NAMES: [&str; 40] = [
    "main",
    "parse_args",
    "load_config",
    "open_log",
    "connect",
    "login",
    "read_query",
    "tokenize",
    "parse",
    "resolve",
    "check_types",
    "plan",
    "optimize",
    "open_table",
    "open_index",
    "scan",
    "seek",
    "fetch_page",
    "decode_row",
    "filter",
    "project",
    "join",
    "hash_rows",
    "sort_rows",
    "group_by",
    "aggregate",
    "limit",
    "allocate",
    "copy_bytes",
    "free",
    "lock",
    "unlock",
    "write_log",
    "flush",
    "encode",
    "compress",
    "checksum",
    "send",
    "retry",
    "close",
];

fn name_of(function: u32) -> String {
    let (round, place) = (function / NAMES.len() as u32, function as usize % NAMES.len());
    match round {
        0 => NAMES[place].to_owned(),
        _ => format!("{}_{}", NAMES[place], round + 1),
    }
}
