"""Folders: what they bring back, and what is never written over."""

import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import hg2v
from hg2v import _saved
from hg2v.errors import FileError, InputError
from shared import PARAMS, same

READING = dict(attributes=["charge", "mass"], label="element", weight="order", directed="refuse")


@pytest.fixture
def fitted(atoms):
    return hg2v.HG2V(**PARAMS, **READING).fit(atoms)


def test_models_know_how_their_graphs_are_read(fitted, atoms, tmp_path, command):
    fitted.save(tmp_path / "model")
    loaded = hg2v.load(tmp_path / "model")
    assert {name: loaded.get_params()[name] for name in READING} == READING
    same(loaded.transform(atoms), fitted.transform(atoms))
    # The command passes over what it need not know.
    hg2v.graphs(atoms, **READING).write(str(tmp_path / "g.jsonl"))
    command("embed", tmp_path / "model", tmp_path / "g.jsonl", "--out", tmp_path / "v.npy")
    same(np.load(tmp_path / "v.npy"), fitted.transform(atoms))


def test_rivals_know_it_too(atoms, tmp_path):
    given = dict(READING, attributes=np.array(READING["attributes"]))
    hg2v.Graph2Vec(dim=np.int64(4), epochs=1, **given).fit(atoms).save(tmp_path / "rival")
    loaded = hg2v.Graph2Vec.load(tmp_path / "rival")
    assert {name: loaded.get_params()[name] for name in READING} == READING
    assert loaded.transform(atoms[:3]).shape == (3, 4)


def test_a_folder_that_does_not_say(fitted, atoms, tmp_path):
    """As the command writes it: what is missing can be named."""
    fitted.save(tmp_path / "model")
    (tmp_path / "model" / "reading.json").unlink()
    loaded = hg2v.load(tmp_path / "model")
    assert loaded.attributes is None and loaded.directed == "keep"
    with pytest.raises(
        InputError, match=r"^graph 0: .*the model expects 2.*set_params\(attributes"
    ):
        loaded.transform(atoms)
    loaded.set_params(**READING)
    same(loaded.transform(atoms), fitted.transform(atoms))


SAVED = {
    "HG2V": lambda arrays, dim: hg2v.HG2V(**{**PARAMS, "dim": dim}).fit(arrays),
    "Graph2Vec": lambda arrays, dim: hg2v.Graph2Vec(dim=dim, epochs=1).fit(arrays),
    "WLOptimalAssignment": lambda arrays, dim: hg2v.WLOptimalAssignment(rounds=dim).fit(arrays),
}


