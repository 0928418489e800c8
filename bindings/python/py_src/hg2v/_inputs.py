"""Graphs of every library into :class:`Graphs`.

A library is recognised by the name of the module that a graph's class comes from, so that
nothing is imported which is not there already. Each adapter makes a :class:`_One`: plain
arrays; :func:`_stacked` lays them one after the other and hands them over in one call.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._hg2v import Graphs
from .errors import InputError

log = logging.getLogger("hg2v")


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
            ``id``, ``y``, of SMILES or molecules of RDKit; a PyTorch Geometric ``Batch`` or
            dataset; a table of Arrow, polars, pandas or DuckDB, one row a graph; or the path of
            a file or folder.
        attributes: the node attributes that are numbers, by name; where nodes bring an ``x``,
            it need not be said.
        label: the node attribute that is a label; ``label`` need not be said.
        weight: the edge attribute that is a weight; ``weight`` need not be said.
        edge_label: the edge attribute that is a label.
        directed: ``"undirected"`` reads directed edges as undirected ones and logs it,
            ``"refuse"`` raises.

    Example:
        >>> import hg2v
        >>> path, ring = [[0, 1], [1, 2]], [[0, 1, 2], [1, 2, 0]]
        >>> both = hg2v.graphs([(path, None), {"edge_index": ring, "num_nodes": 4}])
        >>> both.num_nodes().tolist(), both.num_edges().tolist()
        ([3, 4], [2, 3])

    Raises:
        InputError: with the position of the graph and the name of the attribute.
    """
    names = Names(attributes, label, weight, edge_label)
    made = _collection(data, names)
    if directed not in ("undirected", "refuse"):
        raise InputError(f"directed is {directed!r}, but it must be 'undirected' or 'refuse'")
    first = made.first_directed()
    if first is not None and directed == "refuse":
        raise InputError(
            f"graph {first} is directed; make it undirected, or say directed='undirected'"
        )
    return made


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
    return _stacked([_one(item, names, at) for at, item in enumerate(items)], names)


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
        raise InputError(f"graph {at}: {error}") from error.__cause__
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
        id=graph.graph.get("id"),
        y=graph.graph.get("y"),
    )


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
        x = np.concatenate([c.reshape(len(c), -1) for c in columns], axis=1)
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
    weight = _numbers(entries.data, "weight")
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
    known = {
        "edge_index",
        "x",
        "num_nodes",
        "weight",
        "node_label",
        "edge_label",
        "id",
        "y",
        "directed",
    }
    unknown = sorted(set(item) - known)
    if unknown:
        raise InputError(f"{unknown[0]!r} means nothing here; known are {', '.join(sorted(known))}")
    src, dst = _ends(_there(item.get("edge_index"), "edge_index"))
    rows = next((item[k] for k in ("x", "node_label") if item.get(k) is not None), None)
    return _One(
        num_nodes=_count(item.get("num_nodes"), src, dst, rows),
        src=src,
        dst=dst,
        **{key: item.get(key) for key in known - {"edge_index", "num_nodes", "directed"}},
        directed=bool(item.get("directed", False)),
    )


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
    return Graphs.stacked(
        node_ptr.astype(np.int64),
        edge_ptr.astype(np.int64),
        _whole(one.src - first),
        _whole(one.dst - first),
        weight=None if one.weight is None else _numbers(one.weight, "weight"),
        x=None if one.x is None else _rows(one.x),
        **_scalar_columns(node_label=one.node_label, edge_label=one.edge_label, y=y),
    )


