"""Hierarchical Graph2Vec: collections of graphs into vectors, without labels, and new graphs
afterwards.

    >>> import hg2v
    >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
    >>> model = hg2v.HG2V(dim=16, levels=2, epochs=3).fit(rings)
    >>> vectors = model.transform(rings)

    >>> index = hg2v.Index(model, rings)
    >>> index.search(3, k=2).columns
    ['query', 'rank', 'position', 'id', 'y', 'distance']

The command ``hg2v``, which the wheel brings, goes on from there with what is written here::

    >>> hg2v.graphs(rings).write("graphs.jsonl")
    >>> model.save("rings.model")

    hg2v info graphs.jsonl
    hg2v report rings.model --data graphs.jsonl --out page.html
    hg2v search rings.model 17 --data graphs.jsonl
    hg2v serve rings.model --data graphs.jsonl

:class:`HG2V` and what it is compared with, :class:`Graph2Vec`, :class:`InfoGraph`,
:class:`KernelVectors` and others, are estimators as scikit-learn knows them, and so are the kernels
:class:`WLSubtree`, :class:`WLOptimalAssignment` and :class:`WassersteinWL`; :func:`load` reads a model of any method;
:func:`graphs` says which graphs they take; :class:`Index` searches, explains, and tells duplicates
and outliers, :func:`drift` compares two sets, :func:`project` makes maps, :func:`report` a page, and
:func:`evaluate` judges vectors and :func:`compare` methods; what they find are tables of NumPy
columns, :class:`Table`.
:func:`fgw_distances` and :func:`spectral_distances` compare graphs themselves; :func:`coarsen` makes
pyramids; :func:`embed_arrow` takes and gives tables, :func:`embed_batches` streams of them,
:func:`embed_file` files of any length; ``hg2v.torch`` has the network as a layer, ``hg2v.pyg`` transforms of PyTorch Geometric,
``hg2v.engines`` spreads work over Dask, Ray and Spark, ``hg2v.karateclub`` has karateclub's interface,
and ``hg2v.datasets`` known sets by name. Everything that can go wrong is in ``hg2v.errors``. What was
met in graphs and resolved is said to the logger ``hg2v``. Graphs that cannot be used stop everything,
unless ``errors="nan"`` of an estimator says otherwise.
"""

from ._coarsen import coarsen
from ._compare import Comparison, compare
from ._distances import fgw_distances, spectral_distances
from ._evaluate import Evaluation, evaluate
from ._hg2v import Graphs, __version__
from ._inputs import graphs
from ._kernels import WassersteinWL, WLOptimalAssignment, WLSubtree
from ._methods import load
from ._models import HG2V, Graph2VecGNN, Untrained
from ._report import Page, report
from ._rivals import Graph2Vec, Graph2VecLoukas, InfoGraph, KernelVectors, Morgan, Statistics
from ._search import Drift, Explanation, Index, drift, project
from ._stream import embed_file
from ._table import Table
from .arrow import embed_arrow, embed_batches, to_arrow
from .errors import HG2VError, InputError, ParameterError

__all__ = [
    "HG2V",
    "Comparison",
    "Drift",
    "Evaluation",
    "Explanation",
    "Graph2Vec",
    "Graph2VecGNN",
    "Graph2VecLoukas",
    "Graphs",
    "HG2VError",
    "Index",
    "InfoGraph",
    "InputError",
    "KernelVectors",
    "Morgan",
    "Page",
    "ParameterError",
    "Statistics",
    "Table",
    "Untrained",
    "WLOptimalAssignment",
    "WLSubtree",
    "WassersteinWL",
    "__version__",
    "coarsen",
    "compare",
    "drift",
    "embed_arrow",
    "embed_batches",
    "embed_file",
    "evaluate",
    "fgw_distances",
    "graphs",
    "load",
    "project",
    "report",
    "spectral_distances",
    "to_arrow",
]
