"""Bad input is refused by an exception that says what, where and what to do."""

import collections.abc
import json
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import hg2v
from hg2v import _saved
from hg2v.errors import FileError, HG2VError, InputError, NotFittedError, ParameterError
from shared import PARAMS, same

PATH = [[0, 1], [1, 2]]


def strings():
    return [{"edge_index": PATH, "x": [["a"], ["b"], ["c"]]}]


def mixed():
    nx = pytest.importorskip("networkx")
    one, two = nx.path_graph(3), nx.path_graph(3)
    for v in one:
        one.nodes[v]["charge"] = 1.0
    two.nodes[0]["charge"] = 1.0
    return [one, two]


CHARGE = {"attributes": ["charge"]}


def bare(count):
    nx = pytest.importorskip("networkx")
    return [nx.path_graph(5) for _ in range(count)]


def charged(charge, element="C"):
    """Three graphs; one node of the last is as said."""
    graphs = bare(3)
    for graph in graphs:
        for v in graph:
            graph.nodes[v].update(charge=0.1 * v, mass=1.0, element="C")
    graphs[2].nodes[3].update(charge=charge, element=element)
    return graphs


class NoArray:
    def __array__(self, *args, **kwargs):
        raise RuntimeError("no numbers today")


class Broken(collections.abc.Mapping):
    """A mapping whose own code fails."""

    def __getitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        raise RuntimeError("no keys today")

    def __len__(self):
        return 1


