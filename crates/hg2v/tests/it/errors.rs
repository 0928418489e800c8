//! Errors carry what a program acts on, and each face words them.

use std::fs;
use std::path::Path;

use hg2v::coarsen;
use hg2v::dataset::{self, Limits};
use hg2v::error::{
    Action, Advice, Fix, InputError, Job, Limit, Opt, Place, Problem, Scope, Wording,
};
use hg2v::graph::{GraphRecord, Scalar, WeightPolicy};
use hg2v::prepare::graph_of;
use hg2v::{Error, Hg2v, Hg2vParams, Model};

fn input<T>(result: hg2v::Result<T>) -> InputError {
    match result {
        Err(Error::Input(input)) => *input,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was taken"),
    }
}

/// What is wrong with the first graph of a JSONL file of this text.
fn refused(text: &str, limits: &Limits) -> InputError {
    let bytes = std::io::Cursor::new(text.to_owned().into_bytes());
    let mut source = dataset::jsonl::from_reader(Path::new("g.jsonl"), bytes, limits).unwrap();
    input(source.next().unwrap())
}

/// A face with flags, whose users can follow little advice.
struct Flags;

impl Wording for Flags {
    fn option(&self, option: Opt) -> String {
        format!("--{}", option.name().replace('_', "-"))
    }

    fn run(&self, _: Job) -> Option<String> {
        None
    }
}

#[test]
fn a_limit_says_which_and_how_much() {
    let limits = Limits::default().max_nodes(10).max_record_bytes(30);
    let nodes = refused("{\"edges\":[],\"n\":11}", &limits);
    assert_eq!((nodes.place, nodes.scope), (Place::Line(1), Scope::OneGraph));
    let Problem::Beyond { limit, found, allowed, .. } = &nodes.problem else { panic!("{nodes}") };
    assert_eq!((*limit, *found, *allowed), (Limit::Nodes, Some(11), 10));
    assert_eq!(limit.option(), Opt::MAX_NODES);
    let bytes = refused("{\"edges\":[[0,1],[1,2],[2,3],[3,4]]}", &limits);
    let Problem::Beyond { limit, found, allowed, .. } = &bytes.problem else { panic!("{bytes}") };
    assert_eq!((*limit, *found, *allowed), (Limit::RecordBytes, None, 30));
    let said = Error::Input(Box::new(bytes)).worded(&Flags);
    assert!(said.ends_with("or raise --max-record-bytes if it really is that large"), "{said}");
}

#[test]
fn a_malformed_line_says_its_column() {
    let wrong = refused("{\"edges\":[],\"y\":[[1]]}", &Limits::default());
    let Place::Column(1, column) = wrong.place else { panic!("{wrong}") };
    assert!(column > 10, "{wrong}");
    assert_eq!(wrong.problem.kind(), "malformed");
}

#[test]
fn a_negative_weight_is_told_with_its_edge_and_graph() {
    let record = GraphRecord {
        id: Some(Scalar::from("odd")),
        num_nodes: 3,
        edges: vec![[0, 1], [1, 2]],
        weights: Some(vec![1.0, -2.0]),
        ..GraphRecord::default()
    };
    let refused = input(graph_of(&record, WeightPolicy::Use, Path::new("g.jsonl"), 6));
    assert_eq!(refused.place, Place::Record(7));
    let graph = refused.graph.as_ref().unwrap();
    assert_eq!((graph.position, graph.id.as_deref()), (Some(6), Some("odd")));
    let Problem::NegativeWeight { edge, weight } = refused.problem else { panic!("{refused}") };
    assert_eq!((edge, weight), ([1, 2], -2.0));
    let advice = refused.problem.fix();
    assert_eq!(advice.choices(), [Advice::Set(Opt::WEIGHTS, &["abs", "ignore"])]);
}

#[test]
fn graphs_that_are_not_alike_say_what_each_has() {
    let with = |labels: bool| GraphRecord {
        num_nodes: 1,
        node_labels: labels.then(|| vec![Scalar::Int(1)]),
        ..GraphRecord::default()
    };
    let params = Hg2vParams::default();
    let refused = input(Hg2v::params().fit(&[with(true), with(false)]));
    let Problem::Unlike { found, expected, first } = &refused.problem else { panic!("{refused}") };
    assert_eq!((found.labels, expected.labels, first.position), (false, true, Some(0)));
    let fix = Fix::from("make all graphs alike").or(Advice::Set(Opt::LABELS, &["false"]));
    assert_eq!(refused.problem.fix(), fix);
    // What a model was fitted to, later graphs must have.
    let model = params.fit(&[with(true), with(true)]).unwrap();
    let refused = input(model.embed(&[with(false)]));
    assert!(matches!(refused.problem, Problem::Labels), "{refused}");
}

#[test]
fn what_is_missing_is_told_by_kind() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent");
    let refused = input(dataset::locate(&absent, None));
    assert!(matches!(refused.problem, Problem::NotFound { searched: None, .. }), "{refused}");
    let refused = input(dataset::locate(Path::new("NOSUCH"), Some(folder.path())));
    let Problem::NotFound { searched, fix } = &refused.problem else { panic!("{refused}") };
    assert_eq!(searched.as_deref(), Some(folder.path()));
    assert!(fix.choices().contains(&Advice::Run(Job::Download)));
    // A face that cannot do it does not advise it.
    assert_eq!(refused.fix(&Flags).as_deref(), Some("check the spelling"));
    let strange = folder.path().join("strange.bin");
    fs::write(&strange, "?").unwrap();
    let refused = input(dataset::detect(&strange));
    assert!(matches!(refused.problem, Problem::Format { .. }), "{refused}");
    let missing = dataset::detect(&absent);
    assert!(matches!(missing, Err(Error::Io { action: Action::Read, .. })));
}

#[test]
fn an_option_goes_by_the_name_of_each_face() {
    let params = coarsen::Params::default().max_levels(200);
    let refused = params.check().unwrap_err();
    let Error::Parameter { option, value, .. } = &refused else { panic!("{refused}") };
    assert_eq!((option.name(), value.as_str()), ("max_levels", "200"));
    assert_eq!(refused.to_string(), "max_levels is 200, but it must be at most 100");
    assert_eq!(refused.worded(&Flags), "--max-levels is 200, but it must be at most 100");
}

#[test]
fn a_choice_of_advice_is_one_phrase() {
    let fix = Fix::from("try again")
        .or(Advice::Run(Job::Download))
        .or(Advice::Lower(&[Opt::BATCH, Opt::DIM]))
        .or(Advice::Set(Opt::DEVICE, &["cpu"]));
    let said = fix.worded(&Flags).unwrap();
    assert_eq!(said, "try again, make --batch or --dim smaller, or set --device to cpu");
    assert_eq!(Fix::from(Advice::Run(Job::Fit)).worded(&Flags), None);
}
