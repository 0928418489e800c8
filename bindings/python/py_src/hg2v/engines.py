"""Fitting and embedding on many machines: Dask, Ray and Spark.

**Embedding** is a few lines over :func:`hg2v.embed_arrow`, whose columns go in and come out. The model is
a folder that every worker can read under the same path, and a worker process reads it once. A graph's
vector depends on the graph alone, so that partitions, their order, and workers that die and are
replaced change nothing. ``errors`` is that of :func:`hg2v.embed_arrow`.

**Fitting**: workers coarsen the graphs, which is most of what can be shared out, and keep the pyramids in
a folder ``cache`` that all of them, and this process, reach under the same path. Then this process
trains, and finds them there: the model is that of ``estimator.fit(graphs)``, to the bit. What a worker did
not keep is made here.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from . import _hg2v
from ._hg2v import Graphs
from ._inputs import graphs as _graphs
from ._methods import Method
from ._parameters import threads_of
from ._words import OnError
from .arrow import embed_arrow, loaded
from .errors import InputError

__all__ = [
    "Coarsen",
    "Embed",
    "dask_embed",
    "dask_fit",
    "ray_embed",
    "ray_fit",
    "spark_embed",
    "spark_fit",
]

Learner = TypeVar("Learner", bound=Method)


class Embed:
    """Tables of graphs into tables of vectors, as a function that travels by its model's path.

    It is what Ray's ``map_batches`` takes for actors: ``ds.map_batches(Embed,
    fn_constructor_args=("model",), batch_format="pyarrow", concurrency=2)``.
    """

    def __init__(self, model: str, n_jobs: int | None = 1, errors: OnError = "raise") -> None:
        self.model = model
        self.n_jobs = n_jobs
        self.errors = errors

    def __call__(self, table: Any) -> Any:
        return embed_arrow(self.model, table, self.n_jobs, self.errors)


def dask_embed(frame: Any, model: str, n_jobs: int | None = 1, errors: OnError = "raise") -> Any:
    """The vectors of a Dask data frame of graphs, as a Dask data frame, partition by partition.

    From files to files: ``dask_embed(dask.dataframe.read_parquet("lake"),
    "model").to_parquet("vectors", schema=None, write_index=False)``. Without ``schema=None`` Dask
    guesses types before there is a vector, and lists are none that it guesses.
    """
    if "src" in frame.columns and frame._meta["src"].dtype == "string":
        raise InputError(
            "Dask turned the lists of column `src` into texts",
            fix="read Parquet, use columns of Arrow types, or say "
            "dask.config.set({'dataframe.convert-string': False}) before from_pandas",
        )
    embed = Embed(model, n_jobs, errors)
    columns = [name for name in ("id", "y") if name in frame.columns]
    meta = frame._meta[columns].assign(embedding=None).astype({"embedding": object})
    return frame.map_partitions(embed, meta=meta)


def ray_embed(
    dataset: Any,
    model: str,
    *,
    concurrency: int = 2,
    n_jobs: int | None = 1,
    errors: OnError = "raise",
    **options: Any,
) -> Any:
    """The vectors of a Ray dataset of graphs, as a Ray dataset, by ``concurrency`` actors.

    From files to files: ``ray_embed(ray.data.read_parquet("lake"),
    "model").write_parquet("vectors")``.
    """
    return dataset.map_batches(
        Embed,
        fn_constructor_args=(model, n_jobs, errors),
        batch_format="pyarrow",
        concurrency=concurrency,
        **options,
    )


def spark_embed(frame: Any, model: str, n_jobs: int | None = 1, errors: OnError = "raise") -> Any:
    """The vectors of a Spark data frame of graphs, as a Spark data frame.

    From files to files: ``spark_embed(spark.read.parquet("lake"),
    "model").write.parquet("vectors")``.
    """
    types = dict(frame.dtypes)
    kept = "".join(f"`{name}` {types[name]}, " for name in ("id", "y") if name in types)
    return frame.mapInArrow(_batches(model, n_jobs, errors), f"{kept}`embedding` array<float>")


def _batches(
    model: str, n_jobs: int | None, errors: OnError
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def embed(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        loaded(model)
        for batch in batches:
            made = embed_arrow(model, batch, n_jobs, errors)
            # Spark knows lists of any length only.
            vectors = made.column("embedding").cast(pyarrow.list_(pyarrow.float32()))
            yield made.set_column(made.schema.get_field_index("embedding"), "embedding", vectors)

    return embed


class Coarsen:
    """What a worker does for a fit, as a function that travels: it takes a part of the graphs, a stream
    of Arrow in bytes, keeps their pyramids in ``cache``, and gives how many graphs they were."""

    def __init__(
        self, estimator: Method, cache: str | os.PathLike[str], n_jobs: int | None = 1
    ) -> None:
        estimator._check_params()
        self.method, self.settings = estimator._method(), estimator._settings()
        self.cache = os.path.abspath(cache)
        self.threads = threads_of(n_jobs)

    def __call__(self, part: bytes) -> int:
        import pyarrow

        graphs = _graphs(pyarrow.ipc.open_stream(part).read_all())
        _hg2v.keep_pyramids(graphs, self.method, self.settings, self.cache, self.threads)
        return len(graphs)


def dask_fit(
    estimator: Learner, graphs: Any, cache: str | os.PathLike[str], n_jobs: int | None = 1
) -> Learner:
    """Fits ``estimator`` to graphs that Dask's workers coarsen.

    Args:
        estimator: an estimator of any method that learns vectors; returned, fitted.
        graphs: graphs of any kind that ``estimator.fit`` takes: a Parquet file or folder, a table, …
        cache: the folder of pyramids.
        n_jobs: the threads of one worker's call; those of training are the estimator's own.
    """
    from dask.base import compute
    from dask.delayed import delayed

    def over(coarsen: Coarsen, parts: list[bytes]) -> list[int]:
        return list(compute(*(delayed(coarsen)(part) for part in parts)))  # type: ignore[no-untyped-call]

    return _fit(estimator, graphs, Coarsen(estimator, cache, n_jobs), over)


def ray_fit(
    estimator: Learner, graphs: Any, cache: str | os.PathLike[str], n_jobs: int | None = 1
) -> Learner:
    """Fits ``estimator`` to graphs that Ray's workers coarsen; as :func:`dask_fit`."""
    import ray

    def over(coarsen: Coarsen, parts: list[bytes]) -> list[int]:
        task = ray.remote(_call)
        done: list[int] = ray.get([task.remote(coarsen, part) for part in parts])
        return done

    return _fit(estimator, graphs, Coarsen(estimator, cache, n_jobs), over)


