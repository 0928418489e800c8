"""Graphs of every library into :class:`Graphs`.

A library is recognised by the name of the module that a graph's class comes from, so that
nothing is imported which is not there already. Each adapter makes a :class:`_One`: plain
arrays; :func:`_stacked` lays them one after the other and hands them over in one call.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ._hg2v import Graphs
from ._notices import say_unused
from ._parameters import check_kinds, is_number
from .errors import InputError, shown

#: How graphs are read: the parameters of :func:`graphs`, which estimators have too.
READING = ("attributes", "label", "weight", "edge_label", "directed")

#: So many nodes of so many graphs are looked at for attributes that nobody asked for.
_FEW = 8


@dataclass(frozen=True)
class Names:
    """What nodes' and edges' attributes are called. ``None`` takes ``x``, ``label`` and
    ``weight`` where they are there; what is named must be there."""

    attributes: str | Sequence[str] | None = None
    label: str | None = None
    weight: str | None = None
    edge_label: str | None = None


@dataclass
class _One:
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
        return Graphs.read(os.fspath(data), os.environ.get("HG2V_DATA"))
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return Graphs.from_arrow(data)
    if hasattr(data, "to_arrow_table"):  # DuckDB's relations
        return Graphs.from_arrow(data.to_arrow_table())
    whole = _pyg_whole(data, names)
    if whole is not None:
        return whole
    if type(data).__module__.startswith("dgl") and data.batch_size > 1:
        data = sys.modules["dgl"].unbatch(data)
    elif data is None or isinstance(data, (bytes, Mapping)) or _adapter(data) is not None:
        raise InputError(
            f"graphs are expected, but this is one {_kind(data)}; give a list of graphs, "
            "a table, or the path of a file"
        )
    try:
        items = list(data)
    except TypeError:
        raise InputError(f"graphs are expected, but this is a {_kind(data)}") from None
    if not items:
        raise InputError("there are no graphs; give at least one")
    if all(isinstance(item, Graphs) for item in items):
        return Graphs.concat(items)
    if all(isinstance(item, os.PathLike) for item in items):
        return Graphs.concat([Graphs.read(os.fspath(item)) for item in items])
    if all(isinstance(item, Mapping) and "edges" in item for item in items):
        return _lines(items)
    if names.attributes is None and names.label is None:
        say_unused(_first_nodes(items), used=("x", "label"))
    return _stacked([_one(item, names, at) for at, item in enumerate(items)], names)


class _Within(InputError):
    """What is wrong with a node or edge of a graph, of which only the caller knows which it is."""

    def __init__(self, what: str, at: int, problem: str) -> None:
        super().__init__(f"{what} {at}: {problem}")


def _of_graph(at: int, error: InputError) -> InputError:
    return InputError(f"graph {at}{', ' if isinstance(error, _Within) else ': '}{error}")


def _one(item: Any, names: Names, at: int) -> _One:
    adapter = _adapter(item)
    if adapter is None:
        raise InputError(
            f"graph {at} is a {_kind(item)}, which hg2v does not know; give a graph of networkx, "
            "PyTorch Geometric, igraph, rustworkx or DGL, a scipy sparse matrix, a pair "
            "(edge_index, x), or a mapping with edge_index"
        )
    try:
        one = adapter(item, names)
    except InputError as error:
        raise _of_graph(at, error) from error.__cause__
    if one.num_nodes < 0:
        raise InputError(f"graph {at}: num_nodes is {one.num_nodes}; give 0 or more")
    return one


def _kind(item: Any) -> str:
    kind = type(item)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _adapter(item: Any) -> Callable[[Any, Names], _One] | None:
    for kind in type(item).__mro__:
        library = kind.__module__.partition(".")[0]
        adapter = _ADAPTERS.get((library, kind.__name__)) or _ADAPTERS.get((library, None))
        if adapter is not None:
            return adapter
    if isinstance(item, Mapping):
        return _mapping
    if isinstance(item, tuple) and len(item) in (2, 3) and not isinstance(item[0], (str, bytes)):
        return _pair
    if isinstance(item, str):
        return _smiles
    return None


# Libraries


def _networkx(graph: Any, names: Names) -> _One:
    index = {node: at for at, node in enumerate(graph)}
    edges = list(graph.edges(data=True)) if len(index) else []
    ends = np.fromiter((index[end] for edge in edges for end in edge[:2]), np.int64, 2 * len(edges))
    of_nodes = [of for _, of in graph.nodes(data=True)]
    of_edges = [of for _, _, of in edges]
    return _One(
        num_nodes=len(index),
        src=ends[::2],
        dst=ends[1::2],
        weight=_weights(of_edges, names),
        x=_attributes(of_nodes, names),
        node_label=_named(of_nodes, names.label, "label", "node"),
        edge_label=names.edge_label and _named(of_edges, names.edge_label, "", "edge"),
        directed=graph.is_directed(),
        id=graph.graph.get("id", _name(graph)),
        y=graph.graph.get("y"),
    )


def _name(graph: Any) -> str | None:
    """What networkx calls a graph; many have an empty name."""
    name = graph.graph.get("name")
    return name if isinstance(name, str) and name else None


def _igraph(graph: Any, names: Names) -> _One:
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    of_nodes = _by_item(graph.vs, graph.vcount())
    of_edges = _by_item(graph.es, graph.ecount())
    have = graph.attributes()
    return _One(
        num_nodes=graph.vcount(),
        src=ends[:, 0],
        dst=ends[:, 1],
        weight=_weights(of_edges, names),
        x=_attributes(of_nodes, names),
        node_label=_named(of_nodes, names.label, "label", "node"),
        edge_label=names.edge_label and _named(of_edges, names.edge_label, "", "edge"),
        directed=graph.is_directed(),
        id=graph["id"] if "id" in have else None,
        y=graph["y"] if "y" in have else None,
    )


def _by_item(sequence: Any, count: int) -> list[dict[str, Any]]:
    """igraph's attributes, one mapping an item; it fills what is missing with ``None``."""
    columns = {name: sequence[name] for name in sequence.attributes()}
    return [
        {name: values[at] for name, values in columns.items() if values[at] is not None}
        for at in range(count)
    ]


