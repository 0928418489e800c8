"""The methods that HG2V is compared with, each a vector a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _hg2v
from ._methods import Method
from ._parameters import check_one_of
from ._words import Coarsening, Directed, Kernel, OnError, Usage, When


class Graph2Vec(Method):
    """Graph2Vec (Narayanan et al. 2017): skip-gram over Weisfeiler–Lehman labels.

    New graphs get vectors by what was learnt, the same each time.

    Args:
        dim (256): numbers a vector.
        rounds (3): rounds of Weisfeiler–Lehman refinement.
        epochs (10): how often every graph is seen.
        lr (0.1): the first learning rate.
        negatives (1.0): random labels to one of the graph.
        min_count (2): labels of fewer graphs are left out.
        edge_labels, direction: as for :class:`HG2V`.
        random_state (0): seeds every random decision; ``None`` is 0.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.Graph2Vec(dim=16, epochs=2).fit(rings).transform(rings[:1]).shape
        (1, 16)
    """

    _methods = ("graph2vec",)
    _more = {"negatives": "/skip_gram/negatives", "min_count": "/skip_gram/min_count"}

    def __init__(
        self,
        dim: int = 256,
        *,
        rounds: int = 3,
        epochs: int = 10,
        lr: float = 0.1,
        negatives: float = 1.0,
        min_count: int = 2,
        edge_labels: Usage = "use",
        direction: Usage = "use",
        random_state: Any = 0,
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
        self.dim = dim
        self.rounds = rounds
        self.epochs = epochs
        self.lr = lr
        self.negatives = negatives
        self.min_count = min_count
        self.edge_labels = edge_labels
        self.direction = direction
        self.random_state = random_state
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


class Graph2VecLoukas(Method):
    """Graph2Vec over all levels of a graph's pyramid, *Graph2Vec+Loukas* of HG2V's paper.

    Args:
        dim, rounds, epochs, lr, negatives, min_count, edge_labels, direction: as for
            :class:`Graph2Vec`.
        coarsening, ratio, k: as for :class:`HG2V`.
        random_state (0): seeds every random decision; ``None`` is 0.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.Graph2VecLoukas(dim=16, epochs=2).fit_transform(rings).shape
        (20, 16)
    """

    _methods = ("graph2vec-loukas",)
    _coarsens = True
    _more = {
        "negatives": "/graph2vec/skip_gram/negatives",
        "min_count": "/graph2vec/skip_gram/min_count",
    }

    def __init__(
        self,
        dim: int = 256,
        *,
        rounds: int = 3,
        epochs: int = 10,
        lr: float = 0.1,
        negatives: float = 1.0,
        min_count: int = 2,
        edge_labels: Usage = "use",
        direction: Usage = "use",
        coarsening: Coarsening | None = None,
        ratio: float | None = None,
        k: int | None = None,
        random_state: Any = 0,
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
        self.dim = dim
        self.rounds = rounds
        self.epochs = epochs
        self.lr = lr
        self.negatives = negatives
        self.min_count = min_count
        self.edge_labels = edge_labels
        self.direction = direction
        self.coarsening = coarsening
        self.ratio = ratio
        self.k = k
        self.random_state = random_state
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


class InfoGraph(Method):
    """InfoGraph (Sun, Hoffmann, Verma and Tang 2020): a network whose nodes are told from those of
    other graphs by what their graph says of itself.

    Args:
        dim (32): numbers a node and layer; a vector has ``layers`` times as many.
        layers (4): layers of the network.
        epochs (20): how often every graph is seen.
        batch (128): graphs a step.
        lr (1e-3): the learning rate.
        degree, structure, edge_labels, edge_attributes, direction: as for :class:`HG2V`.
        random_state (0): seeds every random decision; ``None`` is 0.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Attributes:
        losses_: the loss of each epoch; empty where the model was not trained here.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.InfoGraph(dim=8, layers=2, epochs=2).fit_transform(rings).shape
        (20, 16)
    """

    _methods = ("infograph",)
    _alike = True

    def __init__(
        self,
        dim: int = 32,
        *,
        layers: int = 4,
        epochs: int = 20,
        batch: int = 128,
        lr: float = 1e-3,
        degree: When | None = None,
        structure: When | None = None,
        edge_labels: Usage = "use",
        edge_attributes: Usage = "use",
        direction: Usage = "use",
        random_state: Any = 0,
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
        self.dim = dim
        self.layers = layers
        self.epochs = epochs
        self.batch = batch
        self.lr = lr
        self.degree = degree
        self.structure = structure
        self.edge_labels = edge_labels
        self.edge_attributes = edge_attributes
        self.direction = direction
        self.random_state = random_state
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

    def _tell(self, model: _hg2v.Model) -> None:
        self.losses_ = [loss for (loss,) in model.history()]


class Statistics(Method):
    """Degree profiles (Cai and Wang 2018) and histograms of what nodes bring: nothing is learnt
    but where histograms are cut, so that it is the control every learnt vector should beat.

    Args:
        edge_labels, edge_attributes, direction: as for :class:`HG2V`.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.Statistics().fit(rings).get_feature_names_out()[0]
        'nodes'
    """

    _methods = ("statistics",)

    def __init__(
        self,
        *,
        edge_labels: Usage = "use",
        edge_attributes: Usage = "use",
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
        self.edge_labels = edge_labels
        self.edge_attributes = edge_attributes
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


class Morgan(Method):
    """Morgan fingerprints of molecules (Rogers and Hahn 2010): how often each surrounding of an atom
    occurs. The numbers are those of RDKit's ``GetCountFingerprint``.

    Graphs must be molecules: SMILES, molecules of RDKit, or files of them.

    Args:
        dim (2048): numbers a vector.
        radius (2): how many bonds far surroundings reach.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`; attributes and weights are not used.

    Example:
        >>> import hg2v
        >>> hg2v.Morgan().fit_transform(["CCO", "c1ccccc1"]).sum(axis=1).tolist()
        [6.0, 18.0]
    """

    _methods = ("morgan",)

    def __init__(
        self,
        dim: int = 2048,
        *,
        radius: int = 2,
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
        self.dim = dim
        self.radius = radius
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


class KernelVectors(Method):
    """A graph kernel as vectors, whose inner products are close to the kernel.

    A graph is compared with landmarks, training graphs chosen at random, and that becomes at most
    ``dim`` numbers (Nyström's method); so new graphs get vectors, and millions fit in memory.
    :class:`WLSubtree`, :class:`WLOptimalAssignment` and :class:`WassersteinWL` are the kernels
    themselves.

    Args:
        kernel ("wl-oa"): ``"wl-subtree"`` (Shervashidze et al. 2011), ``"wl-oa"`` (optimal assignment,
            Kriege, Giscard and Wilson 2016) or ``"wwl"`` (Wasserstein Weisfeiler–Lehman,
            Togninalli et al. 2019).
        dim (512): numbers of a vector, at most: there are no more than landmarks differ.
        landmarks (None): how many; twice ``dim``, unless it is given.
        rounds (None): rounds of refinement; 4 of the first two kernels and 3 of the last, unless it
            is given.
        gamma (None): ``γ`` of ``"wwl"``; one over the median distance, unless it is given.
        edge_labels, direction: as for :class:`HG2V`.
        random_state (0): seeds the choice of landmarks; ``None`` is 0.
        attributes, label, weight, edge_label, edge_attrs, directed, atom_attributes, errors,
            n_jobs, verbose: as for :class:`HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.KernelVectors("wl-oa", dim=8).fit(rings).transform(rings[:1]).shape[0]
        1
    """

    _methods = ("wl-oa", "wl-subtree", "wwl")

    def __init__(
        self,
        kernel: Kernel = "wl-oa",
        *,
        dim: int = 512,
        landmarks: int | None = None,
        rounds: int | None = None,
        gamma: float | None = None,
        edge_labels: Usage = "use",
        direction: Usage = "use",
        random_state: Any = 0,
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
        self.kernel = kernel
        self.dim = dim
        self.landmarks = landmarks
        self.rounds = rounds
        self.gamma = gamma
        self.edge_labels = edge_labels
        self.direction = direction
        self.random_state = random_state
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

    def _method(self) -> str:
        check_one_of("kernel", self.kernel, *self._methods)
        return self.kernel

    @classmethod
    def _taken(cls, method: str, settings: Any) -> dict[str, Any]:
        return {"kernel": method, **super()._taken(method, settings)}
