"""What is like a graph: neighbours, duplicates, outliers, explanations, drift and maps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from . import _hg2v
from ._base import seed_of
from ._hg2v import Graphs
from ._inputs import READING
from ._inputs import graphs as _graphs
from ._parameters import check_kinds, check_one_of, check_words, threads_of
from ._progress import progress
from ._read import Read
from ._table import Table
from ._words import Links, Metric, Projection
from .arrow import loaded
from .errors import InputError, ParameterError, shown


class Index:
    """Vectors of graphs, ready to be searched, as the command ``hg2v search`` does it.

    Vectors are those of ``graphs`` by ``model``, or are given. Neighbours are exact and ties go to the
    earlier graph. Neighbours and duplicates are told by cosines; outliers by how far a graph surprises
    those who know the others, where ``graphs`` are there, and by Euclidean distances of standardised
    columns. Where ``metric`` or ``standardise`` is said, it holds for all, and outliers are told by
    distances alone.

    Args:
        model: a fitted estimator of any method that learns vectors, or its folder.
        graphs: the graphs, of any kind :func:`hg2v.graphs` takes, read as the estimator reads them.
        vectors: a row for each graph, where they are there already; an array or a frame.
        metric: ``"cosine"`` (1 less the cosine) or ``"euclidean"``.
        standardise: brings every column to mean 0 and variance 1 first.
        index: ``"exact"`` looks at all vectors, ``"approximate"`` finds neighbours through links, nearly
            always the same, and ``"by-size"`` does so from 50 000 vectors on.
        random_state: seeds links.
        n_jobs, verbose: as for :class:`hg2v.HG2V`.

    Attributes:
        vectors: the vectors, a row a graph.
        ids: what each graph is called; its position where it has no id.
        labels: the class of each graph, or ``None``.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2).fit(rings)
        >>> index = hg2v.Index(model, rings)
        >>> index.search(4, k=2).columns
        ['query', 'rank', 'position', 'id', 'y', 'distance']
        >>> len(index.search(rings[:3], k=2)), len(index.outliers(k=3, top=5))
        (6, 5)
        >>> index.explain(0, 1).similarity > 0.5
        True
    """

    def __init__(
        self,
        model: Any = None,
        graphs: Any = None,
        vectors: Any = None,
        *,
        metric: Metric | None = None,
        standardise: bool | None = None,
        index: Links = "by-size",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        given = {"metric": metric, "standardise": standardise, "index": index, "verbose": verbose}
        check_kinds(Index.__init__, given)
        check_words(given)
        check_one_of("index", index, *get_args(Links))
        self._threads, self._n_jobs, self._verbose = threads_of(n_jobs), n_jobs, verbose
        self._model = None if model is None else loaded(model)
        if self._model is not None:
            self._model._check_fitted()
        if vectors is None and (self._model is None or graphs is None):
            raise ParameterError("give a fitted model and graphs, or vectors")
        read = None if graphs is None else read_by(self._model, graphs)
        self.vectors = rows_of(self._embedded(read) if vectors is None else vectors, "vectors")
        if read is not None and len(read) != len(self.vectors):
            raise ParameterError(
                f"there are {len(self.vectors)} vectors for {len(read)} graphs; give one for each, in "
                "the order of the graphs"
            )
        with progress(verbose) as told:
            self._index = _hg2v.Index(
                self.vectors,
                None if self._model is None else self._model.model_,
                read,
                metric,
                standardise,
                index,
                seed_of(random_state),
                self._threads,
                told,
            )
        ids = [None] * len(self.vectors) if read is None else read.ids()
        self.ids = [at if name is None else name for at, name in enumerate(ids)]
        self.labels = [None] * len(self.vectors) if read is None else read.labels()

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"Index({len(self)} vectors of {self.vectors.shape[1]} numbers)"

    def _embedded(self, read: Graphs | None) -> np.ndarray:
        assert self._model is not None and read is not None
        watched = self._model._copy().set_params(n_jobs=self._n_jobs, verbose=self._verbose)
        watched.model_ = self._model.model_
        return watched._transform(read)

    def search(self, query: Any, k: int = 6) -> Table:
        """The ``k`` graphs nearest to each query, nearest first.

        Args:
            query: the position of a graph of the index, its id as a text, graphs of any kind that
                :func:`hg2v.graphs` takes, which the model embeds, or vectors: one, or a row each.
            k: how many.

        Returns:
            A table with a row for each neighbour: the ``query``, by its position among the queries,
            ``rank`` from 1, the neighbour's ``position`` in the index, ``id`` and class ``y``, and
            the ``distance``. One of the index is not its own neighbour.
        """
        check_kinds(Index.search, {"k": k})
        row = self._row(query)
        if row is not None:
            positions, distances = self._index.nearest_to(row, k)
            return self._near(positions, distances, len(positions))
        rows = query if _are_rows(query) else self._embedded(self._others(query, "query"))
        each, positions, distances = self._index.nearest(
            self._alike(rows_of(np.atleast_2d(rows), "query")), k, self._threads
        )
        return self._near(positions, distances, each)

    def neighbors(self, k: int = 6) -> Table:
        """The ``k`` graphs nearest to each graph of the index, itself left out.

        Args:
            k: how many.

        Returns:
            A table as that of :meth:`search`, whose ``query`` is a graph's position in the index.
        """
        check_kinds(Index.neighbors, {"k": k})
        if k == 0:
            raise ParameterError("it must be at least 1", "k", shown(k))
        each, positions, distances = self._index.nearest(self.vectors, k + 1, self._threads)
        shape = (len(self), each)
        own = positions.reshape(shape) == np.arange(len(self))[:, None]
        # Among many that are the same, a graph may not be one of its own nearest.
        own[~own.any(axis=1), -1] = True
        return self._near(positions[~own.ravel()], distances[~own.ravel()], each - 1)

    def _near(self, positions: np.ndarray, distances: np.ndarray, each: int) -> Table:
        at = np.arange(len(positions))
        columns = {"query": at // max(each, 1), "rank": at % max(each, 1) + 1}
        return Table({**columns, **self._of(positions), "distance": distances})

    def _of(self, positions: np.ndarray) -> dict[str, Any]:
        """Which graphs those at ``positions`` are."""
        ids, labels = [self.ids[at] for at in positions], [self.labels[at] for at in positions]
        return {"position": positions, "id": ids, "y": labels}

    def duplicates(self, threshold: float | None = None, top: int = 1000) -> Table:
        """Pairs of graphs whose vectors are alike, nearest first.

        Args:
            threshold: the least cosine, 0.9999 unless another is given; where the metric is Euclidean,
                the largest distance, by default that of such a cosine between vectors of the usual
                length.
            top: the most pairs.

        Returns:
            A table with the positions ``first`` and ``second`` of both, their ids ``first_id`` and
            ``second_id``, and the ``distance``.
        """
        check_kinds(Index.duplicates, {"threshold": threshold, "top": top})
        _, _, (first, second), distances = self._index.duplicates(threshold, top, self._threads)
        ends = {"first": first, "second": second}
        ids = {f"{name}_id": [self.ids[at] for at in end] for name, end in ends.items()}
        return Table({**ends, **ids, "distance": distances})

    def outliers(self, k: int = 5, top: int | None = None) -> Table:
        """Graphs by how far they stand out, furthest first.

        Args:
            k: the distance to the ``k``-th neighbour counts.
            top: how many; all, unless it is said.

        Returns:
            A table of ``position``, ``id``, class ``y`` and ``distance``; where graphs are there and no
            metric was said, also the ``score``, the sum of how many usual deviations a graph is off
            by the ``neighbors`` that its nodes have, by what of it is ``unmet`` in other graphs, and by
            its ``distance``.
        """
        check_kinds(Index.outliers, {"k": k, "top": top})
        with progress(self._verbose) as told:
            positions, parts, distances = self._index.outliers(k, self._threads, told)
        columns = self._of(positions)
        if parts is not None:
            columns.update(zip(("score", "neighbors", "unmet"), parts))
        columns["distance"] = distances
        return Table({name: values[:top] for name, values in columns.items()})

    def explain(self, first: Any, second: Any) -> Explanation:
        """Which parts of the vectors and which nodes make two graphs similar; of HG2V alone.

        Args:
            first, second: the position of a graph of the index, its id as a text, or another graph.
        """
        sides = [self._side(first, "first"), self._side(second, "second")]
        said = json.loads(self._index.explain(*sides))
        return Explanation(
            similarity=said["similarity"],
            parts=_parts(said["parts"]),
            first=np.array(said["first"]),
            second=np.array(said["second"]),
            rest=(said["rest"][0], said["rest"][1]),
        )

    def _side(self, graph: Any, name: str) -> int | Graphs:
        row = self._row(graph)
        if row is not None:
            return row
        read = self._others(graph if isinstance(graph, Graphs) else [graph], name)
        if len(read) != 1:
            raise ParameterError(f"it must be one graph, not {len(read)}", name)
        return read

    def _others(self, graphs: Any, name: str) -> Graphs:
        if self._model is None:
            raise ParameterError(
                "graphs that are new need the model that made the vectors: Index(model, …)",
                name,
                "graphs",
            )
        return read_by(self._model, graphs)

    def _row(self, query: Any) -> int | None:
        """The row that a position or an id names; ``None`` where this is something else."""
        if isinstance(query, (int, np.integer)) and not isinstance(query, bool):
            if not 0 <= query < len(self):
                raise ParameterError(
                    f"there are {len(self)} vectors, counted from 0", "position", shown(query)
                )
            return int(query)
        if not isinstance(query, str):
            return None
        found = self._index.positions(query)
        if len(found) > 1:
            raise InputError(
                f"{len(found)} graphs are called {shown(query)}, at the positions "
                f"{', '.join(map(str, found[:10]))}",
                fix="name one by its position",
            )
        if not found:
            raise InputError(
                f"there is no graph {shown(query)} among {len(self)} vectors",
                fix="name an id, a position, or give graphs",
            )
        return int(found[0])

    def _alike(self, rows: np.ndarray) -> np.ndarray:
        own = self.vectors.shape[1]
        if rows.shape[1] != own:
            raise ParameterError(
                f"its vectors have {rows.shape[1]} numbers, those of the index {own}",
                "query",
                "given",
            )
        return rows


@dataclass(frozen=True)
class Explanation:
    """Why two graphs are similar.

    Attributes:
        similarity: the cosine of both vectors, or their squared distance below zero: all shares
            together.
        parts: the share of each part of the vectors: ``of`` what it tells, ``at`` which level, hop or
            round, by which ``readout``, and its ``share``.
        first, second: the share of each node of the first and of the second graph.
        rest: what belongs to no node of the first, and of the second graph.
    """

    similarity: float
    parts: Table
    first: np.ndarray
    second: np.ndarray
    rest: tuple[float, float]


def _parts(said: list[dict[str, Any]]) -> Table:
    def at(part: Mapping[str, Any]) -> int | None:
        known = (part.get(name) for name in ("level", "hops", "round"))
        return next((value for value in known if value is not None), None)

    def readout(part: Mapping[str, Any]) -> str | None:
        if "readout" not in part:
            return None
        return f"{part['readout']} of {'neighbourhoods' if part['local'] else 'nodes'}"

    return Table(
        {
            "of": [part["of"] for part in said],
            "at": [at(part) for part in said],
            "readout": [readout(part) for part in said],
            "share": [part["share"] for part in said],
        }
    )


@dataclass(frozen=True)
class Drift:
    """Whether two sets of vectors come from the same place.

    Attributes:
        energy: the energy distance of both sets.
        share: how much of the most that it can be, from 0 to 1.
        p_value: the share of random divisions of both sets together that are at least as far apart:
            below 0.01 the sets differ, below 0.05 they may.
        permutations: how many divisions there were.
        first, second: how many vectors of each set were compared; of very many some are drawn.
    """

    energy: float
    share: float
    p_value: float
    permutations: int
    first: int
    second: int


def drift(
    old: Any,
    new: Any,
    model: Any = None,
    *,
    metric: Metric = "cosine",
    standardise: bool = False,
    permutations: int = 999,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Drift:
    """Whether two sets of vectors, or of graphs, come from the same place, as ``hg2v drift`` tells it.

    Args:
        old, new: vectors by the same model, a row a graph; or graphs of any kind that
            :func:`hg2v.graphs` takes, with a ``model`` that embeds them.
        model: a fitted estimator of any method that learns vectors, or its folder.
        metric, random_state, n_jobs: as for :class:`Index`; ``random_state`` seeds divisions.
        standardise: brings every column of ``old`` to mean 0 and variance 1 first, and those of
            ``new`` alike.
        permutations: random divisions to compare with.

    Example:
        >>> import hg2v, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> january, february = rng.normal(size=(2, 50, 4))
        >>> hg2v.drift(january, february + 1.0, metric="euclidean").p_value < 0.01
        True
    """
    given = {"metric": metric, "standardise": standardise, "permutations": permutations}
    check_kinds(drift, given)
    check_words(given)
    threads = threads_of(n_jobs)
    found = None if model is None else loaded(model)
    first = rows_of(old if found is None else found.transform(old), "old")
    second = rows_of(new if found is None else found.transform(new), "new")
    if first.shape[1] != second.shape[1]:
        raise ParameterError(
            f"its vectors have {second.shape[1]} numbers, those of old {first.shape[1]}; embed both "
            "sets with the same model",
            "new",
            "given",
        )
    seed = seed_of(random_state)
    said = _hg2v.drift(first, second, metric, bool(standardise), permutations, seed, threads)
    return Drift(**json.loads(said))


def project(
    vectors: Any,
    method: Projection = "pca",
    *,
    standardise: bool = False,
    perplexity: float | None = None,
    neighbors: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> NDArray[np.float64]:
    """Two coordinates for each vector, to look at, as ``hg2v project`` makes them.

    Args:
        vectors: a row a graph.
        method: ``"pca"``, ``"tsne"`` or ``"umap"``. The last two start from the first, and come out the
            same for the same seed, at any number of threads.
        standardise: brings every column to mean 0 and variance 1 first.
        perplexity: of t-SNE: how many neighbours a vector has, more or less; 30 by default.
        neighbors: of UMAP: neighbours of a vector, itself among them; 15 by default.
        random_state: seeds UMAP.
        n_jobs, verbose: as for :class:`hg2v.HG2V`.

    Example:
        >>> import hg2v, numpy as np
        >>> hg2v.project(np.random.default_rng(0).normal(size=(50, 4)), "umap").shape
        (50, 2)
    """
    given = {"standardise": standardise, "perplexity": perplexity, "neighbors": neighbors}
    check_kinds(project, {**given, "method": method, "verbose": verbose})
    rows = rows_of(vectors, "vectors")
    with progress(verbose) as told:
        points, _ = _hg2v.project(
            rows,
            method,
            bool(standardise),
            None if perplexity is None else float(perplexity),
            neighbors,
            seed_of(random_state),
            threads_of(n_jobs),
            told,
        )
    return points


def rows_of(vectors: Any, name: str) -> np.ndarray:
    """Vectors as the Rust side takes them: a row each, of finite numbers."""
    numbers = vectors.to_numpy() if hasattr(vectors, "to_numpy") else vectors
    try:
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(numbers, np.float32)
    except (TypeError, ValueError):
        rows = np.zeros(0, np.float32)
    if rows.ndim != 2:
        raise ParameterError(
            "it must be an array of numbers with a row for each graph", name, shown(vectors)
        )
    if 0 in rows.shape:
        raise ParameterError("it holds no vectors", name, f"an array of shape {rows.shape}")
    if not np.isfinite(rows).all():
        at = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise InputError(
            f"its vector in {name} has a number that is not finite", at, fix="leave it out"
        )
    return rows


def _are_rows(query: Any) -> bool:
    """Whether these are vectors, and no graphs."""
    return isinstance(query, np.ndarray) and query.dtype.kind == "f" and query.ndim in (1, 2)


def read_by(model: Any, data: Any) -> Graphs:
    """Graphs, as ``model`` reads them where there is one; at least one."""
    reading = {} if model is None else {name: getattr(model, name) for name in READING}
    found = _graphs(data, **reading)
    Read(found).check_any()
    return found