def _rustworkx(graph: Any, names: Names) -> _One:
    index = {node: at for at, node in enumerate(graph.node_indices())}
    edges = graph.weighted_edge_list()
    of_nodes = [node if isinstance(node, Mapping) else {} for node in graph.nodes()]
    plain = [of for _, _, of in edges]
    if all(isinstance(of, (int, float)) and not isinstance(of, bool) for of in plain):
        of_edges: Sequence[Mapping[str, Any]] = [{names.weight or "weight": of} for of in plain]
    else:
        of_edges = [of if isinstance(of, Mapping) else {} for of in plain]
    have = graph.attrs if isinstance(graph.attrs, Mapping) else {}
    return _One(
        num_nodes=len(index),
        src=np.array([index[u] for u, _, _ in edges], np.int64),
        dst=np.array([index[v] for _, v, _ in edges], np.int64),
        weight=_weights(of_edges, names),
        x=_attributes(of_nodes, names),
        node_label=_named(of_nodes, names.label, "label", "node"),
        edge_label=names.edge_label and _named(of_edges, names.edge_label, "", "edge"),
        directed="Di" in type(graph).__name__,
        id=have.get("id"),
        y=have.get("y"),
    )


def _pyg(data: Any, names: Names) -> _One:
    # A step through Data costs more than all the rest.
    stored = getattr(getattr(data, "_store", None), "_mapping", None)
    if stored is None:
        return _tensors(
            lambda name: getattr(data, name, None), data.edge_index, data.num_nodes, names
        )
    said = stored.get("num_nodes")
    if said is None and stored.get("x") is None:
        said = data.num_nodes
    return _tensors(stored.get, stored.get("edge_index"), said, names)


def _dgl(graph: Any, names: Names) -> _One:
    def find(name: str) -> Any:
        return graph.ndata.get(name, graph.edata.get(name))

    src, dst = graph.edges()
    return _tensors(find, (src, dst), graph.num_nodes(), names)


