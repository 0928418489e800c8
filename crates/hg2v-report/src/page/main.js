// The page: everything put together.

class Page {
  constructor(pack) {
    Object.assign(this, pack);
    readTheme();
    this.palette = new Palette(this.head.kinds, this.head.amounts);
    this.sketches = new Sketches(pack, this.palette);
    const attribute = (name) => {
      const at = this.head.attributes.findIndex((own) => own.name === name);
      return at < 0 ? null : { ...this.head.attributes[at], of: this.arrays[`attribute ${at}`] };
    };
    this.classes = attribute("class");
    this.sizes = attribute("nodes");
    this.edges = attribute("edges");
    this.map = new GraphMap(pack, this.sketches, this.palette, {
      pointed: (index, at, aloud) => this.pointed(index, at, aloud),
      chosen: (index) => (index < 0 ? this.panel.empty() : this.panel.graph(index)),
      lassoed: (set) => (set ? this.panel.set(set) : this.panel.empty()),
      neighbors: (index) => this.neighbors(index),
      tool: (tool) => $("lasso").setAttribute("aria-pressed", String(tool === "lasso")),
      painted: () => this.corner(),
    });
    this.panel = new Panel(this);
    this.lede();
    this.tools();
    this.legend();
    this.sections();
    this.keys();
    if (this.head.live) this.live = new Live(this);
  }

  // What is known of a graph.

  idOf(graph) {
    return graph < this.head.shown ? this.head.ids[graph] : this.head.absent[graph - this.head.shown][0];
  }

  nodes(graph) {
    return this.sizes.of[graph];
  }

  kindOf(graph) {
    return this.classes?.kinds ? this.classes.of[graph] : null;
  }

  className(graph) {
    if (!this.classes) return null;
    const value = this.classes.of[graph];
    return this.classes.kinds ? this.classes.kinds[value] : value === this.head.missing ? null : amount(value);
  }

  about(graph) {
    const name = this.className(graph);
    return `${this.head.ids[graph]}${name === null ? "" : `, class ${name}`}, ${counted(this.nodes(graph), "node")}, ${counted(this.edges.of[graph], "edge")}`;
  }

  chip(graph) {
    const name = this.className(graph);
    const size = `${counted(this.nodes(graph), "node")}, ${counted(this.edges.of[graph], "edge")}`;
    if (name === null) return make("p", { class: "chip" }, size);
    const kind = this.kindOf(graph);
    const icon = kind === null ? null : shapeIcon(Math.floor(kind / this.palette.kinds.length) % SHAPES, this.palette.kind(kind));
    return make("p", { class: "chip" }, icon, `class ${name} · ${size}`);
  }

  neighbors(graph) {
    const { neighbors } = this.head;
    const { near, far } = this.arrays;
    const all = [];
    for (let rank = 0; rank < neighbors; rank++) {
      const at = graph * neighbors + rank;
      if (near[at] !== 0xffffffff) all.push({ graph: near[at], distance: far[at] });
    }
    return all;
  }

  // Above and on the map.

  lede() {
    const { head } = this;
    const classes = this.classes?.kinds ? `${this.classes.kinds.length} classes` : null;
    $("lede").textContent = [counted(head.graphs, "graph"), classes, head.dim ? `vectors of ${number(head.dim)} numbers` : null].filter(Boolean).join(" · ");
    const notes = [...head.notes];
    if (head.shown < head.graphs) notes.unshift(`This page shows ${number(head.shown)} of ${number(head.graphs)} graphs, drawn at random so that it stays small; neighbours are found among all of them.`);
    for (const text of notes) document.querySelector("main").before(make("p", { class: "note" }, text));
    $("colophon").textContent = `Made by hg2v ${head.version}. Everything is in this file; it asks for nothing.`;
    if (head.live) $("colophon").textContent = `Served by hg2v ${head.version}.`;
  }

