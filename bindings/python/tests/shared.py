"""What several tests share."""

import inspect
import os
import pathlib
import subprocess
import textwrap

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def command():
    """The command ``hg2v``, as cargo built it; HG2V_COMMAND names another."""
    path = pathlib.Path(os.environ.get("HG2V_COMMAND", ROOT / "target" / "release" / "hg2v"))
    if not path.exists():
        pytest.fail(f"{path} is missing: build it with `make built`")

    def run(*args):
        done = subprocess.run([path, *map(str, args)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def data_dir():
    """The folder of real sets."""
    folder = os.environ.get("HG2V_DATA")
    if not folder:
        pytest.skip("HG2V_DATA is not set: no real sets")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def arrays():
    """Forty graphs as arrays: random trees with some chords, weights and two attributes."""
    rng = np.random.default_rng(5)
    made = []
    for i in range(40):
        n = int(rng.integers(8, 25))
        tree = [(int(rng.integers(0, v)), v) for v in range(1, n)]
        chords = {(u, v) for u, v in rng.integers(0, n, (4, 2)).tolist() if u < v} - set(tree)
        ends = np.array(tree + sorted(chords), np.int64).T.copy()
        made.append(
            {
                "edge_index": ends,
                "num_nodes": n,
                "x": rng.normal(size=(n, 2)) + (i % 2),
                "weight": rng.uniform(0.5, 2.0, ends.shape[1]),
                "y": i % 2,
                "id": f"g{i}",
            }
        )
    return made


def docstring_of(thing):
    """A docstring as it stands in the source, which newer Pythons bring without its indentation."""
    return textwrap.indent(inspect.getdoc(thing), "    ")


PARAMS = dict(dim=8, hops=2, levels=2, epochs=2, random_state=3)


@pytest.fixture(scope="session")
def atoms(arrays):
    """The same graphs as networkx's, whose attributes have names."""
    nx = pytest.importorskip("networkx")
    made = []
    for one in arrays:
        graph = nx.Graph()
        for v, (charge, mass) in enumerate(one["x"]):
            graph.add_node(v, charge=charge, mass=mass, element="C" if v % 2 else "N")
        ends = zip(one["edge_index"].T.tolist(), one["weight"])
        graph.add_edges_from((u, v, {"order": w}) for (u, v), w in ends)
        made.append(graph)
    return made


@pytest.fixture(scope="session")
def model(arrays):
    import hg2v

    return hg2v.HG2V(**PARAMS).fit(arrays)


@pytest.fixture(scope="session")
def folder(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    model.save(path)
    return path


@pytest.fixture(scope="session")
def vectors(model, arrays):
    return model.transform(arrays)


def same(a, b):
    """The same bits."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype
    assert (a.view(np.uint32) == b.view(np.uint32)).all()


def many(count=600):
    """Graphs enough for several parts whose pyramids are kept together."""
    return [
        {"edge_index": [[*range(n), 0], [*range(1, n), 0, n // 2]], "id": f"m{at}"}
        for at, n in enumerate(8 + i % 17 for i in range(count))
    ]


def check_fitted(fit, folder):
    """``fit`` over an engine is that of one process, which found all pyramids made."""
    import json

    import hg2v

    graphs, params = many(), {**PARAMS, "coarsening": "variation-edges"}
    made = fit(hg2v.HG2V(**params), graphs, folder / "pyramids")
    found = json.loads(made.model_.notes())["from_cache"]
    assert found == len(graphs), f"{found} pyramids were found"
    same(made.transform(graphs), hg2v.HG2V(**params).fit(graphs).transform(graphs))
