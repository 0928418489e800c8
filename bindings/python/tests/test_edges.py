"""What edges carry, and several numbers to predict: from every kind of graph, and back."""

import numpy as np
import pytest

import hg2v

#: A directed path of three nodes with two edges side by side, as a row of a table.
ROW = {
    "src": [0, 0, 1],
    "dst": [1, 1, 2],
    "weight": [1.0, 2.0, 0.5],
    "edge_label": ["single", "double", "single"],
    "edge_x": [[0.5, 1.0], [2.0, 3.0], [4.0, -5.0]],
    "directed": True,
    "num_nodes": 3,
}


def rows(graphs):
    """Graphs as rows of a table."""
    pa = pytest.importorskip("pyarrow")
    return pa.record_batch(graphs.to_arrow()).to_pylist()


def networkx_graph(**of):
    nx = pytest.importorskip("networkx")
    graph = nx.MultiDiGraph(**of)
    graph.add_nodes_from(range(3))
    for at, (u, v) in enumerate(zip(ROW["src"], ROW["dst"])):
        length, angle = ROW["edge_x"][at]
        kind, weight = ROW["edge_label"][at], ROW["weight"][at]
        graph.add_edge(u, v, weight=weight, label=kind, kind=kind, length=length, angle=angle)
    return graph


NAMED = {"edge_label": "kind", "edge_attrs": ["length", "angle"]}


def test_networkx():
    (row,) = rows(hg2v.graphs([networkx_graph(y={"gap": 0.5, "class": "a"})], **NAMED))
    assert {key: row[key] for key in ROW} == ROW
    assert row["y.gap"] == 0.5 and row["y.class"] == "a"
    # `label` need not be said, but is nothing else's then.
    (row,) = rows(hg2v.graphs([networkx_graph()], edge_attrs="length"))
    assert row["edge_label"] == ROW["edge_label"] and row["edge_x"] == [[0.5], [2.0], [4.0]]
    nx = pytest.importorskip("networkx")
    numbered = nx.path_graph(3)
    nx.set_edge_attributes(numbered, {(0, 1): 7, (1, 2): 8}, "label")
    (row,) = rows(hg2v.graphs([numbered], edge_attrs=["label"]))
    assert row["edge_x"] == [[7.0], [8.0]] and "edge_label" not in row
    (row,) = rows(hg2v.graphs([numbered]))
    assert row["edge_label"] == [7, 8] and "directed" not in row


def test_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(3, list(zip(ROW["src"], ROW["dst"])), directed=True)
    graph.es["weight"] = ROW["weight"]
    graph.es["kind"] = ROW["edge_label"]
    graph.es["length"], graph.es["angle"] = zip(*ROW["edge_x"])
    graph["y"] = [1.5, None]
    (row,) = rows(hg2v.graphs([graph], **NAMED))
    assert {key: row[key] for key in ROW} == ROW
    assert row["y.0"] == 1.5 and row["y.1"] is None


def test_rustworkx():
    rx = pytest.importorskip("rustworkx")
    graph = rx.PyDiGraph(multigraph=True)
    graph.add_nodes_from([None] * 3)
    for at, (u, v) in enumerate(zip(ROW["src"], ROW["dst"])):
        payload = {"weight": ROW["weight"][at], "kind": ROW["edge_label"][at]}
        graph.add_edge(u, v, {**payload, "both": ROW["edge_x"][at]})
    (row,) = rows(hg2v.graphs([graph], edge_label="kind", edge_attrs="both"))
    assert {key: row[key] for key in ROW} == ROW
    dag = rx.PyDAG()
    dag.add_nodes_from([None] * 2)
    dag.add_edge(0, 1, "a")
    assert rows(hg2v.graphs([dag]))[0]["directed"]
    texts = rx.PyGraph()
    texts.add_nodes_from([None] * 3)
    texts.add_edges_from([(0, 1, "a"), (1, 2, "b")])
    (row,) = rows(hg2v.graphs([texts]))
    assert row["edge_label"] == ["a", "b"] and "weight" not in row


