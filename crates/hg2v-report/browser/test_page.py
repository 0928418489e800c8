"""The page does what it promises, in a real browser."""

import json
import math
import os
import random
from pathlib import Path

import pytest

from conftest import PICTURES, hg2v, serving, write_jsonl

DATA = os.environ.get("HG2V_DATA")
real_sets = pytest.mark.skipif(not DATA, reason="real sets need HG2V_DATA, a folder of TU zips and idx files")


def nearest(folder, vectors, graph, *options):
    """Ids and distances of the six nearest, as `hg2v search` says them."""
    found = json.loads(hg2v(folder, "search", vectors, graph, "--json", *options))
    return found["queries"][0]["neighbors"]


def run_of(demo, graph):
    """A graph of the demo, by its place."""
    return json.loads((demo / "graphs.jsonl").read_text().splitlines()[graph])


def shown_neighbors(opened):
    cards = opened.page.locator("#panel .near").first.locator("[data-id]")
    return [
        (card.get_attribute("data-id"), card.locator(".distance").inner_text()) for card in cards.all()
    ]


def test_every_graph_is_a_point(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    assert page.locator("h1").inner_text() == "Runs of a program, as call graphs"
    assert page.evaluate("page.head.shown") == 60
    # At its place, a graph has the colour of its class, unless another lies above it.
    seen = 0
    for graph in range(60):
        x, y = page.evaluate("i => page.map.screen(i)", graph)
        kind = page.evaluate("i => page.palette.kind(page.kindOf(i))", graph)
        pixel = opened.pixel(x, y)
        assert pixel[3] > 150, f"nothing is drawn where graph {graph} is"
        seen += math.dist(pixel[:3], kind) < 40
    assert seen > 40
    # Between them, nothing is.
    assert opened.pixel(3, 3)[3] == 0


def test_pointing_draws_the_graph(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    assert page.locator("#tip").is_hidden()
    x, y = opened.place(7)
    page.mouse.move(x, y)
    page.wait_for_selector("#tip:not([hidden])")
    pointed = page.evaluate("page.map.pointed")
    # Seven itself, or one that lies closer to the very pixel.
    assert math.dist(opened.place(pointed), (x, y)) < 4
    assert page.evaluate("page.head.ids[page.map.pointed]") in page.locator("#tip p").inner_text()
    run = run_of(demo, pointed)
    assert f"{len(run['node_labels'])} nodes, {len(run['edges'])} edges" in page.locator("#tip p").inner_text()
    assert opened.painted("#tip canvas") > 500
    page.mouse.move(5, 5)
    assert page.locator("#tip").is_hidden()


def test_choosing_shows_what_search_finds(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    for graph in (0, 31):
        page.mouse.click(*opened.place(graph))
        chosen = page.evaluate("page.map.chosen")
        assert chosen >= 0
        expected = [
            (str(near["id"]), near["distance"])
            for near in nearest(demo, "vectors.parquet", page.evaluate("page.head.ids[page.map.chosen]"))
        ]
        shown = shown_neighbors(opened)
        assert [name for name, _ in shown] == [name for name, _ in expected]
        for (_, text), (_, distance) in zip(shown, expected):
            assert float(text.replace(",", "")) == pytest.approx(distance, rel=0.01)
    opened.settle()
    assert opened.painted("#panel .portrait") > 1000
    # A level of the pyramid has fewer nodes than the one below.
    levels = page.locator("#panel .levels small").all_inner_texts()
    sizes = [int(text.split()[-2]) for text in levels]
    assert sizes[0] == len(run_of(demo, chosen)["node_labels"]) and sizes == sorted(sizes, reverse=True) and len(sizes) > 2
    # A neighbour leads to its own page.
    card = page.locator("#panel .near button").nth(2)
    name = card.get_attribute("data-id")
    card.click()
    assert page.locator("#panel h2").inner_text() == name


def test_coarsening_gathers_nodes(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    page.mouse.click(*opened.place(3))
    page.locator("#panel .levels button").last.click()
    opened.settle()
    opened.wait("document.querySelector('#panel input[type=range]').value == page.sketches.of(page.map.chosen).levels.length - 1")
    last = page.evaluate("page.sketches.of(page.map.chosen).levels.at(-1).n")
    assert page.locator("#panel output").inner_text() == f"{last} node{'' if last == 1 else 's'}"
    # All nodes of the graph are pooled into the last level's, each once.
    sizes = page.evaluate("[...page.sketches.of(page.map.chosen).levels.at(-1).sizes]")
    assert sum(sizes) == len(run_of(demo, page.evaluate("page.map.chosen"))["node_labels"])


def test_the_legend_filters(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    kinds = page.locator("#legend .kind")
    assert kinds.count() == 6
    kinds.first.click()
    assert kinds.first.get_attribute("aria-pressed") == "false"
    opened.settle()
    assert page.locator("#corner").inner_text() == "50 of 60 graphs"
    hidden = page.evaluate("[...Array(60).keys()].find(i => page.kindOf(i) === 0)")
    # What is hidden cannot be pointed at.
    page.mouse.move(*opened.place(hidden))
    assert page.evaluate("i => page.map.pointed !== i", hidden)
    page.locator("#legend h3 button").click()
    opened.settle()
    assert page.locator("#corner").inner_text() == "60 graphs"
    # With Shift, one alone.
    kinds.last.click(modifiers=["Shift"])
    assert page.evaluate("[...page.map.shown].reduce((a, b) => a + b)") == 10


def test_colours_can_say_something_else(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    names = page.locator("#color option").all_inner_texts()
    assert {"class", "nodes", "edges", "density"} <= set(names)
    before = page.locator("#map").screenshot()
    page.select_option("#color", label="mean degree")
    opened.settle()
    assert page.locator("#legend .scale").is_visible()
    assert page.locator("#map").screenshot() != before


def test_the_lasso_catches_what_is_inside(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    page.click("#lasso")
    box = page.locator("#map").bounding_box()
    # Between two points that are as far apart as any in the middle, so that none lies on the line.
    across = sorted(opened.place(i)[0] for i in range(60))[15:45]
    middle = max(zip(across, across[1:]), key=lambda pair: pair[1] - pair[0])
    middle = sum(middle) / 2
    corners = [(box["x"] + 2, box["y"] + 2), (middle, box["y"] + 2), (middle, box["y"] + box["height"] - 2), (box["x"] + 2, box["y"] + box["height"] - 2)]
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=6)
    page.mouse.up()
    expected = [i for i in range(60) if opened.place(i)[0] < middle]
    assert sorted(page.evaluate("[...page.map.lassoed]")) == expected and 0 < len(expected) < 60
    assert page.locator("#panel h2").inner_text() == f"{len(expected)} graphs"
    assert page.locator("#panel .ids button").count() == len(expected)
    page.keyboard.press("Escape")
    assert page.evaluate("page.map.lassoed") is None


def test_graphs_are_found_by_id(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    page.fill("#search", "41")
    assert page.locator("#matches li").first.inner_text().startswith("41,")
    page.press("#search", "Enter")
    assert page.locator("#panel h2").inner_text() == "41"
    page.fill("#search", "no such graph")
    assert page.locator("#matches").inner_text() == "No graph has such an id"


def test_keys_are_enough(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    page.focus("#map")
    page.keyboard.press("ArrowRight")
    first = page.evaluate("page.map.pointed")
    assert first >= 0
    assert page.locator("#status").inner_text().startswith(page.evaluate("page.head.ids[page.map.pointed]"))
    page.keyboard.press("ArrowRight")
    second = page.evaluate("page.map.pointed")
    assert second != first and opened.place(second)[0] > opened.place(first)[0]
    page.keyboard.press("Enter")
    assert page.evaluate("page.map.chosen") == second
    scale = page.evaluate("page.map.view.scale")
    page.keyboard.press("+")
    opened.settle()
    assert page.evaluate("page.map.view.scale") == pytest.approx(1.5 * scale)
    page.keyboard.press("Escape")
    assert page.evaluate("page.map.chosen") == -1
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    # Everything that can be pressed can be reached, and has a name.
    nameless = page.evaluate("""[...document.querySelectorAll("button, input, select, canvas[role]")]
        .filter(e => !(e.innerText || "").trim() && !e.getAttribute("aria-label") && !e.labels?.length && !e.title)
        .map(e => e.outerHTML)""")
    assert nameless == []


def test_zooming_and_moving_keep_the_place_under_the_pointer(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    x, y = opened.place(5)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -500)
    opened.settle()
    assert page.evaluate("page.map.view.scale") > 1.5
    # As exactly as the browser tells where the pointer is: to a pixel, now three times as large.
    assert math.dist(opened.place(5), (x, y)) < 3
    x, y = opened.place(5)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 30, steps=5)
    page.mouse.up()
    assert math.dist(opened.place(5), (x + 80, y + 30)) < 2
    page.click("#fit")
    opened.settle()
    box = page.locator("#map").bounding_box()
    inside = [box["x"] <= u <= box["x"] + box["width"] and box["y"] <= v <= box["y"] + box["height"] for u, v in map(opened.place, range(60))]
    assert all(inside)


def test_what_was_run_is_told(demo, open_page):
    opened = open_page(demo / "page.html")
    page = opened.page
    assert page.locator("#training svg polyline").count() == 3
    # What a point says, where one points at it.
    title = page.locator("#training circle title").first
    assert title.evaluate("e => [e.namespaceURI, e.textContent.split(':')[0]]") == ["http://www.w3.org/2000/svg", "level 2"]
    scores = page.locator("#scores table").first.inner_text()
    assert all(name in scores for name in ("HG2V", "the same, untrained", "statistics", "largest class"))
    assert "80/20 splits, the model trained on the 80 alone" in page.locator("#scores").inner_text()
    evaluation = json.loads((demo / "evaluation.json").read_text())
    mean = 100 * evaluation["methods"][0]["result"]["test"]["mean"]
    assert f"{mean:.1f} ±" in scores
    confusion = evaluation["methods"][0]["confusion"]["counts"]
    assert sum(map(sum, confusion)) == 10 * 12
    assert page.locator(".confusion tbody tr").count() == 6
    run = page.locator("#settings").inner_text()
    assert all(word in run for word in ("graphs.jsonl", "variation neighborhoods", "dimension d", "seed"))
    # A page is shown to others: it does not tell where things are.
    assert str(demo.parent) not in page.evaluate("JSON.stringify(page.head)")
    nodes = sum(len(run_of(demo, graph)["node_labels"]) for graph in range(60))
    assert f"{nodes:,}" in page.locator("#facts").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(demo, open_page, scheme):
    opened = open_page(demo / "page.html", color_scheme=scheme)
    page = opened.page
    ground = "getComputedStyle(document.body).backgroundColor"
    brightness = lambda: sum(int(part) for part in page.evaluate(ground)[4:-1].split(",")) / 3
    assert (brightness() < 60) == (scheme == "dark")
    page.mouse.click(*opened.place(0))
    opened.settle()
    opened.picture(f"demo-{scheme}", full_page=True)
    page.click("#theme")
    assert (brightness() < 60) == (scheme == "light")
    assert opened.painted("#map") > 500


def test_a_phone(demo, open_page):
    opened = open_page(demo / "page.html", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=2)
    page = opened.page
    # Nothing is wider than the screen.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.touchscreen.tap(*opened.place(2))
    assert page.locator("#panel .near button").count() >= 6
    opened.settle()
    opened.picture("demo-phone", full_page=True)


def test_paper(demo, open_page):
    opened = open_page(demo / "page.html", color_scheme="dark")
    page = opened.page
    page.mouse.click(*opened.place(2))
    pdf = page.pdf(format="A4", print_background=True)
    assert pdf.startswith(b"%PDF") and len(pdf) > 20_000


HOSTILE = [
    "</script><script>window.hacked = true</script>",
    "<img src=x onerror=\"window.hacked = true\">",
    "\"quotes' and `ticks` & ampersands &lt;",
    "😀 emoji, עברית, \u202eright to left",
    "{{data}} {{script}} <!--",
    "",
    "x" * 5000,
    "\u2028line\nbreak\ttab\u0000nul",
]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """Ids, labels and titles that want to be more than text; graphs of every size."""
    folder = tmp_path_factory.mktemp("hostile")
    graphs = []
    for at, name in enumerate(HOSTILE * 3):
        size = 5 + at
        edges = [[v, (v + 1 + at % 3) % size] for v in range(size)]
        graphs.append({"id": f"{name}{at // len(HOSTILE) or ''}", "edges": edges, "y": HOSTILE[at % 3], "node_labels": [HOSTILE[v % 4] for v in range(size)]})
    write_jsonl(folder / "graphs.jsonl", graphs)
    hg2v(folder, "fit", "graphs.jsonl", "--out", "model", "--dim", 8, "--epochs", 1, "-q")
    hg2v(folder, "report", "model", "--out", "page.html", "--title", HOSTILE[0] + HOSTILE[4], "-q")
    return folder


def test_text_stays_text(hostile, open_page):
    opened = open_page(hostile / "page.html")
    page = opened.page
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == HOSTILE[0] + HOSTILE[4]
    assert page.evaluate("page.head.ids.slice(0, 8)") == HOSTILE
    for graph in range(8):
        page.evaluate("i => page.map.choose(i)", graph)
        assert page.locator("#panel h2").evaluate("e => e.textContent") == HOSTILE[graph]
        page.evaluate("i => page.map.point(i)", graph)
    page.fill("#search", "<img")
    page.press("#search", "Enter")
    assert page.evaluate("page.head.ids[page.map.chosen]").startswith("<img")
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2
    assert page.evaluate("window.hacked") is None
    opened.settle()
    opened.picture("hostile")


def test_graphs_of_any_size(tmp_path, open_page):
    big = 100_000
    rng = random.Random(7)
    graphs = [
        {"id": "none", "nodes": [], "edges": []},
        {"id": "one", "nodes": [0], "edges": []},
        {"id": "loop", "nodes": [0], "edges": [[0, 0]]},
        {"id": "tree", "edges": [[v, rng.randrange(v)] for v in range(1, big)]},
        {"id": "dust", "nodes": list(range(big)), "edges": []},
        {"id": "full", "edges": [[u, v] for u in range(120) for v in range(u)]},
    ]
    write_jsonl(tmp_path / "graphs.jsonl", graphs)
    write_jsonl(tmp_path / "small.jsonl", [{"edges": [[v, v + 1] for v in range(9)]}] * 4)
    hg2v(tmp_path, "fit", "small.jsonl", "--out", "model", "--preset", "paper", "--dim", 4, "--levels", 2, "--epochs", 1, "-q")
    hg2v(tmp_path, "report", "model", "--data", "graphs.jsonl", "--out", "page.html", "-q")
    opened = open_page(tmp_path / "page.html")
    page = opened.page
    assert "not trained on these graphs" in page.locator(".note:visible").inner_text()
    assert page.locator("#lede").inner_text().startswith("6 graphs · vectors")
    for graph in range(6):
        page.evaluate("i => page.map.choose(i)", graph)
        opened.settle()
        words = page.locator("#panel").inner_text()
        assert ("coarsened" in words) == (graphs[graph]["id"] == "tree")
        assert ("too many edges" in words) == (graphs[graph]["id"] == "full")
        assert ("best-connected of 100,000" in words) == (graphs[graph]["id"] == "dust")
        if graph:
            assert opened.painted("#panel .portrait") > 0
    assert page.evaluate("[...page.map.now].every(Number.isFinite)")


def test_a_set_of_one_graph_without_a_label(tmp_path, open_page):
    write_jsonl(tmp_path / "graphs.jsonl", [{"edges": [[0, 1], [1, 2]]}])
    hg2v(tmp_path, "fit", "graphs.jsonl", "--out", "model", "--dim", 4, "--epochs", 1, "-q")
    hg2v(tmp_path, "report", "model", "--out", "page.html", "-q")
    opened = open_page(tmp_path / "page.html")
    page = opened.page
    page.mouse.click(*opened.place(0))
    assert page.locator("#panel h2").inner_text() == "0"
    assert page.locator("#panel .near").count() == 0
    assert page.locator("#accuracy").is_hidden()
    assert "class" not in page.locator("#color option").all_inner_texts()


def test_a_sample_says_so(demo, tmp_path, open_page):
    hg2v(demo.parent, "report", "demo", "--sample", 20, "--out", tmp_path / "page.html", "-q")
    opened = open_page(tmp_path / "page.html")
    page = opened.page
    assert "20 of 60 graphs" in page.locator(".note:visible").first.inner_text()
    # Neighbours are found among all graphs; those that are not here are named.
    page.evaluate("page.map.choose(0)")
    expected = nearest(demo, "vectors.parquet", page.evaluate("page.head.ids[0]"))
    assert [name for name, _ in shown_neighbors(opened)] == [str(near["id"]) for near in expected]
    assert "not on this page" in page.locator("#panel").inner_text()


def test_new_graphs_land_on_the_map(demo, server, open_page):
    opened = open_page(server)
    page = opened.page
    known = json.loads((demo / "graphs.jsonl").read_text().splitlines()[12])
    # The same graph under another name is where it is, and nearest to itself.
    new = {**known, "id": "<b>new</b>"}
    page.fill("#new-graph", json.dumps(new))
    page.click("#place-graph")
    opened.wait("page.map.guests.length === 1")
    name = page.evaluate("page.head.ids[12]")
    shown = shown_neighbors(opened)
    answer = page.request.post(f"{server}/search", data=json.dumps(new)).json()["neighbors"]
    assert [own for own, _ in shown] == [str(near["id"]) for near in answer] and shown[0][0] == name
    assert page.locator("#panel h2").inner_text() == "<b>new</b>"
    guest, place = page.evaluate("[page.map.guest, [...page.map.now.slice(24, 26)]]")
    assert math.dist((guest["x"], guest["y"]), place) < 0.01
    opened.settle()
    assert opened.painted("#panel .portrait") > 300
    opened.picture("live")
    # It stays when everything is drawn again.
    page.click("#theme")
    assert page.locator("#panel h2").inner_text() == "<b>new</b>"
    # What the server refuses is told in its words; what is no JSON, too.
    page.fill("#new-graph", json.dumps({"edges": [[0, 1]]}))
    page.click("#place-graph")
    opened.wait("document.querySelector('#live [role=status]').textContent.includes('no node labels')")
    page.fill("#new-graph", "{")
    page.click("#place-graph")
    opened.wait("document.querySelector('#live [role=status]').textContent.includes('JSON')")
    # The browser itself tells of the answer 422.
    opened.problems = [problem for problem in opened.problems if "422" not in problem]


def test_new_graphs_with_places_are_drawn_there(tmp_path, open_page):
    """Nodes are where they are, and edges between those that they name, in whichever order they come."""
    hg2v(tmp_path, "generate", "dla", "--graphs", 12, "--nodes", 30, "--out", "graphs.jsonl", "-q")
    hg2v(tmp_path, "fit", "graphs.jsonl", "--out", "model", "--dim", 4, "--epochs", 1, "-q")
    hg2v(tmp_path, "embed", "model", "graphs.jsonl", "--out", "vectors.parquet", "-q")
    new = run_of(tmp_path, 7)
    with serving(tmp_path) as address:
        opened = open_page(address)
        page = opened.page
        page.fill("#new-graph", json.dumps({**new, "edges": new["edges"][::-1]}))
        page.click("#place-graph")
        opened.wait("page.map.guests.length === 1")
        drawn = page.evaluate("""() => {
            const { edges, x, y } = page.map.guest.sketch.levels[0];
            const ends = [...edges].map((v) => [x[v], -y[v]]);
            return ends.flatMap((end, at) => (at % 2 ? [] : [[end, ends[at + 1]]]));
        }""")
        assert sorted(drawn) == sorted([new["x"][u][:2], new["x"][v][:2]] for u, v in new["edges"])


def test_a_token_opens_the_page(demo, browser):
    with serving(demo, HG2V_TOKEN="let me in") as address, browser.new_context() as context:
        page = context.new_page()
        assert page.goto(address).status == 401
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / "login.png")
        page.fill("#token", "open sesame")
        page.click("button")
        assert page.locator("[role=alert]").inner_text() == "That is not the token."
        page.fill("#token", "let me in")
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-ready]")
        (cookie,) = context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and "let me in" not in cookie["value"]
        # What the page asks for later goes with the cookie.
        page.fill("#new-graph", (demo / "graphs.jsonl").read_text().splitlines()[12])
        page.click("#place-graph")
        page.wait_for_selector("#panel .portrait")
        assert page.evaluate("page.map.guests.length") == 1
        # Who comes without it is asked.
        with browser.new_context() as stranger:
            assert stranger.new_page().goto(address).status == 401
            assert stranger.request.post(f"{address}/search", data="{}").status == 401


def fitted(folder, data, *options):
    hg2v(folder, "fit", data, "--out", "model", "-q", *options)
    return folder / "model"


@real_sets
@pytest.mark.parametrize("name", ["PTC_FR", "IMDB-BINARY"])
def test_real_sets(name, tmp_path, open_page):
    data = Path(DATA) / f"{name}.zip"
    fitted(tmp_path, data, "--dim", 16, "--epochs", 2)
    hg2v(tmp_path, "report", "model", "--projections", "umap,pca", "--out", "page.html", "-q")
    for scheme in ("light", "dark"):
        opened = open_page(tmp_path / "page.html", color_scheme=scheme)
        opened.page.evaluate("page.map.choose(40)")
        opened.settle()
        opened.picture(f"{name}-{scheme}")


@real_sets
def test_similar_digits_stand_beside_each_other(tmp_path, open_page):
    images = [Path(DATA) / f"MNIST-t10k-{what}.gz" for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    hg2v(tmp_path, "images", *images, "--threshold", 0, "--out", "all.jsonl", "-q")
    with open(tmp_path / "all.jsonl") as lines:
        (tmp_path / "MNIST.jsonl").write_text("".join(next(lines) for _ in range(1000)))
    fitted(tmp_path, "MNIST.jsonl", "--dim", 32, "--epochs", 2)
    hg2v(tmp_path, "report", "model", "--standardise", "--projections", "umap,pca", "--out", "page.html", "-q")
    opened = open_page(tmp_path / "page.html")
    # By chance, a tenth of a digit's neighbours would be the same digit.
    same = opened.page.evaluate("""() => {
        let [same, all] = [0, 0];
        for (let i = 0; i < page.head.shown; i++)
            for (const { graph } of page.neighbors(i)) { all++; same += page.kindOf(graph) === page.kindOf(i); }
        return same / all;
    }""")
    assert same > 0.65
    # And the same on the map itself.
    near = opened.page.evaluate("""() => {
        const { now, count } = page.map;
        let same = 0;
        for (let i = 0; i < count; i++) {
            let [best, least] = [-1, Infinity];
            for (let j = 0; j < count; j++) {
                const apart = (now[2 * i] - now[2 * j]) ** 2 + (now[2 * i + 1] - now[2 * j + 1]) ** 2;
                if (j !== i && apart < least) [best, least] = [j, apart];
            }
            same += page.kindOf(best) === page.kindOf(i);
        }
        return same / count;
    }""")
    assert near > 0.3
    opened.page.evaluate("page.map.choose(17)")
    opened.settle()
    opened.picture("MNIST-light")
    opened.page.click("#minis")
    opened.page.click("#theme")
    opened.settle()
    opened.picture("MNIST-dark")
