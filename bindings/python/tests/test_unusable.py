"""Graphs that cannot be used, while others can: ``errors="nan"`` and ``errors="skip"``."""

import json
import logging

import numpy as np
import pytest

import hg2v
from hg2v.errors import InputError, ParameterError
from shared import PARAMS, same
from test_estimators import SMALL, close
from test_inputs import arrow_table

PATH = [[0, 1], [1, 2]]
SMILES = ["CCO", "CCN", "c1ccccc1", "CC(=O)O", "CCCC", "C1CCCCC1"] * 2


@pytest.fixture
def said(caplog):
    """What was logged, of warnings and above."""
    caplog.set_level(logging.WARNING, "hg2v")
    return lambda: caplog.messages


def spoilt(items, bad):
    """Good graphs with bad ones among them, and where those are."""
    made, at = list(items), []
    for position, one in enumerate(bad):
        at.append(3 * position)
        made.insert(3 * position, one)
    return made, at


def smiles(arrays):
    return SMILES, ["C((", "not a molecule", None, np.nan, 7]


def mappings(arrays):
    one = arrays[0]
    return arrays, [
        None,
        {**one, "num_nodes": 3},
        {**one, "x": one["x"][:2]},
        {**one, "x": np.full_like(one["x"], np.nan)},
        {**one, "weight": -one["weight"]},
        {**one, "x": None},
        {**one, "x": one["x"][:, :1]},
        {**one, "colour": 1},
        {**one, "node_label": ["\ud800"] * one["num_nodes"]},
        {"edges": [[0, 1]]},
        "no molecule",
    ]


def networkx(arrays):
    nx = pytest.importorskip("networkx")

    def graph(one):
        made = nx.Graph()
        made.add_nodes_from((v, {"x": row}) for v, row in enumerate(one["x"]))
        made.add_edges_from(one["edge_index"].T.tolist())
        return made

    bad = [graph(one) for one in arrays[:4]]
    bad[0].nodes[2]["x"] = None
    del bad[1].nodes[3]["x"]
    bad[2].nodes[1]["x"] = [1.0, np.inf]
    bad[3].add_edge(0, 1, weight=-1.0)
    for graph_ in bad[:3]:
        nx.set_edge_attributes(graph_, 1.0, "weight")
    good = [graph(one) for one in arrays]
    for graph_ in good:
        nx.set_edge_attributes(graph_, 1.0, "weight")
    nx.set_edge_attributes(bad[3], -1.0, "weight")
    return good, bad


def lines(arrays):
    def line(one):
        return {"edges": one["edge_index"].T.tolist(), "x": one["x"].tolist()}

    good = [line(one) for one in arrays]
    one = good[0]
    return good, [
        {**one, "edges": [[0, 1, 2, 3]]},
        {**one, "x": one["x"][:1]},
        {**one, "x": [[np.nan, 1.0]] * len(one["x"])},
        {**one, "colour": {1, 2}},
        {**one, "x": [row[:1] for row in one["x"]]},
    ]


KINDS = {"SMILES": smiles, "mappings": mappings, "networkx": networkx, "lines": lines}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_nan_for_each_and_one_warning(kind, arrays, said):
    good, bad = KINDS[kind](arrays)
    given, at = spoilt(good, bad)
    expected = hg2v.HG2V(**PARAMS).fit(good)
    for raises in (lambda: hg2v.HG2V(**PARAMS).fit(given), lambda: expected.transform(given)):
        with pytest.raises(InputError):
            raises()
    kept = [i for i in range(len(given)) if i not in at]
    model = hg2v.HG2V(**PARAMS, errors="nan")
    calls = [
        (lambda: model.fit(given).transform(good), "and are left out: "),
        (lambda: model.transform(given), "and their rows are NaN: "),
        (lambda: model.fit_transform(given), "are left out, and their rows are NaN: "),
    ]
    before = len(said())
    for at_call, (call, follows) in enumerate(calls):
        rows = call()
        if at_call:
            assert np.isnan(rows[at]).all() and rows.shape[0] == len(given)
            rows = rows[kept]
        same(rows, expected.transform(good))
        (message,) = said()[before:]
        begins = f"{len(bad)} of {len(given)} graphs cannot be used, {follows}graph {at[0]} ("
        assert message.startswith(begins)
        assert len(bad) <= 6 or f"{len(bad) - 6} more" in message
        before = len(said())
    same(model.get_embedding()[kept], expected.transform(good))
    assert np.isnan(model.get_embedding()[at]).all()


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
def test_rows_of_tables(library, arrays, vectors, folder, model, said):
    pa = pytest.importorskip("pyarrow")
    table = arrow_table(arrays)
    bad = {
        "id": ["a", "b", "c"], "y": [0, 1, None], "src": [[0], [0], None], "dst": [[9], [1], [0]],
        "weight": [None, None, None], "x": [[[0.0, 1.0]] * 2, [[1.0]] * 2, None],
    }  # fmt: skip
    mixed = pa.concat_tables([table.slice(0, 5), pa.table(bad).cast(table.schema), table.slice(5)])
    at = [5, 6, 7]
    given = {"pyarrow": lambda: mixed, "pandas": mixed.to_pandas}.get(library)
    given = given() if given else pytest.importorskip("polars").from_arrow(mixed)
    tolerant = hg2v.load(folder).set_params(errors="nan")
    rows = tolerant.transform(given)
    assert np.isnan(rows[at]).all()
    same(np.delete(rows, at, axis=0), vectors)
    assert said()[-1].startswith("3 of 43 graphs cannot be used, and their rows are NaN: graph 5 (")
    for made in (tolerant.embed_arrow(given), hg2v.embed_arrow(folder, given, errors="nan")):
        assert type(made) is type(given)
        column = made["embedding"]
        found = np.array(column.to_pylist() if library == "pyarrow" else list(column), np.float32)
        same(found, rows)
    assert "graph 7 (" in said()[-1]
    with pytest.raises(InputError, match="^graph 5: "):
        hg2v.embed_arrow(folder, given)
    same(np.delete(tolerant.fit_transform(given), at, axis=0), vectors)
    assert len(hg2v.graphs(given, errors="skip")) == 41  # The model is what refuses one attribute.
    with pytest.raises(ParameterError, match="errors is 'skip', but it must be 'raise' or 'nan'"):
        hg2v.embed_arrow(folder, given, errors="skip")


