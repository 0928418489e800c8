"""Every kind of graph gives the same vectors, bit for bit, as the command does."""

import json
import os
import pathlib
import pickle
import sys
import types

import numpy as np
import pytest

import hg2v
from shared import PARAMS, same


def networkx_graphs(arrays, name=lambda v: v, kind=None):
    nx = pytest.importorskip("networkx")
    made = []
    for one in arrays:
        graph = (kind or nx.Graph)(id=one["id"], y=one["y"])
        graph.add_nodes_from((name(v), {"x": one["x"][v]}) for v in range(one["num_nodes"]))
        for (u, v), w in zip(one["edge_index"].T, one["weight"]):
            graph.add_edge(name(int(u)), name(int(v)), weight=float(w))
        made.append(graph)
    return made


def igraph_graphs(arrays):
    igraph = pytest.importorskip("igraph")
    made = []
    for one in arrays:
        graph = igraph.Graph(one["num_nodes"], one["edge_index"].T.tolist())
        graph.vs["x"] = one["x"].tolist()
        graph.es["weight"] = one["weight"].tolist()
        made.append(graph)
    return made


def rustworkx_graphs(arrays):
    rx = pytest.importorskip("rustworkx")
    made = []
    for one in arrays:
        graph = rx.PyGraph()
        # A hole in the numbering, as a removed node leaves it.
        gone = graph.add_node({"x": [0.0, 0.0]})
        nodes = graph.add_nodes_from([{"x": row.tolist()} for row in one["x"]])
        graph.remove_node(gone)
        ends = zip(one["edge_index"].T.tolist(), one["weight"].tolist())
        graph.add_edges_from([(nodes[u], nodes[v], w) for (u, v), w in ends])
        made.append(graph)
    return made


def scipy_graphs(arrays):
    sparse = pytest.importorskip("scipy.sparse")
    made = []
    for one in arrays:
        n = one["num_nodes"]
        upper = sparse.coo_array((one["weight"], tuple(one["edge_index"])), shape=(n, n)).tocsr()
        made.append((upper + upper.T, one["x"]))
    return made


def arrow_table(arrays):
    pa = pytest.importorskip("pyarrow")
    return pa.table(
        {
            "id": [one["id"] for one in arrays],
            "y": [one["y"] for one in arrays],
            "src": [one["edge_index"][0].tolist() for one in arrays],
            "dst": [one["edge_index"][1].tolist() for one in arrays],
            "weight": [one["weight"].tolist() for one in arrays],
            "x": [one["x"].tolist() for one in arrays],
        }
    )


def long_tables(arrays, table=lambda columns: pytest.importorskip("pandas").DataFrame(columns)):
    """A row an edge, a row a node, and a row a graph, as ``table`` makes them of columns."""
    every = [(one["id"], u, v) for one in arrays for u, v in one["edge_index"].T.tolist()]
    graph, src, dst = zip(*every)
    weight = np.concatenate([one["weight"] for one in arrays])
    edges = {"graph": graph, "src": src, "dst": dst, "weight": weight}
    nodes = [(one["id"], v, *row) for one in arrays for v, row in enumerate(one["x"].tolist())]
    graphs = {"graph": [one["id"] for one in arrays], "y": [one["y"] for one in arrays]}
    of_nodes = dict(zip(("graph", "node", "x0", "x1"), zip(*nodes)))
    return {"edges": table(edges), "nodes": table(of_nodes), "graphs": table(graphs)}


def duckdb_relation(arrays):
    duckdb = pytest.importorskip("duckdb")
    rows = arrow_table(arrays)  # noqa: F841  (DuckDB finds it by its name)
    return duckdb.sql("select * from rows")