def _tensors(
    find: Callable[[str], Any], edge_index: Any, num_nodes: int | None, names: Names
) -> _One:
    """PyTorch Geometric's and DGL's, whose attributes are tensors with a row a node or edge."""
    if edge_index is None:
        raise InputError("it has no edge_index; give an empty one where there are no edges")
    src, dst = _ends(edge_index)
    if names.attributes is None:
        x = find("x")
    else:
        wanted = [names.attributes] if isinstance(names.attributes, str) else names.attributes
        columns = [_array(_there(find(name), name)) for name in wanted]
        rows = [column.reshape(len(column), -1) for column in columns]
        x = np.concatenate(rows, axis=1) if rows else None
    weight = (
        find("edge_weight") if names.weight is None else _there(find(names.weight), names.weight)
    )
    label = None if names.label is None else _there(find(names.label), names.label)
    edge_label = (
        None if names.edge_label is None else _there(find(names.edge_label), names.edge_label)
    )
    y = find("y")
    return _One(
        num_nodes=_count(num_nodes, src, dst, x),
        src=src,
        dst=dst,
        weight=None if weight is None else _array(weight).reshape(-1),
        x=x,
        node_label=None if label is None else _array(label).reshape(-1),
        edge_label=None if edge_label is None else _array(edge_label).reshape(-1),
        y=None if y is None or _array(y).size != 1 else _array(y).reshape(-1)[0].item(),
    )


def _there(value: Any, name: str) -> Any:
    if value is None:
        raise InputError(f"it has no attribute {name!r}")
    return value


def _sparse(matrix: Any, names: Names) -> _One:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"an adjacency matrix is square, but this is {matrix.shape}")
    entries = matrix.tocoo()
    weight = _numbers(entries.data, "weight", "edge")
    return _One(
        num_nodes=matrix.shape[0],
        src=entries.row,
        dst=entries.col,
        weight=None if (weight == 1).all() else weight,
    )


def _pair(item: tuple[Any, ...], names: Names) -> _One:
    first, x, *rest = item
    if hasattr(first, "tocoo"):
        one = _sparse(first, names)
    else:
        src, dst = _ends(first)
        one = _One(num_nodes=_count(rest[0] if rest else None, src, dst, x), src=src, dst=dst)
    one.x = x
    return one


def _mapping(item: Mapping[str, Any], names: Names) -> _One:
    known = {"edge_index", "x", "num_nodes", "weight", "node_label", "edge_label"}
    known |= {"id", "y", "directed"}
    if "edges" in item:
        raise InputError("it has 'edges', but others have 'edge_index'; spell all graphs one way")
    _refuse_unknown(item, known)
    src, dst = _ends(_there(item.get("edge_index"), "edge_index"))
    rows = next((item[k] for k in ("x", "node_label") if item.get(k) is not None), None)
    return _One(
        num_nodes=_count(item.get("num_nodes"), src, dst, rows),
        src=src,
        dst=dst,
        **{key: item.get(key) for key in known - {"edge_index", "num_nodes", "directed"}},
        directed=bool(item.get("directed", False)),
    )


def _lines(items: Sequence[Mapping[str, Any]]) -> Graphs:
    """Mappings with the keys of a line of JSONL, read as such lines are."""
    known = {"edges", "nodes", "n", "x", "node_labels", "edge_labels", "id", "y", "directed"}
    spelled = []
    for at, item in enumerate(items):
        try:
            _refuse_unknown(item, known)
            spelled.append(json.dumps(dict(item), default=_plain))
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"graph {at}: {error}") from None
    try:
        return Graphs.from_lines("\n".join(spelled))
    except InputError:
        # Rust knows a column of a line that nobody has seen; the node says more.
        for at, item in enumerate(items):
            x = item.get("x")
            try:
                _refuse_no_number([] if x is None else x, "x", "node")
            except _Within as error:
                raise _of_graph(at, error) from None
        raise


