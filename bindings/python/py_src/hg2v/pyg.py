"""Transforms of PyTorch Geometric: vectors of a fitted model, and pyramids, beside what graphs have.

    >>> import hg2v, hg2v.pyg, torch
    >>> from torch_geometric.data import Batch, Data
    >>> from torch_geometric.transforms import Compose
    >>> ends = [torch.tensor([[*range(n)], [*range(1, n), 0]]) for n in range(10, 30)]
    >>> rings = [Data(edge_index=torch.cat([e, e.flip(0)], 1), num_nodes=e.shape[1]) for e in ends]
    >>> model = hg2v.HG2V(out_dim=16, levels=2, epochs=2).fit(rings)
    >>> transform = Compose([hg2v.pyg.AddEmbedding(model), hg2v.pyg.Coarsen(levels=1, ratio=0.5)])
    >>> ring = transform(rings[0])
    >>> ring.hg2v.shape, ring.cluster_1.shape, int(ring.cluster_1.max()) + 1
    (torch.Size([1, 16]), torch.Size([10]), 5)

Batches put together what each graph has: vectors become a matrix, and clusters are counted through.

    >>> batch = Batch.from_data_list([transform(ring) for ring in rings[:3]])
    >>> batch.hg2v.shape, batch.cluster_1.shape
    (torch.Size([3, 16]), torch.Size([33]))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import BaseTransform

from ._coarsen import pyramids
from ._parameters import check_one_of
from .arrow import loaded
from .errors import ParameterError

__all__ = ["AddEmbedding", "Coarsen", "Pyramid"]


class AddEmbedding(BaseTransform):
    """Adds the vector of a graph, or those of its nodes, by a fitted model.

    Args:
        model: a fitted estimator of any method that learns vectors, or its folder.
        attr_name: where the vector goes: a tensor with one row, or with a row a node.
        per: ``"graph"``, or ``"node"``, which is of HG2V alone.

    A batch is taken whole, which is quicker than graph by graph. The model's other parameters hold:
    with ``errors="nan"`` a graph that cannot be used has a row of NaN.
    """

    def __init__(self, model: Any, attr_name: str = "hg2v", per: str = "graph") -> None:
        self.model = loaded(model)
        self.attr_name = attr_name
        self.per = per
        self.model._check_fitted()
        check_one_of("per", per, "graph", "node")
        if per == "node" and not hasattr(self.model, "transform_nodes"):
            raise ParameterError(
                f"{type(self.model).__name__} has no vectors of nodes; say 'graph'", "per", "'node'"
            )

    def forward(self, data: Data) -> Data:
        graphs = data if isinstance(data, Batch) else [data]
        if self.per == "node":
            rows = np.concatenate(self.model.transform_nodes(graphs))  # type: ignore[attr-defined]
        else:
            rows = np.asarray(self.model.transform(graphs))
        data[self.attr_name] = torch.from_numpy(rows)
        return data

    def __repr__(self) -> str:
        return f"AddEmbedding({self.model!r}, attr_name={self.attr_name!r}, per={self.per!r})"


class Pyramid(Data):
    """A graph with its pyramid, as :class:`Coarsen` makes it, which batches count through."""

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        kind, _, level = key.rpartition("_")
        if kind in ("cluster", "edge_index") and level.isdecimal():
            cluster = self[f"cluster_{level}"]
            return int(cluster.max()) + 1 if len(cluster) else 0
        return super().__inc__(key, value, *args, **kwargs)


class Coarsen(BaseTransform):
    """Adds the levels of a graph's spectral pyramid (Loukas 2019), for networks that pool.

    Level 1 and above have ``cluster_1``, the super-node of each node of the level below,
    ``edge_index_1`` and ``edge_weight_1``, both directions of an edge. What nodes have is pooled by
    ``torch_geometric.utils.scatter(x, data.cluster_1)``, and the graph of each super-node of a batch
    is ``scatter(data.batch, data.cluster_1, reduce="min")``. A graph that cannot be made smaller
    stays as it is on further levels.

    Args:
        levels: how many levels above the graph.
        method, ratio, k, random_state, weights, n_jobs: as for :func:`hg2v.coarsen`; the ratio is
            that of all levels together.
    """

    def __init__(
        self,
        levels: int = 2,
        *,
        method: str = "variation-neighborhoods",
        ratio: float = 0.99,
        k: int = 6,
        random_state: Any = 0,
        weights: str = "use",
        n_jobs: int | None = 1,
    ) -> None:
        if isinstance(levels, bool) or not isinstance(levels, int) or levels < 1:
            raise ParameterError("it must be a whole number of at least 1", "levels", repr(levels))
        self.levels = levels
        self.params = {"method": method, "k": k, "ratio": ratio, "max_levels": levels}
        self.random_state = random_state
        self.weights = weights
        self.n_jobs = n_jobs

    def forward(self, data: Data) -> Pyramid:
        if isinstance(data, Batch):
            raise ParameterError("graphs are coarsened one by one, before they are a batch")
        own = (self.random_state, self.weights, self.n_jobs)
        (found,) = pyramids([data], self.params, *own, reading={"edge_attrs": []})
        made = Pyramid.from_dict(data.to_dict())
        made.num_nodes = data.num_nodes
        for level in range(1, self.levels + 1):
            at = min(level, len(found) - 1)
            ends, targets, values, parents = found[at]
            nodes = len(ends) - 1
            rows = np.repeat(np.arange(nodes), np.diff(ends))
            cluster = parents if at == level else np.arange(nodes)
            made[f"cluster_{level}"] = torch.from_numpy(cluster.astype(np.int64))
            made[f"edge_index_{level}"] = torch.from_numpy(
                np.stack([rows, targets]).astype(np.int64)
            )
            made[f"edge_weight_{level}"] = torch.from_numpy(values)
        return made

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"Coarsen(levels={self.levels}, {said})".replace(f", max_levels={self.levels}", "")
