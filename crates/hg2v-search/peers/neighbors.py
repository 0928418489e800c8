"""Neighbours and principal components by scikit-learn, beside ours.

neighbors.py parity HG2V FOLDER: the same answers on MUTAG, under HG2V_DATA.
neighbors.py times FOLDER: how long it takes, on what the bench `search` left there.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

TOP = 10


def best(runs, job):
    """The best of some runs, in seconds."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        job()
        times.append(time.perf_counter() - started)
    return min(times)


def times(folder):
    vectors = np.load(folder / "vectors.npy")
    for line in (folder / "times.csv").read_text().split():
        metric, _, some, every = line.split(",")
        near = NearestNeighbors(n_neighbors=TOP, algorithm="brute", metric=metric.lower(), n_jobs=-1)
        near.fit(vectors)
        theirs_some = best(5, lambda: near.kneighbors(vectors[:1000]))
        theirs_all = best(3, lambda: near.kneighbors())
        print(
            f"{metric}: 1000 queries {float(some):.3f} s, scikit-learn {theirs_some:.3f} s "
            f"(ratio {theirs_some / float(some):.2f}); all against all {float(every):.3f} s, "
            f"scikit-learn {theirs_all:.3f} s (ratio {theirs_all / float(every):.2f})"
        )


def parity(hg2v, folder):
    """Neighbours and principal components of real vectors, beside scikit-learn's."""
    folder.mkdir(parents=True, exist_ok=True)
    run = lambda *words: subprocess.run([hg2v, *map(str, words), "-q"], check=True, capture_output=True)
    model, vectors = folder / "m", folder / "mutag.npy"
    if not model.exists():
        run("fit", "MUTAG", "--out", model, "--epochs", 2)
    run("embed", model, "MUTAG", "--out", vectors, "--force")
    x = np.load(vectors).astype(np.float64)
    for metric in ["cosine", "euclidean"]:
        near = NearestNeighbors(n_neighbors=TOP, algorithm="brute", metric=metric).fit(x)
        distances, _ = near.kneighbors()
        for row in range(0, len(x), 7):
            said = run("search", vectors, row, "--top", TOP, "--metric", metric, "--json").stdout
            found = json.loads(said)["queries"][0]["neighbors"]
            ours = np.array([one["distance"] for one in found])
            # Order is not compared: equal graphs are equally far.
            scale = np.abs(x).max() if metric == "euclidean" else 1
            assert np.allclose(ours, distances[row], atol=1e-6 * scale), (metric, row)
    run("project", vectors, "--out", folder / "pca.csv", "--force")
    ours = np.genfromtxt(folder / "pca.csv", delimiter=",", skip_header=1)[:, -2:]
    theirs = PCA(2, svd_solver="full").fit_transform(x)
    assert np.allclose(ours, theirs, rtol=1e-4, atol=1e-4 * np.abs(theirs).max()), "PCA"
    print("MUTAG: neighbours and principal components are scikit-learn's")


if __name__ == "__main__":
    if sys.argv[1] == "times":
        times(Path(sys.argv[2]))
    else:
        parity(sys.argv[2], Path(sys.argv[3]))
