"""Graphs of every library as arrays.

A library is recognised by the name of the module that a graph's class comes from, so that
nothing is imported which is not there already. Each adapter makes a :class:`One`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ._hg2v import Graphs
from ._stacked import (
    Names,
    One,
    Within,
    as_array,
    as_numbers,
    as_rows,
    handed_over,
    of_graph,
    refuse_no_number,
)
from .errors import InputError

#: So many nodes of so many graphs are looked at for attributes that nobody asked for.
_FEW = 8


def converted(item: Any, names: Names, at: int) -> One:
    """A graph of any library, the one at position ``at``, as arrays."""
    adapter = adapter_of(item)
    if adapter is None:
        raise InputError(
            f"graph {at} is a {kind_of(item)}, which hg2v does not know; give a graph of networkx, "
            "PyTorch Geometric, igraph, rustworkx or DGL, a scipy sparse matrix, a pair "
            "(edge_index, x), or a mapping with edge_index"
        )
    try:
        one = adapter(item, names)
    except InputError as error:
        raise of_graph(at, error) from error.__cause__
    if one.num_nodes < 0:
        raise InputError(f"graph {at}: num_nodes is {one.num_nodes}; give 0 or more")
    return one


def kind_of(item: Any) -> str:
    """What messages call a thing: its class, with its module."""
    kind = type(item)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def adapter_of(item: Any) -> Callable[[Any, Names], One] | None:
    """What makes arrays of a graph; ``None`` where this is none."""
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


def first_nodes(items: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The attributes of a few nodes, of libraries whose nodes may have any."""
    for item in items[:_FEW]:
        adapter = adapter_of(item)
        if adapter is _networkx:
            yield from (of for _, of in islice(item.nodes(data=True), _FEW))
        elif adapter is _igraph:
            yield from (node.attributes() for node in item.vs[:_FEW])
        elif adapter is _rustworkx:
            yield from (of for of in item.nodes()[:_FEW] if isinstance(of, Mapping))


# Libraries


