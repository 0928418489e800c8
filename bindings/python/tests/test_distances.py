"""Distances between graphs themselves: what definitions and other programs say."""

import json
import subprocess

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import hg2v
from hg2v.errors import InputError, ParameterError
from shared import ROOT


def spectrum(one):
    n, (src, dst) = one["num_nodes"], one["edge_index"]
    adjacency = np.zeros((n, n))
    np.add.at(adjacency, (src, dst), np.float32(one["weight"]))
    adjacency += adjacency.T
    return np.linalg.eigvalsh(np.diag(adjacency.sum(axis=0)) - adjacency)


def test_spectra_as_numpy_and_scipy_compare_them(arrays):
    graphs = arrays[:6]
    spectra = [spectrum(one) for one in graphs]
    expected = np.array([[wasserstein_distance(a, b) for b in spectra] for a in spectra])
    found = hg2v.spectral_distances(graphs)
    assert np.allclose(found, expected, atol=1e-6) and (found == found.T).all()
    assert (hg2v.spectral_distances(graphs[:2], graphs) == found[:2]).all()
    assert hg2v.spectral_distances([], graphs).shape == (0, 6)


def test_fgw_is_that_of_the_library(arrays, tmp_path):
    example = ROOT / "target" / "release" / "examples" / "distances"
    if not example.exists():
        pytest.skip("the example is not built")
    pairs = arrays[:8]
    hg2v.graphs(pairs).write(tmp_path / "pairs.jsonl")
    done = subprocess.run(
        [example, "fgw", tmp_path / "pairs.jsonl", "0.3"], capture_output=True, check=True
    )
    # That is of one start; the best of several is no further.
    one_start = json.loads(done.stdout)["distances"]
    found = hg2v.fgw_distances(pairs, alpha=0.3)
    each = found[np.arange(0, 8, 2), np.arange(1, 8, 2)]
    assert (each <= np.array(one_start) + 1e-12).all() and np.isclose(each, one_start).any()


def test_fgw_among_and_between(arrays):
    graphs = arrays[:5]
    found = hg2v.fgw_distances(graphs)
    assert (found == found.T).all() and np.allclose(np.diag(found), 0.0)
    between = hg2v.fgw_distances(graphs[:2], graphs[2:], n_jobs=1)
    assert (between == found[:2, 2:]).all()
    with pytest.raises(ParameterError, match="attributes is -1"):
        hg2v.fgw_distances(graphs, alpha=2.0)
    with pytest.raises((ParameterError, InputError)):
        hg2v.fgw_distances([*graphs, ([[0], [1]], None)])
