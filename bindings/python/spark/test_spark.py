"""Embedding on Spark, a driver and two executors' worth of processes; run by ``make test-spark``."""

import os
import pathlib
import signal
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
from pyspark.sql import SparkSession

import hg2v
from hg2v.engines import spark_embed, spark_fit
from shared import *  # noqa: F403  (the fixtures)
from shared import check_fitted, same


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        # Two workers; a task that fails is tried again.
        SparkSession.builder.master("local[2,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def parquet(arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "graphs.parquet"
    hg2v.graphs(arrays).write(str(path))
    return str(path)


def check(frame, arrays, vectors):
    rows = sorted(frame.collect(), key=lambda row: int(row["id"][1:]))
    assert [row["id"] for row in rows] == [one["id"] for one in arrays]
    same(np.array([row["embedding"] for row in rows], np.float32), vectors)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_same_bits_at_any_number_of_partitions(spark, partitions, parquet, arrays, vectors, folder):
    frame = spark.read.parquet(parquet).repartition(partitions)
    check(spark_embed(frame, str(folder)), arrays, vectors)


def test_a_worker_that_is_killed_loses_nothing(spark, parquet, arrays, vectors, folder, tmp_path):
    mark, model = str(tmp_path / "killed"), str(folder)
    frame = spark.read.parquet(parquet).repartition(8)
    schema = spark_embed(frame, model).schema

    def killed_once(batches):
        from hg2v.engines import _batches

        for batch in _batches(model, 1, "raise")(batches):
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield batch
                continue
            os.kill(os.getpid(), signal.SIGKILL)

    check(frame.mapInArrow(killed_once, schema), arrays, vectors)
    assert os.path.exists(mark)


def test_fitting_is_that_of_one_process(spark, tmp_path):
    def fit(estimator, graphs, cache):
        return spark_fit(estimator, graphs, cache, spark)

    check_fitted(fit, tmp_path)
