"""What is found, as columns that every library of tables takes."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._hg2v import arrow_table

#: The most rows that are shown.
_SHOWN = 20


class Table:
    """Columns of equal length, by name: NumPy arrays that cannot be written to.

    ``table["distance"]`` is a column, ``len(table)`` the number of rows, and iteration gives a
    ``dict`` for each. ``dict(table)`` has all columns; pandas, polars, pyarrow and DuckDB take it as
    it is, or with :meth:`to_pandas`, :meth:`to_polars` and :meth:`to_arrow`.

    Example:
        >>> import hg2v
        >>> table = hg2v.Table({"id": ["a", "b"], "distance": [0.25, 0.5]})
        >>> table["distance"].max(), len(table), list(table)[0]
        (np.float64(0.5), 2, {'id': 'a', 'distance': 0.25})
        >>> table
        id  distance
        a       0.25
        b        0.5
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: column_of(values) for name, values in columns.items()}
        if len({len(column) for column in self._columns.values()}) > 1:
            raise ValueError("the columns are not equally long")

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def keys(self) -> list[str]:
        """The names of the columns, as ``dict(table)`` asks for them."""
        return list(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        listed = [column.tolist() for column in self._columns.values()]
        for row in zip(*listed):
            yield dict(zip(self._columns, row))

    def to_pandas(self) -> Any:
        """The table as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(dict(self._columns))

    def to_polars(self) -> Any:
        """The table as a DataFrame of polars."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """The table as pyarrow's."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        spelled = [(name, _plain(column)) for name, column in self._columns.items()]
        return arrow_table(spelled).__arrow_c_stream__(requested_schema)

    def _shown(self) -> list[list[str]]:
        """The first rows, as texts."""
        heads = [column[:_SHOWN].tolist() for column in self._columns.values()]
        return [[_cell(value) for value in row] for row in zip(*heads)]

    def _more(self) -> str | None:
        more = len(self) - _SHOWN
        return f"… and {more} more" if more > 0 else None

    def __repr__(self) -> str:
        rows = [self.columns, *self._shown()]
        widths = [max(map(len, cells)) for cells in zip(*rows)]
        right = [column.dtype.kind in "if" for column in self._columns.values()]
        lines = [
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(row, widths, right)
            ).rstrip()
            for row in rows
        ]
        more = self._more()
        return "\n".join(lines if more is None else [*lines, more])

    def _repr_html_(self) -> str:
        def row(cells: list[str], tag: str) -> str:
            inside = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inside}</tr>"

        body = "".join(row(cells, "td") for cells in self._shown())
        more = self._more() or ""
        return f"<table><thead>{row(self.columns, 'th')}</thead><tbody>{body}</tbody></table>{more}"


def column_of(values: Any) -> np.ndarray:
    """Values as an array that cannot be written to: of numbers where all are, or are missing, else of
    objects. A number that is missing is NaN; whole numbers have none, and stay what they are."""
    if isinstance(values, np.ndarray):
        column = values.view()
    else:
        listed = list(values)
        kinds = {type(value) for value in listed}
        if kinds and (kinds == {bool} or kinds <= {int, float}):
            column = np.array(listed)
        elif float in kinds and kinds <= {int, float, type(None)}:
            column = np.array(listed, np.float64)
        else:
            column = np.empty(len(listed), object)
            column[:] = listed
    column.flags.writeable = False
    return column


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(column: np.ndarray) -> Any:
    """A column as the Rust side takes it: objects are texts, unless all are numbers, or missing."""
    if column.dtype.kind == "b":
        return column.tolist()
    if column.dtype.kind in "iu":
        return column.astype(np.int64)
    if column.dtype.kind == "f":
        return column.astype(np.float64)
    known = [value for value in column if value is not None]
    if known and all(isinstance(value, (int, float)) for value in known):
        return np.array([np.nan if value is None else value for value in column], np.float64)
    return [None if value is None else str(value) for value in column]