def spark_fit(
    estimator: Learner,
    graphs: Any,
    cache: str | os.PathLike[str],
    spark: Any,
    n_jobs: int | None = 1,
) -> Learner:
    """Fits ``estimator`` to graphs that the workers of the session ``spark`` coarsen; as
    :func:`dask_fit`."""

    def over(coarsen: Coarsen, parts: list[bytes]) -> list[int]:
        done: list[int] = spark.sparkContext.parallelize(parts, len(parts)).map(coarsen).collect()
        return done

    return _fit(estimator, graphs, Coarsen(estimator, cache, n_jobs), over)


def _call(coarsen: Coarsen, part: bytes) -> int:
    return coarsen(part)


def _fit(
    estimator: Learner,
    graphs: Any,
    coarsen: Coarsen,
    over: Callable[[Coarsen, list[bytes]], list[int]],
) -> Learner:
    """Fits after ``over`` has had ``coarsen`` called on every part of the graphs."""

    def fit(found: Graphs) -> _hg2v.Model:
        done = over(coarsen, list(_parts(found)))
        assert sum(done) == len(found)
        return estimator._fit(found, coarsen.cache)

    estimator._take(graphs, "and are left out", fit)
    estimator._say_fitted()
    return estimator


def _parts(graphs: Graphs) -> Iterator[bytes]:
    """The parts whose pyramids are kept together, each a stream of Arrow."""
    import pyarrow

    whole, first = pyarrow.record_batch(graphs.to_arrow()), 0
    for length in graphs.parts():
        sink = io.BytesIO()
        with pyarrow.ipc.new_stream(sink, whole.schema) as stream:
            stream.write_batch(whole.slice(first, length))
        first += length
        yield sink.getvalue()
