"""Graphs of every kind into :class:`Graphs`: what :func:`graphs` takes, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from ._adapters import adapter_of, converted, in_array, kind_of
from ._attributes import say_passed_over
from ._hg2v import Graphs
from ._long import is_long, of_long
from ._notices import say_refused
from ._parameters import check_kinds, check_one_of
from ._read import Read, joined
from ._scalars import Names
from ._stacked import agreed, each_stacked, stacked
from ._tables import column_of, is_table, of_table
from ._whole import of_lines, of_smiles, parts_of, pyg_whole
from ._words import Directed, OnErrorReading
from .errors import InputError

#: How graphs are read: the parameters of :func:`graphs`, which estimators have too.
READING = (
    *("attributes", "label", "weight", "edge_label", "edge_attrs"),
    *("directed", "atom_attributes"),
)


def graphs(
    data: Any,
    *,
    attributes: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    edge_label: str | None = None,
    edge_attrs: str | Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    directed: Directed = "keep",
    atom_attributes: bool = False,
    errors: OnErrorReading = "raise",
) -> Graphs:
    """Graphs of any kind as one collection, which every method of hg2v takes.

    Args:
        data: a list of graphs of networkx, PyTorch Geometric, igraph, rustworkx or DGL, of
            scipy sparse matrices, of adjacency arrays, where 0 is no edge (or one such array, or
            a stack ``(graphs, nodes, nodes)``), of pairs ``(edge_index, x)``, of mappings with keys
            ``edge_index`` (or ``src`` and ``dst``), ``x``, ``num_nodes``, ``nodes`` (their
            names), ``weight``, ``node_label``, ``edge_label``, ``edge_x``, ``id``, ``y``, or with
            the keys of a line of JSONL (``edges``, ``node_labels``, …), of SMILES or molecules of RDKit; a
            column of such things: a Series of pandas or polars, an array of pyarrow or numpy; a
            PyTorch Geometric ``Batch`` or dataset; a table of Arrow, polars, pandas or DuckDB,
            one row a graph, or one row an edge (below); or the path of a file or folder. What networkx, igraph and rustworkx
            say of a graph under ``id`` and ``y`` is its id and its class; networkx's ``name`` is
            the id where there is no ``id``. Several numbers or classes to predict are a list or a
            mapping ``y``, a row ``y`` of PyTorch Geometric, columns ``y.NAME`` of a table. Parallel
            edges and directions are kept. Names of nodes are kept for files and tables.
        attributes: the node attributes that are numbers, by name; where nodes bring an ``x``,
            it need not be said. Where neither this nor ``label`` is said, attributes that are
            not used are warned of; ``[]`` takes none.
        label: the node attribute that is a label; ``label`` need not be said.
        weight: the edge attribute that is a weight; ``weight`` need not be said.
        edge_label: the edge attribute that is a label, the kind of the edge; ``label`` need not be
            said, nor an ``edge_attr`` of one whole number an edge, or one that is one-hot in all
            graphs.
        edge_attrs: the edge attributes that are numbers, by name; ``x`` need not be said, nor any
            other ``edge_attr`` of PyTorch Geometric and DGL; ``[]`` takes none.
        target: which of several numbers or classes to predict are kept, by name: one becomes the
            class or number of each graph (:meth:`Graphs.labels`), others stay
            (:meth:`Graphs.targets`).
        directed: ``"keep"`` takes directed graphs, whose directions estimators see, or do not with
            ``direction="ignore"``; ``"refuse"`` raises; ``"always"`` takes graphs that cannot say
            it, of PyTorch Geometric, DGL, matrices and arrays, for directed too: an edge goes from
            the first to the second, or from row to column.
        atom_attributes: whether atoms of molecules have numbers, too, such as their mass, valence
            and rings, wherever they come from: SMILES, molecules of RDKit, tables or files.
        errors: ``"raise"`` refuses a collection for one graph that cannot be used; ``"skip"``
            leaves such graphs out, and warns of them.

    A table with one row an edge has columns ``graph`` (or ``graph_id``), ``src`` (``source``, ``u``)
    and ``dst`` (``target``, ``v``). A mapping ``{"edges": …, "nodes": …, "graphs": …}`` has two more
    such tables, either of which may be left out: of nodes, with columns ``graph`` and ``node``, where
    some have no edge, and of graphs, with ``graph``, ``y`` or ``y.NAME``, ``id`` and ``directed``.
    Columns ``weight`` and ``label``, and all others that are numbers, are used as those of a folder of
    CSV files are, unless the parameters name some. Graphs come in the order of the table of graphs,
    else in that in which they first appear, in the nodes if there are any; nodes likewise. Rows in
    messages count from 0. What takes a collection apart, as scikit-learn's splits do, needs graphs
    in place of rows: ``hg2v.graphs(edges)``.

    Example:
        >>> import hg2v
        >>> path, ring = [[0, 1], [1, 2]], [[0, 1, 2], [1, 2, 0]]
        >>> both = hg2v.graphs([(path, None), {"edge_index": ring, "num_nodes": 4}])
        >>> both.num_nodes().tolist(), both.num_edges().tolist()
        ([3, 4], [2, 3])

        Edges of many graphs in one table, and a node without any:

        >>> import pandas
        >>> edges = pandas.DataFrame({"graph": ["a", "b"], "src": ["u", "u"], "dst": ["v", "v"]})
        >>> nodes = pandas.DataFrame({"graph": list("aabbb"), "node": list("uvuvw")})
        >>> hg2v.graphs(edges).num_nodes().tolist()
        [2, 2]
        >>> hg2v.graphs({"edges": edges, "nodes": nodes}).num_nodes().tolist()
        [2, 3]

        The command (``hg2v info``, ``report``, ``search``, ``serve``) reads what is written:

        >>> hg2v.graphs([(path, None)]).write("graphs.jsonl")  # or .jsonl.gz, .parquet

    Raises:
        InputError: with the position of the graph and the name of the attribute, or the row and
            the column.
    """
    check_one_of("errors", errors, *get_args(OnErrorReading))
    check_kinds(graphs, dict(target=target))
    reading = dict(
        **dict(attributes=attributes, label=label, weight=weight),
        **dict(edge_label=edge_label, edge_attrs=edge_attrs, directed=directed),
        atom_attributes=atom_attributes,
    )
    found = read(data, reading, skip=errors == "skip")
    if found.refused:
        say_refused(found.refused, found.count, "and are left out")
    if target is None:
        return found.graphs
    return found.graphs.choose([target] if isinstance(target, str) else list(target))


def read(data: Any, reading: Mapping[str, Any], skip: bool) -> Read:
    """Graphs of any kind, read as :func:`graphs` is told; with ``skip``, without those that cannot
    be used."""
    check_reading(reading)
    wanted = (reading["attributes"], reading["edge_attrs"])
    attributes, edge_attrs = (
        name if name is None or isinstance(name, str) else list(name) for name in wanted
    )
    named = (reading["label"], reading["weight"], reading["edge_label"])
    always, atoms = reading["directed"] == "always", bool(reading["atom_attributes"])
    names = Names(attributes, *named, edge_attrs, always, atoms)
    found = _collection(data, names, skip)
    if reading["directed"] == "refuse":
        fix = "make it undirected, or say directed='keep'"
        directed = [int(at) for at in found.graphs.directed()]
        if directed and not skip:
            raise InputError("it is directed", directed[0], fix=fix)
        found = found.without((at, InputError("it is directed", fix=fix).said) for at in directed)
    return found


def check_reading(reading: Mapping[str, Any]) -> None:
    """Refuses what :func:`graphs` cannot be told."""
    check_kinds(graphs, reading)
    check_one_of("directed", reading.get("directed", "keep"), *get_args(Directed))


def _collection(data: Any, names: Names, skip: bool) -> Read:
    if isinstance(data, Graphs):
        return Read(data)
    if isinstance(data, (str, os.PathLike)):
        return _file(data, skip, names)
    if is_long(data):
        return of_long(data, names, skip)
    listed = column_of(data)
    listed = in_array(data) if listed is None else listed
    if listed is not None:
        data = listed
    elif is_table(data):
        return of_table(data, skip, names.atoms)
    parts = parts_of(data)
    if parts is not None:
        say_passed_over((parts[at] for at in range(len(parts))), names)
        try:
            whole = pyg_whole(data, names)
        except InputError:
            if not skip:
                raise
            whole = None
        if whole is not None:
            return Read(whole)
    elif data is None or isinstance(data, (bytes, Mapping)) or adapter_of(data) is not None:
        many = "; list(it.values()) is one" if isinstance(data, Mapping) and _holds(data) else ""
        raise InputError(
            f"graphs are expected, but this is one {kind_of(data)}",
            fix=f"give a list of graphs, a table, or the path of a file{many}",
        )
    try:
        items = list(data if parts is None else parts)
    except TypeError:
        raise InputError(f"graphs are expected, but this is a {kind_of(data)}") from None
    if all(isinstance(item, Graphs) for item in items):
        return Read(Graphs.concat(items))
    if all(isinstance(item, os.PathLike) for item in items):
        return joined(_file(item, skip, names) for item in items)
    if all(isinstance(item, Mapping) and "edges" in item for item in items):
        return of_lines(items, skip)
    if items and all(isinstance(item, str) for item in items):
        return of_smiles(items, skip, names.atoms)
    if parts is None:
        say_passed_over(items, names)
    return _of_items(items, names, skip)


def _holds(data: Mapping[Any, Any]) -> bool:
    """Whether a mapping is one of graphs by their names."""
    return len(data) > 0 and all(adapter_of(item) is not None for item in data.values())


def _of_items(items: Sequence[Any], names: Names, skip: bool) -> Read:
    """Graphs of which each may be another library's."""
    ones, refused = [], {}
    for at, item in enumerate(items):
        try:
            ones.append(converted(item, names, at))
        except InputError as error:
            if not skip:
                raise
            refused[at] = error.said
    ones = agreed(ones)
    try:
        found = Read(stacked(ones, names) if ones else Graphs.concat([]))
    except InputError:
        if not skip:
            raise
        found = each_stacked(ones, names)
    return Read(found.graphs, dict(sorted({**refused, **found.refused}.items())))


def _file(path: str | os.PathLike[str], skip: bool, names: Names) -> Read:
    """The graphs of a file or folder, or of a set of ``HG2V_DATA`` by its name."""
    try:
        known = os.environ.get("HG2V_DATA")
        made, refused = Graphs.read(os.fspath(path), known, skip, names.atoms)
        return Read(made, dict(refused))
    except InputError as error:
        if not isinstance(path, str) or error.kind != "not-found":
            raise
        raise error.hinting("SMILES are given in a list") from None