@pytest.mark.parametrize(
    "content, said",
    [
        (b"{", "not JSON"),
        (b"\xff\xfe{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not an object"),
        (b"{}", "format None"),
        (b'{"format": 1}', "format 1, but"),
        (b'{"format": 2}', "changed or damaged"),
        (_saved._spelled({"dim": 3}), "does not say how graphs are read"),
        (_saved._spelled({"label": 3}), "label is 3, but it must be a text"),
        (_saved._spelled({"attributes": [["a"]]}), "attributes is"),
        (_saved._spelled({"directed": None}), "directed is None"),
        (_saved._spelled({"directed": "never"}), "directed is .never."),
    ],
)
def test_what_folders_say_is_not_believed(content, said, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    file = tmp_path / "model" / "reading.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        hg2v.load(tmp_path / "model")
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("kind", ["HG2V", "WLOptimalAssignment"])
def test_no_flipped_bit_of_what_python_saves_is_believed(kind, arrays, tmp_path):
    estimator = SAVED[kind](arrays, 4)
    estimator.save(tmp_path / "model")
    file = tmp_path / "model" / ("reading.json" if kind == "HG2V" else "estimator.json")
    whole = file.read_bytes()
    params = type(estimator).load(tmp_path / "model").get_params()
    for at in range(0, 8 * len(whole), 3):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        file.write_bytes(flipped)
        try:
            loaded = type(estimator).load(tmp_path / "model")
        except InputError:
            continue
        assert loaded.get_params() == params, flipped


def test_a_file_of_any_length_is_not_read(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    os.truncate(tmp_path / "model" / "reading.json", 1 << 40)
    with pytest.raises(InputError, match="reading.json: longer than"):
        hg2v.load(tmp_path / "model")


@pytest.mark.parametrize("kind", SAVED)
def test_saving_again(kind, arrays, tmp_path):
    first, second = (SAVED[kind](arrays[:10], dim) for dim in (4, 8))
    path = tmp_path / "folder"
    first.save(path, overwrite=True)
    with pytest.raises(FileError, match="not empty; name a new one, or say overwrite=True"):
        second.save(path)
    assert type(first).load(path).get_params() == first.load(path).get_params()
    second.save(path, overwrite=True)
    key = "rounds" if kind == "WLOptimalAssignment" else "dim"
    assert getattr(type(second).load(path), key) == 8
    # Nothing is left beside it.
    assert os.listdir(tmp_path) == ["folder"]


def test_any_saved_estimator_is_replaced_whole(arrays, command, tmp_path):
    SAVED["Graph2Vec"](arrays, 4).save(tmp_path / "rival")
    hg2v.graphs(arrays).write(str(tmp_path / "g.jsonl"))
    command("fit", tmp_path / "g.jsonl", "--out", tmp_path / "theirs", "--dim", 4, "--epochs", 1)
    for name in ("rival", "theirs"):
        SAVED["HG2V"](arrays, 4).save(tmp_path / name, overwrite=True)
        names = sorted(os.listdir(tmp_path / name))
        assert names == ["config.json", "model.safetensors", "reading.json"]


def strange_file(folder):
    (folder / "thesis.tex").write_text("years of work")


def another_program_s(folder):
    (folder / "config.json").write_text(json.dumps({"architectures": ["Bert"]}))
    (folder / "model.safetensors").write_bytes(b"years of work")


@pytest.mark.parametrize("fill", [strange_file, another_program_s])
def test_what_is_not_ours_is_never_replaced(fill, model, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    fill(folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(InputError, match="folder: it holds .*is not replaced"):
        model.save(folder, overwrite=True)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_model_with_something_beside_it_is_not_replaced(model, tmp_path):
    model.save(tmp_path / "folder")
    strange_file(tmp_path / "folder")
    with pytest.raises(InputError, match="'thesis.tex'"):
        model.save(tmp_path / "folder", overwrite=True)
    assert (tmp_path / "folder" / "thesis.tex").exists()


@pytest.mark.parametrize("when", ["writing", "renaming"])
def test_the_old_model_stays_when_the_new_one_fails(when, model, arrays, tmp_path, monkeypatch):
    from hg2v import _saved

    path = tmp_path / "folder"
    model.save(path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}

    def stopped(folder):
        if when == "writing":
            raise KeyboardInterrupt
        folder.mkdir()
        monkeypatch.setattr(type(folder), "rename", renamed)

    rename = type(path).rename

    def renamed(self, target):
        if self.name == "new":
            raise KeyboardInterrupt
        return rename(self, target)

    with pytest.raises(KeyboardInterrupt):
        _saved.place(path, stopped, overwrite=True)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
    assert os.listdir(tmp_path) == ["folder"]


def test_a_link_keeps_pointing(model, tmp_path):
    model.save(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    model.save(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink() and hg2v.load(tmp_path / "real").dim == model.dim


def test_where_a_file_stands_nothing_is_saved(model, tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(FileError, match="file"):
        model.save(tmp_path / "file", overwrite=True)
    assert (tmp_path / "file").read_text() == "text"


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "zip"])
def test_files_of_graphs_are_not_written_over(ending, arrays, tmp_path):
    path = tmp_path / f"graphs.{ending}"
    hg2v.graphs(arrays[:1]).write(path)
    before = path.read_bytes()
    with pytest.raises(FileError, match="; name another place, or say overwrite=True$") as caught:
        hg2v.graphs(arrays).write(path)
    assert caught.value.errno == errno.EEXIST and caught.value.filename == str(path)
    assert path.read_bytes() == before
    hg2v.graphs(arrays).write(path, overwrite=True)
    assert len(hg2v.graphs(path)) == len(arrays)
    assert os.listdir(tmp_path) == [path.name]


def test_pipes_and_devices_are_there_to_be_written_to(arrays, tmp_path):
    hg2v.graphs(arrays).write("/dev/null.jsonl" if os.name == "nt" else _null(tmp_path))


def _null(folder):
    (folder / "null.jsonl").symlink_to("/dev/null")
    return folder / "null.jsonl"


def test_replaced_models_are_read_again(arrays, tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"src": [[0, 1]], "dst": [[1, 2]], "x": [[[0.0, 1.0]] * 3]})
    for out_dim in (4, 8):
        model = hg2v.HG2V(**PARAMS, out_dim=out_dim).fit(arrays)
        model.save(tmp_path / "model", overwrite=True)
        made = hg2v.embed_arrow(tmp_path / "model", table)
        assert len(made["embedding"][0]) == out_dim


def test_a_new_process_reads_as_the_old_one_did(fitted, atoms, tmp_path):
    fitted.save(tmp_path / "model")
    code = f"import hg2v; print(hg2v.load({str(tmp_path / 'model')!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "label='element'" in done.stdout
