"""Labels, ids, classes and names of nodes: what they may be, and how they are handed over."""

from __future__ import annotations

import json
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InputError, shown


@dataclass(frozen=True)
class Names:
    """What nodes' and edges' attributes are called. ``None`` takes ``x``, ``label`` and
    ``weight`` where they are there; what is named must be there."""

    attributes: str | Sequence[str] | None = None
    label: str | None = None
    weight: str | None = None
    edge_label: str | None = None
    edge_attrs: str | Sequence[str] | None = None
    #: Whether edges of graphs that cannot say it go one way.
    directed: bool = False
    #: Whether atoms of molecules have numbers.
    atoms: bool = False

    def of_edges(self) -> set[str]:
        """The edge attributes that are named."""
        numbers = self.edge_attrs or ()
        named = (numbers,) if isinstance(numbers, str) else numbers
        return {name for name in (self.weight, self.edge_label, *named) if name is not None}


class Within(InputError):
    """What is wrong with a node or edge of a graph, of which only the caller knows which it is."""

    def __init__(self, what: str, at: int, problem: str, fix: str | None = None) -> None:
        super().__init__(problem, within=f"{what} {at}", fix=fix)


@dataclass(frozen=True)
class Entries:
    """Of what a column has an entry each, nodes or edges, and which graph they are of."""

    what: str
    ptr: np.ndarray
    positions: Sequence[int]

    def refused(self, row: int, problem: str, fix: str | None = None) -> InputError:
        """What is wrong with an entry, with its place."""
        graph = int(np.searchsorted(self.ptr, row, side="right")) - 1
        within = Within(self.what, row - self.ptr[graph], problem, fix)
        return within.of_graph(self.positions[graph])


def scalar_columns(
    columns: dict[str, Any], names: Names, positions: Sequence[int], within: dict[str, Entries]
) -> dict[str, Any]:
    """Columns of scalars, each of one kind; those of several are spelled as JSON. ``within``
    says of which columns an entry is one of a node or edge; of others it is a graph's, which may
    lack it."""
    called = {"node_label": names.label, "edge_label": names.edge_label}
    made: dict[str, Any] = {}
    spelled = []

    def refuse(name: str, values: list[Any]) -> None:
        for at, value in enumerate(values):
            wrong = _no_scalar(called.get(name) or name, value)
            if wrong is not None and name in within:
                raise within[name].refused(at, *wrong)
            if wrong is not None and value is not None:
                raise InputError(wrong[0], positions[at], fix=wrong[1])

    for name, values in columns.items():
        if values is None:
            continue
        values = listed(values)
        there = values if name in within else [value for value in values if value is not None]
        kinds = _kinds(there)
        if None in kinds:
            refuse(name, values)
        if len(kinds) > 1 or (name not in within and None in values):
            spelled.append(name)
            made[name] = [None if value is None else _json(value) for value in values]
        elif kinds <= {bool}:
            made[name] = [bool(value) for value in values]
        elif kinds == {str}:
            made[name] = [str(value) for value in values]
        elif kinds == {float}:
            made[name] = np.array(values, np.float64)
        else:
            try:
                made[name] = np.array(values, np.int64)
            except OverflowError:
                refuse(name, values)
    return {**made, "json": ",".join(spelled)}


def _kinds(values: list[Any]) -> set[type | None]:
    """The kinds of scalars that there are, and ``None`` where some are none."""
    types: set[type | None] = set(map(type, values))
    # A look at each takes longer than all the rest.
    if types <= {bool, int, float} or (types == {str} and _is_unicode("".join(values))):
        return types
    return {scalar_kind(value) for value in values}


def _no_scalar(name: str, value: Any) -> tuple[str, str] | None:
    """Why a value is no label, id or class, and what to do; ``None`` where it is one."""
    kind = scalar_kind(value)
    if kind is None:
        fix = "labels, ids and classes are whole numbers, numbers, texts or booleans"
        return f"attribute {name!r} is {shown(value)}", fix
    if kind is int and not -(2**63) <= value < 2**63:
        return f"{name} {shown(value)} does not fit 64 bits", "write it as a text"
    return None


def _json(value: Any) -> str:
    return json.dumps(value.item() if isinstance(value, np.generic) else value)


def scalar_kind(value: Any) -> type | None:
    """What kind of scalar this is; ``None`` where it is none."""
    if isinstance(value, (bool, np.bool_)):
        return bool
    if isinstance(value, (int, np.integer)):
        return int
    if isinstance(value, (float, np.floating)):
        return float
    return str if isinstance(value, str) and _is_unicode(value) else None


def _is_unicode(text: str) -> bool:
    """Whether files can hold a text: broken ones have halves of characters."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def is_missing(value: Any) -> bool:
    """Whether this is what libraries put where there is nothing: ``None``, NaN, and pandas's
    ``NA`` and ``NaT``."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def some(values: list[Any]) -> list[Any] | None:
    """What graphs are called, or their classes: ``None`` where no graph has one."""
    made = [None if is_missing(value) else value for value in values]
    return made if any(value is not None for value in made) else None


def node_names(nodes: Sequence[Any]) -> list[Any] | None:
    """What nodes are called, where it is not 0 … n−1. Libraries take anything for a name, files
    only scalars: what is none is kept as its text, as long as that tells nodes apart."""
    types = set(map(type, nodes))
    if types <= {int} and all(map(operator.eq, nodes, range(len(nodes)))):
        return None
    if types == {str} and _is_unicode("".join(nodes)) and len(set(nodes)) == len(nodes):
        return list(nodes)
    try:
        names = [_name(node) for node in nodes]
    except Exception:  # Whatever a stranger's class does; names are no part of a vector.
        return None
    return names if len(set(names)) == len(names) else None


def _name(node: Any) -> Any:
    plain = node.item() if isinstance(node, np.generic) else node
    kind = scalar_kind(plain)
    if kind is int and -(2**63) <= plain < 2**63:
        return int(plain)
    if kind is float and np.isfinite(plain):
        return float(plain)
    if kind in (bool, str):
        return plain
    return str(plain).encode(errors="backslashreplace").decode()


def as_array(values: Any) -> np.ndarray:
    """Anything as an array, a tensor's own memory where that is possible."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError(
            "rows of different lengths", fix="give every node the same attributes"
        ) from None


def listed(values: Any) -> list[Any]:
    return as_array(values).reshape(-1).tolist() if hasattr(values, "dtype") else list(values)