def test_graphs_without_the_bad_ones(said):
    nx = pytest.importorskip("networkx")
    read = hg2v.graphs(["CCO", "C((", None, "CC"], errors="skip")
    assert read.num_nodes().tolist() == [3, 2]
    assert said() == [
        "2 of 4 graphs cannot be used, and are left out: graph 1 (the SMILES `C((` is no molecule: "
        "at 3, `((` opens a branch of a branch without an atom; correct it, or leave the molecule "
        "out); graph 2 (it is missing (None); leave it out)"
    ]
    both = [nx.path_graph(3, nx.DiGraph), nx.path_graph(4)]
    assert hg2v.graphs(both, directed="refuse", errors="skip").num_nodes().tolist() == [4]
    assert len(hg2v.graphs([None], errors="skip")) == 0
    with pytest.raises(ParameterError, match="errors is 'nan', but it must be 'raise' or 'skip'"):
        hg2v.graphs(both, errors="nan")


def test_what_most_graphs_have_decides_in_fit(arrays, said):
    bare = [{**one, "x": None} for one in arrays]
    few = [*bare[:2], *arrays, *bare[2:5]]
    rows = hg2v.HG2V(**PARAMS, errors="nan").fit_transform(few)
    assert np.isnan(rows).all(axis=1).nonzero()[0].tolist() == [0, 1, 42, 43, 44]
    assert (
        "its nodes have no attributes and no labels, but those of most graphs have 2" in said()[0]
    )
    rows = hg2v.HG2V(**PARAMS, errors="nan").fit_transform([*arrays[:2], *bare])
    assert np.isnan(rows).all(axis=1).nonzero()[0].tolist() == [0, 1]


def test_weights_are_those_of_most_graphs(arrays, model, said):
    tolerant = hg2v.HG2V(**PARAMS, errors="nan")
    tolerant.model_ = model.model_
    bare = [{**one, "weight": None} for one in arrays]
    for few, most in ((arrays, bare), (bare, arrays)):
        rows = tolerant.transform([*most[:3], *few[:2]])
        assert np.isnan(rows).all(axis=1).nonzero()[0].tolist() == [3, 4]
        same(rows[:3], model.transform(most[:3]))
        rows = tolerant.transform([few[0], most[0]])
        assert np.isnan(rows).all(axis=1).tolist() == [False, True]
    assert "graph 3 (its edges have an attribute 'weight', unlike those of most" in said()[0]
    assert "graph 3 (its edges have no attribute 'weight', unlike those of most" in said()[2]


def test_a_collection_may_still_be_at_fault(arrays):
    with pytest.raises(InputError, match="^none of the 2 graphs can be used; graph 0: it is miss"):
        hg2v.HG2V(**PARAMS, errors="nan").fit([None, np.nan])
    with pytest.raises(InputError, match="^there are no graphs"):
        hg2v.HG2V(**PARAMS, errors="nan").fit([])


