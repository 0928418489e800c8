"""Graphs of every kind into :class:`Graphs`: what :func:`graphs` takes, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._adapters import adapter_of, converted, dgl_parts, first_nodes, kind_of, of_lines, pyg_whole
from ._hg2v import Graphs
from ._notices import say_unused
from ._parameters import check_kinds
from ._stacked import Names, stacked
from .errors import InputError, shown

#: How graphs are read: the parameters of :func:`graphs`, which estimators have too.
READING = ("attributes", "label", "weight", "edge_label", "directed")


def graphs(
    data: Any,
    *,
    attributes: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    edge_label: str | None = None,
    directed: str = "undirected",
) -> Graphs:
    """Graphs of any kind as one collection, which every method of hg2v takes.

    Args:
        data: a list of graphs of networkx, PyTorch Geometric, igraph, rustworkx or DGL, of
            scipy sparse matrices, of pairs ``(edge_index, x)``, of mappings with keys
            ``edge_index``, ``x``, ``num_nodes``, ``weight``, ``node_label``, ``edge_label``,
            ``id``, ``y``, or with the keys of a line of JSONL (``edges``, ``node_labels``, …), of
            SMILES or molecules of RDKit; a PyTorch Geometric ``Batch`` or dataset; a table of
            Arrow, polars, pandas or DuckDB, one row a graph; or the path of a file or folder.
            What networkx, igraph and rustworkx say of a graph under ``id`` and ``y`` is its id
            and its class; networkx's ``name`` is the id where there is no ``id``.
        attributes: the node attributes that are numbers, by name; where nodes bring an ``x``,
            it need not be said. Where neither this nor ``label`` is said, attributes that are
            not used are warned of; ``[]`` takes none.
        label: the node attribute that is a label; ``label`` need not be said.
        weight: the edge attribute that is a weight; ``weight`` need not be said.
        edge_label: the edge attribute that is a label. It is kept, for files and tables, but no
            method uses it.
        directed: ``"undirected"`` lets estimators read directed edges as undirected ones, which
            they warn of; ``"refuse"`` raises.

    Example:
        >>> import hg2v
        >>> path, ring = [[0, 1], [1, 2]], [[0, 1, 2], [1, 2, 0]]
        >>> both = hg2v.graphs([(path, None), {"edge_index": ring, "num_nodes": 4}])
        >>> both.num_nodes().tolist(), both.num_edges().tolist()
        ([3, 4], [2, 3])

        The command (``hg2v info``, ``report``, ``search``, ``serve``) reads what is written:

        >>> hg2v.graphs([(path, None)]).write("graphs.jsonl")  # or .jsonl.gz, .parquet

    Raises:
        InputError: with the position of the graph and the name of the attribute.
    """
    check_reading(
        dict(
            attributes=attributes,
            label=label,
            weight=weight,
            edge_label=edge_label,
            directed=directed,
        )
    )
    wanted = attributes if attributes is None or isinstance(attributes, str) else list(attributes)
    made = _collection(data, Names(wanted, label, weight, edge_label))
    if directed == "refuse" and len(made.directed()):
        raise InputError(
            f"graph {made.directed()[0]} is directed; make it undirected, or say "
            "directed='undirected'"
        )
    return made


def check_reading(reading: Mapping[str, Any]) -> None:
    """Refuses what :func:`graphs` cannot be told."""
    check_kinds(graphs, reading)
    directed = reading.get("directed", "undirected")
    if directed not in ("undirected", "refuse"):
        raise InputError(f"directed is {shown(directed)}, but it must be 'undirected' or 'refuse'")


def _collection(data: Any, names: Names) -> Graphs:
    if isinstance(data, Graphs):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _read(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return Graphs.from_arrow(data)
    if hasattr(data, "to_arrow_table"):  # DuckDB's relations
        return Graphs.from_arrow(data.to_arrow_table())
    whole = pyg_whole(data, names)
    if whole is not None:
        return whole
    parts = dgl_parts(data)
    one = data is None or isinstance(data, (bytes, Mapping)) or adapter_of(data) is not None
    if one and parts is None:
        raise InputError(
            f"graphs are expected, but this is one {kind_of(data)}; give a list of graphs, "
            "a table, or the path of a file"
        )
    try:
        items = list(data if parts is None else parts)
    except TypeError:
        raise InputError(f"graphs are expected, but this is a {kind_of(data)}") from None
    if not items:
        raise InputError("there are no graphs; give at least one")
    if all(isinstance(item, Graphs) for item in items):
        return Graphs.concat(items)
    if all(isinstance(item, os.PathLike) for item in items):
        return Graphs.concat([_read(item) for item in items])
    if all(isinstance(item, Mapping) and "edges" in item for item in items):
        return of_lines(items)
    if names.attributes is None and names.label is None:
        say_unused(first_nodes(items), used=("x", "label"))
    return stacked([converted(item, names, at) for at, item in enumerate(items)], names)


def _read(path: str | os.PathLike[str]) -> Graphs:
    """The graphs of a file or folder, or of a set of ``HG2V_DATA`` by its name."""
    return Graphs.read(os.fspath(path), os.environ.get("HG2V_DATA"))
