"""Searching from Python: the numbers of the command, tables of every library, and refusals."""

import json

import numpy as np
import pytest

import hg2v
from hg2v.errors import InputError, ParameterError
from shared import same


@pytest.fixture(scope="module")
def place(arrays, folder, tmp_path_factory):
    """The graphs as a file, for the command."""
    path = tmp_path_factory.mktemp("search") / "graphs.jsonl"
    hg2v.graphs(arrays).write(path)
    return path


@pytest.fixture(scope="module")
def index(model, arrays):
    return hg2v.Index(model, arrays)


def told(command, folder, place, *words):
    return json.loads(command("search", folder, *words, "--data", place, "--json"))


def rows_of(found):
    return [(one["position"], one["id"], one["y"], one["distance"]) for one in found]


def rows(table):
    return [(one["position"], one["id"], one["y"], one["distance"]) for one in table]


def test_neighbours_are_those_of_the_command(command, folder, place, index, arrays, model):
    (answer,) = told(command, folder, place, "g7", "--top", 4)["queries"]
    table = index.search("g7", k=4)
    assert rows(table) == rows_of(answer["neighbors"]) == rows(index.search(7, k=4))
    assert table["rank"].tolist() == [1, 2, 3, 4] and set(table["query"]) == {0}
    # Graphs that are new, and their vectors.
    answers = told(command, folder, place, place, "--top", 3)["queries"]
    expected = [row for answer in answers for row in rows_of(answer["neighbors"])]
    assert rows(index.search(arrays, k=3)) == expected
    assert rows(index.search(model.transform(arrays), k=3)) == expected
    assert rows(index.search(model.transform(arrays[:1])[0], k=3)) == expected[:3]


def test_neighbors_are_the_answers_of_every_graph(index, arrays):
    table = index.neighbors(k=4)
    each = [row for at in range(len(arrays)) for row in rows(index.search(at, k=4))]
    assert rows(table) == each
    assert table["query"].tolist() == [at for at in range(len(arrays)) for _ in range(4)]
    assert table["rank"].tolist() == [1, 2, 3, 4] * len(arrays)
    # No more than there are, and none is its own where many are the same.
    assert len(index.neighbors(k=1000)) == len(arrays) * (len(arrays) - 1)
    same = hg2v.Index(vectors=np.ones((9, 3), np.float32)).neighbors(k=2)
    assert len(same) == 18 and (same["query"] != same["position"]).all()
    with pytest.raises(ParameterError, match="k"):
        index.neighbors(k=0)


@pytest.mark.parametrize("metric, standardise", [("euclidean", True), ("cosine", False)])
def test_distances_are_those_of_the_command(
    metric, standardise, command, folder, place, model, arrays
):
    words = ["--metric", metric, *(["--standardise"] if standardise else [])]
    index = hg2v.Index(model, arrays, metric=metric, standardise=standardise)
    (answer,) = told(command, folder, place, "g7", *words)["queries"]
    assert rows(index.search(7)) == rows_of(answer["neighbors"])
    found = told(command, folder, place, "--outliers", 3, *words)["outliers"]["rows"]
    assert rows(index.outliers(3)) == rows_of(found)
    pairs = told(command, folder, place, "--duplicates", 0.5, *words)["duplicates"]["pairs"]
    table = index.duplicates(0.5)
    assert [[row["first"], row["second"]] for row in table] == [one["positions"] for one in pairs]
    assert table["distance"].tolist() == [one["distance"] for one in pairs]
    assert [[row["first_id"], row["second_id"]] for row in table] == [one["ids"] for one in pairs]


def test_outliers_are_those_of_the_command(command, folder, place, index, vectors, arrays):
    found = told(command, folder, place, "--outliers")["outliers"]["rows"]
    table = index.outliers()
    expected = [(one["position"], one["score"], *one["parts"].values()) for one in found]
    names = ["position", "score", *found[0]["parts"]]
    assert list(zip(*(table[name].tolist() for name in names))) == expected
    assert len(index.outliers(top=2)) == 2
    # Without graphs, by distances of standardised columns.
    alone = hg2v.Index(vectors=vectors).outliers(3)
    euclidean = hg2v.Index(vectors=vectors, metric="euclidean", standardise=True).outliers(3)
    assert rows(alone) == rows(euclidean) and "score" not in alone.columns
    # Graphs without their model see all that graphs bring.
    assert "score" in hg2v.Index(graphs=arrays, vectors=vectors).outliers(3).columns


