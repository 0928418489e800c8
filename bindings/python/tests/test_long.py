"""Tables with a row an edge."""

import numpy as np
import pytest

import hg2v
from shared import PARAMS, same

pandas = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

EDGES = pandas.DataFrame(
    {
        "graph": ["b", "a", "b", "a"],
        "src": ["x", "p", "y", "q"],
        "dst": ["y", "q", "z", "p"],
        "weight": [1.0, 2.0, 3.0, 4.0],
        "label": ["s", "t", "s", "s"],
        "length": [0.1, 0.2, 0.3, 0.4],
    }
)
NODES = pandas.DataFrame(
    {
        "graph": list("aaabbb"),
        "node": list("pqrzyx"),
        "label": list("CCNCCN"),
        "charge": [1, 2, 3, 4, 5, 6],
    }
)
GRAPHS = pandas.DataFrame(
    {"graph": list("cab"), "y": [1, 0, 1], "y.gap": [0.5, np.nan, 1.0], "directed": [1, 0, 1]}
)
ALL = {"edges": EDGES, "nodes": NODES, "graphs": GRAPHS}

LIBRARIES = {
    "pandas": lambda frame: frame,
    "pandas, categories": lambda frame: frame.astype({"graph": "category"}),
    "pandas, an odd index": lambda frame: frame.set_index(pandas.Index(["a"] * len(frame))),
    "pandas, Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, nullable": lambda frame: frame.convert_dtypes(),
    "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
    "pyarrow": pa.Table.from_pandas,
    "pyarrow, in pieces": lambda frame: pa.concat_tables(
        [pa.Table.from_pandas(frame[:1]), pa.Table.from_pandas(frame[1:])]
    ),
    "capsules": lambda frame: Capsules(pa.Table.from_pandas(frame)),
    "pyarrow, batch": pa.RecordBatch.from_pandas,
    "pyarrow, stream": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "pyarrow, dictionary": lambda frame: pa.table(
        {
            name: pa.array(frame[name]).dictionary_encode() if name == "graph" else frame[name]
            for name in frame
        }
    ),
}