def _plain(value: Any) -> Any:
    """numpy's and PyTorch's values as JSON spells them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise InputError(f"a {_kind(value)} cannot be part of a graph; give numbers, texts and lists")


def _refuse_unknown(item: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(str(key) for key in item if key not in known)
    if unknown:
        raise InputError(f"{unknown[0]!r} means nothing here; known are {', '.join(sorted(known))}")


def _smiles(text: str, names: Names) -> _One:
    try:
        from rdkit import Chem
    except ImportError:
        raise InputError(
            f"{text[:40]!r} is read as SMILES, which needs RDKit: pip install rdkit; "
            "the path of a file is given alone, or as a pathlib.Path"
        ) from None
    molecule = Chem.MolFromSmiles(text)
    if molecule is None:
        raise InputError(f"{text[:40]!r} is no SMILES that RDKit reads")
    return _molecule(molecule, names)


def _molecule(molecule: Any, names: Names) -> _One:
    bonds = list(molecule.GetBonds())
    return _One(
        num_nodes=molecule.GetNumAtoms(),
        src=np.array([bond.GetBeginAtomIdx() for bond in bonds], np.int64),
        dst=np.array([bond.GetEndAtomIdx() for bond in bonds], np.int64),
        node_label=[atom.GetSymbol() for atom in molecule.GetAtoms()],
        edge_label=[str(bond.GetBondType()) for bond in bonds],
    )


def _first_nodes(items: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The attributes of a few nodes, of libraries whose nodes may have any."""
    for item in items[:_FEW]:
        adapter = _adapter(item)
        if adapter is _networkx:
            yield from (of for _, of in islice(item.nodes(data=True), _FEW))
        elif adapter is _igraph:
            yield from (node.attributes() for node in item.vs[:_FEW])
        elif adapter is _rustworkx:
            yield from (of for of in item.nodes()[:_FEW] if isinstance(of, Mapping))


_ADAPTERS: dict[tuple[str, str | None], Callable[[Any, Names], _One]] = {
    ("networkx", None): _networkx,
    ("igraph", "GraphBase"): _igraph,
    ("igraph", None): _igraph,
    ("rustworkx", None): _rustworkx,
    ("torch_geometric", "Data"): _pyg,
    ("dgl", None): _dgl,
    ("scipy", None): _sparse,
    ("rdkit", None): _molecule,
}


# Many graphs that lie one after the other already


def _pyg_whole(data: Any, names: Names) -> Graphs | None:
    """A ``Batch``, or a dataset that is held whole, without a step a graph."""
    lineage = [k for k in type(data).__mro__ if k.__module__.partition(".")[0] == "torch_geometric"]
    kinds = {kind.__name__ for kind in lineage}
    if "InMemoryDataset" in kinds and getattr(data, "_indices", 0) is None:
        stored, slices = data._data, data.slices
        if slices is None or "x" not in slices or "edge_index" not in slices:
            return None
        first: Any = 0
        node_ptr, edge_ptr = _array(slices["x"]), _array(slices["edge_index"])
    elif "Batch" in kinds and hasattr(data, "ptr"):
        stored, node_ptr = data, _array(data.ptr)
        src = _array(data.edge_index)[0]
        owner = np.searchsorted(node_ptr, src, side="right") - 1
        if (np.diff(owner) < 0).any():
            return None
        edges = np.bincount(owner, minlength=len(node_ptr) - 1)
        edge_ptr = np.concatenate([[0], np.cumsum(edges)])
        first = node_ptr[owner]
    else:
        return None
    count = len(node_ptr) - 1
    one = _tensors(
        lambda name: getattr(stored, name, None), stored.edge_index, int(node_ptr[-1]), names
    )
    y = getattr(stored, "y", None)
    y = None if y is None or _array(y).reshape(-1).shape != (count,) else _array(y).reshape(-1)
    return _handed_over(
        node_ptr.astype(np.int64),
        edge_ptr.astype(np.int64),
        one.src - first,
        one.dst - first,
        names,
        weight=None if one.weight is None else _numbers(one.weight, "weight", "edge"),
        x=None if one.x is None else _rows(one.x),
        columns=dict(node_label=one.node_label, edge_label=one.edge_label, y=y),
    )


