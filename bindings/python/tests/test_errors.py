"""Exceptions carry fields, which programs can act on without reading texts."""

import json
import pickle
import re

import numpy as np
import pytest

import hg2v
from hg2v.errors import FileError, InputError, ParameterError
from shared import docstring_of

PATH = [[0, 1], [1, 2]]
PARAMS = dict(dim=4, levels=1, epochs=1)


def raised(kind, call):
    with pytest.raises(kind) as caught:
        call()
    # Exceptions travel between processes.
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.__dict__ == caught.value.__dict__
    return again


def test_a_file_says_where_it_is_wrong(tmp_path):
    file = tmp_path / "g--x.jsonl"
    file.write_text('{"edges":[[0,1]]}\n{"edges":[[0,"a"]],"n":"many"}\n')
    error = raised(InputError, lambda: hg2v.graphs(file))
    assert (error.file, error.line, error.record, error.graph) == (str(file), 2, None, None)
    assert error.kind == "malformed" and error.fix and str(file) not in error.problem
    assert str(error) == f"{file}, line 2: {error.problem}; {error.fix}"


def test_a_graph_is_told_by_its_position():
    negative = {"edge_index": PATH, "weight": [1.0, -2.0]}
    positive = {"edge_index": PATH, "weight": [1.0, 2.0]}
    error = raised(InputError, lambda: hg2v.HG2V(**PARAMS).fit([positive, negative]))
    assert (error.kind, error.graph, error.file, error.line) == ("negative-weight", 1, None, None)
    assert error.fix == "say weights='abs' or weights='ignore'"
    assert error.problem.startswith("the edge between nodes 1 and 2 of it weighs -2")
    # An estimator without such a parameter does not advise it.
    assert raised(InputError, lambda: hg2v.Graph2Vec().fit([negative])).fix is None


def test_a_limit_is_a_kind():
    for huge in ({"edge_index": PATH, "num_nodes": 10**9}, {"edges": [], "n": 10**9}):
        error = raised(InputError, lambda huge=huge: hg2v.graphs([huge]))
        assert (error.kind, error.graph) == ("limit", 0)
        assert error.fix.endswith("use the command hg2v with a larger --max-nodes")


def test_what_a_model_expects_is_a_kind():
    wide = [(PATH, np.zeros((3, 2))) for _ in range(3)]
    model = hg2v.HG2V(**PARAMS).fit(wide)
    for x in (None, np.zeros((3, 1))):
        error = raised(InputError, lambda x=x: model.transform([(PATH, x)]))
        assert (error.kind, error.graph) == ("attributes", 0)
        assert "the model expects 2" in error.problem and "set_params" in error.fix


def test_graphs_that_are_not_alike_are_a_kind(tmp_path):
    file = tmp_path / "g.jsonl"
    file.write_text('{"edges":[[0,1]],"node_labels":[1,2]}\n{"edges":[[0,1]]}\n')
    error = raised(InputError, lambda: hg2v.HG2V(**PARAMS).fit(file))
    assert error.kind == "unlike"
    assert error.fix == "make all graphs alike, or leave the labels out of all of them"


def test_models_are_refused_by_kind(tmp_path):
    made = tmp_path / "made"
    hg2v.HG2V(**PARAMS).fit([(PATH, None)] * 3).save(made)
    config = json.loads((made / "config.json").read_text())
    changes = {
        "version": {"format": 99},
        "changed": {"seed_of_nobody": 1} if "seed_of_nobody" in config else {"hg2v": "9"},
    }
    for kind, change in changes.items():
        (made / "config.json").write_text(json.dumps({**config, **change}))
        error = raised(InputError, lambda: hg2v.load(made))
        assert (error.kind, error.file) == (kind, str(made / "config.json"))


def test_what_is_not_there_is_a_kind(monkeypatch):
    monkeypatch.delenv("HG2V_DATA", raising=False)
    error = raised(InputError, lambda: hg2v.graphs("CCO"))
    assert (error.kind, error.file) == ("not-found", "CCO")
    pa = pytest.importorskip("pyarrow")
    error = raised(InputError, lambda: hg2v.graphs(pa.table({"a": [1], "b": [2]})))
    assert (error.kind, error.file, error.graph) == ("column", None, None)
    assert raised(InputError, lambda: hg2v.HG2V().fit([])).kind == "no-graphs"


