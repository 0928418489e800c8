"""A table with a row an edge, a node or a graph, while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._adapters import kind_of
from ._notices import say_unused
from ._parameters import is_number
from ._scalars import Names, is_missing, scalar_kind
from ._tables import as_arrow, is_table
from .errors import InputError, shown

#: What columns are called: the graph of a row, the ends of an edge, a node.
GRAPH = ("graph", "graph_id")
SRC, DST = ("src", "source", "u"), ("dst", "target", "v")
_NODE = ("node", "id")

#: Columns of edges that tell them apart, and are no attributes.
_NAMES_OF_EDGES = ("id", "edge", "edge_id", "key", "type")

#: What is wrong with a value, and what to do.
Said = Callable[[Any], tuple[str, str]]


def columns_of(table: Any) -> list[str]:
    """The names of a table's columns that are texts."""
    if hasattr(table, "column_names"):
        names = table.column_names
    elif hasattr(table, "columns"):
        names = table.columns
    else:
        names = getattr(_schema_of(table), "names", ())
    return [name for name in names if isinstance(name, str)]


def one_of(columns: Sequence[str], names: Iterable[str]) -> str | None:
    """The first of the names that is a column's."""
    return next((name for name in names if name in columns), None)


def has_lists(table: Any, name: str) -> bool:
    """Whether a column has a list a row, as it has where a row is a graph."""
    library = type(table).__module__.partition(".")[0]
    if library in ("pandas", "hg2v"):
        column = table[name]
        if column.dtype.kind == "O":
            value = next(iter(column), None)
            return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0
        kind = column.dtype
    elif library == "polars":
        kind = table.schema[name]
    elif hasattr(table, "to_arrow_table"):  # DuckDB's relations
        return str(dict(zip(table.columns, table.types))[name]).endswith("]")
    else:
        schema = _schema_of(table)
        if schema is None:
            return True
        kind = schema.field(name).type
    kinds = ("list", "large_list", "fixed_size_list", "array")
    return str(kind).lower().startswith(kinds)


def _schema_of(table: Any) -> Any | None:
    """The columns of a table of Arrow, where it tells them without being read."""
    if type(table).__module__.partition(".")[0] == "pyarrow":
        return getattr(table, "schema", None)
    if not hasattr(table, "__arrow_c_schema__"):
        return None
    try:
        import pyarrow

        return pyarrow.schema(table)
    except (ImportError, TypeError):
        return None


def _arrays(table: Any) -> dict[str, np.ndarray]:
    """A table's columns as arrays, by name."""
    if not is_table(table):
        raise InputError(f"a table is expected, but this is a {kind_of(table)}")
    library, kind = type(table).__module__.partition(".")[0], type(table).__name__
    names = columns_of(table)
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"two columns are called `{repeated[0]}`", fix="give each its own name")
    if kind == "DataFrame" and library in ("pandas", "polars"):
        return {name: table[name].to_numpy() for name in names}
    _, kind, whole = as_arrow(table)
    # Only arrays that are one piece ask whether they may be copied.
    copied = {"zero_copy_only": False} if kind == "RecordBatch" else {}
    return {name: whole.column(name).to_numpy(**copied) for name in names}


@dataclass
class Faults:
    """What is wrong, of which the first ends everything unless graphs are to be skipped."""

    skip: bool
    refused: dict[int, str] = field(default_factory=dict)

    def add(self, rows: Rows, column: str, bad: np.ndarray, said: Said) -> None:
        """Refuses the graphs of the rows that are ``bad``, for what their values are."""
        at = np.flatnonzero(bad)
        if len(at) == 0:
            return
        graphs, first = np.unique(rows.graph[at], return_index=True)
        if not self.skip:
            raise rows.error(int(at[0]), column, said)
        for graph, row in zip(graphs.tolist(), at[first].tolist()):
            self.refused.setdefault(graph, rows.error(row, column, said).said)


