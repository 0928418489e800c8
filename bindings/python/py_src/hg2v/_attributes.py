"""What nodes and edges bring, and nobody asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ._adapters import library_of
from ._notices import say_unused
from ._scalars import Names

#: So many nodes and edges of so many graphs are looked at.
_FEW = 8

#: What PyTorch Geometric says of a graph that is no attribute of nodes or edges.
_OF_GRAPHS = ("edge_index", "num_nodes", "batch", "ptr", "y", "edge_label_index")


def say_passed_over(items: Iterable[Any], names: Names) -> None:
    """Warns of attributes of a few of the graphs that are not used, unless some are named."""
    few = list(islice(items, _FEW))
    if names.attributes is None and names.label is None:
        say_unused("node", _of_all(few, _nodes), used=("x", "label"))
    if names.weight is None and names.edge_label is None and names.edge_attrs is None:
        used = ("weight", "label", "x", "edge_weight", "edge_attr")
        say_unused("edge", _of_all(few, _edges), used)


def _of_all(
    graphs: list[Any], attributes: Callable[[Any], Iterator[Mapping[str, Any]]]
) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for graph in graphs:
        try:
            found.extend(attributes(graph))
        except Exception:  # Whoever reads the graph says what is wrong with it.
            continue
    return found


def _nodes(graph: Any) -> Iterator[Mapping[str, Any]]:
    library = library_of(graph)
    if library == "networkx":
        yield from (of for _, of in islice(graph.nodes(data=True), _FEW))
    elif library == "igraph":
        yield from (node.attributes() for node in graph.vs[:_FEW])
    elif library == "rustworkx":
        yield from (of for of in graph.nodes()[:_FEW] if isinstance(of, Mapping))
    elif library == "torch_geometric":
        yield {name: of for name, of in _stored(graph) if not _is_of_edges(name, of, graph)}
    elif library == "dgl":
        yield dict(graph.ndata)


def _edges(graph: Any) -> Iterator[Mapping[str, Any]]:
    library = library_of(graph)
    if library == "networkx":
        yield from (of for _, _, of in islice(graph.edges(data=True), _FEW))
    elif library == "igraph":
        yield from (edge.attributes() for edge in graph.es[:_FEW])
    elif library == "rustworkx":
        edges = islice(graph.edge_index_map().values(), _FEW)
        yield from (of for _, _, of in edges if isinstance(of, Mapping))
    elif library == "torch_geometric":
        yield {name: of for name, of in _stored(graph) if _is_of_edges(name, of, graph)}
    elif library == "dgl":
        yield dict(graph.edata)


def _stored(data: Any) -> Iterator[tuple[str, Any]]:
    """What a graph of PyTorch Geometric has as many rows of as it has nodes, or edges."""
    sizes = (data.num_nodes, data.num_edges)
    for name, value in data.to_dict().items():
        # Masks say which nodes are for training.
        passed_over = name not in _OF_GRAPHS and not name.endswith("_mask")
        if passed_over and getattr(value, "ndim", 0) > 0:
            if len(value) in sizes:
                yield name, value


def _is_of_edges(name: str, value: Any, data: Any) -> bool:
    return len(value) == data.num_edges and (
        name.startswith("edge_") or len(value) != data.num_nodes
    )
