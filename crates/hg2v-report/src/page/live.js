// Served by `hg2v serve`: new graphs land on the map.

/** A box for graphs, which are embedded and looked up by the server. */
class Live {
  constructor(page) {
    this.page = page;
    this.box = $("live");
    this.box.hidden = false;
    this.text = make("textarea", { id: "new-graph", spellcheck: "false", "aria-describedby": "live-help", placeholder: '{"id":"mine","edges":[[0,1],[1,2],[2,0]]}' });
    this.said = make("p", { class: "quiet", role: "status", style: "margin-top:6px" });
    this.box.append(
      make("h2", {}, "Put a graph on the map"),
      make("label", { for: "new-graph", class: "quiet" }, "A graph as JSON, or several, one a line; or drop a file here."),
      this.text,
      make("p", { style: "margin-top:8px" }, make("button", { type: "button", id: "place-graph", onclick: () => this.place(this.text.value) }, "Place it")),
      this.said,
      make("p", { class: "quiet", id: "live-help" }, "It is embedded by the model and put where its nearest graphs are: at the mean of their places, nearer ones counting more. That is an approximation; its neighbours and distances are exact."),
    );
    for (const kind of ["dragover", "dragleave", "drop"]) {
      this.box.addEventListener(kind, (event) => {
        event.preventDefault();
        this.box.classList.toggle("over", kind === "dragover");
        if (kind === "drop") this.drop(event.dataTransfer);
      });
    }
  }

  async drop(transfer) {
    const text = transfer.files.length ? await transfer.files[0].text() : transfer.getData("text");
    this.text.value = text.slice(0, 100_000);
    this.place(text);
  }

  async place(text) {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    if (!lines.length) return this.say("There is no graph yet.");
    let placed = 0;
    for (const line of lines) {
      try {
        await this.one(line);
        placed += 1;
      } catch (error) {
        this.say(`${placed ? `${counted(placed, "graph")} placed; then: ` : ""}${error.message}`);
        return;
      }
    }
    this.say(`${counted(placed, "graph")} placed.`);
    $("map-section").scrollIntoView();
  }

  async one(line) {
    const graph = JSON.parse(line);
    const { head, map } = this.page;
    const { neighbors: found } = await ask("search", line);
    const known = new Map(head.ids.map((id, at) => [id, at]));
    const near = found.map(({ id, distance }) => ({ id, distance, at: known.get(String(id)) }));
    const there = near.filter(({ at }) => at !== undefined);
    let [x, y, all] = [0, 0, 0];
    for (const { at, distance } of there) {
      const weight = 1 / (distance + 1e-9);
      x += weight * map.now[2 * at];
      y += weight * map.now[2 * at + 1];
      all += weight;
    }
    if (!all) throw new Error("none of its nearest graphs is on this page");
    const guest = { name: String(graph.id ?? "your graph"), x: x / all, y: y / all, near };
    map.guest = guest;
    map.guests = [...map.guests, guest].slice(-50);
    map.chosen = -1;
    map.lassoed = null;
    this.show(guest, graph);
    map.draw();
  }

  /** The new graph beside its nearest. */
  show(guest, graph) {
    const { panel, sketches, head } = this.page;
    const sketch = sketchOf(graph, head.placed);
    const parts = [make("div", { class: "head" }, make("h2", {}, guest.name), make("button", { type: "button", "aria-label": "Let go", onclick: () => this.page.map.letGo() }, "×"))];
    if (sketch) parts.push(portrait(sketches, sketch, guest.name, 0, { class: "portrait" }));
    const list = guest.near.map(({ id, at, distance }) => {
      if (at !== undefined) return { graph: at, distance };
      head.absent.push([String(id), null]);
      return { graph: head.shown + head.absent.length - 1, distance };
    });
    parts.push(make("h3", {}, "Its nearest graphs"), panel.cards(list));
    panel.show(...parts);
    this.page.say(`${guest.name} is on the map. Its nearest graphs: ${guest.near.map(({ id }) => id).join(", ")}.`);
  }

  say(text) {
    this.said.textContent = text;
  }
}

/** Asks the server, and throws what it refuses with. */
async function ask(what, body) {
  const answer = await fetch(what, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await answer.text();
  if (answer.status === 401) throw new Error("You are no longer logged in. Reload this page and enter the token again.");
  if (!answer.ok) {
    let said = text;
    try {
      said = JSON.parse(text).error ?? text;
    } catch {}
    throw new Error(typeof said === "string" ? said.trim().slice(0, 400) : JSON.stringify(said));
  }
  return JSON.parse(text);
}

/** A sketch of a graph that came as JSON: by its coordinates where graphs here have them, else by springs. */
function sketchOf({ nodes, edges = [], x }, placed) {
  const names = new Map((nodes ?? []).map((name, at) => [JSON.stringify(name), at]));
  const place = (name) => {
    const key = JSON.stringify(name);
    if (!names.has(key)) names.set(key, names.size);
    return names.get(key);
  };
  const pairs = edges.map(([u, v]) => [place(u), place(v)]).filter(([u, v]) => u !== v);
  const n = Math.max(names.size, x?.length ?? 0);
  if (!n || n > 600 || pairs.length > 3000) return null;
  const known = placed && x?.length === n && x.every((row) => row?.length >= 2);
  const [px, py] = known ? coordinates(x) : springs(n, pairs);
  const sketch = { base: 0, cut: false, codes: null, own: true };
  sketch.levels = [level(px, py, new Float64Array(n).fill(1), Uint32Array.from(pairs.flat()), null)];
  finish(sketch);
  return sketch;
}

/** Row and column of three attributes, else x and y, which grows upwards: as places.rs has it. */
function coordinates(x) {
  const picture = x[0].length === 3;
  return [Float64Array.from(x, (row) => (picture ? row[1] : row[0])), Float64Array.from(x, (row) => (picture ? row[0] : -row[1]))];
}

/** Fruchterman and Reingold's springs, always from the same circle. */
function springs(n, pairs) {
  const px = Float64Array.from({ length: n }, (_, v) => Math.sqrt(n) * Math.cos((2 * Math.PI * v) / n));
  const py = Float64Array.from({ length: n }, (_, v) => Math.sqrt(n) * Math.sin((2 * Math.PI * v) / n));
  const rounds = n > 200 ? 80 : 200;
  for (let round = 0; round < rounds; round++) {
    const [fx, fy] = [new Float64Array(n), new Float64Array(n)];
    for (let u = 0; u < n; u++) {
      for (let v = 0; v < u; v++) {
        const [dx, dy] = [px[u] - px[v], py[u] - py[v]];
        const push = 1 / Math.max(0.01, dx * dx + dy * dy);
        fx[u] += push * dx;
        fy[u] += push * dy;
        fx[v] -= push * dx;
        fy[v] -= push * dy;
      }
    }
    for (const [u, v] of pairs) {
      const [dx, dy] = [px[u] - px[v], py[u] - py[v]];
      const pull = Math.hypot(dx, dy);
      fx[u] -= pull * dx;
      fy[u] -= pull * dy;
      fx[v] += pull * dx;
      fy[v] += pull * dy;
    }
    const most = 0.8 * (1 - round / rounds) + 0.01;
    for (let v = 0; v < n; v++) {
      // A little towards the middle, so that parts do not drift away.
      fx[v] -= 0.05 * px[v];
      fy[v] -= 0.05 * py[v];
      const force = Math.hypot(fx[v], fy[v]) || 1;
      px[v] += (fx[v] / force) * Math.min(force, most);
      py[v] += (fy[v] / force) * Math.min(force, most);
    }
  }
  return [px, py];
}
