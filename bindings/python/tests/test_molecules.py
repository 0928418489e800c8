"""Molecules: SMILES and RDKit's, the same graphs as the command reads."""

import pickle

import networkx as nx
import numpy as np
import pytest

import hg2v
from hg2v.errors import InputError
from shared import PARAMS, same

SMILES = ["CCO", "CCN", "c1ccccc1", "CC(=O)[O-]", "C1CCCCC1", "C[N+](C)(C)C", "c1cc[nH]c1"]


def columns(read, *names):
    pyarrow = pytest.importorskip("pyarrow")
    return [pyarrow.record_batch(read.to_arrow()).column(name).to_pylist() for name in names]


def described(read):
    """Atoms and bonds of each molecule, whichever bond and whichever end comes first."""
    return [
        (atoms, sorted((*sorted(ends), kind) for *ends, kind in zip(src, dst, kinds, strict=True)))
        for atoms, src, dst, kinds in zip(
            *columns(read, "node_label", "src", "dst", "edge_label"), strict=True
        )
    ]


def test_labels_of_atoms_and_bonds():
    nodes, edges = columns(hg2v.graphs(["C[NH3+]", "c1ccccc1"]), "node_label", "edge_label")
    assert nodes == [["CH3", "NH3+"], ["cH"] * 6]
    assert edges == [["single"], ["aromatic"] * 6]


def test_spellings_are_one_molecule():
    one, other = hg2v.graphs(["C1=CC=CC=C1O", "c1ccccc1O"])[0], hg2v.graphs(["c1ccccc1O"])[0]
    assert columns(one, "node_label", "edge_label") == columns(other, "node_label", "edge_label")


def test_molecules_of_rdkit_are_their_smiles():
    chem = pytest.importorskip("rdkit.Chem")
    read = hg2v.graphs([chem.MolFromSmiles(text) for text in SMILES])
    assert described(read) == described(hg2v.graphs(SMILES))
    mixed = hg2v.graphs([SMILES[0], chem.MolFromSmiles(SMILES[1])])
    assert mixed.num_nodes().tolist() == [3, 3]


def test_files_are_read_as_lists_are(tmp_path):
    path = tmp_path / "molecules.smi"
    path.write_text("\n".join(SMILES) + "\n")
    same(hg2v.Morgan().fit_transform(path), hg2v.Morgan().fit_transform(SMILES))


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match=r"^graph 1: the SMILES `C\(\(` is no molecule: at 3"):
        hg2v.graphs(["CC", "C(("])
    with pytest.raises(InputError, match="cannot be made single and double"):
        hg2v.graphs(["n1cccc1"])


def test_a_path_among_texts_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs.jsonl").write_text("")
    with pytest.raises(InputError, match="given alone, or as a pathlib.Path"):
        hg2v.graphs(["graphs.jsonl"])


def test_morgan_is_that_of_rdkit():
    chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem import rdFingerprintGenerator

    made = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    theirs = [made.GetCountFingerprintAsNumPy(chem.MolFromSmiles(text)) for text in SMILES]
    model = hg2v.Morgan().fit(SMILES[:2])
    np.testing.assert_array_equal(model.transform(SMILES), np.stack(theirs))
    same(pickle.loads(pickle.dumps(model)).transform(SMILES), model.transform(SMILES))


def test_morgan_refuses_other_graphs():
    with pytest.raises(InputError, match="is no molecule"):
        hg2v.Morgan().fit([([[0, 1], [1, 2]], None)])
    rows = hg2v.Morgan(dim=16, errors="nan").fit(SMILES).transform(["C((", "CC"])
    assert np.isnan(rows).all(axis=1).tolist() == [True, False]


def test_molecules_of_rdkit_are_their_smiles_however_they_are_written():
    chem = pytest.importorskip("rdkit.Chem")
    plain = [chem.MolFromSmiles(text) for text in SMILES]
    kekule = [chem.Mol(molecule) for molecule in plain]
    for molecule in kekule:
        chem.Kekulize(molecule, clearAromaticFlags=True)
    for given in (plain, [chem.AddHs(molecule) for molecule in plain], kekule):
        assert described(hg2v.graphs(given)) == described(hg2v.graphs(SMILES))
    named = chem.MolFromSmiles("CCO")
    named.SetProp("_Name", "ethanol")
    assert columns(hg2v.graphs([named]), "id") == [["ethanol"]]


