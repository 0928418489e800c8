"""Graphs as plain arrays, one after the other, handed over to Rust in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._hg2v import Graphs
from ._parameters import is_number
from ._read import Read
from ._scalars import Entries, Names, Within, as_array, listed, scalar_columns, some
from ._targets import handed_over as targets_handed_over
from ._targets import split
from .errors import InputError, shown


@dataclass
class One:
    """A graph as arrays, and its position among all that were given."""

    num_nodes: int
    src: Any
    dst: Any
    at: int = 0
    nodes: list[Any] | None = None
    weight: Any = None
    x: Any = None
    node_label: Any = None
    edge_label: Any = None
    edge_x: Any = None
    #: What kinds edges are of, where their attributes are one-hot.
    kinds: Any = None
    #: Whether all edges weigh 1 where there is no weight, as entries of a matrix do.
    plain: bool = False
    directed: bool = False
    id: Any = None
    y: Any = None


def agreed(ones: list[One]) -> list[One]:
    """The same, with kinds of edges in the place of attributes where those are one-hot in all
    graphs, and with the weights of matrices where any graph has weights."""
    if any(one.weight is not None for one in ones):
        for one in ones:
            if one.plain:
                one.weight = np.ones(len(one.src))
    if any(one.edge_x is not None and one.kinds is None for one in ones):
        return ones
    for one in ones:
        if one.kinds is not None:
            one.edge_x, one.edge_label = None, one.kinds
    return ones


def each_stacked(ones: list[One], names: Names) -> Read:
    """As :func:`stacked`, without the graphs that cannot be used. Whether those that are left have
    the same features is not looked at here: a model knows which it needs."""
    refused = {
        **_unlike_most(ones, "weight", names.weight or "weight"),
        **_unlike_most(ones, "edge_label", names.edge_label or "edge_label"),
        **_unlike_most(ones, "edge_x", _called(names.edge_attrs, "edge_x")),
    }
    made = []
    for one in ones:
        try:
            if one.at not in refused:
                made.append(stacked([one], names))
        except InputError as error:
            refused[one.at] = error.said
    return Read(Graphs.concat(made), refused)


def _unlike_most(ones: list[One], name: str, called: str) -> dict[int, str]:
    """The graphs whose edges have an attribute that those of most graphs lack, or the other way
    round; of equally many, the first decide."""
    having = [one.at for one in ones if getattr(one, name) is not None]
    lacking = [one.at for one in ones if getattr(one, name) is None and _size(one, "edge")]
    most = max(having, lacking, key=lambda side: (len(side), -min(side, default=0)))
    problem = f"its edges have {{}} attribute {called!r}, unlike those of most graphs"
    few, has = (lacking, "no") if most is having else (having, "an")
    return {at: problem.format(has) for at in few}


def _check_agreement(ones: list[One], name: str, called: str, said: bool) -> None:
    """Refuses graphs of which some have an attribute and others have not; where it was ``said``
    to be there, also that none has it."""
    per = _per(name)
    having = [one.at for one in ones if getattr(one, name) is not None]
    lacking = [one.at for one in ones if getattr(one, name) is None and _size(one, per)]
    if lacking and said and not having:
        raise InputError(f"no {per} of any graph has the {called}", fix="check the name")
    if lacking and having:
        raise InputError(
            f"graph {lacking[0]} has no {called}, but graph {having[0]} has "
            f"({len(lacking)} of {len(ones)} graphs have none)",
            fix="give it to all graphs or to none",
            kind="unlike",
        )


def _per(name: str) -> str:
    return "edge" if name in ("weight", "edge_label", "edge_x") else "node"


def _called(said: str | Sequence[str] | None, usual: str) -> Any:
    return usual if said is None else said


def _size(one: One, per: str) -> int:
    return one.num_nodes if per == "node" else len(one.src)


def stacked(ones: list[One], names: Names) -> Graphs:
    """Graphs one after the other; all must agree on what they bring."""
    node_ptr = np.concatenate([[0], np.cumsum([one.num_nodes for one in ones])]).astype(np.int64)
    edge_ptr = np.concatenate([[0], np.cumsum([len(one.src) for one in ones])]).astype(np.int64)

    def together(name: str, called: str, said: bool, convert: Callable[[Any], Any]) -> Any:
        _check_agreement(ones, name, called, said)
        per = _per(name)
        parts = []
        for one in ones:
            if getattr(one, name) is None:
                continue
            try:
                part = convert(getattr(one, name))
            except InputError as error:
                raise error.of_graph(one.at) from None
            except Exception as error:  # Whatever a stranger's class does.
                problem = f"{called} is {shown(getattr(one, name))}"
                raise InputError(problem, one.at, fix=f"give a list, one a {per}") from error
            if len(part) != _size(one, per):
                raise InputError(
                    f"{called} has {len(part)} entries, one a {per} would be {_size(one, per)}",
                    one.at,
                )
            parts.append(part)
        return parts or None

    def rows(name: str, said: str | Sequence[str] | None) -> np.ndarray | None:
        called, per = _called(said, name), _per(name)

        def convert(x: Any) -> np.ndarray:
            return as_rows(x, name, per)

        parts = together(name, f"attributes {called!r}", bool(said), convert)
        if parts is None:
            return None
        having = [one.at for one in ones if getattr(one, name) is not None]
        pairs = reversed(list(zip(having, parts)))
        widths = {part.shape[1]: at for at, part in pairs if len(part)}
        if len(widths) > 1:
            (first, at), (other, then) = sorted(widths.items(), key=lambda pair: pair[1])[:2]
            a = "an edge" if per == "edge" else "a node"
            raise InputError(
                f"graph {then} has {other} attributes {called!r} {a}, but graph {at} has {first}",
                fix=f"give every {per} the same attributes",
                kind="unlike",
            )
        return np.concatenate([part for part in parts if len(part)] or [np.zeros((0, 0))])

    xs, edge_xs = rows("x", names.attributes), rows("edge_x", names.edge_attrs)

    def attribute(name: str, said: str | None, usual: str, convert: Callable[[Any], Any]) -> Any:
        return together(name, f"attribute {said or usual!r}", said is not None, convert)

    weights = attribute("weight", names.weight, "weight", lambda w: as_numbers(w, "weight", "edge"))
    labels = attribute("node_label", names.label, "label", listed)
    edge_labels = attribute("edge_label", names.edge_label, "edge_label", listed)

    classes, targets = split(one.y for one in ones)

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
        edge_x=edge_xs,
        targets=targets,
        directed=[one.directed for one in ones],
        columns=dict(
            nodes=_names(ones),
            node_label=flat(labels),
            edge_label=flat(edge_labels),
            id=some([one.id for one in ones]),
            y=some(classes),
        ),
        positions=[one.at for one in ones],
    )


def _names(ones: list[One]) -> list[Any] | None:
    """The names of all nodes; ``None`` where they are 0 … n−1 in every graph."""
    if all(one.nodes is None for one in ones):
        return None
    names: list[Any] = []
    for one in ones:
        own = range(one.num_nodes) if one.nodes is None else one.nodes
        if len(own) != one.num_nodes:
            raise InputError(f"nodes has {len(own)} names for {one.num_nodes} nodes", one.at)
        names.extend(own)
    return names


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
    edge_x: np.ndarray | None = None,
    targets: Mapping[str, list[Any]] | None = None,
    directed: list[bool] | None = None,
    positions: Sequence[int] | None = None,
) -> Graphs:
    """The graphs on the Rust side; ``positions`` are those in what was given."""
    positions = range(len(node_ptr) - 1) if positions is None else positions
    nodes, edges = Entries("node", node_ptr, positions), Entries("edge", edge_ptr, positions)
    within = {"nodes": nodes, "node_label": nodes, "edge_label": edges}
    scalars = scalar_columns(columns, names, positions, within)
    scalars.update(targets_handed_over(targets or {}, positions))
    ends = _whole(src), _whole(dst)
    try:
        return Graphs.stacked(
            *(node_ptr, edge_ptr, *ends),
            **dict(weight=weight, x=x, edge_x=edge_x, directed=directed, **scalars),
        )
    except InputError as error:
        # Rust looks at every number; only where it refused are they looked at again, for the
        # place and the name, which it does not know.
        _refuse_unfinite(x, nodes, names.attributes or "x")
        _refuse_unfinite(weight, edges, names.weight or "weight")
        _refuse_unfinite(edge_x, edges, names.edge_attrs or "edge_x")
        raise error if error.graph is None else error.of_graph(positions[error.graph]) from None


def _refuse_unfinite(
    values: np.ndarray | None, entries: Entries, names: str | Sequence[str]
) -> None:
    """Refuses the first number that is not finite, by its place and its name."""
    bad = np.zeros((0, 1), int) if values is None else np.argwhere(~np.isfinite(values))
    if values is None or len(bad) == 0:
        return
    row, column = bad[0][0], bad[0][-1]
    # Attributes that are lists themselves have more columns than there are names.
    one_each = not isinstance(names, str) and len(names) == values.shape[-1]
    name, number = names[column] if one_each else names, values[tuple(bad[0])]
    raise entries.refused(row, *_no_number(name, number, entries.what))


# Pieces


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
                raise Within(what, at, *_no_number(name, value, what))


def _no_number(name: str | Sequence[str], value: Any, what: str) -> tuple[str, str]:
    """What is wrong, and what to do."""
    found = f"attribute {name!r} is {shown(value)}"
    if not isinstance(value, str):
        return found, "fill in a finite number"
    named = "label=" if what == "node" else "edge_label="
    fix = f"texts can be {what} labels: name them with {named}"
    return f"{found}, but it must be a number", fix


def as_rows(x: Any, name: str = "x", what: str = "node") -> np.ndarray:
    """Attributes, a row a node or edge."""
    rows = as_numbers(x.toarray() if hasattr(x, "toarray") else x, name, what)
    return np.ascontiguousarray(rows.reshape(len(rows), rows.size // max(len(rows), 1)))
