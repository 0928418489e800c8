"""The interface of karateclub, whose parameters and habits are written down here."""

import inspect

import numpy as np
import pytest

import hg2v
from hg2v.karateclub import HG2V, Graph2Vec
from shared import same

nx = pytest.importorskip("networkx")

#: ``inspect.signature(karateclub.Graph2Vec)``, of karateclub 1.3.3.
KARATECLUB = {
    "wl_iterations": 2,
    "attributed": False,
    "dimensions": 128,
    "workers": 4,
    "down_sampling": 0.0001,
    "epochs": 10,
    "learning_rate": 0.025,
    "min_count": 5,
    "seed": 42,
    "erase_base_features": False,
}

EACH = [
    lambda **params: Graph2Vec(dimensions=8, epochs=2, min_count=1, **params),
    lambda **params: HG2V(dimensions=8, epochs=1, **params),
]


@pytest.fixture(scope="module")
def graphs():
    made = [nx.gnp_random_graph(12, 0.3, seed=seed) for seed in range(20)]
    for graph in made:
        for node in graph:
            graph.nodes[node]["feature"] = "C" if node % 3 else "N"
            graph.nodes[node]["label"] = node
    return made


def test_parameters_are_karateclub_s():
    found = inspect.signature(Graph2Vec).parameters
    assert {name: of.default for name, of in found.items()} == KARATECLUB
    assert Graph2Vec().get_params() == KARATECLUB
    assert Graph2Vec(dimensions=3).get_params()["dimensions"] == 3


@pytest.mark.parametrize("make", EACH)
def test_fit_get_embedding_and_infer(make, graphs):
    before = [set(graph.edges) for graph in graphs]
    model = make()
    assert model.fit(graphs) is None
    rows = model.get_embedding()
    assert isinstance(rows, np.ndarray) and rows.shape == (20, 8)
    same(model.infer(graphs), rows)
    same(model.infer(graphs[3:4]), rows[3:4])
    assert [set(graph.edges) for graph in graphs] == before
    assert "estimator_" not in model.get_params()
    assert len(hg2v.Index(model.estimator_, [([[0, 1], [1, 2]], None)])) == 1


@pytest.mark.parametrize("make", EACH)
def test_only_what_is_called_feature_is_looked_at(make, graphs):
    def vectors(given, **params):
        model = make(**params)
        model.fit(given)
        return model.get_embedding()

    bare = [nx.Graph(graph.edges) for graph in graphs]
    for one, graph in zip(bare, graphs):
        one.add_nodes_from(graph.nodes)
    plain = vectors(graphs)
    same(vectors(bare), plain)
    assert (vectors(graphs, attributed=True) != plain).any()


def test_parameters_reach_the_estimator(graphs):
    model = Graph2Vec(
        wl_iterations=1, dimensions=5, epochs=3, learning_rate=0.5, min_count=2, seed=9
    )
    model.fit(graphs)
    own = hg2v.Graph2Vec(rounds=1, dim=5, epochs=3, lr=0.5, min_count=2, random_state=9)
    bare = [nx.Graph() for _ in graphs]
    for one, graph in zip(bare, graphs):
        one.add_nodes_from(range(len(graph)))
        one.add_edges_from(graph.edges)
    same(model.get_embedding(), own.fit_transform(bare))
    model = HG2V(dimensions=5, levels=2, epochs=2, learning_rate=1e-3, seed=9)
    model.fit(graphs)
    own = hg2v.HG2V(out_dim=5, levels=2, epochs=2, lr=1e-3, random_state=9)
    same(model.get_embedding(), own.fit_transform(bare))


def test_nodes_in_any_order_and_features_of_any_kind(graphs):
    model = HG2V(attributed=True, dimensions=8, epochs=1)
    model.fit(graphs)
    turned = nx.Graph()
    turned.add_nodes_from((node, graphs[0].nodes[node]) for node in reversed(list(graphs[0])))
    turned.add_edges_from(graphs[0].edges)
    same(model.infer([turned]), model.infer(graphs[:1]))
    for graph in graphs:
        for node in graph:
            graph.nodes[node]["feature"] = [0.5 * node, 1.0]
    model.fit(graphs)
    assert model.estimator_.features_.startswith("2 attributes")
    labelled = Graph2Vec(attributed=True, dimensions=4, epochs=1, min_count=1)
    labelled.fit(graphs)
    assert labelled.infer(graphs[:1]).shape == (1, 4)


def test_what_is_wrong_is_said(graphs):
    model = Graph2Vec(dimensions=4, epochs=1)
    with pytest.raises(hg2v.errors.NotFittedError, match="call fit first"):
        model.get_embedding()
    with pytest.raises(hg2v.errors.NotFittedError, match="call fit first"):
        model.infer(graphs)
    named = nx.Graph([("a", "b")])
    with pytest.raises(
        hg2v.InputError, match="^graph 1: its nodes are not 0 … 1: one is 'a'; call"
    ):
        model.fit([graphs[0], named])
    with pytest.raises(
        hg2v.InputError, match="^graph 0: a graph of networkx is expected, not a str"
    ):
        model.fit(["CCO"])
    with pytest.raises(
        hg2v.InputError, match="^graph 0: node 0 has no 'feature'; give each node one"
    ):
        Graph2Vec(attributed=True).fit([nx.path_graph(2)])
    with pytest.raises(hg2v.ParameterError, match="erase_base_features is True"):
        Graph2Vec(erase_base_features=True).fit(graphs)
