"""Graphs as plain arrays, one after the other, handed over to Rust in one call."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._hg2v import Graphs
from ._parameters import is_number
from .errors import InputError, shown


@dataclass(frozen=True)
class Names:
    """What nodes' and edges' attributes are called. ``None`` takes ``x``, ``label`` and
    ``weight`` where they are there; what is named must be there."""

    attributes: str | Sequence[str] | None = None
    label: str | None = None
    weight: str | None = None
    edge_label: str | None = None


@dataclass
class One:
    """A graph as arrays."""

    num_nodes: int
    src: Any
    dst: Any
    weight: Any = None
    x: Any = None
    node_label: Any = None
    edge_label: Any = None
    directed: bool = False
    id: Any = None
    y: Any = None


class Within(InputError):
    """What is wrong with a node or edge of a graph, of which only the caller knows which it is."""

    def __init__(self, what: str, at: int, problem: str) -> None:
        super().__init__(f"{what} {at}: {problem}")


def of_graph(at: int, error: InputError) -> InputError:
    """What is wrong with the graph at position ``at``."""
    return InputError(f"graph {at}{', ' if isinstance(error, Within) else ': '}{error}")


def stacked(ones: list[One], names: Names) -> Graphs:
    """Graphs one after the other; all must agree on what they bring."""
    node_ptr = np.concatenate([[0], np.cumsum([one.num_nodes for one in ones])]).astype(np.int64)
    edge_ptr = np.concatenate([[0], np.cumsum([len(one.src) for one in ones])]).astype(np.int64)

    def together(name: str, called: str, said: bool, convert: Callable[[Any], Any]) -> Any:
        per = "edge" if name in ("weight", "edge_label") else "node"
        size = (lambda one: one.num_nodes) if per == "node" else (lambda one: len(one.src))
        having = [at for at, one in enumerate(ones) if getattr(one, name) is not None]
        lacking = [at for at, one in enumerate(ones) if getattr(one, name) is None and size(one)]
        if lacking and said and not having:
            raise InputError(f"no {per} of any graph has the {called}; check the name")
        if not having:
            return None
        if lacking:
            raise InputError(
                f"graph {lacking[0]} has no {called}, but graph {having[0]} has "
                f"({len(lacking)} of {len(ones)} graphs have none); give it to all graphs or to none"
            )
        parts = []
        for at in having:
            try:
                part = convert(getattr(ones[at], name))
            except InputError as error:
                raise of_graph(at, error) from None
            if len(part) != size(ones[at]):
                raise InputError(
                    f"graph {at}: {called} has {len(part)} entries, one a {per} would be {size(ones[at])}"
                )
            parts.append(part)
        return parts

    called = names.attributes if names.attributes is not None else "x"
    xs = together("x", f"attributes {called!r}", bool(names.attributes), as_rows)
    if xs is not None:
        widths = {part.shape[1]: at for at, part in reversed(list(enumerate(xs))) if len(part)}
        if len(widths) > 1:
            (first, at), (other, then) = sorted(widths.items(), key=lambda pair: pair[1])[:2]
            raise InputError(
                f"graph {then} has {other} attributes {called!r} a node, but graph {at} has {first}; "
                "give every node the same attributes"
            )
        xs = np.concatenate([part for part in xs if len(part)] or [np.zeros((0, 0))])

    def attribute(name: str, said: str | None, usual: str, convert: Callable[[Any], Any]) -> Any:
        return together(name, f"attribute {said or usual!r}", said is not None, convert)

    weights = attribute("weight", names.weight, "weight", lambda w: as_numbers(w, "weight", "edge"))
    labels = attribute("node_label", names.label, "label", _listed)
    edge_labels = attribute("edge_label", names.edge_label, "edge_label", _listed)
    ids, ys = [one.id for one in ones], [one.y for one in ones]

    def flat(parts: list[list[Any]] | None) -> list[Any] | None:
        return None if parts is None else [value for part in parts for value in part]

    return handed_over(
        node_ptr,
        edge_ptr,
        np.concatenate([one.src for one in ones]),
        np.concatenate([one.dst for one in ones]),
        names,
        weight=None if weights is None else np.concatenate(weights),
        x=xs,
        directed=[one.directed for one in ones],
        columns=dict(
            node_label=flat(labels),
            edge_label=flat(edge_labels),
            id=ids if all(value is not None for value in ids) else None,
            y=ys if all(value is not None for value in ys) else None,
        ),
    )


def handed_over(
    node_ptr: np.ndarray,
    edge_ptr: np.ndarray,
    src: np.ndarray,
    dst: np.ndarray,
    names: Names,
    *,
    weight: np.ndarray | None,
    x: np.ndarray | None,
    columns: dict[str, Any],
    directed: list[bool] | None = None,
) -> Graphs:
    """The graphs on the Rust side."""
    scalars = _scalar_columns(
        columns,
        names,
        {"node_label": ("node", node_ptr), "edge_label": ("edge", edge_ptr)},
    )
    ends = _whole(src), _whole(dst)
    try:
        return Graphs.stacked(
            node_ptr, edge_ptr, *ends, weight=weight, x=x, directed=directed, **scalars
        )
    except InputError:
        # Rust looks at every number; only where it refused are they looked at again, for the
        # place and the name, which it does not know.
        _refuse_unfinite(x, "node", node_ptr, names.attributes or "x")
        _refuse_unfinite(weight, "edge", edge_ptr, names.weight or "weight")
        raise


def _refuse_unfinite(
    values: np.ndarray | None, what: str, ptr: np.ndarray, names: str | Sequence[str]
) -> None:
    """Refuses the first number that is not finite, by its place and its name."""
    bad = np.zeros((0, 1), int) if values is None else np.argwhere(~np.isfinite(values))
    if values is None or len(bad) == 0:
        return
    row, column = bad[0][0], bad[0][-1]
    # Attributes that are lists themselves have more columns than there are names.
    one_each = not isinstance(names, str) and len(names) == values.shape[-1]
    name, number = names[column] if one_each else names, values[tuple(bad[0])]
    raise InputError(f"{_place(row, what, ptr)}: {_no_number(name, number, what)}")


def _place(row: int, what: str, ptr: np.ndarray) -> str:
    """Where an entry of a column is that has one for each node, or each edge."""
    graph = int(np.searchsorted(ptr, row, side="right")) - 1
    return f"graph {graph}, {what} {row - ptr[graph]}"


# Pieces


def as_array(values: Any) -> np.ndarray:
    """Anything as an array, a tensor's own memory where that is possible."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError("rows of different lengths; give every node the same attributes") from None


