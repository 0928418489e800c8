//! GraphML: genuine exports, known answers, malformed files.

use std::path::{Path, PathBuf};

use crate::records::{all, folder, limits, refusal};
use hg2v::dataset::{Format, Limits, detect, graphml};
use hg2v::graph::{Features, GraphRecord, Scalar, Target};
use proptest::prelude::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/graphml")
}

fn text(text: &str) -> Scalar {
    Scalar::from(text)
}

fn file(content: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = folder(&[("g.graphml", content.as_bytes())]);
    let path = folder.path().join("g.graphml");
    (folder, path)
}

/// The first graph of a document with these keys and this graph element.
fn one(keys: &str, graph: &str) -> GraphRecord {
    let (_folder, path) = file(&format!("<graphml>{keys}{graph}</graphml>"));
    all(graphml::read(&path, &limits())).remove(0)
}

#[test]
fn what_gephi_igraph_and_networkx_export() {
    assert_eq!(detect(&fixtures()).unwrap(), Format::GraphMl);
    let source = graphml::read(&fixtures(), &limits()).unwrap();
    assert_eq!(source.len, Some(3));
    assert_eq!(
        source.ignored(),
        [
            "the edges' ids are not used (graphs: 1)",
            "the graph attribute `source` is not used (graphs: 1)",
            "the node attributes `size` (Gephi's drawing) are not used (graphs: 1)",
        ]
    );
    let gephi = GraphRecord {
        id: Some(text("gephi")),
        num_nodes: 2,
        node_ids: Some(vec![text("Myriel"), text("Napoleon")]),
        edges: vec![[1, 0]],
        weights: Some(vec![8.0]),
        edge_labels: Some(vec![text("met")]),
        node_labels: Some(vec![text("Myriel"), text("Napoléon & Co")]),
        features: Some(Features { dim: 1, values: vec![0.0, 3.0] }),
        ..GraphRecord::default()
    };
    let igraph = GraphRecord {
        id: Some(text("igraph")),
        label: Some(text("ring")),
        num_nodes: 4,
        node_ids: Some(["ann", "bob", "<cy>", "dé"].map(text).into()),
        edges: vec![[0, 1], [1, 2], [0, 2]],
        weights: Some(vec![1.0, 0.25, 3.0]),
        features: Some(Features { dim: 1, values: vec![31.0, 25.0, 47.5, 12.0] }),
        directed: true,
        ..GraphRecord::default()
    };
    let networkx = GraphRecord {
        id: Some(text("networkx")),
        label: Some(Scalar::Int(1)),
        num_nodes: 3,
        edges: vec![[0, 1], [1, 2]],
        weights: Some(vec![1.5, 2.0]),
        edge_labels: Some(vec![text("single"), text("double")]),
        node_labels: Some(["C", "N", "O"].map(text).into()),
        // Declared in this order: ring, mass.
        features: Some(Features { dim: 2, values: vec![1.0, 12.0, 0.0, 14.5, 1.0, 16.0] }),
        ..GraphRecord::default()
    };
    assert_eq!(all(Ok(source)), [gephi, igraph, networkx]);
}

/// The file of networkx 3.6 and those of igraph 1.0 were made by:
/// ```python
/// g = networkx.Graph()
/// g.add_node("a", charge=1, ring=True)
/// g.add_node("b", charge=0.5, ring=2)
/// g.add_node("c", charge=-1, ring=False)
/// g.add_edge("a", "b", weight=1)
/// g.add_edge("b", "c", weight=2.5)
/// g.add_edge("a", "c", weight=3)
/// networkx.write_graphml(g, "networkx.graphml")
/// h = igraph.Graph([(0, 1), (1, 2)])
/// h.vs["name"], h.vs["team"] = ["ann", "bob", "cy"], ["x", "y", "x"]
/// h.write_graphml("igraph.graphml")
/// h.write_graphmlz("igraph-packed.graphml.gz")
/// ```
#[test]
fn keys_of_one_name_are_one_attribute_and_names_are_ids() {
    let path = fixtures().with_file_name("graphml-kinds");
    let networkx = GraphRecord {
        id: Some(text("networkx")),
        num_nodes: 3,
        node_ids: Some(["a", "b", "c"].map(text).into()),
        edges: vec![[0, 1], [0, 2], [1, 2]],
        weights: Some(vec![1.0, 3.0, 2.5]),
        // Declared in this order: ring, charge.
        features: Some(Features { dim: 2, values: vec![1.0, 1.0, 2.0, 0.5, 0.0, -1.0] }),
        ..GraphRecord::default()
    };
    let igraph = |id: &str| GraphRecord {
        id: Some(text(id)),
        num_nodes: 3,
        node_ids: Some(["ann", "bob", "cy"].map(text).into()),
        edges: vec![[0, 1], [1, 2]],
        node_labels: Some(["x", "y", "x"].map(text).into()),
        ..GraphRecord::default()
    };
    let source = graphml::read(&path, &limits()).unwrap();
    assert_eq!(source.ignored(), Vec::<String>::new());
    assert_eq!(all(Ok(source)), [igraph("igraph-packed"), igraph("igraph"), networkx]);
    // A compressed file is told by what is in it.
    let packed = path.join("igraph-packed.graphml.gz");
    let folder = folder(&[("g.bin", &std::fs::read(&packed).unwrap())]);
    assert_eq!(detect(&packed).unwrap(), Format::GraphMl);
    assert_eq!(detect(&folder.path().join("g.bin")).unwrap(), Format::GraphMl);
}

