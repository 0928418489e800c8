"""HG2V and the methods it is compared with, as estimators."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _hg2v
from ._base import Estimator, seed_of
from ._hg2v import Graphs
from ._inputs import graphs as _read
from ._notices import say
from ._parameters import check_kinds, check_words, spelled, threads_of
from ._saved import READING_FILE, place, reading_of, spelled_reading
from .errors import InputError, ParameterError, shown

_LOSSES = {"jsd": "jensen-shannon", "infonce": "info-nce", "cosine": "cosine-info-nce"}
_NEGATIVES = {"all": "all", "others": "other-graphs"}


class HG2V(Estimator):
    """Hierarchical Graph2Vec: graphs into vectors, without labels.

    The defaults are those of the command ``hg2v fit``, and so are the vectors: the same graphs
    and ``random_state`` give the same bits, at any number of threads, alone or among others.

    Args:
        dim: ``d``, numbers a node on every level.
        hops: ``a``, how far a node looks.
        levels: ``L``, how often a graph is coarsened.
        epochs: how often every graph is seen.
        batch: graphs a step; for more than 8, multiply ``lr`` by √(batch/8).
        lr: the first learning rate.
        decay: how many times smaller the last one is.
        random_state: seeds every random decision. ``None`` is 0, and not another seed each time
            as elsewhere in scikit-learn: a generator of numpy gives that.
        preset: ``"default"``, or ``"paper"`` for the paper's reading.
        layer: ``"krylov"`` or ``"gcn"``, how a node looks around.
        input: ``"linear"``, ``"relu"`` or ``"tanh"``: a layer before level 0.
        bias: whether ``θ₁`` and ``θ₄`` have biases.
        readout: ``"sum"``, ``"max"``, ``"mean"``, in order.
        finest, local, log: whether level 0 and the neighbourhoods are read out, and whether
            each number ``e`` becomes ``sign(e)·ln(1 + |e|)``.
        loss: ``"jsd"``, ``"infonce"`` or ``"cosine"``; ``temperature`` is that of the last.
        negatives: ``"all"`` or ``"others"``: which super-nodes a node is to be told from.
        degree, structure: ``"auto"``, ``"always"`` or ``"never"``: when a node's degree, and
            its surroundings, are features. ``"auto"`` takes surroundings where nodes have no
            attributes, and the degree where they have nothing else; so naming ``attributes``
            leaves surroundings out, unless ``structure="always"``.
        coarsening, ratio, k: the method of coarsening, how much smaller the last level is, and
            how many eigenvectors it keeps.
        weights: ``"use"``, ``"abs"`` or ``"ignore"``: what is done with edge weights.
        attributes, label, weight, edge_label, directed: how graphs are read, see
            :func:`hg2v.graphs`. Edge labels are kept, but no method uses them.
        errors: what is done with graphs that cannot be used. ``"raise"`` refuses them; with
            ``"nan"``, ``fit`` leaves them out, ``transform`` gives each a row of NaN, and both
            warn of them, once a call. Which attributes and labels nodes must have, the model
            decides or, in ``fit``, most graphs.
        n_jobs: threads, as scikit-learn counts them: -1 is one a core, -2 one less. ``None`` is
            one a core, too.
        verbose: shows progress as a bar, which needs tqdm; without it, lines are logged as INFO.

    Attributes:
        losses_: the loss of each epoch, level by level; empty where the model was not trained
            here, but loaded, or is untrained.
        features_: in words, what a node's features are.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2)
        >>> model.fit_transform(rings).shape
        (20, 82)
        >>> model.get_feature_names_out()[0]
        'g0.sum.0'
    """

    def __init__(
        self,
        dim: int = 128,
        hops: int = 4,
        levels: int = 3,
        epochs: int = 10,
        batch: int = 8,
        lr: float = 1e-4,
        decay: float = 1000.0,
        random_state: Any = 0,
        preset: str = "default",
        layer: str | None = None,
        input: str | None = None,
        bias: bool | None = None,
        readout: Sequence[str] | None = None,
        finest: bool | None = None,
        local: bool | None = None,
        log: bool | None = None,
        loss: str | None = None,
        temperature: float = 0.2,
        negatives: str | None = None,
        degree: str | None = None,
        structure: str | None = None,
        coarsening: str | None = None,
        ratio: float | None = None,
        k: int | None = None,
        weights: str | None = None,
        attributes: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
        directed: str = "undirected",
        errors: str = "raise",
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.dim = dim
        self.hops = hops
        self.levels = levels
        self.epochs = epochs
        self.batch = batch
        self.lr = lr
        self.decay = decay
        self.random_state = random_state
        self.preset = preset
        self.layer = layer
        self.input = input
        self.bias = bias
        self.readout = readout
        self.finest = finest
        self.local = local
        self.log = log
        self.loss = loss
        self.temperature = temperature
        self.negatives = negatives
        self.degree = degree
        self.structure = structure
        self.coarsening = coarsening
        self.ratio = ratio
        self.k = k
        self.weights = weights
        self.attributes = attributes
        self.label = label
        self.weight = weight
        self.edge_label = edge_label
        self.directed = directed
        self.errors = errors
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _preset(self) -> Any:
        """The parameters of the preset, as the Rust side calls them."""
        presets = dict(_hg2v.presets())
        if self.preset not in presets:
            raise ParameterError(f"known are {', '.join(presets)}", "preset", shown(self.preset))
        return json.loads(presets[self.preset])

    def _params(self) -> str:
        """The parameters as the Rust side spells them."""
        params = self._preset()
        seed = seed_of(self.random_state)
        network, recipe = params["architecture"], params["recipe"]
        network.update(dim=self.dim, hops=self.hops, levels=self.levels)
        recipe.update(
            epochs=self.epochs, batch=self.batch, rate=self.lr, decay=self.decay, seed=seed
        )
        params["coarsening"]["seed"] = seed
        given = {
            "architecture": ["layer", "input", "bias", "readout", "finest", "local", "log"],
            "features": ["degree", "structure"],
            "coarsening": ["ratio", "k"],
        }
        for part, names in given.items():
            params[part].update(
                {n: getattr(self, n) for n in names if getattr(self, n) is not None}
            )
        if self.coarsening is not None:
            params["coarsening"]["method"] = self.coarsening
        if self.weights is not None:
            params["weights"] = self.weights
        if self.loss is not None:
            recipe["score"] = _one_of("loss", self.loss, _LOSSES)
            if self.loss == "cosine":
                recipe["score"] = {recipe["score"]: {"temperature": self.temperature}}
        if self.negatives is not None:
            recipe["negatives"] = _one_of("negatives", self.negatives, _NEGATIVES)
        return spelled(params)

    def _fit(self, data: Graphs) -> _hg2v.Model:
        with self._progress() as progress:
            model = _hg2v.Model.fit(data, self._params(), self._threads(), progress)
        self._tell(model)
        return model

    def _tell(self, model: _hg2v.Model) -> None:
        """Sets the attributes that say what ``model`` is."""
        self.losses_ = model.history()
        self.features_ = model.features()

    def _say_fitted(self) -> None:
        say(self.model_.notes())

    def _transform(self, data: Graphs) -> np.ndarray:
        try:
            with self._progress() as progress:
                rows, notes = self.model_.embed(data, self._threads(), progress)
        except InputError as error:
            raise self._hinted(error) from None
        say(notes)
        return rows

    def _hinted(self, error: InputError) -> InputError:
        """What the model misses may only want to be named: a model of the command knows no names."""
        unnamed = self.attributes is None and self.label is None
        if unnamed and error.graph is not None and error.kind in ("attributes", "labels"):
            return error.hinting("or name them: set_params(attributes=…, label=…)")
        return error

    def _unusable(self, data: Graphs, fitted: bool) -> Iterable[tuple[int, str]]:
        if fitted:
            return self.model_.unusable(data)
        weights = self._preset()["weights"] if self.weights is None else self.weights
        return data.unusable(spelled(weights), alike=True)

    def _names_out(self) -> list[str]:
        return self.model_.names()

    def untrained(self) -> HG2V:
        """The same network before its training: the control every result should stand beside."""
        self._check_fitted()
        other = self._copy()
        other.model_ = self.model_.untrained()
        other._tell(other.model_)
        return other

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the model as a folder, which the command ``hg2v embed`` reads too, with how its
        graphs are read; ``overwrite`` replaces a model that was saved there."""
        self._check_fitted()
        files = [(READING_FILE, spelled_reading(self.get_params()))]
        place(path, lambda folder: self.model_.save(os.fspath(folder), files), overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HG2V:
        """The model of a folder that :meth:`save` or the command ``hg2v fit`` wrote; with the
        former comes back how graphs are read."""
        made = cls._of(_hg2v.Model.load(os.fspath(path)))
        return made.set_params(**reading_of(path))

    @classmethod
    def _of(cls, model: _hg2v.Model) -> HG2V:
        """An estimator around a model, its parameters as the model has them."""
        config = json.loads(model.config())
        network, recipe = config["architecture"], config["recipe"]
        preparation, choice = config["preparation"], config["feature_choice"]
        names = {theirs: ours for ours, theirs in _LOSSES.items()}
        other = {theirs: ours for ours, theirs in _NEGATIVES.items()}
        if isinstance(recipe["score"], str):
            loss, of_loss = recipe["score"], {}
        else:  # A loss with parameters of its own.
            ((loss, of_loss),) = recipe["score"].items()
        made = cls(
            **{name: network[name] for name in ("dim", "hops", "levels", "layer", "input", "bias")},
            **{name: network[name] for name in ("readout", "finest", "local", "log")},
            **{name: recipe[name] for name in ("epochs", "batch", "decay")},
            lr=recipe["rate"],
            random_state=recipe["seed"],
            loss=names[loss],
            negatives=other[recipe["negatives"]],
            degree=choice["degree"],
            structure=choice["structure"],
            coarsening=preparation["coarsening"]["method"],
            ratio=preparation["coarsening"]["ratio"],
            k=preparation["coarsening"]["k"],
            weights=preparation["weights"],
            **of_loss,
        )
        made.model_ = model
        made._tell(model)
        return made

    def embed_arrow(self, table: Any) -> Any:
        """The vectors of a table of graphs, see :func:`hg2v.embed_arrow`."""
        from .arrow import embed_arrow

        self._check_fitted()
        return embed_arrow(self, table, self.n_jobs, self.errors)


class Graph2Vec(Estimator):
    """Graph2Vec (Narayanan et al. 2017): skip-gram over Weisfeiler–Lehman labels.

    New graphs get vectors by what was learnt, the same each time.

    Args:
        dim: numbers a vector.
        rounds: rounds of Weisfeiler–Lehman refinement.
        epochs: how often every graph is seen.
        lr: the first learning rate.
        negatives: random labels to one of the graph.
        min_count: labels of fewer graphs are left out.
        random_state: seeds every random decision; ``None`` is 0.
        attributes, label, weight, edge_label, directed, errors, n_jobs, verbose: as for
            :class:`HG2V`; edge labels are not used.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.Graph2Vec(dim=16, epochs=2).fit(rings).transform(rings[:1]).shape
        (1, 16)
    """

    _state = _hg2v.Graph2Vec

    def __init__(
        self,
        dim: int = 256,
        rounds: int = 3,
        epochs: int = 10,
        lr: float = 0.1,
        negatives: float = 1.0,
        min_count: int = 2,
        random_state: Any = 0,
        attributes: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
        directed: str = "undirected",
        errors: str = "raise",
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.dim = dim
        self.rounds = rounds
        self.epochs = epochs
        self.lr = lr
        self.negatives = negatives
        self.min_count = min_count
        self.random_state = random_state
        self.attributes = attributes
        self.label = label
        self.weight = weight
        self.edge_label = edge_label
        self.directed = directed
        self.errors = errors
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Graphs) -> _hg2v.Graph2Vec:
        settings = json.loads(_hg2v.graph2vec_settings())
        settings.update(
            dim=self.dim,
            epochs=self.epochs,
            rate=self.lr,
            negatives=self.negatives,
            least=self.min_count,
            seed=seed_of(self.random_state),
        )
        with self._progress() as progress:
            return _hg2v.Graph2Vec.fit(
                data, self.rounds, spelled(settings), self._threads(), progress
            )

    def _transform(self, data: Graphs) -> np.ndarray:
        return self.model_.embed(data, self._threads())

    def _names_out(self) -> list[str]:
        return [f"graph2vec{column}" for column in range(self.dim)]


class _Kernel(Estimator):
    """A kernel between graphs: a row has a number for each graph that was fitted, as
    ``SVC(kernel="precomputed")`` takes it."""

    _vectors = False
    _dtype = np.float64

    def _fit(self, data: Graphs) -> Graphs:
        return data

    def _names_out(self) -> list[str]:
        return [f"graph{at}" for at in range(len(self.model_))]

    def _transform(self, data: Graphs) -> np.ndarray:
        known = self.model_
        if data is known:
            return self._among(data)
        # A kernel is one of pairs: rows of the new among all, columns of the known.
        both = self._among(Graphs.concat([known, data]))
        return np.ascontiguousarray(both[len(known) :, : len(known)])

    def _among(self, data: Graphs) -> np.ndarray:
        raise NotImplementedError


class WLOptimalAssignment(_Kernel):
    """The Weisfeiler–Lehman optimal assignment kernel (Kriege, Giscard and Wilson 2016).

    Args:
        rounds: rounds of refinement.
        attributes, label, weight, edge_label, directed, errors, n_jobs, verbose: as for
            :class:`HG2V`; edge labels are not used.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in (3, 4, 5)]
        >>> kernel = hg2v.WLOptimalAssignment(rounds=1).fit(rings)
        >>> kernel.transform(rings[:1]).shape
        (1, 3)
    """

    def __init__(
        self,
        rounds: int = 7,
        attributes: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
        directed: str = "undirected",
        errors: str = "raise",
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.rounds = rounds
        self.attributes = attributes
        self.label = label
        self.weight = weight
        self.edge_label = edge_label
        self.directed = directed
        self.errors = errors
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _among(self, data: Graphs) -> np.ndarray:
        with self._progress() as progress:
            return _hg2v.wl_optimal_assignment(data, self.rounds, self._threads(), progress)


class WassersteinWL(_Kernel):
    """The Wasserstein Weisfeiler–Lehman kernel (Togninalli et al. 2019),
    ``k(G, H) = exp(−gamma · 𝒲(G, H))``.

    Where nodes are compared by attributes, these are standardised over the graphs that were
    fitted.

    Args:
        rounds: rounds of refinement.
        gamma: ``λ`` of the kernel.
        nodes: ``"labels"``, ``"attributes"``, or ``"auto"``: attributes where all graphs have them.
        attributes, label, weight, edge_label, directed, errors, n_jobs, verbose: as for
            :class:`HG2V`; edge labels are not used.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in (3, 4, 5)]
        >>> hg2v.WassersteinWL(rounds=1).fit_transform(rings).tolist()[0]
        [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        rounds: int = 3,
        gamma: float = 1.0,
        nodes: str = "auto",
        attributes: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
        directed: str = "undirected",
        errors: str = "raise",
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.rounds = rounds
        self.gamma = gamma
        self.nodes = nodes
        self.attributes = attributes
        self.label = label
        self.weight = weight
        self.edge_label = edge_label
        self.directed = directed
        self.errors = errors
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _among(self, data: Graphs) -> np.ndarray:
        known = len(self.model_)
        with self._progress() as progress:
            distances = _hg2v.wwl(data, known, self.rounds, self.nodes, self._threads(), progress)
        return np.exp(-self.gamma * distances)


def coarsen(
    graph: Any,
    *,
    method: str = "variation-neighborhoods",
    ratio: float = 0.99,
    k: int = 6,
    max_levels: int = 10,
    random_state: Any = 0,
    weights: str = "use",
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
    check_kinds(coarsen, {**params, "weights": weights})
    check_words({"method": method, "weights": weights})
    params["seed"] = seed_of(random_state)
    threads = threads_of(n_jobs)
    # Attributes make no difference here: there is no need to be told that they are not used.
    read = _read([graph], **{"attributes": [], **reading})
    (levels,) = _hg2v.coarsen(read, spelled(params), spelled(weights), threads)
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


def _one_of(name: str, value: Any, known: dict[str, str]) -> str:
    if value not in known:
        raise ParameterError(f"it must be one of {', '.join(known)}", name, shown(value))
    return known[value]
