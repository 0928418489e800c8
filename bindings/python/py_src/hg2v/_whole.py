"""Many graphs at once: batches and datasets of PyTorch Geometric and DGL, and lines of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._adapters import kind_of, refuse_unknown, tensors, with_path_hint
from ._hg2v import Graphs
from ._read import Read
from ._scalars import Names, Within, as_array
from ._stacked import agreed, as_numbers, as_rows, handed_over, refuse_no_number
from ._targets import split
from .errors import InputError


def parts_of(data: Any) -> Any | None:
    """The graphs of a batch, or of a dataset, of PyTorch Geometric or DGL, which is a sequence of
    graphs, or can be made one; ``None`` where this is none."""
    kinds = _lineage(data)
    if ("torch_geometric", "Batch") in kinds:
        return data.to_data_list()
    if ("torch_geometric", "Dataset") in kinds:
        return data
    if kinds & {("dgl", "DGLGraph"), ("dgl", "DGLHeteroGraph")} and data.batch_size > 1:
        return sys.modules["dgl"].unbatch(data)
    return None


def _lineage(data: Any) -> set[tuple[str, str]]:
    """The classes that a thing is of, each with its library."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__}


def pyg_whole(data: Any, names: Names) -> Graphs | None:
    """A ``Batch``, or a dataset that is held whole, without a step a graph."""
    kinds = {name for library, name in _lineage(data) if library == "torch_geometric"}
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
    one = tensors(
        lambda name: getattr(stored, name, None), stored.edge_index, int(node_ptr[-1]), names
    )
    [one] = agreed([one])
    sized = [("node", one.x), ("edge", one.edge_x)]
    rows = {"node": int(node_ptr[-1]), "edge": int(edge_ptr[-1])}
    if any(of is not None and len(of) != rows[what] for what, of in sized):
        return None  # Graph by graph it is said where.
    y = getattr(stored, "y", None)
    y = None if y is None else as_array(y)
    targets: dict[str, Any] = {}
    if y is not None and y.ndim == 2 and len(y) == count and y.shape[1] > 1:
        _, targets = split(y.tolist())
    elif y is not None and y.size not in (count, rows["node"]):
        return None
    y = None if y is None or y.reshape(-1).shape != (count,) else y.reshape(-1)
    return handed_over(
        node_ptr.astype(np.int64),
        edge_ptr.astype(np.int64),
        one.src - first,
        one.dst - first,
        names,
        weight=None if one.weight is None else as_numbers(one.weight, "weight", "edge"),
        x=None if one.x is None else as_rows(one.x),
        edge_x=None if one.edge_x is None else as_rows(one.edge_x, "edge_x", "edge"),
        targets=targets,
        directed=[names.directed] * count,
        columns=dict(node_label=one.node_label, edge_label=one.edge_label, y=y),
    )


def of_lines(items: Sequence[Mapping[str, Any]], skip: bool) -> Read:
    """Mappings with the keys of a line of JSONL, read as such lines are; with ``skip``, without
    those that cannot be."""
    spelled, refused = {}, {}
    for at, item in enumerate(items):
        try:
            spelled[at] = _line(item, at)
        except InputError as error:
            if not skip:
                raise
            refused[at] = error.said
    if not spelled:
        return Read(Graphs.concat([]), refused)
    try:
        made, more = Graphs.from_lines("\n".join(spelled.values()), skip)
    except InputError as error:
        raise _at_node(items, error) from None
    where = list(spelled)
    for at, problem in more:
        refused[where[at]] = _at_node([items[where[at]]], InputError(problem)).said
    return Read(made, dict(sorted(refused.items())))


def of_smiles(items: Sequence[str], skip: bool, atoms: bool) -> Read:
    """Molecules by their SMILES, with numbers of atoms where ``atoms`` is said; with ``skip``,
    without those that cannot be used."""
    try:
        made, refused = Graphs.from_smiles(items, skip, atoms)
    except InputError as error:
        at = error.graph
        raise (error if at is None else with_path_hint(items[at], error)) from None
    return Read(made, dict(refused))


def _line(item: Mapping[str, Any], at: int) -> str:
    labels = {"node_labels", "edge_labels"}
    known = {"edges", "nodes", "n", "x", *labels, "edge_x", "id", "y", "directed"}
    try:
        refuse_unknown(item, known)
        return json.dumps(dict(item), default=_plain)
    except InputError as error:
        raise error.of_graph(at) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(str(error), at) from None


def _at_node(items: Sequence[Mapping[str, Any]], error: InputError) -> InputError:
    """Rust knows a line that nobody has seen; the node says more."""
    for at, item in enumerate(items):
        x = item.get("x")
        try:
            refuse_no_number([] if x is None else x, "x", "node")
        except Within as refusal:
            return refusal.of_graph(at)
        except Exception:  # Attributes of a shape that Rust refused.
            continue
    return error


def _plain(value: Any) -> Any:
    """numpy's and PyTorch's values as JSON spells them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise InputError(
        f"a {kind_of(value)} cannot be part of a graph", fix="give numbers, texts and lists"
    )
