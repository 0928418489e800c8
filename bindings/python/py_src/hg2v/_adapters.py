"""Graphs of every library as arrays.

A library is recognised by the name of the module that a graph's class comes from, so that
nothing is imported which is not there already. Each adapter makes a :class:`One`.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._hg2v import MAX_NODES, molecule
from ._scalars import Names, Within, as_array, is_missing, node_names
from ._stacked import One, as_numbers
from ._targets import of_graph
from .errors import InputError, shown


def converted(item: Any, names: Names, at: int) -> One:
    """A graph of any library, the one at position ``at``, as arrays."""
    if is_missing(item):
        raise InputError(f"it is missing ({shown(item)})", at, fix="leave it out")
    adapter = adapter_of(item)
    if adapter is None:
        fix = (
            "give one table of all graphs, with a column `graph`"
            if hasattr(item, "__arrow_c_stream__")
            else "give a graph of networkx, PyTorch Geometric, igraph, rustworkx or DGL, a scipy "
            "sparse matrix, an adjacency array, a pair (edge_index, x), a mapping with edge_index, "
            "or a SMILES"
        )
        raise InputError(f"hg2v knows no graphs of type {kind_of(item)}", at, fix=fix)
    try:
        one = adapter(item, names)
    except InputError as error:
        raise error.of_graph(at) from error.__cause__
    except Exception as error:  # Whatever a stranger's class does.
        said = f"{type(error).__name__}: {error}"
        raise InputError(f"it cannot be read as a {kind_of(item)} ({said[:200]})", at) from error
    if one.num_nodes < 0:
        raise InputError(f"num_nodes is {one.num_nodes}", at, fix="give 0 or more")
    if one.num_nodes > MAX_NODES:
        raise InputError(
            f"it says {one.num_nodes} nodes, more than the {MAX_NODES} allowed",
            at,
            fix="use the command hg2v with a larger --max-nodes",
            kind="limit",
        )
    one.at = at
    return one


def kind_of(item: Any) -> str:
    """What messages call a thing: its class, with its module."""
    kind = type(item)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def library_of(item: Any) -> str | None:
    """The library that a graph is of; ``None`` where it is no library's."""
    for kind in type(item).__mro__:
        library = kind.__module__.partition(".")[0]
        if (library, kind.__name__) in _ADAPTERS or (library, None) in _ADAPTERS:
            return library
    return None


def adapter_of(item: Any) -> Callable[[Any, Names], One] | None:
    """What makes arrays of a graph; ``None`` where this is none."""
    for kind in type(item).__mro__:
        library = kind.__module__.partition(".")[0]
        adapter = _ADAPTERS.get((library, kind.__name__)) or _ADAPTERS.get((library, None))
        if adapter is not None:
            return adapter
    if isinstance(item, Mapping):
        return _mapping
    if isinstance(item, tuple) and len(item) in (2, 3) and _is_array(item[0]):
        return _pair
    if isinstance(item, str):
        return _smiles
    return None


def in_array(data: Any) -> list[Any] | None:
    """The graphs of an array: an adjacency array, a stack of them, or an array of graphs; ``None``
    where this is none."""
    if adapter_of(data) is not _dense or data.ndim == 0:
        return None
    numbers = data.ndim == 2 and str(data.dtype) != "object"
    return [data] if numbers else list(data)


def _is_array(value: Any) -> bool:
    """Whether this may hold the ends of edges: a pair of graphs is no pair of arrays."""
    if isinstance(value, (str, bytes)):
        return False
    listed = isinstance(value, (list, tuple, range))
    return listed or hasattr(value, "__array__") or hasattr(value, "tocoo")


# Libraries


