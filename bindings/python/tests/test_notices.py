"""What is not used, or lost, is said once a call."""

import logging
import sys

import numpy as np
import pytest

import hg2v
from hg2v import _notices
from shared import PARAMS

PATH = [[0, 1], [1, 2]]


def networkx_atoms():
    nx = pytest.importorskip("networkx")
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, 0.5, "charge")
    nx.set_node_attributes(graph, "C", "element")
    return graph


def igraph_atoms():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(4, [(0, 1), (1, 2), (2, 3)])
    graph.vs["charge"], graph.vs["element"] = [0.5] * 4, ["C"] * 4
    graph.vs["name"] = ["a", "b", "c", "d"]
    return graph


def rustworkx_atoms():
    rx = pytest.importorskip("rustworkx")
    graph = rx.PyGraph()
    graph.add_nodes_from([{"charge": 0.5, "element": "C"} for _ in range(4)])
    graph.add_edges_from([(0, 1, None), (1, 2, None), (2, 3, None)])
    return graph


@pytest.fixture
def said(caplog):
    """What was logged, of warnings and above."""
    caplog.set_level(logging.WARNING, "hg2v")
    return lambda: caplog.messages


@pytest.mark.parametrize("make", [networkx_atoms, igraph_atoms, rustworkx_atoms])
def test_attributes_that_are_not_used(make, said):
    graphs = [make() for _ in range(20)]
    hg2v.HG2V(**PARAMS).fit_transform(graphs)
    assert [message.partition(";")[0] for message in said()] == [
        "node attributes 'charge' (numbers) and 'element' (text) are not used"
    ]
    assert "attributes=" in said()[0] and "label=" in said()[0]


def networkx_bonds():
    nx = pytest.importorskip("networkx")
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 2.0, "order")
    return graph


def igraph_bonds():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(4, [(0, 1), (1, 2), (2, 3)])
    graph.es["order"] = [2.0] * 3
    return graph


def rustworkx_bonds():
    rx = pytest.importorskip("rustworkx")
    graph = rx.PyGraph()
    graph.add_nodes_from([None] * 4)
    graph.add_edges_from([(v, v + 1, {"order": 2.0}) for v in range(3)])
    return graph


@pytest.mark.parametrize("make", [networkx_bonds, igraph_bonds, rustworkx_bonds])
def test_edge_attributes_that_are_not_used(make, said):
    graphs = [make() for _ in range(20)]
    hg2v.HG2V(**PARAMS).fit_transform(graphs)
    assert said() == [
        "edge attribute 'order' (numbers) is not used; name what is to be seen: numbers with "
        "edge_attrs=, a text with edge_label=, and one number that is a weight with weight="
    ]
    hg2v.HG2V(**PARAMS, weight="order").fit_transform(graphs)
    assert len(said()) == 1


def of_library(library, kind, **members):
    """A class that stands for another library's; the tests of peers have the real ones."""
    return type(kind, (), {"__module__": library, **members})


def pyg_data():
    stored = {
        "x": np.zeros((3, 2)), "edge_index": np.array([[0, 1], [1, 2]]), "y": np.array([1]),
        "pos": np.zeros((3, 3)), "z": np.zeros(3, int), "edge_attr": np.zeros((2, 4)),
        "train_mask": np.ones(3, bool), "name": "water", "total": np.zeros(7),
    }  # fmt: skip
    members = dict(stored, num_nodes=3, num_edges=2, to_dict=lambda self: stored)
    return of_library("torch_geometric.data.data", "Data", **members)()


def dgl_graph():
    return of_library(
        "dgl.heterograph",
        "DGLGraph",
        batch_size=1,
        ndata={"x": np.zeros((3, 2)), "pos": np.zeros((3, 3)), "z": np.zeros(3, int)},
        edata={"edge_attr": np.zeros((2, 4)), "edge_weight": np.ones(2)},
        edges=lambda self: (np.array([0, 1]), np.array([1, 2])),
        num_nodes=lambda self: 3,
    )()


