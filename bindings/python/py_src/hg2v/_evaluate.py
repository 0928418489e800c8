"""How good vectors are, by honest splits and beside controls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _hg2v
from ._base import seed_of
from ._methods import Method
from ._parameters import check_kinds, check_words, threads_of
from ._progress import progress
from ._search import read_by, rows_of
from ._table import Table
from ._words import Classifier, Grid, Protocol, Task
from .arrow import loaded
from .errors import ParameterError


@dataclass(frozen=True)
class Evaluation:
    """What :func:`evaluate` found.

    Attributes:
        scores: a row for each target, method and judge: means over the splits of ``validation`` and
            ``test`` with their deviations, numbers of a vector, and seconds. Of classes they are
            accuracies, of numbers root mean square errors, with ``mae`` and ``r2`` of the test parts.
        splits: the same split by split.
        found: all that there is to say, as ``hg2v evaluate --json`` has it.
    """

    scores: Table
    splits: Table = field(repr=False)
    found: dict[str, Any] = field(repr=False)

    def _repr_html_(self) -> str:
        return self.scores._repr_html_()


def evaluate(
    graphs: Any,
    model: Any = None,
    vectors: Any = None,
    *,
    task: Task = "auto",
    protocol: Protocol = "inductive",
    splits: int | None = None,
    grid: Grid | None = None,
    also: Classifier | Sequence[Classifier] = (),
    controls: bool = True,
    target: str | Sequence[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> Evaluation:
    """How well classes or numbers are predicted from vectors, beside controls, as ``hg2v evaluate``
    judges them.

    The classifier is a C-SVM with a radial kernel, whose settings are chosen by 5-fold cross-validation
    inside the training part; numbers are predicted by kernel ridge regression. Beside the vectors
    stand those of the same network untrained, and statistics counted by hand. Labels are used by the
    judge alone.

    Args:
        graphs: graphs of any kind that :func:`hg2v.graphs` takes, with classes or numbers ``y``.
        model: an estimator that is not fitted is trained as the ``protocol`` says; one that is fitted,
            or a folder, is judged as it is, whatever it was trained on. :class:`hg2v.HG2V` with its
            defaults, where neither this nor ``vectors`` is given.
        vectors: a row for each graph, to be judged in place of a model's.
        task: ``"classes"``, ``"numbers"``, or ``"auto"``, which looks at the values.
        protocol: ``"inductive"`` trains on the 80 of 80/20 splits, ``"transductive"`` on all graphs
            without labels, and ``"tenfold"`` so, with ten folds in place of the splits.
        splits: how many splits; 10, where nothing else is said.
        grid: ``"paper"`` or ``"small"`` chooses the network's size by validation; of :class:`hg2v.HG2V`
            that is not fitted.
        also: further judges of the same vectors: ``"linear"``, ``"logistic"``, ``"knn"``.
        controls: whether the controls are judged, too.
        target: which of several targets are predicted, by name; all, where nothing is said.
        random_state: seeds the splits and the judge.
        n_jobs, verbose: as for :class:`hg2v.HG2V`.

    Example:
        >>> import hg2v
        >>> rings = [
        ...     {"edge_index": [range(n), [*range(1, n), 0]], "y": n % 2} for n in range(5, 45)
        ... ]
        >>> found = hg2v.evaluate(rings, hg2v.Statistics(), splits=2)
        >>> found.scores["method"].tolist(), found.splits["split"].tolist()
        (['statistics'], [0, 1])
    """
    also = [also] if isinstance(also, str) else also
    given = {"task": task, "protocol": protocol, "splits": splits, "grid": grid, "also": also}
    check_kinds(evaluate, {**given, "controls": controls, "target": target, "verbose": verbose})
    check_words(given)
    if model is not None and vectors is not None:
        raise ParameterError("give a model or vectors, not both")
    estimator = _estimator(model)
    read = read_by(estimator, graphs)
    if target is not None:
        read = read.choose([target] if isinstance(target, str) else list(target))
    device = "cpu" if estimator is None else estimator._device()
    fitted = estimator is not None and hasattr(estimator, "model_")
    of_network = (
        not fitted and vectors is None and (estimator is None or estimator._method() == "hg2v")
    )
    if grid is not None and not of_network:
        raise ParameterError(
            "it chooses the network of an HG2V that is not fitted", "grid", repr(grid)
        )
    if vectors is not None:
        rows = rows_of(vectors, "vectors")
        if len(rows) != len(read):
            raise ParameterError(
                f"there are {len(rows)} vectors for {len(read)} graphs; give one for each, in the order "
                "of the graphs"
            )
        subject: Any = rows
    elif estimator is not None and fitted:
        subject = estimator.model_
    else:
        trained = _default(random_state) if estimator is None else estimator
        trained._check_params()
        subject = (trained._method(), trained._settings())
    with progress(verbose) as told:
        said = _hg2v.evaluate(
            read,
            subject,
            task,
            protocol,
            splits,
            grid,
            list(also),
            bool(controls),
            seed_of(random_state),
            device,
            threads_of(n_jobs),
            told,
        )
    found = json.loads(said)
    return Evaluation(_scores(found), _splits(found), found)


def _estimator(model: Any) -> Method | None:
    if model is None or isinstance(model, Method):
        return model
    return loaded(model)


def _default(random_state: Any) -> Method:
    from ._models import HG2V

    return HG2V(random_state=random_state)


def _targets(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What was found, target by target."""
    return found["targets"] or [found]


def _rows(
    found: dict[str, Any],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each target with each of its methods."""
    for target in _targets(found):
        for method in target["methods"]:
            yield target, method


def _scores(found: dict[str, Any]) -> Table:
    rows = []
    for target, method in _rows(found):
        result = method["result"]
        judges = [
            (_main(target), result),
            *((one["classifier"], one) for one in result.get("also", ())),
        ]
        for judge, one in judges:
            row = {"target": target["target"], "method": method["name"], "judge": judge}
            for name in ("validation", "test"):
                row[name], row[f"{name}_std"] = one[name]["mean"], one[name]["std"]
            if one.get("errors") is not None:
                row.update({name: one["errors"][name]["mean"] for name in ("mae", "r2")})
            row.update(dim=result["dim"], seconds=one["seconds"])
            rows.append(row)
    return _table(rows)


def _splits(found: dict[str, Any]) -> Table:
    rows = []
    for target, method in _rows(found):
        for split in method["result"]["splits"]:
            also = ((one["classifier"], one) for one in split.get("also", ()))
            for judge, one in [(_main(target), split), *also]:
                row = {"target": target["target"], "method": method["name"], "judge": judge}
                row.update(split=split["split"], validation=one["validation"], test=one["test"])
                rows.append(row)
    return _table(rows)


def _main(target: dict[str, Any]) -> str:
    """What the first judge is called."""
    return "kernel ridge" if target["task"] == "numbers" else "svm"


def _table(rows: list[dict[str, Any]]) -> Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    if all(row["target"] is None for row in rows):
        names.remove("target")
    return Table({name: [row.get(name) for row in rows] for name in names})