def stand_in(library, kind, **members):
    """A class that stands for another library's; the tests of peers have the real ones."""
    return type(kind, (), {"__module__": library, **members})()


def pyg(**stored):
    stored = {"edge_index": np.array([ROW["src"], ROW["dst"]]), "num_nodes": 3, **stored}
    return stand_in("torch_geometric.data.data", "Data", num_edges=3, **stored)


def dgl(edata, ndata=None):
    ends = np.array(ROW["src"]), np.array(ROW["dst"])
    members = dict(batch_size=1, ndata=ndata or {}, edata=edata)
    methods = dict(edges=lambda self: ends, num_nodes=lambda self: 3)
    return stand_in("dgl.heterograph", "DGLGraph", **members, **methods)


KINDS = np.array([1, 2, 1])


@pytest.mark.parametrize("make", [lambda **of: pyg(**of), lambda **of: dgl(of)])
def test_edge_attr_is_attributes_or_kinds(make):
    def read(reading=None, **of):
        (row,) = rows(hg2v.graphs([make(**of)], **(reading or {})))
        return row.get("edge_x"), row.get("edge_label"), row.get("weight")

    numbers = np.array(ROW["edge_x"])
    assert read(edge_attr=numbers) == (ROW["edge_x"], None, None)
    assert read(edge_attr=numbers[:, 0]) == ([[0.5], [2.0], [4.0]], None, None)
    assert read(edge_attr=KINDS) == (None, [1, 2, 1], None)
    assert read(edge_attr=KINDS.reshape(3, 1)) == (None, [1, 2, 1], None)
    whole = np.array([[1, 0], [0, 2], [1, 0]])
    assert read(edge_attr=whole) == (whole.astype(float).tolist(), None, None)
    # One-hot rows say kinds, unless they are named as numbers.
    one_hot = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert read(edge_attr=one_hot) == (None, [0, 1, 0], None)
    assert read({"edge_attrs": "edge_attr"}, edge_attr=one_hot) == (one_hot.tolist(), None, None)
    mixed = hg2v.graphs([make(edge_attr=one_hot), make(edge_attr=numbers)])
    assert [row["edge_x"] for row in rows(mixed)] == [one_hot.tolist(), ROW["edge_x"]]
    # What is named is what it was named as, and nothing else.
    assert read({"edge_label": "edge_attr"}, edge_attr=KINDS) == (None, [1, 2, 1], None)
    assert read({"weight": "edge_attr"}, edge_attr=KINDS) == (None, None, [1, 2, 1])
    both = {"edge_label": "bond", "edge_attrs": ["edge_attr", "angle"]}
    found = read(both, bond=KINDS, edge_attr=numbers[:, :1], angle=numbers[:, 1])
    assert found == (ROW["edge_x"], [1, 2, 1], None)
    assert read({"edge_attrs": []}, edge_attr=numbers) == (None, None, None)


def test_y_of_pyg():
    def read(y):
        (row,) = rows(hg2v.graphs([pyg(y=y)]))
        return {name: value for name, value in row.items() if name.partition(".")[0] == "y"}

    assert read(np.array([[0.5, np.nan]])) == {"y.0": 0.5, "y.1": None}
    assert read(np.array([1.0, 2.0])) == {"y.0": 1.0, "y.1": 2.0}
    assert read(np.array([[3]])) == read(np.array(3)) == {"y": 3}
    assert read(np.array([1, 0, 1])) == {}, "a class a node"


FROM_ROWS = {
    "table": lambda pa, rows: pa.Table.from_pylist(rows),
    "batch": lambda pa, rows: pa.RecordBatch.from_pylist(rows),
    "pandas": lambda pa, rows: pa.Table.from_pylist(rows).to_pandas(),
    "polars": lambda pa, rows: pytest.importorskip("polars").DataFrame(rows),
    "mappings": lambda pa, rows: [
        {**{key: value for key, value in row.items() if "." not in key}, "y": y}
        for row, y in zip(rows, [{"gap": 0.5, "class": "a"}, {"gap": None, "class": "b"}])
    ],
}


