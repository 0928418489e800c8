"""The network as a layer of PyTorch.

:class:`HG2V` holds the parameters under the names they have in a model's folder; what it
computes, forwards and backwards, is done in Rust on the processor. Single and double precision.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from . import _hg2v
from ._inputs import READING, graphs
from ._methods import METHODS
from ._models import HG2V as Estimator
from ._models import Network
from ._parameters import spelled, threads_of
from .errors import ParameterError

__all__ = ["HG2V", "Prepared"]


class Prepared:
    """Graphs that are cleaned and coarsened, which is done once, whatever their features."""

    def __init__(self, examples: _hg2v.Examples) -> None:
        self.examples = examples
        self.nodes = examples.num_nodes()

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def x(self) -> torch.Tensor:
        """The features that the model's own preparation made, a row a node, graph after graph."""
        return torch.from_numpy(self.examples.features())

    @property
    def batch(self) -> torch.Tensor:
        """The graph that each node is of."""
        return torch.repeat_interleave(torch.arange(len(self)), torch.tensor(self.nodes))

    def take(self, positions: Sequence[int]) -> Prepared:
        """Some of the graphs, in this order."""
        return Prepared(self.examples.take([int(at) for at in positions]))

    def batches(self, size: int, generator: torch.Generator | None = None) -> Iterator[Prepared]:
        """All graphs in batches of ``size``, shuffled."""
        for chosen in torch.randperm(len(self), generator=generator).split(size):
            yield self.take(chosen.tolist())


