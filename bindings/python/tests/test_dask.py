"""Embedding on a real Dask cluster of processes: the same bits, nothing lost, nothing twice."""

import json
import os
import signal

import numpy as np
import pytest

import hg2v
from shared import PARAMS, check_fitted, many, same
from test_inputs import arrow_table

dask = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def partitioned(arrays, partitions):
    pandas = pytest.importorskip("pandas")
    frame = arrow_table(arrays).to_pandas(types_mapper=pandas.ArrowDtype)
    return dask.from_pandas(frame, npartitions=partitions)


def check(frame, arrays, vectors):
    frame = frame.sort_values("id", key=lambda ids: ids.str[1:].astype(int))
    assert frame["id"].tolist() == [one["id"] for one in arrays]
    same(np.stack(frame["embedding"]).astype(np.float32), vectors)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_same_bits_at_any_number_of_partitions(client, partitions, arrays, vectors, folder):
    from hg2v.engines import dask_embed

    frame = partitioned(arrays, partitions)
    check(dask_embed(frame, str(folder)).compute(), arrays, vectors)


def test_lists_that_dask_made_texts_are_refused(arrays, folder):
    from hg2v.engines import dask_embed

    with pytest.raises(hg2v.InputError, match="convert-string"):
        dask_embed(dask.from_pandas(arrow_table(arrays).to_pandas(), npartitions=2), str(folder))


def kill_once(table, mark, embed):
    """Kills the worker that comes first, in the middle of the work."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return embed(table)
    embed(table)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_loses_nothing(client, arrays, vectors, folder, tmp_path):
    from hg2v.engines import Embed, dask_embed

    frame = partitioned(arrays, 8)
    mark = str(tmp_path / "killed")
    embedded = dask_embed(frame, str(folder))
    killed = frame.map_partitions(kill_once, mark, Embed(str(folder)), meta=embedded._meta)
    check(killed.compute(), arrays, vectors)
    assert os.path.exists(mark)


def test_parquet_in_and_out(client, arrays, vectors, folder, tmp_path):
    """Files in, files out, and the command's vectors from the same files."""
    from hg2v.engines import dask_embed

    for part in range(4):
        hg2v.graphs(arrays[part * 10 : part * 10 + 10]).write(str(tmp_path / f"part{part}.parquet"))
    frame = dask.read_parquet(str(tmp_path / "part*.parquet"))
    embedded = dask_embed(frame, str(folder))
    check(embedded.compute(), arrays, vectors)
    embedded.to_parquet(str(tmp_path / "vectors"), schema=None, write_index=False)
    written = pytest.importorskip("pandas").read_parquet(tmp_path / "vectors")
    assert list(written.columns)[-1] == "embedding"
    check(written, arrays, vectors)


def test_fitting_is_that_of_one_process(client, tmp_path):
    from hg2v.engines import dask_fit

    check_fitted(dask_fit, tmp_path)


def test_what_no_worker_kept_is_made_here(tmp_path):
    from hg2v.engines import Coarsen, _parts

    graphs, estimator = hg2v.graphs(many(300)), hg2v.HG2V(**PARAMS)
    parts = list(_parts(graphs))
    assert len(parts) == 2
    assert Coarsen(estimator, tmp_path)(parts[1]) == 300 - 256
    model = estimator._fit(graphs, str(tmp_path))
    assert json.loads(model.notes())["from_cache"] == 300 - 256
    # What was made is kept, too.
    again = estimator._fit(graphs, str(tmp_path))
    assert json.loads(again.notes())["from_cache"] == 300
