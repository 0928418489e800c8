"""What pages hold is what types.d.ts says, by which their modules are checked."""

import json
import re
import subprocess

import pytest

from conftest import ROOT, hg2v, write_jsonl

PAGE = ROOT / "crates/hg2v-report"
TYPES = PAGE / "src/page/types.d.ts"


def check_types(folder, name, text):
    """Lets TypeScript look at a few lines, under the modules' own settings; gives what it finds."""
    (folder / f"{name}.ts").write_text(text)
    settings = {"extends": str(PAGE / "tsconfig.json"), "include": [f"{name}.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(settings))
    node = ROOT / ".venv/node/bin/node"
    done = subprocess.run([node, PAGE / "node_modules/typescript/bin/tsc", "--project", folder], capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.fixture(params=["plain", "labels", "attributes", "molecules"])
def page_file(request, demo, tmp_path):
    """Pages whose nodes are coloured by degree, by label, by attribute and by element."""
    if request.param == "plain":
        return demo / "page.html"
    own = {
        "labels": {"node_labels": ["C", "N", "C", "O", "C"]},
        "molecules": {"node_labels": ["CH2", "NH", "CH2", "O", "CH2"]},
        "attributes": {"x": [[0.5, 9, 1, 7], [8, 2, 5, 1], [0, 7, 7, 2], [9, 1, 0, 0.25], [1, 8, 3, 3]]},
    }[request.param]
    ring = [[v, (v + 1) % 5] for v in range(5)]
    graphs = [{"id": f"g{i}", "y": None if i == 2 else i % 2, "edges": ring[: 2 + i % 4], "n": 5, **own} for i in range(8)]
    if request.param == "molecules":
        graphs = [{**graph, "edge_labels": ["single"] * len(graph["edges"])} for graph in graphs]
    write_jsonl(tmp_path / "graphs.jsonl", graphs)
    hg2v(tmp_path, "fit", "graphs.jsonl", "--out", "model", "--dim", 4, "--epochs", 1, "-q")
    # Of a sample, neighbours are absent.
    hg2v(tmp_path, "report", "model", "--sample", 4, "--out", "page.html", "-q")
    return tmp_path / "page.html"


def test_the_pack_has_the_types_that_it_should(page_file, open_page, tmp_path):
    page = open_page(page_file).page
    head = page.evaluate("JSON.stringify(page.head)")
    kinds = page.evaluate("Object.entries(page.arrays).map(([name, array]) => [name, array.constructor.name])")
    arrays = ", ".join(f"{json.dumps(name)}: new {kind}()" for name, kind in kinds)
    text = f'import type {{ Arrays, Head }} from "{TYPES}";\n'
    text += f"export const head: Head = {head};\nexport const arrays: Arrays = {{ {arrays} }};\n"
    assert check_types(tmp_path, "pack", text) == ""
    # And what is missing, or too much, is noticed.
    for bad in (text.replace('"nobody"', '"nobodies"'), text.replace('"neighbors": new Uint32Array()', '"neighbors": new Float32Array()')):
        assert bad != text and "error TS" in check_types(tmp_path, "pack", bad)


def test_elements_are_what_their_types_say(demo, open_page):
    page = open_page(demo / "page.html").page
    listed = re.search(r"interface Elements \{(.*?)\}", TYPES.read_text(), re.DOTALL)
    elements = re.findall(r'"?([\w-]+)"?: (\w+);', listed.group(1))
    assert len(elements) > 30
    for name, kind in elements:
        assert page.evaluate("id => document.getElementById(id)?.constructor.name", name) == kind, name


def test_only_the_pages_own_script_runs(demo, open_page):
    opened = open_page(demo / "page.html")
    opened.page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.hacked = true";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", '<svg onload="window.hacked = true"></svg>');
    }""")
    opened.settle()
    assert opened.page.evaluate("window.hacked") is None
    assert len(opened.problems) == 2 and all("Content Security Policy" in problem for problem in opened.problems)
    opened.problems.clear()


def test_the_source_can_be_read(demo):
    """Modules are in the page as they were written, but for what they import and export."""
    text = (demo / "page.html").read_text()
    for module in (PAGE / "src/page").glob("*.js"):
        source = module.read_text()
        body = re.split(r"^import .*\n", source, flags=re.MULTILINE)[-1]
        assert re.sub(r"^export ", "", body, flags=re.MULTILINE).strip() in text, module.name
