"""The Rust side. What people should use is in the modules beside it."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str
#: The most nodes of a graph.
MAX_NODES: int

_Progress = Callable[[str, int, int], None] | None
_Column = Sequence[bool] | Sequence[str | None] | NDArray[np.int64] | NDArray[np.float64]
_Files = Sequence[tuple[str, bytes]]
_Refused = list[tuple[int, str]]
_Level = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.uint32]]

def command(words: Sequence[str], again: Sequence[str]) -> int: ...
def molecule(
    text: str, atoms: bool
) -> tuple[list[str], list[int], list[int], list[str], list[float]]: ...

class Graphs:
    """Graphs on the Rust side; :func:`hg2v.graphs` makes them."""

    @staticmethod
    def read(
        path: str, data_dir: str | None, skip: bool, atoms: bool
    ) -> tuple[Graphs, _Refused]: ...
    @staticmethod
    def stacked(
        node_ptr: NDArray[np.int64],
        edge_ptr: NDArray[np.int64],
        src: NDArray[np.int64],
        dst: NDArray[np.int64],
        *,
        weight: NDArray[np.float64] | None = None,
        x: NDArray[np.float64] | None = None,
        nodes: _Column | None = None,
        node_label: _Column | None = None,
        edge_label: _Column | None = None,
        edge_x: NDArray[np.float64] | None = None,
        id: _Column | None = None,
        y: _Column | None = None,
        targets: Sequence[tuple[str, _Column]] = ...,
        directed: Sequence[bool] | None = None,
        json: str = "",
        json_targets: Sequence[str] = ...,
    ) -> Graphs: ...
    @staticmethod
    def from_lines(lines: str, skip: bool) -> tuple[Graphs, _Refused]: ...
    @staticmethod
    def from_smiles(texts: Sequence[str], skip: bool, atoms: bool) -> tuple[Graphs, _Refused]: ...
    @staticmethod
    def from_arrow(table: Any, skip: bool, atoms: bool) -> tuple[Graphs, _Refused]: ...
    @staticmethod
    def concat(parts: Sequence[Graphs]) -> Graphs: ...
    @staticmethod
    def from_state(state: bytes) -> Graphs: ...
    def to_arrow(self) -> Any: ...
    def write(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the graphs to a file or folder, whose name tells the format, for the command and
        other programs. What is there is replaced only with ``overwrite``."""

    def unusable(self, weights: str, alike: bool) -> _Refused: ...
    def take(self, positions: Sequence[int]) -> Graphs: ...
    def parts(self) -> list[int]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, position: int) -> Graphs: ...
    def labels(self) -> list[Any]: ...
    def targets(self) -> dict[str, NDArray[np.float64] | list[Any]]:
        """What is to be predicted, where graphs have several numbers or classes, by name: an array
        of numbers, NaN where one is not known, or a list with ``None`` there."""

    def choose(self, names: Sequence[str]) -> Graphs: ...
    def ids(self) -> list[Any]: ...
    def num_nodes(self) -> NDArray[np.int64]: ...
    def num_edges(self) -> NDArray[np.int64]: ...
    def directed(self) -> NDArray[np.int64]: ...

class Model:
    @staticmethod
    def fit(
        graphs: Graphs,
        method: str,
        settings: str,
        threads: int = 0,
        progress: _Progress = None,
        device: str = "cpu",
        cache: str | None = None,
    ) -> Model: ...
    @staticmethod
    def fit_in(
        path: str,
        files: _Files,
        graphs: Graphs,
        settings: str,
        threads: int = 0,
        progress: _Progress = None,
        device: str = "cpu",
        on_epoch: Callable[[int, list[float]], object] | None = None,
    ) -> Model: ...
    @staticmethod
    def load(path: str) -> Model: ...
    @staticmethod
    def from_parts(config: str, tensors: bytes) -> Model: ...
    def save(self, path: str, files: _Files) -> None: ...
    def embed(
        self,
        graphs: Graphs,
        threads: int = 0,
        progress: _Progress = None,
        device: str = "cpu",
    ) -> tuple[NDArray[np.float32], str]: ...
    def embed_nodes(
        self,
        graphs: Graphs,
        threads: int = 0,
        progress: _Progress = None,
        device: str = "cpu",
    ) -> tuple[NDArray[np.float32], str]: ...
    def embed_levels(
        self,
        graphs: Graphs,
        threads: int = 0,
        progress: _Progress = None,
        device: str = "cpu",
    ) -> tuple[NDArray[np.float32], str]: ...
    def embed_arrow(
        self, batch: Any, threads: int, first: int, atoms: bool, device: str
    ) -> Any: ...
    def unusable(self, graphs: Graphs) -> _Refused: ...
    def beside(self, batch: Any, rows: NDArray[np.float32]) -> Any: ...
    def method(self) -> str: ...
    def settings(self) -> str: ...
    def config(self) -> str: ...
    def columns(self) -> list[str]: ...
    def history(self) -> list[list[float]]: ...
    def notes(self) -> str: ...
    def sees(self) -> list[str]: ...
    def untrained(self) -> Model: ...
    def parameters(self) -> NDArray[np.float32]: ...
    def with_parameters(self, parameters: NDArray[np.float32]) -> Model: ...
    def feature_dim(self) -> int: ...
    def features(self) -> str: ...