def test_explanations_are_those_of_the_command(command, folder, place, index, arrays):
    (answer,) = told(command, folder, place, "g7", "--top", 2, "--explain")["queries"]
    for neighbor in answer["neighbors"]:
        why = neighbor["explanation"]
        for first, second in [(7, neighbor["position"]), ("g7", arrays[neighbor["position"]])]:
            found = index.explain(first, second)
            assert found.similarity == why["similarity"]
            assert found.first.tolist() == why["first"] and found.second.tolist() == why["second"]
            assert list(found.rest) == why["rest"]
            assert found.parts["share"].tolist() == [part["share"] for part in why["parts"]]
            assert found.parts["of"].tolist() == [part["of"] for part in why["parts"]]
    assert found.parts["share"].sum() == pytest.approx(found.similarity)


def test_drift_is_that_of_the_command(command, folder, place, model, arrays, vectors, tmp_path):
    command("embed", folder, place, "--out", tmp_path / "all.npy", "-q")
    shifted = vectors + np.float32(0.01)
    np.save(tmp_path / "new.npy", shifted)
    for options in ({}, dict(metric="euclidean", standardise=True, permutations=99)):
        words = [
            f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()
        ]
        files = (tmp_path / "all.npy", tmp_path / "new.npy")
        expected = json.loads(command("drift", *files, *words, "--json", "-q"))
        found = hg2v.drift(vectors, shifted, **options)
        names = ("energy", "share", "p_value", "permutations", "first", "second")
        assert {name: getattr(found, name) for name in names} == {
            name: expected[name] for name in names
        }
    assert hg2v.drift(arrays[:20], arrays[20:], model) == hg2v.drift(vectors[:20], vectors[20:])


@pytest.mark.parametrize(
    "method, options",
    [("pca", {}), ("tsne", dict(perplexity=5)), ("umap", dict(neighbors=7, standardise=True))],
)
def test_maps_are_those_of_the_command(method, options, command, folder, place, vectors, tmp_path):
    words = [
        f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()
    ]
    out = tmp_path / "map.npy"
    command("project", folder, "--data", place, "--method", method, *words, "--out", out, "-q")
    same(np.load(out), hg2v.project(vectors, method, **options).astype(np.float32))
    for n_jobs in (1, 2):
        again = hg2v.project(vectors, method, **options, n_jobs=n_jobs)
        assert (again == hg2v.project(vectors, method, **options)).all()


