"""Tables of graphs, and columns of them, of any library that speaks Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._adapters import kind_of
from ._hg2v import Graphs
from ._read import Read
from .errors import HG2VError, InputError

#: The columns of hg2v's Parquet format.
_COLUMNS = {
    *("id", "y", "num_nodes", "src", "dst", "weight", "nodes"),
    *("node_label", "edge_label", "x", "edge_x", "directed"),
}


def _is_known(name: Any) -> bool:
    """Whether a column means something: one of the format, or one of several targets."""
    return isinstance(name, str) and (name in _COLUMNS or name.startswith("y."))


def is_of_smiles(columns: Any) -> bool:
    """Whether columns of these names are molecules and what is known of them."""
    named = [name for name in columns if isinstance(name, str)]
    return "src" not in named and any(name.lower() == "smiles" for name in named)


def _is_plain(column: Any, library: str) -> bool:
    """Whether a column has texts and numbers, as what is known of molecules is."""
    if library == "polars":
        return bool(column.dtype.is_numeric() or str(column.dtype) in ("String", "Boolean"))
    if column.dtype.kind != "O":
        return isinstance(column.name, str) and column.dtype.kind in "biuf"
    import pandas

    kinds = ("string", "boolean", "integer", "floating", "mixed-integer-float", "empty")
    return isinstance(column.name, str) and pandas.api.types.infer_dtype(column) in kinds


def column_of(data: Any) -> list[Any] | None:
    """What a column holds: a Series of pandas or polars, an array of pyarrow, or the only column
    of a table, which can be no table of graphs; ``None`` where this is no column."""
    kind, library = type(data), type(data).__module__.partition(".")[0]
    if library == "numpy" and getattr(data, "ndim", 0) == 2 and data.shape[1] == 1:
        return None if data.dtype.kind in "biufc" else list(data[:, 0])
    if not _speaks_arrow(data):
        return None
    if kind.__name__ == "DataFrame" and library in ("pandas", "polars"):
        only = len(data.columns) == 1 and not _is_known(data.columns[0])
        return list(data[data.columns[0]].to_list()) if only else None
    if library == "pyarrow" and kind.__name__ in ("Table", "RecordBatch"):
        only = data.num_columns == 1 and not _is_known(data.column_names[0])
        return column_of(data.column(0)) if only else None
    # Tables have columns with names, and streams of them a schema.
    if any(hasattr(kind, name) for name in ("columns", "column_names", "schema")):
        return None
    for listed in ("to_pylist", "to_list", "tolist"):
        if hasattr(kind, listed):
            return list(getattr(data, listed)())
    return None


def is_table(data: Any) -> bool:
    """Whether this is a table, or a stream of one."""
    return _speaks_arrow(data) or hasattr(data, "to_arrow_table")  # DuckDB's relations


def _speaks_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def of_table(data: Any, skip: bool, atoms: bool) -> Read:
    """The graphs of a table, a row each, molecules with numbers of atoms where ``atoms`` is said;
    with ``skip``, without those that cannot be used."""
    try:
        if hasattr(data, "to_arrow_table"):
            data = data.to_arrow_table()
        graphs, refused = Graphs.from_arrow(_needed(data), skip, atoms)
    except InputError as error:
        if error.kind != "column":
            raise
        raise error.hinting("to read graphs from one column, give that column alone") from None
    except HG2VError:
        raise
    except Exception as error:
        raise _unreadable(data, error) from error
    return Read(graphs, dict(refused))


def as_arrow(data: Any) -> tuple[str, str, Any]:
    """A table as pyarrow's: the library and the kind that it was, and a ``RecordBatch`` where it was
    one, or a ``Table``."""
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    try:
        import pyarrow

        if hasattr(data, "to_arrow_table"):
            return library, "Table", data.to_arrow_table()
        if library == "pandas" and kind == "DataFrame":
            return library, kind, pyarrow.Table.from_pandas(_needed(data), preserve_index=False)
        if library == "polars" and kind == "DataFrame":
            return library, kind, _needed(data).to_arrow()
        if library == "pyarrow" and kind in ("Table", "RecordBatch"):
            return library, kind, data
        if hasattr(data, "__arrow_c_array__"):
            return library, "RecordBatch", pyarrow.record_batch(data)
        return library, "Table", pyarrow.table(data)
    except ImportError as error:
        raise InputError("tables need pyarrow", fix="pip install pyarrow") from error
    except Exception as error:
        raise _unreadable(data, error) from error


def _unreadable(data: Any, error: Exception) -> InputError:
    """The error for something that a library could not hand over as a table."""
    column = _column_at_fault(data)
    what = (
        f"this {kind_of(data)}" if column is None else f"column `{column}` of this {kind_of(data)}"
    )
    return InputError(
        f"{what} cannot be read as part of a table of graphs",
        fix="give one row a graph, with lists of integers in columns `src` and `dst`",
    )


def _column_at_fault(data: Any) -> str | None:
    """The first column that pandas cannot hand over, where it is one: each is tried alone."""
    if type(data).__module__.partition(".")[0] != "pandas" or type(data).__name__ != "DataFrame":
        return None
    import pyarrow

    frame = _needed(data)
    for at, name in enumerate(frame.columns):
        try:
            pyarrow.Array.from_pandas(frame.iloc[:, at])
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
            return str(name)
    return None


def _needed(data: Any) -> Any:
    """A frame without the columns that mean nothing here, which need not hold anything that Arrow
    knows."""
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if kind != "DataFrame" or library not in ("pandas", "polars"):
        return data
    if is_of_smiles(data.columns):
        wanted = [name for name in data.columns if _is_plain(data[name], library)]
    else:
        wanted = [name for name in data.columns if _is_known(name)]
    frame = data[wanted]
    return frame if library == "pandas" else frame.cast(_typed(frame.schema))


def _typed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The types of a frame of polars, with one where there are nothing but nulls: what polars
    hands over of columns without a type is not what Arrow says."""
    import polars

    def of(dtype: Any) -> Any:
        if dtype == polars.Null:
            return polars.Int64
        return polars.List(of(dtype.inner)) if isinstance(dtype, polars.List) else dtype

    return {name: of(dtype) for name, dtype in schema.items()}
