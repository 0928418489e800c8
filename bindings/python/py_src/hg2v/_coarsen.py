"""Pyramids of graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _hg2v
from ._base import seed_of
from ._inputs import graphs as _read
from ._parameters import check_kinds, check_words, spelled, threads_of
from ._words import Coarsening, Weights


def coarsen(
    graph: Any,
    *,
    method: Coarsening = "variation-neighborhoods",
    ratio: float = 0.99,
    k: int = 6,
    max_levels: int = 10,
    random_state: Any = 0,
    weights: Weights = "use",
    n_jobs: int | None = None,
    **reading: Any,
) -> list[tuple[Any, Any]]:
    """The spectral pyramid of a graph (Loukas 2019), as scipy sparse matrices.

    Args:
        graph: one graph of any kind that :func:`hg2v.graphs` takes in a list.
        method: how sets of nodes to contract are chosen, as the command ``hg2v coarsen``
            names it.
        ratio: how much smaller the last level is.
        k: how many eigenvectors are preserved.
        max_levels: the most levels.
        random_state: seeds methods that draw test vectors; ``None`` is 0.
        weights: ``"use"``, ``"abs"`` or ``"ignore"``.
        n_jobs: threads.
        reading: how the graph is read, see :func:`hg2v.graphs`.

    Returns:
        A pair for each level, the graph itself first: its adjacency ``W`` (n × n), and the
        assignment ``P`` (n × nodes below) whose entry ``[s, u]`` is 1 where ``s`` is the
        super-node of ``u``; ``None`` for the graph itself.

    Example:
        >>> import hg2v
        >>> path = [list(range(5)), list(range(1, 6))]
        >>> (fine, _), (coarse, assignment) = hg2v.coarsen((path, None), ratio=0.5)
        >>> fine.shape, coarse.shape, assignment.indices.tolist()
        ((6, 6), (3, 3), [0, 1, 2, 3, 4, 5])
    """
    from scipy.sparse import csr_array

    params = {"method": method, "k": k, "ratio": ratio, "max_levels": max_levels}
    (levels,) = pyramids([graph], params, random_state, weights, n_jobs, reading)
    made: list[tuple[Any, Any]] = []
    for ends, targets, values, parents in levels:
        n = len(ends) - 1
        adjacency = csr_array((values, targets, ends), shape=(n, n))
        assignment = None
        if made:
            below = made[-1][0].shape[0]
            ones = np.ones(below, np.float32)
            assignment = csr_array((ones, (parents, np.arange(below))), shape=(n, below))
        made.append((adjacency, assignment))
    return made


def pyramids(
    data: Any,
    params: Mapping[str, Any],
    random_state: Any,
    weights: str,
    n_jobs: int | None,
    reading: Mapping[str, Any],
) -> list[list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]]:
    """The levels of each graph's pyramid, the graph itself first: where the rows of its adjacency
    end, their columns and values, and the super-node of each node below."""
    check_kinds(coarsen, {**params, "weights": weights})
    check_words({"method": params["method"], "weights": weights})
    settings = spelled({**params, "seed": seed_of(random_state)})
    threads = threads_of(n_jobs)
    # Attributes make no difference here: there is no need to be told that they are not used.
    read = _read(data, **{"attributes": [], **reading})
    return _hg2v.coarsen(read, settings, spelled(weights), threads)
