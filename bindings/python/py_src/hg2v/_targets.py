"""What is to be predicted of graphs: one number or class each, or several by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._scalars import as_array, is_missing, scalar_kind
from .errors import InputError, shown

#: What the only target of a graph is called, and the one that is its class.
ONLY = "y"

#: Every whole number up to it is a ``float``.
_EXACT = 2**53


def of_graph(y: Any, num_nodes: int | None = None) -> Any:
    """What a tensor or array ``y`` says of a graph: a number, a list of them, or ``None`` where it
    has a row a node."""
    if y is None:
        return None
    array = as_array(y)
    if array.size <= 1:
        return array.reshape(-1)[0].item() if array.size else None
    several = array.ndim == 2 and len(array) == 1
    return array.reshape(-1).tolist() if several or array.shape != (num_nodes,) else None


def split(ys: Iterable[Any]) -> tuple[list[Any], dict[str, list[Any]]]:
    """The classes of graphs, and their other targets by name: a graph without one has ``None``."""
    classes: list[Any] = []
    columns: dict[str, list[Any]] = {}
    for at, y in enumerate(ys):
        own = _by_name(y)
        classes.append(own.pop(ONLY, None))
        for name, value in own.items():
            column = columns.setdefault(name, [])
            column.extend([None] * (at - len(column)))
            column.append(None if is_missing(value) else value)
    for column in columns.values():
        column.extend([None] * (len(classes) - len(column)))
    return classes, columns


def _by_name(y: Any) -> dict[str, Any]:
    if isinstance(y, Mapping):
        return {str(name): _plain(value) for name, value in y.items()}
    if isinstance(y, (list, tuple)):
        return {str(at): _plain(value) for at, value in enumerate(y)}
    plain = _plain(y)
    if isinstance(plain, list):
        return {str(at): value for at, value in enumerate(plain)}
    return {ONLY: plain}


def _plain(value: Any) -> Any:
    """A value that is an array of one as that one, and any other array as a list."""
    if isinstance(value, np.ndarray) or hasattr(value, "detach"):
        array = as_array(value)
        return array.reshape(-1)[0].item() if array.size == 1 else array.reshape(-1).tolist()
    return value


def handed_over(columns: Mapping[str, list[Any]], positions: Sequence[int]) -> dict[str, Any]:
    """Targets as Rust takes them: arrays where they are numbers, else spelled as JSON."""
    made: list[tuple[str, Any]] = []
    spelled = []
    for name, values in columns.items():
        there = [value for value in values if value is not None]
        kinds = {scalar_kind(value) for value in there}
        if None in kinds:
            _refuse(name, values, positions)
        if kinds == {int} and len(there) == len(values) and _fit(there):
            made.append((name, np.array(values, np.int64)))
        elif kinds <= {int, float} and all(abs(v) <= _EXACT for v in there if not _is_float(v)):
            numbers = [np.nan if value is None else value for value in values]
            made.append((name, np.array(numbers, np.float64)))
        else:
            made.append((name, [None if v is None else json.dumps(_item(v)) for v in values]))
            spelled.append(name)
    return {"targets": made, "json_targets": spelled}


def _is_float(value: Any) -> bool:
    return scalar_kind(value) is float


def _fit(values: list[Any]) -> bool:
    return all(-(2**63) <= value < 2**63 for value in values)


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _refuse(name: str, values: list[Any], positions: Sequence[int]) -> None:
    for at, value in enumerate(values):
        if value is not None and scalar_kind(value) is None:
            raise InputError(
                f"the target {name!r} is {shown(value)}",
                positions[at],
                fix="what is to be predicted are numbers, texts or booleans",
            )
