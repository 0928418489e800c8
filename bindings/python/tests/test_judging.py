"""Pages and evaluations from Python: those of the command."""

import json
import os
import signal
import threading

import numpy as np
import pytest

import hg2v
from hg2v.errors import FileError, ParameterError
from shared import PARAMS

WORDS = ["--dim", 8, "--hops", 2, "--levels", 2, "--epochs", 2]


@pytest.fixture(scope="module")
def place(arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("judging") / "graphs.jsonl"
    hg2v.graphs(arrays).write(path)
    return path


def judged(found):
    """An evaluation without what another run of it has otherwise."""

    def plain(value):
        if isinstance(value, dict):
            skipped = ("seconds", "data", "command")
            return {name: plain(one) for name, one in value.items() if name not in skipped}
        return [plain(one) for one in value] if isinstance(value, list) else value

    return plain(found)


def evaluated(command, *words):
    return json.loads(command("evaluate", *words, "--json", "-q"))


def test_evaluations_are_those_of_the_command(command, arrays, place, folder, vectors, tmp_path):
    network = hg2v.HG2V(**{**PARAMS, "random_state": 0})
    found = hg2v.evaluate(place, network, splits=3, also=["knn"])
    expected = evaluated(command, place, *WORDS, "--splits", 3, "--also", "knn")
    assert judged(found.found) == judged(expected)
    # The table has what the JSON says.
    first = expected["methods"][0]
    row = next(iter(found.scores))
    assert (row["method"], row["judge"]) == ("HG2V", "svm")
    assert row["test"] == first["result"]["test"]["mean"]
    assert row["validation_std"] == first["result"]["validation"]["std"]
    assert found.scores["judge"].tolist() == ["svm", "knn"] * 3
    tests = [
        one["test"] for one in found.splits if (one["method"], one["judge"]) == ("HG2V", "svm")
    ]
    assert tests == [split["test"] for split in first["result"]["splits"]]
    # A model as it is, and vectors.
    words = ["--protocol", "tenfold", "--no-controls"]
    found = hg2v.evaluate(arrays, folder, protocol="tenfold", controls=False)
    assert judged(found.found) == judged(evaluated(command, place, "--model", folder, *words))
    np.save(tmp_path / "v.npy", vectors)
    found = hg2v.evaluate(arrays, vectors=vectors, protocol="tenfold", controls=False)
    expected = evaluated(command, place, "--embeddings", tmp_path / "v.npy", *words)
    assert judged(found.found) == judged(expected)


def test_the_seed_is_that_of_splits_and_of_the_default(command, place):
    found = hg2v.evaluate(place, splits=2, random_state=5, controls=False)
    expected = evaluated(command, place, "--splits", 2, "--seed", 5, "--no-controls")
    assert judged(found.found) == judged(expected)


def test_numbers_are_judged_as_numbers(command, arrays, tmp_path):
    numbers = [dict(one, y=float(one["weight"].sum())) for one in arrays]
    hg2v.graphs(numbers).write(tmp_path / "numbers.jsonl")
    found = hg2v.evaluate(numbers, hg2v.Statistics().fit(numbers), splits=2, controls=False)
    hg2v.Statistics().fit(numbers).save(tmp_path / "model")
    expected = evaluated(
        command,
        tmp_path / "numbers.jsonl",
        "--model",
        tmp_path / "model",
        "--splits",
        2,
        "--no-controls",
    )
    assert judged(found.found) == judged(expected)
    row = next(iter(found.scores))
    errors = expected["methods"][0]["result"]["errors"]
    assert (row["judge"], row["mae"], row["r2"]) == (
        "kernel ridge",
        errors["mae"]["mean"],
        errors["r2"]["mean"],
    )


def test_other_methods_are_trained_on_each_split(arrays):
    found = hg2v.evaluate(arrays, hg2v.Graph2Vec(dim=8, epochs=2), splits=2)
    assert found.scores["method"].tolist() == ["graph2vec", "statistics"]
    assert found.found["method"] == "graph2vec" and "epochs" in str(found.found["settings"])
    untrained = hg2v.evaluate(arrays, hg2v.Untrained(dim=8, levels=2), splits=2, controls=False)
    assert untrained.scores["method"].tolist() == ["untrained"]
    assert "<table>" in untrained._repr_html_()


def test_a_judging_can_be_stopped_within_a_training(arrays):
    def press():
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        hg2v.evaluate(arrays, hg2v.HG2V(dim=8, levels=2, epochs=1_000_000), splits=2)
    timer.join()


def test_targets_are_judged_each(arrays):
    several = [dict(one, y={"odd": i % 2, "third": i % 3}) for i, one in enumerate(arrays)]
    statistics = hg2v.Statistics()
    found = hg2v.evaluate(several, statistics, splits=2)
    assert found.scores["target"].tolist() == ["odd", "third"]
    one = hg2v.evaluate(several, statistics, splits=2, target="third")
    assert one.scores["test"].tolist() == found.scores["test"].tolist()[1:]


@pytest.mark.parametrize(
    "options, said",
    [
        (dict(model=hg2v.HG2V(), vectors=np.zeros((40, 2))), "give a model or vectors"),
        (dict(vectors=np.zeros((39, 2))), "39 vectors for 40 graphs"),
        (dict(model=hg2v.Statistics(), grid="small"), "grid is 'small', but it chooses"),
        (dict(task="guess"), "task is 'guess'"),
        (dict(protocol="tenfolds"), "did you mean 'tenfold'"),
        (dict(protocol="tenfold", splits=3), "tenfold has its ten folds"),
        (dict(splits=0), "splits is 0"),
        (dict(also=["svm"]), "also is 'svm'"),
        (dict(also=["knn", "knn"]), "only once"),
        (dict(target="z"), "z"),
    ],
)
def test_nonsense_is_refused(options, said, arrays):
    with pytest.raises(hg2v.HG2VError, match=said):
        hg2v.evaluate(arrays, **options)


def test_pages_are_those_of_the_command(command, place, tmp_path):
    command("fit", place, *WORDS, "--out", tmp_path / "model", "-q")
    for options, words in (
        ({}, []),
        (
            dict(projections=["umap", "pca"], title="Trees", sample=30, standardise=True),
            ["--projections", "umap,pca", "--title", "Trees", "--sample", 30, "--standardise"],
        ),
    ):
        out = tmp_path / "page.html"
        command("report", tmp_path / "model", *words, "--out", out, "--force", "-q")
        page = hg2v.report(tmp_path / "model", **options)
        assert page.html == out.read_text() and page.shown == options.get("sample", 40)


def test_pages_of_real_graphs_are_those_of_the_command(command, data_dir, tmp_path):
    mutag = data_dir / "MUTAG.zip"
    command("fit", mutag, *WORDS, "--out", tmp_path / "model", "-q")
    command("report", tmp_path / "model", "--data", mutag, "--out", tmp_path / "p.html", "-q")
    page = hg2v.report(tmp_path / "model", mutag)
    assert page.html == (tmp_path / "p.html").read_text() and page.shown == 188
    expected = evaluated(command, mutag, *WORDS, "--splits", 2)
    found = hg2v.evaluate(mutag, hg2v.HG2V(**{**PARAMS, "random_state": 0}), splits=2)
    assert judged(found.found) == judged(expected)


def test_a_page_is_shown_and_saved(model, arrays, vectors, tmp_path):
    found = hg2v.evaluate(arrays, vectors=vectors, splits=2, controls=False)
    page = hg2v.report(model, arrays, tmp_path / "a.html", evaluation=found, vectors=vectors)
    assert (tmp_path / "a.html").read_text() == page.html
    assert page != hg2v.report(model, arrays)
    assert page == hg2v.report(model, arrays, evaluation=found)
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;') and "<script" not in shown
    with pytest.raises(FileError, match="overwrite=True"):
        hg2v.report(model, arrays, tmp_path / "a.html")
    with pytest.raises(FileError, match="overwrite=True"):
        page.save(tmp_path / "a.html")
    page.save(tmp_path / "a.html", overwrite=True)
    for options, said in (
        (dict(projections="lle"), "projections is 'lle'"),
        (dict(sample=0), "sample is 0"),
        (dict(vectors=vectors[1:]), "39 vectors for 40 graphs"),
    ):
        with pytest.raises(ParameterError, match=said):
            hg2v.report(model, arrays, **options)
    with pytest.raises(ParameterError, match="give graphs"):
        hg2v.report(model)


def compared(found):
    """A comparison without what another run of it has otherwise."""
    cells = [
        {name: value for name, value in cell.items() if name not in ("seconds", "peak_bytes")}
        for cell in found["cells"]
    ]
    return {**found, "cells": cells, "seconds": None}


def test_comparisons_are_those_of_the_command(command, arrays, place, tmp_path):
    methods = ["hg2v", "statistics", "wl-oa"]
    found = hg2v.compare(
        {"graphs": arrays}, methods, splits=3, also="knn", against="statistics", random_state=5
    )
    words = ["--splits", 3, "--also", "knn", "--against", "statistics", "--seed", 5]
    said = command("compare", place, "--methods", ",".join(methods), *words, "--json", "-q")
    assert compared(found.found) == compared(json.loads(said))
    scores = found.scores.to_pandas().set_index(["method", "judge"])
    first = found.found["cells"][0]
    assert scores.loc[("hg2v", "svm"), "test"] == first["test"]["mean"]
    assert scores.loc[("hg2v", "knn"), "test"] == first["also"][0]["test"]["mean"]
    assert np.isnan(scores.loc[("statistics", "svm"), "difference"])
    assert scores.loc[("hg2v", "svm"), "error"] == first["difference"]["standard_error"]
    assert found.ranks["method"].tolist() == methods and len(found.failed) == 0
    # Results that are kept are those of the same run.
    kept = hg2v.compare(place, methods[1:2], splits=3, random_state=5, out=tmp_path / "kept")
    assert (tmp_path / "kept" / "graphs.statistics.json").exists()
    row = next(iter(kept.scores))
    assert row["test"] == scores.loc[("statistics", "svm"), "test"]
    assert "difference" not in row


def test_comparisons_tell_what_failed():
    rings = [{"edge_index": [range(n), [*range(1, n), 0]], "y": n / 7 + 0.5} for n in range(5, 25)]
    found = hg2v.compare(rings, ["gin", "statistics"], splits=2)
    assert [one["method"] for one in found.failed] == ["gin"]
    assert "learns classes" in found.failed["error"][0]
    assert found.scores["method"].tolist() == ["statistics"] * 2
    with pytest.raises(ParameterError, match="no-such-method"):
        hg2v.compare(rings, ["no-such-method"])
    with pytest.raises(ParameterError, match="names no collection"):
        hg2v.compare({})
    with pytest.raises(hg2v.InputError, match="no such file"):
        hg2v.compare("nowhere.jsonl")