KINDS = {
    "mappings": lambda arrays: arrays,
    "networkx": networkx_graphs,
    "networkx, names": lambda arrays: networkx_graphs(arrays, lambda v: ("node", f"n{v}")),
    "networkx, multigraph": lambda arrays: networkx_graphs(
        arrays, kind=pytest.importorskip("networkx").MultiGraph
    ),
    "networkx, directed": lambda arrays: networkx_graphs(
        arrays, kind=pytest.importorskip("networkx").DiGraph
    ),
    "igraph": igraph_graphs,
    "rustworkx": rustworkx_graphs,
    "scipy": scipy_graphs,
    "pyarrow table": arrow_table,
    "pyarrow batch": lambda arrays: arrow_table(arrays).combine_chunks().to_batches()[0],
    "polars": lambda arrays: pytest.importorskip("polars").from_arrow(arrow_table(arrays)),
    "pandas": lambda arrays: arrow_table(arrays).to_pandas(),
    "duckdb": duckdb_relation,
    "long tables, pandas": long_tables,
    "long tables, polars": lambda arrays: long_tables(
        arrays, pytest.importorskip("polars").DataFrame
    ),
    "long tables, pyarrow": lambda arrays: long_tables(
        arrays, pytest.importorskip("pyarrow").table
    ),
    "long tables, duckdb": lambda arrays: long_tables(
        arrays,
        lambda of: pytest.importorskip("duckdb").from_arrow(
            pytest.importorskip("pyarrow").table(of)
        ),
    ),
    "long tables, hg2v": lambda arrays: long_tables(arrays, hg2v.Table),
    "graphs": hg2v.graphs,
    "list of graphs": lambda arrays: [hg2v.graphs(arrays)[i] for i in range(len(arrays))],
    "pickled graphs": lambda arrays: pickle.loads(pickle.dumps(hg2v.graphs(arrays))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_same_bits_from_every_kind(kind, arrays, vectors, folder):
    given = KINDS[kind](arrays)
    same(hg2v.load(folder).transform(given), vectors)


@pytest.mark.parametrize("kind", ["networkx", "igraph", "scipy", "pyarrow table"])
def test_same_training_from_every_kind(kind, arrays, vectors):
    given = KINDS[kind](arrays)
    same(hg2v.HG2V(**PARAMS).fit_transform(given), vectors)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "jsonl.gz"])
def test_same_bits_as_the_command(ending, arrays, vectors, model, command, tmp_path):
    """The command trains on a file that Python wrote, and reads Python's model."""
    data, out = tmp_path / f"graphs.{ending}", tmp_path / "vectors.npy"
    hg2v.graphs(arrays).write(str(data))
    p = PARAMS
    command(
        "fit", data, "--out", tmp_path / "theirs", "--dim", p["dim"], "--hops", p["hops"],
        "--levels", p["levels"], "--epochs", p["epochs"], "--seed", p["random_state"],
    )  # fmt: skip
    command("embed", tmp_path / "theirs", data, "--out", out)
    same(np.load(out), vectors)
    same(hg2v.load(tmp_path / "theirs").transform(str(data)), vectors)
    model.save(tmp_path / "ours")
    command("embed", tmp_path / "ours", data, "--out", tmp_path / "again.npy")
    same(np.load(tmp_path / "again.npy"), vectors)
    names = ["config.json", "model.safetensors"]
    assert [(tmp_path / "ours" / n).read_bytes() for n in names] == [
        (tmp_path / "theirs" / n).read_bytes() for n in names
    ]


def test_real_set_as_the_command(data_dir, command, tmp_path):
    """MUTAG, with node labels, from its zip and through networkx."""
    nx = pytest.importorskip("networkx")
    pa = pytest.importorskip("pyarrow")
    data = data_dir / "MUTAG.zip"
    command("fit", data, "--out", tmp_path / "m", "--epochs", 2, "--no-cache")
    command("embed", tmp_path / "m", data, "--out", tmp_path / "v.npy", "--no-cache")
    vectors = np.load(tmp_path / "v.npy")
    read = hg2v.graphs(data)
    same(hg2v.HG2V(epochs=2).fit_transform(read), vectors)
    graphs = []
    for row in pa.record_batch(read.to_arrow()).to_pylist():
        graph = nx.Graph()
        graph.add_nodes_from((v, {"label": of}) for v, of in enumerate(row["node_label"]))
        kinds = ({"kind": kind} for kind in row["edge_label"])
        graph.add_edges_from(zip(row["src"], row["dst"], kinds))
        graphs.append(graph)
    same(hg2v.HG2V(epochs=2, edge_label="kind").fit_transform(graphs), vectors)


def test_threads_and_company_change_nothing(arrays, vectors, folder):
    for n_jobs in (1, 2, 3):
        alone = hg2v.load(folder).set_params(n_jobs=n_jobs)
        same(alone.transform(arrays), vectors)
        same(np.concatenate([alone.transform([one]) for one in arrays[:5]]), vectors[:5])
        same(hg2v.HG2V(**PARAMS, n_jobs=n_jobs).fit_transform(arrays), vectors)