def test_none_left_to_transform(model, vectors, said):
    tolerant = hg2v.HG2V(**PARAMS, errors="nan")
    tolerant.model_ = model.model_
    rows = tolerant.transform([None, None])
    assert rows.shape == (2, vectors.shape[1]) and np.isnan(rows).all()
    assert said()[0].startswith("2 of 2 graphs cannot be used, and their rows are NaN")


@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.__name__)
def test_every_estimator(kind, arrays, said):
    negative = {**arrays[0], "weight": -arrays[0]["weight"]}
    given = [None, *arrays, negative]
    good = kind(**SMALL[kind]).fit(arrays)
    tolerant = kind(**SMALL[kind], errors="nan").fit(given)
    rows = tolerant.transform(given)
    assert np.isnan(rows[[0, -1]]).all() and rows.shape[0] == 42
    close(good, rows[1:-1], good.transform(arrays))
    with pytest.raises(
        ParameterError, match="^errors is 'ignore', but it must be 'raise' or 'nan'"
    ):
        kind(**SMALL[kind], errors="ignore").fit(arrays)
    with pytest.raises(ParameterError, match="^errors is .*, but it must be"):
        tolerant.set_params(errors=None).transform(arrays)


def test_nothing_is_said_where_nothing_is_wrong(arrays, vectors, said):
    same(hg2v.HG2V(**PARAMS, errors="nan").fit_transform(arrays), vectors)
    assert said() == []


def test_frames_keep_their_index(said):
    pandas = pytest.importorskip("pandas")
    given = pandas.Series(["CCO", "C((", "CCC"], index=["a", "b", "b"])
    frame = hg2v.HG2V(**PARAMS, errors="nan").set_output(transform="pandas").fit_transform(given)
    assert frame.index.tolist() == ["a", "b", "b"]
    assert frame.isna().all(axis=1).tolist() == [False, True, False]


def test_a_pipeline_goes_on(arrays):
    pytest.importorskip("sklearn")
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    given = [*arrays, None]
    y = [*(one["y"] for one in arrays), 0]
    steps = hg2v.HG2V(**PARAMS, errors="nan"), SimpleImputer(), LogisticRegression(max_iter=1000)
    assert make_pipeline(*steps).fit(given, y).predict(given).shape == (41,)


def test_folders_do_not_say_what_is_done_with_errors(arrays, tmp_path):
    hg2v.HG2V(**PARAMS, errors="nan").fit(arrays).save(tmp_path / "model")
    assert hg2v.load(tmp_path / "model").errors == "raise"
    assert "errors" not in json.loads((tmp_path / "model" / "reading.json").read_text())


FILES = {
    "lines.jsonl": {
        "lines.jsonl": '{"edges": [[0, 1]]}\n{"edges": [[0, "a"]]}\nnonsense\n{"edges": [[0, 1], [1, 2]]}\n',
    },
    "table.csv": {
        "table.csv/edges.csv": "graph,src,dst,weight\n0,a,b,1\n1,a,b,x\n2,a,b,nan\n3,a,b,1\n3,b,c,1\n",
        "table.csv/graphs.csv": "graph\n0\n1\n2\n3\n",
    },
}


@pytest.mark.parametrize("name", FILES)
def test_graphs_of_files(name, tmp_path, said):
    for path, content in FILES[name].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    file = tmp_path / name
    for refused in (lambda: hg2v.graphs(file), lambda: hg2v.HG2V(**PARAMS).fit(str(file))):
        with pytest.raises(InputError, match="line (2|3)"):
            refused()
    read = hg2v.graphs(file, errors="skip")
    assert read.num_nodes().tolist() == [2, 3]
    (message,) = said()
    assert message.startswith(f"2 of 4 graphs cannot be used, and are left out: graph 1 ({file}")
    rows = hg2v.HG2V(**PARAMS, errors="nan").fit_transform(file)
    assert np.isnan(rows).all(axis=1).tolist() == [False, True, True, False]
    same(rows[[0, 3]], hg2v.HG2V(**PARAMS).fit_transform(read))
    both = hg2v.HG2V(**PARAMS, errors="nan").fit_transform([file, file])
    assert np.isnan(both).all(axis=1).nonzero()[0].tolist() == [1, 2, 5, 6]


def test_a_file_may_still_be_at_fault(tmp_path):
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and nothing more")
    for file in (tmp_path / "cut.parquet", tmp_path / "nowhere.jsonl"):
        with pytest.raises(InputError, match=file.name):
            hg2v.graphs(file, errors="skip")


def test_positions_after_some_were_left_out(arrays, model):
    """What a model refuses is told by its place in what was given."""
    read = hg2v.graphs([None, *arrays[:2], {**arrays[2], "x": None}], errors="skip")
    with pytest.raises(InputError, match="^graph 2: .*no node attributes"):
        model.transform(read)