def _whole(values: Any) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int64)


def as_numbers(values: Any, name: str, what: str = "node") -> np.ndarray:
    """The numbers of the attribute ``name``, which every node, or edge, has."""
    array = as_array(values)
    if array.dtype.kind not in "biuf":
        # An array has one kind: it has made texts of the numbers among texts.
        refuse_no_number(values if isinstance(values, list) else array, name, what)
        array = as_array(array.tolist())
    return np.ascontiguousarray(array, dtype=np.float64)


def refuse_no_number(values: Any, name: str, what: str) -> None:
    """Refuses the first entry that is no finite number; a row is that of a node or edge."""
    rows = values if isinstance(values, list) else np.atleast_1d(values)
    for at, row in enumerate(rows):
        for value in np.array(row, dtype=object).reshape(-1):
            if not is_number(value):
                raise Within(what, at, _no_number(name, value, what))


def _no_number(name: str | Sequence[str], value: Any, what: str) -> str:
    found = f"attribute {name!r} is {shown(value)}"
    if not isinstance(value, str):
        return f"{found}; fill in a finite number"
    named = "label=" if what == "node" else "edge_label="
    return f"{found}, but it must be a number; texts can be {what} labels: name them with {named}"


def as_rows(x: Any) -> np.ndarray:
    """Attributes, a row a node."""
    rows = as_numbers(x.toarray() if hasattr(x, "toarray") else x, "x")
    return np.ascontiguousarray(rows.reshape(len(rows), rows.size // max(len(rows), 1)))


def _listed(values: Any) -> list[Any]:
    return as_array(values).reshape(-1).tolist() if hasattr(values, "dtype") else list(values)


def _scalar_columns(
    columns: dict[str, Any], names: Names, within: dict[str, tuple[str, np.ndarray]]
) -> dict[str, Any]:
    """Columns of scalars, each of one kind; those of several are spelled as JSON. ``within``
    says of which columns an entry is one of a node or edge, and where graphs end there."""
    made: dict[str, Any] = {}
    spelled = []
    for name, values in columns.items():
        if values is None:
            continue
        values = _listed(values)
        kinds = {_scalar(value) for value in values}
        if None in kinds:
            at = next(at for at, value in enumerate(values) if _scalar(value) is None)
            place = _place(at, *within[name]) if name in within else f"graph {at}"
            said = {"node_label": names.label, "edge_label": names.edge_label}.get(name)
            raise InputError(
                f"{place}: attribute {said or name!r} is {shown(values[at])}; labels, ids and "
                "classes are whole numbers, numbers, texts or booleans"
            )
        if kinds <= {bool}:
            made[name] = [bool(value) for value in values]
        elif kinds == {int}:
            try:
                made[name] = np.array(values, np.int64)
            except OverflowError:
                at = next(at for at, value in enumerate(values) if not -(2**63) <= value < 2**63)
                place = _place(at, *within[name]) if name in within else f"graph {at}"
                raise InputError(
                    f"{place}: {name} {values[at]} does not fit 64 bits; write it as a text"
                ) from None
        elif kinds == {float}:
            made[name] = np.array(values, np.float64)
        elif kinds == {str}:
            made[name] = [str(value) for value in values]
        else:
            spelled.append(name)
            made[name] = [
                json.dumps(getattr(value, "item", lambda v=value: v)()) for value in values
            ]
    return {**made, "json": ",".join(spelled)}


def _scalar(value: Any) -> type | None:
    """What kind of scalar this is; ``None`` where it is none."""
    if isinstance(value, (bool, np.bool_)):
        return bool
    if isinstance(value, (int, np.integer)):
        return int
    if isinstance(value, (float, np.floating)):
        return float
    return str if isinstance(value, str) else None