def _networkx(graph: Any, names: Names) -> One:
    index = {node: at for at, node in enumerate(graph)}
    edges = list(graph.edges(data=True)) if len(index) else []
    ends = np.fromiter((index[end] for edge in edges for end in edge[:2]), np.int64, 2 * len(edges))
    of_nodes = [of for _, of in graph.nodes(data=True)]
    of_edges = [of for _, _, of in edges]
    return One(
        num_nodes=len(index),
        nodes=node_names(list(index)),
        src=ends[::2],
        dst=ends[1::2],
        weight=_weights(of_edges, names),
        x=_attributes(of_nodes, names.attributes, "node"),
        node_label=_named(of_nodes, names.label, "label", "node"),
        edge_label=_edge_labels(of_edges, names),
        edge_x=_edge_attributes(of_edges, names),
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
        nodes=node_names(graph.vs["name"]) if "name" in graph.vs.attributes() else None,
        src=ends[:, 0],
        dst=ends[:, 1],
        weight=_weights(of_edges, names),
        x=_attributes(of_nodes, names.attributes, "node"),
        node_label=_named(of_nodes, names.label, "label", "node"),
        edge_label=_edge_labels(of_edges, names),
        edge_x=_edge_attributes(of_edges, names),
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
        # A text alone says what kind of edge it is.
        label = names.edge_label or "label"
        kinds = [{label: of} if isinstance(of, str) else of for of in plain]
        of_edges = [of if isinstance(of, Mapping) else {} for of in kinds]
    have = graph.attrs if isinstance(graph.attrs, Mapping) else {}
    return One(
        num_nodes=len(index),
        nodes=node_names(list(index)),
        src=np.array([index[u] for u, _, _ in edges], np.int64),
        dst=np.array([index[v] for _, v, _ in edges], np.int64),
        weight=_weights(of_edges, names),
        x=_attributes(of_nodes, names.attributes, "node"),
        node_label=_named(of_nodes, names.label, "label", "node"),
        edge_label=_edge_labels(of_edges, names),
        edge_x=_edge_attributes(of_edges, names),
        # A PyDAG is a PyDiGraph.
        directed=any("Di" in kind.__name__ for kind in type(graph).__mro__),
        id=have.get("id"),
        y=have.get("y"),
    )


def _refuse_batch(count: Any) -> None:
    """Refuses many graphs in the place of one."""
    if isinstance(count, int) and count > 1:
        raise InputError(
            f"it is a batch of {count} graphs", fix="give the graphs, or the batch alone"
        )


def _pyg(data: Any, names: Names) -> One:
    _refuse_batch(getattr(data, "num_graphs", 1))
    # A step through Data costs more than all the rest.
    stored = getattr(getattr(data, "_store", None), "_mapping", None)
    if stored is None:
        return tensors(
            lambda name: getattr(data, name, None), data.edge_index, data.num_nodes, names
        )
    said = stored.get("num_nodes")
    if said is None and stored.get("x") is None:
        said = data.num_nodes
    return tensors(stored.get, stored.get("edge_index"), said, names)


def _dgl(graph: Any, names: Names) -> One:
    def of_edges(name: str) -> Any:
        found = graph.edata.get(name)
        # Some call the attributes of edges as those of nodes.
        return graph.edata.get("x") if found is None and name == "edge_attr" else found

    _refuse_batch(graph.batch_size)
    src, dst = graph.edges()
    return tensors(graph.ndata.get, (src, dst), graph.num_nodes(), names, of_edges)


def tensors(
    find: Callable[[str], Any],
    edge_index: Any,
    num_nodes: int | None,
    names: Names,
    of_edges: Callable[[str], Any] | None = None,
) -> One:
    """PyTorch Geometric's and DGL's, whose attributes are tensors with a row a node or edge."""
    of_edges = of_edges or find
    if edge_index is None:
        raise InputError("it has no edge_index", fix="give an empty one where there are no edges")
    src, dst = _ends(edge_index)
    x = find("x") if names.attributes is None else _columns(find, names.attributes)
    named = names.of_edges()
    weight = of_edges("edge_weight") if names.weight is None else of_edges(names.weight)
    if names.weight is not None:
        weight = _there(weight, names.weight)
    elif "edge_weight" in named:
        weight = None
    label = None if names.label is None else _there(find(names.label), names.label)
    kinds = None
    edge_label = (
        None if names.edge_label is None else _there(of_edges(names.edge_label), names.edge_label)
    )
    if names.edge_attrs is not None:
        edge_x = _columns(of_edges, names.edge_attrs)
    else:
        edge_x = None if "edge_attr" in named else of_edges("edge_attr")
        # One whole number an edge is its kind, as sets of molecules have it.
        if edge_x is not None and edge_label is None and _are_kinds(as_array(edge_x)):
            edge_x, edge_label = None, edge_x
        elif edge_x is not None and edge_label is None:
            kinds = _one_hot(as_array(edge_x))
    count = _count(num_nodes, src, dst, x)
    return One(
        num_nodes=count,
        src=src,
        dst=dst,
        weight=None if weight is None else as_array(weight).reshape(-1),
        x=x,
        node_label=None if label is None else as_array(label).reshape(-1),
        edge_label=None if edge_label is None else as_array(edge_label).reshape(-1),
        edge_x=edge_x,
        kinds=kinds,
        directed=names.directed,
        y=of_graph(find("y"), count),
    )


def _columns(find: Callable[[str], Any], wanted: str | Sequence[str]) -> np.ndarray | None:
    """Attributes by name, side by side."""
    wanted = [wanted] if isinstance(wanted, str) else wanted
    columns = [as_array(_there(find(name), name)) for name in wanted]
    rows = [column.reshape(len(column), -1) for column in columns]
    return np.concatenate(rows, axis=1) if rows else None


def _are_kinds(values: np.ndarray) -> bool:
    """Whether there is one whole number an edge."""
    return values.dtype.kind in "biu" and values.size == len(values)


def _one_hot(values: np.ndarray) -> np.ndarray | None:
    """The place of the one in each row, where rows are zeros and a one."""
    if values.ndim != 2 or values.shape[1] < 2 or values.dtype.kind not in "biuf":
        return None
    ones = values == 1
    are = ((values == 0) | ones).all() and (ones.sum(axis=1) == 1).all()
    return ones.argmax(axis=1) if are else None


def _there(value: Any, name: str) -> Any:
    if value is None:
        raise InputError(f"it has no attribute {name!r}")
    return value


def _sparse(matrix: Any, names: Names) -> One:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"an adjacency matrix is square, but this is {matrix.shape}")
    entries = matrix.tocoo()
    weight = as_numbers(entries.data, "weight", "edge")
    return _adjacency(matrix.shape[0], entries.row, entries.col, weight, names)