@pytest.mark.parametrize(
    "params, name, value",
    [
        (dict(dim=0), "dim", "0"),  # Rust's to refuse
        (dict(lr=-1.0), "lr", "-1"),
        (dict(dim="16"), "dim", "'16'"),  # Python's
        (dict(dim=2**64), "dim", "18446744073709551616"),
        (dict(layer="deep"), "layer", "'deep'"),
        (dict(readout=["sum", "least"]), "readout", "'least'"),
        (dict(coarsening="best"), "coarsening", "'best'"),
        (dict(weights="some"), "weights", "'some'"),
        (dict(loss="hinge"), "loss", "'hinge'"),
        (dict(preset="best"), "preset", "'best'"),
        (dict(slices="often"), "slices", "'often'"),
        (dict(census="often"), "census", "'often'"),
        (dict(random_state="x"), "random_state", "'x'"),
        (dict(n_jobs=0), "n_jobs", "0"),
    ],
)
def test_parameters_say_their_name_and_value(params, name, value):
    error = raised(ParameterError, lambda: hg2v.HG2V(**params).fit([(PATH, None)] * 3))
    assert (error.parameter, error.value) == (name, value)
    assert str(error) == f"{name} is {value}, but {error.requirement}"


def test_a_diverging_rate_goes_by_its_name():
    error = raised(ParameterError, lambda: hg2v.Graph2Vec(lr=-1.0).fit([(PATH, None)] * 3))
    assert (error.parameter, error.value) == ("lr", "-1")


def test_other_methods_name_their_own_parameters():
    rings = [([range(n), [*range(1, n), 0]], None) for n in range(3, 9)]
    for estimator, name, value in (
        (hg2v.KernelVectors("wwl", gamma=-1.0), "gamma", "-1"),
        (hg2v.KernelVectors("best"), "kernel", "'best'"),
        (hg2v.InfoGraph(dim=0), "dim", "0"),
        (hg2v.InfoGraph(degree="often"), "degree", "'often'"),
        (hg2v.Graph2VecLoukas(coarsening="best"), "coarsening", "'best'"),
        (hg2v.Graph2VecGNN(negatives="some"), "negatives", "'some'"),
    ):
        error = raised(ParameterError, lambda estimator=estimator: estimator.fit(rings))
        assert (error.parameter, error.value) == (name, value)
    error = raised(ParameterError, lambda: hg2v.coarsen(rings[0], method="best"))
    assert (error.parameter, error.value) == ("method", "'best'")


def test_folders_of_other_methods_say_their_file(tmp_path):
    made = tmp_path / "made"
    hg2v.Statistics().fit([(PATH, None)] * 3).save(made)
    error = raised(InputError, lambda: hg2v.HG2V.load(made))
    assert (error.file, error.fix) == (str(made), "load it with hg2v.load")


def test_words_are_those_of_rust():
    words = dict(hg2v._hg2v.words())
    assert words["weights"] == ["use", "abs", "ignore"]
    assert words["loss"] == ["jsd", "infonce", "cosine"]
    assert all(len(known) > 1 for known in words.values())
    # Every parameter that says which words it takes says those, all of them.
    documents = map(docstring_of, [hg2v.HG2V, hg2v.WassersteinWL, hg2v.coarsen])
    lines = [
        line
        for document in documents
        for line in re.sub(r"\n {12,}", " ", document).splitlines()
        if '``"' in line
    ]
    named = "preset layer input readout loss negatives degree structure weights slices census nodes"
    # Names before a colon, each perhaps with its default in parentheses.
    one = r"\w+(?: \([^)]*\))?"
    for name in named.split():
        listed = rf" {{8}}(?:{one}, )*{name}(?: \([^)]*\))?(?:, {one})*: "
        about = [line for line in lines if re.match(listed, line)]
        assert about, name
        for text in about:
            assert [word for word in words[name] if f'``"{word}"``' not in text] == [], text


def test_a_word_that_is_nearly_right_is_suggested():
    with pytest.raises(ParameterError, match="'jsd', 'infonce' or 'cosine'; did you mean 'cosine'"):
        hg2v.HG2V(loss="cosin").fit([(PATH, None)] * 3)
    with pytest.raises(ParameterError, match="'default', 'network' or 'paper'$"):
        hg2v.HG2V(preset="theirs").fit([(PATH, None)] * 3)


def test_something_in_the_way_says_what_python_can_do(tmp_path):
    model = hg2v.HG2V(**PARAMS).fit([(PATH, None)] * 3)
    model.save(tmp_path / "made")
    error = raised(FileError, lambda: model.save(tmp_path / "made"))
    assert error.errno == 17 and "say overwrite=True" in str(error)
