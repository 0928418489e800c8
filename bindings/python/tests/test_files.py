"""Every format of docs/formats.md, from Python: what can be written comes back, and the others are
read as other programs write them."""

import gzip

import numpy as np
import pytest

import hg2v
from shared import PARAMS, same

#: Everything that a format may hold: names, labels, weights and attributes of either, directions,
#: an id, several targets; and a graph with nothing but a node.
FULL = [
    {
        "nodes": ["a", "b", "c"],
        "src": [0, 0, 1],
        "dst": [1, 1, 2],
        "weight": [1.0, 2.0, 0.5],
        "node_label": ["C", "N", "C"],
        "edge_label": ["single", "double", "single"],
        "x": [[0.5, 1.0], [2.0, 3.0], [4.0, -5.0]],
        "edge_x": [[0.25], [1e-7], [1e300]],
        "directed": True,
        "id": "first",
        "y": {"gap": 0.5, "mass": 12.0},
    },
    {
        "nodes": ["d"],
        "src": [],
        "dst": [],
        "weight": [],
        "node_label": ["O"],
        "edge_label": [],
        "x": [[0.0, 0.1]],
        "edge_x": np.zeros((0, 1)),
        "id": "second",
        "y": {"gap": 1.5, "mass": 1.0},
    },
]

WRITTEN = ["g.jsonl", "g.jsonl.gz", "g.parquet", "csv-folder", "g.zip"]


def rows(graphs):
    """Graphs as rows of a table; what a graph has nothing to hang on reads as absent."""
    pa = pytest.importorskip("pyarrow")
    made = pa.record_batch(graphs.to_arrow()).to_pylist()
    kept = ("src", "dst", "y")
    return [{name: of for name, of in row.items() if of or name in kept} for row in made]


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_comes_back(name, tmp_path):
    written = hg2v.graphs(FULL)
    written.write(tmp_path / name)
    assert rows(hg2v.graphs(tmp_path / name)) == rows(written)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("part", ["edge_index", "weight", "x", "node_label", "y"])
def test_what_is_not_there_is_not_made_up(name, part, arrays, tmp_path):
    """Graphs with their edges alone, or one more thing."""
    labels = dict(node_label=["C", "N"] * 13)
    bare = [
        {key: {**one, **labels}[key] for key in ("edge_index", "num_nodes", part)} for one in arrays
    ]
    for one in bare:
        one.update({key: of[: one["num_nodes"]] for key, of in one.items() if key in labels})
    written = hg2v.graphs(bare)
    written.write(tmp_path / name)
    assert rows(hg2v.graphs(tmp_path / name)) == rows(written)


@pytest.mark.parametrize("name", WRITTEN)
def test_files_give_the_same_vectors(name, arrays, vectors, model, tmp_path):
    hg2v.graphs(arrays).write(tmp_path / name)
    same(model.transform(tmp_path / name), vectors)
    hg2v.embed_file(model, tmp_path / name, tmp_path / "v.npy")
    same(np.load(tmp_path / "v.npy"), vectors)


@pytest.mark.parametrize("zipped", [False, True])
def test_graphml_of_networkx(zipped, tmp_path):
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph(y=1)
    graph.add_node(0, label="C", charge=0.5)
    graph.add_node(1, label="N", charge=1.0)
    graph.add_edge(0, 1, weight=2.0, label="single")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    path = tmp_path / "a.graphml"
    if zipped:
        path = tmp_path / "a.graphml.gz"
        path.write_bytes(gzip.compress((tmp_path / "a.graphml").read_bytes()))
    (row,) = rows(hg2v.graphs(path))
    (own,) = rows(hg2v.graphs([graph], attributes="charge"))
    assert {**row, "id": None, "nodes": None} == {**own, "id": None, "nodes": None}


SMILES = ["CCO", "c1ccccc1", "C[NH3+]"]


@pytest.mark.parametrize(
    "name", ["m.smi", "m.smi.gz", "m.csv", "m.tsv", "m.parquet", "m.sdf", "m.sdf.gz"]
)
def test_molecules(name, tmp_path):
    path = tmp_path / name
    if ".sdf" in name:
        chem = pytest.importorskip("rdkit.Chem")
        with chem.SDWriter(str(tmp_path / "m.sdf")) as writer:
            for text in SMILES:
                writer.write(chem.MolFromSmiles(text))
        text = (tmp_path / "m.sdf").read_text()
    elif name == "m.parquet":
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pandas.DataFrame({"smiles": SMILES}).to_parquet(path)
    else:
        text = "\n".join(SMILES if ".smi" in name else ["smiles", *SMILES]) + "\n"
    if name != "m.parquet":
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    same(hg2v.Morgan().fit_transform(path), hg2v.Morgan().fit_transform(SMILES))
    model = hg2v.HG2V(**PARAMS).fit(SMILES)
    np.testing.assert_allclose(model.transform(path), model.transform(SMILES), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["g.graphml", "g.smi", "g.sdf"])
def test_what_cannot_be_written(name, tmp_path):
    with pytest.raises(hg2v.InputError, match=r"read but not written; choose \.jsonl, \.parquet"):
        hg2v.graphs(FULL).write(tmp_path / name)
    assert not (tmp_path / name).exists()
