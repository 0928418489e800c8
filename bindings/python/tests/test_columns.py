"""Every list-like of graphs: columns of tables, arrays of objects, tuples, views, generators."""

import numpy as np
import pytest

import hg2v
from shared import PARAMS, same

SMILES = ["CCO", "CCN", "c1ccccc1", "CC(=O)O", "CCCC", "C1CCCCC1"] * 2


def pandas_series(**options):
    return lambda items: pytest.importorskip("pandas").Series(items, **options)


def polars_series(items):
    return pytest.importorskip("polars").Series(items)


def pyarrow_array(items):
    return pytest.importorskip("pyarrow").array(items)


def pyarrow_pieces(items):
    return pytest.importorskip("pyarrow").chunked_array([items[:5], [], items[5:]])


#: Columns of texts. A frame of one column is that column.
OF_TEXTS = {
    "pandas": pandas_series(),
    "pandas, objects": pandas_series(dtype=object),
    "pandas, Arrow": pandas_series(dtype="string[pyarrow]"),
    "pandas, categories": pandas_series(dtype="category"),
    "pandas, an odd index": pandas_series(index=["a"] * len(SMILES)),
    "pandas, index": lambda items: pytest.importorskip("pandas").Index(items),
    "pandas, array": lambda items: pandas_series()(items).array,
    "pandas, frame": lambda items: pandas_series()(items).to_frame("smiles"),
    "polars": polars_series,
    "polars, frame": lambda items: polars_series(items).to_frame("smiles"),
    "pyarrow": pyarrow_array,
    "pyarrow, in pieces": pyarrow_pieces,
    "pyarrow, dictionary": lambda items: pyarrow_array(items).dictionary_encode(),
    "pyarrow, large": lambda items: pyarrow_array(items).cast("large_string"),
    "pyarrow, view": lambda items: pyarrow_array(items).cast("string_view"),
    "pyarrow, table": lambda items: pytest.importorskip("pyarrow").table({"smiles": items}),
    "numpy": np.array,
    "numpy, objects": lambda items: np.array(items, object),
    "numpy, a matrix of one column": lambda items: np.array(items, object)[:, None],
}


def objects(items):
    made = np.empty(len(items), object)
    made[:] = items
    return made


#: Containers of anything.
OF_ANYTHING = {
    "tuple": tuple,
    "generator": lambda items: (item for item in items),
    "values of a dict": lambda items: dict(enumerate(items)).values(),
    "map": lambda items: map(lambda item: item, items),
    "numpy": objects,
    "pandas": lambda items: pandas_series()(objects(items)),
    "pandas, frame": lambda items: pandas_series()(objects(items)).to_frame("graph"),
    "polars": lambda items: pytest.importorskip("polars").Series(
        items, dtype=pytest.importorskip("polars").Object
    ),
}


@pytest.mark.parametrize("kind", OF_TEXTS)
def test_columns_of_smiles(kind):
    expected = hg2v.HG2V(**PARAMS).fit_transform(SMILES)
    same(hg2v.HG2V(**PARAMS).fit_transform(OF_TEXTS[kind](SMILES)), expected)


@pytest.mark.parametrize("kind", OF_ANYTHING)
@pytest.mark.parametrize("library", ["networkx", "rdkit", "mappings", "graphs"])
def test_containers_of_graphs(kind, library, atoms, arrays):
    if library == "networkx":
        items = atoms[:10]
    elif library == "rdkit":
        chem = pytest.importorskip("rdkit.Chem")
        items = [chem.MolFromSmiles(text) for text in SMILES]
    else:
        items = (
            arrays[:10] if library == "mappings" else [hg2v.graphs(arrays)[i] for i in range(10)]
        )
    expected = hg2v.HG2V(**PARAMS).fit_transform(items)
    same(hg2v.HG2V(**PARAMS).fit_transform(OF_ANYTHING[kind](items)), expected)


@pytest.mark.parametrize("count", [2, 3])
def test_a_pair_of_graphs_is_no_pair_of_arrays(count, atoms, arrays, tmp_path):
    parts = [hg2v.graphs([one]) for one in arrays[:count]]
    for at, part in enumerate(parts):
        part.write(tmp_path / f"{at}.jsonl")
    paths = tuple(tmp_path / f"{at}.jsonl" for at in range(count))
    for given in (tuple(atoms[:count]), tuple(arrays[:count]), tuple(parts), paths):
        assert len(hg2v.graphs(given)) == count
    with pytest.raises(hg2v.InputError, match="this is one tuple"):
        hg2v.graphs(([[0], [1]], None))


def test_columns_of_rows(arrays, vectors, model):
    """Structs, and rows as mappings, have the columns of a table."""
    pa = pytest.importorskip("pyarrow")
    rows = [
        {
            "src": one["edge_index"][0].tolist(),
            "dst": one["edge_index"][1].tolist(),
            "weight": one["weight"].tolist(),
            "x": one["x"].tolist(),
            "id": None,
        }
        for one in arrays
    ]
    polars = pytest.importorskip("polars")
    for given in (rows, pa.array(rows), polars.Series(rows), pandas_series()(rows)):
        same(model.transform(given), vectors)