REFUSED = {
    "nothing": (lambda: None, {}, "graphs are expected"),
    "an empty list": (lambda: [], {}, "there are no graphs"),
    "a number": (lambda: 3, {}, "graphs are expected"),
    "a list of numbers": (lambda: [1, 2], {}, "^graph 0: hg2v knows no graphs of type int; give"),
    "a matrix": (lambda: np.zeros((3, 4)), {}, r"^graph 0: an adjacency array is square, but this has the shape \(3, 4\)"),
    "a matrix of texts": (lambda: [np.array([["a"]])], {}, "^graph 0: an adjacency array holds numbers, but this holds <U1"),
    "a matrix with a hole": (lambda: [np.eye(2), np.array([[0, np.nan], [0, 0]])], {}, "^graph 1: row 0, column 1 of the adjacency array is nan; fill in a finite number, or 0"),
    "a matrix and attributes": (lambda: [(np.eye(3), np.eye(3))], {}, r"^graph 0: edge_index has the shape \(3, 3\).*; .* scipy sparse matrix$"),
    "None among graphs": (lambda: [(PATH, None), None], {}, r"^graph 1: it is missing \(None\); leave it out$"),
    "one graph": (lambda: pytest.importorskip("networkx").path_graph(3), {}, "give a list of graphs"),
    "texts as attributes": (strings, {}, "graph 0, node 0: attribute 'x' is 'a', but it must be a number"),
    "not a number": (lambda: [(PATH, np.zeros((3, 1))), (PATH, [[1.0], [np.nan], [0.0]])], {}, "^graph 1, node 1: attribute 'x' is nan; fill in a finite number$"),
    "infinite": (lambda: [(PATH, [[1.0], [np.inf], [0.0]])], {}, "^graph 0, node 1: attribute 'x' is inf; fill in"),
    "None among numbers": (lambda: [(PATH, [[1.0, 2.0], [1.0, 2.0], [0.5, None]])], {}, "^graph 0, node 2: attribute 'x' is None; fill in"),
    "a weight that is none": (lambda: [{"edge_index": PATH, "weight": [1.0, np.nan]}], {}, "^graph 0, edge 1: attribute 'weight' is nan"),
    "a text as weight": (lambda: [{"edge_index": PATH, "weight": [1.0, "a"]}], {}, "^graph 0, edge 1: attribute 'weight' is 'a', but it must be a number; .*edge_label="),
    "a text as all attributes": (lambda: [(PATH, "abc")], {}, "graph 0, node 0: attribute 'x' is 'abc'"),
    "a missing charge": (lambda: charged(None), CHARGE, "^graph 2, node 3: attribute 'charge' is None; fill in a finite number$"),
    "a charge of nan": (lambda: charged(np.nan), CHARGE, "^graph 2, node 3: attribute 'charge' is nan; fill in a finite number$"),
    "the charge of two": (lambda: charged(np.nan), {"attributes": ["mass", "charge"]}, "^graph 2, node 3: attribute 'charge' is nan"),
    "a text as charge": (lambda: charged(np.str_("N")), CHARGE, "^graph 2, node 3: attribute 'charge' is 'N', but it must be a number; .*label="),
    "a missing label": (lambda: charged(0.0, element=None), {"label": "element"}, "^graph 2, node 3: attribute 'element' is None"),
    "some graphs without": (lambda: charged(0.0) + bare(2), CHARGE, r"graph 3 has no attributes .'charge'., but graph 0 has \(2 of 5 graphs have none\)"),
    "one attribute of two": (lambda: bare(1) + charged(0.0), {"attributes": ["charge", "spin"]}, "graph 1: its nodes have no attribute 'spin'"),
    "lines of JSON, nan": (lambda: [{"edges": [[0, 1]]}, {"edges": [[0, 1]], "x": [[1.0], [np.nan]]}], {}, "^graph 1, node 1: attribute 'x' is nan"),
    "lines of JSON, four": (lambda: [{"edges": [[0, 1]]}, {"edges": [[0, 1, 2, 3]]}], {}, "^graph 1: `edges.0.` has more than three"),
    "lines of JSON, no edges": (lambda: [{"edges": None}], {}, "^graph 0: `edges`: it is null, not a list of edges; write each edge as"),
    "lines of JSON, a key": (lambda: [{"edges": [[0, 1]], "node_label": [1, 2]}], {}, "graph 0: 'node_label' means nothing here"),
    "lines of JSON, a set": (lambda: [{"edges": {1, 2}}], {}, "graph 0: a set cannot be"),
    "two spellings": (lambda: [{"edges": [[0, 1]]}, {"edge_index": PATH}], {}, "graph 0: it has 'edges', but others"),
    "too few rows": (lambda: [{"edge_index": PATH, "num_nodes": 5, "x": np.zeros((3, 1))}], {}, "graph 0: .*3 entries"),
    "ragged": (lambda: [(PATH, [[1.0], [1.0, 2.0], [0.0]])], {}, "graph 0: rows of different lengths"),
    "an end beyond the nodes": (lambda: [{"edge_index": [[0], [7]], "num_nodes": 3}], {}, "^graph 0: .*7"),
    "a negative end": (lambda: [{"edge_index": [[0], [-1]], "num_nodes": 3}], {}, "-1"),
    "a billion nodes": (lambda: [{"edge_index": PATH, "num_nodes": 10**9}], {}, "1000000000 nodes"),
    "more nodes than numbers": (lambda: [{"edge_index": PATH, "num_nodes": 2**62}], {}, "nodes"),
    "fewer than none": (lambda: [{"edge_index": PATH, "num_nodes": -1}], {}, "node_ptr|num_nodes"),
    "edges of three ends": (lambda: [(np.zeros((3, 4), int), None)], {}, r"shape \(3, 4\)"),
    "ends between nodes": (lambda: [([[0.5], [1.0]], None)], {}, "float64"),
    "a key that means nothing": (lambda: [{"edge_index": PATH, "colour": 3}], {}, "graph 0: 'colour' means nothing"),
    "attributes of some nodes": (mixed, {"attributes": "charge"}, "graph 1, node 1: no attribute 'charge', but 1 other has"),
    "a name that is not there": (mixed, {"label": "element"}, "no node of any graph has the attribute 'element'"),
    "attributes of some graphs": (lambda: [(PATH, np.zeros((3, 1))), (PATH, None)], {}, "graph 1 has no attributes 'x'"),
    "other attributes": (lambda: [(PATH, np.zeros((3, 1))), (PATH, np.ones((3, 2)))], {}, "graph 1 has 2 attributes 'x'"),
    "a negative weight": (lambda: [{"edge_index": PATH, "weight": [1.0, -2.0]}], {}, "weighs -2.*say weights='abs' or weights='ignore'"),
    "a label that is none": (lambda: [{"edge_index": PATH, "node_label": [{}, 1, 2]}], {}, "^graph 0, node 0: attribute 'node_label' is {}; labels"),
    "a file that is not there": (lambda: "nowhere.jsonl", {}, "no such file"),
    "a mapping of graphs": (lambda: dict(enumerate(bare(2))), {}, r"this is one dict; .*list\(it.values\(\)\) is one$"),
    "nodes that are no number": (lambda: [{"edge_index": PATH, "num_nodes": "many"}], {}, "^graph 0: num_nodes is 'many', but it must be a whole"),
    "half a node": (lambda: [{"edge_index": PATH, "num_nodes": 3.5}], {}, "^graph 0: num_nodes is 3.5, but it must be a whole"),
    "a number for all rows": (lambda: [(PATH, 5)], {}, "^graph 0: x is 5, but it must be a list"),
    "half a character": (lambda: [{"edge_index": PATH, "node_label": ["\ud800", "a", "b"]}], {}, r"^graph 0, node 0: attribute 'node_label' is '.ud800'"),
    "a number for all labels": (lambda: [{"edge_index": PATH, "node_label": 5}], {}, "^graph 0: "),
    "a number for all weights": (lambda: [{"edge_index": PATH, "weight": 5}], {}, "^graph 0: "),
    "two names for three nodes": (lambda: [{"edge_index": PATH, "num_nodes": 3, "nodes": ["a", "b"]}], {}, "^graph 0: nodes has 2 names for 3 nodes"),
    "ends of different lengths": (lambda: [{"src": [0, 1], "dst": [1]}], {}, "^graph 0: src and dst have different lengths"),
    "an array that breaks": (lambda: [{"edge_index": PATH, "num_nodes": 3, "x": NoArray()}], {}, "^graph 0: attributes 'x' is <.*NoArray.*>?; give a list, one a node"),
    "an object that breaks": (lambda: [Broken()], {}, r"^graph 0: it cannot be read as a test_refusals.Broken \(RuntimeError: no keys"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, params, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        hg2v.HG2V(**PARAMS, **params).fit(make())
    assert issubclass(InputError, ValueError)


def test_sparse_matrix_of_a_billion_nodes():
    sparse = pytest.importorskip("scipy.sparse")
    huge = sparse.coo_array(([1.0], ([0], [1])), shape=(10**9, 10**9))
    with pytest.raises(InputError, match="1000000000 nodes"):
        hg2v.HG2V().fit([huge])


def test_directed_graphs_are_refused_on_demand(caplog):
    nx = pytest.importorskip("networkx")
    graphs = [nx.path_graph(12), nx.path_graph(12, nx.DiGraph)]
    with pytest.raises(
        InputError,
        match="^graph 1: it is directed; make it undirected, or say directed='keep'$",
    ):
        hg2v.HG2V(**PARAMS, directed="refuse").fit(graphs)
    with caplog.at_level("INFO", "hg2v"):
        vectors = hg2v.HG2V(**PARAMS).fit_transform(graphs)
    assert "1 directed graph coarsened as undirected" in caplog.messages
    assert not np.allclose(vectors[0], vectors[1])
    same(*hg2v.HG2V(**PARAMS, direction="ignore").fit_transform(graphs))


@pytest.mark.parametrize(
    "params, message",
    [
        (dict(dim=0), "dim is 0"),
        (dict(dim="16"), "^dim is '16', but it must be a whole number"),
        (dict(dim=-3), "^dim is -3, but it must be a whole number"),
        (dict(dim=16.0), "^dim is 16.0, but it must be a whole number"),
        (dict(dim=np.float64(2.5)), "^dim is 2.5, but it must be a whole number"),
        (dict(dim=True), "^dim is True"),
        (dict(k="6"), "^k is '6', but it must be a whole number of at least 0, or None"),
        (dict(bias=1), "^bias is 1, but it must be True or False"),
        (dict(readout="sum"), "^readout is 'sum', but it must be a list of texts"),
        (dict(layer=3), "^layer is 3, but it must be a text"),
        (dict(attributes=3), "^attributes is 3, but it must be a text, or a list of texts"),
        (dict(attributes={"a", "b"}), "^attributes is .*, but it must be a text, or a list"),
        (dict(lr="0.1"), "^lr is '0.1', but it must be a finite number"),
        (dict(lr=10**400), "^lr is 1000.*…, but it must be a finite number"),
        (dict(hops=1000), "hops"),
        (dict(lr=-1.0), "lr is -1"),
        (dict(lr=float("nan")), "lr is nan"),
        (dict(epochs=10**9), "epochs"),
        (dict(loss="hinge"), "^loss is 'hinge', but it must be 'jsd', 'infonce' or 'cosine'"),
        (dict(preset="best"), "preset"),
        (dict(coarsening="best"), "^coarsening is 'best', but it must be 'variation-n"),
        (dict(readout=np.array(["sum", "max"]), layer="far"), "^layer is 'far'"),
        (dict(layer="deep"), "^layer is 'deep', but it must be 'krylov' or 'gcn'"),
        (dict(readout=["sum", "least"]), "^readout is 'least', but it must be 'sum'"),
        (dict(readout=[]), "readout"),
        (dict(random_state="x"), "random_state"),
        (dict(n_jobs=0), "n_jobs"),
        (dict(ratio=2.0), "ratio is 2"),
    ],
)
def test_parameters_refused(params, message, arrays):
    with pytest.raises(ParameterError, match=message):
        hg2v.HG2V(**params).fit(arrays)


def test_kinds_of_parameters_are_checked_everywhere(arrays):
    for refused in (
        lambda: hg2v.Graph2Vec(rounds="3").fit(arrays),
        lambda: hg2v.WassersteinWL(rounds=1.5).fit(arrays),
        lambda: hg2v.coarsen((PATH, None), k="6"),
        lambda: hg2v.graphs(arrays, label=3),
    ):
        with pytest.raises(ParameterError, match="(rounds|k|label) is .*, but it must be a"):
            refused()
    numpy_s = hg2v.HG2V(**{**PARAMS, "dim": np.int64(8), "lr": np.float32(1e-4)}, verbose=0)
    assert numpy_s.fit(arrays).transform(arrays).shape[0] == len(arrays)


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "2", np.array([1, 2]), 1025, 10**30])
def test_threads_refused_everywhere(n_jobs, arrays, folder):
    pytest.importorskip("scipy")
    table = hg2v.to_arrow(arrays)
    for refused in (
        lambda: hg2v.HG2V(**PARAMS, n_jobs=n_jobs).fit(arrays),
        lambda: hg2v.coarsen((PATH, None), n_jobs=n_jobs),
        lambda: hg2v.embed_arrow(folder, table, n_jobs),
    ):
        with pytest.raises(ParameterError, match="^n_jobs is .*must be None, a number from 1"):
            refused()