@dataclass
class Rows:
    """A table while it is read."""

    called: str
    arrays: dict[str, np.ndarray]
    names: Names
    #: The position of the graph of each row.
    graph: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    #: What the ends of edges, or the nodes, are called, by column.
    scalars: dict[str, np.ndarray] = field(default_factory=dict)
    weight: np.ndarray | None = None
    label: Any = None
    x: np.ndarray | None = None

    @classmethod
    def of(cls, called: str, table: Any, names: Names) -> Rows:
        try:
            return cls(called, _arrays(table), names)
        except InputError as error:
            raise InputError(error.problem, within=f"the {called}", fix=error.fix) from error

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values()), ()))

    def column(self, *names: str, fix: str = "check the names") -> str:
        """The name of the column that goes by one of these."""
        found = one_of(list(self.arrays), names)
        if found is None:
            have = ", ".join(f"`{name}`" for name in self.arrays) or "none"
            raise InputError(
                f"the {self.called} have no column `{names[0]}`; their columns are {have}",
                fix=fix,
                kind="column",
            )
        return found

    def error(self, row: int, column: str, said: Said) -> InputError:
        """What is wrong with a value, and where it stands."""
        problem, fix = said(self.arrays[column][row])
        graph = int(self.graph[row]) if len(self.graph) else None
        place = f"row {row} of the {self.called}, column `{column}`"
        return InputError(problem, graph, place, fix=fix)

    def read(self, faults: Faults) -> None:
        """Reads what rows say beside their graph."""
        names, of_edges = self.names, self.called == "edges"
        keys = [self.column(*of) for of in ((SRC, DST) if of_edges else (_NODE,))]
        for key in keys:
            self.scalars[key], bad = scalars(self.arrays[key])
            faults.add(self, key, bad, no_name)
        label = self._named(names.edge_label if of_edges else names.label, "label")
        if label is not None:
            self.label, bad = scalars(self.arrays[label])
            faults.add(self, label, bad, no_label)
        weight = self._named(names.weight, "weight") if of_edges else None
        if weight is not None:
            self.weight = self._numbers(weight, faults)
        wanted = names.edge_attrs if of_edges else names.attributes
        if wanted is None:
            used = {one_of(list(self.arrays), GRAPH), *keys, label, weight}
            wanted = self._attributes(used)
        else:
            wanted = [self.column(of) for of in ([wanted] if isinstance(wanted, str) else wanted)]
        if wanted:
            self.x = np.stack([self._numbers(name, faults) for name in wanted], axis=1)

    def _named(self, said: str | None, usual: str) -> str | None:
        """The column that was named, or else the usual one, if there is one."""
        if said is not None:
            return self.column(said)
        return usual if usual in self.arrays else None

    def _attributes(self, used: set[str | None]) -> list[str]:
        """The other columns that are numbers; of those that are not it is said."""
        names, of_edges = self.names, self.called == "edges"
        others = [name for name in self.arrays if name not in used]
        target = next((name for name in others if name == "y" or name.startswith("y.")), None)
        if target is not None:
            wanted = "edge_attrs" if of_edges else "attributes"
            raise InputError(
                f"the {self.called} have a column `{target}`, as what is to be predicted is called",
                fix=f"put it into the table of graphs, or name the attributes with {wanted}=",
                kind="column",
            )
        apart = _NAMES_OF_EDGES if of_edges else ()
        numbers = [name for name in others if name not in apart and _are_numbers(self.arrays[name])]
        named = (names.weight, names.edge_label) if of_edges else (names.label,)
        if all(name is None for name in named):
            unused = {name: next(iter(self.arrays[name].tolist()), None) for name in others}
            say_unused(self.called[:-1], [unused], used=numbers)
        return numbers

    def _numbers(self, name: str, faults: Faults) -> np.ndarray:
        values = self.arrays[name]
        if values.dtype.kind in "biuf":
            made = values.astype(np.float64)
        else:
            found = [float(v) if is_number(v) else np.nan for v in values.tolist()]
            made = np.array(found, np.float64)
        faults.add(self, name, ~np.isfinite(made), _no_number(self.called[:-1]))
        return made

    def take(self, rows: np.ndarray) -> None:
        """Leaves of what was read these rows, in this order."""
        self.graph = self.graph[rows]
        for name in ("weight", "x", "label"):
            if getattr(self, name) is not None:
                setattr(self, name, getattr(self, name)[rows])


# Values


def scalars(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Names or labels, whole numbers as such, and which are none."""
    none_bad = np.zeros(len(values), bool)
    if values.dtype.kind in "iu" and values.max(initial=0) < 2**63:
        return values.astype(np.int64), none_bad
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values % 1 == 0).all():
        return values.astype(np.int64), none_bad
    made = np.empty(len(values), object)
    listed = values.tolist()
    if not set(map(type, listed)) <= {str, int, bool}:
        listed = [_plain(value) for value in listed]
        none_bad = np.fromiter((value is None for value in listed), bool, len(listed))
    made[:] = listed
    return made, none_bad


def _plain(value: Any) -> Any:
    """A scalar as Python's, and a whole one as a whole number; ``None`` where it is no scalar."""
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value) or scalar_kind(value) is None:
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _are_numbers(values: np.ndarray) -> bool:
    """Whether a column begins with a number."""
    if values.dtype.kind != "O":
        return values.dtype.kind in "biuf"
    first = next((value for value in values.tolist() if not is_missing(value)), None)
    return isinstance(first, (bool, int, float, np.number))


def no_name(value: Any) -> tuple[str, str]:
    if is_missing(value):
        return f"it is missing ({shown(value)})", "leave the row out, or fill it in"
    return f"{shown(value)} is no name", "names are whole numbers, numbers, texts or booleans"


def no_label(value: Any) -> tuple[str, str]:
    fix = "labels are whole numbers, numbers, texts or booleans"
    return f"it is {shown(value)}", fix


def _no_number(what: str) -> Said:
    def said(value: Any) -> tuple[str, str]:
        if isinstance(value, (list, tuple, np.ndarray)):
            return f"it is {shown(value)}", "give each number a column of its own"
        if not isinstance(value, str):
            return f"it is {shown(value)}", "fill in a finite number"
        named = "label=" if what == "node" else "edge_label="
        fix = f"texts can be {what} labels: name them with {named}"
        return f"it is {shown(value)}, but it must be a number", fix

    return said