#[test]
fn a_name_that_nodes_share_is_a_label_in_every_graph() {
    let graph = |names: [&str; 2]| {
        let nodes =
            names.map(|name| format!("<node id='{name}!'><data key='n'>{name}</data></node>"));
        format!(
            "<graphml><key id='n' for='node' attr.name='name' attr.type='string'/><graph>{}</graph></graphml>",
            nodes.concat()
        )
    };
    let read = |first: [&str; 2]| {
        let first = graph(first).replacen("!'", "1'", 1);
        let second = graph(["C", "N"]);
        let folder = folder(&[("1.graphml", first.as_bytes()), ("2.graphml", second.as_bytes())]);
        all(graphml::read(folder.path(), &limits()))
    };
    let [first, second] = &read(["C", "C"])[..] else { panic!() };
    assert_eq!(first.node_labels, Some(["C", "C"].map(text).into()));
    assert_eq!(second.node_labels, Some(["C", "N"].map(text).into()));
    assert_eq!(second.node_ids, Some(["C!", "N!"].map(text).into()));
    let [first, second] = &read(["C", "O"])[..] else { panic!() };
    assert_eq!((&first.node_labels, &second.node_labels), (&None, &None));
    assert_eq!(second.node_ids, Some(["C", "N"].map(text).into()));
}

#[test]
fn a_drawing_is_read_where_it_is_asked_for() {
    let keys =
        ["label string", "r int", "g int", "b int", "x float", "y float", "size float", "age int"];
    let keys = keys.map(|key| {
        let (name, kind) = key.split_once(' ').unwrap();
        format!("<key attr.name='{name}' attr.type='{kind}' for='node' id='{name}'/>")
    });
    let values = ["label", "r", "g", "b", "x", "y", "size", "age"];
    let values = values.map(|name| format!("<data key='{name}'>7</data>")).concat();
    let graph = format!("<graph><node id='n'>{values}</node></graph>");
    let features = |limits: &Limits| {
        let (_folder, path) = file(&format!("<graphml>{}{graph}</graphml>", keys.concat()));
        let source = graphml::read(&path, limits).unwrap();
        let said = source.ignored().join("; ");
        (all(Ok(source)).remove(0).features.unwrap().dim, said)
    };
    let (dim, said) = features(&limits());
    assert_eq!(dim, 1);
    assert!(said.contains("`r`, `g`, `b`, `x`, `y`, `size` (Gephi's drawing)"), "{said}");
    assert_eq!(features(&limits().drawing(true)), (7, String::new()));
    // What others call x and y is theirs.
    let others = keys.concat().replace("id='", "id='d_");
    let graph = graph.replace("key='", "key='d_");
    assert_eq!(one(&others, &graph).features.unwrap().dim, 7);
}

