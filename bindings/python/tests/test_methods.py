"""Models of every method: their vectors, and folders that the command shares."""

import ast
import inspect
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import hg2v
from hg2v import _hg2v, _methods
from hg2v.errors import FileError, InputError, ParameterError
from shared import PARAMS, docstring_of, same

#: An estimator of each method, and the options that tell the command the same.
NETWORK = ["--dim", 8, "--hops", 2, "--levels", 2, "--epochs", 2, "--seed", 3]
WORDS = dict(dim=8, rounds=2, epochs=2, random_state=3)
EACH = {
    "hg2v": (hg2v.HG2V(**PARAMS), NETWORK),
    "untrained": (hg2v.Untrained(**PARAMS), NETWORK),
    "graph2vec-gnn": (hg2v.Graph2VecGNN(**PARAMS), NETWORK),
    "statistics": (hg2v.Statistics(), []),
    "graph2vec": (
        hg2v.Graph2Vec(**WORDS),
        ["--dim", 8, "--rounds", 2, "--epochs", 2, "--seed", 3],
    ),
    "graph2vec-loukas": (
        hg2v.Graph2VecLoukas(**WORDS),
        ["--dim", 8, "--rounds", 2, "--epochs", 2, "--seed", 3],
    ),
    "infograph": (
        hg2v.InfoGraph(dim=4, layers=2, epochs=2, random_state=3),
        ["--dim", 4, "--layers", 2, "--epochs", 2, "--seed", 3],
    ),
    **{
        kernel: (
            hg2v.KernelVectors(kernel, dim=6, landmarks=20, rounds=2, random_state=3),
            ["--dim", 6, "--landmarks", 20, "--rounds", 2, "--seed", 3],
        )
        for kernel in ("wl-subtree", "wl-oa", "wwl")
    },
}


@pytest.fixture(params=EACH)
def method(request):
    return request.param


@pytest.fixture
def fresh(method):
    """An estimator of the method that nobody fitted."""
    estimator, _ = EACH[method]
    return type(estimator)(**estimator.get_params())


