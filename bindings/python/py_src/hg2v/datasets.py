"""Sets of graphs by their names: those of the paper, and those of a folder.

    >>> import hg2v
    >>> from hg2v import datasets
    >>> datasets.available()["name"][:3].tolist()
    ['MUTAG', 'PTC_FR', 'FRANKENSTEIN']

    >>> rings = [{"edge_index": [range(n), [*range(1, n), 0]], "y": n % 2} for n in range(10, 30)]
    >>> hg2v.graphs(rings).write("rings.jsonl")
    >>> found = datasets.load("rings", data_dir=".")
    >>> found
    Dataset('rings', 20 graphs, 2 classes)
    >>> found.target[:4].tolist(), found.classes.tolist()
    ([0, 1, 0, 1], [0, 1])

The folder is ``data_dir``, or else that of the environment variable ``HG2V_DATA``, as for the command.
"""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._hg2v import Graphs
from ._notices import say_refused
from ._parameters import check_kinds, check_one_of
from ._table import Table
from ._told import told
from ._words import OnErrorReading
from .errors import InputError, ParameterError

__all__ = ["Dataset", "available", "load"]

#: How names of files end that hold graphs.
_ENDINGS = (
    *(".zip", ".jsonl", ".jsonl.gz", ".parquet"),
    *(".smi", ".smiles", ".smi.gz", ".smiles.gz", ".sdf", ".sdf.gz", ".sd", ".mol"),
)


@dataclass(frozen=True, repr=False)
class Dataset:
    """A set of graphs, and what is to be predicted of them."""

    name: str
    #: The graphs, which every method takes.
    graphs: Graphs
    #: The class or number of each graph: whole numbers, numbers with NaN where one is not known, or
    #: texts; ``None`` where graphs have none, or several.
    target: np.ndarray | None
    #: The classes that there are, sorted; ``None`` where graphs have none, or numbers.
    classes: np.ndarray | None
    #: Several numbers or classes of each graph, by name.
    targets: dict[str, Any]

    def __repr__(self) -> str:
        said = [f"{self.name!r}", f"{len(self.graphs)} graphs"]
        if self.classes is not None:
            said.append(f"{len(self.classes)} classes")
        elif self.target is not None:
            said.append("a number each")
        if self.targets:
            said.append(f"targets {', '.join(self.targets)}")
        return f"Dataset({', '.join(said)})"


def available(data_dir: str | os.PathLike[str] | None = None) -> Table:
    """The sets that :func:`load` knows: those of the paper, then other files of the folder.

    Args:
        data_dir: the folder of sets; ``None`` is that of ``HG2V_DATA``, if any.

    Returns:
        A table with columns ``name``; ``graphs``, ``classes``, ``nodes`` and ``edges`` (averages a
        graph) and ``about`` of the paper's sets; ``path``, where the set is there; and ``download``,
        whether it can be downloaded.
    """
    folder = _folder(data_dir)
    known = _datasets("list", folder=folder)["sets"]
    rows = [
        {
            "name": of["name"],
            "graphs": of["graphs"],
            "classes": of["classes"],
            "nodes": of["mean_nodes"],
            "edges": of["mean_edges"],
            "about": of["about"],
            "path": of["path"],
            "download": of["origin"] == "downloaded",
        }
        for of in known
    ]
    names = {row["name"] for row in rows}
    for name, path in _others(folder):
        if name not in names:
            names.add(name)
            rows.append({"name": name, "path": str(path), "download": False})
    return Table({name: [row.get(name) for row in rows] for name in rows[0]})


def load(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = False,
    target: str | None = None,
    atom_attributes: bool = False,
    errors: OnErrorReading = "raise",
) -> Dataset:
    """A set of graphs by its name.

    Args:
        name: one of :func:`available`.
        data_dir: the folder of sets; ``None`` is that of ``HG2V_DATA``.
        download: fetches a set of the paper that is not there, as ``hg2v datasets get`` does: its
            content is checked, and a download that was cut goes on. ``HG2V_BASE_URL`` names another
            address.
        target, atom_attributes, errors: as for :func:`hg2v.graphs`.

    Raises:
        HG2VError: where there is no such set, or it could not be fetched.
    """
    given = {"name": name, "download": download, "target": target}
    check_kinds(load, {**given, "atom_attributes": atom_attributes})
    check_one_of("errors", errors, "raise", "skip")
    folder = _folder(data_dir)

    def read() -> tuple[Graphs, list[tuple[int, str]]]:
        return Graphs.read(name, folder, errors == "skip", bool(atom_attributes))

    try:
        graphs, refused = read()
    except InputError as error:
        if error.kind != "not-found":
            raise
        if not download:
            raise error.hinting("say download=True for a set of the paper") from None
        if folder is None:
            raise ParameterError(
                "it must be a folder to download into, unless HG2V_DATA names one",
                "data_dir",
                "None",
            ) from None
        _datasets("get", name, folder=folder)
        graphs, refused = read()
    if refused:
        say_refused(dict(refused), len(graphs) + len(refused), "and are left out")
    graphs = graphs if target is None else graphs.choose([target])
    values = _target(graphs.labels())
    return Dataset(name, graphs, values, _classes(values), graphs.targets())


def _folder(data_dir: str | os.PathLike[str] | None) -> str | None:
    return os.environ.get("HG2V_DATA") if data_dir is None else os.fspath(data_dir)


def _others(folder: str | None) -> list[tuple[str, pathlib.Path]]:
    """The files of graphs in the folder, by the names that find them."""
    if folder is None or not os.path.isdir(folder):
        return []
    found = []
    for path in sorted(pathlib.Path(folder).iterdir()):
        ending = next((end for end in _ENDINGS if path.name.endswith(end)), None)
        if ending is not None and path.is_file():
            found.append((path.name.removesuffix(ending), path))
    return found


def _datasets(*words: str, folder: str | None) -> dict[str, Any]:
    """What the command ``hg2v datasets`` tells."""
    return told("datasets", *words, *([] if folder is None else ["--data-dir", folder]))


def _target(labels: list[Any]) -> np.ndarray | None:
    """The classes or numbers of graphs as an array."""
    there = [label for label in labels if label is not None]
    if not there:
        return None
    if all(isinstance(label, (int, float)) for label in there):
        lacking = len(there) < len(labels)
        return np.array([np.nan if v is None else v for v in labels] if lacking else labels)
    made = np.empty(len(labels), object)
    made[:] = labels
    return made


def _classes(target: np.ndarray | None) -> np.ndarray | None:
    if target is None or target.dtype.kind == "f":
        return None
    there = {value for value in target.tolist() if value is not None}
    return np.array(sorted(there, key=lambda value: (isinstance(value, str), value)))
