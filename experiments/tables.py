"""Puts the tables of experiments/results into the README: `python3 experiments/tables.py HG2V`."""

import pathlib
import subprocess
import sys

README = pathlib.Path(__file__).parent.parent / "README.md"

text = README.read_text()
for words in (["table2"], ["table2", "--rivals"], ["table3"], ["table4"]):
    name = " ".join(words)
    command = [pathlib.Path(sys.argv[1]).resolve(), "reproduce", *words, "--markdown"]
    table = subprocess.run(command, cwd=README.parent, capture_output=True, text=True, check=True).stdout
    before, rest = text.split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- end of {name} -->")
    text = f"{before}<!-- {name} -->\n{table}<!-- end of {name} -->{after}"
README.write_text(text)
