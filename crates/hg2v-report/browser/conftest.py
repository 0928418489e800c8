"""Pages made by the command, opened in a real browser."""

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[3]
HG2V = Path(os.environ.get("HG2V", ROOT / "target/release/hg2v")).resolve()
PICTURES = ROOT / "out" / "page"


def hg2v(folder, *arguments, **options):
    """Runs the command, which must succeed; gives what it printed. Sets are small, and one thread
    leaves the others to the browser."""
    environment = {**os.environ, "HG2V_CACHE": str(Path(folder) / "cache")}
    done = subprocess.run(
        [HG2V, *map(str, arguments), "--threads", "1"], cwd=folder, env=environment, capture_output=True, text=True, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_jsonl(path, graphs):
    path.write_text("".join(json.dumps(graph) + "\n" for graph in graphs))
    return path


def launch(playwright):
    """The system's own Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next(filter(None, map(shutil.which, names)), None)
    assert binary, "no Chromium here: install it with `make chromium`"
    return playwright.chromium.launch(executable_path=binary, args=["--no-sandbox"])


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


class Opened:
    """A page in a browser, which remembers what went wrong and what was asked for."""

    def __init__(self, page, address):
        self.page, self.problems, self.requests = page, [], []
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        self.address = address
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        self.wait("page.map.width > 0")

    def wait(self, condition):
        """Waits until something is true; the page's policy lets no text be run inside it."""
        for _ in range(600):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never: {condition}")

    def place(self, index):
        """Where a graph's point is, in the window."""
        x, y = self.page.evaluate("i => page.map.screen(i)", index)
        box = self.page.locator("#map").bounding_box()
        return box["x"] + x, box["y"] + y

    def pixel(self, x, y):
        """A pixel of the map: red, green, blue, opacity."""
        script = """([x, y]) => {
            const canvas = document.getElementById("map");
            const scale = canvas.width / canvas.clientWidth;
            return [...canvas.getContext("2d").getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data];
        }"""
        return self.page.evaluate(script, [x, y])

    def painted(self, selector):
        """How many pixels of a canvas are not blank."""
        script = """selector => {
            const canvas = document.querySelector(selector);
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let at = 3; at < data.length; at += 4) count += data[at] > 0;
            return count;
        }"""
        return self.page.evaluate(script, selector)

    def settle(self):
        """Waits until nothing moves any more."""
        self.page.evaluate("() => new Promise(done => setTimeout(() => requestAnimationFrame(done), 900))")

    def picture(self, name, **options):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", **options)


@pytest.fixture
def open_page(browser):
    """Opens a file or an address; afterwards nothing may have failed, and nothing asked for elsewhere."""
    contexts, pages = [], []

    def opened(where, **options):
        address = where if str(where).startswith("http:") else f"file://{where}"
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        pages.append(Opened(context.new_page(), address))
        return pages[-1]

    yield opened
    for page in pages:
        assert page.problems == []
        own = page.address if page.address.startswith("http:") else "file:"
        assert [url for url in page.requests if not url.startswith((own, "data:", "blob:"))] == []
    for context in contexts:
        context.close()


@contextlib.contextmanager
def serving(demo, **variables):
    """The demo's model and graphs, served; gives the address."""
    command = [HG2V, "serve", "model", "--index", "vectors.parquet", "--data", "graphs.jsonl", "--listen", "127.0.0.1:0", "--json"]
    environment = {**os.environ, "HG2V_CACHE": str(demo.parent / "cache"), **variables}
    process = subprocess.Popen(command, cwd=demo, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert line, process.stderr.read()
    yield json.loads(line)["address"]
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0


@pytest.fixture
def server(demo):
    with serving(demo) as address:
        yield address


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The folder of a small demo."""
    folder = tmp_path_factory.mktemp("demo")
    hg2v(folder, "demo", "--graphs", 60, "--nodes", 80, "--out", "demo", "-q")
    return folder / "demo"