#[test]
fn compressed_files_are_bounded_and_end_with_their_stream() {
    use std::io::Write;
    let packed = |text: &str| {
        let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap()
    };
    let good = "<graphml><graph><node id='n'/></graph></graphml>";
    let mut trailing = packed(good);
    trailing.extend(b"more");
    let long = packed(&format!("<graphml>{}</graphml>", " ".repeat(1 << 20)));
    for (bytes, said) in [
        (trailing, "followed by bytes that are not compressed"),
        (packed(good)[..20].to_vec(), "ends too soon"),
        (long, "max_record_bytes"),
    ] {
        let folder = folder(&[("g.graphml.gz", &bytes)]);
        let limits = limits().max_record_bytes(1 << 16);
        let refused = refusal(graphml::read(&folder.path().join("g.graphml.gz"), &limits));
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn graphs_are_named_by_file_or_by_themselves() {
    let named = "<graphml><graph id=\"benzene\"/></graphml>";
    let plain = "<graphml><graph id=\"G\"/></graphml>";
    let two = "<graphml><graph id=\"first\"/><graph/></graphml>";
    let folder = folder(&[
        ("12.graphml", named.as_bytes()),
        ("a.GraphML", plain.as_bytes()),
        ("b.graphml", two.as_bytes()),
        ("notes.txt", b"not read"),
    ]);
    let ids = |path: &Path| -> Vec<Scalar> {
        let records = all(graphml::read(path, &limits()));
        records.into_iter().map(|record| record.id.unwrap()).collect()
    };
    let together = [Scalar::Int(12), text("a"), text("first"), text("b-2")];
    assert_eq!(ids(folder.path()), together);
    assert_eq!(ids(&folder.path().join("12.graphml")), [text("benzene")]);
    assert_eq!(ids(&folder.path().join("a.GraphML")), [text("a")]);
}

#[test]
fn files_come_in_the_order_that_people_number_them() {
    let graph = b"<graphml><graph/></graphml>".as_slice();
    let long = format!("{}.graphml", "9".repeat(60));
    let names = ["g10.graphml", "g2.graphml", "10.graphml", "9.graphml", "g2-1.graphml", &long];
    let folder = folder(&names.map(|name| (name, graph)));
    let records = all(graphml::read(folder.path(), &limits()));
    let ids: Vec<String> = records.into_iter().map(|r| r.id.unwrap().to_string()).collect();
    assert_eq!(ids[..2], ["9", "10"]);
    assert_eq!(ids[3..], ["g2-1", "g2", "g10"]);
}

#[test]
fn an_integer_label_is_a_label_and_a_default_fills_gaps() {
    let record = one(
        "<key id='l' for='node' attr.name='label' attr.type='int'><default>7</default></key>
         <key id='w' for='edge' attr.name='weight' attr.type='float'><default>0.5</default></key>",
        "<graph edgedefault='undirected'><node id='a'><data key='l'> 3 </data></node>
         <node id='b'/><edge source='a' target='b'/></graph>",
    );
    assert_eq!(record.node_labels, Some([3, 7].map(Scalar::Int).into()));
    assert_eq!(record.weights, Some(vec![0.5]));
    assert_eq!(record.features, None);
}

#[test]
fn numbers_of_edges_are_attributes_and_named_numbers_of_graphs_targets() {
    let record = one(
        "<key id='k' for='edge' attr.name='kind' attr.type='string'/>
         <key id='w' for='edge' attr.name='weight' attr.type='float'/>
         <key id='l' for='edge' attr.name='length' attr.type='double'/>
         <key id='n' for='edge' attr.name='new' attr.type='boolean'><default>false</default></key>
         <key id='g' for='graph' attr.name='y.gap' attr.type='double'/>
         <key id='c' for='graph' attr.name='class' attr.type='string'/>",
        "<graph edgedefault='directed'><data key='g'>0.5</data><data key='c'>a</data>
         <node id='0'/><node id='1'/>
         <edge source='0' target='1'><data key='k'>met</data><data key='l'>2.5</data>
         <data key='w'>3</data><data key='n'>true</data></edge>
         <edge source='1' target='0'><data key='k'>left</data><data key='l'>-1</data>
         <data key='w'>3</data></edge></graph>",
    );
    assert_eq!(record.weights, Some(vec![3.0, 3.0]));
    assert_eq!(record.edge_labels, Some(vec![text("met"), text("left")]));
    let features = Features { dim: 2, values: vec![2.5, 1.0, -1.0, 0.0] };
    assert_eq!(record.edge_features, Some(features));
    assert!(record.directed);
    let gap = Target { name: "gap".to_owned(), value: Some(Scalar::Float(0.5)) };
    assert_eq!((record.label, record.targets), (Some(text("a")), vec![gap]));
}

#[test]
fn a_weight_that_is_none_is_left_out_with_a_reason() {
    let said = |keys: &str, first: &str, second: &str| {
        let (_folder, path) = file(&format!(
            "<graphml>{keys}<key id='l' for='edge' attr.name='label' attr.type='string'/>
             <graph edgedefault='undirected'><node id='0'/><node id='1'/>
             <edge source='0' target='1'><data key='l'>a</data>{first}</edge>
             <edge source='1' target='1'><data key='l'>b</data>{second}</edge></graph></graphml>"
        ));
        graphml::read(&path, &limits()).unwrap().ignored()
    };
    let text = "<key id='t' for='edge' attr.name='weight' attr.type='string'/>";
    let whole = "<key id='i' for='edge' attr.name='weight' attr.type='long'/>";
    let (two, heavy) = ("<data key='i'>2</data>", "<data key='t'>heavy</data>");
    for (keys, first, second, why) in [
        (format!("{whole}{text}"), two, heavy, "some edges have numbers, others text"),
        (text.to_owned(), heavy, heavy, "its type is text, not a number"),
    ] {
        let expected = format!("the edge attribute `weight` is not used: {why} (graphs: 1)");
        assert_eq!(said(&keys, first, second), [expected]);
    }
}

#[test]
fn edges_may_come_first_repeat_and_loop() {
    let record = one(
        "",
        "<graph edgedefault='directed'><edge source='b' target='a'/><edge source='b' target='a'/>
         <edge source='a' target='a'/><node id='a'/><node id='b'/></graph>",
    );
    assert_eq!(record.edges, [[1, 0], [1, 0], [0, 0]]);
    assert!(record.directed);
}

#[test]
fn drawings_are_skipped_aloud() {
    let (_folder, path) = file(
        "<graphml xmlns:y='urn:y'><key id='d6' for='node' yfiles.type='nodegraphics'/>
         <data key='d7'><y:Resources/></data>
         <graph edgedefault='directed'><desc>words</desc><node id='0'><data key='d6'>
         <y:ShapeNode><y:NodeLabel>A &lt; B</y:NodeLabel></y:ShapeNode></data></node></graph></graphml>",
    );
    let source = graphml::read(&path, &limits()).unwrap();
    assert_eq!(source.ignored(), ["the node attribute `d6` is not used (graphs: 1)"]);
    let record = &all(Ok(source))[0];
    assert_eq!((record.num_nodes, &record.node_labels), (1, &None));
}

#[test]
fn malformed_files_are_refused_by_name_line_and_value() {
    const KEY: &str = "<key id='x' for='node' attr.name='mass' attr.type='double'/>";
    let graph = |inside: &str| {
        format!("<graphml>{KEY}\n<graph edgedefault='undirected'>\n{inside}\n</graph></graphml>")
    };
    let bomb = "<!DOCTYPE g [<!ENTITY a 'haha'><!ENTITY b '&a;&a;&a;&a;'>]>\n".to_owned()
        + &graph("<node id='a'><data key='x'>&b;</data></node>");
    let attribute_bomb =
        "<!DOCTYPE g [<!ENTITY a 'haha'>]>\n".to_owned() + &graph("<node id='&a;'/>");
    let deep = format!("<graphml>{}", "<a>".repeat(100_000));
    let whole = std::fs::read_to_string(fixtures().join("igraph.graphml")).unwrap();
    #[rustfmt::skip]
    let cases: &[(String, &[&str])] = &[
        (String::new(), &["g.graphml", "no `<graph>`"]),
        ("<graphml/>".into(), &["no `<graph>`"]),
        ("<html/>".into(), &["line 1", "begins with `html`"]),
        ("{\"edges\": []}".into(), &["no `<graph>`"]),
        (whole[..whole.len() / 2].into(), &["g.graphml, line", "not well-formed"]),
        (whole[..whole.len() - 12].into(), &["not well-formed", "ends inside"]),
        ("<graphml>\n<graph>\n</node></graphml>".into(), &["line 3", "not well-formed"]),
        ("<graphml>\n<graph".into(), &["line", "not well-formed"]),
        (deep, &["line 1", "`a` is nested more than 64 deep"]),
        (bomb, &["g.graphml, line 4", "entity `b`", "not expanded"]),
        (attribute_bomb, &["g.graphml, line 4", "not well-formed", "a"]),
        (graph("<node/>"), &["line 3", "`<node>` has no `id`"]),
        (graph("<node id='a'/>\n<node id='a'/>"), &["line 4", "two nodes `a`"]),
        (graph("<edge source='a' target='b'/>"), &["line 3", "`a` is no node"]),
        (graph("<node id='a'/>\n<edge source='a'/>"), &["line 4", "`<edge>` has no `target`"]),
        (graph("<node id='a'>\n<data key='z'>1</data></node>"), &["line 4", "key `z` is not declared"]),
        (graph("<node id='a'><data key='x'>nan</data></node>"), &["line 3", "`mass`", "node `a` has `nan`", "finite"]),
        (graph("<node id='a'><data key='x'>1e999</data></node>"), &["line 3", "`1e999`"]),
        (graph("<node id='a'><data key='x'>red</data></node>"), &["line 3", "`red`", "finite number"]),
        (graph("<node id='a'><data key='x'>1</data></node>\n<node id='b'/>"), &["line 4", "`mass`", "node `b` has none", "<default>"]),
        (graph("<hyperedge/>"), &["line 3", "hyperedge"]),
        (graph("<node id='a'><port name='p'/></node>"), &["line 3", "a port"]),
        (graph("<node id='a'><graph/></node>"), &["line 3", "graph inside another"]),
        (graph("<edge source='a' target='a' sourceport='p'/>"), &["line 3", "between ports"]),
        (graph("<edge source='a' target='a' directed='yes'/>"), &["line 3", "`yes`"]),
        ("<graphml><graph edgedefault='both'/></graphml>".into(), &["line 1", "`both`"]),
        (format!("<graphml>{KEY}\n{KEY}</graphml>"), &["line 2", "`x` is declared twice"]),
        ("<graphml><key id='x' attr.type='color'/></graphml>".into(), &["line 1", "`color` is unknown"]),
        (graph("<node id='a'><data key='x'>&#xZZ;</data></node>"), &["line 3", "not well-formed"]),
    ];
    for (content, parts) in cases {
        let (_folder, path) = file(content);
        let message = refusal(graphml::read(&path, &limits()));
        for part in *parts {
            assert!(message.contains(part), "{:.300}: {message}\nlacks: {part}", content);
        }
    }
    let broken = folder(&[("g.graphml", b"<graphml>\n<graph id='caf\xe9'/></graphml>")]);
    let message = refusal(graphml::read(broken.path(), &limits()));
    assert!(message.contains("g.graphml, line 2"), "{message}");
    assert!(message.contains("not UTF-8"), "{message}");
    let message = refusal(graphml::read(folder(&[]).path(), &limits()));
    assert!(message.contains("no `*.graphml` file"), "{message}");
}

#[test]
fn limits_are_kept() {
    let (_folder, path) =
        file("<graphml><graph>\n<node id='a'/>\n<node id='b'/></graph></graphml>");
    let message = |limits: Limits| refusal(graphml::read(&path, &limits));
    let nodes = message(limits().max_nodes(1));
    assert!(nodes.contains("line 3: the graph has more than the 1 nodes allowed"), "{nodes}");
    let record = message(limits().max_record_bytes(20));
    assert!(record.contains("more than the 20 bytes allowed"), "{record}");
    assert!(record.contains("max_record_bytes"), "{record}");
    let total = message(limits().max_unpacked_bytes(20));
    assert!(total.contains("max_unpacked_bytes"), "{total}");
    // Few bytes, many values: keys with defaults times nodes.
    let key = |n: usize| {
        format!(
            "<key id='{n}' for='node' attr.name='k{n}' attr.type='int'><default>1</default></key>"
        )
    };
    let keys: String = (0..2000).map(key).collect();
    let nodes: String = (0..2000).map(|n| format!("<node id='{n}'/>")).collect();
    let (_folder, path) = file(&format!("<graphml>{keys}<graph>{nodes}</graph></graphml>"));
    let small = limits().max_unpacked_bytes(1 << 20);
    let message = refusal(graphml::read(&path, &small));
    assert!(message.contains("more than the 1048576 bytes allowed"), "{message}");
}

proptest! {
    #[test]
    fn damage_never_panics(cut in 0usize..1500, at in 0usize..1500, byte: u8) {
        for name in ["igraph", "gephi", "networkx"] {
            let mut bytes = std::fs::read(fixtures().join(format!("{name}.graphml"))).unwrap();
            if let Some(damaged) = bytes.get_mut(at) {
                *damaged = byte;
            }
            bytes.truncate(cut.max(200));
            let folder = folder(&[("g.graphml", &bytes)]);
            if let Ok(source) = graphml::read(folder.path(), &limits()) {
                let _ = source.count();
            }
        }
    }
}