@pytest.mark.parametrize("n_jobs", [None, -1, -2, -(10**30), 1, np.int64(2)])
def test_threads_taken_everywhere(n_jobs, arrays, folder):
    pytest.importorskip("scipy")
    assert hg2v.HG2V(**PARAMS, n_jobs=n_jobs).fit(arrays).losses_
    assert hg2v.coarsen((PATH, None), n_jobs=n_jobs)
    assert hg2v.embed_arrow(folder, hg2v.to_arrow(arrays), n_jobs)


def test_lists_of_any_kind_are_lists(arrays, tmp_path):
    listed = collections.deque(["sum", "max"])
    model = hg2v.HG2V(**PARAMS, readout=listed, attributes=collections.deque()).fit(arrays)
    model.save(tmp_path / "model")
    assert hg2v.load(tmp_path / "model").readout == ["sum", "max"]
    with pytest.raises(ParameterError, match="is no value of a parameter"):
        model.set_params(label=object()).save(tmp_path / "other")


def test_messages_name_what_python_has(monkeypatch):
    """Parameters that are there, limits that only the command can raise, and no file that nobody
    gave."""
    monkeypatch.delenv("HG2V_DATA", raising=False)
    pytest.importorskip("scipy")
    huge = {"edge_index": PATH, "num_nodes": 10**9}
    negative = {"edge_index": PATH, "weight": [1.0, -2.0]}
    table = {"src": [[0], [0]], "dst": [[1], [1]], "x": [[[1.0], [2.0]], None]}
    pa = pytest.importorskip("pyarrow")
    for refused, match in (
        (lambda: hg2v.graphs([huge]), "use the command hg2v with a larger --max-nodes$"),
        (lambda: hg2v.HG2V(degree="never", structure="never").fit(bare(2)), "^nothing is left"),
        (lambda: hg2v.HG2V().fit([negative]), "weights='abs' or weights='ignore'$"),
        (lambda: hg2v.Graph2Vec().fit([negative]), "needs weights of at least 0$"),
        (lambda: hg2v.WassersteinWL().fit_transform([negative]), "needs weights of at least 0$"),
        (lambda: hg2v.Graph2Vec(lr=-1.0).fit(bare(2)), "^lr is -1, but"),
        (lambda: hg2v.coarsen(bare(1)[0], max_levels=10**6), "^max_levels is 1000000, but"),
        (lambda: hg2v.HG2V().fit(pa.table(table)), "or leave `x` out of all of them$"),
        (lambda: hg2v.graphs(pa.table({"a": [1], "b": [2]})), "^it has no column `src`; .*alone$"),
        (lambda: hg2v.graphs("CCO"), "HG2V_DATA; SMILES are given in a list$"),
    ):
        with pytest.raises(HG2VError, match=match) as caught:
            refused()
        assert "<graphs>" not in str(caught.value) and "data_dir" not in str(caught.value)