class Capsules:
    """A table of a library that nobody knows."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_schema__(self):
        return self.table.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


#: One row a graph, whose columns of lists are told apart from names, also in a library's own types.
A_ROW_A_GRAPH = {"src": [[0, 1]], "dst": [[1, 2]], "graph": ["a"]}


@pytest.mark.parametrize(
    "make",
    [
        pandas.DataFrame,
        lambda of: pa.table(of).to_pandas(types_mapper=pandas.ArrowDtype),
        lambda of: pytest.importorskip("polars").DataFrame(of),
        pa.table,
        lambda of: pa.table(of).cast(
            pa.schema(
                [(name, pa.list_(pa.int64(), 2)) for name in ("src", "dst")] + [("graph", "string")]
            )
        ),
        lambda of: pytest.importorskip("duckdb").from_arrow(pa.table(of)),
        lambda of: hg2v.to_arrow(pa.table({name: of[name] for name in ("src", "dst")})),
        lambda of: Capsules(pa.table(of)),
    ],
)
def test_a_row_a_graph_is_no_row_an_edge(make):
    assert hg2v.graphs(make(A_ROW_A_GRAPH)).num_edges().tolist() == [2]


def rows(graphs):
    return pa.record_batch(graphs.to_arrow()).to_pylist()


def test_edges_alone():
    first, second = rows(hg2v.graphs(EDGES))
    assert first["id"] == "b" and first["nodes"] == ["x", "y", "z"]
    assert (first["src"], first["dst"], first["weight"]) == ([0, 1], [1, 2], [1.0, 3.0])
    assert first["edge_label"] == ["s", "s"] and first["edge_x"] == [[0.1], [0.3]]
    assert second["id"] == "a" and second["src"] == [0, 1] and second["dst"] == [1, 0]


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_of_every_library(library):
    tables = {name: LIBRARIES[library](frame) for name, frame in ALL.items()}
    assert rows(hg2v.graphs(tables)) == rows(hg2v.graphs(ALL))
    edges = hg2v.graphs(LIBRARIES[library](EDGES))
    assert rows(edges) == rows(hg2v.graphs(EDGES))


@pytest.mark.parametrize("names", [["edges"], ["edges", "nodes"], ["edges", "nodes", "graphs"]])
def test_tables_are_the_folder_of_csv_files(names, tmp_path):
    for name in names:
        ALL[name].to_csv(tmp_path / f"{name}.csv", index=False)
    made, read = (
        # What a graph without nodes has nothing to hang on reads as absent.
        [
            {name: value for name, value in row.items() if value or name in ("src", "y")}
            for row in of
        ]
        for of in (
            rows(hg2v.graphs({name: ALL[name] for name in names})),
            rows(hg2v.graphs(tmp_path)),
        )
    )
    assert made == read


def naive(edges, nodes):
    """The graphs of rows, one row after the other."""
    made = {}
    for graph, node, charge in nodes or []:
        one = made.setdefault(graph, {"nodes": [], "x": [], "edge_index": [[], []], "weight": []})
        one["nodes"].append(node)
        one["x"].append([charge])
    for graph, src, dst, weight in edges:
        one = made.setdefault(graph, {"nodes": [], "edge_index": [[], []], "weight": []})
        for end in (src, dst):
            if end not in one["nodes"]:
                one["nodes"].append(end)
        one["weight"].append(weight)
        for side, end in zip(one["edge_index"], (src, dst)):
            side.append(end)
    for graph, one in made.items():
        if nodes is None and all(node in range(len(one["nodes"])) for node in one["nodes"]):
            one["nodes"] = sorted(one["nodes"])
        index = {node: at for at, node in enumerate(one["nodes"])}
        ends = np.array([[index[end] for end in side] for side in one["edge_index"]])
        one.update(edge_index=ends.astype(int).reshape(2, -1), id=graph)
    return hg2v.graphs(list(made.values()))


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("names", ["numbers", "texts", "both"])
@pytest.mark.parametrize("seed", range(5))
def test_the_graphs_are_those_of_naive_grouping(listed, names, seed):
    rng = np.random.default_rng(seed)
    named = {
        "numbers": lambda n: n,
        "texts": "n{}".format,
        "both": lambda n: n if n % 2 else f"{n}",
    }
    pairs = sorted(
        {(int(g), int(n)) for g, n in zip(rng.integers(-2, 5, 60), rng.integers(0, 9, 60))}
    )
    nodes = [(g, named[names](n), float(n)) for g, n in rng.permutation(pairs).tolist()]
    edges = []
    for graph, src, _ in (nodes[at] for at in rng.integers(0, len(nodes), 80)):
        others = [node for of, node, _ in nodes if of == graph]
        edges.append((graph, src, others[rng.integers(len(others))], float(rng.uniform(1, 2))))
    frames = {"edges": pandas.DataFrame(edges, columns=["graph", "src", "dst", "weight"])}
    if listed:
        frames["nodes"] = pandas.DataFrame(nodes, columns=["graph", "node", "charge"])
    assert rows(hg2v.graphs(frames)) == rows(naive(edges, nodes if listed else None))


def test_columns_by_name(arrays):
    frame = EDGES.rename(columns={"weight": "order", "label": "kind"}).assign(note="a")
    named = dict(weight="order", edge_label="kind", edge_attrs="length")
    assert rows(hg2v.graphs(frame, **named)) == rows(hg2v.graphs(EDGES))
    (first, _) = rows(hg2v.graphs({"edges": frame, "nodes": NODES}, attributes=[], edge_attrs=[]))
    assert not {"x", "edge_x", "edge_label", "weight"} & first.keys() and "node_label" in first
    tables = {"edges": frame, "nodes": NODES.rename(columns={"label": "element"})}
    by_name = hg2v.HG2V(**PARAMS, **named, label="element").fit_transform(tables)
    same(by_name, hg2v.HG2V(**PARAMS).fit_transform({"edges": EDGES, "nodes": NODES}))


def test_columns_that_are_not_used_are_warned_of(caplog):
    hg2v.graphs(EDGES.rename(columns={"label": "kind"}))
    hg2v.graphs({**ALL, "graphs": GRAPHS.assign(note="a")})
    first, second = caplog.messages
    assert first.startswith("edge attribute 'kind' (text) is not used; name what is to be seen")
    assert second == (
        "graph attribute 'note' (text) is not used; call what is to be predicted `y`, or `y.NAME` "
        "where there are several"
    )


def test_whole_numbers_are_names_however_they_are_stored():
    frame = pandas.DataFrame({"graph": [7, 7, 3], "src": [1, 0, 5], "dst": [2, 2, 4]})
    first, second = rows(hg2v.graphs(frame))
    assert first["id"] == 7 and first["nodes"] is None and first["src"] == [1, 0]
    assert second["nodes"] == [5, 4]
    for other in (frame.astype(float), frame.astype("Int64"), frame.astype(object)):
        assert rows(hg2v.graphs(other)) == [first, second]
    assert "nodes" not in rows(hg2v.graphs(frame[:2]))[0]
    truths = pandas.DataFrame({"graph": [1, 1], "src": [1, 0], "dst": [True, "1"]}, dtype=object)
    assert hg2v.graphs(truths).num_nodes().tolist() == [4]


def test_edges_go_one_way_on_demand():
    assert hg2v.graphs(EDGES).directed().tolist() == []
    assert hg2v.graphs(EDGES, directed="always").directed().tolist() == [0, 1]
    with pytest.raises(hg2v.InputError, match="^graph 0: it is directed"):
        hg2v.graphs(ALL, directed="refuse")


def test_graphs_without_nodes_and_nodes_without_edges():
    empty, a, b = rows(hg2v.graphs(ALL))
    assert (empty["id"], empty["num_nodes"], empty["src"]) == ("c", 0, [])
    assert (a["num_nodes"], b["num_nodes"]) == (3, 3) and a["nodes"] == ["p", "q", "r"]
    graphs = hg2v.graphs(ALL)
    assert graphs.labels() == [1, 0, 1] and graphs.directed().tolist() == [0, 2]
    np.testing.assert_array_equal(graphs.targets()["gap"], [0.5, np.nan, 1.0])
    none = {"edges": EDGES[:0], "nodes": NODES}
    assert hg2v.graphs(none, errors="skip").num_nodes().tolist() == [3, 3]
    assert len(hg2v.graphs(EDGES[:0])) == 0


def test_frames_of_rows_have_the_index_of_graphs_only(arrays):
    edges = pandas.DataFrame({"graph": list("ab"), "src": [0, 0], "dst": [1, 1]}, index=[8, 9])
    made = hg2v.Statistics().set_output(transform="pandas").fit_transform(edges)
    assert made.index.tolist() == [0, 1]


def test_splits_of_scikit_learn(arrays):
    selection = pytest.importorskip("sklearn.model_selection")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    every = [(one["id"], *ends) for one in arrays for ends in one["edge_index"].T.tolist()]
    graphs = hg2v.graphs(pandas.DataFrame(every, columns=["graph", "src", "dst"]))
    y = [one["y"] for one in arrays]
    whole = make_pipeline(hg2v.Statistics(), LogisticRegression(max_iter=1000))
    scores = selection.cross_val_score(whole, graphs, y, cv=4)
    bare = [{key: one[key] for key in ("edge_index", "num_nodes")} for one in arrays]
    assert scores.tolist() == selection.cross_val_score(whole, bare, y, cv=4).tolist()


def test_where_rows_are_graphs(arrays):
    model = hg2v.HG2V(**PARAMS).fit(EDGES)
    found = pa.record_batch(hg2v.embed_arrow(model, hg2v.to_arrow(EDGES)))
    assert found["id"].to_pylist() == ["b", "a"]
    for embed in (hg2v.embed_arrow, hg2v.embed_batches):
        with pytest.raises(hg2v.InputError, match=r"a row an edge, .*; give hg2v\.to_arrow\(table"):
            embed(model, EDGES)
    with pytest.raises(hg2v.InputError, match="^graph 0: .*; give one table of all graphs, with a"):
        hg2v.graphs([EDGES, EDGES])


def changed(frame, row, column, value):
    other = frame.astype({column: object})
    other.loc[row, column] = value
    return other


WRONG = {
    "no graph": ({"edges": EDGES.drop(columns="graph")}, "^the edges have no column `graph`; .*`src`.*; add one that says"),
    "no ends": ({"edges": EDGES.drop(columns="dst")}, "^the edges have no column `dst`"),
    "no such weight": ({"edges": EDGES}, "^the edges have no column `w`; their columns are `graph`,.*; check the names$"),
    "a target of edges": ({"edges": EDGES.assign(y=1)}, "^the edges have a column `y`, as what is to be predicted .*edge_attrs=$"),
    "a graph is missing": ({"edges": changed(EDGES, 1, "graph", None)}, "^row 1 of the edges, column `graph`: it is missing .*; leave the row out"),
    "no nodes": ({"edges": EDGES}, "^there is no table of nodes, which would have 'element'; give"),
    "no such table": ({"edges": EDGES, "node": NODES}, "^'node' is no table of graphs; give 'edges'"),
    "no table": ({"edges": EDGES, "nodes": 3}, "^the nodes: a table is expected, but this is a int"),
    "two columns": ({"edges": pandas.concat([EDGES, EDGES[["src"]]], axis=1)}, "^the edges: two columns are called `src`"),
    "a graph twice": ({"edges": EDGES, "graphs": pandas.concat([GRAPHS, GRAPHS[1:2]])}, "^row 3 of the graphs, column `graph`: graph 'a' is listed twice"),
    "a graph too many": ({"edges": EDGES, "graphs": GRAPHS[:2]}, "^row 0 of the edges, column `graph`: 'b' is no graph that the graphs list"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_what_is_wrong_with_tables(case, errors):
    tables, said = WRONG[case]
    named = {"no such weight": {"weight": "w"}, "no nodes": {"label": "element"}}.get(case, {})
    with pytest.raises(hg2v.InputError, match=said):
        hg2v.graphs(tables, errors=errors, **named)


#: What is wrong with the graph `a` alone, whose position is 1.
OF_ONE = {
    "an end is missing": (changed(EDGES, 1, "src", None), NODES, "row 1 of the edges, column `src`: it is missing"),
    "an end is no name": (changed(EDGES, 3, "dst", (1,)), NODES, r"row 3 of the edges, column `dst`: \(1,\) is no name"),
    "a weight is none": (changed(EDGES, 3, "weight", np.nan), NODES, "row 3 of the edges, column `weight`: it is nan; fill in a finite number"),
    "a weight is a text": (changed(EDGES, 3, "weight", "4"), NODES, "row 3 of the edges, column `weight`: it is '4', but it must be a number; .*edge_label="),
    "a label is none": (changed(EDGES, 1, "label", None), NODES, "row 1 of the edges, column `label`: it is"),
    "an attribute is infinite": (changed(EDGES, 1, "length", np.inf), NODES, "row 1 of the edges, column `length`: it is inf"),
    "an attribute is a text": (changed(EDGES, 1, "length", "a"), NODES, "row 1 of the edges, column `length`: it is 'a', but it must be a number"),
    "a charge is none": (EDGES, changed(NODES, 2, "charge", np.nan), "row 2 of the nodes, column `charge`: it is nan"),
    "a node twice": (EDGES, changed(NODES, 2, "node", "p"), "row 2 of the nodes, column `node`: node 'p' is listed twice"),
    "a node is not listed": (changed(EDGES, 3, "dst", "x"), NODES, "row 3 of the edges, column `dst`: 'x' is no node that the nodes list"),
}  # fmt: skip


@pytest.mark.parametrize("case", OF_ONE)
def test_what_is_wrong_with_one_graph(case, caplog):
    edges, nodes, said = OF_ONE[case]
    tables = {"edges": edges, "nodes": nodes, "graphs": GRAPHS}
    with pytest.raises(hg2v.InputError, match=f"^graph 1, {said}"):
        hg2v.graphs(tables)
    assert rows(hg2v.graphs(tables, errors="skip")) == rows(hg2v.graphs(ALL).take([0, 2]))
    assert "1 of 3 graphs cannot be used, and are left out: graph 1 (row" in caplog.messages[-1]
    model = hg2v.HG2V(**PARAMS, errors="nan").fit(ALL)
    assert np.isnan(model.transform(tables)).all(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize("value, ok", [(True, True), (None, True), (2, False), ("yes", False)])
def test_directed_is_true_or_false(value, ok):
    tables = {**ALL, "graphs": changed(GRAPHS, 1, "directed", value)}
    assert len(hg2v.graphs(tables, errors="skip")) == (3 if ok else 2)
