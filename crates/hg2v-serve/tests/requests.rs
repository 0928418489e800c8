//! What bodies and options mean, without a server.

use hg2v::dataset::Limits;
use hg2v::graph::GraphRecord;
use hg2v_serve::Options;
use hg2v_serve::request::{Question, graph, question};

fn limits() -> Limits {
    Limits::default().max_nodes(10).max_record_bytes(200).max_unpacked_bytes(200)
}

#[test]
fn an_id_alone_is_a_question_and_all_else_a_graph() {
    let id = |text: &str| Question::Id(text.to_owned());
    let asked = |body: &str| question(body.as_bytes(), &limits()).unwrap();
    assert_eq!(asked("{\"id\":\"g1\"}"), id("g1"));
    assert_eq!(asked(" {\n\"id\" : 17 }\n"), id("17"));
    assert_eq!(asked("{\"id\":true}"), id("true"));
    let path = GraphRecord { num_nodes: 3, edges: vec![[0, 1], [1, 2]], ..GraphRecord::default() };
    assert_eq!(asked("{\"edges\":\n[[0,1],[1,2]]}"), Question::Graph(Box::new(path)));
}

#[test]
fn what_is_neither_says_why() {
    let long = format!("{{\"edges\":[],\"id\":\"{}\"}}", "x".repeat(300));
    for (body, word) in [
        ("", "line 1"),
        ("{\"id\":[1]}", "line 1"),
        ("{\"id\":1,\"id\":2}", "line 1"),
        ("{\"y\":1}", "edges"),
        ("{\"edges\":[[0,99]]}", "10"),
        (&long, "200 bytes"),
    ] {
        let refused = question(body.as_bytes(), &limits()).unwrap_err().to_string();
        assert!(refused.starts_with("request") && refused.contains(word), "{body}: {refused}");
        assert_eq!(graph(body.as_bytes(), 1, &limits()).unwrap_err().to_string(), refused);
    }
}

#[test]
fn a_server_that_others_reach_needs_a_token() {
    let open = Options::new("m").listen(([0, 0, 0, 0], 80).into());
    assert!(open.check().unwrap_err().to_string().contains("--token"));
    assert!(open.clone().token(Some("secret".to_owned())).check().is_ok());
    assert!(open.token(Some("  ".to_owned())).check().is_err());
    assert!(Options::new("m").check().is_ok());
    assert!(Options::new("m").queue(0).check().is_err());
}

#[test]
fn a_refused_option_goes_by_its_name() {
    let options = Options::new("m").max_request_nodes(0);
    assert!(options.check().unwrap_err().to_string().contains("max_request_nodes is 0"));
}
