"""Embedding on a real Ray cluster of processes here; run by ``make test-peers``."""

import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest
import ray

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import hg2v
from shared import *  # noqa: F403  (the fixtures)
from shared import check_fitted, same
from test_inputs import arrow_table

EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "data_parallel.py"


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def check(dataset, arrays, vectors):
    rows = sorted(dataset.take_all(), key=lambda row: int(row["id"][1:]))
    assert [row["id"] for row in rows] == [one["id"] for one in arrays]
    same(np.stack([np.asarray(row["embedding"], np.float32) for row in rows]), vectors)


@pytest.mark.parametrize("blocks", [1, 5])
def test_same_bits_at_any_number_of_blocks(blocks, arrays, vectors, folder):
    from hg2v.engines import ray_embed

    data = ray.data.from_arrow(arrow_table(arrays)).repartition(blocks)
    check(ray_embed(data, str(folder), concurrency=2), arrays, vectors)


def test_a_worker_that_is_killed_loses_nothing(arrays, vectors, folder, tmp_path):
    mark = tmp_path / "killed"

    # Made here, it travels by value: the workers know nothing of this file.
    class KilledOnce:
        """An actor that kills itself in the middle of the work, once."""

        def __init__(self, folder, mark):
            from hg2v.engines import Embed

            self.embed, self.mark = Embed(folder), mark

        def __call__(self, table):
            made = self.embed(table)
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return made
            os.kill(os.getpid(), signal.SIGKILL)

    data = ray.data.from_arrow(arrow_table(arrays)).repartition(8)
    embedded = data.map_batches(
        KilledOnce,
        fn_constructor_args=(str(folder), str(mark)),
        batch_format="pyarrow",
        batch_size=5,
        concurrency=2,
    )
    check(embedded, arrays, vectors)
    assert mark.exists()


def test_training_through_ray_train(arrays, tmp_path):
    hg2v.graphs(arrays).write(str(tmp_path / "g.jsonl"))
    made = {}
    for how in ([], ["--ray"]):
        out = tmp_path / f"model{len(how)}"
        done = subprocess.run(
            [sys.executable, EXAMPLE, *how, tmp_path / "g.jsonl", out, "2", "3"],
            capture_output=True,
            text=True,
            env={**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address},
            timeout=300,
        )
        assert out.exists(), done.stdout[-2000:] + done.stderr[-4000:]
        made[len(how)] = hg2v.load(out).transform(arrays)
    # Whoever starts the two processes, they do the same.
    np.testing.assert_allclose(made[0], made[1], rtol=1e-4, atol=1e-4)


def test_fitting_is_that_of_one_process(tmp_path):
    from hg2v.engines import ray_fit

    check_fitted(ray_fit, tmp_path)
