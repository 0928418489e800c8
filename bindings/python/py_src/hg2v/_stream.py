"""From a file of graphs to a file of vectors, whatever its length."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from . import _hg2v
from ._notices import say
from ._parameters import check_kinds, check_words, threads_of
from ._words import Per
from .arrow import loaded


class Written(NamedTuple):
    """What :func:`embed_file` wrote."""

    #: Rows of the file.
    rows: int
    #: Numbers of a vector.
    dim: int


def embed_file(
    model: Any,
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    per: Per = "graph",
    shard: str | None = None,
    overwrite: bool = False,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> Written:
    """Embeds the graphs of a file into a file of vectors, as the command ``hg2v embed`` does.

    Graphs are read, embedded and written in a stream: memory does not grow with their number. The
    file appears whole or not at all, and has the bytes that the command writes. Stopped after
    twenty seconds or more, the same call goes on with what is kept in the folder ``OUT.partial``.
    Which attributes are named, and what becomes of directions, an estimator says of graphs in
    memory alone; whether atoms have attributes, of files, too, and on which ``device`` it computes.

    Args:
        model: a fitted estimator of any method that learns vectors, or its folder.
        data: a file or folder of graphs of any format that :func:`hg2v.graphs` reads.
        out: where to write: ``.npy``, ``.parquet``, ``.csv`` or ``.tsv``.
        per: what a row is: a ``"graph"``, a ``"node"``, or a ``"level"`` of a graph; the last two
            are of HG2V alone.
        shard: ``"2/8"`` takes the second of eight equal parts, by position.
        overwrite: replaces a file that is there.
        n_jobs, verbose: as for :class:`hg2v.HG2V`.

    Returns:
        How many rows there are, and of how many numbers.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.graphs(rings).write("stream.jsonl")
        >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2).fit(rings)
        >>> hg2v.embed_file(model, "stream.jsonl", "stream.parquet")
        Written(rows=20, dim=128)
    """
    given = {"per": per, "shard": shard, "overwrite": overwrite, "verbose": verbose}
    check_kinds(embed_file, given)
    check_words(given)
    found = loaded(model)
    found._check_fitted()
    watched = found._copy().set_params(verbose=verbose)
    with watched._progress() as progress:
        rows, dim, notes = _hg2v.embed_file(
            found.model_,
            os.fspath(data),
            os.environ.get("HG2V_DATA"),
            found.atom_attributes,
            os.fspath(out),
            per,
            shard,
            bool(overwrite),
            threads_of(n_jobs),
            progress,
            found._device(),
        )
    say(notes, found.model_.sees())
    return Written(rows, dim)