def test_parts_of_graphs_are_those_of_the_command(command, folder, place, model, arrays, tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    found = {"node": np.concatenate(model.transform_nodes(arrays))}
    levels = model.transform_levels(arrays)
    found["level"] = levels.reshape(-1, levels.shape[2])
    for per, rows in found.items():
        out = tmp_path / f"{per}.parquet"
        command("embed", folder, place, "--per", per, "--out", out, "-q")
        column = parquet.read_table(out)["embedding"].combine_chunks()
        same(column.flatten().to_numpy().reshape(rows.shape), rows)
    counts = [len(rows) for rows in model.transform_nodes(arrays)]
    assert counts == [one["num_nodes"] for one in arrays]
    assert model.transform_nodes([]) == []


def test_tables_go_into_every_library(index):
    table = index.search(0, k=3)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    framed = pandas.DataFrame(dict(table))
    assert framed.equals(table.to_pandas()) and list(framed.columns) == table.columns
    for made in (table.to_polars(), polars.DataFrame(table)):
        assert made.to_dicts() == list(table)
    assert table.to_arrow().to_pylist() == pyarrow.table(table).to_pylist() == list(table)
    with pytest.raises(ValueError, match="read-only"):
        table["distance"][0] = 0.0
    html = hg2v.Table({"<b>": ["<i>", None]})._repr_html_()
    assert "&lt;b&gt;" in html and "&lt;i&gt;" in html and "<i>" not in html
    mixed = hg2v.Table({"y": [1, None, 2.5], "id": ["a", 7, None], "flag": [True, False, True]})
    assert mixed.to_arrow()["id"].to_pylist() == ["a", "7", None]
    assert len(hg2v.Table({})) == 0 and repr(hg2v.Table({"n": range(30)})).endswith("… and 10 more")


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda index, **_: index.search(40), "position is 40, but there are 40 vectors"),
        (lambda index, **_: index.search("nobody"), "there is no graph 'nobody' among 40"),
        (lambda index, **_: index.search(0, k=0), "k is 0, but it must be at least 1"),
        (lambda index, **_: index.search(np.zeros(3)), "its vectors have 3 numbers"),
        (lambda index, **_: index.outliers(0), "k is 0, but it must be at least 1"),
        (lambda index, **_: index.outliers(40), "at most 39, the number of other vectors"),
        (lambda index, **_: index.duplicates(2.0), "threshold is 2, but a cosine is between"),
        (lambda index, **_: index.explain(0, 99), "there are 40 vectors"),
        (
            lambda vectors, **_: hg2v.Index(vectors=vectors).explain(0, 1),
            "only the model that made",
        ),
        (lambda vectors, **_: hg2v.Index(vectors=vectors).search([([0], [1])]), "need the model"),
        (lambda vectors, **_: hg2v.Index(vectors=vectors, metric="cosin"), "did you mean 'cosine'"),
        (lambda vectors, **_: hg2v.Index(vectors=vectors, index="links"), "index is 'links'"),
        (lambda vectors, **_: hg2v.Index(vectors=vectors[0]), "a row for each graph"),
        (lambda vectors, **_: hg2v.Index(vectors=vectors[:0]), "it holds no vectors"),
        (lambda vectors, **_: hg2v.Index(vectors=vectors * np.nan), "not finite"),
        (lambda arrays, **_: hg2v.Index(graphs=arrays), "give a fitted model and graphs, or"),
        (
            lambda vectors, arrays, **_: hg2v.Index(graphs=arrays[1:], vectors=vectors),
            "40 vectors for 39 graphs",
        ),
        (
            lambda model, vectors, **_: hg2v.Index(model, vectors=vectors[:, 1:]),
            "numbers",
        ),
        (lambda vectors, **_: hg2v.drift(vectors, vectors[:, 1:]), "embed both sets with the same"),
        (lambda vectors, **_: hg2v.drift(vectors, vectors, permutations=0), "permutations is 0"),
        (lambda vectors, **_: hg2v.project(vectors, "lle"), "method is"),
        (lambda vectors, **_: hg2v.project(vectors, perplexity=5.0), "it is for t-SNE"),
        (lambda vectors, **_: hg2v.project(vectors, "umap", perplexity=5.0), "it is for t-SNE"),
    ],
)
def test_nonsense_is_refused(call, said, index, vectors, arrays, model):
    with pytest.raises((ParameterError, InputError), match=said):
        call(index=index, vectors=vectors, arrays=arrays, model=model)


def test_graphs_of_one_name(model, arrays):
    twice = [dict(one, id="same") for one in arrays[:3]]
    with pytest.raises(InputError, match="3 graphs are called 'same', at the positions 0, 1, 2"):
        hg2v.Index(model, twice).search("same")


def test_a_gpu_that_is_not_there_is_refused(arrays, model, tmp_path):
    from hg2v.errors import DeviceError

    model = hg2v.HG2V(dim=8, levels=2, epochs=1, device="cuda:99")
    hg2v.graphs(arrays).write(tmp_path / "graphs.jsonl")
    fitted = hg2v.HG2V(dim=8, levels=2, epochs=1).fit(arrays).set_params(device="cuda:99")
    for call in (
        lambda: model.fit(arrays),
        lambda: model.fit_in(tmp_path / "kept", arrays),
        lambda: fitted.transform(arrays),
        lambda: fitted.transform_nodes(arrays),
        lambda: fitted.embed_arrow(hg2v.to_arrow(arrays)),
        lambda: hg2v.embed_file(fitted, tmp_path / "graphs.jsonl", tmp_path / "v.npy"),
        lambda: hg2v.evaluate(arrays, model, splits=2),
    ):
        with pytest.raises(DeviceError, match="^cuda:99: .*say device='cpu'"):
            call()
    with pytest.raises(ParameterError, match="device is .*must be cpu, cuda, or cuda:N"):
        model.set_params(device="gpu").fit(arrays)
