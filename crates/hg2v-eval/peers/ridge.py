"""Ridge regressions beside scikit-learn's: the same vectors, splits, folds and grids.

    python ridge.py parity HG2V     two real sets under $HG2V_DATA; fails where they disagree

HG2V is the command. The number to predict is made of each graph: its edges a node, and a little of
its number of nodes. scikit-learn does what the command's documentation says it does itself:
GridSearchCV over make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")) and over the same with
Ridge(), numbers less the mean of those that are learnt from, scored by root mean square error.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SETS = ["MUTAG", "PTC_FR"]
# Small vectors: it is the regression that is compared, not the model.
MODEL = ["--preset", "paper", "--dim", "16", "--hops", "2", "--epochs", "1"]
# Predictions may differ by this much of the numbers' deviation.
SAME = 1e-6
SCORE = "neg_root_mean_squared_error"


class Centred(RegressorMixin, BaseEstimator):
    """Kernel ridge on numbers less their mean; γ may be SVC's "scale"."""

    def __init__(self, alpha=1.0, gamma="scale"):
        self.alpha, self.gamma = alpha, gamma

    def fit(self, x, y):
        variance = x.var()
        scale = 1 / (x.shape[1] * variance) if variance else 1.0
        gamma = scale if self.gamma == "scale" else self.gamma
        self.mean_ = y.mean()
        self.model_ = KernelRidge(kernel="rbf", alpha=self.alpha, gamma=gamma).fit(x, y - self.mean_)
        return self

    def predict(self, x):
        return self.model_.predict(x) + self.mean_


def number(graph):
    """What is to be predicted of a graph."""
    nodes = graph.get("nodes")
    count = nodes if isinstance(nodes, int) else len(nodes or {v for edge in graph["edges"] for v in edge})
    return len(graph["edges"]) / max(count, 1) + 0.01 * count


def searched(machine, grid, x, y, split):
    """What scikit-learn makes of a split: the search, and its predictions."""
    train, test = np.array(split["train"]), np.array(split["test"])
    # Rows of the whole become rows of the training part, which is ascending.
    within = lambda rows: np.searchsorted(train, rows)
    folds = [(within(fold["train"]), within(fold["test"])) for fold in split["folds"]]
    found = GridSearchCV(make_pipeline(StandardScaler(), machine), grid, cv=folds, scoring=SCORE)
    found.fit(x[train], y[train])
    return found, found.predict(x[test])


def chosen_alike(name, found, ours):
    """The settings are the same, or equally good to what rounding leaves."""
    means = -found.cv_results_["mean_test_score"]
    theirs = int(found.best_index_)
    assert abs(means[ours] - means[theirs]) <= 1e-9 * means[theirs], f"{name}: {ours}, not {theirs}"
    return "the same" if ours == theirs else "an equally good"


def kernel_ridge(name, x, y, split):
    gammas = [kernel["rbf"] for kernel in split["grid"]["kernels"]]
    gammas = [gamma if gamma == "scale" else gamma["value"] for gamma in gammas]
    alphas = split["grid"]["alpha"]
    grid = {"centred__alpha": alphas, "centred__gamma": gammas}
    found, predicted = searched(Centred(), grid, x, y, split)
    chosen = split["chosen"]
    kernel = split["grid"]["kernels"].index(chosen["kernel"]["vectors"])
    how = chosen_alike(name, found, alphas.index(chosen["alpha"]) * len(gammas) + kernel)
    assert abs(-found.best_score_ - chosen["mean"]) <= SAME * y.std(), name
    apart = np.abs(predicted - np.array(split["predicted"])).max() / y.std()
    print(f"{name}: kernel ridge, {how} setting; predictions differ by {apart:.1e} deviations at most")
    assert apart <= SAME, name


def ridge(name, x, y, split):
    (ours,) = [also for also in split["also"] if also["classifier"] == "linear"]
    alphas = split["grid"]["ridge"]
    found, predicted = searched(Ridge(), {"ridge__alpha": alphas}, x, y, split)
    how = chosen_alike(name, found, alphas.index(ours["chosen"]))
    truth = y[split["test"]]
    theirs = {
        "rmse": float(np.sqrt(np.mean((truth - predicted) ** 2))),
        "mae": mean_absolute_error(truth, predicted),
        "r2": r2_score(truth, predicted),
    }
    apart = max(abs(theirs[error] - ours["errors"][error]) for error in theirs)
    print(f"{name}: ridge, {how} setting; errors differ by {apart:.1e} at most")
    assert apart <= SAME * max(1.0, y.std()), name


def parity(command):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run = lambda *arguments: subprocess.run(
            [command, *arguments, "--cache-dir", folder / "cache", "--quiet"],
            check=True, stdout=subprocess.DEVNULL,
        )
        for name in SETS:
            graphs, model, vectors, lines = (
                folder / f"{name}{end}" for end in [".jsonl", ".model", ".npy", ".lines.jsonl"]
            )
            subprocess.run([command, "convert", name, graphs, "--quiet"], check=True)
            records = [json.loads(line) for line in graphs.read_text().splitlines()]
            for record in records:
                record["y"] = number(record)
            graphs.write_text("".join(json.dumps(record) + "\n" for record in records))
            run("fit", graphs, "--out", model, *MODEL)
            run("embed", model, graphs, "--out", vectors)
            run("evaluate", graphs, "--embeddings", vectors, "--predictions", lines,
                "--splits", "2", "--no-controls")
            x = np.load(vectors).astype(np.float64)
            y = np.array([record["y"] for record in records])
            for split in map(json.loads, lines.read_text().splitlines()):
                assert np.array_equal(y[split["test"]], split["truth"]), name
                kernel_ridge(f"{name}, split {split['split']}", x, y, split)
                ridge(f"{name}, split {split['split']}", x, y, split)


{"parity": parity}[sys.argv[1]](*sys.argv[2:])
