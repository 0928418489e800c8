"""The built wheel in a clean virtual environment: ``HG2V_WHEEL`` names it."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest


@pytest.fixture(scope="module")
def wheel():
    path = os.environ.get("HG2V_WHEEL")
    if not path:
        pytest.skip("HG2V_WHEEL is not set: no wheel to look at")
    return pathlib.Path(path)


def test_it_is_small_and_for_every_python(wheel):
    assert re.match(r"hg2v-.*-cp310-abi3-", wheel.name)
    assert wheel.stat().st_size < 15 << 20
    names = zipfile.ZipFile(wheel).namelist()
    assert {"hg2v/py.typed", "hg2v/_hg2v.pyi"} <= set(names)
    assert sum(name.endswith((".so", ".pyd", ".dylib")) for name in names) == 1
    metadata = next(name for name in names if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    assert re.findall(r"^Requires-Dist: (.*)$", text, re.MULTILINE) == ["numpy>=1.23"]


def test_clean_environment(wheel, tmp_path):
    """Nothing but numpy, fetched as a user would, and the first lines of the documentation."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "clean"], check=True)
    python = tmp_path / "clean" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    code = """
import importlib.metadata as m, hg2v
rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
model = hg2v.HG2V(dim=16, levels=2, epochs=3).fit(rings)
model.save("model")
assert (hg2v.load("model").transform(rings) == model.transform(rings)).all()
print(sorted(d.name for d in m.distributions() if d.name not in ("pip", "setuptools")))
"""
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['hg2v', 'numpy']"
    hg2v = tmp_path / "clean" / "bin" / "hg2v"
    said = subprocess.run([hg2v, "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert said.stdout.startswith("hg2v ") and said.returncode == 0, said.stderr