def _stacked(ones: list[_One], names: Names) -> Graphs:
    """Graphs one after the other; all must agree on what they bring."""
    node_ptr = np.concatenate([[0], np.cumsum([one.num_nodes for one in ones])]).astype(np.int64)
    edge_ptr = np.concatenate([[0], np.cumsum([len(one.src) for one in ones])]).astype(np.int64)

    def together(name: str, called: str, convert: Callable[[Any], Any], per: str) -> Any:
        size = (lambda one: one.num_nodes) if per == "node" else (lambda one: len(one.src))
        having = [at for at, one in enumerate(ones) if getattr(one, name) is not None]
        lacking = [at for at, one in enumerate(ones) if getattr(one, name) is None and size(one)]
        if not having:
            return None
        if lacking:
            raise InputError(
                f"graph {lacking[0]} has no {called}, but graph {having[0]} has; "
                "give it to all graphs or to none"
            )
        parts = []
        for at in having:
            try:
                part = convert(getattr(ones[at], name))
            except InputError as error:
                raise InputError(f"graph {at}: {error}") from None
            if len(part) != size(ones[at]):
                raise InputError(
                    f"graph {at}: {called} has {len(part)} entries, one a {per} would be {size(ones[at])}"
                )
            parts.append(part)
        return parts

    called = names.attributes if names.attributes is not None else "x"
    xs = together("x", f"attributes {called!r}", _rows, "node")
    if xs is not None:
        widths = {part.shape[1]: at for at, part in reversed(list(enumerate(xs))) if len(part)}
        if len(widths) > 1:
            (first, at), (other, then) = sorted(widths.items(), key=lambda pair: pair[1])[:2]
            raise InputError(
                f"graph {then} has {other} attributes {called!r} a node, but graph {at} has {first}; "
                "give every node the same attributes"
            )
        xs = np.concatenate([part for part in xs if len(part)] or [np.zeros((0, 0))])
    weights = together(
        "weight", f"attribute {names.weight or 'weight'!r}", lambda w: _numbers(w, "weight"), "edge"
    )
    labels = together("node_label", f"attribute {names.label or 'label'!r}", _listed, "node")
    edge_labels = together("edge_label", "edge labels", _listed, "edge")
    ids, ys = [one.id for one in ones], [one.y for one in ones]

    def flat(parts: list[list[Any]] | None) -> list[Any] | None:
        return None if parts is None else [value for part in parts for value in part]

    return Graphs.stacked(
        node_ptr,
        edge_ptr,
        _whole(np.concatenate([one.src for one in ones])),
        _whole(np.concatenate([one.dst for one in ones])),
        weight=None if weights is None else np.concatenate(weights),
        x=xs,
        directed=[one.directed for one in ones],
        **_scalar_columns(
            node_label=flat(labels),
            edge_label=flat(edge_labels),
            id=ids if all(value is not None for value in ids) else None,
            y=ys if all(value is not None for value in ys) else None,
        ),
    )


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


def _numbers(values: Any, name: str) -> np.ndarray:
    array = _array(values)
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"attribute {name!r} holds {_example(array)}, but it must hold numbers; "
            "texts can be node labels: name them with label="
        )
    return np.ascontiguousarray(array, dtype=np.float64)


def _example(array: np.ndarray) -> str:
    return repr(array.reshape(-1)[0])[:40] if array.size else str(array.dtype)


def _rows(x: Any) -> np.ndarray:
    rows = _numbers(x.toarray() if hasattr(x, "toarray") else x, "x")
    return np.ascontiguousarray(rows.reshape(len(rows), rows.size // max(len(rows), 1)))


def _listed(values: Any) -> list[Any]:
    return _array(values).reshape(-1).tolist() if hasattr(values, "dtype") else list(values)


def _scalar_columns(**columns: Any) -> dict[str, Any]:
    """Columns of scalars, each of one kind; those of several are spelled as JSON."""
    made: dict[str, Any] = {}
    spelled = []
    for name, values in columns.items():
        if values is None:
            continue
        values = _listed(values)
        kinds = {_scalar(value, name, at) for at, value in enumerate(values)}
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


def _scalar(value: Any, name: str, at: int) -> type:
    if isinstance(value, (bool, np.bool_)):
        return bool
    if isinstance(value, (int, np.integer)):
        return int
    if isinstance(value, (float, np.floating)):
        return float
    if isinstance(value, str):
        return str
    raise InputError(
        f"{name}: {value!r} (number {at}) is a {_kind(value)}; labels, ids and classes are whole "
        "numbers, numbers, texts or booleans"
    )


def _named(
    items: Sequence[Mapping[str, Any]], said: str | None, usual: str, what: str
) -> list[Any] | None:
    """The attribute of every item; ``None`` where no item has it."""
    name = said or usual
    values = [item[name] for item in items if name in item]
    if len(values) == len(items) and items:
        return values
    if not values and said is None or not items:
        return None
    lacking = next(at for at, item in enumerate(items) if name not in item)
    raise InputError(
        f"{what} number {lacking} has no attribute {name!r}"
        + (f", but {len(values)} others have; give it to all or to none" if values else "")
    )


def _attributes(nodes: Sequence[Mapping[str, Any]], names: Names) -> np.ndarray | None:
    said = names.attributes
    if said is None or isinstance(said, str):
        values = _named(nodes, said, "x", "node")
        return None if values is None else _rows_of(values, said or "x")
    columns = [_named(nodes, name, "", "node") for name in said]
    if not nodes:
        return None
    made = [_rows_of(values, name) for values, name in zip(columns, said) if values is not None]
    return np.concatenate(made, axis=1)


def _rows_of(values: list[Any], name: str) -> np.ndarray:
    try:
        rows = _numbers(values, name)
    except InputError as error:
        raise InputError(f"attribute {name!r}: {error}") from None
    return rows.reshape(len(values), -1)


def _weights(edges: Sequence[Mapping[str, Any]], names: Names) -> np.ndarray | None:
    values = _named(edges, names.weight, "weight", "edge")
    return None if values is None else _numbers(values, names.weight or "weight")