@pytest.mark.parametrize("make", [pyg_data, dgl_graph])
def test_attributes_beside_x_that_are_not_used(make, said):
    hg2v.graphs([make() for _ in range(20)])
    assert [message.partition(";")[0] for message in said()] == [
        "node attributes 'pos' (numbers) and 'z' (numbers) are not used",
    ]
    hg2v.graphs([make()], attributes=["x", "pos"])
    assert len(said()) == 1


@pytest.mark.parametrize(
    "reading", [{"label": "element"}, {"attributes": "charge"}, {"attributes": []}]
)
def test_who_named_something_is_not_told(reading, said):
    hg2v.HG2V(**PARAMS, **reading).fit_transform([networkx_atoms() for _ in range(20)])
    assert said() == []


def test_coarsening_uses_none_and_says_nothing(said):
    pytest.importorskip("scipy")
    hg2v.coarsen(networkx_atoms())
    assert said() == []


def test_graphs_without_nodes_have_no_attributes(said):
    nx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    rx = pytest.importorskip("rustworkx")
    assert len(hg2v.graphs([nx.Graph(), igraph.Graph(), rx.PyGraph(), networkx_atoms()])) == 4
    assert len(said()) == 1 and "'charge'" in said()[0]


def test_one_unused_attribute_and_very_many(said):
    nx = pytest.importorskip("networkx")
    one, many = nx.path_graph(3), nx.path_graph(3)
    one.nodes[1]["charge"] = np.float32(1)
    many.nodes[0].update({f"a{at}": {} for at in range(9)}, x=[1.0], label="C", id=3, name="a")
    many.nodes[1].update(x=[1.0], label="C")
    many.nodes[2].update(x=[1.0], label="C")
    hg2v.graphs([one])
    hg2v.graphs([many])
    assert said()[0].startswith("node attribute 'charge' (numbers) is not used")
    assert "'a5' (dict) and 3 more are not used" in said()[1] and "'x'" not in said()[1]


def test_only_a_sample_is_looked_at(said):
    nx = pytest.importorskip("networkx")
    hg2v.graphs([nx.path_graph(3) for _ in range(50)] + [networkx_atoms()])
    assert said() == []


def test_directions_and_graphs_without_nodes(said):
    empty = {"edge_index": np.zeros((2, 0), int), "num_nodes": 0}
    directed = {"edge_index": PATH, "directed": True}
    graphs = [directed, directed, {"edge_index": PATH}, empty]
    rows = hg2v.HG2V(**PARAMS).fit_transform(graphs)
    assert said() == ["1 graph has no nodes"]
    # The last step takes the mean from it; what the network reads out of it is zero.
    assert np.isfinite(rows).all() and rows[3].any() and rows[2].any()
    rows = hg2v.HG2V(**PARAMS, preset="network").fit_transform(graphs)
    assert not rows[3].any() and rows[2].any()
    rows = hg2v.Graph2Vec(dim=4, epochs=1).fit_transform(graphs)
    assert said()[2:] == ["1 graph has no nodes: its vector is zero"]
    assert not rows[3].any() and rows[0].any()
    hg2v.WassersteinWL(rounds=1).fit([*graphs, empty])
    assert said()[3:] == ["2 graphs have no nodes"]


def test_what_was_resolved_is_said_once_in_good_grammar(caplog):
    twice = {"edge_index": [[0, 1, 1, 0], [1, 2, 2, 1]]}
    loop = {"edge_index": [[0, 1, 1], [1, 2, 1]]}
    for call in ("fit", "fit_transform"):
        caplog.clear()
        with caplog.at_level(logging.INFO, "hg2v"):
            getattr(hg2v.HG2V(**PARAMS), call)([twice, loop])
        assert caplog.messages == ["1 self-loop left out", "2 repeated edges merged"]


def test_verbose_without_tqdm_says_so_once(said, monkeypatch, arrays):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    _notices.say_no_tqdm.cache_clear()
    for _ in range(2):
        hg2v.HG2V(**PARAMS, verbose=True).fit_transform(arrays)
    assert len(said()) == 1 and "tqdm" in said()[0]
