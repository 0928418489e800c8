// Beside the map: the graph that is chosen, or those inside the lasso.

class Panel {
  constructor(page) {
    this.page = page;
    this.element = $("panel");
    this.empty();
  }

  show(...children) {
    this.element.replaceChildren(...children);
    this.element.scrollTop = 0;
  }

  empty() {
    const { head } = this.page;
    const what = head.neighbors ? "its nearest graphs, its pyramid" : "its pyramid";
    this.show(
      make("h2", {}, "Choose a graph"),
      make("p", { class: "quiet" }, `Click on a point, or find a graph by its id: here you see how it is built, ${what} and what is known about it.`),
      make("h3", {}, "Some graphs to begin with"),
      this.cards(some(head.shown, 6).map((graph) => ({ graph }))),
      ...this.nodeLegend(),
    );
  }

  /** What the colours of nodes say. */
  nodeLegend() {
    const { sketches, palette } = this.page;
    const { labels, attribute, from, to } = sketches.colors;
    if (labels) {
      const chip = (name, color) => make("span", { class: "chip" }, shapeIcon(0, color), name);
      const chips = labels.map((name, at) => chip(name, palette.kind(at)));
      if (labels.length > 5) chips.push(chip("others", palette.neutral));
      return [make("h3", {}, "Labels of nodes"), make("p", { class: "chips", style: "display:flex;flex-wrap:wrap;gap:2px 12px" }, ...chips)];
    }
    const [low, high] = attribute ? [amount(from), amount(to)] : ["one", "most"];
    const name = attribute ? `Colour of nodes: ${attribute}` : "Colour of nodes: neighbours";
    const bar = make("span", { style: `display:inline-block;width:110px;height:10px;border-radius:3px;vertical-align:middle;margin:0 8px;background:${gradient(palette)}` });
    return [make("h3", {}, name), make("p", { class: "quiet" }, low, bar, high)];
  }

  /** Small drawings that lead to their graphs. */
  cards(list, own = null) {
    const { head, map, sketches } = this.page;
    return make(
      "div",
      { class: "near" },
      ...list.map(({ graph, distance }) => {
        const far = distance === undefined ? null : make("span", { class: "distance" }, amount(distance));
        if (graph >= head.shown) {
          const [id, label] = head.absent[graph - head.shown];
          return make("div", { class: "absent", "data-id": id }, make("b", { title: id }, id), make("small", {}, label ?? "", far), make("small", {}, "not on this page"));
        }
        const about = this.page.about(graph);
        const differs = own !== null && own !== this.page.kindOf(graph);
        const name = this.page.className(graph);
        return make(
          "button",
          {
            type: "button",
            class: differs ? "other" : "",
            "data-id": head.ids[graph],
            title: about,
            "aria-label": distance === undefined ? about : `${about}, distance ${amount(distance)}`,
            onclick: () => map.choose(graph, { centre: true }),
            onpointerenter: () => map.point(graph),
            onpointerleave: () => map.point(-1),
          },
          portrait(sketches, sketches.of(graph), about),
          make("b", {}, head.ids[graph]),
          make("small", {}, make("span", {}, name ?? counted(this.page.nodes(graph), "node")), far),
        );
      }),
    );
  }

  graph(index) {
    const { head, map, sketches } = this.page;
    const sketch = sketches.of(index);
    const nodes = this.page.nodes(index);
    const list = [];
    for (const { name, kinds, of } of map.attributes) {
      const value = of[index];
      if (!kinds && value === head.missing) continue;
      list.push(make("dt", {}, name), make("dd", {}, kinds ? kinds[value] : amount(value)));
    }
    const large = portrait(sketches, sketch, this.page.about(index), 0, { class: "portrait" });
    const note = coarsenedNote(sketch, nodes);
    const near = this.page.neighbors(index);
    const kind = this.page.kindOf(index);
    const parts = [
      make("div", { class: "head" }, make("h2", {}, head.ids[index]), make("button", { type: "button", title: "Let go (Esc)", "aria-label": "Let go of this graph", onclick: () => map.letGo() }, "×")),
      this.page.chip(index),
      large,
      note && make("p", { class: "quiet" }, note),
    ];
    const [slide, ...levels] = this.pyramid(sketch, large);
    parts.push(slide);
    if (near.length) {
      const other = kind !== null && near.some(({ graph }) => graph < head.shown && this.page.kindOf(graph) !== kind);
      parts.push(
        make("h3", {}, near.length === 1 ? "The nearest graph" : `The ${["", "", "two", "three", "four", "five", "six"][near.length] ?? near.length} nearest graphs`),
        this.cards(near, kind),
        make("p", { class: "quiet" }, `Distance: ${head.metric}.${other ? " Dashed: of another class." : ""}`),
      );
    }
    parts.push(...levels, make("h3", {}, "About it"), make("dl", { class: "pairs" }, ...list), ...this.nodeLegend());
    this.show(...parts.filter(Boolean));
    this.page.say(`${this.page.about(index)} is chosen. ${near.length ? `Its nearest graphs: ${near.map(({ graph }) => this.page.idOf(graph)).join(", ")}.` : ""}`);
  }

