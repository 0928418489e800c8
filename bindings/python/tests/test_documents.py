"""What is written for people runs: docstrings, the README's examples, the notebooks."""

import doctest
import importlib
import os
import pathlib
import re

import pytest

HERE = pathlib.Path(__file__).resolve().parents[1]


MODULES = [
    "_coarsen",
    "_compare",
    "_distances",
    "_evaluate",
    "_inputs",
    "_kernels",
    "_methods",
    "_models",
    "_report",
    "_rivals",
    "_search",
    "_stream",
    "_table",
    "datasets",
    "karateclub",
]


@pytest.mark.parametrize("name", ["hg2v", *(f"hg2v.{module}" for module in MODULES)])
def test_docstrings(name, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0 and found.attempted > 0


def test_the_command_goes_on(command, tmp_path, monkeypatch):
    """The lines of the command in the module's documentation, on what its examples wrote."""
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(importlib.import_module("hg2v")).failed == 0
    lines = re.findall(r"^ +hg2v (.*)$", importlib.import_module("hg2v").__doc__, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        if not line.startswith("serve"):  # It would go on for ever.
            assert command(*line.split()) or (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "path",
    [HERE / "README.md", HERE.parents[1] / "README.md", HERE.parents[1] / "docs" / "molecules.md"],
    ids=["wheel", "project", "molecules"],
)
def test_readme(path, tmp_path, monkeypatch):
    for needed in ("networkx", "pandas", "pyarrow", "sklearn"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(path), "exec"), {"__name__": "readme"})


@pytest.mark.parametrize(
    "path", sorted((HERE / "notebooks").glob("*.ipynb")), ids=lambda at: at.stem
)
def test_notebook(path, tmp_path):
    """Cell after cell, in a kernel of its own: nothing fails or warns, and there is a picture. Notebooks
    are kept without what their cells say."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    # The bound is that of a cell, for machines that have much else to do.
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=tmp_path)
    said = [output for cell in cells for output in cell.outputs]
    assert not [output.text for output in said if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in said)