def test_attributes_by_name(arrays, atoms):
    named = dict(attributes=["charge", "mass"], weight="order")
    with_labels = [dict(one, node_label=["N", "C"] * 15) for one in arrays]
    with_labels = [
        dict(one, node_label=one["node_label"][: one["num_nodes"]]) for one in with_labels
    ]
    by_name = hg2v.HG2V(**PARAMS, **named).fit_transform(atoms)
    same(by_name, hg2v.HG2V(**PARAMS).fit_transform(arrays))
    for names in (("charge", "mass"), np.array(["charge", "mass"])):
        others = {**named, "attributes": names}
        same(hg2v.HG2V(**PARAMS, **others).fit_transform(atoms), by_name)
    by_name = hg2v.HG2V(**PARAMS, **named, label="element").fit_transform(atoms)
    same(by_name, hg2v.HG2V(**PARAMS).fit_transform(with_labels))


def test_odd_graphs_have_vectors(model):
    odd = [
        {"edge_index": np.zeros((2, 0), int), "num_nodes": 0, "x": np.zeros((0, 2))},
        {"edge_index": np.zeros((2, 0), int), "num_nodes": 1, "x": [[1.0, 2.0]], "weight": []},
        {"edge_index": [[0, 0, 1, 1], [0, 1, 0, 2]], "x": np.eye(3, 2), "weight": [1, 1, 1, 0.5]},
    ]
    rows = model.transform(odd)
    assert rows.shape[0] == 3 and np.isfinite(rows).all()


def test_labels_of_any_kind(tmp_path):
    labels = [["a", 1, 2.5, True], ["b", 1, 2.5, False], [7, 7, 7, 7]]
    given = [{"edge_index": [[0, 1, 2], [1, 2, 3]], "node_label": of} for of in labels]
    first = hg2v.HG2V(**PARAMS).fit_transform(given)
    hg2v.graphs(given).write(str(tmp_path / "g.jsonl"))
    same(hg2v.HG2V(**PARAMS).fit_transform(str(tmp_path / "g.jsonl")), first)


def test_mappings_spelled_as_lines_of_jsonl(arrays, vectors, model):
    spelled = [
        {
            "id": one["id"],
            "edges": [[int(u), int(v), w] for (u, v), w in zip(one["edge_index"].T, one["weight"])],
            "x": one["x"],
            "y": np.int64(one["y"]),
        }
        for one in arrays
    ]
    read = hg2v.graphs(spelled)
    assert read.ids() == [one["id"] for one in arrays]
    assert read.labels() == [one["y"] for one in arrays]
    same(model.transform(read), vectors)
    names = {"nodes": ["u", "v", "w"], "edges": [("u", "w")], "node_labels": ["a", "b", "a"]}
    assert hg2v.graphs([names]).num_nodes().tolist() == [3]


def test_names_of_networkx_graphs_are_ids():
    nx = pytest.importorskip("networkx")
    named = [nx.Graph(name="a"), nx.Graph(name="b", id=7)]
    assert hg2v.graphs(named).ids() == ["a", 7]
    for name in ("", 3, None):
        assert hg2v.graphs([nx.Graph(name=name)]).ids() == [None]


def named_networkx():
    nx = pytest.importorskip("networkx")
    return nx.Graph([("a", "b"), ("b", 7), (7, 2.5)]), ["a", "b", 7, 2.5]


def grid_of_networkx():
    nx = pytest.importorskip("networkx")
    return nx.grid_2d_graph(2, 2), ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]


def named_igraph():
    igraph = pytest.importorskip("igraph")
    return igraph.Graph.TupleList([("a", "b"), ("b", "c")]), ["a", "b", "c"]


def holes_of_rustworkx():
    rx = pytest.importorskip("rustworkx")
    graph = rx.PyGraph()
    graph.add_nodes_from([None] * 4)
    graph.remove_node(1)
    graph.add_edge(0, 3, None)
    return graph, [0, 2, 3]


def named_mapping():
    return {"edge_index": [[0], [1]], "nodes": np.array(["u", "v"])}, ["u", "v"]