def test_errors_say_which_graph_it_is():
    with pytest.raises(InputError) as caught:
        hg2v.graphs([{"edge_index": PATH, "weight": [1.0, of]} for of in (2.0, "a")])
    again = pickle.loads(pickle.dumps(caught.value))
    for error in (caught.value, again):
        assert error.graph == 1 and str(error).startswith("graph 1, edge 1: attribute 'weight'")
        assert error.problem.startswith("edge 1: ")
    with pytest.raises(InputError) as caught:
        hg2v.HG2V().fit([])
    assert caught.value.graph is None


def test_files_keep_their_names(tmp_path):
    file = tmp_path / "run--final" / "g--last.jsonl"
    file.parent.mkdir()
    file.write_text("{}\nnonsense\n")
    with pytest.raises(InputError) as caught:
        hg2v.graphs(file)
    assert str(file) in str(caught.value)
    with pytest.raises(InputError, match="attribute 'a--b' is nan"):
        hg2v.graphs([labelled(float("nan"))], attributes=["a--b"])


def labelled(value):
    graph = pytest.importorskip("networkx").path_graph(3)
    for v in graph:
        graph.nodes[v]["a--b"] = value
    return graph


def test_folders_of_kernels_refused(arrays, tmp_path):
    made = tmp_path / "made"
    kernel = hg2v.WLOptimalAssignment
    kernel(rounds=1).fit(arrays).save(made)
    said = "a WLOptimalAssignment, not a WassersteinWL.*hg2v.WLOptimalAssignment.load"
    with pytest.raises(InputError, match=said):
        hg2v.WassersteinWL.load(made)
    with pytest.raises(FileError, match="cannot read"):
        kernel.load(tmp_path / "nowhere")
    with pytest.raises(NotFittedError):
        kernel().save(tmp_path / "other")
    about = json.loads((made / "estimator.json").read_text())
    state = (made / "state.json").read_bytes()

    def signed(changed):
        kept = {name: value for name, value in about.items() if name != "digest"}
        return _saved._spelled({**kept, **changed})

    for damage, said in (
        (lambda: (made / "estimator.json").write_text("{"), "not JSON"),
        (lambda: (made / "estimator.json").write_text("[]"), "not an object"),
        (
            lambda: (made / "estimator.json").write_text(json.dumps({**about, "format": 1})),
            "format 1, but",
        ),
        (
            lambda: (made / "estimator.json").write_text(json.dumps({**about, "params": {"a": 1}})),
            "changed or damaged",
        ),
        (lambda: (made / "estimator.json").write_bytes(signed({"params": {"a": 1}})), "parameters"),
        (
            lambda: (made / "estimator.json").write_bytes(signed({"params": {"label": [1]}})),
            "label is",
        ),
        (lambda: (made / "estimator.json").write_text("[" * 100_000), "not JSON"),
        (lambda: (made / "state.json").write_bytes(state[:-10]), "damaged"),
    ):
        damage()
        with pytest.raises(InputError, match=said) as caught:
            kernel.load(made)
        assert str(made) in str(caught.value)
        (made / "estimator.json").write_text(json.dumps(about))
        (made / "state.json").write_bytes(state)
    assert kernel.load(made).transform(arrays).shape == (len(arrays), len(arrays))


