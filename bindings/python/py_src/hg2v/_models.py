"""HG2V, and what its network is compared with: itself, untrained or without coarsening."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _hg2v
from ._hg2v import Graphs
from ._inputs import READING, read
from ._methods import Method
from ._notices import say
from ._words import (
    Activation,
    Coarsening,
    Directed,
    Layer,
    Loss,
    Negatives,
    OnError,
    Preset,
    Readout,
    Relations,
    Usage,
    Weights,
    When,
)
from .errors import InputError

Self = TypeVar("Self", bound="Network")


class Network(Method):
    """HG2V's network, however it is fitted; :class:`HG2V` says what its parameters are."""

    _starts = ("preset",)
    _alike = True
    # Where a last step mixes all numbers, the vector of a graph without nodes is not zero.
    _vectors = False

    def __init__(
        self,
        dim: int = 128,
        *,
        hops: int = 4,
        levels: int = 3,
        epochs: int = 10,
        preset: Preset = "default",
        random_state: Any = 0,
        # Training
        batch: int = 8,
        lr: float = 1e-4,
        decay: float = 1000.0,
        loss: Loss | None = None,
        temperature: float = 0.2,
        negatives: Negatives | None = None,
        negative_sample: int | None = None,
        # The network
        layer: Layer | None = None,
        relations: Relations | None = None,
        input: Activation | None = None,
        bias: bool | None = None,
        readout: Sequence[Readout] | None = None,
        finest: bool | None = None,
        local: bool | None = None,
        log: bool | None = None,
        # What nodes and edges say
        degree: When | None = None,
        structure: When | None = None,
        edge_labels: Usage | None = None,
        edge_attributes: Usage | None = None,
        direction: Usage | None = None,
        weights: Weights | None = None,
        # Coarsening
        coarsening: Coarsening | None = None,
        ratio: float | None = None,
        k: int | None = None,
        # Beside and after the network
        colours: int | None = None,
        rounds: int | None = None,
        slices: When | None = None,
        census: When | None = None,
        out_dim: int | None = None,
        # Reading graphs
        attributes: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
        edge_attrs: str | Sequence[str] | None = None,
        directed: Directed = "keep",
        atom_attributes: bool = False,
        errors: OnError = "raise",
        # Work
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool | int = False,
    ) -> None:
        self.dim = dim
        self.hops = hops
        self.levels = levels
        self.epochs = epochs
        self.preset = preset
        self.random_state = random_state
        self.batch = batch
        self.lr = lr
        self.decay = decay
        self.loss = loss
        self.temperature = temperature
        self.negatives = negatives
        self.negative_sample = negative_sample
        self.layer = layer
        self.relations = relations
        self.input = input
        self.bias = bias
        self.readout = readout
        self.finest = finest
        self.local = local
        self.log = log
        self.degree = degree
        self.structure = structure
        self.edge_labels = edge_labels
        self.edge_attributes = edge_attributes
        self.direction = direction
        self.weights = weights
        self.coarsening = coarsening
        self.ratio = ratio
        self.k = k
        self.colours = colours
        self.rounds = rounds
        self.slices = slices
        self.census = census
        self.out_dim = out_dim
        self.attributes = attributes
        self.label = label
        self.weight = weight
        self.edge_label = edge_label
        self.edge_attrs = edge_attrs
        self.directed = directed
        self.atom_attributes = atom_attributes
        self.errors = errors
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def transform_nodes(self, X: Any) -> list[NDArray[np.float32]]:
        """The vectors of the nodes of each graph: an array with a row a node, what its super-nodes say
        included, as ``hg2v embed --per node`` writes them. Graphs that cannot be used are refused,
        whatever ``errors`` says.

        Example:
            >>> import hg2v
            >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
            >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2).fit(rings)
            >>> [rows.shape for rows in model.transform_nodes(rings[:2])]
            [(10, 41), (11, 41)]
        """
        found = self._readable(X)
        rows = self._of_parts(self.model_.embed_nodes, found)
        ends = np.cumsum(found.num_nodes())
        return [rows[end - count : end] for end, count in zip(ends, found.num_nodes())]

    def transform_levels(self, X: Any) -> NDArray[np.float32]:
        """The vectors of the levels of each graph, finest first: graphs by levels by numbers, as
        ``hg2v embed --per level`` writes them.

        Example:
            >>> import hg2v
            >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
            >>> hg2v.HG2V(dim=8, levels=2, epochs=2).fit(rings).transform_levels(rings).shape
            (20, 2, 32)
        """
        return self._of_parts(self.model_.embed_levels, self._readable(X))

    def _readable(self, X: Any) -> Graphs:
        """Graphs, of which each must be usable."""
        self._check_fitted()
        return read(X, {name: getattr(self, name) for name in READING}, skip=False).graphs

    def _of_parts(
        self, embed: Callable[..., tuple[NDArray[np.float32], str]], data: Graphs
    ) -> NDArray[np.float32]:
        try:
            with self._progress() as progress:
                rows, notes = embed(data, self._threads(), progress, self._device())
        except InputError as error:
            raise self._hinted(error) from None
        say(notes, self.model_.sees())
        return rows

    def _given(self) -> dict[str, Any]:
        given = super()._given()
        if self.loss != "cosine":
            given["temperature"] = None
        return given

    @classmethod
    def _taken(cls, method: str, settings: Any) -> dict[str, Any]:
        taken = super()._taken(method, settings)
        if not isinstance(taken["loss"], str):  # A loss with parameters of its own.
            (taken["loss"],) = taken["loss"]
        # Settings do not say of a training that it drew nothing.
        taken.setdefault("negative_sample", 0)
        # ``None`` would be the default: that there is no last step, only a preset can say.
        default = json.loads(_hg2v.settings(method, "{}"))["out_dim"]
        if taken["out_dim"] is None and default is not None:
            taken["preset"] = "network"
        return taken

    def _tell(self, model: _hg2v.Model) -> None:
        self.losses_ = model.history()
        self.features_ = model.features()

    def untrained(self: Self) -> Self:
        """The same network before its training: the control every result should stand beside."""
        self._check_fitted()
        other = self._copy()
        other.model_ = self.model_.untrained()
        other._tell(other.model_)
        return other


