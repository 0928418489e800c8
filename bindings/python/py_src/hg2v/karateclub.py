"""karateclub's interface: ``from hg2v.karateclub import Graph2Vec`` for ``from karateclub import
Graph2Vec``, and :class:`HG2V` beside it.

    >>> import networkx as nx
    >>> from hg2v.karateclub import HG2V
    >>> graphs = [nx.cycle_graph(n) for n in range(10, 30)]
    >>> model = HG2V(dimensions=16, epochs=2)
    >>> model.fit(graphs)
    >>> model.get_embedding().shape, model.infer([nx.star_graph(12)]).shape
    ((20, 16), (1, 16))

Graphs are networkx's, their nodes 0 … n−1, and what nodes have is under ``feature``, which is looked at
with ``attributed=True``; nothing else of a graph is. Unlike karateclub's, graphs are left as they
are (it adds self-loops to them), and a graph has the same vector each time, whichever graphs it
comes with. ``estimator_`` is the estimator of hg2v within, to save, or to search with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._inputs import graphs as read
from ._models import HG2V as _HG2V
from ._rivals import Graph2Vec as _Graph2Vec
from ._scalars import scalar_kind
from .errors import InputError, ParameterError, not_fitted

__all__ = ["HG2V", "Graph2Vec"]


class _Estimator:
    """What karateclub's estimators have: parameters as attributes, and three methods."""

    attributed: bool

    def _made(self) -> Any:
        """The estimator of hg2v, unfitted."""
        raise NotImplementedError

    def _features(self, values: list[Any]) -> dict[str, Any]:
        """What the nodes of a graph have, as part of a mapping of arrays."""
        return {"node_label": [str(value) for value in values]}

    def get_params(self) -> dict[str, Any]:
        """The parameters by name."""
        return {name: of for name, of in vars(self).items() if not name.endswith("_")}

    def fit(self, graphs: Sequence[Any]) -> None:
        """Learns from a list of networkx graphs."""
        self.estimator_ = self._made().fit(self._read(graphs))

    def get_embedding(self) -> np.ndarray:
        """The vectors of the graphs that were fitted, a row each."""
        return np.asarray(self._fitted().get_embedding())

    def infer(self, graphs: Sequence[Any]) -> np.ndarray:
        """The vectors of other graphs, a row each."""
        return np.asarray(self._fitted().transform(self._read(graphs)))

    def _fitted(self) -> Any:
        if not hasattr(self, "estimator_"):
            raise not_fitted(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.estimator_

    def _read(self, graphs: Sequence[Any]) -> Any:
        return read([self._arrays(graph, at) for at, graph in enumerate(graphs)])

    def _arrays(self, graph: Any, at: int) -> dict[str, Any]:
        if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
            raise InputError(f"a graph of networkx is expected, not a {type(graph).__name__}", at)
        count = len(graph)
        strange = next((node for node in graph if node not in range(count)), None)
        if strange is not None:
            raise InputError(
                f"its nodes are not 0 … {count - 1}: one is {strange!r}",
                at,
                fix="call networkx.convert_node_labels_to_integers(graph), or take hg2v's own "
                "estimators, which take any",
            )
        ends = np.array(list(graph.edges()), np.int64).reshape(-1, 2)
        made = {"edge_index": ends.T, "num_nodes": count}
        if not self.attributed:
            return made
        features = dict(graph.nodes(data="feature"))
        lacking = next((node for node in range(count) if features[node] is None), None)
        if lacking is not None:
            raise InputError(
                f"node {lacking} has no 'feature'",
                at,
                fix="give each node one, or say attributed=False",
            )
        return {**made, **self._features([features[node] for node in range(count)])}


class Graph2Vec(_Estimator):
    """Graph2Vec with the parameters of karateclub's; :class:`hg2v.Graph2Vec` computes it.

    Args:
        wl_iterations: rounds of Weisfeiler–Lehman refinement.
        attributed: whether nodes are told apart by their ``feature``, spelled as a text.
        dimensions: numbers a vector.
        workers: threads, of which the vectors do not depend.
        down_sampling: has no effect: frequent labels are never left out.
        epochs: how often every graph is seen.
        learning_rate: the first learning rate.
        min_count: labels of fewer graphs are left out.
        seed: seeds every random decision.
        erase_base_features: must be ``False``.
    """

    def __init__(
        self,
        wl_iterations: int = 2,
        attributed: bool = False,
        dimensions: int = 128,
        workers: int = 4,
        down_sampling: float = 0.0001,
        epochs: int = 10,
        learning_rate: float = 0.025,
        min_count: int = 5,
        seed: int = 42,
        erase_base_features: bool = False,
    ) -> None:
        self.wl_iterations = wl_iterations
        self.attributed = attributed
        self.dimensions = dimensions
        self.workers = workers
        self.down_sampling = down_sampling
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.min_count = min_count
        self.seed = seed
        self.erase_base_features = erase_base_features

    def _made(self) -> _Graph2Vec:
        if self.erase_base_features:
            raise ParameterError(
                "hg2v always counts the labels of nodes themselves, too; leave it False",
                "erase_base_features",
                repr(self.erase_base_features),
            )
        return _Graph2Vec(
            dim=self.dimensions,
            rounds=self.wl_iterations,
            epochs=self.epochs,
            lr=self.learning_rate,
            min_count=self.min_count,
            random_state=self.seed,
            n_jobs=self.workers,
        )


class HG2V(_Estimator):
    """HG2V as an estimator of karateclub's kind; :class:`hg2v.HG2V` has all of its parameters.

    Args:
        attributed: whether nodes have a ``feature``: a text or whole number is a label, a number or
            a list of numbers attributes.
        dimensions: numbers a vector.
        levels: levels of the pyramid.
        epochs: passes over the graphs.
        learning_rate: the first learning rate.
        workers: threads, of which the vectors do not depend.
        seed: seeds every random decision.
    """

    def __init__(
        self,
        attributed: bool = False,
        dimensions: int = 128,
        levels: int = 3,
        epochs: int = 10,
        learning_rate: float = 1e-4,
        workers: int = 4,
        seed: int = 42,
    ) -> None:
        self.attributed = attributed
        self.dimensions = dimensions
        self.levels = levels
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.workers = workers
        self.seed = seed

    def _made(self) -> _HG2V:
        return _HG2V(
            out_dim=self.dimensions,
            levels=self.levels,
            epochs=self.epochs,
            lr=self.learning_rate,
            random_state=self.seed,
            n_jobs=self.workers,
        )

    def _features(self, values: list[Any]) -> dict[str, Any]:
        labels = all(scalar_kind(value) in (str, int, bool) for value in values)
        return {"node_label" if labels else "x": values}
