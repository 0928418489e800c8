"""Sets by name: of a folder, and downloaded from a server."""

import functools
import http.server
import threading

import numpy as np
import pytest

import hg2v
from hg2v import datasets

RINGS = [{"edge_index": [range(n), [*range(1, n), 0]]} for n in range(3, 7)]


def write(folder, name, ys):
    hg2v.graphs([dict(one, y=y) for one, y in zip(RINGS, ys)]).write(folder / name)


TARGETS = {
    "classes": ([3, 1, 3, 2], [3, 1, 3, 2], [1, 2, 3]),
    "texts": (["b", "a", "b", None], ["b", "a", "b", None], ["a", "b"]),
    "numbers": ([0.5, 1.5, 2.5, 3.5], [0.5, 1.5, 2.5, 3.5], None),
    "some numbers": ([0.5, None, 2.5, 3.5], [0.5, np.nan, 2.5, 3.5], None),
    "none": ([None] * 4, None, None),
}


@pytest.mark.parametrize("case", TARGETS)
def test_targets_and_classes(case, tmp_path):
    ys, target, classes = TARGETS[case]
    write(tmp_path, "rings.jsonl", ys)
    found = datasets.load("rings", data_dir=tmp_path)
    assert found.name == "rings" and found.graphs.num_nodes().tolist() == [3, 4, 5, 6]
    assert (found.target is None) == (target is None)
    if target is not None:
        np.testing.assert_array_equal(found.target, np.array(target, found.target.dtype))
    assert (None if found.classes is None else found.classes.tolist()) == classes


def test_several_targets(tmp_path):
    write(tmp_path, "rings.parquet", [{"gap": 0.5 * n, "kind": "a"} for n in range(4)])
    found = datasets.load("rings", data_dir=tmp_path)
    assert found.target is None and list(found.targets) == ["gap", "kind"]
    assert repr(found) == "Dataset('rings', 4 graphs, targets gap, kind)"
    one = datasets.load("rings", data_dir=tmp_path, target="gap")
    assert one.target.tolist() == [0.0, 0.5, 1.0, 1.5] and one.targets == {}
    assert repr(one) == "Dataset('rings', 4 graphs, a number each)"


def test_what_is_available_loads(tmp_path, monkeypatch):
    write(tmp_path, "a.jsonl", range(4))
    write(tmp_path, "b.parquet", range(4))
    write(tmp_path, "c.jsonl.gz", range(4))
    (tmp_path / "d.smi").write_text("CCO\nCCN\n")
    (tmp_path / "notes.txt").write_text("nothing")
    monkeypatch.setenv("HG2V_DATA", str(tmp_path))
    table = datasets.available()
    there = [row["name"] for row in table if row["path"] is not None]
    assert there == ["a", "b", "c", "d"]
    assert [len(datasets.load(name).graphs) for name in there] == [4, 4, 4, 2]
    mutag = next(iter(table))
    assert (mutag["name"], mutag["graphs"], mutag["classes"]) == ("MUTAG", 188, 2)
    assert mutag["download"] and not dict(zip(table["name"], table["download"]))["DLA"]
    assert datasets.load("d", atom_attributes=True).graphs.to_arrow() is not None


def test_without_a_folder(monkeypatch):
    monkeypatch.delenv("HG2V_DATA", raising=False)
    assert all(path is None for path in datasets.available()["path"])
    with pytest.raises(hg2v.ParameterError, match="^data_dir is None, but it must be a folder"):
        datasets.load("MUTAG", download=True)
    with pytest.raises(hg2v.InputError, match="HG2V_DATA; say download=True"):
        datasets.load("MUTAG")


def test_graphs_that_cannot_be_used_are_left_out(tmp_path, caplog):
    (tmp_path / "m.smi").write_text("CCO\nC((\n")
    with pytest.raises(hg2v.InputError, match="is no molecule"):
        datasets.load("m", data_dir=tmp_path)
    assert len(datasets.load("m", data_dir=tmp_path, errors="skip").graphs) == 1
    assert caplog.messages[0].startswith("1 of 2 graphs cannot be used, and are left out: graph 1")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def serve(monkeypatch):
    """Serves a folder where sets are downloaded from."""
    servers = []

    def start(folder):
        handler = functools.partial(Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HG2V_BASE_URL", f"http://127.0.0.1:{server.server_port}")
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()


NOT_THERE = {
    "MUTG": (hg2v.ParameterError, "NAME is `MUTG`, but it must be one of: MUTAG"),
    "DLA": (hg2v.ParameterError, "this set is made, not downloaded: hg2v generate dla"),
    "MUTAG": (hg2v.HG2VError, "/MUTAG.zip: .*404"),
}


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_cannot_be_downloaded(name, tmp_path, serve):
    kind, said = NOT_THERE[name]
    (tmp_path / "nothing").mkdir()
    serve(tmp_path / "nothing")
    with pytest.raises(kind, match=said):
        datasets.load(name, data_dir=tmp_path, download=True)


def test_a_set_is_downloaded_once(data_dir, tmp_path, serve):
    server = serve(data_dir)
    found = datasets.load("MUTAG", data_dir=tmp_path, download=True)
    server.shutdown()
    assert repr(found) == "Dataset('MUTAG', 188 graphs, 2 classes)"
    assert found.classes.tolist() == [-1, 1] and len(found.target) == 188
    again = datasets.load("MUTAG", data_dir=tmp_path, download=True)
    assert again.target.tolist() == found.target.tolist()
