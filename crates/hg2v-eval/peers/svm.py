"""Support vector machines beside scikit-learn's: the same vectors, splits, folds and grid.

    python svm.py parity HG2V            six real sets under $HG2V_DATA; fails where they disagree
    python svm.py times HG2V [FOLDER]    the same, timed; and the problems of benches/svm.rs in FOLDER

HG2V is the command. scikit-learn does what the command's documentation says it does itself:
GridSearchCV over make_pipeline(StandardScaler(), SVC()), then one fit and one prediction.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SETS = ["MUTAG", "PTC_FR", "ENZYMES", "PROTEINS", "IMDB-BINARY", "DD"]
# Small vectors: it is the classifier that is compared, not the model.
MODEL = ["--preset", "paper", "--dim", "16", "--hops", "2", "--epochs", "1"]
SAME = 0.999


def search(x, y, split):
    """What scikit-learn makes of a split: the search, its predictions, seconds."""
    train, test = np.array(split["train"]), np.array(split["test"])
    # Rows of the whole become rows of the training part, which is ascending.
    within = lambda rows: np.searchsorted(train, rows)
    folds = [(within(fold["train"]), within(fold["test"])) for fold in split["folds"]]
    gammas = [kernel["rbf"] for kernel in split["grid"]["kernels"]]
    grid = {
        "svc__C": split["grid"]["c"],
        "svc__gamma": [gamma if gamma == "scale" else gamma["value"] for gamma in gammas],
    }
    found = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds, n_jobs=2)
    started = time.perf_counter()
    found.fit(x[train], y[train])
    predicted = found.predict(x[test])
    return found, predicted, time.perf_counter() - started


def setting(split):
    """The place of our setting in scikit-learn's order, which is ours."""
    chosen, grid = split["chosen"], split["grid"]
    kernel = grid["kernels"].index(chosen["kernel"]["vectors"])
    return grid["c"].index(chosen["c"]) * len(grid["kernels"]) + kernel


def compare(name, x, y, split):
    """Prints a line; returns how many predictions differ, of how many, and whether
    the same setting won."""
    found, predicted, seconds = search(x, y, split)
    ours, theirs = setting(split), int(found.best_index_)
    differing = int(np.sum(predicted != np.array(split["predicted"])))
    means = found.cv_results_["mean_test_score"]
    print(
        f"{name}: setting {ours} and {theirs} (mean {means[theirs]:.4f}, reached by"
        f" {np.sum(means == means[theirs])}); {differing} of {len(predicted)} predictions differ;"
        f" {split['seconds']:.2f} s and {seconds:.2f} s, ratio {seconds / split['seconds']:.1f}",
        flush=True,
    )
    return differing, len(predicted), ours == theirs


def real(command, splits):
    """Vectors, labels and what the command made of them, of each real set."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run = lambda *arguments: subprocess.run(
            [command, *arguments, "--cache-dir", folder / "cache", "--quiet"],
            check=True, stdout=subprocess.DEVNULL,
        )
        for name in SETS:
            model, vectors, lines = (folder / f"{name}{end}" for end in [".model", ".npy", ".jsonl"])
            run("fit", name, "--out", model, *MODEL)
            run("embed", model, name, "--out", vectors)
            run("evaluate", name, "--embeddings", vectors, "--predictions", lines,
                "--splits", str(splits), "--no-controls")
            with open(folder / f"{name}.ids.csv") as keys:
                y = np.array([int(row["y"]) for row in csv.DictReader(keys)])
            x = np.load(vectors).astype(np.float64)
            yield name, x, y, [json.loads(line) for line in lines.read_text().splitlines()]


def parity(command):
    differing = count = 0
    others = []
    for name, x, y, splits in real(command, splits=2):
        for split in splits:
            assert y[split["test"]].tolist() == split["truth"], name
            found, of, same = compare(f"{name}, split {split['split']}", x, y, split)
            differing, count = differing + found, count + of
            others += [] if same else [f"{name}, split {split['split']}"]
    print(f"{count - differing} of {count} predictions are scikit-learn's")
    assert differing <= (1 - SAME) * count, "too many predictions differ"
    assert not others, f"another setting won on {'; '.join(others)}"


def times(command, folder=None):
    for path in sorted(Path(folder).glob("*.json")) if folder else []:
        split = json.loads(path.read_text())
        x = np.fromfile(path.with_suffix(".f32"), "<f4").reshape(split["rows"], split["columns"])
        compare(path.stem, x.astype(np.float64), np.array(split["labels"]), split)
    if os.environ.get("HG2V_DATA"):
        # One split: two would share the cores.
        for name, x, y, (split,) in real(command, splits=1):
            compare(name, x, y, split)


{"parity": parity, "times": times}[sys.argv[1]](*sys.argv[2:])
