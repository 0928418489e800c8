"""Embedding on many machines: Dask, Ray Data and Spark.

Each is a few lines over :func:`hg2v.embed_arrow`, whose columns go in and come out. The model is a
folder that every worker can read under the same path, and a worker process reads it once. A graph's
vector depends on the graph alone, so that partitions, their order, and workers that die and are
replaced change nothing. ``errors`` is that of :func:`hg2v.embed_arrow`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .arrow import embed_arrow, loaded
from .errors import InputError

__all__ = ["Embed", "dask_embed", "ray_embed", "spark_embed"]


class Embed:
    """Tables of graphs into tables of vectors, as a function that travels by its model's path.

    It is what Ray's ``map_batches`` takes for actors: ``ds.map_batches(Embed,
    fn_constructor_args=("model",), batch_format="pyarrow", concurrency=2)``.
    """

    def __init__(self, model: str, n_jobs: int | None = 1, errors: str = "raise") -> None:
        self.model = model
        self.n_jobs = n_jobs
        self.errors = errors

    def __call__(self, table: Any) -> Any:
        return embed_arrow(self.model, table, self.n_jobs, self.errors)


def dask_embed(frame: Any, model: str, n_jobs: int | None = 1, errors: str = "raise") -> Any:
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
    errors: str = "raise",
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


def spark_embed(frame: Any, model: str, n_jobs: int | None = 1, errors: str = "raise") -> Any:
    """The vectors of a Spark data frame of graphs, as a Spark data frame.

    From files to files: ``spark_embed(spark.read.parquet("lake"),
    "model").write.parquet("vectors")``.
    """
    types = dict(frame.dtypes)
    kept = "".join(f"`{name}` {types[name]}, " for name in ("id", "y") if name in types)
    return frame.mapInArrow(_batches(model, n_jobs, errors), f"{kept}`embedding` array<float>")


def _batches(
    model: str, n_jobs: int | None, errors: str
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