@pytest.mark.parametrize(
    "make",
    [named_networkx, grid_of_networkx, named_igraph, holes_of_rustworkx, named_mapping],
)
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_names_of_nodes_are_kept(make, ending, tmp_path):
    graph, names = make()
    plain = {"edge_index": [[0], [1]]}
    hg2v.graphs([graph, plain]).write(tmp_path / f"g.{ending}")
    hg2v.graphs(tmp_path / f"g.{ending}").write(tmp_path / "again.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    assert lines[0]["nodes"] == names and "nodes" not in lines[1]
    assert all({u, v} <= set(names) for u, v in lines[0]["edges"])


def test_names_that_tell_nothing_apart_are_left_out(tmp_path):
    nx = pytest.importorskip("networkx")

    class Node:
        def __str__(self):
            return "node"

    class Mute:
        def __str__(self):
            raise RuntimeError

    for names in ([Node(), Node()], [Mute(), 1], [(1,), "(1,)"]):
        hg2v.graphs([nx.Graph([names])]).write(tmp_path / "g.jsonl", overwrite=True)
        assert json.loads((tmp_path / "g.jsonl").read_text()) == {"edges": [[0, 1]]}
    odd = [float("inf"), 2**70, "\ud800", np.int64(3), np.float32(0.5), True, frozenset()]
    hg2v.graphs([nx.path_graph(odd)]).write(tmp_path / "g.jsonl", overwrite=True)
    names = json.loads((tmp_path / "g.jsonl").read_text())["nodes"]
    assert names == ["inf", str(2**70), "\\ud800", 3, 0.5, True, "frozenset()"]


def test_some_graphs_have_an_id_or_a_class():
    nx = pytest.importorskip("networkx")
    given = [nx.Graph(id="a", y=1), nx.Graph(), nx.Graph(id=7, y=float("nan"))]
    read = hg2v.graphs(given)
    assert read.ids() == ["a", None, 7] and read.labels() == [1, None, None]


def test_numbers_in_arrays_of_objects():
    of = [np.array([1, 2.5, True], object), [[1], [2**70], [3]], np.array([[1], [2], [3]], object)]
    read = hg2v.graphs([([[0, 1], [1, 2]], x) for x in of])
    assert read.num_nodes().tolist() == [3, 3, 3]


def test_a_set_by_its_name(data_dir, monkeypatch):
    monkeypatch.setenv("HG2V_DATA", str(data_dir))
    assert len(hg2v.graphs("MUTAG")) == 188
    assert set(hg2v.graphs("MUTAG").labels()) == {1, -1}


def test_sets_by_name_alone_and_in_a_list(arrays, tmp_path, monkeypatch):
    hg2v.graphs(arrays).write(str(tmp_path / "forty.jsonl"))
    monkeypatch.setenv("HG2V_DATA", str(tmp_path))
    name = pathlib.Path("forty")
    assert [len(hg2v.graphs(given)) for given in (name, [name], [name, name])] == [40, 40, 80]


class ByIndex:
    """As DGL's datasets are; what says where a class is from is its module."""

    def __init__(self, items):
        self.items = items

    def __getitem__(self, at):
        return self.items[at]


def of_dgl(name, *bases, **members):
    return type(name, bases, {"__module__": "dgl.data", **members})


def test_what_is_dgl_s_but_no_graph(arrays):
    dataset = of_dgl("Dataset", ByIndex)
    assert len(hg2v.graphs(dataset(arrays))) == len(arrays)
    with pytest.raises(
        hg2v.InputError, match="graph 0: hg2v knows no graphs of type dgl.data.Thing"
    ):
        hg2v.graphs(dataset([of_dgl("Thing")()]))
    with pytest.raises(hg2v.InputError, match="graphs are expected, but this is a dgl.data.Thing"):
        hg2v.graphs(of_dgl("Thing")())


@pytest.mark.parametrize("name", ["DGLGraph", "DGLHeteroGraph"])
def test_graphs_of_dgl_by_their_class(name, monkeypatch):
    """A few lines that stand for DGL, which the tests of peers have itself."""
    one = of_dgl(
        name,
        batch_size=1,
        ndata={},
        edata={},
        edges=lambda self: (np.array([0, 1]), np.array([1, 2])),
        num_nodes=lambda self: 3,
    )
    mine = type("Mine", (one,), {})
    assert hg2v.graphs([one(), mine()]).num_edges().tolist() == [2, 2]
    with pytest.raises(hg2v.InputError, match="give a list of graphs"):
        hg2v.graphs(one())
    dgl = types.SimpleNamespace(unbatch=lambda batch: [one()] * batch.batch_size)
    monkeypatch.setitem(sys.modules, "dgl", dgl)
    for base in (one, mine):
        assert len(hg2v.graphs(type(base.__name__, (base,), {"batch_size": 2})())) == 2


def test_smiles():
    read = hg2v.graphs(["CCO", "c1ccccc1"])
    assert read.num_nodes().tolist() == [3, 6] and read.num_edges().tolist() == [2, 6]


def test_paths_in_a_list(arrays, tmp_path, vectors, model):
    parts = hg2v.graphs(arrays)
    parts.take(list(range(20))).write(str(tmp_path / "a.jsonl"))
    parts.take(list(range(20, 40))).write(str(tmp_path / "b.parquet"))
    same(model.transform([tmp_path / "a.jsonl", tmp_path / "b.parquet"]), vectors)
    assert os.fspath(tmp_path)
