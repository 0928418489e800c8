"""The page of a model and graphs."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _hg2v
from ._base import seed_of
from ._evaluate import Evaluation
from ._parameters import check_kinds, check_words, threads_of
from ._progress import progress
from ._search import read_by, rows_of
from ._words import Metric, Projection
from .arrow import loaded
from .errors import FileError, ParameterError


@dataclass(frozen=True)
class Page:
    """One HTML file that asks for nothing; a notebook shows it.

    Attributes:
        html: the file.
        shown: how many graphs are on it.
    """

    html: str = field(repr=False)
    shown: int

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the page to a file, whole or not at all; ``overwrite`` replaces one that is there."""
        _hg2v.write_file(os.fspath(path), self.html.encode(), bool(overwrite))

    def _repr_html_(self) -> str:
        # A page of its own, with its own policy, inside the notebook's.
        inside = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{inside}" sandbox="allow-scripts" '
            'style="width: 100%; height: 720px; border: 0"></iframe>'
        )


def report(
    model: Any,
    graphs: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    vectors: Any = None,
    evaluation: Evaluation | None = None,
    projections: Projection | Sequence[Projection] = ("pca",),
    title: str | None = None,
    sample: int = 10000,
    metric: Metric = "cosine",
    standardise: bool = False,
    overwrite: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> Page:
    """A page to look at, as ``hg2v report`` makes it: a map of the graphs, their neighbours, pyramids
    and results.

    Args:
        model: a fitted estimator of any method that learns vectors, or its folder. What a folder says
            of how the model was made, such as the loss of every epoch, stands on the page, too.
        graphs: graphs of any kind that :func:`hg2v.graphs` takes, read as the estimator reads them; those
            that the folder of the command ``hg2v fit`` names, where nothing else is said.
        path: where to write the page; it can be saved later, too.
        vectors: a row for each graph, where they are there already.
        evaluation: what :func:`hg2v.evaluate` found of the same graphs.
        projections: maps of the graphs, of ``"pca"``, ``"tsne"`` and ``"umap"``, the first of which is
            shown first.
        title: what stands above it; the name of the graphs, where nothing else is said.
        sample: the most graphs that are shown.
        metric, standardise: how near graphs are, as for :class:`hg2v.Index`.
        overwrite: replaces a file that is there.
        random_state: seeds maps, links, and which graphs are shown.
        n_jobs, verbose: as for :class:`hg2v.HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2).fit(rings)
        >>> page = hg2v.report(model, rings, "rings.html")
        >>> page
        Page(shown=20)
    """
    given: dict[str, Any] = {
        "title": title,
        "sample": sample,
        "standardise": standardise,
        "overwrite": overwrite,
    }
    projections = [projections] if isinstance(projections, str) else projections
    given.update(projections=projections, metric=metric, verbose=verbose)
    check_kinds(report, given)
    check_words(given)
    found = loaded(model)
    found._check_fitted()
    folder = None if found is model else os.fspath(model)
    if graphs is None:
        graphs = None if folder is None else _hg2v.graphs_of_run(folder)
        if graphs is None:
            raise ParameterError("the model does not say which graphs it is of: give graphs")
    if path is not None and not overwrite and Path(path).exists():
        # Before the page is made: a place that cannot be written is said at once.
        raise FileError(
            17, f"{os.fspath(path)} exists already; say overwrite=True", os.fspath(path)
        )
    read = read_by(found, graphs)
    rows = None if vectors is None else rows_of(vectors, "vectors")
    if rows is not None and len(rows) != len(read):
        raise ParameterError(f"there are {len(rows)} vectors for {len(read)} graphs")
    with progress(verbose) as told:
        made, shown = _hg2v.report(
            found.model_,
            folder,
            read,
            rows,
            None if evaluation is None else json.dumps(evaluation.found),
            list(projections),
            title,
            sample,
            metric,
            bool(standardise),
            seed_of(random_state),
            threads_of(n_jobs),
            told,
        )
    page = Page(made, shown)
    if path is not None:
        page.save(path, overwrite)
    return page
