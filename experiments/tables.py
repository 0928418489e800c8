"""Puts the tables of experiments/results where they stand: `python3 experiments/tables.py HG2V`."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
TABLES = [
    ("README.md", "table2"),
    ("README.md", "table2 --rivals"),
    ("README.md", "table3"),
    ("README.md", "table4"),
    ("docs/results.md", "lab"),
]

for file, name in TABLES:
    command = [pathlib.Path(sys.argv[1]).resolve(), "reproduce", *name.split(), "--markdown"]
    table = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    text = (ROOT / file).read_text()
    before, rest = text.split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- end of {name} -->")
    (ROOT / file).write_text(f"{before}<!-- {name} -->\n{table}<!-- end of {name} -->{after}")
