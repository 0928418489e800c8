"""Tables of graphs into tables of vectors, through the Arrow C data interface.

A table has one row a graph, in the columns of hg2v's Parquet format: ``src`` and ``dst`` (lists
of the edges' ends, counted from 0), and optionally ``num_nodes``, ``weight``, ``x``,
``node_label``, ``edge_label``, ``edge_x``, ``directed``, ``id``, and ``y`` or columns ``y.NAME``; or
molecules, in a column ``smiles`` beside any others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, get_args

import numpy as np

from ._adapters import kind_of
from ._inputs import READING, graphs, read
from ._long import refuse_long
from ._methods import Method, load
from ._notices import say_refused
from ._parameters import check_one_of, threads_of
from ._read import Read
from ._tables import as_arrow, of_table
from ._words import OnError
from .errors import InputError

__all__ = ["embed_arrow", "embed_batches", "to_arrow"]

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


def embed_arrow(
    model: Any, table: Any, n_jobs: int | None = None, errors: OnError = "raise"
) -> Any:
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
    found, threads = _ready(model, n_jobs, errors)
    refuse_long(table)
    library, kind, whole = as_arrow(table)
    if kind == "RecordBatch":
        batches = [whole]
    else:
        batches = [batch for batch in whole.to_batches() if len(batch)] or [_empty(whole)]
    made, refused, first = [], {}, 0
    for batch in batches:
        vectors, why = _vectors(found, batch, threads, first, errors)
        made.append(vectors)
        refused.update(why)
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


def embed_batches(
    model: Any, data: Any, n_jobs: int | None = None, errors: OnError = "raise"
) -> Any:
    """The vectors of a stream of graphs, as a stream: memory does not grow with their number.

    Args:
        model: a fitted estimator of any method that learns vectors, or its folder.
        data: a ``RecordBatchReader`` of pyarrow, or anything else with a stream of Arrow; an
            iterator of record batches; or an iterator of graphs, read as the estimator reads them.
        n_jobs, errors: as for :func:`embed_arrow`. What is left out is warned of batch by batch.

    Returns:
        A ``RecordBatchReader`` of pyarrow with the columns of :func:`embed_arrow`. It takes a
        batch, or a thousand graphs, whenever the next batch is asked of it; the first of an iterator
        at once, whose columns all others must have.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> model = hg2v.HG2V(dim=8, levels=2, epochs=2).fit(rings)
        >>> reader = hg2v.embed_batches(model, (ring for ring in rings))
        >>> sum(batch.num_rows for batch in reader)
        20
    """
    found, threads = _ready(model, n_jobs, errors)
    try:
        import pyarrow
    except ImportError as error:
        raise InputError("tables need pyarrow", fix="pip install pyarrow") from error
    refuse_long(data)
    made = _stream(found, data, threads, errors)
    head = next(made)
    return pyarrow.RecordBatchReader.from_batches(head.schema, _alike(head, made))


def _ready(model: Any, n_jobs: int | None, errors: OnError) -> tuple[Method, int]:
    found = loaded(model)
    found._check_fitted()
    check_one_of("errors", errors, *get_args(OnError))
    return found, threads_of(n_jobs)


def _stream(model: Method, data: Any, threads: int, errors: OnError) -> Iterator[Any]:
    """The vectors of each batch; the first batch may be empty, and is there always."""
    import pyarrow

    first = 0
    for batch, lacking in _batches(model, data, errors):
        # Of graphs that could be read, it is known that they can be used.
        strict = errors if lacking is None else "raise"
        vectors, refused = _vectors(model, batch, threads, first, strict)
        made = pyarrow.record_batch(vectors)
        if lacking is not None:
            made = _spread(made, lacking)
            refused = {first + at: problem for at, problem in lacking.refused.items()}
        if refused:
            say_refused(refused, len(made), "and their vectors are NaN")
        first += len(made)
        yield made


#: Graphs of an iterator that are read at a time.
_AT_ONCE = 1024


def _batches(model: Method, data: Any, errors: OnError) -> Iterator[tuple[Any, Read | None]]:
    """Record batches, and of graphs what reading them left out; an empty one where there is none."""
    import pyarrow

    if hasattr(data, "__arrow_c_stream__"):
        reader = pyarrow.RecordBatchReader.from_stream(data)
        yield pyarrow.RecordBatch.from_pylist([], schema=reader.schema), None
        yield from ((batch, None) for batch in reader if len(batch))
        return
    if not isinstance(data, Iterable) or isinstance(data, (str, os.PathLike)):
        raise InputError(
            f"{kind_of(data)} is no stream of graphs",
            fix="give a RecordBatchReader, or an iterator of record batches or graphs",
        )
    items = iter(data)
    head = next(items, None)
    if hasattr(head, "__arrow_c_array__"):
        yield from ((pyarrow.record_batch(item), None) for item in chain([head], items))
        return
    items, first = iter([]) if head is None else chain([head], items), 0
    reading = {name: getattr(model, name) for name in READING}
    while (chunk := list(islice(items, _AT_ONCE))) or first == 0:
        try:
            found = read(chunk, reading, skip=errors == "nan")
        except InputError as error:
            raise error if error.graph is None else error.of_graph(first + error.graph) from None
        if errors == "nan":
            found = found.without(model._unusable(found.graphs, fitted=True))
        yield pyarrow.record_batch(found.graphs.to_arrow()), found
        if not chunk:
            return
        first += len(chunk)


def _spread(batch: Any, found: Read) -> Any:
    """A batch of the graphs that could be read, with a row for each of the others, too."""
    import pyarrow

    if not found.refused:
        return batch
    at = batch.schema.get_field_index("embedding")
    kind = batch.schema.field(at).type
    flat = batch.column(at).flatten().to_numpy(zero_copy_only=False)
    rows = found.spread(flat.reshape(len(batch), kind.list_size))
    places = iter(range(len(batch)))
    kept = [None if i in found.refused else next(places) for i in range(found.count)]
    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel()), kind.list_size)
    spread = batch.take(pyarrow.array(kept, pyarrow.int64()))
    return spread.set_column(at, batch.schema.field(at), vectors.cast(kind))


def _alike(head: Any, others: Iterator[Any]) -> Iterator[Any]:
    """All batches, of which each must have the columns of the first."""
    first = 0
    for batch in chain([head], others):
        if batch.schema != head.schema:
            raise InputError(
                f"from graph {first} on the columns are {_columns(batch)}, "
                f"and before they were {_columns(head)}",
                fix="give ids and classes of one kind to all graphs, or to none",
            )
        first += len(batch)
        yield batch


def _columns(batch: Any) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in batch.schema)


def _vectors(
    model: Method, batch: Any, threads: int, first: int, errors: OnError
) -> tuple[Any, dict[int, str]]:
    """The vectors of a batch, whose rows count from ``first``, and which rows have none, and why."""
    if errors == "raise":
        atoms, device = model.atom_attributes, model._device()
        return model.model_.embed_arrow(batch, threads, first, atoms, device), {}
    rows, why = _rows(model, batch, threads)
    return model.model_.beside(batch, rows), {first + at: said for at, said in why.items()}


def _rows(model: Method, batch: Any, threads: int) -> tuple[np.ndarray, Mapping[int, str]]:
    """The vectors of a batch, of NaN where a row cannot be used, and why."""
    found = of_table(batch, skip=True, atoms=model.atom_attributes)
    found = found.without(model._unusable(found.graphs, fitted=True))
    rows = np.zeros((0, len(model._names_out())), np.float32)
    if len(found.graphs):
        rows, _ = model.model_.embed(found.graphs, threads, None, model._device())
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