def _dense(matrix: Any, names: Names) -> One:
    matrix = as_array(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"an adjacency array is square, but this has the shape {matrix.shape}",
            fix="give a row and a column a node, with 0 where there is no edge",
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"an adjacency array holds numbers, but this holds {matrix.dtype}")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(
            f"row {row}, column {column} of the adjacency array is {matrix[row, column]}",
            fix="fill in a finite number, or 0 where there is no edge",
        )
    src, dst = np.nonzero(matrix)
    return _adjacency(len(matrix), src, dst, matrix[src, dst].astype(np.float64), names)


def _adjacency(
    num_nodes: int, src: np.ndarray, dst: np.ndarray, weight: np.ndarray, names: Names
) -> One:
    """A graph by the entries of its matrix, which weigh 1 where nothing else is meant."""
    plain = bool((weight == 1).all())
    return One(
        num_nodes=num_nodes,
        src=src,
        dst=dst,
        weight=None if plain else weight,
        plain=plain,
        directed=names.directed,
    )


def _pair(item: tuple[Any, ...], names: Names) -> One:
    first, x, *rest = item
    if hasattr(first, "tocoo"):
        one = _sparse(first, names)
    else:
        src, dst = _ends(first)
        count = _count(rest[0] if rest else None, src, dst, x)
        one = One(num_nodes=count, src=src, dst=dst, directed=names.directed)
    one.x = x
    return one


def _mapping(item: Mapping[str, Any], names: Names) -> One:
    own = ("x", "weight", "node_label", "edge_label", "edge_x", "id", "y", "nodes")
    if "edges" in item:
        raise InputError(
            "it has 'edges', but others have 'edge_index'", fix="spell all graphs one way"
        )
    refuse_unknown(item, {*own, "edge_index", "src", "dst", "num_nodes", "directed"})
    if item.get("edge_index") is None and item.get("src") is not None:
        ends = [as_array(item["src"]), as_array(_there(item.get("dst"), "dst"))]
        if ends[0].shape != ends[1].shape:
            raise InputError("src and dst have different lengths", fix="give one end each an edge")
        src, dst = _ends(tuple(ends))
    else:
        src, dst = _ends(_there(item.get("edge_index"), "edge_index"))
    rows = (item[key] for key in ("nodes", "x", "node_label") if item.get(key) is not None)
    one = One(_count(item.get("num_nodes"), src, dst, next(rows, None)), src, dst)
    for key in own:
        setattr(one, key, item.get(key))
    one.directed = bool(item.get("directed", names.directed))
    return one


def refuse_unknown(item: Mapping[str, Any], known: set[str]) -> None:
    """Refuses a key that means nothing."""
    unknown = sorted(str(key) for key in item if key not in known)
    if unknown:
        raise InputError(
            f"{unknown[0]!r} means nothing here", fix=f"known are {', '.join(sorted(known))}"
        )


def _smiles(text: str, names: Names) -> One:
    try:
        labels, src, dst, kinds, x = molecule(text, names.atoms)
    except InputError as error:
        raise with_path_hint(text, error) from None
    return One(
        num_nodes=len(labels),
        src=np.array(src, np.int64),
        dst=np.array(dst, np.int64),
        node_label=labels,
        edge_label=kinds,
        x=np.array(x).reshape(len(labels), -1) if names.atoms else None,
    )


def with_path_hint(text: str, error: InputError) -> InputError:
    """What is wrong with a SMILES that may be no SMILES at all."""
    if not os.path.exists(text):
        return error
    return error.hinting("the path of a file is given alone, or as a pathlib.Path")