def _stacked(ones: list[_One], names: Names) -> Graphs:
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
                raise _of_graph(at, error) from None
            if len(part) != size(ones[at]):
                raise InputError(
                    f"graph {at}: {called} has {len(part)} entries, one a {per} would be {size(ones[at])}"
                )
            parts.append(part)
        return parts

    called = names.attributes if names.attributes is not None else "x"
    xs = together("x", f"attributes {called!r}", bool(names.attributes), _rows)
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

    weights = attribute("weight", names.weight, "weight", lambda w: _numbers(w, "weight", "edge"))
    labels = attribute("node_label", names.label, "label", _listed)
    edge_labels = attribute("edge_label", names.edge_label, "edge_label", _listed)
    ids, ys = [one.id for one in ones], [one.y for one in ones]

    def flat(parts: list[list[Any]] | None) -> list[Any] | None:
        return None if parts is None else [value for part in parts for value in part]

    return _handed_over(
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


def _handed_over(
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


def _array(values: Any) -> np.ndarray:
    """Anything as an array, a tensor's own memory where that is possible."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError("rows of different lengths; give every node the same attributes") from None


def _whole(values: Any) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int64)


def _ends(edge_index: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(edge_index, tuple):
        edge_index = [_array(part) for part in edge_index]
    ends = _array(edge_index)
    if ends.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise InputError(f"edge_index has the shape {ends.shape}, but it must be (2, edges)")
    if ends.dtype.kind not in "iu":
        raise InputError(f"edge_index holds {ends.dtype}, but it must hold whole numbers")
    return ends[0], ends[1]


def _count(said: Any, src: np.ndarray, dst: np.ndarray, rows: Any) -> int:
    if said is not None:
        return int(said)
    if rows is not None:
        return len(rows)
    return 1 + int(max(src.max(initial=-1), dst.max(initial=-1)))


def _numbers(values: Any, name: str, what: str = "node") -> np.ndarray:
    array = _array(values)
    if array.dtype.kind not in "biuf":
        # An array has one kind: it has made texts of the numbers among texts.
        _refuse_no_number(values if isinstance(values, list) else array, name, what)
        array = _array(array.tolist())
    return np.ascontiguousarray(array, dtype=np.float64)


def _refuse_no_number(values: Any, name: str, what: str) -> None:
    """Refuses the first entry that is no finite number; a row is that of a node or edge."""
    rows = values if isinstance(values, list) else np.atleast_1d(values)
    for at, row in enumerate(rows):
        for value in np.array(row, dtype=object).reshape(-1):
            if not is_number(value):
                raise _Within(what, at, _no_number(name, value, what))


def _no_number(name: str | Sequence[str], value: Any, what: str) -> str:
    found = f"attribute {name!r} is {shown(value)}"
    if not isinstance(value, str):
        return f"{found}; fill in a finite number"
    named = "label=" if what == "node" else "edge_label="
    return f"{found}, but it must be a number; texts can be {what} labels: name them with {named}"


def _rows(x: Any) -> np.ndarray:
    rows = _numbers(x.toarray() if hasattr(x, "toarray") else x, "x")
    return np.ascontiguousarray(rows.reshape(len(rows), rows.size // max(len(rows), 1)))


def _listed(values: Any) -> list[Any]:
    return _array(values).reshape(-1).tolist() if hasattr(values, "dtype") else list(values)


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
            made[name] = np.array(values, np.int64)
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


def _named(
    items: Sequence[Mapping[str, Any]], said: str | None, usual: str, what: str
) -> list[Any] | None:
    """The attribute of every item; ``None`` where no item has it."""
    name = said or usual
    values = [item[name] for item in items if name in item]
    if not values:
        return None
    if len(values) < len(items):
        lacking = next(at for at, item in enumerate(items) if name not in item)
        have = "1 other has" if len(values) == 1 else f"{len(values)} others have"
        raise _Within(
            what, lacking, f"no attribute {name!r}, but {have}; give it to all or to none"
        )
    return values


def _attributes(nodes: Sequence[Mapping[str, Any]], names: Names) -> np.ndarray | None:
    said = names.attributes
    if said is None or isinstance(said, str):
        values = _named(nodes, said, "x", "node")
        return None if values is None else _rows_of(values, said or "x")
    columns = [_named(nodes, name, "", "node") for name in said]
    missing = [name for name, values in zip(said, columns) if values is None]
    if len(missing) == len(columns):
        return None
    if missing:
        raise InputError(f"its nodes have no attribute {missing[0]!r}")
    made = [_rows_of(values, name) for values, name in zip(columns, said) if values is not None]
    return np.concatenate(made, axis=1)


def _rows_of(values: list[Any], name: str) -> np.ndarray:
    try:
        return _numbers(values, name).reshape(len(values), -1)
    except _Within:
        raise
    except InputError as error:
        raise InputError(f"attribute {name!r}: {error}") from None


def _weights(edges: Sequence[Mapping[str, Any]], names: Names) -> np.ndarray | None:
    values = _named(edges, names.weight, "weight", "edge")
    return None if values is None else _numbers(values, names.weight or "weight", "edge")
