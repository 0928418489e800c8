"""Graphs as long tables: a row an edge, and perhaps a row a node and a row a graph, with the columns
of a folder of CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ._hg2v import Graphs
from ._notices import say_unused
from ._read import Read
from ._rows import (
    DST,
    GRAPH,
    SRC,
    Faults,
    Rows,
    Said,
    columns_of,
    has_lists,
    no_label,
    no_name,
    one_of,
    scalars,
)
from ._scalars import Names, is_missing, some
from ._stacked import handed_over
from ._tables import is_table
from .errors import InputError, shown


def is_long(data: Any) -> bool:
    """Whether this is a table with a row an edge, or several tables by name."""
    if isinstance(data, Mapping):
        return is_table(data.get("edges"))
    if not is_table(data):
        return False
    src, dst = (one_of(columns_of(data), names) for names in (SRC, DST))
    return src is not None and dst is not None and not has_lists(data, src)


def refuse_long(data: Any) -> None:
    """Refuses a table with a row an edge, where one with a row a graph is expected."""
    if is_long(data):
        raise InputError(
            "this table has a row an edge, but a row a graph is expected",
            fix="give hg2v.to_arrow(table), whose columns `src` and `dst` are lists of integers",
            kind="column",
        )


def of_long(data: Any, names: Names, skip: bool) -> Read:
    """The graphs of long tables, in the order in which they first appear; with ``skip``, without
    those that cannot be used."""
    tables = data if isinstance(data, Mapping) else {"edges": data}
    unknown = [name for name in tables if name not in ("edges", "nodes", "graphs")]
    if unknown:
        raise InputError(
            f"{unknown[0]!r} is no table of graphs", fix="give 'edges', and 'nodes' and 'graphs'"
        )
    graphs, nodes, edges = (
        None if tables.get(name) is None else Rows.of(name, tables[name], names)
        for name in ("graphs", "nodes", "edges")
    )
    assert edges is not None
    wanted = names.label or names.attributes
    if nodes is None and wanted:
        raise InputError(
            f"there is no table of nodes, which would have {wanted!r}",
            fix='give {"edges": edges, "nodes": nodes}',
            kind="column",
        )
    known = _number_graphs(graphs, [rows for rows in (nodes, edges) if rows is not None])
    faults = Faults(skip)
    for rows in (nodes, edges):
        if rows is not None:
            rows.read(faults)
    count = len(known)
    of_nodes, src, dst = _number_nodes(nodes, edges, count, faults)
    whole = None if graphs is None else _of_graphs(graphs, faults)

    good = np.ones(count, bool)
    good[list(faults.refused)] = False
    kept = np.flatnonzero(good)
    if len(kept) == 0:
        return Read(Graphs.concat([]), faults.refused)
    order = np.argsort(edges.graph, kind="stable")
    order = order[good[edges.graph[order]]]
    their = good[of_nodes.graph]
    if nodes is not None:
        nodes.take(of_nodes.rows[their])
    edges.take(order)
    made = handed_over(
        _ends(of_nodes.graph[their], kept),
        _ends(edges.graph, kept),
        src[order],
        dst[order],
        names,
        weight=edges.weight,
        x=None if nodes is None else nodes.x,
        edge_x=edges.x,
        targets={}
        if whole is None
        else {name: _at(of, kept) for name, of in whole.targets.items()},
        directed=[names.directed] * len(kept) if whole is None else _at(whole.directed, kept),
        columns=dict(
            nodes=None if of_nodes.names is None else _at(of_nodes.names, np.flatnonzero(their)),
            node_label=None if nodes is None else nodes.label,
            edge_label=edges.label,
            id=some(_at(known if whole is None else whole.ids, kept)),
            y=None if whole is None else some(_at(whole.classes, kept)),
        ),
        positions=kept.tolist(),
    )
    return Read(made, dict(sorted(faults.refused.items())))


def _at(values: Any, places: np.ndarray) -> list[Any]:
    """Some of the values, as a list of Python's."""
    if isinstance(values, np.ndarray):
        return list(values[places].tolist())
    return [values[at] for at in places.tolist()]