def test_atoms_have_attributes_on_demand(tmp_path):
    (tmp_path / "m.smi").write_text("\n".join(SMILES) + "\n")
    numbers = columns(hg2v.graphs(SMILES, atom_attributes=True), "x")
    assert len(numbers[0][0][0]) == 11
    assert columns(hg2v.graphs(tmp_path / "m.smi", atom_attributes=True), "x") == numbers
    other = nx.Graph()
    other.add_nodes_from(range(2), label="C", x=[0.0] * 11)
    other.add_edge(0, 1, label="single")
    mixed = [other, SMILES[0]]
    assert columns(hg2v.graphs(mixed, atom_attributes=True), "x")[0][1] == numbers[0][0]
    model = hg2v.HG2V(**PARAMS, atom_attributes=True).fit(SMILES)
    vectors = model.transform(SMILES)
    with pytest.raises(InputError, match="atom_attributes=True"):
        model.model_.embed(hg2v.graphs(SMILES), 0)
    model.save(tmp_path / "model")
    loaded = hg2v.load(tmp_path / "model")
    assert loaded.atom_attributes
    same(loaded.transform(SMILES), vectors)
    hg2v.embed_file(tmp_path / "model", tmp_path / "m.smi", tmp_path / "v.npy")
    same(np.load(tmp_path / "v.npy"), vectors)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "duckdb"])
def test_tables_with_smiles_beside_other_columns(kind, tmp_path):
    pa = pytest.importorskip("pyarrow")
    numbers = [0.5 * at for at in range(len(SMILES))]
    table = pa.table({"name": list("abcdefg"), "smiles": SMILES, "logS": numbers})
    if kind == "duckdb":
        frame = pytest.importorskip("duckdb").from_arrow(table)
    elif kind == "polars":
        frame = pytest.importorskip("polars").from_arrow(table)
    elif kind == "pandas":
        pytest.importorskip("pandas")
        frame = table.to_pandas()
        frame["objects"] = [object()] * len(SMILES)
    else:
        frame = table
    read = hg2v.graphs(frame)
    assert described(read) == described(hg2v.graphs(SMILES))
    assert columns(read, "id") == [list("abcdefg")]
    assert read.targets()["logS"].tolist() == numbers
    model = hg2v.HG2V(**PARAMS, atom_attributes=True).fit(frame)
    vectors = model.transform(SMILES)
    same(model.transform(frame), vectors)
    if kind in ("arrow", "pandas"):
        found = hg2v.embed_arrow(model, table)["embedding"].to_pylist()
        same(np.array(found, np.float32), vectors)


def test_fingerprints_side_by_side_in_a_pipeline():
    """As scikit-mol has it: a step that makes molecules, a column of them, and several transformers
    of that, of which a bad one spoils its own row."""
    chem, sklearn = pytest.importorskip("rdkit.Chem"), pytest.importorskip("sklearn.pipeline")
    from sklearn.preprocessing import FunctionTransformer

    def molecules(texts):
        made = np.empty((len(texts), 1), object)
        made[:, 0] = [chem.MolFromSmiles(text) for text in texts]
        return made

    both = sklearn.make_union(
        hg2v.HG2V(**PARAMS, errors="nan"), hg2v.Morgan(dim=16, errors="nan")
    ).set_output(transform="pandas")
    pipeline = sklearn.make_pipeline(FunctionTransformer(molecules), both).fit(SMILES)
    rows = pipeline.transform([*SMILES, "not one"])
    assert rows.isna().all(axis=1).tolist() == [False] * len(SMILES) + [True]
    names = list(both.get_feature_names_out())
    assert list(rows.columns) == names and len(set(names)) == len(names)
    width = len(names) - 16
    assert all(name.startswith("hg2v__") for name in names[:width])
    assert all(name.startswith("morgan__") for name in names[width:])
    expected = hg2v.HG2V(**PARAMS).fit_transform(SMILES)
    np.testing.assert_array_equal(rows.to_numpy()[: len(SMILES), :width], expected)
