"""Tables of graphs into tables of vectors, through the Arrow C data interface.

A table has one row a graph, in the columns of hg2v's Parquet format: ``src`` and ``dst`` (lists
of the edges' ends, counted from 0), and optionally ``num_nodes``, ``weight``, ``x``,
``node_label``, ``edge_label``, ``directed``, ``id`` and ``y``.
"""

from __future__ import annotations

import os
from typing import Any

from ._inputs import graphs
from ._models import HG2V
from ._parameters import threads_of

__all__ = ["embed_arrow", "to_arrow"]

#: Models that were read, by path, with what tells whether another was saved there since.
_LOADED: dict[str, tuple[tuple[int, int], HG2V]] = {}


def loaded(model: Any) -> HG2V:
    """A model, or that of a folder, which is read once in each process unless it is replaced."""
    if isinstance(model, HG2V):
        return model
    path = os.fspath(model)
    stamp = _stamp(path)
    if path not in _LOADED or _LOADED[path][0] != stamp:
        _LOADED[path] = stamp, HG2V.load(path)
    return _LOADED[path][1]


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0  # Loading says what is wrong.
    return found.st_ino, found.st_mtime_ns


def embed_arrow(model: Any, table: Any, n_jobs: int | None = None) -> Any:
    """The vectors of the graphs of a table: its ``id`` and ``y``, and ``embedding``.

    Args:
        model: a fitted :class:`hg2v.HG2V`, or the folder of one.
        table: anything that speaks the Arrow C data interface: a record batch or table of
            pyarrow, a frame of polars, pandas or DuckDB.
        n_jobs: threads.

    Returns:
        The same kind of thing: a ``RecordBatch`` for a ``RecordBatch``, a frame for a frame; for
        anything else an object that pyarrow, polars and others make a table of.
    """
    found = loaded(model)
    found._check_fitted()
    threads = threads_of(n_jobs)
    if hasattr(table, "to_arrow_table"):  # DuckDB's relations
        table = table.to_arrow_table()
    library, kind = type(table).__module__.partition(".")[0], type(table).__name__
    is_frame = library in ("polars", "pandas") or (library, kind) == ("pyarrow", "Table")
    if not is_frame and not hasattr(table, "__arrow_c_array__"):
        import pyarrow

        # A stream, which is read.
        table, library, kind = pyarrow.table(table), "pyarrow", "Table"
    if library == "pyarrow" and kind == "RecordBatch":
        import pyarrow

        return pyarrow.record_batch(found.model_.embed_arrow(table, threads))
    if library in ("polars", "pandas", "pyarrow"):
        import pyarrow

        whole = (
            pyarrow.Table.from_pandas(table, preserve_index=False) if library == "pandas" else table
        )
        whole = whole if library != "polars" else whole.to_arrow()
        batches = [batch for batch in whole.to_batches() if len(batch)] or [_empty(whole)]
        made, first = [], 0
        for batch in batches:
            made.append(pyarrow.record_batch(found.model_.embed_arrow(batch, threads, first)))
            first += len(batch)
        vectors = pyarrow.Table.from_batches(made)
        if library == "pandas":
            return vectors.to_pandas().set_index(table.index)
        if library == "polars":
            import polars

            return polars.from_arrow(vectors)
        return vectors
    return found.model_.embed_arrow(table, threads)


def _empty(table: Any) -> Any:
    import pyarrow

    return pyarrow.RecordBatch.from_pylist([], schema=table.schema)


def to_arrow(data: Any, **reading: Any) -> Any:
    """Graphs of any kind as a table, one row each, for engines and files.

    The result speaks the Arrow C data interface: ``pyarrow.record_batch(it)``,
    ``polars.DataFrame(it)``.
    """
    return graphs(data, **reading).to_arrow()
