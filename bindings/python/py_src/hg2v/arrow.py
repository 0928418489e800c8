"""Tables of graphs into tables of vectors, through the Arrow C data interface.

A table has one row a graph, in the columns of hg2v's Parquet format: ``src`` and ``dst`` (lists
of the edges' ends, counted from 0), and optionally ``num_nodes``, ``weight``, ``x``,
``node_label``, ``edge_label``, ``edge_x``, ``directed``, ``id``, and ``y`` or columns ``y.NAME``; or
molecules, in a column ``smiles`` beside any others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._inputs import graphs
from ._methods import Method, load
from ._notices import say_refused
from ._parameters import check_one_of, threads_of
from ._tables import as_arrow, of_table

__all__ = ["embed_arrow", "to_arrow"]

#: Models that were read, by path, with what tells whether another was saved there since.
_LOADED: dict[str, tuple[tuple[int, int], Method]] = {}


def loaded(model: Any) -> Method:
    """A model, or that of a folder, which is read once in each process unless it is replaced."""
    if isinstance(model, Method):
        return model
    path = os.fspath(model)
    stamp = _stamp(path)
    if path not in _LOADED or _LOADED[path][0] != stamp:
        _LOADED[path] = stamp, load(path)
    return _LOADED[path][1]


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0  # Loading says what is wrong.
    return found.st_ino, found.st_mtime_ns


def embed_arrow(model: Any, table: Any, n_jobs: int | None = None, errors: str = "raise") -> Any:
    """The vectors of the graphs of a table: its ``id`` and ``y``, and ``embedding``.

    Args:
        model: a fitted estimator of any method that learns vectors, or its folder.
        table: anything that speaks the Arrow C data interface: a record batch or table of
            pyarrow, a frame of polars, pandas or DuckDB.
        n_jobs: threads, as for :class:`hg2v.HG2V`.
        errors: ``"raise"`` refuses a table for one row that cannot be used; ``"nan"`` gives it a
            vector of NaN, and warns.

    Returns:
        The same kind of thing: a ``RecordBatch`` for a ``RecordBatch``, a frame for a frame; for
        anything else an object that pyarrow, polars and others make a table of.
    """
    found = loaded(model)
    found._check_fitted()
    threads = threads_of(n_jobs)
    check_one_of("errors", errors, "raise", "nan")
    library, kind, whole = as_arrow(table)
    if kind == "RecordBatch":
        batches = [whole]
    else:
        batches = [batch for batch in whole.to_batches() if len(batch)] or [_empty(whole)]
    made, refused, first = [], {}, 0
    for batch in batches:
        if errors == "raise":
            made.append(found.model_.embed_arrow(batch, threads, first, found.atom_attributes))
        else:
            rows, why = _rows(found, batch, threads)
            made.append(found.model_.beside(batch, rows))
            refused.update({first + at: problem for at, problem in why.items()})
        first += len(batch)
    if refused:
        say_refused(refused, first, "and their vectors are NaN")
    import pyarrow

    if kind == "RecordBatch":
        return pyarrow.record_batch(made[0])
    vectors = pyarrow.Table.from_batches([pyarrow.record_batch(batch) for batch in made])
    if library == "pandas":
        return vectors.to_pandas().set_index(table.index)
    if library == "polars":
        import polars

        return polars.from_arrow(vectors)
    return vectors


def _rows(model: Method, batch: Any, threads: int) -> tuple[np.ndarray, Mapping[int, str]]:
    """The vectors of a batch, of NaN where a row cannot be used, and why."""
    found = of_table(batch, skip=True, atoms=model.atom_attributes)
    found = found.without(model._unusable(found.graphs, fitted=True))
    rows = np.zeros((0, len(model._names_out())), np.float32)
    if len(found.graphs):
        rows, _ = model.model_.embed(found.graphs, threads)
    return found.spread(rows), found.refused


def _empty(table: Any) -> Any:
    import pyarrow

    return pyarrow.RecordBatch.from_pylist([], schema=table.schema)


def to_arrow(data: Any, **reading: Any) -> Any:
    """Graphs of any kind as a table, one row each, for engines and files.

    The result speaks the Arrow C data interface: ``pyarrow.record_batch(it)``,
    ``polars.DataFrame(it)``.
    """
    return graphs(data, **reading).to_arrow()
