"""The picture of the README, out of a notebook: what its cell tagged `gallery` draws.

Run as ``python bindings/python/notebooks/picture.py call_graphs docs/gallery.png``.
"""

import base64
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat


def main(name: str, to: str) -> None:
    notebook = nbformat.read(Path(__file__).with_name(f"{name}.ipynb"), as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, kernel_name="python3").execute(cwd=folder)
    [cell] = [cell for cell in notebook.cells if "gallery" in cell.metadata.get("tags", ())]
    [picture] = [
        one["data"]["image/png"] for one in cell.outputs if "image/png" in one.get("data", {})
    ]
    Path(to).write_bytes(base64.b64decode(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