@pytest.mark.parametrize("kind", FROM_ROWS)
def test_tables_and_mappings(kind):
    pa = pytest.importorskip("pyarrow")
    two = [{**ROW, "y.gap": 0.5, "y.class": "a"}, {**ROW, "y.gap": None, "y.class": "b"}]
    graphs = hg2v.graphs(FROM_ROWS[kind](pa, two))
    for row, made in zip(two, rows(graphs)):
        assert {key: made[key] for key in row} == row
    targets = graphs.targets()
    assert list(targets) == ["gap", "class"] and targets["class"] == ["a", "b"]
    np.testing.assert_array_equal(targets["gap"], [0.5, np.nan])


def test_lines():
    line = {"edges": [[0, 1], [1, 2]], "edge_x": [1, 2.5], "y": [1, None, "a"]}
    (row,) = rows(hg2v.graphs([line]))
    assert row["edge_x"] == [[1.0], [2.5]]
    assert [row["y.0"], row["y.1"], row["y.2"]] == [1, None, "a"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "a.zip", "a.csv", "folder"])
def test_files_give_back_what_they_got(name, tmp_path):
    mapping = {**ROW, "y": {"gap": 0.5, "mass": 12}}
    written = hg2v.graphs([mapping, {**mapping, "y": {"gap": 1.5, "mass": None}}])
    written.write(tmp_path / name)
    read = hg2v.graphs(tmp_path / name)
    assert rows(read) == rows(written)
    assert list(read.targets()) == ["gap", "mass"]
    assert hg2v.graphs(tmp_path / name, target="gap").labels() == [0.5, 1.5]
    assert hg2v.graphs(tmp_path / name, target="gap").targets() == {}
    assert hg2v.graphs(tmp_path / name, target=["mass", "gap"]).labels() == [None, None]
    with pytest.raises(hg2v.InputError, match="`logs`.*ask for one of `gap`, `mass`"):
        hg2v.graphs(tmp_path / name, target="logs")


def test_targets_survive_pickles_and_joins():
    import pickle

    one = hg2v.graphs([{**ROW, "y": [1, 2**60 + 1, True]}])
    other = hg2v.graphs([{**ROW, "y": {"0": 2.5, "9": "a"}}])
    both = pickle.loads(pickle.dumps(hg2v.graphs([one, other])))
    targets = both.targets()
    np.testing.assert_array_equal(targets["0"], [1.0, 2.5])
    assert targets["2"] == [True, None] and targets["9"] == [None, "a"]
    assert rows(one)[0]["y.1"] == 2**60 + 1