def test_models_refused(folder, tmp_path, arrays, model):
    with pytest.raises(FileError, match="nowhere") as found:
        hg2v.load(tmp_path / "nowhere")
    assert isinstance(found.value, OSError) and found.value.errno == 2
    other = tmp_path / "other"
    other.mkdir()
    for name in ("config.json", "model.safetensors"):
        (other / name).write_bytes((folder / name).read_bytes())
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "format": 99}))
    with pytest.raises(InputError, match="format is 99"):
        hg2v.load(other)
    (other / "config.json").write_text(json.dumps(config))
    damaged = bytearray((other / "model.safetensors").read_bytes())
    damaged[-1] ^= 1
    (other / "model.safetensors").write_bytes(damaged)
    with pytest.raises(InputError):
        hg2v.load(other)
    with pytest.raises(FileError):
        model.save(folder)
    with pytest.raises(NotFittedError, match="not fitted"):
        hg2v.HG2V().transform(arrays)
    with pytest.raises(InputError, match="no node attributes"):
        model.transform([(PATH, None)])
    with pytest.raises(InputError, match="3 attributes"):
        model.transform([(PATH, np.zeros((3, 3)))])


def test_tables_refused(model):
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="no column `src`"):
        model.embed_arrow(pa.table({"a": [1]}))
    with pytest.raises(InputError, match="lists of integers"):
        model.embed_arrow(pa.table({"src": ["a"], "dst": ["b"]}))
    with pytest.raises(InputError, match="^graph 1: "):
        model.embed_arrow(
            pa.table({"src": [[0], [0]], "dst": [[1], [-1]], "x": [[[0.0, 1.0]] * 2] * 2})
        )
    with pytest.raises(InputError, match="^this int cannot be read as part of a table of graphs"):
        model.embed_arrow(3)