class HG2V(nn.Module):
    """Hierarchical Graph2Vec's network as a module.

    ``forward(prepared, x)`` gives a row a graph, ``loss(prepared, x)`` what HG2V is trained by.
    Both have gradients for the parameters and for the node features ``x``, so that whatever
    makes features before it, and whatever uses vectors after it, can be trained with it.

    A row is what the network reads out, which is all of a vector with ``preset="network"``; by
    default an estimator puts slices, a census or colours beside it, and mixes all of that.

    Args:
        features: numbers a node comes with.
        estimator: an :class:`hg2v.HG2V` that says everything else; unfitted.
        n_jobs: threads.

    Use :meth:`of` for a fitted model, whose features are then the model's own.
    """

    def __init__(
        self,
        features: int,
        estimator: Network | None = None,
        n_jobs: int | None = None,
        **params: Any,
    ) -> None:
        super().__init__()
        estimator = Estimator(**params) if estimator is None else estimator
        estimator._check_params()
        settings = json.loads(estimator._settings())
        self._build(settings, features, n_jobs)
        self._put(self._network.initial(settings["recipe"]["seed"]))
        self._model: _hg2v.Model | None = None
        self._reading = _reading_of(estimator)

    @classmethod
    def of(cls, estimator: Network, n_jobs: int | None = None) -> HG2V:
        """The network of a fitted model, with its parameters; what the model has beside and after
        the network is no part of the module."""
        estimator._check_fitted()
        settings = json.loads(estimator.model_.settings())
        module = cls.__new__(cls)
        nn.Module.__init__(module)
        module._build(settings, estimator.model_.feature_dim(), n_jobs)
        module._put(estimator.model_.parameters())
        module._model = estimator.model_
        module._reading = _reading_of(estimator)
        return module

    def _build(self, settings: dict[str, Any], features: int, n_jobs: int | None) -> None:
        self._settings = settings
        self._threads = threads_of(n_jobs)
        self._network = _hg2v.Network(spelled(settings["architecture"]), features)
        self.features, self.dim, self._len = self._network.sizes()
        for name, _, rows, columns, _ in self._network.tensors():
            *path, last = name.split(".")
            holder: nn.Module = self
            for step in path:
                if not hasattr(holder, step):
                    holder.add_module(step, nn.Module())
                holder = getattr(holder, step)
            shape = (columns,) if last == "bias" else (rows, columns)
            holder.register_parameter(last, nn.Parameter(torch.empty(shape)))

    def _windows(self, flat: np.ndarray) -> list[np.ndarray]:
        """The parameters where they lie in one row, in the order of their names; ``θ₁`` and
        ``θ₄`` lie side by side."""
        size = flat.itemsize
        return [
            np.lib.stride_tricks.as_strided(flat[at:], (rows, columns), (stride * size, size))
            for _, at, rows, columns, stride in self._network.tensors()
        ]

    def _own(self) -> list[nn.Parameter]:
        """The parameters in the order of their names in the network."""
        own = dict(self.named_parameters())
        return [own[name] for name, *_ in self._network.tensors()]

    def _put(self, flat: np.ndarray) -> None:
        with torch.no_grad():
            for parameter, value in zip(self._own(), self._split(flat)):
                parameter.copy_(value)

    def _flat(self, own: Sequence[torch.Tensor]) -> np.ndarray:
        """Parameters in one row, as the network takes them."""
        flat = np.empty(self._len, _numpy(own[0]).dtype)
        for window, parameter in zip(self._windows(flat), own):
            window[...] = _numpy(parameter).reshape(window.shape)
        return flat

    def _split(self, flat: np.ndarray) -> list[torch.Tensor]:
        """The other way round; whoever asks must not keep ``flat``."""
        windows = zip(self._windows(flat), self._own())
        return [torch.from_numpy(w).to(p).reshape(p.shape) for w, p in windows]

    def prepare(self, data: Any, **reading: Any) -> Prepared:
        """Cleans and coarsens graphs of any kind :func:`hg2v.graphs` takes, once and for all.
        They are read as the estimator reads them, unless ``reading`` says otherwise."""
        read = graphs(data, **{**self._reading, **reading})
        if self._model is not None:
            return Prepared(_hg2v.Examples.of_model(read, self._model, self._threads))
        settings = self._settings
        levels = settings["architecture"]["levels"]
        coarsening, weights = spelled(settings["coarsening"]), spelled(settings["weights"])
        return Prepared(_hg2v.Examples.bare(read, levels, coarsening, weights, self._threads))

    def forward(
        self, prepared: Prepared, x: torch.Tensor | None = None, *, loss: bool = False
    ) -> torch.Tensor:
        """A row a graph; with ``loss``, :meth:`loss` instead, which is how wrappers such as
        ``DistributedDataParallel`` get at it."""
        if loss:
            return self.loss(prepared, x)
        return _Embedding.apply(self._x(prepared, x), self, prepared, *self._own())

    def losses(self, prepared: Prepared, x: torch.Tensor | None = None) -> list[float]:
        """The loss of each level, finest first, without gradients."""
        return self._pairs(self._x(prepared, x), prepared, self._own())[0]

    def loss(self, prepared: Prepared, x: torch.Tensor | None = None) -> torch.Tensor:
        """What HG2V is trained by: can a node's neighbourhood tell its super-node from others?
        The sum over all levels. All of them are compared, none drawn: its time grows with the
        square of the graphs."""
        return _Loss.apply(self._x(prepared, x), self, prepared, *self._own())

    def _x(self, prepared: Prepared, x: torch.Tensor | None) -> torch.Tensor:
        if x is None:
            x = prepared.x
            if x.shape[1] != self.features:
                raise ParameterError(
                    f"the graphs come with {x.shape[1]} numbers a node, but the network takes "
                    f"{self.features}; give x"
                )
        return x.to(self._own()[0])

    def _pairs(self, x: torch.Tensor, prepared: Prepared, own: Sequence[torch.Tensor]) -> Any:
        recipe = self._settings["recipe"]
        loss, negatives = spelled(recipe["loss"]), spelled(recipe["negatives"])
        return self._network.losses(
            self._flat(own), _numpy(x), prepared.examples, loss, negatives, self._threads
        )

    def to_estimator(self) -> Network:
        """The model with the parameters as they are now, to embed with or to save. It must have
        nothing but its network, as with ``preset="network"``."""
        if self._model is None:
            raise ParameterError(
                "this network was not made of a fitted model and does not know how features are "
                "made; begin with HG2V.of(estimator)"
            )
        if "learnt" in json.loads(self._model.config())["model"]:
            raise ParameterError(
                "what this model has beside and after its network was learnt for other parameters; "
                "begin with an estimator of preset='network'"
            )
        flat = self._flat([parameter.float() for parameter in self._own()])
        made = METHODS[self._model.method()]._of(self._model.with_parameters(flat))
        assert isinstance(made, Network)
        return made.set_params(**self._reading)

    def extra_repr(self) -> str:
        return f"features={self.features}, dim={self.dim}"


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, module: HG2V, prepared: Prepared, *own: torch.Tensor
    ) -> torch.Tensor:
        ctx.module = module
        rows, ctx.tape = module._network.forward(
            module._flat(own), _numpy(x), prepared.examples, module._threads
        )
        return torch.from_numpy(rows).to(x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_rows: torch.Tensor) -> Any:
        d_flat, d_x = ctx.tape.backward(_numpy(d_rows), ctx.module._threads)
        return torch.from_numpy(d_x).to(d_rows), None, None, *ctx.module._split(d_flat)


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, module: HG2V, prepared: Prepared, *own: torch.Tensor
    ) -> torch.Tensor:
        losses, d_flat, d_x = module._pairs(x, prepared, own)
        ctx.save_for_backward(torch.from_numpy(d_x).to(x), *module._split(d_flat))
        return torch.tensor(sum(losses), dtype=x.dtype, device=x.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_loss: torch.Tensor) -> Any:
        d_x, *d_own = ctx.saved_tensors
        return d_loss * d_x, None, None, *(d_loss * d for d in d_own)


def _reading_of(estimator: Network) -> dict[str, Any]:
    return {name: getattr(estimator, name) for name in READING}


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype not in (torch.float32, torch.float64):
        raise ParameterError("it must be float32 or float64", "dtype", str(tensor.dtype))
    return tensor.numpy()