def _networkx(graph: Any, names: Names) -> One:
    index = {node: at for at, node in enumerate(graph)}
    edges = list(graph.edges(data=True)) if len(index) else []
    ends = np.fromiter((index[end] for edge in edges for end in edge[:2]), np.int64, 2 * len(edges))
    of_nodes = [of for _, of in graph.nodes(data=True)]
    of_edges = [of for _, _, of in edges]
    return One(
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


def _igraph(graph: Any, names: Names) -> One:
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    of_nodes = _by_item(graph.vs, graph.vcount())
    of_edges = _by_item(graph.es, graph.ecount())
    have = graph.attributes()
    return One(
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


def _rustworkx(graph: Any, names: Names) -> One:
    index = {node: at for at, node in enumerate(graph.node_indices())}
    edges = graph.weighted_edge_list()
    of_nodes = [node if isinstance(node, Mapping) else {} for node in graph.nodes()]
    plain = [of for _, _, of in edges]
    if all(isinstance(of, (int, float)) and not isinstance(of, bool) for of in plain):
        of_edges: Sequence[Mapping[str, Any]] = [{names.weight or "weight": of} for of in plain]
    else:
        of_edges = [of if isinstance(of, Mapping) else {} for of in plain]
    have = graph.attrs if isinstance(graph.attrs, Mapping) else {}
    return One(
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


def _pyg(data: Any, names: Names) -> One:
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


def _dgl(graph: Any, names: Names) -> One:
    def find(name: str) -> Any:
        return graph.ndata.get(name, graph.edata.get(name))

    src, dst = graph.edges()
    return _tensors(find, (src, dst), graph.num_nodes(), names)


def _tensors(
    find: Callable[[str], Any], edge_index: Any, num_nodes: int | None, names: Names
) -> One:
    """PyTorch Geometric's and DGL's, whose attributes are tensors with a row a node or edge."""
    if edge_index is None:
        raise InputError("it has no edge_index; give an empty one where there are no edges")
    src, dst = _ends(edge_index)
    if names.attributes is None:
        x = find("x")
    else:
        wanted = [names.attributes] if isinstance(names.attributes, str) else names.attributes
        columns = [as_array(_there(find(name), name)) for name in wanted]
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
    return One(
        num_nodes=_count(num_nodes, src, dst, x),
        src=src,
        dst=dst,
        weight=None if weight is None else as_array(weight).reshape(-1),
        x=x,
        node_label=None if label is None else as_array(label).reshape(-1),
        edge_label=None if edge_label is None else as_array(edge_label).reshape(-1),
        y=None if y is None or as_array(y).size != 1 else as_array(y).reshape(-1)[0].item(),
    )


def _there(value: Any, name: str) -> Any:
    if value is None:
        raise InputError(f"it has no attribute {name!r}")
    return value


def _sparse(matrix: Any, names: Names) -> One:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"an adjacency matrix is square, but this is {matrix.shape}")
    entries = matrix.tocoo()
    weight = as_numbers(entries.data, "weight", "edge")
    return One(
        num_nodes=matrix.shape[0],
        src=entries.row,
        dst=entries.col,
        weight=None if (weight == 1).all() else weight,
    )


def _pair(item: tuple[Any, ...], names: Names) -> One:
    first, x, *rest = item
    if hasattr(first, "tocoo"):
        one = _sparse(first, names)
    else:
        src, dst = _ends(first)
        one = One(num_nodes=_count(rest[0] if rest else None, src, dst, x), src=src, dst=dst)
    one.x = x
    return one


def _mapping(item: Mapping[str, Any], names: Names) -> One:
    known = {"edge_index", "x", "num_nodes", "weight", "node_label", "edge_label"}
    known |= {"id", "y", "directed"}
    if "edges" in item:
        raise InputError("it has 'edges', but others have 'edge_index'; spell all graphs one way")
    _refuse_unknown(item, known)
    src, dst = _ends(_there(item.get("edge_index"), "edge_index"))
    rows = next((item[k] for k in ("x", "node_label") if item.get(k) is not None), None)
    return One(
        num_nodes=_count(item.get("num_nodes"), src, dst, rows),
        src=src,
        dst=dst,
        **{key: item.get(key) for key in known - {"edge_index", "num_nodes", "directed"}},
        directed=bool(item.get("directed", False)),
    )


def _refuse_unknown(item: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(str(key) for key in item if key not in known)
    if unknown:
        raise InputError(f"{unknown[0]!r} means nothing here; known are {', '.join(sorted(known))}")


def _smiles(text: str, names: Names) -> One:
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


def _molecule(molecule: Any, names: Names) -> One:
    bonds = list(molecule.GetBonds())
    return One(
        num_nodes=molecule.GetNumAtoms(),
        src=np.array([bond.GetBeginAtomIdx() for bond in bonds], np.int64),
        dst=np.array([bond.GetEndAtomIdx() for bond in bonds], np.int64),
        node_label=[atom.GetSymbol() for atom in molecule.GetAtoms()],
        edge_label=[str(bond.GetBondType()) for bond in bonds],
    )


_ADAPTERS: dict[tuple[str, str | None], Callable[[Any, Names], One]] = {
    ("networkx", None): _networkx,
    ("igraph", "GraphBase"): _igraph,
    ("igraph", None): _igraph,
    ("rustworkx", None): _rustworkx,
    ("torch_geometric", "Data"): _pyg,
    ("dgl", "DGLGraph"): _dgl,
    ("dgl", "DGLHeteroGraph"): _dgl,  # as older versions call it
    ("scipy", None): _sparse,
    ("rdkit", None): _molecule,
}


# Many graphs at once


def pyg_whole(data: Any, names: Names) -> Graphs | None:
    """A ``Batch``, or a dataset that is held whole, without a step a graph."""
    lineage = [k for k in type(data).__mro__ if k.__module__.partition(".")[0] == "torch_geometric"]
    kinds = {kind.__name__ for kind in lineage}
    if "InMemoryDataset" in kinds and getattr(data, "_indices", 0) is None:
        stored, slices = data._data, data.slices
        if slices is None or "x" not in slices or "edge_index" not in slices:
            return None
        first: Any = 0
        node_ptr, edge_ptr = as_array(slices["x"]), as_array(slices["edge_index"])
    elif "Batch" in kinds and hasattr(data, "ptr"):
        stored, node_ptr = data, as_array(data.ptr)
        src = as_array(data.edge_index)[0]
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
    y = None if y is None or as_array(y).reshape(-1).shape != (count,) else as_array(y).reshape(-1)
    return handed_over(
        node_ptr.astype(np.int64),
        edge_ptr.astype(np.int64),
        one.src - first,
        one.dst - first,
        names,
        weight=None if one.weight is None else as_numbers(one.weight, "weight", "edge"),
        x=None if one.x is None else as_rows(one.x),
        columns=dict(node_label=one.node_label, edge_label=one.edge_label, y=y),
    )


def dgl_parts(data: Any) -> list[Any] | None:
    """The graphs of a batch of DGL; ``None`` where it is none."""
    if adapter_of(data) is not _dgl or data.batch_size < 2:
        return None
    return sys.modules["dgl"].unbatch(data)


def of_lines(items: Sequence[Mapping[str, Any]]) -> Graphs:
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
                refuse_no_number([] if x is None else x, "x", "node")
            except Within as error:
                raise of_graph(at, error) from None
        raise


def _plain(value: Any) -> Any:
    """numpy's and PyTorch's values as JSON spells them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise InputError(f"a {kind_of(value)} cannot be part of a graph; give numbers, texts and lists")


# Pieces


def _ends(edge_index: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(edge_index, tuple):
        edge_index = [as_array(part) for part in edge_index]
    ends = as_array(edge_index)
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
        raise Within(what, lacking, f"no attribute {name!r}, but {have}; give it to all or to none")
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
        return as_numbers(values, name).reshape(len(values), -1)
    except Within:
        raise
    except InputError as error:
        raise InputError(f"attribute {name!r}: {error}") from None


def _weights(edges: Sequence[Mapping[str, Any]], names: Names) -> np.ndarray | None:
    values = _named(edges, names.weight, "weight", "edge")
    return None if values is None else as_numbers(values, names.weight or "weight", "edge")