def test_everything_is_one_family():
    assert all(
        issubclass(e, HG2VError) for e in (InputError, ParameterError, FileError, NotFittedError)
    )


def in_a_fork(folder, arrays, pipe):
    rows = hg2v.load(folder).transform(arrays)
    pipe.send(rows)
    pipe.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_after_threads_started(folder, arrays, vectors):
    """The child has none of its parent's threads, and works all the same."""
    same(hg2v.load(folder).transform(arrays), vectors)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=in_a_fork, args=(folder, arrays, theirs))
    child.start()
    assert ours.poll(60), "the child hangs"
    same(ours.recv(), vectors)
    child.join(60)
    assert child.exitcode == 0


def test_threads_of_python_run_beside_each_other(folder, arrays, vectors):
    rows = [None] * 4

    def embed(at):
        rows[at] = hg2v.load(folder).transform(arrays)

    threads = [threading.Thread(target=embed, args=(at,)) for at in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for made in rows:
        same(made, vectors)


@pytest.mark.parametrize("method", ["HG2V", "Graph2Vec"])
def test_interrupted(method):
    """Ctrl-C ends a training that would go on for hours, and the process goes on."""
    code = f"""
        import sys, threading, hg2v
        rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 60)]
        model = hg2v.{method}(epochs=1_000_000)
        print("ready", flush=True)
        try:
            model.fit(rings)
        except KeyboardInterrupt:
            print("stopped", hasattr(model, "model_"), hg2v.HG2V(dim=4, epochs=1).fit_transform(rings).shape[0])
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    # It is heard at any time: before the work began, Python itself raises.
    threading.Event().wait(1.0)
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "stopped False 50\n"


def test_the_lock_is_released(arrays):
    """Another thread of Python counts while a model is trained."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    hg2v.HG2V(dim=64, epochs=100).fit(arrays)
    during = counted[0] - before
    stop.set()
    thread.join()
    assert during > 0


def test_no_panic_reaches_the_interpreter():
    """Whatever numbers say, an exception of ours: arrays of random nonsense."""
    rng = np.random.default_rng(0)
    from hg2v import _hg2v

    for _ in range(300):
        ends = rng.integers(-5, 30, (2, int(rng.integers(0, 12))))
        ptr = [np.sort(rng.integers(0, 20, int(rng.integers(0, 4)))) for _ in range(2)]
        x = rng.normal(size=(int(rng.integers(0, 20)), int(rng.integers(0, 3))))
        try:
            _hg2v.Graphs.stacked(*ptr, *ends, x=x)
        except (ValueError, HG2VError):
            pass
    for _ in range(100):
        n = int(rng.integers(0, 12))
        one = {
            "edge_index": rng.integers(
                0, max(n, 1), (2, 0 if n == 0 else int(rng.integers(0, 30)))
            ),
            "num_nodes": n,
        }
        assert np.isfinite(
            hg2v.HG2V(dim=4, levels=2, epochs=1).fit_transform([one, (PATH, None)])
        ).all()


def test_paths_may_be_paths(folder):
    assert hg2v.load(pathlib.Path(folder)).dim == hg2v.load(str(folder)).dim


def test_numbers_too_large_are_named():
    nx = pytest.importorskip("networkx")
    ring = nx.cycle_graph(5)
    ring.graph["id"] = 2**63
    with pytest.raises(InputError, match=r"^graph 0: id 9223372036854775808 does not fit"):
        hg2v.graphs([ring])
    with pytest.raises(ParameterError, match="random_state is .* 2⁶⁴"):
        hg2v.HG2V(random_state=2**70).fit([nx.cycle_graph(5)])
    for method in (hg2v.WLOptimalAssignment, hg2v.WassersteinWL, hg2v.Graph2Vec):
        with pytest.raises(ParameterError, match="rounds is 1000000000000"):
            method(rounds=10**12).fit_transform([nx.cycle_graph(5), nx.path_graph(5)])


def test_tables_in_pieces(arrays):
    """Rows of a table are called by their place in all of it; streams are tables."""
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(NotFittedError):
        hg2v.embed_arrow(hg2v.HG2V(), pa.table({"src": [[0]], "dst": [[1]]}))
    pieces = [[[0], [1]]] * 7, [[[0], [1]], [[0], [1]]]

    def rows(piece):
        ends = [[row[side] for row in piece] for side in (0, 1)]
        return pa.record_batch({"src": ends[0], "dst": ends[1]})

    table = pa.Table.from_batches([rows(piece) for piece in pieces])
    # Of graphs that are all alike, the last step would leave nothing.
    params = dict(dim=4, levels=1, epochs=1, preset="network")
    model = hg2v.HG2V(**params).fit([([[0, 1], [1, 2]], None)] * 3)
    whole = hg2v.embed_arrow(model, table)
    assert whole.num_rows == 9
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert hg2v.embed_arrow(model, reader).equals(whole)

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    assert hg2v.embed_arrow(model, Stream()).equals(whole)
    bad = pa.Table.from_batches([rows(pieces[0]), rows([[[0], [1]], [[0], [-1]]])])
    with pytest.raises(InputError, match="graph 8"):
        hg2v.embed_arrow(model, bad)


def test_a_claim_takes_no_memory():
    """Where others have names, a graph without is not counted out node by node."""
    named = {"edge_index": PATH, "nodes": ["a", "b", "c"]}
    for claimed in (2**24 + 1, 10**12, 2**62, 2**63, 10**30):
        huge = {"edge_index": PATH, "num_nodes": claimed}
        with pytest.raises(InputError, match=f"^graph 1: it says {claimed} nodes, more than the"):
            hg2v.graphs([named, huge])
        with pytest.raises(InputError, match=f"^graph 0: it says {claimed} nodes, more than the"):
            hg2v.graphs([huge, huge])