PATH = [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    "graphs, reading, said",
    [
        ([{"edge_index": PATH, "edge_x": [[1.0]]}], {}, "^graph 0: .*'edge_x'.* has 1 entries"),
        ([{"edge_index": PATH, "edge_x": [[1.0], [np.nan]]}], {}, "^graph 0, edge 1: .* is nan"),
        ([{"edge_index": PATH, "edge_x": [1.0, "a"]}], {}, "^graph 0, edge 1: .* 'a'.*edge_label="),
        (
            [{"edge_index": PATH, "edge_x": [[1.0], [1.0]]}, {"edge_index": PATH}],
            {},
            "graph 1 has no attributes 'edge_x', but graph 0 has",
        ),
        (
            [{"edge_index": PATH, "edge_x": [[1.0] * n] * 2} for n in (1, 2)],
            {},
            "graph 1 has 2 attributes 'edge_x' an edge, but graph 0 has 1",
        ),
        ([{"edge_index": PATH, "y": {"gap": object()}}], {}, "^graph 0: the target 'gap' is"),
        ([{"edge_index": PATH, "y": [float("inf"), 1.0]}], {}, "^graph 0: .*`y.0` holds `inf`"),
        ([{"edge_index": PATH}], {"target": 3}, "target"),
        ([{"edge_index": PATH}], {"edge_attrs": 3}, "edge_attrs"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(graphs, reading, said):
    with pytest.raises((hg2v.InputError, hg2v.ParameterError), match=said):
        hg2v.graphs(graphs, **reading)


def test_an_edge_without_what_others_have():
    nx = pytest.importorskip("networkx")
    graph = nx.path_graph(3)
    graph.edges[0, 1]["length"] = 1.0
    with pytest.raises(hg2v.InputError, match="^graph 0, edge 1: no attribute 'length'"):
        hg2v.graphs([graph], edge_attrs="length")


def test_a_dataset_held_whole():
    ends = np.array([[0, 1, 0], [1, 2, 1]])
    stored = dict(edge_index=ends, x=np.zeros((5, 1)), edge_attr=np.array(ROW["edge_x"]))

    def dataset(**of):
        data = stand_in("torch_geometric.data.data", "Data", **{**stored, **of})
        slices = {"x": np.array([0, 3, 5]), "edge_index": np.array([0, 2, 3])}
        two = [
            pyg(x=np.zeros((n, 1)), num_nodes=n, **{k: v[:0] for k, v in of.items()})
            for n in (3, 2)
        ]
        methods = dict(__len__=lambda self: 2, __getitem__=lambda self, at: two[at])
        of_whole = dict(_data=data, slices=slices, _indices=None)
        base = type("Dataset", (), {"__module__": "torch_geometric.data.dataset", **methods})
        kind = type("InMemoryDataset", (base,), {"__module__": base.__module__, **of_whole})
        return hg2v.graphs(kind())

    first, second = rows(dataset(y=np.array([[0.5, np.nan], [1.5, 2.5]])))
    assert first["edge_x"] == ROW["edge_x"][:2] and second["edge_x"] == ROW["edge_x"][2:]
    assert [first["y.0"], first["y.1"], second["y.0"], second["y.1"]] == [0.5, None, 1.5, 2.5]
    first, second = rows(dataset(y=np.array([3, 4]), edge_attr=KINDS))
    assert first["edge_label"] == [1, 2] and second["edge_label"] == [1]
    assert [first["y"], second["y"]] == [3, 4] and "edge_x" not in first


def test_tensors_and_matrices_are_directed_on_demand():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.coo_array(([1, 1, 1], ([0, 1, 1], [1, 2, 0])), shape=(3, 3))
    graphs = [pyg(), matrix, ([[0, 1, 1], [1, 2, 0]], None), {"edge_index": [[0], [1]]}]
    assert hg2v.graphs(graphs).directed().tolist() == []
    always = hg2v.graphs(graphs, directed="always")
    assert always.directed().tolist() == [0, 1, 2, 3]
    assert rows(always)[1]["src"] == [0, 1, 1]
    with pytest.raises(hg2v.ParameterError, match="directed is .never."):
        hg2v.graphs(graphs, directed="never")


def test_kernels_are_told_what_to_see_of_edges():
    def graph(kinds, ends):
        return {"edge_index": ends, "edge_label": kinds, "directed": True}

    one = graph(["a", "b"], [[0, 1], [1, 2]])
    kinds, ways = graph(["a", "a"], [[0, 1], [1, 2]]), graph(["a", "b"], [[0, 2], [1, 1]])
    for kernel in (hg2v.WLSubtree, hg2v.WLOptimalAssignment, hg2v.WassersteinWL):
        same = kernel(rounds=1).fit_transform([one, one])[0, 1]
        for other, option in [(kinds, "edge_labels"), (ways, "direction")]:
            assert kernel(rounds=1).fit_transform([one, other])[0, 1] < same
            blind = kernel(rounds=1, **{option: "ignore"}).fit_transform([one, other])
            assert blind[0, 1] == pytest.approx(same)
        with pytest.raises(hg2v.ParameterError, match="edge_labels is .no."):
            kernel(edge_labels="no").fit_transform([one])