  corner() {
    const { map, head } = this;
    const filtered = map.shown.reduce((sum, own) => sum + own, 0);
    const parts = [filtered < head.shown ? `${number(filtered)} of ${counted(head.shown, "graph")}` : counted(head.shown, "graph")];
    if (map.lassoed) parts.push(`${number(map.lassoed.size)} in the lasso`);
    $("corner").textContent = parts.join(" · ");
  }

  tools() {
    const { head, map } = this;
    const color = $("color");
    head.attributes.forEach(({ name }, at) => color.append(make("option", { value: at }, name)));
    color.addEventListener("change", () => {
      map.color(Number(color.value));
      this.legend();
    });
    const names = { pca: "PCA", tsne: "t-SNE", umap: "UMAP" };
    const projection = $("projection");
    head.projections.forEach((name, at) => projection.append(make("option", { value: at }, names[name] ?? name)));
    $("projection-field").hidden = head.projections.length < 2;
    projection.addEventListener("change", () => map.project(Number(projection.value)));
    $("lasso").addEventListener("click", () => map.use(map.tool === "lasso" ? "move" : "lasso"));
    $("minis").addEventListener("click", () => this.minis());
    $("zoom-in").addEventListener("click", () => map.zoom(1.5));
    $("zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
    $("fit").addEventListener("click", () => map.fit());
    $("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      this.repaint();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    addEventListener("resize", () => drawTraining(this.head, this.palette));
    addEventListener("beforeprint", () => this.repaint("light"));
    addEventListener("afterprint", () => this.repaint());
    this.finder();
  }

  minis() {
    this.map.minis = !this.map.minis;
    $("minis").setAttribute("aria-pressed", String(this.map.minis));
    this.map.draw();
  }

  /** Draws everything again in the colours of the theme; paper is light. */
  repaint(forced = null) {
    const { dataset } = document.documentElement;
    const chosen = dataset.theme;
    if (forced) dataset.theme = forced;
    readTheme();
    this.map.thumbnails.clear();
    this.map.paint();
    this.legend();
    this.sections();
    const { chosen: graph, lassoed } = this.map;
    if (graph >= 0) this.panel.graph(graph);
    else if (lassoed) this.panel.set(lassoed);
    else this.panel.empty();
    if (forced) {
      document.querySelectorAll("canvas").forEach((canvas) => canvas.draw?.());
      if (chosen) dataset.theme = chosen;
      else delete dataset.theme;
    }
  }

  legend() {
    const { map, palette } = this;
    const { name, kinds, of, from, to } = map.by;
    const legend = $("legend");
    if (!kinds) {
      const bar = make("span", { class: "scale" });
      bar.style.background = gradient(palette);
      legend.replaceChildren(make("h3", {}, name), bar, make("p", { class: "ends" }, make("span", {}, amount(from)), make("span", {}, amount(to))));
      return;
    }
    const counts = new Uint32Array(kinds.length);
    for (const kind of of) counts[kind]++;
    const all = make("button", { type: "button", onclick: () => (map.off.clear(), map.filter(), map.draw(), update()) }, "all");
    const rows = kinds.map((kind, at) => {
      const look = map.lookOf(at);
      const act = (event) => {
        map.toggle(at, event.shiftKey || event.altKey);
        update();
        this.say(map.off.has(at) ? `${kind} is hidden` : `${kind} is shown`);
      };
      return make("button", { type: "button", class: "kind", "aria-pressed": "true", title: "Show or hide; with Shift, this one alone", onclick: act, ondblclick: () => (map.toggle(at, true), update()) }, shapeIcon(look.shape, look.color), make("span", { title: kind }, kind === "" ? "“”" : kind), make("i", {}, number(counts[at])));
    });
    const update = () => {
      rows.forEach((row, at) => row.setAttribute("aria-pressed", String(!map.off.has(at))));
      all.hidden = !map.off.size;
    };
    update();
    legend.replaceChildren(make("h3", {}, name, all), ...rows);
  }

  /** The graph that is pointed at, drawn beside it. */
  pointed(index, at, aloud) {
    const tip = $("tip");
    tip.hidden = index < 0;
    if (index < 0) return;
    const { clientWidth: width, clientHeight: height } = $("stage");
    const name = this.className(index);
    const sketch = this.sketches.of(index);
    const [canvas, text] = tip.children;
    const context = sharp(canvas, 186, 150);
    context.clearRect(0, 0, 186, 150);
    drawGraph(context, this.sketches, sketch, { x: 0, y: 0, width: 186, height: 150, pad: 8 });
    text.replaceChildren(make("b", {}, this.head.ids[index]), `${name === null ? "" : ` · class ${name}`}`, make("br"), `${counted(this.nodes(index), "node")}, ${counted(this.edges.of[index], "edge")}${sketch.cut ? ", drawn in part" : sketch.base ? ", drawn coarsened" : ""}`);
    const [w, h] = [204, tip.offsetHeight];
    tip.style.left = `${Math.max(4, at[0] + 18 + w < width ? at[0] + 18 : at[0] - 18 - w)}px`;
    tip.style.top = `${Math.max(4, Math.min(height - h - 4, at[1] - h / 2))}px`;
    if (aloud) this.say(this.about(index));
  }

  say(text) {
    $("status").textContent = text;
  }

  async copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.body.appendChild(make("textarea", { class: "unseen" }));
      area.value = text;
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    this.say(done);
  }

  // Finding.

  finder() {
    const [input, list] = [$("search"), $("matches")];
    let [found, active] = [[], 0];
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    const mark = () => {
      [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === active)));
      if (found.length) input.setAttribute("aria-activedescendant", `match-${active}`);
    };
    const take = (at) => {
      if (found[at] === undefined) return;
      close();
      input.value = this.head.ids[found[at]];
      this.map.choose(found[at], { centre: true });
    };
    input.addEventListener("input", () => {
      found = this.search(input.value);
      active = 0;
      if (!input.value.trim()) return close();
      const items = found.map((graph, at) => make("li", { id: `match-${at}`, role: "option", onpointerdown: (event) => (event.preventDefault(), take(at)) }, this.about(graph)));
      list.replaceChildren(...(items.length ? items : [make("li", { class: "none" }, "No graph has such an id")]));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      mark();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") take(active);
      else if (event.key === "Escape") (input.value = ""), close();
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        active = (active + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length);
        mark();
        event.preventDefault();
      }
    });
    input.addEventListener("blur", close);
  }

  /** Graphs by id: the same, then those that begin so, then those that have it inside. */
  search(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    this.lower ??= this.head.ids.map((id) => id.toLowerCase());
    const ranks = [[], [], []];
    this.lower.forEach((id, at) => {
      if (id === wanted) ranks[0].push(at);
      else if (id.startsWith(wanted)) ranks[1].push(at);
      else if (id.includes(wanted)) ranks[2].push(at);
    });
    return ranks.flat().slice(0, 8);
  }

  // Below the map.

  sections() {
    drawTraining(this.head, this.palette);
    drawAccuracy(this.head, this.palette);
    drawData(this);
    drawRun(this);
    document.querySelectorAll("nav [data-for]").forEach((link) => (link.hidden = $(link.dataset.for).hidden));
  }

  keys() {
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range") return;
      if (event.key === "/") $("search").focus();
      else if (event.key === "Escape") this.map.letGo();
      else if (event.key === "l" || event.key === "L") this.map.use(this.map.tool === "lasso" ? "move" : "lasso");
      else if (event.key === "g" || event.key === "G") this.minis();
      else return;
      event.preventDefault();
    });
  }
}

try {
  window.page = new Page(await unpack($("pack").textContent));
  document.documentElement.dataset.ready = "yes";
} catch (error) {
  $("failure").textContent = `This page could not be opened: ${error.message}. It needs a browser of 2024 or later.`;
  $("failure").hidden = false;
  throw error;
}