class HG2V(Network):
    """Hierarchical Graph2Vec: graphs into vectors, without labels.

    The defaults are those of the command ``hg2v fit``, and so are the vectors: the same graphs
    and ``random_state`` give the same bits, at any number of threads, alone or among others.

    Most work needs the first few parameters alone; the others stand below in groups, in the order of
    the signature, each with its default. All but ``dim`` are given by name. They are flat, so that
    ``set_params``, ``GridSearchCV`` and the command call a parameter by one name. ``None`` leaves one
    as the preset has it, whose defaults are those of ``"default"``.

    Args:
        dim (128): ``d``, numbers a node on every level.
        hops (4): ``a``, how far a node looks.
        levels (3): ``L``, how often a graph is coarsened.
        epochs (10): how often every graph is seen.
        preset ("default"): ``"default"``, ``"network"`` for the network of the default with nothing
            beside or after it, or ``"paper"`` for the paper's reading, which has nothing else either.
        random_state (0): seeds every random decision. ``None`` is 0, and not another seed each time
            as elsewhere in scikit-learn: a generator of numpy gives that.

    Training:
        batch (8): graphs a step; for more than 8, multiply ``lr`` by √(batch/8).
        lr (1e-4): the first learning rate.
        decay (1000.0): how many times smaller the last one is.
        loss ("jsd"): ``"jsd"``, ``"infonce"`` or ``"cosine"``.
        temperature (0.2): that of the loss ``"cosine"``.
        negatives ("all"): ``"all"`` or ``"others"``: which super-nodes a node is to be told from.
        negative_sample (2048): how many of them are drawn each step, on levels where a batch has more
            than eight times as many; 0 for all, in time that grows with the square of a batch.

    The network:
        layer ("krylov"): ``"krylov"`` or ``"gcn"``, how a node looks around.
        relations ("never"): ``"never"`` or ``"always"``: when each kind and direction of edges has a
            hop of its own, on level 0.
        input (None): ``"linear"``, ``"relu"`` or ``"tanh"``: a layer before level 0.
        bias (False): whether ``θ₁`` and ``θ₄`` have biases.
        readout (["sum", "max"]): ``"sum"``, ``"max"``, ``"mean"``, in order.
        finest (True): whether level 0 is read out.
        local (True): whether the neighbourhoods are read out.
        log (True): whether each number ``e`` becomes ``sign(e)·ln(1 + |e|)``.

    What nodes and edges say:
        degree ("auto"), structure ("auto"): ``"auto"``, ``"always"`` or ``"never"``: when a node's
            degree, and its surroundings, are features. ``"auto"`` takes surroundings where nodes have
            no attributes, and the degree where they have nothing else; so naming ``attributes``
            leaves surroundings out, unless ``structure="always"``.
        edge_labels ("use"), edge_attributes ("use"), direction ("use"): ``"use"`` or ``"ignore"``:
            whether kinds of edges, their numbers, and which way they go in directed graphs, are seen
            where there are any.
        weights ("use"): ``"use"``, ``"abs"`` or ``"ignore"``: what is done with edge weights.

    Coarsening:
        coarsening ("variation-neighborhoods"): the method, of those of :func:`hg2v.coarsen`.
        ratio (0.99): how much smaller the last level is.
        k (6): how many eigenvectors it keeps.

    Beside and after the network:
        colours (384): how many numbers the Weisfeiler–Lehman colours of a graph get beside what the
            network says, at most; 0 for none.
        rounds (3): after how many rounds of refinement.
        slices ("auto"): ``"auto"``, ``"always"`` or ``"never"``: when up to 64 more numbers tell how
            the features of a graph's nodes are distributed. ``"auto"`` takes them where nodes have
            attributes, unless the nodes are atoms of molecules.
        census ("auto"): ``"auto"``, ``"always"`` or ``"never"``: when up to 64 more numbers tell how
            many of a graph's nodes have each label. ``"auto"`` takes them where the nodes are atoms of
            molecules.
        out_dim (2048): numbers of a vector, at most, each a mixture of all that is said of a graph, so
            that all vary about as much. The other presets leave numbers as they are, unless it is
            given.

    Reading graphs:
        attributes (None), label (None), weight (None), edge_label (None), edge_attrs (None),
            directed ("keep"), atom_attributes (False): see :func:`hg2v.graphs`.
        errors ("raise"): what is done with graphs that cannot be used. ``"raise"`` refuses them; with
            ``"nan"``, ``fit`` leaves them out, ``transform`` gives each a row of NaN, and both
            warn of them, once a call. Which attributes and labels nodes must have, the model
            decides or, in ``fit``, most graphs.

    Work:
        n_jobs (None): threads, as scikit-learn counts them: -1 is one a core, -2 one less. ``None`` is
            one a core, too.
        device ("cpu"): ``"cpu"``, ``"cuda"``, or ``"cuda:1"`` for another NVIDIA GPU, counted from 0. A
            GPU rounds otherwise; what it computes is within 1e-5 of the processor's.
        verbose (False): shows progress as a bar, which needs tqdm; without it, lines are logged as
            INFO.

    Attributes:
        losses_: the loss of each epoch, level by level; empty where the model was not trained
            here, but loaded, or is untrained.
        features_: in words, what a node's features are.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2)
        >>> model.fit_transform(rings).shape
        (20, 128)
        >>> network = model.set_params(preset="network").fit(rings)
        >>> network.transform(rings).shape, network.get_feature_names_out()[0]
        ((20, 82), 'g0.sum.0')
    """

    _methods = ("hg2v",)
    _coarsens = True

    def fit_in(
        self,
        folder: str | os.PathLike[str],
        X: Any,
        *,
        on_epoch: Callable[[int, list[float]], object] | None = None,
    ) -> HG2V:
        """:meth:`fit` in a folder, which then holds the model as :meth:`save` writes it.

        Stopped by Ctrl-C, or killed, the training goes on when this is called again with the same
        parameters and graphs, and ends in the same bits: at most twenty seconds of work are lost.
        The command ``hg2v fit --resume`` goes on with it, too. A folder that holds a finished
        model, another training or anything else is refused.

        ``on_epoch(number, losses)`` is called soon after each epoch, with its number from 1 and its loss
        level by level. What it raises stops the training, as Ctrl-C does, and is passed on.

        Example:
            >>> import hg2v
            >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
            >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2)
            >>> model = model.fit_in("kept.model", rings, on_epoch=lambda epoch, _: print(epoch))
            1
            2
            >>> hg2v.load("kept.model").dim
            8
        """

        def fit(data: Graphs) -> _hg2v.Model:
            settings, files, threads = self._settings(), self._files(), self._threads()
            with self._progress() as progress:
                model = _hg2v.Model.fit_in(
                    os.fspath(folder),
                    files,
                    data,
                    settings,
                    threads,
                    progress,
                    self.device,
                    on_epoch,
                )
            self._tell(model)
            return model

        self._take(X, "and are left out", fit)
        self._say_fitted()
        return self


class Untrained(Network):
    """HG2V's network as it is before any training: the control that tells what training is worth.

    Features and the scales of the last step are fitted to the graphs; what else there is to learn,
    of the network and beside it, is drawn by ``random_state``. Parameters are those of
    :class:`HG2V`; those of training change nothing.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.Untrained(dim=8, levels=2).fit_transform(rings).shape
        (20, 128)
    """

    _methods = ("untrained",)
    _coarsens = True


class Graph2VecGNN(Network):
    """HG2V without coarsening, *Graph2Vec+GNN* of its paper: every level is the graph itself.

    Parameters are those of :class:`HG2V`; those of coarsening change nothing, and nothing stands
    beside or after the network unless ``colours``, ``slices``, ``census`` or ``out_dim``
    say so.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.Graph2VecGNN(dim=8, levels=2, epochs=1).fit_transform(rings).shape
        (20, 82)
    """

    _methods = ("graph2vec-gnn",)
