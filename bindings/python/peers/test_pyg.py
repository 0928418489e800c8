"""Transforms of PyTorch Geometric; run by ``make test-peers``."""

import doctest
import pathlib
import pickle
import sys

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import Compose, ToUndirected
from torch_geometric.utils import scatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import hg2v
import hg2v.pyg
from shared import *  # noqa: F403  (the fixtures)
from shared import same


@pytest.fixture(scope="session")
def graphs(arrays):
    return [
        Data(
            edge_index=torch.from_numpy(one["edge_index"]),
            x=torch.from_numpy(one["x"]),
            edge_weight=torch.from_numpy(one["weight"]),
            y=one["y"],
        )
        for one in arrays
    ]


def test_docstrings():
    found = doctest.testmod(hg2v.pyg)
    assert found.failed == 0 and found.attempted > 0


def test_vectors_of_graphs(graphs, model, vectors, folder):
    transform = hg2v.pyg.AddEmbedding(model)
    one = transform(graphs[3])
    same(one.hg2v.numpy(), vectors[3:4])
    assert "hg2v" not in graphs[3]  # The graph itself is as it was.
    both = Compose([ToUndirected(), hg2v.pyg.AddEmbedding(folder, attr_name="vector")])
    same(both(graphs[3]).vector.numpy(), vectors[3:4])
    loaded = next(iter(DataLoader([transform(graph) for graph in graphs], batch_size=40)))
    same(loaded.hg2v.numpy(), vectors)
    same(transform(Batch.from_data_list(graphs)).hg2v.numpy(), vectors)
    same(pickle.loads(pickle.dumps(transform))(graphs[0]).hg2v.numpy(), vectors[:1])


def test_vectors_of_nodes(graphs, model, arrays):
    transform = hg2v.pyg.AddEmbedding(model, per="node")
    rows = model.transform_nodes(arrays)
    same(transform(graphs[3]).hg2v.numpy(), rows[3])
    same(transform(Batch.from_data_list(graphs)).hg2v.numpy(), np.concatenate(rows))
    with pytest.raises(hg2v.ParameterError, match="per is 'node', but Statistics has no vectors"):
        hg2v.pyg.AddEmbedding(hg2v.Statistics().fit(arrays), per="node")
    with pytest.raises(hg2v.ParameterError, match="^per is 'level'"):
        hg2v.pyg.AddEmbedding(model, per="level")
    with pytest.raises(hg2v.errors.NotFittedError):
        hg2v.pyg.AddEmbedding(hg2v.HG2V())


def test_pyramids_are_those_of_coarsen(graphs, arrays):
    pytest.importorskip("scipy")
    transform = hg2v.pyg.Coarsen(2, ratio=0.8)
    for graph, one in zip(graphs, arrays):
        made = transform(graph)
        _, *above = hg2v.coarsen(one, ratio=0.8, max_levels=2)
        for level, (adjacency, assignment) in enumerate(above, start=1):
            cluster = np.asarray(assignment.tocsc().indices)
            np.testing.assert_array_equal(made[f"cluster_{level}"], cluster)
            dense = torch.zeros(adjacency.shape)
            dense[tuple(made[f"edge_index_{level}"])] = made[f"edge_weight_{level}"]
            np.testing.assert_array_equal(dense, adjacency.toarray())
        assert torch.equal(made.x, graph.x) and made.y == graph.y
        assert "cluster_1" not in graph


def test_batches_count_through(graphs):
    made = [hg2v.pyg.Coarsen(2, ratio=0.8)(graph) for graph in graphs]
    batch = Batch.from_data_list(made)
    x, where, edges = torch.ones(batch.num_nodes, 1), batch.batch, 0
    for level in (1, 2):
        cluster = batch[f"cluster_{level}"]
        x, where = scatter(x, cluster), scatter(where, cluster, reduce="min")
        sizes = [int(one[f"cluster_{level}"].max()) + 1 for one in made]
        assert torch.bincount(where).tolist() == sizes
        source, target = batch[f"edge_index_{level}"]
        assert torch.equal(where[source], where[target])
        edges += len(source)
    assert edges > 0
    # Every node is in one super-node.
    assert scatter(x, where)[:, 0].tolist() == [graph.num_nodes for graph in graphs]
    back = batch.to_data_list()[7]
    assert torch.equal(back.cluster_2, made[7].cluster_2)
    assert torch.equal(back.edge_index_1, made[7].edge_index_1)


def test_graphs_that_cannot_be_smaller():
    none = torch.zeros(2, 0, dtype=torch.long)
    for nodes in (0, 1, 2):
        made = hg2v.pyg.Coarsen(levels=3)(Data(edge_index=none, num_nodes=nodes))
        assert made.cluster_3.tolist() == list(range(len(made.cluster_3)))
        assert made.num_nodes == nodes and len(made.cluster_1) == nodes
        Batch.from_data_list([made, made])


def test_what_is_refused(graphs):
    for levels in (0, 1.5, True, "2"):
        with pytest.raises(hg2v.ParameterError, match="^levels is"):
            hg2v.pyg.Coarsen(levels)
    with pytest.raises(hg2v.ParameterError, match="^method is 'metis'"):
        hg2v.pyg.Coarsen(method="metis")(graphs[0])
    with pytest.raises(hg2v.ParameterError, match="one by one"):
        hg2v.pyg.Coarsen()(Batch.from_data_list(graphs))
    with pytest.raises(hg2v.InputError, match="it has no edge_index"):
        hg2v.pyg.Coarsen()(Data(x=torch.zeros(2, 1)))