def _molecule(molecule: Any, names: Names) -> One:
    """As RDKit writes it and hg2v reads it: whichever way it is spelled there, with hydrogens or
    without, aromatic or in single and double bonds, it is the graph of its SMILES."""
    chem = sys.modules["rdkit.Chem"]
    one = _smiles(chem.MolToSmiles(molecule, canonical=False), names)
    one.id = molecule.GetProp("_Name") or None if molecule.HasProp("_Name") else None
    # Atoms as RDKit numbers them; hydrogens that are labels now are not there.
    written = list(molecule.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"])
    atoms = molecule.GetAtoms()
    if len(written) != one.num_nodes:
        written = [at for at in written if atoms[at].GetAtomicNum() != 1]
    if len(written) == one.num_nodes:
        place = np.argsort(written)
        one.src, one.dst = np.argsort(place)[one.src], np.argsort(place)[one.dst]
        one.node_label = [one.node_label[at] for at in place]
        one.x = None if one.x is None else one.x[place]
    return one


_ADAPTERS: dict[tuple[str, str | None], Callable[[Any, Names], One]] = {
    ("networkx", None): _networkx,
    ("igraph", "GraphBase"): _igraph,
    ("igraph", None): _igraph,
    ("rustworkx", None): _rustworkx,
    ("torch_geometric", "Data"): _pyg,
    ("dgl", "DGLGraph"): _dgl,
    ("dgl", "DGLHeteroGraph"): _dgl,  # as older versions call it
    ("scipy", None): _sparse,
    ("numpy", "ndarray"): _dense,
    ("torch", "Tensor"): _dense,
    ("rdkit", None): _molecule,
}


# Pieces


def _ends(edge_index: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(edge_index, tuple):
        edge_index = [as_array(part) for part in edge_index]
    ends = as_array(edge_index)
    if ends.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if ends.ndim != 2 or ends.shape[0] != 2:
        square = ends.ndim == 2 and ends.shape[0] == ends.shape[1]
        fix = (
            "an adjacency array with attributes beside it is a scipy sparse matrix"
            if square
            else None
        )
        raise InputError(
            f"edge_index has the shape {ends.shape}, but it must be (2, edges)", fix=fix
        )
    if ends.dtype.kind not in "iu":
        raise InputError(f"edge_index holds {ends.dtype}, but it must hold whole numbers")
    return ends[0], ends[1]


def _count(said: Any, src: np.ndarray, dst: np.ndarray, rows: Any) -> int:
    if said is not None:
        try:
            return operator.index(
                int(said) if isinstance(said, float) and said.is_integer() else said
            )
        except TypeError:
            raise InputError(f"num_nodes is {shown(said)}, but it must be a whole number") from None
    if rows is not None:
        try:
            return len(rows)
        except TypeError:
            raise InputError(
                f"x is {shown(rows)}, but it must be a list with a row a node"
            ) from None
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


def _attributes(
    items: Sequence[Mapping[str, Any]], said: str | Sequence[str] | None, what: str
) -> np.ndarray | None:
    """The numbers of every item under the names that were ``said``, side by side."""
    if said is None or isinstance(said, str):
        values = _named(items, said, "x", what)
        return None if values is None else _rows_of(values, said or "x", what)
    columns = [_named(items, name, "", what) for name in said]
    missing = [name for name, values in zip(said, columns) if values is None]
    if len(missing) == len(columns):
        return None
    if missing:
        raise InputError(f"its {what}s have no attribute {missing[0]!r}")
    made = zip(columns, said)
    rows = [_rows_of(values, name, what) for values, name in made if values is not None]
    return np.concatenate(rows, axis=1)


def _edge_labels(edges: Sequence[Mapping[str, Any]], names: Names) -> list[Any] | None:
    """What kinds edges are of: what was named, or ``label`` where that is not named otherwise."""
    if names.edge_label is None and "label" in names.of_edges():
        return None
    return _named(edges, names.edge_label, "label", "edge")


def _edge_attributes(edges: Sequence[Mapping[str, Any]], names: Names) -> np.ndarray | None:
    """The numbers of edges: those that were named, or ``x`` where that is not named otherwise."""
    if names.edge_attrs is None and "x" in names.of_edges():
        return None
    return _attributes(edges, names.edge_attrs, "edge")


def _rows_of(values: list[Any], name: str, what: str) -> np.ndarray:
    try:
        return as_numbers(values, name, what).reshape(len(values), -1)
    except Within:
        raise
    except InputError as error:
        raise InputError(f"attribute {name!r}: {error.problem}", fix=error.fix) from None


def _weights(edges: Sequence[Mapping[str, Any]], names: Names) -> np.ndarray | None:
    if names.weight is None and "weight" in names.of_edges():
        return None
    values = _named(edges, names.weight, "weight", "edge")
    return None if values is None else as_numbers(values, names.weight or "weight", "edge")
