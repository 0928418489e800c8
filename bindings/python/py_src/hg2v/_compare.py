"""Every method on the same splits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._base import seed_of
from ._inputs import graphs as _graphs
from ._parameters import check_kinds, check_words, threads_of
from ._table import Table
from ._told import told
from ._words import Classifier, Protocol, Task
from .errors import ParameterError


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    Attributes:
        scores: a row for each set, target, method and judge: means over the splits of ``validation`` and
            ``test`` with their deviations, the ``difference`` to the method that all are set
            ``against`` with its standard ``error``, seconds, and the peak of memory in bytes. Of classes
            they are accuracies, of numbers root mean square errors.
        ranks: each method with its mean rank over the sets, 1 for the best.
        failed: the methods that failed, on which set, and why.
        found: all that there is to say, as ``hg2v compare --json`` has it.
    """

    scores: Table
    ranks: Table
    failed: Table
    found: dict[str, Any] = field(repr=False)

    def _repr_html_(self) -> str:
        return self.scores._repr_html_()


def compare(
    graphs: Any,
    methods: Sequence[str] = (),
    *,
    task: Task = "auto",
    protocol: Protocol = "inductive",
    splits: int | None = None,
    also: Classifier | Sequence[Classifier] = (),
    against: str | None = None,
    out: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> Comparison:
    """How well methods do on the same splits, as ``hg2v compare`` judges them.

    Every method runs in a process of its own: one that fails or runs out of memory ends none of the
    others. So this is the command, which the wheel brings, on files; graphs that are no file yet
    are written to one.

    Args:
        graphs: graphs of any kind that :func:`hg2v.graphs` takes, with classes or numbers ``y``; or a
            ``dict`` of several collections by name.
        methods: the methods by name, such as ``"hg2v"``, ``"untrained"``, ``"wl-oa"`` or ``"graph2vec"``;
            all, where none is named.
        against: a method that all others are set against, split by split.
        out: a folder that keeps the results, and which a run that was stopped goes on from.
        device: ``"cpu"`` or ``"cuda"``.
        task, protocol, splits, also, random_state: as for :func:`evaluate`.
        n_jobs: how many threads work; all processors, where nothing is said.
        verbose: whether the command tells how far it is.

    Example:
        >>> import hg2v
        >>> rings = [
        ...     {"edge_index": [range(n), [*range(1, n), 0]], "y": n % 2} for n in range(5, 45)
        ... ]
        >>> found = hg2v.compare(rings, ["statistics", "majority"], splits=2)
        >>> found.scores["method"].tolist(), len(found.failed)
        (['statistics', 'majority'], 0)
    """
    methods = [methods] if isinstance(methods, str) else list(methods)
    judges = [also] if isinstance(also, str) else list(also)
    given = {"task": task, "protocol": protocol, "splits": splits, "also": judges}
    check_kinds(compare, {**given, "against": against, "device": device, "verbose": verbose})
    check_words(given)
    options: dict[str, Any] = {
        "--methods": ",".join(methods) or None,
        "--task": task,
        "--protocol": protocol,
        "--splits": splits,
        "--also": ",".join(judges) or None,
        "--against": against,
        "--out": None if out is None else os.fspath(out),
        "--device": device,
        "--seed": seed_of(random_state),
        "--threads": threads_of(n_jobs) or None,
    }
    said = [f"{name}={value}" for name, value in options.items() if value is not None]
    with tempfile.TemporaryDirectory(prefix="hg2v-") as folder:
        found = told("compare", *_files(graphs, folder), *said, verbose=bool(verbose))
    return Comparison(
        scores=_table(list(_scores(found))),
        ranks=_table(
            [{name: one[name] for name in ("method", "rank")} for one in found["methods"]]
        ),
        failed=_table([one for one in found["cells"] if "error" in one], "set", "method", "error"),
        found=found,
    )


def _files(graphs: Any, folder: str) -> list[str]:
    """The files that have ``graphs``; those that are in none are written into ``folder``."""
    if isinstance(graphs, (str, os.PathLike)):
        return [os.fspath(graphs)]
    if not isinstance(graphs, Mapping):
        return _files({"graphs": graphs}, folder)
    if not graphs:
        raise ParameterError("it names no collection", "graphs", "{}")
    paths = []
    for name, collection in graphs.items():
        if not isinstance(name, str) or not name or os.path.basename(name) != name:
            raise ParameterError("names of collections must do for files", "graphs", repr(name))
        paths.append(os.path.join(folder, f"{name}.jsonl"))
        _graphs(collection).write(paths[-1])
    return paths


def _scores(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in found["cells"]:
        if "error" in cell:
            continue
        first = "kernel ridge" if cell["task"] == "numbers" else "svm"
        scored = [(first, cell), *((one["classifier"], one) for one in cell.get("also", ()))]
        for judge, one in scored:
            row = {name: cell.get(name) for name in ("set", "target", "method")}
            row["judge"] = judge
            for name in ("validation", "test"):
                row[name], row[f"{name}_std"] = one[name]["mean"], one[name]["std"]
            apart = one.get("difference") or {}
            row["difference"], row["error"] = apart.get("mean"), apart.get("standard_error")
            row.update({name: cell[name] for name in ("seconds", "peak_bytes")})
            yield row


def _table(rows: list[dict[str, Any]], *names: str) -> Table:
    """Rows as columns, without those that nothing is said of, but for ``names``."""
    known = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    return Table({name: [row.get(name) for row in rows] for name in names or known})
