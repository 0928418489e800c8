"""Training on two processes, gloo between them; run by ``make test-peers``."""

import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import hg2v
from shared import *  # noqa: F403  (the fixtures)

EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "data_parallel.py"


def test_two_processes_train_one_model(arrays, tmp_path):
    """The loss falls, the processes agree (the example asserts it), and the model is a model."""
    hg2v.graphs(arrays).write(str(tmp_path / "g.jsonl"))
    done = subprocess.run(
        [sys.executable, EXAMPLE, tmp_path / "g.jsonl", tmp_path / "model", "2", "8"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", done.stdout)]
    assert len(losses) == 8 and losses[-1] < losses[0]
    trained = hg2v.load(tmp_path / "model")
    rows = trained.transform(arrays)
    assert np.isfinite(rows).all() and (rows != trained.untrained().transform(arrays)).any()