@pytest.mark.parametrize("missing", [None, np.nan, np.float32("nan"), "NA", "NaT"])
def test_missing_graphs_are_named(missing):
    pytest.importorskip("rdkit")
    pandas = pytest.importorskip("pandas")
    missing = getattr(pandas, missing) if isinstance(missing, str) else missing
    for given in ([*SMILES, missing], pandas_series(dtype=object)([*SMILES, missing])):
        with pytest.raises(hg2v.InputError, match=r"^graph 12: it is missing \(.*\); leave it out"):
            hg2v.graphs(given)


def test_columns_that_arrow_does_not_know():
    pandas, nx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    graphs = [nx.path_graph(3)] * 3
    frame = pandas.DataFrame({"src": [[0, 1]] * 3, "dst": [[1, 2]] * 3, "graph": graphs})
    assert len(hg2v.graphs(frame)) == 3
    with pytest.raises(
        hg2v.InputError, match="^column `dst` of this pandas.(core.frame.)?DataFrame cannot be read"
    ):
        hg2v.graphs(frame.assign(dst=graphs))
    with pytest.raises(hg2v.InputError, match="no column `src`.*give that column alone$"):
        hg2v.graphs(frame[["dst", "graph"]])


def test_columns_without_a_type():
    """Nothing but nulls and empty lists, as frames of polars have them."""
    polars = pytest.importorskip("polars")
    rows = {"src": [[], []], "dst": [[], []], "num_nodes": [2, 3], "x": [[[], []], [[], [], []]]}
    frame = polars.DataFrame({**rows, "y": [None, None], "note": [None, None]})
    assert hg2v.graphs(frame).num_nodes().tolist() == [2, 3]
    model = hg2v.HG2V(**PARAMS).fit(frame)
    assert hg2v.embed_arrow(model, frame).shape[0] == 2


@pytest.mark.parametrize("given", [3, None, "table"])
def test_what_is_no_table(given, model):
    polars = pytest.importorskip("polars")
    for other in (given, polars.Series(["a"]), pyarrow_array(["a"]), pandas_series()(["a"])):
        with pytest.raises(hg2v.InputError, match="cannot be read as part of a table of graphs"):
            model.embed_arrow(other)


@pytest.mark.parametrize("column", ["smiles", ["smiles"]])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_inside_a_column_transformer(column, library):
    pytest.importorskip("rdkit")
    compose = pytest.importorskip("sklearn.compose")
    frames = pytest.importorskip(library)
    if library == "polars":
        pytest.importorskip("sklearn", "1.8", "scikit-learn before 1.8 does not know this polars")
    frame = frames.DataFrame({"smiles": SMILES, "mass": np.arange(len(SMILES))})
    for output in ("default", library):
        both = compose.ColumnTransformer(
            [("graph", hg2v.HG2V(**PARAMS), column)], remainder="passthrough"
        ).set_output(transform=output)
        rows = both.fit_transform(frame)
        assert rows.shape[0] == len(SMILES)
        assert rows.shape == both.transform(frame).shape
        assert isinstance(rows, np.ndarray if output == "default" else frames.DataFrame)


def test_none_of_any_kind_has_no_rows(model, vectors, arrays):
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    table = pa.table({"src": pa.array([], pa.list_(pa.int64()))})
    table = table.append_column("dst", table["src"])
    none = [[], (), iter([]), np.zeros(0, object), pandas.Series([], dtype=object), hg2v.graphs([])]
    for given in (*none, pa.array([], pa.string()), polars.Series([], dtype=str), table):
        rows = model.transform(given)
        assert rows.shape == (0, vectors.shape[1]) and rows.dtype == vectors.dtype
    for given in ([], pandas.Series([], dtype=object), table):
        with pytest.raises(hg2v.InputError, match="^there are no graphs; give at least one$"):
            hg2v.HG2V(**PARAMS).fit(given)
    for other in (hg2v.Graph2Vec(dim=4, epochs=1), hg2v.WLOptimalAssignment(rounds=1)):
        fitted = other.fit(arrays)
        assert fitted.transform([]).shape == (0, fitted.transform(arrays[:1]).shape[1])
        assert fitted.transform([]).dtype == fitted.transform(arrays[:1]).dtype


def test_labels_that_a_table_made_floats():
    """pandas turns a column of whole numbers into floats as soon as one is missing."""

    def path(label):
        return {"edge_index": [[0, 1], [1, 2]], "node_label": [label, 7, label]}

    whole = hg2v.HG2V(**PARAMS).fit([path(6), path(8), path(6)])
    same(whole.transform([path(6.0)]), whole.transform([path(6)]))
    same(whole.transform([path(np.float64(6))]), whole.transform([path(6)]))
    assert hg2v.Graph2Vec(dim=4, epochs=1).fit([path(6), path(6.0)]).transform([path(6)]).any()
    # A text and a truth are no numbers.
    for other in ("6", True):
        assert (whole.transform([path(other)]) != whole.transform([path(6)])).any()