  /** The levels of a pyramid side by side, and a slide between them. */
  pyramid(sketch, large) {
    const { sketches } = this.page;
    if (sketch.levels.length < 2) {
      return [make("p", { class: "quiet" }, "Nothing is left to coarsen in it.")];
    }
    const last = sketch.levels.length - 1;
    const name = (depth) => (depth + sketch.base === 0 ? "the graph" : `level ${depth + sketch.base}`);
    const slider = make("input", { type: "range", min: 0, max: last, step: 0.01, value: 0, "aria-label": "Level of coarsening" });
    const said = make("output", {}, `${number(sketch.levels[0].n)} nodes`);
    const show = (depth) => {
      large.depth = depth;
      large.draw();
      const at = Math.round(depth);
      said.textContent = counted(sketch.levels[at].n, "node");
      slider.setAttribute("aria-valuetext", `${name(at)}, ${said.textContent}`);
      buttons.forEach((button, level) => button.setAttribute("aria-pressed", String(level === at)));
    };
    let running = 0;
    const slide = (to) => {
      cancelAnimationFrame(running);
      const from = Number(slider.value);
      const started = performance.now();
      const time = still.matches ? 0 : 450 * Math.max(1, Math.abs(to - from));
      const frame = (now) => {
        const share = time ? Math.min(1, Math.max(0, (now - started) / time)) : 1;
        slider.value = from + share * (to - from);
        show(share === 1 ? to : Number(slider.value));
        if (share < 1) running = requestAnimationFrame(frame);
      };
      frame(started);
    };
    slider.addEventListener("input", () => {
      cancelAnimationFrame(running);
      show(Number(slider.value));
    });
    const buttons = sketch.levels.map((level, depth) =>
      make(
        "button",
        { type: "button", "aria-pressed": String(depth === 0), onclick: () => slide(depth) },
        portrait(sketches, sketch, `${name(depth)}: ${counted(level.n, "node")}`, depth),
        make("small", {}, name(depth), make("br"), counted(level.n, "node")),
      ),
    );
    return [
      make("div", { class: "slide" }, make("button", { type: "button", title: "Coarsen it step by step", onclick: () => slide(Number(slider.value) > last - 0.5 ? 0 : last) }, "Coarsen"), slider, said),
      make("h3", {}, "Its pyramid"),
      make("div", { class: "levels", tabindex: 0, role: "group", "aria-label": "Levels of the pyramid" }, ...buttons),
    ];
  }

  /** What is inside the lasso. */
  set(chosen) {
    const { head, map } = this.page;
    const all = [...chosen];
    const shares = [];
    const { name, kinds, of } = map.by;
    if (kinds) {
      const counts = new Map();
      for (const graph of all) counts.set(of[graph], (counts.get(of[graph]) ?? 0) + 1);
      const most = Math.max(...counts.values());
      const rows = [...counts].sort((a, b) => b[1] - a[1]).flatMap(([kind, count]) => {
        const bar = make("i");
        bar.style.cssText = `width:${(100 * count) / most}%;background:${css(this.page.palette.kind(kind))}`;
        return [make("span", {}, kinds[kind]), bar, make("em", {}, `${number(count)} (${number((100 * count) / all.length, 1)} %)`)];
      });
      shares.push(make("h3", {}, `By ${name}`), make("div", { class: "bar" }, ...rows));
    }
    const means = map.attributes.filter((attribute) => !attribute.kinds).slice(0, 5).flatMap((attribute) => {
      const values = all.map((graph) => attribute.of[graph]).filter((value) => value !== head.missing);
      if (!values.length) return [];
      return [make("dt", {}, attribute.name), make("dd", {}, amount(values.reduce((a, b) => a + b, 0) / values.length))];
    });
    const listed = all.slice(0, 300);
    const ids = all.map((graph) => head.ids[graph]);
    const copy = make("button", { type: "button", onclick: () => this.page.copy(ids.join("\n"), `${counted(ids.length, "id")} copied`) }, "Copy ids");
    this.show(
      make("div", { class: "head" }, make("h2", {}, counted(all.length, "graph")), make("button", { type: "button", "aria-label": "Let go of these graphs", onclick: () => map.letGo() }, "×")),
      ...shares,
      make("h3", {}, "On average"),
      make("dl", { class: "pairs" }, ...means),
      make("h3", {}, "Some of them"),
      this.cards(some(all.length, 6).map((at) => ({ graph: all[at] }))),
      make("h3", {}, all.length > listed.length ? `The first ${listed.length} ids` : "Their ids"),
      make("div", { class: "ids" }, ...listed.map((graph) => make("button", { type: "button", onclick: () => map.choose(graph, { centre: true }) }, head.ids[graph]))),
      make("p", { style: "margin-top:8px" }, copy),
    );
    this.page.say(`${counted(all.length, "graph")} inside the lasso.`);
  }
}

/** A few of many, evenly. */
function some(count, wanted) {
  const all = Math.min(count, wanted);
  return Array.from({ length: all }, (_, at) => Math.floor(((at + 0.5) * count) / all));
}

const gradient = (palette) => `linear-gradient(to right, ${Array.from({ length: 9 }, (_, at) => css(palette.amount(at / 8))).join(", ")})`;