@pytest.fixture(scope="session")
def lines(arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "g.jsonl"
    hg2v.graphs(arrays).write(path)
    return path


def test_every_method_has_an_estimator(command):
    """Those that the command fits, and no others."""
    told = command("fit", "--help")
    # One is for molecules alone; see test_molecules.
    assert set(_methods.METHODS) == {*EACH, "morgan"}
    assert all(name in told for name in _methods.METHODS)


def test_vectors_depend_on_the_graph_alone(fresh, arrays):
    rows = fresh.fit_transform(arrays)
    assert rows.dtype == np.float32 and np.isfinite(rows).all()
    for n_jobs in (1, 2):
        model = type(fresh)(**{**fresh.get_params(), "n_jobs": n_jobs}).fit(arrays)
        same(model.transform(arrays), rows)
        same(model.transform(arrays[7:8]), rows[7:8])
    # Graphs that nobody has seen.
    half = type(fresh)(**fresh.get_params()).fit(arrays[:20])
    same(half.transform(arrays)[30:], half.transform(arrays[30:]))


def test_folders_and_pickles_bring_it_back(method, fresh, arrays, tmp_path):
    clone = pytest.importorskip("sklearn.base").clone
    rows = fresh.fit_transform(arrays)
    fresh.save(tmp_path / "model")
    assert sorted(os.listdir(tmp_path / "model")) == [
        "config.json",
        "model.safetensors",
        "reading.json",
    ]
    loaded = hg2v.load(tmp_path / "model")
    assert type(loaded) is type(fresh) and loaded.model_.method() == method
    given = {name: value for name, value in fresh.get_params().items() if value is not None}
    assert {name: loaded.get_params()[name] for name in given} == given
    same(loaded.transform(arrays), rows)
    same(pickle.loads(pickle.dumps(fresh)).transform(arrays), rows)
    same(type(fresh).load(tmp_path / "model").transform(arrays), rows)
    # What it says of itself is enough to make it again.
    same(clone(loaded).fit_transform(arrays), rows)


def test_the_command_reads_what_python_saved(fresh, arrays, lines, command, tmp_path):
    rows = fresh.fit_transform(arrays)
    fresh.save(tmp_path / "model")
    command("embed", tmp_path / "model", lines, "--out", tmp_path / "v.npy")
    same(np.load(tmp_path / "v.npy"), rows)


def test_python_reads_what_the_command_saved(method, fresh, arrays, lines, command, tmp_path):
    options = EACH[method][1]
    command("fit", lines, "--method", method, "--out", tmp_path / "model", *options)
    loaded = hg2v.load(tmp_path / "model")
    assert type(loaded) is type(fresh)
    # The same graphs and settings give the same bits, whoever fits.
    same(loaded.transform(arrays), fresh.fit_transform(arrays))


def test_streams_write_the_command_s_bytes(fresh, arrays, lines, command, tmp_path):
    rows = fresh.fit_transform(arrays)
    fresh.save(tmp_path / "model")
    for ending in ("npy", "parquet", "csv"):
        ours, theirs = tmp_path / f"ours.{ending}", tmp_path / f"theirs.{ending}"
        command("embed", tmp_path / "model", lines, "--out", theirs)
        for model, n_jobs in ((fresh, 1), (tmp_path / "model", 2)):
            written = hg2v.embed_file(model, lines, ours, n_jobs=n_jobs, overwrite=True)
            assert written == rows.shape
            assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("per", ["node", "level"])
def test_streams_of_parts_and_shards(per, folder, lines, command, tmp_path):
    options = ["--per", per, "--shard", "2/3"]
    command("embed", folder, lines, "--out", tmp_path / "theirs.parquet", *options)
    hg2v.embed_file(folder, lines, tmp_path / "ours.parquet", per=per, shard="2/3")
    theirs, ours = (tmp_path / f"{whose}.parquet" for whose in ("theirs", "ours"))
    assert ours.read_bytes() == theirs.read_bytes()


def test_streams_refused(model, arrays, lines, tmp_path):
    out = tmp_path / "v.npy"
    for given, said in (
        (dict(per="edge"), "per is 'edge', but it must be 'graph', 'node' or 'level'"),
        (dict(per=3), "per is 3, but it must be a text"),
        (dict(shard="3/2"), "shard is .*such as 2/8"),
        (dict(n_jobs=0), "n_jobs is 0"),
    ):
        with pytest.raises(ParameterError, match=said):
            hg2v.embed_file(model, lines, out, **given)
    with pytest.raises(ParameterError, match="per is node, .*vectors of graphs alone"):
        hg2v.embed_file(hg2v.Statistics().fit(arrays), lines, out, per="node")
    with pytest.raises(InputError, match="nowhere.jsonl"):
        hg2v.embed_file(model, tmp_path / "nowhere.jsonl", out)
    out.write_bytes(b"years of work")
    with pytest.raises(FileError, match="overwrite=True"):
        hg2v.embed_file(model, lines, out)
    assert out.read_bytes() == b"years of work"
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(lines.read_text() + "nonsense\n")
    with pytest.raises(InputError, match="damaged.jsonl"):
        hg2v.embed_file(model, damaged, tmp_path / "new.npy")
    assert not (tmp_path / "new.npy").exists()


def test_another_method_s_folder_is_refused(arrays, tmp_path):
    hg2v.Graph2Vec(dim=4, epochs=1).fit(arrays).save(tmp_path / "model")
    with pytest.raises(
        InputError, match="a model of graph2vec, not a HG2V; load it with hg2v.load"
    ):
        hg2v.HG2V.load(tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["method"] == "graph2vec"


@pytest.mark.parametrize("method", _methods.METHODS)
def test_defaults_are_the_library_s(method):
    estimator = _methods.METHODS[method]
    settings = json.loads(_hg2v.settings(method, "{}"))
    places = {name: where for name, where in reversed(estimator._places(method))}
    signature = inspect.signature(estimator).parameters
    compared = [
        name
        for name in places
        if name in signature and signature[name].default is not None and name != "temperature"
    ]
    for name in compared:
        value = settings
        for step in places[name].strip("/").split("/"):
            value = value[step]
        close = value if isinstance(value, str) else pytest.approx(value, rel=1e-7)
        assert signature[name].default == close, name
    assert len(compared) >= 1


def test_defaults_of_documents_are_the_library_s():
    defaults = dict(_hg2v.defaults())
    rounds = {name: value for value, names in defaults["rounds"] for name in names}
    text = " ".join(hg2v.KernelVectors.__doc__.split())
    assert rounds["wl-subtree"] == rounds["wl-oa"]
    assert f"{rounds['wl-oa']} of the first two kernels and {rounds['wwl']} of the last" in text
    own = {
        option: {name: value for value, names in values for name in names}.get("hg2v")
        for option, values in defaults.items()
    }
    batch, text = own["batch"], " ".join(hg2v.HG2V.__doc__.split())
    assert f"for more than {batch}, multiply ``lr`` by √(batch/{batch})" in text
    signature = inspect.signature(hg2v.HG2V).parameters
    assert defaults["preset"][0][0] == signature["preset"].default
    assert defaults["temperature"][0][0] == str(signature["temperature"].default)
    cosine = json.loads(_hg2v.settings("hg2v", '{"loss": "cosine"}'))["recipe"]["loss"]["cosine"]
    assert cosine["temperature"] == signature["temperature"].default
    ours = inspect.signature(hg2v.coarsen).parameters
    theirs = json.loads(_hg2v.settings("hg2v", "{}"))
    for name in ("method", "ratio", "k", "max_levels"):
        assert ours[name].default == theirs["coarsening"][name], name
    assert ours["weights"].default == theirs["weights"]


#: Estimators that say their parameters, but for those "as for" another.
DOCUMENTED = [
    *(
        hg2v.HG2V,
        hg2v.Graph2Vec,
        hg2v.Graph2VecLoukas,
        hg2v.InfoGraph,
        hg2v.Statistics,
        hg2v.Morgan,
    ),
    *(hg2v.KernelVectors, hg2v.WLSubtree, hg2v.WLOptimalAssignment, hg2v.WassersteinWL),
]

#: Names before a colon, each perhaps with its default in parentheses.
LISTED = re.compile(
    r"^ {8}((?:\w+(?: \([^)]*\))?,?\s+)*\w+(?: \([^)]*\))?):\s+(as\s+for)?", re.MULTILINE
)


def documented(kind):
    """The parameters that a docstring lists, in order, with their defaults and group."""
    text = docstring_of(kind).split("    Attributes:\n")[0].split("    Example:\n")[0]
    _, *parts = re.split(r"^    (\w[\w ]*):\n", text, flags=re.MULTILINE)
    for group, part in zip(parts[::2], parts[1::2]):
        for listed, elsewhere in LISTED.findall(part):
            for name, default in re.findall(r"(\w+)(?: \(([^)]*)\))?(?:,|$)", listed):
                yield name, None if elsewhere else ast.literal_eval(default), group


@pytest.mark.parametrize("kind", DOCUMENTED, ids=lambda kind: kind.__name__)
def test_documents_list_every_parameter_with_its_default(kind):
    signature = inspect.signature(kind).parameters
    found = list(documented(kind))
    assert sorted(name for name, _, _ in found) == sorted(signature)
    method = getattr(kind, "_methods", [None])[0]
    settings = json.loads(_hg2v.settings(method, "{}")) if method else {}
    places = dict(reversed(kind._places(method))) if method else {}
    for name, shown, _ in found:
        default = signature[name].default
        if default is None and name in places and kind is not hg2v.KernelVectors:
            part, last = _methods._within(settings, places[name])
            default = part[last]
        if shown is not None:
            assert shown == (
                default if isinstance(default, (str, list)) else pytest.approx(default)
            ), name


def test_groups_are_those_of_the_signature():
    """The few that stand first, and the others by group, all but the first by name."""
    found = [(name, group) for name, _, group in documented(hg2v.HG2V)]
    assert [name for name, _ in found] == list(inspect.signature(hg2v.HG2V).parameters)
    source = inspect.getsource(hg2v.HG2V.__init__)
    lines = re.findall(r"^        (?:# (.+)|(\w+):.*,)$", source, re.MULTILINE)
    group, grouped = "Args", []
    for title, name in lines:
        group = title or group
        grouped += [(name, group)] if name else []
    assert grouped == found
    assert sum(group == "Args" for _, group in found) <= 6
    for kind in DOCUMENTED:
        by_position = [
            at
            for at, one in enumerate(inspect.signature(kind).parameters.values())
            if one.kind is one.POSITIONAL_OR_KEYWORD
        ]
        assert by_position in ([], [0]), kind


def test_what_is_hg2v_s_alone(arrays):
    other = hg2v.Statistics().fit(arrays).model_
    for asked in (other.parameters, other.features, other.feature_dim, other.untrained):
        with pytest.raises(ParameterError, match="only models of HG2V's network"):
            asked()
    for name in ("majority", "nonsense"):
        with pytest.raises(ParameterError, match=f"method is `?{name}"):
            _hg2v.places_of(name)


def test_tables_of_any_method(fresh, arrays):
    pa = pytest.importorskip("pyarrow")
    rows = fresh.fit_transform(arrays)
    made = fresh.embed_arrow(pa.record_batch(hg2v.to_arrow(arrays)))
    same(np.array(made.column("embedding").to_pylist(), np.float32), rows)


LONG = dict(dim=16, hops=2, levels=2, epochs=60, random_state=3)

TRAINING = """
    import sys, hg2v
    print("ready", flush=True)
    try:
        hg2v.HG2V(**{params!r}).fit_in({folder!r}, {lines!r})
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_training_that_was_stopped_goes_on(how, arrays, lines, tmp_path):
    if how == getattr(signal, "SIGKILL", None) and os.name == "nt":
        pytest.skip("no such signal")
    folder = tmp_path / "model"
    many = tmp_path / "many.jsonl"
    many.write_text(lines.read_text() * 10)
    code = TRAINING.format(params=LONG, folder=str(folder), lines=str(many))
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    until = time.monotonic() + 60
    while not (folder / "log.jsonl").exists() and time.monotonic() < until:
        time.sleep(0.005)
    child.send_signal(how)
    out, _ = child.communicate(timeout=60)
    assert out == ("stopped\n" if how == signal.SIGINT else "")
    with pytest.raises(InputError, match="not finished"):
        hg2v.load(folder)
    assert (folder / "checkpoint.safetensors").exists() or how == signal.SIGKILL
    whole = hg2v.HG2V(**LONG).fit(many)
    gone_on = hg2v.HG2V(**LONG).fit_in(folder, many)
    same(gone_on.transform(arrays), whole.transform(arrays))
    same(hg2v.load(folder).transform(arrays), whole.transform(arrays))
    assert gone_on.losses_ == whole.losses_
    assert not (folder / "checkpoint.safetensors").exists()


def test_folders_of_trainings_remember_how_graphs_are_read(atoms, tmp_path):
    reading = dict(attributes=["charge", "mass"], label="element", weight="order")
    made = hg2v.HG2V(**PARAMS, **reading).fit_in(tmp_path / "model", atoms)
    loaded = hg2v.load(tmp_path / "model")
    assert {name: loaded.get_params()[name] for name in reading} == reading
    same(loaded.transform(atoms), made.transform(atoms))


def test_trainings_in_folders_refused(arrays, model, tmp_path):
    hg2v.HG2V(**PARAMS).fit_in(tmp_path / "model", arrays)
    with pytest.raises(InputError, match="finished"):
        hg2v.HG2V(**PARAMS).fit_in(tmp_path / "model", arrays)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="config.json"):
        hg2v.HG2V(**PARAMS).fit_in(tmp_path / "other", arrays)
    assert os.listdir(tmp_path / "other") == ["thesis.tex"]


def test_epochs_are_heard(arrays, tmp_path):
    heard = []
    model = hg2v.HG2V(**PARAMS).fit_in(
        tmp_path / "model", arrays, on_epoch=lambda *epoch: heard.append(epoch)
    )
    assert [number for number, _ in heard] == [1, 2]
    np.testing.assert_allclose([losses for _, losses in heard], model.losses_, rtol=1e-12)


def test_whoever_hears_of_epochs_can_stop(arrays, tmp_path):
    class EnoughError(Exception):
        pass

    def stop(epoch, losses):
        raise EnoughError(epoch)

    # So long that the end does not come before the word.
    long = hg2v.HG2V(**{**PARAMS, "epochs": 5000})
    with pytest.raises(EnoughError, match="1"):
        long.fit_in(tmp_path / "model", arrays, on_epoch=stop)
    assert not (tmp_path / "model" / "model.safetensors").exists()
