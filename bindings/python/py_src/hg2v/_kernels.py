"""Kernels between graphs, as matrices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _hg2v
from ._base import Estimator
from ._hg2v import Graphs
from ._parameters import check_one_of
from ._saved import load, save
from ._words import Directed, NodesBy, OnError, Usage

Self = TypeVar("Self", bound="_Kernel")


class _Kernel(Estimator[np.float64]):
    """A kernel between graphs: a row has a number for each graph that was fitted, as
    ``SVC(kernel="precomputed")`` takes it."""

    edge_labels: Usage
    direction: Usage
    _vectors = False
    _dtype = np.float64

    def _fit(self, data: Graphs) -> Graphs:
        return data

    def _names_out(self) -> list[str]:
        return [f"graph{at}" for at in range(len(self.model_))]

    def _transform(self, data: Graphs) -> NDArray[np.float64]:
        known = self.model_
        if data is known:
            return self._among(data)
        # A kernel is one of pairs: rows of the new among all, columns of the known.
        both = self._among(Graphs.concat([known, data]))
        return np.ascontiguousarray(both[len(known) :, : len(known)])

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the kernel and its graphs as a folder; ``overwrite`` replaces what was saved there."""
        self._check_fitted()
        save(self, path, overwrite)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """The kernel of a folder that :meth:`save` wrote."""
        return load(cls, Graphs.from_state, path)

    def _edges(self) -> tuple[str, str]:
        """What is seen of edges: their kinds, and their directions."""
        check_one_of("edge_labels", self.edge_labels, "use", "ignore")
        check_one_of("direction", self.direction, "use", "ignore")
        return self.edge_labels, self.direction

    def _among(self, data: Graphs) -> NDArray[np.float64]:
        raise NotImplementedError


class _OfColours(_Kernel):
    """A kernel of how often two graphs have each Weisfeiler–Lehman colour."""

    def __init__(
        self,
        rounds: int = 7,
        *,
        edge_labels: Usage = "use",
        direction: Usage = "use",
        attributes: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
        edge_attrs: str | Sequence[str] | None = None,
        directed: Directed = "keep",
        atom_attributes: bool = False,
        errors: OnError = "raise",
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.rounds = rounds
        self.edge_labels = edge_labels
        self.direction = direction
        self.attributes = attributes
        self.label = label
        self.weight = weight
        self.edge_label = edge_label
        self.edge_attrs = edge_attrs
        self.directed = directed
        self.atom_attributes = atom_attributes
        self.errors = errors
        self.n_jobs = n_jobs
        self.verbose = verbose


class WLOptimalAssignment(_OfColours):
    """The Weisfeiler–Lehman optimal assignment kernel (Kriege, Giscard and Wilson 2016).

    A row has a number for each graph that was fitted, as ``SVC(kernel="precomputed")`` takes it.

    Args:
        rounds (7): rounds of refinement.
        edge_labels, direction: as for :class:`HG2V`.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in (3, 4, 5)]
        >>> kernel = hg2v.WLOptimalAssignment(rounds=1).fit(rings)
        >>> kernel.transform(rings[:1]).shape
        (1, 3)
    """

    def _among(self, data: Graphs) -> NDArray[np.float64]:
        with self._progress() as progress:
            return _hg2v.wl_optimal_assignment(
                data, self.rounds, self._edges(), self._threads(), progress
            )


class WLSubtree(_OfColours):
    """The Weisfeiler–Lehman subtree kernel (Shervashidze et al. 2011).

    A row has a number for each graph that was fitted, as ``SVC(kernel="precomputed")`` takes it.

    Args:
        rounds (7): rounds of refinement.
        edge_labels, direction: as for :class:`HG2V`.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in (3, 4, 5)]
        >>> kernel = hg2v.WLSubtree(rounds=1).fit(rings)
        >>> kernel.transform(rings[:1]).shape
        (1, 3)
    """

    def _among(self, data: Graphs) -> NDArray[np.float64]:
        with self._progress() as progress:
            return _hg2v.wl_subtree(data, self.rounds, self._edges(), self._threads(), progress)


class WassersteinWL(_Kernel):
    """The Wasserstein Weisfeiler–Lehman kernel (Togninalli et al. 2019),
    ``k(G, H) = exp(−γ·𝒲(G, H))``.

    A row has a number for each graph that was fitted, as ``SVC(kernel="precomputed")`` takes it.

    Where nodes are compared by attributes, these are standardised over the graphs that were
    fitted.

    Args:
        rounds (3): rounds of refinement.
        gamma (1.0): ``γ`` of the kernel.
        nodes ("auto"): ``"labels"``, ``"attributes"``, or ``"auto"``: attributes where all graphs have
            them.
        edge_labels, direction: as for :class:`HG2V`; by attributes, neither is seen.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in (3, 4, 5)]
        >>> hg2v.WassersteinWL(rounds=1).fit_transform(rings).tolist()[0]
        [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        rounds: int = 3,
        *,
        gamma: float = 1.0,
        nodes: NodesBy = "auto",
        edge_labels: Usage = "use",
        direction: Usage = "use",
        attributes: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
        edge_attrs: str | Sequence[str] | None = None,
        directed: Directed = "keep",
        atom_attributes: bool = False,
        errors: OnError = "raise",
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.rounds = rounds
        self.gamma = gamma
        self.nodes = nodes
        self.edge_labels = edge_labels
        self.direction = direction
        self.attributes = attributes
        self.label = label
        self.weight = weight
        self.edge_label = edge_label
        self.edge_attrs = edge_attrs
        self.directed = directed
        self.atom_attributes = atom_attributes
        self.errors = errors
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _among(self, data: Graphs) -> NDArray[np.float64]:
        known = len(self.model_)
        with self._progress() as progress:
            distances = _hg2v.wwl(
                *(data, known, self.rounds, self.nodes, self._edges(), self._threads(), progress)
            )
        return np.exp(-self.gamma * distances)