def _ends(graph: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Where the rows of each graph end, of which the first begins at 0."""
    counts = np.bincount(graph, minlength=int(kept[-1]) + 1)[kept]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _codes(columns: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """The values of columns as numbers, counted by their first appearance, and the values."""
    splits = np.cumsum([len(column) for column in columns])[:-1]
    filled = [column for column in columns if len(column)]
    if all(column.dtype.kind == "i" for column in filled):
        together = np.concatenate([np.zeros(0, np.int64), *filled])
        values, first, inverse = np.unique(together, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return np.split(place[inverse], splits), values[order]
    listed = list(chain.from_iterable(column.tolist() for column in columns))
    # Python takes True for 1.
    keys = [(bool, value) if isinstance(value, bool) else value for value in listed]
    index = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    found = np.empty(len(index), object)
    found[:] = [key[1] if isinstance(key, tuple) else key for key in index]
    codes = np.fromiter(map(index.__getitem__, keys), np.int64, len(keys))
    return np.split(codes, splits), found


# Graphs


def _number_graphs(graphs: Rows | None, others: list[Rows]) -> np.ndarray:
    """Tells each row the position of its graph, and gives what graphs are called."""
    fix = "add one that says which graph a row is of"
    keys = [(rows, rows.column(*GRAPH, fix=fix)) for rows in others]
    if graphs is not None:
        keys.insert(0, (graphs, graphs.column(*GRAPH, "id")))
    columns = []
    for rows, key in keys:
        values, bad = scalars(rows.arrays[key])
        if bad.any():
            raise rows.error(int(np.argmax(bad)), key, no_name)
        columns.append(values)
    codes, known = _codes(columns)
    for (rows, key), of_rows in zip(keys, codes):
        if graphs is not None and rows is graphs:
            if len(known) and len(np.unique(of_rows)) < len(of_rows):
                _, first = np.unique(of_rows, return_index=True)
                again = np.setdiff1d(np.arange(len(of_rows)), first)
                raise rows.error(int(again[0]), key, _twice("graph"))
        elif graphs is not None and (of_rows >= len(graphs)).any():
            raise rows.error(int(np.argmax(of_rows >= len(graphs))), key, _unlisted("graph"))
        rows.graph = of_rows
    return known


def _twice(what: str) -> Said:
    return lambda value: (f"{what} {shown(value)} is listed twice", f"list every {what} once")


def _unlisted(what: str) -> Said:
    fix = f"list every {what} there, or leave the row out"
    return lambda value: (f"{shown(value)} is no {what} that the {what}s list", fix)


@dataclass
class _Nodes:
    """All nodes, graph after graph."""

    #: The graph of each.
    graph: np.ndarray
    #: What they are called; ``None`` where it is 0 … n−1 in every graph.
    names: np.ndarray | None
    #: Which row lists each, where rows do.
    rows: np.ndarray


def _number_nodes(
    nodes: Rows | None, edges: Rows, count: int, faults: Faults
) -> tuple[_Nodes, np.ndarray, np.ndarray]:
    """The nodes of all ``count`` graphs, and the positions of the ends of edges among those of
    their graph."""
    tables = [edges] if nodes is None else [nodes, edges]
    codes, known = _codes([of for rows in tables for of in rows.scalars.values()])
    src, dst = (edges.graph * len(known) + of for of in codes[-2:])
    if nodes is None:
        return _met(src, dst, edges.graph, known, count)
    keys = nodes.graph * len(known) + codes[0]
    found, first = np.unique(keys, return_index=True)
    again = np.ones(len(nodes), bool)
    again[first] = False
    (column,) = nodes.scalars
    faults.add(nodes, column, again, _twice("node"))
    order = np.argsort(nodes.graph, kind="stable")
    graph = nodes.graph[order]
    place = np.empty(len(nodes), np.int64)
    place[order] = _within(graph, count)

    def place_of(name: str, ends: np.ndarray) -> np.ndarray:
        at = np.searchsorted(found, ends)
        listed = np.append(found, -1)[at] == ends
        faults.add(edges, name, ~listed, _unlisted("node"))
        return place[first[np.where(listed, at, 0)]] if len(found) else ends * 0

    src, dst = (place_of(name, ends) for name, ends in zip(edges.scalars, (src, dst)))
    names = known[codes[0][order]]
    plain = bool((names == place[order]).all()) and names.dtype.kind == "i"
    return _Nodes(graph, None if plain else names, order), src, dst


def _met(
    src: np.ndarray, dst: np.ndarray, graph: np.ndarray, known: np.ndarray, count: int
) -> tuple[_Nodes, np.ndarray, np.ndarray]:
    """As :func:`_number_nodes`, where the nodes are those that edges name: in order of their first
    appearance, or 0 … n−1 where they are called just that."""
    keys = np.stack([src, dst], axis=1).reshape(-1)
    found, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    of, names = np.divmod(found, max(len(known), 1))
    numbers = known
    if known.dtype.kind == "O":
        numbers = np.array([name if type(name) is int else -1 for name in known.tolist()], object)
    number = numbers[names]
    beyond = (number < 0) | (number >= np.bincount(of, minlength=count)[of])
    plain = np.bincount(of[beyond.astype(bool)], minlength=count) == 0
    order = np.lexsort((np.where(plain[of], number, first).astype(np.int64), of))
    place = np.empty(len(found), np.int64)
    place[order] = _within(of[order], count)
    ends = place[inverse].reshape(-1, 2)
    called = None if plain.all() else known[names[order]]
    return _Nodes(of[order], called, order), ends[:, 0], ends[:, 1]


def _within(graph: np.ndarray, count: int) -> np.ndarray:
    """The position of each of some rows among those of its graph; rows are sorted by graph."""
    counts = np.bincount(graph, minlength=count)
    return np.arange(len(graph)) - np.repeat(np.cumsum(counts) - counts, counts)


@dataclass
class _OfGraphs:
    """What a table says of graphs."""

    ids: Any
    classes: list[Any]
    targets: dict[str, list[Any]]
    directed: list[bool]


def _of_graphs(rows: Rows, faults: Faults) -> _OfGraphs:
    arrays, names = rows.arrays, rows.names
    key = rows.column(*GRAPH, "id")
    label = one_of(list(arrays), ("y", "label"))
    targets = [name for name in arrays if name.startswith("y.")]
    used = {key, "id", label, "directed", *targets}
    others = {name: of[0] for name, of in arrays.items() if name not in used and len(of)}
    say_unused("graph", [others], used=())

    def values(name: str) -> list[Any]:
        made, bad = scalars(arrays[name])
        missing = np.fromiter(map(is_missing, arrays[name].tolist()), bool, len(made))
        faults.add(rows, name, bad & ~missing, no_label)
        return [None if none else value for value, none in zip(made.tolist(), bad)]

    directed = [names.directed] * len(rows)
    if "directed" in arrays:
        said = values("directed")
        directed = [names.directed if value is None else value in (True, 1) for value in said]
        wrong = [value not in (None, True, False, 0, 1) for value in said]
        faults.add(rows, "directed", np.array(wrong, bool), _no_truth)
    return _OfGraphs(
        ids=values("id") if "id" in arrays else values(key),
        classes=[None] * len(rows) if label is None else values(label),
        targets={name.removeprefix("y."): values(name) for name in targets},
        directed=directed,
    )


def _no_truth(value: Any) -> tuple[str, str]:
    return f"it is {shown(value)}, neither true nor false", "write True or False"