class Index:
    def __init__(
        self,
        rows: NDArray[np.float32],
        model: Model | None,
        graphs: Graphs | None,
        metric: str | None,
        standardise: bool | None,
        index: str,
        seed: int,
        threads: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def is_exact(self) -> bool: ...
    def positions(self, name: str) -> list[int]: ...
    def nearest_to(self, row: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def nearest(
        self, queries: NDArray[np.float32], k: int, threads: int
    ) -> tuple[int, NDArray[np.int64], NDArray[np.float64]]: ...
    def duplicates(
        self, threshold: float | None, most: int, threads: int
    ) -> tuple[float, int, list[NDArray[np.int64]], NDArray[np.float64]]: ...
    def outliers(
        self, k: int, threads: int, progress: _Progress = None
    ) -> tuple[NDArray[np.int64], list[NDArray[np.float64]] | None, NDArray[np.float64]]: ...
    def explain(self, first: int | Graphs, second: int | Graphs) -> str: ...

class Examples:
    @staticmethod
    def bare(
        graphs: Graphs, levels: int, coarsening: str, weights: str, threads: int = 0
    ) -> Examples: ...
    @staticmethod
    def of_model(graphs: Graphs, model: Model, threads: int = 0) -> Examples: ...
    def num_nodes(self) -> list[int]: ...
    def features(self) -> NDArray[np.float32]: ...
    def take(self, positions: Sequence[int]) -> Examples: ...
    def __len__(self) -> int: ...

class Network:
    def __init__(self, architecture: str, features: int) -> None: ...
    def sizes(self) -> tuple[int, int, int]: ...
    def tensors(self) -> list[tuple[str, int, int, int, int]]: ...
    def initial(self, seed: int) -> NDArray[np.float32]: ...
    def forward(
        self, parameters: NDArray[Any], features: NDArray[Any], examples: Examples, threads: int = 0
    ) -> tuple[NDArray[Any], Pass]: ...
    def losses(
        self,
        parameters: NDArray[Any],
        features: NDArray[Any],
        examples: Examples,
        loss: str,
        negatives: str,
        threads: int = 0,
    ) -> tuple[list[float], NDArray[Any], NDArray[Any]]: ...

class Pass:
    def backward(
        self, d_embeddings: NDArray[Any], threads: int = 0
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...

def words() -> list[tuple[str, list[str]]]: ...
def nearest(word: str, known: Sequence[str]) -> str | None: ...
def defaults() -> list[tuple[str, list[tuple[str, list[str]]]]]: ...
def settings(method: str, options: str) -> str: ...
def places_of(method: str) -> list[tuple[str, str]]: ...
def write_file(path: str, bytes: bytes, overwrite: bool) -> None: ...
def graphs_of_run(folder: str) -> str | None: ...
def report(
    model: Model,
    folder: str | None,
    graphs: Graphs,
    rows: NDArray[np.float32] | None,
    evaluation: str | None,
    methods: Sequence[str],
    title: str | None,
    sample: int,
    metric: str,
    standardise: bool,
    seed: int,
    threads: int = 0,
    progress: _Progress = None,
) -> tuple[str, int]: ...
def evaluate(
    graphs: Graphs,
    subject: Model | tuple[str, str] | NDArray[np.float32],
    task: str,
    protocol: str,
    splits: int | None,
    grid: str | None,
    also: Sequence[str],
    controls: bool,
    seed: int,
    device: str,
    threads: int = 0,
    progress: _Progress = None,
) -> str: ...
def drift(
    old: NDArray[np.float32],
    new: NDArray[np.float32],
    metric: str,
    standardise: bool,
    permutations: int,
    seed: int,
    threads: int,
) -> str: ...
def project(
    rows: NDArray[np.float32],
    method: str,
    standardise: bool,
    perplexity: float | None,
    neighbors: int | None,
    seed: int,
    threads: int = 0,
    progress: _Progress = None,
) -> tuple[NDArray[np.float64], float | None]: ...
def arrow_table(columns: Sequence[tuple[str, Any]]) -> Any: ...
def keep_pyramids(graphs: Graphs, method: str, settings: str, cache: str, threads: int) -> None: ...
def write_folder(path: str, files: _Files) -> None: ...
def embed_file(
    model: Model,
    data: str,
    data_dir: str | None,
    atoms: bool,
    out: str,
    per: str,
    shard: str | None,
    overwrite: bool,
    threads: int = 0,
    progress: _Progress = None,
    device: str = "cpu",
) -> tuple[int, int, str]: ...
def coarsen(graphs: Graphs, params: str, weights: str, threads: int = 0) -> list[list[_Level]]: ...
def spectral_distances(
    graphs: Graphs, others: Graphs | None, threads: int = 0, progress: _Progress = None
) -> NDArray[np.float64]: ...
def fgw_distances(
    graphs: Graphs,
    others: Graphs | None,
    alpha: float | None,
    threads: int = 0,
    progress: _Progress = None,
) -> NDArray[np.float64]: ...
def wl_optimal_assignment(
    graphs: Graphs,
    rounds: int,
    edges: tuple[str, str],
    threads: int = 0,
    progress: _Progress = None,
) -> NDArray[np.float64]: ...
def wl_subtree(
    graphs: Graphs,
    rounds: int,
    edges: tuple[str, str],
    threads: int = 0,
    progress: _Progress = None,
) -> NDArray[np.float64]: ...
def wwl(
    graphs: Graphs,
    known: int,
    rounds: int,
    nodes: str,
    edges: tuple[str, str],
    threads: int = 0,
    progress: _Progress = None,
) -> NDArray[np.float64]: ...
