"""Distances between graphs themselves, as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _hg2v
from ._inputs import graphs as _read
from ._parameters import check_kinds, threads_of
from ._progress import progress


def spectral_distances(
    graphs: Any,
    others: Any = None,
    *,
    n_jobs: int | None = None,
    verbose: bool | int = False,
    **reading: Any,
) -> NDArray[np.float64]:
    """Wasserstein distances between the spectra of the Laplacians of graphs, in closed form.

    Args:
        graphs: graphs of any kind that :func:`hg2v.graphs` takes.
        others: to compare them with; themselves, where nothing else is said.
        n_jobs, verbose: as for :class:`hg2v.HG2V`.
        reading: how graphs are read, see :func:`hg2v.graphs`.

    Returns:
        A row for each of ``graphs``, a column for each of ``others``. It takes the cube of a graph's
        nodes, of which at most 5000 may be connected.

    Example:
        >>> import hg2v
        >>> triangle, edge = ([[0, 1, 2], [1, 2, 0]], None), ([[0], [1]], None)
        >>> hg2v.spectral_distances([triangle, edge]).round(6).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    check_kinds(spectral_distances, {"verbose": verbose})
    both = _both(graphs, others, {"attributes": [], **reading})
    with progress(verbose) as told:
        return _hg2v.spectral_distances(*both, threads_of(n_jobs), told)


def fgw_distances(
    graphs: Any,
    others: Any = None,
    *,
    alpha: float | None = None,
    n_jobs: int | None = None,
    verbose: bool | int = False,
    **reading: Any,
) -> NDArray[np.float64]:
    """Fused Gromov–Wasserstein distances between graphs with or without node attributes ``x``.

    The best coupling of the nodes of two graphs that conditional gradients find from up to four starts:
    a bound from above.

    Args:
        graphs, others, n_jobs, verbose, reading: as for :func:`spectral_distances`. Attributes are taken as
            they are; labels are not seen.
        alpha: the square form of Vayer et al. (2019), with ``alpha`` of structure and 1 less that of
            attributes; the metric of HG2V's paper, where nothing is said.

    Returns:
        A row for each of ``graphs``, a column for each of ``others``.

    Example:
        >>> import hg2v
        >>> path, triangle = ([[0, 1], [1, 2]], None), ([[0, 1, 2], [1, 2, 0]], None)
        >>> hg2v.fgw_distances([path], [path, triangle]).round(6).tolist()
        [[0.0, 0.222222]]
    """
    check_kinds(fgw_distances, {"alpha": alpha, "verbose": verbose})
    both = _both(graphs, others, reading)
    with progress(verbose) as told:
        return _hg2v.fgw_distances(
            *both, None if alpha is None else float(alpha), threads_of(n_jobs), told
        )


def _both(graphs: Any, others: Any, reading: dict[str, Any]) -> tuple[_hg2v.Graphs, Any]:
    return _read(graphs, **reading), None if others is None else _read(others, **reading)
