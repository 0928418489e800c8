"""How long a frame of the map takes with ten thousand graphs, and how large their page is."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from conftest import hg2v, launch

GRAPHS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000

# Frames while the map is zoomed and moved: what it takes to draw one, and how far apart two are.
SCRIPT = """async () => {
    const { map } = page;
    const [draws, gaps] = [[], []];
    let before = performance.now();
    for (let frame = 0; frame < 90; frame++) {
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        gaps.push(now - before);
        before = now;
        map.view.scale *= frame < 45 ? 1.02 : 1 / 1.02;
        map.view.x += 0.002;
        const started = performance.now();
        map.paint();
        map.canvas.getContext("2d").getImageData(0, 0, 1, 1);
        draws.push(performance.now() - started);
    }
    const started = performance.now();
    for (let i = 0; i < 50; i++) map.nearest(20 * i % map.width, 13 * i % map.height, 12);
    const point = (performance.now() - started) / 50;
    const middle = (all) => all.sort((a, b) => a - b)[all.length >> 1];
    return { draw: middle(draws), worst: Math.max(...draws), gap: middle(gaps), point };
}"""

with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    folder = Path(folder)
    hg2v(folder, "generate", "barabasi-albert", "--nodes", 40, "--graphs", GRAPHS, "--out", "graphs.jsonl", "-q")
    hg2v(folder, "fit", "graphs.jsonl", "--out", "model", "--dim", 8, "--epochs", 1, "-q")
    hg2v(folder, "report", "model", "--out", "page.html", "-q")
    size = (folder / "page.html").stat().st_size
    chromium = launch(playwright)
    opened = chromium.new_page(viewport={"width": 1440, "height": 900})
    opened.goto(f"file://{folder}/page.html")
    opened.wait_for_selector("html[data-ready]")
    opened.wait_for_timeout(500)
    times = opened.evaluate(SCRIPT)
    chromium.close()
print(
    f"{GRAPHS} graphs, {size / 1e6:.1f} MB: a frame is drawn in {times['draw']:.1f} ms (at worst {times['worst']:.1f}), "
    f"without a GPU; frames are {times['gap']:.1f} ms apart; pointing takes {times['point']:.2f} ms"
)
