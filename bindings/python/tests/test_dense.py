"""Adjacency arrays: one, many, and stacks of them."""

import numpy as np
import pytest

import hg2v
from shared import PARAMS, same


def rows(graphs):
    pa = pytest.importorskip("pyarrow")
    return pa.record_batch(graphs.to_arrow()).to_pylist()


def test_dense_arrays(arrays, vectors):
    bare = [{**one, "x": None} for one in arrays]
    dense = []
    for one in bare:
        matrix = np.zeros((one["num_nodes"],) * 2)
        u, v = one["edge_index"]
        matrix[u, v] = matrix[v, u] = one["weight"]
        dense.append(matrix)
    expected = hg2v.HG2V(**PARAMS).fit_transform(bare)
    model = hg2v.HG2V(**PARAMS).fit(dense)
    same(model.transform(dense), expected)
    same(model.transform(dense[0]), expected[:1])
    small = [matrix for matrix in dense if len(matrix) == len(dense[0])]
    same(model.transform(np.stack(small)), model.transform(small))


def test_an_array_is_a_graph_a_stack_or_graphs():
    ring = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    for dtype in (bool, np.int8, float):
        assert hg2v.graphs(ring.astype(dtype)).num_nodes().tolist() == [3]
    padded = np.zeros((2, 4, 4))
    padded[:, :3, :3] = ring
    assert hg2v.graphs(padded).num_nodes().tolist() == [4, 4]
    assert len(hg2v.graphs(np.zeros((0, 3, 3)))) == 0
    always = rows(hg2v.graphs([np.triu(ring)], directed="always"))[0]
    assert always["directed"] and (always["src"], always["dst"]) == ([0, 0, 1], [1, 2, 2])


def test_matrices_that_weigh_nothing_among_others():
    sparse = pytest.importorskip("scipy.sparse")
    ones, twos = np.ones((2, 2)), np.full((2, 2), 2.0)
    for made in (lambda matrix: matrix, sparse.csr_array):
        first, second = rows(hg2v.graphs([made(ones), made(twos)]))
        assert first["weight"] == [1.0] * 4 and second["weight"] == [2.0] * 4
        assert "weight" not in rows(hg2v.graphs([made(ones)]))[0]
