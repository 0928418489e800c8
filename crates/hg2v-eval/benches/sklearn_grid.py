"""The grid search of benches/svm.rs with scikit-learn: time, scores and predictions compared.

    cargo bench -p hg2v-eval --bench svm -- FOLDER
    python sklearn_grid.py FOLDER
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def main(folder):
    for path in sorted(Path(folder).glob("*.json")):
        run = json.loads(path.read_text())
        x = np.fromfile(path.with_suffix(".f32"), "<f4").reshape(run["rows"], run["columns"])
        x, y = x.astype(np.float64), np.array(run["labels"])
        train, test = run["outer"]["train"], run["outer"]["test"]
        ours = run["outcome"]["selection"]["settings"]
        first_c = ours[0]["c"]
        gammas = [s["kernel"]["vectors"]["rbf"] for s in ours if s["c"] == first_c]
        grid = {
            "svc__C": list(dict.fromkeys(s["c"] for s in ours)),
            "svc__gamma": [g if g == "scale" else g["value"] for g in gammas],
        }
        folds = [(f["train"], f["test"]) for f in run["folds"]]
        search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds, n_jobs=2)
        started = time.perf_counter()
        search.fit(x[train], y[train])
        predicted = search.predict(x[test])
        seconds = time.perf_counter() - started
        results = search.cv_results_
        theirs = np.array([results[f"split{f}_test_score"] for f in range(len(folds))]).T
        sizes = np.array([len(f[1]) for f in folds])
        differing = np.abs(theirs - np.array([s["accuracies"] for s in ours])) * sizes
        same = np.mean(predicted == np.array(run["outcome"]["predictions"]))
        print(
            f"{path.stem}: scikit-learn {seconds:.2f} s, ours {run['seconds']:.2f} s,"
            f" ratio {seconds / run['seconds']:.1f}; setting {search.best_index_} and"
            f" {run['outcome']['selection']['best']}; {int(round(differing.sum()))} of"
            f" {len(ours) * sizes.sum()} validation decisions differ in count;"
            f" test predictions {100 * same:.2f} % the same"
        )


main(sys.argv[1])
