"""Molecules are drawn as chemists know them."""

import json
import math
import re
from pathlib import Path

import pytest

from conftest import PICTURES, hg2v, write_jsonl

MOLECULES = [json.loads(line) for line in (Path(__file__).parent / "molecules.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    """The page of some molecules, with atoms and bonds as the reader of molecules labels them."""
    folder = tmp_path_factory.mktemp("molecules")
    write_jsonl(folder / "molecules.jsonl", MOLECULES)
    hg2v(folder, "fit", "molecules.jsonl", "--out", "model", "--dim", 8, "--epochs", 2, "-q")
    hg2v(folder, "report", "model", "--out", "page.html", "-q")
    return folder / "page.html"


# Remembers what is written on canvases: the text, its colour, and the canvas's class or id.
RECORD = """
() => {
    window.texts = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.texts.push([text, this.fillStyle, this.canvas.className || this.canvas.id]);
        fillText.call(this, text, ...rest);
    };
}
"""


def index_of(name):
    return [molecule["id"] for molecule in MOLECULES].index(name)


def sketch(page, name):
    script = """index => {
        const { molecule, levels } = page.sketches.of(index);
        const { x, y, edges } = levels[0];
        return { lines: [...molecule.lines], atoms: [...molecule.atoms].map((atom) => page.head.atoms[atom]),
                 x: [...x], y: [...y], edges: [...edges], levels: levels.length };
    }"""
    return page.evaluate(script, index_of(name))


def test_atoms_and_bonds_reach_the_page(molecules, open_page):
    page = open_page(molecules).page
    assert [element["name"] for element in page.evaluate("page.head.nodeColors.elements")][:3] == ["C", "O", "N"]
    aspirin = sketch(page, "aspirin")
    expected = {tuple(sorted(ends)) for ends in MOLECULES[index_of("aspirin")]["edges"]}
    edges = [tuple(aspirin["edges"][at : at + 2]) for at in range(0, len(aspirin["edges"]), 2)]
    assert set(edges) == expected and aspirin["levels"] > 1
    symbols = [atom[0] for atom in aspirin["atoms"]]
    assert sorted(symbols) == ["C"] * 9 + ["O"] * 4
    # Three double bonds in the ring, with their second line beside; two C=O, around the middle.
    assert sum(line in (2, 3) for line in aspirin["lines"]) == 3
    assert sum(line == 1 for line in aspirin["lines"]) == 2
    # All bonds are as long as each other.
    lengths = [math.dist((aspirin["x"][u], aspirin["y"][u]), (aspirin["x"][v], aspirin["y"][v])) for u, v in edges]
    assert max(lengths) / min(lengths) < 1.01
    assert 4 in sketch(page, "acetonitrile")["lines"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_say_hydrogens_and_charges(molecules, open_page, scheme):
    opened = open_page(molecules, color_scheme=scheme)
    page = opened.page
    page.evaluate(RECORD)

    def written(name):
        """What the portrait says, sorted: an atom's letters are written one after the other."""
        page.evaluate("() => { window.texts = []; }")
        page.evaluate("index => page.map.choose(index)", index_of(name))
        opened.wait("window.texts.some(([, , canvas]) => canvas === 'portrait')")
        texts = page.evaluate("window.texts.filter(([, , canvas]) => canvas === 'portrait')")
        letters = sorted(text for text, *_ in texts)
        return letters, {text: color for text, color, _ in texts}

    letters, colors = written("paracetamol")
    assert letters == ["H", "H", "N", "O", "O"]
    # Oxygen is red and nitrogen is blue, on any ground.
    channels = {text: [int(part, 16) for part in re.findall("[0-9a-f]{2}", color)] for text, color in colors.items()}
    assert channels["O"][0] == max(channels["O"]) and channels["N"][2] == max(channels["N"])
    dark = {element["name"]: element["dark" if scheme == "dark" else "light"] for element in page.evaluate("page.head.nodeColors.elements")}
    assert int(colors["O"][1:], 16) == dark["O"]
    assert written("choline")[0] == ["+", "H", "N", "O"]
    assert written("nitrobenzene")[0] == ["+", "N", "O", "O", "−"]
    # Carbon has a letter where it is alone; hydrogen where it is an isotope.
    assert written("methane")[0] == ["4", "C", "H"]
    assert written("deuterochloroform")[0] == ["2", "Cl", "Cl", "Cl", "H"]


def test_small_drawings_drop_letters(molecules, open_page):
    opened = open_page(molecules)
    page = opened.page
    page.evaluate(RECORD)

    def written(name):
        page.evaluate("() => { window.texts = []; }")
        page.evaluate("index => page.pointed(index, [90, 90], false)", index_of(name))
        assert opened.painted("#tip canvas") > 300
        return page.evaluate("window.texts.length")

    assert written("paracetamol") == 5
    assert written("imatinib") == 0


def test_levels_of_molecules_can_be_chosen(molecules, open_page):
    opened = open_page(molecules)
    page = opened.page
    page.evaluate("index => page.map.choose(index)", index_of("imatinib"))
    opened.settle()
    before = opened.painted(".portrait")
    levels = page.locator("#panel .levels button")
    assert levels.count() > 1
    levels.nth(1).click()
    opened.settle()
    assert levels.nth(1).get_attribute("aria-pressed") == "true"
    # Super-nodes are discs: they cover more than lines and letters do.
    assert opened.painted(".portrait") != before
    assert "Elements" in page.locator("#panel").inner_text()
    opened.picture("molecules-level")


def test_no_letter_is_cut_off(molecules, open_page):
    opened = open_page(molecules)
    for name in ("atp", "metformin", "glucose", "ammonium acetate", "water"):
        opened.page.evaluate("index => page.map.choose(index)", index_of(name))
        opened.settle()
        script = """() => {
            const canvas = document.querySelector(".portrait");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const dark = (x, y) => data[4 * (y * width + x) + 3] > 0;
            const sides = [...Array(height).keys()].some((y) => dark(0, y) || dark(width - 1, y));
            return sides || [...Array(width).keys()].some((x) => dark(x, 0) || dark(x, height - 1));
        }"""
        assert opened.painted(".portrait") > 100 and not opened.page.evaluate(script), name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures(molecules, open_page, scheme):
    opened = open_page(molecules, color_scheme=scheme)
    page = opened.page
    for name in ("sildenafil", "morphine", "losartan", "atp"):
        page.evaluate("index => page.map.choose(index)", index_of(name))
        opened.settle()
        opened.picture(f"molecules-{name}-{scheme}")
    page.keyboard.press("Escape")
    page.locator("#minis").click()
    opened.settle()
    opened.picture(f"molecules-{scheme}")
    assert all((PICTURES / f"molecules-{name}{scheme}.png").stat().st_size > 20_000 for name in ("", "atp-"))
