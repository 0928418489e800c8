"""Hierarchical Graph2Vec: collections of graphs into vectors, without labels, and new graphs
afterwards.

    >>> import hg2v
    >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
    >>> model = hg2v.HG2V(dim=16, levels=2, epochs=3).fit(rings)
    >>> vectors = model.transform(rings)

The command ``hg2v``, which the wheel brings, goes on from there with what is written here::

    >>> hg2v.graphs(rings).write("graphs.jsonl")
    >>> model.save("rings.model")

    hg2v info graphs.jsonl
    hg2v report rings.model --data graphs.jsonl --out page.html
    hg2v search rings.model 17 --data graphs.jsonl
    hg2v serve rings.model --data graphs.jsonl

:class:`HG2V` and what it is compared with, :class:`Graph2Vec`, :class:`InfoGraph`,
:class:`KernelVectors` and others, are estimators as scikit-learn knows them, and so are the kernels
:class:`WLOptimalAssignment` and :class:`WassersteinWL`; :func:`load` reads a model of any method;
:func:`graphs` says which graphs they take; :func:`coarsen` makes pyramids; :func:`embed_arrow` takes
and gives tables, :func:`embed_batches` streams of them, :func:`embed_file` files of any length; ``hg2v.torch`` has the network as a layer,
and ``hg2v.engines`` spreads work over Dask, Ray and Spark. Everything that can
go wrong is in ``hg2v.errors``. What was met in graphs and resolved is said to the logger ``hg2v``.
Graphs that cannot be used stop everything, unless ``errors="nan"`` of an estimator says otherwise.
"""

from ._coarsen import coarsen
from ._hg2v import Graphs, __version__
from ._inputs import graphs
from ._kernels import WassersteinWL, WLOptimalAssignment
from ._methods import load
from ._models import HG2V, Graph2VecGNN, Untrained
from ._rivals import Graph2Vec, Graph2VecLoukas, InfoGraph, KernelVectors, Morgan, Statistics
from ._stream import embed_file
from .arrow import embed_arrow, embed_batches, to_arrow
from .errors import HG2VError, InputError, ParameterError

__all__ = [
    "HG2V",
    "Graph2Vec",
    "Graph2VecGNN",
    "Graph2VecLoukas",
    "Graphs",
    "HG2VError",
    "InfoGraph",
    "InputError",
    "KernelVectors",
    "Morgan",
    "ParameterError",
    "Statistics",
    "Untrained",
    "WLOptimalAssignment",
    "WassersteinWL",
    "__version__",
    "coarsen",
    "embed_arrow",
    "embed_batches",
    "embed_file",
    "graphs",
    "load",
    "to_arrow",
]
